/* Rows of: the functions of shapes and of their forms. */

ROWS(vxs_shape_retain) {
  vxs_shape *shape = tetrahedron(), *kept = shape;
  OUTPUT(vxs_shape *, out);
#define CALL vxs_shape_retain(shape, out)
  HANDLE(shape, shape);
  POINTER(out);
  PANIC();
#undef CALL
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_release) {
  vxs_shape *shape = NULL;
#define CALL vxs_shape_release(shape)
  OK(CALL);
  shape = tetrahedron();
  LIVE_HANDLE(shape, shape);
  PANIC();
  OK(CALL);
#undef CALL
}

ROWS(vxs_shape_save) {
  vxs_shape *shape = tetrahedron(), *kept = shape, *exact = NULL;
  const char *path = "bad_input_walk.voxshell";
  OK(vxs_shape_create_sphere(1, &exact));
#define CALL vxs_shape_save(shape, path)
  HANDLE(shape, shape);
  ROW(VXS_UNSUPPORTED, shape, exact, "");
  FILE_NAME(path);
  ROW(VXS_IO, path, "no-such-directory/shape.voxshell", "no-such-directory");
  PANIC();
#undef CALL
  CHECK(fopen(path, "r") == NULL);
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_save_as) {
  vxs_shape *shape = tetrahedron(), *kept = shape, *exact = NULL;
  const char *path = "bad_input_walk.voxshell";
  uint32_t store = VXS_STORE_RAW;
  OK(vxs_shape_create_sphere(1, &exact));
#define CALL vxs_shape_save_as(shape, path, store)
  HANDLE(shape, shape);
  ROW(VXS_UNSUPPORTED, shape, exact, "");
  FILE_NAME(path);
  ROW(VXS_IO, path, "no-such-directory/shape.voxshell", "no-such-directory");
  CHOICE(store, 2);
  PANIC();
#undef CALL
  CHECK(fopen(path, "r") == NULL);
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_serialize) {
  vxs_shape *shape = tetrahedron(), *kept = shape, *exact = NULL;
  unsigned char out_given[64], *out = watch(out_given, sizeof out_given);
  size_t capacity = sizeof out_given, needed = 0;
  OUTPUT(size_t, size);
  OK(vxs_shape_create_sphere(1, &exact));
#define CALL vxs_shape_serialize(shape, out, capacity, size)
  HANDLE(shape, shape);
  ROW(VXS_UNSUPPORTED, shape, exact, "");
  OUTPUT_ARRAY(out, capacity);
  POINTER(size);
  CHECK(vxs_shape_serialize(shape, NULL, 0, &needed) == VXS_TRUNCATED && needed > sizeof out_given);
  CHECK(vxs_shape_serialize(shape, out, capacity, &needed) == VXS_TRUNCATED && memcmp(out, now.outputs[0].before, capacity) == 0);
  PANIC();
#undef CALL
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_prepare_coverage) {
  vxs_shape *shape = tetrahedron(), *kept = shape;
  uint32_t coverage = VXS_COVERAGE_FACETS;
#define CALL vxs_shape_prepare_coverage(shape, coverage)
  HANDLE(shape, shape);
  INVALID(coverage, 3, "coverage is 3; expected one of the VXS_COVERAGE_ constants, 0 to 2");
  PANIC();
#undef CALL
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_prepare_extremes) {
  vxs_shape *shape = tetrahedron(), *kept = shape;
#define CALL vxs_shape_prepare_extremes(shape)
  HANDLE(shape, shape);
  PANIC();
#undef CALL
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_prepare_triangles) {
  vxs_shape *shape = tetrahedron(), *kept = shape;
#define CALL vxs_shape_prepare_triangles(shape)
  HANDLE(shape, shape);
  PANIC();
#undef CALL
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_create_with_materials) {
  vxs_shape *shape = tetrahedron(), *kept = shape, *exact = NULL;
  uint32_t materials_given[4] = {7, 0, 7, VXS_MATERIAL_NONE}, *materials = materials_given;
  size_t count = 4;
  OUTPUT(vxs_shape *, out);
  OK(vxs_shape_create_sphere(1, &exact));
#define CALL vxs_shape_create_with_materials(shape, materials, count, out)
  HANDLE(shape, shape);
  INVALID(shape, exact, "materials is 4 numbers; expected none for a shape without triangles");
  ARRAY(materials, count);
  INVALID(count, 3, "materials is 3 numbers; expected one for each of the 4 triangles");
  POINTER(out);
  PANIC();
#undef CALL
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_get_materials) {
  vxs_shape *shape = tetrahedron(), *kept = shape;
  uint32_t materials_given[2], *materials = watch(materials_given, sizeof materials_given);
  size_t capacity = 2;
  OUTPUT(size_t, count);
#define CALL vxs_shape_get_materials(shape, materials, capacity, count)
  HANDLE(shape, shape);
  OUTPUT_ARRAY(materials, capacity);
  POINTER(count);
  PANIC();
#undef CALL
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_get_bounds) {
  vxs_shape *shape = tetrahedron(), *kept = shape;
  OUTPUT(vxs_aabb, bounds);
#define CALL vxs_shape_get_bounds(shape, bounds)
  HANDLE(shape, shape);
  POINTER(bounds);
  PANIC();
#undef CALL
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_get_mass_properties) {
  vxs_shape *shape = tetrahedron(), *kept = shape, *exact = NULL;
  OUTPUT(vxs_mass_properties, mass);
  OK(vxs_shape_create_half_space(vec3(0, 0, 1), 0, &exact));
#define CALL vxs_shape_get_mass_properties(shape, mass)
  HANDLE(shape, shape);
  ROW(VXS_UNSUPPORTED, shape, exact, "shape has");
  POINTER(mass);
  PANIC();
#undef CALL
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_get_info) {
  vxs_shape *shape = tetrahedron(), *kept = shape;
  vxs_shape_info info_given, *info = &info_given;
  OK(vxs_shape_info_init(info, sizeof *info));
#define CALL vxs_shape_get_info(shape, info)
  HANDLE(shape, shape);
  POINTER(info);
  SIZED(info);
  PANIC();
#undef CALL
  CHECK(info->vertex_count == 0 && info->field_kind == VXS_FIELD_NONE);
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_get_triangles) {
  vxs_shape *shape = tetrahedron(), *kept = shape, *exact = NULL;
  vxs_vec3 vertices_given[4], *vertices = watch(vertices_given, sizeof vertices_given);
  uint32_t indices_given[12], *indices = watch(indices_given, sizeof indices_given);
  size_t vertex_capacity = 4, index_capacity = 12, none = 0, vertices_needed = 0, indices_needed = 0;
  OUTPUT(size_t, vertex_count);
  OUTPUT(size_t, index_count);
  OK(vxs_shape_create_sphere(1, &exact));
#define CALL \
  vxs_shape_get_triangles(shape, vertices, vertex_capacity, vertex_count, indices, index_capacity, index_count)
  HANDLE(shape, shape);
  ROW(VXS_UNSUPPORTED, shape, exact, "shape has no triangles");
  OUTPUT_ARRAY(vertices, vertex_capacity);
  OUTPUT_ARRAY(indices, index_capacity);
  POINTER(vertex_count);
  POINTER(index_count);
  /* Too little capacity for one of them: neither is written, and null is allowed with capacity 0. */
  CHECK(vxs_shape_get_triangles(shape, vertices, 3, &vertices_needed, indices, 12, &indices_needed) == VXS_TRUNCATED);
  CHECK(vertices_needed == 4 && indices_needed == 12);
  CHECK(vxs_shape_get_triangles(shape, NULL, none, &vertices_needed, NULL, none, &indices_needed) == VXS_TRUNCATED);
  POINTER(vertices);
  PANIC();
#undef CALL
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_get_segments) {
  vxs_shape *shape = tetrahedron(), *kept = shape, *exact = NULL;
  uint32_t level = 0, first_given[2], *first = watch(first_given, sizeof first_given);
  size_t capacity = 2;
  OUTPUT(size_t, count);
  OK(vxs_shape_create_sphere(1, &exact));
#define CALL vxs_shape_get_segments(shape, level, first, capacity, count)
  HANDLE(shape, shape);
  ROW(VXS_UNSUPPORTED, shape, exact, "shape has no pointshell");
  ANYTHING(level); /* beyond the last it is the last */
  OUTPUT_ARRAY(first, capacity);
  POINTER(count);
  PANIC();
#undef CALL
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_query_segment) {
  vxs_shape *shape = tetrahedron(), *kept = shape, *no_field = NULL;
  vxs_pointshell *pointshell = pointshell_of(shape);
  vxs_vec3 from = {0, 0, 0}, to = {1, 1, 1};
  OUTPUT(vxs_segment_hit, hit);
  OK(vxs_shape_create(NULL, pointshell, &no_field));
#define CALL vxs_shape_query_segment(shape, from, to, hit)
  HANDLE(shape, shape);
  ROW(VXS_UNSUPPORTED, shape, no_field, "shape has no field");
  VECTOR(from);
  VECTOR(to);
  POINTER(hit);
  PANIC();
#undef CALL
  OK(vxs_pointshell_release(pointshell));
  OK(vxs_shape_release(no_field));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_query_segments) {
  vxs_shape *shape = tetrahedron(), *kept = shape, *no_field = NULL;
  vxs_pointshell *pointshell = pointshell_of(shape);
  vxs_vec3 from_given[2] = {{0, 0, 0}, {1, 0, 0}}, *from = from_given, to_given[2] = {{1, 1, 1}, {0, 1, 1}}, *to = to_given;
  vxs_segment_hit hits_given[2], *hits = watch(hits_given, sizeof hits_given);
  size_t count = 2;
  OK(vxs_shape_create(NULL, pointshell, &no_field));
#define CALL vxs_shape_query_segments(shape, from, to, count, hits)
  HANDLE(shape, shape);
  ROW(VXS_UNSUPPORTED, shape, no_field, "shape has no field");
  ARRAY(from, count);
  POINTER(to);
  VECTOR(from[1]);
  VECTOR(to[1]);
  POINTER(hits);
  PANIC();
#undef CALL
  OK(vxs_pointshell_release(pointshell));
  OK(vxs_shape_release(no_field));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_query_crossings) {
  vxs_shape *shape = tetrahedron(), *kept = shape, *no_field = NULL;
  vxs_pointshell *pointshell = pointshell_of(shape);
  vxs_vec3 from = {-1, 0.2, 0.2}, to = {1, 0.2, 0.2};
  vxs_segment_hit crossings_given[2], *crossings = watch(crossings_given, sizeof crossings_given);
  size_t capacity = 2, needed = 0;
  OUTPUT(size_t, count);
  OK(vxs_shape_create(NULL, pointshell, &no_field));
#define CALL vxs_shape_query_crossings(shape, from, to, crossings, capacity, count)
  HANDLE(shape, shape);
  ROW(VXS_UNSUPPORTED, shape, no_field, "shape has no field");
  VECTOR(from);
  VECTOR(to);
  OUTPUT_ARRAY(crossings, capacity);
  POINTER(count);
  CHECK(vxs_shape_query_crossings(shape, from, to, NULL, 0, &needed) == VXS_TRUNCATED && needed == 2);
  PANIC();
#undef CALL
  OK(vxs_pointshell_release(pointshell));
  OK(vxs_shape_release(no_field));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_segment_query_init) {
  OUTPUT(vxs_segment_query, query);
  size_t size = sizeof *query;
#define CALL vxs_segment_query_init(query, size)
  SIZE_OF(size, query);
  PANIC();
#undef CALL
}

ROWS(vxs_shape_query_intervals) {
  vxs_shape *shape = tetrahedron(), *kept = shape, *no_field = NULL, *exact = NULL;
  vxs_pointshell *pointshell = pointshell_of(shape);
  vxs_vec3 from = {-1, 0.2, 0.2}, to = {1, 0.2, 0.2};
  vxs_segment_query query_given, *query = &query_given;
  vxs_interval intervals_given[2], *intervals = watch(intervals_given, sizeof intervals_given);
  size_t capacity = 2, needed = 0;
  OUTPUT(size_t, count);
  OK(vxs_segment_query_init(query, sizeof *query));
  OK(vxs_shape_create(NULL, pointshell, &no_field));
  OK(vxs_shape_create_sphere(1, &exact));
#define CALL vxs_shape_query_intervals(shape, from, to, query, intervals, capacity, count)
  HANDLE(shape, shape);
  ROW(VXS_UNSUPPORTED, shape, no_field, "shape has no field");
  query->method = VXS_SEGMENT_BISECTION;
  ROW(VXS_UNSUPPORTED, shape, exact, "a field on a grid");
  query->method = VXS_SEGMENT_EXACT;
  VECTOR(from);
  VECTOR(to);
  SIZED(query);
  CHOICE(query->method, 2);
  NUMBER(query->level);
  OUTPUT_ARRAY(intervals, capacity);
  POINTER(count);
  CHECK(vxs_shape_query_intervals(shape, from, to, NULL, NULL, 0, &needed) == VXS_TRUNCATED && needed == 1);
  PANIC();
#undef CALL
  OK(vxs_pointshell_release(pointshell));
  OK(vxs_shape_release(no_field));
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(kept));
}

/* --- Forms --------------------------------------------------------------------------------------------------------------- */

ROWS(vxs_shape_get_field) {
  vxs_shape *shape = tetrahedron(), *kept = shape, *no_field = NULL;
  vxs_pointshell *pointshell = pointshell_of(shape);
  OUTPUT(vxs_field *, field);
  OK(vxs_shape_create(NULL, pointshell, &no_field));
#define CALL vxs_shape_get_field(shape, field)
  HANDLE(shape, shape);
  ROW(VXS_UNSUPPORTED, shape, no_field, "shape has no field");
  POINTER(field);
  PANIC();
#undef CALL
  OK(vxs_pointshell_release(pointshell));
  OK(vxs_shape_release(no_field));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_get_pointshell) {
  vxs_shape *shape = tetrahedron(), *kept = shape, *exact = NULL;
  OUTPUT(vxs_pointshell *, pointshell);
  OK(vxs_shape_create_sphere(1, &exact));
#define CALL vxs_shape_get_pointshell(shape, pointshell)
  HANDLE(shape, shape);
  ROW(VXS_UNSUPPORTED, shape, exact, "shape has no pointshell");
  POINTER(pointshell);
  PANIC();
#undef CALL
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_shape_create) {
  vxs_shape *whole = tetrahedron();
  vxs_field *field = field_of(whole), *kept_field = field;
  vxs_pointshell *pointshell = pointshell_of(whole), *kept_pointshell = pointshell;
  OUTPUT(vxs_shape *, shape);
#define CALL vxs_shape_create(field, pointshell, shape)
  HANDLE_OR_NULL(field, field);
  HANDLE_OR_NULL(pointshell, pointshell);
  field = NULL;
  INVALID(pointshell, NULL, "field and pointshell is both absent; expected at least one");
  field = kept_field;
  POINTER(shape);
  PANIC();
#undef CALL
  OK(vxs_field_release(kept_field));
  OK(vxs_pointshell_release(kept_pointshell));
  OK(vxs_shape_release(whole));
}

ROWS(vxs_field_release) {
  vxs_shape *shape = tetrahedron();
  vxs_field *field = NULL;
#define CALL vxs_field_release(field)
  OK(CALL);
  field = field_of(shape);
  LIVE_HANDLE(field, field);
  PANIC();
  OK(CALL);
#undef CALL
  OK(vxs_shape_release(shape));
}

ROWS(vxs_pointshell_release) {
  vxs_shape *shape = tetrahedron();
  vxs_pointshell *pointshell = NULL;
#define CALL vxs_pointshell_release(pointshell)
  OK(CALL);
  pointshell = pointshell_of(shape);
  LIVE_HANDLE(pointshell, pointshell);
  PANIC();
  OK(CALL);
#undef CALL
  OK(vxs_shape_release(shape));
}

ROWS(vxs_field_distance) {
  vxs_shape *shape = tetrahedron();
  vxs_field *field = field_of(shape), *kept = field;
  vxs_vec3 point = {0, 0, 0};
  OUTPUT(double, distance);
  OUTPUT(vxs_vec3, gradient);
#define CALL vxs_field_distance(field, point, distance, gradient)
  HANDLE(field, field);
  VECTOR(point);
  POINTER(distance);
  INVALID(gradient, (vxs_vec3 *)(void *)((char *)gradient + 1), "expected a pointer aligned to 8 bytes");
  PANIC();
#undef CALL
  OK(vxs_field_release(kept));
  OK(vxs_shape_release(shape));
}

ROWS(vxs_pointshell_get_samples) {
  vxs_shape *shape = tetrahedron();
  vxs_pointshell *pointshell = pointshell_of(shape), *kept = pointshell;
  size_t capacity = 2, needed = 0;
  vxs_vec3 points_given[2], *points = watch(points_given, sizeof points_given);
  vxs_vec3 normals_given[2], *normals = watch(normals_given, sizeof normals_given);
  OUTPUT(size_t, count);
#define CALL vxs_pointshell_get_samples(pointshell, points, normals, capacity, count)
  HANDLE(pointshell, pointshell);
  OUTPUT_ARRAY(points, capacity);
  INVALID(normals, (vxs_vec3 *)(void *)((char *)normals + 1), "expected a pointer aligned to 8 bytes");
  POINTER(count);
  CHECK(vxs_pointshell_get_samples(pointshell, NULL, NULL, 0, &needed) == VXS_TRUNCATED && needed > 2);
  PANIC();
#undef CALL
  OK(vxs_pointshell_release(kept));
  OK(vxs_shape_release(shape));
}
