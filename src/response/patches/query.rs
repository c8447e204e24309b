//! The query: cells, polygons, regions, and the integrals over them.

use std::ops::Range;

use nalgebra::Matrix3;

use super::cells::{too_fine, Leaf, Met, Overlap, Scratch};
use super::regions::{Outlines, Regions};
use super::surface::{Corner, Cuts, IntoF32, Polygon};
use super::types::{Patch, PatchCell, PatchSettings, Surface};
use voxshell_base::math::limits::check_pose;
use voxshell_base::math::{Pose, Vec3};
use voxshell_base::memory::GrowGuarded;
use voxshell_base::{Error, Result};
use voxshell_contact::Geometry;
use voxshell_field::{Field, SignedDistance};

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
    details: Vec<Details>,
    /// Regions of the patches, in their order.
    order: Vec<u32>,
    patches: Vec<Patch>,
    outlines: Outlines,
    /// Frame and spacing of the grid.
    origin: Vec3,
    spacing: f64,
    /// Law of the last query; none before the first.
    surface: Option<Surface>,
    /// Whether the first body of the search is B.
    is_turned: bool,
}

/// A body of a query.
#[derive(Clone, Copy)]
struct Body<'a> {
    field: &'a Field,
    pose: &'a Pose,
    stiffness: f64,
}

impl Body<'_> {
    /// Returns the order in which two bodies are searched: it does not depend on which of them is A, and so neither do the
    /// roundings of the answer.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let key = |body: &Self| {
            let (bounds, turn, at) = (body.field.bounds(), body.pose.rotation.coords, body.pose.translation.vector);
            [bounds.min, bounds.max, at, turn.xyz(), Vec3::new(turn.w, body.stiffness, 0.0)]
        };
        let (own, other) = (key(self), key(other));
        let pairs = own.iter().flatten().zip(other.iter().flatten());
        pairs.map(|(p, q)| p.total_cmp(q)).find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    }

    fn extent(&self) -> f64 {
        self.field.bounds().extents().max()
    }
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

/// Integrals over a region that depend on its force and its centre, in the frame of the grid.
#[derive(Clone, Copy, Default)]
struct Details {
    /// ∫ p r dA, where r is the distance from the centre across the normal.
    arm: f64,
    /// ∫ k dA, ∫ k x dA and ∫ k x xᵀ dA, where k is the change of the pressure along the normal by an approach along it.
    stiffness: f64,
    first: Vec3,
    second: Matrix3<f64>,
}

/// Returns the contact patches of two bodies at two poses, that with the largest force first. Both need a field with an inside.
/// The answer lives in the workspace until its next use.
///
/// The grid of the contact surface is fixed in the world: the answer changes continuously as the bodies move, and exchanging them
/// changes signs alone. It changes by the error of the resolution when both bodies are moved together. Regions that
/// come closer than a cell are one. Without a resolution, cells are twice as large, or four times and so on, where there would be
/// too many.
///
/// # Errors
/// `Unsupported` for a body without a field, for sheets, for two infinite bodies, and where no place has the same pressure from
/// both though they overlap: one of them is wholly inside the other, or is the same body in the same place. `InvalidArgument` for
/// settings or poses out of range, and for a resolution that takes too many cells.
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
    let [stiffness_a, stiffness_b] = settings.stiffness;
    let a = Body { field: field("A", &a)?, pose: pose_a, stiffness: stiffness_a };
    let b = Body { field: field("B", &b)?, pose: pose_b, stiffness: stiffness_b };
    let extent = a.extent().min(b.extent());
    if !extent.is_finite() {
        return Err(Error::Unsupported("both bodies are infinite, and so is their overlap".into()));
    }
    workspace.clear();
    workspace.is_turned = a.order(&b).is_gt();
    let bodies = if workspace.is_turned { [b, a] } else { [a, b] };
    let surface = PatchSettings { stiffness: bodies.map(|body| body.stiffness), ..*settings }.surface();
    workspace.surface = Some(surface);
    let is_default = settings.resolution == 0.0;
    let mut spacing = if is_default { extent / DEFAULT_CELLS } else { settings.resolution };
    while let Some(overlap) = Overlap::new(bodies.map(|body| (body.field, body.pose)), surface, spacing)? {
        let met = workspace.find(&overlap);
        if !met.too_many {
            if workspace.patches.is_empty() && (met.inside || met.alike) {
                return Err(no_surface(&met));
            }
            break;
        }
        workspace.clear();
        if !is_default {
            return Err(too_fine(spacing));
        }
        spacing *= 2.0;
    }
    Ok(&workspace.patches)
}

/// Returns the error of bodies that overlap and press on each other nowhere.
fn no_surface(met: &Met) -> Error {
    let what = match met.alike {
        true => "the bodies coincide, so that both are as deep everywhere",
        false => "one body is wholly inside the other",
    };
    let next =
        "and no surface divides them; expected bodies that overlap in part (a query for contacts tells the way out)";
    Error::Unsupported(format!("{what}, {next}"))
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

    /// Iterates over the flat pieces of a patch of the last query, by its index: the map of its pressure.
    pub fn cells(&self, patch: usize) -> impl Iterator<Item = PatchCell> + '_ {
        let region = self.order.get(patch).copied();
        let (surface, sign) = (self.surface, self.sign());
        let own = self.polygons.iter().filter(move |p| region.is_some_and(|r| self.regions.of(p) == r));
        own.zip(surface.into_iter().cycle()).map(move |(polygon, surface)| {
            let (mut area, mut moment, mut force) = (0.0, Vec3::zeros(), 0.0);
            for [a, b, c] in polygon.corner_triangles() {
                let own = 0.5 * (b.at - a.at).cross(&(c.at - a.at)).norm();
                area += own;
                moment += (a.at + b.at + c.at) * (own / 3.0);
                force += own * surface.pressure((a.overlap + b.overlap + c.overlap) / 3.0);
            }
            let (center, pressure) =
                if area > 0.0 { (moment / area, force / area) } else { (polygon.corners[0].at, 0.0) };
            PatchCell { center: center + self.origin, normal: polygon.normal * sign, area, pressure }
        })
    }

    fn clear(&mut self) {
        self.leaves.clear();
        self.polygons.clear();
        self.patches.clear();
        self.order.clear();
    }

    /// Returns the sign of directions from A to B, which are found from the first body to the second.
    fn sign(&self) -> f64 {
        if self.is_turned {
            -1.0
        } else {
            1.0
        }
    }

    /// Finds the patches, unless there are too many cells.
    fn find(&mut self, overlap: &Overlap) -> Met {
        let Self { scratch, leaves, polygons, cuts, regions, .. } = self;
        let met = overlap.cells(scratch, leaves);
        if met.too_many {
            return met;
        }
        overlap.polygons(leaves, scratch, polygons);
        overlap.cut(scratch, cuts, polygons);
        let count = regions.find(leaves, polygons, overlap);
        self.integrate(overlap, count);
        self.origin = overlap.origin;
        self.spacing = overlap.spacing;
        met
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
        sums.resize_guarded(regions, Sum::default());
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
        self.integrate_details(overlap);
        let sign = self.sign();
        let Self { sums, details, order, .. } = self;
        order.extend_guarded((0..regions as u32).filter(|r| sums[*r as usize].pressure > 0.0));
        let size = |r: &u32| sums[*r as usize].force.norm_squared();
        order.sort_unstable_by(|r, s| size(s).total_cmp(&size(r)).then(r.cmp(s)));
        let patch = |r: &u32| sums[*r as usize].patch(&details[*r as usize], &overlap.origin, sign);
        self.patches.extend_guarded(order.iter().map(patch));
    }

    /// Integrates over the polygons of each region what depends on the sums. Pressures are still those of the midpoints; the
    /// change of the pressure may be infinite on the outline, and is taken within the triangles, where the overlap is linear.
    fn integrate_details(&mut self, overlap: &Overlap) {
        let Self { scratch, polygons, sums, details, .. } = self;
        details.clear();
        details.resize_guarded(sums.len(), Details::default());
        let mut next = 0;
        for polygon in polygons.iter() {
            let region = self.regions.of(polygon) as usize;
            let (details, center, normal) = (&mut details[region], sums[region].center(), sums[region].normal());
            let along = polygon.normal.dot(&normal);
            for [a, b, c] in polygon.corner_triangles() {
                let area = 0.5 * (b.at - a.at).cross(&(c.at - a.at)).norm();
                for p in midpoints(&[a.at, b.at, c.at]) {
                    let depth = -f64::from(scratch.phi[0][next]) - f64::from(scratch.phi[1][next]);
                    next += 1;
                    details.arm += (p - center).cross(&normal).norm() * overlap.surface.pressure(depth) * area / 3.0;
                }
                for [o, p, q] in [[a, b, c], [b, c, a], [c, a, b]] {
                    let mix = |x: f64, y: f64, z: f64| (4.0 * x + y + z) / 6.0;
                    let depth = mix(o.overlap, p.overlap, q.overlap);
                    let place = (o.at * 4.0 + p.at + q.at) / 6.0;
                    let stiffness = overlap.surface.slope(depth) * along * along * area / 3.0;
                    details.stiffness += stiffness;
                    details.first += place * stiffness;
                    details.second += place * place.transpose() * stiffness;
                }
            }
        }
    }
}

impl Sum {
    fn center(&self) -> Vec3 {
        self.moment / self.pressure
    }

    fn normal(&self) -> Vec3 {
        self.force.try_normalize(0.0).unwrap_or_else(Vec3::y)
    }

    /// `sign` is that of [`PatchWorkspace::sign`].
    fn patch(&self, details: &Details, origin: &Vec3, sign: f64) -> Patch {
        let center = self.center();
        let is_stiff = details.stiffness > 0.0;
        let middle = if is_stiff { details.first / details.stiffness } else { center };
        let moments =
            if is_stiff { details.second / details.stiffness - middle * middle.transpose() } else { Matrix3::zeros() };
        let moment = |i: usize, j: usize| if i == j { moments[(i, j)].max(0.0) } else { moments[(i, j)] };
        Patch {
            area: self.area,
            force: self.force * sign,
            torque: (self.torque - center.cross(&self.force)) * sign,
            center: center + origin,
            normal: self.normal() * sign,
            mean_pressure: self.pressure / self.area,
            max_pressure: self.largest,
            friction_arm: details.arm / self.pressure,
            stiffness: details.stiffness,
            stiffness_center: middle + origin,
            stiffness_moments: [moment(0, 0), moment(1, 1), moment(2, 2), moment(0, 1), moment(0, 2), moment(1, 2)],
        }
    }
}

fn midpoints(t: &[Vec3; 3]) -> [Vec3; 3] {
    [0, 1, 2].map(|i| (t[i] + t[(i + 1) % 3]) * 0.5)
}

impl Polygon {
    fn triangles(&self) -> impl Iterator<Item = [Vec3; 3]> + '_ {
        self.corner_triangles().map(|t| t.map(|corner| corner.at))
    }

    fn corner_triangles(&self) -> impl Iterator<Item = [Corner; 3]> + '_ {
        let indices: Range<usize> = 1..self.count.saturating_sub(1).max(1);
        indices.map(|i| [self.corners[0], self.corners[i], self.corners[i + 1]])
    }
}
