//! Machine parts: a plate with holes and an angle bracket, assembled from square tiles with a round hole.

use std::f64::consts::{FRAC_PI_4, TAU};

use voxshell::math::{Pose, Vec3};
use voxshell::mesh::TriMesh;
use voxshell::Result;

use super::Solid;

/// Edge of a tile, thickness of the sheet and radius of a hole, metres.
const TILE: f64 = 0.25;
const THICKNESS: f64 = 0.05;
const RADIUS: f64 = 0.07;
/// Corners of a hole; a multiple of 8, so that a corner faces each corner of the tile.
const SEGMENTS: usize = 32;

/// Returns the outline of a tile about its centre, and the hole's corner at the same angle, x and z.
fn outline() -> [([f64; 2], [f64; 2]); SEGMENTS] {
    std::array::from_fn(|k| {
        let (sin, cos) = (TAU * k as f64 / SEGMENTS as f64).sin_cos();
        let reach = 0.5 * TILE / sin.abs().max(cos.abs());
        ([reach * cos, -reach * sin], [RADIUS * cos, -RADIUS * sin])
    })
}

/// Adds a tile whose centre is at the origin of `pose`, its thickness along y.
fn tile(solid: &mut Solid, pose: &Pose) {
    let outline = outline();
    let half = 0.5 * THICKNESS;
    let at = |[x, z]: [f64; 2], y: f64| (pose * nalgebra::Point3::new(x, y, z)).coords.into();
    for k in 0..SEGMENTS {
        let ((p, a), (q, b)) = (outline[k], outline[(k + 1) % SEGMENTS]);
        solid.face([at(p, -half), at(q, -half), at(q, half), at(p, half)]);
        solid.face([at(a, half), at(p, half), at(q, half), at(b, half)]);
        solid.face([at(a, -half), at(b, -half), at(q, -half), at(p, -half)]);
        solid.face([at(b, -half), at(a, -half), at(a, half), at(b, half)]);
    }
}

/// Adds `count` tiles along x and z, the first with its outer corner at the origin of `pose`, its lower face at y = 0.
fn sheet(solid: &mut Solid, pose: &Pose, count: [u32; 2]) {
    for i in 0..count[0] {
        for j in 0..count[1] {
            let [x, z] = [i, j].map(|k| TILE * (f64::from(k) + 0.5));
            tile(solid, &(pose * Pose::translation(x, 0.5 * THICKNESS, z)));
        }
    }
}

/// Returns a plate of 1 m × 0.05 m × 0.5 m with eight holes.
pub fn plate() -> Result<TriMesh> {
    let mut solid = Solid::default();
    sheet(&mut solid, &Pose::identity(), [4, 2]);
    solid.mesh()
}

/// Returns an angle bracket: a foot of 0.8 m × 0.5 m and a leg 0.55 m high, both with holes, 0.05 m thick.
pub fn bracket() -> Result<TriMesh> {
    let mut solid = Solid::default();
    sheet(&mut solid, &Pose::translation(THICKNESS, 0.0, 0.0), [3, 2]);
    // Turned so that x becomes y, and y becomes −x.
    let up = Pose::rotation(Vec3::z() * (2.0 * FRAC_PI_4));
    sheet(&mut solid, &(Pose::translation(THICKNESS, THICKNESS, 0.0) * up), [2, 2]);
    corner_bar(&mut solid);
    solid.mesh()
}

/// Adds the bar of square section along z that joins foot and leg. Its faces are divided as the sides of the tiles.
fn corner_bar(solid: &mut Solid) {
    let half = 0.5 * TILE;
    // Only the side towards +x.
    let side = outline().map(|(p, _)| p).into_iter().filter(|p| (p[0] - half).abs() < 1e-12);
    let mut along: Vec<f64> = side.flat_map(|p| [half + p[1], half + TILE + p[1]]).collect();
    along.sort_unstable_by(f64::total_cmp);
    along.dedup_by(|a, b| (*a - *b).abs() < 1e-12);
    let section = [[0.0, 0.0], [THICKNESS, 0.0], [THICKNESS, THICKNESS], [0.0, THICKNESS]];
    let at = |[x, y]: [f64; 2], z: f64| [x, y, z];
    for w in along.windows(2) {
        for i in 0..4 {
            let (p, q) = (section[i], section[(i + 1) % 4]);
            solid.face([at(p, w[1]), at(p, w[0]), at(q, w[0]), at(q, w[1])]);
        }
    }
    solid.face(section.map(|p| at(p, 2.0 * TILE)));
    solid.face(section.into_iter().rev().map(|p| at(p, 0.0)));
}
