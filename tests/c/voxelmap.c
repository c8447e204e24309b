/* Voxelmaps in every form: V(P), the query against all samples, files, memory, allocations. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

static vxs_shape *ring(void) {
  vxs_shape *shape = NULL;
  vxs_primitive torus;
  vxs_cook_options options;
  OK(vxs_primitive_init(&torus, sizeof torus, VXS_PRIMITIVE_TORUS));
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 32;
  OK(vxs_shape_create_primitive(&torus, &options, &shape));
  return shape;
}

static vxs_voxelmap_info info_of(const vxs_voxelmap *map) {
  vxs_voxelmap_info info;
  OK(vxs_voxelmap_info_init(&info, sizeof info));
  OK(vxs_voxelmap_get_info(map, &info));
  return info;
}

/* The contacts are those of V of each sample, and the wrench is their sum. */
static void check_query(const vxs_voxelmap *map, const vxs_pointshell *shell, vxs_pose pose, vxs_workspace *workspace,
                        size_t *touching) {
  static vxs_vec3 points[20000], normals[20000], inward[20000];
  static double v[20000];
  static vxs_voxel_contact contacts[20000];
  size_t count = 0, expected = 0;
  OK(vxs_pointshell_get_samples(shell, points, normals, 20000, &count));
  for (size_t i = 0; i < count; i++) {
    /* The pose only translates. */
    points[i] = vec3(points[i].x + pose.position.x, points[i].y + pose.position.y, points[i].z + pose.position.z);
    inward[i] = vec3(-normals[i].x, -normals[i].y, -normals[i].z);
  }
  OK(vxs_voxelmap_get_penetrations(map, points, inward, count, VXS_PENETRATION_LOCAL, v));
  vxs_voxelmap_query query;
  OK(vxs_voxelmap_query_init(&query, sizeof query));
  query.rule = VXS_PENETRATION_LOCAL;
  const vxs_voxelmap_body a = {map, at(0, 0, 0)};
  const vxs_pointshell_body b = {shell, pose};
  vxs_voxelmap_answer answer;
  OK(vxs_query_voxelmap(&a, &b, &query, workspace, &answer, contacts, 20000));
  CHECK(answer.answer == VXS_ANSWER_COMPLETE && answer.max_penetration == answer.penetration);
  double most = -INFINITY;
  for (size_t i = 0; i < count; i++) {
    expected += v[i] >= 0;
    if (v[i] > most) most = v[i];
  }
  /* Rounding may put a few samples into the next voxel. */
  const double s = info_of(map).voxel_size;
  CHECK(fabs((double)answer.count - (double)expected) <= 3 + 0.01 * (double)expected);
  CHECK(fabs(answer.penetration - most) <= 1.5 * s);
  vxs_vec3 force = {0, 0, 0};
  for (size_t i = 0; i < answer.count; i++) {
    const vxs_voxel_contact *c = &contacts[i];
    CHECK(i == 0 || c->penetration <= contacts[i - 1].penetration);
    CHECK(fabs(c->penetration - v[c->sample]) <= 1.5 * s);
    force = vec3(force.x + c->penetration * c->normal.x, force.y + c->penetration * c->normal.y,
                 force.z + c->penetration * c->normal.z);
  }
  CHECK(fabs(force.x - answer.wrench.force.x) + fabs(force.y - answer.wrench.force.y) < 1e-9);
  *touching += answer.count > 0;
}

int main(void) {
  vxs_shape *shape = ring(), *with = NULL, *loaded = NULL;
  vxs_pointshell *shell = NULL;
  vxs_workspace *workspace = NULL;
  uint64_t bytes[6];
  OK(vxs_shape_get_pointshell(shape, &shell));
  OK(vxs_workspace_create(&workspace));
  for (uint32_t form = 0; form < 6; form++) {
    vxs_voxelmap_options options;
    vxs_voxelmap *map = NULL, *again = NULL;
    OK(vxs_voxelmap_options_init(&options, sizeof options));
    options.form = form;
    options.resolution = 64;
    OK(vxs_voxelmap_create(shape, &options, &map));
    const vxs_voxelmap_info info = info_of(map);
    CHECK(info.form == form && info.surface_voxels > 1000 && info.interior_voxels > 1000);
    bytes[form] = info.bytes;
    size_t touching = 0, apart = 0;
    for (int i = 0; i < 40; i++) {
      const vxs_pose pose = at(0.05 * i, 0.01 * i, 0.003 * i);
      check_query(map, shell, pose, workspace, &touching);
      apart++;
    }
    CHECK(touching > 5 && touching < apart);
#ifdef VOXSHELL_ALLOCATION_COUNTER
    const vxs_voxelmap_body a = {map, at(0, 0, 0)};
    const vxs_pointshell_body b = {shell, at(0.3, 0, 0)};
    vxs_voxelmap_answer answer;
    uint64_t before = 0, after = 0;
    const vxs_status first = vxs_query_voxelmap(&a, &b, NULL, workspace, &answer, NULL, 0);
    OK(vxs_allocation_count(&before));
    CHECK(first == vxs_query_voxelmap(&a, &b, NULL, workspace, &answer, NULL, 0));
    OK(vxs_allocation_count(&after));
    CHECK(before == after);
#endif
    /* A shape keeps it in its file. */
    OK(vxs_shape_create_with_voxelmap(shape, map, &with));
    size_t size = 0;
    CHECK(vxs_shape_serialize(with, NULL, 0, &size) == VXS_TRUNCATED);
    unsigned char *file = malloc(size);
    OK(vxs_shape_serialize(with, file, size, &size));
    OK(vxs_shape_deserialize(file, size, &loaded));
    OK(vxs_shape_get_voxelmap(loaded, &again));
    const vxs_voxelmap_info other = info_of(again);
    CHECK(memcmp(&info, &other, sizeof info) == 0);
    free(file);
    OK(vxs_voxelmap_release(again));
    OK(vxs_shape_release(loaded));
    OK(vxs_shape_release(with));
    OK(vxs_voxelmap_release(map));
  }
  CHECK(bytes[VXS_VOXELMAP_LAYER_TREE] < bytes[VXS_VOXELMAP_LAYERS] / 3);
  CHECK(bytes[VXS_VOXELMAP_LAYERS] == bytes[VXS_VOXELMAP_SCALED] || bytes[VXS_VOXELMAP_LAYERS] < bytes[VXS_VOXELMAP_FLOAT]);
  OK(vxs_workspace_destroy(workspace));
  OK(vxs_pointshell_release(shell));
  OK(vxs_shape_release(shape));
  printf("voxelmap: ok\n");
  return 0;
}
