//! The parts of a segment inside a shape.

use super::check::{self, Growable};
use super::guard::entry;
use super::handle;
use super::record::argument::list;
use super::shape::field_of;
use super::status::*;
use super::types::*;
use crate::ccd::segment::{self, Segment};

/// All passages of each cell, by the exact roots of the interpolant along the segment (Xu & Barbič 2016, section 3.1): none
/// is missed.
pub const VXS_SEGMENT_EXACT: u32 = 0;
/// At most one passage of each cell, by five steps of false position (Xu & Barbič 2014, equation 2). For comparison: it
/// misses intervals that begin and end in one cell, and may take a later passage for the first. Needs a field on a grid.
pub const VXS_SEGMENT_BISECTION: u32 = 1;

/// Settings of a query of a segment. Fill it with `vxs_segment_query_init`, then change fields as needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vxs_segment_query {
    /// `sizeof(vxs_segment_query)`, set by `vxs_segment_query_init`.
    pub struct_size: u32,
    /// One of `VXS_SEGMENT_`. Default VXS_SEGMENT_EXACT.
    pub method: u32,
    /// Points count as inside where their signed distance is at most this, metres. Default 0. With the radius of a ball
    /// it gives the times at which a ball on the segment touches the shape. May be negative.
    pub level: f64,
}

/// A part of a segment.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct vxs_interval {
    /// Fractions of the segment, 0 to 1, at which the part begins and ends.
    pub from: f64,
    pub to: f64,
}

impl Growable for vxs_segment_query {
    const ARGUMENT: &'static str = "query";
    const SIZES: &'static [usize] = &[size_of::<Self>()];
    const NULLABLE: bool = true;

    fn defaults() -> Self {
        Self { struct_size: 0, method: VXS_SEGMENT_EXACT, level: 0.0 }
    }
}

/// Fills `query` with the defaults: the surface itself, exactly.
///
/// @param[out] query  the struct to fill
/// @param size        `sizeof(vxs_segment_query)`
/// @return VXS_OK, VXS_INVALID_ARGUMENT (null, or a size that no release had)
#[no_mangle]
pub unsafe extern "C" fn vxs_segment_query_init(query: *mut vxs_segment_query, size: usize) -> vxs_status {
    entry!(vxs_segment_query_init, [], { check::init(query, size, vxs_segment_query::defaults()) })
}

/// Finds the parts of a segment that are inside a shape, in order: the colliding intervals of a point that moves along
/// the segment (Xu & Barbič 2014, section 3.1). Needs a field; allocates nothing; as exact as `vxs_shape_query_segment`.
///
/// @param shape           the shape
/// @param from, to        ends of the segment, metres, body frame
/// @param query           the level and the method; null for the defaults
/// @param[out] intervals  at most `capacity`, the first ones; may be null if `capacity` is 0
/// @param[out] count      number of intervals, even if it exceeds `capacity`
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `*count` tells the number), VXS_INVALID_ARGUMENT,
///         VXS_INVALID_HANDLE,
///         VXS_UNSUPPORTED (no field, or VXS_SEGMENT_BISECTION and a field that is not a grid)
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_query_intervals(
    shape: *const vxs_shape,
    from: vxs_vec3,
    to: vxs_vec3,
    query: *const vxs_segment_query,
    intervals: *mut vxs_interval,
    capacity: usize,
    count: *mut usize,
) -> vxs_status {
    entry!(
        fast(vxs_shape_query_intervals(shape, from, to, query, list(intervals, capacity, count), capacity, count)),
        [shape],
        {
            let value = handle::get("shape", shape)?;
            let (from, to) = (check::point("from", from)?, check::point("to", to)?);
            let query = vxs_segment_query::read(query)?;
            let level = check::coordinate("query->level", query.level)?;
            let bisection = check::choice("query->method", query.method, "VXS_SEGMENT_", &[false, true])?;
            check::out_array("intervals", intervals, "capacity", capacity)?;
            check::out("count", count)?;
            let field = field_of(value)?;
            let mut found = 0;
            let on = |[from, to]: [f64; 2]| {
                if found < capacity {
                    intervals.add(found).write(vxs_interval { from, to });
                }
                found += 1;
            };
            let along = Segment::new(from, to);
            if bisection {
                segment::intervals_by_bisection(field, &along, level, on)?;
            } else {
                segment::intervals(field, &along, level, on);
            }
            count.write(found);
            Ok(if found > capacity { VXS_TRUNCATED } else { VXS_OK })
        }
    )
}
