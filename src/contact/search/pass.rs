//! One direction of a query: the samples of one body in the local frame of the other body's field.

use std::sync::Arc;

use nalgebra::UnitQuaternion;

use super::cache::{self, Owners};
use super::exact::Exact;
use super::scratch::{Hit, Left};
use super::sheet::Sides;
use super::{limit, tree};
use crate::types::{directions, order, Budget, Contact, Geometry, Owner, Query, Roles, Step, FEATURE_OF_B};
use crate::workspace::Workspace;
use voxshell_base::math::clock::Instant;
use voxshell_base::math::limits::check_pose;
use voxshell_base::math::{Pose, RigidF32, Vec3};
use voxshell_base::Result;
use voxshell_field::{with_common_field, Field, SignedDistance, Surface};
use voxshell_pointshell::PointShell;

/// A rotation as the rows of its matrix.
fn rows(rotation: &UnitQuaternion<f64>) -> [[f64; 3]; 3] {
    let m = rotation.to_rotation_matrix();
    [0, 1, 2].map(|i| [m[(i, 0)], m[(i, 1)], m[(i, 2)]])
}

/// One direction of a query: a shell run through a field.
pub(crate) struct Pass<'a> {
    pub shell: &'a PointShell,
    /// Field of the shell's own body; it decides the side of a sheet.
    pub own_field: Option<&'a Field>,
    /// Field that is searched: where the surface decides, that of a field that is exact near the surface is its grid.
    /// The answers are those of a plain grid, in its time.
    pub field: &'a Field,
    /// Field of the other body.
    given: &'a Field,
    pub field_pose: &'a Pose,
    /// Rotation of `field_pose`, as rows.
    pub to_world: [[f64; 3]; 3],
    /// Pose from the shell's body frame to the field's body frame.
    pub relative: Pose,
    /// Local origin of the field in its body frame, metres.
    pub field_origin: Vec3,
    pub to_field: RigidF32,
    pub shell_is_b: bool,
    /// Largest depth of samples behind a sheet, metres.
    pub max_depth: f32,
    pub owners: Option<Owners<'a>>,
    /// Exact distances to the mesh of the field's body, if its surface is known.
    pub exact: Option<Exact<'a>>,
    /// Exact surface of the shell's body.
    pub own_surface: Option<&'a Surface>,
}

impl<'a> Pass<'a> {
    /// Returns `None` when the body has no pointshell or the other body has no field.
    pub fn new(
        body: &Geometry<'a>,
        shell_pose: &'a Pose,
        other: &Geometry<'a>,
        field_pose: &'a Pose,
        shell_is_b: bool,
        max_depth: f64,
    ) -> Option<Self> {
        let (shell, given) = (body.shell?, other.field?);
        let exact = Exact::new(given, other.surface, shell);
        let field = match (&exact, given) {
            (Some(_), Field::Exact(near)) => near.far_field(),
            _ => given,
        };
        let relative = field_pose.inv_mul(shell_pose);
        let near = (relative * nalgebra::Point3::from(shell.origin)).coords;
        let field_origin = match field {
            Field::Sheet(_) => near,
            _ => field.local_origin(&near),
        };
        let to_field = RigidF32::between(&relative, &shell.origin, &field_origin);
        let own_field = body.field;
        let max_depth = max_depth as f32;
        let owners = None;
        Some(Self {
            shell,
            own_field,
            field,
            given,
            field_pose,
            to_world: rows(&field_pose.rotation),
            relative,
            field_origin,
            to_field,
            shell_is_b,
            max_depth,
            owners,
            exact,
            own_surface: body.surface,
        })
    }

    /// Sets the owners of the shell's body and of the other, if they hold the shell and the field of this pass.
    pub fn owned(mut self, body: &Owner<'a>, other: &Owner<'a>) -> Self {
        let shell = body.shell.filter(|shell| std::ptr::eq(Arc::as_ptr(shell), self.shell));
        let field = other.field.filter(|field| std::ptr::eq(Arc::as_ptr(field), self.given));
        // The cache of a pair belongs to one function.
        let field = field.map(|field| match &**field {
            Field::Exact(near) if self.exact.is_some() => near.far_field(),
            _ => field,
        });
        self.owners = shell.zip(field).map(|(shell, field)| Owners { shell, field });
        self
    }

    /// Leaves the exact distances to the field.
    pub fn without_surface(&mut self) {
        self.exact = None;
        self.field = self.given;
    }

    /// Sets the largest separation that is wanted, metres, and returns the level of the field up to which the samples as
    /// near as that are found.
    pub fn search_up_to(&mut self, limit: f64) -> f32 {
        let Some(exact) = &mut self.exact else { return limit as f32 };
        exact.limit = limit;
        exact.level() as f32
    }

    /// Returns the largest difference of a separation and the field's φ near the surface, metres.
    pub fn error(&self) -> f32 {
        self.exact.as_ref().map_or(0.0, Exact::error) as f32
    }

    /// Returns the side test of the samples against a sheet; `None` when the field has an inside.
    pub fn sides(&self) -> Option<Sides<'_>> {
        let Field::Sheet(sheet) = self.field else { return None };
        let around = sheet.around(self.field_origin);
        let depth = sheet.depth().min(self.max_depth);
        Some(Sides { sheet, around, depth, shell: self.shell, body: self.own_field, relative: self.relative })
    }

    /// Appends every sample with a separation up to `limit` to `workspace.hits`, in ascending order.
    pub fn collect_all(&self, limit: f32, workspace: &mut Workspace) {
        match self.sides() {
            Some(sides) => sides.collect(&self.to_field, limit, workspace),
            None => {
                if self.collect_cached(limit, true, workspace).is_none() {
                    with_common_field!(self.field, f => tree::collect(f, self.shell, &self.to_field, limit, workspace));
                }
            }
        }
    }

    /// Does the same as [`Pass::collect_all`], within a budget that counts from `start`.
    pub fn collect_within(&self, budget: &Budget, start: Instant, limit: f32, workspace: &mut Workspace) -> Left {
        match self.sides() {
            Some(sides) => sides.collect_within(&self.to_field, limit, budget, start, workspace),
            None => with_common_field!(self.field, f => {
                limit::collect(f, self.shell, &self.to_field, limit, budget, start, workspace)
            }),
        }
    }

    /// Does the same as [`Pass::collect_all`] with the traversal cache. Returns `None`, with nothing done, when there is no
    /// usable cache and none is to be begun.
    pub fn collect_cached(&self, limit: f32, begin: bool, workspace: &mut Workspace) -> Option<()> {
        let owners = self.owners.as_ref()?;
        let Workspace { caches, hits, stats, levels, .. } = workspace;
        // Reserved for the queries that the cache does not answer, because the pair counts as warm by then. No level
        // has more nodes than the tree, and no node has more children.
        levels.iter_mut().for_each(|level| level.clear(2 * self.shell.tree.radius.len()));
        let cache = &mut caches[usize::from(self.shell_is_b)];
        if !cache.is_worth_using(owners) {
            return None;
        }
        with_common_field!(self.field, f => cache::collect(cache, f, self.shell, &self.to_field, limit, begin, (hits, stats)))
    }

    /// Returns the sample with the smallest separation up to `limit`; on a tie the lowest index.
    pub fn nearest(&self, limit: f32, workspace: &mut Workspace) -> Option<Hit> {
        match self.sides() {
            Some(sides) => sides.nearest(&self.to_field, limit, workspace),
            None => with_common_field!(self.field, f => {
                tree::nearest(f, self.shell, &self.to_field, limit, |_| true, workspace)
            }),
        }
    }

    /// Returns whether the contact of a sample that was found by the field is exactly as near as the query wants. In a
    /// step, the other body must be ahead of the sample's surface and not beside it.
    pub fn is_wanted(&self, contact: &Contact, query: &Query) -> bool {
        let is_near = contact.separation <= query.max_separation;
        if self.exact.is_some() && self.own_surface.is_some() && query.step.is_some() && self.is_beside(contact) {
            return false;
        }
        let counts =
            |step: &Step| step.gap(contact) <= step.max_gap || query.preferred.binary_search(&contact.feature).is_ok();
        self.exact.is_none() || (is_near && query.step.as_ref().is_none_or(counts))
    }

    /// Returns the contact of the sample with the smallest separation up to `limit`, metres; on a tie the lowest sample.
    pub fn nearest_contact(&mut self, limit: f64, workspace: &mut Workspace) -> Option<Contact> {
        let level = self.search_up_to(limit);
        let found = self.nearest(level, workspace).map(|hit| self.contact(&hit))?;
        if self.exact.is_none() {
            return Some(found);
        }
        // By the field's error, another sample may be exactly nearer.
        let level = self.search_up_to(found.separation.min(limit));
        workspace.hits.clear();
        self.collect_all(level, workspace);
        let mut best: Option<Contact> = None;
        self.contacts(&workspace.hits, |_, contact| {
            if contact.separation <= limit && best.is_none_or(|b| order(&contact, &b).is_lt()) {
                best = Some(contact);
            }
        });
        best
    }

    pub fn feature(&self, sample: u32) -> u32 {
        sample | if self.shell_is_b { FEATURE_OF_B } else { 0 }
    }
}

/// Returns the directions that a query runs. `tests_edges` tells that the query tests the edges of both bodies too.
pub(crate) fn passes<'a>(
    a: Geometry<'a>,
    pose_a: &'a Pose,
    b: Geometry<'a>,
    pose_b: &'a Pose,
    (roles, tests_edges): (Roles, bool),
    max_depth: f64,
) -> Result<[Option<Pass<'a>>; 2]> {
    check_pose("pose_a", pose_a)?;
    check_pose("pose_b", pose_b)?;
    let (run_a, run_b) = directions(&a, &b, roles, tests_edges)?;
    let first = run_a.then(|| Pass::new(&a, pose_a, &b, pose_b, false, max_depth)).flatten();
    let second = run_b.then(|| Pass::new(&b, pose_b, &a, pose_a, true, max_depth)).flatten();
    Ok([first, second])
}
