/* Calls of voxelmaps, and of a pointshell in one. */
#ifndef VOXSHELL_TESTS_FUZZ_VOXELMAPS_H
#define VOXSHELL_TESTS_FUZZ_VOXELMAPS_H

#include "queries.h"

static void call_vxs_voxelmap_options_init(struct stream *s) {
  vxs_voxelmap_options *options = OUTPUT(s, vxs_voxelmap_options, "options");
  const size_t size = struct_size(s, sizeof *options);
  if (CALL(s, vxs_voxelmap_options_init(options, size))) digest_bytes(s, options, sizeof *options);
}

/* Maps of at most 16 MB, so that no call takes long. */
static const vxs_voxelmap_options *voxelmap_options(struct stream *s) {
  vxs_voxelmap_options o;
  MUST(s, vxs_voxelmap_options_init(&o, sizeof o));
  o.form = choice(s, "form", 6);
  o.resolution = (uint32_t)note_number(s, "resolution", 1 + below(s, 16));
  o.padding_voxels = (uint32_t)note_number(s, "padding_voxels", below(s, 6));
  o.precision = (uint32_t)note_number(s, "precision", below(s, 5));
  o.layer_limit = (uint32_t)note_number(s, "layer_limit", 1 + below(s, 20));
  o.branching = choice(s, "branching", 3);
  o.offset_layers = (uint32_t)note_number(s, "offset_layers", below(s, 3));
  o.proximity_layers = (uint32_t)note_number(s, "proximity_layers", below(s, 3));
  o.memory_limit = 1 << 24;
  if (o.form > 5 || o.branching > 2) s->bad = 1;
  vary_struct_size(s, &o.struct_size);
  vary(s, "voxel_size", &o.voxel_size);
  vary32(s, "resolution", &o.resolution);
  vary32(s, "padding_voxels", &o.padding_voxels);
  vary32(s, "precision", &o.precision);
  vary32(s, "layer_limit", &o.layer_limit);
  vary32(s, "offset_layers", &o.offset_layers);
  vary32(s, "reserved", &o.reserved);
  return POINTER_TO(s, vxs_voxelmap_options, "options", 1, o);
}

static void adopt_map(struct stream *s, vxs_voxelmap *const *out) {
  if (is_untouched(out, sizeof *out)) fail(s, "VXS_OK, but no voxelmap was written");
  struct form_slot *slot = &s->maps[below(s, FORMS)];
  drop_form(s, slot, VOXELMAP);
  *slot = (struct form_slot){*out, 0};
}

static void call_vxs_voxelmap_create(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  const vxs_voxelmap_options *options = voxelmap_options(s);
  vxs_voxelmap **map = OUTPUT(s, vxs_voxelmap *, "voxelmap");
  if (options == NULL) return; /* the defaults are too large here */
  if (CALL(s, vxs_voxelmap_create(of.handle, options, map))) adopt_map(s, map);
}
static void call_vxs_voxelmap_create_from_triangles(struct stream *s) {
  const vxs_voxelmap_options *options = voxelmap_options(s);
  const struct mesh m = mesh(s);
  vxs_voxelmap **map = OUTPUT(s, vxs_voxelmap *, "voxelmap");
  if (options == NULL) return;
  if (CALL(s, vxs_voxelmap_create_from_triangles(m.vertices, m.vertex_count, m.indices, m.triangle_count, options, map))) {
    adopt_map(s, map);
  }
}
static void call_vxs_shape_create_with_voxelmap(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  const struct form_slot map = pick_form(s, "voxelmap", VOXELMAP);
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "out");
  MADE_BY(s, vxs_shape_create_with_voxelmap(of.handle, map.handle, shape));
}
static void call_vxs_shape_get_voxelmap(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  vxs_voxelmap **map = OUTPUT(s, vxs_voxelmap *, "voxelmap");
  if (CALL(s, vxs_shape_get_voxelmap(of.handle, map))) adopt_map(s, map);
}
static void call_vxs_voxelmap_info_init(struct stream *s) {
  vxs_voxelmap_info *info = OUTPUT(s, vxs_voxelmap_info, "info");
  const size_t size = struct_size(s, sizeof *info);
  if (CALL(s, vxs_voxelmap_info_init(info, size))) digest_bytes(s, info, sizeof *info);
}
static void call_vxs_voxelmap_get_info(struct stream *s) {
  const struct form_slot map = pick_form(s, "voxelmap", VOXELMAP);
  vxs_voxelmap_info *info = OUTPUT(s, vxs_voxelmap_info, "info");
  if (info != NULL) {
    MUST(s, vxs_voxelmap_info_init(info, sizeof *info));
    vary_struct_size(s, &info->struct_size);
    if (info->struct_size != sizeof *info) s->bad = 1;
    remember_output(s);
  }
  if (!CALL(s, vxs_voxelmap_get_info(map.handle, info))) return;
  check_all_finite(s, "a size", &info->voxel_size, 2);
  check_all_finite(s, "the range", &info->min_value, 2);
  check_vector(s, "first_center", info->first_center);
  if (info->form > 5 || info->min_value > info->max_value || info->bytes == 0) fail(s, "its info is not sound");
  digest_bytes(s, info, sizeof *info);
}

enum { BATCH_MOST = 20 };
/* Returns some points and their number. */
static const vxs_vec3 *some_points(struct stream *s, size_t *count) {
  vxs_vec3 *points = input(s, BATCH_MOST * sizeof *points);
  *count = count_of(s, "count", below(s, BATCH_MOST + 1), BATCH_MOST, sizeof *points);
  for (size_t i = 0; i < BATCH_MOST; i++) {
    points[i] = vector(s, "a point", 0.8);
    if (i < *count) require_finite(s, points[i]);
  }
  return points;
}
static void call_vxs_voxelmap_get_layers(struct stream *s) {
  const struct form_slot map = pick_form(s, "voxelmap", VOXELMAP);
  size_t count;
  const vxs_vec3 *points = some_points(s, &count);
  int32_t *layers = output_array(s, "layers", BATCH_MOST * sizeof *layers, count == 0);
  if (!CALL(s, vxs_voxelmap_get_layers(map.handle, points, count, layers))) return;
  if (layers == NULL) return;
  check_rest(s, layers, count, BATCH_MOST, sizeof *layers);
  digest_bytes(s, layers, count * sizeof *layers);
}
static void call_vxs_voxelmap_get_distances(struct stream *s) {
  const struct form_slot map = pick_form(s, "voxelmap", VOXELMAP);
  size_t count;
  const vxs_vec3 *points = some_points(s, &count);
  double *distances = output_array(s, "distances", BATCH_MOST * sizeof *distances, count == 0);
  vxs_vec3 *gradients = output_array(s, "gradients", BATCH_MOST * sizeof *gradients, 1);
  if (!CALL(s, vxs_voxelmap_get_distances(map.handle, points, count, distances, gradients))) return;
  if (distances == NULL) return;
  check_rest(s, distances, count, BATCH_MOST, sizeof *distances);
  check_all_finite(s, "a distance", distances, count);
  digest_bytes(s, distances, count * sizeof *distances);
  for (size_t i = 0; i < count && gradients != NULL; i++) check_vector(s, "a gradient", gradients[i]);
}
static void call_vxs_voxelmap_get_penetrations(struct stream *s) {
  const struct form_slot map = pick_form(s, "voxelmap", VOXELMAP);
  size_t count;
  const vxs_vec3 *points = some_points(s, &count);
  vxs_vec3 *normals = input(s, BATCH_MOST * sizeof *normals);
  for (size_t i = 0; i < BATCH_MOST; i++) {
    normals[i] = vector(s, "a normal", 1);
    const double most = fmax(fabs(normals[i].x), fmax(fabs(normals[i].y), fabs(normals[i].z)));
    const int finite = isfinite(normals[i].x) && isfinite(normals[i].y) && isfinite(normals[i].z);
    if (i < count && (!finite || most == 0)) s->bad = 1;
  }
  const uint32_t rule = choice(s, "rule", 3);
  if (rule > 2) s->bad = 1;
  double *penetrations = output_array(s, "penetrations", BATCH_MOST * sizeof *penetrations, count == 0);
  if (!CALL(s, vxs_voxelmap_get_penetrations(map.handle, points, normals, count, rule, penetrations))) return;
  if (penetrations == NULL) return;
  check_rest(s, penetrations, count, BATCH_MOST, sizeof *penetrations);
  check_all_finite(s, "a penetration", penetrations, count);
  digest_bytes(s, penetrations, count * sizeof *penetrations);
}

static void call_vxs_voxelmap_query_init(struct stream *s) {
  vxs_voxelmap_query *query = OUTPUT(s, vxs_voxelmap_query, "query");
  const size_t size = struct_size(s, sizeof *query);
  if (CALL(s, vxs_voxelmap_query_init(query, size))) digest_bytes(s, query, sizeof *query);
}
static void call_vxs_query_voxelmap(struct stream *s) {
  enum { MOST = 40 };
  const struct form_slot map = pick_form(s, "a", VOXELMAP);
  const struct form_slot shell = pick_form(s, "b", POINTSHELL);
  const vxs_voxelmap_body of_map = {map.handle, pose_value(s, "a", REACH)};
  const vxs_pointshell_body of_shell = {shell.handle, pose_value(s, "b", REACH)};
  require_pose(s, &of_map.pose);
  require_pose(s, &of_shell.pose);
  const vxs_voxelmap_body *a = POINTER_TO(s, vxs_voxelmap_body, "a", 0, of_map);
  const vxs_pointshell_body *b = POINTER_TO(s, vxs_pointshell_body, "b", 0, of_shell);
  vxs_voxelmap_query q;
  MUST(s, vxs_voxelmap_query_init(&q, sizeof q));
  q.rule = choice(s, "rule", 3);
  if (one_in(s, 3)) q.max_level = (uint32_t)note_number(s, "max_level", below(s, 5));
  if (one_in(s, 3)) q.max_tests = note_number(s, "max_tests", 1 + below(s, 60));
  if (one_in(s, 12)) q.max_nanoseconds = note_number(s, "max_nanoseconds", 1 + below(s, 5000)), s->loose = 1;
  if (one_in(s, 4)) q.find_distance = 0;
  vary_struct_size(s, &q.struct_size);
  vary(s, "stiffness", &q.stiffness);
  vary_vector(s, "center", &q.center);
  vary32(s, "average_from", &q.average_from);
  vary32(s, "find_distance", &q.find_distance);
  vary32(s, "reserved", &q.reserved);
  const vxs_voxelmap_query *query = POINTER_TO(s, vxs_voxelmap_query, "query", 1, q);
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  vxs_voxelmap_answer *answer = OUTPUT(s, vxs_voxelmap_answer, "answer");
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(vxs_voxel_contact));
  vxs_voxel_contact *contacts = list_output(s, "contacts", MOST, sizeof *contacts, capacity);
  if (!CALL(s, vxs_query_voxelmap(a, b, query, workspace, answer, contacts, capacity))) return;
  const size_t written = written_count(s, capacity, (size_t)answer->count);
  check_rest(s, contacts, written, MOST, sizeof *contacts);
  check_all_finite(s, "the answer", &answer->wrench.force.x, 8);
  if (answer->max_penetration < answer->penetration) fail(s, "its bound is below its penetration");
  for (size_t i = 0; i < written; i++) {
    check_vector(s, "point", contacts[i].point);
    check_unit(s, "normal", contacts[i].normal);
    check_range(s, "penetration", contacts[i].penetration, 0, answer->penetration);
  }
  digest_bytes(s, answer, sizeof *answer);
  digest_bytes(s, contacts, written * sizeof *contacts);
}

#endif
