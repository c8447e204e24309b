//! How far around a point a field is certainly above a level: what moving things are stepped by.

use super::{MeshField, SheetAround, SignedDistance};

/// The lower bound over balls ([`SignedDistance::lower_bound`]), asked the other way round.
pub trait Clearance: SignedDistance {
    /// A radius r, metres, such that φ(x) > `level` for every |x − c| < r, rounding included; 0 or less when none is known.
    /// Points in the field's local frame. By default that of an exact distance, of which no two points differ by more than a
    /// metre per metre.
    fn clearance(&self, c: [f32; 3], level: f32) -> f32 {
        (self.lower_bound(c, 0.0) - level) * (1.0 - 4.0 * f32::EPSILON)
    }

    /// `clearance` of many points; gives the same bytes.
    ///
    /// # Panics
    /// When the slices differ in length.
    fn clearance_batch(&self, x: &[f32], y: &[f32], z: &[f32], level: f32, out: &mut [f32]) {
        let n = out.len();
        let (x, y, z) = (&x[..n], &y[..n], &z[..n]);
        for i in 0..n {
            out[i] = self.clearance([x[i], y[i], z[i]], level);
        }
    }

    /// On which side of a level many points are, and how far from the other: r > 0 where φ(x) > `level[1]` for every
    /// |x − c| < r, r < 0 where φ(x) ≤ `level[0]` for every |x − c| < −r, and 0 where neither is known. Rounding included.
    /// Only fields on grids know of the lower side.
    ///
    /// # Panics
    /// When the slices differ in length.
    fn side_batch(&self, x: &[f32], y: &[f32], z: &[f32], level: [f32; 2], out: &mut [f32]) {
        self.clearance_batch(x, y, z, level[1], out);
        for r in out {
            *r = r.max(0.0);
        }
    }
}

impl Clearance for SheetAround<'_> {}

impl Clearance for MeshField {
    /// Around the holes of an open mesh the sign can change without notice, which only the bound over a ball knows of.
    fn clearance(&self, c: [f32; 3], level: f32) -> f32 {
        let whole = (self.lower_bound(c, 0.0) - level) * (1.0 - 4.0 * f32::EPSILON);
        if self.is_closed() || whole <= 0.0 {
            return whole;
        }
        let parts = [0.999, 0.5, 0.25, 0.125];
        parts.map(|part| whole * part).into_iter().find(|&r| self.lower_bound(c, r) > level).unwrap_or(0.0)
    }
}

/// `distances` and `bounds` of many points and balls, and [`Clearance`], of a field on a grid by
/// those of its view.
macro_rules! batches {
    ($view:ident of $field:ty) => {
        $crate::field::wide::wide! {
            fn distances(field: $view, x: &[f32], y: &[f32], z: &[f32], out: &mut [f32]) -> () {
                let n = out.len();
                let (x, y, z) = (&x[..n], &y[..n], &z[..n]);
                for i in 0..n {
                    out[i] = field.distance([x[i], y[i], z[i]]);
                }
            }
        }

        $crate::field::wide::wide! {
            fn bounds(field: $view, x: &[f32], y: &[f32], z: &[f32], r: &[f32], out: &mut [f32]) -> () {
                let n = out.len();
                let (x, y, z, r) = (&x[..n], &y[..n], &z[..n], &r[..n]);
                for i in 0..n {
                    out[i] = field.bound([x[i], y[i], z[i]], r[i]);
                }
            }
        }

        $crate::field::wide::wide! {
            fn clearances(field: $view, x: &[f32], y: &[f32], z: &[f32], level: f32, out: &mut [f32]) -> () {
                let n = out.len();
                let (x, y, z) = (&x[..n], &y[..n], &z[..n]);
                for i in 0..n {
                    out[i] = field.clearance([x[i], y[i], z[i]], level);
                }
            }
        }

        $crate::field::wide::wide! {
            fn sides(field: $view, x: &[f32], y: &[f32], z: &[f32], level: [f32; 2], out: &mut [f32]) -> () {
                let n = out.len();
                let (x, y, z) = (&x[..n], &y[..n], &z[..n]);
                for i in 0..n {
                    out[i] = field.side([x[i], y[i], z[i]], level);
                }
            }
        }

        impl $crate::field::clearance::Clearance for $field {
            fn clearance(&self, c: [f32; 3], level: f32) -> f32 {
                $view::of(self).clearance(c, level)
            }

            fn clearance_batch(&self, x: &[f32], y: &[f32], z: &[f32], level: f32, out: &mut [f32]) {
                clearances($view::of(self), x, y, z, level, out);
            }

            fn side_batch(&self, x: &[f32], y: &[f32], z: &[f32], level: [f32; 2], out: &mut [f32]) {
                sides($view::of(self), x, y, z, level, out);
            }
        }
    };
}

pub(in crate::field) use batches;
