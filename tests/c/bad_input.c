/* Bad input that does not fit one row of bad_input_walk.c: arguments that are valid or refused depending on others,
 * and handles over their lifetime. */
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

/* Cooks from triangles, with an output that must stay unchanged. */
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

/* An open sheet has no inside, so it has no field, but it can have a pointshell. */
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

/* The error names the needed memory before any is allocated. */
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

static void quaternion_within_the_tolerance(void) {
  vxs_shape *shape = tetrahedron();
  vxs_workspace *workspace = NULL;
  vxs_contact contact;
  vxs_pose good = at(0, 0, 0), nearly = good;
  bool found = false;
  OK(vxs_workspace_create(&workspace));
  nearly.qw = 1.0 + 1e-7;
  OK(vxs_query_distance(BODY(shape, nearly), BODY(shape, good), NULL, workspace, &contact, &found));
  CHECK(found);
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
  REFUSED(VXS_INVALID_HANDLE, "b->shape was released before",
          vxs_query_contacts(BODY(other, pose), BODY(shape, pose), NULL, workspace, NULL, 0, &count));
  REFUSED(VXS_INVALID_HANDLE, "shape is a vxs_workspace; expected a live vxs_shape",
          vxs_shape_get_bounds((vxs_shape *)(void *)workspace, &bounds));
  REFUSED(VXS_INVALID_HANDLE, "workspace is a vxs_shape; expected a live vxs_workspace",
          vxs_query_contacts(BODY(other, pose), BODY(other, pose), NULL, (vxs_workspace *)(void *)other, NULL, 0, &count));
  REFUSED(VXS_INVALID_HANDLE, "shape is not a handle of this library",
          vxs_shape_get_bounds((vxs_shape *)(void *)not_a_handle, &bounds));
  REFUSED(VXS_INVALID_HANDLE, "shape is not a handle of this library",
          vxs_shape_get_bounds((vxs_shape *)(void *)((char *)not_a_handle + 1), &bounds));
  OK(vxs_workspace_destroy(workspace));
  REFUSED(VXS_INVALID_HANDLE, "workspace was released before", vxs_workspace_destroy(workspace));
  REFUSED(VXS_INVALID_HANDLE, "workspace was released before",
          vxs_query_contacts(BODY(other, pose), BODY(other, pose), NULL, workspace, NULL, 0, &count));
  OK(vxs_shape_release(other));

  /* A released handle is still recognised after many others were made and released. */
  for (int i = 0; i < 1000; i++) {
    OK(vxs_shape_create_sphere(1, &other));
    OK(vxs_shape_release(other));
  }
  REFUSED(VXS_INVALID_HANDLE, "shape was released before", vxs_shape_release(shape));
  /* The memory behind older released handles is freed (valgrind would report it). */
  for (int i = 0; i < 3000; i++) {
    OK(vxs_shape_create_sphere(1, &other));
    OK(vxs_shape_release(other));
  }
}

int main(void) {
  one_triangle();
  grid_beyond_memory();
  quaternion_within_the_tolerance();
  freed_and_wrong_handles();
  puts("bad_input: ok");
  return 0;
}
