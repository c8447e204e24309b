//! Segments against a field (Xu & Barbič 2014, table 2): a million pairs of points, uniform in a cube of 1.5 times the mesh's
//! largest extent.

use std::time::Instant;

use serde_json::{json, Value};
use voxshell::ccd::segment::{first_fraction, first_fractions, Segment, Start};
use voxshell::field::{DenseField, Field, FieldOptions};
use voxshell::math::{Progress, Vec3};
use voxshell::mesh::TriMesh;
use voxshell::Result;

const COUNT: usize = 1_000_000;
const SIDE: f64 = 1.5;
/// Cells along the cube, and seconds for the million.
const TARGETS: [(u32, f64); 3] = [(128, 0.30), (256, 0.32), (512, 0.40)];
const REPEATS: usize = 5;

pub fn rows(name: &str, mesh: &TriMesh) -> Result<Vec<Value>> {
    let segments = segments(mesh.bounds().center());
    let peer = peer(mesh, &segments);
    let mut rows = Vec::new();
    for (cells, target) in TARGETS {
        let voxel_size = SIDE / f64::from(cells);
        // As much room around the mesh as the cube has along its largest extent.
        let padding_voxels = (0.5 * (SIDE - 1.0) / voxel_size) as u32;
        let options = FieldOptions { padding_voxels, ..FieldOptions::new(voxel_size) };
        let field = Field::Dense(DenseField::cook(mesh, &options, &Progress::none())?);
        let mut fractions = vec![None; COUNT];
        let batch = best_of(|| first_fractions(&field, &segments, 0.0, Start::Hit, &mut fractions));
        let mut singly = vec![None; COUNT];
        let one = best_of(|| {
            for (segment, fraction) in segments.iter().zip(&mut singly) {
                *fraction = first_fraction(&field, segment, 0.0, Start::Hit);
            }
        });
        let hits = fractions.iter().flatten().count();
        let row = |kind: &str, measured: f64| {
            let mut row = json!({
                "row": format!("segments/{name}/{cells}{kind}"), "measured": measured, "target": target, "unit": "s",
                "segments": COUNT, "hits": hits,
            });
            if let Some((peer, seconds, peer_hits)) = &peer {
                row["peer"] = json!(peer);
                row["peer_measured"] = json!(seconds);
                row["peer_hits"] = json!(peer_hits);
            }
            row
        };
        rows.push(row("", batch));
        rows.push(row("/one_at_a_time", one));
    }
    Ok(rows)
}

/// The same ones every time: SplitMix64.
fn segments(center: Vec3) -> Vec<Segment> {
    let mut state = 2014u64;
    let mut uniform = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let mut point = || center + Vec3::new(uniform(), uniform(), uniform()) * SIDE;
    (0..COUNT).map(|_| Segment::new(point(), point())).collect()
}

/// Seconds of this thread, the least of some repeats.
fn best_of(mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let (wall, start) = (Instant::now(), on_cpu());
        work();
        let seconds = match (start, on_cpu()) {
            (Some(start), Some(end)) => end - start,
            _ => wall.elapsed().as_secs_f64(),
        };
        best = best.min(seconds);
    }
    best
}

/// Seconds that this thread has run, where the system tells.
fn on_cpu() -> Option<f64> {
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

#[cfg(not(feature = "peers"))]
fn peer(_: &TriMesh, _: &[Segment]) -> Option<(&'static str, f64, usize)> {
    None
}

/// parry3d's ray against the mesh: name, seconds, hits.
#[cfg(feature = "peers")]
fn peer(mesh: &TriMesh, segments: &[Segment]) -> Option<(&'static str, f64, usize)> {
    use parry3d::math::Vector;
    use parry3d::query::{Ray, RayCast};
    let vector = |v: &Vec3| Vector::new(v.x as f32, v.y as f32, v.z as f32);
    let vertices = mesh.vertices.iter().map(|v| vector(&Vec3::from(*v))).collect();
    let shape = parry3d::shape::TriMesh::new(vertices, mesh.triangles.clone()).ok()?;
    let rays: Vec<Ray> = segments.iter().map(|s| Ray::new(vector(&s.from), vector(&(s.to - s.from)))).collect();
    let mut hits = 0;
    let seconds = best_of(|| hits = rays.iter().filter(|r| shape.cast_local_ray(r, 1.0, false).is_some()).count());
    Some(("parry3d 0.31 TriMesh::cast_local_ray", seconds, hits))
}
