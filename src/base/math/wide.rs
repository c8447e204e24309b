//! Kernels compiled twice: for the baseline and for AVX2, chosen at run time. The operations and their order are the
//! same and nothing is fused, so both give the same bytes.

use std::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = 0;
const BASELINE: u8 = 1;
const AVX2: u8 = 2;

/// Form of the kernels in use.
static PATH: AtomicU8 = AtomicU8::new(UNKNOWN);

fn detect() -> u8 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::env::var_os("VOXSHELL_BASELINE").is_none() {
        return AVX2;
    }
    BASELINE
}

/// Returns whether kernels run their AVX2 form: if the processor has AVX2, unless the environment variable
/// `VOXSHELL_BASELINE` was set at the first use or [`force_baseline`] was called.
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

/// Makes all kernels of the process run their baseline form, or again the best form that the processor has: to
/// compare the two.
pub fn force_baseline(on: bool) {
    PATH.store(if on { BASELINE } else { detect() }, Ordering::Relaxed);
}

/// Defines a function whose body is compiled for the baseline and, on x86-64, once more for AVX2, together with the
/// functions inlined in it.
#[doc(hidden)]
#[macro_export]
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
                if $crate::math::wide::uses_avx2() {
                    // SAFETY: only if the processor has reported AVX2.
                    return unsafe { avx2($($arg),*) };
                }
            }
            plain($($arg),*)
        }
    };
}
