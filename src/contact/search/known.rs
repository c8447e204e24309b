//! What a pair remembers of samples near the surface of the other body: the closest triangle, and how far the bodies may
//! move until a sample that is beyond the limit may be within it.

use voxshell_base::memory::GrowGuarded;

/// A sample at the last search.
#[derive(Clone, Copy, Debug)]
struct Sample {
    sample: u32,
    /// Closest triangle.
    triangle: u32,
    /// A lower bound of its distance outside, metres, and the motion up to which it was that. Minus infinity if it is to be
    /// measured again.
    until: f32,
}

/// The samples of one direction of a pair that the last search looked at.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Ascending.
    last: Vec<Sample>,
    next: Vec<Sample>,
    place: usize,
    /// How far the bodies have moved so far, metres.
    moved: f64,
}

impl Known {
    /// Forgets all samples.
    pub fn clear(&mut self) {
        self.last.clear();
        self.moved = 0.0;
    }

    /// Notes that no point of the smaller body has moved by more than `distance`, metres, in the frame of the other one.
    pub fn moved_by(&mut self, distance: f64) {
        self.moved += distance;
    }

    /// Begins a search.
    pub fn begin(&mut self) {
        self.next.clear();
        self.place = 0;
    }

    /// Ends a search: only the samples that it looked at are remembered.
    pub fn end(&mut self) {
        if !self.next.is_sorted_by_key(|sample| sample.sample) {
            self.next.sort_unstable_by_key(|sample| sample.sample);
        }
        // Copied instead of swapped: the larger of two buffers must stay where the next search fills it.
        self.last.clear();
        self.last.extend_slice_guarded(&self.next);
    }

    /// Returns a lower bound of the distance of a sample outside, metres, and the triangle that was closest to it.
    pub fn of(&mut self, sample: u32) -> Option<(f64, u32)> {
        // Samples are mostly asked for in order.
        if self.last.get(self.place).is_none_or(|last| last.sample > sample) {
            self.place = 0;
        }
        self.place += self.last[self.place..].partition_point(|last| last.sample < sample);
        let last = self.last.get(self.place).filter(|last| last.sample == sample)?;
        Some((f64::from(last.until) - self.moved, last.triangle))
    }

    /// Remembers a sample; `outside` is a lower bound of its distance if it is outside, metres.
    pub fn set(&mut self, sample: u32, triangle: u32, outside: Option<f64>) {
        let until = outside.map_or(f32::NEG_INFINITY, |distance| {
            let single = (self.moved + distance) as f32;
            single - single.abs() * f32::EPSILON
        });
        self.next.push_guarded(Sample { sample, triangle, until });
    }
}
