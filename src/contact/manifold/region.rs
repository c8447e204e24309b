//! Contact regions: sets of contacts that are connected in space and in normal. A region keeps its number from step
//! to step.
//!
//! Two contacts are neighbours when the midpoints of their point pairs are within a distance and their normals within
//! an angle; a region is a set connected by neighbours. The neighbour search uses cells as large as the distance,
//! sorted in rows. It visits half of the rows around a contact, with pointers that only move forward.

use crate::types::Contact;
use voxshell_base::math::Vec3;
use voxshell_base::memory::GrowGuarded;

/// Parameters of the grouping.
pub(crate) struct Grouping<'a> {
    /// Largest distance of neighbours, metres.
    pub distance: f64,
    /// Cosine of the largest angle between the normals of neighbours.
    pub cosine: f64,
    /// Features of the last answer, ascending, and the region of each.
    pub preferred: &'a [u32],
    pub preferred_regions: &'a [u32],
}

/// Scratch memory of the grouping.
#[derive(Default)]
pub(crate) struct Regions {
    /// Pairs of a cell and a contact in it, sorted by cell.
    cells: Vec<(u64, u32)>,
    /// Earlier contact of the same region; the first contact of a region refers to itself.
    parent: Vec<u32>,
    /// Region of each contact; regions are in the order of their first contacts.
    region: Vec<u32>,
    /// Pairs of a number of the last answer and a region that has one of its features.
    votes: Vec<(u32, u32)>,
    /// Triples of a vote count, a number and a region.
    ballots: Vec<(u32, u32, u32)>,
    /// Number of each region.
    numbers: Vec<u32>,
    taken: Vec<u32>,
}

/// Bits of a cell's coordinate. Half of the range is used, so that steps to neighbours stay within it.
const BITS: u32 = 21;
const ROW: u64 = 1 << BITS;
const LAYER: u64 = 1 << (2 * BITS);
/// Rows behind the row of a contact; the rows before it have visited it already.
const ROWS: [u64; 4] = [ROW, LAYER - ROW, LAYER, LAYER + ROW];

const NONE: u32 = u32::MAX;

/// Edge of the cells of directions, and a bound of the distance between two directions in one of them.
const CELL: f64 = 0.1;
const CELL_SIZE: f64 = 0.18;
/// Less than the cosine of the angle between them.
const WITHIN_CELL: f64 = 0.98;
/// Rounding of distances.
const FAR: f64 = 1.0 + 1e-9;

impl Grouping<'_> {
    fn connects(&self, p: &Contact, q: &Contact) -> bool {
        (middle(p) - middle(q)).norm_squared() <= self.distance * self.distance
            && p.normal.dot(&q.normal) >= self.cosine
    }

    /// Sets `segment` of each contact to the number of its region. New regions are numbered in the order of the
    /// contacts, which the caller chooses, such as deepest first.
    pub fn number(&self, contacts: &mut [Contact], scratch: &mut Regions) {
        scratch.connect(contacts, self);
        let regions = scratch.count_off(contacts.len());
        scratch.elect(contacts, regions, self);
        for (contact, region) in contacts.iter_mut().zip(&scratch.region) {
            contact.segment = scratch.numbers[*region as usize];
        }
    }
}

/// Returns the corners of the box of the middles of contacts.
fn corners(contacts: &[Contact]) -> [Vec3; 2] {
    let nothing = [Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)];
    contacts.iter().map(middle).fold(nothing, |[low, high], p| [low.inf(&p), high.sup(&p)])
}

fn middle(c: &Contact) -> Vec3 {
    (c.point_on_a + c.point_on_b) * 0.5
}

impl Regions {
    /// Fills `parent`.
    fn connect(&mut self, contacts: &[Contact], grouping: &Grouping) {
        self.parent.clear();
        self.parent.extend_guarded(0..contacts.len() as u32);
        let [low, high] = corners(contacts);
        if (high - low).norm() * FAR < grouping.distance && grouping.cosine < WITHIN_CELL {
            return self.connect_by_normals(contacts, grouping);
        }
        self.sort_into_cells(contacts, grouping.distance, [low, high]);
        let mut starts = [0; ROWS.len()];
        for i in 0..self.cells.len() {
            let (cell, contact) = self.cells[i];
            self.connect_run(contacts, grouping, contact, i + 1, cell + 1);
            for (start, row) in starts.iter_mut().zip(ROWS) {
                while self.cells.get(*start).is_some_and(|c| c.0 < cell + row - 1) {
                    *start += 1;
                }
                self.connect_run(contacts, grouping, contact, *start, cell + row + 1);
            }
        }
    }

    /// Connects a contact to its neighbours in the run of cells that begins at `start` and ends with the cell `last`.
    fn connect_run(&mut self, contacts: &[Contact], grouping: &Grouping, contact: u32, start: usize, last: u64) {
        for k in start..self.cells.len() {
            let (cell, other) = self.cells[k];
            if cell > last {
                break;
            }
            let (a, b) = (self.root(contact), self.root(other));
            if a != b && grouping.connects(&contacts[contact as usize], &contacts[other as usize]) {
                self.parent[a.max(b) as usize] = a.min(b);
            }
        }
    }

    /// Does the same where all contacts are within the distance of each other: where cells of directions are close enough,
    /// all their contacts are connected.
    fn connect_by_normals(&mut self, contacts: &[Contact], grouping: &Grouping) {
        self.cells.clear();
        self.cells.extend_guarded(contacts.iter().zip(0..).map(|(c, i)| {
            let cell = c.normal.map(|x| ((x + 2.0) / CELL) as u64);
            (cell.x + cell.y * ROW + cell.z * LAYER, i)
        }));
        self.cells.sort_unstable();
        let mut first = 0;
        for k in 0..self.cells.len() {
            let (cell, contact) = self.cells[k];
            if cell != self.cells[first].0 {
                first = k;
            }
            self.unite(contact, self.cells[first].1);
        }
        let mut first = 0;
        while first < self.cells.len() {
            let end = self.end_of_cell(first);
            let mut other = end;
            while other < self.cells.len() {
                let next = self.end_of_cell(other);
                if self.root(self.cells[first].1) != self.root(self.cells[other].1) {
                    let connects = |p: &(u64, u32), q: &(u64, u32)| {
                        contacts[p.1 as usize].normal.dot(&contacts[q.1 as usize].normal) >= grouping.cosine
                    };
                    let (own, others) = (&self.cells[first..end], &self.cells[other..next]);
                    let cosine = contacts[own[0].1 as usize].normal.dot(&contacts[others[0].1 as usize].normal);
                    // No normal is farther from the first of its cell than the cell is large.
                    if cosine >= grouping.cosine - 2.0 * CELL_SIZE
                        && own.iter().any(|p| others.iter().any(|q| connects(p, q)))
                    {
                        self.unite(self.cells[first].1, self.cells[other].1);
                    }
                }
                other = next;
            }
            first = end;
        }
    }

    /// Returns the index after the last contact in the cell of an index.
    fn end_of_cell(&self, k: usize) -> usize {
        let cell = self.cells[k].0;
        k + self.cells[k..].partition_point(|other| other.0 == cell)
    }

    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    fn sort_into_cells(&mut self, contacts: &[Contact], distance: f64, [low, high]: [Vec3; 2]) {
        // Larger than the distance by more than the rounding of coordinates, large enough for the bits of a
        // coordinate, and not zero.
        let least = (high - low).max() / f64::from(1 << (BITS - 1)) + f64::MIN_POSITIVE;
        let edge = (distance * 1.001 + 1e-9 * (low.abs().max() + high.abs().max())).max(least);
        self.cells.clear();
        self.cells.extend_guarded(contacts.iter().zip(0..).map(|(c, i)| {
            let cell = ((middle(c) - low) / edge).map(|v| v as u64 + 1);
            (cell.x + cell.y * ROW + cell.z * LAYER, i)
        }));
        self.cells.sort_unstable();
    }

    fn root(&mut self, mut contact: u32) -> u32 {
        loop {
            let parent = self.parent[contact as usize];
            if parent == contact {
                return contact;
            }
            let next = self.parent[parent as usize];
            self.parent[contact as usize] = next;
            contact = next;
        }
    }

    /// Fills `region` and returns the number of regions.
    fn count_off(&mut self, contacts: usize) -> u32 {
        self.region.clear();
        let mut regions = 0;
        for i in 0..contacts as u32 {
            let root = self.root(i);
            let region = if root == i { regions } else { self.region[root as usize] };
            regions += u32::from(root == i);
            self.region.push_guarded(region);
        }
        regions
    }

    /// Fills `numbers`. A region gets the number of the last answer with which it shares most features. So when a
    /// region splits, its largest part keeps the number; when regions merge, the number of the larger one stays.
    /// Other regions get the lowest unused number that no region of the last answer had.
    fn elect(&mut self, contacts: &[Contact], regions: u32, grouping: &Grouping) {
        let Self { region, votes, ballots, numbers, taken, .. } = self;
        votes.clear();
        for (contact, region) in contacts.iter().zip(region.iter()) {
            if let Ok(k) = grouping.preferred.binary_search(&contact.feature) {
                votes.extend_guarded(grouping.preferred_regions.get(k).map(|number| (*number, *region)));
            }
        }
        votes.sort_unstable();
        ballots.clear();
        for run in votes.chunk_by(|p, q| p == q) {
            ballots.push_guarded((run.len() as u32, run[0].0, run[0].1));
        }
        ballots.sort_unstable_by(|p, q| q.0.cmp(&p.0).then(p.1.cmp(&q.1)).then(p.2.cmp(&q.2)));
        numbers.clear();
        numbers.resize_guarded(regions as usize, NONE);
        for (_, number, region) in ballots.iter() {
            if numbers[*region as usize] == NONE && !numbers.contains(number) {
                numbers[*region as usize] = *number;
            }
        }
        taken.clear();
        taken.extend_slice_guarded(grouping.preferred_regions);
        taken.sort_unstable();
        let (mut taken, mut free) = (taken.iter().copied().peekable(), 0);
        for number in numbers.iter_mut().filter(|number| **number == NONE) {
            while let Some(t) = taken.next_if(|t| *t <= free) {
                free = free.max(t + 1);
            }
            *number = free;
            free += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 64-bit LCG of Knuth, upper bits.
    struct Rng(u64);

    impl Rng {
        fn unit(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }
        fn vector(&mut self) -> Vec3 {
            Vec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - Vec3::repeat(1.0)
        }
    }

    fn contact(point: Vec3, normal: Vec3, feature: u32) -> Contact {
        Contact {
            point_on_a: point,
            point_on_b: point,
            normal,
            separation: -f64::from(feature),
            toi: 0.0,
            feature,
            segment: 0,
        }
    }

    fn grouping(distance: f64, cosine: f64) -> Grouping<'static> {
        Grouping { distance, cosine, preferred: &[], preferred_regions: &[] }
    }

    /// Returns for each contact the first contact to which it is connected, over any number of neighbours.
    fn by_brute_force(contacts: &[Contact], grouping: &Grouping) -> Vec<usize> {
        let mut first = vec![usize::MAX; contacts.len()];
        for start in 0..contacts.len() {
            if first[start] != usize::MAX {
                continue;
            }
            let mut open = vec![start];
            first[start] = start;
            while let Some(i) = open.pop() {
                for j in 0..contacts.len() {
                    if first[j] == usize::MAX && grouping.connects(&contacts[i], &contacts[j]) {
                        first[j] = start;
                        open.push(j);
                    }
                }
            }
        }
        first
    }

    fn firsts(contacts: &[Contact]) -> Vec<usize> {
        contacts.iter().map(|c| contacts.iter().position(|d| d.segment == c.segment).unwrap()).collect()
    }

    #[test]
    fn regions_are_those_of_brute_force_on_random_contacts_near_and_far() {
        let mut scratch = Regions::default();
        let mut sizes = [0usize; 2];
        for case in 0..400u64 {
            let mut rng = Rng(case * 77 + 1);
            let n = (rng.unit() * 200.0) as usize;
            // On a plane, on a line, in a volume, at one place; some of them far away.
            let shape = [Vec3::new(1.0, 1.0, 0.0), Vec3::new(1.0, 0.0, 0.0), Vec3::repeat(1.0), Vec3::repeat(0.0)];
            let (shape, away) = (shape[case as usize % 4], [0.0, 1e5][case as usize / 4 % 2]);
            let lattice = case % 3 == 0;
            let contacts: Vec<Contact> = (0..n)
                .map(|i| {
                    let mut p = rng.vector().component_mul(&shape);
                    if lattice {
                        // Neighbours at exactly the distance.
                        p = p.map(|v| (v * 8.0).round() / 8.0);
                    }
                    contact(p + Vec3::repeat(away), rng.vector().normalize(), i as u32)
                })
                .collect();
            let distance = if lattice { 0.125 } else { [0.02, 0.1, 0.3, 5.0][(rng.unit() * 4.0) as usize] };
            let grouping = grouping(distance, [-1.0, 0.0, 0.9][case as usize % 3]);
            let mut found = contacts.clone();
            grouping.number(&mut found, &mut scratch);
            let expected = by_brute_force(&contacts, &grouping);
            assert_eq!(firsts(&found), expected, "case {case}");
            let regions = expected.iter().enumerate().filter(|(i, first)| i == *first).count();
            sizes[usize::from(regions * 2 > n)] += 1;
            // New regions are numbered in the order of the contacts.
            let mut numbers: Vec<u32> = found.iter().map(|c| c.segment).collect();
            numbers.dedup();
            assert!(numbers.first().is_none_or(|n| *n == 0), "case {case}");
            assert!((0..regions as u32).all(|r| found.iter().any(|c| c.segment == r)), "case {case}");
        }
        assert!(sizes.iter().all(|n| *n > 40), "few regions and many: {sizes:?}");
    }

    #[test]
    fn regions_do_not_depend_on_the_order_of_the_contacts() {
        let mut rng = Rng(5);
        let mut contacts: Vec<Contact> = (0..150).map(|i| contact(rng.vector(), Vec3::z(), i)).collect();
        let (grouping, mut scratch) = (grouping(0.25, 0.5), Regions::default());
        let partition = |contacts: &mut [Contact], scratch: &mut Regions| {
            grouping.number(contacts, scratch);
            let mut sets: Vec<Vec<u32>> = Vec::new();
            for c in contacts.iter() {
                sets.resize(sets.len().max(c.segment as usize + 1), Vec::new());
                sets[c.segment as usize].push(c.feature);
            }
            sets.iter_mut().for_each(|set| set.sort_unstable());
            sets.sort();
            sets
        };
        let expected = partition(&mut contacts, &mut scratch);
        assert!(expected.len() > 5);
        for _ in 0..20 {
            for i in (1..contacts.len()).rev() {
                contacts.swap(i, (rng.unit() * (i + 1) as f64) as usize);
            }
            assert_eq!(partition(&mut contacts, &mut scratch), expected);
        }
    }

    fn row(features: impl IntoIterator<Item = u32>) -> Vec<Contact> {
        features.into_iter().map(|f| contact(Vec3::new(f64::from(f), 0.0, 0.0), Vec3::z(), f)).collect()
    }

    fn numbers(contacts: &mut [Contact], preferred: &[u32], preferred_regions: &[u32]) -> Vec<u32> {
        let grouping = Grouping { distance: 1.0, cosine: 0.0, preferred, preferred_regions };
        grouping.number(contacts, &mut Regions::default());
        contacts.iter().map(|c| c.segment).collect()
    }

    #[test]
    fn a_region_keeps_its_number_while_it_keeps_a_feature() {
        assert_eq!(numbers(&mut row([1, 2, 10, 11, 20]), &[], &[]), [0, 0, 1, 1, 2]);
        // The first region is gone; a new one comes before the others.
        assert_eq!(numbers(&mut row([5, 10, 12, 20, 21]), &[1, 2, 10, 11, 20], &[0, 0, 1, 1, 2]), [3, 1, 4, 2, 2]);
        // Split: the larger part keeps the number. Merged: the number of the larger part stays.
        assert_eq!(numbers(&mut row([1, 3, 4]), &[1, 2, 3, 4], &[7, 7, 7, 7]), [0, 7, 7]);
        assert_eq!(numbers(&mut row([1, 2, 3]), &[1, 2, 3], &[4, 6, 6]), [6, 6, 6]);
        // Equal claims: the lower number, then the earlier region.
        assert_eq!(numbers(&mut row([1, 2]), &[1, 2], &[9, 4]), [4, 4]);
        assert_eq!(numbers(&mut row([1, 3]), &[1, 3], &[4, 4]), [4, 0]);
    }
}
