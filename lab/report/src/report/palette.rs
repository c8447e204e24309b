//! Colours of pages and plots. A plot has the colours of the light theme; its style replaces them in the dark theme.

use std::fmt::Write;

use plotters::style::RGBColor;

/// A colour in the light and in the dark theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    /// Name of the CSS variable, without the dashes.
    pub name: &'static str,
    light: [u8; 3],
    dark: [u8; 3],
}

const fn colour(name: &'static str, light: u32, dark: u32) -> Colour {
    let [_, a, b, c] = light.to_be_bytes();
    let [_, d, e, f] = dark.to_be_bytes();
    Colour { name, light: [a, b, c], dark: [d, e, f] }
}

pub const PAGE: Colour = colour("page", 0xF7F8FA, 0x10151C);
pub const CARD: Colour = colour("card", 0xFFFFFF, 0x18202A);
pub const INK: Colour = colour("ink", 0x16202C, 0xE8EDF3);
pub const SOFT: Colour = colour("soft", 0x5A6675, 0x9AA7B6);
pub const LINE: Colour = colour("line", 0xE1E5EA, 0x2A3542);
pub const GREY: Colour = colour("grey", 0x7D8794, 0xA3ADBA);
pub const SAND: Colour = colour("sand", 0xB99A6B, 0xCFB084);
pub const VIOLET: Colour = colour("violet", 0x8D6BB0, 0xB592DB);
pub const ORANGE: Colour = colour("orange", 0xE07B1A, 0xF2963F);
pub const YELLOW: Colour = colour("yellow", 0xB5A000, 0xD6C32C);
pub const RED: Colour = colour("red", 0xD0404A, 0xF0666F);
pub const GREEN: Colour = colour("green", 0x1AA078, 0x45C99B);
pub const TEAL: Colour = colour("teal", 0x1AA0A8, 0x3CC4CB);
pub const BLUE: Colour = colour("blue", 0x1F66C7, 0x6AA8FF);

const ALL: [Colour; 14] = [PAGE, CARD, INK, SOFT, LINE, GREY, SAND, VIOLET, ORANGE, YELLOW, RED, GREEN, TEAL, BLUE];

impl Colour {
    pub(super) fn rgb(self) -> RGBColor {
        let [r, g, b] = self.light;
        RGBColor(r, g, b)
    }

    /// Returns the colour as the plots write it; selects the lines of this colour in a page.
    pub fn hex(self) -> String {
        hex(self.light)
    }
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

/// Returns the CSS that defines the colours as variables and applies them to plots.
pub(super) fn css() -> String {
    let variables = |value: fn(&Colour) -> [u8; 3]| -> String {
        ALL.iter().map(|c| format!(" --{}: {};", c.name, hex(value(c)))).collect()
    };
    let mut css = format!(
        ":root {{{} color-scheme: light dark; }}\n@media (prefers-color-scheme: dark) {{ :root {{{} }} }}\n",
        variables(|c| c.light),
        variables(|c| c.dark)
    );
    for c in &ALL {
        for attribute in ["stroke", "fill"] {
            let _ = writeln!(css, "svg [{attribute}=\"{}\"] {{ {attribute}: var(--{}); }}", c.hex(), c.name);
        }
    }
    css
}
