//! The contact with the smallest separation of two bodies.

use super::query::{can_bring_both, surfaces, TOLERANCE};
use super::search::faces::{Faces, Wanted};
use super::search::frames::extent;
use super::search::{apart, climb, edges, far, passes, sharp};
use super::types::{order, Contact, Geometry, Roles};
use super::workspace::Workspace;
use voxshell_base::math::Pose;
use voxshell_base::memory::GrowGuarded;
use voxshell_base::{Error, Result};

/// Fraction of the depth so far from which edges are starts of a search for a deeper place.
const SHARE: f64 = 0.4;

/// Returns the contact with the smallest separation: the deepest penetration (negative) or the distance. Of two geometries
/// with surfaces that are apart, it is the distance of the triangles, and of those that intersect, it is that of the deepest
/// sample or edge. Of a surface and a convex body without one, it is exact too.
///
/// Otherwise the result is exact over the samples (branch and bound). `limit` (metres, may be +∞) bounds the search: the result
/// is `None` when no sample has φ ≤ `limit`. Ties go to the lower feature. With [`Roles::Both`] the result is the
/// smaller of the two directions.
///
/// # Errors
/// As [`contacts`](super::contacts()).
pub fn distance(
    a: Geometry,
    pose_a: &Pose,
    b: Geometry,
    pose_b: &Pose,
    roles: Roles,
    limit: f64,
    workspace: &mut Workspace,
) -> Result<Option<Contact>> {
    if limit.is_nan() {
        return Err(Error::argument("limit", limit, "a length in metres or +infinity"));
    }
    let found = search([(a, pose_a), (b, pose_b)], roles, limit, workspace)?;
    workspace.is_busy = false;
    Ok(found)
}

/// Finds the contact of [`distance`].
fn search(
    [(a, pose_a), (b, pose_b)]: [(Geometry, &Pose); 2],
    roles: Roles,
    limit: f64,
    workspace: &mut Workspace,
) -> Result<Option<Contact>> {
    // With surfaces, a body inside the other one is found by its own samples alone.
    let tests_edges = surfaces(&a, &b).is_some();
    let roles = if matches!(roles, Roles::Auto | Roles::One) && tests_edges && can_bring_both(&a, &b) {
        Roles::Both
    } else {
        roles
    };
    let mut passes = passes(a, pose_a, b, pose_b, (roles, tests_edges), f64::INFINITY)?;
    workspace.begin();
    let mut best: Option<Contact> = None;
    for pass in passes.iter_mut().flatten() {
        let limit = best.map_or(limit, |c| c.separation.min(limit));
        let contact = pass.nearest_contact(limit, workspace);
        best = contact.filter(|c| best.is_none_or(|b| c.separation < b.separation)).or(best);
    }
    if let Some(surfaces) = surfaces(&a, &b) {
        let Workspace { edges: scratch, sharp: sharp_scratch, contacts, stats, .. } = workspace;
        let poses = [pose_a, pose_b];
        let deep = best.filter(|c| c.separation < 0.0).and_then(|c| far::exact(&c, [(&a, pose_a), (&b, pose_b)]));
        best = deep.or(best);
        let least = best.map_or(limit, |c| c.separation.min(limit));
        // Less deep ones may lead to a deeper place.
        let level = if best.is_some() && least < 0.0 { SHARE * least } else { least };
        stats.edge_tests += edges::collect(surfaces, poses, level, edges::Wanted::default(), scratch, contacts);
        if !contacts.is_empty() && least > 0.0 {
            // Edges that have passed through each other keep their common normal.
            contacts.clear();
            let reach = sharp::Reach { limit: least, slides: None, tolerance: f64::INFINITY };
            stats.edge_tests += sharp::collect(surfaces, poses, reach, sharp_scratch, contacts).1;
            let wanted = edges::Wanted { passed: &sharp_scratch.passed, ..edges::Wanted::default() };
            stats.edge_tests += edges::collect(surfaces, poses, least, wanted, scratch, contacts);
        }
        let (bodies, tolerance) = ([(&a, pose_a), (&b, pose_b)], TOLERANCE * extent(surfaces));
        if least > 0.0 {
            // Where edges cross and no sample is inside, their common normal need not be the shortest way out.
            if let Some(found) = climb::deeper(contacts, bodies, tolerance, 0.0) {
                contacts.clear();
                contacts.extend_guarded([found]);
            }
        }
        contacts.extend_guarded(best);
        climb::climb(contacts, bodies, tolerance);
        best = contacts.iter().min_by(|p, q| order(p, q)).copied();
        contacts.clear();
        if best.is_none_or(|c| c.separation > 0.0) {
            let closest = apart::closest(surfaces, poses, limit, best.as_ref());
            stats.edge_tests += closest.tests;
            best = closest.contact.or(best);
        }
    } else if let Some(faces) = Faces::new([&a, &b], [pose_a, pose_b]) {
        let Workspace { faces: scratch, contacts, stats, .. } = workspace;
        contacts.clear();
        contacts.extend_guarded(best);
        let least = best.map_or(limit, |c| c.separation.min(limit));
        stats.edge_tests += faces.collect(least, Wanted::Deepest, scratch, contacts);
        if contacts.iter().all(|c| c.separation > 0.0) {
            contacts.extend_guarded(faces.inside().filter(|c| c.separation <= limit));
        }
        best = contacts.iter().min_by(|p, q| order(p, q)).copied();
        contacts.clear();
    }
    Ok(best)
}
