//! Axis-aligned boxes.

use super::{Pose, Vec3};

/// Axis-aligned box in metres; empty when any `min > max`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Aabb {
    pub min: Vec3,
    pub max: Vec3,
}

impl Aabb {
    /// The box that holds nothing and grows by [`Aabb::include`].
    #[inline]
    pub fn empty() -> Self {
        Self { min: Vec3::repeat(f64::INFINITY), max: Vec3::repeat(f64::NEG_INFINITY) }
    }

    #[inline]
    pub fn from_points<'a>(points: impl IntoIterator<Item = &'a [f64; 3]>) -> Self {
        let mut b = Self::empty();
        for p in points {
            b.include(&Vec3::from(*p));
        }
        b
    }

    #[inline]
    pub fn include(&mut self, p: &Vec3) {
        self.min = self.min.inf(p);
        self.max = self.max.sup(p);
    }

    #[inline]
    pub fn merged(&self, other: &Self) -> Self {
        Self { min: self.min.inf(&other.min), max: self.max.sup(&other.max) }
    }

    /// The box grown by `margin` metres on every side.
    #[inline]
    pub fn inflated(&self, margin: f64) -> Self {
        Self { min: self.min.add_scalar(-margin), max: self.max.add_scalar(margin) }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        (0..3).any(|i| self.min[i] > self.max[i])
    }

    #[inline]
    pub fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    /// Edge lengths.
    #[inline]
    pub fn extents(&self) -> Vec3 {
        self.max - self.min
    }

    #[inline]
    pub fn contains(&self, p: &Vec3) -> bool {
        (0..3).all(|i| self.min[i] <= p[i] && p[i] <= self.max[i])
    }

    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..3).all(|i| self.min[i] <= other.max[i] && other.min[i] <= self.max[i])
    }

    /// Squared distance from `p` to the box, 0 inside.
    #[inline]
    pub fn distance_squared(&self, p: &Vec3) -> f64 {
        (0..3).map(|i| (self.min[i] - p[i]).max(p[i] - self.max[i]).max(0.0)).map(|d| d * d).sum()
    }

    /// Returns the smallest box around this one after `pose`.
    #[inline]
    pub fn transformed(&self, pose: &Pose) -> Self {
        let rotation = pose.rotation.to_rotation_matrix();
        let half = rotation.matrix().abs() * (self.extents() * 0.5);
        let center = pose * nalgebra::Point3::from(self.center());
        Self { min: center.coords - half, max: center.coords + half }
    }
}
