//! One scene played with one renderer, and its recording.

use clap::ValueEnum;
use serde_json::{json, Value};
use voxshell::contact::{self, Roles, Workspace};
use voxshell::haptics::god_object::Detection;
use voxshell::haptics::{self, Limits, Renderer, Settings, Status};
use voxshell::math::{Pose, Vec3, Wrench};
use voxshell::Result;

use super::hand::Hand;
use super::scenes::Stage;
use voxshell_lab::clock::of_thread;

/// Time step of the device, seconds.
pub const STEP: f64 = 1e-3;

/// Limits of the scenes' device: a desktop device for the forces of two hands.
pub const LIMITS: Limits = Limits { force: 30.0, torque: 2.0, stiffness: [2000.0, 30.0], damping: [20.0, 0.5] };

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RendererName {
    Vps,
    Penalty,
    ContinuousPenalty,
    GodObject,
    Impulse,
    /// God-object with contacts at the ends of steps only, for comparison (Fig 11).
    GodObjectDiscrete,
}

impl RendererName {
    /// Renderers of the library.
    pub const ALL: [Self; 5] = [Self::Vps, Self::Penalty, Self::ContinuousPenalty, Self::GodObject, Self::Impulse];
    /// Renderers of the library, and the discrete god-object for comparison.
    pub const PLAYED: [Self; 6] =
        [Self::Vps, Self::Penalty, Self::ContinuousPenalty, Self::GodObject, Self::Impulse, Self::GodObjectDiscrete];

    pub fn renderer(self) -> Renderer {
        match self {
            Self::Vps => Renderer::Vps,
            Self::Penalty => Renderer::Penalty,
            Self::ContinuousPenalty => Renderer::ContinuousPenalty,
            Self::GodObject | Self::GodObjectDiscrete => Renderer::GodObject,
            Self::Impulse => Renderer::Impulse,
        }
    }

    pub fn detection(self) -> Detection {
        match self {
            Self::GodObjectDiscrete => Detection::Discrete,
            _ => Detection::Continuous,
        }
    }

    /// Returns the name on the command line and in rows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vps => "vps",
            Self::Penalty => "penalty",
            Self::ContinuousPenalty => "continuous-penalty",
            Self::GodObject => "god-object",
            Self::Impulse => "impulse",
            Self::GodObjectDiscrete => "god-object-discrete",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Vps => "VPS",
            Self::Penalty => "penalty",
            Self::ContinuousPenalty => "continuous penalty",
            Self::GodObject => "god-object",
            Self::Impulse => "impulse",
            Self::GodObjectDiscrete => "discrete",
        }
    }
}

/// Recording of one millisecond.
#[derive(Clone, Copy)]
pub struct Moment {
    /// Time, seconds.
    pub time: f64,
    /// Wrench on the hand.
    pub wrench: Wrench,
    /// Depth of the tool's deepest sample at the displayed pose, metres; 0 when nothing penetrates.
    pub penetration: f64,
    pub contacts: u32,
    /// Computing time, seconds: of the servo's step, and of the simulation's.
    pub step: f64,
    pub simulate: f64,
    pub status: Status,
    /// Displayed pose of the tool, and the pose at the hand.
    pub tool: Pose,
    pub hand: Pose,
}

pub struct Recording {
    pub renderer: RendererName,
    pub moments: Vec<Moment>,
    /// True if the tool reached a region that is only reachable through a solid.
    pub passed: bool,
}

/// Plays a scene with both halves on this thread, alternating: one simulation round for each step of the device.
pub fn play(stage: &Stage, renderer: RendererName, mut tick: impl FnMut()) -> Result<Recording> {
    let settings = Settings::for_tool(renderer.renderer(), &stage.tool, &LIMITS)?;
    let settings = Settings { detection: renderer.detection(), ..settings };
    let (mut servo, mut simulation) = haptics::new(settings, stage.tool.clone(), stage.obstacles.clone())?;
    let mut hand = Hand::new(&stage.motion);
    let mut workspace = Workspace::new();
    let count = (stage.motion.duration() / STEP).ceil() as usize;
    let mut recording = Recording { renderer, moments: Vec::with_capacity(count), passed: false };
    let mut felt = Wrench::ZERO;
    for _ in 0..count {
        let device = hand.moved(&felt);
        let (step, output) = of_thread(|| servo.step(&device, STEP));
        let (simulate, report) = of_thread(|| simulation.simulate());
        felt = output.wrench;
        let tool = servo.tool_pose();
        let penetration = penetration(stage, &tool, &mut workspace)?;
        recording.passed |= stage.is_beyond(&tool);
        recording.moments.push(Moment {
            time: hand.time(),
            wrench: output.wrench,
            penetration,
            contacts: report.contacts,
            step,
            simulate,
            status: output.status | report.status,
            tool,
            hand: device.pose,
        });
        tick();
    }
    Ok(recording)
}

/// Returns the depth of the deepest sample, metres.
pub fn penetration(stage: &Stage, tool: &Pose, workspace: &mut Workspace) -> Result<f64> {
    let mut deepest: f64 = 0.0;
    for obstacle in &stage.obstacles {
        let (a, b) = (stage.tool.forms.geometry(), obstacle.forms.geometry());
        let found = contact::distance(a, tool, b, &obstacle.pose, Roles::ShellOfA, 0.0, workspace)?;
        deepest = deepest.max(found.map_or(0.0, |c| -c.separation));
    }
    Ok(deepest)
}

/// Means and extremes over a recording.
pub struct Figures {
    /// Force in N, torque in N·m, depth in metres, number of contacts: mean and largest of each.
    pub force: [f64; 2],
    pub torque: [f64; 2],
    pub penetration: [f64; 2],
    pub contacts: [f64; 2],
    /// Time of the servo's step and the simulation's round together, seconds: median, p99.
    pub time: [f64; 2],
    /// Largest change of the force from one step to the next, N.
    pub jump: f64,
    pub passed: bool,
    /// Fraction of the steps in which the constraints allowed no motion.
    pub locked: f64,
}

impl Recording {
    pub fn figures(&self) -> Figures {
        let all = &self.moments;
        let mean_and_most = |f: &dyn Fn(&Moment) -> f64| {
            let mean = all.iter().map(f).sum::<f64>() / all.len().max(1) as f64;
            [mean, all.iter().map(f).fold(0.0, f64::max)]
        };
        let mut times: Vec<f64> = all.iter().map(Moment::time_of_step).collect();
        let change = |w: &[Moment]| (w[1].wrench.force - w[0].wrench.force).norm();
        let locked = all.iter().filter(|m| m.status.contains(Status::LOCKED)).count();
        Figures {
            force: mean_and_most(&|m| m.wrench.force.norm()),
            torque: mean_and_most(&|m| m.wrench.torque.norm()),
            penetration: mean_and_most(&|m| m.penetration),
            contacts: mean_and_most(&|m| f64::from(m.contacts)),
            time: [quantile(&mut times, 0.5), quantile(&mut times, 0.99)],
            jump: all.windows(2).map(change).fold(0.0, f64::max),
            passed: self.passed,
            locked: locked as f64 / all.len().max(1) as f64,
        }
    }

    pub fn json(&self, stage: &Stage) -> Value {
        let f = self.figures();
        json!({
            "scene": stage.scene.name(), "renderer": self.renderer.name(),
            "samples": stage.samples(), "cells": stage.cells(), "voxel_mm": stage.voxel * 1e3, "steps": self.moments.len(),
            "force_mean_n": f.force[0], "force_max_n": f.force[1], "force_jump_max_n": f.jump,
            "torque_mean_nm": f.torque[0], "torque_max_nm": f.torque[1],
            "penetration_mean_mm": f.penetration[0] * 1e3, "penetration_max_mm": f.penetration[1] * 1e3,
            "contacts_mean": f.contacts[0], "contacts_max": f.contacts[1],
            "time_p50_us": f.time[0] * 1e6, "time_p99_us": f.time[1] * 1e6,
            "passed": f.passed, "locked_share": f.locked,
        })
    }

    /// Returns the most informative moment: the deepest one, or without penetration that of the largest force.
    pub fn telling(&self) -> usize {
        let rank = |m: &Moment| (m.penetration, m.wrench.force.norm());
        let mut best = 0;
        for (i, m) in self.moments.iter().enumerate() {
            if rank(m) > rank(&self.moments[best]) {
                best = i;
            }
        }
        best
    }
}

impl Moment {
    /// Returns the time of servo and simulation, seconds.
    pub fn time_of_step(&self) -> f64 {
        self.step + self.simulate
    }
}

/// Returns the smallest value that at least the fraction `q` of all does not exceed. Sorts them.
pub fn quantile(values: &mut [f64], q: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let rank = (q * values.len() as f64).ceil() as usize;
    values.get(rank.clamp(1, values.len().max(1)) - 1).copied().unwrap_or(0.0)
}

/// Returns the tool's contact points, world frame, for pictures.
pub fn touched(stage: &Stage, tool: &Pose, workspace: &mut Workspace) -> Result<Vec<Vec3>> {
    let query =
        contact::Query { roles: Roles::ShellOfA, max_separation: 0.05 * stage.voxel, ..contact::Query::default() };
    let mut points = Vec::new();
    for obstacle in &stage.obstacles {
        let (a, b) = (stage.tool.forms.geometry(), obstacle.forms.geometry());
        let found = contact::contacts(a, tool, b, &obstacle.pose, &query, workspace)?;
        points.extend(found.iter().map(|c| c.point_on_a));
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occurred() {
        let mut v: Vec<f64> = (1..=400).rev().map(f64::from).collect();
        assert_eq!([0.5, 0.99, 1.0].map(|q| quantile(&mut v, q)), [200.0, 396.0, 400.0]);
        assert_eq!(quantile(&mut [], 0.5), 0.0);
    }
}
