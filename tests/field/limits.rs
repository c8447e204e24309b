//! Every kind of field far from its body, up to the largest coordinate and beyond: distances, gradients and segments.

use std::sync::Arc;

use support::rng::Rng;
use voxshell::ccd::segment::{first_fraction, first_fractions, first_hit, Segment, Start};
use voxshell::cook::FieldOptions;
use voxshell::field::{
    Ball, Capsule, Cone, ConvexHull, Cuboid, Cylinder, ExactField, Field, HalfSpace, MeshField, Sheet, SignedDistance,
    Sphere, SphereHull,
};
use voxshell::math::limits::MAX_COORDINATE;
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::primitives;
use voxshell::voxmap::VoxelOptions;
use voxshell::Error;

/// Returns bodies about 2 m large around the origin, one of each kind.
fn kinds() -> Vec<(&'static str, Field)> {
    let mesh = primitives::sphere(1.0, 2).unwrap();
    let options = FieldOptions::with_resolution(&mesh, 16);
    let dense = voxshell::cook::dense_field(&mesh, &options, &Progress::none()).unwrap();
    let bricks = voxshell::cook::brick_field(&mesh, &options, &Progress::none()).unwrap();
    let options = FieldOptions { padding_voxels: ExactField::PADDING, ..options };
    let roomy = voxshell::cook::dense_field(&mesh, &options, &Progress::none()).unwrap();
    let balls = [(-0.5, 0.5), (0.5, 0.4)].map(|(x, radius)| Ball { center: Vec3::new(x, 0.0, 0.0), radius });
    vec![
        ("dense", Field::Dense(dense)),
        ("bricks", Field::Bricks(bricks)),
        ("exact", Field::Exact(ExactField::new(roomy, Arc::new(mesh.clone())).unwrap())),
        ("half-space", Field::HalfSpace(HalfSpace::new(Vec3::new(0.3, 0.2, 0.9), 0.1).unwrap())),
        ("sphere", Field::Sphere(Sphere::new(1.0).unwrap())),
        ("box", Field::Cuboid(Cuboid::new([0.5, 0.7, 1.0]).unwrap())),
        ("capsule", Field::Capsule(Capsule::new(1, 0.4, 0.6).unwrap())),
        ("cylinder", Field::Cylinder(Cylinder::new(2, 0.8, 0.6).unwrap())),
        ("cone", Field::Cone(Cone::new(0, 0.8, 1.5).unwrap())),
        ("convex hull", Field::ConvexHull(ConvexHull::new(&mesh.vertices).unwrap())),
        ("sphere hull", Field::SphereHull(SphereHull::new(&balls).unwrap())),
        ("triangles", Field::Mesh(MeshField::new(mesh.clone()).unwrap())),
        ("sheet", Field::Sheet(Sheet::new(Arc::new(mesh), 0.1).unwrap())),
    ]
}

fn all_finite(numbers: &[f32]) -> bool {
    numbers.iter().all(|x| x.is_finite())
}

#[test]
fn no_field_panics_at_points_beyond_every_limit() {
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1e38, -3e19, 1e-40, -0.0, 0.5];
    for (name, field) in kinds() {
        for x in odd {
            for y in odd {
                for p in [[x, y, 0.1], [y, 0.0, x], [0.2, x, y]] {
                    let (phi, _) = field.distance_gradient(p);
                    assert_eq!(phi.to_bits(), field.distance(p).to_bits(), "{name} at {p:?}");
                    for r in [0.0, 1.0, f32::MAX, f32::INFINITY] {
                        field.lower_bound(p, r);
                    }
                    let (mut out, [x, y, z]) = ([0.0; 3], p.map(|c| [c; 3]));
                    field.distance_batch(&x, &y, &z, &mut out);
                    field.lower_bound_batch(&x, &y, &z, &[0.1; 3], &mut out);
                }
            }
        }
    }
}

#[test]
fn distances_and_gradients_hold_up_to_the_largest_coordinate() {
    let mut rng = Rng(5);
    for (name, field) in kinds() {
        let plane = if let Field::HalfSpace(h) = &field { Some((h.normal(), h.offset())) } else { None };
        for exponent in 1..=18 {
            for _ in 0..20 {
                // Up to the corners of the cube of coordinates, and twice as far, because relative positions can be
                // that large.
                let toward = Vec3::new(rng.unit(), rng.unit(), rng.unit()).normalize();
                let far = toward / toward.amax() * 10f64.powi(exponent) * if exponent == 18 { 2.0 } else { 1.0 };
                let p = (far - field.local_origin(&Vec3::zeros())).map(|x| x as f32);
                let (phi, g) = field.distance_gradient(p.into());
                let bound = field.lower_bound(p.into(), 1.0);
                assert!(all_finite(&[phi, bound, g[0], g[1], g[2]]), "{name} at {far:?}: {phi}, {bound}, {g:?}");
                let expected = plane.map_or(far.norm(), |(normal, offset)| normal.dot(&far) - offset);
                let slack = 1.5 + 1e-6 * far.norm();
                assert!((f64::from(phi) - expected).abs() < slack, "{name} at {far:?}: {phi} for {expected}");
                let lowest = 0.5 * (expected - 4.0 - slack).min(0.0) + 0.5 * expected - 4.0;
                assert!(f64::from(bound) <= expected - 1.0 + slack, "{name} at {far:?}: {bound}");
                assert!(f64::from(bound) >= lowest || expected < 0.0, "{name} at {far:?}: {bound}");
                let out = plane.map_or(far.normalize(), |(normal, _)| normal);
                let along = Vec3::from(g.map(f64::from)).dot(&out);
                assert!((along - 1.0).abs() < 0.2 / 10f64.powi(exponent - 1).min(1e4), "{name} at {far:?}: {g:?}");
            }
        }
    }
}

#[test]
fn long_segments_through_a_body_hit_it() {
    for (name, field) in kinds() {
        for exponent in 0..=18 {
            let far = 2.0 * 10f64.powi(exponent).min(0.5 * MAX_COORDINATE);
            for axis in 0..3 {
                for sign in [-1.0, 1.0] {
                    let mut from = Vec3::new(0.06, 0.04, 0.05);
                    let mut to = from;
                    (from[axis], to[axis]) = (-sign * far, sign * far);
                    let segment = Segment::new(from, to);
                    let hit =
                        first_hit(&field, &segment, 0.0, Start::Hit).unwrap_or_else(|| panic!("{name}: {segment:?}"));
                    assert!(hit.normal.iter().chain(&hit.point).all(|x| x.is_finite()), "{name}: {hit:?}");
                    if name == "half-space" {
                        continue;
                    }
                    // To the rounding of the coordinates of its ends.
                    let off = (hit.point - Vec3::new(0.06, 0.04, 0.05)).norm();
                    assert!(off < 1.5 + 1e-13 * far, "{name}: {segment:?} at {:?}", hit.point);
                    let mut fractions = [None];
                    first_fractions(&field, &[segment], 0.0, Start::Hit, &mut fractions);
                    assert_eq!(fractions[0], Some(hit.fraction), "{name}: {segment:?}");
                }
            }
        }
    }
}

#[test]
fn long_segments_beside_a_body_miss_it() {
    let mut rng = Rng(9);
    for (name, field) in kinds() {
        if name == "half-space" {
            continue;
        }
        for exponent in 1..=18 {
            for _ in 0..20 {
                let far = 10f64.powi(exponent);
                let side = Vec3::new(rng.unit(), rng.unit(), rng.unit()).normalize() * far;
                let way = side.cross(&Vec3::new(rng.unit(), rng.unit(), rng.unit())).normalize() * far;
                let segment = Segment::new((side - way) * 0.5, (side + way) * 0.5);
                assert_eq!(first_fraction(&field, &segment, 0.0, Start::Hit), None, "{name}: {segment:?}");
            }
        }
    }
}

#[test]
fn a_refused_grid_names_the_count_that_is_too_large() {
    let cube = primitives::cuboid([0.5; 3]).unwrap();
    let rod = primitives::cuboid([0.5, 5e-7, 5e-7]).unwrap();
    let message = |mesh, voxel_size| {
        let options = FieldOptions { memory_limit: u64::MAX, ..FieldOptions::new(voxel_size) };
        let dense = voxshell::cook::dense_field(mesh, &options, &Progress::none()).unwrap_err();
        let bricks = voxshell::cook::brick_field(mesh, &options, &Progress::none()).unwrap_err();
        assert!(matches!([&dense, &bricks], [Error::TooMany { .. }, Error::TooMany { .. }]), "{dense}, {bricks}");
        assert_eq!(dense.to_string(), bricks.to_string());
        dense.to_string()
    };
    let said = message(&rod, 5e-7);
    assert_eq!(
        said,
        "the grid has 2000009 x 11 x 11 nodes; expected at most 1048576 nodes along each axis: try a larger voxel size"
    );
    let said = message(&cube, 1.0 / 13_327.0);
    assert_eq!(
        said,
        "the grid has 13336 x 13336 x 13336 = 2371792877056 nodes; expected at most 1099511627776 in all: try a larger voxel size"
    );
    let said = VoxelOptions::new(1.0 / 13_327.0).grid(&cube).unwrap_err();
    assert!(matches!(&said, Error::TooMany { .. }), "{said}");
    let small = FieldOptions { memory_limit: 1 << 20, ..FieldOptions::new(1e-6) };
    let said = voxshell::cook::dense_field(&cube, &small, &Progress::none()).unwrap_err();
    assert!(matches!(&said, Error::TooLarge { .. }), "{said}");
}
