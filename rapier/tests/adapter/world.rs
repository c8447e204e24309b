//! Bodies in a Rapier world. The depth is measured on the triangles, apart from Voxshell.

use parry3d::query::PointQuery;
use parry3d::shape::SharedShape;
use rapier3d::prelude::*;
use voxshell_rapier::VoxshellDispatcher;

use crate::bodies::{body, Body};

/// Largest depth of a body in any step, metres.
const MOST_DEPTH: f32 = 0.5e-3;
/// Steps per second.
const RATE: f32 = 240.0;

struct Scene {
    world: PhysicsWorld,
    /// Bodies with their triangles.
    bodies: Vec<(RigidBodyHandle, Body)>,
}

impl Scene {
    fn new() -> Self {
        let mut world = PhysicsWorld::new();
        world.integration_parameters.dt = 1.0 / RATE;
        // Rapier's defaults let bodies sink in by 5 mm, and keep the contacts of a pair until it has moved by 50 mm.
        world.integration_parameters.normalized_allowed_linear_error = 1e-4;
        world.integration_parameters.normalized_contact_recycle_distance = 5e-4;
        world.integration_parameters.normalized_prediction_distance = 0.01;
        world.narrow_phase = NarrowPhase::with_query_dispatcher(VoxshellDispatcher::default());
        Self { world, bodies: Vec::new() }
    }

    fn add_fixed(&mut self, shape: SharedShape, place: Vector) {
        let collider = ColliderBuilder::new(shape).friction(0.5);
        self.world.insert(RigidBodyBuilder::fixed().translation(place), collider);
    }

    fn add(&mut self, body: &Body, pose: Pose) -> RigidBodyHandle {
        let rigid = RigidBodyBuilder::dynamic().pose(pose).soft_ccd_prediction(0.1).can_sleep(false);
        let collider = ColliderBuilder::new(body.shared()).density(1000.0).friction(0.5);
        let (handle, _) = self.world.insert(rigid, collider);
        self.bodies.push((handle, body.clone()));
        handle
    }

    /// Runs the world, and returns the largest depth that `depth` found after a step.
    fn run(&mut self, seconds: f32, depth: impl Fn(&Self) -> f32) -> f32 {
        let mut most = 0.0f32;
        for _ in 0..(seconds * RATE) as usize {
            self.world.step();
            most = most.max(depth(self));
        }
        most
    }

    fn pose(&self, handle: RigidBodyHandle) -> Pose {
        *self.world.bodies[handle].position()
    }

    /// Returns the largest depth of a vertex of the bodies in a shape at a place.
    fn depth_in(&self, shape: &dyn Shape, place: Vector) -> f32 {
        let vertices = |(handle, body): &(RigidBodyHandle, Body)| {
            let pose = self.pose(*handle);
            let depth = |v: &Vector| -shape.distance_to_local_point(pose * *v - place, false);
            body.mesh.vertices().iter().map(depth).fold(0.0, f32::max)
        };
        self.bodies.iter().map(vertices).fold(0.0, f32::max)
    }

    /// Returns the largest depth of a vertex of one body in another.
    fn depth_between(&self) -> f32 {
        let mut most = 0.0f32;
        for (handle, body) in &self.bodies {
            for (other, hit) in self.bodies.iter().filter(|(other, _)| other != handle) {
                let pose = self.pose(*other).inv_mul(&self.pose(*handle));
                let depth = |v: &Vector| -hit.mesh.distance_to_local_point(pose * *v, false);
                most = body.mesh.vertices().iter().map(depth).fold(most, f32::max);
            }
        }
        most
    }

    /// Returns the largest displacement of a body in some seconds.
    fn drift(&mut self, seconds: f32) -> f32 {
        let before: Vec<Pose> = self.bodies.iter().map(|(handle, _)| self.pose(*handle)).collect();
        self.run(seconds, |_| 0.0);
        let moved = |((handle, body), from): (&(RigidBodyHandle, Body), Pose)| {
            let to = self.pose(*handle);
            body.mesh.vertices().iter().map(|v| (to * *v - from * *v).length()).fold(0.0, f32::max)
        };
        self.bodies.iter().zip(before).map(moved).fold(0.0, f32::max)
    }
}

#[test]
fn bodies_dropped_on_a_half_space_rest_on_it() {
    for name in ["torus", "gear", "box", "bowl"] {
        let mut scene = Scene::new();
        scene.add_fixed(SharedShape::halfspace(Vector::Y), Vector::ZERO);
        scene.add(&body(name), Pose::new(Vector::new(0.0, 0.1, 0.0), Vector::new(0.1, 0.0, 0.05)));
        let depth = scene.run(2.0, |scene| scene.depth_in(&HalfSpace::new(Vector::Y), Vector::ZERO));
        let drift = scene.drift(1.0);
        println!("{name}: deepest {:.3} mm, drift {:.3} mm", depth * 1e3, drift * 1e3);
        assert!(depth < MOST_DEPTH, "{name}: {depth}");
        // A bowl rocks for some seconds.
        assert!(name == "bowl" || drift < 0.2e-3, "{name}: {drift}");
    }
}

#[test]
fn bodies_dropped_on_a_cuboid_rest_on_it() {
    for name in ["torus", "gear", "box"] {
        let mut scene = Scene::new();
        let (half, place) = (Vector::new(0.3, 0.1, 0.3), Vector::new(0.0, -0.1, 0.0));
        scene.add_fixed(SharedShape::cuboid(half.x, half.y, half.z), place);
        scene.add(&body(name), Pose::new(Vector::new(0.0, 0.1, 0.0), Vector::new(0.1, 0.0, 0.05)));
        let depth = scene.run(2.0, |scene| scene.depth_in(&Cuboid::new(half), place));
        let drift = scene.drift(1.0);
        println!("{name}: deepest {:.3} mm, drift {:.3} mm", depth * 1e3, drift * 1e3);
        assert!(depth < MOST_DEPTH && drift < 0.2e-3, "{name}: {depth}, {drift}");
    }
}

#[test]
fn two_bodies_that_fly_into_each_other_do_not_sink_in() {
    let mut scene = Scene::new();
    scene.world.gravity = Vector::ZERO;
    let first = scene.add(&body("torus"), Pose::new(Vector::new(-0.2, 0.0, 0.0), Vector::new(0.3, 0.2, 0.0)));
    let second = scene.add(&body("gear"), Pose::new(Vector::new(0.2, 0.03, 0.0), Vector::new(0.7, 0.1, 0.4)));
    scene.world.bodies[first].set_linvel(Vector::new(1.0, 0.0, 0.0), true);
    scene.world.bodies[second].set_linvel(Vector::new(-1.0, 0.0, 0.0), true);
    let momentum = |scene: &Scene| {
        let of = |handle: RigidBodyHandle| scene.world.bodies[handle].linvel() * scene.world.bodies[handle].mass();
        of(first) + of(second)
    };
    let before = momentum(&scene);
    let depth = scene.run(1.0, Scene::depth_between);
    let error = (momentum(&scene) - before).length();
    println!("deepest {:.3} mm, momentum error {error}", depth * 1e3);
    assert!(depth < MOST_DEPTH, "{depth}");
    assert!(scene.world.bodies[first].linvel().x < 0.9, "the bodies missed each other");
    assert!(error < 1e-3 * scene.world.bodies[first].mass(), "{error}");
}

#[test]
fn a_stack_of_five_stands() {
    let mut scene = Scene::new();
    scene.add_fixed(SharedShape::halfspace(Vector::Y), Vector::ZERO);
    for i in 0..5 {
        let turn = Vector::Y * (0.2 * i as f32);
        scene.add(&body("box"), Pose::new(Vector::new(0.0, 0.051 + 0.101 * i as f32, 0.0), turn));
    }
    let depth =
        scene.run(3.0, |scene| scene.depth_between().max(scene.depth_in(&HalfSpace::new(Vector::Y), Vector::ZERO)));
    let drift = scene.drift(2.0);
    println!("deepest {:.3} mm, drift {:.3} mm", depth * 1e3, drift * 1e3);
    assert!(depth < MOST_DEPTH && drift < 0.3e-3, "{depth}, {drift}");
    for (handle, _) in &scene.bodies {
        let at = scene.pose(*handle).translation;
        assert!(Vector::new(at.x, 0.0, at.z).length() < 2e-3, "{at:?}");
    }
}

#[test]
fn a_ball_stays_in_a_cup() {
    let bowl = body("bowl");
    for own in [true, false] {
        let mut scene = Scene::new();
        scene.add_fixed(bowl.shared(), Vector::ZERO);
        let (radius, start) = (0.03, Vector::new(0.02, 0.0, 0.0));
        let up = Vector::Y;
        let ball = if own { body("sphere").shared() } else { SharedShape::ball(radius) };
        let radius = if own { 0.05 } else { radius };
        let rigid =
            RigidBodyBuilder::dynamic().translation(start + up * 0.01).soft_ccd_prediction(0.1).can_sleep(false);
        let collider = ColliderBuilder::new(ball).density(1000.0).friction(0.5);
        let (handle, _) = scene.world.insert(rigid, collider);
        let depth = scene.run(3.0, |scene| {
            let center = scene.world.bodies[handle].translation();
            let on_mesh = bowl.mesh.project_local_point(center, false);
            let apart = (on_mesh.point - center).length();
            radius - if on_mesh.is_inside { -apart } else { apart }
        });
        let at = scene.world.bodies[handle].translation();
        println!("own {own}: deepest {:.3} mm, at {at:?}", depth * 1e3);
        assert!(depth < MOST_DEPTH, "own {own}: {depth}");
        assert!(at.length() < 0.1, "own {own}: the ball left the cup: {at:?}");
    }
}

#[test]
fn fast_bodies_do_not_pass_a_thin_wall() {
    for shape in [SharedShape::cuboid(0.5, 0.005, 0.5), wall()] {
        let mut scene = Scene::new();
        scene.add_fixed(shape, Vector::ZERO);
        let body = body("gear");
        let rigid = RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 1.0, 0.0)).linvel(Vector::Y * -60.0);
        let (handle, _) =
            scene.world.insert(rigid.ccd_enabled(true), ColliderBuilder::new(body.shared()).density(1000.0));
        scene.run(0.5, |_| 0.0);
        let at = scene.world.bodies[handle].translation();
        assert!(at.y > 0.0, "{at:?}");
    }
}

fn wall() -> SharedShape {
    let corners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]].map(|[x, z]| Vector::new(x, 0.0, z));
    SharedShape::trimesh(corners.to_vec(), vec![[0, 2, 1], [0, 3, 2]]).unwrap()
}

#[test]
fn the_same_world_gives_the_same_bytes() {
    let run = || {
        let mut scene = Scene::new();
        scene.add_fixed(SharedShape::cuboid(0.3, 0.1, 0.3), Vector::new(0.0, -0.1, 0.0));
        for i in 0..3 {
            let pose = Pose::new(Vector::new(0.01 * i as f32, 0.1 + 0.12 * i as f32, 0.0), Vector::X * i as f32);
            scene.add(&body(["gear", "torus", "box"][i]), pose);
        }
        scene.run(1.0, |_| 0.0);
        let poses = scene.bodies.iter().map(|(handle, _)| scene.pose(*handle));
        poses.map(|p| (p.translation.to_array().map(f32::to_bits), p.rotation.to_array().map(f32::to_bits))).collect()
    };
    let first: Vec<_> = run();
    assert_eq!(first, run());
}
