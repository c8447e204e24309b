//! Random bodies: a hand with springs pulls a random tool slowly through the middle of a random body, with each renderer.
//!
//! The depth is that of the meshes in each other, with their edges and corners, and not that of samples in fields. A tool
//! that passes through a wall is deeper than half of its thickness on its way. Walls are twice as thick as [`DEEP`] at
//! least, except where they taper to an edge.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::{contacts, Coverage, Query, Roles, Workspace};
use voxshell::field::Surface;
use voxshell::haptics::god_object::Detection;
use voxshell::haptics::{self, Forms, Obstacle, Settings, Tool};
use voxshell::math::{Pose, Progress, Rotation, Vec3, Wrench};
use voxshell::mesh::primitives::Primitive;
use voxshell::mesh::{Bvh, Locator, TriMesh};
use voxshell::pointshell::ShellOptions;
use voxshell::voxmap::Offset;
use voxshell::Result;

use super::super::random::Random;
use super::Effort;
use crate::haptics_demo::session::{quantile, RendererName, LIMITS, STEP};
use voxshell_lab::device::{DeviceModel, SimulatedDevice};
use voxshell_lab::row::Row;

/// Number of pairs of bodies. By triangles a round takes up to a second, and a pair minutes: they get fewer.
const PAIRS: u64 = 200;
const TRIANGLE_PAIRS: u64 = 10;
const FEW_PAIRS: u64 = 1;
/// Number of pairs whose rounds are timed, one after the other, and the time for 1 kHz, microseconds.
const TIMED_PAIRS: u64 = 20;
const PERIOD: f64 = 1e3;
/// Pairs between two reports of the progress.
const REPORT: usize = 10;
/// Extents of body and tool, metres; cells along them.
const EXTENTS: [f64; 2] = [0.1, 0.06];
const CELLS: u32 = 64;
/// Depth from which a tool may pass through a wall, metres.
const DEEP: f64 = 1.5e-3;
/// Speed at which the hand moves and turns, m/s and rad/s.
const SPEED: f64 = 0.04;
const TURN: f64 = 0.4;
/// Distance by which the hand moves beyond the middle of the body, metres.
const BEYOND: f64 = 0.04;
/// Steps between two looks at the depth: the hand moves 0.2 mm meanwhile.
const LOOK: usize = 5;

const KINDS: [(RendererName, Detection, &str); 6] = [
    (RendererName::Vps, Detection::Continuous, "vps"),
    (RendererName::Penalty, Detection::Continuous, "penalty"),
    (RendererName::ContinuousPenalty, Detection::Continuous, "continuous-penalty"),
    (RendererName::Impulse, Detection::Continuous, "impulse"),
    (RendererName::GodObject, Detection::Continuous, "god-object"),
    (RendererName::GodObject, Detection::Triangles, "god-object-triangles"),
];

struct Body {
    mesh: TriMesh,
    shape: Shape,
    surface: Option<Arc<Surface>>,
}

impl Body {
    fn new(random: &mut Random, extent: f64) -> Result<Self> {
        let mesh = match random.below(4) {
            // A spike or a stone with sharp corners; the primitives have round bodies, plates with holes and gears.
            0 => Primitive::Cone { radius: 0.1 + 0.3 * random.next(), height: 1.0, segments: 5 + random.below(8) }
                .mesh()?,
            1 => Primitive::Cuboid { half: [0.5, 0.1 + 0.4 * random.next(), 0.1 + 0.4 * random.next()] }.mesh()?,
            _ => Primitive::random((random.next() * 1e9) as u64).mesh()?,
        };
        let mesh = mesh.scaled_to_extent(extent);
        let options = CookOptions {
            resolution: Resolution::Cells(CELLS),
            shell: ShellOptions { target_count: Some(2_000), ..ShellOptions::default() },
            ..CookOptions::default()
        };
        let shape = Shape::cook(&mesh, &options, &Progress::none())?;
        let surface = shape.surface_for(Coverage::Facets)?.cloned();
        Ok(Self { mesh, shape, surface })
    }

    fn forms(&self, detection: Detection) -> Forms {
        let mesh = (detection == Detection::Triangles).then(|| Arc::new(Locator::new(&self.mesh)));
        let (field, shell, surface) = (self.shape.field.clone(), self.shape.shell.clone(), self.surface.clone());
        Forms { field, shell, surface, mesh, ..Forms::default() }
    }
}

pub fn rows(effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    for triangles in [false, true] {
        let kinds: Vec<_> = KINDS.iter().filter(|kind| (kind.1 == Detection::Triangles) == triangles).collect();
        let pairs = match triangles {
            _ if effort.quick() => FEW_PAIRS,
            false => PAIRS,
            true => TRIANGLE_PAIRS,
        };
        let done = AtomicUsize::new(0);
        // No time of these is shown, so all pairs run in parallel.
        let pulls: Vec<Vec<Pulled>> = (0..pairs)
            .into_par_iter()
            .map(|seed| -> Result<Vec<Pulled>> {
                let mut random = Random::new(seed);
                let (body, tool) = (Body::new(&mut random, EXTENTS[0])?, Body::new(&mut random, EXTENTS[1])?);
                let pulled = kinds.iter().map(|kind| pull(&body, &tool, (kind.0, kind.1), seed)).collect();
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                if triangles || done % REPORT == 0 {
                    eprintln!("bodies{}: {done} of {pairs} pairs", if triangles { " by triangles" } else { "" });
                }
                pulled
            })
            .collect::<Result<_>>()?;
        for (i, kind) in kinds.iter().enumerate() {
            let count = |is: fn(&Pulled) -> bool| pulls.iter().filter(|each| is(&each[i])).count();
            let mut deepest: Vec<f64> = pulls.iter().map(|each| each[i].depth * 1e3).collect();
            let passed = count(|pulled| pulled.has_passed) as f64;
            let row = Row::new(format!("haptics/bodies/{}/passed", kind.2), passed, "pairs").target(0.0);
            rows.push(
                row.with("pairs", pairs)
                    .with("deep_pairs", count(|pulled| pulled.depth > DEEP))
                    .with("p50_depth_mm", quantile(&mut deepest, 0.5))
                    .with("p90_depth_mm", quantile(&mut deepest, 0.9))
                    .with("max_depth_mm", quantile(&mut deepest, 1.0)),
            );
        }
    }
    round_times(effort, rows)
}

/// Adds the times of rounds of the simulation in which the bodies touch, with all renderers that test edges.
fn round_times(effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    let pairs = if effort.quick() { FEW_PAIRS } else { TIMED_PAIRS };
    for (renderer, detection, name) in KINDS.iter().filter(|kind| kind.0.renderer().uses_surface()) {
        let mut rounds = Vec::new();
        for seed in 0..pairs {
            let mut random = Random::new(seed);
            let (body, tool) = (Body::new(&mut random, EXTENTS[0])?, Body::new(&mut random, EXTENTS[1])?);
            rounds.extend(pull(&body, &tool, (*renderer, *detection), seed)?.rounds);
        }
        for (label, q) in [("p50", 0.5), ("p99", 0.99)] {
            let measured = quantile(&mut rounds, q);
            let row = Row::new(format!("haptics/bodies/{name}/round_{label}"), measured, "us").target(PERIOD);
            rows.push(row.with("rounds", rounds.len()));
        }
    }
    Ok(())
}

/// Result of a pull.
struct Pulled {
    /// Depth of the meshes in each other, the greatest of all looks, metres.
    depth: f64,
    /// Whether the tool was deeper than [`DEEP`] and than half the thickness of one of the bodies at that place.
    has_passed: bool,
    /// Times of the rounds in which the bodies touched, microseconds.
    rounds: Vec<f64>,
}

/// Returns the distance from a point of the surface through the inside to the other side, metres; 0 if the point is off
/// the surface so that there is none.
fn thickness(bvh: &Bvh, point: &Vec3, inward: &Vec3) -> f64 {
    const SKIP: f64 = 1e-6;
    bvh.ray_first_hit(point + inward * SKIP, *inward, 1.0).map_or(0.0, |(t, _)| t + SKIP)
}

/// Pulls the tool from outside along a random line through the middle of the body.
fn pull(body: &Body, tool: &Body, (renderer, detection): (RendererName, Detection), seed: u64) -> Result<Pulled> {
    let mut random = Random::new(!seed);
    let (along, axis, first) = (random.rotation() * Vec3::x(), random.rotation() * Vec3::x(), random.rotation());
    let Some(solid) = tool.shape.mass else {
        return Err(voxshell::Error::InvalidMesh("the tool has no inside to be weighed".into()));
    };
    let held = Tool::of_mass(tool.forms(detection), &solid, 0.1)?;
    let center = first * held.center;
    let settings = Settings { detection, ..Settings::for_tool(renderer.renderer(), &held, &LIMITS)? };
    let forms = body.forms(detection).with_voxmap(Offset::MCNEELY)?;
    let (mut servo, mut simulation) = haptics::new(settings, held, vec![Obstacle::fixed(forms, Pose::identity())])?;
    let start = 0.5 * 3f64.sqrt() * (EXTENTS[0] + EXTENTS[1]) + 2e-3;
    let wanted = |t: f64| {
        let rotation = Rotation::from_scaled_axis(axis * (TURN * t)) * first;
        Pose::from_parts((along * (start - SPEED * t) - center).into(), rotation)
    };
    let mut device = SimulatedDevice::new(DeviceModel::new(0.3, 1.0).held(), wanted(0.0));
    let exact = [tool.shape.geometry_for(Coverage::Edges)?, body.shape.geometry_for(Coverage::Edges)?];
    let query = Query { roles: Roles::Both, coverage: Coverage::Edges, max_separation: 0.0, ..Query::default() };
    let surfaces = [&body.mesh, &tool.mesh].map(Bvh::build);
    let (mut workspace, mut felt) = (Workspace::new(), Wrench::ZERO);
    let mut pulled = Pulled { depth: 0.0, has_passed: false, rounds: Vec::new() };
    for step in 0..((start + BEYOND) / SPEED / STEP) as usize {
        device.wanted = wanted(step as f64 * STEP);
        device.step(&felt, STEP);
        felt = servo.step(&device.state(), STEP).wrench;
        let started = Instant::now();
        let report = simulation.simulate();
        if report.contacts > 0 {
            pulled.rounds.push(started.elapsed().as_secs_f64() * 1e6);
        }
        if step % LOOK == 0 {
            let found = contacts(exact[0], &servo.tool_pose(), exact[1], &Pose::identity(), &query, &mut workspace)?;
            for contact in found {
                let depth = -contact.separation;
                pulled.depth = pulled.depth.max(depth);
                if depth > DEEP && !pulled.has_passed {
                    let pose = servo.tool_pose();
                    let on_tool = pose.inverse_transform_point(&contact.point_on_a.into()).coords;
                    let into_tool = pose.inverse_transform_vector(&-contact.normal);
                    let walls = [
                        thickness(&surfaces[0], &contact.point_on_b, &contact.normal),
                        thickness(&surfaces[1], &on_tool, &into_tool),
                    ];
                    pulled.has_passed = walls.iter().any(|wall| depth > 0.5 * wall);
                }
            }
        }
    }
    Ok(pulled)
}
