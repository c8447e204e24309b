/* Rows of: implicit sphere trees. These rows use those of responses. */

ROWS(vxs_voxtree_options_init) {
  size_t size = sizeof(vxs_voxtree_options);
  double voxel_size = 0.1;
  OUTPUT(vxs_voxtree_options, options);
#define CALL vxs_voxtree_options_init(options, size, voxel_size)
  SIZE_OF(size, options);
  NUMBER(voxel_size);
  INVALID(voxel_size, -1, "voxel_size is -1; expected");
  PANIC();
#undef CALL
}

ROWS(vxs_voxtree_create_from_shape) {
  vxs_shape *shape = tetrahedron(), *kept = shape, *plane = NULL, *samples = NULL;
  vxs_voxtree_options options_given, *options = &options_given;
  OUTPUT(vxs_voxtree *, voxtree);
  vxs_pointshell *pointshell = pointshell_of(shape);
  OK(vxs_shape_create(NULL, pointshell, &samples));
  OK(vxs_shape_create_half_space((vxs_vec3){0, 1, 0}, 0, &plane));
  OK(vxs_voxtree_options_init(options, sizeof *options, 0.1));
#define CALL vxs_voxtree_create_from_shape(shape, options, voxtree)
  HANDLE(shape, shape);
  INVALID(shape, plane, "the body is inf m large; expected");
  ROW(VXS_UNSUPPORTED, shape, samples, "neither a field nor triangles");
  POINTER(options);
  SIZED(options);
  CHOICE(options->branching, 3);
  NUMBER(options->voxel_size);
  INVALID(options->voxel_size, -1, "options->voxel_size is -1; expected");
  INVALID(options->voxel_size, 0, "options->level is 0; expected 2 to 14");
  INVALID(options->voxel_size, 1e-7, "voxel_size is 0.0000001");
  CHOICE(options->solid, 2);
  CHOICE(options->without_normals, 2);
  INVALID(options->level, 3, "options->level is 3; expected 0");
  INVALID(options->reserved, 1, "options->reserved is 1; expected 0");
  ROW(VXS_TOO_LARGE, options->memory_limit, 1, "the limit is 1 bytes");
  options->voxel_size = 0;
  INVALID(options->level, 15, "options->level is 15; expected 2 to 14");
  options->voxel_size = 0.1;
  POINTER(voxtree);
  PANIC();
#undef CALL
  OK(vxs_shape_release(plane));
  OK(vxs_shape_release(samples));
  OK(vxs_pointshell_release(pointshell));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_voxtree_release) {
  vxs_voxtree *voxtree = NULL;
#define CALL vxs_voxtree_release(voxtree)
  OK(CALL);
  LIVE_HANDLE(voxtree, voxtree);
  PANIC();
#undef CALL
}

ROWS(vxs_voxtree_get_info) {
  vxs_voxtree *voxtree = new_voxtree(), *kept = voxtree;
  OUTPUT(vxs_voxtree_info, info);
#define CALL vxs_voxtree_get_info(voxtree, info)
  HANDLE(voxtree, voxtree);
  POINTER(info);
  PANIC();
#undef CALL
  OK(vxs_voxtree_release(kept));
}

ROWS(vxs_voxtree_save) {
  vxs_voxtree *voxtree = new_voxtree(), *kept = voxtree;
  const char *path = "bad_input_walk.voxtree";
#define CALL vxs_voxtree_save(voxtree, path)
  HANDLE(voxtree, voxtree);
  FILE_NAME(path);
  ROW(VXS_IO, path, "no-such-directory/shape.voxtree", "no-such-directory");
  PANIC();
#undef CALL
  CHECK(fopen(path, "r") == NULL);
  OK(vxs_voxtree_release(kept));
}

ROWS(vxs_voxtree_load) {
  vxs_shape *shape = tetrahedron();
  const char *path = "bad_input_walk.voxtree";
  OUTPUT(vxs_voxtree *, voxtree);
  OK(vxs_shape_save(shape, path));
#define CALL vxs_voxtree_load(path, voxtree)
  ROW(VXS_INVALID_FILE, path, path, "section VTRE is missing");
  FILE_NAME(path);
  ROW(VXS_IO, path, "no-such-file.voxtree", "no-such-file");
  POINTER(voxtree);
  PANIC();
#undef CALL
  CHECK(remove(path) == 0);
  OK(vxs_shape_release(shape));
}

ROWS(vxs_voxtree_query_init) {
  size_t size = sizeof(vxs_voxtree_query);
  OUTPUT(vxs_voxtree_query, query);
#define CALL vxs_voxtree_query_init(query, size)
  SIZE_OF(size, query);
  PANIC();
#undef CALL
}

/* Rows of a pointer to a tree with its pose and motion. */
#define VOXTREE_BODY(body)                                                                                             \
  do {                                                                                                                 \
    POINTER(body);                                                                                                     \
    HANDLE(body->voxtree, voxtree);                                                                                    \
    VECTOR(body->kinematics.pose.position);                                                                            \
    VECTOR(body->kinematics.center);                                                                                   \
    VECTOR(body->kinematics.twist.linear);                                                                             \
    VECTOR(body->kinematics.twist.angular);                                                                            \
    INVALID(body->kinematics.pose.qw, 0, #body "->kinematics.pose.qx..qw is (0, 0, 0, 0), of norm 0; expected");       \
  } while (0)

ROWS(vxs_query_voxtrees) {
  vxs_voxtree *voxtree = new_voxtree();
  vxs_voxtree_body a_given = {voxtree, {at(0, 0, 0), {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}}}, b_given = a_given;
  vxs_voxtree_body *a = &a_given, *b = &b_given;
  vxs_voxtree_query query_given, *query = &query_given;
  vxs_workspace *workspace = new_workspace(), *kept = workspace;
  vxs_voxel_pair pairs_given[1], *pairs = watch(pairs_given, sizeof pairs_given);
  size_t capacity = 1;
  OUTPUT(size_t, count);
  OK(vxs_voxtree_query_init(query, sizeof *query));
#define CALL vxs_query_voxtrees(a, b, query, workspace, pairs, capacity, count)
  VOXTREE_BODY(a);
  VOXTREE_BODY(b);
  SIZED(query);
  CHOICE(query->loose, 2);
  CHOICE(query->test_single, 2);
  CHOICE(query->cubes, 2);
  INVALID(query->max_pairs, 0, "query->max_pairs is 0; expected 1 to");
  HANDLE(workspace, workspace);
  OUTPUT_ARRAY(pairs, capacity);
  POINTER(count);
  PANIC();
#undef CALL
  OK(vxs_voxtree_release(voxtree));
  OK(vxs_workspace_destroy(kept));
}

ROWS(vxs_workspace_get_voxtree_report) {
  vxs_workspace *workspace = new_workspace(), *kept = workspace;
  OUTPUT(vxs_voxtree_report, report);
#define CALL vxs_workspace_get_voxtree_report(workspace, report)
  HANDLE(workspace, workspace);
  POINTER(report);
  PANIC();
#undef CALL
  OK(vxs_workspace_destroy(kept));
}

ROWS(vxs_query_voxtree_impulse) {
  vxs_voxtree *voxtree = new_voxtree();
  vxs_voxtree_body a_given = {voxtree, {at(0, 0, 0), {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}}}, b_given = a_given;
  vxs_voxtree_body *a = &a_given, *b = &b_given;
  vxs_mobility of_a = {1, {1, 1, 1, 0, 0, 0}}, of_b = {0, {0, 0, 0, 0, 0, 0}}, *mobility_a = &of_a, *mobility_b = &of_b;
  vxs_impulse impulse_given, *impulse = &impulse_given;
  vxs_workspace *workspace = new_workspace(), *kept = workspace;
  OUTPUT(vxs_impulses, impulses);
  OK(vxs_impulse_init(impulse, sizeof *impulse, 0.01));
#define CALL vxs_query_voxtree_impulse(a, mobility_a, b, mobility_b, impulse, workspace, impulses)
  VOXTREE_BODY(a);
  VOXTREE_BODY(b);
  MOBILITY(mobility_a);
  MOBILITY(mobility_b);
  POINTER(impulse);
  SIZED(impulse);
  INVALID(impulse->iterations, 0, "impulse->iterations is 0; expected");
  NUMBER(impulse->dt);
  INVALID(impulse->dt, 0, "impulse->dt is 0; expected");
  INVALID(impulse->restitution, 1.5, "impulse->restitution is 1.5; expected 0 to 1");
  NUMBER(impulse->max_speed);
  INVALID(impulse->max_separation, 0.1, "impulse->max_separation is 0.1; expected 0");
  HANDLE(workspace, workspace);
  POINTER(impulses);
  PANIC();
#undef CALL
  OK(vxs_voxtree_release(voxtree));
  OK(vxs_workspace_destroy(kept));
}
