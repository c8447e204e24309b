//! Pointshells and their sphere trees.

mod features;
mod sample;
mod tree;
