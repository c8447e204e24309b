//! A pointshell against a sheet. The field of the sheet gives the distance, but not the side from which the body
//! comes: each sample finds that out from its own body.
//!
//! Let p be a sample with the outward normal n, q the closest point of the sheet, d = |p − q| and g = (p − q) / d.
//!
//! - n·g < 0: the body ends at p and the sheet lies beyond. The separation is d, and the outward direction of the
//!   sheet is g.
//! - n·g > 0, clearly: the sheet is on the body's side of p. Either the body has gone through the sheet, with p
//!   ahead, or p is on the far side of a body that lies on the sheet. Let m = p − d (g + n). For n = g this is the
//!   mirror image of p beyond the sheet, and for a corner of the body m stays clear of the faces beside it. The body
//!   has gone through when d ≤ depth, the sheet is between p and m, and both m and the midpoint of p and m are deeper
//!   in the body than p is, by the body's own field: then most of the body is on that side. The separation is −d, and
//!   the outward direction is −g. For a body without a field, the winding of the sheet decides: the body has gone
//!   through when p is behind the triangle of q.
//! - Otherwise p is on the far side of the body and is no contact.

use super::scratch::{Hit, Left};
use super::{limit, tree};
use crate::types::Budget;
use crate::workspace::Workspace;
use voxshell_base::math::clock::Instant;
use voxshell_base::math::{Aabb, Pose, RigidF32, Vec3};
use voxshell_field::{Field, Sheet, SheetAround, SignedDistance};
use voxshell_pointshell::PointShell;

/// Smallest cosine of n and g behind the sheet: with less, the sheet stands on the body's surface.
const BEHIND: f64 = 0.3;
/// A point counts as deeper in the body when it gains this much depth per length: less may be noise of the field.
const SLOPE: f64 = 0.02;

/// A shell beside a sheet.
pub struct Sides<'a> {
    pub sheet: &'a Sheet,
    /// The sheet in the frame of the hits' points.
    pub around: SheetAround<'a>,
    /// Largest depth of a sample behind the sheet, metres.
    pub depth: f32,
    pub shell: &'a PointShell,
    /// The field of the shell's own body.
    pub body: Option<&'a Field>,
    /// Pose from the body's frame to the sheet's.
    pub relative: Pose,
}

/// Side of the sheet on which a sample is.
pub(crate) struct Side {
    /// Distance to the sheet, metres; negative when the sample has gone through.
    pub separation: f32,
    /// Unit, sheet's body frame: from the sheet to the side of the body.
    pub outward: Vec3,
}

impl Sides<'_> {
    /// Returns the side of a sample; `None` on the far side of the body. `hit.phi` is the distance to the sheet, of
    /// either sign.
    pub fn of(&self, hit: &Hit) -> Option<Side> {
        let p = self.around.body(hit.point);
        let least = self.around.least_distance(hit.point);
        // The distance is exact except for its rounding to f32.
        let closest = self.sheet.closest_within(&p, f64::from(hit.phi.abs()) * (1.0 + 1e-6) + least)?;
        let d = closest.distance_squared.sqrt();
        let n = self.relative.rotation * Vec3::from(self.shell.normal(hit.sample as usize).map(f64::from));
        if d <= least {
            let outward = match self.sheet.normal(closest.triangle) {
                Some(m) if m.dot(&n) > 0.0 => -m,
                Some(m) => m,
                None => (-n).try_normalize(0.0)?,
            };
            return Some(Side { separation: 0.0, outward });
        }
        let g = (p - closest.point) / d;
        let facing = n.dot(&g);
        if facing < 0.0 {
            return Some(Side { separation: d as f32, outward: g });
        }
        let to_mirror = (g + n) * -d;
        let is_through = facing >= BEHIND
            && (d as f32) <= self.depth
            && self.sheet.bvh().any_intersection(p, to_mirror, 1.0)
            && match self.body {
                Some(field) => {
                    let [at_p, half, whole] = [0.0, 0.5, 1.0].map(|t| self.depth_in_body(field, p + to_mirror * t));
                    half - at_p > SLOPE * d && whole - at_p > SLOPE * d
                }
                None => self.sheet.normal(closest.triangle).is_some_and(|m| m.dot(&g) < 0.0),
            };
        is_through.then_some(Side { separation: -(d as f32), outward: -g })
    }

    /// Returns −φ of the body at a point of the sheet's frame.
    fn depth_in_body(&self, field: &Field, p: Vec3) -> f64 {
        let p = self.relative.inverse_transform_point(&p.into()).coords;
        let local = p - field.local_origin(&p);
        -f64::from(field.distance([local.x as f32, local.y as f32, local.z as f32]))
    }

    /// Returns the field for traversals that search for samples within `limit`.
    fn near(&self, limit: f32) -> NearSheet<'_> {
        NearSheet { sheet: self.sheet, around: &self.around, limit }
    }

    /// Appends every contact with a separation up to `limit` to `workspace.hits`, in ascending order of samples; `phi` of
    /// each is its separation.
    pub fn collect(&self, to_field: &RigidF32, limit: f32, workspace: &mut Workspace) {
        // No contact is deeper than the sheet's depth, so a sample within that distance may have gone through.
        let reach = limit.max(self.depth);
        tree::collect(&self.near(reach), self.shell, to_field, reach, workspace);
        self.keep_contacts(limit, workspace);
    }

    /// Keeps the hits that are contacts.
    fn keep_contacts(&self, limit: f32, workspace: &mut Workspace) {
        workspace.hits.retain_mut(|hit| match self.of(hit) {
            Some(side) => {
                hit.phi = side.separation;
                hit.phi <= limit
            }
            None => false,
        });
    }

    /// Does the same as [`Sides::collect`], within a budget that counts from `start`.
    pub fn collect_within(
        &self,
        to_field: &RigidF32,
        limit: f32,
        budget: &Budget,
        start: Instant,
        workspace: &mut Workspace,
    ) -> Left {
        let reach = limit.max(self.depth);
        let mut left = limit::collect(&self.around, self.shell, to_field, reach, budget, start, workspace);
        self.keep_contacts(limit, workspace);
        // A sample within the depth may have gone through; then its depth is its distance.
        if left.least <= self.depth {
            left.least = left.least.min(-self.depth);
        }
        left
    }

    /// Returns the contact with the smallest separation, if that is at most `limit`; on a tie the lowest sample.
    pub fn nearest(&self, to_field: &RigidF32, limit: f32, workspace: &mut Workspace) -> Option<Hit> {
        workspace.hits.clear();
        self.collect(to_field, self.depth, workspace);
        let least = workspace.hits.iter().copied().reduce(|p, q| if q.phi < p.phi { q } else { p });
        match least {
            Some(hit) => (hit.phi <= limit).then_some(hit),
            None => {
                let is_contact = |hit: &Hit| self.of(hit).is_some();
                tree::nearest(&self.around, self.shell, to_field, limit, is_contact, workspace)
            }
        }
    }
}

/// Field of a sheet for traversals that only need to know where it is at most `limit`: beyond that, it is infinite.
/// Such a search skips the closest of many far triangles and is several times faster.
struct NearSheet<'a> {
    sheet: &'a Sheet,
    around: &'a SheetAround<'a>,
    limit: f32,
}

impl NearSheet<'_> {
    /// Returns a bound that is not less than `distance` in spite of rounding, metres.
    fn widened(distance: f64, p: &Vec3) -> f64 {
        distance * (1.0 + 4.0 * f64::from(f32::EPSILON)) + 1e-12 * p.abs().sum()
    }
}

impl SignedDistance for NearSheet<'_> {
    fn local_origin(&self, near: &Vec3) -> Vec3 {
        self.around.local_origin(near)
    }

    fn bounds(&self) -> Aabb {
        self.around.bounds()
    }

    fn distance(&self, p: [f32; 3]) -> f32 {
        let p = self.around.body(p);
        let closest = self.sheet.closest_within(&p, Self::widened(self.limit.into(), &p));
        closest.map_or(f32::INFINITY, |c| c.distance_squared.sqrt() as f32)
    }

    fn distance_gradient(&self, p: [f32; 3]) -> (f32, [f32; 3]) {
        self.around.distance_gradient(p)
    }

    /// Returns only whether the bound is above the limit: −∞ or +∞.
    fn lower_bound(&self, c: [f32; 3], r: f32) -> f32 {
        let c = self.around.body(c);
        if self.sheet.is_within(&c, Self::widened(f64::from(self.limit) + f64::from(r), &c)) {
            f32::NEG_INFINITY
        } else {
            f32::INFINITY
        }
    }

    fn error_bound(&self) -> f64 {
        self.around.error_bound()
    }
}
