//! The ordinary world: bodies, sizes and places drawn at random from a class of scenes, at default settings. One file a
//! class.

mod apart;
mod bodies;
mod cost;
mod invariants;
mod oracle;
mod pair;
mod parts;
mod scales;
mod sheets;
mod solids;
mod thin;

use nalgebra::Isometry3;
use support::rng::Rng;
use voxshell::asset::{CookOptions, Shape};
use voxshell::contact::{contacts, distance, Contact, Coverage, Query, Roles, Workspace};
use voxshell::math::{Pose, Progress};
use voxshell::mesh::TriMesh;

/// Returns the number of seeds to draw from: `n`, or 1,000 with VOXSHELL_LONG.
fn seeds(n: u64) -> u64 {
    if support::long() {
        1000
    } else {
        n
    }
}

fn cooked(mesh: &TriMesh) -> Shape {
    Shape::cook(mesh, &CookOptions::default(), &Progress::none()).unwrap()
}

fn random_pose(rng: &mut Rng, size: f64) -> Pose {
    Isometry3::from_parts((rng.vector() * size).into(), rng.rotation())
}

/// Returns all contacts of two bodies, as `vxs_query_contacts` finds them by default.
fn all_contacts(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose, workspace: &mut Workspace) -> Vec<Contact> {
    let query = Query::default();
    let [a, b] = [a, b].map(|shape| shape.geometry_for(query.coverage).unwrap());
    contacts(a, pose_a, b, pose_b, &query, workspace).unwrap().to_vec()
}

/// Returns the closest points, as `vxs_query_distance` finds them by default.
fn closest(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose, workspace: &mut Workspace) -> Contact {
    let [a, b] = [a, b].map(|shape| shape.geometry_for(Coverage::Edges).unwrap());
    let found = distance(a, pose_a, b, pose_b, Roles::Auto, f64::INFINITY, workspace);
    found.unwrap().expect("any distance is found")
}
