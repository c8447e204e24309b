//! Contact manifolds of the contacts of a pair.
//!
//! A manifold of parry has one normal. The contacts are divided by their normals, and each manifold keeps up to four: the
//! deepest, and those that span the largest area. Points keep the data of the engine, such as their impulses, as long as
//! they have the same feature.

use parry3d::math::Real;
use parry3d::query::{ContactManifold, TrackedContact};
use voxshell::math::{Pose as Pose64, Vec3};

use crate::convert::{inverse_transform, vec3, vector};
use crate::pair::Found;

/// Points of a manifold. Rapier's solver takes no more.
pub(crate) const POINTS: usize = 4;

/// Contacts of one manifold have normals within 5° of the deepest one: those that Rapier joins.
const SAME_NORMAL: f64 = 0.996;

/// Smallest angles between the normals of manifolds, as cosines: 5°, 10°, 20°, 40°, 60° and 90°. The first of them takes
/// effect at which the manifolds are few enough.
const APART: [f64; 6] = [SAME_NORMAL, 0.985, 0.94, 0.766, 0.5, 0.0];

/// A contact of the last manifold stays unless another one is better by this factor.
const HYSTERESIS: f64 = 1.2;

/// Weight of a contact that is as far away as the prediction, against one that touches.
const WEIGHT_OF_FAR: f64 = 0.1;

/// The sets of contacts from which a manifold is made.
struct Selection<'a> {
    contacts: &'a [Found],
    /// Whether each was in the last manifolds.
    is_old: &'a [bool],
    prediction: f64,
}

impl Selection<'_> {
    /// Returns the indices of contacts with the normals of the manifolds.
    fn seeds(&self, most: usize) -> Vec<usize> {
        let mut seeds = Vec::new();
        for apart in APART {
            seeds.clear();
            for (i, contact) in self.contacts.iter().enumerate() {
                let is_new = |seed: &usize| self.contacts[*seed].normal.dot(&contact.normal) < apart;
                if seeds.iter().all(is_new) {
                    seeds.push(i);
                    if seeds.len() > most {
                        break;
                    }
                }
            }
            if seeds.len() <= most {
                break;
            }
        }
        seeds.truncate(most);
        seeds
    }

    /// Returns the number of the seed to which a contact belongs.
    fn seed_of(&self, seeds: &[usize], i: usize) -> Option<usize> {
        let cosine = |k: usize| self.contacts[seeds[k]].normal.dot(&self.contacts[i].normal);
        let best = (0..seeds.len()).max_by(|&k, &l| cosine(k).total_cmp(&cosine(l)).then(l.cmp(&k)))?;
        (cosine(best) >= SAME_NORMAL).then_some(best)
    }

    /// Reduces the contacts of a manifold, ordered by their distance: the deepest, the one farthest from it, and the two
    /// farthest to both sides of the line between them. Near ones count more than distant ones.
    fn reduce(&self, members: &mut Vec<usize>, normal: &Vec3) {
        if members.len() <= POINTS {
            return;
        }
        let contact = |i: usize| &self.contacts[i];
        let deepest = contact(members[0]).distance;
        let range = (self.prediction - deepest).max(f64::MIN_POSITIVE);
        let weight = |i: usize| {
            let far = ((contact(i).distance - deepest) / range).clamp(0.0, 1.0);
            (1.0 - (1.0 - WEIGHT_OF_FAR) * far) * if self.is_old[i] { HYSTERESIS } else { 1.0 }
        };
        // An old contact that is as deep, up to rounding of the samples, stays the first.
        let as_deep = |i: &&usize| self.is_old[**i] && contact(**i).distance <= deepest + 1e-3 * range;
        let first = members.iter().find(as_deep).copied().unwrap_or(members[0]);
        let offset = |i: usize| contact(i).point1 - contact(first).point1;
        let best = |score: &dyn Fn(usize) -> f64, taken: &[usize]| {
            let mut best: Option<(f64, usize)> = None;
            for &i in members.iter().filter(|i| !taken.contains(i)) {
                let value = score(i) * weight(i);
                if value > best.map_or(0.0, |(most, _)| most) {
                    best = Some((value, i));
                }
            }
            best.map(|(_, i)| i)
        };
        let mut kept = vec![first];
        if let Some(second) = best(&|i| offset(i).norm(), &kept) {
            kept.push(second);
            let across = normal.cross(&offset(second));
            let left = best(&|i| across.dot(&offset(i)), &kept);
            let right = best(&|i| -across.dot(&offset(i)), &kept);
            kept.extend(left);
            kept.extend(right);
        }
        *members = kept;
    }
}

/// Returns the number of the old point with the features of a contact that is nearest to it.
fn old_point<Data>(old: &[(TrackedContact<Data>, [u32; 2], bool)], contact: &Found) -> Option<usize> {
    let is_same = |(point, subshapes, taken): &(TrackedContact<Data>, [u32; 2], bool)| {
        !taken && *subshapes == contact.subshapes && [point.fid1, point.fid2] == contact.features
    };
    let distance = |i: &usize| (vec3(old[*i].0.local_p1) - contact.point1).norm_squared();
    let same = (0..old.len()).filter(|i| is_same(&old[*i]));
    same.min_by(|i, j| distance(i).total_cmp(&distance(j)))
}

/// Replaces the manifolds of a pair by those of its new contacts, which are sorted here. `most` is the largest number of
/// manifolds of two shapes; each pair of shapes of a compound has manifolds of its own.
pub(crate) fn update<ManifoldData: Default + Clone, ContactData: Default + Copy>(
    found: &mut [Found],
    pose12: &Pose64,
    prediction: f64,
    most: usize,
    manifolds: &mut Vec<ContactManifold<ManifoldData, ContactData>>,
) {
    let mut last = std::mem::take(manifolds);
    let of_manifold = |m: &ContactManifold<ManifoldData, ContactData>| [m.subshape1, m.subshape2];
    let mut old: Vec<(TrackedContact<ContactData>, [u32; 2], bool)> =
        last.iter().flat_map(|m| m.points.iter().map(|p| (*p, of_manifold(m), false))).collect();
    let order = |p: &Found, q: &Found| {
        let by_feature = || p.features.map(|f| f.0).cmp(&q.features.map(|f| f.0));
        p.subshapes.cmp(&q.subshapes).then(p.distance.total_cmp(&q.distance)).then_with(by_feature)
    };
    found.sort_by(order);
    for contacts in found.chunk_by(|p, q| p.subshapes == q.subshapes) {
        let subshapes = contacts[0].subshapes;
        let is_old: Vec<bool> = contacts.iter().map(|contact| old_point(&old, contact).is_some()).collect();
        let selection = Selection { contacts, is_old: &is_old, prediction };
        let seeds = selection.seeds(most.max(1));
        let mut groups = vec![Vec::new(); seeds.len()];
        for i in 0..contacts.len() {
            if let Some(k) = selection.seed_of(&seeds, i) {
                groups[k].push(i);
            }
        }
        for (mut members, seed) in groups.into_iter().zip(seeds) {
            let normal = contacts[seed].normal;
            selection.reduce(&mut members, &normal);
            let mut manifold = take_similar(&mut last, subshapes, &normal);
            manifold.local_n1 = vector(&normal);
            manifold.local_n2 = vector(&pose12.rotation.inverse_transform_vector(&-normal));
            for contact in members.into_iter().map(|i| &contacts[i]) {
                let mut point = TrackedContact::new(
                    vector(&contact.point1),
                    vector(&inverse_transform(pose12, &contact.point2)),
                    contact.features[0],
                    contact.features[1],
                    contact.distance as Real,
                );
                if let Some(i) = old_point(&old, contact) {
                    point.data = old[i].0.data;
                    old[i].2 = true;
                }
                manifold.points.push(point);
            }
            manifolds.push(manifold);
        }
    }
}

/// Returns the last manifold with nearly the same normal, without its points, for the data of the engine that belongs to a
/// manifold; a new one if there is none.
fn take_similar<ManifoldData: Default + Clone, ContactData: Default + Copy>(
    last: &mut Vec<ContactManifold<ManifoldData, ContactData>>,
    subshapes: [u32; 2],
    normal: &Vec3,
) -> ContactManifold<ManifoldData, ContactData> {
    let cosine = |m: &ContactManifold<ManifoldData, ContactData>| vec3(m.local_n1).dot(normal);
    let same = (0..last.len()).filter(|&i| [last[i].subshape1, last[i].subshape2] == subshapes);
    let best = same.max_by(|&i, &j| cosine(&last[i]).total_cmp(&cosine(&last[j])));
    match best.filter(|&i| cosine(&last[i]) > APART[2]) {
        Some(i) => {
            let mut manifold = last.remove(i);
            manifold.points.clear();
            manifold
        }
        None => ContactManifold::with_data(subshapes[0], subshapes[1], ManifoldData::default()),
    }
}
