//! The dispatcher: features from step to step, compounds, pairs of parry, invalid input.

use parry3d::math::{Pose, Vector};
use parry3d::query::details::ContactManifoldsWorkspace;
use parry3d::query::{
    ClosestPoints, ContactManifold, DefaultQueryDispatcher, NonlinearRigidMotion, PersistentQueryDispatcher,
    PointQuery, QueryDispatcher, Ray, RayCast, ShapeCastOptions,
};
use parry3d::shape::*;
use voxshell_rapier::voxshell;
use voxshell_rapier::{Settings, VoxshellDispatcher, VoxshellShape};

use crate::bodies::body;

type Manifold = ContactManifold<u32, u32>;

fn manifolds(
    pose: &Pose,
    shapes: [&dyn Shape; 2],
    manifolds: &mut Vec<Manifold>,
    memory: &mut Option<ContactManifoldsWorkspace>,
) {
    VoxshellDispatcher::default().contact_manifolds(pose, shapes[0], shapes[1], 2e-3, manifolds, memory).unwrap();
}

#[test]
fn points_keep_their_data_from_step_to_step() {
    let (gear, cuboid) = (body("gear"), Cuboid::new(Vector::new(0.05, 0.02, 0.06)));
    let torus = body("torus");
    let turn = Vector::new(0.0, 0.3, 0.0);
    let pairs: [(&dyn Shape, &dyn Shape, Pose); 3] = [
        (&gear.shape, &cuboid, Pose::new(Vector::new(0.03, 0.0399, 0.0), turn)),
        (&cuboid, &gear.shape, Pose::new(Vector::new(0.03, 0.0399, 0.0), turn)),
        (&gear.shape, &torus.shape, Pose::new(Vector::new(0.02, 0.0499, 0.0), turn)),
    ];
    for (first, second, start) in pairs {
        let (mut found, mut memory) = (Vec::<Manifold>::new(), None);
        manifolds(&start, [first, second], &mut found, &mut memory);
        assert!(!found.is_empty());
        for (k, manifold) in found.iter_mut().enumerate() {
            manifold.data = k as u32 + 1;
            manifold.points.iter_mut().enumerate().for_each(|(i, p)| p.data = (10 * (k + 1) + i) as u32);
        }
        let count: usize = found.iter().map(|m| m.points.len()).sum();
        for step in 1..=20 {
            let moved =
                Pose::from_parts(start.translation + Vector::new(1e-6, 0.0, 2e-6) * step as f32, start.rotation);
            manifolds(&moved, [first, second], &mut found, &mut memory);
        }
        let kept = found.iter().flat_map(|m| &m.points).filter(|p| p.data != 0).count();
        assert!(kept * 4 >= count * 3, "{kept} of {count}");
        // A contact that comes near gets a manifold of its own.
        let kept = found.iter().filter(|m| m.data != 0).count();
        assert!(kept * 4 >= found.len() * 3, "{kept} of {}", found.len());
        manifolds(&Pose::translation(1.0, 0.0, 0.0), [first, second], &mut found, &mut memory);
        assert!(found.is_empty());
    }
}

#[test]
fn the_memory_of_a_pair_at_rest_changes_no_answer() {
    let (gear, torus) = (body("gear"), body("torus"));
    let mut memory = None;
    for step in 0..50 {
        let turn = Vector::new(0.0, 0.01 * step as f32, 0.002);
        let pose = Pose::new(Vector::new(0.02, 0.05 - 1e-5 * step as f32, 0.0), turn);
        let answers = [true, false].map(|keeps| {
            let mut found = Vec::new();
            let mut none = None;
            let memory = if keeps { &mut memory } else { &mut none };
            // The first query tells that the pair is at rest at this pose.
            for _ in 0..2 {
                found.clear();
                manifolds(&pose, [&gear.shape, &torus.shape], &mut found, memory);
            }
            let points = found.iter().flat_map(|m| &m.points);
            points
                .map(|p| (p.local_p1.to_array().map(f32::to_bits), p.dist.to_bits(), p.fid1, p.fid2))
                .collect::<Vec<_>>()
        });
        assert_eq!(answers[0], answers[1], "step {step}");
    }
}

/// A box that turns in place above a plane, so that the velocity of its centre, which is all that the engine tells, is 0.
#[test]
fn a_corner_that_will_touch_is_found_from_the_last_pose() {
    let (plane, cuboid) = (HalfSpace::new(Vector::Y), body("box"));
    let [half, turn] = [0.05f32, 0.02];
    // The box of 0.1 m, turned by `angle`, with its lowest edge 1.5 mm above the plane; in the next step it is 0.3 mm lower.
    let lowest = |angle: f32| half * (angle.cos() + angle.sin());
    let height = lowest(0.3) + 2.5e-3;
    let pose = |angle: f32| Pose::new(Vector::new(0.0, height, 0.0), Vector::new(0.0, 0.0, angle));
    let count = |poses: &[f32]| {
        let (mut found, mut memory) = (Vec::<Manifold>::new(), None);
        poses.iter().for_each(|angle| manifolds(&pose(*angle), [&plane, &cuboid.shape], &mut found, &mut memory));
        found.iter().map(|m| m.points.len()).sum::<usize>()
    };
    assert_eq!(count(&[0.3]), 0);
    assert!(lowest(0.3 + turn) - lowest(0.3) > 0.5e-3);
    assert!(count(&[0.3 - turn, 0.3]) > 0, "it approaches");
    assert_eq!(count(&[0.3 + turn, 0.3]), 0, "it recedes");
    assert_eq!(count(&[0.3 - 2.0, 0.3]), 0, "it was put there");
}

#[test]
fn compounds_of_both_kinds_collide() {
    let dispatcher = VoxshellDispatcher::default();
    let gear = body("gear");
    let children = vec![
        (Pose::translation(0.3, 0.0, 0.0), gear.shared()),
        (Pose::translation(-0.3, 0.0, 0.0), SharedShape::ball(0.05)),
    ];
    let compound = Compound::new(children);
    let others: Vec<SharedShape> = vec![
        SharedShape::cuboid(0.05, 0.05, 0.05),
        (*gear.mesh).clone().into_shared(),
        body("torus").shared(),
        SharedShape::compound(vec![(Pose::translation(0.0, 0.0, 0.01), SharedShape::ball(0.05))]),
    ];
    for other in &others {
        for (x, subshape) in [(0.3, 0), (-0.3, 1)] {
            let pose = Pose::translation(x, 0.0, 0.08);
            let found = dispatcher.intersection_test(&pose, &compound, &**other).unwrap();
            let distance = dispatcher.distance(&pose, &compound, &**other).unwrap();
            assert_eq!(found.intersecting, distance.distance == 0.0);
            assert_eq!(distance.subshape1, subshape);
            let back = dispatcher.distance(&pose.inverse(), &**other, &compound).unwrap();
            assert_eq!(back.subshape2, subshape);
            let (mut found, mut memory) = (Vec::<Manifold>::new(), None);
            dispatcher.contact_manifolds(&pose, &compound, &**other, 0.05, &mut found, &mut memory).unwrap();
            assert!(found.iter().any(|m| m.subshape1 == subshape && !m.points.is_empty()), "{x}");
        }
    }
}

trait IntoShared {
    fn into_shared(self) -> SharedShape;
}

impl IntoShared for TriMesh {
    fn into_shared(self) -> SharedShape {
        SharedShape::new(self)
    }
}

#[test]
fn pairs_of_parry_are_those_of_its_own_dispatcher() {
    let dispatcher = VoxshellDispatcher::default();
    let (ball, cuboid) = (Ball::new(0.1), Cuboid::new(Vector::splat(0.1)));
    let pose = Pose::translation(0.15, 0.02, 0.0);
    let (ours, theirs) =
        (dispatcher.contact(&pose, &ball, &cuboid, 1.0), DefaultQueryDispatcher.contact(&pose, &ball, &cuboid, 1.0));
    assert_eq!(ours, theirs);
    assert!(ours.unwrap().is_some());
    let (mut found, mut memory) = (Vec::<Manifold>::new(), None);
    dispatcher.contact_manifolds(&pose, &ball, &cuboid, 0.1, &mut found, &mut memory).unwrap();
    assert_eq!(found.len(), 1);
    // The memory of another pair is replaced.
    dispatcher.contact_manifolds(&pose, &ball, &body("box").shape, 0.1, &mut found, &mut memory).unwrap();
    assert!(!found.is_empty());
}

#[test]
fn fields_without_samples_are_unsupported_among_themselves() {
    let sphere = voxshell::field::Sphere::new(0.1).unwrap();
    let field = voxshell::asset::Shape::from_field(voxshell::field::Field::Sphere(sphere));
    let field = VoxshellShape::new(field.into()).unwrap();
    let dispatcher = VoxshellDispatcher::default().with_settings(Settings::default());
    let pose = Pose::translation(0.1, 0.0, 0.0);
    assert!(dispatcher.distance(&pose, &field, &field).is_err());
    assert!(dispatcher.distance(&pose, &field, &body("box").shape).is_ok());
    assert!(dispatcher.distance(&pose, &field, &HalfSpace::new(Vector::Y)).is_err());
    let (mut found, mut memory) = (vec![Manifold::new()], None);
    let answer = dispatcher.contact_manifolds(&pose, &field, &field, 0.1, &mut found, &mut memory);
    assert!(answer.is_err() && found.is_empty());
    let plane = voxshell::field::HalfSpace::new(voxshell::math::Vec3::y(), 0.0).unwrap();
    let plane = voxshell::asset::Shape::from_field(voxshell::field::Field::HalfSpace(plane));
    assert!(VoxshellShape::new(plane.into()).is_err());
}

/// Calls every query of a pair. None may panic.
fn query_all(pose: &Pose, shapes: [&dyn Shape; 2], number: f32) {
    let dispatcher = VoxshellDispatcher::default();
    for [a, b] in [shapes, [shapes[1], shapes[0]]] {
        let _ = dispatcher.intersection_test(pose, a, b);
        let distance = dispatcher.distance(pose, a, b);
        assert!(!distance.is_ok_and(|d| d.distance.is_nan()));
        let _ = dispatcher.contact(pose, a, b, number);
        let _ = dispatcher.closest_points(pose, a, b, number);
        let options = ShapeCastOptions { target_distance: number, ..ShapeCastOptions::default() };
        let _ = dispatcher.cast_shapes(pose, Vector::new(number, 1.0, 0.0), a, b, options);
        let _ = dispatcher.cast_shapes(pose, Vector::ZERO, a, b, ShapeCastOptions::default());
        let motion = NonlinearRigidMotion::new(*pose, Vector::ZERO, Vector::splat(number), Vector::X * number);
        let still = NonlinearRigidMotion::identity();
        let _ = dispatcher.cast_shapes_nonlinear(&motion, a, &still, b, 0.0, 0.1, true);
        let _ = dispatcher.cast_shapes_nonlinear(&still, a, &still, b, number, 0.1, false);
        let (mut found, mut memory) = (Vec::<Manifold>::new(), None);
        let _ = dispatcher.contact_manifolds(pose, a, b, number, &mut found, &mut memory);
        let numbers = found.iter().flat_map(|m| &m.points).flat_map(|p| p.local_p1.to_array());
        assert!(numbers.into_iter().all(f32::is_finite));
    }
}

#[test]
fn invalid_numbers_do_not_panic() {
    let own = body("box");
    let far = Pose::translation(1e30, 0.0, 0.0);
    let invalid = Pose::translation(f32::NAN, 0.0, 0.0);
    let close = Pose::translation(0.08, 0.0, 0.0);
    let shapes: Vec<SharedShape> = vec![
        own.shared(),
        SharedShape::new((*own.mesh).clone()),
        SharedShape::ball(0.0),
        SharedShape::ball(f32::NAN),
        SharedShape::ball(f32::INFINITY),
        SharedShape::cuboid(0.0, 0.1, 0.1),
        SharedShape::cuboid(f32::NAN, 0.1, 0.1),
        SharedShape::capsule(Vector::ZERO, Vector::ZERO, 0.1),
        SharedShape::segment(Vector::ZERO, Vector::ZERO),
        SharedShape::segment(Vector::ZERO, Vector::splat(f32::NAN)),
        SharedShape::triangle(Vector::ZERO, Vector::ZERO, Vector::ZERO),
        SharedShape::triangle(Vector::ZERO, Vector::X, Vector::X * 2.0),
        SharedShape::cylinder(0.0, 0.1),
        SharedShape::cone(0.1, 0.0),
        SharedShape::halfspace(Vector::ZERO),
        SharedShape::halfspace(Vector::Y),
    ];
    for shape in &shapes {
        for pose in [&far, &invalid, &close, &Pose::IDENTITY] {
            for number in [0.01, f32::NAN, f32::MAX] {
                query_all(pose, [&own.shape, &**shape], number);
            }
        }
    }
    for number in [f32::NAN, f32::INFINITY, f32::MAX, 0.0] {
        let (v, ray) = (Vector::splat(number), Ray::new(Vector::splat(number), Vector::new(1.0, number, 0.0)));
        own.shape.project_local_point(v, true);
        own.shape.project_local_point_and_get_feature(v);
        let _ = own.shape.cast_local_ray(&ray, f32::MAX, true);
        let _ = own.shape.cast_local_ray(&Ray::new(Vector::ZERO, v), number, false);
    }
}

#[test]
fn a_mesh_and_a_body_collide_whatever_their_order() {
    let dispatcher = VoxshellDispatcher::default();
    let own = body("box");
    let corners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]].map(|[x, z]| Vector::new(x, 0.0, z));
    let floor = TriMesh::new(corners.to_vec(), vec![[0, 2, 1], [0, 3, 2]]).unwrap();
    let pose = Pose::translation(0.01, 0.0495, 0.02);
    for (pose, shapes) in [
        (pose, [&floor as &dyn Shape, &own.shape as &dyn Shape]),
        (pose.inverse(), [&own.shape as &dyn Shape, &floor as &dyn Shape]),
    ] {
        let (mut found, mut memory) = (Vec::<Manifold>::new(), None);
        manifolds(&pose, shapes, &mut found, &mut memory);
        let points: Vec<f32> = found.iter().flat_map(|m| &m.points).map(|p| p.dist).collect();
        assert!(points.len() >= 4 && points.iter().all(|d| (d + 5e-4).abs() < 1e-5), "{points:?}");
        let contact = dispatcher.contact(&pose, shapes[0], shapes[1], 0.0).unwrap().unwrap();
        assert!((contact.dist + 5e-4).abs() < 1e-5, "{contact:?}");
        let raised = Pose::from_parts(pose.translation * 2.0, pose.rotation);
        let closest = dispatcher.closest_points(&raised, shapes[0], shapes[1], 1.0).unwrap();
        assert!(matches!(closest, ClosestPoints::WithinMargin(..)));
    }
}
