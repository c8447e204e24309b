//! Exact separation and direction of samples near the mesh of the field's body.
//!
//! The interpolant rounds creases off by up to half a voxel. A body with an exact surface answers with the closest point
//! of its triangles instead. The field bounds the search for that point, and gives the sign away from the surface.
//!
//! Let d be the signed distance, q the closest point of the surface to p outside, and wᵢ the weights of the nodes nᵢ of
//! the cell of edge h. A node stores d(nᵢ) ≤ |nᵢ − q|, and Σ wᵢ |nᵢ − q|² ≤ d² + ¾ h², hence φ(p) ≤ √(d² + ¾ h²). The
//! distance has the Lipschitz constant 1, hence |φ − d| ≤ Σ wᵢ |nᵢ − p| ≤ √¾ h.

use std::cell::{Cell, RefCell};

use super::known::Known;
use voxshell_base::math::Vec3;
use voxshell_field::{Field, Surface};
use voxshell_pointshell::PointShell;

/// √¾, and the rounding of stored nodes: bound of |φ − d| in cells near the surface, voxels.
const ERROR: f64 = 0.87;

/// Rounding of stored nodes, voxels.
const QUANTUM: f64 = 1e-3;

/// Samples with a larger |φ|, voxels, keep the distance of the field.
pub(super) const REACH: f64 = 4.0;

/// Two points of the surface whose distances differ by less than this, voxels or distances between samples, are equally close:
/// the direction is that of the point from which the sample's body comes.
const EQUAL: f64 = 0.01;

/// Increase of the limit of a search over a distance to the surface, as a fraction of the coordinates: above rounding, so
/// that the closest point does not depend on the limit.
const SLACK: f64 = 1e-12;

/// Distance below which the direction between two points is not known, as a fraction of the same coordinates.
const NO_DIRECTION: f64 = 1e-10;

/// Rounding of a sample's coordinates, relative to the largest of its shell.
const SAMPLE: f64 = 1.0 / (1 << 23) as f64;

/// How much farther than the limit a pair looks for the closest triangle, voxels: so far the bodies may move until it looks
/// again.
const AHEAD: f64 = 0.25;

/// Position of a sample.
pub(crate) enum Position {
    /// Far from the surface: that of the field.
    Field,
    /// Exactly farther than the limit.
    Beyond,
    /// Separation, metres, and the outward direction of the surface, unit, in the body frame. The direction is `None` at
    /// a corner of the surface, and at points of surfaces that intersect themselves.
    Exact(f64, Option<Vec3>),
}

/// Exact distances of one pass.
pub(crate) struct Exact<'a> {
    surface: &'a Surface,
    voxel: f64,
    /// Difference of distances up to which points of the surface are equally close, metres.
    equal: f64,
    /// Rounding of a sample's place, metres: one that is no farther outside is on the surface.
    rounding: f64,
    /// Largest separation that the caller needs, metres.
    pub limit: f64,
    /// Triangle that is closest to the last sample.
    last: Cell<u32>,
    /// A point outside of the surface that is farther from it than the limit, and its distance: no sample that is nearer to
    /// the point than the difference can be within the limit. Neighbours follow each other, so most of the samples that a
    /// coarse field does not tell from near ones are found here.
    outside: Cell<(Vec3, f64)>,
    /// Memory of a pair.
    known: RefCell<Option<Known>>,
}

impl<'a> Exact<'a> {
    /// Returns `None` if the field is not on a grid, or has no exact surface. The samples are those of `shell`.
    pub fn new(field: &Field, surface: Option<&'a Surface>, shell: &PointShell) -> Option<Self> {
        let voxel = f64::from(field.gridded()?.grid.spacing);
        let spacing = f64::from(shell.spacing);
        let tree = &shell.tree;
        let reach = |c: &[f32]| c[0].abs() + tree.radius[0];
        Some(Self {
            surface: surface?,
            voxel,
            equal: EQUAL * if spacing > 0.0 { voxel.min(spacing) } else { voxel },
            rounding: SAMPLE * f64::from(reach(&tree.cx).max(reach(&tree.cy)).max(reach(&tree.cz))),
            limit: f64::INFINITY,
            last: Cell::new(0),
            outside: Cell::new((Vec3::zeros(), 0.0)),
            known: RefCell::new(None),
        })
    }

    /// Uses what is known of samples, until it is taken back.
    pub fn remember(&self, mut known: Known) {
        known.begin();
        self.known.replace(Some(known));
    }

    /// Returns what is known of samples now.
    pub fn take_known(&self) -> Option<Known> {
        let mut known = self.known.take()?;
        known.end();
        Some(known)
    }

    /// Returns the level up to which the field is searched for the samples that are exactly as near as the limit, metres.
    pub fn level(&self) -> f64 {
        let error = ERROR * self.voxel;
        if self.limit < 0.0 {
            self.limit + error
        } else {
            libm::hypot(self.limit, error) + QUANTUM * self.voxel
        }
    }

    /// Returns the largest difference of a distance and the field near the surface, metres.
    pub fn error(&self) -> f64 {
        ERROR * self.voxel
    }

    /// Returns the edge of a cell of the field, metres.
    pub fn voxel(&self) -> f64 {
        self.voxel
    }

    /// Returns the position of a sample at `p`, body frame, where the field is `phi`.
    pub fn position(&self, sample: u32, p: Vec3, phi: f64) -> Position {
        if phi.abs() > REACH * self.voxel {
            return Position::Field;
        }
        let mut known = self.known.borrow_mut();
        let (remembers, last) = (known.is_some(), known.as_mut().and_then(|known| known.of(sample)));
        let mut remember = |triangle: u32, outside: Option<f64>| {
            if let Some(known) = known.as_mut() {
                known.set(sample, triangle, outside);
            }
        };
        let slack = SLACK * (p.amax() + self.surface.bounds().extents().amax());
        let limit = self.limit.max(self.rounding);
        if let Some((outside, triangle)) = last {
            self.last.set(triangle);
            if outside > limit + slack {
                remember(triangle, Some(outside));
                return Position::Beyond;
            }
        }
        let (outside, far) = self.outside.get();
        let free = far - (p - outside).norm() - slack;
        if free > limit {
            remember(self.last.get(), Some(free));
            return Position::Beyond;
        }
        let error = self.error();
        let near = self.surface.foot_on(self.last.get(), p).distance;
        // Outside, farther points than the limit do not matter, but a pair looks farther ahead.
        let reach = if remembers { limit + AHEAD * self.voxel } else { limit };
        let wanted = if phi > error { reach } else { f64::INFINITY };
        let nearest = near.min(phi.abs() + error);
        let found = match self.surface.closest(p, nearest.min(wanted) + slack) {
            None if wanted < nearest => {
                remember(self.last.get(), Some(wanted));
                return Position::Beyond;
            }
            // Coarse nodes lie farther apart.
            None => self.surface.closest(p, near + slack),
            found => found,
        };
        let Some(closest) = found else { return Position::Field };
        self.last.set(closest.triangle);
        let distance = closest.distance_squared.sqrt();
        if phi > error && distance > limit {
            remember(closest.triangle, Some(distance - slack));
            self.outside.set((p, distance));
            return Position::Beyond;
        }
        let certain = (phi.abs() > error).then_some(phi < 0.0);
        let has_direction = distance > NO_DIRECTION / SLACK * slack;
        let (is_inside, outward) = self.surface.side(&p, &closest, certain, has_direction);
        let separation = match is_inside {
            true => -distance,
            false if distance <= self.rounding => 0.0,
            false => distance,
        };
        let is_beyond = !is_inside && separation > self.limit;
        if is_beyond {
            self.outside.set((p, distance));
        }
        remember(closest.triangle, is_beyond.then_some(distance - slack));
        Position::Exact(separation, outward)
    }

    /// Returns, of the points of the surface that are nearly as close to `p` as the closest one, the outward direction that
    /// is most in the direction `against`. `separation` and `outward` are those of the closest point.
    pub fn outward_against(&self, p: Vec3, separation: f64, outward: Vec3, against: &Vec3) -> Vec3 {
        let mut best = (outward.dot(against), outward);
        let distance = separation.abs();
        self.surface.near(p, distance + self.equal, |_, point| {
            let away = (p - point) * separation.signum();
            let length = away.norm();
            if length > 0.5 * distance && away.dot(against) > best.0 * length {
                best = (away.dot(against) / length, away / length);
            }
        });
        best.1
    }
}
