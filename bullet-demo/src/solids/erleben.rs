//! The bodies of Erleben's degenerate configurations (Erleben 2018, "Methodology for assessing mesh-based contact point
//! methods", ACM Transactions on Graphics 37(3)), in the dimensions that Ferguson et al. 2021 use for rigid IPC.

use voxshell::mesh::TriMesh;
use voxshell::Result;

use super::Solid;

/// Corners of a rectangle at height `y`, counter-clockwise seen from above.
fn rectangle(x: f64, y: f64, z: f64) -> [[f64; 3]; 4] {
    [[-x, y, z], [x, y, z], [x, y, -z], [-x, y, -z]]
}

fn downwards(rectangle: [[f64; 3]; 4]) -> impl Iterator<Item = [f64; 3]> {
    rectangle.into_iter().rev()
}

/// Adds the quads between two rings of four corners, the lower one first.
fn walls(solid: &mut Solid, lower: [[f64; 3]; 4], upper: [[f64; 3]; 4]) {
    for i in 0..4 {
        let j = (i + 1) % 4;
        solid.face([lower[i], lower[j], upper[j], upper[i]]);
    }
}

/// Returns a pyramid: base 1 m × 1 m at y = 0, tip at y = 3 m.
pub fn spike() -> Result<TriMesh> {
    let base = rectangle(0.5, 0.0, 0.5);
    let mut solid = Solid::default();
    solid.face(downwards(base));
    for i in 0..4 {
        solid.face([base[i], base[(i + 1) % 4], [0.0, 3.0, 0.0]]);
    }
    solid.mesh()
}

/// Returns a prism: base 1 m × 2 m at y = 0, upper edge of 2 m along z at y = 3 m.
pub fn wedge() -> Result<TriMesh> {
    let base = rectangle(0.5, 0.0, 1.0);
    let [front, back] = [[0.0, 3.0, 1.0], [0.0, 3.0, -1.0]];
    let mut solid = Solid::default();
    solid.face(downwards(base));
    solid.face([base[0], base[1], front]);
    solid.face([base[1], base[2], back, front]);
    solid.face([base[2], base[3], back]);
    solid.face([base[3], base[0], front, back]);
    solid.mesh()
}

/// Returns a frustum 1 m high, from 1.5 m × 1.5 m to 1 m × 1 m, centred.
pub fn cliff() -> Result<TriMesh> {
    let (lower, upper) = (rectangle(0.75, -0.5, 0.75), rectangle(0.5, 0.5, 0.5));
    let mut solid = Solid::default();
    solid.face(downwards(lower));
    walls(&mut solid, lower, upper);
    solid.face(upper);
    solid.mesh()
}

/// Returns a block 2 m wide, 1 m high and 4 m long, centred, with a V-shaped groove along z, 1 m wide and 0.5 m deep.
pub fn crack() -> Result<TriMesh> {
    // Counter-clockwise seen from +z. The first corner, the bottom of the groove, sees all others.
    let profile = [[0.0, 0.0], [-0.5, 0.5], [-1.0, 0.5], [-1.0, -0.5], [1.0, -0.5], [1.0, 0.5], [0.5, 0.5]];
    let at = |[x, y]: [f64; 2], z: f64| [x, y, z];
    let mut solid = Solid::default();
    solid.face(profile.map(|p| at(p, 2.0)));
    // Seen from −z the order turns, and the same corner stays first.
    solid.face(profile[..1].iter().chain(profile[1..].iter().rev()).map(|&p| at(p, -2.0)));
    for i in 0..profile.len() {
        let (p, q) = (profile[i], profile[(i + 1) % profile.len()]);
        solid.face([at(q, 2.0), at(p, 2.0), at(p, -2.0), at(q, -2.0)]);
    }
    solid.mesh()
}

/// Returns a block of 2 m × 1 m × 2 m, centred, with a funnel in its top: a pyramid with an opening of 1 m × 1 m, 0.5 m
/// deep.
pub fn hole() -> Result<TriMesh> {
    let (lower, upper) = (rectangle(1.0, -0.5, 1.0), rectangle(1.0, 0.5, 1.0));
    let rim = rectangle(0.5, 0.5, 0.5);
    let mut solid = Solid::default();
    solid.face(downwards(lower));
    walls(&mut solid, lower, upper);
    walls(&mut solid, upper, rim);
    for i in 0..4 {
        solid.face([rim[i], rim[(i + 1) % 4], [0.0; 3]]);
    }
    solid.mesh()
}

/// Returns a block of 2 m × 1 m × 2 m, centred, whose flat top is a grid of squares of 0.5 m: edges that are no
/// features of the shape.
pub fn internal_edges() -> Result<TriMesh> {
    const CELLS: usize = 4;
    let lower = rectangle(1.0, -0.5, 1.0);
    let at = |i: usize, j: usize| [-1.0 + 0.5 * i as f64, 0.5, -1.0 + 0.5 * j as f64];
    let mut solid = Solid::default();
    solid.face(downwards(lower));
    for i in 0..CELLS {
        for j in 0..CELLS {
            solid.face([at(i, j + 1), at(i + 1, j + 1), at(i + 1, j), at(i, j)]);
        }
    }
    // Points of the top's border on each side, in the order of `lower`.
    let borders: [[[f64; 3]; CELLS + 1]; 4] = [
        std::array::from_fn(|k| at(k, CELLS)),
        std::array::from_fn(|k| at(CELLS, CELLS - k)),
        std::array::from_fn(|k| at(CELLS - k, 0)),
        std::array::from_fn(|k| at(0, k)),
    ];
    for (i, border) in borders.iter().enumerate() {
        solid.face([lower[i], lower[(i + 1) % 4]].into_iter().chain(border.iter().rev().copied()));
    }
    solid.mesh()
}
