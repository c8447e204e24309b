//! The descent of two hierarchies, resumed: the pairs of nodes at which the last one ended are kept, each with the gap
//! between them, and until the meshes have moved by that gap the next one ends there again (Li & Chen 1998, "Incremental 3D
//! Collision Detection with Hierarchical Data Structures"; Weller & Zachmann 2006, "Kinetic Separation Lists for Continuous
//! Collision Detection of Deformable Objects").

use super::dual::{self, is_split_first, Pairs, Placement, Separation};
use super::node::Node;
use super::Bvh;
use voxshell_base::memory::{GrowGuarded, RoomGuarded};

/// Largest number of ends: 48 KB. A descent with more begins at the roots each time.
const MOST: usize = 4096;

/// A front with this many times the ends of a descent from the roots, and [`FEW`] more, is given up: the meshes have left
/// the place where it is fine.
const GROWN: usize = 2;
const FEW: usize = 64;

/// After a descent from the roots that had too many ends, this many descents keep none: their bounds would be found in vain.
const PAUSE: u32 = 64;

/// Rounding of a gap, as a fraction of the largest coordinates.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// A pair of nodes at which descents end.
#[derive(Clone, Copy, Debug)]
struct End {
    first: u32,
    second: u32,
    /// The gap between the nodes, metres, and the motion up to which it was that.
    until: f32,
}

/// The ends of descents of the same two meshes at about the same distance. Descents find the same pairs of triangles with
/// and without it, in another order.
#[derive(Clone, Debug, Default)]
pub struct Front {
    /// Whether descents use it.
    pub is_used: bool,
    ends: Vec<End>,
    /// The least `until` of the ends.
    soonest: f32,
    /// How far the meshes have moved since the descent from the roots, metres.
    moved: f64,
    /// Number of ends of that descent.
    first_count: usize,
    /// Number of descents that are to keep nothing.
    pause: u32,
}

impl Front {
    /// Returns it if it is used.
    pub fn used(&mut self) -> Option<&mut Self> {
        if self.is_used && self.pause > 0 {
            self.pause -= 1;
            return None;
        }
        self.is_used.then_some(self)
    }

    /// Begins again, with other meshes.
    pub fn clear(&mut self) {
        self.begin();
        self.pause = 0;
    }

    /// Begins again at the roots.
    fn begin(&mut self) {
        self.ends.clear();
        self.moved = 0.0;
    }

    /// Notes that since the last descent no point of one mesh has moved by more than `distance`, metres, in the frame of
    /// the other.
    pub fn moved_by(&mut self, distance: f64) {
        self.moved += distance;
    }

    /// See [`descend`].
    fn descend(
        &mut self,
        [first, second]: [&Bvh; 2],
        placement: &Placement,
        distance: f64,
        leaves: &mut dyn FnMut(&Node, &Node) -> f64,
    ) -> u64 {
        if first.is_empty() || second.is_empty() {
            return 0;
        }
        let separation = Separation::new(placement, distance);
        let size =
            |bvh: &Bvh| bvh.nodes[0].min.iter().chain(&bvh.nodes[0].max).fold(0.0, |most: f64, x| most.max(x.abs()));
        let rounding = ROUNDING * (placement.translation.amax() + size(first) + size(second));
        if self.ends.len() > GROWN * self.first_count + FEW {
            self.begin();
        }
        if !self.ends.is_empty() && f64::from(self.soonest) - self.moved > distance {
            return 0;
        }
        self.soonest = f32::INFINITY;
        let is_cold = self.ends.is_empty();
        if is_cold {
            self.moved = 0.0;
            self.ends.push_guarded(End { first: 0, second: 0, until: f32::NEG_INFINITY });
        }
        let mut pairs = Pairs::new();
        let (mut kept, mut tests, mut is_full) = (0, 0, false);
        // New ends come after those of the last descent.
        let count = self.ends.len();
        for k in 0..count {
            let end = self.ends[k];
            if f64::from(end.until) - self.moved > distance {
                self.soonest = self.soonest.min(end.until);
                self.ends[kept] = end;
                kept += 1;
                continue;
            }
            pairs.push((end.first, end.second));
            while let Some((i, j)) = pairs.pop() {
                let (a, b) = (&first.nodes[i as usize], &second.nodes[j as usize]);
                tests += 1;
                let mut gap = separation.gap_squared(&separation.placed(a), b).sqrt();
                if gap <= distance {
                    if a.count == 0 || b.count == 0 {
                        // The first child is on top of the stack.
                        if is_split_first(a, b) {
                            pairs.push((a.first + 1, j));
                            pairs.push((a.first, j));
                        } else {
                            pairs.push((i, b.first + 1));
                            pairs.push((i, b.first));
                        }
                        continue;
                    }
                    gap = leaves(a, b);
                }
                // There is room for all that a front may have, so that only a descent from the roots allocates.
                is_full |= kept + self.ends.len() - count >= MOST;
                is_full |= !is_cold && self.ends.len() == self.ends.capacity();
                if !is_full {
                    let until = rounded_down(self.moved + gap - rounding);
                    self.soonest = self.soonest.min(until);
                    self.ends.push_guarded(End { first: i, second: j, until });
                }
            }
        }
        self.ends.copy_within(count.., kept);
        self.ends.truncate(self.ends.len() - (count - kept));
        if is_full {
            self.begin();
            self.pause = if is_cold { PAUSE } else { 0 };
        }
        if is_cold {
            self.first_count = self.ends.len();
            self.ends.reserve_guarded(GROWN * self.first_count + FEW);
        }
        tests
    }
}

/// Calls `leaves` with each pair of leaves whose boxes are not farther apart than `distance`, metres, and perhaps with a
/// few that are; with a `front` only with those whose triangles may not be. `leaves` returns a lower bound of the distance
/// between the triangles, which only a front needs. `placement` takes the first hierarchy to the frame of the second.
/// Returns the number of tests of boxes.
pub(super) fn descend(
    meshes: [&Bvh; 2],
    placement: &Placement,
    distance: f64,
    front: Option<&mut Front>,
    mut leaves: impl FnMut(&Node, &Node) -> f64,
) -> u64 {
    match front {
        Some(front) => front.descend(meshes, placement, distance, &mut leaves),
        None => dual::descend(meshes, placement, distance, leaves),
    }
}

fn rounded_down(x: f64) -> f32 {
    let single = x as f32;
    single - single.abs() * f32::EPSILON
}
