//! Building: top down, binned surface-area heuristic (Wald 2007, "On fast Construction of SAH-based Bounding Volume
//! Hierarchies"). Serial and without randomness, so that the same mesh gives the same tree.

use super::node::{Node, MAX_DEPTH};
use crate::math::{Aabb, Vec3};
use crate::memory::{with_capacity, CollectGuarded, GrowGuarded};
use crate::mesh::TriMesh;

const BINS: usize = 16;
/// Largest number of triangles in a leaf, unless the triangles cannot be separated and the depth is used up.
const MAX_LEAF: usize = 8;
/// Cost of entering a node in triangle tests.
const TRAVERSAL_COST: f64 = 0.7;
/// Below this depth the split is by count, which needs at most 32 more levels for 2³² triangles.
const MEDIAN_DEPTH: usize = MAX_DEPTH - 32;

struct Item {
    id: u32,
    bounds: Aabb,
    center: Vec3,
}

/// Returns the nodes, and the triangles in leaf order.
pub fn build(mesh: &TriMesh) -> (Vec<Node>, Vec<u32>) {
    let mut items: Vec<Item> = (0..mesh.triangles.len())
        .map(|t| {
            let bounds = Aabb::from_points(&mesh.corners(t));
            Item { id: t as u32, center: bounds.center(), bounds }
        })
        .collect_guarded();
    let mut nodes = with_capacity(items.len());
    if items.is_empty() {
        return (nodes, Vec::new());
    }
    nodes.push_guarded(leaf(&items, 0));
    let mut open = vec![(0usize, 0usize)];
    while let Some((at, depth)) = open.pop() {
        let (first, count) = (nodes[at].first as usize, nodes[at].count as usize);
        let range = &mut items[first..first + count];
        let Some(left) = split(range, depth) else { continue };
        let child = nodes.len();
        nodes.push_guarded(leaf(&range[..left], first));
        nodes.push_guarded(leaf(&range[left..], first + left));
        nodes[at].first = child as u32;
        nodes[at].count = 0;
        open.push_guarded((child + 1, depth + 1));
        open.push_guarded((child, depth + 1));
    }
    (nodes, items.iter().map(|i| i.id).collect_guarded())
}

fn leaf(items: &[Item], first: usize) -> Node {
    let b = items.iter().fold(Aabb::empty(), |b, i| b.merged(&i.bounds));
    Node { min: b.min.into(), max: b.max.into(), first: first as u32, count: items.len() as u32 }
}

/// Reorders `items` into two parts and returns the length of the first; `None` when a leaf is best.
fn split(items: &mut [Item], depth: usize) -> Option<usize> {
    let n = items.len();
    if n <= 1 {
        return None;
    }
    if depth >= MEDIAN_DEPTH {
        if n <= MAX_LEAF {
            return None;
        }
        let axis = items.iter().fold(Aabb::empty(), |b, i| b.merged(&i.bounds)).extents().imax();
        items.sort_unstable_by(|a, b| a.center[axis].total_cmp(&b.center[axis]).then(a.id.cmp(&b.id)));
        return Some(n / 2);
    }
    let Some(best) = best_cut(items) else {
        // All centres coincide: there is no criterion for a split.
        return (n > MAX_LEAF).then_some(n / 2);
    };
    let whole = area(&items.iter().fold(Aabb::empty(), |b, i| b.merged(&i.bounds)));
    if n <= MAX_LEAF && 2.0 * TRAVERSAL_COST * whole + best.cost >= n as f64 * whole {
        return None;
    }
    let mut left = 0;
    for i in 0..n {
        if best.bins.of(&items[i].center) <= best.last_left {
            items.swap(left, i);
            left += 1;
        }
    }
    Some(left)
}

/// Returns half the surface of a box.
fn area(b: &Aabb) -> f64 {
    let e = b.extents();
    e.x * e.y + e.y * e.z + e.z * e.x
}

/// Equal intervals of the centres along one axis.
#[derive(Clone, Copy)]
struct Bins {
    axis: usize,
    start: f64,
    per_metre: f64,
}

impl Bins {
    fn of(&self, center: &Vec3) -> usize {
        (((center[self.axis] - self.start) * self.per_metre) as usize).min(BINS - 1)
    }
}

struct Cut {
    bins: Bins,
    /// The last bin of the left part.
    last_left: usize,
    /// Σ area × count of the parts.
    cost: f64,
}

/// Returns the cheapest cut between two bins along the axis with the largest span of the centres; `None` when the span
/// is zero.
fn best_cut(items: &[Item]) -> Option<Cut> {
    let mut span = Aabb::empty();
    items.iter().for_each(|i| span.include(&i.center));
    let axis = span.extents().imax();
    let per_metre = BINS as f64 / span.extents()[axis];
    if !per_metre.is_finite() {
        return None;
    }
    let bins = Bins { axis, start: span.min[axis], per_metre };
    let mut filled = [(Aabb::empty(), 0usize); BINS];
    for item in items {
        let (b, count) = &mut filled[bins.of(&item.center)];
        *b = b.merged(&item.bounds);
        *count += 1;
    }
    let mut right = [0.0; BINS];
    let (mut b, mut count) = (Aabb::empty(), 0);
    for i in (1..BINS).rev() {
        (b, count) = (b.merged(&filled[i].0), count + filled[i].1);
        right[i - 1] = if count > 0 { area(&b) * count as f64 } else { f64::INFINITY };
    }
    (b, count) = (Aabb::empty(), 0);
    let mut best: Option<Cut> = None;
    for i in 0..BINS - 1 {
        (b, count) = (b.merged(&filled[i].0), count + filled[i].1);
        let cost = if count > 0 { area(&b) * count as f64 + right[i] } else { f64::INFINITY };
        if cost < best.as_ref().map_or(f64::INFINITY, |b| b.cost) {
            best = Some(Cut { bins, last_left: i, cost });
        }
    }
    best
}
