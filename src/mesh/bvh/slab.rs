//! Thin cylinders around the triangles of each node: along a direction near their normals, a smooth or flat piece of a surface is
//! much thinner than its box.

use super::dual::Placement;
use super::node::Node;
use super::Bvh;
use voxshell_base::math::Vec3;
use voxshell_base::memory::{filled, with_capacity, GrowGuarded};

/// A cylinder, its axis through the middle of the node's box.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slab {
    /// Mean normal of the triangles, unit up to rounding.
    axis: [f32; 3],
    /// Position of its middle along the axis from the middle of the box, and half its height, metres.
    middle: f32,
    half: f32,
    radius: f32,
}

/// The cylinders of all nodes of a hierarchy.
#[derive(Clone, Debug, PartialEq)]
pub struct Slabs {
    slabs: Vec<Slab>,
}

/// Rounding of the numbers in f32, as a fraction of the size of a node.
const ROUNDING: f64 = 1e-6;

/// Half height of a thin cylinder, at most, in radii.
const THIN: f32 = 0.25;

/// Cosine of the angle between two axes that are along each other, at least.
const ALIGNED: f64 = 0.9;

impl Slabs {
    /// Returns the cylinders of a hierarchy, in time n log n.
    pub fn new(bvh: &Bvh) -> Self {
        // Children follow their parents.
        let mut ranges = filled((0u32, 0u32), bvh.nodes.len());
        for (k, node) in bvh.nodes.iter().enumerate().rev() {
            ranges[k] = match node.count {
                0 => (ranges[node.first as usize].0, ranges[node.first as usize + 1].1),
                count => (node.first, node.first + count),
            };
        }
        let mut slabs = with_capacity(bvh.nodes.len());
        for (node, (first, end)) in bvh.nodes.iter().zip(ranges) {
            slabs.push_guarded(Slab::around(node, &bvh.corners[first as usize..end as usize]));
        }
        Self { slabs }
    }

    /// Returns the memory held, bytes.
    pub fn bytes(&self) -> u64 {
        size_of_val(&*self.slabs) as u64
    }

    /// Returns the interval of a node's triangles along a unit direction from the middle of its box.
    #[inline]
    pub(super) fn interval(&self, node: u32, direction: &Vec3) -> [f64; 2] {
        let slab = &self.slabs[node as usize];
        let axis = slab.axis();
        let along = axis.dot(direction);
        // Not from the cosine, which is 1 up to rounding where the sine is not 0.
        let across = axis.cross(direction).norm();
        let middle = along * f64::from(slab.middle);
        let reach = along.abs() * f64::from(slab.half) + across * f64::from(slab.radius);
        [middle - reach, middle + reach]
    }
}

/// A mesh: its hierarchy and the cylinders of its nodes.
pub(super) type Meshed<'a> = (&'a Bvh, &'a Slabs);

/// Returns a lower bound of the distance between the triangles of two nodes, metres: the gap between them along the axes of their
/// cylinders, 0 if these are not thin or not along each other. `placement` takes the first mesh to the frame of the second.
#[inline]
pub(super) fn gap_along_axes([first, second]: [Meshed; 2], [i, j]: [u32; 2], placement: &Placement) -> f64 {
    let (of_first, of_second) = (&first.1.slabs[i as usize], &second.1.slabs[j as usize]);
    if !of_first.is_thin() || !of_second.is_thin() {
        return 0.0;
    }
    let (a, b) = (of_first.axis(), of_second.axis());
    let placed = placement.rotation * a;
    if placed.dot(&b).abs() < ALIGNED {
        return 0.0;
    }
    let middle = |n: &Node| 0.5 * (Vec3::from(n.min) + Vec3::from(n.max));
    let from = middle(&second.0.nodes[j as usize]) - placement.place(&middle(&first.0.nodes[i as usize]));
    let gap = |in_first: Vec3, in_second: Vec3| {
        let [low, high] = first.1.interval(i, &in_first);
        let [lower, higher] = second.1.interval(j, &in_second);
        let along = in_second.dot(&from);
        (along + lower - high).max(low - along - higher)
    };
    let gap = gap(a, placed).max(gap(placement.rotation.tr_mul(&b), b));
    (gap * (1.0 - ROUNDING)).max(0.0)
}

impl Slab {
    #[inline]
    fn axis(&self) -> Vec3 {
        Vec3::from(self.axis.map(f64::from))
    }

    #[inline]
    fn is_thin(&self) -> bool {
        self.half < THIN * self.radius
    }

    fn around(node: &Node, triangles: &[[Vec3; 3]]) -> Self {
        let center = 0.5 * (Vec3::from(node.min) + Vec3::from(node.max));
        let sum = triangles.iter().fold(Vec3::zeros(), |sum, t| sum + (t[1] - t[0]).cross(&(t[2] - t[0])));
        let axis = sum.try_normalize(0.0).unwrap_or_else(Vec3::z).map(|x| x as f32);
        let unit = axis.map(f64::from);
        let (mut low, mut high, mut square, mut size) = (f64::INFINITY, f64::NEG_INFINITY, 0.0f64, 0.0f64);
        for p in triangles.iter().flatten() {
            let from = p - center;
            let (along, squared) = (from.dot(&unit), from.norm_squared());
            (low, high) = (low.min(along), high.max(along));
            // Of a body far larger than it is thick, the difference of squares is the rounding of both.
            square = square.max(squared - along * along);
            size = size.max(squared);
        }
        let rounding = ROUNDING * size.sqrt();
        Self {
            axis: axis.into(),
            middle: (0.5 * (low + high)) as f32,
            half: (0.5 * (high - low) + rounding) as f32,
            radius: (square.max(0.0).sqrt() + rounding) as f32,
        }
    }
}
