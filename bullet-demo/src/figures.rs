//! Computes the figures of one row from its recording.

use serde_json::{json, Map, Value};

use crate::bridge::{Method, SceneKind, StepFigures};
use crate::catalogue::Case;
use crate::fast_bodies::{is_fast, Passage};
use crate::nut_bolt::Threads;
use crate::simulate::Recording;
use crate::stack::Towers;

/// One row of the comparison.
pub struct Row {
    pub scene: SceneKind,
    pub method: Method,
    pub case: Case,
    /// The figures, or the reason for their absence.
    pub outcome: Result<Figures, String>,
}

/// Means, quantiles and extremes over the steps of `window`, unless said otherwise.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Bodies of models that are not fixed.
    pub bodies: usize,
    pub steps: usize,
    pub steps_wanted: usize,
    /// First step and one past the last step.
    pub window: (usize, usize),
    /// Narrowphase, microseconds per step; includes the motion clamp if there is one.
    pub np_mean: f64,
    pub np_median: f64,
    pub np_p99: f64,
    pub np_max: f64,
    /// The whole step, milliseconds.
    pub step_mean: f64,
    /// Pairs whose boxes overlap.
    pub pairs_mean: f64,
    /// Samples of each model's pointshell; empty for the stock methods.
    pub samples: Vec<usize>,
    /// The motion clamp alone, microseconds per step.
    pub clamp_mean: f64,
    pub contacts_mean: f64,
    pub manifolds_mean: f64,
    /// Largest penetration of the true meshes, millimetres; 0 when nothing penetrates.
    pub max_penetration: f64,
    /// The same over the whole run, the impact included.
    pub max_penetration_run: f64,
    /// Smallest distance between the true meshes at the end, millimetres; negative when they penetrate.
    pub resting_gap: Option<f64>,
    /// Kinetic energy at the end, joules.
    pub kinetic_energy: f64,
    /// Largest kinetic energy over the last quarter of the run, joules.
    pub kinetic_energy_late: f64,
    pub rebound: Option<Rebound>,
    pub pile: Option<Pile>,
    pub towers: Option<Towers>,
    /// Narrowphase in the last tenth of the run, microseconds per step, for bodies that were driven and then came to
    /// rest.
    pub np_at_rest: Option<f64>,
    pub threads: Option<Threads>,
    pub passage: Option<Passage>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rebound {
    /// Greatest height after the first contact, metres.
    pub height: f64,
    /// Relative error of the height, (height − e² h) / (e² h), percent.
    pub error: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pile {
    /// Bodies that passed through the bowl's wall.
    pub lost: usize,
    /// Bodies that left over the rim.
    pub spilled: usize,
}

/// Returns the steps over which figures are computed: 200 to 600 of 600, and the same fraction of other runs. In this
/// range all bodies of the pile are poured and driven bodies are still driven. All steps for scenes where the impact
/// counts.
pub fn window(scene: SceneKind, steps: usize) -> (usize, usize) {
    match scene {
        SceneKind::Pile => (steps / 2, steps),
        SceneKind::Pile500 | SceneKind::Pile2000 => (steps - steps / 4, steps),
        SceneKind::Rolling => (steps / 6, steps / 2),
        // The whole way down, and the rest on the head.
        scene if scene.has_threads() => (0, steps),
        scene if is_fast(scene) => (0, steps),
        _ => (steps / 3, steps),
    }
}

impl Figures {
    /// Computes the figures that follow from the recording alone; `gaps` are (step, metres between the true meshes,
    /// negative when penetrating).
    pub fn new(scene: SceneKind, recording: &Recording, gaps: &[(usize, f64)]) -> Self {
        let (from, to) = window(scene, recording.steps.len());
        let steps = &recording.steps[from..to];
        let mut times: Vec<f64> = steps.iter().map(|s| s.narrowphase_ns * 1e-3).collect();
        times.sort_unstable_by(f64::total_cmp);
        let late = &recording.steps[recording.steps.len() * 3 / 4..];
        let mean = |f: &dyn Fn(usize) -> f64| (0..steps.len()).map(f).sum::<f64>() / steps.len().max(1) as f64;
        // The recording's poses start one before its steps: the pose after step i is at i + 1.
        let deepest = |first: usize| gaps.iter().filter(|g| g.0 > first).map(|g| -g.1).fold(0.0, f64::max) * 1e3;
        Self {
            bodies: recording.bodies.iter().filter(|b| !b.fixed).count(),
            steps: recording.steps.len(),
            steps_wanted: recording.wanted,
            window: (from, to),
            np_mean: mean(&|i| steps[i].narrowphase_ns * 1e-3),
            np_median: quantile(&times, 0.5),
            np_p99: quantile(&times, 0.99),
            np_max: quantile(&times, 1.0),
            step_mean: mean(&|i| steps[i].step_ns * 1e-6),
            pairs_mean: mean(&|i| f64::from(steps[i].pairs)),
            samples: Vec::new(),
            clamp_mean: mean(&|i| steps[i].clamp_ns * 1e-3),
            contacts_mean: mean(&|i| f64::from(steps[i].contacts)),
            manifolds_mean: mean(&|i| f64::from(steps[i].manifolds)),
            max_penetration: deepest(from),
            max_penetration_run: deepest(0),
            resting_gap: gaps.last().map(|g| g.1 * 1e3).filter(|_| !scene.many()),
            kinetic_energy: recording.steps.last().map_or(0.0, |s| s.kinetic_energy),
            kinetic_energy_late: late.iter().map(|s| s.kinetic_energy).fold(0.0, f64::max),
            rebound: None,
            pile: None,
            towers: None,
            np_at_rest: (scene == SceneKind::Rolling).then(|| at_rest(&recording.steps)),
            threads: None,
            passage: None,
        }
    }

    /// Returns the narrowphase per pair of overlapping boxes, microseconds.
    pub fn np_per_pair(&self) -> f64 {
        self.np_mean / self.pairs_mean.max(1.0)
    }
}

/// Returns the narrowphase in the last tenth of the run, microseconds per step.
fn at_rest(steps: &[StepFigures]) -> f64 {
    let last = &steps[steps.len() - steps.len().div_ceil(10)..];
    last.iter().map(|s| s.narrowphase_ns * 1e-3).sum::<f64>() / last.len().max(1) as f64
}

/// Returns the smallest value that at least the fraction `q` of the sorted values does not exceed.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(0.0)
}

/// Returns the first rebound of a ball released from a gap of `drop` metres; `gaps` as in [`Figures::new`].
pub fn rebound(gaps: &[(usize, f64)], drop: f64, restitution: f64) -> Option<Rebound> {
    let lowest = gaps.windows(2).position(|w| w[1].1 > w[0].1)?;
    let after = &gaps[lowest..];
    let highest = after.windows(2).position(|w| w[1].1 < w[0].1).unwrap_or(after.len() - 1);
    let (height, ideal) = (after[highest].1, restitution * restitution * drop);
    Some(Rebound { height, error: 100.0 * (height - ideal) / ideal })
}

impl Row {
    /// Returns the figures as JSON, with units in the keys.
    pub fn json(&self) -> Value {
        let mut o = Map::new();
        let mut put = |key: &str, value: Value| {
            o.insert(key.into(), value);
        };
        put("scene", json!(self.scene.entry().name));
        put("method", json!(self.method.entry().name));
        if let Some(e) = self.case.restitution {
            put("restitution", json!(e));
        }
        if let Some(rate) = self.case.rate {
            put("rate_hz", json!(rate));
        }
        if let Some(level) = self.case.level {
            put("level", json!(level));
        }
        if self.case.by_region {
            put("by_region", json!(true));
        }
        if let Some(drive) = self.case.drive {
            put("drive", json!(drive.name()));
        }
        if self.case.swept_spheres {
            put("swept_spheres", json!(true));
        }
        let f = match &self.outcome {
            Ok(figures) => figures,
            Err(reason) => {
                put("skipped", json!(reason));
                return Value::Object(o);
            }
        };
        put("steps", json!(f.steps));
        put("steps_wanted", json!(f.steps_wanted));
        put("window", json!([f.window.0, f.window.1]));
        put("np_mean_us", json!(f.np_mean));
        put("np_median_us", json!(f.np_median));
        put("np_p99_us", json!(f.np_p99));
        put("np_max_us", json!(f.np_max));
        put("np_per_pair_us", json!(f.np_per_pair()));
        put("step_mean_ms", json!(f.step_mean));
        put("pairs_mean", json!(f.pairs_mean));
        if !f.samples.is_empty() {
            put("samples", json!(f.samples));
        }
        put("contacts_mean", json!(f.contacts_mean));
        put("manifolds_mean", json!(f.manifolds_mean));
        put("max_penetration_mm", json!(f.max_penetration));
        put("max_penetration_run_mm", json!(f.max_penetration_run));
        put("resting_gap_mm", json!(f.resting_gap));
        put("kinetic_energy_j", json!(f.kinetic_energy));
        put("kinetic_energy_late_j", json!(f.kinetic_energy_late));
        if let Some(r) = f.rebound {
            put("rebound_height_m", json!(r.height));
            put("rebound_error_pct", json!(r.error));
        }
        if let Some(t) = f.threads {
            put("np_mean_us_per_nut", json!(f.np_mean / t.nuts as f64));
            put("np_p99_us_per_nut", json!(f.np_p99 / t.nuts as f64));
            put("turns", json!(t.turns));
            put("travel_per_turn_error_pct", json!(t.travel_error));
            put("off_helix_mm", json!(t.off_helix));
            put("worst_jump_mm", json!(t.jump));
            put("tilt_rad", json!(t.tilt));
            put("nuts", json!(t.nuts));
            put("stopped_at_head", json!(t.stopped));
        }
        if let Some(p) = f.pile {
            put("lost_bodies", json!(p.lost));
            put("spilled_bodies", json!(p.spilled));
        }
        if let Some(t) = f.towers {
            put("standing_bodies", json!(t.standing));
            put("stacked_bodies", json!(t.bodies));
            put("stands_s", json!(t.stands));
            put("height_m", json!(t.height));
            put("built_height_m", json!(t.built_height));
            put("drift_mm", json!(t.drift));
        }
        if let Some(rest) = f.np_at_rest {
            put("np_at_rest_us", json!(rest));
            put("moving_over_rest", json!(f.np_mean / rest));
        }
        if let Some(p) = f.passage {
            put("movers", json!(p.movers));
            put("through", json!(p.through));
            put("final_speed_m_per_s", json!(p.final_speed));
            put("clamp_mean_us", json!(f.clamp_mean));
        }
        Value::Object(o)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occurred() {
        let v: Vec<f64> = (1..=400).map(f64::from).collect();
        assert_eq!([0.5, 0.99, 1.0].map(|q| quantile(&v, q)), [200.0, 396.0, 400.0]);
        assert_eq!(quantile(&[], 0.5), 0.0);
    }

    #[test]
    fn rebound_is_the_first_top_after_the_first_bottom() {
        let heights = [1.0, 0.6, 0.1, -0.001, 0.1, 0.24, 0.2, 0.05, 0.3];
        let gaps: Vec<(usize, f64)> = heights.iter().copied().enumerate().collect();
        let r = rebound(&gaps, 1.0, 0.5).unwrap();
        assert_eq!(r.height, 0.24);
        assert!((r.error + 4.0).abs() < 1e-9);
        assert_eq!(rebound(&gaps[..3], 1.0, 0.5), None);
    }
}
