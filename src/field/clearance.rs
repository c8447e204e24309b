//! Radius around a point in which a field is certainly above a level: the step size for moving points and balls.

use super::{MeshField, SheetAround, SignedDistance};

/// The inverse of the lower bound over balls ([`SignedDistance::lower_bound`]).
pub trait Clearance: SignedDistance {
    /// Returns a radius r, metres, such that φ(x) > `level` for every |x − c| < r, rounding included; 0 or less when
    /// none is known. Points are in the field's local frame. The default holds for exact distances, which change by at
    /// most one metre per metre.
    fn clearance(&self, c: [f32; 3], level: f32) -> f32 {
        (self.lower_bound(c, 0.0) - level) * (1.0 - 4.0 * f32::EPSILON)
    }

    /// Computes `clearance` of many points, with the same bytes.
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

    /// Computes the side of a level on which many points are, and a distance in which the side does not change: r > 0
    /// where φ(x) > `level[1]` for every |x − c| < r, r < 0 where φ(x) ≤ `level[0]` for every |x − c| < −r, and 0
    /// where neither is known. Rounding included. Only fields on grids return the lower side.
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
    /// Around the holes of an open mesh the sign can change anywhere, which only the bound over a ball includes.
    fn clearance(&self, c: [f32; 3], level: f32) -> f32 {
        let whole = (self.lower_bound(c, 0.0) - level) * (1.0 - 4.0 * f32::EPSILON);
        if self.is_closed() || whole <= 0.0 {
            return whole;
        }
        let parts = [0.999, 0.5, 0.25, 0.125];
        parts.map(|part| whole * part).into_iter().find(|&r| self.lower_bound(c, r) > level).unwrap_or(0.0)
    }
}

/// Defines `distances` and `bounds` of many points and balls, and [`Clearance`], for a field on a grid by the
/// functions of its view.
macro_rules! batches {
    ($view:ident of $field:ty) => {
        voxshell_base::wide! {
            fn distances(field: $view, x: &[f32], y: &[f32], z: &[f32], out: &mut [f32]) -> () {
                let n = out.len();
                let (x, y, z) = (&x[..n], &y[..n], &z[..n]);
                for i in 0..n {
                    out[i] = field.distance([x[i], y[i], z[i]]);
                }
            }
        }

        voxshell_base::wide! {
            fn bounds(field: $view, x: &[f32], y: &[f32], z: &[f32], r: &[f32], out: &mut [f32]) -> () {
                let n = out.len();
                let (x, y, z, r) = (&x[..n], &y[..n], &z[..n], &r[..n]);
                for i in 0..n {
                    out[i] = field.bound([x[i], y[i], z[i]], r[i]);
                }
            }
        }

        voxshell_base::wide! {
            fn clearances(field: $view, x: &[f32], y: &[f32], z: &[f32], level: f32, out: &mut [f32]) -> () {
                let n = out.len();
                let (x, y, z) = (&x[..n], &y[..n], &z[..n]);
                for i in 0..n {
                    out[i] = field.clearance([x[i], y[i], z[i]], level);
                }
            }
        }

        voxshell_base::wide! {
            fn sides(field: $view, x: &[f32], y: &[f32], z: &[f32], level: [f32; 2], out: &mut [f32]) -> () {
                let n = out.len();
                let (x, y, z) = (&x[..n], &y[..n], &z[..n]);
                for i in 0..n {
                    out[i] = field.side([x[i], y[i], z[i]], level);
                }
            }
        }

        impl $crate::clearance::Clearance for $field {
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

pub(crate) use batches;
