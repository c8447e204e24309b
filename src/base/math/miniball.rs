//! The smallest ball around a set of points in space.
//!
//! The problem is LP-type with at most four points in a basis (Welzl 1991). As in Gärtner's pivoting (1999; the general
//! form is Fischer & Gärtner 2004, which Sagardia et al. 2014 use for their sphere trees), the point farthest from the
//! current ball enters the basis; the new basis of at most five points is found by trying all their subsets, which has
//! no numerical branch that could cycle and copes with coincident, collinear, coplanar and cospherical points.

use super::Vec3;

/// A ball in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    pub center: Vec3,
    pub radius: f64,
}

/// Relative excess of a distance over the radius that counts as rounding.
const SLACK: f64 = 1e-12;

/// Returns the smallest ball that contains `points`; its radius is the largest computed distance from its centre, so
/// every point satisfies `(p - center).norm() <= radius` in f64.
///
/// The radius exceeds the true minimum by a relative error of about 1e-12. An empty slice gives a ball of radius 0 at the
/// origin. Points must be finite. Takes about ten passes over the points.
pub fn minimal_enclosing_ball(points: &[Vec3]) -> Ball {
    let Some(&first) = points.first() else {
        return Ball { center: Vec3::zeros(), radius: 0.0 };
    };
    // Start from a diameter-like pair: the point farthest from any point, and the one farthest from that.
    let a = points[farthest(points, &first).0];
    let b = points[farthest(points, &a).0];
    let mut basis = Basis::new(&[a, b]);
    loop {
        let (index, distance_squared) = farthest(points, &basis.ball.center);
        let radius = basis.ball.radius;
        if distance_squared <= radius * radius * (1.0 + SLACK) {
            break;
        }
        let next = basis.with(points[index]);
        // Every step must enlarge the ball; when rounding stops that, the ball is as good as f64 allows.
        if next.ball.radius <= radius {
            break;
        }
        basis = next;
    }
    let center = basis.ball.center;
    let radius = points.iter().map(|p| (p - center).norm()).fold(0.0, f64::max);
    Ball { center, radius }
}

/// The first of the points farthest from `center`, and its squared distance.
fn farthest(points: &[Vec3], center: &Vec3) -> (usize, f64) {
    let mut best = (0, -1.0);
    for (i, p) in points.iter().enumerate() {
        let d = (p - center).norm_squared();
        if d > best.1 {
            best = (i, d);
        }
    }
    best
}

/// Up to four points and the smallest ball with all of them on its boundary (which is the smallest that contains them).
#[derive(Clone, Copy)]
struct Basis {
    points: [Vec3; 4],
    count: usize,
    ball: Ball,
}

impl Basis {
    fn new(points: &[Vec3]) -> Self {
        let distinct = if points[0] == points[1] { &points[..1] } else { points };
        let ball = circumball(distinct).expect("one or two distinct points have a circumball");
        let mut stored = [Vec3::zeros(); 4];
        stored[..distinct.len()].copy_from_slice(distinct);
        Self { points: stored, count: distinct.len(), ball }
    }

    /// Returns the basis of these points and `entering`: of all subsets, the one whose circumcentre has all points
    /// nearest.
    fn with(&self, entering: Vec3) -> Basis {
        let mut all = [Vec3::zeros(); 5];
        all[..self.count].copy_from_slice(&self.points[..self.count]);
        all[self.count] = entering;
        let n = self.count + 1;
        let mut best = Basis { ball: Ball { center: entering, radius: f64::INFINITY }, ..*self };
        // The entering point lies outside the old ball, so it is on the boundary of the new one.
        for mask in 0u32..1 << self.count {
            if mask.count_ones() > 3 {
                continue;
            }
            let mut subset = [entering; 4];
            let mut count = 1;
            for (i, p) in all[..self.count].iter().enumerate() {
                if mask >> i & 1 == 1 {
                    subset[count] = *p;
                    count += 1;
                }
            }
            let Some(ball) = circumball(&subset[..count]) else { continue };
            let radius = all[..n].iter().map(|p| (p - ball.center).norm()).fold(0.0, f64::max);
            if radius < best.ball.radius {
                best = Basis { points: subset, count, ball: Ball { radius, ..ball } };
            }
        }
        best
    }
}

/// The smallest ball with the given one to four points on its boundary; `None` when they are affinely dependent.
///
/// With edges e_i from the first point, the centre is Σ λ_i e_i where Σ_j 2 (e_i·e_j) λ_j = e_i·e_i.
fn circumball(points: &[Vec3]) -> Option<Ball> {
    let origin = points[0];
    let e = |i: usize| points[i + 1] - origin;
    let offset = match points.len() {
        1 => Vec3::zeros(),
        2 => e(0) * 0.5,
        3 => {
            let (a, b) = (e(0), e(1));
            let normal = a.cross(&b);
            let area_squared = normal.norm_squared();
            if area_squared <= 1e-24 * a.norm_squared() * b.norm_squared() {
                return None;
            }
            (b.cross(&normal) * a.norm_squared() + normal.cross(&a) * b.norm_squared()) / (2.0 * area_squared)
        }
        _ => {
            let (a, b, c) = (e(0), e(1), e(2));
            let bc = b.cross(&c);
            let det = a.dot(&bc);
            if det.abs() <= 1e-14 * a.norm() * b.norm() * c.norm() {
                return None;
            }
            (bc * a.norm_squared() + c.cross(&a) * b.norm_squared() + a.cross(&b) * c.norm_squared()) / (2.0 * det)
        }
    };
    let center = origin + offset;
    // The farthest of its own points, so that rounding leaves none outside.
    let radius = points.iter().map(|p| (p - center).norm()).fold(0.0, f64::max);
    (radius.is_finite()).then_some(Ball { center, radius })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All circumballs of up to four points, the smallest that contains everything.
    fn brute_force(points: &[Vec3]) -> f64 {
        let n = points.len();
        let mut best = f64::INFINITY;
        let mut consider = |subset: &[Vec3]| {
            if let Some(ball) = circumball(subset) {
                let worst = points.iter().map(|p| (p - ball.center).norm()).fold(0.0, f64::max);
                if worst <= ball.radius * (1.0 + 1e-9) {
                    best = best.min(worst);
                }
            }
        };
        for i in 0..n {
            consider(&[points[i]]);
            for j in 0..i {
                consider(&[points[i], points[j]]);
                for k in 0..j {
                    consider(&[points[i], points[j], points[k]]);
                    for l in 0..k {
                        consider(&[points[i], points[j], points[k], points[l]]);
                    }
                }
            }
        }
        best
    }

    fn check(points: &[Vec3]) {
        let ball = minimal_enclosing_ball(points);
        for p in points {
            assert!((p - ball.center).norm() <= ball.radius);
        }
        let best = brute_force(points);
        let scale = points.iter().map(|p| (p - points[0]).norm()).fold(0.0, f64::max);
        assert!((ball.radius - best).abs() <= 1e-8 * scale, "{} against brute force {best}", ball.radius);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn agrees_with_brute_force(raw in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), 1..14)) {
            check(&raw.iter().map(|p| Vec3::from(*p)).collect::<Vec<_>>());
        }

        #[test]
        fn agrees_with_brute_force_on_lattices_full_of_coincidences(
            raw in prop::collection::vec(prop::array::uniform3(0..3i32), 1..14),
            flatten in prop::array::uniform3(any::<bool>()),
            offset in -1e6..1e6f64,
        ) {
            let point = |p: &[i32; 3]| {
                Vec3::from_fn(|i, _| if flatten[i] { 0.0 } else { p[i] as f64 * 0.37 }).add_scalar(offset)
            };
            check(&raw.iter().map(point).collect::<Vec<_>>());
        }

        #[test]
        fn agrees_with_brute_force_on_nearly_cospherical_points(
            raw in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), 2..12),
            jitter in 0.0..1e-7f64,
        ) {
            let on_sphere = |(i, p): (usize, &[f64; 3])| {
                let v = Vec3::from(*p);
                if v.norm() > 1e-3 { v.normalize() * (1.0 + jitter * i as f64) } else { Vec3::x() }
            };
            check(&raw.iter().enumerate().map(on_sphere).collect::<Vec<_>>());
        }
    }

    #[test]
    fn ball_of_nothing_and_of_one_point_is_a_point() {
        assert_eq!(minimal_enclosing_ball(&[]).radius, 0.0);
        let p = Vec3::new(1e6, -2.0, 3.0);
        assert_eq!(minimal_enclosing_ball(&[p, p, p]), Ball { center: p, radius: 0.0 });
    }

    #[test]
    fn ball_of_many_points_on_a_sphere_is_that_sphere() {
        let points: Vec<Vec3> = (0..10_000)
            .map(|i| {
                let z = 1.0 - (2 * i + 1) as f64 / 10_000.0;
                let phi = i as f64 * 2.399963229728653;
                let s = (1.0 - z * z).sqrt();
                Vec3::new(s * phi.cos(), s * phi.sin(), z) * 0.5 + Vec3::new(3.0, 4.0, 5.0)
            })
            .collect();
        let ball = minimal_enclosing_ball(&points);
        assert!((ball.center - Vec3::new(3.0, 4.0, 5.0)).norm() < 1e-6);
        assert!((ball.radius - 0.5).abs() < 1e-9);
    }
}
