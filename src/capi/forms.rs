//! The two forms of a shape as objects of their own: for sharing them between shapes, and for inspecting them.

use std::sync::Arc;

use super::check;
use super::guard::{entry, Failure};
use super::handle;
use super::record::argument::list;
use super::status::*;
use super::types::*;
use crate::asset::Shape;
use crate::field::{Field, SignedDistance};
use crate::math::Vec3;
use crate::pointshell::PointShell;

/// A signed distance field. Immutable and shared, like the shape from which it comes.
pub struct vxs_field {
    _opaque: [u8; 0],
}

/// Surface samples with normals under a sphere tree. Immutable and shared, like the shape from which they come.
pub struct vxs_pointshell {
    _opaque: [u8; 0],
}

impl handle::Opaque for vxs_field {
    type Value = Arc<Field>;
    const KIND: handle::Kind = handle::Kind::Field;

    fn snapshot(field: &Self::Value) -> Option<Vec<u8>> {
        Shape::from_parts(Some(field.clone()), None).and_then(|shape| shape.to_bytes()).ok()
    }
}

impl handle::Opaque for vxs_pointshell {
    type Value = Arc<PointShell>;
    const KIND: handle::Kind = handle::Kind::PointShell;

    fn snapshot(shell: &Self::Value) -> Option<Vec<u8>> {
        Shape::from_parts(None, Some(shell.clone())).and_then(|shape| shape.to_bytes()).ok()
    }
}

/// Gets the field of a shape; it is shared, not copied.
///
/// @param shape       the shape
/// @param[out] field  release it with `vxs_field_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED (the shape has no field)
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_get_field(shape: *const vxs_shape, field: *mut *mut vxs_field) -> vxs_status {
    entry!(vxs_shape_get_field(shape, field), [shape], {
        let value = handle::get("shape", shape)?;
        check::out("field", field)?;
        let part = value.field.clone().ok_or_else(|| Failure::unsupported("shape has no field"))?;
        handle::create("field", field, part)
    })
}

/// Gets the pointshell of a shape; it is shared, not copied.
///
/// @param shape            the shape
/// @param[out] pointshell  release it with `vxs_pointshell_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED (the shape has no pointshell)
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_get_pointshell(
    shape: *const vxs_shape,
    pointshell: *mut *mut vxs_pointshell,
) -> vxs_status {
    entry!(vxs_shape_get_pointshell(shape, pointshell), [shape], {
        let value = handle::get("shape", shape)?;
        check::out("pointshell", pointshell)?;
        let part = value.shell.clone().ok_or_else(|| Failure::unsupported("shape has no pointshell"))?;
        handle::create("pointshell", pointshell, part)
    })
}

/// Creates a shape from existing forms, which are shared, not copied: for example from the fine field of one shape and
/// the coarse pointshell of another that was cooked from the same mesh. The shape has no triangles and no mass
/// properties.
///
/// @param field       the field, or null
/// @param pointshell  the pointshell, or null; at least one is not null
/// @param[out] shape  release it with `vxs_shape_release`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_create(
    field: *const vxs_field,
    pointshell: *const vxs_pointshell,
    shape: *mut *mut vxs_shape,
) -> vxs_status {
    entry!(vxs_shape_create(field, pointshell, shape), [field, pointshell], {
        check::out("shape", shape)?;
        let field = if field.is_null() { None } else { Some(handle::get("field", field)?.clone()) };
        let shell = if pointshell.is_null() { None } else { Some(handle::get("pointshell", pointshell)?.clone()) };
        handle::create("shape", shape, Arc::new(Shape::from_parts(field, shell)?))
    })
}

/// Releases a handle.
///
/// @param field  may be null, which does nothing
/// @return VXS_OK, VXS_INVALID_HANDLE (released before, or not a field)
#[no_mangle]
pub unsafe extern "C" fn vxs_field_release(field: *mut vxs_field) -> vxs_status {
    entry!(vxs_field_release(field), [], { handle::release("field", field) })
}

/// Releases a handle.
///
/// @param pointshell  may be null, which does nothing
/// @return VXS_OK, VXS_INVALID_HANDLE (released before, or not a pointshell)
#[no_mangle]
pub unsafe extern "C" fn vxs_pointshell_release(pointshell: *mut vxs_pointshell) -> vxs_status {
    entry!(vxs_pointshell_release(pointshell), [], { handle::release("pointshell", pointshell) })
}

/// Computes the signed distance and its gradient at a point; body frame. Allocates nothing.
///
/// @param field          the field
/// @param point          metres
/// @param[out] distance  metres, negative inside
/// @param[out] gradient  exact gradient of the function that `distance` samples, of length about 1; may be null
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_field_distance(
    field: *const vxs_field,
    point: vxs_vec3,
    distance: *mut f64,
    gradient: *mut vxs_vec3,
) -> vxs_status {
    entry!(fast(vxs_field_distance(field, point, distance, gradient)), [field], {
        let value = handle::get("field", field)?;
        let point = check::point("point", point)?;
        check::out("distance", distance)?;
        check::out_optional("gradient", gradient)?;
        let local = point - value.local_origin(&point);
        let (phi, g) = value.distance_gradient([local.x as f32, local.y as f32, local.z as f32]);
        distance.write(phi as f64);
        if !gradient.is_null() {
            gradient.write(Vec3::new(g[0] as f64, g[1] as f64, g[2] as f64).into());
        }
        Ok(VXS_OK)
    })
}

/// Gets the samples of a pointshell, in the order of their feature numbers; body frame.
///
/// @param pointshell    the pointshell
/// @param[out] points   at most `capacity`, metres; may be null if `capacity` is 0
/// @param[out] normals  as many, unit, outward; may be null
/// @param capacity      size of `points`, and of `normals` if that is not null
/// @param[out] count    number of samples of the pointshell
/// @return VXS_OK, VXS_TRUNCATED (the first `capacity` were written), VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_pointshell_get_samples(
    pointshell: *const vxs_pointshell,
    points: *mut vxs_vec3,
    normals: *mut vxs_vec3,
    capacity: usize,
    count: *mut usize,
) -> vxs_status {
    entry!(
        vxs_pointshell_get_samples(
            pointshell,
            list(points, capacity, count),
            list(normals, capacity, count),
            capacity,
            count
        ),
        [pointshell],
        {
            let shell: &Arc<_> = handle::get("pointshell", pointshell)?;
            check::out_array("points", points, "capacity", capacity)?;
            check::out_optional("normals", normals)?;
            check::out("count", count)?;
            let total = shell.x.len();
            for i in 0..total.min(capacity) {
                let p = Vec3::new(shell.x[i] as f64, shell.y[i] as f64, shell.z[i] as f64) + shell.origin;
                points.add(i).write(p.into());
                if !normals.is_null() {
                    let n = Vec3::new(shell.nx[i] as f64, shell.ny[i] as f64, shell.nz[i] as f64);
                    normals.add(i).write(n.into());
                }
            }
            count.write(total);
            Ok(if capacity < total { VXS_TRUNCATED } else { VXS_OK })
        }
    )
}
