//! Triangles, barycentric coordinates and material numbers of contacts.

use std::sync::Arc;

use super::Shape;
use voxshell_base::math::{Pose, Vec3};
use voxshell_base::{Error, Result};
use voxshell_contact::Contact;
use voxshell_field::{Field, SignRule};

/// The place of a contact on the mesh of one of its bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrianglePoint {
    /// Number of the triangle closest to the contact's point on the body, in the mesh from which the shape was made.
    pub triangle: u32,
    /// Barycentric coordinates of the point of that triangle that is closest to the contact's point: the weights of its
    /// corners, in their order, 0 to 1, with the sum 1.
    pub barycentric: [f64; 3],
    /// Material number of the triangle; `None` for a shape without materials.
    pub material: Option<u32>,
}

/// The places of a contact on both meshes; `None` for a body without a mesh, and for a contact whose points are not finite.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactTriangles {
    pub on_a: Option<TrianglePoint>,
    pub on_b: Option<TrianglePoint>,
}

impl Shape {
    /// Returns the shape with a material number for each triangle of its mesh, in the order of the mesh from which it was
    /// made: cooking neither removes nor reorders triangles. All other data is shared with `self`.
    ///
    /// # Errors
    /// `InvalidArgument` if the shape has no mesh, or another number of triangles.
    pub fn with_materials(&self, materials: Vec<u32>) -> Result<Self> {
        self.check_materials(&materials)
            .map_err(|expected| Error::argument("materials", format!("{} numbers", materials.len()), expected))?;
        Ok(Self { materials: Some(Arc::new(materials)), ..self.clone() })
    }

    /// Returns what is expected instead if the numbers do not fit the mesh.
    pub(super) fn check_materials(&self, materials: &[u32]) -> std::result::Result<(), String> {
        match &self.mesh {
            None => Err("none for a shape without triangles".into()),
            Some(mesh) if mesh.triangles.len() != materials.len() => {
                Err(format!("one for each of the {} triangles", mesh.triangles.len()))
            }
            Some(_) => Ok(()),
        }
    }

    /// Returns the triangle closest to `point`, body frame, metres. Of triangles that are equally close, within 2⁻²² of the
    /// mesh's extent, it is the one whose outward normal is nearest to `outward`, unit; then the one with the lowest
    /// number. Both sides of a triangle count as outside in sheets and in meshes with an offset. The first call builds a
    /// hierarchy ([`Shape::locator`]); later calls allocate nothing.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn triangle_at(&self, point: Vec3, outward: &Vec3) -> Result<Option<TrianglePoint>> {
        let located = self.locator()?.and_then(|locator| locator.locate(point, outward, self.is_two_sided()));
        Ok(located.map(|l| TrianglePoint {
            triangle: l.triangle,
            barycentric: l.barycentric,
            material: self.materials.as_ref().and_then(|m| m.get(l.triangle as usize).copied()),
        }))
    }

    fn is_two_sided(&self) -> bool {
        matches!(self.field.as_deref(), Some(Field::Sheet(_)))
            || self.sign_report().is_some_and(|s| s.rule == SignRule::Offset)
    }
}

/// Returns the triangles of a contact of A and B at their poses. Contacts of every query will do; those of bodies in motion
/// need the poses at their time of impact. Allocates nothing once both shapes have their hierarchies.
///
/// # Errors
/// As [`Shape::triangle_at`].
pub fn contact_triangles(
    (a, pose_a): (&Shape, &Pose),
    (b, pose_b): (&Shape, &Pose),
    contact: &Contact,
) -> Result<ContactTriangles> {
    let on = |shape: &Shape, pose: &Pose, point: Vec3, outward: Vec3| {
        shape.triangle_at(pose.inverse_transform_point(&point.into()).coords, &pose.inverse_transform_vector(&outward))
    };
    Ok(ContactTriangles {
        on_a: on(a, pose_a, contact.point_on_a, contact.normal)?,
        on_b: on(b, pose_b, contact.point_on_b, -contact.normal)?,
    })
}
