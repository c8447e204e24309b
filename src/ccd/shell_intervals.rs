//! A pointshell straight through the grid of a field: all the times at which its samples are at or below a level. The
//! tree gives the intervals of the motion in which samples can pass the level, and only these are tested.
//!
//! The intervals of each node (`ball_intervals`) are searched within those of its parent: where the parent is certainly
//! on one side of the level, outside or inside, the node is not tested. Samples are then walked from cell to cell along
//! the remaining intervals (`interval_traversal`).

use std::ops::Range;

use super::ball_intervals::{BallIntervals, Pack};
use super::grid_traversal::Setting;
use super::interval_traversal::IntervalTraversal;
use super::sphere_tracing::LANES;
use super::tree::{Sweep, Window};
use super::types::Segment;
use voxshell_base::memory::GrowGuarded;
use voxshell_contact::Stats;
use voxshell_field::{Cells, Clearance};

/// A node with more room than this fraction of its radius has a gap there.
const ROOM: f32 = 0.25;
/// Samples in a leaf of more cells than this have intervals of their own: in a smaller leaf they save few cells.
const OWN_INTERVALS: f32 = 8.0;
/// A sample has a gap where it has more room than this fraction of a cell.
const SAMPLE_ROOM: f32 = 0.75;

/// A sweep through one field.
pub(super) struct ShellIntervals<'a, F> {
    pub sweep: &'a Sweep<'a>,
    pub setting: &'a Setting<'a, F>,
    pub window: &'a Window,
    pub stats: &'a mut Stats,
}

impl<F: Cells + Clearance> ShellIntervals<'_, F> {
    /// Calls `on` with each sample and each time interval in which φ ≤ level, in order. `chord` returns the path of a
    /// sample.
    pub fn run(
        mut self,
        stack: &mut Vec<(u32, BallIntervals)>,
        chord: impl Fn(u32) -> Segment,
        mut on: impl FnMut(u32, [f64; 2]),
    ) {
        let (shell, tree) = (self.sweep.shell, &self.sweep.shell.tree);
        let mut pack = Pack::new();
        let Some(whole) = self.window.whole(self.sweep.until) else { return };
        if self.sweep.linear {
            return self.samples(&mut pack, 0..shell.len(), &whole, &chord, &mut on);
        }
        let cell = self.setting.cells.grid().spacing;
        stack.clear();
        self.nodes(&mut pack, 0..1, &whole, stack);
        while let Some((node, intervals)) = stack.pop() {
            let node = node as usize;
            if tree.child_count[node] == 0 || intervals.list().is_empty() {
                let first = tree.first_sample[node] as usize;
                let samples = first..first + tree.sample_count[node] as usize;
                if tree.radius[node] > OWN_INTERVALS * cell && !intervals.list().is_empty() {
                    self.samples(&mut pack, samples, &intervals, &chord, &mut on);
                } else {
                    samples.for_each(|s| self.sample(s as u32, &intervals, &chord, &mut on));
                }
                continue;
            }
            let first = tree.first_child[node] as usize;
            self.nodes(&mut pack, first..first + tree.child_count[node] as usize, &intervals, stack);
        }
    }

    /// Finds the intervals of at most eight balls, in `pack.found`.
    fn split(
        &mut self,
        pack: &mut Pack,
        balls: Range<usize>,
        centers: [&[f32]; 3],
        radius: Option<&[f32]>,
        within: &BallIntervals,
        least: impl Fn(f32) -> f32,
    ) {
        let window = self.window;
        let radius = |i: usize| radius.map_or(0.0, |r| r[balls.start + i]) + window.inflation;
        pack.load(&window.start, &window.displacement, centers.map(|c| &c[balls.clone()]), radius);
        pack.split(self.setting.cells, balls.len(), window.levels, within, least);
    }

    /// Puts the nodes on the stack that may pass the level or are below it, the first on top.
    fn nodes(
        &mut self,
        pack: &mut Pack,
        nodes: Range<usize>,
        within: &BallIntervals,
        stack: &mut Vec<(u32, BallIntervals)>,
    ) {
        let tree = &self.sweep.shell.tree;
        self.stats.node_tests += nodes.len() as u64;
        let mark = stack.len();
        for start in nodes.clone().step_by(LANES) {
            let balls = start..(start + LANES).min(nodes.end);
            let centers: [&[f32]; 3] = [&tree.cx, &tree.cy, &tree.cz];
            self.split(pack, balls.clone(), centers, Some(&tree.radius), within, |radius| ROOM * radius);
            for (k, node) in balls.enumerate() {
                let found = pack.found[k];
                if found.starts_below == Some(true) || !found.list().is_empty() {
                    stack.push_guarded((node as u32, found));
                }
            }
        }
        stack[mark..].reverse();
    }

    /// Tests samples that are farther apart than cells: each has its own intervals.
    fn samples(
        &mut self,
        pack: &mut Pack,
        samples: Range<usize>,
        within: &BallIntervals,
        chord: &impl Fn(u32) -> Segment,
        on: &mut impl FnMut(u32, [f64; 2]),
    ) {
        let shell = self.sweep.shell;
        let least = SAMPLE_ROOM * self.setting.cells.grid().spacing;
        for start in samples.clone().step_by(LANES) {
            let some = start..(start + LANES).min(samples.end);
            self.split(pack, some.clone(), [&shell.x, &shell.y, &shell.z], None, within, |_| least);
            for (k, sample) in some.enumerate() {
                self.sample(sample as u32, &pack.found[k], chord, on);
            }
        }
    }

    #[inline]
    fn sample(
        &mut self,
        sample: u32,
        intervals: &BallIntervals,
        chord: &impl Fn(u32) -> Segment,
        on: &mut impl FnMut(u32, [f64; 2]),
    ) {
        let list = intervals.list();
        if list.is_empty() && intervals.starts_below != Some(true) || self.sweep.is_known(sample) {
            return;
        }
        self.stats.sample_tests += 1;
        let mut entered = (intervals.starts_below == Some(true)).then_some(0.0);
        if !list.is_empty() {
            let path = chord(sample);
            let Some(near) = IntervalTraversal::new(self.setting, &path.from, &path.to) else { return };
            for interval in list {
                if interval.below.is_none() && near.starts_below() {
                    entered = Some(0.0);
                }
                let [from, to] = self.window.times(interval.from, interval.to);
                near.passages(from, to, |t| {
                    match entered.take() {
                        Some(from) => on(sample, [from, t]),
                        None => entered = Some(t),
                    }
                    true
                });
            }
        }
        if let Some(from) = entered {
            on(sample, [from, 1.0]);
        }
    }
}
