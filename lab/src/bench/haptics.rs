//! `voxshell-lab bench haptics`: cost of a servo step and of a simulation round, penetration under constraints,
//! stability, and response to faults. The scenes are those of `voxshell-lab haptics-demo`.
//!
//! Times are of the thread's clock; all other figures are of simulated time and the same on every machine.

mod bodies;
mod constraint;
mod faults;
mod insertion;
mod penalty;
mod pushes;
mod stability;
mod times;

use clap::ValueEnum;
use voxshell::{Error, Result};

use super::progress::Steps;
use crate::haptics_demo::asset_cache::AssetCache;
use voxshell_lab::row::Row;

/// Number of steps of a quick run.
const FEW: u64 = 2_000;

/// Parts of the benchmark, in the order in which they run.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// A step of the servo.
    Steps,
    /// The constraint force alone.
    Constraint,
    /// A round of the simulation.
    Simulation,
    /// Hard pushes of the god-object.
    Pushes,
    /// Random tools pulled slowly through random bodies, with each renderer.
    Bodies,
    /// Rounds of the simulation among random bodies, with the renderers that test edges.
    Rounds,
    /// Pegs put into tight holes by a hand with a spring.
    Insertion,
    /// Stability of the whole loop.
    Stability,
    /// Discrete compared with continuous penalty, and braking.
    Penalty,
    /// Faulty input from a device.
    Faults,
}

/// Extent of the measurements.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Number of timed servo steps.
    pub steps: u64,
    /// Number of pushes in all scenes together.
    pub pushes: usize,
    quick: bool,
}

impl Effort {
    pub fn new(quick: bool, steps: Option<u64>, pushes: Option<usize>) -> Self {
        let few = if quick { FEW } else { 1_000_000 };
        Self { steps: steps.unwrap_or(few), pushes: pushes.unwrap_or(few as usize), quick }
    }

    pub fn quick(self) -> bool {
        self.quick
    }
}

pub fn rows(assets: &AssetCache, effort: Effort, parts: &[Part]) -> Result<Vec<Row>> {
    let wanted: Vec<Part> =
        Part::value_variants().iter().copied().filter(|part| parts.is_empty() || parts.contains(part)).collect();
    let steps = Steps::new(wanted.len());
    let mut rows = Vec::new();
    for part in wanted {
        let name = part.to_possible_value();
        steps.next(name.as_ref().map_or("", |value| value.get_name()));
        match part {
            Part::Steps => times::steps(assets, effort, &mut rows)?,
            Part::Constraint => constraint::rows(effort, &mut rows)?,
            Part::Simulation => times::simulation(assets, &mut rows)?,
            Part::Pushes => pushes::rows(assets, effort, &mut rows)?,
            Part::Bodies => bodies::rows(effort, &mut rows)?,
            Part::Rounds => bodies::rounds(effort, &mut rows)?,
            Part::Insertion => insertion::rows(assets, effort, &mut rows)?,
            Part::Stability => stability::rows(effort, &mut rows)?,
            Part::Penalty => penalty::rows(assets, effort, &mut rows)?,
            Part::Faults => faults::rows(&mut rows)?,
        }
    }
    Ok(rows)
}

/// Returns `None`, and prints a notice, for a renderer that the present bodies do not support.
fn supported<T>(what: &str, made: Result<T>) -> Result<Option<T>> {
    match made {
        Err(Error::Unsupported(why)) => {
            eprintln!("no rows of {what}: {why}");
            Ok(None)
        }
        made => made.map(Some),
    }
}
