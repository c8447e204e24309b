//! Rows of bodies that lie on each other or fit into each other: flush faces that slide, and nuts on bolts.

use std::f64::consts::{PI, TAU};

use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use voxshell::asset::{CookOptions, Storage};
use voxshell::contact::{Pair, PairStep, Workspace};
use voxshell::math::{Pose, Rotation, Vec3};
use voxshell::Result;

use super::super::random::Random;
use super::bodies::{self, Body, Screw, CLAW};
use super::log::Log;
use super::subject::{along, deepest, pose_text, Subject, STEPS};
use super::verdict::{in_mm, Differences, Verdict};
use super::Effort;
use voxshell_lab::row::Row;

/// Depth at which flush faces lie in each other, metres.
const DEPTH: f64 = 1e-4;
/// Motion of a point in a step, metres.
const MOTION: f64 = 0.5e-3;
/// Cosine of the largest angle between the normal of a flush contact and the faces.
const UPRIGHT: f64 = 0.99;

/// Two bodies that lie on each other with faces across y.
struct Flush {
    name: String,
    bodies: [Body; 2],
    /// Height of the upper body when the faces touch, metres.
    height: f64,
    /// Orientation of the upper body before it is turned about y.
    base: Rotation,
    /// Largest shift in the plane of the faces, metres, and largest turn about y, radians.
    spread: f64,
    turn: f64,
}

impl Flush {
    /// Returns poses of a body that slides straight over the other one: from a random place to a random side.
    fn slide(&self, random: &mut Random) -> Vec<Pose> {
        let mut unit = || 2.0 * random.next() - 1.0;
        let (x, z, turn) = (unit() * self.spread, unit() * self.spread, unit() * self.turn);
        let direction = UnitQuaternion::from_axis_angle(&Vec3::y_axis(), unit() * PI) * Vec3::x();
        let rotation = UnitQuaternion::from_axis_angle(&Vec3::y_axis(), turn) * self.base;
        let at = |step: usize| {
            let place = Vec3::new(x, self.height - DEPTH, z) + direction * (MOTION * step as f64);
            Isometry3::from_parts(place.into(), rotation)
        };
        (0..=STEPS + 1).map(at).collect()
    }
}

/// Makes the pairs of flush bodies.
fn flush_bodies(effort: Effort, log: &Log) -> Result<Vec<Flush>> {
    let mut all = Vec::new();
    for cells in effort.block_cells {
        let mut options = CookOptions { storage: Storage::Bricks, ..bodies::options(Some(cells)) };
        // Every other cell: the samples of a fine cube take minutes otherwise.
        options.shell.spacing = 2.0 / f64::from(cells);
        let [cube, block] = bodies::cube_and_block()?;
        let name = format!("cube-{cells}");
        let bodies = [Body::cook("cube", cube, &options, log)?, Body::cook("block", block, &options, log)?];
        let height = 0.5 * (bodies[0].height() + bodies[1].height());
        all.push(Flush { name, bodies, height, base: Rotation::identity(), spread: 0.2, turn: PI });
    }
    let options = bodies::options(effort.cells);
    for (name, [upper, lower]) in bodies::flush(4)? {
        let bodies = [Body::cook(name, upper, &options, log)?, Body::cook(name, lower, &options, log)?];
        let mut height = 0.5 * (bodies[0].height() + bodies[1].height());
        let (mut base, mut spread, mut turn) = (Rotation::identity(), 0.1, 0.5);
        if name == "coupling" {
            height -= CLAW;
            let over = UnitQuaternion::from_axis_angle(&Vec3::x_axis(), PI);
            base = UnitQuaternion::from_axis_angle(&Vec3::y_axis(), PI / 3.0) * over;
            (spread, turn) = (1e-3, 1e-3);
        }
        all.push(Flush { name: name.into(), bodies, height, base, spread, turn });
    }
    Ok(all)
}

/// Adds cold and warm times of walks with velocities to a row of a subject: cold ones at their first steps.
fn measure(
    name: String,
    subject: &Subject,
    walks: &[Vec<PairStep>],
    log: &Log,
    check: impl FnMut(&Pair, &PairStep),
) -> Result<Row> {
    let starts: Vec<PairStep> = walks.iter().filter_map(|walk| walk.first().copied()).collect();
    let cold = subject.cold(&starts, log)?;
    let warm = subject.warm(walks, log, check)?;
    let mut row = cold.row(name).with("walks", walks.len()).with("steps", STEPS);
    warm.put(&mut row, "pair_warm_0.5mm");
    Ok(row)
}

/// Measures bodies that slide on flush faces.
pub fn flush(effort: Effort, log: &Log) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for flush in flush_bodies(effort, log)? {
        log.begin(&flush.name);
        let mut random = Random::new(5);
        let walks: Vec<_> = (0..effort.slides).map(|_| along(&flush.slide(&mut random))).collect();
        let subject = Subject::of([&flush.bodies[0], &flush.bodies[1]])?;
        let (mut verdict, mut leaning, mut points, mut manifolds) = (Verdict::default(), 0, 0, 0);
        let row = measure(format!("pair/flush/{}", flush.name), &subject, &walks, log, |pair, step| {
            let found = deepest(pair);
            points += pair.points().len();
            manifolds += pair.manifolds().len();
            let leans = pair.points().iter().any(|p| p.separation <= 0.0 && p.normal.y.abs() < UPRIGHT);
            leaning += usize::from(leans);
            if verdict.add(found, DEPTH, subject.tolerance, subject.margin) || found.is_none_or(|s| s > 0.0) || leans {
                let (found, place) = (in_mm(found), pose_text(&step.a.pose));
                let lean = if leans { ", with a normal beside the faces'" } else { "" };
                log.wrong(&format!("{}: {found}{lean}, faces 0.1 mm deep, A at {place}", flush.name));
            }
        })?;
        rows.push(
            row.with("pair_shallow", verdict.shallow)
                .with("pair_deep", verdict.deep)
                .with("pair_leaning", leaning)
                .with("points_mean", points as f64 / walks.len() as f64)
                .with("manifolds_mean", manifolds as f64 / walks.len() as f64),
        );
    }
    Ok(rows)
}

/// Number of poses at which the pair of a nut is compared with the stateless distance.
const COMPARED: usize = 10;

/// Returns poses of a nut that turns along its bolt, at random places of its play.
fn screw_in(screw: &Screw, radius: f64, random: &mut Random) -> Vec<Pose> {
    let mut unit = || 2.0 * random.next() - 1.0;
    let turns = (screw.shank - screw.height) / screw.pitch;
    let start = 2.5 + (turns - 4.0).max(0.0) * (0.5 + 0.5 * unit());
    // Flanks of 30° touch at an axial shift of a quarter of the play over cos 30°, or a radial one of half the play.
    let axial = 0.5 * unit() * 0.25 * screw.play / (PI / 6.0).cos();
    let (angle, radial) = (PI * unit(), 0.5 * unit() * 0.5 * screw.play);
    let per_step = 0.9 * MOTION / (TAU * radius + screw.pitch);
    let drift = Vec3::new(unit(), unit(), unit()).cap_magnitude(1.0) * (0.1 * MOTION);
    let middle = Vec3::new(radial * angle.cos(), axial, radial * angle.sin());
    let at = |step: usize| {
        let turned = start + per_step * step as f64;
        // To and fro, so that the nut does not leave its play.
        let place = middle + drift * (step % 2) as f64 + Vec3::y() * (turned * screw.pitch);
        let rotation = UnitQuaternion::from_axis_angle(&Vec3::y_axis(), TAU * turned);
        Isometry3::from_parts(Translation3::from(place), rotation)
    };
    (0..=STEPS + 1).map(at).collect()
}

/// Measures nuts that turn on their bolts, with random play.
pub fn nut(effort: Effort, log: &Log) -> Result<Vec<Row>> {
    let options = bodies::options(effort.cells);
    let mut rows = Vec::new();
    for screw in bodies::screws()? {
        let nut = Body::cook(&format!("nut {}", screw.name), screw.nut.clone(), &options, log)?;
        let bolt = Body::cook(&format!("bolt {}", screw.name), screw.bolt.clone(), &options, log)?;
        log.begin(screw.name);
        let subject = Subject::of([&nut, &bolt])?;
        let mut random = Random::new(6);
        let walks: Vec<_> = (0..effort.turns).map(|_| along(&screw_in(&screw, nut.radius(), &mut random))).collect();
        let (mut points, mut manifolds) = (0, 0);
        let count = |pair: &Pair, _: &PairStep| {
            points += pair.points().len();
            manifolds += pair.manifolds().len();
        };
        let row = measure(format!("pair/nut/{}", screw.name), &subject, &walks, log, count)?;
        let (mut pair, mut workspace, mut differences) = (subject.pair()?, Workspace::new(), Differences::default());
        for (k, walk) in walks.iter().take(COMPARED).enumerate() {
            let step = PairStep { duration: 0.0, ..walk[0] };
            pair.reset();
            subject.update(&mut pair, &step)?;
            let near = subject.distance([&step.a.pose, &Pose::identity()], &mut workspace)?.1.map(|c| c.separation);
            let (near, found) = (near.filter(|near| *near <= subject.margin), deepest(&pair));
            if differences.between(found, near, subject.tolerance) {
                let place = pose_text(&step.a.pose);
                let (found, near) = (in_mm(found), in_mm(near));
                log.wrong(&format!("pair and distance of {}, walk {k}: {found} and {near}, A at {place}", screw.name));
            }
            log.tick();
        }
        rows.push(
            row.with("points_mean", points as f64 / walks.len() as f64)
                .with("manifolds_mean", manifolds as f64 / walks.len() as f64)
                .with("pair_to_distance_max_tolerances", differences.largest)
                .with("pair_to_distance_beyond", differences.beyond),
        );
    }
    Ok(rows)
}
