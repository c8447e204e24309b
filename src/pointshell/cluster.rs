//! Clustering of the samples. The result is an order of the samples and, per level, the starts of the runs that are its
//! nodes: a node's samples are contiguous, and each level's starts are among those of the level below.

use super::kdtree::KdTree;
use voxshell_base::math::{Mat3, Progress, Vec3, Work};
use voxshell_base::memory::{filled, CollectGuarded, GrowGuarded, SliceGuarded};
use voxshell_base::Result;

/// A hierarchy of runs over an order of the samples.
pub(super) struct Hierarchy {
    /// New position to old index.
    pub order: Vec<u32>,
    /// Per level, root first: where each node's run begins, with the number of samples at the end.
    pub starts: Vec<Vec<u32>>,
}

/// Indices of the points in each cluster of a level.
pub(super) type Clusters = Vec<Vec<u32>>;

/// Average fraction to which clusters are filled. Room below 1 lets points move one by one, so that clusters get round.
/// Of 0.8, 0.85, 0.9, 0.95 and 1, the sum of the nodes' radii (the cost of a traversal that tests a node's children in
/// one step) is lowest at 0.95 and 0.9. The sum of radius times children keeps falling with more room: 740 m at 1, then
/// 690, 667, 651 and 639 m, on the vertices of the 34k bunny (the greedy walk: 837 m).
const FILL: f64 = 0.9;
/// Neighbours with which a cluster tries to exchange points.
const NEIGHBOURS: usize = 10;
/// Passes of exchanges over all clusters of a level.
const PASSES: usize = 8;

/// Clusters bottom-up, in levels of clusters of equal number: recursive bisection, then exchanges between neighbours.
/// `k` is the largest number of samples in a leaf and (but at least 2) of children of a node.
pub(super) fn balanced(points: &[Vec3], k: usize, progress: &Progress) -> Result<Hierarchy> {
    let level = |points: &[Vec3], size: usize| balanced_level(points, size, progress);
    bottom_up(points, k, level, |points, members| {
        members.iter().map(|&i| points[i as usize]).sum::<Vec3>() / members.len() as f64
    })
}

/// Clusters the points, then the representative points of the clusters, until one cluster is left.
pub(super) fn bottom_up(
    points: &[Vec3],
    k: usize,
    one_level: impl Fn(&[Vec3], usize) -> Result<Clusters>,
    stand_in: impl Fn(&[Vec3], &[u32]) -> Vec3,
) -> Result<Hierarchy> {
    let mut levels: Vec<Clusters> = Vec::new();
    let mut current = points.to_vec_guarded();
    loop {
        let size = if levels.is_empty() { k } else { k.max(2) };
        let clusters = one_level(&current, size)?;
        current = clusters.iter().map(|members| stand_in(&current, members)).collect_guarded();
        levels.push_guarded(clusters);
        if current.len() == 1 {
            return Ok(flatten(&levels, points.len()));
        }
    }
}

/// Converts membership lists, leaves first, to runs, root first.
fn flatten(levels: &[Clusters], n: usize) -> Hierarchy {
    // counts[l][c] = samples below cluster c of level l.
    let mut counts: Vec<Vec<u32>> = vec![levels[0].iter().map(|c| c.len() as u32).collect_guarded()];
    for (level, clusters) in levels[1..].iter().enumerate() {
        let sum = |members: &Vec<u32>| members.iter().map(|&i| counts[level][i as usize]).sum();
        counts.push_guarded(clusters.iter().map(sum).collect_guarded());
    }
    let mut starts = Vec::new();
    let mut nodes = vec![0u32];
    for (clusters, counts) in levels.iter().zip(&counts).rev() {
        let mut first = 0;
        let mut runs = Vec::new();
        for &c in &nodes {
            runs.push_guarded(first);
            first += counts[c as usize];
        }
        runs.push_guarded(n as u32);
        starts.push_guarded(runs);
        nodes = nodes.iter().flat_map(|&c| clusters[c as usize].iter().copied()).collect_guarded();
    }
    Hierarchy { order: nodes, starts }
}

/// Makes clusters of at most `size` points, [`FILL`] full, equal in number up to the exchanges.
fn balanced_level(points: &[Vec3], size: usize, progress: &Progress) -> Result<Clusters> {
    let n = points.len();
    let fewest = n.div_ceil(size);
    let roomy = ((n as f64 / (size as f64 * FILL)).ceil() as usize).min(n);
    // Not so many clusters that the tree gets another level.
    let count = if fewest <= size { roomy.min(size).max(fewest) } else { roomy };
    let count = if fewest == 1 { 1 } else { count };
    let starts: Vec<usize> = (0..=count).map(|j| n * j / count).collect_guarded();
    let mut order: Vec<u32> = (0..n as u32).collect_guarded();
    split(points, &mut order, &starts, progress)?;
    let mut clusters: Clusters = starts.windows(2).map(|run| order[run[0]..run[1]].to_vec_guarded()).collect_guarded();
    if count > 1 && size > 1 {
        exchange(points, &mut clusters, size, &mut Work::new(progress))?;
    }
    Ok(clusters)
}

/// Bisects `order`, whose first element is number `starts[0]` of the whole, until each run is alone.
fn split(points: &[Vec3], order: &mut [u32], starts: &[usize], progress: &Progress) -> Result<()> {
    if starts.len() <= 2 {
        return Ok(());
    }
    let middle = (starts.len() - 1) / 2;
    let cut = starts[middle] - starts[0];
    let axis = principal_axis(points, order);
    let key = |&i: &u32| points[i as usize].dot(&axis);
    order.select_nth_unstable_by(cut, |a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
    let (left, right) = order.split_at_mut(cut);
    let (a, b) = (&starts[..=middle], &starts[middle..]);
    if left.len() > 4096 {
        progress.work((left.len() + right.len()) as u64)?;
        let (left, right) = rayon::join(|| split(points, left, a, progress), || split(points, right, b, progress));
        left.and(right)
    } else {
        split(points, left, a, progress)?;
        split(points, right, b, progress)
    }
}

/// Returns the direction of largest variance.
fn principal_axis(points: &[Vec3], order: &[u32]) -> Vec3 {
    let mean = order.iter().map(|&i| points[i as usize]).sum::<Vec3>() / order.len() as f64;
    let mut covariance = Mat3::zeros();
    for &i in order {
        let d = points[i as usize] - mean;
        covariance += d * d.transpose();
    }
    let eigen = covariance.symmetric_eigen();
    eigen.eigenvectors.column(eigen.eigenvalues.imax()).into_owned()
}

/// Swaps and moves points between neighbouring clusters while that lowers J, the sum of squared distances to the clusters'
/// means.
fn exchange(points: &[Vec3], clusters: &mut Clusters, size: usize, work: &mut Work) -> Result<()> {
    let mut sums: Vec<Vec3> = clusters.iter().map(|c| c.iter().map(|&i| points[i as usize]).sum()).collect_guarded();
    let mut touched = filled(true, clusters.len());
    let mut found = Vec::new();
    for _ in 0..PASSES {
        let means: Vec<Vec3> = sums.iter().zip(clusters.iter()).map(|(s, c)| s / c.len() as f64).collect_guarded();
        let tree = KdTree::new(&means);
        let mut changed = filled(false, clusters.len());
        for a in 0..clusters.len() {
            work.add(tree.nearest(&means[a], NEIGHBOURS + 1, &mut found))?;
            for &(_, b) in &found {
                let b = b as usize;
                if a == b || !(touched[a] || touched[b]) {
                    continue;
                }
                // Bounded, since rounding could make gains that undo each other.
                for _ in 0..2 * size {
                    work.add((clusters[a].len() * clusters[b].len()) as u64)?;
                    if !improve(points, clusters, &mut sums, a, b, size) {
                        break;
                    }
                    changed[a] = true;
                    changed[b] = true;
                }
            }
        }
        if !changed.contains(&true) {
            break;
        }
        touched = changed;
    }
    Ok(())
}

/// Makes the swap or move between clusters `a` and `b` that lowers J most, if any does.
///
/// With the means m and numbers n, a swap of p in A for q in B, d = q − p, lowers J by 2 d·(m_A − m_B) + d² (1/n_A + 1/n_B);
/// a move of p from A to B by n_A/(n_A − 1) |p − m_A|² − n_B/(n_B + 1) |p − m_B|².
fn improve(points: &[Vec3], clusters: &mut Clusters, sums: &mut [Vec3], a: usize, b: usize, size: usize) -> bool {
    let point = |i: u32| points[i as usize];
    let (members_a, members_b) = (&clusters[a], &clusters[b]);
    let (n_a, n_b) = (members_a.len() as f64, members_b.len() as f64);
    let (m_a, m_b) = (sums[a] / n_a, sums[b] / n_b);
    // Gains within rounding do not count, or the search might not end.
    let mut best = (1e-9 * (m_a - m_b).norm_squared(), None, None);
    for (i, &p) in members_a.iter().enumerate() {
        for (j, &q) in members_b.iter().enumerate() {
            let d = point(q) - point(p);
            let gain = 2.0 * d.dot(&(m_a - m_b)) + d.norm_squared() * (1.0 / n_a + 1.0 / n_b);
            if gain > best.0 {
                best = (gain, Some(i), Some(j));
            }
        }
    }
    let move_gain = |p: u32, m_from: &Vec3, n_from: f64, m_to: &Vec3, n_to: f64| {
        let (out, into) = ((point(p) - m_from).norm_squared(), (point(p) - m_to).norm_squared());
        out * n_from / (n_from - 1.0) - into * n_to / (n_to + 1.0)
    };
    if members_b.len() < size && members_a.len() > 1 {
        for (i, &p) in members_a.iter().enumerate() {
            let gain = move_gain(p, &m_a, n_a, &m_b, n_b);
            if gain > best.0 {
                best = (gain, Some(i), None);
            }
        }
    }
    if members_a.len() < size && members_b.len() > 1 {
        for (j, &q) in members_b.iter().enumerate() {
            let gain = move_gain(q, &m_b, n_b, &m_a, n_a);
            if gain > best.0 {
                best = (gain, None, Some(j));
            }
        }
    }
    let (_, from_a, from_b) = best;
    if from_a.is_none() && from_b.is_none() {
        return false;
    }
    let to_b = from_a.map(|i| clusters[a].swap_remove(i));
    let to_a = from_b.map(|j| clusters[b].swap_remove(j));
    for (moved, from, to) in [(to_b, a, b), (to_a, b, a)] {
        if let Some(p) = moved {
            clusters[to].push_guarded(p);
            sums[from] -= point(p);
            sums[to] += point(p);
        }
    }
    true
}
