//! The query: cells, polygons, regions, and the integrals over them.

use std::ops::Range;

use super::cells::{Leaf, Overlap, Scratch};
use super::regions::{Outlines, Regions};
use super::surface::{Cuts, IntoF32, Polygon};
use super::types::{Patch, PatchSettings};
use crate::contact::Geometry;
use crate::field::Field;
use crate::math::limits::check_pose;
use crate::math::{Pose, Vec3};
use crate::{Error, Result};

/// Number of smallest cells along the extent of the smaller body, without a resolution.
const DEFAULT_CELLS: f64 = 200.0;

/// Scratch memory of [`patches`], one per thread, and the answer of the last query. Warm queries do not allocate.
#[derive(Default)]
pub struct PatchWorkspace {
    scratch: Scratch,
    leaves: Vec<Leaf>,
    polygons: Vec<Polygon>,
    cuts: Cuts,
    regions: Regions,
    sums: Vec<Sum>,
    /// Regions of the patches, in their order.
    order: Vec<u32>,
    patches: Vec<Patch>,
    outlines: Outlines,
    /// Frame and spacing of the grid.
    origin: Vec3,
    spacing: f64,
}

/// Integrals over a region, in the frame of the grid.
#[derive(Clone, Copy, Default)]
struct Sum {
    area: f64,
    pressure: f64,
    moment: Vec3,
    force: Vec3,
    torque: Vec3,
    largest: f64,
}

/// Returns the contact patches of two bodies at two poses, that with the largest force first. Both need a field with an inside.
/// The answer lives in the workspace until its next use.
///
/// The grid of the contact surface is fixed in the world: the answer changes continuously as the bodies move, and does not depend on
/// which of them is A, up to rounding. It changes by the error of the resolution when both bodies are moved together. Regions that
/// come closer than a cell are one.
///
/// # Errors
/// `Unsupported` for a body without a field, for sheets, and for two infinite bodies; `InvalidArgument` for settings or poses out of
/// range, and for a resolution that takes more than a million cells.
pub fn patches<'w>(
    a: Geometry,
    pose_a: &Pose,
    b: Geometry,
    pose_b: &Pose,
    settings: &PatchSettings,
    workspace: &'w mut PatchWorkspace,
) -> Result<&'w [Patch]> {
    settings.check()?;
    check_pose("pose_a", pose_a)?;
    check_pose("pose_b", pose_b)?;
    let (field_a, field_b) = (field("A", &a)?, field("B", &b)?);
    workspace.clear();
    let overlap =
        Overlap::new((field_a, pose_a), (field_b, pose_b), settings.surface(), settings.resolution, DEFAULT_CELLS)?;
    if let Some(overlap) = overlap {
        workspace.find(&overlap)?;
    }
    Ok(&workspace.patches)
}

fn field<'a>(name: &str, body: &Geometry<'a>) -> Result<&'a Field> {
    match body.field {
        Some(Field::Sheet(_)) => Err(Error::Unsupported(format!("{name} is a sheet, which has no inside"))),
        Some(field) => Ok(field),
        None => Err(Error::Unsupported(format!("{name} has no field, which its pressure is computed from"))),
    }
}

impl PatchWorkspace {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the patches of the last query.
    pub fn patches(&self) -> &[Patch] {
        &self.patches
    }

    /// Returns the outline of a patch of the last query, by its index: closed polylines, each of which ends with its first point.
    /// Points are at least about a cell apart. World frame, metres.
    pub fn outline(&mut self, patch: usize) -> &[Vec3] {
        let Self { polygons, regions, order, outlines, origin, spacing, .. } = self;
        let region = order.get(patch).copied();
        outlines.trace(region.map(|r| (regions as &Regions, r)), polygons, *spacing, origin)
    }

    fn clear(&mut self) {
        self.leaves.clear();
        self.polygons.clear();
        self.patches.clear();
        self.order.clear();
    }

    fn find(&mut self, overlap: &Overlap) -> Result<()> {
        let Self { scratch, leaves, polygons, cuts, regions, .. } = self;
        overlap.cells(scratch, leaves)?;
        overlap.polygons(leaves, scratch, polygons);
        overlap.cut(scratch, cuts, polygons);
        let count = regions.find(leaves, polygons, overlap);
        self.integrate(overlap, count);
        self.origin = overlap.origin;
        self.spacing = overlap.spacing;
        Ok(())
    }

    /// Integrates over the polygons of each region, by the midpoints of the sides of triangles: exact for quadratic pressures.
    fn integrate(&mut self, overlap: &Overlap, regions: usize) {
        let Self { scratch, polygons, sums, .. } = self;
        scratch.points.clear();
        for polygon in polygons.iter() {
            for t in polygon.triangles() {
                for p in midpoints(&t) {
                    scratch.points.push(p.into_f32());
                }
            }
        }
        overlap.evaluate(scratch);
        sums.clear();
        sums.resize(regions, Sum::default());
        let mut next = 0;
        for polygon in polygons.iter() {
            let sum = &mut sums[self.regions.of(polygon) as usize];
            for t in polygon.triangles() {
                let area = 0.5 * (t[1] - t[0]).cross(&(t[2] - t[0])).norm();
                sum.area += area;
                for p in midpoints(&t) {
                    let depth = -f64::from(scratch.phi[0][next]) - f64::from(scratch.phi[1][next]);
                    next += 1;
                    let pressure = overlap.surface.pressure(depth);
                    let force = polygon.normal * (pressure * area / 3.0);
                    sum.pressure += pressure * area / 3.0;
                    sum.moment += p * (pressure * area / 3.0);
                    sum.force += force;
                    sum.torque += p.cross(&force);
                    sum.largest = sum.largest.max(pressure);
                }
            }
        }
        let order = &mut self.order;
        order.extend((0..regions as u32).filter(|r| sums[*r as usize].pressure > 0.0));
        let size = |r: &u32| sums[*r as usize].force.norm_squared();
        order.sort_unstable_by(|r, s| size(s).total_cmp(&size(r)).then(r.cmp(s)));
        self.patches.extend(self.order.iter().map(|r| sums[*r as usize].patch(&overlap.origin)));
    }
}

impl Sum {
    fn patch(&self, origin: &Vec3) -> Patch {
        let center = self.moment / self.pressure;
        Patch {
            area: self.area,
            force: self.force,
            torque: self.torque - center.cross(&self.force),
            center: center + origin,
            normal: self.force.try_normalize(0.0).unwrap_or_else(Vec3::y),
            mean_pressure: self.pressure / self.area,
            max_pressure: self.largest,
        }
    }
}

fn midpoints(t: &[Vec3; 3]) -> [Vec3; 3] {
    [0, 1, 2].map(|i| (t[i] + t[(i + 1) % 3]) * 0.5)
}

impl Polygon {
    fn triangles(&self) -> impl Iterator<Item = [Vec3; 3]> + '_ {
        let indices: Range<usize> = 1..self.count.saturating_sub(1).max(1);
        indices.map(|i| [self.corners[0].at, self.corners[i].at, self.corners[i + 1].at])
    }
}
