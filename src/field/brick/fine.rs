//! Certificate of a fine brick.

use super::layout::{borders, each_node};
use super::{Certificate, CELLS, NODES, VOLUME};
use crate::Grid;
use voxshell_base::memory::{boxed_item, CollectGuarded};
use voxshell_base::wide;

/// Certifies a fine brick. As in `scan` for a full grid, the gradient is steepest at nodes.
pub(super) fn part(grid: &Grid, place: [u32; 3], seam: &[bool; 27], v: &[i16]) -> Certificate {
    let mut part = Certificate::NONE;
    let (steepest, lowest, highest) = steepest(v);
    part.steepest = f64::from(steepest);
    part.largest = i32::from(lowest).abs().max(i32::from(highest).abs());
    let at_border: Vec<(usize, u32)> = borders(grid, place).collect_guarded();
    if !at_border.is_empty() {
        each_node(|at, n| {
            if at_border.iter().any(|&(k, i)| at[k] == i) {
                part.border = part.border.min(i32::from(v[n]));
            }
        });
    }
    if lowest <= 0 {
        // By axis, a bit for each plane of nodes that has a node in {φ ≤ 0}.
        let mut planes = [0u32; 3];
        for (row, v) in (0..).zip(v.chunks_exact(NODES as usize)) {
            let bits = v.iter().enumerate().fold(0, |bits, (i, &v)| bits | u32::from(v <= 0) << i);
            planes[0] |= bits;
            planes[1] |= u32::from(bits != 0) << (row % NODES);
            planes[2] |= u32::from(bits != 0) << (row / NODES);
        }
        for k in 0..3 {
            let first = f64::from(place[k] * CELLS);
            part.min[k] = first + f64::from(planes[k].trailing_zeros());
            part.max[k] = first + f64::from(planes[k].ilog2());
        }
    }
    if seam.contains(&true) {
        // Whether a cell has a corner on a seam depends on the sides that it is at, numbered like the pieces of a
        // brick.
        let cells: [bool; 27] = std::array::from_fn(|c| {
            let side = [c % 3, c / 3 % 3, c / 9];
            (0..27).any(|n| {
                seam[n] && (0..3).all(|k| [n % 3, n / 3 % 3, n / 9][k] == 1 || [n % 3, n / 3 % 3, n / 9][k] == side[k])
            })
        });
        let ranges = CellRanges::new(v);
        each_node(|at, n| {
            let side = |i: u32| match i {
                0 => 0,
                i if i == CELLS - 1 => 2,
                _ => 1,
            };
            if !at.contains(&CELLS) && cells[(side(at[0]) + 3 * side(at[1]) + 9 * side(at[2])) as usize] {
                part.settle([i32::from(ranges.low[n]), i32::from(ranges.high[n])].into_iter());
            }
        });
    }
    part
}

/// Number of nodes of a slice of a brick.
const SLICE: usize = (NODES * NODES) as usize;

/// Squares of the differences along one axis: from node n to the next at n + [`SLICE`], 0 at the ends.
type Squares = [f32; VOLUME + SLICE];

wide! {
    /// Returns the largest squared gradient at the nodes of a fine brick, (quanta per cell)², rounded to f32, which
    /// the margin of the constant covers; and the smallest and the largest sample.
    fn steepest(v: &[i16]) -> (f32, i16, i16) {
        let v = &v[..VOLUME];
        let row = NODES as usize;
        let mut along: [Squares; 3] = [[0.0; VOLUME + SLICE]; 3];
        for (squares, step) in along.iter_mut().zip([1, row, SLICE]) {
            let squares = &mut squares[SLICE..SLICE + VOLUME - step];
            for ((s, &a), &b) in squares.iter_mut().zip(&v[..VOLUME - step]).zip(&v[step..]) {
                let d = (i32::from(b) - i32::from(a)) as f32;
                *s = d * d;
            }
        }
        let [x, y, z] = &mut along;
        x[SLICE..].iter_mut().skip(row - 1).step_by(row).for_each(|s| *s = 0.0);
        y[SLICE..].chunks_exact_mut(SLICE).for_each(|slice| slice[SLICE - row..].fill(0.0));
        let max = |a: f32, b: f32| if a > b { a } else { b };
        let mut most = [0.0f32; 8];
        let before = |a: &Squares, step: usize, n: usize| max(a[SLICE + n], a[SLICE + n - step]);
        let node = |n: usize| (before(x, 1, n) + before(y, row, n)) + before(z, SLICE, n);
        for first in (0..VOLUME - 8).step_by(8) {
            for lane in 0..8 {
                most[lane] = max(node(first + lane), most[lane]);
            }
        }
        for n in VOLUME - 9..VOLUME {
            most[0] = max(node(n), most[0]);
        }
        let (mut low, mut high) = (v[0], v[0]);
        for &s in v {
            low = if s < low { s } else { low };
            high = if s > high { s } else { high };
        }
        (most.iter().fold(0.0, |a, &b| max(a, b)), low, high)
    }
}

/// Widens a box of nodes in {φ ≤ 0}, cells, to the box of {φ ≤ 0}, by the fine brick at `place` if that has nodes on
/// the box's sides. A plane x = const meets {φ ≤ 0} only if it meets {φ ≤ 0} on a grid edge, and less than one cell
/// beyond the last node.
pub(super) fn widen(place: [u32; 3], v: &[i16], nodes: &Certificate, into: &mut Certificate) {
    let steps = [1, NODES as usize, SLICE];
    let first = place.map(|i| f64::from(i * CELLS));
    let touches = |k: usize| {
        let within = |x: f64| (0.0..=f64::from(CELLS)).contains(&(x - first[k]));
        within(nodes.min[k]) || within(nodes.max[k])
    };
    if !(0..3).any(touches) {
        return;
    }
    each_node(|at, n| {
        let here = f64::from(v[n]);
        if here > 0.0 {
            return;
        }
        for a in 0..3 {
            let mut reach = |other: i16, side: f64| {
                if other > 0 {
                    let mut p = [0, 1, 2].map(|k| first[k] + f64::from(at[k]));
                    p[a] += side * here / (here - f64::from(other));
                    into.include(p);
                }
            };
            if at[a] > 0 {
                reach(v[n - steps[a]], -1.0);
            }
            if at[a] < CELLS {
                reach(v[n + steps[a]], 1.0);
            }
        }
    });
}

/// Smallest and largest sample at the corners of each cell of a fine brick, by the number of the cell's first node.
struct CellRanges {
    low: [i16; VOLUME],
    high: [i16; VOLUME],
}

impl CellRanges {
    fn new(samples: &[i16]) -> Box<Self> {
        let mut ranges = boxed_item(Self { low: [0; VOLUME], high: [0; VOLUME] });
        cell_ranges(&samples[..VOLUME], &mut ranges);
        ranges
    }
}

wide! {
    fn cell_ranges(samples: &[i16], ranges: &mut CellRanges) -> () {
        ranges.low.copy_from_slice(samples);
        ranges.high.copy_from_slice(samples);
        // Along x, y, z in turn. At the upper sides, where no cell begins, the results are meaningless and unused.
        for step in [1, NODES as usize, (NODES * NODES) as usize] {
            for n in 0..VOLUME - step {
                let (a, b) = (ranges.low[n], ranges.low[n + step]);
                ranges.low[n] = if b < a { b } else { a };
            }
            for n in 0..VOLUME - step {
                let (a, b) = (ranges.high[n], ranges.high[n + step]);
                ranges.high[n] = if b > a { b } else { a };
            }
        }
    }
}
