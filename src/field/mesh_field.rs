//! The exact field of a triangle mesh: closest point for the distance, the sign rule of the soup for the sign. No
//! grid, no grid error, and a thousand times slower than a grid: for checking grids, and for shapes that are rarely
//! queried.

use serde::{Deserialize, Serialize};

use super::report::{SignReport, SignRule};
use super::sign::{Sides, WINDING_ERROR};
use super::{Modulus, SignedDistance};
use voxshell_base::math::{limits, Aabb, Vec3};
use voxshell_base::{Error, Result};
use voxshell_mesh::{Bvh, MassProperties, TriMesh};

/// Exact signed distance to a triangle mesh.
///
/// φ is continuous where the surface is closed. Around the holes of an open surface its sign changes where the
/// winding number passes one half.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "TriMesh", into = "TriMesh")]
pub struct MeshField {
    mesh: TriMesh,
    bvh: Bvh,
    sides: Sides,
    bounds: Aabb,
    /// Origin of the local frame, body frame, metres.
    center: Vec3,
    /// Largest |x| + |y| + |z| of a point of the mesh, local frame.
    size: f64,
}

/// Returns the mesh scaled by `factor`, if its size is within the limits.
pub(super) fn scaled_mesh(mesh: &TriMesh, factor: f64) -> Result<TriMesh> {
    let scaled = mesh.scaled(factor);
    let extent = scaled.bounds().extents().max();
    if !limits::is_length(extent) {
        return Err(Error::InvalidMesh(format!("it is {extent:e} m large; expected 1e-18 to 1e18 m")));
    }
    TriMesh::new(scaled.vertices, scaled.triangles)
}

impl MeshField {
    pub(super) fn scaled(&self, factor: f64) -> Result<Self> {
        Self::new(scaled_mesh(self.mesh(), factor)?)
    }

    /// Returns the field of `mesh`, body frame, metres; at least one triangle.
    pub fn new(mesh: TriMesh) -> Result<Self> {
        if mesh.triangles.is_empty() {
            return Err(Error::InvalidMesh("there are no triangles; expected at least 1".into()));
        }
        let bounds = mesh.bounds();
        let (bvh, sides) = (Bvh::build(&mesh), Sides::new(&mesh));
        Ok(Self { bvh, sides, bounds, center: bounds.center(), size: 0.5 * bounds.extents().sum(), mesh })
    }

    /// Returns the mesh, body frame.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// Returns the report of the sign rule.
    pub fn sign(&self) -> &SignReport {
        &self.sides.report
    }

    /// Returns volume, centre of mass and inertia at unit density of the inside, integrated exactly over the triangles
    /// that bound it; `None` for an open mesh, for one that intersects or touches itself other than at shared corners
    /// and edges, and where nothing is inside.
    pub fn mass_properties(&self) -> Option<MassProperties> {
        self.sides().mass()
    }

    pub(crate) fn sides(&self) -> &Sides {
        &self.sides
    }

    /// Returns the hierarchy over the triangles.
    pub fn bvh(&self) -> &Bvh {
        &self.bvh
    }

    /// Returns whether the surface is closed: φ changes its sign there and nowhere else.
    pub fn is_closed(&self) -> bool {
        self.sides.rule != SignRule::WindingNumber
    }

    pub fn inside(&self, p: Vec3) -> bool {
        self.sides.inside(p)
    }

    fn body(&self, p: [f32; 3]) -> Vec3 {
        Vec3::from(p.map(f64::from)) + self.center
    }

    /// Returns φ in f64, body frame.
    pub fn signed(&self, p: Vec3) -> f64 {
        let distance = self.bvh.closest_point(p).distance_squared.sqrt();
        if self.sides.inside(p) {
            -distance
        } else {
            distance
        }
    }
}

impl TryFrom<TriMesh> for MeshField {
    type Error = Error;
    fn try_from(mesh: TriMesh) -> Result<Self> {
        let TriMesh { vertices, triangles } = mesh;
        Self::new(TriMesh::new(vertices, triangles)?)
    }
}

impl From<MeshField> for TriMesh {
    fn from(field: MeshField) -> Self {
        field.mesh
    }
}

impl PartialEq for MeshField {
    fn eq(&self, other: &Self) -> bool {
        self.mesh == other.mesh
    }
}

impl SignedDistance for MeshField {
    /// Returns the centre of the mesh's box.
    fn local_origin(&self, _near: &Vec3) -> Vec3 {
        self.center
    }

    fn bounds(&self) -> Aabb {
        self.bounds
    }

    fn distance(&self, p: [f32; 3]) -> f32 {
        self.signed(self.body(p)) as f32
    }

    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        let p = self.body(p);
        let closest = self.bvh.closest_point(p);
        let distance = closest.distance_squared.sqrt();
        let inside = self.sides.inside(p);
        let away = p - closest.point;
        // Below the precision of f32 coordinates the direction would be their rounding.
        let gradient = if distance > 2e-7 * self.size {
            away / if inside { -distance } else { distance }
        } else {
            // On the surface: the normal, towards the outside.
            let [a, b, c] = self.mesh.corners(closest.triangle as usize).map(Vec3::from);
            let n = (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_else(Vec3::z);
            let step = n * (1e-5 * self.size);
            if self.sides.inside(p + step) && !self.sides.inside(p - step) {
                -n
            } else {
                n
            }
        };
        let signed = if inside { -distance } else { distance };
        (signed as f32, [gradient.x as f32, gradient.y as f32, gradient.z as f32])
    }

    /// Returns φ(c) − r where the sign can change only on the surface. Around the holes of an open mesh that is
    /// certain only if the winding number cannot reach one half in the ball; where it can, −(|φ(c)| + r) holds.
    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        let (p, radius) = (self.body(c), f64::from(r));
        let phi = self.signed(p);
        let steady = || {
            let rise = self.sides.boundary.steepest(&p, radius) * radius + WINDING_ERROR;
            phi > radius && 0.5 - self.sides.winding_number(p) > rise
        };
        let bound =
            if self.sides.rule != SignRule::WindingNumber || steady() { phi - radius } else { -(phi.abs() + radius) };
        (bound - 3.0 * f64::from(f32::EPSILON) * (bound.abs() + radius) - 1e-12 * self.size) as f32
    }

    /// Around the holes of an open mesh the sign can change anywhere.
    fn modulus(&self, reach: f64) -> Option<Modulus> {
        self.is_closed().then(|| Modulus::of_distance(8.0 * f32::EPSILON, self.size as f32, reach))
    }

    fn error_bound(&self) -> f64 {
        self.size * f64::from(f32::EPSILON)
    }
}
