/* Rows of: forces, impulses and patches. */

ROWS(vxs_penalty_init) {
  size_t size = sizeof(vxs_penalty);
  double stiffness = 100, damping = 1;
  OUTPUT(vxs_penalty, penalty);
#define CALL vxs_penalty_init(penalty, size, stiffness, damping)
  SIZE_OF(size, penalty);
  NUMBER(stiffness);
  INVALID(stiffness, -1, "stiffness is -1; expected");
  NUMBER(damping);
  INVALID(damping, -1, "damping is -1; expected");
  PANIC();
#undef CALL
}

/* Rows of a pointer to a shape with its pose and motion. */
#define DYNAMIC_BODY(body)                                                                                             \
  do {                                                                                                                 \
    POINTER(body);                                                                                                     \
    HANDLE(body->shape, shape);                                                                                        \
    VECTOR(body->kinematics.pose.position);                                                                            \
    VECTOR(body->kinematics.center);                                                                                   \
    VECTOR(body->kinematics.twist.linear);                                                                             \
    VECTOR(body->kinematics.twist.angular);                                                                            \
    INVALID(body->kinematics.pose.qw, 0, #body "->kinematics.pose.qx..qw is (0, 0, 0, 0), of norm 0; expected");       \
  } while (0)

/* Rows of a pointer to a shape over a step. */
#define SWEPT_BODY(body)                                                 \
  do {                                                                   \
    POINTER(body);                                                       \
    HANDLE(body->shape, shape);                                          \
    MOTION(body->sweep.motion.from, body->sweep.motion.to);              \
    VECTOR(body->sweep.center);                                          \
    VECTOR(body->sweep.twist.linear);                                    \
    VECTOR(body->sweep.twist.angular);                                   \
  } while (0)

/* Rows of a pointer to the penalty settings. */
#define PENALTY()                                                              \
  do {                                                                         \
    POINTER(penalty);                                                          \
    SIZED(penalty);                                                            \
    NUMBER(penalty->stiffness);                                                \
    INVALID(penalty->damping, -1, "penalty->damping is -1; expected");         \
    NUMBER(penalty->damping);                                                  \
    NUMBER(penalty->drag);                                                     \
    NUMBER(penalty->offset);                                                   \
    INVALID(penalty->average_from, 0, "penalty->average_from is 0; expected"); \
    CHOICE(penalty->roles, 4);                                                 \
    INVALID(penalty->reserved, 1, "penalty->reserved is 1; expected 0");       \
  } while (0)

ROWS(vxs_query_penalty) {
  vxs_shape *shape = tetrahedron(), *exact = NULL;
  vxs_dynamic_body a_given = {shape, {at(0, 0, 0), {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}}}, b_given = a_given;
  vxs_dynamic_body *a = &a_given, *b = &b_given;
  vxs_penalty penalty_given, *penalty = &penalty_given;
  vxs_workspace *workspace = new_workspace(), *kept = workspace;
  vxs_response on_a_given, on_b_given, *on_a = &on_a_given, *on_b = &on_b_given;
  OUTPUT(size_t, count);
  OK(vxs_shape_create_sphere(1, &exact));
  OK(vxs_penalty_init(penalty, sizeof *penalty, 100, 1));
#define CALL vxs_query_penalty(a, b, penalty, workspace, on_a, on_b, count)
  DYNAMIC_BODY(a);
  DYNAMIC_BODY(b);
  PENALTY();
  INVALID(penalty->max_clusters, 1025, "penalty->max_clusters is 1025; expected 0 to");
  NUMBER(penalty->cluster_radius);
  INVALID(penalty->cluster_radius, -1, "penalty->cluster_radius is -1; expected");
  HANDLE(workspace, workspace);
  INVALID(on_a, (vxs_response *)((char *)bad.memory + 1), "on_a is 0x");
  INVALID(on_b, (vxs_response *)((char *)bad.memory + 1), "on_b is 0x");
  INVALID(count, (size_t *)(void *)((char *)bad.memory + 1), "count is 0x");
  /* Neither brings a pointshell. */
  b->shape = exact;
  ROW(VXS_UNSUPPORTED, a->shape, exact, "pointshell");
  b->shape = shape;
  PANIC();
#undef CALL
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(shape));
  OK(vxs_workspace_destroy(kept));
}

ROWS(vxs_query_continuous_penalty) {
  vxs_shape *shape = tetrahedron(), *exact = NULL;
  vxs_swept_body a_given = {shape, {{at(0, 0, 0), at(0, 0, 0.1)}, {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}}}, b_given = a_given;
  vxs_swept_body *a = &a_given, *b = &b_given;
  vxs_penalty penalty_given, *penalty = &penalty_given;
  vxs_workspace *workspace = new_workspace(), *kept = workspace;
  vxs_response on_a_given, on_b_given, *on_a = &on_a_given, *on_b = &on_b_given;
  OUTPUT(size_t, count);
  OK(vxs_shape_create_sphere(1, &exact));
  OK(vxs_penalty_init(penalty, sizeof *penalty, 100, 1));
#define CALL vxs_query_continuous_penalty(a, b, penalty, workspace, on_a, on_b, count)
  SWEPT_BODY(a);
  SWEPT_BODY(b);
  PENALTY();
  INVALID(penalty->max_clusters, 1, "penalty->max_clusters is 1; expected 0");
  INVALID(penalty->midpoints, 0, "penalty->midpoints is 0; expected 1 to");
  INVALID(penalty->midpoints, 1001, "penalty->midpoints is 1001; expected 1 to");
  HANDLE(workspace, workspace);
  INVALID(on_a, (vxs_response *)((char *)bad.memory + 1), "on_a is 0x");
  INVALID(on_b, (vxs_response *)((char *)bad.memory + 1), "on_b is 0x");
  INVALID(count, (size_t *)(void *)((char *)bad.memory + 1), "count is 0x");
  /* Neither brings a pointshell. */
  b->shape = exact;
  ROW(VXS_UNSUPPORTED, a->shape, exact, "pointshell");
  b->shape = shape;
  PANIC();
#undef CALL
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(shape));
  OK(vxs_workspace_destroy(kept));
}

ROWS(vxs_impulse_init) {
  size_t size = sizeof(vxs_impulse);
  double dt = 0.01;
  OUTPUT(vxs_impulse, impulse);
#define CALL vxs_impulse_init(impulse, size, dt)
  SIZE_OF(size, impulse);
  NUMBER(dt);
  INVALID(dt, 0, "dt is 0; expected");
  PANIC();
#undef CALL
}

/* Rows of a pointer to the mobility of a body. */
#define MOBILITY(m)                                                                              \
  do {                                                                                           \
    POINTER(m);                                                                                  \
    INVALID(m->inverse_mass, -1, #m "->inverse_mass is -1; expected");                           \
    NUMBER(m->inverse_mass);                                                                     \
    INVALID(m->inverse_inertia[2], -1, #m "->inverse_inertia[2] is -1; expected");               \
    NUMBER(m->inverse_inertia[2]);                                                               \
    NUMBER(m->inverse_inertia[5]);                                                               \
  } while (0)

ROWS(vxs_query_impulse) {
  vxs_shape *shape = tetrahedron(), *exact = NULL;
  vxs_dynamic_body a_given = {shape, {at(0, 0, 0), {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}}}, b_given = a_given;
  vxs_dynamic_body *a = &a_given, *b = &b_given;
  vxs_mobility of_a = {1, {1, 1, 1, 0, 0, 0}}, of_b = {0, {0, 0, 0, 0, 0, 0}}, *mobility_a = &of_a, *mobility_b = &of_b;
  vxs_impulse impulse_given, *impulse = &impulse_given;
  vxs_workspace *workspace = new_workspace(), *kept = workspace;
  OUTPUT(vxs_impulses, impulses);
  OK(vxs_shape_create_sphere(1, &exact));
  OK(vxs_impulse_init(impulse, sizeof *impulse, 0.01));
#define CALL vxs_query_impulse(a, mobility_a, b, mobility_b, impulse, workspace, impulses)
  DYNAMIC_BODY(a);
  DYNAMIC_BODY(b);
  MOBILITY(mobility_a);
  MOBILITY(mobility_b);
  POINTER(impulse);
  SIZED(impulse);
  INVALID(impulse->iterations, 0, "impulse->iterations is 0; expected");
  INVALID(impulse->iterations, VXS_MAX_ITERATIONS + 1, "impulse->iterations is 65537; expected 1 to 65536");
  INVALID(impulse->iterations, UINT32_MAX, "impulse->iterations is 4294967295; expected");
  NUMBER(impulse->dt);
  INVALID(impulse->dt, 0, "impulse->dt is 0; expected");
  INVALID(impulse->dt, 1e-31, "impulse->dt is 1e-31; expected");
  INVALID(impulse->restitution, 1.5, "impulse->restitution is 1.5; expected 0 to 1");
  NUMBER(impulse->max_speed);
  INVALID(impulse->max_speed, -1, "impulse->max_speed is -1; expected");
  NUMBER(impulse->max_separation);
  CHOICE(impulse->roles, 4);
  INVALID(impulse->reserved, 1, "impulse->reserved is 1; expected 0");
  HANDLE(workspace, workspace);
  POINTER(impulses);
  /* Neither brings a pointshell. */
  b->shape = exact;
  ROW(VXS_UNSUPPORTED, a->shape, exact, "pointshell");
  b->shape = shape;
  PANIC();
#undef CALL
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(shape));
  OK(vxs_workspace_destroy(kept));
}

ROWS(vxs_patch_query_init) {
  OUTPUT(vxs_patch_query, query);
  size_t size = sizeof *query;
  double stiffness_a = 1e6, stiffness_b = INFINITY;
#define CALL vxs_patch_query_init(query, size, stiffness_a, stiffness_b)
  SIZE_OF(size, query);
  /* Infinity is a rigid body. */
  INVALID(stiffness_a, NAN, "stiffness_a is NaN; expected");
  INVALID(stiffness_a, 0, "stiffness_a is 0; expected");
  LIMITED(stiffness_a);
  INVALID(stiffness_b, -1, "stiffness_b is -1; expected");
  INVALID(stiffness_b, NAN, "stiffness_b is NaN; expected");
  LIMITED(stiffness_b);
  PANIC();
#undef CALL
}

ROWS(vxs_query_patches) {
  vxs_shape *shape = tetrahedron(), *plane = NULL;
  vxs_body a_given = {shape, at(0, 0, 0)}, *a = &a_given, b_given = a_given, *b = &b_given;
  vxs_patch_query query_given, *query = &query_given;
  vxs_workspace *workspace = new_workspace(), *kept = workspace;
  vxs_patch patches_given[2], *patches = watch(patches_given, sizeof patches_given);
  size_t capacity = 2;
  OUTPUT(size_t, count);
  OK(vxs_shape_create_half_space((vxs_vec3){0, 1, 0}, 0, &plane));
  OK(vxs_patch_query_init(query, sizeof *query, 1e6, 1e6));
#define CALL vxs_query_patches(a, b, query, workspace, patches, capacity, count)
  PLACED(a);
  PLACED(b);
  POINTER(query);
  SIZED(query);
  INVALID(query->reserved, 1, "query->reserved is 1; expected 0");
  INVALID(query->stiffness_a, 0, "query->stiffness_a is 0; expected");
  INVALID(query->stiffness_a, NAN, "query->stiffness_a is NaN; expected");
  LIMITED(query->stiffness_b);
  query->stiffness_a = INFINITY;
  INVALID(query->stiffness_b, INFINITY, "query->stiffness_b is infinite, like stiffness_a; expected a finite");
  query->stiffness_a = 1e6;
  INVALID(query->exponent, 0.2, "query->exponent is 0.2; expected 0.25 to 4");
  INVALID(query->exponent, NAN, "query->exponent is NaN; expected");
  NUMBER(query->resolution);
  INVALID(query->resolution, -1, "query->resolution is -1; expected");
  INVALID(query->resolution, 1e-12, "resolution is 0.000000000001; expected cells so large");
  HANDLE(workspace, workspace);
  OUTPUT_ARRAY(patches, capacity);
  POINTER(count);
  b->shape = plane;
  ROW(VXS_UNSUPPORTED, a->shape, plane, "both bodies are infinite");
  b->shape = shape;
  PANIC();
#undef CALL
  OK(vxs_workspace_destroy(kept));
  OK(vxs_shape_release(plane));
  OK(vxs_shape_release(shape));
}

ROWS(vxs_workspace_get_outline) {
  vxs_workspace *workspace = new_workspace(), *kept = workspace;
  vxs_vec3 points_given[2], *points = watch(points_given, sizeof points_given);
  size_t patch = 0, capacity = 2;
  OUTPUT(size_t, count);
#define CALL vxs_workspace_get_outline(workspace, patch, points, capacity, count)
  HANDLE(workspace, workspace);
  ANYTHING(patch); /* a patch that was not found has no points */
  OUTPUT_ARRAY(points, capacity);
  POINTER(count);
  PANIC();
#undef CALL
  OK(vxs_workspace_destroy(kept));
}
