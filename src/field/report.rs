//! What cooking found out: which rule decided the sign, and how well the field fits the mesh.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::math::{Aabb, Vec3};

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
    /// Inside is what cannot be reached from the border of the grid without coming within the offset of the surface.
    Offset,
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
    /// Triangles that repeat an earlier one: same corners, same winding. The same number as in the mesh's [`Report`]. Where the
    /// triangles do not agree on the outside, these and those that turn an earlier one over are left out.
    ///
    /// [`Report`]: crate::mesh::Report
    pub duplicate_triangles: u64,
    /// Triangles turned to agree with their neighbours.
    pub flipped_triangles: u64,
    /// Which rule decided how many nodes.
    pub decided: Decided,
    /// Nodes whose winding number was within [`UNCERTAIN`] of the threshold: their sign may be either.
    pub uncertain_nodes: u64,
    /// Box around those nodes, body frame, metres; empty when there is none.
    pub uncertain_box: Aabb,
    /// Where the sign is least sure: of the uncertain nodes those nearest to the threshold, the nearest first, no two
    /// closer together than an eighth of the grid's largest edge.
    pub least_sure: [Option<Doubt>; PLACES],
    /// Area of the membranes put across the holes of an open surface, m². φ is the distance to them, too.
    pub membrane_area: f64,
}

/// Winding numbers closer to ½ than this are uncertain.
pub const UNCERTAIN: f64 = 0.1;

/// Places that a report names at most.
pub const PLACES: usize = 4;

/// Number of nodes by what decided their sign. In bricks a node counts in each brick that has a sample of it, and of a
/// brick that is all inside or all outside only the lower corner does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Crossings along their row of the grid, signed or by parity: exact.
    pub crossings: u64,
    /// Their own winding number.
    pub winding_number: u64,
    /// A neighbour that the surface does not part them from: the winding number of one node where it is certain that the
    /// threshold is not crossed on the way, or for offset surfaces a path to the border of the grid.
    pub flooding: u64,
}

/// A node whose sign is doubtful.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Doubt {
    /// Body frame, metres.
    pub position: Vec3,
    /// The threshold is ½.
    pub winding_number: f64,
}

impl Doubt {
    /// Distance of the winding number from the threshold.
    pub fn margin(&self) -> f64 {
        (self.winding_number - 0.5).abs()
    }
}

impl SignReport {
    /// Whether all numbers are such as a report has.
    pub(crate) fn is_sound(&self) -> bool {
        let finite = |p: &Vec3| p.iter().all(|x| x.is_finite());
        let Aabb { min, max } = &self.uncertain_box;
        (self.uncertain_box == Aabb::empty() || finite(min) && finite(max))
            && self.least_sure.iter().flatten().all(|d| finite(&d.position) && d.winding_number.is_finite())
            && self.membrane_area.is_finite()
            && self.membrane_area >= 0.0
    }

    /// Of values that came with their sign.
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

    /// Of the body `factor` times as large.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        let Aabb { min, max } = self.uncertain_box;
        Self {
            uncertain_box: Aabb { min: min * factor, max: max * factor },
            least_sure: self.least_sure.map(|d| d.map(|d| Doubt { position: d.position * factor, ..d })),
            membrane_area: self.membrane_area * factor * factor,
            ..*self
        }
    }
}

/// |interpolated φ − exact signed distance to the mesh| on the surface and within two cells of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FieldError {
    /// Largest that a search finds where the field fits worst, metres. The true maximum is at least this.
    pub max: f64,
    /// Root of the mean square over points spread evenly, metres.
    pub rms: f64,
    /// Number of points that `rms` is over.
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
