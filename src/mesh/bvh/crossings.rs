//! Points at which the edges of one mesh pass through the triangles of another.
//!
//! Every point in which two surfaces intersect lies on a segment that ends where an edge passes through a triangle, so
//! no intersection is without such a crossing.

use super::dual::{boxes_are_apart, Placement};
use super::front::descend;
use super::near::gap_between;
use super::node::Node;
use super::{Bvh, Front};
use crate::triangle::Corners;
use voxshell_base::math::Vec3;
use voxshell_base::memory::{filled, map_with_capacity, CollectGuarded, GrowGuarded};

/// The edges of a mesh, and the triangle that tests each.
#[derive(Clone, Debug, Default)]
pub struct Edges {
    /// Corners of each edge, the lower number first.
    ends: Vec<[u32; 2]>,
    /// Corners of each triangle, in leaf order.
    corners: Vec<[u32; 3]>,
    /// Number of the edge from corner i to corner i + 1, in leaf order.
    numbers: Vec<[u32; 3]>,
    /// In leaf order: bit i is set if the triangle is the one that tests its corner i, bit 3 + i if it is the one that tests
    /// the edge from corner i to corner i + 1, bit 6 + i if that edge is not in the middle of a flat face either.
    tested: Vec<u16>,
}

/// A point at which an edge of one mesh passes through a triangle of the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Whether the edge is of the second mesh.
    pub of_second: bool,
    /// Number of the edge in its mesh.
    pub edge: u32,
    /// Position on the edge, from 0 at the corner with the lower number to 1 at the other.
    pub at: f64,
    /// Index of the triangle of the other mesh.
    pub triangle: u32,
}

impl Edges {
    /// Returns the edges of the mesh with these `triangles`, over which `bvh` was built.
    pub fn new(bvh: &Bvh, triangles: &[[u32; 3]]) -> Self {
        let corners: Vec<[u32; 3]> = (0..bvh.len()).map(|k| triangles[bvh.id(k) as usize]).collect_guarded();
        let mut known = map_with_capacity(3 * corners.len() / 2);
        let mut ends: Vec<[u32; 2]> = Vec::new();
        let mut tested = filled(0u16, corners.len());
        let numbers = corners.iter().zip(&mut tested).map(|(c, tested)| {
            [0, 1, 2].map(|i| {
                let (a, b) = (c[i], c[(i + 1) % 3]);
                let edge = [a.min(b), a.max(b)];
                *known.entry(edge).or_insert_with(|| {
                    *tested |= Wanted::All.bit(i) | Wanted::Rims.bit(i);
                    ends.push_guarded(edge);
                    ends.len() as u32 - 1
                })
            })
        });
        let numbers = numbers.collect_guarded();
        let most = corners.iter().flatten().max().map_or(0, |v| *v as usize + 1);
        let mut met = filled(false, most);
        let mut meet = |v: u32| !std::mem::replace(&mut met[v as usize], true);
        for (c, tested) in corners.iter().zip(&mut tested) {
            *tested |= (0..3).filter(|&i| meet(c[i])).fold(0u16, |bits, i| bits | 1 << i);
        }
        Self { ends, corners, numbers, tested }
    }

    /// Names the edges in the middle of flat faces, which a search for [`Wanted::Rims`] leaves out: where two flat faces meet,
    /// they share a segment that ends at the rim of one of them.
    pub fn set_in_faces(&mut self, is_in_face: impl Fn([u32; 2]) -> bool) {
        for (tested, numbers) in self.tested.iter_mut().zip(&self.numbers) {
            for i in 0..3 {
                let is_tested = *tested & Wanted::All.bit(i) != 0;
                if is_tested && is_in_face(self.ends[numbers[i] as usize]) {
                    *tested &= !Wanted::Rims.bit(i);
                }
            }
        }
    }

    /// Returns the memory held, bytes.
    pub fn bytes(&self) -> u64 {
        let numbers = size_of_val(&*self.ends) + size_of_val(&*self.corners) + size_of_val(&*self.numbers);
        (numbers + size_of_val(&*self.tested)) as u64
    }

    /// Returns the number of the edge from corner i to corner i + 1 of a triangle, in leaf order.
    pub fn number(&self, k: u32, i: usize) -> u32 {
        self.numbers[k as usize][i]
    }

    /// Returns the same if the triangle tests the edge.
    pub fn tested_by(&self, k: u32, i: usize) -> Option<u32> {
        self.wanted(Wanted::All, k as usize, i)
    }

    /// Returns the same if the edge is wanted too.
    #[inline(always)]
    fn wanted(&self, wanted: Wanted, k: usize, i: usize) -> Option<u32> {
        (self.tested[k] & wanted.bit(i) != 0).then(|| self.numbers[k][i])
    }

    /// Returns the number of corner i of a triangle, in leaf order, if the triangle tests it. It then tests the edge that
    /// begins there too.
    pub fn corner_tested_by(&self, k: u32, i: usize) -> Option<u32> {
        (self.tested[k as usize] & 1 << i != 0).then(|| self.corners[k as usize][i])
    }

    /// Returns the corners of an edge, the lower number first.
    pub fn ends(&self, edge: u32) -> [u32; 2] {
        self.ends[edge as usize]
    }

    /// Returns the number of edges.
    pub fn count(&self) -> usize {
        self.ends.len()
    }
}

/// Rounding of a product of three lengths, relative.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Which edges are searched for crossings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    All,
    /// Without those in the middle of flat faces ([`Edges::set_in_faces`]).
    Rims,
}

impl Wanted {
    /// Returns the bit in [`Edges::tested`] of the edge from corner i to corner i + 1.
    #[inline(always)]
    fn bit(self, i: usize) -> u16 {
        match self {
            Wanted::All => 8 << i,
            Wanted::Rims => 64 << i,
        }
    }
}

/// Calls `found` with each crossing of a `wanted` edge of either mesh through a triangle of the other. `placement` takes the
/// first mesh to the frame of the second. Touching counts as crossing, and so does a gap of the size of rounding; an edge
/// in the plane of a triangle does not cross it. With a `front` the order is another one. Returns the number of tests.
pub fn crossings(
    (first, first_edges): (&Bvh, &Edges),
    (second, second_edges): (&Bvh, &Edges),
    placement: &Placement,
    wanted: Wanted,
    front: Option<&mut Front>,
    mut found: impl FnMut(Crossing),
) -> u64 {
    let meshes = [(first, first_edges), (second, second_edges)];
    let mut triangle_tests = 0;
    let node_tests = match front {
        Some(front) => descend([first, second], placement, 0.0, Some(front), |a, b| {
            of_leaves::<true>(meshes, placement, wanted, [a, b], &mut triangle_tests, &mut found)
        }),
        None => descend([first, second], placement, 0.0, None, |a, b| {
            of_leaves::<false>(meshes, placement, wanted, [a, b], &mut triangle_tests, &mut found)
        }),
    };
    node_tests + triangle_tests
}

/// The crossings of the triangles of two leaves. `REMEMBERS`: returns a lower bound of the distance between the triangles;
/// otherwise 0. It is a constant because the bounds, though unused, slowed the test down.
#[inline(always)]
fn of_leaves<const REMEMBERS: bool>(
    [(first, first_edges), (second, second_edges)]: [(&Bvh, &Edges); 2],
    placement: &Placement,
    wanted: Wanted,
    [a, b]: [&Node; 2],
    tests: &mut u64,
    found: &mut impl FnMut(Crossing),
) -> f64 {
    let mut least = f64::INFINITY;
    let (min, max) = (Vec3::from(b.min), Vec3::from(b.max));
    for ka in a.triangles() {
        let t = placement.place_corners(&first.corners[ka]);
        let (low, high) = (t[0].inf(&t[1]).inf(&t[2]), t[0].sup(&t[1]).sup(&t[2]));
        if boxes_are_apart(&low, &high, &min, &max) {
            if REMEMBERS {
                least = least.min(gap_between(&low, &high, &min, &max));
            }
            continue;
        }
        let plane = Plane::of(&t);
        if plane.is_apart(&min, &max) {
            if REMEMBERS {
                least = least.min(plane.gap(&min, &max));
            }
            continue;
        }
        for kb in b.triangles() {
            let u = &second.corners[kb];
            *tests += 1;
            let (lower, upper) = (u[0].inf(&u[1]).inf(&u[2]), u[0].sup(&u[1]).sup(&u[2]));
            if boxes_are_apart(&low, &high, &lower, &upper) {
                if REMEMBERS {
                    least = least.min(gap_between(&low, &high, &lower, &upper));
                }
                continue;
            }
            let under = plane.sides(u);
            if is_beside(&under) {
                if REMEMBERS {
                    least = least.min(plane.least(u));
                }
                continue;
            }
            let own = Plane::of(u);
            let over = own.sides(&t);
            if is_beside(&over) {
                if REMEMBERS {
                    least = least.min(own.least(&t));
                }
                continue;
            }
            least = 0.0;
            for (edge, at) in edges_through((first_edges, wanted), ka, &t, u, over) {
                found(Crossing { of_second: false, edge, at, triangle: second.id(kb) });
            }
            for (edge, at) in edges_through((second_edges, wanted), kb, u, &t, under) {
                found(Crossing { of_second: true, edge, at, triangle: first.id(ka) });
            }
        }
    }
    if REMEMBERS {
        least
    } else {
        0.0
    }
}

/// The plane of a triangle.
pub(super) struct Plane {
    origin: Vec3,
    /// Of twice the triangle's area, m².
    normal: Vec3,
    /// Rounding of a volume over the triangle, per distance from the origin, m².
    rounding: f64,
}

impl Plane {
    #[inline]
    pub fn of(triangle: &Corners) -> Self {
        let (ab, ac) = (triangle[1] - triangle[0], triangle[2] - triangle[0]);
        Self { origin: triangle[0], normal: ab.cross(&ac), rounding: ab.amax() * ac.amax() * ROUNDING }
    }

    /// Returns six times the volumes of the tetrahedra of each corner of `t` over the triangle; 0 within rounding.
    #[inline]
    fn sides(&self, t: &Corners) -> [f64; 3] {
        [self.side(&t[0]), self.side(&t[1]), self.side(&t[2])]
    }

    #[inline(always)]
    fn side(&self, p: &Vec3) -> f64 {
        let d = p - self.origin;
        let volume = d.dot(&self.normal);
        if volume.abs() <= self.rounding * d.amax() {
            0.0
        } else {
            volume
        }
    }

    /// Returns whether a box is on one side of the plane, clear of rounding: then so is each triangle in it.
    #[inline]
    fn is_apart(&self, min: &Vec3, max: &Vec3) -> bool {
        let (middle, half) = (0.5 * (min + max) - self.origin, 0.5 * (max - min));
        let reach = self.normal.abs().dot(&half) + 4.0 * self.rounding * (middle.amax() + half.amax());
        middle.dot(&self.normal).abs() > reach
    }

    /// Returns a lower bound of the distance of a box that is on one side of the plane, metres.
    fn gap(&self, min: &Vec3, max: &Vec3) -> f64 {
        let (middle, half) = (0.5 * (min + max) - self.origin, 0.5 * (max - min));
        let volume = middle.dot(&self.normal).abs() - self.normal.abs().dot(&half);
        self.height(volume, middle.amax() + half.amax())
    }

    /// Returns a lower bound of the distance of a triangle that is on one side of the plane, metres.
    fn least(&self, t: &Corners) -> f64 {
        t.iter().fold(f64::INFINITY, |least, p| {
            let d = p - self.origin;
            least.min(self.height(d.dot(&self.normal).abs(), d.amax()))
        })
    }

    /// Returns a lower bound of the distance of a triangle, metres: 0 if the plane passes through it.
    #[inline]
    pub fn gap_to(&self, t: &Corners) -> f64 {
        if is_beside(&self.sides(t)) {
            self.least(t)
        } else {
            0.0
        }
    }

    /// Returns the height of a tetrahedron over the triangle from six times its volume, less what rounding may add.
    fn height(&self, volume: f64, distance: f64) -> f64 {
        let area = self.normal.norm() + 4.0 * self.rounding;
        if area > 0.0 {
            ((volume - 4.0 * self.rounding * distance) / area).max(0.0)
        } else {
            0.0
        }
    }
}

fn is_beside(sides: &[f64; 3]) -> bool {
    let [a, b, c] = *sides;
    (a > 0.0 && b > 0.0 && c > 0.0) || (a < 0.0 && b < 0.0 && c < 0.0)
}

/// Returns the wanted edges that triangle `k`, with corners `own`, tests and that cross the triangle `through`, each with the
/// position. `sides` are those of `own` over `through`.
fn edges_through<'a>(
    (edges, wanted): (&'a Edges, Wanted),
    k: usize,
    own: &'a Corners,
    through: &'a Corners,
    sides: [f64; 3],
) -> impl Iterator<Item = (u32, f64)> + 'a {
    (0..3usize).filter_map(move |i| {
        let edge = edges.wanted(wanted, k, i)?;
        let (numbers, j) = (edges.corners[k], (i + 1) % 3);
        let (i, j) = if numbers[i] < numbers[j] { (i, j) } else { (j, i) };
        let (from, to) = (sides[i], sides[j]);
        if (from > 0.0 && to > 0.0) || (from < 0.0 && to < 0.0) || (from == 0.0 && to == 0.0) {
            return None;
        }
        // The line passes through the triangle if it passes all three sides in the same sense.
        let (p, along) = (&own[i], own[j] - own[i]);
        let relative = [through[0] - p, through[1] - p, through[2] - p];
        let mut senses = (false, false);
        for m in 0..3 {
            let (a, b) = (&relative[m], &relative[(m + 1) % 3]);
            let volume = along.dot(&a.cross(b));
            let rounding = ROUNDING * along.amax() * a.amax() * b.amax();
            senses.0 |= volume > rounding;
            senses.1 |= volume < -rounding;
        }
        (!(senses.0 && senses.1)).then(|| (edge, from / (from - to)))
    })
}
