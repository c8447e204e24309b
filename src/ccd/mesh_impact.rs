//! Time of impact of two triangle meshes on rigid motions, without fields or samples (Redon, Kheddar & Coquillart 2002;
//! Ortega, Redon & Coquillart 2007, section 4.1).
//!
//! The two hierarchies of boxes are descended together; a pair of boxes that moves farther than its size first halves
//! its interval of time, and does the earlier half first. For two triangles that may come near, each pair of features
//! is tested by recursion over halves of the interval (`mesh_feature`). The paper bounds nodes by balls; the boxes of
//! the mesh's own hierarchy are tighter, and their test is the paper's with the box's extent along an axis in place of
//! the radius.

use super::mesh_feature::{closest_of_triangles, pierces, plane_between, Closest, Pair, Verdict};
pub use super::mesh_motion::RigidPath;
use super::mesh_motion::{Dyadic, FrameCache, Frames, RigidMotion, MAX_HALVINGS};
use voxshell_base::math::{limits, limits::check_pose, Pose, Vec3};
use voxshell_base::memory::GrowGuarded;
use voxshell_base::{Error, Result};
use voxshell_mesh::triangle::Corners;
use voxshell_mesh::{Branch, Bvh, FeatureKind, FeaturedTriangles, Locator, MeshFeature};

/// A mesh with its poses at the start and at the end of a step, body to world.
#[derive(Clone, Copy)]
pub struct MovingMesh<'a> {
    pub mesh: &'a Locator,
    pub from: Pose,
    pub to: Pose,
}

/// Triangles with their poses at the start and at the end of a step.
pub(super) struct MovingTriangles<'a, T> {
    pub mesh: &'a T,
    pub from: &'a Pose,
    pub to: &'a Pose,
}

impl<'a> MovingMesh<'a> {
    pub(super) fn triangles(&'a self) -> MovingTriangles<'a, Locator> {
        MovingTriangles { mesh: self.mesh, from: &self.from, to: &self.to }
    }
}

/// A feature of A and one of B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeaturePair {
    pub a: MeshFeature,
    pub b: MeshFeature,
}

/// Parameters of a query of two meshes.
#[derive(Clone, Copy, Debug)]
pub struct MeshQuery<'a> {
    pub path: RigidPath,
    /// Surfaces this close count as touching, metres: 0 or more.
    pub max_separation: f64,
    /// Amount by which the distance of a reported pair may exceed `max_separation`, metres: positive.
    pub tolerance: f64,
    /// Width of an interval of time that is not halved any more if the features are within the tolerance and the motion
    /// in the interval; a fraction of the step, 0 or more.
    pub time_tolerance: f64,
    /// Fraction of the step after which the motion is ignored, 0 to 1.
    pub until: f64,
    /// Pairs to leave out, ascending.
    pub known: &'a [FeaturePair],
}

impl MeshQuery<'_> {
    /// Returns the parameters to touching, over the whole step, with a tolerance.
    pub fn new(tolerance: f64) -> Self {
        Self { path: RigidPath::Screw, max_separation: 0.0, tolerance, time_tolerance: 0.0, until: 1.0, known: &[] }
    }
}

/// First contact of two meshes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshImpact {
    /// Fraction of the step, 0 to 1. Before this time all pairs of features that are not known are proven to be farther
    /// apart than `max_separation`.
    pub time: f64,
    /// Length of the interval that begins at `time`, in which the features come within reach or within the tolerance of
    /// it.
    pub width: f64,
    /// Closest points of the two features at `time`, world frame, metres.
    pub point_on_a: Vec3,
    pub point_on_b: Vec3,
    /// Unit normal from A to B, world frame: the cross product of the edges, or that of the face. Where the features
    /// are apart and their closest points lie at their ends, the direction between these.
    pub normal: Vec3,
    /// Distance of the two points, metres.
    pub separation: f64,
    pub features: FeaturePair,
    /// Triangles to which the features belong.
    pub triangles: [u32; 2],
}

/// Numbers of tests of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeshStats {
    pub node_tests: u64,
    pub triangle_tests: u64,
    /// Intervals of time of pairs of features.
    pub feature_tests: u64,
}

/// Scratch of the queries; one per thread.
#[derive(Clone, Default)]
pub struct MeshWorkspace {
    cache: FrameCache,
    open: Vec<(u32, u32, Dyadic)>,
    pub(super) stats: MeshStats,
}

impl MeshWorkspace {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the numbers of tests of the last query.
    pub fn stats(&self) -> MeshStats {
        self.stats
    }
}

/// Returns a tolerance that suits two meshes: a millionth of the extent of the smaller one, metres.
pub fn default_mesh_tolerance(a: &Locator, b: &Locator) -> f64 {
    let extent = |mesh: &Locator| mesh.bvh().bounds().extents().max();
    let tolerance = 1e-6 * extent(a).min(extent(b));
    if tolerance > 0.0 && tolerance.is_finite() {
        tolerance
    } else {
        1e-6
    }
}

pub(super) fn motions<T: FeaturedTriangles>(
    a: &MovingTriangles<T>,
    b: &MovingTriangles<T>,
    path: RigidPath,
) -> ([RigidMotion; 2], Vec3) {
    let origin = a.from.translation.vector;
    let motion =
        |m: &MovingTriangles<T>| RigidMotion::new(m.from, m.to, path, &origin, &m.mesh.bvh().bounds().center());
    ([motion(a), motion(b)], origin)
}

fn check(a: &MovingMesh, b: &MovingMesh, query: &MeshQuery) -> Result<()> {
    for (name, pose) in [("a.from", &a.from), ("a.to", &a.to), ("b.from", &b.from), ("b.to", &b.to)] {
        check_pose(name, pose)?;
    }
    let length = |name, value: f64, least: f64, expected| {
        let is_in_range = value >= least && limits::is_coordinate(value);
        is_in_range.then_some(()).ok_or_else(|| Error::argument(name, limits::Shown(value), expected))
    };
    length("max_separation", query.max_separation, 0.0, "a length of 0 to 1e18 m: surfaces have no depth")?;
    length("tolerance", query.tolerance, f64::MIN_POSITIVE, "a positive, finite length of at most 1e18 m")?;
    for (name, value) in [("until", query.until), ("time_tolerance", query.time_tolerance)] {
        if !(0.0..=1.0).contains(&value) {
            return Err(Error::argument(name, value, "a part of the step, 0 to 1"));
        }
    }
    if !query.known.is_sorted() {
        return Err(Error::argument("known", "not sorted", "pairs of features in ascending order"));
    }
    Ok(())
}

/// Returns the first contact of the surfaces of two meshes, `None` if there is none until `query.until`.
///
/// No contact is missed: before [`MeshImpact::time`] every pair of features is proven to be farther apart than
/// `max_separation`, in arithmetic that is rounded outward, along the motions that `RigidPath` names. At that time the
/// reported pair is at most the tolerance farther apart than that, so a near miss within the tolerance may be reported.
/// Surfaces that touch, or pass through each other, at the start give 0; a mesh within another one does not touch it.
/// A search that takes 2^20 tests, and 256 for each triangle, takes what is not proven to be apart by then for a contact.
/// Once the workspace is warm this allocates nothing; the same input gives the same bytes.
///
/// # Errors
/// `InvalidArgument` for numbers out of their range.
pub fn mesh_time_of_impact(
    a: &MovingMesh,
    b: &MovingMesh,
    query: &MeshQuery,
    workspace: &mut MeshWorkspace,
) -> Result<Option<MeshImpact>> {
    check(a, b, query)?;
    Ok(first_touch(&a.triangles(), &b.triangles(), query, &|_| false, workspace).map(|(impact, _)| impact))
}

/// Returns the first contact as [`mesh_time_of_impact`], and its triangles in leaf order. Pairs for which `is_left_out` are
/// not tested. The numbers of the query are in range.
pub(super) fn first_touch<T: FeaturedTriangles>(
    a: &MovingTriangles<T>,
    b: &MovingTriangles<T>,
    query: &MeshQuery,
    is_left_out: &dyn Fn(&FeaturePair) -> bool,
    workspace: &mut MeshWorkspace,
) -> Option<(MeshImpact, [u32; 2])> {
    workspace.stats = MeshStats::default();
    if a.mesh.bvh().is_empty() || b.mesh.bvh().is_empty() {
        return None;
    }
    let (motions, origin) = motions(a, b, query.path);
    let MeshWorkspace { cache, open, stats } = workspace;
    cache.begin(&motions);
    let start = Frames::at(&motions, 0.0);
    let triangles = a.mesh.bvh().len() as u64 + b.mesh.bvh().len() as u64;
    let most_tests = MOST_TESTS + MOST_TESTS_PER_TRIANGLE * triangles;
    let mut search =
        Search { a: a.mesh, b: b.mesh, query, is_left_out, most_tests, motions, start, cache, stats, best: None };
    search.run(open);
    search.best.map(|found| (found.impact(&motions, &origin, [a.mesh.bvh(), b.mesh.bvh()]), found.triangles))
}

/// A search that has made this many tests halves no more intervals. This bounds its time: a tolerance far below the
/// rounding of the coordinates would otherwise take longer than anyone waits.
const MOST_TESTS: u64 = 1 << 20;
const MOST_TESTS_PER_TRIANGLE: u64 = 256;

/// The earliest contact so far.
#[derive(Clone, Copy)]
struct Found {
    interval: Dyadic,
    features: FeaturePair,
    /// In leaf order.
    triangles: [u32; 2],
    pair: Pair,
    /// An edge passes through a face at the start; `pair` is then one of its ends and the face.
    pierced: bool,
}

struct Search<'a, T> {
    a: &'a T,
    b: &'a T,
    query: &'a MeshQuery<'a>,
    is_left_out: &'a dyn Fn(&FeaturePair) -> bool,
    most_tests: u64,
    motions: [RigidMotion; 2],
    start: Frames,
    cache: &'a mut FrameCache,
    stats: &'a mut MeshStats,
    best: Option<Found>,
}

/// How far apart two boxes are, and how they move.
pub(super) struct Boxes {
    /// Closest that they may come during the interval, metres; negative if they may meet.
    pub gap: f64,
    /// Largest displacement of points of one against the other in half the interval.
    displacement: f64,
    /// Rounding errors of the places, metres: below them a shorter interval tells nothing new.
    slack: f64,
    /// The boxes of the triangles grow by this along the axes of B.
    pad: Vec3,
}

/// Tests the boxes of two nodes by the axes of both (Gottschalk, Lin & Manocha 1996, without the products of edges),
/// during the interval of the frames.
///
/// Along a fixed axis n two points come nearer at most at the rate |n · v| + |ω_A| r_A + |ω_B| r_B, where v is the
/// relative velocity of the centres, and the rate changes by at most the accelerations.
pub(super) fn compare(frames: &Frames, a: &Branch, b: &Branch) -> Boxes {
    let (of_a, of_b, half) = (&frames.a, &frames.b, frames.half);
    let center = frames.rotation * (a.center - of_a.center) + frames.shift;
    let d = center - b.center;
    let (place_a, place_b) = (of_a.point(&a.center), of_b.point(&b.center));
    let v = of_b.r.tr_mul(&(of_a.velocity(&place_a) - of_b.velocity(&place_b)));
    let (radius_a, radius_b) = (a.half.norm(), b.half.norm());
    let turning = of_a.omega.norm() * radius_a + of_b.omega.norm() * radius_b;
    let bend = of_a.acceleration((place_a - of_a.c).norm() + radius_a)
        + of_b.acceleration((place_b - of_b.c).norm() + radius_b);
    // Relative rounding errors of all terms together are below 1e-13.
    let size = d.norm() + radius_a + radius_b + a.center.norm() + b.center.norm();
    let slack = frames.slack + 1e-13 * (size + half * (v.norm() + turning));
    let common = half * (turning + 0.5 * half * bend) * (1.0 + 1e-9) + slack;
    let r = &frames.rotation;
    let mut gap = f64::NEG_INFINITY;
    let mut pad = Vec3::zeros();
    for i in 0..3 {
        let reach_a = (r[(i, 0)].abs() * a.half.x + r[(i, 1)].abs() * a.half.y) + r[(i, 2)].abs() * a.half.z;
        pad[i] = half * v[i].abs() + common;
        gap = gap.max(d[i].abs() - reach_a - b.half[i] - pad[i]);
    }
    for j in 0..3 {
        let axis = r.column(j);
        let reach_b = (axis[0].abs() * b.half.x + axis[1].abs() * b.half.y) + axis[2].abs() * b.half.z;
        gap = gap.max(axis.dot(&d).abs() - reach_b - a.half[j] - half * axis.dot(&v).abs() - common);
    }
    Boxes { gap, displacement: half * (v.norm() + turning + 0.5 * half * bend), slack, pad }
}

impl<T: FeaturedTriangles> Search<'_, T> {
    fn is_late(&self, interval: Dyadic) -> bool {
        let from = interval.from();
        from > self.query.until || self.best.is_some_and(|best| from >= best.interval.from())
    }

    /// Whether the tests are used up. From then on what is not proven to be apart counts as a contact: the answer is never
    /// late, but may be early by more than the tolerance.
    fn is_exhausted(&self) -> bool {
        self.stats.node_tests + self.stats.triangle_tests + self.stats.feature_tests >= self.most_tests
    }

    fn run(&mut self, open: &mut Vec<(u32, u32, Dyadic)>) {
        open.clear();
        open.push_guarded((0, 0, Dyadic::WHOLE));
        let (first, second) = (self.a.bvh(), self.b.bvh());
        while let Some((i, j, interval)) = open.pop() {
            if self.is_late(interval) {
                continue;
            }
            let (a, b) = (first.branch(i), second.branch(j));
            self.stats.node_tests += 1;
            let boxes = compare(self.cache.get(&self.motions, interval), &a, &b);
            if boxes.gap > self.query.max_separation {
                continue;
            }
            let (size_a, size_b) = (a.half.norm(), b.half.norm());
            let reach = size_a + size_b + self.query.max_separation + self.query.tolerance;
            let is_long = boxes.displacement > 0.5 * reach && boxes.displacement > boxes.slack;
            if is_long && interval.depth < MAX_HALVINGS && !self.is_exhausted() {
                let [earlier, later] = interval.halves();
                open.push_guarded((i, j, later));
                open.push_guarded((i, j, earlier));
                continue;
            }
            match (a.first_child, b.first_child) {
                (None, None) => self.leaves(&a, &b, &boxes.pad, interval),
                (Some(child), None) => open.extend_guarded([(child + 1, j, interval), (child, j, interval)]),
                (None, Some(child)) => open.extend_guarded([(i, child + 1, interval), (i, child, interval)]),
                (Some(child), Some(_)) if size_a >= size_b => {
                    open.extend_guarded([(child + 1, j, interval), (child, j, interval)]);
                }
                (Some(_), Some(child)) => open.extend_guarded([(i, child + 1, interval), (i, child, interval)]),
            }
        }
    }

    fn leaves(&mut self, a: &Branch, b: &Branch, pad: &Vec3, interval: Dyadic) {
        let limit = self.query.max_separation;
        let (first, second) = (self.a.bvh(), self.b.bvh());
        for k in a.triangles() {
            let frames = self.cache.get(&self.motions, interval);
            let t = first.corners_at(k).map(|x| frames.rotation * (x - frames.a.center) + frames.shift);
            let low = t[0].inf(&t[1]).inf(&t[2]) - pad - Vec3::repeat(limit);
            let high = t[0].sup(&t[1]).sup(&t[2]) + pad + Vec3::repeat(limit);
            for l in b.triangles() {
                let u = second.corners_at(l);
                let (lower, upper) = (u[0].inf(&u[1]).inf(&u[2]), u[0].sup(&u[1]).sup(&u[2]));
                if (0..3).all(|i| low[i] <= upper[i] && high[i] >= lower[i]) {
                    self.triangles(k, l, interval);
                }
            }
        }
    }

    fn triangles(&mut self, k: u32, l: u32, interval: Dyadic) {
        if self.is_late(interval) {
            return;
        }
        self.stats.triangle_tests += 1;
        let frames = self.cache.get(&self.motions, interval);
        if are_apart(frames, self.query.max_separation, (self.a.bvh(), k), (self.b.bvh(), l)) {
            return;
        }
        if interval.index == 0 {
            self.passes_at_start(k, l);
        }
        let (a, b) = (self.a, self.b);
        each_pair((a, k), (b, l), |features, pair| self.feature_pair(features, pair, [k, l], interval));
    }

    /// Keeps a contact as the earliest, and returns whether it is not left out.
    fn found(
        &mut self,
        features: FeaturePair,
        pair: Pair,
        triangles: [u32; 2],
        interval: Dyadic,
        pierced: bool,
    ) -> bool {
        if (self.is_left_out)(&features) {
            return false;
        }
        self.best = Some(Found { interval, features, triangles, pair, pierced });
        true
    }

    fn is_known(&self, features: &FeaturePair) -> bool {
        !self.query.known.is_empty() && self.query.known.binary_search(features).is_ok()
    }

    /// Finds the first interval in which two features may be within the limit.
    fn feature_pair(&mut self, features: FeaturePair, pair: Pair, triangles: [u32; 2], whole: Dyadic) {
        if self.is_known(&features) {
            return;
        }
        let query = self.query;
        let mut at = Some(whole);
        while let Some(interval) = at {
            if self.is_late(interval) {
                return;
            }
            self.stats.feature_tests += 1;
            let frames = self.cache.get(&self.motions, interval);
            at = match pair.test(frames, query.max_separation) {
                Verdict::Apart => interval.next(whole),
                Verdict::Near { distance, change } => {
                    // At the start of the interval they are then at most the tolerance beyond the limit: 3/8 to its
                    // middle, and 3/8 + 1/4 there.
                    let is_short = change <= 0.375 * query.tolerance || interval.width() <= query.time_tolerance;
                    // The discrete test of proximity: where it fails, a smaller interval gives the proof.
                    let is_close = distance <= query.max_separation + change + 0.25 * query.tolerance;
                    if (is_short && is_close) || interval.depth >= MAX_HALVINGS || self.is_exhausted() {
                        self.found(features, pair, triangles, interval, false);
                        return;
                    }
                    Some(interval.halves()[0])
                }
            };
        }
    }

    /// Finds edges that pass through faces at the start: no other pair of features then needs to touch.
    fn passes_at_start(&mut self, k: u32, l: u32) {
        let (a, b) = (self.a.bvh(), self.b.bvh());
        let place = |x: &Vec3| self.start.rotation * (x - self.start.a.center) + self.start.shift;
        let (t, u) = (a.corners_at(k).map(|x| place(&x)), *b.corners_at(l));
        let close = 0.5 * self.query.tolerance;
        let (triangle_a, triangle_b) = (a.id(k as usize), b.id(l as usize));
        let face = |index| MeshFeature::new(FeatureKind::Face, index);
        for i in 0..3 {
            let (from, to) = (i, (i + 1) % 3);
            if let Some(edge) = self.a.edge(k, i) {
                let features = FeaturePair { a: edge, b: face(triangle_b) };
                if pierces(&[t[from], t[to]], &u, b.is_sliver(l as usize), close) && !self.is_known(&features) {
                    let (corners, face) = (a.corners_at(k), *b.corners_at(l));
                    let pair = nearer_end(&self.start, &[corners[from], corners[to]], &face, false);
                    if self.found(features, pair, [k, l], Dyadic::WHOLE, true) {
                        return;
                    }
                }
            }
            if let Some(edge) = self.b.edge(l, i) {
                let features = FeaturePair { a: face(triangle_a), b: edge };
                if pierces(&[u[from], u[to]], &t, a.is_sliver(k as usize), close) && !self.is_known(&features) {
                    let pair = nearer_end(&self.start, &[u[from], u[to]], a.corners_at(k), true);
                    if self.found(features, pair, [k, l], Dyadic::WHOLE, true) {
                        return;
                    }
                }
            }
        }
    }
}

/// Returns the end of an edge that is nearer to the plane of the face through which the edge passes.
fn nearer_end(frames: &Frames, edge: &[Vec3; 2], face: &Corners, face_is_a: bool) -> Pair {
    let pairs = edge.map(|x| if face_is_a { Pair::FaceVertex(*face, x) } else { Pair::VertexFace(x, *face) });
    let depth = |pair: &Pair| {
        let (closest, normal) = (pair.closest(frames), pair.normal(frames));
        (closest.on_b - closest.on_a).dot(&normal).abs()
    };
    if depth(&pairs[0]) <= depth(&pairs[1]) {
        pairs[0]
    } else {
        pairs[1]
    }
}

/// Returns whether two triangles, in leaf order, are proven to be farther apart than `limit` during the interval.
pub(super) fn are_apart(frames: &Frames, limit: f64, (a, k): (&Bvh, u32), (b, l): (&Bvh, u32)) -> bool {
    let (t, u) = (a.corners_at(k), b.corners_at(l));
    let (placed_t, placed_u) = (t.map(|x| frames.a.point(&x)), u.map(|x| frames.b.point(&x)));
    let c = closest_of_triangles(&placed_t, a.is_sliver(k as usize), &placed_u, b.is_sliver(l as usize));
    let between = c.on_b - c.on_a;
    let distance = between.norm();
    distance > limit && plane_between(frames, &(between / distance), limit, t, u)
}

/// Calls `on` for each pair of features of two triangles, in leaf order, that is assigned to them.
pub(super) fn each_pair<T: FeaturedTriangles>(
    (a, k): (&T, u32),
    (b, l): (&T, u32),
    mut on: impl FnMut(FeaturePair, Pair),
) {
    let (t, u) = (*a.bvh().corners_at(k), *b.bvh().corners_at(l));
    let (triangle_a, triangle_b) = (a.bvh().id(k as usize), b.bvh().id(l as usize));
    let face = |index| MeshFeature::new(FeatureKind::Face, index);
    for i in 0..3 {
        if let Some(vertex) = a.vertex(k, i) {
            on(FeaturePair { a: vertex, b: face(triangle_b) }, Pair::VertexFace(t[i], u));
        }
        if let Some(vertex) = b.vertex(l, i) {
            on(FeaturePair { a: face(triangle_a), b: vertex }, Pair::FaceVertex(t, u[i]));
        }
        let Some(edge_a) = a.edge(k, i) else { continue };
        for j in 0..3 {
            if let Some(edge_b) = b.edge(l, j) {
                let edges = Pair::Edges([t[i], t[(i + 1) % 3]], [u[j], u[(j + 1) % 3]]);
                on(FeaturePair { a: edge_a, b: edge_b }, edges);
            }
        }
    }
}

impl Found {
    fn impact(&self, motions: &[RigidMotion; 2], origin: &Vec3, [a, b]: [&Bvh; 2]) -> MeshImpact {
        let time = if self.pierced { 0.0 } else { self.interval.from() };
        let frames = Frames::at(motions, time);
        let Closest { on_a, on_b } = self.pair.closest(&frames);
        let (normal, separation) = direction(&self.pair, &frames, &on_a, &on_b);
        let (point_on_a, point_on_b) = (on_a + origin, on_b + origin);
        let width = if self.pierced { 0.0 } else { self.interval.width() };
        let (separation, normal) = if self.pierced { (0.0, -normal) } else { (separation, normal) };
        let point_on_b = if self.pierced { point_on_a } else { point_on_b };
        let [k, l] = self.triangles;
        let (features, triangles) = (self.features, [a.id(k as usize), b.id(l as usize)]);
        MeshImpact { time, width, point_on_a, point_on_b, normal, separation, features, triangles }
    }
}

/// Returns the unit normal from A to B and the distance of two features whose closest points are given.
pub(super) fn direction(pair: &Pair, frames: &Frames, on_a: &Vec3, on_b: &Vec3) -> (Vec3, f64) {
    let between = on_b - on_a;
    let separation = between.norm();
    let own = pair.normal(frames);
    // Below this length rounding decides the direction between the points.
    let least = 1e-12 * (on_a.norm() + frames.a.c.norm() + frames.b.c.norm());
    if separation > least {
        let unit = between / separation;
        let cosine = own.dot(&unit);
        return (if cosine.abs() > 0.999 { own * cosine.signum() } else { unit }, separation);
    }
    let approach = frames.a.velocity(on_a) - frames.b.velocity(on_b);
    let along = if own == Vec3::zeros() { approach.try_normalize(0.0).unwrap_or_else(Vec3::y) } else { own };
    // Touching: the normal points to where A moves against B, and without motion from A's middle to B's.
    let toward = if approach.dot(&along) != 0.0 { approach } else { frames.b.c - frames.a.c };
    (if toward.dot(&along) < 0.0 { -along } else { along }, separation)
}
