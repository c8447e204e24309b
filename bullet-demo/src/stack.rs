//! Measures the stability of stacks.

use voxshell::math::Vec3;

use crate::bridge::BodyPose;
use crate::run::{pose_of, Cast};
use crate::simulate::Recording;

/// Result over all towers of a scene. Each tower holds the bodies of one model, in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Towers {
    pub bodies: usize,
    /// Bodies still in their position in the tower at the end.
    pub standing: usize,
    /// Time until the first body left its position, seconds; the whole run if none did.
    pub stands: f64,
    /// Height of the highest point above the floor at the end, summed over the towers, metres.
    pub height: f64,
    /// The same height for the towers as built.
    pub built_height: f64,
    /// Largest sideways displacement of a standing body, millimetres.
    pub drift: f64,
}

/// Distance below its position beyond which a body counts as fallen, metres.
const FALLEN: f64 = 0.05;

/// Model of a body, and height of its centre of mass in an intact tower.
struct Place {
    body: usize,
    model: usize,
    height: f64,
}

pub fn towers(cast: &Cast, recording: &Recording) -> Towers {
    let places = places(cast, recording);
    let fallen = |p: &Place, pose: &BodyPose| pose.position[1] < p.height - FALLEN;
    // Bodies that are set down later come from above, so they never count as fallen on their way.
    let falls = places.iter().filter_map(|p| {
        recording.poses().find(|(_, poses)| poses[p.body].present && fallen(p, &poses[p.body])).map(|f| f.0)
    });
    let end = recording.poses_at(recording.steps.len());
    let start = recording.poses_at(0);
    let standing: Vec<&Place> = places.iter().filter(|p| end[p.body].present && !fallen(p, &end[p.body])).collect();
    let sideways = |p: &&Place| {
        let way = Vec3::from(end[p.body].position) - Vec3::from(start[p.body].position);
        way.x.hypot(way.z) * 1e3
    };
    let (mut height, mut built_height) = (0.0, 0.0);
    for (model, stage) in cast.stages.iter().enumerate() {
        let of_tower = || places.iter().filter(|p| p.model == model);
        let top = |p: &Place| -stage.truth.lowest_along(&pose_of(&end[p.body]), -Vec3::y());
        height += of_tower().filter(|p| end[p.body].present).map(top).fold(0.0, f64::max);
        built_height += of_tower().map(|p| p.height + stage.body.upright_bounds.max.y).fold(0.0, f64::max);
    }
    Towers {
        bodies: places.len(),
        standing: standing.len(),
        stands: falls.min().unwrap_or(recording.steps.len()) as f64 * recording.dt,
        height,
        built_height,
        drift: standing.iter().map(sideways).fold(0.0, f64::max),
    }
}

fn places(cast: &Cast, recording: &Recording) -> Vec<Place> {
    let mut above = vec![0u32; cast.stages.len()];
    let place = |(body, info): (usize, &crate::bridge::BodyInfo)| {
        let stage = &cast.stages[info.model];
        let level = f64::from(above[info.model]);
        above[info.model] += 1;
        let height = level * stage.body.pitch - stage.body.upright_bounds.min.y;
        Place { body, model: info.model, height }
    };
    recording.bodies.iter().enumerate().map(place).collect()
}
