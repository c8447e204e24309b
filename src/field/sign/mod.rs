//! Inside and outside of a triangle soup: the repaired soup, its winding number, and how fast that can change.

mod boundary;
mod soup;

use super::report::{SignReport, SignRule};
use crate::math::{Aabb, Vec3};
use crate::mesh::{Bvh, TriMesh};
pub(super) use boundary::Boundary;
use soup::{Soup, Topology};

/// Bound on the error of the hierarchy's winding number.
pub(super) const WINDING_ERROR: f64 = 2.0e-3;

/// Tells inside from outside.
#[derive(Clone, Debug)]
pub(super) struct Sides {
    /// The triangles that count, wound to agree.
    pub mesh: TriMesh,
    pub bvh: Bvh,
    /// Edges where the surface ends.
    pub boundary: Boundary,
    pub rule: SignRule,
    pub report: SignReport,
    bounds: Aabb,
}

impl Sides {
    pub fn new(mesh: &TriMesh) -> Self {
        let soup = Soup::new(mesh);
        let rule = match soup.topology {
            Topology::Oriented => SignRule::Crossings,
            Topology::Even => SignRule::Parity,
            Topology::Open => SignRule::WindingNumber,
        };
        let report = SignReport {
            closed: soup.topology != Topology::Open,
            consistent: soup.consistent,
            rule,
            duplicate_triangles: soup.duplicates,
            flipped_triangles: soup.flipped,
            ..SignReport::given()
        };
        let boundary = soup.boundary();
        let mesh = TriMesh { vertices: soup.vertices, triangles: soup.triangles };
        let bvh = Bvh::build(&mesh);
        Self { bounds: mesh.bounds(), mesh, bvh, boundary, rule, report }
    }

    /// Whether `p` is inside, by the rule; nothing outside the box of the triangles is. Linear in the number of triangles
    /// for surfaces that cannot be oriented.
    pub fn inside(&self, p: Vec3) -> bool {
        self.in_box(p)
            && if self.rule == SignRule::Parity { self.crossed_oddly(p) } else { self.winding_number(p) > 0.5 }
    }

    /// Whether `p` is in the box of the triangles.
    pub fn in_box(&self, p: Vec3) -> bool {
        self.bounds.contains(&p)
    }

    pub fn winding_number(&self, p: Vec3) -> f64 {
        self.bvh.winding_number(p)
    }

    /// Whether a ray along x from `p` crosses an odd number of triangles. Ties are decided as if the ray were moved by
    /// an infinitely small step in y and a smaller one in z.
    fn crossed_oddly(&self, p: Vec3) -> bool {
        let side = |a: Vec3, b: Vec3| {
            let area = a.y * b.z - a.z * b.y;
            [area, a.z - b.z, b.y - a.y].into_iter().find(|x| *x != 0.0).map_or(0.0, f64::signum)
        };
        (0..self.mesh.triangles.len()).fold(false, |odd, t| {
            let [a, b, c] = self.mesh.corners(t).map(|v| Vec3::from(v) - p);
            let s = side(b, c);
            if s == 0.0 || side(c, a) != s || side(a, b) != s {
                return odd;
            }
            // The plane's height over the ray's start, along x.
            let n = (b - a).cross(&(c - a));
            odd ^ (n.dot(&a) * n.x > 0.0)
        })
    }
}
