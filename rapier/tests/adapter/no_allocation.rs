//! Warm queries do not allocate: counted by the allocator itself.

use parry3d::math::{Pose, Vector};
use parry3d::query::{
    ContactManifold, NonlinearRigidMotion, PersistentQueryDispatcher, QueryDispatcher, ShapeCastOptions,
};
use parry3d::shape::{Shape, SharedShape};
use voxshell_rapier::VoxshellDispatcher;

use crate::allocation::allocations;
use crate::bodies::body;

type Manifold = ContactManifold<u32, u32>;

/// Returns the number of allocations of some steps of a pair, and the number of points that they found. A step that finds
/// more manifolds than the one before may allocate them: they belong to the engine.
fn steps(dispatcher: &VoxshellDispatcher, [a, b]: [&dyn Shape; 2], start: &Pose) -> (usize, usize) {
    let (mut manifolds, mut memory) = (Vec::<Manifold>::new(), None);
    let (mut count, mut points) = (0, 0);
    // The first rounds make the forms, and grow the memory of the pair.
    for round in 0..4 {
        for step in 0..60 {
            let sway = 1e-3 * (0.2 * step as f32).sin();
            let pose = Pose::new(start.translation + Vector::new(sway, 0.2 * sway, 0.0), Vector::new(0.0, sway, sway));
            let before = manifolds.len();
            let query = || dispatcher.contact_manifolds(&pose, a, b, 4e-3, &mut manifolds, &mut memory).unwrap();
            let allocated = allocations(query);
            if round == 3 && manifolds.len() <= before {
                count += allocated;
                points += manifolds.iter().map(|m| m.points.len()).sum::<usize>();
            }
        }
    }
    (count, points)
}

#[test]
fn warm_manifolds_do_not_allocate() {
    assert!(allocations(|| drop(std::hint::black_box(vec![1u8; 100]))) > 0, "the counter counts");
    let mut dispatcher = VoxshellDispatcher::default();
    let (gear, torus) = (body("gear"), body("torus"));
    let floor = SharedShape::new((*body("box").mesh).clone());
    assert!(dispatcher.prepare(&floor));
    let flat = Pose::translation(0.0, 0.0399, 0.0);
    let cuboid = SharedShape::cuboid(0.05, 0.02, 0.06);
    for (name, other, pose) in [
        ("torus", &torus.shared(), Pose::translation(0.02, 0.0499, 0.0)),
        ("cuboid", &cuboid, flat),
        ("ball", &SharedShape::ball(0.03), Pose::translation(0.08, 0.0499, 0.0)),
        ("half-space", &SharedShape::halfspace(-Vector::Y), Pose::translation(0.0, 0.0201, 0.0)),
        ("prepared mesh", &floor, Pose::translation(0.0, 0.0699, 0.0)),
    ] {
        let (count, points) = steps(&dispatcher, [&gear.shape, &**other], &pose);
        assert!(points > 50, "{name}: {points} points");
        assert_eq!(count, 0, "{name}: a warm step allocated");
    }
}

#[test]
fn warm_queries_without_a_memory_do_not_allocate() {
    let mut dispatcher = VoxshellDispatcher::default();
    let gear = body("gear");
    let mesh = SharedShape::new((*body("torus").mesh).clone());
    assert!(dispatcher.prepare(&mesh));
    for (name, other) in
        [("torus", body("torus").shared()), ("ball", SharedShape::ball(0.03)), ("prepared mesh", mesh.clone())]
    {
        let (pose, still) = (Pose::translation(0.03, 0.2, 0.0), NonlinearRigidMotion::identity());
        let mut found = 0;
        let mut run = || {
            let (a, b): (&dyn Shape, &dyn Shape) = (&gear.shape, &*other);
            found += usize::from(dispatcher.distance(&pose, a, b).unwrap().distance > 0.0);
            found += usize::from(dispatcher.contact(&pose, a, b, 1.0).unwrap().is_some());
            found += usize::from(!dispatcher.intersection_test(&pose, a, b).unwrap().intersecting);
            let down = Vector::new(0.0, -1.0, 0.0);
            let options = ShapeCastOptions::default();
            found += usize::from(dispatcher.cast_shapes(&pose, down, a, b, options).unwrap().is_some());
            let motion = NonlinearRigidMotion::new(pose, Vector::ZERO, down, Vector::X);
            let hit = dispatcher.cast_shapes_nonlinear(&still, a, &motion, b, 0.0, 0.5, true);
            found += usize::from(hit.unwrap().is_some());
        };
        (0..3).for_each(|_| run());
        assert_eq!(allocations(&mut run), 0, "{name}: a warm query allocated");
        assert_eq!(found, 20, "{name}");
    }
}
