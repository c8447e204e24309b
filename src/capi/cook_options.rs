//! Cooking options.

use std::ffi::{c_char, c_void};

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::status::*;
use crate::asset::{CookOptions, Forms, Resolution, Storage};
use crate::pointshell::{Clustering, Sampling, TreeKind};

/// Cook the signed distance field.
pub const VXS_FORM_FIELD: u32 = 1;
/// Cook the pointshell.
pub const VXS_FORM_POINTSHELL: u32 = 2;

/// Default positions of the samples, which suit most meshes: mesh vertices, sharp edges and corners, and fill.
pub const VXS_SAMPLING_DEFAULT: u32 = 0;
/// One sample per voxel that the surface meets: the voxel's centre projected onto the surface.
pub const VXS_SAMPLING_PROJECTION: u32 = 1;
/// The vertices of the mesh and nothing else.
pub const VXS_SAMPLING_VERTICES: u32 = 2;
/// Evenly spread (blue noise) over the surface, with sharp edges and corners.
pub const VXS_SAMPLING_UNIFORM: u32 = 3;
/// Corners and sharp edges only, the edges sampled at the spacing; open and non-manifold edges count as sharp. The
/// samples do not cover the surface, but cover the features that can sink in between the samples of another body. A
/// mesh without such features is refused.
pub const VXS_SAMPLING_FEATURES: u32 = 4;

/// Sphere tree of minimal balls around clusters of samples.
pub const VXS_TREE_MINIMAL_BALLS: u32 = 0;
/// Sphere tree of nested spheres centred on samples.
pub const VXS_TREE_NESTED: u32 = 1;

/// Clusters of equal size, made round by exchanges between neighbours: the tightest spheres.
pub const VXS_CLUSTERING_BALANCED: u32 = 0;
/// Clusters by a walk from nearest to nearest sample, with outliers re-assigned (Sagardia et al. 2014, section 2.1.2): with
/// VXS_SAMPLING_PROJECTION and VXS_TREE_MINIMAL_BALLS the pointshell of the paper.
pub const VXS_CLUSTERING_GREEDY: u32 = 1;

/// The library chooses the storage of the field: `VXS_STORAGE_EXACT` for a closed mesh of at most 1,024 triangles where
/// `resolution`, `voxel_size`, `target_error` and `offset` are 0, else `VXS_STORAGE_DENSE`.
pub const VXS_STORAGE_AUTO: u32 = 0;
/// Samples at all points of the grid: VXS_FIELD_DENSE.
pub const VXS_STORAGE_DENSE: u32 = 1;
/// Samples near the surface, in bricks of 8 x 8 x 8 voxels, and coarse ones elsewhere: VXS_FIELD_BRICKS. Memory grows
/// with the surface area and not with the volume; within two voxels of the surface the field is the same to 1/3840 of a
/// voxel.
pub const VXS_STORAGE_BRICKS: u32 = 2;
/// Samples at all points of the grid, and the triangles of the mesh: VXS_FIELD_EXACT. Within two voxels of the
/// surface the distance is that to the triangles, so edges and corners are sharp. Where the surface near a voxel is
/// one plane, a query takes as long as in VXS_STORAGE_DENSE; elsewhere near the surface it searches the closest
/// triangle, which takes one to three microseconds. Only for closed meshes without an `offset`; others return
/// VXS_UNSUPPORTED. The grid has at least 6 `padding_voxels`.
pub const VXS_STORAGE_EXACT: u32 = 3;

/// Progress callback. Threads of the library call it while a shape is cooked, one call at a time.
///
/// @param stage     name of the current stage, such as "field"; valid during the call only
/// @param fraction  completed fraction of the stage, 0 to 1
/// @param user      `progress_user` of the options
/// @return true to continue, false to cancel: the callback is not called again, and the cooking call returns
///         VXS_CANCELLED. It must not throw. It may call the library, but calls that cook, scale, save or load return
///         VXS_BUSY, since other threads wait for it.
pub type vxs_progress_fn = Option<unsafe extern "C" fn(stage: *const c_char, fraction: f64, user: *mut c_void) -> bool>;

/// Options for cooking a mesh into a shape. Fill it with `vxs_cook_options_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_cook_options {
    /// `sizeof(vxs_cook_options)`, set by `vxs_cook_options_init`.
    pub struct_size: u32,
    /// `VXS_FORM_` flags: the forms to cook. Default: both.
    pub forms: u32,
    /// Edge of a voxel, metres. 0, the default, takes it from `resolution`.
    pub voxel_size: f64,
    /// Voxels along the largest extent of the mesh; used when `voxel_size` is 0. 0, the default: 32 in exact storage of at
    /// most 1,024 triangles, where the grid only answers away from the surface, else 128.
    pub resolution: u32,
    /// Voxels between the mesh and the border of the grid, on every side.
    pub padding_voxels: u32,
    /// Largest gap between samples, metres. 0, the default: derived from `sample_count`, or else from the voxel size.
    pub spacing: f64,
    /// Approximate number of samples of the pointshell; used when `spacing` is 0. 0, the default: `spacing` decides.
    pub sample_count: u32,
    /// One of `VXS_SAMPLING_`.
    pub sampling: u32,
    /// Edges where the surface turns by more than this are sampled along their length, radians.
    pub sharp_angle: f64,
    /// Children per node of the sphere tree, 2 to 64.
    pub branching: u32,
    /// One of `VXS_TREE_`.
    pub tree: u32,
    /// Largest number of bytes that cooking one form may hold, for any mesh. Cooking that would need more returns
    /// VXS_TOO_LARGE before it allocates anything large. The finished field stays allocated while the pointshell is
    /// made, and membranes are put across the holes of an open mesh beside its field, so that at most twice this limit,
    /// and 4 MB, is held at any time.
    pub memory_limit: u64,
    /// Vertices closer than this are merged first, metres. Default 0: only coincident vertices are merged.
    pub weld_tolerance: f64,
    /// Progress callback; null, the default: none.
    pub progress: vxs_progress_fn,
    /// Passed to `progress`.
    pub progress_user: *mut c_void,
    /// One of `VXS_STORAGE_`.
    pub field_storage: u32,
    /// One of `VXS_CLUSTERING_`.
    pub clustering: u32,
    /// Largest acceptable error of the field, metres: `field_error_max` of `vxs_shape_info`, as measured during
    /// cooking, will not exceed it. It determines the voxel size, so `voxel_size` must be 0, and `resolution` is
    /// ignored. The voxel size is found by cooking coarser fields first, which takes two or three times as long as the
    /// field itself. If the error cannot be met within `memory_limit`, the call returns VXS_TOO_LARGE and the message
    /// tells the error that was reached. 0, the default: `voxel_size` and `resolution` decide.
    pub target_error: f64,
    /// Offset distance, metres; 0, the default: no offset. Otherwise the surface is the outer surface at this distance
    /// from the mesh, which may be any triangle soup. Thin sheets and patches become a solid with a rounded surface,
    /// gaps narrower than twice this distance close, and enclosed space is filled. The distance must be at least a
    /// voxel's diagonal.
    pub offset: f64,
}

const STORAGES: [Storage; 4] = [Storage::Automatic, Storage::Dense, Storage::Bricks, Storage::Exact];
const CLUSTERINGS: [Clustering; 2] = [Clustering::Balanced, Clustering::Greedy];
const TREES: [TreeKind; 2] = [TreeKind::MinimalBalls, TreeKind::NestedOnSamples];

impl Growable for vxs_cook_options {
    const ARGUMENT: &'static str = "options";
    const SIZES: &'static [usize] = &[std::mem::size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        let core = CookOptions::default();
        let (voxel_size, resolution, target_error) = match core.resolution {
            Resolution::Automatic => (0.0, 0, 0.0),
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
            clustering: VXS_CLUSTERING_BALANCED,
            target_error,
            offset: core.field.offset,
        }
    }
}

impl vxs_cook_options {
    /// Converts to the options of the core. The progress callback is left out: it stays with the caller.
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
            (false, false) if c.resolution > 0 => Resolution::Cells(c.resolution),
            (false, false) => Resolution::Automatic,
        };
        core.storage = check::choice("options->field_storage", c.field_storage, "VXS_STORAGE_", &STORAGES)?;
        core.shell.clustering = check::choice("options->clustering", c.clustering, "VXS_CLUSTERING_", &CLUSTERINGS)?;
        core.field.padding_voxels = c.padding_voxels;
        core.field.offset = check::length_or_zero("options->offset", c.offset)?;
        core.field.memory_limit = c.memory_limit;
        core.shell.memory_limit = c.memory_limit;
        // NaN: the core chooses the voxel size once it has the mesh.
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
/// @param[out] options  the struct to fill
/// @param size          `sizeof(vxs_cook_options)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_cook_options_init(options: *mut vxs_cook_options, size: usize) -> vxs_status {
    entry!(vxs_cook_options_init, [], { check::init(options, size, vxs_cook_options::defaults()) })
}
