//! Connected regions of the contact surface, and their outlines.

use super::cells::{Cell, Leaf, Overlap};
use super::surface::Polygon;
use voxshell_base::math::Vec3;
use voxshell_base::memory::GrowGuarded;

/// Edges of leaves differ by at most this factor.
const LARGEST_RATIO: u32 = 4;

/// Number of directions to the neighbours of a cell, and to itself. Direction i is by digit k of i to base 3, less one, along
/// axis k.
const DIRECTIONS: u32 = 27;

/// No leaf.
const NONE: u32 = u32::MAX;

/// Regions of the leaves with polygons.
#[derive(Default)]
pub(super) struct Regions {
    /// Leaves with polygons in a hash table with open addressing.
    table: Vec<u32>,
    /// Faces, edges and corners of each leaf that its polygons touch: the bits of [`DIRECTIONS`].
    touched: Vec<u32>,
    /// Union of leaves; then the region of each leaf.
    parent: Vec<u32>,
    region: Vec<u32>,
}

fn hash(cell: &Cell, mask: usize) -> usize {
    let [x, y, z] = cell.at.map(u64::from);
    let mixed = x.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ y.wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(21)
        ^ z.wrapping_mul(0x1656_67b1_9e37_79f9).rotate_left(42)
        ^ u64::from(cell.edge);
    (mixed.wrapping_mul(0xff51_afd7_ed55_8ccd) >> 32) as usize & mask
}

fn digits(direction: u32) -> [u32; 3] {
    [direction % 3, direction / 3 % 3, direction / 9]
}

/// Returns the set of directions whose digit is among the given ones along each axis, without that to the cell itself.
fn directions(sides: &[[bool; 3]; 3]) -> u32 {
    let among = |direction: &u32| sides.iter().zip(digits(*direction)).all(|(side, digit)| side[digit as usize]);
    (0..DIRECTIONS).filter(|direction| *direction != DIRECTIONS / 2 && among(direction)).fold(0, |set, i| set | 1 << i)
}

impl Regions {
    /// Finds the regions, and returns their number.
    pub fn find(&mut self, leaves: &[Leaf], polygons: &[Polygon], overlap: &Overlap) -> usize {
        self.touched.clear();
        self.touched.resize_guarded(leaves.len(), 0);
        self.parent.clear();
        self.parent.extend_guarded(0..leaves.len() as u32);
        let size = (2 * leaves.len() + 1).next_power_of_two();
        self.table.clear();
        self.table.resize_guarded(size, NONE);
        for run in polygons.chunk_by(|p, q| p.leaf == q.leaf) {
            let leaf = run[0].leaf;
            let cell = &leaves[leaf as usize].cell;
            let low = overlap.place(cell.at.map(f64::from));
            let high = overlap.place(cell.at.map(|x| f64::from(x) + f64::from(cell.edge)));
            for corner in run.iter().flat_map(|p| &p.corners[..p.count]) {
                // Corners on a face have exactly its coordinate.
                let sides = [0, 1, 2].map(|k| [corner.at[k] == low[k], true, corner.at[k] == high[k]]);
                if sides.iter().any(|side| side[0] || side[2]) {
                    self.touched[leaf as usize] |= directions(&sides);
                }
            }
            let mut slot = hash(cell, size - 1);
            while self.table[slot] != NONE {
                slot = (slot + 1) & (size - 1);
            }
            self.table[slot] = leaf;
        }
        for run in polygons.chunk_by(|p, q| p.leaf == q.leaf) {
            let leaf = run[0].leaf;
            // Where the surface passes exactly through points of the grid, leaves meet at edges and corners alone.
            let mut touched = self.touched[leaf as usize];
            while touched != 0 {
                if let Some(other) = self.neighbour(leaves, leaf, touched.trailing_zeros()) {
                    self.unite(leaf, other);
                }
                touched &= touched - 1;
            }
        }
        self.region.clear();
        self.region.resize_guarded(leaves.len(), NONE);
        let mut count = 0;
        for run in polygons.chunk_by(|p, q| p.leaf == q.leaf) {
            let root = self.root(run[0].leaf) as usize;
            if self.region[root] == NONE {
                self.region[root] = count;
                count += 1;
            }
            self.region[run[0].leaf as usize] = self.region[root];
        }
        count as usize
    }

    /// Returns the region of a polygon.
    pub fn of(&self, polygon: &Polygon) -> u32 {
        self.region[polygon.leaf as usize]
    }

    /// Returns the leaf with polygons in a direction, of the same size or larger.
    fn neighbour(&self, leaves: &[Leaf], leaf: u32, direction: u32) -> Option<u32> {
        let Cell { mut at, edge } = leaves[leaf as usize].cell;
        for (x, digit) in at.iter_mut().zip(digits(direction)) {
            *x = (*x + digit * edge).checked_sub(edge)?;
        }
        let mut size = edge;
        while size <= LARGEST_RATIO {
            let found = self.lookup(leaves, &Cell { at: at.map(|x| x / size * size), edge: size });
            if found.is_some() {
                return found;
            }
            size *= 2;
        }
        None
    }

    fn lookup(&self, leaves: &[Leaf], cell: &Cell) -> Option<u32> {
        let mask = self.table.len() - 1;
        let mut slot = hash(cell, mask);
        while self.table[slot] != NONE {
            if leaves[self.table[slot] as usize].cell == *cell {
                return Some(self.table[slot]);
            }
            slot = (slot + 1) & mask;
        }
        None
    }

    fn root(&mut self, leaf: u32) -> u32 {
        let mut at = leaf;
        while self.parent[at as usize] != at {
            let above = self.parent[self.parent[at as usize] as usize];
            self.parent[at as usize] = above;
            at = above;
        }
        at
    }

    fn unite(&mut self, leaf: u32, other: u32) {
        let (a, b) = (self.root(leaf), self.root(other));
        let (low, high) = (a.min(b), a.max(b));
        self.parent[high as usize] = low;
    }
}

/// Scratch of outlines, and the last one.
#[derive(Default)]
pub(super) struct Outlines {
    segments: Vec<[Vec3; 2]>,
    /// Ends of the segments: bits of the point, segment and end; sorted.
    ends: Vec<([u64; 3], u32, u8)>,
    visited: Vec<bool>,
    points: Vec<Vec3>,
}

impl Outlines {
    /// Joins the pieces of the outline of a region; without a region there are none.
    pub fn trace(
        &mut self,
        region: Option<(&Regions, u32)>,
        polygons: &[Polygon],
        spacing: f64,
        origin: &Vec3,
    ) -> &[Vec3] {
        let Self { segments, ends, visited, points } = self;
        segments.clear();
        points.clear();
        if let Some((regions, region)) = region {
            for p in polygons.iter().filter(|p| regions.of(p) == region) {
                for i in (0..p.count).filter(|i| p.corners[*i].ends) {
                    segments.push_guarded([p.corners[i].at, p.corners[(i + 1) % p.count].at]);
                }
            }
        }
        ends.clear();
        for (i, segment) in segments.iter().enumerate() {
            for end in 0..2u8 {
                ends.push_guarded((bits(&segment[usize::from(end)]), i as u32, end));
            }
        }
        ends.sort_unstable();
        visited.clear();
        visited.resize_guarded(segments.len(), false);
        for first in 0..segments.len() {
            if visited[first] {
                continue;
            }
            let begin = points.len();
            points.push_guarded(segments[first][0] + origin);
            let (mut at, mut end) = (first, 1);
            loop {
                visited[at] = true;
                let p = segments[at][end] + origin;
                if (p - points[points.len() - 1]).norm() >= spacing {
                    points.push_guarded(p);
                }
                let key = bits(&segments[at][end]);
                let from = ends.partition_point(|e| e.0 < key);
                let next = ends[from..].iter().take_while(|e| e.0 == key).find(|e| !visited[e.1 as usize]);
                let Some(next) = next else { break };
                (at, end) = (next.1 as usize, 1 - usize::from(next.2));
            }
            // Loops smaller than a cell have no points but the first.
            if points.len() < begin + 3 {
                points.truncate(begin);
            } else {
                points.push_guarded(points[begin]);
            }
        }
        points
    }
}

fn bits(p: &Vec3) -> [u64; 3] {
    [p.x, p.y, p.z].map(|x| (x + 0.0).to_bits())
}
