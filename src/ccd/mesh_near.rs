//! Pairs of features of two meshes at rest that are closer than a distance: the constraints of a body that slides along
//! them.

use super::mesh_feature::{pierces, Closest, Pair};
use super::mesh_impact::{are_apart, compare, direction, each_pair, motions, MovingTriangles, RigidPath};
use super::mesh_impact::{FeaturePair, MeshStats};
use super::mesh_motion::{Frames, RigidMotion};
use voxshell_base::math::{Pose, Vec3};
use voxshell_base::memory::GrowGuarded;
use voxshell_mesh::triangle;
use voxshell_mesh::{FeaturedTriangles, Locator};

/// A local minimum of the distance of two meshes. World frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshContact {
    pub point_on_a: Vec3,
    pub point_on_b: Vec3,
    /// Unit normal from A to B.
    pub normal: Vec3,
    /// Distance of the points, metres.
    pub separation: f64,
    pub features: FeaturePair,
}

/// Scratch of [`mesh_contacts`]; one per thread.
#[derive(Clone, Debug, Default)]
pub struct NearWorkspace {
    open: Vec<(u32, u32)>,
    found: Vec<MeshContact>,
    kept: Vec<MeshContact>,
    stats: MeshStats,
}

impl NearWorkspace {
    /// Returns the contacts of the last query.
    pub fn contacts(&self) -> &[MeshContact] {
        &self.kept
    }

    /// Returns the numbers of tests of the last query.
    pub fn stats(&self) -> MeshStats {
        self.stats
    }
}

/// Contacts at the same points, within this part of the largest distance, are one.
const SAME: f64 = 1e-6;
/// Rounding of distances, as a part of the size of the meshes.
const ROUNDING: f64 = 1e-13;
/// Distance from a closest point at which triangles count as touching it, as a part of the size of the meshes.
const TOUCHING: f64 = 1e-9;

/// Returns the local minima of the distance of two meshes up to `distance`, metres, nearest first, and whether the
/// meshes pass through each other. Of more than `most` it returns the nearest one and those that are farthest from each
/// other, in their points and normals. They live in the workspace until its next use. Once that is warm, this allocates
/// nothing.
///
/// A pair of closest points is a local minimum if no triangle at either of them is nearer to the other.
pub fn mesh_contacts<'w>(
    (a, pose_a): (&Locator, &Pose),
    (b, pose_b): (&Locator, &Pose),
    distance: f64,
    most: usize,
    workspace: &'w mut NearWorkspace,
) -> (&'w [MeshContact], bool) {
    workspace.found.clear();
    workspace.kept.clear();
    workspace.stats = MeshStats::default();
    if a.bvh().is_empty() || b.bvh().is_empty() {
        return (&workspace.kept, false);
    }
    let at_a = MovingTriangles { mesh: a, from: pose_a, to: pose_a };
    let at_b = MovingTriangles { mesh: b, from: pose_b, to: pose_b };
    let (motions, origin): ([RigidMotion; 2], Vec3) = motions(&at_a, &at_b, RigidPath::Screw);
    let frames = Frames::at(&motions, 0.0);
    let size = a.bvh().bounds().extents().norm() + b.bvh().bounds().extents().norm();
    let mut search = Search { a, b, frames, distance, size, pierced: false, workspace };
    search.run();
    let pierced = search.pierced;
    let by_distance = |p: &MeshContact, q: &MeshContact| {
        p.separation.total_cmp(&q.separation).then_with(|| p.features.cmp(&q.features))
    };
    workspace.found.sort_unstable_by(by_distance);
    reduce(&mut workspace.found, &mut workspace.kept, distance, most, size);
    for c in &mut workspace.kept {
        c.point_on_a += origin;
        c.point_on_b += origin;
    }
    workspace.kept.sort_unstable_by(by_distance);
    (&workspace.kept, pierced)
}

struct Search<'a, 'w> {
    a: &'a Locator,
    b: &'a Locator,
    frames: Frames,
    distance: f64,
    size: f64,
    pierced: bool,
    workspace: &'w mut NearWorkspace,
}

impl Search<'_, '_> {
    fn run(&mut self) {
        let (first, second) = (self.a.bvh(), self.b.bvh());
        self.workspace.open.clear();
        self.workspace.open.push_guarded((0, 0));
        while let Some((i, j)) = self.workspace.open.pop() {
            let (a, b) = (first.branch(i), second.branch(j));
            self.workspace.stats.node_tests += 1;
            if compare(&self.frames, &a, &b).gap > self.distance {
                continue;
            }
            let open = &mut self.workspace.open;
            match (a.first_child, b.first_child) {
                (None, None) => {
                    for k in a.triangles() {
                        b.triangles().for_each(|l| self.triangles(k, l));
                    }
                }
                (Some(child), other) if other.is_none() || a.half.norm() >= b.half.norm() => {
                    open.extend_guarded([(child + 1, j), (child, j)]);
                }
                (_, Some(child)) => open.extend_guarded([(i, child + 1), (i, child)]),
                (Some(_), None) => {}
            }
        }
    }

    fn triangles(&mut self, k: u32, l: u32) {
        let (a, b) = (self.a, self.b);
        let frames = self.frames;
        self.workspace.stats.triangle_tests += 1;
        if are_apart(&frames, self.distance, (a.bvh(), k), (b.bvh(), l)) {
            return;
        }
        let t = a.bvh().corners_at(k).map(|x| frames.a.point(&x));
        let u = b.bvh().corners_at(l).map(|x| frames.b.point(&x));
        let (sliver_a, sliver_b) = (a.bvh().is_sliver(k as usize), b.bvh().is_sliver(l as usize));
        let close = ROUNDING * self.size;
        for i in 0..3 {
            let edge = |t: &[Vec3; 3]| [t[i], t[(i + 1) % 3]];
            self.pierced |= pierces(&edge(&t), &u, sliver_b, close) || pierces(&edge(&u), &t, sliver_a, close);
        }
        each_pair((a, k), (b, l), |features, pair| self.pair(features, &pair));
    }

    fn pair(&mut self, features: FeaturePair, pair: &Pair) {
        self.workspace.stats.feature_tests += 1;
        let Closest { on_a, on_b } = pair.closest(&self.frames);
        let separation = (on_b - on_a).norm();
        if separation > self.distance || !self.is_least(&on_a, &on_b, separation) {
            return;
        }
        let (normal, separation) = direction(pair, &self.frames, &on_a, &on_b);
        let contact = MeshContact { point_on_a: on_a, point_on_b: on_b, normal, separation, features };
        self.workspace.found.push_guarded(contact);
    }

    /// Returns whether the points are a local minimum of the distance.
    fn is_least(&self, on_a: &Vec3, on_b: &Vec3, separation: f64) -> bool {
        let least = separation * (1.0 - 1e-6) - ROUNDING * self.size;
        let touching = TOUCHING * self.size;
        let one_side = |mesh: &Locator, placed: &super::mesh_motion::Placed, own: &Vec3, other: &Vec3| {
            let back = |p: &Vec3| placed.r.tr_mul(&(p - placed.c)) + placed.center;
            let (own, other) = (back(own), back(other));
            mesh.bvh().all_within(own, touching, |_, corners| {
                let (point, _) = triangle::closest_point(corners, triangle::is_sliver(corners), &other);
                (point - other).norm() >= least
            })
        };
        separation <= ROUNDING * self.size
            || (one_side(self.a, &self.frames.a, on_a, on_b) && one_side(self.b, &self.frames.b, on_b, on_a))
    }
}

/// Removes contacts that are there twice, and keeps at most `most` of the others.
fn reduce(found: &mut Vec<MeshContact>, kept: &mut Vec<MeshContact>, distance: f64, most: usize, size: f64) {
    let same = SAME * distance + ROUNDING * size;
    let is_same = |p: &MeshContact, q: &MeshContact| {
        (p.point_on_a - q.point_on_a).norm() <= same && (p.point_on_b - q.point_on_b).norm() <= same
    };
    let mut count = 0;
    for i in 0..found.len() {
        if !found[..count].iter().any(|c| is_same(c, &found[i])) {
            found[count] = found[i];
            count += 1;
        }
    }
    found.truncate(count);
    let apart = |p: &MeshContact, q: &MeshContact| {
        (p.point_on_a - q.point_on_a).norm_squared() + (p.normal - q.normal).norm_squared() * (0.01 * size * size)
    };
    while kept.len() < most && !found.is_empty() {
        let from_kept = |c: &MeshContact| kept.iter().map(|k| apart(k, c)).fold(f64::INFINITY, f64::min);
        let mut best = 0;
        let mut farthest = from_kept(&found[0]);
        if kept.is_empty() || found.len() + kept.len() <= most {
            // The nearest one, or all of them.
            farthest = f64::INFINITY;
        }
        for (i, c) in found.iter().enumerate().skip(1) {
            let far = from_kept(c);
            if far > farthest {
                (best, farthest) = (i, far);
            }
        }
        kept.push_guarded(found.remove(best));
    }
}
