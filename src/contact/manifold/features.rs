//! Contacts of given features, evaluated at the present poses.

use crate::search::{Hit, Pass, Sides, LANES};
use crate::types::{Contact, Geometry, FEATURE_OF_B, FEATURE_OF_EDGE};
use voxshell_base::math::{limits::check_pose, Pose, Vec3};
use voxshell_base::{Error, Result};
use voxshell_field::Surface;

/// Calls `each` with the contact of each feature, in the order of `features`. Each contact is bit-identical to the
/// one that [`contacts`](crate::contacts) returns for this sample with the same geometries, at any separation.
/// For hosts that know which samples matter, such as the samples of a resting body's manifold.
///
/// A sample on the far side of a body that touches a sheet has no contact, and neither has an edge, which only a search
/// finds: its separation is infinite, and its points and normal are NaN.
///
/// # Errors
/// `InvalidArgument` for a pose beyond [`limits`](voxshell_base::math::limits) and for a feature that is no sample of a
/// pointshell whose other body has a field, and no edge of the geometry's surface. The error is returned before the first call of `each`.
pub fn contacts_of(
    a: Geometry,
    pose_a: &Pose,
    b: Geometry,
    pose_b: &Pose,
    features: &[u32],
    mut each: impl FnMut(usize, Contact),
) -> Result<()> {
    check_pose("pose_a", pose_a)?;
    check_pose("pose_b", pose_b)?;
    let [mut of_a, mut of_b] = [false; 2];
    for (i, feature) in features.iter().enumerate() {
        let of = if feature & FEATURE_OF_B == 0 { &mut of_a } else { &mut of_b };
        let (body, other) = if feature & FEATURE_OF_B == 0 { (&a, &b) } else { (&b, &a) };
        let number = (feature & !(FEATURE_OF_B | FEATURE_OF_EDGE)) as usize;
        if feature & FEATURE_OF_EDGE != 0 && number < body.surface.map_or(0, Surface::edge_count) {
            continue;
        }
        let samples = other.field.and(body.shell).map_or(0, |shell| shell.len());
        if (feature & !FEATURE_OF_B) as usize >= samples {
            let name = if feature & FEATURE_OF_B == 0 { "A" } else { "B" };
            let expected = format!("one of the {samples} samples of {name} that the other's field can be asked about");
            return Err(Error::argument(format!("features[{i}]"), feature, expected));
        }
        *of = true;
    }
    let pass_of_a = of_a.then(|| Pass::new(&a, pose_a, &b, pose_b, false, f64::INFINITY)).flatten();
    let pass_of_b = of_b.then(|| Pass::new(&b, pose_b, &a, pose_a, true, f64::INFINITY)).flatten();
    let mut first = 0;
    for run in features.chunk_by(|p, q| (p ^ q) & (FEATURE_OF_B | FEATURE_OF_EDGE) == 0) {
        if run[0] & FEATURE_OF_EDGE != 0 {
            run.iter().enumerate().for_each(|(i, &feature)| each(first + i, nowhere(feature)));
        } else if let Some(pass) = if run[0] & FEATURE_OF_B == 0 { &pass_of_a } else { &pass_of_b } {
            pass.contacts_of(run, |i, contact| each(first + i, contact));
        }
        first += run.len();
    }
    Ok(())
}

impl Pass<'_> {
    /// Computes the contacts of the given samples. Samples on the far side of a sheet get none.
    fn contacts_of(&self, features: &[u32], mut each: impl FnMut(usize, Contact)) {
        let of = |feature: u32| {
            let sample = feature & !FEATURE_OF_B;
            let i = sample as usize;
            let point = self.to_field.point([self.shell.x[i], self.shell.y[i], self.shell.z[i]]);
            Hit { sample, phi: f32::INFINITY, point }
        };
        if let Some(sides) = self.sides() {
            for (i, &feature) in features.iter().enumerate() {
                each(i, self.contact_beside(&of(feature), &sides));
            }
            return;
        }
        let mut hits = [Hit { sample: 0, phi: f32::INFINITY, point: [0.0; 3] }; LANES];
        let mut i = 0;
        for features in features.chunks(LANES) {
            for (hit, &feature) in hits.iter_mut().zip(features) {
                *hit = of(feature);
            }
            self.contacts(&hits[..features.len()], |_, contact| {
                each(i, contact);
                i += 1;
            });
        }
    }

    fn contact_beside(&self, hit: &Hit, sides: &Sides) -> Contact {
        match sides.of(hit) {
            Some(side) => self.contact_along(hit, side.separation.into(), &side.outward),
            None => nowhere(self.feature(hit.sample)),
        }
    }
}

/// Returns the contact of a feature that has none.
fn nowhere(feature: u32) -> Contact {
    let [point_on_a, point_on_b, normal] = [Vec3::from_element(f64::NAN); 3];
    Contact { point_on_a, point_on_b, normal, separation: f64::INFINITY, toi: 0.0, feature, segment: 0 }
}
