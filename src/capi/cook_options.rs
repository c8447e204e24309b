//! The options of cooking.

use std::ffi::{c_char, c_void};

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::status::*;
use crate::asset::{CookOptions, Forms, Resolution, Storage};
use crate::pointshell::{Sampling, TreeKind};

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

/// Called while a shape is cooked, from threads of the library, one call at a time.
///
/// @param stage     what is being done, such as "field"; valid during the call only
/// @param fraction  how much of the stage is done, 0 to 1
/// @param user      `progress_user` of the options
/// @return true to go on, false to cancel: it is not called again, and the cooking call returns VXS_CANCELLED. It must not
///         throw. It may call the library, but what cooks, scales, saves or loads returns VXS_BUSY, since other threads wait for it.
pub type vxs_progress_fn = Option<unsafe extern "C" fn(stage: *const c_char, fraction: f64, user: *mut c_void) -> bool>;

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

const STORAGES: [Storage; 3] = [Storage::Dense, Storage::Dense, Storage::Bricks];
const TREES: [TreeKind; 2] = [TreeKind::MinimalBalls, TreeKind::NestedOnSamples];

impl Growable for vxs_cook_options {
    const ARGUMENT: &'static str = "options";
    const SIZES: &'static [usize] =
        &[std::mem::offset_of!(Self, field_storage), std::mem::offset_of!(Self, offset), std::mem::size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        let core = CookOptions::default();
        let (voxel_size, resolution, target_error) = match core.resolution {
            Resolution::VoxelSize(h) => (h, 0, 0.0),
            Resolution::Cells(n) => (0.0, n, 0.0),
            Resolution::Error(e) => (0.0, 0, e),
        };
        Self {
            struct_size: 0,
            forms: VXS_FORM_FIELD | VXS_FORM_POINTSHELL,
            voxel_size,
            resolution,
            padding_voxels: core.field.padding_voxels,
            spacing: 0.0,
            sample_count: 0,
            sampling: VXS_SAMPLING_DEFAULT,
            sharp_angle: core.shell.sharp_angle,
            branching: core.shell.branching,
            tree: TREES.iter().position(|t| *t == core.shell.tree).unwrap_or_default() as u32,
            memory_limit: core.field.memory_limit,
            weld_tolerance: core.weld_tolerance,
            progress: None,
            progress_user: std::ptr::null_mut(),
            field_storage: VXS_STORAGE_AUTO,
            reserved: 0,
            target_error,
            offset: core.field.offset,
        }
    }
}

impl vxs_cook_options {
    /// For the core. All but the progress callback, which is the caller's to keep.
    pub(super) fn to_core(self) -> Result<CookOptions, Failure> {
        let c = self;
        const BOTH: u32 = VXS_FORM_FIELD | VXS_FORM_POINTSHELL;
        if c.forms == 0 || c.forms & !BOTH != 0 {
            return Err(Failure::argument(
                "options->forms",
                c.forms,
                "VXS_FORM_FIELD, VXS_FORM_POINTSHELL, or both (|)",
            ));
        }
        let voxel_size = check::length_or_zero("options->voxel_size", c.voxel_size)?;
        let spacing = check::length_or_zero("options->spacing", c.spacing)?;
        let weld_tolerance = check::length_or_zero("options->weld_tolerance", c.weld_tolerance)?;
        let mut core = CookOptions { weld_tolerance, ..CookOptions::default() };
        core.forms = Forms { field: c.forms & VXS_FORM_FIELD != 0, shell: c.forms & VXS_FORM_POINTSHELL != 0 };
        let target_error = check::length_or_zero("options->target_error", c.target_error)?;
        core.resolution = match (target_error > 0.0, voxel_size > 0.0) {
            (true, true) => {
                let expected = "0 beside a voxel_size, which it would choose";
                return Err(Failure::argument("options->target_error", target_error, expected));
            }
            (true, false) => Resolution::Error(target_error),
            (false, true) => Resolution::VoxelSize(voxel_size),
            (false, false) => Resolution::Cells(c.resolution),
        };
        core.storage = check::choice("options->field_storage", c.field_storage, "VXS_STORAGE_", &STORAGES)?;
        if c.reserved != 0 {
            return Err(Failure::argument("options->reserved", c.reserved, "0"));
        }
        core.field.padding_voxels = c.padding_voxels;
        core.field.offset = check::length_or_zero("options->offset", c.offset)?;
        core.field.memory_limit = c.memory_limit;
        core.shell.memory_limit = c.memory_limit;
        // NaN: the core chooses once it has the mesh.
        let methods = [
            core.shell.method,
            Sampling::Projection { voxel_size: f64::NAN },
            Sampling::Vertices,
            Sampling::Uniform,
            Sampling::Features,
        ];
        core.shell.method = check::choice("options->sampling", c.sampling, "VXS_SAMPLING_", &methods)?;
        core.shell.tree = check::choice("options->tree", c.tree, "VXS_TREE_", &TREES)?;
        core.shell.sharp_angle = check::in_range("options->sharp_angle", c.sharp_angle, 0.0, std::f64::consts::PI)?;
        core.shell.branching = check::in_range("options->branching", c.branching, 2, 64)?;
        if spacing > 0.0 {
            core.shell.spacing = spacing;
        } else if c.sample_count > 0 {
            core.shell.target_count = Some(c.sample_count as usize);
        }
        Ok(core)
    }
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
