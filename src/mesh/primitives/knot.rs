//! Torus knots.

use super::arguments::{length, turn, within, MAX_SEGMENTS};
use crate::TriMesh;
use voxshell_base::math::Vec3;
use voxshell_base::memory::{with_capacity, CollectGuarded, GrowGuarded};
use voxshell_base::{Error, Result};

/// Minor radius of the torus on which the centre line winds, over its major radius.
const WINDING_RADIUS: f64 = 0.4;

/// Makes a tube of radius `tube` around the (`p`, `q`) torus knot: its centre line goes `p` times around y and `q`
/// times around the core circle of radius `radius` (at 0.4 `radius` from it). `p` and `q` have no common divisor; `nu`
/// segments along, `nv` around the tube.
pub fn torus_knot(p: u32, q: u32, radius: f64, tube: f64, nu: u32, nv: u32) -> Result<TriMesh> {
    within("p", p, 1, 64)?;
    within("q", q, 1, 64)?;
    if gcd(p, q) != 1 {
        return Err(Error::argument("q", format!("{q} with p = {p}"), "no divisor in common with p"));
    }
    length("radius", radius)?;
    length("tube", tube)?;
    within("nu", nu, 8 * p.max(q), MAX_SEGMENTS)?;
    within("nv", nv, 3, MAX_SEGMENTS)?;
    let line: Vec<Vec3> = (0..nu).map(|i| center(p, q, i, nu) * radius).collect_guarded();
    let widest = widest_tube(&line);
    if tube >= widest {
        let expected = format!("less than {widest} m, where the tube of this knot touches itself");
        return Err(Error::argument("tube", format!("{tube} m"), expected));
    }
    let mut vertices: Vec<[f64; 3]> = with_capacity((nu * nv) as usize);
    for i in 0..nu {
        let at = |k: u32| line[(k % nu) as usize];
        let tangent = (at(i + 1) - at(i + nu - 1)).normalize();
        // The direction away from the core circle turns with the curve and closes with it.
        let (cos, sin) = turn((p * i) % nu, nu);
        let outward = line[i as usize] - Vec3::new(cos, 0.0, sin) * radius;
        let normal = (outward - tangent * outward.dot(&tangent)).normalize();
        let binormal = tangent.cross(&normal);
        vertices.extend_guarded((0..nv).map(|j| -> [f64; 3] {
            let (cos, sin) = turn(j, nv);
            (line[i as usize] + (normal * cos + binormal * sin) * tube).into()
        }));
    }
    let mut triangles = with_capacity((2 * nu * nv) as usize);
    for i in 0..nu {
        for j in 0..nv {
            let at = |i: u32, j: u32| (i % nu) * nv + j % nv;
            let (a, b, c, d) = (at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j));
            triangles.extend_guarded([[a, b, c], [a, c, d]]);
        }
    }
    TriMesh::new(vertices, triangles)
}

/// Returns the centre line at `i`/`n`, for unit radius.
fn center(p: u32, q: u32, i: u32, n: u32) -> Vec3 {
    let ((cos_p, sin_p), (cos_q, sin_q)) = (turn((p * i) % n, n), turn((q * i) % n, n));
    let r = 1.0 + WINDING_RADIUS * cos_q;
    Vec3::new(r * cos_p, WINDING_RADIUS * sin_q, r * sin_p)
}

/// Returns the radius at which a tube around a closed line touches itself: the smaller of half the distance between
/// strands and the smallest radius of curvature. Two points belong to different strands if their distance is below 2/π
/// of the length of the line between them: the ends of a half circle of that length are that far apart.
fn widest_tube(line: &[Vec3]) -> f64 {
    let n = line.len();
    let steps: Vec<f64> = (0..n).map(|i| (line[(i + 1) % n] - line[i]).norm()).collect_guarded();
    let total: f64 = steps.iter().sum();
    let along: Vec<f64> = steps.iter().scan(0.0, |s, l| Some(std::mem::replace(s, *s + l))).collect_guarded();
    let mut widest = f64::INFINITY;
    for i in 0..n {
        let (a, b, c) = (line[(i + n - 1) % n], line[i], line[(i + 1) % n]);
        let bend = 2.0 * (b - a).cross(&(c - b)).norm() / ((b - a).norm() * (c - b).norm() * (c - a).norm());
        widest = widest.min(1.0 / bend);
        for j in i + 1..n {
            let distance = (line[i] - line[j]).norm();
            let way = along[j] - along[i];
            if way.min(total - way) > std::f64::consts::FRAC_PI_2 * distance {
                widest = widest.min(0.5 * distance);
            }
        }
    }
    widest
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}
