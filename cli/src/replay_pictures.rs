//! Pictures of a replay: the bodies of the last calls, at fixed steps of recorded time.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use voxshell::asset::Shape;
use voxshell::capi::record::player::{Played, Player};
use voxshell::field::{Field, SignedDistance};
use voxshell::math::{Aabb, Pose, Rotation, Vec3};
use voxshell::{Error, Result};
use voxshell_cli::render::{render, Camera, Object, Scene};

/// A body in the picture.
struct Body {
    shape: Arc<Shape>,
    pose: Pose,
    /// Seconds of recorded time at which a call last used it.
    seen: f64,
}

/// Which body of a picture: of a pair by its workspace, of haptics by the `vxs_haptics`, and the number in the call.
type Place = (u64, usize);

/// Seconds of recorded time after which a body that no call uses is left out.
const FORGOTTEN: f64 = 0.25;
/// A body larger than this many times the smallest one is the ground: the camera does not frame it.
const GROUND: f64 = 20.0;

/// Writes pictures while the replay goes on.
pub struct Film {
    folder: PathBuf,
    size: usize,
    step: f64,
    bodies: BTreeMap<Place, Body>,
    /// Shapes of the tools of `vxs_haptics`, which keep them.
    tools: BTreeMap<u64, Arc<Shape>>,
    camera: Option<Camera>,
    written: usize,
    next: f64,
    /// Calls between two pictures, instead of a time.
    every: Option<u64>,
    calls: u64,
}

impl Film {
    /// Makes a film of `rate` pictures for each second of recorded time, or of one picture `every` so many calls.
    pub fn new(folder: PathBuf, size: usize, rate: f64, every: Option<u64>) -> Result<Self> {
        std::fs::create_dir_all(&folder).map_err(|source| Error::Io { path: folder.clone(), source })?;
        let (bodies, tools) = (BTreeMap::new(), BTreeMap::new());
        let step = 1.0 / rate;
        Ok(Self { folder, size, step, bodies, tools, camera: None, written: 0, next: 0.0, every, calls: 0 })
    }

    /// Takes the bodies of a call, after a picture if the time for one has come.
    pub fn see(&mut self, player: &Player, played: &Played) -> Result<()> {
        let now = played.time.as_secs_f64();
        self.calls += 1;
        let is_due = match self.every {
            Some(every) => self.calls % every == 0,
            None => now >= self.next,
        };
        if is_due && self.draw()? {
            self.next = now - now % self.step + self.step;
        }
        let is_create = played.function == "vxs_haptics_create";
        // The new object is the last one; a query names its workspace after the shapes.
        let owner = match played.function.starts_with("vxs_haptics_") && !is_create {
            true => played.objects.first(),
            false => played.objects.last(),
        };
        let Some(&owner) = owner else { return Ok(()) };
        if is_create {
            if let Some(tool) = played.objects.first().and_then(|id| player.shape(*id)) {
                self.tools.insert(owner, tool);
            }
        }
        for (i, (_, shape, pose)) in player.placed().enumerate() {
            // The bodies of a vxs_haptics stay until it moves them.
            let seen = if is_create { f64::INFINITY } else { now };
            self.bodies.insert((owner, i + 1), Body { shape, pose: pose_of(&pose), seen });
        }
        if let (Some(pose), Some(shape)) = (player.tool(), self.tools.get(&owner)) {
            self.bodies.insert((owner, 0), Body { shape: shape.clone(), pose: pose_of(&pose), seen: now });
        }
        if played.function.ends_with("_release") || played.function.ends_with("_destroy") {
            self.bodies.retain(|place, _| place.0 != owner);
        }
        self.bodies.retain(|_, body| now - body.seen < FORGOTTEN);
        Ok(())
    }

    /// Draws the bodies, if there are any.
    fn draw(&mut self) -> Result<bool> {
        const COLOURS: [[f32; 3]; 4] = [[0.95, 0.6, 0.2], [0.35, 0.55, 0.85], [0.4, 0.7, 0.4], [0.75, 0.45, 0.7]];
        let drawn =
            self.bodies.iter().filter_map(|(place, body)| Some((place.1, body.pose, body.shape.field.clone()?)));
        let drawn: Vec<Drawn> = drawn.collect();
        let boxes: Vec<Aabb> = drawn.iter().map(|(_, pose, field)| placed(&field.bounds(), pose)).collect();
        let Some(bounds) = framed(&boxes) else { return Ok(false) };
        // The camera of the first picture stays.
        let camera = *self.camera.get_or_insert_with(|| {
            let room = bounds.extents() * 0.25;
            let bounds = Aabb { min: bounds.min - room, max: bounds.max + room };
            camera_above(&bounds, &drawn)
        });
        let objects =
            drawn.into_iter().map(|(place, pose, field)| Object::new(field, pose, COLOURS[place % COLOURS.len()]));
        let scene = Scene { objects: objects.collect(), ..Scene::default() };
        let path = self.folder.join(format!("frame_{:05}.png", self.written));
        render(&scene, &camera, self.size, self.size).write_png(&path)?;
        self.written += 1;
        Ok(true)
    }

    /// Draws the last picture and returns the number of pictures.
    pub fn end(mut self) -> Result<usize> {
        if self.written == 0 {
            self.draw()?;
        }
        Ok(self.written)
    }
}

fn pose_of(p: &voxshell::capi::types::vxs_pose) -> Pose {
    let q = nalgebra::Quaternion::new(p.qw, p.qx, p.qy, p.qz);
    Pose::from_parts(Vec3::new(p.position.x, p.position.y, p.position.z).into(), Rotation::new_normalize(q))
}

/// A body in a picture: its number in the call, its pose and its field.
type Drawn = (usize, Pose, Arc<Field>);

/// Returns a camera that frames a box. Up is the axis along the normal of an infinite body, such as the ground; z without
/// one.
fn camera_above(bounds: &Aabb, drawn: &[Drawn]) -> Camera {
    let center = bounds.center();
    let normals = drawn.iter().filter(|(_, _, field)| !field.bounds().extents().norm().is_finite());
    let normal: Vec3 = normals
        .map(|(_, pose, field)| {
            let at = pose.inverse_transform_point(&center.into()).coords;
            let p = at - field.local_origin(&at);
            let (_, gradient) = field.distance_gradient([p.x as f32, p.y as f32, p.z as f32]);
            pose.rotation * Vec3::from(gradient.map(f64::from))
        })
        .sum();
    let up = match normal.iamax() {
        _ if normal.norm() < 0.5 => Vec3::z(),
        axis => Vec3::ith(axis, normal[axis].signum()),
    };
    let [side, back] = [Vec3::new(up.y, up.z, up.x), Vec3::new(up.z, up.x, up.y)];
    Camera::framing(bounds, side * 0.6 + back + up * 0.5, up, 0.6, 1.0)
}

/// Returns the box around a box at a pose.
fn placed(bounds: &Aabb, pose: &Pose) -> Aabb {
    let half = bounds.extents() * 0.5;
    let center = pose * nalgebra::Point3::from(bounds.center());
    let turn = pose.rotation.to_rotation_matrix();
    let reach = turn.matrix().abs() * half;
    Aabb { min: center.coords - reach, max: center.coords + reach }
}

/// Returns the box around all bodies but the ground.
fn framed(boxes: &[Aabb]) -> Option<Aabb> {
    let size = |b: &Aabb| b.extents().norm();
    let smallest = boxes.iter().map(size).filter(|size| size.is_finite() && *size > 0.0).fold(f64::INFINITY, f64::min);
    let framed = boxes.iter().filter(|b| size(b) <= GROUND * smallest);
    framed.copied().reduce(|a, b| Aabb { min: a.min.inf(&b.min), max: a.max.sup(&b.max) })
}
