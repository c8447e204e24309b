//! A node of the hierarchy and the stack of a traversal.

use voxshell_base::math::Vec3;

/// A node: a leaf over triangles when `count` > 0, else the parent of nodes `first` and `first + 1`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub min: [f64; 3],
    pub max: [f64; 3],
    /// First triangle (in leaf order) or first child.
    pub first: u32,
    /// Number of triangles; 0 for an inner node.
    pub count: u32,
}

/// Largest depth of a leaf (see `build`), and so the required size of a traversal's stack.
pub(super) const MAX_DEPTH: usize = 72;

impl Node {
    /// Its triangles, in leaf order.
    #[inline]
    pub fn triangles(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }

    /// Squared distance from `p` to the box, 0 inside.
    #[inline]
    pub fn distance_squared(&self, p: &Vec3) -> f64 {
        let d = |i: usize| (self.min[i] - p[i]).max(p[i] - self.max[i]).max(0.0);
        let (x, y, z) = (d(0), d(1), d(2));
        (x * x + y * y) + z * z
    }
}

/// The stack of a depth-first traversal that pushes two children per level.
pub(super) struct Stack {
    items: [u32; MAX_DEPTH + 2],
    len: usize,
}

impl Stack {
    pub fn new() -> Self {
        Self { items: [0; MAX_DEPTH + 2], len: 0 }
    }

    #[inline]
    pub fn push(&mut self, node: u32) {
        self.items[self.len] = node;
        self.len += 1;
    }

    #[inline]
    pub fn pop(&mut self) -> Option<u32> {
        self.len = self.len.checked_sub(1)?;
        Some(self.items[self.len])
    }
}
