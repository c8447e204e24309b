//! `voxshell bench ccd`: bodies that move, each against a field of its own shape. Tables 3 and 4 of Xu & Barbič 2016, a haptic
//! step, and screw motions beside ten thousand sub-steps.
//!
//! Seconds of one thread's clock. The field's box is 1.5 times the shape.

use std::f64::consts::TAU;

use nalgebra::Translation3;
use voxshell::ccd::impact::{contacts, time_of_impact, Moving, Path, Query};
use voxshell::ccd::motion::Motion;
use voxshell::ccd::shell::{Passage, Workspace};
use voxshell::contact::{self, Geometry, Roles};
use voxshell::field::{BrickField, Field};
use voxshell::math::{Pose, Progress, Rotation, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::{PointShell, ShellOptions};
use voxshell::Result;

use super::clock::{of_thread, of_wall, Clock};
use super::random::Random;
use super::row::Row;
use super::steps::Steps;
use super::{fields, Setup};

const SIDE: f64 = 1.5;
const PAIRS: usize = 1000;
/// Of the papers' dragon.
const DENSE: usize = 437_645;
const PAPER: &str = "Xu & Barbič 2016";

pub fn rows(mesh: &TriMesh, setup: &Setup) -> Result<Vec<Row>> {
    let cells = setup.resolutions(&[1024]).pop().unwrap_or(1024);
    let steps = Steps::new(4);
    let mut rows = Vec::new();
    let bowl = primitives::bowl(0.5, 0.05, 64)?.scaled_to_extent(1.0);
    steps.next("vertices");
    let sparse = Body::new(mesh, mesh.vertices.len(), cells)?;
    table_3("vertices", &sparse, [0.05, 0.2], [1.8, 0.7], setup.clock, &mut rows)?;
    screws(&sparse, &mut rows)?;
    steps.next("bowl");
    table_3("bowl", &Body::new(&bowl, 2_072, cells)?, [0.05, 0.2], [3.4, 0.3], setup.clock, &mut rows)?;
    steps.next("dense");
    let dense = Body::new(mesh, DENSE, cells)?;
    table_3("dense", &dense, [0.5, 3.0], [761.2, 9.9], setup.clock, &mut rows)?;
    table_4(&dense, &mut rows)?;
    steps.next("haptic");
    haptic(&Body::new(mesh, 25_000, cells)?, &mut rows)?;
    Ok(rows)
}

struct Body {
    field: Field,
    shell: PointShell,
}

impl Body {
    fn new(mesh: &TriMesh, samples: usize, cells: u32) -> Result<Self> {
        let field = Field::Bricks(BrickField::cook(mesh, &fields::options(cells), &Progress::none())?);
        let options = ShellOptions { target_count: Some(samples), ..ShellOptions::default() };
        let shell = PointShell::sample(mesh, Some(&field), &options, &Progress::none())?;
        Ok(Self { field, shell })
    }

    fn geometry(&self) -> Geometry<'_> {
        Geometry { field: Some(&self.field), shell: Some(&self.shell) }
    }
}

/// In a cube of 1 around 0.
fn place(random: &mut Random) -> Vec3 {
    let mut coordinate = || random.next() - 0.5;
    Vec3::new(coordinate(), coordinate(), coordinate())
}

/// Uniform over all: Shoemake 1992.
fn rotation(random: &mut Random) -> Rotation {
    let (part, a, b) = (random.next(), TAU * random.next(), TAU * random.next());
    let (p, q) = ((1.0 - part).sqrt(), part.sqrt());
    Rotation::from_quaternion(nalgebra::Quaternion::new(q * b.cos(), p * a.sin(), p * a.cos(), q * b.sin()))
}

/// Pairs of random poses in a box three times the field's, by the tree and sample by sample. `papers` took as long, sample
/// by sample and by a tree.
fn table_3(
    name: &str,
    body: &Body,
    targets: [f64; 2],
    papers: [f64; 2],
    clock: Clock,
    rows: &mut Vec<Row>,
) -> Result<()> {
    let mut random = Random::new(2016);
    let mut pose = || Pose::from_parts((place(&mut random) * 3.0 * SIDE).into(), rotation(&mut random));
    let motions: Vec<Motion> =
        (0..PAIRS).map(|_| Motion::straight([&pose(), &pose()], [&Pose::identity(); 2])).collect();
    let samples = body.shell.len();
    // Sample by sample the dense shell takes minutes: a part of the pairs then stands for all.
    let some = &motions[..if samples > 100_000 { PAIRS / 20 } else { PAIRS }];
    let (mut hits, mut intervals) = (0, 0);
    let first = |motions: &[Motion], linear: bool, hits: &mut usize| {
        let mut workspace = Workspace::new();
        let passage = |motion: &Motion| Passage { linear, ..Passage::new(&body.shell, &body.field, *motion) };
        of_thread(|| *hits = motions.iter().filter(|m| passage(m).first(&mut workspace).is_some()).count()).0
            * (PAIRS as f64 / motions.len() as f64)
    };
    let all = |motions: &[Motion], linear: bool, count: &mut usize| {
        let mut workspace = Workspace::new();
        let passage = |motion: &Motion| Passage { linear, ..Passage::new(&body.shell, &body.field, *motion) };
        of_thread(|| *count = motions.iter().map(|m| passage(m).spans(&mut workspace).len()).sum()).0
            * (PAIRS as f64 / motions.len() as f64)
    };
    let (mut unused, mut unused_too) = (0, 0);
    let [first_tree, first_each, all_tree, all_each] = clock.in_turns([
        &mut || Ok(first(&motions, false, &mut hits)),
        &mut || Ok(first(some, true, &mut unused)),
        &mut || Ok(all(&motions, false, &mut intervals)),
        &mut || Ok(all(some, true, &mut unused_too)),
    ])?;
    for (kind, tree, each, target) in
        [("first", first_tree, first_each, targets[0]), ("all", all_tree, all_each, targets[1])]
    {
        let facts = |row: Row| {
            row.with("pairs", PAIRS).with("samples", samples).with("hits", hits).with("intervals", intervals)
        };
        rows.push(facts(
            Row::new(format!("ccd/table3/{name}/{kind}"), tree, "s").target(target).peer(PAPER, papers[1]),
        ));
        rows.push(facts(Row::new(format!("ccd/table3/{name}/{kind}/each_sample"), each, "s").peer(PAPER, papers[0])));
    }
    Ok(())
}

/// The drop of the papers, without its forces: the body falls on another, rests and slips; the continuous part of 1,160
/// frames of a millisecond.
fn table_4(body: &Body, rows: &mut Vec<Row>) -> Result<()> {
    const FRAMES: usize = 1160;
    let mut discrete = contact::Workspace::new();
    let (mut height, mut speed) = (1.0, 0.0);
    let mut poses = Vec::new();
    for frame in 0..=FRAMES {
        let turn = Rotation::from_scaled_axis(Vec3::new(0.3, 1.0, 0.2) * (0.001 * frame as f64));
        let at = |height: f64| Pose::from_parts(Vec3::new(0.05, height, 0.02).into(), turn);
        speed += 9.81e-3;
        height -= speed * 1e-3;
        // Out of the other body again, but for a trace of contact.
        for _ in 0..8 {
            let Some(depth) = distance(body, &at(height), 0.0, &mut discrete)? else { break };
            height += 1e-5 - depth;
            speed = 0.0;
        }
        poses.push(at(height - 2e-5));
    }
    let still = Moving::still(body.geometry(), &Pose::identity());
    let query = Query { roles: Roles::ShellOfA, ..Query::default() };
    let (mut workspace, mut intervals) = (Workspace::new(), 0);
    let (seconds, done) = of_thread(|| -> Result<()> {
        for step in poses.windows(2) {
            let falling = Moving { geometry: body.geometry(), from: step[0], to: step[1] };
            intervals += contacts(&falling, &still, &query, &mut workspace)?.len();
        }
        Ok(())
    });
    done?;
    let row = Row::new("ccd/table4/dense", seconds, "s").target(0.15).peer(PAPER, 2.6);
    rows.push(row.with("frames", FRAMES).with("samples", body.shell.len()).with("intervals", intervals));
    Ok(())
}

/// φ of the deepest sample of the body at a pose in itself at rest, where it is at most `limit`.
fn distance(body: &Body, pose: &Pose, limit: f64, workspace: &mut contact::Workspace) -> Result<Option<f64>> {
    let (geometry, still) = (body.geometry(), Pose::identity());
    let found = contact::distance(geometry, pose, geometry, &still, Roles::ShellOfA, limit, workspace)?;
    Ok(found.map(|c| c.separation))
}

/// Steps of a millimetre from a quarter of one deep.
fn haptic(body: &Body, rows: &mut Vec<Row>) -> Result<()> {
    let mut workspace = Workspace::new();
    let mut discrete = contact::Workspace::new();
    let still = Moving::still(body.geometry(), &Pose::identity());
    let query = Query { roles: Roles::ShellOfA, ..Query::default() };
    let mut random = Random::new(7);
    let (mut times, mut intervals) = (Vec::new(), 0);
    for _ in 0..100 {
        let (turn, way) = (rotation(&mut random), place(&mut random).normalize());
        let at = |reach: f64| Pose::from_parts((way * reach).into(), turn);
        let mut reach = 2.0;
        for _ in 0..60 {
            reach -= 0.7 * distance(body, &at(reach), f64::INFINITY, &mut discrete)?.unwrap_or(0.0);
        }
        let from = at(reach - 0.25e-3);
        for _ in 0..20 {
            let to = Translation3::from(place(&mut random).normalize() * 1e-3) * from;
            let moving = Moving { geometry: body.geometry(), from, to };
            // Once before, so that it is the query that is measured and not the cache.
            contacts(&moving, &still, &query, &mut workspace)?;
            let (seconds, found) = of_wall(|| contacts(&moving, &still, &query, &mut workspace).map(<[_]>::len));
            intervals += found?;
            times.push(seconds * 1e6);
        }
    }
    times.sort_by(f64::total_cmp);
    let at = |q: f64| times[((times.len() - 1) as f64 * q) as usize];
    for (kind, measured, target) in [("median", at(0.5), 60.0), ("p99", at(0.99), 200.0)] {
        let row = Row::new(format!("ccd/haptic/{kind}"), measured, "us").target(target);
        rows.push(row.with("samples", body.shell.len()).with("intervals_mean", intervals as f64 / times.len() as f64));
    }
    Ok(())
}

/// Steps of ten degrees and a little way, both bodies on screws.
fn screws(body: &Body, rows: &mut Vec<Row>) -> Result<()> {
    const STEPS: usize = 100;
    const SUBSTEPS: u32 = 10_000;
    /// What the discrete query's f32 can be wrong by, metres.
    const ROUNDING: f64 = 2e-6;
    let mut workspace = Workspace::new();
    let mut discrete = contact::Workspace::new();
    let query = Query { roles: Roles::ShellOfA, path: Path::Screw { tolerance: 1e-5 }, ..Query::default() };
    let mut random = Random::new(10);
    let (mut missed, mut hits, mut seconds) = (0, 0, 0.0);
    for _ in 0..STEPS {
        let mut step = |reach: f64| {
            let from = Pose::from_parts((place(&mut random) * reach).into(), rotation(&mut random));
            let turn = Rotation::from_scaled_axis(place(&mut random).normalize() * 10f64.to_radians());
            let to = Translation3::from(place(&mut random) * 0.2) * from * turn;
            Moving { geometry: body.geometry(), from, to }
        };
        let (a, b) = (step(1.5), step(0.0));
        let (time, first) = of_thread(|| time_of_impact(&a, &b, &query, &mut workspace));
        let first = first?;
        seconds += time;
        hits += usize::from(first.is_some());
        let end = first.map_or(f64::INFINITY, |c| c.toi);
        for k in 0..=SUBSTEPS {
            let t = f64::from(k) / f64::from(SUBSTEPS);
            if t >= end {
                break;
            }
            if distance(body, &b.pose(t).inv_mul(&a.pose(t)), -ROUNDING, &mut discrete)?.is_some() {
                missed += 1;
                break;
            }
        }
    }
    let row = Row::new("ccd/screws/missed", f64::from(missed), "contacts").target(0.0);
    rows.push(row.with("steps", STEPS).with("hits", hits).with("samples", body.shell.len()));
    rows.push(Row::new("ccd/screws/mean", seconds * 1e6 / STEPS as f64, "us").with("samples", body.shell.len()));
    Ok(())
}
