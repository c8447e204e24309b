//! Implicit sphere trees.

mod build;
mod file;
mod make;
mod no_allocation;
mod query;
mod table;

/// Counts the allocations of each thread for the tests that allow none.
#[global_allocator]
static ALLOCATOR: support::allocation::Counting = support::allocation::Counting;
