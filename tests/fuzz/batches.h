/* Calls about many pairs of shapes at once. */
#ifndef VOXSHELL_TESTS_FUZZ_BATCHES_H
#define VOXSHELL_TESTS_FUZZ_BATCHES_H

#include "queries.h"

static void drop_batch(struct stream *s) {
  if (s->batch == NULL) return;
  begin_release(s);
  MUST(s, vxs_batch_destroy(s->batch));
  bury(s, s->batch);
  end_release(s);
  s->batch = NULL;
}

static void call_vxs_batch_create(struct stream *s) {
  uint32_t threads = (uint32_t)note_number(s, "threads", 1 + below(s, 3));
  if (odd(s)) {
    threads = (uint32_t)note_number(s, "threads", 1025 + below(s, 1u << 20));
    s->bad = 1;
  }
  vxs_batch **batch = OUTPUT(s, vxs_batch *, "batch");
  if (!CALL(s, vxs_batch_create(threads, batch))) return;
  drop_batch(s);
  s->batch = *batch;
}

static void call_vxs_batch_destroy(struct stream *s) {
  vxs_batch *handle = odd(s) ? bad_handle(s, "batch", WORKSPACE) : s->batch;
  if (handle == NULL) s->bad = 0;
  begin_release(s);
  if (CALL(s, vxs_batch_destroy(handle)) && handle != NULL) {
    bury(s, handle);
    s->batch = NULL;
  }
  end_release(s);
}

static void call_vxs_query_contacts_batch(struct stream *s) {
  enum { MOST = 64, PAIRS = 4 };
  struct shape_slot a[PAIRS], b[PAIRS];
  const size_t pair_count = note_number(s, "pair_count", below(s, PAIRS + 1));
  vxs_body_pair *pairs = input(s, pair_count * sizeof *pairs);
  for (size_t i = 0; i < pair_count; i++) {
    a[i] = pick_shape(s, "a"), b[i] = pick_shape(s, "b");
    pairs[i].a = (vxs_body){a[i].handle, pose_value(s, "a.pose", REACH)};
    pairs[i].b = (vxs_body){b[i].handle, pose_value(s, "b.pose", REACH)};
    require_pose(s, &pairs[i].a.pose);
    require_pose(s, &pairs[i].b.pose);
  }
  vxs_query q;
  int timed;
  const vxs_query *query = query_value(s, &q, &timed);
  if (timed) s->loose = 1;
  if (query != NULL && q.preferred_count > 0) s->bad = 1;
  if (s->batch == NULL) MUST(s, vxs_batch_create(2, &s->batch));
  vxs_batch *batch = odd(s) ? bad_handle(s, "batch", WORKSPACE) : s->batch;
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(vxs_contact));
  vxs_contact *contacts = list_output(s, "contacts", MOST, sizeof *contacts, capacity);
  size_t *offsets = output_array(s, "offsets", (pair_count + 1) * sizeof *offsets, 0);
  if (!CALL(s, vxs_query_contacts_batch(batch, pairs, pair_count, query, contacts, capacity, offsets))) return;
  const size_t written = written_count(s, capacity, offsets[pair_count]);
  check_rest(s, contacts, written, MOST, sizeof *contacts);
  if (offsets[0] != 0) fail(s, "the first offset is %zu", offsets[0]);
  for (size_t i = 0; i < pair_count; i++) {
    if (offsets[i + 1] < offsets[i]) fail(s, "offset %zu is less than the one before", i + 1);
    for (size_t k = offsets[i]; k < offsets[i + 1] && k < written; k++) {
      check_contact(s, &contacts[k], &a[i], &b[i]);
      if (k > offsets[i] && contacts[k].separation < contacts[k - 1].separation) fail(s, "contact %zu is not deepest first", k);
    }
  }
  digest_bytes(s, contacts, written * sizeof *contacts);
}

#endif
