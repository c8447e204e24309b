//! Table 4 of Xu & Barbič (2014, 2016): a body is dropped on a fixed body of the same shape and on the ground. Measures
//! the time of continuous collision detection between the two; as in the papers, each brings its samples and its field
//! in turn.
//!
//! The simulation is the papers' (2014, section 4): the continuous penalty forces and torques of a step, averaged over
//! it (F*, τ*, equations 8 and 9) with the damping of equations 10 and 11, act in the next step of symplectic Euler, and
//! the midpoint rule has 20 points. The papers do not give stiffness, damping and step; ours are below.

use voxshell::ccd::impact::{contacts, Moving, Query};
use voxshell::ccd::motion::Motion;
use voxshell::ccd::shell::{Passage, Workspace};
use voxshell::contact::{Geometry, Roles};
use voxshell::dynamics::{Mass, RigidBody};
use voxshell::field::{Field, HalfSpace};
use voxshell::math::{Mat3, Pose, Rotation, Twist, Vec3, Wrench};
use voxshell::response::{continuous, ContinuousSettings, On, PenaltySettings, Sweep};
use voxshell::Result;

use super::pairs::{Body, PAPER};
use voxshell_lab::clock::of_thread;
use voxshell_lab::row::Row;

/// Time of a frame, seconds.
const STEP: f64 = 1e-3;
/// Stiffness of a contact, N/m, and damping against all relative velocity there, N·s/m; from ten contacts on the sum is
/// the average times ten (McNeely 1999): the body of 1 kg sinks in by half a millimetre at rest.
const STIFFNESS: f64 = 2_000.0;
const DAMPING: f64 = 3.0;
const AVERAGE_FROM: u32 = 10;
const MIDPOINTS: u32 = 20;
const GRAVITY: f64 = 9.81;
/// Height of the ground: the bottom of the lower body's box, metres.
const GROUND: f64 = -0.5;
/// Interval in frames between measurements sample by sample.
const SOME: usize = 40;

/// Result of one drop; seconds of all frames.
pub struct Drop {
    pub name: &'static str,
    pub samples: usize,
    pub frames: usize,
    pub tree: f64,
    pub each: f64,
    /// The papers' times: sample by sample, and by a tree.
    pub papers: [f64; 2],
    target: Option<f64>,
    intervals: usize,
    touching: usize,
    most: usize,
    lowest: f64,
    /// Largest speed, m/s: a fall from rest at 1.2 m reaches no more than 5.8 on the ground.
    fastest: f64,
}

/// Returns the falling body: 1 kg, with the inertia of a ball that has the extent of its samples.
fn falling(body: &Body) -> Result<RigidBody> {
    let samples = body.shell.len();
    let spread: f64 = (0..samples).map(|i| body.shell.position(i).norm_squared()).sum();
    let inertia = Mat3::from_diagonal_element(2.0 / 3.0 * spread / samples as f64);
    let pose = Pose::from_parts(Vec3::new(0.05, 1.2, 0.03).into(), Rotation::from_euler_angles(0.4, 0.3, 0.2));
    let mut falling = RigidBody::at(Mass::new(1.0, Vec3::zeros(), inertia)?, &pose);
    falling.angular_momentum = inertia * Vec3::new(0.5, 1.0, 0.3);
    Ok(falling)
}

impl Drop {
    pub fn measure(body: &Body, frames: usize, target: Option<f64>, papers: [f64; 2]) -> Result<Self> {
        let samples = body.shell.len();
        let mut falling = falling(body)?;
        let ground = Field::HalfSpace(HalfSpace::new(Vec3::y(), GROUND)?);
        let ground = Moving::still(Geometry { field: Some(&ground), shell: None, surface: None }, &Pose::identity());
        let rest =
            |geometry| Sweep { geometry, poses: [Pose::identity(); 2], center: Vec3::zeros(), twist: Twist::ZERO };
        let (ground_at_rest, at_rest) = (rest(ground.geometry), rest(body.geometry()));
        let still = at_rest.moving();
        let penalty =
            PenaltySettings { drag: DAMPING, average_from: AVERAGE_FROM, ..PenaltySettings::new(STIFFNESS, 0.0) };
        let settings = ContinuousSettings { penalty, midpoints: MIDPOINTS };
        let (both, own) =
            (Query { roles: Roles::Both, ..Query::default() }, Query { roles: Roles::ShellOfA, ..Query::default() });
        let mut workspace = Workspace::new();
        let mut drop = Self {
            name: body.name,
            samples,
            frames,
            tree: 0.0,
            each: 0.0,
            papers,
            target,
            intervals: 0,
            touching: 0,
            most: 0,
            lowest: f64::INFINITY,
            fastest: 0.0,
        };
        let mut averaged = Wrench::ZERO;
        for frame in 0..frames {
            let from = falling.pose();
            averaged.force.y -= GRAVITY * falling.mass.mass();
            falling.symplectic_euler(&averaged, STEP);
            let sweep = Sweep {
                geometry: body.geometry(),
                poses: [from, falling.pose()],
                center: *falling.mass.center(),
                twist: falling.twist(),
            };
            let moving = sweep.moving();
            let (seconds, found) = of_thread(|| contacts(&moving, &still, &both, &mut workspace).map(<[_]>::to_vec));
            let found = found?;
            drop.tree += seconds;
            drop.intervals += found.len();
            drop.touching += usize::from(!found.is_empty());
            drop.most = drop.most.max(found.len());
            averaged = continuous(&found, &sweep, &at_rest, On::A, &settings).wrench;
            let found = contacts(&moving, &ground, &own, &mut workspace)?;
            averaged += continuous(found, &sweep, &ground_at_rest, On::A, &settings).wrench;
            if frame % SOME == 0 {
                drop.each += each(body, &moving, &mut workspace) * SOME as f64;
            }
            drop.lowest = drop.lowest.min(falling.center.y);
            drop.fastest = drop.fastest.max(falling.momentum.norm());
        }
        Ok(drop)
    }

    pub fn rows(&self, rows: &mut Vec<Row>) {
        let name = self.name;
        let facts = |row: Row| row.with("frames", self.frames).with("samples", self.samples);
        let row =
            Row::new(format!("ccd/table4/{name}"), self.tree, "s").target(self.target).peer(PAPER, self.papers[1]);
        let row = row.with("intervals", self.intervals).with("touching_frames", self.touching);
        rows.push(facts(
            row.with("most_intervals", self.most).with("lowest_m", self.lowest).with("fastest_m_s", self.fastest),
        ));
        let row = Row::new(format!("ccd/table4/{name}/each_sample"), self.each, "s");
        rows.push(facts(row.peer(PAPER, self.papers[0])));
    }
}

/// Returns the seconds of one frame sample by sample, in both roles.
fn each(body: &Body, moving: &Moving, workspace: &mut Workspace) -> f64 {
    let rest = Pose::identity();
    let (of_moving, of_still) = ([&moving.from, &moving.to], [&rest; 2]);
    let motions = [Motion::straight(of_moving, of_still), Motion::straight(of_still, of_moving)];
    let run = || {
        motions.map(|m| Passage { linear: true, ..Passage::new(&body.shell, &body.field, m) }.spans(workspace).len())
    };
    of_thread(run).0
}
