//! Two bodies whose pair and whose stateless query are timed at the same poses.

use nalgebra::{Isometry3, Point3, UnitQuaternion};
use voxshell::asset::Shape;
use voxshell::contact::{
    contacts, distance, Contact, Coverage, Geometry, Pair, PairOptions, PairStep, Query, Roles, Step, Workspace,
};
use voxshell::math::{Pose, Vec3};
use voxshell::{Error, Result};

use super::super::random::Random;
use super::bodies::Body;
use super::log::Log;
use voxshell_lab::clock::{of_thread, of_wall};
use voxshell_lab::row::Row;

/// Number of runs of each step; the shortest time counts.
const REPEATS: usize = 3;
/// Steps of a walk.
pub const STEPS: usize = 10;

/// Tolerance of a pair with default options, over the extent of the smaller body, and its margin in tolerances.
const TOLERANCE: f64 = 1.0 / 2000.0;
const MARGIN: f64 = 4.0;

/// Returns the time of a run, microseconds, and its result. Reading the clock of the thread takes long, and the wall clock also
/// runs while other threads do: both times are too large, and the smaller one counts.
pub fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let (thread, (wall, value)) = of_thread(|| of_wall(work));
    (1e6 * thread.min(wall), value)
}

/// Times of many runs, microseconds.
#[derive(Default)]
pub struct Times(Vec<f64>);

impl Times {
    /// Adds a time.
    pub fn push(&mut self, time: f64) {
        self.0.push(time);
    }

    /// Adds several times.
    pub fn extend(&mut self, times: impl IntoIterator<Item = f64>) {
        self.0.extend(times);
    }

    /// Returns the time that a fraction of the runs does not exceed; NaN without runs.
    pub fn quantile(&self, fraction: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        sorted.get(((sorted.len() as f64 * fraction) as usize).min(last)).copied().unwrap_or(f64::NAN)
    }

    /// Returns the median; NaN without runs.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Adds the median and the 90th and 99th percentiles to a row, as `NAME_median_us`, `NAME_p90_us` and `NAME_p99_us`.
    pub fn put(&self, row: &mut Row, name: &str) {
        for (part, fraction) in [("median", 0.5), ("p90", 0.9), ("p99", 0.99)] {
            row.put(&format!("{name}_{part}_us"), self.quantile(fraction));
        }
    }
}

/// Two bodies, B at the origin.
pub struct Subject<'a> {
    pub shapes: [&'a Shape; 2],
    geometries: [Geometry<'a>; 2],
    options: PairOptions,
    /// Tolerance and margin of the pair, metres.
    pub tolerance: f64,
    pub margin: f64,
}

/// Returns the geometry of a shape with its exact surface, without which edges are not tested.
pub fn geometry(shape: &Shape) -> Result<Geometry<'_>> {
    let geometry = shape.geometry_for(Coverage::Edges)?;
    if geometry.surface.is_none() {
        return Err(Error::Unsupported("an open mesh has no exact surface; expected a closed one".into()));
    }
    Ok(geometry)
}

impl<'a> Subject<'a> {
    /// Returns a subject; a `margin` of 0 is the default one of a pair.
    pub fn new(shapes: [&'a Shape; 2], margin: f64) -> Result<Self> {
        let boxes = shapes.map(|shape| shape.bounds().extents());
        let smaller = usize::from(boxes[1].norm() < boxes[0].norm());
        let tolerance = TOLERANCE * boxes[smaller].amax();
        Ok(Self {
            geometries: [geometry(shapes[0])?, geometry(shapes[1])?],
            shapes,
            options: PairOptions { margin, ..PairOptions::default() },
            tolerance,
            margin: if margin > 0.0 { margin } else { MARGIN * tolerance },
        })
    }

    /// Returns the subject of two bodies with default options.
    pub fn of([a, b]: [&'a Body; 2]) -> Result<Self> {
        Self::new([&a.shape, &b.shape], 0.0)
    }

    /// Returns a new pair with the options of the subject.
    pub fn pair(&self) -> Result<Pair> {
        Pair::new(self.options)
    }

    /// Returns the time of an update, microseconds.
    pub fn update(&self, pair: &mut Pair, step: &PairStep) -> Result<f64> {
        let [a, b] = &self.geometries;
        let owners = Some(self.shapes.map(Shape::owner));
        let (time, done) = timed(|| pair.update([a, b], owners, step).map(<[_]>::len));
        done.map(|_| time)
    }

    /// Returns the time of the stateless query, microseconds; its contacts are in the workspace, deepest first. It has the
    /// margin of the pair, and the motion of a step that has a duration.
    pub fn query(&self, step: &PairStep, workspace: &mut Workspace) -> Result<f64> {
        let [a, b] = self.geometries;
        let motion = (step.duration > 0.0).then(|| relative(step, self.margin));
        let reach = motion.map_or(0.0, |motion| motion.shift.norm() + motion.turn.norm() * self.radius());
        let query =
            Query { max_separation: self.margin + reach, coverage: Coverage::Edges, step: motion, ..Query::default() };
        let (time, done) = timed(|| contacts(a, &step.a.pose, b, &step.b.pose, &query, workspace).map(<[_]>::len));
        done.map(|_| time)
    }

    /// Returns the time of the stateless distance, microseconds, and the nearest or deepest contact.
    pub fn distance(&self, poses: [&Pose; 2], workspace: &mut Workspace) -> Result<(f64, Option<Contact>)> {
        let [a, b] = self.geometries;
        let (time, found) = timed(|| distance(a, poses[0], b, poses[1], Roles::Auto, f64::INFINITY, workspace));
        found.map(|found| (time, found))
    }

    /// Returns half the diagonal of the box of A, metres.
    fn radius(&self) -> f64 {
        0.5 * self.shapes[0].bounds().extents().norm()
    }

    /// Measures the query and the first update after a reset at each step.
    pub fn cold(&self, steps: &[PairStep], log: &Log) -> Result<Cold> {
        let (mut pair, mut workspace) = (self.pair()?, Workspace::new());
        let mut cold = Cold::default();
        for step in steps {
            let mut least = [f64::INFINITY; 2];
            for _ in 0..REPEATS {
                pair.reset();
                let times = [self.query(step, &mut workspace)?, self.update(&mut pair, step)?];
                least = [0, 1].map(|k| f64::min(least[k], times[k]));
            }
            cold.query.push(least[0]);
            cold.pair.push(least[1]);
            cold.found_by_query.push(workspace.contacts().first().map(|c| c.separation));
            cold.found_by_pair.push(deepest(&pair));
            log.tick();
        }
        Ok(cold)
    }

    /// Measures the updates of walks but for the first of each, which is cold. `at_end` gets the pair after the last step.
    pub fn warm(&self, walks: &[Vec<PairStep>], log: &Log, mut at_end: impl FnMut(&Pair, &PairStep)) -> Result<Times> {
        let (mut pair, mut times) = (self.pair()?, Times::default());
        for walk in walks {
            let mut least = vec![f64::INFINITY; walk.len()];
            for _ in 0..REPEATS {
                pair.reset();
                for (step, least) in walk.iter().zip(&mut least) {
                    *least = least.min(self.update(&mut pair, step)?);
                }
            }
            times.extend(least.into_iter().skip(1));
            if let Some(last) = walk.last() {
                at_end(&pair, last);
            }
            log.tick();
        }
        Ok(times)
    }
}

/// Cold times at some poses, and the separations of the deepest contacts, metres.
#[derive(Default)]
pub struct Cold {
    pub query: Times,
    pub pair: Times,
    pub found_by_query: Vec<Option<f64>>,
    pub found_by_pair: Vec<Option<f64>>,
}

impl Cold {
    /// Returns a row whose figure is the median of the pair, beside that of the query.
    pub fn row(&self, name: String) -> Row {
        let mut row = Row::new(name, self.pair.median(), "us")
            .peer("query", self.query.median())
            .with("poses", self.pair.0.len());
        self.query.put(&mut row, "query");
        self.pair.put(&mut row, "pair_cold");
        row
    }
}

/// Returns the least separation of the points of a pair, metres.
pub fn deepest(pair: &Pair) -> Option<f64> {
    pair.points().iter().map(|point| point.separation).min_by(f64::total_cmp)
}

/// Returns the motion of A relative to B in a step, as a pair gives it to its search.
fn relative(step: &PairStep, margin: f64) -> Step {
    let PairStep { a, b, duration, gained } = step;
    let moved_by_b = b.linear_velocity + b.angular_velocity.cross(&(a.center_of_mass - b.center_of_mass));
    Step {
        center: a.center_of_mass,
        shift: (a.linear_velocity - moved_by_b) * *duration,
        turn: (a.angular_velocity - b.angular_velocity) * *duration,
        gained: gained.map(|velocity| velocity * *duration),
        max_gap: margin,
        dense_above: 1024,
        extremes_only: true,
    }
}

/// Returns a step of no time with B at the origin.
pub fn at_rest(pose: &Pose) -> PairStep {
    PairStep::at_rest(*pose, Pose::identity())
}

/// Returns a walk of a body from a pose on. In each step no point of the body moves by more than `motion`, metres: half of it by
/// a shift, and half by a turn about the origin of the body, from which its points are at most `radius` away.
pub fn walk(start: &Pose, radius: f64, motion: f64, random: &mut Random) -> Vec<PairStep> {
    let (along, about) = (random.rotation() * Vec3::x(), random.rotation() * Vec3::x());
    let along = along * (0.5 * motion);
    let turn = UnitQuaternion::from_scaled_axis(about * (0.5 * motion / radius));
    let mut pose = *start;
    let mut steps = vec![at_rest(start)];
    for _ in 0..STEPS {
        pose = Isometry3::from_parts((pose.translation.vector + along).into(), turn * pose.rotation);
        steps.push(at_rest(&pose));
    }
    steps
}

/// Duration of a step with velocities, seconds.
const DURATION: f64 = 1.0 / 60.0;

/// Returns the steps along some poses, each with the velocities that lead to the next pose; the last pose is none of them.
pub fn along(poses: &[Pose]) -> Vec<PairStep> {
    let step = |pair: &[Pose]| {
        let mut step = PairStep { duration: DURATION, ..at_rest(&pair[0]) };
        step.a.linear_velocity = (pair[1].translation.vector - pair[0].translation.vector) / DURATION;
        step.a.angular_velocity = (pair[1].rotation * pair[0].rotation.inverse()).scaled_axis() / DURATION;
        step
    };
    poses.windows(2).map(step).collect()
}

/// Formats a pose as position and quaternion (x, y, z, w), with all digits.
pub fn pose_text(pose: &Pose) -> String {
    let (p, q) = (Point3::from(pose.translation.vector), pose.rotation.coords);
    format!("[{:?}, {:?}, {:?}, {:?}, {:?}, {:?}, {:?}]", p.x, p.y, p.z, q.x, q.y, q.z, q.w)
}
