//! Containers that grow under a guard: the functions of the standard ones, with `try_reserve` first.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::refusal::refuse;
use super::reserve::{is_low, refusable};

/// An empty vector with room for exactly `n`.
pub fn with_capacity<T>(n: usize) -> Vec<T> {
    let mut v = Vec::new();
    room_exact(&mut v, n);
    v
}

/// Returns an empty vector with room for `n`, or `None` when there is no memory for it.
pub(super) fn with_capacity_or<T>(n: usize) -> Option<Vec<T>> {
    let mut v = Vec::new();
    refusable(|| v.try_reserve_exact(n)).ok().map(|()| v)
}

/// Returns `n` copies of `value`.
pub fn filled<T: Clone>(value: T, n: usize) -> Vec<T> {
    let mut v = with_capacity(n);
    v.resize(n, value);
    v
}

/// Returns the results of `n` calls of `make`.
pub fn filled_with<T>(n: usize, make: impl FnMut() -> T) -> Vec<T> {
    let mut v = with_capacity(n);
    v.resize_with(n, make);
    v
}

/// A map of small keys of integers: its hash is faster than that of the standard library.
pub type Map<K, V> = HashMap<K, V, RandomState>;
/// A set of small keys of integers.
pub type Set<K> = HashSet<K, RandomState>;

/// An empty map with room for `n`.
pub fn map_with_capacity<K: Eq + Hash, V>(n: usize) -> Map<K, V> {
    let mut map = Map::default();
    map.reserve_guarded(n);
    map
}

/// An empty set with room for `n`.
pub fn set_with_capacity<K: Eq + Hash>(n: usize) -> Set<K> {
    let mut set = Set::default();
    set.reserve_guarded(n);
    set
}

/// Returns the items of all parts, one part after another.
pub fn concat<T>(parts: Vec<Vec<T>>) -> Vec<T> {
    let mut all = with_capacity(parts.iter().map(Vec::len).sum());
    parts.into_iter().for_each(|part| all.extend(part));
    all
}

/// Returns the items in a box. Copies them if there is spare capacity, because releasing that can fail.
pub fn boxed<T>(v: Vec<T>) -> Box<[T]> {
    let exact = if v.capacity() == v.len() { v } else { v.into_iter().collect_guarded() };
    exact.into_boxed_slice()
}

/// Returns the items in a vector without spare capacity; as for [`boxed`].
pub fn exact<T>(v: Vec<T>) -> Vec<T> {
    boxed(v).into_vec()
}

/// Returns `value` in a box, like `Box::new`: for large values, and for values of which each thread has some.
pub fn boxed_item<T>(value: T) -> Box<T> {
    let mut one = with_capacity(1);
    one.push(value);
    // SAFETY: a slice of one item is that item, in place, size and alignment.
    unsafe { Box::from_raw(Box::into_raw(boxed(one)).cast::<T>()) }
}

/// Sorts as `sort_by` does, but under a guard: `sort_by` itself allocates without one.
pub fn sort_stable_by<T: Copy>(items: &mut [T], mut order: impl FnMut(&T, &T) -> Ordering) {
    let mut places: Vec<usize> = (0..items.len()).collect_guarded();
    places.sort_unstable_by(|&a, &b| order(&items[a], &items[b]).then(a.cmp(&b)));
    let sorted: Vec<T> = places.iter().map(|&i| items[i]).collect_guarded();
    items.copy_from_slice(&sorted);
}

/// Returns the items that `job(i, out)` appends to `out` for i from 0 to `n`, in this order; in parallel, `each` of
/// them at a time.
pub fn par_flat_collect<T: Send>(n: usize, each: usize, job: impl Fn(usize, &mut Vec<T>) + Sync) -> Vec<T> {
    let some = |chunk: usize| {
        let mut out = Vec::new();
        (chunk * each..n.min((chunk + 1) * each)).for_each(|i| job(i, &mut out));
        out
    };
    concat((0..n.div_ceil(each)).into_par_iter().map(some).collect_guarded())
}

/// Works as [`par_flat_collect`], or returns an error; no chunk starts after one has failed.
pub fn par_try_flat_collect<T: Send, E: Send>(
    n: usize,
    each: usize,
    job: impl Fn(usize, &mut Vec<T>) -> Result<(), E> + Sync,
) -> Result<Vec<T>, E> {
    let some = |chunk: usize| {
        let mut out = Vec::new();
        (chunk * each..n.min((chunk + 1) * each)).try_for_each(|i| job(i, &mut out))?;
        Ok(out)
    };
    Ok(concat((0..n.div_ceil(each)).into_par_iter().map(some).try_collect_guarded()?))
}

fn room_exact<T>(v: &mut Vec<T>, additional: usize) {
    if v.capacity() - v.len() < additional {
        let bytes = bytes_of::<T>(v.len().saturating_add(additional));
        or_refuse(bytes, || v.try_reserve_exact(additional).is_ok());
    }
}

fn bytes_of<T>(n: usize) -> usize {
    n.saturating_mul(size_of::<T>())
}

fn or_refuse(bytes: usize, allocate: impl FnOnce() -> bool) {
    if is_low() || !refusable(allocate) {
        refuse(bytes);
    }
}

/// Containers that can reserve room.
pub trait RoomGuarded {
    /// Makes room for `additional` more items, amortised as `reserve` is.
    fn reserve_guarded(&mut self, additional: usize);
}

impl<T> RoomGuarded for Vec<T> {
    #[inline]
    fn reserve_guarded(&mut self, additional: usize) {
        if self.capacity() - self.len() < additional {
            grow(self, additional);
        }
    }
}

#[cold]
fn grow<T>(v: &mut Vec<T>, additional: usize) {
    or_refuse(bytes_of::<T>(v.len().saturating_add(additional)), || v.try_reserve(additional).is_ok());
}

impl RoomGuarded for String {
    fn reserve_guarded(&mut self, additional: usize) {
        if self.capacity() - self.len() < additional {
            or_refuse(self.len().saturating_add(additional), || self.try_reserve(additional).is_ok());
        }
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> RoomGuarded for HashMap<K, V, S> {
    fn reserve_guarded(&mut self, additional: usize) {
        if self.capacity() - self.len() < additional {
            or_refuse(bytes_of::<(K, V)>(self.len() + additional), || self.try_reserve(additional).is_ok());
        }
    }
}

impl<K: Eq + Hash, S: BuildHasher> RoomGuarded for HashSet<K, S> {
    fn reserve_guarded(&mut self, additional: usize) {
        if self.capacity() - self.len() < additional {
            or_refuse(bytes_of::<K>(self.len() + additional), || self.try_reserve(additional).is_ok());
        }
    }
}

impl<T: Ord> RoomGuarded for BinaryHeap<T> {
    #[inline]
    fn reserve_guarded(&mut self, additional: usize) {
        if self.capacity() - self.len() < additional {
            or_refuse(bytes_of::<T>(self.len() + additional), || self.try_reserve(additional).is_ok());
        }
    }
}

impl<T> RoomGuarded for VecDeque<T> {
    #[inline]
    fn reserve_guarded(&mut self, additional: usize) {
        if self.capacity() - self.len() < additional {
            or_refuse(bytes_of::<T>(self.len() + additional), || self.try_reserve(additional).is_ok());
        }
    }
}

/// `push`, `insert`, `extend`, `append` and `resize` under a guard.
pub trait GrowGuarded<T> {
    fn push_guarded(&mut self, item: T);
    fn insert_guarded(&mut self, at: usize, item: T);
    fn extend_guarded(&mut self, items: impl IntoIterator<Item = T>);
    fn extend_slice_guarded(&mut self, items: &[T])
    where
        T: Clone;
    fn append_guarded(&mut self, other: &mut Vec<T>);
    fn resize_guarded(&mut self, len: usize, value: T)
    where
        T: Clone;
    fn resize_with_guarded(&mut self, len: usize, make: impl FnMut() -> T);
}

impl<T> GrowGuarded<T> for Vec<T> {
    #[inline]
    fn push_guarded(&mut self, item: T) {
        // The same comparison as in `push`, so that the compiler drops one of the two.
        if self.len() == self.capacity() {
            grow(self, 1);
        }
        self.push(item);
    }

    #[inline]
    fn insert_guarded(&mut self, at: usize, item: T) {
        self.reserve_guarded(1);
        self.insert(at, item);
    }

    #[inline]
    fn extend_slice_guarded(&mut self, items: &[T])
    where
        T: Clone,
    {
        self.reserve_guarded(items.len());
        self.extend_from_slice(items);
    }

    fn extend_guarded(&mut self, items: impl IntoIterator<Item = T>) {
        let items = items.into_iter();
        let (least, most) = items.size_hint();
        self.reserve_guarded(least);
        if most == Some(least) {
            // The room is reserved, and this is faster.
            self.extend(items);
        } else {
            items.for_each(|item| self.push_guarded(item));
        }
    }

    fn append_guarded(&mut self, other: &mut Vec<T>) {
        self.reserve_guarded(other.len());
        self.append(other);
    }

    fn resize_guarded(&mut self, len: usize, value: T)
    where
        T: Clone,
    {
        self.reserve_guarded(len.saturating_sub(self.len()));
        self.resize(len, value);
    }

    fn resize_with_guarded(&mut self, len: usize, make: impl FnMut() -> T) {
        self.reserve_guarded(len.saturating_sub(self.len()));
        self.resize_with(len, make);
    }
}

/// `push` and `extend` of a heap under a guard.
pub trait HeapGuarded<T> {
    fn push_guarded(&mut self, item: T);
    fn extend_guarded(&mut self, items: impl IntoIterator<Item = T>);
}

impl<T: Ord> HeapGuarded<T> for BinaryHeap<T> {
    #[inline]
    fn push_guarded(&mut self, item: T) {
        self.reserve_guarded(1);
        self.push(item);
    }

    fn extend_guarded(&mut self, items: impl IntoIterator<Item = T>) {
        items.into_iter().for_each(|item| self.push_guarded(item));
    }
}

/// `collect` under a guard.
pub trait CollectGuarded: Iterator + Sized {
    fn collect_guarded(self) -> Vec<Self::Item> {
        let (least, most) = self.size_hint();
        let mut v = Vec::new();
        if most == Some(least) {
            room_exact(&mut v, least);
        }
        v.extend_guarded(self);
        v
    }

    /// Collects the items up to the first error.
    fn try_collect_guarded<T, E>(self) -> Result<Vec<T>, E>
    where
        Self: Iterator<Item = Result<T, E>>,
    {
        let mut v = Vec::new();
        if self.size_hint().1 == Some(self.size_hint().0) {
            room_exact(&mut v, self.size_hint().0);
        }
        for item in self {
            v.push_guarded(item?);
        }
        Ok(v)
    }
}

impl<I: Iterator> CollectGuarded for I {}

/// `to_vec` under a guard.
pub trait SliceGuarded<T: Clone> {
    fn to_vec_guarded(&self) -> Vec<T>;
}

impl<T: Clone> SliceGuarded<T> for [T] {
    fn to_vec_guarded(&self) -> Vec<T> {
        let mut v = with_capacity(self.len());
        v.extend_from_slice(self);
        v
    }
}

/// `collect` of a parallel iterator under a guard.
pub trait ParCollectGuarded: IndexedParallelIterator {
    fn collect_guarded(self) -> Vec<Self::Item> {
        let mut v = with_capacity(self.len());
        self.collect_into_vec(&mut v);
        v
    }

    /// Collects the items, or returns an error; no item starts after one has failed.
    fn try_collect_guarded<T: Send, E: Send>(self) -> Result<Vec<T>, E>
    where
        Self: IndexedParallelIterator<Item = Result<T, E>>,
    {
        let n = self.len();
        let mut slots: Vec<Option<T>> = filled_with(n, || None);
        slots.par_iter_mut().zip(self).try_for_each(|(slot, item)| {
            *slot = Some(item?);
            Ok(())
        })?;
        let mut v = with_capacity(n);
        v.extend(slots.into_iter().flatten());
        Ok(v)
    }

    /// Collects the two components of pairs.
    fn unzip_guarded<A: Send, B: Send>(self) -> (Vec<A>, Vec<B>)
    where
        Self: IndexedParallelIterator<Item = (A, B)>,
    {
        let (mut a, mut b) = (with_capacity(self.len()), with_capacity(self.len()));
        self.unzip_into_vecs(&mut a, &mut b);
        (a, b)
    }
}

impl<I: IndexedParallelIterator> ParCollectGuarded for I {}
