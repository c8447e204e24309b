//! Whether a surface cuts through or touches itself.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::Bvh;
use crate::mesh::apart::meet_only_at_shared_corners;
use crate::mesh::TriMesh;

/// Work that is spent for each triangle, on average, and for any mesh; a unit is a triangle whose box is looked at, and
/// [`TEST`] units are a pair that is tested. Beyond that the answer is given up, so that meshes whose triangles all lie over each
/// other do not take a time that grows with the square of their number: 2 s of one core for 100,000 of them.
const EACH: u64 = 256;
const ALWAYS: u64 = 1 << 26;
const TEST: u64 = 8;

impl Bvh {
    /// Whether the triangles of `mesh`, over which this hierarchy was built, certainly have no points in common but shared
    /// corners and edges. Corners are shared that have the same number; no two numbers may stand for equal coordinates.
    /// `false` also where rounding or too many close triangles leave it open.
    pub(crate) fn is_embedded(&self, mesh: &TriMesh) -> bool {
        let most = ALWAYS + EACH * self.len() as u64;
        let work = AtomicU64::new(0);
        // The verdict is that of all pairs, or that they are too many: which thread finds out first does not matter.
        (0..self.len()).into_par_iter().all(|k| {
            let own = &self.corners[k];
            let (min, max) = (own[0].inf(&own[1]).inf(&own[2]), own[0].sup(&own[1]).sup(&own[2]));
            let ids = &mesh.triangles[self.id(k) as usize];
            let apart = std::cell::Cell::new(true);
            let mut here = 0;
            self.visit_leaves(
                |n| apart.get() && (0..3).all(|i| n.min[i] <= max[i] && min[i] <= n.max[i]),
                |other| {
                    here += 1;
                    if other <= k || !apart.get() {
                        return;
                    }
                    let c = &self.corners[other];
                    let off = |i: usize| {
                        c[0][i].min(c[1][i]).min(c[2][i]) > max[i] || c[0][i].max(c[1][i]).max(c[2][i]) < min[i]
                    };
                    if !(0..3).any(off) {
                        here += TEST;
                        let other_ids = &mesh.triangles[self.id(other) as usize];
                        apart.set(meet_only_at_shared_corners(own, ids, c, other_ids));
                    }
                },
            );
            apart.get() && work.fetch_add(here, Ordering::Relaxed) + here <= most
        })
    }
}
