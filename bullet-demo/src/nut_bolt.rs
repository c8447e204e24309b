//! The nut on the bolt: its bodies, its rows, and its deviation from the thread.

use std::f64::consts::TAU;

use voxshell::asset::{CookOptions, Resolution, Storage};
use voxshell::math::Vec3;
use voxshell::mesh::primitives::Primitive;
use voxshell::pointshell::ShellOptions;
use voxshell::Result;

use crate::bodies::Body;
use crate::bridge::Drive;
use crate::catalogue::Case;
use crate::run::{pose_of, Cast};
use crate::simulate::Recording;

/// Metres per turn of M16 coarse.
const PITCH: f64 = 2e-3;
/// Steps per second. In free fall each step is then 10 µm longer than the one before; the axial play is 129 µm.
const RATE: f64 = 1000.0;
/// Bullet's collision margin, metres: the usual millimetre exceeds the play.
pub const MARGIN: f64 = 1e-5;
/// Turns after which a nut lies on its thread; travel is measured from there.
const SETTLED: f64 = 0.25;
/// A nut closer than this to the head has arrived, metres.
const ARRIVED: f64 = 0.1e-3;

/// Edge of a voxel, metres: the narrowest flats of the thread are 2.5 voxels wide.
const VOXEL: f64 = 0.1e-3;
/// Samples of either body, coarse and fine.
const SAMPLES: [usize; 2] = [1_500, 52_000];

/// Returns one row for each drive.
pub fn cases() -> Vec<Case> {
    let case = |drive| Case { rate: Some(RATE), drive: Some(drive), ..Case::default() };
    vec![case(Drive::Weight), case(Drive::Driver)]
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

/// Returns the bolt and the nut.
pub fn bodies() -> Result<Vec<Body>> {
    let cooking = |samples| CookOptions {
        resolution: Resolution::VoxelSize(VOXEL),
        storage: Storage::Bricks,
        shell: ShellOptions { target_count: Some(samples), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    let body = |name: &str| {
        let body = Body::new(name, Primitive::by_name(name)?.mesh()?)?;
        Ok(Body { cooking: Some(SAMPLES.map(cooking)), ..body })
    };
    Ok(vec![body("bolt")?, body("nut")?])
}

/// Worst values over all nuts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threads {
    /// Error of the travel along the axis against pitch times turns, from [`SETTLED`] to the head or to the last
    /// position, percent.
    pub travel_error: f64,
    /// Largest deviation along the axis from the middle of the play on the helix, at any step, millimetres.
    pub off_helix: f64,
    /// Largest change of that deviation from one step to the next (with a hundred nuts: between stored steps),
    /// millimetres.
    pub jump: f64,
    /// Largest angle between the axes of nut and bolt, radians.
    pub tilt: f64,
    /// Fewest turns of any nut.
    pub turns: f64,
    /// Number of nuts, and number of nuts that rest on the head at the end.
    pub nuts: usize,
    pub stopped: usize,
}

/// Frame of a nut's mesh at one step.
struct Place {
    /// Height of the lower face above the head, metres.
    height: f64,
    /// Turns from the start, positive upwards on a right-handed thread.
    turns: f64,
    tilt: f64,
}

fn path(cast: &Cast, recording: &Recording, body: usize) -> Vec<Place> {
    let nut = &cast.stages[recording.bodies[body].model].body;
    let mut before = None;
    let mut turns = 0.0;
    let mut path: Vec<Place> = Vec::new();
    for (_, poses) in recording.poses() {
        let pose = pose_of(&poses[body]);
        let turned = pose.rotation * nut.upright.inverse();
        let (x, y) = (turned * Vec3::x(), turned * Vec3::y());
        // Rotation about y takes x towards −z.
        let angle = (-x.z).atan2(x.x);
        let step = angle - before.replace(angle).unwrap_or(angle);
        turns += step / TAU - (step / TAU).round();
        let height = pose.translation.y + (turned * nut.mesh_origin).y;
        path.push(Place { height, turns, tilt: from_up(y) });
    }
    path
}

/// Returns the angle between a direction and y, radians.
fn from_up(direction: Vec3) -> f64 {
    direction.x.hypot(direction.z).atan2(direction.y)
}

pub fn threads(cast: &Cast, recording: &Recording) -> Threads {
    let nuts: Vec<usize> = (0..recording.bodies.len()).filter(|&i| !recording.bodies[i].fixed).collect();
    let mut worst = Threads {
        travel_error: 0.0,
        off_helix: 0.0,
        jump: 0.0,
        tilt: 0.0,
        turns: f64::INFINITY,
        nuts: nuts.len(),
        stopped: 0,
    };
    for &nut in &nuts {
        let path = path(cast, recording, nut);
        let start = path[0].height;
        let off: Vec<f64> = path.iter().map(|p| p.height - start - PITCH * p.turns).collect();
        worst.off_helix = off.iter().map(|d| d.abs() * 1e3).fold(worst.off_helix, f64::max);
        worst.jump = off.windows(2).map(|w| (w[1] - w[0]).abs() * 1e3).fold(worst.jump, f64::max);
        worst.tilt = path.iter().map(|p| p.tilt).fold(worst.tilt, f64::max);
        let last = &path[path.len() - 1];
        worst.turns = worst.turns.min(last.turns.abs());
        // A nut that never turned counts as the largest error.
        let settled = path.iter().find(|p| p.turns.abs() > SETTLED);
        let arrived = path.iter().find(|p| p.height < ARRIVED).unwrap_or(last);
        let error = settled.map_or(100.0, |s| {
            let travel = (arrived.height - s.height) / (PITCH * (arrived.turns - s.turns));
            100.0 * (travel - 1.0)
        });
        if error.abs() > worst.travel_error.abs() || !error.is_finite() {
            worst.travel_error = error;
        }
        // The nut stood still on the head in its last tenth of a second.
        let rest = path.iter().rev().take((0.1 / recording.dt).ceil() as usize);
        let stands = rest.clone().all(|p| p.height.abs() < ARRIVED && (p.turns - last.turns).abs() < 1e-3);
        worst.stopped += usize::from(stands && last.tilt < 0.01);
    }
    worst
}
