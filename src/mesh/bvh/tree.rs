//! The hierarchy itself, and the triangles near a box or a point.

use std::cell::Cell;

use super::build;
use super::moments::{moments, Moments};
use super::node::{Node, Stack};
use crate::triangle::{self, Corners};
use crate::TriMesh;
use voxshell_base::math::{Aabb, Vec3};
use voxshell_base::memory::{CollectGuarded, GrowGuarded};

/// Bounding volume hierarchy of a triangle mesh, in flat arrays. Immutable, shared by any number of threads; queries
/// allocate nothing except what is pushed into the caller's vectors. The same mesh gives the same bytes.
#[derive(Clone, Debug)]
pub struct Bvh {
    /// Root first; children after their parents.
    pub(super) nodes: Vec<Node>,
    /// Multipole moments of each node, for the winding number; empty if built without.
    pub(super) moments: Vec<Moments>,
    /// Corners in leaf order.
    pub(super) corners: Vec<Corners>,
    /// In leaf order: index in the mesh, with the top bit set for slivers.
    pub(super) ids: Vec<u32>,
}

/// A node for traversals outside this module.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    /// Centre of its box, metres.
    pub center: Vec3,
    /// Half the edge lengths of its box, rounded.
    pub half: Vec3,
    /// Number of the first of its two children, which are consecutive; `None` for a leaf.
    pub first_child: Option<u32>,
    first: u32,
    count: u32,
}

impl Branch {
    /// Returns the triangles of a leaf, in leaf order.
    pub fn triangles(&self) -> std::ops::Range<u32> {
        self.first..self.first + self.count
    }
}

/// Marks in `Bvh::ids` the triangles that need the careful closest point.
const SLIVER_BIT: u32 = 1 << 31;

impl Bvh {
    /// Builds over all triangles of `mesh`, degenerate ones included.
    pub fn build(mesh: &TriMesh) -> Self {
        let bvh = Self::without_moments(mesh);
        Self { moments: moments(&bvh.nodes, &bvh.corners), ..bvh }
    }

    /// Builds the same hierarchy without the moments, which take a quarter of the time. Winding numbers are then sums over
    /// all triangles.
    pub fn without_moments(mesh: &TriMesh) -> Self {
        let (nodes, order) = build::build(mesh);
        let corners: Vec<Corners> = order.iter().map(|&t| mesh.corners(t as usize).map(Vec3::from)).collect_guarded();
        let flag = |(&id, c): (&u32, &Corners)| if triangle::is_sliver(c) { id | SLIVER_BIT } else { id };
        let ids = order.iter().zip(&corners).map(flag).collect_guarded();
        Self { nodes, moments: Vec::new(), corners, ids }
    }

    /// Number of triangles.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The box around the triangles.
    pub fn bounds(&self) -> Aabb {
        self.nodes.first().map_or(Aabb::empty(), |n| Aabb { min: n.min.into(), max: n.max.into() })
    }

    /// Appends the triangles that touch a closed box, in ascending order.
    pub fn triangles_overlapping_box(&self, b: &Aabb, out: &mut Vec<u32>) {
        let from = out.len();
        self.visit_leaves(
            |n| (0..3).all(|i| n.min[i] <= b.max[i] && b.min[i] <= n.max[i]),
            |k| {
                if triangle::overlaps_box(&self.corners[k], b) {
                    out.push_guarded(self.id(k));
                }
            },
        );
        out[from..].sort_unstable();
    }

    /// Appends the triangles within `distance` metres of `p`, in ascending order.
    pub fn triangles_within(&self, p: Vec3, distance: f64, out: &mut Vec<u32>) {
        let from = out.len();
        let limit = distance * distance;
        self.visit_leaves(
            |n| n.distance_squared(&p) <= limit,
            |k| {
                let (point, _) = triangle::closest_point(&self.corners[k], self.is_sliver(k), &p);
                if (point - p).norm_squared() <= limit {
                    out.push_guarded(self.id(k));
                }
            },
        );
        out[from..].sort_unstable();
    }

    /// Calls `found` with each triangle within `distance` metres of `p`, and its closest point, in leaf order.
    pub fn points_within(&self, p: Vec3, distance: f64, mut found: impl FnMut(u32, Vec3)) {
        let limit = distance * distance;
        self.visit_leaves(
            |n| n.distance_squared(&p) <= limit,
            |k| {
                let (point, _) = triangle::closest_point(&self.corners[k], self.is_sliver(k), &p);
                if (point - p).norm_squared() <= limit {
                    found(self.id(k), point);
                }
            },
        );
    }

    /// Returns whether `accept` is true for each triangle within `distance` metres of `p`, by its index in the mesh and
    /// its corners; stops at the first for which it is not.
    pub fn all_within(&self, p: Vec3, distance: f64, accept: impl Fn(u32, &Corners) -> bool) -> bool {
        let limit = distance * distance;
        let good = Cell::new(true);
        self.visit_leaves(
            |n| good.get() && n.distance_squared(&p) <= limit,
            |k| {
                let is_near = || {
                    let (point, _) = triangle::closest_point(&self.corners[k], self.is_sliver(k), &p);
                    (point - p).norm_squared() <= limit
                };
                good.set(good.get() && (accept(self.id(k), &self.corners[k]) || !is_near()));
            },
        );
        good.get()
    }

    /// Returns the memory held, bytes.
    pub fn bytes(&self) -> u64 {
        let Self { nodes, moments, corners, ids } = self;
        (size_of_val(&**nodes) + size_of_val(&**moments) + size_of_val(&**corners) + size_of_val(&**ids)) as u64
    }

    /// Calls `leaf` on every triangle (in leaf order) below nodes that `enter` accepts.
    pub(super) fn visit_leaves(&self, enter: impl Fn(&Node) -> bool, mut leaf: impl FnMut(usize)) {
        let mut stack = Stack::new();
        stack.push(0);
        while let Some(i) = stack.pop() {
            let Some(node) = self.nodes.get(i as usize).filter(|n| enter(n)) else { continue };
            if node.count > 0 {
                node.triangles().for_each(&mut leaf);
            } else {
                stack.push(node.first + 1);
                stack.push(node.first);
            }
        }
    }

    /// Returns a node: 0 is the root.
    #[inline]
    pub fn branch(&self, node: u32) -> Branch {
        let n = &self.nodes[node as usize];
        let (min, max) = (Vec3::from(n.min), Vec3::from(n.max));
        Branch {
            center: (min + max) * 0.5,
            half: (max - min) * 0.5,
            first_child: if n.count == 0 { Some(n.first) } else { None },
            first: n.first,
            count: n.count,
        }
    }

    /// Returns the corners of the triangle at `k` in leaf order.
    #[inline]
    pub fn corners_at(&self, k: u32) -> &Corners {
        &self.corners[k as usize]
    }

    /// Index in the mesh of the triangle at `k` in leaf order.
    #[inline]
    pub fn id(&self, k: usize) -> u32 {
        self.ids[k] & !SLIVER_BIT
    }

    /// Returns where a triangle is in leaf order; `corner` is one of its corners.
    pub fn place_of(&self, triangle: u32, corner: &Vec3) -> Option<usize> {
        let mut place = None;
        let at_corner = |n: &Node| n.distance_squared(corner) <= 0.0;
        self.visit_leaves(at_corner, |k| place = place.or((self.id(k) == triangle).then_some(k)));
        place
    }

    #[inline]
    pub fn is_sliver(&self, k: usize) -> bool {
        self.ids[k] & SLIVER_BIT != 0
    }
}
