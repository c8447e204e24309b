/* Bad input, row by row: each is refused with an error that names the argument and what was expected, and no output is
 * touched. */
#include "check.h"

#define UNTOUCHED ((vxs_shape *)(void *)&untouched)
static double untouched;

static const vxs_vec3 TETRAHEDRON[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const uint32_t FACES[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

static vxs_cook_options options(void) {
  vxs_cook_options o;
  OK(vxs_cook_options_init(&o, sizeof o));
  o.resolution = 16;
  return o;
}

/* From triangles, with an output that must stay as it is. */
static vxs_status cook(const vxs_vec3 *vertices, size_t vertex_count, const uint32_t *indices, size_t triangle_count,
                       const vxs_cook_options *o) {
  vxs_shape *shape = UNTOUCHED;
  vxs_status status = vxs_shape_create_from_triangles(vertices, vertex_count, indices, triangle_count, o, &shape);
  CHECK(status != VXS_OK && shape == UNTOUCHED);
  return status;
}

static vxs_status cook_with(const vxs_cook_options *o) { return cook(TETRAHEDRON, 4, FACES, 4, o); }

static vxs_shape *tetrahedron(void) {
  vxs_shape *shape = NULL;
  vxs_cook_options o = options();
  OK(vxs_shape_create_from_triangles(TETRAHEDRON, 4, FACES, 4, &o, &shape));
  return shape;
}

static void empty_mesh(void) {
  REFUSED(VXS_INVALID_MESH, "triangle_count is 0; expected at least one", cook(TETRAHEDRON, 4, FACES, 0, NULL));
  REFUSED(VXS_INVALID_MESH, "triangle_count is 0; expected at least one", cook(NULL, 0, NULL, 0, NULL));
  REFUSED(VXS_INVALID_MESH, "vertex_count is 0; expected at least one", cook(TETRAHEDRON, 0, FACES, 4, NULL));
}

/* An open sheet has no inside, so it has no field; but a pointshell it can be. */
static void one_triangle(void) {
  vxs_cook_options o = options();
  vxs_shape *shape = NULL;
  REFUSED(VXS_INVALID_MESH, "expected a mesh that encloses a volume", cook(TETRAHEDRON, 3, FACES, 1, NULL));
  o.forms = VXS_FORM_FIELD;
  REFUSED(VXS_INVALID_MESH, "expected a mesh that encloses a volume", cook(TETRAHEDRON, 3, FACES, 1, &o));
  o.forms = VXS_FORM_POINTSHELL;
  o.spacing = 0.1;
  OK(vxs_shape_create_from_triangles(TETRAHEDRON, 3, FACES, 1, &o, &shape));
  OK(vxs_shape_release(shape));
}

static void vertex_that_is_not_a_number(void) {
  vxs_vec3 vertices[4];
  memcpy(vertices, TETRAHEDRON, sizeof vertices);
  vertices[2].y = NAN;
  REFUSED(VXS_INVALID_MESH, "vertices[2].y is NaN; expected a finite", cook(vertices, 4, FACES, 4, NULL));
  vertices[2].y = -INFINITY;
  REFUSED(VXS_INVALID_MESH, "vertices[2].y is -inf; expected a finite", cook(vertices, 4, FACES, 4, NULL));
}

static void index_out_of_range(void) {
  uint32_t indices[12];
  memcpy(indices, FACES, sizeof indices);
  indices[7] = 4;
  REFUSED(VXS_INVALID_MESH, "indices[7] (triangle 2, corner 1) is 4; expected less than vertex_count, which is 4",
          cook(TETRAHEDRON, 4, indices, 4, NULL));
  indices[7] = UINT32_MAX;
  REFUSED(VXS_INVALID_MESH, "is 4294967295; expected less than", cook(TETRAHEDRON, 4, indices, 4, NULL));
}

static void voxel_size(void) {
  vxs_cook_options o = options();
  o.voxel_size = -0.01;
  REFUSED(VXS_INVALID_ARGUMENT, "voxel_size is -0.01; expected a positive", cook_with(&o));
  o.voxel_size = NAN;
  REFUSED(VXS_INVALID_ARGUMENT, "voxel_size is NaN; expected a positive", cook_with(&o));
  /* 0 asks for the resolution, so without one there is none. */
  o.voxel_size = 0;
  o.resolution = 0;
  REFUSED(VXS_INVALID_ARGUMENT, "resolution is 0; expected at least 1", cook_with(&o));
}

static void other_options(void) {
  vxs_cook_options o = options();
  o.forms = 0;
  REFUSED(VXS_INVALID_ARGUMENT, "forms is 0; expected", cook_with(&o));
  o.forms = 4;
  REFUSED(VXS_INVALID_ARGUMENT, "forms is 4; expected", cook_with(&o));
  o = options(), o.spacing = -1;
  REFUSED(VXS_INVALID_ARGUMENT, "spacing is -1; expected a positive", cook_with(&o));
  o = options(), o.sampling = 99;
  REFUSED(VXS_INVALID_ARGUMENT, "sampling is 99; expected one of the VXS_SAMPLING_", cook_with(&o));
  o = options(), o.tree = 2;
  REFUSED(VXS_INVALID_ARGUMENT, "tree is 2; expected one of the VXS_TREE_", cook_with(&o));
  o = options(), o.branching = 1000;
  REFUSED(VXS_INVALID_ARGUMENT, "branching is 1000; expected", cook_with(&o));
  o = options(), o.sharp_angle = INFINITY;
  REFUSED(VXS_INVALID_ARGUMENT, "sharp_angle is inf; expected", cook_with(&o));
  o = options(), o.weld_tolerance = -1;
  REFUSED(VXS_INVALID_ARGUMENT, "weld_tolerance is -1; expected", cook_with(&o));
  o = options(), o.struct_size = 12;
  REFUSED(VXS_INVALID_ARGUMENT, "options->struct_size is 12; expected", cook_with(&o));
  REFUSED(VXS_INVALID_ARGUMENT, "size is 8; expected", vxs_cook_options_init(&o, 8));
  CHECK(o.struct_size == 12);
}

/* It says how much it would take before it takes anything. */
static void grid_beyond_memory(void) {
  vxs_cook_options o = options();
  o.forms = VXS_FORM_FIELD;
  o.voxel_size = 1e-5;
  REFUSED(VXS_TOO_LARGE, "bytes; the limit is", cook_with(&o));
  o.voxel_size = 1e-300;
  REFUSED(VXS_TOO_LARGE, "bytes; the limit is", cook_with(&o));
  o = options();
  o.resolution = UINT32_MAX;
  REFUSED(VXS_TOO_LARGE, "bytes; the limit is", cook_with(&o));
  o = options();
  o.resolution = 64;
  o.memory_limit = 1000;
  REFUSED(VXS_TOO_LARGE, "bytes; the limit is 1000 bytes", cook_with(&o));
}

static void files(void) {
  vxs_shape *shape = UNTOUCHED;
  REFUSED(VXS_INVALID_FILE, "mesh.xyz", vxs_shape_create_from_file("mesh.xyz", NULL, &shape));
  REFUSED(VXS_INVALID_FILE, "obj", vxs_shape_create_from_file("mesh", NULL, &shape));
  REFUSED(VXS_IO, "no-such-file.obj", vxs_shape_create_from_file("no-such-file.obj", NULL, &shape));
  REFUSED(VXS_INVALID_ARGUMENT, "path is empty", vxs_shape_create_from_file("", NULL, &shape));
  REFUSED(VXS_INVALID_ARGUMENT, "path is null", vxs_shape_create_from_file(NULL, NULL, &shape));
  REFUSED(VXS_INVALID_ARGUMENT, "shape is null", vxs_shape_create_from_file("mesh.obj", NULL, NULL));
  REFUSED(VXS_IO, "no-such-file", vxs_shape_load("no-such-file.voxshell", &shape));
  CHECK(shape == UNTOUCHED);
}

static void quaternion_that_is_not_a_unit(void) {
  vxs_shape *shape = tetrahedron();
  vxs_workspace *workspace = NULL;
  vxs_contact contact, before;
  vxs_pose good = at(0, 0, 0), bad = good;
  size_t count = 77;
  bool found = true;
  memset(&contact, 0x5a, sizeof contact);
  before = contact;
  OK(vxs_workspace_create(&workspace));
  bad.qw = 1.0 + 1e-5;
  REFUSED(VXS_INVALID_ARGUMENT, "pose_a->qx..qw is (0, 0, 0, 1.00001), of norm 1.00001; expected a quaternion of norm 1",
          vxs_query_contacts(shape, &bad, shape, &good, NULL, workspace, &contact, 1, &count));
  bad.qw = 0;
  REFUSED(VXS_INVALID_ARGUMENT, "pose_b->qx..qw is (0, 0, 0, 0), of norm 0; expected a quaternion of norm 1",
          vxs_query_contacts(shape, &good, shape, &bad, NULL, workspace, &contact, 1, &count));
  bad.qw = NAN;
  REFUSED(VXS_INVALID_ARGUMENT, "pose_b->qx..qw is (0, 0, 0, NaN)",
          vxs_query_distance(shape, &good, shape, &bad, NULL, workspace, &contact, &found));
  bad = good, bad.position.z = INFINITY;
  REFUSED(VXS_INVALID_ARGUMENT, "pose_a->position.z is inf; expected a finite",
          vxs_query_distance(shape, &bad, shape, &good, NULL, workspace, &contact, &found));
  CHECK(count == 77 && found && memcmp(&contact, &before, sizeof contact) == 0);
  /* Within the tolerance it is taken. */
  bad = good, bad.qw = 1.0 + 1e-7;
  OK(vxs_query_distance(shape, &bad, shape, &good, NULL, workspace, &contact, &found));
  OK(vxs_workspace_destroy(workspace));
  OK(vxs_shape_release(shape));
}

static void null_pointers(void) {
  vxs_shape *shape = tetrahedron();
  vxs_workspace *workspace = NULL;
  vxs_pose pose = at(0, 0, 0);
  vxs_contact contact;
  vxs_shape *out = UNTOUCHED;
  vxs_field *field = NULL;
  vxs_pointshell *shell = NULL;
  double distance = 0;
  size_t count = 0;
  bool found = false;
  OK(vxs_workspace_create(&workspace));
  OK(vxs_shape_get_field(shape, &field));
  OK(vxs_shape_get_pointshell(shape, &shell));

  REFUSED(VXS_INVALID_ARGUMENT, "vertices is null", cook(NULL, 4, FACES, 4, NULL));
  REFUSED(VXS_INVALID_ARGUMENT, "indices is null", cook(TETRAHEDRON, 4, NULL, 4, NULL));
  REFUSED(VXS_INVALID_ARGUMENT, "shape is null", vxs_shape_create_from_triangles(TETRAHEDRON, 4, FACES, 4, NULL, NULL));
  REFUSED(VXS_INVALID_ARGUMENT, "primitive is null", vxs_shape_create_primitive(NULL, NULL, &out));
  REFUSED(VXS_INVALID_ARGUMENT, "shape is null", vxs_shape_create_sphere(1, NULL));
  REFUSED(VXS_INVALID_ARGUMENT, "points is null", vxs_shape_create_convex_hull(NULL, 4, &out));
  REFUSED(VXS_INVALID_ARGUMENT, "field and pointshell", vxs_shape_create(NULL, NULL, &out));
  REFUSED(VXS_INVALID_ARGUMENT, "path is null", vxs_shape_load(NULL, &out));
  REFUSED(VXS_INVALID_ARGUMENT, "path is null", vxs_shape_save(shape, NULL));
  REFUSED(VXS_INVALID_ARGUMENT, "shape is null; expected a vxs_shape", vxs_shape_save(NULL, "x"));
  REFUSED(VXS_INVALID_ARGUMENT, "shape is null", vxs_shape_retain(NULL, &out));
  REFUSED(VXS_INVALID_ARGUMENT, "out is null", vxs_shape_retain(shape, NULL));
  REFUSED(VXS_INVALID_ARGUMENT, "bounds is null", vxs_shape_get_bounds(shape, NULL));
  REFUSED(VXS_INVALID_ARGUMENT, "mass is null", vxs_shape_get_mass_properties(shape, NULL));
  REFUSED(VXS_INVALID_ARGUMENT, "info is null", vxs_shape_get_info(shape, NULL));
  REFUSED(VXS_INVALID_ARGUMENT, "hit is null", vxs_shape_query_segment(shape, vec3(0, 0, 0), vec3(1, 1, 1), NULL));
  REFUSED(VXS_INVALID_ARGUMENT, "vertex_count is null",
          vxs_shape_get_triangles(shape, NULL, 0, NULL, NULL, 0, &count));
  REFUSED(VXS_INVALID_ARGUMENT, "indices is null", vxs_shape_get_triangles(shape, NULL, 0, &count, NULL, 12, &count));
  REFUSED(VXS_INVALID_ARGUMENT, "distance is null", vxs_field_distance(field, vec3(0, 0, 0), NULL, NULL));
  REFUSED(VXS_INVALID_ARGUMENT, "field is null", vxs_field_distance(NULL, vec3(0, 0, 0), &distance, NULL));
  REFUSED(VXS_INVALID_ARGUMENT, "points is null", vxs_pointshell_get_samples(shell, NULL, NULL, 4, &count));
  REFUSED(VXS_INVALID_ARGUMENT, "workspace is null", vxs_workspace_create(NULL));
  REFUSED(VXS_INVALID_ARGUMENT, "a is null; expected a vxs_shape",
          vxs_query_contacts(NULL, &pose, shape, &pose, NULL, workspace, &contact, 1, &count));
  REFUSED(VXS_INVALID_ARGUMENT, "pose_b is null",
          vxs_query_contacts(shape, &pose, shape, NULL, NULL, workspace, &contact, 1, &count));
  REFUSED(VXS_INVALID_ARGUMENT, "workspace is null; expected a vxs_workspace",
          vxs_query_contacts(shape, &pose, shape, &pose, NULL, NULL, &contact, 1, &count));
  REFUSED(VXS_INVALID_ARGUMENT, "contacts is null",
          vxs_query_contacts(shape, &pose, shape, &pose, NULL, workspace, NULL, 1, &count));
  REFUSED(VXS_INVALID_ARGUMENT, "count is null",
          vxs_query_contacts(shape, &pose, shape, &pose, NULL, workspace, &contact, 1, NULL));
  REFUSED(VXS_INVALID_ARGUMENT, "found is null",
          vxs_query_distance(shape, &pose, shape, &pose, NULL, workspace, &contact, NULL));
  CHECK(out == UNTOUCHED && count == 0 && !found);

  /* Releasing nothing is fine. */
  OK(vxs_shape_release(NULL));
  OK(vxs_field_release(NULL));
  OK(vxs_pointshell_release(NULL));
  OK(vxs_workspace_destroy(NULL));
  OK(vxs_pointshell_release(shell));
  OK(vxs_field_release(field));
  OK(vxs_workspace_destroy(workspace));
  OK(vxs_shape_release(shape));
}

static void freed_and_wrong_handles(void) {
  vxs_shape *shape = tetrahedron(), *other = NULL;
  vxs_workspace *workspace = NULL;
  vxs_pose pose = at(0, 0, 0);
  vxs_aabb bounds;
  size_t count = 0;
  double not_a_handle[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  OK(vxs_workspace_create(&workspace));
  OK(vxs_shape_retain(shape, &other));
  OK(vxs_shape_release(shape));
  REFUSED(VXS_INVALID_HANDLE, "shape was released before; expected a live vxs_shape", vxs_shape_release(shape));
  REFUSED(VXS_INVALID_HANDLE, "shape was released before", vxs_shape_get_bounds(shape, &bounds));
  /* The other owner is not affected. */
  OK(vxs_shape_get_bounds(other, &bounds));
  REFUSED(VXS_INVALID_HANDLE, "b was released before",
          vxs_query_contacts(other, &pose, shape, &pose, NULL, workspace, NULL, 0, &count));
  REFUSED(VXS_INVALID_HANDLE, "shape is a vxs_workspace; expected a live vxs_shape",
          vxs_shape_get_bounds((vxs_shape *)(void *)workspace, &bounds));
  REFUSED(VXS_INVALID_HANDLE, "workspace is a vxs_shape; expected a live vxs_workspace",
          vxs_query_contacts(other, &pose, other, &pose, NULL, (vxs_workspace *)(void *)other, NULL, 0, &count));
  REFUSED(VXS_INVALID_HANDLE, "shape is not a handle of this library",
          vxs_shape_get_bounds((vxs_shape *)(void *)not_a_handle, &bounds));
  REFUSED(VXS_INVALID_HANDLE, "shape is not a handle of this library",
          vxs_shape_get_bounds((vxs_shape *)(void *)((char *)not_a_handle + 1), &bounds));
  OK(vxs_workspace_destroy(workspace));
  REFUSED(VXS_INVALID_HANDLE, "workspace was released before", vxs_workspace_destroy(workspace));
  REFUSED(VXS_INVALID_HANDLE, "workspace was released before",
          vxs_query_contacts(other, &pose, other, &pose, NULL, workspace, NULL, 0, &count));
  OK(vxs_shape_release(other));

  /* A released handle is still recognised after many others were made and released. */
  for (int i = 0; i < 1000; i++) {
    OK(vxs_shape_create_sphere(1, &other));
    OK(vxs_shape_release(other));
  }
  REFUSED(VXS_INVALID_HANDLE, "shape was released before", vxs_shape_release(shape));
  /* And the memory of those behind that is given back (valgrind would tell). */
  for (int i = 0; i < 3000; i++) {
    OK(vxs_shape_create_sphere(1, &other));
    OK(vxs_shape_release(other));
  }
}

static void analytic_shapes(void) {
  vxs_shape *shape = UNTOUCHED;
  const vxs_vec3 flat[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0.5, 0.5, 0}};
  const vxs_vec3 nan[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {NAN, 0, 1}};
  REFUSED(VXS_INVALID_ARGUMENT, "radius is 0; expected a positive", vxs_shape_create_sphere(0, &shape));
  REFUSED(VXS_INVALID_ARGUMENT, "radius is -1; expected a positive", vxs_shape_create_capsule(-1, 1, 0, &shape));
  REFUSED(VXS_INVALID_ARGUMENT, "half_height is inf; expected a positive", vxs_shape_create_capsule(1, INFINITY, 0, &shape));
  REFUSED(VXS_INVALID_ARGUMENT, "axis is 3; expected 0, 1 or 2", vxs_shape_create_cylinder(1, 1, 3, &shape));
  REFUSED(VXS_INVALID_ARGUMENT, "height is NaN; expected a positive", vxs_shape_create_cone(1, NAN, 1, &shape));
  REFUSED(VXS_INVALID_ARGUMENT, "half_extents.y is 0; expected a positive", vxs_shape_create_box(vec3(1, 0, 1), &shape));
  REFUSED(VXS_INVALID_ARGUMENT, "normal is (0, 0, 0); expected", vxs_shape_create_half_space(vec3(0, 0, 0), 0, &shape));
  REFUSED(VXS_INVALID_ARGUMENT, "offset is NaN; expected a finite", vxs_shape_create_half_space(vec3(0, 0, 1), NAN, &shape));
  REFUSED(VXS_INVALID_ARGUMENT, "points[3].x is NaN; expected a finite", vxs_shape_create_convex_hull(nan, 4, &shape));
  CHECK(vxs_shape_create_convex_hull(flat, 5, &shape) != VXS_OK);
  CHECK(vxs_shape_create_convex_hull(flat, 3, &shape) != VXS_OK);
  REFUSED(VXS_INVALID_ARGUMENT, "point_count is 0; expected at least", vxs_shape_create_convex_hull(flat, 0, &shape));
  CHECK(shape == UNTOUCHED);
}

static void primitives(void) {
  vxs_shape *shape = UNTOUCHED;
  vxs_primitive p;
  REFUSED(VXS_INVALID_ARGUMENT, "kind is 99; expected one of the VXS_PRIMITIVE_", vxs_primitive_init(&p, sizeof p, 99));
  OK(vxs_primitive_init(&p, sizeof p, VXS_PRIMITIVE_TORUS));
  p.size[1] = -1;
  CHECK(vxs_shape_create_primitive(&p, NULL, &shape) == VXS_INVALID_ARGUMENT);
  p.size[1] = NAN;
  CHECK(vxs_shape_create_primitive(&p, NULL, &shape) == VXS_INVALID_ARGUMENT);
  OK(vxs_primitive_init(&p, sizeof p, VXS_PRIMITIVE_TORUS));
  p.kind = 99;
  REFUSED(VXS_INVALID_ARGUMENT, "kind is 99", vxs_shape_create_primitive(&p, NULL, &shape));
  OK(vxs_primitive_init(&p, sizeof p, VXS_PRIMITIVE_SPHERE));
  p.detail[0] = UINT32_MAX;
  CHECK(vxs_shape_create_primitive(&p, NULL, &shape) != VXS_OK);
  CHECK(shape == UNTOUCHED);
}

static void queries(void) {
  vxs_shape *shape = tetrahedron(), *plane = NULL, *sphere = NULL;
  vxs_workspace *workspace = NULL;
  vxs_pose pose = at(0, 0, 0);
  vxs_query query;
  size_t count = 77;
  const uint32_t unsorted[2] = {5, 4};
  OK(vxs_workspace_create(&workspace));
  OK(vxs_shape_create_half_space(vec3(0, 0, 1), 0, &plane));
  OK(vxs_shape_create_sphere(1, &sphere));
#define QUERY vxs_query_contacts(shape, &pose, shape, &pose, &query, workspace, NULL, 0, &count)
  OK(vxs_query_init(&query, sizeof query));
  query.roles = 4;
  REFUSED(VXS_INVALID_ARGUMENT, "roles is 4; expected one of the VXS_ROLES_", QUERY);
  OK(vxs_query_init(&query, sizeof query));
  query.max_separation = NAN;
  REFUSED(VXS_INVALID_ARGUMENT, "max_separation is NaN; expected a finite", QUERY);
  query.max_separation = INFINITY;
  REFUSED(VXS_INVALID_ARGUMENT, "max_separation is inf; expected a finite", QUERY);
  OK(vxs_query_init(&query, sizeof query));
  query.max_distance = NAN;
  REFUSED(VXS_INVALID_ARGUMENT, "max_distance is NaN; expected", QUERY);
  OK(vxs_query_init(&query, sizeof query));
  query.preferred_count = 2;
  REFUSED(VXS_INVALID_ARGUMENT, "preferred is null", QUERY);
  query.preferred = unsorted;
  REFUSED(VXS_INVALID_ARGUMENT, "preferred[1] is 4; expected", QUERY);
  query.struct_size = 0;
  REFUSED(VXS_INVALID_ARGUMENT, "query->struct_size is 0; expected", QUERY);
#undef QUERY
  /* Neither has a pointshell. */
  REFUSED(VXS_UNSUPPORTED, "pointshell",
          vxs_query_contacts(sphere, &pose, plane, &pose, NULL, workspace, NULL, 0, &count));
  CHECK(count == 77);
  OK(vxs_shape_release(sphere));
  OK(vxs_shape_release(plane));
  OK(vxs_shape_release(shape));
  OK(vxs_workspace_destroy(workspace));
}

int main(void) {
  CHECK(vxs_last_error()[0] == '\0');
  empty_mesh();
  one_triangle();
  vertex_that_is_not_a_number();
  index_out_of_range();
  voxel_size();
  other_options();
  grid_beyond_memory();
  files();
  quaternion_that_is_not_a_unit();
  null_pointers();
  freed_and_wrong_handles();
  analytic_shapes();
  primitives();
  queries();
  puts("bad_input: ok");
  return 0;
}
