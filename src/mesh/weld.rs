//! Merging of vertices, and removal of triangles without effect.

use std::borrow::Cow;

use rayon::prelude::*;

use super::{sorted_by_bucket, TriMesh};
use voxshell_base::math::Vec3;
use voxshell_base::memory::{
    filled, map_with_capacity, set_with_capacity, with_capacity, CollectGuarded, GrowGuarded, Map, RoomGuarded,
    SliceGuarded,
};
use voxshell_base::{Error, Result};

/// Returns for every vertex the index of the first one with the same coordinates (0 and −0 are the same; so are equal
/// NaN).
pub fn first_equal(vertices: &[[f64; 3]]) -> Vec<u32> {
    let mut first = map_with_capacity(vertices.len());
    let key = |v: &[f64; 3]| v.map(|x| (x + 0.0).to_bits());
    vertices.iter().enumerate().map(|(i, v)| *first.entry(key(v)).or_insert(i as u32)).collect_guarded()
}

impl TriMesh {
    /// Returns the mesh with vertices merged that are at most `tolerance` metres apart; 0 merges those at equal
    /// coordinates only.
    ///
    /// Each vertex in turn is merged with the nearest vertex kept so far if that is close enough, and is kept
    /// otherwise, so no vertex moves by more than the tolerance. The number of triangles does not change:
    /// [`TriMesh::cleaned`] removes those that collapse. A negative or NaN tolerance is taken as 0.
    pub fn welded(&self, tolerance: f64) -> TriMesh {
        let target =
            if tolerance > 0.0 { nearest_kept(&self.vertices, tolerance) } else { first_equal(&self.vertices) };
        let mut renumbered = filled(0, self.vertices.len());
        let mut vertices = Vec::new();
        for (i, &t) in target.iter().enumerate() {
            if t as usize == i {
                renumbered[i] = vertices.len() as u32;
                vertices.push_guarded(self.vertices[i]);
            }
        }
        let new = |i: u32| renumbered[target[i as usize] as usize];
        TriMesh { vertices, triangles: self.triangles.iter().map(|t| t.map(new)).collect_guarded() }
    }

    /// Returns the mesh without triangles whose three corners are at the coordinates of an earlier one's, in any order:
    /// the same set of points.
    pub fn without_repeats(&self) -> Cow<'_, TriMesh> {
        let same = first_equal(&self.vertices);
        let sorted = |(t, corners): (usize, &[u32; 3])| {
            let mut key = corners.map(|i| same[i as usize]);
            key.sort_unstable();
            (key, t as u32)
        };
        let keys: Vec<([u32; 3], u32)> = self.triangles.iter().enumerate().map(sorted).collect_guarded();
        let mut keys = sorted_by_bucket(keys, self.vertices.len(), |key| key.0[0]);
        // The first of each group is the one that comes first in the mesh.
        keys.dedup_by_key(|k| k.0);
        if keys.len() == self.triangles.len() {
            return Cow::Borrowed(self);
        }
        let mut kept: Vec<u32> = keys.into_iter().map(|k| k.1).collect_guarded();
        kept.par_sort_unstable();
        let triangles = kept.into_iter().map(|t| self.triangles[t as usize]).collect_guarded();
        Cow::Owned(TriMesh { vertices: self.vertices.to_vec_guarded(), triangles })
    }

    /// Returns the mesh without triangles two of whose corners coincide, without repeats of a triangle (same corners,
    /// same winding), and without unused vertices. Triangles of three different corners on a line stay: they close the
    /// seam where a vertex lies on a neighbour's edge. Returns an error when no triangle remains.
    pub fn cleaned(&self) -> Result<TriMesh> {
        let same = first_equal(&self.vertices);
        let mut seen = set_with_capacity(self.triangles.len());
        let kept: Vec<[u32; 3]> = self
            .triangles
            .iter()
            .filter(|t| {
                let t = t.map(|i| same[i as usize]);
                !has_repeated_corner(&t) && seen.insert(rotated(t))
            })
            .copied()
            .collect_guarded();
        if kept.is_empty() {
            return Err(Error::InvalidMesh(format!(
                "none of its {} triangles has three different corners",
                self.triangles.len()
            )));
        }
        const UNUSED: u32 = u32::MAX;
        let mut renumbered = filled(UNUSED, self.vertices.len());
        kept.iter().flatten().for_each(|&i| renumbered[i as usize] = 0);
        let mut vertices = Vec::new();
        for (new, v) in renumbered.iter_mut().zip(&self.vertices) {
            if *new != UNUSED {
                *new = vertices.len() as u32;
                vertices.push_guarded(*v);
            }
        }
        Ok(TriMesh { vertices, triangles: kept.iter().map(|t| t.map(|i| renumbered[i as usize])).collect_guarded() })
    }
}

/// Returns whether two corners are the same vertex.
pub fn has_repeated_corner(t: &[u32; 3]) -> bool {
    t[0] == t[1] || t[1] == t[2] || t[2] == t[0]
}

/// Returns the triangle with its lowest corner first, winding kept: equal for equal triangles.
pub fn rotated(t: [u32; 3]) -> [u32; 3] {
    let [a, b, c] = t;
    if a <= b && a <= c {
        [a, b, c]
    } else if b <= c {
        [b, c, a]
    } else {
        [c, a, b]
    }
}

/// Returns for every vertex the kept one into which it is merged: itself, or the nearest kept before it within the
/// tolerance.
fn nearest_kept(vertices: &[[f64; 3]], tolerance: f64) -> Vec<u32> {
    let cell_of = |v: &[f64; 3]| v.map(|x| (x / tolerance).floor());
    // Cells beyond 2⁵³ tolerances from the origin are coarser than the tolerance; neighbours then coincide, and the
    // search below still finds what shares a cell.
    let key = |c: [f64; 3]| c.map(|x| (x + 0.0).to_bits());
    let mut cells: Map<[u64; 3], Vec<u32>> = Map::default();
    let mut target = with_capacity(vertices.len());
    for (i, v) in vertices.iter().enumerate() {
        let cell = cell_of(v);
        let mut best = (tolerance * tolerance, i as u32);
        for n in 0..27 {
            let near =
                [cell[0] + f64::from(n % 3 - 1), cell[1] + f64::from(n / 3 % 3 - 1), cell[2] + f64::from(n / 9 - 1)];
            for &k in cells.get(&key(near)).into_iter().flatten() {
                let d = (Vec3::from(vertices[k as usize]) - Vec3::from(*v)).norm_squared();
                if d < best.0 || (d == best.0 && k < best.1) {
                    best = (d, k);
                }
            }
        }
        if best.1 == i as u32 {
            cells.reserve_guarded(1);
            cells.entry(key(cell)).or_default().push_guarded(i as u32);
        }
        target.push_guarded(best.1);
    }
    target
}
