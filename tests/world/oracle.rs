//! Brute force over all triangles of two meshes, in f64, without code of the library: whether they intersect, how far they are
//! apart, where a segment meets them, and what is inside.

use std::rc::Rc;

use voxshell::math::{Pose, Vec3};
use voxshell::mesh::TriMesh;

type Triangle = [Vec3; 3];

/// The triangles of a mesh at a pose, world frame.
pub struct Triangles {
    all: Vec<Triangle>,
    /// Lowest and highest corner of the box of each.
    boxes: Vec<[Vec3; 2]>,
    /// Corners of the mesh.
    points: Vec<Vec3>,
}

/// Returns the distance of two segments: the least of the quadratic form inside and on its four borders.
fn between_segments([p, p_end]: [Vec3; 2], [q, q_end]: [Vec3; 2]) -> f64 {
    let (d, e, r) = (p_end - p, q_end - q, p - q);
    let (dd, ee, de, dr, er) = (d.dot(&d), e.dot(&e), d.dot(&e), d.dot(&r), e.dot(&r));
    let at = |s: f64, t: f64| (r + d * s - e * t).norm();
    let on = |numerator: f64, denominator: f64| {
        if denominator > 0.0 {
            (numerator / denominator).clamp(0.0, 1.0)
        } else {
            0.0
        }
    };
    let mut least = f64::INFINITY;
    for end in [0.0, 1.0] {
        least = least.min(at(end, on(er + de * end, ee))).min(at(on(de * end - dr, dd), end));
    }
    let determinant = dd * ee - de * de;
    if determinant > 0.0 {
        let (s, t) = ((de * er - ee * dr) / determinant, (dd * er - de * dr) / determinant);
        if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            least = least.min(at(s, t));
        }
    }
    least
}

/// Returns the distance of a point from a triangle: over its face if the foot is on it, otherwise along its edges.
fn from_triangle(p: &Vec3, t: &Triangle) -> f64 {
    let normal = (t[1] - t[0]).cross(&(t[2] - t[0]));
    let is_over = (0..3).all(|i| (t[(i + 1) % 3] - t[i]).cross(&(p - t[i])).dot(&normal) >= 0.0);
    if is_over && normal.norm() > 0.0 {
        return (p - t[0]).dot(&normal.normalize()).abs();
    }
    (0..3).map(|i| between_segments([*p, *p], [t[i], t[(i + 1) % 3]])).fold(f64::INFINITY, f64::min)
}

/// Returns whether a segment passes from one side of a triangle to the other through it, or through its border.
fn pierces([p, q]: [Vec3; 2], t: &Triangle) -> bool {
    let normal = (t[1] - t[0]).cross(&(t[2] - t[0]));
    if normal.dot(&(p - t[0])) * normal.dot(&(q - t[0])) >= 0.0 {
        return false;
    }
    let sense = |i: usize| (q - p).dot(&(t[i] - p).cross(&(t[(i + 1) % 3] - p)));
    let senses = [sense(0), sense(1), sense(2)];
    senses.iter().all(|s| *s >= 0.0) || senses.iter().all(|s| *s <= 0.0)
}

fn edges(t: &Triangle) -> [[Vec3; 2]; 3] {
    [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]
}

fn box_of(points: &[Vec3]) -> [Vec3; 2] {
    let first = [points[0]; 2];
    points.iter().fold(first, |[low, high], p| [low.inf(p), high.sup(p)])
}

/// Returns the halves of an edge or a triangle, on both sides of the middle of its longest edge.
fn halves(cell: &[Vec3]) -> [Vec<Vec3>; 2] {
    let pairs = [(0, 1), (1, 2), (2, 0)].into_iter().filter(|&(i, j)| i.max(j) < cell.len());
    let length = |&(i, j): &(usize, usize)| (cell[i] - cell[j]).norm();
    let (i, j) = pairs.max_by(|p, q| length(p).total_cmp(&length(q))).expect("an edge");
    [i, j].map(|end| {
        let mut half = cell.to_vec();
        half[end] = (cell[i] + cell[j]) * 0.5;
        half
    })
}

/// Returns the distance of two boxes.
fn between_boxes([low, high]: &[Vec3; 2], [lower, upper]: &[Vec3; 2]) -> f64 {
    (low - upper).sup(&(lower - high)).sup(&Vec3::zeros()).norm()
}

impl Triangles {
    pub fn new(mesh: &TriMesh, pose: &Pose) -> Self {
        let place = |p: [f64; 3]| (pose * nalgebra::Point3::from(p)).coords;
        let all: Vec<Triangle> = (0..mesh.triangles.len()).map(|t| mesh.corners(t).map(place)).collect();
        let boxes = all.iter().map(|t| box_of(t)).collect();
        Self { boxes, points: all.iter().flatten().copied().collect(), all }
    }

    /// Returns the distance of two meshes, 0 where they intersect, by all pairs of triangles. A body in the other one is at a
    /// distance from its surface.
    pub fn distance(&self, other: &Self) -> f64 {
        let nearest = |p: &Vec3, points: &[Vec3]| {
            points.iter().map(|q| (p - q).norm_squared()).fold(f64::INFINITY, f64::min).sqrt()
        };
        // The distance of any two points is a bound. Alternating takes it near the least one.
        let mut least = f64::INFINITY;
        for p in self.points.iter().step_by(1 + self.points.len() / 40) {
            least = least.min(nearest(p, &other.points));
        }
        let whole = box_of(&other.points);
        for (t, bounds) in self.all.iter().zip(&self.boxes) {
            if between_boxes(bounds, &whole) > least {
                continue;
            }
            for (u, others) in other.all.iter().zip(&other.boxes) {
                let gap = between_boxes(bounds, others);
                if gap > least {
                    continue;
                }
                let is_through = |t: &Triangle, u: &Triangle| edges(t).into_iter().any(|edge| pierces(edge, u));
                if gap == 0.0 && (is_through(t, u) || is_through(u, t)) {
                    return 0.0;
                }
                for i in 0..3 {
                    least = least.min(from_triangle(&t[i], u)).min(from_triangle(&u[i], t));
                    for edge in edges(u) {
                        least = least.min(between_segments(edges(t)[i], edge));
                    }
                }
            }
        }
        least
    }

    /// Returns the triangles.
    pub fn faces(&self) -> Vec<Vec<Vec3>> {
        self.all.iter().map(|t| t.to_vec()).collect()
    }

    /// Returns the edges of the triangles, one of two once.
    pub fn edges(&self) -> Vec<Vec<Vec3>> {
        let is_first = |[p, q]: &[Vec3; 2]| p.iter().lt(q.iter());
        self.all.iter().flat_map(edges).filter(is_first).map(|edge| edge.to_vec()).collect()
    }

    /// Returns the least signed distance of a point of `cells` (edges or triangles) from this surface, to within `precision`, and at most
    /// `limit`. `is_inside` tells what the surface bounds. The distance changes by no more than a point moves, so the cells are halved
    /// until none can have a point that is deeper.
    pub fn deepest(&self, cells: Vec<Vec<Vec3>>, is_inside: impl Fn(&Vec3) -> bool, limit: f64, precision: f64) -> f64 {
        let whole = box_of(&self.points);
        let mut least = limit;
        // Each with a bound on its distance, and the triangles that can be the nearest to one of its points.
        let all: Rc<[usize]> = (0..self.all.len()).collect();
        let mut open: Vec<_> = cells.into_iter().map(|cell| (f64::NEG_INFINITY, cell, all.clone())).collect();
        while let Some((bound, cell, near)) = open.pop() {
            let middle = cell.iter().sum::<Vec3>() / cell.len() as f64;
            let radius = cell.iter().map(|p| (p - middle).norm()).fold(0.0, f64::max);
            let apart = between_boxes(&[middle; 2], &whole) - radius;
            if bound >= least - precision || (apart > 0.0 && apart >= least) {
                continue;
            }
            let gaps: Vec<f64> = near.iter().map(|&k| between_boxes(&[middle; 2], &self.boxes[k])).collect();
            let mut off = f64::INFINITY;
            for (&k, gap) in near.iter().zip(&gaps) {
                if *gap < off {
                    off = off.min(from_triangle(&middle, &self.all[k]));
                }
            }
            let signed = if is_inside(&middle) { -off } else { off };
            least = least.min(signed);
            if signed - radius < least - precision {
                let can_be = |(&k, gap): (&usize, &f64)| (*gap <= off + 2.0 * radius).then_some(k);
                let near: Rc<[usize]> = near.iter().zip(&gaps).filter_map(can_be).collect();
                open.extend(halves(&cell).map(|half| (signed - radius, half, near.clone())));
            }
        }
        least
    }

    /// Returns the distance of a point from the surface.
    pub fn off(&self, p: &Vec3) -> f64 {
        let mut least = f64::INFINITY;
        for (t, bounds) in self.all.iter().zip(&self.boxes) {
            if between_boxes(&[*p; 2], bounds) < least {
                least = least.min(from_triangle(p, t));
            }
        }
        least
    }

    /// Returns whether a segment passes through the surface.
    pub fn is_met_by(&self, segment: [Vec3; 2]) -> bool {
        let bounds = box_of(&segment);
        self.all.iter().zip(&self.boxes).any(|(t, other)| between_boxes(&bounds, other) == 0.0 && pierces(segment, t))
    }

    /// Returns whether a point is inside a closed surface: the sum of all solid angles (Van Oosterom & Strackee 1983).
    pub fn contains(&self, p: &Vec3) -> bool {
        let [low, high] = box_of(&self.points);
        if (0..3).any(|k| p[k] < low[k] || p[k] > high[k]) {
            return false;
        }
        let angle = |t: &Triangle| {
            let [a, b, c] = t.map(|v| v - p);
            let [la, lb, lc] = [a, b, c].map(|v| v.norm());
            let volume = a.dot(&b.cross(&c));
            if volume == 0.0 {
                0.0
            } else {
                volume.atan2(la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb)
            }
        };
        self.all.iter().map(angle).sum::<f64>() > std::f64::consts::PI
    }
}

#[test]
fn the_oracle_agrees_with_closed_forms() {
    let cube = voxshell::mesh::primitives::cuboid([0.5; 3]).unwrap();
    let still = Triangles::new(&cube, &Pose::identity());
    let at = |x: f64, y: f64, z: f64| Triangles::new(&cube, &Pose::translation(x, y, z));
    let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-12, "{x} instead of {y}");
    near(still.distance(&at(1.25, 0.3, 0.2)), 0.25);
    near(still.distance(&at(1.3, 1.4, 0.2)), 0.5);
    near(still.distance(&at(1.2, 1.2, 1.1)), 0.3);
    near(at(0.3, 1.4, 1.3).distance(&still), 0.5);
    assert_eq!(still.distance(&at(0.9, 0.1, 0.2)), 0.0);
    let turned = Pose::from_parts(Vec3::new(0.0, 0.5 + 0.5f64.sqrt() + 0.1, 0.0).into(), diagonal());
    near(still.distance(&Triangles::new(&cube, &turned)), 0.1);
    let small = Triangles::new(&cube.scaled(0.2), &Pose::translation(0.3, 0.0, 0.0));
    near(still.distance(&small), 0.1);
    // Along an edge, and in the middle of a face.
    let deepest = |cells: Vec<Vec<Vec3>>| still.deepest(cells, |p| still.contains(p), 0.01, 0.005);
    let is_near = |x: f64, y: f64| (x - y).abs() <= 0.005;
    let through = at(0.8, 0.85, 0.1);
    assert!(is_near(deepest(through.edges()), -0.15) && is_near(deepest(through.faces()), -0.15));
    let pierced = Triangles::new(&cube.scaled(4.0), &Pose::translation(2.1, 1.4, 0.0));
    assert!(deepest(pierced.edges()) == 0.01 && is_near(deepest(pierced.faces()), -0.4));
    near(still.off(&Vec3::new(0.8, 0.9, 0.1)), 0.5);
    near(still.off(&Vec3::new(0.1, 0.2, 0.0)), 0.3);
    assert!(still.contains(&Vec3::new(0.49, 0.1, -0.4)) && !still.contains(&Vec3::new(0.51, 0.1, -0.4)));
    let segment = |x: f64, y: f64| [Vec3::new(x, 0.1, 0.2), Vec3::new(y, 0.1, 0.2)];
    assert!(still.is_met_by(segment(0.4, 0.6)) && !still.is_met_by(segment(0.3, 0.4)));
    assert!(!still.is_met_by(segment(0.6, 0.7)));
}

/// Returns a turn by 45° about z.
#[cfg(test)]
fn diagonal() -> nalgebra::UnitQuaternion<f64> {
    nalgebra::UnitQuaternion::from_axis_angle(&Vec3::z_axis(), std::f64::consts::FRAC_PI_4)
}
