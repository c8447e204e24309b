//! `voxshell-lab bench contact`: the bare discrete query, with a workspace that has cached the pair (coherent) and with
//! a new one (cold).
//!
//! A body with a field and a pointshell touches a plane, a box and a copy of itself, 0.2 mm deep; contacts up to 1 mm,
//! reduced to four. Times are microseconds of the thread's clock, the minimum of several rounds.

use nalgebra::{Isometry3, Translation3};
use voxshell::asset::Shape;
use voxshell::contact::{contacts, distance, Query, Roles, Workspace};
use voxshell::field::{Cuboid, Field, HalfSpace};
use voxshell::math::{Pose, Rotation, Vec3};
use voxshell::mesh::TriMesh;
use voxshell::Result;

use super::progress::Steps;
use super::random::Random;
use voxshell_cli::source::{self, CookArguments};
use voxshell_lab::clock::{of_thread, of_wall};
use voxshell_lab::row::Row;

const DEPTH: f64 = 0.2e-3;
const SAMPLES: [usize; 2] = [35_000, 799];
/// Orientations of resting bodies, and poses of bodies that are queried once.
const RESTING: usize = 20;
const RANDOM: usize = 2000;
/// Steps of a motion, at 200 Hz.
const MOVING: usize = 200;
const STEP: f64 = 0.005;
const ROUNDS: usize = 7;
/// Numbers of samples over which the time is compared, and the number of contacts at each.
const SCALES: [usize; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];
const CONTACTS: usize = 20;

pub fn rows(mesh: &TriMesh, arguments: &CookArguments) -> Result<Vec<Row>> {
    let plane = Shape::from_field(Field::HalfSpace(HalfSpace::new(Vec3::y(), 0.0)?));
    let cuboid = Shape::from_field(Field::Cuboid(Cuboid::new([0.5; 3])?));
    let steps = Steps::new(SAMPLES.len() + SCALES.len());
    let cook = |samples: usize| source::cook(mesh, &CookArguments { samples: Some(samples), ..arguments.clone() });
    let mut rows = Vec::new();
    for samples in arguments.samples.map_or(SAMPLES.to_vec(), |n| vec![n]) {
        steps.next(&format!("{samples} samples"));
        let shape = cook(samples)?;
        for (name, other) in [("plane", &plane), ("box", &cuboid), ("self", &shape)] {
            let pair = Pair { shape: &shape, other };
            let rest = pair.rest(&format!("contact/rest/{name}/{samples}"), &mut rows)?;
            if samples == SAMPLES[0] || arguments.samples.is_some() {
                pair.random(&format!("contact/random/{name}"), &mut rows)?;
                pair.distance(&format!("contact/distance/{name}"), &mut rows)?;
                pair.moving(&format!("contact/moving/{name}"), rest, &mut rows)?;
            }
        }
    }
    if arguments.samples.is_none() {
        let mut times: [Vec<[f64; 2]>; 2] = Default::default();
        for samples in SCALES {
            steps.next(&format!("{samples} samples"));
            let shape = cook(samples)?;
            let (plane, own) = (Pair { shape: &shape, other: &plane }, Pair { shape: &shape, other: &shape });
            for ((name, pair), times) in [("plane", plane), ("self", own)].into_iter().zip(&mut times) {
                let us = pair.with_contacts(CONTACTS)?;
                times.push([samples as f64, us]);
                rows.push(Row::new(format!("contact/scaling/{name}/{samples}"), us, "us").with("contacts", CONTACTS));
            }
        }
        for (name, times) in ["plane", "self"].into_iter().zip(&times) {
            rows.push(Row::new(format!("contact/scaling/{name}/slope"), slope(times), "log/log").target(0.25));
        }
    }
    Ok(rows)
}

/// Returns the slope of the least-squares line through the logarithms.
fn slope(points: &[[f64; 2]]) -> f64 {
    let logs: Vec<[f64; 2]> = points.iter().map(|p| p.map(f64::ln)).collect();
    let mean = |k: usize| logs.iter().map(|p| p[k]).sum::<f64>() / logs.len() as f64;
    let (x, y) = (mean(0), mean(1));
    let (over, under) =
        logs.iter().fold((0.0, 0.0), |(over, under), p| (over + (p[0] - x) * (p[1] - y), under + (p[0] - x).powi(2)));
    over / under
}

fn query<'a>() -> Query<'a> {
    Query { roles: Roles::ShellOfA, max_separation: 1e-3, max_contacts: 4, ..Query::default() }
}

#[derive(Clone, Copy)]
struct Pair<'a> {
    /// Body that moves; its pointshell is tested.
    shape: &'a Shape,
    /// Body whose field is tested, at the identity.
    other: &'a Shape,
}

impl Pair<'_> {
    /// Returns the pose at which the shape touches the other from above at (x, z).
    fn touching(&self, rotation: Rotation, [x, z]: [f64; 2]) -> Result<Pose> {
        let mut workspace = Workspace::new();
        let at = |height: f64| Isometry3::from_parts(Translation3::new(x, height, z), rotation);
        let mut height = 2.0;
        for _ in 0..60 {
            let (a, b) = (self.shape.geometry(), self.other.geometry());
            let pose = at(height);
            let still = Pose::identity();
            let found = distance(a, &pose, b, &still, Roles::ShellOfA, f64::INFINITY, &mut workspace)?;
            height -= 0.7 * found.map_or(0.0, |c| c.separation);
        }
        Ok(at(height - DEPTH))
    }

    fn ask(&self, pose: &Pose, query: &Query, workspace: &mut Workspace) -> Result<usize> {
        let (a, b) = (self.shape.geometry(), self.other.geometry());
        contacts(a, pose, b, &Pose::identity(), query, workspace).map(<[_]>::len)
    }

    fn coherent<'q>(&'q self, query: Query<'q>) -> Query<'q> {
        Query { owners: Some([self.shape.owner(), self.other.owner()]), ..query }
    }

    /// Measures a query, cycling through all poses: microseconds, and tests of nodes and samples.
    fn time(&self, poses: &[Pose], repeats: usize, query: &Query) -> Result<(f64, [f64; 2])> {
        let mut workspace = Workspace::new();
        let (mut least, mut tests) = (f64::INFINITY, [0.0; 2]);
        for _ in 0..=ROUNDS {
            tests = [0.0; 2];
            let (seconds, done) = of_thread(|| -> Result<()> {
                for _ in 0..repeats {
                    for pose in poses {
                        self.ask(pose, query, &mut workspace)?;
                        let stats = workspace.stats();
                        tests[0] += stats.node_tests as f64;
                        tests[1] += stats.sample_tests as f64;
                    }
                }
                Ok(())
            });
            done?;
            least = least.min(seconds);
        }
        let count = (repeats * poses.len()) as f64;
        Ok((least * 1e6 / count, tests.map(|n| n / count)))
    }

    fn row(name: String, (us, [nodes, samples]): (f64, [f64; 2])) -> Row {
        Row::new(name, us, "us").with("node_tests", nodes).with("sample_tests", samples)
    }

    /// Measures resting bodies: the mean over orientations. Returns the coherent time.
    fn rest(&self, name: &str, rows: &mut Vec<Row>) -> Result<f64> {
        let mut random = Random::new(1);
        let mut sums = [(0.0, [0.0; 2]); 2];
        for _ in 0..RESTING {
            let pose = self.touching(random.rotation(), [0.05, 0.02])?;
            for (sum, query) in sums.iter_mut().zip([self.coherent(query()), query()]) {
                let (us, tests) = self.time(&[pose], 1000, &query)?;
                sum.0 += us / RESTING as f64;
                for k in 0..2 {
                    sum.1[k] += tests[k] / RESTING as f64;
                }
            }
        }
        for (kind, sum) in ["coherent", "cold"].into_iter().zip(sums) {
            rows.push(Self::row(format!("{name}/{kind}"), sum));
        }
        Ok(sums[0].0)
    }

    /// Measures bodies at unrelated random poses: the time of one query, the minimum of several rounds over all poses.
    fn random(&self, name: &str, rows: &mut Vec<Row>) -> Result<()> {
        let mut random = Random::new(2);
        let mut poses = Vec::new();
        for _ in 0..RANDOM {
            let turn = random.rotation();
            poses.push(self.touching(turn, [random.next() * 0.4 - 0.2, random.next() * 0.4 - 0.2])?);
        }
        let (query, mut workspace) = (query(), Workspace::new());
        let mut times = vec![f64::INFINITY; poses.len()];
        for _ in 0..ROUNDS {
            for (pose, least) in poses.iter().zip(&mut times) {
                let (seconds, done) = of_wall(|| self.ask(pose, &query, &mut workspace));
                done?;
                *least = least.min(seconds * 1e6);
            }
        }
        times.sort_by(f64::total_cmp);
        let at = |q: f64| times[((times.len() - 1) as f64 * q) as usize];
        for (kind, us, target) in [("median", at(0.5), 25.0), ("p99", at(0.99), 120.0)] {
            rows.push(Row::new(format!("{name}/{kind}"), us, "us").target(target));
        }
        Ok(())
    }

    /// Measures the distance of touching bodies beside all of their contacts, in turns, over random poses.
    fn distance(&self, name: &str, rows: &mut Vec<Row>) -> Result<()> {
        let mut random = Random::new(5);
        let mut poses = Vec::new();
        for _ in 0..RANDOM / 10 {
            let turn = random.rotation();
            poses.push(self.touching(turn, [random.next() * 0.4 - 0.2, random.next() * 0.4 - 0.2])?);
        }
        let (mut workspace, still) = (Workspace::new(), Pose::identity());
        let (a, b) = (self.shape.geometry(), self.other.geometry());
        let all = Query { roles: Roles::ShellOfA, max_separation: 0.0, max_contacts: 0, ..Query::default() };
        let (mut least, mut most) = ([f64::INFINITY; 2], [0.0_f64; 2]);
        for _ in 0..=ROUNDS {
            let (alone, done) = of_thread(|| -> Result<()> {
                let one = |p| distance(a, p, b, &still, Roles::ShellOfA, f64::INFINITY, &mut workspace).map(|_| ());
                poses.iter().try_for_each(one)
            });
            done?;
            let (contacts, done) =
                of_thread(|| poses.iter().try_for_each(|p| self.ask(p, &all, &mut workspace).map(|_| ())));
            done?;
            for (k, seconds) in [alone, contacts].into_iter().enumerate() {
                (least[k], most[k]) = (least[k].min(seconds), most[k].max(seconds));
            }
        }
        let row = Row::ratio(format!("{name}/over_contacts"), least[0], "all contacts up to 0", least[1]).target(1.0);
        let spread = [most[0] / least[0], most[1] / least[1]];
        rows.push(row.with("poses", poses.len()).with("spread", spread[0]).with("peer_spread", spread[1]));
        Ok(())
    }

    /// Measures bodies that move at each step: slide at 1 m/s, roll at 1 m/s and 2 rad/s, tumble at 10 rad/s about an
    /// axis that turns.
    fn moving(&self, name: &str, rest: f64, rows: &mut Vec<Row>) -> Result<()> {
        type Turn = fn(f64) -> Rotation;
        let motions: [(&str, f64, Turn); 3] = [
            ("sliding", 1.0, |_| Rotation::identity()),
            ("rolling", 1.0, |t| Rotation::from_scaled_axis(Vec3::z() * (-2.0 * t))),
            ("tumbling", 0.0, |t| {
                Rotation::from_scaled_axis(Vec3::new(t.cos(), t.sin(), 0.5).normalize() * (10.0 * t))
            }),
        ];
        let mut random = Random::new(3);
        for (motion, speed, turn) in motions {
            let start = random.rotation();
            let mut poses = Vec::new();
            for n in 0..MOVING {
                // Back and forth, so that the body stays over the other one.
                let t = STEP * n as f64;
                let x = 0.2 - (0.4 - (speed * t) % 0.8).abs();
                poses.push(self.touching(turn(t) * start, [x, 0.02])?);
            }
            for (kind, query) in [("coherent", self.coherent(query())), ("cold", query())] {
                let (us, tests) = self.time(&poses, 5, &query)?;
                rows.push(Self::row(format!("{name}/{motion}/{kind}"), (us, tests)));
                if kind == "coherent" {
                    rows.push(Row::new(format!("{name}/{motion}/over_rest"), us / rest, "ratio").target(3.0));
                }
            }
        }
        Ok(())
    }

    /// Returns the mean over orientations of cold queries with this number of contacts.
    fn with_contacts(&self, count: usize) -> Result<f64> {
        let (mut random, mut workspace) = (Random::new(4), Workspace::new());
        let mut sum = 0.0;
        for _ in 0..RESTING {
            let pose = self.touching(random.rotation(), [0.05, 0.02])?;
            let all = |level: f64| Query { max_separation: level, max_contacts: 0, ..query() };
            let (mut low, mut high) = (-1.0, 1.0);
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                let enough = self.ask(&pose, &all(middle), &mut workspace)? >= count;
                (low, high) = if enough { (low, middle) } else { (middle, high) };
            }
            sum += self.time(&[pose], 300, &Query { max_contacts: 4, ..all(high) })?.0;
        }
        Ok(sum / RESTING as f64)
    }
}
