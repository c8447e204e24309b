//! Decomposition of the surface into convex patches (Ehmann & Lin 2001, "Accurate and fast proximity queries between
//! polyhedra using convex surface decomposition").
//!
//! A patch grows over edges with two triangles. A triangle joins if the patch stays convex: every corner of the patch is
//! on or below the plane of every triangle of the patch. The test is exact, on the lattice.

use std::collections::VecDeque;

use super::surface::{Surface, REMOVED};
use voxshell_base::math::{Progress, Work};
use voxshell_base::memory::{filled, GrowGuarded, RoomGuarded};
use voxshell_base::Result;

/// Largest number of triangles of a patch of the decomposition: bounds the time by this number per triangle.
const MOST_TRIANGLES: usize = 512;

/// Assigns every triangle to a patch.
pub fn decompose(surface: &mut Surface, progress: &Progress) -> Result<()> {
    let count = surface.faces.len();
    let mut work = Work::new(progress);
    // The patch that last used each vertex.
    let mut used = filled(REMOVED, surface.points.len());
    let (mut vertices, mut open) = (Vec::new(), VecDeque::new());
    for seed in 0..count as u32 {
        if seed % 1024 == 0 {
            progress.report("decomposing", f64::from(seed) / count as f64)?;
        }
        if surface.patches[seed as usize] != REMOVED {
            continue;
        }
        let patch = surface.begin_patch(seed);
        vertices.clear();
        open.clear();
        for v in surface.faces[seed as usize] {
            used[v as usize] = patch;
            vertices.push_guarded(v);
        }
        open.reserve_guarded(1);
        open.push_back(seed);
        while let Some(face) = open.pop_front() {
            for i in 0..3 {
                let corners = surface.faces[face as usize];
                let Some(next) = surface.across(face, corners[i], corners[(i + 1) % 3]) else { continue };
                let members = &surface.members[patch as usize];
                if surface.patches[next as usize] != REMOVED || members.len() >= MOST_TRIANGLES {
                    continue;
                }
                work.add((members.len() + vertices.len()) as u64)?;
                let is_below = |f: u32, v: u32| surface.side_of(f, &surface.points[v as usize]) <= 0;
                let corners = surface.faces[next as usize];
                let is_new = |v: u32, used: &[u32]| used[v as usize] != patch;
                let fits = vertices.iter().rev().all(|&v| is_below(next, v))
                    && corners.iter().all(|&v| !is_new(v, &used) || members.iter().rev().all(|&f| is_below(f, v)));
                if !fits {
                    continue;
                }
                for v in corners {
                    if is_new(v, &used) {
                        used[v as usize] = patch;
                        vertices.push_guarded(v);
                    }
                }
                surface.members[patch as usize].push_guarded(next);
                surface.patches[next as usize] = patch;
                open.reserve_guarded(1);
                open.push_back(next);
            }
        }
    }
    Ok(())
}
