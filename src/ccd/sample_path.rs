//! Times at which a sample is at or below a level: exact on a straight path; on a curved path certified, early and
//! late by what a tolerance allows. Independent of trees.

use std::ops::ControlFlow;

use super::motion::Motion;
use super::segment::{first_fraction, intervals, meets, stays_below, Start};
use super::tree::{Ends, Target};
use super::types::Segment;
use voxshell_base::math::Vec3;

type Flow = ControlFlow<()>;

/// Shortest piece of a curved path, as a part of its window. Its chord is off the path by the square of this, times the
/// sagitta of the window; the rest still raises the level, so nothing is missed.
const SHORTEST: f64 = 1.0 / 65536.0;

/// Factors by which a piece shrinks where it may reach the level, and grows behind a piece that does not.
const SHRINK: f64 = 0.25;
const GROW: f64 = 2.0;

/// Path of one sample.
pub(super) struct SamplePath<'a> {
    pub target: &'a Target<'a>,
    pub motion: &'a Motion,
    /// Ends of the window to which its times refer.
    pub ends: &'a Ends,
    /// Body frame of the shell, metres.
    pub point: Vec3,
    /// On a curved path: bound on how far above the level a reported point may be, metres.
    pub tolerance: f64,
    /// Time after which a curved path is ignored.
    pub until: f64,
}

impl SamplePath<'_> {
    /// Returns the first time of the window at which φ ≤ level.
    ///
    /// On a curved path the returned time is not later than that, and φ there is at most the level + the tolerance.
    pub fn first(&self) -> Option<f64> {
        let times = self.ends.times;
        if let Motion::Straight { .. } = self.motion {
            return first_fraction(
                self.target.field,
                &self.motion.chord(&self.point, times),
                self.target.level,
                Start::Hit,
            );
        }
        let mut first = None;
        // Breaks with the first interval; the result is not needed.
        let _ = self.curved(true, &mut |interval| {
            first = Some(interval[0]);
            Flow::Break(())
        });
        first
    }

    /// Calls `on` with the closed intervals of the window in which φ ≤ level, in order.
    ///
    /// On a curved path the intervals contain the exact ones and may touch each other, and φ in them is at most the
    /// level + the tolerance.
    pub fn intervals(&self, mut on: impl FnMut([f64; 2])) {
        let times = self.ends.times;
        if let Motion::Straight { .. } = self.motion {
            return intervals(self.target.field, &self.motion.chord(&self.point, times), self.target.level, on);
        }
        let _ = self.curved(false, &mut |interval| {
            on(interval);
            Flow::Continue(())
        });
    }

    /// Searches a curved path piece by piece. At each time it is off its chord by at most the sagitta s, so φ on it is
    /// off φ on the chord by at most L s: as long as the chord stays above level + L s, the path is above the level.
    /// The next piece starts where it does not, and is shorter, until 2 L s is within the tolerance; then the chord is
    /// searched, with the level raised by L s. The sagitta of a piece falls with the square of its length.
    fn curved(&self, first: bool, on: &mut dyn FnMut([f64; 2]) -> Flow) -> Flow {
        let Target { field, level, steepest } = *self.target;
        let Ends { times: [begin, end], maps, sagitta } = self.ends;
        let whole = end - begin;
        let mut bend = steepest * sagitta;
        if 2.0 * bend > self.tolerance {
            bend = steepest * self.motion.sagitta(&self.point, 0.0, self.ends.times);
        }
        // Pieces up to this part of the window are straight enough.
        let exact = (0.5 * self.tolerance / bend).sqrt().max(SHORTEST);
        let time = |part: f64| if part < 1.0 { begin + part * whole } else { *end };
        let place = |part: f64| match part {
            0.0 => maps[0].point(&self.point),
            1.0 => maps[1].point(&self.point),
            _ => self.motion.at(time(part)).point(&self.point),
        };
        let (mut from, mut length) = (0.0, 1.0);
        let mut start = place(from);
        while from < 1.0 && time(from) <= self.until {
            let to = if from + length < 1.0 { from + length } else { 1.0 };
            let chord = Segment::new(start, place(to));
            let part = |t: f64| time(if t < 1.0 { from + t * (to - from) } else { to });
            let off = bend * (to - from) * (to - from);
            let enters = if length <= exact || to - from <= exact {
                self.pieces(&chord, level + off, first, |[a, b]| on([part(a), part(b)]))?;
                None
            } else {
                match first_fraction(field, &chord, level + off, Start::Hit) {
                    Some(0.0) if first && meets(field, &Segment::new(start, start), level) => {
                        return on([time(from); 2]);
                    }
                    Some(0.0) if !first && stays_below(field, &chord, level - off) => {
                        on([time(from), time(to)])?;
                        None
                    }
                    enters => enters,
                }
            };
            match enters {
                Some(t) => {
                    length = (SHRINK * length).max(exact);
                    if t > 0.0 {
                        // The end of the path is searched too.
                        from = (from + t * (to - from)).min(1.0 - exact);
                        start = place(from);
                    }
                }
                None => (from, start, length) = (to, chord.to, GROW * length),
            }
        }
        Flow::Continue(())
    }

    fn pieces(&self, chord: &Segment, level: f64, first: bool, mut on: impl FnMut([f64; 2]) -> Flow) -> Flow {
        if first {
            return match first_fraction(self.target.field, chord, level, Start::Hit) {
                Some(t) => on([t, t]),
                None => Flow::Continue(()),
            };
        }
        let mut flow = Flow::Continue(());
        intervals(self.target.field, chord, level, |interval| {
            if flow.is_continue() {
                flow = on(interval);
            }
        });
        flow
    }
}
