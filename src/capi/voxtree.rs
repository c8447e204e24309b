//! Implicit sphere trees as objects.

use std::ffi::c_char;
use std::sync::Arc;

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::handle;
use super::record::argument::{Read, Written};
use super::status::*;
use super::types::*;
use super::workers;
use crate::field::{Field, SignedDistance};
use crate::math::Progress;
use crate::voxtree::{Branching, TreeOptions, VoxTree, Voxels};

/// An implicit sphere tree: the voxels of a shape in an octree, 64-tree or 512-tree, for queries of volume against volume (Ruffaldi et
/// al. 2008). Immutable and shared: any number of threads may use one at once.
pub struct vxs_voxtree {
    _opaque: [u8; 0],
}

impl handle::Opaque for vxs_voxtree {
    type Value = Arc<VoxTree>;
    const KIND: handle::Kind = handle::Kind::VoxTree;

    fn snapshot(tree: &Self::Value) -> Option<Vec<u8>> {
        crate::asset::tree_to_bytes(tree).ok()
    }
}

/// 8 children in a node.
pub const VXS_VOXTREE_8: u32 = 0;
/// 64 children in a node.
pub const VXS_VOXTREE_64: u32 = 1;
/// 512 children in a node.
pub const VXS_VOXTREE_512: u32 = 2;

const BRANCHINGS: [Branching; 3] = [Branching::Octree, Branching::Tree64, Branching::Tree512];

/// Resolution and kind of a tree. Fill it with `vxs_voxtree_options_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_voxtree_options {
    /// `sizeof(vxs_voxtree_options)`, set by `vxs_voxtree_options_init`.
    pub struct_size: u32,
    /// One of `VXS_VOXTREE_`. Default VXS_VOXTREE_8.
    pub branching: u32,
    /// Edge of a voxel, metres. 0: as `level` has it.
    pub voxel_size: f64,
    /// 0, the default: the voxels that the surface passes, for bodies that penetrate by less than their thickness. 1: those inside too.
    pub solid: u32,
    /// 1: voxels have no normals, which take 4 bytes each. Default 0.
    pub without_normals: u32,
    /// If `voxel_size` is 0: voxels so large that there are at most 2 to the power of `level` along each axis, 2 to 14. Otherwise 0.
    pub level: u32,
    /// Zero.
    pub reserved: u32,
    /// Largest memory of the tree with that needed to make it, bytes; 0: no limit. Default 4 GiB.
    pub memory_limit: u64,
}

/// Properties of a tree.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct vxs_voxtree_info {
    /// Edge of a voxel, metres.
    pub voxel_size: f64,
    /// Centre of the cube of the root, body frame, metres.
    pub center: vxs_vec3,
    /// Radius of the sphere around that cube, metres.
    pub root_radius: f64,
    /// Memory held, bytes.
    pub bytes: u64,
    pub voxel_count: u32,
    /// Number of nodes above the voxels.
    pub inner_count: u32,
    /// Level of the root; voxels have level 0.
    pub root_level: u32,
    /// One of `VXS_VOXTREE_`.
    pub branching: u32,
    /// 1 if the voxels inside are in the tree too, else 0.
    pub solid: u32,
    /// 1 if the voxels have normals, else 0.
    pub normals: u32,
}

impl Growable for vxs_voxtree_options {
    const ARGUMENT: &'static str = "options";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const NULLABLE: bool = false;

    fn defaults() -> Self {
        Self {
            struct_size: 0,
            branching: VXS_VOXTREE_8,
            voxel_size: 0.0,
            solid: 0,
            without_normals: 0,
            level: 0,
            reserved: 0,
            memory_limit: 4 << 30,
        }
    }
}

impl vxs_voxtree_options {
    /// Returns the options of the core; the voxel size may still be 0.
    fn to_core(self) -> Result<TreeOptions, Failure> {
        if self.reserved != 0 {
            return Err(Failure::argument("options->reserved", self.reserved, "0"));
        }
        let voxel_size = check::length_or_zero("options->voxel_size", self.voxel_size)?;
        match (voxel_size > 0.0, self.level) {
            (true, 0) | (false, 2..=14) => {}
            (true, level) => {
                return Err(Failure::argument("options->level", level, "0, because options->voxel_size is given"));
            }
            (false, level) => {
                return Err(Failure::argument("options->level", level, "2 to 14, because options->voxel_size is 0"));
            }
        }
        let solid = check::flag("options->solid", self.solid)?;
        Ok(TreeOptions {
            voxel_size,
            branching: check::choice("options->branching", self.branching, "VXS_VOXTREE_", &BRANCHINGS)?,
            voxels: if solid { Voxels::Solid } else { Voxels::Surface },
            normals: !check::flag("options->without_normals", self.without_normals)?,
            memory_limit: check::limit(self.memory_limit),
        })
    }
}

/// Fills `options` with the defaults: an octree of surface voxels with normals.
///
/// @param[out] options  the struct to fill
/// @param size          `sizeof(vxs_voxtree_options)`
/// @param voxel_size    edge of a voxel, metres; or 0, and then set `level`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, a size that no release had, a length out of range)
#[no_mangle]
pub unsafe extern "C" fn vxs_voxtree_options_init(
    options: *mut vxs_voxtree_options,
    size: usize,
    voxel_size: f64,
) -> vxs_status {
    entry!(vxs_voxtree_options_init, [], {
        let voxel_size = check::length_or_zero("voxel_size", voxel_size)?;
        check::init(options, size, vxs_voxtree_options { voxel_size, ..vxs_voxtree_options::defaults() })
    })
}

/// Creates the tree of a shape from its field; from its triangles if it is a sheet or has no field. The tree does not keep the shape.
///
/// @param shape         a shape with a field or triangles
/// @param options       prepared by `vxs_voxtree_options_init`
/// @param[out] voxtree  release it with `vxs_voxtree_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (also voxels so small that there are more than 32000 along an axis, and an infinite shape),
///         VXS_INVALID_HANDLE, VXS_UNSUPPORTED (neither field nor triangles), VXS_TOO_LARGE, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_voxtree_create_from_shape(
    shape: *const vxs_shape,
    options: *const vxs_voxtree_options,
    voxtree: *mut *mut vxs_voxtree,
) -> vxs_status {
    entry!(vxs_voxtree_create_from_shape(shape, options, voxtree), [shape], {
        let value = handle::get("shape", shape)?;
        let given = vxs_voxtree_options::read(options)?;
        let mut options = given.to_core()?;
        check::out("voxtree", voxtree)?;
        let field = value.field.as_deref().filter(|field| !matches!(field, Field::Sheet(_)));
        let bounds = match (field, &value.mesh) {
            (Some(field), _) => field.bounds(),
            (None, Some(mesh)) => mesh.bounds(),
            (None, None) => return Err(Failure::unsupported("shape has neither a field nor triangles")),
        };
        if options.voxel_size == 0.0 {
            options = options.with_level(&bounds, given.level)?;
        }
        let made = workers::work(|| match (field, &value.mesh) {
            (None, Some(mesh)) => VoxTree::from_mesh(mesh, &options, &Progress::none()),
            (Some(field), _) => VoxTree::from_field(field, &options, &Progress::none()),
            (None, None) => unreachable!("refused above"),
        })??;
        handle::create("voxtree", voxtree, Arc::new(made))
    })
}

/// Releases a handle.
///
/// @param voxtree  may be null, which does nothing
/// @return VXS_OK, VXS_INVALID_HANDLE (released before, or not a tree)
#[no_mangle]
pub unsafe extern "C" fn vxs_voxtree_release(voxtree: *mut vxs_voxtree) -> vxs_status {
    entry!(vxs_voxtree_release(voxtree), [], { handle::release("voxtree", voxtree) })
}

/// Gets the properties of a tree.
///
/// @param voxtree    the tree
/// @param[out] info  its properties
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_voxtree_get_info(voxtree: *const vxs_voxtree, info: *mut vxs_voxtree_info) -> vxs_status {
    entry!(vxs_voxtree_get_info(voxtree, info), [voxtree], {
        let tree = handle::get("voxtree", voxtree)?;
        check::out("info", info)?;
        let value = vxs_voxtree_info {
            voxel_size: tree.voxel_size(),
            center: tree.origin().into(),
            root_radius: tree.root_radius(),
            bytes: tree.bytes(),
            voxel_count: tree.voxel_count(),
            inner_count: tree.inner_count(),
            root_level: tree.root_level(),
            branching: tree.branching() as u32 - 1,
            solid: tree.is_solid().into(),
            normals: tree.has_normals().into(),
        };
        check::write(info, value)
    })
}

/// Writes a tree to a file of its own: to a temporary name first, which is then renamed.
///
/// @param voxtree  the tree
/// @param path     UTF-8 (on Unix: any bytes the file system takes); an existing file is replaced
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_IO, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_voxtree_save(voxtree: *const vxs_voxtree, path: *const c_char) -> vxs_status {
    entry!(vxs_voxtree_save(voxtree, Written(path)), [voxtree], {
        let tree = handle::get("voxtree", voxtree)?;
        let path = check::path("path", path)?;
        workers::save(|| crate::asset::save_tree(tree, &path))??;
        Ok(VXS_OK)
    })
}

/// Reads a tree from a file that `vxs_voxtree_save` wrote. All contents are checked before they are used.
///
/// @param path          UTF-8 (on Unix: any bytes the file system takes)
/// @param[out] voxtree  release it with `vxs_voxtree_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_IO, VXS_INVALID_FILE (the message tells the defect of the file), VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_voxtree_load(path: *const c_char, voxtree: *mut *mut vxs_voxtree) -> vxs_status {
    entry!(vxs_voxtree_load(Read(path), voxtree), [], {
        check::out("voxtree", voxtree)?;
        let path = check::path("path", path)?;
        let loaded = workers::work(|| crate::asset::load_tree(&path))??;
        handle::create("voxtree", voxtree, Arc::new(loaded))
    })
}
