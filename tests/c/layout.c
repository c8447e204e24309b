/* Sizes and offsets of all fields of the structs of the C API as a C compiler sees them; src/capi/layout.rs asserts the
 * same of Rust's, and tests/capi_header.rs that no field is missing here. A struct that grows gets new lines, and its old
 * size stays accepted. (64-bit targets.) */
#include "check.h"

#include <stddef.h>

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " changed its size")
#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field " moved")

SIZE(vxs_status, 4);
#if UINTPTR_MAX == UINT64_MAX
SIZE(vxs_cook_options, 112);
AT(vxs_cook_options, struct_size, 0);
AT(vxs_cook_options, forms, 4);
AT(vxs_cook_options, voxel_size, 8);
AT(vxs_cook_options, resolution, 16);
AT(vxs_cook_options, padding_voxels, 20);
AT(vxs_cook_options, spacing, 24);
AT(vxs_cook_options, sample_count, 32);
AT(vxs_cook_options, sampling, 36);
AT(vxs_cook_options, sharp_angle, 40);
AT(vxs_cook_options, branching, 48);
AT(vxs_cook_options, tree, 52);
AT(vxs_cook_options, memory_limit, 56);
AT(vxs_cook_options, weld_tolerance, 64);
AT(vxs_cook_options, progress, 72);
AT(vxs_cook_options, progress_user, 80);
AT(vxs_cook_options, field_storage, 88);
AT(vxs_cook_options, reserved, 92);
AT(vxs_cook_options, target_error, 96);
AT(vxs_cook_options, offset, 104);
SIZE(vxs_primitive, 72);
AT(vxs_primitive, struct_size, 0);
AT(vxs_primitive, kind, 4);
AT(vxs_primitive, size, 8);
AT(vxs_primitive, detail, 56);
SIZE(vxs_query, 104);
AT(vxs_query, struct_size, 0);
AT(vxs_query, roles, 4);
AT(vxs_query, max_separation, 8);
AT(vxs_query, max_distance, 16);
AT(vxs_query, max_contacts, 24);
AT(vxs_query, preferred_count, 28);
AT(vxs_query, preferred, 32);
AT(vxs_query, max_depth, 40);
AT(vxs_query, segmentation, 48);
AT(vxs_query, segment_level, 52);
AT(vxs_query, region_distance, 56);
AT(vxs_query, region_angle, 64);
AT(vxs_query, preferred_segments, 72);
AT(vxs_query, max_tests, 80);
AT(vxs_query, max_nanoseconds, 88);
AT(vxs_query, accuracy, 96);
SIZE(vxs_query_report, 32);
AT(vxs_query_report, struct_size, 0);
AT(vxs_query_report, answer, 4);
AT(vxs_query_report, node_tests, 8);
AT(vxs_query_report, sample_tests, 16);
AT(vxs_query_report, least_missed, 24);
SIZE(vxs_shape_info, 152);
AT(vxs_shape_info, struct_size, 0);
AT(vxs_shape_info, forms, 4);
AT(vxs_shape_info, vertex_count, 8);
AT(vxs_shape_info, triangle_count, 16);
AT(vxs_shape_info, field_kind, 24);
AT(vxs_shape_info, grid_dims, 28);
AT(vxs_shape_info, sign_rule, 40);
AT(vxs_shape_info, mesh_closed, 44);
AT(vxs_shape_info, duplicate_triangles, 48);
AT(vxs_shape_info, flipped_triangles, 56);
AT(vxs_shape_info, voxel_size, 64);
AT(vxs_shape_info, lipschitz, 72);
AT(vxs_shape_info, field_error_max, 80);
AT(vxs_shape_info, field_error_rms, 88);
AT(vxs_shape_info, uncertain_nodes, 96);
AT(vxs_shape_info, field_bytes, 104);
AT(vxs_shape_info, sample_count, 112);
AT(vxs_shape_info, tree_nodes, 120);
AT(vxs_shape_info, tree_levels, 128);
AT(vxs_shape_info, branching, 132);
AT(vxs_shape_info, spacing, 136);
AT(vxs_shape_info, pointshell_bytes, 144);
SIZE(vxs_vec3, 24);
AT(vxs_vec3, x, 0);
AT(vxs_vec3, y, 8);
AT(vxs_vec3, z, 16);
SIZE(vxs_aabb, 48);
AT(vxs_aabb, min, 0);
AT(vxs_aabb, max, 24);
SIZE(vxs_mass_properties, 88);
AT(vxs_mass_properties, volume, 0);
AT(vxs_mass_properties, center_of_mass, 8);
AT(vxs_mass_properties, inertia, 32);
AT(vxs_mass_properties, exact, 80);
SIZE(vxs_segment_hit, 64);
AT(vxs_segment_hit, fraction, 0);
AT(vxs_segment_hit, point, 8);
AT(vxs_segment_hit, normal, 32);
AT(vxs_segment_hit, hit, 56);
SIZE(vxs_pose, 56);
AT(vxs_pose, position, 0);
AT(vxs_pose, qx, 24);
AT(vxs_pose, qy, 32);
AT(vxs_pose, qz, 40);
AT(vxs_pose, qw, 48);
SIZE(vxs_contact, 96);
AT(vxs_contact, point_on_a, 0);
AT(vxs_contact, point_on_b, 24);
AT(vxs_contact, normal, 48);
AT(vxs_contact, separation, 72);
AT(vxs_contact, toi, 80);
AT(vxs_contact, feature, 88);
AT(vxs_contact, reserved, 92);
SIZE(vxs_motion, 112);
AT(vxs_motion, from, 0);
AT(vxs_motion, to, 56);
SIZE(vxs_motion_query, 48);
AT(vxs_motion_query, struct_size, 0);
AT(vxs_motion_query, roles, 4);
AT(vxs_motion_query, path, 8);
AT(vxs_motion_query, known_count, 12);
AT(vxs_motion_query, max_separation, 16);
AT(vxs_motion_query, until, 24);
AT(vxs_motion_query, tolerance, 32);
AT(vxs_motion_query, known, 40);
SIZE(vxs_motion_contact, 104);
AT(vxs_motion_contact, contact, 0);
AT(vxs_motion_contact, until, 96);
#endif

/* What _init fills in is what the header says. */
int main(void) {
  vxs_cook_options o;
  vxs_query q;
  vxs_query_report r;
  vxs_motion_query m;
  vxs_shape_info info;
  OK(vxs_cook_options_init(&o, sizeof o));
  CHECK(o.struct_size == sizeof o && o.forms == (VXS_FORM_FIELD | VXS_FORM_POINTSHELL));
  CHECK(o.voxel_size == 0 && o.resolution == 128 && o.spacing == 0 && o.sample_count == 0);
  CHECK(o.sampling == VXS_SAMPLING_DEFAULT && o.tree == VXS_TREE_MINIMAL_BALLS && o.weld_tolerance == 0);
  CHECK(o.padding_voxels > 0 && o.branching >= 2 && o.memory_limit > 0 && o.sharp_angle > 0);
  CHECK(o.progress == NULL && o.progress_user == NULL && o.field_storage == VXS_STORAGE_AUTO && o.reserved == 0);
  CHECK(o.target_error == 0);
  /* The size of the first release, which had no storage, no target error and no offset. */
  o.field_storage = 77;
  o.target_error = 77;
  OK(vxs_cook_options_init(&o, offsetof(vxs_cook_options, field_storage)));
  CHECK(o.struct_size == offsetof(vxs_cook_options, field_storage) && o.field_storage == 77);
  CHECK(o.target_error == 77);
  OK(vxs_cook_options_init(&o, sizeof o));
  CHECK(o.offset == 0);
  OK(vxs_query_init(&q, sizeof q));
  CHECK(q.struct_size == sizeof q && q.roles == VXS_ROLES_AUTO && q.max_separation == 0 && isinf(q.max_distance) && isinf(q.max_depth));
  CHECK(q.max_contacts == 0 && q.preferred_count == 0 && q.preferred == NULL);
  CHECK(q.segmentation == VXS_SEGMENTATION_NONE && q.segment_level == 0 && q.region_distance == 0);
  CHECK(q.region_angle > 0.785 && q.region_angle < 0.786 && q.preferred_segments == NULL);
  CHECK(q.max_tests == 0 && q.max_nanoseconds == 0 && q.accuracy == 0);
  /* The size before segments and limits. */
  q.max_tests = 77;
  OK(vxs_query_init(&q, offsetof(vxs_query, segmentation)));
  CHECK(q.struct_size == offsetof(vxs_query, segmentation) && q.max_tests == 77);
  OK(vxs_query_report_init(&r, sizeof r));
  CHECK(r.struct_size == sizeof r && r.answer == VXS_ANSWER_COMPLETE && r.node_tests == 0 && r.sample_tests == 0);
  OK(vxs_motion_query_init(&m, sizeof m));
  CHECK(m.struct_size == sizeof m && m.roles == VXS_ROLES_AUTO && m.path == VXS_PATH_SCREW && m.max_separation == 0);
  CHECK(m.until == 1 && m.tolerance == 0 && m.known_count == 0 && m.known == NULL);
  OK(vxs_shape_info_init(&info, sizeof info));
  CHECK(info.struct_size == sizeof info && info.forms == 0 && info.pointshell_bytes == 0);
  for (uint32_t kind = VXS_PRIMITIVE_BOX; kind <= VXS_PRIMITIVE_NUT; kind++) {
    vxs_primitive p;
    vxs_cook_options coarse = o;
    vxs_shape *shape = NULL;
    vxs_mass_properties mass;
    coarse.resolution = 24;
    OK(vxs_primitive_init(&p, sizeof p, kind));
    CHECK(p.struct_size == sizeof p && p.kind == kind && p.size[0] > 0);
    OK(vxs_shape_create_primitive(&p, &coarse, &shape));
    OK(vxs_shape_get_mass_properties(shape, &mass));
    CHECK(mass.exact && mass.volume > 0);
    OK(vxs_shape_release(shape));
    /* Every length is used, and checked. */
    for (int i = 0; i < 6; i++) {
      vxs_primitive bad = p;
      if (p.size[i] == 0) continue;
      bad.size[i] = NAN;
      CHECK(vxs_shape_create_primitive(&bad, &coarse, &shape) == VXS_INVALID_ARGUMENT);
    }
  }
  puts("layout: ok");
  return 0;
}
