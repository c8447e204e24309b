//! Limits the slope of a wrench while it is faded in.

use voxshell_base::math::{Vec3, Wrench};

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
    /// After a change of the scene: sizes of force and torque when it came.
    before: Option<[f64; 2]>,
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
        let share = share * libm::exp2((self.over - 1.0).max(0.0));
        let (force, slow) = toward(&self.last.force, &wrench.force, gain, share);
        let (torque, late) = toward(&self.last.torque, &wrench.torque, gain, share);
        (self.last, self.lags) = (Wrench { force, torque }, slow || late);
        self.last
    }

    /// Makes a step without a limit.
    pub fn free(&mut self, wrench: &Wrench) {
        *self = Self { last: *wrench, ..Self::default() };
    }

    /// Begins to limit the slope after a change of the scene, for a ramp time at least.
    pub fn begin_glide(&mut self) {
        (self.before, self.over) = (Some([self.last.force.norm(), self.last.torque.norm()]), 0.0);
    }

    /// Returns whether the slope is limited after a change of the scene.
    pub fn glides(&self) -> bool {
        self.before.is_some()
    }

    /// Makes a step that is `share` of the ramp toward a wrench, after a change of the scene. Neither growing nor falling
    /// nor turning is faster than an even ramp to the larger one of the present wrench and that before the change.
    pub fn glide(&mut self, wrench: &Wrench, share: f64) -> Wrench {
        let [force_before, torque_before] = self.before.unwrap_or_default();
        self.over += share;
        let share = share * libm::exp2((self.over - 1.0).max(0.0));
        let (force, slow) = glided(&self.last.force, &wrench.force, force_before, share);
        let (torque, late) = glided(&self.last.torque, &wrench.torque, torque_before, share);
        (self.last, self.lags) = (Wrench { force, torque }, slow || late);
        if self.over >= 1.0 && !self.lags {
            self.before = None;
        }
        self.last
    }
}

/// Moves from the last vector toward the wanted one; returns whether it is not reached.
fn glided(last: &Vec3, wanted: &Vec3, before: f64, share: f64) -> (Vec3, bool) {
    let (change, most) = (wanted - last, share * wanted.norm().max(before));
    let length = change.norm();
    if length <= most + FELT {
        (*wanted, false)
    } else {
        (last + change * (most / length), true)
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

    #[test]
    fn after_a_change_nothing_moves_faster_than_a_ramp() {
        for (from, to) in [
            (force(0.0, 0.0), force(3.0, 4.0)),
            (force(3.0, 4.0), force(0.0, 0.0)),
            (force(5.0, 0.0), force(-5.0, 1.0)),
        ] {
            let mut slew = SlewLimit::default();
            slew.free(&from);
            slew.begin_glide();
            let (mut last, mut n) = (from.force, 0);
            while slew.glides() {
                let felt = slew.glide(&to, 0.01).force;
                // From one ramp time on, twice as fast with each further one.
                let share = 0.01 * (f64::from(n + 1) * 0.01 - 1.0).max(0.0).exp2();
                let most = share * from.force.norm().max(to.force.norm());
                assert!((felt - last).norm() <= most + 2.0 * FELT, "{n}: {felt:?}");
                (last, n) = (felt, n + 1);
            }
            assert!(last == to.force && (100..250).contains(&n), "{last:?} after {n} steps");
        }
    }
}
