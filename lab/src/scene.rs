//! Several bodies that touch each other and the ground, with penalty forces: the graphical experiments of Xu & Barbič
//! (2014, sections 4 and 5; 2016, section 5).

use std::sync::Arc;

use voxshell::ccd::impact::{self, Path};
use voxshell::ccd::shell;
use voxshell::contact::{self, Geometry, Query, Roles};
use voxshell::dynamics::RigidBody;
use voxshell::field::Field;
use voxshell::math::{Pose, Twist, Vec3};
use voxshell::pointshell::PointShell;
use voxshell::response::{
    continuous, penalty, Body, ContinuousSettings, Kinematics, On, PenaltySettings, Response, Sweep,
};
use voxshell::Result;

/// Contact detection at the times of the steps, or over the whole motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contacts {
    /// Contacts are found at the start of each step; their forces act in it.
    Discrete,
    /// Contacts are found on the motion of each step; their average force acts in the next one (Xu & Barbič 2014,
    /// section 4).
    Continuous {
        /// Midpoints of the quadrature.
        midpoints: u32,
    },
    /// Contacts are found on the contact-free motion of each step; their average force acts in the same step. A spring
    /// force that acts half a step late adds energy; one that acts half a step early removes energy.
    Ahead {
        /// Midpoints of the quadrature.
        midpoints: u32,
    },
}

/// Integration of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    Symplectic,
    /// Linearly implicit, with the gradients of a body's contacts by its own motion.
    Implicit,
}

/// Settings of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneSettings {
    pub contacts: Contacts,
    pub integrator: Integrator,
    pub penalty: PenaltySettings,
    /// Gravity, m/s².
    pub gravity: Vec3,
}

/// A body of a scene.
#[derive(Clone)]
pub struct Member {
    pub body: RigidBody,
    pub field: Option<Arc<Field>>,
    pub shell: Option<Arc<PointShell>>,
    /// True for a body that only its user moves.
    pub fixed: bool,
    /// External load about the centre of mass, as last set by the user.
    pub external: Response,
    /// Largest distance of a sample from the centre of mass, metres.
    reach: f64,
    /// Load of the contacts of the last step, for the next one.
    load: Response,
    /// State before the contact-free motion.
    before: Option<RigidBody>,
}

impl Member {
    pub fn new(body: RigidBody, field: Option<Arc<Field>>, shell: Option<Arc<PointShell>>) -> Self {
        let center = body.mass.center();
        let reach = match &shell {
            Some(shell) => (0..shell.len()).map(|i| (shell.position(i) - center).norm()).fold(0.0, f64::max),
            None => f64::INFINITY,
        };
        Self {
            body,
            field,
            shell,
            fixed: false,
            external: Response::default(),
            reach,
            load: Response::default(),
            before: None,
        }
    }

    /// Returns a body that the simulation does not move, such as the ground.
    pub fn fixed(body: RigidBody, field: Option<Arc<Field>>, shell: Option<Arc<PointShell>>) -> Self {
        Self { fixed: true, ..Self::new(body, field, shell) }
    }

    fn geometry(&self) -> Geometry<'_> {
        Geometry { field: self.field.as_deref(), shell: self.shell.as_deref(), surface: None }
    }

    fn as_body(&self) -> Body<'_> {
        Body { geometry: self.geometry(), kinematics: self.kinematics() }
    }

    fn kinematics(&self) -> Kinematics {
        let twist = if self.fixed { Twist::ZERO } else { self.body.twist() };
        Kinematics { twist, ..self.body.kinematics() }
    }

    fn sweep(&self, from: &Pose) -> Sweep<'_> {
        // Of a body moved ahead, the present velocity and not the predicted one.
        let twist = if self.fixed { Twist::ZERO } else { self.before.unwrap_or(self.body).twist() };
        let geometry = self.geometry();
        Sweep { geometry, poses: [*from, self.body.pose()], center: *self.body.mass.center(), twist }
    }
}

/// Result of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SceneReport {
    /// Kinetic and potential energy, J.
    pub energy: f64,
    /// Number of contacts, or of contact intervals.
    pub contacts: usize,
}

/// Bodies and the scratch memory to step them. Each pair is tested in both roles if possible.
pub struct Scene {
    pub members: Vec<Member>,
    pub settings: SceneSettings,
    from: Vec<Pose>,
    discrete: contact::Workspace,
    lasting: shell::Workspace,
}

impl Scene {
    pub fn new(members: Vec<Member>, settings: SceneSettings) -> Self {
        let from = Vec::with_capacity(members.len());
        Self { members, settings, from, discrete: contact::Workspace::new(), lasting: shell::Workspace::new() }
    }

    /// Makes one step of `dt` seconds. Warm steps allocate nothing.
    ///
    /// # Errors
    /// Those of the queries, in particular for a pose that is not finite any more.
    pub fn step(&mut self, dt: f64) -> Result<SceneReport> {
        let mut report = SceneReport::default();
        self.from.clear();
        self.from.extend(self.members.iter().map(|m| m.body.pose()));
        match self.settings.contacts {
            Contacts::Discrete => {
                self.find(&mut report)?;
                self.advance(dt);
            }
            Contacts::Continuous { .. } => {
                self.advance(dt);
                self.find(&mut report)?;
            }
            Contacts::Ahead { .. } => {
                for member in &mut self.members {
                    member.load = Response::default();
                    member.before = Some(member.body);
                }
                self.advance(dt);
                self.find(&mut report)?;
                for member in &mut self.members {
                    member.body = member.before.take().unwrap_or(member.body);
                }
                self.advance(dt);
            }
        }
        report.energy = self.energy();
        Ok(report)
    }

    /// Returns the kinetic energy and the potential energy in gravity, J.
    pub fn energy(&self) -> f64 {
        let of = |m: &Member| m.body.kinetic_energy() - m.body.mass.mass() * self.settings.gravity.dot(&m.body.center);
        self.members.iter().filter(|m| !m.fixed).map(of).sum()
    }

    /// Returns the depth of the deepest sample of any body in another one, metres; 0 when there is none.
    ///
    /// # Errors
    /// As [`Scene::step`].
    pub fn penetration(&mut self) -> Result<f64> {
        let mut deepest = 0.0;
        for i in 0..self.members.len() {
            for j in i + 1..self.members.len() {
                let (a, b) = (&self.members[i], &self.members[j]);
                if a.fixed && b.fixed || (a.body.center - b.body.center).norm() > a.reach + b.reach {
                    continue;
                }
                let (at_a, at_b, roles) = (a.body.pose(), b.body.pose(), roles(a, b));
                let (a, b) = (a.geometry(), b.geometry());
                if let Some(c) = contact::distance(a, &at_a, b, &at_b, roles, 0.0, &mut self.discrete)? {
                    deepest = f64::max(deepest, -c.separation);
                }
            }
        }
        Ok(deepest)
    }

    fn advance(&mut self, dt: f64) {
        for member in self.members.iter_mut().filter(|m| !m.fixed) {
            let mut load = member.load;
            load += member.body.weight(&self.settings.gravity);
            load += member.external;
            match self.settings.integrator {
                Integrator::Symplectic => member.body.symplectic_euler(&load.wrench, dt),
                Integrator::Implicit => {
                    member.body.implicit_euler(&load, dt);
                }
            }
        }
    }

    /// Recomputes the loads of all pairs.
    fn find(&mut self, report: &mut SceneReport) -> Result<()> {
        for member in &mut self.members {
            member.load = Response::default();
        }
        for i in 0..self.members.len() {
            for j in i + 1..self.members.len() {
                if self.may_touch(i, j) {
                    let loads = self.pair(i, j, report)?;
                    self.members[i].load += loads[0];
                    self.members[j].load += loads[1];
                }
            }
        }
        Ok(())
    }

    fn may_touch(&self, i: usize, j: usize) -> bool {
        let (a, b) = (&self.members[i], &self.members[j]);
        let travel = |k: usize| {
            let m = &self.members[k];
            (self.from[k].transform_point(&(*m.body.mass.center()).into()).coords - m.body.center).norm()
        };
        let apart = (a.body.center - b.body.center).norm();
        let reach = a.reach + b.reach + self.settings.penalty.offset + travel(i) + travel(j);
        // Poses that are not finite pass, so that the query reports them.
        !(a.fixed && b.fixed || apart > reach)
    }

    fn pair(&mut self, i: usize, j: usize, report: &mut SceneReport) -> Result<[Response; 2]> {
        let Self { members, settings, from, discrete, lasting } = self;
        let (a, b) = (&members[i], &members[j]);
        let roles = roles(a, b);
        let max_separation = settings.penalty.offset;
        match settings.contacts {
            Contacts::Discrete => {
                let (body_a, body_b) = (a.as_body(), b.as_body());
                let (at_a, at_b) = (&body_a.kinematics.pose, &body_b.kinematics.pose);
                let query = Query { roles, max_separation, ..Query::default() };
                let found = contact::contacts(body_a.geometry, at_a, body_b.geometry, at_b, &query, discrete)?;
                report.contacts += found.len();
                Ok([On::A, On::B].map(|on| penalty(found, &body_a, &body_b, on, &settings.penalty)))
            }
            Contacts::Continuous { midpoints } | Contacts::Ahead { midpoints } => {
                let (sweep_a, sweep_b) = (a.sweep(&from[i]), b.sweep(&from[j]));
                let query = impact::Query { roles, path: Path::Straight, max_separation, ..impact::Query::default() };
                let found = impact::contacts(&sweep_a.moving(), &sweep_b.moving(), &query, lasting)?;
                report.contacts += found.len();
                let settings = ContinuousSettings { penalty: settings.penalty, midpoints };
                Ok([On::A, On::B].map(|on| continuous(found, &sweep_a, &sweep_b, on, &settings)))
            }
        }
    }
}

/// Returns both roles if both are possible.
fn roles(a: &Member, b: &Member) -> Roles {
    let has_both = |m: &Member| m.field.is_some() && m.shell.is_some();
    if has_both(a) && has_both(b) {
        Roles::Both
    } else {
        Roles::One
    }
}
