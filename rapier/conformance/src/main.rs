//! The host "rapier" of the conformance suite. `main` and the scenes are those of tests/conformance; this file gives the
//! world to them (tests/conformance/hosts/rapier.cpp has the declarations).
#![no_main]

mod world;

use std::slice::from_raw_parts;

use world::{Form, Model, Settings, State, World};

// The library's C API, which the scenes call, is in the program because it is named here.
use voxshell_rapier::voxshell as _;

/// `RapierMesh`.
#[repr(C)]
pub struct Mesh {
    vertices: *const [f64; 3],
    vertex_count: usize,
    indices: *const u32,
    index_count: usize,
    asset: *const u8,
    asset_size: usize,
}

/// `RapierSettings`.
#[repr(C)]
pub struct WorldSettings {
    dt: f64,
    gravity: f64,
    friction: f64,
    margin: f64,
    iterations: u32,
    own_method: u32,
}

/// `RapierBody`.
#[repr(C)]
pub struct Body {
    model: *const Model,
    stock: u32,
    mass: f64,
    size: [f64; 3],
    inertia: [f64; 3],
    state: State,
}

/// # Safety
/// The pointers of `mesh` are arrays of the given sizes.
#[no_mangle]
pub unsafe extern "C" fn rapier_model_create(mesh: &Mesh) -> *mut Model {
    let vertices = from_raw_parts(mesh.vertices, mesh.vertex_count);
    let triangles = from_raw_parts(mesh.indices.cast::<[u32; 3]>(), mesh.index_count / 3);
    let bytes = from_raw_parts(mesh.asset, mesh.asset_size);
    Box::into_raw(Box::new(Model::new(vertices, triangles, bytes)))
}

#[no_mangle]
pub extern "C" fn rapier_world_create(settings: &WorldSettings) -> *mut World {
    let &WorldSettings { dt, gravity, friction, margin, iterations, own_method } = settings;
    let (iterations, own_method) = (iterations as usize, own_method != 0);
    Box::into_raw(Box::new(World::new(Settings { dt, gravity, friction, margin, iterations, own_method })))
}

/// # Safety
/// `world` comes from `rapier_world_create`, and is not used again.
#[no_mangle]
pub unsafe extern "C" fn rapier_world_destroy(world: *mut World) {
    drop(Box::from_raw(world));
}

/// # Safety
/// The model of the body is null or comes from `rapier_model_create`.
#[no_mangle]
pub unsafe extern "C" fn rapier_world_add(world: &mut World, body: &Body) -> u32 {
    let form = match (body.model.as_ref(), body.stock) {
        (Some(model), _) => Form::Model(model),
        (None, 1) => Form::Plane,
        (None, 2) => Form::Box(body.size),
        (None, _) => Form::Ball(body.size[0]),
    };
    world.add(&form, body.mass, body.inertia, &body.state) as u32
}

#[no_mangle]
pub extern "C" fn rapier_world_step(world: &mut World) {
    world.step();
}

#[no_mangle]
pub extern "C" fn rapier_world_get(world: &World, body: u32, state: &mut State) {
    *state = world.state(body as usize);
}

#[no_mangle]
pub extern "C" fn rapier_world_place(world: &mut World, body: u32, pose: &[f64; 7]) {
    world.place(body as usize, *pose);
}

#[no_mangle]
pub extern "C" fn rapier_world_narrowphase_seconds(world: &World) -> f64 {
    world.narrowphase_seconds()
}

#[no_mangle]
pub extern "C" fn rapier_world_contacts(world: &World) -> usize {
    world.contacts()
}

#[no_mangle]
pub extern "C" fn rapier_world_cast_ray(
    world: &mut World,
    from: &[f64; 3],
    to: &[f64; 3],
    point: &mut [f64; 3],
    normal: &mut [f64; 3],
) -> u32 {
    let Some(hit) = world.cast_ray(*from, *to) else { return 0 };
    [*point, *normal] = hit;
    1
}
