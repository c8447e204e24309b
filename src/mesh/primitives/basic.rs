//! Boxes and spheres.

use std::collections::HashMap;

use super::arguments::{length, within};
use crate::TriMesh;
use voxshell_base::memory::{CollectGuarded, GrowGuarded, RoomGuarded};
use voxshell_base::Result;

/// Makes a box of half extents `half`, centred. Twelve triangles.
pub fn cuboid(half: [f64; 3]) -> Result<TriMesh> {
    half.iter().try_for_each(|&h| length("half", h))?;
    let vertices = (0..8).map(|i| std::array::from_fn(|k| if i >> k & 1 == 1 { half[k] } else { -half[k] })).collect();
    // Each side as a quad, counter-clockwise from outside; corner bits are x, y, z.
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    TriMesh::new(vertices, triangles)
}

/// Makes a sphere, centred: an icosahedron with every triangle divided into four `subdivisions` (at most 8) times, all
/// vertices on the sphere.
pub fn sphere(radius: f64, subdivisions: u32) -> Result<TriMesh> {
    length("radius", radius)?;
    within("subdivisions", subdivisions, 0, 8)?;
    let golden = 0.5 * (1.0 + 5f64.sqrt());
    let mut vertices: Vec<[f64; 3]> = Vec::new();
    for (a, b) in [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)] {
        vertices.push_guarded([a, b, 0.0]);
    }
    for (a, b) in [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)] {
        vertices.push_guarded([0.0, a, b]);
    }
    for (a, b) in [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)] {
        vertices.push_guarded([b, 0.0, a]);
    }
    let mut triangles: Vec<[u32; 3]> = vec![
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    let on_sphere = |p: [f64; 3]| {
        let scale = radius / (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]).sqrt();
        p.map(|x| x * scale)
    };
    vertices.iter_mut().for_each(|v| *v = on_sphere(*v));
    for _ in 0..subdivisions {
        let mut middles = HashMap::new();
        middles.reserve_guarded(3 * triangles.len() / 2);
        let mut middle = |a: u32, b: u32| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                let (p, q) = (vertices[a as usize], vertices[b as usize]);
                vertices.push_guarded(on_sphere(std::array::from_fn(|k| 0.5 * (p[k] + q[k]))));
                vertices.len() as u32 - 1
            })
        };
        let quartered = triangles.iter().flat_map(|&[a, b, c]| {
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        });
        triangles = quartered.collect_guarded();
    }
    TriMesh::new(vertices, triangles)
}
