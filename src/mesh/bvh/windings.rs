//! Winding numbers of several points at once.
//!
//! Points that are close together visit nearly the same nodes. One traversal serves all of them: a mask holds the points
//! for which the present node is not far. Each point gets the terms of its own traversal, in the same order, so each
//! result is bit-identical to [`Bvh::winding_number`].

use super::node::MAX_DEPTH;
use super::Bvh;
use crate::triangle::Corners;
use voxshell_base::math::Vec3;
use voxshell_base::wide;

/// Largest number of points of a batch.
pub const LANES: usize = 8;

/// Coordinates of the points.
type Points = [[f64; LANES]; 3];

impl Bvh {
    /// Returns the winding numbers at `points`, at most [`LANES`] of them, and the number of triangles and nodes visited
    /// for all of them. Entries beyond the points have no meaning.
    pub fn winding_numbers_and_work(&self, points: &[Vec3]) -> ([f64; LANES], u64) {
        let Some(first) = points.first() else { return ([0.0; LANES], 0) };
        if self.moments.is_empty() {
            let exact = |lane: usize| points.get(lane).map_or(0.0, |p| self.winding_number(*p));
            return (std::array::from_fn(exact), (points.len() * self.len()) as u64);
        }
        let place: Points = std::array::from_fn(|k| std::array::from_fn(|lane| points.get(lane).unwrap_or(first)[k]));
        sum(self, &place, u8::MAX >> (LANES - points.len().min(LANES)))
    }
}

/// The angles of triangles as seen from several points; see [`WindingSum`](crate::triangle::WindingSum).
struct Angles {
    cos: [f64; LANES],
    sin: [f64; LANES],
    turns: [f64; LANES],
}

impl Angles {
    /// Adds a triangle for the points of a mask.
    #[inline(always)]
    fn add(&mut self, t: &Corners, p: &Points, mask: u8) {
        // The operations of `half_solid_angle` and of `WindingSum::add`, in their order.
        for lane in 0..LANES {
            let corner = |i: usize| [t[i].x - p[0][lane], t[i].y - p[1][lane], t[i].z - p[2][lane]];
            let dot = |u: [f64; 3], v: [f64; 3]| u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
            let (a, b, c) = (corner(0), corner(1), corner(2));
            let (la, lb, lc) = (dot(a, a).sqrt(), dot(b, b).sqrt(), dot(c, c).sqrt());
            let normal = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
            let s = dot(a, normal);
            let c = ((la * lb * lc + dot(a, b) * lc) + dot(b, c) * la) + dot(c, a) * lb;
            let (was_cos, was_sin) = (self.cos[lane], self.sin[lane]);
            let (cos, sin) = (was_cos * c - was_sin * s, was_cos * s + was_sin * c);
            let size = cos.abs() + sin.abs();
            let vanishes = size < f64::MIN_POSITIVE;
            let counts = (mask >> lane & 1 == 1) & (s != 0.0) & !vanishes;
            let not_positive = (was_sin < 0.0) | ((was_sin == 0.0) & (was_cos > 0.0));
            let up = (s > 0.0) & (was_sin >= 0.0) & (sin < 0.0);
            let down = (s < 0.0) & not_positive & ((sin > 0.0) | ((sin == 0.0) & (cos < 0.0)));
            let turn = if up { 1.0 } else { 0.0 } - if down { 1.0 } else { 0.0 };
            let scale = 1.0 / size;
            self.turns[lane] = if counts { self.turns[lane] + turn } else { self.turns[lane] };
            self.cos[lane] = if counts { cos * scale } else { was_cos };
            self.sin[lane] = if counts { sin * scale + 0.0 } else { was_sin };
        }
    }

    /// Returns the sum of one point.
    fn value(&self, lane: usize) -> f64 {
        self.turns[lane] + libm::atan2(self.sin[lane], self.cos[lane]) * (0.5 * std::f64::consts::FRAC_1_PI)
    }
}

wide! {
    /// Returns the winding numbers of the points of `mask`, and the number of triangles and nodes visited.
    fn sum(bvh: &Bvh, p: &Points, mask: u8) -> ([f64; LANES], u64) {
        let mut far = [0.0; LANES];
        let mut near = Angles { cos: [1.0; LANES], sin: [0.0; LANES], turns: [0.0; LANES] };
        let mut work = 0;
        // A node, and the points for which its parent is not far.
        let mut stack = [(0u32, 0u8); MAX_DEPTH + 2];
        stack[0] = (0, mask);
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let (i, mask) = stack[top];
            let (node, m) = (&bvh.nodes[i as usize], &bvh.moments[i as usize]);
            let (mut r, mut rr) = ([[0.0; LANES]; 3], [0.0; LANES]);
            for lane in 0..LANES {
                let [x, y, z] = [m.center.x - p[0][lane], m.center.y - p[1][lane], m.center.z - p[2][lane]];
                (r[0][lane], r[1][lane], r[2][lane]) = (x, y, z);
                rr[lane] = x * x + y * y + z * z;
            }
            let mut is_far = 0;
            for lane in 0..LANES {
                is_far |= u8::from(rr[lane] > m.far_squared) << lane;
            }
            is_far &= mask;
            work += (1 + u64::from(node.count)) * u64::from(mask.count_ones());
            if is_far != 0 {
                for lane in 0..LANES {
                    let more = m.evaluate(&Vec3::new(r[0][lane], r[1][lane], r[2][lane]), rr[lane]);
                    far[lane] = if is_far >> lane & 1 == 1 { far[lane] + more } else { far[lane] };
                }
            }
            let mask = mask & !is_far;
            if mask == 0 {
                continue;
            }
            if node.count > 0 {
                node.triangles().for_each(|k| near.add(&bvh.corners[k], p, mask));
            } else {
                stack[top] = (node.first + 1, mask);
                stack[top + 1] = (node.first, mask);
                top += 2;
            }
        }
        (std::array::from_fn(|lane| far[lane] + near.value(lane)), work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TriMesh;
    use voxshell_base::math::wide::force_baseline;

    /// Numbers in [0, 1) (Knuth's MMIX generator).
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }

        fn point(&mut self, size: f64) -> [f64; 3] {
            [self.next() - 0.5, self.next() - 0.5, self.next() - 0.5].map(|x| x * size)
        }

        fn below(&mut self, n: usize) -> usize {
            (self.next() * n as f64) as usize
        }
    }

    /// Returns a soup of triangles of many sizes around `at`: needles, points, repeats and reversed repeats among them.
    fn soup(random: &mut Random, size: f64, at: f64) -> TriMesh {
        let mut triangles: Vec<[[f64; 3]; 3]> = Vec::new();
        for n in 0..1 + random.below(200) {
            let (a, edge) = (random.point(size), size * random.next().powi(4));
            let corner = |v: [f64; 3]| [a[0] + v[0], a[1] + v[1], a[2] + v[2]];
            let (b, c) = (corner(random.point(edge)), corner(random.point(edge)));
            let between = [0, 1, 2].map(|k| a[k] + (b[k] - a[k]) * 0.3);
            let other = triangles.get(random.below(n.max(1))).copied();
            triangles.push(match (random.below(8), other) {
                (0, _) => [a, a, b],
                (1, _) => [a, a, a],
                (2, _) => [a, b, between],
                (3, Some(t)) => t,
                (4, Some([a, b, c])) => [a, c, b],
                (5, Some([_, p, q])) => [q, p, a],
                _ => [a, b, c],
            });
        }
        let vertices = triangles.iter().flatten().map(|p| p.map(|x| x + at)).collect();
        TriMesh { vertices, triangles: (0..triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect() }
    }

    #[test]
    fn points_together_get_the_bits_and_the_work_of_each_alone() {
        let mut random = Random(7);
        let mut parted = 0;
        for round in 0..400 {
            let size = [1.0, 1e-9, 1e9, 1e-3][round % 4];
            let mesh = soup(&mut random, size, [0.0, 0.0, 1e3 * size][round % 3]);
            let bvh = Bvh::build(&mesh);
            let reach = size * [1e-3, 0.1, 3.0][round % 3];
            for _ in 0..8 {
                let near = mesh.vertices[random.below(mesh.vertices.len())];
                let mut point = || match random.below(4) {
                    // On the plane of a triangle, at a corner, or anywhere.
                    0 => Vec3::from(mesh.vertices[random.below(mesh.vertices.len())]),
                    1 => {
                        let [a, b, c] = mesh.corners(random.below(mesh.triangles.len())).map(Vec3::from);
                        (a + b + c) / 3.0
                    }
                    _ => Vec3::from(near) + Vec3::from(random.point(reach)),
                };
                let points: [Vec3; LANES] = std::array::from_fn(|_| point());
                let count = 1 + random.below(LANES);
                for baseline in [false, true] {
                    force_baseline(baseline);
                    let (w, work) = bvh.winding_numbers_and_work(&points[..count]);
                    let alone = points[..count].iter().map(|p| bvh.winding_number_and_work(*p));
                    let (alone, works): (Vec<f64>, Vec<u64>) = alone.unzip();
                    assert_eq!(
                        w[..count].iter().map(|w| w.to_bits()).collect::<Vec<_>>(),
                        alone.iter().map(|w| w.to_bits()).collect::<Vec<_>>(),
                        "{points:?} in round {round}"
                    );
                    assert_eq!(work, works.iter().sum::<u64>());
                    parted += usize::from(works.iter().any(|w| *w != works[0]));
                }
            }
        }
        force_baseline(false);
        assert!(parted > 500, "only {parted} batches visited different nodes");
    }

    #[test]
    fn without_moments_or_triangles_the_sum_is_plain() {
        let mesh = soup(&mut Random(3), 1.0, 0.0);
        let (bvh, empty) = (Bvh::without_moments(&mesh), Bvh::build(&TriMesh::default()));
        let p = Vec3::new(0.1, 0.2, -0.3);
        assert_eq!(bvh.winding_numbers_and_work(&[p, p]).0[1].to_bits(), bvh.winding_number_exact(p).to_bits());
        assert!((bvh.winding_number(p) - Bvh::build(&mesh).winding_number(p)).abs() < 1e-2);
        assert_eq!(empty.winding_numbers_and_work(&[p]).0[0].to_bits(), 0);
        assert_eq!(empty.winding_number(p).to_bits(), 0);
    }
}
