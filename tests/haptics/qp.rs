//! The quadratic program of constrained motions: the conditions of Karush, Kuhn & Tucker, an established solver, and
//! sets with a known solution.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus};
use nalgebra::{Cholesky, Matrix6, Vector6};
use support::allocation::allocations;
use support::rng::Rng;
use voxshell::haptics::qp::{Outcome, Row, Solution, Solver, MAX_ROWS, TOLERANCE};

fn vector(rng: &mut Rng) -> Vector6<f64> {
    Vector6::from_fn(|_, _| rng.unit())
}

/// Returns a positive definite matrix with eigenvalues from 1 to `condition`.
fn mass(rng: &mut Rng, condition: f64) -> Matrix6<f64> {
    let q = Matrix6::from_fn(|_, _| rng.unit()).qr().q();
    let eigen = Vector6::from_fn(|i, _| condition.powf(i as f64 / 5.0));
    let m = q * Matrix6::from_diagonal(&eigen) * q.transpose();
    0.5 * (m + m.transpose())
}

fn row(normal: Vector6<f64>) -> Row {
    Row { normal, slack: 0.0 }
}

/// Returns a set of rows of one of the relevant kinds.
fn rows(rng: &mut Rng, kind: u64) -> Vec<Row> {
    let count = 1 + (rng.next() % 40) as usize;
    let some = |rng: &mut Rng, n: usize| (0..n).map(|_| row(vector(rng))).collect::<Vec<_>>();
    match kind % 12 {
        0 => some(rng, count),
        1 => some(rng, MAX_ROWS),
        // Rows of contacts: a normal, and its moment at an arm.
        2 | 3 => (0..count)
            .map(|_| {
                let (normal, arm) = (rng.vector().normalize(), rng.vector() * 0.1);
                let moment = arm.cross(&normal);
                row(Vector6::new(normal.x, normal.y, normal.z, moment.x, moment.y, moment.z))
            })
            .collect(),
        // The corners of a face on a plane: four rows of rank three, and repeated.
        4 => (0..count)
            .map(|i| {
                let (x, y) = (if i & 1 == 0 { 0.1 } else { -0.1 }, if i & 2 == 0 { 0.1 } else { -0.1 });
                row(Vector6::new(0.0, 0.0, -1.0, -y, x, 0.0))
            })
            .collect(),
        // Equal except for their length.
        5 => {
            let one = vector(rng);
            (0..count).map(|_| row(one * (10f64).powf(6.0 * rng.unit()))).collect()
        }
        // Opposite pairs.
        6 => some(rng, 1 + count % 5).into_iter().flat_map(|r| [r, row(-2.0 * r.normal)]).collect(),
        // With rows of zeros between them.
        7 => some(rng, count).into_iter().flat_map(|r| [row(Vector6::zeros()), r]).collect(),
        // Nearly parallel.
        8 => {
            let (one, off) = (vector(rng), (10f64).powf(-2.0 - 10.0 * rng.fraction()));
            (0..count).map(|_| row(one + off * vector(rng))).collect()
        }
        // Nearly opposite.
        9 => {
            let (one, off) = (vector(rng), (10f64).powf(-2.0 - 4.0 * rng.fraction()));
            (0..count).map(|i| row(one * if i % 2 == 0 { 1.0 } else { -1.0 } + off * vector(rng))).collect()
        }
        // In a plane of rotations and translations.
        10 => {
            let (p, q) = (vector(rng), vector(rng));
            (0..count).map(|_| row(p * rng.unit() + q * rng.unit())).collect()
        }
        // Some have slack.
        _ => some(rng, count).into_iter().map(|r| Row { slack: rng.fraction() * 0.5, ..r }).collect(),
    }
}

/// Checks that the result is feasible, stationary and complementary; then it is the solution, because M is positive
/// definite.
fn check_kkt(solver: &Solver, m: &Matrix6<f64>, wanted: &Vector6<f64>, rows: &[Row], found: &Solution, what: &str) {
    let l = Cholesky::new(*m).unwrap().l();
    let size = (l.transpose() * wanted).norm();
    // In the metric in which rows have length one.
    let excess = |r: &Row| {
        let length = l.solve_lower_triangular(&r.normal).unwrap().norm();
        if length > 0.0 {
            (r.normal.dot(&found.constrained) - r.slack) / length
        } else {
            0.0
        }
    };
    let rounding = 1e-12 * l.norm() * l.try_inverse().unwrap().norm();
    for (i, r) in rows.iter().enumerate() {
        assert!(
            excess(r) <= (2.0 * TOLERANCE + rounding) * size,
            "{what}: row {i} is violated by {}",
            excess(r) / size
        );
    }
    let mut load = Vector6::zeros();
    for (k, &i) in solver.active().iter().enumerate() {
        let lambda = solver.multiplier(k);
        assert!(lambda >= 0.0, "{what}: {lambda}");
        assert!(excess(&rows[usize::from(i)]).abs() <= (TOLERANCE + rounding) * size, "{what}: an active row is slack");
        load -= lambda * rows[usize::from(i)].normal;
    }
    assert!(solver.active().windows(2).all(|w| w[0] < w[1]));
    // In the same metric. Nearly opposite rows lose digits.
    let off = l.solve_lower_triangular(&(load - found.load)).unwrap().norm();
    assert!(off <= 1e-5 * size, "{what}: not stationary by {}", off / size);
    let moved = m * (found.constrained - wanted);
    assert!((moved - found.load).norm() <= rounding * l.norm() * size, "{what}: {moved} {}", found.load);
}

/// Solves the same program by an interior-point method.
fn peer(m: &Matrix6<f64>, wanted: &Vector6<f64>, rows: &[Row]) -> Option<Vector6<f64>> {
    let upper = |i: usize, j: usize| if i <= j { m[(i, j)] } else { 0.0 };
    let dense: Vec<Vec<f64>> = (0..6).map(|i| (0..6).map(|j| upper(i, j)).collect()).collect();
    let p = CscMatrix::from(&dense);
    let a = CscMatrix::from(&rows.iter().map(|r| r.normal.iter().copied().collect()).collect::<Vec<Vec<f64>>>());
    let b: Vec<f64> = rows.iter().map(|r| r.slack).collect();
    let q: Vec<f64> = (-(m * wanted)).iter().copied().collect();
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: 1e-12,
        tol_gap_rel: 1e-12,
        tol_feas: 1e-12,
        max_iter: 400,
        ..DefaultSettings::default()
    };
    let mut solver = DefaultSolver::new(&p, &q, &a, &b, &[NonnegativeConeT(rows.len())], settings).unwrap();
    solver.solve();
    (solver.solution.status == SolverStatus::Solved).then(|| Vector6::from_column_slice(&solver.solution.x))
}

#[test]
fn solutions_agree_with_a_peer_and_satisfy_kkt() {
    let (mut solver, mut compared) = (Solver::new(), 0);
    for seed in 0..if support::long() { 20_000 } else { 1_200 } {
        let mut rng = Rng(seed);
        let set = rows(&mut rng, seed);
        let m = mass(&mut rng, [1.0, 30.0, 1e3][(seed % 3) as usize]);
        let wanted = vector(&mut rng) * [1.0, 1e-4, 100.0][(seed % 7 % 3) as usize];
        let set: Vec<Row> = set.iter().map(|r| Row { slack: r.slack * wanted.norm(), ..*r }).collect();
        let found = solver.solve(&m, &wanted, &set).unwrap();
        assert_ne!(found.outcome, Outcome::Infeasible, "seed {seed}");
        let what = format!("seed {seed}, {} rows of kind {}", set.len(), seed % 12);
        check_kkt(&solver, &m, &wanted, &set, &found, &what);
        // Nearly parallel or opposite rows are hard for the peer, and their solution for both.
        if seed % 12 == 8 || seed % 12 == 9 {
            continue;
        }
        let unit: Vec<Row> = set
            .iter()
            .filter(|r| r.normal.norm() > 0.0)
            .map(|r| Row { normal: r.normal / r.normal.norm(), slack: r.slack / r.normal.norm() / wanted.norm() })
            .collect();
        if let Some(theirs) = peer(&m, &(wanted / wanted.norm()), &unit) {
            let off = (theirs - found.constrained / wanted.norm()).norm();
            assert!(off < 2e-5, "{what}: {off} from the peer's: {theirs} {}", found.constrained / wanted.norm());
            compared += 1;
        }
    }
    assert!(compared > 900, "the peer solved only {compared}");
}

#[test]
fn masses_of_any_condition() {
    let mut solver = Solver::new();
    for seed in 0..2_000 {
        let mut rng = Rng(seed);
        let set = rows(&mut rng, [0, 1, 2, 4, 11][(seed % 5) as usize]);
        let condition = (10f64).powf(12.0 * rng.fraction());
        let m = mass(&mut rng, condition);
        let wanted = vector(&mut rng);
        let found = solver.solve(&m, &wanted, &set).unwrap();
        check_kkt(&solver, &m, &wanted, &set, &found, &format!("seed {seed}"));
    }
}

#[test]
fn without_constraints_the_wanted_motion_is_returned_exactly() {
    let mut solver = Solver::new();
    for seed in 0..500 {
        let mut rng = Rng(seed);
        let (m, wanted) = (mass(&mut rng, 100.0), vector(&mut rng));
        let none = solver.solve(&m, &wanted, &[]).unwrap();
        assert_eq!((none.constrained, none.load, none.outcome), (wanted, Vector6::zeros(), Outcome::Free));
        let away: Vec<Row> = (0..20)
            .map(|_| {
                let r = vector(&mut rng);
                row(r - wanted * ((r.dot(&wanted) / wanted.norm_squared()).max(0.0) + 0.1))
            })
            .collect();
        let free = solver.solve(&m, &wanted, &away).unwrap();
        assert_eq!((free.constrained, free.load, free.outcome), (wanted, Vector6::zeros(), Outcome::Free));
    }
}

#[test]
fn a_set_that_allows_nothing_gives_exactly_zero_and_says_so() {
    let mut solver = Solver::new();
    for seed in 0..600 {
        let mut rng = Rng(seed);
        let m = mass(&mut rng, 50.0);
        // Positive combinations of these rows span the whole space: seven in general position that sum to zero, or
        // opposite pairs.
        let mut set: Vec<Row> = if seed % 2 == 0 {
            let six: Vec<_> = (0..6).map(|_| vector(&mut rng)).collect();
            let last = -six.iter().zip([0.3, 1.0, 2.0, 0.5, 1.5, 0.1]).map(|(v, w)| v * w).sum::<Vector6<f64>>();
            six.into_iter().chain([last]).map(row).collect()
        } else {
            let six: Vec<_> = (0..6).map(|_| vector(&mut rng)).collect();
            six.iter().flat_map(|v| [row(*v), row(-3.0 * v)]).collect()
        };
        for i in 0..seed % 5 {
            let again = set[i as usize];
            set.push(row(again.normal * 0.5));
            set.push(row(Vector6::zeros()));
        }
        assert!(solver.is_locked(&m, &set).unwrap(), "seed {seed}");
        let wanted = vector(&mut rng);
        let found = solver.solve(&m, &wanted, &set).unwrap();
        assert!(found.constrained.norm() <= 1e-12, "seed {seed}: {}", found.constrained);
        // Without one of the seven there is a feasible motion; with a slack, as the rows have, it is locked all the
        // same.
        let slack: Vec<Row> = set.iter().map(|r| Row { slack: 1.0, ..*r }).collect();
        assert!(solver.is_locked(&m, &slack).unwrap());
        if seed % 2 == 0 {
            let gone = set[(seed / 2 % 7) as usize].normal;
            let open: Vec<Row> = set.iter().filter(|r| r.normal.cross_norm(&gone) > 1e-9).copied().collect();
            assert!(!solver.is_locked(&m, &open).unwrap(), "seed {seed}: {} rows", open.len());
        }
    }
}

/// Distance of two columns from being parallel.
trait CrossNorm {
    fn cross_norm(&self, other: &Self) -> f64;
}

impl CrossNorm for Vector6<f64> {
    fn cross_norm(&self, other: &Self) -> f64 {
        (self - other * (self.dot(other) / other.norm_squared())).norm()
    }
}

#[test]
fn locked_is_what_a_peer_finds_no_motion_for() {
    let (mut solver, mut locked) = (Solver::new(), 0);
    for seed in 0..400 {
        let mut rng = Rng(seed);
        let count = 7 + (seed % 12) as usize;
        let set: Vec<Row> = (0..count).map(|_| row(vector(&mut rng).normalize())).collect();
        let ours = solver.is_locked(&Matrix6::identity(), &set).unwrap();
        // The largest motion a along the rows' inward mean, over rows and the unit box.
        let inward = -set.iter().map(|r| r.normal).sum::<Vector6<f64>>();
        let boxed: Vec<Row> = set
            .iter()
            .copied()
            .chain((0..6).flat_map(|k| [1.0, -1.0].map(|s| Row { normal: s * Vector6::ith(k, 1.0), slack: 1.0 })))
            .collect();
        let wide = Matrix6::identity() * 1e-3;
        let far = peer(&wide, &(inward * 1e3), &boxed).expect("the peer solves it");
        let reach = far.dot(&inward);
        assert!(!(1e-7..1e-3).contains(&reach), "seed {seed} is not decided: {reach}");
        assert_eq!(ours, reach < 1e-7, "seed {seed}: {reach}");
        locked += u32::from(ours);
    }
    assert!((50..350).contains(&locked), "{locked}");
}

#[test]
fn contradictions_are_reported_and_never_invented() {
    let mut solver = Solver::new();
    let (m, wanted) = (Matrix6::identity(), Vector6::ith(0, 1.0));
    let out = |normal, slack| Row { normal, slack };
    let between = [out(Vector6::ith(0, 1.0), -0.2), out(-Vector6::ith(0, 1.0), 0.1)];
    assert_eq!(solver.solve(&m, &wanted, &between).unwrap().outcome, Outcome::Infeasible);
    let pushed = [out(Vector6::ith(0, 1.0), -0.2), out(-Vector6::ith(0, 1.0), 0.3)];
    let found = solver.solve(&m, &wanted, &pushed).unwrap();
    assert_eq!(found.outcome, Outcome::Constrained);
    assert!((found.constrained + 0.2 * wanted).norm() < 1e-12);
    // Of equal normals the tighter one determines the result, in either order.
    for order in [[0.5, 0.1], [0.1, 0.5]] {
        let set = order.map(|s| out(Vector6::ith(0, 1.0), s));
        assert!((solver.solve(&m, &wanted, &set).unwrap().constrained - 0.1 * wanted).norm() < 1e-12);
    }
    for seed in 0..500 {
        let mut rng = Rng(seed);
        let place = vector(&mut rng);
        // All rows hold at one place, many with equality.
        let set: Vec<Row> = (0..MAX_ROWS)
            .map(|i| {
                let normal = vector(&mut rng);
                out(normal, normal.dot(&place) + if i % 3 == 0 { rng.fraction() } else { 0.0 })
            })
            .collect();
        let found = solver.solve(&m, &vector(&mut rng), &set).unwrap();
        if found.outcome == Outcome::Infeasible {
            // A row that holds with equality can be exceeded by rounding, but not by more than the tolerance.
            let eased: Vec<Row> = set.iter().map(|r| Row { slack: r.slack + 1e-7, ..*r }).collect();
            panic!("seed {seed}: {:?}", solver.solve(&m, &vector(&mut rng), &eased).unwrap().outcome);
        }
        let worst = set.iter().map(|r| r.normal.dot(&found.constrained) - r.slack).fold(0.0, f64::max);
        assert!(worst < 1e-7, "seed {seed}: {worst}");
    }
}

/// The component of a dependent row across the active rows is rounding error: a step along it does not resolve a
/// contradiction.
#[test]
fn contradictions_of_dependent_rows_are_reported() {
    let mut solver = Solver::new();
    for seed in 0..2_000 {
        let mut rng = Rng(seed);
        let m = mass(&mut rng, [1.0, 30.0, 1e3][(seed % 3) as usize]);
        // Any number of rows that become inactive, and one opposite to a mean of them.
        let count = 1 + (seed % 5) as usize;
        let mut set: Vec<Row> = (0..count).map(|_| Row { normal: vector(&mut rng), slack: -1.0 }).collect();
        let sum: Vector6<f64> = set.iter().map(|r| r.normal * (0.2 + rng.fraction())).sum();
        set.push(Row { normal: -sum * (0.5 + rng.fraction()), slack: -0.1 });
        if seed % 2 == 0 {
            set.reverse();
        }
        let found = solver.solve(&m, &(vector(&mut rng) * 0.1), &set).unwrap();
        assert_eq!((found.outcome, found.constrained.amax()), (Outcome::Infeasible, 0.0), "seed {seed}: {found:?}");
    }
}

#[test]
fn the_same_rows_give_the_same_bytes_after_any_program() {
    let (mut warm, mut taken) = (Solver::new(), [0, 0]);
    for seed in 0..1_000 {
        let mut rng = Rng(seed);
        let set = rows(&mut rng, [0, 1, 2, 3][(seed % 4) as usize]);
        let (m, wanted) = (mass(&mut rng, 20.0), vector(&mut rng));
        let cold = Solver::new().solve(&m, &wanted, &set).unwrap();
        let first = warm.solve(&m, &wanted, &set).unwrap();
        taken[0] += warm.steps();
        let again = warm.solve(&m, &wanted, &set).unwrap();
        assert_eq!(cold, first, "seed {seed}");
        assert_eq!(cold, again, "seed {seed}");
        taken[1] += warm.steps();
    }
    assert!(taken[1] < taken[0], "a warm start saves no steps: {taken:?}");
}

#[test]
fn bad_numbers_are_refused() {
    let mut solver = Solver::new();
    let (m, a) = (Matrix6::identity(), Vector6::ith(0, 1.0));
    assert!(solver.solve(&m, &(a * f64::NAN), &[]).is_err());
    assert!(solver.solve(&Matrix6::zeros(), &a, &[]).is_err());
    assert!(solver.solve(&(-m), &a, &[]).is_err());
    assert!(solver.solve(&(m * f64::NAN), &a, &[]).is_err());
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(solver.solve(&m, &a, &[row(a * bad)]).is_err());
        assert!(solver.solve(&m, &a, &[Row { normal: a, slack: bad }]).is_err());
    }
    assert!(solver.solve(&m, &a, &[row(a); MAX_ROWS + 1]).is_err());
    assert!(solver.solve(&m, &a, &[row(a * 1e-300)]).unwrap().constrained.norm() < 1e-12);
    solver.try_first([0, 7, 900]);
    assert!(solver.solve(&m, &a, &[row(a); MAX_ROWS]).unwrap().constrained.norm() < 1e-12);
}

#[test]
fn no_program_allocates() {
    let mut solver = Solver::new();
    let mut rng = Rng(5);
    let sets: Vec<_> = (0..48).map(|kind| (rows(&mut rng, kind), mass(&mut rng, 10.0), vector(&mut rng))).collect();
    let run = |solver: &mut Solver| {
        for (set, m, wanted) in &sets {
            solver.solve(m, wanted, set).unwrap();
            solver.is_locked(m, set).unwrap();
        }
    };
    assert_eq!(allocations(|| run(&mut solver)), 0);
}
