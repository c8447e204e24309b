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

    /// Whether `p` is inside, by the rule; nothing outside the box of the triangles is. Of a closed surface by the crossings
    /// of a ray, which are exact and cheaper than the winding number.
    pub fn inside(&self, p: Vec3) -> bool {
        self.in_box(p)
            && match self.rule {
                SignRule::Crossings => self.bvh.crossings_along_x(p).0 > 0,
                SignRule::Parity => self.bvh.crossings_along_x(p).1 % 2 == 1,
                _ => self.winding_number(p) > 0.5,
            }
    }

    /// Whether `p` is in the box of the triangles.
    pub fn in_box(&self, p: Vec3) -> bool {
        self.bounds.contains(&p)
    }

    pub fn winding_number(&self, p: Vec3) -> f64 {
        self.bvh.winding_number(p)
    }
}
