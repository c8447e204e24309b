//! Films of a recording: the colliding fields, sphere-traced, with the contacts and the pose of the hand.

use std::path::Path;
use std::sync::Arc;

use png::{BitDepth, BlendOp, ColorType, Compression, DisposeOp, Encoder};
use voxshell::contact::Workspace;
use voxshell::field::SignedDistance;
use voxshell::math::{Pose, Vec3};
use voxshell::{Error, Result};
use voxshell_cli::render::{render, Ball, Camera, Ground, Image, Object, Scene};

use super::scenes::Stage;
use super::session::{touched, Moment, Recording};

const FILM: (usize, usize) = (420, 300);
const STILL: (usize, usize) = (560, 400);
/// Duration of the film, seconds.
const LENGTH: f64 = 4.0;

const TOOL: [f32; 3] = [0.82, 0.27, 0.22];
const FIXED: [f32; 3] = [0.36, 0.55, 0.83];
const HAND: [f32; 3] = [0.98, 0.78, 0.2];
const TOUCHED: [f32; 3] = [0.1, 0.1, 0.12];

/// Draws one moment.
pub fn still(stage: &Stage, moment: &Moment) -> Result<Image> {
    let (w, h) = STILL;
    Ok(taken(stage, &scene(stage, moment, 3)?, w, h))
}

/// Returns the whole recording as an animated PNG.
pub fn film(stage: &Stage, recording: &Recording, frames: usize, mut tick: impl FnMut()) -> Result<Vec<u8>> {
    let (w, h) = FILM;
    let last = recording.moments.len().saturating_sub(1);
    let mut pictures = Vec::new();
    for k in 0..frames {
        let moment = &recording.moments[last * k / (frames - 1).max(1)];
        pictures.push(taken(stage, &scene(stage, moment, 2)?, w, h));
        tick();
    }
    animated(&pictures).map_err(|e| Error::Unsupported(format!("the film of {}: {e}", stage.scene.name())))
}

/// Renders at twice the size and averages, so that rays find objects thinner than a pixel.
fn taken(stage: &Stage, scene: &Scene, width: usize, height: usize) -> Image {
    let camera = camera(stage, width as f64 / height as f64);
    let pixel = 2.0 * stage.around / height as f64;
    if stage.voxel > 2.0 * pixel {
        return render(scene, &camera, width, height);
    }
    let large = render(scene, &camera, 2 * width, 2 * height);
    let mut rgba = Vec::with_capacity(4 * width * height);
    for i in 0..width * height {
        let first = 4 * (2 * (i / width) * large.width + 2 * (i % width));
        for k in first..first + 4 {
            let sum = [0, 4, 4 * large.width, 4 * large.width + 4]
                .map(|by| u32::from(large.rgba[k + by]))
                .iter()
                .sum::<u32>();
            rgba.push(((sum + 2) / 4) as u8);
        }
    }
    Image { width, height, rgba }
}

fn scene(stage: &Stage, moment: &Moment, smoothing: u32) -> Result<Scene> {
    let mut scene = Scene { smoothing, fade: 20.0 * stage.around, ..Scene::default() };
    let mut lowest = f64::INFINITY;
    for obstacle in &stage.obstacles {
        if let Some(field) = &obstacle.forms.field {
            scene.objects.push(Object::new(Arc::clone(field), obstacle.pose, FIXED));
            lowest = lowest.min(field.bounds().transformed(&obstacle.pose).min.y);
        }
    }
    scene.objects.push(Object::new(Arc::clone(&stage.drawn), moment.tool, TOOL));
    let size = stage.drawn.bounds().extents().norm();
    let ball = |center: Vec3, radius: f64, colour| Ball { center, radius, colour };
    // Tool centre at the hand's pose, in addition to the displayed pose.
    let held = |pose: &Pose| (pose * nalgebra::Point3::from(stage.tool.center)).coords;
    scene.balls.push(ball(held(&moment.hand), 0.035 * size, HAND));
    let points = touched(stage, &moment.tool, &mut Workspace::new())?;
    let each = points.len().div_ceil(200).max(1);
    scene.balls.extend(points.into_iter().step_by(each).map(|p| ball(p, 0.012 * size, TOUCHED)));
    scene.ground = Some(Ground::floor(lowest - 0.15 * stage.around, 0.5 * stage.around));
    Ok(scene)
}

fn camera(stage: &Stage, aspect: f64) -> Camera {
    let from = stage.from.normalize();
    let half = (0.5 * FIELD_OF_VIEW).tan();
    let distance = 1.05 * stage.around / half / aspect.min(1.0);
    Camera::looking_at(stage.middle + from * distance, stage.middle, Vec3::y(), FIELD_OF_VIEW)
}

/// Vertical angle, radians.
const FIELD_OF_VIEW: f64 = 0.6;

/// Encodes each picture after the first as the area that differs from the previous one.
fn animated(pictures: &[Image]) -> std::result::Result<Vec<u8>, png::EncodingError> {
    let first = &pictures[0];
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, first.width as u32, first.height as u32);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::High);
    encoder.set_animated(pictures.len() as u32, 0)?;
    encoder.set_frame_delay((1000.0 * LENGTH / pictures.len() as f64) as u16, 1000)?;
    let mut writer = encoder.write_header()?;
    for (i, picture) in pictures.iter().enumerate() {
        let [x, y, w, h] = match i {
            0 => [0, 0, first.width, first.height],
            _ => changed(&pictures[i - 1], picture),
        };
        writer.set_frame_position(0, 0)?;
        writer.set_frame_dimension(w as u32, h as u32)?;
        writer.set_frame_position(x as u32, y as u32)?;
        writer.set_blend_op(BlendOp::Source)?;
        writer.set_dispose_op(DisposeOp::None)?;
        let row = |row: usize| &picture.rgba[4 * (row * picture.width + x)..4 * (row * picture.width + x + w)];
        let rgb: Vec<u8> = (y..y + h).flat_map(|r| row(r).chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]])).collect();
        writer.write_image_data(&rgb)?;
    }
    writer.finish()?;
    Ok(bytes)
}

/// Returns the box in which two pictures differ, at least one pixel: x, y, width, height.
fn changed(before: &Image, after: &Image) -> [usize; 4] {
    let (mut low, mut high) = ([usize::MAX; 2], [0; 2]);
    for (i, (a, b)) in before.rgba.chunks_exact(4).zip(after.rgba.chunks_exact(4)).enumerate() {
        if a != b {
            let at = [i % after.width, i / after.width];
            low = [low[0].min(at[0]), low[1].min(at[1])];
            high = [high[0].max(at[0]), high[1].max(at[1])];
        }
    }
    if low[0] > high[0] {
        return [0, 0, 1, 1];
    }
    [low[0], low[1], high[0] - low[0] + 1, high[1] - low[1] + 1]
}

/// Writes a file in one call.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|source| Error::Io { path: path.into(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_an_animation_add_up_to_the_pictures() {
        let (w, h) = (23, 17);
        let grey = Image { width: w, height: h, rgba: [90, 90, 90, 255].repeat(w * h) };
        let mut pictures = vec![grey.clone(), grey.clone(), grey.clone(), grey];
        for (k, [x, y]) in [(1, [3, 5]), (2, [22, 16]), (2, [0, 9])] {
            pictures[k].rgba[4 * (y * w + x)] = 200 + k as u8;
        }
        let bytes = animated(&pictures).expect("an animation");
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG");
        assert_eq!(reader.info().animation_control().map(|a| a.num_frames), Some(4));
        let mut canvas = vec![0; 3 * w * h];
        for (k, picture) in pictures.iter().enumerate() {
            let mut part = vec![0; reader.output_buffer_size().expect("a size")];
            reader.next_frame(&mut part).expect("a frame");
            let control = *reader.info().frame_control().expect("a frame's place");
            let (wide, x, y) = (control.width as usize, control.x_offset as usize, control.y_offset as usize);
            for row in 0..control.height as usize {
                let to = 3 * ((y + row) * w + x);
                canvas[to..to + 3 * wide].copy_from_slice(&part[3 * row * wide..3 * (row + 1) * wide]);
            }
            let expected: Vec<u8> = picture.rgba.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
            assert_eq!(canvas, expected, "frame {k}");
        }
    }
}
