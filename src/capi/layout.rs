//! Sizes and offsets of the structs of the C API. `cmake/Functions.cmake` makes the asserts of `tests/c/layout.c` from these
//! rows. A missing field does not compile, and `tests/capi_header.rs` finds a missing struct. A struct that grows gets new
//! rows, and its old size stays valid. For 64-bit targets only: there the layouts are the same on all systems.
#![cfg(target_pointer_width = "64")]

use std::mem::{offset_of, size_of};

use super::batch::*;
use super::contact_triangles::*;
use super::cook_options::*;
use super::haptics_bodies::*;
use super::haptics_constraints::*;
use super::haptics_run::*;
use super::haptics_settings::*;
use super::haptics_types::*;
use super::hulls::*;
use super::impulse::*;
use super::mesh_motion::*;
use super::motion::*;
use super::pair::*;
use super::patches::*;
use super::primitive::*;
use super::query_options::*;
use super::record::api::*;
use super::response::*;
use super::segment_intervals::*;
use super::shape_info::*;
use super::types::*;
use super::voxelmap::*;
use super::voxelmap_query::*;
use super::voxtree::*;
use super::voxtree_query::*;

macro_rules! layout {
    ($type:ident, $size:literal, { $($field:ident: $offset:literal),+ $(,)? }) => {
        const _: () = {
            assert!(size_of::<$type>() == $size);
            $(assert!(offset_of!($type, $field) == $offset);)+
            // The pattern names all fields.
            let _ = |all: $type| { let $type { $($field: _),+ } = all; };
        };
    };
}

layout!(vxs_cook_options, 112, {
    struct_size: 0,
    forms: 4,
    voxel_size: 8,
    resolution: 16,
    padding_voxels: 20,
    spacing: 24,
    sample_count: 32,
    sampling: 36,
    sharp_angle: 40,
    branching: 48,
    tree: 52,
    memory_limit: 56,
    weld_tolerance: 64,
    progress: 72,
    progress_user: 80,
    field_storage: 88,
    clustering: 92,
    target_error: 96,
    offset: 104,
});
layout!(vxs_primitive, 72, { struct_size: 0, kind: 4, size: 8, detail: 56 });
layout!(vxs_query, 80, { struct_size: 0, roles: 4, max_separation: 8, max_distance: 16, max_depth: 24, max_contacts: 32, preferred_count: 36, preferred: 40, limit: 48, step: 56, segmentation: 64, coverage: 72, reserved: 76 });
layout!(vxs_query_limit, 32, { struct_size: 0, reserved: 4, max_tests: 8, max_nanoseconds: 16, accuracy: 24 });
layout!(vxs_query_step, 144, { struct_size: 0, extremes_only: 4, dense_above: 8, max_gap: 16, center: 24, shift: 48, turn: 72, gained_by_a: 96, gained_by_b: 120 });
layout!(vxs_query_segmentation, 40, { struct_size: 0, kind: 4, level: 8, reserved: 12, distance: 16, angle: 24, preferred_segments: 32 });
layout!(vxs_query_report, 40, { struct_size: 0, answer: 4, coverage: 8, reserved: 12, node_tests: 16, sample_tests: 24, least_missed: 32 });
layout!(vxs_shape_info, 160, {
    struct_size: 0,
    forms: 4,
    vertex_count: 8,
    triangle_count: 16,
    field_kind: 24,
    field_convex: 28,
    grid_dims: 32,
    sign_rule: 44,
    mesh_closed: 48,
    reserved: 52,
    duplicate_triangles: 56,
    flipped_triangles: 64,
    voxel_size: 72,
    lipschitz: 80,
    field_error_max: 88,
    field_error_rms: 96,
    uncertain_nodes: 104,
    field_bytes: 112,
    sample_count: 120,
    tree_nodes: 128,
    tree_levels: 136,
    branching: 140,
    spacing: 144,
    pointshell_bytes: 152,
});
layout!(vxs_vec3, 24, { x: 0, y: 8, z: 16 });
layout!(vxs_aabb, 48, { min: 0, max: 24 });
layout!(vxs_mass_properties, 88, { volume: 0, center_of_mass: 8, inertia: 32, exact: 80 });
layout!(vxs_segment_hit, 64, { fraction: 0, point: 8, normal: 32, hit: 56 });
layout!(vxs_segment_query, 16, { struct_size: 0, method: 4, level: 8 });
layout!(vxs_interval, 16, { from: 0, to: 8 });
layout!(vxs_pose, 56, { position: 0, qx: 24, qy: 32, qz: 40, qw: 48 });
layout!(vxs_contact, 96, {
    point_on_a: 0,
    point_on_b: 24,
    normal: 48,
    separation: 72,
    toi: 80,
    feature: 88,
    reserved: 92,
});
layout!(vxs_triangle_point, 32, { triangle: 0, material: 4, barycentric: 8 });
layout!(vxs_contact_triangles, 64, { on_a: 0, on_b: 32 });
layout!(vxs_body, 64, { shape: 0, pose: 8 });
layout!(vxs_body_pair, 136, { a: 0, b: 64, workspace: 128 });
layout!(vxs_motion, 112, { from: 0, to: 56 });
layout!(vxs_moving_body, 120, { shape: 0, motion: 8 });
layout!(vxs_motion_query, 56, {
    struct_size: 0,
    roles: 4,
    path: 8,
    known_count: 12,
    max_separation: 16,
    until: 24,
    tolerance: 32,
    known: 40,
    coverage: 48,
    reserved: 52,
});
layout!(vxs_motion_contact, 104, { contact: 0, until: 96 });
layout!(vxs_mesh_feature, 8, { kind: 0, index: 4 });
layout!(vxs_mesh_pair, 16, { a: 0, b: 8 });
layout!(vxs_mesh_motion_query, 56, {
    struct_size: 0,
    path: 4,
    max_separation: 8,
    tolerance: 16,
    time_tolerance: 24,
    until: 32,
    known: 40,
    known_count: 48,
    reserved: 52,
});
layout!(vxs_mesh_impact, 120, {
    time: 0,
    width: 8,
    point_on_a: 16,
    point_on_b: 40,
    normal: 64,
    separation: 88,
    features: 96,
    triangle_a: 112,
    triangle_b: 116,
});
layout!(vxs_twist, 48, { linear: 0, angular: 24 });
layout!(vxs_wrench, 48, { force: 0, torque: 24 });
layout!(vxs_device_state, 112, { pose: 0, twist: 56, engaged: 104, reserved: 108 });
layout!(vxs_haptics_limits, 48, { force: 0, torque: 8, stiffness: 16, damping: 32 });
layout!(vxs_haptics_faults, 48, { bad_state: 0, bad_time: 8, teleport: 16, jump: 24, jump_time: 40 });
layout!(vxs_haptics_output, 176, { wrench: 0, contact: 48, tool: 96, age: 152, status: 160, contacts: 164, touched: 168 });
layout!(vxs_haptics_motion, 232, { pose: 0, twist: 56, contact: 104, tool: 152, age: 208, status: 216, contacts: 220, touched: 224 });
layout!(vxs_haptics_report, 80, { struct_size: 0, fresh: 4, clock: 8, least_separation: 16, wrench: 24, contacts: 72, status: 76 });
layout!(vxs_haptics_coupling, 80, { stiffness: 0, damping: 16, reach: 32, point: 48, saturation: 72, reserved: 76 });
layout!(vxs_haptics_contact, 56, { stiffness: 0, damping: 8, offset: 16, tolerance: 24, restitution: 32, average_from: 40, braking: 44, max_clusters: 48, layers: 52 });
layout!(vxs_haptics_timing, 32, { longest_step: 0, stale_after: 8, fade: 16, ramp: 24 });
layout!(vxs_haptics_handle, 32, { mass: 0, inertia: 8, damping: 16 });
layout!(vxs_haptics_texture, 16, { height: 0, wavelength: 8 });
layout!(vxs_haptics_surface, 56, { friction: 0, shading: 8, texture: 16, height: 32, height_user: 40, height_reach: 48 });
layout!(vxs_haptics_budget, 16, { max_tests: 0, max_nanoseconds: 8 });
layout!(vxs_haptics_settings, 456, { struct_size: 0, renderer: 4, mass: 8, reflected_mass: 16, center_of_mass: 24, inertia: 48, limits: 96, coupling: 144, contact: 224, timing: 280, handle: 312, surface: 344, budget: 400, speed: 416, passivity: 432, metric: 436, spare_bodies: 440, detection: 444, hulls_tolerance: 448 });
layout!(vxs_haptics_load, 96, { wrench: 0, impulse: 48 });
layout!(vxs_haptics_feel, 16, { stiffness: 0, friction: 8 });
layout!(vxs_haptics_body_motion, 168, { pose: 0, twist: 56, inverse_mass: 104, inverse_inertia: 112, period: 160 });
layout!(vxs_haptics_rates, 40, { clock: 0, steps: 8, rounds: 16, servo: 24, simulation: 32 });
layout!(vxs_haptics_constraint, 64, { point: 0, normal: 24, gap: 48, body: 56, feature: 60 });
layout!(vxs_haptics_run_options, 24, { struct_size: 0, priority: 4, period: 8, lock_memory: 16, coupling_thread: 20 });
layout!(vxs_haptics_run_report, 72, { struct_size: 0, running: 4, scheduling: 8, memory: 12, absolute_sleep: 16, scheduling_error: 20, memory_error: 24, reserved: 28, steps: 32, late: 40, latest: 48, longest: 56, rounds: 64 });
layout!(vxs_kinematics, 128, { pose: 0, center: 56, twist: 80 });
layout!(vxs_response, 624, { wrench: 0, by_pose: 48, by_twist: 336 });
layout!(vxs_penalty, 64, {
    struct_size: 0,
    average_from: 4,
    stiffness: 8,
    damping: 16,
    drag: 24,
    offset: 32,
    max_clusters: 40,
    midpoints: 44,
    cluster_radius: 48,
    roles: 56,
    reserved: 60,
});
layout!(vxs_dynamic_body, 136, { shape: 0, kinematics: 8 });
layout!(vxs_swept_body, 192, { shape: 0, sweep: 8 });
layout!(vxs_sweep, 184, { motion: 0, center: 112, twist: 136 });
layout!(vxs_mobility, 56, { inverse_mass: 0, inverse_inertia: 8 });
layout!(vxs_impulse, 48, {
    struct_size: 0,
    iterations: 4,
    dt: 8,
    restitution: 16,
    max_speed: 24,
    max_separation: 32,
    roles: 40,
    reserved: 44,
});
layout!(vxs_patch_query, 40, { struct_size: 0, reserved: 4, stiffness_a: 8, stiffness_b: 16, exponent: 24, resolution: 32 });
layout!(vxs_patch, 208, {
    area: 0,
    mean_pressure: 8,
    max_pressure: 16,
    center: 24,
    normal: 48,
    on_b: 72,
    friction_arm: 120,
    stiffness: 128,
    stiffness_center: 136,
    stiffness_moments: 160,
});
layout!(vxs_pair_options, 24, { struct_size: 0, max_points: 4, tolerance: 8, margin: 16 });
layout!(vxs_pair_step, 312, { a: 0, b: 128, duration: 256, gained_by_a: 264, gained_by_b: 288 });
layout!(vxs_pair_in_step, 320, { pair: 0, step: 8 });
layout!(vxs_pair_point, 128, { point_on_a: 0, point_on_b: 24, normal: 48, separation: 72, gap: 80, id: 88, user: 96 });
layout!(vxs_manifold, 48, { normal: 0, points: 24, count: 32, region: 40, reserved: 44 });
layout!(vxs_manifolds, 16, { data: 0, count: 8 });
layout!(vxs_voxelmap_options, 56, { struct_size: 0, form: 4, voxel_size: 8, resolution: 16, padding_voxels: 20, precision: 24, layer_limit: 28, branching: 32, offset_layers: 36, proximity_layers: 40, reserved: 44, memory_limit: 48 });
layout!(vxs_voxelmap_info, 128, { struct_size: 0, form: 4, dims: 8, branching: 20, voxel_size: 24, unit: 32, precision: 40, layer_limit: 44, offset_layers: 48, proximity_layers: 52, min_layer: 56, max_layer: 60, min_value: 64, max_value: 72, surface_voxels: 80, interior_voxels: 88, bytes: 96, first_center: 104 });
layout!(vxs_voxelmap_body, 64, { voxelmap: 0, pose: 8 });
layout!(vxs_pointshell_body, 64, { pointshell: 0, pose: 8 });
layout!(vxs_voxelmap_query, 72, { struct_size: 0, rule: 4, stiffness: 8, center: 16, average_from: 40, max_level: 44, max_tests: 48, max_nanoseconds: 56, find_distance: 64, reserved: 68 });
layout!(vxs_voxelmap_answer, 96, { wrench: 0, penetration: 48, max_penetration: 56, count: 64, node_tests: 72, sample_tests: 80, answer: 88, levels: 92 });
layout!(vxs_voxel_contact, 64, { point: 0, normal: 24, penetration: 48, sample: 56, reserved: 60 });
layout!(vxs_voxtree_options, 40, { struct_size: 0, branching: 4, voxel_size: 8, solid: 16, without_normals: 20, level: 24, reserved: 28, memory_limit: 32 });
layout!(vxs_voxtree_info, 72, { voxel_size: 0, center: 8, root_radius: 32, bytes: 40, voxel_count: 48, inner_count: 52, root_level: 56, branching: 60, solid: 64, normals: 68 });
layout!(vxs_voxtree_body, 136, { voxtree: 0, kinematics: 8 });
layout!(vxs_voxtree_query, 32, { struct_size: 0, loose: 4, test_single: 8, cubes: 12, max_pairs: 16, least_level: 20, max_tests: 24 });
layout!(vxs_voxel_pair, 144, { center_a: 0, center_b: 24, normal_a: 48, normal_b: 72, velocity: 96, depth: 120, cell_a: 128, cell_b: 132, level_a: 136, level_b: 140 });
layout!(vxs_voxtree_report, 32, { complete: 0, reserved: 4, tests: 8, opened: 16, longest: 24 });
layout!(vxs_hulls_options, 16, { struct_size: 0, max_triangles: 4, contact_depth: 8 });
layout!(vxs_hulls_info, 24, { bytes: 0, hull_count: 8, triangle_count: 12, level_count: 16, surface_level_count: 20 });
layout!(vxs_hull_level, 40, { hulls: 0, triangles: 4, resolution: 8, deviation: 16, reach: 24, support_area: 32 });
layout!(vxs_hulls_body, 64, { hulls: 0, pose: 8 });
layout!(vxs_hulls_query, 32, { struct_size: 0, reserved: 4, max_separation: 8, max_distance: 16, tolerance: 24 });
layout!(vxs_hull_distance, 56, { distance: 0, point_on_a: 8, point_on_b: 32 });
layout!(vxs_hulls_report, 32, { pairs: 0, bounds: 8, distances: 16, triangles: 24 });
layout!(vxs_impulses, 104, { on_a: 0, on_b: 48, count: 96, resolved: 100 });
layout!(vxs_record_options, 16, { struct_size: 0, wait: 4, buffer_bytes: 8 });
layout!(vxs_record_report, 32, { struct_size: 0, reserved: 4, records: 8, lost: 16, bytes: 24 });

const _: () = assert!(super::log::VXS_LOG_ERROR == super::hook::ERROR);
