//! Meshes with many triangles in one place: at one point, on top of each other, or in layers closer than any voxel. All
//! are about 1 m large.

use std::f64::consts::TAU;

use voxshell::mesh::TriMesh;

/// Returns point `i` of `n` spread evenly over the unit sphere (a Fibonacci lattice).
fn on_sphere(i: usize, n: usize) -> [f64; 3] {
    let z = 1.0 - (2 * i + 1) as f64 / n as f64;
    let (s, phi) = ((1.0 - z * z).sqrt(), i as f64 * 2.399963229728653);
    [s * phi.cos(), s * phi.sin(), z]
}

fn mesh(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> TriMesh {
    TriMesh::new(vertices, triangles).expect("finite coordinates and indices in range")
}

/// Returns closed tetrahedra with a common corner that pass through each other; each has four triangles and three long
/// sharp edges.
pub fn star(triangles: usize) -> TriMesh {
    let n = triangles / 4;
    let mut vertices = vec![[0.0; 3]];
    let mut all = vec![];
    for i in 0..n {
        let d = on_sphere(i, n);
        // Two directions across.
        let a = if d[0].abs() < 0.6 { [0.0, -d[2], d[1]] } else { [-d[2], 0.0, d[0]] };
        let b = [d[1] * a[2] - d[2] * a[1], d[2] * a[0] - d[0] * a[2], d[0] * a[1] - d[1] * a[0]];
        let wide = 0.12;
        let first = vertices.len() as u32;
        for k in 0..3 {
            let (c, s) = ((TAU * k as f64 / 3.0).cos() * wide, (TAU * k as f64 / 3.0).sin() * wide);
            vertices.push([0, 1, 2].map(|j| 0.5 * (d[j] + a[j] * c + b[j] * s)));
        }
        let [p, q, r] = [first, first + 1, first + 2];
        all.extend([[p, q, r], [0, q, p], [0, r, q], [0, p, r]]);
    }
    mesh(vertices, all)
}

/// Returns an open cone of slender triangles around its apex.
pub fn fan(triangles: usize) -> TriMesh {
    let mut vertices = vec![[0.0, 0.0, 0.5]];
    vertices.extend((0..triangles).map(|i| {
        let a = TAU * i as f64 / triangles as f64;
        [0.5 * a.cos(), 0.5 * a.sin(), 0.0]
    }));
    let n = triangles as u32;
    mesh(vertices, (0..n).map(|i| [0, 1 + i, 1 + (i + 1) % n]).collect())
}

/// Returns a sheet folded to and fro, with layers `1 / folds` m apart.
pub fn accordion(triangles: usize) -> TriMesh {
    let n = triangles / 2;
    let mut vertices = vec![];
    for i in 0..=n {
        let (x, z) = (i as f64 / n as f64, if i % 2 == 0 { 0.0 } else { 1.0 });
        vertices.extend([[x, 0.0, z], [x, 1.0, z]]);
    }
    let quads = (0..n as u32).map(|i| 2 * i);
    mesh(vertices, quads.flat_map(|i| [[i, i + 1, i + 2], [i + 1, i + 3, i + 2]]).collect())
}

/// Returns a tetrahedron whose faces are repeated many times.
pub fn identical(triangles: usize) -> TriMesh {
    let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
    let vertices = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.2, 0.9, 0.0], [0.3, 0.3, 0.8]];
    mesh(vertices, (0..triangles).map(|t| faces[t % 4]).collect())
}

/// Returns one triangle repeated many times.
pub fn one(triangles: usize) -> TriMesh {
    let vertices = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.2, 0.9, 0.0]];
    mesh(vertices, vec![[0, 1, 2]; triangles])
}

/// Returns a bundle of closed needles side by side, thinner than a voxel.
pub fn needles(triangles: usize) -> TriMesh {
    let n = triangles / 4;
    let mut vertices = vec![];
    let mut all = vec![];
    for i in 0..n {
        let (r, a) = (2e-3 * ((i + 1) as f64 / n as f64).sqrt(), i as f64 * 2.399963229728653);
        let (x, y, w) = (r * a.cos(), r * a.sin(), 1e-3 / (n as f64).sqrt());
        let first = vertices.len() as u32;
        vertices.extend([[x, y, 0.0], [x + w, y, 0.0], [x, y + w, 0.0], [x, y, 1.0]]);
        all.extend([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]].map(|t| t.map(|k| first + k)));
    }
    mesh(vertices, all)
}

/// Returns triangles that all share one edge; every second one is a sliver beside it.
pub fn book(triangles: usize) -> TriMesh {
    let n = triangles / 2;
    let mut vertices = vec![[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
    let mut all = vec![];
    for i in 0..n {
        let a = TAU * i as f64 / n as f64;
        let first = vertices.len() as u32;
        vertices.extend([[0.5 * a.cos(), 0.5 * a.sin(), 0.5], [1e-9 * a.cos(), 1e-9 * a.sin(), 0.5]]);
        all.extend([[0, 1, first], [0, 1, first + 1]]);
    }
    mesh(vertices, all)
}
