//! Brick fields for tests, and their definition in f64, directly from the samples.

use voxshell::cook::FieldOptions;
use voxshell::field::{BrickField, DenseField, Grid, SignedDistance};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::TriMesh;

use crate::rng::Rng;

/// Cooks bricks with `cells` along the largest extent.
pub fn bricks(mesh: &TriMesh, cells: u32) -> BrickField {
    voxshell::cook::brick_field(mesh, &FieldOptions::with_resolution(mesh, cells), &Progress::none()).unwrap()
}

/// Cooks the same on a dense grid.
pub fn dense(mesh: &TriMesh, cells: u32) -> DenseField {
    voxshell::cook::dense_field(mesh, &FieldOptions::with_resolution(mesh, cells), &Progress::none()).unwrap()
}

/// Returns values of random smoothness over a random box: a ball, walls, or waves, with a few to fifty bricks.
pub fn random_dense(seed: u64) -> DenseField {
    let mut rng = Rng(seed);
    random_dense_of([0, 1, 2].map(|_| 2 + (rng.next() % 40) as u32), rng.next())
}

/// As [`random_dense`], with this number of nodes along the axes.
pub fn random_dense_of(dims: [u32; 3], seed: u64) -> DenseField {
    let mut rng = Rng(seed);
    let spacing = 10f64.powf(rng.unit() * 2.0 - 1.0) as f32;
    let grid = Grid { dims, spacing, min: [0, 1, 2].map(|_| rng.unit() as f32 * 20.0 * spacing) };
    let middle = [0, 1, 2].map(|k| 0.5 * (grid.min[k] + grid.max()[k]));
    let (noise, radius) = ((rng.unit() * 2.0).max(0.0), (4.0 + 3.0 * rng.unit()) as f32);
    let kind = rng.next() % 3;
    let mut values = Vec::new();
    for k in 0..dims[2] {
        for j in 0..dims[1] {
            for i in 0..dims[0] {
                let p = grid.node(i, j, k);
                let d = [0, 1, 2].map(|a| (p[a] - middle[a]) / spacing);
                let v = match kind {
                    0 => d.iter().map(|x| x * x).sum::<f32>().sqrt() - radius,
                    1 => d[0].abs().max(d[2].abs()) - radius,
                    _ => d[1] + 2.0 * (0.3 * d[0]).sin(),
                };
                values.push((v + (rng.unit() * noise) as f32) * spacing);
            }
        }
    }
    DenseField::from_values(grid, values, Vec3::new(1.0, -2.0, 3.0)).unwrap()
}

/// Returns φ and its gradient in f64, directly from the samples; `side` selects one of two bricks for a point on their
/// common face, and the gradient is of the cell on that side.
pub fn definition(field: &BrickField, p: [f64; 3], side: [bool; 3]) -> (f64, [f64; 3]) {
    let g = field.grid();
    let h = f64::from(g.spacing);
    let (mut cell, mut f, mut over) = ([0u32; 3], [0.0; 3], [0.0; 3]);
    for k in 0..3 {
        let t = (p[k] - f64::from(g.min[k])) / h;
        let c = t.clamp(0.0, f64::from(g.dims[k] - 1));
        let lower = side[k] && c == c.floor() && c > 0.0;
        cell[k] = (c.floor() as u32 - u32::from(lower)).min(g.dims[k] - 2);
        f[k] = c - f64::from(cell[k]);
        over[k] = (t - c) * h;
    }
    let brick = [0, 1, 2].map(|k| (cell[k] / 8) as usize);
    let number = (brick[2] * field.bricks()[1] as usize + brick[1]) * field.bricks()[0] as usize + brick[0];
    let bit = |c: usize| [c & 1, c >> 1 & 1, c >> 2];
    let (v, width): ([f64; 8], f64) = match field.fine(number) {
        Some(samples) => {
            let at = |c: usize| [0, 1, 2].map(|k| (cell[k] % 8) as usize + bit(c)[k]);
            let value = |c| f64::from(samples[(at(c)[2] * 9 + at(c)[1]) * 9 + at(c)[0]]) * f64::from(field.quantum());
            (std::array::from_fn(value), h)
        }
        None => {
            for k in 0..3 {
                f[k] = (f64::from(cell[k] % 8) + f[k]) / 8.0;
            }
            // Multiples of 64 quanta, given as f32 metres.
            let unit = 64.0 * f64::from(field.quantum());
            (field.corners(number).map(|v| (f64::from(v) / unit).round() * unit), 8.0 * h)
        }
    };
    let (mut phi, mut grad) = (0.0, [0.0; 3]);
    for (c, v) in v.iter().enumerate() {
        let w = [0, 1, 2].map(|k| if bit(c)[k] == 1 { f[k] } else { 1.0 - f[k] });
        let s = [0, 1, 2].map(|k| if bit(c)[k] == 1 { 1.0 / width } else { -1.0 / width });
        phi += v * w[0] * w[1] * w[2];
        grad[0] += v * s[0] * w[1] * w[2];
        grad[1] += v * w[0] * s[1] * w[2];
        grad[2] += v * w[0] * w[1] * s[2];
    }
    let d = over.iter().map(|x| x * x).sum::<f64>().sqrt();
    for k in 0..3 {
        if over[k] != 0.0 {
            grad[k] = over[k] / d;
        }
    }
    (phi + d, grad)
}

/// Returns a point in the box or around it; nodes, faces of bricks and the border of the box are over-represented.
pub fn random_point(grid: &Grid, rng: &mut Rng, reach: f64) -> [f32; 3] {
    [0, 1, 2].map(|k| {
        let cells = f64::from(grid.dims[k] - 1);
        let u = 0.5 + 0.5 * rng.unit();
        let t = match rng.next() % 8 {
            0 => (u * (cells + 1.0)).floor(),
            1 => (u * cells / 8.0).round() * 8.0,
            2 => (u * cells / 8.0).round() * 8.0 + 1.2 * rng.unit(),
            3 => cells * (0.5 + 0.5 * rng.unit() * reach),
            4 => [0.0, cells][(rng.next() % 2) as usize],
            _ => u * cells,
        };
        (f64::from(grid.min[k]) + t * f64::from(grid.spacing)) as f32
    })
}

/// Returns the largest rounding error of φ by rounding of a value or a coordinate.
pub fn rounding(field: &BrickField) -> f64 {
    let g = field.grid();
    let far = g.min.iter().chain(&g.max()).fold(0.0f32, |a, v| a.max(v.abs()));
    let largest =
        (0..8).map(|c| field.distance([0, 1, 2].map(|k| if c >> k & 1 == 1 { g.max()[k] } else { g.min[k] })));
    2e-6 * f64::from(largest.fold(0.0, |a: f32, v| a.max(v.abs())) + field.lipschitz_outside() * far)
}

/// Checks the bound against the least φ at many points of the ball: steps down the gradient from the centre, and random
/// ones.
pub fn check_ball(field: &BrickField, c: [f32; 3], r: f32, rng: &mut Rng) {
    let bound = field.lower_bound(c, r);
    let g = field.distance_gradient(c).1.map(f64::from);
    let n = g.iter().map(|x| x * x).sum::<f64>().sqrt();
    for i in 0..40 {
        let u = if i == 0 && n > 0.0 { g.map(|x| -x / n) } else { (rng.rotation() * rng.vector().normalize()).into() };
        let t = if i % 2 == 0 { 0.999_999_9 } else { 0.5 + 0.5 * rng.unit() } * f64::from(r);
        let x = [0, 1, 2].map(|k| (f64::from(c[k]) + u[k] * t) as f32);
        assert!(field.distance(x) >= bound, "{} < {bound} at {x:?}, ball {c:?} {r}", field.distance(x));
    }
}
