/* Pairs: manifolds from step to step, with the numbers of the host; the same bytes in batches of any number of threads. */
#include "check.h"

enum { BODIES = 24, STEPS = 12 };

static vxs_shape *primitive(uint32_t kind) {
  vxs_shape *shape = NULL;
  vxs_primitive primitive;
  vxs_cook_options options;
  OK(vxs_primitive_init(&primitive, sizeof primitive, kind));
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 32;
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

static vxs_kinematics resting(vxs_pose pose) {
  vxs_kinematics k = {pose, pose.position, {{0, 0, 0}, {0, 0, 0}}};
  return k;
}

/* The floor has no triangles; those of the box hold the points. */
static void triangles_are_those_of_the_points(vxs_pair *pair, const vxs_manifolds *found, const vxs_pair_step *step) {
  vxs_contact_triangles triangles[4];
  size_t count = 0;
  CHECK(vxs_pair_get_triangles(pair, NULL, 0, &count) == VXS_TRUNCATED && count == 4);
  OK(vxs_pair_get_triangles(pair, triangles, 4, &count));
  CHECK(count == 4);
  for (size_t i = 0; i < 4; i++) {
    const vxs_pair_point *p = &found->data[0].points[i];
    const vxs_triangle_point *on = &triangles[i].on_a;
    CHECK(triangles[i].on_b.triangle == VXS_TRIANGLE_NONE && triangles[i].on_b.material == VXS_MATERIAL_NONE);
    CHECK(on->triangle < 12 && on->material == VXS_MATERIAL_NONE);
    /* The weights are those of a corner: the point is at one. */
    const double most = fmax(on->barycentric[0], fmax(on->barycentric[1], on->barycentric[2]));
    CHECK(most > 0.999 && fabs(on->barycentric[0] + on->barycentric[1] + on->barycentric[2] - 1) < 1e-12);
    CHECK(fabs(fabs(p->point_on_a.x - step->a.pose.position.x) - 0.5) < 1e-3);
  }
}

/* A box of 1 m falls onto a floor and rests: the points, the numbers of the host, and what is said of the search. */
static void a_box_comes_to_rest_on_a_floor(void) {
  vxs_shape *box = primitive(VXS_PRIMITIVE_BOX), *floor = NULL;
  vxs_pair *pair = NULL, *copy = NULL;
  vxs_manifolds found, again;
  uint32_t origin = 9;
  vxs_query_report report;
  OK(vxs_query_report_init(&report, sizeof report));
  OK(vxs_shape_create_half_space(vec3(0, 0, 1), 0, &floor));
  OK(vxs_pair_create(box, floor, NULL, &pair));
  /* The pair retains its shapes. */
  OK(vxs_shape_release(box));
  OK(vxs_shape_release(floor));
  vxs_pair_step step = {resting(at(0, 0, 0.7)), resting(at(0, 0, 0)), 1.0 / 60, {0, 0, 0}, {0, 0, 0}};
  OK(vxs_pair_update(pair, &step, &found));
  CHECK(found.count == 0);
  /* It comes to the floor in this step. */
  step.a.twist.linear.z = -13;
  OK(vxs_pair_update(pair, &step, &found));
  CHECK(found.count == 1 && found.data[0].count == 4 && found.data[0].normal.z < -0.999);
  for (size_t i = 0; i < 4; i++) {
    const vxs_pair_point *p = &found.data[0].points[i];
    CHECK(fabs(p->separation - 0.2) < 1e-4 && fabs(p->gap - (0.2 - 13.0 / 60)) < 1e-4);
    CHECK(fabs(p->point_on_b.z) < 1e-6 && fabs(fabs(p->point_on_a.x) - 0.5) < 1e-3);
  }
  /* It rests; its points keep the numbers, whether they are searched or turned with it. */
  step = (vxs_pair_step){resting(at(0, 0, 0.4999)), resting(at(0, 0, 0)), 1.0 / 60, {0, 0, 0}, {0, 0, 0}};
  OK(vxs_pair_update(pair, &step, &found));
  CHECK(found.count == 1 && found.data[0].count == 4);
  for (size_t i = 0; i < 4; i++) found.data[0].points[i].user[2] = 7.0 + (double)i;
  for (int k = 1; k <= 20; k++) {
    /* 0.02 mm a step: less than a quarter of the tolerance, 0.5 mm, from the last search for some steps. */
    step.a.pose.position.x = step.a.center.x = 2e-5 * k;
    OK(vxs_pair_update(pair, &step, &found));
    CHECK(found.count == 1 && found.data[0].count == 4);
    for (size_t i = 0; i < 4; i++) {
      CHECK(found.data[0].points[i].user[2] == 7.0 + (double)i);
      CHECK(fabs(found.data[0].points[i].separation + 1e-4) < 1e-5);
    }
    OK(vxs_pair_get_report(pair, &origin, &report));
    CHECK(origin == (k % 7 == 0 ? VXS_PAIR_SEARCHED : VXS_PAIR_RECYCLED));
  }
  triangles_are_those_of_the_points(pair, &found, &step);
  /* A copy has the numbers, and goes on alike. */
  OK(vxs_pair_copy(pair, &copy));
  step.a.pose.position.z += 0.003;
  OK(vxs_pair_update(pair, &step, &found));
  OK(vxs_pair_update(copy, &step, &again));
  CHECK(found.count == 0 && again.count == 0);
  step.a.pose.position.z -= 0.004;
  OK(vxs_pair_update(pair, &step, &found));
  OK(vxs_pair_update(copy, &step, &again));
  CHECK(found.count == 1 && again.count == 1 && found.data[0].count == again.data[0].count);
  CHECK(memcmp(found.data[0].points, again.data[0].points, found.data[0].count * sizeof *found.data[0].points) == 0);
  OK(vxs_pair_reset(copy));
  OK(vxs_pair_release(copy));
  OK(vxs_pair_release(pair));
}

/* Bytes of an answer: of all points, and of what stands beside them in the manifolds. */
static uint64_t bytes_of(const vxs_manifolds *found, uint64_t hash) {
  for (size_t i = 0; i < found->count; i++) {
    const vxs_manifold *m = &found->data[i];
    const unsigned char *bytes = (const unsigned char *)m->points;
    for (size_t k = 0; k < m->count * sizeof *m->points; k++) hash = (hash ^ bytes[k]) * 1099511628211u;
    bytes = (const unsigned char *)&m->normal;
    for (size_t k = 0; k < sizeof m->normal; k++) hash = (hash ^ bytes[k]) * 1099511628211u;
    hash = (hash ^ m->region) * 1099511628211u;
  }
  return hash;
}

/* Moves all bodies a little. */
static void move(vxs_pair_step *steps, int k) {
  for (size_t i = 0; i < BODIES; i++) {
    vxs_vec3 *p = &steps[i].a.pose.position;
    /* Some rest, some creep and some are fast. */
    const double speed = i % 3 == 0 ? 0 : i % 3 == 1 ? 3e-5 : 4e-3;
    p->x += speed * (k % 2 ? 1 : 0.3), p->z -= 0.5 * speed;
    steps[i].a.center = *p;
    steps[i].a.twist.linear = vec3(60 * speed, 0, -30 * speed);
  }
}

static void answers_do_not_depend_on_the_threads(void) {
  vxs_shape *torus = primitive(VXS_PRIMITIVE_TORUS), *box = primitive(VXS_PRIMITIVE_BOX);
  vxs_pair_step start[BODIES];
  for (size_t i = 0; i < BODIES; i++) {
    vxs_pose pose = at(0.3 * number(), 0.3 * number(), 0.55 + 0.1 * number());
    const double angle = 3 * number();
    pose.qx = sin(angle / 2), pose.qw = cos(angle / 2);
    start[i] = (vxs_pair_step){resting(pose), resting(at(0, 0, 0)), 1.0 / 60, {0, 0, 0}, {0, 0, 0}};
  }
  uint64_t expected[STEPS] = {0};
  size_t points = 0;
  for (uint32_t threads = 0; threads <= 4; threads++) {
    vxs_pair_in_step pairs[BODIES];
    vxs_manifolds found[BODIES];
    vxs_pair_step steps[BODIES];
    vxs_batch *batch = NULL;
    /* 0: one after the other, without a batch. */
    if (threads > 0) OK(vxs_batch_create(threads, &batch));
    memcpy(steps, start, sizeof steps);
    for (size_t i = 0; i < BODIES; i++) OK(vxs_pair_create(i % 2 ? torus : box, box, NULL, &pairs[i].pair));
    for (int k = 0; k < STEPS; k++) {
      move(steps, k);
      for (size_t i = 0; i < BODIES; i++) pairs[i].step = steps[i];
      if (batch != NULL) OK(vxs_pairs_update(batch, pairs, BODIES, found));
      uint64_t hash = 14695981039346656037u;
      for (size_t i = 0; i < BODIES; i++) {
        if (batch == NULL) OK(vxs_pair_update(pairs[i].pair, &steps[i], &found[i]));
        hash = bytes_of(&found[i], hash);
        for (size_t m = 0; m < found[i].count; m++) {
          points += found[i].data[m].count;
          for (size_t p = 0; p < found[i].data[m].count; p++) found[i].data[m].points[p].user[0] += 1;
        }
      }
      if (threads == 0) expected[k] = hash;
      CHECK(hash == expected[k]);
    }
    for (size_t i = 0; i < BODIES; i++) OK(vxs_pair_release(pairs[i].pair));
    OK(vxs_batch_destroy(batch));
  }
  CHECK(points > 5 * STEPS * BODIES);
  OK(vxs_shape_release(torus));
  OK(vxs_shape_release(box));
}

int main(void) {
  a_box_comes_to_rest_on_a_floor();
  answers_do_not_depend_on_the_threads();
  return 0;
}
