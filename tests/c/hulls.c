/* Hierarchies of hulls: levels, distances and contacts of boxes that are known, tolerances, allocations, and the haptic tool that
 * touches by them. */
#include "check.h"

#include <math.h>
#include <stdio.h>

/* Corners are on a lattice of 2^-40 of the extent. */
#define LATTICE 1e-11

static vxs_hulls *hulls_of(uint32_t kind) {
  vxs_shape *shape = NULL;
  vxs_hulls *hulls = NULL;
  vxs_primitive primitive;
  vxs_cook_options options;
  OK(vxs_primitive_init(&primitive, sizeof primitive, kind));
  primitive.detail[0] = 40, primitive.detail[1] = 16;
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 16;
  OK(vxs_shape_create_primitive(&primitive, &options, &shape));
  OK(vxs_hulls_create_from_shape(shape, NULL, &hulls));
  OK(vxs_shape_release(shape));
  return hulls;
}

/* A box of the given half extents. */
static vxs_hulls *box(double x, double y, double z) {
  static const uint32_t FACES[36] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4, 2, 3, 7, 2, 7, 6, 1, 2, 6, 1, 6, 5, 3, 0, 4, 3, 4, 7};
  const vxs_vec3 corners[8] = {{-x, -y, -z}, {x, -y, -z}, {x, y, -z}, {-x, y, -z}, {-x, -y, z}, {x, -y, z}, {x, y, z}, {-x, y, z}};
  vxs_hulls *hulls = NULL;
  OK(vxs_hulls_create_from_triangles(corners, 8, FACES, 12, NULL, &hulls));
  return hulls;
}

static void the_levels_get_coarser(void) {
  vxs_hulls *ring = hulls_of(VXS_PRIMITIVE_TORUS);
  vxs_hulls_info info;
  vxs_hull_level levels[64];
  size_t count = 0;
  OK(vxs_hulls_get_info(ring, &info));
  CHECK(vxs_hulls_get_levels(ring, levels, 1, &count) == VXS_TRUNCATED && count == info.level_count && count <= 64);
  OK(vxs_hulls_get_levels(ring, levels, 64, &count));
  CHECK(info.surface_level_count > 1 && info.surface_level_count <= info.level_count && info.bytes > 1000);
  CHECK(levels[0].deviation == 0 && isinf(levels[0].resolution) && levels[0].triangles == info.triangle_count);
  CHECK(levels[count - 1].hulls == 1);
  size_t hulls = 0;
  for (size_t i = 0; i < count; i++) {
    hulls += levels[i].hulls;
    /* A hull without a partner to merge with goes up as it is. */
    CHECK(i == 0 || levels[i].hulls + (i < info.surface_level_count) <= levels[i - 1].hulls);
    CHECK((i < info.surface_level_count) == isfinite(levels[i].deviation));
  }
  CHECK(hulls == info.hull_count);
  OK(vxs_hulls_release(ring));
}

static void distances_and_depths_of_boxes_are_known(void) {
  vxs_hulls *plate = box(1, 0.1, 1), *cube = box(0.1, 0.1, 0.1);
  vxs_workspace *workspace = NULL;
  vxs_hulls_query query;
  OK(vxs_workspace_create(&workspace));
  OK(vxs_hulls_query_init(&query, sizeof query));
  for (int i = 0; i < 50; i++) {
    const double gap = -0.0505 + 0.003 * i;
    const vxs_hulls_body a = {plate, at(0, 0, 0)}, b = {cube, at(0.3, 0.2 + gap, -0.4)};
    vxs_hull_distance closest;
    vxs_contact contact;
    size_t count = 9;
    bool found = false;
    OK(vxs_query_hull_distance(&a, &b, NULL, workspace, &closest, &found));
    CHECK(found);
    if (gap > 0) {
      NEAR(closest.distance, gap, LATTICE);
      NEAR(closest.point_on_a.y, 0.1, LATTICE);
      NEAR(closest.point_on_b.y, 0.1 + gap, LATTICE);
    } else {
      CHECK(closest.distance == 0);
    }
    query.max_separation = 0.01;
    OK(vxs_query_hull_contacts(&a, &b, &query, workspace, &contact, 1, &count));
    CHECK(count == (gap <= 0.01));
    if (count > 0) {
      NEAR(contact.separation, gap, LATTICE);
      NEAR(contact.normal.y, 1, LATTICE);
    }
    query.max_distance = 0.02;
    OK(vxs_query_hull_distance(&a, &b, &query, workspace, &closest, &found));
    CHECK(found == (gap <= 0.02));
  }
  OK(vxs_hulls_release(plate));
  OK(vxs_hulls_release(cube));
  OK(vxs_workspace_destroy(workspace));
}

static void a_tolerance_saves_work_and_warm_queries_do_not_allocate(void) {
  vxs_hulls *ring = hulls_of(VXS_PRIMITIVE_TORUS);
  vxs_workspace *workspace = NULL;
  vxs_hulls_query query;
  static vxs_contact contacts[10000];
  uint64_t work[2] = {0, 0};
  OK(vxs_workspace_create(&workspace));
  OK(vxs_hulls_query_init(&query, sizeof query));
  query.max_separation = 0.01;
  vxs_hulls_report report;
  OK(vxs_workspace_get_hulls_report(workspace, &report));
  CHECK(report.pairs == 0 && report.triangles == 0);
  for (int pass = 0; pass < 2; pass++) {
    uint64_t before = 0, after = 0;
    OK(vxs_allocation_count(&before));
    for (int k = 0; k < 2; k++) {
      query.tolerance = 0.05 * k;
      for (int i = 0; i < 40; i++) {
        const vxs_hulls_body a = {ring, at(0, 0, 0)}, b = {ring, at(0.02 * i, 0.005 * i, 0.3)};
        vxs_hull_distance closest;
        size_t count;
        bool found;
        OK(vxs_query_hull_distance(&a, &b, &query, workspace, &closest, &found));
        OK(vxs_query_hull_contacts(&a, &b, &query, workspace, contacts, 10000, &count));
        for (size_t j = 1; j < count; j++) CHECK(contacts[j - 1].separation <= contacts[j].separation);
        OK(vxs_workspace_get_hulls_report(workspace, &report));
        if (pass == 0) work[k] += report.pairs;
      }
    }
    OK(vxs_allocation_count(&after));
    CHECK(pass == 0 || after == before);
  }
  CHECK(work[1] < work[0]);
  OK(vxs_hulls_release(ring));
  OK(vxs_workspace_destroy(workspace));
}

/* A ball of 40 mm is pressed 2 mm into a plate: the springs of the coupling and of the contact are in series. */
static void a_tool_touches_by_its_hulls(void) {
  vxs_primitive primitive;
  vxs_cook_options options;
  vxs_shape *bare = NULL, *ball = NULL, *plate = NULL, *plate_bare = NULL;
  vxs_hulls *of_ball = NULL, *of_plate = NULL, *same = NULL;
  OK(vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_SPHERE));
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 16;
  primitive.size[0] = 0.02;
  OK(vxs_shape_create_primitive(&primitive, &options, &bare));
  OK(vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_BOX));
  primitive.size[0] = primitive.size[2] = 0.2, primitive.size[1] = 0.02;
  OK(vxs_shape_create_primitive(&primitive, &options, &plate_bare));
  vxs_haptics_settings settings;
  OK(vxs_haptics_settings_init(&settings, sizeof settings, VXS_RENDERER_PENALTY, bare, 0.1, NULL));
  settings.detection = VXS_DETECTION_HULLS;
  settings.contact.tolerance = 0.01;
  vxs_haptics *haptics = NULL;
  vxs_body body = {plate_bare, at(0, 0, 0)};
  REFUSED(VXS_UNSUPPORTED, "hulls", vxs_haptics_create(&settings, bare, &body, 1, &haptics));
  OK(vxs_hulls_create_from_shape(bare, NULL, &of_ball));
  OK(vxs_hulls_create_from_shape(plate_bare, NULL, &of_plate));
  OK(vxs_shape_create_with_hulls(bare, of_ball, &ball));
  OK(vxs_shape_create_with_hulls(plate_bare, of_plate, &plate));
  REFUSED(VXS_UNSUPPORTED, "shape has no hulls", vxs_shape_get_hulls(bare, &same));
  OK(vxs_shape_get_hulls(ball, &same));
  body.shape = plate;
  OK(vxs_haptics_create(&settings, ball, &body, 1, &haptics));
  OK(vxs_hulls_release(of_ball));
  OK(vxs_hulls_release(of_plate));
  OK(vxs_hulls_release(same));
  OK(vxs_shape_release(ball));
  OK(vxs_shape_release(plate));
  OK(vxs_shape_release(bare));
  OK(vxs_shape_release(plate_bare));
  const double height = 0.038;
  vxs_device_state state = {at(0, height, 0), {{0, 0, 0}, {0, 0, 0}}, 1, 0};
  vxs_haptics_output output;
  for (int i = 0; i < 3000; i++) {
    OK(vxs_haptics_step(haptics, &state, 1e-3, &output));
    OK(vxs_haptics_simulate(haptics, NULL));
  }
  /* A contact for each convex piece of the ball that touches. */
  CHECK(output.contacts >= 1 && output.contacts <= 2 && output.touched == 1);
  const double pressed = output.tool.position.y - height;
  CHECK(output.wrench.force.y > 0 && pressed > 0 && pressed < 0.0021);
  NEAR(output.contact.force.y, output.wrench.force.y, 0.02 * output.wrench.force.y);
  OK(vxs_haptics_release(haptics));
}

int main(void) {
  the_levels_get_coarser();
  distances_and_depths_of_boxes_are_known();
  a_tolerance_saves_work_and_warm_queries_do_not_allocate();
  a_tool_touches_by_its_hulls();
  printf("hulls: ok\n");
  return 0;
}
