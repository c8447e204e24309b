/* Forces of contacts for those with a loop of their own: against sums over the contacts, finite differences, and Newton. */
#include "check.h"

static const double STIFFNESS = 300, RADIUS = 0.1;

static vxs_shape *ball(void) {
  vxs_primitive primitive;
  vxs_cook_options options;
  vxs_shape *shape = NULL;
  OK(vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_SPHERE));
  primitive.size[0] = RADIUS;
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 32;
  OK(vxs_shape_create_primitive(&primitive, &options, &shape));
  return shape;
}

static void six(const vxs_wrench *w, double out[6]) {
  const double all[6] = {w->force.x, w->force.y, w->force.z, w->torque.x, w->torque.y, w->torque.z};
  memcpy(out, all, sizeof all);
}

/* A rotation vector after what there is. */
static vxs_pose turned(vxs_pose p, int axis, double angle) {
  const double s = sin(0.5 * angle), c = cos(0.5 * angle);
  const double q[3] = {axis == 0 ? s : 0, axis == 1 ? s : 0, axis == 2 ? s : 0};
  const vxs_pose old = p;
  p.qx = c * old.qx + q[0] * old.qw + q[1] * old.qz - q[2] * old.qy;
  p.qy = c * old.qy + q[1] * old.qw + q[2] * old.qx - q[0] * old.qz;
  p.qz = c * old.qz + q[2] * old.qw + q[0] * old.qy - q[1] * old.qx;
  p.qw = c * old.qw - q[0] * old.qx - q[1] * old.qy - q[2] * old.qz;
  return p;
}

int main(void) {
  vxs_shape *shape = ball(), *floor = NULL;
  vxs_workspace *workspace = NULL;
  vxs_penalty penalty;
  vxs_response on_ball, on_floor, other;
  vxs_contact contacts[1024];
  size_t count = 0, again = 0;
  OK(vxs_shape_create_half_space(vec3(0, 1, 0), 0, &floor));
  OK(vxs_workspace_create(&workspace));
  OK(vxs_penalty_init(&penalty, sizeof penalty, STIFFNESS, 4));
  penalty.drag = 1;

  /* Turned somehow, 8 mm into the floor, about its centre. */
  vxs_kinematics k = {turned(turned(at(0.3, RADIUS - 0.008, -0.2), 0, 0.4), 2, -0.9), {0.3, RADIUS - 0.008, -0.2}, {{0, 0, 0}, {0, 0, 0}}};
  const vxs_kinematics still = {at(0, 0, 0), {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}};
  OK(vxs_query_penalty(shape, &k, floor, &still, &penalty, workspace, &on_ball, &on_floor, &count));
  OK(vxs_query_contacts(shape, &k.pose, floor, &still.pose, NULL, workspace, contacts, 1024, &again));
  CHECK(count > 5 && count == again);
  double depth = 0;
  for (size_t i = 0; i < count; i++) depth -= contacts[i].separation;
  /* Along the samples' normals, which are within a few degrees of the floor's; the sum is upwards. */
  const vxs_vec3 f = on_ball.wrench.force;
  CHECK(f.y > 0.85 * STIFFNESS * depth && f.y <= STIFFNESS * depth && fabs(f.x) + fabs(f.z) < 0.2 * f.y);
  /* What the floor gets is the opposite, about another point. */
  const vxs_vec3 g = on_floor.wrench.force, r = k.center;
  NEAR(g.x, -f.x, 1e-9);
  NEAR(g.y, -f.y, 1e-9);
  NEAR(g.z, -f.z, 1e-9);
  NEAR(on_floor.wrench.torque.z, -on_ball.wrench.torque.z - (r.x * f.y - r.y * f.x), 1e-9);
  NEAR(on_floor.wrench.torque.x, -on_ball.wrench.torque.x - (r.y * f.z - r.z * f.y), 1e-9);

  /* Gradients by pose and by twist, column by column. */
  const double h = 1e-6;
  for (int column = 0; column < 6; column++) {
    double ahead[6], behind[6];
    for (int side = 0; side < 2; side++) {
      const double d = side == 0 ? h : -h;
      vxs_kinematics moved = k;
      double *const center[3] = {&moved.center.x, &moved.center.y, &moved.center.z};
      double *const position[3] = {&moved.pose.position.x, &moved.pose.position.y, &moved.pose.position.z};
      if (column < 3) {
        *center[column] += d, *position[column] += d;
      } else {
        moved.pose = turned(moved.pose, column - 3, d);
      }
      OK(vxs_query_penalty(shape, &moved, floor, &still, &penalty, workspace, &other, NULL, NULL));
      six(&other.wrench, side == 0 ? ahead : behind);
    }
    for (int row = 0; row < 6; row++)
      NEAR(on_ball.by_pose[6 * row + column], (ahead[row] - behind[row]) / (2 * h), 2e-3 * STIFFNESS * (double)count * (row < 3 ? 1 : RADIUS));

    vxs_kinematics moving = k;
    double *const twist[6] = {&moving.twist.linear.x,  &moving.twist.linear.y,  &moving.twist.linear.z,
                              &moving.twist.angular.x, &moving.twist.angular.y, &moving.twist.angular.z};
    *twist[column] = 1e-3; /* too slow for any contact to pull */
    OK(vxs_query_penalty(shape, &moving, floor, &still, &penalty, workspace, &other, NULL, NULL));
    six(&other.wrench, ahead);
    six(&on_ball.wrench, behind);
    for (int row = 0; row < 6; row++)
      NEAR(on_ball.by_twist[6 * row + column], (ahead[row] - behind[row]) / 1e-3, 0.02 * (double)count * (row < 3 ? 5 : 5 * RADIUS));
  }
  CHECK(on_ball.by_pose[7] < -0.8 * STIFFNESS * (double)count && on_ball.by_twist[7] < -2.0 * (double)count);

  /* Averaged, out of reach, and with a force that begins before the surface. */
  penalty.average_from = 2;
  OK(vxs_query_penalty(shape, &k, floor, &still, &penalty, workspace, &other, NULL, NULL));
  NEAR(other.wrench.force.y, f.y * 2 / (double)count, 1e-9);
  k.pose.position.y = k.center.y = RADIUS + 0.001;
  OK(vxs_query_penalty(shape, &k, floor, &still, &penalty, workspace, &other, NULL, &count));
  CHECK(count == 0 && other.wrench.force.y == 0 && other.by_pose[7] == 0);
  penalty.offset = 0.01;
  OK(vxs_query_penalty(shape, &k, floor, &still, &penalty, workspace, &other, NULL, &count));
  CHECK(count > 0 && other.wrench.force.y > 0);

  OK(vxs_workspace_destroy(workspace));
  OK(vxs_shape_release(floor));
  OK(vxs_shape_release(shape));
  puts("response: ok");
  return 0;
}
