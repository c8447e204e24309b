//! Largest stable steps and stiffnesses: the comparison of continuous with discrete penalty of Xu & Barbič (2014,
//! section 5; 2016, section 5, figure 10), and the effect of braking (McNeely et al. 1999, table 2).

use std::sync::Arc;

use crate::scene::{Contacts, Integrator, Member, Scene, SceneSettings};
use voxshell::contact::{self, Geometry, Roles};
use voxshell::dynamics::{Mass, RigidBody};
use voxshell::field::{Field, HalfSpace, SignedDistance};
use voxshell::haptics::{self, DeviceState, Forms, Obstacle, Settings, Tool};
use voxshell::math::{Mat6, Pose, Rotation, Twist, Vec3, Wrench};
use voxshell::mesh::MassProperties;
use voxshell::pointshell::PointShell;
use voxshell::response::{vps, Body, Kinematics, PenaltySettings, Response, Role, VpsSettings, Workspace};
use voxshell::{Error, Result};

/// The forms of a body.
#[derive(Clone)]
pub struct Part {
    pub field: Arc<Field>,
    pub shell: Arc<PointShell>,
    pub solid: MassProperties,
}

/// Returns the largest x from `low` up to which `stable(x)` holds. Doubles x up to the first unstable value, then
/// bisects on a logarithmic scale until the last stable and the first unstable value are within the relative
/// `tolerance`. Returns `low` if it is unstable, `high` if all are stable. Values beyond the first unstable one are
/// ignored: very stiff springs can throw a body out at once and look stable.
///
/// # Errors
/// Those of `stable`.
pub fn largest_stable(low: f64, high: f64, tolerance: f64, mut stable: impl FnMut(f64) -> Result<bool>) -> Result<f64> {
    if !stable(low)? {
        return Ok(low);
    }
    let (mut good, mut bad) = (low, high);
    while good < high {
        let next = (2.0 * good).min(high);
        if !stable(next)? {
            bad = next;
            break;
        }
        good = next;
    }
    while bad > good * (1.0 + tolerance) {
        let middle = (good * bad).sqrt();
        if stable(middle)? {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Ok(good)
}

/// Bodies that fall on the ground and form a pile.
#[derive(Clone)]
pub struct Pile {
    pub part: Part,
    pub count: usize,
    /// Mass of each body, kg.
    pub mass: f64,
    pub penalty: PenaltySettings,
    pub integrator: Integrator,
    /// Simulated time, seconds.
    pub time: f64,
}

impl Pile {
    /// Returns a scene of layers of four bodies side by side, with pseudo-random orientations and 2% of their size
    /// between them.
    pub fn scene(&self, contacts: Contacts) -> Result<Scene> {
        let mass = Mass::of_solid(self.mass, &self.part.solid)?;
        let size = self.size();
        let ground = Field::HalfSpace(HalfSpace::new(Vec3::y(), 0.0)?);
        let nothing = RigidBody::at(Mass::of_sphere(1.0, 1.0)?, &Pose::identity());
        let mut members = vec![Member::fixed(nothing, Some(Arc::new(ground)), None)];
        for i in 0..self.count {
            let (layer, x, z) = (i / 4, i % 2, i / 2 % 2);
            let at = Vec3::new(x as f64 - 0.5, layer as f64 + 0.55, z as f64 - 0.5) * (1.02 * size);
            let turn = Rotation::from_euler_angles(0.7 * i as f64, 1.9 * i as f64, 0.4 * i as f64);
            let mut body = RigidBody::at(mass, &Pose::from_parts(Vec3::zeros().into(), turn));
            body.center = at;
            let Part { field, shell, .. } = self.part.clone();
            members.push(Member::new(body, Some(field), Some(shell)));
        }
        let gravity = Vec3::y() * -9.81;
        let settings = SceneSettings { contacts, integrator: self.integrator, penalty: self.penalty, gravity };
        Ok(Scene::new(members, settings))
    }

    /// Returns the radius of the ball around the centre of mass, metres.
    fn size(&self) -> f64 {
        let shell = &self.part.shell;
        let center = Vec3::from(self.part.solid.center_of_mass);
        2.0 * (0..shell.len()).map(|i| (shell.position(i) - center).norm()).fold(0.0, f64::max)
    }

    /// Returns true if steps of `dt` are stable. `watch` gets after each step the time, the scene, and its kinetic and
    /// potential energy in joules. The run ends with the first unstable step. The criterion: at all times the centre of
    /// each body is above the ground; its kinetic energy is at most that of a fall from the top of the pile to the
    /// ground; and the total energy never exceeds its lowest earlier value by more than a tenth of the initial energy,
    /// which is more than springs store.
    ///
    /// # Errors
    /// Those of building the scene; a pose that is not finite any more counts as unstable.
    pub fn run(&self, contacts: Contacts, dt: f64, mut watch: impl FnMut(f64, &Scene, f64)) -> Result<bool> {
        let mut scene = self.scene(contacts)?;
        let top = scene.members.iter().map(|m| m.body.center.y).fold(0.0, f64::max);
        let (most, start) = (self.mass * 9.81 * top, scene.energy());
        let steps = (self.time / dt).ceil() as usize;
        let mut lowest = start;
        for step in 0..steps {
            let Ok(report) = scene.step(dt) else { return Ok(false) };
            watch((step + 1) as f64 * dt, &scene, report.energy);
            lowest = lowest.min(report.energy);
            let calm = |body: &RigidBody| body.center.y > 0.0 && body.kinetic_energy() <= most;
            let falls = scene.members.iter().filter(|m| !m.fixed).all(|m| calm(&m.body));
            if !falls || report.energy > lowest + 0.1 * start {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the result of [`run`](Self::run) without an observer.
    ///
    /// # Errors
    /// Those of building the scene.
    pub fn is_stable(&self, contacts: Contacts, dt: f64) -> Result<bool> {
        self.run(contacts, dt, |_, _, _| {})
    }
}

/// A hand puts a peg into a hole by a virtual coupling and presses it against the wall.
#[derive(Clone)]
pub struct PegInHole {
    /// The peg, along y; its field is used.
    pub peg: Part,
    /// The body with the hole along y; its pointshell is used.
    pub hole: Part,
    /// Mass, kg.
    pub mass: f64,
    /// Start of the hand above the hole's middle, its depth below that start, and its final sideways displacement,
    /// metres.
    pub start: f64,
    pub depth: f64,
    pub aside: f64,
    /// Stiffness of the coupling, N/m; it is critically damped.
    pub coupling: f64,
    /// Seconds: of a step, and of the whole motion.
    pub dt: f64,
    pub time: f64,
}

impl PegInHole {
    /// Returns the position of the hand: down in the first half of the time, aside in the third quarter, then still.
    fn hand(&self, t: f64) -> Vec3 {
        let s = t / self.time;
        let down = (2.0 * s).min(1.0) * self.depth;
        let aside = ((s - 0.5) * 4.0).clamp(0.0, 1.0) * self.aside;
        Vec3::new(aside, self.start - down, 0.0)
    }

    fn coupling(&self, body: &RigidBody, t: f64) -> Response {
        let twist = body.twist();
        let k = self.coupling;
        let inertia = body.mass.inertia().trace() / 3.0;
        // The lever arm gives the angular spring the same frequency as the linear one.
        let turning = k * inertia / self.mass;
        let damping = [2.0 * (k * self.mass).sqrt(), 2.0 * (turning * inertia).sqrt()];
        let force = (self.hand(t) - body.center) * k - twist.linear * damping[0];
        let torque = body.rotation.scaled_axis() * -turning - twist.angular * damping[1];
        let diagonal = |a: f64, b: f64| {
            let mut m = Mat6::zeros();
            for i in 0..3 {
                (m[(i, i)], m[(i + 3, i + 3)]) = (-a, -b);
            }
            m
        };
        let (by_pose, by_twist) = (diagonal(k, turning), diagonal(damping[0], damping[1]));
        Response { wrench: Wrench { force, torque }, by_pose, by_twist }
    }

    /// Returns true if contacts with `penalty` are stable. `watch` gets after each step the time, and the distance from
    /// the peg's centre to the hand, metres. The run ends when the peg is lost. The criterion: the peg's centre is
    /// never farther from the hand than the whole path of the hand; and in the last eighth of the time, while the hand
    /// is still, the mean kinetic energy of the peg is below a millionth of the coupling's energy at the sideways
    /// displacement.
    ///
    /// # Errors
    /// Those of building the scene; a pose that is not finite any more counts as unstable.
    pub fn run(
        &self,
        contacts: Contacts,
        integrator: Integrator,
        penalty: PenaltySettings,
        mut watch: impl FnMut(f64, f64),
    ) -> Result<bool> {
        let mass = Mass::of_solid(self.mass, &self.peg.solid)?;
        let mut body = RigidBody::at(mass, &Pose::identity());
        body.center = self.hand(0.0);
        let still = RigidBody::at(Mass::of_sphere(1.0, 1.0)?, &Pose::identity());
        let members = vec![
            Member::new(body, Some(self.peg.field.clone()), None),
            Member::fixed(still, None, Some(self.hole.shell.clone())),
        ];
        let settings = SceneSettings { contacts, integrator, penalty, gravity: Vec3::zeros() };
        let mut scene = Scene::new(members, settings);
        let steps = (self.time / self.dt).ceil() as usize;
        let (last, mut shaking) = (steps / 8 + 1, 0.0);
        for step in 0..steps {
            let t = step as f64 * self.dt;
            scene.members[0].external = self.coupling(&scene.members[0].body, t);
            if scene.step(self.dt).is_err() {
                return Ok(false);
            }
            let body = &scene.members[0].body;
            let apart = (body.center - self.hand(t)).norm();
            watch(t, apart);
            if apart.is_nan() || apart > self.depth + self.aside {
                return Ok(false);
            }
            if step + last >= steps {
                shaking += body.kinetic_energy() / last as f64;
            }
        }
        Ok(shaking <= 1e-6 * 0.5 * self.coupling * self.aside * self.aside)
    }

    /// Returns the result of [`run`](Self::run) without an observer.
    ///
    /// # Errors
    /// Those of building the scene.
    pub fn is_stable(&self, contacts: Contacts, integrator: Integrator, penalty: PenaltySettings) -> Result<bool> {
        self.run(contacts, integrator, penalty, |_, _| {})
    }
}

/// A hand drives a tool against a body repeatedly, with [`Renderer::Vps`](haptics::Renderer::Vps).
#[derive(Clone, Copy)]
pub struct Collisions<'a> {
    /// Settings, with braking or without.
    pub settings: Settings,
    pub tool: &'a Tool,
    /// Field and voxmap of the body.
    pub body: &'a Forms,
    /// Largest speed of the hand at contact, m/s.
    pub speed: f64,
    /// Time step, seconds.
    pub dt: f64,
    /// Number of strokes.
    pub strokes: u32,
}

/// Result of the strokes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Penetrations {
    /// Steps with some sample in the force layer or deeper.
    pub contacts: u32,
    /// Steps with some sample inside the body, by its field.
    pub penetrations: u32,
    /// Steps with some sample past the force layer.
    pub passed: u32,
}

impl Penetrations {
    /// Returns the penetration ratio of McNeely et al. 1999, section 6.
    pub fn ratio(&self) -> f64 {
        f64::from(self.penetrations) / f64::from(self.contacts.max(1))
    }

    /// Returns the same ratio for the inner side of the force layer.
    pub fn passed_ratio(&self) -> f64 {
        f64::from(self.passed) / f64::from(self.contacts.max(1))
    }
}

impl Collisions<'_> {
    /// Runs all strokes. Each comes from another direction, from outside the body's box to two voxels past its surface,
    /// and goes out again. Of each step, the tool is looked at where it is shown.
    ///
    /// # Errors
    /// `InvalidArgument` without a field, a voxmap or a pointshell; those of the renderer and of the queries.
    pub fn run(&self) -> Result<Penetrations> {
        let (Some(voxmap), Some(field)) = (&self.body.voxmap, &self.body.field) else {
            return Err(Error::argument("body", "incomplete", "a body with a field and a voxmap"));
        };
        let tool = self.tool.forms.geometry();
        let Some(shell) = tool.shell else {
            return Err(Error::argument("tool", "incomplete", "a tool with a pointshell"));
        };
        let body = self.body.geometry();
        let voxels = Body { geometry: body, kinematics: Kinematics::still(&Pose::identity()) };
        let of_layers = VpsSettings::new(self.settings.contact.stiffness);
        let (mut scratch, mut queries) = (Workspace::new(), contact::Workspace::new());
        let start = 0.75 * (field.bounds().extents().norm() + shell.bounds().extents().norm());
        let past = 2.0 * f64::from(voxmap.grid().voxel_size());
        let mut seen = Penetrations::default();
        for stroke in 0..self.strokes {
            // Directions spread evenly by the golden ratio.
            let z = 1.0 - (2.0 * f64::from(stroke) + 1.0) / f64::from(self.strokes);
            let angle = f64::from(stroke) * 2.399_963_229_728_653;
            let ring = (1.0 - z * z).sqrt();
            let outward = Vec3::new(ring * angle.cos(), ring * angle.sin(), z);
            let from = outward * start;
            let speed = self.speed * (0.2 + 0.8 * f64::from(stroke % 7) / 6.0);
            let obstacle = Obstacle::fixed(self.body.clone(), Pose::identity());
            let (mut servo, mut simulation) = haptics::new(self.settings, self.tool.clone(), vec![obstacle])?;
            let distance = self.distance(tool, body, &from, &mut queries)? + past;
            let steps = (2.0 * distance / speed / self.dt) as u32;
            for step in 0..=steps {
                let part = 1.0 - 2.0 * (f64::from(step) / f64::from(steps) - 0.5).abs();
                let hand = Pose::from_parts((from - outward * (part * distance)).into(), Rotation::identity());
                let linear = outward * if 2 * step < steps { -speed } else { speed };
                let twist = Twist { linear, angular: Vec3::zeros() };
                servo.step(&DeviceState { pose: hand, twist, engaged: true }, self.dt);
                simulation.simulate();
                let pose = servo.tool_pose();
                let shown = Body { geometry: tool, kinematics: Kinematics::still(&pose) };
                let found = vps(voxmap, &voxels, &shown, Role::Shell, &of_layers, &mut scratch);
                if found.surface + found.interior > 0 {
                    seen.contacts += 1;
                    seen.passed += u32::from(found.interior > 0);
                    let deep =
                        contact::distance(tool, &pose, body, &Pose::identity(), Roles::ShellOfA, 0.0, &mut queries)?;
                    seen.penetrations += u32::from(deep.is_some());
                }
            }
        }
        Ok(seen)
    }

    /// Returns the distance that the tool moves from the start towards the middle before it meets the body, metres.
    fn distance(&self, tool: Geometry, body: Geometry, from: &Vec3, queries: &mut contact::Workspace) -> Result<f64> {
        let mut distance = 0.0;
        while distance < from.norm() {
            let pose = Pose::from_parts((from - from.normalize() * distance).into(), Rotation::identity());
            let at = Pose::identity();
            let nearest = contact::distance(tool, &pose, body, &at, Roles::ShellOfA, f64::INFINITY, queries)?;
            match nearest.map(|c| c.separation) {
                Some(apart) if apart > 1e-4 => distance += apart,
                _ => break,
            }
        }
        Ok(distance.min(from.norm()))
    }
}
