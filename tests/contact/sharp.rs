//! Contacts of sharp features before the bodies touch, against brute force over all pairs of features.

use std::f64::consts::FRAC_PI_4;
use std::sync::OnceLock;

use nalgebra::{Matrix3, Point3};
use support::allocation::allocations;
use support::long;
use support::rng::Rng;
use voxshell::contact::{
    contacts, edge_contacts, Contact, Geometry, Query, Roles, Step, Workspace, FEATURE_OF_B, FEATURE_OF_EDGE,
};
use voxshell::math::{Pose, Rotation, Vec3};
use voxshell::mesh::{primitives, triangle, TriMesh};

use super::edges::{edges_of, Body};

/// Largest separation of the queries of this file, metres; the bodies measure 1 m.
const LIMIT: f64 = 0.05;

/// Distances closer than this are equal, metres.
const EXACT: f64 = 1e-9;

/// A mesh at a pose.
struct Placed {
    triangles: Vec<[Vec3; 3]>,
    vertices: Vec<Vec3>,
    edges: Vec<[Vec3; 2]>,
}

impl Placed {
    fn new(mesh: &TriMesh, pose: &Pose) -> Self {
        let place = |p: &[f64; 3]| (pose * Point3::from(*p)).coords;
        let mut edges: Vec<[u32; 2]> = Vec::new();
        for t in &mesh.triangles {
            for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                edges.push([a.min(b), a.max(b)]);
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let vertices: Vec<Vec3> = mesh.vertices.iter().map(place).collect();
        Self {
            triangles: (0..mesh.triangles.len()).map(|t| mesh.corners(t).map(|p| place(&p))).collect(),
            edges: edges.iter().map(|e| e.map(|v| vertices[v as usize])).collect(),
            vertices,
        }
    }

    /// Returns whether a point of the surface is, among the triangles that it lies on, closest to another point. A triangle
    /// that is closer by less than the fraction `slack` does not count.
    fn is_closest(&self, own: &Vec3, to: &Vec3, slack: f64) -> bool {
        let distance = (own - to).norm();
        let on_it = self.triangles.iter().filter(|t| (foot(t, own) - own).norm() < EXACT);
        on_it.into_iter().all(|t| (foot(t, to) - to).norm() >= distance * (1.0 - slack) - EXACT)
    }

    fn is_on_surface(&self, p: &Vec3) -> bool {
        self.triangles.iter().any(|t| (foot(t, p) - p).norm() < EXACT)
    }

    /// Returns whether a point is outside of the triangles that a surface point lies on.
    fn is_outside(&self, p: &Vec3) -> bool {
        let solid = |t: &[Vec3; 3]| triangle::winding(t, p);
        self.triangles.iter().map(solid).sum::<f64>() < 0.5
    }
}

fn foot(t: &[Vec3; 3], p: &Vec3) -> Vec3 {
    triangle::closest_point(t, triangle::is_sliver(t), p).0
}

/// Returns the closest points of two segments if both are inside their segments.
fn closest_of_lines([p, p_end]: &[Vec3; 2], [q, q_end]: &[Vec3; 2]) -> Option<(Vec3, Vec3)> {
    let (u, w) = (p_end - p, q_end - q);
    let matrix = Matrix3::from_columns(&[u, -w, u.cross(&w)]);
    let x = matrix.try_inverse()? * (q - p);
    let inside = (0..2).all(|i| (1e-7..=1.0 - 1e-7).contains(&x[i]));
    inside.then(|| (p + u * x[0], q + w * x[1]))
}

fn pierces(edges: &[[Vec3; 2]], triangles: &[[Vec3; 3]]) -> bool {
    edges.iter().any(|[p, q]| {
        triangles.iter().any(|[a, b, c]| {
            let inverse = Matrix3::from_columns(&[p - q, b - a, c - a]).try_inverse();
            inverse
                .map(|m| m * (p - a))
                .is_some_and(|x| (0.0..=1.0).contains(&x[0]) && x[1] >= 0.0 && x[2] >= 0.0 && x[1] + x[2] <= 1.0)
        })
    })
}

fn intersects(a: &Placed, b: &Placed) -> bool {
    pierces(&a.edges, &b.triangles) || pierces(&b.edges, &a.triangles)
}

/// Returns all pairs of features, with their closest points on A and on B: corners with all triangles, and edges.
fn all_pairs(a: &Placed, b: &Placed) -> Vec<(Vec3, Vec3)> {
    let mut pairs = Vec::new();
    for v in &a.vertices {
        pairs.extend(b.triangles.iter().map(|t| (*v, foot(t, v))));
    }
    for v in &b.vertices {
        pairs.extend(a.triangles.iter().map(|t| (foot(t, v), *v)));
    }
    for e in &a.edges {
        pairs.extend(b.edges.iter().filter_map(|f| closest_of_lines(e, f)));
    }
    pairs
}

/// Moves the vertices and returns the mesh if all its convex edges are sharp.
fn jittered(mut mesh: TriMesh, rng: &mut Rng) -> Option<TriMesh> {
    for v in &mut mesh.vertices {
        let by = rng.vector() * 0.08;
        *v = [v[0] + by.x, v[1] + by.y, v[2] + by.z];
    }
    let normal = |t: usize| {
        let [a, b, c] = mesh.corners(t).map(Vec3::from);
        (b - a).cross(&(c - a)).normalize()
    };
    let is_sharp = (0..mesh.triangles.len()).all(|s| {
        (0..s).all(|t| {
            let (p, q) = (mesh.triangles[s], mesh.triangles[t]);
            p.iter().filter(|v| q.contains(v)).count() < 2 || normal(s).dot(&normal(t)) < 0.95
        })
    });
    is_sharp.then_some(mesh)
}

/// Returns a random body all of whose convex edges are sharp: a double pyramid, or a cube with a pyramid or a pit on each
/// face.
fn sharp_body(rng: &mut Rng) -> TriMesh {
    let mesh = if rng.fraction() < 0.5 {
        let n = 3 + (rng.fraction() * 4.0) as u32;
        let around = |i: u32| {
            let (sin, cos) = (f64::from(i) / f64::from(n) * std::f64::consts::TAU).sin_cos();
            [0.5 * cos, 0.5 * sin, 0.0]
        };
        let mut vertices: Vec<[f64; 3]> = (0..n).map(around).collect();
        vertices.extend([[0.0, 0.0, 0.2 + rng.fraction()], [0.0, 0.0, -0.2 - 0.3 * rng.fraction()]]);
        let sides = (0..n).flat_map(|i| [[i, (i + 1) % n, n], [(i + 1) % n, i, n + 1]]);
        TriMesh { vertices, triangles: sides.collect() }
    } else {
        let cube = primitives::cuboid([0.4; 3]).unwrap();
        let mut mesh = TriMesh { vertices: cube.vertices.clone(), triangles: Vec::new() };
        for axis in 0..3 {
            for sign in [-1.0, 1.0] {
                let mut apex = [0.0; 3];
                apex[axis] = sign * (0.4 + 0.6 * (rng.fraction() - 0.45));
                let at = mesh.vertices.len() as u32;
                let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
                let corner = |x: f64, y: f64| {
                    let (p, q) = if sign > 0.0 { (x, y) } else { (y, x) };
                    (0..8u32).find(|&v| {
                        let c = cube.vertices[v as usize];
                        c[axis] * sign > 0.0 && c[i] * p > 0.0 && c[j] * q > 0.0
                    })
                };
                let ring = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| corner(x, y).unwrap());
                mesh.triangles.extend((0..4).map(|k| [ring[k], ring[(k + 1) % 4], at]));
                mesh.vertices.push(apex);
            }
        }
        mesh
    };
    jittered(mesh, rng).unwrap_or_else(|| sharp_body(rng))
}

/// Returns how far `a` is from the origin, along a direction, where it touches `b`.
fn touching(a: &Body, rotation: &Pose, b: &Body, along: &Vec3) -> f64 {
    let still = Placed::new(&b.mesh, &Pose::identity());
    // From far away until they meet first.
    let meets = |s: f64| intersects(&Placed::new(&a.mesh, &moved(rotation, along * s)), &still);
    let mut far = 3.0;
    while !meets(far - 0.01) {
        far -= 0.01;
    }
    let mut near = far - 0.01;
    for _ in 0..60 {
        let middle = 0.5 * (near + far);
        (near, far) = if meets(middle) { (middle, far) } else { (near, middle) };
    }
    far
}

fn moved(pose: &Pose, by: Vec3) -> Pose {
    Pose::from_parts((pose.translation.vector + by).into(), pose.rotation)
}

fn ask(a: &Body, pose_a: &Pose, b: &Body, pose_b: &Pose, workspace: &mut Workspace) -> Vec<Contact> {
    let query = Query { max_separation: LIMIT, ..Query::default() };
    contacts(a.geometry(), pose_a, b.geometry(), pose_b, &query, workspace).unwrap().to_vec()
}

/// Returns the contacts of features alone: the samples are those of a grain deep inside each body.
fn ask_features(a: &Body, pose_a: &Pose, b: &Body, pose_b: &Pose, workspace: &mut Workspace) -> Vec<Contact> {
    static GRAIN: OnceLock<Body> = OnceLock::new();
    let grain = GRAIN.get_or_init(|| Body::sized(&primitives::sphere(1.0, 1).unwrap(), 1e-4));
    let query = Query { max_separation: LIMIT, ..Query::default() };
    let shell = grain.geometry().shell;
    let (of_a, of_b) = (Geometry { shell, ..a.geometry() }, Geometry { shell, ..b.geometry() });
    let found = contacts(of_a, pose_a, of_b, pose_b, &query, workspace).unwrap();
    edges_of(found)
}

fn check_against_brute_force(a: &Body, pose_a: &Pose, b: &Body, pose_b: &Pose, found: &[Contact], name: &str) -> usize {
    let (of_a, of_b) = (Placed::new(&a.mesh, pose_a), Placed::new(&b.mesh, pose_b));
    let pairs = all_pairs(&of_a, &of_b);
    let least = pairs.iter().map(|(p, q)| (p - q).norm()).fold(f64::INFINITY, f64::min);
    if least <= LIMIT {
        let closest = found.first().unwrap_or_else(|| panic!("{name}: no contact at a distance of {least}"));
        assert!((closest.separation - least).abs() < EXACT, "{name}: {} is not {least}", closest.separation);
    }
    let mut minima = 0;
    for (p, q) in &pairs {
        let distance = (p - q).norm();
        let is_minimum = (1e-6..=LIMIT).contains(&distance)
            && of_a.is_closest(p, q, 0.0)
            && of_b.is_closest(q, p, 0.0)
            && of_a.is_outside(&(p + (q - p) * 1e-3))
            && of_b.is_outside(&(q + (p - q) * 1e-3));
        if is_minimum {
            minima += 1;
            let is_it = |c: &&Contact| (c.point_on_a - p).norm() < 1e-5 && (c.point_on_b - q).norm() < 1e-5;
            assert!(found.iter().any(|c| is_it(&c)), "{name}: no contact between {p} and {q}, {distance} apart");
        }
    }
    for c in found {
        assert!((0.0..=LIMIT).contains(&c.separation), "{name}: {c:?}");
        let (p, q) = (c.point_on_a, c.point_on_b);
        assert!((q - p - c.normal * c.separation).norm() < EXACT, "{name}: {c:?}");
        assert!(of_a.is_on_surface(&p) && of_b.is_on_surface(&q), "{name}: {c:?}");
        // Sines of up to 0.05 make a triangle closer by up to 0.13%.
        assert!(of_a.is_closest(&p, &q, 2e-3) && of_b.is_closest(&q, &p, 2e-3), "{name}: {c:?}");
    }
    minima
}

#[test]
fn random_sharp_bodies_have_the_contacts_of_brute_force() {
    let (pairs, poses) = if long() { (300, 200) } else { (12, 12) };
    let mut workspace = Workspace::new();
    let mut minima = 0;
    for seed in 0..pairs {
        let mut rng = Rng(seed);
        let mut body = || Body::new(&sharp_body(&mut rng));
        let (a, b) = (body(), body());
        for n in 0..poses {
            let rotation = Pose::from_parts(Vec3::zeros().into(), rng.rotation());
            let along = rng.vector().normalize();
            let gap = 10f64.powf(-1.5 - 4.0 * rng.fraction());
            let pose_a = moved(&rotation, along * (touching(&a, &rotation, &b, &along) + gap));
            let pose_b = Pose::from_parts((rng.vector() * 10.0).into(), rng.rotation());
            let pose_a = pose_b * pose_a;
            let found = ask_features(&a, &pose_a, &b, &pose_b, &mut workspace);
            minima += check_against_brute_force(&a, &pose_a, &b, &pose_b, &found, &format!("pair {seed}, pose {n}"));
        }
    }
    assert!(minima > pairs as usize * poses, "{minima} minima");
}

/// Offsets from touching, metres, from apart to overlapping, close to touching in small steps.
fn offsets() -> Vec<f64> {
    let mut offsets: Vec<f64> = (0..=60).map(|i| 10f64.powf(-3.0 - 0.15 * f64::from(i))).collect();
    offsets.push(0.0);
    let below: Vec<f64> = offsets.iter().rev().map(|x| -x).collect();
    offsets.extend(below);
    offsets
}

/// Checks a motion through touching. The depth of edges is at least the fraction `least` of the overlap.
fn check_passing(a: &Body, start: &Pose, direction: Vec3, b: &Body, pose_b: &Pose, least: f64, name: &str) {
    let mut workspace = Workspace::new();
    for offset in offsets() {
        let found = ask_features(a, &moved(start, direction * offset), b, pose_b, &mut workspace);
        let deepest = found.first().unwrap_or_else(|| panic!("{name}: no contact at {offset}"));
        let (low, high) = if offset > 0.0 { (offset, offset) } else { (offset, offset * least) };
        let s = deepest.separation;
        assert!(s >= low - 2e-9 && s <= high + 2e-9, "{name}: {s} at {offset}");
        assert!((deepest.normal + direction).norm() < 1.2, "{name}: {deepest:?} at {offset}");
    }
}

#[test]
fn separation_goes_through_zero_without_a_gap() {
    let cube = Body::new(&primitives::cuboid([0.5; 3]).unwrap());
    let half_diagonal = 0.5 * 2f64.sqrt();
    let on_edge = Pose::rotation(Vec3::z() * FRAC_PI_4);
    let crossed =
        Pose::from_parts((Vec3::new(0.123, 2.0 * half_diagonal, 0.037)).into(), Rotation::new(Vec3::x() * FRAC_PI_4));
    let up = Vec3::y();
    check_passing(&cube, &crossed, up, &cube, &on_edge, 0.5, "edge on edge");
    let diagonal = Rotation::rotation_between(&Vec3::new(-1.0, -1.0, -1.0), &-up).unwrap();
    let tip = 0.5 * 3f64.sqrt();
    let corner = |x: f64, y: f64| Pose::from_parts(Vec3::new(x, tip + y, 0.03).into(), diagonal);
    check_passing(&cube, &corner(0.1, 0.5), up, &cube, &Pose::identity(), 1.0, "corner on face");
    check_passing(&cube, &corner(0.0, half_diagonal), up, &cube, &on_edge, 0.1, "corner on edge");
    let diagonal_up = Pose::from_parts(
        Vec3::new(0.0, -tip, 0.03).into(),
        Rotation::new(up * 0.4) * Rotation::rotation_between(&Vec3::new(1.0, 1.0, 1.0), &up).unwrap(),
    );
    check_passing(&cube, &corner(0.0, 0.0), up, &cube, &diagonal_up, 0.1, "corner on corner");
    for tilt in [0.0, 1e-7, 1e-4] {
        let flush = Pose::new(Vec3::new(0.31, 1.0 + 0.5 * tilt, 0.17), Vec3::new(0.0, 0.3, 0.0) + Vec3::z() * tilt);
        let mut workspace = Workspace::new();
        for offset in offsets() {
            let found = ask_features(&cube, &moved(&flush, up * offset), &cube, &Pose::identity(), &mut workspace);
            assert!(!found.is_empty(), "flush, {tilt}, {offset}");
        }
    }
}

#[test]
fn random_sharp_bodies_pass_into_each_other_without_a_gap() {
    let (pairs, poses) = if long() { (300, 30) } else { (10, 4) };
    let mut workspace = Workspace::new();
    for seed in 0..pairs {
        let mut rng = Rng(1000 + seed);
        let mut body = || Body::new(&sharp_body(&mut rng));
        let (a, b) = (body(), body());
        for n in 0..poses {
            let rotation = Pose::from_parts(Vec3::zeros().into(), rng.rotation());
            let along = rng.vector().normalize();
            let start = touching(&a, &rotation, &b, &along);
            for offset in offsets() {
                let pose = moved(&rotation, along * (start + offset));
                let found = ask_features(&a, &pose, &b, &Pose::identity(), &mut workspace);
                let name = format!("pair {seed}, pose {n}, offset {offset}");
                let deepest = found.first().unwrap_or_else(|| panic!("{name}: no contact")).separation;
                // Edges that have passed through each other may be nearer to their ends than to touching.
                let (low, high) = if offset > 0.0 { (-1e-9, offset + 1e-9) } else { (1.5 * offset - 1e-9, 1e-9) };
                assert!((low..=high).contains(&deepest), "{name}: {deepest}");
            }
        }
    }
}

#[test]
fn flush_faces_have_the_corners_of_their_common_area() {
    let cube = Body::new(&primitives::cuboid([0.5; 3]).unwrap());
    let mut workspace = Workspace::new();
    let mut count = |turn: f64, x: f64, z: f64, tilt: f64| {
        let pose = Pose::new(Vec3::new(x, 1.001, z), Vec3::new(tilt, turn, 0.0));
        let found = ask(&cube, &pose, &cube, &Pose::identity(), &mut workspace);
        let samples = found.len() - edges_of(&found).len();
        assert!(samples > 0);
        edges_of(&found).iter().for_each(|c| assert!((c.normal + Vec3::y()).norm() < 2.0 * tilt + 1e-9, "{c:?}"));
        // Corners that are samples have no second contact.
        (edges_of(&found).len(), found)
    };
    for tilt in [0.0, 1e-3] {
        assert_eq!(count(FRAC_PI_4, 0.0, 0.0, tilt).0, 8, "an octagon");
        for (x, z) in [(0.3, 0.2), (0.0, 0.0)] {
            let (n, found) = count(0.0, x, z, tilt);
            assert!(n <= 4, "{n}");
            let spans = |at: Vec3| found.iter().any(|c| (c.point_on_b - at).norm() < 5e-3);
            for (sx, sz) in [(-0.5 + x, -0.5 + z), (-0.5 + x, 0.5), (0.5, -0.5 + z), (0.5, 0.5)] {
                assert!(spans(Vec3::new(sx, 0.5, sz)), "{sx} {sz}: {found:?}");
            }
        }
    }
}

#[test]
fn features_stay_the_same_while_bodies_slide() {
    let cube = Body::new(&primitives::cuboid([0.5; 3]).unwrap());
    let mut workspace = Workspace::new();
    let on_edge = Pose::rotation(Vec3::z() * FRAC_PI_4);
    let mut features = |x: f64| -> Vec<u32> {
        let crossed =
            Pose::from_parts((Vec3::new(x, 2f64.sqrt() + 1e-3, x)).into(), Rotation::new(Vec3::x() * FRAC_PI_4));
        ask_features(&cube, &crossed, &cube, &on_edge, &mut workspace).iter().map(|c| c.feature).collect()
    };
    let first = features(0.0);
    assert_eq!(first.len(), 1);
    assert!(first[0] & FEATURE_OF_EDGE != 0 && first[0] & FEATURE_OF_B == 0);
    for i in 1..30 {
        assert_eq!(features(0.01 * f64::from(i)), first);
    }
}

#[test]
fn smooth_bodies_have_no_sharp_features() {
    let sphere = Body::new(&primitives::torus(0.35, 0.1, 200, 100).unwrap());
    assert_eq!(sphere.surface().sharp_edge_count(), 0);
    let cube = Body::new(&primitives::cuboid([0.5; 3]).unwrap());
    assert_eq!(cube.surface().sharp_edge_count(), 12);
}

#[test]
fn warm_queries_of_sharp_features_do_not_allocate() {
    let body = Body::new(&primitives::gear(12, 0.5, 0.35, 0.2, 0.1).unwrap());
    let mut workspace = Workspace::new();
    let run = |workspace: &mut Workspace| {
        (0..50)
            .map(|i| {
                let t = 0.02 * f64::from(i);
                let pose = Pose::new(Vec3::new(0.95 + 0.06 * t, 0.05, 0.1), Vec3::new(t, 2.0 * t, 0.5));
                let query = Query { max_separation: LIMIT, max_contacts: 8 * (i as usize % 2), ..Query::default() };
                contacts(body.geometry(), &pose, body.geometry(), &Pose::identity(), &query, workspace).unwrap().len()
            })
            .sum::<usize>()
    };
    let found = run(&mut workspace);
    assert!(found > 100, "{found}");
    assert_eq!(allocations(|| assert_eq!(run(&mut workspace), found)), 0);
}

/// The ridges of two wedges with faces 9.5° from upright cross. The nearest faces beside them lead to the side.
#[test]
fn ridges_that_cross_keep_their_common_normal() {
    let h = 0.5;
    let vertices =
        vec![[-h, -3.0, -1.0], [h, -3.0, -1.0], [h, -3.0, 1.0], [-h, -3.0, 1.0], [0.0, 0.0, -1.0], [0.0, 0.0, 1.0]];
    let triangles = vec![[0, 1, 2], [0, 2, 3], [1, 0, 4], [3, 2, 5], [2, 1, 4], [2, 4, 5], [0, 3, 5], [0, 5, 4]];
    let wedge = Body::new(&TriMesh { vertices, triangles });
    let mut workspace = Workspace::new();
    for turn in [0.2, 0.7, 1.5] {
        for tilt in [0.0, 0.1, 0.3] {
            for depth in [1e-7, 1e-5, 1e-4, 1e-3, 5e-3] {
                let upside_down = Rotation::new(Vec3::x() * std::f64::consts::PI);
                let rotation = Rotation::new(Vec3::z() * tilt) * Rotation::new(Vec3::y() * turn) * upside_down;
                // The ridge is at a height of 0.5.
                let down = Pose::translation(0.0, -0.5, 0.0);
                let above = Pose::from_parts(Vec3::new(0.0, -depth, 0.05).into(), rotation) * down;
                let found = ask_features(&wedge, &above, &wedge, &down, &mut workspace);
                let across = (rotation * Vec3::z()).cross(&Vec3::z()).normalize();
                let up = across * across.y.signum();
                let name = format!("turned by {turn}, tilted by {tilt}, {depth} deep: {found:#?}");
                let on_ridges = |c: &&Contact| c.point_on_a.norm() < 0.1 && c.separation < 0.0;
                let passed: Vec<&Contact> = found.iter().filter(on_ridges).collect();
                assert_eq!(passed.len(), 1, "{name}");
                assert!((passed[0].normal + up).norm() < EXACT, "{name}");
                assert!((passed[0].separation + depth * up.y).abs() < EXACT, "{name}");
            }
        }
    }
}

/// A tip in a square funnel is closest to one wall, and slides along it into the next one.
#[test]
fn corners_in_a_concave_place_meet_all_walls_in_a_step() {
    let corners = |y: f64, r: f64| [[-r, y, -r], [r, y, -r], [r, y, r], [-r, y, r]];
    let mut vertices: Vec<[f64; 3]> = [corners(-1.0, 2.0), corners(1.0, 2.0), corners(1.0, 1.0)].concat();
    vertices.push([0.0; 3]);
    let quads = [[0, 1, 2, 3], [1, 0, 4, 5], [2, 1, 5, 6], [3, 2, 6, 7], [0, 3, 7, 4], [5, 4, 8, 9], [6, 5, 9, 10]];
    let quads = quads.into_iter().chain([[7, 6, 10, 11], [4, 7, 11, 8]]);
    let mut triangles: Vec<[u32; 3]> = quads.flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    triangles.extend([[9, 8, 12], [10, 9, 12], [11, 10, 12], [8, 11, 12]]);
    let funnel = Body::new(&TriMesh { vertices, triangles });
    let h = 0.5;
    let vertices = vec![[-h, 3.0, -h], [h, 3.0, -h], [h, 3.0, h], [-h, 3.0, h], [0.0; 3]];
    let spike = Body::new(&TriMesh {
        vertices,
        triangles: vec![[0, 2, 1], [0, 3, 2], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
    });
    let mut workspace = Workspace::new();
    let tip = Vec3::new(0.05, 0.051, 0.045);
    let pose = Pose::from_parts(tip.into(), Rotation::new(Vec3::y() * 0.3)) * Pose::translation(0.0, 0.5, 0.0);
    let step = |way: f64| Step {
        center: tip,
        shift: -Vec3::y() * way,
        turn: Vec3::zeros(),
        max_gap: 1.0,
        dense_above: 0,
        extremes_only: false,
        ..Step::default()
    };
    // The tip is 4 mm beside the second wall.
    for (step, slides) in
        [(None, false), (Some(step(0.01)), true), (Some(step(0.001)), false), (Some(step(0.0)), false)]
    {
        let query = Query { max_separation: LIMIT, roles: Roles::Both, step, ..Query::default() };
        let still = Pose::identity();
        let found = contacts(spike.geometry(), &pose, funnel.geometry(), &still, &query, &mut workspace).unwrap();
        let meets = |into: Vec3, separation: f64| {
            let into = into.normalize();
            found.iter().any(|c| {
                (c.point_on_a - tip).norm() < 1e-6
                    && (c.normal - into).norm() < 1e-6
                    && (c.separation - separation).abs() < 1e-6
            })
        };
        assert!(meets(Vec3::new(1.0, -1.0, 0.0), 0.001 * 0.5f64.sqrt()), "{found:#?}");
        assert_eq!(meets(Vec3::new(0.0, -1.0, 1.0), 0.006 * 0.5f64.sqrt()), slides, "{found:#?}");
    }
}

/// The edge of a beam passes 1 mm under a ridge that is half as high, and on through the wall behind it.
#[test]
fn an_edge_under_a_ridge_is_found_where_it_is_deeper() {
    let profile = [[0.0, -0.5], [0.4, -0.5], [0.4, 0.3], [0.002, 0.3], [0.0014, -0.0005], [0.0, 0.0]];
    let n = profile.len() as u32;
    let vertices = [-2.0, 2.0].iter().flat_map(|y| profile.map(|[x, z]| [x, *y, z])).collect();
    let mut triangles: Vec<[u32; 3]> = vec![[0, 1, 5], [1, 4, 5], [1, 3, 4], [1, 2, 3]];
    triangles.extend(triangles.clone().iter().map(|t| [t[0] + n, t[2] + n, t[1] + n]));
    triangles.extend((0..n).map(|i| (i, (i + 1) % n)).flat_map(|(i, j)| [[j, i, i + n], [j, i + n, j + n]]));
    let block_mesh = TriMesh::new(vertices, triangles).unwrap();
    let block = Body::sized(&block_mesh, 4.0);
    let section = [[0.0, -0.001], [0.5, 1.0], [-0.5, 1.0]];
    let vertices = [-1.0, 1.0].iter().flat_map(|x| section.map(|[y, z]| [*x, y, z])).collect();
    let mut triangles: Vec<[u32; 3]> = vec![[0, 2, 1], [3, 4, 5]];
    triangles.extend([(0, 1), (1, 2), (2, 0)].into_iter().flat_map(|(i, j)| [[i, j, j + 3], [i, j + 3, i + 3]]));
    let beam_mesh = TriMesh::new(vertices, triangles).unwrap();
    let beam = Body::sized(&beam_mesh, 2.0);
    let surfaces = [&beam, &block].map(|body| body.geometry().surface.unwrap());
    let mut workspace = Workspace::new();
    let place = |mesh: &TriMesh| Pose::from_parts(mesh.bounds().center().into(), Rotation::identity());
    let poses = [place(&beam_mesh), place(&block_mesh)];
    let found = edge_contacts(surfaces, [&poses[0], &poses[1]], 0.002, &mut workspace);
    assert!((found[0].separation + 0.2).abs() < 0.001, "{:?}", found[0]);
    let keeps_normal = |c: &Contact| (c.separation + 0.001).abs() < EXACT && (c.normal + Vec3::z()).norm() < EXACT;
    assert!(found.iter().any(keeps_normal), "{found:#?}");
}

/// Coarse fields round the tips of spikes: the sample at a tip points away from the wrong face.
#[test]
fn samples_give_way_to_exact_contacts_of_their_corner() {
    let h = 0.5;
    let vertices = vec![[-h, -3.0, -h], [h, -3.0, -h], [h, -3.0, h], [-h, -3.0, h], [0.0; 3]];
    let triangles = vec![[0, 1, 2], [0, 2, 3], [1, 0, 4], [2, 1, 4], [3, 2, 4], [0, 3, 4]];
    let spike = Body::new(&TriMesh { vertices, triangles });
    let mut workspace = Workspace::new();
    let mut contradicted = 0;
    for i in 1..20 {
        let upside_down = Rotation::new(Vec3::x() * std::f64::consts::PI);
        let tip = Vec3::new(5e-4 + 1e-4 * f64::from(i), 1.0 - 0.003, 3e-4);
        let pose = Pose::from_parts(tip.into(), upside_down);
        let query = Query { max_separation: LIMIT, roles: Roles::Both, ..Query::default() };
        let still = Pose::identity();
        let plain = contacts(spike.shape(), &pose, spike.shape(), &still, &query, &mut workspace).unwrap().to_vec();
        let exact = ask_features(&spike, &pose, &spike, &still, &mut workspace);
        let contradicts = |c: &&Contact| {
            let own = |c: &Contact| if c.feature & FEATURE_OF_B == 0 { c.point_on_a } else { c.point_on_b };
            let of_corner =
                exact.iter().filter(|e| (e.feature ^ c.feature) & FEATURE_OF_B == 0 && (own(e) - own(c)).norm() < 1e-6);
            let normals: Vec<Vec3> = of_corner.map(|e| e.normal).collect();
            !normals.is_empty() && normals.iter().all(|n| n.dot(&c.normal) < 0.97)
        };
        contradicted += plain.iter().filter(contradicts).count();
        let found = contacts(spike.geometry(), &pose, spike.geometry(), &still, &query, &mut workspace).unwrap();
        assert_eq!(found.iter().find(contradicts), None);
        assert!(found.iter().any(|c| (c.separation - exact[0].separation).abs() < EXACT));
    }
    assert!(contradicted > 5, "{contradicted}");
}
