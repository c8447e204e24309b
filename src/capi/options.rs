//! The growable option and report structs, and the functions that fill them with defaults.
//!
//! They start with `struct_size`, so that a caller built against an older header keeps working with a newer library: an
//! older size is accepted and the fields it does not have take their defaults. Unknown sizes are refused.

use std::ffi::c_void;

use super::check::{self, Growable};
use super::guard::entry;
use super::status::*;
use super::types::*;

/// Cook the signed distance field.
pub const VXS_FORM_FIELD: u32 = 1;
/// Cook the pointshell.
pub const VXS_FORM_POINTSHELL: u32 = 2;

/// Where the samples of the pointshell lie: what suits most meshes (mesh vertices, sharp edges and corners, and fill).
pub const VXS_SAMPLING_DEFAULT: u32 = 0;
/// One sample per voxel that the surface meets: the voxel's centre projected onto the surface.
pub const VXS_SAMPLING_PROJECTION: u32 = 1;
/// The vertices of the mesh and nothing else.
pub const VXS_SAMPLING_VERTICES: u32 = 2;
/// Evenly spread (blue noise) over the surface, with sharp edges and corners.
pub const VXS_SAMPLING_UNIFORM: u32 = 3;
/// Corners and sharp edges only, those edges at the spacing; open and non-manifold edges count as sharp. Not a cover of the
/// surface, but what can sink in between the samples of another body. A mesh without any is refused.
pub const VXS_SAMPLING_FEATURES: u32 = 4;

/// Sphere tree of minimal balls around clusters of samples.
pub const VXS_TREE_MINIMAL_BALLS: u32 = 0;
/// Sphere tree of nested spheres centred on samples.
pub const VXS_TREE_NESTED: u32 = 1;

/// The library chooses how the field is stored: now always `VXS_STORAGE_DENSE`.
pub const VXS_STORAGE_AUTO: u32 = 0;
/// Samples at all points of the grid: VXS_FIELD_DENSE.
pub const VXS_STORAGE_DENSE: u32 = 1;
/// Samples near the surface, in bricks of 8 x 8 x 8 voxels, and coarse ones elsewhere: VXS_FIELD_BRICKS. Memory goes with the
/// surface and not with the volume; within two voxels of the surface the field is the same to 1/3840 of a voxel.
pub const VXS_STORAGE_BRICKS: u32 = 2;

/// How to cook a mesh into a shape. Fill it with `vxs_cook_options_init`, then change what you want.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_cook_options {
    /// `sizeof(vxs_cook_options)`, set by `vxs_cook_options_init`.
    pub struct_size: u32,
    /// `VXS_FORM_` flags: which forms to cook. Default: both.
    pub forms: u32,
    /// Edge of a voxel, metres. 0, the default, takes it from `resolution`.
    pub voxel_size: f64,
    /// Voxels along the largest extent of the mesh; used when `voxel_size` is 0. Default 128.
    pub resolution: u32,
    /// Voxels between the mesh and the border of the grid, on every side.
    pub padding_voxels: u32,
    /// Largest gap between samples, metres. 0, the default, takes it from `sample_count`, or else from the voxel size.
    pub spacing: f64,
    /// About how many samples the pointshell should have; used when `spacing` is 0. 0, the default: as `spacing` says.
    pub sample_count: u32,
    /// One of `VXS_SAMPLING_`.
    pub sampling: u32,
    /// Edges where the surface turns by more than this are sampled along their length, radians.
    pub sharp_angle: f64,
    /// Children per node of the sphere tree, 2 to 64.
    pub branching: u32,
    /// One of `VXS_TREE_`.
    pub tree: u32,
    /// Most bytes that cooking one form may hold, whatever the mesh; else VXS_TOO_LARGE, before anything large is allocated.
    /// The finished field is there while the pointshell is made, and membranes are put across the holes of an open mesh
    /// beside its field, so at most twice as much is held at any time, and 4 MB.
    pub memory_limit: u64,
    /// Vertices closer than this are merged first, metres. Default 0: only those that coincide.
    pub weld_tolerance: f64,
    /// Called with the progress; null, the default: none.
    pub progress: vxs_progress_fn,
    /// Given to `progress`.
    pub progress_user: *mut c_void,
    /// One of `VXS_STORAGE_`.
    pub field_storage: u32,
    /// Must be 0.
    pub reserved: u32,
    /// Largest error of the field that is acceptable, metres: `field_error_max` of `vxs_shape_info`, as found when it is
    /// cooked, will not be above it. Chooses the voxel size, so `voxel_size` must be 0, and `resolution` is not looked at. It
    /// is found by cooking coarser fields first, which takes two or three times as long as the field itself.
    /// VXS_TOO_LARGE, when it cannot be met within `memory_limit`, says what was reached. 0, the default: as `voxel_size`
    /// and `resolution` say.
    pub target_error: f64,
    /// Metres; 0, the default: none. Else the surface is the outer one at this distance from the mesh, which may be any
    /// soup of triangles: thin sheets and patches become a solid with a rounded surface, gaps of less than twice this close,
    /// and what is enclosed is filled. At least a voxel's diagonal.
    pub offset: f64,
}

/// Box. size: half extents x, y, z.
pub const VXS_PRIMITIVE_BOX: u32 = 0;
/// Sphere. size: radius; detail: subdivisions of an icosahedron.
pub const VXS_PRIMITIVE_SPHERE: u32 = 1;
/// Capsule along y. size: radius, half height of its segment; detail: segments around.
pub const VXS_PRIMITIVE_CAPSULE: u32 = 2;
/// Cylinder along y. size: radius, half height; detail: segments around.
pub const VXS_PRIMITIVE_CYLINDER: u32 = 3;
/// Cone along y, centred at half its height. size: radius, height; detail: segments around.
pub const VXS_PRIMITIVE_CONE: u32 = 4;
/// Torus around y. size: major, minor radius; detail: segments around, around the tube.
pub const VXS_PRIMITIVE_TORUS: u32 = 5;
/// Torus knot around y. size: radius, tube radius; detail: p, q, segments along, around the tube.
pub const VXS_PRIMITIVE_TORUS_KNOT: u32 = 6;
/// Bowl, open upwards (y): a hemispherical shell. size: outer radius, thickness; detail: segments around.
pub const VXS_PRIMITIVE_BOWL: u32 = 7;
/// Peg along y with chamfered ends. size: radius, length, chamfer; detail: segments around.
pub const VXS_PRIMITIVE_PEG: u32 = 8;
/// Block with a through hole along y. size: half extents x, y, z, hole radius; detail: segments around the hole.
pub const VXS_PRIMITIVE_HOLE: u32 = 9;
/// Gear around y. size: outer radius, root radius, thickness, bore radius; detail: teeth.
pub const VXS_PRIMITIVE_GEAR: u32 = 10;
/// A bunny-like blob. size: scale (1: about 1 m large); detail: subdivisions.
pub const VXS_PRIMITIVE_BLOB: u32 = 11;
/// Hexagonal bolt with an ISO metric thread along y, its head's bearing face at y = 0, its tip at y = length. size: nominal
/// diameter, pitch, length, and by how much pitch diameter and major diameter are below those of the basic profile (ISO 965-1:
/// 0.118 and 0.178 mm in the middle of class 6g at M16, the default); detail: segments around, a multiple of 6.
pub const VXS_PRIMITIVE_BOLT: u32 = 12;
/// Hexagonal nut with an ISO metric thread around y, from y = 0 to its height. size: nominal diameter, pitch, height, and by how
/// much pitch diameter and minor diameter are above those of the basic profile (0.106 and 0.1875 mm in the middle of class 6H
/// at M16, the default); detail: segments around, a multiple of 6. At any height it fits a VXS_PRIMITIVE_BOLT of its diameter and
/// pitch when it is turned around y by that height over the pitch.
pub const VXS_PRIMITIVE_NUT: u32 = 13;

/// A mesh made by the library. Fill it with `vxs_primitive_init`, which also gives every kind a size and detail.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_primitive {
    /// `sizeof(vxs_primitive)`, set by `vxs_primitive_init`.
    pub struct_size: u32,
    /// One of `VXS_PRIMITIVE_`.
    pub kind: u32,
    /// Lengths in metres, as listed at the kind.
    pub size: [f64; 6],
    /// How finely it is cut into triangles, as listed at the kind; 0 for a good default.
    pub detail: [u32; 4],
}

/// The library chooses which body brings the pointshell: the one with fewer samples, unless these are farther apart than an
/// eighth of the smaller body's radius: then the one with the closer samples. Or whichever can.
pub const VXS_ROLES_AUTO: u32 = 0;
/// Pointshell of A against field of B.
pub const VXS_ROLES_SHELL_OF_A: u32 = 1;
/// Pointshell of B against field of A.
pub const VXS_ROLES_SHELL_OF_B: u32 = 2;
/// Both ways; the contacts are merged.
pub const VXS_ROLES_BOTH: u32 = 3;

/// All contacts are one manifold.
pub const VXS_SEGMENTATION_NONE: u32 = 0;
/// Segments are the nodes of a level of the pointshell's sphere tree: the deepest contact of each alone.
pub const VXS_SEGMENTATION_LEVEL: u32 = 1;
/// Segments are the regions in which contacts are connected, in space and in normal.
pub const VXS_SEGMENTATION_REGION: u32 = 2;

/// What a query looks for. Fill it with `vxs_query_init`, then change what you want.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_query {
    /// `sizeof(vxs_query)`, set by `vxs_query_init`.
    pub struct_size: u32,
    /// One of `VXS_ROLES_`.
    pub roles: u32,
    /// Contacts: those with a separation up to this are reported, metres. Default 0: touching or penetrating. May be
    /// negative.
    pub max_separation: f64,
    /// Distance: bodies farther apart than this are not found, metres. Default infinity.
    pub max_distance: f64,
    /// Contacts: reduce to this many, each region to as many, the deepest first and then the widest spread. Default 0: all
    /// of them.
    pub max_contacts: u32,
    /// Number of `preferred`.
    pub preferred_count: u32,
    /// Contacts: features that a reduction keeps when they are nearly as good as others, so that a manifold does not
    /// flicker from step to step: those of the last answer, in ascending order. Default: null, none.
    pub preferred: *const u32,
    /// Against sheets: samples deeper behind the surface than this are not looked for, metres, 0 or more. Default infinity:
    /// as deep as the sheet sees. A caller who knows that bodies cannot be deeper by now saves time.
    pub max_depth: f64,
    /// Contacts: one of `VXS_SEGMENTATION_`. What segment each contact is in, `vxs_workspace_get_segments` says.
    pub segmentation: u32,
    /// VXS_SEGMENTATION_LEVEL: the level, 0 for the root of the tree, which is one segment; the last one where there are
    /// fewer. Segments are numbered as the nodes of the level; those of B follow those of A when both bring pointshells.
    pub segment_level: u32,
    /// VXS_SEGMENTATION_REGION: contacts up to this far apart are connected, metres. Default 0: five halves of the larger
    /// `spacing` of the pointshells used.
    pub region_distance: f64,
    /// VXS_SEGMENTATION_REGION: and whose normals differ by at most this, radians, 0 to pi. Default pi / 4.
    pub region_angle: f64,
    /// VXS_SEGMENTATION_REGION: the segment of each of `preferred` in the last answer, so that a region keeps its number
    /// while it keeps some of its features. Default: null, and regions are numbered anew, deepest first.
    pub preferred_segments: *const u32,
    /// Contacts: spheres and samples that may be tested, after which the answer is what was found. Deepest first. What was left
    /// out, `vxs_workspace_get_report` bounds. Default 0: no limit.
    pub max_tests: u64,
    /// Contacts: time that may be taken, nanoseconds. The clock is read whenever eight nodes of the tree were opened; the
    /// limit is overrun by what those take and by making the contacts. Default 0: no limit.
    pub max_nanoseconds: u64,
    /// Contacts: nodes of the sphere tree with at most this radius are not refined, metres; a sample in their middle stands
    /// for them. Default 0: all samples are looked at.
    pub accuracy: f64,
    /// Contacts: when more samples of a pointshell than this are within `max_separation` and `max_gap`, only those that may count
    /// for a solver are contacts: of each part of the pointshell and each way its surface faces the one with the least gap, the
    /// deepest, and those of `preferred`. Default 0: all are. Not together with a limit, nor against sheets.
    pub crowd: u64,
    /// Contacts: samples with gaps above this are left out, but for those of `preferred`, metres. The gap is the separation at the
    /// end of a step: max(0, normal . (step_shift + step_turn x (point - step_center))) less than it is. Default infinity. Not
    /// together with a limit, nor against sheets.
    pub max_gap: f64,
    /// The step: the point of A, metres, world frame, that moves in it against B by `step_shift`, metres, while A turns around it by
    /// the vector `step_turn`, radians. Default 0.
    pub step_center: vxs_vec3,
    pub step_shift: vxs_vec3,
    pub step_turn: vxs_vec3,
}

/// Every contact was found.
pub const VXS_ANSWER_COMPLETE: u32 = 0;
/// Samples stand for balls as small as the accuracy.
pub const VXS_ANSWER_COARSE: u32 = 1;
/// A limit ended the search.
pub const VXS_ANSWER_PARTIAL: u32 = 2;
/// Of a crowd the most urgent contacts were.
pub const VXS_ANSWER_URGENT: u32 = 3;

/// What the last query of a workspace did. Call `vxs_query_report_init`, then `vxs_workspace_get_report`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_query_report {
    /// `sizeof(vxs_query_report)`, set by `vxs_query_report_init`.
    pub struct_size: u32,
    /// One of `VXS_ANSWER_`.
    pub answer: u32,
    /// Spheres of the tree, and samples, that were tested.
    pub node_tests: u64,
    pub sample_tests: u64,
    /// No sample that was left out has a separation below this, metres: a proof. Infinity when none was left out, minus
    /// infinity when nothing is known.
    pub least_missed: f64,
}

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

/// There was nothing to decide.
pub const VXS_SIGN_NONE: u32 = 0;
/// Counted crossings of the surface: it is closed, and wound consistently or made so.
pub const VXS_SIGN_CROSSINGS: u32 = 1;
/// Even or odd number of crossings: the surface is closed but cannot be oriented.
pub const VXS_SIGN_PARITY: u32 = 2;
/// Generalised winding number above one half: the surface is open.
pub const VXS_SIGN_WINDING_NUMBER: u32 = 3;
/// An offset surface: inside is what cannot be reached from far away without coming within the offset of the triangles.
pub const VXS_SIGN_OFFSET: u32 = 4;

/// What a shape is made of and how good it is. Call `vxs_shape_info_init`, then `vxs_shape_get_info`. What does not apply
/// is 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_shape_info {
    /// `sizeof(vxs_shape_info)`, set by `vxs_shape_info_init`.
    pub struct_size: u32,
    /// `VXS_FORM_` flags: which forms it has.
    pub forms: u32,
    /// Of the mesh that the shape keeps for drawing.
    pub vertex_count: u64,
    pub triangle_count: u64,
    /// One of `VXS_FIELD_`.
    pub field_kind: u32,
    /// Grid points along x, y, z.
    pub grid_dims: [u32; 3],
    /// One of `VXS_SIGN_`: how inside was told from outside.
    pub sign_rule: u32,
    /// 1 if the mesh is closed, 0 if it has open edges.
    pub mesh_closed: u32,
    /// Triangles that repeat an earlier one, with the same corners and winding, and triangles turned to agree with their
    /// neighbours.
    pub duplicate_triangles: u64,
    pub flipped_triangles: u64,
    /// Distance of grid points, metres.
    pub voxel_size: f64,
    /// Largest gradient of the interpolant: how much the field can change per metre.
    pub lipschitz: f64,
    /// Largest difference of the field from the mesh that a search found when it was cooked, metres: the true maximum is at least
    /// this. And the root mean square, over points spread on and near the surface.
    pub field_error_max: f64,
    pub field_error_rms: f64,
    /// Grid points where inside and outside could not be told reliably (open or self-intersecting meshes).
    pub uncertain_nodes: u64,
    /// Memory of the field, bytes.
    pub field_bytes: u64,
    /// Samples of the pointshell.
    pub sample_count: u64,
    /// Nodes and levels of its sphere tree, and children per node.
    pub tree_nodes: u64,
    pub tree_levels: u32,
    pub branching: u32,
    /// Largest distance from any point of the surface (for `VXS_SAMPLING_FEATURES`: of its sharp edges) to the nearest
    /// sample, metres.
    pub spacing: f64,
    /// Memory of the pointshell, bytes.
    pub pointshell_bytes: u64,
}

/// Fills `options` with the defaults.
///
/// @param[out] options  what to fill
/// @param size          `sizeof(vxs_cook_options)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_cook_options_init(options: *mut vxs_cook_options, size: usize) -> vxs_status {
    entry!(vxs_cook_options_init, [], { check::init(options, size, vxs_cook_options::defaults()) })
}

/// Fills `primitive` with the default size and detail of a kind.
///
/// @param[out] primitive  what to fill
/// @param size            `sizeof(vxs_primitive)`
/// @param kind            one of `VXS_PRIMITIVE_`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, a size that no release had, or an unknown kind)
#[no_mangle]
pub unsafe extern "C" fn vxs_primitive_init(primitive: *mut vxs_primitive, size: usize, kind: u32) -> vxs_status {
    entry!(vxs_primitive_init, [], { check::init(primitive, size, vxs_primitive::of_kind("kind", kind)?) })
}

/// Fills `query` with the defaults.
///
/// @param[out] query  what to fill
/// @param size        `sizeof(vxs_query)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_query_init(query: *mut vxs_query, size: usize) -> vxs_status {
    entry!(vxs_query_init, [], { check::init(query, size, vxs_query::defaults()) })
}

/// Prepares `report` for `vxs_workspace_get_report`: sets its size and zeroes the rest.
///
/// @param[out] report  what to fill
/// @param size         `sizeof(vxs_query_report)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_query_report_init(report: *mut vxs_query_report, size: usize) -> vxs_status {
    entry!(vxs_query_report_init, [], { check::init(report, size, vxs_query_report::defaults()) })
}

/// Prepares `info` for `vxs_shape_get_info`: sets its size and zeroes the rest.
///
/// @param[out] info  what to fill
/// @param size       `sizeof(vxs_shape_info)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_info_init(info: *mut vxs_shape_info, size: usize) -> vxs_status {
    entry!(vxs_shape_info_init, [], { check::init(info, size, vxs_shape_info::defaults()) })
}
