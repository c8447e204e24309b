//! Haptic scenes of a block with a studded bottom over a floor.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use voxshell::field::{Field, Grid, HalfSpace};
use voxshell::haptics::{self, DeviceState, Forms, Limits, Obstacle, Renderer, Servo, Settings, Simulation, Tool};
use voxshell::math::{Pose, Progress, Twist};
use voxshell::mesh::primitives;
use voxshell::pointshell::{PointShell, ShellOptions};
use voxshell::voxmap::{Offset, VoxelGrid, VoxelModel, Voxmap};

pub const NO_LIMITS: Limits =
    Limits { force: f64::INFINITY, torque: f64::INFINITY, stiffness: [f64::INFINITY; 2], damping: [f64::INFINITY; 2] };

pub const DEVICE: Limits = Limits { force: 8.0, torque: 0.4, stiffness: [2000.0, 20.0], damping: [20.0, 0.2] };

/// Returns a block of 4 cm and 0.1 kg whose bottom, at y = 0 of its frame, has side × side samples.
pub fn block(side: usize) -> Tool {
    let at = |i: usize| if side == 1 { 0.0 } else { 0.04 * (i as f64 / (side - 1) as f64 - 0.5) };
    let points: Vec<[f64; 3]> = (0..side * side).map(|n| [at(n % side), 0.0, at(n / side)]).collect();
    let normals = vec![[0.0, -1.0, 0.0]; points.len()];
    let shell = PointShell::from_samples(&points, &normals, &ShellOptions::default()).unwrap();
    Tool {
        forms: Forms { shell: Some(Arc::new(shell)), ..Forms::default() },
        center: Vector3::new(0.0, 0.02, 0.0),
        mass: 0.1,
        inertia: Matrix3::from_diagonal_element(0.1 * 0.04 * 0.04 / 6.0),
    }
}

/// Returns the half-space y ≤ 0, with voxels of 2 mm within 10 cm.
pub fn floor() -> Obstacle {
    floor_of(0.002, 101)
}

/// Returns the half-space y ≤ 0, with voxels of this edge: `across` along x and z, and eleven on each side of y = 0.
pub fn floor_of(voxel: f32, across: u32) -> Obstacle {
    let half_space = HalfSpace::new(Vector3::y(), 0.0).unwrap();
    let corner = -0.5 * voxel * (across + 7) as f32;
    let nodes = Grid { min: [corner, -14.5 * voxel, corner], spacing: voxel, dims: [across + 8, 26, across + 8] };
    let grid = VoxelGrid::new(nodes, Vector3::zeros()).unwrap();
    // The half-space as far as the grid goes, but for room around it.
    let half = 0.5 * f64::from(voxel) * f64::from(across);
    let slab = primitives::cuboid([half, 5.0 * f64::from(voxel), half]).unwrap();
    let slab = slab.transformed(&Pose::translation(0.0, -5.0 * f64::from(voxel), 0.0), 1.0);
    let model = VoxelModel::on_grid(&slab, grid, 1 << 30, &Progress::none()).unwrap();
    let voxmap = Arc::new(Voxmap::new(&model, Offset::MCNEELY).unwrap());
    let forms = Forms { field: Some(Arc::new(Field::HalfSpace(half_space))), voxmap: Some(voxmap), ..Forms::default() };
    Obstacle::fixed(forms, Pose::identity())
}

pub fn on_floor(renderer: Renderer, side: usize, adjust: impl FnOnce(&mut Settings)) -> (Servo, Simulation) {
    let tool = block(side);
    let mut settings = Settings::for_tool(renderer, &tool, &DEVICE).unwrap();
    adjust(&mut settings);
    haptics::new(settings, tool, vec![floor()]).unwrap()
}

/// Returns the device state with the block's bottom at this height, at rest, in the hand.
pub fn at_height(y: f64) -> DeviceState {
    DeviceState { pose: Pose::translation(0.0, y, 0.0), twist: Twist::ZERO, engaged: true }
}
