//! Films as animated PNGs.

use png::{BitDepth, BlendOp, ColorType, Compression, DisposeOp, Encoder};
use voxshell::{Error, Result};
use voxshell_cli::render::Image;

/// Largest difference of a channel that is not drawn. It is invisible, and the faint ends of shadows would otherwise
/// make most of the file.
const TOLERANCE: u8 = 2;

/// Encodes opaque pictures of one size as an animation of so many seconds that repeats for ever.
///
/// Each frame after the first has the pixels that differ from those shown before and is transparent elsewhere.
pub fn animated_png(pictures: &[Image], seconds: f64) -> Result<Vec<u8>> {
    encoded(pictures, seconds).map_err(|e| Error::Unsupported(format!("the film: {e}")))
}

fn encoded(pictures: &[Image], seconds: f64) -> std::result::Result<Vec<u8>, png::EncodingError> {
    let (width, height) = pictures.first().map_or((0, 0), |p| (p.width, p.height));
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::High);
    encoder.set_animated(pictures.len() as u32, 0)?;
    encoder.set_frame_delay((1000.0 * seconds / pictures.len() as f64).clamp(1.0, 65_535.0) as u16, 1000)?;
    let mut writer = encoder.write_header()?;
    let mut shown = vec![0; 4 * width * height];
    for picture in pictures {
        let [x, y, w, h] = changed(&shown, picture);
        writer.set_frame_position(0, 0)?;
        writer.set_frame_dimension(w as u32, h as u32)?;
        writer.set_frame_position(x as u32, y as u32)?;
        writer.set_blend_op(BlendOp::Over)?;
        writer.set_dispose_op(DisposeOp::None)?;
        let mut rgba = Vec::with_capacity(4 * w * h);
        for row in y..y + h {
            let part = 4 * (row * width + x)..4 * (row * width + x + w);
            let (before, after) = (&mut shown[part.clone()], &picture.rgba[part]);
            for (before, after) in before.chunks_exact_mut(4).zip(after.chunks_exact(4)) {
                if differ(before, after) {
                    before.copy_from_slice(after);
                    rgba.extend(after);
                } else {
                    rgba.extend([0; 4]);
                }
            }
        }
        writer.write_image_data(&rgba)?;
    }
    writer.finish()?;
    Ok(bytes)
}

fn differ(a: &[u8], b: &[u8]) -> bool {
    a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > TOLERANCE)
}

/// Returns the box of the pixels that differ, at least one pixel: x, y, width, height.
fn changed(shown: &[u8], picture: &Image) -> [usize; 4] {
    let (mut low, mut high) = ([usize::MAX; 2], [0; 2]);
    for (i, (a, b)) in shown.chunks_exact(4).zip(picture.rgba.chunks_exact(4)).enumerate() {
        if differ(a, b) {
            let at = [i % picture.width, i / picture.width];
            low = [low[0].min(at[0]), low[1].min(at[1])];
            high = [high[0].max(at[0]), high[1].max(at[1])];
        }
    }
    if low[0] > high[0] {
        return [0, 0, 1, 1];
    }
    [low[0], low[1], high[0] - low[0] + 1, high[1] - low[1] + 1]
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
        let bytes = animated_png(&pictures, 1.0).expect("an animation");
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG");
        assert_eq!(reader.info().animation_control().map(|a| a.num_frames), Some(4));
        let mut canvas = vec![0; 4 * w * h];
        for (k, picture) in pictures.iter().enumerate() {
            let mut part = vec![0; reader.output_buffer_size().expect("a size")];
            reader.next_frame(&mut part).expect("a frame");
            let control = *reader.info().frame_control().expect("a frame's place");
            let (wide, x, y) = (control.width as usize, control.x_offset as usize, control.y_offset as usize);
            for (i, pixel) in part.chunks_exact(4).take(wide * control.height as usize).enumerate() {
                if pixel[3] == 255 {
                    let to = 4 * ((y + i / wide) * w + x + i % wide);
                    canvas[to..to + 4].copy_from_slice(pixel);
                }
            }
            assert_eq!(canvas, picture.rgba, "frame {k}");
        }
    }
}
