//! Strip-through: random wrenches on a nut, and whether it leaves its helix, by the rate of the steps.

use voxshell::math::Vec3;
use voxshell_report::row::Row;

use crate::bridge::Method;
use crate::decompose::Decomposer;
use crate::nut_bolt::options::NutOptions;
use crate::nut_bolt::rig::{Pair, Rig};
use crate::nut_bolt::sizes::Parts;
use crate::scaling::Rng;

/// Rates of the steps, 1/s.
pub const RATES: [f64; 5] = [60.0, 120.0, 240.0, 500.0, 2000.0];
/// Rate from which no nut may leave its helix.
const SAFE: f64 = 240.0;
/// Distance from the helix beyond which a nut has jumped, pitches.
const JUMP: f64 = 0.25;
/// Turns above the head at the start, and turns from there within which a wrench is watched: the nut is on the full
/// thread.
const TURNS: f64 = 3.0;
const WATCHED: f64 = 2.5;
/// Time of one wrench, seconds: three steps of the lowest rate.
const SECONDS: f64 = 0.05;
/// Friction between nut and bolt: dry steel, at which the thread locks.
const STEEL: f64 = 0.15;
/// Velocity that a blow gives the free nut, m/s, and force of a pull over the nut's weight; log-uniform.
const BLOWS: [f64; 2] = [0.1, 10.0];
const PULLS: [f64; 2] = [1.0, 1000.0];
const GRAVITY: f64 = 10.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An impulse along the axis.
    Hammer,
    /// An impulse across the axis, at the upper face.
    Tap,
    /// A constant force along the axis.
    Pull,
    /// A constant torque across the axis: that of a pull at the nut's radius of gyration.
    Tilt,
}

pub const KINDS: [Kind; 4] = [Kind::Hammer, Kind::Tap, Kind::Pull, Kind::Tilt];

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Hammer => "hammer",
            Self::Tap => "tap",
            Self::Pull => "pull",
            Self::Tilt => "tilt",
        }
    }
}

/// Outcome of the wrenches of one kind at one rate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub wrenches: usize,
    pub jumps: usize,
    /// Largest distance from the helix, metres.
    pub off_helix: f64,
}

fn log_uniform(rng: &mut Rng, [low, high]: [f64; 2]) -> f64 {
    low * (high / low).powf(0.5 * (rng.next() + 1.0))
}

/// Applies one wrench to the nut at its start and returns its largest distance from the helix, metres.
fn largest_distance(rig: &mut Rig, kind: Kind, rng: &mut Rng) -> f64 {
    rig.reset();
    let sign = if rng.next() < 0.0 { -1.0 } else { 1.0 };
    let angle = std::f64::consts::PI * rng.next();
    let across = Vec3::new(angle.cos(), 0.0, angle.sin());
    let (blow, pull) = (log_uniform(rng, BLOWS) * rig.mass, log_uniform(rng, PULLS) * GRAVITY * rig.mass);
    let gyration = (rig.moment / rig.mass).sqrt();
    let (dt, zero) = (rig.dt(), Vec3::zeros());
    // A blow is an impulse in one step; forces and torques last. A torque acts as an impulse in each step.
    let (once, lasting) = match kind {
        Kind::Hammer => ((Vec3::y() * (sign * blow), zero), (zero, zero)),
        Kind::Tap => {
            let impulse = across * blow;
            ((impulse, Vec3::y().cross(&impulse) * (0.5 * rig.height)), (zero, zero))
        }
        Kind::Pull => ((zero, zero), (Vec3::y() * (sign * pull), zero)),
        Kind::Tilt => ((zero, zero), (zero, across * (pull * gyration * dt))),
    };
    let weight = Vec3::y() * (-GRAVITY * rig.mass);
    let steps = (SECONDS / dt).ceil() as usize;
    // The blow falls in the first half.
    let blow_at = (0.25 * (rng.next() + 1.0) * steps as f64) as usize;
    let mut largest: f64 = 0.0;
    for step in 0..steps {
        let (impulse, angular) = if step == blow_at { once } else { (zero, zero) };
        rig.load(weight + lasting.0);
        let state = rig.step(impulse, lasting.1 + angular);
        largest = largest.max(state.off_helix.abs());
        if state.turns.abs() > WATCHED || largest > JUMP * rig.pitch {
            break;
        }
    }
    largest
}

/// Applies `wrenches` wrenches at a rate, of all kinds in turn.
pub fn tally(rig: &mut Rig, wrenches: usize, mut tick: impl FnMut()) -> [Tally; 4] {
    let mut rng = Rng(9);
    let mut tallies = [Tally::default(); 4];
    rig.set_friction(STEEL);
    for i in 0..wrenches {
        let tally = &mut tallies[i % KINDS.len()];
        let distance = largest_distance(rig, KINDS[i % KINDS.len()], &mut rng);
        tally.wrenches += 1;
        tally.jumps += usize::from(distance.is_nan() || distance > JUMP * rig.pitch);
        tally.off_helix = tally.off_helix.max(distance);
        tick();
    }
    tallies
}

/// Gives one row for each rate and kind to `emit`, as soon as a rate is finished.
pub fn rows(
    method: Method,
    wrenches: usize,
    options: &NutOptions,
    decomposer: &Decomposer,
    mut emit: impl FnMut(Row),
) -> Result<(), String> {
    let parts = if options.files.is_some() { Parts::Files } else { Parts::M16 };
    let pair = Pair::new(parts, options).map_err(|e| e.to_string())?;
    let rates = options.rate.map_or(RATES.to_vec(), |rate| vec![rate]);
    for rate in rates {
        let mut rig = pair.rig(method, rate, TURNS, options.iterations, decomposer)?;
        decomposer.progress.start(&format!("{} at {rate} Hz", parts.name()), wrenches);
        let tallies = tally(&mut rig, wrenches, || decomposer.progress.tick());
        for (kind, tally) in KINDS.iter().zip(tallies) {
            emit(
                Row::new(format!("{} {}, {rate} Hz", parts.name(), kind.name()), tally.jumps as f64, "jumps")
                    .target((rate >= SAFE).then_some(0.0))
                    .with("parts", parts.name())
                    .with("method", method.entry().name)
                    .with("kind", kind.name())
                    .with("rate_hz", rate)
                    .with("wrenches", tally.wrenches)
                    .with("off_helix_mm", tally.off_helix * 1e3)
                    .with("limit_mm", JUMP * pair.pitch * 1e3)
                    .with("iterations", options.iterations),
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_uniform_values_stay_in_their_range() {
        let mut rng = Rng(1);
        let values: Vec<f64> = (0..1000).map(|_| log_uniform(&mut rng, [0.1, 10.0])).collect();
        assert!(values.iter().all(|v| (0.1..=10.0).contains(v)));
        let small = values.iter().filter(|v| **v < 1.0).count();
        assert!((400..600).contains(&small), "{small}");
    }
}
