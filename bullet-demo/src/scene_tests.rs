//! Small versions of the scenes: each does what its text says, and its figures show it when it does not.

use crate::bridge::{Method, SceneKind};
use crate::cache::HullCache;
use crate::catalogue::Case;
use crate::decompose::Decomposer;
use crate::figures::{Figures, SceneRow};
use crate::progress::Progress;
use crate::run::{run_row, Cast, Context, Effort, Outcome, Run};

fn run(scene: SceneKind, method: Method, count: Option<u32>, steps: usize) -> (Figures, Run) {
    run_case(scene, method, Case::default(), count, steps)
}

fn run_case(scene: SceneKind, method: Method, case: Case, count: Option<u32>, steps: usize) -> (Figures, Run) {
    run_in(&Cast::new(scene, None, count).unwrap(), method, case, steps)
}

fn run_in(cast: &Cast, method: Method, case: Case, steps: usize) -> (Figures, Run) {
    let folder = tempfile::tempdir().unwrap();
    let progress = Progress::new();
    let context = Context {
        decomposer: Decomposer { cache: HullCache::at(None), folder: folder.path(), limit: None, progress: &progress },
        steps: Some(steps),
        threads: None,
        edges: false,
        patience: None,
        all_patience: false,
        json: false,
        effort: Effort { frames: 0, film: (0, 0), measure_every: 1 },
        progress: &progress,
    };
    let outcome = run_row(cast, method, case, &context);
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

/// With edges, the distance between samples does not matter for the depth.
#[test]
fn a_pile_at_rest_is_less_than_a_millimetre_deep_with_edges() {
    let (figures, _) =
        run_case(SceneKind::Pile, Method::VoxshellCoarse, Case { edges: true, ..Case::default() }, Some(9), 900);
    assert!(figures.pairs_mean >= 9.0, "{} pairs", figures.pairs_mean);
    assert!(figures.max_penetration_late < 1.0, "{} mm", figures.max_penetration_late);
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

/// Returns the case of this name and rate.
fn trial(scene: SceneKind, method: Method, name: &str, rate: f64) -> Case {
    let named = |c: &Case| c.trial.is_some_and(|t| t.name == name) && c.rate == Some(rate);
    scene.cases(method).into_iter().find(named).unwrap()
}

#[test]
fn trials_name_bodies_of_their_scene() {
    for scene in [SceneKind::Degenerate, SceneKind::Flush] {
        let cast = Cast::new(scene, None, None).unwrap();
        for case in scene.cases(Method::VoxshellFine) {
            let trial = case.trial.unwrap();
            match trial.placements(&cast) {
                Ok(placements) => assert!(placements.iter().filter(|p| !p.fixed).count() == 1),
                // Mesh files that are not part of the project may be absent.
                Err(reason) => assert!(reason.contains(".obj is not in"), "{reason}"),
            }
        }
    }
}

#[test]
fn trials_start_at_their_gap_and_fall_freely() {
    // In 0.09 s the cube falls by 45 mm, not yet to the block 50 mm below; so no energy is lost or gained.
    let (scene, method) = (SceneKind::Degenerate, Method::HullFull);
    let (figures, run) = run_case(scene, method, trial(scene, method, "cliff-edges", 100.0), None, 9);
    let height = |step: usize| run.recording.poses_at(step)[1].position[1];
    assert!((height(0) - 0.05).abs() < 1e-6);
    assert!((height(9) - (0.05 - 45.0 * 1e-3)).abs() < 1e-6, "{}", height(9));
    let conduct = figures.conduct.unwrap();
    assert!(conduct.energy_gained.unwrap() < 1e-5, "{conduct:?}");
    assert_eq!(figures.max_penetration, 0.0);

    // Its row and its tables in files.
    let case = trial(scene, method, "cliff-edges", 100.0);
    let row = |case, outcome| Outcome { row: SceneRow { scene, method, case, outcome }, run: None };
    let skipped = trial(scene, method, "spike-in-hole", 100.0);
    let folder = tempfile::tempdir().unwrap();
    crate::save::write(folder.path(), scene, &[row(case, Ok(figures)), row(skipped, Err("no time".into()))]).unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let rows: Vec<serde_json::Value> =
        read("degenerate.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((rows.len(), &rows[0]["case"], &rows[0]["rate_hz"]), (2, &"cliff-edges".into(), &100.0.into()));
    let keys = ["np_mean_us", "np_p99_us", "max_penetration_mm", "energy_gained_j"];
    assert!(keys.iter().all(|key| rows[0][key].is_number()), "{}", rows[0]);
    let text = read("degenerate.txt");
    assert!(
        text.contains("| cliff-edges 100 Hz |") && text.contains("spike-in-hole 100 Hz skipped: no time"),
        "{text}"
    );
}

#[test]
fn a_cube_stays_on_a_block_of_its_width_and_a_wedge_leaves_its_crack() {
    let scene = SceneKind::Degenerate;
    let cast = Cast::new(scene, None, None).unwrap();
    let of = |method, name| run_in(&cast, method, trial(scene, method, name, 100.0), 150).0.conduct.unwrap();
    let cube = of(Method::HullFull, "internal-edges");
    assert_eq!(cube.as_expected(), Some(true), "{cube:?}");
    let wedge = of(Method::VoxshellCoarse, "wedge-in-crack");
    assert_eq!(wedge.as_expected(), Some(true), "{wedge:?}");
}

#[test]
fn flush_trials_rest_slide_rock_and_roll() {
    let (scene, method) = (SceneKind::Flush, Method::VoxshellCoarse);
    let cast = Cast::new(scene, None, None).unwrap();
    let of = |name| run_in(&cast, method, trial(scene, method, name, 200.0), 300);
    let (rest, _) = of("plate at rest");
    assert!(rest.conduct.unwrap().drift.unwrap() < 1.0 && rest.kinetic_energy < 1e-4, "{rest:?}");
    let (slide, run) = of("bracket sliding");
    let way = run.recording.poses_at(300)[0].position[0] - run.recording.poses_at(0)[0].position[0];
    assert!((way - 1.5).abs() < 0.02 && slide.conduct.unwrap().drift.unwrap() < 20.0, "{way} m, {slide:?}");
    // A cast of its own: the plate's asset is gone with the folder of its first run.
    let (rock, run) = run_case(scene, method, trial(scene, method, "plate rocking", 200.0), None, 300);
    let tilt = |s: usize| crate::run::pose_of(&run.recording.poses_at(s)[0]).rotation;
    let largest = (0..300).map(|s| tilt(0).angle_to(&tilt(s))).fold(0.0, f64::max);
    assert!((0.02..1.0).contains(&largest) && rock.conduct.unwrap().drift.is_none(), "{largest} rad");
    let (_, run) = of("gear rolling");
    let way = run.recording.poses_at(300)[0].position[0] - run.recording.poses_at(0)[0].position[0];
    assert!(way.abs() > 1.0, "{way} m");
}
