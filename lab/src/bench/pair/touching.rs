//! Rows of bodies that touch at random poses: sharp ones and scans.

use nalgebra::{Isometry3, Point3, UnitQuaternion};
use voxshell::asset::Shape;
use voxshell::contact::{Geometry, Origin, Pair, PairOptions, PairStep, Workspace};
use voxshell::math::{Pose, Vec3};
use voxshell::Result;

use super::super::random::Random;
use super::log::Log;
use super::scene::{Placed, Scene, PRECISION};
use super::subject::{at_rest, deepest, geometry, pose_text, timed, walk, Cold, Subject, Times};
use super::verdict::{in_mm, Differences, Verdict};
use super::Effort;
use voxshell_lab::row::Row;

/// Largest motions of a point in a step, mm.
const MOTIONS: [f64; 3] = [0.1, 0.5, 2.0];
const SCAN_MOTIONS: [f64; 1] = [0.5];
/// Margins beside the default one, mm.
const MARGINS: [f64; 2] = [10.0, 50.0];

/// Adds a verdict to a row.
fn put_verdict(row: &mut Row, name: &str, verdict: &Verdict) {
    row.put(&format!("{name}_missed"), verdict.missed);
    row.put(&format!("{name}_shallow"), verdict.shallow);
    row.put(&format!("{name}_deep"), verdict.deep);
}

/// Compares the answers of the cold poses of a scene with the triangles.
fn judge_cold(row: &mut Row, cold: &Cold, scene: &Scene, subject: &Subject, log: &Log) {
    for (name, found) in [("pair", &cold.found_by_pair), ("query", &cold.found_by_query)] {
        let mut verdict = Verdict::default();
        for (k, (found, Placed { pose, depth })) in found.iter().zip(&scene.poses).enumerate() {
            if verdict.add(*found, *depth, subject.tolerance, subject.margin) {
                let (found, depth) = (in_mm(*found), 1e3 * depth);
                let place = pose_text(pose);
                log.wrong(&format!("{name} at pose {k}: {found}, triangles {depth:.4} mm deep, A at {place}"));
            }
        }
        put_verdict(row, name, &verdict);
    }
}

/// Measures cold and warm updates of a scene: at all of its poses, and on walks from the first `walks` of them.
fn times(name: &str, scene: &Scene, motions: &[f64], walks: usize, log: &Log) -> Result<Row> {
    let subject = Subject::of(scene.bodies())?;
    log.begin(&format!("{}, cold", scene.name));
    let cold = subject.cold(&scene.steps(usize::MAX), log)?;
    let mut row = cold.row(format!("pair/{name}/{}", scene.name)).with("tolerance_mm", 1e3 * subject.tolerance);
    judge_cold(&mut row, &cold, scene, &subject, log);
    let [a, b] = scene.bodies();
    for motion in motions {
        log.begin(&format!("{}, {motion} mm a step", scene.name));
        let mut random = Random::new(2);
        let mut start = |placed: &Placed| walk(&placed.pose, a.radius(), 1e-3 * motion, &mut random);
        let walks: Vec<Vec<PairStep>> = scene.poses.iter().take(walks).map(&mut start).collect();
        let mut verdict = Verdict::default();
        let times = subject.warm(&walks, log, |pair, step| {
            let depth = a.solid().depth(b.solid(), &step.a.pose, PRECISION);
            let found = deepest(pair);
            if verdict.add(found, depth, subject.tolerance, subject.margin) {
                let (found, depth, place) = (in_mm(found), 1e3 * depth, pose_text(&step.a.pose));
                log.wrong(&format!(
                    "pair after {motion} mm steps: {found}, triangles {depth:.4} mm deep, A at {place}"
                ));
            }
        })?;
        let warm = format!("pair_warm_{motion}mm");
        times.put(&mut row, &warm);
        put_verdict(&mut row, &warm, &verdict);
    }
    Ok(row)
}

/// Measures sharp bodies, and which contacts are missed.
pub fn sharp(scenes: &[Scene], effort: Effort, log: &Log) -> Result<Vec<Row>> {
    let row = |scene| Ok(times("sharp", scene, &MOTIONS, effort.walks, log)?.target(30.0));
    scenes.iter().map(row).collect()
}

/// Measures two scans, if they are there.
pub fn scans(scene: Option<&Scene>, effort: Effort, log: &Log) -> Result<Vec<Row>> {
    let row = |scene| Ok(times("scans", scene, &SCAN_MOTIONS, effort.scan_walks, log)?.target(15.0));
    scene.into_iter().map(row).collect()
}

/// Updates that are timed together, because one takes less time than reading a clock.
const TOGETHER: usize = 1000;

/// Measures updates whose answer is kept: the body moves to and fro by a tenth of the tolerance.
pub fn kept<'a>(scenes: impl Iterator<Item = &'a Scene>, log: &Log) -> Result<Vec<Row>> {
    const POSES: usize = 20;
    let mut rows = Vec::new();
    for scene in scenes {
        log.begin(&scene.name);
        let subject = Subject::of(scene.bodies())?;
        let mut pair = subject.pair()?;
        let (mut workspace, mut random) = (Workspace::new(), Random::new(3));
        let (mut times, mut query, mut searched, mut points) = (Times::default(), Times::default(), 0, 0);
        for placed in scene.poses.iter().take(POSES) {
            let by = 0.1 * subject.tolerance;
            let (along, about) = (random.rotation() * Vec3::x(), random.rotation() * Vec3::x());
            // The ball around the box of a body of 1 m has a radius of at most 0.87 m.
            let turn = UnitQuaternion::from_scaled_axis(about * (0.5 * by / 0.87));
            let translation = placed.pose.translation.vector + along * (0.5 * by);
            let moved = Isometry3::from_parts(translation.into(), turn * placed.pose.rotation);
            let steps = [at_rest(&placed.pose), at_rest(&moved)];
            pair.reset();
            subject.update(&mut pair, &steps[0])?;
            points += pair.points().len();
            let [a, b] = subject.shapes.map(geometry);
            let (a, b) = (a?, b?);
            let owners = Some(subject.shapes.map(Shape::owner));
            let (time, done) = timed(|| -> Result<()> {
                for k in 0..TOGETHER {
                    pair.update([&a, &b], owners, &steps[(k + 1) % 2])?;
                }
                Ok(())
            });
            done?;
            times.push(time / TOGETHER as f64);
            searched += usize::from(pair.origin() != Origin::Recycled);
            query.push(subject.query(&steps[1], &mut workspace)?);
            log.tick();
        }
        let row = Row::new(format!("pair/kept/{}", scene.name), times.median(), "us")
            .target(0.3)
            .peer("query", query.median())
            .with("pair_kept_median_us", times.median())
            .with("pair_kept_p99_us", times.quantile(0.99))
            .with("query_median_us", query.median())
            .with("points_mean", points as f64 / POSES.min(scene.poses.len()) as f64)
            .with("searched", searched);
        rows.push(row);
    }
    Ok(rows)
}

/// Measures wide margins over the default one.
pub fn margin<'a>(scenes: impl Iterator<Item = &'a Scene>, effort: Effort, log: &Log) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for scene in scenes {
        let count = if scene.bodies().iter().any(|body| body.mesh.triangles.len() > 50_000) {
            effort.scan_walks
        } else {
            effort.walks
        };
        let steps = scene.steps(count);
        let shapes = scene.bodies().map(|body| &body.shape);
        let default = Subject::new(shapes, 0.0)?.cold(&steps, log)?;
        for margin in MARGINS {
            log.begin(&format!("{}, {margin} mm", scene.name));
            let wide = Subject::new(shapes, 1e-3 * margin)?.cold(&steps, log)?;
            let ratio = wide.pair.median() / default.pair.median();
            let mut row = Row::new(format!("pair/margin/{}/{margin}mm", scene.name), ratio, "ratio")
                .with("poses", steps.len())
                .with("pair_cold_over_default", ratio)
                .with("query_over_default", wide.query.median() / default.query.median());
            for (name, cold) in [("", &wide), ("default_", &default)] {
                row.put(&format!("{name}pair_cold_median_us"), cold.pair.median());
                row.put(&format!("{name}query_median_us"), cold.query.median());
            }
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Least gap of bodies that are apart, metres.
const LEAST_GAP: f64 = 1e-4;

/// Differences between the answers of one scene.
#[derive(Default)]
struct Compared {
    /// Between the pair and the distance, the pair and the exchanged pair, the distance and the exchanged distance.
    pair_to_distance: Differences,
    pair_exchanged: Differences,
    distance_exchanged: Differences,
    /// Of the deepest point of the pair, of the deepest contact of the query, and of the distance, from the depth of the
    /// triangles.
    pair_to_triangles: Differences,
    query_to_triangles: Differences,
    distance_to_triangles: Differences,
    /// Distances of the points of the pair from the surfaces of their bodies, and differences between the separation of a point
    /// and the signed distance of its place in the other body.
    off_surface: Differences,
    separations: Differences,
}

/// Compares the deepest contacts: pair, stateless distance, both with exchanged bodies, and triangles.
///
/// The first row of a scene is of the poses that touch, the second one of poses with a gap within the margin.
pub fn deepest_contacts(scenes: &[Scene], effort: Effort, log: &Log) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for scene in scenes {
        rows.push(compare(&scene.name, scene, &scene.poses, log)?);
        let subject = Subject::of(scene.bodies())?;
        // The answer of a pair may be farther by a tolerance, and must still be within the margin.
        let gaps = [LEAST_GAP, subject.margin - subject.tolerance];
        let near = scene.apart(gaps, effort.walks, log);
        rows.push(compare(&format!("{}/apart", scene.name), scene, &near, log)?);
    }
    Ok(rows)
}

/// Compares the answers at some poses of a scene.
fn compare(name: &str, scene: &Scene, places: &[Placed], log: &Log) -> Result<Row> {
    log.begin(name);
    let bodies = scene.bodies();
    let subject = Subject::of(bodies)?;
    let exchanged = Subject::of([bodies[1], bodies[0]])?;
    let (mut pair, mut other, mut workspace) = (subject.pair()?, exchanged.pair()?, Workspace::new());
    let (mut compared, mut times) = (Compared::default(), Times::default());
    let still = Pose::identity();
    let t = subject.tolerance;
    for (k, Placed { pose, depth }) in places.iter().enumerate() {
        pair.reset();
        other.reset();
        subject.update(&mut pair, &at_rest(pose))?;
        exchanged.update(&mut other, &PairStep::at_rest(still, *pose))?;
        let [by_pair, by_other] = [&pair, &other].map(deepest);
        subject.query(&at_rest(pose), &mut workspace)?;
        let by_query = workspace.contacts().first().map(|c| c.separation);
        let (time, near) = subject.distance([pose, &still], &mut workspace)?;
        times.push(time);
        let near = near.map(|c| c.separation);
        let far = exchanged.distance([&still, pose], &mut workspace)?.1.map(|c| c.separation);
        let truth = Some(-depth);
        let wrong = [
            (compared.pair_to_distance.between(by_pair, near, t), "pair and distance", by_pair, near),
            (compared.pair_exchanged.between(by_pair, by_other, t), "pair and exchanged pair", by_pair, by_other),
            (compared.distance_exchanged.between(near, far, t), "distance and exchanged distance", near, far),
            (compared.pair_to_triangles.between(by_pair, truth, t), "pair and triangles", by_pair, truth),
            (compared.query_to_triangles.between(by_query, truth, t), "query and triangles", by_query, truth),
            (compared.distance_to_triangles.between(near, truth, t), "distance and triangles", near, truth),
        ];
        for (_, what, p, q) in wrong.into_iter().filter(|wrong| wrong.0) {
            let (p, q, place) = (in_mm(p), in_mm(q), pose_text(pose));
            log.wrong(&format!("{what} at pose {k}: {p} and {q}, A at {place}"));
        }
        check_points(&pair, scene, pose, t, &mut compared);
        log.tick();
    }
    let mut row = Row::new(format!("pair/deepest/{name}"), compared.pair_to_distance.largest, "tolerances")
        .target(1.0)
        .with("poses", places.len())
        .with("distance_median_us", times.median());
    for (name, differences) in [
        ("pair_to_distance", &compared.pair_to_distance),
        ("pair_exchanged", &compared.pair_exchanged),
        ("distance_exchanged", &compared.distance_exchanged),
        ("pair_to_triangles", &compared.pair_to_triangles),
        ("query_to_triangles", &compared.query_to_triangles),
        ("distance_to_triangles", &compared.distance_to_triangles),
        ("points_off_surface", &compared.off_surface),
        ("separations_of_points", &compared.separations),
    ] {
        row.put(&format!("{name}_max_tolerances"), differences.largest);
        row.put(&format!("{name}_beyond"), differences.beyond);
        row.put(&format!("{name}_missing"), differences.missing);
    }
    Ok(row)
}

/// Compares the points of a pair with the surfaces: both are to be on them, and the separation is to be the signed distance of
/// the point of one of the bodies.
fn check_points(pair: &Pair, scene: &Scene, pose: &Pose, tolerance: f64, compared: &mut Compared) {
    let [a, b] = scene.bodies().map(|body| body.solid());
    let to_a = |p: &Vec3| pose.inverse_transform_point(&Point3::from(*p)).coords;
    for point in pair.points() {
        let off = a.distance(&to_a(&point.point_on_a)).max(b.distance(&point.point_on_b));
        compared.off_surface.add(off / tolerance);
        let signed = [b.signed(&point.point_on_a), a.signed(&to_a(&point.point_on_b))];
        let error = signed.map(|signed| (signed - point.separation).abs());
        compared.separations.add(error[0].min(error[1]) / tolerance);
    }
}

/// Measures the first update of a pair over a later cold one: of shapes that were just loaded, and of shapes that were used
/// before. What the shapes need is prepared when the pair is created.
pub fn first<'a>(scenes: impl Iterator<Item = &'a Scene>, log: &Log) -> Result<Vec<Row>> {
    const POSES: usize = 8;
    let mut rows = Vec::new();
    for scene in scenes {
        log.begin(&scene.name);
        let [a, b] = scene.bodies();
        let files = [a.shape.to_bytes()?, b.shape.to_bytes()?];
        let [mut created, mut loaded, mut new, mut later, mut query] = [(); 5].map(|()| Times::default());
        for placed in scene.poses.iter().take(POSES) {
            let shapes = [Shape::from_bytes(&files[0])?, Shape::from_bytes(&files[1])?];
            let (time, prepared) = timed(|| -> Result<[Geometry; 2]> {
                shapes.iter().for_each(Shape::prepare_extremes);
                Ok([geometry(&shapes[0])?, geometry(&shapes[1])?])
            });
            created.push(time);
            let [a, b] = prepared?;
            let owners = Some([shapes[0].owner(), shapes[1].owner()]);
            let step = at_rest(&placed.pose);
            let update = || {
                let mut pair = Pair::new(PairOptions::default())?;
                let (time, done) = timed(|| pair.update([&a, &b], owners, &step).map(|_| ()));
                done.map(|()| time)
            };
            loaded.push(update()?);
            new.push(update()?);
            let cold = Subject::new([&shapes[0], &shapes[1]], 0.0)?.cold(&[step], log)?;
            later.push(cold.pair.median());
            query.push(cold.query.median());
        }
        let ratio = loaded.median() / later.median();
        let mut row = Row::new(format!("pair/first/{}", scene.name), ratio, "ratio")
            .with("poses", POSES.min(scene.poses.len()))
            .with("loaded_over_cold", ratio)
            .with("new_over_cold", new.median() / later.median());
        for (name, times) in
            [("created", created), ("pair_loaded", loaded), ("pair_new", new), ("pair_cold", later), ("query", query)]
        {
            row.put(&format!("{name}_median_us"), times.median());
        }
        rows.push(row);
    }
    Ok(rows)
}
