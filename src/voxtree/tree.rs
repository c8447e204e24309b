//! The tree: one bit for each possible child, and counts of bits.

use voxshell_base::math::{Aabb, Vec3};
use voxshell_base::memory::{with_capacity, GrowGuarded};
use voxshell_voxmap::Branching;

/// An implicit sphere tree of voxels. Immutable; shared by any number of threads.
///
/// Level 0 is that of the voxels, which are cubes of edge s; a node of level l is a cube of edge s·2^(N·l). Only the
/// level of the root is stored. Nodes are numbered from the root, level by level, the children of a node in the order of
/// their bits; after the last inner node come the voxels.
///
/// Ruffaldi et al. 2008, section 3.1. Child (x, y, z) of a node has bit (z·2ᴺ + y)·2ᴺ + x.
#[derive(Clone, Debug, PartialEq)]
pub struct VoxTree {
    pub branching: Branching,
    /// L: level of the root, at least 1.
    pub levels: u32,
    /// s, metres.
    pub voxel_size: f64,
    /// Centre of the root's cube, body frame, metres.
    pub origin: Vec3,
    /// Whether voxels inside of the body are in the tree too.
    pub solid: bool,
    pub inner_count: u32,
    pub voxel_count: u32,
    /// Child masks of the inner nodes, 8, 64 or 512 bits each, without gaps.
    pub masks: Vec<u64>,
    /// Number of bits set in all masks before each word: the number of the first child less one.
    pub(crate) ranks: Vec<u32>,
    /// Outward normals of the voxels, octahedral; empty if the tree has none.
    pub normals: Vec<[i16; 2]>,
}

/// By how much tight spheres are grown.
///
/// The spheres of the table contain the cubes of the voxels below a node. The spheres around these voxels stick out of them: a
/// query that used the table as it is would miss pairs of voxels whose spheres intersect and whose cubes do not. (The spheres of
/// whole cubes contain those of all their children.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grow(f64);

impl Grow {
    /// The cubes of the voxels are in the sphere.
    pub const CUBES: Self = Self(0.0);
    /// The spheres around the voxels are in it: no point of such a sphere is farther than this from its cube, in edges of the
    /// cube. (√3 − 1)/2.
    pub const SPHERES: Self = Self(0.366_025_403_784_438_7);

    /// Returns the growth for a table entry, in edges of a voxel. That of a single octant is the sphere of the octant, which
    /// contains the spheres of all its children.
    #[inline(always)]
    pub fn of(self, radius_squared: i32) -> f64 {
        if radius_squared == 27 {
            0.0
        } else {
            self.0
        }
    }
}

/// Normal of a voxel at which the field has no direction.
pub(crate) const NO_NORMAL: [i16; 2] = [i16::MIN; 2];
/// Largest octahedral coordinate.
const ONE: f64 = 32767.0;

impl VoxTree {
    pub fn branching(&self) -> Branching {
        self.branching
    }

    /// Level of the root.
    pub fn root_level(&self) -> u32 {
        self.levels
    }

    /// Edge s of a voxel, metres.
    pub fn voxel_size(&self) -> f64 {
        self.voxel_size
    }

    /// Centre of the root's cube, body frame, metres.
    pub fn origin(&self) -> Vec3 {
        self.origin
    }

    /// Returns whether the voxels inside of the body are in the tree; otherwise only those that its surface passes.
    pub fn is_solid(&self) -> bool {
        self.solid
    }

    /// Returns whether the voxels have normals.
    pub fn has_normals(&self) -> bool {
        !self.normals.is_empty()
    }

    pub fn voxel_count(&self) -> u32 {
        self.voxel_count
    }

    /// Number of nodes above the voxels.
    pub fn inner_count(&self) -> u32 {
        self.inner_count
    }

    /// Memory held, bytes.
    pub fn bytes(&self) -> u64 {
        (size_of::<Self>() + self.masks.len() * 8 + self.ranks.len() * 4 + self.normals.len() * 4) as u64
    }

    /// Edge of a node's cube, metres: s·2^(N·level).
    pub fn edge(&self, level: u32) -> f64 {
        self.voxel_size * f64::from(1u32 << (self.branching as u32 * level))
    }

    /// r₀: radius of the root's sphere if all its children are there, metres.
    ///
    /// Ruffaldi et al. 2008, section 3.1, as its own x·√3/2 has it: s·2^(N·L−1)·√3. (The formula is printed with a
    /// division by √3.)
    pub fn root_radius(&self) -> f64 {
        self.edge(self.levels) * (3f64.sqrt() * 0.5)
    }

    /// Cube of the root, body frame, metres.
    pub fn root_cube(&self) -> Aabb {
        let half = 0.5 * self.edge(self.levels);
        Aabb { min: self.origin.add_scalar(-half), max: self.origin.add_scalar(half) }
    }

    /// Centre of the cube (or voxel) at these coordinates on a level, from the centre of the root's cube, metres, body
    /// axes.
    #[inline]
    pub(super) fn local_center(&self, at: [u16; 3], level: u32) -> Vec3 {
        let middle = 0.5 * f64::from(1u32 << (self.branching as u32 * (self.levels - level)));
        let edge = self.edge(level);
        Vec3::from(at.map(|x| (f64::from(x) + 0.5 - middle) * edge))
    }

    /// Centre of a voxel by its coordinates in the root's cube, body frame, metres.
    pub fn voxel_center(&self, at: [u16; 3]) -> Vec3 {
        self.origin + self.local_center(at, 0)
    }

    /// Outward unit normal of a voxel, body frame: the direction of the field's gradient. `None` if the tree has no
    /// normals, or the field no direction there.
    ///
    /// # Panics
    /// When the voxel does not exist.
    pub fn normal(&self, voxel: u32) -> Option<Vec3> {
        assert!(voxel < self.voxel_count, "voxel {voxel} of {}", self.voxel_count);
        self.normals.get(voxel as usize).and_then(|&n| decode_normal(n))
    }

    /// Words of a mask, or 0 for an octree, which has eight masks in a word.
    #[inline(always)]
    pub(super) fn words(&self) -> usize {
        match self.branching {
            Branching::Octree => 0,
            Branching::Tree64 => 1,
            Branching::Tree512 => 8,
        }
    }

    /// Returns the set of octants of an inner node that have children: the index into [`TABLE`](super::TABLE).
    #[inline(always)]
    pub(super) fn octants(&self, node: u32) -> u8 {
        let node = node as usize;
        match self.branching {
            Branching::Octree => (self.masks[node / 8] >> (node % 8 * 8)) as u8,
            Branching::Tree64 => {
                // Bits x + 4y + 16z.
                const LOW: u64 = 0x0033_0033;
                (0..8).fold(0, |set, o: u32| {
                    let shift = (o & 1) * 2 + (o >> 1 & 1) * 8 + (o >> 2) * 32;
                    set | u8::from(self.masks[node] & LOW << shift != 0) << o
                })
            }
            Branching::Tree512 => {
                // A word for each z: bits x + 8y.
                const LOW: u64 = 0x0f0f_0f0f;
                let words = &self.masks[node * 8..node * 8 + 8];
                let half = |z: usize| words[z] | words[z + 1] | words[z + 2] | words[z + 3];
                let halves = [half(0), half(4)];
                (0..8).fold(0, |set, o: u32| {
                    let shift = (o & 1) * 4 + (o >> 1 & 1) * 32;
                    set | u8::from(halves[o as usize >> 2] & LOW << shift != 0) << o
                })
            }
        }
    }

    /// Calls `visit` with the number and the place of each child of an inner node, in order.
    #[inline(always)]
    pub(super) fn each_child(&self, node: u32, mut visit: impl FnMut(u32, [u16; 3])) {
        let n = self.branching as u32;
        let low = (1u32 << n) - 1;
        let place = |bit: u32| [(bit & low) as u16, (bit >> n & low) as u16, (bit >> (2 * n)) as u16];
        if n == 1 {
            let (word, shift) = (node as usize / 8, node % 8 * 8);
            let mask = self.masks[word];
            let before = mask & ((1u64 << shift) - 1);
            let mut child = self.ranks[word] + before.count_ones() + 1;
            let mut rest = mask >> shift & 0xff;
            while rest != 0 {
                visit(child, place(rest.trailing_zeros()));
                child += 1;
                rest &= rest - 1;
            }
            return;
        }
        let words = self.words();
        let first = node as usize * words;
        let mut child = self.ranks[first] + 1;
        for w in 0..words {
            let mut rest = self.masks[first + w];
            while rest != 0 {
                visit(child, place(w as u32 * 64 + rest.trailing_zeros()));
                child += 1;
                rest &= rest - 1;
            }
        }
    }

    /// Calls `visit` with each voxel: its number and its coordinates in the root's cube. Ascending numbers.
    pub fn each_voxel(&self, mut visit: impl FnMut(u32, [u16; 3])) {
        let mut number = 0;
        self.each_node(|level, _, at| {
            if level == 0 {
                visit(number, at);
                number += 1;
            }
        });
    }

    /// Calls `visit` with each node: its level, its number among all nodes, and its coordinates on its level. Ascending
    /// numbers; not for hot paths.
    pub fn each_node(&self, mut visit: impl FnMut(u32, u32, [u16; 3])) {
        let n = self.branching as u32;
        let (mut now, mut next) = (vec![(0u32, [0u16; 3])], Vec::new());
        for level in (0..=self.levels).rev() {
            for &(node, at) in &now {
                visit(level, node, at);
                if level > 0 {
                    self.each_child(node, |child, place| {
                        next.push_guarded((child, [0, 1, 2].map(|k| (at[k] << n) + place[k])));
                    });
                }
            }
            now.clear();
            std::mem::swap(&mut now, &mut next);
        }
    }

    /// Returns the sphere of a node, as a query uses it: centre, body frame, and radius, metres. `tight`: around the
    /// octants that have children, from [`TABLE`](super::TABLE).
    pub fn sphere(&self, level: u32, node: u32, at: [u16; 3], tight: bool) -> (Vec3, f64) {
        let (local, radius) = self.local_sphere(level, node, at, tight.then_some(Grow::CUBES));
        (self.origin + local, radius)
    }

    pub(super) fn local_sphere(&self, level: u32, node: u32, at: [u16; 3], tight: Option<Grow>) -> (Vec3, f64) {
        let edge = self.edge(level);
        let whole = (self.local_center(at, level), edge * (3f64.sqrt() * 0.5));
        let Some(grow) = tight.filter(|_| level > 0) else { return whole };
        let sphere = &super::TABLE[usize::from(self.octants(node))];
        let offset = Vec3::from(sphere.center.map(f64::from)) * (edge / 12.0);
        let radius = whole.1 * (f64::from(sphere.radius_squared) / 108.0).sqrt();
        let radius = radius + grow.of(sphere.radius_squared) * self.voxel_size;
        if radius < whole.1 {
            (whole.0 + offset, radius)
        } else {
            whole
        }
    }

    /// Makes a tree of parts that were read. Checks everything that a query relies on.
    pub fn from_parts(
        branching: u32,
        levels: u32,
        (voxel_size, origin): (f64, Vec3),
        solid: bool,
        [inner_count, voxel_count]: [u32; 2],
        masks: Vec<u64>,
        normals: Vec<[i16; 2]>,
    ) -> std::result::Result<Self, String> {
        let branching = match branching {
            1 => Branching::Octree,
            2 => Branching::Tree64,
            3 => Branching::Tree512,
            _ => return Err(format!("the branching is {branching}; expected 1 to 3")),
        };
        let mut ranks = with_capacity(masks.len());
        let mut sum = 0u32;
        for mask in &masks {
            ranks.push_guarded(sum);
            sum = sum.checked_add(mask.count_ones()).ok_or("there are 2^32 children or more")?;
        }
        let tree =
            Self { branching, levels, voxel_size, origin, solid, inner_count, voxel_count, masks, ranks, normals };
        tree.check(sum).map(|()| tree)
    }

    /// Checks a tree whose masks have this number of children.
    fn check(&self, children: u32) -> std::result::Result<(), String> {
        let n = self.branching as u32;
        let bits = 8u64.pow(n);
        if self.inner_count == 0 || self.voxel_count == 0 {
            return Err(format!("{} nodes and {} voxels; expected some", self.inner_count, self.voxel_count));
        }
        if !(1..=16 / n).contains(&self.levels) {
            return Err(format!("the root has level {}; expected 1 to {}", self.levels, 16 / n));
        }
        if !voxshell_base::math::limits::is_length(self.voxel_size)
            || !self.origin.iter().all(|x| voxshell_base::math::limits::is_coordinate(*x))
            || !voxshell_base::math::limits::is_length(self.edge(self.levels))
        {
            return Err(format!("voxels of {} m around {:?}", self.voxel_size, self.origin.as_slice()));
        }
        let words = (u64::from(self.inner_count) * bits).div_ceil(64);
        if self.masks.len() as u64 != words {
            return Err(format!("{} words of masks; expected {words}", self.masks.len()));
        }
        if !self.normals.is_empty() && self.normals.len() != self.voxel_count as usize {
            return Err(format!("{} normals of {} voxels", self.normals.len(), self.voxel_count));
        }
        if u64::from(children) + 1 != u64::from(self.inner_count) + u64::from(self.voxel_count) {
            return Err(format!("{children} children of {} nodes and {} voxels", self.inner_count, self.voxel_count));
        }
        // Levels follow each other without gaps: each begins where the children of the one before begin.
        let (mut first, mut end) = (0u64, 1u64);
        for _ in 0..self.levels {
            if end > u64::from(self.inner_count) {
                return Err("the levels have too few nodes".into());
            }
            let mut child = end;
            for node in first..end {
                let before = child;
                self.each_child(node as u32, |_, _| child += 1);
                if child == before {
                    return Err(format!("node {node} has no children"));
                }
            }
            (first, end) = (end, child);
        }
        if first != u64::from(self.inner_count) {
            return Err(format!("{first} nodes on the levels of {}", self.inner_count));
        }
        // Bits beyond the last node of an octree.
        let used = u64::from(self.inner_count) * bits % 64;
        if used != 0 && self.masks.last().is_some_and(|word| word >> used != 0) {
            return Err("children of a node that does not exist".into());
        }
        Ok(())
    }
}

/// Returns a unit vector in two numbers: its projection on an octahedron, the lower half folded out (Cigolle et al. 2014).
/// The error is below 1e-4 rad.
pub(super) fn encode_normal(v: Vec3) -> [i16; 2] {
    let sum = v.abs().sum();
    if !(sum > 0.0 && sum.is_finite()) {
        return NO_NORMAL;
    }
    let (x, y) = (v.x / sum, v.y / sum);
    let sign = |a: f64| if a < 0.0 { -1.0 } else { 1.0 };
    let folded = if v.z < 0.0 { [(1.0 - y.abs()) * sign(x), (1.0 - x.abs()) * sign(y)] } else { [x, y] };
    folded.map(|c| (c * ONE).round() as i16)
}

pub(super) fn decode_normal(n: [i16; 2]) -> Option<Vec3> {
    if n == NO_NORMAL {
        return None;
    }
    let [x, y] = n.map(|c| f64::from(c) / ONE);
    let z = 1.0 - x.abs() - y.abs();
    let sign = |a: f64| if a < 0.0 { -1.0 } else { 1.0 };
    let v =
        if z < 0.0 { Vec3::new((1.0 - y.abs()) * sign(x), (1.0 - x.abs()) * sign(y), z) } else { Vec3::new(x, y, z) };
    v.try_normalize(0.0)
}
