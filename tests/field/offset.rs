//! Offset surfaces against the analytic distance, and their sign against a brute-force flood fill.

use support::brick::check_ball;
use support::rng::Rng;
use support::shared_mesh;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::cook::{offset_surface, FieldOptions};
use voxshell::field::{DenseField, SignRule, SignedDistance};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::{primitives, Bvh, TriMesh};
use voxshell::Error;

fn options(voxel_size: f64, offset: f64) -> FieldOptions {
    FieldOptions { offset, ..FieldOptions::new(voxel_size) }
}

/// Half edges of the rectangle in the plane z = 0.
const HALF: [f64; 2] = [0.4, 0.25];

fn rectangle() -> TriMesh {
    let [x, y] = HALF;
    let corners = vec![[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]];
    TriMesh::new(corners, vec![[0, 1, 2], [0, 2, 3]]).unwrap()
}

fn to_rectangle(p: Vec3) -> f64 {
    let over = |k: usize| (p[k].abs() - HALF[k]).max(0.0);
    (over(0).powi(2) + over(1).powi(2) + p.z * p.z).sqrt()
}

/// Returns a sphere of radius ½ m with some triangles removed.
fn patches(percent: u64) -> TriMesh {
    let mut rng = Rng(7);
    let mut mesh = primitives::sphere(0.5, 3).unwrap();
    mesh.triangles.retain(|_| rng.next() % 100 >= percent);
    mesh
}

fn position(field: &DenseField, n: usize) -> Vec3 {
    let g = field.grid();
    let [nx, ny, _] = g.dims.map(|d| d as usize);
    let at = [n % nx, n / nx % ny, n / (nx * ny)];
    Vec3::from([0, 1, 2].map(|k| f64::from(g.min[k]) + at[k] as f64 * f64::from(g.spacing))) + field.center()
}

#[test]
fn a_thin_sheet_becomes_a_rounded_slab_to_a_quantum() {
    let (mesh, h) = (rectangle(), 0.013);
    for offset in [1.75 * h, 0.05, 0.13] {
        let options = options(h, offset);
        let full = voxshell::cook::dense_field(&mesh, &options, &Progress::none()).unwrap();
        let field = voxshell::cook::brick_field(&mesh, &options, &Progress::none()).unwrap();
        assert_eq!((full.sign().rule, field.sign().rule), (SignRule::Offset, SignRule::Offset));
        let quantum = f64::from(field.quantum());
        // The level is rounded to a quantum.
        for (n, v) in full.values().iter().enumerate() {
            let exact = to_rectangle(position(&full, n)) - offset;
            assert!((f64::from(*v) - exact).abs() <= 0.51 * quantum + 1e-6, "{offset}: {v} is not {exact}");
        }
        let mut rng = Rng(2);
        let (mut near, mut within) = (0, 0);
        for n in 0..40_000 {
            // Nodes around the surface, and random ones.
            let g = field.grid();
            let at = g.dims.map(|d| (rng.next() % u64::from(d)) as u32);
            let node = g.node(at[0], at[1], at[2]);
            let phi = f64::from(field.distance(node));
            let body = Vec3::from(node.map(f64::from)) + field.center();
            let exact = to_rectangle(body) - offset;
            if exact.abs() < 2.9 * h {
                assert!((phi - exact).abs() <= 1.6 * quantum + 1e-6, "{offset}: {phi} is not {exact} at {body}, {n}");
                near += 1;
                within += u64::from(exact < 0.0);
            } else {
                assert_eq!(phi < 0.0, exact < 0.0, "{offset}: {phi} is not {exact} at {body}");
            }
        }
        assert!(near > 2000 && within > 300, "{near} {within}");
        // The measured error is that of interpolating a rounded corner, up to a cell inside the surface.
        let sagitta = 2.0 * h * h / (8.0 * (offset - h));
        for error in [full.error(), field.error()] {
            assert!(error.samples > 8000 && error.max < sagitta + 2.0 * quantum, "{error:?} {sagitta}");
        }
        let [a, b] = HALF;
        let pi = std::f64::consts::PI;
        let volume = 8.0 * a * b * offset + 2.0 * pi * offset.powi(2) * (a + b) + 4.0 / 3.0 * pi * offset.powi(3);
        let surface = offset_surface(&mesh, &options, &Progress::none()).unwrap();
        let report = surface.report();
        assert!(report.closed && report.consistent && (report.volume / volume - 1.0).abs() < 0.04, "{report} {volume}");
        let grown = full.bounds();
        assert!((0..2).all(|k| (grown.max[k] - HALF[k] - offset).abs() < 1e-4), "{grown:?}");
    }
}

/// Returns the outside by brute force: the nodes that can be reached from the border over nodes farther than σ.
fn reached(field: &DenseField, distance: &[f64], sigma: f64) -> Vec<bool> {
    let [nx, ny, nz] = field.grid().dims.map(|n| n as usize);
    let mut seen = vec![false; distance.len()];
    let mut stack = Vec::new();
    for n in 0..distance.len() {
        let [i, j, k] = [n % nx, n / nx % ny, n / (nx * ny)];
        if i == 0 || j == 0 || k == 0 || i + 1 == nx || j + 1 == ny || k + 1 == nz {
            seen[n] = true;
            stack.push(n);
        }
    }
    while let Some(n) = stack.pop() {
        for step in [1, nx, nx * ny] {
            for other in [n.checked_sub(step), n.checked_add(step)].into_iter().flatten() {
                if other < seen.len() && !seen[other] && distance[other] > sigma {
                    seen[other] = true;
                    stack.push(other);
                }
            }
        }
    }
    seen
}

#[test]
fn sign_is_that_of_a_flood_fill_and_cavities_are_filled() {
    let mut meshes = vec![("sphere of patches, tight", patches(10), 0.06, true), ("open", patches(40), 0.04, false)];
    let mut two = patches(0);
    let base = two.vertices.len() as u32;
    let inner = primitives::sphere(0.2, 2).unwrap();
    two.vertices.extend(&inner.vertices);
    two.triangles.extend(inner.triangles.iter().map(|t| t.map(|i| i + base)));
    meshes.push(("ball in a ball", two, 0.05, true));
    meshes.extend(shared_mesh("teapot_3k_open.obj").map(|m| ("teapot", m, 0.04, true)));
    for (name, mesh, offset, tight) in meshes {
        let options = options(0.021, offset);
        let full = voxshell::cook::dense_field(&mesh, &options, &Progress::none()).unwrap();
        let field = voxshell::cook::brick_field(&mesh, &options, &Progress::none()).unwrap();
        let (bvh, h) = (Bvh::build(&mesh), f64::from(full.grid().spacing));
        let quantum = f64::from(field.quantum());
        let distance: Vec<f64> =
            (0..full.values().len()).map(|n| bvh.closest_point(position(&full, n)).distance_squared.sqrt()).collect();
        let outside = reached(&full, &distance, offset);
        let (mut filled, mut wrong) = (0, 0);
        for (n, v) in full.values().iter().enumerate() {
            let (v, f) = (f64::from(*v), distance[n] - offset);
            if f.abs() > quantum {
                let local = position(&full, n) - full.center();
                let phi = field.distance([local.x as f32, local.y as f32, local.z as f32]);
                assert_eq!(v > 0.0, outside[n], "{name}: {v} at a node with {f}");
                // Coarse bricks round values far away, and seams those beyond the band.
                assert_eq!(phi > 0.0, outside[n], "{name}: {phi} in bricks at a node with {f}");
                wrong += usize::from(outside[n] && (v - f).abs() > quantum);
                if !outside[n] && f > 0.0 {
                    // No nearer to the surface than the far side of the wall, except in pockets in gaps of about 2 σ.
                    assert!(!tight || v < -1.9 * offset + 2.0 * h, "{name}: {v} in a cavity");
                    filled += 1;
                }
            }
        }
        assert!(wrong * 1000 <= full.values().len(), "{name}: {wrong} nodes outside are not d less the offset");
        assert_eq!(filled > 100, tight, "{name}: {filled} nodes of cavities");
        assert!(full.node_lipschitz() < 1.001 && field.node_lipschitz() < 1.001);
        let mut rng = Rng(8);
        for _ in 0..300 {
            let at = field.grid().dims.map(|d| (rng.next() % u64::from(d)) as u32);
            let c = field.grid().node(at[0], at[1], at[2]);
            check_ball(&field, c, (h * 10f64.powf(rng.unit() * 1.5)) as f32, &mut rng);
        }
        // The values of neighbours, and of random nodes, differ by at most the distance between them.
        for _ in 0..40_000 {
            let a = (rng.next() % full.values().len() as u64) as usize;
            let b = (a + 1 + (rng.next() % 3) as usize * full.grid().dims[0] as usize) % full.values().len();
            let apart = (position(&full, a) - position(&full, b)).norm();
            let rise = f64::from((full.values()[a] - full.values()[b]).abs());
            assert!(rise <= apart * 1.000_001 + 1e-6, "{name}: {rise} over {apart}");
        }
    }
}

/// Two sides of a sheet bound nothing, and the sign rule drops them.
#[test]
fn the_error_of_a_sheet_with_two_sides_is_that_of_one() {
    let one = rectangle();
    let mut two = one.clone();
    two.triangles.extend(one.triangles.iter().map(|t| [t[0], t[2], t[1]]));
    let options = options(0.05, 0.13);
    let of = |mesh: &TriMesh| voxshell::cook::dense_field(mesh, &options, &Progress::none()).unwrap().error();
    let (expected, error) = (of(&one), of(&two));
    assert!(expected.max < 0.05, "{expected:?}");
    assert_eq!((error.max, error.rms), (expected.max, expected.rms));
}

#[test]
fn offsets_that_leak_are_refused_and_memory_is_checked() {
    let mesh = rectangle();
    for offset in [0.017, -0.1, f64::NAN, f64::INFINITY] {
        let options = options(0.01, offset);
        let dense = voxshell::cook::dense_field(&mesh, &options, &Progress::none()).unwrap_err().to_string();
        let bricks = voxshell::cook::brick_field(&mesh, &options, &Progress::none()).unwrap_err().to_string();
        assert!(dense.contains("offset") && dense.contains("leak") && dense == bricks, "{dense}");
    }
    assert!(offset_surface(&mesh, &options(0.01, 0.0), &Progress::none()).is_err());
    let limited = FieldOptions { memory_limit: 1 << 20, ..options(0.004, 0.01) };
    for error in [
        voxshell::cook::dense_field(&mesh, &limited, &Progress::none()).unwrap_err(),
        voxshell::cook::brick_field(&mesh, &limited, &Progress::none()).unwrap_err(),
    ] {
        assert!(matches!(error, Error::TooLarge { limit, .. } if limit == 1 << 20), "{error}");
    }
}

#[test]
fn an_offset_shape_is_a_solid_with_samples_on_its_surface() {
    let mut cook = CookOptions { resolution: Resolution::VoxelSize(0.02), ..CookOptions::default() };
    cook.field.offset = 0.05;
    let shape = Shape::cook(&rectangle(), &cook, &Progress::none()).unwrap();
    let [a, b] = HALF;
    let volume = 8.0 * a * b * 0.05 + 2.0 * std::f64::consts::PI * 0.05f64.powi(2) * (a + b);
    let mass = shape.mass.unwrap();
    assert!(!mass.exact && (mass.volume / volume - 1.0).abs() < 0.05, "{} {volume}", mass.volume);
    let shell = shape.shell.unwrap();
    assert!(shell.len() > 1000);
    let on = |n: usize| to_rectangle(Vec3::from([shell.x[n], shell.y[n], shell.z[n]].map(f64::from)) + shell.origin);
    assert!((0..shell.len()).all(|n| (on(n) - 0.05).abs() < 0.25 * 0.02));
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let mesh = patches(10);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| voxshell::cook::brick_field(&mesh, &options(0.02, 0.05), &Progress::none()).unwrap())
    };
    assert!(run(1) == run(3));
}
