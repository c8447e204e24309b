//! Table 3 of Xu & Barbič (2014, 2016): a thousand pairs of random poses in a box three times the field's. Each is a
//! motion from one pose to the other, tested by the tree and sample by sample.
//!
//! The papers time "continuous collision detection against the zero isosurface". Their linear scan agrees with testing
//! all motions of all samples. The time of their tree is less than their traversal would need for the samples in
//! contact alone, so it may be that of an early out. Both are measured here: the first contact, and all intervals of
//! all samples.

use voxshell::ccd::motion::Motion;
use voxshell::ccd::segment::Segment;
use voxshell::ccd::shell::{Passage, Workspace};
use voxshell::contact::Geometry;
use voxshell::field::Field;
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::TriMesh;
use voxshell::pointshell::{PointShell, ShellOptions};
use voxshell::Result;

use super::papers::{self, Cells, Octree, Root};
use super::random::Random;
use super::{fields, Setup};
use voxshell_lab::clock::of_thread;
use voxshell_lab::row::Row;

/// Edge of a field's box, metres; the mesh is 1 m large.
const SIDE: f64 = 1.5;
pub const PAPER: &str = "Xu & Barbič 2016";
/// Cells of the dense grid on which the papers' method is measured: at 1024 the grid and its octree take 14 GB.
const THEIR_CELLS: u32 = 256;
/// Samples times motions on which the papers' method is measured.
const THEIR_WORK: usize = 400_000;
/// Number of samples above which each figure is of one run, and sample by sample of a fraction of the pairs.
const MANY: usize = 100_000;

/// A mesh with its own field and samples.
pub struct Body {
    pub name: &'static str,
    pub field: Field,
    pub shell: PointShell,
    /// Mesh of the field on a dense grid, for the papers' method.
    mesh: TriMesh,
}

impl Body {
    pub fn new(name: &'static str, mesh: &TriMesh, samples: usize, cells: u32) -> Result<Self> {
        let field = Field::Bricks(voxshell::cook::brick_field(mesh, &fields::options(cells), &Progress::none())?);
        let options = ShellOptions { target_count: Some(samples), ..ShellOptions::default() };
        let shell = voxshell::cook::sample(mesh, Some(&field), &options, &Progress::none())?;
        Ok(Self { name, field, shell, mesh: mesh.clone() })
    }

    pub fn geometry(&self) -> Geometry<'_> {
        Geometry { field: Some(&self.field), shell: Some(&self.shell), surface: None }
    }
}

/// Returns a random point in a cube of edge 1 around 0.
pub fn place(random: &mut Random) -> Vec3 {
    let mut coordinate = || random.next() - 0.5;
    Vec3::new(coordinate(), coordinate(), coordinate())
}

/// Seconds of all pairs.
pub struct Pairs {
    pub name: &'static str,
    pub samples: usize,
    /// Time until the first contact: by the tree, and sample by sample.
    pub first: [f64; 2],
    /// Time of all colliding intervals: by the tree, and sample by sample.
    pub all: [f64; 2],
    /// Time of the papers' method on this machine: sample by sample, by an octree from cell to cell, to the first
    /// contact of each.
    pub theirs: f64,
    /// The papers' own figures: sample by sample, and by a tree.
    pub papers: [f64; 2],
    targets: [f64; 2],
    pairs: usize,
    hits: usize,
    intervals: usize,
}

impl Pairs {
    /// Measures the pairs. `targets`: seconds until the first contact, and for all intervals. `papers`: as in
    /// [`Pairs::papers`].
    pub fn measure(body: &Body, targets: [f64; 2], papers: [f64; 2], setup: &Setup) -> Result<Self> {
        let (pairs, clock) = (setup.pairs, setup.clock);
        let mut random = Random::new(2016);
        let mut pose = || Pose::from_parts((place(&mut random) * 3.0 * SIDE).into(), random.rotation());
        let motions: Vec<Motion> =
            (0..pairs).map(|_| Motion::straight([&pose(), &pose()], [&Pose::identity(); 2])).collect();
        let samples = body.shell.len();
        let some = &motions[..if samples > MANY { pairs.div_ceil(20) } else { pairs }];
        let mut workspace = Workspace::new();
        let mut run = |motions: &[Motion], linear: bool, all: bool| -> (f64, usize) {
            let (seconds, count) = of_thread(|| {
                let mut count = 0;
                for motion in motions {
                    let passage = Passage { linear, ..Passage::new(&body.shell, &body.field, *motion) };
                    count += match all {
                        true => passage.spans(&mut workspace).len(),
                        false => usize::from(passage.first(&mut workspace).is_some()),
                    };
                }
                count
            });
            (seconds * (pairs as f64 / motions.len() as f64), count)
        };
        // A first run warms up; its result counts.
        let (_, hits) = run(&motions, false, false);
        let ((mut all_tree, intervals), (mut all_each, _)) = (run(&motions, false, true), run(some, true, true));
        let ((mut first_tree, _), (mut first_each, _)) = (run(&motions, false, false), run(some, true, false));
        if samples <= MANY {
            let cell = std::cell::RefCell::new(&mut run);
            let timed = |motions: &[Motion], linear, all| Ok((cell.borrow_mut())(motions, linear, all).0);
            [first_tree, first_each, all_tree, all_each] = clock
                .in_turns([
                    &mut || timed(&motions, false, false),
                    &mut || timed(some, true, false),
                    &mut || timed(&motions, false, true),
                    &mut || timed(some, true, true),
                ])?
                .map(|timing| timing.least);
        }
        Ok(Self {
            name: body.name,
            samples,
            first: [first_tree, first_each],
            all: [all_tree, all_each],
            theirs: theirs(body, &motions)?,
            papers,
            targets,
            pairs,
            hits,
            intervals,
        })
    }

    pub fn rows(&self, rows: &mut Vec<Row>) {
        let Self { name, samples, pairs, hits, intervals, papers, .. } = *self;
        let facts = |row: Row| {
            row.with("pairs", pairs).with("samples", samples).with("hits", hits).with("intervals", intervals)
        };
        for (kind, [tree, each], target) in [("first", self.first, self.targets[0]), ("all", self.all, self.targets[1])]
        {
            let row = |what: &str, seconds: f64| Row::new(format!("ccd/table3/{name}/{kind}{what}"), seconds, "s");
            rows.push(facts(row("", tree).target(target).peer(PAPER, papers[1])));
            rows.push(facts(row("/each_sample", each).peer(PAPER, papers[0])));
            rows.push(facts(
                Row::ratio(format!("ccd/table3/{name}/{kind}/tree_over_each"), tree, "each sample", each).target(1.0),
            ));
        }
        let row = Row::new(format!("ccd/table3/{name}/papers_way"), self.theirs, "s").target(None);
        rows.push(row.peer(PAPER, papers[0]).with("cells", THEIR_CELLS).with("samples", samples));
    }
}

/// Measures some of the motions by the papers' method, sample by sample.
fn theirs(body: &Body, motions: &[Motion]) -> Result<f64> {
    let field = voxshell::cook::dense_field(&body.mesh, &fields::options(THEIR_CELLS), &Progress::none())?;
    let octree = Octree::new(&field);
    let some = &motions[..(THEIR_WORK / body.shell.len()).clamp(10.min(motions.len()), motions.len())];
    // Of many samples, takes every n-th.
    let step = (body.shell.len() * some.len()).div_ceil(THEIR_WORK);
    let (seconds, count) = of_thread(|| {
        let mut count = 0;
        for motion in some {
            for sample in (0..body.shell.len()).step_by(step) {
                let chord: Segment = motion.chord(&body.shell.position(sample), [0.0, 1.0]);
                std::hint::black_box(papers::first(&field, Cells::Octree(&octree), Root::Cardano, &chord));
                count += 1;
            }
        }
        count
    });
    Ok(seconds * (motions.len() * body.shell.len()) as f64 / f64::from(count))
}
