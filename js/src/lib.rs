//! The C API for JavaScript: functions of numbers and of arrays in the module's memory, so that no layout of a struct crosses
//! the border. `voxshell.mjs` calls them, and gives them pointers from [`vxj_alloc`] only.
//!
//! A function returns the status of the C API, 0 for success, or a number of results where that is said. The message of a
//! failure is that of `vxs_last_error`. A pose is 7 numbers: position, metres, and unit quaternion x, y, z, w.

use std::alloc::{alloc, dealloc, Layout};
use std::cell::RefCell;
use std::ffi::{c_char, c_void, CString};
use std::path::Path;
use std::ptr::null_mut;
use std::slice::from_raw_parts;

use voxshell::capi::asset::{vxs_shape_deserialize, vxs_shape_serialize};
use voxshell::capi::cook_options::*;
use voxshell::capi::create::*;
use voxshell::capi::forms::*;
use voxshell::capi::motion::*;
use voxshell::capi::primitive::*;
use voxshell::capi::query::*;
use voxshell::capi::query_options::*;
use voxshell::capi::shape::*;
use voxshell::capi::shape_info::*;
use voxshell::capi::status::*;
use voxshell::capi::types::*;
use voxshell::mesh::TriMesh;

#[link(wasm_import_module = "voxshell")]
extern "C" {
    /// Tells the progress of cooking: `stage` is a string of C; 0 in return cancels.
    fn progress(stage: *const c_char, fraction: f64) -> i32;
}

/// Numbers of a contact in an array: points on A and on B, normal, separation, toi, feature.
const CONTACT: usize = 12;
/// Numbers of a hit of a segment: fraction, point, normal, and 1 or 0.
const HIT: usize = 8;

struct Workspace(*mut vxs_workspace);

thread_local! {
    static WORKSPACE: RefCell<(Workspace, Vec<vxs_contact>)> = const { RefCell::new((Workspace(null_mut()), Vec::new())) };
}

fn vector(v: vxs_vec3) -> [f64; 3] {
    [v.x, v.y, v.z]
}

unsafe fn point(p: *const f64) -> vxs_vec3 {
    vxs_vec3 { x: *p, y: *p.add(1), z: *p.add(2) }
}

unsafe fn pose(p: *const f64) -> vxs_pose {
    let [qx, qy, qz, qw] = [3, 4, 5, 6].map(|i| *p.add(i));
    vxs_pose { position: point(p), qx, qy, qz, qw }
}

unsafe fn put_contact(c: &vxs_contact, out: *mut f64) {
    let rows =
        [vector(c.point_on_a), vector(c.point_on_b), vector(c.normal), [c.separation, c.toi, f64::from(c.feature)]];
    for (i, x) in rows.concat().into_iter().enumerate() {
        *out.add(i) = x;
    }
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.max(1), 8).ok()
}

/// Returns memory for `bytes` bytes, aligned to 8; 0 if there is none.
#[no_mangle]
pub extern "C" fn vxj_alloc(bytes: usize) -> *mut u8 {
    // SAFETY: the size is not 0.
    layout(bytes).map_or(null_mut(), |layout| unsafe { alloc(layout) })
}

/// # Safety
/// `memory` is of [`vxj_alloc`] with the same number of bytes.
#[no_mangle]
pub unsafe extern "C" fn vxj_free(memory: *mut u8, bytes: usize) {
    if let Some(layout) = layout(bytes) {
        dealloc(memory, layout);
    }
}

/// Returns the message of the last failure, a string of C.
#[no_mangle]
pub extern "C" fn vxj_error() -> *const c_char {
    vxs_last_error()
}

unsafe extern "C" fn report(stage: *const c_char, fraction: f64, _user: *mut c_void) -> bool {
    progress(stage, fraction) != 0
}

/// Options of cooking from 8 numbers: resolution, voxel_size, samples, spacing, sampling, storage, offset, target_error;
/// NaN for the default of each.
unsafe fn options(given: *const f64) -> vxs_cook_options {
    let mut options: vxs_cook_options = std::mem::zeroed();
    vxs_cook_options_init(&mut options, size_of::<vxs_cook_options>());
    options.progress = Some(report);
    let at = |i: usize| Some(*given.add(i)).filter(|x| !x.is_nan());
    // Numbers out of the range of u32 are cut to it; the library then refuses them.
    let whole = |i: usize, to: &mut u32| *to = at(i).map_or(*to, |x| x as u32);
    whole(0, &mut options.resolution);
    whole(2, &mut options.sample_count);
    whole(4, &mut options.sampling);
    whole(5, &mut options.field_storage);
    options.voxel_size = at(1).unwrap_or(options.voxel_size);
    options.spacing = at(3).unwrap_or(options.spacing);
    options.offset = at(6).unwrap_or(options.offset);
    options.target_error = at(7).unwrap_or(options.target_error);
    options
}

/// Cooks triangles: 3 numbers per vertex, 3 indices per triangle.
///
/// # Safety
/// The pointers are to as many numbers as said, and to 8 options.
#[no_mangle]
pub unsafe extern "C" fn vxj_cook(
    vertices: *const f64,
    vertex_count: usize,
    indices: *const u32,
    index_count: usize,
    given: *const f64,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    let triangles = index_count / 3;
    vxs_shape_create_from_triangles(vertices.cast(), vertex_count, indices, triangles, &options(given), shape)
}

thread_local! {
    /// The mesh of the last file, and why there is none.
    static READ: RefCell<(Option<TriMesh>, CString)> = RefCell::default();
}

/// Reads the bytes of a mesh file for [`vxj_cook_read`]; the extension of its name tells the type. Returns 1 if it is no mesh;
/// [`vxj_read_error`] then says why.
///
/// # Safety
/// `bytes` is to `count` bytes, `name` to `length` bytes.
#[no_mangle]
pub unsafe extern "C" fn vxj_read(bytes: *const u8, count: usize, name: *const u8, length: usize) -> i32 {
    let name = String::from_utf8_lossy(from_raw_parts(name, length)).into_owned();
    let (mesh, message) = match voxshell::mesh::io::read(from_raw_parts(bytes, count), Path::new(&name)) {
        Ok(mesh) => (Some(mesh), String::new()),
        Err(error) => (None, error.to_string()),
    };
    let failed = i32::from(mesh.is_none());
    READ.set((mesh, CString::new(message.replace('\0', " ")).unwrap_or_default()));
    failed
}

/// Returns why the last file was no mesh, a string of C.
#[no_mangle]
pub extern "C" fn vxj_read_error() -> *const c_char {
    READ.with_borrow(|(_, message)| message.as_ptr())
}

/// Cooks the mesh of the last file.
///
/// # Safety
/// As [`vxj_cook`].
#[no_mangle]
pub unsafe extern "C" fn vxj_cook_read(given: *const f64, shape: *mut *mut vxs_shape) -> vxs_status {
    let mesh = READ.with_borrow_mut(|(mesh, _)| mesh.take()).unwrap_or_default();
    let (vertices, triangles) = (mesh.vertices.as_ptr(), mesh.triangles.as_ptr());
    let (points, count) = (mesh.vertices.len(), mesh.triangles.len());
    vxs_shape_create_from_triangles(vertices.cast(), points, triangles.cast(), count, &options(given), shape)
}

/// Writes the points and the normals of the samples, body frame.
///
/// # Safety
/// There is room for `room` points and normals.
#[no_mangle]
pub unsafe extern "C" fn vxj_samples(
    shape: *const vxs_shape,
    points: *mut f64,
    normals: *mut f64,
    room: usize,
) -> vxs_status {
    let (mut shell, mut count) = (null_mut(), 0);
    let status = vxs_shape_get_pointshell(shape, &mut shell);
    if status != VXS_OK {
        return status;
    }
    let status = vxs_pointshell_get_samples(shell, points.cast(), normals.cast(), room, &mut count);
    vxs_pointshell_release(shell);
    status
}

/// Writes the first sample of each part into which a level of the sphere tree divides the samples, and their number.
///
/// # Safety
/// There is room for `room` numbers; `count` is to one.
#[no_mangle]
pub unsafe extern "C" fn vxj_tree_level(
    shape: *const vxs_shape,
    level: u32,
    first: *mut u32,
    room: usize,
    count: *mut u32,
) -> vxs_status {
    let mut n = 0;
    let status = vxs_shape_get_segments(shape, level, first, room, &mut n);
    *count = n as u32;
    status
}

/// Cooks a primitive. Sizes that are NaN, and details of 0, keep their defaults.
///
/// # Safety
/// `size` is to 6 numbers, `detail` to 4, `given` to 8.
#[no_mangle]
pub unsafe extern "C" fn vxj_primitive(
    kind: u32,
    size: *const f64,
    detail: *const u32,
    given: *const f64,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    let mut primitive: vxs_primitive = std::mem::zeroed();
    let status = vxs_primitive_init(&mut primitive, size_of::<vxs_primitive>(), kind);
    if status != VXS_OK {
        return status;
    }
    for (i, to) in primitive.size.iter_mut().enumerate() {
        *to = Some(*size.add(i)).filter(|x| !x.is_nan()).unwrap_or(*to);
    }
    for (i, to) in primitive.detail.iter_mut().enumerate() {
        *to = Some(*detail.add(i)).filter(|n| *n != 0).unwrap_or(*to);
    }
    vxs_shape_create_primitive(&primitive, &options(given), shape)
}

/// Makes an exact shape without samples: a sphere of radius `a` (0), a box of half extents a, b, c (1), the half-space of
/// the normal (a, b, c) and the offset d (2).
///
/// # Safety
/// `shape` is to a place for a handle.
#[no_mangle]
pub unsafe extern "C" fn vxj_exact(
    kind: u32,
    a: f64,
    b: f64,
    c: f64,
    d: f64,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    let v = vxs_vec3 { x: a, y: b, z: c };
    match kind {
        0 => vxs_shape_create_sphere(a, shape),
        1 => vxs_shape_create_box(v, shape),
        _ => vxs_shape_create_half_space(v, d, shape),
    }
}

/// Reads the bytes of an asset file.
///
/// # Safety
/// `bytes` is to `count` bytes.
#[no_mangle]
pub unsafe extern "C" fn vxj_from_bytes(bytes: *const u8, count: usize, shape: *mut *mut vxs_shape) -> vxs_status {
    vxs_shape_deserialize(bytes.cast(), count, shape)
}

/// Writes the bytes of an asset file if there is `room`, and the number of them to `count`.
///
/// # Safety
/// `out` has room for `room` bytes; `shape` is a handle.
#[no_mangle]
pub unsafe extern "C" fn vxj_to_bytes(
    shape: *const vxs_shape,
    out: *mut u8,
    room: usize,
    count: *mut usize,
) -> vxs_status {
    vxs_shape_serialize(shape, out.cast(), room, count)
}

/// # Safety
/// `shape` is a handle, which ends.
#[no_mangle]
pub unsafe extern "C" fn vxj_release(shape: *mut vxs_shape) -> vxs_status {
    vxs_shape_release(shape)
}

/// Writes 15 numbers: vertices, triangles, grid (3), voxel size, largest error, samples, the box (6), and tree levels.
///
/// # Safety
/// `out` has room for them; `shape` is a handle.
#[no_mangle]
pub unsafe extern "C" fn vxj_info(shape: *const vxs_shape, out: *mut f64) -> vxs_status {
    let mut info: vxs_shape_info = std::mem::zeroed();
    let mut bounds: vxs_aabb = std::mem::zeroed();
    vxs_shape_info_init(&mut info, size_of::<vxs_shape_info>());
    for status in [vxs_shape_get_info(shape, &mut info), vxs_shape_get_bounds(shape, &mut bounds)] {
        if status != VXS_OK {
            return status;
        }
    }
    let [nx, ny, nz] = info.grid_dims;
    let counts = [info.vertex_count as f64, info.triangle_count as f64, f64::from(nx), f64::from(ny), f64::from(nz)];
    let field = [info.voxel_size, info.field_error_max, info.sample_count as f64];
    let levels = [f64::from(info.tree_levels)];
    let numbers = counts.into_iter().chain(field).chain(vector(bounds.min)).chain(vector(bounds.max)).chain(levels);
    for (i, x) in numbers.enumerate() {
        *out.add(i) = x;
    }
    VXS_OK
}

/// Writes the vertices and the indices of the mesh.
///
/// # Safety
/// There is room for the numbers that [`vxj_info`] tells.
#[no_mangle]
pub unsafe extern "C" fn vxj_mesh(
    shape: *const vxs_shape,
    vertices: *mut f64,
    vertex_count: usize,
    indices: *mut u32,
    index_count: usize,
) -> vxs_status {
    let (mut points, mut corners) = (0, 0);
    vxs_shape_get_triangles(shape, vertices.cast(), vertex_count, &mut points, indices, index_count, &mut corners)
}

/// Writes the signed distance of each of `count` points, body frame, and its gradient.
///
/// # Safety
/// `points` and `gradients` are to 3 numbers for each point, `distances` to one.
#[no_mangle]
pub unsafe extern "C" fn vxj_sample(
    shape: *const vxs_shape,
    points: *const f64,
    count: usize,
    distances: *mut f64,
    gradients: *mut f64,
) -> vxs_status {
    let mut field = null_mut();
    let mut status = vxs_shape_get_field(shape, &mut field);
    for i in 0..count {
        if status != VXS_OK {
            break;
        }
        let mut gradient = vxs_vec3 { x: 0.0, y: 0.0, z: 0.0 };
        status = vxs_field_distance(field, point(points.add(3 * i)), distances.add(i), &mut gradient);
        for (k, x) in vector(gradient).into_iter().enumerate() {
            *gradients.add(3 * i + k) = x;
        }
    }
    vxs_field_release(field);
    status
}

/// Writes the first hit of each of `count` segments, body frame.
///
/// # Safety
/// `from` and `to` are to 3 numbers for each segment, `out` to [`HIT`].
#[no_mangle]
pub unsafe extern "C" fn vxj_segments(
    shape: *const vxs_shape,
    from: *const f64,
    to: *const f64,
    count: usize,
    out: *mut f64,
) -> vxs_status {
    let mut hits = vec![std::mem::zeroed::<vxs_segment_hit>(); count];
    let status = vxs_shape_query_segments(shape, from.cast(), to.cast(), count, hits.as_mut_ptr());
    if status != VXS_OK {
        return status;
    }
    for (i, h) in hits.iter().enumerate() {
        let rest = [f64::from(u8::from(h.hit))];
        let row = [h.fraction].into_iter().chain(vector(h.point)).chain(vector(h.normal)).chain(rest);
        for (k, x) in row.enumerate() {
            *out.add(HIT * i + k) = x;
        }
    }
    VXS_OK
}

/// Calls a function with the workspace of all queries.
fn with_workspace(query: impl FnOnce(*mut vxs_workspace, &mut Vec<vxs_contact>) -> i32) -> i32 {
    WORKSPACE.with_borrow_mut(|(workspace, buffer)| {
        if workspace.0.is_null() {
            // SAFETY: a place for a handle.
            let status = unsafe { vxs_workspace_create(&mut workspace.0) };
            if status != VXS_OK {
                return -status;
            }
        }
        query(workspace.0, buffer)
    })
}

unsafe fn bodies(a: *const vxs_shape, at_a: *const f64, b: *const vxs_shape, at_b: *const f64) -> [vxs_body; 2] {
    [vxs_body { shape: a, pose: pose(at_a) }, vxs_body { shape: b, pose: pose(at_b) }]
}

/// Returns the default query of a coverage.
unsafe fn query_of(coverage: u32) -> vxs_query {
    let mut query: vxs_query = std::mem::zeroed();
    vxs_query_init(&mut query, size_of::<vxs_query>());
    vxs_query { coverage, ..query }
}

/// Finds the contacts of two shapes; returns their number, or minus the status. [`vxj_found`] has them.
///
/// # Safety
/// Shapes are handles, poses 7 numbers.
#[no_mangle]
pub unsafe extern "C" fn vxj_contacts(
    a: *const vxs_shape,
    at_a: *const f64,
    b: *const vxs_shape,
    at_b: *const f64,
    max_separation: f64,
    max_contacts: u32,
    coverage: u32,
) -> i32 {
    let [a, b] = bodies(a, at_a, b, at_b);
    let query = vxs_query { max_separation, max_contacts, ..query_of(coverage) };
    with_workspace(|workspace, buffer| loop {
        let (room, mut count) = (buffer.capacity(), 0);
        buffer.clear();
        let status = vxs_query_contacts(&a, &b, &query, workspace, buffer.as_mut_ptr(), room, &mut count);
        match status {
            VXS_OK => {
                buffer.set_len(count);
                return count as i32;
            }
            VXS_TRUNCATED => buffer.reserve(count),
            status => return -status,
        }
    })
}

/// Finds the closest or deepest contact; returns 1 if there is one, 0 beyond `max_distance`, or minus the status.
///
/// # Safety
/// As [`vxj_contacts`].
#[no_mangle]
pub unsafe extern "C" fn vxj_distance(
    a: *const vxs_shape,
    at_a: *const f64,
    b: *const vxs_shape,
    at_b: *const f64,
    max_distance: f64,
    coverage: u32,
) -> i32 {
    let [a, b] = bodies(a, at_a, b, at_b);
    let query = vxs_query { max_distance, ..query_of(coverage) };
    one(|workspace, contact, found| vxs_query_distance(&a, &b, &query, workspace, contact, found))
}

/// Finds when moving shapes first touch, by poses at the start and at the end; returns as [`vxj_distance`].
///
/// # Safety
/// As [`vxj_contacts`].
#[no_mangle]
pub unsafe extern "C" fn vxj_time_of_impact(
    a: *const vxs_shape,
    at_a: *const f64,
    b: *const vxs_shape,
    at_b: *const f64,
    is_straight: u32,
    max_separation: f64,
    coverage: u32,
) -> i32 {
    let motion = |at: *const f64| vxs_motion { from: pose(at), to: pose(at.add(7)) };
    let [a, b] = [(a, at_a), (b, at_b)].map(|(shape, at)| vxs_moving_body { shape, motion: motion(at) });
    let mut query: vxs_motion_query = std::mem::zeroed();
    vxs_motion_query_init(&mut query, size_of::<vxs_motion_query>());
    query.path = if is_straight == 0 { VXS_PATH_SCREW } else { VXS_PATH_STRAIGHT };
    (query.max_separation, query.coverage) = (max_separation, coverage);
    one(|workspace, contact, found| vxs_query_time_of_impact(&a, &b, &query, workspace, contact, found))
}

/// Runs a query for one contact.
fn one(query: impl FnOnce(*mut vxs_workspace, *mut vxs_contact, *mut bool) -> vxs_status) -> i32 {
    with_workspace(|workspace, buffer| {
        // SAFETY: plain numbers, which the call fills.
        let (mut contact, mut found) = (unsafe { std::mem::zeroed::<vxs_contact>() }, false);
        let status = query(workspace, &mut contact, &mut found);
        buffer.clear();
        if status != VXS_OK {
            return -status;
        }
        if found {
            buffer.push(contact);
        }
        i32::from(found)
    })
}

/// Writes the contacts of the last query, [`CONTACT`] numbers each.
///
/// # Safety
/// There is room for as many as the query returned.
#[no_mangle]
pub unsafe extern "C" fn vxj_found(out: *mut f64) {
    WORKSPACE.with_borrow(|(_, buffer)| {
        for (i, contact) in buffer.iter().enumerate() {
            put_contact(contact, out.add(CONTACT * i));
        }
    });
}
