//! Contact queries: oracles, bounds, features, budgets, traversal caches.

mod ahead;
mod analytic;
mod budget;
mod bytes;
mod cache;
mod coincident;
mod edges;
mod exact;
mod extremes;
mod faceted;
mod features;
mod hulls;
mod no_allocation;
mod normals;
mod oracle;
mod roles;
mod segments;
mod sharp;
mod sheet;
mod step;
mod triangles;

/// Counts the allocations of each thread for the tests that allow none.
#[global_allocator]
static ALLOCATOR: support::allocation::Counting = support::allocation::Counting;
