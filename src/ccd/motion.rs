//! Motion of the samples of a shell in the field's frame: straight, or with their body on a screw motion. Independent
//! of fields and trees.

use super::screw::Relative;
pub use super::types::Affine;
use super::types::Segment;
use voxshell_base::math::{Pose, Vec3};

/// Motion of a shell in the frame of a field, t from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub enum Motion {
    /// Every sample moves straight from its first position to its last (Xu & Barbič 2014, section 3): for small
    /// steps, and as in the papers. Between the two poses the shell is not rigid.
    Straight { from: Affine, to: Affine },
    /// Both bodies are rigid, each on the screw motion between its poses.
    Screw(Relative),
}

impl Motion {
    /// Returns the motion in which every sample moves straight from its position in the field's frame at the start to
    /// the one at the end. Poses are body to world.
    pub fn straight(shell: [&Pose; 2], field: [&Pose; 2]) -> Self {
        let [from, to] = [0, 1].map(|i| Affine::of(&field[i].inv_mul(shell[i])));
        Motion::Straight { from, to }
    }

    /// Returns the motion of both bodies on screws of less than half a turn each. `center` is a point of the shell,
    /// body frame, near which precision is needed.
    pub fn screw(shell: [&Pose; 2], field: [&Pose; 2], center: &Vec3) -> Self {
        Motion::Screw(Relative::new(shell, field, center))
    }

    /// Returns the map from the shell's body frame to the field's, at t.
    #[inline]
    pub fn at(&self, t: f64) -> Affine {
        match self {
            Motion::Straight { from, to } => from.toward(to, t),
            Motion::Screw(relative) => relative.at(t),
        }
    }

    /// Returns the chord of the path of a point of the shell between two times.
    #[inline]
    pub fn chord(&self, point: &Vec3, [from, to]: [f64; 2]) -> Segment {
        match self {
            // Same digits as with `at`, with less computation.
            Motion::Straight { from: first, to: last } if [from, to] == [0.0, 1.0] => {
                Segment::new(first.point(point), last.point(point))
            }
            _ => Segment::new(self.at(from).point(point), self.at(to).point(point)),
        }
    }

    /// Returns an upper bound of the distance from the chord, between two times, of every point within `radius` of
    /// `point` (body frame): metres. A path is off its chord by at most an eighth of its acceleration times the
    /// square of the time.
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
