//! From the arguments to the rows: prepares, simulates, measures.

use std::path::Path;
use std::time::Duration;

use rayon::prelude::*;
use voxshell::math::{Aabb, Pose, Rotation, Vec3};

use crate::bodies::Body;
use crate::bridge::{hacd_available, BodyPose, Method, SceneKind, Setup};
use crate::cache::HullCache;
use crate::catalogue::RESTITUTIONS;
use crate::figures::{rebound, Figures, Pile, Row};
use crate::progress::Progress;
use crate::simulate::{simulate, Recording};
use crate::stage::Stage;
use crate::truth::Block;

/// Seconds per step.
pub const DT: f64 = 1.0 / 200.0;
/// Bullet's collision margin, metres.
const MARGIN: f64 = 0.001;

/// The bodies of one scene, in the order in which its .cpp expects them.
pub struct Cast {
    pub scene: SceneKind,
    pub stages: Vec<Stage>,
}

/// Of one row: its figures and, for the report, all that happened.
pub struct Outcome {
    pub row: Row,
    pub run: Option<Run>,
}

pub struct Run {
    pub recording: Recording,
    /// (step, metres between the true meshes, negative when they penetrate).
    pub gaps: Vec<(usize, f64)>,
}

/// What stays the same for all rows.
pub struct Context<'a> {
    pub cache: HullCache,
    /// For the cooked assets.
    pub folder: &'a Path,
    /// Instead of each scene's own number.
    pub steps: Option<usize>,
    pub patience: Option<Duration>,
    pub progress: &'a Progress,
}

impl Cast {
    pub fn new(scene: SceneKind, mesh: Option<&Path>) -> voxshell::Result<Self> {
        let bodies = match scene {
            SceneKind::Ball => vec![Body::ball()?],
            SceneKind::Pile => {
                let mut bodies = Vec::from(Body::poured()?);
                bodies.push(Body::container()?);
                bodies
            }
            _ => vec![mesh.map_or_else(Body::embedded, Body::load)?],
        };
        let stages = bodies.into_iter().map(Stage::new).collect::<voxshell::Result<_>>()?;
        Ok(Self { scene, stages })
    }
}

/// All rows of one scene.
pub fn run_scene(cast: &Cast, methods: &[Method], context: &Context) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for &method in methods.iter().filter(|m| m.applies_to(cast.scene)) {
        let restitutions: Vec<Option<f64>> = match cast.scene {
            SceneKind::Ball => RESTITUTIONS.map(Some).to_vec(),
            _ => vec![None],
        };
        for restitution in restitutions {
            outcomes.push(run_row(cast, method, restitution, context));
        }
    }
    outcomes
}

fn run_row(cast: &Cast, method: Method, restitution: Option<f64>, context: &Context) -> Outcome {
    let scene = cast.scene;
    let result = recorded(cast, method, restitution, context);
    let (outcome, run) = match result {
        Ok((figures, run)) => (Ok(figures), Some(run)),
        Err(reason) => (Err(reason), None),
    };
    let row = Row { scene, method, restitution, outcome };
    context.progress.row_done(&row);
    Outcome { row, run }
}

fn recorded(
    cast: &Cast,
    method: Method,
    restitution: Option<f64>,
    context: &Context,
) -> Result<(Figures, Run), String> {
    let scene = cast.scene;
    if method == Method::Hacd && !hacd_available() {
        return Err("HACD was not found when the demo was built (Debian: libbullet-extras-dev)".into());
    }
    let name = match restitution {
        Some(e) => format!("{} / {} e={e}", scene.entry().name, method.entry().name),
        None => format!("{} / {}", scene.entry().name, method.entry().name),
    };
    context.progress.start(&format!("{name}: preparing"), 0);
    let model = |stage: &Stage| stage.model(method, &context.cache, context.folder);
    let models = cast.stages.iter().map(model).collect::<voxshell::Result<Vec<_>>>().map_err(|e| e.to_string())?;
    let setup = Setup { scene, method, dt: DT, margin: MARGIN, restitution: restitution.unwrap_or(0.0), models };

    let steps = context.steps.unwrap_or((scene.entry().seconds / DT).round() as usize);
    context.progress.start(&name, steps);
    let patience = context.patience.filter(|_| !method.is_voxshell());
    let recording = simulate(&setup, steps, patience, || context.progress.tick()).map_err(|e| e.to_string())?;
    if recording.steps.is_empty() {
        return Err("not one step was finished within the patience".into());
    }

    context.progress.start(&format!("{name}: measuring"), 0);
    let gaps = measure(cast, &recording);
    let mut figures = Figures::new(scene, &recording, &gaps);
    figures.rebound = restitution.and_then(|e| rebound(&gaps, gaps[0].1, e));
    if scene == SceneKind::Pile {
        figures.pile = Some(leavers(cast, &recording));
    }
    Ok((figures, Run { recording, gaps }))
}

pub fn pose_of(pose: &BodyPose) -> Pose {
    let [x, y, z, w] = pose.rotation;
    let rotation = Rotation::from_quaternion(nalgebra::Quaternion::new(w, x, y, z));
    Pose::from_parts(Vec3::from(pose.position).into(), rotation)
}

/// The true gap at some of the steps; always at the last.
fn measure(cast: &Cast, recording: &Recording) -> Vec<(usize, f64)> {
    let stride = match cast.scene {
        SceneKind::DropPlane | SceneKind::Ball => 1,
        SceneKind::DropBox | SceneKind::Pair => 2,
        _ => 100,
    };
    let last = recording.poses.len() - 1;
    let mut steps: Vec<usize> = (0..=last).step_by(stride).collect();
    if steps.last() != Some(&last) {
        steps.push(last);
    }
    steps.into_par_iter().map(|step| (step, gap_at(cast, recording, step))).collect()
}

fn gap_at(cast: &Cast, recording: &Recording, step: usize) -> f64 {
    let poses = &recording.poses[step];
    let truth = |i: usize| &cast.stages[recording.bodies[i].model].truth;
    match cast.scene {
        SceneKind::DropPlane | SceneKind::Ball => truth(0).lowest(&pose_of(&poses[0])),
        SceneKind::DropBox => {
            let bounds = Aabb { min: Vec3::new(-0.5, -1.0, -0.5), max: Vec3::new(0.5, 0.0, 0.5) };
            truth(0).gap_to_block(&pose_of(&poses[0]), &Block { bounds })
        }
        _ => {
            let present: Vec<(usize, Pose)> =
                poses.iter().enumerate().filter(|(_, p)| p.present).map(|(i, p)| (i, pose_of(p))).collect();
            // In the pile only depth is of interest.
            let limit = if cast.scene == SceneKind::Pile { 0.0 } else { f64::INFINITY };
            let mut least = f64::INFINITY;
            for (k, (i, pose)) in present.iter().enumerate() {
                for (j, other) in &present[..k] {
                    let apart = cast.scene == SceneKind::Pile && !truth(*i).may_touch(pose, truth(*j), other);
                    if !apart {
                        least = least.min(truth(*i).gap(pose, truth(*j), other, limit.min(least)));
                    }
                }
            }
            least
        }
    }
}

/// Bodies whose centre of mass has left the large bowl, and which way. The bowl is half a ball around the middle of its
/// rim's plane.
fn leavers(cast: &Cast, recording: &Recording) -> Pile {
    let Some(container) = recording.bodies.iter().position(|b| cast.stages[b.model].body.container) else {
        return Pile { lost: 0, spilled: 0 };
    };
    let body = &cast.stages[recording.bodies[container].model].body;
    let stands = pose_of(&recording.poses[0][container]).translation.vector;
    let rim = stands.y + body.upright_bounds.max.y;
    let center = Vec3::new(stands.x, rim, stands.z);
    let radius = 0.5 * body.upright_bounds.extents().x;
    let mut pile = Pile { lost: 0, spilled: 0 };
    for i in (0..recording.bodies.len()).filter(|&i| !recording.bodies[i].fixed) {
        let positions = recording.poses.iter().map(|p| &p[i]).filter(|p| p.present).map(|p| Vec3::from(p.position));
        let mut was_above = true;
        for p in positions {
            let above = p.y >= rim;
            if !above && (p - center).norm() > radius {
                if was_above {
                    pile.spilled += 1;
                } else {
                    pile.lost += 1;
                }
                break;
            }
            was_above = above;
        }
    }
    pile
}
