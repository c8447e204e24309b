//! The field of a sheet: a surface without an inside. The unsigned distance to triangles by their closest point
//! accepts any soup: open, flat, self-intersecting, wound in either direction.
//!
//! The sheet does not decide on which side of it a body is; the body does: see `contact::search::sheet`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::mesh_field::scaled_mesh;
use super::SignedDistance;
use voxshell_base::math::{limits, Aabb, Vec3};
use voxshell_base::{Error, Result};
use voxshell_mesh::{Bvh, Closest, TriMesh};

/// A sheet of triangles that collides on both sides.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Sheet {
    mesh: Arc<TriMesh>,
    depth: f32,
    bvh: Bvh,
    bounds: Aabb,
}

#[derive(Serialize, Deserialize)]
struct Raw {
    mesh: TriMesh,
    depth: f64,
}

impl Sheet {
    pub(super) fn scaled(&self, factor: f64) -> Result<Self> {
        let mesh = Arc::new(scaled_mesh(self.mesh(), factor)?);
        Self::new(mesh, f64::from(self.depth()) * factor)
    }

    /// Returns the sheet of `mesh`, body frame, metres; at least one triangle. `depth`, metres, is the largest
    /// distance behind the sheet at which a sample of a body still counts as having gone through it; rounded to f32.
    pub fn new(mesh: Arc<TriMesh>, depth: f64) -> Result<Self> {
        if mesh.triangles.is_empty() {
            return Err(Error::InvalidMesh("there are no triangles; expected at least 1".into()));
        }
        if !limits::is_length(depth) {
            let expected = "a positive, finite length of 1e-18 to 1e18 m";
            return Err(Error::argument("depth", limits::Shown(depth), expected));
        }
        Ok(Self { bvh: Bvh::build(&mesh), bounds: mesh.bounds(), depth: depth as f32, mesh })
    }

    /// Returns the triangles, body frame.
    pub fn mesh(&self) -> &Arc<TriMesh> {
        &self.mesh
    }

    /// Returns the largest distance behind the sheet at which a sample still counts as having gone through it,
    /// metres.
    pub fn depth(&self) -> f32 {
        self.depth
    }

    /// Returns the same field in a local frame of the caller's choice: `origin` in the body frame, metres. A sheet
    /// may be a whole landscape; near this origin, f32 coordinates are as precise as those of the other body.
    pub fn around(&self, origin: Vec3) -> SheetAround<'_> {
        SheetAround { sheet: self, origin }
    }

    /// Returns the closest point to `p`, body frame, if it is within `limit` metres.
    pub fn closest_within(&self, p: &Vec3, limit: f64) -> Option<Closest> {
        self.bvh.closest_within(*p, limit)
    }

    /// Returns whether a point of the sheet is at most `distance` metres from `p`, body frame.
    pub fn is_within(&self, p: &Vec3, distance: f64) -> bool {
        self.bvh.is_within(*p, distance)
    }

    /// Returns the hierarchy over the triangles.
    pub fn bvh(&self) -> &Bvh {
        &self.bvh
    }

    /// Returns the unit normal of a triangle by its winding, body frame; `None` for a triangle without area, and for
    /// the index that a point without a closest triangle gets ([`Bvh::closest_point`]).
    pub fn normal(&self, triangle: u32) -> Option<Vec3> {
        let [a, b, c] = self.mesh.triangles.get(triangle as usize)?.map(|i| Vec3::from(self.mesh.vertices[i as usize]));
        (b - a).cross(&(c - a)).try_normalize(0.0)
    }
}

impl TryFrom<Raw> for Sheet {
    type Error = Error;
    fn try_from(raw: Raw) -> Result<Self> {
        let TriMesh { vertices, triangles } = raw.mesh;
        Self::new(Arc::new(TriMesh::new(vertices, triangles)?), raw.depth)
    }
}

impl From<Sheet> for Raw {
    fn from(sheet: Sheet) -> Self {
        Raw { mesh: TriMesh::clone(&sheet.mesh), depth: sheet.depth.into() }
    }
}

impl PartialEq for Sheet {
    fn eq(&self, other: &Self) -> bool {
        self.mesh == other.mesh && self.depth == other.depth
    }
}

/// Field of a sheet in a local frame; see [`Sheet::around`].
#[derive(Clone, Copy, Debug)]
pub struct SheetAround<'a> {
    sheet: &'a Sheet,
    origin: Vec3,
}

impl SheetAround<'_> {
    /// Returns a point in the sheet's body frame. Exact to the rounding of f64.
    pub fn body(&self, p: [f32; 3]) -> Vec3 {
        Vec3::from(p.map(f64::from)) + self.origin
    }

    /// Returns the distance below which the direction to a point is only the rounding of its coordinates.
    pub fn least_distance(&self, p: [f32; 3]) -> f64 {
        let local: f64 = p.iter().map(|x| f64::from(x.abs())).sum();
        4e-7 * local + 1e-14 * self.origin.abs().sum()
    }
}

impl SignedDistance for SheetAround<'_> {
    fn local_origin(&self, _near: &Vec3) -> Vec3 {
        self.origin
    }

    fn bounds(&self) -> Aabb {
        self.sheet.bounds
    }

    /// Returns the distance, which is never negative.
    fn distance(&self, p: [f32; 3]) -> f32 {
        self.sheet.bvh.closest_point(self.body(p)).distance_squared.sqrt() as f32
    }

    /// The gradient points away from the sheet; on it, along the normal of the triangle there. A point that is not
    /// finite has an infinite distance, and its gradient is the z axis.
    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        let body = self.body(p);
        let closest = self.sheet.bvh.closest_point(body);
        let distance = closest.distance_squared.sqrt();
        let gradient = if distance > self.least_distance(p) {
            (body - closest.point) / distance
        } else {
            self.sheet.normal(closest.triangle).unwrap_or_else(Vec3::z)
        };
        (distance as f32, [gradient.x as f32, gradient.y as f32, gradient.z as f32])
    }

    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        let body = self.body(c);
        let bound = self.sheet.bvh.closest_point(body).distance_squared.sqrt() - f64::from(r);
        let rounding = 3.0 * f64::from(f32::EPSILON) * (bound.abs() + f64::from(r)) + 1e-12 * body.abs().sum();
        (bound - rounding) as f32
    }

    fn error_bound(&self) -> f64 {
        self.sheet.bounds.extents().sum() * 0.5 * f64::from(f32::EPSILON)
    }
}

/// The field in the local frame at the centre of the sheet's box.
impl SignedDistance for Sheet {
    fn local_origin(&self, _near: &Vec3) -> Vec3 {
        self.bounds.center()
    }

    fn bounds(&self) -> Aabb {
        self.bounds
    }

    fn distance(&self, p: [f32; 3]) -> f32 {
        self.around(self.bounds.center()).distance(p)
    }

    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        self.around(self.bounds.center()).distance_gradient(p)
    }

    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        self.around(self.bounds.center()).lower_bound(c, r)
    }

    fn error_bound(&self) -> f64 {
        self.around(self.bounds.center()).error_bound()
    }
}
