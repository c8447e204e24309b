//! A pointshell that moves through a field: whether, when and for how long its samples are at or below a level.
//! Everything is in the field's frame; independent of bodies and poses in the world.

use super::ball_intervals::BallIntervals;
use super::grid_traversal::Setting;
use super::interval_traversal::IntervalTraversal;
use super::mesh_impact::MeshWorkspace;
use super::motion::Motion;
use super::sample_path::SamplePath;
use super::shell_intervals::ShellIntervals;
use super::tree::{Ends, Sweep, Target, Window};
use super::types::{Collision, Segment};
use voxshell_base::math::Vec3;
use voxshell_base::memory::GrowGuarded;
use voxshell_contact::Stats;
use voxshell_field::{Cells, Clearance, Field, Skip};
use voxshell_pointshell::PointShell;

/// Shells of fewer samples are tested sample by sample: at 16 samples this takes as long as the tree, at 32 longer
/// (`benches/ccd.rs`).
const LINEAR: usize = 24;

/// Largest number of windows into which a curved motion is cut; each is tested if it comes near the field.
const WINDOWS: f64 = 4096.0;

/// Motion of a shell through a field.
pub struct Passage<'a> {
    pub shell: &'a PointShell,
    pub field: &'a Field,
    pub motion: Motion,
    /// A sample is in contact where φ ≤ this value, metres.
    pub level: f64,
    /// On curved paths: bound on how far above the level a reported sample may be, metres; positive. Values below a
    /// billionth of the shell's spacing are raised to that. Ignored on straight paths, where everything is exact.
    pub tolerance: f64,
    /// Time after which the motion is ignored: 0 to 1.
    pub until: f64,
    /// Samples that are left out, ascending.
    pub known: &'a [u32],
    /// Bits that are set in each of the known features beside the sample's index: 0, or
    /// [`FEATURE_OF_B`](voxshell_contact::FEATURE_OF_B).
    pub tag: u32,
    /// Whether to test all samples without the tree: to compare the two.
    pub linear: bool,
}

/// A time interval in which a sample is in contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    pub sample: u32,
    /// Start time; 0 when the sample is in contact from the start.
    pub from: f64,
    /// End time; 1 when the sample is still in contact at the end.
    pub to: f64,
}

/// Scratch memory of the continuous queries: one per thread, grown on first use, never shrunk. Warm queries do not
/// allocate.
#[derive(Default)]
pub struct Workspace {
    /// Nodes still to open, each with the time before which it is separated.
    stack: Vec<(u32, f32)>,
    /// Nodes still to open, each with the intervals in which it may pass the level.
    near: Vec<(u32, BallIntervals)>,
    pub(super) spans: Vec<Span>,
    pub(super) collisions: Vec<Collision>,
    pub(super) mesh: MeshWorkspace,
    pub(super) stats: Stats,
}

impl Workspace {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the cost of the last query.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Adds the tests of the last query of the triangles.
    pub(super) fn count_mesh_tests(&mut self) {
        let tests = self.mesh.stats();
        self.stats.edge_tests += tests.node_tests + tests.triangle_tests + tests.feature_tests;
    }

    pub(super) fn begin(&mut self) {
        self.spans.clear();
        self.collisions.clear();
        self.stats = Stats::default();
    }
}

impl<'a> Passage<'a> {
    /// Returns a query of contacts at level 0 over the whole motion, with a tolerance of a thousandth of the shell's
    /// spacing.
    pub fn new(shell: &'a PointShell, field: &'a Field, motion: Motion) -> Self {
        let tolerance = (1e-3 * f64::from(shell.spacing)).max(1e-9);
        Self {
            shell,
            field,
            motion,
            level: 0.0,
            tolerance,
            until: 1.0,
            known: &[],
            tag: 0,
            linear: shell.len() < LINEAR,
        }
    }

    /// Returns the first time at which a sample has φ ≤ level, and the sample; on a tie the lowest.
    ///
    /// On straight paths the result is exactly that of [`segment::first_fraction`](super::segment::first_fraction)
    /// for each sample. On curved paths it is not later than the first contact, and φ of the sample there is at most
    /// the level + the tolerance; so a sample that passes within the tolerance may be reported too.
    pub fn first(&self, workspace: &mut Workspace) -> Option<(f64, u32)> {
        workspace.begin();
        let target = Target::new(self.field, self.level);
        let mut first: Option<(f64, u32)> = None;
        for times in self.windows() {
            let ends = Ends::new(self.shell, &self.motion, times);
            self.run(&target, times, true, workspace, |sample, _| {
                let until = first.map_or(self.until, |best| best.0);
                if let Some(t) = self.first_of(&target, sample, &ends, until) {
                    if t <= self.until && first.is_none_or(|best| (t, sample) < best) {
                        first = Some((t, sample));
                    }
                }
                first.map_or(self.until, |best| best.0)
            });
            if first.is_some() {
                break;
            }
        }
        first
    }

    /// Returns whether any sample has φ ≤ level at any time.
    pub fn touches(&self, workspace: &mut Workspace) -> bool {
        workspace.begin();
        let target = Target::new(self.field, self.level);
        let mut found = false;
        for times in self.windows() {
            let ends = Ends::new(self.shell, &self.motion, times);
            self.run(&target, times, true, workspace, |sample, _| {
                found =
                    found || self.path_of(&target, sample, &ends, self.until).first().is_some_and(|t| t <= self.until);
                if found {
                    f64::NEG_INFINITY
                } else {
                    self.until
                }
            });
            if found {
                break;
            }
        }
        found
    }

    /// Appends all times for which samples have φ ≤ level to the workspace's spans, by sample, then by time: the
    /// colliding subintervals of Xu & Barbič 2014, section 3.1. The spans of one sample do not touch each other.
    ///
    /// On straight paths they are exactly those of [`segment::intervals`](super::segment::intervals) for each sample.
    /// On curved paths they contain the times of contact, and φ in them is at most the level + the tolerance.
    pub fn spans<'w>(&self, workspace: &'w mut Workspace) -> &'w [Span] {
        workspace.begin();
        self.collect(workspace);
        &workspace.spans
    }

    pub(super) fn collect(&self, workspace: &mut Workspace) {
        match self.field {
            Field::Dense(field) if self.is_inside(field) => return self.collect_through(field, workspace),
            Field::Bricks(field) if self.is_inside(field) => return self.collect_through(field, workspace),
            _ => {}
        }
        let target = Target::new(self.field, self.level);
        let (mut windows, begin) = (0, workspace.spans.len());
        for times in self.windows() {
            windows += 1;
            let ends = Ends::new(self.shell, &self.motion, times);
            self.run(&target, times, false, workspace, |sample, spans| {
                self.path_of(&target, sample, &ends, self.until).intervals(|[from, to]| {
                    if from > self.until {
                        return;
                    }
                    let to = to.min(self.until);
                    match spans.last_mut() {
                        Some(last) if last.sample == sample && self.is_curved() && last.to >= from => last.to = to,
                        _ => spans.push_guarded(Span { sample, from, to }),
                    }
                });
                self.until
            });
        }
        if windows < 2 {
            return;
        }
        // From the order by window to the order by sample; a span that continues in the next window is merged.
        workspace.spans[begin..].sort_unstable_by(|p, q| p.sample.cmp(&q.sample).then(p.from.total_cmp(&q.from)));
        let (spans, mut kept) = (&mut workspace.spans, begin);
        for k in begin..spans.len() {
            let span = spans[k];
            if kept > begin && spans[kept - 1].sample == span.sample && spans[kept - 1].to >= span.from {
                spans[kept - 1].to = span.to;
            } else {
                spans[kept] = span;
                kept += 1;
            }
        }
        spans.truncate(kept);
    }

    /// Returns whether all paths are straight and the level is nowhere outside the grid.
    fn is_inside(&self, field: &impl Cells) -> bool {
        let border = f64::from(field.blocks().border());
        !self.is_curved() && border > 0.0 && self.level + 1e-6 * (1.0 + self.level.abs()) < border
    }

    fn collect_through<F: Cells + Clearance>(&self, field: &F, workspace: &mut Workspace) {
        if self.shell.is_empty() {
            return;
        }
        let (target, setting) = (Target::new(self.field, self.level), Setting::new(field, self.level));
        let Some(window) = Window::new(self.shell, &target, &self.motion, [0.0, 1.0]) else { return };
        let Self { shell, known, tag, until, linear, .. } = *self;
        let sweep = Sweep { shell, known, tag, until, linear, ordered: false };
        let Workspace { near, spans, stats, .. } = workspace;
        ShellIntervals { sweep: &sweep, setting: &setting, window: &window, stats }.run(
            near,
            |s| self.chord(s),
            |sample, [from, to]| {
                if from <= until {
                    spans.push_guarded(Span { sample, from, to: to.min(until) });
                }
            },
        );
    }

    fn is_curved(&self) -> bool {
        !matches!(self.motion, Motion::Straight { .. })
    }

    /// Returns the time at which a sample first reaches the level; on a grid it is bit-identical to the beginning of
    /// its first span.
    fn first_of(&self, target: &Target, sample: u32, ends: &Ends, until: f64) -> Option<f64> {
        fn exactly<F: Cells>(passage: &Passage, field: &F, sample: u32, t: f64) -> f64 {
            let path = passage.chord(sample);
            let mut first = t;
            if let Some(near) = IntervalTraversal::new(&Setting::new(field, passage.level), &path.from, &path.to) {
                near.passages(t - 1e-9, t + 1e-9, |t| {
                    first = t;
                    false
                });
            }
            first
        }
        let t = self.path_of(target, sample, ends, until).first()?;
        Some(match self.field {
            Field::Dense(field) if t > 0.0 && self.is_inside(field) => exactly(self, field, sample, t),
            Field::Bricks(field) if t > 0.0 && self.is_inside(field) => exactly(self, field, sample, t),
            _ => t,
        })
    }

    /// Returns the whole path of a sample that moves straight.
    fn chord(&self, sample: u32) -> Segment {
        self.motion.chord(&self.shell.position(sample as usize), [0.0, 1.0])
    }

    fn path_of<'t>(&'t self, target: &'t Target<'t>, sample: u32, ends: &'t Ends, until: f64) -> SamplePath<'t> {
        let point = self.shell.position(sample as usize);
        SamplePath { target, motion: &self.motion, ends, point, tolerance: self.tolerance, until }
    }

    /// Returns the times between which the tree treats paths as straight: there they are off their chords by at most
    /// the sample spacing, or by the precision of levels in f32.
    fn windows(&self) -> impl Iterator<Item = [f64; 2]> {
        let tree = &self.shell.tree;
        let count = if !self.is_curved() || tree.radius.is_empty() {
            1.0
        } else {
            let center = self.shell.origin + Vec3::new(tree.cx[0].into(), tree.cy[0].into(), tree.cz[0].into());
            let whole = self.motion.sagitta(&center, tree.radius[0].into(), [0.0, 1.0]);
            let straight = f64::from(self.shell.spacing).max(1e-9).max(1e-6 * self.level.abs());
            (whole / straight).sqrt().ceil().clamp(1.0, WINDOWS)
        };
        let until = self.until;
        (0..count as u32)
            .map(move |i| [f64::from(i) / count, f64::from(i + 1) / count])
            .take_while(move |times| times[0] <= until)
    }

    fn run(
        &self,
        target: &Target,
        times: [f64; 2],
        ordered: bool,
        workspace: &mut Workspace,
        mut visit: impl FnMut(u32, &mut Vec<Span>) -> f64,
    ) {
        if self.shell.is_empty() {
            return;
        }
        let Some(window) = Window::new(self.shell, target, &self.motion, times) else { return };
        let Self { shell, known, tag, until, linear, .. } = *self;
        let sweep = Sweep { shell, known, tag, until, linear, ordered };
        let Workspace { stack, spans, stats, .. } = workspace;
        sweep.run(target, &window, stack, stats, |sample| visit(sample, spans));
    }
}
