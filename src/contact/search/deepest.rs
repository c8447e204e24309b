//! The deepest sample of bodies that are far inside each other.
//!
//! Samples are found, and dense ones thinned, by the distance of the field. Between the faces of a corner that is up to a voxel
//! more than that of the triangles, and farther than a few voxels from the surface it is all that a search knows. So the
//! deepest sample by the field need not be the deepest. The samples that can be are those whose field is at most the bound of
//! its error above the least exact separation so far; they are tested in ascending order until no other can be.

use super::exact::REACH;
use super::far;
use super::pass::Pass;
use crate::types::{Completeness, Contact, Geometry, Query, FEATURE_OF_B, FEATURE_OF_EDGE};
use crate::workspace::Workspace;
use voxshell_base::math::Pose;
use voxshell_base::memory::GrowGuarded;

/// Depth up to which the sample that is kept of those that were thinned is taken for the deepest, voxels: flush faces.
const SHALLOW: f64 = 0.5;

impl Pass<'_> {
    /// Appends the deepest sample to the contacts of the query if it is deeper than all of them, and gives those of the
    /// contacts that seemed as deep their exact places.
    pub(crate) fn settle_deepest(&mut self, bodies: [(&Geometry, &Pose); 2], query: &Query, workspace: &mut Workspace) {
        let Some((error, voxel)) = self.exact.as_ref().map(|exact| (exact.error(), exact.voxel())) else { return };
        let is_own =
            |c: &Contact| c.feature & FEATURE_OF_EDGE == 0 && (c.feature & FEATURE_OF_B != 0) == self.shell_is_b;
        let samples = workspace.contacts.iter().filter(|c| is_own(c));
        let deepest = samples.fold(f64::INFINITY, |least, c| least.min(c.separation));
        let is_thinned = workspace.report.completeness == Completeness::Urgent;
        if deepest >= -voxel * if is_thinned { SHALLOW } else { REACH } {
            return;
        }
        let level = self.search_up_to(deepest);
        workspace.hits.clear();
        self.collect_all(level, workspace);
        let Workspace { hits, contacts, kept: exact, .. } = workspace;
        hits.sort_unstable_by(|p, q| p.phi.total_cmp(&q.phi).then(p.sample.cmp(&q.sample)));
        let edges = contacts.iter().filter(|c| c.feature & FEATURE_OF_EDGE != 0);
        let mut least = edges.fold(f64::INFINITY, |least, c| least.min(c.separation));
        exact.clear();
        for hit in &*hits {
            if f64::from(hit.phi) - error >= least {
                break;
            }
            let contact = self.contact(hit);
            let contact = far::exact(&contact, bodies).unwrap_or(contact);
            if self.is_wanted(&contact, query) {
                least = least.min(contact.separation);
                exact.push_guarded(contact);
            }
        }
        exact.sort_unstable_by_key(|contact| contact.feature);
        let mut is_listed = false;
        for contact in contacts.iter_mut() {
            if let Ok(i) = exact.binary_search_by_key(&contact.feature, |exact| exact.feature) {
                *contact = exact[i];
                is_listed |= contact.separation <= least;
            }
        }
        if !is_listed {
            contacts.extend_guarded(exact.iter().find(|contact| contact.separation <= least).copied());
        }
    }
}
