//! From the arguments to the rows: prepares, simulates, measures.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rayon::prelude::*;
use voxshell::math::{Aabb, Pose, Rotation, Vec3};

use crate::bodies::Body;
use crate::bridge::{hacd_available, BodyPose, Drive, Method, SceneKind, Setup};
use crate::catalogue::Case;
use crate::decompose::Decomposer;
use crate::fast_bodies::{self, is_fast};
use crate::figures::{rebound, Descent, Figures, SceneRow};
use crate::ground_truth::Block;
use crate::nut_bolt::options::NutOptions;
use crate::nut_bolt::sizes::Parts;
use crate::nut_bolt::{self, threads};
use crate::pile::leavers;
use crate::prepared_body::PreparedBody;
use crate::progress::Progress;
use crate::scaling::places;
use crate::simulate::{simulate, Recording};
use crate::stack::towers;
use crate::trial::{conduct, Ground, Trial};
use crate::{degenerate, flush};

/// Most nuts of a thousand whose depth is measured between the true meshes, evenly spread over them.
pub const MEASURED_NUTS: usize = 8;

/// Bullet's collision margin, metres.
const MARGIN: f64 = 0.001;

/// The bodies of one scene, in the order that its .cpp expects.
pub struct Cast {
    pub scene: SceneKind,
    /// Number of bodies that are poured, or of each tower.
    pub count: u32,
    pub stages: Vec<Arc<PreparedBody>>,
    /// Origins of the bolts and nuts; two bodies each.
    pub parts: Vec<Parts>,
    pub nuts: NutOptions,
}

/// Result of one row: its figures and, for the report, the recording.
pub struct Outcome {
    pub row: SceneRow,
    pub run: Option<Run>,
}

pub struct Run {
    pub recording: Recording,
    /// (step, metres between the true meshes, negative when they penetrate).
    pub gaps: Vec<(usize, f64)>,
}

/// Settings shared by all rows.
pub struct Context<'a> {
    /// The decomposer; its folder also holds the cooked assets.
    pub decomposer: Decomposer<'a>,
    /// Number of steps for all scenes; `None` for each scene's own.
    pub steps: Option<usize>,
    /// Threads of the narrowphase in rows of Voxshell that do not have their own number; `None` for one.
    pub threads: Option<u32>,
    /// True if rows of Voxshell test edges and corners of two meshes against each other.
    pub edges: bool,
    pub patience: Option<Duration>,
    /// True if the time limit applies to Voxshell's rows too.
    pub all_patience: bool,
    /// True to print each row when it is finished, as one JSON object per line.
    pub json: bool,
    pub effort: Effort,
    pub progress: &'a Progress,
}

/// Amount of measuring and drawing for a row.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Largest number of pictures of a film.
    pub frames: usize,
    /// Width and height of a film, pixels.
    pub film: (usize, usize),
    /// Factor by which the interval between measurements of the true gap grows.
    pub measure_every: usize,
}

impl Cast {
    pub fn new(scene: SceneKind, mesh: Option<&Path>, count: Option<u32>) -> voxshell::Result<Self> {
        Self::with_nuts(scene, mesh, count, NutOptions::default())
    }

    pub fn with_nuts(
        scene: SceneKind,
        mesh: Option<&Path>,
        count: Option<u32>,
        nuts: NutOptions,
    ) -> voxshell::Result<Self> {
        let parts = if scene.has_threads() { nut_bolt::parts_of(scene, &nuts) } else { Vec::new() };
        let count = count.unwrap_or(scene.count());
        let subject = || mesh.map_or_else(Body::embedded, Body::load);
        let bodies = match scene {
            SceneKind::Ball | SceneKind::StackSpheres => vec![Body::ball()?],
            SceneKind::Stack => Vec::from(Body::stacked()?),
            SceneKind::Pile | SceneKind::Pile500 | SceneKind::Pile2000 => {
                let mut bodies = Vec::from(Body::poured()?);
                bodies.push(Body::container(count)?);
                bodies
            }
            SceneKind::Rolling => vec![subject()?, Body::container(50)?],
            // Four children per node, as in the 2014 paper's experiments.
            SceneKind::Levels => vec![Body { branching: 4, ..subject()? }],
            scene if scene.has_threads() => nut_bolt::bodies(&parts, &nuts)?,
            SceneKind::Degenerate => degenerate::bodies()?,
            SceneKind::Flush => flush::bodies()?,
            scene if is_fast(scene) => fast_bodies::bodies(scene, subject)?,
            _ => vec![subject()?],
        };
        let stages = bodies.into_iter().map(|b| PreparedBody::new(b).map(Arc::new)).collect::<voxshell::Result<_>>()?;
        Ok(Self { scene, count, stages, parts, nuts })
    }

    /// Returns true if the only body is the user's, cooked in the usual way.
    pub fn of_one_subject(&self) -> bool {
        matches!(self.scene, SceneKind::DropPlane | SceneKind::DropBox | SceneKind::Pair | SceneKind::LowFrequency)
    }

    /// Prepares the scene for the cost against the number of samples.
    pub fn of_samples(mesh: Option<&Path>, samples: usize) -> voxshell::Result<Self> {
        let body = mesh.map_or_else(Body::embedded, Body::load)?;
        let stages = vec![Arc::new(PreparedBody::new(Body { samples: Some([samples; 2]), ..body })?)];
        Ok(Self { scene: SceneKind::Scaling, count: 1, stages, parts: Vec::new(), nuts: NutOptions::default() })
    }
}

/// Runs all rows of one scene, or only those with the given drive.
pub fn run_scene(cast: &Cast, methods: &[Method], drive: Option<Drive>, context: &Context) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for &method in methods.iter().filter(|m| m.applies_to(cast.scene)) {
        let cases = cast.scene.cases(method).into_iter().filter(|c| drive.is_none() || c.drive == drive);
        let cases = cases.filter(|c| nut_bolt::plays(cast, c));
        let given = cast.nuts.rate.filter(|_| cast.scene.has_threads());
        // A scene with a row for each of several numbers of threads has one for the number that was asked for.
        let threads = |c: &Case| c.threads.and(context.threads).or(c.threads);
        let mut cases: Vec<_> = cases.map(|c| Case { rate: given.or(c.rate), threads: threads(&c), ..c }).collect();
        cases.dedup();
        outcomes.extend(cases.into_iter().map(|case| run_row(cast, method, case, context)));
    }
    outcomes
}

pub fn run_row(cast: &Cast, method: Method, case: Case, context: &Context) -> Outcome {
    let scene = cast.scene;
    let threads = case.threads.or(context.threads.filter(|_| method.is_voxshell()));
    let edges = (context.edges || case.edges) && method.is_voxshell() && !scene.has_threads();
    let case = Case { threads, edges, ..case };
    let result = recorded(cast, method, case, context);
    let (outcome, run) = match result {
        Ok((figures, run)) => (Ok(figures), Some(run)),
        Err(reason) => (Err(reason), None),
    };
    let row = SceneRow { scene, method, case, outcome };
    context.progress.row_done(&row);
    if context.json {
        println!("{}", row.json());
    }
    Outcome { row, run }
}

fn recorded(cast: &Cast, method: Method, case: Case, context: &Context) -> Result<(Figures, Run), String> {
    let scene = cast.scene;
    if method == Method::Hacd && !hacd_available() {
        return Err("HACD was not found when the demo was built (Debian: libbullet-extras-dev)".into());
    }
    let name = format!("{} / {}{}", scene.entry().name, method.entry().name, case.label());
    context.progress.start(&format!("{name}: preparing"), 0);
    let placements = case.trial.map_or(Ok(Vec::new()), |t| t.placements(cast))?;
    let bolt = case.parts.and_then(|p| cast.parts.iter().position(|q| *q == p)).map_or(0, |i| 2 * i);
    let model = |(i, stage): (usize, &Arc<PreparedBody>)| {
        let used = (case.trial.is_none() || placements.iter().any(|p| p.model == i))
            && (cast.parts.is_empty() || i / 2 == bolt / 2);
        if used {
            stage.model(method, &context.decomposer)
        } else {
            Ok(stage.unused_model())
        }
    };
    let models: Vec<_> = cast.stages.iter().enumerate().map(model).collect::<Result<_, _>>()?;
    let places = match scene {
        SceneKind::Scaling => {
            places(&cast.stages[0], method, &context.decomposer, MARGIN).map_err(|e| e.to_string())?
        }
        _ => Vec::new(),
    };
    let (segments, segment_level) = case.segments();
    let trial = case.trial.unwrap_or(Trial::AT_REST);
    let drive = case.drive.unwrap_or(Drive::Weight);
    let setup = Setup {
        scene,
        method,
        dt: case.dt(),
        margin: if scene.has_threads() { nut_bolt::MARGIN } else { MARGIN },
        restitution: case.restitution.unwrap_or(0.0),
        count: cast.count,
        drive,
        bolt,
        turns: cast.nuts.turns,
        iterations: cast.nuts.iterations,
        threads: case.threads.unwrap_or(1),
        edges: case.edges,
        swept_spheres: case.swept_spheres,
        segments,
        segment_level,
        places,
        clamped: fast_bodies::is_clamped(scene, method),
        models,
        placements,
        on_plane: trial.ground == Ground::Plane,
        acceleration: trial.acceleration,
        friction: if scene.has_threads() { nut_bolt::friction(&cast.nuts, drive) } else { trial.friction },
        motion: trial.motion,
    };

    let steps =
        context.steps.unwrap_or((case.trial.map_or(scene.entry().seconds, |t| t.seconds) / case.dt()).round() as usize);
    context.progress.start(&name, steps);
    let patience = context.patience.filter(|_| context.all_patience || !method.is_voxshell());
    let recording = simulate(&setup, steps, patience, || context.progress.tick()).map_err(|e| e.to_string())?;
    if recording.steps.is_empty() {
        return Err("no step was finished within the time of a row (--patience)".into());
    }

    context.progress.start(&format!("{name}: measuring"), 0);
    let gaps = measure(cast, &recording, case.trial.as_ref(), context.effort.measure_every);
    let mut figures = Figures::new(scene, &recording, &gaps);
    let used = |i: usize| recording.bodies.iter().any(|b| b.model == i);
    let stages = cast.stages.iter().enumerate().filter(|(i, _)| used(*i));
    figures.samples = stages.filter_map(|(_, s)| s.samples(method)).collect();
    figures.conduct = case.trial.map(|t| conduct(&t, &recording, figures.window));
    figures.rebound = case.restitution.and_then(|e| rebound(&gaps, gaps[0].1, e));
    figures.pile = scene.is_pile().then(|| leavers(cast, &recording));
    figures.threads = scene.has_threads().then(|| threads(cast, &recording));
    figures.descent = figures.threads.map(|t| Descent::new(&recording, t.arrival));
    figures.towers = scene.is_stack().then(|| towers(cast, &recording));
    figures.passage = is_fast(scene).then(|| fast_bodies::passage(scene, &recording));
    Ok((figures, Run { recording, gaps }))
}

pub fn pose_of(pose: &BodyPose) -> Pose {
    let [x, y, z, w] = pose.rotation;
    let rotation = Rotation::from_quaternion(nalgebra::Quaternion::new(w, x, y, z));
    Pose::from_parts(Vec3::from(pose.position).into(), rotation)
}

/// Measures the true gap at some of the steps, always at the last.
fn measure(cast: &Cast, recording: &Recording, trial: Option<&Trial>, less_often: usize) -> Vec<(usize, f64)> {
    let stride = match cast.scene {
        SceneKind::DropPlane | SceneKind::Ball => 1,
        scene if is_fast(scene) || scene.has_trials() => 1,
        SceneKind::DropBox | SceneKind::Pair => 2,
        SceneKind::Rolling => 20,
        SceneKind::Levels => 10,
        SceneKind::Pile500 | SceneKind::Pile2000 => 400,
        SceneKind::NutBolt100 => 1000,
        SceneKind::NutBolt1000 => 100,
        _ => 100,
    };
    let last = recording.steps.len();
    let mut steps: Vec<usize> = (0..=last).step_by(stride * less_often).collect();
    if steps.last() != Some(&last) {
        steps.push(last);
    }
    steps.into_par_iter().map(|step| (step, gap_at(cast, recording, trial, step))).collect()
}

fn gap_at(cast: &Cast, recording: &Recording, trial: Option<&Trial>, step: usize) -> f64 {
    let poses = recording.poses_at(step);
    let truth = |i: usize| &cast.stages[recording.bodies[i].model].truth;
    let scene = cast.scene;
    if scene == SceneKind::DropBox {
        let bounds = Aabb { min: Vec3::new(-0.5, -1.0, -0.5), max: Vec3::new(0.5, 0.0, 0.5) };
        return truth(0).gap_to_block(&pose_of(&poses[0]), &Block { bounds });
    }
    if let Some(trial) = trial {
        // The fixed body, if there is one, comes first.
        return match trial.ground {
            Ground::Plane => truth(0).lowest(&pose_of(&poses[0])),
            Ground::Body(..) => -truth(1).exact_depth(&pose_of(&poses[1]), truth(0), &pose_of(&poses[0])),
        };
    }
    // Depth between true threads takes half a second for a pair.
    let measured =
        |i: usize| scene != SceneKind::NutBolt1000 || (i / 2) % (poses.len() / 2).div_ceil(MEASURED_NUTS) == 0;
    let present: Vec<(usize, Pose)> =
        poses.iter().enumerate().filter(|(i, p)| p.present && measured(*i)).map(|(i, p)| (i, pose_of(p))).collect();
    let mut least = f64::INFINITY;
    if scene.on_plane() {
        let moving = present.iter().filter(|(i, _)| !recording.bodies[*i].fixed);
        least = moving.map(|(i, pose)| truth(*i).lowest(pose)).fold(least, f64::min);
    }
    // In scenes of many bodies only depth is measured.
    let limit = if scene.many() { 0.0 } else { f64::INFINITY };
    for (k, (i, pose)) in present.iter().enumerate() {
        for (j, other) in &present[..k] {
            if recording.bodies[*i].fixed && recording.bodies[*j].fixed {
                continue;
            }
            if scene == SceneKind::Pair || truth(*i).may_touch(pose, truth(*j), other) {
                least = least.min(truth(*i).gap(pose, truth(*j), other, limit.min(least)));
            }
        }
    }
    least
}
