//! Detection of contacts by the triangles of both bodies: Ortega, Redon & Coquillart's own (2007, section 4.1).
//!
//! Heights are distances of features here, and not separations of samples. They are not negative, so a tool that passes
//! through an obstacle is led out by its samples.

use super::{constraint, GodObject, MAX_CUTS, REST, TOLERANCE};
use crate::constraint::difference;
use crate::god_object::Detection;
use crate::qp::MAX_ROWS;
use crate::Obstacle;
use voxshell_base::math::Pose;
use voxshell_base::memory::GrowGuarded;
use voxshell_base::Result;
use voxshell_ccd::impact::Moving;
use voxshell_ccd::mesh_impact::{mesh_time_of_impact, MeshImpact, MeshQuery, MeshStats, MovingMesh};
use voxshell_ccd::mesh_near::{mesh_contacts, MeshContact};
use voxshell_contact::{Contact, Geometry, FEATURE_OF_B, FEATURE_OF_EDGE};
use voxshell_mesh::FeatureKind;
use voxshell_mesh::Locator;

/// Length of the first piece of a motion that begins in contact, in skins, and the factor from each piece to the next.
const PIECE: f64 = 8.0;
const LONGER: f64 = 4.0;

/// Returns the number of a contact for the constraint: that of the vertex, or of the edge of A.
fn feature(features: &voxshell_ccd::mesh_impact::FeaturePair) -> u32 {
    match (features.a.kind, features.b.kind) {
        (FeatureKind::Vertex, _) => features.a.index,
        (_, FeatureKind::Vertex) => features.b.index | FEATURE_OF_B,
        _ => features.a.index | FEATURE_OF_EDGE,
    }
}

fn of_near(c: &MeshContact) -> Contact {
    Contact {
        point_on_a: c.point_on_a,
        point_on_b: c.point_on_b,
        normal: c.normal,
        separation: c.separation,
        toi: 0.0,
        feature: feature(&c.features),
        segment: 0,
    }
}

fn of_impact(c: &MeshImpact) -> Contact {
    Contact {
        point_on_a: c.point_on_a,
        point_on_b: c.point_on_b,
        normal: c.normal,
        separation: c.separation,
        toi: c.time,
        feature: feature(&c.features),
        segment: 0,
    }
}

impl GodObject {
    /// Returns the meshes of the tool and an obstacle if their triangles decide. Below the surface, samples decide.
    pub(super) fn meshes<'a>(&'a self, i: usize, body: &'a Obstacle) -> Option<(&'a Locator, &'a Locator)> {
        let meshes = self.tool.forms.mesh.as_deref().zip(body.forms.mesh.as_deref());
        meshes.filter(|_| self.settings.detection == Detection::Triangles && self.levels[i] >= 0.0)
    }

    /// Adds the constraints with obstacle `i` at a pose, of features within `near` skins, and returns the distance of
    /// the nearest. `None` if samples decide.
    pub(super) fn gather_triangles(
        &mut self,
        i: usize,
        body: &Obstacle,
        at: &Pose,
        near: f64,
        most: usize,
    ) -> Option<f64> {
        let mut workspace = std::mem::take(&mut self.near_triangles);
        let result = self.meshes(i, body).map(|(tool, other)| {
            let most = self.settings.contacts.min(most).max(1);
            let (tool, other) = ((tool, &self.model.pose), (other, at));
            let (found, pierced) = mesh_contacts(tool, other, near * self.skin, most, &mut workspace);
            (found.len(), pierced)
        });
        let mut nearest = near * self.skin;
        let has_samples = body.forms.field.is_some() || body.forms.shell.is_some();
        let by_triangles = matches!(result, Some((_, pierced)) if !(pierced && has_samples));
        if by_triangles {
            let stats = workspace.stats();
            self.spent.tests.node_tests += stats.node_tests;
            self.spent.tests.sample_tests += stats.feature_tests;
            for c in workspace.contacts() {
                nearest = nearest.min(c.separation);
                if self.model.constraints.len() + MAX_CUTS < MAX_ROWS {
                    let mut made = constraint((i as u32, at), &of_near(c), c.separation - REST * self.skin);
                    made.set_feel(body, &self.settings.surface);
                    self.model.constraints.push_guarded(made);
                    self.separations.push_guarded(c.separation);
                }
            }
            if result.is_some_and(|(_, pierced)| pierced) {
                nearest = 0.0;
            }
        }
        self.near_triangles = workspace;
        by_triangles.then_some(nearest)
    }

    /// Finds the first pair of features that comes as near as `level`, metres, while the tool and obstacle `i` move.
    /// `None` if samples decide.
    pub(super) fn hit_triangles(
        &mut self,
        i: usize,
        body: &Obstacle,
        (to, obstacle): (&Pose, [&Pose; 2]),
        level: f64,
        until: f64,
    ) -> Result<Option<Option<Contact>>> {
        if level < 0.0 {
            return Ok(None);
        }
        let mut workspace = std::mem::take(&mut self.moving_triangles);
        // Where features are near, a long motion is tested in pieces, from short to long. Otherwise all pairs that would
        // meet later on would be looked at in detail before the first one is known.
        let touches = self.model.constraints.iter().any(|c| c.body == i as u32);
        let length = self.length(&difference(&self.model.pose, to, &self.tool.center));
        let mut piece = if touches { (PIECE * self.skin / length.max(f64::MIN_POSITIVE)).min(1.0) } else { 1.0 };
        let mut stats = MeshStats::default();
        let found = match self.meshes(i, body) {
            None => Ok(None),
            Some((tool, other)) => {
                let path = |from: &Pose, to: &Pose, t: f64| match t {
                    0.0 => *from,
                    t if t >= 1.0 => *to,
                    t => Moving { geometry: Geometry::default(), from: *from, to: *to }.pose(t),
                };
                let tools = |t: f64| path(&self.model.pose, to, t);
                let obstacles = |t: f64| path(obstacle[0], obstacle[1], t);
                let mut begin = 0.0;
                loop {
                    let end = if begin + piece >= until { 1.0f64.min(until.max(begin + piece)) } else { begin + piece };
                    let a = MovingMesh { mesh: tool, from: tools(begin), to: tools(end) };
                    let b = MovingMesh { mesh: other, from: obstacles(begin), to: obstacles(end) };
                    let query = MeshQuery { max_separation: level, ..MeshQuery::new(TOLERANCE * self.skin) };
                    let hit = mesh_time_of_impact(&a, &b, &query, &mut workspace);
                    stats.node_tests += workspace.stats().node_tests;
                    stats.feature_tests += workspace.stats().feature_tests;
                    match hit {
                        Err(error) => break Err(error),
                        Ok(Some(hit)) => {
                            let toi = begin + hit.time * (end - begin);
                            break Ok(Some((toi <= until).then(|| Contact { toi, ..of_impact(&hit) })));
                        }
                        Ok(None) if end >= until || end >= 1.0 => break Ok(Some(None)),
                        Ok(None) => (begin, piece) = (end, piece * LONGER),
                    }
                }
            }
        };
        self.spent.tests.node_tests += stats.node_tests;
        self.spent.tests.sample_tests += stats.feature_tests;
        self.moving_triangles = workspace;
        found
    }
}
