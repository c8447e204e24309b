//! Pegs that a hand puts into holes. The hand is a spring, and its wanted path stays beside the axis of the hole and
//! tilted: the walls lead the peg in against the springs, as in an assembly by hand.
//!
//! The depth is that of the triangles of both meshes in each other, found by the edges and corners of their exact
//! surfaces and not by the samples that hold the peg.

use std::f64::consts::TAU;
use std::sync::Arc;

use voxshell::asset::{CookOptions, Resolution, Shape, Storage};
use voxshell::contact::{contacts, Coverage, Query, Roles, Workspace};
use voxshell::haptics::god_object::Detection;
use voxshell::haptics::{self, Forms, Obstacle, Settings, Status, Tool};
use voxshell::math::{Pose, Progress, Rotation, Vec3, Wrench};
use voxshell::mesh::{primitives, Locator, TriMesh};
use voxshell::Result;

use super::Effort;
use crate::haptics_demo::asset_cache::AssetCache;
use crate::haptics_demo::session::{quantile, RendererName, LIMITS, STEP};
use voxshell_lab::clock::of_thread;
use voxshell_lab::device::{Axis, DeviceModel, SimulatedDevice};
use voxshell_lab::row::Row;

/// Number of tries, each beside the axis and tilted in other directions.
const TRIES: u32 = 10;
/// Distance of the wanted path from the axis, metres, and its tilt, radians.
const ASIDE: f64 = 0.5e-3;
const TILT: f64 = 2.0 * TAU / 360.0;
/// The hand starts with the peg's end this far above the hole and moves down this fast, m and m/s.
const ABOVE: f64 = 1e-3;
const SPEED: f64 = 0.01;
/// Distance that the hand moves on below the depth of the hole: its spring pushes the peg that far, metres.
const BEYOND: f64 = 4e-3;
/// Depth at which a peg is in: the thickness of the blocks but for a chamfer, metres.
const DEPTH: f64 = 9e-3;
/// Duration of a try at most, seconds.
const SECONDS: f64 = 4.0;
/// A tensed arm, as in the experiments, N·s/m and N/m, with the rotation of a handle of 5 cm radius.
const ARM: Axis = Axis::new(0.554, 13.0, 600.0);
const GRIP: f64 = 0.05;
/// Number of cells along the parts.
const CELLS: u32 = 128;
/// Mass of a peg in the hand, kg.
const MASS: f64 = 0.05;

/// A peg along y with its lower end at the origin, and a block whose hole along y begins at the origin and goes down.
struct Parts {
    name: &'static str,
    peg: TriMesh,
    block: TriMesh,
}

/// Result of a try.
#[derive(Default)]
struct Try {
    /// Depth of the peg's end in the hole at the end, metres.
    reached: f64,
    /// Depth of the bodies in each other, the greatest of all rounds, metres.
    penetration: f64,
    /// Greatest force on the hand, N.
    force: f64,
    /// Fraction of the rounds in which the constraints allowed no motion.
    locked: f64,
    /// Time of each round of the simulation with contacts, µs.
    rounds: Vec<f64>,
}

pub fn rows(assets: &AssetCache, effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    let mut parts = vec![own()?];
    // A quick run does one kind only: by triangles alone, a try takes minutes.
    let (tries, kept) = if effort.quick() { (1, 1) } else { (TRIES, usize::MAX) };
    if !effort.quick() {
        match factory(assets)? {
            Some(pair) => parts.push(pair),
            None => eprintln!("no rows of the factory's peg: its meshes are absent"),
        }
    }
    for pair in parts {
        let kinds = [
            ("grid", Storage::Bricks, Detection::Continuous),
            ("exact", Storage::Exact, Detection::Continuous),
            ("triangles", Storage::Bricks, Detection::Triangles),
        ];
        for (kind, storage, detection) in kinds.into_iter().take(kept) {
            let [peg, block] = [cook(&pair.peg, storage)?, cook(&pair.block, storage)?];
            let meshes = [&pair.peg, &pair.block].map(|mesh| Arc::new(Locator::new(mesh)));
            let parts = [(&peg, &meshes[0]), (&block, &meshes[1])];
            let results = (0..tries).map(|n| insert(parts, detection, n)).collect::<Result<Vec<Try>>>()?;
            add(rows, &format!("haptics/insertion/{}/{kind}", pair.name), results);
        }
    }
    Ok(())
}

/// Adds the rows of all tries with a pair of parts.
fn add(rows: &mut Vec<Row>, name: &str, results: Vec<Try>) {
    let name = |what: &str| format!("{name}/{what}");
    let least = results.iter().map(|t| t.reached).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&Try) -> f64| results.iter().map(of).fold(0.0, f64::max);
    let failed = results.iter().filter(|t| t.reached < DEPTH).count();
    let row = Row::new(name("failed"), failed as f64, "tries").target(0.0);
    rows.push(
        row.with("tries", results.len())
            .with("least_depth_mm", least * 1e3)
            .with("max_force_n", most(|t| t.force))
            .with("locked_share", most(|t| t.locked)),
    );
    rows.push(Row::new(name("max_penetration"), most(|t| t.penetration) * 1e6, "um").target(1.0));
    let mut times: Vec<f64> = results.into_iter().flat_map(|t| t.rounds).collect();
    let count = times.len();
    let row = Row::new(name("p99"), quantile(&mut times, 0.99), "us").target(1000.0);
    rows.push(row.with("p50", quantile(&mut times, 0.5)).with("rounds", count));
}

/// Makes a peg of ∅ 8 mm with 256 segments for a hole 10 µm wider.
fn own() -> Result<Parts> {
    let (radius, length, half) = (4e-3, 50e-3, 0.5 * DEPTH);
    let peg = moved(&primitives::peg(radius, length, 0.6e-3, 256)?, |[x, y, z]| [x, y + 0.5 * length, z]);
    let block = moved(&primitives::hole([12.5e-3, half, 12.5e-3], radius + 5e-6, 256)?, |[x, y, z]| [x, y - half, z]);
    Ok(Parts { name: "own", peg, block })
}

/// Loads the tight round peg of ∅ 8 mm of Factory (Narang et al. 2022) and its hole, along z in the files.
fn factory(assets: &AssetCache) -> Result<Option<Parts>> {
    let peg = assets.mesh("factory/factory_round_peg_8mm_tight.obj")?;
    let block = assets.mesh("factory/factory_round_hole_8mm_subdiv_3x.obj")?;
    let (Some(peg), Some(block)) = (peg, block) else { return Ok(None) };
    let block = block.welded(1e-7);
    let top = block.vertices.iter().map(|v| v[2]).fold(f64::NEG_INFINITY, f64::max);
    let block = moved(&sealed(&block), |[x, y, z]| [y, z - top, x]);
    Ok(Some(Parts { name: "factory", peg: moved(&peg, |[x, y, z]| [y, z, x]), block }))
}

fn moved(mesh: &TriMesh, by: impl Fn([f64; 3]) -> [f64; 3]) -> TriMesh {
    TriMesh { vertices: mesh.vertices.iter().map(|&v| by(v)).collect(), triangles: mesh.triangles.clone() }
}

/// Returns the mesh closed where vertices of one side of a seam lie on edges of its other side: with triangles without
/// area.
fn sealed(mesh: &TriMesh) -> TriMesh {
    let edges = |t: &[u32; 3]| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])];
    let all: std::collections::BTreeSet<(u32, u32)> = mesh.triangles.iter().flat_map(edges).collect();
    let open: Vec<(u32, u32)> = all.iter().copied().filter(|&(a, b)| !all.contains(&(b, a))).collect();
    let at = |i: u32| Vec3::from(mesh.vertices[i as usize]);
    let mut triangles = mesh.triangles.clone();
    for &(a, b) in &open {
        let along = at(b) - at(a);
        let mut between: Vec<(f64, u32)> = open
            .iter()
            .map(|&(v, _)| ((at(v) - at(a)).dot(&along) / along.norm_squared(), v))
            .filter(|&(t, v)| t > 1e-6 && t < 1.0 - 1e-6 && (at(v) - at(a) - along * t).norm() < 1e-7)
            .collect();
        between.sort_by(|x, y| x.0.total_cmp(&y.0));
        between.dedup_by_key(|x| x.1);
        let mut last = a;
        for (_, v) in between {
            triangles.push([b, last, v]);
            last = v;
        }
    }
    TriMesh { vertices: mesh.vertices.clone(), triangles }
}

fn cook(mesh: &TriMesh, storage: Storage) -> Result<Shape> {
    let options = CookOptions { resolution: Resolution::Cells(CELLS), storage, ..CookOptions::default() };
    Shape::cook(mesh, &options, &Progress::none())
}

/// Runs a try: the directions of offset and tilt differ from try to try.
fn insert(parts: [(&Shape, &Arc<Locator>); 2], detection: Detection, number: u32) -> Result<Try> {
    let [(peg, _), (block, _)] = parts;
    let direction = |angle: f64| Vec3::new(angle.cos(), 0.0, angle.sin());
    let aside = direction(f64::from(number) * 2.399_963_229_728_653) * ASIDE;
    let tilt = Rotation::from_scaled_axis(direction(0.7 + f64::from(number) * 1.3) * TILT);
    let wanted = |y: f64| Pose::from_parts((aside + Vec3::y() * y).into(), tilt);

    let triangles = detection == Detection::Triangles;
    let forms = |(shape, mesh): (&Shape, &Arc<Locator>)| Forms {
        field: shape.field.clone(),
        shell: shape.shell.clone(),
        mesh: triangles.then(|| mesh.clone()),
        ..Forms::default()
    };
    let Some(mass) = peg.mass else {
        return Err(voxshell::Error::InvalidMesh("the peg has no inside to be weighed".into()));
    };
    let tool = Tool::of_mass(forms(parts[0]), &mass, MASS)?;
    let settings = Settings::for_tool(RendererName::GodObject.renderer(), &tool, &LIMITS)?;
    let settings = Settings { detection, ..settings };
    let (mut servo, mut simulation) =
        haptics::new(settings, tool, vec![Obstacle::fixed(forms(parts[1]), Pose::identity())])?;

    let angular = Axis::new(ARM.mass * GRIP * GRIP, ARM.damping * GRIP * GRIP, ARM.stiffness * GRIP * GRIP);
    let model = DeviceModel { hand: Some([ARM, angular]), ..DeviceModel::new(0.3, 1.0) };
    let mut device = SimulatedDevice::new(model, wanted(ABOVE));
    let mut felt = Wrench::ZERO;
    let mut result = Try::default();
    let mut locked = 0;
    let mut workspace = Workspace::new();
    let query = Query { roles: Roles::Both, coverage: Coverage::Edges, max_separation: 0.0, ..Query::default() };
    let exact = [peg.geometry_for(Coverage::Edges)?, block.geometry_for(Coverage::Edges)?];
    assert!(exact.iter().all(|g| g.surface.is_some()), "the depth needs closed meshes");
    for step in 0..(SECONDS / STEP) as u32 {
        let down = (SPEED * STEP * f64::from(step)).min(ABOVE + DEPTH + BEYOND);
        device.wanted = wanted(ABOVE - down);
        device.step(&felt, STEP);
        let output = servo.step(&device.state(), STEP);
        let (seconds, report) = of_thread(|| simulation.simulate());
        if report.contacts > 0 {
            result.rounds.push(seconds * 1e6);
            locked += u32::from(report.status.contains(Status::LOCKED));
        }
        felt = output.wrench;
        result.force = result.force.max(felt.force.norm());
        let pose = servo.tool_pose();
        let found = contacts(exact[0], &pose, exact[1], &Pose::identity(), &query, &mut workspace)?;
        let depth = found.iter().map(|c| -c.separation).fold(0.0, f64::max);
        result.penetration = result.penetration.max(depth);
        result.reached = -pose.translation.y;
        if result.reached >= DEPTH {
            break;
        }
    }
    result.locked = f64::from(locked) / result.rounds.len().max(1) as f64;
    Ok(result)
}
