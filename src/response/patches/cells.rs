//! Cells of a grid in the world that the contact surface of two bodies passes.
//!
//! The grid is fixed in the world, so that the cells, and with them the answer, change continuously with the poses, and do
//! not depend on which body is called A. An octree over the box of the overlap leaves out cells without contact surface, by the
//! Lipschitz constants of both fields.

use super::types::Surface;
use voxshell_base::math::{Aabb, Pose, RigidF32, Vec3};
use voxshell_base::memory::GrowGuarded;
use voxshell_base::{Error, Result};
use voxshell_field::{Field, SignedDistance};

/// Edge of the largest cell of a patch, in smallest cells. A power of 2.
const LARGEST: u32 = 4;

/// Largest number of largest cells along an axis.
const MOST_BLOCKS: f64 = (1 << 20) as f64;

/// Largest number of cells that a query looks at, and of those that hold contact surface.
const MOST_LOOKED_AT: usize = 1 << 20;
const MOST_CELLS: usize = 1 << 17;

/// Where both pressures differ by less than that of this fraction of a cell's edge all over the cell, it holds no contact surface:
/// there the surfaces of both bodies face the same way.
const ALIKE: f64 = 1e-3;

/// Cells in whose middle the surface is farther than this fraction of their edge from where their corners say are divided.
const FLAT: f64 = 0.02;

/// Number of corners of a cell, and of children of a node.
pub(super) const CORNERS: usize = 8;

/// One body: its field, placed in the frame of the grid.
struct Side<'a> {
    field: &'a Field,
    to_field: RigidF32,
    /// Half of the extents of the grid of the field; infinite for a field without one.
    half: [f32; 3],
    /// Lipschitz constants of the field within its grid and everywhere.
    within: f32,
    everywhere: f32,
}

impl<'a> Side<'a> {
    fn new(field: &'a Field, pose: &Pose, origin: &Vec3) -> Self {
        let relative = pose.inverse() * nalgebra::Translation3::from(*origin);
        let field_origin = field.local_origin(&relative.translation.vector);
        let to_field = RigidF32::between(&relative, &Vec3::zeros(), &field_origin);
        let everywhere = field.modulus(0.0).map_or(1.0, |m| m.lipschitz).max(1.0);
        let (half, within) = match field.gridded() {
            Some(g) => (g.grid.dims.map(|n| 0.5 * (n - 1) as f32 * g.grid.spacing), g.lipschitz),
            None => ([f32::INFINITY; 3], 1.0),
        };
        Self { field, to_field, half, within, everywhere }
    }

    /// Computes φ at points in the frame of the grid; `local` is scratch.
    fn distances(&self, points: &Points, local: &mut Points, out: &mut Vec<f32>) {
        local.clear();
        for i in 0..points.len() {
            local.push(self.to_field.point(points.get(i)));
        }
        out.clear();
        out.resize_guarded(points.len(), 0.0);
        self.field.distance_batch(&local.x, &local.y, &local.z, out);
    }

    /// Computes φ at a few points in the frame of the grid.
    fn few(&self, points: &[[f32; 3]]) -> [f32; CORNERS] {
        let (mut x, mut y, mut z) = ([0.0; CORNERS], [0.0; CORNERS], [0.0; CORNERS]);
        for (i, p) in points.iter().enumerate() {
            [x[i], y[i], z[i]] = self.to_field.point(*p);
        }
        let (mut phi, n) = ([0.0; CORNERS], points.len());
        self.field.distance_batch(&x[..n], &y[..n], &z[..n], &mut phi[..n]);
        phi
    }

    /// Returns the Lipschitz constant between a point in the frame of the grid and all points inside the body.
    fn lipschitz(&self, point: [f32; 3]) -> f32 {
        let p = self.to_field.point(point);
        if (0..3).all(|k| p[k].abs() <= self.half[k]) {
            self.within
        } else {
            self.everywhere
        }
    }
}

/// Points in the frame of the grid, metres, as structure of arrays.
#[derive(Default)]
pub(super) struct Points {
    pub x: Vec<f32>,
    pub y: Vec<f32>,
    pub z: Vec<f32>,
}

impl Points {
    pub fn clear(&mut self) {
        self.x.clear();
        self.y.clear();
        self.z.clear();
    }

    pub fn push(&mut self, p: [f32; 3]) {
        self.x.push_guarded(p[0]);
        self.y.push_guarded(p[1]);
        self.z.push_guarded(p[2]);
    }

    pub fn len(&self) -> usize {
        self.x.len()
    }

    pub fn get(&self, i: usize) -> [f32; 3] {
        [self.x[i], self.y[i], self.z[i]]
    }
}

/// Scratch of evaluations of both fields.
#[derive(Default)]
pub(super) struct Scratch {
    pub points: Points,
    local: Points,
    /// φ of A and of B at `points`.
    pub phi: [Vec<f32>; 2],
    open: Vec<Node>,
}

/// A cell to divide or take, with φ of A and of B in its middle.
#[derive(Clone, Copy)]
struct Node {
    cell: Cell,
    middle: [f32; 2],
}

/// A cell: its lowest corner and its edge, in smallest cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub at: [u32; 3],
    pub edge: u32,
}

/// A cell that the contact surface may pass, with φ of A and of B at its corners. Corner i has the upper coordinate along the
/// axes of the bits of i.
pub(super) struct Leaf {
    pub cell: Cell,
    pub phi: [[f32; CORNERS]; 2],
}

/// Tells what a search for cells has met.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Met {
    /// There were more cells than there may be, and not all are found.
    pub too_many: bool,
    /// A place is inside both bodies, by more than a cell.
    pub inside: bool,
    /// Both bodies have the same pressure all over a cell.
    pub alike: bool,
}

/// Both bodies and the grid.
pub(super) struct Overlap<'a> {
    sides: [Side<'a>; 2],
    pub surface: Surface,
    /// Lowest corner of the grid, world frame, and edge of a smallest cell, metres.
    pub origin: Vec3,
    pub spacing: f64,
    /// Number of largest cells along each axis.
    blocks: [u32; 3],
}

/// Returns the box of a field in the world; of an infinite body only where it says so along the axes of the world.
fn bounds(field: &Field, pose: &Pose) -> Aabb {
    let own = field.bounds();
    if own.min.iter().chain(&own.max).all(|x| x.is_finite()) {
        return own.transformed(pose);
    }
    Aabb { min: Vec3::repeat(f64::NEG_INFINITY), max: Vec3::repeat(f64::INFINITY) }
}

impl<'a> Overlap<'a> {
    /// Returns `None` if the boxes of the bodies do not overlap. `spacing`: edge of a smallest cell, metres.
    ///
    /// # Errors
    /// `InvalidArgument` if the grid has too many cells.
    pub fn new([a, b]: [(&'a Field, &Pose); 2], surface: Surface, spacing: f64) -> Result<Option<Self>> {
        let (p, q) = (bounds(a.0, a.1), bounds(b.0, b.1));
        let both = Aabb { min: p.min.sup(&q.min), max: p.max.inf(&q.max) };
        if both.is_empty() {
            return Ok(None);
        }
        let block = spacing * f64::from(LARGEST);
        // Half a cell more: samples may round a surface beyond its box.
        let low = (both.min / block).map(|x| (x - 0.125).floor());
        let counts = (both.max / block).map(|x| (x + 0.125).floor()) - low;
        if counts.iter().any(|n| n.is_nan() || *n + 1.0 > MOST_BLOCKS) {
            return Err(too_fine(spacing));
        }
        let blocks = [0, 1, 2].map(|k| counts[k] as u32 + 1);
        let origin = low * block;
        let sides = [Side::new(a.0, a.1, &origin), Side::new(b.0, b.1, &origin)];
        Ok(Some(Self { sides, surface, origin, spacing, blocks }))
    }

    /// Computes φ of both bodies at `scratch.points`.
    pub fn evaluate(&self, scratch: &mut Scratch) {
        let Scratch { points, local, phi, .. } = scratch;
        for (side, phi) in self.sides.iter().zip(phi) {
            side.distances(points, local, phi);
        }
    }

    /// Returns a point of the grid, in its frame.
    pub fn place(&self, at: [f64; 3]) -> [f64; 3] {
        at.map(|x| x * self.spacing)
    }

    /// Appends all cells of the grid that the contact surface may pass, unless there are too many.
    pub fn cells(&self, Scratch { open, .. }: &mut Scratch, leaves: &mut Vec<Leaf>) -> Met {
        let across = self.blocks.iter().copied().max().unwrap_or(1).next_power_of_two();
        let root = Cell { at: [0; 3], edge: 2 * across * LARGEST };
        open.clear();
        open.push_guarded(Node { cell: root, middle: [0.0; 2] });
        let mut looked_at = 0;
        let mut met = Met::default();
        while let Some(Node { cell: parent, .. }) = open.pop() {
            let edge = parent.edge / 2;
            let first = open.len();
            let (mut points, mut count) = ([[0.0; 3]; CORNERS], 0);
            for i in 0..CORNERS as u32 {
                let at = [0, 1, 2].map(|k| parent.at[k] + edge * (i >> k & 1));
                if (0..3).all(|k| at[k] < self.blocks[k] * LARGEST) {
                    open.push_guarded(Node { cell: Cell { at, edge }, middle: [0.0; 2] });
                    let half = 0.5 * f64::from(edge);
                    points[count] = self.place(at.map(|x| f64::from(x) + half)).map(|x| x as f32);
                    count += 1;
                }
            }
            let [a, b] = self.sides.each_ref().map(|side| side.few(&points[..count]));
            looked_at += count;
            if looked_at > MOST_LOOKED_AT || leaves.len() > MOST_CELLS {
                met.too_many = true;
                break;
            }
            let mut kept = first;
            let deep = -self.spacing as f32;
            for i in 0..count {
                met.inside |= a[i] < deep && b[i] < deep;
                if self.may_pass(points[i], [a[i], b[i]], edge) {
                    open[kept] = Node { middle: [a[i], b[i]], ..open[first + i] };
                    kept += 1;
                }
            }
            open.truncate(kept);
            if edge <= LARGEST {
                for i in (first..kept).rev() {
                    if self.take(&open[i], leaves, &mut met) {
                        open.swap_remove(i);
                    }
                }
            }
        }
        met
    }

    /// Returns whether the contact surface may pass a cell around a point with the given φ.
    fn may_pass(&self, point: [f32; 3], phi: [f32; 2], edge: u32) -> bool {
        // Half a diagonal, rounded up.
        let radius = (0.8661 * f64::from(edge) * self.spacing) as f32;
        let change = [0, 1].map(|k| self.sides[k].lipschitz(point) * radius);
        let [w, v] = self.surface.weights().map(|w| w as f32);
        phi[0] <= change[0]
            && phi[1] <= change[1]
            && phi[0] + phi[1] <= change[0] + change[1]
            && (w * phi[0] - v * phi[1]).abs() <= w * change[0] + v * change[1]
    }

    /// Returns w φᴬ − v φᴮ, which is 0 on the contact surface.
    pub fn level(&self, a: f32, b: f32) -> f64 {
        let [w, v] = self.surface.weights();
        w * f64::from(a) - v * f64::from(b)
    }

    /// Takes a cell if it need not be divided: if it is as small as can be, or lies entirely in the overlap
    /// and its surface is flat. Cells without contact surface are taken but are no leaves.
    fn take(&self, &Node { cell, middle }: &Node, leaves: &mut Vec<Leaf>, met: &mut Met) -> bool {
        let corners: [[f32; 3]; CORNERS] = std::array::from_fn(|i| {
            let corner = [0, 1, 2].map(|k| f64::from(cell.at[k] + cell.edge * (i as u32 >> k & 1)));
            self.place(corner).map(|x| x as f32)
        });
        let phi = self.sides.each_ref().map(|side| side.few(&corners));
        let levels: [f64; CORNERS] = std::array::from_fn(|i| self.level(phi[0][i], phi[1][i]));
        let is_overlap = middle[0] + middle[1] < 0.0;
        let middle = self.level(middle[0], middle[1]);
        let edge = f64::from(cell.edge) * self.spacing;
        if levels.iter().chain([&middle]).all(|l| l.abs() <= ALIKE * edge) {
            met.alike |= is_overlap;
            return true;
        }
        if cell.edge > 1 {
            let mean = levels.iter().sum::<f64>() / CORNERS as f64;
            if (0..CORNERS).any(|i| phi[0][i] + phi[1][i] >= 0.0) || (mean - middle).abs() > FLAT * edge {
                return false;
            }
        }
        if !levels.iter().all(|l| *l < 0.0) && !levels.iter().all(|l| *l >= 0.0) {
            leaves.push_guarded(Leaf { cell, phi });
        }
        true
    }
}

/// Returns the error of cells that are too small.
pub(super) fn too_fine(spacing: f64) -> Error {
    let expected = format!("cells so large that at most {MOST_CELLS} hold the contact surface, or 0 for the default");
    Error::argument("resolution", spacing, expected)
}
