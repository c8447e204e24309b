//! Many queries at once: split by index, on all processors, joined in order. The result does not depend on the number of
//! threads, because a query's answer does not depend on its workspace.

use std::cell::RefCell;

use pyo3::prelude::*;
use rayon::prelude::*;
use voxshell::capi::query::{vxs_workspace, vxs_workspace_create, vxs_workspace_destroy};
use voxshell::capi::query_options::vxs_contact;

use crate::arrays::no_contact;
use crate::failure::{check, refuse, Failure};

/// Queries that one thread makes in a row with one workspace.
const CHUNK: usize = 64;
/// Queries between two looks at the signals of the process, so that Ctrl-C ends a long batch.
const BLOCK: usize = 1 << 16;

/// A workspace of the C API, and room for the contacts of a query.
pub struct Workspace {
    pub handle: *mut vxs_workspace,
    pub contacts: RefCell<Vec<vxs_contact>>,
}

// SAFETY: used by one thread at a time; the C API refuses a second one.
unsafe impl Send for Workspace {}

impl Workspace {
    pub fn new() -> Result<Self, Failure> {
        let mut workspace = std::ptr::null_mut();
        // SAFETY: the pointer is valid.
        check(unsafe { vxs_workspace_create(&mut workspace) })?;
        Ok(Self { handle: workspace, contacts: RefCell::new(vec![no_contact(); 64]) })
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // SAFETY: created by `new` and destroyed once.
        unsafe { vxs_workspace_destroy(self.handle) };
    }
}

/// Runs `query` for each index below `count` on `threads` threads (0: all processors), without the interpreter lock, and
/// returns the results in order. `query` appends its results to the vector.
pub fn run<T: Send>(
    py: Python<'_>,
    count: usize,
    threads: usize,
    query: impl Fn(usize, &Workspace, &mut Vec<T>) -> Result<(), Failure> + Sync,
) -> PyResult<(Vec<T>, Vec<i64>)> {
    let pool = match threads {
        0 => None,
        1..=1024 => Some(
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .map_err(|error| refuse("threads", threads, &format!("a number that the system allows ({error})")))?,
        ),
        _ => return Err(refuse("threads", threads, "0 to 1024")),
    };
    let (mut all, mut offsets) = (Vec::new(), Vec::with_capacity(count + 1));
    offsets.push(0);
    for block in (0..count).step_by(BLOCK) {
        let end = count.min(block + BLOCK);
        let chunks = py.detach(|| {
            let work = || chunks(block, end, &query);
            pool.as_ref().map_or_else(work, |pool| pool.install(work))
        })?;
        all.reserve(chunks.iter().map(|chunk| chunk.0.len()).sum());
        for (mut results, ends) in chunks {
            let before = all.len() as i64;
            offsets.extend(ends.iter().map(|end| before + end));
            all.append(&mut results);
        }
        py.check_signals()?;
    }
    Ok((all, offsets))
}

/// Results of a chunk, and for each of its queries the number of results until its end.
type Chunk<T> = (Vec<T>, Vec<i64>);

fn chunks<T: Send>(
    begin: usize,
    end: usize,
    query: &(impl Fn(usize, &Workspace, &mut Vec<T>) -> Result<(), Failure> + Sync),
) -> Result<Vec<Chunk<T>>, Failure> {
    // All results are collected before the first failure is looked for, so that the reported one is always that of the
    // lowest index.
    let results: Vec<Result<Chunk<T>, Failure>> = (0..(end - begin).div_ceil(CHUNK))
        .into_par_iter()
        .map_init(Workspace::new, |workspace, chunk| {
            let workspace = workspace.as_ref().map_err(Clone::clone)?;
            let (mut results, mut ends) = (Vec::new(), Vec::with_capacity(CHUNK));
            for i in begin + chunk * CHUNK..end.min(begin + (chunk + 1) * CHUNK) {
                query(i, workspace, &mut results).map_err(|failure| failure.at(&format!("query {i}")))?;
                ends.push(results.len() as i64);
            }
            Ok((results, ends))
        })
        .collect();
    results.into_iter().collect()
}
