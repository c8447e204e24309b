//! The levels of detail: the surface each time the number of its convex pieces has halved.

use super::collapse::Collapser;
use super::decompose::decompose;
use super::lattice::Point;
use super::surface::Surface;
use voxshell_base::math::Progress;
use voxshell_base::memory::{filled, CollectGuarded, GrowGuarded, SliceGuarded};
use voxshell_base::Result;

const NONE: u32 = u32::MAX;

/// The surface at a level.
pub struct Snapshot {
    pub points: Vec<Point>,
    /// Triangles, indices of `points`, piece after piece.
    pub triangles: Vec<[u32; 3]>,
    /// Where the triangles of each piece begin, and their number at the end.
    pub starts: Vec<u32>,
    /// For each piece of the next finer level its piece here.
    pub parents: Vec<u32>,
    /// The point that stands for each vertex of the original surface; `u32::MAX` for vertices without triangles.
    pub representatives: Vec<u32>,
    /// Length of the longest edge collapsed so far, lattice steps.
    pub longest: f64,
    /// Patches of the pieces.
    patches: Vec<u32>,
}

impl Snapshot {
    fn of(surface: &mut Surface, previous: Option<&Self>, longest: i128) -> Self {
        let alive = surface.alive_faces();
        let mut by_patch: Vec<(u32, u32)> = alive.iter().map(|&f| (surface.patch_of(f), f)).collect_guarded();
        by_patch.sort_unstable();
        let mut index = filled(NONE, surface.points.len());
        let (mut points, mut patches, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        for v in 0..surface.points.len() {
            if !surface.fans[v].is_empty() {
                index[v] = points.len() as u32;
                points.push_guarded(surface.points[v]);
            }
        }
        for (i, (patch, _)) in by_patch.iter().enumerate() {
            if patches.last() != Some(patch) {
                patches.push_guarded(*patch);
                starts.push_guarded(i as u32);
            }
        }
        starts.push_guarded(by_patch.len() as u32);
        let triangles = by_patch.iter().map(|&(_, f)| surface.faces[f as usize].map(|v| index[v as usize]));
        let triangles = triangles.collect_guarded();
        let before = previous.map_or(&[][..], |p| &p.patches);
        let parents = before
            .iter()
            .map(|&patch| {
                let remaining = surface.remaining(patch);
                patches.binary_search(&remaining).map_or(NONE, |i| i as u32)
            })
            .collect_guarded();
        let representatives = (0..surface.points.len() as u32)
            .map(|v| {
                let v = surface.representative(v);
                index[v as usize]
            })
            .collect_guarded();
        let longest = (longest as f64).sqrt();
        Self { points, triangles, starts, parents, representatives, longest, patches }
    }

    pub fn piece_count(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn piece(&self, i: usize) -> &[[u32; 3]] {
        &self.triangles[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}

/// Decomposes and simplifies a surface. Returns its levels, the original surface first, and for each of its triangles the
/// piece of the first level.
pub fn simplify(points: &[Point], faces: &[[u32; 3]], progress: &Progress) -> Result<(Vec<Snapshot>, Vec<u32>)> {
    let mut surface = Surface::new(points.to_vec_guarded(), faces.to_vec_guarded());
    decompose(&mut surface, progress)?;
    let first = Snapshot::of(&mut surface, None, 0);
    let pieces = (0..faces.len() as u32)
        .map(|f| {
            let patch = surface.patch_of(f);
            first.patches.binary_search(&patch).unwrap_or(0) as u32
        })
        .collect_guarded();
    let mut levels = vec![first];
    let (total, mut last, mut step) = (surface.face_count as f64, surface.patch_count, 0u32);
    let mut collapser = Collapser::new(surface, progress);
    while collapser.step()? {
        step += 1;
        let count = collapser.surface.patch_count;
        if step % 1024 == 0 {
            progress.report("simplifying", 1.0 - collapser.surface.face_count as f64 / total)?;
        }
        if 2 * count <= last {
            let level = Snapshot::of(&mut collapser.surface, levels.last(), collapser.longest);
            levels.push_guarded(level);
            last = count;
        }
    }
    if collapser.surface.patch_count < last {
        let level = Snapshot::of(&mut collapser.surface, levels.last(), collapser.longest);
        levels.push_guarded(level);
    }
    Ok((levels, pieces))
}
