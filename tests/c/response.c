/* Contact forces for hosts with their own loop: against sums over the contacts, finite differences, and Newton's
 * laws. */
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

/* Applies a rotation vector after the present rotation. */
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

/* Rotated arbitrarily, with its lowest point this deep in the floor. */
static vxs_kinematics sunk(double depth) {
  const vxs_kinematics k = {turned(turned(at(0.3, RADIUS - depth, -0.2), 0, 0.4), 2, -0.9), {0.3, RADIUS - depth, -0.2}, {{0, 0, 0}, {0, 0, 0}}};
  return k;
}

static const vxs_kinematics STILL = {{{0, 0, 0}, 0, 0, 0, 1}, {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}};

/* One cluster for all contacts is as deep as the deepest and pushes along the mean normal. */
static void clusters(const vxs_shape *shape, const vxs_shape *floor, vxs_workspace *workspace) {
  const vxs_kinematics k = sunk(0.008);
  vxs_penalty penalty;
  vxs_response all, one, three;
  size_t count = 0;
  vxs_contact deepest;
  vxs_query query;
  OK(vxs_penalty_init(&penalty, sizeof penalty, STIFFNESS, 0));
  OK(vxs_query_penalty(DYNAMIC(shape, k), DYNAMIC(floor, STILL), &penalty, workspace, &all, NULL, &count));
  CHECK(count > 5);
  OK(vxs_query_init(&query, sizeof query));
  query.max_contacts = 1;
  OK(vxs_query_contacts(BODY(shape, k.pose), BODY(floor, STILL.pose), &query, workspace, &deepest, 1, &count));
  penalty.max_clusters = 1;
  OK(vxs_query_penalty(DYNAMIC(shape, k), DYNAMIC(floor, STILL), &penalty, workspace, &one, NULL, &count));
  const vxs_vec3 f = one.wrench.force;
  CHECK(count == 1 && f.y > 0);
  NEAR(sqrt(f.x * f.x + f.y * f.y + f.z * f.z), -STIFFNESS * deepest.separation, 1e-9);
  NEAR(fabs(f.x) + fabs(f.z), 0, 1e-6);
  penalty.max_clusters = 3;
  penalty.cluster_radius = 1e-6; /* all are farther apart */
  OK(vxs_query_penalty(DYNAMIC(shape, k), DYNAMIC(floor, STILL), &penalty, workspace, &three, NULL, &count));
  CHECK(count == 3 && three.wrench.force.y > f.y && three.wrench.force.y < all.wrench.force.y);
  penalty.cluster_radius = 1; /* none is */
  OK(vxs_query_penalty(DYNAMIC(shape, k), DYNAMIC(floor, STILL), &penalty, workspace, &three, NULL, &count));
  CHECK(count == 1 && three.wrench.force.y == f.y);
}

/* At rest the result equals that at one pose; in motion it is the mean of the forces at many poses. */
static void over_a_step(const vxs_shape *shape, const vxs_shape *floor, vxs_workspace *workspace) {
  enum { POSES = 500 };
  vxs_kinematics k = sunk(0.008);
  const vxs_sweep still = {{STILL.pose, STILL.pose}, {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}};
  vxs_sweep sweep = {{k.pose, k.pose}, {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}};
  vxs_penalty penalty;
  vxs_response once, mean, on_floor;
  size_t count = 0, again = 0;
  OK(vxs_penalty_init(&penalty, sizeof penalty, STIFFNESS, 4));
  OK(vxs_query_penalty(DYNAMIC(shape, k), DYNAMIC(floor, STILL), &penalty, workspace, &once, NULL, &count));
  OK(vxs_query_continuous_penalty(SWEPT(shape, sweep), SWEPT(floor, still), &penalty, workspace, &mean, NULL, &again));
  CHECK(count > 5 && again == count);
  double a[6], b[6];
  six(&once.wrench, a);
  six(&mean.wrench, b);
  for (int i = 0; i < 6; i++) NEAR(a[i], b[i], 1e-5 * STIFFNESS);
  for (int i = 0; i < 36; i++) NEAR(once.by_pose[i], mean.by_pose[i], 1e-3 * STIFFNESS * (double)count);

  /* From 10 mm above the floor to 15 mm within it in 10 ms. */
  const double from = -0.010, to = 0.015;
  sweep.motion.from = sunk(from).pose;
  sweep.motion.to = sunk(to).pose;
  sweep.twist.linear.y = -(to - from) / 0.01;
  penalty.midpoints = 20;
  OK(vxs_query_continuous_penalty(SWEPT(shape, sweep), SWEPT(floor, still), &penalty, workspace, &mean, &on_floor, &count));
  double sum[6] = {0, 0, 0, 0, 0, 0};
  for (int i = 0; i < POSES; i++) {
    k = sunk(from + (to - from) * (i + 0.5) / POSES);
    k.twist = sweep.twist;
    OK(vxs_query_penalty(DYNAMIC(shape, k), DYNAMIC(floor, STILL), &penalty, workspace, &once, NULL, NULL));
    six(&once.wrench, a);
    for (int j = 0; j < 6; j++) sum[j] += a[j] / POSES;
  }
  six(&mean.wrench, b);
  CHECK(count > 5 && b[1] > 1);
  for (int j = 0; j < 6; j++) NEAR(b[j], sum[j], 0.01 * b[1]);
  NEAR(on_floor.wrench.force.y, -b[1], 1e-9);

  /* Above the floor during the whole step: exactly zero. */
  sweep.motion.to = sweep.motion.from;
  OK(vxs_query_continuous_penalty(SWEPT(shape, sweep), SWEPT(floor, still), &penalty, workspace, &mean, NULL, &count));
  CHECK(count == 0 && mean.wrench.force.y == 0 && mean.by_pose[7] == 0);
}

/* With both roles the samples of each body push: the sum of the two single roles, whose counts add up. */
static void roles(const vxs_shape *shape, vxs_workspace *workspace) {
  vxs_kinematics k = sunk(0.008), other = STILL;
  other.pose = turned(at(0.31, -RADIUS + 0.004, -0.21), 1, 0.7);
  vxs_sweep from_rest = {{k.pose, k.pose}, {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}};
  const vxs_sweep still = {{other.pose, other.pose}, {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}};
  from_rest.motion.to.position.y -= 0.003;
  vxs_penalty penalty;
  vxs_response once[4], mean[4];
  size_t count[4], intervals[4];
  OK(vxs_penalty_init(&penalty, sizeof penalty, STIFFNESS, 4));
  CHECK(penalty.roles == VXS_ROLES_AUTO);
  const uint32_t all[4] = {VXS_ROLES_AUTO, VXS_ROLES_SHELL_OF_A, VXS_ROLES_SHELL_OF_B, VXS_ROLES_BOTH};
  for (int i = 0; i < 4; i++) {
    penalty.roles = all[i];
    OK(vxs_query_penalty(DYNAMIC(shape, k), DYNAMIC(shape, other), &penalty, workspace, &once[i], NULL, &count[i]));
    OK(vxs_query_continuous_penalty(SWEPT(shape, from_rest), SWEPT(shape, still), &penalty, workspace, &mean[i], NULL, &intervals[i]));
  }
  CHECK(count[1] > 2 && count[2] > 2 && count[3] == count[1] + count[2]);
  CHECK(intervals[1] > 2 && intervals[2] > 2 && intervals[3] == intervals[1] + intervals[2]);
  double a[6], b[6], sum[6];
  for (int way = 0; way < 2; way++) {
    const vxs_response *of = way == 0 ? once : mean;
    six(&of[1].wrench, a);
    six(&of[2].wrench, b);
    six(&of[3].wrench, sum);
    for (int i = 0; i < 6; i++) NEAR(sum[i], a[i] + b[i], 1e-9 * STIFFNESS);
    CHECK(a[1] > 0 && b[1] > 0 && a[1] != b[1]);
  }
  /* The impulses of both roles leave no contact of either. */
  const double mass = 2, inertia = 0.4 * mass * RADIUS * RADIUS;
  const vxs_mobility of_ball = {1 / mass, {1 / inertia, 1 / inertia, 1 / inertia, 0, 0, 0}}, fixed = {0, {0, 0, 0, 0, 0, 0}};
  vxs_impulse settings;
  vxs_impulses done;
  OK(vxs_impulse_init(&settings, sizeof settings, 0.01));
  k.twist.linear = vec3(0, -1, 0);
  settings.roles = VXS_ROLES_BOTH;
  OK(vxs_query_impulse(DYNAMIC(shape, k), &of_ball, DYNAMIC(shape, other), &fixed, &settings, workspace, &done));
  CHECK(done.resolved == 1 && done.count > 0);
  k.twist.linear = vec3(done.on_a.force.x / mass, -1 + done.on_a.force.y / mass, done.on_a.force.z / mass);
  k.twist.angular = vec3(done.on_a.torque.x / inertia, done.on_a.torque.y / inertia, done.on_a.torque.z / inertia);
  for (int i = 1; i < 4; i++) {
    settings.roles = all[i];
    OK(vxs_query_impulse(DYNAMIC(shape, k), &of_ball, DYNAMIC(shape, other), &fixed, &settings, workspace, &done));
    CHECK(done.resolved == 1 && done.on_a.force.y < 1e-6);
  }
}

static vxs_vec3 crossed(vxs_vec3 a, vxs_vec3 b) { return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }

/* After the impulses every contact separates within the step. */
static void impulses(const vxs_shape *shape, const vxs_shape *floor, vxs_workspace *workspace) {
  const double mass = 2, inertia = 0.4 * mass * RADIUS * RADIUS, dt = 0.01;
  const vxs_mobility of_ball = {1 / mass, {1 / inertia, 1 / inertia, 1 / inertia, 0, 0, 0}}, of_floor = {0, {0, 0, 0, 0, 0, 0}};
  vxs_kinematics k = sunk(0.003);
  k.twist.linear = vec3(0.1, -1, 0);
  k.twist.angular = vec3(0, 0, 3);
  vxs_impulse settings;
  vxs_impulses done;
  vxs_contact contacts[1024];
  size_t count = 0;
  OK(vxs_impulse_init(&settings, sizeof settings, dt));
  OK(vxs_query_impulse(DYNAMIC(shape, k), &of_ball, DYNAMIC(floor, STILL), &of_floor, &settings, workspace, &done));
  CHECK(done.resolved == 1 && done.count > 0 && done.on_a.force.y > mass * 1);
  NEAR(done.on_b.force.y, -done.on_a.force.y, 1e-12);
  OK(vxs_query_contacts(BODY(shape, k.pose), BODY(floor, STILL.pose), NULL, workspace, contacts, 1024, &count));
  CHECK(count > 1 && count <= 1024);
  const vxs_vec3 j = done.on_a.force, l = done.on_a.torque;
  const vxs_vec3 v = vec3(0.1 + j.x / mass, -1 + j.y / mass, j.z / mass);
  const vxs_vec3 w = vec3(l.x / inertia, l.y / inertia, 3 + l.z / inertia);
  for (size_t i = 0; i < count; i++) {
    const vxs_vec3 p = contacts[i].point_on_a, q = contacts[i].point_on_b;
    const vxs_vec3 arm = vec3(0.5 * (p.x + q.x) - k.center.x, 0.5 * (p.y + q.y) - k.center.y, 0.5 * (p.z + q.z) - k.center.z);
    const vxs_vec3 turn = crossed(w, arm), n = contacts[i].normal;
    const double parting = -((v.x + turn.x) * n.x + (v.y + turn.y) * n.y + (v.z + turn.z) * n.z);
    CHECK(parting >= -contacts[i].separation / dt - 1e-6);
  }
  /* Slower if a limit is set, zero if the contact separates anyway, and partly reversed with restitution. */
  const double fast = v.y;
  settings.max_speed = 0.05;
  OK(vxs_query_impulse(DYNAMIC(shape, k), &of_ball, DYNAMIC(floor, STILL), &of_floor, &settings, workspace, &done));
  CHECK(done.resolved == 1 && done.on_a.force.y > mass * 1 && done.on_a.force.y / mass - 1 < 0.5 * fast);
  settings.restitution = 0.8;
  OK(vxs_query_impulse(DYNAMIC(shape, k), &of_ball, DYNAMIC(floor, STILL), &of_floor, &settings, workspace, &done));
  CHECK(done.on_a.force.y / mass - 1 > 0.6);
  k.twist.linear.y = 10;
  OK(vxs_query_impulse(DYNAMIC(shape, k), &of_ball, DYNAMIC(floor, STILL), &of_floor, &settings, workspace, &done));
  CHECK(done.resolved == 1 && done.count == 0 && done.on_a.force.y == 0);
  /* Two fixed bodies. */
  k.twist.linear.y = 0;
  OK(vxs_query_impulse(DYNAMIC(shape, k), &of_floor, DYNAMIC(floor, STILL), &of_floor, &settings, workspace, &done));
  CHECK(done.resolved == 0 && done.count == 0);
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

  /* Rotated arbitrarily, 8 mm into the floor, about its centre. */
  vxs_kinematics k = {turned(turned(at(0.3, RADIUS - 0.008, -0.2), 0, 0.4), 2, -0.9), {0.3, RADIUS - 0.008, -0.2}, {{0, 0, 0}, {0, 0, 0}}};
  const vxs_kinematics still = {at(0, 0, 0), {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}};
  OK(vxs_query_penalty(DYNAMIC(shape, k), DYNAMIC(floor, still), &penalty, workspace, &on_ball, &on_floor, &count));
  OK(vxs_query_contacts(BODY(shape, k.pose), BODY(floor, still.pose), NULL, workspace, contacts, 1024, &again));
  CHECK(count > 5 && count == again);
  double depth = 0;
  for (size_t i = 0; i < count; i++) depth -= contacts[i].separation;
  /* Along the samples' normals, which are within a few degrees of the floor's; the sum points up. */
  const vxs_vec3 f = on_ball.wrench.force;
  CHECK(f.y > 0.85 * STIFFNESS * depth && f.y <= STIFFNESS * depth && fabs(f.x) + fabs(f.z) < 0.2 * f.y);
  /* The floor gets the opposite wrench, about another point. */
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
      OK(vxs_query_penalty(DYNAMIC(shape, moved), DYNAMIC(floor, still), &penalty, workspace, &other, NULL, NULL));
      six(&other.wrench, side == 0 ? ahead : behind);
    }
    for (int row = 0; row < 6; row++)
      NEAR(on_ball.by_pose[6 * row + column], (ahead[row] - behind[row]) / (2 * h), 2e-3 * STIFFNESS * (double)count * (row < 3 ? 1 : RADIUS));

    vxs_kinematics moving = k;
    double *const twist[6] = {&moving.twist.linear.x,  &moving.twist.linear.y,  &moving.twist.linear.z,
                              &moving.twist.angular.x, &moving.twist.angular.y, &moving.twist.angular.z};
    *twist[column] = 1e-3; /* too slow for any contact to pull */
    OK(vxs_query_penalty(DYNAMIC(shape, moving), DYNAMIC(floor, still), &penalty, workspace, &other, NULL, NULL));
    six(&other.wrench, ahead);
    six(&on_ball.wrench, behind);
    for (int row = 0; row < 6; row++)
      NEAR(on_ball.by_twist[6 * row + column], (ahead[row] - behind[row]) / 1e-3, 0.02 * (double)count * (row < 3 ? 5 : 5 * RADIUS));
  }
  CHECK(on_ball.by_pose[7] < -0.8 * STIFFNESS * (double)count && on_ball.by_twist[7] < -2.0 * (double)count);

  /* Averaged, out of reach, and with a force that begins above the surface. */
  penalty.average_from = 2;
  OK(vxs_query_penalty(DYNAMIC(shape, k), DYNAMIC(floor, still), &penalty, workspace, &other, NULL, NULL));
  NEAR(other.wrench.force.y, f.y * 2 / (double)count, 1e-9);
  k.pose.position.y = k.center.y = RADIUS + 0.001;
  OK(vxs_query_penalty(DYNAMIC(shape, k), DYNAMIC(floor, still), &penalty, workspace, &other, NULL, &count));
  CHECK(count == 0 && other.wrench.force.y == 0 && other.by_pose[7] == 0);
  penalty.offset = 0.01;
  OK(vxs_query_penalty(DYNAMIC(shape, k), DYNAMIC(floor, still), &penalty, workspace, &other, NULL, &count));
  CHECK(count > 0 && other.wrench.force.y > 0);

  clusters(shape, floor, workspace);
  over_a_step(shape, floor, workspace);
  impulses(shape, floor, workspace);
  roles(shape, workspace);
  OK(vxs_workspace_destroy(workspace));
  OK(vxs_shape_release(floor));
  OK(vxs_shape_release(shape));
  puts("response: ok");
  return 0;
}
