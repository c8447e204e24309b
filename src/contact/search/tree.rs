//! Samples of a shell at or below a level of a field, and the sample with the smallest distance.

use super::lanes::{at_most, UpTo, Walk};
use super::scratch::Hit;
use crate::types::Stats;
use crate::workspace::Workspace;
use voxshell_base::math::RigidF32;
use voxshell_base::memory::GrowGuarded;
use voxshell_base::wide;
use voxshell_field::SignedDistance;
use voxshell_pointshell::PointShell;

/// Most leaves whose samples are all tested for the deepest one; with more, the order of the nodes saves work.
const FEW: usize = 128;

wide! {
    /// Appends every sample with φ ≤ `limit` to `workspace.hits`, in ascending order of samples.
    pub(super) fn collect<F: SignedDistance>(
        field: &F,
        shell: &PointShell,
        to_field: &RigidF32,
        limit: f32,
        workspace: &mut Workspace,
    ) -> () {
        if shell.tree.radius.is_empty() {
            return;
        }
        let Workspace { levels, hits, stats, .. } = workspace;
        let walk = Walk::new(field, shell, to_field);
        walk.descend(UpTo(limit), usize::MAX, levels, stats);
        for &leaf in levels[0].as_slice() {
            for (first, n) in walk.below(leaf) {
                stats.sample_tests += n as u64;
                walk.samples(first, n).hits(first, n, limit, hits);
            }
        }
    }
}

/// Returns the sample with the smallest φ among the samples with φ ≤ `limit` that `accept` takes; on a tie the lowest
/// index.
pub(super) fn nearest<F: SignedDistance>(
    field: &F,
    shell: &PointShell,
    to_field: &RigidF32,
    limit: f32,
    accept: impl Fn(&Hit) -> bool,
    workspace: &mut Workspace,
) -> Option<Hit> {
    nearest_of(field, shell, to_field, limit, &accept, workspace)
}

wide! {
    fn nearest_of<F: SignedDistance>(
        field: &F,
        shell: &PointShell,
        to_field: &RigidF32,
        limit: f32,
        accept: &dyn Fn(&Hit) -> bool,
        workspace: &mut Workspace,
    ) -> Option<Hit> {
        if shell.tree.radius.is_empty() {
            return None;
        }
        let Workspace { open, levels, stats, .. } = workspace;
        let walk = Walk::new(field, shell, to_field);
        let mut best = Best { bound: limit, hit: None };
        // Where bodies touch at few places, the samples there are found fastest level by level, as all contacts are.
        let depth = limit.min(0.0);
        walk.descend(UpTo(depth), usize::MAX, levels, stats);
        let leaves = levels[0].as_slice();
        if leaves.len() <= FEW {
            best.bound = depth;
            leaves.iter().for_each(|&leaf| best.of_leaf(&walk, leaf, accept, stats));
            if best.hit.is_some() {
                return best.hit;
            }
            best.bound = limit;
        }
        open.clear();
        stats.node_tests += 1;
        open.push_guarded((0, walk.nodes(0, 1)[0]));
        while let Some((node, lower)) = open.pop() {
            if lower > best.bound {
                continue;
            }
            if walk.is_leaf(node) {
                best.of_leaf(&walk, node, accept, stats);
                continue;
            }
            let mark = open.len();
            for (first, n) in walk.children(node) {
                stats.node_tests += n as u64;
                let lower = walk.nodes(first, n);
                let mut mask = at_most(&lower, best.bound, n);
                while mask != 0 {
                    let i = mask.trailing_zeros() as usize;
                    open.push_guarded(((first + i) as u32, lower[i]));
                    mask &= mask - 1;
                }
            }
            // The most promising child last, so that it is opened first and tightens the bound for its siblings.
            open[mark..].sort_unstable_by(|p, q| q.1.total_cmp(&p.1).then_with(|| q.0.cmp(&p.0)));
        }
        best.hit
    }
}

/// The accepted sample with the smallest φ so far.
struct Best {
    /// φ up to which a sample is considered, metres.
    bound: f32,
    hit: Option<Hit>,
}

impl Best {
    /// Considers the samples of a leaf.
    #[inline(always)]
    fn of_leaf<F: SignedDistance>(
        &mut self,
        walk: &Walk<F>,
        leaf: u32,
        accept: &dyn Fn(&Hit) -> bool,
        stats: &mut Stats,
    ) {
        for (first, n) in walk.below(leaf) {
            stats.sample_tests += n as u64;
            let block = walk.samples(first, n);
            let mut mask = at_most(&block.value, self.bound, n);
            while mask != 0 {
                let hit = block.hit(first, mask.trailing_zeros() as usize);
                let better =
                    self.hit.as_ref().is_none_or(|b| hit.phi < b.phi || (hit.phi == b.phi && hit.sample < b.sample));
                if better && accept(&hit) {
                    self.bound = hit.phi;
                    self.hit = Some(hit);
                }
                mask &= mask - 1;
            }
        }
    }
}
