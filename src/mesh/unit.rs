//! Sizes from which the unit of a mesh file, which most formats do not name, was probably another one.

/// Largest extents of bodies that are looked at with other eyes, metres.
const LARGE: f64 = 50.0;
const SMALL: f64 = 1e-4;

/// A guess at the size of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbableSize {
    /// Largest extent, metres.
    pub extent: f64,
    /// Factor by which the body is probably to be scaled: a power of 1,000.
    pub factor: f64,
}

impl ProbableSize {
    /// Returns a guess at the size of a body whose largest extent is above 50 m (its numbers are probably millimetres, or
    /// micrometres above 50 km) or below 0.1 mm (they were probably scaled to metres twice); `None` of others.
    pub fn of(extent: f64) -> Option<Self> {
        let factor = match extent {
            x if x > LARGE * 1e3 => 1e-6,
            x if x > LARGE => 1e-3,
            x if x > 0.0 && x < SMALL * 1e-3 => 1e6,
            x if x > 0.0 && x < SMALL => 1e3,
            _ => return None,
        };
        extent.is_finite().then_some(Self { extent, factor })
    }

    /// Returns the name of the unit in which the numbers probably are; `None` if they are too small.
    pub fn unit(&self) -> Option<&'static str> {
        match self.factor {
            1e-3 => Some("mm"),
            1e-6 => Some("um"),
            _ => None,
        }
    }
}

impl std::fmt::Display for ProbableSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { extent, factor } = self;
        let size = extent * factor;
        match self.unit() {
            Some(unit) => {
                write!(f, "the body is {extent:.4} m large; if its numbers are {unit}, it is {size:.4} m large")
            }
            None => {
                write!(f, "the body is {extent:.4e} m large; if it was scaled to metres twice, it is {size:.4} m large")
            }
        }
    }
}
