//! The quadratic program of a constrained motion in six variables: among all a with J a ≤ b, it finds the one nearest
//! to a_u in the metric of a mass matrix M. Knows numbers only.
//!
//! With M = L Lᵀ and y = Lᵀ a it is the projection of a point onto a polyhedron (onto a cone where b = 0: Wilhelmsen 1976, as
//! Ortega et al. 2007, section 4, use it). It is found exactly, in finitely many steps, by the dual active-set method of
//! Goldfarb & Idnani (1983), on an orthogonal factorisation of the active rows that is never updated, only appended to or
//! made anew: there are six at most.

use crate::math::{Mat6, Vec6};
use crate::{Error, Result};

/// Largest number of rows of a program.
pub const MAX_ROWS: usize = 256;

/// Allowed violation of a row, as a fraction of the unconstrained motion, rows and motion both measured in the metric
/// of the mass matrix. Rows that are nearer to dependent than this count as dependent.
pub const TOLERANCE: f64 = 1e-9;

/// Sine of the angle between a row and the active ones at which the row counts as dependent on them. Below
/// [`TOLERANCE`]: where b = 0, a row that is violated by more than that makes at least that angle.
const INDEPENDENT: f64 = 1e-10;

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

fn dot(p: &V, q: &V) -> f64 {
    ((p[0] * q[0] + p[1] * q[1]) + (p[2] * q[2] + p[3] * q[3])) + (p[4] * q[4] + p[5] * q[5])
}

fn length(p: &V) -> f64 {
    dot(p, p).sqrt()
}

/// Returns p − s q.
fn less(p: &V, s: f64, q: &V) -> V {
    std::array::from_fn(|i| p[i] - s * q[i])
}

/// Lower triangular factor of M, by rows.
struct Metric([V; 6]);

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
        Ok(Self(l))
    }

    /// Returns Lᵀ a.
    fn point(&self, a: &Vec6) -> V {
        std::array::from_fn(|i| (i..6).map(|k| self.0[k][i] * a[k]).sum())
    }

    /// Returns L y.
    fn load(&self, y: &V) -> Vec6 {
        Vec6::from_fn(|i, _| (0..=i).map(|k| self.0[i][k] * y[k]).sum())
    }

    /// Returns L⁻¹ of a row's normal.
    fn normal(&self, row: &Vec6) -> V {
        let mut g = [0.0; 6];
        for i in 0..6 {
            let sum: f64 = (0..i).map(|k| self.0[i][k] * g[k]).sum();
            g[i] = (row[i] - sum) / self.0[i][i];
        }
        g
    }

    /// Returns L⁻ᵀ y.
    fn motion(&self, y: &V) -> Vec6 {
        let mut a = Vec6::zeros();
        for i in (0..6).rev() {
            let sum: f64 = (i + 1..6).map(|k| self.0[k][i] * a[k]).sum();
            a[i] = (y[i] - sum) / self.0[i][i];
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
    fn row(&self, i: usize) -> V {
        std::array::from_fn(|k| self.g[k][i])
    }

    fn excess(&self, i: usize, y: &V) -> f64 {
        dot(&self.row(i), y) - self.slack[i]
    }

    /// Returns the row with the largest violation above `least`; of equal ones the lowest.
    fn worst(&self, y: &V, least: f64) -> Option<usize> {
        let mut excess = [0.0; MAX_ROWS];
        let n = self.count;
        let [g0, g1, g2, g3, g4, g5] = &self.g;
        for i in 0..n {
            let dot = ((g0[i] * y[0] + g1[i] * y[1]) + (g2[i] * y[2] + g3[i] * y[3])) + (g4[i] * y[4] + g5[i] * y[5]);
            excess[i] = dot - self.slack[i];
        }
        let mut worst = (least, None);
        for i in 0..n {
            if excess[i] > worst.0 {
                worst = (excess[i], Some(i));
            }
        }
        worst.1
    }
}

/// The active rows and their factorisation: row `index[k]` is Σ r[j][k] q[j] over j ≤ k.
#[derive(Clone, Copy, Default)]
struct Active {
    index: [u16; 6],
    multiplier: V,
    q: [V; 6],
    /// Components of row k along each q.
    r: [V; 6],
    count: usize,
}

impl Active {
    /// Returns the component of `g` perpendicular to the active rows, and its components along them.
    fn across(&self, g: &V) -> (V, V) {
        let (mut z, mut along) = (*g, [0.0; 6]);
        // Two passes are enough (Kahan): the remainder is orthogonal to the last digit.
        for _ in 0..2 {
            for k in 0..self.count {
                let part = dot(&self.q[k], &z);
                along[k] += part;
                z = less(&z, part, &self.q[k]);
            }
        }
        (z, along)
    }

    fn push(&mut self, index: u16, multiplier: f64, z: &V, mut along: V) {
        let n = self.count;
        let height = length(z);
        along[n] = height;
        self.q[n] = z.map(|v| v / height);
        self.r[n] = along;
        self.index[n] = index;
        self.multiplier[n] = multiplier;
        self.count = n + 1;
    }

    /// Factorises again, without the rows that are not `kept`.
    fn keep(&mut self, rows: &Rows, kept: impl Fn(usize) -> bool) {
        let old = *self;
        self.count = 0;
        for k in (0..old.count).filter(|&k| kept(k)) {
            let (z, along) = self.across(&rows.row(old.index[k].into()));
            self.push(old.index[k], old.multiplier[k], &z, along);
        }
    }

    /// Returns c with Σ c_k g_k = the component of the vector whose components along the q are given.
    fn combination(&self, along: &V) -> V {
        let mut c = *along;
        for k in (0..self.count).rev() {
            for j in k + 1..self.count {
                c[k] -= self.r[j][k] * c[j];
            }
            c[k] /= self.r[k][k];
        }
        c
    }

    /// Returns the point nearest to `wanted` at which all active rows hold with equality, and stores their multipliers.
    fn project(&mut self, rows: &Rows, wanted: &V) -> V {
        let (mut y, mut along) = self.across(wanted);
        if self.count == 6 {
            y = [0.0; 6];
        }
        // Intersection of the active planes, by components along the q: forward substitution.
        let mut meet = [0.0; 6];
        for k in 0..self.count {
            let before: f64 = (0..k).map(|j| self.r[k][j] * meet[j]).sum();
            meet[k] = (rows.slack[usize::from(self.index[k])] - before) / self.r[k][k];
            along[k] -= meet[k];
            y = less(&y, -meet[k], &self.q[k]);
        }
        self.multiplier = self.combination(&along).map(|m| m.max(0.0));
        y
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
}

impl Default for Solver {
    fn default() -> Self {
        Self::new()
    }
}

impl Solver {
    pub fn new() -> Self {
        let rows = Rows { g: [[0.0; MAX_ROWS]; 6], slack: [0.0; MAX_ROWS], length: [0.0; MAX_ROWS], count: 0 };
        Self { rows: Box::new(rows), active: Active::default(), steps: 0 }
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
        let metric = Metric::new(mass)?;
        self.load(&metric, rows, false)?;
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
        self.load(&Metric::new(mass)?, rows, true)?;
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

    fn load(&mut self, metric: &Metric, rows: &[Row], homogeneous: bool) -> Result<()> {
        if rows.len() > MAX_ROWS {
            return Err(Error::argument("rows", rows.len(), format!("at most {MAX_ROWS}")));
        }
        let to = &mut *self.rows;
        for (i, row) in rows.iter().enumerate() {
            let g = metric.normal(&row.normal);
            // Scaled first: the square of a tiny row would underflow.
            let largest = g.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            let scaled = g.map(|v| if largest > 0.0 { v / largest } else { 0.0 });
            let norm = length(&scaled);
            if !(norm.is_finite() && largest.is_finite() && row.slack.is_finite() && row.normal.sum().is_finite()) {
                return Err(Error::argument(format!("rows[{i}]"), row.slack, "finite numbers"));
            }
            let says_nothing = norm == 0.0;
            for k in 0..6 {
                to.g[k][i] = if says_nothing { 0.0 } else { scaled[k] / norm };
            }
            to.length[i] = if says_nothing { 0.0 } else { largest * norm };
            to.slack[i] = match (homogeneous, says_nothing) {
                (true, _) => 0.0,
                (false, true) => row.slack,
                (false, false) => row.slack / (largest * norm),
            };
        }
        to.count = rows.len();
        Ok(())
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

    /// Runs Goldfarb & Idnani's method on the loaded rows; `None` when there is no solution.
    fn run(&mut self, wanted: &V) -> Option<V> {
        let Self { rows, active, steps, .. } = self;
        let rows = &**rows;
        let (hints, hinted) = (active.index, active.count);
        let deepest = rows.slack[..rows.count].iter().fold(0.0, |d: f64, s| d.max(-s));
        let tolerance = TOLERANCE * (length(wanted) + deepest);
        *active = Active::default();
        *steps = 0;
        let mut y = *wanted;
        loop {
            // A row that is active holds with equality, so it is never the worst.
            let mut worst = (tolerance, None);
            for &hint in &hints[..hinted] {
                let i = usize::from(hint);
                if i < rows.count && rows.excess(i, &y) > worst.0 {
                    worst = (rows.excess(i, &y), Some(i));
                }
            }
            let Some(row) = worst.1.or_else(|| rows.worst(&y, tolerance)) else { break };
            take_in(rows, active, &mut y, row, steps)?;
            y = active.project(rows, wanted);
            if *steps > 20 * (MAX_ROWS as u32) {
                return None;
            }
        }
        if active.count > 1 && !active.index[..active.count].is_sorted() {
            active.index[..active.count].sort_unstable();
            active.keep(rows, |_| true);
            y = active.project(rows, wanted);
        }
        Some(y)
    }
}

/// Makes a violated row active, and removes rows whose multipliers it would turn negative. `None` when it contradicts
/// them.
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
        if full <= ends.0 {
            active.push(row as u16, multiplier, &z, along);
            return Some(());
        }
        if full < f64::INFINITY {
            *y = less(y, step, &z);
        }
        active.keep(rows, |k| k != ends.1);
    }
}
