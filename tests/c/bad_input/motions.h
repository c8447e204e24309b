/* Rows of: queries of two moving shapes. */

ROWS(vxs_motion_query_init) {
  size_t size = sizeof(vxs_motion_query);
  OUTPUT(vxs_motion_query, query);
#define CALL vxs_motion_query_init(query, size)
  SIZE_OF(size, query);
  PANIC();
#undef CALL
}

/* Rows of both poses of a motion. */
#define MOTION(from, to)                                                        \
  do {                                                                          \
    VECTOR(from.position);                                                      \
    VECTOR(to.position);                                                        \
    INVALID(from.qw, 0, #from ".qx..qw is (0, 0, 0, 0), of norm 0; expected");  \
    INVALID(to.qx, NAN, #to ".qx..qw is (NaN, 0, 0, 1)");                       \
  } while (0)

/* Rows of a pointer to a moving shape. */
#define MOVING_BODY(body)         \
  do {                            \
    POINTER(body);                \
    HANDLE(body->shape, shape);   \
    MOTION(body->motion.from, body->motion.to); \
  } while (0)

ROWS(vxs_motion_pose) {
  vxs_motion motion_given = {at(0, 0, 0), at(1, 0, 0)}, *motion = &motion_given;
  double t = 0.5;
  OUTPUT(vxs_pose, pose);
#define CALL vxs_motion_pose(motion, t, pose)
  POINTER(motion);
  MOTION(motion->from, motion->to);
  INVALID(t, NAN, "t is NaN; expected 0 to 1");
  INVALID(t, -0.1, "t is -0.1; expected 0 to 1");
  INVALID(t, 1.1, "t is 1.1; expected 0 to 1");
  POINTER(pose);
  PANIC();
#undef CALL
}

/* Arguments of the queries of motions. */
#define MOVING_PAIR                                                                                                    \
  vxs_shape *shape = tetrahedron(), *exact = NULL;                                                                     \
  vxs_moving_body a_given = {shape, {at(0, 0, 0), at(1, 0, 0)}}, *a = &a_given;                                        \
  vxs_moving_body b_given = {shape, {at(1, 0, 0), at(0, 0, 0)}}, *b = &b_given;                                        \
  vxs_motion_query query_given, *query = &query_given;                                                                 \
  vxs_workspace *workspace = new_workspace(), *kept = workspace;                                                       \
  uint32_t features[2] = {5, 4};                                                                                       \
  OK(vxs_shape_create_sphere(1, &exact));                                                                              \
  OK(vxs_motion_query_init(query, sizeof *query))

/* Their rows. A null `query` means the defaults. */
#define MOVING_PAIR_ROWS()                                                             \
  do {                                                                                 \
    MOVING_BODY(a);                                                                    \
    MOVING_BODY(b);                                                                    \
    SIZED(query);                                                                      \
    CHOICE(query->roles, 4);                                                           \
    CHOICE(query->path, 2);                                                            \
    CHOICE(query->coverage, 3);                                                        \
    INVALID(query->reserved, 1, "query->reserved is 1; expected 0");                   \
    NUMBER(query->max_separation);                                                     \
    INVALID(query->until, NAN, "query->until is NaN; expected 0 to 1");                \
    INVALID(query->until, 1.5, "query->until is 1.5; expected 0 to 1");                \
    NUMBER(query->tolerance);                                                          \
    INVALID(query->tolerance, -1, "query->tolerance is -1; expected a positive");      \
    INVALID(query->known_count, 2, "query->known is null");                            \
    query->known = features;                                                           \
    INVALID(query->known_count, 2, "query->known[1] is 4; expected at least");         \
    HANDLE(workspace, workspace);                                                      \
    /* Neither brings a pointshell. */                                                 \
    b->shape = exact;                                                                  \
    ROW(VXS_UNSUPPORTED, a->shape, exact, "pointshell");                               \
    b->shape = shape;                                                                  \
  } while (0)

#define MOVING_PAIR_DONE()              \
  do {                                  \
    OK(vxs_workspace_destroy(kept));    \
    OK(vxs_shape_release(exact));       \
    OK(vxs_shape_release(shape));       \
  } while (0)

ROWS(vxs_query_time_of_impact) {
  MOVING_PAIR;
  OUTPUT(vxs_contact, contact);
  OUTPUT(bool, found);
#define CALL vxs_query_time_of_impact(a, b, query, workspace, contact, found)
  MOVING_PAIR_ROWS();
  POINTER(contact);
  POINTER(found);
  PANIC();
#undef CALL
  MOVING_PAIR_DONE();
}

ROWS(vxs_query_motion_contacts) {
  MOVING_PAIR;
  vxs_motion_contact contacts_given[2], *contacts = watch(contacts_given, sizeof contacts_given);
  size_t capacity = 2, needed = 0;
  OUTPUT(size_t, count);
#define CALL vxs_query_motion_contacts(a, b, query, workspace, contacts, capacity, count)
  MOVING_PAIR_ROWS();
  OUTPUT_ARRAY(contacts, capacity);
  POINTER(count);
  CHECK(vxs_query_motion_contacts(a, b, query, workspace, NULL, 0, &needed) == VXS_TRUNCATED && needed > 0);
  PANIC();
#undef CALL
  MOVING_PAIR_DONE();
}

ROWS(vxs_query_known_contacts) {
  MOVING_PAIR;
  uint32_t none[1] = {0x3fffffff};
  vxs_contact contacts_given[2], *contacts = watch(contacts_given, sizeof contacts_given);
  size_t capacity = 2;
  OUTPUT(size_t, count);
#define CALL vxs_query_known_contacts(a, b, query, workspace, contacts, capacity, count)
  MOVING_PAIR_ROWS();
  query->known = none;
  INVALID(query->known_count, 1, "known is 1073741823; expected a sample of");
  OUTPUT_ARRAY(contacts, capacity);
  POINTER(count);
  PANIC();
#undef CALL
  MOVING_PAIR_DONE();
}

ROWS(vxs_mesh_motion_query_init) {
  size_t size = sizeof(vxs_mesh_motion_query);
  OUTPUT(vxs_mesh_motion_query, query);
#define CALL vxs_mesh_motion_query_init(query, size)
  SIZE_OF(size, query);
  PANIC();
#undef CALL
}

ROWS(vxs_mesh_time_of_impact) {
  vxs_shape *shape = tetrahedron(), *exact = NULL;
  vxs_moving_body a_given = {shape, {at(0, 0, 0), at(1, 0, 0)}}, *a = &a_given;
  vxs_moving_body b_given = {shape, {at(1, 0, 0), at(0, 0, 0)}}, *b = &b_given;
  vxs_mesh_motion_query query_given, *query = &query_given;
  vxs_workspace *workspace = new_workspace(), *kept = workspace;
  vxs_mesh_pair pairs[2] = {{{VXS_MESH_FEATURE_EDGE, 1}, {VXS_MESH_FEATURE_EDGE, 5}},
                            {{VXS_MESH_FEATURE_EDGE, 1}, {VXS_MESH_FEATURE_EDGE, 4}}};
  OUTPUT(vxs_mesh_impact, impact);
  OUTPUT(bool, found);
  OK(vxs_shape_create_sphere(1, &exact));
  OK(vxs_mesh_motion_query_init(query, sizeof *query));
#define CALL vxs_mesh_time_of_impact(a, b, query, workspace, impact, found)
  MOVING_BODY(a);
  MOVING_BODY(b);
  SIZED(query);
  CHOICE(query->path, 2);
  INVALID(query->max_separation, -1, "query->max_separation is -1; expected a positive");
  INVALID(query->tolerance, -1, "query->tolerance is -1; expected a positive");
  INVALID(query->time_tolerance, 1.5, "query->time_tolerance is 1.5; expected 0 to 1");
  INVALID(query->until, NAN, "query->until is NaN; expected 0 to 1");
  INVALID(query->until, 1.5, "query->until is 1.5; expected 0 to 1");
  INVALID(query->reserved, 1, "query->reserved is 1; expected 0");
  INVALID(query->known_count, 2, "query->known is null");
  query->known = pairs;
  INVALID(query->known_count, 2, "query->known[1] is less than the one before; expected pairs in ascending order");
  query->known_count = 1;
  INVALID(pairs[0].a.kind, 3, "query->known[0].a.kind is 3; expected one of");
  INVALID(pairs[0].b.kind, 3, "query->known[0].b.kind is 3; expected one of");
  query->known_count = 0;
  HANDLE(workspace, workspace);
  ROW(VXS_UNSUPPORTED, a->shape, exact, "a->shape has no triangles");
  ROW(VXS_UNSUPPORTED, b->shape, exact, "b->shape has no triangles");
  POINTER(impact);
  POINTER(found);
  PANIC();
#undef CALL
  OK(vxs_workspace_destroy(kept));
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(shape));
}
