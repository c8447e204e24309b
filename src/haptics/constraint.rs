//! What keeps a body out of others, linearised about a pose: the rows that the god-object publishes, and the force that they make
//! at any pose of the device. Knows contacts and the quadratic program; nothing of queries.

use super::bodies::Tool;
use super::qp::{Outcome, Row, Solver, MAX_ROWS};
use super::relief::Relief;
use super::shading::{slide, slip, Surface};
use super::types::Status;
use crate::math::{Mat6, Pose, Rotation, Vec3, Vec6, Wrench};
use crate::{Error, Result};

/// A contact that a body may slide along and leave, but not cross.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constraint {
    /// Where, world frame, metres.
    pub point: Vec3,
    /// Unit, from the tool into the obstacle, world frame.
    pub normal: Vec3,
    /// How far the tool may still go along the normal, metres: not negative.
    pub gap: f64,
    /// Of the sample: as [`crate::contact::Contact::feature`], with the tool as A.
    pub feature: u32,
    /// Number of the obstacle.
    pub body: u32,
    /// Unit: the normal that the force has, where that is another ([`Surface::shading`]).
    pub shaded: Vec3,
    /// Where the obstacle is, body to world: what its texture is fixed to.
    pub frame: Pose,
}

impl Constraint {
    /// On the translation of the tool's centre and its rotation vector: Xu & Barbič 2016, equation 7, with the gap on its right.
    pub fn row(&self, center: &Vec3) -> Row {
        Row { normal: column(&self.normal, &(self.point - center)), slack: self.gap }
    }
}

/// What a direction at the end of an arm is to a motion of the centre and to a load on it.
pub(super) fn column(n: &Vec3, arm: &Vec3) -> Vec6 {
    let moment = arm.cross(n);
    Vec6::new(n.x, n.y, n.z, moment.x, moment.y, moment.z)
}

/// From one pose of a body to another: translation of its centre, metres, and rotation vector of at most half a turn, world.
pub fn difference(from: &Pose, to: &Pose, center: &Vec3) -> Vec6 {
    let centers = [from, to].map(|p| p.transform_point(&(*center).into()));
    let (way, turn) = (centers[1] - centers[0], (to.rotation * from.rotation.inverse()).scaled_axis());
    Vec6::new(way.x, way.y, way.z, turn.x, turn.y, turn.z)
}

/// The pose that is a [`difference`] away.
pub fn moved(pose: &Pose, center: &Vec3, by: &Vec6) -> Pose {
    let turn = Rotation::from_scaled_axis(by.fixed_rows::<3>(3).into_owned());
    let rotation = turn * pose.rotation;
    let to = pose.transform_point(&(*center).into()).coords + by.fixed_rows::<3>(0);
    Pose::from_parts((to - rotation * center).into(), rotation)
}

/// Inertia about the centre, world axes: M.
pub fn mass_matrix(tool: &Tool, pose: &Pose) -> Mat6 {
    let mut mass = Mat6::identity() * tool.mass;
    mass.fixed_view_mut::<3, 3>(3, 3).copy_from(&tool.inertia_at(pose));
    mass
}

/// The local quasi-statics of a god-object, as it is handed to the loop that makes forces (Ortega et al. 2007, section 5).
#[derive(Clone, Debug)]
pub struct ConstraintModel {
    /// x_s of the god-object, body to world.
    pub pose: Pose,
    /// Of the tool, body frame.
    pub center: Vec3,
    /// M at that pose.
    pub mass: Mat6,
    /// k_s, a part of the way per step.
    pub coupling: f64,
    /// k_h, 1/s²: k_s k_h M is the stiffness that is felt.
    pub stiffness: f64,
    pub surface: Surface,
    /// Bumps beside the surface's own.
    pub relief: Option<Relief>,
    /// At most [`MAX_ROWS`]; room for all from the start.
    pub constraints: Vec<Constraint>,
}

impl ConstraintModel {
    /// Of a tool in free space.
    pub fn new(tool: &Tool, pose: &Pose, coupling: f64, stiffness: f64) -> Self {
        let mass = mass_matrix(tool, pose);
        let (surface, constraints) = (Surface::default(), Vec::with_capacity(MAX_ROWS));
        Self { pose: *pose, center: tool.center, mass, coupling, stiffness, surface, relief: None, constraints }
    }

    /// The part of an allowed motion that friction leaves, after the program that found it: its rows are the constraints.
    pub(super) fn slip(&self, solver: &Solver, allowed: &Vec6) -> f64 {
        let center = self.pose.transform_point(&self.center.into()).coords;
        let slides = solver.active().iter().enumerate().map(|(k, &row)| {
            let c = &self.constraints[usize::from(row)];
            (solver.multiplier(k), slide(allowed, &(c.point - center), &c.normal))
        });
        slip(self.surface.friction, &self.mass, allowed, slides)
    }

    /// What holds the tool back from a motion, in the units of M a: against the constraints, as shading, texture and relief turn
    /// it, and against what friction takes of it.
    pub(super) fn hold(&self, solver: &Solver, load: &Vec6, allowed: &Vec6, slip: f64) -> (Vec6, Status) {
        let (mut held, mut status) = (*load, Status::NORMAL);
        if self.surface.turns_forces() || self.relief.is_some() {
            let center = self.pose.transform_point(&self.center.into()).coords;
            let way = allowed * (slip / self.coupling);
            let turn: Vec3 = way.fixed_rows::<3>(3).into_owned();
            held = Vec6::zeros();
            for (k, &row) in solver.active().iter().enumerate() {
                let c = &self.constraints[usize::from(row)];
                let arm = c.point - center;
                // Where the tool is on its way to, as the hand is ahead of the last round.
                let there = c.point + way.fixed_rows::<3>(0) + turn.cross(&arm);
                let there = c.frame.inverse_transform_point(&there.into()).coords;
                let mut slope = self.surface.texture.slope(&there);
                if let Some(relief) = &self.relief {
                    match relief.slope(c.body, &there) {
                        Some(own) => slope += own,
                        None => status |= Status::BAD_HEIGHT,
                    }
                }
                let outward = self.surface.texture.outward(&-c.shaded, &(c.frame.rotation * slope));
                held += column(&outward, &arm) * solver.multiplier(k);
            }
        }
        if slip < 1.0 {
            held -= self.mass * allowed * (1.0 - slip);
        }
        (held, status)
    }

    /// Takes over another's, without allocation.
    pub fn copy_from(&mut self, other: &Self) {
        let Self { pose, center, mass, coupling, stiffness, surface, relief, constraints } = other;
        (self.pose, self.center, self.mass, self.surface) = (*pose, *center, *mass, *surface);
        (self.coupling, self.stiffness) = (*coupling, *stiffness);
        self.relief.clone_from(relief);
        self.constraints.clear();
        self.constraints.extend_from_slice(constraints);
    }
}

/// What constraints do to the hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constrained {
    /// k_h M (a_c − a_u), on the device, about the tool's centre at the device's pose, world frame, with what friction adds, and
    /// turned as shading and texture say. Exactly zero where no constraint holds the tool back.
    pub wrench: Wrench,
    /// The same as it was before it was turned: of a spring, which gives back what it took.
    pub spring: Wrench,
    /// a_u = k_s (x_h − x_s).
    pub unconstrained: Vec6,
    pub constrained: Vec6,
    /// `BAD_HEIGHT` or none.
    pub status: Status,
}

/// Makes forces of published constraints at 1 kHz: no allocation, no lock, no system call. Each loop brings its own.
///
/// The force is a spring from the device to the nearest pose that the constraints allow. When others arrive, each gives way by
/// as much as the last such pose needs, and returns over a few milliseconds (Ortega et al. 2007, section 5): so a force never
/// grows at once because constraints came, and there is none where they are not.
pub struct ConstraintForce {
    solver: Solver,
    rows: Vec<Row>,
    /// By how much each row gives way, metres.
    eased: Vec<f64>,
    /// Where the spring was fixed last.
    anchor: Option<Pose>,
    /// Time in which a constraint that gives way returns to a third, seconds.
    pub smoothing: f64,
}

impl Default for ConstraintForce {
    fn default() -> Self {
        Self::new()
    }
}

impl ConstraintForce {
    pub fn new() -> Self {
        Self {
            solver: Solver::new(),
            rows: Vec::with_capacity(MAX_ROWS),
            eased: Vec::with_capacity(MAX_ROWS),
            anchor: None,
            smoothing: 5e-3,
        }
    }

    /// Forgets the last force: the next model's constraints begin without one.
    pub fn reset(&mut self) {
        self.anchor = None;
        self.rows.clear();
        self.eased.clear();
    }

    /// Another model arrived; `device` is the pose that the last force was made at.
    ///
    /// # Errors
    /// `InvalidArgument` for more constraints than [`MAX_ROWS`].
    pub fn adopt(&mut self, model: &ConstraintModel, device: &Pose) -> Result<()> {
        if model.constraints.len() > MAX_ROWS {
            return Err(Error::argument("constraints", model.constraints.len(), format!("at most {MAX_ROWS}")));
        }
        let anchor = self.anchor.unwrap_or(*device);
        let there = difference(&model.pose, &anchor, &model.center) * model.coupling;
        let center = model.pose.transform_point(&model.center.into()).coords;
        self.rows.clear();
        self.eased.clear();
        for constraint in &model.constraints {
            let row = constraint.row(&center);
            self.rows.push(row);
            self.eased.push((row.normal.dot(&there) - row.slack).max(0.0));
        }
        self.solver.try_first([]);
        Ok(())
    }

    /// The force at a pose of the device, `dt` seconds after the last one, from the model that was adopted last.
    ///
    /// # Errors
    /// `InvalidArgument` for numbers that are not finite.
    pub fn evaluate(&mut self, model: &ConstraintModel, device: &Pose, dt: f64) -> Result<Constrained> {
        let fade = (-dt.max(0.0) / self.smoothing.max(1e-9)).exp();
        let unconstrained = difference(&model.pose, device, &model.center) * model.coupling;
        let kept = self.eased.iter_mut().zip(&mut self.rows).zip(&model.constraints);
        for ((eased, row), constraint) in kept {
            *eased *= fade;
            row.slack = constraint.gap + *eased;
        }
        let solution = self.solver.solve(&model.mass, &unconstrained, &self.rows)?;
        let held = solution.outcome != Outcome::Free;
        let constrained = solution.constrained;
        self.anchor =
            Some(if held { moved(&model.pose, &model.center, &(constrained / model.coupling)) } else { *device });
        let (mut wrench, mut spring, mut status) = (Wrench::ZERO, Wrench::ZERO, Status::NORMAL);
        if held {
            let slip = model.slip(&self.solver, &constrained);
            let straight = solution.load - model.mass * constrained * (1.0 - slip);
            let (felt, said) = model.hold(&self.solver, &solution.load, &constrained, slip);
            status = said;
            [wrench, spring] = [felt, straight].map(|load| Wrench::from_column(&(load * model.stiffness)));
        }
        Ok(Constrained { wrench, spring, unconstrained, constrained, status })
    }
}
