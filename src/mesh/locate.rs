//! The triangle of a mesh to which a point on or near its surface belongs.

use super::features::{FeaturedTriangles, Features, MeshFeature};
use super::triangle::{self, Corners};
use super::{Bvh, TriMesh};
use voxshell_base::math::Vec3;

/// Triangles whose distances to a point differ by at most this fraction of the mesh's extent are equally close. Four
/// times the rounding of a coordinate in f32, in which samples are stored.
const EQUALLY_CLOSE: f64 = 1.0 / (1 << 22) as f64;

/// Triangles whose normals have equal scalar products with a direction, within this, face it equally.
const FACING_EQUALLY: f64 = 1e-6;

/// Score of a triangle without a normal: lower than that of any other triangle.
const NO_NORMAL: f64 = -2.0;

/// A hierarchy over all triangles of a mesh, with the numbers that they have in the mesh. Works for triangle soup of
/// any kind. Immutable; any number of threads may use it; queries allocate nothing.
#[derive(Clone, Debug)]
pub struct Locator {
    bvh: Bvh,
    features: Features,
    equally_close: f64,
}

/// A point on a triangle of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Located {
    /// Number of the triangle in the mesh.
    pub triangle: u32,
    /// Weights of the triangle's corners, in their order: 0 to 1, with the sum 1.
    pub barycentric: [f64; 3],
}

impl Locator {
    pub fn new(mesh: &TriMesh) -> Self {
        let bvh = Bvh::build(mesh);
        let equally_close = EQUALLY_CLOSE * bvh.bounds().extents().max();
        Self { bvh, features: Features::new(mesh), equally_close }
    }

    /// Returns half the diagonal of the box around the triangles, metres.
    pub fn radius(&self) -> f64 {
        0.5 * self.bvh.bounds().extents().norm()
    }

    /// Returns the triangle closest to `p`, metres, mesh frame, and the position of its closest point. Among triangles
    /// that are equally close it is the one that faces `direction`, unit, best, and then the one with the lowest
    /// number. With `two_sided` a triangle also faces a direction with its back. Returns `None` if `p` or `direction`
    /// is not finite.
    pub fn locate(&self, p: Vec3, direction: &Vec3, two_sided: bool) -> Option<Located> {
        if !p.iter().chain(direction).all(|x| x.is_finite()) {
            return None;
        }
        let closest = self.bvh.closest_within(p, f64::INFINITY)?;
        let distance = closest.distance_squared.sqrt() + self.equally_close;
        let score = |corners: &Corners| {
            let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
            let facing = normal.try_normalize(0.0).map_or(NO_NORMAL, |n| n.dot(direction));
            if two_sided && facing != NO_NORMAL {
                facing.abs()
            } else {
                facing
            }
        };
        let mut best = f64::NEG_INFINITY;
        self.bvh.each_within(p, distance, |_, corners, _, _| best = best.max(score(corners)));
        let mut found: Option<Located> = None;
        self.bvh.each_within(p, distance, |triangle, corners, point, feature| {
            if score(corners) >= best - FACING_EQUALLY && found.is_none_or(|f| triangle < f.triangle) {
                found = Some(Located { triangle, barycentric: triangle::barycentric(corners, feature, &point) });
            }
        });
        found
    }
}

impl FeaturedTriangles for Locator {
    fn bvh(&self) -> &Bvh {
        &self.bvh
    }

    #[inline]
    fn vertex(&self, k: u32, i: usize) -> Option<MeshFeature> {
        self.features.vertex(self.bvh.id(k as usize), i)
    }

    #[inline]
    fn edge(&self, k: u32, i: usize) -> Option<MeshFeature> {
        self.features.edge(self.bvh.id(k as usize), i)
    }
}
