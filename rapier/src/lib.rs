//! Voxshell in parry and Rapier: bodies of arbitrary shape collide with each other and with all shapes of parry.
//!
//! [`VoxshellShape`] makes a parry shape of a cooked Voxshell shape. [`VoxshellDispatcher`] answers the queries of all
//! pairs that contain such a shape, and hands all other pairs to parry's own dispatcher.
//!
//! | file | content |
//! | --- | --- |
//! | `shape`, `shape_queries` | the shape: box, mass, rays, points |
//! | `body` | the forms in which a shape takes part in a query |
//! | `stock` | the forms of parry's own shapes |
//! | `cache`, `content` | the forms that were made, and how a shape finds its own |
//! | `pair`, `kernel`, `impact` | queries of two shapes at rest and in motion |
//! | `manifold`, `selection` | contact manifolds of the contacts of a pair, and the contacts that they keep |
//! | `dispatcher` | parry's traits |
//!
//! Lengths are in the unit of the engine, metres by convention. Parry computes in f32, Voxshell in f64; each query
//! converts the relative pose of its pair, so that the distance of a pair from the world's origin costs no precision.

mod body;
mod cache;
mod content;
mod convert;
mod dispatcher;
mod impact;
mod kernel;
mod manifold;
mod pair;
mod selection;
mod shape;
mod shape_queries;
mod stock;

pub use dispatcher::{Settings, VoxshellDispatcher};
pub use shape::VoxshellShape;
pub use voxshell;

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
