//! Continuous queries: a segment against a cell and against a field, a pointshell that moves through a field, two
//! bodies that move. Takes the types of bodies and contacts from `contact`; independent of files, engines and forces.
//!
//! Xu & Barbič (2014, 2016) reduce continuous collision detection between points and a signed distance field to a
//! segment against a level of the field. Here that answer is exact: the interpolant in each cell is a cubic along the
//! segment, all roots of the cubic are found, and cells are skipped only with a proof.
//!
//! When a moving body first touches another one:
//!
//! ```
//! use voxshell::asset::{CookOptions, Resolution, Shape};
//! use voxshell::ccd::impact::{time_of_impact, Moving, Query};
//! use voxshell::ccd::shell::Workspace;
//! use voxshell::contact::Geometry;
//! use voxshell::math::{Pose, Progress, Vec3};
//! use voxshell::mesh::primitives;
//!
//! # fn main() -> voxshell::Result<()> {
//! let options = CookOptions { resolution: Resolution::Cells(48), ..CookOptions::default() };
//! let cube = Shape::cook(&primitives::cuboid([0.5; 3])?, &options, &Progress::none())?;
//! let geometry = Geometry { field: cube.field.as_deref(), shell: cube.shell.as_deref(), surface: None };
//! let at = |x: f64| Pose::new(Vec3::new(x, 0.0, 0.0), Vec3::zeros());
//! // Through the other cube in one step: from 3 m in front of it to 3 m behind.
//! let bullet = Moving { geometry, from: at(-3.0), to: at(3.0) };
//! let target = Moving::still(geometry, &at(0.0));
//! let hit = time_of_impact(&bullet, &target, &Query::default(), &mut Workspace::new())?.expect("they meet");
//! assert!((hit.toi - 2.0 / 6.0).abs() < 1e-4);
//! # Ok(())
//! # }
//! ```
//!
//! | file | content |
//! | --- | --- |
//! | `cell` | the cubic in a cell |
//! | `segment` | a segment against any field, by `grid`, `convex` or `surface` |
//! | `grid` | a segment against a field on a grid: inside by `grid_traversal`, outside by `grid_exterior` |
//! | `grid_line` | a segment in the coordinates of a grid |
//! | `motion`, `screw` | motion of samples in the field's frame |
//! | `shell` | a pointshell in motion |
//! | `tree`, `sphere_tracing` | the samples that may touch, by the sphere tree; balls in motion |
//! | `sample_path` | the times at which one sample touches |
//! | `shell_intervals` | all passages of a pointshell straight through a grid |
//! | `ball_intervals` | intervals of its path in which a ball may pass the level |
//! | `interval_traversal` | the cells along such an interval |
//! | `impact` | two bodies in the world |
//! | `mesh_impact` | two triangle meshes on rigid motions, without fields or samples |
//! | `mesh_near` | the pairs of features of two meshes at rest that are near |
//! | `mesh_motion` | these motions, and their enclosures in intervals |
//! | `mesh_feature` | edge and edge, vertex and face, over an interval of time |

mod ball_intervals;
pub mod cell;
mod convex;
mod grid;
mod grid_exterior;
mod grid_line;
mod grid_traversal;
pub mod impact;
mod interval_traversal;
mod mesh_feature;
pub mod mesh_impact;
mod mesh_motion;
pub mod mesh_near;
pub mod motion;
mod sample_path;
mod screw;
pub mod segment;
pub mod shell;
mod shell_intervals;
mod sphere_tracing;
mod surface;
mod tree;
mod types;
