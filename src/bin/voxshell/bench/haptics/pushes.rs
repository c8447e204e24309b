//! Hard pushes: a hand that drives the god-object at random, through whatever is in the way, and where it lets the tool be.

use std::sync::Arc;

use voxshell::contact::{self, Roles, Workspace};
use voxshell::field::{Cuboid, Field, SignedDistance};
use voxshell::haptics::{self, DeviceState, Forms, Obstacle, Settings};
use voxshell::math::{Pose, Rotation, Twist, Vec3};
use voxshell::mesh::primitives;
use voxshell::Result;

use super::super::pairs::place;
use super::super::random::Random;
use super::super::row::Row;
use super::{supported, Effort};
use crate::haptics_demo::kitchen::Kitchen;
use crate::haptics_demo::session::{RendererName, LIMITS, STEP};
use crate::haptics_demo::stage::SceneName;

/// m/s and rad/s.
const FASTEST: [f64; 2] = [5.0, 20.0];
/// Depth from which on a sample counts as penetrating, metres.
const DEEP: f64 = 1e-6;
/// Between two steps the tool is looked at so many times, and may be this deep, metres: what lies between two poses is ours to
/// guess. Everything that could be passed through is several times as thick.
const BETWEEN: (u32, f64) = (8, 1e-4);

/// What is pushed against what.
struct Place {
    name: &'static str,
    tool: haptics::Tool,
    obstacle: Obstacle,
    /// Where nothing is touched.
    start: Pose,
}

impl Place {
    fn of_scene(scene: SceneName, kitchen: &Kitchen) -> Result<Self> {
        let mut stage = scene.build(kitchen)?;
        let start = stage.motion.at(0.0).0;
        Ok(Self { name: scene.name(), tool: stage.tool, obstacle: stage.obstacles.remove(0), start })
    }

    /// A blob over a sheet of 1 mm, which it passes in a fifth of a step.
    fn sheet(kitchen: &Kitchen) -> Result<Self> {
        let tool = kitchen.tool("blob", &primitives::blob(2)?.scaled_to_extent(0.08), 2_000)?.tool;
        let sheet = Field::Cuboid(Cuboid::new([0.1, 0.0005, 0.1])?);
        let obstacle = Obstacle::fixed(Forms { field: Some(Arc::new(sheet)), ..Forms::default() }, Pose::identity());
        Ok(Self { name: "sheet", tool, obstacle, start: Pose::translation(0.0, 0.06, 0.0) })
    }

    /// φ of the tool's deepest sample, where it is less than `limit`, metres.
    fn least(&self, tool: &Pose, limit: f64, workspace: &mut Workspace) -> Result<Option<f64>> {
        let (a, b) = (self.tool.forms.geometry(), self.obstacle.forms.geometry());
        let found = contact::distance(a, tool, b, &self.obstacle.pose, Roles::ShellOfA, limit, workspace)?;
        Ok(found.map(|c| c.separation))
    }
}

/// A hand that goes from one place to another, each at a speed of its own.
struct Wander {
    random: Random,
    around: (Vec3, Vec3),
    pose: Pose,
    wanted: Pose,
    speed: [f64; 2],
}

impl Wander {
    fn new(place: &Place, seed: u64) -> Self {
        let bounds = place
            .obstacle
            .forms
            .field
            .as_ref()
            .map(|f| f.bounds().inflated(0.03))
            .unwrap_or_else(voxshell::math::Aabb::empty);
        let around = (bounds.center(), bounds.extents());
        Self { random: Random::new(seed), around, pose: place.start, wanted: place.start, speed: FASTEST }
    }

    /// Another step.
    fn next(&mut self) -> DeviceState {
        let far = |wanted: &Pose, pose: &Pose| (wanted.translation.vector - pose.translation.vector).norm();
        if far(&self.wanted, &self.pose) < 1e-3 {
            let (center, extents) = self.around;
            let to = center + place(&mut self.random).component_mul(&extents);
            self.wanted = Pose::from_parts(to.into(), self.random.rotation());
            self.speed = FASTEST.map(|most| most * (0.1 + 0.9 * self.random.next()));
        }
        let way = self.wanted.translation.vector - self.pose.translation.vector;
        let turn = (self.wanted.rotation * self.pose.rotation.inverse()).scaled_axis();
        let within = |v: Vec3, speed: f64| v / STEP * (speed * STEP / v.norm().max(1e-12)).min(1.0);
        let twist = Twist { linear: within(way, self.speed[0]), angular: within(turn, self.speed[1]) };
        let rotation = Rotation::from_scaled_axis(twist.angular * STEP) * self.pose.rotation;
        self.pose = Pose::from_parts((self.pose.translation.vector + twist.linear * STEP).into(), rotation);
        DeviceState { pose: self.pose, twist, engaged: true }
    }
}

pub fn rows(kitchen: &Kitchen, effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    let of = |scene: SceneName| Place::of_scene(scene, kitchen);
    let places: [Result<Place>; 6] = [
        Place::sheet(kitchen),
        of(SceneName::Alpha),
        of(SceneName::HorseDragon),
        of(SceneName::Peg),
        of(SceneName::Wires),
        of(SceneName::Cylinders),
    ];
    let each = effort.steps.div_ceil(places.len());
    for (seed, place) in (1..).zip(places) {
        pushed(&place?, each, seed, rows)?;
    }
    Ok(())
}

fn pushed(place: &Place, count: usize, seed: u64, rows: &mut Vec<Row>) -> Result<()> {
    let settings = Settings::for_tool(RendererName::GodObject.renderer(), &place.tool, &LIMITS)?;
    let made = haptics::new(settings, place.tool.clone(), vec![place.obstacle.clone()]);
    let Some((mut servo, mut simulation)) = supported("pushes", made)? else { return Ok(()) };
    let mut workspace = Workspace::new();
    let mut wander = Wander::new(place, seed);
    let (mut penetrating, mut tunnelled, mut touching, mut deepest) = (0u32, 0u32, 0usize, 0.0f64);
    let mut before = place.start;
    for _ in 0..count {
        servo.step(&wander.next(), STEP);
        touching += usize::from(simulation.simulate().contacts > 0);
        let tool = servo.tool_pose();
        if let Some(least) = place.least(&tool, -DEEP, &mut workspace)? {
            penetrating += 1;
            deepest = deepest.max(-least);
        }
        for k in 1..BETWEEN.0 {
            let share = f64::from(k) / f64::from(BETWEEN.0);
            let turn = (tool.rotation * before.rotation.inverse()).scaled_axis();
            let way = tool.translation.vector - before.translation.vector;
            let rotation = Rotation::from_scaled_axis(turn * share) * before.rotation;
            let between = Pose::from_parts((before.translation.vector + way * share).into(), rotation);
            if place.least(&between, -BETWEEN.1, &mut workspace)?.is_some() {
                tunnelled += 1;
                break;
            }
        }
        before = tool;
    }
    for (name, value) in [("penetrating", penetrating), ("tunnelled", tunnelled)] {
        let row = Row::new(format!("haptics/pushes/{}/{name}", place.name), f64::from(value), "pushes").target(0.0);
        rows.push(row.with("pushes", count).with("touching", touching).with("deepest_m", deepest));
    }
    Ok(())
}
