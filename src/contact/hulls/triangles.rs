//! Distance of two triangles.

use voxshell_base::math::Vec3;
use voxshell_mesh::triangle::{closest_point, is_sliver, Corners};

/// Closest points of two triangles.
#[derive(Clone, Copy, Debug)]
pub struct Closest {
    pub on_a: Vec3,
    pub on_b: Vec3,
    /// m²; 0 if they intersect.
    pub squared: f64,
}

/// Returns the closest points of two triangles: of a corner and a triangle, of two edges, or where an edge passes
/// through a triangle.
pub fn closest(a: &Corners, b: &Corners) -> Closest {
    let mut best = Closest { on_a: a[0], on_b: b[0], squared: f64::INFINITY };
    let mut offer = |on_a: Vec3, on_b: Vec3| {
        let squared = (on_b - on_a).norm_squared();
        if squared < best.squared {
            best = Closest { on_a, on_b, squared };
        }
    };
    let (sliver_a, sliver_b) = (is_sliver(a), is_sliver(b));
    for i in 0..3 {
        offer(a[i], closest_point(b, sliver_b, &a[i]).0);
        offer(closest_point(a, sliver_a, &b[i]).0, b[i]);
        for j in 0..3 {
            let (p, q) = of_segments([a[i], a[(i + 1) % 3]], [b[j], b[(j + 1) % 3]]);
            offer(p, q);
        }
        for p in [through([a[i], a[(i + 1) % 3]], b), through([b[i], b[(i + 1) % 3]], a)].into_iter().flatten() {
            offer(p, p);
        }
    }
    best
}

/// Returns the closest points of two segments (Ericson 2005, section 5.1.9).
fn of_segments([p, p1]: [Vec3; 2], [q, q1]: [Vec3; 2]) -> (Vec3, Vec3) {
    let (d, e, r) = (p1 - p, q1 - q, p - q);
    let (a, c, f) = (d.norm_squared(), e.norm_squared(), e.dot(&r));
    let fraction = |x: f64, of: f64| if of > 0.0 { (x / of).clamp(0.0, 1.0) } else { 0.0 };
    let (b, g) = (d.dot(&e), d.dot(&r));
    let mut s = fraction(b * f - g * c, a * c - b * b);
    let t = b * s + f;
    let t = if t <= 0.0 {
        s = fraction(-g, a);
        0.0
    } else if t >= c {
        s = fraction(b - g, a);
        1.0
    } else {
        t / c
    };
    (p + d * s, q + e * t)
}

/// Returns the point where a segment passes through a triangle.
fn through([p, q]: [Vec3; 2], t: &Corners) -> Option<Vec3> {
    let n = (t[1] - t[0]).cross(&(t[2] - t[0]));
    let (h, k) = (n.dot(&(p - t[0])), n.dot(&(q - t[0])));
    if !((h <= 0.0 && k > 0.0) || (h >= 0.0 && k < 0.0)) {
        return None;
    }
    let at = p + (q - p) * (h / (h - k));
    let is_in = (0..3).all(|i| (t[(i + 1) % 3] - t[i]).cross(&(at - t[i])).dot(&n) >= 0.0);
    is_in.then_some(at)
}
