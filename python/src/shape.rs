//! Shapes: cooking, files, properties, and queries of one shape.

use std::ffi::{c_char, c_void, CStr, CString};
use std::sync::{Arc, Mutex, OnceLock};

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
use rayon::prelude::*;
use voxshell::capi::asset::{vxs_shape_deserialize, vxs_shape_load, vxs_shape_save, vxs_shape_serialize};
use voxshell::capi::cook_options::*;
use voxshell::capi::create::*;
use voxshell::capi::forms::*;
use voxshell::capi::primitive::{vxs_primitive, vxs_primitive_init};
use voxshell::capi::shape::*;
use voxshell::capi::shape_info::*;
use voxshell::capi::status::VXS_TRUNCATED;
use voxshell::capi::types::{vxs_aabb, vxs_shape, vxs_vec3};

use crate::arrays::{floats, numbers, Hit, Points};
use crate::failure::{check, refuse, Failure};
use crate::picture::plot;

/// A handle of the C API, released with its last owner.
pub struct Handle(*mut vxs_shape);

// SAFETY: shapes are immutable and may be used by any number of threads.
unsafe impl Send for Handle {}
unsafe impl Sync for Handle {}

impl Handle {
    pub fn as_ptr(&self) -> *const vxs_shape {
        self.0
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: released once.
        unsafe { vxs_shape_release(self.0) };
    }
}

/// See voxshell/_core.pyi.
#[pyclass(frozen, module = "voxshell._core")]
pub struct Shape {
    handle: Arc<Handle>,
    /// The core's own shape, for pictures; made when first asked for.
    drawn: OnceLock<Arc<voxshell::asset::Shape>>,
}

/// Makes a shape without the interpreter lock.
fn make(py: Python<'_>, create: impl FnOnce(*mut *mut vxs_shape) -> i32 + Send) -> PyResult<Shape> {
    let handle = py.detach(|| {
        let mut shape = std::ptr::null_mut();
        check(create(&mut shape)).map(|()| Handle(shape))
    })?;
    Ok(Shape { handle: Arc::new(handle), drawn: OnceLock::new() })
}

/// A progress callback of Python, and the exception that it has raised.
struct Callback {
    function: Py<PyAny>,
    raised: Mutex<Option<PyErr>>,
}

unsafe extern "C" fn report(stage: *const c_char, fraction: f64, user: *mut c_void) -> bool {
    let callback = &*user.cast::<Callback>();
    let stage = CStr::from_ptr(stage).to_string_lossy();
    Python::attach(|py| match callback.function.call1(py, (stage, fraction)) {
        // None counts as true, so that a callback that prints need not return anything.
        Ok(answer) => answer.is_none(py) || answer.is_truthy(py).unwrap_or(true),
        Err(error) => {
            *callback.raised.lock().expect("no panic while locked") = Some(error);
            false
        }
    })
}

/// Options with a callback that outlives the call.
struct Options {
    options: vxs_cook_options,
    callback: Option<Box<Callback>>,
}

// SAFETY: the only pointers are to the callback, which locks.
unsafe impl Send for Options {}

impl Options {
    fn read(given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        // SAFETY: plain numbers and pointers, which the call fills.
        let mut options: vxs_cook_options = unsafe { std::mem::zeroed() };
        check(unsafe { vxs_cook_options_init(&mut options, size_of::<vxs_cook_options>()) })?;
        let mut callback = None;
        for (name, value) in given.into_iter().flatten() {
            let name: String = name.extract()?;
            match name.as_str() {
                "resolution" => options.resolution = value.extract()?,
                "voxel_size" => options.voxel_size = value.extract()?,
                "spacing" => options.spacing = value.extract()?,
                "samples" => options.sample_count = value.extract()?,
                "target_error" => options.target_error = value.extract()?,
                "offset" => options.offset = value.extract()?,
                "weld_tolerance" => options.weld_tolerance = value.extract()?,
                "memory_limit" => options.memory_limit = value.extract()?,
                "sampling" => {
                    options.sampling = choice(&name, &value, &["default", "projection", "vertices", "uniform", "features"])?
                }
                "storage" => options.field_storage = choice(&name, &value, &["auto", "dense", "bricks", "exact"])?,
                "progress" if value.is_none() || value.extract::<bool>().is_ok_and(|wanted| !wanted) => {}
                "progress" => {
                    let function = match value.extract::<bool>() {
                        Ok(_) => value.py().import("voxshell.progress")?.getattr("Bar")?.call0()?.unbind(),
                        Err(_) if value.is_callable() => value.clone().unbind(),
                        Err(_) => return Err(refuse(&name, value.repr()?, "True, False, None or a function")),
                    };
                    let boxed = callback.insert(Box::new(Callback { function, raised: Mutex::new(None) }));
                    options.progress = Some(report);
                    options.progress_user = std::ptr::from_ref(&**boxed).cast_mut().cast();
                }
                _ => return Err(refuse("option", format!("{name:?}"), OPTIONS)),
            }
        }
        Ok(Self { options, callback })
    }

    fn make(self, py: Python<'_>, create: impl FnOnce(&vxs_cook_options, *mut *mut vxs_shape) -> i32 + Send) -> PyResult<Shape> {
        let this = &self;
        let made = make(py, move |shape| create(&{ this }.options, shape));
        let raised = self.callback.as_ref().and_then(|callback| callback.raised.lock().ok()?.take());
        raised.map_or(made, Err)
    }
}

// SAFETY: see above; `&Options` goes to the thread that cooks.
unsafe impl Sync for Options {}

const OPTIONS: &str = "resolution, voxel_size, spacing, samples, sampling, storage, target_error, offset, \
                       weld_tolerance, memory_limit or progress";

/// Returns the index of a name in the names that the C API numbers.
fn choice(name: &str, value: &Bound<'_, PyAny>, names: &[&str]) -> PyResult<u32> {
    let given: String = value.extract()?;
    let index = names.iter().position(|known| *known == given);
    index.map(|i| i as u32).ok_or_else(|| refuse(name, format!("{given:?}"), &format!("one of {}", names.join(", "))))
}

fn path_argument(path: &Bound<'_, PyAny>) -> PyResult<CString> {
    let path: std::path::PathBuf = path.extract()?;
    CString::new(path.as_os_str().as_encoded_bytes()).map_err(|_| refuse("path", path.display(), "a path without a zero byte"))
}

fn array(v: vxs_vec3) -> [f64; 3] {
    [v.x, v.y, v.z]
}

impl Shape {
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Returns the core's shape for pictures.
    pub fn drawn(&self, py: Python<'_>) -> PyResult<Arc<voxshell::asset::Shape>> {
        if let Some(shape) = self.drawn.get() {
            return Ok(shape.clone());
        }
        let bytes = self.bytes(py)?;
        let shape = py.detach(|| voxshell::asset::Shape::from_bytes(&bytes));
        let shape = shape.map_err(|error| refuse("shape", error, "one with a field"))?;
        Ok(self.drawn.get_or_init(|| Arc::new(shape)).clone())
    }

    fn bytes(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let handle = self.handle();
        let bytes = py.detach(|| {
            let mut bytes: Vec<u8> = Vec::new();
            let mut size = 0;
            // SAFETY: at most `len` bytes are written.
            let mut status = unsafe { vxs_shape_serialize(handle.as_ptr(), std::ptr::null_mut(), 0, &mut size) };
            if status == VXS_TRUNCATED {
                bytes.resize(size, 0);
                status = unsafe { vxs_shape_serialize(handle.as_ptr(), bytes.as_mut_ptr().cast(), size, &mut size) };
            }
            check(status).map(|()| bytes)
        })?;
        Ok(bytes)
    }

    fn shape_info(&self) -> Result<vxs_shape_info, Failure> {
        // SAFETY: plain numbers, which the calls fill.
        unsafe {
            let mut info: vxs_shape_info = std::mem::zeroed();
            check(vxs_shape_info_init(&mut info, size_of::<vxs_shape_info>()))?;
            check(vxs_shape_get_info(self.handle.as_ptr(), &mut info))?;
            Ok(info)
        }
    }
}

#[pymethods]
impl Shape {
    #[classmethod]
    #[pyo3(signature = (vertices, faces, **options))]
    fn cook(
        class: &Bound<'_, PyType>,
        vertices: &Bound<'_, PyAny>,
        faces: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let py = class.py();
        let vertices = floats("vertices", vertices)?;
        if !matches!(vertices.shape(), [_, 3]) {
            return Err(refuse("vertices", format!("of shape {:?}", vertices.shape()), "the shape (N, 3)"));
        }
        let faces = floats("faces", faces)?;
        if !matches!(faces.shape(), [_, 3]) {
            return Err(refuse("faces", format!("of shape {:?}", faces.shape()), "the shape (M, 3)"));
        }
        let numbers_of_faces = numbers(&faces);
        let indices: Vec<u32> = numbers_of_faces.iter().map(|&x| x as u32).collect();
        if let Some(i) = (0..indices.len()).find(|&i| f64::from(indices[i]) != numbers_of_faces[i]) {
            let at = format!("faces[{}, {}]", i / 3, i % 3);
            return Err(refuse(&at, numbers_of_faces[i], "the number of a vertex"));
        }
        let points = numbers(&vertices);
        let count = points.len() / 3;
        Options::read(options)?.make(py, |options, shape| {
            // SAFETY: `count` points of three f64 in C order, and three indices per triangle.
            unsafe {
                vxs_shape_create_from_triangles(points.as_ptr().cast(), count, indices.as_ptr(), indices.len() / 3, options, shape)
            }
        })
    }

    #[classmethod]
    #[pyo3(signature = (path, **options))]
    fn from_file(class: &Bound<'_, PyType>, path: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let path = path_argument(path)?;
        Options::read(options)?.make(class.py(), |options, shape| unsafe {
            vxs_shape_create_from_file(path.as_ptr(), options, shape)
        })
    }

    #[classmethod]
    #[pyo3(signature = (kind, size=Vec::new(), detail=Vec::new(), **options))]
    fn primitive(
        class: &Bound<'_, PyType>,
        kind: &Bound<'_, PyAny>,
        size: Vec<f64>,
        detail: Vec<u32>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        const KINDS: [&str; 14] = [
            "box", "sphere", "capsule", "cylinder", "cone", "torus", "torus_knot", "bowl", "peg", "hole", "gear", "blob",
            "bolt", "nut",
        ];
        // SAFETY: plain numbers, which the call fills.
        let mut primitive: vxs_primitive = unsafe { std::mem::zeroed() };
        let kind = choice("kind", kind, &KINDS)?;
        check(unsafe { vxs_primitive_init(&mut primitive, size_of::<vxs_primitive>(), kind) })?;
        if size.len() > primitive.size.len() || detail.len() > primitive.detail.len() {
            return Err(refuse("size", format!("{size:?} with detail {detail:?}"), "at most 6 sizes and 4 details"));
        }
        primitive.size[..size.len()].copy_from_slice(&size);
        primitive.detail[..detail.len()].copy_from_slice(&detail);
        Options::read(options)?.make(class.py(), |options, shape| unsafe { vxs_shape_create_primitive(&primitive, options, shape) })
    }

    #[classmethod]
    fn sphere(class: &Bound<'_, PyType>, radius: f64) -> PyResult<Self> {
        make(class.py(), |shape| unsafe { vxs_shape_create_sphere(radius, shape) })
    }

    #[classmethod]
    fn cuboid(class: &Bound<'_, PyType>, half_extents: [f64; 3]) -> PyResult<Self> {
        let [x, y, z] = half_extents;
        make(class.py(), |shape| unsafe { vxs_shape_create_box(vxs_vec3 { x, y, z }, shape) })
    }

    #[classmethod]
    #[pyo3(signature = (normal=[0.0, 0.0, 1.0], offset=0.0))]
    fn half_space(class: &Bound<'_, PyType>, normal: [f64; 3], offset: f64) -> PyResult<Self> {
        let [x, y, z] = normal;
        make(class.py(), |shape| unsafe { vxs_shape_create_half_space(vxs_vec3 { x, y, z }, offset, shape) })
    }

    #[classmethod]
    fn load(class: &Bound<'_, PyType>, path: &Bound<'_, PyAny>) -> PyResult<Self> {
        let path = path_argument(path)?;
        make(class.py(), |shape| unsafe { vxs_shape_load(path.as_ptr(), shape) })
    }

    fn save(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<()> {
        let path = path_argument(path)?;
        let handle = self.handle();
        Ok(py.detach(|| check(unsafe { vxs_shape_save(handle.as_ptr(), path.as_ptr()) }))?)
    }

    /// The bytes of the asset file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.bytes(py)?))
    }

    #[classmethod]
    fn from_bytes(class: &Bound<'_, PyType>, data: &[u8]) -> PyResult<Self> {
        make(class.py(), |shape| unsafe { vxs_shape_deserialize(data.as_ptr().cast(), data.len(), shape) })
    }

    #[pyo3(signature = (*, size=600, direction=[0.5, 0.4, 1.0]))]
    fn plot<'py>(this: &Bound<'py, Self>, size: usize, direction: [f64; 3]) -> PyResult<Bound<'py, PyBytes>> {
        plot(this.py(), vec![(this.clone(), None)], None, size, direction)
    }

    /// The picture that a notebook shows; none of a shape that cannot be drawn, such as a half-space.
    fn _repr_png_<'py>(this: &Bound<'py, Self>) -> Option<Bound<'py, PyBytes>> {
        Self::plot(this, 400, [0.5, 0.4, 1.0]).ok()
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = this.py();
        let read = this.getattr("from_bytes")?;
        let bytes = this.get().to_bytes(py)?;
        PyTuple::new(py, [read, PyTuple::new(py, [bytes])?.into_any()])
    }

    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let info = self.shape_info()?;
        let dict = PyDict::new(py);
        dict.set_item("vertices", info.vertex_count)?;
        dict.set_item("triangles", info.triangle_count)?;
        dict.set_item("grid", info.grid_dims)?;
        dict.set_item("voxel_size", info.voxel_size)?;
        dict.set_item("field_error_max", info.field_error_max)?;
        dict.set_item("closed", info.mesh_closed != 0)?;
        dict.set_item("samples", info.sample_count)?;
        dict.set_item("spacing", info.spacing)?;
        dict.set_item("bytes", info.field_bytes + info.pointshell_bytes)?;
        Ok(dict)
    }

    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let zero = vxs_vec3 { x: 0.0, y: 0.0, z: 0.0 };
        let mut bounds = vxs_aabb { min: zero, max: zero };
        check(unsafe { vxs_shape_get_bounds(self.handle.as_ptr(), &mut bounds) })?;
        Ok(PyArray2::from_vec2(py, &[array(bounds.min).to_vec(), array(bounds.max).to_vec()])?)
    }

    /// Volume, centre of mass and inertia per unit mass.
    #[getter]
    fn mass_properties<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        // SAFETY: plain numbers, which the call fills.
        let mut mass: vxs_mass_properties = unsafe { std::mem::zeroed() };
        check(unsafe { vxs_shape_get_mass_properties(self.handle.as_ptr(), &mut mass) })?;
        let [xx, yy, zz, xy, xz, yz] = mass.inertia;
        let rows = [vec![xx, xy, xz], vec![xy, yy, yz], vec![xz, yz, zz]];
        let dict = PyDict::new(py);
        dict.set_item("volume", mass.volume)?;
        dict.set_item("center_of_mass", array(mass.center_of_mass).to_vec().into_pyarray(py))?;
        dict.set_item("inertia", PyArray2::from_vec2(py, &rows)?)?;
        dict.set_item("exact", mass.exact)?;
        Ok(dict)
    }

    /// Vertices (N, 3) and faces (M, 3) of the mesh.
    #[getter]
    fn mesh<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (mut vertex_count, mut index_count) = (0, 0);
        let info = self.shape_info()?;
        let mut vertices = vec![0.0; 3 * info.vertex_count as usize];
        let mut indices = vec![0u32; 3 * info.triangle_count as usize];
        let (points, faces) = (vertices.as_mut_ptr().cast(), indices.as_mut_ptr());
        // SAFETY: the arrays have room for the counts that the shape reports.
        check(unsafe {
            vxs_shape_get_triangles(self.handle.as_ptr(), points, vertices.len() / 3, &mut vertex_count, faces, indices.len(), &mut index_count)
        })?;
        let vertices = vertices.into_pyarray(py).reshape([vertex_count, 3])?;
        let indices = indices.into_pyarray(py).reshape([index_count / 3, 3])?;
        PyTuple::new(py, [vertices.into_any(), indices.into_any()])
    }

    #[pyo3(signature = (points, *, gradient=false))]
    fn sample<'py>(&self, py: Python<'py>, points: &Bound<'py, PyAny>, gradient: bool) -> PyResult<Bound<'py, PyAny>> {
        let points = Points::read("points", points)?;
        let mut field = std::ptr::null_mut();
        check(unsafe { vxs_shape_get_field(self.handle.as_ptr(), &mut field) })?;
        let field = Field(field);
        let given = points.slice();
        let found: Vec<Result<(f64, [f64; 3]), Failure>> = py.detach(|| {
            given.par_iter().with_min_len(1024).map(|&point| {
                let (mut distance, mut slope) = (0.0, vxs_vec3 { x: 0.0, y: 0.0, z: 0.0 });
                check(unsafe { vxs_field_distance({ &field }.0, point, &mut distance, &mut slope) })?;
                Ok((distance, array(slope)))
            }).collect()
        });
        let mut distances = Vec::with_capacity(found.len());
        let mut slopes = Vec::with_capacity(3 * found.len());
        for one in found {
            let (distance, slope) = one?;
            distances.push(distance);
            slopes.extend(slope);
        }
        let n = distances.len();
        let mut distances = distances.into_pyarray(py).into_any();
        let mut slopes = slopes.into_pyarray(py).reshape([n, 3])?.into_any();
        if !points.many {
            distances = distances.get_item(0)?;
            slopes = slopes.get_item(0)?;
        }
        if gradient {
            Ok(PyTuple::new(py, [distances, slopes])?.into_any())
        } else {
            Ok(distances)
        }
    }

    fn segments<'py>(&self, py: Python<'py>, start: &Bound<'py, PyAny>, end: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (start, end) = (Points::read("start", start)?, Points::read("end", end)?);
        let (from, to) = (start.slice(), end.slice());
        if from.len() != to.len() {
            return Err(refuse("end", format!("{} points", to.len()), &format!("{}, as many as start has", from.len())));
        }
        let handle = self.handle();
        const CHUNK: usize = 1024;
        let found: Vec<Result<Vec<Hit>, Failure>> = py.detach(|| {
            from.par_chunks(CHUNK).zip(to.par_chunks(CHUNK)).map(|(from, to)| {
                // SAFETY: plain numbers; the call writes all of them.
                let mut hits: Vec<vxs_segment_hit> = vec![unsafe { std::mem::zeroed() }; from.len()];
                check(unsafe { vxs_shape_query_segments(handle.as_ptr(), from.as_ptr(), to.as_ptr(), from.len(), hits.as_mut_ptr()) })?;
                Ok(hits.iter().map(|h| Hit { fraction: h.fraction, point: array(h.point), normal: array(h.normal), hit: h.hit, padding: [0; 7] }).collect())
            }).collect()
        });
        let mut hits = Vec::with_capacity(from.len());
        for chunk in found {
            hits.extend(chunk?);
        }
        let hits = PyArray1::from_vec(py, hits).into_any();
        if start.many { Ok(hits) } else { hits.get_item(0) }
    }

    fn __repr__(&self) -> PyResult<String> {
        let info = self.shape_info()?;
        Ok(format!("<voxshell.Shape: {} triangles, {} samples, voxels of {} m>", info.triangle_count, info.sample_count, info.voxel_size))
    }
}

/// A handle to a field.
struct Field(*mut vxs_field);
// SAFETY: fields are immutable.
unsafe impl Send for Field {}
unsafe impl Sync for Field {}

impl Drop for Field {
    fn drop(&mut self) {
        unsafe { vxs_field_release(self.0) };
    }
}
