//! Samples of what sticks out: corners always, sharp edges along their length. What is not sampled can sink in.

use super::grid::PointGrid;
use super::surface::{angle, Surface};
use super::Sample;
use crate::math::Vec3;

/// Nearer than this times the spacing, a sample on an edge is left out: noisy meshes have edges in clumps.
const LEAST_DISTANCE: f64 = 0.35;
/// Segments longer than this times the spacing have both ends sampled.
const LONG_SEGMENT: f64 = 0.7;
/// A sample on an edge moves to a vertex of the edge this near, as a fraction of the step.
const SNAP: f64 = 0.3;
/// An edge that turns by more has a corner there, radians, whatever the sharp angle.
const CORNER_TURN: f64 = std::f64::consts::FRAC_PI_4;

/// The surface's sharp edges, joined into polylines between corners.
pub(super) struct Creases {
    /// Vertices where three or more sharp edges meet or one turns, and tips.
    pub corners: Vec<u32>,
    chains: Vec<Chain>,
}

struct Chain {
    vertices: Vec<u32>,
    /// Of each segment.
    normals: Vec<Vec3>,
    ends: End,
    length: f64,
}

#[derive(PartialEq)]
enum End {
    /// At least one end is a corner.
    Corner,
    /// Both ends fade out.
    Loose,
    /// Begins and ends at the same vertex, which is not a corner.
    Loop,
}

impl Creases {
    pub fn new(surface: &Surface, sharp_angle: f64) -> Self {
        let turn = sharp_angle.min(CORNER_TURN);
        let mut edges_at: Vec<Vec<u32>> = vec![vec![]; surface.vertices.len()];
        for (e, edge) in surface.sharp.iter().enumerate() {
            edge.ends.iter().for_each(|&i| edges_at[i as usize].push(e as u32));
        }
        let other_end = |e: u32, v: u32| {
            let [a, b] = surface.sharp[e as usize].ends;
            if a == v {
                b
            } else {
                a
            }
        };
        let at = |i: u32| surface.vertices[i as usize];
        let is_corner = |v: usize| match edges_at[v][..] {
            [] => surface.is_tip[v],
            [_] => false,
            [e, f] => {
                let v = v as u32;
                angle(&(at(v) - at(other_end(e, v))), &(at(other_end(f, v)) - at(v))) > turn
            }
            _ => true,
        };
        let corner: Vec<bool> = (0..surface.vertices.len()).map(is_corner).collect();
        let mut used = vec![false; surface.sharp.len()];
        let walk = |start: u32, first: u32, used: &mut [bool]| {
            let mut chain = Chain { vertices: vec![start], normals: vec![], ends: End::Loose, length: 0.0 };
            let (mut v, mut e) = (start, first);
            loop {
                used[e as usize] = true;
                let next = other_end(e, v);
                chain.vertices.push(next);
                chain.normals.push(surface.sharp[e as usize].normal);
                chain.length += (at(next) - at(v)).norm();
                v = next;
                let onward = edges_at[v as usize].iter().find(|&&e| !used[e as usize]);
                match onward {
                    Some(&on) if !corner[v as usize] => e = on,
                    _ => break,
                }
            }
            if corner[v as usize] || corner[start as usize] {
                chain.ends = End::Corner;
            } else if v == start {
                chain.ends = End::Loop;
            }
            chain
        };
        // First what has ends, then what is left: closed loops.
        let mut starts: Vec<(u32, u32)> = vec![];
        for (v, edges) in edges_at.iter().enumerate() {
            if corner[v] || edges.len() == 1 {
                starts.extend(edges.iter().map(|&e| (v as u32, e)));
            }
        }
        starts.extend(surface.sharp.iter().enumerate().map(|(e, edge)| (edge.ends[0], e as u32)));
        let mut chains = vec![];
        for (v, e) in starts {
            if !used[e as usize] {
                chains.push(walk(v, e, &mut used));
            }
        }
        let corners = (0..surface.vertices.len() as u32).filter(|&v| corner[v as usize]).collect();
        Self { corners, chains }
    }

    /// Total length, metres.
    pub fn length(&self) -> f64 {
        self.chains.iter().map(|c| c.length).sum()
    }

    /// All corners, then samples along the chains at most `spacing` metres apart.
    pub fn samples(&self, surface: &Surface, spacing: f64) -> Vec<Sample> {
        let at = |i: u32| surface.at_vertex(i);
        let mut samples: Vec<Sample> = self.corners.iter().map(|&v| at(v)).collect();
        let reach = LEAST_DISTANCE * spacing;
        let mut taken = PointGrid::new(reach, samples.len());
        samples.iter().for_each(|s| taken.insert(s.p));
        for chain in &self.chains {
            for s in chain.samples(surface, spacing, at) {
                let mut is_free = true;
                taken.near(&s.p, reach, |_, _| is_free = false);
                if is_free {
                    taken.insert(s.p);
                    samples.push(s);
                }
            }
        }
        samples
    }
}

impl Chain {
    fn samples(&self, surface: &Surface, spacing: f64, at: impl Fn(u32) -> Sample) -> Vec<Sample> {
        let last = self.normals.len();
        if self.length < spacing && self.ends == End::Corner {
            return vec![];
        }
        if self.length < spacing && self.ends == End::Loose {
            let prominence = |&&v: &&u32| surface.prominence[v as usize];
            let best = self.vertices.iter().max_by(|a, b| prominence(a).total_cmp(&prominence(b)));
            return best.map(|&v| at(v)).into_iter().collect();
        }
        let place = |k: usize| surface.vertices[self.vertices[k] as usize];
        let length = |k: usize| (place(k + 1) - place(k)).norm();
        let is_long = |k: usize| length(k) >= LONG_SEGMENT * spacing;
        let mut samples = vec![at(self.vertices[0])];
        let mut from = 0;
        for to in 1..=last {
            // A station: where a long segment begins or ends, or the chain.
            if to == last || is_long(to - 1) || is_long(to) {
                self.run(surface, spacing, from, to, &at, &mut samples);
                samples.push(at(self.vertices[to]));
                from = to;
            }
        }
        samples
    }

    /// Samples strictly between two vertices of the chain, at equal steps of arc length, moved to vertices nearby.
    fn run(
        &self,
        surface: &Surface,
        spacing: f64,
        from: usize,
        to: usize,
        at: impl Fn(u32) -> Sample,
        samples: &mut Vec<Sample>,
    ) {
        let place = |k: usize| surface.vertices[self.vertices[k] as usize];
        let total: f64 = (from..to).map(|k| (place(k + 1) - place(k)).norm()).sum();
        let parts = (total / spacing).ceil().max(1.0);
        let step = total / parts;
        let (mut segment, mut begin) = (from, 0.0);
        for j in 1..parts as usize {
            let wanted = total * j as f64 / parts;
            let mut length = (place(segment + 1) - place(segment)).norm();
            while begin + length < wanted && segment + 1 < to {
                begin += length;
                segment += 1;
                length = (place(segment + 1) - place(segment)).norm();
            }
            let (back, ahead) = (wanted - begin, begin + length - wanted);
            let (nearest, vertex) = if back < ahead { (back, segment) } else { (ahead, segment + 1) };
            samples.push(if nearest <= SNAP * step && vertex != from && vertex != to {
                at(self.vertices[vertex])
            } else {
                let t = (back / length).clamp(0.0, 1.0);
                let component = surface.component[self.vertices[from] as usize];
                Sample { p: place(segment).lerp(&place(segment + 1), t), n: self.normals[segment], component }
            });
        }
    }
}
