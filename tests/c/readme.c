/* The example of the README, which quotes the lines between the marks. The answer is compared with the lowest point of the
 * mesh, and the number of all contacts with the number in the comment. */
#include <math.h>
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
  vxs_query query;
  vxs_query_init(&query, sizeof query);
  query.max_contacts = 8; /* the deepest, and others that span the contact region; 0: all of them, here thousands */
  vxs_contact contacts[8];
  size_t count = 0;
  if (vxs_query_contacts(&on_the_ground, &below, &query, workspace, contacts, 8, &count))
    return puts(vxs_last_error()), 1;
  printf("%zu contacts, the deepest %.1f mm\n", count, count ? -1e3 * contacts[0].separation : 0);
  /* README end */
  vxs_aabb box;
  size_t all = 0;
  const int right = vxs_shape_get_bounds(knot, &box) == VXS_OK && count == 8 &&
                    fabs(contacts[0].separation - (box.min.y + on_the_ground.pose.position.y)) < 1e-6;
  const int thousands = vxs_query_contacts(&on_the_ground, &below, NULL, workspace, contacts, 8, &all) == VXS_TRUNCATED && all > 2000;
  if (!right || !thousands)
    printf("lowest point %g m, separation %g m, %zu contacts in all\n", box.min.y, contacts[0].separation, all);
  vxs_workspace_destroy(workspace);
  vxs_shape_release(knot);
  vxs_shape_release(ground);
  return right && thousands ? 0 : 1;
}
