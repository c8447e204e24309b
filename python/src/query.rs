//! Pairs of shapes: contacts, distance and time of impact, for one pair of poses or for many.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use voxshell::capi::motion::{
    vxs_motion, vxs_motion_query, vxs_motion_query_init, vxs_moving_body, vxs_query_time_of_impact, VXS_PATH_SCREW,
    VXS_PATH_STRAIGHT,
};
use voxshell::capi::query::{vxs_query_contacts, vxs_query_distance};
use voxshell::capi::query_options::*;
use voxshell::capi::status::VXS_TRUNCATED;

use crate::arrays::{batch_size, no_contact, Contact, Poses};
use crate::batch::{self, Workspace};
use crate::failure::{check, refuse, Failure};
use crate::shape::Shape;

fn coverage_value(name: &str) -> PyResult<u32> {
    match name {
        "samples" => Ok(VXS_COVERAGE_SAMPLES),
        "edges" => Ok(VXS_COVERAGE_EDGES),
        "facets" => Ok(VXS_COVERAGE_FACETS),
        _ => Err(refuse("coverage", format!("{name:?}"), "\"edges\", \"facets\" or \"samples\"")),
    }
}

fn roles_value(name: &str) -> PyResult<u32> {
    match name {
        "auto" => Ok(VXS_ROLES_AUTO),
        "shell_of_a" => Ok(VXS_ROLES_SHELL_OF_A),
        "shell_of_b" => Ok(VXS_ROLES_SHELL_OF_B),
        "both" => Ok(VXS_ROLES_BOTH),
        _ => Err(refuse("roles", format!("{name:?}"), "\"auto\", \"shell_of_a\", \"shell_of_b\" or \"both\"")),
    }
}

/// Settings of a query, which threads share.
#[derive(Clone, Copy)]
struct Settings(vxs_query);
// SAFETY: all its pointers are null.
unsafe impl Sync for Settings {}
unsafe impl Send for Settings {}

impl Settings {
    fn new(coverage: &str, roles: &str) -> PyResult<Self> {
        // SAFETY: the struct is plain numbers and pointers, which the call fills.
        let mut query: vxs_query = unsafe { std::mem::zeroed() };
        check(unsafe { vxs_query_init(&mut query, size_of::<vxs_query>()) })?;
        query.coverage = coverage_value(coverage)?;
        query.roles = roles_value(roles)?;
        Ok(Self(query))
    }
}

/// A number of the caller that the C API has not the type for.
fn number(name: &str, value: f64) -> PyResult<f64> {
    if value.is_nan() {
        return Err(refuse(name, value, "a number"));
    }
    Ok(value)
}

fn find_contacts(a: &vxs_body, b: &vxs_body, query: &vxs_query, workspace: &Workspace, out: &mut Vec<Contact>) -> Result<(), Failure> {
    // The buffer keeps the size of the largest answer, so that almost no query is made twice.
    let mut buffer = workspace.contacts.borrow_mut();
    loop {
        let (room, mut count) = (buffer.len(), 0);
        // SAFETY: at most `room` contacts are written.
        let status = unsafe { vxs_query_contacts(a, b, query, workspace.handle, buffer.as_mut_ptr(), room, &mut count) };
        if status == VXS_TRUNCATED {
            buffer.resize(count.next_power_of_two(), no_contact());
            continue;
        }
        check(status)?;
        out.extend(buffer[..count].iter().copied().map(Contact));
        return Ok(());
    }
}

/// Finds the contacts of two shapes: see voxshell/__init__.py.
#[pyfunction]
#[pyo3(signature = (a, b, pose_a=None, pose_b=None, *, max_separation=0.0, max_contacts=0, coverage="edges", roles="auto", threads=0))]
#[allow(clippy::too_many_arguments)]
pub fn contacts<'py>(
    py: Python<'py>,
    a: &Bound<'py, Shape>,
    b: &Bound<'py, Shape>,
    pose_a: Option<&Bound<'py, PyAny>>,
    pose_b: Option<&Bound<'py, PyAny>>,
    max_separation: f64,
    max_contacts: u32,
    coverage: &str,
    roles: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let mut settings = Settings::new(coverage, roles)?;
    settings.0.max_separation = number("max_separation", max_separation)?;
    settings.0.max_contacts = max_contacts;
    let (pose_a, pose_b) = (Poses::read("pose_a", pose_a)?, Poses::read("pose_b", pose_b)?);
    let (at_a, at_b) = (pose_a.slice(), pose_b.slice());
    let size = batch_size(&[("pose_a", at_a), ("pose_b", at_b)])?;
    let (a, b) = (a.get().handle(), b.get().handle());
    let (found, offsets) = batch::run(py, size.unwrap_or(1), threads, |i, workspace, out| {
        let settings = &settings;
        let body_a = vxs_body { shape: a.as_ptr(), pose: at_a.get(i) };
        let body_b = vxs_body { shape: b.as_ptr(), pose: at_b.get(i) };
        find_contacts(&body_a, &body_b, &settings.0, workspace, out)
    })?;
    let found = PyArray1::from_vec(py, found);
    if size.is_none() {
        return Ok(found.into_any());
    }
    Ok(PyTuple::new(py, [found.into_any(), offsets.into_pyarray(py).into_any()])?.into_any())
}

/// Returns one contact per query: an array, or its only element for a single query.
fn one_each<'py>(py: Python<'py>, size: Option<usize>, found: Vec<Contact>) -> PyResult<Bound<'py, PyAny>> {
    let array = PyArray1::from_vec(py, found).into_any();
    if size.is_some() {
        Ok(array)
    } else {
        array.get_item(0)
    }
}

/// Finds the distance or depth of two shapes: see voxshell/__init__.py.
#[pyfunction]
#[pyo3(signature = (a, b, pose_a=None, pose_b=None, *, max_distance=f64::INFINITY, coverage="edges", roles="auto", threads=0))]
#[allow(clippy::too_many_arguments)]
pub fn distance<'py>(
    py: Python<'py>,
    a: &Bound<'py, Shape>,
    b: &Bound<'py, Shape>,
    pose_a: Option<&Bound<'py, PyAny>>,
    pose_b: Option<&Bound<'py, PyAny>>,
    max_distance: f64,
    coverage: &str,
    roles: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let mut settings = Settings::new(coverage, roles)?;
    settings.0.max_distance = number("max_distance", max_distance)?;
    let (pose_a, pose_b) = (Poses::read("pose_a", pose_a)?, Poses::read("pose_b", pose_b)?);
    let (at_a, at_b) = (pose_a.slice(), pose_b.slice());
    let size = batch_size(&[("pose_a", at_a), ("pose_b", at_b)])?;
    let (a, b) = (a.get().handle(), b.get().handle());
    let (found, _) = batch::run(py, size.unwrap_or(1), threads, |i, workspace, out| {
        let settings = &settings;
        let body_a = vxs_body { shape: a.as_ptr(), pose: at_a.get(i) };
        let body_b = vxs_body { shape: b.as_ptr(), pose: at_b.get(i) };
        let (mut closest, mut is_found) = (no_contact(), false);
        // SAFETY: all pointers are to values of this call.
        check(unsafe {
            vxs_query_distance(&body_a, &body_b, &settings.0, workspace.handle, &mut closest, &mut is_found)
        })?;
        out.push(Contact(closest));
        Ok(())
    })?;
    one_each(py, size, found)
}

#[derive(Clone, Copy)]
struct MotionSettings(vxs_motion_query);
// SAFETY: its pointer is null.
unsafe impl Sync for MotionSettings {}
unsafe impl Send for MotionSettings {}

/// Finds when two moving shapes first touch: see voxshell/__init__.py.
#[pyfunction]
#[pyo3(signature = (a, b, from_a=None, to_a=None, from_b=None, to_b=None, *, max_separation=0.0, tolerance=0.0, path="screw", coverage="edges", roles="auto", threads=0))]
#[allow(clippy::too_many_arguments)]
pub fn time_of_impact<'py>(
    py: Python<'py>,
    a: &Bound<'py, Shape>,
    b: &Bound<'py, Shape>,
    from_a: Option<&Bound<'py, PyAny>>,
    to_a: Option<&Bound<'py, PyAny>>,
    from_b: Option<&Bound<'py, PyAny>>,
    to_b: Option<&Bound<'py, PyAny>>,
    max_separation: f64,
    tolerance: f64,
    path: &str,
    coverage: &str,
    roles: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the struct is plain numbers and a pointer, which the call fills.
    let mut query: vxs_motion_query = unsafe { std::mem::zeroed() };
    check(unsafe { vxs_motion_query_init(&mut query, size_of::<vxs_motion_query>()) })?;
    query.max_separation = number("max_separation", max_separation)?;
    query.tolerance = number("tolerance", tolerance)?;
    query.coverage = coverage_value(coverage)?;
    query.roles = roles_value(roles)?;
    query.path = match path {
        "screw" => VXS_PATH_SCREW,
        "straight" => VXS_PATH_STRAIGHT,
        _ => return Err(refuse("path", format!("{path:?}"), "\"screw\" or \"straight\"")),
    };
    let settings = MotionSettings(query);
    let names = ["from_a", "to_a", "from_b", "to_b"];
    // A body whose `to` is not given rests at its `from`.
    let poses = [
        Poses::read(names[0], from_a)?,
        Poses::read(names[1], to_a.or(from_a))?,
        Poses::read(names[2], from_b)?,
        Poses::read(names[3], to_b.or(from_b))?,
    ];
    let at = [poses[0].slice(), poses[1].slice(), poses[2].slice(), poses[3].slice()];
    let size = batch_size(&[(names[0], at[0]), (names[1], at[1]), (names[2], at[2]), (names[3], at[3])])?;
    let (a, b) = (a.get().handle(), b.get().handle());
    let (found, _) = batch::run(py, size.unwrap_or(1), threads, |i, workspace, out| {
        let settings = &settings;
        let body_a = vxs_moving_body { shape: a.as_ptr(), motion: vxs_motion { from: at[0].get(i), to: at[1].get(i) } };
        let body_b = vxs_moving_body { shape: b.as_ptr(), motion: vxs_motion { from: at[2].get(i), to: at[3].get(i) } };
        let (mut contact, mut is_found) = (no_contact(), false);
        // SAFETY: all pointers are to values of this call.
        check(unsafe {
            vxs_query_time_of_impact(&body_a, &body_b, &settings.0, workspace.handle, &mut contact, &mut is_found)
        })?;
        out.push(Contact(contact));
        Ok(())
    })?;
    one_each(py, size, found)
}
