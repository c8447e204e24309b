//! The types that the files of this module share: a segment, an affine map, a contact that lasts.

use voxshell_base::math::{Aabb, Mat3, Pose, RigidF32, Vec3};
use voxshell_contact::Contact;

/// A straight path; body frame of the field, metres; finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    pub from: Vec3,
    pub to: Vec3,
}

impl Segment {
    pub fn new(from: Vec3, to: Vec3) -> Self {
        Self { from, to }
    }

    pub(super) fn displacement(&self) -> Vec3 {
        self.to - self.from
    }

    /// Returns the point at a fraction t.
    pub fn at(&self, t: f64) -> Vec3 {
        self.from + self.displacement() * t
    }

    /// Returns the interval in a box grown by `margin`, as fractions.
    pub(super) fn clip(&self, bounds: &Aabb, margin: f64) -> Option<(f64, f64)> {
        let (bounds, displacement) = (bounds.inflated(margin), self.displacement());
        let (mut start, mut end) = (0.0f64, 1.0f64);
        for i in 0..3 {
            if displacement[i] == 0.0 {
                if self.from[i] < bounds.min[i] || self.from[i] > bounds.max[i] {
                    return None;
                }
                continue;
            }
            let (a, b) =
                ((bounds.min[i] - self.from[i]) / displacement[i], (bounds.max[i] - self.from[i]) / displacement[i]);
            start = start.max(a.min(b));
            end = end.min(a.max(b));
        }
        (start <= end).then_some((start, end))
    }
}

/// Affine map p' = linear p + shift; metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    pub linear: Mat3,
    pub shift: Vec3,
}

impl Affine {
    /// Returns a pose as a map of points.
    pub fn of(pose: &Pose) -> Self {
        Self { linear: pose.rotation.to_rotation_matrix().into_inner(), shift: pose.translation.vector }
    }

    #[inline(always)]
    pub fn point(&self, p: &Vec3) -> Vec3 {
        self.linear * p + self.shift
    }

    /// Returns the map at t of the straight motion of every point from its image by `self` to its image by `other`.
    pub(super) fn toward(&self, other: &Self, t: f64) -> Self {
        let s = 1.0 - t;
        Self { linear: self.linear * s + other.linear * t, shift: self.shift * s + other.shift * t }
    }

    /// Returns the map between two local frames, given by their origins, rounded once.
    pub(super) fn local(&self, from: &Vec3, to: &Vec3) -> RigidF32 {
        let shift = self.point(from) - to;
        let row = |i: usize| [0, 1, 2].map(|k| self.linear[(i, k)] as f32);
        RigidF32 { r: [row(0), row(1), row(2)], t: [0, 1, 2].map(|k| shift[k] as f32) }
    }

    /// Returns the difference of two maps, which applies to vectors rather than points: its `local` needs no origins.
    pub(super) fn minus(&self, other: &Self) -> Self {
        Self { linear: self.linear - other.linear, shift: self.shift - other.shift }
    }

    #[cfg(test)]
    pub(super) fn pose_for_tests(&self) -> Pose {
        let rotation = nalgebra::Rotation3::from_matrix_unchecked(self.linear);
        Pose::from_parts(self.shift.into(), voxshell_base::math::Rotation::from_rotation_matrix(&rotation))
    }
}

/// A contact with a duration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collision {
    /// Contact at its beginning; the time is [`Contact::toi`].
    pub contact: Contact,
    /// End time, 0 to 1.
    pub until: f64,
}
