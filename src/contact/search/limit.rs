//! Traversal with limits: of the number of tests, of the time, or of the resolution. The samples found up to then are
//! contacts, and the part that was left out is bounded (Sagardia et al. 2014, sections 2.3 and 5).
//!
//! The traversal opens the node with the smallest lower bound of φ first, so the nodes left out are the least
//! important. A share of the limit is reserved for the nodes that cannot be opened any more: the representative
//! sample of each is tested. This spreads the answer over the whole contact instead of the part that was reached.

use std::collections::BinaryHeap;

use super::lanes::{Lanes, Walk};
use super::scratch::{Left, Node};
use crate::types::{Budget, Completeness};
use crate::workspace::Workspace;
use voxshell_base::math::clock::Instant;
use voxshell_base::math::RigidF32;
use voxshell_base::memory::HeapGuarded;
use voxshell_base::wide;
use voxshell_field::SignedDistance;
use voxshell_pointshell::PointShell;

/// Nodes opened, and representatives tested, between two readings of the clock.
const NODES_PER_LOOK: u32 = 8;
const SAMPLES_PER_LOOK: u64 = 64;

wide! {
    /// Appends samples with φ ≤ `limit` to `workspace.hits`, in ascending order: all of them, unless the budget ends
    /// the search. `start` is the time from which the budget counts.
    pub(super) fn collect<F: SignedDistance>(
        field: &F,
        shell: &PointShell,
        to_field: &RigidF32,
        limit: f32,
        budget: &Budget,
        start: Instant,
        workspace: &mut Workspace,
    ) -> Left {
        let tree = &shell.tree;
        if tree.radius.is_empty() {
            return Left::NOTHING;
        }
        if budget.tests == 0 {
            return Left { completeness: Completeness::Partial, least: f32::NEG_INFINITY, tests: 0 };
        }
        let walk = Walk::new(field, shell, to_field);
        let Workspace { frontier, hits, stats, .. } = workspace;
        let mut left = Left { tests: 1, ..Left::NOTHING };
        let (mut node_tests, mut opened) = (1, 0u32);
        frontier.clear();
        push(frontier, 0, &walk.nodes(0, 1), 1, f32::NEG_INFINITY, limit);
        while let Some(&node) = frontier.peek() {
            let n = node.index as usize;
            let (children, samples) = (tree.child_count[n] as usize, tree.sample_count[n] as usize);
            let stands = samples > 1 && f64::from(tree.radius[n]) <= budget.accuracy;
            let (cost, opens) = if stands {
                (1, 0)
            } else if children == 0 {
                (samples, 0)
            } else {
                (children, children)
            };
            let too_much = left.tests + (cost + opens + frontier.len() - 1) as u64 > budget.tests;
            if too_much || (opened % NODES_PER_LOOK == 0 && is_late(budget, start, left.tests, frontier.len())) {
                left.completeness = Completeness::Partial;
                left.least = left.least.min(node.lower);
                break;
            }
            frontier.pop();
            opened += 1;
            left.tests += cost as u64;
            if stands {
                left.completeness = Completeness::Coarse;
                left.least = left.least.min(node.lower);
                let sample = tree.representative[n] as usize;
                walk.samples(sample, 1).hits(sample, 1, limit, hits);
            } else if children == 0 {
                for (first, n) in walk.below(node.index) {
                    walk.samples(first, n).hits(first, n, limit, hits);
                }
            } else {
                node_tests += children as u64;
                for (first, n) in walk.children(node.index) {
                    push(frontier, first, &walk.nodes(first, n), n, node.lower, limit);
                }
            }
        }
        let mut stood = 0;
        while let Some(node) = frontier.pop() {
            let late = stood % SAMPLES_PER_LOOK == 0 && is_late(budget, start, left.tests, 0);
            if left.tests >= budget.tests || late {
                break;
            }
            let sample = tree.representative[node.index as usize] as usize;
            walk.samples(sample, 1).hits(sample, 1, limit, hits);
            (left.tests, stood) = (left.tests + 1, stood + 1);
        }
        hits.sort_unstable_by_key(|hit| hit.sample);
        stats.node_tests += node_tests;
        stats.sample_tests += left.tests - node_tests;
        left
    }
}

/// Adds those of `n` nodes whose lower bound is at most `limit`. The samples below a node are below its parent too,
/// so the higher of both bounds holds.
#[inline(always)]
fn push(frontier: &mut BinaryHeap<Node>, first: usize, lower: &Lanes, n: usize, above: f32, limit: f32) {
    for (i, &lower) in lower.iter().enumerate().take(n) {
        if lower <= limit {
            frontier.push_guarded(Node { lower: lower.max(above), index: (first + i) as u32 });
        }
    }
}

/// Returns whether testing `open` representatives, at the pace so far, would exceed the time.
fn is_late(budget: &Budget, start: Instant, tests: u64, open: usize) -> bool {
    if budget.nanoseconds == u64::MAX {
        return false;
    }
    let elapsed = start.elapsed().as_nanos() as f64;
    elapsed * (1.0 + open as f64 / tests as f64) >= budget.nanoseconds as f64
}
