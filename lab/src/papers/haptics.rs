//! The haptic experiments that are figures of numbers: stability of penalty contacts (Xu & Barbič 2016, figure 10), braking
//! before contact (McNeely et al. 1999), constraint forces (Ortega et al. 2007). The scenes with pictures are those of
//! `voxshell-lab haptics-demo`.

use voxshell::Result;

use super::{Context, Outcome};
use crate::bench::haptics::{rows, Effort, Part};

pub fn run(context: &Context) -> Result<Outcome> {
    let effort = Effort::new(context.quick, None, Some(if context.quick { 100 } else { 20_000 }));
    let parts = [Part::Constraint, Part::Simulation, Part::Penalty];
    Ok(Outcome { rows: rows(&context.assets, effort, &parts)?, ..Outcome::default() })
}
