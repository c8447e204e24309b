/* The example of the README, which quotes the lines between the marks. The answer is compared with the lowest point of the
 * mesh. */
#include <math.h>
#include <stdio.h>
#include <voxshell/voxshell.h>

int main(void) {
  /* README begin */
  vxs_shape *knot = NULL, *ground = NULL;
  vxs_pair *pair = NULL;
  vxs_primitive what;
  vxs_primitive_init(&what, sizeof what, VXS_PRIMITIVE_TORUS_KNOT); /* or vxs_shape_create_from_file("part.stl", …) */
  if (vxs_shape_create_primitive(&what, NULL, &knot) || vxs_shape_create_half_space((vxs_vec3){0, 1, 0}, 0, &ground) ||
      vxs_pair_create(knot, ground, NULL, &pair))
    return puts(vxs_last_error()), 1;
  vxs_pair_step step = {.a.pose = {{0, 0.1, 0}, 0, 0, 0, 1}, .b.pose = {{0, 0, 0}, 0, 0, 0, 1}, .duration = 1.0 / 60};
  step.a.twist.linear.y = -9.81 / 60; /* velocities that the bodies would have in the step: here it has just begun to fall */
  vxs_manifolds found;
  if (vxs_pair_update(pair, &step, &found)) /* in each step; the points keep their ids, and your numbers in `user` */
    return puts(vxs_last_error()), 1;
  for (size_t i = 0; i < found.count; i++)
    for (size_t k = 0; k < found.data[i].count; k++)
      printf("point %llu: %.1f mm now, %.1f mm after the step\n", (unsigned long long)found.data[i].points[k].id,
             1e3 * found.data[i].points[k].separation, 1e3 * found.data[i].points[k].gap);
  /* README end */
  vxs_aabb box;
  double deepest = INFINITY;
  for (size_t i = 0; i < found.count; i++) {
    for (size_t k = 0; k < found.data[i].count; k++) deepest = fmin(deepest, found.data[i].points[k].separation);
  }
  const int right = vxs_shape_get_bounds(knot, &box) == VXS_OK && found.count > 0 &&
                    fabs(deepest - (box.min.y + step.a.pose.position.y)) < 1e-6;
  if (!right) printf("lowest point %g m, deepest separation %g m\n", box.min.y, deepest);
  vxs_pair_release(pair);
  vxs_shape_release(knot);
  vxs_shape_release(ground);
  return right ? 0 : 1;
}
