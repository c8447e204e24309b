//! The constraint force alone: for known contacts, the remaining motion and the constraint force.

use voxshell::haptics::qp::{Row as Constraint, Solver};
use voxshell::math::{Mat6, Vec3, Vec6};
use voxshell::Result;

use super::super::pairs::place;
use super::super::random::Random;
use super::Effort;
use crate::haptics_demo::session::quantile;
use voxshell_lab::clock::of_thread;
use voxshell_lab::row::Row;

const CONTACTS: usize = 20;
/// Number of programs with the same contacts and a varying pull of the hand; then the tool moves on.
const EACH: usize = 50;
/// Ortega, Redon & Coquillart 2007, section 6: "below 25 µs"; the number of contacts is not given.
const ORTEGA: f64 = 25.0;

/// Measures a tool of 20 cm and 1 kg in a corner of three rough walls.
pub fn rows(effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    let arm2 = 0.1 * 0.1;
    let mass = Mat6::from_diagonal(&Vec6::new(1.0, 1.0, 1.0, 0.4 * arm2, 0.4 * arm2, 0.4 * arm2));
    let mut random = Random::new(25);
    let mut solver = Solver::new();
    let mut times = Vec::new();
    let mut held = 0;
    while (times.len() as u64) < effort.steps.min(1_000_000) {
        let contacts: Vec<Constraint> = (0..CONTACTS).map(|i| contact(i % 3, &mut random)).collect();
        let mut pull = column(&place(&mut random), &(place(&mut random) * 0.1));
        for _ in 0..EACH {
            let turn = column(&place(&mut random), &(place(&mut random) * 0.1));
            pull += (turn - pull) * 0.05;
            let (seconds, solution) = of_thread(|| solver.solve(&mass, &pull, &contacts));
            held += usize::from(solution?.load.amax() > 0.0);
            times.push(seconds * 1e6);
        }
    }
    let count = times.len();
    let share = held as f64 / count as f64;
    let row = Row::new("haptics/constraint_force/20/p99", quantile(&mut times, 0.99), "us").target(10.0);
    rows.push(row.peer("Ortega et al. 2007", ORTEGA).with("programs", count).with("held_share", share));
    Ok(())
}

/// Returns a contact on the wall across an axis; it blocks motion into the wall.
fn contact(axis: usize, random: &mut Random) -> Constraint {
    let outward = (Vec3::ith(axis, 1.0) + place(random) * 0.05).normalize();
    let mut arm = place(random) * 0.2;
    arm[axis] = -0.1;
    Constraint { normal: -column(&outward, &arm.cross(&outward)), slack: 0.0 }
}

fn column(linear: &Vec3, angular: &Vec3) -> Vec6 {
    Vec6::new(linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)
}
