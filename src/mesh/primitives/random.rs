//! Primitives of random sizes: a different mesh for each seed.

use super::Primitive;

/// A sequence of random numbers (SplitMix64, Steele et al. 2014).
struct Draw(u64);

impl Draw {
    /// Returns a number in [low, high).
    fn length(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        low + (high - low) * ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a number from `low` to `high`, both included.
    fn count(&mut self, low: u32, high: u32) -> u32 {
        self.length(f64::from(low), f64::from(high + 1)) as u32
    }
}

impl Primitive {
    /// Returns a primitive whose kind and sizes are random for `seed`: between 0.2 and 1.2 m large, hundreds to
    /// thousands of triangles, never one that intersects itself. The same seed gives the same primitive.
    pub fn random(seed: u64) -> Self {
        let mut draw = Draw(seed);
        match draw.count(0, 8) {
            0 => Self::Hole {
                half: [draw.length(0.2, 0.5), draw.length(0.05, 0.5), draw.length(0.2, 0.5)],
                radius: draw.length(0.03, 0.19),
                segments: draw.count(24, 96),
            },
            1 => Self::Capsule {
                radius: draw.length(0.1, 0.25),
                half_height: draw.length(0.1, 0.3),
                segments: draw.count(16, 64),
            },
            2 => Self::Cylinder {
                radius: draw.length(0.1, 0.5),
                half_height: draw.length(0.1, 0.5),
                segments: draw.count(24, 128),
            },
            3 => Self::Cone {
                radius: draw.length(0.2, 0.5),
                height: draw.length(0.3, 1.0),
                segments: draw.count(24, 128),
            },
            4 => Self::Torus {
                major: draw.length(0.25, 0.4),
                minor: draw.length(0.06, 0.2),
                nu: draw.count(32, 96),
                nv: draw.count(16, 48),
            },
            5 => Self::TorusKnot {
                p: 2,
                q: 2 * draw.count(1, 2) + 1,
                radius: draw.length(0.25, 0.35),
                tube: draw.length(0.03, 0.05),
                nu: draw.count(192, 320),
                nv: draw.count(12, 24),
            },
            6 => Self::Bowl {
                outer_radius: draw.length(0.3, 0.5),
                thickness: draw.length(0.03, 0.2),
                segments: draw.count(24, 64),
            },
            7 => Self::Peg {
                radius: draw.length(0.1, 0.3),
                length: draw.length(0.3, 1.0),
                chamfer: draw.length(0.005, 0.04),
                segments: draw.count(24, 96),
            },
            _ => {
                let teeth = draw.count(10, 32);
                let (pitch, depth) = (draw.length(0.38, 0.42), draw.length(1.0, 1.8) / f64::from(teeth));
                Self::Gear {
                    teeth,
                    outer_radius: pitch * (1.0 + depth),
                    root_radius: pitch * (1.0 - depth),
                    thickness: draw.length(0.08, 0.4),
                    bore: draw.length(0.05, 0.2),
                }
            }
        }
    }
}
