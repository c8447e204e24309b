//! From the contacts of a search to manifolds: gaps, identities, reduction.

use crate::manifold::{reduce, Candidate};
use crate::types::Contact;
use voxshell_base::math::Vec3;
use voxshell_base::memory::{GrowGuarded, RoomGuarded};

/// A contact point. World frame, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairPoint {
    pub point_on_a: Vec3,
    pub point_on_b: Vec3,
    /// Unit vector from A to B at this point.
    pub normal: Vec3,
    /// Signed distance now: negative when the bodies penetrate.
    pub separation: f64,
    /// Signed distance at the end of the step if nothing stops the bodies. An approach counts, a retreat does not.
    pub gap: f64,
    /// Unique in the pair, and the same from step to step. The upper half is the feature ([`Contact::feature`]); points of the
    /// same feature differ in the lower half.
    pub id: u64,
    /// Numbers of the host, such as impulses: those that it wrote into the last point with this id, and 0 for a new one.
    pub user: [f64; 4],
}

impl From<&PairPoint> for Contact {
    fn from(point: &PairPoint) -> Self {
        let PairPoint { point_on_a, point_on_b, normal, separation, id, .. } = *point;
        Self { point_on_a, point_on_b, normal, separation, toi: 0.0, feature: feature_of(id), segment: 0 }
    }
}

/// Points of one contact region, whose normals are alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Manifold {
    /// Unit vector from A to B, world frame: the mean of the normals of its points.
    pub normal: Vec3,
    /// Its points, in the order of their ids.
    pub first: usize,
    pub count: usize,
    /// Number of the region, the same while it keeps some of its points.
    pub region: u32,
}

/// A contact of a search, with what the step makes of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub contact: Contact,
    pub gap: f64,
}

/// Finds the ids of points that stay from those of the last ones.
#[derive(Default)]
pub(super) struct Identities {
    /// Ids, places in the frame of B and numbers of the last points, sorted by id.
    last: Vec<(u64, Vec3, usize)>,
    taken: Vec<bool>,
    /// Ids of new points, sorted.
    fresh: Vec<u64>,
}

impl Identities {
    /// Sets the last points: the id and the place of each.
    pub fn begin(&mut self, last: impl Iterator<Item = (u64, Vec3)>) {
        self.last.clear();
        self.last.extend_guarded(last.enumerate().map(|(i, (id, at))| (id, at, i)));
        self.last.sort_unstable_by_key(|last| last.0);
        self.taken.clear();
        self.taken.resize_guarded(self.last.len(), false);
        self.fresh.clear();
    }

    /// Takes room for the ids of new points.
    pub fn reserve(&mut self, points: usize) {
        self.fresh.reserve_guarded(points);
    }

    /// Returns the id of a point, and the number of the last point with it: the nearest of the same feature.
    pub fn of(&mut self, feature: u32, at: &Vec3) -> (u64, Option<usize>) {
        let first = u64::from(feature) << 32;
        let from = self.last.partition_point(|last| last.0 < first);
        let mut best: Option<(f64, usize)> = None;
        for (k, (id, place, _)) in self.last.iter().enumerate().skip(from) {
            if feature_of(*id) != feature {
                break;
            }
            let distance = (place - at).norm_squared();
            if !self.taken[k] && best.is_none_or(|(least, _)| distance < least) {
                best = Some((distance, k));
            }
        }
        if let Some((_, k)) = best {
            self.taken[k] = true;
            return (self.last[k].0, Some(self.last[k].2));
        }
        let mut id = first;
        loop {
            let is_last = self.last.binary_search_by_key(&id, |last| last.0).is_ok();
            match self.fresh.binary_search(&id) {
                Err(place) if !is_last => {
                    self.fresh.insert_guarded(place, id);
                    return (id, None);
                }
                _ => id += 1,
            }
        }
    }
}

pub(super) fn feature_of(id: u64) -> u32 {
    (id >> 32) as u32
}

/// Scratch memory of the reduction.
#[derive(Default)]
pub(super) struct Thinning {
    candidates: Vec<Candidate>,
    /// Indices of the contacts that are kept.
    pub kept: Vec<usize>,
}

impl Thinning {
    /// Takes room for regions of up to `most` contacts.
    pub fn reserve(&mut self, most: usize) {
        self.kept.clear();
        self.kept.reserve_guarded(most);
        self.candidates.clear();
        self.candidates.reserve_guarded(most);
    }

    /// Keeps at most `most` contacts of a region: the deepest, that with the least gap, and those that are spread the widest.
    /// `place` gives the place of each, in any frame.
    pub fn thin(&mut self, found: &[Found], most: usize, preferred: &[u32], place: impl Fn(&Contact) -> Vec3) {
        let Self { candidates, kept } = self;
        kept.clear();
        if found.len() <= most {
            kept.extend_guarded(0..found.len());
            return;
        }
        candidates.clear();
        candidates.extend_guarded(found.iter().zip(0..).map(|(f, index)| Candidate {
            point: place(&f.contact).map(|x| x as f32).into(),
            separation: f.contact.separation as f32,
            feature: f.contact.feature,
            index,
            apart: 0.0,
        }));
        reduce(candidates, most, preferred);
        kept.extend_guarded(candidates.iter().map(|c| c.index as usize));
        let urgent = (1..found.len()).fold(0, |u, i| if found[i].gap < found[u].gap { i } else { u });
        if most > 1 && !kept.contains(&urgent) {
            // The one that was chosen last adds the least.
            kept[most - 1] = urgent;
        }
    }
}
