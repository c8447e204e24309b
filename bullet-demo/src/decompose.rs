//! Convex decompositions for the stock methods.
//!
//! Neither V-HACD nor HACD can be interrupted, and HACD may take hours. So each decomposition runs in a process of its
//! own: this program with the hidden argument `--decompose`. The process is killed when its time is up.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use parry3d::math::Vector;
use parry3d::transformation::try_convex_hull;
use parry3d::transformation::vhacd::{VHACDParameters, VHACD};
use voxshell::mesh::TriMesh;

use crate::bridge::{hacd_hulls, Hull, Method};
use crate::cache::{self, HullCache};
use crate::progress::Progress;

/// Vertices of each hull, V-HACD's own default.
const HULL_VERTICES: usize = 64;

/// Interval at which the decomposition process is polled.
const POLL: Duration = Duration::from_millis(20);

/// Everything that a decomposition needs except the mesh.
pub struct Decomposer<'a> {
    pub cache: HullCache,
    /// Folder of the files that the process reads and writes.
    pub folder: &'a Path,
    /// Time limit for one body; `None` means no limit.
    pub limit: Option<Duration>,
    pub progress: &'a Progress,
}

impl Decomposer<'_> {
    /// Returns the convex parts of `mesh` by [`Method::Vhacd32`] or [`Method::Hacd`]; `name` is the body's, for
    /// messages.
    ///
    /// An error gives the reason as words that complete "skipped: ".
    pub fn hulls(&self, method: Method, name: &str, mesh: &TriMesh) -> Result<Vec<Hull>, String> {
        let task = format!("{} of {name}", method.entry().title);
        self.progress.start(&task, 0);
        self.cache.hulls(mesh, &parameters_of(method), || {
            let start = Instant::now();
            let hulls = self.in_a_process(method, mesh).map_err(|reason| format!("{task} {reason}"))?;
            self.progress.say(&format!("{task}: {} hulls, {:.1} s", hulls.len(), start.elapsed().as_secs_f64()));
            Ok(hulls)
        })
    }

    fn in_a_process(&self, method: Method, mesh: &TriMesh) -> Result<Vec<Hull>, String> {
        let (input, output) = (self.folder.join("decompose.json"), self.folder.join("hulls.json"));
        let failed = |e: std::io::Error| format!("failed: {e}");
        let text = serde_json::to_string(&(&mesh.vertices, &mesh.triangles)).map_err(|e| failed(e.into()))?;
        std::fs::write(&input, text).map_err(failed)?;
        let _ = std::fs::remove_file(&output);
        let mut child = Command::new(std::env::current_exe().map_err(failed)?)
            .args(["--decompose", method.entry().name])
            .args([&input, &output])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                break status;
            }
            if let Some(limit) = self.limit.filter(|limit| start.elapsed() > *limit) {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("took longer than {:.0} s (--decomposition-limit)", limit.as_secs_f64()));
            }
            std::thread::sleep(POLL);
        };
        if !status.success() {
            return Err(format!("failed: {status}"));
        }
        cache::read(&output).ok_or_else(|| "gave no hulls".into())
    }
}

/// Runs one decomposition in this process: reads a mesh from `input` and writes hulls to `output`.
pub fn decompose(method: Method, input: &Path, output: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(input).map_err(|e| e.to_string())?;
    let (vertices, triangles) = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let mesh = TriMesh::new(vertices, triangles).map_err(|e| e.to_string())?;
    let hulls = if method == Method::Hacd { hacd(&mesh) } else { vhacd32(&mesh) };
    cache::write(output, &hulls).map_err(|e| e.to_string())
}

fn vhacd_parameters() -> VHACDParameters {
    VHACDParameters { concavity: 0.001, resolution: 128, max_convex_hulls: 32, ..Default::default() }
}

/// Returns everything that determines the hulls except the mesh: the key of the cache.
fn parameters_of(method: Method) -> String {
    if method == Method::Hacd {
        return format!("hacd of bullet extras, settings of its demo, {HACD_VERTICES} vertices");
    }
    format!("vhacd of parry3d 0.31, exact hulls of {HULL_VERTICES} vertices, {:?}", vhacd_parameters())
}

/// Runs V-HACD (Mamou) of parry3d: about 32 parts, each the hull of the mesh's own surface in it.
fn vhacd32(mesh: &TriMesh) -> Vec<Hull> {
    let points: Vec<Vector> =
        mesh.vertices.iter().map(|v| Vector::new(v[0] as f32, v[1] as f32, v[2] as f32)).collect();
    let parts = VHACD::decompose(&vhacd_parameters(), &points, &mesh.triangles, true);
    let hulls = parts.compute_exact_convex_hulls(&points, &mesh.triangles);
    let flat = |points: Vec<Vector>| points.iter().flat_map(|p| [p.x, p.y, p.z].map(f64::from)).collect();
    let hulls = hulls.into_iter().filter(|h| h.0.len() >= 4);
    hulls.map(|h| Hull { points: flat(reduced(h.0, HULL_VERTICES)) }).collect()
}

/// Returns at most `most` vertices of a hull: the extremes along the axes, then repeatedly the vertex farthest outside
/// the hull of the chosen ones.
fn reduced(points: Vec<Vector>, most: usize) -> Vec<Vector> {
    if points.len() <= most {
        return points;
    }
    let farthest = |along: &dyn Fn(Vector) -> f32| {
        points.iter().copied().max_by(|a, b| along(*a).total_cmp(&along(*b))).expect("a hull has vertices")
    };
    let mut taken: Vec<Vector> = Vec::new();
    for axis in [Vector::X, Vector::Y, Vector::Z, Vector::ONE] {
        taken.extend([farthest(&|p| p.dot(axis)), farthest(&|p| -p.dot(axis))]);
    }
    while taken.len() < most {
        let Ok((corners, sides)) = try_convex_hull(&taken) else { return points };
        let planes: Vec<(Vector, f32)> = sides
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| corners[i as usize]);
                let normal = (b - a).cross(c - a).normalize_or_zero();
                (normal, normal.dot(a))
            })
            .collect();
        let outside = |p: Vector| planes.iter().map(|(n, d)| n.dot(p) - d).fold(f32::NEG_INFINITY, f32::max);
        let next = farthest(&outside);
        if outside(next) <= 0.0 {
            break;
        }
        taken.push(next);
    }
    taken
}

/// Largest number of vertices given to HACD, about; its cost grows at least with the square of the vertices.
const HACD_VERTICES: usize = 3500;

/// Runs HACD of Bullet's extras.
fn hacd(mesh: &TriMesh) -> Vec<Hull> {
    let small = simplified(mesh, HACD_VERTICES);
    let vertices: Vec<f64> = small.vertices.iter().flatten().copied().collect();
    let triangles: Vec<u32> = small.triangles.iter().flatten().copied().collect();
    let hulls = hacd_hulls(&vertices, &triangles);
    hulls.into_iter().filter(|h| h.points.len() >= 12).collect()
}

/// Merges vertices by the cells of a grid that is fine enough to leave at most `most` of them.
fn simplified(mesh: &TriMesh, most: usize) -> TriMesh {
    let bounds = mesh.bounds();
    let mut cell = bounds.extents().max() / 256.0;
    let mut small = mesh.clone();
    while small.vertices.len() > most {
        small = clustered(mesh, bounds.min.into(), cell);
        cell *= 1.1;
    }
    small
}

fn clustered(mesh: &TriMesh, origin: [f64; 3], cell: f64) -> TriMesh {
    let mut index_of = HashMap::new();
    let mut sums: Vec<([f64; 3], f64)> = Vec::new();
    let mut new_index = Vec::with_capacity(mesh.vertices.len());
    for v in &mesh.vertices {
        let key = [0, 1, 2].map(|i| ((v[i] - origin[i]) / cell) as i64);
        let index = *index_of.entry(key).or_insert_with(|| {
            sums.push(([0.0; 3], 0.0));
            sums.len() - 1
        });
        (0..3).for_each(|i| sums[index].0[i] += v[i]);
        sums[index].1 += 1.0;
        new_index.push(index as u32);
    }
    let vertices = sums.iter().map(|(sum, n)| sum.map(|s| s / n)).collect();
    let mut seen = std::collections::HashSet::new();
    let triangles = mesh.triangles.iter().map(|t| t.map(|i| new_index[i as usize])).filter(|t| {
        let mut sorted = *t;
        sorted.sort_unstable();
        t[0] != t[1] && t[1] != t[2] && t[2] != t[0] && seen.insert(sorted)
    });
    TriMesh { vertices, triangles: triangles.collect() }
}
