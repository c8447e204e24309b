//! The functions of the C API in recordings: one line for each function that is recorded, and one for each that is not,
//! with the reason. `tests/record` checks that no function is missing.

use super::argument::Argument;
use super::sink::function;
use super::source::{Defect, Source};
use crate::capi::asset::*;
use crate::capi::batch::*;
use crate::capi::contact_triangles::*;
use crate::capi::create::*;
use crate::capi::forms::*;
use crate::capi::haptics::*;
use crate::capi::haptics_bodies::*;
use crate::capi::haptics_constraints::*;
use crate::capi::haptics_handle::vxs_haptics;
use crate::capi::hulls::*;
use crate::capi::impulse::*;
use crate::capi::materials::*;
use crate::capi::mesh_motion::*;
use crate::capi::motion::*;
use crate::capi::pair::*;
use crate::capi::patches::*;
use crate::capi::query::*;
use crate::capi::response::*;
use crate::capi::segment_intervals::*;
use crate::capi::shape::*;
use crate::capi::status::*;
use crate::capi::voxelmap::*;
use crate::capi::voxelmap_query::*;
use crate::capi::voxtree::*;
use crate::capi::voxtree_query::*;

/// A function whose calls are recorded.
pub struct Call {
    pub name: &'static str,
    pub(super) number: u32,
    /// Reads the arguments, makes the call and checks its outputs.
    pub(super) make: unsafe fn(&mut Source) -> Result<vxs_status, Defect>,
}

impl Call {
    /// Returns the number of the function in records.
    pub fn number(&self) -> u32 {
        self.number
    }
}

/// Number of elements that a call uses behind a pointer: one if the line has no number.
macro_rules! needed {
    () => {
        1
    };
    ($needed:expr) => {
        $needed
    };
}

/// `name(argument, …);`: an argument with a number in brackets points to so many elements, others to one. The file of a recording may
/// come from anyone, so these numbers are checked before the call. A replay does not make the calls after `not made`: they
/// start, end and time a run on threads of the library, whose steps and rounds are recorded as calls of their own.
macro_rules! calls {
    ({ $($name:ident($($arg:ident $([$needed:expr])?),*);)* } not made: { $($running:ident),* }) => {
        /// All functions whose calls are recorded.
        pub const CALLS: &[Call] = &[$(Call {
            name: stringify!($name),
            number: function(stringify!($name)),
            make: |source| unsafe {
                $(
                    let $arg = Argument::take(source)?;
                    source.keep_length(stringify!($arg));
                )*
                let call = || $name($($arg),*);
                $(source.fits(stringify!($arg), needed!($($needed)?))?;)*
                let status = call();
                if source.has_outputs && matches!(status, VXS_OK | VXS_TRUNCATED) {
                    $(Argument::check($arg, source)?;)*
                }
                Ok(status)
            },
        },)* $(Call {
            name: stringify!($running),
            number: function(stringify!($running)),
            make: |source| unsafe {
                let _: *mut vxs_haptics = Argument::take(source)?;
                source.runs = true;
                Ok(VXS_OK)
            },
        }),*];
    };
}

calls! { {
    vxs_shape_create_from_triangles(vertices[vertex_count], vertex_count, indices[triangle_count.saturating_mul(3)],
        triangle_count, options, shape);
    vxs_cook_estimate_memory(vertices[vertex_count], vertex_count, indices[triangle_count.saturating_mul(3)], triangle_count,
        options, bytes);
    vxs_shape_create_from_file(path, options, shape);
    vxs_shape_create_primitive(primitive, options, shape);
    vxs_shape_create_half_space(normal, offset, shape);
    vxs_shape_create_box(half_extents, shape);
    vxs_shape_create_sphere(radius, shape);
    vxs_shape_create_capsule(radius, half_height, axis, shape);
    vxs_shape_create_cylinder(radius, half_height, axis, shape);
    vxs_shape_create_cone(radius, height, axis, shape);
    vxs_shape_create_torus(ring_radius, tube_radius, axis, shape);
    vxs_shape_create_convex_hull(points[point_count], point_count, shape);
    vxs_shape_create_triangles(vertices[vertex_count], vertex_count, indices[triangle_count.saturating_mul(3)],
        triangle_count, weld_tolerance, shape);
    vxs_shape_create_sheet(vertices[vertex_count], vertex_count, indices[triangle_count.saturating_mul(3)], triangle_count,
        depth, shape);
    vxs_shape_create_sphere_hull(centers[sphere_count], radii[sphere_count], sphere_count, shape);
    vxs_shape_create_scaled(shape, factor, scaled);
    vxs_shape_retain(shape, out);
    vxs_shape_release(shape);
    vxs_shape_prepare_coverage(shape, coverage);
    vxs_shape_prepare_extremes(shape);
    vxs_shape_get_bounds(shape, bounds);
    vxs_shape_get_mass_properties(shape, mass);
    vxs_shape_get_info(shape, info);
    vxs_shape_get_triangles(shape, vertices[vertex_capacity], vertex_capacity, vertex_count,
        indices[index_capacity], index_capacity, index_count);
    vxs_shape_get_segments(shape, level, first[capacity], capacity, count);
    vxs_shape_query_segment(shape, from, to, hit);
    vxs_shape_query_segments(shape, from[count], to[count], count, hits[count]);
    vxs_shape_query_crossings(shape, from, to, crossings[capacity], capacity, count);
    vxs_shape_query_intervals(shape, from, to, query, intervals[capacity], capacity, count);
    vxs_shape_create_with_materials(shape, materials[count], count, out);
    vxs_shape_get_materials(shape, materials[capacity], capacity, count);
    vxs_shape_prepare_triangles(shape);
    vxs_shape_get_field(shape, field);
    vxs_shape_get_pointshell(shape, pointshell);
    vxs_shape_create(field, pointshell, shape);
    vxs_field_release(field);
    vxs_pointshell_release(pointshell);
    vxs_field_distance(field, point, distance, gradient);
    vxs_pointshell_get_samples(pointshell, points[capacity], normals[capacity], capacity, count);
    vxs_shape_save(shape, path);
    vxs_shape_save_as(shape, path, store);
    vxs_shape_load(path, shape);
    vxs_shape_serialize(shape, out[capacity], capacity, size);
    vxs_shape_deserialize(bytes[size], size, shape);
    vxs_workspace_create(workspace);
    vxs_workspace_destroy(workspace);
    vxs_query_contacts(a, b, query, workspace, contacts[capacity], capacity, count);
    vxs_workspace_get_report(workspace, report);
    vxs_workspace_get_segments(workspace, segments[capacity], capacity, count);
    vxs_query_features(a, b, coverage, features[count], count, contacts[count]);
    vxs_query_distance(a, b, query, workspace, closest, found);
    vxs_batch_create(threads, batch);
    vxs_batch_destroy(batch);
    vxs_query_contacts_batch(batch, pairs[pair_count], pair_count, query, contacts[capacity], capacity,
        offsets[pair_count.saturating_add(1)]);
    vxs_pair_create(a, b, options, pair);
    vxs_pair_release(pair);
    vxs_pair_copy(pair, copy);
    vxs_pair_reset(pair);
    vxs_pair_update(pair, step, manifolds);
    vxs_pairs_update(batch, pairs[count], count, manifolds[count]);
    vxs_pair_get_report(pair, origin, report);
    vxs_pair_get_triangles(pair, triangles[capacity], capacity, count);
    vxs_query_triangles(a, b, contacts[count], count, triangles[count]);
    vxs_motion_pose(motion, t, pose);
    vxs_query_time_of_impact(a, b, query, workspace, contact, found);
    vxs_query_motion_contacts(a, b, query, workspace, contacts[capacity], capacity, count);
    vxs_query_known_contacts(a, b, query, workspace, contacts[capacity], capacity, count);
    vxs_mesh_time_of_impact(a, b, query, workspace, impact, found);
    vxs_query_penalty(a, b, penalty, workspace, on_a, on_b, count);
    vxs_query_continuous_penalty(a, b, penalty, workspace, on_a, on_b, count);
    vxs_query_impulse(a, mobility_a, b, mobility_b, impulse, workspace, impulses);
    vxs_query_patches(a, b, query, workspace, patches[capacity], capacity, count);
    vxs_workspace_get_outline(workspace, patch, points[capacity], capacity, count);
    vxs_voxelmap_create(shape, options, voxelmap);
    vxs_voxelmap_create_from_triangles(vertices[vertex_count], vertex_count, indices[triangle_count.saturating_mul(3)],
        triangle_count, options, voxelmap);
    vxs_voxelmap_release(voxelmap);
    vxs_shape_create_with_voxelmap(shape, voxelmap, out);
    vxs_shape_get_voxelmap(shape, voxelmap);
    vxs_voxelmap_get_info(voxelmap, info);
    vxs_voxelmap_get_layers(voxelmap, points[count], count, layers[count]);
    vxs_voxelmap_get_distances(voxelmap, points[count], count, distances[count], gradients[count]);
    vxs_voxelmap_get_penetrations(voxelmap, points[count], normals[count], count, rule, penetrations[count]);
    vxs_query_voxelmap(a, b, query, workspace, answer, contacts[capacity], capacity);
    vxs_voxtree_create_from_shape(shape, options, voxtree);
    vxs_voxtree_release(voxtree);
    vxs_voxtree_get_info(voxtree, info);
    vxs_voxtree_save(voxtree, path);
    vxs_voxtree_load(path, voxtree);
    vxs_query_voxtrees(a, b, query, workspace, pairs[capacity], capacity, count);
    vxs_workspace_get_voxtree_report(workspace, report);
    vxs_query_voxtree_impulse(a, mobility_a, b, mobility_b, impulse, workspace, impulses);
    vxs_hulls_create_from_shape(shape, options, hulls);
    vxs_hulls_create_from_triangles(vertices[vertex_count], vertex_count, indices[triangle_count.saturating_mul(3)],
        triangle_count, options, hulls);
    vxs_hulls_release(hulls);
    vxs_hulls_get_info(hulls, info);
    vxs_hulls_get_levels(hulls, levels[capacity], capacity, count);
    vxs_shape_create_with_hulls(shape, hulls, out);
    vxs_shape_get_hulls(shape, hulls);
    vxs_query_hull_contacts(a, b, query, workspace, contacts[capacity], capacity, count);
    vxs_query_hull_distance(a, b, query, workspace, closest, found);
    vxs_workspace_get_hulls_report(workspace, report);
    vxs_haptics_create(settings, tool, bodies[body_count], body_count, haptics);
    vxs_haptics_release(haptics);
    vxs_haptics_step(haptics, state, dt, output);
    vxs_haptics_step_admittance(haptics, hand, engaged, dt, motion);
    vxs_haptics_reset(haptics, pose);
    vxs_haptics_set_scale(haptics, scale);
    vxs_haptics_get_faults(haptics, faults);
    vxs_haptics_simulate(haptics, report);
    vxs_haptics_set_body_pose(haptics, index, pose, twist);
    vxs_haptics_get_load(haptics, index, load);
    vxs_haptics_set_body(haptics, index, body);
    vxs_haptics_set_body_feel(haptics, index, feel);
    vxs_haptics_set_body_motion(haptics, index, motion);
    vxs_haptics_set_settings(haptics, settings);
    vxs_haptics_get_rates(haptics, rates);
    vxs_haptics_get_constraints(haptics, constraints[capacity], capacity, count);
} not made: { vxs_haptics_run, vxs_haptics_get_run_report, vxs_haptics_stop } }

/// A function that has no record, and the reason.
pub const NOT_RECORDED: &[(&str, &str)] = &[
    ("vxs_version", CONSTANT),
    ("vxs_version_string", CONSTANT),
    ("vxs_status_name", CONSTANT),
    ("vxs_last_error", "returns a message; the status is in the record of the call that failed"),
    ("vxs_set_log", "messages are no answers"),
    ("vxs_log", "messages are no answers"),
    ("vxs_allocation_count", "counts the allocations of the recording too"),
    ("vxs_record_options_init", INIT),
    ("vxs_record_report_init", INIT),
    ("vxs_record_start", "begins the recording"),
    ("vxs_record_stop", "ends the recording"),
    ("vxs_cook_options_init", INIT),
    ("vxs_haptics_report_init", INIT),
    ("vxs_haptics_run_options_init", INIT),
    ("vxs_haptics_run_report_init", INIT),
    ("vxs_haptics_settings_init", INIT),
    ("vxs_hulls_options_init", INIT),
    ("vxs_hulls_query_init", INIT),
    ("vxs_impulse_init", INIT),
    ("vxs_mesh_motion_query_init", INIT),
    ("vxs_motion_query_init", INIT),
    ("vxs_pair_options_init", INIT),
    ("vxs_patch_query_init", INIT),
    ("vxs_penalty_init", INIT),
    ("vxs_primitive_init", INIT),
    ("vxs_query_init", INIT),
    ("vxs_query_limit_init", INIT),
    ("vxs_query_report_init", INIT),
    ("vxs_query_segmentation_init", INIT),
    ("vxs_query_step_init", INIT),
    ("vxs_segment_query_init", INIT),
    ("vxs_shape_info_init", INIT),
    ("vxs_voxelmap_info_init", INIT),
    ("vxs_voxelmap_options_init", INIT),
    ("vxs_voxelmap_query_init", INIT),
    ("vxs_voxtree_options_init", INIT),
    ("vxs_voxtree_query_init", INIT),
];

const CONSTANT: &str = "returns a constant";
const INIT: &str = "fills a struct, whose values are in the record of the call that takes it";

/// Returns the function with a number.
pub(super) fn find(number: u32) -> Option<&'static Call> {
    CALLS.iter().find(|call| call.number == number)
}
