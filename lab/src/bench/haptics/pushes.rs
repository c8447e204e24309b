//! Hard pushes: a hand drives the god-object at random through obstacles, and the penetration of the tool is measured.

use std::sync::Arc;

use rayon::prelude::*;
use voxshell::ccd::impact::Moving;
use voxshell::contact::{self, Roles, Workspace};
use voxshell::field::{Cuboid, Field, SignedDistance};
use voxshell::haptics::god_object::Waypoint;
use voxshell::haptics::{self, DeviceState, Forms, Obstacle, Settings};
use voxshell::math::{Aabb, Pose, Rotation, Twist, Vec3};
use voxshell::mesh::primitives;
use voxshell::Result;

use super::super::pairs::place;
use super::super::random::Random;
use super::{supported, Effort};
use crate::haptics_demo::asset_cache::AssetCache;
use crate::haptics_demo::scenes::SceneName;
use crate::haptics_demo::session::{RendererName, LIMITS, STEP};
use voxshell_lab::row::Row;

/// Largest speeds, m/s and rad/s.
const FASTEST: [f64; 2] = [5.0, 20.0];
/// Depth from which a sample counts as penetrating, metres.
const DEEP: f64 = 1e-6;
/// Largest unchecked displacement of a sample along the god-object's path, metres. A sample can have been half of it
/// deep between two checks. The thinnest obstacle is twice as thick.
const UNSEEN: f64 = 5e-4;

/// Number of hands per scene, to use as many threads.
const HANDS: usize = 4;

/// A tool and the obstacle it is pushed against.
struct Place {
    name: &'static str,
    tool: haptics::Tool,
    obstacle: Obstacle,
    /// Pose without contact.
    start: Pose,
    /// Bounding ball of the tool's samples, body frame, metres.
    center: Vec3,
    radius: f64,
}

impl Place {
    fn new(name: &'static str, tool: haptics::Tool, obstacle: Obstacle, start: Pose) -> Self {
        let bounds = tool.forms.shell.as_ref().map_or_else(Aabb::empty, |shell| shell.bounds());
        let (center, radius) = (bounds.center(), 0.5 * bounds.extents().norm());
        Self { name, tool, obstacle, start, center, radius }
    }

    fn of_scene(scene: SceneName, assets: &AssetCache) -> Result<Self> {
        let mut stage = scene.build(assets)?;
        let start = stage.motion.at(0.0).0;
        Ok(Self::new(scene.name(), stage.tool, stage.obstacles.remove(0), start))
    }

    /// Returns a blob above a sheet of 1 mm, which it could pass in a fifth of a step.
    fn sheet(assets: &AssetCache) -> Result<Self> {
        let tool = assets.tool("blob", &primitives::blob(2)?.scaled_to_extent(0.08), 2_000)?.tool;
        let sheet = Field::Cuboid(Cuboid::new([0.1, 0.0005, 0.1])?);
        let obstacle = Obstacle::fixed(Forms { field: Some(Arc::new(sheet)), ..Forms::default() }, Pose::identity());
        Ok(Self::new("sheet", tool, obstacle, Pose::translation(0.0, 0.06, 0.0)))
    }

    /// Returns φ of the tool's deepest sample if it is less than `limit`, metres.
    fn least(&self, tool: &Pose, limit: f64, workspace: &mut Workspace) -> Result<Option<f64>> {
        let (a, b) = (self.tool.forms.geometry(), self.obstacle.forms.geometry());
        let found = contact::distance(a, tool, b, &self.obstacle.pose, Roles::ShellOfA, limit, workspace)?;
        Ok(found.map(|c| c.separation))
    }

    /// Returns φ of the tool's deepest sample anywhere on a path, metres; 0 if it is never inside. Between two checks
    /// no sample moves farther than its known clearance plus [`UNSEEN`], so it cannot pass unnoticed through an
    /// obstacle thicker than half of that.
    fn on_the_way(&self, path: &[Waypoint], workspace: &mut Workspace) -> Result<f64> {
        let mut deepest = 0.0f64;
        for piece in path.windows(2) {
            let (from, to) = (&piece[0].pose, &piece[1].pose);
            let moving = Moving { geometry: self.tool.forms.geometry(), from: *from, to: *to };
            let longest = self.longest_displacement(from, to);
            let mut t = 0.0;
            while t < 1.0 {
                let left = (1.0 - t) * longest;
                let least = self.least(&moving.pose(t), left, workspace)?.unwrap_or(left);
                deepest = deepest.min(least);
                // φ of a grid can be steeper than a distance, by less than a factor of two.
                t += (0.5 * least.max(0.0) + UNSEEN) / longest.max(1e-12);
            }
        }
        Ok(deepest)
    }

    /// Returns an upper bound of the displacement of any sample on a screw from one pose to another, metres.
    fn longest_displacement(&self, from: &Pose, to: &Pose) -> f64 {
        let [p, q] = [from, to].map(|pose| pose.transform_point(&self.center.into()).coords);
        let turn = from.rotation.angle_to(&to.rotation);
        // An arc of angle a is about 1 + a²/24 times as long as its chord; this bound holds for a of at most 2 rad.
        (q - p).norm() * (1.0 + turn * turn / 16.0) + turn * self.radius
    }
}

/// A hand that moves between random places, each at its own speed.
struct Wander {
    random: Random,
    around: (Vec3, Vec3),
    pose: Pose,
    wanted: Pose,
    speed: [f64; 2],
}

impl Wander {
    fn new(place: &Place, seed: u64) -> Self {
        let bounds = place.obstacle.forms.field.as_ref().map(|f| f.bounds().inflated(0.03)).unwrap_or_else(Aabb::empty);
        let around = (bounds.center(), bounds.extents());
        Self { random: Random::new(seed), around, pose: place.start, wanted: place.start, speed: FASTEST }
    }

    /// Returns the state after another step.
    fn next(&mut self) -> DeviceState {
        let far = |wanted: &Pose, pose: &Pose| (wanted.translation.vector - pose.translation.vector).norm();
        if far(&self.wanted, &self.pose) < 1e-3 {
            let (center, extents) = self.around;
            let to = center + place(&mut self.random).component_mul(&extents);
            self.wanted = Pose::from_parts(to.into(), self.random.rotation());
            self.speed = FASTEST.map(|most| most * (0.1 + 0.9 * self.random.next()));
        }
        let displacement = self.wanted.translation.vector - self.pose.translation.vector;
        let turn = (self.wanted.rotation * self.pose.rotation.inverse()).scaled_axis();
        let within = |v: Vec3, speed: f64| v / STEP * (speed * STEP / v.norm().max(1e-12)).min(1.0);
        let twist = Twist { linear: within(displacement, self.speed[0]), angular: within(turn, self.speed[1]) };
        let rotation = Rotation::from_scaled_axis(twist.angular * STEP) * self.pose.rotation;
        self.pose = Pose::from_parts((self.pose.translation.vector + twist.linear * STEP).into(), rotation);
        DeviceState { pose: self.pose, twist, engaged: true }
    }
}

pub fn rows(assets: &AssetCache, effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    let of = |scene: SceneName| Place::of_scene(scene, assets);
    let places: [Result<Place>; 6] = [
        Place::sheet(assets),
        of(SceneName::Alpha),
        of(SceneName::HorseDragon),
        of(SceneName::Peg),
        of(SceneName::Wires),
        of(SceneName::Cylinders),
    ];
    let each = effort.pushes.div_ceil(places.len() * HANDS);
    for (i, place) in places.into_iter().enumerate() {
        let place = place?;
        // Nothing here is timed, so all hands run in parallel.
        let hands: Vec<Result<Option<Pushed>>> =
            (0..HANDS).into_par_iter().map(|hand| pushed(&place, each, (1 + i * HANDS + hand) as u64)).collect();
        let mut all = Pushed::default();
        for of_hand in hands {
            // A place that the renderer cannot run has already been reported.
            let Some(of_hand) = of_hand? else { continue };
            all.add(&of_hand);
        }
        rows.extend(all.rows(place.name));
    }
    Ok(())
}

/// Result of the pushes.
#[derive(Default)]
struct Pushed {
    pushes: usize,
    touching: usize,
    /// Pushes that ended inside, and pushes that were inside on their path.
    penetrating: usize,
    tunnelled: usize,
    /// Largest depth at the ends, and on the paths, metres.
    deepest: f64,
    deepest_on_the_way: f64,
}

impl Pushed {
    fn add(&mut self, other: &Self) {
        self.pushes += other.pushes;
        self.touching += other.touching;
        self.penetrating += other.penetrating;
        self.tunnelled += other.tunnelled;
        self.deepest = self.deepest.max(other.deepest);
        self.deepest_on_the_way = self.deepest_on_the_way.max(other.deepest_on_the_way);
    }

    fn rows(&self, place: &str) -> Vec<Row> {
        if self.pushes == 0 {
            return Vec::new();
        }
        let row = |name: &str, value: usize| {
            let row = Row::new(format!("haptics/pushes/{place}/{name}"), value as f64, "pushes").target(0.0);
            row.with("pushes", self.pushes)
                .with("touching", self.touching)
                .with("deepest_m", self.deepest)
                .with("deepest_on_the_way_m", self.deepest_on_the_way)
        };
        vec![row("penetrating", self.penetrating), row("tunnelled", self.tunnelled)]
    }
}

fn pushed(place: &Place, count: usize, seed: u64) -> Result<Option<Pushed>> {
    let settings = Settings::for_tool(RendererName::GodObject.renderer(), &place.tool, &LIMITS)?;
    let made = haptics::new(settings, place.tool.clone(), vec![place.obstacle.clone()]);
    let Some((mut servo, mut simulation)) = supported("pushes", made)? else { return Ok(None) };
    let mut workspace = Workspace::new();
    let mut wander = Wander::new(place, seed);
    let mut found = Pushed { pushes: count, ..Pushed::default() };
    for _ in 0..count {
        servo.step(&wander.next(), STEP);
        found.touching += usize::from(simulation.simulate().contacts > 0);
        let tool = servo.tool_pose();
        if let Some(least) = place.least(&tool, -DEEP, &mut workspace)? {
            found.penetrating += 1;
            found.deepest = found.deepest.max(-least);
        }
        let least = place.on_the_way(simulation.path(), &mut workspace)?;
        found.tunnelled += usize::from(least < -DEEP);
        found.deepest_on_the_way = found.deepest_on_the_way.max(-least);
    }
    Ok(Some(found))
}
