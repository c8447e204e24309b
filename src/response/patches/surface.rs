//! The contact surface as polygons: marching tetrahedra over the cells, cut where the overlap ends.

use super::cells::{Leaf, Overlap, Scratch, CORNERS};
use voxshell_base::math::Vec3;
use voxshell_base::memory::GrowGuarded;

/// Number of steps of the search for the end of the overlap on an edge: bisection and regula falsi in turn.
const ROOT_STEPS: usize = 6;

/// Most corners of a polygon: a quadrangle and one cut.
pub(super) const MOST_CORNERS: usize = 6;

/// Corners of the six tetrahedra of a cell, which share the diagonal from corner 0 to corner 7. Neighbouring cells divide their
/// common face alike.
const TETRAHEDRA: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 1, 5, 7], [0, 2, 3, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 4, 6, 7]];

/// A corner of a polygon, in the frame of the grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    pub at: Vec3,
    /// Overlap −φ of A − φ of B, metres.
    pub overlap: f64,
    /// Whether the edge to the next corner is a part of the outline.
    pub ends: bool,
}

/// A flat piece of the contact surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polygon {
    pub leaf: u32,
    pub count: usize,
    pub corners: [Corner; MOST_CORNERS],
    /// Unit normal from A to B.
    pub normal: Vec3,
}

/// An edge of a polygon on which the overlap ends, between a point within and a point beyond.
struct Cut {
    polygon: u32,
    edge: usize,
    within: (Vec3, f64),
    beyond: (Vec3, f64),
}

#[derive(Default)]
pub(super) struct Cuts(Vec<Cut>);

impl Overlap<'_> {
    /// Appends the polygons of all cells in the overlap, uncut, with the overlap at each corner.
    pub fn polygons(&self, leaves: &[Leaf], scratch: &mut Scratch, polygons: &mut Vec<Polygon>) {
        for (i, leaf) in leaves.iter().enumerate() {
            self.march(i as u32, leaf, polygons);
        }
        scratch.points.clear();
        for corner in polygons.iter().flat_map(|p| &p.corners[..p.count]) {
            scratch.points.push(corner.at.into_f32());
        }
        self.evaluate(scratch);
        let mut next = 0;
        for polygon in polygons {
            for corner in &mut polygon.corners[..polygon.count] {
                corner.overlap = -f64::from(scratch.phi[0][next]) - f64::from(scratch.phi[1][next]);
                next += 1;
            }
        }
    }

    /// Appends the polygons of one cell.
    fn march(&self, index: u32, leaf: &Leaf, polygons: &mut Vec<Polygon>) {
        let level: [f64; CORNERS] = std::array::from_fn(|i| self.level(leaf.phi[0][i], leaf.phi[1][i]));
        let places: [Vec3; CORNERS] = std::array::from_fn(|i| {
            let corner =
                [0, 1, 2].map(|k| f64::from(leaf.cell.at[k]) + f64::from(leaf.cell.edge * (i as u32 >> k & 1)));
            self.place(corner).into()
        });
        // The lower corner first: the same point in all cells around the edge.
        let crossing = |i: usize, j: usize| {
            let (i, j) = (i.min(j), i.max(j));
            let t = level[i] / (level[i] - level[j]);
            // The very point of the grid, so that all cells around it find each other.
            let at = if level[j] == 0.0 { places[j] } else { places[i] + (places[j] - places[i]) * t };
            Corner { at, overlap: 0.0, ends: false }
        };
        for tetrahedron in TETRAHEDRA {
            let (mut below, mut above) = ([0; 4], [0; 4]);
            let (mut m, mut n) = (0, 0);
            for i in tetrahedron {
                if level[i] < 0.0 {
                    below[m] = i;
                    m += 1;
                } else {
                    above[n] = i;
                    n += 1;
                }
            }
            let mut corners = [Corner { at: Vec3::zeros(), overlap: 0.0, ends: false }; MOST_CORNERS];
            let count = match (m, n) {
                (1, 3) => {
                    (0..3).for_each(|k| corners[k] = crossing(below[0], above[k]));
                    3
                }
                (3, 1) => {
                    (0..3).for_each(|k| corners[k] = crossing(below[k], above[0]));
                    3
                }
                (2, 2) => {
                    corners[0] = crossing(below[0], above[0]);
                    corners[1] = crossing(below[0], above[1]);
                    corners[2] = crossing(below[1], above[1]);
                    corners[3] = crossing(below[1], above[0]);
                    4
                }
                _ => continue,
            };
            let area = (corners[1].at - corners[0].at).cross(&(corners[2].at - corners[0].at))
                + if count == 4 {
                    (corners[2].at - corners[0].at).cross(&(corners[3].at - corners[0].at))
                } else {
                    Vec3::zeros()
                };
            let Some(normal) = area.try_normalize(0.0) else { continue };
            let turned = normal.dot(&(places[above[0]] - places[below[0]])) < 0.0;
            polygons.push_guarded(Polygon {
                leaf: index,
                count,
                corners,
                normal: if turned { -normal } else { normal },
            });
        }
    }

    /// Cuts polygons to the overlap, and removes those beyond it. Where the overlap ends on an edge is searched in the fields
    /// themselves: between samples of the grid the overlap can have a kink, as at the edge of a box.
    pub fn cut(&self, scratch: &mut Scratch, Cuts(cuts): &mut Cuts, polygons: &mut Vec<Polygon>) {
        polygons.retain(|p| p.corners[..p.count].iter().any(|c| c.overlap > 0.0));
        cuts.clear();
        for (i, polygon) in polygons.iter().enumerate() {
            for edge in 0..polygon.count {
                let (p, q) = (polygon.corners[edge], polygon.corners[(edge + 1) % polygon.count]);
                if (p.overlap > 0.0) != (q.overlap > 0.0) {
                    let (within, beyond) = if p.overlap > 0.0 { (p, q) } else { (q, p) };
                    let end = |c: Corner| (c.at, c.overlap);
                    cuts.push_guarded(Cut { polygon: i as u32, edge, within: end(within), beyond: end(beyond) });
                }
            }
        }
        for step in 0..ROOT_STEPS {
            scratch.points.clear();
            for cut in cuts.iter() {
                scratch.points.push(cut.guess(step).into_f32());
            }
            self.evaluate(scratch);
            for (i, cut) in cuts.iter_mut().enumerate() {
                let overlap = -f64::from(scratch.phi[0][i]) - f64::from(scratch.phi[1][i]);
                let at = cut.guess(step);
                *(if overlap > 0.0 { &mut cut.within } else { &mut cut.beyond }) = (at, overlap);
            }
        }
        let mut next = 0;
        for (i, polygon) in polygons.iter_mut().enumerate() {
            let first = next;
            while next < cuts.len() && cuts[next].polygon == i as u32 {
                next += 1;
            }
            if next > first {
                polygon.cut(&cuts[first..next]);
            }
        }
    }
}

impl Cut {
    fn guess(&self, step: usize) -> Vec3 {
        let ((p, a), (q, b)) = (self.within, self.beyond);
        let t = if step % 2 == 0 { 0.5 } else { (a / (a - b)).clamp(0.0, 1.0) };
        p + (q - p) * t
    }

    /// Returns the end of the overlap.
    fn end(&self) -> Corner {
        let ((p, a), (q, b)) = (self.within, self.beyond);
        let t = if a > b { (a / (a - b)).clamp(0.0, 1.0) } else { 0.0 };
        Corner { at: p + (q - p) * t, overlap: 0.0, ends: false }
    }
}

impl Polygon {
    /// Keeps the part in the overlap.
    fn cut(&mut self, cuts: &[Cut]) {
        let old = *self;
        self.count = 0;
        for edge in 0..old.count {
            let corner = old.corners[edge];
            if corner.overlap > 0.0 && self.count < MOST_CORNERS {
                self.corners[self.count] = corner;
                self.count += 1;
            }
            if let Some(cut) = cuts.iter().find(|cut| cut.edge == edge) {
                if self.count < MOST_CORNERS {
                    // The outline leads from where the overlap is left to where it is entered again.
                    self.corners[self.count] = Corner { ends: corner.overlap > 0.0, ..cut.end() };
                    self.count += 1;
                }
            }
        }
    }
}

/// Conversion to the coordinates of the fields.
pub(super) trait IntoF32 {
    fn into_f32(self) -> [f32; 3];
}

impl IntoF32 for Vec3 {
    fn into_f32(self) -> [f32; 3] {
        [self.x as f32, self.y as f32, self.z as f32]
    }
}
