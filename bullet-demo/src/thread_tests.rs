//! Short forms of the scenes and experiments with nuts and bolts.

use std::path::PathBuf;

use voxshell::math::Vec3;

use crate::bridge::{Drive, Method, SceneKind};
use crate::cache::HullCache;
use crate::catalogue::Case;
use crate::decompose::Decomposer;
use crate::figures::Figures;
use crate::nut_bolt::files::PartFiles;
use crate::nut_bolt::options::NutOptions;
use crate::nut_bolt::rig::Pair;
use crate::nut_bolt::sizes::Parts;
use crate::progress::Progress;
use crate::run::{run_row, Cast, Context, Effort, Run};
use crate::{screw, strip};

fn long() -> bool {
    std::env::var_os("VOXSHELL_LONG").is_some()
}

const METHOD: Method = Method::VoxshellCoarse;

fn with_decomposer<T>(work: impl FnOnce(Decomposer) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let progress = Progress::new();
    work(Decomposer { cache: HullCache::at(None), folder: folder.path(), limit: None, progress: &progress })
}

/// Runs cases with one cast, whose prepared bodies live in the folder of the decomposer.
fn run<const N: usize>(cast: &Cast, cases: [Case; N], steps: usize) -> [(Figures, Run); N] {
    with_decomposer(|decomposer| {
        let context = Context {
            progress: decomposer.progress,
            decomposer,
            steps: Some(steps),
            threads: None,
            edges: false,
            patience: None,
            all_patience: false,
            json: false,
            effort: Effort { frames: 0, film: (0, 0), measure_every: 10 },
        };
        cases.map(|case| {
            let outcome = run_row(cast, METHOD, case, &context);
            (outcome.row.outcome.unwrap(), outcome.run.unwrap())
        })
    })
}

/// Returns the files of Factory's M16 parts; `None`, with a message, without them.
fn factory() -> Option<PartFiles> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/meshes/factory");
    let [bolt, nut] = ["factory_bolt_m16_loose.obj", "factory_nut_m16_loose_subdiv_3x.obj"].map(|f| folder.join(f));
    if let Some(absent) = [&bolt, &nut].into_iter().find(|p| !p.exists()) {
        eprintln!("skipped: {} is absent", absent.display());
        return None;
    }
    Some(PartFiles { bolt, nut, axis: Vec3::z(), unit: 1.0, pitch: None })
}

/// With VOXSHELL_LONG=1 alone: cooking takes a minute.
#[test]
fn nut_from_mesh_files_follows_their_thread() {
    if !long() {
        return;
    }
    let Some(files) = factory() else { return };
    let nuts = NutOptions { files: Some(files), ..NutOptions::default() };
    let cast = Cast::with_nuts(SceneKind::NutBolt, None, None, nuts).unwrap();
    let driven = |c: &Case| c.parts == Some(Parts::Files) && c.drive == Some(Drive::Driver);
    let case = SceneKind::NutBolt.cases(METHOD).into_iter().find(driven).unwrap();
    let [(figures, _)] = run(&cast, [case], 750);
    let threads = figures.threads.unwrap();
    assert!((threads.pitch - 2e-3).abs() < 1e-6, "{threads:?}");
    assert!(threads.turns > 2.0 && threads.travel_error.abs() < 2.0, "{threads:?}");
    assert!(threads.tilt < 0.02, "{threads:?}");
}

#[test]
fn missing_mesh_file_is_an_error() {
    let absent =
        PartFiles { bolt: "absent.obj".into(), nut: "nut.obj".into(), axis: Vec3::z(), unit: 1.0, pitch: None };
    let nuts = NutOptions { files: Some(absent), ..NutOptions::default() };
    let error = Cast::with_nuts(SceneKind::NutBolt, None, None, nuts).err().unwrap().to_string();
    assert!(error.contains("absent.obj"), "{error}");
}

/// With VOXSHELL_LONG=1 alone.
#[test]
fn many_nuts_seat_alike_on_one_and_two_threads() {
    if !long() {
        return;
    }
    let nuts = NutOptions { turns: 1.5, ..NutOptions::default() };
    let cast = Cast::with_nuts(SceneKind::NutBolt1000, None, Some(6), nuts).unwrap();
    let cases = SceneKind::NutBolt1000.cases(METHOD);
    for parts in [Parts::M16, Parts::M20] {
        let [one, two] = run(
            &cast,
            [1, 2].map(|threads| *cases.iter().find(|c| c.parts == Some(parts) && c.threads == Some(threads)).unwrap()),
            900,
        );
        let threads = one.0.threads.unwrap();
        assert_eq!((threads.nuts, threads.stopped), (6, 6), "{} {threads:?}", parts.name());
        assert!(threads.travel_error.abs() < 2.0, "{} {threads:?}", parts.name());
        assert!(threads.pitch_error.abs() < 2.0, "{} {threads:?}", parts.name());
        assert!(one.0.descent.unwrap().contacts >= 6.0);
        for step in [0, 450, 900] {
            assert_eq!(one.1.recording.poses_at(step), two.1.recording.poses_at(step), "{} {step}", parts.name());
        }
    }
}

/// With VOXSHELL_LONG=1 alone.
#[test]
fn nut_locks_at_the_friction_of_its_lead_angle() {
    if !long() {
        return;
    }
    with_decomposer(|decomposer| {
        let (options, mut rows) = (NutOptions::default(), Vec::new());
        screw::rows(METHOD, &[Parts::M16], &[1.0], &options, &decomposer, |row| rows.push(row)).unwrap();
        assert_eq!(rows.len(), 2);
        for row in rows {
            // The contacts lie at the crests, not at the pitch diameter.
            assert!(row.number("error_at_contact_radius_pct").unwrap().abs() < 5.0, "{row}");
        }
    });
}

#[test]
fn nut_stays_on_its_helix_under_random_wrenches() {
    with_decomposer(|decomposer| {
        let pair = Pair::new(Parts::M16, &NutOptions::default()).unwrap();
        // A blow moves the free nut by up to 41 mm in a step of the lower rate, 20 pitches.
        for (rate, wrenches) in [(240.0, 40), (2000.0, 8)] {
            let mut rig = pair.rig(METHOD, rate, 3.0, 200, &decomposer).unwrap();
            let tallies = strip::tally(&mut rig, wrenches, || ());
            assert!(tallies.iter().all(|t| t.wrenches == wrenches / 4 && t.jumps == 0), "{rate} Hz: {tallies:?}");
            assert!(tallies.iter().any(|t| t.off_helix > 1e-6), "the wrenches move the nut: {tallies:?}");
        }
    });
}
