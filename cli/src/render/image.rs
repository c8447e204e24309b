//! Pixels and their PNG form.

use std::path::Path;

use voxshell::Result;

/// An 8-bit sRGB picture, row by row from the top left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub width: usize,
    pub height: usize,
    /// Red, green, blue, alpha of each pixel; straight (not premultiplied) alpha.
    pub rgba: Vec<u8>,
}

impl Image {
    /// Returns `images` in one row, left to right; all must have the height of the first.
    pub fn side_by_side(images: &[Image]) -> Image {
        let (width, height) =
            (images.iter().map(|i| i.width).sum(), images.iter().map(|i| i.height).max().unwrap_or(0));
        let row =
            |y: usize| images.iter().flat_map(move |i| i.rgba[4 * i.width * y..4 * i.width * (y + 1)].iter().copied());
        Image { width, height, rgba: (0..height).flat_map(row).collect() }
    }

    /// Returns the bytes of the PNG file, without an alpha channel if every pixel is opaque.
    pub fn png_bytes(&self) -> Vec<u8> {
        assert_eq!(self.rgba.len(), 4 * self.width * self.height, "an image holds four bytes for each pixel");
        let opaque = self.rgba.chunks_exact(4).all(|p| p[3] == 255);
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        encoder.set_color(if opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
        let rgb: Vec<u8>;
        let data = if opaque {
            rgb = self.rgba.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
            &rgb
        } else {
            &self.rgba
        };
        let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(data));
        written.expect("writing a PNG into memory cannot fail: the sizes were checked above");
        bytes
    }

    /// Writes a PNG file, completely or not at all.
    pub fn write_png(&self, path: &Path) -> Result<()> {
        crate::file::write(path, &self.png_bytes())
    }
}
