//! Handles: the objects behind the opaque pointers, and the detection of invalid pointers.
//!
//! Every handle starts with the same header: a magic number, the kind, and the poison flag. Releasing a handle drops
//! its value at once and marks its header as dead. The header stays allocated in quarantine until [`QUARANTINE_LENGTH`]
//! more handles have been released. Until then, a second use or release of the handle is recognised without touching
//! freed memory.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::fmt::Display;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;

use parking_lot::Mutex;

use super::failure::Failure;
use super::status::*;
use super::types::*;
use crate::asset::Shape;
use crate::memory;

/// Number of released handles in quarantine.
pub(super) const QUARANTINE_LENGTH: usize = 1024;

const ALIVE: u32 = u32::from_le_bytes(*b"VXSh");
const DEAD: u32 = u32::from_le_bytes(*b"VXSx");

#[repr(C)]
struct Header {
    magic: AtomicU32,
    kind: Kind,
    poisoned: AtomicBool,
    /// Number of the object in a recording (`record::argument`).
    mark: AtomicU64,
    /// Frees the memory of a dead handle, whose value is dropped already.
    free: unsafe fn(*mut Header),
}

#[repr(C)]
struct Handle<V> {
    header: Header,
    value: ManuallyDrop<V>,
}

#[repr(u32)]
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Shape = 1,
    Field,
    PointShell,
    Workspace,
    Haptics,
    Voxelmap,
    VoxTree,
    Hulls,
    Batch,
    Pair,
}

impl Kind {
    /// Returns the name of a kind, given as the number that the header of any handle stores. It takes a number because
    /// the memory may not be a handle.
    fn name(number: u32) -> &'static str {
        match number {
            n if n == Kind::Shape as u32 => "vxs_shape",
            n if n == Kind::Field as u32 => "vxs_field",
            n if n == Kind::PointShell as u32 => "vxs_pointshell",
            n if n == Kind::Workspace as u32 => "vxs_workspace",
            n if n == Kind::Haptics as u32 => "vxs_haptics",
            n if n == Kind::Voxelmap as u32 => "vxs_voxelmap",
            n if n == Kind::VoxTree as u32 => "vxs_voxtree",
            n if n == Kind::Hulls as u32 => "vxs_hulls",
            n if n == Kind::Batch as u32 => "vxs_batch",
            n if n == Kind::Pair as u32 => "vxs_pair",
            _ => "handle of an unknown kind",
        }
    }
}

/// Maps the opaque type of the C header to the value that its handles hold.
pub(super) trait Opaque {
    type Value;
    const KIND: Kind;

    /// Returns the bytes from which a recording makes the object again, if its kind can be copied.
    fn snapshot(_: &Self::Value) -> Option<Vec<u8>> {
        None
    }
}
impl Opaque for vxs_shape {
    type Value = Arc<Shape>;
    const KIND: Kind = Kind::Shape;

    fn snapshot(shape: &Self::Value) -> Option<Vec<u8>> {
        shape.to_bytes().ok()
    }
}

/// Creates a handle around `value` and writes it to `out`.
pub(super) unsafe fn create<T: Opaque>(
    argument: &str,
    out: *mut *mut T,
    value: T::Value,
) -> Result<vxs_status, Failure> {
    super::check::out(argument, out)?;
    unsafe fn free<V>(header: *mut Header) {
        drop(Box::from_raw(header.cast::<Handle<V>>()));
    }
    let header = Header {
        magic: AtomicU32::new(ALIVE),
        kind: T::KIND,
        poisoned: AtomicBool::new(false),
        mark: AtomicU64::new(0),
        free: free::<T::Value>,
    };
    let before = memory::uses_of_reserve();
    let mut handle = Box::new(Handle { header, value: ManuallyDrop::new(value) });
    if memory::uses_of_reserve() != before {
        ManuallyDrop::drop(&mut handle.value);
        return Err(memory::ran_out("making a handle").into());
    }
    out.write(Box::into_raw(handle).cast());
    Ok(VXS_OK)
}

/// Returns the value of a live, unpoisoned handle of the right kind.
pub(super) unsafe fn get<'a, T: Opaque>(argument: impl Display, handle: *const T) -> Result<&'a T::Value, Failure> {
    let found = find(&argument, handle)?;
    if found.header.poisoned.load(Ordering::Relaxed) {
        let message = format!("{argument} is poisoned by a defect in an earlier call; expected it to be released");
        return Err(Failure::new(VXS_PANIC, message));
    }
    Ok(&found.value)
}

/// Like [`get`], but accepts a poisoned handle too. For calls that lead to a release.
pub(super) unsafe fn get_to_release<'a, T: Opaque>(argument: &str, handle: *const T) -> Result<&'a T::Value, Failure> {
    Ok(&find(argument, handle)?.value)
}

/// Returns the place in a live handle where a recording keeps its number of the object.
pub(super) unsafe fn mark<'a, T: Opaque>(handle: *const T) -> Option<&'a AtomicU64>
where
    T::Value: 'a,
{
    if handle.is_null() {
        return None;
    }
    find("handle", handle).ok().map(|found| &found.header.mark)
}

/// Marks a handle so that only its release is accepted; ignores pointers that are not live handles.
pub(super) unsafe fn poison<T: Opaque>(handle: *const T) {
    if let Ok(found) = find("handle", handle) {
        found.header.poisoned.store(true, Ordering::Relaxed);
    }
}

/// Drops the value and puts the handle into quarantine. Null is allowed.
pub(super) unsafe fn release<T: Opaque>(argument: &str, handle: *mut T) -> Result<vxs_status, Failure> {
    if handle.is_null() {
        return Ok(VXS_OK);
    }
    let header = &find(argument, handle)?.header;
    // If two threads release the same handle, only one succeeds.
    if header.magic.compare_exchange(ALIVE, DEAD, Ordering::AcqRel, Ordering::Acquire).is_err() {
        return Err(released(argument, T::KIND));
    }
    let handle = handle.cast::<Handle<T::Value>>();
    ManuallyDrop::drop(&mut (*handle).value);
    bury(Dead(handle.cast()));
    Ok(VXS_OK)
}

unsafe fn find<'a, T: Opaque>(argument: impl Display, handle: *const T) -> Result<&'a Handle<T::Value>, Failure> {
    let expected = Kind::name(T::KIND as u32);
    if handle.is_null() {
        return Err(Failure::argument(&argument.to_string(), "null", &format!("a {expected}")));
    }
    let refused =
        |what: &str| Err(Failure::new(VXS_INVALID_HANDLE, format!("{argument} is {what}; expected a live {expected}")));
    let handle = handle.cast::<Handle<T::Value>>();
    if !handle.is_aligned() {
        return refused("not a handle of this library");
    }
    // Reads field by field: before the kind is known, the memory may not hold a whole `Handle<T::Value>`.
    let magic = (*std::ptr::addr_of!((*handle).header.magic)).load(Ordering::Acquire);
    let kind = std::ptr::addr_of!((*handle).header.kind).cast::<u32>().read();
    match magic {
        ALIVE if kind == T::KIND as u32 => Ok(&*handle),
        ALIVE => refused(&format!("a {}", Kind::name(kind))),
        DEAD => Err(released(&argument, T::KIND)),
        _ => refused("not a handle of this library"),
    }
}

fn released(argument: impl Display, kind: Kind) -> Failure {
    let expected = Kind::name(kind as u32);
    Failure::new(VXS_INVALID_HANDLE, format!("{argument} was released before; expected a live {expected}"))
}

/// A handle without a value.
struct Dead(*mut Header);

// SAFETY: only the quarantine frees it, and all that other threads read of it is atomic or never changes.
unsafe impl Send for Dead {}

static QUARANTINE: Mutex<VecDeque<Dead>> = Mutex::new(VecDeque::new());

fn bury(dead: Dead) {
    let oldest = {
        let mut quarantine = QUARANTINE.lock();
        quarantine.push_back(dead);
        if quarantine.len() > QUARANTINE_LENGTH {
            quarantine.pop_front()
        } else {
            None
        }
    };
    if let Some(Dead(header)) = oldest {
        // SAFETY: the header came from `create`, lost its value in `release`, and has just left the only list that held
        // it.
        unsafe { ((*header).free)(header) };
    }
}

/// A value for one thread at a time. A second thread is refused; it does not wait.
pub(super) struct Exclusive<V> {
    busy: AtomicBool,
    value: UnsafeCell<V>,
}

// SAFETY: `busy` gives access to the value to one thread at a time.
unsafe impl<V: Send> Sync for Exclusive<V> {}

impl<V> Exclusive<V> {
    pub fn new(value: V) -> Self {
        Self { busy: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    pub fn lock(&self, argument: &str) -> Result<Locked<'_, V>, Failure> {
        // A refused attempt writes nothing, so that it does not take the cache line from the thread that works.
        if self.busy.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            // The other call is one of another thread, or the one whose callback made this call.
            let message = format!("{argument} is in use by another call; expected one for every thread");
            return Err(Failure::new(VXS_BUSY, message));
        }
        Ok(Locked(self))
    }
}

pub(super) struct Locked<'a, V>(&'a Exclusive<V>);

impl<V> Deref for Locked<'_, V> {
    type Target = V;
    fn deref(&self) -> &V {
        // SAFETY: only this guard gives access to the value while it lives.
        unsafe { &*self.0.value.get() }
    }
}
impl<V> DerefMut for Locked<'_, V> {
    fn deref_mut(&mut self) -> &mut V {
        // SAFETY: as above.
        unsafe { &mut *self.0.value.get() }
    }
}
impl<V> Drop for Locked<'_, V> {
    fn drop(&mut self) {
        self.0.busy.store(false, Ordering::Release);
    }
}
