//! A pinhole camera.

use voxshell::math::{Aabb, Vec3};

/// Position and orientation of the camera. World frame, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    pub eye: Vec3,
    /// Unit vector into the picture.
    pub forward: Vec3,
    /// Unit vector to the right of the picture.
    pub right: Vec3,
    /// Unit vector to the top of the picture.
    pub up: Vec3,
    /// Full vertical angle of view, radians, in (0, π).
    pub fov_y: f64,
}

impl Camera {
    /// Returns a camera at `eye` that looks at `target` with `up` upwards; `fov_y` is the full vertical angle in
    /// radians.
    ///
    /// If `up` is along the line of sight, another direction is used.
    pub fn looking_at(eye: Vec3, target: Vec3, up: Vec3, fov_y: f64) -> Self {
        let forward = (target - eye).try_normalize(1e-12).unwrap_or(-Vec3::z());
        let right = forward
            .cross(&up)
            .try_normalize(1e-9)
            .or_else(|| forward.cross(&Vec3::x()).try_normalize(1e-9))
            .unwrap_or_else(|| forward.cross(&Vec3::z()).normalize());
        Self { eye, forward, right, up: right.cross(&forward), fov_y }
    }

    /// Returns a camera in direction `from` (of any length) of the box's centre, far enough to show all of the box in a
    /// picture `aspect` times as wide as it is high.
    pub fn framing(bounds: &Aabb, from: Vec3, up: Vec3, fov_y: f64, aspect: f64) -> Self {
        let radius = bounds.extents().norm() * 0.5;
        let half = (0.5 * fov_y).tan();
        let narrow = half.min(half * aspect).atan();
        let distance = radius.max(1e-9) / narrow.sin();
        let center = bounds.center();
        Self::looking_at(center + from.normalize() * distance, center, up, fov_y)
    }

    /// Returns the unit direction through the picture point (x, y), both in [0, 1], (0, 0) at the top left.
    pub fn ray(&self, x: f64, y: f64, aspect: f64) -> Vec3 {
        let half = (0.5 * self.fov_y).tan();
        (self.forward + self.right * ((2.0 * x - 1.0) * half * aspect) + self.up * ((1.0 - 2.0 * y) * half)).normalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_of_the_picture_is_the_target_and_axes_are_orthonormal() {
        let camera = Camera::looking_at(Vec3::new(3.0, 2.0, 1.0), Vec3::new(0.5, 0.0, 0.0), Vec3::y(), 0.7);
        let to_target = (Vec3::new(0.5, 0.0, 0.0) - camera.eye).normalize();
        assert!((camera.ray(0.5, 0.5, 1.6) - to_target).norm() < 1e-12);
        assert!(camera.right.dot(&camera.up).abs() < 1e-12 && camera.right.dot(&camera.forward).abs() < 1e-12);
        assert!(camera.up.y > 0.0);
    }

    #[test]
    fn looking_straight_down_still_has_axes() {
        let camera = Camera::looking_at(Vec3::new(0.0, 5.0, 0.0), Vec3::zeros(), Vec3::y(), 0.7);
        assert!((camera.right.norm() - 1.0).abs() < 1e-12 && (camera.up.norm() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn framing_shows_every_corner_of_the_box() {
        let bounds = Aabb { min: Vec3::new(-1.0, 0.0, -0.2), max: Vec3::new(0.5, 0.7, 0.4) };
        for aspect in [0.6, 1.0, 1.8] {
            let camera = Camera::framing(&bounds, Vec3::new(1.0, 0.6, 1.4), Vec3::y(), 0.6, aspect);
            let half = (0.5 * camera.fov_y).tan();
            for i in 0..8 {
                let pick = |axis: usize| if i >> axis & 1 == 0 { bounds.min[axis] } else { bounds.max[axis] };
                let d = Vec3::new(pick(0), pick(1), pick(2)) - camera.eye;
                let depth = d.dot(&camera.forward);
                assert!(depth > 0.0);
                assert!(
                    (d.dot(&camera.up) / depth).abs() <= half && (d.dot(&camera.right) / depth).abs() <= half * aspect
                );
            }
        }
    }
}
