//! The recording in progress: threads put records into rings of their own, and one thread writes them to the file.
//!
//! A thread takes a lock once, at its first call during a recording, to get a ring. Later calls that fit into the ring
//! take no lock and do not allocate.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::file;
use super::large::Large;
use super::ring::Ring;
use super::sink::{Answer, Half, Hash, Sink};
use crate::capi::failure::Failure;
use crate::capi::status::*;
use crate::haptics::Exchange;
use crate::memory::{self, GrowGuarded};
use crate::{output, Error};

/// Number of the recording in progress; 0: none.
static ACTIVE: AtomicU32 = AtomicU32::new(0);
static LAST: AtomicU32 = AtomicU32::new(0);
static CURRENT: Mutex<Option<Session>> = Mutex::new(None);

/// Time between two visits of the writer.
const VISITS: Duration = Duration::from_millis(5);
/// Size of the buffer between the writer and the file, bytes.
const FILE_BUFFER: usize = 1 << 15;
/// Rings made at the start, for as many threads.
const RINGS: usize = 4;
/// Bytes that a thread's record may have without an allocation.
const USUAL_RECORD: usize = 1 << 16;
/// Bytes of an exchange with the impulses on 80 bodies that move by themselves.
const USUAL_EXCHANGE: usize = 1 << 12;

/// Tells a thread what to do when its ring is full.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WhenFull {
    /// The record is lost.
    Lose,
    /// The call waits for the writer.
    Wait,
}

/// State that the threads share with the writer.
struct Shared {
    rings: Mutex<Vec<Arc<Ring>>>,
    large: Large,
    ring_bytes: usize,
    waits: bool,
    start: Instant,
    /// Number of the last record, and of the last object.
    record: AtomicU64,
    object: AtomicU64,
    lost: AtomicU64,
    ends: AtomicBool,
    /// Whether the writer is gone before its time: the file takes nothing more.
    failed: AtomicBool,
    /// Whether the writer has begun.
    runs: AtomicBool,
}

struct Session {
    number: u32,
    shared: Arc<Shared>,
    writer: JoinHandle<std::io::Result<u64>>,
    path: PathBuf,
}

/// The place of a thread in a recording.
struct Lane {
    session: u32,
    thread: u32,
    ring: Arc<Ring>,
    shared: Arc<Shared>,
    sink: Sink,
    /// Exchange of the two halves of a `vxs_haptics` in a call, and the number of the call.
    exchange: (u64, Sink),
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.ring.taken.store(false, Ordering::Release);
    }
}

thread_local! {
    static LANE: RefCell<Option<Lane>> = const { RefCell::new(None) };
    /// The calls that this thread is in, innermost last.
    static CALL: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Registers the value of the calling thread that is dropped at its end.
pub fn register() {
    let _ = LANE.try_with(|_| ());
}

/// A call that is being recorded.
pub struct Recording {
    session: u32,
    call: u64,
    outer: u64,
    full: WhenFull,
}

/// Returns whether a recording is in progress.
#[inline]
pub fn is_active() -> bool {
    ACTIVE.load(Ordering::Relaxed) != 0
}

/// Begins the record of a call, if a recording is in progress. `put` writes the arguments.
#[inline]
pub fn begin(function: u32, full: WhenFull, put: &dyn Fn(&mut Sink)) -> Option<Recording> {
    match ACTIVE.load(Ordering::Relaxed) {
        0 => None,
        session => or_lost(session, || begin_in(session, function, full, put)).flatten(),
    }
}

/// Runs `work`, which records. Where memory runs out, the record is lost, and the call goes on.
fn or_lost<R>(session: u32, work: impl FnOnce() -> R) -> Option<R> {
    let done = memory::attempt("recording", work).ok();
    if done.is_none() {
        lose(session);
    }
    done
}

/// Counts a record of the recording in progress as lost.
#[cold]
pub fn lose_record() {
    lose(ACTIVE.load(Ordering::Relaxed));
}

fn lose(session: u32) {
    if let Some(current) = CURRENT.lock().as_ref().filter(|current| current.number == session) {
        // The number of the record is missing in the file, where a replay ends.
        current.shared.record.fetch_add(1, Ordering::Relaxed);
        current.shared.lost.fetch_add(1, Ordering::Relaxed);
    }
}

#[inline(never)]
fn begin_in(session: u32, function: u32, full: WhenFull, put: &dyn Fn(&mut Sink)) -> Option<Recording> {
    let mut sink = enter(session)?;
    sink.byte(file::BEGIN);
    sink.put(&[0; 8]);
    let time = with_lane(|lane| lane.shared.start.elapsed())?;
    sink.put(&(time.as_nanos() as u64).to_le_bytes());
    sink.put(&function.to_le_bytes());
    let at = sink.bytes.len();
    sink.byte(0);
    put(&mut sink);
    if let Some(reason) = sink.unusable.take() {
        sink.bytes.truncate(at);
        sink.byte(reason as u8);
    }
    let call = send(sink, full);
    let outer = CALL.replace(call);
    Some(Recording { session, call, outer, full })
}

impl Recording {
    /// Ends the record of the call. `answer` adds the outputs, if the call has written any.
    #[inline(never)]
    pub fn end(self, status: vxs_status, answer: &dyn Fn(&mut Answer)) {
        CALL.set(self.outer);
        or_lost(self.session, || self.send_answer(status, answer));
    }

    fn send_answer(&self, status: vxs_status, answer: &dyn Fn(&mut Answer)) {
        let Self { session, call, full, .. } = *self;
        let Some(mut sink) = enter(session) else { return };
        sink.byte(file::ANSWER);
        sink.put(&[0; 8]);
        sink.put(&call.to_le_bytes());
        sink.put(&status.to_le_bytes());
        with_lane(|lane| match &lane.exchange {
            (of, exchange) if *of == call => sink.put(&exchange.bytes),
            _ => sink.byte(0),
        });
        let mut collected = Answer { sink: &mut sink, hash: Hash::new() };
        if matches!(status, VXS_OK | VXS_TRUNCATED) {
            answer(&mut collected);
        }
        let hash = collected.hash.value();
        sink.put(&hash.to_le_bytes());
        sink.unusable = None;
        send(sink, full);
    }
}

/// The mark of an object in a handle: the number of its recording above this bit, and its own number below.
const OBJECT_BITS: u32 = 40;

/// Returns the number of an object in the recording of this thread; None if its mark is of another recording.
pub(super) fn known(mark: u64) -> Option<u64> {
    let session = with_lane(|lane| lane.session)?;
    (mark >> OBJECT_BITS == u64::from(session)).then(|| number(mark))
}

/// Returns the number of an object from its mark.
pub(super) fn number(mark: u64) -> u64 {
    mark & ((1 << OBJECT_BITS) - 1)
}

/// Returns the mark of a new object, whose number is 2 or more.
pub(super) fn new_object() -> u64 {
    let made = with_lane(|lane| {
        let id = lane.shared.object.fetch_add(1, Ordering::Relaxed) + 2;
        u64::from(lane.session) << OBJECT_BITS | id
    });
    made.unwrap_or(0)
}

/// Records an object from before the recording and returns its mark.
pub(super) fn object(kind: u8, content: &[u8]) -> u64 {
    let mark = new_object();
    let mut record = memory::filled(0, 9);
    record[0] = file::OBJECT;
    record.push_guarded(kind);
    record.extend_guarded(number(mark).to_le_bytes());
    record.extend_slice_guarded(content);
    with_lane(|lane| lane.send(&mut record, WhenFull::Wait));
    mark
}

/// Records a height that a height map of the caller gave, in the call that this thread is in.
pub fn height(value: f64) {
    if ACTIVE.load(Ordering::Relaxed) == 0 || CALL.get() == 0 {
        return;
    }
    let mut record = [0; 25];
    record[0] = file::HEIGHT;
    record[9..17].copy_from_slice(&CALL.get().to_le_bytes());
    record[17..].copy_from_slice(&value.to_bits().to_le_bytes());
    with_lane(|lane| lane.send(&mut record, WhenFull::Lose));
}

/// Adds the exchange of the two halves of a `vxs_haptics` to the answer of the call that this thread is in.
#[inline]
pub fn exchange(half: Half, exchange: &Exchange, values: &[f64]) {
    let session = ACTIVE.load(Ordering::Relaxed);
    if session == 0 || CALL.get() == 0 {
        return;
    }
    or_lost(session, || {
        with_lane(|lane| {
            // Of no call until it is complete.
            lane.exchange.0 = 0;
            lane.exchange.1.bytes.clear();
            lane.exchange.1.exchange(half, exchange, values);
            lane.exchange.0 = CALL.get();
        })
    });
}

fn with_lane<R>(act: impl FnOnce(&mut Lane) -> R) -> Option<R> {
    let found = LANE.try_with(|lane| lane.try_borrow_mut().ok()?.as_mut().map(act));
    found.ok().flatten()
}

/// Takes the empty sink of this thread, which joins the recording if it is not yet in it. None if the recording ended.
fn enter(session: u32) -> Option<Sink> {
    let joined = with_lane(|lane| (lane.session == session).then(|| std::mem::take(&mut lane.sink))).flatten();
    let mut sink = match joined {
        Some(sink) => sink,
        None => join(session)?,
    };
    sink.bytes.clear();
    sink.unusable = None;
    Some(sink)
}

/// Gives this thread a ring.
#[cold]
fn join(session: u32) -> Option<Sink> {
    let current = CURRENT.lock();
    let current = current.as_ref().filter(|current| current.number == session)?;
    let shared = current.shared.clone();
    if shared.failed.load(Ordering::Relaxed) {
        // The rings of ended threads stay full, so each new thread would get one of its own.
        return None;
    }
    let mut rings = shared.rings.lock();
    let free = rings.iter().position(|ring| {
        ring.is_empty() && ring.taken.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    });
    let place = free.unwrap_or_else(|| {
        let ring = Ring::new(shared.ring_bytes);
        ring.taken.store(true, Ordering::Relaxed);
        rings.push_guarded(Arc::new(ring));
        rings.len() - 1
    });
    let (thread, ring) = (place as u32, rings[place].clone());
    drop(rings);
    let exchange = (0, Sink { bytes: memory::with_capacity(USUAL_EXCHANGE), unusable: None });
    let lane = Lane { session, thread, ring, shared, sink: Sink::default(), exchange };
    LANE.try_with(|place| place.try_borrow_mut().ok()?.replace(lane)).ok()?;
    Some(Sink { bytes: memory::with_capacity(USUAL_RECORD), unusable: None })
}

/// Sends a record and gives the sink back. Returns the number of the record.
fn send(mut sink: Sink, full: WhenFull) -> u64 {
    let sent = with_lane(|lane| {
        let number = lane.send(&mut sink.bytes, full);
        if sink.bytes.capacity() > 2 * USUAL_RECORD {
            // A large mesh does not stay in memory.
            sink.bytes = memory::with_capacity(USUAL_RECORD);
        }
        lane.sink = sink;
        number
    });
    sent.unwrap_or(0)
}

impl Lane {
    /// Numbers a record and adds it to the ring.
    fn send(&self, record: &mut [u8], full: WhenFull) -> u64 {
        let number = self.shared.record.fetch_add(1, Ordering::Relaxed) + 1;
        record[1..9].copy_from_slice(&number.to_le_bytes());
        self.push(record, full);
        number
    }

    fn push(&self, record: &[u8], full: WhenFull) {
        if self.ring.push(record) {
            return;
        }
        let shared = &self.shared;
        if (full == WhenFull::Wait || shared.waits) && record.len() < file::MOST_BYTES {
            let is_large = record.len() > self.ring.capacity() / 2;
            loop {
                let is_taken = if is_large { shared.large.push(self.thread, record) } else { self.ring.push(record) };
                if is_taken {
                    return;
                }
                if shared.failed.load(Ordering::Relaxed) || shared.ends.load(Ordering::Relaxed) {
                    break;
                }
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        shared.lost.fetch_add(1, Ordering::Relaxed);
    }
}

/// Counts of a recording that has ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub records: u64,
    pub lost: u64,
    pub bytes: u64,
}

fn io_error(path: &Path, source: std::io::Error) -> Failure {
    Error::Io { path: path.to_path_buf(), source }.into()
}

/// Returns the failure of a thread for which there is no memory, or that the system refuses.
fn no_thread() -> Failure {
    Failure::new(VXS_OUT_OF_MEMORY, "out of memory while starting the thread that writes the recording")
}

/// Starts a recording. The file has the name `path` with `.part` behind it until the recording ends.
pub(super) fn start(path: PathBuf, ring_bytes: usize, waits: bool) -> Result<(), Failure> {
    if !memory::HAS_THREADS {
        return Err(Failure::unsupported("this platform has no threads and no files to record with"));
    }
    let mut current = CURRENT.lock();
    if current.is_some() {
        return Err(Failure::new(VXS_BUSY, "a recording is in progress; expected vxs_record_stop first"));
    }
    if path.is_dir() {
        // The name could not be given to the file when the recording ends.
        return Err(io_error(&path, std::io::ErrorKind::IsADirectory.into()));
    }
    if path.exists() && !path.is_file() {
        let what = "it is a device or a pipe, which a recording would replace; expected a file or a new name";
        return Err(io_error(&path, std::io::Error::other(what)));
    }
    // The file is renamed when the recording ends: the target of a link and not the link.
    let path = output::resolved(&path).map_err(|e| io_error(&path, e))?;
    let part = part(&path);
    // All memory first, so that no file is left where there is too little.
    let rings = memory::filled_with(RINGS, || Arc::new(Ring::new(ring_bytes)));
    // Takes what a ring has: the writer allocates nothing for it.
    let drained = memory::with_capacity(rings[0].capacity());
    if !memory::has_room_for_threads(1) {
        return Err(no_thread());
    }
    // Emptied by the writer: until then, what is in it stays.
    let is_new = !part.exists();
    let file = File::options().write(true).create(true).truncate(false).open(&part).map_err(|e| io_error(&part, e))?;
    let out = BufWriter::with_capacity(FILE_BUFFER, file);
    let shared = Arc::new(Shared {
        rings: Mutex::new(rings),
        large: Large::default(),
        ring_bytes,
        waits,
        start: Instant::now(),
        record: AtomicU64::new(0),
        object: AtomicU64::new(0),
        lost: AtomicU64::new(0),
        ends: AtomicBool::new(false),
        failed: AtomicBool::new(false),
        runs: AtomicBool::new(false),
    });
    let own = shared.clone();
    let writer = std::thread::Builder::new().name("voxshell record".into()).spawn(move || {
        memory::register_thread(|| ());
        own.runs.store(true, Ordering::Release);
        let mut end = WriterEnd { shared: &own, has_failed: true };
        let written = write(out, drained, &own);
        end.has_failed = written.is_err();
        written
    });
    let Ok(writer) = writer else {
        if is_new {
            // An empty file that stays would be no more than untidy.
            let _ = std::fs::remove_file(&part);
        }
        return Err(no_thread());
    };
    // No other allocation takes the memory that the thread needs to start.
    while !shared.runs.load(Ordering::Acquire) {
        std::thread::sleep(Duration::from_micros(20));
    }
    let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    *current = Some(Session { number, shared, writer, path });
    ACTIVE.store(number, Ordering::Release);
    Ok(())
}

/// Tells the threads that the writer is gone, also after a panic, and frees what was left for it.
struct WriterEnd<'a> {
    shared: &'a Shared,
    has_failed: bool,
}

impl Drop for WriterEnd<'_> {
    fn drop(&mut self) {
        self.shared.failed.store(self.has_failed, Ordering::Relaxed);
        self.shared.large.discard();
    }
}

fn part(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

/// Ends the recording in progress and gives the file its name.
pub(super) fn stop() -> Result<Counts, Failure> {
    let mut current = CURRENT.lock();
    let Some(Session { shared, writer, path, .. }) = current.take() else {
        let message = "no recording is in progress; expected vxs_record_start before";
        return Err(Failure::new(VXS_INVALID_ARGUMENT, message));
    };
    ACTIVE.store(0, Ordering::Relaxed);
    shared.ends.store(true, Ordering::Release);
    writer.thread().unpark();
    let part = part(&path);
    let written = writer.join();
    // A thread keeps its own ring until it ends or joins another recording. This one is known to need it no more.
    shared.rings.lock().clear();
    let _ = LANE.try_with(|lane| lane.try_borrow_mut().map(|mut lane| lane.take()));
    let bytes = match written {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) => return Err(io_error(&part, error)),
        Err(panic) => std::panic::resume_unwind(panic),
    };
    std::fs::rename(&part, &path).map_err(|e| io_error(&path, e))?;
    let lost = shared.lost.load(Ordering::Relaxed);
    Ok(Counts { records: shared.record.load(Ordering::Relaxed), lost, bytes })
}

/// Writes records to the file until the recording ends. Returns the size of the file.
fn write(mut out: BufWriter<File>, mut bytes: Vec<u8>, shared: &Shared) -> std::io::Result<u64> {
    // A pipe, which cannot be emptied, has no length.
    if out.get_ref().metadata()?.len() > 0 {
        out.get_ref().set_len(0)?;
    }
    file::write_header(&mut out, vxs_version())?;
    loop {
        // Read before the rings, so that the last visit finds everything that came before the end.
        let ends = shared.ends.load(Ordering::Acquire);
        let rings = shared.rings.lock().clone();
        for (thread, ring) in rings.iter().enumerate() {
            bytes.clear();
            ring.drain(&mut bytes);
            if !bytes.is_empty() {
                file::write_records(&mut out, thread as u32, &bytes)?;
            }
        }
        if ends {
            shared.large.close();
        }
        shared.large.drain(|thread, record| file::write_records(&mut out, thread, record))?;
        out.flush()?;
        if ends {
            break;
        }
        std::thread::park_timeout(VISITS);
    }
    file::write_end(&mut out, shared.lost.load(Ordering::Relaxed))?;
    let file = out.into_inner().map_err(|e| e.into_error())?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}
