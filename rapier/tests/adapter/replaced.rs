//! Shapes that are changed, or replaced by others at the same address: each query answers for the shape that is there.

use parry3d::math::{Pose, Vector};
use parry3d::query::{ContactManifold, PersistentQueryDispatcher, QueryDispatcher};
use parry3d::shape::{Shape, SharedShape, TriMesh};
use rapier3d::prelude::*;
use voxshell_rapier::VoxshellDispatcher;

use crate::bodies::body;

/// Returns a plate of many triangles with its corners at a height.
fn plate(height: f32) -> TriMesh {
    let n = 20u32;
    let at = |i: u32| 0.4 * (i as f32 / n as f32 - 0.5);
    let grid = (0..=n).flat_map(|i| (0..=n).map(move |j| [i, j]));
    let vertices = grid.map(|[i, j]| Vector::new(at(i), height, at(j))).collect();
    let cell = |i: u32, j: u32| i * (n + 1) + j;
    let cells = (0..n).flat_map(|i| (0..n).map(move |j| [i, j]));
    let triangles = cells.flat_map(|[i, j]| {
        let [a, b, c, d] = [cell(i, j), cell(i, j + 1), cell(i + 1, j + 1), cell(i + 1, j)];
        [[a, b, c], [a, c, d]]
    });
    TriMesh::new(vertices, triangles.collect()).unwrap()
}

/// Raises one vertex in the middle by a peak.
fn raise(mesh: &mut TriMesh, height: f32) {
    let mut vertices = mesh.vertices().to_vec();
    vertices[220].y = height;
    mesh.set_vertices(&vertices);
}

#[test]
fn a_mesh_changed_at_one_vertex_is_not_the_old_one() {
    let dispatcher = VoxshellDispatcher::default();
    let own = body("box");
    let mut mesh = plate(0.0);
    let (mut found, mut memory) = (Vec::<ContactManifold<(), ()>>::new(), None);
    let mut heights = |mesh: &TriMesh| {
        let pose = Pose::translation(0.0, 0.09, 0.0);
        let distance = dispatcher.distance(&pose, mesh, &own.shape).unwrap().distance;
        dispatcher.contact_manifolds(&pose, mesh, &own.shape, 0.1, &mut found, &mut memory).unwrap();
        let deepest = found.iter().flat_map(|m| &m.points).map(|p| p.dist).fold(f32::INFINITY, f32::min);
        [distance, deepest].map(|distance| 0.04 - distance)
    };
    for height in [0.0, 0.01, 0.02, 0.0] {
        raise(&mut mesh, height);
        let [by_distance, by_manifolds] = heights(&mesh);
        assert!((by_distance - height).abs() < 1e-4, "{by_distance}, not {height}");
        assert!((by_manifolds - height).abs() < 1e-4, "{by_manifolds}, not {height}");
    }
}

#[test]
fn a_freed_mesh_is_not_taken_for_the_next_one() {
    let dispatcher = VoxshellDispatcher::default();
    let own = body("box");
    let (mut seen, mut is_reused) = (std::collections::HashSet::new(), false);
    for i in 0..20 {
        let height = 1e-3 * (i % 7) as f32;
        // Freed at the end of each round, so that the allocator gives the next one the same place.
        let mut mesh = Box::new(plate(0.0));
        raise(&mut mesh, height);
        is_reused |= !seen.insert((std::ptr::from_ref(&*mesh) as usize, mesh.vertices().as_ptr() as usize));
        let shape: &dyn Shape = &*mesh;
        let distance = dispatcher.distance(&Pose::translation(0.0, 0.09, 0.0), shape, &own.shape).unwrap().distance;
        assert!((0.04 - distance - height).abs() < 1e-4, "round {i}: {distance}");
    }
    assert!(is_reused, "the allocator used no address again");
}

#[test]
fn a_floor_changed_in_a_world_carries_at_its_new_height() {
    for is_prepared in [false, true] {
        let mut dispatcher = VoxshellDispatcher::default();
        let floor = SharedShape::new(plate(0.0));
        assert!(!is_prepared || dispatcher.prepare(&floor));
        let mut world = PhysicsWorld::new();
        world.integration_parameters.length_unit = 0.05;
        world.narrow_phase = NarrowPhase::with_query_dispatcher(dispatcher);
        let (_, floor) = world.insert(RigidBodyBuilder::fixed(), ColliderBuilder::new(floor));
        let rigid = RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.051, 0.0)).can_sleep(false);
        let (handle, _) = world.insert(rigid, ColliderBuilder::new(body("box").shared()).density(1000.0));
        for height in [0.0, -0.02, -0.05] {
            let mesh = world.colliders[floor].shape_mut().as_trimesh_mut().unwrap();
            let lowered: Vec<Vector> = mesh.vertices().iter().map(|v| Vector::new(v.x, height, v.z)).collect();
            mesh.set_vertices(&lowered);
            (0..120).for_each(|_| world.step());
            let at = world.bodies[handle].translation().y - 0.05;
            assert!((at - height).abs() < 1e-3, "prepared {is_prepared}: {at}, not {height}");
        }
    }
}
