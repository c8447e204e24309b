//! Conversions between parry's numbers (f32) and Voxshell's (f64).

use parry3d::math::{Pose, Real, Rotation, Vector};
use voxshell::math::{Pose as Pose64, Rotation as Rotation64, Vec3};

pub(crate) fn vec3(v: Vector) -> Vec3 {
    Vec3::new(v.x.into(), v.y.into(), v.z.into())
}

pub(crate) fn vector(v: &Vec3) -> Vector {
    Vector::new(v.x as Real, v.y as Real, v.z as Real)
}

fn rotation64(q: &Rotation) -> Rotation64 {
    let [x, y, z, w] = q.to_array().map(f64::from);
    // Normalised again, because a unit quaternion of f32 is a unit only to 1e-7.
    Rotation64::new_normalize(nalgebra::Quaternion::new(w, x, y, z))
}

pub(crate) fn pose64(pose: &Pose) -> Pose64 {
    Pose64::from_parts(vec3(pose.translation).into(), rotation64(&pose.rotation))
}

pub(crate) fn points64(points: &[Vector]) -> Vec<[f64; 3]> {
    points.iter().map(|p| vec3(*p).into()).collect()
}

pub(crate) fn transform(pose: &Pose64, point: &Vec3) -> Vec3 {
    pose.transform_point(&(*point).into()).coords
}

pub(crate) fn inverse_transform(pose: &Pose64, point: &Vec3) -> Vec3 {
    pose.inverse_transform_point(&(*point).into()).coords
}

pub(crate) fn is_finite(v: &Vec3) -> bool {
    v.iter().all(|x| x.is_finite())
}
