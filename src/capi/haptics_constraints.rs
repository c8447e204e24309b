//! Constraints of a god-object.

use super::check;
use super::guard::entry;
use super::handle;
use super::haptics_handle::*;
use super::record::argument::list;
use super::status::*;
use super::types::*;
use crate::haptics::constraint::Constraint;

/// Constraint on the tool: the tangent plane of a contact, which the tool may move along and leave, but not cross.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_haptics_constraint {
    /// Contact point, world frame, metres.
    pub point: vxs_vec3,
    /// Unit normal of the plane, from the tool into the body, world frame.
    pub normal: vxs_vec3,
    /// Distance that the tool may still move along the normal, metres: 0 or more.
    pub gap: f64,
    /// Index of the body.
    pub body: u32,
    /// Number of the sample, as in `vxs_contact`, with the tool as A.
    pub feature: u32,
}

impl From<&Constraint> for vxs_haptics_constraint {
    fn from(c: &Constraint) -> Self {
        Self { point: c.point.into(), normal: c.normal.into(), gap: c.gap, body: c.body, feature: c.feature }
    }
}

/// Gets the constraints on the tool that the last round of the simulation found, with VXS_RENDERER_GOD_OBJECT; there
/// are none with other renderers. They hold at the tool's pose of that round (`vxs_haptics_output.tool` of the next step).
/// A motion that moves the point r from the tool's centre of mass by u + w × r is allowed if
/// normal · (u + w × r) <= gap for each constraint (Ortega et al. 2007, section 4; Xu & Barbič 2016, equation 7). For
/// the thread that simulates. Allocates nothing.
///
/// @param haptics           the `vxs_haptics` that simulates
/// @param[out] constraints  at most `capacity`; may be null if `capacity` is 0
/// @param capacity          number of elements in `constraints`; 256 is always enough
/// @param[out] count        number of constraints, even if it exceeds `capacity`
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `*count` tells the number), VXS_INVALID_ARGUMENT,
///         VXS_INVALID_HANDLE, VXS_BUSY (another thread simulates or moves a body)
#[no_mangle]
pub unsafe extern "C" fn vxs_haptics_get_constraints(
    haptics: *mut vxs_haptics,
    constraints: *mut vxs_haptics_constraint,
    capacity: usize,
    count: *mut usize,
) -> vxs_status {
    entry!(
        fast(vxs_haptics_get_constraints(haptics, list(constraints, capacity, count), capacity, count)),
        [haptics],
        {
            let halves = handle::get("haptics", haptics)?;
            let list = check::list("constraints", constraints, capacity, count)?;
            let mut half = halves.simulation.lock("haptics")?;
            list.write(own(&mut half)?.constraints().iter().map(Into::into))
        }
    )
}
