//! Temporal coherence: a query reuses the bounds that the last query of the same pair has proved.
//!
//! The traversal cache of a walk (BVTT front: Klosowski et al. 1998) is the set of nodes at which the walk stopped:
//! the separated nodes, whose lower bound φ₋ of φ is above the level, each with φ₋; and the overlapping leaves. Let
//! no sample of the shell have moved by more than δ since then. φ changes by at most L per metre, so a node is still
//! separated while φ₋ − L δ is above the level. Only the nodes for which it is not are tested again, and the walk
//! continues below them; leaves that were near are tested sample by sample. A leaf without contacts joins the
//! separated nodes with the smallest φ of its samples, which is larger than the bound from its ball.
//!
//! δ is summed over the queries, so one number, L Σδ, serves all nodes: a node is stored with the key φ₋ + L Σδ of
//! its time, and is separated while its key is above the level + the present L Σδ. [`TraversalCache::error_bound`]
//! bounds the rounding error.

use std::sync::{Arc, Weak};

use super::lanes::{above, at_most, Chosen, Lanes, Walk, LANES, SET};
use super::scratch::Hit;
use crate::types::Stats;
use voxshell_base::math::RigidF32;
use voxshell_base::memory::{GrowGuarded, RoomGuarded};
use voxshell_base::wide;
use voxshell_field::{Field, Modulus, SignedDistance};
use voxshell_pointshell::PointShell;

/// Growth factor: the cache is discarded, and the tree is walked from its root, when the number of separated nodes
/// exceeds this factor times their number after the last such walk, plus `GROWTH_ALLOWANCE`.
const GROWTH: usize = 2;
/// Number of nodes allowed in addition to the factor.
const GROWTH_ALLOWANCE: usize = 64;
/// The cache is also discarded when the shell has moved by this many times its radius: the keys lose digits.
const MAX_MOTION: f64 = 8.0;
/// Exponent: at most 2 to this power, minus 1, queries in a row are answered without the cache after it was not
/// useful.
const MAX_WAIT_EXPONENT: u32 = 6;
/// A cache is useful when it takes at most this fraction of the node tests of a walk from the root.
const USEFUL_FRACTION: f64 = 0.5;

/// Body that owns the shell, and body that owns the field.
#[derive(Clone, Copy)]
pub(crate) struct Owners<'a> {
    pub shell: &'a Arc<PointShell>,
    pub field: &'a Arc<Field>,
}

/// Traversal cache of one pair: one shell in one field.
#[derive(Default)]
pub(crate) struct TraversalCache {
    /// Identity of the pair that this cache belongs to. Held as `Weak`, so that a reused address cannot match: while
    /// a `Weak` exists, the memory of its `Arc` is not reused, and the content cannot be changed in place.
    shell: Weak<PointShell>,
    field: Weak<Field>,
    /// The last query's pair, if it was another one: whether a new cache is worth its cost. Not by addresses, which are used
    /// again: the number of tests, by which hosts share their time, must not depend on them.
    last_pair: Option<(Weak<PointShell>, Weak<Field>)>,
    /// Queries to go before the cache is tried again, and how often in a row it was not useful.
    waiting: u32,
    useless: u32,
    /// Whether the cache has content, and the transform of the shell at that time.
    is_valid: bool,
    at: Option<RigidF32>,
    /// L Σδ, metres.
    decrease: f64,
    /// Largest distance of a sample from the field's origin so far, and largest rounding error of the transform,
    /// metres.
    reach: f64,
    slack: f64,
    separated: SeparatedNodes,
    /// Number of separated nodes that the last walk from the root left, and number of nodes that it tested.
    root_separated: usize,
    root_tests: u64,
    /// Leaves with samples near the level, ascending.
    near: Vec<u32>,
    /// Nodes to test again.
    expired: Vec<u32>,
    /// Overlapping nodes of one level, and of the next.
    levels: [Chosen; 2],
}

/// Separated nodes, each with its key. Capacity for the whole tree and one block, so that adding a node takes no
/// branch.
#[derive(Default)]
struct SeparatedNodes {
    keys: Vec<f32>,
    nodes: Vec<u32>,
    len: usize,
}

impl SeparatedNodes {
    /// Empties the list and reserves capacity for `nodes` and one block.
    fn clear(&mut self, nodes: usize) {
        self.len = 0;
        if self.nodes.len() < nodes + LANES {
            self.keys.resize_guarded(nodes + LANES, 0.0);
            self.nodes.resize_guarded(nodes + LANES, 0);
        }
    }

    /// Adds the lanes of a block that are set in `mask`. `node` returns the node of a lane; `base` is L Σδ, rounded
    /// down.
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
        // Backwards, so that the node that replaces a removed one has been tested already.
        for start in (0..self.len).step_by(LANES).rev() {
            let Some(block) = self.keys[start..].first_chunk() else { continue };
            let n = (self.len - start).min(LANES);
            let mut mask = above(block, level, n) ^ ((1 << n) - 1);
            while mask != 0 {
                let lane = mask.ilog2();
                let i = start + lane as usize;
                self.len -= 1;
                expired.push_guarded(self.nodes[i]);
                (self.keys[i], self.nodes[i]) = (self.keys[self.len], self.nodes[self.len]);
                mask ^= 1 << lane;
            }
        }
    }
}

/// Returns a value not less than `x`: the nearest `f32` plus one or two units in the last place.
fn rounded_up(x: f64) -> f32 {
    let near = x as f32;
    near + (near.abs() * f32::EPSILON + f32::MIN_POSITIVE)
}

/// Returns a value not more than `x`.
fn rounded_down(x: f64) -> f32 {
    -rounded_up(-x)
}

/// Returns an upper bound of the displacement of any sample of the shell, transformed without rounding, metres.
fn largest_displacement(shell: &PointShell, from: &RigidF32, to: &RigidF32) -> f64 {
    let tree = &shell.tree;
    let center = [tree.cx[0], tree.cy[0], tree.cz[0]].map(f64::from);
    let (mut shift, mut turn) = (0.0, 0.0);
    for i in 0..3 {
        let row = [0, 1, 2].map(|k| f64::from(to.r[i][k]) - f64::from(from.r[i][k]));
        let of_center = row[0] * center[0] + row[1] * center[1] + row[2] * center[2];
        let step = of_center + (f64::from(to.t[i]) - f64::from(from.t[i]));
        shift += step * step;
        turn += row[0] * row[0] + row[1] * row[1] + row[2] * row[2];
    }
    // |(R' − R)(p − c)| ≤ ‖R' − R‖ |p − c|, with the Frobenius norm, which is not less than the spectral norm.
    (shift.sqrt() + turn.sqrt() * f64::from(tree.radius[0])) * (1.0 + 1e-9)
}

/// Returns an upper bound of the distance of any sample from the field's origin, metres, without rounding of the
/// transform.
pub(super) fn reach(shell: &PointShell, to_field: &RigidF32) -> f64 {
    let sum = |v: [f32; 3]| v.map(|x| f64::from(x).abs()).iter().sum::<f64>();
    let tree = &shell.tree;
    let own = sum([tree.cx[0], tree.cy[0], tree.cz[0]]) + f64::from(tree.radius[0]);
    (sum(to_field.t) + own) * (1.0 + 1e-6)
}

impl TraversalCache {
    /// Returns whether to use the cache for this query, or to begin a new one. Returns false when every query is
    /// about another pair, and for some queries after the cache was not useful because of large motion.
    pub fn is_worth_using(&mut self, owners: &Owners) -> bool {
        let pair = (Arc::as_ptr(owners.shell), Arc::as_ptr(owners.field));
        let is_first = self.shell.ptr_eq(&Weak::new()) && self.last_pair.is_none();
        let was_last = self.last_pair.as_ref().is_some_and(|last| pair == (last.0.as_ptr(), last.1.as_ptr()));
        if pair == (self.shell.as_ptr(), self.field.as_ptr()) {
            self.last_pair = None;
            if self.waiting == 0 {
                return true;
            }
            self.waiting -= 1;
            self.is_valid = false;
            return false;
        }
        let weak = (Arc::downgrade(owners.shell), Arc::downgrade(owners.field));
        if is_first || was_last {
            (self.shell, self.field) = weak;
            self.last_pair = None;
            (self.is_valid, self.waiting, self.useless) = (false, 0, 0);
            return true;
        }
        self.last_pair = Some(weak);
        false
    }

    /// Updates the cache to the present pose of the shell and moves the nodes that are no longer certainly separated
    /// to `expired`. Returns `false` when a walk from the root is faster.
    #[inline(always)]
    fn advance<F: SignedDistance>(&mut self, walk: &Walk<F>, limit: f32, modulus: &Modulus) -> bool {
        let from = self.at.replace(*walk.to_field);
        let (true, Some(from)) = (self.is_valid, from) else { return false };
        let lipschitz = f64::from(modulus.lipschitz);
        self.decrease += lipschitz * largest_displacement(walk.shell, &from, walk.to_field);
        self.slack = self.slack.max(f64::from(walk.slack));
        let is_worn =
            self.decrease.is_nan() || self.decrease > MAX_MOTION * lipschitz * f64::from(walk.shell.tree.radius[0]);
        if is_worn || self.separated.len > GROWTH * self.root_separated + GROWTH_ALLOWANCE {
            return false;
        }
        let level = rounded_up(f64::from(limit) + self.decrease + self.error_bound(modulus));
        self.separated.expire(level, &mut self.expired);
        let is_useful = self.is_useful(self.expired.len() as u64);
        if !is_useful {
            self.record_use(false);
        }
        is_useful
    }

    fn is_useful(&self, tests: u64) -> bool {
        tests as f64 <= USEFUL_FRACTION * self.root_tests as f64
    }

    /// Sets the number of queries to wait after a query for which the cache was not useful; it doubles each time.
    fn record_use(&mut self, is_useful: bool) {
        self.useless = if is_useful { 0 } else { (self.useless + 1).min(MAX_WAIT_EXPONENT) };
        self.waiting = (1 << self.useless) - 1;
    }

    /// Reserves the capacity for any cache of this tree, so that later queries do not allocate.
    fn begin(&mut self, nodes: usize) {
        self.separated.clear(nodes);
        self.near.clear();
        self.near.reserve_guarded(nodes);
        self.expired.clear();
        self.expired.reserve_guarded(nodes);
        self.expired.push_guarded(0);
        self.levels.iter_mut().for_each(|level| level.clear(nodes));
    }

    /// Returns the error bound of a key, metres: the rounding ε of φ ([`Modulus`]), plus L times twice the rounding of
    /// the transform (when the key was made, and at present).
    fn error_bound(&self, modulus: &Modulus) -> f64 {
        modulus.rounding + 2.0 * f64::from(modulus.lipschitz) * self.slack
    }
}

wide! {
    /// Does the same as [`super::tree::collect`] with the traversal cache: same hits in the same order. Returns
    /// `None`, with nothing done, when that is not possible, or when it needs a new cache and `begin` is false.
    pub(super) fn collect<F: SignedDistance>(
        cache: &mut TraversalCache,
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
        cache.reach = cache.reach.max(reach);
        let modulus = field.modulus(cache.reach)?;
        cache.expired.clear();
        let is_new = !cache.advance(&walk, limit, &modulus);
        if is_new && !begin {
            cache.is_valid = false;
            return None;
        }
        if is_new {
            (cache.decrease, cache.reach, cache.slack) = (0.0, reach, f64::from(walk.slack));
            cache.begin(shell.tree.radius.len());
            cache.is_valid = cache.error_bound(&modulus).is_finite();
            if !cache.is_valid {
                return None;
            }
        }
        let (known, tests) = (cache.near.len(), stats.node_tests);
        if !cache.expired.is_empty() {
            cache.descend(&walk, limit, stats);
        }
        if cache.near.len() > known {
            cache.near.sort_unstable();
        }
        cache.test(&walk, limit, &modulus, hits, stats);
        let tests = stats.node_tests - tests;
        if is_new {
            (cache.root_separated, cache.root_tests) = (cache.separated.len, tests);
        } else {
            cache.record_use(cache.is_useful(tests));
        }
        Some(())
    }
}

impl TraversalCache {
    /// Descends from the nodes that may no longer be separated.
    #[inline(always)]
    fn descend<F: SignedDistance>(&mut self, walk: &Walk<F>, limit: f32, stats: &mut Stats) {
        let base = rounded_down(self.decrease);
        let tree = &walk.shell.tree;
        let Self { separated, near, expired, levels: [open, next], .. } = self;
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
            separated.push(|lane| nodes[lane], &lower, mask ^ ((1 << n) - 1), base);
        }
        while !open.as_slice().is_empty() {
            next.clear(0);
            for &node in open.as_slice() {
                let children = tree.child_count[node as usize];
                if children == 0 {
                    near.push_guarded(node);
                    continue;
                }
                for (first, n) in walk.children(node) {
                    stats.node_tests += n as u64;
                    let lower = walk.nodes(first, n);
                    let mask = at_most(&lower, limit, n);
                    next.push(|lane| (first + lane) as u32, mask);
                    separated.push(|lane| (first + lane) as u32, &lower, mask ^ ((1 << n) - 1), base);
                }
            }
            std::mem::swap(open, next);
        }
    }

    /// Tests the samples of the overlapping leaves. A leaf whose samples are all clearly above the level becomes
    /// separated.
    #[inline(always)]
    fn test<F: SignedDistance>(
        &mut self,
        walk: &Walk<F>,
        limit: f32,
        modulus: &Modulus,
        hits: &mut Vec<Hit>,
        stats: &mut Stats,
    ) {
        let base = rounded_down(self.decrease);
        // A leaf that is separated by less than the error bound would expire in the next query.
        let clear = limit + 4.0 * self.error_bound(modulus) as f32;
        let Self { separated, near, .. } = self;
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
                separated.push(|_| leaf, &[least; LANES], 1, base);
            } else {
                near[kept] = leaf;
                kept += 1;
            }
        }
        near.truncate(kept);
    }
}
