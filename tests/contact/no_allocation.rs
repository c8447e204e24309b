//! Warm queries do not allocate: counted by the allocator itself.

use nalgebra::{Isometry3, Vector3};
use support::allocation::allocations;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::ccd::impact::{self, Moving, Path};
use voxshell::ccd::segment::{self, Segment, Start};
use voxshell::ccd::shell;
use voxshell::contact::{contacts, distance, Budget, Geometry, Query, Roles, Segmentation, Step, Workspace};
use voxshell::math::{Pose, Progress};
use voxshell::mesh::primitives;

#[test]
fn the_counter_counts() {
    assert!(allocations(|| drop(std::hint::black_box(vec![1u8; 100]))) > 0);
}

#[test]
fn warm_queries_against_a_sheet_do_not_allocate() {
    let options = CookOptions { resolution: Resolution::Cells(48), ..CookOptions::default() };
    let shape = Shape::cook(&primitives::torus(0.3, 0.1, 64, 24).unwrap(), &options, &Progress::none()).unwrap();
    let wall = primitives::torus_knot(2, 3, 0.5, 0.1, 120, 12).unwrap();
    let sheet = Shape::from_sheet(wall, 0.05).unwrap();
    let only_shell = Geometry { field: None, shell: shape.shell.as_deref(), surface: None };
    let field = sheet.field.as_deref().unwrap();
    let mut workspace = Workspace::new();
    let run = |workspace: &mut Workspace| {
        let mut found = 0;
        for step in 0..50 {
            let t = step as f64 * 0.02;
            let pose_a = Isometry3::new(Vector3::new(0.8 * t - 0.4, 0.05, 0.1), Vector3::new(t, 2.0 * t, 0.5));
            for (a, max_contacts) in [(shape.geometry(), 0), (only_shell, 4)] {
                let query = Query { max_separation: 0.01, max_contacts, ..Query::default() };
                found += contacts(a, &pose_a, sheet.geometry(), &Pose::identity(), &query, workspace).unwrap().len();
                distance(a, &pose_a, sheet.geometry(), &Pose::identity(), Roles::Auto, 1.0, workspace).unwrap();
            }
            found += usize::from(
                segment::first_hit(field, &Segment::new(pose_a.translation.vector, Vector3::zeros()), 0.0, Start::Hit)
                    .is_some(),
            );
        }
        found
    };
    let found = run(&mut workspace);
    assert!(found > 1000, "the poses must touch, found {found} contacts");
    assert_eq!(allocations(|| assert_eq!(run(&mut workspace), found)), 0, "warm queries allocated");
}

#[test]
fn warm_queries_do_not_allocate() {
    let options = CookOptions { resolution: Resolution::Cells(48), ..CookOptions::default() };
    let shape = Shape::cook(&primitives::torus(0.3, 0.1, 64, 24).unwrap(), &options, &Progress::none()).unwrap();
    let mut workspace = Workspace::new();
    let pose_b = Pose::identity();
    let run = |workspace: &mut Workspace| {
        let mut contacts_found = 0;
        for step in 0..100 {
            let t = step as f64 * 0.01;
            let pose_a = Isometry3::new(Vector3::new(0.3 * t, 0.05, 0.1), Vector3::new(t, 2.0 * t, 0.5));
            for (roles, max_contacts) in [(Roles::Both, 0), (Roles::Auto, 4), (Roles::Both, 8)] {
                let query =
                    Query { roles, max_separation: 0.01, max_contacts, preferred: &[1, 5, 9], ..Query::default() };
                let (a, b) = (shape.geometry(), shape.geometry());
                contacts_found += contacts(a, &pose_a, b, &pose_b, &query, workspace).unwrap().len();
                for segmentation in [Segmentation::Level(2), Segmentation::REGION] {
                    let budget = Budget { tests: 3_000, nanoseconds: u64::MAX - 1, accuracy: 0.002 };
                    let query = Query { segmentation, budget, preferred_segments: &[0, 1, 0], ..query };
                    contacts_found += contacts(a, &pose_a, b, &pose_b, &query, workspace).unwrap().len();
                }
                let coherent = Query { owners: Some([shape.owner(), shape.owner()]), ..query };
                contacts_found += contacts(a, &pose_a, b, &pose_b, &coherent, workspace).unwrap().len();
                let (center, shift, turn) = (pose_a.translation.vector, Vector3::new(0.0, -t, 0.0), Vector3::zeros());
                for dense_above in [0, 20 + step / 2] {
                    let step = Some(Step {
                        center,
                        shift,
                        turn,
                        max_gap: 0.005,
                        dense_above,
                        extremes_only: false,
                        ..Step::default()
                    });
                    contacts_found +=
                        contacts(a, &pose_a, b, &pose_b, &Query { step, ..coherent }, workspace).unwrap().len();
                }
                distance(a, &pose_a, b, &pose_b, roles, f64::INFINITY, workspace).unwrap();
            }
        }
        contacts_found
    };
    let found = run(&mut workspace);
    assert!(found > 1000, "the poses must touch, found {found} contacts");
    let mut again = 0;
    assert_eq!(allocations(|| again = run(&mut workspace)), 0, "warm queries allocated");
    assert_eq!(again, found, "the same input gives the same answer");
}

#[test]
fn warm_queries_of_moving_bodies_do_not_allocate() {
    let options = CookOptions { resolution: Resolution::Cells(48), ..CookOptions::default() };
    let shape = Shape::cook(&primitives::torus(0.3, 0.1, 64, 24).unwrap(), &options, &Progress::none()).unwrap();
    let still = Moving::still(shape.geometry(), &Pose::identity());
    let mut workspace = shell::Workspace::new();
    let run = |workspace: &mut shell::Workspace| {
        let mut found = 0;
        for step in 0..40 {
            let t = step as f64 * 0.025;
            let pose = |x: f64| Isometry3::new(Vector3::new(x, 0.05, 0.1), Vector3::new(t, 2.0 * t, 0.5 + x));
            let moving = Moving { geometry: shape.geometry(), from: pose(0.8 - t), to: pose(0.6 - t) };
            for path in [Path::Straight, Path::Screw { tolerance: 1e-5 }] {
                let query = impact::Query { roles: Roles::Both, path, known: &[3, 8], ..impact::Query::default() };
                found += impact::contacts(&moving, &still, &query, workspace).unwrap().len();
                found += usize::from(impact::time_of_impact(&moving, &still, &query, workspace).unwrap().is_some());
                found += usize::from(impact::touch(&moving, &still, &query, workspace).unwrap());
                found += impact::known_contacts(&moving, &still, &query, workspace).unwrap().len();
            }
        }
        found
    };
    let found = run(&mut workspace);
    assert!(found > 1000, "the bodies must touch, found {found} contacts");
    assert_eq!(allocations(|| assert_eq!(run(&mut workspace), found)), 0, "warm queries allocated");
}
