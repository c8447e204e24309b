//! Two bodies and the poses at which they touch, the same in every run.

use nalgebra::{Isometry3, Translation3};
use voxshell::contact::PairStep;
use voxshell::math::{Pose, Vec3};

use super::super::random::Random;
use super::bodies::Body;
use super::log::Log;
use super::subject::at_rest;

/// Smallest and largest depth of the poses, metres.
const DEPTHS: [f64; 2] = [1e-3, 5e-3];
/// Distance at which two bodies of 1 m are apart at any orientation, metres.
const APART: f64 = 2.0;
/// Number of tries for each pose: in some directions a body passes through the hole of the other one.
const TRIES: usize = 10;
/// Precision of the place at which a depth is as wanted, and of a depth, metres.
const PLACE: f64 = 1e-4;
pub const PRECISION: f64 = 1e-5;

/// A pose of A relative to B, and the depth of the triangles in each other, metres.
pub struct Placed {
    pub pose: Pose,
    pub depth: f64,
}

/// Two bodies of 1 m and poses of the first. B is at the origin.
pub struct Scene {
    pub name: String,
    pub bodies: [Body; 2],
    pub poses: Vec<Placed>,
}

impl Scene {
    /// Returns a scene with random poses at a depth of 1 to 5 mm.
    pub fn touching(name: &str, bodies: [Body; 2], count: usize, log: &Log) -> Self {
        log.begin(&format!("poses of {name}"));
        let poses = places([&bodies[0], &bodies[1]], DEPTHS, count, log);
        Self { name: name.into(), bodies, poses }
    }

    /// Returns random poses at which the bodies are apart by a gap between two lengths, metres.
    pub fn apart(&self, [least, most]: [f64; 2], count: usize, log: &Log) -> Vec<Placed> {
        log.begin(&format!("poses of {}, apart", self.name));
        places(self.bodies(), [-most, -least], count, log)
    }

    /// Returns both bodies.
    pub fn bodies(&self) -> [&Body; 2] {
        [&self.bodies[0], &self.bodies[1]]
    }

    /// Returns a step of no time for each of the first poses.
    pub fn steps(&self, count: usize) -> Vec<PairStep> {
        self.poses.iter().take(count).map(|placed| at_rest(&placed.pose)).collect()
    }
}

/// Returns random poses of the first of two bodies at a depth between two lengths, metres.
fn places([a, b]: [&Body; 2], [least, most]: [f64; 2], count: usize, log: &Log) -> Vec<Placed> {
    let mut random = Random::new(1);
    let (a, b) = (a.solid(), b.solid());
    let mut poses = Vec::new();
    for _ in 0..TRIES * count {
        if poses.len() == count {
            break;
        }
        log.tick();
        let (rotation, direction) = (random.rotation(), random.rotation() * Vec3::x());
        let goal = least + (most - least) * random.next();
        let at = |along: f64| Isometry3::from_parts(Translation3::from(direction * along), rotation);
        let pose = at(farthest([0.0, APART], PLACE, |along| a.is_deeper(b, &at(along), goal)));
        let depth = a.depth(b, &pose, PRECISION);
        if (least..=most).contains(&depth) {
            poses.push(Placed { pose, depth });
        }
    }
    poses
}

/// Returns a number up to which `is_near` is true and beyond which it is not, by bisection to a precision.
pub fn farthest([mut near, mut far]: [f64; 2], precision: f64, is_near: impl Fn(f64) -> bool) -> f64 {
    while far - near > precision {
        let middle = 0.5 * (near + far);
        (near, far) = if is_near(middle) { (middle, far) } else { (near, middle) };
    }
    near
}
