//! The quadratic program of a constrained motion in six variables: among all a with J a ≤ b, it finds the one nearest
//! to a_u in the metric of a mass matrix M. Knows numbers only.
//!
//! With M = L Lᵀ and y = Lᵀ a it is the projection of a point onto a polyhedron (onto a cone where b = 0: Wilhelmsen 1976, as
//! Ortega et al. 2007, section 4, use it). It is found exactly, in finitely many steps, by the dual active-set method of
//! Goldfarb & Idnani (1983), on an orthogonal factorisation of the active rows that is never updated, only appended to or
//! made anew: there are six at most.

use voxshell_base::math::{Mat6, Vec6};
use voxshell_base::wide;
use voxshell_base::{Error, Result};

/// Largest number of rows of a program.
pub const MAX_ROWS: usize = 256;

/// Allowed violation of a row, as a fraction of the unconstrained motion, rows and motion both measured in the metric
/// of the mass matrix. Rows that are nearer to dependent than this count as dependent.
pub const TOLERANCE: f64 = 1e-9;

/// Sine of the angle between a row and the active ones at which the row counts as dependent on them. Below
/// [`TOLERANCE`]: where b = 0, a row that is violated by more than that makes at least that angle.
const INDEPENDENT: f64 = 1e-10;

/// Sine of the smallest angle between an active row and those before it at which the point is moved along from step to step.
/// At smaller ones, rounding would be taken for a violation, and the point is computed anew in each step.
const STEEP: f64 = 1e-3;

/// The constraint `normal` · a ≤ `slack`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    pub normal: Vec6,
    /// Not negative, or the program may have no solution.
    pub slack: f64,
}

/// Outcome of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No row is active: the solution is bit-identical to the unconstrained motion.
    Free,
    /// Rows are active.
    Constrained,
    /// No motion is allowed; only with a negative slack. The motion is zero.
    Infeasible,
}

/// Solution of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solution {
    /// a_c, in the units of a_u.
    pub constrained: Vec6,
    /// M (a_c − a_u) = −Jᵀ λ with λ ≥ 0: exactly zero when no row is active.
    pub load: Vec6,
    pub outcome: Outcome,
}

type V = [f64; 6];

/// Six numbers in lanes; the others are zero.
type Lanes = [f64; 8];

#[inline(always)]
fn dot(p: &V, q: &V) -> f64 {
    ((p[0] * q[0] + p[1] * q[1]) + (p[2] * q[2] + p[3] * q[3])) + (p[4] * q[4] + p[5] * q[5])
}

#[inline(always)]
fn length(p: &V) -> f64 {
    dot(p, p).sqrt()
}

/// Returns p − s q.
#[inline(always)]
fn less(p: &V, s: f64, q: &V) -> V {
    std::array::from_fn(|i| p[i] - s * q[i])
}

#[inline(always)]
fn lanes(p: &V) -> Lanes {
    [p[0], p[1], p[2], p[3], p[4], p[5], 0.0, 0.0]
}

#[inline(always)]
fn first_six(p: &Lanes) -> V {
    [p[0], p[1], p[2], p[3], p[4], p[5]]
}

/// Adds s q to `to`.
#[inline(always)]
fn add(to: &mut Lanes, s: f64, q: &Lanes) {
    for i in 0..8 {
        to[i] += s * q[i];
    }
}

/// Lower triangular factor of M, by rows, and the inverses of its diagonal.
#[derive(Clone, Copy)]
struct Metric {
    l: [V; 6],
    inverse: V,
}

impl Metric {
    fn new(mass: &Mat6) -> Result<Self> {
        let mut l = [[0.0; 6]; 6];
        for i in 0..6 {
            for j in 0..=i {
                let sum: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
                let rest = 0.5 * (mass[(i, j)] + mass[(j, i)]) - sum;
                if i == j {
                    // Not merely `rest <= 0`: not a number is refused as well.
                    if !(rest > 0.0 && rest.is_finite()) {
                        return Err(Error::argument("mass", rest, "a positive definite matrix of finite numbers"));
                    }
                    l[i][i] = rest.sqrt();
                } else {
                    l[i][j] = rest / l[j][j];
                }
            }
        }
        let inverse = std::array::from_fn(|i| 1.0 / l[i][i]);
        Ok(Self { l, inverse })
    }

    /// Returns Lᵀ a.
    fn point(&self, a: &Vec6) -> V {
        std::array::from_fn(|i| (i..6).map(|k| self.l[k][i] * a[k]).sum())
    }

    /// Returns L y.
    fn load(&self, y: &V) -> Vec6 {
        Vec6::from_fn(|i, _| (0..=i).map(|k| self.l[i][k] * y[k]).sum())
    }

    /// Returns L⁻ᵀ y.
    fn motion(&self, y: &V) -> Vec6 {
        let mut a = Vec6::zeros();
        for i in (0..6).rev() {
            let sum: f64 = (i + 1..6).map(|k| self.l[k][i] * a[k]).sum();
            a[i] = (y[i] - sum) / self.l[i][i];
        }
        a
    }
}

/// The rows in the metric, of unit length; structure of arrays.
struct Rows {
    g: [[f64; MAX_ROWS]; 6],
    slack: [f64; MAX_ROWS],
    /// Original lengths of the rows; 0 for rows without effect.
    length: [f64; MAX_ROWS],
    count: usize,
}

impl Rows {
    /// Sets the rows, in the metric; slacks count as zero if `homogeneous`.
    fn set(&mut self, metric: &Metric, rows: &[Row], homogeneous: bool) -> Result<()> {
        if rows.len() > MAX_ROWS {
            return Err(Error::argument("rows", rows.len(), format!("at most {MAX_ROWS}")));
        }
        self.count = rows.len();
        for (i, row) in rows.iter().enumerate() {
            for k in 0..6 {
                self.g[k][i] = row.normal[k];
            }
            self.slack[i] = row.slack;
        }
        if !measure(metric, homogeneous, self) {
            let is_finite = |row: &Row| row.slack.is_finite() && row.normal.iter().all(|v| v.is_finite());
            // Finite numbers may be too large for the metric.
            let i =
                rows.iter().position(|row| !is_finite(row)).or((0..rows.len()).find(|&i| !self.length[i].is_finite()));
            let i = i.unwrap_or(0);
            return Err(Error::argument(format!("rows[{i}]"), rows[i].slack, "finite numbers"));
        }
        Ok(())
    }

    #[inline(always)]
    fn row(&self, i: usize) -> V {
        std::array::from_fn(|k| self.g[k][i])
    }

    #[inline(always)]
    fn excess(&self, i: usize, y: &V) -> f64 {
        dot(&self.row(i), y) - self.slack[i]
    }

    /// Returns the row with the largest violation above `least`; of equal ones the lowest.
    #[inline(always)]
    fn worst(&self, y: &V, least: f64) -> Option<usize> {
        let n = self.count.min(MAX_ROWS);
        let [g0, g1, g2, g3, g4, g5] = &self.g;
        let mut excess = [0.0; MAX_ROWS];
        let mut worst = [least; 8];
        for start in (0..n).step_by(8) {
            let slack = &self.slack[start..start + 8];
            let (g0, g1, g2) = (&g0[start..start + 8], &g1[start..start + 8], &g2[start..start + 8]);
            let (g3, g4, g5) = (&g3[start..start + 8], &g4[start..start + 8], &g5[start..start + 8]);
            let excess = &mut excess[start..start + 8];
            for i in 0..8 {
                let dot =
                    ((g0[i] * y[0] + g1[i] * y[1]) + (g2[i] * y[2] + g3[i] * y[3])) + (g4[i] * y[4] + g5[i] * y[5]);
                excess[i] = dot - slack[i];
                // The lanes beyond the last row hold rows of earlier programs.
                let counts = start + i < n;
                worst[i] = if counts & (excess[i] > worst[i]) { excess[i] } else { worst[i] };
            }
        }
        let worst = worst.into_iter().fold(least, |most, excess| if excess > most { excess } else { most });
        if worst > least {
            excess[..n].iter().position(|excess| *excess == worst)
        } else {
            None
        }
    }
}

wide! {
    /// Changes rows into the metric, L⁻¹ g, and to unit length, with their slacks. Returns whether all numbers are finite.
    fn measure(metric: &Metric, homogeneous: bool, rows: &mut Rows) -> bool {
        let n = rows.count.min(MAX_ROWS);
        let (l, inverse) = (&metric.l, &metric.inverse);
        let [g0, g1, g2, g3, g4, g5] = &mut rows.g;
        let (g0, g1, g2, g3, g4, g5) =
            (&mut g0[..n], &mut g1[..n], &mut g2[..n], &mut g3[..n], &mut g4[..n], &mut g5[..n]);
        let (slacks, lengths) = (&mut rows.slack[..n], &mut rows.length[..n]);
        let mut all_finite = true;
        for i in 0..n {
            let row = [g0[i], g1[i], g2[i], g3[i], g4[i], g5[i]];
            let mut g = [0.0; 6];
            for j in 0..6 {
                let mut sum = 0.0;
                for k in 0..j {
                    sum += l[j][k] * g[k];
                }
                g[j] = (row[j] - sum) * inverse[j];
            }
            let mut largest = 0.0;
            for v in g {
                largest = if v.abs() > largest { v.abs() } else { largest };
            }
            // Scaled first, without rounding: the square of a tiny row would underflow.
            let (down, up) = powers_of_two(largest);
            let scaled = g.map(|v| v * down);
            let norm = dot(&scaled, &scaled).sqrt();
            let says_nothing = norm == 0.0;
            let unit = if says_nothing { 0.0 } else { 1.0 / norm };
            let length = norm * up;
            let slack = slacks[i];
            all_finite &= (norm + length).is_finite() & slack.is_finite();
            g0[i] = scaled[0] * unit;
            g1[i] = scaled[1] * unit;
            g2[i] = scaled[2] * unit;
            g3[i] = scaled[3] * unit;
            g4[i] = scaled[4] * unit;
            g5[i] = scaled[5] * unit;
            lengths[i] = length;
            let slack = if says_nothing { slack } else { slack / length };
            slacks[i] = if homogeneous { 0.0 } else { slack };
        }
        all_finite
    }
}

/// Returns a power of two that brings a positive number near 1, and its inverse.
#[inline(always)]
fn powers_of_two(x: f64) -> (f64, f64) {
    let exponent = (x.to_bits() >> 52).clamp(1, 2045);
    (f64::from_bits((2046 - exponent) << 52), f64::from_bits(exponent << 52))
}

/// The active rows and their factorisation: row `index[k]` is height q[k] + Σ r[k][j] q[j] over j < k.
#[derive(Clone, Copy, Default)]
struct Active {
    index: [u16; 6],
    multiplier: V,
    /// Orthogonal unit vectors, and the same by components.
    q: [Lanes; 6],
    components: [Lanes; 6],
    /// Components of row k along the q before its own, and the inverse of that along its own.
    r: [Lanes; 6],
    inverse: V,
    count: usize,
}

impl Active {
    /// Returns the component of `g` perpendicular to the active rows, and its components along them.
    #[inline(always)]
    fn across(&self, g: &V) -> (V, Lanes) {
        let (mut z, mut along) = (lanes(g), [0.0; 8]);
        // Two passes are enough (Kahan): the remainder is orthogonal to the last digit.
        for _ in 0..2 {
            let mut part = [0.0; 8];
            for j in 0..6 {
                add(&mut part, z[j], &self.components[j]);
            }
            for k in 0..self.count {
                add(&mut z, -part[k], &self.q[k]);
            }
            add(&mut along, 1.0, &part);
        }
        (first_six(&z), along)
    }

    #[inline(always)]
    fn push(&mut self, index: u16, multiplier: f64, z: &V, along: Lanes) {
        let n = self.count;
        let height = length(z);
        let unit = z.map(|v| v / height);
        self.q[n] = lanes(&unit);
        for j in 0..6 {
            self.components[j][n] = unit[j];
        }
        self.r[n] = along;
        self.inverse[n] = 1.0 / height;
        self.index[n] = index;
        self.multiplier[n] = multiplier;
        self.count = n + 1;
    }

    /// Factorises again, without the rows that are not `kept`.
    #[inline(always)]
    fn keep(&mut self, rows: &Rows, kept: impl Fn(usize) -> bool) {
        let old = *self;
        *self = Self::default();
        for k in (0..old.count).filter(|&k| kept(k)) {
            let (z, along) = self.across(&rows.row(old.index[k].into()));
            self.push(old.index[k], old.multiplier[k], &z, along);
        }
    }

    #[inline(always)]
    fn is_shallow(&self) -> bool {
        self.inverse[..self.count].iter().any(|inverse| *inverse > 1.0 / STEEP)
    }

    /// Returns c with Σ c_k g_k = the component of the vector whose components along the q are given.
    #[inline(always)]
    fn combination(&self, along: &Lanes) -> V {
        let (mut rest, mut c) = (*along, [0.0; 6]);
        for k in (0..self.count).rev() {
            c[k] = rest[k] * self.inverse[k];
            add(&mut rest, -c[k], &self.r[k]);
        }
        c
    }

    /// Returns the point nearest to `wanted` at which all active rows hold with equality, and stores their multipliers.
    #[inline(always)]
    fn project(&mut self, rows: &Rows, wanted: &V) -> V {
        let (y, mut along) = self.across(wanted);
        let mut y = if self.count == 6 { [0.0; 8] } else { lanes(&y) };
        // Intersection of the active planes, by components along the q: forward substitution.
        let mut meet = [0.0; 8];
        for k in 0..self.count {
            let before: f64 = (0..k).map(|j| self.r[k][j] * meet[j]).sum();
            meet[k] = (rows.slack[usize::from(self.index[k])] - before) * self.inverse[k];
            along[k] -= meet[k];
            add(&mut y, meet[k], &self.q[k]);
        }
        self.multiplier = self.combination(&along).map(|m| m.max(0.0));
        first_six(&y)
    }
}

/// Solves programs one after the other. Each thread has its own instance; about 15 kB, and no allocation after
/// construction.
///
/// Active rows of the last program are tried first in the next. That changes only how soon the same set is found. The
/// answer is computed from the set alone, in ascending order, so it depends on the order of the search only where two
/// sets are equally right within [`TOLERANCE`].
pub struct Solver {
    rows: Box<Rows>,
    active: Active,
    steps: u32,
    /// The last mass matrix and its factor.
    metric: Option<(Mat6, Metric)>,
}

impl Default for Solver {
    fn default() -> Self {
        Self::new()
    }
}

impl Solver {
    pub fn new() -> Self {
        let rows = Rows { g: [[0.0; MAX_ROWS]; 6], slack: [0.0; MAX_ROWS], length: [0.0; MAX_ROWS], count: 0 };
        Self { rows: Box::new(rows), active: Active::default(), steps: 0, metric: None }
    }

    /// Solves min ‖a − `unconstrained`‖_M over J a ≤ b.
    ///
    /// Rows may have any length, in any number up to [`MAX_ROWS`], and may be equal, opposite, dependent or zero. No
    /// row is violated by more than [`TOLERANCE`], in the measure given there.
    ///
    /// # Errors
    /// `InvalidArgument` for numbers that are not finite, a matrix that is not positive definite, too many rows.
    pub fn solve(&mut self, mass: &Mat6, unconstrained: &Vec6, rows: &[Row]) -> Result<Solution> {
        if !unconstrained.iter().all(|v| v.is_finite()) {
            return Err(Error::argument("unconstrained", unconstrained[0], "finite numbers"));
        }
        let metric = self.metric(mass)?;
        self.rows.set(&metric, rows, false)?;
        let wanted = metric.point(unconstrained);
        let Some(y) = self.run(&wanted) else {
            self.active.count = 0;
            let load = -metric.load(&wanted);
            return Ok(Solution { constrained: Vec6::zeros(), load, outcome: Outcome::Infeasible });
        };
        if self.active.count == 0 {
            return Ok(Solution { constrained: *unconstrained, load: Vec6::zeros(), outcome: Outcome::Free });
        }
        let load = metric.load(&less(&y, 1.0, &wanted));
        Ok(Solution { constrained: metric.motion(&y), load, outcome: Outcome::Constrained })
    }

    /// Returns whether J a ≤ 0 allows a = 0 only: then no motion is possible, whatever is wanted. A set of motions that
    /// is narrower than 2 `TOLERANCE` × the number of rows, as an angle in the metric of the mass matrix, counts as
    /// none. Slacks do not matter.
    ///
    /// The negative mean of the rows makes an angle below 90 degrees with every motion that they allow, if no such
    /// motion lies in all of their planes. So nothing is allowed exactly when the rows span the whole space and that
    /// direction projects to zero.
    ///
    /// # Errors
    /// As for [`Solver::solve`].
    pub fn is_locked(&mut self, mass: &Mat6, rows: &[Row]) -> Result<bool> {
        let before = self.active;
        let metric = self.metric(mass)?;
        self.rows.set(&metric, rows, true)?;
        let locked = self.spans_all() && {
            let inward = |g: &[f64; MAX_ROWS]| -g[..self.rows.count].iter().sum::<f64>();
            let inward: V = std::array::from_fn(|k| inward(&self.rows.g[k]));
            let narrow = 2.0 * TOLERANCE * self.rows.count as f64;
            self.active.count = 0;
            self.run(&inward).is_some_and(|y| length(&y) <= narrow)
        };
        self.active = before;
        Ok(locked)
    }

    /// Returns the active rows of the last program, ascending.
    pub fn active(&self) -> &[u16] {
        &self.active.index[..self.active.count]
    }

    /// Returns λ of each active row: its share of the load. `solution.load` = −Σ λ J.
    pub fn multiplier(&self, k: usize) -> f64 {
        self.active.multiplier[k] / self.rows.length[usize::from(self.active.index[k])]
    }

    /// Sets the rows to try first in the next program; at most six count, and numbers that are no row of it are
    /// ignored.
    pub fn try_first(&mut self, rows: impl IntoIterator<Item = u16>) {
        self.active.count = 0;
        for row in rows.into_iter().take(6) {
            self.active.index[self.active.count] = row;
            self.active.count += 1;
        }
    }

    /// Returns the number of steps of the last program: rows added or removed.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Returns whether no direction lies in the planes of all rows.
    fn spans_all(&self) -> bool {
        let mut basis = Active::default();
        while basis.count < 6 {
            let mut farthest = (INDEPENDENT, None);
            for i in 0..self.rows.count {
                let (z, along) = basis.across(&self.rows.row(i));
                let height = length(&z);
                if height > farthest.0 {
                    farthest = (height, Some((i, z, along)));
                }
            }
            let Some((i, z, along)) = farthest.1 else { return false };
            basis.push(i as u16, 0.0, &z, along);
        }
        true
    }

    /// Returns the factor of a mass matrix, which is often that of the last program.
    fn metric(&mut self, mass: &Mat6) -> Result<Metric> {
        match &self.metric {
            Some((last, metric)) if last == mass => Ok(*metric),
            _ => {
                let metric = Metric::new(mass)?;
                self.metric = Some((*mass, metric));
                Ok(metric)
            }
        }
    }

    /// Runs Goldfarb & Idnani's method on the loaded rows; `None` when there is no solution.
    fn run(&mut self, wanted: &V) -> Option<V> {
        solve(&self.rows, wanted, &mut self.active, &mut self.steps)
    }
}

wide! {
    /// Finds the point of the loaded rows that is nearest to `wanted`. The rows that are active at first are hints.
    fn solve(rows: &Rows, wanted: &V, active: &mut Active, steps: &mut u32) -> Option<V> {
        let (hints, hinted) = (active.index, active.count);
        let deepest = rows.slack[..rows.count].iter().fold(0.0, |d: f64, s| d.max(-s));
        let tolerance = TOLERANCE * (length(wanted) + deepest);
        *active = Active::default();
        *steps = 0;
        let mut y = *wanted;
        // Whether y is computed from the active rows alone, in ascending order, and not by the steps so far.
        let mut is_final = true;
        loop {
            // A row that is active holds with equality, so it is never the worst.
            let mut worst = (tolerance, None);
            for &hint in &hints[..hinted] {
                let i = usize::from(hint);
                if i < rows.count && rows.excess(i, &y) > worst.0 {
                    worst = (rows.excess(i, &y), Some(i));
                }
            }
            // No closure: it would be compiled for the baseline.
            if worst.1.is_none() {
                worst.1 = rows.worst(&y, tolerance);
            }
            match worst.1 {
                Some(row) => {
                    take_in(rows, active, &mut y, row, steps)?;
                    is_final = false;
                    if active.is_shallow() {
                        y = active.project(rows, wanted);
                    }
                    if *steps > 20 * (MAX_ROWS as u32) {
                        return None;
                    }
                }
                None if is_final => return Some(y),
                None => {
                    if !active.index[..active.count].is_sorted() {
                        active.index[..active.count].sort_unstable();
                        active.keep(rows, |_| true);
                    }
                    y = active.project(rows, wanted);
                    is_final = true;
                }
            }
        }
    }
}

/// Makes a violated row active, and removes rows whose multipliers it would turn negative. `None` when it contradicts
/// them.
#[inline(always)]
fn take_in(rows: &Rows, active: &mut Active, y: &mut V, row: usize, steps: &mut u32) -> Option<()> {
    let g = rows.row(row);
    let mut multiplier = 0.0;
    loop {
        *steps += 1;
        let (z, along) = active.across(&g);
        let change = active.combination(&along);
        // The longest step for which all multipliers stay positive, and the row that limits it.
        let mut ends = (f64::INFINITY, 0);
        for k in 0..active.count {
            if change[k] > 0.0 && active.multiplier[k] / change[k] < ends.0 {
                ends = (active.multiplier[k] / change[k], k);
            }
        }
        let height = dot(&z, &z);
        let full = if active.count < 6 && height > INDEPENDENT * INDEPENDENT {
            rows.excess(row, y) / height
        } else {
            f64::INFINITY
        };
        let step = ends.0.min(full);
        if step == f64::INFINITY {
            return None;
        }
        multiplier += step;
        for k in 0..active.count {
            active.multiplier[k] = (active.multiplier[k] - step * change[k]).max(0.0);
        }
        if full < f64::INFINITY {
            *y = less(y, step, &z);
        }
        if full <= ends.0 {
            active.push(row as u16, multiplier, &z, along);
            return Some(());
        }
        active.keep(rows, |k| k != ends.1);
    }
}
