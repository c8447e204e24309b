//! Trials: one body in a given pose above one fixed body or a plane, and the measurements of its motion. The scenes
//! `degenerate` and `flush` are lists of trials.

use voxshell::math::{Pose, Rotation, Vec3};

use crate::bodies::Body;
use crate::bridge::{Motion, Placement};
use crate::run::{pose_of, Cast};
use crate::simulate::Recording;

/// What carries the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ground {
    /// The plane y = 0. The body's lowest point starts the trial's gap above it.
    Plane,
    /// A fixed body of this name; the origin of its mesh is at this height, metres.
    Body(&'static str, f64),
}

/// Whether the body keeps its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Stays,
    /// It moves, but does not fall.
    Moves,
    Falls,
    /// Only as an expectation: the balance is unstable, so a body that stays and one that falls are both right.
    Either,
}

impl Ending {
    pub fn name(self) -> &'static str {
        match self {
            Self::Stays => "stays",
            Self::Moves => "moves",
            Self::Falls => "falls",
            Self::Either => "either",
        }
    }
}

/// Arrangement of one row. Lengths are metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Name in rows and tables.
    pub name: &'static str,
    /// Name of the moving body.
    pub body: &'static str,
    pub ground: Ground,
    /// Position of the mesh's origin at the start. On a plane, the height is chosen by `gap` instead.
    pub position: [f64; 3],
    /// Rotation of the mesh at the start: axis times angle, radians.
    pub turn: [f64; 3],
    /// Vertical distance to the ground at the start.
    pub gap: f64,
    /// Velocity at the start, m/s.
    pub velocity: [f64; 3],
    /// Gravity and constant push, m/s².
    pub acceleration: [f64; 3],
    /// Coefficient of both bodies; Bullet multiplies them.
    pub friction: f64,
    /// Drive that keeps the body moving.
    pub motion: Motion,
    /// Simulated time, seconds.
    pub seconds: f64,
    /// The ending of the exact motion; `None` if the trial does not measure it.
    pub expected: Option<Ending>,
}

impl Trial {
    /// A trial at rest under gravity on a plane, for the others to change.
    pub const AT_REST: Self = Self {
        name: "",
        body: "",
        ground: Ground::Plane,
        position: [0.0; 3],
        turn: [0.0; 3],
        gap: 0.0,
        velocity: [0.0; 3],
        acceleration: [0.0, -10.0, 0.0],
        friction: 0.5,
        motion: Motion::Free,
        seconds: 3.0,
        expected: None,
    };

    /// Returns the index of a body of this name in the cast.
    fn find(cast: &Cast, name: &str) -> Result<usize, String> {
        cast.stages.iter().position(|s| s.body.name == name).ok_or_else(|| crate::flush::missing(name))
    }

    /// Returns the bodies of the trial: the fixed one, if there is one, then the moving one. An error gives the reason
    /// why a body is not available.
    pub fn placements(&self, cast: &Cast) -> Result<Vec<Placement>, String> {
        let mut placements = Vec::new();
        if let Ground::Body(name, height) = self.ground {
            let model = Self::find(cast, name)?;
            let pose = body_pose(&cast.stages[model].body, &Pose::translation(0.0, height, 0.0));
            placements.push(placement(model, true, &pose, [0.0; 3]));
        }
        let model = Self::find(cast, self.body)?;
        let body = &cast.stages[model].body;
        let mut pose = body_pose(
            body,
            &Pose::from_parts(Vec3::from(self.position).into(), Rotation::from_scaled_axis(Vec3::from(self.turn))),
        );
        if self.ground == Ground::Plane {
            let lowest = cast.stages[model].truth.lowest(&pose);
            pose.translation.y += self.gap - lowest;
        }
        placements.push(placement(model, false, &pose, self.velocity));
        Ok(placements)
    }
}

/// Returns the pose of the body's frame when its original mesh is at `mesh`.
fn body_pose(body: &Body, mesh: &Pose) -> Pose {
    // The mesh's origin is at `mesh_origin` from the centre of mass in the pose as modelled.
    mesh * Pose::from_parts((-body.mesh_origin).into(), body.upright)
}

fn placement(model: usize, fixed: bool, pose: &Pose, velocity: [f64; 3]) -> Placement {
    let q = pose.rotation.coords;
    Placement { model, fixed, position: pose.translation.vector.into(), rotation: [q.x, q.y, q.z, q.w], velocity }
}

/// Measurements of one trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conduct {
    /// Largest rise of the mechanical energy above an earlier value, joules. Nothing drives a body whose energy is
    /// measured, so an exact motion never gains any.
    pub energy_gained: Option<f64>,
    pub expected: Option<Ending>,
    pub ending: Option<Ending>,
    /// Sideways deviation from rest or from uniform motion within the window, millimetres.
    pub drift: Option<f64>,
}

impl Conduct {
    /// Returns whether the body ended as expected; `None` if nothing was expected.
    pub fn as_expected(&self) -> Option<bool> {
        Some(self.expected? == Ending::Either || self.expected == self.ending)
    }
}

/// Displacement of the centre, and rotation, up to which a body has stayed.
const STAYS: (f64, f64) = (0.05, 0.1);
/// Fall of the centre, and rotation, beyond which a body has fallen.
const FALLS: (f64, f64) = (0.5, 0.5);

/// Measures the moving body; `window` has the first step and one past the last.
pub fn conduct(trial: &Trial, recording: &Recording, window: (usize, usize)) -> Conduct {
    let moving = recording.bodies.iter().position(|b| !b.fixed).expect("a trial has a moving body");
    let pose = |step: usize| pose_of(&recording.poses_at(step)[moving]);
    let center = |step: usize| pose(step).translation.vector;
    let last = recording.steps.len();
    let free = trial.motion == Motion::Free;

    let moved = center(last) - center(0) + Vec3::y() * trial.gap;
    let turned = pose(0).rotation.angle_to(&pose(last).rotation);
    let ending = if moved.norm() <= STAYS.0 && turned <= STAYS.1 {
        Ending::Stays
    } else if moved.y < -FALLS.0 || turned > FALLS.1 {
        Ending::Falls
    } else {
        Ending::Moves
    };

    let velocity = Vec3::new(trial.velocity[0], 0.0, trial.velocity[2]);
    let time = (window.1 - window.0) as f64 * recording.dt;
    let deviation = center(window.1) - center(window.0) - velocity * time;
    Conduct {
        energy_gained: free.then(|| energy_gained(trial, recording, &center)),
        expected: trial.expected,
        ending: trial.expected.map(|_| ending),
        drift: (free && trial.expected.is_none()).then(|| deviation.x.hypot(deviation.z) * 1e3),
    }
}

/// Returns the largest rise of kinetic plus potential energy of 1 kg above an earlier value, joules.
///
/// The potential is taken half a step back, in the middle of the positions before and after the step: Bullet's
/// integrator keeps this sum exactly in free flight, where the plain energy falls by a joule in two seconds.
fn energy_gained(trial: &Trial, recording: &Recording, center: &dyn Fn(usize) -> Vec3) -> f64 {
    let acceleration = Vec3::from(trial.acceleration);
    let velocity = Vec3::from(trial.velocity);
    let before = center(0) - 0.5 * recording.dt * velocity;
    let mut lowest = 0.5 * velocity.norm_squared() - acceleration.dot(&before);
    let mut gained = 0f64;
    for (i, step) in recording.steps.iter().enumerate() {
        let energy = step.kinetic_energy - acceleration.dot(&(0.5 * (center(i) + center(i + 1))));
        gained = gained.max(energy - lowest);
        lowest = lowest.min(energy);
    }
    gained
}
