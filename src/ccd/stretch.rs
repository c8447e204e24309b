//! The stretches of their ways on which balls may be near a level, eight balls at a time; on the rest they are on one side of
//! it for certain. Knows nothing of trees or samples.
//!
//! As `march`, on both sides of the level, and through it: where a ball is not free it is put farther along, and where it
//! is free again it has been since as long before as it will be after.

use super::march::LANES;
use crate::field::Clearance;
use crate::math::RigidF32;

/// Stretches that are told apart; a gap before a later one is not used.
pub(super) const MOST: usize = 4;

/// Where a ball may be near the level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub from: f32,
    pub to: f32,
    /// Whether φ ≤ level just before; `None` at the start of a way, where nobody knows.
    pub below: Option<bool>,
}

/// All of one ball's, ascending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretches {
    list: [Stretch; MOST],
    count: u8,
    /// Whether φ ≤ level at the start of the way, where that is known of the whole ball.
    pub starts_below: Option<bool>,
}

impl Stretches {
    /// Nothing known: near from the start to `to`.
    pub fn whole(to: f32, below: Option<bool>) -> Self {
        let whole = Stretch { from: 0.0, to, below };
        Self { list: [whole; MOST], count: 1, starts_below: below }
    }

    fn none(starts_below: Option<bool>) -> Self {
        Self { count: 0, ..Self::whole(0.0, starts_below) }
    }

    pub fn list(&self) -> &[Stretch] {
        &self.list[..usize::from(self.count)]
    }

    fn push(&mut self, stretch: Stretch) {
        if usize::from(self.count) == MOST {
            self.list[MOST - 1].to = stretch.to;
        } else {
            self.list[usize::from(self.count)] = stretch;
            self.count += 1;
        }
    }
}

/// One ball on its way through one stretch.
#[derive(Clone, Copy)]
struct Lane {
    time: f32,
    /// Since when it may be near.
    since: f32,
    /// On which side it was before that.
    below: Option<bool>,
    radius: f32,
    /// Time per metre, not too much.
    pace: f32,
    /// How far it went last, metres, if it was near.
    stride: f32,
}

/// Eight balls: centres at time 0 and how far they go until time 1, metres, the field's local frame.
pub(super) struct Pack {
    from: [[f32; LANES]; 3],
    way: [[f32; LANES]; 3],
    lanes: [Lane; LANES],
    at: [[f32; LANES]; 3],
    side: [f32; LANES],
    pub found: [Stretches; LANES],
}

/// A ball is asked at most so often in a stretch; what is left of it is near.
const STEPS: usize = 64;

impl Pack {
    pub fn new() -> Self {
        let zero = [0.0; LANES];
        let lane = Lane { time: 0.0, since: 0.0, below: None, radius: 0.0, pace: 0.0, stride: 0.0 };
        Self {
            from: [zero; 3],
            way: [zero; 3],
            lanes: [lane; LANES],
            at: [zero; 3],
            side: zero,
            found: [Stretches::none(None); LANES],
        }
    }

    /// Balls, at most [`LANES`], by where their centres are at time 0, how far they go, and their radii.
    #[inline(always)]
    pub fn load(&mut self, start: &RigidF32, way: &RigidF32, [x, y, z]: [&[f32]; 3], radius: impl Fn(usize) -> f32) {
        for (i, ((&x, &y), &z)) in x.iter().zip(y).zip(z).enumerate().take(LANES) {
            let (p, d) = (start.point([x, y, z]), way.point([x, y, z]));
            for a in 0..3 {
                (self.from[a][i], self.way[a][i]) = (p[a], d[a]);
            }
            let length = ((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]).sqrt();
            self.lanes[i].radius = radius(i);
            self.lanes[i].pace = ((1.0 - 1e-6) / length).min(1e30);
        }
    }

    /// Finds the stretches of the first `n` balls within those of what they are in. A gap is one in which a ball has more
    /// room than `least` of its radius.
    #[inline(always)]
    pub fn split<F: Clearance>(
        &mut self,
        field: &F,
        n: usize,
        level: [f32; 2],
        within: &Stretches,
        least: impl Fn(f32) -> f32,
    ) {
        self.found[..n].fill(Stretches::none(within.starts_below));
        for stretch in within.list() {
            let mut moving: [usize; LANES] = [0, 1, 2, 3, 4, 5, 6, 7];
            let mut count = n;
            for lane in &mut self.lanes[..n] {
                (lane.time, lane.since, lane.below) = (stretch.from, stretch.from, stretch.below);
                lane.stride = 0.0;
            }
            for _ in 0..STEPS {
                for k in 0..count {
                    let i = moving[k];
                    for a in 0..3 {
                        self.at[a][k] = self.from[a][i] + self.lanes[i].time * self.way[a][i];
                    }
                }
                let [x, y, z] = &self.at;
                field.side_batch(&x[..count], &y[..count], &z[..count], level, &mut self.side[..count]);
                let mut left = 0;
                for k in 0..count {
                    let i = moving[k];
                    if !self.step(i, self.side[k], stretch.to, &least) {
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
                self.found[i].push(Stretch { from: since, to: stretch.to, below });
            }
        }
    }

    /// Moves one ball on by what is known around it; whether it is through the stretch.
    #[inline(always)]
    fn step(&mut self, i: usize, side: f32, to: f32, least: &impl Fn(f32) -> f32) -> bool {
        let lane = &mut self.lanes[i];
        let room = side.abs() - lane.radius;
        let least = least(lane.radius);
        if room > least {
            let below = side < 0.0;
            let before = lane.time - room * lane.pace;
            if before > lane.since {
                self.found[i].push(Stretch { from: lane.since, to: before, below: lane.below });
            } else if lane.below.is_none() {
                self.found[i].starts_below = Some(below);
            }
            lane.below = Some(below);
            lane.time += room * lane.pace;
            (lane.since, lane.stride) = (lane.time, 0.0);
            return lane.time > to;
        }
        if lane.time >= to {
            self.found[i].push(Stretch { from: lane.since, to, below: lane.below });
            return true;
        }
        // To where it may have that room at the earliest, and each time farther: how long it has been free shows there.
        lane.stride = (2.0 * least - room + 0.25 * lane.radius).max(1.5 * lane.stride);
        lane.time = (lane.time + lane.stride * lane.pace).min(to);
        false
    }
}
