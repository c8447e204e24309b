//! The sphere tree of a pointshell through a field: Algorithm 1 of Sagardia et al. 2014 with certified pruning.
//!
//! Children of a node are contiguous in structure-of-arrays form, so a node is opened by transforming and testing them a
//! lane block at a time. The same transform is used for samples here and in the brute-force oracle of the tests, so both
//! see the same bytes.

use super::workspace::{Hit, Workspace};
use crate::field::SignedDistance;
use crate::math::RigidF32;
use crate::pointshell::PointShell;

/// Children or samples transformed and tested together.
const LANES: usize = 8;

/// A lane block of points in the field's frame.
struct Block {
    x: [f32; LANES],
    y: [f32; LANES],
    z: [f32; LANES],
}

impl Block {
    fn new() -> Self {
        Self { x: [0.0; LANES], y: [0.0; LANES], z: [0.0; LANES] }
    }

    #[inline(always)]
    fn load(&mut self, to_field: &RigidF32, x: &[f32], y: &[f32], z: &[f32]) {
        for (i, ((&x, &y), &z)) in x.iter().zip(y).zip(z).enumerate().take(LANES) {
            [self.x[i], self.y[i], self.z[i]] = to_field.point([x, y, z]);
        }
    }
}

/// How far rounding in the transform can move a sample relative to the centre of a ball that holds it, metres.
///
/// Both images are off by at most a few ulps of the largest intermediate value, |t| + |p|, and the rounded rotation is
/// orthogonal to a few ulps; 16 ulps cover the sum.
fn transform_slack(shell: &PointShell, to_field: &RigidF32) -> f32 {
    let tree = &shell.tree;
    let reach = tree.cx[0].abs() + tree.cy[0].abs() + tree.cz[0].abs() + tree.radius[0];
    let offset = to_field.t[0].abs() + to_field.t[1].abs() + to_field.t[2].abs();
    16.0 * f32::EPSILON * (reach + offset)
}

/// Appends every sample with φ ≤ `limit` to `workspace.hits`, in ascending order of samples.
pub(super) fn collect<F: SignedDistance>(
    field: &F,
    shell: &PointShell,
    to_field: &RigidF32,
    limit: f32,
    workspace: &mut Workspace,
) {
    let tree = &shell.tree;
    if tree.radius.is_empty() {
        return;
    }
    let slack = transform_slack(shell, to_field);
    let Workspace { open, hits, stats, .. } = workspace;
    open.clear();
    let root = to_field.point([tree.cx[0], tree.cy[0], tree.cz[0]]);
    stats.node_tests += 1;
    if field.lower_bound(root, tree.radius[0] + slack) > limit {
        return;
    }
    open.push((0, 0.0));
    let mut block = Block::new();
    let mut radius = [0.0f32; LANES];
    let mut value = [0.0f32; LANES];
    while let Some((node, _)) = open.pop() {
        let node = node as usize;
        let children = tree.child_count[node] as usize;
        if children == 0 {
            let first = tree.first_sample[node] as usize;
            let last = first + tree.sample_count[node] as usize;
            stats.sample_tests += (last - first) as u64;
            for start in (first..last).step_by(LANES) {
                let end = (start + LANES).min(last);
                let n = end - start;
                block.load(to_field, &shell.x[start..end], &shell.y[start..end], &shell.z[start..end]);
                field.distance_batch(&block.x[..n], &block.y[..n], &block.z[..n], &mut value[..n]);
                for i in 0..n {
                    if value[i] <= limit {
                        let point = [block.x[i], block.y[i], block.z[i]];
                        hits.push(Hit { sample: (start + i) as u32, phi: value[i], point });
                    }
                }
            }
            continue;
        }
        let first = tree.first_child[node] as usize;
        let last = first + children;
        stats.node_tests += children as u64;
        // Last block first, so that the stack pops nodes, and with them samples, in ascending order.
        for start in (first..last).step_by(LANES).rev() {
            let end = (start + LANES).min(last);
            let n = end - start;
            block.load(to_field, &tree.cx[start..end], &tree.cy[start..end], &tree.cz[start..end]);
            for i in 0..n {
                radius[i] = tree.radius[start + i] + slack;
            }
            field.lower_bound_batch(&block.x[..n], &block.y[..n], &block.z[..n], &radius[..n], &mut value[..n]);
            for i in (0..n).rev() {
                if value[i] <= limit {
                    open.push(((start + i) as u32, value[i]));
                }
            }
        }
    }
}

/// The sample with the smallest φ ≤ `limit`; of equal ones the lowest index.
pub(super) fn nearest<F: SignedDistance>(
    field: &F,
    shell: &PointShell,
    to_field: &RigidF32,
    limit: f32,
    workspace: &mut Workspace,
) -> Option<Hit> {
    let tree = &shell.tree;
    if tree.radius.is_empty() {
        return None;
    }
    let slack = transform_slack(shell, to_field);
    let Workspace { open, stats, .. } = workspace;
    open.clear();
    let mut best: Option<Hit> = None;
    let mut bound = limit;
    let root = to_field.point([tree.cx[0], tree.cy[0], tree.cz[0]]);
    stats.node_tests += 1;
    open.push((0, field.lower_bound(root, tree.radius[0] + slack)));
    let mut block = Block::new();
    let mut radius = [0.0f32; LANES];
    let mut value = [0.0f32; LANES];
    while let Some((node, lower)) = open.pop() {
        if lower > bound {
            continue;
        }
        let node = node as usize;
        let children = tree.child_count[node] as usize;
        if children == 0 {
            let first = tree.first_sample[node] as usize;
            let last = first + tree.sample_count[node] as usize;
            stats.sample_tests += (last - first) as u64;
            for start in (first..last).step_by(LANES) {
                let end = (start + LANES).min(last);
                let n = end - start;
                block.load(to_field, &shell.x[start..end], &shell.y[start..end], &shell.z[start..end]);
                field.distance_batch(&block.x[..n], &block.y[..n], &block.z[..n], &mut value[..n]);
                for i in 0..n {
                    let sample = (start + i) as u32;
                    let better = match &best {
                        None => value[i] <= bound,
                        Some(b) => value[i] < b.phi || (value[i] == b.phi && sample < b.sample),
                    };
                    if better {
                        bound = value[i];
                        best = Some(Hit { sample, phi: value[i], point: [block.x[i], block.y[i], block.z[i]] });
                    }
                }
            }
            continue;
        }
        let first = tree.first_child[node] as usize;
        let last = first + children;
        stats.node_tests += children as u64;
        let mark = open.len();
        for start in (first..last).step_by(LANES) {
            let end = (start + LANES).min(last);
            let n = end - start;
            block.load(to_field, &tree.cx[start..end], &tree.cy[start..end], &tree.cz[start..end]);
            for i in 0..n {
                radius[i] = tree.radius[start + i] + slack;
            }
            field.lower_bound_batch(&block.x[..n], &block.y[..n], &block.z[..n], &radius[..n], &mut value[..n]);
            for i in 0..n {
                if value[i] <= bound {
                    open.push(((start + i) as u32, value[i]));
                }
            }
        }
        // The most promising child last, so that it is opened first and tightens the bound for its siblings.
        open[mark..].sort_unstable_by(|p, q| q.1.total_cmp(&p.1).then_with(|| q.0.cmp(&p.0)));
    }
    best
}
