/* Rows of: queries of many pairs. */

ROWS(vxs_batch_create) {
  uint32_t threads = 1;
  OUTPUT(vxs_batch *, batch);
#define CALL vxs_batch_create(threads, batch)
  INVALID(threads, 1025, "threads is 1025; expected 0 to 1024");
  POINTER(batch);
  PANIC();
#undef CALL
}

ROWS(vxs_batch_destroy) {
  vxs_batch *batch = NULL;
#define CALL vxs_batch_destroy(batch)
  OK(CALL);
  batch = new_batch();
  LIVE_HANDLE(batch, batch);
  PANIC();
  OK(CALL);
#undef CALL
}

ROWS(vxs_query_contacts_batch) {
  vxs_shape *shape = tetrahedron(), *exact = NULL;
  vxs_body body = {shape, at(0, 0, 0)};
  vxs_workspace *workspace = new_workspace();
  vxs_body_pair pairs_given[2] = {{body, body, NULL}, {body, body, NULL}}, *pairs = pairs_given;
  size_t pair_count = 2, capacity = 2, offsets_needed[3];
  vxs_query query_given, *query = &query_given;
  vxs_contact contacts_given[2], *contacts = watch(contacts_given, sizeof contacts_given);
  size_t offsets_given[3], *offsets = watch(offsets_given, sizeof offsets_given);
  uint32_t preferred[2] = {4, 5};
  vxs_batch *batch = new_batch(), *kept = batch;
  OK(vxs_shape_create_sphere(1, &exact));
  OK(vxs_query_init(query, sizeof *query));
#define CALL vxs_query_contacts_batch(batch, pairs, pair_count, query, contacts, capacity, offsets)
  HANDLE(batch, batch);
  POINTER(pairs);
  INVALID(pair_count, SIZE_MAX, "pair_count is");
  INVALID(pairs[1].a.shape, NULL, "pairs[1].a.shape is null; expected");
  ROW(VXS_INVALID_HANDLE, pairs[0].b.shape, (vxs_shape *)(void *)workspace, "pairs[0].b.shape is a vxs_workspace");
  INVALID(pairs[1].b.pose.position.y, NAN, "pairs[1].b.pose.position.y is NaN");
  INVALID(pairs[0].a.pose.qw, 2, "pairs[0].a.pose");
  ROW(VXS_INVALID_HANDLE, pairs[1].workspace, (vxs_workspace *)(void *)shape, "pairs[1].workspace is a vxs_shape");
  pairs[0].workspace = workspace;
  ROW(VXS_BUSY, pairs[1].workspace, workspace, "pairs[1].workspace is that of pairs[0] too; expected one for each pair");
  pairs[0].workspace = NULL;
  pairs[1].b.shape = exact;
  ROW(VXS_UNSUPPORTED, pairs[1].a.shape, exact, "pairs[1]: ");
  pairs[1].b.shape = shape;
  SIZED(query);
  CHOICE(query->roles, 4);
  CHOICE(query->coverage, 3);
  NUMBER(query->max_separation);
  query->preferred = preferred;
  INVALID(query->preferred_count, 2, "query->preferred_count is 2; expected 0");
  query->preferred = NULL;
  OUTPUT_ARRAY(contacts, capacity);
  POINTER(offsets);
  CHECK(vxs_query_contacts_batch(batch, pairs, 2, query, NULL, 0, offsets_needed) == VXS_TRUNCATED);
  CHECK(offsets_needed[0] == 0 && offsets_needed[1] > 0 && offsets_needed[2] == 2 * offsets_needed[1]);
  PANIC();
  OK(vxs_batch_destroy(kept));
  OK(vxs_workspace_destroy(workspace));
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(shape));
#undef CALL
}
