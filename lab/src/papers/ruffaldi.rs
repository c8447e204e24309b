//! Figures 3 to 6 of Ruffaldi et al. 2008, "Voxel-based haptic rendering using implicit sphere trees", and the same pairs by a
//! pointshell in a field.
//!
//! The paper does not name its models, voxel sizes or steps. Here a blob of 1 m, the world, is fixed, and a torus knot of about
//! 0.6 m, the probe, comes along a straight line. Its only figure in words: about 1,000 contacts in less than 1 ms, on a Core 2 of
//! 2.4 GHz.

use serde_json::json;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::{self, Query};
use voxshell::dynamics::Mass;
use voxshell::math::{Pose, Progress, Rotation, Twist, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::response::{self, ImpulseSettings, Kinematics, Mobility};
use voxshell::voxtree::{self, Placed, QueryOptions, TreeOptions, VoxTree, Workspace, PAPER_SMALLER, SMALLER};
use voxshell::Result;
use voxshell_lab::clock;
use voxshell_lab::report::palette::{Colour, BLUE, GREEN, GREY, ORANGE, RED, TEAL, VIOLET, YELLOW};
use voxshell_lab::report::{Curve, Plot};
use voxshell_lab::row::Row;

use super::{Context, Outcome};

const COLOURS: [Colour; 8] = [BLUE, ORANGE, GREEN, RED, VIOLET, TEAL, YELLOW, GREY];
/// Repetitions of a query; the fastest counts.
const RUNS: usize = 5;
/// Level of the root of the probe's tree.
const PROBE_LEVEL: u32 = 6;

/// One step of an approach.
struct Step {
    /// Distance between the centres, metres.
    distance: f64,
    contacts: usize,
    /// Seconds.
    time: f64,
    tests: u64,
}

/// The curves of a figure.
struct Series {
    name: String,
    steps: Vec<Step>,
}

struct Bodies {
    world: TriMesh,
    probe: TriMesh,
}

impl Bodies {
    fn new() -> Result<Self> {
        Ok(Self { world: primitives::blob(1)?, probe: primitives::torus_knot(2, 3, 0.2, 0.07, 256, 32)? })
    }

    fn tree(&self, mesh: &TriMesh, level: u32) -> Result<VoxTree> {
        let options = TreeOptions::new(1.0).with_level(&mesh.bounds(), level)?;
        VoxTree::from_mesh(mesh, &options, &Progress::none())
    }
}

pub fn run(context: &Context) -> Result<Outcome> {
    let quick = context.quick;
    let mut plots = Vec::new();
    let mut rows = vec![Row::from(json!({
        "figure": "2", "row": "spheres smaller than that of the cube, of 255",
        "computed_count": SMALLER, "paper_count": PAPER_SMALLER,
    }))];
    let bodies = Bodies::new()?;
    let levels: &[u32] = if quick { &[5, 6] } else { &[5, 6, 7, 8] };
    let count = if quick { 12 } else { 60 };
    let probe = bodies.tree(&bodies.probe, PROBE_LEVEL)?;
    let mut worlds = Vec::new();
    for &level in levels {
        let (seconds, tree) = clock::of_wall(|| bodies.tree(&bodies.world, level));
        let tree = tree?;
        rows.push(Row::from(json!({
            "figure": "tree", "level": level, "voxels_count": tree.voxel_count(), "bytes_byte": tree.bytes(),
            "voxel_m": tree.voxel_size(), "making_s": seconds,
        })));
        worlds.push((level, tree));
    }

    let plain: Vec<Series> = worlds
        .iter()
        .map(|(level, world)| Ok(Series { name: format!("level {level}"), steps: approach(world, &probe, count)? }))
        .collect::<Result<_>>()?;
    figure("3", "no response", &plain, &mut plots, &mut rows);

    let with: Vec<Series> = worlds
        .iter()
        .map(|(level, world)| Ok(Series { name: format!("level {level}"), steps: pushed(world, &probe, count * 4)? }))
        .collect::<Result<_>>()?;
    figure("4", "with response", &with, &mut plots, &mut rows);

    let (_, fine) = &worlds[worlds.len().min(3) - 1];
    let mut four = Vec::new();
    for (tight, one_child, name) in
        [(false, false, "none"), (true, false, "side"), (false, true, "one-child"), (true, true, "both")]
    {
        let options = QueryOptions { tight, one_child, ..QueryOptions::default() };
        let steps = positions(count).map(|at| measured(fine, &probe, &at, &options)).collect::<Result<_>>()?;
        four.push(Series { name: name.into(), steps });
    }
    // The same with cubes: the spheres of the table need not be grown then.
    for (tight, name) in [(false, "cubes, none"), (true, "cubes, side")] {
        let options = QueryOptions { tight, one_child: false, cubes: true, ..QueryOptions::default() };
        let steps = positions(count).map(|at| measured(fine, &probe, &at, &options)).collect::<Result<_>>()?;
        four.push(Series { name: name.into(), steps });
    }
    figure("5", "optimisations", &four, &mut plots, &mut rows);
    for series in &four {
        let tests: u64 = series.steps.iter().map(|s| s.tests).sum();
        let time: f64 = series.steps.iter().map(|s| s.time).sum();
        rows.push(Row::from(json!({
            "figure": "5", "series": series.name, "row": "sum over the approach", "tests_count": tests, "time_ms": 1e3 * time,
        })));
    }

    let directions = if quick { 3 } else { 8 };
    let random: Vec<Series> = (0..directions)
        .map(|i| {
            let steps = random_approach(i, directions, count)
                .map(|pose| measured(fine, &probe, &pose, &QueryOptions::default()))
                .collect::<Result<_>>()?;
            Ok(Series { name: format!("direction {}", i + 1), steps })
        })
        .collect::<Result<_>>()?;
    figure("6", "random directions", &random, &mut plots, &mut rows);
    thousand(&[&plain, &random], &mut rows);
    beside_field(&bodies, &worlds, &probe, count, &mut rows)?;

    Ok(Outcome { rows, plots, ..Outcome::default() })
}

/// Poses of an approach from a distance without contact to a deep overlap.
fn positions(count: usize) -> impl Iterator<Item = Pose> {
    let turn = Rotation::from_euler_angles(0.3, 0.5, 0.1);
    (0..count).map(move |i| {
        let distance = 0.95 - 0.65 * i as f64 / (count - 1) as f64;
        Pose::from_parts((Vec3::new(0.8, 0.36, 0.48) * distance).into(), turn)
    })
}

/// "Randomly generated in spherical coordinates": directions of equal area, with a turn each, and constant speed.
fn random_approach(i: usize, of: usize, count: usize) -> impl Iterator<Item = Pose> {
    let z = 1.0 - (2 * i + 1) as f64 / of as f64;
    let around = i as f64 * 2.399963229728653;
    let flat = (1.0 - z * z).sqrt();
    let direction = Vec3::new(flat * around.cos(), flat * around.sin(), z);
    let turn = Rotation::from_euler_angles(around, z, 1.7 * around);
    (0..count).map(move |k| {
        let distance = 1.0 - 0.6 * k as f64 / (count - 1) as f64;
        Pose::from_parts((direction * distance).into(), turn)
    })
}

fn measured(world: &VoxTree, probe: &VoxTree, pose: &Pose, options: &QueryOptions) -> Result<Step> {
    let (a, b) = (Placed::new(world, Pose::identity()), Placed::new(probe, *pose));
    let mut workspace = Workspace::new();
    let mut step = Step { distance: pose.translation.vector.norm(), contacts: 0, time: f64::INFINITY, tests: 0 };
    for _ in 0..RUNS {
        let (time, count) = clock::of_thread(|| voxtree::query(&a, &b, options, &mut workspace).map(<[_]>::len));
        (step.contacts, step.time) = (count?, step.time.min(time));
    }
    step.tests = workspace.report().tests;
    Ok(step)
}

fn approach(world: &VoxTree, probe: &VoxTree, count: usize) -> Result<Vec<Step>> {
    positions(count).map(|pose| measured(world, probe, &pose, &QueryOptions::default())).collect()
}

/// The probe, 0.1 kg, is pushed with 2 N towards the centre of the world for `count` steps of 2 ms; impulses at its voxel pairs hold
/// it, deepest pair first (section 3.3.1).
fn pushed(world: &VoxTree, probe: &VoxTree, count: usize) -> Result<Vec<Step>> {
    const DT: f64 = 2e-3;
    let mass = Mass::of_sphere(0.1, 0.25)?;
    let mobility = Mobility { inverse_mass: 1.0 / mass.mass(), inverse_inertia: *mass.inverse_inertia() };
    let mut pose = positions(2).next().unwrap_or_else(Pose::identity);
    let toward = -pose.translation.vector.normalize();
    let mut twist = Twist { linear: toward * 1.0, angular: Vec3::zeros() };
    let (mut workspace, mut contacts) = (Workspace::new(), Vec::new());
    let mut steps = Vec::new();
    for _ in 0..count {
        twist.linear += toward * (2.0 * mobility.inverse_mass * DT);
        let a = Placed::new(world, Pose::identity());
        let b = Placed { twist, ..Placed::new(probe, pose) };
        let (time, found) = clock::of_thread(|| -> Result<usize> {
            let pairs = voxtree::query(&a, &b, &QueryOptions::default(), &mut workspace)?;
            response::voxel_contacts(pairs, &mut contacts);
            let at = Kinematics { pose, center: pose.translation.vector, twist };
            let settings = ImpulseSettings { max_speed: 0.1, ..ImpulseSettings::new(DT) };
            let still = Kinematics::still(&Pose::identity());
            let impulses = response::impulse(&contacts, (&still, &Mobility::FIXED), (&at, &mobility), &settings);
            twist.linear += impulses.on_b.force * mobility.inverse_mass;
            twist.angular += mobility.inverse_inertia * impulses.on_b.torque;
            Ok(contacts.len())
        });
        let tests = workspace.report().tests;
        steps.push(Step { distance: pose.translation.vector.norm(), contacts: found?, time, tests });
        let turn = Rotation::from_scaled_axis(twist.angular * DT);
        pose = Pose::from_parts((pose.translation.vector + twist.linear * DT).into(), turn * pose.rotation);
    }
    Ok(steps)
}

/// Adds the rows of a figure and writes its four plots.
fn figure(number: &str, what: &str, series: &[Series], plots: &mut Vec<Plot>, rows: &mut Vec<Row>) {
    for one in series {
        for (i, step) in one.steps.iter().enumerate() {
            rows.push(Row::from(json!({
                "figure": number, "series": one.name, "step": i, "distance_m": step.distance,
                "contacts_count": step.contacts, "time_us": 1e6 * step.time, "tests_count": step.tests,
            })));
        }
    }
    type Quantity = (&'static str, fn(&Step) -> f64);
    let quantities: [Quantity; 4] = [
        ("distance of the centres, m", |s| s.distance),
        ("contacts", |s| s.contacts as f64),
        ("time of a step, µs", |s| 1e6 * s.time),
        ("sphere tests", |s| s.tests as f64),
    ];
    for (title, value) in quantities {
        let curves = series
            .iter()
            .zip(COLOURS.iter().cycle())
            .map(|(one, &colour)| Curve {
                name: one.name.clone(),
                colour,
                points: one.steps.iter().enumerate().map(|(i, s)| (i as f64, value(s))).collect(),
            })
            .collect();
        plots.push(Plot { x_label: "step", ..Plot::over_seconds(format!("Figure {number}, {what}: {title}"), curves) });
    }
}

/// The steps of about 1,000 contacts.
fn thousand(figures: &[&Vec<Series>], rows: &mut Vec<Row>) {
    let steps = figures.iter().flat_map(|f| f.iter()).flat_map(|s| &s.steps);
    let near: Vec<&Step> = steps.filter(|s| (800..1250).contains(&s.contacts)).collect();
    if let Some(slowest) = near.iter().map(|s| s.time).reduce(f64::max) {
        rows.push(
            Row::new("slowest step of 800 to 1250 contacts", 1e3 * slowest, "ms")
                .target(1.0)
                .with("figure", "3 and 6")
                .with("steps", near.len())
                .with("fastest_ms", 1e3 * near.iter().map(|s| s.time).fold(f64::INFINITY, f64::min)),
        );
    }
}

/// The approach of figure 3 with the probe's pointshell in the world's field: time, contacts, and where the first contact is.
fn beside_field(
    bodies: &Bodies,
    worlds: &[(u32, VoxTree)],
    probe: &VoxTree,
    count: usize,
    rows: &mut Vec<Row>,
) -> Result<()> {
    for (level, world) in worlds {
        let cook = |mesh: &TriMesh, voxel_size: f64| {
            let options = CookOptions { resolution: Resolution::VoxelSize(voxel_size), ..CookOptions::default() };
            Shape::cook(mesh, &options, &Progress::none())
        };
        let field = cook(&bodies.world, world.voxel_size())?;
        let shell = cook(&bodies.probe, probe.voxel_size())?;
        let (a, b) = (field.geometry(), shell.geometry());
        let query = Query { roles: contact::Roles::ShellOfB, coverage: contact::Coverage::Samples, ..Query::default() };
        let mut workspace = contact::Workspace::new();
        let (mut of_field, mut of_tree, mut touching) = ([0.0f64; 2], [0.0f64; 2], [0.0f64; 2]);
        let mut ended = [0usize; 2];
        for pose in positions(count) {
            let distance = pose.translation.vector.norm();
            let tree = measured(world, probe, &pose, &QueryOptions::default())?;
            let mut time = f64::INFINITY;
            let mut found = 0;
            for _ in 0..RUNS {
                let (seconds, count) = clock::of_thread(|| {
                    contact::contacts(a, &Pose::identity(), b, &pose, &query, &mut workspace).map(<[_]>::len)
                });
                (found, time) = (count?, time.min(seconds));
            }
            // Half of the approach is light contact, the other half deep.
            let half = usize::from(distance < 0.55);
            of_field[half] += time;
            of_tree[half] += tree.time;
            for (k, contacts) in [found, tree.contacts].into_iter().enumerate() {
                if contacts > 0 {
                    touching[k] = touching[k].max(distance);
                }
                ended[k] = contacts;
            }
        }
        rows.push(Row::from(json!({
            "figure": "pointshell in field beside trees", "level": level,
            "light_field_ms": 1e3 * of_field[0], "light_trees_ms": 1e3 * of_tree[0],
            "deep_field_ms": 1e3 * of_field[1], "deep_trees_ms": 1e3 * of_tree[1],
            "first_contact_field_m": touching[0], "first_contact_trees_m": touching[1],
            "last_contacts_field_count": ended[0], "last_contacts_trees_count": ended[1],
            "field_byte": field.field.as_deref().and_then(|f| f.gridded()).map_or(0, |g| g.bytes),
            "pointshell_byte": shell.shell.as_deref().map_or(0, |s| s.memory_bytes()),
            "world_tree_byte": world.bytes(), "probe_tree_byte": probe.bytes(),
        })));
    }
    Ok(())
}
