//! The adapter in parry and in Rapier, against parry's own queries and against brute force.

mod allocation;
mod bodies;
mod casts;
mod dispatch;
mod no_allocation;
mod rays;
mod replaced;
mod shapes;
mod world;

/// Counts the allocations of each thread for the tests that allow none.
#[global_allocator]
static ALLOCATOR: allocation::Counting = allocation::Counting;
