//! Edges that pass through the other body: whether two surfaces intersect, how deep, and where.

use std::collections::BTreeMap;

use nalgebra::{Matrix3, Point3, Translation3};
use support::allocation::allocations;
use support::parts;
use support::rng::Rng;
use support::{long, shared_mesh};
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::{
    contacts, Budget, Contact, Coverage, Geometry, Query, Segmentation, Step, Workspace, FEATURE_OF_B, FEATURE_OF_EDGE,
};
use voxshell::field::{Field, MeshField, SignedDistance, Surface};
use voxshell::math::{Aabb, Pose, Progress, Rotation, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::ShellOptions;

/// Contacts deeper than this fraction of the size of a body must not be missed.
const MISSED: f64 = 1e-5;

pub(super) struct Body {
    pub mesh: TriMesh,
    exact: MeshField,
    surface: Surface,
    shape: Shape,
}

impl Body {
    pub fn new(mesh: &TriMesh) -> Self {
        Self::sized(mesh, 1.0)
    }

    pub fn sized(mesh: &TriMesh, extent: f64) -> Self {
        let mesh = mesh.scaled_to_extent(extent);
        let shell = ShellOptions { target_count: Some(300), ..ShellOptions::default() };
        let options = CookOptions { resolution: Resolution::Cells(24), shell, ..CookOptions::default() };
        let shape = Shape::cook(&mesh, &options, &Progress::none()).unwrap();
        let surface = Surface::new(&mesh).expect("a closed mesh");
        Self { exact: MeshField::new(mesh.clone()).unwrap(), surface, shape, mesh }
    }

    /// Returns φ at a point in the frame of the body.
    fn distance(&self, p: &Vec3) -> f64 {
        self.exact.distance((p - self.exact.local_origin(p)).map(|x| x as f32).into()).into()
    }

    /// Returns the geometry without the surface.
    pub fn shape(&self) -> Geometry<'_> {
        self.shape.geometry()
    }

    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    pub fn geometry(&self) -> Geometry<'_> {
        Geometry { surface: Some(&self.surface), ..self.shape.geometry() }
    }
}

fn placed(pose: &Pose, p: &[f64; 3]) -> Vec3 {
    (pose * Point3::from(*p)).coords
}

/// Returns the edges of `own` that pass through a triangle of `other`, both placed, by Cramer's rule on all pairs.
pub(super) fn piercing(own: &TriMesh, pose: &Pose, other: &TriMesh, other_pose: &Pose) -> Vec<[Vec3; 2]> {
    let corners = |mesh: &TriMesh, pose: &Pose, t: usize| mesh.corners(t).map(|p| placed(pose, &p));
    let bounds = |points: &[Vec3]| Aabb::from_points(&points.iter().map(|p| (*p).into()).collect::<Vec<[f64; 3]>>());
    let touch = |a: &Aabb, b: &Aabb| (0..3).all(|i| a.min[i] <= b.max[i] && b.min[i] <= a.max[i]);
    let all: Vec<Vec3> = own.vertices.iter().map(|p| placed(pose, p)).collect();
    let own_bounds = bounds(&all);
    let mut near: Vec<([Vec3; 3], Aabb)> = Vec::new();
    for t in 0..other.triangles.len() {
        let triangle = corners(other, other_pose, t);
        let around = bounds(&triangle);
        if touch(&around, &own_bounds) {
            near.push((triangle, around));
        }
    }
    let other_bounds = near.iter().fold(Aabb::empty(), |b, (_, around)| b.merged(around));
    let mut edges = BTreeMap::new();
    for t in &own.triangles {
        for (i, j) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            let (p, q) = (all[i.min(j) as usize], all[i.max(j) as usize]);
            let around = bounds(&[p, q]);
            if !touch(&around, &other_bounds) {
                continue;
            }
            let pierces = |(triangle, bounds): &([Vec3; 3], Aabb)| {
                let [a, b, c] = triangle;
                let matrix = Matrix3::from_columns(&[p - q, b - a, c - a]);
                touch(&around, bounds)
                    && matrix.try_inverse().is_some_and(|inverse| {
                        let x = inverse * (p - a);
                        (0.0..=1.0).contains(&x[0]) && x[1] >= 0.0 && x[2] >= 0.0 && x[1] + x[2] <= 1.0
                    })
            };
            if near.iter().any(pierces) {
                edges.insert((i.min(j), i.max(j)), [p, q]);
            }
        }
    }
    edges.into_values().collect()
}

/// Returns the largest depth of points on the edges of either body inside the other, by dense sampling.
fn deepest(a: &Body, pose_a: &Pose, b: &Body, pose_b: &Pose) -> f64 {
    let mut most = 0.0f64;
    for (own, pose, other, other_pose) in [(a, pose_a, b, pose_b), (b, pose_b, a, pose_a)] {
        for [p, q] in piercing(&own.mesh, pose, &other.mesh, other_pose) {
            for i in 0..=400 {
                let x = p + (q - p) * (f64::from(i) / 400.0);
                most = most.max(-other.distance(&other_pose.inverse_transform_point(&x.into()).coords));
            }
        }
    }
    most
}

pub(super) fn edges_of(found: &[Contact]) -> Vec<Contact> {
    found.iter().filter(|c| c.feature & FEATURE_OF_EDGE != 0).copied().collect()
}

/// Checks one answer, and returns the depth by dense sampling.
fn check(a: &Body, pose_a: &Pose, b: &Body, pose_b: &Pose, workspace: &mut Workspace, name: &str) -> f64 {
    let found = contacts(a.geometry(), pose_a, b.geometry(), pose_b, &Query::default(), workspace).unwrap().to_vec();
    let depth = deepest(a, pose_a, b, pose_b);
    let edges = edges_of(&found);
    let found_depth = edges.first().map_or(0.0, |c| -c.separation);
    // A deeper point may be found than dense sampling has.
    assert!(
        found_depth >= depth * (1.0 - 1e-3) - 0.12 * MISSED,
        "{name}: {depth} deep, {found_depth} found\n{pose_a}{pose_b}"
    );
    // Facets test samples and, where none touches, the edges that cross: how deep the samples are, the field says.
    let facets = Query { coverage: Coverage::Facets, ..Query::default() };
    let touching = !contacts(a.geometry(), pose_a, b.geometry(), pose_b, &facets, workspace).unwrap().is_empty();
    assert!(touching || depth <= MISSED, "{name}: {depth} deep, facets find nothing");
    for c in &edges {
        let of_b = c.feature & FEATURE_OF_B != 0;
        let (inside, other, pose) = if of_b { (c.point_on_b, a, pose_a) } else { (c.point_on_a, b, pose_b) };
        let exact = other.distance(&pose.inverse_transform_point(&inside.into()).coords);
        assert!((exact - c.separation).abs() < 2e-6, "{name}: {exact} is not {}", c.separation);
        assert!((c.normal.norm() - 1.0).abs() < 1e-12 && c.toi == 0.0 && c.segment == 0, "{name}: {c:?}");
        let apart = c.point_on_b - c.point_on_a - c.normal * c.separation;
        assert!(apart.norm() < 1e-12, "{name}: {c:?}");
        // The normal leads out: a little further along it, the depth is smaller.
        let out = if of_b { c.normal } else { -c.normal };
        let moved = other.distance(&pose.inverse_transform_point(&(inside + out * -c.separation * 0.5).into()).coords);
        assert!(moved > exact + 0.2 * exact.abs() - 1e-6, "{name}: from {exact} to {moved}");
    }
    // Each body's voxels are as large as a 24th of it.
    for c in found.iter().filter(|c| c.feature & FEATURE_OF_EDGE == 0 && c.separation > -0.05) {
        let of_b = c.feature & FEATURE_OF_B != 0;
        let (sample, other, pose) = if of_b { (c.point_on_b, a, pose_a) } else { (c.point_on_a, b, pose_b) };
        let exact = other.distance(&pose.inverse_transform_point(&sample.into()).coords);
        assert!((exact - c.separation).abs() < 2e-6, "{name}: {exact} is not {}", c.separation);
    }
    // In the other order the answer is the same, mirrored, up to its precision.
    let back = contacts(b.geometry(), pose_b, a.geometry(), pose_a, &Query::default(), workspace).unwrap().to_vec();
    let mirrored = edges_of(&back).first().map_or(0.0, |c| -c.separation);
    assert!((mirrored - found_depth).abs() < 1e-3 * depth + 0.12 * MISSED, "{name}: {mirrored} for {found_depth}");
    depth
}

/// Returns a pose of `a` at which it is `goal` deep in `b`, or a little less or more.
pub(super) fn touching(a: &Body, b: &Body, goal: f64, rng: &mut Rng, workspace: &mut Workspace) -> Pose {
    let (rotation, direction) = (rng.rotation(), rng.vector().normalize());
    let pose = |along: f64| Pose::from_parts(Translation3::from(direction * along), rotation);
    let (mut near, mut far) = (0.0, 3.0);
    for _ in 0..40 {
        let middle = 0.5 * (near + far);
        let (of_a, of_b) = (Geometry { shell: a.geometry().shell, ..a.geometry() }, b.geometry());
        let found = contacts(of_a, &pose(middle), of_b, &Pose::identity(), &Query::default(), workspace).unwrap();
        let deep = edges_of(found).first().is_some_and(|c| -c.separation > goal);
        (near, far) = if deep { (middle, far) } else { (near, middle) };
    }
    pose(near)
}

/// The bodies are random parts, at poses from grazing to 1% deep.
#[test]
fn no_penetration_is_missed() {
    let (pairs, poses) = if long() { (200, 500) } else { (12, 12) };
    let mut workspace = Workspace::new();
    let (mut missed_by_samples, mut deep) = (0, 0);
    for seed in 0..pairs {
        let mut rng = Rng(seed);
        let mut body = || Body::new(&parts::body(&mut rng));
        let (a, b) = (body(), body());
        for n in 0..poses {
            let goal = 10f64.powf(-2.0 - 4.0 * rng.fraction());
            let pose_a = touching(&a, &b, goal, &mut rng, &mut workspace);
            // The pair is placed anywhere in the world.
            let pose_b = Pose::from_parts((rng.vector() * 10.0).into(), rng.rotation());
            let depth = check(&a, &(pose_b * pose_a), &b, &pose_b, &mut workspace, &format!("pair {seed}, pose {n}"));
            deep += usize::from(depth > MISSED);
            let sampled = contacts(
                a.shape.geometry(),
                &pose_a,
                b.shape.geometry(),
                &Pose::identity(),
                &Query::default(),
                &mut workspace,
            );
            missed_by_samples += usize::from(depth > MISSED && sampled.unwrap().is_empty());
        }
    }
    assert!(deep > pairs as usize * poses / 2, "{deep} penetrate");
    assert!(missed_by_samples > deep / 20, "the poses are too easy: samples miss {missed_by_samples} of {deep}");
}

#[test]
fn no_penetration_of_scanned_and_designed_bodies_is_missed() {
    let meshes = ["fandisk_6k_cad.obj", "wingnut_3k.obj", "rocker_arm_10k_genus1.obj", "concave_box_169.obj"];
    let Some(meshes) = meshes.map(shared_mesh).into_iter().collect::<Option<Vec<_>>>() else { return };
    let bodies: Vec<Body> = meshes.iter().map(Body::new).collect();
    let mut workspace = Workspace::new();
    let mut rng = Rng(77);
    for (i, j) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
        for n in 0..if long() { 500 } else { 3 } {
            let goal = 10f64.powf(-2.0 - 3.0 * rng.fraction());
            let pose = touching(&bodies[i], &bodies[j], goal, &mut rng, &mut workspace);
            check(
                &bodies[i],
                &pose,
                &bodies[j],
                &Pose::identity(),
                &mut workspace,
                &format!("bodies {i} {j}, pose {n}"),
            );
        }
    }
}

/// The edges of two cubes cross at a right angle. The faces beside each edge fall off at 45°.
#[test]
fn crossed_edges_have_the_depth_and_the_normal_of_the_closed_form() {
    let cube = Body::new(&primitives::cuboid([0.5; 3]).unwrap());
    let eighth = std::f64::consts::FRAC_PI_4;
    let half_diagonal = 0.5 * 2f64.sqrt();
    let mut workspace = Workspace::new();
    for (n, depth) in [1e-4, 1e-3, 1e-2].into_iter().enumerate() {
        let place = Vec3::new(0.123, 0.0, 0.037 * n as f64);
        let above = Pose::from_parts(
            (Vec3::y() * (2.0 * half_diagonal - depth) + place).into(),
            Rotation::new(Vec3::x() * eighth),
        );
        let below = Pose::rotation(Vec3::z() * eighth);
        let found =
            contacts(cube.geometry(), &above, cube.geometry(), &below, &Query::default(), &mut workspace).unwrap();
        let edges = edges_of(found);
        // Each of the two edges is as deep as its point over the other edge, whose faces fall off at 45°.
        assert_eq!(edges.len(), 2, "{edges:?}");
        for c in edges {
            assert!((c.separation + depth * 0.5f64.sqrt()).abs() < 2e-7, "{c:?}");
            assert!((c.normal + Vec3::y()).norm() < 1e-6, "{c:?}");
            let middle = Vec3::new(0.0, half_diagonal - 0.5 * depth, place.z);
            assert!((0.5 * (c.point_on_a + c.point_on_b) - middle).norm() < depth, "{c:?}");
        }
    }
}

#[test]
fn a_corner_has_one_contact_although_three_edges_end_there() {
    let cube = Body::new(&primitives::cuboid([0.5; 3]).unwrap());
    let diagonal = Rotation::rotation_between(&Vec3::new(-1.0, -1.0, -1.0), &-Vec3::y()).unwrap();
    let mut workspace = Workspace::new();
    for (n, depth) in [1e-4, 1e-3, 1e-2].into_iter().enumerate() {
        let above = Pose::from_parts(
            Translation3::new(0.1, 0.5 + 0.5 * 3f64.sqrt() - depth, 0.03 * n as f64),
            diagonal * Rotation::new(Vec3::new(1.0, 1.0, 1.0).normalize() * 0.7),
        );
        let found =
            contacts(cube.geometry(), &above, cube.geometry(), &Pose::identity(), &Query::default(), &mut workspace);
        let corners: Vec<Contact> =
            edges_of(found.unwrap()).into_iter().filter(|c| c.feature & FEATURE_OF_B == 0).collect();
        assert_eq!(corners.len(), 1, "{corners:?}");
        let c = &corners[0];
        assert!((c.separation + depth).abs() < 1e-9 && (c.normal + Vec3::y()).norm() < 1e-9, "{c:?}");
        assert!((c.point_on_a - Vec3::new(0.1, 0.5 - depth, 0.03 * n as f64)).norm() < 1e-9, "{c:?}");
    }
}

#[test]
fn faces_that_touch_or_are_apart_have_no_edges_inside() {
    let cube = Body::new(&primitives::cuboid([0.5; 3]).unwrap());
    let mut workspace = Workspace::new();
    let mut count = |y: f64| {
        let pose = Pose::translation(0.3, y, 0.2);
        edges_of(
            contacts(cube.geometry(), &pose, cube.geometry(), &Pose::identity(), &Query::default(), &mut workspace)
                .unwrap(),
        )
        .len()
    };
    assert_eq!(count(1.0 + 1e-9), 0);
    assert_eq!(count(1.0), 0);
    // Each cube has an upright edge that ends inside the other cube.
    assert!(count(1.0 - 1e-4) >= 2);
}

#[test]
fn settings_of_a_query_hold_for_edges() {
    let (gear, knot) = (
        Body::new(&primitives::gear(12, 0.5, 0.35, 0.2, 0.1).unwrap()),
        Body::new(&primitives::torus_knot(2, 3, 0.3, 0.08, 64, 12).unwrap()),
    );
    let mut workspace = Workspace::new();
    let mut rng = Rng(3);
    for _ in 0..20 {
        let pose = touching(&gear, &knot, 5e-3, &mut rng, &mut workspace);
        let mut ask = |query: Query| {
            contacts(gear.geometry(), &pose, knot.geometry(), &Pose::identity(), &query, &mut workspace)
                .unwrap()
                .to_vec()
        };
        let all = ask(Query::default());
        let edges = edges_of(&all);
        assert!(all.is_sorted_by(|p, q| (p.separation, p.feature) <= (q.separation, q.feature)));
        let limit = -1e-3;
        let deep = edges_of(&ask(Query { max_separation: limit, ..Query::default() }));
        assert!(deep.iter().eq(edges.iter().filter(|c| c.separation <= limit)));
        // The deepest contact stays when they are reduced, with and without regions.
        for segmentation in [Segmentation::None, Segmentation::REGION] {
            let few = ask(Query { max_contacts: 4, segmentation, ..Query::default() });
            assert_eq!(few[0].feature, all[0].feature);
            assert!(few.len() <= all.len() && (segmentation != Segmentation::None || few.len() <= 4));
        }
        let by_node = edges_of(&ask(Query { segmentation: Segmentation::Level(2), ..Query::default() }));
        assert_eq!(by_node.len(), usize::from(!edges.is_empty()));
        assert!(by_node.iter().all(|c| c.separation == edges[0].separation && c.segment > 0));
        // A step in which they part by more than the largest gap leaves nothing; one in which they meet, everything.
        let step = |shift: Vec3, max_gap: f64| Step {
            center: Vec3::zeros(),
            shift,
            turn: Vec3::zeros(),
            max_gap,
            dense_above: 0,
            extremes_only: false,
            ..Step::default()
        };
        assert_eq!(edges_of(&ask(Query { step: Some(step(Vec3::zeros(), -1.0)), ..Query::default() })), []);
        assert_eq!(edges_of(&ask(Query { step: Some(step(Vec3::zeros(), 0.0)), ..Query::default() })), edges);
        // A limited search looks at samples only.
        let budget = Budget { tests: 1_000_000, ..Budget::UNLIMITED };
        assert_eq!(edges_of(&ask(Query { budget, ..Query::default() })), []);
    }
}

#[test]
fn warm_queries_of_edges_do_not_allocate() {
    let body = Body::new(&primitives::torus_knot(2, 3, 0.3, 0.08, 64, 12).unwrap());
    let mut workspace = Workspace::new();
    let run = |workspace: &mut Workspace| {
        (0..50)
            .map(|i| {
                let t = 0.02 * f64::from(i);
                let pose = Pose::new(Vec3::new(0.6 * t, 0.05, 0.1), Vec3::new(t, 2.0 * t, 0.5));
                let query = Query { max_contacts: 8 * (i as usize % 2), ..Query::default() };
                contacts(body.geometry(), &pose, body.geometry(), &Pose::identity(), &query, workspace).unwrap().len()
            })
            .sum::<usize>()
    };
    let found = run(&mut workspace);
    assert!(found > 1000);
    assert_eq!(allocations(|| assert_eq!(run(&mut workspace), found)), 0);
}

/// A shape has a surface where its field is the distance to its own closed mesh, and nowhere else.
#[test]
fn surfaces_are_of_closed_meshes_only() {
    let torus = primitives::torus(0.35, 0.1, 32, 16).unwrap();
    let cook = |mesh: &TriMesh, change: &dyn Fn(&mut CookOptions)| {
        let mut options = CookOptions { resolution: Resolution::Cells(16), ..CookOptions::default() };
        change(&mut options);
        Shape::cook(mesh, &options, &Progress::none()).unwrap()
    };
    let has = |shape: &Shape| shape.surface().unwrap().is_some();
    let plain = cook(&torus, &|_| {});
    assert!(
        has(&plain)
            && plain.geometry().surface.is_none()
            && plain.geometry_for(Coverage::Edges).unwrap().surface.is_some()
    );
    assert!(has(&plain.scaled(2.0).unwrap()));
    assert!(has(&Shape::from_triangles(torus.clone()).unwrap()));
    assert!(!has(&cook(&torus, &|options| options.field.offset = 0.1)));
    assert!(!has(&Shape::from_sheet(torus.clone(), 0.01).unwrap()));
    let mut open = torus.clone();
    open.triangles.truncate(open.triangles.len() - 2);
    assert!(!has(&cook(&open, &|_| {})));
    assert!(!has(&Shape::from_field(Field::Mesh(MeshField::new(torus).unwrap()))));
}

/// A flat box lies on a part of the top of another one, tilted by up to half a degree, so that its edges pass over the rim
/// just below the top, where the top and the sides are equally close. There the normal is at a right angle to the edge, and
/// that of the top, but where an edge cuts off a corner. No edge of the box is parallel to the rim: two parallel edges have no
/// normal of their own.
#[test]
fn an_edge_over_the_rim_of_a_face_has_the_normal_of_the_face() {
    let block = Body::sized(&primitives::cuboid([0.1; 3]).unwrap(), 0.2);
    let bar = Body::sized(&primitives::cuboid([0.06, 0.01, 0.01]).unwrap(), 0.12);
    let query = Query { coverage: Coverage::Edges, ..Query::default() };
    let (mut rng, mut workspace) = (Rng(0x2501), Workspace::new());
    let (mut inside, mut upright, mut neither) = (0, 0, 0);
    for case in 0..if long() { 20_000 } else { 1_000 } {
        let turn = Rotation::from_axis_angle(&Vec3::z_axis(), 0.25 + 1.05 * rng.fraction());
        let tilt = Rotation::from_scaled_axis(rng.vector() * 0.005);
        let at = Vec3::new(0.1 + 0.03 * rng.unit(), 0.05 * rng.unit(), 0.11 - 1e-4 * rng.fraction());
        let pose = Pose::from_parts(at.into(), tilt * turn);
        let found =
            contacts(bar.geometry(), &pose, block.geometry(), &Pose::identity(), &query, &mut workspace).unwrap();
        for contact in found.iter().filter(|c| c.feature & FEATURE_OF_EDGE != 0) {
            let edge = contact.feature & !(FEATURE_OF_EDGE | FEATURE_OF_B);
            let (own, pose, point) = match contact.feature & FEATURE_OF_B {
                0 => (&bar, pose, contact.point_on_a),
                _ => (&block, Pose::identity(), contact.point_on_b),
            };
            let ends = own.surface().edge(edge).map(|p| (pose * Point3::from(p)).coords);
            let along = (ends[1] - ends[0]).normalize();
            let is_diagonal = (pose.rotation.inverse() * along).amax() < 0.999;
            if is_diagonal || ends.iter().any(|end| (end - point).norm() < 1e-9) {
                continue;
            }
            inside += 1;
            let is_upright = contact.normal.z < -0.999;
            upright += usize::from(is_upright);
            let is_across = contact.normal.dot(&along).abs() < 0.051;
            if !is_upright && !is_across {
                println!("{case}: {contact:?} of an edge along {along:?}");
                neither += 1;
            }
        }
    }
    println!("{inside} contacts, {upright} upright, {neither} neither");
    assert!(inside > 1000 && upright > inside * 9 / 10, "{upright} of {inside}");
    assert!(neither <= inside / 10_000, "{neither} of {inside}");
}
