//! Hierarchies of convex hulls as objects, and queries of two of them.

use std::sync::Arc;

use super::check::{self, Growable, StartsWith};
use super::create;
use super::guard::{entry, Failure};
use super::handle;
use super::query::vxs_workspace;
use super::query_options::vxs_contact;
use super::record::argument::{if_found, list, Array};
use super::status::*;
use super::types::*;
use super::workers;
use crate::contact::{self, HullQuery};
use crate::math::{Pose, Progress};
use crate::mesh::simplify::{HullHierarchy, Level, SimplifyOptions};

/// The surface of a body as a hierarchy of convex hulls with levels of detail, for queries that refine only what can be felt
/// (Otaduy & Lin 2003). Immutable and shared: any number of threads may use one at once.
pub struct vxs_hulls {
    _opaque: [u8; 0],
}

impl handle::Opaque for vxs_hulls {
    type Value = Arc<HullHierarchy>;
    const KIND: handle::Kind = handle::Kind::Hulls;
}

/// How a hierarchy is made. Fill it with `vxs_hulls_options_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_hulls_options {
    /// `sizeof(vxs_hulls_options)`, set by `vxs_hulls_options_init`.
    pub struct_size: u32,
    /// Largest number of triangles of the mesh, 1 or more. Default 2^22.
    pub max_triangles: u32,
    /// Height above and below a vertex, along its normal, within which the surface around it counts as its support area, metres. 0, the
    /// default: a hundredth of the largest extent.
    pub contact_depth: f64,
}

/// Properties of a hierarchy.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_hulls_info {
    /// Memory held, bytes.
    pub bytes: u64,
    /// Number of hulls on all levels.
    pub hull_count: u32,
    /// Number of triangles of the surface; repeated and degenerate ones are not counted.
    pub triangle_count: u32,
    /// Number of levels, and of those that approximate the surface: the other ones, which are last, only bound it.
    pub level_count: u32,
    pub surface_level_count: u32,
}

/// A level of detail.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_hull_level {
    /// Number of hulls.
    pub hulls: u32,
    /// Number of triangles of the simplified surface; of the hulls for a level that only bounds the surface.
    pub triangles: u32,
    /// One over the length of the longest edge that was collapsed before the level was made, 1/m. Infinite for the finest level, 0 for
    /// levels that only bound the surface.
    pub resolution: f64,
    /// Bound on the Hausdorff distance, in both directions, between the original surface and that of the level, metres. Infinite for
    /// levels that only bound the surface.
    pub deviation: f64,
    /// Bound on the distance from any point of the original surface, and of the next finer level, to its hull, metres.
    pub reach: f64,
    /// Largest support area of a vertex, m².
    pub support_area: f64,
}

/// A hierarchy at a pose.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_hulls_body {
    /// Immutable and shared: any number of threads may use it at once.
    pub hulls: *const vxs_hulls,
    /// Body to world; unit quaternion (checked to 1e-6).
    pub pose: vxs_pose,
}

impl StartsWith<vxs_hulls> for vxs_hulls_body {}

/// Settings of a query of two hierarchies. Fill it with `vxs_hulls_query_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_hulls_query {
    /// `sizeof(vxs_hulls_query)`, set by `vxs_hulls_query_init`.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Largest separation of a contact, metres; 0, the default, or more. No effect on distances.
    pub max_separation: f64,
    /// Largest distance that `vxs_query_hull_distance` looks for, metres; 0 or more. Default infinity.
    pub max_distance: f64,
    /// Detail that cannot be felt, metres: a detail of height s and width w at a contact of area D is left out if s w² / D is at most
    /// this (Otaduy & Lin 2003, section 5). Default 0: the original surfaces.
    pub tolerance: f64,
}

/// Closest points of two surfaces. World frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_hull_distance {
    /// Distance of the surfaces, metres: 0 if they intersect, also for a body inside another one never negative.
    pub distance: f64,
    pub point_on_a: vxs_vec3,
    pub point_on_b: vxs_vec3,
}

/// Cost of the last query of two hierarchies.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_hulls_report {
    /// Number of pairs of hulls looked at.
    pub pairs: u64,
    /// Number of tests of the direction that separated two hulls in an earlier query.
    pub bounds: u64,
    /// Number of distances of two hulls.
    pub distances: u64,
    /// Number of pairs of triangles tested.
    pub triangles: u64,
}

impl Growable for vxs_hulls_options {
    const ARGUMENT: &'static str = "options";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        let SimplifyOptions { contact_depth, max_triangles } = SimplifyOptions::default();
        Self { struct_size: 0, max_triangles: max_triangles as u32, contact_depth }
    }
}

impl vxs_hulls_options {
    fn to_core(self) -> Result<SimplifyOptions, Failure> {
        let max_triangles = check::in_range("options->max_triangles", self.max_triangles, 1, u32::MAX)? as usize;
        let contact_depth = check::length_or_zero("options->contact_depth", self.contact_depth)?;
        if contact_depth > 0.0 {
            check::length("options->contact_depth", contact_depth)?;
        }
        Ok(SimplifyOptions { contact_depth, max_triangles })
    }
}

impl Growable for vxs_hulls_query {
    const ARGUMENT: &'static str = "query";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        Self { struct_size: 0, reserved: 0, max_separation: 0.0, max_distance: f64::INFINITY, tolerance: 0.0 }
    }
}

impl vxs_hulls_query {
    /// Returns the query of the core for a limit of the separation.
    fn to_core(self, max_separation: f64) -> Result<HullQuery, Failure> {
        if self.reserved != 0 {
            return Err(Failure::argument("query->reserved", self.reserved, "0"));
        }
        let tolerance = check::length_or_zero("query->tolerance", self.tolerance)?;
        Ok(HullQuery { max_separation, tolerance })
    }
}

impl From<&Level> for vxs_hull_level {
    fn from(level: &Level) -> Self {
        let Level { hulls, triangles, resolution, deviation, reach, support_area } = *level;
        Self { hulls, triangles, resolution, deviation, reach, support_area }
    }
}

unsafe fn placed<'a>(argument: &str, body: *const vxs_hulls_body) -> Result<(&'a HullHierarchy, Pose), Failure> {
    let body = check::input(argument, body)?;
    let hulls = &**handle::get(format_args!("{argument}->hulls"), body.hulls)?;
    Ok((hulls, check::pose_value(format_args!("{argument}->pose."), &body.pose)?))
}

/// Fills `options` with the defaults.
///
/// @param[out] options  the struct to fill
/// @param size          `sizeof(vxs_hulls_options)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_hulls_options_init(options: *mut vxs_hulls_options, size: usize) -> vxs_status {
    entry!(vxs_hulls_options_init, [], { check::init(options, size, vxs_hulls_options::defaults()) })
}

/// Creates the hierarchy of the triangles of a shape. It takes about 50 microseconds per triangle. The hierarchy does not keep the shape.
///
/// The surface may be open, non-manifold or self-intersecting. Vertices move by at most the extent of the mesh divided by 2^40, to a
/// lattice on which the hulls are exactly convex. The same mesh gives the same bytes on any number of threads.
///
/// @param shape       a shape with triangles
/// @param options     prepared by `vxs_hulls_options_init`; null for the defaults
/// @param[out] hulls  release it with `vxs_hulls_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_INVALID_MESH (more triangles than the limit, or none with three
///         different corners), VXS_UNSUPPORTED (a shape without triangles), VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_hulls_create_from_shape(
    shape: *const vxs_shape,
    options: *const vxs_hulls_options,
    hulls: *mut *mut vxs_hulls,
) -> vxs_status {
    entry!(vxs_hulls_create_from_shape(shape, options, hulls), [shape], {
        let value = handle::get("shape", shape)?;
        let options = vxs_hulls_options::read(options)?.to_core()?;
        check::out("hulls", hulls)?;
        let Some(mesh) = &value.mesh else { return Err(Failure::unsupported("shape has no triangles")) };
        let made = workers::work(|| HullHierarchy::build(mesh, &options, &Progress::none()))??;
        handle::create("hulls", hulls, Arc::new(made))
    })
}

/// Creates the hierarchy of a mesh, as `vxs_hulls_create_from_shape`.
///
/// @param vertices       corners of the triangles, metres
/// @param vertex_count   number of vertices
/// @param indices        three per triangle, anticlockwise from outside
/// @param triangle_count number of triangles
/// @param options        prepared by `vxs_hulls_options_init`; null for the defaults
/// @param[out] hulls     release it with `vxs_hulls_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_MESH, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_hulls_create_from_triangles(
    vertices: *const vxs_vec3,
    vertex_count: usize,
    indices: *const u32,
    triangle_count: usize,
    options: *const vxs_hulls_options,
    hulls: *mut *mut vxs_hulls,
) -> vxs_status {
    entry!(
        vxs_hulls_create_from_triangles(
            Array(vertices, vertex_count),
            vertex_count,
            Array(indices, triangle_count.saturating_mul(3)),
            triangle_count,
            options,
            hulls
        ),
        [],
        {
            check::out("hulls", hulls)?;
            let options = vxs_hulls_options::read(options)?.to_core()?;
            let mesh = create::mesh(vertices, vertex_count, indices, triangle_count)?;
            let made = workers::work(|| HullHierarchy::build(&mesh, &options, &Progress::none()))??;
            handle::create("hulls", hulls, Arc::new(made))
        }
    )
}

/// Releases a handle.
///
/// @param hulls  may be null, which does nothing
/// @return VXS_OK, VXS_INVALID_HANDLE (released before, or not a hierarchy of hulls)
#[no_mangle]
pub unsafe extern "C" fn vxs_hulls_release(hulls: *mut vxs_hulls) -> vxs_status {
    entry!(vxs_hulls_release(hulls), [], { handle::release("hulls", hulls) })
}

/// Gets the properties of a hierarchy.
///
/// @param hulls      the hierarchy
/// @param[out] info  its properties
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_hulls_get_info(hulls: *const vxs_hulls, info: *mut vxs_hulls_info) -> vxs_status {
    entry!(vxs_hulls_get_info(hulls, info), [hulls], {
        let value = handle::get("hulls", hulls)?;
        check::out("info", info)?;
        let filled = vxs_hulls_info {
            bytes: value.bytes(),
            hull_count: value.nodes.len() as u32,
            triangle_count: value.mesh.triangles.len() as u32,
            level_count: value.levels.len() as u32,
            surface_level_count: value.surfaces.len() as u32,
        };
        check::write(info, filled)
    })
}

/// Gets the levels of a hierarchy, finest first.
///
/// @param hulls        the hierarchy
/// @param[out] levels  at most `capacity`; may be null if `capacity` is 0
/// @param capacity     number of elements in `levels`
/// @param[out] count   number of levels, even if it exceeds `capacity`
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `*count` tells the number), VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_hulls_get_levels(
    hulls: *const vxs_hulls,
    levels: *mut vxs_hull_level,
    capacity: usize,
    count: *mut usize,
) -> vxs_status {
    entry!(vxs_hulls_get_levels(hulls, list(levels, capacity, count), capacity, count), [hulls], {
        let value = handle::get("hulls", hulls)?;
        check::list("levels", levels, capacity, count)?.write(value.levels.iter().map(Into::into))
    })
}

/// Creates a shape that shares all data of another one and has a hierarchy of hulls, for haptics with VXS_DETECTION_HULLS. Asset files do
/// not contain the hierarchy, and scaled copies do not keep it.
///
/// @param shape     the shape; it stays unchanged
/// @param hulls     the hierarchy, which is shared, not copied; of the same body, which is not checked
/// @param[out] out  release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_with_hulls(
    shape: *const vxs_shape,
    hulls: *const vxs_hulls,
    out: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(vxs_shape_create_with_hulls(shape, hulls, out), [shape, hulls], {
        let value = handle::get("shape", shape)?;
        let hierarchy = handle::get("hulls", hulls)?;
        check::out("out", out)?;
        handle::create("out", out, Arc::new(value.with_hulls(hierarchy.clone())))
    })
}

/// Gets the hierarchy of hulls of a shape; it is shared, not copied.
///
/// @param shape       the shape
/// @param[out] hulls  release it with `vxs_hulls_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED (the shape has no hulls)
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_get_hulls(shape: *const vxs_shape, hulls: *mut *mut vxs_hulls) -> vxs_status {
    entry!(vxs_shape_get_hulls(shape, hulls), [shape], {
        let Some(found) = &handle::get("shape", shape)?.hulls else {
            return Err(Failure::unsupported("shape has no hulls"));
        };
        handle::create("hulls", hulls, found.clone())
    })
}

/// Fills `query` with the defaults: contacts and distances of the original surfaces.
///
/// @param[out] query  the struct to fill
/// @param size        `sizeof(vxs_hulls_query)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_hulls_query_init(query: *mut vxs_hulls_query, size: usize) -> vxs_status {
    entry!(vxs_hulls_query_init, [], { check::init(query, size, vxs_hulls_query::defaults()) })
}

/// Finds the contacts of two bodies at two poses: at most one for each pair of convex pieces of the surfaces, at the level of detail that
/// `query->tolerance` needs. The depth of overlapping pieces is the smallest along the normals of their faces. Once the workspace is warm,
/// the query allocates nothing and takes no lock; the same input gives the same bytes.
///
/// @param a, b           the two bodies; their hierarchies may be the same
/// @param query          settings of the query; null for the defaults
/// @param workspace      this thread's scratch; keeps the report and directions that separated hulls, which save time
/// @param[out] contacts  at most `capacity`, deepest first, normals from A to B; may be null if `capacity` is 0. `feature` is made of the
///                       numbers of the two hulls
/// @param capacity       number of elements in `contacts`
/// @param[out] count     number of contacts, even if it exceeds `capacity`
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `*count` tells the number), VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_query_hull_contacts(
    a: *const vxs_hulls_body,
    b: *const vxs_hulls_body,
    query: *const vxs_hulls_query,
    workspace: *mut vxs_workspace,
    contacts: *mut vxs_contact,
    capacity: usize,
    count: *mut usize,
) -> vxs_status {
    entry!(
        fast(vxs_query_hull_contacts(a, b, query, workspace, list(contacts, capacity, count), capacity, count)),
        [check::first_of(a), check::first_of(b), workspace],
        {
            let ((hulls_a, pose_a), (hulls_b, pose_b)) = (placed("a", a)?, placed("b", b)?);
            let query = vxs_hulls_query::read(query)?;
            let query = query.to_core(check::length_or_zero("query->max_separation", query.max_separation)?)?;
            let scratch = handle::get("workspace", workspace)?;
            let list = check::list("contacts", contacts, capacity, count)?;
            let mut scratch = scratch.lock("workspace")?;
            let bodies = [(hulls_a, &pose_a), (hulls_b, &pose_b)];
            let found = contact::hull_contacts(bodies, &query, &mut scratch.hulls)?;
            list.write(found.iter().map(Into::into))
        }
    )
}

/// Finds the distance of two surfaces and their closest points. With the tolerance 0 it is the distance of the triangles; else it may
/// differ by the deviations of the levels at which the query stopped. Memory and locks as `vxs_query_hull_contacts`.
///
/// @param a, b          the two bodies; their hierarchies may be the same
/// @param query         settings of the query; null for the defaults, which find any distance
/// @param workspace     this thread's scratch; keeps the report
/// @param[out] closest  distance and closest points; written if found
/// @param[out] found    false if the surfaces are farther apart than `query->max_distance`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_query_hull_distance(
    a: *const vxs_hulls_body,
    b: *const vxs_hulls_body,
    query: *const vxs_hulls_query,
    workspace: *mut vxs_workspace,
    closest: *mut vxs_hull_distance,
    found: *mut bool,
) -> vxs_status {
    entry!(
        fast(vxs_query_hull_distance(a, b, query, workspace, if_found(closest, found), found)),
        [check::first_of(a), check::first_of(b), workspace],
        {
            let ((hulls_a, pose_a), (hulls_b, pose_b)) = (placed("a", a)?, placed("b", b)?);
            let query = vxs_hulls_query::read(query)?;
            let most = check::bound("query->max_distance", query.max_distance)?;
            if most < 0.0 {
                return Err(Failure::argument("query->max_distance", most, "0 or more metres, or infinity"));
            }
            let query = query.to_core(most)?;
            let scratch = handle::get("workspace", workspace)?;
            check::out("closest", closest)?;
            check::out("found", found)?;
            let mut scratch = scratch.lock("workspace")?;
            let bodies = [(hulls_a, &pose_a), (hulls_b, &pose_b)];
            let answer = contact::hull_distance(bodies, &query, &mut scratch.hulls)?;
            if let Some((distance, [on_a, on_b])) = answer {
                closest.write(vxs_hull_distance { distance, point_on_a: on_a.into(), point_on_b: on_b.into() });
            }
            found.write(answer.is_some());
            Ok(VXS_OK)
        }
    )
}

/// Gets the cost of the last query of two hierarchies in a workspace.
///
/// @param workspace    the workspace of the query
/// @param[out] report  all 0 before the first query
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_workspace_get_hulls_report(
    workspace: *mut vxs_workspace,
    report: *mut vxs_hulls_report,
) -> vxs_status {
    entry!(fast(vxs_workspace_get_hulls_report(workspace, report)), [workspace], {
        let scratch = handle::get("workspace", workspace)?;
        check::out("report", report)?;
        let last = scratch.lock("workspace")?.hulls.stats();
        let contact::HullStats { pairs, bounds, distances, triangles } = last;
        check::write(report, vxs_hulls_report { pairs, bounds, distances, triangles })
    })
}
