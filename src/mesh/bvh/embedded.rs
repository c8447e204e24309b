//! Where a surface intersects or touches itself.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;

use super::Bvh;
use crate::apart::{are_farther_apart, lie_on_each_other, meet_only_at_shared_corners};
use crate::TriMesh;
use voxshell_base::memory::{filled_with, CollectGuarded};

/// Work limits: average per triangle, and a minimum for any mesh. A unit is a triangle whose box is looked at, and
/// [`TEST`] units are a pair that is tested. Beyond the limit the test gives up, so that its time does not grow with
/// the square of the number of triangles in meshes whose triangles all overlap: 2 s of one core for 100,000 of them.
const EACH: u64 = 256;
const ALWAYS: u64 = 1 << 26;
const TEST: u64 = 8;

impl Bvh {
    /// Returns for each triangle of `mesh`, over which this hierarchy was built, whether it may have points in common with
    /// another one except shared corners and edges; `false` is certain. Corners with the same number are shared; no two
    /// numbers may have equal coordinates. `None` where too many close triangles leave the answer open.
    pub fn meeting_triangles(&self, mesh: &TriMesh) -> Option<Vec<bool>> {
        let most = ALWAYS + EACH * self.len() as u64;
        let work = AtomicU64::new(0);
        let meet = filled_with(self.len(), AtomicBool::default);
        // The result depends on all pairs, or on their number: the order of the threads does not matter.
        let is_done = (0..self.len()).into_par_iter().all(|k| {
            let own = &self.corners[k];
            let (min, max) = (own[0].inf(&own[1]).inf(&own[2]), own[0].sup(&own[1]).sup(&own[2]));
            let t = self.id(k) as usize;
            let mut here = 0;
            self.visit_leaves(
                |n| (0..3).all(|i| n.min[i] <= max[i] && min[i] <= n.max[i]),
                |other| {
                    here += 1;
                    if other <= k {
                        return;
                    }
                    let c = &self.corners[other];
                    let off = |i: usize| {
                        c[0][i].min(c[1][i]).min(c[2][i]) > max[i] || c[0][i].max(c[1][i]).max(c[2][i]) < min[i]
                    };
                    if !(0..3).any(off) {
                        here += TEST;
                        let u = self.id(other) as usize;
                        if !meet_only_at_shared_corners(own, &mesh.triangles[t], c, &mesh.triangles[u]) {
                            [t, u].iter().for_each(|&t| meet[t].store(true, Ordering::Relaxed));
                        }
                    }
                },
            );
            work.fetch_add(here, Ordering::Relaxed) + here <= most
        });
        is_done.then(|| meet.into_iter().map(AtomicBool::into_inner).collect_guarded())
    }

    /// Calls `found` with each triangle that may have points in common with triangle `k`, in leaf order, except shared corners and
    /// edges, or that shares none and may be no farther from it than a distance, metres, or that lies on it up to that. Returns the
    /// number of triangles that were looked at.
    pub fn each_near(&self, mesh: &TriMesh, k: usize, distance: f64, mut found: impl FnMut(u32)) -> u64 {
        let mut looked_at = 0;
        let own = &self.corners[k];
        let (min, max) = (own[0].inf(&own[1]).inf(&own[2]), own[0].sup(&own[1]).sup(&own[2]));
        let (min, max) = (min.add_scalar(-distance), max.add_scalar(distance));
        let ids = &mesh.triangles[self.id(k) as usize];
        self.visit_leaves(
            |n| (0..3).all(|i| n.min[i] <= max[i] && min[i] <= n.max[i]),
            |other| {
                looked_at += 1;
                let (c, u) = (&self.corners[other], self.id(other));
                let (low, high) = (c[0].inf(&c[1]).inf(&c[2]), c[0].sup(&c[1]).sup(&c[2]));
                if other == k || (0..3).any(|i| low[i] > max[i] || min[i] > high[i]) {
                    return;
                }
                let others = &mesh.triangles[u as usize];
                let is_apart = match ids.iter().any(|id| others.contains(id)) {
                    true => meet_only_at_shared_corners(own, ids, c, others) && !lie_on_each_other(own, c, distance),
                    false => are_farther_apart(own, c, distance),
                };
                if !is_apart {
                    found(u);
                }
            },
        );
        looked_at
    }

    /// Returns whether no two triangles certainly have points in common except shared corners and edges.
    pub fn is_embedded(&self, mesh: &TriMesh) -> bool {
        self.meeting_triangles(mesh).is_some_and(|meet| !meet.contains(&true))
    }
}
