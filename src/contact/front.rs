//! Temporal coherence: what one query has proved of a pair, the next need not prove again.
//!
//! The front of a walk is where it stopped: the nodes that were free of the level, each with the lower bound φ₋ of φ below
//! it, and the leaves that were not. Let the shell have moved since by so much that no sample of it has moved by more than
//! δ. φ changes by at most L per metre, so a node is still free while φ₋ − L δ is above the level. Only nodes for which it
//! is not are looked at again, from there on down, and leaves that were near are tested sample by sample. A leaf without
//! contacts joins the free nodes with the least φ of its samples, which is more than its ball could prove.
//!
//! δ is summed over the queries, so one number, L Σδ, belongs to all: a node is kept with the key φ₋ + L Σδ of its time,
//! and is free while its key is above the level + L Σδ of the present. What rounding can add is in [`Front::doubt`].

use std::sync::{Arc, Weak};

use super::lanes::{above, at_most, Chosen, Lanes, Walk, LANES, SET};
use super::scratch::Hit;
use super::types::Stats;
use crate::field::{wide, Field, Modulus, SignedDistance};
use crate::math::RigidF32;
use crate::pointshell::PointShell;

/// Free nodes are given up, and the tree is walked from its root again, when so many times as many as after the last such
/// walk have gathered.
const GROWTH: usize = 2;
/// And a few more.
const ROOM: usize = 64;
/// Or when the shell has moved by this many times its radius: keys lose digits.
const FARTHEST: f64 = 8.0;
/// Most queries (a power of two) that are answered without a front after fronts that were of no use.
const PATIENCE: u32 = 6;
/// A front is of use when it takes no more than this part of the node tests of a walk from the root.
const WORTH: f64 = 0.5;

/// The body whose shell it is, and the body whose field.
#[derive(Clone, Copy)]
pub(super) struct Owners<'a> {
    pub shell: &'a Arc<PointShell>,
    pub field: &'a Arc<Field>,
}

/// The front of one pair, one shell of it in one field.
#[derive(Default)]
pub(super) struct Front {
    /// Whose it is. Not an address, which another may have by now: while a `Weak` is there its `Arc`'s memory is not used
    /// again, and the content cannot be changed in place.
    shell: Weak<PointShell>,
    field: Weak<Field>,
    /// Whom the last query was about: addresses, only as a hint whether it is worth to begin a front.
    seen: (usize, usize),
    /// Queries to go before a front is tried again, and how often in a row one was of no use.
    waiting: u32,
    useless: u32,
    /// Whether there is something in here; where the shell was then.
    is_valid: bool,
    at: Option<RigidF32>,
    /// L Σδ, metres.
    fall: f64,
    /// Largest distance of a sample from the field's origin so far, and rounding of the transform.
    reach: f64,
    slack: f64,
    free: Free,
    /// How many free nodes the last walk from the root left, and how many nodes it tested.
    least: usize,
    whole: u64,
    /// Leaves with samples near the level, ascending.
    near: Vec<u32>,
    /// Nodes to look at again.
    expired: Vec<u32>,
    /// Nodes that are not free, of one level below them and of the next.
    levels: [Chosen; 2],
}

/// Free nodes, each with its key. There is room for the whole tree and a block, so that adding one takes no branch.
#[derive(Default)]
struct Free {
    keys: Vec<f32>,
    nodes: Vec<u32>,
    len: usize,
}

impl Free {
    /// Empty, with room for `nodes` and a block.
    fn clear(&mut self, nodes: usize) {
        self.len = 0;
        if self.nodes.len() < nodes + LANES {
            self.keys.resize(nodes + LANES, 0.0);
            self.nodes.resize(nodes + LANES, 0);
        }
    }

    /// The lanes that `mask` has of a block, of which `node` gives the nodes; `base` is L Σδ, rounded down.
    #[inline(always)]
    fn push(&mut self, node: impl Fn(usize) -> u32, lower: &Lanes, mask: u32, base: f32) {
        let set = &SET[mask as usize % SET.len()];
        let keys = lower.map(|lower| (lower + base) - 2.0 * f32::EPSILON * (lower.abs() + base));
        let room = self.len..self.len + LANES;
        let (to_keys, to_nodes) = (&mut self.keys[room.clone()], &mut self.nodes[room]);
        for i in 0..LANES {
            let lane = set[i] as usize % LANES;
            (to_keys[i], to_nodes[i]) = (keys[lane], node(lane));
        }
        self.len += mask.count_ones() as usize;
    }

    /// Moves the nodes whose key is not above `level` to `expired`.
    #[inline(always)]
    fn expire(&mut self, level: f32, expired: &mut Vec<u32>) {
        // Backwards: what takes the place of one that goes has been looked at.
        for start in (0..self.len).step_by(LANES).rev() {
            let Some(block) = self.keys[start..].first_chunk() else { continue };
            let n = (self.len - start).min(LANES);
            let mut mask = above(block, level, n) ^ ((1 << n) - 1);
            while mask != 0 {
                let lane = mask.ilog2();
                let i = start + lane as usize;
                self.len -= 1;
                expired.push(self.nodes[i]);
                (self.keys[i], self.nodes[i]) = (self.keys[self.len], self.nodes[self.len]);
                mask ^= 1 << lane;
            }
        }
    }
}

/// Not less than `x`: by one or two of the last digits more than the nearest.
fn rounded_up(x: f64) -> f32 {
    let near = x as f32;
    near + (near.abs() * f32::EPSILON + f32::MIN_POSITIVE)
}

/// Not more than `x`.
fn rounded_down(x: f64) -> f32 {
    -rounded_up(-x)
}

/// No sample of the shell, transformed without rounding, is farther than this from where it was, metres.
fn moved(shell: &PointShell, from: &RigidF32, to: &RigidF32) -> f64 {
    let tree = &shell.tree;
    let center = [tree.cx[0], tree.cy[0], tree.cz[0]].map(f64::from);
    let (mut way, mut turn) = (0.0, 0.0);
    for i in 0..3 {
        let row = [0, 1, 2].map(|k| f64::from(to.r[i][k]) - f64::from(from.r[i][k]));
        let of_center = row[0] * center[0] + row[1] * center[1] + row[2] * center[2];
        let step = of_center + (f64::from(to.t[i]) - f64::from(from.t[i]));
        way += step * step;
        turn += row[0] * row[0] + row[1] * row[1] + row[2] * row[2];
    }
    // |(R' − R)(p − c)| ≤ ‖R' − R‖ |p − c|, with Frobenius' norm, which is no less than the largest stretch.
    (way.sqrt() + turn.sqrt() * f64::from(tree.radius[0])) * (1.0 + 1e-9)
}

/// No sample is farther from the field's origin, metres, but for rounding.
fn reach(shell: &PointShell, to_field: &RigidF32) -> f64 {
    let sum = |v: [f32; 3]| v.map(|x| f64::from(x).abs()).iter().sum::<f64>();
    let tree = &shell.tree;
    let own = sum([tree.cx[0], tree.cy[0], tree.cz[0]]) + f64::from(tree.radius[0]);
    (sum(to_field.t) + own) * (1.0 + 1e-6)
}

impl Front {
    /// Whether to answer this query by the front, or to begin one: not when the pair is another every time, nor when it moves
    /// so much that fronts were of no use lately.
    pub fn is_worth(&mut self, owners: &Owners) -> bool {
        let pair = (Arc::as_ptr(owners.shell), Arc::as_ptr(owners.field));
        let before = std::mem::replace(&mut self.seen, (pair.0 as usize, pair.1 as usize));
        if pair == (self.shell.as_ptr(), self.field.as_ptr()) {
            if self.waiting == 0 {
                return true;
            }
            self.waiting -= 1;
            self.is_valid = false;
            return false;
        }
        let is_first = before == (0, 0);
        if is_first || before == self.seen {
            self.shell = Arc::downgrade(owners.shell);
            self.field = Arc::downgrade(owners.field);
            (self.is_valid, self.waiting, self.useless) = (false, 0, 0);
            return true;
        }
        false
    }

    /// Moves on to where the shell is, and says which nodes are no longer certainly free. `false` when a walk from the root
    /// is the better way.
    #[inline(always)]
    fn advance<F: SignedDistance>(&mut self, walk: &Walk<F>, limit: f32, modulus: &Modulus) -> bool {
        let from = self.at.replace(*walk.to_field);
        let (true, Some(from)) = (self.is_valid, from) else { return false };
        let lipschitz = f64::from(modulus.lipschitz);
        self.fall += lipschitz * moved(walk.shell, &from, walk.to_field);
        self.slack = self.slack.max(f64::from(walk.slack));
        let is_worn = self.fall.is_nan() || self.fall > FARTHEST * lipschitz * f64::from(walk.shell.tree.radius[0]);
        if is_worn || self.free.len > GROWTH * self.least + ROOM {
            return false;
        }
        let level = rounded_up(f64::from(limit) + self.fall + self.doubt(modulus));
        self.free.expire(level, &mut self.expired);
        let is_useful = self.is_useful(self.expired.len() as u64);
        if !is_useful {
            self.judge(false);
        }
        is_useful
    }

    fn is_useful(&self, tests: u64) -> bool {
        tests as f64 <= WORTH * self.whole as f64
    }

    /// After one that was of no use the next is left alone for a while, longer each time.
    fn judge(&mut self, is_useful: bool) {
        self.useless = if is_useful { 0 } else { (self.useless + 1).min(PATIENCE) };
        self.waiting = (1 << self.useless) - 1;
    }

    /// Room for whatever can be in a front of this tree: queries from there on do not allocate.
    fn begin(&mut self, nodes: usize) {
        self.free.clear(nodes);
        self.near.clear();
        self.near.reserve(nodes);
        self.expired.clear();
        self.expired.reserve(nodes);
        self.expired.push(0);
        self.levels.iter_mut().for_each(|level| level.clear(nodes));
    }

    /// Twice the rounding of the transform: when a key was made, and at present.
    fn doubt(&self, modulus: &Modulus) -> f64 {
        modulus.rounding + 2.0 * f64::from(modulus.lipschitz) * self.slack
    }
}

wide! {
    /// [`super::traverse::collect`] by the front: the same hits in the same order. `None` where that is not possible, or would take
    /// a new front and none is to be begun; then nothing was done.
    pub(super) fn collect<F: SignedDistance>(
        front: &mut Front,
        field: &F,
        shell: &PointShell,
        to_field: &RigidF32,
        limit: f32,
        begin: bool,
        scratch: (&mut Vec<Hit>, &mut Stats),
    ) -> Option<()> {
        let (hits, stats) = scratch;
        let walk = Walk::new(field, shell, to_field);
        let reach = reach(shell, to_field);
        front.reach = front.reach.max(reach);
        let modulus = field.modulus(front.reach)?;
        front.expired.clear();
        let is_new = !front.advance(&walk, limit, &modulus);
        if is_new && !begin {
            front.is_valid = false;
            return None;
        }
        if is_new {
            (front.fall, front.reach, front.slack) = (0.0, reach, f64::from(walk.slack));
            front.begin(shell.tree.radius.len());
            front.is_valid = front.doubt(&modulus).is_finite();
            if !front.is_valid {
                return None;
            }
        }
        let (known, tests) = (front.near.len(), stats.node_tests);
        if !front.expired.is_empty() {
            front.open(&walk, limit, stats);
        }
        if front.near.len() > known {
            front.near.sort_unstable();
        }
        front.test(&walk, limit, &modulus, hits, stats);
        let tests = stats.node_tests - tests;
        if is_new {
            (front.least, front.whole) = (front.free.len, tests);
        } else {
            front.judge(front.is_useful(tests));
        }
        Some(())
    }
}

impl Front {
    /// From the nodes that may not be free any more downwards.
    #[inline(always)]
    fn open<F: SignedDistance>(&mut self, walk: &Walk<F>, limit: f32, stats: &mut Stats) {
        let base = rounded_down(self.fall);
        let tree = &walk.shell.tree;
        let Self { free, near, expired, levels: [open, next], .. } = self;
        open.clear(0);
        for group in expired.chunks(LANES) {
            let mut nodes = [0; LANES];
            nodes[..group.len()].copy_from_slice(group);
            let of = |values: &[f32]| nodes.map(|node| values[node as usize]);
            let n = group.len();
            let lower = walk.bounds(of(&tree.cx), of(&tree.cy), of(&tree.cz), of(&tree.radius), n);
            stats.node_tests += n as u64;
            let mask = at_most(&lower, limit, n);
            open.push(|lane| nodes[lane], mask);
            free.push(|lane| nodes[lane], &lower, mask ^ ((1 << n) - 1), base);
        }
        while !open.as_slice().is_empty() {
            next.clear(0);
            for &node in open.as_slice() {
                let children = tree.child_count[node as usize];
                if children == 0 {
                    near.push(node);
                    continue;
                }
                for (first, n) in walk.children(node) {
                    stats.node_tests += n as u64;
                    let lower = walk.nodes(first, n);
                    let mask = at_most(&lower, limit, n);
                    next.push(|lane| (first + lane) as u32, mask);
                    free.push(|lane| (first + lane) as u32, &lower, mask ^ ((1 << n) - 1), base);
                }
            }
            std::mem::swap(open, next);
        }
    }

    /// The samples of the leaves that are not free. One whose samples are all well above the level becomes so.
    #[inline(always)]
    fn test<F: SignedDistance>(
        &mut self,
        walk: &Walk<F>,
        limit: f32,
        modulus: &Modulus,
        hits: &mut Vec<Hit>,
        stats: &mut Stats,
    ) {
        let base = rounded_down(self.fall);
        // One that is free by less than the doubt would be back the next time.
        let clear = limit + 4.0 * self.doubt(modulus) as f32;
        let Self { free, near, .. } = self;
        let mut kept = 0;
        for i in 0..near.len() {
            let leaf = near[i];
            let (mut is_clear, mut least) = (true, f32::INFINITY);
            for (first, n) in walk.below(leaf) {
                stats.sample_tests += n as u64;
                let block = walk.samples(first, n);
                block.hits(first, n, limit, hits);
                is_clear &= above(&block.value, clear, n) == (1 << n) - 1;
                least = block.value[..n].iter().fold(least, |a, &b| a.min(b));
            }
            if is_clear {
                free.push(|_| leaf, &[least; LANES], 1, base);
            } else {
                near[kept] = leaf;
                kept += 1;
            }
        }
        near.truncate(kept);
    }
}
