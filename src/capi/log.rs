//! The log: messages of the library that are not errors of a call. No query logs.
//!
//! With the last errors and the quarantine of handles, the hook is the only global state of the library.

use std::ffi::{c_char, c_void};
use std::time::Duration;

use super::check;
use super::guard::{entry, Failure};
pub(super) use super::hook::log;
use super::hook::{self, send, Hook};
use super::status::*;
use crate::asset::Shape;
use crate::field::{Field, SignReport, SignRule};
use crate::mesh::ProbableSize;

/// A defect inside the library, or a condition that made a host give up.
pub const VXS_LOG_ERROR: u32 = 1;
/// The result is usable but may not be the intended one: an open mesh, triangles left out, a pair that is not
/// supported.
pub const VXS_LOG_WARNING: u32 = 2;
/// The result of cooking, its time and its size.
pub const VXS_LOG_INFO: u32 = 3;
/// Details for finding a fault: files read and written.
pub const VXS_LOG_DEBUG: u32 = 4;

/// Log hook. It is called with each message, on the thread that produces the message; several threads may call it at
/// once.
///
/// The hook may call the library, but messages that the same thread logs during the call are dropped. It must not
/// throw, and must not wait for a thread that is in `vxs_set_log`.
///
/// @param level    one of `VXS_LOG_`
/// @param message  one line of UTF-8 without the line break; valid during the call only
/// @param user     as given to `vxs_set_log`
pub type vxs_log_fn = Option<unsafe extern "C" fn(level: u32, message: *const c_char, user: *mut c_void)>;

/// Sets the function that gets the messages of the library, for the whole process. Cooking reports its result and the
/// defects of the mesh; queries never log. It may be called from any thread, but not from the hook.
///
/// When it returns, no thread is inside the previous hook.
///
/// @param log    null, the default: no log
/// @param level  the least important level to report, one of `VXS_LOG_`; ignored if `log` is null
/// @param user   passed to `log`; the object behind it must outlive the hook and may be used by several threads at once
/// @return VXS_OK, VXS_INVALID_ARGUMENT (unknown level), VXS_BUSY (called by the hook)
#[no_mangle]
pub unsafe extern "C" fn vxs_set_log(log: vxs_log_fn, level: u32, user: *mut c_void) -> vxs_status {
    entry!(vxs_set_log, [], {
        if log.is_some() {
            check_level(level)?;
        }
        hook::set(log.map(|call| Hook { call, user: user as usize }), level)?;
        Ok(VXS_OK)
    })
}

/// Passes a message to the hook of `vxs_set_log`, if there is one that gets its level. For hosts and plugins, so that
/// all messages about Voxshell arrive in one place. It may be called from any thread.
///
/// @param level    one of `VXS_LOG_`
/// @param message  one line of UTF-8, without the line break
/// @return VXS_OK (also without a hook), VXS_INVALID_ARGUMENT
#[no_mangle]
pub unsafe extern "C" fn vxs_log(level: u32, message: *const c_char) -> vxs_status {
    entry!(vxs_log, [], {
        check_level(level)?;
        check::text("message", message).map(|text| send(level, text))?;
        Ok(VXS_OK)
    })
}

fn check_level(level: u32) -> Result<u32, Failure> {
    if (VXS_LOG_ERROR..=VXS_LOG_DEBUG).contains(&level) {
        return Ok(level);
    }
    Err(Failure::argument("level", level, "one of the VXS_LOG_ constants, 1 to 4"))
}

/// Logs the result and the warnings of a shape that the entry point `name` has just made from a mesh.
pub(super) fn cooked(name: &str, shape: &Shape, took: Duration) {
    log(VXS_LOG_INFO, || format!("{name}: {} in {:.3} s", contents(shape), took.as_secs_f64()));
    let sign = match shape.field.as_deref() {
        Some(Field::Mesh(field)) => field.sign(),
        _ => match shape.sign_report() {
            Some(sign) => sign,
            None => return,
        },
    };
    for warning in warnings(shape, sign) {
        log(VXS_LOG_WARNING, || format!("{name}: {warning}"));
    }
}

fn contents(shape: &Shape) -> String {
    let mut parts = Vec::new();
    if let Some(mesh) = &shape.mesh {
        parts.push(format!("{} triangles", mesh.triangles.len()));
    }
    if let Some(field) = shape.field.as_deref().and_then(Field::gridded) {
        let [x, y, z] = field.grid.dims;
        let (voxel, error, bytes) = (field.grid.spacing, field.error.max, field.bytes);
        parts.push(format!("field of {x} x {y} x {z} nodes ({bytes} bytes, voxel {voxel} m, error {error:.3e} m)"));
    }
    if let Some(shell) = &shape.shell {
        parts.push(format!("{} samples ({} bytes, spacing {} m)", shell.len(), shell.memory_bytes(), shell.spacing));
    }
    parts.join(", ")
}

fn warnings(shape: &Shape, sign: &SignReport) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(size) = ProbableSize::of(shape.bounds().extents().max()) {
        found.push(format!("{size}; vxs_shape_create_scaled scales it by {}", size.factor));
    }
    if !sign.closed && sign.rule != SignRule::Offset {
        let edges = shape.report.as_ref().map_or(0, |r| r.boundary_edges);
        found.push(format!(
            "the mesh is open ({edges} boundary edges): its inside is where the winding number exceeds one half, and membranes of \
             {:.3e} m² across its holes are part of the surface",
            sign.membrane_area
        ));
    }
    if sign.uncertain_nodes > 0 {
        let least = sign.least_sure[0].map_or(String::new(), |d| {
            let [x, y, z] = [d.position.x, d.position.y, d.position.z];
            format!(", least so at ({x:.4}, {y:.4}, {z:.4}) m with a winding number of {:.4}", d.winding_number)
        });
        let nodes = sign.uncertain_nodes;
        found.push(format!("inside and outside could not be told reliably at {nodes} nodes of the grid{least}"));
    }
    if sign.duplicate_triangles > 0 {
        found.push(format!("{} triangles repeat another one", sign.duplicate_triangles));
    }
    if sign.flipped_triangles > 0 {
        found.push(format!("{} triangles were turned to agree with their neighbours", sign.flipped_triangles));
    }
    found
}
