//! The field in bricks: its definition in f64, continuity at seams, certified constants by dense sampling.

use proptest::prelude::*;
use support::brick::{check_ball, definition, random_dense, random_point, rounding};
use support::rng::Rng;
use voxshell::ccd::segment::{first_fractions, intervals, Segment, Start};
use voxshell::field::{BrickField, DenseField, Field, Grid, SignedDistance};
use voxshell::math::Vec3;

proptest! {
    #![proptest_config(support::cases(200))]

    #[test]
    fn distance_and_gradient_are_those_of_the_samples(seed in any::<u64>()) {
        let field = BrickField::from_dense(&random_dense(seed)).unwrap();
        let mut rng = Rng(seed ^ 77);
        let (h, tolerance) = (f64::from(field.grid().spacing), rounding(&field));
        for _ in 0..60 {
            let p = random_point(field.grid(), &mut rng, 4.0);
            let (phi, g) = field.distance_gradient(p);
            let (exact, slope) = definition(&field, p.map(f64::from), [false; 3]);
            prop_assert!((f64::from(phi) - exact).abs() < tolerance, "{phi} {exact} at {p:?}");
            prop_assert!(f64::from((phi - field.distance(p)).abs()) <= tolerance);
            // On a cell's face either side's gradient is right, so only points well inside a cell are tested.
            let inner = (0..3).all(|k| {
                let t = f64::from(p[k] - field.grid().min[k]) / h;
                let n = f64::from(field.grid().dims[k] - 1);
                t < -0.01 || t > n + 0.01 || (t - t.round()).abs() > 0.01
            });
            if inner {
                for k in 0..3 {
                    prop_assert!((f64::from(g[k]) - slope[k]).abs() < 20.0 * tolerance / h + 2e-5, "{g:?} {slope:?}");
                }
            }
        }
    }

    #[test]
    fn both_sides_of_every_face_agree(seed in any::<u64>()) {
        // The same values at integer coordinates, so that the faces are at exact positions.
        let dense = random_dense(seed);
        let g = Grid { spacing: 1.0, min: [0.0; 3], ..*dense.grid() };
        let values: Vec<f32> = dense.values().iter().map(|v| v / dense.grid().spacing).collect();
        let field = BrickField::from_dense(&DenseField::from_values(g, values, Vec3::zeros()).unwrap()).unwrap();
        let mut rng = Rng(seed ^ 5);
        for _ in 0..100 {
            let mut on = 0;
            let p = g.dims.map(|n| {
                let t = rng.fraction() * f64::from(n - 1);
                let face = (t / 8.0).round() * 8.0;
                let at_face = rng.next() % 2 == 0 && face > 0.0 && face < f64::from(n - 1);
                on += usize::from(at_face);
                if at_face { face } else { t }
            });
            if on == 0 {
                continue;
            }
            let all: Vec<f64> = (0..8)
                .map(|s| definition(&field, p, [s & 1 == 1, s >> 1 & 1 == 1, s >> 2 == 1]).0)
                .collect();
            let tolerance = 1e-12 * (all[0].abs() + 1.0);
            for v in &all {
                prop_assert!((v - all[0]).abs() <= tolerance, "{all:?} at {p:?}");
            }
        }
    }

    #[test]
    fn no_two_points_exceed_the_lipschitz_constant(seed in any::<u64>()) {
        let field = BrickField::from_dense(&random_dense(seed)).unwrap();
        let mut rng = Rng(seed ^ 9);
        for outside in [false, true] {
            let (l, reach) = if outside { (field.lipschitz_outside(), 9.0) } else { (field.lipschitz(), 1.0) };
            for _ in 0..60 {
                let (a, b) = (random_point(field.grid(), &mut rng, reach), random_point(field.grid(), &mut rng, reach));
                let b = if rng.next() % 3 > 0 { [0, 1, 2].map(|k| a[k] + (b[k] - a[k]) * 0.01) } else { b };
                // The grid's last node as f32 may be beyond it.
                let g = field.grid();
                let last = |k: usize| f64::from(g.min[k]) + f64::from(g.spacing) * f64::from(g.dims[k] - 1);
                let inside = |p: [f32; 3]| (0..3).all(|k| g.min[k] <= p[k] && f64::from(p[k]) <= last(k));
                if !(outside || inside(a) && inside(b)) {
                    continue;
                }
                let (a, b) = (a.map(f64::from), b.map(f64::from));
                let apart = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
                let rise = (definition(&field, a, [false; 3]).0 - definition(&field, b, [false; 3]).0).abs();
                prop_assert!(rise <= f64::from(l) * apart * (1.0 + 1e-9) + 1e-6 * rounding(&field), "{rise} {apart}");
            }
        }
    }

    #[test]
    fn no_point_of_a_ball_is_below_its_lower_bound(seed in any::<u64>(), size in -3.0f64..3.0, far in 0.0f64..6.0) {
        let field = BrickField::from_dense(&random_dense(seed)).unwrap();
        let mut rng = Rng(seed ^ 3);
        let r = (10f64.powf(size) * f64::from(field.grid().spacing)) as f32;
        for round in 0..30 {
            let mut c = random_point(field.grid(), &mut rng, 5.0);
            if round % 10 == 9 {
                c[round / 10] += 10f64.powf(far) as f32;
            }
            check_ball(&field, c, r, &mut rng);
        }
    }

    #[test]
    fn everything_inside_is_in_the_bounds(seed in any::<u64>()) {
        let field = BrickField::from_dense(&random_dense(seed)).unwrap();
        let mut rng = Rng(seed ^ 1);
        for _ in 0..200 {
            let p = random_point(field.grid(), &mut rng, 2.0);
            if field.distance(p) <= 0.0 {
                let body = Vec3::from(p.map(f64::from)) + field.center();
                prop_assert!(field.bounds().contains(&body), "{body} {:?}", field.bounds());
            }
        }
    }

    #[test]
    fn bricks_of_a_full_grid_agree_with_it_near_the_surface(seed in any::<u64>()) {
        let dense = random_dense(seed);
        let field = BrickField::from_dense(&dense).unwrap();
        let g = dense.grid();
        let mut rng = Rng(seed ^ 8);
        let tolerance = 0.5 * field.quantum() + 1e-5 * g.spacing * g.dims[0] as f32;
        prop_assert!(field.rounding() <= 0.51 * field.quantum());
        for _ in 0..200 {
            let at = [0, 1, 2].map(|k| (rng.next() % u64::from(g.dims[k])) as u32);
            let exact = dense.values()[g.index(at[0], at[1], at[2])];
            let phi = field.distance(g.node(at[0], at[1], at[2]));
            if exact.abs() <= 3.0 * g.spacing {
                prop_assert!((phi - exact).abs() <= tolerance, "{phi} {exact} at {at:?}");
            } else {
                prop_assert_eq!(phi < 0.0, exact < 0.0, "{} {} at {:?}", phi, exact, at);
            }
        }
    }
}

/// Checks that the segment's points that are clear of the level are in the found intervals exactly when they are below
/// it.
fn check_segment(field: &Field, ends: [Vec3; 2], level: f64) -> usize {
    let Field::Bricks(bricks) = field else { panic!("no bricks") };
    let mut found = Vec::new();
    let segment = Segment::new(ends[0], ends[1]);
    intervals(field, &segment, level, |i| found.push(i));
    let mut first = [None];
    first_fractions(field, &[segment], level, Start::Hit, &mut first);
    assert_eq!(first[0], found.first().map(|i| i[0]), "{ends:?}, level {level}");
    let length = (ends[1] - ends[0]).norm();
    let steep = f64::from(bricks.lipschitz_outside());
    let tolerance = 1e-3 * rounding(bricks) + 1e-12 * (level.abs() + steep * length);
    for n in 0..=2000 {
        let t = f64::from(n) / 2000.0;
        let p = ends[0] + (ends[1] - ends[0]) * t - bricks.center();
        let off = definition(bricks, p.into(), [false; 3]).0 - level;
        let within = found.iter().any(|[from, to]| (*from..=*to).contains(&t));
        assert!(off.abs() <= tolerance || (off < 0.0) == within, "{off} at {t} of {ends:?}, level {level}: {found:?}");
    }
    found.len()
}

#[test]
fn no_crossing_of_a_level_is_missed_or_invented() {
    let mut found = 0;
    for seed in 0..120 {
        let field = BrickField::from_dense(&random_dense(seed)).unwrap();
        let (grid, h) = (*field.grid(), f64::from(field.grid().spacing));
        let center = field.center();
        let field = Field::Bricks(field);
        let mut rng = Rng(seed ^ 21);
        for n in 0..20 {
            let mut end = || Vec3::from(random_point(&grid, &mut rng, 2.0).map(f64::from)) + center;
            let ends = [end(), end()];
            found += check_segment(&field, ends, [0.0, 0.0, 0.7 * h, -0.4 * h, 5.0 * h, -3.5 * h][n % 6]);
        }
    }
    assert!(found > 800, "{found}");
}

#[test]
fn masks_mark_all_surface_cells() {
    for seed in 0..60 {
        let field = BrickField::from_dense(&random_dense(seed)).unwrap();
        let g = *field.grid();
        let mut rng = Rng(seed ^ 31);
        for _ in 0..2000 {
            let p = [0, 1, 2].map(|k| {
                let t = (0.5 + 0.5 * rng.unit()) * f64::from(g.dims[k] - 1);
                f64::from(g.min[k]) + t * f64::from(g.spacing)
            });
            let phi = definition(&field, p, [false; 3]).0;
            let cell = [0, 1, 2]
                .map(|k| (((p[k] - f64::from(g.min[k])) / f64::from(g.spacing)).floor() as u32).min(g.dims[k] - 2));
            let brick = cell.map(|c| (c / 8) as usize);
            let number = (brick[2] * field.bricks()[1] as usize + brick[1]) * field.bricks()[0] as usize + brick[0];
            let [x, y, z] = cell.map(|c| c % 8);
            let marked = field.mixed(number).is_some_and(|m| m[z as usize] >> (y * 8 + x) & 1 == 1);
            assert!(marked || phi.abs() > f64::from(field.quantum()), "{phi} in an unmarked cell of {seed}");
        }
    }
}
