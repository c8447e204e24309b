//! Queries against brute force over all pairs of voxels in f64, and against whole numbers where spheres touch exactly.

use std::collections::{BTreeMap, BTreeSet};

use support::rng::Rng;
use voxshell::field::Sphere;
use voxshell::math::{Pose, Progress, Twist, Vec3};
use voxshell::mesh::primitives;
use voxshell::pointshell::{PointShell, ShellOptions};
use voxshell::voxtree::{
    cube_overlap, query, query_pointshell, Placed, QueryOptions, TreeOptions, VoxTree, VoxelPair, Voxels, Workspace,
};

use super::make::{model, random_voxels, tree, BRANCHINGS};

/// Relative size of a depth that rounding may turn into none, or none into it.
const ROUNDING: f64 = 1e-11;

fn voxels(tree: &VoxTree) -> Vec<[u16; 3]> {
    let mut out = Vec::new();
    tree.each_voxel(|_, at| out.push(at));
    out
}

/// All four combinations of the optimisations.
fn combinations() -> impl Iterator<Item = QueryOptions> {
    (0..4).map(|i| QueryOptions { tight: i & 1 == 1, one_child: i & 2 == 2, ..QueryOptions::default() })
}

/// Voxels by their centres in f64, world frame, and half of their edge.
struct Cloud {
    centers: Vec<Vec3>,
    half: f64,
}

impl Cloud {
    fn new(tree: &VoxTree, voxels: &[[u16; 3]], pose: &Pose) -> Self {
        let at = |v: &[u16; 3]| pose.transform_point(&tree.voxel_center(*v).into()).coords;
        Self { centers: voxels.iter().map(at).collect(), half: 0.5 * tree.voxel_size() }
    }
}

/// Checks pairs against all pairs. Returns their number.
fn check_spheres(pairs: &[VoxelPair], a: &Cloud, b: &Cloud, scale: f64) -> usize {
    let found: BTreeMap<(u32, u32), f64> = pairs.iter().map(|p| ((p.cell_a, p.cell_b), p.depth)).collect();
    assert_eq!(found.len(), pairs.len(), "a pair is in the answer twice");
    let radii = 3f64.sqrt() * (a.half + b.half);
    let mut count = 0;
    for (i, p) in a.centers.iter().enumerate() {
        for (j, q) in b.centers.iter().enumerate() {
            let squared = (q - p).norm_squared();
            if squared > radii * radii * (1.0 + 1e-6) {
                continue;
            }
            let depth = radii - squared.sqrt();
            match found.get(&(i as u32, j as u32)) {
                Some(found) => {
                    count += 1;
                    assert!((found - depth.max(0.0)).abs() <= ROUNDING * scale, "{found}, brute force {depth}");
                }
                None => assert!(depth <= ROUNDING * scale, "voxels {i} and {j} are missing at depth {depth}"),
            }
        }
    }
    assert_eq!(count, pairs.len(), "a pair is in the answer that does not intersect");
    count
}

fn key(pairs: &[VoxelPair]) -> BTreeSet<(u32, u32, u64)> {
    pairs.iter().map(|p| (p.cell_a, p.cell_b, p.depth.to_bits())).collect()
}

/// Random poses near contact, and poses at which many spheres touch, axes are parallel, or the bodies are far from the
/// world's origin: the pose of A, and that of B in it.
fn pose(rng: &mut Rng, round: usize, reach: f64, step: f64) -> [Pose; 2] {
    let quarter = |rng: &mut Rng| {
        let turn = std::f64::consts::FRAC_PI_2 * (rng.next() % 4) as f64;
        Pose::rotation([Vec3::x(), Vec3::y(), Vec3::z()][(rng.next() % 3) as usize] * turn).rotation
    };
    let world = Pose::from_parts((rng.vector() * 3.0).into(), rng.rotation());
    let offset = rng.vector() * reach;
    let snapped = offset.map(|x| (x / step).round() * step);
    let identity = nalgebra::UnitQuaternion::identity();
    let relative = match round % 6 {
        0 | 1 => Pose::from_parts(offset.into(), rng.rotation()),
        2 => Pose::from_parts(snapped.into(), identity),
        3 => Pose::from_parts(snapped.into(), quarter(rng)),
        4 => Pose::from_parts(snapped.into(), Pose::rotation(rng.vector() * 1e-9).rotation),
        _ => Pose::from_parts((snapped * (1.0 + 1e-12)).into(), identity),
    };
    match round % 4 {
        0 => [Pose::identity(), relative],
        1 => [Pose::translation(1e5, -3e4, 7e4), relative],
        _ => [world, relative],
    }
}

/// The short test: 1,000 poses; with VOXSHELL_LONG 100,000.
#[test]
fn pairs_are_those_of_brute_force() {
    let rounds = if support::long() { 100_000 } else { 1000 };
    let mut rng = Rng(1);
    let mut bodies = Vec::new();
    for (n, dims, spacing) in
        [(60, [9, 30, 14], 0.125), (90, [17, 16, 5], 0.125), (40, [40, 3, 3], 0.3), (1, [2; 3], 1.0)]
    {
        let model = model(&random_voxels(&mut rng, n, dims), dims, spacing);
        let trees = BRANCHINGS.map(|branching| tree(&model, branching, Voxels::Surface));
        let voxels = trees.each_ref().map(voxels);
        bodies.push((trees, voxels));
    }
    let mut workspace = Workspace::new();
    let mut total = 0;
    for round in 0..rounds {
        let [a, b] = [0; 2].map(|_| (rng.next() % bodies.len() as u64) as usize);
        let [i, j] = [0; 2].map(|_| (rng.next() % 3) as usize);
        let (tree_a, tree_b) = (&bodies[a].0[i], &bodies[b].0[j]);
        // A random voxel of each, near each other.
        let mut some = |tree: &VoxTree, voxels: &[[u16; 3]]| {
            tree.voxel_center(voxels[(rng.next() % voxels.len() as u64) as usize])
        };
        let (at_a, at_b) = (some(tree_a, &bodies[a].1[i]), some(tree_b, &bodies[b].1[j]));
        let reach = tree_a.voxel_size() + tree_b.voxel_size();
        let [pose_a, relative] = pose(&mut rng, round, reach, 0.0625);
        let there = pose_a.transform_point(&(at_a + relative.translation.vector).into()).coords;
        let rotation = pose_a.rotation * relative.rotation;
        let pose_b = Pose::from_parts((there - rotation * at_b).into(), rotation);
        let (placed_a, placed_b) = (Placed::new(tree_a, pose_a), Placed::new(tree_b, pose_b));
        let clouds = [Cloud::new(tree_a, &bodies[a].1[i], &pose_a), Cloud::new(tree_b, &bodies[b].1[j], &pose_b)];
        let scale = pose_a.translation.vector.norm() * 1e-4 + 10.0;
        let mut same: Option<BTreeSet<_>> = None;
        for options in combinations() {
            let pairs = query(&placed_a, &placed_b, &options, &mut workspace).unwrap();
            let keys = key(pairs);
            if let Some(same) = &same {
                assert_eq!(*same, keys, "an optimisation changes the pairs");
            } else {
                total += check_spheres(pairs, &clouds[0], &clouds[1], scale);
                same = Some(keys);
            }
            assert!(workspace.report().complete);
        }
    }
    assert!(total > rounds * 4, "{total} pairs in {rounds} poses");
    println!("{total} pairs in {rounds} poses");
}

/// With binary fractions everything is exact: a pair is found exactly when 4 d² ≤ 3 (s_a + s_b)² in whole numbers.
#[test]
fn touching_spheres_are_decided_exactly() {
    // Spheres of voxels of edges 1 and 1/2 touch at d² = 27/16: (1, 3/4, 1/4) has 26/16, (5/4, 1/4, 1/4) exactly 27/16.
    let one = |spacing: f32| tree(&model(&[[0; 3]], [2; 3], spacing), BRANCHINGS[0], Voxels::Surface);
    let (a, b) = (one(1.0), one(0.5));
    let mut workspace = Workspace::new();
    let (mut inside, mut touching, mut outside) = (0, 0, 0);
    for i in -8..=8i64 {
        for j in -8..=8i64 {
            for k in -8..=8i64 {
                let pose = Pose::translation(i as f64 / 4.0, j as f64 / 4.0, k as f64 / 4.0);
                let far = Pose::translation(1024.0, -512.0, 256.0);
                let squared = i * i + j * j + k * k;
                for world in [Pose::identity(), far] {
                    for options in combinations() {
                        let (a, b) = (Placed::new(&a, world), Placed::new(&b, world * pose));
                        let found = query(&a, &b, &options, &mut workspace).unwrap().len();
                        assert_eq!(found, usize::from(squared <= 27), "at ({i}, {j}, {k})/4");
                    }
                }
                match squared.cmp(&27) {
                    std::cmp::Ordering::Less => inside += 1,
                    std::cmp::Ordering::Equal => touching += 1,
                    std::cmp::Ordering::Greater => outside += 1,
                }
            }
        }
    }
    assert_eq!(touching, 32);
    assert!(inside > 100 && outside > 1000);
}

#[test]
fn an_interrupted_answer_contains_the_complete_one() {
    let ball = Sphere::new(0.5).unwrap();
    let mut rng = Rng(4);
    let mut workspace = Workspace::new();
    for branching in BRANCHINGS {
        let options = TreeOptions { branching, ..TreeOptions::new(0.04) };
        let (a, b) = (
            VoxTree::from_field(&ball, &options, &Progress::none()).unwrap(),
            VoxTree::from_field(&ball, &TreeOptions { voxel_size: 0.07, ..options }, &Progress::none()).unwrap(),
        );
        let paths = [&a, &b].map(ancestors);
        for _ in 0..6 {
            let pose = Pose::from_parts((rng.vector().normalize() * 0.97).into(), rng.rotation());
            let (at_a, at_b) = (Placed::new(&a, Pose::identity()), Placed::new(&b, pose));
            let complete = query(&at_a, &at_b, &QueryOptions::default(), &mut workspace).unwrap().to_vec();
            assert!(complete.len() > 20, "{} pairs", complete.len());
            let all = workspace.report().tests;
            let mut limits = vec![];
            for max_pairs in [1, 2, 7, 50, 300] {
                limits.push(QueryOptions { max_pairs, ..QueryOptions::default() });
            }
            for max_tests in [0, 1, 30, all / 9, all / 2, all - 1] {
                limits.push(QueryOptions { max_tests, ..QueryOptions::default() });
            }
            for least_level in 1..=a.root_level() {
                limits.push(QueryOptions { least_level, ..QueryOptions::default() });
            }
            for options in limits {
                let coarse = query(&at_a, &at_b, &options, &mut workspace).unwrap().to_vec();
                assert!(coarse.len() <= options.max_pairs);
                let kept: BTreeSet<_> = coarse.iter().map(|p| (p.level_a, p.cell_a, p.level_b, p.cell_b)).collect();
                let below = |p: &VoxelPair| {
                    let (up_a, up_b) = (&paths[0][p.cell_a as usize], &paths[1][p.cell_b as usize]);
                    up_a.iter().any(|a| up_b.iter().any(|b| kept.contains(&(a.0, a.1, b.0, b.1))))
                };
                assert!(complete.iter().all(below), "{options:?}");
                let leaves_only = coarse.iter().all(VoxelPair::is_leaf);
                let report = workspace.report();
                assert!(!report.complete || leaves_only);
                assert!(report.complete || coarse.len() < complete.len() || !leaves_only, "{options:?}");
            }
        }
    }
}

/// Returns for each voxel its level and number, and those of its ancestors, as the pairs of an answer name them.
fn ancestors(tree: &VoxTree) -> Vec<Vec<(u32, u32)>> {
    let n = tree.branching() as u32;
    let mut nodes = BTreeMap::new();
    tree.each_node(|level, node, at| {
        nodes.insert((level, at), if level == 0 { node - tree.inner_count() } else { node });
    });
    let above = |level: u32, v: &[u16; 3]| (level, nodes[&(level, v.map(|x| (u32::from(x) >> (n * level)) as u16))]);
    voxels(tree).iter().map(|v| (0..=tree.root_level()).map(|level| above(level, v)).collect()).collect()
}

/// Clips the faces of B by the planes of A: cubes meet if something is left, or one is within the other.
fn cubes_meet(half: [f64; 2], b: &Pose, slack: f64) -> bool {
    let at = |p: Vec3| b.transform_point(&p.into()).coords;
    let h = half[0] + slack;
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let mut polygon: Vec<Vec3> = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
                .map(|[u, v]| {
                    let mut p = Vec3::zeros();
                    (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (side, u, v);
                    at(p * half[1])
                })
                .to_vec();
            for k in 0..6 {
                let sign = if k < 3 { 1.0 } else { -1.0 };
                let over = |p: &Vec3| sign * p[k % 3] - h;
                let mut kept = Vec::new();
                for i in 0..polygon.len() {
                    let (p, q) = (polygon[i], polygon[(i + 1) % polygon.len()]);
                    let (dp, dq) = (over(&p), over(&q));
                    if dp <= 0.0 {
                        kept.push(p);
                    }
                    if (dp < 0.0) != (dq < 0.0) && dp != dq {
                        kept.push(p + (q - p) * (dp / (dp - dq)));
                    }
                }
                polygon = kept;
            }
            if !polygon.is_empty() {
                return true;
            }
        }
    }
    // No face of B is in A: A may be within B.
    b.inverse_transform_point(&Vec3::zeros().into()).coords.amax() <= half[1]
}

#[test]
fn cubes_intersect_as_their_clipped_faces_do() {
    let mut rng = Rng(3);
    let (mut yes, mut no) = (0, 0);
    for i in 0..20_000 {
        let half = [0.5, 0.1 + 0.6 * rng.fraction()];
        let rotation = if i % 5 == 0 { nalgebra::UnitQuaternion::identity() } else { rng.rotation() };
        let pose = Pose::from_parts((rng.vector() * 1.8).into(), rotation);
        let matrix = *pose.rotation.to_rotation_matrix().matrix();
        match cube_overlap(half, &matrix, &pose.translation.vector) {
            Some(depth) => {
                yes += 1;
                assert!(cubes_meet(half, &pose, 1e-9), "{pose:?} depth {depth}");
                // Moved apart by less than the depth in any direction, the cubes still meet.
                if depth > 1e-6 {
                    let moved = pose.translation.vector + rng.vector().normalize() * (depth * 0.999);
                    assert!(cubes_meet(half, &Pose::from_parts(moved.into(), pose.rotation), 1e-9));
                }
            }
            None => {
                no += 1;
                assert!(!cubes_meet(half, &pose, -1e-9), "{pose:?}");
            }
        }
    }
    assert!(yes > 2000 && no > 2000, "{yes} {no}");
    // Exact depth: faces, and faces that touch.
    let identity = *Pose::identity().rotation.to_rotation_matrix().matrix();
    assert_eq!(cube_overlap([0.5, 0.5], &identity, &Vec3::new(0.75, 0.1, 0.0)), Some(0.25));
    assert_eq!(cube_overlap([0.5, 0.5], &identity, &Vec3::new(1.0, 0.1, 0.0)), Some(0.0));
    assert_eq!(cube_overlap([0.5, 0.5], &identity, &Vec3::new(1.000001, 0.1, 0.0)), None);
}

#[test]
fn exact_cubes_are_a_part_of_the_spheres() {
    let ball = Sphere::new(0.5).unwrap();
    let tree = VoxTree::from_field(&ball, &TreeOptions::new(0.05), &Progress::none()).unwrap();
    let mut rng = Rng(9);
    let mut workspace = Workspace::new();
    for _ in 0..10 {
        let pose = Pose::from_parts((rng.vector().normalize() * 0.98).into(), rng.rotation());
        let (a, b) = (Placed::new(&tree, Pose::identity()), Placed::new(&tree, pose));
        let spheres = query(&a, &b, &QueryOptions::default(), &mut workspace).unwrap().to_vec();
        let cubes = QueryOptions { cubes: true, ..QueryOptions::default() };
        let cubes: BTreeSet<_> =
            query(&a, &b, &cubes, &mut workspace).unwrap().iter().map(|p| (p.cell_a, p.cell_b)).collect();
        for pair in spheres {
            let relative = Pose::from_parts((pair.center_b - pair.center_a).into(), pose.rotation);
            let meets = |slack| cubes_meet([0.5 * tree.voxel_size(); 2], &relative, slack);
            let found = cubes.contains(&(pair.cell_a, pair.cell_b));
            assert!(if found { meets(1e-9) } else { !meets(-1e-9) });
        }
    }
}

#[test]
fn pairs_have_positions_normals_and_velocities() {
    let ball = Sphere::new(0.5).unwrap();
    let tree = VoxTree::from_field(&ball, &TreeOptions::new(0.05), &Progress::none()).unwrap();
    let pose_a = Pose::new(Vec3::new(3.0, -2.0, 1.0), Vec3::new(0.4, 0.2, -0.7));
    let pose_b = pose_a * Pose::new(Vec3::new(0.0, 0.98, 0.1), Vec3::new(-0.3, 1.0, 0.1));
    let twist = Twist { linear: Vec3::new(0.1, 0.2, 0.3), angular: Vec3::new(1.0, -2.0, 0.5) };
    let a = Placed { twist, ..Placed::new(&tree, pose_a) };
    let b = Placed {
        center: Vec3::new(1.0, 1.0, 1.0),
        twist: Twist { angular: Vec3::z(), ..twist },
        ..Placed::new(&tree, pose_b)
    };
    let mut workspace = Workspace::new();
    let options = QueryOptions { deepest_first: true, ..QueryOptions::default() };
    let pairs = query(&a, &b, &options, &mut workspace).unwrap();
    assert!(pairs.len() > 10);
    assert!(pairs.windows(2).all(|w| w[0].depth >= w[1].depth));
    let voxels = voxels(&tree);
    for pair in pairs {
        for (center, normal, cell, pose) in
            [(pair.center_a, pair.normal_a, pair.cell_a, &pose_a), (pair.center_b, pair.normal_b, pair.cell_b, &pose_b)]
        {
            let local = tree.voxel_center(voxels[cell as usize]);
            assert!((center - pose.transform_point(&local.into()).coords).norm() < 1e-12);
            assert!((normal - pose.rotation * local.normalize()).norm() < 2e-4);
        }
        let middle = (pair.center_a + pair.center_b) * 0.5;
        let speed = |p: &Placed| p.twist.linear + p.twist.angular.cross(&(middle - p.center));
        assert!((pair.velocity - (speed(&b) - speed(&a))).norm() < 1e-12);
        assert!(pair.direction().dot(&(pose_b.translation.vector - pose_a.translation.vector)) > 0.7);
    }
}

#[test]
fn samples_of_a_pointshell_are_those_of_brute_force() {
    let mesh = primitives::sphere(0.4, 3).unwrap();
    let normals: Vec<[f64; 3]> = mesh.vertices.iter().map(|v| Vec3::from(*v).normalize().into()).collect();
    let shell = PointShell::from_samples(&mesh.vertices, &normals, &ShellOptions::default()).unwrap();
    let ball = Sphere::new(0.5).unwrap();
    let tree = VoxTree::from_field(&ball, &TreeOptions::new(0.06), &Progress::none()).unwrap();
    let voxels = voxels(&tree);
    let mut rng = Rng(5);
    let mut workspace = Workspace::new();
    let mut total = 0;
    for round in 0..60 {
        let world = Pose::from_parts((rng.vector() * 5.0).into(), rng.rotation());
        let pose = world * Pose::from_parts((rng.vector().normalize() * 0.88).into(), rng.rotation());
        let radius = [0.0, 0.02][round % 2];
        let cubes = round % 4 == 2;
        let options = QueryOptions { sample_radius: radius, cubes, ..QueryOptions::default() };
        let (a, b) = (Placed::new(&shell, pose), Placed::new(&tree, world));
        let pairs = query_pointshell(&a, &b, &options, &mut workspace).unwrap();
        let found: BTreeSet<_> = pairs.iter().map(|p| (p.cell_a, p.cell_b)).collect();
        assert_eq!(found.len(), pairs.len());
        total += found.len();
        for i in 0..shell.len() {
            let p = world.inverse_transform_point(&pose.transform_point(&shell.position(i).into())).coords;
            for (j, v) in voxels.iter().enumerate() {
                let d = p - tree.voxel_center(*v);
                let half = 0.5 * tree.voxel_size();
                let depth = if cubes { half - d.amax() } else { radius + 3f64.sqrt() * half - d.norm() };
                let has = found.contains(&(i as u32, j as u32));
                assert!(has == (depth > 0.0) || depth.abs() < 1e-9, "sample {i}, voxel {j}: {depth}");
            }
        }
    }
    assert!(total > 500, "{total}");
}

#[test]
fn numbers_out_of_range_are_refused() {
    let ball = Sphere::new(0.5).unwrap();
    let tree = VoxTree::from_field(&ball, &TreeOptions::new(0.2), &Progress::none()).unwrap();
    let good = Placed::new(&tree, Pose::identity());
    let mut workspace = Workspace::new();
    let bad = Placed { pose: Pose::translation(f64::NAN, 0.0, 0.0), ..good };
    assert!(query(&bad, &good, &QueryOptions::default(), &mut workspace).is_err());
    assert!(query(&good, &bad, &QueryOptions::default(), &mut workspace).is_err());
    let none = QueryOptions { max_pairs: 0, ..QueryOptions::default() };
    assert!(query(&good, &good, &none, &mut workspace).unwrap_err().to_string().contains("max_pairs"));
    let far = Placed::new(&tree, Pose::translation(1e18, 0.0, 0.0));
    assert!(query(&good, &far, &QueryOptions::default(), &mut workspace).unwrap().is_empty());
}
