//! Random parts from a seed: one to four closed bodies (boxes, plates with a hole, gears, spikes, low-poly stones,
//! organic bodies, rings), beside each other, overlapping or nested, with the usual flaws of files: parts turned inside
//! out, triangles turned, repeated, split. The intended solid is given beside the triangles.

use nalgebra::{Isometry3, Translation3};
use voxshell::math::{Aabb, Vec3};
use voxshell::mesh::{primitives, Bvh, TriMesh};

use crate::rng::Rng;
use crate::soup::{joined, turned, winding_number};

/// Position of a body relative to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    First,
    /// Its box overlaps no other box.
    Apart,
    /// At a random place near the first one, mostly through its surface.
    Through,
    /// In the body before, at a distance from all surfaces.
    Within,
}

/// One closed body.
pub struct Body {
    /// Mesh facing out, neither split nor damaged.
    pub mesh: TriMesh,
    /// Contribution to the winding number inside: 1, or −1 for a shell in another one with opposite winding.
    pub sign: i32,
    pub place: Place,
    /// The body that contains it.
    pub host: Option<usize>,
}

/// A random part.
pub struct Part {
    /// The mesh with its flaws.
    pub mesh: TriMesh,
    /// The bodies: a point is inside if the sum of their winding numbers, times their signs, is more than 0.
    pub bodies: Vec<Body>,
    /// Flaws of the triangles.
    pub done: Vec<&'static str>,
}

/// Volume, ∫x and ∫x xᵀ (xx, yy, zz, xy, xz, yz) about the origin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    pub volume: f64,
    pub first: [f64; 3],
    pub second: [f64; 6],
}

impl Moments {
    /// Adds `factor` times `other`.
    pub fn add(&mut self, other: &Self, factor: f64) {
        self.volume += factor * other.volume;
        (0..3).for_each(|k| self.first[k] += factor * other.first[k]);
        (0..6).for_each(|k| self.second[k] += factor * other.second[k]);
    }

    /// Returns the moments of a closed mesh, by the flux of (x, 0, 0), (x²/2, 0, 0), (x³/3, 0, 0), … through its
    /// triangles; each with the seven-point rule (Dunavant 1985), which is exact for polynomials of degree five.
    pub fn of(mesh: &TriMesh) -> Self {
        const RULE: [(f64, f64, f64); 3] = [
            (1.0 / 3.0, 1.0 / 3.0, 0.225),
            (0.101_286_507_323_456_3, 0.101_286_507_323_456_3, 0.125_939_180_544_827_15),
            (0.470_142_064_105_115_1, 0.470_142_064_105_115_1, 0.132_394_152_788_506_16),
        ];
        let mut sum = Self::default();
        for t in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(t).map(Vec3::from);
            let across = 0.5 * (b - a).cross(&(c - a)).x;
            for (n, (u, v, weight)) in RULE.into_iter().enumerate() {
                let w = 1.0 - u - v;
                let turns: &[[f64; 3]] = if n == 0 { &[[u, v, w]] } else { &[[u, v, w], [v, w, u], [w, u, v]] };
                for [u, v, w] in turns {
                    let p = a * *u + b * *v + c * *w;
                    let f = weight * across * p.x;
                    sum.volume += f;
                    sum.first[0] += f * p.x / 2.0;
                    sum.first[1] += f * p.y;
                    sum.first[2] += f * p.z;
                    let second = [p.x * p.x / 3.0, p.y * p.y, p.z * p.z, p.x * p.y / 2.0, p.x * p.z / 2.0, p.y * p.z];
                    (0..6).for_each(|k| sum.second[k] += f * second[k]);
                }
            }
        }
        sum
    }
}

/// Number of kinds of bodies.
pub const KINDS: u64 = 8;

/// Returns a closed body facing out, without self-intersections, about a metre large, with 12 to 700 triangles.
pub fn body(rng: &mut Rng) -> TriMesh {
    let sizes = [0; 3].map(|_| rng.fraction());
    let kind = rng.next() % KINDS;
    body_of(kind, sizes, rng)
}

/// Returns such a body of one kind: box, plate with a hole, gear, spike, ring, knot, stone or organic body. `sizes` are its
/// proportions, each 0 to 1.
pub fn body_of(kind: u64, [a, b, c]: [f64; 3], rng: &mut Rng) -> TriMesh {
    let between = |t: f64, low: f64, high: f64| low + (high - low) * t;
    let mesh = match kind {
        0 => primitives::cuboid([a, b, c].map(|t| between(t, 0.15, 0.5))),
        // A plate with a hole.
        1 => primitives::hole(
            [between(a, 0.25, 0.5), between(b, 0.05, 0.2), between(a, 0.25, 0.5)],
            between(c, 0.06, 0.2),
            16,
        ),
        2 => primitives::gear(
            6 + (rng.next() % 6) as u32,
            0.5,
            between(a, 0.33, 0.42),
            between(b, 0.1, 0.4),
            between(c, 0.06, 0.2),
        ),
        // A spike.
        3 => primitives::cone(between(a, 0.06, 0.3), between(b, 0.5, 1.0), 5 + (rng.next() % 12) as u32),
        4 => primitives::torus(between(a, 0.28, 0.38), between(b, 0.06, 0.15), 18, 9),
        5 => primitives::torus_knot(2, 3, 0.3, between(a, 0.04, 0.08), 40, 6),
        // A stone of 20 or 80 triangles; an undulating body of 320.
        kind => {
            let subdivisions = if kind == 6 { (rng.next() % 2) as u32 } else { 2 };
            primitives::sphere(0.35, subdivisions).map(|mut ball| {
                let roughness = if kind == 6 { between(a, 0.1, 0.4) } else { 0.0 };
                let waves: Vec<(Vec3, f64)> = (0..3).map(|_| (rng.vector() * 12.0, 0.12 * rng.fraction())).collect();
                for p in &mut ball.vertices {
                    let at = Vec3::from(*p);
                    let swell: f64 = waves.iter().map(|(k, size)| size * wave(k.dot(&at))).sum();
                    *p = (at * (1.0 + swell + roughness * rng.unit())).into();
                }
                ball
            })
        }
    };
    let turn = if rng.next() % 3 == 0 { Default::default() } else { rng.rotation() };
    mesh.unwrap().transformed(&Isometry3::from_parts(Translation3::identity(), turn), 1.0)
}

/// Bhaskara's approximation of the sine: the same on every platform, and accurate enough for waves.
fn wave(x: f64) -> f64 {
    let x = x - std::f64::consts::TAU * (x / std::f64::consts::TAU).round();
    let y = x.abs();
    let value = 16.0 * y * (std::f64::consts::PI - y) / (49.348 - 4.0 * y * (std::f64::consts::PI - y));
    value.copysign(x)
}

fn moved(mesh: &TriMesh, by: Vec3, scale: f64) -> TriMesh {
    mesh.transformed(&Isometry3::from_parts(Translation3::from(by), Default::default()), scale)
}

fn holds(outer: &Aabb, inner: &Aabb) -> bool {
    outer.contains(&inner.min) && outer.contains(&inner.max)
}

/// Returns the random point inside the last body that is farthest from all surfaces, and its distance.
fn deepest(bodies: &[Body], rng: &mut Rng) -> Option<(Vec3, f64)> {
    let host = &bodies.last()?.mesh;
    let hierarchies: Vec<Bvh> = bodies.iter().map(|b| Bvh::build(&b.mesh)).collect();
    let bounds = host.bounds();
    let mut best = None;
    for _ in 0..40 {
        let p =
            bounds.center() + Vec3::new(rng.unit(), rng.unit(), rng.unit()).component_mul(&(bounds.extents() * 0.5));
        let room = hierarchies.iter().map(|b| b.closest_point(p).distance_squared.sqrt()).fold(f64::INFINITY, f64::min);
        if best.is_none_or(|(_, most)| room > most) && winding_number(host, &p) > 0.5 {
            best = Some((p, room));
        }
    }
    best.filter(|(_, room)| *room > 0.02)
}

/// Splits without T-junctions: triangles with a new corner in their middle, and edges of two triangles with one on
/// them.
fn split(mesh: &TriMesh, rng: &mut Rng) -> TriMesh {
    let TriMesh { mut vertices, triangles } = mesh.clone();
    let mut edges = std::collections::HashMap::<(u32, u32), u32>::new();
    // At most one edge of a triangle: the first drawn one, if none of the neighbour's was drawn.
    let mut taken = vec![false; triangles.len()];
    let mut of_edge = std::collections::BTreeMap::<(u32, u32), Vec<usize>>::new();
    for (n, t) in triangles.iter().enumerate() {
        for i in 0..3 {
            let (a, b) = (t[i], t[(i + 1) % 3]);
            of_edge.entry((a.min(b), a.max(b))).or_default().push(n);
        }
    }
    for ((a, b), beside) in of_edge {
        if beside.len() == 2 && rng.next() % 5 == 0 && beside.iter().all(|&n| !taken[n]) {
            beside.iter().for_each(|&n| taken[n] = true);
            let (p, q) = (Vec3::from(vertices[a as usize]), Vec3::from(vertices[b as usize]));
            let at = 0.2 + 0.6 * rng.fraction();
            edges.insert((a, b), vertices.len() as u32);
            vertices.push((p + (q - p) * at).into());
        }
    }
    let mut out = Vec::new();
    for &[a, b, c] in &triangles {
        let cut = [[a, b, c], [b, c, a], [c, a, b]]
            .into_iter()
            .find_map(|[a, b, c]| edges.get(&(a.min(b), a.max(b))).map(|&middle| [[a, middle, c], [middle, b, c]]));
        if let Some(halves) = cut {
            out.extend(halves);
        } else if rng.next() % 4 == 0 {
            let middle = [a, b, c].map(|i| Vec3::from(vertices[i as usize])).iter().sum::<Vec3>() / 3.0;
            let m = vertices.len() as u32;
            vertices.push(middle.into());
            out.extend([[a, b, m], [b, c, m], [c, a, m]]);
        } else {
            out.push([a, b, c]);
        }
    }
    TriMesh::new(vertices, out).unwrap()
}

/// Turns over some triangles, with less than two fifths of the area.
fn with_some_turned(mesh: &mut TriMesh, rng: &mut Rng) {
    let area = |mesh: &TriMesh, t: usize| {
        let [a, b, c] = mesh.corners(t).map(Vec3::from);
        (b - a).cross(&(c - a)).norm() * 0.5
    };
    let mut left = 0.4 * rng.fraction() * mesh.area();
    for _ in 0..mesh.triangles.len() {
        let t = (rng.next() % mesh.triangles.len() as u64) as usize;
        left -= area(mesh, t);
        if left < 0.0 {
            break;
        }
        // May turn it back, which changes nothing.
        mesh.triangles[t].swap(0, 1);
    }
}

/// Repeats some triangles, turned or not, on their corners or on others at the same place. Never once each way: that
/// leaves the winding consistent, and consistently wound parts are not checked for repeats before parts are turned.
fn with_some_repeated(mesh: &mut TriMesh, rng: &mut Rng) {
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.triangles[t];
        match rng.next() % 12 {
            0 => mesh.triangles.push([b, c, a]),
            1 => mesh.triangles.push([a, c, b]),
            2 => {
                let base = mesh.vertices.len() as u32;
                mesh.vertices.extend([a, b, c].map(|i| mesh.vertices[i as usize]));
                mesh.triangles.push([base + 1, base, base + 2]);
            }
            _ => {}
        }
    }
}

impl Part {
    /// Returns a part about a metre large, near the origin. The same seed gives the same part.
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng(seed);
        let rng = &mut rng;
        let first = Body { mesh: body(rng), sign: 1, place: Place::First, host: None };
        let mut bodies = vec![first];
        for _ in 0..[0, 1, 1, 1, 2, 2, 3][(rng.next() % 7) as usize] {
            let next = body(rng);
            let around = bodies.iter().fold(Aabb::empty(), |b, other| b.merged(&other.mesh.bounds()));
            let bounds = next.bounds();
            let last = bodies.len() - 1;
            let (mesh, sign, place, host) = match rng.next() % 3 {
                0 => {
                    let gap = 0.02 + 0.1 * rng.fraction();
                    let mut by = around.center() - bounds.center() + rng.vector() * 0.2;
                    by.x = around.max.x - bounds.min.x + gap;
                    (moved(&next, by, 1.0), 1, Place::Apart, None)
                }
                1 => {
                    let scale = 0.5 + 0.6 * rng.fraction();
                    (moved(&next, rng.vector() * 0.4, scale), 1, Place::Through, None)
                }
                _ => {
                    let Some((at, room)) = deepest(&bodies, rng) else { continue };
                    let radius = next.vertices.iter().map(|p| Vec3::from(*p).norm()).fold(0.0, f64::max);
                    let sign = if rng.next() % 2 == 0 { 1 } else { -1 };
                    let scale = (0.4 + 0.5 * rng.fraction()) * room / radius;
                    (moved(&next, at, scale), sign, Place::Within, Some(last))
                }
            };
            bodies.push(Body { mesh, sign, place, host });
        }
        let mut done = Vec::new();
        let boxes: Vec<Aabb> = bodies.iter().map(|b| b.mesh.bounds()).collect();
        let mut given = Vec::new();
        for (n, body) in bodies.iter().enumerate() {
            let mut mesh = body.mesh.clone();
            if rng.next() % 3 == 0 {
                mesh = split(&mesh, rng);
                done.push("split");
            }
            if body.sign < 0 {
                mesh = turned(&mesh);
            }
            // Within the box of another body it might count as a cavity.
            let alone = (0..bodies.len()).all(|m| m == n || !holds(&boxes[m], &boxes[n]));
            if alone && rng.next() % 3 == 0 {
                mesh = turned(&mesh);
                done.push("inside out");
            }
            if rng.next() % 4 == 0 {
                with_some_turned(&mut mesh, rng);
                done.push("turned");
            }
            if rng.next() % 4 == 0 {
                with_some_repeated(&mut mesh, rng);
                done.push("repeated");
            }
            given.push(mesh);
        }
        // Repeats all triangles: consistently wound parts are not checked for repeats, and then no part is turned
        // alone.
        if !done.contains(&"inside out") && rng.next() % 8 == 0 {
            given.extend_from_within(..);
            done.push("doubled");
        }
        Self { mesh: joined(&given), bodies, done }
    }

    /// Returns true if bodies may intersect.
    pub fn may_overlap(&self) -> bool {
        self.bodies.iter().any(|b| b.place == Place::Through)
    }

    /// Returns all bodies with their signs: those of negative sign face in. A point is inside if the winding number is
    /// positive.
    pub fn truth(&self) -> TriMesh {
        let counted = self.bodies.iter().map(|b| if b.sign < 0 { turned(&b.mesh) } else { b.mesh.clone() });
        joined(&counted.collect::<Vec<_>>())
    }

    /// Returns the moments of the inside if no body intersects another: each body adds to, or subtracts from, the one
    /// around it.
    pub fn moments(&self) -> Option<Moments> {
        if self.may_overlap() {
            return None;
        }
        let mut sum = Moments::default();
        for body in &self.bodies {
            let mut around = 0;
            let mut host = body.host;
            while let Some(n) = host {
                around += self.bodies[n].sign;
                host = self.bodies[n].host;
            }
            let change = i32::from(around + body.sign > 0) - i32::from(around > 0);
            sum.add(&Moments::of(&body.mesh), f64::from(change));
        }
        Some(sum)
    }

    /// Returns the moments of the inside by `lines` × `lines` lines along x: exact along each line, by the winding
    /// number of [`Part::truth`].
    pub fn moments_by_lines(&self, lines: usize) -> Moments {
        let truth = self.truth();
        let bounds = truth.bounds();
        let step = [1, 2].map(|k| bounds.extents()[k] / lines as f64);
        // Off the middle, so that no line meets an axis-parallel edge.
        let at = |k: usize, n: usize| bounds.min[k + 1] + (n as f64 + 0.5 + 1e-7 * (k + 1) as f64) * step[k];
        let mut crossings: Vec<Vec<(f64, i32)>> = vec![Vec::new(); lines * lines];
        for t in 0..truth.triangles.len() {
            let p = truth.corners(t);
            let range = |k: usize| {
                let (low, high) = (0..3).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), i| {
                    (low.min(p[i][k + 1]), high.max(p[i][k + 1]))
                });
                let place = |x: f64| ((x - bounds.min[k + 1]) / step[k]).max(0.0) as usize;
                place(low).saturating_sub(1)..=(place(high) + 1).min(lines - 1)
            };
            for j in range(0) {
                for k in range(1) {
                    let corner = p.map(|p| [p[1] - at(0, j), p[2] - at(1, k)]);
                    let area = |a: [f64; 2], b: [f64; 2]| a[0] * b[1] - a[1] * b[0];
                    let [a, b, c] = corner;
                    let weights = [area(b, c), area(c, a), area(a, b)];
                    let positive = weights.iter().filter(|w| **w > 0.0).count();
                    if positive == 0 || positive == 3 {
                        let sum: f64 = weights.iter().sum();
                        let x = (0..3).map(|i| weights[i] * p[i][0]).sum::<f64>() / sum;
                        if x.is_finite() {
                            // A triangle that faces +x is an exit, otherwise an entry.
                            crossings[k * lines + j].push((x, if positive == 3 { -1 } else { 1 }));
                        }
                    }
                }
            }
        }
        let mut sum = Moments::default();
        let area = step[0] * step[1];
        for (n, row) in crossings.iter_mut().enumerate() {
            row.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (y, z) = (at(0, n % lines), at(1, n / lines));
            let mut winding = 0;
            for pair in row.windows(2) {
                winding += pair[0].1;
                if winding > 0 {
                    let (a, b) = (pair[0].0, pair[1].0);
                    let (one, x) = ((b - a) * area, (b * b - a * a) / 2.0 * area);
                    let xx = (b * b * b - a * a * a) / 3.0 * area;
                    let own = Moments {
                        volume: one,
                        first: [x, y * one, z * one],
                        second: [xx, y * y * one, z * z * one, x * y, x * z, y * z * one],
                    };
                    sum.add(&own, 1.0);
                }
            }
        }
        sum
    }
}
