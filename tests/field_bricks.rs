//! The field in bricks: its definition in f64, continuity at seams, certified constants by dense sampling; and cooking,
//! against the full grid and the exact distance.

#[path = "support/rng.rs"]
mod rng;
mod support;

use proptest::prelude::*;
use rng::Rng;
use support::shared_mesh;
use voxshell::ccd::segment::{intervals, Segment};
use voxshell::field::{
    mass_from_bricks, mass_from_field, BrickField, DenseField, Field, FieldOptions, Grid, Pyramid, SignRule,
    SignedDistance, TreeForm,
};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::{primitives, Bvh, TriMesh};
use voxshell::Error;

/// Values of random smoothness over a random box: a ball, walls, or waves, with a few to fifty bricks.
fn random_dense(seed: u64) -> DenseField {
    let mut rng = Rng(seed);
    let dims = [0, 1, 2].map(|_| 2 + (rng.next() % 40) as u32);
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

/// φ and its gradient in f64, straight from the samples; `side` says which of two bricks a point on their common face
/// belongs to, and the gradient is of the cell on that side.
fn definition(field: &BrickField, p: [f64; 3], side: [bool; 3]) -> (f64, [f64; 3]) {
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
            (field.corners(number).map(f64::from), 8.0 * h)
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

/// A point in the box or around it; at nodes, faces of bricks and the border of the box more often than chance would
/// have it.
fn random_point(grid: &Grid, rng: &mut Rng, reach: f64) -> [f32; 3] {
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

/// What rounding of a value or a coordinate can make of φ.
fn rounding(field: &BrickField) -> f64 {
    let g = field.grid();
    let far = g.min.iter().chain(&g.max()).fold(0.0f32, |a, v| a.max(v.abs()));
    let largest =
        (0..8).map(|c| field.distance([0, 1, 2].map(|k| if c >> k & 1 == 1 { g.max()[k] } else { g.min[k] })));
    2e-6 * f64::from(largest.fold(0.0, |a: f32, v| a.max(v.abs())) + field.lipschitz_outside() * far)
}

fn direction(rng: &mut Rng) -> [f64; 3] {
    (rng.rotation() * rng.vector().normalize()).into()
}

/// The least φ that many points of the ball see: steps down the gradient from the centre and random ones.
fn check_ball(field: &BrickField, c: [f32; 3], r: f32, rng: &mut Rng) {
    let bound = field.lower_bound(c, r);
    let g = field.distance_gradient(c).1.map(f64::from);
    let n = g.iter().map(|x| x * x).sum::<f64>().sqrt();
    for i in 0..40 {
        let u = if i == 0 && n > 0.0 { g.map(|x| -x / n) } else { direction(rng) };
        let t = if i % 2 == 0 { 0.999_999_9 } else { 0.5 + 0.5 * rng.unit() } * f64::from(r);
        let x = [0, 1, 2].map(|k| (f64::from(c[k]) + u[k] * t) as f32);
        assert!(field.distance(x) >= bound, "{} < {bound} at {x:?}, ball {c:?} {r}", field.distance(x));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

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
            // On a cell's face either side's gradient will do, so look only at points well inside a cell.
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
        let field = BrickField::from_dense(&random_dense(seed)).unwrap();
        let mut rng = Rng(seed ^ 5);
        // A grid whose coordinates are exact, so that a face is where it is said to be.
        let g = field.grid();
        let exact = Grid { dims: g.dims, spacing: 1.0, min: [0.0; 3] };
        for _ in 0..100 {
            let mut p = [0.0; 3];
            let mut on = 0;
            for k in 0..3 {
                let cells = f64::from(exact.dims[k] - 1);
                let u = (0.5 + 0.5 * rng.unit()) * cells;
                let face = (u / 8.0).round() * 8.0;
                let at_face = rng.next() % 2 == 0 && face > 0.0 && face < cells;
                p[k] = if at_face { face } else { u };
                on += usize::from(at_face);
            }
            if on == 0 {
                continue;
            }
            let place = |k: usize| f64::from(g.min[k]) + p[k] * f64::from(g.spacing);
            let whole = |k: usize| f64::from(((place(k) - f64::from(g.min[k])) / f64::from(g.spacing)) as f32);
            if (0..3).any(|k| p[k] == p[k].round() && whole(k) != p[k]) {
                continue;
            }
            let at = [0, 1, 2].map(|k| f64::from(g.min[k]) + p[k] * f64::from(g.spacing));
            let all: Vec<f64> = (0..8)
                .map(|s| definition(&field, at, [s & 1 == 1, s >> 1 & 1 == 1, s >> 2 == 1]).0)
                .collect();
            // Quanta are whole numbers, but `corners` gives them as f32 metres.
            let tolerance = 2e-7 * (all[0].abs() + 8.0 * f64::from(field.lipschitz() * g.spacing));
            for v in &all {
                prop_assert!((v - all[0]).abs() <= tolerance, "{all:?} at {p:?}");
            }
        }
    }

    #[test]
    fn no_two_points_differ_by_more_than_the_lipschitz_constant_allows(seed in any::<u64>()) {
        let field = BrickField::from_dense(&random_dense(seed)).unwrap();
        let mut rng = Rng(seed ^ 9);
        for outside in [false, true] {
            let (l, reach) = if outside { (field.lipschitz_outside(), 9.0) } else { (field.lipschitz(), 1.0) };
            for _ in 0..60 {
                let (a, b) = (random_point(field.grid(), &mut rng, reach), random_point(field.grid(), &mut rng, reach));
                let b = if rng.next() % 3 > 0 { [0, 1, 2].map(|k| a[k] + (b[k] - a[k]) * 0.01) } else { b };
                let inside = |p: [f32; 3]| (0..3).all(|k| field.grid().min[k] <= p[k] && p[k] <= field.grid().max()[k]);
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

/// Whether the segment's points that are clear of the level are in the intervals found exactly when they are below it.
fn check_segment(field: &Field, ends: [Vec3; 2], level: f64) -> usize {
    let Field::Bricks(bricks) = field else { panic!("no bricks") };
    let mut found = Vec::new();
    intervals(field, &Segment::new(ends[0], ends[1]), level, |i| found.push(i));
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
fn no_passage_of_a_segment_through_a_level_is_missed_and_none_made_up() {
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
fn bounds_of_blocks_hold_and_masks_mark_all_cells_of_the_surface() {
    for seed in 0..60 {
        let field = BrickField::from_dense(&random_dense(seed)).unwrap();
        let pyramid = Pyramid::new(&field);
        assert_eq!(pyramid.dims(0), field.bricks());
        assert_eq!(pyramid.dims(pyramid.levels() - 1), [1; 3]);
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
            for level in 0..pyramid.levels() {
                let [least, most] = pyramid.bounds(level, cell.map(|c| c / (8 << level))).map(f64::from);
                assert!(least <= phi && phi <= most, "{least} <= {phi} <= {most} at level {level} of {seed}");
                assert!(
                    most - least
                        <= 4.0
                            * f64::from(field.lipschitz_outside())
                            * f64::from((16 << level) * 4)
                            * f64::from(g.spacing)
                );
            }
            let brick = cell.map(|c| (c / 8) as usize);
            let number = (brick[2] * field.bricks()[1] as usize + brick[1]) * field.bricks()[0] as usize + brick[0];
            let [x, y, z] = cell.map(|c| c % 8);
            let marked = field.mixed(number).is_some_and(|m| m[z as usize] >> (y * 8 + x) & 1 == 1);
            assert!(marked || phi.abs() > f64::from(field.quantum()), "{phi} in an unmarked cell of {seed}");
        }
        let forms = [TreeForm::Leaf, TreeForm::Min, TreeForm::MinMax].map(|form| pyramid.memory(form));
        assert!(forms[0].held <= forms[1].held && forms[1].held < forms[2].held);
        let cells: u64 = g.dims.iter().map(|&n| u64::from(n - 1)).product();
        assert_eq!(forms[0].full, 4 * cells);
        assert!(forms[1].full > forms[0].full && forms[2].full == 2 * forms[1].full);
    }
}

fn bricks(mesh: &TriMesh, cells: u32) -> BrickField {
    BrickField::cook(mesh, &FieldOptions::with_resolution(mesh, cells), &Progress::none()).unwrap()
}

fn dense(mesh: &TriMesh, cells: u32) -> DenseField {
    DenseField::cook(mesh, &FieldOptions::with_resolution(mesh, cells), &Progress::none()).unwrap()
}

const MESHES: [&str; 14] = [
    "bunny_3k_libigl.obj",
    "bunny_34k_filled.obj",
    "bunny_777_decimated.obj",
    "horse_48k.obj",
    "concave_box_169.obj",
    "fandisk_6k_cad.obj",
    "wingnut_3k.obj",
    "torus_2k_ccby.obj",
    "rocker_arm_10k_genus1.obj",
    "teapot_3k_open.obj",
    "dragon_10k_open.obj",
    "bunny_34k_raw_holes.obj",
    "alpha_puzzle_robot.obj",
    "alpha_puzzle_env15.obj",
];

#[test]
fn nodes_in_the_band_have_the_exact_distance_to_a_quantum() {
    for (name, cells) in MESHES.iter().flat_map(|m| [(m, 47), (m, 120)]) {
        let Some(mesh) = shared_mesh(name) else { continue };
        let field = bricks(&mesh, cells);
        let bvh = Bvh::build(&mesh);
        let g = *field.grid();
        let h = f64::from(g.spacing);
        let mut rng = Rng(5);
        let mut tested = 0;
        while tested < 2000 {
            // Nodes around a random point of the surface.
            let t = (rng.next() % mesh.triangles.len() as u64) as usize;
            let p = Vec3::from(mesh.corners(t)[0]) - field.center();
            let at = [0, 1, 2].map(|k| {
                let near = (p[k] - f64::from(g.min[k])) / h + 3.0 * rng.unit();
                near.round().clamp(0.0, f64::from(g.dims[k] - 1)) as u32
            });
            let node = g.node(at[0], at[1], at[2]);
            let body = Vec3::from([0, 1, 2].map(|k| f64::from(g.min[k]) + f64::from(at[k]) * h)) + field.center();
            let exact = bvh.closest_point(body).distance_squared.sqrt();
            let phi = f64::from(field.distance(node));
            tested += 1;
            if exact > 3.0 * h || field.sign().membrane_area > 0.0 && phi.abs() < exact {
                continue;
            }
            // 1e-3 of a cell, and what the position's f32 coordinates make of it.
            assert!((phi.abs() - exact).abs() <= 1e-3 * h + 1e-6, "{name} {cells}: {phi} is not {exact} at {at:?}");
        }
        assert!(f64::from(field.rounding()) <= 0.501 * f64::from(field.quantum()) + 1e-6);
    }
}

#[test]
fn bricks_are_the_full_grid_near_the_surface_and_have_its_sign_everywhere() {
    for (name, cells) in MESHES.iter().flat_map(|m| [(m, 40), (m, 100)]) {
        let Some(mesh) = shared_mesh(name) else { continue };
        let (field, full) = (bricks(&mesh, cells), dense(&mesh, cells));
        assert_eq!(field.grid(), full.grid());
        let closed = full.sign().rule != SignRule::WindingNumber;
        let h = full.grid().spacing;
        // The interpolants agree within two cells, up to the quantum; farther out each is near the distance.
        let mut rng = Rng(9);
        let coarse = 0.9 * 8.0 * h;
        for _ in 0..20_000 {
            let p = random_point(full.grid(), &mut rng, 1.5);
            let (a, b) = (field.distance(p), full.distance(p));
            if b.abs() < 1.2 * h {
                assert!((a - b).abs() <= 1e-3 * h, "{name} {cells}: {a} is not {b} at {p:?}");
            } else {
                assert_eq!(a < 0.0, b < 0.0, "{name} {cells}: {a} and {b} at {p:?}");
                assert!((a - b).abs() <= coarse || !closed, "{name} {cells}: {a} is far from {b} at {p:?}");
            }
        }
    }
}

#[test]
fn sign_is_that_of_the_winding_number() {
    for name in MESHES {
        let Some(mesh) = shared_mesh(name) else { continue };
        // Wound inward, all of it.
        let inward = name.contains("alpha") || name.contains("horse");
        let field = bricks(&mesh, 90);
        let bvh = Bvh::build(&mesh);
        let h = f64::from(field.grid().spacing);
        let mut rng = Rng(4);
        let (mut tested, mut within) = (0, 0);
        for _ in 0..3000 {
            let p = random_point(field.grid(), &mut rng, 1.2);
            let phi = f64::from(field.distance(p));
            let body = Vec3::from(p.map(f64::from)) + field.center();
            let w = bvh.winding_number(body) * if inward { -1.0 } else { 1.0 };
            // Not where the interpolant may round a corner, nor where a membrane may be either side.
            if phi.abs() < 1.8 * h || (w - 0.5).abs() < 0.2 || !mesh.bounds().contains(&body) {
                continue;
            }
            assert_eq!(phi < 0.0, w > 0.5, "{name}: {phi}, winding number {w} at {body}");
            tested += 1;
            within += usize::from(w > 0.5);
        }
        assert!(tested > 300 && within > 0, "{name}: {tested} {within}");
    }
}

#[test]
fn lower_bounds_hold_on_cooked_fields() {
    for (name, cells) in [("bunny_3k_libigl.obj", 100), ("fandisk_6k_cad.obj", 60), ("teapot_3k_open.obj", 80)] {
        let Some(mesh) = shared_mesh(name) else { continue };
        let field = bricks(&mesh, cells);
        let mut rng = Rng(6);
        let (mut clear, mut tight) = (0, 0);
        for n in 0..4000 {
            let c = random_point(field.grid(), &mut rng, if n % 5 == 0 { 3.0 } else { 1.0 });
            let r = (f64::from(field.grid().spacing) * 10f64.powf(rng.unit() * 1.5)) as f32;
            check_ball(&field, c, r, &mut rng);
            // Not a matter of being right, but of being worth anything: a ball well clear of the surface is seen to be so.
            let phi = field.distance(c);
            if phi > r + 4.5 * field.grid().spacing {
                clear += 1;
                tight += usize::from(field.lower_bound(c, r) > 0.0);
            }
        }
        assert!(clear > 500 && tight as f64 > 0.9 * clear as f64, "{name}: {tight} of {clear}");
    }
}

#[test]
fn mass_is_that_of_the_full_grid() {
    let mut open = primitives::torus_knot(2, 3, 0.3, 0.09, 120, 16).unwrap();
    open.triangles.truncate(open.triangles.len() - 40);
    let (full, field) = (dense(&open, 75), bricks(&open, 75));
    let (a, b) = (mass_from_field(&full).unwrap(), mass_from_bricks(&field).unwrap());
    assert!((a.volume / b.volume - 1.0).abs() < 1e-4, "{} {}", a.volume, b.volume);
    for k in 0..3 {
        assert!((a.center_of_mass[k] - b.center_of_mass[k]).abs() < 1e-4);
        assert!((a.inertia[k] / b.inertia[k] - 1.0).abs() < 1e-3, "{:?} {:?}", a.inertia, b.inertia);
    }
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let ball = primitives::sphere(0.5, 3).unwrap();
    let mut open = ball.clone();
    open.triangles.truncate(1000);
    let mut meshes = vec![ball, open];
    meshes.extend(shared_mesh("bunny_3k_libigl.obj"));
    for mesh in meshes {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let field = pool.install(|| bricks(&mesh, 130));
            (format!("{:?}", field.parts().0), field.parts().1, field.parts().2.to_vec())
        };
        let one = run(1);
        assert!(one == run(2) && one == run(4));
    }
}

#[test]
fn memory_is_what_the_surface_needs_and_checked_first() {
    let mesh = primitives::sphere(0.5, 4).unwrap();
    let limited = |cells, memory_limit| {
        let options = FieldOptions { memory_limit, ..FieldOptions::with_resolution(&mesh, cells) };
        BrickField::cook(&mesh, &options, &Progress::none())
    };
    // A full grid would be 530 MB.
    let field = limited(500, 80 << 20).unwrap();
    assert!(field.bytes() < 45 << 20, "{}", field.bytes());
    let Error::TooLarge { needed, limit, .. } = limited(500, 40 << 20).unwrap_err() else { panic!("not TooLarge") };
    assert!(limit == 40 << 20 && needed > field.bytes() && needed < 80 << 20, "{needed} {}", field.bytes());
    assert!(matches!(limited(500, 1000), Err(Error::TooLarge { .. })));
    let tiny = FieldOptions::new(1e-7);
    assert!(matches!(BrickField::cook(&mesh, &tiny, &Progress::none()), Err(Error::TooLarge { .. })));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = BrickField::cook(&mesh, &FieldOptions::new(bad), &Progress::none()).unwrap_err();
        assert!(error.to_string().contains("voxel_size"), "{bad}");
    }
}

#[test]
fn cooking_reports_and_stops_when_asked() {
    let mesh = primitives::sphere(0.5, 3).unwrap();
    let options = FieldOptions::with_resolution(&mesh, 200);
    for stage in ["distance", "sign", "error"] {
        let seen = std::sync::atomic::AtomicUsize::new(0);
        let stop = |s: &str, f: f64| {
            assert!((0.0..=1.0).contains(&f));
            seen.fetch_add(usize::from(s == stage), std::sync::atomic::Ordering::Relaxed);
            s != stage
        };
        let result = BrickField::cook(&mesh, &options, &Progress::new(&stop));
        assert!(matches!(result, Err(Error::Cancelled)), "{stage}");
        assert!(seen.into_inner() > 0);
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let field = bricks(&primitives::sphere(0.5, 2).unwrap(), 40);
    let (header, numbers, samples) = field.parts();
    let again = BrickField::from_parts(header.clone(), &numbers, samples.into()).unwrap();
    assert!(again == field);
    let refused = |h: &voxshell::field::BrickHeader, n: &[u32], s: &[i16]| {
        BrickField::from_parts(h.clone(), n, s.into()).unwrap_err().to_string()
    };
    assert!(refused(&header, &numbers[1..], samples).contains("samples"));
    assert!(refused(&header, &numbers, &samples[1..]).contains("samples"));
    let mut twice = numbers.clone();
    twice[1] = twice[0];
    assert!(refused(&header, &twice, samples).contains("bricks[1]"));
    twice[1] = u32::MAX;
    assert!(refused(&header, &twice, samples).contains("bricks[1]"));
    let mut bad = header.clone();
    bad.step = 65;
    assert!(refused(&bad, &numbers, samples).contains("step"));
    bad = header.clone();
    bad.quantum = f32::NAN;
    assert!(refused(&bad, &numbers, samples).contains("quantum"));
    bad = header.clone();
    bad.grid.dims[1] += 8;
    assert!(refused(&bad, &numbers, samples).contains("samples"));
}

#[test]
fn avx2_and_baseline_give_the_same_bytes() {
    if !voxshell::field::uses_avx2() {
        eprintln!("skipped: this processor has no AVX2, or VOXSHELL_BASELINE is set");
        return;
    }
    let mesh = primitives::torus_knot(2, 3, 0.3, 0.09, 120, 16).unwrap();
    let fields = [Field::Dense(dense(&mesh, 60)), Field::Bricks(bricks(&mesh, 60))];
    let mut rng = Rng(2);
    let axis = |rng: &mut Rng| (0..4099).map(|_| rng.unit() as f32 * 0.8).collect::<Vec<f32>>();
    let (x, y, z) = (axis(&mut rng), axis(&mut rng), axis(&mut rng));
    let r: Vec<f32> = axis(&mut rng).iter().map(|v| v * v).collect();
    let run = |field: &Field| {
        let (mut d, mut b) = (vec![0.0f32; x.len()], vec![0.0f32; x.len()]);
        field.distance_batch(&x, &y, &z, &mut d);
        field.lower_bound_batch(&x, &y, &z, &r, &mut b);
        let one = |i: usize| field.distance_gradient([x[i], y[i], z[i]]);
        let g: Vec<(f32, [f32; 3])> = (0..x.len()).map(one).collect();
        for i in 0..x.len() {
            assert_eq!(d[i].to_bits(), field.distance([x[i], y[i], z[i]]).to_bits());
            assert_eq!(b[i].to_bits(), field.lower_bound([x[i], y[i], z[i]], r[i]).to_bits());
        }
        (d, b, g)
    };
    // The cooked bytes as well: culling has kernels of its own. Other tests of this binary may run on either path meanwhile:
    // that is the point.
    let wide: Vec<_> = fields.iter().map(run).collect();
    voxshell::field::force_baseline(true);
    assert!(!voxshell::field::uses_avx2());
    let narrow: Vec<_> = fields.iter().map(run).collect();
    let cooked = [Field::Dense(dense(&mesh, 60)), Field::Bricks(bricks(&mesh, 60))];
    voxshell::field::force_baseline(false);
    assert!(voxshell::field::uses_avx2());
    assert!(wide == narrow);
    assert!(cooked == fields);
}
