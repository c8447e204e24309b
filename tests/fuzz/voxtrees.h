/* Calls about implicit sphere trees. */
#ifndef VOXSHELL_TESTS_FUZZ_VOXTREES_H
#define VOXSHELL_TESTS_FUZZ_VOXTREES_H

#include "responses.h"

static void call_vxs_voxtree_options_init(struct stream *s) {
  vxs_voxtree_options *options = OUTPUT(s, vxs_voxtree_options, "options");
  const size_t size = struct_size(s, sizeof *options);
  const double voxel_size = real(s, "voxel_size", 0.05, 0.3);
  if (!(voxel_size >= 0) || isinf(voxel_size)) s->bad = 1;
  if (CALL(s, vxs_voxtree_options_init(options, size, voxel_size))) digest_bytes(s, options, sizeof *options);
}

/* Puts a tree that a call made into a slot. */
static void adopt_tree(struct stream *s, vxs_voxtree *tree) {
  if (tree == NULL) fail(s, "VXS_OK, but the tree is null");
  struct form_slot *slot = &s->trees[below(s, FORMS)];
  vxs_voxtree_info info;
  MUST(s, vxs_voxtree_get_info(tree, &info));
  digest_bytes(s, &info, sizeof info);
  drop_form(s, slot, VOXTREE);
  *slot = (struct form_slot){tree, info.voxel_count};
}

static void call_vxs_voxtree_create_from_shape(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  vxs_voxtree_options o;
  MUST(s, vxs_voxtree_options_init(&o, sizeof o, 0));
  if (one_in(s, 2)) o.level = (uint32_t)note_number(s, "level", 2 + below(s, 3));
  else o.voxel_size = note_real(s, "voxel_size", 0.1 + 0.2 * fabs(uniform(s)));
  o.branching = (uint32_t)note_number(s, "branching", below(s, 3));
  o.solid = (uint32_t)note_number(s, "solid", below(s, 2));
  o.without_normals = (uint32_t)note_number(s, "without_normals", one_in(s, 4));
  /* Keeps the work small. */
  o.memory_limit = 1 << 16;
  vary_struct_size(s, &o.struct_size);
  vary32(s, "branching", &o.branching);
  vary(s, "voxel_size", &o.voxel_size);
  vary32(s, "solid", &o.solid);
  vary32(s, "reserved", &o.reserved);
  const vxs_voxtree_options *options = POINTER_TO(s, vxs_voxtree_options, "options", 0, o);
  vxs_voxtree **tree = OUTPUT(s, vxs_voxtree *, "voxtree");
  if (CALL(s, vxs_voxtree_create_from_shape(of.handle, options, tree))) adopt_tree(s, *tree);
}

static void call_vxs_voxtree_release(struct stream *s) {
  struct form_slot *slot = &s->trees[note_number(s, "slot", below(s, FORMS))];
  vxs_voxtree *handle = odd(s) ? bad_handle(s, "voxtree", VOXTREE) : slot->handle;
  if (handle == NULL) s->bad = 0;
  begin_release(s);
  if (CALL(s, vxs_voxtree_release(handle)) && handle != NULL) {
    bury(s, handle);
    slot->handle = NULL;
  }
  end_release(s);
}

static void call_vxs_voxtree_get_info(struct stream *s) {
  const struct form_slot of = pick_form(s, "voxtree", VOXTREE);
  vxs_voxtree_info *info = OUTPUT(s, vxs_voxtree_info, "info");
  if (!CALL(s, vxs_voxtree_get_info(of.handle, info))) return;
  if (info->voxel_count == 0 || info->root_level == 0 || !(info->voxel_size > 0)) fail(s, "it is empty");
  digest_bytes(s, info, sizeof *info);
}

static void call_vxs_voxtree_save(struct stream *s) {
  const struct form_slot of = pick_form(s, "voxtree", VOXTREE);
  const char *path = path_value(s, path_to(s, "voxtree"));
  CALL(s, vxs_voxtree_save(of.handle, path));
}

static void call_vxs_voxtree_load(struct stream *s) {
  char *path = path_to(s, "voxtree");
  if (one_in(s, 3)) {
    FILE *file = fopen(path, "rb");
    if (file != NULL) {
      unsigned char *bytes = input(s, 1 << 18);
      const size_t size = damage(s, bytes, fread(bytes, 1, 1 << 18, file));
      fclose(file);
      path = path_to(s, "damaged");
      write_file(s, path, bytes, size);
    }
  }
  const char *name = path_value(s, path);
  vxs_voxtree **tree = OUTPUT(s, vxs_voxtree *, "voxtree");
  if (CALL(s, vxs_voxtree_load(name, tree))) adopt_tree(s, *tree);
}

static void call_vxs_voxtree_query_init(struct stream *s) {
  vxs_voxtree_query *query = OUTPUT(s, vxs_voxtree_query, "query");
  const size_t size = struct_size(s, sizeof *query);
  if (CALL(s, vxs_voxtree_query_init(query, size))) digest_bytes(s, query, sizeof *query);
}

/* A tree begins a body as a shape does. */
static const vxs_voxtree_body *tree_body(struct stream *s, const char *name) {
  const struct form_slot tree = pick_form(s, name, VOXTREE);
  const struct shape_slot slot = {tree.handle, 0, 0, 0};
  return (const vxs_voxtree_body *)dynamic_body(s, name, &slot);
}

static void call_vxs_query_voxtrees(struct stream *s) {
  enum { MOST = 20 };
  const vxs_voxtree_body *a = tree_body(s, "a"), *b = tree_body(s, "b");
  vxs_voxtree_query q;
  MUST(s, vxs_voxtree_query_init(&q, sizeof q));
  q.loose = (uint32_t)note_number(s, "loose", below(s, 2));
  q.test_single = (uint32_t)note_number(s, "test_single", below(s, 2));
  q.cubes = (uint32_t)note_number(s, "cubes", below(s, 2));
  if (one_in(s, 2)) q.max_pairs = (uint32_t)note_number(s, "max_pairs", 1 + below(s, 50));
  if (one_in(s, 4)) q.least_level = (uint32_t)note_number(s, "least_level", below(s, 6));
  if (one_in(s, 4)) q.max_tests = note_number(s, "max_tests", below(s, 200));
  vary_struct_size(s, &q.struct_size);
  vary32(s, "loose", &q.loose);
  vary32(s, "cubes", &q.cubes);
  vary32(s, "least_level", &q.least_level);
  vary64(s, "max_tests", &q.max_tests);
  const vxs_voxtree_query *query = POINTER_TO(s, vxs_voxtree_query, "query", 1, q);
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(vxs_voxel_pair));
  vxs_voxel_pair *pairs = list_output(s, "pairs", MOST, sizeof *pairs, capacity);
  size_t *count = OUTPUT(s, size_t, "count");
  if (!CALL(s, vxs_query_voxtrees(a, b, query, workspace, pairs, capacity, count))) return;
  if (query != NULL && *count > q.max_pairs) fail(s, "%zu pairs", *count);
  const size_t written = written_count(s, capacity, *count);
  check_rest(s, pairs, written, MOST, sizeof *pairs);
  for (size_t i = 0; i < written; i++) {
    check_all_finite(s, "a pair", &pairs[i].center_a.x, 16);
    if (!(pairs[i].depth >= 0)) fail(s, "its depth is %g", pairs[i].depth);
  }
  digest_bytes(s, pairs, written * sizeof *pairs);
}

static void call_vxs_workspace_get_voxtree_report(struct stream *s) {
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  vxs_voxtree_report *report = OUTPUT(s, vxs_voxtree_report, "report");
  if (!CALL(s, vxs_workspace_get_voxtree_report(workspace, report))) return;
  if (report->complete > 1) fail(s, "complete is %u", (unsigned)report->complete);
  digest_bytes(s, report, sizeof *report);
}

static void call_vxs_query_voxtree_impulse(struct stream *s) {
  const vxs_voxtree_body *a = tree_body(s, "a"), *b = tree_body(s, "b");
  const vxs_mobility *mobility_a = mobility(s, "mobility_a"), *mobility_b = mobility(s, "mobility_b");
  vxs_impulse p;
  MUST(s, vxs_impulse_init(&p, sizeof p, 1e-3));
  vary_struct_size(s, &p.struct_size);
  vary(s, "dt", &p.dt);
  const vxs_impulse *impulse = POINTER_TO(s, vxs_impulse, "impulse", 0, p);
  size_t number;
  vxs_workspace *workspace = pick_workspace(s, &number);
  vxs_impulses *impulses = OUTPUT(s, vxs_impulses, "impulses");
  if (!CALL(s, vxs_query_voxtree_impulse(a, mobility_a, b, mobility_b, impulse, workspace, impulses))) return;
  check_all_finite(s, "on_a", &impulses->on_a.force.x, 6);
  check_all_finite(s, "on_b", &impulses->on_b.force.x, 6);
  digest_bytes(s, impulses, sizeof *impulses);
}

#endif
