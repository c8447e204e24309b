//! Contacts of given samples are bit-identical to those of a query that finds them.

use nalgebra::{Isometry3, Translation3};
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::{contacts, contacts_of, Contact, Geometry, Query, Roles, Workspace, FEATURE_OF_B};
use voxshell::field::{Cuboid, Field};
use voxshell::math::{Pose, Progress};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::ShellOptions;
use voxshell::Error;

fn cook(mesh: &TriMesh, samples: usize) -> Shape {
    let options = CookOptions {
        resolution: Resolution::Cells(48),
        shell: ShellOptions { target_count: Some(samples), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    Shape::cook(mesh, &options, &Progress::none()).unwrap()
}

fn knot() -> Shape {
    cook(&primitives::torus_knot(2, 3, 0.3, 0.09, 120, 12).unwrap(), 700)
}

fn all_of(a: Geometry, pose_a: &Pose, b: Geometry, pose_b: &Pose, features: &[u32]) -> Vec<Contact> {
    let mut found = Vec::new();
    contacts_of(a, pose_a, b, pose_b, features, |i, contact| {
        assert_eq!(i, found.len());
        found.push(contact);
    })
    .unwrap();
    found
}

/// Tests all samples of both bodies, near or far, at random poses, some far from the world's origin; returns the number
/// of samples without a contact.
fn check_pair(name: &str, a: Geometry, b: Geometry, roles: Roles) -> usize {
    let mut workspace = Workspace::new();
    let mut nowhere = 0;
    for i in 0..60 {
        let mut rng = Rng(i * 7919 + 3);
        let away = if i % 8 == 3 { 1e4 } else { 1.0 };
        let world = Isometry3::from_parts(Translation3::from(rng.vector() * away), rng.rotation());
        let pose_a = world * Isometry3::from_parts(Translation3::from(rng.vector() * 0.5), rng.rotation());
        let query = Query { roles, max_separation: 10.0, ..Query::default() };
        let expected = contacts(a, &pose_a, b, &world, &query, &mut workspace).unwrap().to_vec();
        let features: Vec<u32> = expected.iter().map(|c| c.feature).collect();
        assert_eq!(all_of(a, &pose_a, b, &world, &features), expected, "{name}, pose {i}");

        // Samples that the query left out are on the far side of a sheet.
        let of_a = (0..a.shell.filter(|_| b.field.is_some()).map_or(0, |s| s.len() as u32)).collect::<Vec<_>>();
        let missing: Vec<u32> = of_a.into_iter().filter(|f| !features.contains(f)).collect();
        for contact in all_of(a, &pose_a, b, &world, &missing) {
            assert_eq!(contact.separation, f64::INFINITY, "{name}, pose {i}");
            assert!(contact.normal.x.is_nan() && contact.point_on_a.x.is_nan() && contact.point_on_b.x.is_nan());
            nowhere += 1;
        }
    }
    nowhere
}

#[test]
fn contacts_of_known_samples_are_those_that_a_query_finds() {
    let knot = knot();
    let cuboid = Field::Cuboid(Cuboid::new([0.3, 0.2, 0.1]).unwrap());
    let exact = Geometry { field: Some(&cuboid), shell: None, surface: None };
    assert_eq!(check_pair("knot in knot", knot.geometry(), knot.geometry(), Roles::Both), 0);
    assert_eq!(check_pair("knot in box", knot.geometry(), exact, Roles::Auto), 0);
    check_pair("box around knot", exact, knot.geometry(), Roles::Auto);
}

#[test]
fn samples_on_the_far_side_of_a_sheet_have_no_contact() {
    let knot = knot();
    let tiles = primitives::cuboid([1.0, 0.1, 1.0]).unwrap();
    let sheet = Shape::from_sheet(tiles, 0.05).unwrap();
    assert!(check_pair("knot on sheet", knot.geometry(), sheet.geometry(), Roles::Auto) > 1000);
    check_pair("sheet under knot", sheet.geometry(), knot.geometry(), Roles::Auto);
}

#[test]
fn features_that_no_contact_can_have_are_refused() {
    let knot = knot();
    let samples = knot.shell.as_ref().unwrap().len() as u32;
    let shell_only = Geometry { field: None, shell: knot.shell.as_deref(), surface: None };
    let refused = |a, b, features: &[u32]| {
        let pose = Pose::identity();
        let result = contacts_of(a, &pose, b, &pose, features, |_, _| panic!("called with a wrong feature"));
        assert!(matches!(result, Err(Error::InvalidArgument { .. })), "{features:?}");
    };
    refused(knot.geometry(), knot.geometry(), &[0, samples]);
    refused(knot.geometry(), knot.geometry(), &[FEATURE_OF_B | samples]);
    // Only the samples of one body can be tested.
    refused(shell_only, knot.geometry(), &[0, FEATURE_OF_B]);
    refused(knot.geometry(), shell_only, &[0]);
}
