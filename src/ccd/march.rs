//! Balls on straight paths through a field, eight at a time: from when on each may reach a level. Knows nothing of trees
//! or samples.
//!
//! A ball whose centre has the clearance R, and the radius r, is free for as long as its centre goes no farther than R − r:
//! it is put there, asked again, and so on (sphere tracing, Hart 1996, for balls). f32: the radius has room for rounding.

use crate::field::Clearance;
use crate::math::RigidF32;

/// Balls that move together.
pub(super) const LANES: usize = 8;

/// Steps after which a ball is left where it is: grazing ones go slowly, and those below them go on from there.
const STEPS: usize = 24;

/// A time after every other.
pub(super) const NEVER: f32 = f32::INFINITY;

/// Of eight balls: centres at time 0, how far they go until time 1, radii; metres, the field's local frame.
pub(super) struct Balls {
    from: [[f32; LANES]; 3],
    way: [[f32; LANES]; 3],
    pub radius: [f32; LANES],
    /// Time per metre, not too much.
    pace: [f32; LANES],
    /// Where they are asked.
    at: [[f32; LANES]; 3],
    clearance: [f32; LANES],
    /// Free before this time; [`NEVER`] when free to the end.
    pub time: [f32; LANES],
}

impl Balls {
    pub fn new() -> Self {
        let zero = [0.0; LANES];
        Self { from: [zero; 3], way: [zero; 3], radius: zero, pace: zero, at: [zero; 3], clearance: zero, time: zero }
    }

    /// Centres, at most [`LANES`], by where they are at time 0 and how far they go.
    #[inline(always)]
    pub fn load(&mut self, start: &RigidF32, way: &RigidF32, [x, y, z]: [&[f32]; 3]) {
        for (i, ((&x, &y), &z)) in x.iter().zip(y).zip(z).enumerate().take(LANES) {
            let (p, d) = (start.point([x, y, z]), way.point([x, y, z]));
            for a in 0..3 {
                (self.from[a][i], self.way[a][i]) = (p[a], d[a]);
            }
            let length = ((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]).sqrt();
            // Finite, so that a ball that rests and is free is free for ever, and one that is not is not.
            self.pace[i] = ((1.0 - 1e-6) / length).min(1e30);
        }
    }

    /// Moves the first `n` balls on from `time`, while they are above `level` for certain. A ball is done when it is free
    /// past `until`, which makes its time [`NEVER`], or when it has less room than `least` and more than so many `strides` of
    /// that room to go.
    #[inline(always)]
    pub fn march<F: Clearance>(
        &mut self,
        field: &F,
        n: usize,
        level: f32,
        until: f32,
        (least, strides): (impl Fn(f32) -> f32, f32),
    ) {
        // The balls that are still on their way.
        let mut moving: [usize; LANES] = [0, 1, 2, 3, 4, 5, 6, 7];
        let mut count = n;
        for _ in 0..STEPS {
            for k in 0..count {
                let i = moving[k];
                for a in 0..3 {
                    self.at[a][k] = self.from[a][i] + self.time[i] * self.way[a][i];
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
