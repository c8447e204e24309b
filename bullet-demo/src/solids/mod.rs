//! Meshes that the scenes `degenerate` and `flush` make from their dimensions. Up is y; lengths are metres.

mod erleben;
mod parts;

use std::collections::HashMap;

use voxshell::mesh::TriMesh;
use voxshell::Result;

pub use erleben::{cliff, crack, hole, internal_edges, spike, wedge};
pub use parts::{bracket, plate};

/// Distance below which two corners are one, metres.
const WELD: f64 = 1e-9;

/// A closed surface under construction: convex or star-shaped polygons over welded corners.
#[derive(Default)]
struct Solid {
    vertices: Vec<[f64; 3]>,
    welded: HashMap<[i64; 3], u32>,
    faces: Vec<Vec<u32>>,
}

impl Solid {
    /// Returns the index of the vertex at `p`.
    fn corner(&mut self, p: [f64; 3]) -> u32 {
        let key = p.map(|x| (x / WELD).round() as i64);
        *self.welded.entry(key).or_insert_with(|| {
            self.vertices.push(p);
            self.vertices.len() as u32 - 1
        })
    }

    /// Adds a polygon, counter-clockwise from outside. Its first corner must see all others.
    fn face(&mut self, corners: impl IntoIterator<Item = [f64; 3]>) {
        let face = corners.into_iter().map(|p| self.corner(p)).collect();
        self.faces.push(face);
    }

    /// Returns the mesh. Two faces with the same corners are the two sides of an inner wall, so both are left out.
    fn mesh(self) -> Result<TriMesh> {
        let key = |face: &[u32]| {
            let mut key = face.to_vec();
            key.sort_unstable();
            key
        };
        let mut uses: HashMap<Vec<u32>, u32> = HashMap::new();
        for face in &self.faces {
            *uses.entry(key(face)).or_default() += 1;
        }
        let outer = self.faces.iter().filter(|face| uses[&key(face)] == 1);
        let triangles = outer.flat_map(|f| f.windows(2).skip(1).map(|w| [f[0], w[0], w[1]])).collect();
        TriMesh::new(self.vertices, triangles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the mesh is one closed solid of this volume and these extents.
    #[track_caller]
    fn check(mesh: Result<TriMesh>, volume: f64, extents: [f64; 3]) {
        let mesh = mesh.unwrap();
        let report = mesh.report();
        assert!(report.closed && report.consistent, "{report:?}");
        assert_eq!((report.components, report.degenerate_triangles), (1, 0));
        assert!((report.volume - volume).abs() < 1e-9 * volume, "{} m³, not {volume}", report.volume);
        let found = mesh.bounds().extents();
        assert!((0..3).all(|i| (found[i] - extents[i]).abs() < 1e-9), "{found:?}, not {extents:?}");
    }

    #[test]
    fn erleben_solids_have_their_volumes() {
        check(spike(), 1.0, [1.0, 3.0, 1.0]);
        check(wedge(), 3.0, [1.0, 3.0, 2.0]);
        // A frustum between squares of 1.5 and 1 m.
        check(cliff(), (2.25 + 1.0 + 1.5) / 3.0, [1.5, 1.0, 1.5]);
        check(crack(), 8.0 - 1.0, [2.0, 1.0, 4.0]);
        check(hole(), 4.0 - 0.5 / 3.0, [2.0, 1.0, 2.0]);
        check(internal_edges(), 4.0, [2.0, 1.0, 2.0]);
    }

    #[test]
    fn machine_parts_have_their_volumes() {
        // Regular polygons of 32 corners instead of circles.
        let bore = |radius: f64| 16.0 * radius * radius * (std::f64::consts::TAU / 32.0).sin();
        check(plate(), (0.0625 - bore(0.07)) * 8.0 * 0.05, [1.0, 0.05, 0.5]);
        let tiles = (0.0625 - bore(0.07)) * 10.0 * 0.05;
        check(bracket(), tiles + 0.05 * 0.05 * 0.5, [0.8, 0.55, 0.5]);
    }
}
