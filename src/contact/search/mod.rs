//! Search for the samples of a shell that are near the other body.

pub(super) mod apart;
pub(super) mod approach;
pub(super) mod between;
mod cache;
pub(crate) mod climb;
mod covering;
mod deepest;
mod dense;
pub(super) mod edges;
mod exact;
mod extremes;
pub(super) mod faces;
pub(crate) mod far;
pub(super) mod frames;
mod graze;
mod known;
mod lanes;
mod limit;
pub(super) mod linear;
mod pass;
mod places;
mod scratch;
pub(super) mod sharp;
mod sheet;
mod step;
mod tree;

pub(super) use cache::TraversalCache;
pub(super) use covering::Covering;
pub(super) use exact::{Exact, Position};
pub(super) use known::Known;
pub(super) use lanes::{Chosen, LANES};
pub(super) use pass::{passes, Pass};
pub(super) use scratch::{Hit, Node};
pub(super) use sheet::Sides;
