//! Culling by boxes around triangles, against a point of the surface.
//!
//! Let q be any point of the surface. The content of a box is nowhere in a block closer than q when |x − q|² ≤
//! dist²(x, box) for every x of the block. The difference is a sum over the axes of (x − q)² − over², where over is
//! the distance of x beside the slab. Each term is convex (its slope goes from 2(min − q) up to 2(max − q)), so its
//! largest value is at an end of the block: two evaluations per axis decide. The only loss is that a box stands for
//! its content.

use super::frame::{Frame, EPS};
use voxshell_base::memory::{CollectGuarded, GrowGuarded};
use voxshell_base::wide;
use voxshell_field::triangle::LANES;

/// Position of lanes without a box.
const FAR: f32 = 1.0e15;

/// Boxes, one array for each bound, and their numbers. The arrays have whole lanes; lanes beyond the numbers are far
/// away.
#[derive(Default)]
pub(super) struct Boxes {
    /// Minima along the axes, then maxima.
    bounds: [Vec<f32>; 6],
    pub ids: Vec<u32>,
    /// For `select`: positions in the source list.
    chosen: Vec<u32>,
}

impl Boxes {
    /// Returns the boxes around groups of `each` triangles, grown by the rounding of f32.
    pub fn around(corners: &[[[f64; 3]; 3]], order: &[u32], each: usize) -> Self {
        let mut out = Self::default();
        for group in order.chunks(each) {
            let (mut min, mut max) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
            for p in group.iter().flat_map(|&t| &corners[t as usize]) {
                for k in 0..3 {
                    min[k] = min[k].min(p[k] as f32 - 2e-7);
                    max[k] = max[k].max(p[k] as f32 + 2e-7);
                }
            }
            for k in 0..3 {
                out.bounds[k].push_guarded(min[k]);
                out.bounds[k + 3].push_guarded(max[k]);
            }
        }
        let count = out.bounds[0].len();
        out.ids = (0..count as u32).collect_guarded();
        out.bounds.iter_mut().for_each(|b| b.resize_guarded(count.next_multiple_of(LANES), FAR));
        out
    }

    /// Returns the bytes for `count` boxes.
    pub const fn bytes(count: u64) -> u64 {
        count.next_multiple_of(LANES as u64) * (size_of::<[f32; 6]>() + size_of::<u32>()) as u64
    }

    /// Sets `self` to the boxes of `from` at `places`.
    pub fn take(&mut self, from: &Self, places: &[u32]) {
        self.chosen.clear();
        self.chosen.extend_guarded(places.iter().copied());
        self.select(from, 0);
    }

    /// Returns the largest edge of a box.
    pub fn size(&self, place: usize) -> f32 {
        (0..3).map(|k| self.bounds[k + 3][place] - self.bounds[k][place]).fold(0.0, f32::max)
    }

    /// Computes the squared distances from `c`, in whole lanes; returns the smallest, and the position of its box.
    pub fn off(&self, c: [f32; 3], out: &mut Vec<f32>) -> (f32, usize) {
        off_boxes(c, self, out)
    }

    /// Sets `self` to the `chosen` boxes of `from`: their numbers, and their bounds if there are more than `few`.
    fn select(&mut self, from: &Self, few: usize) {
        let chosen = &self.chosen[..];
        self.ids.clear();
        self.ids.extend_guarded(chosen.iter().map(|&i| from.ids[i as usize]));
        if chosen.len() <= few {
            return;
        }
        for (to, from) in self.bounds.iter_mut().zip(&from.bounds) {
            to.clear();
            to.extend_guarded(chosen.iter().map(|&i| from[i as usize]));
            to.resize_guarded(chosen.len().next_multiple_of(LANES), FAR);
        }
    }

    /// Sets `self` to the boxes of `from` whose content may be closer than the rival's point somewhere in its block. If
    /// at most `few` are left, their bounds have no meaning, because the caller needs the numbers alone.
    pub fn keep(&mut self, rival: &Rival, from: &Self, few: usize) {
        // Lanes without a box are far from every block.
        let groups = from.bounds[0].len() / LANES;
        self.chosen.resize_guarded((groups + 1) * LANES, 0);
        let count = keep_boxes(rival, from, groups, None, &mut self.chosen);
        self.chosen.truncate(count);
        self.select(from, few);
    }

    /// Does the same as `keep` with the groups of eight boxes of `from` whose numbers are given.
    pub fn keep_of_groups(&mut self, rival: &Rival, from: &Self, groups: &[u32]) {
        self.chosen.resize_guarded((groups.len() + 1) * LANES, 0);
        let count = keep_boxes(rival, from, groups.len(), Some(groups), &mut self.chosen);
        self.chosen.truncate(count);
        self.select(from, 0);
    }
}

/// A point q of the surface, relative to the ends of a block.
pub(super) struct Rival {
    /// Lower and upper end along each axis.
    ends: [[f32; 2]; 3],
    /// (end − q)².
    squares: [[f32; 2]; 3],
    /// A box with a smaller difference is kept: the rounding of the compared values, in squares.
    least: f32,
}

impl Rival {
    pub fn new(frame: &Frame, q: [f32; 3]) -> Self {
        let ends = [0, 1, 2].map(|k| [frame.center[k] - frame.half[k], frame.center[k] + frame.half[k]]);
        let squares: [[f32; 2]; 3] = std::array::from_fn(|k| ends[k].map(|x| (x - q[k]) * (x - q[k])));
        // With r the largest |x − q|, (r + EPS)² − r².
        let farthest = squares.iter().map(|s| s[0].max(s[1])).sum::<f32>().sqrt();
        Self { ends, squares, least: -(2.0 * farthest + EPS) * EPS }
    }
}

#[inline(always)]
fn max(a: f32, b: f32) -> f32 {
    if a > b {
        a
    } else {
        b
    }
}

/// Eight boxes.
struct Eight<'a>([&'a [f32; LANES]; 6]);

impl<'a> Eight<'a> {
    #[inline(always)]
    fn of(boxes: &'a Boxes, group: usize) -> Option<Self> {
        let [a, b, c, d, e, f] = &boxes.bounds;
        let at = |v: &'a Vec<f32>| v.get(group * LANES..)?.first_chunk::<LANES>();
        Some(Self([at(a)?, at(b)?, at(c)?, at(d)?, at(e)?, at(f)?]))
    }

    /// Returns the distance of `x` beside the slab of axis `k`.
    #[inline(always)]
    fn beside(&self, lane: usize, k: usize, x: f32) -> f32 {
        max(max(self.0[k][lane] - x, x - self.0[k + 3][lane]), 0.0)
    }
}

wide! {
    /// Writes the positions of the boxes that are kept, of `count` groups, to `chosen`; returns their number.
    fn keep_boxes(rival: &Rival, from: &Boxes, count: usize, groups: Option<&[u32]>, chosen: &mut [u32]) -> usize {
        let mut kept = 0;
        for i in 0..count {
            let group = groups.map_or(i, |g| g[i] as usize);
            let Some(eight) = Eight::of(from, group) else { break };
            let mut excess = [0.0f32; LANES];
            for lane in 0..LANES {
                let term = |k: usize| {
                    let (low, high) = (eight.beside(lane, k, rival.ends[k][0]), eight.beside(lane, k, rival.ends[k][1]));
                    max(rival.squares[k][0] - low * low, rival.squares[k][1] - high * high)
                };
                excess[lane] = (term(0) + term(1)) + term(2);
            }
            // A run of eight is close together, so often none of it is kept.
            if !excess.iter().fold(false, |any, &e| any | (e > rival.least)) {
                continue;
            }
            let Some(room) = chosen.get_mut(kept..kept + LANES) else { break };
            let mut more = 0;
            for lane in 0..LANES {
                room[more & (LANES - 1)] = (group * LANES + lane) as u32;
                more += usize::from(excess[lane] > rival.least);
            }
            kept += more;
        }
        kept
    }
}

wide! {
    fn off_boxes(c: [f32; 3], boxes: &Boxes, out: &mut Vec<f32>) -> (f32, usize) {
        let n = boxes.bounds[0].len();
        out.resize_guarded(n, 0.0);
        let mut least = [f32::INFINITY; LANES];
        let mut which = [0u32; LANES];
        for (group, out) in out.chunks_exact_mut(LANES).enumerate() {
            let Some(eight) = Eight::of(boxes, group) else { break };
            let mut squared = [0.0f32; LANES];
            for lane in 0..LANES {
                let [x, y, z] = [eight.beside(lane, 0, c[0]), eight.beside(lane, 1, c[1]), eight.beside(lane, 2, c[2])];
                squared[lane] = (x * x + y * y) + z * z;
            }
            for lane in 0..LANES {
                let closer = squared[lane] < least[lane];
                least[lane] = if closer { squared[lane] } else { least[lane] };
                which[lane] = if closer { group as u32 } else { which[lane] };
            }
            out.copy_from_slice(&squared);
        }
        let lane = (1..LANES).fold(0, |b, l| if least[l] < least[b] { l } else { b });
        (least[lane], which[lane] as usize * LANES + lane)
    }
}
