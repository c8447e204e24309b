//! Films of a recording: the colliding fields, sphere-traced, with the contacts and the pose of the hand.

use std::sync::Arc;

use voxshell::contact::Workspace;
use voxshell::field::SignedDistance;
use voxshell::math::{Pose, Vec3};
use voxshell::Result;
use voxshell_cli::render::{render, Ball, Camera, Ground, Image, Object, Scene};
use voxshell_lab::report::animated_png;

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
    animated_png(&pictures, LENGTH)
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
