//! Pictures of a run: the colliding fields, sphere-traced.

use std::sync::Arc;

use serde_json::{json, Value};
use voxshell::field::{Cuboid, SignedDistance};
use voxshell::math::{Pose, Vec3};
use voxshell_cli::render::{render, Camera, Ground, Image, Object, Scene};
use voxshell_report::report::animated_png;

use crate::bridge::{BodyPose, Method, SceneKind};
use crate::prepared_body::PreparedBody;
use crate::run::{pose_of, Cast, Context, Effort, Run};

const STILL: (usize, usize) = (300, 200);
const HERO: (usize, usize) = (1280, 440);
/// Points per body of the true surface that can be drawn over the picture.
const POINTS: usize = 900;
/// Longest duration of a film, seconds; longer runs are shown faster.
const LONGEST: f64 = 8.0;

const STOCK: [[f32; 3]; 3] = [[0.93, 0.56, 0.16], [0.86, 0.42, 0.16], [0.95, 0.70, 0.30]];
const OURS: [[f32; 3]; 3] = [[0.16, 0.43, 0.80], [0.10, 0.58, 0.66], [0.40, 0.45, 0.85]];
const FIXED: [f32; 3] = [0.66, 0.69, 0.73];

/// All runs of one method in one scene (the ball has several), prepared to be drawn together.
pub struct Shooting<'a> {
    cast: &'a Cast,
    method: Method,
    runs: Vec<&'a Run>,
    /// Colliding field of each body of the cast.
    fields: Vec<Arc<dyn SignedDistance>>,
    effort: Effort,
}

impl<'a> Shooting<'a> {
    pub fn new(cast: &'a Cast, method: Method, runs: Vec<&'a Run>, context: &Context) -> voxshell::Result<Self> {
        let used = |model: usize| runs.iter().any(|r| r.recording.bodies.iter().any(|b| b.model == model));
        let field = |(model, stage): (usize, &Arc<PreparedBody>)| -> voxshell::Result<Arc<dyn SignedDistance>> {
            if used(model) {
                stage.collides(method, &context.decomposer)
            } else {
                Ok(Arc::new(stage.truth.field().clone()))
            }
        };
        let fields = cast.stages.iter().enumerate().map(field).collect::<voxshell::Result<_>>()?;
        Ok(Self { cast, method, runs, fields, effort: context.effort })
    }

    /// Returns the seconds per step of the film: those of the run with the shortest steps.
    fn dt(&self) -> f64 {
        self.runs.iter().map(|r| r.recording.dt).fold(f64::INFINITY, f64::min)
    }

    fn last_step(&self) -> usize {
        let steps = |r: &Run| (r.recording.steps.len() as f64 * r.recording.dt / self.dt()).round() as usize;
        self.runs.iter().map(|r| steps(r)).max().unwrap_or(0)
    }

    /// Draws the last moment as a small picture.
    pub fn still(&self) -> Image {
        let (w, h) = STILL;
        render(&self.scene(self.last_step()), &self.camera(w as f64 / h as f64), w, h)
    }

    /// Draws the last moment as a wide picture.
    pub fn hero(&self) -> Image {
        let (w, h) = HERO;
        let scene = Scene { smoothing: 3, ..self.scene(self.last_step()) };
        render(&scene, &self.camera(w as f64 / h as f64), w, h)
    }

    /// Returns the animated PNG and the data of the page's player: times, poses, surface points and the camera.
    pub fn film(&self, mut tick: impl FnMut()) -> voxshell::Result<(Vec<u8>, Value)> {
        let (w, h) = self.effort.film;
        let camera = self.camera(w as f64 / h as f64);
        let last = self.last_step();
        let count = self.frame_count();
        let mut pictures = Vec::new();
        let mut poses = Vec::new();
        let mut times = Vec::new();
        for k in 0..count {
            let step = last * k / (count - 1).max(1);
            pictures.push(render(&self.scene(step), &camera, w, h));
            poses.push(self.flat_poses(step));
            times.push(step as f64 * self.dt());
            tick();
        }
        let film = animated_png(&pictures, times.last().map_or(0.0, |t| t.min(LONGEST)))?;
        let data = json!({
            "width": w,
            "height": h,
            "seconds": times,
            "poses": poses,
            "points": self.cast.stages.iter().map(|s| surface_points(s)).collect::<Vec<_>>(),
            "models": self.movers().map(|(_, _, model)| model).collect::<Vec<_>>(),
            "camera": {
                "eye": list(&camera.eye), "right": list(&camera.right), "up": list(&camera.up),
                "forward": list(&camera.forward), "half": (0.5 * camera.fov_y).tan(),
            },
        });
        Ok((film, data))
    }

    /// Returns the number of frames that [`Shooting::film`] will draw.
    pub fn frame_count(&self) -> usize {
        self.effort.frames.min(self.last_step() + 1)
    }

    /// Iterates over run, body and model of all moving bodies.
    fn movers(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        self.runs.iter().enumerate().flat_map(|(r, run)| {
            let bodies = run.recording.bodies.iter().enumerate();
            bodies.filter(|(_, b)| !b.fixed).map(move |(i, b)| (r, i, b.model))
        })
    }

    /// Returns the pose of a body; several runs of one scene are placed side by side.
    fn pose(&self, run: usize, body: usize, step: usize) -> Option<Pose> {
        let recording = &self.runs[run].recording;
        let step = (step as f64 * self.dt() / recording.dt).round() as usize;
        let pose: &BodyPose = &recording.poses_at(step.min(recording.steps.len()))[body];
        if self.cast.scene == SceneKind::Degenerate {
            // Two rows of four.
            let (column, row) = ((run % 4) as f64, (run / 4) as f64);
            let beside = Pose::translation(4.0 * (column - 1.5), 0.0, 6.0 * (row - 0.5));
            return pose.present.then(|| beside * pose_of(pose));
        }
        let apart = match self.cast.scene {
            SceneKind::NutBolt => 0.04,
            SceneKind::NutBolt100 => 1.6,
            _ => 1.3,
        };
        let beside = apart * (run as f64 - 0.5 * (self.runs.len() - 1) as f64);
        pose.present.then(|| Pose::translation(beside, 0.0, 0.0) * pose_of(pose))
    }

    /// Returns x y z and quaternion x y z w of each mover, zeros before it enters, with few decimals.
    fn flat_poses(&self, step: usize) -> Vec<f64> {
        let movers = self.movers().flat_map(|(run, body, _)| match self.pose(run, body, step) {
            Some(p) => {
                let (t, q) = (p.translation.vector, p.rotation.coords);
                [t.x, t.y, t.z, q.x, q.y, q.z, q.w]
            }
            None => [0.0; 7],
        });
        movers.map(|x| (x * 1e4).round() / 1e4).collect()
    }

    fn scene(&self, step: usize) -> Scene {
        let mut scene = Scene { smoothing: 2, ..Scene::default() };
        let palette = if self.method.is_voxshell() { OURS } else { STOCK };
        for (r, run) in self.runs.iter().enumerate() {
            for (i, body) in run.recording.bodies.iter().enumerate() {
                let Some(pose) = self.pose(r, i, step) else { continue };
                let colour = if body.fixed { FIXED } else { palette[body.model % 3] };
                scene.objects.push(Object { field: self.fields[body.model].clone(), pose, colour });
            }
        }
        let ground = match self.cast.scene {
            SceneKind::DropBox => {
                let block = Arc::new(Cuboid::new([0.5; 3]).expect("a box of one metre"));
                scene.objects.push(Object::new(block, Pose::translation(0.0, -0.5, 0.0), FIXED));
                Ground::floor(-1.0, 0.25)
            }
            scene if scene.is_pile() => Ground::floor(0.0, 1.0),
            scene if scene.has_threads() => Ground::floor(-0.01, 0.01),
            SceneKind::FastDrop | SceneKind::Degenerate => Ground::floor(-3.0, 1.0),
            SceneKind::Fan => Ground::floor(-0.05, 0.25),
            _ => Ground::floor(0.0, 0.25),
        };
        let wide = matches!(self.cast.scene, SceneKind::Wires | SceneKind::FastDrop | SceneKind::Degenerate);
        scene.fade = if wide || self.cast.scene.is_pile() { 40.0 } else { 9.0 };
        scene.ground = Some(ground);
        scene
    }

    fn camera(&self, aspect: f64) -> Camera {
        let (eye, target) = match self.cast.scene {
            SceneKind::DropPlane => (Vec3::new(1.25, 1.1, 2.45), Vec3::new(0.0, 0.66, 0.0)),
            SceneKind::DropBox => (Vec3::new(1.9, 1.35, 3.1), Vec3::new(0.0, 0.25, 0.0)),
            SceneKind::Pair => (Vec3::new(1.9, 1.7, 3.7), Vec3::new(0.0, 0.92, 0.0)),
            SceneKind::NutBolt => (Vec3::new(0.04, 0.055, 0.13), Vec3::new(0.0, 0.008, 0.0)),
            SceneKind::NutBolt100 => (Vec3::new(1.5, 1.6, 3.6), Vec3::new(0.7, 0.0, 0.6)),
            SceneKind::LowFrequency => (Vec3::new(1.6, 2.6, 9.5), Vec3::new(0.0, 0.6, 0.0)),
            SceneKind::Wires => (Vec3::new(5.2, 4.6, 14.0), Vec3::new(0.0, 2.9, 0.0)),
            SceneKind::FastDrop => (Vec3::new(3.0, 6.5, 12.5), Vec3::new(0.0, -0.6, -1.2)),
            SceneKind::Degenerate => (Vec3::new(3.0, 8.0, 17.0), Vec3::new(0.0, -1.0, 0.0)),
            SceneKind::Fan => (Vec3::new(1.6, 1.9, 5.6), Vec3::new(0.0, 1.2, 0.0)),
            SceneKind::Ball => (Vec3::new(1.6, 1.6, 6.2), Vec3::new(0.0, 0.86, 0.0)),
            SceneKind::StackSpheres => (Vec3::new(3.2, 3.2, 9.4), Vec3::new(0.0, 2.3, 0.0)),
            SceneKind::Stack => (Vec3::new(1.9, 2.3, 5.2), Vec3::new(0.0, 0.8, 0.0)),
            SceneKind::Rolling => (Vec3::new(-0.5, 7.5, 10.5), Vec3::new(-1.0, 0.3, 0.8)),
            _ => {
                // The camera distance scales with the size of the bowl.
                let extent = |s: &Arc<PreparedBody>| s.body.upright_bounds.extents().max();
                let scale = self.cast.stages.iter().map(extent).fold(0.0, f64::max) / 5.0;
                (Vec3::new(3.2, 6.6, 6.6) * scale, Vec3::new(0.0, 1.65, 0.0) * scale)
            }
        };
        // In a wide picture the pile is seen from closer; the other scenes would be cut off at the top.
        let fov = if aspect > 2.0 && self.cast.scene.is_pile() { 26f64 } else { 36f64 };
        Camera::looking_at(eye, target, Vec3::y(), fov.to_radians())
    }
}

fn list(v: &Vec3) -> [f64; 3] {
    [v.x, v.y, v.z]
}

/// Returns points on the true surface with their normals, body frame: x y z nx ny nz in thousandths. Even by area.
fn surface_points(stage: &crate::prepared_body::PreparedBody) -> Vec<i32> {
    let mesh = &stage.body.mesh;
    let area = mesh.area();
    let mut due = 0.5;
    let mut out = Vec::new();
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(t).map(Vec3::from);
        let normal = (b - a).cross(&(c - a));
        due += 0.5 * normal.norm() / area * POINTS as f64;
        let mut k = 0u32;
        while due >= 1.0 {
            due -= 1.0;
            k += 1;
            // The R2 sequence folded into the triangle.
            let (mut u, mut v) = ((0.754_877_67 * f64::from(k)).fract(), (0.569_840_3 * f64::from(k)).fract());
            if u + v > 1.0 {
                (u, v) = (1.0 - u, 1.0 - v);
            }
            let p = a + (b - a) * u + (c - a) * v;
            let n = normal.normalize();
            out.extend([p.x, p.y, p.z, n.x, n.y, n.z].map(|x| (x * 1000.0).round() as i32));
        }
    }
    out
}
