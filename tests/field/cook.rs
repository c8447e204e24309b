//! Cooked fields against the exact f64 oracle (closest point and winding number of the mesh's hierarchy).

use support::{rng::Rng, shared_mesh};
use voxshell::cook::FieldOptions;
use voxshell::field::{DenseField, SignRule, SignedDistance};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, Bvh, TriMesh};
use voxshell::Error;

fn cook(mesh: &TriMesh, cells: u32) -> DenseField {
    voxshell::cook::dense_field(mesh, &FieldOptions::with_resolution(mesh, cells), &Progress::none()).unwrap()
}

fn node(field: &DenseField, n: usize) -> Vec3 {
    let g = field.grid();
    let [nx, ny, _] = g.dims.map(|d| d as usize);
    let at = [n % nx, n / nx % ny, n / (nx * ny)];
    let h = f64::from(g.spacing);
    Vec3::from([0, 1, 2].map(|k| f64::from(g.min[k]) + at[k] as f64 * h)) + field.center()
}

fn ball(levels: u32, center: Vec3, radius: f64) -> TriMesh {
    primitives::sphere(radius, levels).unwrap().transformed(&Pose::from_parts(center.into(), Default::default()), 1.0)
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

/// Checks the sign at random points of the grid's box against `inside` (None: undecidable): of nodes, and of points
/// between them that are not too near the zero level, where the interpolant may round a corner.
fn check_sign(name: &str, field: &DenseField, inside: impl Fn(&Vec3) -> Option<bool>) {
    let mut rng = Rng(17);
    let h = f64::from(field.grid().spacing);
    let (mut tested, mut within) = (0, 0);
    for n in 0..4000 {
        let index = (rng.fraction() * field.values().len() as f64) as usize;
        let p = if n % 2 == 0 {
            node(field, index)
        } else {
            node(field, index) + Vec3::new(rng.fraction() - 0.5, rng.fraction() - 0.5, rng.fraction() - 0.5) * h
        };
        let local = p - field.center();
        let phi = f64::from(field.distance([local.x as f32, local.y as f32, local.z as f32]));
        let margin = if n % 2 == 0 { 0.2 * h } else { 1.8 * h };
        if let Some(expected) = inside(&p).filter(|_| phi.abs() > margin) {
            assert_eq!(phi < 0.0, expected, "{name} at {p}: {phi}");
            tested += 1;
            within += usize::from(expected);
        }
    }
    assert!(tested > 1000, "{name}: only {tested} points were clear of the surface");
    assert!(within > 0, "{name}: nothing inside was tested");
}

#[test]
fn membranes_close_holes_and_count_for_the_distance() {
    // A unit ball without the cap above z = 0.8: the level w = 1/2 is the flat disk in the hole (its solid angle is
    // half the sphere from either side).
    let mut open = ball(4, Vec3::zeros(), 1.0);
    let below = |t: &[u32; 3]| t.iter().all(|&i| open.vertices[i as usize][2] < 0.8);
    open.triangles = open.triangles.iter().filter(|t| below(t)).copied().collect();
    let field = cook(&open, 60);
    let disk = std::f64::consts::PI * 0.6 * 0.6;
    assert!((field.sign().membrane_area / disk - 1.0).abs() < 0.25, "{}", field.sign());
    assert!(
        field.lipschitz() < 1.75 && field.node_lipschitz() < 1.3,
        "{} {}",
        field.lipschitz(),
        field.node_lipschitz()
    );
    let h = f64::from(field.grid().spacing);
    let mut rng = Rng(3);
    for _ in 0..3000 {
        let n = (rng.fraction() * field.values().len() as f64) as usize;
        let p = node(&field, n);
        let rho = (p.x * p.x + p.y * p.y).sqrt();
        let to_disk = ((rho - 0.58).max(0.0).powi(2) + (p.z - 0.77).powi(2)).sqrt();
        let to_ball = (p.norm() - 1.0).abs();
        let phi = f64::from(field.values()[n].abs());
        // Height of the closest point of the whole ball.
        let height = p.z / p.norm();
        if !(0.72..0.85).contains(&height) {
            let exact = if height < 0.72 { to_ball.min(to_disk) } else { to_disk };
            assert!((phi - exact).abs() < 2.5 * h, "{phi} {exact} at {p}");
        }
    }
}

#[test]
fn no_point_of_a_ball_is_below_its_lower_bound() {
    let mut open = ball(3, Vec3::zeros(), 0.5);
    open.triangles.truncate(1100);
    let two = joined(&[ball(2, Vec3::zeros(), 0.4), ball(3, Vec3::new(0.3, 0.1, 0.0), 0.4)]);
    let mut meshes = vec![ball(1, Vec3::new(1.0, 2.0, 3.0), 0.5), open, two];
    meshes.extend(shared_mesh("bunny_453_bullet.obj"));
    meshes.extend(shared_mesh("teapot_3k_open.obj"));
    for mesh in meshes {
        let field = cook(&mesh, 40);
        let h = f64::from(field.grid().spacing);
        let mut rng = Rng(12);
        let mut vector = || Vec3::new(rng.fraction() - 0.5, rng.fraction() - 0.5, rng.fraction() - 0.5);
        for round in 0..3000 {
            let far = [1.0, 2.0, 30.0][round % 3];
            let c = (vector() * far).cast::<f32>();
            let c = [c.x, c.y, c.z];
            let r = (10f64.powf(vector().x * 4.0 + 0.3) * h) as f32;
            let bound = field.lower_bound(c, r);
            let g = Vec3::from(field.distance_gradient(c).1.map(f64::from));
            for i in 0..24 {
                let u = if i == 0 { -g.normalize() } else { vector().normalize() };
                let t = if i % 2 == 0 { 0.999_999 } else { vector().x + 0.5 } * f64::from(r);
                let x = [0, 1, 2].map(|k| (f64::from(c[k]) + u[k] * t) as f32);
                assert!(field.distance(x) >= bound, "{} < {bound} at {x:?}, ball {c:?} {r}", field.distance(x));
            }
        }
    }
}

#[test]
fn nodes_differ_by_no_more_than_the_constant_allows() {
    let mut open = ball(3, Vec3::zeros(), 0.5);
    open.triangles.truncate(1100);
    let mut meshes = vec![ball(2, Vec3::zeros(), 0.5), open];
    meshes.extend(shared_mesh("fandisk_6k_cad.obj"));
    meshes.extend(shared_mesh("teapot_3k_open.obj"));
    for mesh in meshes {
        let field = cook(&mesh, 36);
        assert!(
            field.node_lipschitz() <= if field.sign().closed { 1.00001 } else { 2.3 },
            "{}",
            field.node_lipschitz()
        );
        let mut rng = Rng(21);
        let count = field.values().len() as f64;
        for round in 0..40_000 {
            let a = (rng.fraction() * count) as usize;
            // In half of the pairs the points are a few nodes apart.
            let near = ((rng.fraction() - 0.5) * 6.0) as i64
                + ((rng.fraction() - 0.5) * 6.0) as i64 * i64::from(field.grid().dims[0])
                + ((rng.fraction() - 0.5) * 6.0) as i64 * i64::from(field.grid().dims[0] * field.grid().dims[1]);
            let b = if round % 2 == 0 { (rng.fraction() * count) as i64 } else { a as i64 + near };
            let Some(vb) = usize::try_from(b).ok().and_then(|b| field.values().get(b)) else { continue };
            let apart = (node(&field, a) - node(&field, b as usize)).norm();
            let rise = f64::from((field.values()[a] - vb).abs());
            assert!(rise <= f64::from(field.node_lipschitz()) * apart + 1e-6, "{rise} over {apart}");
        }
    }
}

fn oracle(mesh: &TriMesh) -> impl Fn(&Vec3) -> Option<bool> {
    let bvh = Bvh::build(mesh);
    move |p| {
        // The hierarchy's error is tested in its own tests, and is far below this margin.
        let w = bvh.winding_number(*p);
        ((w - 0.5).abs() > 0.05).then_some(w > 0.5 && bvh.bounds().contains(p))
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
    let mut rng = Rng(3);
    let soup: Vec<[f64; 3]> = (0..900).map(|_| [rng.fraction(), rng.fraction(), rng.fraction() * 0.3]).collect();
    meshes.push((
        "random soup".into(),
        TriMesh::new(soup, (0..300).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect()).unwrap(),
    ));
    for (name, mesh) in meshes {
        let field = cook(&mesh, 50);
        let bvh = Bvh::build(&mesh);
        let extent = mesh.bounds().extents().max();
        let mut rng = Rng(5);
        for _ in 0..4000 {
            let n = (rng.fraction() * field.values().len() as f64) as usize;
            let exact = bvh.closest_point(node(&field, n)).distance_squared.sqrt();
            let error = f64::from(field.values()[n].abs()) - exact;
            // A membrane across a hole may be nearer than the mesh.
            let nearer = error < 0.0 && field.sign().membrane_area > 0.0;
            assert!(nearer || error.abs() <= 2e-7 * extent, "{name} node {n}: {error} off {exact}");
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
        "bunny_34k_raw_holes.obj",
        "alpha_puzzle_robot.obj",
        "alpha_puzzle_env15.obj",
    ];
    for name in names {
        let Some(mesh) = shared_mesh(name) else { continue };
        let field = cook(&mesh, 40);
        let closed = !["open", "holes", "alpha"].iter().any(|s| name.contains(s));
        assert_eq!(field.sign().closed, closed, "{name}: {}", field.sign());
        assert_eq!(field.sign().rule, if closed { SignRule::Crossings } else { SignRule::WindingNumber }, "{name}");
        let mut outward = mesh.clone();
        if name.contains("alpha") {
            // All triangles are wound inward.
            assert_eq!(field.sign().flipped_triangles, 1008);
            outward.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        }
        check_sign(name, &field, oracle(&outward));
    }
}

#[test]
fn turned_and_duplicated_triangles_do_not_change_the_sign() {
    let base = ball(3, Vec3::new(0.1, 0.2, 0.3), 0.5);
    let inside = |p: &Vec3| Some((p - Vec3::new(0.1, 0.2, 0.3)).norm() < 0.5);
    let mut rng = Rng(8);
    let mut flipped = base.clone();
    for t in flipped.triangles.iter_mut() {
        if rng.fraction() < 0.33 {
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
    open.triangles.retain(|_| rng.fraction() > 0.03);
    let field = cook(&open, 30);
    assert!(!field.sign().closed && field.sign().rule == SignRule::WindingNumber);
    check_sign("holes", &field, oracle(&open));
    open.triangles.iter_mut().step_by(3).for_each(|t| t.swap(0, 1));
    check_sign("holes, a third flipped", &cook(&open, 30), inside);
    // Every triangle has its own corners.
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
    // A box whose corners, edges and faces are on nodes, at many resolutions.
    let cube = primitives::cuboid([0.5; 3]).unwrap();
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
    let mut rng = Rng(4);
    let mut beyond = 0;
    for _ in 0..5000 {
        let n = (rng.fraction() * field.values().len() as f64) as usize;
        let p = node(&field, n) + Vec3::new(rng.fraction(), rng.fraction(), rng.fraction()) / 64.0;
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
    let cook = |o: FieldOptions| voxshell::cook::dense_field(&mesh, &o, &Progress::none()).unwrap_err();
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(cook(FieldOptions::new(bad)).to_string().contains("voxel_size"), "{bad}");
    }
    let Error::TooLarge { needed, limit, .. } = cook(FieldOptions::new(1e-4)) else { panic!("not TooLarge") };
    assert!(limit == 4 << 30 && (4_900_000_000_000..5_100_000_000_000).contains(&needed), "{needed}");
    assert!(matches!(cook(FieldOptions::new(1e-200)), Error::TooLarge { .. }));
    assert!(matches!(cook(FieldOptions { memory_limit: 1000, ..FieldOptions::new(0.1) }), Error::TooLarge { .. }));
    let empty = TriMesh::default();
    let none = voxshell::cook::dense_field(&empty, &FieldOptions::new(0.1), &Progress::none());
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
    voxshell::cook::dense_field(&mesh, &options, &Progress::new(&watch)).unwrap();
    let seen = seen.into_inner().unwrap();
    assert!(["distance", "sign", "error"].iter().all(|s| seen.iter().any(|t| t == s)));
    for stage in ["distance", "sign", "error"] {
        let stop = |s: &str, _: f64| s != stage;
        let result = voxshell::cook::dense_field(&mesh, &options, &Progress::new(&stop));
        assert!(matches!(result, Err(Error::Cancelled)), "{stage}");
    }
}
