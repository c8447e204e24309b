//! Covering radius: the largest distance of the surface from its samples.

use rayon::prelude::*;

use voxshell_base::math::{Progress, Vec3, Work};
use voxshell_base::memory::{CollectGuarded, GrowGuarded};
use voxshell_base::Result;
use voxshell_mesh::TriMesh;
use voxshell_pointshell::nearest::Search;
use voxshell_pointshell::PointShell;

/// The bound exceeds the true radius by at most this fraction.
const TOLERANCE: f64 = 0.01;
/// Largest number of subdivisions of a triangle; reached only by triangles of extreme size.
const MAX_DEPTH: u32 = 80;
/// Triangles whose longest edge, squared, is more than this many times their doubled area are cut across that edge,
/// in two: cut in four they would stay as thin, with as many pieces as a wide triangle.
const THIN: f64 = 3.0;
/// Number of triangles of the first batch, and of the others: the bound of a batch saves work in the next.
const BATCHES: (usize, usize) = (64, 4096);

/// Returns the covering radius: the largest distance from a point of `mesh` to its nearest sample, metres. It is not
/// sampled but bounded: the result is at least the true value, and exceeds it by at most 1%.
///
/// The distance to the nearest sample is at most the distance to any one sample, which over a triangle is largest at
/// a corner. A triangle whose bound can exceed the present result is cut in four, a thin one in two.
pub(super) fn covering_radius(mesh: &TriMesh, shell: &PointShell, progress: &Progress) -> Result<f64> {
    let mesh = &*mesh.without_repeats();
    let local = |t: usize| mesh.corners(t).map(|p| Vec3::from(p) - shell.origin);
    let at_center = |scratch: &mut Scratch, t: usize| {
        let [a, b, c] = local(t);
        Ok(scratch.nearest(shell, &((a + b + c) / 3.0), f64::INFINITY)?.1)
    };
    let all = || (0..mesh.triangles.len()).into_par_iter();
    let scratch = || Scratch { search: Search::default(), work: Work::new(progress) };
    let larger = |a: f64, b: f64| Ok(a.max(b));
    let floor = all().map_init(scratch, at_center).try_reduce(|| 0.0, larger)?;
    // The first batch is taken from all over the mesh, so its bound is close to the final one.
    let n = mesh.triangles.len();
    let first: Vec<usize> = (0..BATCHES.0.min(n)).map(|i| i * n / BATCHES.0.min(n)).collect_guarded();
    let others = (0..n).step_by(BATCHES.1).map(|from| (from..n.min(from + BATCHES.1)).collect_guarded());
    let mut upper = 0.0;
    for batch in std::iter::once(first).chain(others) {
        let of = |scratch: &mut Scratch, t| bound(scratch, shell, &local(t), floor, upper);
        upper = batch.into_par_iter().map_init(scratch, of).try_reduce(|| upper, larger)?;
    }
    Ok(upper)
}

/// Scratch memory of one thread.
struct Scratch<'a> {
    search: Search,
    work: Work<'a>,
}

impl Scratch<'_> {
    /// Returns the nearest sample within a distance, and its distance.
    fn nearest(&mut self, shell: &PointShell, p: &Vec3, within: f64) -> Result<(u32, f64)> {
        let found = self.search.nearest(shell, p, u32::MAX, within);
        self.work.add(std::mem::take(&mut self.search.looked_at))?;
        Ok(found)
    }
}

/// Returns the position of a sample, local frame, metres.
fn place(shell: &PointShell, sample: u32) -> Vec3 {
    shell.position(sample as usize) - shell.origin
}

/// A piece of a triangle still to be processed.
struct Piece {
    corners: [Vec3; 3],
    depth: u32,
    /// The sample nearest to the middle of the piece from which it was cut: its own is not farther.
    guess: u32,
}

/// Returns an upper bound over one triangle, or some value ≤ `floor`·(1 + tolerance) or ≤ `settled` when the triangle
/// has nothing above.
fn bound(scratch: &mut Scratch, shell: &PointShell, triangle: &[Vec3; 3], floor: f64, settled: f64) -> Result<f64> {
    let mut found = floor;
    let mut upper: f64 = 0.0;
    let mut stack = vec![Piece { corners: *triangle, depth: 0, guess: 0 }];
    while let Some(Piece { corners, depth, guess }) = stack.pop() {
        let [a, b, c] = corners;
        let middle = (a + b + c) / 3.0;
        let (nearer, distance) = scratch.nearest(shell, &middle, (middle - place(shell, guess)).norm())?;
        let sample = if nearer == u32::MAX { guess } else { nearer };
        found = found.max(distance);
        let here = corners.iter().map(|p| (p - place(shell, sample)).norm()).fold(0.0, f64::max);
        if here <= settled || here <= found * (1.0 + TOLERANCE) || depth == MAX_DEPTH {
            upper = upper.max(here);
            continue;
        }
        let mut cut = |corners| stack.push_guarded(Piece { corners, depth: depth + 1, guess: sample });
        // The edge opposite to each corner.
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
    Ok(upper)
}
