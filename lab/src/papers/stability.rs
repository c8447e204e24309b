//! Xu & Barbič 2014, figure 6, and 2016, figure 10, with the two further comparisons of their section 5: the depth of the discrete
//! method at the continuous one's longest step, with the stiffness that it bears there (paper: 2.75 times as deep); and the longest
//! steps of both at one depth (paper: 2.6 times as long).
//!
//! The loop is the papers': contacts over the motion of the step, in both roles, penalty and damping (2014, equation 10) integrated
//! over the intervals by the midpoint rule with 20 points, the mean force of a step acts in the next one, symplectic Euler.

use voxshell::response::PenaltySettings;
use voxshell::Result;
use voxshell_lab::report::palette::{BLUE, ORANGE};
use voxshell_lab::report::{Curve, Plot};
use voxshell_lab::row::Row;
use voxshell_lab::scene::Contacts;
use voxshell_lab::stability::{largest_stable, Pile};

use super::{Context, Outcome};
use crate::haptics_demo::stability;

const PAPER: &str = "Xu & Barbič 2014, 2016";
/// The papers' methods.
const DISCRETE: Contacts = Contacts::Discrete;
const CONTINUOUS: Contacts = Contacts::Continuous { midpoints: 20 };

pub fn run(context: &Context) -> Result<Outcome> {
    let quick = context.quick;
    let mut pile = stability::pile(&context.assets)?;
    if !quick {
        // Enough bodies to lie on each other, few enough for some ten runs of each kind.
        (pile.count, pile.time) = (8, 1.5);
    }
    let tolerance = if quick { 3.0 } else { 0.07 };
    let longest =
        |contacts: Contacts, pile: &Pile| largest_stable(5e-4, 0.1, tolerance, |dt| pile.is_stable(contacts, dt));
    let mut outcome = Outcome::default();
    let [discrete, continuous] = [longest(DISCRETE, &pile)?, longest(CONTINUOUS, &pile)?];
    let rows = &mut outcome.rows;
    let gain = |name: &str, ours: f64, paper: f64| {
        Row::new(format!("stability/{name}"), ours, "times").peer(PAPER, paper).with("bodies", pile.count)
    };
    rows.push(
        gain("longest_step", continuous / discrete, 3.0)
            .with("discrete_ms", 1e3 * discrete)
            .with("continuous_ms", 1e3 * continuous),
    );

    // The step of the continuous method, and the largest stiffness that the discrete one bears at it.
    let dt = continuous.max(discrete);
    let softer = |k: f64| Pile { penalty: PenaltySettings { stiffness: k, ..pile.penalty }, ..pile.clone() };
    let most = pile.penalty.stiffness;
    let bears = largest_stable(most * 1e-3, most, tolerance, |k| softer(k).is_stable(DISCRETE, dt))?;
    let [deep, shallow] = [depth(&softer(bears), DISCRETE, dt)?, depth(&pile, CONTINUOUS, dt)?];
    rows.push(
        gain("depth_at_the_longest_step", deep / shallow, 2.75)
            .with("step_ms", 1e3 * dt)
            .with("discrete_stiffness_n_per_m", bears)
            .with("discrete_mm", 1e3 * deep)
            .with("continuous_mm", 1e3 * shallow),
    );

    // At one depth: that of the discrete method at its longest step.
    let wanted = depth(&pile, DISCRETE, discrete)?;
    let within = |dt: f64| -> Result<bool> {
        Ok(pile.is_stable(CONTINUOUS, dt)? && depth(&pile, CONTINUOUS, dt)? <= 1.02 * wanted)
    };
    let matched = largest_stable(5e-4, 0.1, tolerance, within)?;
    rows.push(
        gain("longest_step_at_one_depth", matched / discrete, 2.6)
            .with("depth_mm", 1e3 * wanted)
            .with("continuous_ms", 1e3 * matched),
    );

    // Depth against the step, as long as each is stable.
    let mut curves = Vec::new();
    for (name, contacts, colour, end) in
        [("discrete", DISCRETE, ORANGE, discrete), ("continuous", CONTINUOUS, BLUE, continuous)]
    {
        let count = if quick { 2 } else { 5 };
        let mut points = Vec::new();
        for i in 0..count {
            let dt = 5e-4 * (end / 5e-4).powf(f64::from(i) / f64::from(count - 1));
            points.push((1e3 * dt, 1e3 * depth(&pile, contacts, dt)?));
        }
        curves.push(Curve { name: name.into(), colour, points });
    }
    let title = "Figure 10 a: largest depth, mm, against the step, to the longest stable one";
    outcome.plots.push(Plot { x_label: "step, ms", ..Plot::over_seconds(title, curves) });
    Ok(outcome)
}

/// Returns the largest penetration of a run, metres, measured at 200 Hz; of an unstable run up to its end.
fn depth(pile: &Pile, contacts: Contacts, dt: f64) -> Result<f64> {
    let mut scene = pile.scene(contacts)?;
    let every = (5e-3 / dt).ceil().max(1.0) as usize;
    let mut deepest: f64 = 0.0;
    for step in 0..(pile.time / dt).ceil() as usize {
        if scene.step(dt).is_err() {
            break;
        }
        if step % every == 0 {
            deepest = deepest.max(scene.penetration()?);
        }
    }
    Ok(deepest)
}
