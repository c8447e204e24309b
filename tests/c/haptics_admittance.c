/* A block in the hand is pushed onto another, with every renderer, for a device that measures force and follows
 * motion. */
#include <stdio.h>
#include <voxshell/voxshell.h>

static vxs_shape *cook(uint32_t kind) {
  vxs_primitive what;
  vxs_cook_options how;
  vxs_shape *shape = NULL;
  vxs_primitive_init(&what, sizeof what, kind);
  vxs_cook_options_init(&how, sizeof how);
  how.resolution = 16;
  if (vxs_shape_create_primitive(&what, &how, &shape)) puts(vxs_last_error());
  return shape;
}

static int push(uint32_t renderer, const vxs_shape *part, const vxs_shape *block, double height) {
  const vxs_body bodies[] = {{block, {{0, -height, 0}, 0, 0, 0, 1}}};
  const vxs_pose start = {{0, height + 0.05, 0}, 0, 0, 0, 1};
  vxs_haptics_settings settings;
  vxs_haptics *haptics = NULL;
  vxs_haptics_settings_init(&settings, sizeof settings, renderer, part, 0.5, NULL);
  settings.handle.mass = 1; /* what the controller wants to feel like in free space, kg */
  const vxs_status made = vxs_haptics_create(&settings, part, bodies, 1, &haptics);
  if (made) return puts(vxs_last_error()), 1;
  vxs_haptics_reset(haptics, &start); /* where the device is */

  vxs_haptics_motion motion = {.pose = {.qw = 1}, .tool = {.qw = 1}};
  for (int ms = 0; ms < 3000; ms += 3) {
    const vxs_wrench hand = {{0, -3, 0}, {0, 0, 0}}; /* from the device: here it presses down with 3 N */
    if (vxs_haptics_step_admittance(haptics, &hand, true, 3e-3, &motion)) break; /* any period; then send pose and twist */
    vxs_haptics_simulate(haptics, NULL); /* best on a thread of its own */
  }
  const double gap = motion.tool.position.y - height;
  printf("renderer %u: the tool rests %+.2f mm from the block, %u contacts\n", renderer, 1e3 * gap, motion.contacts);
  vxs_haptics_release(haptics);
  /* Voxels, here of 62 mm, hold the tool two of them away. */
  return gap > -5e-3 && gap < (renderer == VXS_RENDERER_VPS ? 0.16 : 5e-3) ? 0 : 1;
}

int main(void) {
  vxs_shape *part = cook(VXS_PRIMITIVE_BOX), *block = cook(VXS_PRIMITIVE_BOX);
  vxs_aabb bounds;
  int failed = 0;
  vxs_shape_get_bounds(part, &bounds);
  for (uint32_t renderer = VXS_RENDERER_VPS; renderer <= VXS_RENDERER_IMPULSE; renderer++)
    failed |= push(renderer, part, block, bounds.max.y);
  vxs_shape_release(part);
  vxs_shape_release(block);
  return failed;
}
