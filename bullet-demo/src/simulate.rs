//! Runs one scene with one method and records it.

use std::time::Duration;

use crate::bridge::{make_scene, BodyInfo, BodyPose, Setup, StepFigures};

/// Recording of one run.
pub struct Recording {
    /// Seconds per step.
    pub dt: f64,
    pub bodies: Vec<BodyInfo>,
    /// Measurements of each step.
    pub steps: Vec<StepFigures>,
    /// Poses of each body, at the start, after every `stride` steps, and after the last.
    poses: Vec<Vec<BodyPose>>,
    stride: usize,
    /// Requested number of steps; fewer were made if the time limit ended the run.
    pub wanted: usize,
}

/// Number of bodies above which poses are kept only every tenth step: those of two thousand bodies would fill the
/// memory.
const MOST_IN_FULL: usize = 200;

impl Recording {
    /// Returns the poses after `step` steps, or the next stored ones.
    pub fn poses_at(&self, step: usize) -> &[BodyPose] {
        &self.poses[step.div_ceil(self.stride).min(self.poses.len() - 1)]
    }

    /// Iterates over the stored poses and their steps.
    pub fn poses(&self) -> impl Iterator<Item = (usize, &[BodyPose])> {
        let step = |i: usize| (i * self.stride).min(self.steps.len());
        self.poses.iter().enumerate().map(move |(i, p)| (step(i), p.as_slice()))
    }
}

/// Steps the scene `wanted` times, or until its steps have computed for longer than `patience`. Calls `tick` after each
/// step.
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
    let bodies = scene.infos();
    let mut recording = Recording {
        dt: setup.dt,
        stride: if bodies.len() > MOST_IN_FULL { 10 } else { 1 },
        bodies,
        steps: Vec::with_capacity(wanted),
        poses: vec![poses.clone()],
        wanted,
    };
    // Uses the clock of the thread, so that other load on the machine does not count.
    let mut nanoseconds = 0.0;
    for _ in 0..wanted {
        if patience.is_some_and(|p| nanoseconds * 1e-9 > p.as_secs_f64()) {
            break;
        }
        let figures = scene.pin_mut().step();
        nanoseconds += figures.step_ns;
        recording.steps.push(figures);
        scene.poses(&mut poses);
        if recording.steps.len() % recording.stride == 0 {
            recording.poses.push(poses.clone());
        }
        tick();
    }
    if recording.steps.len() % recording.stride != 0 {
        recording.poses.push(poses);
    }
    Ok(recording)
}
