//! Outward normals of the finished samples.

use rayon::prelude::*;

use super::surface::{unit_or_zero, Surface};
use super::types::Sample;
use voxshell_base::math::Vec3;
use voxshell_field::SignedDistance;

/// Gradients shorter than this are near an edge or the medial axis and are not used: |∇φ| = 1 for a distance.
const STRONG: f64 = 0.8;
/// Step to either side, as a fraction of the spacing, when the field only decides which side is outside.
const SIDE_STEP: f64 = 0.25;

/// Sets the normal of each sample: the field's gradient where it is strong (Sagardia et al. 2014, section 2.1.2),
/// else the mesh's normal. On a mesh whose faces disagree about inside and outside, the normal is turned to the side
/// where the field is larger. On a sharp edge the gradient is that of one of the faces, or of the field's error:
/// there the normal between the faces stays.
pub(super) fn finish(surface: &Surface, samples: &mut [Sample], field: Option<&dyn SignedDistance>, spacing: f64) {
    let origin = field.map(|f| f.local_origin(&surface.center));
    samples.par_iter_mut().for_each(|s| {
        if let (Some(field), Some(origin)) = (field, origin) {
            let at = |offset: Vec3| (s.p + offset + surface.center - origin).map(|c| c as f32).into();
            let (_, gradient) = field.distance_gradient(at(Vec3::zeros()));
            let gradient = Vec3::from(gradient.map(|c| c as f64));
            if !s.is_sharp && gradient.norm() >= STRONG && gradient.norm().is_finite() {
                s.n = unit_or_zero(gradient);
            } else if !surface.is_consistent && spacing.is_finite() {
                let step = s.n * (SIDE_STEP * spacing);
                if field.distance(at(step)) < field.distance(at(-step)) {
                    s.n = -s.n;
                }
            }
        }
        if s.n == Vec3::zeros() {
            // No information: away from the middle of the body.
            s.n = if s.p == Vec3::zeros() { Vec3::z() } else { unit_or_zero(s.p) };
        }
    });
}
