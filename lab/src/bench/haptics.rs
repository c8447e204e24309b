//! `voxshell-lab bench haptics`: what a step and a round of the simulation cost, what constraints hold back, how stable it is, and
//! what happens when something goes wrong. The scenes are those of `voxshell-lab haptics-demo`.
//!
//! Times are of the thread's own clock; everything else is of simulated time, and the same on every machine.

mod constraint;
mod faults;
mod penalty;
mod pushes;
mod stability;
mod times;

use clap::ValueEnum;
use voxshell::{Error, Result};

use super::progress::Steps;
use crate::haptics_demo::asset_cache::AssetCache;
use voxshell_lab::row::Row;

/// Steps of a quick run.
const FEW: usize = 2_000;

/// What is measured, in this order.
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
    /// Of the whole loop.
    Stability,
    /// Discrete penalty beside continuous, and braking.
    Penalty,
    /// What a device may say that is wrong.
    Faults,
}

/// How much is done.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Steps of the servo that are timed.
    pub steps: usize,
    /// In all scenes together.
    pub pushes: usize,
}

impl Effort {
    pub fn new(quick: bool, pushes: Option<usize>) -> Self {
        let steps = if quick { FEW } else { 1_000_000 };
        Self { steps, pushes: pushes.unwrap_or(steps) }
    }

    pub fn quick(self) -> bool {
        self.steps <= FEW
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
            Part::Stability => stability::rows(effort, &mut rows)?,
            Part::Penalty => penalty::rows(assets, effort, &mut rows)?,
            Part::Faults => faults::rows(&mut rows)?,
        }
    }
    Ok(rows)
}

/// `None`, and a word about it, for a renderer that cannot run with what there is.
fn supported<T>(what: &str, made: Result<T>) -> Result<Option<T>> {
    match made {
        Err(Error::Unsupported(why)) => {
            eprintln!("no rows of {what}: {why}");
            Ok(None)
        }
        made => made.map(Some),
    }
}
