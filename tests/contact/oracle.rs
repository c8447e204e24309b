//! The discrete query against brute force over all samples: no contact is missed or invented.

use nalgebra::{Isometry3, Translation3};
use rayon::prelude::*;
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape, Storage};
use voxshell::contact::{contacts, distance, Query, Roles, Workspace};
use voxshell::field::SignedDistance;
use voxshell::math::{Pose, Progress, RigidF32};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::ShellOptions;

fn cook(mesh: &TriMesh, samples: usize, cells: u32) -> Shape {
    cook_as(Storage::Dense, mesh, samples, cells)
}

fn cook_as(storage: Storage, mesh: &TriMesh, samples: usize, cells: u32) -> Shape {
    let options = CookOptions {
        resolution: Resolution::Cells(cells),
        storage,
        shell: ShellOptions { target_count: Some(samples), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    Shape::cook(mesh, &options, &Progress::none()).unwrap()
}

/// Returns φ of every sample of the shape at `pose` in the field of the same shape at `field_pose`.
fn brute_force(shape: &Shape, pose: &Pose, field_pose: &Pose) -> Vec<(u32, f32)> {
    let (shell, field) = (shape.shell.as_ref().unwrap(), shape.field.as_ref().unwrap());
    let relative = field_pose.inv_mul(pose);
    let near = (relative * nalgebra::Point3::from(shell.origin)).coords;
    let to_field = RigidF32::between(&relative, &shell.origin, &field.local_origin(&near));
    (0..shell.len()).map(|i| (i as u32, field.distance(to_field.point([shell.x[i], shell.y[i], shell.z[i]])))).collect()
}

fn nearest_by_query(shape: &Shape, pose_a: &Pose, pose_b: &Pose, workspace: &mut Workspace) -> (u32, f32) {
    let (a, b) = (shape.geometry(), shape.geometry());
    let contact = distance(a, pose_a, b, pose_b, Roles::ShellOfA, f64::INFINITY, workspace).unwrap().unwrap();
    (contact.feature, contact.separation as f32)
}

/// Returns a pose of the shape that touches itself (at the identity) along a random direction, within `jitter` metres.
fn touching_pose(shape: &Shape, rng: &mut Rng, jitter: f64, workspace: &mut Workspace) -> Pose {
    let rotation = rng.rotation();
    let direction = rng.vector().normalize();
    let start = rng.vector() * 0.3;
    let mut reach = 3.0;
    // Moves inward from outside by a fraction of the separation at a time.
    for _ in 0..60 {
        let pose = Isometry3::from_parts(Translation3::from(start + direction * reach), rotation);
        let d = f64::from(nearest_by_query(shape, &pose, &Pose::identity(), workspace).1);
        if d < 1e-5 || reach < -3.0 {
            break;
        }
        reach -= d * 0.6;
    }
    Isometry3::from_parts(Translation3::from(start + direction * (reach + rng.unit() * jitter)), rotation)
}

/// Runs `poses` random and touching poses of the shape against itself.
fn check_pair(name: &str, shape: &Shape, poses: u64) {
    let counts: Vec<usize> = (0..poses)
        .into_par_iter()
        .map_init(Workspace::new, |workspace, i| {
            let mut rng = Rng(i.wrapping_mul(0x5851_f42d_4c95_7f2d) ^ 17);
            let pose_a = if i % 2 == 0 {
                touching_pose(shape, &mut rng, 0.004, workspace)
            } else {
                Isometry3::from_parts(Translation3::from(rng.vector() * 1.2), rng.rotation())
            };
            // The whole pair is moved to another place, sometimes far away.
            let away = if i % 16 == 3 { 1e4 } else { 1.0 };
            let world = Isometry3::from_parts(Translation3::from(rng.vector() * away), rng.rotation());
            let (pose_a, pose_b) = (world * pose_a, world);
            let limit = [0.0, 0.01, -0.002, 0.1][(i / 2 % 4) as usize];

            let all = brute_force(shape, &pose_a, &pose_b);
            let expected: Vec<(u32, f32)> = all.iter().copied().filter(|c| c.1 <= limit as f32).collect();
            let nearest = all.into_iter().reduce(|p, q| if q.1 < p.1 { q } else { p }).unwrap();

            let query = Query { roles: Roles::ShellOfA, max_separation: limit, ..Query::default() };
            let found = contacts(shape.geometry(), &pose_a, shape.geometry(), &pose_b, &query, workspace).unwrap();
            assert!(found.windows(2).all(|w| w[0].separation <= w[1].separation), "{name} pose {i}: not deepest first");
            let mut found: Vec<(u32, f32)> = found.iter().map(|c| (c.feature, c.separation as f32)).collect();
            found.sort_unstable_by_key(|c| c.0);
            assert_eq!(found.len(), expected.len(), "{name} pose {i}: contacts missed or invented");
            assert_eq!(found, expected, "{name} pose {i}");
            assert_eq!(
                nearest_by_query(shape, &pose_a, &pose_b, workspace),
                nearest,
                "{name} pose {i}: nearest sample"
            );
            expected.len()
        })
        .collect();
    let touching = counts.iter().filter(|&&n| n > 0).count() as u64;
    let contacts: usize = counts.iter().sum();
    let samples = shape.shell.as_ref().unwrap().len();
    eprintln!("{name}: {samples} samples, {poses} poses, {touching} in contact, {contacts} contacts");
    assert!(touching > poses / 4, "{name}: only {touching} of {poses} poses touch, the test tests too little");
}

const POSES: u64 = 10_000;

#[test]
fn no_contact_of_brute_force_is_missed_on_torus_knots() {
    check_pair("torus knot", &cook(&primitives::torus_knot(2, 3, 0.3, 0.09, 240, 24).unwrap(), 3_000, 96), POSES);
}

#[test]
fn no_contact_of_brute_force_is_missed_on_gears() {
    check_pair("gear", &cook(&primitives::gear(16, 0.5, 0.42, 0.15, 0.15).unwrap(), 3_000, 96), POSES);
}

#[test]
fn no_contact_of_brute_force_is_missed_on_blobs() {
    check_pair("blob", &cook(&primitives::blob(2).unwrap().scaled_to_extent(1.0), 3_000, 96), POSES);
}

#[test]
fn no_contact_of_brute_force_is_missed_on_touching_bunnies() {
    let Some(mesh) = support::shared_mesh("bunny_34k_filled.obj") else { return };
    check_pair("bunny", &cook(&mesh, 35_000, 128), POSES);
}

#[test]
fn no_contact_of_brute_force_is_missed_on_fandisks() {
    let Some(mesh) = support::shared_mesh("fandisk_6k_cad.obj") else { return };
    check_pair("fandisk", &cook(&mesh, 3_000, 96), POSES);
}

#[test]
fn no_contact_of_brute_force_is_missed_on_open_teapots() {
    let Some(mesh) = support::shared_mesh("teapot_3k_open.obj") else { return };
    check_pair("teapot", &cook(&mesh, 3_000, 96), POSES);
}

/// Large enough for coarse bricks inside and outside, so that the traversal's bounds cross seams.
#[test]
fn no_contact_of_brute_force_is_missed_on_fields_in_bricks() {
    let gear = primitives::gear(16, 0.5, 0.42, 0.15, 0.15).unwrap();
    check_pair("gear in bricks", &cook_as(Storage::Bricks, &gear, 3_000, 200), POSES / 2);
    let Some(mesh) = support::shared_mesh("bunny_34k_filled.obj") else { return };
    check_pair("bunny in bricks", &cook_as(Storage::Bricks, &mesh, 10_000, 256), POSES / 2);
}

#[test]
fn no_contact_of_brute_force_is_missed_on_teapots_in_bricks() {
    let Some(mesh) = support::shared_mesh("teapot_3k_open.obj") else { return };
    check_pair("teapot in bricks", &cook_as(Storage::Bricks, &mesh, 3_000, 128), POSES / 2);
}
