//! The sphere tree of a pointshell that moves through a field: the samples that may reach a level, and the time from
//! which each may. Independent of the further use of the samples.
//!
//! Xu & Barbič 2016, section 3.3: a sphere that contains samples is a segment of its centre against the level of its
//! radius. Here the crossing of that level is not computed but bounded: a node is left out, or postponed, only while
//! the field's certified clearance around its centre is larger than its radius.
//!
//! On straight paths the bound is exact at every time: a sample p under a ball around c is at A p + a at the start
//! and at B p + b at the end, so in between its offset from the centre is (1 − t) A (p − c) + t B (p − c). It is no
//! longer than |p − c|, since rotations keep lengths and norms are convex. On curved paths both are off their chords
//! by at most the sagitta, by which the ball is inflated.

use std::ops::Range;

use super::ball_intervals::BallIntervals;
use super::motion::{Affine, Motion};
use super::sphere_tracing::{Balls, LANES, NEVER};
use super::types::Segment;
use voxshell_base::math::{Aabb, RigidF32, Vec3};
use voxshell_base::memory::GrowGuarded;
use voxshell_contact::Stats;
use voxshell_field::{Cells, Clearance, Field, SignedDistance, Skip};
use voxshell_pointshell::PointShell;

/// A node with less room than this fraction of its radius is opened: its children have more.
const ROOM: f32 = 0.25;
/// A sample with less room than this fraction of the shell's spacing is tested exactly, unless at most
/// `SAMPLE_STRIDES` steps of that room take it to its end: on a short path they cost less.
const SAMPLE_ROOM: f32 = 0.25;
const SAMPLE_STRIDES: f32 = 8.0;

/// Field and level of a search, with the margins that f64 and f32 need around the level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    pub field: &'a Field,
    /// Metres.
    pub level: f64,
    /// Largest change of φ between two points, per metre.
    pub steepest: f64,
}

impl<'a> Target<'a> {
    pub fn new(field: &'a Field, level: f64) -> Self {
        let steepest = match field {
            Field::Dense(f) => f64::from(f.lipschitz_outside()),
            Field::Bricks(f) => f64::from(f.lipschitz_outside()),
            Field::Exact(f) => f64::from(f.lipschitz()),
            _ => 1.0,
        };
        Self { field, level, steepest }
    }

    /// Returns the box outside which φ is above the level: body frame, metres. On a grid φ need not grow as distances
    /// do, so there it is the grid's box; around that box φ grows with the distance.
    fn reach(&self) -> Aabb {
        fn grid(field: &impl Cells, level: f64) -> Aabb {
            let corner = |p: [f32; 3]| Vec3::from(p.map(f64::from)) + field.center();
            let whole = Aabb { min: corner(field.grid().min), max: corner(field.grid().max()) };
            whole.inflated((level - f64::from(field.blocks().border())).max(0.0))
        }
        match self.field {
            Field::Dense(f) => grid(f, self.level),
            Field::Bricks(f) => grid(f, self.level),
            // On the border and outside it is that of its grid.
            Field::Exact(f) => grid(f.far(), self.level),
            _ => self.field.bounds().inflated(self.level.max(0.0)),
        }
    }

    /// Returns the largest distance above the level at which an exact search along `path` may still report a point,
    /// metres: the search raises the level by a bound on rounding (`grid_traversal`), or works in f32 (`convex`).
    fn rounding(&self, path: &Segment, radius: f64) -> f64 {
        let reach = path.from.amax() + path.to.amax() + 2.0 * radius;
        let part = 64.0 * f64::EPSILON * (2.0 + self.steepest);
        match self.field {
            Field::Dense(_) | Field::Bricks(_) => {
                let bounds = self.reach();
                part * (reach + bounds.min.amax() + bounds.max.amax() + self.level.abs())
            }
            Field::HalfSpace(_) | Field::Sphere(_) | Field::Mesh(_) | Field::Sheet(_) => {
                part * (reach + self.level.abs())
            }
            _ => 2.0 * self.field.error_bound() + 1e-6 * (self.field.bounds().extents().sum() + self.level.abs()),
        }
    }
}

/// A time window of a motion in which every sample is treated as being on its chord.
pub(super) struct Window {
    /// Times in the motion between which the shell can come near the field.
    from: f64,
    to: f64,
    /// Origin of the local frame in the field's body frame, metres.
    origin: Vec3,
    pub(super) start: RigidF32,
    pub(super) displacement: RigidF32,
    /// Inflation of every radius for rounding and sagitta, metres.
    pub(super) inflation: f32,
    /// Level, rounded down, and level with its margin, metres.
    pub(super) levels: [f32; 2],
}

/// Ends of a window, and a bound on the distance of its paths from their chords, which all samples share.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    pub times: [f64; 2],
    pub maps: [Affine; 2],
    /// Metres.
    pub sagitta: f64,
}

impl Ends {
    pub fn new(shell: &PointShell, motion: &Motion, times: [f64; 2]) -> Self {
        let tree = &shell.tree;
        let sagitta = match (tree.cx.first(), motion) {
            (Some(&x), Motion::Screw(_)) => {
                let center = shell.origin + Vec3::new(x.into(), tree.cy[0].into(), tree.cz[0].into());
                motion.sagitta(&center, tree.radius[0].into(), times)
            }
            _ => 0.0,
        };
        Self { times, maps: times.map(|t| motion.at(t)), sagitta }
    }
}

impl Window {
    /// Returns `None` when the shell's box is nowhere near the field between the two times.
    pub fn new(shell: &PointShell, target: &Target, motion: &Motion, times: [f64; 2]) -> Option<Self> {
        let tree = &shell.tree;
        let middle = Vec3::new(tree.cx[0].into(), tree.cy[0].into(), tree.cz[0].into());
        let center = shell.origin + middle;
        let radius = f64::from(tree.radius[0]);
        let [first, last] = times.map(|t| motion.at(t));
        let path = Segment::new(first.point(&center), last.point(&center));
        let sagitta = motion.sagitta(&center, radius, times);
        let rounding = target.rounding(&path, radius);
        let far = 1e-12 * (path.from.amax() + path.to.amax());
        let (enter, leave) = path.clip(&target.reach(), (radius + sagitta) * (1.0 + 1e-9) + rounding + far)?;
        let near = path.at(0.5 * (enter + leave));
        let origin = match target.field {
            Field::Sheet(_) => near,
            field => field.local_origin(&near),
        };
        let begin = first.toward(&last, enter);
        let start = begin.local(&shell.origin, &origin);
        let displacement = first.toward(&last, leave).minus(&begin).local(&shell.origin, &Vec3::zeros());
        // A map rounded to f32 moves a point by a few ulps of the input; 32 cover both maps and the steps along the
        // path.
        let size = |m: &RigidF32| m.t[0].abs() + m.t[1].abs() + m.t[2].abs();
        let reach = 2.0 * (middle.abs().sum() + radius) as f32 + size(&start) + size(&displacement);
        let inflation = 32.0 * f32::EPSILON * reach + (sagitta * (1.0 + 1e-6)) as f32;
        let high = target.level + rounding;
        let high = (high + 2e-7 * high.abs()) as f32 + f32::MIN_POSITIVE;
        let low = (target.level - 2e-7 * target.level.abs()) as f32 - f32::MIN_POSITIVE;
        let at = |part: f64| times[0] + part * (times[1] - times[0]);
        Some(Self { from: at(enter), to: at(leave), origin, start, displacement, inflation, levels: [low, high] })
    }

    /// Returns the window's own time, 0 to 1, not before `t`; −1 before the window.
    fn after(&self, t: f64) -> f32 {
        if t < self.from {
            return -1.0;
        }
        let part = (t - self.from) / (self.to - self.from);
        // 0/0 for a window without length.
        if part < 1.0 {
            (part * (1.0 + 1e-6) + 1e-6).min(1.0) as f32
        } else {
            1.0
        }
    }

    /// Returns the intervals of a shell before any test: the window until `until`; `None` if that is before the
    /// window. Before the window the shell is outside the grid's box.
    pub(super) fn whole(&self, until: f64) -> Option<BallIntervals> {
        let to = self.after(until);
        (to >= 0.0).then(|| BallIntervals::whole(to, (self.from > 0.0).then_some(false)))
    }

    /// Returns the times of an interval in the motion, slightly widened: the window's own times are rounded.
    pub(super) fn times(&self, from: f32, to: f32) -> [f64; 2] {
        let length = self.to - self.from;
        let from = self.from + (f64::from(from) - 1e-6) * length;
        [if from > 0.0 { from } else { -1.0 }, (self.from + (f64::from(to) + 1e-6) * length).min(1.0)]
    }
}

/// Parameters of a run of a shell through the field.
pub(super) struct Sweep<'a> {
    pub shell: &'a PointShell,
    /// Samples to leave out, ascending.
    pub known: &'a [u32],
    /// Bits that are set in each of them, beside the sample's index.
    pub tag: u32,
    /// Time of the motion after which nothing matters.
    pub until: f64,
    /// Whether to test all samples without the tree.
    pub linear: bool,
    /// Whether to open the most promising nodes first, for searches for the first contact.
    pub ordered: bool,
}

impl Sweep<'_> {
    #[inline]
    pub fn is_known(&self, sample: u32) -> bool {
        !self.known.is_empty() && self.known.binary_search(&(sample | self.tag)).is_ok()
    }

    /// Calls `visit` with every sample that may reach the level in the window; `visit` returns the time after which
    /// nothing matters any more. Without `ordered`, the samples come in ascending order.
    pub fn run(
        &self,
        target: &Target,
        window: &Window,
        stack: &mut Vec<(u32, f32)>,
        stats: &mut Stats,
        visit: impl FnMut(u32) -> f64,
    ) {
        match target.field {
            Field::Sheet(f) => TreeTraversal::new(self, &f.around(window.origin), window, stats).run(stack, visit),
            field => TreeTraversal::new(self, field, window, stats).run(stack, visit),
        }
    }
}

/// A sweep in one window.
struct TreeTraversal<'a, F> {
    sweep: &'a Sweep<'a>,
    field: &'a F,
    window: &'a Window,
    stats: &'a mut Stats,
    balls: Balls,
    /// In the window's own time: nothing after it matters.
    until: f32,
}

impl<'a, F: Clearance> TreeTraversal<'a, F> {
    fn new(sweep: &'a Sweep<'a>, field: &'a F, window: &'a Window, stats: &'a mut Stats) -> Self {
        Self { sweep, field, window, stats, balls: Balls::new(), until: window.after(sweep.until) }
    }

    fn run(mut self, stack: &mut Vec<(u32, f32)>, mut visit: impl FnMut(u32) -> f64) {
        let (shell, tree) = (self.sweep.shell, &self.sweep.shell.tree);
        if self.sweep.linear {
            self.samples(0..shell.len(), 0.0, &mut visit);
            return;
        }
        stack.clear();
        self.nodes(0..1, 0.0, stack);
        while let Some((node, time)) = stack.pop() {
            if time > self.until {
                continue;
            }
            let node = node as usize;
            if tree.child_count[node] == 0 {
                let first = tree.first_sample[node] as usize;
                self.samples(first..first + tree.sample_count[node] as usize, time, &mut visit);
                continue;
            }
            let mark = stack.len();
            let first = tree.first_child[node] as usize;
            self.nodes(first..first + tree.child_count[node] as usize, time, stack);
            // The stack pops from its end.
            if self.sweep.ordered {
                stack[mark..].sort_unstable_by(|p, q| q.1.total_cmp(&p.1).then(q.0.cmp(&p.0)));
            } else {
                stack[mark..].reverse();
            }
        }
    }

    /// Puts the nodes on the stack that are not separated from `time` to the end, each with the time until which it
    /// is separated.
    #[inline(always)]
    fn nodes(&mut self, nodes: Range<usize>, time: f32, stack: &mut Vec<(u32, f32)>) {
        let (tree, window) = (&self.sweep.shell.tree, self.window);
        self.stats.node_tests += nodes.len() as u64;
        for start in nodes.clone().step_by(LANES) {
            let end = (start + LANES).min(nodes.end);
            let centers = [&tree.cx[start..end], &tree.cy[start..end], &tree.cz[start..end]];
            self.balls.load(&window.start, &window.displacement, centers);
            for (i, radius) in tree.radius[start..end].iter().enumerate() {
                (self.balls.radius[i], self.balls.time[i]) = (radius + window.inflation, time);
            }
            self.balls.advance(self.field, end - start, window.levels[1], self.until, (|radius| ROOM * radius, 0.0));
            for i in 0..end - start {
                if self.balls.time[i] != NEVER {
                    stack.push_guarded(((start + i) as u32, self.balls.time[i]));
                }
            }
        }
    }

    /// Visits the samples that are not separated from `time` to the end.
    #[inline(always)]
    fn samples(&mut self, samples: Range<usize>, time: f32, visit: &mut impl FnMut(u32) -> f64) {
        let (shell, window) = (self.sweep.shell, self.window);
        let least = SAMPLE_ROOM * shell.spacing;
        for start in samples.clone().step_by(LANES) {
            if self.until < 0.0 {
                return;
            }
            let end = (start + LANES).min(samples.end);
            self.stats.sample_tests += (end - start) as u64;
            let points = [&shell.x[start..end], &shell.y[start..end], &shell.z[start..end]];
            self.balls.load(&window.start, &window.displacement, points);
            for i in 0..end - start {
                (self.balls.radius[i], self.balls.time[i]) = (window.inflation, time);
            }
            self.balls.advance(self.field, end - start, window.levels[1], self.until, (|_| least, SAMPLE_STRIDES));
            for i in 0..end - start {
                let sample = (start + i) as u32;
                if self.balls.time[i] <= self.until && !self.sweep.is_known(sample) {
                    self.until = window.after(visit(sample));
                }
            }
        }
    }
}
