//! Runs one scene with one method and keeps everything that happened.

use std::time::{Duration, Instant};

use crate::bridge::{make_scene, BodyInfo, BodyPose, Setup, StepFigures};

/// Of one run.
pub struct Recording {
    /// Seconds per step.
    pub dt: f64,
    pub bodies: Vec<BodyInfo>,
    /// After each step.
    pub steps: Vec<StepFigures>,
    /// Of each body, at the start and after each step: one more than `steps`.
    pub poses: Vec<Vec<BodyPose>>,
    /// The steps asked for; fewer were made when patience ran out.
    pub wanted: usize,
}

/// Steps the scene `wanted` times, or until `patience` is over. `tick` hears of each step.
pub fn simulate(
    setup: &Setup,
    wanted: usize,
    patience: Option<Duration>,
    mut tick: impl FnMut(),
) -> Result<Recording, cxx::Exception> {
    // SAFETY: `setup` is borrowed for the whole of this function and the scene does not leave it.
    let mut scene = unsafe { make_scene(setup) }?;
    let mut poses = Vec::new();
    scene.poses(&mut poses);
    let mut recording = Recording {
        dt: setup.dt,
        bodies: scene.infos(),
        steps: Vec::with_capacity(wanted),
        poses: vec![poses.clone()],
        wanted,
    };
    let start = Instant::now();
    for _ in 0..wanted {
        if patience.is_some_and(|p| start.elapsed() > p) {
            break;
        }
        recording.steps.push(scene.pin_mut().step());
        scene.poses(&mut poses);
        recording.poses.push(poses.clone());
        tick();
    }
    Ok(recording)
}
