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

/// Of more contacts than this with the same normal, a second manifold keeps four others.
const MANY: usize = 16;

/// The last points stay unless others span an area larger by this factor, or are deeper by this part of the range of
/// distances.
const HYSTERESIS: f64 = 1.5;
const NEARLY: f64 = 0.1;

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

    /// Reduces the contacts of a manifold, ordered by their distance. The last points stay, if they span nearly as large an
    /// area as the best ones and are nearly as deep: a solver needs some steps to distribute a load over new points.
    fn reduce(&self, members: &mut Vec<usize>, normal: &Vec3) {
        if members.len() <= POINTS {
            return;
        }
        let range = (self.prediction - self.contacts[members[0]].distance).max(f64::MIN_POSITIVE);
        let best = self.widest(members, normal, range);
        let old: Vec<usize> = members.iter().copied().filter(|&i| self.is_old[i]).collect();
        let is_deep = |i: &usize| self.contacts[*i].distance <= self.contacts[best[0]].distance + NEARLY * range;
        let is_kept = (3..=POINTS).contains(&old.len())
            && old.first().is_some_and(is_deep)
            && HYSTERESIS * self.area(&old, normal, range) >= self.area(&best, normal, range);
        *members = if is_kept { old } else { best };
    }

    /// Returns the weight of a contact: near ones count more than distant ones.
    fn weight(&self, i: usize, deepest: f64, range: f64) -> f64 {
        let far = ((self.contacts[i].distance - deepest) / range).clamp(0.0, 1.0);
        1.0 - (1.0 - WEIGHT_OF_FAR) * far
    }

    /// Returns the deepest contact, the one farthest from it, and the two farthest to both sides of the line between them.
    fn widest(&self, members: &[usize], normal: &Vec3, range: f64) -> Vec<usize> {
        let first = members[0];
        let deepest = self.contacts[first].distance;
        let offset = |i: usize| self.contacts[i].point1 - self.contacts[first].point1;
        let best = |score: &dyn Fn(usize) -> f64, taken: &[usize]| {
            let mut best: Option<(f64, usize)> = None;
            for &i in members.iter().filter(|i| !taken.contains(i)) {
                let value = score(i) * self.weight(i, deepest, range);
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
        kept
    }

    /// Returns four more contacts of many, each as far as possible from all others: the rim of a round body that tilts
    /// touches between the first four.
    fn more(&self, members: &[usize], kept: &[usize]) -> Vec<usize> {
        let mut more = Vec::new();
        if members.len() <= MANY {
            return more;
        }
        let deepest = self.contacts[members[0]].distance;
        let range = (self.prediction - deepest).max(f64::MIN_POSITIVE);
        let point = |i: usize| self.contacts[i].point1;
        let mut apart: Vec<f64> = members
            .iter()
            .map(|&i| kept.iter().map(|&k| (point(i) - point(k)).norm()).fold(f64::INFINITY, f64::min))
            .collect();
        for _ in 0..POINTS {
            let score = |n: usize| {
                let old = if self.is_old[members[n]] { HYSTERESIS } else { 1.0 };
                apart[n] * old * self.weight(members[n], deepest, range)
            };
            let Some(best) = (0..members.len()).max_by(|&m, &n| score(m).total_cmp(&score(n))) else { break };
            if apart[best] == 0.0 {
                break;
            }
            more.push(members[best]);
            for (n, apart) in apart.iter_mut().enumerate() {
                *apart = apart.min((point(members[n]) - point(members[best])).norm());
            }
        }
        more
    }

    /// Returns the area that up to four contacts span, with that of distant ones reduced.
    fn area(&self, points: &[usize], normal: &Vec3, range: f64) -> f64 {
        let deepest = points.iter().fold(f64::INFINITY, |least, &i| least.min(self.contacts[i].distance));
        let weight = points.iter().map(|&i| self.weight(i, deepest, range)).fold(1.0, f64::min);
        let mut most = 0.0f64;
        for i in 0..points.len() {
            for j in 0..i {
                // Twice the area of a quadrilateral is the product of its diagonals and the sine between them.
                let diagonal = self.contacts[points[i]].point1 - self.contacts[points[j]].point1;
                let across = normal.cross(&diagonal);
                let heights =
                    points.iter().map(|&k| across.dot(&(self.contacts[k].point1 - self.contacts[points[j]].point1)));
                let (low, high) = heights.fold((0.0f64, 0.0f64), |(low, high), h| (low.min(h), high.max(h)));
                most = most.max(high - low);
            }
        }
        most * weight
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
/// normals of two shapes; each pair of shapes of a compound has manifolds of its own.
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
            let all = members.clone();
            selection.reduce(&mut members, &normal);
            let more = selection.more(&all, &members);
            for members in [members, more].into_iter().filter(|members| !members.is_empty()) {
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
