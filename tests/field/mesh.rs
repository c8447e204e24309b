//! The exact mesh field against brute force, and mass properties from fields against exact ones.

use std::f64::consts::{PI, TAU};

use support::{rng::Rng, shared_mesh};
use voxshell::cook::{mass_from_field, FieldOptions};
use voxshell::field::{DenseField, Field, Grid, MeshField, SignedDistance};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::{Bvh, TriMesh};

fn vector(rng: &mut Rng) -> Vec3 {
    Vec3::new(rng.fraction() - 0.5, rng.fraction() - 0.5, rng.fraction() - 0.5)
}

/// Returns a closed, star-shaped, bumpy body away from the origin.
fn bumpy(seed: u64) -> TriMesh {
    let mut rng = Rng(seed);
    let (nu, nv) = (24u32, 12u32);
    let mut v = vec![];
    for j in 0..=nv {
        for i in 0..nu {
            let (a, b) = (f64::from(i) / f64::from(nu) * TAU, f64::from(j) / f64::from(nv) * PI);
            let r = if j == 0 || j == nv { 0.4 } else { 0.3 + 0.2 * rng.fraction() };
            v.push([2.0 + r * b.sin() * a.cos(), r * b.sin() * a.sin() - 1.0, r * b.cos()]);
        }
    }
    for i in 0..nu {
        v[i as usize] = [2.0, -1.0, 0.4];
        v[(nv * nu + i) as usize] = [2.0, -1.0, -0.4];
    }
    let mut f = vec![];
    for j in 0..nv {
        for i in 0..nu {
            let (a, b) = (j * nu + i, j * nu + (i + 1) % nu);
            f.extend([[a, a + nu, b], [b, a + nu, b + nu]]);
        }
    }
    TriMesh::new(v, f).unwrap()
}

/// Returns the distance to a triangle by minimising over its edges and its plane, f64.
fn brute(mesh: &TriMesh, p: Vec3) -> f64 {
    let segment = |a: Vec3, b: Vec3| {
        let e = b - a;
        let t = if e.norm_squared() > 0.0 { ((p - a).dot(&e) / e.norm_squared()).clamp(0.0, 1.0) } else { 0.0 };
        (p - a - e * t).norm()
    };
    (0..mesh.triangles.len())
        .map(|t| {
            let [a, b, c] = mesh.corners(t).map(Vec3::from);
            let n = (b - a).cross(&(c - a));
            let edges = segment(a, b).min(segment(b, c)).min(segment(c, a));
            let within = [(a, b), (b, c), (c, a)].iter().all(|(s, e)| (e - s).cross(&(p - s)).dot(&n) >= 0.0);
            if within && n.norm() > 0.0 {
                edges.min(((p - a).dot(&n) / n.norm()).abs())
            } else {
                edges
            }
        })
        .fold(f64::INFINITY, f64::min)
}

#[test]
fn mesh_field_is_the_distance_to_the_closest_triangle() {
    for seed in 0..4 {
        let mesh = bumpy(seed);
        let field = MeshField::new(mesh.clone()).unwrap();
        assert!(field.sign().closed);
        let bvh = Bvh::build(&mesh);
        let mut rng = Rng(seed + 50);
        for _ in 0..300 {
            let p = Vec3::new(2.0, -1.0, 0.0) + vector(&mut rng) * 2.0;
            let q = p - field.local_origin(&p);
            let q = [q.x as f32, q.y as f32, q.z as f32];
            let p = Vec3::from(q.map(f64::from)) + field.local_origin(&p);
            let (phi, g) = field.distance_gradient(q);
            assert_eq!(phi.to_bits(), field.distance(q).to_bits());
            let exact = brute(&mesh, p);
            assert!((f64::from(phi.abs()) - exact).abs() < 1e-6, "{phi} {exact}");
            let g = Vec3::from(g.map(f64::from));
            assert!((g.norm() - 1.0).abs() < 1e-5);
            let back = p - g * f64::from(phi);
            assert!(brute(&mesh, back) < 1e-6, "{}", brute(&mesh, back));
            assert_eq!(phi < 0.0, bvh.winding_number_exact(p) > 0.5);
        }
    }
}

#[test]
fn gradient_on_the_surface_is_the_outward_normal() {
    let mut mesh = bumpy(1);
    for inverted in [false, true] {
        if inverted {
            mesh.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        }
        let field = MeshField::new(mesh.clone()).unwrap();
        for t in (48..528).step_by(7) {
            let [a, b, c] = mesh.corners(t).map(Vec3::from);
            let m = (a + b + c) / 3.0 - field.local_origin(&a);
            let (_, g) = field.distance_gradient([m.x as f32, m.y as f32, m.z as f32]);
            let n = (b - a).cross(&(c - a)).normalize();
            // The body is star-shaped around here.
            let n = n * n.dot(&(a - Vec3::new(2.0, -1.0, 0.0))).signum();
            let g = Vec3::from(g.map(f64::from));
            assert!(g.dot(&n) > 0.9999, "{g} {n}");
        }
    }
}

#[test]
fn no_point_of_a_ball_is_below_its_lower_bound() {
    let closed = bumpy(2);
    let mut open = bumpy(3);
    open.triangles.truncate(400);
    for mesh in [closed, open] {
        let field = MeshField::new(mesh).unwrap();
        let mut rng = Rng(6);
        let mut useful = 0;
        for round in 0..300 {
            let far = if round % 10 == 0 { 1e6 } else { 1.5 };
            let c = (vector(&mut rng) * far).cast::<f32>();
            let r = (rng.fraction() * if round % 3 == 0 { 3.0 } else { 0.2 }) as f32;
            let c = [c.x, c.y, c.z];
            let bound = field.lower_bound(c, r);
            useful += usize::from(bound > 0.0);
            for _ in 0..20 {
                let u = vector(&mut rng).normalize() * f64::from(r) * 0.999999 * rng.fraction().powf(0.2);
                let x = [0, 1, 2].map(|k| (f64::from(c[k]) + u[k]) as f32);
                assert!(field.distance(x) >= bound, "{} < {bound}", field.distance(x));
            }
        }
        assert!(useful > 60, "{useful}");
    }
}

#[test]
fn a_mesh_field_survives_serialisation_and_refuses_nothing() {
    let field = Field::Mesh(MeshField::new(bumpy(1)).unwrap());
    let back: Field = postcard::from_bytes(&postcard::to_stdvec(&field).unwrap()).unwrap();
    assert!(back == field && back.distance([0.1, 0.2, 0.3]) == field.distance([0.1, 0.2, 0.3]));
    assert!(MeshField::new(TriMesh::default()).is_err());
}

#[test]
fn mass_from_a_ball_is_that_of_the_ball() {
    let grid = Grid::centered([60, 61, 62], 0.02);
    let c = Vec3::new(0.03, -0.04, 0.021);
    let mut values = Vec::new();
    for k in 0..62 {
        for j in 0..61 {
            for i in 0..60 {
                let p = Vec3::from(grid.node(i, j, k).map(f64::from));
                values.push(((p - c).norm() - 0.45) as f32);
            }
        }
    }
    let center = Vec3::new(5.0, 6.0, 7.0);
    let field = DenseField::from_values(grid, values, center).unwrap();
    let m = mass_from_field(&field).unwrap();
    assert!(!m.exact);
    let volume = 4.0 / 3.0 * std::f64::consts::PI * 0.45f64.powi(3);
    assert!((m.volume / volume - 1.0).abs() < 2e-3, "{} {volume}", m.volume);
    assert!((Vec3::from(m.center_of_mass) - center - c).norm() < 1e-5);
    for k in 0..3 {
        assert!((m.inertia[k] / (0.4 * 0.45 * 0.45) - 1.0).abs() < 3e-3, "{:?}", m.inertia);
        assert!(m.inertia[3 + k].abs() < 1e-5);
    }
    let nothing = DenseField::from_values(Grid::centered([3; 3], 0.1), vec![1.0; 27], center).unwrap();
    assert!(mass_from_field(&nothing).is_none());
}

#[test]
fn mass_from_a_cooked_mesh_is_close_to_the_exact_one() {
    for name in ["bunny_3k_libigl.obj", "rocker_arm_10k_genus1.obj", "fandisk_6k_cad.obj"] {
        let Some(mesh) = shared_mesh(name) else { continue };
        let exact = voxshell::cook::mass_properties(&mesh).expect("closed");
        let field =
            voxshell::cook::dense_field(&mesh, &FieldOptions::with_resolution(&mesh, 80), &Progress::none()).unwrap();
        let m = mass_from_field(&field).unwrap();
        assert!((m.volume / exact.volume - 1.0).abs() < 5e-3, "{name}: {} {}", m.volume, exact.volume);
        assert!((Vec3::from(m.center_of_mass) - Vec3::from(exact.center_of_mass)).norm() < 1e-3, "{name}");
        for k in 0..6 {
            assert!((m.inertia[k] - exact.inertia[k]).abs() < 5e-3 * exact.inertia[0].abs(), "{name} {k}");
        }
    }
}
