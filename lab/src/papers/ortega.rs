//! Ortega, Redon & Coquillart 2007, figures 10 and 11: a peg of 288 triangles, a block with a hole of 280, contacts of
//! triangles on screw motions. Time of the constraint force, time of an update of the god-object, and number of contacts, over
//! the phases a to e of the paper: the tip slides on the block, the peg is laid down and slides, it is pushed against a side, it
//! explores the rim of the hole, it is put into the hole.

use std::sync::Arc;

use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::haptics::god_object::Detection;
use voxshell::haptics::{self, DeviceState, Forms, Obstacle, Renderer, Settings, Tool};
use voxshell::math::{Mat3, Pose, Progress, Rotation, Twist, Vec3};
use voxshell::mesh::{primitives, Locator, TriMesh};
use voxshell::Result;
use voxshell_lab::clock::of_thread;
use voxshell_lab::report::palette::{BLUE, GREEN, ORANGE};
use voxshell_lab::report::{Curve, Plot};
use voxshell_lab::row::Row;

use super::{Context, Outcome};
use crate::haptics_demo::session::{quantile, LIMITS, STEP};

const PAPER: &str = "Ortega et al. 2007";
/// Radius and length of the peg, metres; the hole is wider by a fiftieth.
const PEG: [f64; 2] = [0.01, 0.08];

/// Ends of the phases: seconds, and pose of the hand's peg: position of its middle, angles about x and z.
const PATH: [(f64, [f64; 3], [f64; 2]); 12] = [
    (0.0, [-0.02, 0.075, 0.0], [0.0, 0.0]),
    (0.3, [-0.02, 0.06, 0.0], [0.0, 0.0]),
    (0.8, [-0.03, 0.06, 0.015], [0.0, 0.0]),
    (1.2, [0.0, 0.045, 0.02], [0.0, 1.45]),
    (1.6, [0.0, 0.03, 0.02], [0.0, 1.57]),
    (2.1, [0.02, 0.03, 0.025], [0.0, 1.57]),
    (2.5, [-0.07, 0.05, 0.0], [0.0, 0.0]),
    (2.8, [-0.07, 0.0, 0.0], [0.0, 0.0]),
    (3.2, [-0.04, 0.0, 0.0], [0.0, 0.0]),
    (3.7, [0.005, 0.065, 0.0], [0.0, 0.0]),
    (4.2, [0.004, 0.058, 0.004], [0.1, -0.1]),
    (5.2, [0.0, 0.0, 0.0], [0.0, 0.0]),
];
const PHASES: [(&str, f64, f64); 5] = [
    ("a, tip on the top", 0.0, 0.8),
    ("b, laid on the top", 0.8, 2.1),
    ("c, against a side", 2.1, 3.2),
    ("d, rim of the hole", 3.2, 4.2),
    ("e, into the hole", 4.2, 5.2),
];

fn hand(t: f64) -> Pose {
    let k = PATH.iter().position(|p| p.0 > t).unwrap_or(PATH.len() - 1).max(1);
    let ((t0, p0, a0), (t1, p1, a1)) = (PATH[k - 1], PATH[k]);
    let s = ((t - t0) / (t1 - t0)).clamp(0.0, 1.0);
    let s = s * s * (3.0 - 2.0 * s);
    let mix = |a: f64, b: f64| a + (b - a) * s;
    let p = Vec3::new(mix(p0[0], p1[0]), mix(p0[1], p1[1]), mix(p0[2], p1[2]));
    let turn = Rotation::from_euler_angles(mix(a0[0], a1[0]), 0.0, mix(a0[1], a1[1]));
    Pose::from_parts(p.into(), turn)
}

/// Returns the mesh of a builder of so many segments that comes closest to a number of triangles.
fn of_triangles(count: usize, make: impl Fn(u32) -> Result<TriMesh>) -> Result<TriMesh> {
    let mut best = make(8)?;
    for segments in 9..100 {
        let mesh = make(segments)?;
        if mesh.triangles.len().abs_diff(count) < best.triangles.len().abs_diff(count) {
            best = mesh;
        }
    }
    Ok(best)
}

pub fn run(context: &Context) -> Result<Outcome> {
    let peg = of_triangles(288, |n| primitives::peg(PEG[0], PEG[1], 0.001, n))?;
    let block = of_triangles(280, |n| primitives::hole([0.05, 0.02, 0.05], 1.02 * PEG[0], n))?;
    // Fields and samples too: they take over where a body is inside another one.
    let forms = |mesh: &TriMesh| -> Result<Forms> {
        let options = CookOptions { resolution: Resolution::Cells(64), ..CookOptions::default() };
        let Shape { field, shell, .. } = Shape::cook(mesh, &options, &Progress::none())?;
        Ok(Forms { field, shell, mesh: Some(Arc::new(Locator::new(mesh))), ..Forms::default() })
    };
    let arm2 = PEG[1] * PEG[1] / 12.0;
    let tool = Tool {
        forms: forms(&peg)?,
        center: Vec3::zeros(),
        mass: 0.3,
        inertia: Mat3::from_diagonal(&Vec3::new(0.3 * arm2, 0.3 * 0.5 * PEG[0] * PEG[0], 0.3 * arm2)),
    };
    let settings =
        Settings { detection: Detection::Triangles, ..Settings::for_tool(Renderer::GodObject, &tool, &LIMITS)? };
    let obstacle = Obstacle::fixed(forms(&block)?, Pose::identity());
    let (mut servo, mut simulation) = haptics::new(settings, tool, vec![obstacle])?;
    let every = if context.quick { 5 } else { 1 };
    let end = PATH[PATH.len() - 1].0;
    let steps = (end / STEP) as usize / every;
    let (mut force, mut update, mut contacts) = (Vec::new(), Vec::new(), Vec::new());
    let mut deepest: f64 = 0.0;
    for step in 0..steps {
        let t = (step * every) as f64 * STEP;
        let state = DeviceState { pose: hand(t), twist: Twist::ZERO, engaged: true };
        let (seconds, _) = of_thread(|| servo.step(&state, STEP));
        force.push((t, seconds * 1e6));
        let (seconds, report) = of_thread(|| simulation.simulate());
        update.push((t, seconds * 1e3));
        contacts.push((t, f64::from(report.contacts)));
        deepest = deepest.max(-report.least_separation);
    }
    let lowest = servo.tool_pose().translation.vector.y;
    let mut rows = Vec::new();
    for (name, from, to) in PHASES {
        let of = |points: &[(f64, f64)]| -> Vec<f64> {
            points.iter().filter(|p| p.0 >= from && p.0 < to).map(|p| p.1).collect()
        };
        let most = of(&contacts).into_iter().fold(0.0, f64::max);
        rows.push(
            Row::new(format!("ortega/peg/{name}/force_p99"), quantile(&mut of(&force), 0.99), "us")
                .target(25.0)
                .peer(PAPER, 25.0)
                .with("force_p50_us", quantile(&mut of(&force), 0.5)),
        );
        rows.push(
            Row::new(format!("ortega/peg/{name}/update_p99"), quantile(&mut of(&update), 0.99), "ms")
                .target(10.0)
                .peer(PAPER, 10.0)
                .with("update_p50_ms", quantile(&mut of(&update), 0.5))
                .with("most_contacts", most),
        );
    }
    rows.push(
        Row::new("ortega/peg/inside", deepest.max(0.0) * 1e3, "mm")
            .with("peg_triangles", peg.triangles.len())
            .with("block_triangles", block.triangles.len())
            .with("peg_at_the_end_mm", lowest * 1e3),
    );
    let plot = |title: &str, colour, points: Vec<(f64, f64)>| {
        let curves = vec![Curve { name: "peg".into(), colour, points }];
        Plot::over_seconds(format!("Ortega et al. 2007, figure 11: {title}"), curves)
    };
    let plots = vec![
        plot("constraint force, µs", BLUE, force),
        plot("update of the god-object, ms", ORANGE, update),
        plot("contacts", GREEN, contacts),
    ];
    Ok(Outcome { rows, plots, ..Outcome::default() })
}
