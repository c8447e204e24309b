//! `voxshell-lab bench ccd`: moving bodies, each against a field of its own shape. Tables 3 and 4 of Xu & Barbič 2016
//! ([`super::pairs`], [`super::drops`]), a haptic step, and screw motions compared with ten thousand sub-steps.
//!
//! Times are seconds of the thread's clock. The field's box is 1.5 times the shape.

use nalgebra::Translation3;
use voxshell::ccd::impact::{contacts, time_of_impact, Moving, Path, Query};
use voxshell::ccd::shell::Workspace;
use voxshell::contact::{self, Roles};
use voxshell::math::{Pose, Rotation};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::Result;

use super::drops::Drop;
use super::pairs::{place, Body, Pairs};
use super::progress::Steps;
use super::random::Random;
use super::Setup;
use voxshell_lab::clock::of_thread;
use voxshell_lab::row::Row;

/// Samples of the papers' china bowl and dragon.
const BOWL: usize = 2_072;
pub const DENSE: usize = 437_645;
/// Samples of the body of the haptic step.
const HAPTIC: usize = 25_000;

/// Results of tables 3 and 4.
pub struct Motions {
    /// Number of random motions.
    pub count: usize,
    pub pairs: Vec<Pairs>,
    pub drops: Vec<Drop>,
}

/// Cooks a body.
type Make<'a> = Box<dyn Fn() -> Result<Body> + 'a>;

/// Returns the papers' three bodies: a mesh with its own vertices as samples, a bowl, and a dense shell.
fn bodies<'a>(
    mesh: &'a TriMesh,
    dense: &'a TriMesh,
    cells: u32,
    samples: usize,
) -> Result<[(&'static str, Make<'a>); 3]> {
    let bowl = primitives::bowl(0.5, 0.05, 64)?.scaled_to_extent(1.0);
    Ok([
        ("vertices", Box::new(move || Body::new("vertices", mesh, mesh.vertices.len(), cells))),
        ("bowl", Box::new(move || Body::new("bowl", &bowl, BOWL, cells))),
        ("dense", Box::new(move || Body::new("dense", dense, samples, cells))),
    ])
}

impl Motions {
    pub fn measure(mesh: &TriMesh, setup: &Setup, mut each: impl FnMut(&Body) -> Result<()>) -> Result<Self> {
        let cells = setup.resolutions(&[1024]).pop().unwrap_or(1024);
        let dense = setup.dense.as_ref().unwrap_or(mesh);
        let steps = Steps::new(3);
        let mut out = Self { count: setup.pairs, pairs: Vec::new(), drops: Vec::new() };
        // Seconds: until the first contact, and for all intervals; the papers' times sample by sample and by a tree;
        // for the drop the same times, its frames and target. All are for a thousand pairs and whole drops; the targets of
        // fewer are as many times smaller.
        let figures = [
            ([0.05, 0.2], [1.8, 0.7], [8.0, 2.5], 2600, None),
            ([0.05, 0.2], [3.4, 0.3], [20.3, 4.5], 2000, None),
            ([0.5, 3.0], [761.2, 9.9], [671.6, 2.6], 1160, Some(0.15)),
        ];
        for ((name, body), (targets, table_3, table_4, frames, target)) in
            bodies(mesh, dense, cells, setup.samples)?.into_iter().zip(figures)
        {
            steps.next(name);
            let body = body()?;
            let part = setup.pairs as f64 / 1000.0;
            out.pairs.push(Pairs::measure(&body, targets.map(|t| t * part), table_3, setup)?);
            out.drops.push(Drop::measure(&body, frames * setup.pairs / 1000, target.map(|t| t * part), table_4)?);
            each(&body)?;
        }
        Ok(out)
    }

    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        self.pairs.iter().for_each(|p| p.rows(&mut rows));
        self.drops.iter().for_each(|d| d.rows(&mut rows));
        rows
    }
}

pub fn rows(mesh: &TriMesh, setup: &Setup) -> Result<Vec<Row>> {
    let cells = setup.resolutions(&[1024]).pop().unwrap_or(1024);
    let mut others = Vec::new();
    let motions = Motions::measure(mesh, setup, |body| match body.name {
        "vertices" => screws(body, &mut others),
        _ => Ok(()),
    })?;
    haptic(&Body::new("haptic", mesh, HAPTIC, cells)?, &mut others)?;
    let mut rows = motions.rows();
    rows.append(&mut others);
    Ok(rows)
}

/// Returns φ of the deepest sample of the body at a pose in a copy of itself at rest, if it is at most `limit`.
fn distance(body: &Body, pose: &Pose, limit: f64, workspace: &mut contact::Workspace) -> Result<Option<f64>> {
    let (geometry, still) = (body.geometry(), Pose::identity());
    let found = contact::distance(geometry, pose, geometry, &still, Roles::ShellOfA, limit, workspace)?;
    Ok(found.map(|c| c.separation))
}

/// Measures steps of a millimetre along the surface and across it, from a pose at which tens of samples are in contact.
fn haptic(body: &Body, rows: &mut Vec<Row>) -> Result<()> {
    /// Samples in contact at the start of a step.
    const RESTING: usize = 60;
    let mut workspace = Workspace::new();
    let mut discrete = contact::Workspace::new();
    let still = Moving::still(body.geometry(), &Pose::identity());
    let query = Query { roles: Roles::ShellOfA, ..Query::default() };
    let mut random = Random::new(7);
    let (mut times, mut intervals) = (Vec::new(), Vec::new());
    for _ in 0..50 {
        let (turn, way) = (random.rotation(), place(&mut random).normalize());
        let at = |reach: f64| Pose::from_parts((way * reach).into(), turn);
        let mut reach = 2.0;
        for _ in 0..60 {
            reach -= 0.7 * distance(body, &at(reach), f64::INFINITY, &mut discrete)?.unwrap_or(0.0);
        }
        // Bisects the depth that gives this number of contacts.
        let (mut least, mut most) = (0.0, 0.05);
        for _ in 0..20 {
            let depth = 0.5 * (least + most);
            let there = Moving::still(body.geometry(), &at(reach - depth));
            if contacts(&there, &still, &query, &mut workspace)?.len() < RESTING {
                least = depth;
            } else {
                most = depth;
            }
        }
        let from = at(reach - most);
        for _ in 0..40 {
            let to = Translation3::from(place(&mut random).normalize() * 1e-3) * from;
            let moving = Moving { geometry: body.geometry(), from, to };
            // Warms up, so that the query is measured and not the cache.
            contacts(&moving, &still, &query, &mut workspace)?;
            let (seconds, found) = of_thread(|| contacts(&moving, &still, &query, &mut workspace).map(<[_]>::len));
            intervals.push(found?);
            times.push(seconds * 1e6);
        }
    }
    times.sort_by(f64::total_cmp);
    intervals.sort_unstable();
    let place = |q: f64| ((times.len() - 1) as f64 * q) as usize;
    for (kind, q, target) in [("median", 0.5, 60.0), ("p99", 0.99, 200.0)] {
        let row = Row::new(format!("ccd/haptic/{kind}"), times[place(q)], "us").target(target);
        rows.push(row.with("samples", body.shell.len()).with("intervals", intervals[place(q)]));
    }
    Ok(())
}

/// Measures steps of ten degrees with a small translation, both bodies on screws.
fn screws(body: &Body, rows: &mut Vec<Row>) -> Result<()> {
    const STEPS: usize = 100;
    const SUBSTEPS: u32 = 10_000;
    const ROUNDS: usize = 5;
    /// Largest rounding error of the discrete query in f32, metres.
    const ROUNDING: f64 = 2e-6;
    let mut workspace = Workspace::new();
    let mut discrete = contact::Workspace::new();
    let query = Query { roles: Roles::ShellOfA, path: Path::Screw { tolerance: 1e-5 }, ..Query::default() };
    let mut random = Random::new(10);
    let straight = Query { path: Path::Straight, ..query };
    let (mut missed, mut hits, mut screw, mut line) = (0, 0, 0.0, 0.0);
    for _ in 0..STEPS {
        let mut step = |reach: f64| {
            let from = Pose::from_parts((place(&mut random) * reach).into(), random.rotation());
            let turn = Rotation::from_scaled_axis(place(&mut random).normalize() * 10f64.to_radians());
            let to = Translation3::from(place(&mut random) * 0.2) * from * turn;
            Moving { geometry: body.geometry(), from, to }
        };
        let (a, b) = (step(1.5), step(0.0));
        // The same bodies by the same ways without the turns, in turns with the screws.
        let unturned = |m: &Moving| {
            let to = Pose::from_parts(m.to.translation, m.from.rotation);
            Moving { geometry: body.geometry(), from: m.from, to }
        };
        let (c, d) = (unturned(&a), unturned(&b));
        let (mut least, mut first) = ([f64::INFINITY; 2], None);
        for _ in 0..ROUNDS {
            let (time, found) = of_thread(|| time_of_impact(&a, &b, &query, &mut workspace));
            first = found?;
            least[0] = least[0].min(time);
            let (time, found) = of_thread(|| time_of_impact(&c, &d, &straight, &mut workspace));
            found?;
            least[1] = least[1].min(time);
        }
        screw += least[0];
        line += least[1];
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
    let row = Row::new("ccd/screws/mean", screw * 1e6 / STEPS as f64, "us");
    rows.push(row.with("samples", body.shell.len()));
    let row = Row::ratio("ccd/screws/over_translation", screw, "the same ways without the turns", line);
    rows.push(row.target(1.5).with("samples", body.shell.len()));
    Ok(())
}
