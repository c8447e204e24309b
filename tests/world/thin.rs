//! Plates down to a 2,000th of their extent, through each other, in each other and in a block: they are found, and two
//! plates are no deeper in each other than the thicker one is thick.

use std::f64::consts::TAU;

use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use support::rng::Rng;
use voxshell::math::{Pose, Vec3};
use voxshell::mesh::primitives;

use super::bodies::Body;
use super::invariants::{pair, update, Broken};
use super::oracle::Triangles;
use super::random_pose;

/// A plate of 1 m in its xy plane.
struct Plate {
    body: Body,
    half: Vec3,
    /// Of the body's mesh. A plate that is turned has nodes of its grid inside, one along the axes has none.
    turn: UnitQuaternion<f64>,
}

impl Plate {
    fn new(thickness: f64, turn: UnitQuaternion<f64>) -> Self {
        let half = Vec3::new(0.5, 0.4, 0.5 * thickness);
        let pose = Isometry3::from_parts(Translation3::identity(), turn);
        let mesh = primitives::cuboid(half.into()).unwrap().transformed(&pose, 1.0);
        Self { body: Body::new("plate", mesh), half, turn }
    }

    /// Returns the pose of the body for a pose of the plate.
    fn pose(&self, pose: &Pose) -> Pose {
        pose * self.turn.inverse()
    }

    fn any_point(&self, rng: &mut Rng) -> Vec3 {
        self.half.component_mul(&Vec3::new(rng.unit(), rng.unit(), rng.unit())) * 0.9
    }
}

/// Returns a pose of a plate in another one, or through it.
fn any_pose(one: &Plate, two: &Plate, rng: &mut Rng) -> Pose {
    let rotation = match rng.next() % 4 {
        0 => UnitQuaternion::identity(),
        1 => UnitQuaternion::from_scaled_axis(rng.vector() * 0.1f64.powf(1.0 + 4.0 * rng.fraction())),
        2 => UnitQuaternion::from_axis_angle(&Vec3::z_axis(), TAU * rng.fraction()),
        _ => rng.rotation(),
    };
    let place = two.any_point(rng) - rotation * one.any_point(rng);
    Isometry3::from_parts(place.into(), rotation)
}

/// Returns whether a corner of the first body is in the second.
fn is_in(body: &Body, pose: &Pose, other: &Triangles) -> bool {
    body.mesh.vertices.iter().any(|corner| other.contains(&(pose * nalgebra::Point3::from(*corner)).coords))
}

#[test]
fn thin_plates_in_each_other_are_found_and_not_too_deep() {
    let turn = UnitQuaternion::from_euler_angles(0.06, 0.05, 0.0);
    let plates = [Plate::new(1e-3, turn), Plate::new(0.01, turn), Plate::new(5e-4, UnitQuaternion::identity())];
    let block = Body::new("block", primitives::cuboid([0.6, 0.6, 0.2]).unwrap());
    let (mut broken, mut touching) = (Broken::default(), 0);
    for seed in 0..10 * super::seeds(20) {
        let mut rng = Rng(seed);
        let of = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (2, 1), (0, 2)][(rng.next() % 7) as usize];
        let (one, two) = (&plates[of.0], &plates[of.1]);
        let pose = any_pose(one, two, &mut rng);
        let together = random_pose(&mut rng, 3.0);
        let in_block = rng.next() % 4 == 0;
        let poses = [one.pose(&(together * pose)), if in_block { together } else { two.pose(&together) }];
        let bodies = [&one.body, if in_block { &block } else { &two.body }];
        let [p, q] = [0, 1].map(|i| Triangles::new(&bodies[i].mesh, &poses[i]));
        let touches = p.distance(&q) == 0.0 || is_in(bodies[0], &poses[0], &q) || is_in(bodies[1], &poses[1], &p);
        touching += usize::from(touches);
        let (t, thick) = (1.0 / 2000.0, 2.0 * one.half.z.max(two.half.z));
        for order in [[0, 1], [1, 0]] {
            let mut pair = pair(0.0);
            update(&mut pair, order.map(|i| bodies[i]), &order.map(|i| poses[i]));
            let depth = pair.points().iter().map(|point| -point.separation).fold(f64::NEG_INFINITY, f64::max);
            let what = || {
                format!(
                    "seed {seed}, plates {of:?}, in a block: {in_block}, {order:?}: {:.2} t of {:.2} t",
                    depth / t,
                    thick / t
                )
            };
            broken.unless(!touches || depth > -t, || format!("missed: {}", what()));
            broken.unless(in_block || depth <= thick + t, || format!("too deep: {}", what()));
        }
    }
    broken.none(400);
    assert!(touching >= 75, "{touching} poses touch");
}
