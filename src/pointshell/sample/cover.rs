//! How far the surface is from its samples at worst.

use rayon::prelude::*;

use crate::math::Vec3;
use crate::mesh::TriMesh;
use crate::pointshell::nearest::Search;
use crate::pointshell::PointShell;

/// The bound exceeds the true radius by at most this fraction.
const TOLERANCE: f64 = 0.01;
/// Subdivisions of a triangle; only reached by triangles of absurd size.
const MAX_DEPTH: u32 = 80;
/// Triangles whose longest edge, squared, is more than so many times their double area are cut across that edge, in two: cut in
/// four they would stay as thin, and there would be as many pieces as of a wide one.
const THIN: f64 = 3.0;

/// The covering radius: the largest distance from a point of `mesh` to its nearest sample, metres. Not sampled but bounded:
/// the result is at least the true value, and more by at most 1%.
///
/// The distance to the nearest of all samples is at most that to any one, which over a triangle is largest at a corner. A
/// triangle whose bound can exceed what was found elsewhere is cut in four, a thin one in two.
pub(super) fn covering_radius(mesh: &TriMesh, shell: &PointShell) -> f64 {
    let local = |t: usize| mesh.corners(t).map(|p| Vec3::from(p) - shell.origin);
    let at_center = |search: &mut Search, t: usize| {
        let [a, b, c] = local(t);
        search.nearest(shell, &((a + b + c) / 3.0), u32::MAX, f64::INFINITY).1
    };
    let all = || (0..mesh.triangles.len()).into_par_iter();
    let floor = all().map_init(Search::default, at_center).reduce(|| 0.0, f64::max);
    all().map_init(Search::default, |search, t| bound(search, shell, &local(t), floor)).reduce(|| 0.0, f64::max)
}

/// Of a sample, local frame, metres.
fn place(shell: &PointShell, sample: u32) -> Vec3 {
    shell.position(sample as usize) - shell.origin
}

/// A part of a triangle still to be looked at.
struct Piece {
    corners: [Vec3; 3],
    depth: u32,
    /// The sample nearest to the middle of what it was cut from: its own is no farther.
    guess: u32,
}

/// Upper bound over one triangle, or some value ≤ `floor`·(1 + tolerance) when it has nothing above.
fn bound(search: &mut Search, shell: &PointShell, triangle: &[Vec3; 3], floor: f64) -> f64 {
    let mut found = floor;
    let mut upper: f64 = 0.0;
    let mut stack = vec![Piece { corners: *triangle, depth: 0, guess: 0 }];
    while let Some(Piece { corners, depth, guess }) = stack.pop() {
        let [a, b, c] = corners;
        let middle = (a + b + c) / 3.0;
        let (nearer, distance) = search.nearest(shell, &middle, u32::MAX, (middle - place(shell, guess)).norm());
        let sample = if nearer == u32::MAX { guess } else { nearer };
        found = found.max(distance);
        let here = corners.iter().map(|p| (p - place(shell, sample)).norm()).fold(0.0, f64::max);
        if here <= found * (1.0 + TOLERANCE) || depth == MAX_DEPTH {
            upper = upper.max(here);
            continue;
        }
        let mut cut = |corners| stack.push(Piece { corners, depth: depth + 1, guess: sample });
        // The edge across from each corner.
        let edges = [(c - b).norm_squared(), (a - c).norm_squared(), (b - a).norm_squared()];
        let longest = (0..3).fold(0, |k, i| if edges[i] > edges[k] { i } else { k });
        if edges[longest] > THIN * (b - a).cross(&(c - a)).norm() {
            let [tip, p, q] = [0, 1, 2].map(|i| corners[(longest + i) % 3]);
            let half = (p + q) * 0.5;
            cut([tip, p, half]);
            cut([tip, half, q]);
            continue;
        }
        let (ab, bc, ca) = ((a + b) * 0.5, (b + c) * 0.5, (c + a) * 0.5);
        for part in [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]] {
            cut(part);
        }
    }
    upper
}
