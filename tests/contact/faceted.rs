//! Bodies of flat faces in steps of a solver, which asks for edges and corners alone, against all contacts of all samples.

use std::collections::HashMap;

use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use support::parts;
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::{contacts, Contact, Coverage, Query, Roles, Step, Workspace, FEATURE_OF_EDGE, FEW_EDGES};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::ShellOptions;

/// Largest separation of the queries, metres; the bodies measure 1 m.
const LIMIT: f64 = 0.02;

/// The contacts of a step are deeper than all others up to this, metres.
const TOLERANCE: f64 = 0.01 * LIMIT;

struct Body {
    name: String,
    shape: Shape,
    /// A point in the middle of each large face, and its outward normal.
    faces: Vec<(Vec3, Vec3)>,
}

impl Body {
    fn new(name: &str, mesh: &TriMesh) -> Self {
        let factor = 1.0 / mesh.bounds().extents().amax();
        let center = mesh.bounds().center();
        let vertices = mesh.vertices.iter().map(|p| ((Vec3::from(*p) - center) * factor).into()).collect();
        let mesh = TriMesh { vertices, triangles: mesh.triangles.clone() };
        let shell = ShellOptions { target_count: Some(6_000), ..ShellOptions::default() };
        let options = CookOptions { resolution: Resolution::Cells(64), shell, ..CookOptions::default() };
        let shape = Shape::cook(&mesh, &options, &Progress::none()).unwrap();
        let face = |t: usize| {
            let [a, b, c] = mesh.corners(t).map(Vec3::from);
            let area = (b - a).cross(&(c - a));
            (area.norm() > 0.05).then(|| ((a + b + c) / 3.0, area.normalize()))
        };
        let faces = (0..mesh.triangles.len()).filter_map(face).collect();
        Self { name: name.into(), shape, faces }
    }

    fn is_faceted(&self) -> bool {
        self.shape.surface().unwrap().is_some_and(|surface| surface.is_faceted())
    }
}

fn bodies() -> Vec<Body> {
    let mut rng = Rng(3);
    let mut bodies: Vec<Body> = (0..14).map(|i| Body::new(&format!("part {i}"), &parts::body(&mut rng))).collect();
    bodies.push(Body::new("cube", &primitives::cuboid([0.5; 3]).unwrap()));
    bodies.push(Body::new("plate with a hole", &primitives::hole([0.5, 0.1, 0.5], 0.2, 16).unwrap()));
    bodies.push(Body::new("gear", &primitives::gear(12, 0.5, 0.4, 0.2, 0.1).unwrap()));
    bodies.retain(Body::is_faceted);
    bodies
}

/// Returns the contacts of a step, and all contacts.
fn ask(a: &Body, pose_a: &Pose, b: &Body, pose_b: &Pose, workspace: &mut Workspace) -> [Vec<Contact>; 2] {
    let none = Vec3::zeros();
    let step = Step {
        dense_above: 0,
        extremes_only: true,
        max_gap: f64::INFINITY,
        center: none,
        shift: none,
        turn: none,
        ..Step::default()
    };
    [Some(step), None].map(|step| {
        let query = Query { roles: Roles::Both, max_separation: LIMIT, step, ..Query::default() };
        let [of_a, of_b] = [a, b].map(|body| body.shape.geometry_for(Coverage::Edges).unwrap());
        contacts(of_a, pose_a, of_b, pose_b, &query, workspace).unwrap().to_vec()
    })
}

fn deepest(contacts: &[Contact]) -> f64 {
    contacts.iter().map(|c| c.separation).fold(f64::INFINITY, f64::min)
}

#[test]
fn steps_of_faceted_bodies_leave_out_nothing_deeper() {
    let bodies = bodies();
    assert!(bodies.len() >= 8, "{}", bodies.len());
    let mut rng = Rng(8);
    let mut workspace = Workspace::new();
    let (mut touching, mut left_out) = (0, 0);
    for case in 0..600 {
        let (a, b) = (&bodies[case % bodies.len()], &bodies[(rng.next() % bodies.len() as u64) as usize]);
        let pose_b = Isometry3::from_parts(Translation3::from(rng.vector() * 3.0), rng.rotation());
        let mut pose_a = pose_b * Isometry3::from_parts(Translation3::from(rng.vector() * 0.6), rng.rotation());
        let wanted = [0.015, 1e-4, -1e-4, -5e-3][case % 4];
        for _ in 0..6 {
            let query = Query { max_separation: 0.5, max_contacts: 1, roles: Roles::Both, ..Query::default() };
            let first =
                contacts(a.shape.geometry(), &pose_a, b.shape.geometry(), &pose_b, &query, &mut workspace).unwrap();
            let Some(first) = first.first() else { break };
            pose_a.translation.vector += first.normal * (first.separation - wanted);
        }
        let [found, all] = ask(a, &pose_a, b, &pose_b, &mut workspace);
        let name = format!("{case}: {} on {}", a.name, b.name);
        touching += usize::from(!found.is_empty());
        left_out += all.len() - found.len().min(all.len());
        assert!(deepest(&found) <= deepest(&all) + TOLERANCE, "{name}: {} of {}", deepest(&found), deepest(&all));
    }
    assert!(touching > 400 && left_out > 2_000, "{touching} {left_out}");
}

/// Faces that lie on each other: the contacts surround all that were left out, in every direction.
#[test]
fn steps_of_flush_faces_have_their_outline() {
    let bodies = bodies();
    let mut rng = Rng(9);
    let mut workspace = Workspace::new();
    let (mut flush, mut without_samples) = (0, 0);
    for case in 0..400 {
        let (a, b) = (&bodies[case % bodies.len()], &bodies[(rng.next() % bodies.len() as u64) as usize]);
        if a.faces.is_empty() || b.faces.is_empty() {
            continue;
        }
        let pick = |faces: &[(Vec3, Vec3)], n: u64| faces[(n % faces.len() as u64) as usize];
        let ((p, n), (q, m)) = (pick(&a.faces, rng.next()), pick(&b.faces, rng.next()));
        let Some(facing) = UnitQuaternion::rotation_between(&n, &-m) else { continue };
        let spin = UnitQuaternion::from_scaled_axis(m * (rng.unit() * std::f64::consts::PI));
        let tilt = UnitQuaternion::from_scaled_axis(rng.vector() * [0.0, 1e-7, 1e-3][case % 3]);
        let rotation = tilt * spin * facing;
        let slide = rng.vector() * 0.3;
        let height = [0.0, 1e-4, 5e-3, -1e-4, -2e-3][case % 5];
        let shift = q + (slide - m * m.dot(&slide)) + m * height - rotation * p;
        let world = Isometry3::from_parts(Translation3::from(rng.vector() * 3.0), rng.rotation());
        let pose_a = world * Isometry3::from_parts(Translation3::from(shift), rotation);
        let [found, all] = ask(a, &pose_a, b, &world, &mut workspace);
        let name = format!("{case}: {} on {}, {height} m, {}", a.name, b.name, tilt.angle());
        if deepest(&all) < -0.01 {
            // Another part of a body penetrates.
            continue;
        }
        assert!(deepest(&found) <= deepest(&all) + TOLERANCE, "{name}: {} of {}", deepest(&found), deepest(&all));
        let out = world.rotation * m;
        let spacing = [a, b].map(|body| f64::from(body.shape.shell.as_ref().unwrap().spacing));
        let reach = spacing[0].max(spacing[1]);
        let is_in_the_face = |c: &&Contact| c.normal.dot(&out).abs() > 0.99 && c.separation < height.abs() + 1e-3;
        let face: Vec<&Contact> = all.iter().filter(is_in_the_face).collect();
        for _ in 0..16 {
            let along = rng.vector();
            let along = (along - out * out.dot(&along)).normalize();
            let farthest = |of: &mut dyn Iterator<Item = &Contact>| {
                of.map(|c| along.dot(&c.point_on_a)).fold(f64::NEG_INFINITY, f64::max)
            };
            let (of_all, of_found) = (farthest(&mut face.iter().copied()), farthest(&mut found.iter()));
            assert!(of_found >= of_all - reach, "{name}: {} short of the outline", of_all - of_found);
        }
        flush += usize::from(face.len() > 50);
        without_samples += usize::from(found.iter().all(|c| c.feature & FEATURE_OF_EDGE != 0));
    }
    assert!(flush > 80 && without_samples > 80, "{flush} {without_samples}");
}

/// A body that is inside another touches no edge: its samples answer.
#[test]
fn a_body_inside_another_is_found() {
    let [outer, inner] = [0.5, 0.2].map(|half| primitives::cuboid([half; 3]).unwrap());
    let [outer, mut inner] = [Body::new("outer", &outer), Body::new("inner", &inner)];
    inner.shape = inner.shape.scaled(0.4).unwrap();
    let mut workspace = Workspace::new();
    let pose = Isometry3::translation(0.21, 0.05, 0.0);
    let [found, _] = ask(&inner, &pose, &outer, &Pose::identity(), &mut workspace);
    assert!(deepest(&found) < -0.4, "{}", deepest(&found));
    let apart = Isometry3::translation(0.71, 0.0, 0.0);
    let [found, _] = ask(&inner, &apart, &outer, &Pose::identity(), &mut workspace);
    assert!((deepest(&found) - 0.01).abs() < 1e-6, "{}", deepest(&found));
}

/// Returns the mesh with each triangle divided into four.
fn divided(mesh: &TriMesh) -> TriMesh {
    let mut vertices = mesh.vertices.clone();
    let mut middles = HashMap::new();
    let mut triangles = Vec::new();
    for &[a, b, c] in &mesh.triangles {
        let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(i, j)| {
            *middles.entry((i.min(j), i.max(j))).or_insert_with(|| {
                let [p, q] = [i, j].map(|corner| mesh.vertices[corner as usize]);
                vertices.push(std::array::from_fn(|axis| 0.5 * (p[axis] + q[axis])));
                vertices.len() as u32 - 1
            })
        });
        triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
    TriMesh { vertices, triangles }
}

/// The coverage of facets is that of edges in a slow step, and of bodies with few edges in all others too; of bodies with
/// many it is that of samples.
#[test]
fn facets_are_samples_of_fast_bodies_with_many_edges() {
    let cube = primitives::cuboid([0.5; 3]).unwrap();
    let many = divided(&divided(&cube));
    let pose = Isometry3::translation(0.1, 0.999, 0.2);
    let mut workspace = Workspace::new();
    for (body, is_simple) in [(Body::new("cube", &cube), true), (Body::new("divided cube", &many), false)] {
        assert_eq!(body.shape.surface().unwrap().unwrap().edge_count() <= FEW_EDGES, is_simple);
        let mut ask = |coverage: Coverage, moved: Option<(Vec3, Vec3)>| {
            let step = moved.map(|(shift, turn)| Step {
                dense_above: 0,
                extremes_only: true,
                max_gap: f64::INFINITY,
                center: Vec3::zeros(),
                shift,
                turn,
                ..Step::default()
            });
            let query = Query { roles: Roles::Both, max_separation: LIMIT, step, coverage, ..Query::default() };
            let of = body.shape.geometry_for(Coverage::Edges).unwrap();
            let found = contacts(of, &pose, of, &Pose::identity(), &query, &mut workspace).unwrap();
            let found = found.iter().map(|c| (c.feature, c.separation.to_bits())).collect::<Vec<_>>();
            (found, workspace.report().coverage)
        };
        let rest = Some((Vec3::zeros(), Vec3::zeros()));
        // The radius of the cube is √¾ m, and the least reach is 0.87 m from the centre of rotation.
        let slow = Some((Vec3::new(0.0, -0.004, 0.0), Vec3::new(0.0, 0.0, 5e-4)));
        let [fast, turning] =
            [(Vec3::new(0.0, -0.006, 0.0), Vec3::zeros()), (Vec3::zeros(), Vec3::new(0.0, 8e-3, 0.0))].map(Some);
        for moved in [rest, slow] {
            let (outline, tested) = ask(Coverage::Facets, moved);
            assert!((4..=80).contains(&outline.len()), "{}", outline.len());
            assert_eq!(tested, Coverage::Facets);
            assert_eq!(outline, ask(Coverage::Edges, moved).0);
        }
        for moved in [fast, turning, None] {
            let found = ask(Coverage::Facets, moved);
            assert!(found.0.len() > 200, "{}", found.0.len());
            let [samples, edges] = [Coverage::Samples, Coverage::Edges].map(|coverage| ask(coverage, moved));
            assert_eq!((samples.1, edges.1), (Coverage::Samples, Coverage::Edges));
            assert!(samples.0.iter().all(|(feature, _)| feature & FEATURE_OF_EDGE == 0));
            assert!(edges.0.iter().any(|(feature, _)| feature & FEATURE_OF_EDGE != 0));
            assert_eq!(found, if is_simple { edges } else { samples });
        }
    }
}
