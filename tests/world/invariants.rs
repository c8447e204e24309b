//! Promises of a pair over random bodies and poses, at default settings: complete and true against the triangles, symmetric,
//! continuous, and right for what is thin.

use support::rng::Rng;
use voxshell::contact::{Coverage, Pair, PairOptions, PairPoint, PairStep, Workspace, FEATURE_OF_B, FEATURE_OF_EDGE};
use voxshell::math::Pose;

use super::bodies::{Approach, Body, Scene};
use super::closest;
use super::oracle::Triangles;

/// Promises that did not hold.
#[derive(Default)]
pub struct Broken {
    checks: usize,
    all: Vec<String>,
}

impl Broken {
    pub fn unless(&mut self, holds: bool, what: impl FnOnce() -> String) {
        self.checks += 1;
        if !holds {
            self.all.push(what());
        }
    }

    /// Asserts that all promises held, and that there were at least so many.
    pub fn none(self, least: usize) {
        let shown: Vec<_> = self.all.iter().take(1000).collect();
        assert!(self.all.is_empty(), "{} of {} do not hold:\n{shown:#?}", self.all.len(), self.checks);
        assert!(self.checks >= least, "only {} promises", self.checks);
    }
}

pub fn pair(margin: f64) -> Pair {
    Pair::new(PairOptions { margin, ..PairOptions::default() }).unwrap()
}

pub fn update(pair: &mut Pair, [a, b]: [&Body; 2], [pose_a, pose_b]: &[Pose; 2]) {
    let bodies = [a, b].map(|body| body.shape.geometry_for(Coverage::Edges).unwrap());
    let owners = [a.shape.owner(), b.shape.owner()];
    pair.update([&bodies[0], &bodies[1]], Some(owners), &PairStep::at_rest(*pose_a, *pose_b)).unwrap();
}

fn feature_of(point: &PairPoint) -> u32 {
    (point.id >> 32) as u32
}

fn deepest(pair: &Pair) -> Option<&PairPoint> {
    pair.points().iter().min_by(|p, q| p.separation.total_cmp(&q.separation))
}

/// Returns the least separation, at most the margin.
fn least(pair: &Pair, margin: f64) -> f64 {
    deepest(pair).map_or(margin, |point| point.separation.min(margin))
}

/// Returns the tolerance of a separation: that of the pair, and of gaps a tenth.
fn slack(separation: f64, tolerance: f64) -> f64 {
    tolerance.max(0.1 * separation)
}

/// Returns the margin option of a pair, and the margin, metres: the default, or up to half an extent.
pub fn any_margin(scene: &Scene, rng: &mut Rng) -> (f64, f64) {
    let default = 4.0 * scene.tolerance();
    if rng.next() % 2 == 0 {
        return (0.0, default);
    }
    let margin = default * (0.5 * scene.extent() / default).powf(rng.fraction());
    (margin, margin)
}

/// Returns distances from touching, metres: deep, shallow, and gaps of up to five extents.
pub fn distances(extent: f64, rng: &mut Rng) -> [f64; 6] {
    let mut between = |low: f64, high: f64| low * (high / low).powf(rng.fraction()) * extent;
    [-between(0.01, 0.05), -between(1e-5, 0.01), 1e-9, between(1e-5, 3e-3), between(1e-3, 0.5), between(0.5, 5.0)]
}

/// Calls `each` with random bodies, their names, and a line on which they meet.
fn all_scenes(first: u64, seeds: u64, mut each: impl FnMut(&str, &Scene, &Approach, &mut Rng)) {
    let mut workspace = Workspace::new();
    for seed in first..first + super::seeds(seeds) {
        let mut rng = Rng(seed);
        let scene = Scene::new(&mut rng);
        let line = scene.approach(&mut rng, &mut workspace);
        let [a, b] = &scene.bodies;
        each(&format!("seed {seed}, {} and {}", a.name, b.name), &scene, &line, &mut rng);
    }
}

/// Two bodies at two poses, with their triangles.
pub struct Check<'a> {
    what: String,
    scene: &'a Scene,
    poses: [Pose; 2],
    pub triangles: [Triangles; 2],
    /// Distance of the triangles, metres; 0 where they intersect.
    pub apart: f64,
}

impl<'a> Check<'a> {
    pub fn new(what: String, scene: &'a Scene, poses: [Pose; 2]) -> Self {
        let triangles = scene.triangles(&poses);
        let apart = triangles[0].distance(&triangles[1]);
        Self { what, scene, poses, triangles, apart }
    }

    /// Where the triangles are closer than the margin, a point is as near.
    fn is_complete(&self, pair: &Pair, margin: f64, broken: &mut Broken) {
        let (t, apart) = (self.scene.tolerance(), self.apart);
        // An answer is kept while the bodies move by less than the tolerance.
        if apart > margin - t {
            return;
        }
        let least = deepest(pair).map_or(f64::INFINITY, |point| point.separation);
        broken.unless(least <= apart + slack(apart, t), || {
            let (what, count) = (&self.what, pair.points().len());
            format!(
                "complete: {what}: {:.2} t apart, margin {:.2} t, {count} points from {:.2} t",
                apart / t,
                margin / t,
                least / t
            )
        });
    }

    /// The two points lie on the surfaces, apart by the separation along the normal, and between them is the other body if they
    /// penetrate, and nothing of it otherwise. A sample is as far from the other body as it says.
    ///
    /// The normal of an edge that is inside the other body may lie between those of two faces that are as near. Then the
    /// separation is the distance of the edge, and the point on the other body is not on its surface.
    fn is_true(&self, point: &PairPoint, broken: &mut Broken) {
        let t = self.scene.tolerance();
        let PairPoint { point_on_a, point_on_b, normal, separation, .. } = *point;
        let feature = feature_of(point);
        let (of_b, is_edge) = (feature & FEATURE_OF_B != 0, feature & FEATURE_OF_EDGE != 0);
        let slack = slack(separation, t);
        let what = || format!("{}, feature {feature:x} at {:.2} t", self.what, separation / t);
        broken.unless((normal.norm() - 1.0).abs() < 1e-9, || format!("normal: {}", what()));
        let across = (point_on_b - point_on_a - normal * separation).norm();
        broken.unless(across <= t, || format!("points and normal: {}: {:.2} t", what(), across / t));
        let [first, second] = &self.triangles;
        let (own, own_surface, other, surface) = match of_b {
            false => (point_on_a, first, point_on_b, second),
            true => (point_on_b, second, point_on_a, first),
        };
        let off = own_surface.off(&own);
        broken.unless(off <= t, || format!("own surface: {}: {:.2} t", what(), off / t));
        let (off, real) = (surface.off(&other), surface.off(&own).copysign(separation));
        let is_distance = (real - separation).abs() <= slack;
        let is_on = off <= slack || (is_edge && separation < 0.0 && is_distance);
        broken.unless(is_on, || format!("surface: {}: {:.2} t, distance {:.2} t", what(), off / t, real / t));
        broken.unless(is_edge || is_distance, || format!("distance: {}: {:.2} t", what(), real / t));
        for share in [0.25, 0.5, 0.75] {
            let between = own + (other - own) * share;
            let is_right = surface.contains(&between) == (separation < 0.0) || surface.off(&between) <= slack;
            broken.unless(is_right, || format!("side: {}", what()));
        }
    }

    /// The distance of bodies that are apart is that of the triangles.
    fn has_its_distance(&self, workspace: &mut Workspace, broken: &mut Broken) {
        let Self { what, scene, poses, triangles, apart } = self;
        let is_in = |i: usize| {
            let corner = nalgebra::Point3::from(scene.bodies[i].mesh.vertices[0]);
            triangles[1 - i].contains(&(poses[i] * corner).coords)
        };
        if *apart == 0.0 || is_in(0) || is_in(1) {
            return;
        }
        let [a, b] = [0, 1].map(|i| &scene.bodies[i].shape);
        let found = closest(a, &poses[0], b, &poses[1], workspace).separation;
        let slack = scene.tolerance().max(1e-3 * apart);
        broken.unless((found - apart).abs() <= slack, || format!("distance: {what}: {found} instead of {apart}"));
    }
}

#[test]
fn pairs_are_complete_and_true_against_the_triangles() {
    let (mut broken, mut workspace) = (Broken::default(), Workspace::new());
    all_scenes(0, 12, |what, scene, line, rng| {
        let bodies = [&*scene.bodies[0], &*scene.bodies[1]];
        for distance in distances(scene.extent(), rng) {
            let (given, margin) = any_margin(scene, rng);
            let mut pair = pair(given);
            let start = line.poses(distance);
            for size in [0.0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1] {
                let poses = if size > 0.0 { scene.moved(&start, size * scene.extent(), rng).0 } else { start };
                update(&mut pair, bodies, &poses);
                let check = Check::new(format!("{what} at {distance}, moved by {size}"), scene, poses);
                check.is_complete(&pair, margin, &mut broken);
                pair.points().iter().for_each(|point| check.is_true(point, &mut broken));
                check.has_its_distance(&mut workspace, &mut broken);
            }
        }
    });
    broken.none(3_000);
}

/// Cosine of the largest angle between the normals of a manifold in both orders, 22°: the mean of a few points of a region that
/// is not flat depends on which are chosen.
const ONE_NORMAL: f64 = 0.927;

#[test]
fn exchanging_the_bodies_changes_signs_alone() {
    let mut broken = Broken::default();
    all_scenes(1000, 20, |what, scene, line, rng| {
        let ([a, b], t) = ([&*scene.bodies[0], &*scene.bodies[1]], scene.tolerance());
        // Of two bodies with the same samples, the first brings them.
        if a.mesh == b.mesh {
            return;
        }
        for distance in distances(scene.extent(), rng) {
            let (given, margin) = any_margin(scene, rng);
            let (mut one, mut two) = (pair(given), pair(given));
            let [p, q] = line.poses(distance);
            update(&mut one, [a, b], &[p, q]);
            update(&mut two, [b, a], &[q, p]);
            let [p, q] = [&one, &two].map(|pair| least(pair, margin));
            broken.unless((p - q).abs() <= t, || format!("{what} at {distance}: {:.2} t and {:.2} t", p / t, q / t));
            for (one, two) in [(&one, &two), (&two, &one)] {
                for manifold in one.manifolds() {
                    let likeness = two.manifolds().iter().map(|other| -other.normal.dot(&manifold.normal));
                    let best = likeness.fold(-1.0, f64::max);
                    broken.unless(best >= ONE_NORMAL, || format!("{what} at {distance}: a normal alone, {best}"));
                }
            }
        }
    });
    broken.none(300);
}

/// Returns whether the deepest point is on an edge of which no part is outside the other body at some other poses. Such an edge
/// crosses no triangle, and if its body brings no samples it is not found.
fn is_swallowed(scene: &Scene, pair: &Pair, poses: &[Pose; 2]) -> bool {
    let Some(feature) = deepest(pair).map(feature_of).filter(|feature| feature & FEATURE_OF_EDGE != 0) else {
        return false;
    };
    let of = usize::from(feature & FEATURE_OF_B != 0);
    let geometry = scene.bodies[of].shape.geometry_for(Coverage::Edges).unwrap();
    let ends = geometry.surface.unwrap().edge(feature & !(FEATURE_OF_B | FEATURE_OF_EDGE));
    let other = &scene.triangles(poses)[1 - of];
    ends.iter().all(|end| other.contains(&(poses[of] * nalgebra::Point3::from(*end)).coords))
}

/// An update, its poses and the margin of the pair, metres.
type Answer<'a> = (&'a Pair, &'a [Pose; 2], f64);

/// Returns whether the least separations of two updates differ by no more than the bodies `moved` in between, metres.
fn is_continuous(scene: &Scene, (before, from, margin): Answer, (after, to, _): Answer, moved: f64) -> bool {
    let [p, q] = [before, after].map(|pair| least(pair, margin));
    let is_near = (p - q).abs() <= moved + slack(p.max(q), scene.tolerance());
    is_near || is_swallowed(scene, before, to) || is_swallowed(scene, after, from)
}

fn jump(what: &str, scene: &Scene, before: &Pair, after: &Pair) -> String {
    let [p, q] = [before, after].map(|pair| least(pair, f64::INFINITY) / scene.tolerance());
    format!("{what}, {:?}: {p:.3} t to {q:.3} t", after.origin())
}

#[test]
fn separations_change_no_more_than_bodies_move() {
    let mut broken = Broken::default();
    all_scenes(2000, 12, |what, scene, line, rng| {
        let bodies = [&*scene.bodies[0], &*scene.bodies[1]];
        for distance in distances(scene.extent(), rng) {
            let (given, margin) = any_margin(scene, rng);
            let start = line.poses(distance);
            let mut pair = pair(given);
            update(&mut pair, bodies, &start);
            for size in [1e-6, 1e-5, 1e-4, 3e-4, 1e-3] {
                let (poses, moved) = scene.moved(&start, size * scene.extent(), rng);
                for mut next in [self::pair(given), pair.copied()] {
                    update(&mut next, bodies, &poses);
                    let holds = is_continuous(scene, (&pair, &start, margin), (&next, &poses, margin), moved);
                    broken.unless(holds, || {
                        jump(&format!("{what} at {distance}, moved by {moved}"), scene, &pair, &next)
                    });
                }
            }
        }
    });
    broken.none(700);
}

/// A step on the way in, in tolerances: more than that up to which an answer is kept.
const STEP: f64 = 0.3;

/// Margins of a pair, in tolerances: that by default, and a wide one.
const MARGINS: [f64; 2] = [4.0, 40.0];

/// Depth to which a body comes in, in extents of the smaller one.
const DEEPEST: f64 = 0.05;

#[test]
fn separations_are_continuous_on_the_way_in() {
    let mut broken = Broken::default();
    all_scenes(3000, 8, |what, scene, line, rng| {
        let (bodies, t) = ([&*scene.bodies[0], &*scene.bodies[1]], scene.tolerance());
        let margin = MARGINS[rng.next() as usize % 2] * t;
        let mut distance = margin + (1.0 + STEP * rng.fraction()) * t;
        let mut from = line.poses(distance);
        let (mut cold, mut warm) = (pair(margin), pair(margin));
        [&mut cold, &mut warm].into_iter().for_each(|pair| update(pair, bodies, &from));
        while distance > -DEEPEST * scene.extent() {
            distance -= STEP * t;
            let to = line.poses(distance);
            let before = [cold, warm.copied()];
            cold = pair(margin);
            for (before, after) in before.iter().zip([&mut cold, &mut warm]) {
                update(after, bodies, &to);
                let holds = is_continuous(scene, (before, &from, margin), (after, &to, margin), STEP * t);
                broken.unless(holds, || jump(&format!("{what} at {:.2} t", distance / t), scene, before, after));
            }
            from = to;
        }
    });
    broken.none(2_500);
}

/// A body that is inside the other crosses none of its triangles.
#[test]
fn a_body_inside_another_is_in_contact() {
    let mut broken = Broken::default();
    all_scenes(4000, 12, |what, scene, _, rng| {
        let [small, large] = scene.by_size();
        let (of_small, of_large) = (&scene.bodies[small], &scene.bodies[large]);
        let surface = Triangles::new(&of_large.mesh, &Pose::identity());
        for _ in 0..20 {
            let pose = of_small.around(&of_large.any_point(rng), rng);
            let mut corners = of_small.mesh.vertices.iter().map(|p| (pose * nalgebra::Point3::from(*p)).coords);
            let is_inside = corners.all(|p| surface.contains(&p));
            if !is_inside || Triangles::new(&of_small.mesh, &pose).distance(&surface) == 0.0 {
                continue;
            }
            let mut poses = [Pose::identity(); 2];
            poses[small] = pose;
            let (given, margin) = any_margin(scene, rng);
            let mut pair = pair(given);
            update(&mut pair, [&scene.bodies[0], &scene.bodies[1]], &poses);
            let least = least(&pair, margin);
            broken.unless(least <= 0.0, || format!("{what}: {least}, margin {margin}, {} points", pair.points().len()));
        }
    });
    broken.none(15);
}
