//! Reduction of many contacts to a few, so that stiffness does not grow with the number of samples.

use voxshell_base::math::Vec3;
use voxshell_base::memory::GrowGuarded;
use voxshell_contact::{Contact, FEATURE_OF_B};

/// Feature of a contact that stands for several contacts; no sample has this number. Penalty forces treat it as a
/// plane.
pub const CLUSTER_FEATURE: u32 = !FEATURE_OF_B;

/// Parameters of the clustering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterSettings {
    /// Largest number of clusters, 1 or more.
    pub max_clusters: usize,
    /// No new cluster begins within this distance of the others, metres; normals that differ by a right angle count
    /// as this far apart.
    pub radius: f64,
    /// φ up to which contacts were queried, metres. A contact at that separation has weight 0, so that the result is
    /// continuous when contacts appear and disappear.
    pub max_separation: f64,
}

/// Largest number of rounds of k-means; it ends sooner when no contact changes its cluster.
const ROUNDS: usize = 16;

/// Scratch memory and result: one per thread, grown on first use. Warm calls do not allocate.
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    means: Vec<Mean>,
    /// Cluster of each contact.
    of: Vec<u32>,
    representatives: Vec<Contact>,
}

#[derive(Clone, Copy, Debug)]
struct Mean {
    point: Vec3,
    normal: Vec3,
}

fn middle(contact: &Contact) -> Vec3 {
    (contact.point_on_a + contact.point_on_b) * 0.5
}

impl Mean {
    fn of(contact: &Contact) -> Self {
        Self { point: middle(contact), normal: contact.normal }
    }

    /// Returns the squared distance of a contact, metres²; a chord of √2 between the normals counts as `radius`.
    fn distance(&self, contact: &Contact, radius: f64) -> f64 {
        let turn = (self.normal - contact.normal).norm_squared() * 0.5;
        (self.point - middle(contact)).norm_squared() + turn * radius * radius
    }
}

/// Returns the nearest of the means and its squared distance; on a tie the first.
fn nearest(means: &[Mean], contact: &Contact, radius: f64) -> (u32, f64) {
    let mut best = (0, f64::INFINITY);
    for (mean, i) in means.iter().zip(0..) {
        let distance = mean.distance(contact, radius);
        if distance < best.1 {
            best = (i, distance);
        }
    }
    best
}

impl Clusters {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the cluster of each contact of the last call, in the order of the contacts.
    pub fn assignment(&self) -> &[u32] {
        &self.of
    }
}

/// Groups contacts by k-means over positions and normals, and returns one contact for each group (Otaduy & Lin 2005,
/// section 6.1). It is at the mean of the contacts' midpoints, along the mean of their normals, each weighted by its
/// distance below `max_separation`, and has the depth of the deepest contact of the group.
///
/// The first cluster begins at the deepest contact. Each further one begins at the contact farthest from all
/// clusters, while that distance is larger than `radius`. The same contacts in the same order give the same bytes.
/// The result lives in `clusters` until its next use.
pub fn cluster<'c>(contacts: &[Contact], settings: &ClusterSettings, clusters: &'c mut Clusters) -> &'c [Contact] {
    let Clusters { means, of, representatives } = clusters;
    means.clear();
    of.clear();
    representatives.clear();
    let deepest = contacts.iter().min_by(|p, q| p.separation.total_cmp(&q.separation));
    let Some(deepest) = deepest else { return representatives };
    means.push_guarded(Mean::of(deepest));
    while means.len() < settings.max_clusters {
        let mut farthest = (settings.radius * settings.radius, None);
        for contact in contacts {
            let (_, distance) = nearest(means, contact, settings.radius);
            if distance > farthest.0 {
                farthest = (distance, Some(contact));
            }
        }
        let Some(contact) = farthest.1 else { break };
        means.push_guarded(Mean::of(contact));
    }
    of.resize_guarded(contacts.len(), u32::MAX);
    for _ in 0..ROUNDS {
        let mut changed = false;
        for (contact, of) in contacts.iter().zip(of.iter_mut()) {
            let (best, _) = nearest(means, contact, settings.radius);
            changed |= *of != best;
            *of = best;
        }
        if !changed {
            break;
        }
        for (mean, k) in means.iter_mut().zip(0..) {
            *mean = mean_of(contacts, of, k, settings.max_separation).unwrap_or(*mean);
        }
    }
    for (mean, k) in means.iter().zip(0..) {
        let members = || contacts.iter().zip(of.iter()).filter(move |(_, of)| **of == k).map(|(c, _)| c);
        let Some(separation) = members().map(|c| c.separation).min_by(f64::total_cmp) else { continue };
        let half = mean.normal * (0.5 * separation);
        representatives.push_guarded(Contact {
            point_on_a: mean.point - half,
            point_on_b: mean.point + half,
            normal: mean.normal,
            separation,
            toi: members().map(|c| c.toi).fold(f64::INFINITY, f64::min),
            feature: CLUSTER_FEATURE,
            segment: k,
        });
    }
    representatives
}

/// Returns the mean of a cluster; `None` for no members, and where the normals cancel each other.
fn mean_of(contacts: &[Contact], of: &[u32], k: u32, max_separation: f64) -> Option<Mean> {
    let (mut point, mut normal, mut weights) = (Vec3::zeros(), Vec3::zeros(), 0.0);
    for (contact, of) in contacts.iter().zip(of) {
        if *of == k {
            // Positive, so that contacts with zero weight have a mean, too.
            let weight = (max_separation - contact.separation).max(1e-12);
            point += middle(contact) * weight;
            normal += contact.normal * weight;
            weights += weight;
        }
    }
    let normal = normal.try_normalize(1e-6 * weights)?;
    Some(Mean { point: point / weights, normal })
}
