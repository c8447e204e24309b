//! How the samples of a shell move in the field's frame: straight from place to place, or with their body on a screw
//! motion. Knows nothing of fields or trees.

use super::screw::Relative;
use super::segment::Segment;
use crate::math::{Mat3, Pose, RigidF32, Vec3};

/// p' = linear p + shift; metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    pub linear: Mat3,
    pub shift: Vec3,
}

impl Affine {
    /// A pose as a map of points.
    pub fn of(pose: &Pose) -> Self {
        Self { linear: pose.rotation.to_rotation_matrix().into_inner(), shift: pose.translation.vector }
    }

    #[inline(always)]
    pub fn point(&self, p: &Vec3) -> Vec3 {
        self.linear * p + self.shift
    }

    /// The map that takes every point to where it is at t on its straight way from here to there.
    pub(super) fn toward(&self, other: &Self, t: f64) -> Self {
        let s = 1.0 - t;
        Self { linear: self.linear * s + other.linear * t, shift: self.shift * s + other.shift * t }
    }

    /// Between two local frames, given by their origins, rounded once.
    pub(super) fn local(&self, from: &Vec3, to: &Vec3) -> RigidF32 {
        let shift = self.point(from) - to;
        let row = |i: usize| [0, 1, 2].map(|k| self.linear[(i, k)] as f32);
        RigidF32 { r: [row(0), row(1), row(2)], t: [0, 1, 2].map(|k| shift[k] as f32) }
    }

    /// The difference of two maps, of vectors rather than points: `local` of it needs no origins.
    pub(super) fn minus(&self, other: &Self) -> Self {
        Self { linear: self.linear - other.linear, shift: self.shift - other.shift }
    }

    #[cfg(test)]
    pub(super) fn pose_for_tests(&self) -> Pose {
        let rotation = nalgebra::Rotation3::from_matrix_unchecked(self.linear);
        Pose::from_parts(self.shift.into(), crate::math::Rotation::from_rotation_matrix(&rotation))
    }
}

/// A shell's motion in the frame of a field, t from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub enum Motion {
    /// Every sample goes straight from its first place to its last (Xu & Barbič 2014, section 3): for small steps, and as in
    /// the papers. In between the shell is not rigid.
    Straight { from: Affine, to: Affine },
    /// Both bodies are rigid, each on the screw motion between its poses.
    Screw(Relative),
}

impl Motion {
    /// Every sample straight from where it is in the field's frame at the start to where it is at the end. Poses are body to
    /// world.
    pub fn straight(shell: [&Pose; 2], field: [&Pose; 2]) -> Self {
        let [from, to] = [0, 1].map(|i| Affine::of(&field[i].inv_mul(shell[i])));
        Motion::Straight { from, to }
    }

    /// Both bodies on screws, of less than half a turn each. `center` is a point of the shell, body frame, where precision is
    /// wanted.
    pub fn screw(shell: [&Pose; 2], field: [&Pose; 2], center: &Vec3) -> Self {
        Motion::Screw(Relative::new(shell, field, center))
    }

    /// From the shell's body frame to the field's, at t.
    pub fn at(&self, t: f64) -> Affine {
        match self {
            Motion::Straight { from, to } => from.toward(to, t),
            Motion::Screw(relative) => relative.at(t),
        }
    }

    /// The straight way of a point of the shell between two times.
    pub fn chord(&self, point: &Vec3, [from, to]: [f64; 2]) -> Segment {
        match self {
            // The same digits as by `at`, with fewer of them computed.
            Motion::Straight { from: first, to: last } if [from, to] == [0.0, 1.0] => {
                Segment::new(first.point(point), last.point(point))
            }
            _ => Segment::new(self.at(from).point(point), self.at(to).point(point)),
        }
    }

    /// Between two times, no point within `radius` of `point` (body frame) is ever farther than this from where it would be
    /// on its chord: metres. A path is off its chord by at most an eighth of its acceleration times the square of the time.
    pub fn sagitta(&self, point: &Vec3, radius: f64, [from, to]: [f64; 2]) -> f64 {
        match self {
            Motion::Straight { .. } => 0.0,
            Motion::Screw(relative) => {
                let half = 0.5 * (to - from);
                0.5 * half * half * relative.acceleration(point, radius, 0.5 * (from + to), half)
            }
        }
    }
}
