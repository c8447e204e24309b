//! Whether a query follows another one of the same pair, and how far the bodies have moved in between.

use std::sync::{Arc, Weak};

use nalgebra::Point3;

use super::types::Owner;
use voxshell_base::math::{Pose, Vec3};
use voxshell_field::{Field, Surface};
use voxshell_pointshell::PointShell;

/// Share of a body's radius by which its samples may be outside the box of its triangles: they are f32.
const ROUNDING: f64 = 1e-5;

/// Share of a body's radius by which it may move between two queries for these to be of use to each other. Beyond it most
/// of what was remembered is used up, and to remember costs a fifth of a query.
const STEP: f64 = 0.1;

/// The forms of a body. Held as `Weak`, so that a reused address cannot match.
#[derive(Default)]
struct Body {
    field: Weak<Field>,
    shell: Weak<PointShell>,
    surface: Weak<Surface>,
}

impl Body {
    fn of(owner: &Owner) -> Self {
        let (field, shell) = (owner.field.map(Arc::downgrade), owner.shell.map(Arc::downgrade));
        let surface = owner.surface.map(Arc::downgrade);
        Self {
            field: field.unwrap_or_default(),
            shell: shell.unwrap_or_default(),
            surface: surface.unwrap_or_default(),
        }
    }

    fn is(&self, owner: &Owner) -> bool {
        fn same<T>(weak: &Weak<T>, owner: Option<&Arc<T>>) -> bool {
            owner.map_or_else(|| weak.ptr_eq(&Weak::new()), |owner| weak.as_ptr() == Arc::as_ptr(owner))
        }
        same(&self.field, owner.field) && same(&self.shell, owner.shell) && same(&self.surface, owner.surface)
    }
}

/// The pair of the last query.
#[derive(Default)]
pub(super) struct Memory {
    bodies: [Body; 2],
    /// A in the frame of B; `None` if the last query named no owners.
    relative: Option<Pose>,
}

impl Memory {
    /// Forgets the last query.
    pub fn clear(&mut self) {
        self.relative = None;
    }

    /// Begins a query. Returns a bound of the distance, metres, by which the bodies have moved against each other since the
    /// last one; `None` if that was not of the same pair, or is of no use. `surfaces` are those of the query.
    pub fn advance(
        &mut self,
        owners: Option<&[Owner; 2]>,
        surfaces: Option<[&Surface; 2]>,
        [pose_a, pose_b]: [&Pose; 2],
    ) -> Option<f64> {
        let last = self.relative.take();
        let (owners, surfaces) = owners.zip(surfaces)?;
        let are_theirs =
            owners.iter().zip(surfaces).all(|(o, surface)| o.surface.is_some_and(|own| std::ptr::eq(&**own, surface)));
        if !are_theirs {
            return None;
        }
        let relative = pose_b.inv_mul(pose_a);
        self.relative = Some(relative);
        if !self.bodies.iter().zip(owners).all(|(body, owner)| body.is(owner)) {
            self.bodies = [Body::of(&owners[0]), Body::of(&owners[1])];
            return None;
        }
        let last = last?;
        let radius = |surface: &Surface| 0.5 * (1.0 + ROUNDING) * surface.bounds().extents().norm();
        let moved = |surface: &Surface, from: &Pose, to: &Pose| {
            displacement(from, to, &surface.bounds().center(), radius(surface))
        };
        // Each is a bound for both.
        let moved = moved(surfaces[0], &last, &relative).min(moved(surfaces[1], &last.inverse(), &relative.inverse()));
        (moved <= STEP * radius(surfaces[0]).min(radius(surfaces[1]))).then_some(moved)
    }
}

/// Returns the largest distance between the places of a point of a ball at two poses, metres.
pub(super) fn displacement(from: &Pose, to: &Pose, center: &Vec3, radius: f64) -> f64 {
    let center = Point3::from(*center);
    let turned = from.rotation.inverse() * to.rotation;
    // The chord of a unit circle.
    let chord = 2.0 * turned.imag().norm();
    (from * center - to * center).norm() + chord * radius
}
