//! The nut on the bolt: its bodies, its rows, and how well it keeps to the thread.

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
/// Steps per second: at this rate a falling nut gains 10 µm per step, of an axial play of 129 µm.
const RATE: f64 = 1000.0;
/// Bullet's collision margin, metres: the usual millimetre is more than the play.
pub const MARGIN: f64 = 1e-5;
/// A nut lies on its thread after this many turns; from there the travel is measured.
const SETTLED: f64 = 0.25;
/// A nut closer than this to the head has arrived, metres.
const ARRIVED: f64 = 0.1e-3;

/// Edge of a voxel, metres: the narrowest flats of the thread are two and a half wide.
const VOXEL: f64 = 0.1e-3;
/// Samples of either body, coarse and fine.
const SAMPLES: [usize; 2] = [1_500, 52_000];

/// One row for each that brings it down.
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

/// The bolt and the nut.
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

/// Of all nuts the worst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threads {
    /// Travel along the axis from [`SETTLED`] to the head, or as far as it got, against the pitch per turn, percent.
    pub travel_error: f64,
    /// From the middle of the play on the helix, along the axis, at any step, millimetres.
    pub off_helix: f64,
    /// Off the helix, along the axis, from one step (of a hundred nuts: from one of the steps kept) to the next, millimetres.
    pub jump: f64,
    /// Of the axis from the bolt's, radians.
    pub tilt: f64,
    /// The fewest turns that one has made.
    pub turns: f64,
    /// Nuts, and how many of them rest on the head at the end.
    pub nuts: usize,
    pub stopped: usize,
}

/// A nut's frame, that of its mesh, at one step.
struct Place {
    /// Of its lower face above the head, metres.
    height: f64,
    /// Upwards, as a right-handed thread turns, from where it started.
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

/// Angle of a direction from y, radians.
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
        // The travel of one that never turned is as wrong as can be.
        let settled = path.iter().find(|p| p.turns.abs() > SETTLED);
        let arrived = path.iter().find(|p| p.height < ARRIVED).unwrap_or(last);
        let error = settled.map_or(100.0, |s| {
            let travel = (arrived.height - s.height) / (PITCH * (arrived.turns - s.turns));
            100.0 * (travel - 1.0)
        });
        if error.abs() > worst.travel_error.abs() || !error.is_finite() {
            worst.travel_error = error;
        }
        // In its last tenth of a second it stood still on the head.
        let rest = path.iter().rev().take((0.1 / recording.dt).ceil() as usize);
        let stands = rest.clone().all(|p| p.height.abs() < ARRIVED && (p.turns - last.turns).abs() < 1e-3);
        worst.stopped += usize::from(stands && last.tilt < 0.01);
    }
    worst
}
