//! Impulses at contacts, deepest first.

use super::Kinematics;
use voxshell_base::math::{Mat3, Twist, Vec3, Wrench};
use voxshell_contact::Contact;

/// Inverse mass and inverse inertia of a body. All zero for a fixed body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mobility {
    /// Inverse mass, 1/kg.
    pub inverse_mass: f64,
    /// Inverse inertia about the centre of mass, world axes, 1/(kg·m²).
    pub inverse_inertia: Mat3,
}

impl Mobility {
    /// Mobility of a fixed body.
    pub const FIXED: Self =
        Self { inverse_mass: 0.0, inverse_inertia: Mat3::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0) };

    /// Returns the change of the velocity at `arm` from the centre by an impulse there.
    fn velocity(&self, impulse: &Vec3, arm: &Vec3) -> Vec3 {
        impulse * self.inverse_mass + (self.inverse_inertia * arm.cross(impulse)).cross(arm)
    }

    fn push(&self, impulse: &Wrench) -> Twist {
        Twist { linear: impulse.force * self.inverse_mass, angular: self.inverse_inertia * impulse.torque }
    }
}

/// Parameters of the contact resolution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpulseSettings {
    /// Time within which the bodies are to separate, seconds; positive.
    pub dt: f64,
    /// Coefficient of restitution, 0 to 1.
    pub restitution: f64,
    /// Largest speed at which bodies are pushed apart, m/s, at any depth.
    pub max_speed: f64,
    /// Largest number of impulses.
    pub iterations: u32,
}

impl ImpulseSettings {
    /// Returns settings without restitution, with at most 64 impulses and without a limit of the speed.
    pub fn new(dt: f64) -> Self {
        Self { dt, restitution: 0.0, max_speed: f64::INFINITY, iterations: 64 }
    }
}

/// Result of the contact resolution.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impulses {
    /// Impulse on A about its centre: N·s, N·m·s. Divided by the step, it is a load.
    pub on_a: Wrench,
    /// Impulse on B about its own centre.
    pub on_b: Wrench,
    /// Number of impulses applied; a contact counts each time.
    pub count: u32,
    /// Whether no contact is left that needs an impulse.
    pub resolved: bool,
}

/// Relative shortfall of the speed at which a contact still counts as resolved.
const SLACK: f64 = 1e-9;

/// Computes the impulses that separate two bodies (Ruffaldi et al. 2008, section 3.3). Among the contacts that the
/// motion itself does not resolve in the next step, the deepest gets the impulse along its normal that resolves it,
/// and the velocities change accordingly. This repeats until no such contact is left or `settings.iterations` is
/// reached. Most of the neighbours of a contact are resolved together with it.
///
/// `contacts` have normals from A to B. A contact with separation φ is resolved when the bodies separate there at
/// −φ/dt or faster; a separated contact that closes at most its separation within the step is resolved, too. Impulses
/// only push. Allocates nothing.
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
        // Both bodies are fixed.
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
        let mut sums = (done.on_a, done.on_b);
        sums.0 += on_a;
        sums.1 += on_b;
        // Below the rounding of the velocities no further impulse changes anything. A zero inertia diverges, and the
        // impulses on a mass near the largest number overflow in their sum.
        let finite = of_a.is_finite() && of_b.is_finite() && sums.0.is_finite() && sums.1.is_finite();
        if (of_a, of_b) == before || !finite {
            return done;
        }
        (done.on_a, done.on_b) = sums;
        done.count += 1;
    }
}

/// Returns the arms from both centres to the midpoint of the contact.
fn arms(contact: &Contact, a: &Kinematics, b: &Kinematics) -> [Vec3; 2] {
    let middle = (contact.point_on_a + contact.point_on_b) * 0.5;
    [middle - a.center, middle - b.center]
}
