//! What cooking found out: which rule decided the sign, and how well the field fits the mesh.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How inside was told from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SignRule {
    /// The values came with their sign.
    Given,
    /// Signed crossings along the grid's rows with exact tie-breaking: the integer winding number of a closed surface.
    /// Inside is where it is positive, so overlapping parts unite.
    Crossings,
    /// Even or odd number of crossings: the surface is closed but cannot be oriented.
    Parity,
    /// Generalised winding number above one half (Jacobson et al. 2013): the surface is open.
    WindingNumber,
}

/// What was found about the surface's inside.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignReport {
    /// Every edge has an even number of triangles (duplicates not counted).
    pub closed: bool,
    /// The triangles came wound consistently; when not, they were turned before the sign was computed.
    pub consistent: bool,
    /// The rule that decided.
    pub rule: SignRule,
    /// Triangles left out as duplicates of others.
    pub duplicate_triangles: u64,
    /// Triangles turned to agree with their neighbours.
    pub flipped_triangles: u64,
    /// Nodes whose winding number was within a tenth of the threshold: their sign may be either.
    pub uncertain_nodes: u64,
    /// Area of the membranes put across the holes of an open surface, m². φ is the distance to them, too.
    pub membrane_area: f64,
}

impl SignReport {
    pub(super) const GIVEN: Self = Self {
        closed: true,
        consistent: true,
        rule: SignRule::Given,
        duplicate_triangles: 0,
        flipped_triangles: 0,
        uncertain_nodes: 0,
        membrane_area: 0.0,
    };
}

/// |interpolated φ − exact signed distance to the mesh| over points on the surface and within two cells of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FieldError {
    /// Largest, metres.
    pub max: f64,
    /// Root of the mean square, metres.
    pub rms: f64,
    /// Number of points measured.
    pub samples: u32,
}

impl fmt::Display for SignRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SignRule::Given => "given",
            SignRule::Crossings => "signed crossings",
            SignRule::Parity => "parity of crossings",
            SignRule::WindingNumber => "winding number",
        })
    }
}

impl fmt::Display for SignReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {}; sign by {}; {} duplicate triangles left out, {} turned, {} nodes uncertain; \
             {} m² of membranes across holes",
            if self.closed { "closed" } else { "open" },
            if self.consistent { "consistently wound" } else { "not consistently wound" },
            self.rule,
            self.duplicate_triangles,
            self.flipped_triangles,
            self.uncertain_nodes,
            self.membrane_area,
        )
    }
}
