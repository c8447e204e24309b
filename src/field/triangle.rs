//! Distance from a point to a triangle, branch-free, for many at once.
//!
//! A triangle is stored in its own frame: origin at one end A of its longest edge, x along that edge to B, y towards
//! the third corner C, z along the normal. Then A = (0, 0), B = (length, 0), C = (cx, cy) with 0 ≤ cx ≤ length and
//! cy > 0, and a point in space needs three dot products for the transform. Because AB is the longest edge, the test
//! "inside the triangle" fails for every point that lies beyond an end of it, in spite of rounding: slivers are safe.

use voxshell_base::memory::CollectGuarded;

/// A triangle in its own frame, f64: the exact data from which the f32 lanes are rounded.
#[derive(Clone, Copy, Debug)]
pub struct TriangleFrame {
    /// Position of A.
    pub origin: [f64; 3],
    /// Unit vectors x, y, z.
    pub axes: [[f64; 3]; 3],
    /// A in those axes, subtracted from `axes · p`.
    pub offset: [f64; 3],
    pub length: f64,
    pub cx: f64,
    pub cy: f64,
}

fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Returns a unit vector at right angles to the unit vector `v`.
fn perpendicular(v: [f64; 3]) -> [f64; 3] {
    let m = v.map(f64::abs);
    let k = if m[0] <= m[1] && m[0] <= m[2] {
        0
    } else if m[1] <= m[2] {
        1
    } else {
        2
    };
    let mut e = [0.0; 3];
    e[k] = 1.0;
    let c = cross(v, e);
    let n = dot(c, c).sqrt();
    c.map(|x| x / n)
}

impl TriangleFrame {
    /// Returns the frame of a triangle. `floor`: smallest length and height. A triangle thinner than that (a segment
    /// or a point, too) is thickened to it, which moves its surface by at most `floor`.
    pub fn new(corners: [[f64; 3]; 3], floor: f64) -> Self {
        let squared = |i: usize| {
            let e = sub(corners[(i + 1) % 3], corners[i]);
            dot(e, e)
        };
        let first = (0..3).fold(0, |best, i| if squared(i) > squared(best) { i } else { best });
        let [a, b, c] = [0, 1, 2].map(|k| corners[(first + k) % 3]);
        let (ab, ac) = (sub(b, a), sub(c, a));
        let mut length = dot(ab, ab).sqrt();
        let x = if length > 0.0 { ab.map(|v| v / length) } else { [1.0, 0.0, 0.0] };
        length = length.max(floor);
        let cx = dot(x, ac).clamp(0.0, length);
        let rest = [ac[0] - cx * x[0], ac[1] - cx * x[1], ac[2] - cx * x[2]];
        // Twice, so that y is at right angles to x even when C is almost on AB.
        let again = dot(rest, x);
        let rest = [rest[0] - again * x[0], rest[1] - again * x[1], rest[2] - again * x[2]];
        let height = dot(rest, rest).sqrt();
        let y = if height > floor { rest.map(|v| v / height) } else { perpendicular(x) };
        let cy = height.max(floor);
        let z = cross(x, y);
        Self { origin: a, axes: [x, y, z], offset: [dot(x, a), dot(y, a), dot(z, a)], length, cx, cy }
    }

    /// Returns the part of the frame from which the offset relative to any point follows.
    pub fn base(&self) -> Base {
        Base { origin: self.origin, axes: self.axes }
    }

    /// Returns the triangle rounded to f32, with `offset` in place of the frame's own.
    pub fn rounded(&self, offset: [f64; 3]) -> Triangle {
        let f = |v: [f64; 3]| v.map(|x| x as f32);
        let edge = |x: f64| {
            let length = (x * x + self.cy * self.cy).sqrt();
            ([(x / length) as f32, (self.cy / length) as f32], length as f32)
        };
        let ((bc, bc_length), (ac, ac_length)) = (edge((self.cx - self.length).min(0.0)), edge(self.cx));
        Triangle {
            x: f(self.axes[0]),
            y: f(self.axes[1]),
            z: f(self.axes[2]),
            offset: f(offset),
            length: self.length as f32,
            bc,
            bc_length,
            ac,
            ac_length,
        }
    }
}

/// Origin and axes of a triangle's frame, f64.
#[derive(Clone, Copy, Debug)]
pub struct Base {
    /// Position of A.
    pub origin: [f64; 3],
    /// Unit vectors x, y, z.
    pub axes: [[f64; 3]; 3],
}

impl Base {
    /// Returns the triangle's offset relative to `origin`.
    #[inline(always)]
    pub fn relative_to(&self, origin: [f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|k| dot(self.axes[k], self.origin) - dot(self.axes[k], origin))
    }
}

/// A triangle in its own frame, f32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle {
    pub x: [f32; 3],
    pub y: [f32; 3],
    pub z: [f32; 3],
    pub offset: [f32; 3],
    /// Length of AB.
    pub length: f32,
    /// Unit vector in the triangle's plane from B to C, whose x is never positive, and the length of BC.
    pub bc: [f32; 2],
    pub bc_length: f32,
    /// The same from A to C; its x is never negative.
    pub ac: [f32; 2],
    pub ac_length: f32,
}

#[inline(always)]
fn min(a: f32, b: f32) -> f32 {
    if a < b {
        a
    } else {
        b
    }
}

#[inline(always)]
fn max(a: f32, b: f32) -> f32 {
    if a > b {
        a
    } else {
        b
    }
}

impl Triangle {
    /// Returns `offset` for A at `a`.
    #[inline(always)]
    pub fn offset_of(&self, a: [f32; 3]) -> [f32; 3] {
        [self.x, self.y, self.z].map(|e| (e[0] * a[0] + e[1] * a[1]) + e[2] * a[2])
    }

    /// Returns the point in the triangle's frame.
    #[inline(always)]
    pub fn in_frame(&self, p: [f32; 3]) -> [f32; 3] {
        let d = |e: [f32; 3], o: f32| ((e[0] * p[0] + e[1] * p[1]) + e[2] * p[2]) - o;
        [d(self.x, self.offset[0]), d(self.y, self.offset[1]), d(self.z, self.offset[2])]
    }

    /// Returns the vector from the closest point of the triangle to a point, both in its plane: (rx, ry), and the
    /// squared length.
    #[inline(always)]
    fn planar(&self, x: f32, y: f32) -> (f32, f32, f32) {
        let (mut rx, mut ry) = (x - min(max(x, 0.0), self.length), y);
        let mut d = rx * rx + ry * ry;
        let xb = x - self.length;
        let ([ux, uy], [vx, vy]) = (self.bc, self.ac);
        let s = min(max(xb * ux + y * uy, 0.0), self.bc_length);
        let (bx, by) = (xb - s * ux, y - s * uy);
        let db = bx * bx + by * by;
        (rx, ry, d) = if db < d { (bx, by, db) } else { (rx, ry, d) };
        let s = min(max(x * vx + y * vy, 0.0), self.ac_length);
        let (ax, ay) = (x - s * vx, y - s * vy);
        let da = ax * ax + ay * ay;
        (rx, ry, d) = if da < d { (ax, ay, da) } else { (rx, ry, d) };
        // Right of AB, BC or CA: the largest is positive outside.
        let out = max(max(xb * uy - y * ux, y * vx - x * vy), -y);
        if out > 0.0 {
            (rx, ry, d)
        } else {
            (0.0, 0.0, 0.0)
        }
    }

    /// Returns the squared distance to `p`: from the height over the plane and, outside, the distance to the nearest
    /// edge in it, by the distances of the point beside that edge and beyond its ends.
    #[inline(always)]
    pub fn distance_squared(&self, p: [f32; 3]) -> f32 {
        let [x, y, z] = self.in_frame(p);
        let over = |t: f32, length: f32| t - min(max(t, 0.0), length);
        let xb = x - self.length;
        let ([ux, uy], [vx, vy]) = (self.bc, self.ac);
        let (beside_bc, beside_ca) = (xb * uy - y * ux, y * vx - x * vy);
        let (a, b, c) =
            (over(x, self.length), over(xb * ux + y * uy, self.bc_length), over(x * vx + y * vy, self.ac_length));
        let ab = a * a + y * y;
        let bc = b * b + beside_bc * beside_bc;
        let ca = c * c + beside_ca * beside_ca;
        let edges = min(min(ab, bc), ca);
        let out = max(max(beside_bc, beside_ca), -y);
        z * z + if out > 0.0 { edges } else { 0.0 }
    }

    /// Returns the vector from the closest point of the triangle to `p`, and its squared length.
    #[inline(always)]
    pub fn off_closest(&self, p: [f32; 3]) -> ([f32; 3], f32) {
        let [x, y, z] = self.in_frame(p);
        let (rx, ry, d) = self.planar(x, y);
        let v = |k: usize| (rx * self.x[k] + ry * self.y[k]) + z * self.z[k];
        ([v(0), v(1), v(2)], z * z + d)
    }
}

/// Number of triangles side by side in a [`Packet`].
pub const LANES: usize = 8;

/// Eight triangles, one array per number, so that a loop over lanes becomes vector instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Packet {
    pub fields: [[f32; LANES]; Packet::FIELDS],
}

impl Packet {
    pub const FIELDS: usize = 19;

    /// Lanes that are farther from everything than any real triangle of a lattice, in cells.
    pub const FAR: Self = Self::far(1.0e15);

    /// Returns lanes at this distance from every point.
    pub const fn far(distance: f32) -> Self {
        let mut fields = [[0.0; LANES]; Packet::FIELDS];
        fields[9] = [distance; LANES];
        fields[10] = [distance; LANES];
        fields[11] = [distance; LANES];
        Self { fields }
    }

    #[inline(always)]
    pub fn set(&mut self, lane: usize, t: &Triangle) {
        let values = [
            t.x[0],
            t.x[1],
            t.x[2],
            t.y[0],
            t.y[1],
            t.y[2],
            t.z[0],
            t.z[1],
            t.z[2],
            t.offset[0],
            t.offset[1],
            t.offset[2],
            t.length,
            t.bc[0],
            t.bc[1],
            t.bc_length,
            t.ac[0],
            t.ac[1],
            t.ac_length,
        ];
        for (field, value) in self.fields.iter_mut().zip(values) {
            field[lane] = value;
        }
    }

    #[inline(always)]
    pub fn get(&self, lane: usize) -> Triangle {
        let f = |i: usize| self.fields[i][lane];
        Triangle {
            x: [f(0), f(1), f(2)],
            y: [f(3), f(4), f(5)],
            z: [f(6), f(7), f(8)],
            offset: [f(9), f(10), f(11)],
            length: f(12),
            bc: [f(13), f(14)],
            bc_length: f(15),
            ac: [f(16), f(17)],
            ac_length: f(18),
        }
    }

    /// Returns the squared distances from one point to the eight triangles.
    #[inline(always)]
    pub fn distance_squared(&self, p: [f32; 3]) -> [f32; LANES] {
        let mut out = [0.0; LANES];
        for (lane, o) in out.iter_mut().enumerate() {
            *o = self.get(lane).distance_squared(p);
        }
        out
    }
}

/// Returns an order of triangles in which each run of eight is close together; the same input gives the same order.
pub fn cluster(corners: &[[[f64; 3]; 3]]) -> Vec<u32> {
    let centroids: Vec<[f64; 3]> =
        corners.iter().map(|t| [0, 1, 2].map(|k| (t[0][k] + t[1][k] + t[2][k]) / 3.0)).collect_guarded();
    let mut order: Vec<u32> = (0..corners.len() as u32).collect_guarded();
    arrange(&mut order, &centroids);
    order
}

/// Reorders `ids` so that each run of eight is close together.
fn arrange(ids: &mut [u32], centroids: &[[f64; 3]]) {
    if ids.len() <= LANES {
        return;
    }
    let (mut min, mut max) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for &i in ids.iter() {
        for k in 0..3 {
            min[k] = min[k].min(centroids[i as usize][k]);
            max[k] = max[k].max(centroids[i as usize][k]);
        }
    }
    let axis = (0..3).fold(0, |best, k| if max[k] - min[k] > max[best] - min[best] { k } else { best });
    let middle = (ids.len() / 2).next_multiple_of(LANES).min((ids.len() - 1) / LANES * LANES);
    let key = |i: u32| centroids[i as usize][axis];
    ids.select_nth_unstable_by(middle, |&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
    let (left, right) = ids.split_at_mut(middle);
    if left.len() > 4096 {
        rayon::join(|| arrange(left, centroids), || arrange(right, centroids));
    } else {
        arrange(left, centroids);
        arrange(right, centroids);
    }
}
