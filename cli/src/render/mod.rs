//! Headless pictures. Fields are sphere-traced, so that a picture shows the surface that collides. This module uses
//! fields and poses, but no triangles, engines or windows.
//!
//! ```no_run
//! use std::sync::Arc;
//! use voxshell::field::Sphere;
//! use voxshell::math::{Pose, Vec3};
//! use voxshell_cli::render::{render, Camera, Object, Scene};
//! let mut scene = Scene::default();
//! scene.objects.push(Object::new(Arc::new(Sphere::new(0.5)?), Pose::identity(), [0.2, 0.5, 0.9]));
//! let camera = Camera::looking_at(Vec3::new(1.0, 0.8, 2.0), Vec3::zeros(), Vec3::y(), 35f64.to_radians());
//! render(&scene, &camera, 640, 480).write_png("picture.png".as_ref())?;
//! # voxshell::Result::Ok(())
//! ```

mod balls;
mod camera;
mod image;
mod scene;
mod shade;
mod slice;
mod trace;

pub use camera::Camera;
pub use image::Image;
pub use scene::{Ball, Ground, Object, Scene};
pub use shade::render;
pub use slice::{slice, Plane};
