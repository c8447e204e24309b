//! The sides of a query: hierarchies of spheres in one frame, scaled so that numbers are about 1.

use super::tree::{Grow, VoxTree};
use super::TABLE;
use voxshell_base::math::{power, Vec3};
use voxshell_base::memory::GrowGuarded;
use voxshell_pointshell::PointShell;

/// A node: its number, and its coordinates on its level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cell {
    pub node: u32,
    pub at: [u16; 3],
}

/// Centre and radius in the scaled frame.
pub(super) type Sphere = [f32; 4];

/// Number of spheres tested together.
pub(super) const LANES: usize = 8;

/// Spheres, structure of arrays; after the last one up to a multiple of `LANES` spheres that nothing touches.
#[derive(Clone, Default)]
pub(super) struct Batch {
    pub cells: Vec<Cell>,
    pub x: Vec<f32>,
    pub y: Vec<f32>,
    pub z: Vec<f32>,
    pub r: Vec<f32>,
}

impl Batch {
    pub fn clear(&mut self) {
        self.cells.clear();
        self.x.clear();
        self.y.clear();
        self.z.clear();
        self.r.clear();
    }

    #[inline(always)]
    pub fn push(&mut self, cell: Cell, [x, y, z, r]: Sphere) {
        self.cells.push_guarded(cell);
        self.x.push_guarded(x);
        self.y.push_guarded(y);
        self.z.push_guarded(z);
        self.r.push_guarded(r);
    }

    pub fn len(&self) -> usize {
        self.cells.len()
    }

    #[inline(always)]
    pub fn sphere(&self, i: usize) -> Sphere {
        [self.x[i], self.y[i], self.z[i], self.r[i]]
    }

    /// Adds spheres infinitely far away up to a multiple of `LANES`.
    #[inline(always)]
    pub fn pad(&mut self) {
        while self.x.len() % LANES != 0 {
            self.x.push_guarded(f32::INFINITY);
            self.y.push_guarded(0.0);
            self.z.push_guarded(0.0);
            self.r.push_guarded(0.0);
        }
    }

    /// Returns the bits of the spheres from `first` on that intersect `s`, grown by `slack`.
    #[inline(always)]
    pub fn hits(&self, first: usize, s: Sphere, slack: f32) -> u32 {
        let lanes = |v: &[f32]| -> [f32; LANES] { v[first..first + LANES].try_into().expect("padded") };
        let (x, y, z, r) = (lanes(&self.x), lanes(&self.y), lanes(&self.z), lanes(&self.r));
        let mut hit = [false; LANES];
        for l in 0..LANES {
            let (dx, dy, dz) = (x[l] - s[0], y[l] - s[1], z[l] - s[2]);
            let sum = r[l] + s[3] + slack;
            hit[l] = (dx * dx + dy * dy) + dz * dz <= sum * sum;
        }
        (0..LANES).fold(0, |bits, l| bits | u32::from(hit[l]) << l)
    }

    /// Keeps the spheres that intersect `s`, in order.
    #[inline(always)]
    pub fn keep(&mut self, s: Sphere, slack: f32) {
        let count = self.len();
        self.pad();
        let mut kept = 0;
        for first in (0..count).step_by(LANES) {
            let mut bits = self.hits(first, s, slack);
            while bits != 0 {
                let from = first + bits.trailing_zeros() as usize;
                self.cells[kept] = self.cells[from];
                (self.x[kept], self.y[kept], self.z[kept], self.r[kept]) =
                    (self.x[from], self.y[from], self.z[from], self.r[from]);
                kept += 1;
                bits &= bits - 1;
            }
        }
        self.cells.truncate(kept);
        self.x.truncate(kept);
        self.y.truncate(kept);
        self.z.truncate(kept);
        self.r.truncate(kept);
    }
}

/// A leaf or a node in the frame of its own tree, f64: for the answer.
pub(super) struct Place {
    /// From the local origin, body axes, metres.
    pub local: Vec3,
    pub radius: f64,
    /// Half of the edge of a voxel's cube, metres; 0 for a sample; `None` above the leaves.
    pub half: Option<f64>,
    /// Body axes; 0 if there is none.
    pub normal: Vec3,
    pub number: u32,
}

/// A hierarchy of spheres in a scaled frame.
pub(super) trait Spheres {
    /// Level of the root; 0 is that of the leaves.
    fn root_level(&self) -> u32;
    /// Typical size of the nodes of a level, in the scaled frame: the larger of two nodes is opened first.
    fn size(&self, level: u32) -> f32;
    fn sphere(&self, cell: Cell, level: u32) -> Sphere;
    /// Writes the spheres of the children.
    fn children(&self, cell: Cell, level: u32, out: &mut Batch);
    fn place(&self, cell: Cell, level: u32) -> Place;
}

/// A tree in the scaled frame. "These axes do not change from level to level within the tree": they are computed once.
pub(super) struct PlacedTree<'a> {
    tree: &'a VoxTree,
    /// `None` for the spheres of whole cubes.
    tight: Option<Grow>,
    /// Axes of the tree in the frame.
    axes: [[f32; 3]; 3],
    /// Centre of the root's cube.
    center: [f32; 3],
    /// Edge of a voxel.
    voxel: f32,
    scale: f64,
}

/// √3/2, rounded up.
const HALF_DIAGONAL: f32 = 0.866_025_5;

impl<'a> PlacedTree<'a> {
    /// `axes`, `center`: pose of the root's cube in the frame, metres; `scale`: units of the scaled frame in a metre.
    pub fn new(tree: &'a VoxTree, tight: Option<Grow>, axes: [Vec3; 3], center: Vec3, scale: f64) -> Self {
        let f32s = |v: Vec3| [v.x as f32, v.y as f32, v.z as f32];
        let voxel = (tree.voxel_size * scale) as f32;
        Self { tree, tight, axes: axes.map(f32s), center: f32s(center * scale), voxel, scale }
    }

    #[inline(always)]
    fn edge(&self, level: u32) -> f32 {
        self.voxel * (1u32 << (self.tree.branching as u32 * level)) as f32
    }

    #[inline(always)]
    fn along(&self, from: [f32; 3], steps: [f32; 3]) -> [f32; 3] {
        let a = &self.axes;
        [0, 1, 2].map(|k| from[k] + ((a[0][k] * steps[0] + a[1][k] * steps[1]) + a[2][k] * steps[2]))
    }

    /// Returns the centre of a cube in the frame.
    #[inline(always)]
    fn cube(&self, at: [u16; 3], level: u32) -> [f32; 3] {
        let middle = 0.5 * (1u32 << (self.tree.branching as u32 * (self.tree.levels - level))) as f32;
        let edge = self.edge(level);
        self.along(self.center, at.map(|x| (f32::from(x) + 0.5 - middle) * edge))
    }

    /// Returns the sphere of a node around a cube with this centre.
    #[inline(always)]
    fn around(&self, center: [f32; 3], node: u32, level: u32, edge: f32) -> Sphere {
        let whole = edge * HALF_DIAGONAL;
        let Some(grow) = self.tight.filter(|_| level > 0) else { return [center[0], center[1], center[2], whole] };
        let sphere = &TABLE[usize::from(self.tree.octants(node))];
        let radius = whole * sphere.scale + grow.of(sphere.radius_squared) as f32 * self.voxel;
        if radius >= whole {
            return [center[0], center[1], center[2], whole];
        }
        let [x, y, z] = self.along(center, sphere.offset.map(|o| o * edge));
        [x, y, z, radius]
    }
}

impl Spheres for PlacedTree<'_> {
    fn root_level(&self) -> u32 {
        self.tree.levels
    }

    #[inline(always)]
    fn size(&self, level: u32) -> f32 {
        self.edge(level)
    }

    #[inline(always)]
    fn sphere(&self, cell: Cell, level: u32) -> Sphere {
        self.around(self.cube(cell.at, level), cell.node, level, self.edge(level))
    }

    #[inline(always)]
    fn children(&self, cell: Cell, level: u32, out: &mut Batch) {
        out.clear();
        let n = self.tree.branching as u32;
        let below = level - 1;
        let edge = self.edge(below);
        let first = cell.at.map(|x| x << n);
        // The child at (0, 0, 0), and from it by the scaled axes.
        let corner = self.cube(first, below);
        self.tree.each_child(cell.node, |node, place| {
            let center = self.along(corner, place.map(|p| f32::from(p) * edge));
            let at = [first[0] + place[0], first[1] + place[1], first[2] + place[2]];
            out.push(Cell { node, at }, self.around(center, node, below, edge));
        });
    }

    fn place(&self, cell: Cell, level: u32) -> Place {
        let (local, radius) = self.tree.local_sphere(level, cell.node, cell.at, self.tight);
        let number = if level == 0 { cell.node - self.tree.inner_count } else { cell.node };
        let normal = if level == 0 && self.tree.has_normals() { self.tree.normal(number) } else { None };
        let half = (level == 0).then_some(0.5 * self.tree.voxel_size);
        Place { local, radius, half, normal: normal.unwrap_or_else(Vec3::zeros), number }
    }
}

impl PlacedTree<'_> {
    /// Units of the scaled frame in a metre.
    pub fn scale(&self) -> f64 {
        self.scale
    }
}

/// A pointshell in the scaled frame, whose axes and origin are those of the shell: the probe of Ruffaldi et al. 2008, section
/// 3.3, whose samples count as voxels.
pub(super) struct PlacedShell<'a> {
    shell: &'a PointShell,
    /// Radius of a sample, metres.
    radius: f64,
    scale: f32,
    /// Levels of the shell's tree.
    depth: u32,
    /// Typical factor of sizes from level to level: nodes cover a surface.
    shrink: f32,
}

impl<'a> PlacedShell<'a> {
    pub fn new(shell: &'a PointShell, radius: f64, scale: f64) -> Self {
        let shrink = 1.0 / (shell.tree.branching.max(2) as f32).sqrt();
        Self { shell, radius, scale: scale as f32, depth: shell.tree.depth() as u32, shrink }
    }
}

impl Spheres for PlacedShell<'_> {
    fn root_level(&self) -> u32 {
        self.depth
    }

    fn size(&self, level: u32) -> f32 {
        let root = self.shell.tree.radius.first().copied().unwrap_or(0.0) * self.scale;
        root * power(self.shrink, self.depth - level)
    }

    #[inline(always)]
    fn sphere(&self, cell: Cell, level: u32) -> Sphere {
        let (i, k) = (cell.node as usize, self.scale);
        let radius = self.radius as f32 * k;
        if level == 0 {
            return [self.shell.x[i] * k, self.shell.y[i] * k, self.shell.z[i] * k, radius];
        }
        let tree = &self.shell.tree;
        [tree.cx[i] * k, tree.cy[i] * k, tree.cz[i] * k, tree.radius[i] * k + radius]
    }

    #[inline(always)]
    fn children(&self, cell: Cell, level: u32, out: &mut Batch) {
        out.clear();
        let (tree, i) = (&self.shell.tree, cell.node as usize);
        let (first, count) = match tree.child_count[i] {
            0 => (tree.first_sample[i], tree.sample_count[i]),
            count => (tree.first_child[i], count),
        };
        for node in first..first + count {
            let child = Cell { node, at: [0; 3] };
            out.push(child, self.sphere(child, level - 1));
        }
    }

    fn place(&self, cell: Cell, level: u32) -> Place {
        let (shell, i) = (self.shell, cell.node as usize);
        let point = |p: [f32; 3]| Vec3::from(p.map(f64::from));
        if level == 0 {
            let (local, normal) = (point(shell.point(i)), point(shell.normal(i)));
            return Place { local, radius: self.radius, half: Some(0.0), normal, number: cell.node };
        }
        let tree = &shell.tree;
        Place {
            local: point([tree.cx[i], tree.cy[i], tree.cz[i]]),
            radius: f64::from(tree.radius[i]) + self.radius,
            half: None,
            normal: Vec3::zeros(),
            number: cell.node,
        }
    }
}
