//! Proofs that two triangles have no common point except the corners or the edge that they share.
//!
//! Convex sets are disjoint when a plane separates them, so every proof is a direction and the signs of a few dot products or
//! determinants. Each sign comes with a bound on its rounding error (Shewchuk 1997, "Adaptive Precision Floating-Point
//! Arithmetic and Fast Robust Geometric Predicates"); a sign that rounding could change proves nothing. So the answer
//! "apart" is certain, and triangles that touch, or nearly do, are never called apart.

use super::triangle::Corners;
use voxshell_base::math::Vec3;

/// Relative rounding error of a dot product or a 3 × 3 determinant of rounded differences, over the sum of the absolute
/// values of its terms: 8 units in the last place.
const RELATIVE: f64 = 1e-15;

/// Tolerance for candidate directions that separate weakly. It only affects which ones are tried.
const WEAK: f64 = 1e-12;

/// Returns whether two triangles certainly have no common point except the corners that they share. `a_ids` and
/// `b_ids`: numbers of their corners; equal numbers are equal coordinates.
pub fn meet_only_at_shared_corners(a: &Corners, a_ids: &[u32; 3], b: &Corners, b_ids: &[u32; 3]) -> bool {
    let place = |id: &u32| b_ids.iter().position(|other| other == id);
    let at = [0, 1, 2].map(|i| place(&a_ids[i]));
    match at.iter().flatten().count() {
        0 => disjoint(a, b),
        1 => {
            let i = at.iter().position(Option::is_some).unwrap_or(0);
            let j = at[i].unwrap_or(0);
            let others = |t: &Corners, k: usize| [t[(k + 1) % 3] - t[k], t[(k + 2) % 3] - t[k]];
            meet_at_corner(others(a, i), others(b, j))
        }
        2 => {
            let i = at.iter().position(Option::is_none).unwrap_or(0);
            let (from, to) = (a[(i + 1) % 3], a[(i + 2) % 3]);
            let j = (0..3).find(|j| !a_ids.contains(&b_ids[*j])).unwrap_or(0);
            meet_at_edge(&(to - from), &(a[i] - from), &(b[j] - from))
        }
        _ => false,
    }
}

/// Returns the sign of a number whose rounding error is at most [`RELATIVE`] times `terms`; 0 when rounding may change
/// it.
fn sign(value: f64, terms: f64) -> i8 {
    // Products of tiny numbers may have underflowed.
    let error = RELATIVE * terms + f64::MIN_POSITIVE;
    i8::from(value > error) - i8::from(value < -error)
}

/// Returns the side of the plane through the origin across `direction` on which `p` lies.
fn side(direction: &Vec3, p: &Vec3) -> i8 {
    sign(direction.dot(p), direction.abs().dot(&p.abs()))
}

/// Returns the sign of det(a, b, c).
fn orientation(a: &Vec3, b: &Vec3, c: &Vec3) -> i8 {
    let (p, q) = (a.abs(), b.abs());
    let minors = Vec3::new(p.y * q.z + p.z * q.y, p.z * q.x + p.x * q.z, p.x * q.y + p.y * q.x);
    sign(a.cross(b).dot(c), minors.dot(&c.abs()))
}

fn edges(t: &Corners) -> [Vec3; 3] {
    [t[1] - t[0], t[2] - t[1], t[0] - t[2]]
}

/// Returns the least and the greatest distance of a triangle's corners from an origin, along a direction.
fn range(t: &Corners, direction: &Vec3, origin: &Vec3) -> (f64, f64) {
    t.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| {
        let at = direction.dot(&(p - origin));
        (low.min(at), high.max(at))
    })
}

/// Returns whether two triangles are certainly farther apart than a distance, metres: along a normal of either, or across two edges.
pub fn are_farther_apart(a: &Corners, b: &Corners, distance: f64) -> bool {
    let (e, f) = (edges(a), edges(b));
    let normals = [e[0].cross(&e[1]), f[0].cross(&f[1])];
    let separates = |direction: Vec3| {
        let [own, other] = [a, b].map(|t| range(t, &direction, &a[0]));
        (other.0 - own.1).max(own.0 - other.1) > distance * direction.norm()
    };
    normals.into_iter().any(separates)
        || e.iter().any(|e| f.iter().any(|f| separates(e.cross(f))))
        || e.iter().any(|e| separates(normals[0].cross(e)))
        || f.iter().any(|f| separates(normals[1].cross(f)))
}

/// Returns whether two triangles are in one plane up to a distance, metres, and overlap there by more than it.
pub fn lie_on_each_other(a: &Corners, b: &Corners, distance: f64) -> bool {
    let Some(normal) = (a[1] - a[0]).cross(&(a[2] - a[0])).try_normalize(0.0) else { return false };
    if b.iter().any(|p| normal.dot(&(p - a[0])).abs() > distance) {
        return false;
    }
    let overlaps = |edge: &Vec3| {
        let Some(direction) = normal.cross(edge).try_normalize(0.0) else { return true };
        let [own, other] = [a, b].map(|t| range(t, &direction, &a[0]));
        own.1.min(other.1) - own.0.max(other.0) > distance
    };
    edges(a).iter().chain(&edges(b)).all(overlaps)
}

/// Tests triangles without a common corner: the axes of the separating axis test, and those in the triangles' planes.
fn disjoint(a: &Corners, b: &Corners) -> bool {
    // Relative to a corner, so that coordinates far from the origin lose no more digits.
    let (p, q) = (a.map(|x| x - a[0]), b.map(|x| x - a[0]));
    let separates = |direction: Vec3| {
        let range = |points: &[Vec3; 3]| {
            points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                let (at, error) = (direction.dot(x), RELATIVE * direction.abs().dot(&x.abs()) + f64::MIN_POSITIVE);
                (low.min(at - error), high.max(at + error))
            })
        };
        let (own, other) = (range(&p), range(&q));
        own.1 < other.0 || other.1 < own.0
    };
    let (e, f) = (edges(a), edges(b));
    let normals = [e[0].cross(&e[1]), f[0].cross(&f[1])];
    normals.into_iter().any(separates)
        || e.iter().any(|e| f.iter().any(|f| separates(e.cross(f))))
        || e.iter().any(|e| separates(normals[0].cross(e)))
        || f.iter().any(|f| separates(normals[1].cross(f)))
}

/// Tests triangles with one common corner, the origin: returns whether the angles between `a` and between `b` have only
/// that in common. Then so have the triangles, which are these angles near the corner.
fn meet_at_corner(a: [Vec3; 2], b: [Vec3; 2]) -> bool {
    // All of one angle beyond the plane of the other.
    let beyond = |[p, q]: [Vec3; 2], [r, s]: [Vec3; 2]| {
        let first = orientation(&p, &q, &r);
        first != 0 && first == orientation(&p, &q, &s)
    };
    if beyond(a, b) || beyond(b, a) {
        return true;
    }
    // The plane through an edge of each, the other two edges on its two sides.
    for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let sides = [a[1 - i], b[1 - j]].map(|p| orientation(&a[i], &b[j], &p));
        if sides[0] * sides[1] < 0 {
            return true;
        }
    }
    // In one plane, or nearly: a plane across it. The sum of all weakly separating directions lies between them.
    let normals = [a[0].cross(&a[1]), b[0].cross(&b[1])];
    let normal = if normals[0].norm_squared() < normals[1].norm_squared() { normals[1] } else { normals[0] };
    let mut middle = Vec3::zeros();
    for edge in [a[0], a[1], b[0], b[1]] {
        let Some(direction) = normal.cross(&edge).try_normalize(0.0) else { continue };
        for d in [direction, -direction] {
            let weak = |p: &Vec3, sign: f64| sign * d.dot(p) >= -WEAK * p.norm();
            if a.iter().all(|p| weak(p, -1.0)) && b.iter().all(|p| weak(p, 1.0)) {
                middle += d;
            }
        }
    }
    a.iter().all(|p| side(&middle, p) < 0) && b.iter().all(|p| side(&middle, p) > 0)
}

/// Tests triangles with a common edge, from the origin to `edge`, and third corners `a` and `b`: returns whether the
/// angle between the triangles is certainly not 0.
fn meet_at_edge(edge: &Vec3, a: &Vec3, b: &Vec3) -> bool {
    if orientation(edge, a, b) != 0 {
        return true;
    }
    // In one plane, or nearly: on different sides of the edge.
    let across = a.dot(b) * edge.norm_squared() - a.dot(edge) * b.dot(edge);
    sign(across, 10.0 * a.norm() * b.norm() * edge.norm_squared()) < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(a: [[f64; 3]; 3], a_ids: [u32; 3], b: [[f64; 3]; 3], b_ids: [u32; 3]) -> bool {
        let (a, b) = (a.map(Vec3::from), b.map(Vec3::from));
        let [first, second] = [(&a, &a_ids, &b, &b_ids), (&b, &b_ids, &a, &a_ids)]
            .map(|(a, i, b, j)| meet_only_at_shared_corners(a, i, b, j));
        assert_eq!(first, second, "{a:?} {b:?}");
        first
    }

    const FLAT: [[f64; 3]; 3] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

    #[test]
    fn triangles_that_touch_or_cross_are_never_called_apart() {
        let z = |t: [[f64; 2]; 3], z: [f64; 3]| std::array::from_fn(|i| [t[i][0], t[i][1], z[i]]);
        let ids = [3, 4, 5];
        let far = z([[2.0, 0.0], [3.0, 0.0], [2.0, 1.0]], [0.0; 3]);
        assert!(apart(FLAT, [0, 1, 2], far, ids), "in one plane");
        assert!(apart(FLAT, [0, 1, 2], z([[0.1, 0.1], [0.3, 0.1], [0.1, 0.3]], [1e-9; 3]), ids), "one above the other");
        assert!(!apart(FLAT, [0, 1, 2], z([[0.1, 0.1], [0.3, 0.1], [0.1, 0.3]], [0.0; 3]), ids), "one in the other");
        assert!(!apart(FLAT, [0, 1, 2], z([[0.2, 0.2], [0.2, 0.3], [0.3, 0.2]], [-1.0, 1.0, 1.0]), ids), "through");
        assert!(
            !apart(FLAT, [0, 1, 2], z([[0.2, 0.2], [0.2, 0.3], [0.3, 0.2]], [0.0, 1.0, 1.0]), ids),
            "a corner on it"
        );
        assert!(
            !apart(FLAT, [0, 1, 2], z([[0.5, 0.0], [1.0, -1.0], [0.0, -1.0]], [0.0; 3]), ids),
            "a corner on its edge"
        );
        assert!(!apart(FLAT, [0, 1, 2], FLAT, [3, 4, 5]), "the same place");
        assert!(!apart(FLAT, [0, 1, 2], FLAT, [2, 0, 1]), "the same corners");
    }

    #[test]
    fn triangles_that_share_a_corner_may_meet_nowhere_else() {
        let ids = [0, 3, 4];
        let flat = |p: [f64; 2], q: [f64; 2]| [[0.0; 3], [p[0], p[1], 0.0], [q[0], q[1], 0.0]];
        assert!(apart(FLAT, [0, 1, 2], flat([-1.0, 0.5], [-1.0, -1.0]), ids), "in one plane, beside each other");
        assert!(apart(FLAT, [0, 1, 2], flat([-1e-6, 1.0], [-1.0, 0.0]), ids), "almost at its edge");
        assert!(!apart(FLAT, [0, 1, 2], flat([0.0, 2.0], [-1.0, 0.0]), ids), "along its edge");
        assert!(!apart(FLAT, [0, 1, 2], flat([0.2, 0.1], [0.1, 0.2]), ids), "in it");
        assert!(!apart(FLAT, [0, 1, 2], [[0.0; 3], [0.3, 0.3, 1.0], [0.3, 0.3, -1.0]], ids), "through it");
        assert!(apart(FLAT, [0, 1, 2], [[0.0; 3], [0.3, 0.3, 1e-9], [0.4, 0.3, 1.0]], ids), "above it");
        assert!(
            apart(FLAT, [0, 1, 2], [[0.0; 3], [-0.1, 0.5, -1.0], [-0.1, 0.5, 1.0]], ids),
            "across, beside its edge"
        );
    }

    #[test]
    fn triangles_that_share_an_edge_may_not_be_folded_together() {
        let ids = [1, 0, 3];
        let third = |p: [f64; 3]| [FLAT[1], FLAT[0], p];
        assert!(apart(FLAT, [0, 1, 2], third([0.5, -1.0, 0.0]), ids), "flat");
        assert!(apart(FLAT, [0, 1, 2], third([0.5, -1.0, 1e-18]), ids), "flat to rounding");
        assert!(apart(FLAT, [0, 1, 2], third([0.2, 1.0, 1e-9]), ids), "sharp");
        assert!(!apart(FLAT, [0, 1, 2], third([0.2, 1.0, 0.0]), ids), "folded");
        assert!(!apart(FLAT, [0, 1, 2], third([0.5, 0.0, 0.0]), ids), "without area");
    }

    /// Random triangles on a coarse lattice, where touching is common, against the exact answer in integers.
    #[test]
    fn apart_is_never_said_of_lattice_triangles_that_meet() {
        let mut state = 9u64;
        let mut next = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        let (mut called_apart, mut missed, mut met) = (0, 0, 0);
        for _ in 0..200_000 {
            let mut points: Vec<[i64; 3]> = (0..6).map(|_| [0; 3].map(|_: i64| next(5) as i64)).collect();
            let shared = next(3) as usize;
            for i in 0..shared {
                points[3 + i] = points[i];
            }
            let number = |i: usize| points.iter().position(|p| *p == points[i]).unwrap_or(i) as u32;
            let ids: [u32; 6] = std::array::from_fn(number);
            let (a, b): ([u32; 3], [u32; 3]) = ([ids[0], ids[1], ids[2]], [ids[3], ids[4], ids[5]]);
            let distinct = |t: [u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
            if !distinct(a) || !distinct(b) || a.iter().all(|i| b.contains(i)) {
                continue;
            }
            let at = |t: [u32; 3]| t.map(|i| points[i as usize].map(|x| x as f64 * 0.125));
            let exact = meet_elsewhere([a, b].map(|t| t.map(|i| points[i as usize])), a, b);
            let said = apart(at(a), a, at(b), b);
            assert!(!(said && exact), "{points:?}");
            called_apart += usize::from(said);
            missed += usize::from(!said && !exact);
            met += usize::from(exact);
        }
        assert!(called_apart > 50_000 && met > 20_000, "{called_apart} {met}");
        // Without area, in most cases.
        assert!(missed * 20 < called_apart, "{missed} of {called_apart} not recognised");
    }

    /// Whether two lattice triangles have a point in common that is no shared corner and on no shared edge: by the exact
    /// intersections of the edges of each with the other, and corners in triangles.
    fn meet_elsewhere(t: [[[i64; 3]; 3]; 2], a: [u32; 3], b: [u32; 3]) -> bool {
        let shared: Vec<[i64; 3]> = (0..3).filter(|&i| b.contains(&a[i])).map(|i| t[0][i]).collect();
        // All common points are in the hull of these: corners of one in the other, and edges crossing.
        let mut common: Vec<[num_rational::Rational64; 3]> = Vec::new();
        for (one, other) in [(0, 1), (1, 0)] {
            for i in 0..3 {
                common.extend(segment_in_triangle(t[one][i], t[one][(i + 1) % 3], &t[other]));
            }
        }
        common.iter().any(|p| {
            let v = |q: &[i64; 3]| [0, 1, 2].map(|k| p[k] - q[k]);
            let zero = num_rational::Rational64::from_integer(0);
            match shared.as_slice() {
                [] => true,
                [q] => v(q).iter().any(|x| *x != zero),
                [q, r] => {
                    let (u, w) = (v(q), [0, 1, 2].map(|k| num_rational::Rational64::from_integer(r[k] - q[k])));
                    (0..3).any(|k| u[(k + 1) % 3] * w[(k + 2) % 3] != u[(k + 2) % 3] * w[(k + 1) % 3])
                }
                _ => false,
            }
        })
    }

    /// The ends of what a segment and a triangle have in common, exactly.
    fn segment_in_triangle(p: [i64; 3], q: [i64; 3], t: &[[i64; 3]; 3]) -> Vec<[num_rational::Rational64; 3]> {
        use num_rational::Rational64 as R;
        let r = |x: i64| R::from_integer(x);
        let sub = |a: [i64; 3], b: [i64; 3]| [0, 1, 2].map(|k| a[k] - b[k]);
        let cross = |a: [i64; 3], b: [i64; 3]| {
            [0, 1, 2].map(|k| a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3])
        };
        let dot = |a: [i64; 3], b: [i64; 3]| (0..3).map(|k| a[k] * b[k]).sum::<i64>();
        let n = cross(sub(t[1], t[0]), sub(t[2], t[0]));
        let d = sub(q, p);
        // The segment's parameters in [0, 1], cut by the three sides, or the three ends of a triangle without area.
        let (mut low, mut high) = (r(0), r(1));
        let mut cut = |at_p: i64, slope: i64| {
            // at_p + s · slope ≥ 0.
            if slope == 0 {
                if at_p < 0 {
                    high = r(-1);
                }
            } else if slope > 0 {
                low = low.max(R::new(-at_p, slope));
            } else {
                high = high.min(R::new(-at_p, slope));
            }
        };
        if n == [0; 3] {
            // A segment: the longest edge; its supporting planes.
            let edges = [(0, 1), (1, 2), (2, 0)];
            let (i, j) =
                edges.into_iter().max_by_key(|&(i, j)| dot(sub(t[j], t[i]), sub(t[j], t[i]))).unwrap_or((0, 1));
            let e = sub(t[j], t[i]);
            for axis in [[1, 0, 0], [0, 1, 0], [0, 0, 1]] {
                let m = cross(e, axis);
                cut(dot(m, sub(p, t[i])), dot(m, d));
                cut(-dot(m, sub(p, t[i])), -dot(m, d));
            }
            cut(dot(e, sub(p, t[i])), dot(e, d));
            cut(dot(e, sub(t[j], p)), -dot(e, d));
        } else {
            cut(dot(n, sub(p, t[0])), dot(n, d));
            cut(-dot(n, sub(p, t[0])), -dot(n, d));
            for i in 0..3 {
                let m = cross(n, sub(t[(i + 1) % 3], t[i]));
                cut(dot(m, sub(p, t[i])), dot(m, d));
            }
        }
        if low > high {
            return Vec::new();
        }
        [low, high].map(|s| [0, 1, 2].map(|k| r(p[k]) + s * r(d[k]))).to_vec()
    }
}
