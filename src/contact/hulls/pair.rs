//! Two hierarchies of hulls at two poses.

use super::triangles::{closest, Closest};
use super::workspace::{Found, HullStats, HullWorkspace};
use voxshell_base::math::gjk::{nearest, Extreme, Nearest, Separation};
use voxshell_base::math::{Mat3, Pose, Vec3};
use voxshell_base::memory::GrowGuarded;
use voxshell_mesh::simplify::{Cover, HullHierarchy, Node};
use voxshell_mesh::triangle::Corners;
use voxshell_mesh::{near_pairs, Placement};

/// Hulls with at most this number of vertices are searched one vertex after another.
const FEW_VERTICES: usize = 24;

/// Winding number from which a point counts as inside: less than a half, for points in the surface.
const INSIDE: f64 = 0.3;

/// Part of the way to the middle of a hull by which a point moves before its winding number is looked at.
const INWARD: f64 = 1e-6;

/// Part of the size by which hulls are parted to find where they touch.
const APART: f64 = 1e-7;

/// Part of the coordinates by which a bound of the last query must exceed the limit, so that rounding does not decide.
const SAFE: f64 = 1e-9;

/// How two hulls are to each other.
pub enum Relation {
    Apart,
    Refine([bool; 2]),
    Contact(Found),
    /// Pieces of level 0 whose triangles decide.
    Triangles,
}

pub struct Pair<'a> {
    pub a: &'a HullHierarchy,
    pub b: &'a HullHierarchy,
    /// From B's frame to A's.
    pub rotation: Mat3,
    pub translation: Vec3,
    pub size: f64,
    /// Largest weighted deviation, metres.
    pub tolerance: f64,
    /// Whether overlapping hulls are contacts with a depth; else the distance of their surfaces is wanted.
    pub depths: bool,
}

impl<'a> Pair<'a> {
    pub fn new(bodies: [(&'a HullHierarchy, &Pose); 2], tolerance: f64, depths: bool) -> Self {
        let [(a, pose_a), (b, pose_b)] = bodies;
        let turn = pose_a.rotation.inverse();
        let rotation = (turn * pose_b.rotation).to_rotation_matrix().into_inner();
        let place = |pose: &Pose, h: &HullHierarchy| pose.rotation * h.origin() + pose.translation.vector;
        let translation = turn * (place(pose_b, b) - place(pose_a, a));
        let radius = |h: &HullHierarchy| h.nodes[0].center.norm() + h.nodes[0].radius;
        let size = radius(a) + radius(b) + translation.norm();
        Self { a, b, rotation, translation, size, tolerance, depths }
    }

    pub fn place(&self, p: &Vec3) -> Vec3 {
        self.rotation * p + self.translation
    }

    /// Returns a lower bound of the distance of everything below two nodes, by their balls.
    pub fn ball_bound(&self, i: u32, j: u32) -> f64 {
        let (p, q) = (&self.a.nodes[i as usize], &self.b.nodes[j as usize]);
        let between = (self.place(&q.center) - p.center).norm();
        between - (p.radius + q.radius) - (p.reach + q.reach) - 1e-13 * self.size
    }

    /// Returns how the hulls of two nodes are to each other, if what is below them may be within `limit`.
    pub fn relation(&self, i: u32, j: u32, limit: f64, workspace: &mut HullWorkspace) -> Relation {
        let (p, q) = (&self.a.nodes[i as usize], &self.b.nodes[j as usize]);
        let limit = limit + p.reach + q.reach;
        let (mut at_a, mut at_b) = (0, 0);
        let mut support = |d: &Vec3| {
            at_a = extreme(self.a, p, d, at_a);
            at_b = extreme(self.b, q, &self.rotation.tr_mul(&-d), at_b);
            Extreme {
                a: self.a.vertices_of(p)[at_a as usize],
                b: self.place(&self.b.vertices_of(q)[at_b as usize]),
                ids: [at_a, at_b],
            }
        };
        // The direction that separated the two hulls in the last query often still does.
        if let Some(d) = workspace.direction(i, j) {
            let e = support(&d);
            workspace.stats.bounds += 1;
            if (e.b - e.a).dot(&d) > limit + SAFE * self.size {
                return Relation::Apart;
            }
        }
        workspace.stats.distances += 1;
        let first = self.place(&q.center) - p.center;
        (at_a, at_b) = (0, 0);
        let mut support = |d: &Vec3| {
            at_a = extreme(self.a, p, d, at_a);
            at_b = extreme(self.b, q, &self.rotation.tr_mul(&-d), at_b);
            Extreme {
                a: self.a.vertices_of(p)[at_a as usize],
                b: self.place(&self.b.vertices_of(q)[at_b as usize]),
                ids: [at_a, at_b],
            }
        };
        match nearest(&first, limit, self.size, &mut support) {
            Separation::Beyond(direction) => {
                workspace.remember(i, j, direction);
                Relation::Apart
            }
            Separation::Near(found) => self.separated(i, j, &found),
            Separation::Overlapping => self.overlapping(i, j),
        }
    }

    fn separated(&self, i: u32, j: u32, found: &Nearest) -> Relation {
        let (p, q) = (&self.a.nodes[i as usize], &self.b.nodes[j as usize]);
        let (mut of_a, mut of_b) = ([0; 3], [0; 3]);
        for k in 0..found.count {
            (of_a[k], of_b[k]) = (found.ids[k][0], found.ids[k][1]);
        }
        let (of_a, of_b) = (&of_a[..found.count], &of_b[..found.count]);
        let is_surface = [self.a.is_surface(p, of_a), self.b.is_surface(q, of_b)];
        let area = area_at(self.a, p, of_a).max(area_at(self.b, q, of_b));
        if let Some(refine) = self.refinement(p, q, area, is_surface) {
            return Relation::Refine(refine);
        }
        if is_surface != [true; 2] {
            return self.by_triangles(p, q);
        }
        let (on_a, on_b, normal, separation) = (found.on_a, found.on_b, found.normal, found.distance);
        Relation::Contact(Found { on_a, on_b, normal, separation, nodes: [i, j] })
    }

    /// Returns which of two nodes to refine: one whose detail is perceptible, or whose closest point is not on the surface.
    ///
    /// A detail of height s, the deviation, and of the width of the longest edge that was collapsed, 1/r, has the volume
    /// φ = s/r². It is perceptible if φ over the contact area D exceeds the tolerance (Otaduy & Lin 2003, section 5).
    fn refinement(&self, p: &Node, q: &Node, area: f64, is_surface: [bool; 2]) -> Option<[bool; 2]> {
        let is_perceptible = |n: &Node| {
            let volume = n.deviation * n.detail * n.detail;
            volume > 0.0 && (area <= 0.0 || volume > self.tolerance * area || volume.is_nan())
        };
        let open = |n: &Node, is_surface: bool| n.level > 0 && (!is_surface || is_perceptible(n));
        let refine = [open(p, is_surface[0]), open(q, is_surface[1])];
        (refine != [false; 2]).then_some(refine)
    }

    /// Returns the relation of two nodes whose triangles decide. Only pieces of level 0 have triangles, so coarser nodes are
    /// refined first, also if their detail is not perceptible.
    fn by_triangles(&self, p: &Node, q: &Node) -> Relation {
        let coarse = [p.level > 0, q.level > 0];
        if coarse == [false; 2] {
            Relation::Triangles
        } else {
            Relation::Refine(coarse)
        }
    }

    fn overlapping(&self, i: u32, j: u32) -> Relation {
        let (p, q) = (&self.a.nodes[i as usize], &self.b.nodes[j as usize]);
        let merged = [p, q].map(|n| n.deviation.is_infinite());
        if merged != [false; 2] {
            return Relation::Refine(merged);
        }
        let [deepest, other] = if self.depths { self.shallowest_faces(i, j) } else { [None; 2] };
        let Some((found, area)) = deepest else {
            return self.by_triangles(p, q);
        };
        if let Some(refine) = self.refinement(p, q, area, [true; 2]) {
            return Relation::Refine(refine);
        }
        // The hulls may overlap where they close hollows. A point on an edge or corner of a body counts as inside: it is moved
        // towards the middle of the other hull.
        let inward = |point: Vec3, node: &Node| point + (node.center - point) * INWARD;
        let is_in_both = |found: &Found| {
            let in_b = self.rotation.tr_mul(&(found.on_a - self.translation));
            self.a.bvh.winding_number(inward(found.on_b, p)) > INSIDE
                && self.b.bvh.winding_number(inward(in_b, q)) > INSIDE
        };
        // Of parallel faces the corner of the larger one may be beside the smaller one, which has the same depth.
        let same = other.map(|o| o.0).filter(|o| o.separation > found.separation - SAFE * self.size);
        let inside = [Some(found), same].into_iter().flatten().find(is_in_both);
        // Crossed faces have no corner in each other.
        let inside = inside.or_else(|| self.pushed_apart(&found).filter(is_in_both));
        let is_inside = inside.is_some();
        let found = inside.unwrap_or(found);
        let is_shallow = found.separation > -1e-12 * self.size;
        if is_inside || is_shallow {
            return Relation::Contact(found);
        }
        self.by_triangles(p, q)
    }

    /// Returns the depth of overlapping hulls along the normals of those faces that are surface: the smallest over the faces
    /// of one hull, then over those of the other, with the contact areas there. The smaller of the two is first.
    fn shallowest_faces(&self, i: u32, j: u32) -> [Option<(Found, f64)>; 2] {
        let (p, q) = (&self.a.nodes[i as usize], &self.b.nodes[j as usize]);
        let mut best: [Option<(Found, f64)>; 2] = [None; 2];
        let offer = |best: &mut Option<(Found, f64)>, found: Found, area: f64| {
            if best.as_ref().is_none_or(|b| found.separation > b.0.separation) {
                *best = Some((found, area));
            }
        };
        let mut at = 0;
        for face in self.a.faces_of(p).iter().filter(|f| f.cover != Cover::Virtual) {
            at = extreme(self.b, q, &self.rotation.tr_mul(&-face.normal), at);
            let v = self.place(&self.b.vertices_of(q)[at as usize]);
            let separation = face.normal.dot(&v) - face.offset;
            let area = area_at(self.a, p, &face.corners).max(area_at(self.b, q, &[at]));
            let (on_a, normal) = (v - face.normal * separation, face.normal);
            offer(&mut best[0], Found { on_a, on_b: v, normal, separation, nodes: [i, j] }, area);
        }
        at = 0;
        for face in self.b.faces_of(q).iter().filter(|f| f.cover != Cover::Virtual) {
            let n = self.rotation * face.normal;
            at = extreme(self.a, p, &-n, at);
            let v = self.a.vertices_of(p)[at as usize];
            let separation = n.dot(&v) - (face.offset + n.dot(&self.translation));
            let area = area_at(self.b, q, &face.corners).max(area_at(self.a, p, &[at]));
            offer(
                &mut best[1],
                Found { on_a: v, on_b: v - n * separation, normal: -n, separation, nodes: [i, j] },
                area,
            );
        }
        let depth = |b: &Option<(Found, f64)>| b.as_ref().map_or(f64::NEG_INFINITY, |b| b.0.separation);
        if depth(&best[1]) > depth(&best[0]) {
            best.swap(0, 1);
        }
        best
    }

    /// Returns a contact of the same depth at the points where the hulls part when B is pushed out along the normal.
    fn pushed_apart(&self, found: &Found) -> Option<Found> {
        let [i, j] = found.nodes;
        let (p, q) = (&self.a.nodes[i as usize], &self.b.nodes[j as usize]);
        let gap = APART * self.size;
        let push = found.normal * (gap - found.separation);
        let (mut at_a, mut at_b) = (0, 0);
        let mut support = |d: &Vec3| {
            at_a = extreme(self.a, p, d, at_a);
            at_b = extreme(self.b, q, &self.rotation.tr_mul(&-d), at_b);
            Extreme {
                a: self.a.vertices_of(p)[at_a as usize],
                b: self.place(&self.b.vertices_of(q)[at_b as usize]) + push,
                ids: [at_a, at_b],
            }
        };
        // Farther apart, the points are not one above the other: the faces meet outside one of them.
        match nearest(&found.normal, 2.0 * gap, self.size, &mut support) {
            Separation::Near(n) => Some(Found { on_a: n.on_a, on_b: n.on_b - push, ..*found }),
            _ => None,
        }
    }

    /// Returns the closest points of the triangles of two pieces of level 0 if they are within `limit`, metres.
    pub fn triangles(&self, i: u32, j: u32, limit: f64, stats: &mut HullStats) -> Option<Closest> {
        let (p, q) = (&self.a.nodes[i as usize], &self.b.nodes[j as usize]);
        let mut best: Option<Closest> = None;
        let mut test = |s: u32, t: u32| {
            let own: Corners = self.a.mesh.corners(s as usize).map(Vec3::from);
            let other: Corners = self.b.mesh.corners(t as usize).map(|v| self.place(&Vec3::from(v)));
            stats.triangles += 1;
            let found = closest(&own, &other);
            if found.squared <= limit * limit && best.is_none_or(|b| found.squared < b.squared) {
                best = Some(found);
            }
        };
        let (of_a, of_b) = (self.a.triangles_of(p), self.b.triangles_of(q));
        match (&self.a.pieces[i as usize], &self.b.pieces[j as usize]) {
            (Some(first), Some(second)) => {
                let placement = Placement { rotation: self.rotation, translation: self.translation };
                near_pairs([second, first], &placement, limit, None, |t, s| test(of_a[s as usize], of_b[t as usize]));
            }
            _ => of_a.iter().for_each(|&s| of_b.iter().for_each(|&t| test(s, t))),
        }
        best
    }

    /// Puts the pairs of the children of the nodes to refine on the stack, the nearest last. If both are, the larger one.
    pub fn refine(&self, i: u32, j: u32, which: [bool; 2], stack: &mut Vec<(f64, u32, u32)>) {
        let (p, q) = (&self.a.nodes[i as usize], &self.b.nodes[j as usize]);
        let from = stack.len();
        let first = which[0] && (!which[1] || p.radius + p.reach >= q.radius + q.reach);
        if first {
            stack.extend_guarded(p.children.clone().map(|c| (self.ball_bound(c, j), c, j)));
        } else {
            stack.extend_guarded(q.children.clone().map(|c| (self.ball_bound(i, c), i, c)));
        }
        stack[from..].sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then((y.1, y.2).cmp(&(x.1, x.2))));
    }
}

/// Returns the vertex of a hull that is farthest along a direction, from a vertex to start at.
fn extreme(h: &HullHierarchy, node: &Node, d: &Vec3, start: u32) -> u32 {
    let vertices = h.vertices_of(node);
    if vertices.len() <= FEW_VERTICES || node.faces.is_empty() {
        let (mut best, mut at) = (f64::NEG_INFINITY, 0);
        for (i, v) in vertices.iter().enumerate() {
            let along = v.dot(d);
            if along > best {
                (best, at) = (along, i);
            }
        }
        return at as u32;
    }
    let faces = h.faces_of(node);
    let (mut at, mut best) = (start, vertices[start as usize].dot(d));
    loop {
        let before = at;
        for &f in h.fan(node, before) {
            for v in faces[f as usize].corners {
                let along = vertices[v as usize].dot(d);
                if along > best {
                    (at, best) = (v, along);
                }
            }
        }
        if at == before {
            return at;
        }
    }
}

/// Returns the largest support area of some vertices of a node.
fn area_at(h: &HullHierarchy, node: &Node, vertices: &[u32]) -> f64 {
    vertices.iter().map(|&v| h.areas[(node.vertices.start + v) as usize]).fold(0.0, f64::max)
}
