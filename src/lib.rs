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

pub mod error;
mod inside;
pub mod math;
pub mod memory;

pub mod mesh;

pub mod field;
pub mod pointshell;
pub mod voxmap;
pub mod voxtree;

pub mod ccd;
pub mod contact;
pub mod cook;

pub mod dynamics;
pub mod response;

pub mod asset;
pub mod haptics;

pub mod capi;

pub use error::{Error, Result};
