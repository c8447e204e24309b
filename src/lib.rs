//! Voxshell: rigid bodies of arbitrary shape, collided by pointshells against signed distance fields.
//!
//! Every object carries two cooked forms of its surface: a **signed distance field** on a grid (the voxelmap) and a
//! **pointshell** (surface samples with normals under a sphere tree). A query of a pair tests the pointshell of one
//! object against the field of the other, so the cost depends on the sampling and not on the triangles.
//!
//! The modules form layers: each imports only from the layers below it, as `docs/architecture.md` lists them.
//!
//! [`math::limits`] holds the limits of all numbers.
//!
//! Conventions: SI units; right-handed; poses are body to world; signed distance is negative inside; a contact normal
//! points from A to B; `f64` in the interface, `f32` for stored samples in the object's own frame.
//!
//! From triangles to contacts:
//!
//! ```
//! use voxshell::asset::{CookOptions, Resolution, Shape};
//! use voxshell::contact::{contacts, Geometry, Query, Workspace};
//! use voxshell::math::{Pose, Progress, Vec3};
//! use voxshell::mesh::primitives;
//!
//! # fn main() -> voxshell::Result<()> {
//! let options = CookOptions { resolution: Resolution::Cells(64), ..CookOptions::default() };
//! let knot = Shape::cook(&primitives::torus_knot(2, 3, 0.35, 0.12, 96, 12)?, &options, &Progress::none())?;
//! let plate = Shape::cook(&primitives::cuboid([1.0, 0.1, 1.0])?, &options, &Progress::none())?;
//! let a = Geometry { field: knot.field.as_deref(), shell: knot.shell.as_deref(), surface: None };
//! let b = Geometry { field: plate.field.as_deref(), shell: plate.shell.as_deref(), surface: None };
//! let (above, origin) = (Pose::new(Vec3::new(0.0, 0.28, 0.0), Vec3::zeros()), Pose::identity());
//! let mut workspace = Workspace::new();
//! let found = contacts(a, &above, b, &origin, &Query::default(), &mut workspace)?;
//! assert!(!found.is_empty());
//! // Deepest first; normals point from the knot to the plate.
//! assert!(found[0].separation < 0.0 && found[0].normal.y < -0.9);
//! # Ok(())
//! # }
//! ```

pub use voxshell_asset as asset;
pub use voxshell_base::{error, math, memory, output, Error, Result};
pub use voxshell_ccd as ccd;
pub use voxshell_contact as contact;
pub use voxshell_cook as cook;
pub use voxshell_dynamics as dynamics;
pub use voxshell_field as field;
pub use voxshell_haptics as haptics;
pub use voxshell_mesh as mesh;
pub use voxshell_pointshell as pointshell;
pub use voxshell_response as response;
pub use voxshell_voxmap as voxmap;
pub use voxshell_voxtree as voxtree;

use voxshell_base::inside;

pub mod capi;
