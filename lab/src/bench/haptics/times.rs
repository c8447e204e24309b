//! Measures the time of a servo step and of a simulation round.

use std::hint::black_box;
use std::time::Instant;

use voxshell::haptics::{self, DeviceState, Settings};
use voxshell::Result;

use super::{supported, Effort};
use crate::haptics_demo::asset_cache::AssetCache;
use crate::haptics_demo::scenes::SceneName;
use crate::haptics_demo::session::{play, quantile, RendererName, LIMITS};
use voxshell_lab::clock::of_thread;
use voxshell_lab::row::Row;

/// Period of the servo, seconds: 10 kHz. The simulation runs at 100 Hz beside it.
const PERIOD: f64 = 1e-4;
const STEPS_EACH: u64 = 100;

/// Additions that take about as long as a step: what the machine alone adds to one.
const ADDITIONS: u32 = 700;

/// Times of any number of steps, counted by hundredths of a microsecond up to a millisecond.
struct Histogram {
    counts: Vec<u64>,
    longest: f64,
}

impl Histogram {
    const WIDTH: f64 = 0.01;

    fn new() -> Self {
        Self { counts: vec![0; 100_001], longest: 0.0 }
    }

    fn add(&mut self, microseconds: f64) {
        let last = self.counts.len() - 1;
        self.counts[((microseconds / Self::WIDTH) as usize).min(last)] += 1;
        self.longest = self.longest.max(microseconds);
    }

    /// Returns the time that a fraction of the steps does not exceed, µs.
    fn quantile(&self, fraction: f64) -> f64 {
        let within = (fraction * self.counts.iter().sum::<u64>() as f64).ceil() as u64;
        let mut sum = 0;
        let bin = self.counts.iter().position(|n| {
            sum += n;
            sum >= within
        });
        ((bin.unwrap_or(0) + 1) as f64 * Self::WIDTH).min(self.longest)
    }
}

/// Measures the servo alone, repeatedly through the peg scene; counts only steps while contacts are published.
pub fn steps(assets: &AssetCache, effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    let stage = SceneName::Peg.build(assets)?;
    for renderer in RendererName::ALL {
        let settings = Settings::for_tool(renderer.renderer(), &stage.tool, &LIMITS)?;
        let made = haptics::new(settings, stage.tool.clone(), stage.obstacles.clone());
        let Some((mut servo, mut simulation)) = supported(renderer.name(), made)? else { continue };
        let (mut times, mut machine) = (Histogram::new(), Histogram::new());
        let period = (stage.motion.duration() / PERIOD) as u64;
        let (mut timed, mut contacts, mut progress) = (0, 0.0, Instant::now());
        // The hand moves back and forth; it is in contact more than half of the time.
        for step in 0..20 * (effort.steps + period) {
            let (round, at) = (step / period, step % period);
            let at = if round % 2 == 0 { at } else { period - at };
            let (pose, mut twist) = stage.motion.at(at as f64 * PERIOD);
            if round % 2 == 1 {
                (twist.linear, twist.angular) = (-twist.linear, -twist.angular);
            }
            let (seconds, output) = of_thread(|| servo.step(&DeviceState { pose, twist, engaged: true }, PERIOD));
            if output.contacts > 0 {
                times.add(seconds * 1e6);
                let (seconds, _) = of_thread(|| (0..ADDITIONS).fold(0.0, |sum, k| black_box(sum + f64::from(k))));
                machine.add(seconds * 1e6);
                timed += 1;
                contacts += f64::from(output.contacts);
            }
            if step % STEPS_EACH == 0 {
                simulation.simulate();
            }
            if timed >= effort.steps {
                break;
            }
            if progress.elapsed().as_secs() >= 10 {
                eprintln!("{}: {timed} of {} steps", renderer.name(), effort.steps);
                progress = Instant::now();
            }
        }
        for (name, q, target) in [("p50", 0.5, 3.0), ("p99_9", 0.999, 50.0), ("p99_99", 0.9999, 50.0)] {
            let row = Row::new(format!("haptics/step/{}/{name}", renderer.name()), times.quantile(q), "us");
            let mean = contacts / timed.max(1) as f64;
            let row = row.peer("additions alone", machine.quantile(q));
            rows.push(row.target(target).with("steps", timed).with("contacts_mean", mean));
        }
    }
    Ok(())
}

/// Measures rounds of the simulation with contacts, in the scenes of the papers.
pub fn simulation(assets: &AssetCache, rows: &mut Vec<Row>) -> Result<()> {
    for scene in [SceneName::Alpha, SceneName::Peg, SceneName::HorseDragon, SceneName::Wires] {
        let stage = scene.build(assets)?;
        for renderer in RendererName::ALL {
            let Some(recording) = supported(renderer.name(), play(&stage, renderer, || {}))? else { continue };
            let touching = || recording.moments.iter().filter(|m| m.contacts > 0);
            let mut times: Vec<f64> = touching().map(|m| m.simulate * 1e6).collect();
            if times.is_empty() {
                eprintln!("no rows of {} in {}: it touched nothing", renderer.name(), scene.name());
                continue;
            }
            let count = times.len() as f64;
            let mean = times.iter().sum::<f64>() / count;
            let contacts = touching().map(|m| f64::from(m.contacts)).sum::<f64>() / count;
            for (name, value, target) in [("mean", mean, 100.0), ("p99", quantile(&mut times, 0.99), 500.0)] {
                let row =
                    Row::new(format!("haptics/simulate/{}/{}/{name}", scene.name(), renderer.name()), value, "us");
                let row = row.target(target).with("samples", stage.samples()).with("cells", stage.cells());
                rows.push(row.with("rounds", times.len()).with("contacts_mean", contacts));
            }
        }
    }
    Ok(())
}
