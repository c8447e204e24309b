//! Queries of many pairs of shapes in one call, on the threads of the library.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use parking_lot::Mutex;

use super::check::{self, Growable};
use super::guard::{self, entry, Failure};
use super::handle::{self, Locked};
use super::query::{vxs_workspace, Scratch};
use super::query_options::*;
use super::record::argument::{list, Array};
use super::status::*;
use super::workers;
use crate::asset::Shape;
use crate::contact::{self, Budget, Coverage};
use crate::math::Pose;
use crate::memory::{self, GrowGuarded};

/// Scratch memory of `vxs_query_contacts_batch`, which shares its pairs among several threads.
pub struct vxs_batch {
    _opaque: [u8; 0],
}

impl handle::Opaque for vxs_batch {
    type Value = handle::Exclusive<Batch>;
    const KIND: handle::Kind = handle::Kind::Batch;

    fn snapshot(_: &Self::Value) -> Option<Vec<u8>> {
        Some(Vec::new())
    }
}

/// Value of a `vxs_batch`.
pub(super) struct Batch {
    lanes: Vec<Lane>,
    /// Where the answer to each pair is.
    places: Vec<Place>,
}

/// What one thread works with.
#[derive(Default)]
struct Lane {
    workspace: contact::Workspace,
    /// Answers to the pairs of this thread, one after the other.
    contacts: Vec<vxs_contact>,
    /// The pairs, and where their answers begin in `contacts`.
    answered: Vec<(usize, usize)>,
    /// The first pair that failed, and why.
    failure: Option<(usize, Failure)>,
}

#[derive(Clone, Copy, Default)]
struct Place {
    lane: usize,
    first: usize,
    count: usize,
}

/// Largest number of threads of a batch.
const MOST_THREADS: u32 = 1024;
/// Pairs that a thread takes at once: few, so that all threads end at about the same time, and more if there are many pairs.
const MOST_AT_ONCE: usize = 64;
const SHARES: usize = 16;

/// Two bodies, whose contacts are wanted.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_body_pair {
    pub a: vxs_body,
    pub b: vxs_body,
    /// Scratch of this pair alone, kept from call to call, which makes the query of a pair that moves little faster; the
    /// answer is the same. Null: scratch of the batch. Two pairs of a call must not share it.
    pub workspace: *mut vxs_workspace,
}

/// Creates scratch memory for batches of queries.
///
/// @param threads     threads that answer a batch, at most 1024; 0: one for each processor; 1: the calling thread alone
/// @param[out] batch  destroy it with `vxs_batch_destroy`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_batch_create(threads: u32, batch: *mut *mut vxs_batch) -> vxs_status {
    entry!(vxs_batch_create(threads, batch), [], {
        check::out("batch", batch)?;
        let threads = match check::in_range("threads", threads, 0, MOST_THREADS)? {
            0 => workers::work(rayon::current_num_threads)?,
            threads => threads as usize,
        };
        let lanes = memory::filled_with(threads, Lane::default);
        handle::create("batch", batch, handle::Exclusive::new(Batch { lanes, places: Vec::new() }))
    })
}

/// Frees the scratch memory of batches.
///
/// @param batch  may be null, which does nothing
/// @return VXS_OK, VXS_INVALID_HANDLE (destroyed before, or not a batch), VXS_BUSY (it is in use)
#[no_mangle]
pub unsafe extern "C" fn vxs_batch_destroy(batch: *mut vxs_batch) -> vxs_status {
    entry!(vxs_batch_destroy(batch), [], {
        // Null has no lock. Taking the lock makes sure that no call uses the batch.
        if !batch.is_null() {
            handle::get_to_release("batch", batch)?.lock("batch").map(std::mem::forget)?;
        }
        handle::release("batch", batch)
    })
}

/// A pair whose arguments are checked.
struct Job<'a> {
    shapes: [&'a Arc<Shape>; 2],
    poses: [Pose; 2],
    scratch: Option<Mutex<Locked<'a, Scratch>>>,
}

/// Finds the contacts of many pairs of shapes, each as `vxs_query_contacts` does, on the threads of `batch`. The answers and
/// their order do not depend on the number of threads: the same input gives the same bytes, unless `query` limits the time.
/// A call wakes the threads and allocates a list of the pairs; a single pair is answered faster by `vxs_query_contacts`.
///
/// @param batch          used by one call at a time
/// @param pairs          the pairs of bodies; may be null if `pair_count` is 0
/// @param pair_count     number of pairs
/// @param query          settings of all queries; null for the defaults. `preferred` must be empty
/// @param[out] contacts  at most `capacity`; those of pair i are at `offsets[i]` to `offsets[i + 1]`, deepest first, normals
///                       from its A to its B; may be null if `capacity` is 0
/// @param capacity       room in `contacts`. Contacts that do not fit are left out
/// @param[out] offsets   `pair_count` + 1 numbers; the last one is the number of all contacts, even if it exceeds `capacity`
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`), VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED (for a
///         pair, no pointshell can be matched with a field), VXS_BUSY (`batch` or a workspace is in use, or two pairs have the
///         same workspace; or called by a progress callback), VXS_OUT_OF_MEMORY. The message names the first pair that failed
#[no_mangle]
pub unsafe extern "C" fn vxs_query_contacts_batch(
    batch: *mut vxs_batch,
    pairs: *const vxs_body_pair,
    pair_count: usize,
    query: *const vxs_query,
    contacts: *mut vxs_contact,
    capacity: usize,
    offsets: *mut usize,
) -> vxs_status {
    let mut body = || {
        let batch = handle::get("batch", batch)?;
        let query = vxs_query::read(query)?;
        let how = query.contacts()?;
        if !how.preferred.is_empty() {
            let length = how.preferred.len();
            return Err(Failure::argument(
                "query->preferred_count",
                length,
                "0, because pairs have features of their own",
            ));
        }
        let pairs = check::slice("pairs", pairs, "pair_count", pair_count)?;
        check::out_array("contacts", contacts, "capacity", capacity)?;
        check::out("offsets", offsets)?;
        let mut batch = batch.lock("batch")?;
        let jobs = jobs(pairs)?;
        batch.answer(&jobs, &how)?;
        Ok(batch.write(pairs.len(), (contacts, capacity), offsets))
    };
    let poison = || {
        handle::poison(batch);
        if let Ok(pairs) = check::slice("pairs", pairs, "pair_count", pair_count) {
            pairs.iter().filter(|pair| !pair.workspace.is_null()).for_each(|pair| handle::poison(pair.workspace));
        }
    };
    let total = offsets.wrapping_add(pair_count);
    guard::recorded!(
        Wait,
        vxs_query_contacts_batch(
            batch,
            Array(pairs, pair_count),
            pair_count,
            query,
            list(contacts, capacity, total),
            capacity,
            Array(offsets, pair_count.saturating_add(1))
        ),
        guard::run("vxs_query_contacts_batch", &mut body, &poison)
    )
}

unsafe fn jobs(pairs: &[vxs_body_pair]) -> Result<Vec<Job<'_>>, Failure> {
    let mut jobs = Vec::new();
    for (i, pair) in pairs.iter().enumerate() {
        let placed = |name: &str, body: &vxs_body| -> Result<_, Failure> {
            let shape = handle::get(format_args!("pairs[{i}].{name}.shape"), body.shape)?;
            Ok((shape, check::pose_value(format_args!("pairs[{i}].{name}.pose."), &body.pose)?))
        };
        let ((shape_a, pose_a), (shape_b, pose_b)) = (placed("a", &pair.a)?, placed("b", &pair.b)?);
        let mut scratch = None;
        if !pair.workspace.is_null() {
            let name = format!("pairs[{i}].workspace");
            let locked = handle::get(&name, pair.workspace)?.lock(&name).map_err(|busy| {
                // Locked by this call.
                let first = pairs[..i].iter().position(|other| other.workspace == pair.workspace);
                first.map_or(busy, |first| {
                    let message = format!("{name} is that of pairs[{first}] too; expected one for each pair, or null");
                    Failure::new(VXS_BUSY, message)
                })
            })?;
            scratch = Some(Mutex::new(locked));
        }
        jobs.push_guarded(Job { shapes: [shape_a, shape_b], poses: [pose_a, pose_b], scratch });
    }
    Ok(jobs)
}

impl Batch {
    /// Answers all pairs into the lanes.
    ///
    /// # Errors
    /// The failure of the first pair that failed.
    fn answer(&mut self, jobs: &[Job], how: &contact::Query) -> Result<(), Failure> {
        let threads = self.lanes.len().min(jobs.len());
        let at_once = (jobs.len() / (SHARES * threads.max(1))).clamp(1, MOST_AT_ONCE);
        let next = AtomicUsize::new(0);
        let serve = |lane: &mut Lane| loop {
            let from = next.fetch_add(at_once, Ordering::Relaxed);
            let some = jobs.iter().enumerate().skip(from).take(at_once);
            if some.len() == 0 {
                break;
            }
            some.for_each(|(i, job)| lane.answer(i, job, how));
        };
        self.lanes.iter_mut().for_each(Lane::begin);
        match &mut self.lanes[..threads] {
            [] => {}
            [only] => serve(only),
            lanes => workers::work(|| {
                rayon::scope(|scope| {
                    for lane in lanes {
                        let serve = &serve;
                        scope.spawn(move |_| serve(lane));
                    }
                });
            })?,
        }
        let failures = self.lanes.iter_mut().filter_map(|lane| lane.failure.take());
        match failures.min_by_key(|(i, _)| *i) {
            Some((_, failure)) => Err(failure),
            None => Ok(()),
        }
    }

    /// Runs the jobs of pairs on the threads of the batch.
    ///
    /// # Errors
    /// The failure of the first pair that failed.
    pub(super) fn each<J: Send>(
        &mut self,
        jobs: &mut [J],
        run: impl Fn(&mut J) -> crate::Result<()> + Sync,
    ) -> Result<(), Failure> {
        let threads = self.lanes.len().min(jobs.len());
        let left = Mutex::new(jobs.iter_mut().enumerate());
        let first: Mutex<Option<(usize, Failure)>> = Mutex::new(None);
        let serve = || loop {
            let Some((i, job)) = left.lock().next() else { break };
            if let Err(error) = run(job) {
                let Failure { status, message } = error.into();
                let mut first = first.lock();
                if first.as_ref().is_none_or(|(before, _)| i < *before) {
                    *first = Some((i, Failure::new(status, format!("pairs[{i}]: {message}"))));
                }
            }
        };
        if threads <= 1 {
            serve();
        } else {
            workers::work(|| rayon::scope(|scope| (0..threads).for_each(|_| scope.spawn(|_| serve()))))?;
        }
        match first.into_inner() {
            Some((_, failure)) => Err(failure),
            None => Ok(()),
        }
    }

    /// Writes the answers in the order of the pairs.
    unsafe fn write(
        &mut self,
        pair_count: usize,
        (contacts, capacity): (*mut vxs_contact, usize),
        offsets: *mut usize,
    ) -> vxs_status {
        self.places.clear();
        self.places.resize_guarded(pair_count, Place::default());
        for (number, lane) in self.lanes.iter().enumerate() {
            let ends = lane.answered.iter().skip(1).map(|next| next.1).chain([lane.contacts.len()]);
            for (&(pair, first), end) in lane.answered.iter().zip(ends) {
                self.places[pair] = Place { lane: number, first, count: end - first };
            }
        }
        let mut total = 0;
        for (i, place) in self.places.iter().enumerate() {
            offsets.add(i).write(total);
            let fitting = place.count.min(capacity.saturating_sub(total));
            let found = &self.lanes[place.lane].contacts[place.first..place.first + fitting];
            // SAFETY: the caller's array holds `capacity` contacts.
            found.iter().enumerate().for_each(|(k, contact)| contacts.add(total + k).write(*contact));
            total += place.count;
        }
        offsets.add(pair_count).write(total);
        if total > capacity {
            VXS_TRUNCATED
        } else {
            VXS_OK
        }
    }
}

impl Lane {
    fn begin(&mut self) {
        self.contacts.clear();
        self.answered.clear();
        self.failure = None;
    }

    fn answer(&mut self, pair: usize, job: &Job, how: &contact::Query) {
        self.answered.push_guarded((pair, self.contacts.len()));
        if let Err(error) = self.find(job, how) {
            let Failure { status, message } = error.into();
            if self.failure.as_ref().is_none_or(|(first, _)| pair < *first) {
                self.failure = Some((pair, Failure::new(status, format!("pairs[{pair}]: {message}"))));
            }
        }
    }

    fn find(&mut self, job: &Job, how: &contact::Query) -> crate::Result<()> {
        let ([shape_a, shape_b], [pose_a, pose_b]) = (job.shapes, &job.poses);
        let owners = Some([shape_a.owner(), shape_b.owner()]);
        let how = contact::Query { owners, ..*how };
        let coverage = if how.budget != Budget::UNLIMITED { Coverage::Samples } else { how.coverage.of_surfaces() };
        let (a, b) = (shape_a.geometry_for(coverage)?, shape_b.geometry_for(coverage)?);
        let mut own = job.scratch.as_ref().map(Mutex::lock);
        let workspace = match &mut own {
            Some(scratch) => &mut scratch.contact,
            None => &mut self.workspace,
        };
        let found = contact::contacts(a, pose_a, b, pose_b, &how, workspace)?;
        found.iter().for_each(|contact| self.contacts.push_guarded(contact.into()));
        Ok(())
    }
}
