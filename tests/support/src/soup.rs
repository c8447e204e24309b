//! Triangle soups from a seed, each with its undamaged mesh; and the winding number by its definition.

use nalgebra::{Isometry3, Translation3};
use rayon::prelude::*;
use voxshell::math::Vec3;
use voxshell::mesh::{primitives, TriMesh};

use crate::rng::Rng;

/// Kind of damage to a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Single triangles and whole patches are missing.
    Holes,
    /// Up to a third of the triangles are turned over, or all of them.
    Flips,
    /// Triangles are repeated, with the same or opposite winding; some on corners of their own.
    Duplicates,
    /// Bodies pass through each other.
    Intersections,
    /// Walls thinner than a voxel, and leaves without thickness on a body.
    Sheets,
    /// Corners coincide or are collinear.
    ZeroArea,
    /// A closed shell in another: a cavity, or a body in a body.
    Nested,
    /// Holes, turned, repeated and degenerate triangles in one mesh.
    All,
}

impl Damage {
    pub const EVERY: [Self; 8] = [
        Self::Holes,
        Self::Flips,
        Self::Duplicates,
        Self::Intersections,
        Self::Sheets,
        Self::ZeroArea,
        Self::Nested,
        Self::All,
    ];
}

/// A soup, and the mesh whose winding number tells its inside.
pub struct Soup {
    pub mesh: TriMesh,
    pub truth: TriMesh,
}

/// Returns a closed body of some hundred triangles, rotated and moved by up to `reach`.
fn body(rng: &mut Rng, reach: f64) -> TriMesh {
    let body = match rng.next() % 6 {
        0 => primitives::sphere(0.4, 3),
        1 => primitives::torus(0.35, 0.14, 24, 12),
        2 => primitives::cuboid([0.4, 0.3, 0.2]),
        3 => primitives::gear(9, 0.45, 0.33, 0.25, 0.12),
        4 => primitives::bowl(0.45, 0.12, 20),
        _ => primitives::torus_knot(2, 3, 0.3, 0.09, 48, 8),
    };
    let translation = Translation3::from(rng.vector() * reach);
    body.unwrap().transformed(&Isometry3::from_parts(translation, rng.rotation()), 1.0)
}

pub fn joined(parts: &[TriMesh]) -> TriMesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for p in parts {
        let base = vertices.len() as u32;
        vertices.extend_from_slice(&p.vertices);
        triangles.extend(p.triangles.iter().map(|t| t.map(|i| i + base)));
    }
    TriMesh::new(vertices, triangles).unwrap()
}

pub fn turned(mesh: &TriMesh) -> TriMesh {
    let triangles = mesh.triangles.iter().map(|t| [t[0], t[2], t[1]]).collect();
    TriMesh { vertices: mesh.vertices.clone(), triangles }
}

/// Removes the triangles around some points, and a few single ones.
fn with_holes(mesh: &TriMesh, rng: &mut Rng) -> TriMesh {
    let middle = |t: &[u32; 3]| t.iter().map(|&i| Vec3::from(mesh.vertices[i as usize])).sum::<Vec3>() / 3.0;
    let mut triangles = mesh.triangles.clone();
    for _ in 0..1 + rng.next() % 3 {
        let at = middle(&triangles[(rng.next() % triangles.len() as u64) as usize]);
        let radius = 0.04 + 0.1 * rng.fraction();
        triangles.retain(|t| (middle(t) - at).norm() > radius);
    }
    triangles.retain(|_| rng.next() % 100 > 0);
    if triangles.is_empty() {
        mesh.clone()
    } else {
        TriMesh { vertices: mesh.vertices.clone(), triangles }
    }
}

fn with_flips(mut mesh: TriMesh, rng: &mut Rng) -> TriMesh {
    let share = 0.33 * rng.fraction();
    let all = rng.next() % 4 == 0;
    for t in &mut mesh.triangles {
        if (rng.fraction() < share) != all {
            t.swap(0, 1);
        }
    }
    mesh
}

fn with_duplicates(mut mesh: TriMesh, rng: &mut Rng) -> TriMesh {
    let first = mesh.triangles.len();
    for n in 0..first {
        let [a, b, c] = mesh.triangles[n];
        match rng.next() % 8 {
            0 => mesh.triangles.push([b, c, a]),
            1 => mesh.triangles.push([a, c, b]),
            2 => {
                let base = mesh.vertices.len() as u32;
                mesh.vertices.extend([a, b, c].map(|i| mesh.vertices[i as usize]));
                mesh.triangles.push([base + 1, base, base + 2]);
            }
            _ => {}
        }
    }
    mesh
}

/// Adds triangles of zero area on the surface: an edge passed twice, a point, and, with `slivers`, one along a split
/// edge.
fn with_zero_area(mut mesh: TriMesh, slivers: bool, rng: &mut Rng) -> TriMesh {
    let first = mesh.triangles.len();
    for n in 0..first {
        let [a, b, c] = mesh.triangles[n];
        match rng.next() % 8 {
            0 => mesh.triangles.push([a, b, a]),
            1 => mesh.triangles.push([c, c, c]),
            2 if slivers => {
                // On the line within the precision of f64.
                let t = rng.fraction();
                let [p, q] = [a, b].map(|i| mesh.vertices[i as usize]);
                let i = mesh.vertices.len() as u32;
                mesh.vertices.push([0, 1, 2].map(|k| p[k] + t * (q[k] - p[k])));
                mesh.triangles.push([a, i, b]);
            }
            _ => {}
        }
    }
    mesh
}

impl Soup {
    /// Returns a soup about a metre large. The same seed gives the same soup.
    pub fn new(damage: Damage, seed: u64) -> Self {
        let mut rng = Rng(seed);
        let rng = &mut rng;
        let truth = match damage {
            Damage::Intersections => {
                let parts: Vec<TriMesh> = (0..2 + rng.next() % 2).map(|_| body(rng, 0.35)).collect();
                joined(&parts)
            }
            Damage::Sheets => {
                // From a fiftieth of a voxel at 24 cells to two voxels.
                let thickness = 0.02 * 10f64.powf(1.5 * rng.unit()) / 24.0;
                let plate = primitives::cuboid([0.5, 0.4, thickness]).unwrap();
                let straight = rng.next() % 2 == 0;
                let turn = if straight { Default::default() } else { rng.rotation() };
                let plate = plate.transformed(&Isometry3::from_parts(Translation3::identity(), turn), 1.0);
                // Flat, because the inside of a bent one is ambiguous.
                let [at, u, v] = [rng.vector(), rng.vector() * 0.5, rng.vector() * 0.5];
                let corners = [at, at + u, at + v, at + u + v].map(|p| p.into());
                let leaf = TriMesh::new(corners.to_vec(), vec![[0, 1, 2], [1, 3, 2]]);
                match rng.next() % 3 {
                    0 => plate,
                    1 => joined(&[body(rng, 0.1), plate]),
                    _ => joined(&[body(rng, 0.1), leaf.unwrap()]),
                }
            }
            Damage::Nested => {
                let outer = primitives::sphere(0.5, 3).unwrap();
                let inner = body(rng, 0.02).transformed(&Isometry3::identity(), 0.7);
                joined(&[outer, if rng.next() % 2 == 0 { turned(&inner) } else { inner }])
            }
            Damage::Holes | Damage::All => with_holes(&body(rng, 0.2), rng),
            _ => body(rng, 0.2),
        };
        let mesh = match damage {
            Damage::Flips => with_flips(truth.clone(), rng),
            Damage::Duplicates => with_duplicates(truth.clone(), rng),
            Damage::ZeroArea => with_zero_area(truth.clone(), true, rng),
            // No slivers: they separate the triangles beside an edge, and a turned triangle without neighbours cannot
            // be detected.
            Damage::All => with_zero_area(with_duplicates(with_flips(truth.clone(), rng), rng), false, rng),
            _ => truth.clone(),
        };
        Self { mesh, truth }
    }
}

/// Returns the sum of all solid angles over 4π, in f64, without a hierarchy (Van Oosterom & Strackee 1983).
pub fn winding_number(mesh: &TriMesh, p: &Vec3) -> f64 {
    let angle = |t: usize| {
        let [a, b, c] = mesh.corners(t).map(|v| Vec3::from(v) - p);
        let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
        let volume = a.dot(&b.cross(&c));
        let denominator = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
        // In the triangle's plane the solid angle could be that of either half-space; it counts as zero.
        if volume == 0.0 {
            0.0
        } else {
            volume.atan2(denominator)
        }
    };
    (0..mesh.triangles.len()).map(angle).sum::<f64>() / std::f64::consts::TAU
}

/// Returns the winding numbers of many points.
pub fn winding_numbers(mesh: &TriMesh, points: &[Vec3]) -> Vec<f64> {
    points.par_iter().map(|p| winding_number(mesh, p)).collect()
}
