/* A gear in the hand is pressed onto a torus, with every renderer, for a device that measures its pose and exerts
 * force. */
#include <math.h>
#include <stdio.h>
#include <voxshell/voxshell.h>

static vxs_shape *cook(uint32_t kind) {
  vxs_primitive what;
  vxs_cook_options how;
  vxs_shape *shape = NULL;
  vxs_primitive_init(&what, sizeof what, kind); /* or vxs_shape_create_from_file("part.stl", …) */
  vxs_cook_options_init(&how, sizeof how);
  how.resolution = 64;
  if (vxs_shape_create_primitive(&what, &how, &shape)) puts(vxs_last_error());
  return shape;
}

static int press(uint32_t renderer, const vxs_shape *gear, const vxs_shape *torus) {
  const vxs_haptics_limits device = {10, 1, {2000, 20}, {50, 0.5}}; /* from its data sheet: N, N·m, N/m, … */
  const vxs_body bodies[] = {{torus, {{0, 0, 0}, 0, 0, 0, 1}}};
  vxs_haptics_settings settings;
  vxs_haptics *haptics = NULL;
  vxs_haptics_settings_init(&settings, sizeof settings, renderer, gear, 0.2, &device);
  const vxs_status made = vxs_haptics_create(&settings, gear, bodies, 1, &haptics);
  if (made) return puts(vxs_last_error()), 1;

  vxs_haptics_output out = {0};
  for (int ms = 0; ms < 1500; ms++) { /* here a scripted hand: down for a second, then still */
    const double height = 0.3 - 1e-4 * fmin(ms, 1000), speed = ms < 1000 ? -0.1 : 0;
    vxs_device_state state = {{{0, height, 0}, 0, 0, 0, 1}, {{0, speed, 0}, {0, 0, 0}}, 1, 0};
    if (vxs_haptics_step(haptics, &state, 1e-3, &out)) break; /* 1 kHz, the device's thread; then send out.wrench */
    if (ms % 3 == 0) vxs_haptics_simulate(haptics, NULL);      /* as fast as it can, best on a thread of its own */
  }
  printf("renderer %u: %5.2f N up, %u contacts, status %#x\n", renderer, out.wrench.force.y, out.contacts, out.status);
  vxs_haptics_release(haptics);
  return out.wrench.force.y > 1 && out.wrench.force.y <= device.force ? 0 : 1;
}

int main(void) {
  vxs_shape *gear = cook(VXS_PRIMITIVE_GEAR), *torus = cook(VXS_PRIMITIVE_TORUS);
  int failed = 0;
  for (uint32_t renderer = VXS_RENDERER_VPS; renderer <= VXS_RENDERER_IMPULSE; renderer++)
    failed |= press(renderer, gear, torus);
  vxs_shape_release(gear);
  vxs_shape_release(torus);
  return failed;
}
