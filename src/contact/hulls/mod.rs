//! Queries of two hierarchies of convex hulls, refined only where the detail can be felt (Otaduy & Lin 2003, section 5).
//!
//! The traversal starts at the roots. A pair of nodes is left out if the distance of their hulls is above the limit and
//! their reaches. Else a node is refined if its detail is perceptible at the contact (see `Pair::refinement`), or if the
//! closest point is on a face that is no surface. The finest hulls with such points are tested triangle by triangle, so
//! with the tolerance 0 the answers are those of the triangles.
//!
//! The depth of overlapping hulls is the smallest along the normals of their faces that are surface; the point must be
//! inside both bodies by its winding number.

mod pair;
mod triangles;
mod workspace;

use self::pair::{Pair, Relation};
use self::workspace::Found;
pub use self::workspace::{HullStats, HullWorkspace};
use super::types::Contact;
use voxshell_base::math::{limits, Pose, Vec3};
use voxshell_base::memory::GrowGuarded;
use voxshell_base::{Error, Result};
use voxshell_mesh::simplify::HullHierarchy;

/// Parameters of a query of hulls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HullQuery {
    /// Contacts with a separation up to this value are reported, metres; at least 0. For the distance: the largest that
    /// is looked for; may be infinite.
    pub max_separation: f64,
    /// Largest deviation of the surface, weighted by the size of the detail against the contact area, metres. 0: the
    /// original surfaces.
    pub tolerance: f64,
}

impl HullQuery {
    fn check(&self, most: f64) -> Result<()> {
        let m = self.max_separation;
        if !(m >= 0.0 && m <= most) {
            return Err(Error::argument(
                "query.max_separation",
                limits::Shown(m),
                "0 to 1e18 m, for a distance infinity",
            ));
        }
        if !(self.tolerance >= 0.0 && self.tolerance <= limits::MAX_COORDINATE) {
            return Err(Error::argument("query.tolerance", limits::Shown(self.tolerance), "0 to 1e18 m"));
        }
        Ok(())
    }
}

fn check_poses(pose_a: &Pose, pose_b: &Pose) -> Result<()> {
    limits::check_pose("pose_a", pose_a)?;
    limits::check_pose("pose_b", pose_b)
}

/// Returns the contacts of two bodies: one for each pair of convex pieces, at the level of detail that the tolerance needs.
/// A tolerance moves contacts and changes depths, and loses no contact.
///
/// Poses are body to world. Contacts are in world coordinates, with normals from A to B, deepest first. `feature` is a
/// number made of the two hulls. Allocates nothing when warm; callable from any thread with its own workspace; the same
/// input gives the same bytes, whatever the workspace was used for before.
///
/// # Errors
/// `InvalidArgument` for poses and queries out of range.
pub fn hull_contacts<'w>(
    [(a, pose_a), (b, pose_b)]: [(&HullHierarchy, &Pose); 2],
    query: &HullQuery,
    workspace: &'w mut HullWorkspace,
) -> Result<&'w [Contact]> {
    query.check(limits::MAX_COORDINATE)?;
    check_poses(pose_a, pose_b)?;
    let pair = Pair::new([(a, pose_a), (b, pose_b)], query.tolerance, true);
    let limit = query.max_separation;
    begin(&pair, workspace);
    while let Some((bound, i, j)) = workspace.stack.pop() {
        if bound > limit {
            continue;
        }
        workspace.stats.pairs += 1;
        match pair.relation(i, j, limit, workspace) {
            Relation::Apart => {}
            Relation::Refine(which) => pair.refine(i, j, which, &mut workspace.stack),
            Relation::Contact(found) if found.separation <= limit => workspace.found.push_guarded(found),
            // The surface below a coarse hull may be nearer than the hull.
            Relation::Contact(_) => {
                let coarse = [a.nodes[i as usize].level > 0, b.nodes[j as usize].level > 0];
                if coarse != [false; 2] {
                    pair.refine(i, j, coarse, &mut workspace.stack);
                }
            }
            Relation::Triangles => {
                if let Some(c) = pair.triangles(i, j, limit, &mut workspace.stats) {
                    let separation = c.squared.sqrt();
                    let apart = pair.place(&b.nodes[j as usize].center) - a.nodes[i as usize].center;
                    let between = (c.on_b - c.on_a).try_normalize(0.0).or(apart.try_normalize(0.0));
                    let normal = between.unwrap_or(Vec3::x());
                    let found = Found { on_a: c.on_a, on_b: c.on_b, normal, separation, nodes: [i, j] };
                    workspace.found.push_guarded(found);
                }
            }
        }
    }
    let key = |f: &Found| (f.nodes[0], f.nodes[1]);
    workspace.found.sort_unstable_by(|x, y| x.separation.total_cmp(&y.separation).then(key(x).cmp(&key(y))));
    workspace.contacts.clear();
    for f in &workspace.found {
        let world = |p: &Vec3| pose_a.rotation * (p + a.origin()) + pose_a.translation.vector;
        let mixed = (f.nodes[0].wrapping_mul(0x9e37_79b9) ^ f.nodes[1]) & 0x3fff_ffff;
        workspace.contacts.push_guarded(Contact {
            point_on_a: world(&f.on_a),
            point_on_b: world(&f.on_b),
            normal: pose_a.rotation * f.normal,
            separation: f.separation,
            toi: 0.0,
            feature: mixed,
            segment: 0,
        });
    }
    Ok(&workspace.contacts)
}

/// Returns the distance of two surfaces and their closest points, in world coordinates; 0 if they intersect, `None` if they
/// are farther apart than `query.max_separation`. With the tolerance 0 it is the distance of the triangles, also of a body
/// inside the other; else it may differ by the deviations of the levels that the query stopped at.
///
/// # Errors
/// As [`hull_contacts`]. Memory and threads as there.
pub fn hull_distance(
    [(a, pose_a), (b, pose_b)]: [(&HullHierarchy, &Pose); 2],
    query: &HullQuery,
    workspace: &mut HullWorkspace,
) -> Result<Option<(f64, [Vec3; 2])>> {
    query.check(f64::INFINITY)?;
    check_poses(pose_a, pose_b)?;
    let pair = Pair::new([(a, pose_a), (b, pose_b)], query.tolerance, false);
    begin(&pair, workspace);
    // A point of B bounds the distance to A from above; with a tolerance, of the levels too.
    let start = pair.place(&Vec3::from(b.mesh.corners(0)[0]));
    let first = a.bvh.closest_point(start).distance_squared.sqrt();
    let slack = 1e-12 * pair.size + if query.tolerance > 0.0 { f64::INFINITY } else { 0.0 };
    let mut limit = query.max_separation.min(first + slack);
    let mut best: Option<(f64, [Vec3; 2])> = None;
    while let Some((bound, i, j)) = workspace.stack.pop() {
        if bound > limit {
            continue;
        }
        workspace.stats.pairs += 1;
        let closer = match pair.relation(i, j, limit, workspace) {
            Relation::Apart => None,
            Relation::Refine(which) => {
                pair.refine(i, j, which, &mut workspace.stack);
                None
            }
            Relation::Contact(f) => Some((f.separation, [f.on_a, f.on_b])),
            Relation::Triangles => {
                let found = pair.triangles(i, j, limit.min(2.0 * pair.size), &mut workspace.stats);
                found.map(|c| (c.squared.sqrt(), [c.on_a, c.on_b]))
            }
        };
        if let Some(found) = closer.filter(|f| f.0 <= limit && best.is_none_or(|b| f.0 < b.0)) {
            best = Some(found);
            limit = found.0;
        }
    }
    let world = |p: &Vec3| pose_a.rotation * (p + a.origin()) + pose_a.translation.vector;
    Ok(best.map(|(distance, points)| (distance, points.map(|p| world(&p)))))
}

fn begin(pair: &Pair, workspace: &mut HullWorkspace) {
    workspace.begin();
    workspace.stack.push_guarded((pair.ball_bound(0, 0), 0, 0));
}
