//! Cooked fields against the exact f64 oracle (closest point and winding number of the mesh's hierarchy).

mod support;

use support::shared_mesh;
use voxshell::field::{DenseField, FieldOptions, SignRule, SignedDistance};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::{Bvh, TriMesh};
use voxshell::Error;

fn rng(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn cook(mesh: &TriMesh, cells: u32) -> DenseField {
    DenseField::cook(mesh, &FieldOptions::with_resolution(mesh, cells), &Progress::none()).unwrap()
}

fn node(field: &DenseField, n: usize) -> Vec3 {
    let g = field.grid();
    let [nx, ny, _] = g.dims.map(|d| d as usize);
    let at = [n % nx, n / nx % ny, n / (nx * ny)];
    let h = f64::from(g.spacing);
    Vec3::from([0, 1, 2].map(|k| f64::from(g.min[k]) + at[k] as f64 * h)) + field.center()
}

/// An icosahedron's faces split `levels` times, on the unit sphere.
fn ball(levels: u32, center: Vec3, radius: f64) -> TriMesh {
    let t = (1.0 + 5f64.sqrt()) / 2.0;
    let mut v: Vec<Vec3> = [
        [-1.0, t, 0.0],
        [1.0, t, 0.0],
        [-1.0, -t, 0.0],
        [1.0, -t, 0.0],
        [0.0, -1.0, t],
        [0.0, 1.0, t],
        [0.0, -1.0, -t],
        [0.0, 1.0, -t],
        [t, 0.0, -1.0],
        [t, 0.0, 1.0],
        [-t, 0.0, -1.0],
        [-t, 0.0, 1.0],
    ]
    .map(|p| Vec3::from(p).normalize())
    .to_vec();
    let mut f: Vec<[u32; 3]> = vec![
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    for _ in 0..levels {
        let mut middle = std::collections::HashMap::new();
        let mut split = |a: u32, b: u32| {
            *middle.entry((a.min(b), a.max(b))).or_insert_with(|| {
                v.push((v[a as usize] + v[b as usize]).normalize());
                v.len() as u32 - 1
            })
        };
        f = f
            .iter()
            .flat_map(|&[a, b, c]| {
                let (d, e, g) = (split(a, b), split(b, c), split(c, a));
                [[a, d, g], [d, b, e], [g, e, c], [d, e, g]]
            })
            .collect();
    }
    TriMesh::new(v.iter().map(|p| (center + p * radius).into()).collect(), f).unwrap()
}

fn joined(parts: &[TriMesh]) -> TriMesh {
    let (mut v, mut f) = (Vec::new(), Vec::new());
    for p in parts {
        let base = v.len() as u32;
        v.extend_from_slice(&p.vertices);
        f.extend(p.triangles.iter().map(|t| t.map(|i| i + base)));
    }
    TriMesh::new(v, f).unwrap()
}

/// Random points of the grid's box: sign against `inside` (None: too close to call), magnitude at nodes.
fn check_sign(name: &str, field: &DenseField, inside: impl Fn(&Vec3) -> Option<bool>) {
    let mut next = rng(17);
    let h = f64::from(field.grid().spacing);
    let (mut tested, mut within) = (0, 0);
    for n in 0..4000 {
        let index = (next() * field.values().len() as f64) as usize;
        let p = if n % 2 == 0 {
            node(field, index)
        } else {
            node(field, index) + Vec3::new(next() - 0.5, next() - 0.5, next() - 0.5) * h
        };
        let local = p - field.center();
        let phi = f64::from(field.distance([local.x as f32, local.y as f32, local.z as f32]));
        // Within a cell of the zero level the interpolant may round a corner.
        if let Some(expected) = inside(&p).filter(|_| phi.abs() > 1.8 * h) {
            assert_eq!(phi < 0.0, expected, "{name} at {p}: {phi}");
            tested += 1;
            within += usize::from(expected);
        }
    }
    assert!(tested > 1000, "{name}: only {tested} points were clear of the surface");
    assert!(within > 0, "{name}: nothing inside was tested");
}

fn oracle(mesh: &TriMesh) -> impl Fn(&Vec3) -> Option<bool> {
    let bvh = Bvh::build(mesh);
    move |p| {
        let w = bvh.winding_number_exact(*p);
        ((w - 0.5).abs() > 0.05).then_some(w > 0.5)
    }
}

#[test]
fn every_tested_node_has_the_exact_distance() {
    let names = ["bunny_3k_libigl.obj", "teapot_3k_open.obj", "alpha_puzzle_robot.obj", "concave_box_169.obj"];
    let mut meshes: Vec<(String, TriMesh)> =
        names.iter().filter_map(|n| Some((n.to_string(), shared_mesh(n)?))).collect();
    meshes.push(("far ball".into(), ball(2, Vec3::new(1e3, -5e2, 2e3), 0.5)));
    meshes.push((
        "one triangle".into(),
        TriMesh::new(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], vec![[0, 1, 2]]).unwrap(),
    ));
    let slivers = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.5, 1e-13, 0.0], [0.5, 0.5, 0.5], [0.2, 0.9, 1.0], [0.2, 0.9, 1.0]];
    let flat = vec![[0, 1, 2], [3, 3, 3], [4, 5, 0], [0, 2, 1], [1, 1, 3]];
    meshes.push(("degenerate triangles".into(), TriMesh::new(slivers, flat).unwrap()));
    let mut next = rng(3);
    let soup: Vec<[f64; 3]> = (0..900).map(|_| [next(), next(), next() * 0.3]).collect();
    meshes.push((
        "random soup".into(),
        TriMesh::new(soup, (0..300).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect()).unwrap(),
    ));
    for (name, mesh) in meshes {
        let field = cook(&mesh, 50);
        let bvh = Bvh::build(&mesh);
        let extent = mesh.bounds().extents().max();
        let mut next = rng(5);
        for _ in 0..4000 {
            let n = (next() * field.values().len() as f64) as usize;
            let exact = bvh.closest_point(node(&field, n)).distance_squared.sqrt();
            let error = (f64::from(field.values()[n].abs()) - exact).abs();
            assert!(error <= 2e-7 * extent, "{name} node {n}: {} instead of {exact}", field.values()[n]);
        }
    }
}

#[test]
fn sign_is_that_of_the_winding_number_on_closed_and_open_meshes() {
    let names = [
        "bunny_3k_libigl.obj",
        "bunny_453_bullet.obj",
        "fandisk_6k_cad.obj",
        "wingnut_3k.obj",
        "torus_2k_ccby.obj",
        "rocker_arm_10k_genus1.obj",
        "teapot_3k_open.obj",
        "dragon_10k_open.obj",
    ];
    for name in names {
        let Some(mesh) = shared_mesh(name) else { continue };
        let field = cook(&mesh, 40);
        let closed = !name.contains("open");
        assert_eq!(field.sign().closed, closed, "{name}: {}", field.sign());
        assert_eq!(field.sign().rule, if closed { SignRule::Crossings } else { SignRule::WindingNumber }, "{name}");
        check_sign(name, &field, oracle(&mesh));
    }
}

#[test]
fn turned_and_duplicated_triangles_do_not_change_the_sign() {
    let base = ball(3, Vec3::new(0.1, 0.2, 0.3), 0.5);
    let inside = |p: &Vec3| Some((p - Vec3::new(0.1, 0.2, 0.3)).norm() < 0.5);
    let mut next = rng(8);
    let mut flipped = base.clone();
    for t in flipped.triangles.iter_mut() {
        if next() < 0.33 {
            t.swap(0, 1);
        }
    }
    let field = cook(&flipped, 30);
    assert!(!field.sign().consistent && field.sign().closed && field.sign().flipped_triangles > 300);
    check_sign("a third flipped", &field, inside);

    let mut inverted = base.clone();
    inverted.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    check_sign("all flipped", &cook(&inverted, 30), inside);

    let mut some_twice = base.clone();
    some_twice.triangles.extend(base.triangles.iter().step_by(3));
    let field = cook(&some_twice, 30);
    assert!(field.sign().closed && field.sign().duplicate_triangles == 427, "{}", field.sign());
    check_sign("some twice", &field, inside);
    some_twice.triangles.extend(base.triangles.iter().step_by(2).map(|t| [t[0], t[2], t[1]]));
    check_sign("some twice and both ways", &cook(&some_twice, 30), inside);

    check_sign("all twice", &cook(&joined(&[base.clone(), base.clone()]), 30), inside);
    let mut open = base.clone();
    open.triangles.retain(|_| next() > 0.03);
    let field = cook(&open, 30);
    assert!(!field.sign().closed && field.sign().rule == SignRule::WindingNumber);
    check_sign("holes", &field, oracle(&open));
    open.triangles.iter_mut().step_by(3).for_each(|t| t.swap(0, 1));
    check_sign("holes, a third flipped", &cook(&open, 30), inside);
    // Every triangle with corners of its own.
    let loose = TriMesh::new(
        base.triangles.iter().flat_map(|t| t.map(|i| base.vertices[i as usize])).collect(),
        (0..base.triangles.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
    )
    .unwrap();
    let field = cook(&loose, 30);
    assert!(field.sign().closed, "{}", field.sign());
    check_sign("unshared corners", &field, inside);
}

#[test]
fn overlapping_parts_unite_and_cavities_stay_hollow() {
    let (a, b) = (Vec3::new(-0.2, 0.0, 0.0), Vec3::new(0.2, 0.05, 0.0));
    let two = joined(&[ball(3, a, 0.4), ball(3, b, 0.4)]);
    let field = cook(&two, 40);
    assert_eq!(field.sign().rule, SignRule::Crossings);
    check_sign("two balls", &field, |p| Some((p - a).norm() < 0.397 || (p - b).norm() < 0.397));
    let mut turned = ball(3, b, 0.4);
    turned.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    check_sign("two balls, one inverted", &cook(&joined(&[ball(3, a, 0.4), turned]), 40), |p| {
        Some((p - a).norm() < 0.397 || (p - b).norm() < 0.397)
    });
    let mut cavity = ball(3, Vec3::zeros(), 0.25);
    cavity.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    let hollow = joined(&[ball(3, Vec3::zeros(), 0.5), cavity]);
    check_sign("hollow ball", &cook(&hollow, 40), |p| Some((0.25..0.497).contains(&p.norm())));
    let nested = joined(&[ball(3, Vec3::zeros(), 0.5), ball(3, Vec3::zeros(), 0.25)]);
    check_sign("ball in ball", &cook(&nested, 40), |p| Some(p.norm() < 0.497));
}

#[test]
fn rows_through_corners_and_edges_are_counted_once() {
    // A box whose corners, edges and faces lie on nodes, at many resolutions.
    let v = (0..8u32).map(|i| [0, 1, 2].map(|k| if i >> k & 1 == 1 { 0.5 } else { -0.5 })).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let f = quads.iter().flat_map(|q: &[u32; 4]| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    let cube = TriMesh::new(v, f).unwrap();
    for cells in 2..24 {
        let field = cook(&cube, cells);
        for n in 0..field.values().len() {
            let p = node(&field, n);
            let d = p.abs().add_scalar(-0.5).max();
            let phi = f64::from(field.values()[n]);
            assert!(d.abs() < 1e-7 || (phi < 0.0) == (d < 0.0), "{cells}: {phi} at {p}");
        }
    }
}

#[test]
fn the_same_bytes_on_one_thread_and_on_two() {
    let base = ball(3, Vec3::zeros(), 0.5);
    let mut open = base.clone();
    open.triangles.truncate(1000);
    for mesh in [base, open] {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| cook(&mesh, 40))
        };
        let (one, two) = (run(1), run(2));
        assert!(one == two);
        let bits = |f: &DenseField| f.values().iter().map(|v| v.to_bits()).collect::<Vec<u32>>();
        assert_eq!(bits(&one), bits(&two));
    }
}

#[test]
fn measured_error_holds_at_other_points() {
    let Some(mesh) = shared_mesh("bunny_3k_libigl.obj") else { return };
    let field = cook(&mesh, 64);
    let bvh = Bvh::build(&mesh);
    let error = field.error();
    assert!(error.samples >= 10_000 && error.max > 0.0 && error.rms < error.max && error.max < 0.7 / 64.0, "{error:?}");
    let mut next = rng(4);
    let mut beyond = 0;
    for _ in 0..5000 {
        let n = (next() * field.values().len() as f64) as usize;
        let p = node(&field, n) + Vec3::new(next(), next(), next()) / 64.0;
        let exact = bvh.signed_distance(p);
        let q = p - field.center();
        let phi = f64::from(field.distance([q.x as f32, q.y as f32, q.z as f32]));
        if exact.abs() < 2.0 / 64.0 && (phi - exact).abs() > error.max {
            beyond += 1;
        }
    }
    assert!(beyond < 3, "{beyond} of 5000 points are worse than the largest error measured");
}

#[test]
fn bad_options_are_refused_before_anything_is_allocated() {
    let mesh = ball(1, Vec3::zeros(), 0.5);
    let cook = |o: FieldOptions| DenseField::cook(&mesh, &o, &Progress::none()).unwrap_err();
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(cook(FieldOptions::new(bad)).to_string().contains("voxel_size"), "{bad}");
    }
    let Error::TooLarge { needed, limit, .. } = cook(FieldOptions::new(1e-4)) else { panic!("not TooLarge") };
    assert!(limit == 4 << 30 && (4_900_000_000_000..5_100_000_000_000).contains(&needed), "{needed}");
    assert!(matches!(cook(FieldOptions::new(1e-200)), Error::TooLarge { .. }));
    assert!(matches!(cook(FieldOptions { memory_limit: 1000, ..FieldOptions::new(0.1) }), Error::TooLarge { .. }));
    let empty = TriMesh::default();
    let none = DenseField::cook(&empty, &FieldOptions::new(0.1), &Progress::none());
    assert!(matches!(none, Err(Error::InvalidMesh(_))));
}

#[test]
fn cooking_reports_and_stops_when_asked() {
    let mesh = ball(3, Vec3::zeros(), 0.5);
    let seen = std::sync::Mutex::new(Vec::new());
    let watch = |stage: &str, f: f64| {
        assert!((0.0..=1.0).contains(&f));
        seen.lock().unwrap().push(stage.to_string());
        true
    };
    let options = FieldOptions::with_resolution(&mesh, 80);
    DenseField::cook(&mesh, &options, &Progress::new(&watch)).unwrap();
    let seen = seen.into_inner().unwrap();
    assert!(["distance", "sign", "error"].iter().all(|s| seen.iter().any(|t| t == s)));
    for stage in ["distance", "sign", "error"] {
        let stop = |s: &str, _: f64| s != stage;
        let result = DenseField::cook(&mesh, &options, &Progress::new(&stop));
        assert!(matches!(result, Err(Error::Cancelled)), "{stage}");
    }
}
