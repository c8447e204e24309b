//! Two shapes in motion: their first contact.

use parry3d::math::{Pose, Real, Vector};
use parry3d::query::{NonlinearRigidMotion, ShapeCastHit, ShapeCastOptions, ShapeCastStatus, Unsupported};
use voxshell::ccd::impact::{default_tolerance, time_of_impact, Moving, Path, Query};
use voxshell::ccd::shell::Workspace;
use voxshell::contact::{Coverage, Roles};
use voxshell::field::Field;
use voxshell::math::{Pose as Pose64, Vec3};

use crate::body::{Body, Part};
use crate::convert::{inverse_transform, pose64, transform, vec3, vector};
use crate::pair::{self, Found, PartPair};

/// A motion that turns is followed by screws that turn by at most this angle each, radians.
const TURN: f64 = 0.2;
/// Largest distance of a screw from the motion that it stands for, as a fraction of the size of the bodies.
const DEVIATION: f64 = 1e-4;
/// Largest number of screws of one query.
const MOST_SCREWS: f64 = 1024.0;

/// Poses of both shapes at both ends of a motion, in a common frame.
struct Ends {
    a: [Pose64; 2],
    b: [Pose64; 2],
}

/// Returns the first contact of a motion up to a distance `target`, and its time as a fraction of the motion.
fn first(
    a: &Body,
    b: &Body,
    ends: &Ends,
    target: f64,
    workspace: &mut Workspace,
) -> Result<Option<(f64, Found)>, Unsupported> {
    let mut best: Option<(f64, Found)> = None;
    // The poses of the pairs are not used, only their parts.
    let anywhere = Pose64::identity();
    for pair in PartPair::each(a, b, &anywhere) {
        let moving = |part: &Part, poses: &[Pose64; 2]| (poses[0] * part.pose, poses[1] * part.pose);
        let (of_a, of_b) = (pair.a.geometry(Coverage::Edges), pair.b.geometry(Coverage::Edges));
        let ((from_a, to_a), (from_b, to_b)) = (moving(pair.a, &ends.a), moving(pair.b, &ends.b));
        // Without triangles the samples of both parts are needed, as for contacts of an edge with a face.
        let has_both = [pair.a, pair.b].iter().all(|part| part.field.is_some() && part.shell.is_some());
        let roles = if has_both { Roles::Both } else { Roles::Auto };
        let query = Query {
            roles,
            path: Path::Screw { tolerance: default_tolerance(&of_a, &of_b) },
            max_separation: target + pair.margin(),
            until: best.map_or(1.0, |(time, _)| time),
            ..Query::default()
        };
        let moving_a = Moving { geometry: of_a, from: from_a, to: to_a };
        let moving_b = Moving { geometry: of_b, from: from_b, to: to_b };
        let hit = time_of_impact(&moving_a, &moving_b, &query, workspace).map_err(|_| Unsupported)?;
        if let Some(hit) = hit.filter(|hit| best.is_none_or(|(time, _)| hit.toi < time)) {
            best = Some((hit.toi, pair.found(&hit)));
        }
    }
    Ok(best)
}

/// Returns a hit from a contact in a common frame, and the poses of both shapes at its time.
fn hit(time: f64, found: &Found, is_at_start: bool, pose1: &Pose64, pose2: &Pose64) -> ShapeCastHit {
    let turn = |pose: &Pose64, v: &Vec3| vector(&pose.rotation.inverse_transform_vector(v));
    ShapeCastHit {
        time_of_impact: time as Real,
        witness1: vector(&inverse_transform(pose1, &found.point1)),
        witness2: vector(&inverse_transform(pose2, &found.point2)),
        normal1: turn(pose1, &found.normal),
        normal2: turn(pose2, &-found.normal),
        status: if is_at_start { ShapeCastStatus::PenetratingOrWithinTargetDist } else { ShapeCastStatus::Converged },
        subshape1: found.subshapes[0],
        subshape2: found.subshapes[1],
    }
}

/// Returns the time after which two shapes that move apart straight cannot meet any more: that at which the balls around
/// them have passed each other, or the ball has passed the plane.
fn last_meeting(a: &Body, b: &Body, pose12: &Pose64, velocity: &Vec3, target: f64) -> f64 {
    let speed = velocity.norm();
    let mut last = 0.0f64;
    for pair in PartPair::each(a, b, pose12) {
        let plane_of = |part: &Part, pose: &Pose64| match part.field.as_deref() {
            Some(Field::HalfSpace(plane)) => Some((pose.rotation * plane.normal(), pose.translation.vector)),
            _ => None,
        };
        let (center_a, radius_a) = pair.a.ball();
        let (center_b, radius_b) = pair.b.ball();
        let center_b = transform(pose12, &center_b);
        let until = if let Some((normal, point)) = plane_of(pair.a, &pair.pose_a) {
            (normal.dot(&(center_b - point)) + radius_b + target) / -normal.dot(velocity)
        } else if let Some((normal, point)) = plane_of(pair.b, &pair.pose_b) {
            (normal.dot(&(center_a - point)) + radius_a + target) / normal.dot(velocity)
        } else {
            ((center_b - center_a).norm() + radius_a + radius_b + target) / speed
        };
        if until.is_finite() {
            last = last.max(until);
        }
    }
    last
}

/// Finds the first contact of two shapes of which the second moves straight, at `velocity` in the frame of the first.
pub(crate) fn cast(
    a: &Body,
    b: &Body,
    pose12: &Pose,
    velocity: Vector,
    options: &ShapeCastOptions,
    workspace: &mut Workspace,
) -> Result<Option<ShapeCastHit>, Unsupported> {
    let (from, velocity) = (pose64(pose12), vec3(velocity));
    let target = f64::from(options.target_distance);
    pair::check(a, b, &from)?;
    let most = options.max_time_of_impact;
    if !velocity.norm().is_finite() || !target.is_finite() || most.is_nan() || most < 0.0 {
        return Err(Unsupported);
    }
    let duration = f64::from(most).min(last_meeting(a, b, &from, &velocity, target));
    let at = |time: f64| Pose64::from_parts((from.translation.vector + velocity * time).into(), from.rotation);
    let identity = Pose64::identity();
    let ends = Ends { a: [identity; 2], b: [from, at(duration)] };
    let Some((fraction, found)) = first(a, b, &ends, target, workspace)? else { return Ok(None) };
    let is_at_start = fraction == 0.0;
    // Bodies that already touch and come apart do not meet.
    if is_at_start && !options.stop_at_penetration && found.normal.dot(&velocity) >= 0.0 {
        return Ok(None);
    }
    let time = fraction * duration;
    Ok(Some(hit(time, &found, is_at_start, &identity, &at(time))))
}

/// Returns the radius of a ball around a point of the shape's frame that holds the bounded parts of a body.
fn reach(body: &Body, center: Vector) -> f64 {
    let bounded = body.parts.iter().filter(|part| part.is_bounded()).map(|part| {
        let (middle, radius) = part.ball();
        (middle - vec3(center)).norm() + radius
    });
    bounded.fold(0.0, f64::max)
}

/// Returns the number of screws that stand for a motion of `duration`.
fn screws(motion: &NonlinearRigidMotion, reach: f64, duration: f64) -> f64 {
    let turn = vec3(motion.angvel).norm() * duration;
    let way = vec3(motion.linvel).norm() * duration;
    if turn == 0.0 {
        return 1.0;
    }
    // The centre moves straight in the motion and on an arc in the screw: they are way · turn / 8 apart. Each of n parts has
    // an n-th of both.
    let allowed = (DEVIATION * reach).max(f64::MIN_POSITIVE);
    (turn / TURN).max((way * turn / (8.0 * allowed)).sqrt()).ceil().clamp(1.0, MOST_SCREWS)
}

fn velocity_at(motion: &NonlinearRigidMotion, pose: &Pose64, point: &Vec3) -> Vec3 {
    let center = transform(pose, &vec3(motion.local_center));
    vec3(motion.linvel) + vec3(motion.angvel).cross(&(point - center))
}

/// Finds the first contact of two shapes that move and turn.
pub(crate) fn cast_nonlinear(
    (motion1, a): (&NonlinearRigidMotion, &Body),
    (motion2, b): (&NonlinearRigidMotion, &Body),
    [start, end]: [Real; 2],
    stop_at_penetration: bool,
    workspace: &mut Workspace,
) -> Result<Option<ShapeCastHit>, Unsupported> {
    let duration = f64::from(end) - f64::from(start);
    if !(duration >= 0.0 && duration.is_finite()) {
        return Err(Unsupported);
    }
    let (reach1, reach2) = (reach(a, motion1.local_center), reach(b, motion2.local_center));
    let count = screws(motion1, reach1, duration).max(screws(motion2, reach2, duration)) as usize;
    let time = |i: usize| f64::from(start) + duration * (i as f64 / count as f64);
    let poses = |time: f64| [motion1, motion2].map(|motion| position(motion, time));
    let [mut from1, mut from2] = poses(time(0));
    pair::check(a, b, &from1.inv_mul(&from2))?;
    for i in 0..count {
        let [to1, to2] = poses(time(i + 1));
        let ends = Ends { a: [from1, to1], b: [from2, to2] };
        if let Some((fraction, found)) = first(a, b, &ends, 0.0, workspace)? {
            let at = time(i) + fraction * (time(i + 1) - time(i));
            let [pose1, pose2] = poses(at);
            let is_at_start = i == 0 && fraction == 0.0;
            let approach = velocity_at(motion2, &pose2, &found.point2) - velocity_at(motion1, &pose1, &found.point1);
            if is_at_start && !stop_at_penetration && found.normal.dot(&approach) >= 0.0 {
                return Ok(None);
            }
            return Ok(Some(hit(at, &found, is_at_start, &pose1, &pose2)));
        }
        (from1, from2) = (to1, to2);
    }
    Ok(None)
}

/// Returns the pose of a motion at a time, as `NonlinearRigidMotion::position_at_time` does in f32.
fn position(motion: &NonlinearRigidMotion, time: f64) -> Pose64 {
    let start = pose64(&motion.start);
    let center = transform(&start, &vec3(motion.local_center));
    let turn = voxshell::math::Rotation::from_scaled_axis(vec3(motion.angvel) * time);
    let moved = center + vec3(motion.linvel) * time;
    Pose64::from_parts((moved + turn * (start.translation.vector - center)).into(), turn * start.rotation)
}
