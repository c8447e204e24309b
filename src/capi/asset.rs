//! Shapes as files and as bytes.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use super::check;
use super::guard::{entry, Failure};
use super::handle;
use super::log;
use super::status::*;
use super::types::*;
use super::workers;
use crate::asset::{Shape, Store};

/// The samples of a field in bricks are compressed: a small file.
pub const VXS_STORE_COMPRESSED: u32 = 0;
/// They are as in memory: a file that is loaded in no time, because `vxs_shape_load` maps it.
pub const VXS_STORE_RAW: u32 = 1;

const STORES: [Store; 2] = [Store::Compressed, Store::Raw];

/// Writes a shape to an asset file, compressed: `vxs_shape_save_as` with `VXS_STORE_COMPRESSED`.
///
/// @param shape  what; must have a cooked field or a pointshell
/// @param path   UTF-8 (on Unix: any bytes the file system takes); an existing file is replaced
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_IO, VXS_UNSUPPORTED, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_save(shape: *const vxs_shape, path: *const c_char) -> vxs_status {
    entry!(vxs_shape_save, [shape], {
        let value = handle::get("shape", shape)?;
        save("vxs_shape_save", value, path, Store::Compressed)
    })
}

/// Writes a shape to an asset file: to a temporary name first, then renamed, so that no half-written file is ever seen, and
/// shapes that were loaded from a file that is replaced keep it.
///
/// @param shape  what; must have a cooked field or a pointshell
/// @param path   UTF-8 (on Unix: any bytes the file system takes); an existing file is replaced
/// @param store  one of `VXS_STORE_`; it makes a difference for fields in bricks only
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_IO, VXS_UNSUPPORTED, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_save_as(shape: *const vxs_shape, path: *const c_char, store: u32) -> vxs_status {
    entry!(vxs_shape_save_as, [shape], {
        let value = handle::get("shape", shape)?;
        let store = check::choice("store", store, "VXS_STORE_", &STORES)?;
        save("vxs_shape_save_as", value, path, store)
    })
}

/// Reads a shape from an asset file, as written by `vxs_shape_save` or `vxs_shape_save_as`. Everything is checked before it is
/// trusted, checksums too.
///
/// On Unix a file of `VXS_STORE_RAW` is mapped: its samples are used where they are, and shared by all processes that do so.
/// It may be replaced (as `vxs_shape_save` does) or removed; but who writes into the file itself, or shortens it, while a
/// shape of it lives, makes that shape's answers undefined and may end the process with SIGBUS. Other files are read.
///
/// @param path        UTF-8 (on Unix: any bytes the file system takes)
/// @param[out] shape  release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_IO, VXS_INVALID_FILE (the message says what is wrong with it),
///         VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_load(path: *const c_char, shape: *mut *mut vxs_shape) -> vxs_status {
    entry!(vxs_shape_load, [], {
        check::out("shape", shape)?;
        let path = check::path("path", path)?;
        let loaded = workers::work(|| Shape::load(&path))??;
        log::log(log::VXS_LOG_DEBUG, || format!("vxs_shape_load: read {}", path.display()));
        handle::create("shape", shape, Arc::new(loaded))
    })
}

/// The bytes that `vxs_shape_save` writes. Each call does the whole work, also one that only asks for the size.
///
/// @param shape      what; must have a cooked field or a pointshell
/// @param[out] out   at most `capacity` bytes; may be null if `capacity` is 0
/// @param capacity   room in `out`, bytes
/// @param[out] size  how many bytes there are
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `*size` says how many, and `out` is as it was),
/// VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_serialize(
    shape: *const vxs_shape,
    out: *mut c_void,
    capacity: usize,
    size: *mut usize,
) -> vxs_status {
    entry!(vxs_shape_serialize, [shape], {
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

/// Reads a shape from bytes: those of `vxs_shape_serialize`, or of an asset file of any kind. Everything is checked as by
/// `vxs_shape_load`; the bytes are not needed afterwards, and may be at any address.
///
/// @param bytes       `size` bytes
/// @param size        not 0
/// @param[out] shape  release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_FILE (the message says what is wrong with them),
///         VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_deserialize(
    bytes: *const c_void,
    size: usize,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(vxs_shape_deserialize, [], {
        check::out("shape", shape)?;
        let bytes = check::slice("bytes", bytes.cast::<u8>(), "size", size)?;
        let loaded = workers::work(|| Shape::from_bytes(bytes))??;
        handle::create("shape", shape, Arc::new(loaded))
    })
}

unsafe fn save(name: &str, shape: &Shape, path: *const c_char, store: Store) -> Result<vxs_status, Failure> {
    let path = check::path("path", path)?;
    workers::work(|| shape.save_as(&path, store))??;
    log::log(log::VXS_LOG_DEBUG, || format!("{name}: wrote {}", path.display()));
    Ok(VXS_OK)
}
