//! Convex hulls of points, exact: quickhull (Barber, Dobkin, Huhdanpaa 1996) on integer coordinates.
//!
//! Points are snapped to a grid of 2⁴⁰ steps over the largest extent (a millionth of a millionth of it), where the
//! sign of a determinant is exact in 128-bit integers. So coplanar, collinear, duplicate and sliver input needs no
//! tolerance: every facet's plane supports the hull, and no point strictly outside a plane is ever classified as
//! inside.

use voxshell_base::math::limits;
use voxshell_base::memory::{filled, map_with_capacity, CollectGuarded, GrowGuarded};
use voxshell_base::{Error, Result};

const STEPS: f64 = (1u64 << 40) as f64;

/// A triangulated hull.
pub struct Hull {
    /// Points that the integer coordinates represent, including those not on the hull.
    pub points: Vec<[f64; 3]>,
    /// Counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Triangle across the edge from corner i to corner i + 1.
    pub neighbors: Vec<[u32; 3]>,
    /// Outward unit normal of each triangle.
    pub normals: Vec<[f64; 3]>,
}

struct Face {
    corners: [u32; 3],
    neighbors: [u32; 3],
    /// Points strictly above this face that wait to be added.
    outside: Vec<u32>,
    alive: bool,
}

struct Builder {
    points: Vec<[i64; 3]>,
    faces: Vec<Face>,
}

fn difference(a: [i64; 3], b: [i64; 3]) -> [i64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(u: [i64; 3], v: [i64; 3]) -> [i128; 3] {
    let c = |i: usize, j: usize| i128::from(u[i]) * i128::from(v[j]) - i128::from(u[j]) * i128::from(v[i]);
    [c(1, 2), c(2, 0), c(0, 1)]
}

impl Builder {
    fn normal(&self, [a, b, c]: [u32; 3]) -> [i128; 3] {
        let [a, b, c] = [a, b, c].map(|i| self.points[i as usize]);
        cross(difference(b, a), difference(c, a))
    }

    /// Returns six times the volume of the tetrahedron over the triangle: positive when `p` is above it. At most
    /// 6·2¹²⁰.
    fn height(&self, corners: [u32; 3], p: u32) -> i128 {
        let n = self.normal(corners);
        let d = difference(self.points[p as usize], self.points[corners[0] as usize]);
        n[0] * i128::from(d[0]) + n[1] * i128::from(d[1]) + n[2] * i128::from(d[2])
    }

    /// Returns `height(..) > 0`, in floating point where that is certain.
    fn above(&self, corners: [u32; 3], p: u32) -> bool {
        let a = self.points[corners[0] as usize];
        let f = |i: u32| difference(self.points[i as usize], a).map(|x| x as f64);
        let (u, v, w) = (f(corners[1]), f(corners[2]), f(p));
        let (mut det, mut size) = (0.0, 0.0);
        for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            let (s, t) = (u[i] * v[j], u[j] * v[i]);
            det += (s - t) * w[k];
            size += (s.abs() + t.abs()) * w[k].abs();
        }
        if det.abs() > size * 1.0e-14 {
            det > 0.0
        } else {
            self.height(corners, p) > 0
        }
    }

    /// Returns four points that span space, oriented so that (a, b, c) sees d below it.
    fn simplex(&self) -> Option<[u32; 4]> {
        let count = self.points.len() as u32;
        let point = |i: u32| self.points[i as usize];
        let a = (0..count).min_by_key(|&i| (point(i), i))?;
        let squared =
            |i: u32| difference(point(i), point(a)).iter().map(|&x| i128::from(x) * i128::from(x)).sum::<i128>();
        let b = (0..count).max_by_key(|&i| (squared(i), std::cmp::Reverse(i)))?;
        if squared(b) == 0 {
            return None;
        }
        let area = |i: u32| {
            let n = self.normal([a, b, i]).map(|x| x as f64);
            n[0] * n[0] + n[1] * n[1] + n[2] * n[2]
        };
        let c = (0..count).fold(a, |best, i| if area(i) > area(best) { i } else { best });
        if self.normal([a, b, c]) == [0; 3] {
            return None;
        }
        let volume = |i: u32| self.height([a, b, c], i);
        let d = (0..count).max_by_key(|&i| (volume(i).abs(), std::cmp::Reverse(i)))?;
        match volume(d) {
            0 => None,
            v if v < 0 => Some([a, b, c, d]),
            _ => Some([a, c, b, d]),
        }
    }

    fn hand_out(&mut self, points: impl IntoIterator<Item = u32>, faces: std::ops::Range<usize>) {
        for p in points {
            if let Some(f) = faces.clone().find(|&f| self.above(self.faces[f].corners, p)) {
                self.faces[f].outside.push_guarded(p);
            }
        }
    }

    fn start(&mut self, [a, b, c, d]: [u32; 4]) {
        let face = |corners, neighbors| Face { corners, neighbors, outside: Vec::new(), alive: true };
        self.faces = vec![
            face([a, b, c], [1, 2, 3]),
            face([b, a, d], [0, 3, 2]),
            face([c, b, d], [0, 1, 3]),
            face([a, c, d], [0, 2, 1]),
        ];
        self.hand_out(0..self.points.len() as u32, 0..4);
    }

    /// Adds the farthest point above `face`; the new faces are at the end of the list.
    fn raise(&mut self, face: usize) {
        let corners = self.faces[face].corners;
        let waiting = &self.faces[face].outside;
        let Some(&eye) = waiting.iter().max_by_key(|&&p| (self.height(corners, p), std::cmp::Reverse(p))) else {
            return;
        };
        // The faces visible from `eye`, and the closed line of edges around them.
        let mut seen = vec![face];
        self.faces[face].alive = false;
        let mut horizon: Vec<(u32, u32, u32)> = Vec::new();
        let mut next = 0;
        while next < seen.len() {
            let f = seen[next];
            next += 1;
            for k in 0..3 {
                let n = self.faces[f].neighbors[k] as usize;
                if !self.faces[n].alive {
                    continue;
                }
                if self.above(self.faces[n].corners, eye) {
                    self.faces[n].alive = false;
                    seen.push_guarded(n);
                }
            }
        }
        for &f in &seen {
            for k in 0..3 {
                let n = self.faces[f].neighbors[k];
                if self.faces[n as usize].alive {
                    horizon.push_guarded((self.faces[f].corners[k], self.faces[f].corners[(k + 1) % 3], n));
                }
            }
        }
        let first = self.faces.len();
        let mut from = map_with_capacity(horizon.len());
        for (i, &(a, _, _)) in horizon.iter().enumerate() {
            from.insert(a, (first + i) as u32);
        }
        let mut to = map_with_capacity(horizon.len());
        for (i, &(_, b, _)) in horizon.iter().enumerate() {
            to.insert(b, (first + i) as u32);
        }
        for (i, &(a, b, n)) in horizon.iter().enumerate() {
            let beyond = &mut self.faces[n as usize];
            for k in 0..3 {
                if beyond.corners[k] == b && beyond.corners[(k + 1) % 3] == a {
                    beyond.neighbors[k] = (first + i) as u32;
                }
            }
            self.faces.push_guarded(Face {
                corners: [a, b, eye],
                neighbors: [n, from[&b], to[&a]],
                outside: Vec::new(),
                alive: true,
            });
        }
        for f in seen {
            let waiting = std::mem::take(&mut self.faces[f].outside);
            self.hand_out(waiting.into_iter().filter(|&p| p != eye), first..self.faces.len());
        }
    }
}

/// Returns the hull of `points` (at least four that are not coplanar, all finite).
pub fn convex_hull(points: &[[f64; 3]]) -> Result<Hull> {
    for (i, p) in points.iter().enumerate() {
        if !p.iter().all(|x| limits::is_coordinate(*x)) {
            limits::check_point(&format!("points[{i}]"), &(*p).into())?;
        }
    }
    let flat =
        || Error::argument("points", format!("{} points in one plane", points.len()), "4 points not in one plane");
    if points.len() < 4 {
        return Err(Error::argument("points", format!("{} points", points.len()), "at least 4, not in one plane"));
    }
    let bounds = voxshell_base::math::Aabb::from_points(points);
    let extent = bounds.extents().max();
    if !(extent.is_finite() && extent > 0.0) {
        return Err(flat());
    }
    let step = extent / STEPS;
    let lattice: Vec<[i64; 3]> =
        points.iter().map(|p| [0, 1, 2].map(|k| ((p[k] - bounds.min[k]) / step).round() as i64)).collect_guarded();
    let LatticeHull { points, triangles, neighbors } = lattice_hull(lattice).ok_or_else(flat)?;
    let builder = Builder { points, faces: Vec::new() };
    let unit = |corners: [u32; 3]| {
        let n = builder.normal(corners).map(|x| x as f64);
        let len = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt();
        n.map(|x| x / len)
    };
    Ok(Hull {
        normals: triangles.iter().map(|t| unit(*t)).collect_guarded(),
        triangles,
        neighbors,
        points: builder.points.iter().map(|p| [0, 1, 2].map(|k| bounds.min[k] + p[k] as f64 * step)).collect_guarded(),
    })
}

/// A triangulated hull of points with integer coordinates.
pub(crate) struct LatticeHull {
    /// The given points, including those not on the hull.
    pub points: Vec<[i64; 3]>,
    /// Counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Triangle across the edge from corner i to corner i + 1.
    pub neighbors: Vec<[u32; 3]>,
}

/// Returns the hull of points whose coordinates differ by at most 2⁴⁰; `None` if they lie in one plane.
pub(crate) fn lattice_hull(points: Vec<[i64; 3]>) -> Option<LatticeHull> {
    let mut builder = Builder { points, faces: Vec::new() };
    builder.start(builder.simplex()?);
    let mut face = 0;
    while face < builder.faces.len() {
        if builder.faces[face].alive && !builder.faces[face].outside.is_empty() {
            builder.raise(face);
        }
        face += 1;
    }
    let mut renumbered = filled(u32::MAX, builder.faces.len());
    let alive: Vec<&Face> = builder.faces.iter().filter(|f| f.alive).collect_guarded();
    for (new, (old, _)) in builder.faces.iter().enumerate().filter(|(_, f)| f.alive).enumerate() {
        renumbered[old] = new as u32;
    }
    Some(LatticeHull {
        triangles: alive.iter().map(|f| f.corners).collect_guarded(),
        neighbors: alive.iter().map(|f| f.neighbors.map(|n| renumbered[n as usize])).collect_guarded(),
        points: builder.points,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(points: &[[f64; 3]]) -> Hull {
        let hull = convex_hull(points).unwrap();
        let extent = voxshell_base::math::Aabb::from_points(points).extents().max();
        for (t, n) in hull.triangles.iter().zip(&hull.normals) {
            let a = hull.points[t[0] as usize];
            for p in &hull.points {
                let above: f64 = (0..3).map(|k| n[k] * (p[k] - a[k])).sum();
                assert!(above <= 1e-14 * extent, "{above}");
            }
        }
        for (f, neighbors) in hull.neighbors.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (hull.triangles[f][k], hull.triangles[f][(k + 1) % 3]);
                let other = hull.triangles[neighbors[k] as usize];
                assert!((0..3).any(|i| other[i] == b && other[(i + 1) % 3] == a));
            }
        }
        let mut on: Vec<u32> = hull.triangles.iter().flatten().copied().collect();
        on.sort_unstable();
        on.dedup();
        assert_eq!(hull.triangles.len(), 2 * on.len() - 4, "Euler");
        hull
    }

    #[test]
    fn hull_of_a_grid_of_points_is_the_cube_whatever_is_coplanar() {
        let mut points = Vec::new();
        for i in 0..5 {
            for j in 0..5 {
                for k in 0..5 {
                    points.push([f64::from(i), f64::from(j), f64::from(k) * 1e-9]);
                    points.push([f64::from(i), f64::from(j), f64::from(k) * 1e-9]);
                }
            }
        }
        check(&points);
    }

    #[test]
    fn hull_of_random_points_of_a_ball_and_on_circles_is_convex_and_closed() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
        };
        let cloud: Vec<[f64; 3]> = (0..800).map(|_| [next(), next(), next() * 1e-6]).collect();
        check(&cloud);
        let circles: Vec<[f64; 3]> = (0..600)
            .map(|i| {
                let a = f64::from(i % 200) / 200.0 * std::f64::consts::TAU;
                [libm::cos(a), libm::sin(a), f64::from(i / 200)]
            })
            .collect();
        check(&circles);
    }

    #[test]
    fn flat_and_short_input_is_refused_by_name() {
        let square = [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]];
        assert!(convex_hull(&square).is_err());
        assert!(convex_hull(&square[..3]).is_err());
        assert!(convex_hull(&[[0.5; 3]; 9]).is_err());
        let bad = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, f64::NAN, 0.0], [0.0, 0.0, 1.0]];
        assert!(convex_hull(&bad).err().unwrap().to_string().contains("points[2]"));
    }
}
