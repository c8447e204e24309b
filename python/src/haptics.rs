//! A tool in a hand among bodies.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use numpy::IntoPyArray;
use voxshell::capi::haptics::*;
use voxshell::capi::haptics_bodies::{vxs_haptics_get_load, vxs_haptics_load};
use voxshell::capi::haptics_handle::vxs_haptics;
use voxshell::capi::haptics_settings::*;
use voxshell::capi::haptics_types::*;
use voxshell::capi::query_options::vxs_body;
use voxshell::capi::response::{vxs_twist, vxs_wrench};
use voxshell::capi::types::{vxs_pose, vxs_vec3};

use crate::arrays::{batch_size, floats, numbers, Poses};
use crate::failure::{check, refuse};
use crate::shape::Shape;

/// See voxshell/_core.pyi.
#[pyclass(frozen, module = "voxshell._core")]
pub struct Haptics(*mut vxs_haptics);

// SAFETY: the C API refuses a second thread in a step.
unsafe impl Send for Haptics {}
unsafe impl Sync for Haptics {}

impl Drop for Haptics {
    fn drop(&mut self) {
        unsafe { vxs_haptics_release(self.0) };
    }
}

fn one_pose(name: &str, given: Option<&Bound<'_, PyAny>>) -> PyResult<vxs_pose> {
    let poses = Poses::read(name, given)?;
    if batch_size(&[(name, poses.slice())])?.is_some() {
        return Err(refuse(name, "of many poses", "one pose, of shape (7,)"));
    }
    Ok(poses.slice().get(0))
}

fn twist_argument(given: Option<&Bound<'_, PyAny>>) -> PyResult<vxs_twist> {
    let Some(given) = given else { return Ok(vxs_twist::default()) };
    let array = floats("twist", given)?;
    let &[a, b, c, d, e, f] = numbers(&array) else {
        return Err(refuse("twist", format!("{} numbers", numbers(&array).len()), "6: linear and angular velocity"));
    };
    Ok(vxs_twist { linear: vxs_vec3 { x: a, y: b, z: c }, angular: vxs_vec3 { x: d, y: e, z: f } })
}

fn wrench_array<'py>(py: Python<'py>, w: &vxs_wrench) -> Bound<'py, PyAny> {
    vec![w.force.x, w.force.y, w.force.z, w.torque.x, w.torque.y, w.torque.z].into_pyarray(py).into_any()
}

fn pose_array<'py>(py: Python<'py>, p: &vxs_pose) -> Bound<'py, PyAny> {
    vec![p.position.x, p.position.y, p.position.z, p.qx, p.qy, p.qz, p.qw].into_pyarray(py).into_any()
}

#[pymethods]
impl Haptics {
    #[new]
    #[pyo3(signature = (tool, bodies, *, mass, renderer="god_object", stiffness=None, friction=None, max_force=f64::INFINITY, max_torque=f64::INFINITY))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        tool: &Bound<'_, Shape>,
        bodies: Vec<(Bound<'_, Shape>, Option<Bound<'_, PyAny>>)>,
        mass: f64,
        renderer: &str,
        stiffness: Option<f64>,
        friction: Option<f64>,
        max_force: f64,
        max_torque: f64,
    ) -> PyResult<Self> {
        let renderer = match renderer {
            "vps" => VXS_RENDERER_VPS,
            "penalty" => VXS_RENDERER_PENALTY,
            "continuous_penalty" => VXS_RENDERER_CONTINUOUS_PENALTY,
            "god_object" => VXS_RENDERER_GOD_OBJECT,
            "impulse" => VXS_RENDERER_IMPULSE,
            _ => {
                let expected = "\"god_object\", \"penalty\", \"continuous_penalty\", \"vps\" or \"impulse\"";
                return Err(refuse("renderer", format!("{renderer:?}"), expected));
            }
        };
        let infinite = [f64::INFINITY; 2];
        let limits = vxs_haptics_limits { force: max_force, torque: max_torque, stiffness: infinite, damping: infinite };
        let mut placed = Vec::with_capacity(bodies.len());
        for (i, (shape, pose)) in bodies.iter().enumerate() {
            let pose = one_pose(&format!("bodies[{i}]"), pose.as_ref())?;
            placed.push(vxs_body { shape: shape.get().handle().as_ptr(), pose });
        }
        let mut haptics = std::ptr::null_mut();
        // SAFETY: plain numbers and pointers, which the call fills.
        unsafe {
            let mut settings: vxs_haptics_settings = std::mem::zeroed();
            let size = size_of::<vxs_haptics_settings>();
            let tool = tool.get().handle().as_ptr();
            check(vxs_haptics_settings_init(&mut settings, size, renderer, tool, mass, &limits))?;
            if let Some(stiffness) = stiffness {
                settings.coupling.stiffness[0] = stiffness;
            }
            if let Some(friction) = friction {
                settings.surface.friction = friction;
            }
            check(vxs_haptics_create(&settings, tool, placed.as_ptr(), placed.len(), &mut haptics))?;
        }
        Ok(Self(haptics))
    }

    #[pyo3(signature = (pose, twist=None, *, dt=1e-3, engaged=true))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        pose: &Bound<'py, PyAny>,
        twist: Option<&Bound<'py, PyAny>>,
        dt: f64,
        engaged: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let state = vxs_device_state {
            pose: one_pose("pose", Some(pose))?,
            twist: twist_argument(twist)?,
            engaged: engaged.into(),
            reserved: 0,
        };
        // SAFETY: plain numbers, which the call fills.
        let mut output: vxs_haptics_output = unsafe { std::mem::zeroed() };
        check(unsafe { vxs_haptics_step(self.0, &state, dt, &mut output) })?;
        let dict = PyDict::new(py);
        dict.set_item("wrench", wrench_array(py, &output.wrench))?;
        dict.set_item("contact", wrench_array(py, &output.contact))?;
        dict.set_item("tool", pose_array(py, &output.tool))?;
        dict.set_item("contacts", output.contacts)?;
        dict.set_item("status", output.status)?;
        Ok(dict)
    }

    fn simulate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        // SAFETY: plain numbers, which the calls fill.
        let mut report: vxs_haptics_report = unsafe { std::mem::zeroed() };
        check(unsafe { vxs_haptics_report_init(&mut report, size_of::<vxs_haptics_report>()) })?;
        py.detach(|| check(unsafe { vxs_haptics_simulate({ self }.0, &mut report) }))?;
        let dict = PyDict::new(py);
        dict.set_item("least_separation", report.least_separation)?;
        dict.set_item("contacts", report.contacts)?;
        dict.set_item("status", report.status)?;
        Ok(dict)
    }

    #[pyo3(signature = (index, pose, twist=None))]
    fn set_body_pose(&self, index: usize, pose: &Bound<'_, PyAny>, twist: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let (pose, twist) = (one_pose("pose", Some(pose))?, twist_argument(twist)?);
        Ok(check(unsafe { vxs_haptics_set_body_pose(self.0, index, &pose, &twist) })?)
    }

    fn load<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: plain numbers, which the call fills.
        let mut load: vxs_haptics_load = unsafe { std::mem::zeroed() };
        check(unsafe { vxs_haptics_get_load(self.0, index, &mut load) })?;
        Ok(wrench_array(py, &load.wrench))
    }

    fn reset(&self) -> PyResult<()> {
        Ok(check(unsafe { vxs_haptics_reset(self.0, std::ptr::null()) })?)
    }
}
