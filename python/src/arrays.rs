//! NumPy arrays in and out: poses and points that are read in place, and structured arrays of contacts and hits.

use numpy::{Element, PyArrayDescr, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use voxshell::capi::query_options::vxs_contact;
use voxshell::capi::types::{vxs_pose, vxs_vec3};

use crate::failure::refuse;

/// Poses of one body: one for all queries, or one for each.
pub struct Poses<'py> {
    array: Option<PyReadonlyArrayDyn<'py, f64>>,
    many: bool,
}

/// Poses that a query can read without the interpreter lock.
#[derive(Clone, Copy)]
pub struct PoseSlice<'a> {
    numbers: &'a [f64],
    many: bool,
}

const IDENTITY: [f64; 7] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];

/// Makes a C-ordered array of f64 of an argument; an array that is one already is not copied.
pub fn floats<'py>(name: &str, given: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    let numpy = given.py().import("numpy")?;
    let described = || given.get_type().name().map_or("an object".into(), |name| format!("a {name}"));
    let array = numpy
        .call_method1("ascontiguousarray", (given, "f8"))
        .map_err(|error| refuse(name, format!("{} ({error})", described()), "an array of numbers"))?;
    // `ascontiguousarray` makes a scalar an array of one number; its shape is refused by the caller.
    Ok(array.cast::<PyArrayDyn<f64>>().map_err(|_| refuse(name, described(), "an array of numbers"))?.try_readonly()?)
}

/// The numbers of a C-ordered array.
pub fn numbers<'a>(array: &'a PyReadonlyArrayDyn<'_, f64>) -> &'a [f64] {
    array.as_slice().expect("a C-ordered array")
}

impl<'py> Poses<'py> {
    /// Reads a pose argument: None, the identity; an array of shape (7,) or (N, 7). Checks every number.
    pub fn read(name: &str, given: Option<&Bound<'py, PyAny>>) -> PyResult<Self> {
        let Some(given) = given else { return Ok(Self { array: None, many: false }) };
        let array = floats(name, given)?;
        let many = match array.shape() {
            [7] => false,
            [_, 7] => true,
            shape => return Err(refuse(name, format!("of shape {shape:?}"), "the shape (7,) or (N, 7)")),
        };
        let poses = Self { array: Some(array), many };
        for (i, pose) in poses.slice().numbers.chunks_exact(7).enumerate() {
            let at = || if many { format!("{name}[{i}]") } else { name.into() };
            if !pose.iter().all(|x| x.is_finite()) {
                return Err(refuse(&at(), format!("{pose:?}"), "finite numbers"));
            }
            let norm = pose[3..].iter().map(|x| x * x).sum::<f64>().sqrt();
            if (norm - 1.0).abs() > 1e-6 {
                let shown = format!("{pose:?}, whose quaternion x, y, z, w has the norm {norm}");
                return Err(refuse(&at(), shown, "a norm of 1, to within 1e-6"));
            }
        }
        Ok(poses)
    }

    pub fn slice(&self) -> PoseSlice<'_> {
        PoseSlice { numbers: self.array.as_ref().map_or(&IDENTITY[..], numbers), many: self.many }
    }
}

impl PoseSlice<'_> {
    pub fn get(&self, i: usize) -> vxs_pose {
        let p = &self.numbers[if self.many { 7 * i } else { 0 }..][..7];
        vxs_pose { position: vxs_vec3 { x: p[0], y: p[1], z: p[2] }, qx: p[3], qy: p[4], qz: p[5], qw: p[6] }
    }
}

/// Returns the number of queries, `None` for a single one: that of all arguments with many poses.
pub fn batch_size(poses: &[(&str, PoseSlice)]) -> PyResult<Option<usize>> {
    let mut size: Option<(&str, usize)> = None;
    for (name, poses) in poses.iter().filter(|(_, poses)| poses.many) {
        let n = poses.numbers.len() / 7;
        match size {
            Some((first, m)) if m != n => {
                return Err(refuse(name, format!("{n} poses"), &format!("{m}, as many as {first} has, or one")))
            }
            _ => size = Some((name, n)),
        }
    }
    Ok(size.map(|(_, n)| n))
}

/// Points of shape (3,) or (N, 3), finite.
pub struct Points<'py> {
    array: PyReadonlyArrayDyn<'py, f64>,
    pub many: bool,
}

impl<'py> Points<'py> {
    pub fn read(name: &str, given: &Bound<'py, PyAny>) -> PyResult<Self> {
        let array = floats(name, given)?;
        let many = match array.shape() {
            [3] => false,
            [_, 3] => true,
            shape => return Err(refuse(name, format!("of shape {shape:?}"), "the shape (3,) or (N, 3)")),
        };
        if let Some(i) = numbers(&array).chunks_exact(3).position(|p| !p.iter().all(|x| x.is_finite())) {
            return Err(refuse(&format!("{name}[{i}]"), format!("{:?}", &numbers(&array)[3 * i..3 * i + 3]), "finite numbers"));
        }
        Ok(Self { array, many })
    }

    pub fn slice(&self) -> &[vxs_vec3] {
        let numbers = numbers(&self.array);
        // SAFETY: vxs_vec3 is three f64 in C order.
        unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), numbers.len() / 3) }
    }
}

/// A contact of a structured array: vxs_contact.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Contact(pub vxs_contact);

/// A hit of a structured array.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Hit {
    pub fraction: f64,
    pub point: [f64; 3],
    pub normal: [f64; 3],
    pub hit: bool,
    pub padding: [u8; 7],
}

fn descriptor<'py>(py: Python<'py>, fields: &[(&str, &str, usize)], size: usize) -> Bound<'py, PyArrayDescr> {
    let description = PyDict::new(py);
    let names: Vec<&str> = fields.iter().map(|field| field.0).collect();
    let formats: Vec<&str> = fields.iter().map(|field| field.1).collect();
    let offsets: Vec<usize> = fields.iter().map(|field| field.2).collect();
    let made = description
        .set_item("names", names)
        .and_then(|()| description.set_item("formats", formats))
        .and_then(|()| description.set_item("offsets", offsets))
        .and_then(|()| description.set_item("itemsize", size))
        .and_then(|()| PyArrayDescr::new(py, description));
    made.expect("a description of fields")
}

// SAFETY: the fields are at these offsets of the C struct, and any bytes are a valid value.
unsafe impl Element for Contact {
    const IS_COPY: bool = true;

    fn get_dtype(py: Python<'_>) -> Bound<'_, PyArrayDescr> {
        let fields = [
            ("point_on_a", "(3,)f8", std::mem::offset_of!(vxs_contact, point_on_a)),
            ("point_on_b", "(3,)f8", std::mem::offset_of!(vxs_contact, point_on_b)),
            ("normal", "(3,)f8", std::mem::offset_of!(vxs_contact, normal)),
            ("separation", "f8", std::mem::offset_of!(vxs_contact, separation)),
            ("toi", "f8", std::mem::offset_of!(vxs_contact, toi)),
            ("feature", "u4", std::mem::offset_of!(vxs_contact, feature)),
        ];
        descriptor(py, &fields, size_of::<vxs_contact>())
    }

    fn clone_ref(&self, _: Python<'_>) -> Self {
        *self
    }
}

// SAFETY: the fields are at these offsets; NumPy arrays of it are made by this module alone, so that `hit` is 0 or 1.
unsafe impl Element for Hit {
    const IS_COPY: bool = true;

    fn get_dtype(py: Python<'_>) -> Bound<'_, PyArrayDescr> {
        let fields = [
            ("fraction", "f8", std::mem::offset_of!(Hit, fraction)),
            ("point", "(3,)f8", std::mem::offset_of!(Hit, point)),
            ("normal", "(3,)f8", std::mem::offset_of!(Hit, normal)),
            ("hit", "?", std::mem::offset_of!(Hit, hit)),
        ];
        descriptor(py, &fields, size_of::<Hit>())
    }

    fn clone_ref(&self, _: Python<'_>) -> Self {
        *self
    }
}

/// The contact of a query that found none: an infinite separation and time, and NaN in the points and the normal.
pub fn no_contact() -> vxs_contact {
    let nan = vxs_vec3 { x: f64::NAN, y: f64::NAN, z: f64::NAN };
    vxs_contact {
        point_on_a: nan,
        point_on_b: nan,
        normal: nan,
        separation: f64::INFINITY,
        toi: f64::INFINITY,
        feature: 0,
        reserved: 0,
    }
}
