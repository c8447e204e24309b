//! Contacts at the edges of meshes beside those of samples: how many penetrations each query misses, and its time; and a pair
//! from step to step.

use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use voxshell::asset::Shape;
use voxshell::contact::{
    contacts, Coverage, Geometry, Pair, PairOptions, PairStep, Query, Roles, Workspace, FEATURE_OF_EDGE,
};
use voxshell::math::{Pose, Vec3};
use voxshell::Result;

use super::random::Random;
use voxshell_lab::clock::of_thread;
use voxshell_lab::row::Row;

const POSES: usize = 300;
/// Depths of the poses, metres.
const DEPTHS: [f64; 2] = [1e-4, 9.5e-3];
/// Each pose is timed so often, and the shortest time counts.
const REPEATS: usize = 5;

/// Returns the depth of the deepest edge of either body inside the other, metres.
fn depth(a: Geometry, b: Geometry, pose: &Pose, workspace: &mut Workspace) -> Result<f64> {
    let found = contacts(a, pose, b, &Pose::identity(), &Query::default(), workspace)?;
    Ok(found.iter().find(|c| c.feature & FEATURE_OF_EDGE != 0).map_or(0.0, |c| -c.separation))
}

/// Returns random poses of `a` with a depth in the range, and the depths.
fn poses(a: Geometry, b: Geometry) -> Result<Vec<(Pose, f64)>> {
    let (mut random, mut workspace) = (Random::new(1), Workspace::new());
    let mut poses = Vec::new();
    while poses.len() < POSES {
        let (rotation, direction) = (random.rotation(), random.rotation() * Vec3::x());
        let goal = DEPTHS[0] + 0.95 * (DEPTHS[1] - DEPTHS[0]) * random.next().powi(2);
        let at = |along: f64| Isometry3::from_parts(Translation3::from(direction * along), rotation);
        let (mut near, mut far) = (0.0, 2.0);
        for _ in 0..40 {
            let middle = 0.5 * (near + far);
            let deep = depth(a, b, &at(middle), &mut workspace)? > goal;
            (near, far) = if deep { (middle, far) } else { (near, middle) };
        }
        let found = depth(a, b, &at(near), &mut workspace)?;
        if (DEPTHS[0]..=DEPTHS[1]).contains(&found) {
            poses.push((at(near), found));
        }
    }
    Ok(poses)
}

/// Measures two bodies of about 1 m.
pub fn rows(a: &Shape, b: &Shape) -> Result<Vec<Row>> {
    let with_edges = [a.geometry_for(Coverage::Edges)?, b.geometry_for(Coverage::Edges)?];
    if with_edges.iter().any(|geometry| geometry.surface.is_none()) {
        return Err(voxshell::Error::Unsupported(
            "the edges of an open mesh are not tested; expected closed meshes".into(),
        ));
    }
    let samples = [a.geometry(), b.geometry()];
    let poses = poses(with_edges[0], with_edges[1])?;
    let mut rows = Vec::new();
    for (query_name, [a, b], roles) in
        [("automatic", samples, Roles::Auto), ("both", samples, Roles::Both), ("edges", with_edges, Roles::Auto)]
    {
        let query = Query { roles, ..Query::default() };
        let mut workspace = Workspace::new();
        let (mut missed, mut deepest_missed, mut times) = (0, 0.0f64, Vec::new());
        for (pose, depth) in &poses {
            let mut least = f64::INFINITY;
            let mut count = 0;
            for _ in 0..REPEATS {
                let (seconds, found) =
                    of_thread(|| contacts(a, pose, b, &Pose::identity(), &query, &mut workspace).map(<[_]>::len));
                (least, count) = (least.min(seconds), found?);
            }
            times.push(1e6 * least);
            if count == 0 {
                missed += 1;
                deepest_missed = deepest_missed.max(*depth);
            }
        }
        times.sort_unstable_by(f64::total_cmp);
        let row = |what: &str, value: f64, unit: &str| Row::new(format!("edges/{query_name}/{what}"), value, unit);
        rows.push(row("median", times[POSES / 2], "us"));
        rows.push(row("p90", times[POSES * 9 / 10], "us"));
        rows.push(row("missed", f64::from(missed), "poses").with("poses", POSES));
        rows.push(row("deepest missed", 1e3 * deepest_missed, "mm"));
    }
    rows.extend(of_pairs(a, b, &poses)?);
    Ok(rows)
}

/// Largest motion of a point in a step of a pair, mm.
const MOTIONS: [f64; 4] = [0.01, 0.1, 0.5, 2.0];
/// Steps of a pair from each pose.
const STEPS: usize = 12;

/// Measures a pair of two bodies of about 1 m from each pose on: the first update, and those that follow while every point moves
/// by at most so much in each step, half of it by a turn.
fn of_pairs(a: &Shape, b: &Shape, poses: &[(Pose, f64)]) -> Result<Vec<Row>> {
    let geometries = [&a.geometry_for(Coverage::Edges)?, &b.geometry_for(Coverage::Edges)?];
    let owners = Some([a.owner(), b.owner()]);
    let mut random = Random::new(2);
    let (mut cold, mut missed) = (Vec::new(), 0);
    let mut warm = MOTIONS.map(|_| Vec::new());
    let mut pair = Pair::new(PairOptions::default())?;
    let update = |pair: &mut Pair, pose: &Pose| -> Result<f64> {
        let step = PairStep::at_rest(*pose, Pose::identity());
        let (seconds, found) = of_thread(|| pair.update(geometries, owners, &step).map(<[_]>::len));
        found.map(|_| 1e6 * seconds)
    };
    for (pose, _) in poses {
        let mut least = f64::INFINITY;
        for _ in 0..REPEATS {
            pair.reset();
            least = least.min(update(&mut pair, pose)?);
        }
        cold.push(least);
        missed += i32::from(pair.points().iter().all(|point| point.separation > 0.0));
        for (motion, times) in MOTIONS.iter().zip(&mut warm) {
            let (along, about) = (random.rotation() * Vec3::x(), random.rotation() * Vec3::x());
            // Points are at most 0.87 m from the middle of a body of 1 m.
            let (along, about) = (along * (0.5e-3 * motion), about * (0.5e-3 * motion / 0.87));
            let turn = UnitQuaternion::from_scaled_axis(about);
            let mut pose = *pose;
            pair.reset();
            update(&mut pair, &pose)?;
            for step in 0..STEPS {
                pose = Isometry3::from_parts((pose.translation.vector + along).into(), turn * pose.rotation);
                let time = update(&mut pair, &pose)?;
                if step > 1 {
                    times.push(time);
                }
            }
        }
    }
    let mut rows = Vec::new();
    let mut add = |what: &str, mut times: Vec<f64>| {
        times.sort_unstable_by(f64::total_cmp);
        for (name, part) in [("median", 0.5), ("p90", 0.9), ("p99", 0.99)] {
            let time = times[((times.len() as f64 * part) as usize).min(times.len() - 1)];
            rows.push(Row::new(format!("edges/pair/{what}/{name}"), time, "us"));
        }
    };
    add("first", cold);
    for (motion, times) in MOTIONS.iter().zip(warm) {
        add(&format!("{motion} mm a step"), times);
    }
    rows.push(Row::new("edges/pair/missed", f64::from(missed), "poses").with("poses", POSES));
    Ok(rows)
}
