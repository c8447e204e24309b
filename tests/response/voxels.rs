//! Forces of samples in voxels: against a plain loop in f64, finite differences, and the guarantees of the paper.

use nalgebra::Isometry3;
use proptest::prelude::*;
use support::allocation::allocations;
use support::cases;
use support::motion::moved;
use support::rng::Rng;
use voxshell::asset::{CookOptions, Resolution, Shape};
use voxshell::contact::Geometry;
use voxshell::math::{Mat6, Progress, Twist, Vec3, Wrench};
use voxshell::mesh::primitives;
use voxshell::pointshell::{PointShell, ShellOptions};
use voxshell::response::{
    dlr, vps, Body, Braking, Depths, Kinematics, PenaltySettings, Response, Role, VpsSettings, Workspace,
};
use voxshell::voxmap::{DistanceMap, LayerMap, Offset, VoxelGrid, VoxelModel, VoxelOptions, VoxelType, Voxmap};

const VOXEL: f64 = 0.02;

struct Scene {
    shape: Shape,
    voxmap: Voxmap,
    layers: LayerMap,
    scaled: DistanceMap<i16>,
    real: DistanceMap<f32>,
    /// Few samples, so that differences stay within voxels.
    few: PointShell,
}

fn scene() -> &'static Scene {
    static SCENE: std::sync::OnceLock<Scene> = std::sync::OnceLock::new();
    SCENE.get_or_init(|| {
        let mesh = primitives::torus(0.3, 0.12, 64, 24).unwrap();
        let options = CookOptions {
            resolution: Resolution::Cells(40),
            shell: ShellOptions { target_count: Some(900), ..ShellOptions::default() },
            ..CookOptions::default()
        };
        let shape = Shape::cook(&mesh, &options, &Progress::none()).unwrap();
        let model = VoxelModel::from_mesh(&mesh, &VoxelOptions::new(VOXEL), &Progress::none()).unwrap();
        let field = shape.field.as_deref().unwrap();
        let mut rng = Rng(2);
        let points: Vec<[f64; 3]> = (0..12).map(|_| (rng.vector() * 0.2).into()).collect();
        let normals: Vec<[f64; 3]> = (0..12).map(|_| rng.vector().into()).collect();
        Scene {
            voxmap: Voxmap::new(&model, Offset::MCNEELY).unwrap(),
            layers: LayerMap::new(&model, &Progress::none()).unwrap(),
            scaled: DistanceMap::<i16>::scaled(&model, field, 4).unwrap(),
            real: DistanceMap::<f32>::real(&model, field).unwrap(),
            few: PointShell::from_samples(&points, &normals, &ShellOptions::default()).unwrap(),
            shape,
        }
    })
}

/// Returns two bodies that touch or nearly touch.
fn pair(rng: &mut Rng) -> [Kinematics; 2] {
    let voxels = Isometry3::from_parts(rng.vector().into(), rng.rotation());
    let away = rng.vector().normalize() * (0.1 + 0.7 * rng.fraction());
    let shell = voxels * Isometry3::from_parts(away.into(), rng.rotation());
    [voxels, shell].map(|pose| Kinematics {
        pose,
        center: pose.transform_point(&(rng.vector() * 0.1).into()).coords,
        twist: Twist { linear: rng.vector(), angular: rng.vector() },
    })
}

fn bodies(shell: &PointShell, field: bool, [voxels, points]: [Kinematics; 2]) -> [Body<'_>; 2] {
    let field = scene().shape.field.as_deref().filter(|_| field);
    [
        Body { geometry: Geometry { field, shell: None, surface: None }, kinematics: voxels },
        Body { geometry: Geometry { field: None, shell: Some(shell), surface: None }, kinematics: points },
    ]
}

/// Returns each sample: its position, its outward normal, and its position in the grid.
fn samples<'a>(
    shell: &'a PointShell,
    grid: &'a VoxelGrid,
    [voxels, points]: &'a [Kinematics; 2],
) -> impl Iterator<Item = (Vec3, Vec3, [f32; 3])> + 'a {
    (0..shell.len()).map(|i| {
        let p = points.pose.transform_point(&shell.position(i).into()).coords;
        let n = points.pose.rotation * Vec3::from(shell.normal(i).map(f64::from));
        let local = voxels.pose.inverse_transform_point(&p.into()).coords - grid.center();
        (p, n, local.map(|c| c as f32).into())
    })
}

/// Computes the paper's forces sample by sample, without braking.
fn tangent_planes(shell: &PointShell, at: &[Kinematics; 2], settings: &VpsSettings) -> (Wrench, [u32; 3]) {
    let voxmap = &scene().voxmap;
    let (mut sum, mut counts) = (Wrench::ZERO, [0; 3]);
    for (p, n, local) in samples(shell, voxmap.grid(), at) {
        match voxmap.at(local) {
            VoxelType::Free => {}
            VoxelType::Interior => counts[0] += 1,
            VoxelType::Proximity => counts[1] += 1,
            VoxelType::Surface => {
                counts[2] += 1;
                let voxel = voxmap.grid().voxel_at(local).unwrap();
                let center = Vec3::from(voxmap.grid().voxel_center(voxel).map(f64::from)) + voxmap.grid().center();
                let center = at[0].pose.transform_point(&center.into()).coords;
                let d = (p - center).dot(&n).clamp(0.0, VOXEL / 2.0);
                if d > 0.0 {
                    let v = at[1].twist.at(&(p - at[1].center)) - at[0].twist.at(&(p - at[0].center));
                    let size = (settings.stiffness * d + settings.damping * v.dot(&n)).max(0.0);
                    sum += Wrench::of_force(-n * size, &(p - at[1].center));
                }
            }
        }
    }
    let share = if counts[2] > 10 { 10.0 / f64::from(counts[2]) } else { 1.0 };
    (Wrench { force: sum.force * share, torque: sum.torque * share }, counts)
}

proptest! {
    #![proptest_config(cases(80))]
    #[test]
    fn tangent_plane_forces_are_bit_identical_with_pruning(seed in 0u64..1 << 40) {
        let mut rng = Rng(seed);
        let at = pair(&mut rng);
        let shell = scene().shape.shell.as_deref().unwrap();
        let settings = VpsSettings { damping: 3.0, ..VpsSettings::new(800.0) };
        let mut workspace = Workspace::new();
        let [[voxels, points], [plain, _]] = [true, false].map(|field| bodies(shell, field, at));
        let found = vps(&scene().voxmap, &voxels, &points, Role::Shell, &settings, &mut workspace);
        let all = vps(&scene().voxmap, &plain, &points, Role::Shell, &settings, &mut workspace);
        prop_assert_eq!(found, all);
        let (expected, [interior, proximity, surface]) = tangent_planes(shell, &at, &settings);
        // Samples within rounding of the wall of a voxel may be on either side.
        for (p, q) in [(found.interior, interior), (found.proximity, proximity), (found.surface, surface)] {
            prop_assert!(p.abs_diff(q) <= 1, "{found:?}");
        }
        let off = (found.response.wrench.column() - expected.column()).amax();
        prop_assert!(off <= 0.2 + 0.02 * expected.column().amax(), "off by {off}: {:?} {expected:?}", found.response.wrench);
        // The force on the voxels' body.
        let back = vps(&scene().voxmap, &voxels, &points, Role::Voxels, &settings, &mut workspace).response.wrench;
        let sum = back.about(&(at[1].center - at[0].center)).column() + found.response.wrench.column();
        prop_assert!(sum.amax() < 1e-9 * (1.0 + back.column().amax()));
    }

    #[test]
    fn in_free_space_moving_bodies_cause_no_force(seed in 0u64..1 << 40) {
        let mut rng = Rng(seed);
        let mut at = pair(&mut rng);
        let apart = (at[1].center - at[0].center).normalize() * (0.3 + rng.fraction());
        at[1] = moved(&at[1], true, 0, apart.x);
        at[1] = moved(&moved(&at[1], true, 1, apart.y), true, 2, apart.z);
        let shell = scene().shape.shell.as_deref().unwrap();
        let [voxels, points] = bodies(shell, true, at);
        let free = samples(shell, scene().voxmap.grid(), &at).all(|s| scene().voxmap.at(s.2) == VoxelType::Free);
        let settings = VpsSettings { braking: Braking::Viscosity(5.0), ..VpsSettings::new(800.0) };
        let found = vps(&scene().voxmap, &voxels, &points, Role::Shell, &settings, &mut Workspace::new());
        prop_assert!(!free || found == Default::default());
    }

    #[test]
    fn approaching_samples_are_braked_and_receding_ones_are_not(seed in 0u64..1 << 40) {
        let mut rng = Rng(seed);
        let at = pair(&mut rng);
        let shell = scene().shape.shell.as_deref().unwrap();
        let [voxels, points] = bodies(shell, true, at);
        let run = |braking| {
            let settings = VpsSettings { braking, ..VpsSettings::new(0.0) };
            vps(&scene().voxmap, &voxels, &points, Role::Shell, &settings, &mut Workspace::new())
        };
        let found = run(Braking::Viscosity(7.0));
        let (mut expected, mut braked, mut power, mut along) = (Wrench::ZERO, 0, 0.0, Vec3::zeros());
        for (p, n, local) in samples(shell, scene().voxmap.grid(), &at) {
            let v = at[1].twist.at(&(p - at[1].center)) - at[0].twist.at(&(p - at[0].center));
            if scene().voxmap.at(local) == VoxelType::Proximity && v.dot(&n) > 0.0 {
                braked += 1;
                power += v.dot(&n).powi(2);
                along += n * v.dot(&n);
                // Along the normal only: sliding is not braked.
                expected += Wrench::of_force(n * (-7.0 * v.dot(&n)), &(p - at[1].center));
            }
        }
        prop_assert!(found.braked.abs_diff(braked) <= 1);
        let off = (found.response.wrench.column() - expected.column()).amax();
        prop_assert!(off < 15.0 && (found.braked != braked || off < 1e-3), "{off}");
        // The same, with the power that stops the body in one step.
        let along = along.try_normalize(0.0).unwrap_or_else(Vec3::zeros);
        let energy = 0.5 * 2.0 * (at[1].twist.linear - at[0].twist.linear).dot(&along).powi(2);
        let stopping = run(Braking::InOneStep { mass: 2.0, dt: 0.01 }).response.wrench.column();
        if braked > 3 {
            let expected = expected.column() * (energy / (0.01 * power) / 7.0);
            prop_assert!((stopping - expected).amax() < 0.5 * expected.amax());
        }
    }

    #[test]
    fn samples_past_the_layer_are_pushed_as_at_its_full_depth(seed in 0u64..1 << 40) {
        let at = pair(&mut Rng(seed));
        let shell = scene().shape.shell.as_deref().unwrap();
        let [voxels, points] = bodies(shell, true, at);
        let [lost, held] = [false, true].map(|interior| {
            let settings = VpsSettings { interior, ..VpsSettings::new(800.0) };
            vps(&scene().voxmap, &voxels, &points, Role::Shell, &settings, &mut Workspace::new())
        });
        let mut expected = Wrench::ZERO;
        for (p, n, local) in samples(shell, scene().voxmap.grid(), &at) {
            if scene().voxmap.at(local) == VoxelType::Interior {
                expected += Wrench::of_force(n * (-800.0 * VOXEL / 2.0), &(p - at[1].center));
            }
        }
        prop_assert_eq!(lost.inside, Response::default());
        // A sample within rounding of the wall of a voxel may be on either side.
        let off = (held.inside.wrench.column() - expected.column()).amax();
        prop_assert!(off < 1e-3 * (1.0 + expected.column().amax()) || off < 800.0 * VOXEL, "off by {off}");
        let share = 10.0 / f64::from(held.interior.max(10));
        let more = held.response.wrench.column() - lost.response.wrench.column();
        prop_assert!((more - held.inside.wrench.column() * share).amax() < 1e-9 * (1.0 + more.amax()));
    }

    #[test]
    fn gradients_are_finite_differences_within_voxels(seed in 0u64..1 << 40) {
        let mut rng = Rng(seed);
        let scene = scene();
        let at = pair(&mut rng);
        let h = 1e-4;
        let maps = [Depths::Layers(&scene.layers), Depths::Scaled(&scene.scaled), Depths::Interpolated(&scene.real)];
        let which = rng.next() as usize % 4;
        let role = if rng.unit() > 0.0 { Role::Shell } else { Role::Voxels };
        let run = |at: [Kinematics; 2]| -> Response {
            let [voxels, points] = bodies(&scene.few, false, at);
            let mut workspace = Workspace::new();
            if which == 3 {
                let settings = VpsSettings { damping: 2.0, average_from: 2, ..VpsSettings::new(800.0) };
                vps(&scene.voxmap, &voxels, &points, role, &settings, &mut workspace).response
            } else {
                let settings = PenaltySettings::new(800.0, 2.0);
                dlr(&maps[which], &voxels, &points, role, &settings, &mut workspace).0
            }
        };
        let grid = scene.voxmap.grid();
        let places = |at: &[Kinematics; 2]| -> Vec<_> { samples(&scene.few, grid, at).map(|s| grid.voxel_at(s.2)).collect() };
        let now = run(at);
        let change = |by_pose: bool, axis: usize, h: f64| {
            let mut at = at;
            let body = usize::from(role == Role::Shell);
            at[body] = moved(&at[body], by_pose, axis, h);
            at
        };
        for (by_pose, exact) in [(true, now.by_pose), (false, now.by_twist)] {
            let mut numeric = Mat6::zeros();
            for axis in 0..6 {
                let [more, less] = [h, -h].map(|h| change(by_pose, axis, h));
                // All samples stay in their voxels.
                prop_assume!(places(&more) == places(&at) && places(&less) == places(&at));
let [more, less] = [more, less].map(|at| run(at).wrench.column());
                // And none reaches the end of its spring.
                prop_assume!((more + less - now.wrench.column() * 2.0).amax() < 2.0 * h * 8.0);
                numeric.set_column(axis, &((more - less) / (2.0 * h)));
            }
            let off = (numeric - exact).amax() / (800.0 + exact.amax());
            prop_assert!(off < 0.01, "{which} {role:?} by pose {by_pose}: off by {off}\n{numeric}{exact}");
        }
    }

    #[test]
    fn the_penalty_of_the_dlr_is_a_sum_over_every_sample(seed in 0u64..1 << 40) {
        let at = pair(&mut Rng(seed));
        let scene = scene();
        let shell = scene.shape.shell.as_deref().unwrap();
        let [voxels, points] = bodies(shell, true, at);
        let settings = PenaltySettings { average_from: 50, ..PenaltySettings::new(800.0, 0.0) };
        for depths in [Depths::Layers(&scene.layers), Depths::Scaled(&scene.scaled), Depths::Interpolated(&scene.real)] {
            let (found, count) = dlr(&depths, &voxels, &points, Role::Shell, &settings, &mut Workspace::new());
            let (mut sum, mut all, mut deepest) = (Wrench::ZERO, 0u32, 0.0f64);
            for (p, n, local) in samples(shell, scene.layers.grid(), &at) {
                if scene.layers.grid().voxel_at(local).is_none() {
                    continue;
                }
                let inward: [f32; 3] = (at[0].pose.rotation.inverse() * -n).map(|c| c as f32).into();
                let depth = f64::from(match depths {
                    Depths::Layers(map) => map.penetration(local, inward),
                    Depths::Scaled(map) => map.penetration(local, inward),
                    Depths::Interpolated(map) => map.interpolated(local),
                });
                if depth >= 0.0 {
                    all += 1;
                    deepest = deepest.max(depth);
                    sum += Wrench::of_force(-n * (800.0 * depth), &(p - at[1].center));
                }
            }
            prop_assert!(count.abs_diff(all) <= 1, "{count} {all}");
            let share = if all > 50 { 50.0 / f64::from(all) } else { 1.0 };
            let off = (found.wrench.column() - sum.column() * share).amax();
            prop_assert!(off <= 2.0 * 800.0 * (VOXEL + deepest) * share / 10.0 + 1e-3, "off by {off}");
        }
    }
}

#[test]
fn warm_calls_do_not_allocate() {
    let scene = scene();
    let shell = scene.shape.shell.as_deref().unwrap();
    let settings = VpsSettings { braking: Braking::InOneStep { mass: 1.0, dt: 1e-3 }, ..VpsSettings::new(800.0) };
    let mut workspace = Workspace::new();
    let run = |workspace: &mut Workspace| {
        let mut rng = Rng(6);
        let mut found = 0;
        for _ in 0..50 {
            let [voxels, points] = bodies(shell, true, pair(&mut rng));
            let response = vps(&scene.voxmap, &voxels, &points, Role::Shell, &settings, workspace);
            found += response.surface + response.braked;
            let forces = PenaltySettings::new(800.0, 1.0);
            found += dlr(&Depths::Layers(&scene.layers), &voxels, &points, Role::Shell, &forces, workspace).1;
        }
        found
    };
    let found = run(&mut workspace);
    assert!(found > 1000, "{found}");
    assert_eq!(allocations(|| assert_eq!(run(&mut workspace), found)), 0);
}
