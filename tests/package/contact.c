/* A box stands 10 mm deep in the ground. Fails unless the library reports this depth. */
#include <stdio.h>
#include <voxshell/voxshell.h>

int main(void) {
  static vxs_contact contacts[1 << 15];
  vxs_body a = {NULL, {{0, 0.49, 0}, 0, 0, 0, 1}}, b = {NULL, {{0, 0, 0}, 0, 0, 0, 1}};
  vxs_shape *box = NULL, *ground = NULL;
  vxs_workspace *workspace = NULL;
  vxs_primitive what;
  size_t count = 0;
  vxs_primitive_init(&what, sizeof what, VXS_PRIMITIVE_BOX);
  what.size[0] = what.size[1] = what.size[2] = 0.5; /* half extents, m */
  if (vxs_shape_create_primitive(&what, NULL, &box) || vxs_shape_create_half_space((vxs_vec3){0, 1, 0}, 0, &ground) ||
      vxs_workspace_create(&workspace))
    return puts(vxs_last_error()), 1;
  a.shape = box, b.shape = ground;
  if (vxs_query_contacts(&a, &b, NULL, workspace, contacts, 1 << 15, &count))
    return puts(vxs_last_error()), 1;
  const double depth = count ? -contacts[0].separation : 0;
  printf("voxshell %s: %zu contacts, the deepest %.6f m\n", vxs_version_string(), count, depth);
  vxs_workspace_destroy(workspace);
  vxs_shape_release(box);
  vxs_shape_release(ground);
  return depth > 0.00999 && depth < 0.01001 ? 0 : 1;
}
