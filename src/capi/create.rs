//! Creating shapes: cooked from triangles, read from mesh files, analytic.

use std::ffi::{c_char, c_void, CString};
use std::sync::{Arc, Mutex, PoisonError};

use super::check::{self, Growable};
use super::cook_options::*;
use super::guard::{entry, Failure};
use super::handle;
use super::log;
use super::primitive::vxs_primitive;
use super::record::argument::{Array, Read};
use super::status::*;
use super::types::*;
use super::workers;
use crate::asset::Shape;
use crate::field::{
    Ball, Capsule, Cone, ConvexHull, Cuboid, Cylinder, Field, HalfSpace, Sphere, SphereHull, Torus, MAX_BALLS,
};
use crate::math::clock::Instant;
use crate::math::Progress;
use crate::memory;
use crate::mesh::TriMesh;

/// The shape has no field.
pub const VXS_FIELD_NONE: u32 = 0;
/// Samples on a grid, interpolated.
pub const VXS_FIELD_DENSE: u32 = 1;
/// The exact field of a half-space, sphere, box, capsule, cylinder, cone, convex hull, or triangle mesh.
pub const VXS_FIELD_HALF_SPACE: u32 = 2;
pub const VXS_FIELD_SPHERE: u32 = 3;
pub const VXS_FIELD_BOX: u32 = 4;
pub const VXS_FIELD_CAPSULE: u32 = 5;
pub const VXS_FIELD_CYLINDER: u32 = 6;
pub const VXS_FIELD_CONE: u32 = 7;
pub const VXS_FIELD_CONVEX_HULL: u32 = 8;
pub const VXS_FIELD_TRIANGLES: u32 = 9;
/// The exact field of the convex hull of balls.
pub const VXS_FIELD_SPHERE_HULL: u32 = 10;
/// The distance to a sheet of triangles, which has no inside and is never negative.
pub const VXS_FIELD_SHEET: u32 = 11;
/// Samples near the surface, in bricks, and coarse ones elsewhere, interpolated.
pub const VXS_FIELD_BRICKS: u32 = 12;
/// The exact field of a torus.
pub const VXS_FIELD_TORUS: u32 = 13;
/// Samples on a grid, and the exact distance to the triangles within two voxels of the surface.
pub const VXS_FIELD_EXACT: u32 = 14;
/// The largest of these numbers.
pub const VXS_FIELD_LAST: u32 = 14;

/// Cooks a shape from triangles. The shape keeps a copy of them.
///
/// A field needs a surface that separates an inside from an outside. Cooking tolerates small holes, self-intersections
/// and flipped triangles, and `vxs_shape_get_info` reports them. Any surface can have a pointshell. Cooking is parallel
/// and gives the same result on any number of threads.
///
/// @param vertices        `vertex_count` points, metres, body frame, all finite
/// @param indices         `3 * triangle_count` vertex numbers, counter-clockwise seen from outside
/// @param options         cooking options; null for the defaults
/// @param[out] shape      release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_MESH (the message names the vertex or triangle, or the size: a
///         mesh of
///         less than 1e-18 m along every axis is refused), VXS_TOO_LARGE (the message tells the memory it would take),
///         VXS_OUT_OF_MEMORY (the system has less), VXS_CANCELLED
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_from_triangles(
    vertices: *const vxs_vec3,
    vertex_count: usize,
    indices: *const u32,
    triangle_count: usize,
    options: *const vxs_cook_options,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(
        vxs_shape_create_from_triangles(
            Array(vertices, vertex_count),
            vertex_count,
            Array(indices, triangle_count.saturating_mul(3)),
            triangle_count,
            options,
            shape
        ),
        [],
        {
            check::out("shape", shape)?;
            let options = vxs_cook_options::read(options)?;
            let mesh = mesh(vertices, vertex_count, indices, triangle_count)?;
            cook("vxs_shape_create_from_triangles", &mesh, &options, shape)
        }
    )
}

/// Computes an upper bound on the memory that `vxs_shape_create_from_triangles` holds at any time, its copies of the mesh
/// and the finished shape included. With this `memory_limit` it is not refused. In 99 of 100 random cases the bound is at
/// most ten times the true peak and 6 MB. The function reads every triangle. For an open mesh it cooks a field of at most
/// 32 voxels along the largest extent, to find how large the membranes across its holes are. For an `offset` it computes
/// distances on a coarse grid.
///
/// @param vertices        `vertex_count` points, metres, body frame, all finite
/// @param indices         `3 * triangle_count` vertex numbers
/// @param options         options that cooking would use; null for the defaults. `memory_limit` and `progress` are
///                        ignored
/// @param[out] bytes      written only on success
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_MESH, VXS_UNSUPPORTED (with a `target_error`, whose voxel size is
///         found
///         by cooking)
#[no_mangle]
pub unsafe extern "C" fn vxs_cook_estimate_memory(
    vertices: *const vxs_vec3,
    vertex_count: usize,
    indices: *const u32,
    triangle_count: usize,
    options: *const vxs_cook_options,
    bytes: *mut u64,
) -> vxs_status {
    entry!(
        vxs_cook_estimate_memory(
            Array(vertices, vertex_count),
            vertex_count,
            Array(indices, triangle_count.saturating_mul(3)),
            triangle_count,
            options,
            bytes
        ),
        [],
        {
            check::out("bytes", bytes)?;
            let options = vxs_cook_options::read(options)?;
            let mesh = mesh(vertices, vertex_count, indices, triangle_count)?;
            let options = options.to_core()?;
            check::write(bytes, workers::work(|| options.peak_memory(&mesh))??)
        }
    )
}

/// Cooks a shape from a mesh file: OBJ, STL (ASCII, binary) or PLY (ASCII, binary), chosen by its extension. The reader
/// refuses everything that it does not understand, and a binary file that holds less or more data than it announces.
///
/// @param path        UTF-8 (on Unix: any bytes the file system takes)
/// @param options     cooking options; null for the defaults
/// @param[out] shape  release it with `vxs_shape_release`
/// @return as `vxs_shape_create_from_triangles`, and VXS_IO, VXS_INVALID_FILE (unknown type, or contents that do not
///         match it)
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_from_file(
    path: *const c_char,
    options: *const vxs_cook_options,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(vxs_shape_create_from_file(Read(path), options, shape), [], {
        check::out("shape", shape)?;
        let path = check::path("path", path)?;
        let options = vxs_cook_options::read(options)?;
        let mesh = crate::mesh::io::load(&path)?;
        log::log(log::VXS_LOG_DEBUG, || format!("vxs_shape_create_from_file: read {}", path.display()));
        cook("vxs_shape_create_from_file", &mesh, &options, shape)
    })
}

/// Cooks a shape from a mesh made by the library.
///
/// @param primitive   the mesh; see `vxs_primitive_init`
/// @param options     cooking options; null for the defaults
/// @param[out] shape  release it with `vxs_shape_release`
/// @return as `vxs_shape_create_from_triangles`
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_primitive(
    primitive: *const vxs_primitive,
    options: *const vxs_cook_options,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(vxs_shape_create_primitive(primitive, options, shape), [], {
        check::out("shape", shape)?;
        let mesh = vxs_primitive::read(primitive)?.mesh()?;
        let options = vxs_cook_options::read(options)?;
        cook("vxs_shape_create_primitive", &mesh, &options, shape)
    })
}

/// Creates the half-space of all x with `normal` · x <= `offset`. Exact; a field only, so that it needs a partner with
/// a pointshell.
///
/// @param normal      outward, of any length but 0
/// @param offset      metres along the unit normal
/// @param[out] shape  release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_half_space(
    normal: vxs_vec3,
    offset: f64,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(vxs_shape_create_half_space(normal, offset, shape), [], {
        let normal = check::direction("normal", normal)?;
        let offset = check::coordinate("offset", offset)?;
        analytic(shape, || Ok(Field::HalfSpace(HalfSpace::new(normal, offset)?)))
    })
}

/// Creates a box centred at the origin. Exact; a field only.
///
/// @param half_extents  half the edge lengths, metres, all positive
/// @param[out] shape    release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_box(half_extents: vxs_vec3, shape: *mut *mut vxs_shape) -> vxs_status {
    entry!(vxs_shape_create_box(half_extents, shape), [], {
        let half = [
            check::length("half_extents.x", half_extents.x)?,
            check::length("half_extents.y", half_extents.y)?,
            check::length("half_extents.z", half_extents.z)?,
        ];
        analytic(shape, || Ok(Field::Cuboid(Cuboid::new(half)?)))
    })
}

/// Creates a sphere centred at the origin. Exact; a field only.
///
/// @param radius      metres, positive
/// @param[out] shape  release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_sphere(radius: f64, shape: *mut *mut vxs_shape) -> vxs_status {
    entry!(vxs_shape_create_sphere(radius, shape), [], {
        let radius = check::length("radius", radius)?;
        analytic(shape, || Ok(Field::Sphere(Sphere::new(radius)?)))
    })
}

/// Creates a capsule centred at the origin. Exact; a field only.
///
/// @param radius       metres, positive
/// @param half_height  half the length of its segment, without the caps, metres, positive
/// @param axis         0, 1, 2 for x, y, z
/// @param[out] shape   release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_capsule(
    radius: f64,
    half_height: f64,
    axis: u32,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(vxs_shape_create_capsule(radius, half_height, axis, shape), [], {
        let (radius, half) = (check::length("radius", radius)?, check::length("half_height", half_height)?);
        let axis = check::axis("axis", axis)?;
        analytic(shape, || Ok(Field::Capsule(Capsule::new(axis, radius, half)?)))
    })
}

/// Creates a cylinder centred at the origin. Exact; a field only.
///
/// @param radius       metres, positive
/// @param half_height  half its length, metres, positive
/// @param axis         0, 1, 2 for x, y, z
/// @param[out] shape   release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_cylinder(
    radius: f64,
    half_height: f64,
    axis: u32,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(vxs_shape_create_cylinder(radius, half_height, axis, shape), [], {
        let (radius, half) = (check::length("radius", radius)?, check::length("half_height", half_height)?);
        let axis = check::axis("axis", axis)?;
        analytic(shape, || Ok(Field::Cylinder(Cylinder::new(axis, radius, half)?)))
    })
}

/// Creates a cone with its tip at +height / 2 on the axis and its base at -height / 2. Exact; a field only.
///
/// @param radius      radius of the base, metres, positive
/// @param height      metres, positive
/// @param axis        0, 1, 2 for x, y, z
/// @param[out] shape  release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_cone(
    radius: f64,
    height: f64,
    axis: u32,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(vxs_shape_create_cone(radius, height, axis, shape), [], {
        let (radius, height) = (check::length("radius", radius)?, check::length("height", height)?);
        let axis = check::axis("axis", axis)?;
        analytic(shape, || Ok(Field::Cone(Cone::new(axis, radius, height)?)))
    })
}

/// Creates a torus around the origin. Exact; a field only.
///
/// @param ring_radius  radius of the circle in the middle of the tube, metres, positive
/// @param tube_radius  radius of the tube, metres, positive, less than `ring_radius`
/// @param axis         axis of the circle: 0, 1, 2 for x, y, z
/// @param[out] shape   release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_torus(
    ring_radius: f64,
    tube_radius: f64,
    axis: u32,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(vxs_shape_create_torus(ring_radius, tube_radius, axis, shape), [], {
        let (ring, tube) = (check::length("ring_radius", ring_radius)?, check::length("tube_radius", tube_radius)?);
        let axis = check::axis("axis", axis)?;
        analytic(shape, || Ok(Field::Torus(Torus::new(axis, ring, tube)?)))
    })
}

/// Creates the convex hull of points. Exact; a field only.
///
/// @param points       `point_count` points, metres, body frame; at least four that are not in one plane
/// @param[out] shape   release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (also for points without a volume)
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_convex_hull(
    points: *const vxs_vec3,
    point_count: usize,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(vxs_shape_create_convex_hull(Array(points, point_count), point_count, shape), [], {
        let points = check::points("points", "point_count", points, point_count, VXS_INVALID_ARGUMENT)?;
        check::out("shape", shape)?;
        let hull = workers::work(|| ConvexHull::new(&points))??;
        analytic(shape, || Ok(Field::ConvexHull(hull)))
    })
}

/// Creates a shape whose field is the distance to the triangles themselves, by their closest point: exact, and slow
/// compared with a cooked field. A field only.
///
/// @param vertices        `vertex_count` points, metres, body frame, all finite
/// @param indices         `3 * triangle_count` vertex numbers, counter-clockwise seen from outside
/// @param weld_tolerance  vertices closer than this are merged first, metres; 0 keeps all as they are
/// @param[out] shape      release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_MESH
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_triangles(
    vertices: *const vxs_vec3,
    vertex_count: usize,
    indices: *const u32,
    triangle_count: usize,
    weld_tolerance: f64,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(
        vxs_shape_create_triangles(
            Array(vertices, vertex_count),
            vertex_count,
            Array(indices, triangle_count.saturating_mul(3)),
            triangle_count,
            weld_tolerance,
            shape
        ),
        [],
        {
            check::out("shape", shape)?;
            let mesh = mesh(vertices, vertex_count, indices, triangle_count)?;
            let weld_tolerance = check::length_or_zero("weld_tolerance", weld_tolerance)?;
            let begin = Instant::now();
            let made = workers::work(|| {
                let mesh = match weld_tolerance {
                    0.0 => mesh,
                    reach => memory::guard("merging vertices", || Ok(mesh.welded(reach)))?,
                };
                Shape::from_triangles(mesh)
            })??;
            log::cooked("vxs_shape_create_triangles", &made, begin.elapsed());
            handle::create("shape", shape, Arc::new(made))
        }
    )
}

/// Creates a sheet: triangles with two sides and no inside, such as terrain or a wall. A field only: bodies with a
/// pointshell collide with it, from either side.
///
/// Each sample of a body asks the body's own field on which side of the sheet the body is. A sample that is up to
/// `depth` behind the sheet is recognised as having passed through it; a deeper sample is lost. Half the thickness of
/// the bodies is a good value: if more of a body is behind the sheet than in front of it, its contacts push it out on
/// the far side. A body without a field relies on the winding of the triangles instead: the sheet must then be wound
/// consistently, and bodies belong on its front side. The distance of the field itself (`vxs_field_distance`) is never
/// negative.
///
/// The sheet's open edges and sharp folds can sink in between the samples of a body. To prevent this, combine its field
/// by `vxs_shape_create` with a pointshell of the same triangles made with `VXS_SAMPLING_FEATURES`.
///
/// @param vertices    `vertex_count` points, metres, body frame, all finite
/// @param indices     `3 * triangle_count` vertex numbers; any triangle soup: open, flat, self-intersecting
/// @param depth       metres, positive
/// @param[out] shape  release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_MESH
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_sheet(
    vertices: *const vxs_vec3,
    vertex_count: usize,
    indices: *const u32,
    triangle_count: usize,
    depth: f64,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(
        vxs_shape_create_sheet(
            Array(vertices, vertex_count),
            vertex_count,
            Array(indices, triangle_count.saturating_mul(3)),
            triangle_count,
            depth,
            shape
        ),
        [],
        {
            check::out("shape", shape)?;
            let depth = check::length("depth", depth)?;
            let mesh = mesh(vertices, vertex_count, indices, triangle_count)?;
            let made = workers::work(|| Shape::from_sheet(mesh, depth))??;
            handle::create("shape", shape, Arc::new(made))
        }
    )
}

/// Creates the convex hull of balls, such as a multi-sphere. Exact, inside and outside; a field only. Balls inside the
/// hull of the others are dropped.
///
/// @param centers       `sphere_count` points, metres, body frame
/// @param radii         `sphere_count` lengths, metres; 0 for a point
/// @param sphere_count  1 to 64
/// @param[out] shape    release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (also if the hull has no volume: all points in one plane)
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_sphere_hull(
    centers: *const vxs_vec3,
    radii: *const f64,
    sphere_count: usize,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    // More are refused before they are read.
    let known = |count: usize| if count <= MAX_BALLS { count } else { usize::MAX };
    entry!(
        vxs_shape_create_sphere_hull(
            Array(centers, known(sphere_count)),
            Array(radii, known(sphere_count)),
            sphere_count,
            shape
        ),
        [],
        {
            let sphere_count = check::in_range("sphere_count", sphere_count, 1, MAX_BALLS)?;
            let centers = check::points("centers", "sphere_count", centers, sphere_count, VXS_INVALID_ARGUMENT)?;
            let radii = check::slice("radii", radii, "sphere_count", sphere_count)?;
            let balls = centers.iter().zip(radii).map(|(c, &radius)| Ball { center: (*c).into(), radius });
            let balls: Vec<Ball> = balls.collect();
            analytic(shape, || Ok(Field::SphereHull(SphereHull::new(&balls)?)))
        }
    )
}

/// Creates a copy of a shape, scaled about its origin in all its forms: triangles, field, pointshell, mass properties.
/// The copy takes as much memory as the original. Its answers are those of the original, scaled, up to rounding; a
/// factor that is a power of two changes no digit. The samples keep their numbers.
///
/// @param shape        the shape to scale; it stays unchanged
/// @param factor       positive and finite
/// @param[out] scaled  release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (also if a length would become too large or too small), VXS_INVALID_HANDLE,
///         VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_scaled(
    shape: *const vxs_shape,
    factor: f64,
    scaled: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(vxs_shape_create_scaled(shape, factor, scaled), [shape], {
        let value = handle::get("shape", shape)?;
        check::out("scaled", scaled)?;
        let made = workers::work(|| value.scaled(factor))??;
        handle::create("scaled", scaled, Arc::new(made))
    })
}

/// Cooks with the caller's progress callback, which gets one call at a time.
unsafe fn cook(
    name: &str,
    mesh: &TriMesh,
    options: &vxs_cook_options,
    shape: *mut *mut vxs_shape,
) -> Result<vxs_status, Failure> {
    let how = options.to_core()?;
    let begin = Instant::now();
    let made = match options.progress {
        None => workers::work(|| Shape::cook(mesh, &how, &Progress::none())),
        Some(callback) => {
            // Passes the address between threads as a number. By the contract of the callback, the caller answers for
            // its use.
            struct User {
                address: usize,
                goes_on: bool,
            }
            let user = Mutex::new(User { address: options.progress_user as usize, goes_on: true });
            let report = |stage: &str, fraction: f64| {
                let stage = CString::new(stage).unwrap_or_default();
                // This lock keeps no data per thread: a thread without memory could not allocate such data.
                let mut user = user.lock().unwrap_or_else(PoisonError::into_inner);
                let goes_on = || callback(stage.as_ptr(), fraction, user.address as *mut c_void);
                let goes_on = user.goes_on && workers::report(goes_on);
                user.goes_on = goes_on;
                user.goes_on
            };
            workers::work(|| Shape::cook(mesh, &how, &Progress::new(&report)))
        }
    }??;
    log::cooked(name, &made, begin.elapsed());
    handle::create("shape", shape, Arc::new(made))
}

unsafe fn analytic(
    shape: *mut *mut vxs_shape,
    make: impl FnOnce() -> crate::Result<Field>,
) -> Result<vxs_status, Failure> {
    check::out("shape", shape)?;
    handle::create("shape", shape, Arc::new(Shape::from_field(make()?)))
}

pub(super) unsafe fn mesh(
    vertices: *const vxs_vec3,
    vertex_count: usize,
    indices: *const u32,
    triangle_count: usize,
) -> Result<TriMesh, Failure> {
    if triangle_count == 0 {
        return Err(Failure::mesh("triangle_count is 0; expected at least one triangle"));
    }
    let points = check::points("vertices", "vertex_count", vertices, vertex_count, VXS_INVALID_MESH)?;
    let triangles = check::triangles("indices", indices, triangle_count, vertex_count)?;
    Ok(TriMesh::new(points, triangles)?)
}
