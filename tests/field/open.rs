//! Open surfaces cooked in bricks, against the same surfaces on a dense grid.

use support::brick::{bricks, dense};
use support::rng::Rng;
use support::shared_mesh;
use voxshell::cook::FieldOptions;
use voxshell::field::{SignReport, SignRule, UNCERTAIN};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::{primitives, Bvh, TriMesh};
use voxshell::Error;

/// Returns damaged meshes: triangles left out, turned, doubled, flattened.
fn soups() -> Vec<(String, TriMesh, u32)> {
    let mut rng = Rng(11);
    let mut soups = Vec::new();
    for (name, mesh) in [
        ("sphere", primitives::sphere(0.5, 3).unwrap()),
        ("knot", primitives::torus_knot(2, 3, 0.3, 0.09, 90, 12).unwrap()),
        ("bowl", primitives::bowl(0.5, 0.1, 24).unwrap()),
    ] {
        let few = |rng: &mut Rng, percent: u64| rng.next() % 100 < percent;
        let mut holes = mesh.clone();
        holes.triangles.retain(|_| !few(&mut rng, 4));
        let mut flips = holes.clone();
        flips.triangles.iter_mut().for_each(|t| {
            if few(&mut rng, 10) {
                t.swap(0, 1);
            }
        });
        let mut messy = flips.clone();
        for t in flips.triangles.iter().filter(|_| few(&mut rng, 10)) {
            // Once more, and once with zero area.
            messy.triangles.extend([*t, [t[0], t[1], t[0]]]);
        }
        let mut half = mesh.clone();
        half.triangles.truncate(mesh.triangles.len() / 2);
        for (what, soup) in [("holes", holes), ("holes and flips", flips), ("all of it", messy), ("half", half)] {
            soups.push((format!("{name}, {what}"), soup, 50));
        }
    }
    let mut rng = Rng(3);
    let corners: Vec<[f64; 3]> = (0..240).map(|_| [rng.unit(), rng.unit(), 0.4 * rng.unit()]).collect();
    let triangles = (0..80).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    soups.push((
        "triangles that have nothing to do with each other".into(),
        TriMesh::new(corners, triangles).unwrap(),
        60,
    ));
    // Its membrane extends far from any edge: half of a ball, with more bodies inside.
    let mut two = primitives::sphere(0.5, 3).unwrap();
    let inner = primitives::sphere(0.2, 2).unwrap();
    two.triangles.truncate(two.triangles.len() * 6 / 10);
    let base = two.vertices.len() as u32;
    two.vertices.extend(inner.vertices.iter().map(|v| [v[0] + 0.1, v[1], v[2]]));
    two.triangles.extend(inner.triangles.iter().map(|t| t.map(|i| i + base)));
    soups.push(("an open ball with a closed one".into(), two, 90));
    soups
}

/// Checks every sample of every brick, and every corner, against the node of the dense grid.
fn check_against_dense(name: &str, mesh: &TriMesh, cells: u32) {
    let (field, full) = (bricks(mesh, cells), dense(mesh, cells));
    assert_eq!(field.sign().rule, SignRule::WindingNumber, "{name}: {}", field.sign());
    assert_eq!(field.grid(), full.grid());
    let (g, bvh) = (full.grid(), Bvh::build(mesh));
    let (h, quantum) = (g.spacing, field.quantum());
    let sure = |at: [u32; 3]| {
        let p = Vec3::from([0, 1, 2].map(|k| f64::from(g.min[k]) + f64::from(at[k]) * f64::from(h))) + full.center();
        // The sign rule turns triangles, so w changes; its distance from ½ does not grow.
        (bvh.winding_number(p).abs() - 0.5).abs() > 0.01
    };
    let [nx, ny, nz] = field.bricks();
    let (mut fine, mut near, mut inside, mut other) = (0, 0, 0, 0);
    for number in 0..(nx * ny * nz) as usize {
        let n = number as u32;
        let first = [n % nx, n / nx % ny, n / (nx * ny)].map(|i| 8 * i);
        let in_grid = |at: [u32; 3]| (0..3).all(|k| at[k] < g.dims[k]);
        let value = |at: [u32; 3]| full.values()[g.index(at[0], at[1], at[2])];
        let Some(samples) = field.fine(number) else {
            let corners = field.corners(number);
            let one = corners.iter().all(|&v| v < 0.0) || corners.iter().all(|&v| v >= 0.0);
            assert!(one, "{name}: {corners:?} in a brick without samples");
            // All nodes of the brick have the sign of its corners.
            for n in 0..729 {
                let at = [0, 1, 2].map(|k| first[k] + [n % 9, n / 9 % 9, n / 81][k]);
                if in_grid(at) {
                    assert!(value(at).abs() > 2.999 * h, "{name}: a brick at {first:?} is missing: {}", value(at));
                    if (value(at) < 0.0) != (corners[0] < 0.0) {
                        assert!(!sure(at), "{name} at {at:?}: {} in a brick with {corners:?}", value(at));
                        other += 1;
                    }
                }
            }
            continue;
        };
        fine += 1;
        for (n, &s) in (0..).zip(samples) {
            let at = [0, 1, 2].map(|k| first[k] + [n % 9, n / 9 % 9, n / 81][k]);
            if !in_grid(at) {
                continue;
            }
            let (v, s) = (value(at), f32::from(s) * quantum);
            if v.abs() > 2.0 * quantum && (s < 0.0) != (v < 0.0) {
                assert!(!sure(at), "{name} at {at:?}: {s} is not {v}");
                other += 1;
            } else if v.abs() < 2.999 * h {
                assert!((s - v).abs() <= quantum, "{name} at {at:?}: {s} is not {v}, voxels of {h}");
                near += 1;
                inside += u64::from(v < 0.0);
            }
        }
    }
    assert!(fine > 20 && inside > 100, "{name}: {fine} {inside}");
    assert!(other * 1000 <= near, "{name}: {other} of {near} have the other sign");
    let (a, b) = (field.sign().membrane_area, full.sign().membrane_area);
    assert!((a - b).abs() <= 1e-3 * b + 1e-9, "{name}: membranes of {a} and {b} m²");
}

#[test]
fn bricks_of_open_surfaces_are_those_of_the_full_grid() {
    let names = [
        "bunny_34k_raw_holes.obj",
        "teapot_3k_open.obj",
        "dragon_10k_open.obj",
        "alpha_puzzle_robot.obj",
        "alpha_puzzle_env15.obj",
    ];
    for name in names {
        let Some(mesh) = shared_mesh(name) else { continue };
        for cells in [40, 90] {
            check_against_dense(name, &mesh, cells);
        }
    }
    for (name, mesh, cells) in soups() {
        check_against_dense(&name, &mesh, cells);
    }
}

/// Returns a ball of radius ½ m without the caps beyond ±0.4 m along z.
fn two_holes() -> TriMesh {
    let mut open = primitives::sphere(0.5, 4).unwrap();
    let below = |t: &[u32; 3]| t.iter().all(|&i| open.vertices[i as usize][2].abs() < 0.4);
    open.triangles = open.triangles.iter().filter(|t| below(t)).copied().collect();
    open
}

#[test]
fn the_report_counts_the_sign_rules_and_the_least_certain_node() {
    let (mesh, closed) = (two_holes(), primitives::sphere(0.5, 3).unwrap());
    let h = 1.0 / 90.0;
    let check = |sign: &SignReport| {
        assert!(sign.decided.crossings == 0 && sign.decided.winding_number > 100);
        assert!(sign.decided.flooding > 3 * sign.decided.winding_number, "{sign}");
        // The level w = ½ is a nearly flat disk in either hole, of radius 0.3 m; elsewhere w is 0 or 1.
        assert!(sign.uncertain_nodes > 1000, "{sign}");
        let (min, max) = (sign.uncertain_box.min, sign.uncertain_box.max);
        let near = |x: f64, expected: f64| (x - expected).abs() < 0.06;
        assert!((0..2).all(|k| near(-min[k], 0.3) && near(max[k], 0.3)), "{min} {max}");
        assert!(near(-min[2], 0.42) && near(max[2], 0.42), "{min} {max}");
        let places: Vec<_> = sign.least_sure.iter().flatten().collect();
        assert!(places.windows(2).all(|p| p[0].margin() <= p[1].margin()));
        assert!(places[0].margin() < 0.02 && places.iter().all(|p| p.margin() < UNCERTAIN));
        let bvh = Bvh::build(&mesh);
        for (n, p) in places.iter().enumerate() {
            assert!((bvh.winding_number(p.position) - p.winding_number).abs() < 2e-3);
            assert!((p.position.z.abs() - 0.4).abs() < 4.0 * h && p.position.xy().norm() < 0.33, "{}", p.position);
            assert!(places[..n].iter().all(|q| (q.position - p.position).norm() > 0.12));
        }
        for side in [-1.0, 1.0] {
            assert!(places.iter().any(|p| p.position.z * side > 0.0), "{places:?}");
        }
    };
    let (field, full) = (bricks(&mesh, 90), dense(&mesh, 90));
    check(field.sign());
    check(full.sign());
    let count = |s: &SignReport| s.decided.crossings + s.decided.winding_number + s.decided.flooding;
    assert_eq!(count(full.sign()), full.grid().len() as u64);
    let full = dense(&closed, 40);
    assert_eq!(full.sign().decided.crossings, full.grid().len() as u64);
    assert_eq!(count(full.sign()), full.sign().decided.crossings);
    assert!(full.sign().uncertain_box.is_empty() && full.sign().least_sure == [None; 4]);
    let field = bricks(&closed, 40);
    let corners: u64 = field.bricks().iter().map(|&n| u64::from(n + 1)).product();
    assert_eq!(field.sign().decided.crossings, corners + 729 * field.fine_bricks() as u64);
}

#[test]
fn memory_is_what_the_surface_needs() {
    let mut mesh = primitives::sphere(0.5, 4).unwrap();
    mesh.triangles.truncate(mesh.triangles.len() - 30);
    let limited = |memory_limit| {
        let options = FieldOptions { memory_limit, ..FieldOptions::with_resolution(&mesh, 500) };
        voxshell::cook::brick_field(&mesh, &options, &Progress::none())
    };
    // A dense grid would take 530 MB, and one more byte for each node.
    let field = limited(120 << 20).unwrap();
    assert!(field.sign().membrane_area > 0.01, "{}", field.sign());
    let Error::TooLarge { needed, limit, .. } = limited(50 << 20).unwrap_err() else { panic!("not TooLarge") };
    assert!(limit == 50 << 20 && needed > field.bytes() && needed < 120 << 20, "{needed} {}", field.bytes());
}
