/* Calls about hierarchies of hulls. */
#ifndef VOXSHELL_TESTS_FUZZ_HULLS_H
#define VOXSHELL_TESTS_FUZZ_HULLS_H

#include "queries.h"

static void call_vxs_hulls_options_init(struct stream *s) {
  vxs_hulls_options *options = OUTPUT(s, vxs_hulls_options, "options");
  const size_t size = struct_size(s, sizeof *options);
  if (CALL(s, vxs_hulls_options_init(options, size))) digest_bytes(s, options, sizeof *options);
}

static const vxs_hulls_options *hulls_options(struct stream *s) {
  vxs_hulls_options o;
  MUST(s, vxs_hulls_options_init(&o, sizeof o));
  /* Keeps the work small. */
  o.max_triangles = (uint32_t)note_number(s, "max_triangles", 1 + below(s, 400));
  if (one_in(s, 2)) o.contact_depth = note_real(s, "contact_depth", 0.05 * fabs(uniform(s)));
  vary_struct_size(s, &o.struct_size);
  vary(s, "contact_depth", &o.contact_depth);
  return POINTER_TO(s, vxs_hulls_options, "options", 1, o);
}

/* Puts a hierarchy that a call made into a slot. */
static void adopt_hulls(struct stream *s, vxs_hulls *const *out) {
  if (is_untouched(out, sizeof *out)) fail(s, "VXS_OK, but no hulls were written");
  struct form_slot *slot = &s->hulls[below(s, FORMS)];
  vxs_hulls_info info;
  MUST(s, vxs_hulls_get_info(*out, &info));
  digest_bytes(s, &info, sizeof info);
  drop_form(s, slot, HULLS);
  *slot = (struct form_slot){*out, info.level_count};
}

static void call_vxs_hulls_create_from_shape(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  const vxs_hulls_options *options = hulls_options(s);
  vxs_hulls **hulls = OUTPUT(s, vxs_hulls *, "hulls");
  if (CALL(s, vxs_hulls_create_from_shape(of.handle, options, hulls))) adopt_hulls(s, hulls);
}
static void call_vxs_hulls_create_from_triangles(struct stream *s) {
  const vxs_hulls_options *options = hulls_options(s);
  const struct mesh m = mesh(s);
  vxs_hulls **hulls = OUTPUT(s, vxs_hulls *, "hulls");
  if (CALL(s, vxs_hulls_create_from_triangles(m.vertices, m.vertex_count, m.indices, m.triangle_count, options, hulls))) {
    adopt_hulls(s, hulls);
  }
}
static void call_vxs_shape_create_with_hulls(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  const struct form_slot hulls = pick_form(s, "hulls", HULLS);
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "out");
  MADE_BY(s, vxs_shape_create_with_hulls(of.handle, hulls.handle, shape));
}
static void call_vxs_shape_get_hulls(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  const struct form_slot given = s->hulls[below(s, FORMS)];
  /* Few shapes have hulls, so half of the calls give them some. */
  vxs_shape *with = NULL;
  if (one_in(s, 2) && !s->bad && of.handle != NULL && given.handle != NULL) {
    MUST(s, vxs_shape_create_with_hulls(of.handle, given.handle, &with));
    note_text(s, "shape", "with hulls");
  }
  vxs_hulls **hulls = OUTPUT(s, vxs_hulls *, "hulls");
  if (CALL(s, vxs_shape_get_hulls(with != NULL ? with : of.handle, hulls))) adopt_hulls(s, hulls);
  if (with != NULL) MUST(s, vxs_shape_release(with));
}

static void call_vxs_hulls_release(struct stream *s) {
  struct form_slot *slot = &s->hulls[note_number(s, "slot", below(s, FORMS))];
  vxs_hulls *handle = odd(s) ? bad_handle(s, "hulls", HULLS) : slot->handle;
  if (handle == NULL) s->bad = 0;
  begin_release(s);
  if (CALL(s, vxs_hulls_release(handle)) && handle != NULL) {
    bury(s, handle);
    slot->handle = NULL;
  }
  end_release(s);
}

static void call_vxs_hulls_get_info(struct stream *s) {
  const struct form_slot of = pick_form(s, "hulls", HULLS);
  vxs_hulls_info *info = OUTPUT(s, vxs_hulls_info, "info");
  if (!CALL(s, vxs_hulls_get_info(of.handle, info))) return;
  if (info->hull_count == 0 || info->level_count == 0 || info->bytes == 0) fail(s, "it is empty");
  digest_bytes(s, info, sizeof *info);
}

static void call_vxs_hulls_get_levels(struct stream *s) {
  enum { MOST = 8 };
  const struct form_slot of = pick_form(s, "hulls", HULLS);
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(vxs_hull_level));
  vxs_hull_level *levels = list_output(s, "levels", MOST, sizeof *levels, capacity);
  size_t *count = OUTPUT(s, size_t, "count");
  if (!CALL(s, vxs_hulls_get_levels(of.handle, levels, capacity, count))) return;
  const size_t written = written_count(s, capacity, *count);
  check_rest(s, levels, written, MOST, sizeof *levels);
  for (size_t i = 0; i < written; i++) {
    if (levels[i].hulls == 0 || !(levels[i].deviation >= 0) || !(levels[i].reach >= 0)) fail(s, "level %zu is not sound", i);
  }
  digest_bytes(s, levels, written * sizeof *levels);
}

static void call_vxs_hulls_query_init(struct stream *s) {
  vxs_hulls_query *query = OUTPUT(s, vxs_hulls_query, "query");
  const size_t size = struct_size(s, sizeof *query);
  if (CALL(s, vxs_hulls_query_init(query, size))) digest_bytes(s, query, sizeof *query);
}

/* A hierarchy begins a body as a shape does. */
static const vxs_hulls_body *hulls_body(struct stream *s, const char *name) {
  const struct form_slot hulls = pick_form(s, name, HULLS);
  const struct shape_slot slot = {hulls.handle, 0, 0, 0};
  return (const vxs_hulls_body *)body(s, name, &slot, REACH);
}

static const vxs_hulls_query *hulls_query(struct stream *s) {
  vxs_hulls_query q;
  MUST(s, vxs_hulls_query_init(&q, sizeof q));
  q.max_separation = note_real(s, "max_separation", one_in(s, 2) ? 0 : 0.1 * fabs(uniform(s)));
  if (one_in(s, 2)) q.max_distance = note_real(s, "max_distance", fabs(uniform(s)));
  if (one_in(s, 2)) q.tolerance = note_real(s, "tolerance", 0.05 * fabs(uniform(s)));
  vary_struct_size(s, &q.struct_size);
  vary32(s, "reserved", &q.reserved);
  vary(s, "tolerance", &q.tolerance);
  return POINTER_TO(s, vxs_hulls_query, "query", 1, q);
}

static void call_vxs_query_hull_contacts(struct stream *s) {
  enum { MOST = 20 };
  const vxs_hulls_body *a = hulls_body(s, "a"), *b = hulls_body(s, "b");
  const vxs_hulls_query *query = hulls_query(s);
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(vxs_contact));
  vxs_contact *contacts = list_output(s, "contacts", MOST, sizeof *contacts, capacity);
  size_t *count = OUTPUT(s, size_t, "count");
  if (!CALL(s, vxs_query_hull_contacts(a, b, query, workspace, contacts, capacity, count))) return;
  const size_t written = written_count(s, capacity, *count);
  check_rest(s, contacts, written, MOST, sizeof *contacts);
  for (size_t i = 0; i < written; i++) {
    check_vector(s, "point_on_a", contacts[i].point_on_a);
    check_vector(s, "point_on_b", contacts[i].point_on_b);
    check_vector(s, "normal", contacts[i].normal);
    if (i > 0 && contacts[i].separation < contacts[i - 1].separation) fail(s, "contact %zu is deeper than the last", i);
  }
  digest_bytes(s, contacts, written * sizeof *contacts);
}

static void call_vxs_query_hull_distance(struct stream *s) {
  const vxs_hulls_body *a = hulls_body(s, "a"), *b = hulls_body(s, "b");
  const vxs_hulls_query *query = hulls_query(s);
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  vxs_hull_distance *closest = OUTPUT(s, vxs_hull_distance, "closest");
  bool *found = OUTPUT(s, bool, "found");
  if (!CALL(s, vxs_query_hull_distance(a, b, query, workspace, closest, found))) return;
  if (!*found) return;
  check_all_finite(s, "closest", &closest->distance, 7);
  if (closest->distance < 0) fail(s, "the distance is %g", closest->distance);
  digest_bytes(s, closest, sizeof *closest);
}

static void call_vxs_workspace_get_hulls_report(struct stream *s) {
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  vxs_hulls_report *report = OUTPUT(s, vxs_hulls_report, "report");
  if (CALL(s, vxs_workspace_get_hulls_report(workspace, report))) digest_number(s, report->triangles);
}

#endif
