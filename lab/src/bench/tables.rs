//! `voxshell-lab bench tables`: tables 1 to 4 of Xu & Barbič 2014 and 2016, with the papers' figures and ours.
//!
//! Table 1 is the memory and time of the signed distance field and of the octree over it. Table 2 is a million random
//! segments. Tables 3 and 4 are random motions and drops. The papers' figures are for the bunny of 777 vertices and 8
//! threads of a 2.9 GHz Xeon; ours are for the given mesh and one thread. Because machines have changed, the papers'
//! method is also measured on this one, as reimplemented in [`super::papers`].

use voxshell::ccd::segment::{first_fractions, Segment, Start};
use voxshell::field::{DenseField, Field, Grid, SignedDistance};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::TriMesh;
use voxshell::Result;

use super::ccd::Motions;
use super::papers::{self, Cells, Octree, Root};
use super::progress::Steps;
use super::random::Random;
use super::{fields, segments, Setup};
use voxshell_lab::clock::{of_thread, Clock};
use voxshell_lab::row::{figure, Row};
use voxshell_lab::table::{Align, Table};

/// Resolution from which a dense grid exceeds the memory of many machines: its size is computed, not its values.
const FULL_GRID: u32 = 1024;
const PAPERS: &str = "Xu & Barbič 2014, 2016";

/// A row of the papers' tables: seconds, megabytes.
struct Paper {
    cells: u32,
    field: [f64; 2],
    octree: f64,
    /// Minimum and maximum in every node (2014).
    min_max: f64,
    /// The minimum alone (2016).
    min: f64,
    uniform: f64,
    by_octree: f64,
}

const TABLES: [Paper; 4] = [
    Paper { cells: 128, field: [1.9, 8.2], octree: 0.01, min_max: 34.2, min: 16.1, uniform: 12.7, by_octree: 12.0 },
    Paper { cells: 256, field: [6.8, 64.8], octree: 0.09, min_max: 273.6, min: 136.8, uniform: 38.8, by_octree: 13.1 },
    Paper {
        cells: 512,
        field: [45.6, 518.0],
        octree: 0.65,
        min_max: 2140.0,
        min: 1070.0,
        uniform: 97.2,
        by_octree: 15.4,
    },
    Paper {
        cells: 1024,
        field: [347.0, 4100.0],
        octree: 4.88,
        min_max: 17100.0,
        min: 8550.0,
        uniform: 274.3,
        by_octree: 21.4,
    },
];

/// The same row, measured here.
struct Ours {
    cells: u32,
    dense: Option<f64>,
    dense_mb: f64,
    bricks: f64,
    bricks_mb: f64,
    /// Memory of the papers' octree, megabytes: minimum and maximum, minimum, leaves alone.
    octree_mb: [f64; 3],
    segments_dense: Option<f64>,
    segments_bricks: f64,
    theirs: Option<Theirs>,
}

/// The papers' method on this machine.
struct Theirs {
    octree: f64,
    octree_mb: f64,
    uniform: f64,
    by_octree: f64,
    /// Number of hits among the tested segments: ours, uniform, by octree.
    hits: [usize; 3],
    /// Uniform, with bisection in place of the cubic's roots: seconds, hits.
    bisection: (f64, usize),
    /// Short segments near the surface, microseconds for each: uniform, by the leaves alone, by the whole octree, ours.
    short: [f64; 4],
}

/// Number of segments that the papers' method tests; it is slow.
const WALKED: usize = 20_000;

impl Theirs {
    /// Measures; `ours` is the number of hits of the library among the tested segments.
    fn measure(clock: Clock, field: &DenseField, segments: &[Segment], ours: usize) -> Result<Self> {
        let (octree, tree) = clock.cook(|| Ok(Octree::new(field)))?;
        let octree = octree.least;
        let walked = &segments[..segments.len().min(WALKED)];
        let all = segments.len() as f64 / walked.len() as f64;
        let walk = |way: Cells, root: Root| -> Result<(f64, usize)> {
            let count = || walked.iter().filter(|s| papers::first(field, way, root, s).is_some()).count();
            let mut hits = 0;
            let mut run = || {
                let (seconds, found) = of_thread(count);
                hits = found;
                Ok(all * seconds)
            };
            let [seconds] = clock.in_turns([&mut run])?;
            Ok((seconds.least, hits))
        };
        let (uniform, uniform_hits) = walk(Cells::Uniform, Root::Cardano)?;
        let (by_octree, octree_hits) = walk(Cells::Octree(&tree), Root::Cardano)?;
        Ok(Self {
            octree,
            octree_mb: tree.bytes() as f64 * 1e-6,
            uniform,
            by_octree,
            hits: [ours, uniform_hits, octree_hits],
            bisection: walk(Cells::Uniform, Root::Bisection)?,
            short: short(clock, field, &tree)?,
        })
    }
}

/// Returns the microseconds of a haptic segment, half a cell to three cells long from a point at most two cells from the
/// surface: cell by cell, by the leaves alone, by the whole octree, and by the library.
fn short(clock: Clock, field: &DenseField, tree: &Octree) -> Result<[f64; 4]> {
    let mut random = Random::new(2016);
    let spacing = f64::from(field.grid().spacing);
    let [min, max] = [field.grid().min, field.grid().max()].map(|p| Vec3::from(p.map(f64::from)));
    let mut segments = Vec::with_capacity(WALKED);
    while segments.len() < WALKED {
        let p = Vec3::from_fn(|a, _| min[a] + (max[a] - min[a]) * random.next());
        if f64::from(field.distance([p.x as f32, p.y as f32, p.z as f32]).abs()) > 2.0 * spacing {
            continue;
        }
        let way = Vec3::from_fn(|_, _| random.next() - 0.5).normalize();
        let from = p + field.center();
        segments.push(Segment::new(from, from + way * (0.5 + 2.5 * random.next()) * spacing));
    }
    let theirs = |way| {
        let segments = &segments;
        move || {
            let each = || segments.iter().filter(|s| papers::first(field, way, Root::Cardano, s).is_some()).count();
            Ok(of_thread(|| std::hint::black_box(each())).0)
        }
    };
    let (mut uniform, mut leaves, mut whole) =
        (theirs(Cells::Uniform), theirs(Cells::Leaves(tree)), theirs(Cells::Octree(tree)));
    let mut fractions = vec![None; segments.len()];
    let ours = Field::Dense(field.clone());
    let mut library = || Ok(of_thread(|| first_fractions(&ours, &segments, 0.0, Start::Hit, &mut fractions)).0);
    let seconds = clock.in_turns([&mut uniform, &mut leaves, &mut whole, &mut library])?;
    Ok(seconds.map(|s| s.least * 1e6 / segments.len() as f64))
}

pub struct Tables {
    mesh: String,
    segments: usize,
    lines: Vec<Ours>,
    motions: Motions,
}

/// Returns the bytes of an octree whose leaves are the cells of a grid, an f32 for each value: with minimum and maximum,
/// with the minimum, and the minimum of the leaves alone.
fn octree_bytes(grid: &Grid) -> [u64; 3] {
    let mut dims = grid.dims.map(|n| u64::from(n - 1));
    let leaves: u64 = dims.iter().product();
    let mut nodes = leaves;
    while dims.iter().any(|&n| n > 1) {
        dims = dims.map(|n| n.div_ceil(2));
        nodes += dims.iter().product::<u64>();
    }
    [8 * nodes, 4 * nodes, 4 * leaves]
}

/// Returns the seconds of the batch, and the number of hits among the first [`WALKED`].
fn walk(clock: Clock, field: &Field, segments: &[Segment]) -> Result<(f64, usize)> {
    let mut fractions = vec![None; segments.len()];
    let mut run = || Ok(of_thread(|| first_fractions(field, segments, 0.0, Start::Hit, &mut fractions)).0);
    let [seconds] = clock.in_turns([&mut run])?;
    Ok((seconds.least, fractions.iter().take(WALKED).flatten().count()))
}

impl Tables {
    pub fn measure(name: &str, mesh: &TriMesh, setup: &Setup) -> Result<Self> {
        let resolutions = setup.resolutions(&TABLES.map(|t| t.cells));
        let segments = segments::segments(mesh.bounds().center(), setup.segments);
        let steps = Steps::new(3 * resolutions.len());
        let mut lines = Vec::new();
        for cells in resolutions {
            let options = fields::options(cells);
            let (mut dense, mut segments_dense, mut theirs) = (None, None, None);
            if cells < FULL_GRID {
                steps.next(&format!("full grid, {cells}"));
                let (seconds, field) =
                    setup.clock.cook(|| voxshell::cook::dense_field(mesh, &options, &Progress::none()))?;
                dense = Some(seconds.least);
                let field = Field::Dense(field);
                let (seconds, hits) = walk(setup.clock, &field, &segments)?;
                segments_dense = Some(seconds);
                if let Field::Dense(field) = &field {
                    steps.next(&format!("the papers' method, {cells}"));
                    theirs = Some(Theirs::measure(setup.clock, field, &segments, hits)?);
                }
            }
            steps.next(&format!("bricks, {cells}"));
            let (bricks, field) =
                setup.clock.cook(|| voxshell::cook::brick_field(mesh, &options, &Progress::none()))?;
            let megabytes = |bytes: u64| bytes as f64 * 1e-6;
            lines.push(Ours {
                cells,
                dense,
                dense_mb: megabytes(4 * field.grid().len() as u64),
                bricks: bricks.least,
                bricks_mb: megabytes(field.bytes()),
                octree_mb: octree_bytes(field.grid()).map(megabytes),
                segments_dense,
                segments_bricks: walk(setup.clock, &Field::Bricks(field), &segments)?.0,
                theirs,
            });
        }
        let motions = Motions::measure(mesh, setup, |_| Ok(()))?;
        Ok(Self { mesh: name.into(), segments: segments.len(), lines, motions })
    }

    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for ours in &self.lines {
            let paper = TABLES.iter().find(|t| t.cells == ours.cells);
            let mut push = |name: &str, measured: Option<f64>, unit: &str, theirs: Option<f64>| {
                if let Some(measured) = measured {
                    let row = Row::new(format!("{name}/{}", ours.cells), measured, unit);
                    rows.push(match theirs {
                        Some(theirs) => row.peer(PAPERS, theirs),
                        None => row,
                    });
                }
            };
            let [seconds, megabytes] = [paper.map(|p| p.field[0]), paper.map(|p| p.field[1])];
            push("table1/field/full_grid/time", ours.dense, "s", seconds);
            push("table1/field/full_grid/memory", Some(ours.dense_mb), "MB", megabytes);
            push("table1/field/bricks/time", Some(ours.bricks), "s", seconds);
            push("table1/field/bricks/memory", Some(ours.bricks_mb), "MB", megabytes);
            if let Some(theirs) = &ours.theirs {
                push("table1/octree/papers_way/time", Some(theirs.octree), "s", paper.map(|p| p.octree));
                push("table1/octree/papers_way/memory", Some(theirs.octree_mb), "MB", paper.map(|p| p.min_max));
                push("table2/papers_way/uniform", Some(theirs.uniform), "s", paper.map(|p| p.uniform));
                push("table2/papers_way/octree", Some(theirs.by_octree), "s", paper.map(|p| p.by_octree));
                push("table2/papers_way/bisection", Some(theirs.bisection.0), "s", None);
                push("table2/hits/bisection", Some(theirs.bisection.1 as f64), "segments", None);
                for (way, each) in ["uniform", "leaves", "octree", "ours"].into_iter().zip(theirs.short) {
                    push(&format!("short_segments/{way}"), Some(each), "us", None);
                }
                for (way, hits) in ["ours", "uniform", "octree"].into_iter().zip(theirs.hits) {
                    push(&format!("table2/hits/{way}"), Some(hits as f64), "segments", None);
                }
            }
            let forms = [("min_max", paper.map(|p| p.min_max)), ("min", paper.map(|p| p.min)), ("leaf", None)];
            for (n, (form, theirs)) in forms.into_iter().enumerate() {
                push(&format!("table1/octree/{form}/memory"), Some(ours.octree_mb[n]), "MB", theirs);
            }
            push("table2/full_grid", ours.segments_dense, "s", paper.map(|p| p.uniform));
            push("table2/bricks", Some(ours.segments_bricks), "s", paper.map(|p| p.by_octree));
        }
        rows.append(&mut self.motions.rows());
        rows
    }

    pub fn print(&self) {
        let number = |value: Option<f64>| value.map_or("–".into(), figure);
        let paper = |cells: u32, of: &dyn Fn(&Paper) -> f64| number(TABLES.iter().find(|t| t.cells == cells).map(of));
        println!("Xu & Barbič 2014 and 2016: the bunny, 8 threads of a 2.9 GHz Xeon. Ours: {}, 1 thread.", self.mesh);
        println!("Seconds and MB.\n\nTable 1: the signed distance field");
        let header = ["", "paper", "MB", "full grid", "MB", "bricks", "MB"].map(String::from);
        let lines = self.lines.iter().map(|ours| {
            [
                format!("{}³", ours.cells),
                paper(ours.cells, &|p| p.field[0]),
                paper(ours.cells, &|p| p.field[1]),
                number(ours.dense),
                figure(ours.dense_mb),
                figure(ours.bricks),
                figure(ours.bricks_mb),
            ]
        });
        print!("{}", Table::new(header).with(lines).text(Align::Left));

        println!(
            "\nTable 1: the papers' octree over the cells. The library has none: its segments skip by balls that are certified \
             free, and by a bit for each cell near the surface, which are part of the bricks"
        );
        let header = ["", "paper", "reproduction", "min-max: paper", "MB", "min: paper", "MB", "leaves: MB"];
        let lines = self.lines.iter().map(|ours| {
            [
                format!("{}³", ours.cells),
                paper(ours.cells, &|p| p.octree),
                number(ours.theirs.as_ref().map(|t| t.octree)),
                paper(ours.cells, &|p| p.min_max),
                figure(ours.octree_mb[0]),
                paper(ours.cells, &|p| p.min),
                figure(ours.octree_mb[1]),
                figure(ours.octree_mb[2]),
            ]
        });
        print!("{}", Table::new(header.map(String::from)).with(lines).text(Align::Left));

        println!(
            "\nTable 2: {} random segments (reproduction: of {} of them)",
            self.segments,
            self.segments.min(WALKED)
        );
        let header =
            ["", "uniform: paper", "reproduction", "octree: paper", "reproduction", "ours: full grid", "bricks"]
                .map(String::from);
        let lines = self.lines.iter().map(|ours| {
            [
                format!("{}³", ours.cells),
                paper(ours.cells, &|p| p.uniform),
                number(ours.theirs.as_ref().map(|t| t.uniform)),
                paper(ours.cells, &|p| p.by_octree),
                number(ours.theirs.as_ref().map(|t| t.by_octree)),
                number(ours.segments_dense),
                figure(ours.segments_bricks),
            ]
        });
        print!("{}", Table::new(header).with(lines).text(Align::Left));
        println!(
            "\nShort segments near the surface, as in haptics, µs each, and the whole octree over the leaves alone (2016, \
             section 4.1: 2 to 3); cell by cell over the leaves (1.5); exact roots over bisection, of table 2 (1.2)"
        );
        let header =
            ["", "cell by cell", "leaves", "octree", "ours", "octree/leaves", "cells/leaves", "exact/bisection"]
                .map(String::from);
        let lines =
            self.lines.iter().filter_map(|ours| ours.theirs.as_ref().map(|t| (ours.cells, t))).map(|(cells, t)| {
                let [uniform, leaves, octree, ours] = t.short;
                [
                    format!("{cells}³"),
                    figure(uniform),
                    figure(leaves),
                    figure(octree),
                    figure(ours),
                    figure(octree / leaves),
                    figure(uniform / leaves),
                    figure(t.uniform / t.bisection.0),
                ]
            });
        print!("{}", Table::new(header).with(lines).text(Align::Left));
        self.print_motions();
    }

    fn print_motions(&self) {
        println!(
            "\nTable 3: {} pairs of random poses in a box three times the field's ({}'s vertices, a bowl, a dense shell); \
             the reproduction stops at the first contact of each sample, on a full grid of 256³",
            self.motions.count, self.mesh
        );
        let header = [
            "",
            "samples",
            "linear: paper",
            "reproduction",
            "first contact",
            "all intervals",
            "tree: paper",
            "first contact",
            "all intervals",
        ]
        .map(String::from);
        let lines = self.motions.pairs.iter().map(|p| {
            let [linear, tree] = p.papers.map(figure);
            let ([first, first_each], [all, all_each]) = (p.first.map(figure), p.all.map(figure));
            let samples = p.samples.to_string();
            [p.name.into(), samples, linear, figure(p.theirs), first_each, all_each, tree, first, all]
        });
        print!("{}", Table::new(header).with(lines).text(Align::Left));

        println!("\nTable 4: drops, the continuous part between the two bodies");
        let header = ["", "samples", "frames", "linear: paper", "ours", "tree: paper", "ours"].map(String::from);
        let lines = self.motions.drops.iter().map(|d| {
            let [linear, tree] = d.papers.map(figure);
            let (samples, frames) = (d.samples.to_string(), d.frames.to_string());
            [d.name.into(), samples, frames, linear, figure(d.each), tree, figure(d.tree)]
        });
        print!("{}", Table::new(header).with(lines).text(Align::Left));
    }
}
