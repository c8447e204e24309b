//! Steps in admittance causality: the hand's wrench moves a handle, and the device follows it.

use super::{origin_twist, scaled, Pull, Servo};
use crate::settings::within;
use crate::{Motion, Status};
use voxshell_base::math::{limits, Mat6, Pose, Twist, Vec6, Wrench};
use voxshell_dynamics::implicit_euler_of_two;
use voxshell_response::Response;

impl Servo {
    /// Makes one step in admittance causality: computes the device's motion from the hand's wrench, about the tool's
    /// origin and in the world frame. The handle has mass and inertia of its own (`handle` of the settings), is coupled
    /// to the simulated tool, and both are integrated implicitly. While the hand is off, the device stays.
    pub fn step_admittance(&mut self, wrench: &Wrench, engaged: bool, dt: f64) -> Motion {
        if let Err(status) = self.tick(dt) {
            return self.halt(status);
        }
        if !wrench.column().iter().all(|x| limits::is_quantity(*x)) {
            return self.halt(Status::BAD_STATE);
        }
        let mut status = Status::NORMAL;
        let pull = if engaged {
            let load = self.handle_load(wrench);
            let pull = self.lead(&load, dt, &mut status);
            if !self.handle.is_finite() {
                let pose = self.last.unwrap_or_else(Pose::identity);
                self.restart(&pose);
                return self.halt(Status::BAD_STATE);
            }
            pull
        } else {
            self.gain = 0.0;
            self.handle.set_twist(&Twist::ZERO);
            status |= Status::DISENGAGED;
            self.follow(&self.handle.pose(), &Twist::ZERO, dt)
        };
        let (pose, twist) = (self.handle.pose(), origin_twist(&self.handle.kinematics()));
        self.last = Some(pose);
        status |= pull.status;
        if engaged {
            status |= self.adjust_gain(&pull, true, dt);
        }
        let Pull { contact, contacts, touched, age, .. } = pull;
        Motion { pose, twist, contact, status, age, contacts, touched }
    }

    /// Returns the load on the handle: the hand, and the handle's own damping.
    fn handle_load(&self, wrench: &Wrench) -> Response {
        let kinematics = self.handle.kinematics();
        let mut load = Response::constant(wrench.about(&(kinematics.center - kinematics.pose.translation.vector)));
        let [b, beta] = self.settings.handle.damping;
        let mut damping = Mat6::zeros();
        damping.set_diagonal(&-Vec6::new(b, b, b, beta, beta, beta));
        load += Response {
            wrench: Wrench::from_column(&(damping * kinematics.twist.column())),
            by_pose: Mat6::zeros(),
            by_twist: damping,
        };
        load
    }

    /// Returns the fraction of the coupling's wrench that the handle gets: within the limits, and after a ramp.
    fn share_of_handle(&self, Wrench { force, torque }: &Wrench, status: &mut Status) -> f64 {
        let limits = &self.settings.limits;
        let share = within(force, limits.force).min(within(torque, limits.torque));
        if share < 1.0 {
            *status |= Status::LIMITED;
        }
        share * self.gain
    }

    /// Moves handle and tool for a step, with a load on the handle, and informs the simulation. A coupled tool and the
    /// handle are one system: the coupling changes the momenta of both at the same time.
    fn lead(&mut self, load: &Response, dt: f64, status: &mut Status) -> Pull {
        if let Some(spring) = &self.spring {
            let held = spring.load();
            let mut load = *load;
            load += held.scaled(self.share_of_handle(&held.wrench, status));
            self.handle.implicit_euler(&load, dt);
            *status |= self.hold_speed();
            return self.follow(&self.handle.pose(), &origin_twist(&self.handle.kinematics()), dt);
        }
        let news = self.take_news(dt);
        let here = self.body.kinematics();
        let mut link = self.settings.coupling.between([&self.handle.kinematics(), &here]);
        let handle = self.handle.kinematics();
        let of_stops = |_: &_| self.settings.coupling.on_body(&handle.pose, &origin_twist(&handle), &here);
        let pull = self.stops.as_ref().map_or(Response::NONE, of_stops);
        let (contact, fades) = self.contact_load(&news, &pull, dt);
        let share = self.share_of_handle(&link.wrench[0], status);
        link.wrench[0] = scaled(&link.wrench[0], share);
        for by in [&mut link.by_pose[0], &mut link.by_twist[0]] {
            by.iter_mut().for_each(|by| *by *= share);
        }
        implicit_euler_of_two([&mut self.handle, &mut self.body], [load, &contact], &link, dt);
        *status |= self.hold_speed();
        let (pose, twist) = (self.handle.pose(), origin_twist(&self.handle.kinematics()));
        let wrench = self.felt(&pose, &twist, &news, &here, fades, dt);
        self.end(wrench, news, &pose, &twist, dt)
    }

    /// Limits the handle to the speed of a hand.
    fn hold_speed(&mut self) -> Status {
        let (twist, most) = (self.handle.twist(), self.speed());
        let [linear, angular] = [within(&twist.linear, most[0]), within(&twist.angular, most[1])];
        if linear == 1.0 && angular == 1.0 {
            return Status::NORMAL;
        }
        self.handle.set_twist(&Twist { linear: twist.linear * linear, angular: twist.angular * angular });
        Status::LIMITED
    }

    /// Stops the motion.
    fn halt(&mut self, status: Status) -> Motion {
        self.monitor.count(status);
        self.gain = 0.0;
        self.ledger.publish(0.0);
        self.handle.set_twist(&Twist::ZERO);
        let (pose, twist, contact) = (self.handle.pose(), Twist::ZERO, Wrench::ZERO);
        Motion { pose, twist, contact, status, age: self.age(), contacts: 0, touched: 0 }
    }
}
