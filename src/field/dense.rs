//! The signed distance field on a full grid: f32 samples, trilinear between them.
//!
//! The interpolant *is* the shape: its gradient and its Lipschitz constant are exact for it, and its deviation from the
//! mesh is measured once, at cooking.

use serde::{Deserialize, Serialize, Serializer};

use super::approach::{approaches, Balls, Level, Node, Nodes, SegmentBatch};
use super::blocks::{Blocks, Cells, Skip};
use super::clearance::batches;
use super::report::{FieldError, SignReport, SignRule};
use super::trilinear::{beyond, gradient, larger, lipschitz_outside, norm, reach, slack, value, Axes, Flatness, Spot};
use super::{Grid, Modulus, SignedDistance, LANES};
use voxshell_base::math::{limits, Aabb, Vec3};
use voxshell_base::memory::{boxed, CollectGuarded};
use voxshell_base::{Error, Result};

/// Signed distance samples on a regular grid. Immutable; shared by any number of threads.
///
/// Inside the grid φ is the trilinear interpolant; outside it is φ(p clamped to the grid's box) + distance to the box.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Stored")]
pub struct DenseField {
    grid: Grid,
    /// x fastest, then y; as many as the grid has nodes.
    values: Box<[f32]>,
    /// Origin of the local frame in the body frame, metres.
    center: Vec3,
    /// Box around {φ ≤ 0}, body frame, metres.
    bounds: Aabb,
    error: FieldError,
    sign: SignReport,
    hot: Hot,
    blocks: Blocks,
}

/// Precomputed constants that sampling reads.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Hot {
    axes: Axes,
    row: usize,
    slice: usize,
    lipschitz: f32,
    lipschitz_outside: f32,
    /// Largest difference of the values of two nodes per metre between them, and √(1 + its square).
    node_lipschitz: f32,
    node_lipschitz_outside: f32,
    /// Largest variance of the random corner for a point, m²: ¾ h².
    variance: f32,
    /// Rounding of φ anywhere in the box, and twice the rounding of the samples, metres.
    slack: f32,
    /// Largest |value|, and smallest value on the border of the grid, metres.
    largest: f32,
    border: f32,
    flat: Flatness,
}

/// Form of a field in an asset: the data that cannot be recomputed.
#[derive(Deserialize)]
struct Stored {
    grid: Grid,
    #[serde(deserialize_with = "voxshell_base::memory::deserialize_vec")]
    values: Vec<f32>,
    center: Vec3,
    bounds: Aabb,
    error: FieldError,
    sign: SignReport,
}

impl TryFrom<Stored> for DenseField {
    type Error = Error;
    fn try_from(s: Stored) -> Result<Self> {
        Ok(Self::assemble(s.grid, boxed(s.values), s.center, s.sign)?.described(s.error, &s.bounds))
    }
}

/// The same form without a copy of the samples.
#[derive(Serialize)]
#[serde(rename = "Stored")]
struct StoredRef<'a> {
    grid: &'a Grid,
    values: &'a [f32],
    center: &'a Vec3,
    bounds: &'a Aabb,
    error: &'a FieldError,
    sign: &'a SignReport,
}

impl Serialize for DenseField {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Self { grid, values, center, bounds, error, sign, .. } = self;
        StoredRef { grid, values, center, bounds, error, sign }.serialize(serializer)
    }
}

impl DenseField {
    /// Returns a field from samples: `values` has one for each node of `grid`, x fastest, metres, negative inside.
    /// `center` is the origin of the grid's frame in the body frame. The error against a mesh is unknown and counted
    /// as 0.
    pub fn from_values(grid: Grid, values: impl Into<Box<[f32]>>, center: Vec3) -> Result<Self> {
        Self::assemble(grid, values.into(), center, SignReport::given())
    }

    /// Returns the field of the body scaled by `factor`.
    pub(super) fn scaled(&self, factor: f64) -> Result<Self> {
        let times = |x: f32| (f64::from(x) * factor) as f32;
        let grid = Grid { dims: self.grid.dims, spacing: times(self.grid.spacing), min: self.grid.min.map(times) };
        let values = boxed(self.values.iter().map(|&phi| times(phi)).collect_guarded());
        let sign = self.sign.scaled(factor);
        let error = FieldError { max: self.error.max * factor, rms: self.error.rms * factor, ..self.error };
        let bounds = Aabb { min: self.bounds.min * factor, max: self.bounds.max * factor };
        Ok(Self::assemble(grid, values, self.center * factor, sign)?.described(error, &bounds))
    }

    /// Does the same as [`DenseField::from_values`]. If `sign` says that a closed or an offset surface was cooked,
    /// two samples must differ by at most the distance between their nodes.
    pub fn assemble(grid: Grid, values: Box<[f32]>, center: Vec3, sign: SignReport) -> Result<Self> {
        grid.check()?;
        if values.len() != grid.len() {
            let [x, y, z] = grid.dims;
            let expected = format!("{} numbers for {x} x {y} x {z} nodes", grid.len());
            return Err(Error::argument("values", format!("{} numbers", values.len()), expected));
        }
        if let Some(i) = values.iter().position(|v| !v.is_finite()) {
            return Err(Error::argument(format!("values[{i}]"), values[i], "a finite distance in metres"));
        }
        limits::check_point("center", &center)?;
        let exact = matches!(sign.rule, SignRule::Crossings | SignRule::Parity | SignRule::Offset);
        let scan = super::scan::scan(&grid, &values, exact);
        let lipschitz = scan.lipschitz;
        let hot = Hot {
            axes: Axes::new(&grid),
            row: grid.dims[0] as usize,
            slice: grid.dims[0] as usize * grid.dims[1] as usize,
            lipschitz,
            lipschitz_outside: lipschitz_outside(lipschitz),
            node_lipschitz: scan.node_lipschitz,
            node_lipschitz_outside: lipschitz_outside(scan.node_lipschitz),
            variance: 0.7501 * grid.spacing * grid.spacing,
            slack: slack(&grid, scan.largest, lipschitz),
            largest: scan.largest,
            border: scan.border,
            flat: Flatness::new(lipschitz, scan.node_lipschitz),
        };
        let bounds = Aabb { min: scan.bounds.min + center, max: scan.bounds.max + center };
        let blocks = Blocks::new(&grid, &values, scan.largest, scan.node_lipschitz, scan.border);
        Ok(Self { grid, values, center, bounds, error: FieldError::default(), sign, hot, blocks })
    }

    /// Adds the results of cooking: the error, and a box that contains the surface.
    pub fn described(mut self, error: FieldError, surface: &Aabb) -> Self {
        self.error = error;
        self.bounds = self.bounds.merged(surface);
        self
    }

    /// Returns the grid, local frame.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns φ at the nodes, metres; x fastest, then y.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns the origin of the local frame in the body frame, metres.
    pub fn center(&self) -> Vec3 {
        self.center
    }

    /// Returns the certified Lipschitz constant of φ inside the grid: no two points of the box differ by more per
    /// metre.
    pub fn lipschitz(&self) -> f32 {
        self.hot.lipschitz
    }

    /// Returns a certified bound on the difference of the values of two nodes per metre between them: 1 for exact
    /// signed distances. Over large distances the interpolant is no steeper than that (see
    /// [`SignedDistance::lower_bound`]).
    pub fn node_lipschitz(&self) -> f32 {
        self.hot.node_lipschitz
    }

    /// Returns the certified Lipschitz constant of φ everywhere.
    pub fn lipschitz_outside(&self) -> f32 {
        self.hot.lipschitz_outside
    }

    /// Returns the error against the mesh, as measured at cooking.
    pub fn error(&self) -> FieldError {
        self.error
    }

    /// Returns the report of the sign rule.
    pub fn sign(&self) -> &SignReport {
        &self.sign
    }

    /// Returns φ at the point of the box that is closest to `p`, and the distance to it.
    #[inline]
    pub(super) fn split(&self, p: [f32; 3]) -> (f32, f32) {
        let Spot { cell, f, over } = self.hot.axes.spot(p);
        (value(View::of(self).corners(cell), f), norm(over))
    }

    /// Returns the cell of the point of the box that is closest to `p`.
    #[inline]
    pub(super) fn cell_of(&self, p: [f32; 3]) -> [i32; 3] {
        self.hot.axes.spot(p).cell
    }

    /// Returns the rounding of φ anywhere in the box, metres.
    pub(super) fn slack(&self) -> f32 {
        self.hot.slack
    }

    /// Returns the memory held, bytes.
    pub fn bytes(&self) -> u64 {
        (std::mem::size_of::<Self>() + self.values.len() * 4) as u64 + self.blocks.bytes()
    }
}

impl Cells for DenseField {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn center(&self) -> Vec3 {
        self.center
    }

    fn blocks(&self) -> impl Skip + '_ {
        &self.blocks
    }

    #[inline(always)]
    fn corners(&self, cell: [i32; 3]) -> [f32; 8] {
        let [i, j, k] = cell.map(|c| c as usize);
        let (r, s) = (self.hot.row, self.hot.slice);
        let at = k * s + j * r + i;
        let pair = |offset: usize| -> [f32; 2] { [self.values[at + offset], self.values[at + offset + 1]] };
        let [a, b, c, d] = [pair(0), pair(r), pair(s), pair(s + r)];
        [a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]]
    }

    fn lipschitz_outside(&self) -> f32 {
        self.hot.lipschitz_outside
    }

    fn largest(&self) -> f32 {
        self.hot.largest
    }

    fn approach(&self, level: &Level, batch: &mut SegmentBatch, count: usize) {
        approaches(Around::new(self, level), level, batch, count);
    }
}

/// The nodes around points, for segments that approach a level.
#[derive(Clone, Copy)]
struct Around<'a> {
    field: &'a DenseField,
    last: [f32; 3],
    coarse: Balls,
    fine: Balls,
}

impl<'a> Around<'a> {
    fn new(field: &'a DenseField, level: &Level) -> Self {
        let rounding = 1e-6 * f64::from(field.hot.largest);
        Self {
            field,
            last: field.grid.dims.map(|n| (n - 1) as f32),
            coarse: field.blocks.balls(level, rounding),
            fine: field.blocks.node_balls(level, rounding),
        }
    }
}

impl Nodes for Around<'_> {
    #[inline(always)]
    fn last(self) -> [f32; 3] {
        self.last
    }

    #[inline(always)]
    fn coarse_balls(&self) -> &Balls {
        &self.coarse
    }

    #[inline(always)]
    fn fine_balls(&self) -> &Balls {
        &self.fine
    }

    #[inline(always)]
    fn coarse(self, p: [f32; 3]) -> (u32, [f32; 3]) {
        self.field.blocks.around(p, self.last)
    }

    #[inline(always)]
    fn coarse_value(self, number: u32) -> f32 {
        self.field.blocks.middle_value(number)
    }

    /// Returns the closest node.
    #[inline(always)]
    fn fine(self, p: [f32; 3], _inverse: [f32; 3]) -> (Node, f32) {
        // SAFETY: 0 ≤ p ≤ the last node < 2²⁰ (`Grid::check`).
        let [i, j, k] = p.map(|x| unsafe { (x + 0.5).to_int_unchecked::<i32>() } as usize);
        let hot = &self.field.hot;
        let value = self.field.values[(k * hot.slice + j * hot.row) + i];
        (Node { value, at: [i as f32, j as f32, k as f32] }, 0.0)
    }
}

approaches!(Around);

/// The hot data of a field: arguments of the kernels.
#[derive(Clone, Copy)]
struct View<'a> {
    hot: &'a Hot,
    values: &'a [f32],
}

impl<'a> View<'a> {
    #[inline(always)]
    fn of(field: &'a DenseField) -> Self {
        Self { hot: &field.hot, values: &field.values }
    }

    /// Returns the index of the lower corner of a cell.
    #[inline(always)]
    fn index(self, cell: [i32; 3]) -> usize {
        let [i, j, k] = cell.map(|i| i as usize);
        (k * self.hot.slice + i) + j * self.hot.row
    }

    /// Returns the corners of a cell, x fastest.
    #[inline(always)]
    fn corners(self, cell: [i32; 3]) -> [f32; 8] {
        let (h, index) = (self.hot, self.index(cell));
        debug_assert!(index + h.slice + h.row + 1 < self.values.len());
        // SAFETY: `index` is that of a node (i, j, k) with i ≤ dims.x − 2, j ≤ dims.y − 2, k ≤ dims.z − 2 (`Axes::spot`
        // clamps to the last cell), so that (i + 1, j + 1, k + 1) is a node too; `assemble` made sure that there is a value for
        // each node, and neither grid nor values change after it.
        let at = |offset: usize| unsafe { *self.values.get_unchecked(index + offset) };
        let (r, s) = (h.row, h.slice);
        [at(0), at(1), at(r), at(r + 1), at(s), at(s + 1), at(s + r), at(s + r + 1)]
    }
}

impl View<'_> {
    #[inline(always)]
    fn distance(self, p: [f32; 3]) -> f32 {
        let Spot { cell, f, over } = self.hot.axes.spot(p);
        value(self.corners(cell), f) + norm(over)
    }

    /// Returns φ and its gradient at a few points: as `distance_gradient`, without branches.
    #[inline(always)]
    fn sloped(self, p: &[[f32; LANES]; 3]) -> ([f32; LANES], [[f32; LANES]; 3]) {
        let (mut f, mut over) = ([[0.0; LANES]; 3], [[0.0; LANES]; 3]);
        let mut corners = [[0.0; LANES]; 8];
        for i in 0..LANES {
            let spot = self.hot.axes.spot([p[0][i], p[1][i], p[2][i]]);
            for k in 0..3 {
                (f[k][i], over[k][i]) = (spot.f[k], spot.over[k]);
            }
            for (to, corner) in corners.iter_mut().zip(self.corners(spot.cell)) {
                to[i] = corner;
            }
        }
        let (mut phi, mut slope) = ([0.0; LANES], [[0.0; LANES]; 3]);
        for i in 0..LANES {
            let (value, grad) = gradient(corners.map(|corner| corner[i]), [f[0][i], f[1][i], f[2][i]]);
            let distance = norm([over[0][i], over[1][i], over[2][i]]);
            phi[i] = value + distance;
            for k in 0..3 {
                let outside = (distance > 0.0) & (over[k][i] != 0.0);
                slope[k][i] = if outside { over[k][i] / distance } else { grad[k] * self.hot.axes.inverse_spacing };
            }
        }
        (phi, slope)
    }

    /// Returns a lower bound of φ in a ball, from two bounds on the drop of φ from the centre.
    ///
    /// The first is by the steepest gradient: L r. The second is by the nodes: φ(c) is the mean of the value at a
    /// random corner X of c's cell with the weights as probabilities, E X = c, and φ(x) likewise that of Y. Two nodes
    /// differ by at most K per metre, so φ(c) − φ(x) = E[v(X) − v(Y)] ≤ K E|X − Y| ≤ K √E|X − Y|² = K √(|c − x|² +
    /// Var X + Var Y), with Var X = h² Σ f (1 − f) at the centre and Var Y ≤ ¾ h². For exact distances K is 1, while
    /// L, which depends on how a cell cuts a crease, is up to √3.
    ///
    /// With c′ the point of the box closest to c, d = |c − c′| and x in the ball: projection on a convex set is
    /// firmly non-expansive, |x′ − c′|² + (d − d(x))² ≤ r². So φ(x) ≥ φ(x′) ≥ φ(c′) − drop(L, K), and, better for d >
    /// 0, by Cauchy's inequality φ(x) = φ(x′) + d(x) ≥ φ(c′) + d − drop(√(1 + L²), √(1 + K²)). Both hold, so the
    /// larger one is used.
    #[inline(always)]
    fn bound(self, c: [f32; 3], r: f32) -> f32 {
        let h = self.hot;
        let Spot { cell, f, over } = h.axes.spot(c);
        let (inside, over) = (value(self.corners(cell), f), norm(over));
        let reach = (r * r + (h.variance + h.axes.variance(f))).sqrt();
        let drop = |l: f32, k: f32| {
            let (a, b) = (l * r, k * reach);
            if b < a {
                b
            } else {
                a
            }
        };
        let near = inside - drop(h.lipschitz, h.node_lipschitz);
        let far = (inside + over) - drop(h.lipschitz_outside, h.node_lipschitz_outside);
        let best = if far > near { far } else { near };
        best - (h.slack + 8.0 * f32::EPSILON * (over + r * h.lipschitz_outside))
    }

    /// Returns the radius up to which `bound` is above the level: each of its drops solved for r. If the border is
    /// above the level, all points outside that are nearer than the box are above it too.
    #[inline(always)]
    fn clearance(self, c: [f32; 3], level: f32) -> f32 {
        let spot = self.hot.axes.spot(c);
        self.above(&spot, value(self.corners(spot.cell), spot.f), level)
    }

    #[inline(always)]
    fn above(self, &Spot { f, over, .. }: &Spot, inside: f32, level: f32) -> f32 {
        let (h, over) = (self.hot, norm(over));
        let variance = h.variance + h.axes.variance(f);
        let error_bound = h.slack + 8.0 * f32::EPSILON * (over + level.abs());
        let near = (inside - level) - error_bound;
        let far = ((inside + over) - level) - error_bound;
        let by_level = larger(
            reach(near, h.flat.all, h.flat.nodes, variance),
            reach(far, h.flat.all_outside, h.flat.nodes_outside, variance),
        );
        let to_box = if h.border > level + error_bound { over } else { 0.0 };
        larger(by_level, to_box * (1.0 - 1e-6))
    }

    /// Returns the radius around a point of the box within which φ is at most the level: the drops of `bound`,
    /// upward. The ball ends before the box does where the border is above the level.
    #[inline(always)]
    fn depth(self, &Spot { f, over, .. }: &Spot, inside: f32, level: f32) -> f32 {
        let h = self.hot;
        let off = (level - inside) - (h.slack + 8.0 * f32::EPSILON * level.abs());
        let known = (h.border > level) & (norm(over) == 0.0);
        if known {
            reach(off, h.flat.all, h.flat.nodes, h.variance + h.axes.variance(f))
        } else {
            0.0
        }
    }

    /// Evaluates [`Clearance::side_batch`](super::Clearance::side_batch) at one point.
    #[inline(always)]
    fn side(self, c: [f32; 3], [low, high]: [f32; 2]) -> f32 {
        let spot = self.hot.axes.spot(c);
        let inside = value(self.corners(spot.cell), spot.f);
        let (above, depth) = (self.above(&spot, inside, high), self.depth(&spot, inside, low));
        if above > 0.0 {
            above
        } else if depth > 0.0 {
            -depth
        } else {
            0.0
        }
    }
}

batches!(View of DenseField);

impl SignedDistance for DenseField {
    #[inline]
    fn local_origin(&self, _near: &Vec3) -> Vec3 {
        self.center
    }

    fn bounds(&self) -> Aabb {
        self.bounds
    }

    #[inline(always)]
    fn is_lanewise(&self) -> bool {
        true
    }

    #[inline(always)]
    fn distance(&self, p: [f32; 3]) -> f32 {
        View::of(self).distance(p)
    }

    #[inline]
    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        let view = View::of(self);
        let Spot { cell, f, over } = self.hot.axes.spot(p);
        let (phi, g) = gradient(view.corners(cell), f);
        beyond(phi, g.map(|g| g * self.hot.axes.inverse_spacing), over)
    }

    #[inline(always)]
    fn distance_gradient_lanes(&self, p: &[[f32; LANES]; 3], _n: usize) -> ([f32; LANES], [[f32; LANES]; 3]) {
        View::of(self).sloped(p)
    }

    #[inline(always)]
    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        View::of(self).bound(c, r)
    }

    fn distance_batch(&self, x: &[f32], y: &[f32], z: &[f32], out: &mut [f32]) {
        distances(View::of(self), x, y, z, out);
    }

    fn lower_bound_batch(&self, x: &[f32], y: &[f32], z: &[f32], r: &[f32], out: &mut [f32]) {
        bounds(View::of(self), x, y, z, r, out);
    }

    fn modulus(&self, reach: f64) -> Option<Modulus> {
        Some(Modulus::of_grid(self.hot.lipschitz_outside, self.hot.slack, reach))
    }

    fn voxel_size(&self) -> f32 {
        self.grid.spacing
    }

    fn error_bound(&self) -> f64 {
        self.error.max + f64::from(self.hot.slack)
    }
}
