//! The dense field against its definition: the interpolant and its gradient in f64, the certified constants against
//! random pairs and balls.

use proptest::prelude::*;
use support::rng::Rng;
use voxshell::field::{DenseField, Field, Grid, SignedDistance};
use voxshell::math::Vec3;

/// Returns values of random smoothness over a random box that need not be centred.
fn random_field(seed: u64) -> DenseField {
    let mut rng = Rng(seed);
    let dims = [0, 1, 2].map(|_| 2 + (rng.fraction() * 9.0) as u32);
    let spacing = 10f64.powf(rng.fraction() * 4.0 - 3.0) as f32;
    let grid = Grid { dims, spacing, min: [0, 1, 2].map(|_| ((rng.fraction() - 0.5) * 20.0) as f32 * spacing) };
    let noise = rng.fraction() * 2.0;
    let mut values = Vec::new();
    for k in 0..dims[2] {
        for j in 0..dims[1] {
            for i in 0..dims[0] {
                let p = grid.node(i, j, k);
                let r = p.iter().map(|x| x * x).sum::<f32>().sqrt() - 3.0 * spacing;
                values.push(r + ((rng.fraction() - 0.5) * noise) as f32 * spacing);
            }
        }
    }
    DenseField::from_values(grid, values, Vec3::new(1.0, -2.0, 3.0)).unwrap()
}

/// Returns φ and its gradient in f64, directly from the definition.
fn definition(field: &DenseField, p: [f64; 3]) -> (f64, [f64; 3]) {
    let g = field.grid();
    let h = f64::from(g.spacing);
    let (mut cell, mut f, mut over) = ([0u32; 3], [0.0; 3], [0.0; 3]);
    for k in 0..3 {
        let t = (p[k] - f64::from(g.min[k])) / h;
        let c = t.clamp(0.0, f64::from(g.dims[k] - 1));
        cell[k] = (c.floor() as u32).min(g.dims[k] - 2);
        f[k] = c - f64::from(cell[k]);
        over[k] = (t - c) * h;
    }
    let (mut phi, mut grad) = (0.0, [0.0; 3]);
    for corner in 0..8u32 {
        let bit = [corner & 1, corner >> 1 & 1, corner >> 2];
        let v = f64::from(field.values()[g.index(cell[0] + bit[0], cell[1] + bit[1], cell[2] + bit[2])]);
        let w = [0, 1, 2].map(|k| if bit[k] == 1 { f[k] } else { 1.0 - f[k] });
        let s = [0, 1, 2].map(|k| if bit[k] == 1 { 1.0 / h } else { -1.0 / h });
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

/// Returns a point in the box or around it; nodes, cell faces and the border of the box are over-represented.
fn random_point(field: &DenseField, rng: &mut Rng, reach: f64) -> [f32; 3] {
    let g = field.grid();
    [0, 1, 2].map(|k| {
        let cells = f64::from(g.dims[k] - 1);
        let t = match (rng.fraction() * 8.0) as u32 {
            0 => (rng.fraction() * (cells + 1.0)).floor(),
            1 => cells,
            2 => 0.0,
            3 => cells * 0.5 + (rng.fraction() - 0.5) * cells * reach,
            _ => rng.fraction() * cells,
        };
        (f64::from(g.min[k]) + t * f64::from(g.spacing)) as f32
    })
}

fn scale(field: &DenseField) -> f64 {
    let g = field.grid();
    let largest = field.values().iter().fold(0.0f32, |a, v| a.max(v.abs()));
    let far = g.min.iter().chain(&g.max()).fold(0.0f32, |a, v| a.max(v.abs()));
    f64::from(largest + field.lipschitz_outside() * far)
}

proptest! {
    #![proptest_config(support::cases(400))]

    #[test]
    fn distance_and_gradient_are_those_of_the_interpolant(seed in any::<u64>()) {
        let field = random_field(seed);
        let mut rng = Rng(seed ^ 77);
        let s = scale(&field);
        let h = f64::from(field.grid().spacing);
        for _ in 0..60 {
            let p = random_point(&field, &mut rng, 4.0);
            let (phi, g) = field.distance_gradient(p);
            let (exact, slope) = definition(&field, p.map(f64::from));
            prop_assert!((f64::from(phi) - exact).abs() < 2e-6 * s, "{phi} {exact} at {p:?}");
            prop_assert!((phi - field.distance(p)).abs() <= 1e-6 * s as f32);
            // On a cell face either side's gradient is right, so only points well inside a cell are tested.
            let inner = (0..3).all(|k| {
                let t = f64::from(p[k] - field.grid().min[k]) / h;
                let n = f64::from(field.grid().dims[k] - 1);
                t < -0.01 || t > n + 0.01 || (t - t.round()).abs() > 0.01
            });
            if inner {
                for k in 0..3 {
                    prop_assert!((f64::from(g[k]) - slope[k]).abs() < 2e-5 * (s / h + 1.0), "{g:?} {slope:?}");
                }
            }
        }
    }

    #[test]
    fn gradient_is_the_slope_of_distance(seed in any::<u64>()) {
        let field = random_field(seed);
        let mut rng = Rng(seed ^ 5);
        let h = f64::from(field.grid().spacing);
        for _ in 0..40 {
            let p = random_point(&field, &mut rng, 3.0).map(f64::from);
            let step = 0.02 * h;
            let same_cell = |k: usize| {
                let t = (p[k] - f64::from(field.grid().min[k])) / h;
                ((t - 0.03).floor() - (t + 0.03).floor()).abs() < 0.5
            };
            if !(0..3).all(same_cell) {
                continue;
            }
            let (_, g) = field.distance_gradient(p.map(|x| x as f32));
            for k in 0..3 {
                let (mut a, mut b) = (p, p);
                a[k] -= step;
                b[k] += step;
                let slope = (definition(&field, b).0 - definition(&field, a).0) / (2.0 * step);
                prop_assert!((slope - f64::from(g[k])).abs() < 0.02 * (1.0 + slope.abs()), "{slope} {g:?} {k}");
            }
        }
    }

    #[test]
    fn no_two_points_exceed_the_lipschitz_constant(seed in any::<u64>()) {
        let field = random_field(seed);
        let mut rng = Rng(seed ^ 9);
        for _ in 0..80 {
            let (a, b) = (random_point(&field, &mut rng, 1.0), random_point(&field, &mut rng, 1.0));
            let close = rng.fraction() < 0.7;
            let b = if close { [0, 1, 2].map(|k| a[k] + (b[k] - a[k]) * 0.01) } else { b };
            let (a, b) = (a.map(f64::from), b.map(f64::from));
            let apart = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
            let rise = (definition(&field, a).0 - definition(&field, b).0).abs();
            prop_assert!(rise <= f64::from(field.lipschitz()) * apart * (1.0 + 1e-9) + 1e-13 * scale(&field));
            let (c, d) = (random_point(&field, &mut rng, 9.0), random_point(&field, &mut rng, 9.0));
            let (c, d) = (c.map(f64::from), d.map(f64::from));
            let apart = (0..3).map(|k| (c[k] - d[k]).powi(2)).sum::<f64>().sqrt();
            let rise = (definition(&field, c).0 - definition(&field, d).0).abs();
            prop_assert!(rise <= f64::from(field.lipschitz_outside()) * apart * (1.0 + 1e-9) + 1e-13 * scale(&field));
        }
    }

    #[test]
    fn no_point_of_a_ball_is_below_its_lower_bound(seed in any::<u64>(), size in -3.0f64..3.0, far in 0.0f64..6.0) {
        let field = random_field(seed);
        let mut rng = Rng(seed ^ 3);
        let h = f64::from(field.grid().spacing);
        for round in 0..30 {
            let mut c = random_point(&field, &mut rng, 5.0);
            if round % 10 == 9 {
                c[round / 10] += 10f64.powf(far) as f32;
            }
            let r = (10f64.powf(size) * h) as f32;
            let bound = field.lower_bound(c, r);
            let g = field.distance_gradient(c).1;
            let down = Vec3::new(g[0].into(), g[1].into(), g[2].into()).normalize() * -1.0;
            for i in 0..40 {
                let u = loop {
                    let v = Vec3::new(rng.fraction() - 0.5, rng.fraction() - 0.5, rng.fraction() - 0.5);
                    if v.norm() > 0.05 {
                        break v.normalize();
                    }
                };
                let u = if i == 0 { down } else { u };
                let t = if i % 2 == 0 { 0.999_999_9 } else { rng.fraction() } * f64::from(r);
                let x = [0, 1, 2].map(|k| (f64::from(c[k]) + u[k] * t) as f32);
                prop_assert!(field.distance(x) >= bound, "{} < {bound} at {x:?}, ball {c:?} {r}", field.distance(x));
            }
        }
    }

    #[test]
    fn everything_inside_is_in_the_bounds(seed in any::<u64>()) {
        let field = random_field(seed);
        let mut rng = Rng(seed ^ 1);
        for _ in 0..200 {
            let p = random_point(&field, &mut rng, 2.0);
            if field.distance(p) <= 0.0 {
                let body = Vec3::new(p[0].into(), p[1].into(), p[2].into()) + field.center();
                prop_assert!(field.bounds().contains(&body), "{body} {:?}", field.bounds());
            }
        }
    }

    #[test]
    fn batches_give_the_same_bytes_as_single_calls(seed in any::<u64>()) {
        let field = random_field(seed);
        let mut rng = Rng(seed ^ 2);
        let points: Vec<[f32; 3]> = (0..29).map(|_| random_point(&field, &mut rng, 3.0)).collect();
        let axis = |k: usize| points.iter().map(|p| p[k]).collect::<Vec<f32>>();
        let (x, y, z) = (axis(0), axis(1), axis(2));
        let r: Vec<f32> = points.iter().map(|_| (rng.fraction() * 3.0) as f32 * field.grid().spacing).collect();
        for n in [0, 1, 3, 8, 29] {
            let (mut d, mut b) = (vec![0.0; n], vec![0.0; n]);
            field.distance_batch(&x[..n], &y[..n], &z[..n], &mut d);
            field.lower_bound_batch(&x[..n], &y[..n], &z[..n], &r[..n], &mut b);
            for i in 0..n {
                prop_assert_eq!(d[i].to_bits(), field.distance(points[i]).to_bits());
                prop_assert_eq!(b[i].to_bits(), field.lower_bound(points[i], r[i]).to_bits());
            }
        }
    }
}

#[test]
fn odd_numbers_are_answered_without_reading_out_of_the_grid() {
    let field = random_field(4);
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1e-40, -0.0, 3.0];
    for x in odd {
        for y in odd {
            for z in odd {
                field.distance_gradient([x, y, z]);
                let bound = field.lower_bound([x, y, z], 1.0);
                assert!(bound.is_nan() || bound <= field.distance([x, y, z]));
            }
        }
    }
}

#[test]
fn bad_values_are_refused_by_name() {
    let grid = Grid::centered([3, 4, 5], 0.1);
    let message = |g: Grid, v: Vec<f32>| DenseField::from_values(g, v, Vec3::zeros()).unwrap_err().to_string();
    assert!(message(grid, vec![0.0; 59]).contains("values is 59 numbers; expected 60"));
    let mut values = vec![0.0; 60];
    values[17] = f32::NAN;
    assert!(message(grid, values).contains("values[17]"));
    assert!(message(Grid { dims: [1, 4, 5], ..grid }, vec![0.0; 20]).contains("dims"));
    assert!(message(Grid { spacing: 0.0, ..grid }, vec![0.0; 60]).contains("spacing"));
    assert!(message(Grid { min: [0.0, f32::INFINITY, 0.0], ..grid }, vec![0.0; 60]).contains("min"));
    let far = DenseField::from_values(grid, vec![0.0; 60], Vec3::new(0.0, f64::NAN, 0.0)).unwrap_err();
    assert!(far.to_string().contains("center"));
}

#[test]
fn a_field_survives_serialisation() {
    for seed in 0..20 {
        let field = Field::Dense(random_field(seed));
        let back: Field = postcard::from_bytes(&postcard::to_stdvec(&field).unwrap()).unwrap();
        assert!(back == field);
    }
}
