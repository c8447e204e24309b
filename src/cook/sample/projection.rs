//! Method of the DLR papers: centres of surface voxels projected on the triangles (Sagardia et al. 2014, section
//! 2.1.2).

use super::grid::PointGrid;
use super::surface::Surface;
use super::types::Sample;
use super::uniform::interact;
use voxshell_base::math::{Aabb, Progress, Vec3, Work};
use voxshell_base::memory::{GrowGuarded, SliceGuarded};
use voxshell_base::Result;
use voxshell_mesh::triangle;

/// Visits every triangle, projects the centres of the voxels that it touches on it, and keeps a projection when no
/// sample nearer than `spacing` was kept on any triangle, the `fixed` samples included. (The paper compares with
/// neighbouring triangles only.) Returns the kept samples.
pub(super) fn project(
    surface: &Surface,
    fixed: &[Sample],
    voxel_size: f64,
    spacing: f64,
    progress: &Progress,
) -> Result<Vec<Sample>> {
    let mut kept: Vec<Sample> = fixed.to_vec_guarded();
    let mut grid = PointGrid::new(spacing, fixed.len() + (surface.area / (spacing * spacing)) as usize);
    fixed.iter().for_each(|s| grid.insert(s.p));
    let mut work = Work::new(progress);
    for (f, face) in surface.faces.iter().enumerate() {
        if f % 1024 == 0 {
            progress.report("projection", f as f64 / surface.faces.len() as f64)?;
        }
        let corners = surface.corners(face);
        let is_sliver = face.normal == Vec3::zeros();
        for_each_voxel(&corners, &face.normal, voxel_size, |center| {
            let p = triangle::closest_point(&corners, is_sliver, &center).0;
            let sample = surface.on_face(face, p);
            let (is_taken, looked_at) =
                grid.any_near(&p, spacing, |i| interact(surface.is_consistent, &kept[i as usize], &sample));
            if !is_taken {
                grid.insert(p);
                kept.push_guarded(sample);
            }
            work.add(1 + looked_at)
        })?;
    }
    Ok(kept[fixed.len()..].to_vec_guarded())
}

/// Visits the centres of the voxels that a triangle touches, in a grid with corners at whole multiples of `size`.
fn for_each_voxel(
    corners: &[Vec3; 3],
    normal: &Vec3,
    size: f64,
    mut visit: impl FnMut(Vec3) -> Result<()>,
) -> Result<()> {
    let mut bounds = Aabb::empty();
    corners.iter().for_each(|p| bounds.include(p));
    let low: [i64; 3] = [0, 1, 2].map(|a| (bounds.min[a] / size).floor() as i64);
    let high: [i64; 3] = [0, 1, 2].map(|a| (bounds.max[a] / size).floor() as i64);
    // Columns along the axis of the normal's largest component, so that only voxels near the plane are tested.
    let w = normal.iamax();
    let (u, v) = ((w + 1) % 3, (w + 2) % 3);
    for j in low[v]..=high[v] {
        for i in low[u]..=high[u] {
            let (mut from, mut to) = (low[w], high[w]);
            if normal[w] != 0.0 {
                // Heights of the plane over the corners of the column.
                let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
                for (a, b) in [(i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1)] {
                    let du = a as f64 * size - corners[0][u];
                    let dv = b as f64 * size - corners[0][v];
                    let height = corners[0][w] - (normal[u] * du + normal[v] * dv) / normal[w];
                    lowest = lowest.min(height);
                    highest = highest.max(height);
                }
                from = from.max((lowest / size - 1e-9).floor() as i64);
                to = to.min((highest / size + 1e-9).floor() as i64);
            }
            for k in from..=to {
                let mut min = Vec3::zeros();
                (min[u], min[v], min[w]) = (i as f64 * size, j as f64 * size, k as f64 * size);
                let voxel = Aabb { min, max: min.add_scalar(size) };
                if triangle::overlaps_box(corners, &voxel) {
                    visit(voxel.center())?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;

    #[test]
    fn voxels_of_a_triangle_are_all_that_overlap_it() {
        let mut random = Random::new(5);
        for _ in 0..300 {
            let corners = [0; 3].map(|_| Vec3::from_fn(|_, _| (random.unit() - 0.5) * 2.0));
            let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0])).normalize();
            let size = 0.21;
            let mut found = vec![];
            let visit = |c: Vec3| {
                found.push_guarded([0, 1, 2].map(|a| (c[a] / size).floor() as i64));
                Ok(())
            };
            for_each_voxel(&corners, &normal, size, visit).unwrap();
            found.sort_unstable();
            let mut expected = vec![];
            for x in -6..6i64 {
                for y in -6..6 {
                    for z in -6..6 {
                        let min = Vec3::new(x as f64, y as f64, z as f64) * size;
                        if triangle::overlaps_box(&corners, &Aabb { min, max: min.add_scalar(size) }) {
                            expected.push([x, y, z]);
                        }
                    }
                }
            }
            assert_eq!(found, expected);
        }
    }
}
