//! Certified values of fields on grids, tested everywhere: every cell, its corners, faces and inside; and bricks
//! against the dense grid within the bound that `BrickField` states.

use proptest::prelude::*;
use support::brick::{bricks, definition, dense, random_dense, random_dense_of, rounding};
use support::rng::Rng;
use support::shared_mesh;
use voxshell::field::{BrickField, BrickHeader, DenseField, FieldError, Grid, SignedDistance};
use voxshell::math::{Aabb, Vec3};
use voxshell::mesh::primitives;

/// Returns true if a coarse brick shares the node.
fn on_seam(field: &BrickField, node: [u32; 3]) -> bool {
    let n = field.bricks();
    (0..8).any(|c| {
        // The bricks on both sides of the node along each axis; a single one if the node is inside.
        let at = [0, 1, 2].map(|k| (node[k] / 8).checked_sub((c >> k & 1) * u32::from(node[k] % 8 == 0)));
        let Some([i, j, k]) = at[0].zip(at[1]).zip(at[2]).map(|((i, j), k)| [i, j, k]) else { return false };
        let inside = i < n[0] && j < n[1] && k < n[2];
        inside && field.fine(((k * n[1] + j) * n[0] + i) as usize).is_none()
    })
}

fn number(field: &BrickField, cell: [u32; 3]) -> usize {
    let [i, j, k] = cell.map(|c| c / 8);
    ((k * field.bricks()[1] + j) * field.bricks()[0] + i) as usize
}

fn cells(grid: &Grid) -> impl Iterator<Item = [u32; 3]> {
    let [nx, ny, nz] = grid.dims.map(|n| n - 1);
    (0..nz).flat_map(move |k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])))
}

/// Relation of a cell of a brick field to coarse bricks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Own samples at every corner.
    Fine,
    /// In a fine brick, with a corner shared with a coarse one.
    Seam,
    Coarse,
}

fn kind(field: &BrickField, cell: [u32; 3]) -> Kind {
    if field.fine(number(field, cell)).is_none() {
        return Kind::Coarse;
    }
    let corner = |c: u32| [0, 1, 2].map(|k| cell[k] + (c >> k & 1));
    if (0..8).any(|c| on_seam(field, corner(c))) {
        Kind::Seam
    } else {
        Kind::Fine
    }
}

/// Returns the position of a point of a cell, in f64, local frame.
fn within(grid: &Grid, cell: [u32; 3], f: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|k| f64::from(grid.min[k]) + (f64::from(cell[k]) + f[k]) * f64::from(grid.spacing))
}

/// Returns a bound on |bricks − dense| in a cell of some kind. Both are means of distances at random corners around the
/// point; two such means differ by at most K √(E|X − Y|²), where the variances of the corners add; samples are also
/// rounded.
fn bound(field: &BrickField, full: &DenseField, kind: Kind) -> f64 {
    let k = f64::from(field.node_lipschitz().max(full.node_lipschitz())) * f64::from(field.grid().spacing);
    let quantum = f64::from(field.quantum());
    let half = 0.5 * f64::from(field.coarse_quantum());
    match kind {
        Kind::Fine => 0.5 * quantum,
        Kind::Seam => k * (0.75 + 0.75 + 32f64).sqrt() + half + quantum,
        Kind::Coarse => k * (0.75 + 48f64).sqrt() + half,
    }
}

/// Checks bricks against the dense grid at points of every cell, of the grid's surroundings, and far away.
fn check_against(field: &BrickField, full: &DenseField, rng: &mut Rng, thin: usize) -> Result<[usize; 3], String> {
    assert_eq!(field.grid(), full.grid());
    let grid = *field.grid();
    let slack = rounding(field);
    let mut seen = [0; 3];
    let mut compare = |kind: Kind, p: [f32; 3], slack: f64| {
        let (a, b) = (f64::from(field.distance(p)), f64::from(full.distance(p)));
        let most = bound(field, full, kind) + slack;
        seen[kind as usize] += 1;
        if (a - b).abs() <= most {
            Ok(())
        } else {
            Err(format!("{kind:?} cell: {a} is not {b} to {most} at {p:?}"))
        }
    };
    for (n, cell) in cells(&grid).enumerate() {
        let kind = kind(field, cell);
        if n % thin != 0 && kind != Kind::Seam {
            continue;
        }
        // A corner, a point of a face or an edge, and a point inside.
        let mut faces = [0, 1, 2].map(|_| rng.fraction());
        (0..3).for_each(|k| {
            if rng.next() % 2 == 0 {
                faces[k] = faces[k].round()
            }
        });
        for f in [[0.0; 3], faces, [0, 1, 2].map(|_| 0.01 + 0.98 * rng.fraction())] {
            // On a face rounding may select the neighbour, so its bound must hold as well.
            let near = (0..27).filter_map(|n: u32| {
                let step = [n % 3, n / 3 % 3, n / 9];
                let reaches =
                    (0..3).all(|k| step[k] == 1 || f[k] < 0.01 && step[k] == 0 || f[k] > 0.99 && step[k] == 2);
                let other: [i64; 3] = [0, 1, 2].map(|k| i64::from(cell[k]) + i64::from(step[k]) - 1);
                let there = (0..3).all(|k| (0..i64::from(grid.dims[k]) - 1).contains(&other[k]));
                (reaches && there).then(|| self::kind(field, other.map(|c| c as u32)))
            });
            let worst = near.max_by_key(|&k| k as usize).unwrap();
            compare(worst, within(&grid, cell, f).map(|x| x as f32), slack)?;
        }
    }
    for n in 0..2000 {
        let far = if n % 2 == 0 { 3.0 } else { 10f64.powf(6.0 * rng.fraction()) };
        let p = [0, 1, 2].map(|k| {
            let (low, high) = (f64::from(grid.min[k]), f64::from(grid.max()[k]));
            (0.5 * (low + high) + 0.5 * (high - low) * far * rng.unit()) as f32
        });
        let distance = p.iter().zip(grid.min).fold(0.0, |a: f64, (x, m)| a.max(f64::from((x - m).abs())));
        compare(Kind::Coarse, p, slack + 1e-6 * distance)?;
    }
    Ok(seen)
}

/// Returns a field of random parts that need not come from any mesh: extremes, noise and constant regions.
fn random_parts(seed: u64) -> BrickField {
    let mut rng = Rng(seed);
    let whole = rng.next() % 3 > 0;
    let dims = [0, 1, 2].map(|_| if whole { 9 + 8 * (rng.next() % 3) } else { 2 + rng.next() % 24 } as u32);
    let grid = Grid { dims, spacing: 10f64.powf(2.0 * rng.unit()) as f32, min: [0; 3].map(|_| rng.unit() as f32) };
    let total: u32 = dims.iter().map(|n| (n - 1).div_ceil(8)).product();
    let numbers: Vec<u32> = (0..total).filter(|_| rng.next() % 3 > 0).collect();
    let header = BrickHeader {
        grid,
        fine: numbers.len() as u32,
        quantum: grid.spacing / 1920.0,
        step: 64 << (rng.next() % 4),
        node_lipschitz: 1.0,
        rounding: 0.0,
        center: Vec3::new(0.5, 0.0, -3.0),
        bounds: Aabb::empty(),
        error: FieldError::default(),
        sign: *random_dense(seed).sign(),
    };
    let kind = rng.next() % 4;
    let extremes = [i16::MIN, i16::MIN + 1, -32_000, -1, 0, 1, 32_000, i16::MAX];
    let mut sample = || match kind {
        0 => extremes[(rng.next() % 8) as usize],
        1 => rng.next() as i16,
        2 => 20_000 + (rng.next() % 100) as i16,
        _ => -(3000 + (rng.next() % 2000) as i16),
    };
    // 9³ samples and a rise for each fine brick.
    let fine = (0..numbers.len() * 730).map(|_| sample()).collect();
    let corners = dims.iter().map(|n| (n - 1).div_ceil(8) as usize + 1).product();
    let coarse: Vec<i16> = (0..corners).map(|_| sample()).collect();
    BrickField::from_separate(header, numbers, fine, &coarse).unwrap()
}

/// Checks the constants of a brick field against its definition at points of every cell: five along each axis, faces
/// included.
fn check_constants(field: &BrickField) -> Result<(), String> {
    let grid = *field.grid();
    let mut steepest = 0.0f64;
    let rounding = 1e-9 * rounding(field);
    for cell in cells(&grid) {
        let calm = kind(field, cell) != Kind::Fine;
        for n in 0..125 {
            // Not exactly on the faces, where another cell may be selected.
            let f = [n % 5, n / 5 % 5, n / 25].map(|i| [1e-9, 0.25, 0.5, 0.75, 1.0 - 1e-9][i]);
            let p = within(&grid, cell, f);
            let (phi, g) = definition(field, p, [false; 3]);
            steepest = steepest.max(g.iter().map(|x| x * x).sum::<f64>().sqrt());
            if calm && phi.abs() < f64::from(field.calm()) - rounding {
                return Err(format!("|{phi}| < {} at {p:?} of a calm cell", field.calm()));
            }
            if phi <= 0.0 && !field.bounds().inflated(rounding).contains(&(Vec3::from(p) + field.center())) {
                return Err(format!("{phi} at {p:?} is out of {:?}", field.bounds()));
            }
        }
    }
    let lipschitz = f64::from(field.lipschitz());
    // Certified, and no larger than necessary if no brick reaches beyond the grid.
    let whole = grid.dims.iter().all(|n| n % 8 == 1);
    if steepest > lipschitz * (1.0 + 1e-7) + 1e-12 || whole && steepest < 0.999 * lipschitz - 1e-12 {
        return Err(format!("the steepest gradient is {steepest}, the Lipschitz constant {lipschitz}"));
    }
    Ok(())
}

proptest! {
    #![proptest_config(support::cases(60))]

    #[test]
    fn bricks_of_a_full_grid_are_it_within_the_bound_everywhere(seed in any::<u64>().no_shrink()) {
        let full = random_dense(seed);
        let field = BrickField::from_dense(&full).unwrap();
        let result = check_against(&field, &full, &mut Rng(seed), 7);
        prop_assert!(result.is_ok(), "{}", result.unwrap_err());
    }

    #[test]
    fn constants_hold_in_every_cell_and_are_tight(seed in any::<u64>().no_shrink()) {
        let mut rng = Rng(seed);
        // Few cells, because each is tested; usually of whole bricks.
        let whole = rng.next() % 3 > 0;
        let dims = [0, 1, 2].map(|_| if whole { 9 + 8 * (rng.next() % 3) } else { 2 + rng.next() % 24 } as u32);
        let field = BrickField::from_dense(&random_dense_of(dims, seed)).unwrap();
        let result = check_constants(&field);
        prop_assert!(result.is_ok(), "{}", result.unwrap_err());
    }

    #[test]
    fn constants_hold_for_parts_that_are_samples_of_nothing(seed in any::<u64>().no_shrink()) {
        let field = random_parts(seed);
        let result = check_constants(&field);
        prop_assert!(result.is_ok(), "{}", result.unwrap_err());
        let mut rng = Rng(seed);
        for _ in 0..100 {
            let p = [0, 1, 2].map(|k| (rng.unit() * 2.0) as f32 * (field.grid().max()[k] - field.grid().min[k]));
            let (phi, g) = field.distance_gradient(p);
            prop_assert!(phi.is_finite() && g.iter().all(|x| x.is_finite()));
            prop_assert!(field.lower_bound(p, 0.0) <= phi);
        }
    }
}

#[test]
fn cooked_bricks_equal_the_cooked_grid_within_the_bound() {
    let mut open = primitives::torus_knot(2, 3, 0.3, 0.09, 120, 16).unwrap();
    open.triangles.truncate(open.triangles.len() - 60);
    // Deep inside: the bricks around the middle are coarse.
    let mut meshes = vec![("ball", primitives::sphere(0.5, 4).unwrap()), ("open knot", open)];
    for name in ["bunny_3k_libigl.obj", "fandisk_6k_cad.obj", "teapot_3k_open.obj", "concave_box_169.obj"] {
        meshes.extend(shared_mesh(name).map(|m| (name, m)));
    }
    for (name, mesh) in meshes {
        let (field, full) = (bricks(&mesh, 75), dense(&mesh, 75));
        let seen = check_against(&field, &full, &mut Rng(3), 5).unwrap_or_else(|e| panic!("{name}: {e}"));
        let all = seen.iter().all(|&n| n > 1000);
        assert!(all || name != "ball" && seen[0] > 1000, "{name}: {seen:?}");
    }
}
