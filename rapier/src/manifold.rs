//! Contact manifolds of the contacts of a pair.
//!
//! A manifold of parry has one normal. The contacts are divided by their normals, and each manifold keeps up to four: the
//! deepest, and those that span the largest area. Points keep the data of the engine, such as their impulses, as long as
//! they have the same feature.
//!
//! The new manifolds take the memory of the last ones: only a pair with more manifolds than in the last step allocates.

use std::mem;
use std::ops::Range;

use parry3d::math::Real;
use parry3d::query::{ContactManifold, TrackedContact};
use parry3d::shape::PackedFeatureId;
use voxshell::math::{Pose as Pose64, Vec3};

use crate::convert::{inverse_transform, vec3, vector};
use crate::pair::Found;
use crate::selection::{Selection, POINTS, SIMILAR_NORMAL};

/// A point of the last manifolds.
struct OldPoint {
    manifold: usize,
    number: usize,
    subshapes: [u32; 2],
    features: [PackedFeatureId; 2],
    point1: Vec3,
    is_taken: bool,
}

/// The contacts of a new manifold.
struct Group {
    subshapes: [u32; 2],
    normal: Vec3,
    /// Range in `Scratch::chosen`.
    chosen: Range<usize>,
    /// Index of its manifold.
    manifold: Option<usize>,
}

/// Scratch memory of a pair. Nothing in it outlives a call.
#[derive(Default)]
pub(crate) struct Scratch {
    old: Vec<OldPoint>,
    /// Number of points of each of the last manifolds.
    counts: Vec<usize>,
    is_old: Vec<bool>,
    seeds: Vec<usize>,
    seed_of: Vec<Option<usize>>,
    members: Vec<usize>,
    apart: Vec<f64>,
    groups: Vec<Group>,
    /// Whether each of the last manifolds has a group.
    is_taken: Vec<bool>,
    /// Indices of contacts, group by group.
    chosen: Vec<usize>,
}

impl Scratch {
    /// Returns the old point with the features of a contact that is nearest to it.
    fn old_point(&self, contact: &Found) -> Option<usize> {
        let is_same = |p: &OldPoint| !p.is_taken && p.subshapes == contact.subshapes && p.features == contact.features;
        let distance = |i: &usize| (self.old[*i].point1 - contact.point1).norm_squared();
        let same = (0..self.old.len()).filter(|i| is_same(&self.old[*i]));
        same.min_by(|i, j| distance(i).total_cmp(&distance(j)))
    }

    /// Divides the contacts of two shapes into groups. `first` is the index of the first of them.
    fn divide(&mut self, contacts: &[Found], first: usize, prediction: f64, most: usize) {
        let mut is_old = mem::take(&mut self.is_old);
        is_old.clear();
        is_old.extend(contacts.iter().map(|contact| self.old_point(contact).is_some()));
        let selection = Selection { contacts, is_old: &is_old, prediction };
        let same_normal = selection.find_seeds(most, &mut self.seeds);
        self.seed_of.clear();
        self.seed_of.extend((0..contacts.len()).map(|i| selection.seed_of(&self.seeds, same_normal, i)));
        for (k, &seed) in self.seeds.iter().enumerate() {
            self.members.clear();
            self.members.extend((0..contacts.len()).filter(|&i| self.seed_of[i] == Some(k)));
            if self.members.is_empty() {
                continue;
            }
            let normal = contacts[seed].normal;
            let kept = selection.reduce(&self.members, &normal);
            let more = selection.more(&self.members, &kept, &mut self.apart);
            for few in [kept, more].into_iter().filter(|few| !few.is_empty()) {
                let from = self.chosen.len();
                self.chosen.extend(few.into_iter().map(|i| first + i));
                let (subshapes, chosen) = (contacts[seed].subshapes, from..self.chosen.len());
                self.groups.push(Group { subshapes, normal, chosen, manifold: None });
            }
        }
        self.is_old = is_old;
    }
}

/// Replaces the manifolds of a pair by those of its new contacts, which are sorted here. `most` is the largest number of
/// normals of two shapes; each pair of shapes of a compound has manifolds of its own.
pub(crate) fn update<ManifoldData: Default + Clone, ContactData: Default + Copy>(
    found: &mut [Found],
    pose12: &Pose64,
    prediction: f64,
    most: usize,
    manifolds: &mut Vec<ContactManifold<ManifoldData, ContactData>>,
    scratch: &mut Scratch,
) {
    scratch.old.clear();
    scratch.counts.clear();
    for (manifold, m) in manifolds.iter().enumerate() {
        scratch.counts.push(m.points.len());
        scratch.old.extend(m.points.iter().enumerate().map(|(number, p)| OldPoint {
            manifold,
            number,
            subshapes: [m.subshape1, m.subshape2],
            features: [p.fid1, p.fid2],
            point1: vec3(p.local_p1),
            is_taken: false,
        }));
    }
    found.sort_unstable_by(|p, q| {
        let by_feature = || p.features.map(|f| f.0).cmp(&q.features.map(|f| f.0));
        p.subshapes.cmp(&q.subshapes).then(p.gap.total_cmp(&q.gap)).then_with(by_feature)
    });
    scratch.groups.clear();
    scratch.chosen.clear();
    let mut first = 0;
    for contacts in found.chunk_by(|p, q| p.subshapes == q.subshapes) {
        scratch.divide(contacts, first, prediction, most.max(1));
        first += contacts.len();
    }
    assign(&mut scratch.groups, &mut scratch.is_taken, manifolds);
    fill(found, pose12, manifolds, scratch);
    order(&mut scratch.groups, manifolds);
}

/// Gives each group the last manifold with nearly the same normal, for the data of the engine that belongs to a manifold.
/// The other groups get manifolds with new data.
fn assign<ManifoldData: Default + Clone, ContactData: Default + Copy>(
    groups: &mut [Group],
    is_taken: &mut Vec<bool>,
    manifolds: &mut Vec<ContactManifold<ManifoldData, ContactData>>,
) {
    is_taken.clear();
    is_taken.resize(manifolds.len(), false);
    for k in 0..groups.len() {
        let Group { subshapes, normal, .. } = groups[k];
        let cosine = |i: &usize| vec3(manifolds[*i].local_n1).dot(&normal);
        let is_similar =
            |i: &usize| [manifolds[*i].subshape1, manifolds[*i].subshape2] == subshapes && cosine(i) > SIMILAR_NORMAL;
        let similar = (0..manifolds.len()).filter(|&i| !is_taken[i] && is_similar(&i));
        groups[k].manifold = similar.max_by(|i, j| cosine(i).total_cmp(&cosine(j)));
        if let Some(i) = groups[k].manifold {
            is_taken[i] = true;
        }
    }
    let mut free = 0;
    for k in 0..groups.len() {
        if groups[k].manifold.is_some() {
            continue;
        }
        let [first, second] = groups[k].subshapes;
        let mut new = ContactManifold::with_data(first, second, ManifoldData::default());
        while is_taken.get(free) == Some(&true) {
            free += 1;
        }
        let i = free;
        free += 1;
        match manifolds.get_mut(i) {
            // The old points stay until their data have been copied.
            Some(last) => {
                new.points = mem::take(&mut last.points);
                *last = new;
            }
            None => {
                // The points of two steps: later steps do not allocate.
                new.points.reserve(2 * POINTS);
                manifolds.push(new);
            }
        }
        groups[k].manifold = Some(i);
    }
}

/// Writes the points of the groups into their manifolds, in place of the old points.
fn fill<ManifoldData, ContactData: Default + Copy>(
    found: &[Found],
    pose12: &Pose64,
    manifolds: &mut [ContactManifold<ManifoldData, ContactData>],
    scratch: &mut Scratch,
) {
    for k in 0..scratch.groups.len() {
        let Some(i) = scratch.groups[k].manifold else { continue };
        let normal = scratch.groups[k].normal;
        manifolds[i].local_n1 = vector(&normal);
        manifolds[i].local_n2 = vector(&pose12.rotation.inverse_transform_vector(&-normal));
        for n in scratch.groups[k].chosen.clone() {
            let contact = &found[scratch.chosen[n]];
            let mut point = TrackedContact::new(
                vector(&contact.point1),
                vector(&inverse_transform(pose12, &contact.point2)),
                contact.features[0],
                contact.features[1],
                contact.distance as Real,
            );
            if let Some(o) = scratch.old_point(contact) {
                let old = &mut scratch.old[o];
                old.is_taken = true;
                point.data = manifolds[old.manifold].points[old.number].data;
            }
            manifolds[i].points.push(point);
        }
    }
    for (manifold, count) in manifolds.iter_mut().zip(&scratch.counts) {
        manifold.points.drain(..*count);
    }
}

/// Puts the manifolds into the order of their groups, and removes those without a group.
fn order<ManifoldData, ContactData>(
    groups: &mut [Group],
    manifolds: &mut Vec<ContactManifold<ManifoldData, ContactData>>,
) {
    for k in 0..groups.len() {
        let Some(i) = groups[k].manifold else { continue };
        manifolds.swap(k, i);
        // The manifold that was there belongs to a later group, or to none.
        if let Some(moved) = groups[k + 1..].iter_mut().find(|group| group.manifold == Some(k)) {
            moved.manifold = Some(i);
        }
    }
    manifolds.truncate(groups.len());
}
