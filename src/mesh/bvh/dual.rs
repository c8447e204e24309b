//! The descent of two hierarchies together: pairs of triangles that are near each other, and the closest pair.
//!
//! Two boxes are apart when a face normal of one of them separates them (Gottschalk, Lin & Manocha 1996, without the
//! products of edges).

use super::node::{Node, MAX_DEPTH};
use super::Bvh;
use crate::triangle::Corners;
use voxshell_base::math::{Mat3, Vec3};

/// A rigid motion from the frame of one mesh to that of the other.
#[derive(Clone, Copy, Debug)]
pub struct Placement {
    pub rotation: Mat3,
    pub translation: Vec3,
}

impl Placement {
    #[inline]
    pub fn place(&self, p: &Vec3) -> Vec3 {
        self.rotation * p + self.translation
    }

    /// Places the corners of a triangle.
    #[inline(always)]
    pub fn place_corners(&self, t: &Corners) -> Corners {
        [self.place(&t[0]), self.place(&t[1]), self.place(&t[2])]
    }

    #[inline]
    pub fn place_back(&self, p: &Vec3) -> Vec3 {
        self.rotation.tr_mul(&(p - self.translation))
    }
}

/// Pairs of nodes still to test.
pub(super) struct Pairs {
    items: [(u32, u32); 2 * MAX_DEPTH + 4],
    len: usize,
}

impl Pairs {
    pub fn new() -> Self {
        Self { items: [(0, 0); 2 * MAX_DEPTH + 4], len: 0 }
    }

    pub fn push(&mut self, pair: (u32, u32)) {
        self.items[self.len] = pair;
        self.len += 1;
    }

    pub fn pop(&mut self) -> Option<(u32, u32)> {
        self.len = self.len.checked_sub(1)?;
        Some(self.items[self.len])
    }
}

/// Twice the middle, the extents and the edges of a box in another frame.
pub(super) struct PlacedBox {
    middle: [f64; 3],
    reach: [f64; 3],
    /// Along its own axes.
    size: [f64; 3],
}

/// The separating axis test for boxes of the two hierarchies, the first placed in the frame of the second.
pub(super) struct Separation {
    /// Boxes count as apart if the gap along an axis is larger, metres.
    distance: f64,
    rotation: [[f64; 3]; 3],
    absolute: [[f64; 3]; 3],
    translation: [f64; 3],
}

impl Separation {
    pub fn new(placement: &Placement, distance: f64) -> Self {
        let entry = |i: usize, j: usize| placement.rotation[(i, j)];
        let rotation = [0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)));
        // Boxes that touch must not be apart by rounding.
        let absolute = rotation.map(|row| row.map(|x| x.abs() + 8.0 * f64::EPSILON));
        Self { distance, rotation, absolute, translation: placement.translation.into() }
    }

    /// Returns a box of the first hierarchy in the frame of the second.
    #[inline(always)]
    pub fn placed(&self, node: &Node) -> PlacedBox {
        let (mut middle, mut reach, mut size) = ([0.0; 3], [0.0; 3], [0.0; 3]);
        let mut from = [0.0; 3];
        for k in 0..3 {
            from[k] = node.min[k] + node.max[k];
            size[k] = node.max[k] - node.min[k];
        }
        for i in 0..3 {
            let (r, s) = (&self.rotation[i], &self.absolute[i]);
            middle[i] = ((r[0] * from[0] + r[1] * from[1]) + r[2] * from[2]) + 2.0 * self.translation[i];
            reach[i] = (s[0] * size[0] + s[1] * size[1]) + s[2] * size[2];
        }
        PlacedBox { middle, reach, size }
    }

    /// Returns whether a box of the first hierarchy is apart from one of the second.
    #[inline(always)]
    fn apart(&self, a: &PlacedBox, b: &Node) -> bool {
        let twice = 2.0 * self.distance;
        let (mut d, mut size) = ([0.0; 3], [0.0; 3]);
        for i in 0..3 {
            d[i] = a.middle[i] - (b.min[i] + b.max[i]);
            size[i] = b.max[i] - b.min[i];
        }
        for i in 0..3 {
            if d[i].abs() > a.reach[i] + size[i] + twice {
                return true;
            }
        }
        let (r, s) = (&self.rotation, &self.absolute);
        for j in 0..3 {
            let off = (r[0][j] * d[0] + r[1][j] * d[1]) + r[2][j] * d[2];
            let reach = ((s[0][j] * size[0] + s[1][j] * size[1]) + s[2][j] * size[2]) + a.size[j] + twice;
            if off.abs() > reach {
                return true;
            }
        }
        false
    }

    /// Returns a lower bound of the squared distance between two boxes, m²: the distance between the boxes along the axes
    /// of either frame that contain them.
    #[inline]
    pub fn gap_squared(&self, a: &PlacedBox, b: &Node) -> f64 {
        let (mut d, mut size) = ([0.0; 3], [0.0; 3]);
        let (mut in_second, mut in_first) = (0.0, 0.0);
        for i in 0..3 {
            d[i] = a.middle[i] - (b.min[i] + b.max[i]);
            size[i] = b.max[i] - b.min[i];
            let gap = (d[i].abs() - (a.reach[i] + size[i])).max(0.0);
            in_second += gap * gap;
        }
        let (r, s) = (&self.rotation, &self.absolute);
        for j in 0..3 {
            let off = (r[0][j] * d[0] + r[1][j] * d[1]) + r[2][j] * d[2];
            let reach = ((s[0][j] * size[0] + s[1][j] * size[1]) + s[2][j] * size[2]) + a.size[j];
            let gap = (off.abs() - reach).max(0.0);
            in_first += gap * gap;
        }
        // Of twice the lengths.
        0.25 * in_second.max(in_first)
    }
}

/// Calls `leaves` with each pair of leaves whose boxes are not farther apart than `distance`, metres, and perhaps with a
/// few that are. `placement` takes the first hierarchy to the frame of the second. Returns the number of tests of boxes.
pub(super) fn descend(
    [first, second]: [&Bvh; 2],
    placement: &Placement,
    distance: f64,
    mut leaves: impl FnMut(&Node, &Node) -> f64,
) -> u64 {
    if first.is_empty() || second.is_empty() {
        return 0;
    }
    let separation = Separation::new(placement, distance);
    let mut pairs = Pairs::new();
    let mut tests = 1;
    if !separation.apart(&separation.placed(&first.nodes[0]), &second.nodes[0]) {
        pairs.push((0, 0));
    }
    while let Some((i, j)) = pairs.pop() {
        let (a, b) = (&first.nodes[i as usize], &second.nodes[j as usize]);
        if a.count > 0 && b.count > 0 {
            leaves(a, b);
            continue;
        }
        tests += 2;
        // The first child is on top of the stack.
        if is_split_first(a, b) {
            for child in [a.first + 1, a.first] {
                if !separation.apart(&separation.placed(&first.nodes[child as usize]), b) {
                    pairs.push((child, j));
                }
            }
        } else {
            let a = separation.placed(a);
            for child in [b.first + 1, b.first] {
                if !separation.apart(&a, &second.nodes[child as usize]) {
                    pairs.push((i, child));
                }
            }
        }
    }
    tests
}

/// Returns whether of two nodes that are not both leaves the first is split: the larger one.
#[inline(always)]
pub(super) fn is_split_first(a: &Node, b: &Node) -> bool {
    b.count > 0 || (a.count == 0 && largest(a) >= largest(b))
}

/// Returns the longest edge of a box.
#[inline(always)]
pub(super) fn largest(node: &Node) -> f64 {
    (node.max[0] - node.min[0]).max(node.max[1] - node.min[1]).max(node.max[2] - node.min[2])
}

/// Returns whether two boxes are apart.
#[inline(always)]
pub(super) fn boxes_are_apart(low: &Vec3, high: &Vec3, other_low: &Vec3, other_high: &Vec3) -> bool {
    (low.x > other_high.x) | (high.x < other_low.x)
        || (low.y > other_high.y) | (high.y < other_low.y)
        || (low.z > other_high.z) | (high.z < other_low.z)
}
