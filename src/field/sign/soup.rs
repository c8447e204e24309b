//! Repair of a triangle soup for the sign rules: equal corners joined, duplicates dropped, neighbours wound
//! consistently, closed parts turned outward. Shapes never change, only the set of triangles that count and their
//! winding.

use rayon::prelude::*;

use super::Boundary;
use voxshell_base::math::{Aabb, Vec3};
use voxshell_base::memory::{filled, map_with_capacity, set_with_capacity, with_capacity, CollectGuarded, GrowGuarded};
use voxshell_mesh::{count_repeats, rotated, sorted_by_bucket, TriMesh};

/// Topology of the repaired soup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topology {
    /// Every edge is used equally often in both directions: the winding number is an integer.
    Oriented,
    /// Every edge has an even number of triangles, but they cannot be wound consistently.
    Even,
    /// There is a border.
    Open,
}

/// The triangles that count for the sign.
pub(super) struct Soup {
    /// Corners, no two equal.
    pub vertices: Vec<[f64; 3]>,
    /// Triangles; none has two equal corners.
    pub triangles: Vec<[u32; 3]>,
    /// Number of triangles that each of them stands for; empty where all are 1.
    pub weights: Vec<u32>,
    pub topology: Topology,
    /// Whether no triangle had to be flipped.
    pub consistent: bool,
    /// Number of given triangles that repeat an earlier one: same corners, same winding.
    pub duplicates: u64,
    pub flipped: u64,
}

type Corners = [u32; 3];

fn edges(t: &Corners) -> [(u32, u32); 3] {
    [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])]
}

/// Joins corners with bit-equal coordinates (0 and −0 are equal), and drops triangles with two equal corners.
fn weld(mesh: &TriMesh) -> (Vec<[f64; 3]>, Vec<Corners>) {
    let mut place = map_with_capacity(mesh.vertices.len());
    let mut vertices = with_capacity(mesh.vertices.len());
    let new: Vec<u32> = mesh
        .vertices
        .iter()
        .map(|v| {
            *place.entry(v.map(|x| (x + 0.0).to_bits())).or_insert_with(|| {
                vertices.push_guarded(*v);
                vertices.len() as u32 - 1
            })
        })
        .collect_guarded();
    let triangles = mesh
        .triangles
        .iter()
        .map(|t| t.map(|i| new[i as usize]))
        .filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0])
        .collect_guarded();
    (vertices, triangles)
}

/// One side of a triangle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Side {
    /// Smaller corner, larger corner.
    edge: (u32, u32),
    triangle: u32,
    /// Whether the side goes from the larger corner to the smaller.
    backward: bool,
}

/// Returns all sides, grouped by edge.
pub(super) fn sides(triangles: &[Corners]) -> Vec<Side> {
    let mut sides = with_capacity(triangles.len() * 3);
    for (t, corners) in (0..).zip(triangles) {
        let side = |(a, b): (u32, u32)| Side { edge: (a.min(b), a.max(b)), triangle: t, backward: a > b };
        sides.extend_guarded(edges(corners).map(side));
    }
    let vertices = triangles.iter().flatten().max().map_or(0, |&v| v as usize + 1);
    sorted_by_bucket(sides, vertices, |side| side.edge.0)
}

/// Returns the sides of each edge.
fn by_edge(sides: &[Side]) -> impl Iterator<Item = &[Side]> {
    sides.chunk_by(|a, b| a.edge == b.edge)
}

/// Returns the difference of the uses of an edge in its two directions.
fn imbalance(sides: &[Side]) -> u32 {
    let backward = sides.iter().filter(|s| s.backward).count();
    backward.abs_diff(sides.len() - backward) as u32
}

fn topology(sides: &[Side]) -> Topology {
    if by_edge(sides).all(|s| imbalance(s) == 0) {
        Topology::Oriented
    } else if by_edge(sides).all(|s| s.len() % 2 == 0) {
        Topology::Even
    } else {
        Topology::Open
    }
}

/// Keeps the first of the triangles that have the same three corners.
fn without_duplicates(triangles: &[Corners]) -> Vec<Corners> {
    let mut seen = set_with_capacity(triangles.len());
    let key = |t: &Corners| {
        let mut k = *t;
        k.sort_unstable();
        k
    };
    triangles.iter().filter(|t| seen.insert(key(t))).copied().collect_guarded()
}

/// Returns the connected parts, joined over edges that have exactly two triangles, each of which `joins`: the part number of
/// each triangle, whether the triangle is wound against the first of its part, and the number of parts.
pub(super) fn parts(triangles: &[Corners], sides: &[Side], joins: impl Fn(u32) -> bool) -> (Vec<u32>, Vec<bool>, u32) {
    // Neighbour across each side of each triangle.
    let mut across = filled([u32::MAX; 3], triangles.len());
    for pair in by_edge(sides) {
        let [a, b] = pair else { continue };
        if !joins(a.triangle) || !joins(b.triangle) {
            continue;
        }
        for (own, other) in [(a, b), (b, a)] {
            let t = own.triangle as usize;
            let is_it = |&(p, q): &(u32, u32)| (p.min(q), p.max(q)) == own.edge;
            if let Some(e) = edges(&triangles[t]).iter().position(is_it) {
                across[t][e] = other.triangle;
            }
        }
    }
    let (mut part, mut against) = (filled(u32::MAX, triangles.len()), filled(false, triangles.len()));
    let mut count = 0;
    let mut stack = Vec::new();
    for first in 0..triangles.len() {
        if part[first] != u32::MAX {
            continue;
        }
        part[first] = count;
        stack.push_guarded(first);
        while let Some(t) = stack.pop() {
            for (edge, other) in edges(&triangles[t]).into_iter().zip(across[t]) {
                let other = other as usize;
                if part.get(other) != Some(&u32::MAX) {
                    continue;
                }
                part[other] = count;
                // Neighbours agree when they use their edge in opposite directions.
                let same_way = edges(&triangles[other]).contains(&edge);
                against[other] = against[t] ^ same_way;
                stack.push_guarded(other);
            }
        }
        count += 1;
    }
    (part, against, count)
}

fn flip(t: &mut Corners) {
    t.swap(1, 2);
}

impl Soup {
    pub fn new(mesh: &TriMesh) -> Self {
        let (vertices, given) = weld(mesh);
        // Includes the repeats that are kept, of a surface that is oriented as given: each of its layers counts once
        // in the winding number.
        let duplicates = count_repeats(&given).0 as u64;
        let mut soup = Self {
            vertices,
            triangles: given,
            weights: Vec::new(),
            topology: Topology::Open,
            consistent: true,
            duplicates,
            flipped: 0,
        };
        let mut all = sides(&soup.triangles);
        soup.topology = topology(&all);
        if soup.topology != Topology::Oriented {
            soup.triangles = without_duplicates(&soup.triangles);
            soup.agree(&sides(&soup.triangles));
            all = sides(&soup.triangles);
            soup.topology = topology(&all);
        } else if soup.join_repeats() {
            all = sides(&soup.triangles);
        }
        soup.turn_outward(&all);
        soup
    }

    /// Joins the triangles with the same three corners into one with a weight; drops them where both windings are
    /// equally frequent. Winding numbers do not change. Returns false when there are no repeats.
    fn join_repeats(&mut self) -> bool {
        let mut keys: Vec<(Corners, u32, bool)> = with_capacity(self.triangles.len());
        for (t, corners) in (0..).zip(&self.triangles) {
            let mut key = *corners;
            key.sort_unstable();
            let [a, b, c] = rotated(*corners);
            keys.push_guarded((key, t, [a, b, c] != key));
        }
        let keys = sorted_by_bucket(keys, self.vertices.len(), |key| key.0[0]);
        let alike = || keys.chunk_by(|a, b| a.0 == b.0);
        if alike().all(|group| group.len() == 1) {
            return false;
        }
        let mut kept: Vec<(u32, u32)> = Vec::new();
        for group in alike() {
            let turned = group.iter().filter(|k| k.2).count();
            let net = group.len().abs_diff(2 * turned);
            let most = 2 * turned > group.len();
            kept.extend_guarded(group.iter().find(|k| net > 0 && k.2 == most).map(|k| (k.1, net as u32)));
        }
        kept.par_sort_unstable();
        self.triangles = kept.iter().map(|k| self.triangles[k.0 as usize]).collect_guarded();
        self.weights = kept.into_iter().map(|k| k.1).collect_guarded();
        true
    }

    fn area(&self, t: &Corners) -> f64 {
        let [a, b, c] = t.map(|i| Vec3::from(self.vertices[i as usize]));
        (b - a).cross(&(c - a)).norm() * 0.5
    }

    /// Flips the triangles of each part that are in the minority by area.
    fn agree(&mut self, sides: &[Side]) {
        let (part, against, count) = parts(&self.triangles, sides, |_| true);
        let mut area = filled([0.0; 2], count as usize);
        for (t, corners) in self.triangles.iter().enumerate() {
            area[part[t] as usize][usize::from(against[t])] += self.area(corners);
        }
        for (t, corners) in self.triangles.iter_mut().enumerate() {
            let minority = area[part[t] as usize][1] <= area[part[t] as usize][0];
            if against[t] == minority {
                flip(corners);
                self.flipped += 1;
            }
        }
        self.consistent = self.flipped == 0;
    }

    /// Flips each closed part of negative volume, unless it bounds a cavity in another part: only parts that are
    /// inside no other, by the winding number of the others at one of its corners. Flips the open parts together if
    /// they face inward.
    fn turn_outward(&mut self, all: &[Side]) {
        let (part, _, count) = parts(&self.triangles, all, |_| true);
        let mut members: Vec<Vec<u32>> = filled(Vec::new(), count as usize);
        for (t, &p) in part.iter().enumerate() {
            members[p as usize].push_guarded(t as u32);
        }
        struct Part {
            members: Vec<u32>,
            closed: bool,
            volume: f64,
            bounds: Aabb,
        }
        let at = |i: u32| Vec3::from(self.vertices[i as usize]);
        let parts: Vec<Part> = members
            .into_iter()
            .map(|members| {
                let own: Vec<Corners> = members.iter().map(|&t| self.triangles[t as usize]).collect_guarded();
                let mut bounds = Aabb::empty();
                own.iter().flatten().for_each(|&i| bounds.include(&at(i)));
                let o = bounds.center();
                let six = |t: &Corners| (at(t[0]) - o).dot(&(at(t[1]) - o).cross(&(at(t[2]) - o)));
                let volume = own.iter().map(six).sum::<f64>();
                let closed =
                    count == 1 && self.topology == Topology::Oriented || topology(&sides(&own)) == Topology::Oriented;
                Part { members, closed, volume, bounds }
            })
            .collect_guarded();
        let mut turned: Vec<usize> = Vec::new();
        for (p, inner) in parts.iter().enumerate() {
            if !(inner.closed && inner.volume < 0.0) {
                continue;
            }
            let corner = at(self.triangles[inner.members[0] as usize][0]);
            let around = parts.iter().enumerate().filter(|(q, outer)| {
                *q != p
                    && outer.closed
                    && outer.bounds.contains(&inner.bounds.min)
                    && outer.bounds.contains(&inner.bounds.max)
            });
            // Each counts once, in either winding.
            let depth: f64 = around
                .map(|(_, outer)| {
                    let solid = outer.members.iter().map(|&t| solid_angle(self.triangles[t as usize].map(at), corner));
                    (solid.sum::<f64>() / (4.0 * std::f64::consts::PI)).abs().round()
                })
                .sum();
            if depth == 0.0 {
                turned.push_guarded(p);
            }
        }
        // Open parts may be pieces of one body, so all are flipped or none: by the volume of the cones over them.
        let open: Vec<usize> = (0..parts.len()).filter(|&p| !parts[p].closed).collect_guarded();
        let triangles = || open.iter().flat_map(|&p| &parts[p].members).map(|&t| self.triangles[t as usize].map(at));
        let (mut area, mut moment) = (0.0, Vec3::zeros());
        for [a, b, c] in triangles() {
            let weight = (b - a).cross(&(c - a)).norm();
            area += weight;
            moment += (a + b + c) * weight;
        }
        let o = moment / (3.0 * area);
        let volume: f64 = triangles().map(|[a, b, c]| (a - o).dot(&(b - o).cross(&(c - o)))).sum();
        if volume < -1e-6 * area * area.sqrt() {
            turned.extend_guarded(open);
        }
        for p in turned {
            for &t in &parts[p].members {
                flip(&mut self.triangles[t as usize]);
            }
            let weight = |&t: &u32| u64::from(self.weights.get(t as usize).map_or(1, |&w| w));
            self.flipped += parts[p].members.iter().map(weight).sum::<u64>();
        }
    }

    /// Returns the edges that are used unequally often in their two directions.
    pub fn boundary(&self) -> Boundary {
        if self.topology == Topology::Oriented {
            return Boundary::new(Vec::new());
        }
        let all = sides(&self.triangles);
        let open = by_edge(&all).map(|s| (s[0].edge, imbalance(s))).filter(|&(_, n)| n > 0);
        let at = |i: u32| Vec3::from(self.vertices[i as usize]);
        Boundary::new(open.map(|((a, b), n)| ([at(a), at(b)], n)).collect_guarded())
    }
}

/// Returns the solid angle of a triangle seen from `p`, positive from behind (van Oosterom & Strackee 1983).
fn solid_angle(t: [Vec3; 3], p: Vec3) -> f64 {
    let [a, b, c] = t.map(|v| v - p);
    let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
    let det = a.dot(&b.cross(&c));
    let div = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
    2.0 * libm::atan2(det, div)
}
