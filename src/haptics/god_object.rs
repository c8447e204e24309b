//! The god-object: a body that follows the hand as far as other bodies let it, and is never inside them (Zilles &
//! Salisbury 1995; Ortega, Redon & Coquillart 2007 in six degrees of freedom; Xu & Barbič 2016, section 4.2, on
//! distance fields).
//!
//! Each step it moves toward a_u = k_s (x_h − x_s), projected on the motions that its constraints allow, up to the
//! first time of contact on a rigid motion. It repeats this in substeps until the step is over.
//!
//! The papers exclude the last step's contacts from the continuous query, and test them discretely after it: until then
//! nothing holds them. Here all samples are tested all the time, at a level above the surface that adapts: a step may
//! bring no sample nearer than a little below the nearest one at its beginning, down to a floor that is above the
//! surface too. The constraints ask for a little more distance than that, which brings samples back up. So a body
//! slides, and neither rounding nor turning nor curvature takes a sample inside: each path is certified as a whole.

mod budget;
mod constraints;
mod cuts;
mod discrete;
mod lock;
mod outcome;
mod penetration;
mod triangles;
mod types;

pub use budget::Budget;
use budget::Spent;
use constraints::{constraint, Cut};
pub use types::{Advance, Detection, GodSettings, Metric, Waypoint};

use std::sync::{Arc, Weak};

use super::bodies::{Forms, Obstacle, Tool};
use super::constraint::{difference, mass_matrix, moved, Constraint, ConstraintModel};
use super::height_map::HeightMap;
use super::qp::{Outcome, Row, Solver, MAX_ROWS};
use super::types::Status;
use voxshell_base::math::{limits, Mat3, Pose, Vec3, Vec6};
use voxshell_base::memory::{with_capacity, GrowGuarded};
use voxshell_base::Result;
use voxshell_ccd::impact::{self, time_of_impact, Moving, Path};
use voxshell_ccd::mesh_impact::MeshWorkspace;
use voxshell_ccd::mesh_near::NearWorkspace;
use voxshell_ccd::shell;
use voxshell_contact::{self as contact, Contact, Geometry, Roles};
use voxshell_field::{Field, SignedDistance};
use voxshell_mesh::Locator;
use voxshell_pointshell::PointShell;

/// Heights above the surface, in skins.
/// Lower bound of all heights: a body that is found nearer was put there, and counts as inside.
const HARD: f64 = 0.1;
const FLOOR: f64 = 0.25;
/// Samples below this height move back up before the god-object goes on.
const LOW: f64 = 0.7;
const STOP: f64 = 1.0;
/// Height at which constraints hold samples; a path that begins there is not stopped at once.
const REST: f64 = 1.3;
/// Samples below this height are constraints.
const NEAR: f64 = 3.0;
/// Distance by which a substep may bring the nearest sample down.
const GIVE: f64 = 0.2;
/// Additional substeps for a god-object that has just slid over an edge.
const LANDING: u32 = 2;
/// Tolerance of a continuous query.
const TOLERANCE: f64 = 0.01;

/// Largest number of cuts: constraints that stopped a substep but are no sample's gradient, so that contact queries do
/// not return them.
const MAX_CUTS: usize = 24;

/// Number of steps without motion, though the constraints allow it, after which constraints are added that do not.
const LOCKS: u32 = 2;

/// Smallest limit of the number of constraints with an obstacle, however many obstacles there are: few of many are near.
const FEWEST: usize = 16;

/// A body in the hand that stays outside other bodies.
pub struct GodObject {
    tool: Tool,
    settings: GodSettings,
    model: ConstraintModel,
    /// Skin of the bodies of the last step, metres.
    skin: f64,
    /// Poses of the obstacles at the end of the last step.
    last: Vec<Pose>,
    cuts: Vec<Cut>,
    /// Signed distance of each of the model's constraints.
    separations: Vec<f64>,
    /// For each obstacle: φ below which the god-object takes no sample, metres. 0, or negative if it is inside.
    levels: Vec<f64>,
    /// The levels of the last step, and the lowest since it is inside.
    last_levels: Vec<f64>,
    first_levels: Vec<f64>,
    /// For each obstacle: φ of the nearest sample, as far as it was looked for.
    depths: Vec<f64>,
    /// Pose at which no way out was found.
    no_way_out: Option<Pose>,
    rows: Vec<Row>,
    solver: Solver,
    /// One for each obstacle, each with the cache of its pair.
    near: Vec<contact::Workspace>,
    /// The obstacles of the last step, and φ of the nearest sample at its end, if the constraints are still those.
    known: Vec<(Weak<Field>, Weak<PointShell>)>,
    settled: Option<f64>,
    continuous: shell::Workspace,
    near_triangles: NearWorkspace,
    moving_triangles: MeshWorkspace,
    inside: bool,
    /// Number of steps since the god-object last moved.
    still: u32,
    path: Vec<Waypoint>,
    spent: Spent,
}

impl GodObject {
    /// Makes the god-object of a tool, whose mass matrix is M: the metric of its motion (Gauss' principle of least
    /// constraint, Ortega et al. 2007, equation 1), and the stiffness k_s k_h M of its force.
    ///
    /// # Errors
    /// `InvalidArgument` for a tool or settings outside their ranges.
    pub fn new(tool: Tool, pose: &Pose, settings: GodSettings) -> Result<Self> {
        tool.check()?;
        settings.check()?;
        let mut model = ConstraintModel::new(&tool, pose, settings.coupling, settings.stiffness);
        model.surface = settings.surface;
        Ok(Self {
            tool,
            settings,
            model,
            skin: 0.0,
            last: Vec::new(),
            cuts: with_capacity(MAX_CUTS),
            separations: with_capacity(MAX_ROWS),
            levels: Vec::new(),
            last_levels: Vec::new(),
            first_levels: Vec::new(),
            depths: Vec::new(),
            no_way_out: None,
            rows: with_capacity(MAX_ROWS),
            solver: Solver::new(),
            near: Vec::new(),
            known: Vec::new(),
            settled: None,
            continuous: shell::Workspace::new(),
            near_triangles: NearWorkspace::default(),
            moving_triangles: MeshWorkspace::new(),
            inside: false,
            still: 0,
            path: with_capacity(64 + 4 * settings.substeps.min(64) as usize),
            spent: Spent::default(),
        })
    }

    /// x_s, body to world.
    pub fn pose(&self) -> Pose {
        self.model.pose
    }

    /// Returns the model for the loop that computes forces.
    pub fn model(&self) -> &ConstraintModel {
        &self.model
    }

    /// Returns the smallest height of samples above the surface, metres; known after the first step.
    pub fn skin(&self) -> f64 {
        self.skin
    }

    /// Returns the path of the last step: between two waypoints it is a screw motion ([`Moving::pose`]). The queries
    /// covered all of that path, unless the step began inside, or ended there.
    pub fn path(&self) -> &[Waypoint] {
        &self.path
    }

    /// Changes the mass matrix and the settings, from the next step on.
    ///
    /// # Errors
    /// `InvalidArgument` for settings outside their ranges.
    pub fn set_settings(&mut self, mass: f64, inertia: Mat3, settings: GodSettings) -> Result<()> {
        settings.check()?;
        (self.tool.mass, self.tool.inertia) = (mass, inertia);
        self.model.mass = mass_matrix(&self.tool, &self.model.pose);
        (self.model.coupling, self.model.stiffness) = (settings.coupling, settings.stiffness);
        self.model.surface = settings.surface;
        self.settings = settings;
        // The constraints hold the surface settings that they were made with.
        self.settled = None;
        Ok(())
    }

    /// Sets a height map on the obstacles, in addition to [`Surface::texture`](super::Surface::texture).
    pub fn set_height_map(&mut self, height_map: Option<HeightMap>) {
        self.model.height_map = height_map;
    }

    /// Puts the god-object at another pose, without testing the motion in between. If that pose is inside, the next
    /// step pushes it out; if there is no way out, no later step takes it deeper, and each reports `PENETRATING`.
    pub fn reset(&mut self, pose: &Pose) {
        self.model.pose = *pose;
        self.model.constraints.clear();
        self.cuts.clear();
        self.last.clear();
        self.settled = None;
        self.path.clear();
        (self.inside, self.still) = (false, 0);
        self.levels.fill(0.0);
        self.first_levels.fill(0.0);
        self.no_way_out = None;
    }

    /// Advances one step toward the hand, while obstacles move from their poses at the last step to their present ones.
    ///
    /// At its end no sample is inside, nor nearer than a tenth of the skin, unless the status is `PENETRATING`. None
    /// was so during the motion, if the step did not begin inside. If it did and there is no way out, the motion takes
    /// no sample deeper into an obstacle than the deepest one was when the god-object came inside, by more than 1.05
    /// skins. Warm steps allocate nothing; the same steps give the same bytes, unless a time limit ends them. With
    /// [`Detection::Discrete`] these statements about samples do not hold.
    ///
    /// # Errors
    /// `InvalidArgument` for a pose that is not finite, `Unsupported` for bodies without the forms that the roles need.
    pub fn advance(&mut self, target: &Pose, bodies: &[Obstacle]) -> Result<Advance> {
        self.begin(target, bodies)?;
        let center = self.tool.center;
        let mut wanted = difference(&self.model.pose, target, &center) * self.settings.coupling;
        // Screw motions turn by less than half a turn.
        let turn = wanted.fixed_rows::<3>(3).norm();
        if turn > 2.0 {
            wanted *= 2.0 / turn;
        }
        let goal = moved(&self.model.pose, &center, &wanted);
        let (mut aim, mut time, mut substeps, mut stuck) = (goal, 0.0, 0, false);
        let start = self.model.pose;
        let (moving, mut partial) = (self.obstacles_move(bodies), false);
        self.path.clear();
        self.add_waypoint(time);
        if self.settings.detection == Detection::Discrete {
            return self.step_discretely(target, &goal, bodies);
        }
        let mut least = match self.settled.take() {
            Some(least) => least,
            None => self.come_out(bodies, time)?,
        };
        while least > FLOOR * self.skin {
            // A god-object in free space gets more substeps, so that it does not stop there while the hand is behind an
            // obstacle.
            let in_the_air = time >= 1.0 && self.model.constraints.is_empty();
            if substeps >= self.settings.substeps + if in_the_air { LANDING } else { 0 } {
                break;
            }
            substeps += 1;
            if least < LOW * self.skin {
                // Within a long step, the motion that constraints ask for would come too late.
                least = self.push_out(bodies, time, least)?;
            }
            if least <= FLOOR * self.skin {
                break;
            }
            let displacement = difference(&self.model.pose, &aim, &center);
            let (mut allowed, mut slip) = self.allowed(&displacement, bodies, time)?;
            if self.is_held_inside() && self.length(&allowed) < self.skin && self.length(&displacement) >= self.skin {
                if let Some(leaving) = self.leaving(target, &displacement, (bodies, time))? {
                    (allowed, slip, least) = (leaving.0, 1.0, leaving.1);
                }
            }
            if slip < 1.0 {
                // The motion that friction holds back is not tried again.
                aim = moved(&self.model.pose, &center, &(displacement - allowed * (1.0 - slip)));
            }
            let step = allowed * slip;
            if time >= 1.0 && self.length(&step) < self.skin {
                break;
            }
            let waits = time >= 1.0 || !moving;
            if substeps > 1 && waits && self.spent.ends(&self.settings.budget, substeps - 1) {
                partial = self.length(&step) >= self.skin;
                (substeps, stuck) = (substeps - 1, stuck && !partial);
                break;
            }
            let to = moved(&self.model.pose, &center, &step);
            let give = (GIVE * self.skin).min(0.5 * (least - FLOOR * self.skin));
            let level = (STOP * self.skin).min(least - give);
            let hit = self.first_hit(&to, bodies, [time, 1.0], level)?;
            let part = hit.map_or(1.0, |(_, c)| c.toi);
            self.go(&to, part);
            let ends = if part >= 1.0 { 1.0 } else { time + part * (1.0 - time) };
            stuck = self.length(&step) * part < 1e-3 * self.skin && hit.is_some();
            let by_samples = hit.filter(|(body, _)| self.meshes(*body, &bodies[*body]).is_none());
            let added = match by_samples {
                Some((body, contact)) => self.cut(body, &contact, (bodies, ends), stuck)?,
                None => false,
            };
            time = ends;
            self.add_waypoint(time);
            least = self.gather(bodies, time, NEAR)?;
            // A cut that is not kept would only be made again.
            let adds = |(body, hit): (usize, Contact)| added && self.cuts.iter().any(|cut| cut.is_of(body, &hit));
            // If nothing was hit, the god-object may have slid over an edge, and more motion may be possible behind it.
            if stuck && !by_samples.is_some_and(adds) {
                break;
            }
        }
        if time < 1.0 && self.obstacles_move(bodies) {
            // The obstacles have moved to the end of the step.
            self.add_waypoint(1.0);
            least = self.gather(bodies, 1.0, NEAR)?;
            if least <= FLOOR * self.skin {
                self.come_out(bodies, 1.0)?;
            }
        }
        least = self.deepest();
        self.inside = least <= HARD * self.skin;
        self.end(bodies);
        self.settled = (!self.is_held_inside()).then_some(least);
        let moved = self.length(&difference(&start, &self.model.pose, &center)) >= 0.1 * self.skin;
        self.still = if moved { 0 } else { self.still.saturating_add(1) };
        self.shade(bodies);
        let mut advance = self.outcome(target, (substeps, stuck), least, bodies)?;
        if partial {
            advance.status |= Status::PARTIAL;
        }
        Ok(advance)
    }

    fn begin(&mut self, target: &Pose, bodies: &[Obstacle]) -> Result<()> {
        limits::check_pose("target", target)?;
        for body in bodies {
            limits::check_pose("bodies.pose", &body.pose)?;
        }
        if self.last.len() != bodies.len() {
            self.last.clear();
            self.last.extend_guarded(bodies.iter().map(|b| b.pose));
            self.cuts.clear();
            self.settled = None;
        }
        self.know(bodies);
        self.spent = Spent::begin(&self.settings.budget);
        let extent = |g: &Geometry| {
            let shell = g.shell.and_then(|s| s.tree.radius.first()).map_or(0.0, |r| f64::from(*r));
            let bounds = g.field.map(|f| f.bounds());
            let field = bounds.map_or(0.0, |b| 0.5 * (b.max - b.min).norm());
            shell.max(if field.is_finite() { field } else { 0.0 })
        };
        let extent = |forms: &Forms| extent(&forms.geometry()).max(forms.mesh.as_deref().map_or(0.0, Locator::radius));
        let scale = bodies.iter().fold(extent(&self.tool.forms), |s, b| s.max(extent(&b.forms)));
        self.skin = self.settings.skin.unwrap_or(2e-5 * scale);
        if self.obstacles_move(bodies) {
            self.settled = None;
        }
        let (last, cuts) = (&self.last, &mut self.cuts);
        cuts.retain(|c| last[c.body()] == bodies[c.body()].pose);
        Ok(())
    }

    /// Clears the cached results of obstacles that are not those of the last step.
    fn know(&mut self, bodies: &[Obstacle]) {
        self.known.resize_with_guarded(bodies.len(), Default::default);
        self.near.resize_with_guarded(bodies.len(), contact::Workspace::new);
        self.levels.resize_guarded(bodies.len(), 0.0);
        self.first_levels.resize_guarded(bodies.len(), 0.0);
        self.depths.resize_guarded(bodies.len(), f64::INFINITY);
        for (i, (known, body)) in self.known.iter_mut().zip(bodies).enumerate() {
            let field = body.forms.field.as_ref().map_or_else(Weak::new, Arc::downgrade);
            let shell = body.forms.shell.as_ref().map_or_else(Weak::new, Arc::downgrade);
            if !(known.0.ptr_eq(&field) && known.1.ptr_eq(&shell)) {
                *known = (field, shell);
                self.cuts.retain(|cut| cut.body() != i);
                self.settled = None;
                // It did not come from where the other one was.
                self.last[i] = body.pose;
                (self.levels[i], self.first_levels[i]) = (0.0, 0.0);
                self.no_way_out = None;
            }
        }
    }

    fn end(&mut self, bodies: &[Obstacle]) {
        for (last, body) in self.last.iter_mut().zip(bodies) {
            *last = body.pose;
        }
    }

    fn obstacles_move(&self, bodies: &[Obstacle]) -> bool {
        self.last.iter().zip(bodies).any(|(last, body)| *last != body.pose)
    }

    /// Returns the pose of an obstacle at a time of the step.
    fn obstacle_pose(&self, i: usize, bodies: &[Obstacle], time: f64) -> Pose {
        if self.last[i] == bodies[i].pose || time >= 1.0 {
            return bodies[i].pose;
        }
        Moving { geometry: bodies[i].forms.geometry(), from: self.last[i], to: bodies[i].pose }.pose(time)
    }

    /// Returns approximately the largest distance by which a motion moves a sample, metres.
    fn length(&self, motion: &Vec6) -> f64 {
        motion.fixed_rows::<3>(0).norm().max(motion.fixed_rows::<3>(3).norm() * self.reach())
    }

    /// Returns the radius about the centre, metres.
    fn reach(&self) -> f64 {
        let shell = self.tool.forms.shell.as_ref();
        let of_shell =
            shell.and_then(|s| Some((s.origin - self.tool.center).norm() + f64::from(*s.tree.radius.first()?)));
        of_shell.unwrap_or_else(|| (self.tool.inertia.trace() / (2.0 * self.tool.mass)).sqrt())
    }

    /// Collects the constraints at the pose, of samples within `near` skins, and returns the height of the lowest
    /// above the level of its obstacle.
    fn gather(&mut self, bodies: &[Obstacle], time: f64, near: f64) -> Result<f64> {
        let mut least = near * self.skin;
        self.model.constraints.clear();
        self.separations.clear();
        let pose = self.model.pose;
        for (i, body) in bodies.iter().enumerate() {
            if body.is_empty() {
                self.depths[i] = f64::INFINITY;
                continue;
            }
            let at = self.obstacle_pose(i, bodies, time);
            let roles = self.settings.roles_of(&self.tool.forms.geometry(), &body.forms.geometry());
            // One role after the other: contacts that are not kept are then never computed.
            let assignments: &[Roles] =
                if roles == Roles::Both { &[Roles::ShellOfA, Roles::ShellOfB] } else { &[roles] };
            let most = ((MAX_ROWS - MAX_CUTS) / bodies.len()).max(FEWEST);
            let by_triangles = self.gather_triangles(i, body, &at, near, most);
            let mut nearest = by_triangles.unwrap_or(near * self.skin);
            for &roles in assignments.iter().filter(|_| by_triangles.is_none()) {
                let query = contact::Query {
                    roles,
                    max_separation: near * self.skin,
                    max_contacts: (self.settings.contacts.min(most) / assignments.len()).max(1),
                    owners: Some([self.tool.forms.owner(), body.forms.owner()]),
                    ..contact::Query::default()
                };
                let (tool, other) = (self.tool.forms.geometry(), body.forms.geometry());
                let found = contact::contacts(tool, &pose, other, &at, &query, &mut self.near[i])?;
                for c in found {
                    nearest = nearest.min(c.separation);
                    if self.model.constraints.len() + MAX_CUTS < MAX_ROWS {
                        let gap = c.separation - REST * self.skin;
                        let mut made = constraint((i as u32, &at), c, gap);
                        made.set_feel(body, &self.settings.surface);
                        self.model.constraints.push_guarded(made);
                        self.separations.push_guarded(c.separation);
                    }
                }
                self.spent.tests += self.near[i].stats();
            }
            self.depths[i] = nearest;
            least = least.min(nearest - self.levels[i]);
        }
        self.keep_cuts(bodies, time)?;
        self.model.constraints.extend_guarded(self.cuts.iter().map(|cut| cut.constraint));
        let (levels, rest) = (&self.levels, REST * self.skin);
        self.separations.extend_guarded(self.cuts.iter().map(|cut| levels[cut.body()] + rest - cut.rise));
        Ok(least)
    }

    /// Returns the motion nearest to `displacement` that the constraints allow in the rest of the step, and the fraction
    /// of it that friction leaves.
    fn allowed(&mut self, displacement: &Vec6, bodies: &[Obstacle], time: f64) -> Result<(Vec6, f64)> {
        let center = self.model.pose.transform_point(&self.tool.center.into()).coords;
        let moving = self.obstacles_move(bodies);
        for ask_for_more in [true, false] {
            self.rows.clear();
            for (i, c) in self.model.constraints.iter().enumerate() {
                let mut row = c.row(&center);
                if ask_for_more {
                    row.slack = self.height(i) - REST * self.skin;
                }
                if moving {
                    row.slack += c.normal.dot(&self.carried(c, bodies, time));
                }
                self.rows.push_guarded(row);
            }
            let solution = self.solver.solve(&self.model.mass, displacement, &self.rows)?;
            let farther = solution.constrained.fixed_rows::<3>(0).norm() - displacement.norm();
            // Between walls, the pose with a little more distance to all of them may be far away.
            if solution.outcome != Outcome::Infeasible && (!ask_for_more || moving || farther < 20.0 * self.skin) {
                let slip = if moving { 1.0 } else { self.model.slip(&self.solver, &solution.constrained) };
                return Ok((solution.constrained, slip));
            }
        }
        Ok((Vec6::zeros(), 1.0))
    }

    /// Returns the displacement by which an obstacle moves the point of a constraint in the rest of the step.
    fn carried(&self, c: &Constraint, bodies: &[Obstacle], time: f64) -> Vec3 {
        let body = c.body as usize;
        let here = self.obstacle_pose(body, bodies, time).inverse_transform_point(&c.point.into());
        bodies[body].pose.transform_point(&here).coords - c.point
    }

    /// Finds the first sample that reaches the level, while the tool moves to a pose and obstacles from one time to
    /// another.
    fn first_hit(
        &mut self,
        to: &Pose,
        bodies: &[Obstacle],
        times: [f64; 2],
        level: f64,
    ) -> Result<Option<(usize, Contact)>> {
        let mut first: Option<(usize, Contact)> = None;
        for (i, body) in bodies.iter().enumerate().filter(|(_, body)| !body.is_empty()) {
            let [from, end] = times.map(|time| self.obstacle_pose(i, bodies, time));
            let until = first.map_or(1.0, |(_, c)| c.toi);
            let by_triangles = self.hit_triangles(i, body, (to, [&from, &end]), level + self.levels[i], until)?;
            if let Some(found) = by_triangles {
                if let Some(c) = found.filter(|c| first.is_none_or(|(_, best)| c.toi < best.toi)) {
                    first = Some((i, c));
                }
                continue;
            }
            let tool = Moving { geometry: self.tool.forms.geometry(), from: self.model.pose, to: *to };
            let to = end;
            let other = Moving { geometry: body.forms.geometry(), from, to };
            let query = impact::Query {
                roles: self.settings.roles_of(&tool.geometry, &other.geometry),
                path: Path::Screw { tolerance: TOLERANCE * self.skin },
                max_separation: level + self.levels[i],
                until,
                ..impact::Query::default()
            };
            let found = time_of_impact(&tool, &other, &query, &mut self.continuous)?;
            self.spent.tests += self.continuous.stats();
            if let Some(c) = found {
                if first.is_none_or(|(_, best)| c.toi < best.toi) {
                    first = Some((i, c));
                }
            }
        }
        Ok(first)
    }

    fn add_waypoint(&mut self, time: f64) {
        self.path.push_guarded(Waypoint { time, pose: self.model.pose });
    }

    /// Moves a fraction of the displacement to a pose.
    fn go(&mut self, to: &Pose, part: f64) {
        self.model.pose = if part >= 1.0 {
            *to
        } else {
            Moving { geometry: self.tool.forms.geometry(), from: self.model.pose, to: *to }.pose(part)
        };
        self.model.pose.rotation.renormalize();
        self.model.mass = mass_matrix(&self.tool, &self.model.pose);
    }
}
