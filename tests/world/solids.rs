//! Closed parts of convex pieces, and the exact oracle of their union: its moments by slices, its surface by cutting the triangles, and
//! what is inside.

use nalgebra::Point3;
use support::parts::Moments;
use voxshell::math::{Pose, Vec3};
use voxshell::mesh::TriMesh;

/// Distance from a face at which the oracle looks what covers it, metres: above the rounding of turned coordinates.
const NEAR: f64 = 1e-9;

/// A convex polyhedron: the points p with n·p ≤ d for each of its planes (n, d).
pub struct Convex {
    planes: Vec<(Vec3, f64)>,
    edges: Vec<[Vec3; 2]>,
    /// Least and largest z.
    heights: [f64; 2],
}

/// A closed part with its triangles and the convex pieces that it consists of.
pub struct Part {
    pub mesh: TriMesh,
    pieces: Vec<Convex>,
}

impl Convex {
    /// Returns a prism along z over a convex polygon in counter-clockwise order, placed by a pose.
    fn prism(polygon: &[[f64; 2]], half: f64, pose: &Pose) -> Self {
        let count = polygon.len();
        let at = |i: usize, z: f64| (pose * Point3::new(polygon[i % count][0], polygon[i % count][1], z)).coords;
        let up = pose.rotation * Vec3::z();
        let mut planes = vec![(up, up.dot(&at(0, half))), (-up, -up.dot(&at(0, -half)))];
        let mut edges = Vec::new();
        for i in 0..count {
            let normal = (at(i + 1, half) - at(i, half)).cross(&up).normalize();
            planes.push((normal, normal.dot(&at(i, half))));
            edges.extend([
                [at(i, half), at(i + 1, half)],
                [at(i, -half), at(i + 1, -half)],
                [at(i, -half), at(i, half)],
            ]);
        }
        Self::new(planes, edges)
    }

    fn new(planes: Vec<(Vec3, f64)>, edges: Vec<[Vec3; 2]>) -> Self {
        let z = || edges.iter().flatten().map(|p| p.z);
        let heights = [z().fold(f64::INFINITY, f64::min), z().fold(f64::NEG_INFINITY, f64::max)];
        Self { planes, edges, heights }
    }

    fn placed(&self, pose: &Pose) -> Self {
        let turn = |(normal, d): &(Vec3, f64)| {
            let turned = pose.rotation * normal;
            (turned, d + turned.dot(&pose.translation.vector))
        };
        let place = |p: &Vec3| (pose * Point3::from(*p)).coords;
        let edges = self.edges.iter().map(|edge| edge.each_ref().map(place)).collect();
        Self::new(self.planes.iter().map(turn).collect(), edges)
    }

    /// Returns whether a point is inside, or on the border.
    fn contains(&self, p: &Vec3) -> bool {
        self.planes.iter().all(|(normal, d)| normal.dot(p) < d + NEAR)
    }

    /// Adds those parts of a convex polygon to `left` that are outside the polyhedron.
    fn cut(&self, polygon: Vec<Vec3>, left: &mut Vec<Vec<Vec3>>) {
        let is_apart = |(normal, d): &(Vec3, f64)| polygon.iter().all(|p| normal.dot(p) >= *d);
        if self.planes.iter().any(is_apart) {
            left.push(polygon);
            return;
        }
        let mut rest = polygon;
        for (normal, d) in &self.planes {
            let [inside, outside] = divided(&rest, normal, *d);
            if !outside.is_empty() {
                left.push(outside);
            }
            if inside.is_empty() {
                return;
            }
            rest = inside;
        }
    }
}

/// Returns the two parts of a convex polygon on both sides of a plane, empty if there is none.
fn divided(polygon: &[Vec3], normal: &Vec3, d: f64) -> [Vec<Vec3>; 2] {
    let heights: Vec<f64> = polygon.iter().map(|p| normal.dot(p) - d).collect();
    if heights.iter().all(|h| *h <= 0.0) {
        return [polygon.to_vec(), Vec::new()];
    }
    if heights.iter().all(|h| *h >= 0.0) {
        return [Vec::new(), polygon.to_vec()];
    }
    let mut sides = [Vec::new(), Vec::new()];
    for i in 0..polygon.len() {
        let j = (i + 1) % polygon.len();
        let (p, q, h, k) = (polygon[i], polygon[j], heights[i], heights[j]);
        if h <= 0.0 {
            sides[0].push(p);
        }
        if h >= 0.0 {
            sides[1].push(p);
        }
        if h * k < 0.0 {
            let crossing = p + (q - p) * (h / (h - k));
            sides.iter_mut().for_each(|side| side.push(crossing));
        }
    }
    sides
}

/// Returns the regular polygon of a circle around the origin.
fn circle(radius: f64, sides: usize) -> Vec<[f64; 2]> {
    let angle = |i: usize| std::f64::consts::TAU * i as f64 / sides as f64;
    (0..sides).map(|i| [radius * angle(i).cos(), radius * angle(i).sin()]).collect()
}

/// Returns the mesh of walls along z over closed lines, and of caps between the given corners of the lines, numbered through all lines.
fn extruded(lines: &[Vec<[f64; 2]>], cap: &[[u32; 3]], half: f64, pose: &Pose) -> TriMesh {
    let flat: Vec<[f64; 2]> = lines.iter().flatten().copied().collect();
    let count = flat.len() as u32;
    let place = |p: &[f64; 2], z: f64| -> [f64; 3] { (pose * Point3::new(p[0], p[1], z)).coords.into() };
    let below = flat.iter().map(|p| place(p, -half));
    let vertices = below.chain(flat.iter().map(|p| place(p, half))).collect();
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for &[a, b, c] in cap {
        triangles.extend([[a, c, b], [a + count, b + count, c + count]]);
    }
    let mut first = 0;
    for line in lines {
        let sides = line.len() as u32;
        for i in 0..sides {
            let (a, b) = (first + i, first + (i + 1) % sides);
            triangles.extend([[a, b, b + count], [a, b + count, a + count]]);
        }
        first += sides;
    }
    TriMesh::new(vertices, triangles).unwrap()
}

impl Part {
    /// Returns the part at a pose.
    pub fn placed(&self, pose: &Pose) -> Self {
        let pieces = self.pieces.iter().map(|piece| piece.placed(pose)).collect();
        Self { mesh: self.mesh.transformed(pose, 1.0), pieces }
    }

    /// Returns the prism over a convex polygon.
    fn prism(polygon: Vec<[f64; 2]>, half: f64, pose: &Pose) -> Self {
        let cap: Vec<[u32; 3]> = (1..polygon.len() as u32 - 1).map(|i| [0, i, i + 1]).collect();
        let pieces = vec![Convex::prism(&polygon, half, pose)];
        Self { mesh: extruded(&[polygon], &cap, half, pose), pieces }
    }

    /// Returns a box; a thin one is a plate.
    pub fn block(half: Vec3, pose: &Pose) -> Self {
        let [x, y, z] = half.into();
        Self::prism(vec![[-x, -y], [x, -y], [x, y], [-x, y]], z, pose)
    }

    /// Returns a round rod.
    pub fn rod(radius: f64, half: f64, sides: usize, pose: &Pose) -> Self {
        Self::prism(circle(radius, sides), half, pose)
    }

    /// Returns a round tube.
    pub fn tube(radius: f64, bore: f64, half: f64, sides: usize, pose: &Pose) -> Self {
        let (outer, mut inner) = (circle(radius, sides), circle(bore, sides));
        let of_side = |i: usize| {
            let next = (i + 1) % sides;
            Convex::prism(&[inner[i], outer[i], outer[next], inner[next]], half, pose)
        };
        let pieces = (0..sides).map(of_side).collect();
        // The wall of the bore goes round the other way.
        inner.reverse();
        let (of_outer, of_inner) = (|i: usize| (i % sides) as u32, |i: usize| (2 * sides - 1 - i % sides) as u32);
        let cap = |i: usize| {
            let [a, b, c, d] = [of_inner(i), of_outer(i), of_outer(i + 1), of_inner(i + 1)];
            [[a, b, c], [a, c, d]]
        };
        let cap: Vec<[u32; 3]> = (0..sides).flat_map(cap).collect();
        Self { mesh: extruded(&[outer, inner], &cap, half, pose), pieces }
    }
}

/// A half-plane a·x + b·y ≤ c.
type HalfPlane = [f64; 3];

/// The slice of a polyhedron: its half-planes, and the y of its corners, ascending.
struct Slice {
    sides: Vec<HalfPlane>,
    corners: Vec<f64>,
}

/// The line x = x₀ + slope·y.
#[derive(Clone, Copy)]
struct Line {
    x: f64,
    slope: f64,
}

impl Line {
    fn at(&self, y: f64) -> f64 {
        self.x + self.slope * y
    }
}

impl Slice {
    fn new(convex: &Convex, z: f64) -> Option<Self> {
        if z <= convex.heights[0] || z >= convex.heights[1] {
            return None;
        }
        let sides = convex.planes.iter().map(|(normal, d)| [normal.x, normal.y, d - normal.z * z]).collect();
        let crossed = convex.edges.iter().filter(|[p, q]| (p.z < z) != (q.z < z));
        let mut corners: Vec<f64> = crossed.map(|[p, q]| p.y + (q.y - p.y) * ((z - p.z) / (q.z - p.z))).collect();
        corners.sort_unstable_by(f64::total_cmp);
        (corners.len() > 1).then_some(Self { sides, corners })
    }

    /// Returns the lines that bound the slice at the left and at the right near y.
    fn lines(&self, y: f64) -> Option<[Line; 2]> {
        if y <= self.corners[0] || y >= self.corners[self.corners.len() - 1] {
            return None;
        }
        let mut lines = [Line { x: f64::NEG_INFINITY, slope: 0.0 }, Line { x: f64::INFINITY, slope: 0.0 }];
        for [a, b, c] in &self.sides {
            if a.abs() < 1e-12 {
                continue;
            }
            let line = Line { x: c / a, slope: -b / a };
            if *a < 0.0 && line.at(y) > lines[0].at(y) {
                lines[0] = line;
            } else if *a > 0.0 && line.at(y) < lines[1].at(y) {
                lines[1] = line;
            }
        }
        (lines[0].at(y) < lines[1].at(y)).then_some(lines)
    }
}

/// Adds the moments of a segment along x, times `weight`.
fn add_segment([from, to]: [f64; 2], y: f64, z: f64, weight: f64, sum: &mut Moments) {
    let (one, x, xx) = (to - from, (to * to - from * from) / 2.0, (to * to * to - from * from * from) / 3.0);
    let first = [x, y * one, z * one];
    let second = [xx, y * y * one, z * z * one, x * y, x * z, y * z * one];
    sum.add(&Moments { volume: one, first, second }, weight);
}

/// Adds the moments of the union of the segments between pairs of lines at y.
fn add_row(lines: &[[Line; 2]], segments: &mut Vec<[f64; 2]>, y: f64, z: f64, weight: f64, sum: &mut Moments) {
    segments.clear();
    segments.extend(lines.iter().map(|pair| pair.map(|line| line.at(y))));
    segments.sort_unstable_by(|p, q| p[0].total_cmp(&q[0]));
    let mut end = f64::NEG_INFINITY;
    for &[from, to] in segments.iter() {
        if to > end {
            add_segment([from.max(end), to], y, z, weight, sum);
            end = to;
        }
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.dedup_by(|p, q| *p - *q < 1e-12);
    values
}

/// Adds the moments of a slice of the union, times `weight`: exact, because between the corners of the slices and the crossings of their
/// sides the segments of the union end on straight lines, for whose cubic polynomials Gauss's rule with two points is exact.
fn add_slice(pieces: &[&Convex], z: f64, weight: f64, sum: &mut Moments) {
    let slices: Vec<Slice> = pieces.iter().filter_map(|piece| Slice::new(piece, z)).collect();
    let corners = sorted(slices.iter().flat_map(|slice| slice.corners.iter().copied()).collect());
    let mut segments = Vec::new();
    for pair in corners.windows(2) {
        let [low, high] = [pair[0], pair[1]];
        let lines: Vec<[Line; 2]> = slices.iter().filter_map(|slice| slice.lines(0.5 * (low + high))).collect();
        let all: Vec<Line> = lines.iter().flatten().copied().collect();
        let mut rows = vec![low, high];
        for (i, p) in all.iter().enumerate() {
            for q in &all[..i] {
                let y = (q.x - p.x) / (p.slope - q.slope);
                if y > low && y < high {
                    rows.push(y);
                }
            }
        }
        for rows in sorted(rows).windows(2) {
            let (middle, half) = (0.5 * (rows[0] + rows[1]), 0.5 * (rows[1] - rows[0]));
            for side in [-1.0, 1.0] {
                let y = middle + side * half / 3f64.sqrt();
                add_row(&lines, &mut segments, y, z, weight * half, sum);
            }
        }
    }
}

/// Returns the moments of the union of all parts. The slices are exact; over z, Gauss's rule with three points is exact between the
/// corners of the parts except where an edge enters another part. `steps` are the least number of intervals.
pub fn moments(parts: &[Part], steps: usize) -> Moments {
    let pieces: Vec<&Convex> = parts.iter().flat_map(|part| &part.pieces).collect();
    let corners = sorted(parts.iter().flat_map(|part| part.mesh.vertices.iter().map(|p| p[2])).collect());
    let longest = (corners[corners.len() - 1] - corners[0]) / steps as f64;
    let mut sum = Moments::default();
    for pair in corners.windows(2) {
        let count = ((pair[1] - pair[0]) / longest).ceil().max(1.0);
        let half = 0.5 * (pair[1] - pair[0]) / count;
        for i in 0..count as usize {
            let middle = pair[0] + half * (2 * i + 1) as f64;
            let at = half * 0.6f64.sqrt();
            for (z, weight) in [(middle - at, 5.0 / 9.0), (middle, 8.0 / 9.0), (middle + at, 5.0 / 9.0)] {
                add_slice(&pieces, z, weight * half, &mut sum);
            }
        }
    }
    sum
}

/// Returns whether a point is inside one of the parts.
pub fn is_inside(parts: &[Part], p: &Vec3) -> bool {
    parts.iter().flat_map(|part| &part.pieces).any(|piece| piece.contains(p))
}

/// Returns the surface of the union: what is left of each triangle where no part covers it.
pub fn surface(parts: &[Part]) -> TriMesh {
    let mut surface = TriMesh::default();
    for part in parts {
        for t in 0..part.mesh.triangles.len() {
            let corners = part.mesh.corners(t).map(Vec3::from);
            let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0])).normalize();
            // Of two faces that touch both are covered; of two that lie in each other neither is.
            let mut left = vec![corners.map(|p| p + normal * NEAR).to_vec()];
            for piece in parts.iter().flat_map(|part| &part.pieces) {
                let mut rest = Vec::new();
                left.into_iter().for_each(|polygon| piece.cut(polygon, &mut rest));
                left = rest;
            }
            for polygon in left {
                for i in 1..polygon.len() - 1 {
                    let corners = [0, i, i + 1].map(|k| polygon[k] - normal * NEAR);
                    if (corners[1] - corners[0]).cross(&(corners[2] - corners[0])).norm() > NEAR * NEAR {
                        let first = surface.vertices.len() as u32;
                        surface.vertices.extend(corners.map(<[f64; 3]>::from));
                        surface.triangles.push([first, first + 1, first + 2]);
                    }
                }
            }
        }
    }
    surface
}

#[test]
fn the_union_of_two_boxes_and_a_tube_has_the_moments_of_closed_forms() {
    let near = |x: f64, y: f64, most: f64| assert!((x - y).abs() <= most, "{x} instead of {y}");
    // Two boxes that share a corner of 0.2 × 0.3 × 0.4 m, turned together.
    let turn = Pose::rotation(Vec3::new(0.3, -0.7, 0.4));
    let at = |x: f64, y: f64, z: f64| Part::block(Vec3::repeat(0.5), &Pose::translation(x, y, z)).placed(&turn);
    let boxes = [at(0.0, 0.0, 0.0), at(0.8, 0.7, 0.6)];
    let sum = moments(&boxes, 40);
    near(sum.volume, 2.0 - 0.024, 1e-5);
    let middle = (Vec3::new(0.8, 0.7, 0.6) - Vec3::new(0.4, 0.35, 0.3) * 0.024) / sum.volume;
    near((Vec3::from(sum.first) / sum.volume - turn.rotation * middle).norm(), 0.0, 1e-5);
    let area = surface(&boxes).area();
    near(area, 12.0 - 2.0 * (0.06 + 0.08 + 0.12), 1e-5);
    // A tube alone, and with a rod that fills its bore.
    let ring = |radius: f64| 3.0 * radius * radius;
    let tube = Part::tube(0.5, 0.3, 0.2, 12, &turn);
    near(moments(std::slice::from_ref(&tube), 40).volume, 0.4 * (ring(0.5) - ring(0.3)), 1e-9);
    near(tube.mesh.report().volume, 0.4 * (ring(0.5) - ring(0.3)), 1e-9);
    let filled = [tube, Part::rod(0.3, 0.2, 12, &turn)];
    near(moments(&filled, 40).volume, 0.4 * ring(0.5), 1e-5);
    assert!(is_inside(&filled, &Vec3::zeros()) && !is_inside(&filled[..1], &Vec3::zeros()));
}
