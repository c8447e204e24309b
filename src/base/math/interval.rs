//! Interval arithmetic with outward rounding (Moore 1962; Redon, Kheddar & Coquillart 2002, section 3).
//!
//! A floating-point operation is rounded to the nearest number. Each operation here then moves its bounds outward by at
//! least one unit in the last place, so the result contains every value of the exact operation. Rust cannot change the
//! rounding mode; the step outward is computed instead, without a branch.

use std::ops::{Add, Mul, Neg, Sub};

use super::{Mat3, Vec3};

/// A closed interval [`lo`, `hi`]. Numbers stay below about 1e150 in size, so that no product overflows. A bound that
/// is NaN makes every test answer as if the interval contained all numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    pub lo: f64,
    pub hi: f64,
}

/// Beyond this angle, radians, the sine and the cosine of an interval are [−1, 1].
const LARGEST_ANGLE: f64 = 1e6;

/// Returns a number below `x` by at least one unit in its last place: |x| ε is at least that unit for a normal number,
/// and the smallest normal number is more than the unit of a subnormal one.
#[inline(always)]
fn down(x: f64) -> f64 {
    x - (x.abs() * f64::EPSILON + f64::MIN_POSITIVE)
}

#[inline(always)]
fn up(x: f64) -> f64 {
    x + (x.abs() * f64::EPSILON + f64::MIN_POSITIVE)
}

/// Returns the smaller number without the tests for NaN that `f64::min` makes.
#[inline(always)]
fn least(a: f64, b: f64) -> f64 {
    if a < b {
        a
    } else {
        b
    }
}

#[inline(always)]
fn greatest(a: f64, b: f64) -> f64 {
    if a > b {
        a
    } else {
        b
    }
}

impl Interval {
    pub const ZERO: Self = Self { lo: 0.0, hi: 0.0 };

    /// Returns [`lo`, `hi`]; `lo` ≤ `hi`.
    #[inline(always)]
    pub const fn new(lo: f64, hi: f64) -> Self {
        Self { lo, hi }
    }

    /// Returns [x, x].
    #[inline(always)]
    pub const fn point(x: f64) -> Self {
        Self { lo: x, hi: x }
    }

    /// Returns [−r, r].
    #[inline(always)]
    pub const fn around_zero(r: f64) -> Self {
        Self { lo: -r, hi: r }
    }

    #[inline(always)]
    fn outward(lo: f64, hi: f64) -> Self {
        Self { lo: down(lo), hi: up(hi) }
    }

    /// Returns a number in the middle.
    #[inline(always)]
    pub fn middle(self) -> f64 {
        0.5 * (self.lo + self.hi)
    }

    /// Returns whether the interval contains 0, and true for bounds that are NaN.
    #[inline(always)]
    pub fn contains_zero(self) -> bool {
        !(self.lo > 0.0 || self.hi < 0.0)
    }

    /// Returns the largest absolute value.
    #[inline(always)]
    pub fn magnitude(self) -> f64 {
        greatest(-self.lo, self.hi)
    }

    /// Returns the smallest absolute value.
    #[inline(always)]
    pub fn mignitude(self) -> f64 {
        greatest(greatest(self.lo, -self.hi), 0.0)
    }

    /// Returns the numbers that both intervals contain. Both contain the exact value, so there is one, but for
    /// rounding.
    #[inline(always)]
    pub fn intersect(self, other: Self) -> Self {
        Self { lo: greatest(self.lo, other.lo), hi: least(self.hi, other.hi) }
    }

    /// Returns the smallest interval that contains both.
    #[inline(always)]
    pub fn hull(self, other: Self) -> Self {
        Self { lo: least(self.lo, other.lo), hi: greatest(self.hi, other.hi) }
    }

    /// Returns the squares, none of which is negative.
    #[inline(always)]
    pub fn square(self) -> Self {
        let (near, far) = (self.mignitude(), self.magnitude());
        Self { lo: greatest(down(near * near), 0.0), hi: up(far * far) }
    }

    /// Returns the square roots of the numbers that are not negative.
    #[inline(always)]
    pub fn sqrt(self) -> Self {
        let root = |x: f64| greatest(x, 0.0).sqrt();
        Self { lo: greatest(down(root(self.lo)), 0.0), hi: up(root(self.hi)) }
    }

    /// Returns the sines of angles, radians. The library function is off by less than a unit in the last place; three
    /// units are allowed for it.
    #[inline]
    pub fn sin(self) -> Self {
        self.of_wave(libm::sin, 0.25)
    }

    /// Returns the cosines of angles, radians.
    #[inline]
    pub fn cos(self) -> Self {
        self.of_wave(libm::cos, 0.0)
    }

    /// Returns the values of a function with period 2π that has its maxima at `crest` turns, and its minima half a turn
    /// later. A maximum that may be in the interval counts as being in it.
    #[inline]
    fn of_wave(self, function: impl Fn(f64) -> f64, crest: f64) -> Self {
        if !(self.lo >= -LARGEST_ANGLE && self.hi <= LARGEST_ANGLE) {
            return Self::new(-1.0, 1.0);
        }
        let (first, last) = (self.lo / std::f64::consts::TAU, self.hi / std::f64::consts::TAU);
        let slack = 1e-15 * (1.0 + greatest(first.abs(), last.abs()));
        let has = |at: f64| (first - at - slack).ceil() <= (last - at + slack).floor();
        let (a, b) = (function(self.lo), function(self.hi));
        let (a_low, a_high) = (down(down(down(a))), up(up(up(a))));
        let (b_low, b_high) = (down(down(down(b))), up(up(up(b))));
        let hi = if has(crest) { 1.0 } else { least(greatest(a_high, b_high), 1.0) };
        let lo = if has(crest + 0.5) { -1.0 } else { greatest(least(a_low, b_low), -1.0) };
        Self { lo, hi }
    }
}

impl Add for Interval {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::outward(self.lo + other.lo, self.hi + other.hi)
    }
}

impl Sub for Interval {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self::outward(self.lo - other.hi, self.hi - other.lo)
    }
}

impl Neg for Interval {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self { lo: -self.hi, hi: -self.lo }
    }
}

impl Mul for Interval {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let (p, q) = (self.lo * other.lo, self.lo * other.hi);
        let (r, s) = (self.hi * other.lo, self.hi * other.hi);
        Self::outward(least(least(p, q), least(r, s)), greatest(greatest(p, q), greatest(r, s)))
    }
}

impl Mul<f64> for Interval {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: f64) -> Self {
        let (p, q) = (self.lo * other, self.hi * other);
        Self::outward(least(p, q), greatest(p, q))
    }
}

/// A vector of intervals: a box.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IntervalVec(pub [Interval; 3]);

impl IntervalVec {
    pub const ZERO: Self = Self([Interval::ZERO; 3]);

    #[inline]
    pub fn point(p: &Vec3) -> Self {
        Self([p.x, p.y, p.z].map(Interval::point))
    }

    #[inline(always)]
    pub fn scaled(self, by: Interval) -> Self {
        Self([self.0[0] * by, self.0[1] * by, self.0[2] * by])
    }

    #[inline(always)]
    pub fn dot(self, other: Self) -> Interval {
        let (a, b) = (self.0, other.0);
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }

    /// Returns the scalar product with a vector of numbers.
    #[inline(always)]
    pub fn along(self, n: &Vec3) -> Interval {
        self.0[0] * n.x + self.0[1] * n.y + self.0[2] * n.z
    }

    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        Self([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
    }

    /// Returns |v|². Squares instead of products: no bound is negative.
    #[inline(always)]
    pub fn norm_squared(self) -> Interval {
        self.0[0].square() + self.0[1].square() + self.0[2].square()
    }

    #[inline(always)]
    pub fn intersect(self, other: Self) -> Self {
        let i = |k: usize| self.0[k].intersect(other.0[k]);
        Self([i(0), i(1), i(2)])
    }

    #[inline]
    pub fn middle(self) -> Vec3 {
        Vec3::new(self.0[0].middle(), self.0[1].middle(), self.0[2].middle())
    }
}

impl Add for IntervalVec {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let sum = |k: usize| self.0[k] + other.0[k];
        Self([sum(0), sum(1), sum(2)])
    }
}

impl Sub for IntervalVec {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let difference = |k: usize| self.0[k] - other.0[k];
        Self([difference(0), difference(1), difference(2)])
    }
}

/// A matrix of intervals, by rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IntervalMat(pub [IntervalVec; 3]);

impl IntervalMat {
    /// Returns the sum of matrices of numbers, each times an interval.
    #[inline]
    pub fn combination(terms: &[(Interval, &Mat3)]) -> Self {
        let entry = |i: usize, j: usize| {
            terms.iter().map(|(factor, m)| *factor * m[(i, j)]).reduce(|a, b| a + b).unwrap_or_default()
        };
        Self([0, 1, 2].map(|i| IntervalVec([0, 1, 2].map(|j| entry(i, j)))))
    }

    /// Returns the image of a vector of numbers.
    #[inline(always)]
    pub fn times(&self, x: &Vec3) -> IntervalVec {
        IntervalVec([self.0[0].along(x), self.0[1].along(x), self.0[2].along(x)])
    }

    /// Returns nᵀ M.
    #[inline(always)]
    pub fn row(&self, n: &Vec3) -> IntervalVec {
        let [a, b, c] = self.0.map(|v| v.0);
        let entry = |j: usize| a[j] * n.x + b[j] * n.y + c[j] * n.z;
        IntervalVec([entry(0), entry(1), entry(2)])
    }
}

#[cfg(test)]
mod tests {
    use num_rational::BigRational;

    use super::*;

    fn rational(x: f64) -> BigRational {
        BigRational::from_float(x).expect("finite")
    }

    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            self.0 >> 11
        }

        /// A number of any size from 2⁻⁴⁰ to 2⁴⁰, sometimes 0 and sometimes subnormal.
        fn number(&mut self) -> f64 {
            let mantissa = self.next() as f64 / (1u64 << 52) as f64 - 1.0;
            match self.next() % 16 {
                0 => 0.0,
                1 => mantissa * 1e-310,
                _ => mantissa * f64::powi(2.0, (self.next() % 80) as i32 - 40),
            }
        }

        fn interval(&mut self) -> Interval {
            let (a, b) = (self.number(), self.number());
            match self.next() % 4 {
                0 => Interval::point(a),
                1 => Interval::new(a, a + a.abs() * 1e-15),
                _ => Interval::new(a.min(b), a.max(b)),
            }
        }
    }

    /// Exact ends of an interval and exact values in it.
    fn values(i: Interval) -> Vec<BigRational> {
        let (a, b) = (rational(i.lo), rational(i.hi));
        let third = BigRational::new(1.into(), 3.into());
        let inner = &a + (&b - &a) * third;
        vec![a, b, inner]
    }

    fn assert_contains(i: Interval, x: &BigRational) {
        assert!(rational(i.lo) <= *x && *x <= rational(i.hi), "{i:?} lacks {x}");
    }

    #[test]
    fn operations_contain_all_rational_results() {
        let mut random = Random(1);
        for _ in 0..3000 {
            let (x, y, k) = (random.interval(), random.interval(), random.number());
            for a in values(x) {
                for b in values(y) {
                    assert_contains(x + y, &(&a + &b));
                    assert_contains(x - y, &(&a - &b));
                    assert_contains(x * y, &(&a * &b));
                    assert_contains(x.hull(y), &b);
                }
                assert_contains(-x, &-a.clone());
                assert_contains(x * k, &(&a * rational(k)));
                assert_contains(x.square(), &(&a * &a));
                assert!(rational(x.mignitude()) <= size_of_number(&a) && size_of_number(&a) <= rational(x.magnitude()));
                // √a ∈ [p, q] with p, q ≥ 0 if p² ≤ a ≤ q².
                if a >= rational(0.0) {
                    let root = x.sqrt();
                    let squared = |r: f64| rational(r) * rational(r);
                    assert!(root.lo >= 0.0 && squared(root.lo) <= a && a <= squared(root.hi), "{x:?} {root:?}");
                }
            }
            assert!(x.square().lo >= 0.0);
        }
    }

    fn size_of_number(x: &BigRational) -> BigRational {
        if *x < rational(0.0) {
            -x.clone()
        } else {
            x.clone()
        }
    }

    #[test]
    fn bounds_are_at_most_three_units_wide_of_the_exact_result() {
        let mut random = Random(2);
        for _ in 0..2000 {
            let (a, b) = (random.number(), random.number());
            let product = Interval::point(a) * Interval::point(b);
            assert!(product.hi - product.lo <= 5.0 * f64::EPSILON * (a * b).abs() + 5.0 * f64::MIN_POSITIVE);
        }
    }

    /// Sine and cosine by their Taylor series in rational numbers, and a bound of the remainder.
    fn sine_cosine(x: f64) -> (BigRational, BigRational, BigRational) {
        let x = rational(x);
        let (mut sin, mut cos) = (rational(0.0), rational(0.0));
        let mut term = rational(1.0);
        let mut n = 0u32;
        // Multiples of 2⁻¹⁶⁰: the exact terms would have too many digits, so they are cut, and the cuts count as error.
        let grid = (0..160).fold(rational(1.0), |g, _| g * rational(2.0));
        let mut error = rational(0.0);
        loop {
            match n % 4 {
                0 => cos += &term,
                1 => sin += &term,
                2 => cos -= &term,
                _ => sin -= &term,
            }
            n += 1;
            term = (&term * &x / BigRational::from_integer(n.into()) * &grid).floor() / &grid;
            error += (size_of_number(&x) + rational(1.0)) / &grid;
            if size_of_number(&term) < rational(1e-40) && n > 40 {
                break;
            }
        }
        (sin, cos, error * rational(1e6) + rational(1e-36))
    }

    #[test]
    fn sine_and_cosine_contain_their_values() {
        let mut random = Random(3);
        for k in 0..60 {
            let near_crest = k % 3 == 0;
            let base = if near_crest {
                std::f64::consts::FRAC_PI_2 * ((random.next() % 13) as f64 - 6.0)
            } else {
                (random.next() as f64 / (1u64 << 53) as f64 - 0.5) * 16.0
            };
            let width = if k % 5 == 0 { 0.0 } else { f64::powi(0.5, (random.next() % 50) as i32) * 4.0 };
            let x = Interval::new(base, base + width);
            let (sin, cos) = (x.sin(), x.cos());
            for p in [x.lo, x.hi, x.middle(), x.lo + 0.3 * (x.hi - x.lo)] {
                let (s, c, error) = sine_cosine(p);
                assert!(rational(sin.lo) <= &s + &error && &s - &error <= rational(sin.hi), "{x:?} {sin:?}");
                assert!(rational(cos.lo) <= &c + &error && &c - &error <= rational(cos.hi), "{x:?} {cos:?}");
            }
            assert!(sin.lo >= -1.0 && sin.hi <= 1.0 && cos.lo >= -1.0 && cos.hi <= 1.0);
            assert!(sin.hi - sin.lo <= width + 1e-14 && cos.hi - cos.lo <= width + 1e-14, "loose: {x:?}");
        }
        let crest = Interval::new(1.5, 1.6).sin();
        assert_eq!(crest.hi, 1.0);
        assert_eq!(Interval::new(3.0, 3.3).cos().lo, -1.0);
        assert_eq!(Interval::new(0.0, 1e9).sin(), Interval::new(-1.0, 1.0));
        assert_eq!(Interval::new(0.0, f64::NAN).sin(), Interval::new(-1.0, 1.0));
    }

    #[test]
    fn nan_counts_as_containing_zero() {
        assert!(Interval::new(f64::NAN, f64::NAN).contains_zero());
        assert!(Interval::new(-1.0, 1.0).contains_zero() && !Interval::new(1e-300, 1.0).contains_zero());
    }

    #[test]
    fn vectors_and_matrices_contain_their_exact_results() {
        let mut random = Random(4);
        for _ in 0..500 {
            let v: [IntervalVec; 2] = std::array::from_fn(|_| IntervalVec(std::array::from_fn(|_| random.interval())));
            let pick = |v: &IntervalVec| v.0.map(|i| rational(i.lo));
            let (p, q) = (pick(&v[0]), pick(&v[1]));
            let dot = (0..3).map(|k| &p[k] * &q[k]).fold(rational(0.0), |a, b| a + b);
            assert_contains(v[0].dot(v[1]), &dot);
            for k in 0..3 {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                assert_contains(v[0].cross(v[1]).0[k], &(&p[i] * &q[j] - &p[j] * &q[i]));
            }
            let m: [Mat3; 2] = std::array::from_fn(|_| Mat3::from_fn(|_, _| random.number()));
            let (s, t) = (random.interval(), random.interval());
            let sum = IntervalMat::combination(&[(s, &m[0]), (t, &m[1])]);
            let x = Vec3::from_fn(|_, _| random.number());
            for i in 0..3 {
                let entry = |i: usize, j: usize| {
                    rational(s.lo) * rational(m[0][(i, j)]) + rational(t.hi) * rational(m[1][(i, j)])
                };
                let image = (0..3).map(|j| entry(i, j) * rational(x[j])).fold(rational(0.0), |a, b| a + b);
                assert_contains(sum.times(&x).0[i], &image);
                let row = (0..3).map(|j| entry(j, i) * rational(x[j])).fold(rational(0.0), |a, b| a + b);
                assert_contains(sum.row(&x).0[i], &row);
            }
        }
    }
}
