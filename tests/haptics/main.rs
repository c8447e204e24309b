//! Haptic renderers, the solver under them and the servo loop.

mod bodies;
mod device;
mod extremes;
mod god;
mod god_triangles;
mod hulls;
mod insertion;
mod inside;
mod loads;
mod metric;
mod no_allocation;
mod peg;
mod qp;
mod runner;
mod saturation;
mod servo;
mod sharp;
mod surface;
mod tilted;
mod two_tools;
mod walls;

/// Counts the allocations of each thread for the tests that allow none.
#[global_allocator]
static ALLOCATOR: support::allocation::Counting = support::allocation::Counting;
