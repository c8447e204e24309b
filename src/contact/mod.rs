//! Floor 3: discrete queries. Pointshell against field: contact sets, distance, penetration, manifold reduction. Knows
//! nothing of files, engines or forces.

use crate::field::Field;
use crate::math::Vec3;
use crate::pointshell::PointShell;

/// The two forms of a body, whichever it has.
#[derive(Clone, Copy)]
pub struct Geometry<'a> {
    pub field: Option<&'a Field>,
    pub shell: Option<&'a PointShell>,
}

/// Which body brings the pointshell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roles {
    /// The one with fewer samples (Sagardia et al. 2014, section 3.2), or whichever is possible.
    Auto,
    /// Pointshell of A against field of B.
    ShellOfA,
    /// Pointshell of B against field of A.
    ShellOfB,
    /// Both ways, contacts merged.
    Both,
}

/// One contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// World frame, metres.
    pub point_on_a: Vec3,
    pub point_on_b: Vec3,
    /// Unit, world frame, from A to B.
    pub normal: Vec3,
    /// φ at the sample: negative when penetrating, metres.
    pub separation: f64,
    /// Fraction of the step, 0 for discrete queries.
    pub toi: f64,
    /// Index of the pointshell sample; bit 31 set when the pointshell is B's.
    pub feature: u32,
}

/// What to look for.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    pub roles: Roles,
    /// Contacts with φ up to this are reported, metres; 0 means touching or penetrating only; may be negative.
    pub max_separation: f64,
    /// Reduce to this many (deepest, then largest area); 0 means all.
    pub max_contacts: usize,
}
