//! Validation, welding, cleaning, mass properties and principal axes.

use std::f64::consts::PI;

use proptest::prelude::*;
use voxshell::math::{Mat3, Pose, Rotation, Vec3};
use voxshell::mesh::{self, primitives, validate_raw, MassProperties, TriMesh};

fn quarter_turn(axis: Vec3, angle: f64) -> Rotation {
    Rotation::from_axis_angle(&nalgebra::Unit::new_normalize(axis), angle)
}

fn cube() -> TriMesh {
    primitives::cuboid([0.5; 3]).unwrap()
}

/// Returns the mesh with separate corners for every triangle.
fn exploded(mesh: &TriMesh) -> TriMesh {
    let vertices = (0..mesh.triangles.len()).flat_map(|t| mesh.corners(t)).collect();
    let triangles = (0..mesh.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    TriMesh::new(vertices, triangles).unwrap()
}

fn with_triangles(mesh: &TriMesh, triangles: Vec<[u32; 3]>) -> TriMesh {
    TriMesh::new(mesh.vertices.clone(), triangles).unwrap()
}

#[test]
fn meshes_are_refused_by_triangle_and_vertex() {
    let square = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let message = |v: &[[f64; 3]], t: &[[u32; 3]]| TriMesh::new(v.to_vec(), t.to_vec()).unwrap_err().to_string();
    assert_eq!(
        message(&square, &[[0, 1, 2], [0, 1, 912]]),
        "invalid mesh: triangle 1 refers to vertex 912, but there are 3 vertices"
    );
    assert!(message(&[], &[]).contains("no triangles"));
    assert!(message(&square, &[]).contains("3 vertices and no triangles"));
    for bad in [f64::NAN, f64::INFINITY, -1e60] {
        assert!(message(&[[0.0; 3], [0.0, bad, 0.0]], &[[0, 1, 1]]).contains("vertex 1 is (0.0, "));
    }
    assert!(TriMesh::new(square, vec![[0, 1, 2]]).is_ok(), "one triangle is a mesh");
}

#[test]
fn report_of_a_sound_mesh_finds_nothing() {
    let r = cube().report();
    assert_eq!((r.vertices, r.triangles, r.components, r.euler_characteristic), (8, 12, 1, 2));
    assert!(r.closed && r.consistent && r.is_solid());
    assert!((r.volume - 1.0).abs() < 1e-14 && (r.area - 6.0).abs() < 1e-14);
    assert!(r.to_string().ends_with("found: nothing wrong"), "{r}");
}

/// Powers of two, so that no digit changes.
#[test]
fn reports_are_the_same_at_every_scale() {
    let mut open = primitives::torus_knot(2, 3, 0.3, 0.08, 64, 12).unwrap();
    open.triangles.truncate(1000);
    // A needle, and three collinear corners.
    open.vertices.extend([[0.0; 3], [1.0, 1e-9, 0.0], [1.0, 0.0, 0.0], [3.0, 0.0, 0.0]]);
    let n = open.vertices.len() as u32;
    open.triangles.extend([[n - 4, n - 2, n - 3], [n - 4, n - 2, n - 1]]);
    for mesh in [cube(), open] {
        let report = mesh.report();
        for exponent in [-1074, -1000, -498, -300, -60, 60, 160] {
            let factor = 2f64.powi(exponent + 500) * 2f64.powi(-500);
            let expected = report.scaled(factor);
            // Subnormal coordinates have fewer digits.
            if exponent > -1000 || mesh.triangles.len() == 12 && exponent > -1074 {
                assert_eq!(mesh.scaled(factor).report(), expected, "2^{exponent}");
            }
            let tiny = cube().scaled(2.0).scaled(factor).report();
            assert!(tiny.is_solid() && tiny.degenerate_triangles == 0, "2^{exponent}: {tiny}");
        }
    }
}

#[test]
fn vertices_at_equal_coordinates_count_as_one() {
    let r = exploded(&cube()).report();
    assert_eq!((r.vertices, r.euler_characteristic, r.is_solid()), (36, 2, true));
}

#[test]
fn report_survives_and_counts_every_fault() {
    let cube = cube();
    let mut vertices = cube.vertices.clone();
    let mut triangles = cube.triangles.clone();
    vertices.extend([[f64::NAN, 0.0, 0.0], [0.0, f64::INFINITY, 0.0], [2.0; 3], [3.0; 3], [4.0; 3]]);
    triangles.extend([[0, 1, 8], [9, 1, 2], [0, 1, 99], [u32::MAX, 0, 0]]);
    triangles.extend([[0, 0, 1], [10, 11, 12]]);
    let repeated = triangles[0];
    triangles.push([repeated[1], repeated[2], repeated[0]]);
    triangles.push([repeated[2], repeated[1], repeated[0]]);
    let r = validate_raw(&vertices, &triangles);
    assert_eq!((r.vertices, r.triangles), (13, 20));
    assert_eq!((r.non_finite_vertices, r.out_of_range_triangles), (2, 2));
    assert_eq!((r.degenerate_triangles, r.duplicate_triangles, r.opposed_triangles), (2, 1, 1));
    // The repeats put four triangles on each edge of one triangle and two on two sides: even numbers in pairs.
    assert_eq!((r.boundary_edges, r.non_manifold_edges, r.inconsistent_edges), (3, 3, 0));
    assert_eq!(r.components, 2);
    assert!(!r.closed && r.consistent && !r.is_solid());
    assert_eq!(validate_raw(&[], &[]), mesh::Report { consistent: true, ..Default::default() });
    validate_raw(&[], &[[0, 1, 2]]);
    validate_raw(&[[f64::NAN; 3]; 3], &[[0, 1, 2]]);
}

#[test]
fn one_flipped_triangle_makes_three_inconsistent_edges() {
    let mut triangles = cube().triangles;
    triangles[5].swap(0, 1);
    let r = with_triangles(&cube(), triangles).report();
    assert_eq!((r.inconsistent_edges, r.boundary_edges), (3, 0));
    assert!(r.closed && !r.consistent);
    assert_eq!(with_triangles(&cube(), cube().triangles[1..].to_vec()).report().boundary_edges, 3);
}

#[test]
fn collection_is_what_its_list_says() {
    for (name, closed, euler) in [
        ("bunny_34k_filled.obj", true, 2),
        ("bunny_777_decimated.obj", true, 2),
        ("bunny_3k_libigl.obj", true, 2),
        ("bunny_453_bullet.obj", true, 2),
        ("horse_48k.obj", true, 2),
        ("rocker_arm_10k_genus1.obj", true, 0),
        ("torus_2k_ccby.obj", true, 0),
        ("bunny_34k_raw_holes.obj", false, -3),
    ] {
        let Some(mesh) = support::shared_mesh(name) else { continue };
        let r = mesh.report();
        println!("{name}: {r}");
        assert_eq!((r.closed, r.consistent, r.components), (closed, true, 1), "{name}: {r}");
        assert_eq!(r.euler_characteristic, euler, "{name}");
        // Triangles of two of the scans intersect each other: 11 pairs and 4.
        assert_eq!(voxshell::cook::mass_properties(&mesh).is_some(), closed, "{name}");
    }
}

#[test]
fn welding_closes_an_exploded_mesh_and_cleaning_drops_the_rest() {
    let sphere = primitives::sphere(1.0, 2).unwrap();
    let exact = exploded(&sphere).welded(0.0);
    assert_eq!(exact.vertices.len(), sphere.vertices.len());
    // Vertices moved by less than the tolerance.
    let mut shaken = exploded(&sphere);
    for (i, v) in shaken.vertices.iter_mut().enumerate() {
        v[i % 3] += 1e-6 * ((i * 7919 % 1000) as f64 / 1000.0 - 0.5);
    }
    assert!(!shaken.report().closed);
    let welded = shaken.welded(2e-6);
    assert_eq!(welded.vertices.len(), sphere.vertices.len());
    assert!(welded.report().is_solid());
    // Coarser than the triangles: some collapse, all are kept, and cleaning removes them.
    let coarse = sphere.welded(0.4);
    assert_eq!(coarse.triangles.len(), sphere.triangles.len());
    let clean = coarse.cleaned().unwrap();
    let r = clean.report();
    assert!(clean.triangles.len() < sphere.triangles.len());
    assert_eq!((r.degenerate_triangles, r.duplicate_triangles), (0, 0));
    assert!(clean.triangles.iter().flatten().all(|&i| (i as usize) < clean.vertices.len()));
    let point = TriMesh::new(vec![[1.0; 3], [1.0; 3], [1.0; 3]], vec![[0, 1, 2]]).unwrap();
    assert!(point.cleaned().unwrap_err().to_string().contains("none of its 1 triangles"));
    assert_eq!(sphere.welded(f64::NAN).vertices.len(), sphere.vertices.len());
}

#[test]
fn cleaning_keeps_turned_over_neighbours_and_drops_repeats() {
    let c = cube();
    let mut triangles = c.triangles.clone();
    let [a, b, d] = triangles[0];
    triangles.extend([[b, d, a], [d, b, a]]);
    let clean = with_triangles(&c, triangles).cleaned().unwrap();
    assert_eq!(clean.triangles.len(), 13);
    assert_eq!((clean.report().duplicate_triangles, clean.report().opposed_triangles), (0, 1));
}

proptest! {
    #[test]
    fn welding_moves_nothing_by_more_than_the_tolerance(
        vertices in prop::collection::vec([-1.0..1.0f64, -1.0..1.0, -1.0..1.0], 3..200), tolerance in 0.0..0.5f64,
    ) {
        let n = vertices.len() as u32;
        let soup = TriMesh::new(vertices, (0..n).map(|i| [i, (i + 1) % n, (i + 2) % n]).collect()).unwrap();
        let welded = soup.welded(tolerance);
        for t in 0..soup.triangles.len() {
            for (a, b) in soup.corners(t).iter().zip(welded.corners(t)) {
                prop_assert!((Vec3::from(*a) - Vec3::from(b)).norm() <= tolerance);
            }
        }
        for (i, a) in welded.vertices.iter().enumerate() {
            for b in &welded.vertices[..i] {
                prop_assert!((Vec3::from(*a) - Vec3::from(*b)).norm() > tolerance);
            }
        }
    }

    #[test]
    fn mass_properties_move_with_the_mesh(
        axis in [-1.0..1.0f64, -1.0..1.0, 0.1..1.0], angle in -3.0..3.0f64, shift in [-5.0..5.0f64, -5.0..5.0, -5.0..5.0], scale in 0.1..4.0f64,
    ) {
        let gear = primitives::gear(9, 0.5, 0.37, 0.2, 0.1).unwrap();
        let base = voxshell::cook::mass_properties(&gear).unwrap();
        let rotation = quarter_turn(Vec3::from(axis), angle);
        let pose = Pose::from_parts(Vec3::from(shift).into(), rotation);
        let moved = voxshell::cook::mass_properties(&gear.transformed(&pose, scale)).unwrap();
        prop_assert!((moved.volume / base.volume / scale.powi(3) - 1.0).abs() < 1e-12);
        let center = pose * nalgebra::Point3::from(Vec3::from(base.center_of_mass) * scale);
        prop_assert!((center.coords - Vec3::from(moved.center_of_mass)).norm() < 1e-12);
        let r = rotation.to_rotation_matrix();
        let turned = r.matrix() * base.inertia_matrix() * r.matrix().transpose() * (scale * scale);
        prop_assert!((turned - moved.inertia_matrix()).norm() < 1e-11 * scale * scale);
        // Principal axes are a proper rotation and make the tensor diagonal.
        let (moments, principal) = mesh::principal_axes(&moved);
        let p = principal.to_rotation_matrix();
        prop_assert!((p.matrix() * Mat3::from_diagonal(&moments) * p.matrix().transpose() - moved.inertia_matrix()).norm() < 1e-11 * scale * scale);
        prop_assert_eq!(mesh::principal_axes(&moved), (moments, principal));
    }
}

#[test]
fn mass_properties_of_solids_are_those_of_the_books() {
    let block = primitives::cuboid([0.5, 1.0, 1.5]).unwrap();
    let far = voxshell::cook::mass_properties(&block.transformed(&Pose::translation(1e3, -2e3, 3e3), 1.0)).unwrap();
    assert!((far.volume - 6.0).abs() < 1e-9);
    assert!((Vec3::from(far.center_of_mass) - Vec3::new(1e3, -2e3, 3e3)).norm() < 1e-9);
    // (b² + c²) / 3 with half extents.
    for (got, expected) in far.inertia.iter().zip([3.25 / 3.0, 2.5 / 3.0, 1.25 / 3.0, 0.0, 0.0, 0.0]) {
        assert!((got - expected).abs() < 1e-9, "{:?}", far.inertia);
    }
    let ball = voxshell::cook::mass_properties(&primitives::sphere(1.0, 6).unwrap()).unwrap();
    assert!((ball.volume - 4.0 / 3.0 * PI).abs() < 2e-3 && (ball.inertia[0] - 0.4).abs() < 2e-4);
    let cone = voxshell::cook::mass_properties(&primitives::cone(0.3, 1.0, 512).unwrap()).unwrap();
    assert!((cone.center_of_mass[1] + 0.25).abs() < 1e-12 && (cone.inertia[1] - 0.3 * 0.09).abs() < 1e-5);
    // An asymmetric solid: products of inertia with their sign. Corner tetrahedron, ∫xy = V/20, about its centroid at
    // ¼.
    let corner = TriMesh::new(
        vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    );
    let m = voxshell::cook::mass_properties(&corner.unwrap()).unwrap();
    assert!((m.inertia[3] + (1.0 / 20.0 - 1.0 / 16.0)).abs() < 1e-15, "xy is −∫xy: {:?}", m.inertia);
}

#[test]
fn mass_properties_refuse_what_has_no_inside() {
    let c = cube();
    assert_eq!(voxshell::cook::mass_properties(&with_triangles(&c, c.triangles[1..].to_vec())), None, "open");
    // After the repair of the field these meshes have mass properties.
    let whole = voxshell::cook::mass_properties(&c);
    let mut flipped = c.triangles.clone();
    flipped[3].swap(0, 1);
    assert_eq!(voxshell::cook::mass_properties(&with_triangles(&c, flipped)), whole, "inconsistent");
    let twice = c.triangles.iter().chain(&c.triangles).copied().collect();
    assert_eq!(voxshell::cook::mass_properties(&with_triangles(&c, twice)), whole, "duplicated");
    let sheet = TriMesh::new(vec![[0.1; 3], [1.0, 0.0, 0.3], [0.0, 1.0, 0.7]], vec![[0, 1, 2], [0, 2, 1]]).unwrap();
    assert_eq!(voxshell::cook::mass_properties(&sheet), None, "a sheet and its back");
    let inward = with_triangles(&c, c.triangles.iter().map(|t| [t[0], t[2], t[1]]).collect());
    assert!(inward.report().volume < 0.0);
    let m = voxshell::cook::mass_properties(&inward).unwrap();
    assert!((m.volume - 1.0).abs() < 1e-14 && (m.inertia[0] - 1.0 / 6.0).abs() < 1e-14);
    // A cavity reduces the mass.
    let inner = inward.transformed(&Pose::identity(), 0.5);
    let hollow = TriMesh::new(
        c.vertices.iter().chain(&inner.vertices).copied().collect(),
        c.triangles.iter().copied().chain(inner.triangles.iter().map(|t| t.map(|i| i + 8))).collect(),
    );
    assert!((voxshell::cook::mass_properties(&hollow.unwrap()).unwrap().volume - 0.875).abs() < 1e-14);
}

#[test]
fn principal_axes_of_aligned_and_symmetric_bodies_are_their_own() {
    for mesh in [
        cube(),
        primitives::cuboid([0.3, 0.2, 0.1]).unwrap(),
        primitives::sphere(0.5, 3).unwrap(),
        primitives::gear(12, 0.5, 0.4, 0.2, 0.1).unwrap(),
    ] {
        let (_, axes) = mesh::principal_axes(&voxshell::cook::mass_properties(&mesh).unwrap());
        assert!(axes.angle() < 1e-7, "{axes:?}");
    }
    let mass = MassProperties { volume: 1.0, center_of_mass: [0.0; 3], inertia: [0.0; 6], exact: true };
    assert_eq!(mesh::principal_axes(&mass).0, Vec3::zeros());
    // A small rotation is found as such, not as another order of axes.
    let turned = primitives::cuboid([0.1, 0.3, 0.2])
        .unwrap()
        .transformed(&Pose::from_parts(Vec3::zeros().into(), quarter_turn(Vec3::new(1.0, 2.0, 3.0), 0.2)), 1.0);
    let (_, axes) = mesh::principal_axes(&voxshell::cook::mass_properties(&turned).unwrap());
    assert!((axes.angle() - 0.2).abs() < 1e-9);
}

#[test]
fn mirrored_meshes_stay_outward() {
    let gear = primitives::gear(9, 0.5, 0.37, 0.2, 0.1).unwrap();
    let mirrored = gear.transformed(&Pose::identity(), -2.0);
    assert!((mirrored.report().volume - 8.0 * gear.report().volume).abs() < 1e-12);
}

#[test]
fn large_and_small_bodies_get_a_probable_size() {
    let of = |extent: f64| mesh::ProbableSize::of(extent);
    for usual in [1e-4, 0.02, 1.0, 50.0, 0.0, f64::NAN, f64::INFINITY] {
        assert_eq!(of(usual), None, "{usual}");
    }
    for (extent, factor, unit) in
        [(80.0, 1e-3, Some("mm")), (8e4, 1e-6, Some("um")), (5e-5, 1e3, None), (1e-8, 1e6, None)]
    {
        let size = of(extent).unwrap();
        assert_eq!((size.factor, size.unit()), (factor, unit), "{extent}");
    }
    let said = of(80.0).unwrap().to_string();
    assert_eq!(said, "the body is 80.0000 m large; if its numbers are mm, it is 0.0800 m large");
}
