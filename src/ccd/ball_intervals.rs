//! Intervals of the motion in which balls may be near a level, eight balls at a time; in the rest of the motion they
//! are certainly on one side of it. Independent of trees and samples.
//!
//! The method is that of `sphere_tracing`, on both sides of the level and through it. A ball that is not certainly off
//! the level is advanced further. Where it is off the level again, the clearance covers the same distance before that
//! point as after it.

use super::sphere_tracing::LANES;
use voxshell_base::math::RigidF32;
use voxshell_field::Clearance;

/// Largest number of intervals that are kept apart; a gap before a later one is not used.
pub(super) const MOST: usize = 4;

/// An interval in which a ball may be near the level.
#[derive(Clone, Copy, Debug)]
pub(super) struct BallInterval {
    pub from: f32,
    pub to: f32,
    /// Whether φ ≤ level just before the interval; `None` at the start of a path, where it is unknown.
    pub below: Option<bool>,
}

/// All intervals of one ball, ascending.
#[derive(Clone, Copy, Debug)]
pub(super) struct BallIntervals {
    list: [BallInterval; MOST],
    count: u8,
    /// Whether φ ≤ level at the start of the path, where that is known for the whole ball.
    pub starts_below: Option<bool>,
}

impl BallIntervals {
    /// Returns the intervals without any knowledge: near from the start to `to`.
    pub fn whole(to: f32, below: Option<bool>) -> Self {
        let whole = BallInterval { from: 0.0, to, below };
        Self { list: [whole; MOST], count: 1, starts_below: below }
    }

    fn none(starts_below: Option<bool>) -> Self {
        Self { count: 0, ..Self::whole(0.0, starts_below) }
    }

    pub fn list(&self) -> &[BallInterval] {
        &self.list[..usize::from(self.count)]
    }

    fn push(&mut self, interval: BallInterval) {
        if usize::from(self.count) == MOST {
            self.list[MOST - 1].to = interval.to;
        } else {
            self.list[usize::from(self.count)] = interval;
            self.count += 1;
        }
    }
}

/// One ball in one interval of its motion.
#[derive(Clone, Copy)]
struct Lane {
    time: f32,
    /// Time since which the ball may be near the level.
    since: f32,
    /// Side of the level before that.
    below: Option<bool>,
    radius: f32,
    /// Time per metre, a lower bound.
    pace: f32,
    /// Length of the last step, metres, if the ball was near the level.
    stride: f32,
}

/// Eight balls: centres at time 0 and displacements until time 1, metres, the field's local frame.
pub(super) struct Pack {
    from: [[f32; LANES]; 3],
    displacement: [[f32; LANES]; 3],
    lanes: [Lane; LANES],
    at: [[f32; LANES]; 3],
    side: [f32; LANES],
    pub found: [BallIntervals; LANES],
}

/// Largest number of evaluations of a ball in an interval; the rest of the interval counts as near.
const STEPS: usize = 64;

impl Pack {
    pub fn new() -> Self {
        let zero = [0.0; LANES];
        let lane = Lane { time: 0.0, since: 0.0, below: None, radius: 0.0, pace: 0.0, stride: 0.0 };
        Self {
            from: [zero; 3],
            displacement: [zero; 3],
            lanes: [lane; LANES],
            at: [zero; 3],
            side: zero,
            found: [BallIntervals::none(None); LANES],
        }
    }

    /// Loads balls, at most [`LANES`], with their centres at time 0, their displacements and their radii.
    #[inline(always)]
    pub fn load(
        &mut self,
        start: &RigidF32,
        displacement: &RigidF32,
        [x, y, z]: [&[f32]; 3],
        radius: impl Fn(usize) -> f32,
    ) {
        for (i, ((&x, &y), &z)) in x.iter().zip(y).zip(z).enumerate().take(LANES) {
            let (p, d) = (start.point([x, y, z]), displacement.point([x, y, z]));
            for a in 0..3 {
                (self.from[a][i], self.displacement[a][i]) = (p[a], d[a]);
            }
            let length = ((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]).sqrt();
            self.lanes[i].radius = radius(i);
            self.lanes[i].pace = ((1.0 - 1e-6) / length).min(1e30);
        }
    }

    /// Finds the intervals of the first `n` balls within `within`, those of their parent. A gap is a part in which a
    /// ball has more room than `least` of its radius.
    #[inline(always)]
    pub fn split<F: Clearance>(
        &mut self,
        field: &F,
        n: usize,
        level: [f32; 2],
        within: &BallIntervals,
        least: impl Fn(f32) -> f32,
    ) {
        self.found[..n].fill(BallIntervals::none(within.starts_below));
        for interval in within.list() {
            let mut moving: [usize; LANES] = [0, 1, 2, 3, 4, 5, 6, 7];
            let mut count = n;
            for lane in &mut self.lanes[..n] {
                (lane.time, lane.since, lane.below) = (interval.from, interval.from, interval.below);
                lane.stride = 0.0;
            }
            for _ in 0..STEPS {
                for k in 0..count {
                    let i = moving[k];
                    for a in 0..3 {
                        self.at[a][k] = self.from[a][i] + self.lanes[i].time * self.displacement[a][i];
                    }
                }
                let [x, y, z] = &self.at;
                field.side_batch(&x[..count], &y[..count], &z[..count], level, &mut self.side[..count]);
                let mut left = 0;
                for k in 0..count {
                    let i = moving[k];
                    if !self.step(i, self.side[k], interval.to, &least) {
                        moving[left] = i;
                        left += 1;
                    }
                }
                count = left;
                if count == 0 {
                    break;
                }
            }
            for &i in &moving[..count] {
                let Lane { since, below, .. } = self.lanes[i];
                self.found[i].push(BallInterval { from: since, to: interval.to, below });
            }
        }
    }

    /// Advances one ball by the clearance around it; returns whether it has passed the interval.
    #[inline(always)]
    fn step(&mut self, i: usize, side: f32, to: f32, least: &impl Fn(f32) -> f32) -> bool {
        let lane = &mut self.lanes[i];
        let room = side.abs() - lane.radius;
        let least = least(lane.radius);
        if room > least {
            let below = side < 0.0;
            let before = lane.time - room * lane.pace;
            if before > lane.since {
                self.found[i].push(BallInterval { from: lane.since, to: before, below: lane.below });
            } else if lane.below.is_none() {
                self.found[i].starts_below = Some(below);
            }
            lane.below = Some(below);
            lane.time += room * lane.pace;
            (lane.since, lane.stride) = (lane.time, 0.0);
            return lane.time > to;
        }
        if lane.time >= to {
            self.found[i].push(BallInterval { from: lane.since, to, below: lane.below });
            return true;
        }
        // Advances to where the ball may have that room at the earliest, and further each time: there the clearance
        // shows since when the ball has been off the level.
        lane.stride = (2.0 * least - room + 0.25 * lane.radius).max(1.5 * lane.stride);
        lane.time = (lane.time + lane.stride * lane.pace).min(to);
        false
    }
}
