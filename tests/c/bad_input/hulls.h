/* Rows of: hierarchies of hulls. */

ROWS(vxs_hulls_options_init) {
  size_t size = sizeof(vxs_hulls_options);
  OUTPUT(vxs_hulls_options, options);
#define CALL vxs_hulls_options_init(options, size)
  SIZE_OF(size, options);
  PANIC();
#undef CALL
}

/* Rows of the options of a hierarchy. */
#define HULLS_OPTIONS(options)                                                                \
  do {                                                                                        \
    SIZED(options);                                                                           \
    INVALID(options->max_triangles, 0, "options->max_triangles is 0; expected 1 to");         \
    ROW(VXS_INVALID_MESH, options->max_triangles, 3, "it has 4 triangles; expected at most"); \
    NUMBER(options->contact_depth);                                                           \
    INVALID(options->contact_depth, -1, "options->contact_depth is -1; expected");            \
    INVALID(options->contact_depth, 1e-30, "options->contact_depth is 1e-30; expected");      \
  } while (0)

ROWS(vxs_hulls_create_from_shape) {
  vxs_shape *shape = tetrahedron(), *kept = shape, *plane = NULL;
  vxs_hulls_options options_given, *options = &options_given;
  OUTPUT(vxs_hulls *, hulls);
  OK(vxs_shape_create_half_space((vxs_vec3){0, 1, 0}, 0, &plane));
  OK(vxs_hulls_options_init(options, sizeof *options));
#define CALL vxs_hulls_create_from_shape(shape, options, hulls)
  HANDLE(shape, shape);
  ROW(VXS_UNSUPPORTED, shape, plane, "shape has no triangles");
  HULLS_OPTIONS(options);
  POINTER(hulls);
  PANIC();
#undef CALL
  OK(vxs_shape_release(plane));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_hulls_create_from_triangles) {
  vxs_vec3 vertices_given[4], *vertices = vertices_given;
  uint32_t indices_given[12], *indices = indices_given;
  vxs_hulls_options options_given, *options = &options_given;
  size_t vertex_count = 4, triangle_count = 4;
  OUTPUT(vxs_hulls *, hulls);
  memcpy(vertices, TETRAHEDRON, sizeof TETRAHEDRON);
  memcpy(indices, FACES, sizeof FACES);
  OK(vxs_hulls_options_init(options, sizeof *options));
#define CALL vxs_hulls_create_from_triangles(vertices, vertex_count, indices, triangle_count, options, hulls)
  MESH(vertices, vertex_count, indices, triangle_count);
  HULLS_OPTIONS(options);
  POINTER(hulls);
  PANIC();
#undef CALL
}

ROWS(vxs_hulls_release) {
  vxs_hulls *hulls = NULL;
#define CALL vxs_hulls_release(hulls)
  OK(CALL);
  LIVE_HANDLE(hulls, hulls);
  PANIC();
#undef CALL
}

ROWS(vxs_hulls_get_info) {
  vxs_hulls *hulls = new_hulls(), *kept = hulls;
  OUTPUT(vxs_hulls_info, info);
#define CALL vxs_hulls_get_info(hulls, info)
  HANDLE(hulls, hulls);
  POINTER(info);
  PANIC();
#undef CALL
  OK(vxs_hulls_release(kept));
}

ROWS(vxs_hulls_get_levels) {
  vxs_hulls *hulls = new_hulls(), *kept = hulls;
  vxs_hull_level levels_given[1], *levels = watch(levels_given, sizeof levels_given);
  size_t capacity = 1;
  OUTPUT(size_t, count);
#define CALL vxs_hulls_get_levels(hulls, levels, capacity, count)
  HANDLE(hulls, hulls);
  OUTPUT_ARRAY(levels, capacity);
  POINTER(count);
  PANIC();
#undef CALL
  OK(vxs_hulls_release(kept));
}

ROWS(vxs_shape_create_with_hulls) {
  vxs_shape *shape = tetrahedron(), *kept_shape = shape;
  vxs_hulls *hulls = new_hulls(), *kept = hulls;
  OUTPUT(vxs_shape *, out);
#define CALL vxs_shape_create_with_hulls(shape, hulls, out)
  HANDLE(shape, shape);
  HANDLE(hulls, hulls);
  POINTER(out);
  PANIC();
#undef CALL
  OK(vxs_hulls_release(kept));
  OK(vxs_shape_release(kept_shape));
}

ROWS(vxs_shape_get_hulls) {
  vxs_shape *bare = tetrahedron(), *shape = NULL, *kept;
  vxs_hulls *given = new_hulls();
  OUTPUT(vxs_hulls *, hulls);
  OK(vxs_shape_create_with_hulls(bare, given, &shape));
  kept = shape;
#define CALL vxs_shape_get_hulls(shape, hulls)
  HANDLE(shape, shape);
  ROW(VXS_UNSUPPORTED, shape, bare, "shape has no hulls");
  POINTER(hulls);
  PANIC();
#undef CALL
  OK(vxs_hulls_release(given));
  OK(vxs_shape_release(bare));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_hulls_query_init) {
  size_t size = sizeof(vxs_hulls_query);
  OUTPUT(vxs_hulls_query, query);
#define CALL vxs_hulls_query_init(query, size)
  SIZE_OF(size, query);
  PANIC();
#undef CALL
}

/* Rows of a pointer to a hierarchy with its pose. */
#define HULLS_BODY(body)                                                                              \
  do {                                                                                                \
    POINTER(body);                                                                                    \
    HANDLE(body->hulls, hulls);                                                                       \
    VECTOR(body->pose.position);                                                                      \
    INVALID(body->pose.qw, 0, #body "->pose.qx..qw is (0, 0, 0, 0), of norm 0; expected");            \
  } while (0)

ROWS(vxs_query_hull_contacts) {
  vxs_hulls *hulls = new_hulls();
  vxs_hulls_body a_given = {hulls, at(0, 0, 0)}, b_given = a_given, *a = &a_given, *b = &b_given;
  vxs_hulls_query query_given, *query = &query_given;
  vxs_workspace *workspace = new_workspace(), *kept = workspace;
  vxs_contact contacts_given[1], *contacts = watch(contacts_given, sizeof contacts_given);
  size_t capacity = 1;
  OUTPUT(size_t, count);
  OK(vxs_hulls_query_init(query, sizeof *query));
#define CALL vxs_query_hull_contacts(a, b, query, workspace, contacts, capacity, count)
  HULLS_BODY(a);
  HULLS_BODY(b);
  SIZED(query);
  INVALID(query->reserved, 1, "query->reserved is 1; expected 0");
  NUMBER(query->max_separation);
  INVALID(query->max_separation, -1, "query->max_separation is -1; expected");
  NUMBER(query->tolerance);
  INVALID(query->tolerance, -1, "query->tolerance is -1; expected");
  HANDLE(workspace, workspace);
  OUTPUT_ARRAY(contacts, capacity);
  POINTER(count);
  PANIC();
#undef CALL
  OK(vxs_hulls_release(hulls));
  OK(vxs_workspace_destroy(kept));
}

ROWS(vxs_query_hull_distance) {
  vxs_hulls *hulls = new_hulls();
  vxs_hulls_body a_given = {hulls, at(0, 0, 0)}, b_given = a_given, *a = &a_given, *b = &b_given;
  vxs_hulls_query query_given, *query = &query_given;
  vxs_workspace *workspace = new_workspace(), *kept = workspace;
  OUTPUT(vxs_hull_distance, closest);
  OUTPUT(bool, found);
  OK(vxs_hulls_query_init(query, sizeof *query));
#define CALL vxs_query_hull_distance(a, b, query, workspace, closest, found)
  HULLS_BODY(a);
  HULLS_BODY(b);
  SIZED(query);
  INVALID(query->reserved, 1, "query->reserved is 1; expected 0");
  INVALID(query->max_distance, NAN, "query->max_distance is NaN; expected");
  INVALID(query->max_distance, -1, "query->max_distance is -1; expected");
  NUMBER(query->tolerance);
  INVALID(query->tolerance, -1, "query->tolerance is -1; expected");
  HANDLE(workspace, workspace);
  POINTER(closest);
  POINTER(found);
  PANIC();
#undef CALL
  OK(vxs_hulls_release(hulls));
  OK(vxs_workspace_destroy(kept));
}

ROWS(vxs_workspace_get_hulls_report) {
  vxs_workspace *workspace = new_workspace(), *kept = workspace;
  OUTPUT(vxs_hulls_report, report);
#define CALL vxs_workspace_get_hulls_report(workspace, report)
  HANDLE(workspace, workspace);
  POINTER(report);
  PANIC();
#undef CALL
  OK(vxs_workspace_destroy(kept));
}
