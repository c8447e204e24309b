//! Which samples belong together. The result is an order of the samples and, per level, the starts of the runs that are
//! its nodes: a node's samples are contiguous, and each level's starts are among those of the level below.

use crate::math::Vec3;

/// A hierarchy of runs over an order of the samples.
pub(super) struct Hierarchy {
    /// New position to old index.
    pub order: Vec<u32>,
    /// Per level, root first: where each node's run begins, with the number of samples at the end.
    pub starts: Vec<Vec<u32>>,
}

/// Top-down into parts of equal number. `k` is the most samples in a leaf and (but at least 2) children of a node.
///
/// Leaves are full, the slack is at the root: a level whose nodes hold at most m samples has parents of at most k·m.
pub(super) fn balanced(points: &[Vec3], k: usize) -> Hierarchy {
    let starts = balanced_starts(points.len(), k);
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    split_levels(points, &mut order, 0, &starts[1..]);
    Hierarchy { order, starts }
}

fn balanced_starts(n: usize, k: usize) -> Vec<Vec<u32>> {
    let fan = k.max(2);
    let mut capacity = vec![k];
    while *capacity.last().unwrap() < n {
        capacity.push(capacity.last().unwrap().saturating_mul(fan));
    }
    let mut starts = vec![vec![0, n as u32]];
    for below in capacity.iter().rev().skip(1) {
        let mut next = vec![];
        for run in starts.last().unwrap().windows(2) {
            let count = (run[1] - run[0]) as usize;
            let parts = count.div_ceil(*below);
            next.extend((0..parts).map(|j| run[0] + (count * j / parts) as u32));
        }
        next.push(n as u32);
        starts.push(next);
    }
    starts
}

/// Orders `order`, which holds the run that begins at `first`, so that all runs of `levels` are spatially compact.
fn split_levels(points: &[Vec3], order: &mut [u32], first: u32, levels: &[Vec<u32>]) {
    let Some((level, below)) = levels.split_first() else { return };
    let a = level.partition_point(|&s| s < first);
    let b = level.partition_point(|&s| s < first + order.len() as u32);
    split_runs(points, order, first, &level[a..b], below);
}

/// Bisects until each of the runs that begin at `starts` is alone, then goes on with the levels below.
fn split_runs(points: &[Vec3], order: &mut [u32], first: u32, starts: &[u32], below: &[Vec<u32>]) {
    if starts.len() <= 1 {
        return split_levels(points, order, first, below);
    }
    let middle = starts.len() / 2;
    let cut = (starts[middle] - first) as usize;
    bisect(points, order, cut);
    let (left, right) = order.split_at_mut(cut);
    let (a, b) = starts.split_at(middle);
    let go_left = |left: &mut [u32]| split_runs(points, left, first, a, below);
    let go_right = |right: &mut [u32]| split_runs(points, right, first + cut as u32, b, below);
    if left.len() > 4096 {
        rayon::join(|| go_left(left), || go_right(right));
    } else {
        go_left(left);
        go_right(right);
    }
}

/// Puts the `cut` samples that come first along the direction of largest variance into the first part.
fn bisect(points: &[Vec3], order: &mut [u32], cut: usize) {
    let axis = principal_axis(points, order);
    let key = |&i: &u32| points[i as usize].dot(&axis);
    order.select_nth_unstable_by(cut, |a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
}

/// Direction of largest variance.
fn principal_axis(points: &[Vec3], order: &[u32]) -> Vec3 {
    let mean = order.iter().map(|&i| points[i as usize]).sum::<Vec3>() / order.len() as f64;
    let mut covariance = crate::math::Mat3::zeros();
    for &i in order {
        let d = points[i as usize] - mean;
        covariance += d * d.transpose();
    }
    let eigen = covariance.symmetric_eigen();
    eigen.eigenvectors.column(eigen.eigenvalues.imax()).into_owned()
}
