//! A segment against triangles and other surfaces that are not convex: a mesh or a sheet by rays, levels off them and exact
//! distances by certified steps.

use std::ops::ControlFlow;

use super::types::Segment;
use voxshell_base::math::Vec3;
use voxshell_field::{ExactField, Field, MeshField, Sheet, SignedDistance};
use voxshell_mesh::{Bvh, FeaturedTriangles};

type Flow = ControlFlow<()>;

/// Shortest step along a segment, in sizes of the shape plus its level: a thinner passage at a level other than 0, or
/// around the hole of an open mesh, may be missed. The region within a level is as wide as the level, so that a
/// segment along it takes some thousand steps.
const RESOLUTION: f64 = 1e-5;
/// Largest step around an open mesh, in sizes of the shape: its sign also changes where its winding number passes one
/// half, which no distance announces.
const OPEN_RESOLUTION: f64 = 1e-3;

/// Returns the parameters at which the segment meets triangles, ascending; once where it passes through an edge that
/// triangles share.
fn hits<'a>(bvh: &'a Bvh, segment: &'a Segment) -> impl Iterator<Item = f64> + 'a {
    let displacement = segment.displacement();
    // Neighbours meet the segment on their edge at parameters that differ by rounding.
    let same = 1e-13 + 1e-15 * segment.from.norm() / displacement.norm();
    let mut after = f64::NEG_INFINITY;
    std::iter::from_fn(move || {
        let (t, _) = bvh.ray_next_hit(segment.from, displacement, after, 1.0)?;
        after = t + same;
        Some(t)
    })
}

/// Reports the passages of `level`; `on` is as in [`grid::walk`](super::grid::walk).
pub(super) fn mesh(field: &MeshField, segment: &Segment, level: f64, on: impl FnMut(f64, bool) -> Flow) -> Flow {
    if level != 0.0 || !field.is_closed() {
        let resolution = if field.is_closed() { f64::INFINITY } else { OPEN_RESOLUTION };
        let size = field.bounds().extents().amax() + level.abs();
        return march(segment, size, resolution, |t| field.signed(segment.at(t)) - level, on);
    }
    triangles(field.bvh(), |p| field.inside(p), segment, field.signed(segment.from) <= 0.0, on)
}

/// Reports the passages of `level` of a field that is exact near the surface. Where the exact distance is at most
/// [`ExactField::exact_to`], the points at or below a level are those of the exact distance.
pub(super) fn exact(field: &ExactField, segment: &Segment, level: f64, on: impl FnMut(f64, bool) -> Flow) -> Flow {
    let surface = field.surface();
    if level == 0.0 {
        let below = surface.signed(segment.from) <= 0.0;
        return triangles(surface.bvh(), |p| surface.contains(p), segment, below, on);
    }
    if level.abs() <= field.exact_to() {
        let size = surface.bounds().extents().amax() + level.abs();
        return march(segment, size, f64::INFINITY, |t| surface.signed(segment.at(t)) - level, on);
    }
    // φ may be steeper than 1 there, and differ from the distance by less than a voxel.
    let steepest = f64::from(field.lipschitz());
    let reach = level.max(0.0) + f64::from(field.voxel_size());
    clipped(field, segment, reach, field.bounds().extents().amax() + level.abs(), |phi| (phi - level) / steepest, on)
}

/// Reports the passages through the triangles of a closed surface; `below` is whether the segment starts at or below
/// it.
fn triangles(
    bvh: &Bvh,
    inside: impl Fn(Vec3) -> bool,
    segment: &Segment,
    mut below: bool,
    mut on: impl FnMut(f64, bool) -> Flow,
) -> Flow {
    if below {
        on(0.0, true)?;
    }
    let mut hits = hits(bvh, segment).peekable();
    while let Some(t) = hits.next() {
        let next = hits.peek().copied().unwrap_or(1.0);
        let after = inside(segment.at(0.5 * (t + next)));
        if after != below {
            below = after;
            on(t, below)?;
        } else if !below {
            // The segment only touches the surface there.
            on(t, true)?;
            on(t, false)?;
        }
    }
    Flow::Continue(())
}

/// Reports the passages of `level`, which a sheet reaches from both sides.
pub(super) fn sheet(sheet: &Sheet, segment: &Segment, level: f64, mut on: impl FnMut(f64, bool) -> Flow) -> Flow {
    if level < 0.0 {
        return Flow::Continue(());
    }
    if level > 0.0 {
        let size = sheet.bounds().extents().amax() + level;
        let distance = |t: f64| sheet.bvh().closest_point(segment.at(t)).distance_squared.sqrt() - level;
        // The steps could pass a layer that is thinner than they are.
        return march_to(hits(sheet.bvh(), segment), segment, size, f64::INFINITY, distance, on);
    }
    for t in hits(sheet.bvh(), segment) {
        on(t, true)?;
        on(t, false)?;
    }
    Flow::Continue(())
}

/// Finds the passages of `level` in the exact distance of a shape that is not convex; see [`march`].
pub(super) fn distance(field: &Field, segment: &Segment, level: f64, on: impl FnMut(f64, bool) -> Flow) -> Flow {
    let size = field.bounds().extents().amax() + level.abs();
    clipped(field, segment, level.max(0.0), size, |phi| phi - level, on)
}

/// Finds the passages of 0 in `off`(φ), which changes by at most a metre per metre, and is positive farther than
/// `reach` from the box of the shape.
fn clipped(
    field: &impl SignedDistance,
    segment: &Segment,
    reach: f64,
    size: f64,
    off: impl Fn(f64) -> f64,
    mut on: impl FnMut(f64, bool) -> Flow,
) -> Flow {
    // Far away, the rounding of a distance in f32 exceeds the size of the shape: a step by it could pass the shape.
    let near = field.bounds().inflated(reach);
    let Some((start, end)) = segment.clip(&near, field.error_bound()) else { return Flow::Continue(()) };
    let clipped = Segment { from: segment.at(start), to: segment.at(end) };
    let at = |t: f64| {
        let p = clipped.at(t);
        off(f64::from(field.distance((p - field.local_origin(&p)).map(|x| x as f32).into())))
    };
    march(&clipped, size, f64::INFINITY, at, |t, below| on(start + t * (end - start), below))
}

/// Advances by |distance − level|, at most by `longest` and at least by [`RESOLUTION`], both in sizes of the shape.
fn march(
    segment: &Segment,
    size: f64,
    longest: f64,
    off: impl Fn(f64) -> f64,
    on: impl FnMut(f64, bool) -> Flow,
) -> Flow {
    march_to(std::iter::empty(), segment, size, longest, off, on)
}

/// As [`march`], with times, ascending, at which the segment is at or below the level.
fn march_to(
    below: impl Iterator<Item = f64>,
    segment: &Segment,
    size: f64,
    longest: f64,
    off: impl Fn(f64) -> f64,
    mut on: impl FnMut(f64, bool) -> Flow,
) -> Flow {
    let length = segment.displacement().norm();
    let mut below = below.peekable();
    let (mut t, mut value) = (0.0, off(0.0));
    if below.next_if(|first| *first <= 0.0).is_some() {
        value = value.min(0.0);
    }
    if value <= 0.0 {
        on(0.0, true)?;
    }
    while t < 1.0 && length > 0.0 {
        let step = value.abs().max(RESOLUTION * size).min((longest * size).max(value));
        let next = (t + step / length).min(1.0);
        while below.next_if(|time| *time <= t).is_some() {}
        let (next, there) = match below.next_if(|time| *time <= next) {
            Some(time) => (time, off(time).min(0.0)),
            None => (next, off(next)),
        };
        if (there <= 0.0) != (value <= 0.0) {
            let (mut from, mut to) = (t, next);
            while to - from > 1e-15 {
                let middle = 0.5 * (from + to);
                if (off(middle) <= 0.0) == (value <= 0.0) {
                    from = middle;
                } else {
                    to = middle;
                }
            }
            on(to, there <= 0.0)?;
        }
        if next <= t {
            break;
        }
        (t, value) = (next, there);
    }
    Flow::Continue(())
}
