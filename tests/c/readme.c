/* The example of the README, which quotes the lines between the marks. */
#include <stdio.h>
#include <voxshell/voxshell.h>

int main(void) {
  /* README begin */
  vxs_shape *knot = NULL, *ground = NULL;
  vxs_workspace *workspace = NULL;
  vxs_primitive what;
  vxs_primitive_init(&what, sizeof what, VXS_PRIMITIVE_TORUS_KNOT); /* or vxs_shape_create_from_file("part.stl", …) */
  if (vxs_shape_create_primitive(&what, NULL, &knot) || vxs_shape_create_half_space((vxs_vec3){0, 1, 0}, 0, &ground) ||
      vxs_workspace_create(&workspace))
    return puts(vxs_last_error()), 1;
  vxs_body on_the_ground = {knot, {{0, 0.1, 0}, 0, 0, 0, 1}}, below = {ground, {{0, 0, 0}, 0, 0, 0, 1}};
  vxs_contact contacts[4096];
  size_t count = 0;
  vxs_query_contacts(&on_the_ground, &below, NULL, workspace, contacts, 4096, &count);
  printf("%zu contacts, the deepest %.1f mm\n", count, count ? -1e3 * contacts[0].separation : 0);
  /* README end */
  vxs_workspace_destroy(workspace);
  vxs_shape_release(knot);
  vxs_shape_release(ground);
  return count > 0 ? 0 : 1;
}
