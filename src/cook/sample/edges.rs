//! Samples of protruding features: all corners, and sharp edges along their length. Unsampled features can penetrate
//! the other body.

use super::grid::PointGrid;
use super::surface::{angle, DisjointSets, Surface};
use super::types::Sample;
use voxshell_base::math::{Aabb, Progress, Vec3, Work};
use voxshell_base::memory::{filled, CollectGuarded, GrowGuarded, SliceGuarded};
use voxshell_base::Result;
use voxshell_mesh::TriMesh;

/// A sample on an edge that is nearer to another than this times the spacing is left out: noisy meshes have clumps of
/// edges.
const LEAST_DISTANCE: f64 = 0.35;
/// Segments longer than this times the spacing have both ends sampled.
const LONG_SEGMENT: f64 = 0.7;
/// A sample on an edge moves to a vertex of the edge this near, as a fraction of the step.
const SNAP: f64 = 0.3;
/// Angle, radians, above which a turn of an edge is a corner, for any sharp angle.
const CORNER_TURN: f64 = std::f64::consts::FRAC_PI_4;

/// A network of sharp edges that fits in a box with a diagonal shorter than this times the spacing is a detail.
const DETAIL: f64 = 0.5;
/// Two samples on edges are independent when their normals' cosine is below this: the edges of a thin plate.
const SAME_SIDE: f64 = 0.5;

/// Sharp edges of the surface, joined into polylines between corners.
pub(super) struct Creases {
    corners: Vec<Corner>,
    chains: Vec<Chain>,
    networks: Vec<Network>,
}

/// A vertex where three or more sharp edges meet or one turns, or a tip.
struct Corner {
    vertex: u32,
    network: u32,
}

/// A connected set of sharp edges.
struct Network {
    diagonal: f64,
    most_prominent: u32,
}

struct Chain {
    network: u32,
    vertices: Vec<u32>,
    /// Normal of each segment.
    normals: Vec<Vec3>,
    ends: End,
    length: f64,
}

#[derive(PartialEq)]
enum End {
    /// At least one end is a corner.
    Corner,
    /// Both ends are open: the edge stops being sharp.
    Loose,
    /// Begins and ends at the same vertex, which is not a corner.
    Loop,
}

impl Creases {
    pub fn new(surface: &Surface, sharp_angle: f64) -> Self {
        let turn = sharp_angle.min(CORNER_TURN);
        let mut edges_at: Vec<Vec<u32>> = filled(Vec::new(), surface.vertices.len());
        for (e, edge) in surface.sharp.iter().enumerate() {
            edge.ends.iter().for_each(|&i| edges_at[i as usize].push_guarded(e as u32));
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
        let corner: Vec<bool> = (0..surface.vertices.len()).map(is_corner).collect_guarded();
        let mut used = filled(false, surface.sharp.len());
        let walk = |start: u32, first: u32, used: &mut [bool]| {
            let mut chain =
                Chain { network: 0, vertices: vec![start], normals: Vec::new(), ends: End::Loose, length: 0.0 };
            let (mut v, mut e) = (start, first);
            loop {
                used[e as usize] = true;
                let next = other_end(e, v);
                chain.vertices.push_guarded(next);
                chain.normals.push_guarded(surface.sharp[e as usize].normal);
                chain.length += (at(next) - at(v)).norm();
                v = next;
                // At a corner there may be any number of edges; elsewhere there are one or two.
                if corner[v as usize] {
                    break;
                }
                match edges_at[v as usize].iter().find(|&&e| !used[e as usize]) {
                    Some(&on) => e = on,
                    None => break,
                }
            }
            if corner[v as usize] || corner[start as usize] {
                chain.ends = End::Corner;
            } else if v == start {
                chain.ends = End::Loop;
            }
            chain
        };
        // First the chains with ends, then the rest: closed loops.
        let mut starts: Vec<(u32, u32)> = Vec::new();
        for (v, edges) in edges_at.iter().enumerate() {
            if corner[v] || edges.len() == 1 {
                starts.extend_guarded(edges.iter().map(|&e| (v as u32, e)));
            }
        }
        starts.extend_guarded(surface.sharp.iter().enumerate().map(|(e, edge)| (edge.ends[0], e as u32)));
        let mut chains = Vec::new();
        for (v, e) in starts {
            if !used[e as usize] {
                chains.push_guarded(walk(v, e, &mut used));
            }
        }
        let (network, networks) = networks(surface);
        chains.iter_mut().for_each(|c| c.network = network[c.vertices[0] as usize]);
        let at_vertex = |vertex: u32| Corner { vertex, network: network[vertex as usize] };
        let corners =
            (0..surface.vertices.len() as u32).filter(|&v| corner[v as usize]).map(at_vertex).collect_guarded();
        Self { corners, chains, networks }
    }

    /// Returns whether the mesh has neither corners nor sharp edges.
    pub fn is_empty(&self) -> bool {
        self.corners.is_empty() && self.chains.is_empty()
    }

    /// Returns corners and sharp edges as triangles without area, body frame: the set that the samples must cover.
    pub fn as_mesh(&self, surface: &Surface) -> TriMesh {
        let edges = self.chains.iter().flat_map(|c| c.vertices.windows(2)).map(|e| [e[0], e[1], e[1]]);
        TriMesh {
            vertices: surface.vertices.iter().map(|v| (v + surface.center).into()).collect_guarded(),
            triangles: edges.chain(self.corners.iter().map(|c| [c.vertex; 3])).collect_guarded(),
        }
    }

    /// Returns the total length, metres.
    pub fn length(&self) -> f64 {
        self.chains.iter().map(|c| c.length).sum()
    }

    /// Largest number of samples of a chain for each spacing of its length: both ends of long segments, and the steps.
    pub const MOST_PER_STEP: f64 = 2.0 / LONG_SEGMENT + 1.0;

    /// Returns an upper bound on the number of samples at this spacing.
    pub fn most_samples(&self, spacing: f64) -> f64 {
        // Both ends of each chain, and of each long segment; the steps between them.
        let steps = |length: f64| if spacing > 0.0 { length / spacing } else { 0.0 };
        let along = |c: &Chain| 2.0 + Self::MOST_PER_STEP * steps(c.length);
        self.corners.len() as f64 + self.networks.len() as f64 + self.chains.iter().map(along).sum::<f64>()
    }

    /// Returns the corners that are always sampled, except those of details; `thin` leaves out corners next to
    /// others.
    pub fn corner_samples(
        &self,
        surface: &Surface,
        spacing: f64,
        thin: bool,
        progress: &Progress,
    ) -> Result<Vec<Sample>> {
        Ok(self.take_corners(surface, spacing, thin, &mut Work::new(progress))?.samples)
    }

    fn take_corners(&self, surface: &Surface, spacing: f64, thin: bool, work: &mut Work) -> Result<Taken> {
        let mut taken = Taken::new(LEAST_DISTANCE * spacing, self.corners.len());
        for corner in self.corners.iter().filter(|c| !self.is_detail(c.network, spacing)) {
            let s = surface.at_vertex(corner.vertex);
            work.add(1)?;
            if !thin || taken.is_free(&s, work)? {
                taken.add(s);
            }
        }
        Ok(taken)
    }

    /// Returns all corners, then samples along the chains at most `spacing` metres apart. A network that is only a
    /// detail at this spacing, such as the noise of a scan, gets its most prominent vertex. `thin` leaves out corners
    /// next to others.
    pub fn samples(&self, surface: &Surface, spacing: f64, thin: bool, progress: &Progress) -> Result<Vec<Sample>> {
        let mut work = Work::new(progress);
        let mut taken = self.take_corners(surface, spacing, thin, &mut work)?;
        let chains = self.chains.iter().filter(|c| !self.is_detail(c.network, spacing));
        let along = chains.flat_map(|c| c.samples(surface, spacing));
        let details = (0..self.networks.len()).filter(|&n| self.is_detail(n as u32, spacing));
        for s in along.chain(details.map(|n| surface.at_vertex(self.networks[n].most_prominent))) {
            if taken.is_free(&s, &mut work)? {
                taken.add(s);
            }
        }
        Ok(taken.samples)
    }

    fn is_detail(&self, network: u32, spacing: f64) -> bool {
        self.networks[network as usize].diagonal < DETAIL * spacing
    }
}

/// Samples so far, and a grid of their positions.
struct Taken {
    samples: Vec<Sample>,
    grid: PointGrid,
    reach: f64,
}

impl Taken {
    fn new(reach: f64, expected: usize) -> Self {
        Self { samples: Vec::new(), grid: PointGrid::new(reach, expected), reach }
    }

    fn is_free(&self, s: &Sample, work: &mut Work) -> Result<bool> {
        let (is_taken, looked_at) =
            self.grid.any_near(&s.p, self.reach, |i| self.samples[i as usize].n.dot(&s.n) >= SAME_SIDE);
        work.add(1 + looked_at)?;
        Ok(!is_taken)
    }

    fn add(&mut self, s: Sample) {
        self.grid.insert(s.p);
        self.samples.push_guarded(s);
    }
}

/// Returns the connected networks of sharp edges, and the network of each vertex. A tip is a network of its own, and
/// never a detail.
fn networks(surface: &Surface) -> (Vec<u32>, Vec<Network>) {
    let mut sets = DisjointSets::new(surface.vertices.len());
    surface.sharp.iter().for_each(|e| sets.join(e.ends[0], e.ends[1]));
    let mut is_used = surface.is_tip.to_vec_guarded();
    surface.sharp.iter().for_each(|e| is_used[e.ends[0] as usize] = true);
    surface.sharp.iter().for_each(|e| is_used[e.ends[1] as usize] = true);
    let (number, _) = sets.numbered();
    let mut index = filled(u32::MAX, surface.vertices.len());
    let mut boxes: Vec<Aabb> = Vec::new();
    let mut networks: Vec<Network> = Vec::new();
    let mut of_vertex = filled(u32::MAX, surface.vertices.len());
    for v in (0..surface.vertices.len()).filter(|&v| is_used[v]) {
        let slot = &mut index[number[v] as usize];
        if *slot == u32::MAX {
            *slot = networks.len() as u32;
            boxes.push_guarded(Aabb::empty());
            networks.push_guarded(Network { diagonal: 0.0, most_prominent: v as u32 });
        }
        of_vertex[v] = *slot;
        let (bounds, network) = (&mut boxes[*slot as usize], &mut networks[*slot as usize]);
        bounds.include(&surface.vertices[v]);
        network.diagonal = if surface.is_tip[v] { f64::INFINITY } else { bounds.extents().norm() };
        if surface.prominence[v] > surface.prominence[network.most_prominent as usize] {
            network.most_prominent = v as u32;
        }
    }
    (of_vertex, networks)
}

impl Chain {
    fn samples(&self, surface: &Surface, spacing: f64) -> Vec<Sample> {
        let at = |v: u32| surface.at_vertex(v);
        let last = self.normals.len();
        if self.length < spacing && self.ends == End::Corner {
            return Vec::new();
        }
        if self.length < spacing && self.ends == End::Loose {
            let prominence = |&&v: &&u32| surface.prominence[v as usize];
            let best = self.vertices.iter().max_by(|a, b| prominence(a).total_cmp(&prominence(b)));
            return best.map(|&v| at(v)).into_iter().collect_guarded();
        }
        let place = |k: usize| surface.vertices[self.vertices[k] as usize];
        let length = |k: usize| (place(k + 1) - place(k)).norm();
        let is_long = |k: usize| length(k) >= LONG_SEGMENT * spacing;
        let mut samples = vec![at(self.vertices[0])];
        let mut from = 0;
        for to in 1..=last {
            // A station: the beginning or end of a long segment, or of the chain.
            if to == last || is_long(to - 1) || is_long(to) {
                self.run(surface, spacing, from, to, &mut samples);
                samples.push_guarded(at(self.vertices[to]));
                from = to;
            }
        }
        samples
    }

    /// Appends samples strictly between two vertices of the chain, at equal steps of arc length, moved to vertices
    /// nearby.
    fn run(&self, surface: &Surface, spacing: f64, from: usize, to: usize, samples: &mut Vec<Sample>) {
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
            samples.push_guarded(if nearest <= SNAP * step && vertex != from && vertex != to {
                surface.at_vertex(self.vertices[vertex])
            } else {
                let t = (back / length).clamp(0.0, 1.0);
                let component = surface.component[self.vertices[from] as usize];
                let p = place(segment).lerp(&place(segment + 1), t);
                Sample { p, n: self.normals[segment], component, is_sharp: true }
            });
        }
    }
}
