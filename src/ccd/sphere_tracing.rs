//! Balls on straight paths through a field, eight at a time: the time from which each may reach a level. Independent
//! of trees and samples.
//!
//! A ball whose centre has the clearance R, and the radius r, has the room R − r: it is separated as long as its centre
//! moves at most that far. The ball is advanced by its room and the clearance is evaluated again (sphere tracing, Hart
//! 1996, for balls). f32: the radius includes a margin for rounding.

use voxshell_base::math::RigidF32;
use voxshell_field::Clearance;

/// Number of balls that move together.
pub(super) const LANES: usize = 8;

/// Number of steps after which a ball stops: grazing balls advance slowly, and the nodes below them continue from
/// there.
const STEPS: usize = 24;

/// A time after every other time.
pub(super) const NEVER: f32 = f32::INFINITY;

/// Eight balls: centres at time 0, displacements until time 1, radii; metres, the field's local frame.
pub(super) struct Balls {
    from: [[f32; LANES]; 3],
    displacement: [[f32; LANES]; 3],
    pub radius: [f32; LANES],
    /// Time per metre, a lower bound.
    pace: [f32; LANES],
    /// Centres at which the clearance is evaluated.
    at: [[f32; LANES]; 3],
    clearance: [f32; LANES],
    /// The ball is separated before this time; [`NEVER`] when it is separated to the end.
    pub time: [f32; LANES],
}

impl Balls {
    pub fn new() -> Self {
        let zero = [0.0; LANES];
        Self {
            from: [zero; 3],
            displacement: [zero; 3],
            radius: zero,
            pace: zero,
            at: [zero; 3],
            clearance: zero,
            time: zero,
        }
    }

    /// Loads centres, at most [`LANES`], with their positions at time 0 and their displacements.
    #[inline(always)]
    pub fn load(&mut self, start: &RigidF32, displacement: &RigidF32, [x, y, z]: [&[f32]; 3]) {
        for (i, ((&x, &y), &z)) in x.iter().zip(y).zip(z).enumerate().take(LANES) {
            let (p, d) = (start.point([x, y, z]), displacement.point([x, y, z]));
            for a in 0..3 {
                (self.from[a][i], self.displacement[a][i]) = (p[a], d[a]);
            }
            let length = ((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]).sqrt();
            // Clamped so that a stationary ball gets a finite rate instead of a division by zero.
            self.pace[i] = ((1.0 - 1e-6) / length).min(1e30);
        }
    }

    /// Advances the first `n` balls from `time`, while they are certainly above `level`. A ball stops when it is
    /// separated past `until`, which sets its time to [`NEVER`], or when its room is less than `least` and the rest
    /// of the motion needs more than `strides` steps of that room.
    #[inline(always)]
    pub fn advance<F: Clearance>(
        &mut self,
        field: &F,
        n: usize,
        level: f32,
        until: f32,
        (least, strides): (impl Fn(f32) -> f32, f32),
    ) {
        // The balls that still move.
        let mut moving: [usize; LANES] = [0, 1, 2, 3, 4, 5, 6, 7];
        let mut count = n;
        for _ in 0..STEPS {
            for k in 0..count {
                let i = moving[k];
                for a in 0..3 {
                    self.at[a][k] = self.from[a][i] + self.time[i] * self.displacement[a][i];
                }
            }
            let [x, y, z] = &self.at;
            field.clearance_batch(&x[..count], &y[..count], &z[..count], level, &mut self.clearance[..count]);
            let mut left = 0;
            for k in 0..count {
                let i = moving[k];
                let room = self.clearance[k] - self.radius[i];
                let next = self.time[i] + room * self.pace[i];
                if room > 0.0 && next > until {
                    self.time[i] = NEVER;
                } else if room > least(self.radius[i])
                    || room > 0.0 && strides * (next - self.time[i]) > until - self.time[i]
                {
                    self.time[i] = next;
                    moving[left] = i;
                    left += 1;
                }
            }
            count = left;
            if count == 0 {
                return;
            }
        }
    }
}
