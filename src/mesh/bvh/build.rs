//! Building: top down, binned surface-area heuristic (Wald 2007, "On fast Construction of SAH-based Bounding Volume
//! Hierarchies"). Serial and without randomness, so that the same mesh gives the same tree.

use super::node::{Node, MAX_DEPTH};
use crate::TriMesh;
use voxshell_base::math::{Aabb, Vec3};
use voxshell_base::memory::{with_capacity, CollectGuarded, GrowGuarded};

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
    nodes.push_guarded(leaf(&bounds(&items), 0, items.len()));
    let mut open = vec![(0usize, 0usize)];
    while let Some((at, depth)) = open.pop() {
        let (first, count) = (nodes[at].first as usize, nodes[at].count as usize);
        let range = &mut items[first..first + count];
        let Some(Halves { left, boxes }) = split(range, depth) else { continue };
        let child = nodes.len();
        nodes.push_guarded(leaf(&boxes[0], first, left));
        nodes.push_guarded(leaf(&boxes[1], first + left, count - left));
        nodes[at].first = child as u32;
        nodes[at].count = 0;
        open.push_guarded((child + 1, depth + 1));
        open.push_guarded((child, depth + 1));
    }
    (nodes, items.iter().map(|i| i.id).collect_guarded())
}

/// Returns the box around items.
fn bounds(items: &[Item]) -> Aabb {
    items.iter().fold(Aabb::empty(), |b, i| b.merged(&i.bounds))
}

fn leaf(b: &Aabb, first: usize, count: usize) -> Node {
    Node { min: b.min.into(), max: b.max.into(), first: first as u32, count: count as u32 }
}

/// The two parts of a range of items.
struct Halves {
    /// Length of the first part.
    left: usize,
    /// Boxes around the parts.
    boxes: [Aabb; 2],
}

impl Halves {
    fn of(items: &[Item], left: usize) -> Self {
        Self { left, boxes: [bounds(&items[..left]), bounds(&items[left..])] }
    }
}

/// Reorders `items` into two parts; `None` when a leaf is best.
fn split(items: &mut [Item], depth: usize) -> Option<Halves> {
    let n = items.len();
    if n <= 1 {
        return None;
    }
    if depth >= MEDIAN_DEPTH {
        if n <= MAX_LEAF {
            return None;
        }
        let axis = bounds(items).extents().imax();
        items.sort_unstable_by(|a, b| a.center[axis].total_cmp(&b.center[axis]).then(a.id.cmp(&b.id)));
        return Some(Halves::of(items, n / 2));
    }
    let Some(best) = best_cut(items) else {
        // All centres coincide: there is no criterion for a split.
        return (n > MAX_LEAF).then(|| Halves::of(items, n / 2));
    };
    if n <= MAX_LEAF {
        let whole = area(&bounds(items));
        if 2.0 * TRAVERSAL_COST * whole + best.cost >= n as f64 * whole {
            return None;
        }
    }
    let mut left = 0;
    for i in 0..n {
        if best.bins.of(&items[i].center) <= best.last_left {
            items.swap(left, i);
            left += 1;
        }
    }
    Some(Halves { left, boxes: best.boxes })
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
    /// Boxes around the parts.
    boxes: [Aabb; 2],
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
    let mut used = 0u32;
    for item in items {
        let bin = bins.of(&item.center);
        let (b, count) = &mut filled[bin];
        *b = b.merged(&item.bounds);
        *count += 1;
        used |= 1 << bin;
    }
    // A cut behind an empty bin costs as much as the cut before the bin, so only bins with items count.
    let mut right = [(0.0, Aabb::empty()); BINS];
    let (mut b, mut count, mut open) = (Aabb::empty(), 0, used);
    while open != 0 {
        let i = 31 - open.leading_zeros() as usize;
        open ^= 1 << i;
        right[i] = (area(&b) * count as f64, b);
        (b, count) = (b.merged(&filled[i].0), count + filled[i].1);
    }
    (b, count, open) = (Aabb::empty(), 0, used);
    let mut best: Option<Cut> = None;
    while open & open.wrapping_sub(1) != 0 {
        let i = open.trailing_zeros() as usize;
        open &= open - 1;
        (b, count) = (b.merged(&filled[i].0), count + filled[i].1);
        let cost = area(&b) * count as f64 + right[i].0;
        if cost < best.as_ref().map_or(f64::INFINITY, |b| b.cost) {
            best = Some(Cut { bins, last_left: i, cost, boxes: [b, right[i].1] });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the cheapest of the cuts behind all bins, the first of equal ones: its bin and its cost.
    fn cheapest(items: &[Item], bins: &Bins) -> Option<(usize, f64)> {
        let cost = |last: usize| {
            let (left, right): (Vec<&Item>, Vec<&Item>) = items.iter().partition(|i| bins.of(&i.center) <= last);
            let side = |items: Vec<&Item>| {
                let b = items.iter().fold(Aabb::empty(), |b, i| b.merged(&i.bounds));
                if items.is_empty() {
                    f64::INFINITY
                } else {
                    area(&b) * items.len() as f64
                }
            };
            side(left) + side(right)
        };
        (0..BINS - 1).map(|last| (last, cost(last))).fold(None, |best: Option<(usize, f64)>, cut| match best {
            Some(b) if b.1 <= cut.1 => best,
            _ => Some(cut).filter(|c| c.1 < f64::INFINITY),
        })
    }

    #[test]
    fn cut_is_the_cheapest_of_all_cuts() {
        let mut state = 5u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let (mut cuts, mut gaps) = (0, 0);
        for round in 0..3000 {
            let (count, size) = (2 + (next() * 40.0) as u32, [1.0, 1e-12, 1e12][round % 3]);
            let steps = [3.0, 1e9][round % 2];
            let items: Vec<Item> = (0..count)
                .map(|id| {
                    // Few places in half of the rounds, so that centres coincide and bins stay empty.
                    let min = Vec3::from_fn(|_, _| (next() * steps).floor() / steps * size);
                    let bounds = Aabb { min, max: min + Vec3::from_fn(|_, _| (next() * 2.0).floor() * 0.1 * size) };
                    Item { id, center: bounds.center(), bounds }
                })
                .collect();
            let Some(cut) = best_cut(&items) else { continue };
            assert_eq!(Some((cut.last_left, cut.cost)), cheapest(&items, &cut.bins), "round {round}");
            let (left, right): (Vec<Item>, Vec<Item>) =
                items.into_iter().partition(|i| cut.bins.of(&i.center) <= cut.last_left);
            assert_eq!(cut.boxes, [bounds(&left), bounds(&right)]);
            cuts += 1;
            gaps += usize::from(!right.iter().any(|i| cut.bins.of(&i.center) == cut.last_left + 1));
        }
        assert!(cuts > 2000 && gaps > 500, "{cuts} cuts, {gaps} before an empty bin");
    }
}
