//! A world of the conformance suite in Rapier.

use std::sync::Arc;

use rapier3d::prelude::*;
use voxshell_rapier::voxshell::{asset, math};
use voxshell_rapier::{VoxshellDispatcher, VoxshellShape};

/// Rapier's slop, as a part of the margin.
const SLOP: f64 = 0.1;

/// Contacts are stiffer than Rapier's default by this factor of their frequency: with the default, stacked bodies sink in
/// by more than a millimetre.
const STIFFER: Real = 8.0;

/// Largest distance up to which a body looks ahead along its path in a step, metres.
const LOOK_AHEAD: Real = 0.1;

/// A mesh body.
pub struct Model {
    shape: SharedShape,
    /// Rapier's own method: the triangles.
    mesh: SharedShape,
}

impl Model {
    pub fn new(vertices: &[[f64; 3]], triangles: &[[u32; 3]], bytes: &[u8]) -> Self {
        let cooked = asset::Shape::from_bytes(bytes).expect("an asset of the suite");
        let shape = VoxshellShape::shared(Arc::new(cooked)).expect("a shape with forms");
        let flags = TriMeshFlags::ORIENTED | TriMeshFlags::MERGE_DUPLICATE_VERTICES | TriMeshFlags::FIX_INTERNAL_EDGES;
        let vertices = vertices.iter().map(|v| vector(*v)).collect();
        let mesh = TriMesh::with_flags(vertices, triangles.to_vec(), flags).expect("a mesh of the suite");
        Self { shape, mesh: SharedShape::new(mesh) }
    }
}

/// Settings as in `WorldSettings` of the suite.
pub struct Settings {
    pub dt: f64,
    pub gravity: f64,
    pub friction: f64,
    pub margin: f64,
    pub iterations: usize,
    pub own_method: bool,
}

/// Shape of a body.
pub enum Form<'a> {
    Model(&'a Model),
    Plane,
    Box([f64; 3]),
    Ball(f64),
}

/// Pose and velocities: position, quaternion x y z w, linear and angular velocity.
pub type State = [f64; 13];

pub struct World {
    world: PhysicsWorld,
    bodies: Vec<RigidBodyHandle>,
    settings: Settings,
    /// Bodies were added or placed since the last step.
    is_changed: bool,
}

fn vector(v: [f64; 3]) -> Vector {
    Vector::from_array(v.map(|x| x as Real))
}

fn pose(p: [f64; 7]) -> Pose {
    let [x, y, z, i, j, k, w] = p.map(|x| x as Real);
    Pose::from_parts(Vector::new(x, y, z), Rotation::from_xyzw(i, j, k, w).normalize())
}

impl World {
    pub fn new(settings: Settings) -> Self {
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::Y * -settings.gravity as Real;
        let parameters = &mut world.integration_parameters;
        parameters.dt = settings.dt as Real;
        parameters.num_solver_iterations = settings.iterations;
        parameters.normalized_allowed_linear_error = (SLOP * settings.margin) as Real;
        parameters.contact_recycling = false;
        parameters.contact_clustering = false;
        parameters.friction_model = FrictionModel::Coulomb;
        parameters.contact_softness.natural_frequency *= STIFFER;
        parameters.static_contact_softness.natural_frequency *= STIFFER;
        parameters.normalized_prediction_distance = settings.margin as Real;
        if !settings.own_method {
            world.narrow_phase = NarrowPhase::with_query_dispatcher(
                VoxshellDispatcher::default()
                    .with_settings(voxshell_rapier::Settings { max_manifolds: 256, ..Default::default() }),
            );
        }
        Self { world, bodies: Vec::new(), settings, is_changed: true }
    }

    /// Adds a body and returns its number. `inertia` are the principal moments, kg·m².
    pub fn add(&mut self, form: &Form, mass: f64, inertia: [f64; 3], state: &State) -> usize {
        let shape = match form {
            Form::Model(model) if self.settings.own_method => model.mesh.clone(),
            Form::Model(model) => model.shape.clone(),
            Form::Plane => SharedShape::halfspace(Vector::Y),
            Form::Box(half) => SharedShape::new(Cuboid::new(vector(*half))),
            Form::Ball(radius) => SharedShape::ball(*radius as Real),
        };
        let [x, y, z, i, j, k, w, vx, vy, vz, wx, wy, wz] = *state;
        let builder = if mass > 0.0 { RigidBodyBuilder::dynamic() } else { RigidBodyBuilder::fixed() };
        let properties = MassProperties::new(Vector::ZERO, mass as Real, vector(inertia));
        let body = builder
            .pose(pose([x, y, z, i, j, k, w]))
            .linvel(vector([vx, vy, vz]))
            .angvel(vector([wx, wy, wz]))
            .additional_mass_properties(properties)
            .soft_ccd_prediction(LOOK_AHEAD)
            .can_sleep(false);
        let collider = ColliderBuilder::new(shape).density(0.0).friction(self.settings.friction as Real);
        self.bodies.push(self.world.insert(body, collider).0);
        self.is_changed = true;
        self.bodies.len() - 1
    }

    pub fn step(&mut self) {
        self.world.step();
        self.is_changed = false;
    }

    pub fn state(&self, body: usize) -> State {
        let body = &self.world.bodies[self.bodies[body]];
        let [x, y, z] = body.translation().to_array().map(f64::from);
        let [i, j, k, w] = body.rotation().to_array().map(f64::from);
        let norm = (i * i + j * j + k * k + w * w).sqrt();
        let [vx, vy, vz] = body.linvel().to_array().map(f64::from);
        let [wx, wy, wz] = body.angvel().to_array().map(f64::from);
        [x, y, z, i / norm, j / norm, k / norm, w / norm, vx, vy, vz, wx, wy, wz]
    }

    /// Puts a body to a pose, at rest.
    pub fn place(&mut self, body: usize, at: [f64; 7]) {
        let body = &mut self.world.bodies[self.bodies[body]];
        body.set_position(pose(at), true);
        body.set_linvel(Vector::ZERO, true);
        body.set_angvel(Vector::ZERO, true);
        self.is_changed = true;
    }

    /// Returns the time that the last step took to find contacts, seconds, as Rapier's profiler measures it.
    pub fn narrowphase_seconds(&self) -> f64 {
        1e-3 * self.world.physics_pipeline.counters.narrow_phase_time_ms()
    }

    /// Returns the number of contacts of the last step up to the margin.
    pub fn contacts(&self) -> usize {
        let margin = self.settings.margin as Real;
        let pairs = self.world.contact_pairs();
        let points = pairs.flat_map(|pair| pair.manifolds().iter().flat_map(|manifold| &manifold.points));
        points.filter(|point| point.dist <= margin).count()
    }

    /// Returns the point and the normal of the first hit of a segment.
    pub fn cast_ray(&mut self, from: [f64; 3], to: [f64; 3]) -> Option<[[f64; 3]; 2]> {
        if std::mem::take(&mut self.is_changed) {
            self.world.detect_collisions(&(), &());
        }
        let [from, to] = [from, to].map(|p| math::Vec3::from(p));
        let ray = Ray::new(vector(from.into()), vector((to - from).into()));
        let (_, hit) = self.world.cast_ray_and_get_normal(&ray, 1.0, true, QueryFilter::default())?;
        let point = from + (to - from) * f64::from(hit.time_of_impact);
        Some([point.into(), hit.normal.to_array().map(f64::from)])
    }
}
