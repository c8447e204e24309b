//! `voxshell bench haptics`: what a step and a round of the simulation cost, what constraints hold back, how stable it is, and
//! what happens when something goes wrong. The scenes are those of `voxshell haptics-demo`.
//!
//! Times are of the thread's own clock; everything else is of simulated time, and the same on every machine.

mod constraint;
mod faults;
mod penalty;
mod pushes;
mod stability;
mod times;

use voxshell::{Error, Result};

use super::row::Row;
use super::steps::Steps;
use crate::haptics_demo::kitchen::Kitchen;

/// Steps of a quick run.
const FEW: usize = 2_000;

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

pub fn rows(kitchen: &Kitchen, effort: Effort) -> Result<Vec<Row>> {
    let steps = Steps::new(7);
    let mut rows = Vec::new();
    steps.next("steps");
    times::steps(kitchen, effort, &mut rows)?;
    steps.next("constraint force");
    constraint::rows(effort, &mut rows)?;
    steps.next("simulation");
    times::simulation(kitchen, &mut rows)?;
    steps.next("pushes");
    pushes::rows(kitchen, effort, &mut rows)?;
    steps.next("stability");
    stability::rows(effort, &mut rows)?;
    steps.next("penalty");
    penalty::rows(kitchen, effort, &mut rows)?;
    steps.next("faults");
    faults::rows(&mut rows)?;
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
