//! Meshes: files, hierarchy, report, primitives.

mod bvh;
mod crossings;
mod distance;
mod front;
mod io;
mod primitives;
mod report;
mod simplify;
mod thread;
mod union;
mod variants;
