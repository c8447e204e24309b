//! Constraints between the tool and other bodies, linearised about a pose: the rows that the god-object publishes, and
//! the force that they produce at any pose of the device. Knows contacts and the quadratic program, but no queries.

use super::bodies::{Obstacle, Tool};
use super::height_map::HeightMap;
use super::qp::{Outcome, Row, Solver, MAX_ROWS};
use super::shading::{slide, slip, Surface};
use super::types::Status;
use voxshell_base::math::{from_scaled_axis, scaled_axis, Mat6, Pose, Vec3, Vec6, Wrench};
use voxshell_base::memory::{with_capacity, GrowGuarded};
use voxshell_base::{Error, Result};

/// A contact that a body may slide along and leave, but not cross.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constraint {
    /// Contact point, world frame, metres.
    pub point: Vec3,
    /// Unit, from the tool into the obstacle, world frame.
    pub normal: Vec3,
    /// Remaining distance that the tool may move along the normal, metres: not negative.
    pub gap: f64,
    /// Feature of the sample: as [`voxshell_contact::Contact::feature`], with the tool as A.
    pub feature: u32,
    /// Number of the obstacle.
    pub body: u32,
    /// Normal of the force, unit, where it differs from the constraint's ([`Surface::shading`]).
    pub shaded: Vec3,
    /// Pose of the obstacle, body to world: the frame of its texture.
    pub frame: Pose,
    /// Velocity of the obstacle's origin, m/s.
    pub velocity: Vec3,
    /// Speed of the obstacle at the point along the normal, m/s: positive where it recedes.
    pub recedes: f64,
    /// μ of Coulomb friction.
    pub friction: f64,
    /// Factor on the force of the constraint, above 0 and at most 1.
    pub share: f64,
}

impl Constraint {
    /// Sets the velocity and the surface of the obstacle.
    pub(super) fn set_feel(&mut self, obstacle: &Obstacle, surface: &Surface) {
        self.velocity = obstacle.twist.linear;
        self.recedes = self.normal.dot(&obstacle.twist.at(&(self.point - obstacle.pose.translation.vector)));
        self.friction = obstacle.feel.friction.unwrap_or(surface.friction);
        self.share = obstacle.feel.stiffness.min(1.0);
    }

    /// Returns the row on the translation of the tool's centre and its rotation vector: Xu & Barbič 2016, equation 7,
    /// with the gap on its right-hand side.
    pub fn row(&self, center: &Vec3) -> Row {
        Row { normal: column(&self.normal, &(self.point - center)), slack: self.gap }
    }
}

/// Returns the row of a direction at the end of an arm: it maps a motion of the centre to that direction, and its
/// transpose maps a force along the direction to a load on the centre.
pub(super) fn column(n: &Vec3, arm: &Vec3) -> Vec6 {
    let moment = arm.cross(n);
    Vec6::new(n.x, n.y, n.z, moment.x, moment.y, moment.z)
}

/// Returns the difference from one pose of a body to another: translation of its centre, metres, and rotation vector of
/// at most half a turn, world.
pub fn difference(from: &Pose, to: &Pose, center: &Vec3) -> Vec6 {
    let centers = [from, to].map(|p| p.transform_point(&(*center).into()));
    let (displacement, turn) = (centers[1] - centers[0], scaled_axis(&(to.rotation * from.rotation.inverse())));
    Vec6::new(displacement.x, displacement.y, displacement.z, turn.x, turn.y, turn.z)
}

/// Returns the pose that is a [`difference`] away.
pub fn moved(pose: &Pose, center: &Vec3, by: &Vec6) -> Pose {
    let turn = from_scaled_axis(by.fixed_rows::<3>(3).into_owned());
    let rotation = turn * pose.rotation;
    let to = pose.transform_point(&(*center).into()).coords + by.fixed_rows::<3>(0);
    Pose::from_parts((to - rotation * center).into(), rotation)
}

/// Returns the mass matrix about the centre, world axes: M.
pub fn mass_matrix(tool: &Tool, pose: &Pose) -> Mat6 {
    let mut mass = Mat6::identity() * tool.mass;
    mass.fixed_view_mut::<3, 3>(3, 3).copy_from(&tool.inertia_at(pose));
    mass
}

/// Quasi-static model of a god-object at a pose, for the loop that computes forces (Ortega et al. 2007, section 5).
#[derive(Clone, Debug)]
pub struct ConstraintModel {
    /// x_s of the god-object, body to world.
    pub pose: Pose,
    /// Centre of the tool, body frame.
    pub center: Vec3,
    /// M at that pose.
    pub mass: Mat6,
    /// k_s, a fraction of the displacement per step.
    pub coupling: f64,
    /// k_h, 1/s²: the hand feels the stiffness k_s k_h M.
    pub stiffness: f64,
    pub surface: Surface,
    /// Height map, in addition to the surface's own texture.
    pub height_map: Option<HeightMap>,
    /// At most [`MAX_ROWS`]; capacity for all is reserved from the start.
    pub constraints: Vec<Constraint>,
}

impl ConstraintModel {
    /// Makes the model of a tool in free space.
    pub fn new(tool: &Tool, pose: &Pose, coupling: f64, stiffness: f64) -> Self {
        let mass = mass_matrix(tool, pose);
        let (surface, constraints) = (Surface::default(), with_capacity(MAX_ROWS));
        Self { pose: *pose, center: tool.center, mass, coupling, stiffness, surface, height_map: None, constraints }
    }

    /// Returns the fraction of an allowed motion that friction leaves. Call it after the program that found the motion:
    /// its rows are the constraints.
    pub(super) fn slip(&self, solver: &Solver, allowed: &Vec6) -> f64 {
        slip(&self.mass, allowed, self.friction_work(solver, allowed).map(|(_, work)| work))
    }

    /// Returns the index of each active constraint and the work of its friction on a motion: μ λ |v|.
    fn friction_work<'a>(&'a self, solver: &'a Solver, motion: &'a Vec6) -> impl Iterator<Item = (usize, f64)> + 'a {
        let center = self.pose.transform_point(&self.center.into()).coords;
        solver.active().iter().enumerate().map(move |(k, &row)| {
            let c = &self.constraints[usize::from(row)];
            let work = match c.friction {
                0.0 => 0.0,
                friction => friction * solver.multiplier(k) * slide(motion, &(c.point - center), &c.normal),
            };
            (usize::from(row), work)
        })
    }

    /// Returns the load that holds the tool back from a motion, in the units of M a. It comes from the constraints and
    /// from friction. `each` gets the parts of which it is the sum, and their constraints.
    pub(super) fn hold(
        &self,
        solver: &Solver,
        allowed: &Vec6,
        slip: f64,
        mut each: impl FnMut(&Constraint, &Vec6),
    ) -> Held {
        let center = self.pose.transform_point(&self.center.into()).coords;
        let turns = self.surface.turns_forces() || self.height_map.is_some();
        let displacement = allowed * (slip / self.coupling);
        let mut held = Held { felt: Vec6::zeros(), spring: Vec6::zeros(), status: Status::NORMAL };
        let rubbed: f64 = self.friction_work(solver, allowed).map(|(_, work)| work).sum();
        let friction = if slip < 1.0 { self.mass * allowed * (slip - 1.0) } else { Vec6::zeros() };
        let bump = match turns {
            true => self.mean_perturbation(solver, allowed, &displacement, &mut held.status),
            false => Vec3::zeros(),
        };
        for (k, (i, work)) in self.friction_work(solver, allowed).enumerate() {
            let c = &self.constraints[i];
            let (arm, load) = (c.point - center, solver.multiplier(k) * c.share);
            let straight = column(&-c.normal, &arm) * load;
            let felt = match turns {
                true => column(&self.surface.texture.outward(&-c.shaded, &bump), &arm) * load,
                false => straight,
            };
            // Each constraint has the part of the friction that is its part of the work.
            let rubs = if work > 0.0 { friction * (work / rubbed * c.share) } else { Vec6::zeros() };
            held.spring += straight + rubs;
            held.felt += felt + rubs;
            each(c, &(felt + rubs));
        }
        held
    }

    /// Returns the slope of texture and height map across the surface, averaged over the active constraints, world frame.
    /// "In the case of multiple contact points, the perturbation vector used to modify the force vector direction is
    /// defined by averaging the perturbation vector at each contact point" (Ortega et al. 2007, section 6). Each
    /// constraint counts by its load, so that the force is continuous where one becomes active.
    fn mean_perturbation(&self, solver: &Solver, allowed: &Vec6, displacement: &Vec6, status: &mut Status) -> Vec3 {
        let center = self.pose.transform_point(&self.center.into()).coords;
        let turn: Vec3 = displacement.fixed_rows::<3>(3).into_owned();
        let (mut sum, mut loads) = (Vec3::zeros(), 0.0);
        for (k, (i, _)) in self.friction_work(solver, allowed).enumerate() {
            let c = &self.constraints[i];
            let load = solver.multiplier(k) * c.share;
            // Evaluate at the point to which the tool is moving, as the hand is ahead of the last round.
            let there = c.point + displacement.fixed_rows::<3>(0) + turn.cross(&(c.point - center));
            let there = c.frame.inverse_transform_point(&there.into()).coords;
            let mut slope = self.surface.texture.slope(&there);
            if let Some(height_map) = &self.height_map {
                match height_map.slope(c.body, &there) {
                    Some(own) => slope += own,
                    None => *status |= Status::BAD_HEIGHT,
                }
            }
            let slope = c.frame.rotation * slope;
            sum += (slope - c.shaded * c.shaded.dot(&slope)) * load;
            loads += load;
        }
        if loads > 0.0 {
            sum / loads
        } else {
            Vec3::zeros()
        }
    }

    /// Copies another model, without allocation.
    pub fn copy_from(&mut self, other: &Self) {
        let Self { pose, center, mass, coupling, stiffness, surface, height_map, constraints } = other;
        (self.pose, self.center, self.mass, self.surface) = (*pose, *center, *mass, *surface);
        (self.coupling, self.stiffness) = (*coupling, *stiffness);
        self.height_map.clone_from(height_map);
        self.constraints.clear();
        self.constraints.extend_slice_guarded(constraints);
    }
}

/// Load that constraints and friction put on the tool, in the units of M a.
pub(super) struct Held {
    /// As shading, texture and height map turn it.
    pub felt: Vec6,
    /// Before they turn it.
    pub spring: Vec6,
    /// `BAD_HEIGHT` or none.
    pub status: Status,
}

/// Effect of constraints on the hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constrained {
    /// k_h M (a_c − a_u), on the device, about the tool's centre at the device's pose, world frame, including friction,
    /// and turned by shading and texture. Exactly zero where no constraint holds the tool back.
    pub wrench: Wrench,
    /// The same before it was turned: the wrench of a spring, which returns the energy that it stored.
    pub spring: Wrench,
    /// a_u = k_s (x_h − x_s).
    pub unconstrained: Vec6,
    pub constrained: Vec6,
    /// `BAD_HEIGHT` or none.
    pub status: Status,
}

/// Computes forces from published constraints at 1 kHz: no allocation, no lock, no system call. Each loop has its own
/// instance.
///
/// The force is a spring from the device to the nearest pose that the constraints allow. When new constraints arrive,
/// each yields by the distance that the last such pose needs, and returns over a few milliseconds (Ortega et al. 2007,
/// section 5). So a force never jumps when constraints arrive, and there is no force without constraints.
pub struct ConstraintForce {
    solver: Solver,
    rows: Vec<Row>,
    /// Distance by which each row yields, metres.
    eased: Vec<f64>,
    /// Pose to which the spring was last attached.
    anchor: Option<Pose>,
    /// Time in which the distance of a yielding constraint falls to about a third (1/e), seconds.
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
            rows: with_capacity(MAX_ROWS),
            eased: with_capacity(MAX_ROWS),
            anchor: None,
            smoothing: 5e-3,
        }
    }

    /// Resets the last force: the constraints of the next model start without one.
    pub fn reset(&mut self) {
        self.anchor = None;
        self.rows.clear();
        self.eased.clear();
    }

    /// Takes over a new model; `device` is the pose at which the last force was computed.
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
            self.rows.push_guarded(row);
            self.eased.push_guarded((row.normal.dot(&there) - row.slack).max(0.0));
        }
        self.solver.try_first([]);
        Ok(())
    }

    /// Returns the force at a pose of the device, `dt` seconds after the last one, from the model that was adopted
    /// last.
    ///
    /// # Errors
    /// `InvalidArgument` for numbers that are not finite.
    pub fn evaluate(&mut self, model: &ConstraintModel, device: &Pose, dt: f64) -> Result<Constrained> {
        self.evaluate_each(model, device, [dt, 0.0], |_, _| {})
    }

    /// Returns the force as [`ConstraintForce::evaluate`], and gives `each` its parts with their constraints. The
    /// obstacles have moved on since the model was made, `age` seconds ago, and the constraints with them. Without that a
    /// force would lag behind an obstacle that comes, but not behind one that goes, and give it more energy than it took.
    pub(super) fn evaluate_each(
        &mut self,
        model: &ConstraintModel,
        device: &Pose,
        [dt, age]: [f64; 2],
        mut each: impl FnMut(&Constraint, &Wrench),
    ) -> Result<Constrained> {
        let fade = libm::exp(-dt.max(0.0) / self.smoothing.max(1e-9));
        let unconstrained = difference(&model.pose, device, &model.center) * model.coupling;
        let kept = self.eased.iter_mut().zip(&mut self.rows).zip(&model.constraints);
        for ((eased, row), constraint) in kept {
            *eased *= fade;
            // A plane that moves by s moves the pose at which the spring ends by s: that is k_s s of a step.
            row.slack = constraint.gap + *eased + model.coupling * constraint.recedes * age;
        }
        let mut solution = self.solver.solve(&model.mass, &unconstrained, &self.rows)?;
        if solution.outcome == Outcome::Infeasible {
            // Between obstacles that meet, there is no room where they will be: take them where they were.
            for ((row, eased), constraint) in self.rows.iter_mut().zip(&self.eased).zip(&model.constraints) {
                row.slack = constraint.gap + eased;
            }
            solution = self.solver.solve(&model.mass, &unconstrained, &self.rows)?;
        }
        let held = solution.outcome != Outcome::Free;
        let constrained = solution.constrained;
        self.anchor =
            Some(if held { moved(&model.pose, &model.center, &(constrained / model.coupling)) } else { *device });
        let (mut wrench, mut spring, mut status) = (Wrench::ZERO, Wrench::ZERO, Status::NORMAL);
        if held {
            let slip = model.slip(&self.solver, &constrained);
            let wrench_of = |load: &Vec6| Wrench::from_column(&(load * model.stiffness));
            let held = model.hold(&self.solver, &constrained, slip, |c, load| each(c, &wrench_of(load)));
            status = held.status;
            [wrench, spring] = [held.felt, held.spring].map(|load| wrench_of(&load));
            if solution.outcome == Outcome::Infeasible {
                // No constraint is active, and the hand is held where it is.
                [wrench, spring] = [wrench_of(&solution.load); 2];
            }
        }
        Ok(Constrained { wrench, spring, unconstrained, constrained, status })
    }
}
