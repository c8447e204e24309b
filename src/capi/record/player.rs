//! Replay: makes the calls of a recording again on one thread, and compares their answers.

use std::collections::{HashMap, HashSet};
use std::ffi::c_void;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::calls;
use super::file::{self, Call, Content, Event, Exchanged, Reply};
use super::heights;
use super::order::{self, Uncertain, OVERLAPS};
use super::sink::{Half, Unusable};
use super::source::{Held, Source};
use crate::asset::Shape;
use crate::capi::batch::vxs_batch;
use crate::capi::forms::{vxs_field, vxs_pointshell};
use crate::capi::handle::{self, Exclusive, Kind};
use crate::capi::haptics_handle::{vxs_haptics, Halves};
use crate::capi::haptics_types::{vxs_haptics_motion, vxs_haptics_output};
use crate::capi::hulls::vxs_hulls;
use crate::capi::pair::vxs_pair;
use crate::capi::query::vxs_workspace;
use crate::capi::status::*;
use crate::capi::types::{vxs_pose, vxs_shape};
use crate::capi::voxelmap::vxs_voxelmap;
use crate::capi::voxtree::vxs_voxtree;
use crate::math::limits;

/// Result of one call of a replay.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The status and the outputs are those of the recording.
    Same,
    /// They are not.
    Different,
    /// The call was made, but its answer may differ for a good reason.
    NotCompared(&'static str),
    /// The call was not made.
    Skipped(&'static str),
}

/// One call of a replay.
#[derive(Clone, Debug)]
pub struct Played {
    /// Number of the record.
    pub number: u64,
    pub function: &'static str,
    /// Number of the thread that made the call.
    pub thread: u32,
    /// Time since the start of the recording.
    pub time: Duration,
    pub outcome: Outcome,
    /// Status in the recording and in the replay, as `vxs_status`.
    pub status: [i32; 2],
    /// Hash of the outputs in the recording and in the replay.
    pub hash: [u64; 2],
    /// Numbers of the objects that the call used and made.
    pub objects: Vec<u64>,
}

/// Counts of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub calls: u64,
    pub same: u64,
    pub different: u64,
    pub not_compared: u64,
    pub skipped: u64,
}

const TIMED: &str = "a limit by time ends the work";
const RUNS: &str = "it runs on threads of the library";

/// A replay in progress. It makes the calls in the order of [`order`].
pub struct Player<'a> {
    content: Content<'a>,
    next: usize,
    handles: HashMap<u64, Held>,
    /// Each `vxs_haptics` whose answers depend on the clock from here on, and why.
    unsteady: HashMap<u64, &'static str>,
    uncertain: Uncertain,
    /// Workspaces from before the recording.
    older: HashSet<u64>,
    /// Folder for files that calls read and write.
    folder: Option<tempfile::TempDir>,
    counts: Counts,
    placed: Vec<(u64, vxs_pose)>,
    tool: Option<vxs_pose>,
}

impl<'a> Player<'a> {
    /// Reads a recording. With `partial`, a recording that was not ended is accepted: its calls up to the end of the
    /// file are replayed.
    ///
    /// # Errors
    /// A text that says what is wrong with the file.
    pub fn new(bytes: &'a [u8], partial: bool) -> Result<Self, String> {
        let mut content = file::read(bytes, partial)?;
        let own = vxs_version();
        if content.version != own {
            let [theirs, own] = [content.version, own].map(|v| format!("{}.{}.{}", v >> 16, v >> 8 & 255, v & 255));
            return Err(format!(
                "version {theirs} of the library made the recording, and this is {own}: only the same version \
                 promises the same bytes"
            ));
        }
        let uncertain = order::arrange(&mut content);
        Ok(Self {
            content,
            next: 0,
            handles: HashMap::new(),
            unsteady: HashMap::new(),
            uncertain,
            older: HashSet::new(),
            folder: None,
            counts: Counts::default(),
            placed: Vec::new(),
            tool: None,
        })
    }

    /// Number of calls up to the end of the file, or up to the first record that was lost.
    pub fn len(&self) -> usize {
        self.content.events.iter().filter(|event| matches!(event, Event::Call(_))).count()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether `vxs_record_stop` ended the recording.
    pub fn is_complete(&self) -> bool {
        self.content.is_complete
    }

    /// Number of records that were lost, and the number of the first one, at which the replay ends.
    pub fn lost(&self) -> Option<(u64, u64)> {
        self.content.first_lost.map(|first| (self.content.lost, first))
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Shapes and poses of the last call: the number of the shape and its pose.
    pub fn placed(&self) -> impl Iterator<Item = (u64, Arc<Shape>, vxs_pose)> + '_ {
        self.placed.iter().filter_map(|&(id, pose)| Some((id, self.shape(id)?, pose)))
    }

    /// Pose of the tool after the last call, if that was a haptic step.
    pub fn tool(&self) -> Option<vxs_pose> {
        self.tool
    }

    /// Returns a live shape of the replay.
    pub fn shape(&self, id: u64) -> Option<Arc<Shape>> {
        let held = self.handles.get(&id).filter(|held| held.kind == Kind::Shape as u8)?;
        // SAFETY: the player holds the handle.
        unsafe { handle::get("shape", held.pointer.cast::<vxs_shape>()).ok().cloned() }
    }

    /// Makes the next call; None at the end of the recording, and at the first record that was lost.
    ///
    /// # Errors
    /// A text that says what is wrong with the next record.
    pub fn step(&mut self) -> Result<Option<Played>, String> {
        loop {
            let Some(event) = self.content.events.get(self.next).copied() else { return Ok(None) };
            self.next += 1;
            match event {
                Event::Object { kind, id, content } => self.restore(kind, id, content)?,
                Event::Input(haptics) => self.with_halves(haptics, Halves::take_input),
                Event::Call(call) => {
                    let played = self.play(&call).map_err(|defect| {
                        let name = calls::find(call.function).map_or("an unknown function", |known| known.name);
                        format!("call {} ({name}): {defect}", call.number)
                    })?;
                    self.counts.calls += 1;
                    *match played.outcome {
                        Outcome::Same => &mut self.counts.same,
                        Outcome::Different => &mut self.counts.different,
                        Outcome::NotCompared(_) => &mut self.counts.not_compared,
                        Outcome::Skipped(_) => &mut self.counts.skipped,
                    } += 1;
                    return Ok(Some(played));
                }
            }
        }
    }

    fn play(&mut self, call: &Call) -> Result<Played, String> {
        let function = calls::find(call.function).ok_or("this version does not know the function")?;
        let mut played = Played {
            number: call.number,
            function: function.name,
            thread: call.thread,
            time: Duration::from_nanos(call.time),
            outcome: Outcome::Same,
            status: [0; 2],
            hash: [0; 2],
            objects: Vec::new(),
        };
        let reply = match skipped(call) {
            Ok(reply) => reply,
            Err(reason) => {
                played.outcome = Outcome::Skipped(reason);
                return Ok(played);
            }
        };
        let folder = self.folder()?;
        if let Some((exchanged, haptics)) = reply.exchange.zip(file::Reader(call.arguments).number()) {
            self.with_halves(haptics, |halves| give(halves, &exchanged));
        }
        heights::set(self.content.heights.get(&call.number).map_or(&[], Vec::as_slice));
        let mut source = Source::new(call.arguments, reply.items, &mut self.handles, folder, release);
        source.has_outputs = matches!(reply.status, VXS_OK | VXS_TRUNCATED);
        // SAFETY: the arguments point to memory of the source, with as many elements as the call uses.
        let status = unsafe { (function.make)(&mut source) }?;
        if !source.arguments.0.is_empty() {
            return Err("the arguments of the call are too long".into());
        }
        played.status = [reply.status, status];
        let outputs = source.has_outputs && matches!(status, VXS_OK | VXS_TRUNCATED);
        played.hash = [reply.hash, if outputs { source.hash.value() } else { reply.hash }];
        // SAFETY: the last output of these functions is this struct.
        self.tool = match function.name {
            "vxs_haptics_step" if outputs => unsafe { source.last_output() }.map(|o: vxs_haptics_output| o.tool),
            "vxs_haptics_step_admittance" if outputs => {
                unsafe { source.last_output() }.map(|o: vxs_haptics_motion| o.tool)
            }
            _ => None,
        };
        self.placed = std::mem::take(&mut source.placed);
        let (used, is_timed, runs) = (std::mem::take(&mut source.used), source.is_timed, source.runs);
        drop(source);
        if runs {
            if !self.content.has_exchange || reply.status == VXS_PANIC {
                self.unsteady.extend(used.iter().map(|id| (*id, RUNS)));
            }
            played.outcome = Outcome::Skipped(RUNS);
            return Ok(played);
        }
        if status == VXS_OK && (function.name.ends_with("_release") || function.name.ends_with("_destroy")) {
            used.first().map(|id| self.handles.remove(id));
        }
        let is_report = function.name.starts_with("vxs_workspace_get_");
        let haptics = used.iter().copied().find(|id| self.is_haptics(*id));
        if let Some(haptics) = haptics.filter(|_| is_timed) {
            self.unsteady.insert(haptics, TIMED);
        }
        self.unsteady.extend(haptics.zip(self.uncertain.from.get(&call.number).copied()));
        let unsteady = haptics.and_then(|id| self.unsteady.get(&id).copied());
        played.outcome = if is_timed {
            Outcome::NotCompared(TIMED)
        } else if let Some(reason) = unsteady {
            Outcome::NotCompared(reason)
        } else if self.uncertain.alone.contains(&call.number) {
            Outcome::NotCompared(OVERLAPS)
        } else if is_report && used.iter().any(|id| self.older.contains(id)) {
            Outcome::NotCompared("the workspace is from before the recording")
        } else if played.status[0] == played.status[1] && played.hash[0] == played.hash[1] {
            Outcome::Same
        } else {
            Outcome::Different
        };
        played.objects = used;
        Ok(played)
    }

    fn is_haptics(&self, id: u64) -> bool {
        self.handles.get(&id).is_some_and(|held| held.kind == Kind::Haptics as u8)
    }

    /// Calls a function with a live `vxs_haptics`.
    fn with_halves(&self, id: u64, act: impl FnOnce(&Halves)) {
        let held = self.handles.get(&id).filter(|held| held.kind == Kind::Haptics as u8);
        // SAFETY: the player holds the handle. One that a defect has poisoned is left alone.
        if let Some(Ok(halves)) = held.map(|held| unsafe { handle::get("haptics", held.pointer.cast::<vxs_haptics>()) })
        {
            act(halves);
        }
    }

    /// Returns the folder for files, on platforms that have files.
    fn folder(&mut self) -> Result<Option<PathBuf>, String> {
        if cfg!(target_family = "wasm") {
            return Ok(None);
        }
        if self.folder.is_none() {
            let made = tempfile::Builder::new().prefix("voxshell-replay").tempdir();
            self.folder = Some(made.map_err(|e| format!("no folder for files of the replay: {e}"))?);
        }
        Ok(self.folder.as_ref().map(|folder| folder.path().to_path_buf()))
    }

    /// Makes an object from before the recording.
    fn restore(&mut self, kind: u8, id: u64, content: &[u8]) -> Result<(), String> {
        if id < 2 || self.handles.contains_key(&id) {
            return Err(format!("an object has the number {id}, which is taken"));
        }
        let shape = || Shape::from_bytes(content).map_err(|e| format!("object {id}: {e}"));
        let lacks = || format!("object {id} lacks its form");
        let mut pointer: *mut c_void = std::ptr::null_mut();
        let out = std::ptr::from_mut(&mut pointer);
        // SAFETY: the place for the handle is valid.
        let made = unsafe {
            if kind == Kind::Shape as u8 {
                handle::create("object", out.cast::<*mut vxs_shape>(), Arc::new(shape()?))
            } else if kind == Kind::Field as u8 {
                handle::create("object", out.cast::<*mut vxs_field>(), shape()?.field.ok_or_else(lacks)?)
            } else if kind == Kind::PointShell as u8 {
                handle::create("object", out.cast::<*mut vxs_pointshell>(), shape()?.shell.ok_or_else(lacks)?)
            } else if kind == Kind::VoxTree as u8 {
                let tree = crate::asset::tree_from_bytes(content).map_err(|e| format!("object {id}: {e}"))?;
                handle::create("object", out.cast::<*mut vxs_voxtree>(), Arc::new(tree))
            } else if kind == Kind::Workspace as u8 {
                self.older.insert(id);
                handle::create("object", out.cast::<*mut vxs_workspace>(), Exclusive::new(Default::default()))
            } else if kind == Kind::Batch as u8 {
                crate::capi::batch::vxs_batch_create(1, out.cast());
                Ok(VXS_OK)
            } else {
                return Err(format!("object {id} has the unknown kind {kind}"));
            }
        };
        made.map_err(|failure| failure.message)?;
        self.handles.insert(id, Held { pointer: pointer.cast(), kind });
        Ok(())
    }
}

/// Gives the next call of a `vxs_haptics` the numbers that the recorded one read while another thread may have changed them.
fn give(halves: &Halves, exchanged: &Exchanged) {
    match exchanged.half {
        Half::Servo => {
            let scale = exchanged.values().next().unwrap_or(1.0);
            if limits::is_positive_quantity(scale) {
                halves.monitor.set_scale(scale);
            }
        }
        Half::Simulation if exchanged.values().all(limits::is_quantity) => halves.give_readings(exchanged.values()),
        Half::Simulation => {}
    }
}

/// Returns the answer of a call, or why the call is not made again.
fn skipped<'a>(call: &Call<'a>) -> Result<Reply<'a>, &'static str> {
    match Unusable::of(call.refused) {
        Some(Unusable::Argument) => return Err("the library refused its arguments"),
        Some(Unusable::Older) => return Err("it uses an object from before the recording"),
        None => {}
    }
    let reply = call.answer.ok_or("it had not returned when the recording ended")?;
    match reply.status {
        VXS_IO => Err("it had no access to a file"),
        VXS_OUT_OF_MEMORY => Err("it ran out of memory"),
        VXS_CANCELLED => Err("its progress callback cancelled it"),
        VXS_BUSY => Err("an object was in use by another call"),
        _ => Ok(reply),
    }
}

impl Drop for Player<'_> {
    fn drop(&mut self) {
        for held in self.handles.values() {
            // SAFETY: the player owns the handle. A kind and its release function belong together.
            unsafe { release(held) };
        }
    }
}

/// Releases a live handle.
unsafe fn release(held: &Held) {
    let (pointer, is) = (held.pointer, |kind: Kind| held.kind == kind as u8);
    let released = if is(Kind::Shape) {
        handle::release("object", pointer.cast::<vxs_shape>())
    } else if is(Kind::Field) {
        handle::release("object", pointer.cast::<vxs_field>())
    } else if is(Kind::PointShell) {
        handle::release("object", pointer.cast::<vxs_pointshell>())
    } else if is(Kind::Workspace) {
        handle::release("object", pointer.cast::<vxs_workspace>())
    } else if is(Kind::Haptics) {
        handle::release("object", pointer.cast::<vxs_haptics>())
    } else if is(Kind::Voxelmap) {
        handle::release("object", pointer.cast::<vxs_voxelmap>())
    } else if is(Kind::VoxTree) {
        handle::release("object", pointer.cast::<vxs_voxtree>())
    } else if is(Kind::Hulls) {
        handle::release("object", pointer.cast::<vxs_hulls>())
    } else if is(Kind::Pair) {
        handle::release("object", pointer.cast::<vxs_pair>())
    } else {
        handle::release("object", pointer.cast::<vxs_batch>())
    };
    // A handle that is gone already needs no release.
    drop(released);
}
