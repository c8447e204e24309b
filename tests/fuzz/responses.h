/* Calls about the response of two bodies to contacts: penalty forces and impulses. */
#ifndef VOXSHELL_TESTS_FUZZ_RESPONSES_H
#define VOXSHELL_TESTS_FUZZ_RESPONSES_H

#include "queries.h"

static void call_vxs_penalty_init(struct stream *s) {
  vxs_penalty *penalty = OUTPUT(s, vxs_penalty, "penalty");
  const size_t size = struct_size(s, sizeof *penalty);
  const double stiffness = real(s, "stiffness", 0, 1e4), damping = real(s, "damping", 0, 10);
  if (!(stiffness >= 0) || !(damping >= 0) || isinf(stiffness) || isinf(damping)) s->bad = 1;
  if (CALL(s, vxs_penalty_init(penalty, size, stiffness, damping))) digest_bytes(s, penalty, sizeof *penalty);
}
static void call_vxs_impulse_init(struct stream *s) {
  vxs_impulse *impulse = OUTPUT(s, vxs_impulse, "impulse");
  const size_t size = struct_size(s, sizeof *impulse);
  const double dt = real(s, "dt", 1e-4, 1e-2);
  if (!(dt > 0) || isinf(dt)) s->bad = 1;
  if (CALL(s, vxs_impulse_init(impulse, size, dt))) digest_bytes(s, impulse, sizeof *impulse);
}

static const vxs_penalty *penalty_value(struct stream *s, int continuous) {
  vxs_penalty p;
  MUST(s, vxs_penalty_init(&p, sizeof p, 1000, 1));
  if (one_in(s, 4)) p.average_from = (uint32_t)note_number(s, "average_from", 1 + below(s, 20));
  if (one_in(s, 4)) p.drag = note_real(s, "drag", fabs(uniform(s)));
  if (one_in(s, 3)) p.offset = note_real(s, "offset", 0.1 * uniform(s));
  if (!continuous && one_in(s, 2)) p.max_clusters = (uint32_t)note_number(s, "max_clusters", below(s, 12));
  if (one_in(s, 6)) p.cluster_radius = note_real(s, "cluster_radius", fabs(uniform(s)));
  if (one_in(s, 4)) p.midpoints = (uint32_t)note_number(s, "midpoints", 1 + below(s, 8));
  if (one_in(s, 3)) p.roles = (uint32_t)note_number(s, "roles", below(s, 4));
  vary_struct_size(s, &p.struct_size);
  vary32(s, "average_from", &p.average_from);
  vary(s, "stiffness", &p.stiffness);
  vary(s, "damping", &p.damping);
  vary(s, "drag", &p.drag);
  vary(s, "offset", &p.offset);
  vary32(s, "max_clusters", &p.max_clusters);
  vary32(s, "midpoints", &p.midpoints);
  vary(s, "cluster_radius", &p.cluster_radius);
  vary32(s, "roles", &p.roles);
  vary32(s, "reserved", &p.reserved);
  return POINTER_TO(s, vxs_penalty, "penalty", 0, p);
}

static vxs_twist twist_value(struct stream *s, double scale) {
  vxs_twist twist = {{scale * uniform(s), scale * uniform(s), scale * uniform(s)}, {scale * uniform(s), 0, scale * uniform(s)}};
  vary_vector(s, "linear", &twist.linear);
  vary_vector(s, "angular", &twist.angular);
  return twist;
}
static const vxs_dynamic_body *dynamic_body(struct stream *s, const char *name, const struct shape_slot *slot) {
  vxs_kinematics k;
  k.pose = pose_value(s, name, REACH);
  k.center = k.pose.position;
  vary_vector(s, "center", &k.center);
  k.twist = twist_value(s, 1);
  require_pose(s, &k.pose);
  require_finite(s, k.center), require_finite(s, k.twist.linear), require_finite(s, k.twist.angular);
  const vxs_dynamic_body value = {slot->handle, k};
  return POINTER_TO(s, vxs_dynamic_body, name, 0, value);
}
static const vxs_swept_body *swept_body(struct stream *s, const char *name, const struct shape_slot *slot) {
  vxs_sweep w;
  w.motion = motion_value(s, name, REACH);
  w.center = (vxs_vec3){0.1 * uniform(s), 0, 0};
  vary_vector(s, "center", &w.center);
  w.twist = twist_value(s, 1);
  require_finite(s, w.center), require_finite(s, w.twist.linear), require_finite(s, w.twist.angular);
  const vxs_swept_body value = {slot->handle, w};
  return POINTER_TO(s, vxs_swept_body, name, 0, value);
}

static void check_responses(struct stream *s, const vxs_response *on_a, const vxs_response *on_b, const size_t *count) {
  const vxs_response *const both[2] = {on_a, on_b};
  for (int i = 0; i < 2; i++) {
    if (both[i] == NULL) continue;
    check_all_finite(s, i == 0 ? "on_a" : "on_b", &both[i]->wrench.force.x, sizeof *both[i] / sizeof(double));
    digest_bytes(s, both[i], sizeof *both[i]);
  }
  if (count != NULL) digest_number(s, *count);
}

static void call_vxs_query_penalty(struct stream *s) {
  const struct shape_slot a = pick_shape(s, "a"), b = pick_shape(s, "b");
  const vxs_dynamic_body *body_a = dynamic_body(s, "a", &a), *body_b = dynamic_body(s, "b", &b);
  const vxs_penalty *penalty = penalty_value(s, 0);
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  vxs_response *on_a = OPTIONAL_OUTPUT(s, vxs_response, "on_a"), *on_b = OPTIONAL_OUTPUT(s, vxs_response, "on_b");
  size_t *count = OPTIONAL_OUTPUT(s, size_t, "count");
  if (number < WORKSPACES && !s->loose) s->segments[number] = SIZE_MAX;
  if (CALL(s, vxs_query_penalty(body_a, body_b, penalty, workspace, on_a, on_b, count))) {
    check_responses(s, on_a, on_b, count);
  }
}
static void call_vxs_query_continuous_penalty(struct stream *s) {
  const struct shape_slot a = pick_shape(s, "a"), b = pick_shape(s, "b");
  const vxs_swept_body *body_a = swept_body(s, "a", &a), *body_b = swept_body(s, "b", &b);
  const vxs_penalty *penalty = penalty_value(s, 1);
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  vxs_response *on_a = OPTIONAL_OUTPUT(s, vxs_response, "on_a"), *on_b = OPTIONAL_OUTPUT(s, vxs_response, "on_b");
  size_t *count = OPTIONAL_OUTPUT(s, size_t, "count");
  if (CALL(s, vxs_query_continuous_penalty(body_a, body_b, penalty, workspace, on_a, on_b, count))) {
    check_responses(s, on_a, on_b, count);
  }
}

static const vxs_mobility *mobility(struct stream *s, const char *name) {
  vxs_mobility m = {one_in(s, 4) ? 0 : 0.5 + 0.4 * uniform(s), {0}};
  for (int i = 0; i < 3; i++) m.inverse_inertia[i] = m.inverse_mass * (6 + 2 * uniform(s));
  for (int i = 3; i < 6; i++) m.inverse_inertia[i] = m.inverse_mass * 0.5 * uniform(s);
  vary(s, "inverse_mass", &m.inverse_mass);
  for (int i = 0; i < 6; i++) vary(s, "inverse_inertia", &m.inverse_inertia[i]);
  return POINTER_TO(s, vxs_mobility, name, 0, m);
}
static void call_vxs_query_impulse(struct stream *s) {
  const struct shape_slot a = pick_shape(s, "a"), b = pick_shape(s, "b");
  const vxs_dynamic_body *body_a = dynamic_body(s, "a", &a), *body_b = dynamic_body(s, "b", &b);
  const vxs_mobility *mobility_a = mobility(s, "mobility_a"), *mobility_b = mobility(s, "mobility_b");
  vxs_impulse p;
  MUST(s, vxs_impulse_init(&p, sizeof p, 1e-3));
  if (one_in(s, 2)) p.iterations = (uint32_t)note_number(s, "iterations", below(s, 100));
  if (one_in(s, 3)) p.restitution = note_real(s, "restitution", fabs(uniform(s)));
  if (one_in(s, 3)) p.roles = (uint32_t)note_number(s, "roles", below(s, 4));
  if (one_in(s, 3)) p.max_speed = note_real(s, "max_speed", fabs(uniform(s)));
  vary_struct_size(s, &p.struct_size);
  vary32(s, "iterations", &p.iterations);
  vary(s, "dt", &p.dt);
  vary(s, "restitution", &p.restitution);
  vary(s, "max_speed", &p.max_speed);
  vary(s, "max_separation", &p.max_separation);
  vary32(s, "roles", &p.roles);
  vary32(s, "reserved", &p.reserved);
  const vxs_impulse *impulse = POINTER_TO(s, vxs_impulse, "impulse", 0, p);
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  vxs_impulses *impulses = OUTPUT(s, vxs_impulses, "impulses");
  if (number < WORKSPACES && !s->loose) s->segments[number] = SIZE_MAX;
  if (!CALL(s, vxs_query_impulse(body_a, mobility_a, body_b, mobility_b, impulse, workspace, impulses))) return;
  check_all_finite(s, "on_a", &impulses->on_a.force.x, 6);
  check_all_finite(s, "on_b", &impulses->on_b.force.x, 6);
  if (impulses->resolved > 1 || impulses->count > p.iterations) fail(s, "%u impulses", (unsigned)impulses->count);
  digest_bytes(s, impulses, sizeof *impulses);
}

static double stiffness_value(struct stream *s, const char *name) {
  return one_in(s, 6) ? note_real(s, name, INFINITY) : real(s, name, 1, 1e6);
}
static void call_vxs_patch_query_init(struct stream *s) {
  vxs_patch_query *query = OUTPUT(s, vxs_patch_query, "query");
  const size_t size = struct_size(s, sizeof *query);
  const double a = stiffness_value(s, "stiffness_a"), b = stiffness_value(s, "stiffness_b");
  if (!(a > 0) || !(b > 0)) s->bad = 1;
  if (CALL(s, vxs_patch_query_init(query, size, a, b))) digest_bytes(s, query, sizeof *query);
}
static void call_vxs_query_patches(struct stream *s) {
  enum { MOST = 6 };
  const struct shape_slot a = pick_shape(s, "a"), b = pick_shape(s, "b");
  const vxs_body *body_a = body(s, "a", &a, REACH), *body_b = body(s, "b", &b, REACH);
  vxs_patch_query q;
  MUST(s, vxs_patch_query_init(&q, sizeof q, 1e6, 1e5));
  if (one_in(s, 4)) q.stiffness_a = INFINITY;
  if (one_in(s, 3)) q.exponent = note_real(s, "exponent", 0.3 + fabs(uniform(s)));
  q.resolution = note_real(s, "resolution", 0.05 + 0.1 * fabs(uniform(s)));
  vary_struct_size(s, &q.struct_size);
  vary32(s, "reserved", &q.reserved);
  vary(s, "stiffness_a", &q.stiffness_a);
  vary(s, "stiffness_b", &q.stiffness_b);
  vary(s, "exponent", &q.exponent);
  const vxs_patch_query *query = POINTER_TO(s, vxs_patch_query, "query", 0, q);
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(vxs_patch));
  vxs_patch *patches = list_output(s, "patches", MOST, sizeof *patches, capacity);
  size_t *count = OUTPUT(s, size_t, "count");
  if (!CALL(s, vxs_query_patches(body_a, body_b, query, workspace, patches, capacity, count))) return;
  const size_t written = written_count(s, capacity, *count);
  check_rest(s, patches, written, MOST, sizeof *patches);
  for (size_t i = 0; i < written; i++) {
    check_all_finite(s, "a patch", &patches[i].area, 3);
    check_all_finite(s, "on_b", &patches[i].on_b.force.x, 6);
    check_vector(s, "center", patches[i].center);
    check_unit(s, "normal", patches[i].normal);
    if (!(patches[i].area > 0) || patches[i].mean_pressure > patches[i].max_pressure * (1 + 1e-9)) fail(s, "its area is %g", patches[i].area);
  }
  digest_bytes(s, patches, written * sizeof *patches);
}
static void call_vxs_workspace_get_outline(struct stream *s) {
  enum { MOST = 100 };
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  const size_t patch = note_number(s, "patch", odd(s) ? edge_number(s) : below(s, 2));
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(vxs_vec3));
  vxs_vec3 *points = list_output(s, "points", MOST, sizeof *points, capacity);
  size_t *count = OUTPUT(s, size_t, "count");
  if (!CALL(s, vxs_workspace_get_outline(workspace, patch, points, capacity, count))) return;
  const size_t written = written_count(s, capacity, *count);
  check_rest(s, points, written, MOST, sizeof *points);
  for (size_t i = 0; i < written; i++) check_vector(s, "a point", points[i]);
  digest_bytes(s, points, written * sizeof *points);
}

#endif
