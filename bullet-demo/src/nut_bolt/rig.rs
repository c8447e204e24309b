//! A nut on its bolt that an experiment pushes step by step.

use std::f64::consts::TAU;

use cxx::UniquePtr;
use voxshell::math::{Pose, Rotation, Vec3};

use crate::bodies::{Body, Measured};
use crate::bridge::{make_scene, BodyPose, Drive, Method, Motion, Scene, SceneKind, Segments, Setup};
use crate::decompose::Decomposer;
use crate::prepared_body::PreparedBody;
use crate::run::pose_of;

use super::options::NutOptions;
use super::sizes::Parts;
use super::{bodies, MARGIN};

/// A cooked bolt and nut.
pub struct Pair {
    stages: Vec<PreparedBody>,
    pub pitch: f64,
}

/// Index of the nut among the bodies of the scene.
const NUT: usize = 1;

impl Pair {
    pub fn new(parts: Parts, options: &NutOptions) -> voxshell::Result<Self> {
        let bodies = bodies(&[parts], options)?;
        let pitch = bodies[NUT].lead;
        // No depth is measured against the true meshes, so their fields can be coarse.
        let prepared = |body| PreparedBody::new(Body { measured: Measured::Vertices, ..body });
        let stages = bodies.into_iter().map(prepared).collect::<voxshell::Result<_>>()?;
        Ok(Self { stages, pitch })
    }

    /// Returns the moment of inertia of the nut about its axis for 1 kg, m².
    fn axial_moment(&self) -> f64 {
        let nut = &self.stages[NUT].body;
        let axis = nut.upright.inverse() * Vec3::y();
        axis.component_mul(&axis).dot(&nut.inertia)
    }

    /// Makes a world with the nut `turns` turns above the head, in the middle of its play, without gravity.
    pub fn rig(
        &self,
        method: Method,
        rate: f64,
        turns: f64,
        iterations: u32,
        decomposer: &Decomposer,
    ) -> Result<Rig, String> {
        let models = self.stages.iter().map(|s| s.model(method, decomposer)).collect::<Result<Vec<_>, _>>()?;
        let nut = &self.stages[NUT].body;
        let setup = Box::new(Setup {
            scene: SceneKind::Screw,
            method,
            dt: 1.0 / rate,
            margin: MARGIN,
            restitution: 0.0,
            count: 1,
            drive: Drive::Weight,
            bolt: 0,
            turns,
            iterations,
            threads: 1,
            edges: false,
            swept_spheres: false,
            segments: Segments::None,
            segment_level: 0,
            places: Vec::new(),
            clamped: false,
            models,
            placements: Vec::new(),
            on_plane: false,
            acceleration: [0.0; 3],
            friction: 0.0,
            motion: Motion::Free,
        });
        // SAFETY: the rig drops the scene before the setup, and the box keeps the setup in its place.
        let scene = unsafe { make_scene(&setup) }.map_err(|e| e.to_string())?;
        let frame = Pose::from_parts(nut.mesh_origin.into(), Rotation::identity());
        // Steel, as in the scene.
        let mass = 7850.0 * nut.volume;
        let start = {
            let mut poses = Vec::new();
            scene.poses(&mut poses);
            poses[NUT]
        };
        Ok(Rig {
            scene,
            setup,
            start,
            upright: nut.upright,
            frame,
            mass,
            moment: mass * self.axial_moment(),
            pitch: self.pitch,
            radius: 0.5 * nut.upright_bounds.extents().x,
            height: nut.upright_bounds.extents().y,
            turns: 0.0,
            angle: None,
        })
    }
}

/// A world of one nut and one bolt.
pub struct Rig {
    scene: UniquePtr<Scene>,
    setup: Box<Setup>,
    start: BodyPose,
    upright: Rotation,
    /// The mesh's frame in the body's, in the pose as modelled.
    frame: Pose,
    /// Mass of the nut, kg.
    pub mass: f64,
    /// Moment of inertia of the nut about its axis, kg m².
    pub moment: f64,
    pub pitch: f64,
    /// Radius at which its speed of sliding is told, metres.
    pub radius: f64,
    /// Height of the nut, metres.
    pub height: f64,
    /// Turns since the start, positive upwards.
    turns: f64,
    angle: Option<f64>,
}

/// Where the nut is.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// Turns since the start, positive upwards.
    pub turns: f64,
    /// Distance along the axis from the helix through the start, metres.
    pub off_helix: f64,
}

impl Rig {
    pub fn dt(&self) -> f64 {
        self.setup.dt
    }

    /// Puts the nut at rest at its start.
    pub fn reset(&mut self) {
        let start = self.start;
        self.scene.pin_mut().place(NUT, &start);
        (self.turns, self.angle) = (0.0, None);
    }

    /// Sets the coefficient of friction between nut and bolt.
    pub fn set_friction(&mut self, coefficient: f64) {
        self.scene.pin_mut().set_friction(coefficient.sqrt());
    }

    /// Lets a force, N, act on the nut in the next step.
    ///
    /// A lasting load must be a force: as an impulse it is a velocity when the solver chooses the directions of friction,
    /// which then point across the flanks instead of along the thread.
    pub fn load(&mut self, force: Vec3) {
        self.scene.pin_mut().load(NUT, &force.into());
    }

    /// Makes one step, at whose start an impulse, N s, and an angular impulse, N m s, act on the nut.
    ///
    /// A torque must be an impulse: the friction rows of Bullet's solver leave out the change of velocity by forces.
    pub fn step(&mut self, impulse: Vec3, angular: Vec3) -> State {
        self.scene.pin_mut().push(NUT, &impulse.into(), &angular.into());
        self.scene.pin_mut().step();
        self.state()
    }

    fn state(&mut self) -> State {
        let mut poses = Vec::new();
        self.scene.poses(&mut poses);
        let (pose, start) = (pose_of(&poses[NUT]), pose_of(&self.start));
        let turned = pose.rotation * self.upright.inverse();
        let x = turned * Vec3::x();
        let first = start.rotation * self.upright.inverse() * Vec3::x();
        let angle = (-x.z).atan2(x.x);
        let change = angle - self.angle.replace(angle).unwrap_or((-first.z).atan2(first.x));
        self.turns += change / TAU - (change / TAU).round();
        let origin = |p: &Pose, r: Rotation| p.translation.vector + r * self.frame.translation.vector;
        let (now, then) = (origin(&pose, turned), origin(&start, start.rotation * self.upright.inverse()));
        State { turns: self.turns, off_helix: now.y - then.y - self.pitch * self.turns }
    }

    /// Gives the nut an angular velocity about the axis, rad/s, and the velocity along it that follows the thread.
    pub fn set_spin(&mut self, spin: f64) {
        let [impulse, angular] =
            [self.mass * self.pitch / TAU, self.moment].map(|m| [0.0, m * (spin - self.spin()), 0.0]);
        self.scene.pin_mut().push(NUT, &impulse, &angular);
    }

    /// Returns the angular velocity about the axis, rad/s, positive upwards on the thread.
    pub fn spin(&self) -> f64 {
        self.scene.spin(NUT)[1]
    }

    /// Returns the sum of the normal impulses of the last step, N s, and their mean distance from the axis, metres.
    pub fn contact_radius(&self) -> (f64, f64) {
        let loads = self.scene.loads();
        let sum: f64 = loads.iter().map(|l| l.impulse).sum();
        let moment: f64 = loads.iter().map(|l| l.impulse * l.position[0].hypot(l.position[2])).sum();
        (sum, moment / sum.max(f64::MIN_POSITIVE))
    }
}
