//! Nuts on bolts: their bodies, their rows, and their deviation from the thread.

pub mod files;
pub mod options;
pub mod rig;
pub mod sizes;

use std::f64::consts::TAU;

use voxshell::asset::{CookOptions, Resolution, Storage};
use voxshell::math::Vec3;
use voxshell::mesh::TriMesh;
use voxshell::pointshell::ShellOptions;
use voxshell::Result;

use crate::bodies::Body;
use crate::bridge::{Drive, SceneKind};
use crate::catalogue::Case;
use crate::run::{pose_of, Cast};
use crate::simulate::Recording;
use options::NutOptions;
use sizes::Parts;

/// Steps per second. In free fall each step is then 10 µm longer than the one before; the axial play of M16 is 129 µm.
const RATE: f64 = 1000.0;
/// Bullet's collision margin, metres. It exceeds the axial play of each size, so that the solver always has contacts of
/// both flanks: what throws a nut off one of them does not throw it through the other.
pub const MARGIN: f64 = 5e-4;
/// Coefficients of friction between nut and bolt, by its weight and with a driver. The lead angle of M16 is
/// atan(2 / (π 14.7)) = 2.48°: on flanks of 60° a nut turns by its weight below tan(2.48°) cos(30°) = 0.0375.
const SLIPPERY: f64 = 0.01;
const STEEL: f64 = 0.2;
/// Turns after which a nut lies on its thread; travel is measured from there.
const SETTLED: f64 = 0.25;
/// A nut closer than this to its seat has arrived, metres.
const ARRIVED: f64 = 0.1e-3;

/// Edge of a voxel over the pitch: the narrowest flats of the thread are 2.5 voxels wide.
const VOXEL: f64 = 0.05;
/// Samples of either body, coarse and fine.
const SAMPLES: [usize; 2] = [1_500, 52_000];

/// Returns the rows of a scene, for all parts that it can have; those that a cast does not have are left out.
pub fn cases(scene: SceneKind) -> Vec<Case> {
    let case = |parts, drive| Case { rate: Some(RATE), drive: Some(drive), parts, ..Case::default() };
    if scene == SceneKind::NutBolt1000 {
        let case = |parts, threads| Case { threads: Some(threads), ..case(Some(parts), Drive::Driver) };
        return [Parts::M16, Parts::M20, Parts::Files].into_iter().flat_map(|p| [1, 2].map(|t| case(p, t))).collect();
    }
    let drives = [Drive::Weight, Drive::Driver];
    let own = drives.map(|d| case(None, d));
    let files = drives.map(|d| case(Some(Parts::Files), d)).into_iter().filter(|_| scene == SceneKind::NutBolt);
    own.into_iter().chain(files).collect()
}

/// Returns the coefficient of friction of each body; Bullet multiplies the two.
pub fn friction(options: &NutOptions, drive: Drive) -> f64 {
    options.friction.unwrap_or(if drive == Drive::Driver { STEEL } else { SLIPPERY }).sqrt()
}

/// Returns whether the cast has the parts of the case.
pub fn plays(cast: &Cast, case: &Case) -> bool {
    match case.parts {
        Some(parts) => cast.parts.contains(&parts),
        None => !cast.scene.has_threads() || cast.parts == [Parts::M16],
    }
}

impl Drive {
    pub fn name(self) -> &'static str {
        if self == Self::Weight {
            "weight"
        } else {
            "driver"
        }
    }
}

/// Returns the parts of a scene, a bolt and a nut each.
pub fn parts_of(scene: SceneKind, options: &NutOptions) -> Vec<Parts> {
    let files = options.files.as_ref().map(|_| Parts::Files);
    match scene {
        SceneKind::NutBolt1000 => [Some(Parts::M16), Some(Parts::M20), files].into_iter().flatten().collect(),
        SceneKind::NutBolt => vec![files.unwrap_or(Parts::M16)],
        _ => vec![Parts::M16],
    }
}

/// Returns a bolt and a nut for each of the parts.
pub fn bodies(parts: &[Parts], options: &NutOptions) -> Result<Vec<Body>> {
    let mut bodies = Vec::new();
    for parts in parts {
        let ([bolt, nut], pitch) = match (parts.size(), &options.files) {
            (Some(size), _) => (size.meshes()?, size.pitch()),
            (None, Some(files)) => {
                let threaded = files.load()?;
                ([threaded.bolt, threaded.nut], threaded.pitch)
            }
            (None, None) => return Err(voxshell::Error::argument("--bolt", "absent", "a mesh file")),
        };
        bodies.push(body(&format!("bolt {}", parts.name()), bolt, pitch)?);
        bodies.push(body(&format!("nut {}", parts.name()), nut, pitch)?);
    }
    Ok(bodies)
}

fn body(name: &str, mesh: TriMesh, pitch: f64) -> Result<Body> {
    let cooking = SAMPLES.map(|samples| CookOptions {
        resolution: Resolution::VoxelSize(VOXEL * pitch),
        storage: Storage::Bricks,
        shell: ShellOptions { target_count: Some(samples), ..ShellOptions::default() },
        ..CookOptions::default()
    });
    Ok(Body { cooking: Some(cooking), lead: pitch, ..Body::new(name, mesh)? })
}

/// Worst values over all nuts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threads {
    /// Error of the travel along the axis against pitch times turns, from [`SETTLED`] to the head or to the last
    /// position, percent. The play alone makes this large: a nut may begin on one flank and end on the other.
    pub travel_error: f64,
    /// Error of the pitch over the same way: the slope of the line through all positions, by least squares, percent.
    pub pitch_error: f64,
    /// Largest deviation along the axis from the middle of the play on the helix, at any step, millimetres.
    pub off_helix: f64,
    /// Largest change of that deviation from one step to the next (with a hundred nuts: between stored steps),
    /// millimetres.
    pub jump: f64,
    /// Largest angle between the axes of nut and bolt, radians.
    pub tilt: f64,
    /// Fewest turns of any nut.
    pub turns: f64,
    /// Number of nuts, number of nuts that have come down to the head, and number of those that rest there at the end.
    pub nuts: usize,
    pub arrived: usize,
    pub stopped: usize,
    /// Step after which all nuts have arrived at the head; the last step if one did not.
    pub arrival: usize,
    /// Largest height of a nut above the head at the end, millimetres.
    pub rest_height: f64,
    /// Advance per turn of the thread, metres.
    pub pitch: f64,
}

/// Frame of a nut's mesh at one step.
pub struct Place {
    /// Step of the recording.
    pub step: usize,
    /// Height of the lower face above the head, metres.
    pub height: f64,
    /// Turns from the start, positive upwards on a right-handed thread.
    pub turns: f64,
    pub tilt: f64,
}

fn path(cast: &Cast, recording: &Recording, body: usize) -> Vec<Place> {
    let nut = &cast.stages[recording.bodies[body].model].body;
    let mut before = None;
    let mut turns = 0.0;
    let mut path: Vec<Place> = Vec::new();
    for (step, poses) in recording.poses() {
        let pose = pose_of(&poses[body]);
        let turned = pose.rotation * nut.upright.inverse();
        let (x, y) = (turned * Vec3::x(), turned * Vec3::y());
        // Rotation about y takes x towards −z.
        let angle = (-x.z).atan2(x.x);
        let change = angle - before.replace(angle).unwrap_or(angle);
        turns += change / TAU - (change / TAU).round();
        let height = pose.translation.y + (turned * nut.mesh_origin).y;
        path.push(Place { step, height, turns, tilt: from_up(y) });
    }
    path
}

/// Returns the angle between a direction and y, radians.
fn from_up(direction: Vec3) -> f64 {
    direction.x.hypot(direction.z).atan2(direction.y)
}

/// Returns the larger of two errors by size; one that is not finite wins.
fn worse(before: f64, error: f64) -> f64 {
    if error.abs() > before.abs() || !error.is_finite() {
        error
    } else {
        before
    }
}

/// Returns the slope of height over turns, metres a turn, by least squares.
fn slope(places: &[&Place]) -> f64 {
    let mean = |of: &dyn Fn(&Place) -> f64| places.iter().map(|p| of(p)).sum::<f64>() / places.len() as f64;
    let (turns, height) = (mean(&|p| p.turns), mean(&|p| p.height));
    let spread = mean(&|p| (p.turns - turns) * (p.turns - turns));
    mean(&|p| (p.turns - turns) * (p.height - height)) / spread
}

pub fn threads(cast: &Cast, recording: &Recording) -> Threads {
    let nuts: Vec<usize> = (0..recording.bodies.len()).filter(|&i| !recording.bodies[i].fixed).collect();
    let mut worst = Threads {
        travel_error: 0.0,
        pitch_error: 0.0,
        off_helix: 0.0,
        jump: 0.0,
        tilt: 0.0,
        turns: f64::INFINITY,
        nuts: nuts.len(),
        arrived: 0,
        stopped: 0,
        arrival: 0,
        rest_height: 0.0,
        pitch: nuts.first().map_or(0.0, |&i| cast.stages[recording.bodies[i].model].body.lead),
    };
    let pitch = worst.pitch;
    for &nut in &nuts {
        let path = path(cast, recording, nut);
        let start = path[0].height;
        let off: Vec<f64> = path.iter().map(|p| p.height - start - pitch * p.turns).collect();
        worst.off_helix = off.iter().map(|d| d.abs() * 1e3).fold(worst.off_helix, f64::max);
        worst.jump = off.windows(2).map(|w| (w[1] - w[0]).abs() * 1e3).fold(worst.jump, f64::max);
        worst.tilt = path.iter().map(|p| p.tilt).fold(worst.tilt, f64::max);
        let last = &path[path.len() - 1];
        worst.turns = worst.turns.min(last.turns.abs());
        // The run-out of a thread may hold a nut above the head.
        let seat = if last.height < pitch { last.height.max(0.0) + ARRIVED } else { ARRIVED };
        worst.arrival = worst.arrival.max(path.iter().find(|p| p.height < seat).unwrap_or(last).step);
        worst.rest_height = worst.rest_height.max(last.height * 1e3);
        // A nut that never turned counts as the largest error.
        let settled = path.iter().find(|p| p.turns.abs() > SETTLED);
        let arrived = path.iter().find(|p| p.height < seat).unwrap_or(last);
        let error = settled.map_or(100.0, |s| {
            let travel = (arrived.height - s.height) / (pitch * (arrived.turns - s.turns));
            100.0 * (travel - 1.0)
        });
        worst.travel_error = worse(worst.travel_error, error);
        let travelled: Vec<&Place> =
            path.iter().filter(|p| p.turns.abs() > SETTLED && p.step <= arrived.step).collect();
        let error = if settled.is_some() { 100.0 * (slope(&travelled) / pitch - 1.0) } else { 100.0 };
        worst.pitch_error = worse(worst.pitch_error, error);
        // The nut stood still on the head, or on the run-out of the thread, in its last tenth of a second.
        let mut rest = path.iter().rev().take_while(|p| (last.step - p.step) as f64 * recording.dt < 0.1);
        let stands = rest.all(|p| (p.height - last.height).abs() < ARRIVED && (p.turns - last.turns).abs() < 1e-3);
        // A nut that was thrown off is far below the head.
        let arrived = last.height.abs() < pitch;
        worst.arrived += usize::from(arrived);
        worst.stopped += usize::from(stands && arrived && last.tilt < 0.01);
    }
    worst
}
