//! The multipoles of the generalised winding number.
//!
//! Barill, Dickson, Schmidt, Levin & Jacobson 2018, "Fast Winding Numbers for Soups and Clouds", to the third term of
//! their expansion.
//!
//! With n the normals and d the offsets from a node's centre p̃, all integrated over its triangles:
//! N = ∫n, B = ∫d⊗n, T = ∫d⊗d⊗n. The kernel's derivatives are symmetric, so only the symmetric parts of B and T count.

use std::f64::consts::FRAC_1_PI;

use super::node::Node;
use crate::triangle::Corners;
use voxshell_base::math::Vec3;
use voxshell_base::memory::CollectGuarded;

/// A node is far when the query is more than this many of its radii away from its centre (β in the paper, section 4.3,
/// where 2 is recommended): 3.5 keeps the error of real meshes under 1e-3.
const FAR: f64 = 3.5;

/// Nodes of more triangles take their radius from their box, which has no cost.
const EXACT_RADIUS: usize = 1024;

/// Moments of a node about its centre.
#[derive(Clone, Copy, Debug)]
pub struct Moments {
    /// p̃: area-weighted centre of the triangles.
    pub(super) center: Vec3,
    /// (β × radius of the ball around p̃ that holds the triangles)².
    pub(super) far_squared: f64,
    area: f64,
    /// N, m².
    dipole: Vec3,
    /// sym B, m³: xx, yy, zz, xy, xz, yz.
    quadrupole: [f64; 6],
    /// sym T, m⁴: xxx, yyy, zzz, xxy, xxz, yyx, yyz, zzx, zzy, xyz.
    octupole: [f64; 10],
}

impl Moments {
    /// Returns the moments of triangles, about their own centre.
    fn of_triangles(corners: &[Corners]) -> Self {
        let areas = corners.iter().map(|t| (t[1] - t[0]).cross(&(t[2] - t[0])).norm() * 0.5);
        let centroids = corners.iter().map(|t| t[0] + ((t[1] - t[0]) + (t[2] - t[0])) / 3.0);
        let (area, moment) = areas
            .zip(centroids)
            .fold((0.0, Vec3::zeros()), |(a, m), (area, c)| (a + area, m + (c - corners[0][0]) * area));
        let center = if area > 0.0 { corners[0][0] + moment / area } else { corners[0][0] };
        let mut sum =
            Self { center, far_squared: 0.0, area, dipole: Vec3::zeros(), quadrupole: [0.0; 6], octupole: [0.0; 10] };
        for t in corners {
            let d = t.map(|v| v - center);
            let n = (d[1] - d[0]).cross(&(d[2] - d[0])) * 0.5;
            let s = d[0] + d[1] + d[2];
            sum.dipole += n;
            add(&mut sum.quadrupole, &vector_vector(&(s / 3.0), &n));
            // ∫ d⊗d over a triangle = (Σ dᵢ⊗dᵢ + s⊗s) · area / 12.
            for v in [d[0], d[1], d[2], s] {
                add(&mut sum.octupole, &vector_matrix(&n, &vector_vector(&v, &v).map(|x| x / 12.0)));
            }
        }
        sum
    }

    /// Adds `other`, moved to this centre: d becomes d + δ.
    fn accumulate(&mut self, other: &Self) {
        let delta = other.center - self.center;
        let shift = vector_vector(&delta, &other.dipole);
        self.dipole += other.dipole;
        add(&mut self.quadrupole, &other.quadrupole);
        add(&mut self.quadrupole, &shift);
        add(&mut self.octupole, &other.octupole);
        add(&mut self.octupole, &vector_matrix(&delta, &other.quadrupole.map(|x| 2.0 * x)));
        add(&mut self.octupole, &vector_matrix(&delta, &shift));
    }

    /// Returns the node's contribution to the winding number at a far point; `r` = centre − point, `rr` its square.
    #[inline(always)]
    pub(super) fn evaluate(&self, r: &Vec3, rr: f64) -> f64 {
        let [xx, yy, zz, xy, xz, yz] = self.quadrupole;
        let o = &self.octupole;
        let inverse = 1.0 / rr;
        let (x, y, z) = (r.x, r.y, r.z);
        let quadratic = (xx * x * x + yy * y * y + zz * z * z) + 2.0 * (xy * x * y + xz * x * z + yz * y * z);
        let trace = xx + yy + zz;
        let cubic = (o[0] * x * x * x + o[1] * y * y * y + o[2] * z * z * z)
            + 3.0 * (x * x * (o[3] * y + o[4] * z) + y * y * (o[5] * x + o[6] * z) + z * z * (o[7] * x + o[8] * y))
            + 6.0 * o[9] * x * y * z;
        let traces = (o[0] + o[5] + o[7]) * x + (o[1] + o[3] + o[8]) * y + (o[2] + o[4] + o[6]) * z;
        let first = self.dipole.dot(r);
        let second = trace - 3.0 * quadratic * inverse;
        let third = (7.5 * cubic * inverse - 4.5 * traces) * inverse;
        (first + second + third) * inverse * inverse.sqrt() * (0.25 * FRAC_1_PI)
    }
}

/// Returns sym(a⊗b).
fn vector_vector(a: &Vec3, b: &Vec3) -> [f64; 6] {
    let mixed = |i: usize, j: usize| 0.5 * (a[i] * b[j] + a[j] * b[i]);
    [a.x * b.x, a.y * b.y, a.z * b.z, mixed(0, 1), mixed(0, 2), mixed(1, 2)]
}

/// Returns sym(a⊗m) for symmetric m.
fn vector_matrix(a: &Vec3, m: &[f64; 6]) -> [f64; 10] {
    let [xx, yy, zz, xy, xz, yz] = *m;
    let twice = |i: usize, j: usize, ii: f64, ij: f64| (2.0 * a[i] * ij + a[j] * ii) / 3.0;
    [
        a.x * xx,
        a.y * yy,
        a.z * zz,
        twice(0, 1, xx, xy),
        twice(0, 2, xx, xz),
        twice(1, 0, yy, xy),
        twice(1, 2, yy, yz),
        twice(2, 0, zz, xz),
        twice(2, 1, zz, yz),
        (a.x * yz + a.y * xz + a.z * xy) / 3.0,
    ]
}

fn add<const N: usize>(sum: &mut [f64; N], other: &[f64; N]) {
    sum.iter_mut().zip(other).for_each(|(s, o)| *s += o);
}

/// Returns the moments of all nodes, from the leaves up: children come after their parents.
pub fn moments(nodes: &[Node], corners: &[Corners]) -> Vec<Moments> {
    let mut all: Vec<Moments> = nodes.iter().map(|_| Moments::of_nothing()).collect_guarded();
    // Triangles below each node: contiguous in leaf order.
    let mut below: Vec<std::ops::Range<usize>> = nodes.iter().map(Node::triangles).collect_guarded();
    for (i, node) in nodes.iter().enumerate().rev() {
        let mut m = if node.count > 0 {
            Moments::of_triangles(&corners[node.triangles()])
        } else {
            let (left, right) = (node.first as usize, node.first as usize + 1);
            below[i] = below[left].start..below[right].end;
            Moments::merged(&[all[left], all[right]])
        };
        let radius_squared = if below[i].len() <= EXACT_RADIUS {
            let vertices = corners[below[i].clone()].iter().flatten();
            vertices.map(|v| (v - m.center).norm_squared()).fold(0.0, f64::max)
        } else {
            // The farthest corner of the box bounds the radius from above.
            let reach = |k: usize| (m.center[k] - node.min[k]).abs().max((node.max[k] - m.center[k]).abs());
            Vec3::new(reach(0), reach(1), reach(2)).norm_squared()
        };
        m.far_squared = FAR * FAR * radius_squared;
        all[i] = m;
    }
    all
}

impl Moments {
    fn of_nothing() -> Self {
        let (center, dipole) = (Vec3::zeros(), Vec3::zeros());
        Self { center, far_squared: 0.0, area: 0.0, dipole, quadrupole: [0.0; 6], octupole: [0.0; 10] }
    }

    fn merged(children: &[Self; 2]) -> Self {
        let [a, b] = children;
        let area = a.area + b.area;
        let weight = if area > 0.0 { b.area / area } else { 0.5 };
        let mut sum = Self { center: a.center + (b.center - a.center) * weight, area, ..Self::of_nothing() };
        children.iter().for_each(|c| sum.accumulate(c));
        sum
    }
}
