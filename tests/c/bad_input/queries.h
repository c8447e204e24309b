/* Rows of: workspaces and queries of two shapes. threads.c tests that a workspace in use by another thread is
 * refused. */

ROWS(vxs_workspace_create) {
  OUTPUT(vxs_workspace *, workspace);
#define CALL vxs_workspace_create(workspace)
  POINTER(workspace);
  PANIC();
#undef CALL
}

ROWS(vxs_workspace_destroy) {
  vxs_workspace *workspace = NULL;
#define CALL vxs_workspace_destroy(workspace)
  OK(CALL);
  workspace = new_workspace();
  LIVE_HANDLE(workspace, workspace);
  PANIC();
  OK(CALL);
#undef CALL
}

/* Rows of a pointer to a shape at a pose. */
#define PLACED(body)              \
  do {                            \
    POINTER(body);                \
    HANDLE(body->shape, shape);   \
    POSE_VALUE(body->pose);       \
  } while (0)

/* Rows of the arguments that both queries have. A null `query` means the defaults. */
#define PAIR()                                                                              \
  do {                                                                                      \
    PLACED(a);                                                                              \
    PLACED(b);                                                                              \
    SIZED(query);                                                                           \
    CHOICE(query->roles, 4);                                                                \
    CHOICE(query->coverage, 3);                                                             \
    INVALID(query->reserved, 1, "query->reserved is 1; expected 0");                        \
    INVALID(query->max_distance, NAN, "query->max_distance is NaN; expected");              \
    INVALID(query->max_depth, -1, "query->max_depth is -1; expected");                      \
    HANDLE(workspace, workspace);                                                           \
    /* Neither brings a pointshell. */                                                      \
    b->shape = exact;                                                                       \
    ROW(VXS_UNSUPPORTED, a->shape, exact, "pointshell");                                    \
    b->shape = shape;                                                                       \
  } while (0)

ROWS(vxs_query_contacts) {
  vxs_shape *shape = tetrahedron(), *exact = NULL;
  vxs_body a_given = {shape, at(0, 0, 0)}, *a = &a_given, b_given = a_given, *b = &b_given;
  vxs_query query_given, *query = &query_given;
  vxs_query_limit limit_given;
  vxs_query_step step_given;
  vxs_query_segmentation segmentation_given;
  vxs_workspace *workspace = new_workspace(), *kept = workspace;
  vxs_contact contacts_given[2], *contacts = watch(contacts_given, sizeof contacts_given);
  size_t capacity = 2, needed = 0;
  uint32_t preferred[2] = {5, 4};
  OUTPUT(size_t, count);
  OK(vxs_shape_create_sphere(1, &exact));
  OK(vxs_query_init(query, sizeof *query));
#define CALL vxs_query_contacts(a, b, query, workspace, contacts, capacity, count)
  PAIR();
  NUMBER(query->max_separation);
  INVALID(query->preferred_count, 2, "query->preferred is null");
  query->preferred = preferred;
  INVALID(query->preferred_count, 2, "query->preferred[1] is 4; expected");
  query->preferred = NULL;
  vxs_query_segmentation *segmentation = &segmentation_given;
  OK(vxs_query_segmentation_init(segmentation, sizeof *segmentation));
  query->segmentation = segmentation;
  INVALID(query->segmentation, (const vxs_query_segmentation *)(void *)((char *)bad.memory + 1), "query->segmentation is 0x");
  INVALID(segmentation->struct_size, 0, "query->segmentation->struct_size is 0; expected");
  INVALID(segmentation->kind, 3, "query->segmentation->kind is 3; expected");
  INVALID(segmentation->distance, -1, "query->segmentation->distance is -1; expected");
  INVALID(segmentation->distance, INFINITY, "query->segmentation->distance is inf; expected");
  INVALID(segmentation->distance, 1.0001e18, "query->segmentation->distance is 1");
  INVALID(segmentation->angle, 3.2, "query->segmentation->angle is 3.2; expected");
  INVALID(segmentation->angle, NAN, "query->segmentation->angle is NaN; expected");
  vxs_query_limit *limit = &limit_given;
  OK(vxs_query_limit_init(limit, sizeof *limit));
  query->limit = limit;
  INVALID(query->limit, (const vxs_query_limit *)(void *)((char *)bad.memory + 1), "query->limit is 0x");
  INVALID(limit->struct_size, 0, "query->limit->struct_size is 0; expected");
  INVALID(limit->accuracy, -1, "query->limit->accuracy is -1; expected");
  INVALID(limit->accuracy, NAN, "query->limit->accuracy is NaN; expected");
  INVALID(limit->accuracy, 1.0001e18, "query->limit->accuracy is 1");
  vxs_query_step *step = &step_given;
  OK(vxs_query_step_init(step, sizeof *step));
  query->step = step;
  INVALID(query->step, (const vxs_query_step *)(void *)((char *)bad.memory + 1), "query->step is 0x");
  INVALID(step->struct_size, 0, "query->step->struct_size is 0; expected");
  INVALID(step->extremes_only, 2, "query->step->extremes_only is 2; expected 0 or 1");
  INVALID(step->max_gap, NAN, "query->step->max_gap is NaN; expected");
  INVALID(step->center.x, NAN, "query->step->center.x is NaN; expected");
  INVALID(step->shift.y, 1e300, "query->step->shift.y is 1");
  INVALID(step->turn.z, INFINITY, "query->step->turn.z is inf; expected");
  INVALID(step->gained_by_a.x, NAN, "query->step->gained_by_a.x is NaN; expected");
  INVALID(step->gained_by_b.y, 1e300, "query->step->gained_by_b.y is 1");
  OUTPUT_ARRAY(contacts, capacity);
  POINTER(count);
  CHECK(vxs_query_contacts(a, b, query, workspace, NULL, 0, &needed) == VXS_TRUNCATED && needed > 0);
  PANIC();
  /* The panic poisons all handles of the call. */
#ifdef VOXSHELL_TEST_PANIC
  ROW(VXS_PANIC, a->shape, shape, "a->shape is poisoned by a defect");
  vxs_shape *fresh = tetrahedron();
  a->shape = b->shape = fresh;
  ROW(VXS_PANIC, workspace, workspace, "workspace is poisoned by a defect");
  OK(vxs_shape_release(fresh));
#endif
#undef CALL
  OK(vxs_workspace_destroy(kept));
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(shape));
}

ROWS(vxs_workspace_get_report) {
  vxs_workspace *workspace = new_workspace(), *kept = workspace;
  vxs_query_report report_given, *report = &report_given;
  OK(vxs_query_report_init(report, sizeof *report));
#define CALL vxs_workspace_get_report(workspace, report)
  HANDLE(workspace, workspace);
  POINTER(report);
  SIZED(report);
  PANIC();
#undef CALL
  OK(vxs_workspace_destroy(kept));
}

ROWS(vxs_workspace_get_segments) {
  vxs_workspace *workspace = new_workspace(), *kept = workspace;
  uint32_t segments_given[2], *segments = watch(segments_given, sizeof segments_given);
  size_t capacity = 2;
  OUTPUT(size_t, count);
#define CALL vxs_workspace_get_segments(workspace, segments, capacity, count)
  HANDLE(workspace, workspace);
  OUTPUT_ARRAY(segments, capacity);
  POINTER(count);
  PANIC();
#undef CALL
  OK(vxs_workspace_destroy(kept));
}

ROWS(vxs_query_features) {
  vxs_shape *shape = tetrahedron(), *exact = NULL;
  vxs_body a_given = {shape, at(0, 0, 0)}, *a = &a_given, b_given = a_given, *b = &b_given;
  uint32_t features_given[2] = {0, 1u << 31}, *features = features_given;
  vxs_contact contacts_given[2], *contacts = watch(contacts_given, sizeof contacts_given);
  size_t count = 2;
  uint32_t coverage = VXS_COVERAGE_EDGES;
  OK(vxs_shape_create_sphere(1, &exact));
#define CALL vxs_query_features(a, b, coverage, features, count, contacts)
  PLACED(a);
  PLACED(b);
  INVALID(coverage, 3, "coverage is 3; expected one of the VXS_COVERAGE_ constants, 0 to 2");
  ARRAY(features, count);
  OUTPUT_ARRAY(contacts, count);
  INVALID(features_given[1], 100000, "features[1] is 100000; expected one of the ");
  INVALID(features_given[1], (1u << 31) + 100000, "samples of B that the other's field can be asked about");
  /* The sphere has no samples. */
  INVALID(b->shape, exact, "features[1] is 2147483648; expected one of the 0 samples of B");
  PANIC();
#undef CALL
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(shape));
}

ROWS(vxs_query_triangles) {
  vxs_shape *shape = tetrahedron();
  vxs_body a_given = {shape, at(0, 0, 0)}, *a = &a_given, b_given = a_given, *b = &b_given;
  /* Points that are not finite are the answer of vxs_query_features for a sample without a contact: no triangle. */
  vxs_contact contacts_given[2] = {{{0, 0, 0}, {0, 0, 0}, {0, 1, 0}, 0, 0, 0, 0}, {{NAN, 0, 0}, {0, 0, 0}, {0, 1, 0}, 0, 0, 0, 0}};
  vxs_contact *contacts = contacts_given;
  vxs_contact_triangles triangles_given[2], *triangles = watch(triangles_given, sizeof triangles_given);
  size_t count = 2;
#define CALL vxs_query_triangles(a, b, contacts, count, triangles)
  PLACED(a);
  PLACED(b);
  ARRAY(contacts, count);
  OUTPUT_ARRAY(triangles, count);
  PANIC();
#undef CALL
  OK(vxs_shape_release(shape));
}

ROWS(vxs_query_distance) {
  vxs_shape *shape = tetrahedron(), *exact = NULL;
  vxs_body a_given = {shape, at(0, 0, 0)}, *a = &a_given, b_given = a_given, *b = &b_given;
  vxs_query query_given, *query = &query_given;
  vxs_workspace *workspace = new_workspace(), *kept = workspace;
  OUTPUT(vxs_contact, closest);
  OUTPUT(bool, found);
  OK(vxs_shape_create_sphere(1, &exact));
  OK(vxs_query_init(query, sizeof *query));
#define CALL vxs_query_distance(a, b, query, workspace, closest, found)
  PAIR();
  POINTER(closest);
  POINTER(found);
  PANIC();
#undef CALL
  OK(vxs_workspace_destroy(kept));
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(shape));
}
