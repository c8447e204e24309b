//! From samples to contacts: the separation of each sample from the field and its direction, in the world frame.
//! Independent of the search for samples.

use super::normal::{self, STRONG_GRADIENT};
use crate::search::{Hit, Pass, Position, LANES};
use crate::types::{Contact, FEATURE_OF_B};
use voxshell_base::math::Vec3;
use voxshell_field::{with_common_field, SignedDistance};

/// Cosine of the largest angle between the normal of a sample and the direction to the other body: 72°.
const BESIDE: f64 = 0.3;

/// Distance of a sample from the faces that it lies on, as a fraction of the extent: samples are f32.
const AT_CREASE: f64 = 1e-6;

/// Depth, in voxels, from which a sample counts in any direction.
const SHALLOW: f64 = 0.05;

#[inline(always)]
fn turned(rows: &[[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|k| (rows[k][0] * v[0] + rows[k][1] * v[1]) + rows[k][2] * v[2])
}

/// Position of a sample, world frame: φ, the outward direction of the field, unit, and the sample itself.
struct Placed {
    separation: f64,
    outward: Vec3,
    on_shell: Vec3,
}

/// Returns the position of a hit from φ and the gradient there, both in the field's frame.
#[inline(always)]
fn placed<F: SignedDistance>(field: &F, pass: &Pass, hit: &Hit, phi: f32, gradient: [f32; 3]) -> Placed {
    let strong = normal::length(gradient) > STRONG_GRADIENT;
    if let Some(placed) = pass.exactly_placed(field, hit, phi, gradient, strong) {
        return placed;
    }
    let direction = if strong { gradient } else { pass.away(field, hit, phi, gradient) };
    let g = direction.map(f64::from);
    let length = ((g[0] * g[0] + g[1] * g[1]) + g[2] * g[2]).sqrt();
    let outward = Vec3::from(turned(&pass.to_world, g.map(|x| x / length)));
    Placed { separation: phi.into(), outward, on_shell: pass.in_world(hit) }
}

/// Calls `each` with each sample and its position. A branch-free field is evaluated for a whole lane block at once.
/// Other fields are evaluated sample by sample, so that the processor prefetches the data of the next sample during
/// the work on this one.
#[inline(always)]
fn place<F: SignedDistance>(field: &F, pass: &Pass, hits: &[Hit], mut each: impl FnMut(&Hit, Placed)) {
    if !field.is_lanewise() {
        for hit in hits {
            let (phi, gradient) = field.distance_gradient(hit.point);
            each(hit, placed(field, pass, hit, phi, gradient));
        }
        return;
    }
    for hits in hits.chunks(LANES) {
        let mut point = [[0.0; LANES]; 3];
        for (i, hit) in hits.iter().enumerate() {
            [point[0][i], point[1][i], point[2][i]] = hit.point;
        }
        let (phi, gradient) = field.distance_gradient_lanes(&point, hits.len());
        for (i, hit) in hits.iter().enumerate() {
            each(hit, placed(field, pass, hit, phi[i], [gradient[0][i], gradient[1][i], gradient[2][i]]));
        }
    }
}

impl Pass<'_> {
    /// Calls `each` with each sample and its contact, in the order of `hits`.
    pub(crate) fn contacts(&self, hits: &[Hit], mut each: impl FnMut(&Hit, Contact)) {
        if let Some(sides) = self.sides() {
            for hit in hits {
                let contact = match sides.of(hit) {
                    Some(side) => self.contact_along(hit, side.separation.into(), &side.outward),
                    None => self.contact_in_field(hit),
                };
                each(hit, contact);
            }
            return;
        }
        with_common_field!(self.field, f => place(f, self, hits, |hit, placed| each(hit, self.contact_at(hit, &placed))));
    }

    /// Returns the contact of one sample, world frame.
    pub(crate) fn contact(&self, hit: &Hit) -> Contact {
        match self.sides().and_then(|sides| sides.of(hit)) {
            Some(side) => self.contact_along(hit, side.separation.into(), &side.outward),
            None => self.contact_in_field(hit),
        }
    }

    fn contact_in_field(&self, hit: &Hit) -> Contact {
        let (phi, gradient) = self.field.distance_gradient(hit.point);
        self.contact_at(hit, &placed(self.field, self, hit, phi, gradient))
    }

    /// Returns whether the closest point of the other body is beside a sample: [`BESIDE`]. Where the sample is
    /// not at the closest place of its own body, a solver would stop bodies that slide past each other. Deep samples count in
    /// any direction.
    pub(crate) fn is_beside(&self, contact: &Contact) -> bool {
        let sample = (contact.feature & !FEATURE_OF_B) as usize;
        let Some(surface) = self.own_surface else { return false };
        let ahead = if self.shell_is_b { -contact.normal } else { contact.normal };
        let ahead = (self.field_pose.rotation * self.relative.rotation).inverse() * ahead;
        let own = Vec3::from(self.shell.normal(sample).map(f64::from));
        if contact.separation <= -SHALLOW * f64::from(self.field.voxel_size()) || ahead.dot(&own) >= BESIDE {
            return false;
        }
        // At a crease, the other body may be ahead of one of its faces.
        let mut is_ahead = false;
        surface.near(self.shell.position(sample), AT_CREASE * surface.bounds().extents().amax(), |triangle, _| {
            is_ahead |= surface.normal(triangle).is_some_and(|normal| ahead.dot(&normal) >= BESIDE);
        });
        !is_ahead
    }

    /// Returns the contact of one sample from its separation and its outward direction in the field's body frame.
    pub(crate) fn contact_along(&self, hit: &Hit, separation: f64, outward: &Vec3) -> Contact {
        let outward = turned(&self.to_world, (*outward).into()).into();
        self.contact_at(hit, &Placed { separation, outward, on_shell: self.in_world(hit) })
    }

    #[inline(always)]
    fn in_world(&self, hit: &Hit) -> Vec3 {
        let p = Vec3::from(hit.point.map(f64::from)) + self.field_origin;
        Vec3::from(turned(&self.to_world, p.into())) + self.field_pose.translation.vector
    }

    #[inline(always)]
    fn contact_at(&self, hit: &Hit, placed: &Placed) -> Contact {
        let Placed { separation, outward, on_shell } = *placed;
        let on_field = on_shell - outward * separation;
        let (point_on_a, point_on_b, normal) =
            if self.shell_is_b { (on_field, on_shell, outward) } else { (on_shell, on_field, -outward) };
        let feature = self.feature(hit.sample);
        Contact { point_on_a, point_on_b, normal, separation, toi: 0.0, feature, segment: 0 }
    }

    /// Returns the exact position of a hit; its separation is infinite if it is beyond the largest one of the search. `None`
    /// where the position is that of the field.
    fn exactly_placed<F: SignedDistance>(
        &self,
        field: &F,
        hit: &Hit,
        phi: f32,
        gradient: [f32; 3],
        strong: bool,
    ) -> Option<Placed> {
        let exact = self.exact.as_ref()?;
        let sample = self.shell.position(hit.sample as usize);
        let p = (self.relative * nalgebra::Point3::from(sample)).coords;
        let against = || self.relative.rotation * -Vec3::from(self.shell.normal(hit.sample as usize).map(f64::from));
        let (separation, outward) = match exact.position(hit.sample, p, phi.into()) {
            Position::Field => return None,
            Position::Beyond => (f64::INFINITY, Vec3::y()),
            Position::Exact(separation, Some(outward)) if strong => (separation, outward),
            Position::Exact(separation, Some(outward)) => {
                (separation, exact.outward_against(p, separation, outward, &against()))
            }
            Position::Exact(separation, None) => {
                let direction = if strong { gradient } else { self.away(field, hit, phi, gradient) };
                (separation, Vec3::from(direction.map(f64::from)).normalize())
            }
        };
        let outward = Vec3::from(turned(&self.to_world, outward.into()));
        let on_shell = Vec3::from(turned(&self.to_world, p.into())) + self.field_pose.translation.vector;
        Some(Placed { separation, outward, on_shell })
    }

    /// Returns the outward direction of the field where its gradient is not strong, unit, in the local frame of the
    /// field.
    fn away<F: SignedDistance>(&self, field: &F, hit: &Hit, phi: f32, gradient: [f32; 3]) -> [f32; 3] {
        let against = normal::reversed(self.shell.normal(hit.sample as usize), &self.to_field);
        normal::away(field, hit.point, phi, gradient, against)
    }
}
