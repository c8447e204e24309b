//! Many contacts made few, so that stiffness does not grow with the number of samples.

use crate::contact::{Contact, FEATURE_OF_B};
use crate::math::Vec3;

/// The feature of a contact that stands for several: no sample's. Penalty forces take it for a plane.
pub const CLUSTER_FEATURE: u32 = !FEATURE_OF_B;

/// What belongs together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterSettings {
    /// Clusters at most, 1 or more.
    pub max_clusters: usize,
    /// No new cluster begins within this distance of the others, metres; normals that differ by a right angle count as
    /// this far apart.
    pub radius: f64,
    /// φ up to which contacts were asked for, metres: one at that separation weighs nothing, so that contacts come and
    /// go without a jump.
    pub max_separation: f64,
}

/// Rounds of k-means at most; it ends sooner when no contact changes its cluster.
const ROUNDS: usize = 16;

/// Scratch and result: one per thread, grown on first use. Warm calls do not allocate.
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    means: Vec<Mean>,
    /// The cluster of each contact.
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

    /// Squared, metres; of normals with `radius` for √2 of their chord.
    fn distance(&self, contact: &Contact, radius: f64) -> f64 {
        let turn = (self.normal - contact.normal).norm_squared() * 0.5;
        (self.point - middle(contact)).norm_squared() + turn * radius * radius
    }
}

/// Nearest of the means; of equal ones the first.
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

    /// The cluster of each contact of the last call, in their order.
    pub fn assignment(&self) -> &[u32] {
        &self.of
    }
}

/// Groups contacts by k-means over places and normals, and gives a contact for each group (Otaduy & Lin 2005, section
/// 6.1): at the mean of their middles along the mean of their normals, each weighed by how far it is below
/// `max_separation`; as deep as the deepest.
///
/// The first cluster begins at the deepest contact, each further one at the contact farthest from all others, while
/// that is farther than `radius`. The same contacts in the same order give the same bytes. They live in `clusters`
/// until its next use.
pub fn cluster<'c>(contacts: &[Contact], settings: &ClusterSettings, clusters: &'c mut Clusters) -> &'c [Contact] {
    let Clusters { means, of, representatives } = clusters;
    means.clear();
    of.clear();
    representatives.clear();
    let deepest = contacts.iter().min_by(|p, q| p.separation.total_cmp(&q.separation));
    let Some(deepest) = deepest else { return representatives };
    means.push(Mean::of(deepest));
    while means.len() < settings.max_clusters {
        let mut farthest = (settings.radius * settings.radius, None);
        for contact in contacts {
            let (_, distance) = nearest(means, contact, settings.radius);
            if distance > farthest.0 {
                farthest = (distance, Some(contact));
            }
        }
        let Some(contact) = farthest.1 else { break };
        means.push(Mean::of(contact));
    }
    of.resize(contacts.len(), u32::MAX);
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
        representatives.push(Contact {
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

/// `None` for no members, and where the normals cancel each other.
fn mean_of(contacts: &[Contact], of: &[u32], k: u32, max_separation: f64) -> Option<Mean> {
    let (mut point, mut normal, mut weights) = (Vec3::zeros(), Vec3::zeros(), 0.0);
    for (contact, of) in contacts.iter().zip(of) {
        if *of == k {
            // Something, so that contacts that weigh nothing have a mean, too.
            let weight = (max_separation - contact.separation).max(1e-12);
            point += middle(contact) * weight;
            normal += contact.normal * weight;
            weights += weight;
        }
    }
    let normal = normal.try_normalize(1e-6 * weights)?;
    Some(Mean { point: point / weights, normal })
}
