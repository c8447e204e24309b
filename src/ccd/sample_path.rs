//! Times at which a sample is at or below a level: exact on a straight path; on a curved path certified, early and
//! late by what a tolerance allows. Independent of trees.

use std::ops::ControlFlow;

use super::motion::Motion;
use super::segment::{first_fraction, intervals, stays_below, Start};
use super::tree::{Ends, Target};
use super::types::Segment;
use crate::math::Vec3;

type Flow = ControlFlow<()>;

/// A path is cut into at most 2 to this power pieces. Then its deviation from its chords is 4 to the power of minus
/// this of the original. The rest still raises the level, so nothing is missed.
const HALVINGS: u32 = 16;

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
        let _ = self.curved(times, 0, true, &mut |interval| {
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
        let _ = self.curved(times, 0, false, &mut |interval| {
            on(interval);
            Flow::Continue(())
        });
    }

    /// Searches a piece of a curved path. A path is off its chord by at most the sagitta s, so φ on it is off φ on
    /// the chord by at most L s. Where the chord stays above level + L s, the path is above the level. Where 2 L s is
    /// within the tolerance the chord is used, with the level raised by L s; elsewhere the path is halved.
    fn curved(&self, [from, to]: [f64; 2], depth: u32, first: bool, on: &mut dyn FnMut([f64; 2]) -> Flow) -> Flow {
        if from > self.until {
            return Flow::Continue(());
        }
        let Target { field, level, steepest } = *self.target;
        let (chord, sagitta) = self.straight([from, to], depth);
        let off = steepest * sagitta;
        let at = |part: f64| if part < 1.0 { from + part * (to - from) } else { to };
        if 2.0 * off <= self.tolerance || depth == HALVINGS {
            return self.pieces(&chord, level + off, first, |[a, b]| on([at(a), at(b)]));
        }
        let Some(enters) = first_fraction(field, &chord, level + off, Start::Hit) else { return Flow::Continue(()) };
        if enters == 0.0 && stays_below(field, &chord, level - off) {
            return on([from, to]);
        }
        let middle = 0.5 * (from + to);
        if enters <= 0.5 {
            self.curved([from, middle], depth + 1, first, on)?;
        }
        self.curved([middle, to], depth + 1, first, on)
    }

    /// Returns the chord between two times, and the largest distance of the path from it, metres. For a whole window,
    /// the bound that all samples share is used where it is small enough.
    fn straight(&self, times: [f64; 2], depth: u32) -> (Segment, f64) {
        if depth > 0 {
            return (self.motion.chord(&self.point, times), self.motion.sagitta(&self.point, 0.0, times));
        }
        let Ends { maps: [first, last], sagitta, .. } = self.ends;
        let chord = Segment::new(first.point(&self.point), last.point(&self.point));
        if 2.0 * self.target.steepest * sagitta <= self.tolerance {
            return (chord, *sagitta);
        }
        (chord, self.motion.sagitta(&self.point, 0.0, times))
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
