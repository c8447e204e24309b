//! Contact patches: regions of contact with pressure.

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::handle;
use super::query::{placed, vxs_workspace};
use super::query_options::*;
use super::record::argument::list;
use super::response::vxs_wrench;
use super::status::*;
use super::types::*;
use crate::response::{self, Patch, PatchSettings};

/// Pressure laws of two bodies. Fill it with `vxs_patch_query_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_patch_query {
    /// `sizeof(vxs_patch_query)`, set by `vxs_patch_query_init`.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Stiffness k of A and of B, Pa/m^m with the exponent m: the pressure at depth d is k d^m. Infinity for a rigid body, whose
    /// surface then is the contact surface; at most one of the two.
    pub stiffness_a: f64,
    pub stiffness_b: f64,
    /// Exponent m of both laws, 1/4 to 4. Default 1: linear, the elastic foundation. A sphere of radius R on a rigid plane has
    /// the force of Hertz with m = 0.5 and k = E / (pi sqrt(R)), where E is the effective modulus.
    pub exponent: f64,
    /// Edge of the smallest cells of the contact surface, metres: patches narrower than this may be missed. Default 0: 1/200 of
    /// the largest extent of the smaller body, or twice that, four times and so on where there would be too many cells.
    pub resolution: f64,
}

/// A region of contact. World frame.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_patch {
    /// Area of the contact surface, m².
    pub area: f64,
    /// Mean and largest pressure, Pa.
    pub mean_pressure: f64,
    pub max_pressure: f64,
    /// Centre of pressure, metres.
    pub center: vxs_vec3,
    /// Direction of the force: a unit vector from A to B.
    pub normal: vxs_vec3,
    /// Force and torque about `center` on B, N and N m; those on A are opposite.
    pub on_b: vxs_wrench,
    /// Mean distance from `center` in the plane across `normal`, weighted by pressure, metres: friction of coefficient mu
    /// resists spinning about `normal` with a torque of up to mu times this times the force.
    pub friction_arm: f64,
    /// Change of the force along `normal` per distance by which the bodies come closer along it, N/m.
    pub stiffness: f64,
    /// Mean place of that change, metres, and its second moments about it: xx, yy, zz, xy, xz, yz, world axes, m². For an engine
    /// that makes a patch a few springs.
    pub stiffness_center: vxs_vec3,
    pub stiffness_moments: [f64; 6],
}

impl Growable for vxs_patch_query {
    const ARGUMENT: &'static str = "query";
    const SIZES: &'static [usize] = &[std::mem::size_of::<Self>()];
    const NULLABLE: bool = false;

    fn defaults() -> Self {
        Self { struct_size: 0, reserved: 0, stiffness_a: 1.0, stiffness_b: 1.0, exponent: 1.0, resolution: 0.0 }
    }
}

impl vxs_patch_query {
    fn settings(&self) -> Result<PatchSettings, Failure> {
        if self.reserved != 0 {
            return Err(Failure::argument("query->reserved", self.reserved, "0"));
        }
        let stiffness =
            [stiffness("query->stiffness_a", self.stiffness_a)?, stiffness("query->stiffness_b", self.stiffness_b)?];
        if stiffness == [f64::INFINITY; 2] {
            let expected = "a finite stiffness of one of the bodies";
            return Err(Failure::argument("query->stiffness_b", "infinite, like stiffness_a", expected));
        }
        let exponent = check::in_range("query->exponent", self.exponent, 0.25, 4.0)?;
        let resolution = match self.resolution {
            0.0 => 0.0,
            given => check::length("query->resolution", given)?,
        };
        Ok(PatchSettings { stiffness, exponent, resolution })
    }
}

fn stiffness(argument: &str, value: f64) -> Result<f64, Failure> {
    match value {
        f64::INFINITY => Ok(value),
        _ if crate::math::limits::is_positive_quantity(value) => Ok(value),
        _ => {
            let expected = "a positive number of 1e-30 to 1e18, or infinity";
            Err(Failure::argument(argument, crate::math::limits::Shown(value), expected))
        }
    }
}

impl From<&Patch> for vxs_patch {
    fn from(p: &Patch) -> Self {
        Self {
            area: p.area,
            mean_pressure: p.mean_pressure,
            max_pressure: p.max_pressure,
            center: p.center.into(),
            normal: p.normal.into(),
            on_b: vxs_wrench { force: p.force.into(), torque: p.torque.into() },
            friction_arm: p.friction_arm,
            stiffness: p.stiffness,
            stiffness_center: p.stiffness_center.into(),
            stiffness_moments: p.stiffness_moments,
        }
    }
}

/// Fills `query` with linear laws of the given stiffness and the default resolution.
///
/// @param[out] query                the struct to fill
/// @param size                      `sizeof(vxs_patch_query)`
/// @param stiffness_a, stiffness_b  Pa/m; infinity for a rigid body, at most one
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, a size that no release had, or a stiffness that is not positive)
#[no_mangle]
pub unsafe extern "C" fn vxs_patch_query_init(
    query: *mut vxs_patch_query,
    size: usize,
    stiffness_a: f64,
    stiffness_b: f64,
) -> vxs_status {
    entry!(vxs_patch_query_init, [], {
        let stiffness_a = stiffness("stiffness_a", stiffness_a)?;
        let stiffness_b = stiffness("stiffness_b", stiffness_b)?;
        check::init(query, size, vxs_patch_query { stiffness_a, stiffness_b, ..vxs_patch_query::defaults() })
    })
}

/// Finds the contact patches of two shapes at two poses: the regions of the surface on which the pressures of both are equal, with
/// area, pressure and wrench (Elandt et al. 2019, Masterjohn et al. 2022).
///
/// Both shapes need a field. The surface is found on a grid that is fixed in the world: the answer changes continuously as the
/// bodies move, and exchanging them changes nothing but the signs. Where one body is wholly inside the other, or is the same body in
/// the same place, no surface has the same pressure from both: this is an error, and `vxs_query_contacts` tells the way out. No part of a deep overlap is left out. Regions that come closer
/// than a cell are one patch. Once the workspace is warm, the query allocates nothing and takes no lock; the same input gives the
/// same bytes.
///
/// @param a, b          the two bodies
/// @param query         prepared by `vxs_patch_query_init`
/// @param workspace     this thread's scratch; keeps the outlines until its next patch query
/// @param[out] patches  at most `capacity`, that with the largest force first; may be null if `capacity` is 0
/// @param[out] count    number of patches, even if it exceeds `capacity`
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `*count` tells the number), VXS_INVALID_ARGUMENT (also a resolution at which
///         more than 131,072 cells hold contact surface, or a million have to be looked at), VXS_INVALID_HANDLE, VXS_UNSUPPORTED
///         (a shape has no field, or its field has no inside; both are infinite; one is wholly inside the other), VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_query_patches(
    a: *const vxs_body,
    b: *const vxs_body,
    query: *const vxs_patch_query,
    workspace: *mut vxs_workspace,
    patches: *mut vxs_patch,
    capacity: usize,
    count: *mut usize,
) -> vxs_status {
    entry!(
        fast(vxs_query_patches(a, b, query, workspace, list(patches, capacity, count), capacity, count)),
        [check::shape_of(a), check::shape_of(b), workspace],
        {
            let ((shape_a, pose_a), (shape_b, pose_b)) = (placed("a", a)?, placed("b", b)?);
            let settings = vxs_patch_query::read(query)?.settings()?;
            let scratch = handle::get("workspace", workspace)?;
            let list = check::list("patches", patches, capacity, count)?;
            let mut scratch = scratch.lock("workspace")?;
            let (body_a, body_b) = (shape_a.geometry(), shape_b.geometry());
            let found = response::patches(body_a, &pose_a, body_b, &pose_b, &settings, &mut scratch.patches)?;
            list.write(found.iter().map(Into::into))
        }
    )
}

/// Gets the outline of a patch of the last `vxs_query_patches` in a workspace: closed polylines one after the other, each of which
/// ends with its first point. A patch with holes has several. Points are about a cell apart.
///
/// @param workspace    the workspace of the query
/// @param patch        index of the patch; a patch that the query did not find has no points
/// @param[out] points  world frame, metres, at most `capacity`; may be null if `capacity` is 0
/// @param capacity     number of elements in `points`
/// @param[out] count   number of points, even if it exceeds `capacity`
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `*count` tells the number), VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE,
///         VXS_BUSY
#[no_mangle]
pub unsafe extern "C" fn vxs_workspace_get_outline(
    workspace: *mut vxs_workspace,
    patch: usize,
    points: *mut vxs_vec3,
    capacity: usize,
    count: *mut usize,
) -> vxs_status {
    entry!(
        fast(vxs_workspace_get_outline(workspace, patch, list(points, capacity, count), capacity, count)),
        [workspace],
        {
            let scratch = handle::get("workspace", workspace)?;
            let list = check::list("points", points, capacity, count)?;
            let mut scratch = scratch.lock("workspace")?;
            list.write(scratch.patches.outline(patch).iter().map(|p| (*p).into()))
        }
    )
}
