//! Bound on the gradient of the winding number of an open surface.
//!
//! Up to the factor 4π, the winding number is the solid angle of a double layer. Off the surface its gradient is a
//! line integral along the surface's boundary alone (the magnetic field of a current loop, Biot & Savart): |∇w(x)| ≤
//! 1/4π ∮ dl / r². Away from the holes the winding number is nearly constant on each side of the surface, at any
//! distance from it.

use voxshell_base::math::{Aabb, Vec3};
use voxshell_base::memory::{sort_stable_by, GrowGuarded};

/// Largest number of groups in which edges are summed.
const GROUPS: usize = 96;

/// The boundary of a surface: groups of edges that are close together.
#[derive(Clone, Debug)]
pub struct Boundary {
    groups: Vec<Group>,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    bounds: Aabb,
    /// Length of its edges, metres; each edge counts as often as the difference of its uses in the two directions.
    length: f64,
}

impl Boundary {
    /// Returns the boundary of edges with their multiplicity.
    pub fn new(mut edges: Vec<([Vec3; 2], u32)>) -> Self {
        let size = edges.len().div_ceil(GROUPS).max(1);
        let mut groups = Vec::new();
        split(&mut edges, size, &mut groups);
        Self { groups }
    }

    /// Returns a bound on |∇w| in the ball (c, r), per metre; infinite when a boundary may be in it.
    pub fn steepest(&self, c: &Vec3, r: f64) -> f64 {
        let mut sum = 0.0;
        for g in &self.groups {
            let clear = g.bounds.distance_squared(c).sqrt() - r;
            if clear <= 0.0 {
                return f64::INFINITY;
            }
            sum += g.length / (clear * clear);
        }
        sum * (1.0 + 1e-9) / (4.0 * std::f64::consts::PI)
    }
}

fn split(edges: &mut [([Vec3; 2], u32)], size: usize, groups: &mut Vec<Group>) {
    if edges.is_empty() {
        return;
    }
    let mut bounds = Aabb::empty();
    for p in edges.iter().flat_map(|(e, _)| e) {
        bounds.include(p);
    }
    if edges.len() <= size {
        let length = edges.iter().map(|([a, b], n)| (b - a).norm() * f64::from(*n)).sum();
        groups.push_guarded(Group { bounds, length });
        return;
    }
    let axis = bounds.extents().imax();
    // Stable, so that equal keys keep their order.
    sort_stable_by(edges, |(a, _), (b, _)| (a[0][axis] + a[1][axis]).total_cmp(&(b[0][axis] + b[1][axis])));
    let (left, right) = edges.split_at_mut(edges.len() / 2);
    split(left, size, groups);
    split(right, size, groups);
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxshell_mesh::{Bvh, TriMesh};

    #[test]
    fn winding_number_changes_no_faster_than_the_boundary_allows() {
        let p = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.1], [0.3, 1.0, 0.0], [0.4, 0.3, 0.9]];
        let mesh = TriMesh::new(p.to_vec(), vec![[0, 1, 3], [1, 2, 3], [2, 0, 3]]).unwrap();
        let edge = |a: usize, b: usize| ([Vec3::from(p[a]), Vec3::from(p[b])], 1);
        let boundary = Boundary::new(vec![edge(0, 1), edge(1, 2), edge(2, 0)]);
        let bvh = Bvh::build(&mesh);
        let mut state = 3u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut tested = 0;
        for _ in 0..20_000 {
            let c = Vec3::new(next() * 3.0 - 1.0, next() * 3.0 - 1.0, next() * 3.0 - 1.0);
            let r = bvh.closest_point(c).distance_squared.sqrt().min(next());
            let u = Vec3::new(next() - 0.5, next() - 0.5, next() - 0.5).normalize() * (r * next());
            let rise = (bvh.winding_number_exact(c + u) - bvh.winding_number_exact(c)).abs();
            let bound = boundary.steepest(&c, r) * u.norm();
            assert!(rise <= bound + 1e-12, "{rise} {bound}");
            tested += usize::from(bound < 0.1);
        }
        assert!(tested > 1000);
    }
}
