//! Table 4 of Xu & Barbič (2014, 2016): a body is dropped on a fixed body of the same shape and on the ground. Measures
//! the time of continuous collision detection between the two; as in the papers, each brings its samples and its field
//! in turn.
//!
//! The contact response is simple: in each frame one impulse at the mean of the reported contacts, weighted by their
//! duration, with restitution and friction, and a push out of the deepest contact.

use voxshell::ccd::impact::{contacts, Collision, Moving, Query};
use voxshell::ccd::motion::Motion;
use voxshell::ccd::shell::{Passage, Workspace};
use voxshell::contact::{Geometry, Roles};
use voxshell::field::{Field, HalfSpace};
use voxshell::math::{Pose, Rotation, Vec3};
use voxshell::Result;

use super::pairs::{Body, PAPER};
use voxshell_lab::clock::of_thread;
use voxshell_lab::row::Row;

/// Time of a frame, seconds.
const STEP: f64 = 1e-3;
const RESTITUTION: f64 = 0.3;
const FRICTION: f64 = 0.3;
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
}

/// The falling body: 1 kg, with the inertia of a ball that has the extent of its samples.
struct Falling {
    pose: Pose,
    velocity: Vec3,
    spin: Vec3,
    inertia: f64,
}

impl Falling {
    fn next(&self) -> Pose {
        let turn = Rotation::from_scaled_axis(self.spin * STEP);
        let at = self.pose.translation.vector + self.velocity * STEP;
        Pose::from_parts(at.into(), turn * self.pose.rotation)
    }

    /// Applies one impulse for all contacts, whose normals point from the falling body to the other.
    fn respond(&mut self, found: &[Collision]) {
        let (mut weight, mut point, mut normal, mut deepest) = (0.0, Vec3::zeros(), Vec3::zeros(), 0.0f64);
        for c in found {
            let w = c.until - c.contact.toi + 1e-3;
            weight += w;
            point += c.contact.point_on_a * w;
            normal -= c.contact.normal * w;
            deepest = deepest.max(-c.contact.separation);
        }
        let Some(normal) = normal.try_normalize(1e-9) else { return };
        let arm = point / weight - self.pose.translation.vector;
        let velocity = self.velocity + self.spin.cross(&arm);
        let along = |direction: &Vec3| 1.0 / (1.0 + arm.cross(direction).norm_squared() / self.inertia);
        let approach = -velocity.dot(&normal);
        let bounce = if approach > 0.05 { RESTITUTION } else { 0.0 };
        let push = 0.1 * deepest / STEP;
        let impulse = ((1.0 + bounce) * approach + push.min(0.5)).max(0.0) * along(&normal);
        let slip = velocity + normal * approach;
        let mut total = normal * impulse;
        if let Some(direction) = slip.try_normalize(1e-9) {
            total -= direction * (FRICTION * impulse).min(slip.norm() * along(&direction));
        }
        self.velocity += total;
        self.spin += arm.cross(&total) / self.inertia;
    }
}

impl Drop {
    pub fn measure(body: &Body, frames: usize, target: Option<f64>, papers: [f64; 2]) -> Result<Self> {
        let samples = body.shell.len();
        let spread: f64 = (0..samples).map(|i| body.shell.position(i).norm_squared()).sum();
        let mut falling = Falling {
            pose: Pose::from_parts(Vec3::new(0.05, 1.2, 0.03).into(), Rotation::from_euler_angles(0.4, 0.3, 0.2)),
            velocity: Vec3::zeros(),
            spin: Vec3::new(0.5, 1.0, 0.3),
            inertia: 2.0 / 3.0 * spread / samples as f64,
        };
        let ground = Field::HalfSpace(HalfSpace::new(Vec3::y(), GROUND)?);
        let ground = Moving::still(Geometry { field: Some(&ground), shell: None, surface: None }, &Pose::identity());
        let still = Moving::still(body.geometry(), &Pose::identity());
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
        };
        for frame in 0..frames {
            falling.velocity.y -= 9.81 * STEP;
            let moving = Moving { geometry: body.geometry(), from: falling.pose, to: falling.next() };
            let (seconds, found) = of_thread(|| contacts(&moving, &still, &both, &mut workspace).map(<[_]>::len));
            let found = found?;
            drop.tree += seconds;
            drop.intervals += found;
            drop.touching += usize::from(found > 0);
            drop.most = drop.most.max(found);
            if found > 0 {
                let found = contacts(&moving, &still, &both, &mut workspace)?;
                falling.respond(found);
            }
            let found = contacts(&moving, &ground, &own, &mut workspace)?;
            falling.respond(found);
            if frame % SOME == 0 {
                drop.each += each(body, &moving, &mut workspace) * SOME as f64;
            }
            falling.pose = falling.next();
            drop.lowest = drop.lowest.min(falling.pose.translation.y);
        }
        Ok(drop)
    }

    pub fn rows(&self, rows: &mut Vec<Row>) {
        let name = self.name;
        let facts = |row: Row| row.with("frames", self.frames).with("samples", self.samples);
        let row =
            Row::new(format!("ccd/table4/{name}"), self.tree, "s").target(self.target).peer(PAPER, self.papers[1]);
        let row = row.with("intervals", self.intervals).with("touching_frames", self.touching);
        rows.push(facts(row.with("most_intervals", self.most).with("lowest_m", self.lowest)));
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
