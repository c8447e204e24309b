//! `voxshell-lab bench exact`: the storage that is exact near the surface beside the grid, at 128 cells: largest error,
//! memory, and the times of cooking, sampling and a query.
//!
//! The mesh is 1 m large. Times are the minimum of several runs, of the thread's clock and for cooking of
//! the process's, both storages in turn.

use std::hint::black_box;

use nalgebra::{Isometry3, Translation3};
use voxshell::asset::{CookOptions, Forms, Resolution, Shape, Storage};
use voxshell::contact::{contacts, Query, Workspace};
use voxshell::field::{Field, SignedDistance};
use voxshell::math::{Pose, Progress, Vec3};
use voxshell::mesh::{Bvh, TriMesh};
use voxshell::pointshell::ShellOptions;
use voxshell::Result;

use super::random::Random;
use voxshell_lab::clock::{of_process, of_thread};
use voxshell_lab::row::Row;

const CELLS: u32 = 128;
/// Number of points near the surface at which the error is measured, and of points at which a field is sampled.
const POINTS: usize = 200_000;
/// Number of poses of a query; the body is between touching and a voxel deep in itself.
const POSES: usize = 100;
const REPEATS: usize = 3;
const SAMPLES: usize = 35_000;

/// Returns a pyramid of 1 × 1 × 3 m, or a wedge of 1 × 2 × 3 m (Erleben 2018), by name.
pub fn degenerate(name: &str) -> Option<TriMesh> {
    let base = |z: f64| vec![[-0.5, 0.0, -z], [0.5, 0.0, -z], [0.5, 0.0, z], [-0.5, 0.0, z]];
    let (mut vertices, tops, triangles) = match name {
        "spike" => {
            let triangles = vec![[0, 1, 2], [0, 2, 3], [1, 0, 4], [2, 1, 4], [3, 2, 4], [0, 3, 4]];
            (base(0.5), vec![[0.0, 3.0, 0.0]], triangles)
        }
        "wedge" => {
            let sides = [[1, 0, 4], [3, 2, 5], [2, 1, 4], [2, 4, 5], [0, 3, 5], [0, 5, 4]];
            let triangles = [[0, 1, 2], [0, 2, 3]].into_iter().chain(sides).collect();
            (base(1.0), vec![[0.0, 3.0, -1.0], [0.0, 3.0, 1.0]], triangles)
        }
        _ => return None,
    };
    vertices.extend(tops);
    Some(TriMesh { vertices, triangles })
}

struct Cooked {
    shape: Shape,
    seconds: f64,
}

impl Cooked {
    fn new(mesh: &TriMesh, storage: Storage) -> Result<Self> {
        let shell = ShellOptions { target_count: Some(SAMPLES), ..ShellOptions::default() };
        let options = CookOptions { resolution: Resolution::Cells(CELLS), storage, shell, ..CookOptions::default() };
        let field_only = CookOptions { forms: Forms { field: true, shell: false }, ..options.clone() };
        let mut seconds = f64::INFINITY;
        for _ in 0..REPEATS {
            let start = of_process();
            Shape::cook(mesh, &field_only, &Progress::none())?;
            seconds = seconds.min(of_process() - start);
        }
        Ok(Self { shape: Shape::cook(mesh, &options, &Progress::none())?, seconds })
    }

    fn field(&self) -> &Field {
        self.shape.field.as_deref().expect("a field was asked for")
    }

    fn voxel(&self) -> f64 {
        self.field().gridded().map_or(1.0, |known| f64::from(known.grid.spacing))
    }

    fn bytes(&self) -> f64 {
        self.field().gridded().map_or(0.0, |known| known.bytes as f64)
    }

    /// Returns the distance at a point of the body frame, metres.
    fn distance(&self, p: &Vec3) -> f64 {
        let field = self.field();
        f64::from(field.distance((p - field.local_origin(p)).map(|x| x as f32).into()))
    }
}

/// Returns points near corners, edges and faces of the mesh, up to two voxels away along each axis.
fn near_points(mesh: &TriMesh, voxel: f64, random: &mut Random) -> Vec<Vec3> {
    let one = |random: &mut Random| {
        let triangle = ((random.next() * mesh.triangles.len() as f64) as usize).min(mesh.triangles.len() - 1);
        let t = mesh.corners(triangle).map(Vec3::from);
        let (mut a, mut b) = (random.next(), random.next());
        match (random.next() * 3.0) as u32 {
            0 => (a, b) = (0.0, b.round()),
            1 => b = 0.0,
            _ if a + b > 1.0 => (a, b) = (1.0 - a, 1.0 - b),
            _ => {}
        }
        let away = Vec3::new(random.next() - 0.5, random.next() - 0.5, random.next() - 0.5) * (4.0 * voxel);
        t[0] + (t[1] - t[0]) * a + (t[2] - t[0]) * b + away
    };
    (0..POINTS).map(|_| one(random)).collect()
}

/// Returns the largest error of a field at points within two voxels of the surface, voxels. Signs are not compared.
fn largest_error(cooked: &Cooked, bvh: &Bvh, points: &[Vec3]) -> f64 {
    let voxel = cooked.voxel();
    let error = |p: &Vec3| {
        let exact = bvh.closest_point(*p).distance_squared.sqrt();
        (exact <= 2.0 * voxel).then(|| (cooked.distance(p).abs() - exact).abs() / voxel)
    };
    points.iter().filter_map(error).fold(0.0, f64::max)
}

/// Returns the least time of both storages for some work, in turn.
fn in_turn(cooked: &[Cooked; 2], mut work: impl FnMut(&Cooked)) -> [f64; 2] {
    let mut least = [f64::INFINITY; 2];
    for _ in 0..REPEATS {
        for (least, cooked) in least.iter_mut().zip(cooked) {
            *least = least.min(of_thread(|| work(cooked)).0);
        }
    }
    least
}

/// Returns poses of the body in itself, between touching and a voxel deep, by its samples.
fn poses(cooked: &Cooked, random: &mut Random) -> Result<Vec<Pose>> {
    let (geometry, mut workspace) = (cooked.shape.geometry(), Workspace::new());
    let mut poses = Vec::new();
    for _ in 0..POSES {
        let (rotation, direction) = (random.rotation(), random.rotation() * Vec3::x());
        let at = |along: f64| Isometry3::from_parts(Translation3::from(direction * along), rotation);
        let goal = cooked.voxel() * random.next();
        let (mut near, mut far) = (0.0, 2.0);
        for _ in 0..30 {
            let middle = 0.5 * (near + far);
            let found =
                contacts(geometry, &at(middle), geometry, &Pose::identity(), &Query::default(), &mut workspace)?;
            let is_deep = found.first().is_some_and(|c| -c.separation > goal);
            (near, far) = if is_deep { (middle, far) } else { (near, middle) };
        }
        poses.push(at(near));
    }
    Ok(poses)
}

/// Measures a closed mesh of 1 m.
pub fn rows(mesh: &TriMesh) -> Result<Vec<Row>> {
    let cooked = [Cooked::new(mesh, Storage::Dense)?, Cooked::new(mesh, Storage::Exact)?];
    let [grid, exact] = &cooked;
    let (mut random, bvh) = (Random::new(1), Bvh::build(mesh));
    let points = near_points(mesh, grid.voxel(), &mut random);
    let [of_grid, of_exact] = [grid, exact].map(|cooked| largest_error(cooked, &bvh, &points));

    let row = |what: &str, value: f64, unit: &str| Row::new(format!("exact/{what}"), value, unit);
    let ratio = |what: &str, ours: f64, theirs: f64, limit: f64| {
        row(what, ours / theirs, "ratio").target(limit).with("exact", ours).with("grid", theirs)
    };
    let mut rows = vec![
        row("largest error", of_exact, "voxels").target(0.01).with("grid", of_grid).with("points", POINTS),
        ratio("memory", exact.bytes(), grid.bytes(), 1.5),
        ratio("cooking", exact.seconds, grid.seconds, 1.5),
    ];
    // Points of the whole grid, nearly all of them away from the surface, and the points near it.
    let bounds = mesh.bounds();
    let everywhere: Vec<Vec3> = (0..POINTS)
        .map(|_| Vec3::from_fn(|k, _| bounds.min[k] + random.next() * (bounds.max[k] - bounds.min[k])))
        .filter(|p| bvh.closest_point(*p).distance_squared.sqrt() > 5.0 * grid.voxel())
        .collect();
    let sample = |points: &[Vec3]| {
        let sum = |cooked: &Cooked| points.iter().map(|p| cooked.distance(p)).sum::<f64>();
        let seconds = in_turn(&cooked, |cooked| {
            black_box(sum(cooked));
        });
        seconds.map(|seconds| 1e9 * seconds / points.len().max(1) as f64)
    };
    let [far_grid, far_exact] = sample(&everywhere);
    rows.push(ratio("sampling more than five voxels away", far_exact, far_grid, 1.0).with("ratio_of", "ns"));
    let [near_grid, near_exact] = sample(&points);
    rows.push(row("sampling within two voxels", near_exact / near_grid, "ratio").with("grid", near_grid));
    let (poses, mut workspace) = (poses(grid, &mut random)?, Workspace::new());
    let query = in_turn(&cooked, |cooked| {
        let geometry = cooked.shape.geometry();
        for pose in &poses {
            let found = contacts(geometry, pose, geometry, &Pose::identity(), &Query::default(), &mut workspace);
            black_box(found.map_or(0, <[_]>::len));
        }
    });
    rows.push(ratio("query of samples", query[1], query[0], 1.3).with("poses", POSES));
    Ok(rows)
}
