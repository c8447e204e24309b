//! The C functions that start and stop a recording.

use std::ffi::c_char;

use super::session;
use crate::capi::check::{self, Growable};
use crate::capi::guard::entry;
use crate::capi::status::*;

/// How to record. Fill it with `vxs_record_options_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_record_options {
    /// `sizeof(vxs_record_options)`, set by `vxs_record_options_init`.
    pub struct_size: u32,
    /// Not 0: a call whose record does not fit into the buffer waits until the file has taken some of it. For programs
    /// without a clock to keep. Default 0: queries and haptic calls never wait, and their record is lost instead; only
    /// calls that make, read and write objects wait.
    pub wait: u32,
    /// Buffer of each thread that makes calls, bytes: 65536 to 2^30. Default 2^20, which holds more than 3 s of haptic
    /// steps at 1 kHz.
    pub buffer_bytes: u64,
}

/// Result of a recording. Call `vxs_record_report_init`, then `vxs_record_stop`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_record_report {
    /// `sizeof(vxs_record_report)`, set by `vxs_record_report_init`.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Number of records: two for each call, one for each object from before the recording.
    pub records: u64,
    /// Number of records that were lost because a buffer was full. A replay ends at the first one.
    pub lost: u64,
    /// Size of the file, bytes.
    pub bytes: u64,
}

/// Buffers of a thread, bytes.
const BUFFERS: [u64; 2] = [1 << 16, 1 << 30];

impl Growable for vxs_record_options {
    const ARGUMENT: &'static str = "options";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        Self { struct_size: 0, wait: 0, buffer_bytes: 1 << 20 }
    }
}

impl Growable for vxs_record_report {
    const ARGUMENT: &'static str = "report";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        Self { struct_size: 0, reserved: 0, records: 0, lost: 0, bytes: 0 }
    }
}

/// Fills `options` with the defaults.
///
/// @param[out] options  the struct to fill
/// @param size          `sizeof(vxs_record_options)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_record_options_init(options: *mut vxs_record_options, size: usize) -> vxs_status {
    entry!(vxs_record_options_init, [], { check::init(options, size, vxs_record_options::defaults()) })
}

/// Prepares `report` for `vxs_record_stop`: sets its size and zeroes the rest.
///
/// @param[out] report  the struct to fill
/// @param size         `sizeof(vxs_record_report)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_record_report_init(report: *mut vxs_record_report, size: usize) -> vxs_status {
    entry!(vxs_record_report_init, [], { check::init(report, size, vxs_record_report::defaults()) })
}

/// Starts to record all calls of the process, of any thread, to a file: meshes, files, settings, poses and device states
/// by content, and for each call its status and a hash of its outputs. `voxshell replay` makes the same calls again and
/// compares. The file has the name `path` with `.part` behind it until `vxs_record_stop`.
///
/// A recorded haptic step takes less than a microsecond longer. A recorded call takes no lock and allocates nothing,
/// except for the first call of a thread, which takes a lock, and for calls that make, read and write objects. A shape, field, pointshell or voxtree from before the recording is written to the file
/// when a call first uses it, which takes as long as `vxs_shape_serialize`; a workspace or batch from before counts as
/// an empty one. Calls with other objects from before are left out of a replay. `docs/record-and-replay.md` lists what
/// is not recorded.
///
/// @param path     UTF-8 (on Unix: any bytes the file system takes); an existing file is replaced
/// @param options  null: the defaults
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_IO, VXS_BUSY (a recording is in progress), VXS_UNSUPPORTED (a platform
///         without threads or files), VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_record_start(path: *const c_char, options: *const vxs_record_options) -> vxs_status {
    entry!(vxs_record_start, [], {
        let path = check::path("path", path)?;
        let options = vxs_record_options::read(options)?;
        let buffer = check::in_range("options->buffer_bytes", options.buffer_bytes, BUFFERS[0], BUFFERS[1])?;
        session::start(path, buffer as usize, options.wait != 0)?;
        Ok(VXS_OK)
    })
}

/// Ends the recording and gives the file its name. Calls that other threads are in are left out of a replay.
///
/// @param[out] report  prepared by `vxs_record_report_init`; may be null
/// @return VXS_OK, VXS_INVALID_ARGUMENT (also without a recording), VXS_IO (the file could not be written)
#[no_mangle]
pub unsafe extern "C" fn vxs_record_stop(report: *mut vxs_record_report) -> vxs_status {
    entry!(vxs_record_stop, [], {
        vxs_record_report::read(report)?;
        let session::Counts { records, lost, bytes } = session::stop()?;
        if report.is_null() {
            return Ok(VXS_OK);
        }
        vxs_record_report { records, lost, bytes, ..vxs_record_report::defaults() }.write(report)
    })
}
