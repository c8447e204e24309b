//! The shell of a body made larger or smaller.

use super::{round_up, tree, PointShell, SphereTree};
use crate::{Error, Result};

pub(super) fn scaled(shell: &PointShell, factor: f64) -> Result<PointShell> {
    let times = |array: &[f32]| -> Vec<f32> { array.iter().map(|&x| (f64::from(x) * factor) as f32).collect() };
    let tree = SphereTree {
        cx: times(&shell.tree.cx),
        cy: times(&shell.tree.cy),
        cz: times(&shell.tree.cz),
        ..shell.tree.clone()
    };
    let mut scaled = PointShell {
        origin: shell.origin * factor,
        x: times(&shell.x),
        y: times(&shell.y),
        z: times(&shell.z),
        spacing: round_up(f64::from(shell.spacing) * factor),
        tree,
        ..shell.clone()
    };
    // The samples have been rounded, each for itself: the balls are measured again, so that they certainly hold them.
    tree::measure(&mut scaled);
    let all = [&scaled.x, &scaled.y, &scaled.z, &scaled.tree.radius];
    if !(all.iter().all(|array| array.iter().all(|x| x.is_finite())) && scaled.origin.iter().all(|x| x.is_finite())) {
        return Err(Error::argument("factor", factor, "one that leaves the samples at finite coordinates"));
    }
    Ok(scaled)
}
