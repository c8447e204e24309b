//! Encoding of the structs of the C API. Structs without pointers are bytes, which are the same on all platforms with
//! 64-bit alignment of f64. The others are written field by field.

use super::argument::*;
use super::file::MOST_BYTES;
use super::sink::{Hash, Sink, Unusable};
use super::source::{Defect, Source};
use crate::capi::batch::*;
use crate::capi::contact_triangles::*;
use crate::capi::cook_options::*;
use crate::capi::haptics_bodies::*;
use crate::capi::haptics_constraints::*;
use crate::capi::haptics_run::*;
use crate::capi::haptics_settings::*;
use crate::capi::haptics_types::*;
use crate::capi::hulls::*;
use crate::capi::impulse::*;
use crate::capi::mesh_motion::*;
use crate::capi::motion::*;
use crate::capi::pair::*;
use crate::capi::patches::*;
use crate::capi::primitive::*;
use crate::capi::query_options::*;
use crate::capi::response::*;
use crate::capi::segment_intervals::*;
use crate::capi::shape_info::*;
use crate::capi::types::*;
use crate::capi::voxelmap::*;
use crate::capi::voxelmap_query::*;
use crate::capi::voxtree::*;
use crate::capi::voxtree_query::*;

/// Structs and numbers whose bytes are all meaningful: no pointers, no padding.
macro_rules! plain {
    ($($type:ident),* $(,)?) => { $(
        impl Content for $type {
            unsafe fn put(pointer: *const Self, sink: &mut Sink, length: usize) {
                put_bytes(pointer, sink, length);
            }
            unsafe fn take(source: &mut Source) -> Result<*const Self, Defect> {
                take_bytes(source)
            }
        }
        impl Target for $type {
            unsafe fn digest(pointer: *const Self, length: usize, hash: &mut Hash) {
                digest_bytes(pointer, length, hash);
            }
        }
    )* };
}

unsafe fn digest_bytes<T>(pointer: *const T, length: usize, hash: &mut Hash) {
    hash.bytes(std::slice::from_raw_parts(pointer.cast(), length * size_of::<T>()));
}

plain!(
    u32,
    i32,
    u64,
    f64,
    vxs_vec3,
    vxs_pose,
    vxs_aabb,
    vxs_twist,
    vxs_wrench,
    vxs_contact,
    vxs_contact_triangles,
    vxs_interval,
    vxs_motion,
    vxs_motion_contact,
    vxs_mesh_pair,
    vxs_mesh_impact,
    vxs_response,
    vxs_mobility,
    vxs_pair_step,
    vxs_impulses,
    vxs_patch,
    vxs_voxelmap_answer,
    vxs_voxel_contact,
    vxs_voxel_pair,
    vxs_voxtree_report,
    vxs_hull_level,
    vxs_hull_distance,
    vxs_hulls_report,
    vxs_device_state,
    vxs_haptics_limits,
    vxs_haptics_faults,
    vxs_haptics_output,
    vxs_haptics_motion,
    vxs_haptics_load,
    vxs_haptics_feel,
    vxs_haptics_body_motion,
    vxs_haptics_rates,
    vxs_haptics_constraint,
);

/// Structs that start with their size, without pointers and without padding.
macro_rules! sized {
    ($($type:ident $(timed by $limit:ident)?),* $(,)?) => { $(
        impl Content for $type {
            unsafe fn put(pointer: *const Self, sink: &mut Sink, _: usize) {
                if put_sized(pointer, sink) {
                    sink.put(std::slice::from_raw_parts(pointer.cast(), size_of::<Self>()));
                }
            }
            unsafe fn take(source: &mut Source) -> Result<*const Self, Defect> {
                let (memory, has_fields) = take_sized::<Self>(source)?;
                if has_fields {
                    let bytes = source.arguments.take(size_of::<Self>()).ok_or_else(Source::short)?;
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.cast(), bytes.len());
                    memory.cast::<u32>().write(size_of::<Self>() as u32);
                    $(source.is_timed |= (*memory).$limit != 0;)?
                }
                Ok(memory)
            }
        }
    )* };
}

sized!(
    vxs_primitive,
    vxs_segment_query,
    vxs_query_limit timed by max_nanoseconds,
    vxs_query_step,
    vxs_penalty,
    vxs_impulse,
    vxs_pair_options,
    vxs_patch_query,
    vxs_voxelmap_options,
    vxs_voxelmap_query timed by max_nanoseconds,
    vxs_voxtree_options,
    vxs_voxtree_query,
    vxs_hulls_options,
    vxs_hulls_query,
    vxs_haptics_run_options,
);

/// Outputs that start with their size, which the caller has set. The fields after `but` hold sizes of memory, which
/// differ between platforms: they have no part in the hash.
macro_rules! reports {
    ($($type:ident $(but $($bytes:ident)+)?),* $(,)?) => { $(
        impl Target for $type {
            unsafe fn put(pointer: *mut Self, sink: &mut Sink, _: usize) {
                put_sized(pointer, sink);
            }
            unsafe fn take(source: &mut Source) -> Result<*mut Self, Defect> {
                take_sized(source).map(|(memory, _)| memory)
            }
            unsafe fn digest(pointer: *const Self, length: usize, hash: &mut Hash) {
                for i in 0..length {
                    #[allow(unused_mut)]
                    let mut value = pointer.add(i).read();
                    $($(value.$bytes = 0;)+)?
                    digest_bytes(&value, 1, hash);
                }
            }
        }
    )* };
}

reports!(
    vxs_query_report,
    vxs_shape_info but field_bytes pointshell_bytes,
    vxs_voxelmap_info but bytes,
    vxs_haptics_report,
    vxs_haptics_run_report,
);

/// Outputs with a size of memory or with padding: only the given fields have a part in the hash.
macro_rules! partial {
    ($($type:ident { $($field:ident),+ }),* $(,)?) => { $(
        impl Target for $type {
            unsafe fn digest(pointer: *const Self, length: usize, hash: &mut Hash) {
                for i in 0..length {
                    let value = &*pointer.add(i);
                    $(digest_bytes(&value.$field, 1, hash);)+
                }
            }
        }
    )* };
}

partial!(
    vxs_mass_properties { volume, center_of_mass, inertia, exact },
    vxs_segment_hit { fraction, point, normal, hit },
    vxs_hulls_info { hull_count, triangle_count, level_count, surface_level_count },
    vxs_voxtree_info {
        voxel_size,
        center,
        root_radius,
        voxel_count,
        inner_count,
        root_level,
        branching,
        solid,
        normals
    },
);

/// Structs inside structs. Those of bodies have a pose.
macro_rules! values {
    ($($type:ident $(at $($pose:ident).*)?),* $(,)?) => { $(
        impl Argument for $type {
            unsafe fn put(self, sink: &mut Sink, _: usize) {
                sink.put(std::slice::from_raw_parts(std::ptr::from_ref(&self).cast(), size_of::<Self>()));
            }
            unsafe fn take(source: &mut Source) -> Result<Self, Defect> {
                let bytes = source.arguments.take(size_of::<Self>()).ok_or_else(Source::short)?;
                let value = bytes.as_ptr().cast::<Self>().read_unaligned();
                $(
                    // The pose of the shape before it.
                    let shape = source.used.last().copied().unwrap_or(0);
                    source.placed.push((shape, value.$($pose).*));
                )?
                Ok(value)
            }
        }
    )* };
}

values!(
    vxs_motion at to,
    vxs_kinematics at pose,
    vxs_pair_step at b.pose,
    vxs_sweep at motion.to,
    vxs_haptics_limits, vxs_haptics_coupling, vxs_haptics_contact,
    vxs_haptics_timing, vxs_haptics_handle, vxs_haptics_texture,
);

impl Argument for vxs_pose {
    unsafe fn put(self, sink: &mut Sink, _: usize) {
        sink.put(std::slice::from_raw_parts(std::ptr::from_ref(&self).cast(), size_of::<Self>()));
    }
    unsafe fn take(source: &mut Source) -> Result<Self, Defect> {
        let bytes = source.arguments.take(size_of::<Self>()).ok_or_else(Source::short)?;
        let pose = bytes.as_ptr().cast::<Self>().read_unaligned();
        source.placed.push((source.used.last().copied().unwrap_or(0), pose));
        Ok(pose)
    }
}

impl Argument for vxs_haptics_budget {
    unsafe fn put(self, sink: &mut Sink, _: usize) {
        self.max_tests.put(sink, 1);
        self.max_nanoseconds.put(sink, 1);
    }
    unsafe fn take(source: &mut Source) -> Result<Self, Defect> {
        let budget = Self { max_tests: Argument::take(source)?, max_nanoseconds: Argument::take(source)? };
        source.is_timed |= budget.max_nanoseconds != 0;
        Ok(budget)
    }
}

/// The progress callback has no part in the result, unless it cancels the call.
impl Argument for vxs_progress_fn {
    unsafe fn put(self, _: &mut Sink, _: usize) {}
    unsafe fn take(_: &mut Source) -> Result<Self, Defect> {
        Ok(None)
    }
}

/// Whether there is a height map. Its heights are records of their own, and the replay gives them back.
impl Argument for vxs_haptics_height_fn {
    unsafe fn put(self, sink: &mut Sink, _: usize) {
        sink.byte(self.is_some().into());
    }
    unsafe fn take(source: &mut Source) -> Result<Self, Defect> {
        Ok((source.byte()? != 0).then_some(super::heights::next as _))
    }
}

/// Writes and reads a struct field by field. A field with a count in brackets points to an array of so many elements.
macro_rules! fields {
    ($type:ident, $($field:ident $([$count:ident])?),+) => {
        impl Fields for $type {
            unsafe fn put_fields(&self, sink: &mut Sink) {
                $(
                    #[allow(unused_mut, unused_assignments)]
                    let mut length = 1;
                    $(
                        length = self.$count as usize;
                        if length > 0 && self.$field.is_null() {
                            sink.refuse(Unusable::Argument);
                        }
                    )?
                    Argument::put(self.$field, sink, length);
                )+
            }
            unsafe fn take_fields(this: *mut Self, source: &mut Source) -> Result<(), Defect> {
                $(
                    (*this).$field = Argument::take(source)?;
                    $((*this).$count = if (*this).$field.is_null() { 0 } else { source.length as _ };)?
                )+
                Ok(())
            }
        }
    };
}

trait Fields: Sized {
    unsafe fn put_fields(&self, sink: &mut Sink);
    unsafe fn take_fields(this: *mut Self, source: &mut Source) -> Result<(), Defect>;
}

/// Structs with pointers that start with their size.
macro_rules! sized_fields {
    ($($type:ident { $($field:ident $([$count:ident])?),+ $(,)? })*) => { $(
        fields!($type, $($field $([$count])?),+);
        impl Content for $type {
            unsafe fn put(pointer: *const Self, sink: &mut Sink, _: usize) {
                if put_sized(pointer, sink) {
                    (*pointer).put_fields(sink);
                }
            }
            unsafe fn take(source: &mut Source) -> Result<*const Self, Defect> {
                let (memory, has_fields) = take_sized::<Self>(source)?;
                if has_fields {
                    Self::take_fields(memory, source)?;
                }
                source.length = usize::MAX;
                Ok(memory)
            }
        }
    )* };
}

sized_fields! {
    vxs_cook_options {
        forms, voxel_size, resolution, padding_voxels, spacing, sample_count, sampling, sharp_angle, branching, tree,
        memory_limit, weld_tolerance, progress, field_storage, clustering, target_error, offset,
    }
    vxs_motion_query {
        roles, path, max_separation, until, tolerance, known[known_count], coverage, reserved,
    }
    vxs_mesh_motion_query {
        path, max_separation, tolerance, time_tolerance, until, known[known_count], reserved,
    }
    vxs_haptics_settings {
        renderer, mass, reflected_mass, center_of_mass, inertia, limits, coupling, contact, timing, handle, surface,
        budget, speed, passivity, metric, spare_bodies, detection, hulls_tolerance,
    }
}

fields!(vxs_query_segmentation, kind, level, reserved, distance, angle);
fields!(
    vxs_query,
    roles,
    max_separation,
    max_distance,
    max_depth,
    max_contacts,
    preferred[preferred_count],
    limit,
    step,
    coverage,
    reserved
);

impl Content for vxs_query {
    unsafe fn put(pointer: *const Self, sink: &mut Sink, _: usize) {
        if !put_sized(pointer, sink) {
            return;
        }
        let query = &*pointer;
        query.put_fields(sink);
        if put_sized(query.segmentation, sink) {
            let segmentation = &*query.segmentation;
            segmentation.put_fields(sink);
            // As many as there are preferred features.
            put_bytes(segmentation.preferred_segments, sink, query.preferred_count as usize);
        }
    }

    unsafe fn take(source: &mut Source) -> Result<*const Self, Defect> {
        let (query, has_fields) = take_sized::<Self>(source)?;
        if has_fields {
            Self::take_fields(query, source)?;
            let (segmentation, has_fields) = take_sized::<vxs_query_segmentation>(source)?;
            if has_fields {
                vxs_query_segmentation::take_fields(segmentation, source)?;
                let segments = take_bytes::<u32>(source)?;
                Source::check_length("preferred_segments", source.length, (*query).preferred_count as usize)?;
                (*segmentation).preferred_segments = segments;
            }
            (*query).segmentation = segmentation;
        }
        source.length = usize::MAX;
        Ok(query)
    }
}

impl Argument for vxs_haptics_surface {
    unsafe fn put(self, sink: &mut Sink, _: usize) {
        self.put_fields(sink);
    }
    unsafe fn take(source: &mut Source) -> Result<Self, Defect> {
        let mut surface: Self = std::mem::zeroed();
        Self::take_fields(&mut surface, source)?;
        Ok(surface)
    }
}
fields!(vxs_haptics_surface, friction, shading, texture, height, height_reach);

/// Arrays of structs with pointers.
macro_rules! arrays {
    ($($type:ident { $($field:ident),+ })*) => { $(
        fields!($type, $($field),+);
        impl Content for $type {
            unsafe fn put(pointer: *const Self, sink: &mut Sink, length: usize) {
                if pointer.is_null() {
                    return sink.byte(0);
                }
                if sink.unusable.is_some() || !pointer.is_aligned() || length > MOST_BYTES / size_of::<Self>() {
                    return sink.refuse(Unusable::Argument);
                }
                sink.byte(1);
                sink.number(length as u64);
                (0..length).for_each(|i| (*pointer.add(i)).put_fields(sink));
            }
            unsafe fn take(source: &mut Source) -> Result<*const Self, Defect> {
                if source.byte()? == 0 {
                    source.length = usize::MAX;
                    return Ok(std::ptr::null());
                }
                let length = source.count(1)?;
                let memory = source.memory::<Self>(length)?;
                for i in 0..length {
                    Self::take_fields(memory.add(i), source)?;
                }
                source.length = length;
                Ok(memory)
            }
        }
    )* };
}

arrays! {
    vxs_body { shape, pose }
    vxs_body_pair { a, b, workspace }
    vxs_pair_in_step { pair, step }
    vxs_moving_body { shape, motion }
    vxs_dynamic_body { shape, kinematics }
    vxs_swept_body { shape, sweep }
    vxs_voxelmap_body { voxelmap, pose }
    vxs_pointshell_body { pointshell, pose }
    vxs_voxtree_body { voxtree, kinematics }
    vxs_hulls_body { hulls, pose }
}

impl Argument for vxs_body {
    unsafe fn put(self, sink: &mut Sink, _: usize) {
        self.put_fields(sink);
    }
    unsafe fn take(source: &mut Source) -> Result<Self, Defect> {
        let mut body: Self = std::mem::zeroed();
        Self::take_fields(&mut body, source)?;
        Ok(body)
    }
}

/// The answer of a pair, without the numbers of the caller, which no call hands over.
impl Target for vxs_manifolds {
    unsafe fn digest(pointer: *const Self, length: usize, hash: &mut Hash) {
        for i in 0..length {
            let answer = pointer.add(i).read();
            hash.word(answer.count as u64);
            for k in 0..answer.count {
                let manifold = answer.data.add(k).read();
                digest_bytes(&manifold.normal, 1, hash);
                hash.word(manifold.count as u64);
                hash.word(manifold.region.into());
                for p in 0..manifold.count {
                    let point = vxs_pair_point { user: [0.0; 4], ..manifold.points.add(p).read() };
                    digest_bytes(&point, 1, hash);
                }
            }
        }
    }
}
