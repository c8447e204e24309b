//! Signed distance fields: grids and analytic shapes behind one trait. Depends on meshes; independent of samples and
//! contacts.

mod analytic;
mod approach;
mod axial;
mod blocks;
pub mod brick;
mod clearance;
mod convex;
mod dense;
mod distance;
mod exact;
mod flat;
mod grid;
mod kind;
mod mesh_field;
mod report;
pub mod scan;
mod sheet;
pub mod sign;
mod sphere_hull;
mod surface;
pub mod triangle;
mod trilinear;

pub use analytic::{Cuboid, HalfSpace, Sphere};
pub use approach::{Level, SegmentBatch, BRIM, CHUNK, FAR, NEVER};
pub use axial::*;
pub use blocks::{mask_bit, Blocks, Cells, SeparationBall, Skip, BLOCK};
pub use brick::{BrickField, BrickHeader, BrickParts, Certificate, Samples};
pub use clearance::Clearance;
pub use convex::ConvexHull;
pub use dense::DenseField;
pub use distance::{Modulus, SignedDistance, LANES};
pub use exact::AnyField;
pub use grid::Grid;
pub use kind::{ExactField, Field, Gridded};
pub use mesh_field::MeshField;
pub use report::{Decided, FieldError, SignReport, SignRule, UncertainNode, PLACES, UNCERTAIN};
pub use sheet::{Sheet, SheetAround};
pub use sphere_hull::{Ball, SphereHull, MAX_BALLS};
pub use surface::Foot;
pub use surface::Surface;
pub use voxshell_base::math::wide::{force_baseline, uses_avx2};
