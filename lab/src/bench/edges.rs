//! Contacts at the edges of meshes beside those of samples: how many penetrations each query misses, and its time.

use nalgebra::{Isometry3, Translation3};
use voxshell::asset::Shape;
use voxshell::contact::{contacts, Coverage, Geometry, Query, Roles, Workspace, FEATURE_OF_EDGE};
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
    Ok(rows)
}
