//! The sample nearest to a point, by branch and bound over the sphere tree.

use rayon::prelude::*;

use super::shell::round_up;
use super::PointShell;
use voxshell_base::math::{Progress, Vec3, Work};
use voxshell_base::memory::GrowGuarded;
use voxshell_base::Result;

/// Node of the depth-first stack with the lower bound of its samples' squared distances.
type Entry = (f64, u32);

/// Scratch of [`PointShell::nearest`], so that many searches allocate once.
#[derive(Default)]
pub struct Search {
    stack: Vec<Entry>,
    /// Nodes and samples looked at.
    pub looked_at: u64,
}

impl PointShell {
    /// Index of the sample nearest to `p` (local frame, metres) and its distance; the lowest index among equals, up to
    /// rounding.
    pub fn nearest(&self, p: [f32; 3]) -> (u32, f32) {
        let q = Vec3::new(p[0] as f64, p[1] as f64, p[2] as f64);
        let (index, distance) = Search::default().nearest(self, &q, u32::MAX, f64::INFINITY);
        (index, distance as f32)
    }
}

impl Search {
    /// Nearest sample other than `excluded` and nearer than `within`: (`u32::MAX`, `within`) when there is none.
    pub fn nearest(&mut self, shell: &PointShell, p: &Vec3, excluded: u32, within: f64) -> (u32, f64) {
        let tree = &shell.tree;
        let mut best = (u32::MAX, within * within);
        self.stack.clear();
        self.stack.push_guarded((0.0, 0));
        while let Some((bound, node)) = self.stack.pop() {
            if bound >= best.1 {
                continue;
            }
            let node = node as usize;
            let children = tree.child_count[node];
            self.looked_at += 1 + u64::from(if children == 0 { tree.sample_count[node] } else { children });
            if children == 0 {
                let first = tree.first_sample[node];
                for i in first..first + tree.sample_count[node] {
                    let k = i as usize;
                    let d = squared(p, shell.x[k], shell.y[k], shell.z[k]);
                    if d < best.1 && i != excluded {
                        best = (i, d);
                    }
                }
                continue;
            }
            let base = self.stack.len();
            let first = tree.first_child[node];
            for child in first..first + children {
                let c = child as usize;
                let outside = squared(p, tree.cx[c], tree.cy[c], tree.cz[c]).sqrt() - tree.radius[c] as f64;
                let bound = outside.max(0.0) * outside.max(0.0);
                if bound < best.1 {
                    self.stack.push_guarded((bound, child));
                }
            }
            // Nearest child last, so that it is popped first.
            self.stack[base..].sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        }
        (best.0, best.1.sqrt())
    }
}

fn squared(p: &Vec3, x: f32, y: f32, z: f32) -> f64 {
    let d = [p.x - x as f64, p.y - y as f64, p.z - z as f64];
    d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
}

/// Largest distance from a sample to its nearest neighbour, rounded up; 0 for a single sample.
pub(super) fn largest_gap(shell: &PointShell, progress: &Progress) -> Result<f32> {
    let n = shell.len() as u32;
    if n < 2 {
        return Ok(0.0);
    }
    let gap = |(search, work): &mut (Search, Work), i: u32| {
        let k = i as usize;
        let p = Vec3::new(shell.x[k] as f64, shell.y[k] as f64, shell.z[k] as f64);
        // The neighbours in tree order are near: a good first bound.
        let near = if i + 1 < n { k + 1 } else { k - 1 };
        let within = squared(&p, shell.x[near], shell.y[near], shell.z[near]).sqrt();
        let (_, gap) = search.nearest(shell, &p, i, within);
        work.add(std::mem::take(&mut search.looked_at))?;
        Ok(gap)
    };
    let gaps = (0..n).into_par_iter().map_init(|| (Search::default(), Work::new(progress)), gap);
    Ok(round_up(gaps.try_reduce(|| 0.0, |a, b| Ok(a.max(b)))?))
}
