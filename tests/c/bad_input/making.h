/* Rows of: version and errors, log, allocations, options, and the functions that make shapes. */

/* --- Functions that cannot fail
 * ---------------------------------------------------------------------------------------- */

ROWS(vxs_version) { CHECK(vxs_version() == (VXS_VERSION_MAJOR << 16 | VXS_VERSION_MINOR << 8 | VXS_VERSION_PATCH)); }

ROWS(vxs_version_string) { CHECK(vxs_version_string() != NULL && vxs_version_string()[0] != '\0'); }

ROWS(vxs_status_name) {
  const vxs_status unknown[] = {-1, 13, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    CHECK(strcmp(vxs_status_name(unknown[i]), "unknown status") == 0);
  see("status");
}

ROWS(vxs_last_error) { CHECK(vxs_last_error() != NULL); }

/* --- Log and allocations ------------------------------------------------------------------------------------------------ */

static void never(uint32_t level, const char *message, void *user) {
  (void)level, (void)user;
  fprintf(stderr, "a refused hook was called: %s\n", message);
  exit(1);
}

ROWS(vxs_set_log) {
  vxs_log_fn log = never;
  uint32_t level = VXS_LOG_DEBUG;
  void *user = NULL;
#define CALL vxs_set_log(log, level, user)
  INVALID(level, 0, "level is 0; expected one of the VXS_LOG_");
  CHOICE(level, 5);
  ANYTHING(log);  /* null: no log */
  ANYTHING(user); /* the hook's own */
  PANIC();
#undef CALL
}

ROWS(vxs_log) {
  uint32_t level = VXS_LOG_DEBUG;
  const char *message = "a message";
#define CALL vxs_log(level, message)
  INVALID(level, 0, "level is 0; expected one of the VXS_LOG_");
  CHOICE(level, 5);
  POINTER(message);
  PANIC();
#undef CALL
}

ROWS(vxs_allocation_count) {
  OUTPUT(uint64_t, count);
#define CALL vxs_allocation_count(count)
  POINTER(count);
#ifndef VOXSHELL_ALLOCATION_COUNTER
  ROW(VXS_UNSUPPORTED, count, count, "allocation-counter");
#endif
  PANIC();
#undef CALL
}

/* --- Options ------------------------------------------------------------------------------------------------------------- */

ROWS(vxs_cook_options_init) {
  OUTPUT(vxs_cook_options, options);
  size_t size = sizeof *options;
#define CALL vxs_cook_options_init(options, size)
  SIZE_OF(size, options);
  PANIC();
#undef CALL
}

ROWS(vxs_primitive_init) {
  OUTPUT(vxs_primitive, primitive);
  size_t size = sizeof *primitive;
  uint32_t kind = VXS_PRIMITIVE_BOX;
#define CALL vxs_primitive_init(primitive, size, kind)
  SIZE_OF(size, primitive);
  CHOICE(kind, 14);
  PANIC();
#undef CALL
}

ROWS(vxs_query_init) {
  OUTPUT(vxs_query, query);
  size_t size = sizeof *query;
#define CALL vxs_query_init(query, size)
  SIZE_OF(size, query);
  PANIC();
#undef CALL
}

ROWS(vxs_query_limit_init) {
  OUTPUT(vxs_query_limit, limit);
  size_t size = sizeof *limit;
#define CALL vxs_query_limit_init(limit, size)
  SIZE_OF(size, limit);
  PANIC();
#undef CALL
}

ROWS(vxs_query_step_init) {
  OUTPUT(vxs_query_step, step);
  size_t size = sizeof *step;
#define CALL vxs_query_step_init(step, size)
  SIZE_OF(size, step);
  PANIC();
#undef CALL
}

ROWS(vxs_query_segmentation_init) {
  OUTPUT(vxs_query_segmentation, segmentation);
  size_t size = sizeof *segmentation;
#define CALL vxs_query_segmentation_init(segmentation, size)
  SIZE_OF(size, segmentation);
  PANIC();
#undef CALL
}

ROWS(vxs_query_report_init) {
  OUTPUT(vxs_query_report, report);
  size_t size = sizeof *report;
#define CALL vxs_query_report_init(report, size)
  SIZE_OF(size, report);
  PANIC();
#undef CALL
}

ROWS(vxs_shape_info_init) {
  OUTPUT(vxs_shape_info, info);
  size_t size = sizeof *info;
#define CALL vxs_shape_info_init(info, size)
  SIZE_OF(size, info);
  PANIC();
#undef CALL
}

/* --- Cooking ------------------------------------------------------------------------------------------------------------- */

/* The rows of `options` in each function that reads them. A null pointer means the defaults. */
#define READ_OPTIONS(options)                                                                         \
  do {                                                                                                \
    SIZED(options);                                                                                   \
    INVALID(options->forms, 0, "options->forms is 0; expected");                                      \
    INVALID(options->forms, 4, "options->forms is 4; expected");                                      \
    NUMBER(options->voxel_size);                                                                      \
    INVALID(options->voxel_size, -0.01, "options->voxel_size is -0.01; expected a positive");         \
    NUMBER(options->spacing);                                                                         \
    INVALID(options->spacing, -1, "options->spacing is -1; expected a positive");                     \
    CHOICE(options->sampling, 99);                                                                    \
    NUMBER(options->sharp_angle);                                                                     \
    INVALID(options->sharp_angle, -1, "options->sharp_angle is -1; expected");                        \
    INVALID(options->branching, 1, "options->branching is 1; expected 2 to 64");                      \
    INVALID(options->branching, 65, "options->branching is 65; expected 2 to 64");                    \
    CHOICE(options->tree, 2);                                                                         \
    NUMBER(options->weld_tolerance);                                                                  \
    INVALID(options->weld_tolerance, -1, "options->weld_tolerance is -1; expected");                  \
    CHOICE(options->field_storage, 4);                                                                \
    CHOICE(options->clustering, 2);                                                                   \
    NUMBER(options->target_error);                                                                    \
    INVALID(options->target_error, -1, "options->target_error is -1; expected a positive");           \
    options->target_error = 0.01;                                                                     \
    INVALID(options->voxel_size, 0.01, "options->target_error is 0.01; expected 0 beside a voxel_size"); \
    options->target_error = 0;                                                                        \
    NUMBER(options->offset);                                                                          \
    INVALID(options->offset, -1, "options->offset is -1; expected a positive");                       \
    INVALID(options->offset, 1e-9, "offset is 0.000000001; expected 0 for none, or at least a voxel's diagonal"); \
  } while (0)

/* The rows of `options` in each function that cooks. */
#define COOK_OPTIONS(options)                                                                         \
  do {                                                                                                \
    READ_OPTIONS(options);                                                                            \
    ROW(VXS_TOO_LARGE, options->voxel_size, 1e-300, "bytes; the limit is");                           \
    ROW(VXS_TOO_LARGE, options->resolution, UINT32_MAX, "bytes; the limit is");                       \
    ROW(VXS_TOO_LARGE, options->padding_voxels, UINT32_MAX, "bytes; the limit is");                   \
    ROW(VXS_TOO_LARGE, options->memory_limit, 1000, "bytes; the limit is 1000 bytes");                \
    options->memory_limit = UINT64_MAX;                                                               \
    ROW(VXS_TOO_LARGE, options->voxel_size, 1e-300, "expected at most 1048576 nodes along each axis: try a larger"); \
    options->memory_limit = coarse().memory_limit;                                                    \
    ROW(VXS_CANCELLED, options->progress, cancel, "cancelled");                                       \
  } while (0)

static bool cancel(const char *stage, double fraction, void *user) {
  (void)stage, (void)fraction, (void)user;
  return false;
}

static vxs_cook_options coarse(void) {
  vxs_cook_options options;
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 16;
  return options;
}

/* The rows of a mesh in each function that takes one. */
#define MESH(vertices, vertex_count, indices, triangle_count)                                                         \
  do {                                                                                                                \
    ARRAY(vertices, vertex_count);                                                                                    \
    ARRAY(indices, triangle_count);                                                                                   \
    ROW(VXS_INVALID_MESH, vertex_count, 0, "vertex_count is 0; expected at least one");                               \
    ROW(VXS_INVALID_MESH, vertex_count, 3, "indices[5] (triangle 1, corner 2) is 3; expected less than vertex_count"); \
    ROW(VXS_INVALID_MESH, triangle_count, 0, "triangle_count is 0; expected at least one");                           \
    ROW(VXS_INVALID_MESH, vertices[2].y, NAN, "vertices[2].y is NaN; expected a finite");                             \
    ROW(VXS_INVALID_MESH, vertices[2].y, 1.0001e18, "vertices[2].y is 1.0001e18; expected a finite");                    \
    ROW(VXS_INVALID_MESH, vertices[3].z, -INFINITY, "vertices[3].z is -inf; expected a finite");                      \
    ROW(VXS_INVALID_MESH, indices[7], UINT32_MAX, "indices[7] (triangle 2, corner 1) is 4294967295; expected less");   \
  } while (0)

ROWS(vxs_shape_create_from_triangles) {
  vxs_vec3 vertices_given[4], *vertices = vertices_given;
  uint32_t indices_given[12], *indices = indices_given;
  vxs_cook_options options_given = coarse(), *options = &options_given;
  size_t vertex_count = 4, triangle_count = 4;
  OUTPUT(vxs_shape *, shape);
  memcpy(vertices, TETRAHEDRON, sizeof TETRAHEDRON);
  memcpy(indices, FACES, sizeof FACES);
#define CALL vxs_shape_create_from_triangles(vertices, vertex_count, indices, triangle_count, options, shape)
  MESH(vertices, vertex_count, indices, triangle_count);
  ROW(VXS_INVALID_MESH, triangle_count, 1, "expected a mesh that encloses a volume");
  COOK_OPTIONS(options);
  POINTER(shape);
  PANIC();
#undef CALL
}

ROWS(vxs_cook_estimate_memory) {
  vxs_vec3 vertices_given[4], *vertices = vertices_given;
  uint32_t indices_given[12], *indices = indices_given;
  vxs_cook_options options_given = coarse(), *options = &options_given;
  size_t vertex_count = 4, triangle_count = 4;
  OUTPUT(uint64_t, bytes);
  memcpy(vertices, TETRAHEDRON, sizeof TETRAHEDRON);
  memcpy(indices, FACES, sizeof FACES);
#define CALL vxs_cook_estimate_memory(vertices, vertex_count, indices, triangle_count, options, bytes)
  MESH(vertices, vertex_count, indices, triangle_count);
  READ_OPTIONS(options);
  ROW(VXS_UNSUPPORTED, options->target_error, 0.01, "target error");
  POINTER(bytes);
  PANIC();
#undef CALL
}

static void write_tetrahedron(const char *path) {
  FILE *file = fopen(path, "w");
  CHECK(file != NULL);
  for (int i = 0; i < 4; i++) fprintf(file, "v %g %g %g\n", TETRAHEDRON[i].x, TETRAHEDRON[i].y, TETRAHEDRON[i].z);
  for (int i = 0; i < 12; i += 3) fprintf(file, "f %u %u %u\n", FACES[i] + 1, FACES[i + 1] + 1, FACES[i + 2] + 1);
  CHECK(fclose(file) == 0);
}

ROWS(vxs_shape_create_from_file) {
  const char *path = "bad_input_walk.obj";
  vxs_cook_options options_given = coarse(), *options = &options_given;
  OUTPUT(vxs_shape *, shape);
  write_tetrahedron(path);
#define CALL vxs_shape_create_from_file(path, options, shape)
  FILE_NAME(path);
  ROW(VXS_IO, path, "no-such-file.obj", "no-such-file.obj");
  ROW(VXS_INVALID_FILE, path, "bad_input_walk.xyz", "bad_input_walk.xyz");
  COOK_OPTIONS(options);
  POINTER(shape);
  PANIC();
#undef CALL
  remove(path);
}

ROWS(vxs_shape_create_primitive) {
  vxs_primitive primitive_given, *primitive = &primitive_given;
  vxs_cook_options options_given = coarse(), *options = &options_given;
  OUTPUT(vxs_shape *, shape);
  OK(vxs_primitive_init(primitive, sizeof *primitive, VXS_PRIMITIVE_TORUS));
#define CALL vxs_shape_create_primitive(primitive, options, shape)
  POINTER(primitive);
  SIZED(primitive);
  CHOICE(primitive->kind, 14);
  NUMBER(primitive->size[0]);
  NUMBER(primitive->size[1]);
  INVALID(primitive->size[1], -1, "expected");
  INVALID(primitive->size[1], 0, "expected");
  INVALID(primitive->detail[0], 1, "expected");
  INVALID(primitive->detail[0], UINT32_MAX, "expected");
  COOK_OPTIONS(options);
  POINTER(shape);
  PANIC();
#undef CALL
}

/* --- Exact shapes -------------------------------------------------------------------------------------------------------- */

ROWS(vxs_shape_create_half_space) {
  vxs_vec3 normal = {0, 0, 1};
  double offset = 0;
  OUTPUT(vxs_shape *, shape);
#define CALL vxs_shape_create_half_space(normal, offset, shape)
  DIRECTION(normal);
  INVALID(normal.z, 0, "normal is (0, 0, 0); expected");
  NUMBER(offset);
  POINTER(shape);
  PANIC();
#undef CALL
}

ROWS(vxs_shape_create_box) {
  vxs_vec3 half_extents = {1, 2, 3};
  OUTPUT(vxs_shape *, shape);
#define CALL vxs_shape_create_box(half_extents, shape)
  LENGTH(half_extents.x);
  LENGTH(half_extents.y);
  LENGTH(half_extents.z);
  POINTER(shape);
  PANIC();
#undef CALL
}

ROWS(vxs_shape_create_sphere) {
  double radius = 1;
  OUTPUT(vxs_shape *, shape);
#define CALL vxs_shape_create_sphere(radius, shape)
  LENGTH(radius);
  POINTER(shape);
  PANIC();
#undef CALL
}

ROWS(vxs_shape_create_capsule) {
  double radius = 1, half_height = 1;
  uint32_t axis = 0;
  OUTPUT(vxs_shape *, shape);
#define CALL vxs_shape_create_capsule(radius, half_height, axis, shape)
  LENGTH(radius);
  LENGTH(half_height);
  CHOICE(axis, 3);
  POINTER(shape);
  PANIC();
#undef CALL
}

ROWS(vxs_shape_create_cylinder) {
  double radius = 1, half_height = 1;
  uint32_t axis = 1;
  OUTPUT(vxs_shape *, shape);
#define CALL vxs_shape_create_cylinder(radius, half_height, axis, shape)
  LENGTH(radius);
  LENGTH(half_height);
  CHOICE(axis, 3);
  POINTER(shape);
  PANIC();
#undef CALL
}

ROWS(vxs_shape_create_cone) {
  double radius = 1, height = 1;
  uint32_t axis = 2;
  OUTPUT(vxs_shape *, shape);
#define CALL vxs_shape_create_cone(radius, height, axis, shape)
  LENGTH(radius);
  LENGTH(height);
  CHOICE(axis, 3);
  POINTER(shape);
  PANIC();
#undef CALL
}

ROWS(vxs_shape_create_torus) {
  double ring_radius = 2, tube_radius = 1;
  uint32_t axis = 1;
  OUTPUT(vxs_shape *, shape);
#define CALL vxs_shape_create_torus(ring_radius, tube_radius, axis, shape)
  LENGTH(ring_radius);
  LENGTH(tube_radius);
  INVALID(tube_radius, 2, "tube_radius is 2; expected a length of less than ring_radius");
  CHOICE(axis, 3);
  POINTER(shape);
  PANIC();
#undef CALL
}

ROWS(vxs_shape_create_convex_hull) {
  vxs_vec3 points_given[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}}, *points = points_given;
  size_t point_count = 5;
  OUTPUT(vxs_shape *, shape);
#define CALL vxs_shape_create_convex_hull(points, point_count, shape)
  ARRAY(points, point_count);
  INVALID(point_count, 0, "point_count is 0; expected at least");
  INVALID(points[3].x, NAN, "points[3].x is NaN; expected a finite");
  INVALID(points[0].z, INFINITY, "points[0].z is inf; expected a finite");
  INVALID(points[0].z, -1e300, "points[0].z is -1e300; expected a finite");
  INVALID(point_count, 4, "points is 4 points in one plane; expected");
  INVALID(point_count, 3, "points is 3 points");
  POINTER(shape);
  PANIC();
#undef CALL
}

ROWS(vxs_shape_create_triangles) {
  vxs_vec3 vertices_given[4], *vertices = vertices_given;
  uint32_t indices_given[12], *indices = indices_given;
  size_t vertex_count = 4, triangle_count = 4;
  double weld_tolerance = 0;
  OUTPUT(vxs_shape *, shape);
  memcpy(vertices, TETRAHEDRON, sizeof TETRAHEDRON);
  memcpy(indices, FACES, sizeof FACES);
#define CALL vxs_shape_create_triangles(vertices, vertex_count, indices, triangle_count, weld_tolerance, shape)
  MESH(vertices, vertex_count, indices, triangle_count);
  NUMBER(weld_tolerance);
  INVALID(weld_tolerance, -1, "weld_tolerance is -1; expected");
  ROW(VXS_INVALID_MESH, weld_tolerance, 100, "expected an extent of at least");
  POINTER(shape);
  PANIC();
#undef CALL
}

ROWS(vxs_shape_create_sheet) {
  vxs_vec3 vertices_given[4], *vertices = vertices_given;
  uint32_t indices_given[12], *indices = indices_given;
  size_t vertex_count = 4, triangle_count = 4;
  double depth = 0.1;
  OUTPUT(vxs_shape *, shape);
  memcpy(vertices, TETRAHEDRON, sizeof TETRAHEDRON);
  memcpy(indices, FACES, sizeof FACES);
#define CALL vxs_shape_create_sheet(vertices, vertex_count, indices, triangle_count, depth, shape)
  MESH(vertices, vertex_count, indices, triangle_count);
  LENGTH(depth);
  POINTER(shape);
  PANIC();
#undef CALL
}

ROWS(vxs_shape_create_sphere_hull) {
  vxs_vec3 centers_given[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}, *centers = centers_given;
  double radii_given[4] = {0.1, 0.2, 0, 0.3}, *radii = radii_given;
  size_t sphere_count = 4;
  OUTPUT(vxs_shape *, shape);
#define CALL vxs_shape_create_sphere_hull(centers, radii, sphere_count, shape)
  POINTER(centers);
  POINTER(radii);
  INVALID(sphere_count, 0, "sphere_count is 0; expected 1 to 64");
  INVALID(sphere_count, 65, "sphere_count is 65; expected 1 to 64");
  INVALID(sphere_count, SIZE_MAX, "sphere_count is");
  INVALID(centers[3].x, NAN, "centers[3].x is NaN; expected a finite");
  INVALID(centers[0].z, INFINITY, "centers[0].z is inf; expected a finite");
  LIMITED(centers[2].y);
  LIMITED(radii[2]);
  INVALID(radii[1], -1, "radii[1] is -1; expected 0 or a positive");
  INVALID(radii[1], NAN, "radii[1] is NaN; expected 0 or a positive");
  INVALID(radii[3], INFINITY, "radii[3] is inf; expected 0 or a positive");
  radii[0] = radii[1] = 0;
  INVALID(radii[3], 0, "radii is all 0");
  POINTER(shape);
  PANIC();
#undef CALL
}

ROWS(vxs_shape_create_scaled) {
  vxs_shape *shape = tetrahedron(), *kept = shape;
  double factor = 2;
  OUTPUT(vxs_shape *, scaled);
#define CALL vxs_shape_create_scaled(shape, factor, scaled)
  HANDLE(shape, shape);
  INVALID(factor, 0, "factor is 0; expected a positive");
  INVALID(factor, -1, "factor is -1; expected a positive");
  INVALID(factor, NAN, "factor is NaN; expected a positive");
  INVALID(factor, INFINITY, "factor is inf; expected a positive");
  LIMITED(factor);
  INVALID(factor, 1e-300, "factor is 1e-300");
  INVALID(factor, 1e-19, "factor is 1e-19");
  POINTER(scaled);
  PANIC();
#undef CALL
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_load) {
  const char *path = "bad_input_walk.voxshell";
  vxs_shape *saved = tetrahedron();
  FILE *file;
  OUTPUT(vxs_shape *, shape);
  OK(vxs_shape_save(saved, path));
  OK(vxs_shape_release(saved));
  CHECK((file = fopen("bad_input_walk.txt", "w")) != NULL && fputs("not a shape", file) >= 0 && fclose(file) == 0);
#define CALL vxs_shape_load(path, shape)
  FILE_NAME(path);
  ROW(VXS_IO, path, "no-such-file.voxshell", "no-such-file.voxshell");
  ROW(VXS_INVALID_FILE, path, "bad_input_walk.txt", "bad_input_walk.txt");
  POINTER(shape);
  PANIC();
#undef CALL
  remove(path);
  remove("bad_input_walk.txt");
}

ROWS(vxs_shape_deserialize) {
  vxs_shape *saved = tetrahedron();
  unsigned char bytes_given[65536];
  const void *bytes = bytes_given;
  size_t size = 0;
  OUTPUT(vxs_shape *, shape);
  OK(vxs_shape_serialize(saved, bytes_given, sizeof bytes_given, &size));
  OK(vxs_shape_release(saved));
#define CALL vxs_shape_deserialize(bytes, size, shape)
  ARRAY(bytes, size);
  ROW(VXS_INVALID_FILE, size, 0, "truncated");
  ROW(VXS_INVALID_FILE, size, size - 1, "truncated");
  ROW(VXS_INVALID_FILE, bytes, bytes_given + 1, "magic");
  ROW(VXS_INVALID_FILE, bytes_given[size / 2], bytes_given[size / 2] ^ 1, "checksum");
  POINTER(shape);
  PANIC();
#undef CALL
}
