//! Primitives are closed, consistently wound, outward, and of the expected size.

use std::f64::consts::{PI, TAU};

use voxshell::math::Vec3;
use voxshell::mesh::primitives::{self, Primitive};
use voxshell::mesh::{Bvh, TriMesh};

/// Checks that a mesh is closed, consistent, in one piece, without flaws, and has the given Euler characteristic;
/// returns the volume.
fn solid(name: &str, mesh: &TriMesh, euler: i64) -> f64 {
    let r = mesh.report();
    assert!(r.closed && r.consistent && r.volume > 0.0, "{name}: {r}");
    let flaws = r.degenerate_triangles + r.duplicate_triangles + r.opposed_triangles + r.non_manifold_edges;
    assert_eq!((flaws, r.components, r.euler_characteristic), (0, 1, euler), "{name}: {r}");
    r.volume
}

fn close(name: &str, got: f64, expected: f64, relative: f64) {
    assert!((got - expected).abs() <= relative * expected, "{name}: {got}; expected {expected}");
}

/// Returns the area of the regular polygon that approximates a circle, over its radius squared.
fn polygon(n: u32) -> f64 {
    0.5 * f64::from(n) * (TAU / f64::from(n)).sin()
}

#[test]
fn straight_sided_primitives_have_their_exact_volume() {
    let n = 24;
    let (r, h, k) = (0.3, 0.7, polygon(n));
    close("box", solid("box", &primitives::cuboid([0.1, 0.2, 0.3]).unwrap(), 2), 0.048, 1e-14);
    close("cylinder", solid("cylinder", &primitives::cylinder(r, h, n).unwrap(), 2), k * r * r * 2.0 * h, 1e-13);
    close("cone", solid("cone", &primitives::cone(r, h, n).unwrap(), 2), k * r * r * h / 3.0, 1e-13);
    let (c, peg) = (0.05, primitives::peg(r, 2.0 * h, 0.05, n).unwrap());
    let frustum = c / 3.0 * (r * r + r * (r - c) + (r - c) * (r - c));
    close("peg", solid("peg", &peg, 2), k * (r * r * 2.0 * (h - c) + 2.0 * frustum), 1e-13);
    // Pappus: the tube's polygon, rotated about the axis in n straight steps.
    let torus = primitives::torus(0.5, 0.2, n, 16).unwrap();
    close("torus", solid("torus", &torus, 0), 2.0 * polygon(16) * 0.04 * 0.5 * k, 1e-13);
    let icosahedron = primitives::sphere(1.0, 0).unwrap();
    let edge = 1.0 / (TAU / 5.0).sin();
    close("icosahedron", solid("sphere", &icosahedron, 2), 5.0 * (3.0 + 5f64.sqrt()) / 12.0 * edge.powi(3), 1e-13);
    for half in [[0.5, 0.2, 0.5], [0.9, 0.1, 0.3]] {
        let block = primitives::hole(half, 0.2, 40).unwrap();
        let bore = 2.0 * half[1] * PI * 0.04;
        close("hole", solid("hole", &block, 0), 8.0 * half[0] * half[1] * half[2] - bore, 0.01);
        // Through the bore and only there.
        let bvh = Bvh::build(&block);
        assert!(bvh.signed_distance(Vec3::zeros()) > 0.19);
        assert!(bvh.signed_distance(Vec3::new(0.5 * (half[0] + 0.2), 0.0, 0.0)) < 0.0);
    }
}

#[test]
fn round_primitives_converge_to_their_volume() {
    let ball = |r: f64| 4.0 / 3.0 * PI * r * r * r;
    for (s, tolerance) in [(3, 2e-2), (4, 5e-3), (5, 1.3e-3)] {
        close("sphere", solid("sphere", &primitives::sphere(0.5, s).unwrap(), 2), ball(0.5), tolerance);
    }
    let tube = PI * 0.04;
    for (n, tolerance) in [(32, 2e-2), (128, 1.3e-3)] {
        let capsule = primitives::capsule(0.2, 0.3, n).unwrap();
        close("capsule", solid("capsule", &capsule, 2), ball(0.2) + tube * 0.6, tolerance);
        let bowl = primitives::bowl(0.5, 0.1, n).unwrap();
        close("bowl", solid("bowl", &bowl, 2), 0.5 * (ball(0.5) - ball(0.4)), tolerance);
    }
    // The volume of a tube is its section times the length of its centre line, for any path (Pappus–Guldin).
    for (p, q) in [(2, 3), (3, 2), (1, 1), (2, 5)] {
        let knot = primitives::torus_knot(p, q, 0.3, 0.04, 1024, 64).unwrap();
        let line: Vec<Vec3> = (0..20000)
            .map(|i| {
                let u = TAU * f64::from(i) / 20000.0;
                let (a, b) = (u * f64::from(p), u * f64::from(q));
                let r = 0.3 * (1.0 + 0.4 * b.cos());
                Vec3::new(r * a.cos(), 0.12 * b.sin(), r * a.sin())
            })
            .collect();
        let length: f64 = (0..line.len()).map(|i| (line[(i + 1) % line.len()] - line[i]).norm()).sum();
        close("knot", solid("knot", &knot, 0), PI * 0.0016 * length, 5e-3);
    }
}

#[test]
fn a_mitred_tube_has_its_section_times_its_length() {
    let corner = [[0.0, 0.0, 0.0], [0.5, 0.0, 0.1], [0.6, 0.7, 0.0], [0.1, 0.8, -0.6], [0.0, 0.8, 0.2]].map(Vec3::from);
    for line in [&corner[..2], &corner[1..4], &corner[..]] {
        for n in [3, 4, 17, 64] {
            let way: f64 = line.windows(2).map(|w| (w[1] - w[0]).norm()).sum();
            let volume = solid("tube", &primitives::tube(line, 0.04, n).unwrap(), 2);
            close("tube", volume, polygon(n) * 0.04 * 0.04 * way, 1e-12);
        }
    }
    // Each wall is at the radius from the line, after any number of bends.
    let mesh = primitives::tube(&corner, 0.04, 64).unwrap();
    let bvh = Bvh::build(&mesh);
    for w in corner.windows(2) {
        let (middle, way) = (0.5 * (w[0] + w[1]), (w[1] - w[0]).normalize());
        let depth = bvh.signed_distance(middle);
        assert!((depth + 0.04).abs() < 1e-4, "{depth}");
        let aside = way.cross(&Vec3::new(0.3, 0.5, 0.8)).normalize();
        assert!((bvh.signed_distance(middle + aside * 0.06) - 0.02).abs() < 1e-4);
    }
    let refused = |line: &[Vec3], radius: f64| primitives::tube(line, radius, 8).unwrap_err().to_string();
    assert!(refused(&corner[..1], 0.1).starts_with("line is"));
    assert!(refused(&[corner[0], corner[0]], 0.1).starts_with("line is"));
    // The second bend would begin before the first has ended.
    assert!(refused(&corner, 0.4).starts_with("line is"));
    assert!(refused(&[corner[0], corner[1], corner[0]], 0.01).starts_with("line is"));
    assert!(refused(&[corner[0], Vec3::repeat(f64::NAN)], 0.1).starts_with("line is"));
}

#[test]
fn an_alpha_has_an_open_loop_and_separate_legs() {
    let (radius, leg, rise, thickness) = (0.05, 0.12, 0.04, 0.01);
    let line = primitives::alpha_line(radius, leg, rise).unwrap();
    let way: f64 = line.windows(2).map(|w| (w[1] - w[0]).norm()).sum();
    let mesh = primitives::alpha(radius, leg, rise, thickness, 32).unwrap();
    close("alpha", solid("alpha", &mesh, 2), polygon(32) * thickness * thickness * way, 1e-9);
    let bvh = Bvh::build(&mesh);
    for y in [-0.5, 0.0, 0.5] {
        let free = bvh.signed_distance(Vec3::new(0.0, y * rise, 0.0));
        assert!(free > radius - thickness - 0.5 * rise, "the loop is open: {free}");
    }
    // Between the crossing legs.
    let gap = bvh.signed_distance(Vec3::new(1.5 * radius, 0.0, 0.0));
    assert!((gap - (0.5 * rise - thickness)).abs() < 0.05 * rise, "{gap}");
    let ends = [line[0], line[line.len() - 1]];
    assert!((ends[0] - Vec3::new(ends[1].x, -ends[1].y, -ends[1].z)).norm() < 1e-12, "turned about x: {ends:?}");
    assert!(ends[0].y < -0.5 * rise && ends[0].x > 1.5 * radius);
    // Smooth: at the ends of the loop and on it, the line bends by at most one step of the arc.
    for w in line.windows(3) {
        assert!((w[1] - w[0]).angle(&(w[2] - w[1])) < 0.06, "{w:?}");
    }
    assert!(primitives::alpha(radius, leg, rise, 0.021, 16).unwrap_err().to_string().starts_with("thickness is"));
}

#[test]
fn an_actuator_is_as_long_and_wide_as_it_says() {
    let mesh = primitives::actuator(0.01, 0.16, 48).unwrap();
    let volume = solid("actuator", &mesh, 2);
    let extents = mesh.bounds().extents();
    assert!((extents - Vec3::new(0.023, 0.16, 0.023)).amax() < 1e-12 && mesh.bounds().center().norm() < 1e-12);
    // Its barrel with flanges, its rod, two balls and a neck.
    let disc = |r: f64, l: f64| PI * r * r * l;
    let barrel = disc(0.01, 0.072 - 0.008) + disc(0.0115, 0.008);
    let rod = disc(0.0045, 0.16 - 0.0176 - 0.072 - 0.016) + disc(0.004, 0.0016);
    close("actuator", volume, barrel + rod + 2.0 * 4.0 / 3.0 * PI * 0.008f64.powi(3), 0.02);
    assert!(primitives::actuator(0.02, 0.16, 48).unwrap_err().to_string().starts_with("radius is"));
}

#[test]
fn gears_are_between_their_circles() {
    for (teeth, bore) in [(8, 0.0), (16, 0.15), (40, 0.3)] {
        let root = 0.5 - 2.0 / f64::from(teeth);
        let root = root.max(0.36);
        let gear = primitives::gear(teeth, 0.5, root, 0.2, bore).unwrap();
        let volume = solid("gear", &gear, if bore > 0.0 { 0 } else { 2 });
        let ring = |r: f64| 0.2 * PI * (r * r - bore * bore);
        assert!(volume > ring(root) * 0.97 && volume < ring(0.5), "{teeth} teeth: {volume}");
        let mean = 0.5 * (ring(0.5) + ring(root));
        assert!((volume - mean).abs() < 0.1 * mean, "teeth and gaps take about half each: {volume}, {mean}");
    }
}

#[test]
fn blob_is_a_smooth_closed_body_with_well_shaped_triangles() {
    let mut volumes = Vec::new();
    for s in 0..=3 {
        let blob = primitives::blob(s).unwrap();
        volumes.push(solid("blob", &blob, 2));
        assert!((blob.bounds().extents().max() - 1.0).abs() < 1e-12);
        let (mut smallest, mut below_20) = (f64::INFINITY, 0);
        for t in 0..blob.triangles.len() {
            let c = blob.corners(t).map(Vec3::from);
            let angle = (0..3).map(|i| (c[(i + 1) % 3] - c[i]).angle(&(c[(i + 2) % 3] - c[i]))).fold(PI, f64::min);
            smallest = angle.to_degrees().min(smallest);
            below_20 += usize::from(angle.to_degrees() < 20.0);
        }
        println!("blob({s}): {} triangles, smallest angle {smallest:.1}°, {below_20} below 20°", blob.triangles.len());
        assert!(s == 0 || smallest > 12.0);
        assert_eq!(below_20, 0);
        // The surface does not intersect itself: the centre of each triangle, lifted slightly, is closest to that
        // triangle.
        let bvh = Bvh::build(&blob);
        for t in (0..blob.triangles.len()).step_by(7) {
            let [a, b, c] = blob.corners(t).map(Vec3::from);
            let n = (b - a).cross(&(c - a));
            let lifted = (a + b + c) / 3.0 + n.normalize() * (1e-3 * n.norm().sqrt());
            assert!(bvh.signed_distance(lifted) > 0.0, "triangle {t} of blob({s})");
        }
    }
    assert!((volumes[3] / volumes[2] - 1.0).abs() < 2e-3, "{volumes:?}");
}

#[test]
fn every_name_makes_a_solid_of_one_metre_or_its_own_size() {
    for name in Primitive::NAMES {
        let mesh = Primitive::by_name(name).unwrap().mesh().unwrap();
        let r = mesh.report();
        assert!(r.is_solid() && r.volume > 0.0 && r.degenerate_triangles == 0, "{name}: {r}");
        let extent = mesh.bounds().extents().max();
        // Bolt and nut are M16 in real size: 10 mm of head under 30 mm of shank, 27.7 mm across corners.
        let expected = match name {
            "bolt" => 0.0399..=0.0401,
            "nut" => 0.0276..=0.0278,
            _ => 0.8..=1.2,
        };
        assert!(expected.contains(&extent), "{name}: {extent}");
        assert!(mesh.bounds().center().norm() < 0.3);
        assert!(voxshell::cook::mass_properties(&mesh).is_some_and(|m| m.exact), "{name}");
    }
}

#[test]
fn bad_parameters_are_named() {
    let message = |r: voxshell::Result<TriMesh>| r.unwrap_err().to_string();
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(message(primitives::cuboid([1.0, bad, 1.0])).starts_with("half is"));
        assert!(message(primitives::sphere(bad, 2)).starts_with("radius is"));
        assert!(message(primitives::capsule(1.0, bad, 16)).starts_with("half_height is"));
        assert!(message(primitives::gear(12, 1.0, 0.8, bad, 0.0)).starts_with("thickness is"));
    }
    assert!(message(primitives::sphere(1.0, 40)).contains("0 to 8"));
    assert!(message(primitives::cylinder(1.0, 1.0, 2)).starts_with("segments is 2"));
    assert!(message(primitives::torus(1.0, 1.5, 16, 16)).starts_with("minor is 1.5 m"));
    assert!(message(primitives::torus_knot(2, 4, 1.0, 0.1, 256, 16)).contains("no divisor in common"));
    assert!(message(primitives::torus_knot(2, 3, 0.3, 0.2, 256, 16)).contains("touches itself"));
    assert!(message(primitives::bowl(1.0, 1.0, 16)).starts_with("thickness is 1 m"));
    assert!(message(primitives::hole([1.0, 1.0, 0.5], 0.6, 32)).starts_with("radius is 0.6 m"));
    assert!(message(primitives::peg(1.0, 1.0, 0.7, 32)).starts_with("chamfer is 0.7 m"));
    assert!(message(primitives::blob(9)).starts_with("subdivisions is 9"));
    let unknown = Primitive::by_name("banana").unwrap_err().to_string();
    assert!(unknown.contains("banana") && unknown.contains("torus-knot"), "{unknown}");
}

#[test]
fn every_random_primitive_is_a_solid_of_its_own() {
    let mut seen = std::collections::HashSet::new();
    for seed in 0..300 {
        let primitive = Primitive::random(seed);
        assert_eq!(primitive, Primitive::random(seed));
        let mesh = primitive.mesh().unwrap_or_else(|e| panic!("{seed}: {primitive:?}: {e}"));
        let has_hole = matches!(
            primitive,
            Primitive::Hole { .. } | Primitive::Torus { .. } | Primitive::TorusKnot { .. } | Primitive::Gear { .. }
        );
        solid(&format!("{seed}: {primitive:?}"), &mesh, if has_hole { 0 } else { 2 });
        let extent = mesh.bounds().extents().max();
        assert!((0.2..=1.2).contains(&extent), "{seed}: {primitive:?}: {extent} m");
        assert!(
            seen.insert(mesh.vertices.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>()),
            "{seed} is no new one"
        );
    }
}
