//! Shapes as files and as bytes.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use super::check;
use super::guard::{entry, Failure};
use super::handle;
use super::log;
use super::record::argument::{whole, Array, Read, Written};
use super::status::*;
use super::types::*;
use super::workers;
use crate::asset::{Shape, Store};

/// Compressed samples of a field in bricks. The file is small.
pub const VXS_STORE_COMPRESSED: u32 = 0;
/// Samples of a field in bricks as they are in memory: a larger file that loads faster, because nothing is unpacked.
pub const VXS_STORE_RAW: u32 = 1;

const STORES: [Store; 2] = [Store::Compressed, Store::Raw];

/// Writes a shape to an asset file, compressed: `vxs_shape_save_as` with `VXS_STORE_COMPRESSED`.
///
/// @param shape  the shape to write; must have a cooked field or a pointshell
/// @param path   UTF-8 (on Unix: any bytes the file system takes); an existing file is replaced
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_IO, VXS_UNSUPPORTED, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_save(shape: *const vxs_shape, path: *const c_char) -> vxs_status {
    entry!(vxs_shape_save(shape, Written(path)), [shape], {
        let value = handle::get("shape", shape)?;
        save("vxs_shape_save", value, path, Store::Compressed)
    })
}

/// Writes a shape to an asset file. It writes to a temporary name first and then renames the file, so that no
/// half-written file is ever visible. Shapes that were loaded from a file that is replaced keep the old file.
///
/// @param shape  the shape to write; must have a cooked field or a pointshell
/// @param path   UTF-8 (on Unix: any bytes the file system takes); an existing file is replaced
/// @param store  one of `VXS_STORE_`; affects only fields in bricks
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_IO, VXS_UNSUPPORTED, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_save_as(shape: *const vxs_shape, path: *const c_char, store: u32) -> vxs_status {
    entry!(vxs_shape_save_as(shape, Written(path), store), [shape], {
        let value = handle::get("shape", shape)?;
        let store = check::choice("store", store, "VXS_STORE_", &STORES)?;
        save("vxs_shape_save_as", value, path, store)
    })
}

/// Reads a shape from an asset file, as written by `vxs_shape_save` or `vxs_shape_save_as`. All contents, including the
/// checksums, are checked before they are used.
///
/// The file is read and closed: the shape does not depend on what becomes of it.
///
/// @param path        UTF-8 (on Unix: any bytes the file system takes)
/// @param[out] shape  release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_IO, VXS_INVALID_FILE (the message tells the defect of the file),
///         VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_load(path: *const c_char, shape: *mut *mut vxs_shape) -> vxs_status {
    entry!(vxs_shape_load(Read(path), shape), [], {
        check::out("shape", shape)?;
        let path = check::path("path", path)?;
        let loaded = workers::work(|| Shape::load(&path))??;
        log::log(log::VXS_LOG_DEBUG, || format!("vxs_shape_load: read {}", path.display()));
        handle::create("shape", shape, Arc::new(loaded))
    })
}

/// Writes the bytes of the asset file that `vxs_shape_save` writes into a buffer. Each call does the whole work, even a
/// call that only asks for the size.
///
/// @param shape      the shape; must have a cooked field or a pointshell
/// @param[out] out   at most `capacity` bytes; may be null if `capacity` is 0
/// @param capacity   size of `out`, bytes
/// @param[out] size  number of bytes of the file
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `*size` tells the number, and `out` is unchanged),
///         VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_serialize(
    shape: *const vxs_shape,
    out: *mut c_void,
    capacity: usize,
    size: *mut usize,
) -> vxs_status {
    entry!(vxs_shape_serialize(shape, whole(out, (capacity, size), (capacity, size)), capacity, size), [shape], {
        let value = handle::get("shape", shape)?;
        let out = out.cast::<u8>();
        check::out_array("out", out, "capacity", capacity)?;
        check::out("size", size)?;
        let bytes = workers::work(|| value.to_bytes())??;
        size.write(bytes.len());
        if bytes.len() > capacity {
            return Ok(VXS_TRUNCATED);
        }
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), out, bytes.len());
        Ok(VXS_OK)
    })
}

/// Reads a shape from bytes: the output of `vxs_shape_serialize`, or the contents of an asset file of any kind. All
/// contents are checked as by `vxs_shape_load`. The bytes are not needed afterwards, and may be at any address.
///
/// @param bytes       `size` bytes
/// @param size        not 0
/// @param[out] shape  release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_FILE (the message tells the defect of the bytes),
///         VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_deserialize(
    bytes: *const c_void,
    size: usize,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(vxs_shape_deserialize(Array(bytes, size), size, shape), [], {
        check::out("shape", shape)?;
        let bytes = check::slice("bytes", bytes.cast::<u8>(), "size", size)?;
        let loaded = workers::work(|| Shape::from_bytes(bytes))??;
        handle::create("shape", shape, Arc::new(loaded))
    })
}

unsafe fn save(name: &str, shape: &Shape, path: *const c_char, store: Store) -> Result<vxs_status, Failure> {
    let path = check::path("path", path)?;
    workers::save(|| shape.save_as(&path, store))??;
    log::log(log::VXS_LOG_DEBUG, || format!("{name}: wrote {}", path.display()));
    Ok(VXS_OK)
}
