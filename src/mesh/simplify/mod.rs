//! Levels of detail of a surface as a hierarchy of convex hulls: sensation-preserving simplification (Otaduy & Lin 2003,
//! "Sensation preserving simplification for haptic rendering").
//!
//! | file | what |
//! | --- | --- |
//! | `lattice`, `hull` | exact convexity on integer coordinates; hulls, and which of their faces are surface |
//! | `surface`, `decompose` | the surface while it changes; its decomposition into convex patches |
//! | `quadric`, `collapse` | filtered edge collapse under convexity constraints, merging of patches |
//! | `levels`, `measure`, `build` | the levels, their errors, and the hierarchy made of them |
//!
//! The finest level is the decomposition of the original surface. Each following level has at most half as many convex
//! pieces, and a piece is the parent of those that merged into it. Above the last level of the simplification, hulls are
//! merged in pairs; these levels bound the surface but do not approximate it.
//!
//! Differences from the paper: a level's hulls need not bound the original surface, so each node has a `reach`, a bound on
//! the distance from its hull to everything below it (the paper's directed Hausdorff distance h); a hull's faces are marked
//! as surface or virtual, so that a query never takes a face that closes a hull for the surface; a patch that loses its last
//! triangle becomes part of a neighbour.

mod build;
mod collapse;
mod decompose;
mod hull;
mod lattice;
mod levels;
mod measure;
mod quadric;
mod surface;
mod types;

pub use hull::Cover;
pub use types::{HullFace, HullHierarchy, Level, LevelSurface, Node, SimplifyOptions};
