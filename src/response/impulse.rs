//! Impulses at contacts, deepest first.

use super::Kinematics;
use crate::contact::Contact;
use crate::math::{Mat3, Twist, Vec3, Wrench};

/// How a body answers to an impulse. All zero for one that does not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mobility {
    /// 1/kg.
    pub inverse_mass: f64,
    /// About the centre of mass, world axes, 1/(kg·m²).
    pub inverse_inertia: Mat3,
}

impl Mobility {
    /// Of a body that nothing moves.
    pub const FIXED: Self =
        Self { inverse_mass: 0.0, inverse_inertia: Mat3::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0) };

    /// What an impulse at `arm` from the centre changes the velocity there by.
    fn velocity(&self, impulse: &Vec3, arm: &Vec3) -> Vec3 {
        impulse * self.inverse_mass + (self.inverse_inertia * arm.cross(impulse)).cross(arm)
    }

    fn push(&self, impulse: &Wrench) -> Twist {
        Twist { linear: impulse.force * self.inverse_mass, angular: self.inverse_inertia * impulse.torque }
    }
}

/// How contacts are resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpulseSettings {
    /// The step in which contacts are to be left, seconds; positive.
    pub dt: f64,
    /// Part of the approach that comes back, 0 to 1.
    pub restitution: f64,
    /// At most so fast are bodies pushed out of each other, m/s, however deep they are.
    pub max_speed: f64,
    /// Impulses at most.
    pub iterations: u32,
}

impl ImpulseSettings {
    /// Without restitution, with 64 impulses at most, and no limit of the speed.
    pub fn new(dt: f64) -> Self {
        Self { dt, restitution: 0.0, max_speed: f64::INFINITY, iterations: 64 }
    }
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impulses {
    /// On A, about its centre: N·s, N·m·s. Divided by the step, it is a load.
    pub on_a: Wrench,
    /// On B, about its own.
    pub on_b: Wrench,
    /// Contacts that got one, counted each time.
    pub count: u32,
    /// Whether no contact is left that needs one.
    pub resolved: bool,
}

/// Of a contact that is fast enough by so little less, relatively, nothing more is asked.
const SLACK: f64 = 1e-9;

/// The impulses that part two bodies (Ruffaldi et al. 2008, section 3.3): of the contacts that the motion itself does
/// not resolve in the next step, the deepest gets the impulse along its normal after which it will be resolved, and the
/// velocities change by that; again, until there is none or `settings.iterations` is reached. Most of the contacts
/// beside one are thereby resolved with it.
///
/// `contacts` have normals from A to B. One at separation φ is resolved when the bodies part at −φ/dt or more there;
/// one that is apart as much as it closes in the step is, too. Impulses only push. Allocates nothing.
pub fn impulse(
    contacts: &[Contact],
    a: (&Kinematics, &Mobility),
    b: (&Kinematics, &Mobility),
    settings: &ImpulseSettings,
) -> Impulses {
    let (mut of_a, mut of_b) = (a.0.twist, b.0.twist);
    let mut done = Impulses::default();
    loop {
        let mut deepest: Option<(&Contact, f64)> = None;
        for contact in contacts {
            if deepest.is_some_and(|(best, _)| best.separation <= contact.separation) {
                continue;
            }
            let [arm_a, arm_b] = arms(contact, a.0, b.0);
            let parting = (of_b.at(&arm_b) - of_a.at(&arm_a)).dot(&contact.normal);
            let wanted = (-contact.separation / settings.dt).min(settings.max_speed);
            if parting < wanted - SLACK * (wanted.abs() + parting.abs()) {
                deepest = Some((contact, parting));
            }
        }
        let Some((contact, parting)) = deepest else {
            done.resolved = true;
            return done;
        };
        if done.count >= settings.iterations {
            return done;
        }
        let [arm_a, arm_b] = arms(contact, a.0, b.0);
        let n = &contact.normal;
        let softness = n.dot(&(a.1.velocity(n, &arm_a) + b.1.velocity(n, &arm_b)));
        // Two bodies that nothing moves.
        if softness <= 0.0 {
            return done;
        }
        let wanted = (-contact.separation / settings.dt).min(settings.max_speed);
        let size = (wanted.max(-settings.restitution * parting) - parting) / softness;
        let (on_a, on_b) = (Wrench::of_force(n * -size, &arm_a), Wrench::of_force(n * size, &arm_b));
        let before = (of_a, of_b);
        for (twist, mobility, load) in [(&mut of_a, a.1, &on_a), (&mut of_b, b.1, &on_b)] {
            let change = mobility.push(load);
            twist.linear += change.linear;
            twist.angular += change.angular;
        }
        // Below the rounding of the velocities no further impulse changes anything, and an inertia that is none diverges.
        if (of_a, of_b) == before || !(of_a.is_finite() && of_b.is_finite()) {
            return done;
        }
        done.on_a += on_a;
        done.on_b += on_b;
        done.count += 1;
    }
}

/// From the centres to the middle of the contact.
fn arms(contact: &Contact, a: &Kinematics, b: &Kinematics) -> [Vec3; 2] {
    let middle = (contact.point_on_a + contact.point_on_b) * 0.5;
    [middle - a.center, middle - b.center]
}
