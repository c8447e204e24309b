//! The impulses that part the tool from all that it touches: deepest contacts first (Ruffaldi et al. 2008, section 3.3), but all
//! that have come so far together.
//!
//! One after the other, impulses overshoot: each turns the tool into contacts that were done, and none takes back what it pushed
//! too much. A tool at rest then rattles, and a hand feels that. Of all velocities that leave every contact the one nearest to the
//! free motion is unique, and changes as evenly as what it is made of (Moreau 1985; Baraff 1994).

use super::constraint::{column, mass_matrix};
use super::coupling::carried;
use super::qp::{Outcome, Row, Solver};
use super::snapshot::Input;
use super::{Forms, Settings, Tool};
use crate::contact::Contact;
use crate::field::{Field, SignedDistance};
use crate::math::{Mat6, Pose, Vec6, Wrench};
use crate::pointshell::PointShell;
use crate::response::Kinematics;
use crate::Result;

/// How fast the tool is pushed out of what it is in, m/s: slow enough that it does not hop.
const SLOW: f64 = 0.05;
/// And no faster than to a third in this time, seconds: so that it arrives without a jerk.
const EASE: f64 = 0.01;
/// Contacts that are taken in at most.
const MOST: usize = 64;
/// Of a contact that parts by so little less than it should, relatively, nothing more is asked.
const SLACK: f64 = 1e-9;

/// A contact.
#[derive(Clone, Copy)]
struct Candidate {
    /// On the tool's velocity: how fast it comes.
    normal: Vec6,
    /// How fast the other body goes away, m/s.
    away: f64,
    /// How fast they are to part, m/s.
    parts: f64,
    separation: f64,
    taken: bool,
}

impl Candidate {
    /// Of contacts that are to part at `fastest` at most.
    fn row(&self, fastest: f64) -> Row {
        Row { normal: self.normal, slack: self.away - self.parts.min(fastest) }
    }
}

/// Where the tool goes without contacts in the time until the next round, and what it touches.
pub(super) struct Impulses {
    /// Seconds.
    time: f64,
    body: Kinematics,
    /// M − h D − h² K: how the coupling lets the tool move, as the servo integrates it.
    mass: Mat6,
    /// Of the tool's centre.
    free: Vec6,
    candidates: Vec<Candidate>,
    rows: Vec<Row>,
    solver: Solver,
}

impl Default for Impulses {
    fn default() -> Self {
        Self {
            time: 1.0,
            body: Kinematics::still(&Pose::identity()),
            mass: Mat6::identity(),
            free: Vec6::zeros(),
            candidates: Vec::with_capacity(MOST),
            rows: Vec::with_capacity(MOST),
            solver: Solver::new(),
        }
    }
}

impl Impulses {
    /// A round: `time` seconds until the next one. The hand goes on as it does.
    pub fn begin(&mut self, settings: &Settings, tool: &Tool, input: &Input, time: f64) {
        (self.time, self.body) = (time, input.body);
        self.candidates.clear();
        let hand = carried(&input.hand, &input.twist, time);
        let pull = settings.coupling.on_body(&hand, &input.twist, &tool.center, &input.body);
        self.mass = mass_matrix(tool, &input.body.pose);
        let bends = pull.by_twist * time + pull.by_pose * (time * time);
        self.mass -= (bends + bends.transpose()) * 0.5;
        let now = input.body.twist.column();
        let change = (pull.wrench.column() + pull.by_pose * now * time) * time;
        self.free = now + self.mass.cholesky().map_or_else(Vec6::zeros, |mass| mass.solve(&change));
    }

    /// How far a sample goes without contacts that is no farther than `radius` from the centre, metres.
    pub fn way(&self, radius: f64) -> f64 {
        (self.free.fixed_rows::<3>(0).norm() + self.free.fixed_rows::<3>(3).norm() * radius) * self.time
    }

    /// What the tool, as A, has in common with a body that moves so. It does not give way.
    ///
    /// What comes so fast that it collides in the round comes back; what the hand's pull adds to that does not, and nothing that
    /// is not faster than the pull makes it in two rounds: so contacts at rest stay (Mirtich & Canny 1995; Guendelman, Bridson &
    /// Fedkiw 2003, section 4).
    pub fn touch(&mut self, found: &[Contact], obstacle: &Kinematics, restitution: f64) {
        let now = self.body.twist.column();
        for contact in found {
            let middle = (contact.point_on_a + contact.point_on_b) * 0.5;
            let n = contact.normal;
            let normal = column(&n, &(middle - self.body.center));
            let away = n.dot(&obstacle.twist.at(&(middle - obstacle.center)));
            let time = if contact.separation < 0.0 { self.time.max(EASE) } else { self.time };
            let mut parts = (-contact.separation / time).min(SLOW);
            let comes = normal.dot(&now) - away;
            let pulled = normal.dot(&(self.free - now));
            if comes * self.time > contact.separation.max(0.0) && comes > 2.0 * pulled {
                parts = parts.max(restitution * comes);
            }
            let separation = contact.separation;
            self.candidates.push(Candidate { normal, away, parts, separation, taken: false });
        }
    }

    /// The load that parts them until the next round, about the tool's centre.
    ///
    /// # Errors
    /// `InvalidArgument` for numbers that are not finite.
    pub fn load(&mut self) -> Result<Wrench> {
        let load = match self.part(f64::INFINITY)? {
            Some(load) => load,
            // Between walls there may be no way out of all of them, or one that is far: it stays where it is.
            None => self.part(0.0)?.unwrap_or_else(Vec6::zeros),
        };
        Ok(Wrench::from_column(&(load / self.time)))
    }

    /// The impulse after which every contact is left, those that are to be left faster than `fastest` as fast as that. `None` where
    /// there is none, or where it makes the tool faster than pushing out of corners does.
    fn part(&mut self, fastest: f64) -> Result<Option<Vec6>> {
        self.rows.clear();
        self.candidates.iter_mut().for_each(|c| c.taken = false);
        let (mut twist, mut load) = (self.free, Vec6::zeros());
        while self.rows.len() < MOST {
            let mut deepest: Option<usize> = None;
            for (i, c) in self.candidates.iter().enumerate() {
                if c.taken || deepest.is_some_and(|best| self.candidates[best].separation <= c.separation) {
                    continue;
                }
                let (comes, may) = (c.normal.dot(&twist), c.row(fastest).slack);
                if comes > may + SLACK * (may.abs() + comes.abs()) {
                    deepest = Some(i);
                }
            }
            let Some(i) = deepest else { break };
            self.candidates[i].taken = true;
            self.rows.push(self.candidates[i].row(fastest));
            let solution = self.solver.solve(&self.mass, &self.free, &self.rows)?;
            if solution.outcome == Outcome::Infeasible {
                return Ok(None);
            }
            (twist, load) = (solution.constrained, solution.load);
        }
        let energy = |v: &Vec6| v.dot(&(self.mass * v));
        let now = self.body.twist.column();
        let corner = 16.0 * SLOW * SLOW * self.mass[(0, 0)];
        let wild = fastest > 0.0 && energy(&twist) > 4.0 * (energy(&self.free) + energy(&now)) + corner;
        Ok((!wild).then_some(load))
    }
}

/// Radius about the centre of mass in which all of a tool's samples are, metres.
pub(super) fn reach(tool: &Tool) -> f64 {
    let of_shell =
        |s: &PointShell| (s.origin - tool.center).norm() + s.tree.radius.first().map_or(0.0, |r| f64::from(*r));
    let of_field = |f: &Field| (f.bounds().center() - tool.center).norm() + 0.5 * f.bounds().extents().norm();
    let Forms { shell, field, .. } = &tool.forms;
    shell.as_deref().map(of_shell).or(field.as_deref().map(of_field)).unwrap_or(0.0)
}
