//! Forces of samples in voxels: the tangent-plane force of McNeely, Puterbaugh & Troy (1999) and the penalty of
//! Sagardia, Stouraitis & Lopes e Silva (2014).

use super::gather::{Law, Pair, Part, Touch};
use super::{Body, Kinematics, Response};
use voxshell_base::math::{Pose, RigidF32, Vec3};
use voxshell_base::memory::GrowGuarded;
use voxshell_field::{Field, SignedDistance};
use voxshell_pointshell::PointShell;
use voxshell_voxmap::{DistanceMap, LayerMap, VoxelGrid, VoxelType, Voxmap};

/// Scratch memory: one per thread, grown on first use. Warm calls do not allocate.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    open: Vec<u32>,
    /// Position, outward normal and speed of approach of the samples to brake.
    braked: Vec<(Vec3, Vec3, f64)>,
}

impl Workspace {
    pub fn new() -> Self {
        Self::default()
    }
}

/// Which of the two bodies a response is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The body with the pointshell.
    Shell,
    /// The body with the voxels.
    Voxels,
}

/// Braking of an approach in the proximity layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Braking {
    None,
    /// Coefficient b of each sample, N·s/m.
    Viscosity(f64),
    /// b is chosen so that the power of all braking forces removes the kinetic energy of the body's translation along
    /// their sum in one step: `mass` in kg, `dt` in seconds (McNeely et al. 1999, section 5.3).
    InOneStep {
        mass: f64,
        dt: f64,
    },
}

/// Parameters of the tangent-plane force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VpsSettings {
    /// Stiffness of each sample in the force layer, N/m.
    pub stiffness: f64,
    /// Damping as in [`PenaltySettings`](super::PenaltySettings); 0 in the paper.
    pub damping: f64,
    /// Number of samples in the force layer from which forces are averaged: 10 in the paper.
    pub average_from: u32,
    pub braking: Braking,
    /// Whether samples inside the force layer are pushed as at its full depth, with k s/2 each, averaged among
    /// themselves. In the paper they get no force: what passes the layer is lost.
    pub interior: bool,
}

impl VpsSettings {
    /// Returns the settings of the paper, without braking.
    pub fn new(stiffness: f64) -> Self {
        Self { stiffness, damping: 0.0, average_from: 10, braking: Braking::None, interior: false }
    }
}

/// Response and numbers of samples by layer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VpsResponse {
    /// Sum of the three below, the first two averaged. Exactly zero while all samples are in free voxels.
    pub response: Response,
    /// Sum over the samples in the force layer.
    pub layer: Response,
    /// Sum over the samples inside the force layer.
    pub inside: Response,
    /// Sum over the braked samples.
    pub braking: Response,
    /// Samples in the force layer.
    pub surface: u32,
    /// Samples inside the force layer: the body was faster, or pushed harder, than the layer can resist.
    pub interior: u32,
    /// Samples in the proximity layer.
    pub proximity: u32,
    /// Number of proximity samples that were braked.
    pub braked: u32,
}

/// Computes the tangent-plane force (McNeely, Puterbaugh & Troy 1999, sections 3 and 5). A sample in the force layer
/// is pushed along its inward normal by k d. d is its distance beyond the plane through the voxel's centre,
/// perpendicular to its normal, and at most half a voxel: a coupling force that is clamped at s/2 does not drag it
/// through. The voxmap defines the force layer; with [`Offset::MCNEELY`](voxshell_voxmap::Offset::MCNEELY) no surfaces
/// touch while no sample is inside the layer. From `settings.average_from` samples on, forces are averaged.
///
/// A sample in the proximity layer that approaches is braked by F = −b n (n·v), n its outward normal. A sample
/// that recedes is not braked, so that surfaces are not sticky. (The paper's force is −b v (n·v)/|v|: it also brakes
/// the sliding along a surface, with all of its kinetic energy for the least approach.) While all samples are in free
/// voxels the response is exactly zero.
///
/// `field`, of the same body as the voxels, prunes the sphere tree: a node is left out when the field is certainly
/// above the layers everywhere in it. Without a field every sample is tested.
pub fn vps(
    voxmap: &Voxmap,
    voxels: &Body,
    shell: &Body,
    role: Role,
    settings: &VpsSettings,
    workspace: &mut Workspace,
) -> VpsResponse {
    let mut found = VpsResponse::default();
    let Some(points) = shell.geometry.shell else { return found };
    let Workspace { open, braked } = workspace;
    braked.clear();
    let pass = Pass::new(points, shell, voxels, voxmap.grid());
    let law = Law { stiffness: settings.stiffness, damping: settings.damping, drag: 0.0 };
    let layers = voxmap.offset().layers + voxmap.offset().proximity;
    let half = 0.5 * f64::from(voxmap.grid().voxel_size());
    pass.each(voxels.geometry.field, layers, open, |sample, p| match voxmap.at(p) {
        VoxelType::Free => {}
        VoxelType::Interior => {
            found.interior += 1;
            if settings.interior {
                let (mut touch, _) = pass.tangent(sample, p);
                // The gradient is that of the layer, to which the sample returns: it steadies implicit steps.
                (touch.depth, touch.center) = (half, touch.point);
                touch.add(&law, f64::INFINITY, &pass, role, &mut found.inside);
            }
        }
        VoxelType::Surface => {
            found.surface += 1;
            let (mut touch, outward) = pass.tangent(sample, p);
            touch.depth = (touch.point - touch.center).dot(&outward);
            if touch.depth > 0.0 {
                touch.add(&law, half, &pass, role, &mut found.layer);
            }
        }
        VoxelType::Proximity => {
            found.proximity += 1;
            let (touch, outward) = pass.tangent(sample, p);
            let arm = touch.point - pass.shell.center;
            let v = pass.shell.twist.at(&arm) - pass.voxels.twist.at(&(touch.point - pass.voxels.center));
            let approach = v.dot(&outward);
            if approach > 0.0 && settings.braking != Braking::None {
                braked.push_guarded((touch.point, outward, approach));
            }
        }
    });
    found.braked = braked.len() as u32;
    let viscosity = viscosity(settings.braking, braked, &pass);
    for (point, outward, _) in braked.iter() {
        brake(&pass, role, point, outward, viscosity, &mut found.braking);
    }
    let share = |count: u32| match count > settings.average_from {
        true => f64::from(settings.average_from) / f64::from(count),
        false => 1.0,
    };
    found.response = found.layer.scaled(share(found.surface));
    found.response += found.inside.scaled(share(found.interior));
    found.response += found.braking;
    found
}

/// Returns the braking coefficient b.
fn viscosity(braking: Braking, braked: &[(Vec3, Vec3, f64)], pass: &Pass) -> f64 {
    match braking {
        Braking::None => 0.0,
        Braking::Viscosity(b) => b,
        Braking::InOneStep { mass, dt } => {
            let power: f64 = braked.iter().map(|(.., approach)| approach * approach).sum();
            let along: Vec3 = braked.iter().map(|(_, outward, approach)| outward * *approach).sum();
            let v = pass.shell.twist.linear - pass.voxels.twist.linear;
            match along.try_normalize(0.0) {
                Some(along) if power > 0.0 => 0.5 * mass * v.dot(&along).powi(2) / (dt * power),
                _ => 0.0,
            }
        }
    }
}

/// Adds the force −b n (n·v) of a sample, and its gradients with b held.
fn brake(pass: &Pass, role: Role, point: &Vec3, outward: &Vec3, b: f64, sum: &mut Response) {
    let touch = Touch {
        point: *point,
        depth: 0.0,
        gradient: Vec3::zeros(),
        push: -outward,
        turns_with_sample: true,
        depth_by_turn: Vec3::zeros(),
    };
    let law = Law { stiffness: 0.0, damping: b, drag: 0.0 };
    law.add(&touch, &pass.pair(), role.part(), sum);
}

/// Voxel data from which the depth of a sample is computed.
#[derive(Clone, Copy)]
pub enum Depths<'a> {
    /// V = n·e + v s, in layers (equation 4 with σ = s).
    Layers(&'a LayerMap),
    /// V = n·e + v λ, in scaled distances (equation 4 with σ = λ).
    Scaled(&'a DistanceMap<i16>),
    /// V of equation 5: real distances and their gradient from the voxel's centre.
    Interpolated(&'a DistanceMap<f32>),
}

impl Depths<'_> {
    fn grid(&self) -> &VoxelGrid {
        match self {
            Depths::Layers(map) => map.grid(),
            Depths::Scaled(map) => map.grid(),
            Depths::Interpolated(map) => map.grid(),
        }
    }
}

/// Computes the penalty of the DLR's voxmap-pointshell algorithm: f = k V(P) n and t = P × f, summed over all samples
/// with V ≥ 0 (Sagardia et al. 2014, equations 2 to 5). n is the inward normal and V the penetration: a local part
/// along the normal and a global part from the voxel. Also returns the number of these samples. Samples beyond the
/// grid get no force. `settings.offset` does not apply to voxels and is ignored.
///
/// The gradients hold within the voxels of the samples. `field` prunes as in [`vps`].
pub fn dlr(
    depths: &Depths,
    voxels: &Body,
    shell: &Body,
    role: Role,
    settings: &super::PenaltySettings,
    workspace: &mut Workspace,
) -> (Response, u32) {
    let (mut sum, mut count) = (Response::default(), 0);
    let Some(points) = shell.geometry.shell else { return (sum, 0) };
    let grid = depths.grid();
    let pass = Pass::new(points, shell, voxels, grid);
    let law = settings.law();
    pass.each(voxels.geometry.field, 0, &mut workspace.open, |sample, p| {
        let Some(voxel) = grid.voxel_at(p) else { return };
        let inward = pass.inward(sample);
        let depth = match depths {
            Depths::Layers(map) => map.penetration(p, inward),
            Depths::Scaled(map) => map.penetration(p, inward),
            Depths::Interpolated(map) => map.interpolated(p),
        };
        if depth >= 0.0 {
            count += 1;
            let (mut touch, _) = pass.tangent(sample, p);
            touch.depth = depth.into();
            if let Depths::Interpolated(map) = depths {
                // Penetrations grow inward, φ outward.
                let slope = Vec3::from(map.gradient(voxel).map(f64::from)) / f64::from(grid.voxel_size());
                touch.gradient = pass.voxels.pose.rotation * -slope;
                touch.center = touch.point;
            }
            touch.add(&law, f64::INFINITY, &pass, role, &mut sum);
        }
    });
    (sum.scaled(settings.share(count as usize)), count)
}

impl Role {
    fn part(self) -> Part {
        match self {
            Role::Shell => Part::Sample,
            Role::Voxels => Part::Field,
        }
    }
}

/// A sample in a voxel, world frame.
struct InVoxel {
    point: Vec3,
    /// Centre of the voxel.
    center: Vec3,
    inward: Vec3,
    gradient: Vec3,
    depth: f64,
}

impl InVoxel {
    /// Adds the force of a depth that is n·e plus the value of the voxel, with n the inward normal and e from the
    /// point to the centre; the depth also changes with the rotation of the normal. At `most` and above, the depth is
    /// constant.
    fn add(&self, law: &Law, most: f64, pass: &Pass, role: Role, sum: &mut Response) {
        let beyond = self.depth >= most;
        let still = Vec3::zeros();
        let touch = Touch {
            point: self.point,
            depth: self.depth.min(most),
            gradient: if beyond { still } else { self.gradient },
            push: self.inward,
            turns_with_sample: true,
            depth_by_turn: if beyond { still } else { (self.center - self.point).cross(&self.inward) * -1.0 },
        };
        law.add(&touch, &pass.pair(), role.part(), sum);
    }
}

/// A shell in a grid of voxels.
struct Pass<'a> {
    points: &'a PointShell,
    shell: Kinematics,
    voxels: Kinematics,
    grid: &'a VoxelGrid,
    /// Pose from the shell's body frame to the voxels' body frame.
    relative: Pose,
    to_grid: RigidF32,
}

impl<'a> Pass<'a> {
    fn new(points: &'a PointShell, shell: &Body, voxels: &Body, grid: &'a VoxelGrid) -> Self {
        let (shell, voxels) = (shell.kinematics, voxels.kinematics);
        let relative = voxels.pose.inv_mul(&shell.pose);
        let to_grid = RigidF32::between(&relative, &points.origin, &grid.center());
        Self { points, shell, voxels, grid, relative, to_grid }
    }

    fn pair(&self) -> Pair<'_> {
        Pair { sample: &self.shell, field: &self.voxels }
    }

    /// Returns the inward normal of a sample, along the grid's axes.
    fn inward(&self, sample: usize) -> [f32; 3] {
        let normal = Vec3::from(self.points.normal(sample).map(f64::from));
        (self.relative.rotation * -normal).map(|c| c as f32).into()
    }

    /// Returns a sample, given in the grid frame, in its voxel, and its outward normal.
    fn tangent(&self, sample: usize, p: [f32; 3]) -> (InVoxel, Vec3) {
        let outward = self.shell.pose.rotation * Vec3::from(self.points.normal(sample).map(f64::from));
        let world = |p: [f32; 3]| {
            let p = Vec3::from(p.map(f64::from)) + self.grid.center();
            self.voxels.pose.transform_point(&p.into()).coords
        };
        let point = world(p);
        let center = self.grid.voxel_at(p).map_or(point, |voxel| world(self.grid.voxel_center(voxel)));
        (InVoxel { point, center, inward: -outward, gradient: -outward, depth: 0.0 }, outward)
    }

    /// Calls `visit` with every sample that may be within `layers` layers around the surface or inside, and with its
    /// position in the grid's local frame.
    fn each(&self, field: Option<&Field>, layers: u32, open: &mut Vec<u32>, mut visit: impl FnMut(usize, [f32; 3])) {
        let points = self.points;
        let mut all = |samples: std::ops::Range<usize>| {
            for sample in samples {
                visit(sample, self.to_grid.point(points.point(sample)));
            }
        };
        let Some(field) = field.filter(|_| points.tree.node_count() > 0) else { return all(0..points.len()) };
        let near = self.relative.transform_point(&points.origin.into()).coords;
        let to_field = RigidF32::between(&self.relative, &points.origin, &field.local_origin(&near));
        // Every surface voxel contains a piece of the surface, and a layer is at most a voxel diagonal away.
        let reach = 1.7321 * f64::from(layers + 1) * f64::from(self.grid.voxel_size()) + field.error_bound();
        let reach = (reach * 1.0001) as f32;
        let tree = &points.tree;
        open.clear();
        open.push_guarded(0);
        while let Some(node) = open.pop() {
            let node = node as usize;
            let center = to_field.point([tree.cx[node], tree.cy[node], tree.cz[node]]);
            if field.lower_bound(center, tree.radius[node]) > reach {
                continue;
            }
            let (first, count) = (tree.first_child[node], tree.child_count[node]);
            if count == 0 {
                let first = tree.first_sample[node] as usize;
                all(first..first + tree.sample_count[node] as usize);
            } else {
                open.extend_guarded((first..first + count).rev());
            }
        }
    }
}
