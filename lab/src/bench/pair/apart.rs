//! Rows of distances at any gap, and of thin plates that cross.

use nalgebra::{Isometry3, Point3};
use voxshell::asset::{Forms, Shape};
use voxshell::contact::Workspace;
use voxshell::cook::CookOptions;
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::Result;

use super::super::random::Random;
use super::bodies::{self, Body, THIN};
use super::log::Log;
use super::scene::farthest;
use super::subject::{at_rest, deepest, pose_text, Subject, Times};
use super::verdict::in_mm;
use super::Effort;
use voxshell_lab::row::Row;

/// Gaps, metres, and their names.
const GAPS: [(f64, &str); 6] =
    [(1e-4, "0.1mm"), (1e-3, "1mm"), (1e-2, "10mm"), (0.1, "100mm"), (1.0, "1m"), (5.0, "5m")];
/// Allowed error, as a fraction of the gap, where that is more than a tolerance.
const RELATIVE: f64 = 1e-3;
/// Distance from the centre of one body to the other at which they are apart at any orientation, metres.
const APART: f64 = 2.0;
/// Precision of the gap of a pose, as a fraction of it.
const PRECISION: f64 = 0.05;
/// Number of runs of each distance; the shortest time counts.
const REPEATS: usize = 3;

/// Figures of the distances at one gap.
#[derive(Default)]
struct Gap {
    times: Times,
    /// Errors over the allowed one.
    error: f64,
    exchanged: f64,
    /// Distance of the returned points from the surfaces, in tolerances.
    off_surface: f64,
    beyond: usize,
    poses: usize,
}

/// Compares the stateless distance with that of all pairs of triangles.
pub fn distances(effort: Effort, log: &Log) -> Result<Vec<Row>> {
    let options = bodies::options(effort.cells);
    let mut gaps = GAPS.map(|_| Gap::default());
    for (name, [a, b]) in bodies::coarse(8)? {
        let bodies = [Body::cook(name, a, &options, log)?, Body::cook(name, b, &options, log)?];
        log.begin(name);
        for ((goal, _), gap) in GAPS.iter().zip(&mut gaps) {
            at_gap(name, [&bodies[0], &bodies[1]], *goal, effort.gaps, gap, log)?;
        }
    }
    let row = |((_, name), gap): (&(f64, &str), Gap)| {
        Row::new(format!("pair/distance/{name}"), gap.error, "allowed errors")
            .target(1.0)
            .with("poses", gap.poses)
            .with("error_max_over_allowed", gap.error)
            .with("exchanged_max_over_allowed", gap.exchanged)
            .with("points_off_surface_max_tolerances", gap.off_surface)
            .with("beyond", gap.beyond)
            .with("distance_median_us", gap.times.median())
            .with("distance_p99_us", gap.times.quantile(0.99))
    };
    Ok(GAPS.iter().zip(gaps).map(row).collect())
}

/// Measures the distance of two bodies at random poses with about this gap, metres.
fn at_gap(name: &str, [a, b]: [&Body; 2], goal: f64, poses: usize, gap: &mut Gap, log: &Log) -> Result<()> {
    let (subject, exchanged) = (Subject::of([a, b])?, Subject::of([b, a])?);
    let (mut random, mut workspace) = (Random::new(9), Workspace::new());
    let still = Pose::identity();
    for k in 0..poses {
        let (rotation, direction) = (random.rotation(), random.rotation() * Vec3::x());
        let at = |along: f64| Isometry3::from_parts((direction * along).into(), rotation);
        let is_near = |along: f64| a.solid().is_deeper(b.solid(), &at(along), -goal);
        // The near end is a little nearer than the gap, so that no pose is without one.
        let pose = at(farthest([0.0, APART + goal], PRECISION * goal, is_near));
        let truth = a.solid().distance_of_all(b.solid(), &pose);
        let mut least = f64::INFINITY;
        let mut found = None;
        for _ in 0..REPEATS {
            let (time, contact) = subject.distance([&pose, &still], &mut workspace)?;
            (least, found) = (least.min(time), contact);
        }
        let other = exchanged.distance([&still, &pose], &mut workspace)?.1;
        gap.times.push(least);
        gap.poses += 1;
        let allowed = subject.tolerance.max(RELATIVE * truth);
        let separation = found.map(|c| c.separation);
        let error = separation.map_or(f64::INFINITY, |s| (s - truth).abs() / allowed);
        let difference = match (separation, other.map(|c| c.separation)) {
            (Some(p), Some(q)) => (p - q).abs() / allowed,
            _ => f64::INFINITY,
        };
        let off = found.map_or(0.0, |c| {
            let on_a = pose.inverse_transform_point(&Point3::from(c.point_on_a)).coords;
            a.solid().distance(&on_a).max(b.solid().distance(&c.point_on_b)) / subject.tolerance
        });
        gap.error = gap.error.max(error);
        gap.exchanged = gap.exchanged.max(difference);
        gap.off_surface = gap.off_surface.max(off);
        // False for NaN.
        let is_right = error <= 1.0 && difference <= 1.0 && off <= 1.0;
        if !is_right {
            gap.beyond += 1;
            let (found, place) = (in_mm(separation), pose_text(&pose));
            log.wrong(&format!("{name}, pose {k}: {found}, triangles {:.4} mm apart, A at {place}", 1e3 * truth));
        }
        log.tick();
    }
    Ok(())
}

/// Measures plates of a 2,000th of their extent that cross at random. The default cooking refuses a body that is thinner than
/// a voxel; then that is the row, and another one has the exact field of the triangles.
pub fn thin(effort: Effort, log: &Log) -> Result<Vec<Row>> {
    let mesh = bodies::thin_plate()?;
    let mut rows = Vec::new();
    match Body::cook("plate", mesh.clone(), &bodies::options(effort.cells), log) {
        Ok(plate) => rows.push(crossing("pair/thin/default", &plate, effort, log)?),
        Err(error) => {
            log.wrong(&format!("the default cooking refuses the plate: {error}"));
            rows.push(Row::from(serde_json::json!({ "row": "pair/thin/default", "refused": error.to_string() })));
        }
    }
    let options = CookOptions { forms: Forms { field: false, shell: true }, ..bodies::options(effort.cells) };
    let shell = Shape::cook(&mesh, &options, &Progress::none())?.shell;
    let shape = Shape { shell, ..Shape::from_triangles(mesh.clone())? };
    rows.push(crossing("pair/thin/field-of-triangles", &Body::of_shape("plate", mesh, shape), effort, log)?);
    Ok(rows)
}

/// Measures a plate that crosses a copy of itself.
fn crossing(name: &str, plate: &Body, effort: Effort, log: &Log) -> Result<Row> {
    const SPREAD: f64 = 0.3;
    let subject = Subject::of([plate, plate])?;
    let solid = plate.solid();
    let mut random = Random::new(10);
    let mut poses = Vec::new();
    while poses.len() < effort.plates {
        let rotation = random.rotation();
        let place = Vec3::from_fn(|_, _| SPREAD * (2.0 * random.next() - 1.0));
        let pose = Isometry3::from_parts(place.into(), rotation);
        if solid.is_deeper(solid, &pose, 0.1 * THIN) {
            poses.push(pose);
        }
        log.tick();
    }
    log.begin("crossing");
    let steps: Vec<_> = poses.iter().map(at_rest).collect();
    let cold = subject.cold(&steps, log)?;
    let (mut pair, mut workspace) = (subject.pair()?, Workspace::new());
    let (mut missed, mut too_deep) = ([0; 3], [0; 3]);
    let mut deepest_of = [0.0f64; 3];
    let most = THIN + subject.tolerance;
    for (k, (pose, step)) in poses.iter().zip(&steps).enumerate() {
        pair.reset();
        subject.update(&mut pair, step)?;
        let near = subject.distance([pose, &Pose::identity()], &mut workspace)?.1.map(|c| c.separation);
        let found = [deepest(&pair), cold.found_by_query[k], near];
        for (i, who) in ["pair", "query", "distance"].into_iter().enumerate() {
            let is_missed = found[i].is_none_or(|separation| separation > 0.0);
            let depth = found[i].map_or(0.0, |separation| -separation);
            missed[i] += usize::from(is_missed);
            too_deep[i] += usize::from(depth > most);
            deepest_of[i] = deepest_of[i].max(depth / most);
            if is_missed || depth > most {
                let (found, place) = (in_mm(found[i]), pose_text(pose));
                log.wrong(&format!("{who} at pose {k}: {found}, plates cross, A at {place}"));
            }
        }
    }
    let mut row = cold.row(name.into());
    for (i, who) in ["pair", "query", "distance"].into_iter().enumerate() {
        row.put(&format!("{who}_missed"), missed[i]);
        row.put(&format!("{who}_too_deep"), too_deep[i]);
        row.put(&format!("{who}_deepest_over_thickness_and_tolerance"), deepest_of[i]);
    }
    Ok(row)
}
