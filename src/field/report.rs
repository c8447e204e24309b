//! Reports of cooking: the rule that decided the sign, and the error of the field against the mesh.

use std::fmt;

use serde::{Deserialize, Serialize};

use voxshell_base::math::{Aabb, Vec3};

/// Rule by which inside is told from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SignRule {
    /// The values were given with their sign.
    Given,
    /// Signed crossings along the grid's rows with exact tie-breaking: the integer winding number of a closed
    /// surface. Inside is where it is positive, so overlapping parts unite.
    Crossings,
    /// Even or odd number of crossings: the surface is closed but cannot be oriented.
    Parity,
    /// Generalised winding number above one half (Jacobson et al. 2013): the surface is open.
    WindingNumber,
    /// Inside are the points that cannot be reached from the border of the grid without coming within the offset of
    /// the surface.
    Offset,
}

/// Report of the sign rule and of the surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignReport {
    /// Whether every edge has an even number of triangles (duplicates not counted).
    pub closed: bool,
    /// Whether the triangles were wound consistently; if not, they were flipped before the sign was computed.
    pub consistent: bool,
    /// The rule that decided.
    pub rule: SignRule,
    /// Number of triangles that repeat an earlier one: same corners, same winding. The same number as in the mesh's
    /// [`Report`]. If the triangles do not agree on the outside, these triangles, and those that are the reverse of
    /// an earlier one, are left out.
    ///
    /// [`Report`]: voxshell_mesh::Report
    pub duplicate_triangles: u64,
    /// Number of triangles flipped to agree with their neighbours.
    pub flipped_triangles: u64,
    /// Number of nodes by the rule that decided them.
    pub decided: Decided,
    /// Number of nodes whose winding number was within [`UNCERTAIN`] of the threshold: their sign may be wrong.
    pub uncertain_nodes: u64,
    /// Box around those nodes, body frame, metres; empty when there is none.
    pub uncertain_box: Aabb,
    /// Nodes with the least certain sign: among the uncertain nodes those nearest to the threshold, the nearest
    /// first, no two closer together than an eighth of the grid's largest edge.
    pub least_sure: [Option<UncertainNode>; PLACES],
    /// Area of the membranes across the holes of an open surface, m². φ is also the distance to the membranes.
    pub membrane_area: f64,
}

/// Winding numbers closer to ½ than this are uncertain.
pub const UNCERTAIN: f64 = 0.1;

/// Largest number of positions in a report.
pub const PLACES: usize = 4;

/// Number of nodes by the method that decided their sign. In bricks a node counts in each brick that has a sample of
/// it; in a brick that is entirely inside or entirely outside only the lower corner counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Crossings along the node's row of the grid, signed or by parity: exact.
    pub crossings: u64,
    /// The winding number at the node.
    pub winding_number: u64,
    /// A neighbour that the surface does not separate from the node: the winding number of one node where the
    /// threshold is certainly not crossed in between, or for offset surfaces a path to the border of the grid.
    pub flooding: u64,
}

/// A node with an uncertain sign.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UncertainNode {
    /// Position, body frame, metres.
    pub position: Vec3,
    /// Winding number; the threshold is ½.
    pub winding_number: f64,
}

impl UncertainNode {
    /// Returns the distance of the winding number from the threshold.
    pub fn margin(&self) -> f64 {
        (self.winding_number - 0.5).abs()
    }
}

impl SignReport {
    /// Returns whether all numbers are in the range of a report.
    pub fn is_sound(&self) -> bool {
        let finite = |p: &Vec3| p.iter().all(|x| x.is_finite());
        let Aabb { min, max } = &self.uncertain_box;
        (self.uncertain_box == Aabb::empty() || finite(min) && finite(max))
            && self.least_sure.iter().flatten().all(|d| finite(&d.position) && d.winding_number.is_finite())
            && self.membrane_area.is_finite()
            && self.membrane_area >= 0.0
    }

    /// Returns the report of values that were given with their sign.
    pub(crate) fn given() -> Self {
        Self {
            closed: true,
            consistent: true,
            rule: SignRule::Given,
            duplicate_triangles: 0,
            flipped_triangles: 0,
            decided: Decided::default(),
            uncertain_nodes: 0,
            uncertain_box: Aabb::empty(),
            least_sure: [None; PLACES],
            membrane_area: 0.0,
        }
    }

    /// Returns the report of the body scaled by `factor`.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        let Aabb { min, max } = self.uncertain_box;
        Self {
            uncertain_box: Aabb { min: min * factor, max: max * factor },
            least_sure: self.least_sure.map(|d| d.map(|d| UncertainNode { position: d.position * factor, ..d })),
            membrane_area: self.membrane_area * factor * factor,
            ..*self
        }
    }
}

/// Error |interpolated φ − exact signed distance to the mesh| on the surface and within two cells of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FieldError {
    /// Largest error that a search near the worst places finds, metres: an estimate, the true maximum is at least this.
    /// Of an [`ExactField`](super::ExactField) it is a proven bound.
    pub max: f64,
    /// Root of the mean square over evenly spread points, metres; the same bound of an
    /// [`ExactField`](super::ExactField).
    pub rms: f64,
    /// Number of points of `rms`; 0 if it was not measured.
    pub samples: u32,
}

impl fmt::Display for SignRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SignRule::Given => "given",
            SignRule::Crossings => "signed crossings",
            SignRule::Parity => "parity of crossings",
            SignRule::WindingNumber => "winding number",
            SignRule::Offset => "offset",
        })
    }
}

impl fmt::Display for SignReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Decided { crossings, winding_number, flooding } = self.decided;
        write!(
            f,
            "{}, {}; sign by {} ({crossings} nodes by crossings, {winding_number} by winding number, {flooding} by \
             flooding); {} duplicate triangles, {} turned, {} nodes uncertain; {} m² of membranes across holes",
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
