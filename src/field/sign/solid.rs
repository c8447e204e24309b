//! The triangles that bound the inside, where they are certain to: what mass properties may be integrated over exactly.
//!
//! Triangles that neither cut nor touch each other but at shared corners and edges divide the space, and in each of its
//! pieces the winding number (or the parity) is one number. Around an edge of two triangles there is nothing else, so a part
//! that is joined by such edges has one piece before it and one behind it. A part bounds the inside when the sign's own rule
//! calls only one of them inside; else it lies in the inside (a shell in a shell that is wound like it) or outside
//! (a second reversal within a cavity), and has no share in the mass.

use std::collections::HashMap;

use super::soup::{parts, sides};
use super::{Sides, SignRule};
use crate::math::Vec3;
use crate::memory::{filled, map_with_capacity, CollectGuarded, SliceGuarded};
use crate::mesh::{Bvh, MassProperties, TriMesh};

/// How often the distance of the two points that tell the sides of a part is halved.
const HALVINGS: usize = 42;
/// How close to their triangle they may be, relative to its coordinates: well above rounding.
const CLOSEST: f64 = 1e-14;

impl Sides {
    /// Mass properties of what the rule calls inside, body frame, integrated exactly. `None` for an open surface, for one that
    /// cuts through or touches itself or may do so for what f64 can tell, and where nothing is inside.
    pub fn mass(&self) -> Option<MassProperties> {
        self.boundary_of_inside()?.mass_of_boundary()
    }

    /// The triangles that have the inside behind them and the outside before them, each once, turned so.
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
        let (part, against, count) = parts(&mesh.triangles, &sides(&mesh.triangles));
        if against.contains(&true) {
            return None;
        }
        // Of each part its largest triangle.
        let mut largest = filled((-1.0, 0), count as usize);
        for t in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(t).map(Vec3::from);
            let size = (b - a).cross(&(c - a)).norm();
            let so_far = &mut largest[part[t] as usize];
            if size > so_far.0 {
                *so_far = (size, t);
            }
        }
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

    /// The triangles without those that come again: where a triangle and its reverse come equally often, neither is left, and
    /// else the one that prevails, once. `None` when they are all different.
    fn without_repeats(&self) -> Option<TriMesh> {
        let triangles = &self.mesh.triangles;
        let mut balance: HashMap<[u32; 3], i64> = map_with_capacity(triangles.len());
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
        // The first of those that prevail; the balance is used up with it.
        let kept = triangles.iter().filter(|t| {
            let (sorted, sign) = key(t);
            balance.get_mut(&sorted).is_some_and(|left| *left * sign > 0 && std::mem::take(left) != 0)
        });
        Some(TriMesh { vertices: self.mesh.vertices.to_vec_guarded(), triangles: kept.copied().collect_guarded() })
    }

    /// Whether the points just behind and before the middle of triangle `t` are inside. `None` when something else may lie
    /// between them.
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
            // What lay between a point and the triangle would be nearer to the point.
            if points.iter().all(|p| bvh.closest_point(*p).triangle as usize == t) {
                return Some(points.map(|p| self.inside(p)));
            }
            step *= 0.5;
        }
        None
    }
}
