//! A segment against a level of a field: first crossing, all crossings, all colliding intervals, yes or no.
//!
//! Xu & Barbič 2014, section 3.1, without missed hits. Fields on grids are walked cell by cell, and cells are skipped
//! only with a proof ([`crate::ccd`]); a convex shape has one interval, found by Newton's method; triangles are
//! intersected by rays, also those of a grid that is exact near the surface. Only a level other than 0 of these, an
//! open mesh, and the exact distance of a shape that is not convex are sampled, to a hundred-thousandth of the shape's
//! size (a thousandth around the holes of an open mesh).

use std::ops::ControlFlow;

use super::grid;
use super::grid_traversal::{CertifiedStart, Setting};
pub use super::types::Segment;
use super::{convex, surface};
use voxshell_base::math::Vec3;
use voxshell_base::{Error, Result};
use voxshell_field::{Cells, Field, SegmentBatch, Sheet, SignedDistance, CHUNK, NEVER};

/// Report for a segment that starts at or below the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// A hit at 0.
    Hit,
    /// No hit until the segment has left and come back.
    Leave,
}

/// Point where a segment passes a level; body frame, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegmentHit {
    /// Fraction of the segment: 0 at its start (also when it starts inside), 1 at its end.
    pub fraction: f64,
    pub point: Vec3,
    /// Unit direction in which the distance grows; for a sheet, the normal of the triangle by its winding.
    pub normal: Vec3,
}

/// Returns the first point of the segment at which φ ≤ `level` (metres). Allocates nothing.
pub fn first_hit(field: &Field, segment: &Segment, level: f64, start: Start) -> Option<SegmentHit> {
    first_fraction(field, segment, level, start).map(|t| hit(field, segment, t))
}

/// Returns the fraction of [`first_hit`] only.
pub fn first_fraction(field: &Field, segment: &Segment, level: f64, start: Start) -> Option<f64> {
    first_of(start, |on| passages(field, segment, level, on))
}

/// Returns the first passage to below the level that `start` accepts.
#[inline(always)]
fn first_of(
    start: Start,
    passages: impl FnOnce(&mut dyn FnMut(f64, bool) -> ControlFlow<()>) -> ControlFlow<()>,
) -> Option<f64> {
    let mut first = None;
    // Breaks at the first hit; the result is not needed.
    let _ = passages(&mut |t, below| {
        if below && (t > 0.0 || start == Start::Hit) {
            first = Some(t);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    first
}

/// Computes [`first_fraction`] of many segments: `fractions[i]` is the result of `segments[i]`.
///
/// # Panics
/// When the slices differ in length.
pub fn first_fractions(field: &Field, segments: &[Segment], level: f64, start: Start, fractions: &mut [Option<f64>]) {
    assert_eq!(segments.len(), fractions.len(), "a fraction for each segment");
    match field {
        Field::Dense(dense) => first_on_grid(dense, segments, level, start, fractions),
        Field::Bricks(bricks) => first_on_grid(bricks, segments, level, start, fractions),
        _ => {
            let pairs = segments.iter().zip(fractions);
            pairs.for_each(|(s, fraction)| *fraction = first_fraction(field, s, level, start));
        }
    }
}

/// Computes [`first_fractions`] against a grid: in batches up to the region near the surface, then one segment at a
/// time.
fn first_on_grid<C: Cells>(cells: &C, segments: &[Segment], level: f64, start: Start, fractions: &mut [Option<f64>]) {
    // The data that do not depend on the segment, computed once.
    let mut setting = Setting::new(cells, level);
    if let Some(level) = &mut setting.batch_level {
        level.stop_below = start == Start::Hit;
    }
    let mut batch = SegmentBatch::default();
    for (segments, fractions) in segments.chunks(CHUNK).zip(fractions.chunks_mut(CHUNK)) {
        if let Some(level) = &setting.batch_level {
            segments.iter().enumerate().for_each(|(i, s)| setting.put(&mut batch, i, &s.from, &s.to));
            cells.approach(level, &mut batch, segments.len());
        }
        for (i, (s, fraction)) in segments.iter().zip(fractions).enumerate() {
            let certified = CertifiedStart { until: f64::from(batch.certified[i]), side: batch.side[i] };
            *fraction = if certified.side < 0.0 && start == Start::Hit {
                Some(0.0)
            } else if batch.certified[i] == NEVER && certified.side > 0.0 {
                None
            } else {
                first_of(start, |on| grid::walk_on(&setting, &s.from, &s.to, certified, on))
            };
        }
    }
}

/// Returns whether any point of the segment has φ ≤ `level` (metres).
pub fn meets(field: &Field, segment: &Segment, level: f64) -> bool {
    first_fraction(field, segment, level, Start::Hit).is_some()
}

/// Returns whether the whole segment has φ ≤ `level` (metres). False when it comes back to the level at its very end.
pub(super) fn stays_below(field: &Field, segment: &Segment, level: f64) -> bool {
    let start = Segment::new(segment.from, segment.from);
    if !meets(field, &start, level) {
        return false;
    }
    let mut stays = false;
    // Breaks at the first passage above the level; the result is not needed.
    let _ = passages(field, segment, level, |t, below| {
        stays = below && t == 0.0;
        if stays {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    stays
}

/// Calls `on` for every crossing of the level (metres) in order; at a crossing into the shape the normal opposes the
/// segment. The start of a segment inside is no crossing. At a touch the segment enters and leaves at once. A sheet
/// itself (level 0) has no inside: it is crossed once wherever the segment meets it.
pub fn crossings(field: &Field, segment: &Segment, level: f64, mut on: impl FnMut(SegmentHit)) {
    let thin = matches!(field, Field::Sheet(_)) && level == 0.0;
    let _ = passages(field, segment, level, |t, below| {
        if if thin { below } else { !below || t > 0.0 } {
            on(hit(field, segment, t));
        }
        ControlFlow::Continue(())
    });
}

/// Calls `on` for the closed intervals [t, u] of the segment on which φ ≤ `level` (metres), in order: the colliding
/// subintervals of Xu & Barbič 2014, section 3.1.
pub fn intervals(field: &Field, segment: &Segment, level: f64, on: impl FnMut([f64; 2])) {
    below_level(|report| passages(field, segment, level, report), on);
}

/// Calls `on` for the intervals between the passages into and out of the level.
#[inline(always)]
fn below_level(
    passages: impl FnOnce(&mut dyn FnMut(f64, bool) -> ControlFlow<()>) -> ControlFlow<()>,
    mut on: impl FnMut([f64; 2]),
) {
    let mut entered = None;
    // Never breaks.
    let _ = passages(&mut |t, below| {
        if below {
            entered = Some(t);
        } else if let Some(from) = entered.take() {
            on([from, t]);
        }
        ControlFlow::Continue(())
    });
    if let Some(from) = entered {
        on([from, 1.0]);
    }
}

/// Calls `on` for the intervals of [`intervals`] as the bisection of Xu & Barbič (2014, equation 2) finds them: a cell
/// holds at most one passage, where φ at its ends differs in sign, and five steps of false position find it. For
/// comparison: it misses intervals that begin and end in one cell, and of three passages it takes any.
///
/// # Errors
/// [`Error::Unsupported`] for a field that is not a grid.
pub fn intervals_by_bisection(field: &Field, segment: &Segment, level: f64, on: impl FnMut([f64; 2])) -> Result<()> {
    match field {
        Field::Dense(dense) => bisect(dense, segment, level, on),
        Field::Bricks(bricks) => bisect(bricks, segment, level, on),
        _ => return Err(Error::Unsupported("bisection needs a field on a grid, whose cells it bisects".into())),
    }
    Ok(())
}

fn bisect<C: Cells>(cells: &C, segment: &Segment, level: f64, on: impl FnMut([f64; 2])) {
    let mut setting = Setting::new(cells, level);
    setting.bisection = true;
    below_level(|report| grid::walk(&setting, &segment.from, &segment.to, report), on);
}

/// Calls `on(t, below)` where φ passes the level, in order, until it breaks; `below` alternates between true and
/// false. A start at or below the level is a passage at 0.
fn passages(
    field: &Field,
    segment: &Segment,
    level: f64,
    mut on: impl FnMut(f64, bool) -> ControlFlow<()>,
) -> ControlFlow<()> {
    match field {
        Field::Dense(dense) => grid::walk(&Setting::new(dense, level), &segment.from, &segment.to, on),
        Field::Bricks(bricks) => grid::walk(&Setting::new(bricks, level), &segment.from, &segment.to, on),
        Field::Mesh(mesh) => surface::mesh(mesh, segment, level, on),
        Field::Sheet(sheet) => surface::sheet(sheet, segment, level, on),
        Field::Exact(exact) => surface::exact(exact, segment, level, on),
        _ if field.is_convex() => {
            let Some([from, to]) = convex::interval(field, segment, level) else { return ControlFlow::Continue(()) };
            on(from, true)?;
            if to < 1.0 {
                on(to, false)?;
            }
            ControlFlow::Continue(())
        }
        _ => surface::distance(field, segment, level, on),
    }
}

pub fn hit(field: &Field, segment: &Segment, fraction: f64) -> SegmentHit {
    let point = segment.at(fraction);
    let normal = match field {
        Field::Sheet(sheet) => sheet_normal(sheet, &point),
        _ => {
            let p = point - field.local_origin(&point);
            let (_, g) = field.distance_gradient([p.x as f32, p.y as f32, p.z as f32]);
            Vec3::from(g.map(f64::from)).try_normalize(1e-12)
        }
    };
    let back = || (-segment.displacement()).try_normalize(0.0);
    SegmentHit { fraction, point, normal: normal.or_else(back).unwrap_or_else(Vec3::z) }
}

fn sheet_normal(sheet: &Sheet, point: &Vec3) -> Option<Vec3> {
    sheet.normal(sheet.bvh().closest_point(*point).triangle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use voxshell_field::{HalfSpace, Sphere};

    fn first(field: &Field, from: [f64; 3], to: [f64; 3]) -> Option<SegmentHit> {
        first_hit(field, &Segment::new(from.into(), to.into()), 0.0, Start::Hit)
    }

    #[test]
    fn a_segment_meets_a_sphere_where_geometry_says() {
        let field = Field::Sphere(Sphere::new(0.5).unwrap());
        let hit = first(&field, [-3.0, 0.3, 0.0], [5.0, 0.3, 0.0]).unwrap();
        assert!((hit.point.x + 0.4).abs() < 1e-12, "{hit:?}");
        assert!((hit.normal - Vec3::new(-0.8, 0.6, 0.0)).norm() < 1e-6, "{hit:?}");
        assert!((hit.fraction - 2.6 / 8.0).abs() < 1e-12);
        assert_eq!(first(&field, [-3.0, 0.51, 0.0], [5.0, 0.51, 0.0]), None);
        assert_eq!(first(&field, [-3.0, 0.0, 0.0], [-0.6, 0.0, 0.0]), None);
    }

    #[test]
    fn a_segment_that_starts_inside_hits_at_its_start_even_without_length() {
        let field = Field::Sphere(Sphere::new(0.5).unwrap());
        for to in [[0.0; 3], [1.0, 0.0, 0.0]] {
            assert_eq!(first(&field, [0.0; 3], to).unwrap().fraction, 0.0);
        }
        assert_eq!(first(&field, [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]), None);
    }

    #[test]
    fn a_half_space_is_met_far_from_its_origin() {
        let field = Field::HalfSpace(HalfSpace::new(Vec3::z(), 1.0).unwrap());
        let hit = first(&field, [1e6, 0.0, 3.0], [1e6, 0.0, -1.0]).unwrap();
        assert!((hit.fraction - 0.5).abs() < 1e-12, "{hit:?}");
        assert!((hit.normal - Vec3::z()).norm() < 1e-6);
    }
}
