//! The impulses that separate the tool from all bodies that it touches (Ruffaldi et al. 2008, section 3.3), but solved
//! together.
//!
//! Impulses applied one after the other overshoot: each turns the tool into contacts that were already solved, and none
//! takes back its excess. A tool at rest then rattles, and a hand feels that. Of all velocities that leave every
//! contact, the one nearest to the free motion is unique, and changes as continuously as its inputs (Moreau 1985;
//! Baraff 1994). It is found by adding the contact that is violated most, and dropping those that no longer push, until none
//! is violated: each addition increases the distance from the free motion, so none repeats. Two faces that lie in each
//! other have hundreds of contacts, of which at most six push.

use super::constraint::{column, mass_matrix};
use super::coupling::carried;
use super::linearised::Place;
use super::messages::Input;
use super::qp::{Outcome, Row, Solver};
use super::stops::{parting, pulled, Stop, MOST as ROWS, SLOW};
use super::{Forms, Obstacle, Settings, Tool};
use voxshell_base::math::{Mat6, Pose, Vec6, Wrench};
use voxshell_base::memory::{with_capacity, GrowGuarded};
use voxshell_base::Result;
use voxshell_contact::Contact;
use voxshell_field::{Field, SignedDistance};
use voxshell_pointshell::PointShell;
use voxshell_response::Kinematics;

/// Largest number of contacts that are added in a round.
const MOST: usize = 256;
/// Error of a contact's separating speed that is accepted, relative to the required speed and that of the free motion.
const SLACK: f64 = 1e-7;

/// A contact.
#[derive(Clone, Copy)]
struct Candidate {
    /// Index of the obstacle.
    body: u32,
    /// The contact, but for its body and its force.
    stop: Stop,
    /// Row on the tool's velocity: its product is the approach speed.
    normal: Vec6,
    /// Required separating speed, m/s.
    parts: f64,
    /// Whether it has a row.
    taken: bool,
}

impl Candidate {
    /// Returns the row with the required separating speed limited to `fastest`.
    fn row(&self, fastest: f64) -> Row {
        Row { normal: self.normal, slack: self.stop.away - self.parts.min(fastest) }
    }

    /// Returns by how much a velocity violates the row, m/s, or `None` if it does not. `sizes` are the absolute values of
    /// the free motion.
    fn violation(&self, twist: &Vec6, sizes: &Vec6, fastest: f64) -> Option<f64> {
        let may = self.row(fastest).slack;
        let by = self.normal.dot(twist) - may;
        (by > SLACK * (may.abs() + self.normal.abs().dot(sizes))).then_some(by)
    }
}

/// Motion of the tool without contacts in the time until the next round, and the contacts on it.
pub(super) struct Impulses {
    /// Seconds.
    time: f64,
    body: Kinematics,
    /// M − h D − h² K: the effective mass with the coupling, as the servo integrates it.
    mass: Mat6,
    /// Velocity of the tool's centre without contacts.
    free: Vec6,
    candidates: Vec<Candidate>,
    rows: Vec<Row>,
    /// Index of the candidate of each row.
    members: Vec<u32>,
    solver: Solver,
}

impl Default for Impulses {
    fn default() -> Self {
        Self {
            time: 1.0,
            body: Kinematics::still(&Pose::identity()),
            mass: Mat6::identity(),
            free: Vec6::zeros(),
            candidates: with_capacity(MOST),
            rows: with_capacity(ROWS),
            members: with_capacity(ROWS),
            solver: Solver::new(),
        }
    }
}

impl Impulses {
    /// Starts a round: `time` seconds until the next one. The hand is assumed to keep its motion.
    pub fn begin(&mut self, settings: &Settings, tool: &Tool, input: &Input, time: f64) {
        (self.time, self.body) = (time, input.body);
        self.candidates.clear();
        let hand = carried(&input.hand, &input.twist, time);
        let pull = settings.coupling.on_body(&hand, &input.twist, &input.body);
        let now = input.body.twist.column();
        let (mass, change) = pulled(&mass_matrix(tool, &input.body.pose), &pull, &now, time);
        self.mass = mass;
        self.free = now + self.mass.cholesky().map_or_else(Vec6::zeros, |mass| mass.solve(&change));
    }

    /// Returns the largest displacement without contacts of a sample that is at most `radius` from the centre, metres.
    pub fn free_displacement(&self, radius: f64) -> f64 {
        (self.free.fixed_rows::<3>(0).norm() + self.free.fixed_rows::<3>(3).norm() * radius) * self.time
    }

    /// Adds the contacts of the tool, as A, with an obstacle of this index and motion. It does not yield.
    ///
    /// A contact that approaches fast enough to collide in the round gets restitution; the additional speed from the
    /// hand's pull does not. An approach no faster than the pull produces in two rounds gets none: so contacts at rest
    /// stay (Mirtich & Canny 1995; Guendelman, Bridson & Fedkiw 2003, section 4).
    pub fn touch(&mut self, found: &[Contact], (body, obstacle): (usize, &Kinematics), restitution: f64) {
        let now = self.body.twist.column();
        for contact in found {
            let middle = (contact.point_on_a + contact.point_on_b) * 0.5;
            let (arm, n, gap) = (middle - self.body.center, contact.normal, contact.separation);
            let normal = column(&n, &arm);
            let away = n.dot(&obstacle.twist.at(&(middle - obstacle.center)));
            let comes = normal.dot(&now) - away;
            let pulled = normal.dot(&(self.free - now));
            let collides = comes * self.time > gap.max(0.0) && comes > 2.0 * pulled;
            let bounce = if collides { restitution * comes } else { f64::NEG_INFINITY };
            let parts = parting(gap, self.time).max(bounce);
            let stop = Stop { place: Place::default(), arm, normal: n, gap, away, bounce, most: 0.0 };
            self.candidates.push_guarded(Candidate { body: body as u32, stop, normal, parts, taken: false });
        }
    }

    /// Computes the impulse that separates the contacts until the next round. [`Impulses::stops`] has it.
    ///
    /// # Errors
    /// `InvalidArgument` for numbers that are not finite.
    pub fn solve(&mut self) -> Result<()> {
        // Between walls there may be no motion out of all of them, or only a far one: the tool then stays at its pose.
        if !self.separate(f64::INFINITY)? && !self.separate(0.0)? {
            self.rows.clear();
        }
        Ok(())
    }

    /// Returns each contact that pushes until the next round, and its load about the tool's centre.
    pub fn stops<'s>(&'s self, obstacles: &'s [Obstacle]) -> impl Iterator<Item = (Stop, Wrench)> + 's {
        let pushing = if self.rows.is_empty() { &[] } else { self.solver.active() };
        pushing.iter().enumerate().map(|(k, &row)| {
            let most = self.solver.multiplier(k) / self.time;
            let load = self.rows[usize::from(row)].normal * -most;
            let Candidate { body, stop, .. } = self.candidates[self.members[usize::from(row)] as usize];
            let obstacle = &obstacles[body as usize];
            let (origin, velocity) = (obstacle.pose.translation.vector, obstacle.twist.linear);
            (Stop { place: Place { body, origin, velocity }, most, ..stop }, Wrench::from_column(&load))
        })
    }

    /// Finds the impulse after which every contact separates, with required speeds limited to `fastest`. Returns false if
    /// there is no such impulse, or if it makes the tool faster than pushing out of corners does.
    fn separate(&mut self, fastest: f64) -> Result<bool> {
        self.rows.clear();
        self.members.clear();
        self.candidates.iter_mut().for_each(|c| c.taken = false);
        let (mut twist, sizes) = (self.free, self.free.abs());
        for _ in 0..MOST {
            let mut most: Option<(usize, f64)> = None;
            for (i, c) in self.candidates.iter().enumerate().filter(|(_, c)| !c.taken) {
                let Some(by) = c.violation(&twist, &sizes, fastest) else { continue };
                if most.is_none_or(|(_, largest)| by > largest) {
                    most = Some((i, by));
                }
            }
            let Some((added, _)) = most else { break };
            self.keep_pushing();
            self.candidates[added].taken = true;
            self.rows.push_guarded(self.candidates[added].row(fastest));
            self.members.push_guarded(added as u32);
            let solution = self.solver.solve(&self.mass, &self.free, &self.rows)?;
            if solution.outcome == Outcome::Infeasible {
                return Ok(false);
            }
            twist = solution.constrained;
        }
        let energy = |v: &Vec6| v.dot(&(self.mass * v));
        let now = self.body.twist.column();
        let corner = 16.0 * SLOW * SLOW * self.mass[(0, 0)];
        let wild = fastest > 0.0 && energy(&twist) > 4.0 * (energy(&self.free) + energy(&now)) + corner;
        Ok(!wild)
    }

    /// Drops the rows that do not push in the last solution.
    fn keep_pushing(&mut self) {
        let pushing = if self.rows.is_empty() { &[] } else { self.solver.active() };
        for (row, &member) in self.members.iter().enumerate() {
            self.candidates[member as usize].taken = pushing.iter().any(|&p| usize::from(p) == row);
        }
        let mut row = 0;
        self.rows.retain(|_| {
            row += 1;
            self.candidates[self.members[row - 1] as usize].taken
        });
        self.members.retain(|&member| self.candidates[member as usize].taken);
    }
}

/// Returns the radius about the centre of mass that holds all samples of a tool, metres.
pub(super) fn reach(tool: &Tool) -> f64 {
    let of_shell =
        |s: &PointShell| (s.origin - tool.center).norm() + s.tree.radius.first().map_or(0.0, |r| f64::from(*r));
    let of_field = |f: &Field| (f.bounds().center() - tool.center).norm() + 0.5 * f.bounds().extents().norm();
    let Forms { shell, field, .. } = &tool.forms;
    shell.as_deref().map(of_shell).or(field.as_deref().map(of_field)).unwrap_or(0.0)
}
