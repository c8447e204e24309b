//! Sums the forces of single contacts on one body, and their gradients. A contact is a point of the body that brings
//! the samples. It is pushed out of the other body, whose field gives the depth.

use nalgebra::{Matrix3, Vector6};

use super::{Kinematics, Response};
use voxshell_base::math::{Mat6, Vec3, Wrench};
use voxshell_field::Field;

/// Coefficients of the force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Law {
    /// Stiffness, N/m.
    pub stiffness: f64,
    /// Damping along the force, N·s/m.
    pub damping: f64,
    /// Drag against all relative velocity, N·s/m.
    pub drag: f64,
}

/// A contact, world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Touch {
    /// Position of the sample, metres.
    pub point: Vec3,
    /// Depth below the level at which the force begins, metres.
    pub depth: f64,
    /// ∇φ of the field there: how the depth changes.
    pub gradient: Vec3,
    /// Unit direction in which the force pushes the sample's body.
    pub push: Vec3,
    /// Whether `push` rotates with the sample's body, as the sample's normal does; otherwise it rotates with the
    /// field's body.
    pub turns_with_sample: bool,
    /// Further change of the depth with a rotation vector of the sample's body about the sample, m/rad; for the
    /// field's body it has the opposite sign. 0 for a depth that depends only on the position.
    pub depth_by_turn: Vec3,
}

/// Cosine of the angle between the gradient and the inward normal from which the force is along the gradient, and that
/// below which it is along the normal: deep in a thin body, where the gradient points against its normal, a sample still
/// goes back to the side from which it came. Samples on the sides of a body that stands on a face are at right angles.
const SIDES: f64 = -0.1;
const BEHIND: f64 = -0.6;

/// Direction of the force on the body of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Along {
    /// The inward normal of the sample, as in the papers.
    Normal,
    /// In the field of a convex analytic shape its gradient, otherwise the normal.
    ///
    /// The samples of a cube that is pressed onto a face at an angle have the normals of two or three faces, whose sum leans
    /// by 70% at 10°. Where both bodies bring samples, those of the face outweigh them; an analytic face has none, but its
    /// gradient is exact and does not turn along the face.
    Face,
}

impl Along {
    /// Returns the unit direction, and whether it turns with the sample's body. `inward` is the sample's inward normal, and
    /// `gradient` that of the field.
    #[inline(always)]
    pub fn push(self, field: Option<&Field>, gradient: &Vec3, inward: &Vec3) -> (Vec3, bool) {
        let size = gradient.norm();
        if self == Self::Normal || size < 1e-9 || !field.is_some_and(Field::is_convex) {
            return (*inward, true);
        }
        let outward = gradient / size;
        let part = ((outward.dot(inward) - BEHIND) / (SIDES - BEHIND)).clamp(0.0, 1.0);
        let share = part * part * (3.0 - 2.0 * part);
        // Never zero: with a share above 0 the two are at most 127° apart.
        ((inward + (outward - inward) * share).normalize(), share < 0.5)
    }
}

/// Which of the two bodies of a contact is pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The body with the sample.
    Sample,
    /// The body with the field.
    Field,
}

/// The two bodies of a contact.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub sample: &'a Kinematics,
    pub field: &'a Kinematics,
}

/// The sums to which the responses of single contacts are added: one for all contacts, or one for each group.
pub trait Sums {
    /// Returns the sum for a contact at `point`, world frame, metres, that pushes the body along `push`, unit.
    fn of(&mut self, point: &Vec3, push: &Vec3) -> &mut Response;

    /// Returns the gradient of φ by which the depth of a contact changes in its linear model. `push` is the unit direction
    /// of the force on the sample's body.
    fn gradient(gradient: &Vec3, _push: &Vec3) -> Vec3 {
        *gradient
    }
}

impl Sums for Response {
    #[inline]
    fn of(&mut self, _: &Vec3, _: &Vec3) -> &mut Response {
        self
    }
}

/// Returns v× as a matrix.
pub(super) fn cross(v: &Vec3) -> Matrix3<f64> {
    Matrix3::new(0.0, -v.z, v.y, v.z, 0.0, -v.x, -v.y, v.x, 0.0)
}

fn stack(upper: &Vec3, lower: &Vec3) -> Vector6<f64> {
    Vector6::new(upper.x, upper.y, upper.z, lower.x, lower.y, lower.z)
}

/// Returns a bᵀ − (a·b) 1, which is b× a×.
fn twice_crossed(a: &Vec3, b: &Vec3) -> Matrix3<f64> {
    a * b.transpose() - Matrix3::from_diagonal_element(a.dot(b))
}

impl Part {
    /// Returns the sign of the force that a push of the sample's body has on this body.
    pub fn sign(self) -> f64 {
        if self == Self::Sample {
            1.0
        } else {
            -1.0
        }
    }
}

impl Law {
    pub fn scaled(&self, factor: f64) -> Self {
        let Self { stiffness, damping, drag } = *self;
        Self { stiffness: stiffness * factor, damping: damping * factor, drag: drag * factor }
    }

    /// Adds the force and the gradients of the contact on one of its bodies.
    ///
    /// Let p be the sample, r = p − centre, u the push direction, d the depth, and v the velocity of the sample's
    /// body minus that of the field's body at p. The sample's body gets the force f = m u − c v with m = max(k d − b
    /// u·v, 0), and the field's body gets −f: a contact does not pull. Let ξ be a change of the pose. For the
    /// sample's body it moves p by ξ₁ + ξ₂ × r. For the field's body it moves the field by that amount under p, and
    /// changes the arm by −ξ₁. This, and the body with which u rotates, gives δd, δu, δv and δr; the wrench (f, r ×
    /// f) follows by the product rule.
    #[inline(always)]
    pub fn add(&self, touch: &Touch, pair: &Pair, part: Part, sum: &mut Response) {
        let Touch { point, depth, gradient: g, push: u, turns_with_sample, depth_by_turn } = touch;
        let (s, t) = (&pair.sample.twist, &pair.field.twist);
        let of_sample = part == Part::Sample;
        let center = if of_sample { &pair.sample.center } else { &pair.field.center };
        let r = point - center;
        let v = s.at(&(point - pair.sample.center)) - t.at(&(point - pair.field.center));
        let sign = part.sign();
        let Self { stiffness: k, damping: b, drag: c } = *self;

        let m = k * depth - b * u.dot(&v);
        if m > 0.0 {
            let f = u * m;
            sum.wrench += Wrench::of_force(f * sign, &r);
            // The line of the force as a unit wrench; the derivative of m with respect to the pose is a row that
            // multiplies it.
            let line = stack(u, &r.cross(u));
            let turn = u.cross(&v) * if *turns_with_sample == of_sample { 1.0 } else { 0.0 };
            let by_velocity = if of_sample {
                let field = u.cross(&t.angular);
                stack(&-field, &(turn + r.cross(&(u.cross(&s.angular) - field))))
            } else {
                stack(&u.cross(&t.angular), &turn)
            };
            let row = stack(g, &(r.cross(g) - depth_by_turn)) * (-k * sign) - by_velocity * b;
            outer(&(line * sign), &row, &mut sum.by_pose);
            outer(&(line * -b), &line, &mut sum.by_twist);
            match (part, *turns_with_sample) {
                (Part::Sample, true) => {
                    add_block(&mut sum.by_pose, 0, 3, &-cross(&f));
                    add_block(&mut sum.by_pose, 3, 3, &-cross(&r.cross(&f)));
                }
                (Part::Sample, false) => add_block(&mut sum.by_pose, 3, 3, &twice_crossed(&r, &f)),
                (Part::Field, turns_with_sample) => {
                    add_block(&mut sum.by_pose, 3, 0, &-cross(&f));
                    if !turns_with_sample {
                        add_block(&mut sum.by_pose, 0, 3, &cross(&f));
                        add_block(&mut sum.by_pose, 3, 3, &twice_crossed(&f, &r));
                    }
                }
            }
        }
        if c != 0.0 {
            self.add_drag(&v, &r, pair, part, sum);
        }
    }

    /// Adds the force −c v and its gradients, with v as above and r the arm of the given body.
    fn add_drag(&self, v: &Vec3, r: &Vec3, pair: &Pair, part: Part, sum: &mut Response) {
        let c = self.drag;
        let (rx, wt) = (cross(r), cross(&pair.field.twist.angular));
        let f = v * -c;
        let sign = part.sign();
        sum.wrench += Wrench::of_force(f * sign, r);
        // Gradient of the force on this body.
        let (by_shift, by_turn) = match part {
            Part::Sample => (wt * c, (cross(&pair.sample.twist.angular) - wt) * rx * c),
            Part::Field => (wt * c, Matrix3::zeros()),
        };
        add_block(&mut sum.by_pose, 0, 0, &by_shift);
        add_block(&mut sum.by_pose, 0, 3, &by_turn);
        // The torque is r × the force. The arm rotates with the sample's body; for the field's body the centre moves
        // away from p.
        let (arm_by_shift, arm_by_turn) = match part {
            Part::Sample => (Matrix3::zeros(), cross(&f) * rx),
            Part::Field => (-cross(&f), Matrix3::zeros()),
        };
        add_block(&mut sum.by_pose, 3, 0, &(rx * by_shift + arm_by_shift));
        add_block(&mut sum.by_pose, 3, 3, &(rx * by_turn + arm_by_turn));
        add_block(&mut sum.by_twist, 0, 0, &Matrix3::from_diagonal_element(-c));
        add_block(&mut sum.by_twist, 0, 3, &(rx * c));
        add_block(&mut sum.by_twist, 3, 0, &(rx * -c));
        add_block(&mut sum.by_twist, 3, 3, &(rx * rx * c));
    }
}

/// Adds column rowᵀ to `sum`.
#[inline(always)]
fn outer(column: &Vector6<f64>, row: &Vector6<f64>, sum: &mut Mat6) {
    for j in 0..6 {
        for i in 0..6 {
            sum[(i, j)] += column[i] * row[j];
        }
    }
}

#[inline(always)]
fn add_block(sum: &mut Mat6, row: usize, column: usize, block: &Matrix3<f64>) {
    for j in 0..3 {
        for i in 0..3 {
            sum[(row + i, column + j)] += block[(i, j)];
        }
    }
}
