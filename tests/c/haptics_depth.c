/* How deep a quasi-static hand presses a tool into a body, with all defaults, and what it feels in free space. */
#include "check.h"

static const double DT = 1e-3;
static const double RADIUS = 0.005, PAST = 0.045;
/* Edge of the cells of the plate's field, which are also its voxels. */
static const double VOXEL = 0.04 / 64;

static double length(vxs_vec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

static vxs_shape *cooked(uint32_t kind, double x, double y, double z) {
  vxs_primitive primitive;
  vxs_cook_options options;
  vxs_shape *shape = NULL;
  OK(vxs_primitive_init(&primitive, sizeof primitive, kind));
  primitive.size[0] = x, primitive.size[1] = y, primitive.size[2] = z;
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 64;
  OK(vxs_shape_create_primitive(&primitive, &options, &shape));
  return shape;
}

/* A ball of 5 mm over a plate whose top face is the plane z = 0. */
static vxs_haptics *ball_over_plate(uint32_t renderer, const vxs_shape *ball, const vxs_shape *plate) {
  const vxs_body body = {plate, at(0, 0, -0.005)};
  vxs_haptics_settings settings;
  vxs_haptics *haptics = NULL;
  OK(vxs_haptics_settings_init(&settings, sizeof settings, renderer, ball, 0.05, NULL));
  OK(vxs_haptics_create(&settings, ball, &body, 1, &haptics));
  return haptics;
}

static vxs_haptics_output led_to(vxs_haptics *haptics, double z, double speed) {
  const vxs_device_state state = {at(1e-4, 2e-4, z), {{0, 0, speed}, {0, 0, 0}}, 1, 0};
  vxs_haptics_output output;
  OK(vxs_haptics_step(haptics, &state, DT, &output));
  OK(vxs_haptics_simulate(haptics, NULL));
  return output;
}

int main(void) {
  vxs_shape *ball = cooked(VXS_PRIMITIVE_SPHERE, RADIUS, 0, 0), *plate = cooked(VXS_PRIMITIVE_BOX, 0.02, 0.02, 0.005);
  for (uint32_t renderer = 0; renderer < 5; renderer++) {
    vxs_haptics *haptics = ball_over_plate(renderer, ball, plate);
    vxs_haptics_output output;
    double lowest = 1, felt = 0;
    /* Past voxels, the slower hand pulls the tool farther. */
    const double speed = renderer == VXS_RENDERER_VPS && !runs_slowly() ? 0.005 : 0.1;
    for (int i = 0; i < 300; i++) {
      const double t = i * DT, omega = 20;
      output = led_to(haptics, 0.1 + 0.02 * sin(omega * t), 0.02 * omega * cos(omega * t));
      felt = fmax(felt, length(output.wrench.force));
    }
    OK(vxs_haptics_reset(haptics, NULL));
    for (double z = RADIUS + 0.005; z > RADIUS - PAST; z -= speed * DT) {
      output = led_to(haptics, z, -speed);
      lowest = fmin(lowest, output.tool.position.z - RADIUS);
    }
    printf("renderer %u: %.3f mm at the lowest, %.3f N; free: %.3f N\n", renderer, lowest * 1e3, output.wrench.force.z, felt);
    OK(vxs_haptics_release(haptics));
    /* Penalty forces let it in by half a voxel; voxels hold it where no surfaces meet. */
    CHECK(lowest > (renderer == VXS_RENDERER_VPS ? VOXEL : -0.5 * VOXEL));
    CHECK(output.wrench.force.z > 2);
    CHECK(felt == 0);
  }
  OK(vxs_shape_release(ball));
  OK(vxs_shape_release(plate));
  puts("haptics_depth: ok");
  return 0;
}
