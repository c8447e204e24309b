//! Consistent winding for each patch of a soup, so that its normals agree.

use super::types::Face;
use voxshell_base::math::Vec3;
use voxshell_base::memory::{filled, with_capacity, GrowGuarded};

/// One side of an edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Side {
    /// Vertices, the lower first.
    pub edge: [u32; 2],
    pub face: u32,
    /// Whether the face runs from the lower to the higher vertex.
    pub is_forward: bool,
}

/// Returns all sides, grouped by edge.
pub(super) fn sides(faces: &[Face]) -> Vec<Side> {
    let mut sides = with_capacity(3 * faces.len());
    for (f, face) in faces.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (face.corners[k], face.corners[(k + 1) % 3]);
            if a != b {
                sides.push_guarded(Side { edge: [a.min(b), a.max(b)], face: f as u32, is_forward: a < b });
            }
        }
    }
    sides.sort_unstable();
    sides
}

/// Flips faces so that neighbours across edges of two faces agree where that is possible. Of a patch's two
/// orientations, that of the larger part of its area stays; a mesh that is then consistent, closed and inside out is
/// flipped as a whole.
///
/// Returns true when the result is consistent: except for boundary edges, equally many faces run along each edge in
/// the two directions.
pub(super) fn orient(vertices: &[Vec3], faces: &mut [Face]) -> bool {
    let all = sides(faces);
    let mut neighbours: Vec<[(u32, bool); 3]> = filled([(u32::MAX, false); 3], faces.len());
    let mut counts = filled(0, faces.len());
    for pair in all.chunk_by(|a, b| a.edge == b.edge).filter(|e| e.len() == 2 && e[0].face != e[1].face) {
        let agree = pair[0].is_forward != pair[1].is_forward;
        for (f, g) in [(pair[0].face, pair[1].face), (pair[1].face, pair[0].face)] {
            neighbours[f as usize][counts[f as usize]] = (g, agree);
            counts[f as usize] += 1;
        }
    }
    let mut turned: Vec<Option<bool>> = filled(None, faces.len());
    let mut patch = Vec::new();
    for start in 0..faces.len() {
        if turned[start].is_some() {
            continue;
        }
        turned[start] = Some(false);
        patch.clear();
        patch.push_guarded(start);
        let (mut next, mut kept_area) = (0, 0.0);
        while let Some(&f) = patch.get(next) {
            next += 1;
            let is_turned = turned[f].expect("set when pushed");
            kept_area += if is_turned { -faces[f].area } else { faces[f].area };
            for &(g, agree) in &neighbours[f][..counts[f]] {
                if turned[g as usize].is_none() {
                    turned[g as usize] = Some(is_turned == agree);
                    patch.push_guarded(g as usize);
                }
            }
        }
        if kept_area < 0.0 {
            patch.iter().for_each(|&f| turned[f] = turned[f].map(|t| !t));
        }
    }
    for (face, turned) in faces.iter_mut().zip(turned) {
        if turned == Some(true) {
            face.turn();
        }
    }
    let all = sides(faces);
    let edges = || all.chunk_by(|a, b| a.edge == b.edge);
    let balanced = |e: &[Side]| 2 * e.iter().filter(|s| s.is_forward).count() == e.len();
    let is_consistent = edges().all(|e| e.len() == 1 || balanced(e));
    let is_closed = edges().all(|e| e.len() > 1);
    let six_volume = |f: &Face| {
        let [a, b, c] = f.corners.map(|i| vertices[i as usize]);
        a.dot(&b.cross(&c))
    };
    if is_consistent && is_closed && faces.iter().map(six_volume).sum::<f64>() < 0.0 {
        faces.iter_mut().for_each(Face::turn);
    }
    is_consistent
}
