//! The scenes: Figs 6, 7, 8, 10, 11 and 12 of Xu & Barbič 2016, and a scene without contact.

use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

use clap::ValueEnum;
use voxshell::field::{Field, SignedDistance};
use voxshell::haptics::{Obstacle, Tool};
use voxshell::math::{Aabb, Pose, Rotation, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::Result;

use super::asset_cache::{AssetCache, Cooked};
use super::landing_gear::{self, joined};
use super::motion::{placing, Motion};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SceneName {
    /// A leg of one alpha through the loop of the other (Fig 6 a).
    Alpha,
    /// A dragon slides over a horse (Fig 6 b).
    HorseDragon,
    /// A hole over a peg of its size (Fig 7).
    Peg,
    /// The same with a peg thicker by 0.1 voxel, which does not fit (Fig 7).
    TightPeg,
    /// An actuator into a landing gear, through thin wires, slowly and at speed (Figs 6 c, 8, 12).
    Wires,
    /// A cylinder against three fixed ones in its path (Fig 11).
    Cylinders,
    /// No obstacle within reach.
    Free,
}

/// Everything that a run needs from a scene.
pub struct Stage {
    pub scene: SceneName,
    pub tool: Tool,
    pub obstacles: Vec<Obstacle>,
    pub motion: Motion,
    /// Edge of the field's voxels, metres.
    pub voxel: f64,
    /// Field of the tool, for pictures.
    pub drawn: Arc<Field>,
    /// Direction of the camera.
    pub from: Vec3,
    /// Centre and extent of the picture, metres.
    pub middle: Vec3,
    pub around: f64,
    beyond: Option<Beyond>,
}

/// A region that is only reachable through a solid: a direction, and the largest allowed coordinate of the tool's
/// points along it.
struct Beyond {
    direction: Vec3,
    /// Largest coordinate, metres.
    most: f64,
    /// Points in the tool's frame. The tool is beyond if all of them are.
    points: Vec<Vec3>,
    /// Largest distance of their middle from the line through the origin along the direction, metres.
    aside: f64,
}

impl Beyond {
    /// Returns the region for the tool's centre of mass, at any distance from the line.
    fn of_center(stage: &Stage, direction: Vec3, most: f64) -> Self {
        Self { direction, most, points: vec![stage.tool.center], aside: f64::INFINITY }
    }

    fn has(&self, tool: &Pose) -> bool {
        let placed = || self.points.iter().map(|p| tool.transform_point(&(*p).into()).coords);
        let middle = placed().sum::<Vec3>() / self.points.len() as f64;
        placed().all(|p| p.dot(&self.direction) > self.most) && middle.cross(&self.direction).norm() < self.aside
    }
}

impl SceneName {
    pub const ALL: [Self; 7] =
        [Self::Alpha, Self::HorseDragon, Self::Peg, Self::TightPeg, Self::Wires, Self::Cylinders, Self::Free];

    /// Returns the name on the command line and in rows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alpha => "alpha",
            Self::HorseDragon => "horse-dragon",
            Self::Peg => "peg",
            Self::TightPeg => "tight-peg",
            Self::Wires => "wires",
            Self::Cylinders => "cylinders",
            Self::Free => "free",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Alpha => "Alpha puzzle",
            Self::HorseDragon => "Horse and dragon",
            Self::Peg => "Peg in hole",
            Self::TightPeg => "Peg in a hole that is too tight",
            Self::Wires => "Thin wires",
            Self::Cylinders => "Three cylinders",
            Self::Free => "Free space",
        }
    }

    /// Returns the description of the scene and its expected result.
    pub fn text(self) -> &'static str {
        match self {
            Self::Alpha => {
                "A leg of the red alpha is put through the loop of the other, pressed against it from all sides and drawn out \
                 again: Fig 6 a of Xu & Barbič 2016, 25,269 samples against a field of 512 cells."
            }
            Self::HorseDragon => {
                "The dragon is set down on the horse's back and drawn along it: Fig 6 b, 7,537 samples against a field of 256 \
                 cells."
            }
            Self::Peg => {
                "A block with a hole is put over a standing peg, down to its middle, turned, pushed aside and lifted off: Fig 7, \
                 6,691 samples against a field of 64 cells. The hole is wider than the peg by a twentieth of a voxel."
            }
            Self::TightPeg => {
                "The same with a peg that is thicker by a tenth of a voxel. It does not fit: a renderer that lets it in shows a \
                 path that does not exist."
            }
            Self::Wires => {
                "A hydraulic actuator is pressed into a net of wires two voxels wide, slowly, and then thrown at it at 2.5 m/s: \
                 Figs 6 c, 8 and 12, 3,426 samples against a field of 1,024 cells in bricks. It must never get behind the net."
            }
            Self::Cylinders => {
                "A thin cylinder is driven against three fixed ones in its path, at 4 m/s: Fig 11. A renderer that tests only the \
                 ends of steps gets stuck or passes through."
            }
            Self::Free => "The actuator is moved in free space. It shows no force, and the cost of a step without contacts.",
        }
    }

    pub fn build(self, assets: &AssetCache) -> Result<Stage> {
        let mut stage = match self {
            Self::Alpha => alpha(assets)?,
            Self::HorseDragon => horse_dragon(assets)?,
            Self::Peg => peg(self, assets, 0.0)?,
            Self::TightPeg => peg(self, assets, 0.1)?,
            Self::Wires => wires(assets)?,
            Self::Cylinders => cylinders(assets)?,
            Self::Free => free(assets)?,
        };
        // The same pushing in less time, for tests.
        stage.motion = stage.motion.slower(if assets.quick { 0.1 } else { 1.0 });
        Ok(stage)
    }
}

impl Stage {
    fn new(scene: SceneName, cooked: Cooked, obstacle: Obstacle, motion: Motion) -> Self {
        let field = obstacle.forms.field.as_deref();
        let voxel = field.and_then(Field::gridded).map_or(0.0, |g| f64::from(g.grid.spacing));
        let bounds = field.map_or_else(Aabb::empty, SignedDistance::bounds);
        let Cooked { tool, drawn } = cooked;
        Self {
            scene,
            tool,
            obstacles: vec![obstacle],
            motion,
            voxel,
            drawn,
            from: Vec3::new(0.5, 0.5, 1.0),
            middle: bounds.center(),
            around: 0.5 * bounds.extents().norm(),
            beyond: None,
        }
    }

    /// Returns true if the tool is at a pose that is only reachable through a solid.
    pub fn is_beyond(&self, tool: &Pose) -> bool {
        self.beyond.as_ref().is_some_and(|beyond| beyond.has(tool))
    }

    /// Returns the cells of the obstacle along its largest edge.
    pub fn cells(&self) -> u32 {
        let field = self.obstacles[0].forms.field.as_deref();
        field.map_or(0, |f| (f.bounds().extents().max() / self.voxel).round() as u32)
    }

    pub fn samples(&self) -> usize {
        self.tool.forms.shell.as_ref().map_or(0, |shell| shell.len())
    }
}

/// Returns the rotation about an axis by a fraction of a turn.
fn turned(axis: Vec3, turns: f64) -> Rotation {
    Rotation::from_scaled_axis(axis * (2.0 * PI * turns))
}

/// Returns the shortest rotation from one direction to another; they must not be opposite.
fn onto(from: &Vec3, to: &Vec3) -> Rotation {
    Rotation::rotation_between(from, to).unwrap_or_else(|| turned(Vec3::x(), 0.5))
}

/// The bodies of the alpha puzzle, and their characteristic points.
struct Alphas {
    tool: TriMesh,
    fixed: TriMesh,
    /// End of the tool's leg, and the direction in which it points.
    tip: (Vec3, Vec3),
    /// Centre of the fixed loop, and the direction through it.
    eye: (Vec3, Vec3),
    /// Clearance between leg and loop, metres.
    room: f64,
}

impl Alphas {
    fn new(assets: &AssetCache) -> Result<Self> {
        let files = (assets.mesh("alpha_puzzle_robot.obj")?, assets.mesh("alpha_puzzle_env15.obj")?);
        if let (Some(robot), Some(env)) = files {
            // The files are assumed to be in millimetres, for a puzzle of the size of a hand.
            let scale = 1e-3;
            return Ok(Self {
                tip: (Vec3::new(168.2, 15.8, -49.7) * scale, Vec3::new(0.946, -0.264, -0.187).normalize()),
                eye: (Vec3::new(-82.9, 51.4, 15.3) * scale, Vec3::new(0.236, 0.901, -0.365).normalize()),
                tool: robot.scaled(scale),
                fixed: env.scaled(scale),
                room: 0.018,
            });
        }
        let (radius, leg, rise, thickness) = (0.045, 0.12, 0.035, 0.011);
        let line = primitives::alpha_line(radius, leg, rise)?;
        let mesh = primitives::alpha(radius, leg, rise, thickness, 48)?;
        let tip = (line[0], (line[0] - line[1]).normalize());
        let room = radius - 2.0 * thickness;
        Ok(Self { tool: mesh.clone(), fixed: mesh, tip, eye: (Vec3::zeros(), Vec3::y()), room })
    }
}

fn alpha(assets: &AssetCache) -> Result<Stage> {
    let alphas = Alphas::new(assets)?;
    let cooked = assets.tool("alpha-tool", &alphas.tool, 25_269)?;
    let obstacle = assets.obstacle("alpha", &alphas.fixed, 512)?;
    let ((tip, leg), (eye, through)) = (alphas.tip, alphas.eye);
    let down = onto(&leg, &-through);
    let side = through.cross(&Vec3::x()).normalize();
    let other = through.cross(&side);
    // The tip at this height above the eye, displaced sideways, turned about the direction through it.
    let at = |above: f64, aside: Vec3, turns: f64| {
        placing(tip, eye + through * above + aside, turned(through, turns) * down)
    };
    let push = alphas.room + 0.02;
    let mut motion = Motion::from(at(0.06, Vec3::zeros(), 0.0)).to(0.6, at(-0.03, Vec3::zeros(), 0.0));
    // Around the inside of the loop, with the target 2 cm inside it, while it turns.
    for quarter in 0..=4 {
        let (sin, cos) = (f64::from(quarter) * FRAC_PI_2).sin_cos();
        motion = motion.to(0.35, at(-0.03, (side * cos + other * sin) * push, 0.02 * f64::from(quarter)));
    }
    // In up to the thick section, tilted over, and out.
    let tilted = placing(tip, eye - through * 0.04 + side * push, turned(other, 0.06) * down);
    motion =
        motion.to(0.3, at(-0.05, Vec3::zeros(), 0.0)).to(0.4, tilted).rest(0.1).to(0.8, at(0.06, Vec3::zeros(), 0.0));
    let stage = Stage::new(SceneName::Alpha, cooked, obstacle, motion);
    let (from, middle) = (through + side * 0.9 + other * 0.8, stage.middle + through * 0.06);
    Ok(Stage { from, middle, around: 1.3 * stage.around, ..stage })
}

fn horse_dragon(assets: &AssetCache) -> Result<Stage> {
    let horse = match assets.mesh("horse_48k.obj")? {
        // Upright: the file has up along z.
        Some(horse) => horse.scaled_to_extent(0.4).transformed(&Pose::rotation(-Vec3::x() * FRAC_PI_2), 1.0),
        None => primitives::torus_knot(2, 3, 0.3, 0.085, 256, 32)?.scaled_to_extent(0.4),
    };
    let dragon = match assets.mesh("dragon_10k_open.obj")? {
        Some(dragon) => dragon.scaled_to_extent(0.2),
        None => primitives::blob(3)?.scaled_to_extent(0.2),
    };
    let cooked = assets.tool("dragon", &dragon, 7_537)?;
    let obstacle = assets.obstacle("horse", &horse, 256)?;
    let (box_, feet) = (horse.bounds(), dragon.bounds());
    // The lowest point of the dragon above the horse's back, which runs along its longer side; height relative to its
    // box.
    let along = if box_.extents().x > box_.extents().z { Vec3::x() } else { Vec3::z() };
    let across = Vec3::y().cross(&along);
    let foot = Vec3::new(feet.center().x, feet.min.y, feet.center().z);
    let top = Vec3::new(box_.center().x, box_.max.y, box_.center().z);
    let at = |along_by: f64, across_by: f64, above: f64, turns: f64| {
        placing(foot, top + along * along_by + across * across_by + Vec3::y() * above, turned(Vec3::y(), turns))
    };
    // Behind the head, which is at the front, at the height of the back.
    let deep = -0.42 * box_.extents().y;
    let back = 0.04;
    let motion = Motion::from(at(back, 0.0, 0.0, 0.0))
        .to(0.8, at(back, 0.0, deep, 0.0))
        .rest(0.1)
        .to(0.8, at(back + 0.07, 0.01, deep, 0.05))
        .to(0.8, at(back - 0.03, -0.015, deep, -0.05))
        .to(0.4, at(back, 0.03, deep, 0.1))
        .to(0.6, at(back, 0.03, 0.02, 0.0));
    let stage = Stage::new(SceneName::HorseDragon, cooked, obstacle, motion);
    let (from, middle) = (across + Vec3::y() * 0.4 + along * 0.5, stage.middle + Vec3::y() * 0.05);
    Ok(Stage { from, middle, around: 1.1 * stage.around, ..stage })
}

/// Size of the peg, metres: radius, length and chamfer. The field has 64 cells along it.
const PEG: (f64, f64) = (0.02, 0.16);
const CHAMFER: f64 = 0.004;
const PEG_VOXEL: f64 = PEG.1 / 64.0;

fn peg(scene: SceneName, assets: &AssetCache, thicker: f64) -> Result<Stage> {
    let clearance = 0.05 * PEG_VOXEL;
    let peg = primitives::peg(PEG.0 + thicker * PEG_VOXEL, PEG.1, CHAMFER, 256)?;
    let block = primitives::hole([0.04, 0.025, 0.04], PEG.0 + clearance, 256)?;
    let cooked = assets.tool("block", &block, 6_691)?;
    // Always at full resolution, because the fit depends on a fraction of a voxel.
    let obstacle = AssetCache { quick: false, voxmaps: assets.voxmaps, cache: assets.cache.clone(), meshes: None }
        .obstacle(scene.name(), &peg, 64)?;
    let at =
        |x: f64, y: f64, turn: Vec3| Pose::from_parts(Vec3::new(x, y, 0.0).into(), Rotation::from_scaled_axis(turn));
    let up = 0.5 * PEG.1 + 0.025;
    let motion = Motion::from(at(0.003, up + 0.01, Vec3::new(0.0, 0.0, 0.03)))
        // Down beside the middle, into the chamfer, over the centre and down.
        .to(0.3, at(0.003, up - 0.006, Vec3::new(0.0, 0.0, 0.03)))
        .to(0.2, at(0.0, up - 0.01, Vec3::zeros()))
        .to(0.8, at(0.0, 0.0, Vec3::zeros()))
        .rest(0.1)
        // At the bottom it is turned, pushed aside and tilted.
        .to(0.3, at(0.0, 0.0, Vec3::y() * 0.5))
        .to(0.2, at(0.008, 0.0, Vec3::y() * 0.5))
        .to(0.3, at(-0.008, 0.0, Vec3::new(0.0, 0.5, 0.1)))
        .to(0.2, at(0.0, 0.0, Vec3::zeros()))
        .to(0.8, at(0.0, up + 0.01, Vec3::zeros()));
    // The hole may pass the chamfer but go no farther with its whole rim around the peg. It may tip over the end, one
    // side still on the chamfer and the other far down, and slip off beside the peg.
    let rim = |i: u32| {
        let (sin, cos) = (2.0 * PI * f64::from(i) / 32.0).sin_cos();
        Vec3::new(cos, 0.0, sin) * (PEG.0 + clearance) - Vec3::y() * 0.025
    };
    let beyond = (thicker > 0.0).then(|| Beyond {
        direction: -Vec3::y(),
        most: -(0.5 * PEG.1 - CHAMFER - 0.002),
        points: (0..32).map(rim).collect(),
        aside: PEG.0,
    });
    let stage = Stage::new(scene, cooked, obstacle, motion);
    let (from, middle) = (Vec3::new(0.6, 0.55, 1.0), stage.middle + Vec3::y() * 0.02);
    Ok(Stage { from, middle, around: 1.15 * stage.around, beyond, ..stage })
}

/// Returns the scene of the wires, which are two voxels of 1,024 wide, with a field of so many cells (Fig 8).
pub fn wires_at(assets: &AssetCache, cells: u32) -> Result<Stage> {
    let mut stage = wires_in(assets, cells)?;
    stage.motion = stage.motion.slower(if assets.quick { 0.1 } else { 1.0 });
    Ok(stage)
}

/// Returns the scene of the peg with a peg that is thinner than the hole by `room` voxels (Fig 13).
pub fn tight_peg(assets: &AssetCache, room: f64) -> Result<Stage> {
    let mut stage = peg(SceneName::TightPeg, assets, 0.05 - room)?;
    stage.motion = stage.motion.slower(if assets.quick { 0.1 } else { 1.0 });
    Ok(stage)
}

fn wires(assets: &AssetCache) -> Result<Stage> {
    wires_in(assets, 1024)
}

fn wires_in(assets: &AssetCache, field_cells: u32) -> Result<Stage> {
    // Wires stay two voxels wide at coarser resolutions.
    let cells = assets.cells(1024);
    let gear = landing_gear::landing_gear(landing_gear::HEIGHT / f64::from(cells))?;
    let actuator = primitives::actuator(0.01, 0.12, 48)?;
    let cooked = assets.tool("actuator", &actuator, 3_426)?;
    let obstacle = assets.obstacle("landing-gear", &gear, field_cells)?;
    let lying = turned(Vec3::z(), 0.2);
    let at = |y: f64, z: f64, turn: Rotation| Pose::from_parts(Vec3::new(0.01, y, z).into(), turn * lying);
    let front = landing_gear::NET + 0.05;
    let motion = Motion::from(at(0.08, front, Rotation::identity()))
        // Slowly, 15 mm into the net, along it and back.
        .to(0.5, at(0.08, landing_gear::NET - 0.015, Rotation::identity()))
        .to(0.5, at(0.13, landing_gear::NET - 0.015, turned(Vec3::y(), 0.03)))
        .to(0.4, at(0.1, front, Rotation::identity()))
        .rest(0.1)
        // At speed: 12 cm in 90 ms. The peak is 2.5 m/s, at the net.
        .to(0.09, at(0.1, front - 0.12, Rotation::identity()))
        .rest(0.2)
        .to(0.3, at(0.06, front - 0.09, turned(Vec3::x(), 0.04)))
        .to(0.5, at(0.08, front, Rotation::identity()));
    let (from, middle) = (Vec3::new(0.9, 0.3, 0.8), Vec3::new(0.0, 0.08, 0.5 * landing_gear::NET));
    let stage = Stage::new(SceneName::Wires, cooked, obstacle, motion);
    let beyond = Beyond::of_center(&stage, -Vec3::z(), -landing_gear::NET);
    Ok(Stage { from, middle, around: 0.2, beyond: Some(beyond), ..stage })
}

fn cylinders(assets: &AssetCache) -> Result<Stage> {
    let standing =
        |x: f64| Ok(primitives::cylinder(0.004, 0.06, 48)?.transformed(&Pose::translation(x, 0.0, 0.0), 1.0));
    let three = joined(&[-0.035, 0.0, 0.035].into_iter().map(standing).collect::<Result<Vec<_>>>()?)?;
    let lying = primitives::cylinder(0.003, 0.06, 48)?;
    let cooked = assets.tool("cylinder", &lying, 3_000)?;
    let obstacle = assets.obstacle("cylinders", &three, 256)?;
    let at = |y: f64, z: f64, tilt: f64| {
        Pose::from_parts(Vec3::new(0.0, y, z).into(), turned(Vec3::z(), 0.25) * turned(Vec3::x(), tilt))
    };
    let motion = Motion::from(at(0.0, 0.08, 0.0))
        .to(0.5, at(0.0, -0.01, 0.0))
        .to(0.3, at(0.02, -0.01, 0.02))
        .to(0.4, at(0.02, 0.06, 0.0))
        // 12 cm in 56 ms: 4 m/s.
        .to(0.056, at(0.02, -0.06, 0.0))
        .rest(0.3)
        .to(0.3, at(-0.01, -0.05, -0.03))
        .to(0.5, at(0.0, 0.08, 0.0));
    let from = Vec3::new(0.7, 0.6, 1.0);
    let stage = Stage::new(SceneName::Cylinders, cooked, obstacle, motion);
    let beyond = Beyond::of_center(&stage, -Vec3::z(), 0.0);
    Ok(Stage { from, beyond: Some(beyond), ..stage })
}

fn free(assets: &AssetCache) -> Result<Stage> {
    let actuator = primitives::actuator(0.01, 0.12, 48)?;
    let far = primitives::sphere(0.05, 4)?.transformed(&Pose::translation(0.0, 0.0, -0.3), 1.0);
    let cooked = assets.tool("actuator", &actuator, 3_426)?;
    let obstacle = assets.obstacle("ball", &far, 128)?;
    let at = |x: f64, y: f64, z: f64, turns: f64| {
        Pose::from_parts(Vec3::new(x, y, z).into(), turned(Vec3::new(0.6, 0.0, 0.8), turns))
    };
    let motion = Motion::from(at(0.0, 0.0, 0.0, 0.0))
        .to(0.3, at(0.15, 0.1, 0.05, 0.3))
        .to(0.3, at(-0.1, 0.15, -0.05, 0.6))
        .to(0.15, at(-0.1, -0.15, 0.1, 0.4))
        .to(0.25, at(0.0, 0.0, 0.0, 0.0));
    let stage = Stage::new(SceneName::Free, cooked, obstacle, motion);
    Ok(Stage { middle: Vec3::zeros(), around: 0.25, ..stage })
}
