//! The hierarchy against brute force over all triangles (closest point, winding number, rays, boxes) on random soup,
//! slivers, duplicated and flipped triangles, and far from the origin.

use proptest::prelude::*;
use voxshell::math::{Aabb, Pose, Rotation, Vec3};
use voxshell::mesh::{triangle, Bvh, Feature, TriMesh};

/// Returns the distance from `p` to a triangle by another method than the library's: the foot on the plane by
/// Gram–Schmidt if it is inside all three edges, else the nearest of the three segments.
fn distance_to_triangle(p: &Vec3, t: &[Vec3; 3]) -> f64 {
    let segment = |a: &Vec3, b: &Vec3| {
        let d = b - a;
        let l = d.norm();
        if l == 0.0 {
            return (p - a).norm();
        }
        let u = d / l;
        (p - (a + u * (p - a).dot(&u).clamp(0.0, l))).norm()
    };
    let edges = segment(&t[0], &t[1]).min(segment(&t[1], &t[2])).min(segment(&t[2], &t[0]));
    let n = (t[1] - t[0]).cross(&(t[2] - t[0]));
    let longest = (0..3).map(|i| (t[i] - t[(i + 1) % 3]).norm()).fold(0.0, f64::max);
    if n.norm() <= 1e-14 * longest * longest {
        return edges;
    }
    let n = n.normalize();
    let inside = (0..3).all(|i| (t[(i + 1) % 3] - t[i]).cross(&(p - t[i])).dot(&n) > 0.0);
    if inside {
        edges.min((p - t[0]).dot(&n).abs())
    } else {
        edges
    }
}

fn corners(mesh: &TriMesh, t: usize) -> [Vec3; 3] {
    mesh.corners(t).map(Vec3::from)
}

fn brute_distance(mesh: &TriMesh, p: &Vec3) -> f64 {
    (0..mesh.triangles.len()).map(|t| distance_to_triangle(p, &corners(mesh, t))).fold(f64::INFINITY, f64::min)
}

/// Checks every member of the answer against brute force with tolerance `tol` metres.
fn check_closest(mesh: &TriMesh, bvh: &Bvh, p: Vec3, tol: f64) {
    let c = bvh.closest_point(p);
    let brute = brute_distance(mesh, &p);
    let got = c.distance_squared.sqrt();
    assert!((got - brute).abs() <= tol, "at {p:?}: {got} against {brute}");
    assert_eq!(c.distance_squared, (c.point - p).norm_squared());
    let t = corners(mesh, c.triangle as usize);
    assert!(distance_to_triangle(&c.point, &t) <= tol, "the point is on its triangle");
    match c.feature {
        Feature::Vertex(i) => assert_eq!(c.point, t[i as usize]),
        Feature::Edge(i) => {
            let (a, b) = (t[i as usize], t[(i as usize + 1) % 3]);
            assert!(distance_to_triangle(&c.point, &[a, b, b]) <= tol);
        }
        Feature::Face => {}
    }
    assert!(bvh.is_within(p, got * (1.0 + 1e-12)));
    assert!(got == 0.0 || !bvh.is_within(p, got * (1.0 - 1e-9)));
    assert_eq!(bvh.closest_within(p, got * (1.0 + 1e-12)).map(|c| c.triangle), Some(c.triangle));
    if got > 0.0 {
        assert_eq!(bvh.closest_within(p, got * (1.0 - 1e-9)), None);
    }
}

/// Returns the part of a polygon that is in a box (Sutherland & Hodgman 1974).
fn clipped(mut polygon: Vec<Vec3>, b: &Aabb) -> Vec<Vec3> {
    for (axis, bound, sign) in (0..3).flat_map(|k| [(k, b.min[k], 1.0), (k, b.max[k], -1.0)]) {
        let inside = |p: &Vec3| (p[axis] - bound) * sign;
        let mut kept = Vec::new();
        for i in 0..polygon.len() {
            let (p, q) = (polygon[i], polygon[(i + 1) % polygon.len()]);
            let (dp, dq) = (inside(&p), inside(&q));
            if dp >= 0.0 {
                kept.push(p);
            }
            if (dp >= 0.0) != (dq >= 0.0) {
                kept.push(p + (q - p) * (dp / (dp - dq)));
            }
        }
        polygon = kept;
    }
    polygon
}

fn coordinate() -> impl Strategy<Value = f64> {
    // A coarse lattice beside random numbers, so that coincidences (shared, collinear, coplanar) are common.
    prop_oneof![(-4i32..=4).prop_map(|i| f64::from(i) * 0.25), -1.0..1.0]
}

fn point() -> impl Strategy<Value = [f64; 3]> {
    [coordinate(), coordinate(), coordinate()]
}

fn soup() -> impl Strategy<Value = TriMesh> {
    (prop::collection::vec(point(), 3..40), prop::collection::vec([any::<u16>(), any::<u16>(), any::<u16>()], 1..120))
        .prop_map(|(v, t)| {
            let n = v.len() as u32;
            TriMesh::new(v, t.into_iter().map(|t| t.map(|i| u32::from(i) % n)).collect()).unwrap()
        })
}

/// Generates tetrahedra, each wound outward or with all four faces inward.
fn tetrahedra() -> impl Strategy<Value = TriMesh> {
    prop::collection::vec([point(), point(), point(), point()], 1..8).prop_map(|bodies| {
        let faces = (0..bodies.len() as u32)
            .flat_map(|b| [[0, 1, 2], [0, 3, 1], [1, 3, 2], [0, 2, 3]].map(|f| f.map(|i| 4 * b + i)));
        let triangles = faces.collect();
        TriMesh::new(bodies.into_iter().flatten().collect(), triangles).unwrap()
    })
}

proptest! {
    #![proptest_config(support::cases(300))]

    #[test]
    fn crossings_along_x_are_the_winding_number_of_closed_surfaces(mesh in tetrahedra(), points in prop::collection::vec(point(), 20)) {
        let bvh = Bvh::build(&mesh);
        for p in points.into_iter().map(Vec3::from) {
            // On the surface neither is defined.
            if brute_distance(&mesh, &p) < 1e-9 {
                continue;
            }
            let (winding, count) = bvh.crossings_along_x(p);
            prop_assert_eq!(f64::from(winding), bvh.winding_number_exact(p).round());
            prop_assert_eq!(winding.rem_euclid(2) as u32, count % 2);
        }
    }

    #[test]
    fn closest_point_on_soup_is_that_of_brute_force(mesh in soup(), points in prop::collection::vec(point(), 8)) {
        let bvh = Bvh::build(&mesh);
        for p in points {
            check_closest(&mesh, &bvh, Vec3::from(p) * 1.5, 1e-12);
        }
    }

    #[test]
    fn closest_point_far_from_origin_keeps_what_coordinates_keep(mesh in soup(), points in prop::collection::vec(point(), 4)) {
        let shift = Vec3::new(1e6, -1e6, 1e6);
        let far = mesh.transformed(&Pose::from_parts(shift.into(), Rotation::identity()), 1.0);
        let bvh = Bvh::build(&far);
        for p in points {
            check_closest(&far, &bvh, Vec3::from(p) * 1.5 + shift, 1e-9);
        }
    }

    #[test]
    fn closest_point_on_slivers_is_that_of_brute_force(
        mesh in soup(), thin in prop_oneof![Just(0.0), Just(1e-16), Just(1e-12), Just(1e-9), Just(1e-6)],
        points in prop::collection::vec(point(), 8),
    ) {
        let flat = TriMesh::new(mesh.vertices.iter().map(|v| [v[0], v[1] * thin, v[0] + v[2] * thin]).collect(), mesh.triangles.clone()).unwrap();
        let bvh = Bvh::build(&flat);
        for p in points {
            check_closest(&flat, &bvh, Vec3::from(p), 1e-9);
        }
    }

    #[test]
    fn winding_number_on_soup_is_the_exact_sum(mesh in soup(), points in prop::collection::vec(point(), 8)) {
        let bvh = Bvh::build(&mesh);
        for p in points {
            let p = Vec3::from(p) * 3.0;
            let (fast, exact) = (bvh.winding_number(p), bvh.winding_number_exact(p));
            prop_assert!((fast - exact).abs() < 2e-3 * (1.0 + mesh.triangles.len() as f64 / 20.0), "{} against {}", fast, exact);
        }
    }

    #[test]
    fn winding_sum_with_one_arc_tangent_is_the_plain_sum(mesh in soup(), p in point()) {
        let (mut sum, mut plain, p) = (triangle::WindingSum::default(), 0.0, Vec3::from(p));
        for t in 0..mesh.triangles.len() {
            sum.add(&corners(&mesh, t), &p);
            plain += triangle::winding(&corners(&mesh, t), &p);
            prop_assert!((sum.value() - plain).abs() < 1e-12, "{} against {}", sum.value(), plain);
        }
    }

    #[test]
    fn boxes_find_the_triangles_that_touch_them(mesh in soup(), a in point(), b in point()) {
        let bvh = Bvh::build(&mesh);
        let bounds = Aabb::from_points([&a, &b]);
        let mut found = Vec::new();
        bvh.triangles_overlapping_box(&bounds, &mut found);
        prop_assert!(found.is_sorted());
        for t in 0..mesh.triangles.len() {
            let hit = found.contains(&(t as u32));
            let part = |margin: f64| clipped(corners(&mesh, t).to_vec(), &bounds.inflated(margin));
            prop_assert!(hit || part(-1e-9).is_empty(), "triangle {} is missed", t);
            prop_assert!(!hit || !part(1e-9).is_empty(), "triangle {} is too much", t);
        }
    }

    #[test]
    fn balls_find_the_triangles_within(mesh in soup(), p in point(), radius in 0.0..1.0f64) {
        let bvh = Bvh::build(&mesh);
        let (p, mut found) = (Vec3::from(p), Vec::new());
        bvh.triangles_within(p, radius, &mut found);
        for t in 0..mesh.triangles.len() {
            let d = distance_to_triangle(&p, &corners(&mesh, t));
            if (d - radius).abs() > 1e-9 {
                prop_assert_eq!(found.contains(&(t as u32)), d < radius);
            }
        }
    }

    #[test]
    fn ray_hits_the_first_triangle_of_all(mesh in soup(), origin in point(), direction in point()) {
        let (o, d) = (Vec3::from(origin) * 1.7, Vec3::from(direction));
        let hit = Bvh::build(&mesh).ray_first_hit(o, d, 10.0);
        let alone = (0..mesh.triangles.len())
            .filter_map(|t| {
                let one = TriMesh::new(mesh.corners(t).to_vec(), vec![[0, 1, 2]]).unwrap();
                Bvh::build(&one).ray_first_hit(o, d, 10.0).map(|(at, _)| (at, t as u32))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        prop_assert_eq!(hit, alone);
        if let Some((at, t)) = hit {
            prop_assert!(distance_to_triangle(&(o + d * at), &corners(&mesh, t as usize)) < 1e-9 * (1.0 + at));
        }
        prop_assert_eq!(Bvh::build(&mesh).any_intersection(o, d, 10.0), hit.is_some());
    }
}

/// Iterates over points around and inside a mesh, quasi-random (Halton).
fn points_around(bounds: &Aabb, n: u32) -> impl Iterator<Item = Vec3> + '_ {
    let halton = |mut i: u32, base: u32| {
        let (mut f, mut r) = (1.0, 0.0);
        while i > 0 {
            f /= f64::from(base);
            r += f * f64::from(i % base);
            i /= base;
        }
        r
    };
    (1..=n).map(move |i| {
        let u = Vec3::new(halton(i, 2), halton(i, 3), halton(i, 5));
        bounds.center() + bounds.extents().component_mul(&(u.add_scalar(-0.5) * 1.4))
    })
}

#[test]
fn real_meshes_agree_with_brute_force() {
    for name in ["bunny_777_decimated.obj", "fandisk_6k_cad.obj", "teapot_3k_open.obj", "alpha_puzzle_robot.obj"] {
        let Some(mesh) = support::shared_mesh(name) else { continue };
        let bvh = Bvh::build(&mesh);
        let mut worst = 0.0_f64;
        for p in points_around(&mesh.bounds(), 400) {
            check_closest(&mesh, &bvh, p, 1e-13);
            worst = worst.max((bvh.winding_number(p) - bvh.winding_number_exact(p)).abs());
        }
        println!("{name}: winding number off by {worst:.1e}");
        assert!(worst < 1e-3, "{name}: {worst}");
    }
}

#[test]
fn winding_number_tells_inside_from_outside_of_the_closed_bunny() {
    let Some(mesh) = support::shared_mesh("bunny_34k_filled.obj") else { return };
    let bvh = Bvh::build(&mesh);
    let mut inside = 0;
    for p in points_around(&mesh.bounds(), 2000) {
        // Parity along a generic direction is an independent answer for a closed mesh.
        let d = Vec3::new(0.5773, 0.211, 0.788);
        let (mut crossings, mut from) = (0, p);
        while let Some((t, _)) = bvh.ray_first_hit(from, d, 10.0) {
            crossings += 1;
            from += d * (t + 1e-9);
        }
        let w = bvh.winding_number(p);
        assert!((w - f64::from(crossings % 2)).abs() < 2e-3, "{w} at {p:?} with {crossings} crossings");
        inside += crossings % 2;
    }
    assert!(inside > 100, "{inside}");
}

#[test]
fn flipped_mesh_winds_backwards_and_duplicated_mesh_twice() {
    let Some(mesh) = support::shared_mesh("bunny_777_decimated.obj") else { return };
    let flipped =
        TriMesh::new(mesh.vertices.clone(), mesh.triangles.iter().map(|t| [t[0], t[2], t[1]]).collect()).unwrap();
    let twice =
        TriMesh::new(mesh.vertices.clone(), mesh.triangles.iter().chain(&mesh.triangles).copied().collect()).unwrap();
    let [one, back, two] = [&mesh, &flipped, &twice].map(Bvh::build);
    for p in points_around(&mesh.bounds(), 200) {
        let w = one.winding_number(p).round();
        assert!((back.winding_number(p) + w).abs() < 1e-3);
        assert!((two.winding_number(p) - 2.0 * w).abs() < 2e-3);
        let d = one.closest_point(p).distance_squared;
        assert!((back.closest_point(p).distance_squared - d).abs() < 1e-15);
        assert_eq!(two.closest_point(p).distance_squared, d);
    }
}

#[test]
fn thousands_of_coincident_triangles_build_and_answer() {
    let triangles = vec![[0, 1, 2]; 20_000];
    let mesh = TriMesh::new(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], triangles).unwrap();
    let bvh = Bvh::build(&mesh);
    let c = bvh.closest_point(Vec3::new(0.25, 0.25, 2.0));
    assert_eq!((c.distance_squared, c.feature), (4.0, Feature::Face));
}

#[test]
fn geometric_series_of_triangles_stays_within_the_stack() {
    // Each triangle is a tenth of the previous one: the surface-area heuristic splits them off one by one.
    let mut vertices = Vec::new();
    for i in 0..300 {
        let s = 10f64.powi(-i);
        vertices.extend([[s, 0.0, 0.0], [s, s, 0.0], [s, 0.0, s]]);
    }
    let mesh = TriMesh::new(vertices, (0..300).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect()).unwrap();
    let bvh = Bvh::build(&mesh);
    assert_eq!(bvh.closest_point(Vec3::new(2.0, 0.0, 0.0)).triangle, 0);
    assert!(bvh.winding_number(Vec3::new(0.3, 0.1, 0.1)).is_finite());
}

#[test]
fn queries_that_make_no_sense_answer_nothing() {
    let mesh = TriMesh::new(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], vec![[0, 1, 2]]).unwrap();
    let bvh = Bvh::build(&mesh);
    let nan = Vec3::repeat(f64::NAN);
    assert_eq!(bvh.closest_point(nan).triangle, u32::MAX);
    assert!(!bvh.is_within(Vec3::zeros(), -1.0) && !bvh.is_within(Vec3::zeros(), f64::NAN));
    assert!(bvh.is_within(Vec3::zeros(), 0.0));
    assert_eq!(bvh.closest_within(Vec3::zeros(), -1.0), None);
    assert_eq!(bvh.closest_within(Vec3::zeros(), 0.0).map(|c| c.feature), Some(Feature::Vertex(0)));
    assert_eq!(bvh.ray_first_hit(nan, Vec3::x(), 1.0), None);
    assert_eq!(bvh.ray_first_hit(Vec3::zeros(), Vec3::zeros(), 1.0), None);
    let empty = Bvh::build(&TriMesh::default());
    assert_eq!(empty.closest_point(Vec3::zeros()).distance_squared, f64::INFINITY);
    assert_eq!(empty.winding_number(Vec3::zeros()), 0.0);
    assert!(empty.bounds().is_empty());
}

#[test]
fn rays_through_vertices_and_edges_of_a_closed_mesh_do_not_leak() {
    let Some(mesh) = support::shared_mesh("bunny_777_decimated.obj") else { return };
    let bvh = Bvh::build(&mesh);
    let inside = points_around(&mesh.bounds(), 500).find(|p| bvh.signed_distance(*p) < -0.05).unwrap();
    for t in &mesh.triangles {
        let v = t.map(|i| Vec3::from(mesh.vertices[i as usize]));
        for target in [v[0], (v[0] + v[1]) * 0.5, v[0] * 0.75 + v[1] * 0.25] {
            assert!(bvh.any_intersection(inside, target - inside, f64::INFINITY), "leak towards {target:?}");
        }
    }
}

#[test]
fn rays_along_an_axis_meet_edges_that_are_on_the_faces_of_boxes() {
    // A roof whose ridge is on the common border of the boxes of its two sides, in each of three directions.
    for axis in 0..3 {
        let at = |x: f64, y: f64, z: f64| {
            let mut p = [0.0; 3];
            (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (x, y, z);
            p
        };
        let vertices = vec![
            at(0.0, 0.0, -1.0),
            at(0.0, 0.0, 1.0),
            at(1.0, 1.0, -1.0),
            at(1.0, 1.0, 1.0),
            at(2.0, 0.0, -1.0),
            at(2.0, 0.0, 1.0),
        ];
        let triangles = vec![[0, 1, 3], [0, 3, 2], [2, 3, 5], [2, 5, 4]];
        let bvh = Bvh::build(&TriMesh::new(vertices, triangles).unwrap());
        for x in [0.0, 1.0, 2.0] {
            let (from, down) = (Vec3::from(at(x, 3.0, 0.3)), Vec3::from(at(0.0, -1.0, 0.0)));
            let expected = if x == 1.0 { 2.0 } else { 3.0 };
            let hit = bvh.ray_first_hit(from, down, 10.0);
            assert!(hit.is_some_and(|(t, _)| (t - expected).abs() < 1e-12), "axis {axis}, x = {x}: {hit:?}");
            let next = bvh.ray_next_hit(from, down, expected + 1e-9, 10.0);
            assert_eq!(next, None, "axis {axis}, x = {x}");
        }
    }
}
