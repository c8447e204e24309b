//! Quadratic programs of six variables, as of constrained motions, each solved from nothing; beside other solvers.

use voxshell::haptics::qp::{Outcome, Row as Constraint, Solver};
use voxshell::math::{Mat6, Vec3, Vec6};
use voxshell::{Error, Result};
use voxshell_lab::clock::{of_thread, Timing};
use voxshell_lab::row::Row;

use super::pairs::place;
use super::peers::{Files, Peer, Program};
use super::random::Random;
use super::Setup;

/// Rows of a program, and the target, µs.
const SIZES: [(usize, Option<f64>); 4] = [(6, None), (20, Some(0.8)), (100, Some(2.0)), (256, None)];
/// Programs of each kind.
const PROGRAMS: usize = 2000;

/// min ½ (a − wanted)ᵀ M (a − wanted) over the rows.
struct Problem {
    mass: Mat6,
    wanted: Vec6,
    rows: Vec<Constraint>,
}

impl Problem {
    /// Contacts of a tool of 20 cm at three rough walls, pulled anywhere.
    fn contacts(count: usize, random: &mut Random) -> Self {
        let arm2 = 0.1 * 0.1;
        let mass = Mat6::from_diagonal(&Vec6::new(1.0, 1.0, 1.0, 0.4 * arm2, 0.4 * arm2, 0.4 * arm2));
        let rows = (0..count).map(|i| {
            let axis = i % 3;
            let outward = (Vec3::ith(axis, 1.0) + place(random) * 0.05).normalize();
            let mut arm = place(random) * 0.2;
            arm[axis] = -0.1;
            Constraint { normal: -column(&outward, &arm.cross(&outward)), slack: 1e-3 * random.next() }
        });
        let rows = rows.collect();
        Self { mass, wanted: column(&place(random), &(place(random) * 0.1)), rows }
    }

    /// Rows in any direction and a dense mass matrix.
    fn general(count: usize, random: &mut Random) -> Self {
        let root = Mat6::from_fn(|_, _| random.next() - 0.5);
        let mut any = || Vec6::from_fn(|_, _| random.next() - 0.5);
        let normals: Vec<Vec6> = (0..count).map(|_| any()).collect();
        let wanted = any() * 4.0;
        let rows = normals.into_iter().map(|normal| Constraint { normal, slack: 0.5 * random.next() }).collect();
        Self { mass: root * root.transpose() + Mat6::identity() * 0.1, wanted, rows }
    }

    /// Returns Hessian, gradient, rows and slacks.
    fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        let gradient = -(self.mass * self.wanted);
        let hessian = self.mass.iter().copied();
        let rows = self.rows.iter().flat_map(|row| Vec::from(row.normal.as_slice()));
        hessian.chain(Vec::from(gradient.as_slice())).chain(rows).chain(self.rows.iter().map(|row| row.slack))
    }
}

fn column(linear: &Vec3, angular: &Vec3) -> Vec6 {
    Vec6::new(linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)
}

pub fn rows(setup: &Setup) -> Result<Vec<Row>> {
    let files = Files::empty()?;
    let mut daqp = setup.program(Peer::Daqp, &files)?;
    let mut eiquadprog = setup.program(Peer::Eiquadprog, &files)?;
    let mut rows = Vec::new();
    for kind in ["contacts", "general"] {
        let problem = if kind == "contacts" { Problem::contacts } else { Problem::general };
        for (count, target) in SIZES {
            let mut random = Random::new(count as u64);
            let problems: Vec<Problem> = (0..PROGRAMS).map(|_| problem(count, &mut random)).collect();
            files.write_numbers("programs", problems.iter().flat_map(Problem::numbers))?;
            for program in [&mut daqp, &mut eiquadprog].into_iter().flatten() {
                program.ask(&format!("load programs {count}"))?;
            }
            rows.extend(compared(
                &format!("qp/{kind}/{count}"),
                target,
                &problems,
                setup,
                &files,
                [&mut daqp, &mut eiquadprog],
            )?);
        }
    }
    Ok(rows)
}

/// Measures the problems and returns the rows, with the largest difference of any solution from a peer's.
fn compared(
    name: &str,
    target: Option<f64>,
    problems: &[Problem],
    setup: &Setup,
    files: &Files,
    peers: [&mut Option<Program>; 2],
) -> Result<Vec<Row>> {
    let mut solver = Solver::new();
    let mut solutions = vec![None; problems.len()];
    let (mut steps, mut failure) = (0, None);
    let mut ours = || {
        let solve_all = || {
            steps = 0;
            for (problem, solution) in problems.iter().zip(&mut solutions) {
                solver.try_first([]);
                match solver.solve(&problem.mass, &problem.wanted, &problem.rows) {
                    Ok(found) => *solution = Some(found),
                    Err(error) => failure = Some(error),
                }
                steps += solver.steps();
            }
        };
        Ok(of_thread(solve_all).0)
    };
    let (mut of_first, mut of_second) = (Vec::new(), Vec::new());
    let [first, second] = peers;
    let (mut solve_first, mut solve_second) =
        (|| solved(first, files, &mut of_first), || solved(second, files, &mut of_second));
    let [ours, by_first, by_second] = setup.clock.in_turns([&mut ours, &mut solve_first, &mut solve_second])?;
    if let Some(error) = failure {
        return Err(error);
    }
    let each = |timing: Timing| timing.least * 1e6 / problems.len() as f64;
    let constrained = solutions.iter().flatten().filter(|s| s.outcome == Outcome::Constrained).count();
    let row = Row::new(name, each(ours), "us").target(target).with("spread", ours.spread());
    let facts = [("programs", problems.len() as f64), ("constrained", constrained as f64)];
    let row = facts.into_iter().fold(row, |row, (key, value)| row.with(key, value));
    let mut rows = vec![row.with("steps_mean", f64::from(steps) / problems.len() as f64)];
    for (program, timing, theirs) in [(first, by_first, of_first), (second, by_second, of_second)] {
        let Some(program) = program else { continue };
        let title = format!("{name}/over_{}", program.name.to_lowercase());
        let difference = problems.iter().zip(&solutions).zip(theirs.chunks_exact(6)).filter_map(|((problem, a), b)| {
            let apart = a.as_ref()?.constrained - Vec6::from_column_slice(b);
            Some((apart.dot(&(problem.mass * apart)) / problem.wanted.dot(&(problem.mass * problem.wanted))).sqrt())
        });
        let row = Row::timed_ratio(title, ours, &program.name, timing);
        rows.push(row.with("max_difference", difference.fold(0.0, f64::max)));
    }
    Ok(rows)
}

/// Lets a peer solve all programs; returns its processor time, seconds.
fn solved(program: &mut Option<Program>, files: &Files, solutions: &mut Vec<f64>) -> Result<f64> {
    let Some(program) = program else { return Ok(0.0) };
    let answer = program.ask("solve solutions")?;
    if answer["failed"].as_f64() != Some(0.0) {
        return Err(Error::Unsupported(format!("{}: {answer}", program.name)));
    }
    *solutions = files.read_numbers("solutions")?;
    Ok(answer["cpu"].as_f64().unwrap_or(f64::NAN))
}
