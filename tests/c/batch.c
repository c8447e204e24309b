/* Contacts of many pairs in one call: the answers are those of single queries, for any number of threads. */
#include "check.h"

enum { PAIRS = 300, ROOM = 100000 };

static vxs_shape *cook(uint32_t kind) {
  vxs_shape *shape = NULL;
  vxs_primitive primitive;
  vxs_cook_options options;
  OK(vxs_primitive_init(&primitive, sizeof primitive, kind));
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 24;
  options.sample_count = 800;
  OK(vxs_shape_create_primitive(&primitive, &options, &shape));
  return shape;
}

/* Numbers from 0 to 1, the same in each run. */
static double number(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) / 9007199254740992.0;
}

static vxs_pose anywhere(void) {
  vxs_pose pose = at(1.2 * number() - 0.6, 1.2 * number() - 0.6, 1.2 * number() - 0.6);
  double norm = 0, q[4];
  for (int i = 0; i < 4; i++) q[i] = 2 * number() - 1, norm += q[i] * q[i];
  pose.qx = q[0] / sqrt(norm), pose.qy = q[1] / sqrt(norm), pose.qz = q[2] / sqrt(norm), pose.qw = q[3] / sqrt(norm);
  return pose;
}

static vxs_contact single[ROOM], found[ROOM];
static size_t single_offsets[PAIRS + 1], offsets[PAIRS + 1];

static void the_answers_are_those_of_single_queries(vxs_body_pair *pairs, const vxs_query *query) {
  vxs_workspace *workspace = NULL;
  size_t total = 0, touching = 0;
  OK(vxs_workspace_create(&workspace));
  for (size_t i = 0; i < PAIRS; i++) {
    size_t count = 0;
    single_offsets[i] = total;
    OK(vxs_query_contacts(&pairs[i].a, &pairs[i].b, query, workspace, single + total, ROOM - total, &count));
    total += count;
    touching += count > 0;
  }
  single_offsets[PAIRS] = total;
  CHECK(touching > PAIRS / 3 && touching < PAIRS && total > 1000);
  for (uint32_t threads = 0; threads <= 5; threads++) {
    vxs_batch *batch = NULL;
    OK(vxs_batch_create(threads, &batch));
    for (int again = 0; again < 2; again++) {
      memset(found, 0xa5, sizeof found);
      OK(vxs_query_contacts_batch(batch, pairs, PAIRS, query, found, ROOM, offsets));
      CHECK(memcmp(offsets, single_offsets, sizeof offsets) == 0);
      CHECK(memcmp(found, single, total * sizeof *found) == 0);
    }
    /* Contacts that do not fit are left out, and all are counted. */
    size_t room = single_offsets[PAIRS / 2] + 1;
    memset(found, 0xa5, sizeof found);
    CHECK(vxs_query_contacts_batch(batch, pairs, PAIRS, query, found, room, offsets) == VXS_TRUNCATED);
    CHECK(memcmp(offsets, single_offsets, sizeof offsets) == 0);
    CHECK(memcmp(found, single, room * sizeof *found) == 0);
    for (size_t i = 0; i < sizeof *found; i++) CHECK(((const unsigned char *)&found[room])[i] == 0xa5);
    /* Few pairs, one, and none. */
    for (size_t count = 0; count < 4; count++) {
      OK(vxs_query_contacts_batch(batch, pairs, count, query, found, ROOM, offsets));
      CHECK(memcmp(offsets, single_offsets, (count + 1) * sizeof *offsets) == 0);
    }
    OK(vxs_query_contacts_batch(batch, NULL, 0, query, NULL, 0, offsets));
    CHECK(offsets[0] == 0);
    OK(vxs_batch_destroy(batch));
  }
  OK(vxs_workspace_destroy(workspace));
}

/* A pair with scratch of its own has the same answer while it moves, and while other pairs come and go. */
static void pairs_keep_their_own_scratch(vxs_body_pair *pairs, const vxs_query *query) {
  vxs_batch *batch = NULL;
  vxs_workspace *workspace = NULL;
  vxs_workspace *own[PAIRS];
  OK(vxs_batch_create(2, &batch));
  OK(vxs_workspace_create(&workspace));
  for (size_t i = 0; i < PAIRS; i++) {
    own[i] = NULL;
    if (i % 3 != 0) OK(vxs_workspace_create(&own[i]));
    pairs[i].workspace = own[i];
  }
  for (int step = 0; step < 20; step++) {
    size_t count = PAIRS - (size_t)step;
    for (size_t i = 0; i < count; i++) pairs[i].a.pose.position.x += 1e-3;
    OK(vxs_query_contacts_batch(batch, pairs, count, query, found, ROOM, offsets));
    for (size_t i = 0; i < count; i++) {
      size_t alone = 0;
      OK(vxs_query_contacts(&pairs[i].a, &pairs[i].b, query, workspace, single, ROOM, &alone));
      CHECK(alone == offsets[i + 1] - offsets[i]);
      CHECK(memcmp(single, found + offsets[i], alone * sizeof *single) == 0);
    }
  }
  for (size_t i = 0; i < PAIRS; i++) {
    OK(vxs_workspace_destroy(own[i]));
    pairs[i].workspace = NULL;
  }
  OK(vxs_workspace_destroy(workspace));
  OK(vxs_batch_destroy(batch));
}

/* The pair that is named does not depend on which thread fails first. */
static void the_first_pair_that_fails_is_named(vxs_body_pair *pairs, const vxs_query *query) {
  vxs_shape *exact = NULL;
  vxs_batch *batch = NULL;
  OK(vxs_shape_create_sphere(0.1, &exact));
  OK(vxs_batch_create(4, &batch));
  for (size_t i = 57; i < PAIRS; i += 50) pairs[i].a.shape = pairs[i].b.shape = exact;
  for (int again = 0; again < 20; again++)
    REFUSED(VXS_UNSUPPORTED, "vxs_query_contacts_batch: pairs[57]: ",
            vxs_query_contacts_batch(batch, pairs, PAIRS, query, found, ROOM, offsets));
  OK(vxs_query_contacts_batch(batch, pairs, 57, query, found, ROOM, offsets));
  OK(vxs_batch_destroy(batch));
  OK(vxs_shape_release(exact));
}

int main(void) {
  vxs_shape *shapes[3] = {cook(VXS_PRIMITIVE_BOX), cook(VXS_PRIMITIVE_TORUS), cook(VXS_PRIMITIVE_CONE)};
  vxs_body_pair pairs[PAIRS];
  vxs_query query;
  OK(vxs_query_init(&query, sizeof query));
  for (int i = 0; i < PAIRS; i++) {
    vxs_body a = {shapes[i % 3], anywhere()}, b = {shapes[i / 3 % 3], anywhere()};
    pairs[i] = (vxs_body_pair){a, b, NULL};
  }
  query.max_separation = 0.01;
  the_answers_are_those_of_single_queries(pairs, &query);
  query.max_contacts = 8;
  query.coverage = VXS_COVERAGE_SAMPLES;
  the_answers_are_those_of_single_queries(pairs, &query);
  pairs_keep_their_own_scratch(pairs, &query);
  the_first_pair_that_fails_is_named(pairs, &query);
  for (int i = 0; i < 3; i++) OK(vxs_shape_release(shapes[i]));
  return 0;
}
