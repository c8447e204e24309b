//! A pointshell that moves straight through a field: the result of the tree is bit-identical to that of each sample
//! alone, which equals that of the sample's segment against the field, except for the rounding of its times.

use std::sync::Arc;

use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use support::rng::Rng;
use voxshell::asset::{CookOptions, Forms, Resolution, Shape, Storage};
use voxshell::ccd::motion::Motion;
use voxshell::ccd::segment::{first_fraction, intervals, Start};
use voxshell::ccd::shell::{Passage, Span, Workspace};
use voxshell::field::{
    Capsule, Clearance, Cone, ConvexHull, Cuboid, Cylinder, Field, HalfSpace, MeshField, Sheet, SignedDistance, Sphere,
};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::{PointShell, ShellOptions};

fn cook(mesh: &TriMesh, samples: usize, cells: u32, storage: Storage) -> Shape {
    let options = CookOptions {
        forms: Forms::BOTH,
        resolution: Resolution::Cells(cells),
        storage,
        shell: ShellOptions { target_count: Some(samples), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    Shape::cook(mesh, &options, &Progress::none()).unwrap()
}

fn knot(samples: usize, cells: u32, storage: Storage) -> Shape {
    cook(&primitives::torus_knot(2, 3, 0.3, 0.09, 160, 16).unwrap(), samples, cells, storage)
}

/// Returns two poses of the shell in the field's frame, of one of the relevant kinds.
fn motion(rng: &mut Rng, kind: u64) -> [Pose; 2] {
    let near = |rng: &mut Rng, reach: f64| Translation3::from(rng.vector() * reach);
    let from = Isometry3::from_parts(near(rng, 0.8), rng.rotation());
    let to = match kind % 10 {
        // Anywhere, with any rotation; as in the papers' table 3, in a box three times as large.
        0 | 1 => {
            let mut place = || Translation3::new(1.5 * rng.unit(), 1.5 * rng.unit(), 1.5 * rng.unit());
            let (p, q) = (place(), place());
            return [p * rng.rotation(), q * rng.rotation()];
        }
        // A small step in contact.
        2 => near(rng, 1e-3) * from,
        3 => from,
        4 => near(rng, 1.0) * from,
        // About itself by nearly half a turn, and by a small angle.
        5 | 6 => {
            let axis = nalgebra::Unit::new_normalize(rng.vector());
            let angle = if kind % 10 == 5 { std::f64::consts::PI - 1e-9 } else { 0.01 };
            Isometry3::from_parts(from.translation, UnitQuaternion::from_axis_angle(&axis, angle) * from.rotation)
        }
        // From far away, and past the field.
        7 => return [near(rng, 1e6) * from, near(rng, 0.5) * from],
        8 => {
            let way = rng.vector() * 1e6;
            return [Translation3::from(way) * from, Translation3::from(-way) * from];
        }
        // A step too small for f32.
        _ => near(rng, 1e-9) * from,
    };
    [from, to]
}

struct Brute {
    first: Option<(f64, u32)>,
    spans: Vec<Span>,
}

/// Tests every sample alone.
fn brute_force(shell: &PointShell, field: &Field, motion: &Motion, level: f64, until: f64, known: &[u32]) -> Brute {
    let (mut first, mut spans) = (None::<(f64, u32)>, Vec::new());
    for sample in 0..shell.len() as u32 {
        if known.contains(&sample) {
            continue;
        }
        let path = motion.chord(&shell.position(sample as usize), [0.0, 1.0]);
        if let Some(t) = first_fraction(field, &path, level, Start::Hit).filter(|t| *t <= until) {
            if first.is_none_or(|best| t < best.0) {
                first = Some((t, sample));
            }
        }
        intervals(field, &path, level, |[from, to]| {
            if from <= until {
                spans.push(Span { sample, from, to: to.min(until) });
            }
        });
    }
    Brute { first, spans }
}

/// Rounding error of a time: largest where a path nearly grazes the level.
const ROUNDING: f64 = 1e-8;

fn assert_same_first(found: Option<(f64, u32)>, expected: Option<(f64, u32)>, spans: &[Span], label: &str) {
    assert_eq!(found.is_some(), expected.is_some(), "{label}: {found:?}, expected {expected:?}");
    let (Some((t, sample)), Some((u, _))) = (found, expected) else { return };
    assert!((t - u).abs() <= ROUNDING, "{label}: {found:?}, expected {expected:?}");
    let own = spans.iter().find(|s| s.sample == sample).expect(label);
    assert!((own.from - t).abs() <= ROUNDING, "{label}: {found:?}, but {own:?}");
}

fn assert_same_spans(found: &[Span], expected: &[Span], label: &str) {
    let near = |p: &Span, q: &Span| {
        p.sample == q.sample && (p.from - q.from).abs() <= ROUNDING && (p.to - q.to).abs() <= ROUNDING
    };
    let differs = found.iter().zip(expected).find(|(p, q)| !near(p, q));
    assert_eq!(differs, None, "{label}");
    assert_eq!(found.len(), expected.len(), "{label}");
}

fn check(name: &str, shell: &PointShell, field: &Field, levels: &[f64], motions: u64) {
    let (mut hits, mut tests) = (0, 0);
    let mut workspace = Workspace::new();
    for i in 0..motions {
        let mut rng = Rng(i.wrapping_mul(0x5851_f42d_4c95_7f2d) ^ 5);
        let [from, to] = motion(&mut rng, i);
        let world = Isometry3::from_parts(Translation3::from(rng.vector()), rng.rotation());
        let motion = Motion::straight([&(world * from), &(world * to)], [&world, &world]);
        let level = levels[(i / 10) as usize % levels.len()];
        let until = if i % 7 == 3 { 0.4 } else { 1.0 };
        let all = brute_force(shell, field, &motion, level, until, &[]);
        // Every second sample in contact is known.
        let mut known: Vec<u32> = all.spans.iter().step_by(2).map(|s| s.sample).collect();
        known.dedup();
        let known = if i % 3 == 0 { known } else { Vec::new() };
        let all = if known.is_empty() { all } else { brute_force(shell, field, &motion, level, until, &known) };
        let label = || format!("{name} motion {i} level {level}");
        let passage = |linear| Passage { level, until, known: &known, linear, ..Passage::new(shell, field, motion) };
        let first = passage(false).first(&mut workspace);
        assert_same_first(first, all.first, &all.spans, &label());
        assert_eq!(passage(true).first(&mut workspace), first, "{}", label());
        for linear in [false, true] {
            assert_eq!(passage(linear).touches(&mut workspace), first.is_some(), "{}", label());
        }
        let spans = passage(false).spans(&mut workspace).to_vec();
        tests += workspace.stats().sample_tests;
        assert_same_spans(&spans, &all.spans, &label());
        assert_eq!(passage(true).spans(&mut workspace), spans, "{}", label());
        // The first contact is the first of all contacts, bit-identical: a query until that time finds it again.
        let least = spans.iter().map(|s| (s.from, s.sample)).min_by(|p, q| p.0.total_cmp(&q.0).then(p.1.cmp(&q.1)));
        assert_eq!(first, least, "{}", label());
        hits += u64::from(all.first.is_some());
    }
    eprintln!("{name}: {motions} motions, {hits} hits, {} of {} samples tested", tests / motions, shell.len());
    assert!(hits > motions / 5 && hits < motions, "{name}: {hits} of {motions} hit, the test tests too little");
}

#[test]
fn the_tree_finds_what_each_sample_finds_on_grids() {
    let shape = knot(3000, 64, Storage::Dense);
    check("knot", shape.shell.as_ref().unwrap(), shape.field.as_ref().unwrap(), &[0.0, 0.0, 0.02, -0.01, 0.3], 1500);
}

#[test]
fn the_tree_finds_what_each_sample_finds_in_bricks() {
    let shape = knot(3000, 160, Storage::Bricks);
    check("bricks", shape.shell.as_ref().unwrap(), shape.field.as_ref().unwrap(), &[0.0, 0.0, 0.02, -0.01, 0.1], 400);
}

#[test]
fn the_tree_finds_what_each_sample_finds_on_bunnies_and_teapots() {
    for name in ["bunny_777_decimated.obj", "teapot_3k_open.obj"] {
        let Some(mesh) = support::shared_mesh(name) else { return };
        let shape = cook(&mesh, 2500, 96, Storage::Dense);
        check(name, shape.shell.as_ref().unwrap(), shape.field.as_ref().unwrap(), &[0.0], 600);
    }
}

#[test]
fn the_tree_finds_what_each_sample_finds_in_all_other_fields() {
    let shell = knot(1200, 48, Storage::Dense).shell.unwrap();
    let corners: Vec<[f64; 3]> = (0..8).map(|i| [0, 1, 2].map(|k| if i >> k & 1 == 1 { 0.4 } else { -0.3 })).collect();
    let torus = primitives::torus(0.35, 0.1, 24, 12).unwrap();
    // Samples can rest on edges and faces of these bodies; these levels are exact.
    let exact = [0.0];
    let any = [0.0, 0.05, -0.02];
    let near = cook(&torus, 100, 48, Storage::Exact).field.unwrap().as_ref().clone();
    let fields: [(&str, Field, &[f64], u64); 10] = [
        ("half-space", Field::HalfSpace(HalfSpace::new(Vec3::new(0.2, 1.0, 0.1), -0.6).unwrap()), &any, 300),
        ("sphere", Field::Sphere(Sphere::new(0.4).unwrap()), &any, 300),
        ("cuboid", Field::Cuboid(Cuboid::new([0.3, 0.5, 0.02]).unwrap()), &any[..2], 300),
        ("capsule", Field::Capsule(Capsule::new(1, 0.2, 0.3).unwrap()), &any, 300),
        ("cylinder", Field::Cylinder(Cylinder::new(0, 0.2, 0.4).unwrap()), &any, 300),
        ("cone", Field::Cone(Cone::new(2, 0.4, 0.9).unwrap()), &any, 300),
        ("hull", Field::ConvexHull(ConvexHull::new(&corners).unwrap()), &any, 300),
        ("mesh", Field::Mesh(MeshField::new(torus.clone()).unwrap()), &exact, 60),
        ("exact grid", near, &exact, 60),
        ("sheet", Field::Sheet(Sheet::new(Arc::new(torus), 0.05).unwrap()), &exact, 60),
    ];
    for (name, field, levels, motions) in &fields {
        check(name, &shell, field, levels, *motions);
    }
}

/// The lowest sample is on the boundary of every ball around it: no ball may be taken as smaller than it is.
#[test]
fn a_shell_that_grazes_a_plane_with_one_sample_touches_it() {
    let shell = knot(1200, 48, Storage::Dense).shell.unwrap();
    let plane = Field::HalfSpace(HalfSpace::new(Vec3::y(), 0.0).unwrap());
    let mut workspace = Workspace::new();
    for i in 0..300 {
        let mut rng = Rng(i ^ 0x6b2f);
        let turn = rng.rotation();
        let height = |s: u32| (turn * shell.position(s as usize)).y;
        let lowest = (0..shell.len() as u32).min_by(|p, q| height(*p).total_cmp(&height(*q))).unwrap();
        let at = |x: f64| Isometry3::from_parts(Translation3::new(x, -1e-6 - height(lowest), 0.0), turn);
        let motion = Motion::straight([&at(-0.4), &at(0.5)], [&Pose::identity(); 2]);
        let passage = Passage { linear: false, ..Passage::new(&shell, &plane, motion) };
        let first = passage.first(&mut workspace);
        assert_eq!(first, Some((0.0, first.map_or(u32::MAX, |f| f.1.min(lowest)))), "{i}");
        let spans = passage.spans(&mut workspace);
        assert!(spans.iter().any(|s| s.sample == lowest && s.from == 0.0 && s.to == 1.0), "{i}: {spans:?}");
    }
}

/// On a curved path the level is raised by the path's distance from its chords: a layer around the sheet that is much
/// thinner than the steps of the search.
#[test]
fn a_shell_on_a_screw_does_not_pass_through_a_sheet() {
    let shell = cook(&primitives::torus(0.3, 0.1, 48, 24).unwrap(), 1500, 48, Storage::Dense).shell.unwrap();
    let square = TriMesh {
        vertices: vec![[-9.0, 0.0, -9.0], [9.0, 0.0, -9.0], [9.0, 0.0, 9.0], [-9.0, 0.0, 9.0]],
        triangles: vec![[0, 2, 1], [0, 3, 2]],
    };
    let sheet = Field::Sheet(Sheet::new(Arc::new(square), 0.1).unwrap());
    let mut workspace = Workspace::new();
    let mut rng = Rng(0x5ee7);
    for i in 0..100 {
        let place = |rng: &mut Rng, y: f64| Translation3::new(rng.unit(), y, rng.unit());
        let [from, to] = [1.0, -1.0].map(|y| place(&mut rng, y) * rng.rotation());
        let motion = Motion::screw([&from, &to], [&Pose::identity(); 2], &Vec3::zeros());
        let height = |s: usize, t: f64| motion.at(t).point(&shell.position(s)).y;
        // The first time at which a sample is at y = 0, by small steps and bisection.
        let mut first = f64::INFINITY;
        for s in 0..shell.len() {
            let Some(k) = (1..=256).find(|k| height(s, f64::from(*k) / 256.0) <= 0.0) else { continue };
            let [mut low, mut high] = [k - 1, k].map(|k| f64::from(k) / 256.0);
            for _ in 0..50 {
                let middle = 0.5 * (low + high);
                if height(s, middle) <= 0.0 {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            first = first.min(high);
        }
        let passage = Passage::new(&shell, &sheet, motion);
        let (found, sample) = passage.first(&mut workspace).unwrap_or_else(|| panic!("{i}: missed at {first}"));
        assert!(found <= first + 1e-12, "{i}: {found}, by small steps {first}");
        assert!(height(sample as usize, found).abs() <= passage.tolerance * (1.0 + 1e-6), "{i}");
        assert!(passage.touches(&mut workspace), "{i}");
        let spans = passage.spans(&mut workspace);
        assert!(spans.iter().any(|span| span.from <= first && first <= span.to), "{i}");
    }
}

#[test]
fn a_shell_inside_during_the_whole_motion_is_always_in_contact() {
    let mesh = primitives::cuboid([0.5; 3]).unwrap();
    let small = cook(&primitives::torus(0.05, 0.02, 24, 12).unwrap(), 400, 24, Storage::Dense).shell.unwrap();
    for storage in [Storage::Dense, Storage::Bricks] {
        let field = cook(&mesh, 100, 96, storage).field.unwrap();
        let [from, to] = [[-0.2, 0.1, 0.0], [0.2, -0.1, 0.15]].map(|t| Pose::translation(t[0], t[1], t[2]));
        let motion = Motion::straight([&from, &to], [&Pose::identity(); 2]);
        for linear in [false, true] {
            let passage = Passage { linear, ..Passage::new(&small, &field, motion) };
            let mut workspace = Workspace::new();
            let spans = passage.spans(&mut workspace);
            let all: Vec<Span> = (0..small.len() as u32).map(|sample| Span { sample, from: 0.0, to: 1.0 }).collect();
            assert_eq!(spans, all);
        }
    }
}

#[test]
fn a_certified_side_holds_everywhere_within_its_radius() {
    let dense = knot(100, 48, Storage::Dense).field.unwrap();
    let bricks = knot(100, 160, Storage::Bricks).field.unwrap();
    let solid = cook(&primitives::cuboid([0.5; 3]).unwrap(), 100, 160, Storage::Bricks).field.unwrap();
    let mut rng = Rng(12);
    for (field, most) in [(&dense, 0.08), (&bricks, 0.08), (&solid, 0.4)] {
        let (mut above, mut below, mut deepest) = (0, 0, 0.0f32);
        for i in 0..60_000 {
            let reach = [0.3, 0.45, 2.0][i % 3];
            let c = [0; 3].map(|_| (rng.unit() * reach) as f32);
            let level = [0.0, 0.0, 0.01, -0.01][i / 3 % 4];
            let mut side = [0.0];
            let at = c.map(|x| [x]);
            match field.as_ref() {
                Field::Dense(f) => f.side_batch(&at[0], &at[1], &at[2], [level; 2], &mut side),
                Field::Bricks(f) => f.side_batch(&at[0], &at[1], &at[2], [level; 2], &mut side),
                _ => unreachable!("none of the fields above"),
            }
            let r = side[0];
            assert!(!r.is_nan());
            let phi = field.distance(c);
            assert!(r <= 0.0 || phi > level, "{c:?}: {phi} at {level}, but {r}");
            assert!(r >= 0.0 || phi <= level, "{c:?}: {phi} at {level}, but {r}");
            (above, below) = (above + usize::from(r > 0.0), below + usize::from(r < 0.0));
            deepest = deepest.max(-r);
            for _ in 0..if r == 0.0 { 0 } else { 12 } {
                let d = rng.vector().normalize() * f64::from(r.abs()) * (1.0 - 0.3 * rng.unit().abs().powi(4));
                let x = [c[0] + d.x as f32, c[1] + d.y as f32, c[2] + d.z as f32];
                let phi = field.distance(x);
                let wrong = if r > 0.0 { phi <= level - 1e-6 } else { phi > level + 1e-6 };
                assert!(!wrong, "{c:?}: {phi} at {level} within {r}");
            }
        }
        assert!(above > 10_000 && below > 100, "{above} above, {below} below");
        assert!(deepest > 0.4 * most, "{deepest} of {most}: little is known of the inside");
    }
}

#[test]
fn clearances_are_those_of_the_lower_bound() {
    let dense = knot(100, 48, Storage::Dense).field.unwrap();
    let bricks = knot(100, 160, Storage::Bricks).field.unwrap();
    let exact = knot(100, 48, Storage::Exact).field.unwrap();
    let sphere = Arc::new(Field::Sphere(Sphere::new(0.4).unwrap()));
    let mut rng = Rng(11);
    for field in [&dense, &bricks, &exact, &sphere] {
        let (mut known, mut tight) = (0, 0);
        for i in 0..40_000 {
            let reach = [0.3, 0.6, 2.0][i % 3];
            let c = [0; 3].map(|_| (rng.unit() * reach) as f32);
            let level = [0.0, 0.05, -0.03, 0.2][i / 3 % 4];
            let clearance = |c: [f32; 3]| match field.as_ref() {
                Field::Dense(f) => f.clearance(c, level),
                Field::Bricks(f) => f.clearance(c, level),
                Field::Exact(f) => f.clearance(c, level),
                Field::Sphere(f) => f.clearance(c, level),
                _ => unreachable!("none of the fields above"),
            };
            let r = clearance(c);
            assert!(!r.is_nan());
            if r <= 0.0 {
                continue;
            }
            known += 1;
            for _ in 0..4 {
                let d = rng.vector().normalize() * f64::from(r) * (1.0 - 1e-6 * rng.unit().abs());
                let x = [c[0] + d.x as f32, c[1] + d.y as f32, c[2] + d.z as f32];
                let phi = field.distance(x);
                assert!(phi > level - 1e-6, "{c:?}: {phi} at {level} within {r}");
            }
            tight += usize::from(field.lower_bound(c, r * 1.1 + 1e-3) <= level);
        }
        assert!(known > 10_000, "{known}");
        assert!(tight > known * 9 / 10, "{tight} of {known} as large as the lower bound says");
    }
}
