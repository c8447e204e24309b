//! Contacts of the faces of a mesh with a convex analytic body, complete whatever the spacing of the samples: a small body
//! on a large face, or in it.
//!
//! Patches of the mesh (nodes of its hierarchy, triangles, parts of triangles) are opened in the order of their lower bounds
//! of φ, the exact distance to the convex body. φ is convex, so over a triangle it is at least the greatest of the tangent
//! planes at a few points, whose least value is a small linear program (Kelley 1960, "The Cutting-Plane Method for Solving
//! Convex Programs"). A patch is closed when its bound is above the limit, when a contact near it with a like normal is about
//! as deep as its bound (it is covered), or when it is a contact itself: its bound and its least known value are about equal.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::super::types::{Contact, Geometry};
use super::frames::placement;
use super::linear::least_of_greatest;
use voxshell_base::math::{Pose, Vec3};
use voxshell_base::memory::{GrowGuarded, HeapGuarded};
use voxshell_field::{Field, SignedDistance, Surface, LANES};
use voxshell_mesh::{Feature, FeaturedTriangles, Placement};

/// Precision of a separation, as a fraction of the least half extent of the convex body.
const PRECISION: f64 = 1e-3;

/// The same as a fraction of a gap.
const OF_GAP: f64 = 1e-3;

/// Distance over which a contact covers others, as fractions of the least and of the greatest half extent of the convex body.
const COVERS: f64 = 0.5;
const COVERS_LONG: f64 = 1.0 / 16.0;

/// Cosine of the largest angle between the normals of a contact and of what it covers.
const LIKE: f64 = 0.8;

/// Cosine of the angle between a face's reversed normal and a normal that is beside it: 72°. Where the sides of the convex body
/// are as near as what faces the face, theirs are not normals of the contact.
const BESIDE: f64 = 0.3;

/// Places near a convex body have coordinates up to this many times its greatest half extent.
const NEAR: f64 = 4.0;

/// A triangle of at most this extent, as a fraction of its coordinates, is a point in f32.
const POINT: f64 = 1e-6;

/// Rounding of f32 coordinates and of what is computed from them, relative.
const ROUNDING: f64 = 1e-6;

/// A patch of the surface that is still to be opened.
#[derive(Clone, Copy, Debug)]
struct Patch {
    /// Lower bound of φ.
    lower: f64,
    /// Number in the order in which patches were made: the order of those with equal bounds.
    order: u32,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Node(u32),
    Part(Part),
}

/// A part of a triangle.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// In leaf order.
    triangle: u32,
    /// Frame of the field.
    corners: [Vec3; 3],
    /// Outward normal of the triangle.
    normal: Vec3,
    best: Spot,
}

/// A point of the surface.
#[derive(Clone, Copy, Debug)]
struct Spot {
    point: Vec3,
    value: f64,
    /// The gradient of φ.
    outward: Vec3,
}

impl PartialEq for Patch {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Patch {}

/// The greatest is the first to open.
impl Ord for Patch {
    fn cmp(&self, other: &Self) -> Ordering {
        other.lower.total_cmp(&self.lower).then(other.order.cmp(&self.order))
    }
}

impl PartialOrd for Patch {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Scratch memory of a search for faces.
#[derive(Default)]
pub(in super::super) struct Scratch {
    open: BinaryHeap<Patch>,
    found: Vec<Spot>,
}

/// A surface and a convex body.
pub(in super::super) struct Faces<'a> {
    surface: &'a Surface,
    field: &'a Field,
    surface_pose: &'a Pose,
    field_pose: &'a Pose,
    surface_is_b: bool,
}

/// What a search for faces looks for.
#[derive(Clone, Copy, PartialEq)]
pub(in super::super) enum Wanted {
    /// The deepest contact.
    Deepest,
    /// Contacts that cover all.
    All,
}

impl<'a> Faces<'a> {
    /// Returns `None` unless one body has a surface and the other is a bounded convex body without one.
    pub fn new([a, b]: [&Geometry<'a>; 2], [pose_a, pose_b]: [&'a Pose; 2]) -> Option<Self> {
        let of = |own: &Geometry<'a>, surface_pose, other: &Geometry<'a>, field_pose, surface_is_b| {
            let (surface, field) = (own.surface?, other.field.filter(|_| other.surface.is_none())?);
            let is_bounded = !matches!(field, Field::HalfSpace(_)) && field.is_convex();
            is_bounded.then_some(Self { surface, field, surface_pose, field_pose, surface_is_b })
        };
        of(a, pose_a, b, pose_b, false).or_else(|| of(b, pose_b, a, pose_a, true))
    }

    /// Returns half the extents of the convex body.
    fn half(&self) -> Vec3 {
        0.5 * self.field.bounds().extents()
    }

    /// Appends contacts with a separation of at most `limit`, metres, and returns the number of tests. With
    /// [`Wanted::All`], each place of the surface that is as near as that is near a contact, old or new, that is as deep up to
    /// the precision, and has a like normal.
    pub fn collect(
        &self,
        limit: f64,
        wanted: Wanted,
        Scratch { open, found }: &mut Scratch,
        contacts: &mut Vec<Contact>,
    ) -> u64 {
        let half = self.half();
        let reach = match wanted {
            Wanted::Deepest => f64::INFINITY,
            Wanted::All => (COVERS * half.min()).max(COVERS_LONG * half.max()),
        };
        // Farther away the samples are close enough, and places without end are as near.
        let limit = if wanted == Wanted::All { limit.min(half.min()) } else { limit };
        let to_field = placement(self.field_pose, self.surface_pose);
        let search = Search {
            surface: self.surface,
            field: self.field,
            origin: self.field.local_origin(&to_field.translation),
            to_field,
            limit,
            reach,
            precision: PRECISION * half.min(),
            near: NEAR * half.max(),
        };
        open.clear();
        found.clear();
        found.extend_guarded(contacts.iter().map(|c| self.spot(c, &search.origin)));
        let known = found.len();
        let mut count = 0;
        search.run(open, found, &mut count, |part| contacts.push_guarded(self.contact(&part, &search.origin)));
        debug_assert_eq!(contacts.len() - known, found.len() - known);
        count.into()
    }

    /// Returns the place of a contact in the frame of the field.
    fn spot(&self, contact: &Contact, origin: &Vec3) -> Spot {
        let (own, outward) = match self.surface_is_b {
            true => (contact.point_on_b, contact.normal),
            false => (contact.point_on_a, -contact.normal),
        };
        let point = self.field_pose.inverse_transform_point(&nalgebra::Point3::from(own)).coords - origin;
        let outward = self.field_pose.rotation.inverse_transform_vector(&outward);
        Spot { point, value: contact.separation, outward }
    }

    fn contact(&self, part: &Part, origin: &Vec3) -> Contact {
        let Part { triangle, best: Spot { point, value, outward }, .. } = *part;
        let on_surface = (self.field_pose * nalgebra::Point3::from(point + origin)).coords;
        let towards = -(self.field_pose.rotation * outward);
        let edge = self.surface.edge_at(triangle, Feature::Face);
        Contact::of_edge(self.surface_is_b, edge, on_surface, towards, value)
    }

    /// Returns the contact of a convex body whose middle is inside the surface: the way out from there.
    pub fn inside(&self) -> Option<Contact> {
        let middle = self.field.bounds().center();
        let world = self.field_pose * nalgebra::Point3::from(middle);
        let p = self.surface_pose.inverse_transform_point(&world).coords;
        let bounds = self.surface.bounds();
        if (0..3).any(|k| p[k] < bounds.min[k] || p[k] > bounds.max[k]) || !self.surface.contains(p) {
            return None;
        }
        let closest = self.surface.closest(p, f64::INFINITY)?;
        let distance = closest.distance_squared.sqrt();
        let (_, outward) = self.surface.side(&p, &closest, Some(true), distance > ROUNDING * bounds.extents().amax());
        let outward = self.surface_pose.rotation * outward.unwrap_or_else(Vec3::z);
        let origin = self.field.local_origin(&middle);
        let depth = f64::from(-self.field.distance((middle - origin).map(|x| x as f32).into())).max(0.0);
        let on_surface = (self.surface_pose * nalgebra::Point3::from(closest.point)).coords;
        let separation = -(distance + depth);
        // One name, since there is one such contact.
        let edge = self.surface.edge_at(0, Feature::Face);
        Some(Contact::of_edge(self.surface_is_b, edge, on_surface, outward, separation))
    }
}

/// A search in the frame of the field.
struct Search<'a> {
    surface: &'a Surface,
    field: &'a Field,
    to_field: Placement,
    origin: Vec3,
    limit: f64,
    /// Distance over which a contact covers others.
    reach: f64,
    precision: f64,
    /// Coordinates of places near the convex body are at most about this.
    near: f64,
}

impl Search<'_> {
    fn place(&self, p: &Vec3) -> Vec3 {
        self.to_field.place(p) - self.origin
    }

    /// Returns the tolerance of a value over a patch with coordinates up to `size`: no finer than the rounding of its bound. The
    /// parts of a larger one round less, or are far away.
    fn tolerance(&self, value: f64, size: f64) -> f64 {
        self.precision.max(OF_GAP * value).max(4.0 * ROUNDING * size.min(self.near))
    }

    /// Opens patches until none is left, and calls `each` with each contact.
    fn run(&self, open: &mut BinaryHeap<Patch>, found: &mut Vec<Spot>, count: &mut u32, mut each: impl FnMut(Part)) {
        open.push_guarded(self.node(0, count));
        while let Some(patch) = open.pop() {
            if patch.lower > self.limit {
                break;
            }
            match patch.what {
                What::Node(node) => {
                    if self.reach.is_infinite()
                        && found.iter().any(|c| self.is_as_deep(c, patch.lower, self.size_of(node)))
                    {
                        continue;
                    }
                    let branch = self.surface.bvh().branch(node);
                    match branch.first_child {
                        Some(child) => {
                            open.push_guarded(self.node(child, count));
                            open.push_guarded(self.node(child + 1, count));
                        }
                        None => branch.triangles().for_each(|triangle| {
                            let corners = self.surface.bvh().corners_at(triangle).map(|p| self.place(&p));
                            open.extend_guarded(self.part(triangle, corners, count));
                        }),
                    }
                }
                What::Part(part) => {
                    let radius = part.corners.iter().fold(0.0f64, |r, c| r.max((c - part.best.point).norm()));
                    if found.iter().any(|c| self.covers(c, &part, radius, patch.lower)) {
                        continue;
                    }
                    let value = part.best.value;
                    let is_point = radius <= POINT * part.best.point.amax();
                    if (value - patch.lower <= self.tolerance(value, size_of(&part.corners)) && radius <= self.reach)
                        || is_point
                    {
                        if value <= self.limit {
                            found.push_guarded(part.best);
                            each(part);
                        }
                        continue;
                    }
                    for corners in halves(&part.corners) {
                        open.extend_guarded(self.part(part.triangle, corners, count));
                    }
                }
            }
        }
    }

    fn is_as_deep(&self, contact: &Spot, lower: f64, size: f64) -> bool {
        lower >= contact.value - self.tolerance(contact.value, size)
    }

    /// Returns the largest coordinate of a node.
    fn size_of(&self, node: u32) -> f64 {
        let branch = self.surface.bvh().branch(node);
        self.place(&branch.center).amax() + branch.half.norm()
    }

    fn covers(&self, contact: &Spot, part: &Part, radius: f64, lower: f64) -> bool {
        self.is_as_deep(contact, lower, size_of(&part.corners))
            && (self.reach.is_infinite()
                || ((contact.point - part.best.point).norm() + radius <= self.reach.max(2.0 * lower)
                    && (contact.outward.dot(&part.best.outward) >= LIKE
                        || part.best.outward.dot(&part.normal) > -BESIDE)))
    }

    fn node(&self, node: u32, count: &mut u32) -> Patch {
        let branch = self.surface.bvh().branch(node);
        let center = self.place(&branch.center);
        let radius = branch.half.norm();
        let rounding = ROUNDING * (center.amax() + radius);
        let lower = self.field.lower_bound(center.map(|x| x as f32).into(), (radius + rounding) as f32);
        *count += 1;
        Patch { lower: f64::from(lower) - rounding, order: *count, what: What::Node(node) }
    }

    /// Returns a part of a triangle, unless its bound is above the limit.
    fn part(&self, triangle: u32, corners: [Vec3; 3], count: &mut u32) -> Option<Patch> {
        *count += 1;
        let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
        let at = [corners[0], corners[1], corners[2], middle];
        let mut lanes = [[0.0; LANES]; 3];
        for (i, p) in at.iter().enumerate() {
            for k in 0..3 {
                lanes[k][i] = p[k] as f32;
            }
        }
        let (phi, g) = self.field.distance_gradient_lanes(&lanes, at.len());
        let spots = [0, 1, 2, 3].map(|i| {
            let point = Vec3::new(lanes[0][i].into(), lanes[1][i].into(), lanes[2][i].into());
            let outward = Vec3::new(g[0][i].into(), g[1][i].into(), g[2][i].into());
            Spot { point, value: phi[i].into(), outward }
        });
        let planes = spots.map(|s| corners.map(|c| s.value + s.outward.dot(&(c - s.point))));
        let (least, weights) = least_of_greatest(&planes);
        let size = size_of(&corners);
        let lower = least - ROUNDING * size;
        if lower > self.limit {
            return None;
        }
        let mut best = spots.into_iter().reduce(|p, q| if q.value < p.value { q } else { p })?;
        if best.value - lower > self.tolerance(best.value, size) {
            let p = corners[0] * weights[0] + corners[1] * weights[1] + corners[2] * weights[2];
            let p = p.map(|x| x as f32);
            let (value, outward) = self.field.distance_gradient(p.into());
            if f64::from(value) < best.value {
                let outward = Vec3::from(outward.map(f64::from));
                best = Spot { point: p.map(f64::from), value: value.into(), outward };
            }
        }
        // Of places that are as near, that which faces the triangle most.
        let across = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
        let normal = across.try_normalize(0.0).unwrap_or_else(Vec3::zeros);
        let enough = best.value + self.tolerance(best.value, size);
        for spot in spots.iter().filter(|spot| spot.value <= enough) {
            if spot.outward.dot(&normal) < best.outward.dot(&normal) {
                best = *spot;
            }
        }
        Some(Patch { lower, order: *count, what: What::Part(Part { triangle, corners, normal, best }) })
    }
}

/// Returns the largest coordinate of a triangle.
fn size_of(corners: &[Vec3; 3]) -> f64 {
    corners.iter().fold(0.0f64, |size, c| size.max(c.amax()))
}

/// Returns the halves of a triangle on both sides of the middle of its longest edge.
fn halves(corners: &[Vec3; 3]) -> [[Vec3; 3]; 2] {
    let length = |i: usize| (corners[(i + 1) % 3] - corners[i]).norm_squared();
    let i = (1..3).fold(0, |longest, i| if length(i) > length(longest) { i } else { longest });
    let (a, b, c) = (corners[i], corners[(i + 1) % 3], corners[(i + 2) % 3]);
    let middle = 0.5 * (a + b);
    [[a, middle, c], [middle, b, c]]
}
