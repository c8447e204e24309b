//! Bottom-up clustering by the walk of Sagardia et al. 2014, section 2.1.2 (D4).

use super::cluster::{bottom_up, Clusters, Hierarchy};
use super::kdtree::KdTree;
use voxshell_base::math::{Progress, Vec3, Work};
use voxshell_base::memory::{filled, CollectGuarded, GrowGuarded, SliceGuarded};
use voxshell_base::Result;

/// A point is an outlier when its distance from its cluster's parent point is above this factor times the level's
/// median of the clusters' largest such distances. (The paper has a threshold but does not specify it.)
const OUTLIER_FACTOR: f64 = 1.5;

/// Clusters by a walk: from each cluster of K nearest points it goes on to the nearest remaining point. Outliers are
/// re-assigned; the clusters' parent points are the points of the next level, until one cluster is left.
///
/// Differs from the paper in that no cluster grows beyond K, which the flat tree promises: outliers join the nearest
/// cluster within the threshold that has room.
pub(super) fn greedy(points: &[Vec3], k: usize, progress: &Progress) -> Result<Hierarchy> {
    let level = |points: &[Vec3], size: usize| one_level(points, size, &mut Work::new(progress));
    bottom_up(points, k, level, |points, members| points[parent(points, members) as usize])
}

/// Returns the member nearest to the members' mean.
fn parent(points: &[Vec3], members: &[u32]) -> u32 {
    let mean = members.iter().map(|&i| points[i as usize]).sum::<Vec3>() / members.len() as f64;
    let distance = |i: &u32| (points[*i as usize] - mean).norm_squared();
    *members.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).expect("clusters are not empty")
}

fn one_level(points: &[Vec3], size: usize, work: &mut Work) -> Result<Clusters> {
    let walked = walk(points, size, work)?;
    let refined = reassign(points, walked.iter().map(|c| c.to_vec_guarded()).collect_guarded(), size, work)?;
    // On scattered points nearly all points could be outliers: then the level would not get coarser.
    Ok(if refined.len() * 4 <= points.len() * 3 { refined } else { walked })
}

fn walk(points: &[Vec3], size: usize, work: &mut Work) -> Result<Clusters> {
    let mut tree = KdTree::new(points);
    let mut clusters = Vec::new();
    let mut found = Vec::new();
    let mut seed = Some(0u32);
    while let Some(start) = seed {
        // One more than the cluster holds: the first point beyond it starts the next cluster.
        work.add(tree.nearest(&points[start as usize], size + 1, &mut found))?;
        // Coincident points tie: the start point always belongs to its cluster.
        let others = found.iter().map(|e| e.1).filter(|&i| i != start);
        let mut members: Vec<u32> = std::iter::once(start).chain(others).collect_guarded();
        seed = members.get(size).copied();
        members.truncate(size);
        for &i in &members {
            tree.remove(i);
        }
        clusters.push_guarded(members);
    }
    Ok(clusters)
}

fn reassign(points: &[Vec3], mut clusters: Clusters, size: usize, work: &mut Work) -> Result<Clusters> {
    let from_parent = |members: &[u32]| {
        let p = points[parent(points, members) as usize];
        members.iter().map(|&i| (points[i as usize] - p).norm()).collect_guarded()
    };
    let mut extents: Vec<f64> =
        clusters.iter().map(|c| from_parent(c).into_iter().fold(0.0, f64::max)).collect_guarded();
    let middle = extents.len() / 2;
    let threshold = OUTLIER_FACTOR * *extents.select_nth_unstable_by(middle, f64::total_cmp).1;
    let mut outliers = Vec::new();
    for members in &mut clusters {
        // The parent is at distance 0, so a cluster never empties and this ends.
        loop {
            let distances = from_parent(members);
            let before = members.len();
            let mut of = distances.iter();
            members.retain(|&i| {
                let keep = *of.next().expect("one distance per member") <= threshold;
                if !keep {
                    outliers.push_guarded(i);
                }
                keep
            });
            if members.len() == before {
                break;
            }
        }
    }
    let parents: Vec<Vec3> = clusters.iter().map(|c| points[parent(points, c) as usize]).collect_guarded();
    let mut with_room = KdTree::new(&parents);
    for (c, members) in clusters.iter().enumerate() {
        if members.len() >= size {
            with_room.remove(c as u32);
        }
    }
    let mut found = Vec::new();
    for i in outliers {
        work.add(with_room.nearest(&points[i as usize], 1, &mut found))?;
        match found.first() {
            Some(&(d, c)) if d <= threshold * threshold => {
                clusters[c as usize].push_guarded(i);
                if clusters[c as usize].len() >= size {
                    with_room.remove(c);
                }
            }
            _ => clusters.push_guarded(filled(i, 1)),
        }
    }
    Ok(clusters)
}
