//! The bounding volume hierarchy over a mesh's triangles: closest point, winding number, rays, boxes. It owns a copy of
//! the corners in the order of its leaves and does not refer back to the mesh.

mod build;
mod closest;
mod embedded;
mod ray;
mod winding;

use crate::math::{Aabb, Vec3};
use crate::memory::{CollectGuarded, GrowGuarded};
use crate::mesh::triangle::{self, Corners};
use crate::mesh::TriMesh;
use winding::Moments;

pub use closest::Closest;

/// A node: a leaf over triangles when `count` > 0, else the parent of nodes `first` and `first + 1`.
#[derive(Clone, Copy, Debug)]
struct Node {
    min: [f64; 3],
    max: [f64; 3],
    /// First triangle (in leaf order) or first child.
    first: u32,
    /// Number of triangles; 0 for an inner node.
    count: u32,
}

/// Depth that no leaf exceeds (see `build`), and so what a traversal's stack must hold.
const MAX_DEPTH: usize = 72;

/// Bounding volume hierarchy of a triangle mesh, in flat arrays. Immutable, shared by any number of threads; queries
/// allocate nothing except what is pushed into the caller's vectors. The same mesh gives the same bytes.
#[derive(Clone, Debug)]
pub struct Bvh {
    /// Root first; children after their parents.
    nodes: Vec<Node>,
    /// Multipole moments of each node, for the winding number.
    moments: Vec<Moments>,
    /// Corners in leaf order.
    corners: Vec<Corners>,
    /// In leaf order: index in the mesh, with the top bit set for slivers.
    ids: Vec<u32>,
}

/// Marks in `Bvh::ids` the triangles that need the careful closest point.
const SLIVER_BIT: u32 = 1 << 31;

impl Bvh {
    /// Builds over all triangles of `mesh`, degenerate ones included.
    pub fn build(mesh: &TriMesh) -> Self {
        let (nodes, order) = build::build(mesh);
        let corners: Vec<Corners> = order.iter().map(|&t| mesh.corners(t as usize).map(Vec3::from)).collect_guarded();
        let flag = |(&id, c): (&u32, &Corners)| if triangle::is_sliver(c) { id | SLIVER_BIT } else { id };
        let ids = order.iter().zip(&corners).map(flag).collect_guarded();
        let moments = winding::moments(&nodes, &corners);
        Self { nodes, moments, corners, ids }
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

    /// Calls `leaf` on every triangle (in leaf order) below nodes that `enter` accepts.
    fn visit_leaves(&self, enter: impl Fn(&Node) -> bool, mut leaf: impl FnMut(usize)) {
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

    /// Index in the mesh of the triangle at `k` in leaf order.
    #[inline]
    fn id(&self, k: usize) -> u32 {
        self.ids[k] & !SLIVER_BIT
    }

    #[inline]
    fn is_sliver(&self, k: usize) -> bool {
        self.ids[k] & SLIVER_BIT != 0
    }
}

impl Node {
    /// Its triangles, in leaf order.
    #[inline]
    fn triangles(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }

    /// Squared distance from `p` to the box, 0 inside.
    #[inline]
    fn distance_squared(&self, p: &Vec3) -> f64 {
        let d = |i: usize| (self.min[i] - p[i]).max(p[i] - self.max[i]).max(0.0);
        let (x, y, z) = (d(0), d(1), d(2));
        (x * x + y * y) + z * z
    }
}

/// The stack of a depth-first traversal that pushes two children per level.
struct Stack {
    items: [u32; MAX_DEPTH + 2],
    len: usize,
}

impl Stack {
    fn new() -> Self {
        Self { items: [0; MAX_DEPTH + 2], len: 0 }
    }

    #[inline]
    fn push(&mut self, node: u32) {
        self.items[self.len] = node;
        self.len += 1;
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        self.len = self.len.checked_sub(1)?;
        Some(self.items[self.len])
    }
}
