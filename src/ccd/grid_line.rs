//! A segment in the coordinates of a grid.

use voxshell_base::math::Vec3;

/// A segment from `o` to `o + d`, in cells from the grid's first node; t goes from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridLine {
    pub o: [f64; 3],
    pub d: [f64; 3],
    /// 1 / d; 0 where d is 0.
    pub inverse: [f64; 3],
    /// d·d.
    pub squared: f64,
}

/// A motion of fewer cells than this counts as none: it is below the precision of f64, and its inverse stays finite.
const STILL: f64 = 1e-150;

impl GridLine {
    /// Returns the line from `from` to `to`; `origin` is the grid's first node; metres, body frame.
    pub fn new(origin: &Vec3, inverse_spacing: f64, from: &Vec3, to: &Vec3) -> Self {
        let (mut o, mut d, mut inverse) = ([0.0; 3], [0.0; 3], [0.0; 3]);
        for a in 0..3 {
            o[a] = (from[a] - origin[a]) * inverse_spacing;
            d[a] = (to[a] - from[a]) * inverse_spacing;
            if d[a].abs() < STILL {
                d[a] = 0.0;
            } else {
                inverse[a] = 1.0 / d[a];
            }
        }
        Self { o, d, inverse, squared: d[0] * d[0] + d[1] * d[1] + d[2] * d[2] }
    }

    /// Returns false where coordinates overflow.
    pub fn is_finite(&self) -> bool {
        (self.o[0] + self.o[1] + self.o[2] + self.squared).is_finite()
    }

    pub fn is_still(&self) -> bool {
        self.d == [0.0; 3]
    }

    #[inline(always)]
    pub fn at(&self, axis: usize, t: f64) -> f64 {
        self.o[axis] + t * self.d[axis]
    }

    /// Returns the time at which the line is on the plane `x[axis] = plane`; infinite when it never is or always is.
    /// Does not decrease along the line.
    #[inline(always)]
    pub fn time(&self, axis: usize, plane: f64) -> f64 {
        if self.d[axis] == 0.0 {
            f64::INFINITY
        } else {
            (plane - self.o[axis]) * self.inverse[axis]
        }
    }

    /// Returns the coordinate in a cell, 0 to 1, at a time when the line is in it. At the time of one of the cell's
    /// planes it is exactly that plane: both cells at a plane get the same point on it.
    #[inline(always)]
    pub fn local(&self, axis: usize, cell: i32, t: f64) -> f64 {
        let low = f64::from(cell);
        let x = self.at(axis, t) - low;
        if self.d[axis] != 0.0 {
            let forward = self.d[axis] > 0.0;
            let (near, far) = if forward { (low, low + 1.0) } else { (low + 1.0, low) };
            if t <= self.time(axis, near) {
                return near - low;
            }
            if t >= self.time(axis, far) {
                return far - low;
            }
        }
        x.clamp(0.0, 1.0)
    }

    /// Returns the interval of the segment in a closed box, cells.
    pub fn clip(&self, min: [f64; 3], max: [f64; 3]) -> Option<(f64, f64)> {
        let (mut start, mut end) = (0.0f64, 1.0f64);
        for a in 0..3 {
            if self.d[a] == 0.0 {
                // Written so that NaN is outside.
                if !(self.o[a] >= min[a] && self.o[a] <= max[a]) {
                    return None;
                }
                continue;
            }
            let (t, u) = (self.time(a, min[a]), self.time(a, max[a]));
            start = start.max(t.min(u));
            end = end.min(t.max(u));
        }
        (start <= end).then_some((start, end))
    }
}
