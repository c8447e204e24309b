//! Recordings of the C interface: every function has a record or a reason, recorded sessions replay to the same bytes,
//! also those of other platforms, and damaged files are refused.

#[cfg(unix)]
mod disk;
mod threads;

use std::collections::BTreeSet;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use support::allocation::{held, Counting};
use support::recording::{self, Record};
use voxshell::capi::asset::{vxs_shape_deserialize, vxs_shape_load, vxs_shape_save, vxs_shape_serialize};
use voxshell::capi::cook_options::*;
use voxshell::capi::create::*;
use voxshell::capi::haptics::*;
use voxshell::capi::haptics_bodies::*;
use voxshell::capi::haptics_handle::vxs_haptics;
use voxshell::capi::haptics_settings::*;
use voxshell::capi::haptics_types::*;
use voxshell::capi::motion::*;
use voxshell::capi::primitive::*;
use voxshell::capi::query::*;
use voxshell::capi::query_options::*;
use voxshell::capi::record::api::*;
use voxshell::capi::record::calls::{CALLS, NOT_RECORDED};
use voxshell::capi::record::player::{Counts, Outcome, Player};
use voxshell::capi::response::{vxs_twist, vxs_wrench};
use voxshell::capi::shape::*;
use voxshell::capi::status::*;
use voxshell::capi::types::*;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A recording has the calls of all threads of the process, so one test at a time makes calls.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

const NOWHERE: vxs_vec3 = vxs_vec3 { x: 0.0, y: 0.0, z: 0.0 };

fn ok(status: vxs_status) {
    assert_eq!(status, VXS_OK);
}

fn at(x: f64, y: f64, z: f64) -> vxs_pose {
    vxs_pose { position: vxs_vec3 { x, y, z }, qx: 0.0, qy: 0.0, qz: 0.0, qw: 1.0 }
}

/// Records what `session` does, without losses, and returns the file.
fn record(session: impl FnOnce()) -> Vec<u8> {
    record_with(1 << 20, true, session)
}

fn record_with(buffer: u64, waits: bool, session: impl FnOnce()) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.vxr");
    let name = CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: the pointers are those of live values.
    unsafe {
        let mut options = std::mem::zeroed::<vxs_record_options>();
        ok(vxs_record_options_init(&mut options, size_of::<vxs_record_options>()));
        (options.wait, options.buffer_bytes) = (waits.into(), buffer);
        ok(vxs_record_start(name.as_ptr(), &options));
        assert_eq!(vxs_record_start(name.as_ptr(), &options), VXS_BUSY);
        session();
        let mut report = std::mem::zeroed::<vxs_record_report>();
        ok(vxs_record_report_init(&mut report, size_of::<vxs_record_report>()));
        ok(vxs_record_stop(&mut report));
        assert!(report.records > 0 && (!waits || report.lost == 0), "{report:?}");
        assert_eq!(report.bytes, std::fs::metadata(&path).unwrap().len());
    }
    std::fs::read(path).unwrap()
}

/// Replays a recording and returns its counts and the first difference.
fn replay(file: &[u8]) -> Result<(Counts, Option<String>), String> {
    let mut player = Player::new(file, false)?;
    let mut first = None;
    while let Some(played) = player.step()? {
        if played.outcome == Outcome::Different {
            first.get_or_insert(format!("{played:?}"));
        }
    }
    Ok((player.counts(), first))
}

/// Replays a recording, all of whose calls must have the same answers. Returns their number.
fn replays_the_same(file: &[u8]) -> u64 {
    let (counts, first) = replay(file).unwrap();
    assert_eq!(first, None, "{counts:?}");
    assert_eq!(counts.same, counts.calls, "{counts:?}");
    counts.calls
}

/// Cooks a built-in shape of the given size.
unsafe fn primitive(kind: u32, size: [f64; 3], cells: u32) -> *mut vxs_shape {
    let mut primitive = std::mem::zeroed();
    ok(vxs_primitive_init(&mut primitive, size_of::<vxs_primitive>(), kind));
    primitive.size[..3].copy_from_slice(&size);
    let mut options = std::mem::zeroed();
    ok(vxs_cook_options_init(&mut options, size_of::<vxs_cook_options>()));
    options.resolution = cells;
    options.sample_count = 60;
    let mut shape = std::ptr::null_mut();
    ok(vxs_shape_create_primitive(&primitive, &options, &mut shape));
    shape
}

unsafe extern "C" fn bumps(_: usize, point: *const vxs_vec3, _: *mut std::ffi::c_void) -> f64 {
    let point = &*point;
    0.0005 * (point.x * 900.0).round() * 0.1 + point.y * 0.01
}

/// A cube in the hand over a block.
unsafe fn cube_over_block(renderer: u32, change: impl FnOnce(&mut vxs_haptics_settings)) -> *mut vxs_haptics {
    let cube = primitive(VXS_PRIMITIVE_BOX, [0.02, 0.02, 0.02], 8);
    let block = primitive(VXS_PRIMITIVE_BOX, [0.1, 0.1, 0.1], 8);
    let limits = vxs_haptics_limits { force: 8.0, torque: 0.4, stiffness: [2000.0, 20.0], damping: [40.0, 0.2] };
    let mut settings = std::mem::zeroed();
    let size = size_of::<vxs_haptics_settings>();
    ok(vxs_haptics_settings_init(&mut settings, size, renderer, cube, 0.2, &limits));
    change(&mut settings);
    let body = vxs_body { shape: block, pose: at(0.0, 0.0, -0.1) };
    let mut haptics = std::ptr::null_mut();
    ok(vxs_haptics_create(&settings, cube, &body, 1, &mut haptics));
    ok(vxs_shape_release(cube));
    ok(vxs_shape_release(block));
    haptics
}

/// A cube in the hand that goes down on a block, slides along it and leaves it.
unsafe fn haptic_session(renderer: u32, steps: u32) {
    let haptics = cube_over_block(renderer, |settings| {
        settings.surface.height = Some(bumps);
        settings.surface.height_reach = 0.001;
        settings.spare_bodies = 1;
    });
    let mut report = std::mem::zeroed();
    ok(vxs_haptics_report_init(&mut report, size_of::<vxs_haptics_report>()));
    let mut touched = 0;
    for i in 0..steps {
        let t = f64::from(i) / f64::from(steps);
        let height = 0.026 - 0.03 * t * (1.5 - t);
        let state = vxs_device_state {
            pose: at(0.01 * t, 0.0, height),
            twist: vxs_twist { linear: NOWHERE, angular: NOWHERE },
            engaged: 1,
            reserved: 0,
        };
        let mut output = std::mem::zeroed();
        ok(vxs_haptics_step(haptics, &state, 1e-3, &mut output));
        touched += u32::from(output.contacts > 0);
        ok(vxs_haptics_simulate(haptics, if i % 2 == 0 { &mut report } else { std::ptr::null_mut() }));
        if i % 16 == 0 {
            let mut load = std::mem::zeroed();
            ok(vxs_haptics_get_load(haptics, 0, &mut load));
            ok(vxs_haptics_set_body_pose(haptics, 0, &at(0.0, 0.0, -0.1 + 1e-5 * t), std::ptr::null()));
        }
    }
    assert!(touched > steps / 8, "only {touched} of {steps} steps touched");
    let mut motion = std::mem::zeroed();
    let hand = vxs_wrench { force: vxs_vec3 { x: 0.0, y: 0.1, z: -0.3 }, torque: NOWHERE };
    ok(vxs_haptics_reset(haptics, &at(0.0, 0.0, 0.03)));
    for _ in 0..4 {
        ok(vxs_haptics_step_admittance(haptics, &hand, true, 1e-3, &mut motion));
        ok(vxs_haptics_simulate(haptics, std::ptr::null_mut()));
    }
    ok(vxs_haptics_release(haptics));
}

/// Queries of a torus that moves over a box, calls that fail, and shapes as bytes.
unsafe fn pair_session(moves: u32) {
    let torus = primitive(VXS_PRIMITIVE_TORUS, [0.3, 0.1, 0.0], 12);
    let mut floor = std::ptr::null_mut();
    ok(vxs_shape_create_box(vxs_vec3 { x: 1.0, y: 1.0, z: 0.2 }, &mut floor));
    let mut workspace = std::ptr::null_mut();
    ok(vxs_workspace_create(&mut workspace));
    let mut query = std::mem::zeroed();
    ok(vxs_query_init(&mut query, size_of::<vxs_query>()));
    query.max_separation = 0.05;
    let mut preferred: Vec<u32> = Vec::new();
    for i in 0..moves {
        let pose = |i: u32| at(0.02 * f64::from(i), 0.0, 0.35 - 0.02 * f64::from(i));
        let (a, b) = (vxs_body { shape: torus, pose: pose(i) }, vxs_body { shape: floor, pose: at(0.0, 0.0, 0.0) });
        let (mut contacts, mut count) = ([std::mem::zeroed::<vxs_contact>(); 8], 0);
        (query.preferred, query.preferred_count) = (preferred.as_ptr(), preferred.len() as u32);
        let status = vxs_query_contacts(&a, &b, &query, workspace, contacts.as_mut_ptr(), 8, &mut count);
        assert!(matches!(status, VXS_OK | VXS_TRUNCATED));
        preferred = contacts[..count.min(8)].iter().map(|contact| contact.feature).collect();
        preferred.sort_unstable();
        let (mut closest, mut found) = (std::mem::zeroed(), false);
        ok(vxs_query_distance(&a, &b, std::ptr::null(), workspace, &mut closest, &mut found));
        let motion = |from, to| vxs_motion { from, to };
        let moving_a = vxs_moving_body { shape: torus, motion: motion(pose(i), pose(i + 1)) };
        let moving_b = vxs_moving_body { shape: floor, motion: motion(b.pose, b.pose) };
        ok(vxs_query_time_of_impact(&moving_a, &moving_b, std::ptr::null(), workspace, &mut closest, &mut found));
        let mut hit = std::mem::zeroed();
        ok(vxs_shape_query_segment(torus, at(-1.0, 0.1, 0.0).position, at(1.0, 0.1, 0.02).position, &mut hit));
        // The list of the first query was dropped.
        (query.preferred, query.preferred_count) = (preferred.as_ptr(), preferred.len() as u32);
        let failed = vxs_query_contacts(&a, std::ptr::null(), &query, workspace, contacts.as_mut_ptr(), 8, &mut count);
        assert_eq!(failed, VXS_INVALID_ARGUMENT);
    }
    let mut size = 0;
    assert_eq!(vxs_shape_serialize(torus, std::ptr::null_mut(), 0, &mut size), VXS_TRUNCATED);
    ok(vxs_workspace_destroy(workspace));
    ok(vxs_shape_release(torus));
    ok(vxs_shape_release(floor));
    assert_eq!(vxs_shape_release(floor), VXS_INVALID_HANDLE);
}

const RENDERERS: [(&str, u32); 5] = [
    ("vps", VXS_RENDERER_VPS),
    ("penalty", VXS_RENDERER_PENALTY),
    ("continuous_penalty", VXS_RENDERER_CONTINUOUS_PENALTY),
    ("god_object", VXS_RENDERER_GOD_OBJECT),
    ("impulse", VXS_RENDERER_IMPULSE),
];

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/record_{name}.vxr"))
}

#[test]
fn every_function_has_a_record_or_a_reason() {
    let list = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/functions.h")).unwrap();
    let declared: BTreeSet<&str> =
        list.lines().filter_map(|line| line.strip_prefix("FUNCTION(")?.split(',').next()).collect();
    let recorded: BTreeSet<&str> = CALLS.iter().map(|call| call.name).collect();
    let not_recorded: BTreeSet<&str> = NOT_RECORDED.iter().map(|(name, _)| *name).collect();
    assert_eq!(recorded.len(), CALLS.len());
    assert!(recorded.is_disjoint(&not_recorded));
    let listed: BTreeSet<&str> = recorded.union(&not_recorded).copied().collect();
    assert_eq!(listed, declared, "src/capi/record/calls.rs lacks or invents functions");
    // The entry points themselves agree with the list.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/capi");
    let mut text = String::new();
    for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
        text += &std::fs::read_to_string(file).unwrap();
    }
    let text: String = text.split_whitespace().collect();
    for name in recorded {
        let ways = [format!("entry!({name}("), format!("entry!(fast({name}("), format!("recorded!(Wait,{name}(")];
        assert!(ways.iter().any(|way| text.contains(way)), "{name} makes no record");
    }
}

#[test]
fn the_numbers_of_functions_differ() {
    let numbers: BTreeSet<u32> = CALLS.iter().map(|call| call.number()).collect();
    assert_eq!(numbers.len(), CALLS.len());
}

#[test]
fn sessions_of_each_renderer_replay_to_the_same_bytes() {
    let _alone = alone();
    for (name, renderer) in RENDERERS {
        let file = record(|| unsafe { haptic_session(renderer, 150) });
        let calls = replays_the_same(&file);
        assert!(calls > 300, "{name}: {calls}");
    }
}

#[test]
fn a_session_of_a_pair_replays_to_the_same_bytes() {
    let _alone = alone();
    let file = record(|| unsafe { pair_session(20) });
    let (counts, first) = replay(&file).unwrap();
    assert_eq!(first, None);
    assert_eq!(counts.same, counts.calls, "{counts:?}");
}

/// Set `VOXSHELL_WRITE_GOLDEN` to record the files anew. Their change is a change of results.
#[test]
fn the_golden_recordings_replay_to_the_same_bytes() {
    let _alone = alone();
    let sessions = RENDERERS.iter().map(|&(name, renderer)| (name, Some(renderer)));
    for (name, renderer) in sessions.chain([("pair", None), ("threads", None)]) {
        let path = golden(name);
        if std::env::var_os("VOXSHELL_WRITE_GOLDEN").is_some() {
            let file = match renderer {
                Some(renderer) => record(|| unsafe { haptic_session(renderer, 32) }),
                None if name == "threads" => threads::recording_of_two_threads(VXS_RENDERER_PENALTY, 20).0,
                None => record(|| unsafe { pair_session(8) }),
            };
            std::fs::write(&path, file).unwrap();
        }
        let calls = replays_the_same(&std::fs::read(&path).unwrap());
        assert!(calls > 40, "{name}: {calls}");
    }
    // `tests/bullet/record.cpp` writes this one, if VOXSHELL_RECORDING names it.
    replays_the_same(&std::fs::read(golden("bullet")).unwrap());
}

#[test]
fn shapes_from_before_and_files_are_recorded_by_content() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let name = |file: &str| CString::new(folder.path().join(file).to_str().unwrap()).unwrap();
    let (saved, bytes) = (name("torus.vxs"), Mutex::new(Vec::new()));
    let file = unsafe {
        let torus = primitive(VXS_PRIMITIVE_TORUS, [0.3, 0.1, 0.0], 12);
        let file = record(|| {
            let mut bounds = std::mem::zeroed();
            ok(vxs_shape_get_bounds(torus, &mut bounds));
            ok(vxs_shape_save(torus, saved.as_ptr()));
            let mut loaded = std::ptr::null_mut();
            ok(vxs_shape_load(saved.as_ptr(), &mut loaded));
            let mut bytes = bytes.lock().unwrap();
            bytes.resize(1 << 20, 0u8);
            let mut size = 0;
            ok(vxs_shape_serialize(loaded, bytes.as_mut_ptr().cast(), bytes.len(), &mut size));
            let mut again = std::ptr::null_mut();
            ok(vxs_shape_deserialize(bytes.as_ptr().cast(), size, &mut again));
            ok(vxs_shape_release(again));
            ok(vxs_shape_release(loaded));
        });
        ok(vxs_shape_release(torus));
        file
    };
    // The files are not needed any more.
    drop(folder);
    assert_eq!(replays_the_same(&file), 7);
}

#[test]
fn a_changed_number_is_found() {
    let _alone = alone();
    let file = record(|| unsafe { haptic_session(VXS_RENDERER_PENALTY, 60) });
    // Height of the device in one step: the first record whose checksum is set right.
    let mut changed = file.clone();
    let needle = (0.026f64 - 0.03 * 0.5 * (1.5 - 0.5)).to_le_bytes();
    let place = changed.windows(8).position(|window| window == needle).expect("the height of step 30");
    // By 1e-13 m: the last bit may be lost where the device pulls at the tool.
    changed[place + 2] ^= 1;
    assert!(Player::new(&changed, false).err().is_some_and(|error| error.contains("checksum")));
    repair(&mut changed);
    let (counts, first) = replay(&changed).unwrap();
    assert!(counts.different > 0 && first.unwrap().contains("vxs_haptics_step"), "{counts:?}");
}

/// Objects of a call that the recording does not know, or whose number is taken, are released.
#[test]
fn a_damaged_recording_leaks_no_object() {
    let _alone = alone();
    let vertices: Vec<vxs_vec3> =
        (0..64).map(|i| vxs_vec3 { x: f64::from(i % 8), y: 0.0, z: f64::from(i / 8) }).collect();
    let corner = |i: u32| [i / 7 * 8 + i % 7, i / 7 * 8 + i % 7 + 1, i / 7 * 8 + i % 7 + 8];
    let triangles: Vec<u32> = (0..49).flat_map(corner).collect();
    let whole = record(|| unsafe {
        let mut shape = std::ptr::null_mut();
        ok(vxs_shape_create_triangles(vertices.as_ptr(), 64, triangles.as_ptr(), 49, 0.0, &mut shape));
        ok(vxs_shape_release(shape));
    });
    let [create, made, ..] = &recording::records(&whole).unwrap()[..] else { panic!("a call has two records") };
    let numbered = |record: &Record, number: u64| {
        let mut record = record.clone();
        record.1[1..9].copy_from_slice(&number.to_le_bytes());
        record
    };
    let mut failed = made.clone();
    failed.1[17..21].copy_from_slice(&VXS_INVALID_ARGUMENT.to_le_bytes());
    let mut taken = numbered(made, 4);
    taken.1[9..17].copy_from_slice(&3u64.to_le_bytes());
    let asset = std::fs::read(golden("dense").with_file_name("asset_v1_dense.vxs")).unwrap();
    let object = |number: u64| {
        let head = [&[recording::OBJECT][..], &number.to_le_bytes(), &[1], &5u64.to_le_bytes()].concat();
        (0, [head, asset.clone()].concat())
    };
    for (what, records) in [
        ("a call that failed", vec![create.clone(), failed]),
        ("a number of a call twice", vec![create.clone(), made.clone(), numbered(create, 3), taken]),
        ("a number of an object twice", vec![object(1), object(2)]),
    ] {
        let file = recording::file(&records, recording::FORMAT, vxs_version());
        let replayed = || {
            let mut player = Player::new(&file, true).unwrap();
            while let Ok(Some(_)) = player.step() {}
        };
        // The quarantine of released handles has grown, and what is made once per process exists.
        (0..4).for_each(|_| replayed());
        let before = held();
        (0..16).for_each(|_| replayed());
        let kept = held().saturating_sub(before);
        // Each of these shapes holds more than a kilobyte.
        assert!(kept < 16 * 1024, "{what}: {kept} bytes kept");
    }
}

/// Sets the checksums of all chunks right.
fn repair(file: &mut [u8]) {
    let header = crc32fast::hash(&file[..16]);
    file[16..20].copy_from_slice(&header.to_le_bytes());
    let mut place = 20;
    while place + 16 <= file.len() {
        let length = u32::from_le_bytes(file[place + 8..place + 12].try_into().unwrap()) as usize;
        let Some(payload) = file.get(place + 16..place.saturating_add(16).saturating_add(length)) else { return };
        let mut sum = crc32fast::Hasher::new();
        sum.update(&file[place..place + 12]);
        sum.update(payload);
        let sum = sum.finalize();
        file[place + 12..place + 16].copy_from_slice(&sum.to_le_bytes());
        place += 16 + length;
    }
}

#[test]
fn a_full_buffer_loses_records_and_the_replay_ends_there() {
    let _alone = alone();
    // Faster than a writer that comes every 5 ms.
    let file = record_with(1 << 16, false, || unsafe {
        let mut ball = std::ptr::null_mut();
        ok(vxs_shape_create_sphere(1.0, &mut ball));
        for i in 0..50_000 {
            let mut hit = std::mem::zeroed();
            let (from, to) = (at(-2.0, 0.0, 0.0).position, at(2.0, 1e-5 * f64::from(i), 0.0).position);
            ok(vxs_shape_query_segment(ball, from, to, &mut hit));
        }
        ok(vxs_shape_release(ball));
    });
    let mut player = Player::new(&file, false).unwrap();
    let (lost, from) = player.lost().expect("more than a buffer of records was lost");
    assert!(lost > 0 && from > 100, "{lost} from {from}");
    let mut last = 0;
    while let Some(played) = player.step().unwrap() {
        assert!(played.number < from && played.outcome != Outcome::Different, "{played:?}");
        last = played.number;
    }
    assert!(last + 2 >= from, "{last}");
}

/// Cuts and changes bytes, most with right checksums: a clear error or a replay with differences, never a panic.
#[test]
fn damaged_recordings_give_an_error_and_no_panic() {
    let _alone = alone();
    // A damaged file may ask for any cooking, so the sessions are short; VOXSHELL_LONG=1 damages a hundred times as many.
    let often = if std::env::var_os("VOXSHELL_LONG").is_some() { 100 } else { 1 };
    let files = [
        (record(|| unsafe { haptic_session(VXS_RENDERER_GOD_OBJECT, 12) }), 20 * often),
        (record(|| unsafe { pair_session(3) }), 40 * often),
        (threads::recording_of_two_threads(VXS_RENDERER_PENALTY, 5).0, 20 * often),
    ];
    let mut state = 7u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    for (file, rounds) in &files {
        for length in [0, 1, 8, 19, 20, 30, 36, file.len() / 2, file.len() - 1] {
            assert!(Player::new(&file[..length], false).is_err(), "{length}");
            let _ = Player::new(&file[..length], true).map(drop);
        }
        let mut long = file.clone();
        long.push(0);
        assert!(Player::new(&long, false).is_err());
        for round in 0..*rounds {
            let mut damaged = file.clone();
            for _ in 0..=random(3) {
                let place = random(damaged.len());
                match random(4) {
                    0 => damaged[place] ^= 1 << random(8),
                    1 => damaged[place] = 0xff,
                    2 => damaged[place] = 0,
                    _ => {
                        // A huge length.
                        let end = (place + 4).min(damaged.len());
                        damaged[place..end].fill(0xff);
                    }
                }
            }
            if round % 8 != 0 {
                repair(&mut damaged);
            }
            let Ok(mut player) = Player::new(&damaged, round % 2 == 0) else { continue };
            while let Ok(Some(played)) = player.step() {
                assert!(played.status[1] != VXS_PANIC, "{played:?}");
            }
        }
    }
}
