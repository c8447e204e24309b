//! Inside and outside of a triangle soup: the repaired soup, its winding number with a bound on its gradient, and the
//! mass of the inside where the triangles give it exactly.

mod boundary;
mod solid;
mod soup;
mod union;

use super::report::{SignReport, SignRule};
pub use boundary::Boundary;
use soup::{Soup, Topology};
use voxshell_base::math::{Aabb, Vec3, Work};
use voxshell_base::Result;
use voxshell_mesh::{Bvh, TriMesh, WINDING_LANES};

/// Bound on the error of the hierarchy's winding number.
pub const WINDING_ERROR: f64 = 2.0e-3;

/// Data that tell inside from outside.
#[derive(Clone, Debug)]
pub struct Sides {
    /// Triangles that count, wound consistently.
    pub mesh: TriMesh,
    pub bvh: Bvh,
    /// Number of triangles of the surface that each of them stands for; empty where all are 1.
    pub weights: Vec<u32>,
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
        let Soup { vertices, triangles, weights, .. } = soup;
        let mesh = TriMesh { vertices, triangles };
        // Only the winding number of an open surface needs the moments.
        let bvh = if rule == SignRule::WindingNumber { Bvh::build(&mesh) } else { Bvh::without_moments(&mesh) };
        Self { bounds: mesh.bounds(), mesh, bvh, weights, boundary, rule, report }
    }

    /// Returns whether `p` is inside, by the rule; no point outside the box of the triangles is. A closed surface
    /// uses the crossings of a ray, which are exact and cheaper than the winding number.
    pub fn inside(&self, p: Vec3) -> bool {
        self.inside_and_work(p).0
    }

    /// Returns the same, and the number of triangles and nodes visited.
    pub fn inside_and_work(&self, p: Vec3) -> (bool, u64) {
        if !self.in_box(p) {
            return (false, 1);
        }
        if !matches!(self.rule, SignRule::Crossings | SignRule::Parity) {
            let (w, work) = self.bvh.winding_number_and_work(p);
            return (w > 0.5, work);
        }
        let (winding, count, work) = self.bvh.crossings_along_x_and_work(p, &self.weights);
        (if self.rule == SignRule::Crossings { winding > 0 } else { count % 2 == 1 }, work)
    }

    /// Returns whether `p` is in the box of the triangles.
    pub fn in_box(&self, p: Vec3) -> bool {
        self.bounds.contains(&p)
    }

    pub fn winding_number(&self, p: Vec3) -> f64 {
        self.bvh.winding_number(p)
    }

    /// Returns the same, and adds the number of triangles visited to `work`.
    pub fn winding_number_counted(&self, p: Vec3, work: &mut Work) -> Result<f64> {
        let (w, looked_at) = self.bvh.winding_number_and_work(p);
        work.add(looked_at)?;
        Ok(w)
    }

    /// Returns the winding numbers of at most [`WINDING_LANES`] points, which are faster when the points are close
    /// together. Entries beyond the points have no meaning. Counts as [`Sides::winding_number_counted`].
    pub fn winding_numbers_counted(&self, points: &[Vec3], work: &mut Work) -> Result<[f64; WINDING_LANES]> {
        let (w, looked_at) = self.bvh.winding_numbers_and_work(points);
        work.add(looked_at)?;
        Ok(w)
    }
}
