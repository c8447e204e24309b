//! The bounding volume hierarchy over a mesh's triangles: closest point, winding number, rays, boxes. It owns a copy of
//! the corners in the order of its leaves and does not refer back to the mesh.

mod build;
mod closest;
mod crossings;
mod distance;
mod dual;
mod embedded;
mod front;
mod moments;
mod near;
mod node;
mod ray;
mod slab;
mod tree;
mod winding;
mod windings;

pub use closest::Closest;
pub use crossings::{crossings, Crossing, Edges, Wanted as WantedEdges};
pub use distance::{closest_between, Between};
pub use dual::Placement;
pub use front::Front;
pub use near::near_pairs;
pub use slab::Slabs;
pub use tree::Branch;
pub use tree::Bvh;
pub use windings::LANES as WINDING_LANES;
