//! A segment in one cell: the trilinear interpolant along it is a cubic, and all its roots are found.
//!
//! The cubic is in Bernstein form. Its coefficients are means of the interpolant at corners of the box that the segment
//! spans in the cell, so they lie between the cell's smallest and largest sample and are as precise as those. When all
//! four have one sign there is no root, which settles most cells. Otherwise the cubic is cut at its extrema, and each
//! monotone piece whose ends differ in sign holds one root, bracketed and polished by Newton's method.
//!
//! [`Cubic::cardano`] and [`Cubic::bisection`] are the two methods of Xu & Barbič, kept for comparison: both miss roots.

/// The interpolant minus the level along a segment in a cell, as a function of a parameter s from 0 at its start to 1
/// at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cubic {
    /// Bernstein coefficients, metres: f = Σ bᵢ C(3, i) sⁱ (1 − s)³⁻ⁱ.
    pub b: [f64; 4],
}

/// Intervals of [0, 1] on which f ≤ 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signs {
    /// Whether f(0) ≤ 0.
    pub starts_below: bool,
    roots: [f64; 3],
    count: u8,
}

impl Signs {
    /// Returns the parameters at which f changes between f > 0 and f ≤ 0, ascending, in [0, 1].
    pub fn roots(&self) -> &[f64] {
        &self.roots[..usize::from(self.count)]
    }

    /// Returns the first s at which f ≤ 0.
    pub fn first_below(&self) -> Option<f64> {
        if self.starts_below {
            Some(0.0)
        } else {
            self.roots().first().copied()
        }
    }

    /// Returns the closed intervals on which f ≤ 0: at most two.
    pub fn below(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        let start = self.starts_below.then_some(0.0);
        let mut ends = start.into_iter().chain(self.roots().iter().copied());
        std::iter::from_fn(move || ends.next().map(|from| [from, ends.next().unwrap_or(1.0)]))
    }
}

impl Cubic {
    /// Returns the interpolant of `corners` (x fastest, then y; the level already subtracted) from `from` to `to`,
    /// both in the cell: coordinates 0 to 1.
    ///
    /// The trilinear form is affine in each coordinate, so it is its own blossom (Ramshaw 1989). Its value with n of
    /// the three coordinates taken at the end and the others at the start, averaged over the choices, is bₙ.
    #[inline(always)]
    pub fn along(corners: &[f64; 8], from: &[f64; 3], to: &[f64; 3]) -> Self {
        let mut w = *corners;
        for axis in 0..3 {
            let step = 1 << axis;
            // This form is exact at both ends, so that two cells are bit-identical on the face they share.
            let (f, t) = (from[axis], to[axis]);
            let (g, u) = (1.0 - f, 1.0 - t);
            for i in 0..8 {
                if i & step == 0 {
                    let (low, high) = (w[i], w[i + step]);
                    w[i] = low * g + high * f;
                    w[i + step] = low * u + high * t;
                }
            }
        }
        const THIRD: f64 = 1.0 / 3.0;
        Self { b: [w[0], ((w[1] + w[2]) + w[4]) * THIRD, ((w[3] + w[5]) + w[6]) * THIRD, w[7]] }
    }

    /// Returns whether the coefficients alone prove that f has no root: all positive, or all not positive.
    #[inline(always)]
    pub fn keeps_its_sign(&self) -> bool {
        let [b0, b1, b2, b3] = self.b;
        let (low, high) = (b0.min(b1).min(b2.min(b3)), b0.max(b1).max(b2.max(b3)));
        low > 0.0 || high <= 0.0
    }

    /// Returns the coefficients of the powers of s, from the constant up.
    fn powers(&self) -> [f64; 4] {
        let [b0, b1, b2, b3] = self.b;
        [b0, 3.0 * (b1 - b0), 3.0 * ((b0 - b1) + (b2 - b1)), (b3 - b0) + 3.0 * (b1 - b2)]
    }

    /// Returns f(s).
    pub fn at(&self, s: f64) -> f64 {
        let [c0, c1, c2, c3] = self.powers();
        ((c3 * s + c2) * s + c1) * s + c0
    }

    /// Returns the zeros of f' strictly between 0 and 1, ascending. A pair that rounding merges is left out: there f
    /// is monotone up to its own rounding.
    fn extrema(&self) -> ([f64; 2], usize) {
        let [b0, b1, b2, b3] = self.b;
        let (d0, d1, d2) = (b1 - b0, b2 - b1, b3 - b2);
        // The coefficients of f'/3 in Bernstein form: if they have one sign, f' has it too.
        if (d0 >= 0.0 && d1 >= 0.0 && d2 >= 0.0) || (d0 <= 0.0 && d1 <= 0.0 && d2 <= 0.0) {
            return ([0.0; 2], 0);
        }
        // f'/3 = a s² + 2 b s + c.
        let (a, b, c) = ((d0 - d1) + (d2 - d1), d1 - d0, d0);
        let discriminant = b * b - a * c;
        let mut out = ([0.0; 2], 0);
        if discriminant > 0.0 {
            let q = -(b + discriminant.sqrt().copysign(b));
            // q is 0 only when b and the discriminant are 0.
            let (r, s) = (q / a, c / q);
            let (low, high) = if r < s { (r, s) } else { (s, r) };
            for x in [low, high] {
                // False for the NaN and infinity of a vanishing a.
                if x > 0.0 && x < 1.0 {
                    out.0[out.1] = x;
                    out.1 += 1;
                }
            }
        }
        out
    }

    /// Returns all changes of sign.
    pub fn signs(&self) -> Signs {
        self.signs_to(3)
    }

    /// Returns the first `most` changes of sign.
    pub(super) fn signs_to(&self, most: u8) -> Signs {
        let mut out = Signs { starts_below: self.b[0] <= 0.0, roots: [0.0; 3], count: 0 };
        if self.keeps_its_sign() {
            return out;
        }
        let c = self.powers();
        let value = |s: f64| ((c[3] * s + c[2]) * s + c[1]) * s + c[0];
        let slope = |s: f64| (3.0 * c[3] * s + 2.0 * c[2]) * s + c[1];
        let (extrema, count) = self.extrema();
        let (mut from, mut f) = (0.0, self.b[0]);
        for piece in 0..=count {
            let (to, g) = if piece < count { (extrema[piece], value(extrema[piece])) } else { (1.0, self.b[3]) };
            if (f <= 0.0) != (g <= 0.0) {
                out.roots[usize::from(out.count)] = root(value, slope, [from, to], [f, g]);
                out.count += 1;
                if out.count == most {
                    break;
                }
            }
            (from, f) = (to, g);
        }
        out
    }

    /// Returns the smallest root in [0, 1] by Cardano's formulas, as in Xu & Barbič 2016, section 3.1. For comparison
    /// only: where a root is nearly double, or the leading coefficient is nearly 0, rounding loses it.
    pub fn cardano(&self) -> Option<f64> {
        let [c0, c1, c2, c3] = self.powers();
        let inside = |s: &f64| (0.0..=1.0).contains(s);
        let least = |roots: &[f64]| roots.iter().copied().filter(inside).min_by(f64::total_cmp);
        let size = c0.abs().max(c1.abs()).max(c2.abs());
        if c3.abs() <= 1e-14 * size {
            if c2.abs() <= 1e-14 * size {
                return least(&[-c0 / c1]);
            }
            let root = (c1 * c1 - 4.0 * c2 * c0).sqrt();
            return least(&[(-c1 - root) / (2.0 * c2), (-c1 + root) / (2.0 * c2)]);
        }
        let (a, b, c) = (c2 / c3, c1 / c3, c0 / c3);
        let q = (a * a - 3.0 * b) / 9.0;
        let r = (2.0 * a * a * a - 9.0 * a * b + 27.0 * c) / 54.0;
        if r * r < q * q * q {
            let angle = libm::acos(r / (q * q * q).sqrt());
            let turn = std::f64::consts::TAU;
            least(&[0.0, turn, -turn].map(|t| -2.0 * q.sqrt() * libm::cos((angle + t) / 3.0) - a / 3.0))
        } else {
            let u = -libm::cbrt(r.abs() + (r * r - q * q * q).sqrt()).copysign(r);
            let v = if u != 0.0 { q / u } else { 0.0 };
            least(&[u + v - a / 3.0])
        }
    }

    /// Returns the root that five steps of false position between the ends find (Xu & Barbič 2014, equation 2);
    /// `None` when the ends have the same sign. For comparison only: it misses pairs of roots, and of three roots it
    /// may return any.
    pub fn bisection(&self) -> Option<f64> {
        let (mut from, mut to, mut f, mut g) = (0.0, 1.0, self.b[0], self.b[3]);
        if (f <= 0.0) == (g <= 0.0) {
            return None;
        }
        let mut hit = 0.0;
        for _ in 0..5 {
            hit = from + (to - from) * f / (f - g);
            let value = self.at(hit);
            if (value <= 0.0) == (f <= 0.0) {
                (from, f) = (hit, value);
            } else {
                (to, g) = (hit, value);
            }
        }
        Some(hit)
    }
}

/// Returns the root of a function that is monotone on `[from, to]` and has the values `[f, g]`, of different signs,
/// at its ends: Newton's method, with bisection wherever a step would leave the bracket or shrink too slowly.
pub(super) fn root(
    value: impl Fn(f64) -> f64,
    slope: impl Fn(f64) -> f64,
    [from, to]: [f64; 2],
    [f, g]: [f64; 2],
) -> f64 {
    let starts_below = f <= 0.0;
    let (mut low, mut high) = (from, to);
    let mut s = from + (to - from) * (f / (f - g));
    if !(s >= low && s <= high) {
        s = 0.5 * (low + high);
    }
    let mut last = high - low;
    // Each step halves either the bracket or the step: 2 × 54 steps reduce both to zero.
    for _ in 0..108 {
        let v = value(s);
        if (v <= 0.0) == starts_below {
            low = s;
        } else {
            high = s;
        }
        let newton = s - v / slope(s);
        if (newton - s).abs() <= 1e-16 {
            break;
        }
        let good = newton > low && newton < high && (newton - s).abs() < 0.5 * last;
        let next = if good { newton } else { 0.5 * (low + high) };
        last = (next - s).abs();
        s = next;
        if last <= 1e-16 {
            break;
        }
    }
    s
}
