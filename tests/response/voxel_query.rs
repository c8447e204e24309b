//! Algorithm 1 against all samples in f64: every form of map, both equations, levels and limits.

use nalgebra::Isometry3;
use support::allocation::allocations;
use support::long;
use support::rng::Rng;
use voxshell::contact::Completeness;
use voxshell::cook::FieldOptions;
use voxshell::field::{DenseField, Grid};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{primitives, TriMesh};
use voxshell::pointshell::{Clustering, PointShell, ShellOptions, TreeKind};
use voxshell::response::{voxel_query, VoxelAnswer, VoxelContact, VoxelQuery, VoxelWorkspace};
use voxshell::voxmap::{Branching, MapForm, Offset, Rule, VoxelGrid, VoxelModel, VoxelOptions, Voxelmap};

const VOXEL: f64 = 0.02;
const FORMS: [MapForm; 7] = [
    MapForm::Layers,
    MapForm::LayerTree { limit: 7, branching: Branching::Tree64 },
    MapForm::LayerTree { limit: 127, branching: Branching::Octree },
    MapForm::Types { offset: Offset::SURFACE },
    MapForm::TypeTree { offset: Offset::MCNEELY, branching: Branching::Octree },
    MapForm::Scaled { precision: 4 },
    MapForm::Real,
];

struct Scene {
    maps: Vec<Voxelmap>,
    shells: Vec<PointShell>,
}

/// Returns maps of a torus and of loose triangles in every form, and pointshells of a torus under trees of every kind.
fn scene() -> &'static Scene {
    static SCENE: std::sync::OnceLock<Scene> = std::sync::OnceLock::new();
    SCENE.get_or_init(|| {
        let none = Progress::none();
        let mesh = primitives::torus(0.3, 0.12, 64, 24).unwrap();
        let model = VoxelModel::from_mesh(&mesh, &VoxelOptions::new(VOXEL), &none).unwrap();
        let field = voxshell::cook::dense_field(&mesh, &FieldOptions::new(VOXEL), &none).unwrap();
        let mut maps: Vec<Voxelmap> =
            FORMS.iter().map(|&form| Voxelmap::new(&model, Some(&field), form, &none).unwrap()).collect();
        // A grid that ends at the surface, and loose triangles: layers jump by two where pieces meet at a corner.
        let tight = VoxelOptions { padding_voxels: 0, ..VoxelOptions::new(VOXEL) };
        let tight = VoxelModel::from_mesh(&mesh, &tight, &none).unwrap();
        maps.push(Voxelmap::new(&tight, Some(&field), MapForm::Layers, &none).unwrap());
        maps.push(Voxelmap::new(&tight, Some(&field), MapForm::Real, &none).unwrap());
        let soup = soup();
        maps.extend(FORMS[..4].iter().map(|&form| Voxelmap::new(&soup, None::<&DenseField>, form, &none).unwrap()));
        let small = primitives::torus(0.2, 0.06, 40, 20).unwrap();
        let kinds = [
            (Clustering::Greedy, TreeKind::MinimalBalls, 4),
            (Clustering::Balanced, TreeKind::MinimalBalls, 8),
            (Clustering::Greedy, TreeKind::NestedOnSamples, 8),
            (Clustering::Balanced, TreeKind::NestedOnSamples, 3),
        ];
        let shell = |(clustering, tree, branching)| {
            let options = ShellOptions { clustering, tree, branching, ..ShellOptions::default() };
            let normals: Vec<[f64; 3]> = small.vertices.iter().map(|v| normal(v, 0.2)).collect();
            PointShell::from_samples(&small.vertices, &normals, &options).unwrap()
        };
        Scene { maps, shells: kinds.map(shell).into() }
    })
}

/// Returns the outward normal of a torus around y or z, whichever its vertices lie around.
fn normal(v: &[f64; 3], ring: f64) -> [f64; 3] {
    let thin = thin_axis();
    let p = Vec3::from(*v);
    let mut flat = p;
    flat[thin] = 0.0;
    (p - flat.normalize() * ring).into()
}

fn thin_axis() -> usize {
    let e = primitives::torus(0.2, 0.06, 40, 20).unwrap().bounds().extents();
    (0..3).min_by(|&a, &b| e[a].total_cmp(&e[b])).unwrap()
}

fn soup() -> VoxelModel {
    let mut rng = Rng(8);
    let vertices: Vec<[f64; 3]> = (0..60).map(|_| (rng.vector() * 0.25).into()).collect();
    let triangles = (0..20).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let mesh = TriMesh::new(vertices, triangles).unwrap();
    let grid = VoxelGrid::new(Grid::centered([30, 30, 30], VOXEL as f32), Vec3::zeros()).unwrap();
    VoxelModel::on_grid(&mesh, grid, 1 << 30, &Progress::none()).unwrap()
}

fn poses(rng: &mut Rng) -> [Pose; 2] {
    let map = Isometry3::from_parts(rng.vector().into(), rng.rotation());
    let away = rng.vector().normalize() * (1.2 * rng.fraction() * rng.fraction());
    [map, map * Isometry3::from_parts(away.into(), rng.rotation())]
}

/// Positions within this many voxels of a wall count as in both voxels.
const NEAR: f64 = 1e-4;

/// Returns the range of V of a point in f64: over the voxels in which rounding may put it.
fn v(map: &Voxelmap, rule: Rule, p: Vec3, n: Vec3) -> [f64; 2] {
    let grid = map.grid();
    let (s, dims) = (f64::from(grid.nodes().spacing), grid.dims());
    let min = Vec3::from(grid.nodes().min.map(f64::from));
    let last = |k: usize| min[k] + f64::from(dims[k] - 1) * s;
    let q = Vec3::from([0, 1, 2].map(|k| p[k].clamp(min[k] - 0.5 * s, last(k) + 0.5 * s)));
    let over = (p - q).norm();
    let mut range = [f64::INFINITY, f64::NEG_INFINITY];
    for corner in 0..8 {
        let voxel = [0, 1, 2].map(|k| {
            let t = (q[k] - min[k]) / s + 0.5 + if corner >> k & 1 == 1 { NEAR } else { -NEAR };
            t.floor().clamp(0.0, f64::from(dims[k] - 1)) as u32
        });
        let center = Vec3::from([0, 1, 2].map(|k| min[k] + f64::from(voxel[k]) * s));
        let value = |voxel: [u32; 3]| f64::from(map.value(voxel));
        let part = match rule {
            Rule::Local => n.dot(&(center - q)),
            Rule::Interpolated => {
                let slope = Vec3::from([0, 1, 2].map(|k| {
                    let (mut a, mut b) = (voxel, voxel);
                    a[k] = a[k].saturating_sub(1);
                    b[k] = (b[k] + 1).min(dims[k] - 1);
                    (value(b) - value(a)) / (f64::from(b[k] - a[k]) * s)
                }));
                slope.dot(&(q - center))
            }
        };
        let inside = part + value(voxel);
        // Rounding may also put it on either side of the box's wall.
        if over < NEAR * s {
            range = [range[0].min(inside), range[1].max(inside)];
        }
        if over > 0.0 || (q - center).amax() > (0.5 - NEAR) * s {
            let beyond = inside.min(0.0) - over;
            range = [range[0].min(beyond), range[1].max(beyond)];
        }
    }
    range
}

/// A sample in f64: its position and inward normal in the world, and the range of its V.
struct Sample {
    point: Vec3,
    normal: Vec3,
    v: [f64; 2],
}

fn all(map: &Voxelmap, shell: &PointShell, [of_map, of_shell]: &[Pose; 2], rule: Rule) -> Vec<Sample> {
    let sample = |i: usize| {
        let point = of_shell.transform_point(&shell.position(i).into()).coords;
        let normal = of_shell.rotation * -Vec3::from(shell.normal(i).map(f64::from));
        let local = of_map.inverse_transform_point(&point.into()).coords - map.grid().center();
        Sample { point, normal, v: v(map, rule, local, of_map.rotation.inverse() * normal) }
    };
    (0..shell.len()).map(sample).collect()
}

/// Tolerance of V, metres.
const CLOSE: f64 = 2e-5;

/// Checks the manifold of any answer, complete or not.
fn check(found: &[VoxelContact], answer: &VoxelAnswer, query: &VoxelQuery, samples: &[Sample], pose: &Pose) {
    let mut is_in = vec![false; samples.len()];
    let (mut force, mut torque) = (Vec3::zeros(), Vec3::zeros());
    let center = pose.transform_point(&query.center.into()).coords;
    let mut above = f64::INFINITY;
    for contact in found {
        let sample = &samples[contact.sample as usize];
        assert!(!std::mem::replace(&mut is_in[contact.sample as usize], true), "twice in the manifold");
        assert!((contact.point - sample.point).norm() < 1e-9 && (contact.normal - sample.normal).norm() < 1e-9);
        let d = contact.penetration;
        assert!(d >= 0.0 && d <= above && d >= sample.v[0] - CLOSE && d <= sample.v[1] + CLOSE, "{d} {:?}", sample.v);
        above = d;
        let f = sample.normal * (query.stiffness * d);
        force += f;
        torque += (sample.point - center).cross(&f);
    }
    let share = f64::min(1.0, f64::from(query.average_from) / found.len().max(1) as f64);
    let off = (answer.wrench.force - force * share).norm() + (answer.wrench.torque - torque * share).norm();
    assert!(off <= 1e-9 * (1.0 + force.norm()), "the wrench is off by {off}");
    assert!(answer.most >= answer.penetration);
    for (i, sample) in samples.iter().enumerate() {
        assert!(is_in[i] || sample.v[0] <= answer.most + CLOSE, "sample {i}: {:?} above {}", sample.v, answer.most);
    }
}

#[test]
fn answers_are_those_of_all_samples_in_f64() {
    let scene = scene();
    let (mut workspace, mut rng) = (VoxelWorkspace::new(), Rng(3));
    let (mut touching, mut apart, mut tests, mut separate) = (0, 0, 0, 0);
    let rounds = if long() { 100_000 } else { 1_000 };
    for round in 0..rounds {
        let map = &scene.maps[round % scene.maps.len()];
        let shell = &scene.shells[rng.next() as usize % scene.shells.len()];
        let rule = [Rule::Local, Rule::Interpolated][rng.next() as usize % 2];
        let query = VoxelQuery {
            rule,
            stiffness: 800.0,
            average_from: if round % 3 == 0 { 10 } else { u32::MAX },
            center: rng.vector() * 0.1,
            ..VoxelQuery::default()
        };
        let poses = poses(&mut rng);
        let samples = all(map, shell, &poses, rule);
        let answer = voxel_query(map, &poses[0], shell, &poses[1], &query, &mut workspace);
        let complete = workspace.manifold().to_vec();
        check(&complete, &answer, &query, &samples, &poses[1]);
        assert_eq!(answer.completeness, Completeness::Complete);
        assert_eq!(answer.most, answer.penetration, "{:?}", map.form());
        for (i, sample) in samples.iter().enumerate() {
            let found = complete.iter().any(|c| c.sample == i as u32);
            assert!(found || sample.v[0] < CLOSE, "{:?} misses sample {i} of {:?}", map.form(), sample.v);
        }
        let most = |k: usize| samples.iter().map(|s| s.v[k]).fold(f64::NEG_INFINITY, f64::max);
        assert!(answer.penetration >= most(0) - CLOSE && answer.penetration <= most(1) + CLOSE, "{answer:?}");
        touching += usize::from(!complete.is_empty());
        apart += usize::from(complete.is_empty());
        if map.form() == MapForm::Real && complete.is_empty() {
            tests += answer.sample_tests;
            separate += shell.len();
        }
        // Cut short by level or by tests: a part of the complete manifold, and a bound of the rest.
        let short = VoxelQuery {
            max_level: if round % 2 == 0 { rng.next() as u32 % 4 } else { u32::MAX },
            tests: if round % 2 == 1 { rng.next() % 200 } else { u64::MAX },
            distance: round % 4 < 2,
            ..query
        };
        let answer = voxel_query(map, &poses[0], shell, &poses[1], &short, &mut workspace);
        check(workspace.manifold(), &answer, &short, &samples, &poses[1]);
        assert!(workspace.manifold().iter().all(|c| complete.contains(c)));
        assert!(answer.penetration.is_finite() && answer.node_tests >= 1);
    }
    assert!(touching > rounds / 4 && apart > rounds / 8, "{touching} {apart}");
    let share = tests as f64 / separate as f64;
    assert!(share < 0.5, "the tree leaves out too little: {share} of all samples are tested");
}

#[test]
fn bodies_far_apart_have_a_finite_distance() {
    let scene = scene();
    let mut workspace = VoxelWorkspace::new();
    for map in &scene.maps {
        for far in [1e3, 1e9, 1e18] {
            let pose = Isometry3::translation(far, 0.0, 0.0);
            let query = VoxelQuery::default();
            let answer = voxel_query(map, &Isometry3::identity(), &scene.shells[0], &pose, &query, &mut workspace);
            assert!((answer.penetration / -far - 1.0).abs() < 1e-2, "{answer:?}");
            assert!(workspace.manifold().is_empty() && answer.wrench.force == Vec3::zeros());
        }
    }
}

#[test]
fn warm_queries_do_not_allocate() {
    let scene = scene();
    let mut workspace = VoxelWorkspace::new();
    let run = |workspace: &mut VoxelWorkspace| {
        let (mut rng, mut found) = (Rng(6), 0);
        for round in 0..200 {
            let [of_map, of_shell] = poses(&mut rng);
            let (map, shell) = (&scene.maps[round % scene.maps.len()], &scene.shells[round % scene.shells.len()]);
            voxel_query(map, &of_map, shell, &of_shell, &VoxelQuery::default(), workspace);
            found += workspace.manifold().len();
        }
        found
    };
    let found = run(&mut workspace);
    assert!(found > 1000, "{found}");
    assert_eq!(allocations(|| assert_eq!(run(&mut workspace), found)), 0);
}

#[test]
fn same_bytes_on_every_simd_path() {
    let scene = scene();
    let run = || {
        let (mut rng, mut workspace) = (Rng(9), VoxelWorkspace::new());
        let each = (0..60).map(|round| {
            let [of_map, of_shell] = poses(&mut rng);
            let (map, shell) = (&scene.maps[round % scene.maps.len()], &scene.shells[round % scene.shells.len()]);
            let answer = voxel_query(map, &of_map, shell, &of_shell, &VoxelQuery::default(), &mut workspace);
            format!("{answer:?} {:?}", workspace.manifold())
        });
        each.collect::<Vec<String>>()
    };
    let first = run();
    voxshell::field::force_baseline(true);
    let baseline = run();
    voxshell::field::force_baseline(false);
    assert_eq!(baseline, first);
}

#[test]
fn a_time_limit_of_zero_still_gives_a_bound() {
    let scene = scene();
    let (map, shell) = (&scene.maps[0], &scene.shells[0]);
    let pose = Isometry3::identity();
    let samples = all(map, shell, &[pose, pose], Rule::Local);
    let query = VoxelQuery { nanoseconds: 0, ..VoxelQuery::default() };
    let mut workspace = VoxelWorkspace::new();
    let answer = voxel_query(map, &pose, shell, &pose, &query, &mut workspace);
    assert_eq!(answer.completeness, Completeness::Partial);
    check(workspace.manifold(), &answer, &query, &samples, &pose);
}
