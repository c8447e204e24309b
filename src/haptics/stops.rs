//! The contacts that push a tool that impulses move: the simulation publishes them with the force of each, and the servo ends
//! each force with its contact.
//!
//! The force of a round is that which stops the tool where the round expects the hand. It acts until the next round is
//! known, and a hand that leaves in the meantime would be pulled on by newtons. So each step of the servo takes, of each
//! force, the part that keeps the contact's plane: none where the coupling draws the tool away. No force is larger than
//! that of the round, so that none begins between two rounds.

use super::constraint::column;
use super::linearised::Place;
use voxshell_base::math::{Mat6, Vec3, Vec6, Wrench};
use voxshell_base::memory::{with_capacity, GrowGuarded};
use voxshell_response::{Kinematics, Response};

/// Contacts that can push at once.
pub(super) const MOST: usize = 8;
/// Largest speed at which the tool is pushed out of a penetration, m/s: slow enough that it does not hop.
pub(super) const SLOW: f64 = 0.05;
/// Time constant of that motion, seconds: the depth falls no faster than to about a third in this time, so that the
/// tool arrives without a jerk.
pub(super) const EASE: f64 = 0.01;
/// Largest number of sweeps over the contacts, and the change of a force, as a fraction of its largest, from which they
/// go on. A force that is not exact is felt as one that is exact for a slightly different motion of the hand.
const SWEEPS: usize = 12;
const SETTLED: f64 = 1e-4;

/// Returns the speed at which a contact must part, m/s, for a tool that may arrive at it in `time` seconds.
pub(super) fn parting(gap: f64, time: f64) -> f64 {
    let time = if gap < 0.0 { time.max(EASE) } else { time };
    (-gap / time).min(SLOW)
}

/// Returns the effective mass of a tool that the coupling pulls for `time` seconds, M − h D − h² K as an implicit step has it,
/// and the impulse of the coupling. `mass` is the tool's mass matrix, and `now` its velocity.
pub(super) fn pulled(mass: &Mat6, pull: &Response, now: &Vec6, time: f64) -> (Mat6, Vec6) {
    let bends = pull.by_twist * time + pull.by_pose * (time * time);
    (mass - (bends + bends.transpose()) * 0.5, (pull.wrench.column() + pull.by_pose * now * time) * time)
}

/// A contact that pushes: its plane and its largest force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stop {
    /// The body of the contact, and its motion.
    pub place: Place,
    /// Contact point in the middle of the gap less the tool's centre, world frame.
    pub arm: Vec3,
    /// Unit, from the tool into the other body, world frame.
    pub normal: Vec3,
    /// Separation at the state of the tool, metres.
    pub gap: f64,
    /// Speed at which the other body recedes at the point, m/s.
    pub away: f64,
    /// Speed at which the tool bounces off, m/s; −∞ if it does not.
    pub bounce: f64,
    /// Force of the round, N.
    pub most: f64,
}

/// The contacts that push after a round.
#[derive(Clone, Debug)]
pub(super) struct Stops {
    /// The state of the tool.
    at: Kinematics,
    /// Time until the next round, seconds.
    time: f64,
    /// Capacity for all is reserved from the start.
    list: Vec<Stop>,
}

impl Stops {
    /// Returns none, at a state of the tool.
    pub fn none(at: Kinematics) -> Self {
        Self { at, time: 1.0, list: with_capacity(MOST) }
    }

    /// Starts anew at a state of the tool, for a time until the next round, seconds.
    pub fn begin(&mut self, at: Kinematics, time: f64) {
        (self.at, self.time) = (at, time);
        self.list.clear();
    }

    /// Copies others, without allocation.
    pub fn copy_from(&mut self, other: &Self) {
        (self.at, self.time) = (other.at, other.time);
        self.list.clear();
        self.list.extend_slice_guarded(&other.list);
    }

    pub fn add(&mut self, stop: Stop) {
        self.list.push_guarded(stop);
    }
}

/// A contact in a step of the servo.
#[derive(Clone, Copy)]
struct Push {
    /// Its product with the tool's velocity is the approach speed.
    row: Vec6,
    /// Change of the tool's velocity with the force in the step.
    by_force: Vec6,
    /// Largest approach speed that keeps the plane, m/s.
    allowed: f64,
    /// Change of the approach speed with the force.
    gives: f64,
    force: f64,
}

/// The servo's side: the forces of each step.
pub(super) struct StopForce {
    pushes: Vec<Push>,
    /// What pushed in the last step: the wrench on the tool about its centre.
    loads: Vec<(Place, Wrench)>,
}

impl StopForce {
    pub fn new() -> Self {
        Self { pushes: with_capacity(MOST), loads: with_capacity(MOST) }
    }

    /// Returns the wrenches on the tool in the last step, about its centre.
    pub fn loads(&self) -> &[(Place, Wrench)] {
        &self.loads
    }

    pub fn clear(&mut self) {
        self.loads.clear();
    }

    /// Returns the wrench of the contacts on the tool in a step of `dt` seconds, about its centre, `age` seconds after the
    /// round. `mass` is the tool's mass matrix and `pull` the load of the coupling.
    pub fn push(
        &mut self,
        stops: &Stops,
        here: &Kinematics,
        (mass, pull): (&Mat6, &Response),
        [dt, age]: [f64; 2],
    ) -> Wrench {
        self.loads.clear();
        if stops.list.is_empty() {
            return Wrench::ZERO;
        }
        let now = here.twist.column();
        let (mass, change) = pulled(mass, pull, &now, dt);
        let Some(mass) = mass.cholesky() else { return Wrench::ZERO };
        let mut twist = now + mass.solve(&change);
        self.pushes.clear();
        let turn = here.pose.rotation * stops.at.pose.rotation.inverse();
        for stop in &stops.list {
            let arm = turn * stop.arm;
            let moved = here.center + arm - (stops.at.center + stop.arm);
            let gap = stop.gap - stop.normal.dot(&moved) + stop.away * age;
            let row = column(&stop.normal, &arm);
            let by_force = mass.solve(&row) * -dt;
            let allowed = stop.away - parting(gap, stops.time).max(stop.bounce);
            self.pushes.push_guarded(Push { row, by_force, allowed, gives: row.dot(&by_force), force: 0.0 });
        }
        for _ in 0..SWEEPS {
            let mut is_settled = true;
            for (push, stop) in self.pushes.iter_mut().zip(&stops.list) {
                let over = push.row.dot(&twist) - push.allowed;
                let force = (push.force - over / push.gives).clamp(0.0, stop.most);
                let change = force - push.force;
                is_settled &= change.abs() <= SETTLED * stop.most;
                twist += push.by_force * change;
                push.force = force;
            }
            if is_settled {
                break;
            }
        }
        let mut sum = Wrench::ZERO;
        for (push, stop) in self.pushes.iter().zip(&stops.list).filter(|(push, _)| push.force > 0.0) {
            let load = Wrench::from_column(&(push.row * -push.force));
            let place = stop.place;
            self.loads.push_guarded((Place { origin: place.origin + place.velocity * age, ..place }, load));
            sum += load;
        }
        sum
    }
}
