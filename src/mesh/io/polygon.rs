//! Polygons to triangles, and triangles to a mesh.

use crate::TriMesh;
use voxshell_base::math::Vec3;
use voxshell_base::memory::{GrowGuarded, SliceGuarded};

/// Above this many corners a non-convex polygon is fanned rather than clipped (clipping is cubic at worst).
const MAX_CLIPPED: usize = 512;

/// Appends the triangles of a polygon, with its winding. Convex polygons become a fan from the first corner; others are
/// cut ear by ear in the plane of their area vector. Polygons with fewer than three corners give no triangles.
pub fn triangulate(vertices: &[[f64; 3]], polygon: &[u32], out: &mut Vec<[u32; 3]>) {
    if polygon.len() == 3 {
        out.push_guarded([polygon[0], polygon[1], polygon[2]]);
        return;
    }
    let fan = |out: &mut Vec<[u32; 3]>, p: &[u32]| {
        out.extend_guarded((2..p.len()).map(|i| [p[0], p[i - 1], p[i]]));
    };
    // `TriMesh::new` reports corners out of range.
    let known = polygon.iter().all(|&i| (i as usize) < vertices.len());
    if polygon.len() < 3 || polygon.len() > MAX_CLIPPED || !known {
        fan(out, polygon);
        return;
    }
    let point = |i: u32| Vec3::from(vertices[i as usize]);
    let origin = point(polygon[0]);
    let area = (2..polygon.len())
        .fold(Vec3::zeros(), |sum, i| sum + (point(polygon[i - 1]) - origin).cross(&(point(polygon[i]) - origin)));
    let turn = |a: u32, b: u32, c: u32| (point(b) - point(a)).cross(&(point(c) - point(a))).dot(&area);
    let n = polygon.len();
    let convex = (0..n).all(|i| turn(polygon[i], polygon[(i + 1) % n], polygon[(i + 2) % n]) >= 0.0);
    if convex {
        fan(out, polygon);
        return;
    }
    let mut rest = polygon.to_vec_guarded();
    while rest.len() > 3 {
        let n = rest.len();
        let ear = (0..n).find(|&i| {
            let (a, b, c) = (rest[(i + n - 1) % n], rest[i], rest[(i + 1) % n]);
            let inside = |p: u32| turn(a, b, p) >= 0.0 && turn(b, c, p) >= 0.0 && turn(c, a, p) >= 0.0;
            // A corner may occur twice, where a bridge leads to a hole and back.
            let corner = |p: u32| [a, b, c].iter().any(|&q| q == p || vertices[q as usize] == vertices[p as usize]);
            turn(a, b, c) > 0.0 && !rest.iter().any(|&p| !corner(p) && inside(p))
        });
        // No ear: the polygon crosses itself; the rest becomes a fan so that its boundary stays the same.
        let Some(i) = ear else { break };
        out.push_guarded([rest[(i + n - 1) % n], rest[i], rest[(i + 1) % n]]);
        rest.remove(i);
    }
    fan(out, &rest);
}

/// Builds the mesh; an error has the reason alone, since the caller knows the path.
pub(super) fn checked(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> std::result::Result<TriMesh, String> {
    TriMesh::new(vertices, triangles).map_err(|e| e.to_string())
}
