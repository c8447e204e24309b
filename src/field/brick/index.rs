//! Positions of the samples of bricks.
//!
//! Fine bricks are stored column by column (x fastest, then y), and upward along z in each. Two bricks one above the
//! other share the layer of nodes between them: the upper one begins with the last layer of the lower one. So all
//! strides are the same in every brick, and a brick in the middle of a column takes 8 × 9² samples for its 9³.

use super::{place_of, FineBricks, CELLS, NODES, STRIDE, VOLUME};
use voxshell_base::memory::{boxed, with_capacity, CollectGuarded, GrowGuarded};
use voxshell_base::{Error, Result};

/// Distance from the first sample of a brick to that of the brick above it in its column.
pub(super) const PITCH: usize = (CELLS * NODES * NODES) as usize;

/// Index of each brick's first sample. One array over the box of all fine bricks; all bricks outside the box are
/// coarse.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Index {
    /// Number of bricks along the axes.
    pub bricks: [u32; 3],
    /// Index of the first coarse sample; there is one for each corner of a brick, x fastest.
    pub coarse: usize,
    /// The box: lowest brick, and number of bricks along the axes.
    pub first: [u32; 3],
    pub size: [u32; 3],
    /// For each brick of the box, x fastest: below `coarse` the index of its own samples, else that of its lower
    /// corner.
    pub entries: Box<[u32]>,
}

/// Returns a key that ascends in the order of the samples.
fn order([nx, ny, nz]: [u32; 3], brick: u32) -> u64 {
    let [i, j, k] = place_of(brick as usize, [nx, ny, nz]).map(u64::from);
    (j * u64::from(nx) + i) * u64::from(nz) + k
}

/// Returns the index of the first sample of a brick from that of the brick before it.
fn after([nx, ny, _]: [u32; 3], before: Option<(u32, usize)>, brick: u32) -> usize {
    match before {
        None => 0,
        Some((below, from)) if u64::from(below) + u64::from(nx) * u64::from(ny) == u64::from(brick) => from + PITCH,
        Some((_, from)) => from + VOLUME,
    }
}

/// Returns the number of the lower corner of a brick among the coarse samples.
fn corner([nx, ny, _]: [u32; 3], [i, j, k]: [u32; 3]) -> usize {
    (k as usize * (ny as usize + 1) + j as usize) * (nx as usize + 1) + i as usize
}

/// Returns the positions of fine bricks along the axes (x fastest, in the order of their samples), and the index of
/// each one's first sample.
fn places(bricks: [u32; 3], numbers: &[u32]) -> Result<Vec<([u32; 3], usize)>> {
    let total = bricks.iter().map(|&n| u64::from(n)).product::<u64>();
    let mut before: Option<(u32, usize)> = None;
    let place = |(n, &brick): (usize, &u32)| {
        let ordered = before.is_none_or(|(last, _)| order(bricks, last) < order(bricks, brick));
        if u64::from(brick) >= total || !ordered {
            let expected = format!("one of {total}, once, column by column upward");
            return Err(Error::argument(format!("bricks[{n}]"), brick, expected));
        }
        let from = after(bricks, before, brick);
        before = Some((brick, from));
        Ok((place_of(brick as usize, bricks), from))
    };
    numbers.iter().enumerate().map(place).try_collect_guarded()
}

/// Returns the number of samples of a field with such positions, and the index of the first coarse sample.
fn counts(bricks: [u32; 3], places: &[([u32; 3], usize)]) -> Result<(usize, usize)> {
    let coarse = places.last().map_or(0, |(_, from)| from + VOLUME);
    let corners = bricks.iter().fold(1, |n, &b| n * (u64::from(b) + 1));
    let count = coarse as u64 + corners;
    if count > u64::from(u32::MAX) {
        let what = format!("{} bricks with samples of their own, and {corners} corners", places.len());
        return Err(Error::argument("bricks", what, format!("at most {} samples", u32::MAX)));
    }
    Ok((count as usize, coarse))
}

/// Returns the number of samples of a field: those of the fine bricks, and the coarse ones.
pub(super) fn sample_count(bricks: [u32; 3], numbers: &[u32]) -> Result<usize> {
    Ok(counts(bricks, &places(bricks, numbers)?)?.0)
}

impl Index {
    /// Returns the index. `numbers`: the fine bricks, x fastest, in the order of their samples; `samples`: the number
    /// of samples.
    pub fn new(bricks: [u32; 3], numbers: &[u32], samples: usize) -> Result<Self> {
        let places = places(bricks, numbers)?;
        let (count, coarse) = counts(bricks, &places)?;
        if samples != count {
            return Err(Error::argument("samples", format!("{samples} numbers"), count.to_string()));
        }
        let least = [0, 1, 2].map(|a| places.iter().map(|(p, _)| p[a]).min().unwrap_or(0));
        let size = [0, 1, 2].map(|a| places.iter().map(|(p, _)| p[a] + 1 - least[a]).max().unwrap_or(0));
        let mut entries = with_capacity(size.iter().map(|&n| n as usize).product());
        for k in 0..size[2] {
            for j in 0..size[1] {
                let row = (coarse + corner(bricks, [least[0], least[1] + j, least[2] + k])) as u32;
                entries.extend_guarded(row..row + size[0]);
            }
        }
        for (place, from) in places {
            let [i, j, k] = [0, 1, 2].map(|a| (place[a] - least[a]) as usize);
            entries[(k * size[1] as usize + j) * size[0] as usize + i] = from as u32;
        }
        Ok(Self { bricks, coarse, first: least, size, entries: boxed(entries) })
    }

    /// Returns the number of bricks.
    pub fn len(&self) -> usize {
        self.bricks.iter().map(|&n| n as usize).product()
    }

    /// Returns the index of a brick's first sample: below `coarse` of its own samples, else of its lower corner.
    #[inline(always)]
    pub fn at(&self, place: [u32; 3]) -> usize {
        let [i, j, k] = [0, 1, 2].map(|a| place[a].wrapping_sub(self.first[a]));
        let [nx, ny, nz] = self.size;
        if i < nx && j < ny && k < nz {
            self.entries[(k as usize * ny as usize + j as usize) * nx as usize + i as usize] as usize
        } else {
            self.coarse + corner(self.bricks, place)
        }
    }

    /// Returns the fine bricks in the order of their samples: position along the axes, and index of the first sample.
    pub fn fine(&self) -> impl Iterator<Item = ([u32; 3], usize)> + '_ {
        let [nx, ny, nz] = self.size;
        let columns = (0..ny).flat_map(move |j| (0..nx).map(move |i| (i, j)));
        let places = columns.flat_map(move |(i, j)| (0..nz).map(move |k| [i, j, k]));
        places.map(|p| [0, 1, 2].map(|a| self.first[a] + p[a])).filter_map(|p| {
            let from = self.at(p);
            (from < self.coarse).then_some((p, from))
        })
    }

    /// Returns the memory held, bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.entries)
    }
}

/// Orders fine bricks that each have all their samples and one last number, in place, and removes the duplicate
/// layers. Returns the numbers of the bricks, the last numbers, and the samples.
pub(super) fn join(bricks: [u32; 3], fine: FineBricks) -> (Vec<u32>, Vec<u16>, Vec<i16>) {
    let FineBricks { bricks: unordered, mut samples } = fine;
    let mut source: Vec<u32> = (0..unordered.len() as u32).collect_guarded();
    source.sort_unstable_by_key(|&n| order(bricks, unordered[n as usize]));
    let numbers: Vec<u32> = source.iter().map(|&n| unordered[n as usize]).collect_guarded();
    // Cycle by cycle: the first brick is moved aside, and each position takes the brick that belongs there.
    let mut aside = [0; STRIDE];
    for start in 0..source.len() {
        if source[start] as usize == start {
            continue;
        }
        aside.copy_from_slice(&samples[start * STRIDE..(start + 1) * STRIDE]);
        let mut to = start;
        loop {
            let from = std::mem::replace(&mut source[to], to as u32) as usize;
            if from == start {
                samples[to * STRIDE..(to + 1) * STRIDE].copy_from_slice(&aside);
                break;
            }
            samples.copy_within(from * STRIDE..(from + 1) * STRIDE, to * STRIDE);
            to = from;
        }
    }
    let mut before = None;
    let mut last_numbers = with_capacity(numbers.len());
    for (n, &brick) in numbers.iter().enumerate() {
        let (own, to) = (n * STRIDE, after(bricks, before, brick));
        last_numbers.push_guarded(samples[own + VOLUME] as u16);
        samples.copy_within(own..own + VOLUME, to);
        before = Some((brick, to));
    }
    samples.truncate(before.map_or(0, |(_, from)| from + VOLUME));
    (numbers, last_numbers, samples)
}
