/* Rows of: voxelmaps, and a pointshell in one. */

/* Rows of a pointer to the options of a map. */
#define VOXELMAP_OPTIONS(options)                                                                            \
  do {                                                                                                       \
    SIZED(options);                                                                                          \
    CHOICE(options->form, 6);                                                                                \
    NUMBER(options->voxel_size);                                                                             \
    INVALID(options->voxel_size, -1, "options->voxel_size is -1; expected a positive, finite");              \
    INVALID(options->resolution, 0, "options->resolution is 0; expected 1 to 32000");                        \
    INVALID(options->resolution, UINT32_MAX, "options->resolution is 4294967295; expected 1 to");            \
    INVALID(options->padding_voxels, 32001, "options->padding_voxels is 32001; expected 0 to");              \
    INVALID(options->precision, 10, "options->precision is 10; expected 0 to 9");                            \
    INVALID(options->layer_limit, 0, "options->layer_limit is 0; expected 1 to 127");                        \
    INVALID(options->layer_limit, 128, "options->layer_limit is 128; expected 1 to 127");                    \
    CHOICE(options->branching, 3);                                                                           \
    INVALID(options->offset_layers, 32001, "options->offset_layers is 32001; expected 0 to");                \
    INVALID(options->proximity_layers, 32001, "options->proximity_layers is 32001; expected 0 to");          \
    INVALID(options->reserved, 1, "options->reserved is 1; expected 0");                                     \
    ROW(VXS_TOO_LARGE, options->memory_limit, 100, "voxel");                                                 \
    ROW(VXS_TOO_LARGE, options->resolution, 13000, "expected at most 1099511627776 in all: try a larger");   \
    options->form = VXS_VOXELMAP_SCALED;                                                                     \
    INVALID(options->precision, 9, "precision is 9 for distances of up to");                                 \
    options->form = VXS_VOXELMAP_TYPES;                                                                      \
    INVALID(options->offset_layers, 40, "offset.layers is 40; expected at most");                            \
    options->form = VXS_VOXELMAP_LAYERS;                                                                     \
  } while (0)

static vxs_voxelmap_options coarse_voxels(void) {
  vxs_voxelmap_options options;
  OK(vxs_voxelmap_options_init(&options, sizeof options));
  options.resolution = 8;
  return options;
}

ROWS(vxs_voxelmap_options_init) {
  OUTPUT(vxs_voxelmap_options, options);
  size_t size = sizeof *options;
#define CALL vxs_voxelmap_options_init(options, size)
  SIZE_OF(size, options);
  PANIC();
#undef CALL
}

ROWS(vxs_voxelmap_create) {
  vxs_shape *shape = tetrahedron(), *kept = shape, *infinite = NULL, *samples = NULL;
  vxs_pointshell *pointshell = pointshell_of(shape);
  vxs_voxelmap_options options_given = coarse_voxels(), *options = &options_given;
  OUTPUT(vxs_voxelmap *, voxelmap);
  OK(vxs_shape_create_half_space((vxs_vec3){0, 1, 0}, 0, &infinite));
  OK(vxs_shape_create(NULL, pointshell, &samples));
#define CALL vxs_voxelmap_create(shape, options, voxelmap)
  HANDLE(shape, shape);
  ROW(VXS_UNSUPPORTED, shape, infinite, "finite");
  ROW(VXS_UNSUPPORTED, shape, samples, "triangles or a field");
  VOXELMAP_OPTIONS(options);
  POINTER(voxelmap);
  PANIC();
#undef CALL
  OK(vxs_shape_release(infinite));
  OK(vxs_shape_release(samples));
  OK(vxs_pointshell_release(pointshell));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_voxelmap_create_from_triangles) {
  vxs_vec3 vertices_given[4], *vertices = vertices_given;
  uint32_t indices_given[12], *indices = indices_given;
  vxs_voxelmap_options options_given = coarse_voxels(), *options = &options_given;
  size_t vertex_count = 4, triangle_count = 4;
  OUTPUT(vxs_voxelmap *, voxelmap);
  memcpy(vertices, TETRAHEDRON, sizeof TETRAHEDRON);
  memcpy(indices, FACES, sizeof FACES);
#define CALL \
  vxs_voxelmap_create_from_triangles(vertices, vertex_count, indices, triangle_count, options, voxelmap)
  MESH(vertices, vertex_count, indices, triangle_count);
  VOXELMAP_OPTIONS(options);
  POINTER(voxelmap);
  PANIC();
#undef CALL
}

ROWS(vxs_voxelmap_release) {
  vxs_voxelmap *voxelmap = NULL;
#define CALL vxs_voxelmap_release(voxelmap)
  OK(CALL);
  voxelmap = new_voxelmap();
  LIVE_HANDLE(voxelmap, voxelmap);
  PANIC();
  OK(CALL);
#undef CALL
}

ROWS(vxs_shape_create_with_voxelmap) {
  vxs_shape *shape = tetrahedron(), *kept_shape = shape;
  vxs_voxelmap *voxelmap = new_voxelmap(), *kept = voxelmap;
  OUTPUT(vxs_shape *, out);
#define CALL vxs_shape_create_with_voxelmap(shape, voxelmap, out)
  HANDLE(shape, shape);
  HANDLE(voxelmap, voxelmap);
  POINTER(out);
  PANIC();
#undef CALL
  OK(vxs_voxelmap_release(kept));
  OK(vxs_shape_release(kept_shape));
}

ROWS(vxs_shape_get_voxelmap) {
  vxs_shape *bare = tetrahedron(), *shape = NULL, *kept;
  vxs_voxelmap *map = new_voxelmap();
  OUTPUT(vxs_voxelmap *, voxelmap);
  OK(vxs_shape_create_with_voxelmap(bare, map, &shape));
  kept = shape;
#define CALL vxs_shape_get_voxelmap(shape, voxelmap)
  HANDLE(shape, shape);
  ROW(VXS_UNSUPPORTED, shape, bare, "shape has no voxelmap");
  POINTER(voxelmap);
  PANIC();
#undef CALL
  OK(vxs_voxelmap_release(map));
  OK(vxs_shape_release(bare));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_voxelmap_info_init) {
  OUTPUT(vxs_voxelmap_info, info);
  size_t size = sizeof *info;
#define CALL vxs_voxelmap_info_init(info, size)
  SIZE_OF(size, info);
  PANIC();
#undef CALL
}

ROWS(vxs_voxelmap_get_info) {
  vxs_voxelmap *voxelmap = new_voxelmap(), *kept = voxelmap;
  vxs_voxelmap_info given, *info = &given;
  OK(vxs_voxelmap_info_init(info, sizeof *info));
#define CALL vxs_voxelmap_get_info(voxelmap, info)
  HANDLE(voxelmap, voxelmap);
  POINTER(info);
  SIZED(info);
  PANIC();
#undef CALL
  OK(vxs_voxelmap_release(kept));
}

/* Rows of the points of a batch. */
#define BATCH(points, count)                                                             \
  do {                                                                                   \
    ARRAY(points, count);                                                                \
    INVALID(points[1].y, NAN, "points[1].y is NaN; expected a finite");                  \
    INVALID(points[1].z, 1.0001e18, "points[1].z is 1.0001e18; expected a finite");      \
  } while (0)

ROWS(vxs_voxelmap_get_layers) {
  vxs_voxelmap *voxelmap = new_voxelmap(), *kept = voxelmap, *distances = NULL;
  vxs_shape *shape = tetrahedron();
  vxs_voxelmap_options options = coarse_voxels();
  vxs_vec3 points_given[2] = {{0, 0, 0}, {0.2, 0.2, 0.2}}, *points = points_given;
  int32_t layers_given[2], *layers = watch(layers_given, sizeof layers_given);
  size_t count = 2;
  options.form = VXS_VOXELMAP_FLOAT;
  OK(vxs_voxelmap_create(shape, &options, &distances));
#define CALL vxs_voxelmap_get_layers(voxelmap, points, count, layers)
  HANDLE(voxelmap, voxelmap);
  ROW(VXS_UNSUPPORTED, voxelmap, distances, "voxelmap holds distances");
  BATCH(points, count);
  POINTER(layers);
  PANIC();
#undef CALL
  OK(vxs_voxelmap_release(distances));
  OK(vxs_shape_release(shape));
  OK(vxs_voxelmap_release(kept));
}

ROWS(vxs_voxelmap_get_distances) {
  vxs_voxelmap *voxelmap = new_voxelmap(), *kept = voxelmap;
  vxs_vec3 points_given[2] = {{0, 0, 0}, {0.2, 0.2, 0.2}}, *points = points_given;
  double distances_given[2], *distances = watch(distances_given, sizeof distances_given);
  vxs_vec3 gradients_given[2], *gradients = watch(gradients_given, sizeof gradients_given);
  size_t count = 2;
#define CALL vxs_voxelmap_get_distances(voxelmap, points, count, distances, gradients)
  HANDLE(voxelmap, voxelmap);
  BATCH(points, count);
  POINTER(distances);
  INVALID(gradients, (vxs_vec3 *)(void *)((char *)gradients + 1), "expected a pointer aligned to 8 bytes");
  PANIC();
#undef CALL
  OK(vxs_voxelmap_release(kept));
}

ROWS(vxs_voxelmap_get_penetrations) {
  vxs_voxelmap *voxelmap = new_voxelmap(), *kept = voxelmap;
  vxs_vec3 points_given[2] = {{0, 0, 0}, {0.2, 0.2, 0.2}}, *points = points_given;
  vxs_vec3 normals_given[2] = {{0, 0, 1}, {0, 0, 2}}, *normals = normals_given;
  double penetrations_given[2], *penetrations = watch(penetrations_given, sizeof penetrations_given);
  uint32_t rule = VXS_PENETRATION_AUTO;
  size_t count = 2;
#define CALL vxs_voxelmap_get_penetrations(voxelmap, points, normals, count, rule, penetrations)
  HANDLE(voxelmap, voxelmap);
  BATCH(points, count);
  POINTER(normals);
  INVALID(normals[1].z, 0, "normals[1] is (0, 0, 0); expected a finite");
  INVALID(normals[1].x, NAN, "normals[1] is (NaN, 0, 2); expected a finite");
  CHOICE(rule, 3);
  POINTER(penetrations);
  PANIC();
#undef CALL
  OK(vxs_voxelmap_release(kept));
}

ROWS(vxs_voxelmap_query_init) {
  OUTPUT(vxs_voxelmap_query, query);
  size_t size = sizeof *query;
#define CALL vxs_voxelmap_query_init(query, size)
  SIZE_OF(size, query);
  PANIC();
#undef CALL
}

ROWS(vxs_query_voxelmap) {
  vxs_shape *shape = tetrahedron();
  vxs_voxelmap *map = new_voxelmap();
  vxs_pointshell *shell = pointshell_of(shape);
  vxs_voxelmap_body a_given = {map, at(0, 0, 0)}, *a = &a_given;
  vxs_pointshell_body b_given = {shell, at(0, 0, 0)}, *b = &b_given;
  vxs_voxelmap_query query_given, *query = &query_given;
  vxs_workspace *workspace = new_workspace(), *kept = workspace;
  vxs_voxel_contact contacts_given[2], *contacts = watch(contacts_given, sizeof contacts_given);
  size_t capacity = 2;
  OUTPUT(vxs_voxelmap_answer, answer);
  OK(vxs_voxelmap_query_init(query, sizeof *query));
#define CALL vxs_query_voxelmap(a, b, query, workspace, answer, contacts, capacity)
  POINTER(a);
  HANDLE(a->voxelmap, voxelmap);
  POSE_VALUE(a->pose);
  POINTER(b);
  HANDLE(b->pointshell, pointshell);
  POSE_VALUE(b->pose);
  SIZED(query);
  CHOICE(query->rule, 3);
  NUMBER(query->stiffness);
  INVALID(query->stiffness, -1, "query->stiffness is -1; expected");
  VECTOR(query->center);
  INVALID(query->average_from, 0, "query->average_from is 0; expected 1 to");
  INVALID(query->find_distance, 2, "query->find_distance is 2; expected 0 or 1");
  INVALID(query->reserved, 1, "query->reserved is 1; expected 0");
  HANDLE(workspace, workspace);
  POINTER(answer);
  OUTPUT_ARRAY(contacts, capacity);
  PANIC();
#undef CALL
  OK(vxs_workspace_destroy(kept));
  OK(vxs_pointshell_release(shell));
  OK(vxs_voxelmap_release(map));
  OK(vxs_shape_release(shape));
}
