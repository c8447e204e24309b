/* Calls that describe the library, fill structs, and make shapes. */
#ifndef VOXSHELL_TESTS_FUZZ_MAKING_H
#define VOXSHELL_TESTS_FUZZ_MAKING_H

#include "values.h"

static void call_vxs_version(struct stream *s) {
  begin(s);
  const uint32_t version = vxs_version();
  leave(s);
  if (version != (VXS_VERSION_MAJOR << 16 | VXS_VERSION_MINOR << 8 | VXS_VERSION_PATCH)) fail(s, "another version");
}
static void call_vxs_version_string(struct stream *s) {
  begin(s);
  const char *version = vxs_version_string();
  leave(s);
  if (version == NULL || version[0] == '\0') fail(s, "no version");
}
static void call_vxs_status_name(struct stream *s) {
  const vxs_status status = (vxs_status)note_number(s, "status", odd(s) ? edge_number(s) : below(s, 14));
  begin(s);
  const char *name = vxs_status_name(status);
  leave(s);
  if ((strncmp(name, "VXS_", 4) == 0) != (status >= VXS_OK && status <= VXS_OUT_OF_MEMORY)) fail(s, "it gave %s", name);
}
static void call_vxs_last_error(struct stream *s) {
  begin(s);
  const char *message = vxs_last_error();
  leave(s);
  if (message == NULL) fail(s, "it gave null");
}

/* --- The log -------------------------------------------------------------------------------------------------------------------- */

struct listener {
  uint32_t magic;
  _Atomic uint64_t messages;
};
static const uint32_t LISTENING = 0x10601060;
static pthread_mutex_t setting_log = PTHREAD_MUTEX_INITIALIZER;
static struct listener *listener; /* the one that is set */

/* Returns whether a call in a hook succeeded, or was refused memory that it may be refused. */
static int is_good(vxs_status status) { return status == VXS_OK || (status == VXS_OUT_OF_MEMORY && program.enter != NULL); }

/* Calls the library from the hook, as a careless host may do. */
static void on_message(uint32_t level, const char *message, void *user) {
  struct listener *heard = user;
  vxs_aabb bounds;
  if (heard->magic != LISTENING || level < VXS_LOG_ERROR || level > VXS_LOG_DEBUG || strlen(message) > 100000 ||
      vxs_set_log(NULL, 0, NULL) != VXS_BUSY || !is_good(vxs_log(VXS_LOG_ERROR, "from the hook")) ||
      !is_good(vxs_shape_get_bounds(shared.shapes[0].handle, &bounds))) {
    fprintf(stderr, "FAILED the log hook: user, level or a call in it is wrong: \"%s\"\n", message);
    _exit(1);
  }
  if (level == VXS_LOG_ERROR && strstr(message, "a defect inside the library") != NULL) {
    fprintf(stderr, "FAILED the log says: %s\n", message);
    _exit(1);
  }
  atomic_fetch_add(&heard->messages, 1);
}

static void call_vxs_set_log(struct stream *s) {
  struct listener *next = NULL;
  const uint32_t level = choice(s, "level", 5);
  pthread_mutex_lock(&setting_log);
  if (!one_in(s, 3)) {
    next = allocated(calloc(1, sizeof *next));
    next->magic = LISTENING;
    if (level < VXS_LOG_ERROR || level > VXS_LOG_DEBUG) s->bad = 1;
  }
  struct listener *unused = next;
  if (CALL(s, vxs_set_log(next != NULL ? on_message : NULL, level, next))) {
    unused = listener;
    listener = next;
  }
  /* No call is inside the previously set hook. */
  if (unused != NULL) unused->magic = 0;
  free(unused);
  pthread_mutex_unlock(&setting_log);
}

static void call_vxs_log(struct stream *s) {
  static const char *const MESSAGES[] = {"", "a message", "two\nlines", "\xff\xfe no UTF-8", "\t\x01 control"};
  const uint32_t level = choice(s, "level", 5);
  const char *message = MESSAGES[below(s, COUNT_OF(MESSAGES))];
  if (odd(s)) message = NULL;
  if (message == NULL || level < VXS_LOG_ERROR || level > VXS_LOG_DEBUG) s->bad = 1;
  CALL(s, vxs_log(level, message));
}

static void call_vxs_allocation_count(struct stream *s) {
  uint64_t *count = OUTPUT(s, uint64_t, "count");
  s->loose = 1; /* it counts for the thread, and so for all streams that run on it */
  if (CALL(s, vxs_allocation_count(count))) {
    if (*count < s->allocations) fail(s, "%llu, after %llu", (unsigned long long)*count, (unsigned long long)s->allocations);
    s->allocations = *count;
  }
}

/* --- Structs filled by their _init ------------------------------------------------------------------------------------------------ */

#define INIT_CALL(type, init)                                                \
  static void call_##init(struct stream *s) {                                \
    type *value = OUTPUT(s, type, #type);                                    \
    const size_t size = struct_size(s, sizeof *value);                       \
    if (CALL(s, init(value, size)) && value->struct_size != size) {          \
      fail(s, "struct_size is %u after it", (unsigned)value->struct_size);   \
    }                                                                        \
  }
INIT_CALL(vxs_cook_options, vxs_cook_options_init)
INIT_CALL(vxs_query, vxs_query_init)
INIT_CALL(vxs_query_limit, vxs_query_limit_init)
INIT_CALL(vxs_query_step, vxs_query_step_init)
INIT_CALL(vxs_query_segmentation, vxs_query_segmentation_init)
INIT_CALL(vxs_query_report, vxs_query_report_init)
INIT_CALL(vxs_segment_query, vxs_segment_query_init)
INIT_CALL(vxs_shape_info, vxs_shape_info_init)
INIT_CALL(vxs_motion_query, vxs_motion_query_init)
INIT_CALL(vxs_mesh_motion_query, vxs_mesh_motion_query_init)
INIT_CALL(vxs_haptics_report, vxs_haptics_report_init)
INIT_CALL(vxs_haptics_run_options, vxs_haptics_run_options_init)
INIT_CALL(vxs_haptics_run_report, vxs_haptics_run_report_init)

static void call_vxs_primitive_init(struct stream *s) {
  vxs_primitive *primitive = OUTPUT(s, vxs_primitive, "primitive");
  const size_t size = struct_size(s, sizeof *primitive);
  const uint32_t kind = choice(s, "kind", VXS_PRIMITIVE_NUT + 1);
  if (kind > VXS_PRIMITIVE_NUT) s->bad = 1;
  if (CALL(s, vxs_primitive_init(primitive, size, kind))) {
    if (primitive->kind != kind) fail(s, "it filled in another kind");
    digest_bytes(s, primitive->size, sizeof primitive->size);
  }
}

/* --- Cooking ---------------------------------------------------------------------------------------------------------------------- */

/* Cancels after the given number of calls; 0: never. */
static bool on_progress(const char *stage, double fraction, void *user) {
  unsigned *left = user;
  if (stage == NULL || !(fraction >= 0 && fraction <= 1)) {
    fprintf(stderr, "FAILED the progress %s %g\n", stage == NULL ? "null" : stage, fraction);
    _exit(1);
  }
  return *left == 0 || --*left > 0;
}

/* Coarse, because fine cooking would take most of the time. */
static const vxs_cook_options *cook_options(struct stream *s) {
  vxs_cook_options o;
  MUST(s, vxs_cook_options_init(&o, sizeof o));
  o.resolution = (uint32_t)note_number(s, "resolution", 2 + below(s, 8));
  o.padding_voxels = (uint32_t)below(s, 3);
  o.memory_limit = 1000000;
  if (one_in(s, 6)) o.forms = 1 + (uint32_t)below(s, 2);
  if (one_in(s, 3)) o.field_storage = (uint32_t)note_number(s, "field_storage", below(s, 4));
  if (one_in(s, 4)) o.sampling = (uint32_t)note_number(s, "sampling", below(s, 5));
  if (one_in(s, 6)) o.tree = VXS_TREE_NESTED;
  if (one_in(s, 6)) o.branching = (uint32_t)note_number(s, "branching", 2 + below(s, 63));
  if (one_in(s, 6)) o.sample_count = (uint32_t)note_number(s, "sample_count", below(s, 300));
  if (one_in(s, 8)) o.weld_tolerance = note_real(s, "weld_tolerance", 1e-3 * fabs(uniform(s)));
  if (one_in(s, 8)) o.offset = note_real(s, "offset", 0.6 * fabs(uniform(s)));
  if (one_in(s, 16)) o.target_error = note_real(s, "target_error", 0.3 * fabs(uniform(s)));
  if (one_in(s, 6)) {
    unsigned *left = input(s, sizeof *left);
    *left = (unsigned)note_number(s, "cancelled after", below(s, 40));
    o.progress = on_progress;
    o.progress_user = left;
  }
  vary_struct_size(s, &o.struct_size);
  vary32(s, "forms", &o.forms);
  vary(s, "voxel_size", &o.voxel_size);
  vary32(s, "resolution", &o.resolution);
  vary32(s, "padding_voxels", &o.padding_voxels);
  vary(s, "spacing", &o.spacing);
  vary32(s, "sample_count", &o.sample_count);
  vary32(s, "sampling", &o.sampling);
  vary(s, "sharp_angle", &o.sharp_angle);
  vary32(s, "branching", &o.branching);
  vary32(s, "tree", &o.tree);
  if (odd(s)) o.memory_limit = note_number(s, "memory_limit", below(s, 300000));
  vary(s, "weld_tolerance", &o.weld_tolerance);
  vary32(s, "field_storage", &o.field_storage);
  vary32(s, "clustering", &o.clustering);
  vary(s, "target_error", &o.target_error);
  vary(s, "offset", &o.offset);
  /* Null means the defaults, which are too fine. */
  return memcpy(input(s, sizeof o), &o, sizeof o);
}

struct mesh {
  vxs_vec3 *vertices;
  size_t vertex_count;
  uint32_t *indices;
  size_t triangle_count;
};

/* Returns a tetrahedron, a box (whole, open, turned or doubled), two boxes, or a soup; sometimes with an edge value. */
static struct mesh mesh(struct stream *s) {
  static const uint32_t BOX[36] = {0, 3, 1, 0, 2, 3, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                   2, 7, 3, 2, 6, 7, 0, 6, 2, 0, 4, 6, 1, 3, 7, 1, 7, 5};
  static const uint32_t TETRAHEDRON[12] = {0, 2, 1, 0, 1, 4, 0, 4, 2, 1, 2, 4};
  const uint64_t kind = note_number(s, "mesh", below(s, 7));
  vxs_vec3 vertices[16];
  uint32_t indices[72];
  struct mesh mesh = {NULL, 8, NULL, kind == 0 ? 4 : 12};
  const double size = one_in(s, 6) ? pow(10, 6 * uniform(s)) : 1;
  double half[3];
  for (int i = 0; i < 3; i++) half[i] = size * (0.3 + 0.2 * uniform(s));
  for (int i = 0; i < 8; i++) {
    vertices[i] = (vxs_vec3){i & 1 ? half[0] : -half[0], i & 2 ? half[1] : -half[1], i & 4 ? half[2] : -half[2]};
    vertices[i + 8] = vertices[i];
    vertices[i + 8].x += 1.5 * half[0];
  }
  if (kind == 0) memcpy(indices, TETRAHEDRON, sizeof TETRAHEDRON);
  else memcpy(indices, BOX, sizeof BOX);
  const size_t changed = 3 * below(s, 12);
  if (kind == 2) mesh.triangle_count = 12 - 1 - below(s, 4); /* open */
  if (kind == 3) indices[changed + 1] = BOX[changed + 2], indices[changed + 2] = BOX[changed + 1]; /* turned */
  if (kind == 4) memcpy(indices + 36, BOX + changed, 3 * sizeof *indices), mesh.triangle_count = 13; /* doubled */
  if (kind == 5) { /* two that overlap */
    for (int i = 0; i < 36; i++) indices[36 + i] = 8 + BOX[i];
    mesh.vertex_count = 16, mesh.triangle_count = 24;
  }
  if (kind == 6) { /* any soup */
    mesh.triangle_count = 1 + below(s, 20);
    for (int i = 0; i < 8; i++) vertices[i] = (vxs_vec3){size * uniform(s), size * uniform(s), size * uniform(s)};
    for (size_t i = 0; i < 3 * mesh.triangle_count; i++) indices[i] = (uint32_t)below(s, 8);
  }
  if (odd(s)) {
    const size_t i = below(s, mesh.vertex_count);
    const double value = note_real(s, "a coordinate", edge_real(s));
    double *const axes[3] = {&vertices[i].x, &vertices[i].y, &vertices[i].z};
    *axes[below(s, 3)] = value;
    if (!isfinite(value)) s->bad = 1;
  }
  if (odd(s)) {
    const uint32_t value = (uint32_t)note_number(s, "an index", edge_number(s) & UINT32_MAX);
    indices[below(s, 3 * mesh.triangle_count)] = value;
    if (value >= mesh.vertex_count) s->bad = 1;
  }
  mesh.vertices = memcpy(input(s, mesh.vertex_count * sizeof *vertices), vertices, mesh.vertex_count * sizeof *vertices);
  mesh.indices = memcpy(input(s, 3 * mesh.triangle_count * sizeof *indices), indices, 3 * mesh.triangle_count * sizeof *indices);
  /* A smaller count may leave out the bad part. */
  const int bad = s->bad;
  const size_t vertex_count = mesh.vertex_count, triangle_count = mesh.triangle_count;
  mesh.vertex_count = count_of(s, "vertex_count", vertex_count, vertex_count, sizeof *vertices);
  mesh.triangle_count = count_of(s, "triangle_count", triangle_count, triangle_count, 3 * sizeof *indices);
  if (bad && (mesh.vertex_count < vertex_count || mesh.triangle_count < triangle_count)) s->bad = 0;
  if (odd(s)) mesh.vertices = NULL, s->bad = 1;
  if (odd(s)) mesh.indices = NULL, s->bad = 1;
  return mesh;
}

/* Returns the shape that a call has written. */
static vxs_shape *made(struct stream *s, vxs_shape *const *out) {
  if (is_untouched(out, sizeof *out)) fail(s, "VXS_OK, but no shape was written");
  return *out;
}

static void call_vxs_shape_create_from_triangles(struct stream *s) {
  const vxs_cook_options *options = cook_options(s);
  const struct mesh m = mesh(s);
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "shape");
  if (CALL(s, vxs_shape_create_from_triangles(m.vertices, m.vertex_count, m.indices, m.triangle_count, options, shape))) {
    adopt_shape(s, made(s, shape));
  }
}
static void call_vxs_cook_estimate_memory(struct stream *s) {
  const vxs_cook_options *options = cook_options(s);
  const struct mesh m = mesh(s);
  uint64_t *bytes = OUTPUT(s, uint64_t, "bytes");
  if (CALL(s, vxs_cook_estimate_memory(m.vertices, m.vertex_count, m.indices, m.triangle_count, options, bytes))) {
    digest_number(s, *bytes);
  }
}

static void call_vxs_shape_create_primitive(struct stream *s) {
  const uint32_t kind = (uint32_t)note_number(s, "kind", below(s, VXS_PRIMITIVE_NUT + 1));
  const vxs_cook_options *options = cook_options(s);
  vxs_primitive p;
  MUST(s, vxs_primitive_init(&p, sizeof p, kind));
  for (int i = 0; i < 4; i++) {
    /* Threads and gears need more segments than others. */
    p.detail[i] = kind == VXS_PRIMITIVE_TORUS_KNOT && i < 2 ? 2 + (uint32_t)i : kind >= VXS_PRIMITIVE_GEAR ? 6 : 3 + (uint32_t)below(s, 6);
    if (kind == VXS_PRIMITIVE_SPHERE || kind == VXS_PRIMITIVE_BLOB) p.detail[i] = 1;
    vary32(s, "detail", &p.detail[i]);
    /* Larger numbers are valid too, but slow. */
    if (p.detail[i] > 100 && p.detail[i] < 1u << 20) p.detail[i] = 100;
  }
  if (one_in(s, 3)) {
    for (int i = 0; i < 6; i++) p.size[i] *= 1 + 0.3 * uniform(s);
  }
  for (int i = 0; i < 6; i++) vary(s, "size", &p.size[i]);
  vary_struct_size(s, &p.struct_size);
  vary32(s, "kind", &p.kind);
  const vxs_primitive *primitive = POINTER_TO(s, vxs_primitive, "primitive", 0, p);
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "shape");
  if (CALL(s, vxs_shape_create_primitive(primitive, options, shape))) adopt_shape(s, made(s, shape));
}

/* --- Analytic shapes ----------------------------------------------------------------------------------------------------------------- */

static double length_value(struct stream *s, const char *name) {
  const double value = real(s, name, 0.05, 0.6);
  if (!(value > 0) || !isfinite(value)) s->bad = 1;
  return value;
}
static uint32_t axis_value(struct stream *s) {
  const uint32_t axis = choice(s, "axis", 3);
  if (axis > 2) s->bad = 1;
  return axis;
}
#define MADE_BY(s, call) (CALL(s, call) ? adopt_shape(s, made(s, shape)) : (void)0)

static void call_vxs_shape_create_half_space(struct stream *s) {
  const vxs_vec3 normal = vector(s, "normal", 1);
  const double offset = real(s, "offset", -0.5, 0.5);
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "shape");
  /* Of any length. */
  if (!isfinite(normal.x) || !isfinite(normal.y) || !isfinite(normal.z) || !(fabs(offset) <= LARGEST)) s->bad = 1;
  MADE_BY(s, vxs_shape_create_half_space(normal, offset, shape));
}
static void call_vxs_shape_create_box(struct stream *s) {
  const double x = length_value(s, "x"), y = length_value(s, "y"), z = length_value(s, "z");
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "shape");
  MADE_BY(s, vxs_shape_create_box((vxs_vec3){x, y, z}, shape));
}
static void call_vxs_shape_create_sphere(struct stream *s) {
  const double radius = length_value(s, "radius");
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "shape");
  MADE_BY(s, vxs_shape_create_sphere(radius, shape));
}
#define ROUND_CALL(function, height_name)                                                       \
  static void call_##function(struct stream *s) {                                               \
    const double radius = length_value(s, "radius"), height = length_value(s, height_name);     \
    const uint32_t axis = axis_value(s);                                                        \
    vxs_shape **shape = OUTPUT(s, vxs_shape *, "shape");                                        \
    MADE_BY(s, function(radius, height, axis, shape));                                          \
  }
ROUND_CALL(vxs_shape_create_capsule, "half_height")
ROUND_CALL(vxs_shape_create_cylinder, "half_height")
ROUND_CALL(vxs_shape_create_cone, "height")
ROUND_CALL(vxs_shape_create_torus, "tube_radius")

static vxs_vec3 *points_value(struct stream *s, size_t count) {
  vxs_vec3 *points = input(s, count * sizeof *points);
  for (size_t i = 0; i < count; i++) points[i] = (vxs_vec3){0.5 * uniform(s), 0.5 * uniform(s), 0.5 * uniform(s)};
  if (count > 0 && odd(s)) points[below(s, count)] = (vxs_vec3){note_real(s, "a coordinate", edge_real(s)), 0, 0};
  if (count > 1 && one_in(s, 8)) points[1] = points[0];
  return points;
}
static void call_vxs_shape_create_convex_hull(struct stream *s) {
  const size_t most = 4 + below(s, 12);
  vxs_vec3 *points = points_value(s, most);
  const size_t count = count_of(s, "point_count", most, most, sizeof *points);
  if (odd(s)) points = NULL, s->bad = 1;
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "shape");
  MADE_BY(s, vxs_shape_create_convex_hull(points, count, shape));
}
static void call_vxs_shape_create_sphere_hull(struct stream *s) {
  const size_t most = one_in(s, 30) ? 60 + below(s, 8) : 1 + below(s, 6);
  vxs_vec3 *centers = points_value(s, most);
  double *radii = input(s, most * sizeof *radii);
  for (size_t i = 0; i < most; i++) radii[i] = one_in(s, 5) ? 0 : 0.2 + 0.1 * uniform(s);
  if (odd(s)) radii[0] = note_real(s, "a radius", edge_real(s));
  const size_t count = count_of(s, "sphere_count", most, most, sizeof *centers);
  if (odd(s)) radii = NULL, s->bad = 1;
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "shape");
  MADE_BY(s, vxs_shape_create_sphere_hull(centers, radii, count, shape));
}
static void call_vxs_shape_create_triangles(struct stream *s) {
  const struct mesh m = mesh(s);
  const double weld_tolerance = one_in(s, 4) ? length_value(s, "weld_tolerance") : 0;
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "shape");
  MADE_BY(s, vxs_shape_create_triangles(m.vertices, m.vertex_count, m.indices, m.triangle_count, weld_tolerance, shape));
}
static void call_vxs_shape_create_sheet(struct stream *s) {
  const struct mesh m = mesh(s);
  const double depth = length_value(s, "depth");
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "shape");
  MADE_BY(s, vxs_shape_create_sheet(m.vertices, m.vertex_count, m.indices, m.triangle_count, depth, shape));
}

#endif
