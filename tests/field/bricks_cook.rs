//! Cooking into bricks, against the dense grid and the exact distance.

use support::brick::{bricks, check_ball, dense, random_point};
use support::rng::Rng;
use support::shared_mesh;
use voxshell::cook::{mass_from_bricks, mass_from_field, FieldOptions};
use voxshell::field::{SignRule, SignedDistance};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::{primitives, Bvh};
use voxshell::Error;

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
            // 1e-3 of a cell, plus the rounding of the position's f32 coordinates.
            assert!((phi.abs() - exact).abs() <= 1e-3 * h + 1e-6, "{name} {cells}: {phi} is not {exact} at {at:?}");
        }
        assert!(f64::from(field.rounding()) <= 0.501 * f64::from(field.quantum()) + 1e-6);
    }
}

#[test]
fn bricks_equal_the_dense_grid_near_the_surface_and_in_sign() {
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
            // Skips points where the interpolant may round a corner, or where a membrane may be on either side.
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
            // The bound must also be useful: a ball well clear of the surface is recognised as such.
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
fn mass_of_fine_bricks_is_close_to_the_exact_one() {
    // Cells of at most 256 cells are sampled 4³ times, finer ones less often, those of 600 once.
    let knot = primitives::torus_knot(2, 3, 0.3, 0.09, 120, 16).unwrap();
    let exact = voxshell::cook::mass_properties(&knot).expect("closed");
    for (cells, tolerance) in [(150, 1e-3), (300, 3e-4), (600, 1e-4)] {
        let m = mass_from_bricks(&bricks(&knot, cells)).unwrap();
        assert!((m.volume / exact.volume - 1.0).abs() < tolerance, "{cells}: {} {}", m.volume, exact.volume);
        for k in 0..3 {
            assert!((m.center_of_mass[k] - exact.center_of_mass[k]).abs() < tolerance, "{cells}");
            assert!((m.inertia[k] / exact.inertia[k] - 1.0).abs() < 2.0 * tolerance, "{cells}: {:?}", m.inertia);
        }
    }
}

#[test]
fn memory_is_what_the_surface_needs_and_checked_first() {
    let mesh = primitives::sphere(0.5, 4).unwrap();
    let limited = |cells, memory_limit| {
        let options = FieldOptions { memory_limit, ..FieldOptions::with_resolution(&mesh, cells) };
        voxshell::cook::brick_field(&mesh, &options, &Progress::none())
    };
    // A dense grid would take 530 MB.
    let field = limited(500, 96 << 20).unwrap();
    assert!(field.bytes() < 45 << 20, "{}", field.bytes());
    let Error::TooLarge { needed, limit, .. } = limited(500, 40 << 20).unwrap_err() else { panic!("not TooLarge") };
    assert!(limit == 40 << 20 && needed > field.bytes() && needed < 96 << 20, "{needed} {}", field.bytes());
    assert!(matches!(limited(500, 1000), Err(Error::TooLarge { .. })));
    let tiny = FieldOptions::new(1e-7);
    assert!(matches!(voxshell::cook::brick_field(&mesh, &tiny, &Progress::none()), Err(Error::TooLarge { .. })));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = voxshell::cook::brick_field(&mesh, &FieldOptions::new(bad), &Progress::none()).unwrap_err();
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
        let result = voxshell::cook::brick_field(&mesh, &options, &Progress::new(&stop));
        assert!(matches!(result, Err(Error::Cancelled)), "{stage}");
        assert!(seen.into_inner() > 0);
    }
}
