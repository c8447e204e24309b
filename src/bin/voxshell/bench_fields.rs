//! `voxshell bench fields`: cooking, error, sampling and loading of fields, full and in bricks.
//!
//! The mesh is 1 m large in a box 1.5 times that, cut into N cells along its largest edge: `…/N`. A row has what was measured,
//! the target, and the unit; lower is better. Times are the best of three, of one thread unless the row says otherwise.

use std::hint::black_box;
use std::time::Instant;

use serde_json::{json, Value};
use voxshell::asset::Shape;
use voxshell::field::{BrickField, DenseField, Field, FieldOptions, Grid, SignedDistance};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::{Bvh, TriMesh};
use voxshell::{Error, Result};

const RUNS: usize = 3;

fn options(cells: u32) -> FieldOptions {
    FieldOptions { padding_voxels: cells / 6, ..FieldOptions::new(1.5 / f64::from(cells)) }
}

fn row(name: &str, measured: f64, target: Option<f64>, unit: &str) -> Value {
    json!({ "row": format!("fields/{name}"), "measured": measured, "target": target, "unit": unit })
}

/// The shortest of several runs, seconds, and the last result.
fn best_of<T>(mut run: impl FnMut() -> Result<T>) -> Result<(f64, T)> {
    let mut best = f64::INFINITY;
    let mut last = None;
    for _ in 0..RUNS {
        // The one before must not be there when the next is made.
        drop(last.take());
        let start = Instant::now();
        last = Some(run()?);
        best = best.min(start.elapsed().as_secs_f64());
    }
    last.map(|value| (best, value)).ok_or_else(|| Error::Unsupported("no runs".into()))
}

fn on<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool.map_err(|e| Error::Unsupported(format!("{threads} threads: {e}")))?.install(run))
}

/// A line of /proc/self/status, bytes; `None` elsewhere than on Linux.
fn status(key: &str) -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix(key))?;
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse::<f64>().ok().map(|kb| kb * 1024.0)
}

pub fn rows(mesh: &TriMesh) -> Result<Vec<Value>> {
    let mut rows = Vec::new();
    let fine = mesh.triangles.len() > 5_000;
    // Of the bunny with 1,550 triangles, and of that with 69,674.
    let targets = if fine { [0.6, 1.5, 4.5] } else { [0.06, 0.28, 1.5] };
    for (cells, target) in [128, 256, 512].into_iter().zip(targets) {
        let cook = || DenseField::cook(mesh, &options(cells), &Progress::none());
        let (seconds, dense) = on(1, || best_of(cook))??;
        rows.push(row(&format!("cook_dense/{cells}"), seconds, Some(target), "s"));
        let cook = || BrickField::cook(mesh, &options(cells), &Progress::none());
        let (seconds, bricks) = on(1, || best_of(cook))??;
        rows.push(row(&format!("cook_bricks/{cells}"), seconds, None, "s"));
        if cells == 512 {
            sampling(mesh, &dense, &bricks, &mut rows);
        }
        let dense_error = node_error(mesh, &dense, dense.grid(), dense.center());
        rows.push(row(&format!("error_dense/{cells}"), dense_error.0, Some(1e-5), "voxel"));
        let (error, wrong) = node_error(mesh, &bricks, bricks.grid(), bricks.center());
        rows.push(row(&format!("error_bricks/{cells}"), error, Some(1e-3), "voxel"));
        let closed = bricks.sign().closed;
        rows.push(row(&format!("wrong_signs/{cells}"), (wrong + dense_error.1) as f64, closed.then_some(0.0), "nodes"));
    }
    largest(mesh, &mut rows)?;
    Ok(rows)
}

/// 1024 cells along the edge.
fn largest(mesh: &TriMesh, rows: &mut Vec<Value>) -> Result<()> {
    // Resets the peak; without Linux there is no such row.
    let before = std::fs::write("/proc/self/clear_refs", "5").ok().and_then(|()| status("VmRSS"));
    let cook = || BrickField::cook(mesh, &options(1024), &Progress::none());
    let (seconds, field) = on(2, || best_of(cook))??;
    rows.push(row("cook_bricks/1024/2_threads", seconds, Some(2.0), "s"));
    if let (Some(before), Some(peak)) = (before, status("VmHWM")) {
        rows.push(row("cook_bricks/1024/peak", (peak - before) * 1e-6, Some(150.0), "MB"));
    }
    rows.push(row("bricks/1024/memory", field.bytes() as f64 * 1e-6, Some(60.0), "MB"));
    // The same surface and voxels without the empty space, which is answered by the distance to the box.
    let tight = FieldOptions::new(options(1024).voxel_size);
    let tight = BrickField::cook(mesh, &tight, &Progress::none())?;
    rows.push(row("bricks/1024/memory_4_cells_around", tight.bytes() as f64 * 1e-6, Some(60.0), "MB"));
    let folder = tempfile::tempdir().map_err(|source| Error::Io { path: std::env::temp_dir(), source })?;
    let path = folder.path().join("bricks.vxs");
    Shape::from_field(Field::Bricks(field)).save(&path)?;
    let size = std::fs::metadata(&path).map_err(|source| Error::Io { path: path.clone(), source })?.len();
    rows.push(row("bricks/1024/file", size as f64 * 1e-6, None, "MB"));
    let (seconds, _) = best_of(|| Shape::load(&path))?;
    rows.push(row("bricks/1024/load", seconds * 1e3, Some(50.0), "ms"));
    Ok(())
}

struct Random(u64);

impl Random {
    /// Uniform in 0..1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A point within `reach` of the surface along each axis, body frame.
fn near(mesh: &TriMesh, reach: f64, random: &mut Random) -> Vec3 {
    let t = ((random.next() * mesh.triangles.len() as f64) as usize).min(mesh.triangles.len() - 1);
    let [a, b, c] = mesh.corners(t).map(Vec3::from);
    let (s, u) = (random.next().sqrt(), random.next());
    let on = a * (1.0 - s) + b * (s * (1.0 - u)) + c * (s * u);
    on + Vec3::new(random.next() - 0.5, random.next() - 0.5, random.next() - 0.5) * (2.0 * reach)
}

/// Largest error, in voxels, at 2,000 nodes within three voxels of the surface against the exact distance in f64, and how
/// many of them have the wrong sign.
fn node_error(mesh: &TriMesh, field: &impl SignedDistance, grid: &Grid, center: Vec3) -> (f64, usize) {
    let (bvh, h) = (Bvh::build(mesh), f64::from(grid.spacing));
    let mut random = Random(7);
    let (mut largest, mut wrong, mut count) = (0.0f64, 0, 0);
    while count < 2000 {
        let p = near(mesh, 3.0 * h, &mut random) - center;
        let [i, j, k] = [0, 1, 2].map(|a| {
            let t = (p[a] - f64::from(grid.min[a])) / h;
            t.round().clamp(0.0, f64::from(grid.dims[a] - 1)) as u32
        });
        let node = grid.node(i, j, k);
        let exact = bvh.signed_distance(Vec3::from(node.map(f64::from)) + center);
        if exact.abs() > 3.0 * h {
            continue;
        }
        count += 1;
        let phi = f64::from(field.distance(node));
        largest = largest.max((phi - exact).abs() / h);
        wrong += usize::from(exact.abs() > 1e-6 && (phi < 0.0) != (exact < 0.0));
    }
    (largest, wrong)
}

/// Time for φ in batches of eight and for φ with gradient, one by one, at points of the band; of bricks over a full grid.
fn sampling(mesh: &TriMesh, dense: &DenseField, bricks: &BrickField, rows: &mut Vec<Value>) {
    let reach = 2.0 * f64::from(dense.grid().spacing);
    let mut random = Random(3);
    // A few points again and again, and more than any cache holds in no order.
    for (name, count, repeats, target) in [("warm", 4096, 400, 1.3), ("cold", 2_000_000, 1, 1.0)] {
        let points: Vec<Vec3> = (0..count).map(|_| near(mesh, reach, &mut random) - dense.center()).collect();
        let axis = |a: usize| points.iter().map(|p| p[a] as f32).collect::<Vec<f32>>();
        let [x, y, z] = [axis(0), axis(1), axis(2)];
        let [full, sparse] =
            [seconds_per_point(dense, &x, &y, &z, repeats), seconds_per_point(bricks, &x, &y, &z, repeats)];
        for (what, n) in [("distance", 0), ("gradient", 1)] {
            let mut r = row(&format!("sample_{what}/512/{name}"), sparse[n] / full[n], Some(target), "ratio");
            r["bricks_ns"] = json!(sparse[n] * 1e9);
            r["dense_ns"] = json!(full[n] * 1e9);
            rows.push(r);
        }
    }
}

fn seconds_per_point(field: &impl SignedDistance, x: &[f32], y: &[f32], z: &[f32], repeats: usize) -> [f64; 2] {
    let mut out = [0.0f32; 8];
    let mut best = [f64::INFINITY; 2];
    for _ in 0..RUNS {
        let start = Instant::now();
        for _ in 0..repeats {
            for ((x, y), z) in x.chunks_exact(8).zip(y.chunks_exact(8)).zip(z.chunks_exact(8)) {
                field.distance_batch(x, y, z, &mut out);
                black_box(&out);
            }
        }
        best[0] = best[0].min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        for _ in 0..repeats {
            for ((x, y), z) in x.iter().zip(y).zip(z) {
                black_box(field.distance_gradient([*x, *y, *z]));
            }
        }
        best[1] = best[1].min(start.elapsed().as_secs_f64());
    }
    best.map(|b| b / (repeats * x.len()) as f64)
}
