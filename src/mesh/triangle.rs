//! One triangle: closest point, solid angle, ray and box. Everything is computed relative to the query, so that a mesh
//! far from the origin loses no more precision than its coordinates have lost already. Knows nothing of hierarchies.

use voxshell_base::math::{Aabb, Vec3};

/// Corners of a triangle.
pub type Corners = [Vec3; 3];

/// Position of a point on a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// In the interior.
    Face,
    /// On the edge from corner `i` to corner `(i + 1) % 3`.
    Edge(u8),
    /// At corner `i`.
    Vertex(u8),
}

/// Triangles whose height is below this fraction of their longest edge are treated by their edges as well as by their
/// plane, which is then uncertain.
const SLIVER: f64 = 1e-5;

/// Returns whether a triangle is (nearly) without area, so that its plane is unreliable.
#[inline]
pub fn is_sliver(t: &Corners) -> bool {
    let (ab, ac, bc) = (t[1] - t[0], t[2] - t[0], t[2] - t[1]);
    let longest = ab.norm_squared().max(ac.norm_squared()).max(bc.norm_squared());
    // Twice the area is height × longest edge.
    let least = SLIVER * longest;
    ab.cross(&ac).norm_squared() <= least * least
}

/// Returns the closest point of a triangle to `p`, and its position on the triangle. `sliver` is the triangle's
/// [`is_sliver`].
///
/// Ericson 2005, "Real-Time Collision Detection", section 5.1.5.
#[inline]
pub fn closest_point(t: &Corners, sliver: bool, p: &Vec3) -> (Vec3, Feature) {
    if sliver {
        return closest_point_on_sliver(t, p);
    }
    let [a, b, c] = t;
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (*a, Feature::Vertex(0));
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (*b, Feature::Vertex(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (a + ab * (d1 / (d1 - d3)), Feature::Edge(0));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (*c, Feature::Vertex(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (a + ac * (d2 / (d2 - d6)), Feature::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && (d4 - d3) >= 0.0 && (d5 - d6) >= 0.0 {
        return (b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6))), Feature::Edge(1));
    }
    let denominator = 1.0 / (va + vb + vc);
    (a + ab * (vb * denominator) + ac * (vc * denominator), Feature::Face)
}

/// Returns the closest point of a sliver: the edges first, each safe at any length; then the foot of the perpendicular
/// if there is a plane at all and the foot is closer. With any rounding, the result is a point of the triangle and no
/// farther than its edges.
fn closest_point_on_sliver(t: &Corners, p: &Vec3) -> (Vec3, Feature) {
    let mut best = (t[0], Feature::Vertex(0));
    let mut best_squared = (p - t[0]).norm_squared();
    let mut offer = |point: Vec3, feature: Feature| {
        let squared = (p - point).norm_squared();
        if squared < best_squared {
            (best, best_squared) = ((point, feature), squared);
        }
    };
    for i in 0..3usize {
        let (a, b) = (t[i], t[(i + 1) % 3]);
        let ab = b - a;
        let (along, length_squared) = (ab.dot(&(p - a)), ab.norm_squared());
        if along <= 0.0 {
            offer(a, Feature::Vertex(i as u8));
        } else if along >= length_squared {
            offer(b, Feature::Vertex((i as u8 + 1) % 3));
        } else {
            offer(a + ab * (along / length_squared), Feature::Edge(i as u8));
        }
    }
    let (ab, ac, ap) = (t[1] - t[0], t[2] - t[0], p - t[0]);
    let n = ab.cross(&ac);
    let nn = n.norm_squared();
    let (v, w) = (ap.cross(&ac).dot(&n) / nn, ab.cross(&ap).dot(&n) / nn);
    if nn > 0.0 && v > 0.0 && w > 0.0 && v + w < 1.0 {
        offer(t[0] + ab * v + ac * w, Feature::Face);
    }
    best
}

/// Returns the barycentric coordinates of a point on a triangle: the weights of its corners, 0 to 1, with the sum 1.
/// `feature` is the position of the point on the triangle.
pub fn barycentric(t: &Corners, feature: Feature, p: &Vec3) -> [f64; 3] {
    let mut weights = [0.0; 3];
    match feature {
        Feature::Vertex(i) => weights[usize::from(i)] = 1.0,
        Feature::Edge(i) => {
            let (i, j) = (usize::from(i), usize::from(i + 1) % 3);
            let edge = t[j] - t[i];
            // An edge is a feature of its own only if it has a length.
            let along = (edge.dot(&(p - t[i])) / edge.norm_squared()).clamp(0.0, 1.0);
            (weights[i], weights[j]) = (1.0 - along, along);
        }
        Feature::Face => {
            let (ab, ac, ap) = (t[1] - t[0], t[2] - t[0], p - t[0]);
            let n = ab.cross(&ac);
            let nn = n.norm_squared();
            let v = (ap.cross(&ac).dot(&n) / nn).clamp(0.0, 1.0);
            let w = (ab.cross(&ap).dot(&n) / nn).clamp(0.0, 1.0 - v);
            weights = [(1.0 - v) - w, v, w];
        }
    }
    weights
}

/// Returns the tangent of half the signed solid angle of a triangle from `p`, as (cosine, sine) up to a positive
/// factor. Positive when the triangle's outside is turned away from `p`. (1, 0) in the triangle's plane: a point of the
/// triangle sees neither side, and counts as zero instead of as a sign made of rounding.
///
/// Van Oosterom & Strackee 1983.
#[inline]
fn half_solid_angle(t: &Corners, p: &Vec3) -> (f64, f64) {
    let (a, b, c) = (t[0] - p, t[1] - p, t[2] - p);
    let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
    let volume = a.dot(&b.cross(&c));
    let denominator = ((la * lb * lc + a.dot(&b) * lc) + b.dot(&c) * la) + c.dot(&a) * lb;
    if volume == 0.0 {
        (1.0, 0.0)
    } else {
        (denominator, volume)
    }
}

/// Returns a triangle's contribution to the winding number at `p`: its solid angle over 4π. Inside a closed outward
/// mesh the contributions sum to 1.
pub fn winding(t: &Corners, p: &Vec3) -> f64 {
    let (cos, sin) = half_solid_angle(t, p);
    libm::atan2(sin, cos) * (0.5 * std::f64::consts::FRAC_1_PI)
}

/// A sum of [`winding`] contributions with one arc tangent for all: the half angles are added by multiplying unit complex
/// numbers, and whole turns are counted when the product crosses the negative real axis.
pub struct WindingSum {
    cos: f64,
    sin: f64,
    turns: f64,
}

impl Default for WindingSum {
    fn default() -> Self {
        Self { cos: 1.0, sin: 0.0, turns: 0.0 }
    }
}

impl WindingSum {
    /// Adds a triangle as seen from `p`.
    #[inline]
    pub fn add(&mut self, t: &Corners, p: &Vec3) {
        let (c, s) = half_solid_angle(t, p);
        if s == 0.0 {
            return;
        }
        let (cos, sin) = (self.cos * c - self.sin * s, self.cos * s + self.sin * c);
        let size = cos.abs() + sin.abs();
        if size < f64::MIN_POSITIVE {
            return;
        }
        // The angle so far is in (−π, π], the one added in (−π, π).
        let not_negative = self.sin >= 0.0;
        let not_positive = self.sin < 0.0 || (self.sin == 0.0 && self.cos > 0.0);
        if s > 0.0 && not_negative && sin < 0.0 {
            self.turns += 1.0;
        } else if s < 0.0 && not_positive && (sin > 0.0 || (sin == 0.0 && cos < 0.0)) {
            self.turns -= 1.0;
        }
        let scale = 1.0 / size;
        // + 0 makes −0 into 0, so that π stays π.
        (self.cos, self.sin) = (cos * scale, sin * scale + 0.0);
    }

    /// The sum so far.
    pub fn value(&self) -> f64 {
        self.turns + libm::atan2(self.sin, self.cos) * (0.5 * std::f64::consts::FRAC_1_PI)
    }
}

/// A ray prepared for the watertight test: its dominant axis made z, and the shear that aligns it.
///
/// Woop, Benthin & Wald 2013, "Watertight Ray/Triangle Intersection".
pub struct Ray {
    pub origin: Vec3,
    /// 1 / direction, component by component; infinite where the ray is parallel to a slab.
    pub inverse: Vec3,
    axes: [usize; 3],
    shear: [f64; 3],
}

impl Ray {
    /// Prepares a ray. `direction` may have any length; `None` when it is zero or not finite.
    pub fn new(origin: &Vec3, direction: &Vec3) -> Option<Self> {
        let kz = direction.iamax();
        if direction[kz] == 0.0 || !direction.iter().chain(origin.iter()).all(|x| x.is_finite()) {
            return None;
        }
        let (mut kx, mut ky) = ((kz + 1) % 3, (kz + 2) % 3);
        if direction[kz] < 0.0 {
            std::mem::swap(&mut kx, &mut ky);
        }
        let z = direction[kz];
        Some(Self {
            origin: *origin,
            inverse: direction.map(|d| 1.0 / d),
            axes: [kx, ky, kz],
            shear: [direction[kx] / z, direction[ky] / z, 1.0 / z],
        })
    }

    /// Returns the parameter at which the ray meets the triangle, in lengths of its direction, when within [0,
    /// `t_max`]. A ray through a shared edge or vertex meets at least one of the triangles there; one in the triangle's
    /// plane meets none.
    pub fn hit(&self, t: &Corners, t_max: f64) -> Option<f64> {
        let [kx, ky, kz] = self.axes;
        let [sx, sy, sz] = self.shear;
        let [a, b, c] = t.map(|v| v - self.origin);
        let (ax, ay) = (a[kx] - sx * a[kz], a[ky] - sy * a[kz]);
        let (bx, by) = (b[kx] - sx * b[kz], b[ky] - sy * b[kz]);
        let (cx, cy) = (c[kx] - sx * c[kz], c[ky] - sy * c[kz]);
        let (u, v, w) = (cx * by - cy * bx, ax * cy - ay * cx, bx * ay - by * ax);
        if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
            return None;
        }
        let determinant = u + v + w;
        if determinant == 0.0 {
            return None;
        }
        let depth = (u * (sz * a[kz]) + v * (sz * b[kz])) + w * (sz * c[kz]);
        let at = depth / determinant;
        (at >= 0.0 && at <= t_max).then_some(at)
    }

    /// Returns whether the ray meets the box within [0, `t_max`]; never misses a box that it meets.
    pub fn meets_box(&self, min: &[f64; 3], max: &[f64; 3], t_max: f64) -> bool {
        let (mut near, mut far) = (0.0_f64, t_max);
        for i in 0..3 {
            // Along a slab's plane the products below would be 0 × ∞.
            if self.inverse[i].is_infinite() {
                if self.origin[i] < min[i] || self.origin[i] > max[i] {
                    return false;
                }
                continue;
            }
            let (t0, t1) = ((min[i] - self.origin[i]) * self.inverse[i], (max[i] - self.origin[i]) * self.inverse[i]);
            near = near.max(t0.min(t1));
            far = far.min(t0.max(t1) * (1.0 + 4.0 * f64::EPSILON));
        }
        near <= far
    }
}

/// Returns whether a ray along +x from `p` meets a triangle: 1 where it leaves by its outside, −1 where it enters, else
/// 0.
///
/// A ray through an edge or a corner is treated as if moved by (ε, ε²) in y and z with ε infinitely small (simulation
/// of simplicity, Edelsbrunner & Mücke 1990), and triangles that share an edge round its side alike: each crossing of a
/// closed surface counts once.
#[inline]
pub fn crossed_along_x(t: &Corners, p: &Vec3) -> i32 {
    let [a, b, c] = t.map(|v| v - p);
    // Twice the area of (u, v, the ray) in (y, z), and its sign.
    let side = |u: &Vec3, v: &Vec3| {
        let area = u.y * v.z - u.z * v.y;
        let tied = [area, u.z - v.z, v.y - u.y].into_iter().find(|x| *x != 0.0);
        (tied.map_or(0, |x| if x > 0.0 { 1 } else { -1 }), area)
    };
    let ((sign, wa), (sb, wb), (sc, wc)) = (side(&b, &c), side(&c, &a), side(&a, &b));
    if sign == 0 || sb != sign || sc != sign {
        return 0;
    }
    let ahead = ((wa * a.x + wb * b.x) + wc * c.x) * f64::from(sign) > 0.0;
    if ahead {
        sign
    } else {
        0
    }
}

/// Returns whether a triangle and a closed box have a point in common, by separating axes; rounding can only give a
/// false true.
///
/// Akenine-Möller 2001.
pub fn overlaps_box(t: &Corners, b: &Aabb) -> bool {
    let (center, half) = (b.center(), b.extents() * 0.5);
    let v = t.map(|v| v - center);
    let scale = v.iter().fold(half.amax(), |m, p| m.max(p.amax()));
    let separated_by = |axis: &Vec3| {
        let d = v.map(|p| p.dot(axis));
        let reach = half.dot(&axis.abs()) + 8.0 * f64::EPSILON * scale * axis.abs().sum();
        d[0].min(d[1]).min(d[2]) > reach || d[0].max(d[1]).max(d[2]) < -reach
    };
    let edges = [v[1] - v[0], v[2] - v[1], v[0] - v[2]];
    let units = [Vec3::x(), Vec3::y(), Vec3::z()];
    !units.iter().any(separated_by)
        && !separated_by(&edges[0].cross(&edges[1]))
        && !edges.iter().any(|e| units.iter().any(|u| separated_by(&u.cross(e))))
}
