//! Forces and impulses from contacts.

mod continuous;
mod impulse;
mod patches;
mod penalty;
mod voxel_query;
mod voxels;

/// Counts the allocations of each thread for the tests that allow none.
#[global_allocator]
static ALLOCATOR: support::allocation::Counting = support::allocation::Counting;
