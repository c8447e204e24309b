//! Two bodies on screw motions against ten thousand sub-steps of the discrete query: no contact is missed or reported
//! late, and reported contacts are real within the tolerance.

use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use rayon::prelude::*;
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::ccd::impact::{contacts, known_contacts, time_of_impact, touch, Moving, Path, Query};
use voxshell::ccd::shell::Workspace;
use voxshell::contact::{self, Geometry, Roles, FEATURE_OF_B};
use voxshell::field::{Cuboid, Field, HalfSpace, SignedDistance};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::{PointShell, ShellOptions};

const SUBSTEPS: u32 = 10_000;
const TOLERANCE: f64 = 1e-5;
/// Largest rounding error of the discrete query in f32, metres.
const ROUNDING: f64 = 2e-6;

fn cook(mesh: &TriMesh, samples: usize, cells: u32) -> Shape {
    let options = CookOptions {
        resolution: Resolution::Cells(cells),
        shell: ShellOptions { target_count: Some(samples), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    Shape::cook(mesh, &options, &Progress::none()).unwrap()
}

/// Returns φ of the deepest sample of A in B if it is less than `limit`.
fn deepest(a: &Moving, b: &Moving, t: f64, limit: f64, workspace: &mut contact::Workspace) -> Option<f64> {
    let (pose_a, pose_b) = (a.pose(t), b.pose(t));
    contact::distance(a.geometry, &pose_a, b.geometry, &pose_b, Roles::ShellOfA, limit, workspace)
        .unwrap()
        .map(|c| c.separation)
}

/// Returns a screw motion of one of the relevant kinds, for a body that comes near the origin.
fn motion(rng: &mut Rng, kind: u64) -> [Pose; 2] {
    let place =
        |rng: &mut Rng, reach: f64| Isometry3::from_parts(Translation3::from(rng.vector() * reach), rng.rotation());
    let from = place(rng, 1.3);
    let turned = |angle: f64, rng: &mut Rng| {
        let axis = nalgebra::Unit::new_normalize(rng.vector());
        UnitQuaternion::from_axis_angle(&axis, angle)
    };
    let to = match kind % 8 {
        0 | 1 => place(rng, 1.3),
        // Ten degrees with a small translation, as in a step.
        2 | 3 => Translation3::from(rng.vector() * 0.2) * from * turned(10f64.to_radians(), rng),
        // About itself, by nearly half a turn.
        4 => from * turned(std::f64::consts::PI - 1e-6, rng),
        // About a far axis.
        5 => turned(1.0, rng) * from,
        6 => from,
        _ => Translation3::from(rng.vector()) * from,
    };
    [from, to]
}

fn check_pairs(name: &str, a: &Shape, b: &Shape, pairs: u64) {
    let found: Vec<(bool, bool)> = (0..pairs)
        .into_par_iter()
        .map_init(Default::default, |(ours, theirs): &mut (Workspace, contact::Workspace), i| {
            let mut rng = Rng(i.wrapping_mul(0x5851_f42d_4c95_7f2d) ^ 23);
            let [from, to] = motion(&mut rng, i);
            // In every second pair the other body moves too; the whole pair is at another place.
            let other = if i % 2 == 0 { motion(&mut rng, 2) } else { [Pose::identity(); 2] };
            let other = [Pose::identity(), other[0].inverse() * other[1]];
            let world = Isometry3::from_parts(Translation3::from(rng.vector() * 3.0), rng.rotation());
            let a = Moving { geometry: a.geometry(), from: world * from, to: world * to };
            let b = Moving { geometry: b.geometry(), from: world * other[0], to: world * other[1] };
            let path = Path::Screw { tolerance: TOLERANCE };
            let query = Query { roles: Roles::ShellOfA, path, ..Query::default() };
            let first = time_of_impact(&a, &b, &query, ours).unwrap();
            assert_eq!(touch(&a, &b, &query, ours).unwrap(), first.is_some());
            let end = first.map_or(1.0, |c| c.toi);
            // Before the reported time nothing is in contact.
            let mut late = None;
            for k in 0..=SUBSTEPS {
                let t = f64::from(k) / f64::from(SUBSTEPS);
                if t >= end && first.is_some() {
                    break;
                }
                if let Some(phi) = deepest(&a, &b, t, -ROUNDING, theirs) {
                    late = Some((t, phi));
                    break;
                }
            }
            assert_eq!(late, None, "{name} pair {i}: in contact before {first:?}");
            let mut deep = false;
            if let Some(c) = first {
                let phi = deepest(&a, &b, c.toi, f64::INFINITY, theirs).unwrap();
                assert!(phi <= TOLERANCE + ROUNDING, "{name} pair {i}: {phi} apart at {c:?}");
                assert!(c.toi == 0.0 || phi >= -ROUNDING, "{name} pair {i}: {phi} deep at {c:?}");
                assert!(c.separation <= TOLERANCE + ROUNDING && (c.normal.norm() - 1.0).abs() < 1e-6);
                deep = c.toi == 0.0;
            }
            // All contacts: a sample that is deep at a sub-step is in one of its reported intervals.
            let all = contacts(&a, &b, &query, ours).unwrap();
            assert_eq!(all.first().map(|c| c.contact.toi), first.map(|c| c.toi), "{name} pair {i}");
            assert!(all.windows(2).all(|w| w[0].contact.toi <= w[1].contact.toi));
            let query = contact::Query { roles: Roles::ShellOfA, max_separation: -ROUNDING, ..Default::default() };
            for k in 0..=40 {
                let t = f64::from(k) / 40.0;
                let (pose_a, pose_b) = (a.pose(t), b.pose(t));
                let there = contact::contacts(a.geometry, &pose_a, b.geometry, &pose_b, &query, theirs).unwrap();
                for c in there {
                    let known =
                        all.iter().any(|s| s.contact.feature == c.feature && s.contact.toi <= t && t <= s.until);
                    assert!(known, "{name} pair {i}: {c:?} at {t} is in no interval");
                }
            }
            for c in all {
                for part in [0.0, 0.3, 1.0] {
                    let t = c.contact.toi + part * (c.until - c.contact.toi);
                    let relative = b.pose(t).inv_mul(&a.pose(t));
                    let shell = a.geometry.shell.unwrap();
                    let p = relative * nalgebra::Point3::from(shell.position(c.contact.feature as usize));
                    let field = b.geometry.field.unwrap();
                    let p = p.coords - field.local_origin(&p.coords);
                    let phi = f64::from(field.distance([p.x as f32, p.y as f32, p.z as f32]));
                    assert!(phi <= TOLERANCE + ROUNDING, "{name} pair {i}: {phi} apart in {c:?}");
                }
            }
            (first.is_some(), deep)
        })
        .collect();
    let hits = found.iter().filter(|f| f.0).count();
    let inside = found.iter().filter(|f| f.1).count();
    eprintln!("{name}: {pairs} pairs, {hits} touch, {inside} from the start");
    assert!(hits - inside > pairs as usize / 10 && hits < pairs as usize, "the test tests too little");
}

#[test]
fn no_contact_of_ten_thousand_sub_steps_is_missed_on_knots() {
    let knot = cook(&primitives::torus_knot(2, 3, 0.3, 0.09, 160, 16).unwrap(), 800, 64);
    check_pairs("knot", &knot, &knot, 400);
}

#[test]
fn no_contact_of_ten_thousand_sub_steps_is_missed_on_scans() {
    let Some(bunny) = support::shared_mesh("bunny_777_decimated.obj") else { return };
    let Some(teapot) = support::shared_mesh("teapot_3k_open.obj") else { return };
    let (bunny, teapot) = (cook(&bunny, 1500, 64), cook(&teapot, 1500, 64));
    check_pairs("bunny", &bunny, &bunny, 160);
    check_pairs("teapot in bunny", &teapot, &bunny, 160);
}

#[test]
fn no_contact_of_ten_thousand_sub_steps_is_missed_on_plates() {
    let knot = cook(&primitives::torus_knot(2, 3, 0.3, 0.09, 160, 16).unwrap(), 800, 64);
    let plate = Shape::from_field(Field::Cuboid(Cuboid::new([0.7, 0.7, 0.001]).unwrap()));
    check_pairs("plate", &knot, &plate, 300);
}

/// Returns a rod of samples, 1 m to either side.
fn rod() -> PointShell {
    let points: Vec<[f64; 3]> = (0..=100).map(|i| [f64::from(i) * 0.02 - 1.0, 0.0, 0.0]).collect();
    let normals = vec![[0.0, 1.0, 0.0]; points.len()];
    let options = ShellOptions::default();
    PointShell::from_samples(&points, &normals, &options).unwrap()
}

fn of_shell(shell: &PointShell) -> Geometry<'_> {
    Geometry { field: None, shell: Some(shell), surface: None }
}

fn plane(height: f64) -> Shape {
    Shape::from_field(Field::HalfSpace(HalfSpace::new(Vec3::y(), height).unwrap()))
}

fn about_z(angle: f64) -> Pose {
    Isometry3::new(Vec3::zeros(), Vec3::new(0.0, 0.0, angle))
}

#[test]
fn a_blade_hits_a_plane_at_the_exact_time_of_its_true_path() {
    let (rod, mut workspace) = (rod(), Workspace::new());
    for tolerance in [1e-3, 1e-6, 1e-9] {
        for (height, angle) in [(-0.5f64, 3.0f64), (-0.9, 3.0), (-0.01, 3.0), (-0.7, std::f64::consts::PI - 1e-9)] {
            let plane = plane(height);
            let blade = Moving { geometry: of_shell(&rod), from: about_z(0.0), to: about_z(angle) };
            let still = Moving::still(plane.geometry(), &Pose::identity());
            let query = Query { path: Path::Screw { tolerance }, ..Query::default() };
            let hit = time_of_impact(&blade, &still, &query, &mut workspace).unwrap().unwrap();
            let exact = (-height).asin() / angle;
            // The tip comes down by cos(angle) per radian.
            let early = tolerance / ((exact * angle).cos() * angle);
            assert!(hit.toi <= exact + 1e-12, "{hit:?}, exactly {exact}");
            assert!(hit.toi >= exact - early * 1.1 - 1e-9, "{hit:?}, exactly {exact}");
            // On straight sample paths the rod would pass through its centre and reach the plane at another time.
            let straight = Query::default();
            let folded = time_of_impact(&blade, &still, &straight, &mut workspace).unwrap();
            assert!(folded.is_none_or(|f| (f.toi - exact).abs() > 1e-3), "{folded:?}");
        }
    }
}

#[test]
fn a_blade_that_passes_above_a_plane_does_not_touch_it() {
    let (rod, mut workspace) = (rod(), Workspace::new());
    for gap in [1e-2, 1e-4, 1e-6] {
        let plane = plane(-1.0 - gap);
        let blade = Moving { geometry: of_shell(&rod), from: about_z(0.0), to: about_z(3.0) };
        let still = Moving::still(plane.geometry(), &Pose::identity());
        let query = |tolerance| Query { path: Path::Screw { tolerance }, ..Query::default() };
        assert!(!touch(&blade, &still, &query(gap * 0.5), &mut workspace).unwrap(), "{gap}");
        // A contact may be reported if the tolerance is larger than the gap, never if it is smaller.
        let near = time_of_impact(&blade, &still, &query(gap * 1e2), &mut workspace).unwrap();
        assert!(near.is_none_or(|c| c.separation <= gap * 1e2));
        let grazed = plane_grazed(&rod, gap, &mut workspace);
        assert!(grazed, "{gap}");
    }
}

/// The same blade, with the plane as much too high as it was too low.
fn plane_grazed(rod: &PointShell, gap: f64, workspace: &mut Workspace) -> bool {
    let plane = plane(-1.0 + gap);
    let blade = Moving { geometry: of_shell(rod), from: about_z(0.0), to: about_z(3.0) };
    let still = Moving::still(plane.geometry(), &Pose::identity());
    let query = Query { path: Path::Screw { tolerance: 1e-7 }, ..Query::default() };
    touch(&blade, &still, &query, workspace).unwrap()
}

#[test]
fn impact_does_not_depend_on_which_body_moves_or_on_position() {
    let (rod, plane, mut workspace) = (rod(), plane(-0.5), Workspace::new());
    let query = Query { path: Path::Screw { tolerance: 1e-6 }, ..Query::default() };
    let exact = 0.5f64.asin() / 2.0;
    for away in [0.0, 1e3, 1e6] {
        let world = Isometry3::new(Vec3::repeat(away), Vec3::new(0.3, 0.2, 0.1));
        let there = |pose: Pose| world * pose;
        let moves = Moving { geometry: of_shell(&rod), from: there(about_z(0.0)), to: there(about_z(2.0)) };
        let rests = Moving::still(plane.geometry(), &there(Pose::identity()));
        let hit = time_of_impact(&moves, &rests, &query, &mut workspace).unwrap().unwrap();
        assert!((hit.toi - exact).abs() < 1e-5, "{hit:?}");
        assert!((hit.normal - world.rotation * -Vec3::y()).norm() < 1e-6, "{hit:?}");
        // The plane rotates the other way, and the roles are exchanged.
        let rests = Moving::still(of_shell(&rod), &there(Pose::identity()));
        let moves = Moving { geometry: plane.geometry(), from: there(about_z(0.0)), to: there(about_z(-2.0)) };
        let hit = time_of_impact(&moves, &rests, &query, &mut workspace).unwrap().unwrap();
        assert!((hit.toi - exact).abs() < 1e-5, "{hit:?}");
        assert!(hit.feature & FEATURE_OF_B != 0);
        // Both rotate by half.
        let a = Moving { geometry: of_shell(&rod), from: there(about_z(0.0)), to: there(about_z(1.0)) };
        let b = Moving { geometry: plane.geometry(), from: there(about_z(0.0)), to: there(about_z(-1.0)) };
        let hit = time_of_impact(&a, &b, &query, &mut workspace).unwrap().unwrap();
        assert!((hit.toi - exact).abs() < 1e-5, "{hit:?}");
    }
}

#[test]
fn known_contacts_are_tested_only_at_the_end_of_a_step() {
    let (rod, plane, mut workspace) = (rod(), plane(0.0), Workspace::new());
    // The rod lies on the plane, then its left end is lifted and its right end is pressed in.
    let b = Moving::still(plane.geometry(), &Pose::identity());
    for path in [Path::Straight, Path::Screw { tolerance: 1e-6 }] {
        let a = Moving { geometry: of_shell(&rod), from: about_z(0.0), to: about_z(-0.1) };
        let query = Query { path, ..Query::default() };
        let first = time_of_impact(&a, &b, &query, &mut workspace).unwrap().unwrap();
        assert_eq!((first.toi, first.feature), (0.0, 0));
        let all: Vec<u32> = (0..101).collect();
        let query = Query { known: &all, ..query };
        assert_eq!(time_of_impact(&a, &b, &query, &mut workspace).unwrap(), None);
        let pressed = known_contacts(&a, &b, &query, &mut workspace).unwrap();
        assert!((50..=51).contains(&pressed.len()), "{}", pressed.len());
        assert!(pressed.iter().all(|c| c.contact.toi == 1.0 && c.contact.separation <= 0.0));
        assert!(known_contacts(&a, &b, &Query { known: &[101], ..query }, &mut workspace).is_err());
    }
}

#[test]
fn numbers_out_of_range_are_refused() {
    let (rod, plane, mut workspace) = (rod(), plane(0.0), Workspace::new());
    let (a, b) = (Moving::still(of_shell(&rod), &Pose::identity()), Moving::still(plane.geometry(), &Pose::identity()));
    let bad = [
        Query { max_separation: f64::NAN, ..Query::default() },
        Query { until: 1.5, ..Query::default() },
        Query { path: Path::Screw { tolerance: 0.0 }, ..Query::default() },
        Query { known: &[2, 1], ..Query::default() },
        Query { roles: Roles::ShellOfB, ..Query::default() },
    ];
    for query in bad {
        assert!(time_of_impact(&a, &b, &query, &mut workspace).is_err(), "{query:?}");
        assert!(contacts(&a, &b, &query, &mut workspace).is_err(), "{query:?}");
    }
    let nowhere = Moving { to: Pose::translation(f64::NAN, 0.0, 0.0), ..a };
    assert!(touch(&nowhere, &b, &Query::default(), &mut workspace).is_err());
}
