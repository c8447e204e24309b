//! Recordings of haptic steps and rounds of the simulation on two threads, of the program and of the library.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use support::recording::{self, Record, ANSWER, BEGIN};
use voxshell::capi::haptics_run::*;
use voxshell::capi::record::player::Played;

use super::*;

const REST: vxs_twist = vxs_twist { linear: NOWHERE, angular: NOWHERE };

/// Height of the device, which goes into the block and out of it, in a step.
fn height(step: u32) -> f64 {
    0.018 + 0.01 * (f64::from(step) * 0.0314).cos()
}

fn state(step: u32) -> vxs_device_state {
    vxs_device_state { pose: at(0.0, 0.0, height(step)), twist: REST, engaged: 1, reserved: 0 }
}

/// A handle for another thread.
#[derive(Clone, Copy)]
struct Shared(*mut vxs_haptics);

unsafe impl Send for Shared {}
unsafe impl Sync for Shared {}

impl Shared {
    unsafe fn step(self, i: u32) -> vxs_haptics_output {
        let mut output = std::mem::zeroed();
        ok(vxs_haptics_step(self.0, &state(i), 1e-3, &mut output));
        output
    }

    unsafe fn move_body(self) {
        let motion = vxs_haptics_body_motion {
            pose: at(0.0, 0.0, -0.1),
            twist: REST,
            inverse_mass: 2.0,
            inverse_inertia: [0.0; 6],
            period: 0.01,
        };
        ok(vxs_haptics_set_body_motion(self.0, 0, &motion));
    }

    unsafe fn set_scale(self, scale: f64) {
        ok(vxs_haptics_set_scale(self.0, scale));
    }

    unsafe fn rounds(self) -> u64 {
        let mut rates = std::mem::zeroed();
        ok(vxs_haptics_get_rates(self.0, &mut rates));
        rates.rounds
    }

    unsafe fn simulate(self) {
        let mut report = std::mem::zeroed();
        ok(vxs_haptics_report_init(&mut report, size_of::<vxs_haptics_report>()));
        ok(vxs_haptics_simulate(self.0, &mut report));
    }
}

unsafe fn scene(renderer: u32) -> Shared {
    Shared(cube_over_block(renderer, |settings| {
        settings.surface.height = Some(bumps);
        settings.surface.height_reach = 0.001;
        // The steps of a slow machine are no faults.
        settings.timing = vxs_haptics_timing { longest_step: 100.0, stale_after: 1000.0, fade: 0.04, ramp: 0.01 };
    }))
}

fn play(file: &[u8], partial: bool) -> Vec<Played> {
    let mut player = Player::new(file, partial).unwrap();
    std::iter::from_fn(|| player.step().unwrap()).collect()
}

/// Checks that all steps and rounds of a recording have the same answers in a replay, and returns their numbers.
fn same_steps_and_rounds(file: &[u8]) -> [usize; 2] {
    let played = play(file, false);
    let difference = played.iter().find(|played| played.outcome == Outcome::Different);
    assert_eq!(difference.map(|played| format!("{played:?}")), None);
    ["vxs_haptics_step", "vxs_haptics_simulate"].map(|function| {
        let calls: Vec<_> = played.iter().filter(|played| played.function == function).collect();
        let other = calls.iter().find(|played| played.outcome != Outcome::Same);
        assert!(other.is_none(), "{other:?}");
        calls.len()
    })
}

#[test]
fn calls_of_two_threads_that_take_turns_are_compared() {
    let _alone = alone();
    let file = record(|| unsafe {
        let haptics = scene(VXS_RENDERER_PENALTY);
        for i in 0..20 {
            haptics.step(i);
            std::thread::scope(|scope| drop(scope.spawn(|| haptics.simulate()).join()));
        }
        ok(vxs_haptics_release(haptics.0));
    });
    assert_eq!(replays_the_same(&file), 6 + 40);
}

/// Records steps and rounds at the same time: at least `least` steps were made during a round each.
pub fn recording_of_two_threads(renderer: u32, least: u32) -> (Vec<u8>, Vec<Record>) {
    // A machine may interrupt the thread of the rounds between two rounds only.
    loop {
        let file = record(|| unsafe { session_of_two_threads(renderer, least) });
        let records = recording::records(&file).unwrap();
        if overlaps(&records) >= least as usize {
            return (file, records);
        }
    }
}

/// Steps on one thread and rounds on another, until at least `least` steps touched and `least` were made near a round. The
/// body moves and yields to the loads, and the scale of the workspace changes.
unsafe fn session_of_two_threads(renderer: u32, least: u32) {
    let haptics = scene(renderer);
    let [begun, ended, steps] = [(); 3].map(|()| AtomicU64::new(0));
    let (done, now) = (AtomicBool::new(false), || (begun.load(Ordering::SeqCst), ended.load(Ordering::SeqCst)));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut seen = u64::MAX;
            while !done.load(Ordering::SeqCst) {
                // A round without a new step would have nothing to do.
                let now = steps.load(Ordering::SeqCst);
                if now == seen {
                    std::thread::yield_now();
                    continue;
                }
                seen = now;
                let round = begun.fetch_add(1, Ordering::SeqCst);
                haptics.simulate();
                ended.fetch_add(1, Ordering::SeqCst);
                if round % 8 == 0 {
                    haptics.move_body();
                    haptics.set_scale(1.0 + (round % 3) as f64);
                }
            }
        });
        // The device begins above the block, close to it.
        let (mut beside, mut touched, mut i) = (0, 0, 44u32);
        while beside < least || touched < least {
            if begun.load(Ordering::SeqCst) == ended.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            let before = now();
            touched += u32::from(haptics.step(i).contacts > 0);
            beside += u32::from(before.0 > before.1 && now() == before);
            i += 1;
            steps.store(i.into(), Ordering::SeqCst);
        }
        done.store(true, Ordering::SeqCst);
    });
    ok(vxs_haptics_release(haptics.0));
}

#[test]
fn overlapping_steps_and_rounds_replay_to_the_same_bytes() {
    let _alone = alone();
    for (name, renderer) in RENDERERS {
        let (file, mut records) = recording_of_two_threads(renderer, 50);
        replays_the_same(&file);
        let [steps, rounds] = same_steps_and_rounds(&file);
        assert!(steps >= 50 && rounds > 0, "{name}: {steps} {rounds}");
        // Wherever a recording is cut off, no answer differs.
        records.sort_by_key(|record| number(&record.1[1..]));
        for twelfth in 1..12 {
            let cut = recording::file(&records[..records.len() * twelfth / 12], recording::FORMAT, vxs_version());
            let difference = play(&cut, true).into_iter().find(|played| played.outcome == Outcome::Different);
            assert!(difference.is_none(), "{name}: {difference:?}");
        }
    }
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().unwrap())
}

/// Returns the number of steps that were made during a round.
fn overlaps(records: &[Record]) -> usize {
    let call = |name: &str| CALLS.iter().find(|call| call.name == name).unwrap().number();
    let answers: HashMap<u64, u64> = records
        .iter()
        .filter(|record| record.1[0] == ANSWER)
        .map(|record| (number(&record.1[9..]), number(&record.1[1..])))
        .collect();
    let calls = |name: &str| -> Vec<[u64; 2]> {
        let function = call(name);
        let begun =
            records.iter().filter(|record| record.1[0] == BEGIN && recording::function(record) == Some(function));
        let mut found: Vec<_> = begun.map(|record| number(&record.1[1..])).map(|n| [n, answers[&n]]).collect();
        found.sort_unstable();
        found
    };
    let (steps, rounds) = (calls("vxs_haptics_step"), calls("vxs_haptics_simulate"));
    let is_during = |step: &&[u64; 2]| {
        let round = rounds.partition_point(|round| round[0] < step[0]);
        round > 0 && rounds[round - 1][1] > step[1]
    };
    steps.iter().filter(is_during).count()
}

/// A device whose state follows from the number of the call.
struct Device {
    haptics: Shared,
    calls: AtomicU32,
    /// Number of steps.
    steps: u32,
    /// Number of rounds at the last call that waited for one.
    rounds: AtomicU64,
    felt: AtomicBool,
    done: AtomicBool,
}

unsafe extern "C" fn device(wrench: *const vxs_wrench, _: u32, next: *mut vxs_device_state, user: *mut c_void) -> bool {
    let device = &*user.cast::<Device>();
    let call = device.calls.fetch_add(1, Ordering::SeqCst);
    *next = state(call);
    device.felt.fetch_or((*wrench).force.z > 0.0, Ordering::SeqCst);
    // One round in eight steps at least, on a slow machine, too: the steps since the last time give the next round its input.
    if call % 8 == 7 && call < device.steps {
        let mut rounds = device.haptics.rounds();
        while rounds == device.rounds.load(Ordering::SeqCst) {
            std::thread::yield_now();
            rounds = device.haptics.rounds();
        }
        device.rounds.store(rounds, Ordering::SeqCst);
    }
    let goes_on = call < device.steps;
    device.done.fetch_or(!goes_on, Ordering::SeqCst);
    goes_on
}

/// Runs on threads of the library, while this thread moves the body. `releases`: the release ends the run.
unsafe fn session_of_a_run(renderer: u32, coupling_thread: bool, steps: u32, releases: bool) {
    let haptics = scene(renderer);
    let mut options = std::mem::zeroed();
    ok(vxs_haptics_run_options_init(&mut options, size_of::<vxs_haptics_run_options>()));
    (options.priority, options.lock_memory, options.period) = (0, 0, 1e-4);
    options.coupling_thread = coupling_thread.into();
    let [felt, done] = [(); 2].map(|()| AtomicBool::new(false));
    let served = Device { haptics, calls: AtomicU32::new(0), rounds: AtomicU64::new(0), steps, felt, done };
    ok(vxs_haptics_run(haptics.0, &options, Some(device), (&raw const served).cast_mut().cast()));
    for i in 0.. {
        if served.done.load(Ordering::SeqCst) {
            break;
        }
        if i < 40 {
            ok(vxs_haptics_set_body_pose(haptics.0, 0, &at(0.0, 0.0, -0.1 + 1e-5 * f64::from(i % 5)), &REST));
        }
        std::thread::yield_now();
    }
    if !releases {
        ok(vxs_haptics_stop(haptics.0, std::ptr::null_mut()));
        haptics.step(0);
        haptics.simulate();
    }
    ok(vxs_haptics_release(haptics.0));
    assert!(coupling_thread || served.felt.into_inner(), "the device felt the block");
}

#[test]
fn runs_of_the_library_replay_to_the_same_bytes() {
    let _alone = alone();
    for (i, (name, renderer)) in RENDERERS.into_iter().enumerate() {
        for coupling_thread in [false, true] {
            let releases = i % 2 == 0;
            let file = record(|| unsafe { session_of_a_run(renderer, coupling_thread, 200, releases) });
            let [steps, rounds] = same_steps_and_rounds(&file);
            // The loop of the device does not wait for a coupling thread.
            let least = if coupling_thread { 1 } else { 200 };
            assert!(steps >= least && rounds >= least.div_ceil(10), "{name}: {steps} {rounds}");
        }
    }
}

#[test]
fn a_changed_bit_in_a_state_of_a_run_is_found() {
    let _alone = alone();
    let mut file = record(|| unsafe { session_of_a_run(VXS_RENDERER_PENALTY, false, 200, false) });
    let needle = height(60).to_le_bytes();
    let place = file.windows(8).position(|window| window == needle).expect("the height of step 60");
    // A change of about 1e-8 m.
    file[place + 4] ^= 1;
    repair(&mut file);
    let (counts, first) = replay(&file).unwrap();
    assert!(counts.different > 0 && first.unwrap().contains("vxs_haptics_step"), "{counts:?}");
}
