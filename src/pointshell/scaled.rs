//! The shell of a scaled body.

use super::shell::round_up;
use super::{tree, PointShell, SphereTree};
use voxshell_base::math::limits::{is_coordinate, is_grid_coordinate};
use voxshell_base::memory::{self, CollectGuarded, Derived, SliceGuarded};
use voxshell_base::{Error, Result};

impl PointShell {
    /// Returns the shell of the body scaled by a positive, finite `factor` about its origin: the same samples in the
    /// same order. The result is a copy; powers of two change no digit.
    ///
    /// # Errors
    /// `InvalidArgument` when a number leaves its range.
    pub fn scaled(&self, factor: f64) -> Result<Self> {
        memory::guard("scaling a pointshell", || scaled(self, factor))
    }
}

fn scaled(shell: &PointShell, factor: f64) -> Result<PointShell> {
    let times = |array: &[f32]| -> Vec<f32> { array.iter().map(|&x| (f64::from(x) * factor) as f32).collect_guarded() };
    let from = &shell.tree;
    let tree = SphereTree {
        cx: times(&from.cx),
        cy: times(&from.cy),
        cz: times(&from.cz),
        radius: from.radius.to_vec_guarded(),
        first_child: from.first_child.to_vec_guarded(),
        child_count: from.child_count.to_vec_guarded(),
        first_sample: from.first_sample.to_vec_guarded(),
        sample_count: from.sample_count.to_vec_guarded(),
        representative: from.representative.to_vec_guarded(),
        levels: from.levels.to_vec_guarded(),
        branching: from.branching,
    };
    let mut scaled = PointShell {
        origin: shell.origin * factor,
        x: times(&shell.x),
        y: times(&shell.y),
        z: times(&shell.z),
        nx: shell.nx.to_vec_guarded(),
        ny: shell.ny.to_vec_guarded(),
        nz: shell.nz.to_vec_guarded(),
        spacing: round_up(f64::from(shell.spacing) * factor),
        tree,
        extremes: Derived::default(),
        sharpness: Derived::default(),
    };
    // Each sample was rounded separately: the balls are measured again, so that they certainly hold the samples.
    tree::measure(&mut scaled);
    let all = [&scaled.x, &scaled.y, &scaled.z];
    let fits = all.iter().all(|array| array.iter().all(|x| is_coordinate((*x).into())))
        && scaled.tree.radius.iter().all(|x| is_grid_coordinate((*x).into()))
        && scaled.origin.iter().all(|x| is_coordinate(*x));
    if !fits {
        return Err(Error::argument("factor", factor, "one that leaves the samples within 1e18 m"));
    }
    Ok(scaled)
}
