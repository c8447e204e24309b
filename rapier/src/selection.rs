//! The contacts that manifolds keep: their normals, and up to four points of each.

use arrayvec::ArrayVec;
use voxshell::math::Vec3;

use crate::pair::Found;

/// Points of a manifold. Rapier's solver takes no more.
pub(crate) const POINTS: usize = 4;

/// Smallest angles between the normals of manifolds, as cosines: 0.001°, 0.01°, 0.08°, 0.25°, 1°, 2.5°, 5°, 10°, 20°,
/// 40°, 60° and 90°. The first of them takes effect at which the manifolds are few enough. A manifold has one normal for all
/// its points: within 5° a nut, whose thread rises by 2°, jams on its bolt; within 1° a stack of blocks creeps by 7 mm in
/// 10 s, within 0.08° by 0.6 mm, within 0.001° by 0.2 mm.
const APART: [f64; 12] =
    [0.999_999_999_8, 0.999_999_98, 0.999_999, 0.999_99, 0.999_85, 0.999, SAME_NORMAL, 0.985, 0.94, 0.766, 0.5, 0.0];

/// Contacts of one manifold have normals within 5° of the deepest one at most.
const SAME_NORMAL: f64 = 0.996;

/// A manifold continues one of the last step with a normal within 20°.
pub(crate) const SIMILAR_NORMAL: f64 = 0.94;

/// Of more contacts than this with the same normal, a second manifold keeps four others.
const MANY: usize = 16;

/// The last points stay unless others span an area larger by this factor, or are deeper by this part of the range of
/// gaps.
const HYSTERESIS: f64 = 1.5;
const NEARLY: f64 = 0.1;

/// Weight of a contact that is as far away as the prediction, against one that touches.
const WEIGHT_OF_FAR: f64 = 0.1;

/// Indices of the contacts of a manifold.
pub(crate) type Few = ArrayVec<usize, POINTS>;

/// Contacts of two shapes, ordered by their gaps.
pub(crate) struct Selection<'a> {
    pub contacts: &'a [Found],
    /// Whether each was in the last manifolds.
    pub is_old: &'a [bool],
    pub prediction: f64,
}

impl Selection<'_> {
    /// Finds at most `most` contacts with the normals of the manifolds. Returns the cosine of the largest angle between them
    /// and those of the other contacts of a manifold.
    pub fn find_seeds(&self, most: usize, seeds: &mut Vec<usize>) -> f64 {
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
                return apart.max(SAME_NORMAL);
            }
        }
        seeds.truncate(most);
        SAME_NORMAL
    }

    /// Returns the number of the seed to which a contact belongs.
    pub fn seed_of(&self, seeds: &[usize], same_normal: f64, i: usize) -> Option<usize> {
        let cosine = |k: usize| self.contacts[seeds[k]].normal.dot(&self.contacts[i].normal);
        let best = (0..seeds.len()).max_by(|&k, &l| cosine(k).total_cmp(&cosine(l)).then(l.cmp(&k)))?;
        (cosine(best) >= same_normal).then_some(best)
    }

    /// Returns the difference between the smallest gap and the prediction.
    fn range(&self, members: &[usize]) -> f64 {
        (self.prediction - self.contacts[members[0]].gap).max(f64::MIN_POSITIVE)
    }

    /// Returns the contacts of a manifold. The last points stay, if they span nearly as large an area as the best ones and
    /// are nearly as deep: a solver needs some steps to distribute a load over new points.
    pub fn reduce(&self, members: &[usize], normal: &Vec3) -> Few {
        if let Ok(all) = Few::try_from(members) {
            return all;
        }
        let range = self.range(members);
        let best = self.widest(members, normal, range);
        let is_old = |i: &usize| self.is_old[*i];
        let old: ArrayVec<usize, { POINTS + 1 }> = members.iter().copied().filter(is_old).take(POINTS + 1).collect();
        let is_deep = |i: &usize| self.contacts[*i].gap <= self.contacts[best[0]].gap + NEARLY * range;
        let is_kept = (3..=POINTS).contains(&old.len())
            && is_deep(&old[0])
            && HYSTERESIS * self.area(&old, normal, range) >= self.area(&best, normal, range);
        if is_kept {
            old.into_iter().collect()
        } else {
            best
        }
    }

    /// Returns the weight of a contact: near ones count more than distant ones.
    fn weight(&self, i: usize, deepest: f64, range: f64) -> f64 {
        let far = ((self.contacts[i].gap - deepest) / range).clamp(0.0, 1.0);
        1.0 - (1.0 - WEIGHT_OF_FAR) * far
    }

    /// Returns the deepest contact, the one farthest from it, and the two farthest to both sides of the line between them.
    fn widest(&self, members: &[usize], normal: &Vec3, range: f64) -> Few {
        let first = members[0];
        let deepest = self.contacts[first].gap;
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
        let mut kept: Few = std::iter::once(first).collect();
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
    /// touches between the first four. `apart` is scratch memory.
    pub fn more(&self, members: &[usize], kept: &[usize], apart: &mut Vec<f64>) -> Few {
        let mut more = Few::new();
        if members.len() <= MANY {
            return more;
        }
        let deepest = self.contacts[members[0]].gap;
        let range = self.range(members);
        let point = |i: usize| self.contacts[i].point1;
        let gap = |i: usize| kept.iter().map(|&k| (point(i) - point(k)).norm()).fold(f64::INFINITY, f64::min);
        apart.clear();
        apart.extend(members.iter().map(|&i| gap(i)));
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
        let deepest = points.iter().fold(f64::INFINITY, |least, &i| least.min(self.contacts[i].gap));
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
