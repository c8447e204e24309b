/* Rows of: pairs that stay. */

ROWS(vxs_pair_options_init) {
  OUTPUT(vxs_pair_options, options);
  size_t size = sizeof *options;
#define CALL vxs_pair_options_init(options, size)
  SIZE_OF(size, options);
  PANIC();
#undef CALL
}

ROWS(vxs_pair_create) {
  vxs_shape *a = tetrahedron(), *b = tetrahedron(), *kept_a = a, *kept_b = b;
  vxs_pair_options options_given, *options = &options_given;
  OUTPUT(vxs_pair *, pair);
  OK(vxs_pair_options_init(options, sizeof *options));
#define CALL vxs_pair_create(a, b, options, pair)
  HANDLE(a, shape);
  HANDLE(b, shape);
  SIZED(options);
  INVALID(options->max_points, 1025, "options->max_points is 1025; expected 0 to 1024");
  NUMBER(options->tolerance);
  INVALID(options->tolerance, -1, "options->tolerance is -1; expected");
  NUMBER(options->margin);
  INVALID(options->margin, -1, "options->margin is -1; expected");
  POINTER(pair);
  PANIC();
  OK(vxs_shape_release(kept_a));
  OK(vxs_shape_release(kept_b));
#undef CALL
}

ROWS(vxs_pair_release) {
  vxs_pair *pair = NULL;
#define CALL vxs_pair_release(pair)
  OK(CALL);
  pair = new_pair();
  LIVE_HANDLE(pair, pair);
  PANIC();
  OK(CALL);
#undef CALL
}

ROWS(vxs_pair_copy) {
  vxs_pair *pair = new_pair(), *kept = pair;
  OUTPUT(vxs_pair *, copy);
#define CALL vxs_pair_copy(pair, copy)
  HANDLE(pair, pair);
  POINTER(copy);
  PANIC();
  OK(vxs_pair_release(kept));
#undef CALL
}

ROWS(vxs_pair_reset) {
  vxs_pair *pair = new_pair(), *kept = pair;
#define CALL vxs_pair_reset(pair)
  HANDLE(pair, pair);
  PANIC();
  OK(vxs_pair_release(kept));
#undef CALL
}

static vxs_pair_step step_at_rest(void) {
  vxs_kinematics k = {at(0, 0, 0), {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}};
  vxs_pair_step step = {k, k, 0.01, {0, 0, 0}, {0, 0, 0}};
  return step;
}

ROWS(vxs_pair_update) {
  vxs_pair *pair = new_pair(), *kept = pair;
  vxs_pair_step step_given = step_at_rest(), *step = &step_given;
  OUTPUT(vxs_manifolds, manifolds);
#define CALL vxs_pair_update(pair, step, manifolds)
  HANDLE(pair, pair);
  POINTER(step);
  POINTER(manifolds);
  ROW(VXS_INVALID_ARGUMENT, step->a.pose.position.x, NAN, "step->a.pose.position.x is NaN; expected");
  ROW(VXS_INVALID_ARGUMENT, step->a.pose.position.y, 1e300, "step->a.pose.position.y is 1");
  ROW(VXS_INVALID_ARGUMENT, step->b.center.z, INFINITY, "step->b.center.z is inf; expected");
  ROW(VXS_INVALID_ARGUMENT, step->a.twist.linear.x, -INFINITY, "step->a.twist.linear.x is -inf; expected");
  ROW(VXS_INVALID_ARGUMENT, step->b.twist.angular.y, 1.0001e18, "step->b.twist.angular.y is 1");
  ROW(VXS_INVALID_ARGUMENT, step->a.pose.qw, 0, "step->a.pose.qx..qw is (0, 0, 0, 0), of norm 0; expected");
  ROW(VXS_INVALID_ARGUMENT, step->b.pose.qz, NAN, "step->b.pose.qx..qw is (0, 0, NaN, 1)");
  ROW(VXS_INVALID_ARGUMENT, step->duration, -1, "step->duration is -1; expected");
  ROW(VXS_INVALID_ARGUMENT, step->duration, NAN, "step->duration is NaN; expected");
  ROW(VXS_INVALID_ARGUMENT, step->duration, 1e300, "step->duration is 1");
  ROW(VXS_INVALID_ARGUMENT, step->gained_by_a.z, NAN, "step->gained_by_a.z is NaN; expected");
  ROW(VXS_INVALID_ARGUMENT, step->gained_by_b.x, -INFINITY, "step->gained_by_b.x is -inf; expected");
  PANIC();
  OK(vxs_pair_release(kept));
#undef CALL
}

ROWS(vxs_pairs_update) {
  vxs_batch *batch = new_batch(), *kept = batch;
  vxs_pair *first = new_pair(), *second = new_pair();
  vxs_pair_in_step pairs_given[2] = {{first, step_at_rest()}, {second, step_at_rest()}}, *pairs = pairs_given;
  vxs_manifolds manifolds_given[2], *manifolds = watch(manifolds_given, sizeof manifolds_given);
  size_t count = 2;
#define CALL vxs_pairs_update(batch, pairs, count, manifolds)
  HANDLE(batch, batch);
  ARRAY(pairs, count);
  POINTER(manifolds);
  INVALID(pairs[1].pair, NULL, "pairs[1].pair is null; expected");
  ROW(VXS_INVALID_HANDLE, pairs[0].pair, (vxs_pair *)(void *)kept, "pairs[0].pair is a vxs_batch");
  INVALID(pairs[1].pair, first, "pairs[1].pair is the pair of pairs[0]; expected each pair once");
  INVALID(pairs[0].step.a.pose.position.x, NAN, "pairs[0].step.a.pose.position.x is NaN");
  INVALID(pairs[1].step.duration, -1, "pairs[1].step.duration is -1");
  PANIC();
  OK(vxs_batch_destroy(kept));
  OK(vxs_pair_release(first));
  OK(vxs_pair_release(second));
#undef CALL
}

ROWS(vxs_pair_get_report) {
  vxs_pair *pair = new_pair(), *kept = pair;
  OUTPUT(uint32_t, origin);
  vxs_query_report report_given, *report = &report_given;
  OK(vxs_query_report_init(report, sizeof *report));
#define CALL vxs_pair_get_report(pair, origin, report)
  HANDLE(pair, pair);
  INVALID(origin, (uint32_t *)(void *)((char *)bad.memory + 1), "origin is");
  SIZED(report);
  PANIC();
  OK(vxs_pair_release(kept));
#undef CALL
}

ROWS(vxs_pair_get_triangles) {
  vxs_pair *pair = new_pair(), *kept = pair;
  vxs_contact_triangles triangles_given[2], *triangles = watch(triangles_given, sizeof triangles_given);
  size_t capacity = 2;
  OUTPUT(size_t, count);
#define CALL vxs_pair_get_triangles(pair, triangles, capacity, count)
  HANDLE(pair, pair);
  OUTPUT_ARRAY(triangles, capacity);
  POINTER(count);
  PANIC();
  OK(vxs_pair_release(kept));
#undef CALL
}
