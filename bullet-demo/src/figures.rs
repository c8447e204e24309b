//! Computes the figures of one row from its recording.

use serde_json::json;
use voxshell_report::row::Row;

use crate::bridge::{Method, SceneKind, StepFigures};
use crate::catalogue::Case;
use crate::fast_bodies::{is_fast, Passage};
use crate::nut_bolt::sizes::Parts;
use crate::nut_bolt::Threads;
use crate::simulate::Recording;
use crate::stack::Towers;
use crate::trial::Conduct;

/// One scene with one method.
pub struct SceneRow {
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
    /// Narrowphase from the first step with a contact to the end of the run, whatever the window.
    pub np_contact: Spread,
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
    /// The same in the last quarter of the run: at rest, in scenes that come to rest.
    pub max_penetration_late: f64,
    /// Largest depth of a contact as the solver gets it, at any step of the run, millimetres.
    pub max_contact_depth: f64,
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
    pub descent: Option<Descent>,
    pub passage: Option<Passage>,
    pub conduct: Option<Conduct>,
}

/// Mean, quantiles and extreme of times, microseconds; zeros without steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    pub mean: f64,
    pub median: f64,
    pub p99: f64,
    pub worst: f64,
}

impl Spread {
    fn of(mut times: Vec<f64>) -> Self {
        times.sort_unstable_by(f64::total_cmp);
        let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
        let [median, p99, worst] = [0.5, 0.99, 1.0].map(|q| quantile(&times, q));
        Self { mean, median, p99, worst }
    }

    /// Returns the spread of the narrowphase from the first step with a contact on.
    fn from_first_contact(steps: &[StepFigures]) -> Self {
        let first = steps.iter().position(|s| s.contacts > 0).unwrap_or(steps.len());
        Self::of(steps[first..].iter().map(|s| s.narrowphase_ns * 1e-3).collect())
    }
}

/// Means over the steps until the last nut arrives at the head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Descent {
    /// Narrowphase, microseconds per step.
    pub np: f64,
    /// Processor time of all threads in the narrowphase, microseconds per step.
    pub np_processor: f64,
    /// Wall time of the whole step, microseconds.
    pub step: f64,
    pub contacts: f64,
    /// Simulated time over wall time.
    pub real_time_factor: f64,
}

impl Descent {
    pub fn new(recording: &Recording, arrival: usize) -> Self {
        let steps = &recording.steps[..arrival.clamp(1, recording.steps.len())];
        let mean = |f: &dyn Fn(&StepFigures) -> f64| steps.iter().map(f).sum::<f64>() / steps.len() as f64;
        let step = mean(&|s| s.step_wall_ns * 1e-3);
        Self {
            np: mean(&|s| s.narrowphase_ns * 1e-3),
            np_processor: mean(&|s| s.narrowphase_cpu_ns * 1e-3),
            step,
            contacts: mean(&|s| f64::from(s.contacts)),
            real_time_factor: recording.dt * 1e6 / step,
        }
    }
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
        scene if is_fast(scene) || scene == SceneKind::Degenerate => (0, steps),
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
        let last_quarter = recording.steps.len() * 3 / 4;
        let late = &recording.steps[last_quarter..];
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
            np_contact: Spread::from_first_contact(&recording.steps),
            step_mean: mean(&|i| steps[i].step_ns * 1e-6),
            pairs_mean: mean(&|i| f64::from(steps[i].pairs)),
            samples: Vec::new(),
            clamp_mean: mean(&|i| steps[i].clamp_ns * 1e-3),
            contacts_mean: mean(&|i| f64::from(steps[i].contacts)),
            manifolds_mean: mean(&|i| f64::from(steps[i].manifolds)),
            max_penetration: deepest(from),
            max_penetration_run: deepest(0),
            max_penetration_late: deepest(last_quarter),
            max_contact_depth: recording.steps.iter().map(|s| s.contact_depth * 1e3).fold(0.0, f64::max),
            resting_gap: gaps.last().map(|g| g.1 * 1e3).filter(|_| !scene.many()),
            kinetic_energy: recording.steps.last().map_or(0.0, |s| s.kinetic_energy),
            kinetic_energy_late: late.iter().map(|s| s.kinetic_energy).fold(0.0, f64::max),
            rebound: None,
            pile: None,
            towers: None,
            np_at_rest: (scene == SceneKind::Rolling).then(|| at_rest(&recording.steps)),
            threads: None,
            descent: None,
            passage: None,
            conduct: None,
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

impl SceneRow {
    /// Returns the figures as JSON, with units in the keys.
    pub fn json(&self) -> Row {
        let mut row = Row::from(json!({ "scene": self.scene.entry().name, "method": self.method.entry().name }));
        if let Some(e) = self.case.restitution {
            row.put("restitution", e);
        }
        if let Some(rate) = self.case.rate {
            row.put("rate_hz", rate);
        }
        if let Some(level) = self.case.level {
            row.put("level", level);
        }
        if self.case.by_region {
            row.put("by_region", true);
        }
        if let Some(drive) = self.case.drive {
            row.put("drive", drive.name());
        }
        if let Some(trial) = self.case.trial {
            row.put("case", trial.name);
        }
        if let Some(cells) = self.case.cells {
            row.put("cells", cells);
        }
        if self.case.edges {
            row.put("edges", true);
        }
        if self.case.swept_spheres {
            row.put("swept_spheres", true);
        }
        let f = match &self.outcome {
            Ok(figures) => figures,
            Err(reason) => {
                row.put("skipped", reason.as_str());
                return row;
            }
        };
        row.put("steps", f.steps);
        row.put("steps_wanted", f.steps_wanted);
        row.put("window", [f.window.0, f.window.1]);
        row.put("np_mean_us", f.np_mean);
        row.put("np_median_us", f.np_median);
        row.put("np_p99_us", f.np_p99);
        row.put("np_max_us", f.np_max);
        row.put("np_contact_mean_us", f.np_contact.mean);
        row.put("np_contact_median_us", f.np_contact.median);
        row.put("np_contact_p99_us", f.np_contact.p99);
        row.put("np_contact_worst_us", f.np_contact.worst);
        row.put("np_per_pair_us", f.np_per_pair());
        row.put("step_mean_ms", f.step_mean);
        row.put("pairs_mean", f.pairs_mean);
        if !f.samples.is_empty() {
            row.put("samples", f.samples.clone());
        }
        row.put("contacts_mean", f.contacts_mean);
        row.put("manifolds_mean", f.manifolds_mean);
        row.put("max_penetration_mm", f.max_penetration);
        row.put("max_penetration_run_mm", f.max_penetration_run);
        row.put("max_penetration_late_mm", f.max_penetration_late);
        row.put("resting_gap_mm", f.resting_gap);
        row.put("kinetic_energy_j", f.kinetic_energy);
        row.put("kinetic_energy_late_j", f.kinetic_energy_late);
        row.put("threads", self.case.threads.unwrap_or(1));
        if let Some(r) = f.rebound {
            row.put("rebound_height_m", r.height);
            row.put("rebound_error_pct", r.error);
        }
        if let Some(t) = f.threads {
            row.put("parts", self.case.parts.unwrap_or(Parts::M16).name());
            row.put("pitch_mm", t.pitch * 1e3);
            row.put("np_mean_us_per_nut", f.np_mean / t.nuts as f64);
            row.put("np_p99_us_per_nut", f.np_p99 / t.nuts as f64);
            row.put("turns", t.turns);
            row.put("travel_per_turn_error_pct", t.travel_error);
            row.put("pitch_error_pct", t.pitch_error);
            row.put("off_helix_mm", t.off_helix);
            row.put("worst_jump_mm", t.jump);
            row.put("tilt_rad", t.tilt);
            row.put("nuts", t.nuts);
            row.put("arrived_at_head", t.arrived);
            row.put("stopped_at_head", t.stopped);
            row.put("rest_height_mm", t.rest_height);
            row.put("max_contact_depth_mm", f.max_contact_depth);
            row.put("contacts_mean_per_nut", f.contacts_mean / t.nuts as f64);
            if let Some(d) = f.descent {
                let nuts = t.nuts as f64;
                row.put("descent_steps", t.arrival);
                row.put("descent_np_us_per_nut", d.np / nuts);
                row.put("descent_np_processor_us_per_nut", d.np_processor / nuts);
                row.put("descent_step_us_per_nut", d.step / nuts);
                row.put("descent_contacts_per_nut", d.contacts / nuts);
                row.put("descent_real_time_factor", d.real_time_factor);
            }
        }
        if let Some(p) = f.pile {
            row.put("lost_bodies", p.lost);
            row.put("spilled_bodies", p.spilled);
        }
        if let Some(t) = f.towers {
            row.put("standing_bodies", t.standing);
            row.put("stacked_bodies", t.bodies);
            row.put("stands_s", t.stands);
            row.put("height_m", t.height);
            row.put("built_height_m", t.built_height);
            row.put("drift_mm", t.drift);
        }
        if let Some(rest) = f.np_at_rest {
            row.put("np_at_rest_us", rest);
            row.put("moving_over_rest", f.np_mean / rest);
        }
        if let Some(p) = f.passage {
            row.put("movers", p.movers);
            row.put("through", p.through);
            row.put("final_speed_m_per_s", p.final_speed);
            row.put("clamp_mean_us", f.clamp_mean);
        }
        if let Some(c) = f.conduct {
            let mut put = |key: &str, value: Option<f64>| {
                if let Some(value) = value {
                    row.put(key, value);
                }
            };
            put("energy_gained_j", c.energy_gained);
            put("drift_mm", c.drift);
            if let (Some(expected), Some(ending)) = (c.expected, c.ending) {
                row.put("expected", expected.name());
                row.put("ending", ending.name());
                row.put("as_expected", c.as_expected());
            }
        }
        row
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
    fn spread_begins_with_the_first_contact() {
        let step = |contacts, us: f64| StepFigures { contacts, narrowphase_ns: us * 1e3, ..StepFigures::default() };
        let steps = [step(0, 900.0), step(4, 100.0), step(0, 1.0), step(4, 2.0)];
        let spread = Spread::from_first_contact(&steps);
        assert_eq!(spread, Spread { mean: 103.0 / 3.0, median: 2.0, p99: 100.0, worst: 100.0 });
        assert_eq!(Spread::from_first_contact(&steps[..1]), Spread::default());
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
