//! Triangles, barycentric coordinates and materials of contacts.

use super::check;
use super::guard::entry;
use super::materials::VXS_MATERIAL_NONE;
use super::query::placed;
use super::query_options::*;
use super::record::argument::Array;
use super::status::*;
use super::types::*;
use crate::asset::{contact_triangles, ContactTriangles, TrianglePoint};
use crate::contact::Contact;
use crate::math::Vec3;

/// In place of a triangle number: the body has no mesh, or the contact has no finite points.
pub const VXS_TRIANGLE_NONE: u32 = u32::MAX;

/// The place of a contact on the mesh of one of its bodies.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_triangle_point {
    /// Number of the triangle closest to the contact's point on the body, in the order in which the triangles were given
    /// and in which `vxs_shape_get_triangles` returns them; VXS_TRIANGLE_NONE without one.
    pub triangle: u32,
    /// Material number of the triangle; VXS_MATERIAL_NONE without one.
    pub material: u32,
    /// Barycentric coordinates of the point of the triangle that is closest to the contact's point: the weights of its
    /// corners, in their order, 0 to 1, with the sum 1. NaN without a triangle.
    pub barycentric: [f64; 3],
}

/// The places of a contact on the meshes of both bodies.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_contact_triangles {
    pub on_a: vxs_triangle_point,
    pub on_b: vxs_triangle_point,
}

impl From<Option<TrianglePoint>> for vxs_triangle_point {
    fn from(point: Option<TrianglePoint>) -> Self {
        match point {
            Some(p) => Self {
                triangle: p.triangle,
                material: p.material.unwrap_or(VXS_MATERIAL_NONE),
                barycentric: p.barycentric,
            },
            None => Self { triangle: VXS_TRIANGLE_NONE, material: VXS_MATERIAL_NONE, barycentric: [f64::NAN; 3] },
        }
    }
}

impl From<ContactTriangles> for vxs_contact_triangles {
    fn from(triangles: ContactTriangles) -> Self {
        Self { on_a: triangles.on_a.into(), on_b: triangles.on_b.into() }
    }
}

impl From<&vxs_contact> for Contact {
    fn from(c: &vxs_contact) -> Self {
        let vec = |v: vxs_vec3| Vec3::new(v.x, v.y, v.z);
        Self {
            point_on_a: vec(c.point_on_a),
            point_on_b: vec(c.point_on_b),
            normal: vec(c.normal),
            separation: c.separation,
            toi: c.toi,
            feature: c.feature,
            segment: 0,
        }
    }
}

/// Finds the triangles of contacts: for each contact and body the triangle closest to the contact's point, its barycentric
/// coordinates and its material. Works for the contacts of every query. For bodies in motion `a` and `b` are at the poses of
/// the time of impact (`vxs_motion_pose`).
///
/// Of triangles that are equally close, within 2.4e-7 of the mesh's extent, the answer is the one whose normal is nearest to
/// the contact's; then the one with the lowest number. A shape made by `vxs_shape_create` has no triangles. Needs no
/// workspace; allocates nothing and takes no lock once the shapes are prepared (`vxs_shape_prepare_triangles`). It takes a few
/// microseconds per contact.
///
/// @param a, b            the two bodies of the query
/// @param contacts        `count` contacts
/// @param count           number of contacts
/// @param[out] triangles  `count`, in the order of the contacts
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_query_triangles(
    a: *const vxs_body,
    b: *const vxs_body,
    contacts: *const vxs_contact,
    count: usize,
    triangles: *mut vxs_contact_triangles,
) -> vxs_status {
    entry!(
        fast(vxs_query_triangles(a, b, Array(contacts, count), count, Array(triangles, count))),
        [check::shape_of(a), check::shape_of(b)],
        {
            let ((shape_a, pose_a), (shape_b, pose_b)) = (placed("a", a)?, placed("b", b)?);
            let contacts = check::slice("contacts", contacts, "count", count)?;
            check::out_array("triangles", triangles, "count", count)?;
            // Outputs are written only on success: nothing fails after this.
            shape_a.locator()?;
            shape_b.locator()?;
            for (i, contact) in contacts.iter().enumerate() {
                let found = contact_triangles((shape_a, &pose_a), (shape_b, &pose_b), &contact.into())?;
                triangles.add(i).write(found.into());
            }
            Ok(VXS_OK)
        }
    )
}
