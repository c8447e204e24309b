//! Screw mechanics: the friction at which a nut under an axial load locks, and the torque that tightens it against the
//! load, beside the closed forms for a thread of 60°.

use voxshell::math::Vec3;
use voxshell_report::row::Row;

use crate::bridge::Method;
use crate::decompose::Decomposer;
use crate::nut_bolt::options::NutOptions;
use crate::nut_bolt::rig::{Pair, Rig};
use crate::nut_bolt::sizes::Parts;

/// Angle between a flank and the plane across the axis, radians.
const HALF_ANGLE: f64 = std::f64::consts::FRAC_PI_6;
/// Largest error of both figures, percent.
const TARGET: f64 = 2.0;
/// Turns above the head at the start: the nut stays on the full thread.
const TURNS: f64 = 3.0;
/// Default rate, steps per second. At 1 kHz no sliding speed serves: a slow nut gets friction across its flanks, and a
/// fast one loses speed at each facet of the mesh.
const RATE: f64 = 8000.0;
/// Axial loads over the nut's weight.
pub const LOADS: [f64; 3] = [1.0, 3.0, 10.0];
/// Coefficient of friction of the tightening torque: dry steel.
const STEEL: f64 = 0.15;
/// Time in which a nut settles under its load, and time in which it then speeds up or slows down, seconds.
const SETTLE: f64 = 0.02;
const WATCH: f64 = 0.05;
/// Least sliding speed at which that is decided, m/s. At speeds below 0.35 mm/s Bullet does not align its friction with
/// the motion.
const SLIDING: f64 = 0.005;
/// Sliding speed over the velocity that the load adds in a step. Bullet's friction points against the sum of both, so in
/// a slow nut it points across the flank; here it is off by atan(sin 30° cos 30° / 5), which takes 0.4% of it.
const AHEAD: f64 = 5.0;
/// Turns after which the decision falls at the latest.
const FAR: f64 = 0.3;
/// Friction while a nut settles; it locks every size.
const HOLD: f64 = 0.3;
/// Bisections, to a thousandth of the interval: 0.4% of the locking friction and 0.2% of the torque.
const BISECTIONS: usize = 10;
const GRAVITY: f64 = 10.0;

/// Closed forms of a thread at one radius.
#[derive(Clone, Copy, Debug)]
pub struct ClosedForm {
    /// Tangent of the lead angle.
    lead: f64,
    /// Cosine of the half angle in the section normal to the thread.
    normal: f64,
    radius: f64,
}

impl ClosedForm {
    pub fn new(pitch: f64, radius: f64) -> Self {
        let lead = pitch / (std::f64::consts::TAU * radius);
        // tan β_n = tan β cos α (e.g. Shigley, Mechanical Engineering Design, power screws).
        let cos_lead = 1.0 / (1.0 + lead * lead).sqrt();
        let normal = (HALF_ANGLE.tan() * cos_lead).atan().cos();
        Self { lead, normal, radius }
    }

    /// Returns the friction at which the nut just locks: tan α cos β_n.
    pub fn locking_friction(&self) -> f64 {
        self.lead * self.normal
    }

    /// Returns the torque that raises `load`: W r (tan α cos β_n + μ) / (cos β_n − μ tan α).
    pub fn tightening_torque(&self, load: f64, friction: f64) -> f64 {
        load * self.radius * (self.lead * self.normal + friction) / (self.normal - friction * self.lead)
    }
}

/// A measured limit.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    pub value: f64,
    /// Mean distance of the normal impulses from the axis, metres.
    pub contact_radius: f64,
}

fn sliding_speed(rig: &Rig, load: f64) -> f64 {
    SLIDING + AHEAD * load / rig.mass * rig.dt()
}

/// Returns the change of the speed of a nut that slides in `direction` (1 up, -1 down) under a load downwards and a
/// torque upwards, as a fraction of its speed, and the radius of its contacts.
fn speeds_up(rig: &mut Rig, direction: f64, load: f64, torque: f64, friction: f64) -> (f64, f64) {
    rig.reset();
    rig.set_friction(HOLD);
    let (settle, watch) = ((SETTLE / rig.dt()).ceil() as usize, (WATCH / rig.dt()).ceil() as usize);
    let (down, along) = (Vec3::new(0.0, -load, 0.0), Vec3::y() * (torque * rig.dt()));
    for _ in 0..settle {
        rig.load(down);
        rig.step(Vec3::zeros(), Vec3::zeros());
    }
    rig.set_friction(friction);
    let speed = direction * sliding_speed(rig, load) / rig.radius;
    let mut radius = (0.0, 0.0);
    for step in 0..watch {
        if step == 0 {
            rig.set_spin(speed);
        }
        rig.load(down);
        let turns = rig.step(Vec3::zeros(), along).turns;
        let (sum, mean) = rig.contact_radius();
        radius = (radius.0 + sum, radius.1 + sum * mean);
        let change = rig.spin() / speed - 1.0;
        if change.abs() > 0.5 || turns.abs() > FAR || step + 1 == watch {
            return (change, radius.1 / radius.0.max(f64::MIN_POSITIVE));
        }
    }
    (0.0, 0.0)
}

/// Halves the interval between a value at which the nut speeds up and one at which it slows down, and returns its
/// middle with the contact radius of the last trial.
fn bisect(mut fast: f64, mut slow: f64, mut trial: impl FnMut(f64) -> (f64, f64)) -> Limit {
    let mut contact_radius = 0.0;
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (fast + slow);
        let (change, radius) = trial(middle);
        contact_radius = radius;
        *(if change > 0.0 { &mut fast } else { &mut slow }) = middle;
    }
    Limit { value: 0.5 * (fast + slow), contact_radius }
}

/// Returns the friction at which a nut that comes down under a load, without a torque, keeps its speed: above it the
/// nut locks.
pub fn locking_friction(rig: &mut Rig, load: f64) -> Limit {
    bisect(0.0, 0.15, |friction| speeds_up(rig, -1.0, load, 0.0, friction))
}

/// Returns the torque with which a nut that climbs against a load keeps its speed; `scale` is of its size.
pub fn tightening_torque(rig: &mut Rig, load: f64, friction: f64, scale: f64) -> Limit {
    bisect(2.0 * scale, 0.0, |torque| speeds_up(rig, 1.0, load, torque, friction))
}

/// Measures all sizes and gives each row to `emit` as soon as it is known.
pub fn rows(
    method: Method,
    sizes: &[Parts],
    loads: &[f64],
    options: &NutOptions,
    decomposer: &Decomposer,
    mut emit: impl FnMut(Row),
) -> Result<(), String> {
    for &parts in sizes {
        let size = parts.size().ok_or("screw mechanics needs threads with a known pitch diameter")?;
        let pair = Pair::new(parts, options).map_err(|e| e.to_string())?;
        let rate = options.rate.unwrap_or(RATE);
        let mut rig = pair.rig(method, rate, TURNS, options.iterations, decomposer)?;
        let radius = 0.5 * size.pitch_diameter();
        rig.radius = radius;
        let closed = ClosedForm::new(pair.pitch, radius);
        for weights in loads {
            let load = weights * GRAVITY * rig.mass;
            decomposer.progress.start(&format!("{} under {load:.2} N", parts.name()), 0);
            let row = |name: &str, limit: Limit, unit: &str, value: f64, at: &dyn Fn(ClosedForm) -> f64| {
                let error = |peer: f64| 100.0 * (value / peer - 1.0);
                let there = at(ClosedForm::new(pair.pitch, limit.contact_radius));
                Row::new(format!("{} {name} under {load:.2} N", parts.name()), error(at(closed)).abs(), "%")
                    .target(TARGET)
                    .peer("closed form at the pitch diameter", at(closed))
                    .with("peer_unit", unit)
                    .with("parts", parts.name())
                    .with("method", method.entry().name)
                    .with("quantity", name)
                    .with("load_n", load)
                    .with(&format!("simulated_{}", if unit == "1" { "friction" } else { "torque_n_m" }), value)
                    .with("signed_error_pct", error(at(closed)))
                    .with("pitch_radius_mm", radius * 1e3)
                    .with("contact_radius_mm", limit.contact_radius * 1e3)
                    .with("error_at_contact_radius_pct", error(there))
                    .with("lead_angle_deg", closed.lead.atan().to_degrees())
                    .with("rate_hz", rate)
                    .with("iterations", options.iterations)
            };
            let lock = locking_friction(&mut rig, load);
            emit(row("locking friction", lock, "1", lock.value, &|c| c.locking_friction()));
            let scale = closed.tightening_torque(load, STEEL);
            let tight = tightening_torque(&mut rig, load, STEEL, scale);
            let torque = |c: ClosedForm| c.tightening_torque(load, STEEL);
            emit(row("tightening torque", tight, "N m", tight.value, &torque).with("friction", STEEL));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_forms_agree_where_no_torque_is_needed() {
        let m16 = ClosedForm::new(2e-3, 7.3475e-3);
        // tan 2.48° cos 30° up to the rounding of the angle.
        assert!((m16.locking_friction() - 0.0375).abs() < 1e-4, "{m16:?}");
        // The torque that lowers has the sign of friction reversed; it vanishes at the locking friction.
        assert!(m16.tightening_torque(1.0, -m16.locking_friction()).abs() < 1e-12);
    }
}
