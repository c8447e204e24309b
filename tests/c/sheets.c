/* Sheets: surfaces without an inside, and pointshells of their edges. */
#include "check.h"

/* A square of 2 m in the plane y = 0, facing +y. */
static const vxs_vec3 CORNERS[4] = {{-1, 0, -1}, {1, 0, -1}, {1, 0, 1}, {-1, 0, 1}};
static const uint32_t SQUARE[6] = {0, 2, 1, 0, 3, 2};

static vxs_shape *square(void) {
  vxs_shape *shape = NULL;
  OK(vxs_shape_create_sheet(CORNERS, 4, SQUARE, 2, 0.05, &shape));
  return shape;
}

static vxs_shape *box(void) {
  vxs_primitive primitive;
  vxs_cook_options options;
  vxs_shape *shape = NULL;
  OK(vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_BOX));
  for (int i = 0; i < 3; i++) primitive.size[i] = 0.1;
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 48;
  OK(vxs_shape_create_primitive(&primitive, &options, &shape));
  return shape;
}

static void what_it_is(const vxs_shape *sheet) {
  vxs_shape_info info;
  vxs_aabb bounds;
  vxs_mass_properties mass;
  vxs_field *field = NULL;
  vxs_pointshell *none = NULL;
  OK(vxs_shape_info_init(&info, sizeof info));
  OK(vxs_shape_get_info(sheet, &info));
  CHECK(info.field_kind == VXS_FIELD_SHEET && info.forms == VXS_FORM_FIELD && info.triangle_count == 2);
  CHECK(info.mesh_closed == 0 && info.field_convex == 0);
  OK(vxs_shape_get_bounds(sheet, &bounds));
  CHECK(bounds.min.x == -1 && bounds.max.x == 1 && bounds.min.y == 0 && bounds.max.y == 0);
  REFUSED(VXS_UNSUPPORTED, "no mass properties", vxs_shape_get_mass_properties(sheet, &mass));
  REFUSED(VXS_UNSUPPORTED, "no pointshell", vxs_shape_get_pointshell(sheet, &none));
  REFUSED(VXS_UNSUPPORTED, "sheets", vxs_shape_save(sheet, "sheet.vxs"));
  OK(vxs_shape_get_field(sheet, &field));
  for (double y = -0.3; y < 0.4; y += 0.2) {
    double distance = -1;
    vxs_vec3 gradient;
    OK(vxs_field_distance(field, vec3(0.3, y, 0.2), &distance, &gradient));
    NEAR(distance, fabs(y), 1e-7);
    NEAR(gradient.y, y > 0 ? 1 : -1, 1e-6);
  }
  OK(vxs_field_release(field));
}

static void both_sides(const vxs_shape *sheet, const vxs_shape *body, vxs_workspace *workspace) {
  for (double side = -1; side <= 1; side += 2) {
    vxs_pose pose = at(0.2, side * 0.099, 0.1), still = at(0, 0, 0);
    vxs_contact contacts[4], closest;
    vxs_query query;
    size_t count = 0;
    bool found = false;
    OK(vxs_query_init(&query, sizeof query));
    query.max_contacts = 4;
    OK(vxs_query_contacts(BODY(body, pose), BODY(sheet, still), &query, workspace, contacts, 4, &count));
    CHECK(count == 4);
    for (size_t i = 0; i < count; i++) {
      NEAR(contacts[i].separation, -0.001, 1e-6);
      NEAR(contacts[i].normal.y, -side, 1e-6);
    }
    OK(vxs_query_distance(BODY(sheet, still), BODY(body, pose), NULL, workspace, &closest, &found));
    CHECK(found && (closest.feature & 0x80000000u) != 0);
    NEAR(closest.separation, -0.001, 1e-6);
    NEAR(closest.normal.y, side, 1e-6);
  }
}

static void segments(const vxs_shape *sheet) {
  vxs_segment_hit hit;
  for (double side = -1; side <= 1; side += 2) {
    OK(vxs_shape_query_segment(sheet, vec3(0.3, side, 0.2), vec3(0.3, -side * 3, 0.2), &hit));
    CHECK(hit.hit);
    NEAR(hit.fraction, 0.25, 1e-15);
    NEAR(hit.normal.y, 1, 1e-15);
  }
  OK(vxs_shape_query_segment(sheet, vec3(1.01, 1, 0), vec3(1.01, -1, 0), &hit));
  CHECK(!hit.hit);
}

/* The border of the square against the body's field, joined with the sheet. */
static void edges(const vxs_shape *sheet, const vxs_shape *body, vxs_workspace *workspace) {
  vxs_cook_options options;
  vxs_shape *border = NULL, *joined = NULL;
  vxs_field *field = NULL;
  vxs_pointshell *pointshell = NULL;
  vxs_pose pose = at(1.098, 0, 0), still = at(0, 0, 0);
  vxs_contact deepest;
  vxs_query query;
  size_t count = 0;
  OK(vxs_query_init(&query, sizeof query));
  query.roles = VXS_ROLES_SHELL_OF_A;
  OK(vxs_cook_options_init(&options, sizeof options));
  options.forms = VXS_FORM_POINTSHELL;
  options.sampling = VXS_SAMPLING_FEATURES;
  options.spacing = 0.05;
  OK(vxs_shape_create_from_triangles(CORNERS, 4, SQUARE, 2, &options, &border));
  OK(vxs_shape_get_field(sheet, &field));
  OK(vxs_shape_get_pointshell(border, &pointshell));
  CHECK(vxs_pointshell_get_samples(pointshell, NULL, NULL, 0, &count) == VXS_TRUNCATED && count == 160);
  OK(vxs_shape_create(field, pointshell, &joined));
  CHECK(vxs_query_contacts(BODY(joined, still), BODY(body, pose), &query, workspace, &deepest, 1, &count) >= VXS_OK && count > 0);
  NEAR(deepest.separation, -0.002, 1e-4);
  NEAR(deepest.normal.x, 1, 1e-3);
  OK(vxs_field_release(field));
  OK(vxs_pointshell_release(pointshell));
  OK(vxs_shape_release(joined));
  OK(vxs_shape_release(border));
}

/* Refusals that bad_input_walk.c does not cover. */
static void refusals(void) {
  vxs_cook_options options;
  vxs_primitive primitive;
  vxs_shape *shape = NULL;
  /* At this scale the sheet has no area in f32. */
  REFUSED(VXS_INVALID_ARGUMENT, "depth", vxs_shape_create_sheet(CORNERS, 4, SQUARE, 2, 1e-60, &shape));
  /* A sphere has neither corners nor edges. */
  OK(vxs_cook_options_init(&options, sizeof options));
  options.sampling = VXS_SAMPLING_FEATURES;
  OK(vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_SPHERE));
  REFUSED(VXS_INVALID_MESH, "no corners", vxs_shape_create_primitive(&primitive, &options, &shape));
  options.sampling = VXS_SAMPLING_FEATURES + 1;
  REFUSED(VXS_INVALID_ARGUMENT, "sampling", vxs_shape_create_primitive(&primitive, &options, &shape));
  CHECK(shape == NULL);
}

int main(void) {
  vxs_shape *sheet = square(), *body = box();
  vxs_workspace *workspace = NULL;
  OK(vxs_workspace_create(&workspace));
  what_it_is(sheet);
  both_sides(sheet, body, workspace);
  segments(sheet);
  edges(sheet, body, workspace);
  refusals();
  OK(vxs_workspace_destroy(workspace));
  OK(vxs_shape_release(body));
  OK(vxs_shape_release(sheet));
  puts("sheets: ok");
  return 0;
}
