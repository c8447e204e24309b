//! Analytic fields against brute force: sampled surfaces for the distance, definitions for the sign, and the promises
//! of the trait (gradient, certified bound, batches) for all of them.

use proptest::prelude::*;
use support::rng::Rng;
use voxshell::field::{Capsule, Cone, ConvexHull, Cuboid, Cylinder, Field, HalfSpace, SignedDistance, Sphere, Torus};
use voxshell::math::Vec3;

fn unit_vector(rng: &mut Rng) -> Vec3 {
    loop {
        let v = Vec3::new(rng.fraction() * 2.0 - 1.0, rng.fraction() * 2.0 - 1.0, rng.fraction() * 2.0 - 1.0);
        if (0.01..1.0).contains(&v.norm()) {
            return v.normalize();
        }
    }
}

/// Converts (along, across, across) to x, y, z.
fn place(axis: usize, q: [f64; 3]) -> Vec3 {
    let mut v = Vec3::zeros();
    for k in 0..3 {
        v[(axis + k) % 3] = q[k];
    }
    v
}

struct Case {
    name: String,
    field: Field,
    /// Dense samples of the surface.
    surface: Vec<Vec3>,
    inside: Box<dyn Fn(&Vec3) -> bool>,
}

/// Largest distance between neighbouring surface samples.
const GAP: f64 = 0.012;

/// Returns a surface of revolution from a polyline (along, across).
fn revolve(axis: usize, profile: &[[f64; 2]]) -> Vec<Vec3> {
    let mut out = Vec::new();
    for w in profile.windows(2) {
        let len = ((w[1][0] - w[0][0]).powi(2) + (w[1][1] - w[0][1]).powi(2)).sqrt();
        let n = (len / GAP).ceil() as usize;
        for i in 0..=n {
            let t = i as f64 / n as f64;
            let (a, r) = (w[0][0] + t * (w[1][0] - w[0][0]), w[0][1] + t * (w[1][1] - w[0][1]));
            let m = ((std::f64::consts::TAU * r / GAP).ceil() as usize).max(1);
            for j in 0..m {
                let phi = j as f64 / m as f64 * std::f64::consts::TAU;
                out.push(place(axis, [a, r * phi.cos(), r * phi.sin()]));
            }
        }
    }
    out
}

fn arc(center: f64, radius: f64, from: f64, to: f64, n: usize) -> Vec<[f64; 2]> {
    (0..=n)
        .map(|i| {
            let t = from + (to - from) * i as f64 / n as f64;
            [center + radius * t.cos(), (radius * t.sin()).max(0.0)]
        })
        .collect()
}

fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    let pi = std::f64::consts::PI;
    all.push(Case {
        name: "sphere".into(),
        field: Field::Sphere(Sphere::new(0.4).unwrap()),
        surface: revolve(0, &arc(0.0, 0.4, 0.0, pi, 200)),
        inside: Box::new(|p| p.norm() < 0.4),
    });
    for axis in 0..3 {
        let split = move |p: &Vec3| {
            let (u, v) = (p[(axis + 1) % 3], p[(axis + 2) % 3]);
            (p[axis], (u * u + v * v).sqrt())
        };
        let mut profile = arc(0.35, 0.2, 0.0, pi / 2.0, 60);
        profile.extend(arc(-0.35, 0.2, pi / 2.0, pi, 60));
        all.push(Case {
            name: format!("capsule {axis}"),
            field: Field::Capsule(Capsule::new(axis, 0.2, 0.35).unwrap()),
            surface: revolve(axis, &profile),
            inside: Box::new(move |p| {
                let (a, r) = split(p);
                let e = (a.abs() - 0.35).max(0.0);
                e * e + r * r < 0.04
            }),
        });
        all.push(Case {
            name: format!("cylinder {axis}"),
            field: Field::Cylinder(Cylinder::new(axis, 0.3, 0.25).unwrap()),
            surface: revolve(axis, &[[0.25, 0.0], [0.25, 0.3], [-0.25, 0.3], [-0.25, 0.0]]),
            inside: Box::new(move |p| {
                let (a, r) = split(p);
                a.abs() < 0.25 && r < 0.3
            }),
        });
        let tau = 2.0 * pi;
        let ring: Vec<[f64; 2]> =
            (0..=80).map(|i| tau * i as f64 / 80.0).map(|t| [0.12 * t.sin(), 0.35 + 0.12 * t.cos()]).collect();
        all.push(Case {
            name: format!("torus {axis}"),
            field: Field::Torus(Torus::new(axis, 0.35, 0.12).unwrap()),
            surface: revolve(axis, &ring),
            inside: Box::new(move |p| {
                let (a, r) = split(p);
                a * a + (r - 0.35) * (r - 0.35) < 0.12 * 0.12
            }),
        });
        all.push(Case {
            name: format!("cone {axis}"),
            field: Field::Cone(Cone::new(axis, 0.3, 0.8).unwrap()),
            surface: revolve(axis, &[[0.4, 0.0], [-0.4, 0.3], [-0.4, 0.0]]),
            inside: Box::new(move |p| {
                let (a, r) = split(p);
                a > -0.4 && r / 0.3 < (0.4 - a) / 0.8
            }),
        });
    }
    let h = [0.3, 0.2, 0.45];
    let mut faces = Vec::new();
    for axis in 0..3 {
        let n = 90;
        for i in 0..=n {
            for j in 0..=n {
                for side in [-1.0, 1.0] {
                    let q = [side, i as f64 / n as f64 * 2.0 - 1.0, j as f64 / n as f64 * 2.0 - 1.0];
                    let mut v = place(axis, q);
                    for k in 0..3 {
                        v[k] *= h[k];
                    }
                    faces.push(v);
                }
            }
        }
    }
    all.push(Case {
        name: "cuboid".into(),
        field: Field::Cuboid(Cuboid::new(h).unwrap()),
        surface: faces,
        inside: Box::new(move |p| (0..3).all(|k| p[k].abs() < h[k])),
    });
    all
}

fn local(field: &Field, p: &Vec3) -> [f32; 3] {
    let q = p - field.local_origin(p);
    [q.x as f32, q.y as f32, q.z as f32]
}

#[test]
fn distance_agrees_with_sampling_and_sign_with_the_definition() {
    for case in cases() {
        let name = &case.name;
        let mut rng = Rng(7);
        for _ in 0..400 {
            let p32 = [0, 1, 2].map(|_| (rng.fraction() * 2.0 - 1.0) as f32);
            let p = Vec3::new(p32[0].into(), p32[1].into(), p32[2].into());
            let phi = f64::from(case.field.distance(p32));
            let nearest = case.surface.iter().map(|s| (s - p).norm_squared()).fold(f64::INFINITY, f64::min).sqrt();
            assert!(phi.abs() <= nearest + 2e-6, "{name} at {p}: {phi} but a surface point is {nearest} away");
            assert!(phi.abs() >= nearest - GAP, "{name} at {p}: {phi} but no surface point within {nearest}");
            if phi.abs() > 1e-6 {
                assert_eq!(phi < 0.0, (case.inside)(&p), "{name} at {p}");
            }
        }
        for s in &case.surface {
            assert!(case.field.bounds().inflated(1e-7).contains(s), "{name} {s}");
        }
    }
}

fn hulls() -> Vec<(Vec<Vec3>, Field)> {
    let mut rng = Rng(99);
    let mut sets: Vec<Vec<Vec3>> = Vec::new();
    sets.push((0..60).map(|_| unit_vector(&mut rng) * 0.5 + Vec3::new(3.0, -2.0, 1.0)).collect());
    sets.push((0..300).map(|_| Vec3::new(rng.fraction(), rng.fraction() * 0.5, rng.fraction() * 0.01)).collect());
    // A cube with points on its edges and faces; every point twice.
    let mut cube = Vec::new();
    for i in 0..4 {
        for j in 0..4 {
            for k in 0..4 {
                let p = Vec3::new(f64::from(i), f64::from(j), f64::from(k)) / 3.0;
                cube.extend([p, p]);
            }
        }
    }
    sets.push(cube);
    // A needle tetrahedron, and a prism of slivers.
    sets.push(vec![Vec3::zeros(), Vec3::new(1.0, 0.0, 0.0), Vec3::new(1.0, 1e-4, 0.0), Vec3::new(1.0, 0.0, 1e-4)]);
    let ring = |z: f64| {
        (0..40).map(move |i| {
            let a = f64::from(i) / 40.0 * std::f64::consts::TAU;
            Vec3::new(a.cos(), a.sin() * 0.3, z + 1e-9 * f64::from(i % 3))
        })
    };
    sets.push(ring(0.0).chain(ring(0.2)).collect());
    sets.into_iter()
        .map(|set| {
            let points: Vec<[f64; 3]> = set.iter().map(|p| [p.x, p.y, p.z]).collect();
            (set, Field::ConvexHull(ConvexHull::new(&points).unwrap()))
        })
        .collect()
}

/// Returns the distance from `p` to the convex hull of `points` in f64, by another method than the field's: adds
/// support points (Gilbert 1966) and finds the closest point of their simplex by trying all its faces.
fn hull_distance(points: &[Vec3], p: &Vec3) -> f64 {
    let mut set: Vec<Vec3> = vec![points[0] - p];
    for _ in 0..10_000 {
        let (x, kept) = closest_of_simplex(&set);
        set = kept;
        let s = points.iter().map(|q| q - p).min_by(|a, b| a.dot(&x).total_cmp(&b.dot(&x))).unwrap();
        if x.norm_squared() - s.dot(&x) <= 1e-13 * (1.0 + x.norm_squared()) || set.contains(&s) {
            return x.norm();
        }
        set.push(s);
    }
    panic!("no convergence");
}

/// Returns the closest point to 0 of the convex hull of at most five points, and the face that contains it.
fn closest_of_simplex(set: &[Vec3]) -> (Vec3, Vec<Vec3>) {
    let mut best: Option<(f64, Vec3, Vec<Vec3>)> = None;
    for mask in 1u32..1 << set.len() {
        let face: Vec<Vec3> = (0..set.len()).filter(|i| mask >> i & 1 == 1).map(|i| set[i]).collect();
        if face.len() > 4 {
            continue;
        }
        // Barycentric coordinates of the projection of 0 on the affine hull.
        let m = face.len() - 1;
        let mut a = nalgebra::DMatrix::<f64>::zeros(m, m);
        let mut b = nalgebra::DVector::<f64>::zeros(m);
        for i in 0..m {
            let ei = face[i + 1] - face[0];
            for j in 0..m {
                a[(i, j)] = ei.dot(&(face[j + 1] - face[0]));
            }
            b[i] = -ei.dot(&face[0]);
        }
        let w = if m == 0 { Some(b) } else { a.full_piv_lu().solve(&b) };
        let Some(w) = w else { continue };
        if w.sum() > 1.0 + 1e-12 || w.iter().any(|&x| x < -1e-12) {
            continue;
        }
        let x = (0..m).fold(face[0], |x, i| x + (face[i + 1] - face[0]) * w[i]);
        if best.as_ref().is_none_or(|(d, ..)| x.norm_squared() < *d) {
            best = Some((x.norm_squared(), x, face));
        }
    }
    let (_, x, face) = best.unwrap();
    (x, face)
}

#[test]
fn hull_distance_is_exact_outside_and_at_most_0_on_its_points() {
    for (points, hull) in hulls() {
        let bounds = hull.bounds();
        let (center, extent) = (bounds.center(), bounds.extents().max());
        let mut rng = Rng(3);
        for i in 0..600 {
            let reach = if i % 2 == 0 { 0.6 } else { 3.0 };
            let offset = Vec3::new(rng.fraction() - 0.5, rng.fraction() - 0.5, rng.fraction() - 0.5) * (reach * extent);
            let p = if i % 3 == 0 { points[i % points.len()] + offset * 0.05 } else { center + offset };
            let q = local(&hull, &p);
            let p = hull.local_origin(&p) + Vec3::new(q[0].into(), q[1].into(), q[2].into());
            let phi = f64::from(hull.distance(q));
            let exact = hull_distance(&points, &p);
            if exact > 1e-5 * extent {
                assert!((phi - exact).abs() < 4e-6 * extent, "{phi} {exact} at {p}");
            } else {
                assert!(phi < 2e-5 * extent, "{phi} {exact}");
            }
        }
        for p in &points {
            assert!(hull.distance(local(&hull, p)) <= 2e-6 * extent as f32);
            assert!(bounds.contains(p));
        }
    }
}

/// Beside an edge, the gradient was divided by a distance with other rounding: the normal of a contact was 9e-6 too long.
#[test]
fn gradients_of_hulls_have_unit_length_at_any_distance() {
    for (points, hull) in hulls() {
        let extent = hull.bounds().extents().max();
        let mut rng = Rng(5);
        for i in 0..20_000 {
            let along = rng.fraction();
            let edge = points[i % points.len()] * along + points[(7 * i + 1) % points.len()] * (1.0 - along);
            let p = edge + unit_vector(&mut rng) * (extent * 10f64.powf(-6.0 * rng.fraction()));
            let (_, gradient) = hull.distance_gradient(local(&hull, &p));
            let length = gradient.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
            assert!((length - 1.0).abs() < 5e-7, "{length} at {p}");
        }
    }
}

fn everything() -> Vec<(String, Field)> {
    let mut all: Vec<(String, Field)> = cases().into_iter().map(|c| (c.name, c.field)).collect();
    all.extend(hulls().into_iter().enumerate().map(|(i, h)| (format!("hull {i}"), h.1)));
    all.push(("half-space".into(), Field::HalfSpace(HalfSpace::new(Vec3::new(0.3, -1.0, 0.2), 0.7).unwrap())));
    all
}

#[test]
fn stepping_back_along_the_gradient_lands_on_the_surface() {
    for (name, field) in everything() {
        let bounds = field.bounds();
        let finite = bounds.extents().iter().all(|x| x.is_finite());
        let (center, extent) = if finite { (bounds.center(), bounds.extents().max()) } else { (Vec3::zeros(), 1.0) };
        let mut rng = Rng(11);
        for _ in 0..2000 {
            let p =
                center + Vec3::new(rng.fraction() - 0.5, rng.fraction() - 0.5, rng.fraction() - 0.5) * (2.5 * extent);
            let q = local(&field, &p);
            let (phi, g) = field.distance_gradient(q);
            assert!((phi - field.distance(q)).abs() <= 1e-6 * extent as f32, "{name}: {phi} {}", field.distance(q));
            let norm = (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]).sqrt();
            assert!((norm - 1.0).abs() < 2e-6, "{name}: |g| = {norm} at {q:?}");
            let rest = field.distance([q[0] - phi * g[0], q[1] - phi * g[1], q[2] - phi * g[2]]).abs();
            assert!(rest < 6e-6 * extent as f32, "{name}: {rest} at {q:?}");
        }
    }
}

#[test]
fn half_space_is_as_precise_far_from_the_origin_as_near() {
    let n = Vec3::new(1.0, 2.0, -2.0) / 3.0;
    let field = HalfSpace::new(n * 7.0, 0.25).unwrap();
    for reach in [1.0, 1e3, 1e6] {
        let along = Vec3::new(2.0, -2.0, -1.0) / 3.0 * reach;
        for depth in [-0.01, 0.0, 1e-4, 0.3] {
            let p = along + n * (0.25 + depth);
            let q = p - field.local_origin(&p);
            let phi = f64::from(field.distance([q.x as f32, q.y as f32, q.z as f32]));
            assert!((phi - depth).abs() < 1e-7 + 1e-15 * reach, "{reach}: {phi} {depth}");
        }
    }
}

proptest! {
    #![proptest_config(support::cases(200))]
    #[test]
    fn no_point_of_a_ball_is_below_its_lower_bound(
        seed in any::<u64>(), far in -3.0f64..6.0, size in -6.0f64..4.0, kind in 0usize..3,
    ) {
        thread_local! { static ALL: Vec<(String, Field)> = everything(); }
        ALL.with(|all| {
            let mut rng = Rng(seed);
            for (name, field) in all {
                let reach = if kind == 0 { 10f64.powf(far) } else { 1.0 };
                let c = unit_vector(&mut rng) * (reach * rng.fraction());
                let c = [c.x as f32, c.y as f32, c.z as f32];
                let r = 10f64.powf(size) as f32;
                let bound = field.lower_bound(c, r);
                let (_, g) = field.distance_gradient(c);
                let down = -Vec3::new(g[0].into(), g[1].into(), g[2].into());
                for i in 0..40 {
                    let u = if i == 0 { down } else { unit_vector(&mut rng) };
                    let t = if i % 2 == 0 { 0.999_999_9 } else { rng.fraction() } * f64::from(r);
                    let x = [0, 1, 2].map(|k| (f64::from(c[k]) + u[k] * t) as f32);
                    let phi = field.distance(x);
                    prop_assert!(phi >= bound, "{name}: {phi} < {bound} at {x:?}, ball {c:?} {r}");
                }
            }
            Ok(())
        })?;
    }
}

#[test]
fn batches_give_the_same_bytes_as_single_calls() {
    let mut rng = Rng(5);
    let n = 37;
    let mut axis = || (0..n).map(|_| (rng.fraction() * 3.0 - 1.5) as f32).collect::<Vec<f32>>();
    let (x, y, z) = (axis(), axis(), axis());
    let r: Vec<f32> = axis().iter().map(|v| v.abs()).collect();
    for (name, field) in everything() {
        let (mut d, mut b) = (vec![0.0; n], vec![0.0; n]);
        field.distance_batch(&x, &y, &z, &mut d);
        field.lower_bound_batch(&x, &y, &z, &r, &mut b);
        for i in 0..n {
            assert_eq!(d[i].to_bits(), field.distance([x[i], y[i], z[i]]).to_bits(), "{name}");
            assert_eq!(b[i].to_bits(), field.lower_bound([x[i], y[i], z[i]], r[i]).to_bits(), "{name}");
        }
    }
}

#[test]
fn bad_parameters_are_refused_by_name() {
    let message = |e: voxshell::Error| e.to_string();
    assert!(message(Sphere::new(-1.0).unwrap_err()).contains("radius is -1"));
    assert!(message(Sphere::new(1e-60).unwrap_err()).contains("radius"));
    assert!(message(Cuboid::new([1.0, f64::NAN, 1.0]).unwrap_err()).contains("half_extents.y"));
    assert!(message(Capsule::new(3, 1.0, 1.0).unwrap_err()).contains("axis is 3"));
    assert!(message(Cylinder::new(0, 1.0, f64::INFINITY).unwrap_err()).contains("half_height"));
    assert!(message(Cone::new(0, 0.0, 1.0).unwrap_err()).contains("radius"));
    assert!(message(HalfSpace::new(Vec3::zeros(), 0.0).unwrap_err()).contains("normal"));
    assert!(message(ConvexHull::new(&[]).unwrap_err()).contains("points"));
}

#[test]
fn fields_survive_serialisation() {
    for (name, field) in everything() {
        let bytes = postcard::to_stdvec(&field).unwrap();
        let back: Field = postcard::from_bytes(&bytes).unwrap();
        assert!(back == field, "{name}");
        assert_eq!(back.distance([0.3, 0.7, -0.2]).to_bits(), field.distance([0.3, 0.7, -0.2]).to_bits());
    }
}
