//! The validation report: properties and defects of a mesh.

use std::fmt;

use super::weld::{first_equal, has_repeated_corner, rotated};
use super::{sorted_by_bucket, TriMesh};
use voxshell_base::math::{Aabb, Vec3};
use voxshell_base::memory::{filled, with_capacity, CollectGuarded, GrowGuarded};

/// Properties and defects of a mesh. Vertices at equal coordinates count as one, so that a mesh whose faces do not
/// share vertices is not reported as open.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Report {
    /// Number of given vertices, used or not.
    pub vertices: usize,
    /// Number of given triangles, usable or not. The counts below exclude those with bad indices or coordinates.
    pub triangles: usize,
    /// Vertices with a coordinate that is NaN or infinite.
    pub non_finite_vertices: usize,
    /// Triangles that refer to a vertex that does not exist.
    pub out_of_range_triangles: usize,
    /// Triangles with coinciding corners, or corners on a line (height under 1e-12 of the longest edge).
    pub degenerate_triangles: usize,
    /// Triangles that repeat an earlier one: same corners, same winding.
    pub duplicate_triangles: usize,
    /// Triangles that reverse an earlier one: same corners, other winding.
    pub opposed_triangles: usize,
    /// Edges used by one triangle only.
    pub boundary_edges: usize,
    /// Edges used by more than two triangles.
    pub non_manifold_edges: usize,
    /// Edges whose triangles do not pair up in opposite directions: neighbours that disagree about the outside.
    pub inconsistent_edges: usize,
    /// Pieces that have no vertex in common.
    pub components: usize,
    /// Vertices − edges + triangles: 2 for a closed surface like a sphere, 0 like a torus.
    pub euler_characteristic: i64,
    /// Enclosed volume, m³, negative when the triangles face inwards. It has no meaning unless `closed` and
    /// `consistent`.
    pub volume: f64,
    /// Total area, m².
    pub area: f64,
    /// Whether every edge is used an even number of times.
    pub closed: bool,
    /// Whether no edge is inconsistent.
    pub consistent: bool,
}

impl Report {
    /// Returns the report of the mesh `factor` times as large.
    pub fn scaled(&self, factor: f64) -> Self {
        let (area, volume) = (self.area * factor * factor, self.volume * factor * factor * factor);
        Self { area, volume, ..self.clone() }
    }
}

/// Reports on vertices and triangles that may be broken in any way.
pub fn validate_raw(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Report {
    let mut report = Report { vertices: vertices.len(), triangles: triangles.len(), ..Report::default() };
    let finite = |v: &[f64; 3]| v.iter().all(|x| x.is_finite());
    report.non_finite_vertices = vertices.iter().filter(|v| !finite(v)).count();
    let in_range = |t: &&[u32; 3]| t.iter().all(|&i| (i as usize) < vertices.len());
    report.out_of_range_triangles = triangles.len() - triangles.iter().filter(in_range).count();
    let same = first_equal(vertices);
    let usable: Vec<[u32; 3]> = triangles
        .iter()
        .filter(in_range)
        .filter(|t| t.iter().all(|&i| finite(&vertices[i as usize])))
        .map(|t| t.map(|i| same[i as usize]))
        .collect_guarded();
    let bounds = Aabb::from_points(usable.iter().flatten().map(|&i| &vertices[i as usize]));
    let (origin, unit) = (bounds.center(), unit(&bounds));
    let corners = |t: &[u32; 3]| t.map(|i| (Vec3::from(vertices[i as usize]) - origin) / unit);
    let mut proper = with_capacity(usable.len());
    for t in &usable {
        let [a, b, c] = corners(t);
        let (ab, ac, bc) = (b - a, c - a, c - b);
        let longest = ab.norm_squared().max(ac.norm_squared()).max(bc.norm_squared());
        let twice_area = ab.cross(&ac).norm();
        report.area += 0.5 * twice_area;
        report.volume += a.dot(&b.cross(&c)) / 6.0;
        if has_repeated_corner(t) {
            report.degenerate_triangles += 1;
            continue;
        }
        report.degenerate_triangles += usize::from(twice_area <= 1e-12 * longest);
        proper.push_guarded(*t);
    }
    report.area *= unit * unit;
    report.volume = report.volume * unit * unit * unit;
    (report.duplicate_triangles, report.opposed_triangles) = count_repeats(&proper);
    let edges = count_edges(&proper, &mut report);
    let used = count_components(&proper, vertices.len(), &mut report);
    report.euler_characteristic = used as i64 - edges as i64 + proper.len() as i64;
    report
}

/// Returns the power of two next below the largest extent: in this unit squares and volumes stay in the range of f64,
/// however small or large the mesh is, and no digit changes.
fn unit(bounds: &Aabb) -> f64 {
    let extent = bounds.extents().max();
    if extent > 0.0 && extent.is_finite() {
        const EXPONENT: u64 = 0x7ff << 52;
        f64::from_bits(extent.to_bits() & EXPONENT).max(f64::MIN_POSITIVE)
    } else {
        1.0
    }
}

/// Returns a number that exceeds all corners.
fn vertices_of(triangles: &[[u32; 3]]) -> usize {
    triangles.iter().flatten().max().map_or(0, |&v| v as usize + 1)
}

/// Returns the number of triangles that repeat an earlier one (same corners, same winding), and of those that reverse
/// an earlier one. No triangle has a corner twice.
pub fn count_repeats(triangles: &[[u32; 3]]) -> (usize, usize) {
    // Corners with the winding's parity last: repeats are neighbours after sorting.
    let keys: Vec<([u32; 3], bool)> = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = rotated(*t);
            if b < c {
                ([a, b, c], false)
            } else {
                ([a, c, b], true)
            }
        })
        .collect_guarded();
    let keys = sorted_by_bucket(keys, vertices_of(triangles), |key| key.0[0]);
    let (mut duplicates, mut opposed) = (0, 0);
    for group in keys.chunk_by(|a, b| a.0 == b.0) {
        let turned = group.iter().filter(|k| k.1).count();
        let straight = group.len() - turned;
        opposed += turned.min(straight);
        duplicates += turned.saturating_sub(1) + straight.saturating_sub(1);
    }
    (duplicates, opposed)
}

/// Counts boundary, non-manifold and inconsistent edges; returns the number of edges.
fn count_edges(triangles: &[[u32; 3]], report: &mut Report) -> usize {
    let edges: Vec<(u32, u32, bool)> = triangles
        .iter()
        .flat_map(|t| (0..3).map(|i| (t[i], t[(i + 1) % 3])))
        .map(|(a, b)| (a.min(b), a.max(b), a < b))
        .collect_guarded();
    let edges = sorted_by_bucket(edges, vertices_of(triangles), |edge| edge.0);
    let (mut count, mut odd) = (0, 0);
    for uses in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let forward = uses.iter().filter(|e| e.2).count();
        let backward = uses.len() - forward;
        count += 1;
        odd += uses.len() % 2;
        report.boundary_edges += usize::from(uses.len() == 1);
        report.non_manifold_edges += usize::from(uses.len() > 2);
        report.inconsistent_edges += usize::from(forward.abs_diff(backward) > 1);
    }
    report.closed = count > 0 && odd == 0;
    report.consistent = report.inconsistent_edges == 0;
    count
}

/// Counts the components, by union–find over the vertices; returns the number of vertices in use.
fn count_components(triangles: &[[u32; 3]], vertices: usize, report: &mut Report) -> usize {
    const UNUSED: u32 = u32::MAX;
    let mut parent = filled(UNUSED, vertices);
    triangles.iter().flatten().for_each(|&i| parent[i as usize] = i);
    fn root(parent: &mut [u32], mut i: u32) -> u32 {
        while parent[i as usize] != i {
            let up = parent[parent[i as usize] as usize];
            parent[i as usize] = up;
            i = up;
        }
        i
    }
    for t in triangles {
        for i in [t[1], t[2]] {
            let (a, b) = (root(&mut parent, t[0]), root(&mut parent, i));
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    report.components = parent.iter().enumerate().filter(|&(i, &p)| p == i as u32).count();
    parent.iter().filter(|&&p| p != UNUSED).count()
}

impl TriMesh {
    /// Returns the report of this mesh.
    pub fn report(&self) -> Report {
        validate_raw(&self.vertices, &self.triangles)
    }
}

impl Report {
    /// Returns whether volume and inside are well defined: closed, consistent, no repeated and no bad triangles.
    pub fn is_solid(&self) -> bool {
        self.closed
            && self.consistent
            && self.duplicate_triangles == 0
            && self.non_finite_vertices == 0
            && self.out_of_range_triangles == 0
    }
}

/// A number with six decimals, or with an exponent where these would show less than four digits of it.
struct Figure(f64);

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.abs() {
            x if x > 0.0 && x < 1e-3 => write!(f, "{:.6e}", self.0),
            _ => write!(f, "{:.6}", self.0),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} vertices, {} triangles, {} components", self.vertices, self.triangles, self.components)?;
        let yes_no = |b: bool| if b { "yes" } else { "no" };
        writeln!(f, "closed: {}, consistently wound: {}", yes_no(self.closed), yes_no(self.consistent))?;
        write!(f, "area {} m²", Figure(self.area))?;
        if self.closed && self.consistent {
            let inward = if self.volume < 0.0 { " (faces inwards)" } else { "" };
            write!(f, ", volume {} m³{inward}", Figure(self.volume.abs()))?;
        }
        writeln!(f, ", Euler characteristic {}", self.euler_characteristic)?;
        let findings = [
            (self.non_finite_vertices, "vertices not finite"),
            (self.out_of_range_triangles, "triangles with an index out of range"),
            (self.degenerate_triangles, "degenerate triangles"),
            (self.duplicate_triangles, "duplicate triangles"),
            (self.opposed_triangles, "triangles that turn another one over"),
            (self.boundary_edges, "boundary edges"),
            (self.non_manifold_edges, "non-manifold edges"),
            (self.inconsistent_edges, "inconsistently wound edges"),
        ];
        let found: Vec<String> =
            findings.iter().filter(|x| x.0 > 0).map(|(n, what)| format!("{n} {what}")).collect_guarded();
        write!(f, "found: {}", if found.is_empty() { "nothing wrong".into() } else { found.join(", ") })
    }
}
