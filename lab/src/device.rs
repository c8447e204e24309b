//! A simulated device in a simulated hand, for tests and demonstrations: one rigid mass and damper per axis, exactly
//! integrated under forces that are held over each step, with a quantised position and a delay.

use voxshell::haptics::{DeviceState, Servo, Simulation};
use voxshell::math::{Pose, Rotation, Twist, Vec3, Wrench};

/// One axis: m x″ + b x′ + k x = f.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Axis {
    /// Mass, kg or kg·m².
    pub mass: f64,
    /// Damping, N·s/m or N·m·s/rad.
    pub damping: f64,
    /// Stiffness, N/m or N·m/rad; 0 when free.
    pub stiffness: f64,
}

impl Axis {
    pub const fn new(mass: f64, damping: f64, stiffness: f64) -> Self {
        Self { mass, damping, stiffness }
    }

    /// A typical hand and arm: 0.554 kg, 6.45 N·s/m, 135 N/m.
    pub const HUMAN: Self = Self::new(0.554, 6.45, 135.0);

    /// Returns both axes held together.
    pub fn with(&self, other: &Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            damping: self.damping + other.damping,
            stiffness: self.stiffness + other.stiffness,
        }
    }

    /// Returns the exact step under a constant force.
    ///
    /// With z = (x, v) the equation is z′ = A z + (0, f/m), and by Cayley and Hamilton exp(A t) = e^{−βt} (C + S (A +
    /// β)), with β = b/2m, s² = β² − k/m, C = cosh st and S = sinh(st)/s, or the trigonometric pair when s² is
    /// negative. A constant force moves the rest position to f/k; a free mass uses integrals of e^{−bt/m}.
    pub fn hold(&self, dt: f64) -> Held {
        let Self { mass: m, damping: b, stiffness: k } = *self;
        if k == 0.0 {
            let rate = b / m;
            let z = rate * dt;
            // ∫ e^{−rτ} and ∫∫ e^{−rτ}, by series where the closed form cancels.
            let (once, twice) = if z < 1e-5 {
                (dt * (1.0 - 0.5 * z), dt * dt * (0.5 - z / 6.0))
            } else {
                let once = -(-z).exp_m1() / rate;
                (once, (dt - once) / rate)
            };
            return Held { from_x: [1.0, 0.0], from_v: [once, (-z).exp()], from_force: [twice / m, once / m] };
        }
        let (beta, omega2) = (0.5 * b / m, k / m);
        let s2 = beta * beta - omega2;
        let decay = (-beta * dt).exp();
        let st = s2.abs().sqrt() * dt;
        let (c, s) = if st < 1e-6 {
            (1.0, dt)
        } else if s2 > 0.0 {
            (st.cosh(), dt * st.sinh() / st)
        } else {
            (st.cos(), dt * st.sin() / st)
        };
        let from_x = [decay * (c + s * beta), -decay * s * omega2];
        let from_v = [decay * s, decay * (c - s * beta)];
        Held { from_x, from_v, from_force: [(1.0 - from_x[0]) / k, -from_x[1] / k] }
    }
}

/// Linear map of a step: (x, v) each from x, v and the force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    pub from_x: [f64; 2],
    pub from_v: [f64; 2],
    pub from_force: [f64; 2],
}

impl Held {
    pub fn step(&self, [x, v]: [f64; 2], force: f64) -> [f64; 2] {
        [0, 1].map(|i| self.from_x[i] * x + self.from_v[i] * v + self.from_force[i] * force)
    }
}

/// Parameters of a simulated device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceModel {
    pub linear: Axis,
    pub angular: Axis,
    /// The hand on the device, if any.
    pub hand: Option<[Axis; 2]>,
    /// Resolution of the position, metres and radians; 0 for none.
    pub resolution: [f64; 2],
    /// Number of steps before a wrench acts: 0 to [`DeviceModel::MOST_DELAY`].
    pub delay: usize,
}

impl DeviceModel {
    pub const MOST_DELAY: usize = 8;

    /// m [kg] and b [N·s/m] of the presets of the test protocol.
    pub const PRESETS: [[f64; 2]; 4] = [[0.1, 0.1], [0.3, 1.0], [0.3, 5.0], [1.0, 5.0]];

    /// Returns a device of this mass and damping, with the rotation of a handle of 5 cm radius, not held, without
    /// delay.
    pub fn new(mass: f64, damping: f64) -> Self {
        let arm2 = 0.05f64.powi(2);
        let linear = Axis::new(mass, damping, 0.0);
        let angular = Axis::new(mass * arm2, damping * arm2, 0.0);
        Self { linear, angular, hand: None, resolution: [0.0; 2], delay: 0 }
    }

    /// Returns the device in the hand of [`Axis::HUMAN`].
    pub fn held(self) -> Self {
        let Axis { mass, damping, stiffness } = Axis::HUMAN;
        let arm2 = 0.05f64.powi(2);
        Self { hand: Some([Axis::HUMAN, Axis::new(mass * arm2, damping * arm2, stiffness * arm2)]), ..self }
    }

    pub fn delayed(self, delay: usize) -> Self {
        Self { delay: delay.min(Self::MOST_DELAY), ..self }
    }
}

/// A device, and a hand with a target pose.
#[derive(Clone, Debug)]
pub struct SimulatedDevice {
    model: DeviceModel,
    pose: Pose,
    twist: Twist,
    /// Target pose of the hand; its springs pull there.
    pub wanted: Pose,
    /// Push of the hand in addition to its springs, N and N·m.
    pub push: Wrench,
    /// Wrenches delayed by the device, oldest first.
    coming: [Wrench; DeviceModel::MOST_DELAY],
}

impl SimulatedDevice {
    pub fn new(model: DeviceModel, pose: Pose) -> Self {
        let coming = [Wrench::ZERO; DeviceModel::MOST_DELAY];
        Self { model, pose, twist: Twist::ZERO, wanted: pose, push: Wrench::ZERO, coming }
    }

    /// Returns the true pose.
    pub fn pose(&self) -> Pose {
        self.pose
    }

    pub fn twist(&self) -> Twist {
        self.twist
    }

    pub fn set_twist(&mut self, twist: Twist) {
        self.twist = twist;
    }

    /// Returns the state as the encoders measure it.
    pub fn state(&self) -> DeviceState {
        let [linear, angular] = self.model.resolution;
        let round = |v: Vec3, step: f64| if step > 0.0 { v.map(|x| (x / step).round() * step) } else { v };
        let position = round(self.pose.translation.vector, linear);
        let rotation = match angular > 0.0 {
            true => Rotation::from_scaled_axis(round(self.pose.rotation.scaled_axis(), angular)),
            false => self.pose.rotation,
        };
        DeviceState { pose: Pose::from_parts(position.into(), rotation), twist: self.twist, engaged: true }
    }

    /// Returns the kinetic energy and that of the hand's springs, J.
    pub fn energy(&self) -> f64 {
        let [linear, angular] = self.axes();
        let (shift, turn) = self.beyond_wanted();
        0.5 * (linear.mass * self.twist.linear.norm_squared() + angular.mass * self.twist.angular.norm_squared())
            + 0.5 * (linear.stiffness * shift.norm_squared() + angular.stiffness * turn.norm_squared())
    }

    /// Makes a step of `dt` seconds with a wrench about the device's origin, held over the step; the wrench acts after
    /// the delay.
    pub fn step(&mut self, wrench: &Wrench, dt: f64) {
        let acts = match self.model.delay {
            0 => *wrench,
            n => {
                let acts = self.coming[0];
                self.coming[..n].rotate_left(1);
                self.coming[n - 1] = *wrench;
                acts
            }
        };
        let [linear, angular] = self.axes().map(|axis| axis.hold(dt));
        let (shift, turn) = self.beyond_wanted();
        let (mut way, mut spin) = (Vec3::zeros(), Vec3::zeros());
        for k in 0..3 {
            let [x, v] = linear.step([shift[k], self.twist.linear[k]], acts.force[k] + self.push.force[k]);
            (way[k], self.twist.linear[k]) = (x - shift[k], v);
            let [x, v] = angular.step([turn[k], self.twist.angular[k]], acts.torque[k] + self.push.torque[k]);
            (spin[k], self.twist.angular[k]) = (x - turn[k], v);
        }
        self.pose.translation.vector += way;
        self.pose.rotation = Rotation::from_scaled_axis(spin) * self.pose.rotation;
        self.pose.rotation.renormalize();
    }

    fn axes(&self) -> [Axis; 2] {
        let own = [self.model.linear, self.model.angular];
        self.model.hand.map_or(own, |hand| [own[0].with(&hand[0]), own[1].with(&hand[1])])
    }

    fn beyond_wanted(&self) -> (Vec3, Vec3) {
        let shift = self.pose.translation.vector - self.wanted.translation.vector;
        (shift, (self.pose.rotation * self.wanted.rotation.inverse()).scaled_axis())
    }
}

/// Returns (b + B)/(T/2 + t_d): the largest stiffness for which a sampled spring is passive, for small stiffness also
/// stable (Colgate & Schenkel 1997; Gil, Avello, Rubio & Flórez 2004). `damping` is that of device and hand, N·s/m.
pub fn critical_stiffness_expected(damping: f64, delay: usize, dt: f64) -> f64 {
    damping / (dt * (0.5 + delay as f64))
}

/// Returns the stiffness at which `swings` begin to grow, N/m, by bisection of a bracket to a thousandth.
///
/// `swings(k)` runs a loop at stiffness k and returns its early and late amplitudes; the loop is stable if the late one
/// is less.
pub fn critical_stiffness(bracket: [f64; 2], mut swings: impl FnMut(f64) -> [f64; 2]) -> f64 {
    let [mut low, mut high] = bracket;
    while high > low * 1.001 {
        let middle = (low * high).sqrt();
        let [early, late] = swings(middle);
        if late < early {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low * high).sqrt()
}

/// Returns the amplitudes of a device on a sampled and held plain spring: the largest over the first and the last
/// quarter of `time` seconds, after a push.
pub fn spring_swings(model: &DeviceModel, stiffness: f64, dt: f64, time: f64) -> [f64; 2] {
    let mut device = SimulatedDevice::new(*model, Pose::identity());
    device.set_twist(Twist { linear: Vec3::new(0.01, 0.0, 0.0), angular: Vec3::zeros() });
    let steps = (time / dt) as usize;
    let mut amplitudes = [0.0f64; 2];
    for n in 0..steps {
        let x = device.state().pose.translation.vector;
        device.step(&Wrench { force: x * -stiffness, torque: Vec3::zeros() }, dt);
        let x = device.pose().translation.vector.norm();
        if !x.is_finite() || x > 1e6 {
            return [1.0, f64::INFINITY];
        }
        match 4 * n / steps {
            0 => amplitudes[0] = amplitudes[0].max(x),
            3 => amplitudes[1] = amplitudes[1].max(x),
            _ => {}
        }
    }
    amplitudes
}

/// Returns the same for a whole loop of servo, simulation and device, with one simulation round per step. The device is
/// led straight from one pose to another, in contact, and held there until the wrench has settled. Then it is released
/// under the opposite of that wrench, with a small velocity along the force. Amplitudes are of the velocity along the
/// force, m/s; both are 0 without a force. The path and the settling take `rest` seconds each; the device then swings
/// for `time` seconds.
pub fn loop_swings(
    halves: (&mut Servo, &mut Simulation),
    model: &DeviceModel,
    [from, to]: [&Pose; 2],
    dt: f64,
    [rest, time]: [f64; 2],
) -> [f64; 2] {
    let (servo, simulation) = halves;
    let mut device = SimulatedDevice::new(*model, *to);
    let mut held = Wrench::ZERO;
    let steps = (rest / dt) as usize;
    for n in 0..2 * steps {
        let part = (n as f64 / steps as f64).min(1.0);
        device.pose = from.lerp_slerp(to, part);
        held = servo.step(&device.state(), dt).wrench;
        simulation.simulate();
    }
    device.push = Wrench { force: -held.force, torque: -held.torque };
    let Some(along) = held.force.try_normalize(0.0) else { return [0.0, 0.0] };
    device.set_twist(Twist { linear: along * 1e-3, angular: Vec3::zeros() });
    // The delayed wrenches at release are those that held the device.
    device.coming = [held; DeviceModel::MOST_DELAY];
    let steps = (time / dt) as usize;
    let mut amplitudes = [0.0f64; 2];
    for n in 0..steps {
        let wrench = servo.step(&device.state(), dt).wrench;
        simulation.simulate();
        device.step(&wrench, dt);
        let v = device.twist().linear.dot(&along).abs();
        if v > 1.0 {
            return [1.0, f64::INFINITY];
        }
        match 4 * n / steps {
            0 => amplitudes[0] = amplitudes[0].max(v),
            3 => amplitudes[1] = amplitudes[1].max(v),
            _ => {}
        }
    }
    amplitudes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the Taylor series of the exponential of (A dt), with the force as a third state.
    fn series(axis: &Axis, dt: f64) -> nalgebra::Matrix3<f64> {
        let (k, b, m) = (axis.stiffness, axis.damping, axis.mass);
        let a = nalgebra::Matrix3::new(0.0, 1.0, 0.0, -k / m, -b / m, 1.0 / m, 0.0, 0.0, 0.0) * (dt / 1024.0);
        let mut term = nalgebra::Matrix3::identity();
        let mut sum = term;
        for n in 1..20 {
            term = term * a / n as f64;
            sum += term;
        }
        (0..10).fold(sum, |power, _| power * power)
    }

    #[test]
    fn the_hold_is_exact() {
        let axes = [
            Axis::new(0.1, 0.1, 0.0),
            Axis::new(0.3, 0.0, 0.0),
            Axis::new(0.3, 5.0, 0.0),
            Axis::HUMAN,
            Axis::new(1.0, 2.0, 1.0),
            Axis::new(1.0, 20.0, 3.0),
            Axis::new(0.2, 0.0, 800.0),
        ];
        for axis in axes {
            for dt in [1e-4, 1e-3, 0.02, 0.3] {
                let (held, exact) = (axis.hold(dt), series(&axis, dt));
                for i in 0..2 {
                    let ours = [held.from_x[i], held.from_v[i], held.from_force[i]];
                    for k in 0..3 {
                        let size = exact.row(i).amax().max(1e-3);
                        assert!(
                            (ours[k] - exact[(i, k)]).abs() < 1e-9 * size,
                            "{axis:?} {dt} {i} {k}: {ours:?} {exact}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_wrench_acts_when_its_delay_is_over() {
        for delay in 0..=2 {
            let mut device = SimulatedDevice::new(DeviceModel::new(1.0, 0.0).delayed(delay), Pose::identity());
            for n in 0..5 {
                let force = if n == 0 { Vec3::x() } else { Vec3::zeros() };
                device.step(&Wrench { force, torque: Vec3::zeros() }, 0.001);
                assert_eq!(device.twist().linear.x > 0.0, n >= delay, "delay {delay}, step {n}");
            }
        }
    }

    #[test]
    fn positions_are_quantised() {
        let model = DeviceModel { resolution: [1e-4, 1e-3], ..DeviceModel::new(1.0, 1.0) };
        let pose = Pose::new(Vec3::new(0.12346, 0.0, -0.00004), Vec3::new(0.0012, 0.0, 0.0));
        let state = SimulatedDevice::new(model, pose).state();
        assert!((state.pose.translation.vector - Vec3::new(0.1235, 0.0, 0.0)).norm() < 1e-12);
        assert!((state.pose.rotation.scaled_axis() - Vec3::new(0.001, 0.0, 0.0)).norm() < 1e-9);
    }

    /// The table of the test protocol: m, b, with or without a hand, and the critical stiffness at delays of 0, 1 and 2 steps.
    #[test]
    fn a_sampled_spring_swings_up_where_theory_says() {
        let table = [
            (0.1, 0.1, false, [200.0, 67.0, 40.0]),
            (0.3, 1.0, false, [2001.0, 667.0, 401.0]),
            (0.3, 1.0, true, [14922.0, 4979.0, 2992.0]),
            (0.3, 5.0, false, [10028.0, 3349.0, 2014.0]),
        ];
        for (mass, damping, is_held, critical) in table {
            for delay in 0..3 {
                let mut model = DeviceModel::new(mass, damping).delayed(delay);
                if is_held {
                    model = model.held();
                }
                let b = damping + if is_held { Axis::HUMAN.damping } else { 0.0 };
                let expected = critical_stiffness_expected(b, delay, 1e-3);
                let bracket = [0.5 * expected, 2.0 * expected];
                let found = critical_stiffness(bracket, |k| spring_swings(&model, k, 1e-3, 10.0));
                let of_table = (found / critical[delay] - 1.0).abs();
                let of_theory = (found / expected - 1.0).abs();
                println!("{mass} {damping} {is_held} {delay}: {found:.1}, theory {expected:.1}");
                assert!(of_table < 0.01 && of_theory < 0.03, "{mass} {damping} {is_held} {delay}: {found}");
            }
        }
    }
}
