//! Filtered edge collapse under convexity constraints, and merging of patches (Otaduy & Lin 2003, sections 4.2-4.4).
//!
//! Edges are collapsed in order of their resolution, which is one over the length. The new vertex goes to the filtered
//! position: the minimum of the quadrics of the edge, moved towards the mean of the vertices around it. There, every patch
//! that changes must still be convex: locally, at the edges around the vertex, and globally, with all its corners on or
//! below the planes of all its triangles. Where the filtered position violates a constraint, bisection between it and a
//! position that meets all of them finds a compromise. An edge without one is invalid until a neighbour changes. After
//! each collapse, patches around the vertex merge if their union is convex.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::lattice::{difference, normal, side, Point};
use super::quadric::Quadric;
use super::surface::Surface;
use voxshell_base::math::{Progress, Work};
use voxshell_base::memory::{filled, GrowGuarded, HeapGuarded, RoomGuarded};
use voxshell_base::Result;

/// Part of the way from the minimum of the quadrics to the mean of the surrounding vertices: the filter.
const FILTER: f64 = 0.125;
/// Halvings of the way between a position that meets the constraints and the filtered one.
const BISECTIONS: usize = 4;
/// Largest number of tests of a corner against a plane to find whether two patches may merge.
const MOST_MERGE_TESTS: usize = 1 << 21;

/// An edge in the queue: squared length, ends, and the versions of the ends.
type Entry = Reverse<(i128, u32, u32, u32, u32)>;

pub struct Collapser<'a> {
    pub surface: Surface,
    quadrics: Vec<Quadric>,
    /// Changes of each vertex; older entries of the queue are stale.
    versions: Vec<u32>,
    queue: BinaryHeap<Entry>,
    /// Edges that could not be collapsed and had no change around them since.
    failed: HashSet<(u32, u32)>,
    /// For pairs of patches that could not merge: a triangle and the corner above it.
    obstacles: HashMap<(u32, u32), (u32, u32)>,
    /// Squared length of the longest edge that was collapsed, lattice steps.
    pub longest: i128,
    scratch: Scratch,
    work: Work<'a>,
}

#[derive(Default)]
struct Scratch {
    /// Triangles around the edge that remain, those that vanish, and patches of the former.
    kept: Vec<u32>,
    /// The patch of each of `kept`.
    kept_patches: Vec<u32>,
    removed: Vec<u32>,
    patches: Vec<u32>,
    is_collected: bool,
    /// Triangles and corners of all `patches`, one after another, and where each patch's end.
    faces: Vec<u32>,
    corners: Vec<u32>,
    ends: Vec<(usize, usize)>,
    rings: [Vec<u32>; 2],
    some: Vec<u32>,
    pairs: Vec<(u32, u32)>,
}

impl<'a> Collapser<'a> {
    pub fn new(surface: Surface, progress: &'a Progress<'a>) -> Self {
        let count = surface.points.len();
        let mut quadrics = filled(Quadric::default(), count);
        for (f, corners) in surface.faces.iter().enumerate() {
            let [a, b, c] = surface.corners(f as u32);
            let own = Quadric::of_triangle(a, b, c);
            corners.iter().for_each(|&v| quadrics[v as usize].add(&own));
        }
        let mut this = Self {
            surface,
            quadrics,
            versions: filled(0, count),
            queue: BinaryHeap::new(),
            failed: HashSet::new(),
            obstacles: HashMap::new(),
            longest: 0,
            scratch: Scratch::default(),
            work: Work::new(progress),
        };
        let mut ring = Vec::new();
        for v in 0..count as u32 {
            this.surface.ring(v, &mut ring);
            ring.iter().filter(|&&x| x > v).for_each(|&x| this.push(v, x));
        }
        this
    }

    fn push(&mut self, u: u32, v: u32) {
        let (u, v) = (u.min(v), u.max(v));
        let d = difference(&self.surface.points[u as usize], &self.surface.points[v as usize]);
        let squared = d.iter().map(|&x| i128::from(x) * i128::from(x)).sum();
        self.queue.push_guarded(Reverse((squared, u, v, self.versions[u as usize], self.versions[v as usize])));
    }

    /// Collapses the next edge that can be. Returns false if none can.
    pub fn step(&mut self) -> Result<bool> {
        while let Some(Reverse((squared, u, v, at_u, at_v))) = self.queue.pop() {
            if self.versions[u as usize] != at_u || self.versions[v as usize] != at_v {
                continue;
            }
            let Some(position) = self.position(u, v)? else {
                self.failed.reserve_guarded(1);
                self.failed.insert((u, v));
                continue;
            };
            self.longest = self.longest.max(squared);
            self.apply(u, v, position)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Returns the position of the vertex to which an edge collapses, if there is one that meets all constraints.
    fn position(&mut self, u: u32, v: u32) -> Result<Option<Point>> {
        self.work.add(64)?;
        if !self.is_collapsible(u, v) {
            return Ok(None);
        }
        let t = &mut self.scratch;
        t.kept_patches.clear();
        for &f in &t.kept {
            t.kept_patches.push_guarded(self.surface.patch_of(f));
        }
        t.is_collected = false;
        let s = &self.surface;
        let (p, q) = (s.points[u as usize], s.points[v as usize]);
        let middle = [0, 1, 2].map(|k| (p[k] + q[k]).div_euclid(2));
        let fixed = if s.is_fixed[u as usize] { Some(p) } else { s.is_fixed[v as usize].then_some(q) };
        if let Some(only) = fixed {
            return Ok(self.is_feasible(u, v, &only)?.then_some(only));
        }
        let target = self.filtered(u, v, &middle);
        if self.is_feasible(u, v, &target)? {
            return Ok(Some(target));
        }
        for start in [middle, p, q] {
            if !self.is_feasible(u, v, &start)? {
                continue;
            }
            let (mut good, mut bad) = (start, target);
            for _ in 0..BISECTIONS {
                let half = [0, 1, 2].map(|k| (good[k] + bad[k]).div_euclid(2));
                if self.is_feasible(u, v, &half)? {
                    good = half;
                } else {
                    bad = half;
                }
            }
            return Ok(Some(good));
        }
        Ok(None)
    }

    /// Collects the triangles around an edge. Returns whether a collapse keeps the surface a manifold there.
    fn is_collapsible(&mut self, u: u32, v: u32) -> bool {
        let (s, t) = (&self.surface, &mut self.scratch);
        if s.is_fixed[u as usize] && s.is_fixed[v as usize] {
            return false;
        }
        t.kept.clear();
        t.removed.clear();
        for (one, other) in [(u, v), (v, u)] {
            for &f in &s.fans[one as usize] {
                match s.faces[f as usize].contains(&other) {
                    false => t.kept.push_guarded(f),
                    true if one == u => t.removed.push_guarded(f),
                    true => {}
                }
            }
        }
        let [ring_u, ring_v] = &mut t.rings;
        s.ring(u, ring_u);
        s.ring(v, ring_v);
        let common = ring_u.iter().filter(|x| ring_v.binary_search(x).is_ok()).count();
        // The link condition, and no tetrahedron.
        t.removed.len() == 2 && common == 2 && ring_u.len() + ring_v.len() > 6
    }

    /// Collects the triangles and corners of the patches that would change.
    fn collect_patches(&mut self) {
        let (s, t) = (&mut self.surface, &mut self.scratch);
        t.patches.clear();
        t.is_collected = true;
        for &patch in &t.kept_patches {
            if !t.patches.contains(&patch) {
                t.patches.push_guarded(patch);
            }
        }
        t.faces.clear();
        t.corners.clear();
        t.ends.clear();
        for i in 0..t.patches.len() {
            t.faces.extend_guarded(s.alive_members(t.patches[i]).iter().copied());
            let from = t.ends.last().map_or(0, |e| e.0);
            s.vertices_of(&t.faces[from..], &mut t.some);
            t.corners.append_guarded(&mut t.some);
            t.ends.push_guarded((t.faces.len(), t.corners.len()));
        }
    }

    fn filtered(&self, u: u32, v: u32, middle: &Point) -> Point {
        let s = &self.surface;
        let d = difference(&s.points[u as usize], &s.points[v as usize]).map(|x| x as f64);
        let length = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
        let mut sum = self.quadrics[u as usize];
        sum.add(&self.quadrics[v as usize]);
        let best = sum.minimum(middle, length).unwrap_or(*middle);
        let around = self.scratch.rings.iter().flatten().filter(|&&x| x != u && x != v);
        let (total, count) = around.fold(([0i128; 3], 0), |(total, count), &x| {
            let p = s.points[x as usize];
            ([0, 1, 2].map(|k| total[k] + i128::from(p[k])), count + 1)
        });
        [0, 1, 2].map(|k| {
            let mean = (total[k] / count.max(1)) as f64;
            let from = best[k] as f64;
            (from + FILTER * (mean - from)).round() as i64
        })
    }

    /// Returns whether the edge may collapse to a position: no triangle turns over, and the patches are convex around the
    /// new vertex.
    fn is_locally_feasible(&self, u: u32, v: u32, w: &Point) -> bool {
        let (s, t) = (&self.surface, &self.scratch);
        let at = |x: u32| if x == u || x == v { w } else { &s.points[x as usize] };
        t.kept.iter().zip(&t.kept_patches).all(|(&f, patch)| {
            let [a, b, c] = s.corners(f);
            let before = normal(a, b, c).map(|x| x as f64);
            let plane = s.faces[f as usize].map(at);
            let after = normal(plane[0], plane[1], plane[2]).map(|x| x as f64);
            let around = t.kept.iter().zip(&t.kept_patches).filter(|(_, other)| *other == patch);
            let mut corners = around.flat_map(|(&g, _)| s.faces[g as usize]).filter(|&x| x != u && x != v);
            (0..3).map(|k| before[k] * after[k]).sum::<f64>() > 0.0 && corners.all(|x| side(plane, at(x)) <= 0)
        })
    }

    /// Returns whether the edge may collapse to a position: also all of each patch that changes stays convex.
    fn is_feasible(&mut self, u: u32, v: u32, w: &Point) -> Result<bool> {
        if !self.is_locally_feasible(u, v, w) {
            return Ok(false);
        }
        if !self.scratch.is_collected {
            self.collect_patches();
        }
        let (s, t) = (&self.surface, &self.scratch);
        let at = |x: u32| if x == u || x == v { w } else { &s.points[x as usize] };
        let (mut first_face, mut first_corner) = (0, 0);
        for &(face_end, corner_end) in &t.ends {
            let faces = &t.faces[first_face..face_end];
            let corners = &t.corners[first_corner..corner_end];
            (first_face, first_corner) = (face_end, corner_end);
            self.work.add(faces.len() as u64)?;
            for &f in faces {
                let ids = s.faces[f as usize];
                let moves = ids.iter().any(|&x| x == u || x == v);
                if !moves {
                    if side(ids.map(|x| &s.points[x as usize]), w) > 0 {
                        return Ok(false);
                    }
                } else if !t.removed.contains(&f) {
                    self.work.add(corners.len() as u64)?;
                    let plane = ids.map(at);
                    if corners.iter().any(|&x| x != u && x != v && side(plane, &s.points[x as usize]) > 0) {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    fn apply(&mut self, u: u32, v: u32, w: Point) -> Result<()> {
        let removed = [self.scratch.removed[0], self.scratch.removed[1]];
        for f in removed {
            let (s, t) = (&mut self.surface, &self.scratch);
            let patch = s.patch_of(f);
            // A patch without triangles becomes part of a patch beside it.
            if s.alive_members(patch).iter().all(|m| removed.contains(m)) {
                let corners = s.faces[f as usize];
                let third = corners.into_iter().find(|x| *x != u && *x != v).unwrap_or(u);
                let beside = t.kept.iter().find(|&&k| s.faces[k as usize].contains(&third));
                if let Some(&beside) = beside {
                    let into = s.patch_of(beside);
                    if into != patch {
                        s.merge(patch, into);
                    }
                }
            }
        }
        let s = &mut self.surface;
        removed.iter().for_each(|&f| s.remove_face(f));
        s.move_fan(v, u);
        s.points[u as usize] = w;
        s.is_fixed[u as usize] |= s.is_fixed[v as usize];
        let other = self.quadrics[v as usize];
        self.quadrics[u as usize].add(&other);
        self.versions[u as usize] += 1;
        self.versions[v as usize] += 1;
        self.merge_around(u)?;
        // Edges around the vertex have new lengths, and those of its ring new constraints: all are valid again.
        let mut ring = std::mem::take(&mut self.scratch.rings[0]);
        self.surface.ring(u, &mut ring);
        for &x in &ring {
            self.failed.remove(&(u.min(x), u.max(x)));
            self.push(u, x);
        }
        for i in 0..self.surface.fans[u as usize].len() {
            let f = self.surface.fans[u as usize][i];
            let c = self.surface.faces[f as usize];
            let at = c.iter().position(|&x| x == u).unwrap_or(0);
            let (a, b) = (c[(at + 1) % 3], c[(at + 2) % 3]);
            if self.failed.remove(&(a.min(b), a.max(b))) {
                self.push(a, b);
            }
        }
        self.scratch.rings[0] = ring;
        Ok(())
    }

    /// Merges patches on both sides of the edges around a vertex while their unions are convex.
    fn merge_around(&mut self, u: u32) -> Result<()> {
        let mut pairs = std::mem::take(&mut self.scratch.pairs);
        pairs.clear();
        for i in 0..self.surface.fans[u as usize].len() {
            let f = self.surface.fans[u as usize][i];
            let c = self.surface.faces[f as usize];
            for k in 0..3 {
                if let Some(g) = self.surface.across(f, c[k], c[(k + 1) % 3]) {
                    pairs.push_guarded((f.min(g), f.max(g)));
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        for &(f, g) in &pairs {
            let (p, q) = (self.surface.patch_of(f), self.surface.patch_of(g));
            if p != q && self.can_merge(p.min(q), p.max(q))? {
                self.surface.merge(p.max(q), p.min(q));
            }
        }
        self.scratch.pairs = pairs;
        Ok(())
    }

    fn can_merge(&mut self, p: u32, q: u32) -> Result<bool> {
        let s = &mut self.surface;
        if let Some(&(f, x)) = self.obstacles.get(&(p, q)) {
            if s.is_alive(f) && s.side_of(f, &s.points[x as usize]) > 0 {
                let own = s.patch_of(f);
                let other = if own == p { q } else { p };
                let mut is_in_other = false;
                for i in 0..s.fans[x as usize].len() {
                    is_in_other |= s.patch_of(s.fans[x as usize][i]) == other;
                }
                if is_in_other && [p, q].contains(&own) {
                    return Ok(false);
                }
            }
        }
        let t = &mut self.scratch;
        for (one, other) in [(p, q), (q, p)] {
            t.faces.clear();
            t.faces.extend_guarded(s.alive_members(one).iter().copied());
            t.kept.clear();
            t.kept.extend_guarded(s.alive_members(other).iter().copied());
            s.vertices_of(&t.kept, &mut t.corners);
            if t.faces.len() * t.corners.len() > MOST_MERGE_TESTS {
                return Ok(false);
            }
            for &f in &t.faces {
                self.work.add(t.corners.len() as u64)?;
                if let Some(&x) = t.corners.iter().find(|&&x| s.side_of(f, &s.points[x as usize]) > 0) {
                    self.obstacles.reserve_guarded(1);
                    self.obstacles.insert((p, q), (f, x));
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
