//! A segment against a grid field by the definition, without code of the library: every cell on its path, none skipped.
//!
//! Generic over the numbers: f64 for many segments, rationals for proofs.

use std::ops::{Add, Div, Mul, Sub};

use num_rational::BigRational;
use voxshell::field::DenseField;
use voxshell::math::Vec3;

pub trait Number:
    Clone + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn of(x: f64) -> Self;
    /// Returns the largest integer that is not larger.
    fn whole(&self) -> i64;
}

impl Number for f64 {
    fn of(x: f64) -> Self {
        x
    }
    fn whole(&self) -> i64 {
        self.floor() as i64
    }
}

impl Number for BigRational {
    fn of(x: f64) -> Self {
        BigRational::from_float(x).expect("a finite number")
    }
    fn whole(&self) -> i64 {
        self.floor().to_integer().try_into().expect("a small number")
    }
}

/// A piece of the segment in one cell: Bernstein coefficients of φ − level over `[from, to]`.
pub struct Piece<T> {
    pub from: T,
    pub to: T,
    pub b: [T; 4],
}

/// Returns φ − level at the parameter `t`, in the cell that contains `at`.
fn value<T: Number>(field: &DenseField, ends: &[Vec3; 2], level: f64, t: &T, at: &T) -> T {
    let grid = field.grid();
    let one = T::of(1.0);
    let place = |a: usize, t: &T| {
        let from = T::of(ends[0][a]);
        let x = from.clone() + t.clone() * (T::of(ends[1][a]) - from);
        (x - T::of(field.center()[a]) - T::of(f64::from(grid.min[a]))) / T::of(f64::from(grid.spacing))
    };
    let (mut cell, mut f) = ([0u32; 3], [one.clone(), one.clone(), one.clone()]);
    for a in 0..3 {
        cell[a] = place(a, at).whole().clamp(0, i64::from(grid.dims[a]) - 2) as u32;
        f[a] = place(a, t) - T::of(f64::from(cell[a]));
    }
    let mut sum = T::of(-level);
    for corner in 0..8u32 {
        let bits = [corner & 1, corner >> 1 & 1, corner >> 2];
        let v = field.values()[grid.index(cell[0] + bits[0], cell[1] + bits[1], cell[2] + bits[2])];
        let mut term = T::of(f64::from(v));
        for a in 0..3 {
            term = term * if bits[a] == 1 { f[a].clone() } else { one.clone() - f[a].clone() };
        }
        sum = sum + term;
    }
    sum
}

/// Returns all pieces in the grid's box, in order, without the part of the segment outside.
pub fn pieces<T: Number>(field: &DenseField, ends: &[Vec3; 2], level: f64) -> Vec<Piece<T>> {
    let grid = field.grid();
    let (zero, one) = (T::of(0.0), T::of(1.0));
    let (mut start, mut end) = (zero.clone(), one.clone());
    let mut times = Vec::new();
    for a in 0..3 {
        let spacing = T::of(f64::from(grid.spacing));
        let from = (T::of(ends[0][a]) - T::of(field.center()[a]) - T::of(f64::from(grid.min[a]))) / spacing.clone();
        let way = (T::of(ends[1][a]) - T::of(ends[0][a])) / spacing;
        let last = grid.dims[a] - 1;
        if way == zero {
            if from < zero || from > T::of(f64::from(last)) {
                return Vec::new();
            }
            continue;
        }
        let mut mine: Vec<T> = (0..=last).map(|plane| (T::of(f64::from(plane)) - from.clone()) / way.clone()).collect();
        if way < zero {
            mine.reverse();
        }
        if mine[0] > start {
            start = mine[0].clone();
        }
        if mine[last as usize] < end {
            end = mine[last as usize].clone();
        }
        times.extend(mine);
    }
    if start > end {
        return Vec::new();
    }
    times.retain(|t| *t > start && *t < end);
    times.push(start);
    times.push(end);
    times.sort_by(|a, b| a.partial_cmp(b).expect("no NaN"));
    let mut out = Vec::new();
    for w in times.windows(2) {
        let (from, to) = (w[0].clone(), w[1].clone());
        let middle = (from.clone() + to.clone()) / T::of(2.0);
        let third = (to.clone() - from.clone()) / T::of(3.0);
        let at = |t: T| value(field, ends, level, &t, &middle);
        let (f0, f3) = (at(from.clone()), at(to.clone()));
        let (f1, f2) = (at(from.clone() + third.clone()), at(to.clone() - third));
        let n = |x: f64| T::of(x);
        let mean = |p: &T, q: &T, r: &T, s: &T| {
            (n(-5.0) * p.clone() + n(18.0) * q.clone() - n(9.0) * r.clone() + n(2.0) * s.clone()) / n(6.0)
        };
        let (b1, b2) = (mean(&f0, &f1, &f2, &f3), mean(&f3, &f2, &f1, &f0));
        out.push(Piece { from, to, b: [f0, b1, b2, f3] });
    }
    out
}

impl<T: Number> Piece<T> {
    pub fn halves(&self) -> [Piece<T>; 2] {
        let half = |x: &T, y: &T| (x.clone() + y.clone()) / T::of(2.0);
        let [b0, b1, b2, b3] = &self.b;
        let (p, q, r) = (half(b0, b1), half(b1, b2), half(b2, b3));
        let (u, v) = (half(&p, &q), half(&q, &r));
        let w = half(&u, &v);
        let middle = half(&self.from, &self.to);
        [
            Piece { from: self.from.clone(), to: middle.clone(), b: [b0.clone(), p, u, w.clone()] },
            Piece { from: middle, to: self.to.clone(), b: [w, v, r, b3.clone()] },
        ]
    }

    pub fn all(&self, test: impl Fn(&T) -> bool) -> bool {
        self.b.iter().all(test)
    }
}
