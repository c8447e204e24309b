//! The bunny-like body: a smooth union of round cones, polygonised by surface nets and relaxed on its surface.

use super::arguments::within;
use crate::TriMesh;
use voxshell_base::math::Vec3;
use voxshell_base::memory::{filled, CollectGuarded, GrowGuarded};
use voxshell_base::Result;

/// A ball of radius `ra` at `a` swept to one of radius `rb` at `b`.
struct RoundCone {
    a: [f64; 3],
    ra: f64,
    b: [f64; 3],
    rb: f64,
    /// Width of the blend with the parts before, metres.
    blend: f64,
}

const fn part(a: [f64; 3], ra: f64, b: [f64; 3], rb: f64, blend: f64) -> RoundCone {
    RoundCone { a, ra, b, rb, blend }
}

/// The parts of the animal, sitting, nose towards +x; rescaled afterwards.
const PARTS: [RoundCone; 15] = [
    // Trunk from haunches to chest.
    part([-0.14, 0.33, 0.0], 0.30, [0.16, 0.36, 0.0], 0.22, 0.0),
    part([-0.16, 0.26, 0.15], 0.19, [-0.10, 0.24, 0.17], 0.19, 0.10),
    part([-0.16, 0.26, -0.15], 0.19, [-0.10, 0.24, -0.17], 0.19, 0.10),
    // Neck, head, muzzle, cheeks.
    part([0.18, 0.48, 0.0], 0.17, [0.28, 0.68, 0.0], 0.16, 0.10),
    part([0.28, 0.71, 0.0], 0.17, [0.40, 0.66, 0.0], 0.11, 0.06),
    part([0.45, 0.62, 0.0], 0.075, [0.47, 0.62, 0.0], 0.07, 0.06),
    part([0.36, 0.64, 0.08], 0.09, [0.36, 0.64, -0.08], 0.09, 0.06),
    // Ears, laid back and spread.
    part([0.22, 0.82, 0.07], 0.055, [0.06, 1.16, 0.17], 0.065, 0.05),
    part([0.22, 0.82, -0.07], 0.055, [0.06, 1.16, -0.17], 0.065, 0.05),
    // Front legs.
    part([0.20, 0.30, 0.10], 0.10, [0.30, 0.07, 0.12], 0.07, 0.06),
    part([0.20, 0.30, -0.10], 0.10, [0.30, 0.07, -0.12], 0.07, 0.06),
    // Hind feet.
    part([-0.16, 0.08, 0.22], 0.085, [0.08, 0.065, 0.25], 0.065, 0.06),
    part([-0.16, 0.08, -0.22], 0.085, [0.08, 0.065, -0.25], 0.065, 0.06),
    // Tail.
    part([-0.42, 0.24, 0.0], 0.095, [-0.44, 0.27, 0.0], 0.09, 0.05),
    // Brow, so that the head is no plain ball.
    part([0.33, 0.80, 0.05], 0.055, [0.33, 0.80, -0.05], 0.055, 0.06),
];

/// A box around the surface.
const MIN: [f64; 3] = [-0.62, -0.06, -0.42];
const EXTENT: [f64; 3] = [1.24, 1.38, 0.84];

/// Cells along the height at the coarsest.
const CELLS: u32 = 24;

/// Smoothing rounds: enough to make the triangles even, few enough to be fast.
const RELAXATIONS: usize = 10;

/// Makes a bunny-like body (trunk, head, two ears, paws, tail): non-convex, smooth, without holes through it, 1 m
/// largest extent, its box centred. `subdivisions` 0 to 3 give about 2,200, 8,900, 36,000 and 144,000 triangles, none
/// with an angle under 20°.
pub fn blob(subdivisions: u32) -> Result<TriMesh> {
    within("subdivisions", subdivisions, 0, 3)?;
    let cell = EXTENT[1] / f64::from(CELLS << subdivisions);
    let mut net = surface_net(cell);
    relax(&mut net.vertices, &net.quads);
    let quads = net.quads.iter().flat_map(|q| {
        let p = q.map(|i| net.vertices[i as usize]);
        // Along the shorter diagonal.
        if (p[0] - p[2]).norm_squared() <= (p[1] - p[3]).norm_squared() {
            [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]
        } else {
            [[q[1], q[2], q[3]], [q[1], q[3], q[0]]]
        }
    });
    let triangles = quads.collect_guarded();
    Ok(TriMesh::new(net.vertices.iter().map(|&v| v.into()).collect_guarded(), triangles)?.scaled_to_extent(1.0))
}

/// Returns the distance to a round cone, negative inside, and its gradient.
fn round_cone(p: &Vec3, c: &RoundCone) -> (f64, Vec3) {
    // In the plane through the axis and p: s along the axis from a, t away from it. The common tangent of both circles
    // touches them where their normal makes with the axis an angle whose cosine is (ra − rb) / length.
    let (a, b) = (Vec3::from(c.a), Vec3::from(c.b));
    let axis = b - a;
    let length = axis.norm();
    let u = axis / length;
    let s = (p - a).dot(&u);
    let away = (p - a) - u * s;
    let t = away.norm();
    let sine = (c.ra - c.rb) / length;
    let cosine = (1.0 - sine * sine).sqrt();
    // Coordinate along the tangent.
    let along = s * cosine - t * sine;
    let ball = |center: Vec3, r: f64| {
        let d = (p - center).norm();
        (d - r, (p - center) / d.max(1e-12))
    };
    if along < 0.0 {
        ball(a, c.ra)
    } else if along > length * cosine {
        ball(b, c.rb)
    } else {
        (s * sine + t * cosine - c.ra, u * sine + away * (cosine / t.max(1e-12)))
    }
}

/// Returns the implicit function, negative inside, and its gradient. Its Lipschitz constant is 1: each part is a
/// distance, and the gradient of a blend is a mean of its arguments'.
fn implicit(p: &Vec3) -> (f64, Vec3) {
    let (mut d, mut g) = round_cone(p, &PARTS[0]);
    for part in &PARTS[1..] {
        // Polynomial smooth minimum (Quilez).
        let (e, ge) = round_cone(p, part);
        let h = (part.blend - (d - e).abs()).max(0.0) / part.blend;
        g = if d < e { g.lerp(&ge, 0.5 * h) } else { ge.lerp(&g, 0.5 * h) };
        d = d.min(e) - 0.25 * part.blend * h * h;
    }
    (d, g)
}

/// Moves a point near the surface onto it.
fn project(p: &mut Vec3) {
    for _ in 0..2 {
        let (d, g) = implicit(p);
        *p -= g * (d / g.norm_squared().max(0.1));
    }
}

struct Net {
    vertices: Vec<Vec3>,
    /// Counter-clockwise from outside.
    quads: Vec<[u32; 4]>,
}

/// Makes surface nets (Gibson 1998): a vertex in every cell that the surface passes, a quad for every lattice edge that
/// it crosses.
fn surface_net(cell: f64) -> Net {
    // Two cells beyond the box, so that every edge that the surface crosses has all its neighbours.
    let n: [usize; 3] = std::array::from_fn(|k| (EXTENT[k] / cell).ceil() as usize + 5);
    let node = |i: usize, j: usize, k: usize| {
        Vec3::from(MIN) + (Vec3::new(i as f64, j as f64, k as f64) - Vec3::repeat(2.0)) * cell
    };
    let index = |i: usize, j: usize, k: usize| (k * n[1] + j) * n[0] + i;
    let mut values = lattice(n, cell, &node);
    fill_ambiguous(n, &mut values);
    const NONE: u32 = u32::MAX;
    let mut cells = filled(NONE, values.len());
    let mut vertices = Vec::new();
    for k in 0..n[2] - 1 {
        for j in 0..n[1] - 1 {
            for i in 0..n[0] - 1 {
                let corner = |c: usize| (i + (c & 1), j + (c >> 1 & 1), k + (c >> 2));
                let value = |c: usize| {
                    let (i, j, k) = corner(c);
                    values[index(i, j, k)]
                };
                let (mut sum, mut count) = (Vec3::zeros(), 0.0);
                for c in 0..8 {
                    for axis in [1, 2, 4] {
                        let (from, to) = (value(c), value(c | axis));
                        if c & axis == 0 && (from < 0.0) != (to < 0.0) {
                            let ((a, b, d), (e, f, g)) = (corner(c), corner(c | axis));
                            sum += node(a, b, d).lerp(&node(e, f, g), from / (from - to));
                            count += 1.0;
                        }
                    }
                }
                if count > 0.0 {
                    cells[index(i, j, k)] = vertices.len() as u32;
                    vertices.push_guarded(sum / count);
                }
            }
        }
    }
    let mut quads = Vec::new();
    for k in 1..n[2] - 1 {
        for j in 1..n[1] - 1 {
            for i in 1..n[0] - 1 {
                let inside = values[index(i, j, k)] < 0.0;
                let at = |i, j, k| cells[index(i, j, k)];
                // For each axis the four cells around the edge, counter-clockwise seen from its far end.
                let around = [
                    (index(i + 1, j, k), [at(i, j - 1, k - 1), at(i, j, k - 1), at(i, j, k), at(i, j - 1, k)]),
                    (index(i, j + 1, k), [at(i - 1, j, k - 1), at(i - 1, j, k), at(i, j, k), at(i, j, k - 1)]),
                    (index(i, j, k + 1), [at(i - 1, j - 1, k), at(i, j - 1, k), at(i, j, k), at(i - 1, j, k)]),
                ];
                for (next, [a, b, c, d]) in around {
                    if inside != (values[next] < 0.0) {
                        quads.push_guarded(if inside { [a, b, c, d] } else { [a, d, c, b] });
                    }
                }
            }
        }
    }
    Net { vertices, quads }
}

/// Returns values at the lattice's nodes; far from the surface, where only the sign matters, one value serves a whole
/// block.
fn lattice(n: [usize; 3], cell: f64, node: &impl Fn(usize, usize, usize) -> Vec3) -> Vec<f64> {
    const BLOCK: usize = 8;
    let mut values = filled(0.0, n[0] * n[1] * n[2]);
    let reach = 0.5 * BLOCK as f64 * cell * 3f64.sqrt();
    for k0 in (0..n[2]).step_by(BLOCK) {
        for j0 in (0..n[1]).step_by(BLOCK) {
            for i0 in (0..n[0]).step_by(BLOCK) {
                let middle = implicit(&(node(i0, j0, k0) + Vec3::repeat(0.5 * BLOCK as f64 * cell))).0;
                for k in k0..(k0 + BLOCK).min(n[2]) {
                    for j in j0..(j0 + BLOCK).min(n[1]) {
                        for i in i0..(i0 + BLOCK).min(n[0]) {
                            let far = middle.abs() > reach;
                            values[(k * n[1] + j) * n[0] + i] = if far { middle } else { implicit(&node(i, j, k)).0 };
                        }
                    }
                }
            }
        }
    }
    values
}

/// Puts nodes inside until at most one sheet passes each cell, since a cell has a single vertex: then the net is a
/// manifold. Filling only adds nodes, so it ends.
fn fill_ambiguous(n: [usize; 3], values: &mut [f64]) {
    let offsets: [usize; 8] = std::array::from_fn(|c| ((c >> 2) * n[1] + (c >> 1 & 1)) * n[0] + (c & 1));
    let mut again = true;
    while std::mem::take(&mut again) {
        for k in 0..n[2] - 1 {
            for j in 0..n[1] - 1 {
                for i in 0..n[0] - 1 {
                    let at = offsets.map(|o| (k * n[1] + j) * n[0] + i + o);
                    let inside = (0..8).fold(0u8, |m, c| m | u8::from(values[at[c]] < 0.0) << c);
                    if in_one_piece(inside) && in_one_piece(!inside) {
                        continue;
                    }
                    let outside = at.into_iter().filter(|&a| values[a] >= 0.0);
                    if let Some(nearest) = outside.min_by(|&a, &b| values[a].total_cmp(&values[b])) {
                        values[nearest] = -1e-9;
                        again = true;
                    }
                }
            }
        }
    }
}

/// Returns whether a set of corners of a cube (as bits) is connected along its edges.
fn in_one_piece(corners: u8) -> bool {
    let mut reached = corners & corners.wrapping_neg();
    loop {
        let x = (reached & 0x55) << 1 | (reached & 0xaa) >> 1;
        let y = (reached & 0x33) << 2 | (reached & 0xcc) >> 2;
        let z = reached.rotate_left(4);
        let next = (reached | x | y | z) & corners;
        if next == reached {
            return reached == corners;
        }
        reached = next;
    }
}

/// Smooths the net: moves every vertex towards the middle of its neighbours, then back onto the surface.
fn relax(vertices: &mut [Vec3], quads: &[[u32; 4]]) {
    vertices.iter_mut().for_each(project);
    for _ in 0..RELAXATIONS {
        let mut sums = filled((Vec3::zeros(), 0.0), vertices.len());
        for q in quads {
            for i in 0..4 {
                let (a, b) = (q[i] as usize, q[(i + 1) % 4] as usize);
                sums[a].0 += vertices[b];
                sums[a].1 += 1.0;
            }
        }
        for (v, (sum, count)) in vertices.iter_mut().zip(&sums) {
            // Quads are consistent, so each neighbour was counted once.
            let goal = sum / *count;
            *v += (goal - *v) * 0.6;
            project(v);
        }
    }
}
