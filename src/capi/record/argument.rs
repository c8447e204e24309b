//! Encoding and decoding of the arguments of calls, by their types in C: numbers, pointers to structs, arrays, handles
//! and names of files.

use std::ffi::{c_char, c_void, CString};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use super::file::MOST_BYTES;
use super::session;
use super::sink::{Answer, Hash, Sink, Unusable};
use super::source::{Defect, Held, Source};
use crate::capi::handle::{self, Opaque};
use crate::capi::types::vxs_vec3;

/// A value that a function of the C API takes.
pub(in crate::capi) trait Argument: Copy {
    /// Writes the value. Behind a pointer are `length` elements.
    unsafe fn put(self, sink: &mut Sink, length: usize);
    /// Reads the value. Sets `source.length` for a pointer.
    unsafe fn take(source: &mut Source) -> Result<Self, Defect>;
    /// Adds outputs to the answer: `length` elements were written behind a pointer.
    unsafe fn answer(self, _: &mut Answer, _length: usize) {}
    /// Reads what [`Argument::answer`] wrote, and adds the outputs of the replay to its hash.
    unsafe fn check(self, _: &mut Source) -> Result<(), Defect> {
        Ok(())
    }
}

/// A type that a const pointer of a call points to.
pub(in crate::capi) trait Content: Sized {
    unsafe fn put(pointer: *const Self, sink: &mut Sink, length: usize);
    unsafe fn take(source: &mut Source) -> Result<*const Self, Defect>;
    unsafe fn check(_: *const Self, _: &mut Source) -> Result<(), Defect> {
        Ok(())
    }
}

/// A type that a mutable pointer of a call points to.
pub(in crate::capi) trait Target: Sized {
    unsafe fn put(pointer: *mut Self, sink: &mut Sink, length: usize) {
        put_target(pointer, sink, length);
    }
    unsafe fn take(source: &mut Source) -> Result<*mut Self, Defect> {
        take_target(source)
    }
    unsafe fn answer(pointer: *mut Self, answer: &mut Answer, length: usize) {
        if !pointer.is_null() {
            answer.sink.number(length as u64);
            Self::digest(pointer, length, &mut answer.hash);
        }
    }
    unsafe fn check(pointer: *mut Self, source: &mut Source) -> Result<(), Defect> {
        if pointer.is_null() {
            return Ok(());
        }
        let length = usize::try_from(source.item()?).unwrap_or(usize::MAX);
        let capacity = source.capacity_of(pointer.cast());
        if length > capacity {
            return Err("the answer is longer than its room".into());
        }
        let mut hash = source.hash;
        Self::digest(pointer, length, &mut hash);
        source.hash = hash;
        Ok(())
    }
    /// Adds elements to a hash.
    unsafe fn digest(pointer: *const Self, length: usize, hash: &mut Hash);
}

const NULL: u8 = 0;
const PRESENT: u8 = 1;
/// A struct of a size that no release had.
const WRONG_SIZE: u8 = 2;

unsafe fn put_target<T>(pointer: *mut T, sink: &mut Sink, length: usize) {
    if pointer.is_null() {
        return sink.byte(NULL);
    }
    if !pointer.is_aligned() || length > isize::MAX as usize / size_of::<T>() {
        sink.refuse(Unusable::Argument);
    }
    sink.byte(PRESENT);
    sink.number(length as u64);
}

unsafe fn take_target<T>(source: &mut Source) -> Result<*mut T, Defect> {
    match source.byte()? {
        NULL => {
            source.length = usize::MAX;
            Ok(std::ptr::null_mut())
        }
        _ => {
            let capacity = usize::try_from(source.number()?).unwrap_or(usize::MAX);
            let pointer = source.memory::<T>(capacity)?;
            source.keep_capacity(pointer.cast(), capacity);
            Ok(pointer)
        }
    }
}

impl<T: Content> Argument for *const T {
    unsafe fn put(self, sink: &mut Sink, length: usize) {
        T::put(self, sink, length);
    }
    unsafe fn take(source: &mut Source) -> Result<Self, Defect> {
        T::take(source)
    }
    unsafe fn check(self, source: &mut Source) -> Result<(), Defect> {
        T::check(self, source)
    }
}

impl<T: Target> Argument for *mut T {
    unsafe fn put(self, sink: &mut Sink, length: usize) {
        T::put(self, sink, length);
    }
    unsafe fn take(source: &mut Source) -> Result<Self, Defect> {
        T::take(source)
    }
    unsafe fn answer(self, answer: &mut Answer, length: usize) {
        T::answer(self, answer, length);
    }
    unsafe fn check(self, source: &mut Source) -> Result<(), Defect> {
        T::check(self, source)
    }
}

macro_rules! numbers {
    ($($type:ident),*) => { $(
        impl Argument for $type {
            unsafe fn put(self, sink: &mut Sink, _: usize) {
                sink.put(&self.to_le_bytes());
            }
            unsafe fn take(source: &mut Source) -> Result<Self, Defect> {
                source.take().map($type::from_le_bytes)
            }
        }
    )* };
}
numbers!(u32, u64, f64);

impl Argument for bool {
    unsafe fn put(self, sink: &mut Sink, _: usize) {
        sink.byte(self.into());
    }
    unsafe fn take(source: &mut Source) -> Result<Self, Defect> {
        source.byte().map(|byte| byte != 0)
    }
}

/// Sizes differ between platforms, so they are 64 bits in the file.
impl Argument for usize {
    unsafe fn put(self, sink: &mut Sink, _: usize) {
        sink.number(self as u64);
    }
    unsafe fn take(source: &mut Source) -> Result<Self, Defect> {
        usize::try_from(source.number()?).map_err(|_| "a size does not fit this platform".into())
    }
}

impl Argument for vxs_vec3 {
    unsafe fn put(self, sink: &mut Sink, length: usize) {
        [self.x, self.y, self.z].into_iter().for_each(|x| x.put(sink, length));
    }
    unsafe fn take(source: &mut Source) -> Result<Self, Defect> {
        let [x, y, z] = Argument::take(source)?;
        Ok(Self { x, y, z })
    }
}

impl<T: Argument, const N: usize> Argument for [T; N] {
    unsafe fn put(self, sink: &mut Sink, length: usize) {
        self.into_iter().for_each(|x| x.put(sink, length));
    }
    unsafe fn take(source: &mut Source) -> Result<Self, Defect> {
        let first = T::take(source)?;
        let mut all = [first; N];
        for x in &mut all[1..] {
            *x = T::take(source)?;
        }
        Ok(all)
    }
}

/// A handle in a recording: 0 is null, 1 is a pointer that the library refuses.
const REFUSED: u64 = 1;

unsafe fn put_handle<H: Opaque>(handle: *const H, sink: &mut Sink) {
    if handle.is_null() {
        return sink.number(0);
    }
    let Some(mark) = handle::mark(handle) else { return sink.number(REFUSED) };
    if let Some(id) = session::known(mark.load(Ordering::Relaxed)) {
        return sink.number(id);
    }
    // An object from before the recording.
    let content = handle::get("handle", handle).ok().and_then(H::snapshot);
    let Some(content) = content else { return sink.refuse(Unusable::Older) };
    let made = session::object(H::KIND as u8, &content);
    mark.store(made, Ordering::Relaxed);
    sink.number(session::number(made));
}

unsafe fn take_handle<H: Opaque>(source: &mut Source) -> Result<*mut H, Defect> {
    /// No handle: all zero.
    static NOTHING: [u64; 8] = [0; 8];
    source.length = usize::MAX;
    let id = source.number()?;
    if id == 0 {
        return Ok(std::ptr::null_mut());
    }
    source.used.push(id);
    Ok(source.handles.get(&id).map_or(NOTHING.as_ptr().cast_mut().cast(), |held| held.pointer.cast()))
}

impl<H: Opaque> Content for H {
    unsafe fn put(pointer: *const Self, sink: &mut Sink, _: usize) {
        put_handle(pointer, sink);
    }
    unsafe fn take(source: &mut Source) -> Result<*const Self, Defect> {
        take_handle(source).map(<*mut Self>::cast_const)
    }
}

impl<H: Opaque> Target for H {
    unsafe fn put(pointer: *mut Self, sink: &mut Sink, _: usize) {
        put_handle(pointer, sink);
    }
    unsafe fn take(source: &mut Source) -> Result<*mut Self, Defect> {
        take_handle(source)
    }
    unsafe fn answer(_: *mut Self, _: &mut Answer, _: usize) {}
    unsafe fn check(_: *mut Self, _: &mut Source) -> Result<(), Defect> {
        Ok(())
    }
    unsafe fn digest(_: *const Self, _: usize, _: &mut Hash) {}
}

/// A new handle.
impl<H: Opaque> Target for *mut H {
    unsafe fn take(source: &mut Source) -> Result<*mut Self, Defect> {
        let pointer: *mut Self = take_target(source)?;
        if !pointer.is_null() && source.length > 0 {
            source.unnumbered.push((pointer.cast(), H::KIND as u8));
        }
        Ok(pointer)
    }
    unsafe fn answer(pointer: *mut Self, answer: &mut Answer, _: usize) {
        let made = handle::mark(*pointer);
        let id = made.map_or(0, |mark| {
            let made = session::new_object();
            mark.store(made, Ordering::Relaxed);
            session::number(made)
        });
        answer.sink.number(id);
    }
    unsafe fn check(pointer: *mut Self, source: &mut Source) -> Result<(), Defect> {
        let id = source.item()?;
        if pointer.is_null() || (*pointer).is_null() {
            return Ok(());
        }
        if id <= REFUSED || source.handles.contains_key(&id) {
            return Err(format!("an object has the number {id}, which is taken"));
        }
        source.unnumbered.retain(|(place, _)| *place != pointer.cast());
        source.handles.insert(id, Held { pointer: (*pointer).cast(), kind: H::KIND as u8 });
        source.used.push(id);
        Ok(())
    }
    unsafe fn digest(_: *const Self, _: usize, _: &mut Hash) {}
}

impl Content for c_void {
    unsafe fn put(pointer: *const Self, sink: &mut Sink, length: usize) {
        put_bytes(pointer.cast::<u8>(), sink, length);
    }
    unsafe fn take(source: &mut Source) -> Result<*const Self, Defect> {
        take_bytes::<u8>(source).map(|pointer| pointer.cast())
    }
}

impl Target for c_void {
    unsafe fn put(pointer: *mut Self, sink: &mut Sink, length: usize) {
        put_target(pointer.cast::<u8>(), sink, length);
    }
    unsafe fn take(source: &mut Source) -> Result<*mut Self, Defect> {
        take_target::<u8>(source).map(|pointer| pointer.cast())
    }
    unsafe fn digest(pointer: *const Self, length: usize, hash: &mut Hash) {
        hash.bytes(std::slice::from_raw_parts(pointer.cast(), length));
    }
}

/// Sizes differ between platforms, so their hash is that of 64 bits.
impl Target for usize {
    unsafe fn digest(pointer: *const Self, length: usize, hash: &mut Hash) {
        (0..length).for_each(|i| hash.word(*pointer.add(i) as u64));
    }
}

impl Target for bool {
    unsafe fn digest(pointer: *const Self, length: usize, hash: &mut Hash) {
        (0..length).for_each(|i| hash.word(u64::from(*pointer.cast::<u8>().add(i))));
    }
}

/// Writes an array of structs without pointers and without padding, as bytes.
pub(super) unsafe fn put_bytes<T>(pointer: *const T, sink: &mut Sink, length: usize) {
    if pointer.is_null() || length == 0 {
        sink.byte(if pointer.is_null() { NULL } else { PRESENT });
        return sink.number(0);
    }
    // The library may refuse a number of elements before it reads any. Behind an argument that is refused, the same number
    // may be that of this array.
    if sink.unusable.is_some() || !pointer.is_aligned() || length > MOST_BYTES / size_of::<T>() {
        return sink.refuse(Unusable::Argument);
    }
    sink.byte(PRESENT);
    sink.number(length as u64);
    sink.put(std::slice::from_raw_parts(pointer.cast(), length * size_of::<T>()));
}

pub(super) unsafe fn take_bytes<T>(source: &mut Source) -> Result<*const T, Defect> {
    let kind = source.byte()?;
    let length = source.count(size_of::<T>())?;
    if kind == NULL {
        // The library checks null itself.
        source.length = usize::MAX;
        return Ok(std::ptr::null());
    }
    let memory = source.memory::<T>(length)?;
    let bytes = source.arguments.take(length * size_of::<T>()).ok_or_else(Source::short)?;
    std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.cast(), bytes.len());
    Ok(memory)
}

/// Writes a struct that starts with its size; false if the size is not that of this release, or there is no struct.
pub(super) unsafe fn put_sized<T>(pointer: *const T, sink: &mut Sink) -> bool {
    if pointer.is_null() {
        sink.byte(NULL);
        return false;
    }
    if !pointer.is_aligned() {
        sink.refuse(Unusable::Argument);
        return false;
    }
    let size = pointer.cast::<u32>().read();
    if size as usize != size_of::<T>() {
        sink.byte(WRONG_SIZE);
        sink.put(&size.to_le_bytes());
        return false;
    }
    sink.byte(PRESENT);
    true
}

/// Reads what [`put_sized`] wrote: the struct, all zero but for its size, and whether its fields follow.
pub(super) unsafe fn take_sized<T>(source: &mut Source) -> Result<(*mut T, bool), Defect> {
    let kind = source.byte()?;
    if kind == NULL {
        source.length = usize::MAX;
        return Ok((std::ptr::null_mut(), false));
    }
    let memory = source.memory::<T>(1)?;
    let mut size = size_of::<T>() as u32;
    if kind == WRONG_SIZE {
        size = u32::from_le_bytes(source.take()?);
        if size as usize == size_of::<T>() {
            return Err("a struct has the right size where a wrong one is recorded".into());
        }
    }
    memory.cast::<u32>().write(size);
    source.keep_capacity(memory.cast(), 1);
    Ok((memory, kind != WRONG_SIZE))
}

const TEXT_OF_FILE: u8 = 3;
const NAME_OF_OUTPUT: u8 = 4;

/// The name of a file that the call reads.
pub(in crate::capi) struct Read(pub *const c_char);
/// The name of a file that the call writes.
pub(in crate::capi) struct Written(pub *const c_char);

unsafe fn path(pointer: *const c_char) -> Option<PathBuf> {
    crate::capi::check::path("path", pointer).ok()
}

/// Writes the ending of the name of a file, which tells its type.
fn put_ending(path: &std::path::Path, sink: &mut Sink) {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let ending = if ending.len() <= 16 && ending.bytes().all(|b| b.is_ascii_alphanumeric()) { ending } else { "" };
    sink.byte(ending.len() as u8);
    sink.put(ending.as_bytes());
}

impl Content for c_char {
    unsafe fn put(_: *const Self, sink: &mut Sink, _: usize) {
        sink.refuse(Unusable::Argument);
    }

    unsafe fn take(source: &mut Source) -> Result<*const Self, Defect> {
        let kind = source.byte()?;
        if kind == NULL {
            source.length = usize::MAX;
            return Ok(std::ptr::null());
        }
        let length = usize::from(source.byte()?);
        let ending = source.arguments.take(length).ok_or_else(Source::short)?;
        if !ending.iter().all(u8::is_ascii_alphanumeric) {
            return Err("the ending of a file's name has other characters than letters and digits".into());
        }
        let ending = String::from_utf8_lossy(ending);
        let folder = source.folder.clone().ok_or("the call uses a file, and there are none on this platform")?;
        let path = folder.join(format!("{}.{ending}", if kind == NAME_OF_OUTPUT { "written" } else { "read" }));
        let name = CString::new(path.to_string_lossy().as_bytes()).map_err(|e| e.to_string())?;
        let bytes = name.as_bytes_with_nul();
        let pointer = source.memory::<u8>(bytes.len())?;
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), pointer, bytes.len());
        if kind == NAME_OF_OUTPUT {
            source.written.push((pointer.cast_const().cast(), path));
        } else {
            let size = source.count(1)?;
            let content = source.arguments.take(size).ok_or_else(Source::short)?;
            std::fs::write(&path, content).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        Ok(pointer.cast_const().cast())
    }

    unsafe fn check(pointer: *const Self, source: &mut Source) -> Result<(), Defect> {
        let written = source.written.iter().find(|(name, _)| *name == pointer.cast()).map(|(_, path)| path.clone());
        if let Some(path) = written {
            source.hash.bytes(&std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?);
        }
        Ok(())
    }
}

/// An argument of a call as its record needs it.
pub(in crate::capi) trait Recorded {
    unsafe fn put(&self, sink: &mut Sink);
    unsafe fn answer(&self, answer: &mut Answer);
}

impl<T: Argument> Recorded for T {
    unsafe fn put(&self, sink: &mut Sink) {
        Argument::put(*self, sink, 1);
    }
    unsafe fn answer(&self, answer: &mut Answer) {
        Argument::answer(*self, answer, 1);
    }
}

impl Recorded for Read {
    unsafe fn put(&self, sink: &mut Sink) {
        if self.0.is_null() {
            return sink.byte(NULL);
        }
        let read = path(self.0).and_then(|path| Some((std::fs::read(&path).ok()?, path)));
        let Some((content, path)) = read else { return sink.refuse(Unusable::Argument) };
        sink.byte(TEXT_OF_FILE);
        put_ending(&path, sink);
        sink.number(content.len() as u64);
        sink.put(&content);
    }
    unsafe fn answer(&self, _: &mut Answer) {}
}

impl Recorded for Written {
    unsafe fn put(&self, sink: &mut Sink) {
        if self.0.is_null() {
            return sink.byte(NULL);
        }
        let Some(path) = path(self.0) else { return sink.refuse(Unusable::Argument) };
        sink.byte(NAME_OF_OUTPUT);
        put_ending(&path, sink);
    }
    unsafe fn answer(&self, answer: &mut Answer) {
        let content = path(self.0).and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
        answer.hash.bytes(&content);
    }
}

/// An array: its pointer and its number of elements.
pub(in crate::capi) struct Array<T>(pub T, pub usize);

impl<T: Argument> Recorded for Array<T> {
    unsafe fn put(&self, sink: &mut Sink) {
        Argument::put(self.0, sink, self.1);
    }
    unsafe fn answer(&self, answer: &mut Answer) {
        Argument::answer(self.0, answer, self.1);
    }
}

/// An output array: its pointer, its capacity, and a function that returns the number of elements that were written.
pub(in crate::capi) struct Out<T, F>(pub *mut T, pub usize, pub F);

impl<T: Target, F: Fn() -> usize> Recorded for Out<T, F> {
    unsafe fn put(&self, sink: &mut Sink) {
        Argument::put(self.0, sink, self.1);
    }
    unsafe fn answer(&self, answer: &mut Answer) {
        Argument::answer(self.0, answer, (self.2)().min(self.1));
    }
}

/// Returns the record of an output array of `capacity` elements, of which the first `*count` are written.
pub(in crate::capi) fn list<T: Target>(pointer: *mut T, capacity: usize, count: *const usize) -> impl Recorded {
    // SAFETY: called only after the call has written its outputs.
    Out(pointer, capacity, move || unsafe { *count })
}

/// Returns the record of an output array of which nothing is written if one of the counts exceeds its capacity.
pub(in crate::capi) fn whole<T: Target>(
    pointer: *mut T,
    (capacity, count): (usize, *const usize),
    (other_capacity, other_count): (usize, *const usize),
) -> impl Recorded {
    // SAFETY: as in `list`.
    let fits = move || unsafe { *count <= capacity && *other_count <= other_capacity };
    // SAFETY: as in `list`.
    Out(pointer, capacity, move || if fits() { unsafe { *count } } else { 0 })
}

/// Returns the record of an output that is written only if `*found`.
pub(in crate::capi) fn if_found<T: Target>(pointer: *mut T, found: *const bool) -> impl Recorded {
    // SAFETY: as in `list`.
    Out(pointer, 1, move || usize::from(unsafe { *found }))
}
