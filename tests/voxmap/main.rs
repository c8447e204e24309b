//! Layered voxel maps.

mod forms;
mod model;
mod no_allocation;

/// Counts the allocations of each thread for the tests that allow none.
#[global_allocator]
static ALLOCATOR: support::allocation::Counting = support::allocation::Counting;
