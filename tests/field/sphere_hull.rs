//! The hull of balls against its definition: the largest u·x − h(u) over all directions, searched in f64.

use support::rng::Rng;
use voxshell::field::{Ball, Capsule, Cuboid, Field, SignedDistance, Sphere, SphereHull, MAX_BALLS};
use voxshell::math::{Aabb, Vec3};
use voxshell::Error;

fn ball(center: [f64; 3], radius: f64) -> Ball {
    Ball { center: center.into(), radius }
}

fn value(balls: &[Ball], x: &Vec3, u: &Vec3) -> f64 {
    balls.iter().map(|b| u.dot(&(x - b.center)) - b.radius).fold(f64::INFINITY, f64::min)
}

/// Evaluates the definition in directions all over the sphere, then ever closer around the best of them.
fn by_definition(balls: &[Ball], x: &Vec3) -> f64 {
    const N: usize = 3_000;
    let mut starts: Vec<(f64, Vec3)> = (0..N)
        .map(|i| {
            let z = 1.0 - (2 * i + 1) as f64 / N as f64;
            let (r, phi) = ((1.0 - z * z).sqrt(), i as f64 * 2.399963229728653);
            let u = Vec3::new(r * phi.cos(), r * phi.sin(), z);
            (value(balls, x, &u), u)
        })
        .collect();
    starts.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut best = f64::NEG_INFINITY;
    for (mut here, mut u) in starts.into_iter().take(6) {
        let mut reach = 0.06;
        for _ in 0..60 {
            let side = u.cross(&if u.x.abs() < 0.6 { Vec3::x() } else { Vec3::y() }).normalize();
            let other = u.cross(&side);
            let around = (-6..=6).flat_map(|i| (-6..=6).map(move |j| (f64::from(i) / 6.0, f64::from(j) / 6.0)));
            let tried = around.map(|(i, j)| (u + (side * i + other * j) * reach).normalize());
            let better = tried.map(|v| (value(balls, x, &v), v)).max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            if better.0 > here {
                (here, u) = better;
            }
            reach *= 0.7;
        }
        best = best.max(here);
    }
    best
}

fn sets() -> Vec<(&'static str, Vec<Ball>)> {
    let mut rng = Rng(12);
    let mut random = |n: usize, largest: f64| -> Vec<Ball> {
        (0..n).map(|_| Ball { center: rng.vector() * 0.6, radius: largest * rng.unit().abs() }).collect()
    };
    let corners =
        |r: f64| (0..8).map(|i| ball([0, 1, 2].map(|k| if i >> k & 1 == 1 { 0.4 } else { -0.4 }), r)).collect();
    vec![
        ("two of two sizes", vec![ball([0.0, 0.0, 0.0], 0.5), ball([0.0, 0.7, 0.1], 0.2)]),
        ("nearly inside", vec![ball([0.0, 0.0, 0.0], 0.5), ball([0.31, 0.0, 0.0], 0.2)]),
        ("three in a row", vec![ball([-0.5, 0.0, 0.0], 0.2), ball([0.0, 0.0, 0.0], 0.3), ball([0.5, 0.0, 0.0], 0.1)]),
        ("a plate", vec![ball([0.4, 0.0, 0.0], 0.1), ball([-0.3, 0.3, 0.0], 0.1), ball([-0.3, -0.3, 0.0], 0.1)]),
        (
            "a ball on a triangle",
            vec![
                ball([0.0, 0.0, 0.0], 0.3),
                ball([0.5, 0.0, 0.2], 0.0),
                ball([-0.3, 0.4, 0.2], 0.0),
                ball([-0.3, -0.4, 0.2], 0.0),
            ],
        ),
        ("a rounded box", corners(0.1)),
        (
            "a tetrahedron of points",
            vec![
                ball([0.5, 0.0, 0.0], 0.0),
                ball([0.0, 0.5, 0.0], 0.0),
                ball([0.0, 0.0, 0.5], 0.0),
                ball([-0.4, -0.4, -0.4], 0.0),
            ],
        ),
        ("five at random", random(5, 0.4)),
        ("twelve at random", random(12, 0.3)),
        ("forty at random", random(40, 0.1)),
    ]
}

#[test]
fn the_distance_is_what_its_definition_says() {
    for (name, balls) in sets() {
        let hull = SphereHull::new(&balls).unwrap();
        let origin = hull.local_origin(&Vec3::zeros());
        let mut rng = Rng(31);
        let (mut inside, mut worst) = (0, 0.0f64);
        for i in 0..120 {
            // Half of them near the balls, some where several directions are equally good: at centres and on the line
            // of two.
            let x = match i % 5 {
                0 => balls[i % balls.len()].center,
                1 => balls[i % balls.len()].center.lerp(&balls[(i + 1) % balls.len()].center, rng.unit()),
                2 => rng.vector() * 0.4,
                _ => rng.vector() * 1.5,
            };
            let local = (x - origin).map(|c| c as f32);
            let exact = by_definition(&balls, &(local.map(f64::from) + origin));
            let (phi, gradient) = hull.distance_gradient(local.into());
            assert_eq!(phi, hull.distance(local.into()));
            let error = f64::from(phi) - exact;
            // The search may stop below the maximum, but the result must not be below any value that it found.
            assert!((-3e-7..1e-3).contains(&error), "{name} at {:?}: {phi} for {exact}", x.as_slice());
            assert!((Vec3::from(gradient.map(f64::from)).norm() - 1.0).abs() < 1e-6);
            // A plane with the gradient as its normal is at that distance, so the distance is not too large.
            let u = Vec3::from(gradient.map(f64::from)).normalize();
            let of_plane = value(&balls, &(local.map(f64::from) + origin), &u);
            assert!(
                (of_plane - f64::from(phi)).abs() < 1e-6,
                "{name} at {x:?}: along the gradient {of_plane} for {phi}"
            );
            inside += usize::from(phi < 0.0);
            worst = worst.max(error.abs());
        }
        eprintln!(
            "{name}: {} of {} balls reach the surface, {inside} points inside, worst error {worst:.1e}",
            hull.balls().len(),
            balls.len()
        );
        assert!(inside > 10, "{name}: only {inside} points inside");
    }
}

#[test]
fn simple_hulls_are_the_shapes_they_look_like() {
    let shift = Vec3::new(3.0, -2.0, 1.0);
    let corners: Vec<Ball> =
        (0..8).map(|i| ball([0, 1, 2].map(|k| if i >> k & 1 == 1 { 0.4 } else { -0.4 }), 0.001)).collect();
    let cases: Vec<(&str, Vec<Ball>, Field, f32)> = vec![
        ("sphere", vec![ball([0.0; 3], 0.5)], Field::Sphere(Sphere::new(0.5).unwrap()), 0.0),
        (
            "capsule",
            vec![ball([0.0, 0.4, 0.0], 0.2), ball([0.0, -0.4, 0.0], 0.2)],
            Field::Capsule(Capsule::new(1, 0.2, 0.4).unwrap()),
            0.0,
        ),
        ("box", corners, Field::Cuboid(Cuboid::new([0.4; 3]).unwrap()), 0.001),
    ];
    let mut rng = Rng(8);
    for (name, balls, field, margin) in cases {
        let turn = rng.rotation();
        let moved: Vec<Ball> = balls.iter().map(|b| Ball { center: turn * b.center + shift, ..*b }).collect();
        let hull = SphereHull::new(&moved).unwrap();
        assert!((hull.local_origin(&Vec3::zeros()) - shift).norm() < 1e-12, "{name}");
        for _ in 0..2_000 {
            let p = (rng.vector() * 1.2).map(|c| c as f32);
            let (phi, gradient) = hull.distance_gradient((turn * p.map(f64::from)).map(|c| c as f32).into());
            let (expected, direction) = field.distance_gradient(p.into());
            assert!((phi - (expected - margin)).abs() < 5e-7, "{name} at {p}: {phi} for {expected}");
            let turned =
                (turn.inverse() * Vec3::from(gradient.map(f64::from)) - Vec3::from(direction.map(f64::from))).norm();
            assert!(turned < 2e-3 || expected < 0.0, "{name} at {p}: {gradient:?} for {direction:?}");
        }
        let mut bounds = Aabb::empty();
        for b in &moved {
            bounds = bounds.merged(&Aabb { min: b.center, max: b.center }.inflated(b.radius));
        }
        assert!((hull.bounds().min - bounds.min).norm() < 1e-6 && (hull.bounds().max - bounds.max).norm() < 1e-6);
    }
}

#[test]
fn the_bound_over_a_ball_is_one() {
    for (name, balls) in sets() {
        let hull = SphereHull::new(&balls).unwrap();
        let mut rng = Rng(77);
        for _ in 0..3_000 {
            let c = (rng.vector() * 1.2).map(|x| x as f32);
            let r = (rng.unit().abs() * 0.4) as f32;
            let p = c + rng.vector().map(|x| x as f32) * (0.999 * r);
            let bound = hull.lower_bound(c.into(), r);
            assert!(bound <= hull.distance(p.into()), "{name}");
            assert!(bound >= hull.distance(c.into()) - r - 1e-5, "{name}: a bound that prunes nothing");
        }
    }
}

#[test]
fn balls_inside_the_hull_of_others_are_dropped() {
    let outer = [ball([-0.5, 0.0, 0.0], 0.2), ball([0.5, 0.0, 0.0], 0.2), ball([0.0, 0.5, 0.0], 0.2)];
    let inner = [ball([0.0, 0.1, 0.0], 0.15), ball([0.1, 0.1, 0.0], 0.1), outer[0], ball([0.5, 0.01, 0.0], 0.1)];
    let all: Vec<Ball> = inner.iter().chain(&outer).copied().collect();
    let hull = SphereHull::new(&all).unwrap();
    assert_eq!(hull.balls().len(), 3, "{:?}", hull.balls());
    let reference = SphereHull::new(&outer).unwrap();
    let mut rng = Rng(4);
    for _ in 0..500 {
        let p = rng.vector().map(|x| x as f32).into();
        assert!((hull.distance(p) - reference.distance(p)).abs() < 1e-7);
    }
}

#[test]
fn the_most_balls_are_taken_and_answer_in_time() {
    let mut rng = Rng(6);
    let balls: Vec<Ball> = (0..MAX_BALLS).map(|_| Ball { center: rng.vector().normalize(), radius: 0.01 }).collect();
    let hull = SphereHull::new(&balls).unwrap();
    assert!(hull.balls().len() > 50);
    for _ in 0..50 {
        let x = rng.vector() * 1.5;
        let local = (x - hull.local_origin(&x)).map(|c| c as f32);
        let exact = by_definition(&balls, &(local.map(f64::from) + hull.local_origin(&x)));
        let error = f64::from(hull.distance(local.into())) - exact;
        assert!((-3e-7..1e-3).contains(&error), "{error}");
    }
}

#[test]
fn shapes_without_volume_are_refused_by_name() {
    let refused = |balls: &[Ball], what: &str| match SphereHull::new(balls) {
        Err(Error::InvalidArgument { argument, .. }) => assert_eq!(argument, what),
        other => panic!("{other:?}"),
    };
    refused(&[], "sphere_count");
    refused(&vec![ball([0.0; 3], 1.0); MAX_BALLS + 1], "sphere_count");
    refused(&[ball([0.0; 3], 1.0), ball([0.0, f64::NAN, 0.0], 1.0)], "centers[1]");
    refused(&[ball([0.0; 3], -1.0)], "radii[0]");
    refused(&[ball([0.0; 3], f64::INFINITY)], "radii[0]");
    refused(&[ball([0.0; 3], 0.0)], "radii");
    let square = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
    refused(&square.map(|c| ball(c, 0.0)), "radii");
    // With one ball of positive radius the hull has a volume.
    let mut balls = square.map(|c| ball(c, 0.0));
    balls[2].radius = 0.1;
    assert!(SphereHull::new(&balls).is_ok());
}

#[test]
fn copies_of_one_ball_are_one() {
    let hull = SphereHull::new(&[ball([0.1, 0.2, 0.3], 0.4); 60]).unwrap();
    assert_eq!(hull.balls().len(), 1);
    assert_eq!(hull.distance([0.0; 3]), -0.4);
}
