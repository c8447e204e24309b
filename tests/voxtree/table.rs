//! The table of 255 spheres against what makes a ball minimal, in whole numbers.

use std::collections::BTreeSet;

use voxshell::math::{miniball::minimal_enclosing_ball, Vec3};
use voxshell::voxtree::{PAPER_SMALLER, SMALLER, TABLE};

type V = [i64; 3];

fn dot(a: V, b: V) -> i64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: V, b: V) -> V {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Corners of the octants of a set, from the centre of the cube, in sixths of an octant's edge.
fn corners(set: usize) -> Vec<V> {
    let mut out = BTreeSet::new();
    for octant in (0..8).filter(|o| set >> o & 1 == 1) {
        for corner in 0..8 {
            out.insert([0, 1, 2].map(|k| 6 * ((octant >> k & 1) + (corner >> k & 1)) as i64 - 6));
        }
    }
    out.into_iter().collect()
}

/// Returns whether 0 is in the convex hull of the points: in a segment, a triangle or a tetrahedron of them.
fn holds_origin(points: &[V]) -> bool {
    let det = |a: V, b: V, c: V| dot(a, cross(b, c));
    let n = points.len();
    for i in 0..n {
        for j in 0..i {
            let (a, b) = (points[i], points[j]);
            if cross(a, b) == [0; 3] && dot(a, b) <= 0 {
                return true;
            }
            for k in 0..j {
                let c = points[k];
                let (ab, bc, ca) = (cross(a, b), cross(b, c), cross(c, a));
                if det(a, b, c) == 0 && dot(ab, bc) > 0 && dot(bc, ca) > 0 && dot(ca, ab) > 0 {
                    return true;
                }
                for &d in &points[..k] {
                    let weights = [det(b, c, d), -det(a, c, d), det(a, b, d), -det(a, b, c)];
                    let some = weights.iter().any(|&w| w != 0);
                    if some && (weights.iter().all(|&w| w >= 0) || weights.iter().all(|&w| w <= 0)) {
                        return true;
                    }
                }
            }
        }
    }
    false
}

/// A ball around points is the smallest exactly when its centre is in the convex hull of the points on its boundary.
#[test]
fn all_255_spheres_are_the_smallest_in_whole_numbers() {
    for set in 1..256 {
        let sphere = &TABLE[set];
        let center = sphere.center.map(i64::from);
        let seen: Vec<V> = corners(set).iter().map(|p| [0, 1, 2].map(|k| p[k] - center[k])).collect();
        let most = seen.iter().map(|&p| dot(p, p)).max().unwrap();
        assert_eq!(most, i64::from(sphere.radius_squared), "set {set:08b}");
        let boundary: Vec<V> = seen.into_iter().filter(|&p| dot(p, p) == most).collect();
        assert!(holds_origin(&boundary), "set {set:08b}: a smaller ball exists");
        assert!((f64::from(sphere.scale) - (most as f64 / 108.0).sqrt()).abs() < 1e-7, "set {set:08b}");
        for k in 0..3 {
            assert!((f64::from(sphere.offset[k]) - f64::from(sphere.center[k]) / 12.0).abs() < 1e-8);
        }
        let points: Vec<Vec3> = corners(set).iter().map(|p| Vec3::from(p.map(|x| x as f64))).collect();
        let ball = minimal_enclosing_ball(&points);
        assert!((ball.radius * ball.radius - most as f64).abs() < 1e-9 * most as f64);
    }
}

#[test]
fn the_paper_counts_85_smaller_spheres_and_exactly_there_are_78() {
    let of = |squared: i32| TABLE[1..].iter().filter(|s| s.radius_squared == squared).count();
    assert_eq!([27, 54, 81, 96].map(of), [8, 12, 42, 16]);
    assert_eq!(of(108), 255 - SMALLER);
    let offsets: BTreeSet<_> = TABLE[1..].iter().map(|s| s.center).collect();
    println!("{SMALLER} spheres of 255 are smaller than that of the cube (the paper: {PAPER_SMALLER})");
    assert_eq!(SMALLER, 78);
    // The centre of the cube, and 34 others.
    assert_eq!(offsets.len(), 35);
}
