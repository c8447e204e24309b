//! The god-object with the triangles of both bodies: a box on a hand with a spring, on the sharp edge of a wedge.
//! Neither body has a field or samples.

use std::sync::Arc;

use support::allocation::allocations;
use voxshell::haptics::god_object::{Detection, GodObject, GodSettings};
use voxshell::haptics::{Forms, Obstacle, Status, Tool};
use voxshell::math::{Mat3, Pose, Vec3};
use voxshell::mesh::{primitives, Locator, TriMesh};

const HALF: [f64; 3] = [0.05, 0.03, 0.04];

fn mesh_only(mesh: &TriMesh) -> Forms {
    Forms { mesh: Some(Arc::new(Locator::new(mesh))), ..Forms::default() }
}

fn boxed() -> Tool {
    let forms = mesh_only(&primitives::cuboid(HALF).unwrap());
    Tool { forms, center: Vec3::zeros(), mass: 0.5, inertia: Mat3::identity() * 5e-4 }
}

/// A wedge of 60° with its edge along z at the origin, pointing up, 0.4 m long.
fn wedge() -> TriMesh {
    let (x, y) = (0.1, -0.1 * 3f64.sqrt());
    let vertices = vec![[0.0, 0.0, -0.2], [-x, y, -0.2], [x, y, -0.2], [0.0, 0.0, 0.2], [-x, y, 0.2], [x, y, 0.2]];
    let triangles = vec![[0, 2, 1], [3, 4, 5], [0, 1, 4], [0, 4, 3], [0, 3, 5], [0, 5, 2], [1, 2, 5], [1, 5, 4]];
    TriMesh::new(vertices, triangles).unwrap()
}

/// Signed distance of the box and the wedge, by points of the edge in the box and corners of the box in the wedge: both
/// convex.
fn clearance(pose: &Pose) -> f64 {
    let mut least = f64::INFINITY;
    for k in 0..=200 {
        let p = pose.inverse_transform_point(&nalgebra::Point3::new(0.0, 0.0, -0.2 + 0.4 * f64::from(k) / 200.0));
        let d = Vec3::from_fn(|i, _| p[i].abs() - HALF[i]);
        least = least.min(if d.max() > 0.0 { d.map(|x| x.max(0.0)).norm() } else { d.max() });
    }
    for i in 0..8 {
        let sign = |k: i32| if i >> k & 1 == 0 { -1.0 } else { 1.0 };
        let p = pose * nalgebra::Point3::new(sign(0) * HALF[0], sign(1) * HALF[1], sign(2) * HALF[2]);
        // Planes of the two flanks: normals (±√3/2, 1/2).
        let outside = [1.0, -1.0].map(|s| s * p.x * 3f64.sqrt() / 2.0 + 0.5 * p.y);
        least = least.min(outside[0].max(outside[1]));
    }
    least
}

#[test]
fn a_box_pressed_on_a_sharp_edge_stays_outside_and_balances_the_hand() {
    let settings = GodSettings { detection: Detection::Triangles, ..GodSettings::default() };
    let start = Pose::translation(0.01, 0.06, 0.0);
    let mut god = GodObject::new(boxed(), &start, settings).unwrap();
    let bodies = [Obstacle::fixed(mesh_only(&wedge()), Pose::identity())];
    // The hand: 0.3 kg on a spring of 200 N/m to a goal below the edge, damped; the force of the god-object acts on it.
    let (mass, spring, damping, dt) = (0.3, 200.0, 12.0, 1e-3);
    let (mut hand, mut velocity) = (start.translation.vector, Vec3::zeros());
    let goal = Vec3::new(0.01, -0.05, 0.0);
    let (mut touched, mut least, mut force) = (0, f64::INFINITY, Vec3::zeros());
    for step in 0..1500 {
        let pull = (goal - hand) * spring - velocity * damping + force;
        velocity += pull * (dt / mass);
        hand += velocity * dt;
        let target = Pose::from_parts(hand.into(), start.rotation);
        let advance = god.advance(&target, &bodies).unwrap();
        force = advance.wrench.force;
        assert!(!advance.status.contains(Status::PENETRATING), "step {step}: {advance:?}");
        let clear = clearance(&advance.pose);
        assert!(clear > 0.0, "step {step}: {clear:e}");
        least = least.min(clear);
        touched += u32::from(advance.constraints > 0);
    }
    assert!(touched > 500 && least < 4.0 * god.skin(), "touched {touched}, nearest {least:e}, skin {:e}", god.skin());
    // At rest the force of the edge balances the spring.
    let rest = (goal - hand) * spring + force;
    assert!(rest.norm() < 0.2 && force.y > 1.0, "{rest} {force}");
    let target = Pose::from_parts(hand.into(), start.rotation);
    let count = allocations(|| {
        for k in 0..50 {
            let target = Pose::translation(1e-4 * f64::from(k), 0.0, 0.0) * target;
            god.advance(&target, &bodies).unwrap();
        }
    });
    assert!(count <= 4, "{count} allocations");
}

#[test]
fn a_corner_of_a_box_pulled_through_an_edge_is_stopped() {
    let settings = GodSettings { detection: Detection::Triangles, ..GodSettings::default() };
    let start = Pose::translation(-0.3, -0.02, 0.01);
    let mut god = GodObject::new(boxed(), &start, settings).unwrap();
    let bodies = [Obstacle::fixed(mesh_only(&wedge()), Pose::identity())];
    // One jump of the hand across the edge, then a turn.
    for (step, turn) in [0.0, 0.0, 0.0, 0.4, 0.8, 1.2, 1.2, 1.2].into_iter().enumerate() {
        let target = Pose::new(Vec3::new(0.3, -0.02, 0.01), Vec3::new(0.1, 0.2, turn));
        let advance = god.advance(&target, &bodies).unwrap();
        assert!(clearance(&advance.pose) > 0.0, "step {step}: {advance:?}");
        assert!(advance.pose.translation.vector.x < 0.05 || advance.pose.translation.vector.y > 0.0);
    }
}
