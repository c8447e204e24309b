//! How far the surface is from its samples at worst.

use rayon::prelude::*;

use crate::math::Vec3;
use crate::mesh::TriMesh;
use crate::pointshell::nearest::Search;
use crate::pointshell::PointShell;

/// The bound exceeds the true radius by at most this fraction.
const TOLERANCE: f64 = 0.01;
/// Subdivisions of a triangle; only reached by triangles of absurd size.
const MAX_DEPTH: u32 = 40;

/// The covering radius: the largest distance from a point of `mesh` to its nearest sample, metres. Not sampled but bounded:
/// the result is at least the true value, and more by at most 1%.
///
/// The distance to the nearest of all samples is at most that to any one, which over a triangle is largest at a corner. A
/// triangle whose bound can exceed what was found elsewhere is cut in four.
pub(super) fn covering_radius(mesh: &TriMesh, shell: &PointShell) -> f64 {
    let local = |t: usize| mesh.corners(t).map(|p| Vec3::from(p) - shell.origin);
    let at_center = |search: &mut Search, t: usize| {
        let [a, b, c] = local(t);
        nearest(search, shell, &((a + b + c) / 3.0)).1
    };
    let all = || (0..mesh.triangles.len()).into_par_iter();
    let floor = all().map_init(Search::default, at_center).reduce(|| 0.0, f64::max);
    all().map_init(Search::default, |search, t| bound(search, shell, &local(t), floor)).reduce(|| 0.0, f64::max)
}

fn nearest(search: &mut Search, shell: &PointShell, p: &Vec3) -> (Vec3, f64) {
    let (i, distance) = search.nearest(shell, p, u32::MAX, f64::INFINITY);
    (shell.position(i as usize) - shell.origin, distance)
}

/// Upper bound over one triangle, or some value ≤ `floor`·(1 + tolerance) when it has nothing above.
fn bound(search: &mut Search, shell: &PointShell, triangle: &[Vec3; 3], floor: f64) -> f64 {
    let mut found = floor;
    let mut upper: f64 = 0.0;
    let mut stack = vec![(*triangle, 0)];
    while let Some((t, depth)) = stack.pop() {
        let (sample, distance) = nearest(search, shell, &((t[0] + t[1] + t[2]) / 3.0));
        found = found.max(distance);
        let here = t.iter().map(|p| (p - sample).norm()).fold(0.0, f64::max);
        if here <= found * (1.0 + TOLERANCE) || depth == MAX_DEPTH {
            upper = upper.max(here);
            continue;
        }
        let [a, b, c] = t;
        let (ab, bc, ca) = ((a + b) * 0.5, (b + c) * 0.5, (c + a) * 0.5);
        for part in [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]] {
            stack.push((part, depth + 1));
        }
    }
    upper
}
