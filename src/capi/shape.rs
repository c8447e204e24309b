//! Inspecting, sharing and releasing a shape.

use super::check::{self, Growable};
use super::guard::{entry, Failure};
use super::handle;
use super::query_options::COVERAGES;
use super::record::argument::{list, whole, Array};
use super::shape_info::*;
use super::status::*;
use super::types::*;
use crate::asset::Shape;
use crate::ccd::segment::{self, Segment, SegmentHit, Start};
use crate::field::Field;
use crate::math::Vec3;

/// Creates another handle to the same shape; no data is copied. Each handle is released separately.
///
/// @param shape     the shape
/// @param[out] out  the new handle
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_retain(shape: *const vxs_shape, out: *mut *mut vxs_shape) -> vxs_status {
    entry!(vxs_shape_retain(shape, out), [shape], {
        let value = handle::get("shape", shape)?;
        handle::create("out", out, value.clone())
    })
}

/// Releases a handle. The data is freed with its last owner.
///
/// @param shape  may be null, which does nothing
/// @return VXS_OK, VXS_INVALID_HANDLE (released before, or not a shape)
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_release(shape: *mut vxs_shape) -> vxs_status {
    entry!(vxs_shape_release(shape), [], { handle::release("shape", shape) })
}

/// Prepares a shape for queries with VXS_COVERAGE_EDGES or VXS_COVERAGE_FACETS: builds the exact surface of its mesh.
/// Otherwise the first such query does so, which takes a few microseconds per triangle and allocates memory in the middle
/// of a step. Does nothing for a shape without a closed mesh, for a shape that is prepared, and where the coverage needs no
/// surface. Any number of threads may call this and use the shape at once. Handles to the same shape share the surface;
/// asset files do not contain it.
///
/// @param shape     the shape
/// @param coverage  one of VXS_COVERAGE_: that of the queries
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_OUT_OF_MEMORY
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_prepare_coverage(shape: *const vxs_shape, coverage: u32) -> vxs_status {
    entry!(vxs_shape_prepare_coverage(shape, coverage), [shape], {
        let shape = handle::get("shape", shape)?;
        let coverage = check::choice("coverage", coverage, "VXS_COVERAGE_", &COVERAGES)?;
        shape.geometry_for(coverage.of_surfaces())?;
        Ok(VXS_OK)
    })
}

/// Prepares a shape for queries with `extremes_only`: finds the samples at the corners of the convex hull. Otherwise the
/// first such query does so, which takes tens of milliseconds and allocates memory in the middle of a step. Does nothing for a
/// shape without a pointshell, and for a shape that is prepared. Any number of threads may call this and use the shape at
/// once. Handles to the same shape share the result; asset files do not contain it.
///
/// @param shape  the shape
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_prepare_extremes(shape: *const vxs_shape) -> vxs_status {
    entry!(vxs_shape_prepare_extremes(shape), [shape], {
        handle::get("shape", shape)?.prepare_extremes();
        Ok(VXS_OK)
    })
}

/// Gets the box around all forms of a shape; body frame. It is infinite where the shape is infinite.
///
/// @param shape        the shape
/// @param[out] bounds  the box, metres
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_get_bounds(shape: *const vxs_shape, bounds: *mut vxs_aabb) -> vxs_status {
    entry!(vxs_shape_get_bounds(shape, bounds), [shape], {
        let value = handle::get("shape", shape)?;
        check::out("bounds", bounds)?;
        let b = value.bounds();
        check::write(bounds, vxs_aabb { min: b.min.into(), max: b.max.into() })
    })
}

/// Gets the mass properties, for uniform density, of the volume that the field calls inside. Repeated triangles count
/// once, pieces that face inward are turned, overlapping pieces unite, and a shell within another is a cavity if it is
/// wound in the opposite direction. The properties are exact for closed meshes, and estimated from the field for open ones and for
/// those that meet themselves in so many places that it would take seconds. The volume and the principal moments are positive, and
/// no moment is larger than the sum of the other two.
///
/// @param shape      the shape
/// @param[out] mass  volume, centre of mass and inertia, body frame
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED (it has neither a volume nor a cooked field)
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_get_mass_properties(
    shape: *const vxs_shape,
    mass: *mut vxs_mass_properties,
) -> vxs_status {
    entry!(vxs_shape_get_mass_properties(shape, mass), [shape], {
        let value = handle::get("shape", shape)?;
        check::out("mass", mass)?;
        let m = value.mass.ok_or_else(|| {
            Failure::unsupported("shape has no mass properties; expected one cooked from a mesh that encloses a volume")
        })?;
        let center_of_mass = crate::math::Vec3::from(m.center_of_mass).into();
        check::write(mass, vxs_mass_properties { volume: m.volume, center_of_mass, inertia: m.inertia, exact: m.exact })
    })
}

/// Gets the forms of a shape and their accuracy.
///
/// @param shape      the shape
/// @param[out] info  prepared by `vxs_shape_info_init`
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_get_info(shape: *const vxs_shape, info: *mut vxs_shape_info) -> vxs_status {
    entry!(vxs_shape_get_info(shape, info), [shape], {
        let value = handle::get("shape", shape)?;
        vxs_shape_info::of(value).write(info)
    })
}

/// Gets the triangles of a shape, for drawing; body frame. Both arrays are written if both are large enough, otherwise
/// neither.
///
/// @param shape              the shape
/// @param[out] vertices      metres; may be null if `vertex_capacity` is 0
/// @param[out] vertex_count  number of vertices
/// @param[out] indices       three per triangle, counter-clockwise seen from outside; may be null if `index_capacity` is 0
/// @param[out] index_count   number of indices: three times the number of triangles
/// @return VXS_OK, VXS_TRUNCATED (the counts tell the needed sizes), VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE,
///         VXS_UNSUPPORTED (a shape without triangles)
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_get_triangles(
    shape: *const vxs_shape,
    vertices: *mut vxs_vec3,
    vertex_capacity: usize,
    vertex_count: *mut usize,
    indices: *mut u32,
    index_capacity: usize,
    index_count: *mut usize,
) -> vxs_status {
    entry!(
        vxs_shape_get_triangles(
            shape,
            whole(vertices, (vertex_capacity, vertex_count), (index_capacity, index_count)),
            vertex_capacity,
            vertex_count,
            whole(indices, (index_capacity, index_count), (vertex_capacity, vertex_count)),
            index_capacity,
            index_count
        ),
        [shape],
        {
            let value = handle::get("shape", shape)?;
            check::out_array("vertices", vertices, "vertex_capacity", vertex_capacity)?;
            check::out("vertex_count", vertex_count)?;
            check::out_array("indices", indices, "index_capacity", index_capacity)?;
            check::out("index_count", index_count)?;
            let mesh = value
                .mesh
                .as_deref()
                .ok_or_else(|| Failure::unsupported("shape has no triangles; expected one made from a mesh"))?;
            let needed = (mesh.vertices.len(), 3 * mesh.triangles.len());
            vertex_count.write(needed.0);
            index_count.write(needed.1);
            if vertex_capacity < needed.0 || index_capacity < needed.1 {
                return Ok(VXS_TRUNCATED);
            }
            for (i, v) in mesh.vertices.iter().enumerate() {
                vertices.add(i).write(vxs_vec3 { x: v[0], y: v[1], z: v[2] });
            }
            for (i, index) in mesh.triangles.iter().flatten().enumerate() {
                indices.add(i).write(*index);
            }
            Ok(VXS_OK)
        }
    )
}

/// Gets the segments into which a level of the sphere tree divides the samples of a shape, with the numbers of
/// `VXS_SEGMENTATION_LEVEL`. The samples of a segment have consecutive numbers. For hosts that group contacts
/// themselves.
///
/// @param shape        the shape
/// @param level        0 for the root of the tree, which is one segment; a level beyond the last one means the last one
/// @param[out] first   the first sample of each segment, ascending, at most `capacity`; the last segment ends with the
///                     last sample. May be null if `capacity` is 0
/// @param capacity     number of elements in `first`
/// @param[out] count   number of segments, even if it exceeds `capacity`
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `*count` tells the number), VXS_INVALID_ARGUMENT,
///         VXS_INVALID_HANDLE,
///         VXS_UNSUPPORTED (a shape without a pointshell)
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_get_segments(
    shape: *const vxs_shape,
    level: u32,
    first: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> vxs_status {
    entry!(vxs_shape_get_segments(shape, level, list(first, capacity, count), capacity, count), [shape], {
        let value = handle::get("shape", shape)?;
        let list = check::list("first", first, capacity, count)?;
        let shell = value
            .shell
            .as_deref()
            .ok_or_else(|| Failure::unsupported("shape has no pointshell, whose samples segments are made of"))?;
        list.write(shell.tree.segments(level).iter().copied())
    })
}

/// Finds the first intersection of a segment with a shape. Needs a field; allocates nothing. The search is exact up to
/// the rounding of coordinates: it never misses an intersection, even if the segment only grazes the shape or crosses
/// its thinnest part. A sheet is hit from either side. Only the sign around the holes of an open mesh
/// (VXS_FIELD_TRIANGLES) is sampled, at thousandths of the mesh's size.
///
/// @param shape     the shape
/// @param from, to  ends of the segment, metres, body frame
/// @param[out] hit  the intersection
/// @return VXS_OK (also without a hit: see `hit->hit`), VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_query_segment(
    shape: *const vxs_shape,
    from: vxs_vec3,
    to: vxs_vec3,
    hit: *mut vxs_segment_hit,
) -> vxs_status {
    entry!(fast(vxs_shape_query_segment(shape, from, to, hit)), [shape], {
        let value = handle::get("shape", shape)?;
        let (from, to) = (check::point("from", from)?, check::point("to", to)?);
        check::out("hit", hit)?;
        let field = field_of(value)?;
        let segment = Segment::new(from, to);
        let found = segment::first_hit(field, &segment, 0.0, Start::Hit);
        check::write(hit, found.into())
    })
}

/// Finds the first intersection of each of many segments with a shape. The hits are those of `vxs_shape_query_segment`,
/// found in less time.
///
/// @param shape      the shape
/// @param from, to   ends of the segments, metres, body frame; `count` of each
/// @param count      number of segments
/// @param[out] hits  `count`, in the order of the segments
/// @return VXS_OK, VXS_INVALID_ARGUMENT, VXS_INVALID_HANDLE, VXS_UNSUPPORTED
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_query_segments(
    shape: *const vxs_shape,
    from: *const vxs_vec3,
    to: *const vxs_vec3,
    count: usize,
    hits: *mut vxs_segment_hit,
) -> vxs_status {
    entry!(
        fast(vxs_shape_query_segments(shape, Array(from, count), Array(to, count), count, Array(hits, count))),
        [shape],
        {
            const BATCH: usize = 64;
            let value = handle::get("shape", shape)?;
            let (from, to) = (check::slice("from", from, "count", count)?, check::slice("to", to, "count", count)?);
            check::out_array("hits", hits, "count", count)?;
            let field = field_of(value)?;
            // Checks all points before it writes the first output.
            for (name, ends) in [("from", from), ("to", to)] {
                for (i, p) in ends.iter().enumerate() {
                    check::point(format_args!("{name}[{i}]"), *p)?;
                }
            }
            let point = |p: &vxs_vec3| Vec3::new(p.x, p.y, p.z);
            let mut segments = [Segment::new(Vec3::zeros(), Vec3::zeros()); BATCH];
            let mut fractions = [None; BATCH];
            for (batch, (from, to)) in from.chunks(BATCH).zip(to.chunks(BATCH)).enumerate() {
                let n = from.len();
                for (segment, (from, to)) in segments.iter_mut().zip(from.iter().zip(to)) {
                    *segment = Segment::new(point(from), point(to));
                }
                segment::first_fractions(field, &segments[..n], 0.0, Start::Hit, &mut fractions[..n]);
                for i in 0..n {
                    let hit = fractions[i].map(|t| segment::hit(field, &segments[i], t));
                    hits.add(batch * BATCH + i).write(hit.into());
                }
            }
            Ok(VXS_OK)
        }
    )
}

/// Finds all crossings of a segment with the surface of a shape, in order. The segment enters the shape where `normal`
/// opposes it, and leaves the shape elsewhere. A segment that starts inside leaves first, and a segment that only
/// touches the surface enters and leaves at once. A sheet is crossed once at every triangle along the segment, and once
/// at an edge that triangles share. Needs a field; allocates nothing; as exact as `vxs_shape_query_segment`.
///
/// @param shape           the shape
/// @param from, to        ends of the segment, metres, body frame
/// @param[out] crossings  at most `capacity`, the first ones; may be null if `capacity` is 0
/// @param[out] count      number of crossings, even if it exceeds `capacity`
/// @return VXS_OK, VXS_TRUNCATED (more than `capacity`: `*count` tells the number), VXS_INVALID_ARGUMENT,
///         VXS_INVALID_HANDLE,
///         VXS_UNSUPPORTED
#[no_mangle]
pub unsafe extern "C" fn vxs_shape_query_crossings(
    shape: *const vxs_shape,
    from: vxs_vec3,
    to: vxs_vec3,
    crossings: *mut vxs_segment_hit,
    capacity: usize,
    count: *mut usize,
) -> vxs_status {
    entry!(
        fast(vxs_shape_query_crossings(shape, from, to, list(crossings, capacity, count), capacity, count)),
        [shape],
        {
            let value = handle::get("shape", shape)?;
            let (from, to) = (check::point("from", from)?, check::point("to", to)?);
            check::out_array("crossings", crossings, "capacity", capacity)?;
            check::out("count", count)?;
            let field = field_of(value)?;
            let mut found = 0;
            segment::crossings(field, &Segment::new(from, to), 0.0, |h| {
                if found < capacity {
                    crossings.add(found).write(Some(h).into());
                }
                found += 1;
            });
            count.write(found);
            Ok(if found > capacity { VXS_TRUNCATED } else { VXS_OK })
        }
    )
}

pub(super) fn field_of(shape: &Shape) -> Result<&Field, Failure> {
    let missing = || Failure::unsupported("shape has no field, which a segment query needs");
    shape.field.as_deref().ok_or_else(missing)
}

impl From<Option<SegmentHit>> for vxs_segment_hit {
    fn from(hit: Option<SegmentHit>) -> Self {
        let nan = vxs_vec3 { x: f64::NAN, y: f64::NAN, z: f64::NAN };
        match hit {
            Some(h) => Self { fraction: h.fraction, point: h.point.into(), normal: h.normal.into(), hit: true },
            None => Self { fraction: f64::NAN, point: nan, normal: nan, hit: false },
        }
    }
}
