//! The invariants of a shell, for tests and for files from outside: nothing here may panic, whatever the content.

use super::{PointShell, SphereTree};
use voxshell_base::math::limits::{is_coordinate, is_grid_coordinate};

impl PointShell {
    /// Returns `Err` with a description when an invariant of this type does not hold. Safe on any content, however
    /// hostile.
    pub fn check_invariants(&self) -> Result<(), String> {
        check(self)
    }
}

fn check(shell: &PointShell) -> Result<(), String> {
    let n = shell.x.len();
    if n == 0 {
        return Err("no samples".into());
    }
    for (name, array) in [("y", &shell.y), ("z", &shell.z), ("nx", &shell.nx), ("ny", &shell.ny), ("nz", &shell.nz)] {
        same_length(name, array.len(), n)?;
    }
    if !shell.origin.iter().all(|c| is_coordinate(*c)) {
        return Err(format!("origin is {:?}", shell.origin));
    }
    if !(shell.spacing >= 0.0 && is_grid_coordinate(shell.spacing.into())) {
        return Err(format!("spacing is {}", shell.spacing));
    }
    for i in 0..n {
        if !shell.point(i).iter().all(|c| is_coordinate((*c).into())) {
            return Err(format!("sample {i} is at {:?}", shell.point(i)));
        }
        let length_squared: f64 = shell.normal(i).iter().map(|&c| c as f64 * c as f64).sum();
        let is_unit = (length_squared - 1.0).abs() < 1e-5;
        if !is_unit {
            return Err(format!("normal {i} is {:?}, not a unit vector", shell.normal(i)));
        }
    }
    check_arrays(&shell.tree)?;
    check_levels(&shell.tree, n)?;
    for node in 0..shell.tree.node_count() {
        check_sphere(shell, node)?;
    }
    Ok(())
}

fn same_length(name: &str, length: usize, expected: usize) -> Result<(), String> {
    if length == expected {
        Ok(())
    } else {
        Err(format!("array {name} has {length} entries, expected {expected}"))
    }
}

fn check_arrays(tree: &SphereTree) -> Result<(), String> {
    let nodes = tree.node_count();
    for (name, length) in [
        ("cx", tree.cx.len()),
        ("cy", tree.cy.len()),
        ("cz", tree.cz.len()),
        ("first_child", tree.first_child.len()),
        ("child_count", tree.child_count.len()),
        ("first_sample", tree.first_sample.len()),
        ("sample_count", tree.sample_count.len()),
        ("representative", tree.representative.len()),
    ] {
        same_length(name, length, nodes)?;
    }
    if !(1..=64).contains(&tree.branching) {
        return Err(format!("branching is {}", tree.branching));
    }
    let ascending = tree.levels.windows(2).all(|w| w[0] < w[1]);
    if !(ascending && tree.levels.len() >= 2 && tree.levels[0] == 0 && tree.levels[1] == 1) {
        return Err(format!("levels are {:?}", tree.levels));
    }
    if *tree.levels.last().unwrap() as usize != nodes {
        return Err(format!("levels end at {}, but there are {nodes} nodes", tree.levels.last().unwrap()));
    }
    Ok(())
}

/// Checks that each level's runs are the samples in order, and that each inner node's children are the next of the
/// level below and have exactly its samples.
fn check_levels(tree: &SphereTree, samples: usize) -> Result<(), String> {
    let fan = tree.branching.max(2);
    for level in 0..tree.depth() {
        let is_last = level + 1 == tree.depth();
        let mut next_child = tree.levels[level + 1];
        let mut next_sample = 0;
        for node in tree.level(level) {
            let (first, count) = (tree.first_sample[node], tree.sample_count[node]);
            if first != next_sample || count == 0 || count as usize > samples - first as usize {
                return Err(format!("node {node} has {count} samples from {first} on, expected from {next_sample} on"));
            }
            next_sample = first + count;
            if !(first..next_sample).contains(&tree.representative[node]) {
                return Err(format!("node {node} is represented by a foreign sample {}", tree.representative[node]));
            }
            let (child, children) = (tree.first_child[node], tree.child_count[node]);
            if is_last {
                if child != u32::MAX || children != 0 {
                    return Err(format!("node {node} of the last level has {children} children from {child} on"));
                }
                if count > tree.branching {
                    return Err(format!("leaf {node} has {count} samples, branching is {}", tree.branching));
                }
                continue;
            }
            let level_end = tree.levels[level + 2];
            if child != next_child || children == 0 || children > fan || children > level_end - child {
                return Err(format!(
                    "node {node} has {children} children from {child} on, expected from {next_child} on"
                ));
            }
            next_child = child + children;
            let below: u64 = (child..next_child).map(|c| tree.sample_count[c as usize] as u64).sum();
            if tree.first_sample[child as usize] != first || below != count as u64 {
                return Err(format!("the children of node {node} do not have its samples"));
            }
        }
        if next_sample as usize != samples {
            return Err(format!("level {level} covers {next_sample} of {samples} samples"));
        }
        if !is_last && next_child != tree.levels[level + 2] {
            return Err(format!("level {} has nodes without a parent", level + 1));
        }
    }
    Ok(())
}

/// Checks containment, in f32 as a traversal computes it, and in f64 with the promised slack.
fn check_sphere(shell: &PointShell, node: usize) -> Result<(), String> {
    let tree = &shell.tree;
    let (c, r) = ([tree.cx[node], tree.cy[node], tree.cz[node]], tree.radius[node]);
    if !(c.iter().all(|v| v.is_finite()) && r >= 0.0 && r.is_finite()) {
        return Err(format!("node {node} has the sphere {c:?}, {r}"));
    }
    let first = tree.first_sample[node] as usize;
    for i in first..first + tree.sample_count[node] as usize {
        let p = shell.point(i);
        let d = [p[0] - c[0], p[1] - c[1], p[2] - c[2]];
        let squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        let exact = (0..3).map(|k| (p[k] as f64 - c[k] as f64).powi(2)).sum::<f64>().sqrt();
        if !(squared.sqrt() <= r && exact * (1.0 + 0.5 * super::tree::RADIUS_SLACK) <= r as f64) {
            return Err(format!("sample {i} is {exact} m from the centre of node {node}, whose radius is {r} m"));
        }
    }
    Ok(())
}
