//! Arguments of a recorded call, and the memory that they point to during its replay.

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::collections::HashMap;
use std::ffi::c_void;
use std::path::PathBuf;

use super::file::Reader;
use super::sink::Hash;
use crate::capi::types::vxs_pose;

/// Why a recorded call cannot be decoded.
pub(in crate::capi) type Defect = String;

/// Largest memory for the outputs of one call.
const MOST_OUTPUT: usize = 1 << 30;

/// Blocks of memory of one call, aligned for every struct of the C API.
#[derive(Default)]
struct Blocks(Vec<(*mut u8, Layout)>);

impl Drop for Blocks {
    fn drop(&mut self) {
        for (block, layout) in self.0.drain(..) {
            // SAFETY: allocated with this layout, and dropped once.
            unsafe { dealloc(block, layout) };
        }
    }
}

/// A live handle of a replay.
#[derive(Clone, Copy)]
pub(in crate::capi) struct Held {
    pub pointer: *mut c_void,
    pub kind: u8,
}

/// Reads the arguments of one call.
pub(in crate::capi) struct Source<'a> {
    pub arguments: Reader<'a>,
    /// Lengths and handles of the recorded answer.
    pub items: Reader<'a>,
    /// Hash of the outputs of the replay.
    pub hash: Hash,
    /// Number of elements behind the pointer that was read last.
    pub length: usize,
    /// Names of the arguments that were read, and the numbers of elements behind them.
    lengths: Vec<(&'static str, usize)>,
    /// Live handles by their number in the recording.
    pub handles: &'a mut HashMap<u64, Held>,
    /// Handles that the call uses and makes.
    pub used: Vec<u64>,
    /// Where the call writes new handles that have no number yet, and their kinds.
    pub unnumbered: Vec<(*mut *mut c_void, u8)>,
    /// Releases a live handle.
    release: unsafe fn(&Held),
    /// Shapes and their poses, as far as the call has some.
    pub placed: Vec<(u64, vxs_pose)>,
    /// Whether the recorded call has written outputs.
    pub has_outputs: bool,
    /// Whether the call has a limit by time.
    pub is_timed: bool,
    /// Whether the call runs a `vxs_haptics` on threads of the library.
    pub runs: bool,
    /// Folder for the files that calls read and write.
    pub folder: Option<PathBuf>,
    /// Files that the call writes, by the pointers to their names.
    pub written: Vec<(*const c_void, PathBuf)>,
    /// Numbers of elements of the outputs, by their pointers.
    capacities: Vec<(*const c_void, usize)>,
    blocks: Blocks,
    size: usize,
}

impl<'a> Source<'a> {
    pub fn new(
        arguments: &'a [u8],
        items: &'a [u8],
        handles: &'a mut HashMap<u64, Held>,
        folder: Option<PathBuf>,
        release: unsafe fn(&Held),
    ) -> Self {
        Self {
            arguments: Reader(arguments),
            items: Reader(items),
            hash: Hash::new(),
            length: usize::MAX,
            lengths: Vec::new(),
            handles,
            used: Vec::new(),
            unnumbered: Vec::new(),
            release,
            placed: Vec::new(),
            has_outputs: false,
            is_timed: false,
            runs: false,
            folder,
            written: Vec::new(),
            capacities: Vec::new(),
            blocks: Blocks::default(),
            size: 0,
        }
    }

    /// Returns memory for `count` elements, zero at first. It lives as long as this source.
    pub fn memory<T>(&mut self, count: usize) -> Result<*mut T, Defect> {
        self.memory_of(count, size_of::<T>()).map(<*mut u8>::cast)
    }

    fn memory_of(&mut self, count: usize, element: usize) -> Result<*mut u8, Defect> {
        let size = count.checked_mul(element).filter(|size| *size <= MOST_OUTPUT - self.size);
        let size = size.ok_or_else(|| format!("the call needs more than {MOST_OUTPUT} bytes"))?;
        self.size += size;
        let layout = Layout::from_size_align(size.max(1), 16).map_err(|e| e.to_string())?;
        // SAFETY: the size is not 0.
        let block = unsafe { alloc_zeroed(layout) };
        if block.is_null() {
            return Err(format!("there are no {size} bytes of memory for the call"));
        }
        self.blocks.0.push((block, layout));
        self.length = count;
        Ok(block)
    }

    pub fn keep_capacity(&mut self, pointer: *const c_void, capacity: usize) {
        self.capacities.push((pointer, capacity));
    }

    /// Returns the last output of the call, if it has the type `T`.
    ///
    /// # Safety
    /// The last output of the call must be a `T`.
    pub unsafe fn last_output<T: Copy>(&self) -> Option<T> {
        self.capacities.last().filter(|kept| kept.1 == 1).map(|kept| kept.0.cast::<T>().read())
    }

    pub fn capacity_of(&self, pointer: *const c_void) -> usize {
        self.capacities.iter().find(|(kept, _)| *kept == pointer).map_or(0, |kept| kept.1)
    }

    /// Keeps the length of the argument `name`, which was read last.
    pub fn keep_length(&mut self, name: &'static str) {
        self.lengths.push((name, self.length));
        // Numbers and handles have no length.
        self.length = usize::MAX;
    }

    /// Checks that the pointer `name` points to as many elements as the call will use.
    pub fn fits(&self, name: &str, needed: usize) -> Result<(), Defect> {
        let length = self.lengths.iter().find(|length| length.0 == name).map_or(0, |length| length.1);
        Self::check_length(name, length, needed)
    }

    pub fn check_length(name: &str, length: usize, needed: usize) -> Result<(), Defect> {
        match length >= needed {
            true => Ok(()),
            false => Err(format!("{name} has {length} elements, and the call would use {needed}")),
        }
    }

    /// Returns an error for arguments that end too early.
    pub fn short() -> Defect {
        "the arguments of the call are cut off".into()
    }

    pub fn byte(&mut self) -> Result<u8, Defect> {
        self.arguments.byte().ok_or_else(Self::short)
    }

    pub fn take<const N: usize>(&mut self) -> Result<[u8; N], Defect> {
        self.arguments.array().ok_or_else(Self::short)
    }

    pub fn number(&mut self) -> Result<u64, Defect> {
        self.arguments.number().ok_or_else(Self::short)
    }

    /// Reads a number of elements of `size` bytes that follow.
    pub fn count(&mut self, size: usize) -> Result<usize, Defect> {
        let count = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        match count.checked_mul(size) {
            Some(bytes) if bytes <= self.arguments.0.len() => Ok(count),
            _ => Err(Self::short()),
        }
    }

    /// Reads a number of the recorded answer.
    pub fn item(&mut self) -> Result<u64, Defect> {
        self.items.number().ok_or_else(|| "the answer of the call is cut off".into())
    }
}

impl Drop for Source<'_> {
    fn drop(&mut self) {
        // A damaged recording may say that a call failed which succeeds, or give a number that is taken.
        for (place, kind) in self.unnumbered.drain(..) {
            // SAFETY: the place is in the blocks of this source. It is null, or the call wrote a handle that nobody else has.
            unsafe {
                if !(*place).is_null() {
                    (self.release)(&Held { pointer: *place, kind });
                }
            }
        }
    }
}
