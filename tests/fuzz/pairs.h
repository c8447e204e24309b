/* Calls about pairs that stay. */
#ifndef VOXSHELL_TESTS_FUZZ_PAIRS_H
#define VOXSHELL_TESTS_FUZZ_PAIRS_H

#include "batches.h"
#include "responses.h"

static void drop_pair(struct stream *s, size_t i) {
  if (s->pairs[i] == NULL) return;
  begin_release(s);
  MUST(s, vxs_pair_release(s->pairs[i]));
  bury(s, s->pairs[i]);
  end_release(s);
  s->pairs[i] = NULL;
}

static void call_vxs_pair_options_init(struct stream *s) {
  vxs_pair_options *options = OUTPUT(s, vxs_pair_options, "options");
  const size_t size = struct_size(s, sizeof *options);
  if (CALL(s, vxs_pair_options_init(options, size))) digest_bytes(s, options, sizeof *options);
}

static void call_vxs_pair_create(struct stream *s) {
  const struct shape_slot a = pick_shape(s, "a"), b = pick_shape(s, "b");
  vxs_pair_options o;
  MUST(s, vxs_pair_options_init(&o, sizeof o));
  if (one_in(s, 3)) o.max_points = (uint32_t)note_number(s, "max_points", below(s, 9));
  if (one_in(s, 3)) o.tolerance = note_real(s, "tolerance", 0.01 * fabs(uniform(s)));
  if (one_in(s, 3)) o.margin = note_real(s, "margin", 0.1 * fabs(uniform(s)));
  vary_struct_size(s, &o.struct_size);
  vary32(s, "max_points", &o.max_points);
  vary(s, "tolerance", &o.tolerance);
  vary(s, "margin", &o.margin);
  const vxs_pair_options *options = POINTER_TO(s, vxs_pair_options, "options", 1, o);
  vxs_pair **pair = OUTPUT(s, vxs_pair *, "pair");
  if (!CALL(s, vxs_pair_create(a.handle, b.handle, options, pair))) return;
  const size_t i = below(s, KEPT_PAIRS);
  drop_pair(s, i);
  s->pairs[i] = *pair;
}

static vxs_pair *pick_pair(struct stream *s) {
  const size_t i = note_number(s, "slot", below(s, KEPT_PAIRS));
  vxs_pair *pair = odd(s) ? bad_handle(s, "pair", WORKSPACE) : s->pairs[i];
  if (pair == NULL) s->bad = 1;
  return pair;
}

static void call_vxs_pair_release(struct stream *s) {
  const size_t i = note_number(s, "slot", below(s, KEPT_PAIRS));
  vxs_pair *handle = odd(s) ? bad_handle(s, "pair", WORKSPACE) : s->pairs[i];
  if (handle == NULL) s->bad = 0;
  begin_release(s);
  if (CALL(s, vxs_pair_release(handle)) && handle != NULL) {
    bury(s, handle);
    s->pairs[i] = NULL;
  }
  end_release(s);
}

static void call_vxs_pair_copy(struct stream *s) {
  vxs_pair *pair = pick_pair(s);
  vxs_pair **copy = OUTPUT(s, vxs_pair *, "copy");
  if (!CALL(s, vxs_pair_copy(pair, copy))) return;
  const size_t i = below(s, KEPT_PAIRS);
  drop_pair(s, i);
  s->pairs[i] = *copy;
}

static void call_vxs_pair_reset(struct stream *s) {
  vxs_pair *pair = pick_pair(s);
  CALL(s, vxs_pair_reset(pair));
}

static vxs_pair_step pair_step_value(struct stream *s) {
  vxs_pair_step step;
  for (int i = 0; i < 2; i++) {
    vxs_kinematics *k = i == 0 ? &step.a : &step.b;
    k->pose = pose_value(s, i == 0 ? "a.pose" : "b.pose", REACH);
    k->center = k->pose.position;
    vary_vector(s, "center", &k->center);
    k->twist = twist_value(s, 1);
    require_pose(s, &k->pose);
    require_finite(s, k->center), require_finite(s, k->twist.linear), require_finite(s, k->twist.angular);
  }
  step.duration = real(s, "duration", 0, 0.1);
  if (!(step.duration >= 0) || isinf(step.duration)) s->bad = 1;
  vxs_vec3 *const gained[2] = {&step.gained_by_a, &step.gained_by_b};
  for (int i = 0; i < 2; i++) {
    *gained[i] = one_in(s, 2) ? (vxs_vec3){0, uniform(s), 0} : (vxs_vec3){0, 0, 0};
    vary_vector(s, i == 0 ? "gained_by_a" : "gained_by_b", gained[i]);
    require_finite(s, *gained[i]);
  }
  return step;
}

static void check_manifolds(struct stream *s, const vxs_manifolds *answer) {
  for (size_t i = 0; i < answer->count; i++) {
    const vxs_manifold *m = &answer->data[i];
    check_unit(s, "normal", m->normal);
    if (m->count == 0) fail(s, "manifold %zu has no points", i);
    if (m->reserved != 0) fail(s, "reserved is %u", (unsigned)m->reserved);
    for (size_t k = 0; k < m->count; k++) {
      vxs_pair_point *p = &m->points[k];
      check_vector(s, "point_on_a", p->point_on_a);
      check_vector(s, "point_on_b", p->point_on_b);
      check_unit(s, "normal", p->normal);
      check_finite(s, "separation", p->separation);
      check_finite(s, "gap", p->gap);
      if (k > 0 && p->id <= p[-1].id) fail(s, "point %zu has the id %llu", k, (unsigned long long)p->id);
      if (p->user[0] != 0 && p->user[0] != (double)p->id) fail(s, "the number of point %zu is that of another", k);
      p->user[0] = (double)p->id;
    }
    digest_bytes(s, m->points, m->count * sizeof *m->points);
    digest_bytes(s, &m->normal, sizeof m->normal);
  }
}

static void call_vxs_pair_update(struct stream *s) {
  vxs_pair *pair = pick_pair(s);
  const vxs_pair_step value = pair_step_value(s), *step = POINTER_TO(s, vxs_pair_step, "step", 0, value);
  vxs_manifolds *manifolds = OUTPUT(s, vxs_manifolds, "manifolds");
  if (CALL(s, vxs_pair_update(pair, step, manifolds))) check_manifolds(s, manifolds);
}

static void call_vxs_pairs_update(struct stream *s) {
  const size_t count = note_number(s, "count", below(s, KEPT_PAIRS + 1));
  vxs_pair_in_step *pairs = input(s, count * sizeof *pairs);
  for (size_t i = 0; i < count; i++) {
    pairs[i].pair = s->pairs[i], pairs[i].step = pair_step_value(s);
    if (pairs[i].pair == NULL) s->bad = 1;
  }
  if (s->batch == NULL) MUST(s, vxs_batch_create(2, &s->batch));
  vxs_batch *batch = odd(s) ? bad_handle(s, "batch", WORKSPACE) : s->batch;
  vxs_manifolds *manifolds = output_array(s, "manifolds", count * sizeof *manifolds, count == 0);
  if (!CALL(s, vxs_pairs_update(batch, pairs, count, manifolds))) return;
  for (size_t i = 0; i < count; i++) check_manifolds(s, &manifolds[i]);
}

static void call_vxs_pair_get_report(struct stream *s) {
  vxs_pair *pair = pick_pair(s);
  uint32_t *origin = OPTIONAL_OUTPUT(s, uint32_t, "origin");
  if (CALL(s, vxs_pair_get_report(pair, origin, NULL)) && origin != NULL && *origin > VXS_PAIR_SEARCHED) fail(s, "the origin is %u", (unsigned)*origin);
}

static void call_vxs_pair_get_triangles(struct stream *s) {
  enum { MOST = 100 };
  vxs_pair *pair = pick_pair(s);
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(vxs_contact_triangles));
  vxs_contact_triangles *triangles = list_output(s, "triangles", MOST, sizeof *triangles, capacity);
  size_t *count = OUTPUT(s, size_t, "count");
  if (!CALL(s, vxs_pair_get_triangles(pair, triangles, capacity, count))) return;
  const size_t written = written_count(s, capacity, *count);
  check_rest(s, triangles, written, MOST, sizeof *triangles);
  for (size_t i = 0; i < written; i++) {
    check_triangle_point(s, &triangles[i].on_a);
    check_triangle_point(s, &triangles[i].on_b);
  }
  digest_bytes(s, triangles, written * sizeof *triangles);
}

#endif
