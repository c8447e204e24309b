//! `voxshell-lab bench calls`: calls of the C API. Cooking, compared with the same in Rust; and contacts of many pairs,
//! one call a pair and all pairs in one call, on one thread and on two.
//!
//! The pairs are copies of the mesh at random orientations that touch 0.2 mm deep. Times are of the wall clock: those of
//! two threads mean something on two idle processors only.

use std::cell::RefCell;
use std::ffi::CStr;
use std::hint::black_box;
use std::ptr;

use voxshell::asset::{CookOptions, Resolution, Shape, Storage};
use voxshell::capi::batch::{vxs_batch, vxs_batch_create, vxs_batch_destroy, vxs_body_pair, vxs_query_contacts_batch};
use voxshell::capi::cook_options::{vxs_cook_options, vxs_cook_options_init, VXS_STORAGE_BRICKS};
use voxshell::capi::create::vxs_shape_create_from_triangles;
use voxshell::capi::query::{
    vxs_query_contacts, vxs_query_distance, vxs_workspace, vxs_workspace_create, vxs_workspace_destroy,
};
use voxshell::capi::query_options::{
    vxs_body, vxs_contact, vxs_query, vxs_query_init, VXS_COVERAGE_EDGES, VXS_COVERAGE_SAMPLES,
};
use voxshell::capi::shape::vxs_shape_release;
use voxshell::capi::status::{vxs_last_error, vxs_status, VXS_OK};
use voxshell::capi::types::{vxs_pose, vxs_shape, vxs_vec3};
use voxshell::math::{Progress, Rotation};
use voxshell::mesh::TriMesh;
use voxshell::pointshell::ShellOptions;
use voxshell::{Error, Result};

use super::progress::Steps;
use super::random::Random;
use super::Setup;
use voxshell_lab::clock::{of_wall, on};
use voxshell_lab::row::Row;

const SAMPLES: usize = 10_000;
const CELLS: [u32; 2] = [128, 512];
const DEPTH: f64 = 0.2e-3;
/// Pairs of a call.
const PAIRS: [usize; 4] = [1, 50, 200, 2000];
/// Pairs that are measured in each round: a call of few pairs is repeated.
const WORK: usize = 2000;
/// Each pair is queried with the default coverage, and with the one that takes least time.
const COVERAGES: [(&str, u32); 2] = [("edges", VXS_COVERAGE_EDGES), ("samples", VXS_COVERAGE_SAMPLES)];
/// Most contacts of a pair.
const CONTACTS: usize = 4;

/// Returns the error of a call.
fn check(status: vxs_status) -> Result<()> {
    if status == VXS_OK {
        return Ok(());
    }
    // SAFETY: the text of the last error of this thread ends with 0 and is valid until the next call.
    let text = unsafe { CStr::from_ptr(vxs_last_error()) };
    Err(Error::Unsupported(text.to_string_lossy().into_owned()))
}

/// A shape of the C API.
struct Cooked(*mut vxs_shape);

impl Cooked {
    fn new(mesh: &TriMesh, cells: u32) -> Result<Self> {
        let vertices: Vec<vxs_vec3> = mesh.vertices.iter().map(|&[x, y, z]| vxs_vec3 { x, y, z }).collect();
        let mut shape = ptr::null_mut();
        // SAFETY: the arrays have the given lengths, and the outputs are of the types' own sizes.
        unsafe {
            let mut options: vxs_cook_options = std::mem::zeroed();
            check(vxs_cook_options_init(&mut options, size_of::<vxs_cook_options>()))?;
            (options.resolution, options.sample_count) = (cells, SAMPLES as u32);
            options.field_storage = VXS_STORAGE_BRICKS;
            let (indices, triangles) = (mesh.triangles.as_ptr().cast(), mesh.triangles.len());
            check(vxs_shape_create_from_triangles(
                vertices.as_ptr(),
                vertices.len(),
                indices,
                triangles,
                &options,
                &mut shape,
            ))?;
        }
        Ok(Self(shape))
    }

    fn at(&self, height: f64, turn: &Rotation) -> vxs_body {
        let q = turn.coords;
        let pose =
            vxs_pose { position: vxs_vec3 { x: 0.0, y: height, z: 0.0 }, qx: q[0], qy: q[1], qz: q[2], qw: q[3] };
        vxs_body { shape: self.0, pose }
    }

    /// Returns pairs of this shape that touch.
    fn pairs(&self, count: usize) -> Result<Vec<vxs_body_pair>> {
        let workspace = Workspace::new()?;
        let mut random = Random::new(5);
        let mut pairs = Vec::new();
        for _ in 0..count {
            let b = self.at(0.0, &random.rotation());
            let turn = random.rotation();
            let mut height = 2.0;
            for _ in 0..60 {
                let (mut nearest, mut found) = (unanswered(), false);
                // SAFETY: all pointers are to values of this function.
                check(unsafe {
                    let a = self.at(height, &turn);
                    vxs_query_distance(&a, &b, ptr::null(), workspace.0, &mut nearest, &mut found)
                })?;
                height -= if found { 0.7 * nearest.separation } else { 0.0 };
            }
            pairs.push(vxs_body_pair { a: self.at(height - DEPTH, &turn), b, workspace: ptr::null_mut() });
        }
        Ok(pairs)
    }
}

impl Drop for Cooked {
    fn drop(&mut self) {
        // SAFETY: the shape is released once.
        unsafe { vxs_shape_release(self.0) };
    }
}

fn unanswered() -> vxs_contact {
    // SAFETY: a contact is made of numbers.
    unsafe { std::mem::zeroed() }
}

/// Scratch of single queries.
struct Workspace(*mut vxs_workspace);

impl Workspace {
    fn new() -> Result<Self> {
        let mut workspace = ptr::null_mut();
        // SAFETY: the output is a value of this function.
        check(unsafe { vxs_workspace_create(&mut workspace) })?;
        Ok(Self(workspace))
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // SAFETY: the workspace is destroyed once.
        unsafe { vxs_workspace_destroy(self.0) };
    }
}

/// Scratch of a batch on some threads.
struct Batch(*mut vxs_batch);

impl Batch {
    fn new(threads: u32) -> Result<Self> {
        let mut batch = ptr::null_mut();
        // SAFETY: the output is a value of this function.
        check(unsafe { vxs_batch_create(threads, &mut batch) })?;
        Ok(Self(batch))
    }

    fn ask(&self, pairs: &[vxs_body_pair], query: &vxs_query, room: &mut Room) -> Result<()> {
        let Room { contacts, offsets } = room;
        // SAFETY: the arrays have the given lengths; `offsets` has one more than the pairs.
        check(unsafe {
            vxs_query_contacts_batch(
                self.0,
                pairs.as_ptr(),
                pairs.len(),
                query,
                contacts.as_mut_ptr(),
                contacts.len(),
                offsets.as_mut_ptr(),
            )
        })
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // SAFETY: the batch is destroyed once.
        unsafe { vxs_batch_destroy(self.0) };
    }
}

/// Room for the answers.
struct Room {
    contacts: Vec<vxs_contact>,
    offsets: Vec<usize>,
}

/// Asks for the contacts of each pair in a call of its own.
fn one_by_one(pairs: &[vxs_body_pair], query: &vxs_query, workspace: &Workspace, room: &mut Room) -> Result<()> {
    pairs.iter().try_for_each(|pair| {
        let (mut count, answers) = (0, room.contacts.as_mut_ptr());
        // SAFETY: there is room for the most contacts of a query.
        check(unsafe { vxs_query_contacts(&pair.a, &pair.b, query, workspace.0, answers, CONTACTS, &mut count) })
    })
}

pub fn rows(mesh: &TriMesh, setup: &Setup) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let steps = Steps::new(CELLS.len() + COVERAGES.len() * PAIRS.len());
    let mut shape = None;
    for cells in CELLS {
        steps.next(&format!("{cells} cells"));
        rows.push(cooking(mesh, cells, setup, &mut shape)?);
    }
    let shape = shape.ok_or_else(|| Error::Unsupported("nothing was cooked".into()))?;
    let pairs = shape.pairs(WORK)?;
    // SAFETY: a query is made of numbers and null pointers.
    let mut query: vxs_query = unsafe { std::mem::zeroed() };
    // SAFETY: the output is a value of this function.
    check(unsafe { vxs_query_init(&mut query, size_of::<vxs_query>()) })?;
    (query.max_separation, query.max_contacts) = (1e-3, CONTACTS as u32);
    let workspace = Workspace::new()?;
    let [one, two] = [Batch::new(1)?, Batch::new(2)?];
    for (name, coverage) in COVERAGES {
        query.coverage = coverage;
        for count in PAIRS {
            steps.next(&format!("{name}, {count} pairs"));
            let mut room = Room { contacts: vec![unanswered(); CONTACTS * count], offsets: vec![0; count + 1] };
            let room = RefCell::new(&mut room);
            let answers = RefCell::new(Vec::new());
            let mut alone = || -> Result<f64> {
                let ask = |p: &[_]| one_by_one(p, &query, &workspace, &mut room.borrow_mut());
                let (seconds, done) = of_wall(|| pairs.chunks(count).try_for_each(ask));
                done.map(|()| seconds)
            };
            let on = |batch: &Batch| -> Result<f64> {
                let ask = |p: &[_]| batch.ask(p, &query, &mut room.borrow_mut());
                let (seconds, done) = of_wall(|| pairs.chunks(count).try_for_each(ask));
                done?;
                let room = room.borrow();
                answers.borrow_mut().push((room.offsets.clone(), room.contacts.clone()));
                Ok(seconds)
            };
            let [single, first, second] = setup.clock.in_turns([&mut alone, &mut || on(&one), &mut || on(&two)])?;
            if answers.borrow().windows(2).any(|pair| pair[0] != pair[1]) {
                return Err(Error::Unsupported("the answers depend on the number of threads".into()));
            }
            let name = format!("calls/contacts/{name}/{count}");
            rows.push(Row::new(format!("{name}/one_by_one"), single.least * 1e6 / pairs.len() as f64, "us"));
            let row = Row::timed_ratio(format!("{name}/batch_over_one_by_one"), first, "one by one", single);
            rows.push(row.target((count > 1).then_some(1.05)));
            let row = Row::timed_ratio(format!("{name}/2_threads_over_1"), second, "one thread", first);
            rows.push(row.target((count >= 200).then_some(1.0 / 1.8)));
        }
    }
    Ok(rows)
}

/// Measures cooking through the C API and in Rust, in turns, each on a thread for each processor.
fn cooking(mesh: &TriMesh, cells: u32, setup: &Setup, shape: &mut Option<Cooked>) -> Result<Row> {
    let options = CookOptions {
        resolution: Resolution::Cells(cells),
        storage: Storage::Bricks,
        shell: ShellOptions { target_count: Some(SAMPLES), ..ShellOptions::default() },
        ..CookOptions::default()
    };
    let mut through_c = || {
        shape.take();
        let (seconds, made) = of_wall(|| Cooked::new(mesh, cells));
        *shape = Some(made?);
        Ok(seconds)
    };
    let mut in_rust = || {
        let (seconds, made) =
            on(rayon::current_num_threads(), || of_wall(|| Shape::cook(mesh, &options, &Progress::none())))?;
        black_box(made?);
        Ok(seconds)
    };
    let [ours, rust] = setup.clock.in_turns([&mut through_c, &mut in_rust])?;
    let row = Row::timed_ratio(format!("calls/cook/{cells}/over_rust"), ours, "Shape::cook", rust);
    Ok(row.target(1.02).with("c_s", ours.least))
}
