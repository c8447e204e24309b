//! Rays and points against parry's triangles, and the mass of bodies.

use parry3d::math::Vector;
use parry3d::query::{PointQuery, Ray, RayCast};
use parry3d::shape::Shape;
use voxshell_rapier::voxshell::asset::Storage;

use crate::bodies::{body, body_with, Random};

#[test]
fn rays_meet_the_body_where_they_meet_its_triangles() {
    for name in ["gear", "torus", "bowl"] {
        let body = body_with(name, 64, Storage::Exact);
        let mut random = Random(11);
        let mut hits = 0;
        for _ in 0..2000 {
            let from = random.direction() * 0.3;
            let ray = Ray::new(from, (random.vector() * 0.1 - from) * 3.0);
            let oracle = body.mesh.cast_local_ray_and_get_normal(&ray, f32::MAX, true);
            let found = body.shape.cast_local_ray_and_get_normal(&ray, f32::MAX, true);
            if let (Some(oracle), Some(found)) = (&oracle, &found) {
                let error = (oracle.time_of_impact - found.time_of_impact).abs() * ray.dir.length();
                // A ray along a face meets it anywhere.
                let facing = oracle.normal.dot(ray.dir.normalize()).abs();
                assert!(error * facing < 1e-5, "{name}: {oracle:?}, {found:?}");
                hits += 1;
            } else {
                // A ray past an edge may meet one of the two within rounding.
                let met = oracle.or(found);
                let near = met.is_none_or(|met| {
                    let point = ray.point_at(met.time_of_impact);
                    body.mesh.distance_to_local_point(point + ray.dir.normalize() * 1e-3, false).abs() < 1.1e-3
                });
                assert!(near, "{name}: only one of two has {met:?}");
            }
        }
        assert!(hits > 200, "{name}: {hits} hits");
    }
}

#[test]
fn rays_from_inside_start_at_once_or_leave() {
    let body = body_with("gear", 64, Storage::Exact);
    let ray = Ray::new(Vector::new(0.06, 0.0, 0.0), Vector::new(0.0, 0.0, 0.5));
    let inside = body.shape.contains_local_point(ray.origin);
    assert!(inside, "the test needs a point inside");
    assert_eq!(body.shape.cast_local_ray(&ray, 1.0, true), Some(0.0));
    let exit = body.shape.cast_local_ray_and_get_normal(&ray, 1.0, false).unwrap();
    let oracle = body.mesh.cast_local_ray(&ray, 1.0, false).unwrap();
    assert!((exit.time_of_impact - oracle).abs() < 1e-4, "{exit:?}, {oracle}");
    assert!(exit.normal.dot(ray.dir) < 0.0, "{exit:?}");
}

#[test]
fn points_have_the_distance_of_the_triangles() {
    for name in ["gear", "torus", "bowl"] {
        let body = body(name);
        let mut random = Random(5);
        for _ in 0..2000 {
            let p = random.vector() * 0.15;
            let (oracle, found) = (body.mesh.project_local_point(p, false), body.shape.project_local_point(p, false));
            let (of_oracle, of_found) = ((oracle.point - p).length(), (found.point - p).length());
            assert!((of_oracle - of_found).abs() < 1e-5, "{name}: {of_found}, not {of_oracle}");
            assert!(oracle.is_inside == found.is_inside || of_oracle < 1e-5, "{name}: {p:?}, {of_oracle}");
        }
    }
}

#[test]
fn boxes_balls_and_mass_are_those_of_the_body() {
    let body = body("gear");
    let (of_shape, of_mesh) = (body.shape.mass_properties(1000.0), body.mesh.mass_properties(1000.0));
    assert!((of_shape.mass() / of_mesh.mass() - 1.0).abs() < 1e-4);
    assert!((of_shape.local_com - of_mesh.local_com).length() < 1e-5);
    let (mut p, mut q) = (of_shape.principal_inertia().to_array(), of_mesh.principal_inertia().to_array());
    p.sort_by(f32::total_cmp);
    q.sort_by(f32::total_cmp);
    (0..3).for_each(|i| assert!((p[i] / q[i] - 1.0).abs() < 1e-3, "{p:?}, {q:?}"));
    let (aabb, sphere) = (body.shape.compute_local_aabb(), body.shape.compute_local_bounding_sphere());
    for v in body.mesh.vertices() {
        assert!(aabb.contains_local_point(*v), "{v:?}");
        assert!((*v - sphere.center).length() <= sphere.radius * 1.00001, "{v:?}");
    }
    let scaled = body.shape.scale_dyn(Vector::splat(2.0), 0).unwrap();
    assert!((scaled.compute_local_aabb().extents() - aabb.extents() * 2.0).length() < 1e-3);
    assert!(body.shape.scale_dyn(Vector::new(1.0, 2.0, 1.0), 0).is_none());
    assert!((0.005..0.02).contains(&body.shape.ccd_thickness()), "{}", body.shape.ccd_thickness());
}
