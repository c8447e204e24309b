//! Both halves of the loop on threads of their own.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nalgebra::Vector3;
use support::haptics::{at_height, on_floor};
use voxshell::haptics::{Got, HeightMap, Output, Renderer, RunOptions, Runner, Status};
use voxshell::math::{Pose, Twist, Wrench};

#[test]
fn a_run_steps_at_its_period_and_tells_what_it_got() {
    for coupling_thread in [false, true] {
        run_and_stop(coupling_thread);
    }
}

fn run_and_stop(coupling_thread: bool) {
    let (servo, simulation) = on_floor(Renderer::Penalty, 5, |s| s.timing.stale_after = 0.5);
    let outputs = Arc::new(Mutex::new(Vec::new()));
    let seen = outputs.clone();
    let options = RunOptions { lock_memory: false, coupling_thread, ..RunOptions::default() };
    let mut runner = Runner::start(servo, simulation, &options, move |output: &Output| {
        seen.lock().unwrap().push(*output);
        Some(at_height(-0.004))
    })
    .unwrap();
    while outputs.lock().unwrap().len() < 300 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(runner.is_running());
    assert!(runner.report().steps > 0 && runner.report().rounds > 0);
    // Without the floor there is no force.
    runner.simulation().set_obstacle_pose(0, &Pose::translation(0.0, -1.0, 0.0), &Twist::ZERO).unwrap();
    assert!(runner.simulation().set_obstacle_pose(1, &Pose::identity(), &Twist::ZERO).is_err());
    let from = outputs.lock().unwrap().len();
    while outputs.lock().unwrap().len() < from + 300 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let (mut servo, mut simulation, report) = runner.stop();
    let outputs = outputs.lock().unwrap();
    assert_eq!(outputs[0], Output::default(), "nothing is sent before the first step");
    assert_eq!(outputs.last(), Some(&Output::default()), "the device is left without a force");
    assert!(outputs[..from].iter().any(|o| o.wrench.force.y > 2.0 && o.contacts == 25), "it pressed");
    assert!(outputs[outputs.len() - 2].wrench.force.norm() < 0.1, "{:?}", outputs[outputs.len() - 2]);
    assert_eq!(report.steps as usize, outputs.len() - 1);
    assert!(report.rounds > 10 && report.longest > 0.0, "{report:?}");
    assert_eq!(report.memory, Got::NotAsked);
    #[cfg(target_os = "linux")]
    assert_eq!(report.absolute_sleep, Got::Granted);
    assert!(matches!(report.scheduling, Got::Granted | Got::Refused(1..) | Got::Unsupported), "{report:?}");
    // The halves continue from their last state.
    let output = servo.step(&at_height(-0.004), 1e-3);
    simulation.simulate();
    assert!(!output.status.contains(Status::BAD_STATE));
}

#[test]
fn the_device_ends_a_run_and_a_panic_does_too() {
    for coupling_thread in [false, true] {
        end_by_the_device(coupling_thread);
    }
}

fn end_by_the_device(coupling_thread: bool) {
    let options = RunOptions { priority: 0, lock_memory: false, coupling_thread, ..RunOptions::default() };
    let (servo, simulation) = on_floor(Renderer::Penalty, 3, |_| {});
    let mut left = 10;
    let runner = Runner::start(servo, simulation, &options, move |_| {
        left -= 1;
        (left > 0).then(|| at_height(0.1))
    })
    .unwrap();
    while runner.is_running() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let (_, _, report) = runner.stop();
    assert_eq!((report.steps, report.scheduling), (9, Got::NotAsked));

    let (servo, simulation) = on_floor(Renderer::Penalty, 3, |_| {});
    let runner = Runner::start(servo, simulation, &options, |_| panic!("the device is unplugged")).unwrap();
    while runner.is_running() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(runner.stop())));
    assert!(panic.is_err());
}

/// With a thread for the forces, the device does not wait for a force that takes long, and gets none that is old.
#[test]
fn a_slow_force_does_not_delay_the_device() {
    // The god-object's height map is evaluated by the step, and sleeps in it.
    let (servo, mut simulation) = on_floor(Renderer::GodObject, 3, |s| s.timing.stale_after = 0.04);
    let slow = Arc::new(AtomicBool::new(false));
    let sleeps = slow.clone();
    let height = move |_: u32, _: &Vector3<f64>| {
        if sleeps.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
        }
        0.0
    };
    simulation.set_height_map(Some(HeightMap::new(Arc::new(height), 1e-4).unwrap()));
    let (calls, stale) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (counted, counted_stale) = (calls.clone(), stale.clone());
    let options = RunOptions { lock_memory: false, coupling_thread: true, ..RunOptions::default() };
    let runner = Runner::start(servo, simulation, &options, move |output: &Output| {
        counted.fetch_add(1, Ordering::Relaxed);
        if output.status == Status::STALE && output.wrench == Wrench::ZERO {
            counted_stale.fetch_add(1, Ordering::Relaxed);
        }
        Some(at_height(-0.004))
    })
    .unwrap();
    let wait_for = |more: u32| {
        let (from, begin) = (calls.load(Ordering::Relaxed), Instant::now());
        while calls.load(Ordering::Relaxed) < from + more {
            std::thread::sleep(Duration::from_millis(1));
        }
        begin.elapsed()
    };
    wait_for(300);
    // Each step now takes 120 ms for each constraint that holds the tool.
    slow.store(true, Ordering::Relaxed);
    let took = wait_for(300);
    assert!(took < Duration::from_secs(3), "300 calls of the device took {took:?}");
    assert!(stale.load(Ordering::Relaxed) > 30, "{stale:?}");
    slow.store(false, Ordering::Relaxed);
    drop(runner);
}

#[test]
fn options_out_of_range_are_refused() {
    for options in [
        RunOptions { period: 0.0, ..RunOptions::default() },
        RunOptions { period: 1.0, ..RunOptions::default() },
        RunOptions { period: f64::NAN, ..RunOptions::default() },
        RunOptions { priority: 100, ..RunOptions::default() },
    ] {
        let (servo, simulation) = on_floor(Renderer::Penalty, 3, |_| {});
        assert!(Runner::start(servo, simulation, &options, |_| None).is_err(), "{options:?}");
    }
}
