//! Material numbers of the triangles of a shape.

use std::sync::Arc;

use super::check;
use super::guard::entry;
use super::handle;
use super::record::argument::{list, Array};
use super::status::*;
use super::types::*;
use crate::memory::SliceGuarded;

/// In place of a material number: the shape has no materials, or there is no triangle.
pub const VXS_MATERIAL_NONE: u32 = u32::MAX;

/// Creates a shape that shares all data of another one and has a material number for each triangle. The numbers are the
/// user's own; `vxs_query_triangles` returns them. Asset files contain them, and scaled copies keep them. Cooking neither
/// removes nor reorders triangles: number i belongs to the triangle that was given as number i.
///
/// @param shape      the shape, made from a mesh; it stays unchanged
/// @param materials  `count` numbers, in the order of the triangles; any values. VXS_MATERIAL_NONE marks a triangle
///                   without a material
/// @param count      number of triangles of the shape
/// @param[out] out   release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (another number of triangles, or none), VXS_INVALID_HANDLE, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create_with_materials(
    shape: *const vxs_shape,
    materials: *const u32,
    count: usize,
    out: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(vxs_shape_create_with_materials(shape, Array(materials, count), count, out), [shape], {
        let value = handle::get("shape", shape)?;
        let materials = check::slice("materials", materials, "count", count)?;
        check::out("out", out)?;
        let made = crate::memory::guard("copying materials", || value.with_materials(materials.to_vec_guarded()))?;
        handle::create("out", out, Arc::new(made))
    })
}

/// Gets the material numbers of the triangles of a shape.
///
/// @param shape           the shape
/// @param[out] materials  in the order of the triangles, at most `capacity`; may be null if `capacity` is 0
/// @param capacity        number of elements in `materials`
/// @param[out] count      number of triangles; 0 for a shape without materials
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `*count` tells the number), VXS_INVALID_ARGUMENT,
///         VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_get_materials(
    shape: *const vxs_shape,
    materials: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> vxs_status {
    entry!(vxs_shape_get_materials(shape, list(materials, capacity, count), capacity, count), [shape], {
        let value = handle::get("shape", shape)?;
        let list = check::list("materials", materials, capacity, count)?;
        let numbers = value.materials.as_ref().map_or(&[][..], |m| m.as_slice());
        list.write(numbers.iter().copied())
    })
}

/// Prepares a shape for `vxs_query_triangles`: builds a hierarchy over its triangles. Otherwise the first such query does
/// so, which takes about 1 microsecond per triangle and allocates memory in the middle of a step. Does nothing for a shape
/// without triangles, and for a shape that is prepared. Any number of threads may call this and use the shape at once.
/// Handles to the same shape share the hierarchy; asset files do not contain it.
///
/// @param shape  the shape
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_prepare_triangles(shape: *const vxs_shape) -> vxs_status {
    entry!(vxs_shape_prepare_triangles(shape), [shape], {
        handle::get("shape", shape)?.locator()?;
        Ok(VXS_OK)
    })
}
