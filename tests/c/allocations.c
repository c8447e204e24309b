/* Once a workspace is warm, queries make no allocation, as counted by vxs_allocation_count. */
#include "check.h"

#ifdef VOXSHELL_ALLOCATION_COUNTER

static uint64_t count(void) {
  uint64_t count = 0;
  OK(vxs_allocation_count(&count));
  return count;
}

int main(void) {
  vxs_primitive torus_kind;
  vxs_cook_options options;
  vxs_query query;
  vxs_shape *torus = NULL, *floor = NULL;
  vxs_field *field = NULL;
  vxs_workspace *workspace = NULL;
  vxs_contact contacts[64], closest;
  vxs_mesh_impact impact;
  vxs_segment_hit hit;
  vxs_motion_contact lasting[64];
  const uint32_t features[3] = {0, 7, 1u << 31};
  double distance;
  vxs_haptics_settings settings;
  vxs_haptics *haptics[5];
  vxs_penalty penalty;
  vxs_response on_torus;
  vxs_impulse impulse;
  vxs_impulses impulses;
  const vxs_mobility light = {1, {10, 10, 10, 0, 0, 0}};
  vxs_haptics_output output;
  vxs_haptics_motion motion;
  vxs_haptics_report report;
  size_t found_count = 0, most = 0;
  uint32_t felt = 0;
  bool found;

  OK(vxs_primitive_init(&torus_kind, sizeof torus_kind, VXS_PRIMITIVE_TORUS));
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 32;
  uint64_t before = count();
  OK(vxs_shape_create_primitive(&torus_kind, &options, &torus));
  OK(vxs_shape_create_half_space(vec3(0, 1, 0), 0, &floor));
  CHECK(count() > before);
  OK(vxs_shape_get_field(torus, &field));
  OK(vxs_workspace_create(&workspace));
  OK(vxs_query_init(&query, sizeof query));
  query.roles = VXS_ROLES_BOTH;
  query.max_separation = 0.02;
  query.max_contacts = 8;

  OK(vxs_penalty_init(&penalty, sizeof penalty, 100, 1));
  OK(vxs_impulse_init(&impulse, sizeof impulse, 0.01));
  OK(vxs_haptics_report_init(&report, sizeof report));
  const vxs_body body = {floor, at(0, 0, 0)};
  for (uint32_t renderer = 0; renderer < 5; renderer++) {
    OK(vxs_haptics_settings_init(&settings, sizeof settings, renderer, torus, 0.2, NULL));
    haptics[renderer] = NULL; /* stays so for voxels, which a half-space has none of */
    const vxs_status status = vxs_haptics_create(&settings, torus, &body, 1, &haptics[renderer]);
    CHECK(status == VXS_OK || (status == VXS_UNSUPPORTED && renderer == VXS_RENDERER_VPS));
  }

  /* The third round repeats the second, which begins with a jump of the device back to its start. */
  for (int round = 0; round < 3; round++) {
    before = count();
    for (int step = 0; step < 20; step++) {
      vxs_pose a = at(0, 0.02 * step, 0), b = at(0.05 * step, 0, 0.01);
      vxs_motion up = {a, at(0.1, 0.4, 0)}, along = {b, at(0, 0, 0.01)};
      OK(vxs_query_time_of_impact(MOVING(torus, up), MOVING(torus, along), NULL, workspace, &closest, &found));
      OK(vxs_mesh_time_of_impact(MOVING(torus, up), MOVING(torus, along), NULL, workspace, &impact, &found));
      CHECK(vxs_query_motion_contacts(MOVING(torus, up), MOVING(floor, along), NULL, workspace, lasting, 64, &found_count) <= VXS_TRUNCATED);
      CHECK(vxs_query_contacts(BODY(torus, a), BODY(floor, b), NULL, workspace, contacts, 64, &found_count) <= VXS_TRUNCATED);
      CHECK(vxs_query_contacts(BODY(torus, a), BODY(torus, b), &query, workspace, contacts, 64, &found_count) <= VXS_TRUNCATED);
      if (found_count > most) most = found_count;
      OK(vxs_query_features(BODY(torus, a), BODY(torus, b), VXS_COVERAGE_EDGES, features, 3, contacts));
      OK(vxs_query_distance(BODY(torus, a), BODY(torus, b), &query, workspace, &closest, &found));
      OK(vxs_shape_query_segment(torus, vec3(-2, 0, 0.01 * step), vec3(2, 0, 0), &hit));
      OK(vxs_field_distance(field, b.position, &distance, NULL));

      const vxs_kinematics above = {a, {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}}, still = {b, {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}};
      penalty.max_clusters = 0;
      OK(vxs_query_penalty(DYNAMIC(torus, above), DYNAMIC(floor, still), &penalty, workspace, &on_torus, NULL, NULL));
      const vxs_sweep rising = {up, {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}}, passing = {along, {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}};
      OK(vxs_query_continuous_penalty(SWEPT(torus, rising), SWEPT(floor, passing), &penalty, workspace, &on_torus, NULL, NULL));
      penalty.max_clusters = 4;
      OK(vxs_query_penalty(DYNAMIC(torus, above), DYNAMIC(floor, still), &penalty, workspace, &on_torus, NULL, NULL));
      OK(vxs_query_impulse(DYNAMIC(torus, above), &light, DYNAMIC(floor, still), &light, &impulse, workspace, &impulses));
      /* Into the floor, with a fault on the way. */
      const vxs_device_state state = {at(0, 0.16 - 0.002 * step, 0), {{0, -0.2, 0}, {0, 0, 0}}, step != 10, 0};
      const vxs_wrench hand = {{0, -1, 0}, {0, 0, 0}};
      for (uint32_t renderer = 0; renderer < 5; renderer++) {
        if (haptics[renderer] == NULL) continue;
        OK(vxs_haptics_step(haptics[renderer], &state, step == 5 ? 0 : 1e-3, &output));
        OK(vxs_haptics_simulate(haptics[renderer], &report));
        if (report.contacts > felt) felt = report.contacts;
        OK(vxs_haptics_step_admittance(haptics[renderer], &hand, true, 1e-3, &motion));
      }
    }
    if (round == 2) CHECK(count() == before);
  }
  CHECK(most > 0 && felt > 0);
  for (uint32_t renderer = 0; renderer < 5; renderer++) OK(vxs_haptics_release(haptics[renderer]));

  OK(vxs_field_release(field));
  OK(vxs_workspace_destroy(workspace));
  OK(vxs_shape_release(floor));
  OK(vxs_shape_release(torus));
  REFUSED(VXS_INVALID_ARGUMENT, "count is null", vxs_allocation_count(NULL));
  puts("allocations: ok");
  return 0;
}

#else

int main(void) {
  uint64_t count = 77;
  REFUSED(VXS_UNSUPPORTED, "allocation-counter", vxs_allocation_count(&count));
  CHECK(count == 77);
  puts("allocations: ok (the library does not count)");
  return 0;
}

#endif
