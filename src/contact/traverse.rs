//! The sphere tree of a pointshell through a field: Algorithm 1 of Sagardia et al. 2014 with certified pruning.
//!
//! Children of a node are contiguous in structure-of-arrays form, so a node is opened by transforming and testing them a
//! lane block at a time. The same transform is used for samples here and in the brute-force oracle of the tests, so both
//! see the same bytes.

use super::workspace::{Hit, Stats, Workspace};
use crate::field::SignedDistance;
use crate::math::RigidF32;
use crate::pointshell::PointShell;

/// Children or samples transformed and tested together.
const LANES: usize = 8;

/// A shell on its way through a field.
struct Walk<'a, F> {
    field: &'a F,
    shell: &'a PointShell,
    to_field: &'a RigidF32,
    stats: &'a mut Stats,
    /// How far rounding in the transform can move a sample relative to the centre of a ball that holds it, metres.
    slack: f32,
    /// A lane block of points in the field's frame, balls around them, and what the field said.
    x: [f32; LANES],
    y: [f32; LANES],
    z: [f32; LANES],
    radius: [f32; LANES],
    value: [f32; LANES],
}

impl<'a, F: SignedDistance> Walk<'a, F> {
    /// `shell` has samples, and so its tree a root.
    fn new(field: &'a F, shell: &'a PointShell, to_field: &'a RigidF32, stats: &'a mut Stats) -> Self {
        let zero = [0.0; LANES];
        let slack = transform_slack(shell, to_field);
        Self { field, shell, to_field, stats, slack, x: zero, y: zero, z: zero, radius: zero, value: zero }
    }

    #[inline(always)]
    fn load(&mut self, x: &[f32], y: &[f32], z: &[f32]) {
        for (i, ((&x, &y), &z)) in x.iter().zip(y).zip(z).enumerate().take(LANES) {
            [self.x[i], self.y[i], self.z[i]] = self.to_field.point([x, y, z]);
        }
    }

    /// The lower bound of φ below the root.
    fn root(&mut self) -> f32 {
        let tree = &self.shell.tree;
        self.stats.node_tests += 1;
        let center = self.to_field.point([tree.cx[0], tree.cy[0], tree.cz[0]]);
        self.field.lower_bound(center, tree.radius[0] + self.slack)
    }

    fn is_leaf(&self, node: u32) -> bool {
        self.shell.tree.child_count[node as usize] == 0
    }

    /// Calls `child` with each child of an inner node and the lower bound of φ below it, in ascending order.
    #[inline(always)]
    fn open(&mut self, node: u32, mut child: impl FnMut(u32, f32)) {
        let tree = &self.shell.tree;
        let first = tree.first_child[node as usize] as usize;
        let last = first + tree.child_count[node as usize] as usize;
        self.stats.node_tests += (last - first) as u64;
        for start in (first..last).step_by(LANES) {
            let end = (start + LANES).min(last);
            let n = end - start;
            self.load(&tree.cx[start..end], &tree.cy[start..end], &tree.cz[start..end]);
            for (grown, radius) in self.radius.iter_mut().zip(&tree.radius[start..end]) {
                *grown = radius + self.slack;
            }
            let Self { x, y, z, radius, value, .. } = self;
            self.field.lower_bound_batch(&x[..n], &y[..n], &z[..n], &radius[..n], &mut value[..n]);
            for i in 0..n {
                child((start + i) as u32, value[i]);
            }
        }
    }

    /// Calls `sample` with each sample of a leaf, in ascending order.
    #[inline(always)]
    fn test(&mut self, leaf: u32, mut sample: impl FnMut(Hit)) {
        let (shell, tree) = (self.shell, &self.shell.tree);
        let first = tree.first_sample[leaf as usize] as usize;
        let last = first + tree.sample_count[leaf as usize] as usize;
        self.stats.sample_tests += (last - first) as u64;
        for start in (first..last).step_by(LANES) {
            let end = (start + LANES).min(last);
            let n = end - start;
            self.load(&shell.x[start..end], &shell.y[start..end], &shell.z[start..end]);
            let Self { x, y, z, value, .. } = self;
            self.field.distance_batch(&x[..n], &y[..n], &z[..n], &mut value[..n]);
            for i in 0..n {
                sample(Hit { sample: (start + i) as u32, phi: value[i], point: [x[i], y[i], z[i]] });
            }
        }
    }
}

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
    if shell.tree.radius.is_empty() {
        return;
    }
    let Workspace { open, hits, stats, .. } = workspace;
    let mut walk = Walk::new(field, shell, to_field, stats);
    open.clear();
    let lower = walk.root();
    if lower <= limit {
        open.push((0, lower));
    }
    while let Some((node, _)) = open.pop() {
        if walk.is_leaf(node) {
            walk.test(node, |hit| {
                if hit.phi <= limit {
                    hits.push(hit);
                }
            });
            continue;
        }
        let mark = open.len();
        walk.open(node, |child, lower| {
            if lower <= limit {
                open.push((child, lower));
            }
        });
        // Last child first, so that the stack pops nodes, and with them samples, in ascending order.
        open[mark..].reverse();
    }
}

/// Of the samples with φ ≤ `limit` that `accept` takes, the one with the smallest φ; of equal ones the lowest index.
pub(super) fn nearest<F: SignedDistance>(
    field: &F,
    shell: &PointShell,
    to_field: &RigidF32,
    limit: f32,
    accept: impl Fn(&Hit) -> bool,
    workspace: &mut Workspace,
) -> Option<Hit> {
    if shell.tree.radius.is_empty() {
        return None;
    }
    let Workspace { open, stats, .. } = workspace;
    let mut walk = Walk::new(field, shell, to_field, stats);
    open.clear();
    let mut best: Option<Hit> = None;
    let mut bound = limit;
    open.push((0, walk.root()));
    while let Some((node, lower)) = open.pop() {
        if lower > bound {
            continue;
        }
        if walk.is_leaf(node) {
            walk.test(node, |hit| {
                let better = match &best {
                    None => hit.phi <= bound,
                    Some(b) => hit.phi < b.phi || (hit.phi == b.phi && hit.sample < b.sample),
                };
                if better && accept(&hit) {
                    bound = hit.phi;
                    best = Some(hit);
                }
            });
            continue;
        }
        let mark = open.len();
        walk.open(node, |child, lower| {
            if lower <= bound {
                open.push((child, lower));
            }
        });
        // The most promising child last, so that it is opened first and tightens the bound for its siblings.
        open[mark..].sort_unstable_by(|p, q| q.1.total_cmp(&p.1).then_with(|| q.0.cmp(&p.0)));
    }
    best
}
