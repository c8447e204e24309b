//! Quantities over time, one curve for each renderer.

use voxshell_lab::report::palette::{Colour, BLUE, GREEN, GREY, ORANGE, RED, VIOLET};
use voxshell_lab::report::{Curve, Plot};

use super::session::{Moment, Recording, RendererName};

/// A quantity that is plotted over time.
pub struct Quantity {
    pub name: &'static str,
    title: &'static str,
    value: fn(&Moment) -> f64,
    /// Lowest value of a logarithmic axis; `None` for a linear axis.
    log_from: Option<f64>,
}

/// Quantities of the papers' Figs 6 and 7.
pub const QUANTITIES: [Quantity; 5] = [
    Quantity { name: "force", title: "Force, N", value: |m| m.wrench.force.norm(), log_from: None },
    Quantity { name: "torque", title: "Torque, N·m", value: |m| m.wrench.torque.norm(), log_from: None },
    Quantity { name: "penetration", title: "Penetration, mm", value: |m| m.penetration * 1e3, log_from: None },
    Quantity { name: "contacts", title: "Contacts", value: |m| m.contacts as f64, log_from: None },
    Quantity { name: "time", title: "Time per step, µs", value: |m| m.time_of_step() * 1e6, log_from: Some(0.3) },
];

pub fn colour(renderer: RendererName) -> Colour {
    match renderer {
        RendererName::Vps => GREY,
        RendererName::Penalty => ORANGE,
        RendererName::ContinuousPenalty => VIOLET,
        RendererName::GodObject => BLUE,
        RendererName::Impulse => GREEN,
        RendererName::GodObjectDiscrete => RED,
    }
}

impl Quantity {
    pub fn plot(&self, recordings: &[Recording]) -> Plot {
        let curve = |r: &Recording| Curve {
            name: r.renderer.title().into(),
            colour: colour(r.renderer),
            points: r.moments.iter().map(|m| (m.time, (self.value)(m))).collect(),
        };
        let curves = recordings.iter().map(curve).collect();
        Plot { log_from: self.log_from, ..Plot::over_seconds(self.title, curves) }
    }
}
