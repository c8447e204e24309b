//! Distances of triangles by another way than the library's: over all pairs of corners, edges and faces.

use voxshell::math::Vec3;

type Corners = [Vec3; 3];

/// Distance of a point from a segment.
fn point_segment(p: &Vec3, [a, b]: [&Vec3; 2]) -> f64 {
    let d = b - a;
    let t = if d.norm_squared() > 0.0 { (d.dot(&(p - a)) / d.norm_squared()).clamp(0.0, 1.0) } else { 0.0 };
    (a + d * t - p).norm()
}

/// Distance of two segments: the ends, and the common perpendicular if it is between the ends.
fn segments([a, b]: [&Vec3; 2], [c, d]: [&Vec3; 2]) -> f64 {
    let ends = [point_segment(a, [c, d]), point_segment(b, [c, d]), point_segment(c, [a, b]), point_segment(d, [a, b])];
    let least = ends.into_iter().fold(f64::INFINITY, f64::min);
    let (u, v, w) = (b - a, d - c, c - a);
    let n = u.cross(&v);
    let s = w.cross(&v).dot(&n) / n.norm_squared();
    let t = w.cross(&u).dot(&n) / n.norm_squared();
    if n.norm_squared() > 0.0 && (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
        least.min(w.dot(&n).abs() / n.norm())
    } else {
        least
    }
}

fn point_triangle(p: &Vec3, [a, b, c]: &Corners) -> f64 {
    let edges = point_segment(p, [a, b]).min(point_segment(p, [b, c])).min(point_segment(p, [c, a]));
    let n = (b - a).cross(&(c - a));
    let inside = [(a, b), (b, c), (c, a)].iter().all(|(q, r)| n.dot(&(*r - *q).cross(&(p - *q))) >= 0.0);
    if inside && n.norm_squared() > 0.0 {
        edges.min((p - a).dot(&n).abs() / n.norm())
    } else {
        edges
    }
}

fn passes(p: &Vec3, q: &Vec3, [a, b, c]: &Corners) -> bool {
    let volume = |s: &Vec3, t: &Vec3, u: &Vec3, v: &Vec3| (t - s).dot(&(u - s).cross(&(v - s)));
    let sides = [volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)];
    volume(p, a, b, c) * volume(q, a, b, c) < 0.0 && (sides.iter().all(|x| *x > 0.0) || sides.iter().all(|x| *x < 0.0))
}

/// Distance of two triangles; 0 if they pass through each other.
pub fn triangles(s: &Corners, t: &Corners) -> f64 {
    let mut least = f64::INFINITY;
    for i in 0..3 {
        least = least.min(point_triangle(&s[i], t)).min(point_triangle(&t[i], s));
        for j in 0..3 {
            least = least.min(segments([&s[i], &s[(i + 1) % 3]], [&t[j], &t[(j + 1) % 3]]));
        }
        if passes(&s[i], &s[(i + 1) % 3], t) || passes(&t[i], &t[(i + 1) % 3], s) {
            return 0.0;
        }
    }
    least
}
