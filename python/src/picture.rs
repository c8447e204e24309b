//! Pictures of shapes and contacts, as PNG.

use std::sync::Arc;

use nalgebra::{Quaternion, Translation3, UnitQuaternion};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use voxshell::field::SignedDistance;
use voxshell::math::{Aabb, Pose, Vec3};
use voxshell_cli::render::{render, Ball, Camera, Ground, Object, Scene};

use crate::arrays::{batch_size, Contact, Poses};
use crate::failure::refuse;
use crate::shape::Shape;

const COLOURS: [[f32; 3]; 4] = [[0.35, 0.55, 0.85], [0.85, 0.60, 0.35], [0.45, 0.70, 0.50], [0.70, 0.50, 0.75]];

/// Draws shapes and contacts: see voxshell/__init__.py.
#[pyfunction]
#[pyo3(signature = (bodies, contacts=None, *, size=600, direction=[0.5, 0.4, 1.0]))]
pub fn plot<'py>(
    py: Python<'py>,
    bodies: Vec<(Bound<'py, Shape>, Option<Bound<'py, PyAny>>)>,
    contacts: Option<Bound<'py, PyArray1<Contact>>>,
    size: usize,
    direction: [f64; 3],
) -> PyResult<Bound<'py, PyBytes>> {
    if !(16..=4096).contains(&size) {
        return Err(refuse("size", size, "16 to 4096 pixels"));
    }
    let from = Vec3::from(direction);
    if !(from.norm() > 0.0 && from.norm().is_finite()) {
        return Err(refuse("direction", format!("{direction:?}"), "a finite direction that is not 0 0 0"));
    }
    let (mut objects, mut bounds) = (Vec::new(), Aabb::empty());
    for (i, (shape, pose)) in bodies.iter().enumerate() {
        let name = format!("bodies[{i}]");
        let poses = Poses::read(&name, pose.as_ref())?;
        if batch_size(&[(&name, poses.slice())])?.is_some() {
            return Err(refuse(&name, "of many poses", "one pose"));
        }
        let given = poses.slice().get(0);
        let at = given.position;
        let turn = UnitQuaternion::from_quaternion(Quaternion::new(given.qw, given.qx, given.qy, given.qz));
        let pose = Pose::from_parts(Translation3::new(at.x, at.y, at.z), turn);
        let drawn = shape.get().drawn(py)?;
        let field = drawn.field.as_ref().ok_or_else(|| refuse(&name, "a shape without a field", "one with a field"))?;
        let (low, high) = (field.bounds().min, field.bounds().max);
        if !(low.norm().is_finite() && high.norm().is_finite()) {
            return Err(refuse(&name, "an infinite shape", "a shape of finite size"));
        }
        for corner in 0..8 {
            let at = Vec3::from_fn(|axis, _| if corner >> axis & 1 == 0 { low[axis] } else { high[axis] });
            bounds.include(&(pose.rotation * at + pose.translation.vector));
        }
        objects.push(Object::new(Arc::clone(field), pose, COLOURS[i % COLOURS.len()]));
    }
    if objects.is_empty() {
        return Err(refuse("bodies", "empty", "at least one shape"));
    }
    let radius = 0.012 * bounds.extents().max();
    let balls = contacts.map_or(Ok(Vec::new()), |contacts| -> PyResult<Vec<Ball>> {
        let contacts = contacts.try_readonly()?;
        let ball = |contact: &Contact| {
            let at = contact.0.point_on_b;
            Ball { center: Vec3::new(at.x, at.y, at.z), radius, colour: [0.95, 0.2, 0.15] }
        };
        Ok(contacts.as_array().iter().map(ball).collect())
    })?;
    let scene = Scene {
        // Beneath the bodies, so that they cast a shadow.
        ground: Some(Ground::floor(bounds.min.y, bounds.extents().max() / 4.0)),
        objects,
        balls,
        ..Scene::default()
    };
    let camera = Camera::framing(&bounds, from, Vec3::y(), 0.6, 1.0);
    let png = py.detach(|| render(&scene, &camera, size, size).png_bytes());
    Ok(PyBytes::new(py, &png))
}
