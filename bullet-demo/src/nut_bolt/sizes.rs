//! ISO metric threads of four sizes, and the bolts and nuts made with them.

use voxshell::mesh::primitives::{bolt, nut, Thread};
use voxshell::mesh::TriMesh;
use voxshell::Result;

/// Segments around of bolts and nuts.
const SEGMENTS: u32 = 144;

/// Origin of a bolt and its nut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    M8,
    M12,
    M16,
    M20,
    /// Mesh files of the user.
    Files,
}

impl Parts {
    /// The sizes that this project makes itself.
    pub const OWN: [Self; 4] = [Self::M8, Self::M12, Self::M16, Self::M20];

    pub fn name(self) -> &'static str {
        match self {
            Self::M8 => "M8",
            Self::M12 => "M12",
            Self::M16 => "M16",
            Self::M20 => "M20",
            Self::Files => "files",
        }
    }

    /// Returns the thread; `None` for mesh files.
    pub fn size(self) -> Option<Size> {
        // ISO 965-1, in µm: tolerance positions g (es) and H (EI = 0), grade 6, in the middle of the zones. A deviation of
        // the pitch diameter is −es + T_d2/2 of the bolt and T_D2/2 of the nut; of the crests −es + T_d/2 and T_D1/2.
        let size = |diameter: f64, pitch: f64, [es, td2, td, tnut2, tnut1]: [f64; 5], [length, height]: [f64; 2]| {
            let thread = |pitch_deviation: f64, crest_deviation: f64| Thread {
                diameter: diameter * 1e-3,
                pitch: pitch * 1e-3,
                pitch_deviation: pitch_deviation * 1e-6,
                crest_deviation: crest_deviation * 1e-6,
            };
            Size {
                external: thread(0.5 * td2 - es, 0.5 * td - es),
                internal: thread(0.5 * tnut2, 0.5 * tnut1),
                length: length * 1e-3,
                height: height * 1e-3,
            }
        };
        match self {
            Self::M8 => Some(size(8.0, 1.25, [-28.0, 118.0, 212.0, 160.0, 265.0], [18.0, 6.6])),
            Self::M12 => Some(size(12.0, 1.75, [-34.0, 150.0, 265.0, 200.0, 335.0], [25.0, 10.6])),
            Self::M16 => Some(size(16.0, 2.0, [-38.0, 160.0, 280.0, 212.0, 375.0], [30.0, 14.5])),
            Self::M20 => Some(size(20.0, 2.5, [-42.0, 170.0, 335.0, 224.0, 450.0], [37.5, 17.5])),
            Self::Files => None,
        }
    }
}

/// A bolt of class 6g and a nut of class 6H, along y as [`bolt`] and [`nut`] make them. Metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    pub external: Thread,
    pub internal: Thread,
    /// Length of the bolt's shank.
    pub length: f64,
    /// Height of the nut.
    pub height: f64,
}

impl Size {
    pub fn meshes(&self) -> Result<[TriMesh; 2]> {
        Ok([bolt(self.external, self.length, SEGMENTS)?, nut(self.internal, self.height, SEGMENTS)?])
    }

    pub fn pitch(&self) -> f64 {
        self.external.pitch
    }

    /// Returns the mean of the pitch diameters of bolt and nut (ISO 68-1: d2 = d − 0.75 H).
    pub fn pitch_diameter(&self) -> f64 {
        let basic = self.external.diameter - 0.75 * 0.75_f64.sqrt() * self.external.pitch;
        basic + 0.5 * (self.internal.pitch_deviation - self.external.pitch_deviation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_diameters_of_iso_965() {
        let m16 = Parts::M16.size().unwrap();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        for (ours, theirs) in [(m16.external, Thread::M16_6G), (m16.internal, Thread::M16_6H)] {
            assert!(near(ours.pitch_deviation, theirs.pitch_deviation), "{ours:?}");
            assert!(near(ours.crest_deviation, theirs.crest_deviation), "{ours:?}");
        }
        // ISO 965-2: pitch diameters in the middle of 6g and 6H, mm.
        let middles = [(Parts::M8, 7.101, 7.268), (Parts::M12, 10.754, 10.963), (Parts::M20, 18.249, 18.488)];
        for (parts, bolt, nut) in middles {
            let measured = parts.size().unwrap().pitch_diameter() * 1e3;
            assert!((measured - 0.5 * (bolt + nut)).abs() < 1e-3, "{}: {measured} mm", parts.name());
        }
    }
}
