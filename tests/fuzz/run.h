/* Runs sequences: the table of all functions with their weights, and the objects that all streams share. */
#ifndef VOXSHELL_TESTS_FUZZ_RUN_H
#define VOXSHELL_TESTS_FUZZ_RUN_H

#include "haptics.h"
#include "hulls.h"
#include "sequence.h"
#include "voxelmaps.h"
#include "voxtrees.h"
#include "batches.h"
#include "pairs.h"
#include "record.h"

static const struct function {
  const char *name;
  void (*call)(struct stream *s);
} FUNCTIONS[] = {
/* A function that is not called is an undeclared name here. */
#define FUNCTION(name, arguments) {#name, call_##name},
#include "../c/functions.h"
};
enum { FUNCTION_COUNT = sizeof FUNCTIONS / sizeof *FUNCTIONS };

/* Weight of each listed function; the others have 10. Slow functions have less. */
static const struct weight {
  const char *name;
  unsigned weight;
} WEIGHTS[] = {
    {"vxs_shape_create_from_triangles", 3}, {"vxs_shape_create_primitive", 2}, {"vxs_shape_create_from_file", 3},
    {"vxs_shape_save", 2},                  {"vxs_shape_save_as", 2},          {"vxs_shape_load", 3},
    {"vxs_haptics_create", 5},              {"vxs_haptics_release", 2},        {"vxs_haptics_run", 2},
    {"vxs_haptics_stop", 3},                {"vxs_set_log", 2},                {"vxs_shape_release", 4},
    {"vxs_workspace_destroy", 3},           {"vxs_query_contacts", 80},        {"vxs_query_features", 30},
    {"vxs_query_distance", 30},             {"vxs_query_time_of_impact", 20},  {"vxs_query_motion_contacts", 20},
    {"vxs_query_known_contacts", 20},       {"vxs_query_penalty", 30},         {"vxs_query_continuous_penalty", 20},
    {"vxs_mesh_time_of_impact", 20},
    {"vxs_query_impulse", 30},              {"vxs_haptics_step", 120},         {"vxs_haptics_simulate", 40},
    {"vxs_shape_query_segment", 20},        {"vxs_shape_query_segments", 20},  {"vxs_shape_query_crossings", 20},
    {"vxs_shape_query_intervals", 20},
    {"vxs_field_distance", 30},             {"vxs_version", 1},                {"vxs_version_string", 1},
    {"vxs_last_error", 1},                  {"vxs_status_name", 1},            {"vxs_shape_create_half_space", 3},
    {"vxs_shape_create_box", 3},            {"vxs_shape_create_sphere", 3},    {"vxs_shape_create_capsule", 3},
    {"vxs_shape_create_cylinder", 3},       {"vxs_shape_create_cone", 3},      {"vxs_shape_create_convex_hull", 3},
    {"vxs_shape_create_sphere_hull", 3},    {"vxs_shape_create_triangles", 1}, {"vxs_shape_create_sheet", 5},
    {"vxs_voxelmap_create", 4},             {"vxs_query_voxelmap", 30},        {"vxs_voxelmap_create_from_triangles", 3},
    {"vxs_voxtree_create_from_shape", 2},   {"vxs_voxtree_save", 2},           {"vxs_voxtree_load", 3},
    {"vxs_query_voxtrees", 30},             {"vxs_query_voxtree_impulse", 20},  {"vxs_hulls_create_from_shape", 3},
    {"vxs_hulls_create_from_triangles", 3}, {"vxs_query_hull_contacts", 30},   {"vxs_query_hull_distance", 20},
    {"vxs_query_contacts_batch", 20},       {"vxs_record_start", 1},           {"vxs_record_stop", 2},
    {"vxs_pair_update", 60},                {"vxs_pairs_update", 20},          {"vxs_pair_release", 3},
};
static unsigned weights[FUNCTION_COUNT], weight_sum;
static _Atomic uint64_t succeeded[FUNCTION_COUNT], refused[FUNCTION_COUNT], took[FUNCTION_COUNT];

static void weigh(void) {
  for (size_t i = 0; i < FUNCTION_COUNT; i++) {
    weights[i] = 10;
    for (size_t j = 0; j < COUNT_OF(WEIGHTS); j++) {
      if (strcmp(WEIGHTS[j].name, FUNCTIONS[i].name) == 0) weights[i] = WEIGHTS[j].weight;
    }
    weight_sum += weights[i];
  }
}

/* --- One stream -------------------------------------------------------------------------------------------------------------------- */

static void make_call(struct stream *s, uint64_t number) {
  s->call = number;
  s->random = scramble(s->seed * 0x9E3779B97F4A7C15u + s->number) ^ scramble(number + 1);
  s->note_count = s->output_count = s->input_count = 0;
  s->loose = s->bad = s->may_truncate = s->locked = 0;
  s->status = VXS_OK;
  /* Many calls have ordinary values only; otherwise few objects would ever be made. */
  static const unsigned ODDS[] = {0, 0, 0, 0, 60, 60, 24, 8};
  s->odds = ODDS[below(s, COUNT_OF(ODDS))];
  unsigned at = (unsigned)below(s, weight_sum);
  size_t i = 0;
  while (at >= weights[i]) at -= weights[i++];
  s->function = FUNCTIONS[i].name;
  if (program.choose != NULL) program.choose(s);
  digest_number(s, number);
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  FUNCTIONS[i].call(s);
  clock_gettime(CLOCK_MONOTONIC, &after);
  if (s->locked) pthread_rwlock_unlock(&program.releasing);
  for (size_t j = 0; j < s->output_count; j++) free(s->outputs[j].bytes);
  for (size_t j = 0; j < s->input_count; j++) free(s->inputs[j]);
  const int written = s->status == VXS_OK || s->status == VXS_TRUNCATED;
  atomic_fetch_add_explicit(written ? &succeeded[i] : &refused[i], 1, memory_order_relaxed);
  const int64_t nanoseconds = (int64_t)(after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
  atomic_fetch_add_explicit(&took[i], (uint64_t)nanoseconds, memory_order_relaxed);
}

static void close_stream(struct stream *s) {
  s->function = "the end of the stream";
  s->note_count = 0, s->locked = 0;
  for (size_t i = 0; i < HAPTICS; i++) drop_haptics(s, &s->haptics[i]);
  for (size_t i = 0; i < WORKSPACES; i++) drop_workspace(s, i);
  drop_batch(s);
  for (size_t i = 0; i < KEPT_PAIRS; i++) drop_pair(s, i);
  for (size_t i = 0; i < FORMS; i++) {
    drop_form(s, &s->fields[i], FIELD), drop_form(s, &s->shells[i], POINTSHELL);
    drop_form(s, &s->maps[i], VOXELMAP), drop_form(s, &s->trees[i], VOXTREE), drop_form(s, &s->hulls[i], HULLS);
  }
  for (size_t i = 0; i < SHAPES; i++) drop_shape(s, &s->shapes[i]);
}

/* Returns the digest of a sequence. */
static uint64_t run_sequence(const struct sequence *sequence) {
  struct stream *s = allocated(calloc(1, sizeof *s));
  s->seed = sequence->seed, s->number = sequence->stream;
  current = s;
  watch(s);
  for (size_t i = 0; i < sequence->range_count; i++) {
    for (uint64_t call = sequence->ranges[i].first; call <= sequence->ranges[i].last; call++) make_call(s, call);
  }
  close_stream(s);
  unwatch(s);
  current = NULL;
  const uint64_t digest = s->digest;
  free(s);
  return digest;
}

/* --- What all streams share ---------------------------------------------------------------------------------------------------------- */

static void share(vxs_shape *shape) {
  static struct stream s;
  s.function = "the shared shapes";
  shared.shapes[shared.shape_count++] = slot_of(&s, shape);
}
static vxs_shape *cooked(uint32_t kind, uint32_t resolution, uint32_t storage, uint32_t forms, uint32_t tree) {
  static struct stream s;
  s.function = "the shared shapes";
  vxs_primitive p;
  vxs_cook_options o;
  vxs_shape *shape = NULL;
  MUST(&s, vxs_primitive_init(&p, sizeof p, kind));
  if (kind == VXS_PRIMITIVE_TORUS) p.detail[0] = 12, p.detail[1] = 8;
  if (kind == VXS_PRIMITIVE_SPHERE) p.detail[0] = 1;
  MUST(&s, vxs_cook_options_init(&o, sizeof o));
  o.resolution = resolution, o.field_storage = storage, o.forms = forms, o.tree = tree;
  MUST(&s, vxs_shape_create_primitive(&p, &o, &shape));
  return shape;
}

static void make_shared(void) {
  static struct stream s;
  static const vxs_vec3 SQUARE[4] = {{-0.5, 0, -0.5}, {0.5, 0, -0.5}, {0.5, 0, 0.5}, {-0.5, 0, 0.5}};
  static const uint32_t FACES[6] = {0, 2, 1, 0, 3, 2};
  static const vxs_vec3 CORNERS[5] = {{-0.4, -0.3, -0.4}, {0.4, -0.3, -0.4}, {0.4, -0.3, 0.4}, {-0.4, -0.3, 0.4}, {0, 0.5, 0}};
  static const double RADII[5] = {0.1, 0, 0.2, 0.1, 0};
  static const uint32_t BOTH = VXS_FORM_FIELD | VXS_FORM_POINTSHELL;
  s.function = "the shared shapes";
  vxs_shape *shape = NULL;
  share(cooked(VXS_PRIMITIVE_BOX, 8, VXS_STORAGE_DENSE, BOTH, VXS_TREE_MINIMAL_BALLS));
  share(cooked(VXS_PRIMITIVE_TORUS, 10, VXS_STORAGE_BRICKS, BOTH, VXS_TREE_NESTED));
  share(cooked(VXS_PRIMITIVE_SPHERE, 8, VXS_STORAGE_DENSE, BOTH, VXS_TREE_MINIMAL_BALLS));
  share(cooked(VXS_PRIMITIVE_BOX, 6, VXS_STORAGE_DENSE, VXS_FORM_POINTSHELL, VXS_TREE_NESTED));
  share(cooked(VXS_PRIMITIVE_BOX, 6, VXS_STORAGE_BRICKS, VXS_FORM_FIELD, VXS_TREE_NESTED));
#define SHARE(call) (void)0; MUST(&s, call); share(shape)
  SHARE(vxs_shape_create_half_space((vxs_vec3){0, 1, 0}, 0, &shape));
  SHARE(vxs_shape_create_box((vxs_vec3){0.5, 0.4, 0.3}, &shape));
  SHARE(vxs_shape_create_sphere(0.5, &shape));
  SHARE(vxs_shape_create_capsule(0.3, 0.3, 1, &shape));
  SHARE(vxs_shape_create_cylinder(0.4, 0.3, 0, &shape));
  SHARE(vxs_shape_create_cone(0.4, 0.8, 2, &shape));
  SHARE(vxs_shape_create_convex_hull(CORNERS, 5, &shape));
  SHARE(vxs_shape_create_sphere_hull(CORNERS, RADII, 5, &shape));
  SHARE(vxs_shape_create_triangles(SQUARE, 4, FACES, 2, 0, &shape));
  SHARE(vxs_shape_create_sheet(SQUARE, 4, FACES, 2, 0.2, &shape));
#undef SHARE
  vxs_field *field = NULL;
  vxs_pointshell *shell = NULL;
  MUST(&s, vxs_shape_get_field(shared.shapes[0].handle, &field));
  MUST(&s, vxs_shape_get_pointshell(shared.shapes[0].handle, &shell));
  shared.field.handle = field;
  shared.shell = (struct form_slot){shell, shared.shapes[0].samples};
  vxs_voxelmap_options voxels;
  vxs_voxelmap *map = NULL;
  MUST(&s, vxs_voxelmap_options_init(&voxels, sizeof voxels));
  voxels.resolution = 8;
  MUST(&s, vxs_voxelmap_create(shared.shapes[1].handle, &voxels, &map));
  shared.map.handle = map;
  vxs_voxtree_options tree_options;
  vxs_voxtree *tree = NULL;
  MUST(&s, vxs_voxtree_options_init(&tree_options, sizeof tree_options, 0.1));
  MUST(&s, vxs_voxtree_create_from_shape(shared.shapes[0].handle, &tree_options, &tree));
  shared.tree.handle = tree;
  vxs_hulls *hulls = NULL;
  MUST(&s, vxs_hulls_create_from_shape(shared.shapes[1].handle, NULL, &hulls));
  shared.hulls.handle = hulls;
  MUST(&s, vxs_workspace_create(&shared.workspace));
  vxs_haptics_settings settings;
  const vxs_haptics_limits limits = {8, 0.5, {2000, 20}, {40, 0.2}};
  const vxs_body body = {shared.shapes[0].handle, {{0, 0, -0.4}, 0, 0, 0, 1}};
  struct haptics_slot *h = &shared.haptics;
  MUST(&s, vxs_haptics_settings_init(&settings, sizeof settings, VXS_RENDERER_GOD_OBJECT, shared.shapes[2].handle, 0.2, &limits));
  MUST(&s, vxs_haptics_create(&settings, shared.shapes[2].handle, &body, 1, &h->handle));
  h->force = limits.force, h->torque = limits.torque, h->bodies = 1, h->loose = 1;
  h->hand = (vxs_pose){{0, 0, 1}, 0, 0, 0, 1};
  h->device = (struct device){STAYS, h->handle};
}

static void release_shared(void) {
  static struct stream s;
  s.function = "the end";
  MUST(&s, vxs_set_log(NULL, 0, NULL));
  /* There may be a recording in progress. */
  (void)vxs_record_stop(NULL);
  free(listener);
  listener = NULL;
  MUST(&s, vxs_haptics_release(shared.haptics.handle));
  MUST(&s, vxs_workspace_destroy(shared.workspace));
  MUST(&s, vxs_field_release(shared.field.handle));
  MUST(&s, vxs_voxtree_release(shared.tree.handle));
  MUST(&s, vxs_hulls_release(shared.hulls.handle));
  MUST(&s, vxs_pointshell_release(shared.shell.handle));
  MUST(&s, vxs_voxelmap_release(shared.map.handle));
  for (size_t i = 0; i < shared.shape_count; i++) MUST(&s, vxs_shape_release(shared.shapes[i].handle));
  memset(&shared, 0, sizeof shared);
}

/* --- What was called ----------------------------------------------------------------------------------------------------------------- */

static void print_counts(void) {
  for (size_t i = 0; i < FUNCTION_COUNT; i++) {
    const uint64_t calls = succeeded[i] + refused[i];
    fprintf(stderr, "%-36s %8llu done %8llu refused %10.1f us\n", FUNCTIONS[i].name, (unsigned long long)succeeded[i],
            (unsigned long long)refused[i], calls > 0 ? 1e-3 * (double)took[i] / (double)calls : 0);
  }
}

#endif
