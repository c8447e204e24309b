/* Cooking: resolution, memory, and cancellation. */
#include "check.h"

struct stop {
  const char *stage;
  double fraction;
  int calls, calls_after;
  bool stopped;
};

/* Continues until the stage reaches the given fraction. */
static bool stop_there(const char *stage, double fraction, void *user) {
  struct stop *stop = user;
  stop->calls++;
  if (stop->stopped) stop->calls_after++;
  if (strcmp(stage, stop->stage) == 0 && fraction >= stop->fraction) stop->stopped = true;
  return !stop->stopped;
}

static vxs_primitive knot(void) {
  vxs_primitive primitive;
  OK(vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_TORUS_KNOT));
  return primitive;
}

static vxs_cook_options defaults(void) {
  vxs_cook_options options;
  OK(vxs_cook_options_init(&options, sizeof options));
  return options;
}

/* Cancelled in the middle of a stage with running threads: no shape is made, and the callback is not called again. */
static void cancelled_in_the_middle(uint32_t storage, const char *stage, double fraction) {
  struct stop stop = {stage, fraction, 0, 0, false};
  vxs_primitive primitive = knot();
  vxs_cook_options options = defaults();
  vxs_shape *shape = NULL;
  options.resolution = runs_slowly() ? 64 : 96;
  options.field_storage = storage;
  options.progress = stop_there;
  options.progress_user = &stop;
  REFUSED(VXS_CANCELLED, "cancelled", vxs_shape_create_primitive(&primitive, &options, &shape));
  CHECK(shape == NULL && stop.stopped && stop.calls > 1 && stop.calls_after == 0);
  /* The same options cook without cancellation. */
  stop.stage = "no such stage";
  stop.stopped = false;
  OK(vxs_shape_create_primitive(&primitive, &options, &shape));
  OK(vxs_shape_release(shape));
}

static void to_a_target_error(void) {
  vxs_primitive primitive = knot();
  vxs_cook_options options = defaults();
  vxs_shape_info coarse, fine;
  vxs_shape *shape = NULL;
  OK(vxs_shape_info_init(&coarse, sizeof coarse));
  OK(vxs_shape_info_init(&fine, sizeof fine));
  options.field_storage = VXS_STORAGE_BRICKS;
  options.target_error = 0.01;
  OK(vxs_shape_create_primitive(&primitive, &options, &shape));
  OK(vxs_shape_get_info(shape, &coarse));
  OK(vxs_shape_release(shape));
  options.target_error = 0.002;
  OK(vxs_shape_create_primitive(&primitive, &options, &shape));
  OK(vxs_shape_get_info(shape, &fine));
  OK(vxs_shape_release(shape));
  CHECK(coarse.field_error_max <= 0.01 && fine.field_error_max <= 0.002 && fine.voxel_size < coarse.voxel_size);

  shape = NULL;
  options.target_error = 1e-6;
  options.memory_limit = (runs_slowly() ? 16 : 32) << 20;
  REFUSED(VXS_TOO_LARGE, "m was reached with voxels of", vxs_shape_create_primitive(&primitive, &options, &shape));
  options.forms = VXS_FORM_POINTSHELL;
  REFUSED(VXS_INVALID_ARGUMENT, "target_error", vxs_shape_create_primitive(&primitive, &options, &shape));
  CHECK(shape == NULL);
}

/* The distance is that to the triangles, and its error a bound. */
static void exact_near_the_surface(void) {
  const double half[3] = {0.5, 0.4, 0.3};
  vxs_vec3 corners[8];
  const uint32_t indices[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
  vxs_cook_options options = defaults();
  vxs_shape_info info;
  vxs_shape *shape = NULL;
  vxs_segment_hit hit;
  for (int i = 0; i < 8; i++) {
    corners[i].x = (i & 1) ? half[0] : -half[0];
    corners[i].y = (i & 2) ? half[1] : -half[1];
    corners[i].z = (i & 4) ? half[2] : -half[2];
  }
  options.resolution = 16;
  options.field_storage = VXS_STORAGE_EXACT;
  OK(vxs_shape_create_from_triangles(corners, 8, indices, 12, &options, &shape));
  OK(vxs_shape_info_init(&info, sizeof info));
  OK(vxs_shape_get_info(shape, &info));
  CHECK(info.field_kind == VXS_FIELD_EXACT);
  CHECK(info.field_error_max > 0 && info.field_error_max < 1e-3 * info.voxel_size);
  /* Past the edge between +x and +y, a thousandth of a voxel beside it and inside. */
  for (int inside = 0; inside < 2; inside++) {
    const double off = (inside ? -1e-3 : 1e-3) * info.voxel_size;
    const vxs_vec3 from = {half[0] + off - 0.2, half[1] + off + 0.2, 0.1};
    const vxs_vec3 to = {half[0] + off + 0.2, half[1] + off - 0.2, 0.1};
    OK(vxs_shape_query_segment(shape, from, to, &hit));
    CHECK(hit.hit == (inside == 1));
  }
  OK(vxs_shape_release(shape));
  shape = NULL;
  REFUSED(VXS_UNSUPPORTED, "open", vxs_shape_create_from_triangles(corners, 8, indices, 11, &options, &shape));
  options.offset = 0.2;
  REFUSED(VXS_UNSUPPORTED, "offset", vxs_shape_create_from_triangles(corners, 8, indices, 12, &options, &shape));
  CHECK(shape == NULL);
}

/* The estimate is the smallest accepted limit. */
static void memory(uint32_t storage) {
  static vxs_vec3 vertices[20000];
  static uint32_t indices[60000];
  vxs_primitive primitive = knot();
  vxs_cook_options options = defaults();
  vxs_shape *shape = NULL;
  size_t vertex_count = 0, index_count = 0;
  uint64_t bytes = 0, coarse = 0;
  options.resolution = 32;
  OK(vxs_shape_create_primitive(&primitive, &options, &shape));
  OK(vxs_shape_get_triangles(shape, vertices, 20000, &vertex_count, indices, 60000, &index_count));
  OK(vxs_shape_release(shape));

  options.field_storage = storage;
  OK(vxs_cook_estimate_memory(vertices, vertex_count, indices, index_count / 3, &options, &coarse));
  options.resolution = runs_slowly() ? 48 : 128;
  OK(vxs_cook_estimate_memory(vertices, vertex_count, indices, index_count / 3, &options, &bytes));
  CHECK(bytes > coarse && coarse > 0);
  options.memory_limit = 1000000;
  shape = NULL;
  REFUSED(VXS_TOO_LARGE, "bytes; the limit is",
          vxs_shape_create_from_triangles(vertices, vertex_count, indices, index_count / 3, &options, &shape));
  options.memory_limit = bytes;
  OK(vxs_shape_create_from_triangles(vertices, vertex_count, indices, index_count / 3, &options, &shape));
  OK(vxs_shape_release(shape));
}

int main(void) {
  const uint32_t storages[2] = {VXS_STORAGE_DENSE, VXS_STORAGE_BRICKS};
  const struct {
    const char *stage;
    double fraction;
  } stops[3] = {{"distance", 0.4}, {"error", 0}, {"blue noise", 0.5}};
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 3; j++) {
      if (runs_slowly() && i == j % 2) continue;
      cancelled_in_the_middle(storages[i], stops[j].stage, stops[j].fraction);
    }
    memory(storages[i]);
  }
  to_a_target_error();
  exact_near_the_surface();
  puts("cook: ok");
  return 0;
}
