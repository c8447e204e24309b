/* Hulls of balls, scaled shapes, and all crossings of a segment. */
#include "check.h"

static double distance(const vxs_shape *shape, vxs_vec3 p) {
  vxs_field *field = NULL;
  double value = NAN;
  OK(vxs_shape_get_field(shape, &field));
  OK(vxs_field_distance(field, p, &value, NULL));
  OK(vxs_field_release(field));
  return value;
}

/* A cone with round ends: for balls of radius 0.3 and 0.1, 0.5 apart, half the opening angle is asin(0.2 / 0.5). */
static void hull_of_two_balls(void) {
  const vxs_vec3 centers[3] = {{0, 0, 0}, {0, 0.5, 0}, {0.05, 0.2, 0}};
  const double radii[3] = {0.3, 0.1, 0.05}, sine = 0.4, cosine = sqrt(1 - 0.4 * 0.4);
  vxs_shape *hull = NULL, *half = NULL;
  vxs_shape_info info;
  vxs_aabb bounds;
  vxs_mass_properties mass;
  OK(vxs_shape_create_sphere_hull(centers, radii, 3, &hull));
  NEAR(distance(hull, vec3(0, -1, 0)), 0.7, 1e-6);
  NEAR(distance(hull, vec3(0, 1, 0)), 0.4, 1e-6);
  NEAR(distance(hull, vec3(0, 0, 0)), -0.3, 1e-6);
  /* Off the flank, whose normal is (cosine, sine). */
  NEAR(distance(hull, vec3(0.6, 0.5, 0)), 0.6 * cosine + 0.5 * sine - 0.3, 1e-6);
  NEAR(distance(hull, vec3(0.01, 0.3, 0)), 0.01 * cosine + 0.3 * sine - 0.3, 1e-6);
  OK(vxs_shape_get_bounds(hull, &bounds));
  NEAR(bounds.min.y, -0.3, 1e-6);
  NEAR(bounds.max.y, 0.6, 1e-6);
  OK(vxs_shape_info_init(&info, sizeof info));
  OK(vxs_shape_get_info(hull, &info));
  CHECK(info.field_kind == VXS_FIELD_SPHERE_HULL && info.field_convex == 1);
  REFUSED(VXS_UNSUPPORTED, "no mass properties", vxs_shape_get_mass_properties(hull, &mass));
  REFUSED(VXS_UNSUPPORTED, "only cooked fields", vxs_shape_save(hull, "hull.vxs"));
  OK(vxs_shape_create_scaled(hull, 0.5, &half));
  CHECK(distance(half, vec3(0.5, 0.15, 0)) == 0.5 * distance(hull, vec3(1, 0.3, 0)));
  OK(vxs_shape_release(half));
  OK(vxs_shape_release(hull));
}

static void scaled_box(void) {
  vxs_primitive primitive;
  vxs_cook_options options;
  vxs_shape *box = NULL, *large = NULL, *again = NULL;
  vxs_shape_info info, of_large;
  vxs_mass_properties mass, mass_of_large;
  OK(vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_BOX));
  for (int i = 0; i < 3; i++) primitive.size[i] = 0.1 * (i + 1);
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 32;
  OK(vxs_shape_create_primitive(&primitive, &options, &box));
  OK(vxs_shape_create_scaled(box, 3, &large));
  OK(vxs_shape_info_init(&info, sizeof info));
  OK(vxs_shape_info_init(&of_large, sizeof of_large));
  OK(vxs_shape_get_info(box, &info));
  OK(vxs_shape_get_info(large, &of_large));
  CHECK(of_large.sample_count == info.sample_count && of_large.tree_nodes == info.tree_nodes);
  CHECK(of_large.triangle_count == info.triangle_count && of_large.field_bytes == info.field_bytes);
  NEAR(of_large.spacing, 3 * info.spacing, 1e-6);
  NEAR(of_large.voxel_size, 3 * info.voxel_size, 1e-6);
  NEAR(of_large.lipschitz, info.lipschitz, 1e-5);
  NEAR(of_large.field_error_max, 3 * info.field_error_max, 1e-12);
  OK(vxs_shape_get_mass_properties(box, &mass));
  OK(vxs_shape_get_mass_properties(large, &mass_of_large));
  NEAR(mass_of_large.volume, 27 * mass.volume, 1e-12);
  NEAR(mass_of_large.inertia[0], 9 * mass.inertia[0], 1e-12);
  OK(vxs_shape_save(large, "scaled.vxs"));
  OK(vxs_shape_load("scaled.vxs", &again));
  CHECK(distance(again, vec3(0.4, 0, 0)) == distance(large, vec3(0.4, 0, 0)));
  CHECK(remove("scaled.vxs") == 0);
  OK(vxs_shape_release(again));
  OK(vxs_shape_release(large));
  OK(vxs_shape_release(box));
}

/* The parts of segments inside a torus, at its surface and at other levels, by both methods. */
static void intervals(const vxs_shape *torus) {
  vxs_segment_query query;
  vxs_interval parts[4], same[4];
  size_t count = 0, again = 0;
  OK(vxs_segment_query_init(&query, sizeof query));
  OK(vxs_shape_query_intervals(torus, vec3(-1, 0, 0), vec3(1, 0, 0), NULL, parts, 4, &count));
  CHECK(count == 2);
  NEAR(parts[0].from, 0.25, 1e-3);
  NEAR(parts[0].to, 0.35, 1e-3);
  NEAR(parts[1].from, 0.65, 1e-3);
  NEAR(parts[1].to, 0.75, 1e-3);
  /* Bisection finds them too, to what five steps leave: they are long. */
  query.method = VXS_SEGMENT_BISECTION;
  OK(vxs_shape_query_intervals(torus, vec3(-1, 0, 0), vec3(1, 0, 0), &query, same, 4, &again));
  CHECK(again == 2);
  for (int i = 0; i < 2; i++) {
    NEAR(same[i].from, parts[i].from, 1e-6);
    NEAR(same[i].to, parts[i].to, 1e-6);
  }
  /* A ball of 5 cm touches earlier, and a level inside is reached later. */
  query.method = VXS_SEGMENT_EXACT;
  for (int side = -1; side <= 1; side += 2) {
    query.level = 0.05 * side;
    OK(vxs_shape_query_intervals(torus, vec3(-1, 0, 0), vec3(1, 0, 0), &query, parts, 4, &count));
    CHECK(count == 2);
    NEAR(parts[0].from, 0.25 - 0.025 * side, 1e-3);
    NEAR(parts[1].to, 0.75 + 0.025 * side, 1e-3);
  }
  /* From inside to inside; and past it. */
  query.level = 0;
  OK(vxs_shape_query_intervals(torus, vec3(-0.4, 0, 0), vec3(0.4, 0, 0), &query, parts, 4, &count));
  CHECK(count == 2 && parts[0].from == 0 && parts[1].to == 1);
  OK(vxs_shape_query_intervals(torus, vec3(-1, 0.11, 0), vec3(1, 0.11, 0), &query, parts, 4, &count));
  CHECK(count == 0);
  parts[1].from = 7;
  CHECK(vxs_shape_query_intervals(torus, vec3(-1, 0, 0), vec3(1, 0, 0), &query, parts, 1, &count) == VXS_TRUNCATED);
  CHECK(count == 2 && parts[1].from == 7);
}

/* Along x through a torus around y: in and out of one side, in and out of the other. */
static void through_a_torus(void) {
  const double expected[4] = {-0.5, -0.3, 0.3, 0.5};
  vxs_primitive primitive;
  vxs_cook_options options;
  vxs_segment_hit hits[4];
  vxs_shape *torus = NULL;
  size_t count = 0;
  OK(vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_TORUS));
  primitive.size[0] = 0.4;
  primitive.size[1] = 0.1;
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 96;
  OK(vxs_shape_create_primitive(&primitive, &options, &torus));
  OK(vxs_shape_query_crossings(torus, vec3(-1, 0, 0), vec3(1, 0, 0), hits, 4, &count));
  CHECK(count == 4);
  for (int i = 0; i < 4; i++) {
    CHECK(hits[i].hit);
    NEAR(hits[i].point.x, expected[i], 2e-3);
    NEAR(hits[i].fraction, 0.5 * (hits[i].point.x + 1), 1e-12);
    NEAR(hits[i].normal.x, i % 2 == 0 ? -1 : 1, 1e-2);
  }
  /* With too little capacity the first crossings are returned. */
  hits[1].fraction = 7;
  CHECK(vxs_shape_query_crossings(torus, vec3(-1, 0, 0), vec3(1, 0, 0), hits, 1, &count) == VXS_TRUNCATED);
  CHECK(count == 4 && hits[1].fraction == 7);
  NEAR(hits[0].point.x, -0.5, 2e-3);
  /* From inside: the first crossing leaves. */
  OK(vxs_shape_query_crossings(torus, vec3(-0.4, 0, 0), vec3(0, 0, 0), hits, 4, &count));
  CHECK(count == 1 && hits[0].normal.x > 0.9);
  OK(vxs_shape_query_crossings(torus, vec3(-1, 0.11, 0), vec3(1, 0.11, 0), hits, 4, &count));
  CHECK(count == 0);
  intervals(torus);
  OK(vxs_shape_release(torus));
}

/* A zigzag of four strips, crossed through all of them, and through their shared edges. */
static void through_a_sheet(void) {
  vxs_vec3 vertices[10];
  uint32_t indices[24];
  vxs_segment_hit hits[8];
  vxs_shape *sheet = NULL;
  size_t count = 0;
  for (uint32_t i = 0; i < 5; i++) {
    vertices[2 * i] = vec3(i, i % 2, -1);
    vertices[2 * i + 1] = vec3(i, i % 2, 1);
  }
  for (uint32_t i = 0; i < 4; i++) {
    const uint32_t strip[6] = {2 * i, 2 * i + 1, 2 * i + 3, 2 * i, 2 * i + 3, 2 * i + 2};
    memcpy(indices + 6 * i, strip, sizeof strip);
  }
  OK(vxs_shape_create_sheet(vertices, 10, indices, 8, 0.1, &sheet));
  OK(vxs_shape_query_crossings(sheet, vec3(-1, 0.5, 0.3), vec3(5, 0.5, 0.3), hits, 8, &count));
  CHECK(count == 4);
  for (int i = 0; i < 4; i++) {
    NEAR(hits[i].point.x, 0.5 + i, 1e-12);
    /* By the winding, all normals point up. */
    NEAR(hits[i].normal.y, sqrt(0.5), 1e-12);
  }
  /* Down through the fold at (1, 1) and through the diagonal of a strip: one crossing each. */
  OK(vxs_shape_query_crossings(sheet, vec3(1, 3, 0.3), vec3(1, -3, 0.3), hits, 8, &count));
  CHECK(count == 1);
  NEAR(hits[0].point.y, 1, 1e-12);
  OK(vxs_shape_query_crossings(sheet, vec3(0.5, 3, 0), vec3(0.5, -3, 0), hits, 8, &count));
  CHECK(count == 1);
  NEAR(hits[0].point.y, 0.5, 1e-12);
  OK(vxs_shape_release(sheet));
}

int main(void) {
  hull_of_two_balls();
  scaled_box();
  through_a_torus();
  through_a_sheet();
  puts("hulls_scales_crossings: ok");
  return 0;
}
