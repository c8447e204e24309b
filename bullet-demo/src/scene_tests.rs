//! Small versions of the scenes: each does what its text says, and its figures show it when it does not.

use crate::bridge::{Method, SceneKind};
use crate::cache::HullCache;
use crate::catalogue::Case;
use crate::decompose::Decomposer;
use crate::figures::Figures;
use crate::progress::Progress;
use crate::run::{run_row, Cast, Context, Effort, Run};

fn run(scene: SceneKind, method: Method, count: Option<u32>, steps: usize) -> (Figures, Run) {
    run_case(scene, method, Case::default(), count, steps)
}

fn run_case(scene: SceneKind, method: Method, case: Case, count: Option<u32>, steps: usize) -> (Figures, Run) {
    let folder = tempfile::tempdir().unwrap();
    let progress = Progress::new();
    let context = Context {
        decomposer: Decomposer { cache: HullCache::at(None), folder: folder.path(), limit: None, progress: &progress },
        steps: Some(steps),
        patience: None,
        all_patience: false,
        json: false,
        effort: Effort { frames: 0, film: (0, 0), measure_every: 1 },
        progress: &progress,
    };
    let cast = Cast::new(scene, None, count).unwrap();
    let outcome = run_row(&cast, method, case, &context);
    (outcome.row.outcome.unwrap(), outcome.run.unwrap())
}

#[test]
fn towers_of_gears_and_cups_stand_still() {
    let (figures, _) = run(SceneKind::Stack, Method::VoxshellCoarse, Some(3), 400);
    let towers = figures.towers.unwrap();
    assert_eq!((towers.bodies, towers.standing), (6, 6), "{towers:?}");
    assert_eq!(towers.stands, 2.0);
    assert!((towers.height - towers.built_height).abs() < 0.02, "{towers:?}");
    assert!(towers.drift < 20.0, "{towers:?}");
    assert!(figures.kinetic_energy_late < 1e-2, "{} J", figures.kinetic_energy_late);
}

#[test]
fn a_tower_of_balls_with_flat_spots_is_seen_to_fall() {
    let (figures, _) = run(SceneKind::StackSpheres, Method::Hull, Some(4), 600);
    let towers = figures.towers.unwrap();
    assert!(towers.standing < 4 && towers.stands < 3.0, "{towers:?}");
    assert!(towers.height < towers.built_height - 0.5, "{towers:?}");
    let (figures, _) = run(SceneKind::StackSpheres, Method::Sphere, Some(4), 600);
    assert_eq!(figures.towers.unwrap().standing, 4);
}

#[test]
fn rolling_bodies_move_at_every_step_and_rest_in_the_end() {
    let (figures, run) = run(SceneKind::Rolling, Method::VoxshellCoarse, None, 1200);
    let (from, to) = figures.window;
    assert_eq!((from, to), (200, 600));
    let body = |step: usize, i: usize| run.recording.poses_at(step)[i];
    for i in (0..run.recording.bodies.len()).filter(|&i| !run.recording.bodies[i].fixed) {
        for step in from..to {
            let (a, b) = (body(step, i), body(step + 1, i));
            let turned = a.rotation.iter().zip(b.rotation).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            assert!(turned > 1e-5, "body {i} stood still in step {step}");
        }
        let far = body(1200, i).position;
        assert!(far[1] > 0.0 && far.iter().all(|x| x.abs() < 12.0), "body {i} ended at {far:?}");
    }
    assert!(figures.max_penetration < 10.0, "{} mm", figures.max_penetration);
    let moving = run.recording.steps[400].kinetic_energy;
    assert!(figures.kinetic_energy < 0.01 * moving, "{} J, then {} J", moving, figures.kinetic_energy);
    assert!(figures.np_at_rest.unwrap() > 0.0);
}

#[test]
fn a_large_pile_loses_nobody() {
    let (figures, run) = run(SceneKind::Pile500, Method::VoxshellCoarse, Some(24), 700);
    assert_eq!(run.recording.bodies.iter().filter(|b| !b.fixed).count(), 24);
    let end = run.recording.poses_at(700);
    assert!(end.iter().all(|p| p.present));
    let pile = figures.pile.unwrap();
    assert_eq!((pile.lost, pile.spilled), (0, 0));
    assert!(figures.pairs_mean >= 24.0, "{} pairs", figures.pairs_mean);
    assert!(figures.step_mean * 1e3 >= figures.np_mean, "the narrowphase is a part of the step");
}

#[test]
fn samples_are_those_of_the_paper() {
    let (figures, _) = run(SceneKind::Ball, Method::VoxshellCoarse, None, 2);
    assert_eq!(figures.samples, [275]);
}

#[test]
fn nuts_keep_to_the_thread_for_two_turns() {
    let driven = SceneKind::NutBolt.cases(Method::VoxshellCoarse)[1];
    let (figures, _) = run_case(SceneKind::NutBolt, Method::VoxshellCoarse, driven, None, 750);
    let threads = figures.threads.unwrap();
    assert!(threads.turns > 2.0, "{threads:?}");
    assert!(threads.travel_error.abs() < 2.0, "{threads:?}");
    // Half of the axial play is on each side; the fall to the thread's flank is the largest jump.
    assert!(threads.off_helix < 0.08 && threads.jump < 0.05 && threads.tilt < 0.02, "{threads:?}");
    assert_eq!((threads.nuts, threads.stopped), (1, 0));
    assert!(figures.max_penetration < 0.1, "{} mm", figures.max_penetration);
}
