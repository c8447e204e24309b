//! A kd-tree with removable points, for the greedy clustering.

use voxshell_base::math::{Aabb, Vec3};
use voxshell_base::memory::{filled, CollectGuarded, GrowGuarded};

/// Points per leaf.
const BUCKET: usize = 8;
const DEAD: u32 = u32::MAX;

/// Balanced kd-tree in heap order over a permutation of the points; a node's run is halved at each level.
pub(super) struct KdTree<'a> {
    points: &'a [Vec3],
    /// Point indices in tree order; `DEAD` once removed.
    order: Vec<u32>,
    /// Place of each point in `order`.
    place: Vec<u32>,
    boxes: Vec<Aabb>,
    alive: Vec<u32>,
}

impl<'a> KdTree<'a> {
    pub fn new(points: &'a [Vec3]) -> Self {
        let mut levels = 0;
        while points.len() >> levels > BUCKET {
            levels += 1;
        }
        let nodes = (2usize << levels) - 1;
        let mut tree = Self {
            points,
            order: (0..points.len() as u32).collect_guarded(),
            place: filled(0, points.len()),
            boxes: filled(Aabb::empty(), nodes),
            alive: filled(0, nodes),
        };
        tree.build(0, 0, points.len());
        for (k, &i) in tree.order.iter().enumerate() {
            tree.place[i as usize] = k as u32;
        }
        tree
    }

    /// Removes a living point.
    pub fn remove(&mut self, point: u32) {
        let place = self.place[point as usize] as usize;
        self.order[place] = DEAD;
        let (mut node, mut from, mut to) = (0, 0, self.points.len());
        loop {
            self.alive[node] -= 1;
            if self.is_leaf(node) {
                return;
            }
            let middle = (from + to) / 2;
            (node, from, to) = if place < middle { (2 * node + 1, from, middle) } else { (2 * node + 2, middle, to) };
        }
    }

    /// Finds the `count` living points nearest to `p` as (squared distance, index), nearest first, ties by index. Finds
    /// fewer when there are not as many. Returns the number of points looked at.
    pub fn nearest(&self, p: &Vec3, count: usize, found: &mut Vec<(f64, u32)>) -> u64 {
        found.clear();
        self.search(0, 0, self.points.len(), p, count, found)
    }

    fn is_leaf(&self, node: usize) -> bool {
        2 * node + 1 >= self.boxes.len()
    }

    fn build(&mut self, node: usize, from: usize, to: usize) {
        let points = self.points;
        let is_leaf = self.is_leaf(node);
        let run = &mut self.order[from..to];
        for &i in run.iter() {
            self.boxes[node].include(&points[i as usize]);
        }
        self.alive[node] = run.len() as u32;
        if is_leaf {
            return;
        }
        let axis = self.boxes[node].extents().imax();
        let middle = (from + to) / 2;
        let key = |i: &u32| points[*i as usize][axis];
        run.select_nth_unstable_by(middle - from, |a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
        self.build(2 * node + 1, from, middle);
        self.build(2 * node + 2, middle, to);
    }

    fn search(&self, node: usize, from: usize, to: usize, p: &Vec3, count: usize, found: &mut Vec<(f64, u32)>) -> u64 {
        let full = found.len() == count;
        if self.alive[node] == 0 || full && self.boxes[node].distance_squared(p) > found[count - 1].0 {
            return 0;
        }
        if self.is_leaf(node) {
            for &i in &self.order[from..to] {
                if i == DEAD {
                    continue;
                }
                let entry = ((self.points[i as usize] - p).norm_squared(), i);
                let at = found.partition_point(|e| *e < entry);
                if at < count {
                    found.truncate(count - 1);
                    found.insert_guarded(at, entry);
                }
            }
            return (to - from) as u64;
        }
        let middle = (from + to) / 2;
        let (left, right) = ((2 * node + 1, from, middle), (2 * node + 2, middle, to));
        let left_first = self.boxes[left.0].distance_squared(p) <= self.boxes[right.0].distance_squared(p);
        let (a, b) = if left_first { (left, right) } else { (right, left) };
        self.search(a.0, a.1, a.2, p, count, found) + self.search(b.0, b.1, b.2, p, count, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_of_the_living_agree_with_brute_force_while_points_are_removed() {
        let points: Vec<Vec3> = (0..700u64)
            .map(|i| Vec3::from_fn(|a, _| ((i * 7919 + a as u64 * 104729 + i * i * 31) % 23) as f64))
            .collect();
        let mut tree = KdTree::new(&points);
        let mut living: Vec<u32> = (0..700).collect();
        let mut found = vec![];
        for step in 0..690usize {
            let p = points[step * 37 % 700] + Vec3::new(0.3, 0.1, -0.2);
            tree.nearest(&p, 5, &mut found);
            let mut expected: Vec<(f64, u32)> =
                living.iter().map(|&i| ((points[i as usize] - p).norm_squared(), i)).collect();
            expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
            expected.truncate(5);
            assert_eq!(found, expected);
            let gone = living.swap_remove(step * 13 % living.len());
            tree.remove(gone);
        }
    }
}
