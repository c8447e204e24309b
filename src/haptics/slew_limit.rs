//! Limits the slope of a wrench while it is faded in.

use crate::math::{Vec3, Wrench};

/// Lets a wrench fall and turn back at once, but rise no faster than an even ramp to its present size over the whole
/// ramp time: also where a renderer's force grows, or comes and goes, in the meantime. Force and torque are limited
/// separately.
///
/// A wrench that never comes to rest is not limited for ever: from one ramp time after the ramp on, the allowed slope
/// doubles with each further ramp time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlewLimit {
    last: Wrench,
    lags: bool,
    /// Time since the full wrench was requested, in ramp times.
    over: f64,
}

/// N, N·m: differences below this cannot be felt.
const FELT: f64 = 1e-6;

impl SlewLimit {
    /// Returns whether the last wrench was less than the requested one.
    pub fn lags(&self) -> bool {
        self.lags
    }

    /// Restarts from zero.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Makes a step that is `share` of the ramp, toward the fraction `gain` of a wrench.
    pub fn step(&mut self, wrench: &Wrench, gain: f64, share: f64) -> Wrench {
        self.over = if gain < 1.0 { 0.0 } else { self.over + share };
        let share = share * (self.over - 1.0).max(0.0).exp2();
        let (force, slow) = toward(&self.last.force, &wrench.force, gain, share);
        let (torque, late) = toward(&self.last.torque, &wrench.torque, gain, share);
        (self.last, self.lags) = (Wrench { force, torque }, slow || late);
        self.last
    }

    /// Makes a step without a limit.
    pub fn free(&mut self, wrench: &Wrench) {
        *self = Self { last: *wrench, ..Self::default() };
    }
}

/// Moves from the component of the last vector along the wanted one toward the wanted one; returns whether it is not
/// reached.
fn toward(last: &Vec3, whole: &Vec3, gain: f64, share: f64) -> (Vec3, bool) {
    let wanted = whole * gain;
    let size = last.norm_squared();
    let kept = if size > 0.0 { last * (wanted.dot(last) / size).clamp(0.0, 1.0) } else { Vec3::zeros() };
    let (change, most) = (wanted - kept, share * whole.norm());
    let length = change.norm();
    if length <= most + FELT {
        (wanted, false)
    } else {
        (kept + change * (most / length), true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn force(x: f64, y: f64) -> Wrench {
        Wrench { force: Vec3::new(x, y, 0.0), torque: Vec3::zeros() }
    }

    #[test]
    fn a_steady_wrench_comes_as_its_gain_does() {
        let mut slew = SlewLimit::default();
        for n in 1..=100 {
            let gain = f64::from(n) / 100.0;
            let felt = slew.step(&force(3.0, 4.0), gain, 0.01);
            assert!((felt.force.norm() - 5.0 * gain).abs() < 1e-9 && !slew.lags(), "{n}: {felt:?}");
        }
    }

    #[test]
    fn whatever_comes_rises_no_faster_than_a_ramp_and_falls_at_once() {
        let mut slew = SlewLimit::default();
        let (mut last, mut steps) = (Vec3::zeros(), 0);
        for n in 0..400 {
            let gain = (f64::from(n) / 100.0).min(1.0);
            // It rattles, turns over, and stops for a while.
            let wanted = match n {
                200..=209 => force(0.0, 0.0),
                250..=399 => force(-2.0, 0.0),
                _ => force(2.0 * f64::from(n % 3), 1.0),
            };
            let felt = slew.step(&wanted, gain, 0.01).force;
            let rise = felt.norm() - last.norm();
            // Twice as fast with each ramp time from one ramp time after the ramp on.
            let share = 0.01 * (f64::from(n - 199) * 0.01).max(0.0).exp2();
            assert!(rise <= share * wanted.force.norm() + 2.0 * FELT, "{n}: {rise} N");
            assert!(felt.norm() <= last.norm().max(gain * wanted.force.norm()) + 1e-12, "{n}: {felt:?}");
            if n == 250 {
                assert!(felt.x <= 0.0 && felt.norm() < 0.03, "turned over at once: {felt:?}");
            }
            steps += usize::from(slew.lags());
            last = felt;
        }
        assert!(steps > 100, "{steps} steps in which it was held back");
        assert!(!slew.lags() && (last.x + 2.0).abs() < 1e-9, "it arrives: {last:?}");
        // A wrench that never rests: without a limit in the end.
        slew.reset();
        let mut free = 0;
        for n in 0..2000 {
            let turn = 2.0 * f64::from(n);
            slew.step(&force(turn.cos(), turn.sin()), (f64::from(n) / 100.0).min(1.0), 0.01);
            free = if slew.lags() { 0 } else { free + 1 };
        }
        assert!((1000..1900).contains(&free), "free in {free} of 2000 steps");
    }
}
