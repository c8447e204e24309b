//! Triangles that certainly bound the inside: the surface over which mass properties are integrated exactly.
//!
//! Triangles that intersect or touch each other only at shared corners and edges divide the space into pieces, and in
//! each piece the winding number (or the parity) is constant. An edge of two triangles has nothing else around it, so
//! a part that is joined by such edges has one piece before it and one behind it. A part bounds the inside when the
//! sign rule classifies only one of the two as inside. Otherwise it lies in the inside (a shell in a shell that is
//! wound in the same direction) or outside (a second reversal within a cavity), and has no share in the mass.

use super::soup::{parts, sides};
use super::{Sides, SignRule};
use voxshell_base::math::Vec3;
use voxshell_base::memory::{filled, map_with_capacity, CollectGuarded, Map, SliceGuarded};
use voxshell_mesh::{Bvh, MassProperties, TriMesh};

/// Number of halvings of the distance between the two points that test the sides of a part.
const HALVINGS: usize = 42;
/// Smallest distance of these points from their triangle, relative to its coordinates: well above rounding.
const CLOSEST: f64 = 1e-14;
/// Parts of fewer triangles, left over between those that meet others, are not tested.
const SMALLEST_PART: usize = 8;

/// Returns the largest triangle of each part, with twice its area.
pub(super) fn largest_of_parts(mesh: &TriMesh, part: &[u32], count: u32) -> Vec<(f64, usize)> {
    let mut largest = filled((-1.0, 0), count as usize);
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(t).map(Vec3::from);
        let size = (b - a).cross(&(c - a)).norm();
        let so_far = &mut largest[part[t] as usize];
        if size > so_far.0 {
            *so_far = (size, t);
        }
    }
    largest
}

impl Sides {
    /// Returns the mass properties of the inside by the rule, body frame, integrated exactly. `None` for an open
    /// surface, where nothing is inside, and for one that meets itself in so many places that it would take too long.
    pub fn mass(&self) -> Option<MassProperties> {
        match self.boundary_of_inside() {
            Some(boundary) => boundary.mass_of_boundary(),
            None => self.mass_of_pieces(),
        }
    }

    /// Returns for each triangle whether it certainly has the inside behind it and the outside before it. Triangles that meet
    /// others have not; those that are joined by edges of two triangles and meet no others have the same on both sides.
    pub fn bounding_triangles(&self) -> Vec<bool> {
        let triangles = &self.mesh.triangles;
        let none = || filled(false, triangles.len());
        if !matches!(self.rule, SignRule::Crossings | SignRule::Parity) || self.without_repeats().is_some() {
            return none();
        }
        let Some(meet) = self.bvh.meeting_triangles(&self.mesh) else { return none() };
        let (part, against, count) = parts(triangles, &sides(triangles), |t| !meet[t as usize]);
        let mut sizes = filled(0, count as usize);
        part.iter().for_each(|&p| sizes[p as usize] += 1);
        let largest = largest_of_parts(&self.mesh, &part, count);
        let least = SMALLEST_PART.min(triangles.len());
        let sides_of = |(&(_, t), &size): (&(f64, usize), &usize)| {
            let counts = !meet[t] && size >= least;
            (t, if counts { self.behind_and_before(&self.mesh, &self.bvh, t) } else { None })
        };
        let sides: Vec<_> = largest.iter().zip(&sizes).map(sides_of).collect_guarded();
        let bounds = |t: usize| {
            let (largest, [behind, before]) = match sides[part[t] as usize] {
                (largest, Some(sides)) => (largest, sides),
                _ => return false,
            };
            behind != before && behind == (against[t] == against[largest])
        };
        (0..triangles.len()).map(bounds).collect_guarded()
    }

    /// Returns the triangles that have the inside behind them and the outside before them, each once, wound
    /// accordingly.
    fn boundary_of_inside(&self) -> Option<TriMesh> {
        if !matches!(self.rule, SignRule::Crossings | SignRule::Parity) {
            return None;
        }
        let single = self.without_repeats();
        let own = single.as_ref().map(|mesh| (mesh, Bvh::build(mesh)));
        let (mesh, bvh) = own.as_ref().map_or((&self.mesh, &self.bvh), |(mesh, bvh)| (*mesh, bvh));
        if !bvh.is_embedded(mesh) {
            return None;
        }
        let (part, against, count) = parts(&mesh.triangles, &sides(&mesh.triangles), |_| true);
        if against.contains(&true) {
            return None;
        }
        let largest = largest_of_parts(mesh, &part, count);
        let sides_of = |&(_, t): &(f64, usize)| self.behind_and_before(mesh, bvh, t).ok_or(());
        let inside: Vec<[bool; 2]> = largest.iter().map(sides_of).try_collect_guarded().ok()?;
        let turned = |(t, corners): (usize, &[u32; 3])| match (inside[part[t] as usize], *corners) {
            ([true, false], corners) => Some(corners),
            ([false, true], [a, b, c]) => Some([a, c, b]),
            _ => None,
        };
        let triangles = mesh.triangles.iter().enumerate().filter_map(turned).collect_guarded();
        Some(TriMesh { vertices: mesh.vertices.to_vec_guarded(), triangles })
    }

    /// Returns the triangles without repeats. If a triangle and its reverse occur equally often, neither is kept;
    /// otherwise the more frequent one is kept, once. `None` when they are all different.
    fn without_repeats(&self) -> Option<TriMesh> {
        let triangles = &self.mesh.triangles;
        let mut balance: Map<[u32; 3], i64> = map_with_capacity(triangles.len());
        let key = |&[a, b, c]: &[u32; 3]| {
            let mut sorted = [a, b, c];
            sorted.sort_unstable();
            let even = sorted == [a, b, c] || sorted == [b, c, a] || sorted == [c, a, b];
            (sorted, if even { 1 } else { -1 })
        };
        for t in triangles {
            let (sorted, sign) = key(t);
            *balance.entry(sorted).or_insert(0) += sign;
        }
        if balance.len() == triangles.len() {
            return None;
        }
        // The first of the more frequent ones; it uses up the balance.
        let kept = triangles.iter().filter(|t| {
            let (sorted, sign) = key(t);
            balance.get_mut(&sorted).is_some_and(|left| *left * sign > 0 && std::mem::take(left) != 0)
        });
        Some(TriMesh { vertices: self.mesh.vertices.to_vec_guarded(), triangles: kept.copied().collect_guarded() })
    }

    /// Returns whether the points just behind and before the middle of triangle `t` are inside. `None` when something
    /// else may lie between them.
    fn behind_and_before(&self, mesh: &TriMesh, bvh: &Bvh, t: usize) -> Option<[bool; 2]> {
        let [a, b, c] = mesh.corners(t).map(Vec3::from);
        let across = (b - a).cross(&(c - a));
        let (middle, normal) = ((a + b + c) / 3.0, across.try_normalize(0.0)?);
        let mut step = 0.25 * across.norm().sqrt();
        for _ in 0..HALVINGS {
            if step <= CLOSEST * middle.amax() {
                break;
            }
            let points = [middle - normal * step, middle + normal * step];
            // Anything between a point and the triangle would be nearer to the point.
            if points.iter().all(|p| bvh.closest_point(*p).triangle as usize == t) {
                return Some(points.map(|p| self.inside(p)));
            }
            step *= 0.5;
        }
        None
    }
}
