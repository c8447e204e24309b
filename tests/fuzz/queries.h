/* Calls about two shapes: at two poses, in motion, and the response to their contacts. */
#ifndef VOXSHELL_TESTS_FUZZ_QUERIES_H
#define VOXSHELL_TESTS_FUZZ_QUERIES_H

#include "shapes.h"

/* Largest distance from the origin of bodies that may touch. */
static const double REACH = 0.6;
static const uint32_t OF_B = 0x80000000, OF_EDGE = 0x40000000;

/* Returns features in ascending order: of the last found contacts, or random ones. */
static const uint32_t *features_value(struct stream *s, const char *name, size_t *count, int sorted) {
  const int found = s->feature_count > 0 && !one_in(s, 4);
  *count = note_number(s, name, found ? below(s, s->feature_count + 1) : below(s, 5));
  uint32_t *features = input(s, *count * sizeof *features);
  for (size_t i = 0; i < *count; i++) {
    features[i] = found ? s->features[i] : (uint32_t)below(s, 60) | (one_in(s, 2) ? OF_B : 0);
    for (size_t j = i; sorted && j > 0 && features[j] < features[j - 1]; j--) {
      const uint32_t swapped = features[j];
      features[j] = features[j - 1], features[j - 1] = swapped;
    }
  }
  if (*count > 0 && odd(s)) features[below(s, *count)] = (uint32_t)note_number(s, "a feature", edge_number(s) & UINT32_MAX);
  for (size_t i = 1; sorted && i < *count; i++) {
    if (features[i] < features[i - 1]) s->bad = 1;
  }
  if (*count > 0 && odd(s)) features = NULL, s->bad = 1;
  return features;
}

static void check_contact(struct stream *s, const vxs_contact *c, const struct shape_slot *a, const struct shape_slot *b) {
  check_finite(s, "separation", c->separation);
  check_vector(s, "point_on_a", c->point_on_a);
  check_vector(s, "point_on_b", c->point_on_b);
  check_unit(s, "normal", c->normal);
  check_range(s, "toi", c->toi, 0, 1);
  const uint64_t samples = c->feature & OF_B ? b->samples : a->samples;
  const int is_edge = (c->feature & OF_EDGE) != 0;
  if (!is_edge && (c->feature & ~OF_B) >= samples) fail(s, "the feature is %#x, of %llu", (unsigned)c->feature, (unsigned long long)samples);
  if (c->reserved != 0) fail(s, "reserved is %u", (unsigned)c->reserved);
}
static void check_contacts(struct stream *s, const vxs_contact *contacts, size_t count, const struct shape_slot *a,
                           const struct shape_slot *b) {
  if (!s->loose) s->feature_count = 0;
  for (size_t i = 0; i < count; i++) {
    check_contact(s, &contacts[i], a, b);
    const int is_sample = (contacts[i].feature & OF_EDGE) == 0;
    if (is_sample && !s->loose && s->feature_count < COUNT_OF(s->features)) s->features[s->feature_count++] = contacts[i].feature;
  }
  digest_bytes(s, contacts, count * sizeof *contacts);
}

static const vxs_query_segmentation *segmentation_value(struct stream *s, size_t preferred_count) {
  vxs_query_segmentation g;
  MUST(s, vxs_query_segmentation_init(&g, sizeof g));
  g.kind = (uint32_t)note_number(s, "segmentation", below(s, 3));
  if (g.kind != 0) g.level = (uint32_t)note_number(s, "level", below(s, 4));
  if (one_in(s, 2)) {
    uint32_t *segments = input(s, preferred_count * sizeof *segments);
    for (size_t i = 0; i < preferred_count; i++) segments[i] = odd(s) ? (uint32_t)edge_number(s) : (uint32_t)below(s, 4);
    g.preferred_segments = segments;
  }
  vary_struct_size(s, &g.struct_size);
  vary32(s, "kind", &g.kind);
  vary32(s, "level", &g.level);
  vary(s, "distance", &g.distance);
  vary(s, "angle", &g.angle);
  return memcpy(input(s, sizeof g), &g, sizeof g);
}

static const vxs_query_limit *query_limit_value(struct stream *s, int *timed) {
  vxs_query_limit l;
  MUST(s, vxs_query_limit_init(&l, sizeof l));
  if (one_in(s, 2)) l.max_tests = note_number(s, "max_tests", below(s, 200));
  else if (one_in(s, 2)) l.accuracy = note_real(s, "accuracy", 0.3 * fabs(uniform(s)));
  if (one_in(s, 40)) l.max_nanoseconds = note_number(s, "max_nanoseconds", 1 + below(s, 20000));
  vary_struct_size(s, &l.struct_size);
  vary64(s, "max_tests", &l.max_tests);
  vary(s, "accuracy", &l.accuracy);
  *timed = l.max_nanoseconds != 0;
  return memcpy(input(s, sizeof l), &l, sizeof l);
}

static const vxs_query_step *query_step_value(struct stream *s) {
  vxs_query_step t;
  MUST(s, vxs_query_step_init(&t, sizeof t));
  if (one_in(s, 2)) t.dense_above = note_number(s, "dense_above", below(s, 30));
  if (one_in(s, 2)) t.max_gap = note_real(s, "max_gap", 0.2 * uniform(s));
  if (one_in(s, 2)) t.extremes_only = 1;
  t.shift = (vxs_vec3){0.1 * uniform(s), 0.1 * uniform(s), 0.1 * uniform(s)};
  t.turn = (vxs_vec3){0.1 * uniform(s), 0.1 * uniform(s), 0.1 * uniform(s)};
  if (one_in(s, 2)) t.gained_by_a = (vxs_vec3){0, 0.1 * uniform(s), 0};
  if (one_in(s, 2)) t.gained_by_b = (vxs_vec3){0.1 * uniform(s), 0, 0};
  vary_struct_size(s, &t.struct_size);
  vary64(s, "dense_above", &t.dense_above);
  vary32(s, "extremes_only", &t.extremes_only);
  vary(s, "max_gap", &t.max_gap);
  vary_vector(s, "center", &t.center);
  vary_vector(s, "shift", &t.shift);
  vary_vector(s, "turn", &t.turn);
  vary_vector(s, "gained_by_a", &t.gained_by_a);
  vary_vector(s, "gained_by_b", &t.gained_by_b);
  return memcpy(input(s, sizeof t), &t, sizeof t);
}

/* `timed` is set if the answer depends on the clock. */
static const vxs_query *query_value(struct stream *s, vxs_query *q, int *timed) {
  *timed = 0;
  MUST(s, vxs_query_init(q, sizeof *q));
  if (one_in(s, 8)) {
    note_text(s, "query", "null");
    return NULL;
  }
  q->roles = (uint32_t)note_number(s, "roles", below(s, 4));
  if (one_in(s, 2)) q->max_separation = note_real(s, "max_separation", 0.3 * uniform(s));
  if (one_in(s, 3)) q->max_contacts = (uint32_t)note_number(s, "max_contacts", below(s, 9));
  if (one_in(s, 4)) {
    size_t count = 0;
    q->preferred = features_value(s, "preferred_count", &count, 1);
    q->preferred_count = (uint32_t)count;
  }
  if (one_in(s, 3)) q->segmentation = segmentation_value(s, q->preferred_count);
  if (one_in(s, 4)) q->limit = query_limit_value(s, timed);
  if (one_in(s, 3)) q->coverage = (uint32_t)note_number(s, "coverage", one_in(s, 2) ? VXS_COVERAGE_FACETS : VXS_COVERAGE_EDGES);
  if (q->limit != NULL ? one_in(s, 20) : one_in(s, 4)) q->step = query_step_value(s);
  vary_struct_size(s, &q->struct_size);
  vary32(s, "roles", &q->roles);
  vary32(s, "coverage", &q->coverage);
  vary32(s, "reserved", &q->reserved);
  vary(s, "max_separation", &q->max_separation);
  vary(s, "max_distance", &q->max_distance);
  vary32(s, "max_contacts", &q->max_contacts);
  vary(s, "max_depth", &q->max_depth);
  return memcpy(input(s, sizeof *q), q, sizeof *q);
}

/* A shape at a pose. */
static const vxs_body *body(struct stream *s, const char *name, const struct shape_slot *slot, double reach) {
  const vxs_body value = {slot->handle, pose_value(s, name, reach)};
  require_pose(s, &value.pose);
  return POINTER_TO(s, vxs_body, name, 0, value);
}

static void call_vxs_query_contacts(struct stream *s) {
  enum { MOST = 64 };
  const struct shape_slot a = pick_shape(s, "a"), b = pick_shape(s, "b");
  const vxs_body *body_a = body(s, "a", &a, REACH), *body_b = body(s, "b", &b, REACH);
  vxs_query q;
  int timed;
  const vxs_query *query = query_value(s, &q, &timed);
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  if (timed && number < WORKSPACES) s->loose = 1, workspace = shared.workspace;
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(vxs_contact));
  vxs_contact *contacts = list_output(s, "contacts", MOST, sizeof *contacts, capacity);
  size_t *count = OUTPUT(s, size_t, "count");
  if (number < WORKSPACES && !s->loose) s->segments[number] = SIZE_MAX;
  if (!CALL(s, vxs_query_contacts(body_a, body_b, query, workspace, contacts, capacity, count))) return;
  const size_t written = written_count(s, capacity, *count);
  check_rest(s, contacts, written, MOST, sizeof *contacts);
  check_contacts(s, contacts, written, &a, &b);
  for (size_t i = 0; i < written; i++) {
    if (contacts[i].toi != 0) fail(s, "toi is %g", contacts[i].toi);
    if (i > 0 && contacts[i].separation < contacts[i - 1].separation) fail(s, "contact %zu is not deepest first", i);
    if (contacts[i].separation > q.max_separation) fail(s, "the separation is %.17g", contacts[i].separation);
  }
  if (number < WORKSPACES && !s->loose) s->segments[number] = *count;
}

static void call_vxs_workspace_get_report(struct stream *s) {
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  vxs_query_report *report = OUTPUT(s, vxs_query_report, "report");
  if (report != NULL) {
    MUST(s, vxs_query_report_init(report, sizeof *report));
    if (odd(s)) report->struct_size = (uint32_t)struct_size(s, sizeof *report);
    remember_output(s);
  }
  if (!CALL(s, vxs_workspace_get_report(workspace, report))) return;
  if (report->answer > VXS_ANSWER_EXTREMES || isnan(report->least_missed)) fail(s, "it reports %g", report->least_missed);
  digest_bytes(s, report, sizeof *report);
}
static void call_vxs_workspace_get_segments(struct stream *s) {
  enum { MOST = 100 };
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(uint32_t));
  uint32_t *segments = list_output(s, "segments", MOST, sizeof *segments, capacity);
  size_t *count = OUTPUT(s, size_t, "count");
  if (!CALL(s, vxs_workspace_get_segments(workspace, segments, capacity, count))) return;
  const size_t written = written_count(s, capacity, *count);
  check_rest(s, segments, written, MOST, sizeof *segments);
  if (number < WORKSPACES && s->segments[number] != SIZE_MAX && s->segments[number] != *count) {
    fail(s, "it counts %zu contacts; expected %zu", *count, s->segments[number]);
  }
  digest_bytes(s, segments, written * sizeof *segments);
}
static void call_vxs_workspace_create(struct stream *s) {
  vxs_workspace **workspace = OUTPUT(s, vxs_workspace *, "workspace");
  if (!CALL(s, vxs_workspace_create(workspace))) return;
  const size_t i = below(s, WORKSPACES);
  drop_workspace(s, i);
  s->workspaces[i] = *workspace;
  s->segments[i] = 0;
}
static void call_vxs_workspace_destroy(struct stream *s) {
  const size_t i = note_number(s, "slot", below(s, WORKSPACES));
  vxs_workspace *handle = odd(s) ? bad_handle(s, "workspace", WORKSPACE) : s->workspaces[i];
  if (handle == NULL) s->bad = 0;
  begin_release(s);
  if (CALL(s, vxs_workspace_destroy(handle)) && handle != NULL) {
    bury(s, handle);
    s->workspaces[i] = NULL;
  }
  end_release(s);
}

static void call_vxs_query_features(struct stream *s) {
  const struct shape_slot a = pick_shape(s, "a"), b = pick_shape(s, "b");
  const vxs_body *body_a = body(s, "a", &a, REACH), *body_b = body(s, "b", &b, REACH);
  size_t most;
  const uint32_t *features = features_value(s, "features", &most, 0);
  const size_t count = most == 0 ? 0 : count_of(s, "count", most, most, sizeof *features);
  vxs_contact *contacts = count == 0 ? NULL : output_array(s, "contacts", most * sizeof *contacts, 0);
  if (count == 0 && features == NULL && most > 0) s->bad = 0;
  const uint32_t coverage = (uint32_t)note_number(s, "coverage", one_in(s, 20) ? 3 : below(s, 3));
  if (coverage > 2) s->bad = 1;
  if (!CALL(s, vxs_query_features(body_a, body_b, coverage, features, count, contacts))) return;
  check_rest(s, contacts, count, most, sizeof *contacts);
  for (size_t i = 0; i < count; i++) {
    const struct shape_slot *to = contacts[i].feature & OF_B ? &a : &b;
    if (contacts[i].feature != features[i]) fail(s, "it answers for another feature");
    if (to->field_kind != VXS_FIELD_SHEET || isfinite(contacts[i].separation)) check_contact(s, &contacts[i], &a, &b);
  }
  digest_bytes(s, contacts, count * sizeof *contacts);
}

static void call_vxs_query_distance(struct stream *s) {
  const struct shape_slot a = pick_shape(s, "a"), b = pick_shape(s, "b");
  const vxs_body *body_a = body(s, "a", &a, 2 * REACH), *body_b = body(s, "b", &b, 2 * REACH);
  const int bad = s->bad;
  vxs_query q;
  int timed;
  const vxs_query *query = query_value(s, &q, &timed);
  s->bad = bad; /* it does not look at features */
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  vxs_contact *closest = OUTPUT(s, vxs_contact, "closest");
  bool *found = OUTPUT(s, bool, "found");
  if (number < WORKSPACES && !s->loose) s->segments[number] = SIZE_MAX;
  if (!CALL(s, vxs_query_distance(body_a, body_b, query, workspace, closest, found))) return;
  digest_number(s, *found);
  if (!*found) {
    check_rest(s, closest, 0, 1, sizeof *closest);
    return;
  }
  check_contacts(s, closest, 1, &a, &b);
  if (closest->separation > q.max_distance) fail(s, "the distance is %.17g", closest->separation);
}

/* Returns contacts as no query gives them: anywhere, with points that are not finite among them. */
static vxs_contact any_contact(struct stream *s) {
  vxs_contact c;
  memset(&c, 0, sizeof c);
  c.point_on_a = (vxs_vec3){uniform(s), uniform(s), uniform(s)};
  c.point_on_b = (vxs_vec3){uniform(s), uniform(s), uniform(s)};
  c.normal = (vxs_vec3){0, one_in(s, 2) ? 1 : -1, 0};
  vary_vector(s, "point_on_a", &c.point_on_a);
  vary_vector(s, "point_on_b", &c.point_on_b);
  vary_vector(s, "normal", &c.normal);
  return c;
}
static void check_triangle_point(struct stream *s, const vxs_triangle_point *p) {
  if (p->triangle == VXS_TRIANGLE_NONE) {
    if (p->material != VXS_MATERIAL_NONE || !isnan(p->barycentric[0])) fail(s, "no triangle, but it has the material %u", (unsigned)p->material);
    return;
  }
  double sum = 0;
  for (int i = 0; i < 3; i++) {
    check_range(s, "barycentric", p->barycentric[i], 0, 1);
    sum += p->barycentric[i];
  }
  check_range(s, "their sum", sum, 1 - 1e-12, 1 + 1e-12);
}
static void call_vxs_query_triangles(struct stream *s) {
  const struct shape_slot a = pick_shape(s, "a"), b = pick_shape(s, "b");
  const vxs_body *body_a = body(s, "a", &a, REACH), *body_b = body(s, "b", &b, REACH);
  const size_t most = 1 + below(s, 6);
  const int bad = s->bad;
  vxs_contact *contacts = input(s, most * sizeof *contacts);
  for (size_t i = 0; i < most; i++) contacts[i] = any_contact(s);
  s->bad = bad; /* contacts may have any numbers */
  const size_t count = count_of(s, "count", most, most, sizeof *contacts);
  if (count > 0 && odd(s)) contacts = NULL, s->bad = 1;
  vxs_contact_triangles *triangles = count == 0 ? NULL : output_array(s, "triangles", most * sizeof *triangles, 0);
  if (!CALL(s, vxs_query_triangles(body_a, body_b, contacts, count, triangles))) return;
  check_rest(s, triangles, count, most, sizeof *triangles);
  for (size_t i = 0; i < count; i++) {
    check_triangle_point(s, &triangles[i].on_a);
    check_triangle_point(s, &triangles[i].on_b);
  }
  digest_bytes(s, triangles, count * sizeof *triangles);
}

/* --- In motion --------------------------------------------------------------------------------------------------------------------- */

static const vxs_moving_body *moving_body(struct stream *s, const char *name, const struct shape_slot *slot) {
  const vxs_moving_body value = {slot->handle, motion_value(s, name, REACH)};
  return POINTER_TO(s, vxs_moving_body, name, 0, value);
}

static void call_vxs_motion_pose(struct stream *s) {
  const vxs_motion value = motion_value(s, "motion", REACH), *m = POINTER_TO(s, vxs_motion, "motion", 0, value);
  const double t = real(s, "t", 0, 1);
  vxs_pose *out = OUTPUT(s, vxs_pose, "pose");
  if (!(t >= 0 && t <= 1)) s->bad = 1;
  if (!CALL(s, vxs_motion_pose(m, t, out))) return;
  check_pose(s, "pose", out);
  digest_bytes(s, out, sizeof *out);
}

static const vxs_motion_query *motion_query_value(struct stream *s, vxs_motion_query *q) {
  MUST(s, vxs_motion_query_init(q, sizeof *q));
  if (one_in(s, 6)) {
    note_text(s, "query", "null");
    return NULL;
  }
  q->roles = (uint32_t)note_number(s, "roles", below(s, 4));
  q->path = (uint32_t)note_number(s, "path", below(s, 2));
  q->coverage = (uint32_t)note_number(s, "coverage", below(s, 3));
  if (one_in(s, 3)) q->max_separation = note_real(s, "max_separation", 0.1 * uniform(s));
  if (one_in(s, 4)) q->until = note_real(s, "until", fabs(uniform(s)));
  if (one_in(s, 6)) q->tolerance = note_real(s, "tolerance", 0.05 * fabs(uniform(s)));
  if (one_in(s, 2)) {
    size_t count = 0;
    q->known = features_value(s, "known_count", &count, 1);
    q->known_count = (uint32_t)count;
  }
  vary_struct_size(s, &q->struct_size);
  vary32(s, "roles", &q->roles);
  vary32(s, "path", &q->path);
  vary32(s, "coverage", &q->coverage);
  vary32(s, "reserved", &q->reserved);
  vary(s, "max_separation", &q->max_separation);
  vary(s, "until", &q->until);
  /* Values far below the sample distance are valid, but slow. */
  if (odd(s)) q->tolerance = note_real(s, "tolerance", one_in(s, 2) ? 1e-6 : fabs(edge_real(s)) + 1e-6);
  return memcpy(input(s, sizeof *q), q, sizeof *q);
}

static void call_vxs_query_time_of_impact(struct stream *s) {
  const struct shape_slot a = pick_shape(s, "a"), b = pick_shape(s, "b");
  const vxs_moving_body *body_a = moving_body(s, "a", &a), *body_b = moving_body(s, "b", &b);
  vxs_motion_query q;
  const vxs_motion_query *query = motion_query_value(s, &q);
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  vxs_contact *contact = OUTPUT(s, vxs_contact, "contact");
  bool *found = OUTPUT(s, bool, "found");
  if (!CALL(s, vxs_query_time_of_impact(body_a, body_b, query, workspace, contact, found))) return;
  digest_number(s, *found);
  if (!*found) {
    check_rest(s, contact, 0, 1, sizeof *contact);
    return;
  }
  check_contacts(s, contact, 1, &a, &b);
  check_range(s, "toi", contact->toi, 0, q.until);
}
static void call_vxs_mesh_time_of_impact(struct stream *s) {
  const struct shape_slot a = pick_shape(s, "a"), b = pick_shape(s, "b");
  const vxs_moving_body *body_a = moving_body(s, "a", &a), *body_b = moving_body(s, "b", &b);
  vxs_mesh_motion_query q;
  MUST(s, vxs_mesh_motion_query_init(&q, sizeof q));
  q.path = (uint32_t)note_number(s, "path", below(s, 2));
  if (one_in(s, 3)) q.max_separation = note_real(s, "max_separation", 0.1 * fabs(uniform(s)));
  if (one_in(s, 4)) q.until = note_real(s, "until", fabs(uniform(s)));
  if (one_in(s, 6)) q.tolerance = note_real(s, "tolerance", 0.05 * fabs(uniform(s)));
  vary_struct_size(s, &q.struct_size);
  vary32(s, "path", &q.path);
  vary(s, "max_separation", &q.max_separation);
  vary(s, "until", &q.until);
  /* Values far below the size of the meshes are valid, but slow. */
  if (odd(s)) q.tolerance = note_real(s, "tolerance", one_in(s, 2) ? 1e-6 : fabs(edge_real(s)) + 1e-6);
  const vxs_mesh_motion_query *query = memcpy(input(s, sizeof q), &q, sizeof q);
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  vxs_mesh_impact *impact = OUTPUT(s, vxs_mesh_impact, "impact");
  bool *found = OUTPUT(s, bool, "found");
  if (!CALL(s, vxs_mesh_time_of_impact(body_a, body_b, query, workspace, impact, found))) return;
  digest_number(s, *found);
  if (!*found) {
    check_rest(s, impact, 0, 1, sizeof *impact);
    return;
  }
  check_range(s, "time", impact->time, 0, q.until);
  check_range(s, "width", impact->width, 0, 1);
  digest_bytes(s, impact, sizeof *impact);
}
static void call_vxs_query_motion_contacts(struct stream *s) {
  enum { MOST = 40 };
  const struct shape_slot a = pick_shape(s, "a"), b = pick_shape(s, "b");
  const vxs_moving_body *body_a = moving_body(s, "a", &a), *body_b = moving_body(s, "b", &b);
  vxs_motion_query q;
  const vxs_motion_query *query = motion_query_value(s, &q);
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(vxs_motion_contact));
  vxs_motion_contact *contacts = list_output(s, "contacts", MOST, sizeof *contacts, capacity);
  size_t *count = OUTPUT(s, size_t, "count");
  if (!CALL(s, vxs_query_motion_contacts(body_a, body_b, query, workspace, contacts, capacity, count))) {
    return;
  }
  const size_t written = written_count(s, capacity, *count);
  check_rest(s, contacts, written, MOST, sizeof *contacts);
  for (size_t i = 0; i < written; i++) {
    check_contact(s, &contacts[i].contact, &a, &b);
    check_range(s, "until", contacts[i].until, contacts[i].contact.toi, 1);
    check_range(s, "toi", contacts[i].contact.toi, i > 0 ? contacts[i - 1].contact.toi : 0, q.until);
  }
  digest_bytes(s, contacts, written * sizeof *contacts);
}
static void call_vxs_query_known_contacts(struct stream *s) {
  enum { MOST = 16 };
  const struct shape_slot a = pick_shape(s, "a"), b = pick_shape(s, "b");
  const vxs_moving_body *body_a = moving_body(s, "a", &a), *body_b = moving_body(s, "b", &b);
  vxs_motion_query q;
  const vxs_motion_query *query = motion_query_value(s, &q);
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(vxs_contact));
  vxs_contact *contacts = list_output(s, "contacts", MOST, sizeof *contacts, capacity);
  size_t *count = OUTPUT(s, size_t, "count");
  if (!CALL(s, vxs_query_known_contacts(body_a, body_b, query, workspace, contacts, capacity, count))) {
    return;
  }
  const size_t written = written_count(s, capacity, *count);
  check_rest(s, contacts, written, MOST, sizeof *contacts);
  for (size_t i = 0; i < written; i++) {
    check_contact(s, &contacts[i], &a, &b);
    if (contacts[i].toi != 1 || (i > 0 && contacts[i].feature < contacts[i - 1].feature)) fail(s, "contact %zu is out of order", i);
  }
  digest_bytes(s, contacts, written * sizeof *contacts);
}

#endif
