//! Kernels compiled twice: for the baseline and for AVX2, chosen at run time. The operations and their order are the
//! same and nothing is fused, so both give the same bytes.

use std::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = 0;
const BASELINE: u8 = 1;
const AVX2: u8 = 2;

/// What kernels run on.
static PATH: AtomicU8 = AtomicU8::new(UNKNOWN);

fn detect() -> u8 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::env::var_os("VOXSHELL_BASELINE").is_none() {
        return AVX2;
    }
    BASELINE
}

/// Whether kernels run their AVX2 form: where the processor has it, unless the environment variable `VOXSHELL_BASELINE`
/// was set at the first use or [`force_baseline`] says otherwise.
#[inline]
pub fn uses_avx2() -> bool {
    match PATH.load(Ordering::Relaxed) {
        UNKNOWN => {
            let path = detect();
            PATH.store(path, Ordering::Relaxed);
            path == AVX2
        }
        path => path == AVX2,
    }
}

/// Makes all kernels of the process run their baseline form, or again what the processor has: to compare the two.
pub fn force_baseline(on: bool) {
    PATH.store(if on { BASELINE } else { detect() }, Ordering::Relaxed);
}

/// Defines a function whose body is compiled for the baseline and, on x86-64, once more for AVX2, with what is inlined there.
macro_rules! wide {
    (
        $(#[$doc:meta])*
        $vis:vis fn $name:ident $(<$t:ident: $bound:path>)? ($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty $body:block
    ) => {
        $(#[$doc])*
        #[allow(clippy::unused_unit)]
        $vis fn $name $(<$t: $bound>)? ($($arg: $ty),*) -> $ret {
            #[inline(always)]
            fn plain $(<$t: $bound>)? ($($arg: $ty),*) -> $ret $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                unsafe fn avx2 $(<$t: $bound>)? ($($arg: $ty),*) -> $ret {
                    plain($($arg),*)
                }
                if $crate::field::uses_avx2() {
                    // SAFETY: only where the processor has said that it has AVX2.
                    return unsafe { avx2($($arg),*) };
                }
            }
            plain($($arg),*)
        }
    };
}
pub(crate) use wide;

/// `distances` and `bounds` of many points and balls, and [`Clearance`](super::clearance::Clearance), of a field on a grid by
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
