/* Haptics through the C API: every renderer with and without contact, both causalities, two threads, moving bodies,
 * and faults of a device and its hand. Each step is checked: finite, and within the limits. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "check.h"

enum { RENDERERS = 5 };
static const double DT = 1e-3;
/* Limits of the device in all tests. */
static const vxs_haptics_limits LIMITS = {8, 0.4, {2000, 20}, {40, 0.2}};

static vxs_shape *box(double x, double y, double z) {
  vxs_primitive primitive;
  vxs_cook_options options;
  vxs_shape *shape = NULL;
  OK(vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_BOX));
  primitive.size[0] = x, primitive.size[1] = y, primitive.size[2] = z;
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = runs_slowly() ? 16 : 40;
  OK(vxs_shape_create_primitive(&primitive, &options, &shape));
  return shape;
}

/* The tool is a cube of 4 cm above the top face of a block, which is the plane z = 0. */
static const double HALF = 0.02;

static vxs_haptics_settings settings_of(uint32_t renderer) {
  vxs_shape *cube = box(HALF, HALF, HALF);
  vxs_haptics_settings settings;
  OK(vxs_haptics_settings_init(&settings, sizeof settings, renderer, cube, 0.2, &LIMITS));
  CHECK(settings.struct_size == sizeof settings && settings.renderer == renderer && settings.mass == 0.2);
  CHECK(settings.coupling.stiffness[0] <= LIMITS.stiffness[0] && settings.limits.force == LIMITS.force);
  /* Inertia of a solid cube: m a²/6. */
  NEAR(settings.inertia[0], 0.2 * 4 * HALF * HALF / 6, 1e-6);
  OK(vxs_shape_release(cube));
  return settings;
}

static vxs_haptics *over_block(vxs_haptics_settings settings) {
  vxs_shape *cube = box(HALF, HALF, HALF), *block = box(0.1, 0.1, 0.1);
  const vxs_body body = {block, at(0, 0, -0.1)};
  vxs_haptics *haptics = NULL;
  OK(vxs_haptics_create(&settings, cube, &body, 1, &haptics));
  /* The haptics object keeps the shapes alive. */
  OK(vxs_shape_release(cube));
  OK(vxs_shape_release(block));
  return haptics;
}

static vxs_haptics *cube_over_block(uint32_t renderer) { return over_block(settings_of(renderer)); }

static vxs_device_state device_at(double x, double y, double z) {
  const vxs_device_state state = {at(x, y, z), {{0, 0, 0}, {0, 0, 0}}, 1, 0};
  return state;
}

static double length(vxs_vec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }
static bool has(uint32_t status, uint32_t flag) { return (status & flag) != 0; }

static vxs_haptics_output step(vxs_haptics *haptics, vxs_device_state state, double dt) {
  vxs_haptics_output output;
  OK(vxs_haptics_step(haptics, &state, dt, &output));
  /* Also false for NaN. */
  CHECK(length(output.wrench.force) <= LIMITS.force * (1 + 1e-12));
  CHECK(length(output.wrench.torque) <= LIMITS.torque * (1 + 1e-12));
  return output;
}

static void no_force(vxs_haptics_output output) {
  CHECK(length(output.wrench.force) == 0 && length(output.wrench.torque) == 0);
}

/* Moves the device straight from one height to another, `steps` long, with a round of the simulation per step. */
static vxs_haptics_output move(vxs_haptics *haptics, double from, double to, int steps) {
  vxs_haptics_output output = {.tool = {.qw = 1}};
  for (int i = 1; i <= steps; i++) {
    vxs_device_state state = device_at(0, 0, from + (to - from) * i / steps);
    state.twist.linear.z = (to - from) / (steps * DT);
    if (i == steps) state.twist.linear.z = 0;
    output = step(haptics, state, DT);
    OK(vxs_haptics_simulate(haptics, NULL));
  }
  return output;
}

static vxs_haptics_output rest(vxs_haptics *haptics, double z, int steps) { return move(haptics, z, z, steps); }

static void contact_and_free_space(uint32_t renderer) {
  vxs_haptics *haptics = cube_over_block(renderer);
  vxs_haptics_report report;
  OK(vxs_haptics_report_init(&report, sizeof report));
  rest(haptics, 0.05, 100);
  vxs_haptics_output output = rest(haptics, 0.05, 100);
  CHECK(output.contacts == 0 && length(output.wrench.force) < 1e-6 && length(output.wrench.torque) < 1e-6);
  move(haptics, 0.05, HALF - 0.003, 300);
  output = rest(haptics, HALF - 0.003, 600);
  /* 3 mm into the block: the force pushes straight out, without a sideways component. */
  CHECK(output.contacts > 0 && output.wrench.force.z > 1);
  CHECK(hypot(output.wrench.force.x, output.wrench.force.y) < 0.02 * output.wrench.force.z);
  CHECK(length(output.wrench.torque) < 0.05 * HALF * output.wrench.force.z);
  /* The displayed tool stays outside, except for the depth that a penalty needs. */
  CHECK(output.tool.position.z > HALF - 0.0015 && output.tool.position.z < HALF + 0.0005);
  CHECK(output.age >= 0 && output.age < 5 * DT);
  OK(vxs_haptics_simulate(haptics, &report));
  CHECK(report.clock > 0.9 && report.contacts > 0 && report.least_separation < 1e-4 && report.least_separation > -0.002);
  /* Deeper gives a larger force. */
  const double soft = output.wrench.force.z;
  output = move(haptics, HALF - 0.003, HALF - 0.006, 200);
  output = rest(haptics, HALF - 0.006, 400);
  CHECK(output.wrench.force.z > 1.2 * soft || has(output.status, VXS_HAPTICS_LIMITED));
  move(haptics, HALF - 0.006, 0.05, 300);
  output = rest(haptics, 0.05, 300);
  CHECK(output.contacts == 0 && length(output.wrench.force) < 1e-6);
  OK(vxs_haptics_release(haptics));
}

/* Invalid input in contact gives no force, sets the status flag, and causes no spike when valid input returns. */
static void faults(uint32_t renderer) {
  vxs_haptics *haptics = cube_over_block(renderer);
  const double in = HALF - 0.003;
  const vxs_device_state good = device_at(0, 0, in);
  move(haptics, 0.05, in, 300);
  const double held = rest(haptics, in, 600).wrench.force.z;
  CHECK(held > 1);
  for (int fault = 0; fault < 12; fault++) {
    vxs_device_state state = good;
    double dt = DT;
    uint32_t flag = VXS_HAPTICS_BAD_STATE;
    switch (fault) {
      case 0: state.pose.position.x = NAN; break;
      case 1: state.pose.position.z = INFINITY; break;
      case 2: state.pose.qw = NAN; break;
      case 3: state.pose.qw = 0; break;
      case 4: state.pose.qx = 0.5; break;
      case 5: state.twist.linear.y = NAN; break;
      case 6: state.twist.angular.z = -INFINITY; break;
      case 7: dt = 0, flag = VXS_HAPTICS_BAD_TIME; break;
      case 8: dt = -DT, flag = VXS_HAPTICS_BAD_TIME; break;
      case 9: dt = NAN, flag = VXS_HAPTICS_BAD_TIME; break;
      case 10: dt = 3600, flag = VXS_HAPTICS_BAD_TIME; break;
      default: state.engaged = 0, flag = VXS_HAPTICS_DISENGAGED; break;
    }
    vxs_haptics_output output = step(haptics, state, dt);
    no_force(output);
    CHECK(has(output.status, flag));
    double before = 0;
    for (int i = 0; i < 400; i++) {
      output = step(haptics, good, DT);
      OK(vxs_haptics_simulate(haptics, NULL));
      CHECK(length(output.wrench.force) <= before + 0.35);
      before = length(output.wrench.force);
    }
    CHECK(fabs(before - held) < 0.3 * held);
  }
  /* Both signs of a quaternion are the same pose. */
  vxs_device_state flipped = good;
  flipped.pose.qw = -1;
  CHECK(fabs(step(haptics, flipped, DT).wrench.force.z - held) < 0.3 * held);
  /* A jump of a metre within a millisecond. */
  const vxs_haptics_output jumped = step(haptics, device_at(1, 0, in), DT);
  no_force(jumped);
  CHECK(has(jumped.status, VXS_HAPTICS_TELEPORT));
  vxs_haptics_faults faults;
  OK(vxs_haptics_get_faults(haptics, &faults));
  CHECK(faults.bad_state == 7 && faults.bad_time == 4 && faults.teleport == 1);
  CHECK(fabs(faults.jump[0] - 1) < 1e-12 && faults.jump[1] < 1e-12 && faults.jump_time >= 0.005);
  /* In a world ten times as large as the device's motion, a hand moves the tool ten times as far. */
  OK(vxs_haptics_set_scale(haptics, 30));
  CHECK(!has(step(haptics, good, DT).status, VXS_HAPTICS_TELEPORT));
  OK(vxs_haptics_get_faults(haptics, &faults));
  CHECK(faults.teleport == 1);
  OK(vxs_haptics_release(haptics));
}

/* The device starts inside, and is reset inside: the force grows without a jump. */
static void entry_while_inside(uint32_t renderer) {
  vxs_haptics *haptics = cube_over_block(renderer);
  for (int round = 0; round < 2; round++) {
    double before = 0;
    for (int i = 0; i < 300; i++) {
      const vxs_haptics_output output = step(haptics, device_at(0, 0, HALF - 0.003), DT);
      OK(vxs_haptics_simulate(haptics, NULL));
      CHECK(length(output.wrench.force) <= before + 0.35);
      if (i > 0 && i < 20) CHECK(has(output.status, VXS_HAPTICS_RAMPING));
      before = length(output.wrench.force);
    }
    OK(vxs_haptics_reset(haptics, NULL));
  }
  OK(vxs_haptics_release(haptics));
}

/* The hand presses with a force and the device follows the commanded motion: it comes to rest on the block, and
 * follows the hand away. */
static void admittance(uint32_t renderer) {
  vxs_haptics *haptics = cube_over_block(renderer);
  const vxs_pose start = at(0, 0, 0.03);
  vxs_wrench hand = {{0, 0, -2}, {0, 0, 0}};
  vxs_haptics_motion motion;
  OK(vxs_haptics_reset(haptics, &start));
  for (int i = 0; i < 2500; i++) {
    OK(vxs_haptics_step_admittance(haptics, &hand, true, DT, &motion));
    OK(vxs_haptics_simulate(haptics, NULL));
    CHECK(isfinite(motion.pose.position.z) && length(motion.twist.linear) < 2);
  }
  CHECK(motion.contacts > 0 && motion.tool.position.z > HALF - 0.0015 && motion.tool.position.z < HALF + 0.0005);
  CHECK(fabs(motion.twist.linear.z) < 0.005 && motion.pose.position.z < motion.tool.position.z);
  /* Nothing but the grain of the samples pushes it along the face, without friction. */
  CHECK(length(motion.twist.linear) < (runs_slowly() ? 0.01 : 0.005));
  /* When the hand lets go, the device stays at its position. */
  const double height = motion.pose.position.z;
  for (int i = 0; i < 100; i++) OK(vxs_haptics_step_admittance(haptics, &hand, false, DT, &motion));
  NEAR(motion.pose.position.z, height, 1e-4);
  CHECK(has(motion.status, VXS_HAPTICS_DISENGAGED) && length(motion.twist.linear) == 0);
  hand.force.z = NAN;
  OK(vxs_haptics_step_admittance(haptics, &hand, true, DT, &motion));
  CHECK(has(motion.status, VXS_HAPTICS_BAD_STATE) && length(motion.twist.linear) == 0);
  NEAR(motion.pose.position.z, height, 1e-4);
  hand.force.z = 2;
  for (int i = 0; i < 500; i++) {
    OK(vxs_haptics_step_admittance(haptics, &hand, true, DT, &motion));
    OK(vxs_haptics_simulate(haptics, NULL));
  }
  CHECK(motion.contacts == 0 && motion.pose.position.z > height + 0.05);
  OK(vxs_haptics_release(haptics));
}

/* The block moves up to a hand that holds still, and away again. */
static void a_body_that_moves(uint32_t renderer) {
  vxs_haptics *haptics = cube_over_block(renderer);
  const vxs_twist up = {{0, 0, 0.05}, {0, 0, 0}};
  vxs_haptics_output output = rest(haptics, HALF + 0.01, 200);
  CHECK(output.contacts == 0);
  for (int i = 0; i <= 260; i++) {
    const vxs_pose pose = at(0, 0, -0.1 + 0.05 * DT * i);
    OK(vxs_haptics_set_body_pose(haptics, 0, &pose, &up));
    output = rest(haptics, HALF + 0.01, 1);
  }
  const vxs_pose there = at(0, 0, -0.1 + 0.013), away = at(0, 0, -0.5);
  OK(vxs_haptics_set_body_pose(haptics, 0, &there, NULL));
  output = rest(haptics, HALF + 0.01, 500);
  CHECK(output.contacts > 0 && output.wrench.force.z > 1 && output.tool.position.z > HALF + 0.0115);
  OK(vxs_haptics_set_body_pose(haptics, 0, &away, NULL));
  output = rest(haptics, HALF + 0.01, 400);
  CHECK(output.contacts == 0 && length(output.wrench.force) < 1e-6);
  OK(vxs_haptics_release(haptics));
}

/* The load on the block is the opposite of what the cube feels, and its impulse adds up; a soft block is pressed less; bodies
 * come and go; the coupling changes. */
static void bodies_at_run_time(uint32_t renderer) {
  vxs_haptics *haptics = cube_over_block(renderer);
  vxs_haptics_load load, later;
  vxs_haptics_rates rates;
  const double in = HALF - 0.003;
  move(haptics, 0.05, in, 300);
  vxs_haptics_output output = rest(haptics, in, 600);
  OK(vxs_haptics_get_load(haptics, 0, &load));
  CHECK(load.wrench.force.z < -1 && fabs(load.wrench.force.z + output.contact.force.z) < 1e-12);
  CHECK(fabs(output.contact.force.z - output.wrench.force.z) < 0.02 * output.wrench.force.z);
  output = rest(haptics, in, 500);
  OK(vxs_haptics_get_load(haptics, 0, &later));
  CHECK(fabs((later.impulse.force.z - load.impulse.force.z) / (500 * DT) / load.wrench.force.z - 1) < 0.02);
  const double hard = output.wrench.force.z;
  if (renderer != VXS_RENDERER_IMPULSE) {
    const vxs_haptics_feel soft = {0.01, 0};
    OK(vxs_haptics_set_body_feel(haptics, 0, &soft));
    CHECK(rest(haptics, in, 1000).wrench.force.z < 0.8 * hard);
    const vxs_haptics_feel as_before = {1, 0};
    OK(vxs_haptics_set_body_feel(haptics, 0, &as_before));
    CHECK(fabs(rest(haptics, in, 1000).wrench.force.z / hard - 1) < 0.05);
  }
  OK(vxs_haptics_set_body(haptics, 0, NULL));
  output = rest(haptics, in, 400);
  CHECK(output.contacts == 0 && length(output.wrench.force) < 1e-6);
  OK(vxs_haptics_get_load(haptics, 0, &load));
  CHECK(length(load.wrench.force) == 0 && load.impulse.force.z < later.impulse.force.z);
  OK(vxs_haptics_get_rates(haptics, &rates));
  CHECK(fabs(rates.servo * DT - 1) < 1e-6 && rates.steps == rates.rounds && rates.steps > 1000);
  OK(vxs_haptics_release(haptics));
}

/* Contacts that the simulation does not renew fade out. */
static void a_simulation_that_stalls(void) {
  vxs_haptics *haptics = cube_over_block(VXS_RENDERER_PENALTY);
  const double in = HALF - 0.003;
  move(haptics, 0.05, in, 300);
  CHECK(rest(haptics, in, 600).wrench.force.z > 1);
  vxs_haptics_output output = {.tool = {.qw = 1}};
  double most_change = 0, before = NAN;
  for (int i = 0; i < 1000; i++) {
    output = step(haptics, device_at(0, 0, in), DT);
    if (i > 0) most_change = fmax(most_change, fabs(output.wrench.force.z - before));
    before = output.wrench.force.z;
  }
  CHECK(has(output.status, VXS_HAPTICS_STALE) && output.age > 0.9 && most_change < 0.5);
  CHECK(length(output.wrench.force) < 0.05);
  OK(vxs_haptics_simulate(haptics, NULL));
  CHECK(length(step(haptics, device_at(0, 0, in), DT).wrench.force) < 0.5);
  OK(vxs_haptics_release(haptics));
}

struct slow_half {
  vxs_haptics *haptics;
  atomic_bool on;
  atomic_ulong rounds;
  unsigned long fresh;
};

static void *simulate(void *argument) {
  struct slow_half *half = argument;
  vxs_haptics_report report;
  OK(vxs_haptics_report_init(&report, sizeof report));
  while (half->on) {
    OK(vxs_haptics_simulate(half->haptics, &report));
    half->fresh += report.fresh;
    half->rounds++;
  }
  return NULL;
}

/* Steps on this thread, rounds on another: neither is ever refused. The steps use simulated time, so they wait for a
 * round occasionally; otherwise all contacts would be stale. */
static void two_threads(uint32_t renderer) {
  struct slow_half half = {cube_over_block(renderer), true, 0, 0};
  const int steps = runs_slowly() ? 300 : 1000;
  pthread_t thread;
  double most = 0;
  CHECK(pthread_create(&thread, NULL, simulate, &half) == 0);
  for (int i = 0; i < steps; i++) {
    /* Down into the block and up again, at any speed of the machine. */
    const double depth = 0.01 * sin(6.283185307 * i / 1000);
    const vxs_haptics_output output = step(half.haptics, device_at(0, 0, HALF - depth), DT);
    most = fmax(most, length(output.wrench.force));
    const unsigned long seen = half.rounds;
    while (i % 8 == 0 && half.rounds == seen) sched_yield();
  }
  half.on = false;
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(half.rounds > 0 && half.fresh > 0 && most > 0);
  OK(vxs_haptics_release(half.haptics));
}

/* State of the function that the library's own thread calls: it presses the cube into the block until `end` calls
 * were made (0: no end). */
struct served {
  int end;
  atomic_int calls;
  double first, last, most;
};

static bool serve(const vxs_wrench *wrench, uint32_t status, vxs_device_state *state, void *user) {
  struct served *served = user;
  const double force = length(wrench->force);
  if (served->calls == 0) served->first = force;
  served->last = force;
  served->most = fmax(served->most, force);
  CHECK(force <= LIMITS.force * (1 + 1e-12) && (status & VXS_HAPTICS_BAD_STATE) == 0 && state->engaged == 0);
  *state = device_at(0, 0, HALF - 0.003);
  return ++served->calls != served->end;
}

static void on_its_own_threads(void) {
  vxs_haptics *haptics = cube_over_block(VXS_RENDERER_PENALTY);
  const vxs_device_state state = device_at(0, 0, 0.5);
  const vxs_pose away = at(0, 0, -3), back = at(0, 0, -0.1);
  struct served served = {0, 0, -1, -1, 0};
  vxs_haptics_run_options options;
  vxs_haptics_run_report report;
  vxs_haptics_output output;
  OK(vxs_haptics_run_options_init(&options, sizeof options));
  OK(vxs_haptics_run_report_init(&report, sizeof report));
  options.lock_memory = 0;
  OK(vxs_haptics_stop(haptics, &report));
  CHECK(report.steps == 0 && report.running == 0);
  OK(vxs_haptics_run(haptics, &options, serve, &served));
  REFUSED(VXS_BUSY, "runs by itself", vxs_haptics_step(haptics, &state, DT, &output));
  REFUSED(VXS_BUSY, "runs by itself", vxs_haptics_simulate(haptics, NULL));
  REFUSED(VXS_BUSY, "runs by itself", vxs_haptics_run(haptics, &options, serve, &served));
  while (served.calls < 300) OK(vxs_haptics_set_body_pose(haptics, 0, &back, NULL));
  OK(vxs_haptics_get_run_report(haptics, &report));
  CHECK(report.running == 1 && report.steps > 200 && report.rounds > 0 && report.longest > 0);
  CHECK(report.scheduling == VXS_GOT_GRANTED || report.scheduling == VXS_GOT_REFUSED || report.scheduling == VXS_GOT_UNSUPPORTED);
  CHECK((report.scheduling == VXS_GOT_REFUSED) == (report.scheduling_error != 0));
  CHECK(report.memory == VXS_GOT_NOT_ASKED && report.memory_error == 0);
  OK(vxs_haptics_stop(haptics, &report));
  CHECK(report.running == 0 && report.steps >= 299 && served.first == 0 && served.last == 0 && served.most > 0.5);
  const int calls = served.calls;
  /* The caller may use both halves again. */
  OK(vxs_haptics_set_body_pose(haptics, 0, &away, NULL));
  OK(vxs_haptics_simulate(haptics, NULL));
  no_force(step(haptics, state, DT));
  CHECK(served.calls == calls);
  /* The device function ends the run; the object is released while its thread runs. */
  served = (struct served){40, 0, -1, -1, 0};
  OK(vxs_haptics_run(haptics, &options, serve, &served));
  do {
    OK(vxs_haptics_get_run_report(haptics, &report));
  } while (report.running != 0);
  OK(vxs_haptics_release(haptics));
  CHECK(served.calls == 41 && served.last == 0);
}

/* A ramp on the block, along x; `user` points to its slope. */
static double ramp(size_t body, const vxs_vec3 *point, void *user) {
  const double *slope = user;
  return body == 0 ? *slope * point->x : NAN;
}

static void heights_of_the_callers_own(void) {
  double slope = 0;
  vxs_haptics_settings settings = settings_of(VXS_RENDERER_GOD_OBJECT);
  CHECK(settings.surface.height == NULL && settings.surface.height_reach == 0);
  settings.surface.height = ramp, settings.surface.height_user = &slope, settings.surface.height_reach = 1e-4;
  vxs_haptics *haptics = over_block(settings);
  vxs_haptics_report report;
  OK(vxs_haptics_report_init(&report, sizeof report));
  move(haptics, 0.05, HALF - 0.003, 300);
  vxs_vec3 flat = {0, 0, 0};
  for (int i = 0; i < 4; i++) {
    const double slopes[] = {0, 0.3, -0.5, NAN};
    slope = slopes[i];
    const vxs_haptics_output output = rest(haptics, HALF - 0.003, 300);
    const vxs_vec3 force = output.wrench.force;
    OK(vxs_haptics_simulate(haptics, &report));
    if (i == 0) flat = force;
    CHECK(force.z > 1 && fabs(force.y) < 1e-3 * force.z);
    CHECK(has(output.status, VXS_HAPTICS_BAD_HEIGHT) == (i == 3));
    /* A height of NaN means a surface without bumps. */
    NEAR(force.x, i == 3 ? flat.x : -slope * force.z, 1e-3 * force.z);
    NEAR(length(force), length(flat), 1e-3 * length(flat));
  }
  CHECK(has(report.status, VXS_HAPTICS_BAD_HEIGHT));
  OK(vxs_haptics_release(haptics));
}

/* The hand moves 3 cm into the block and 5 cm aside within 5 ms. Rounds of one substep each report that the budget
 * ended them; the tool is never inside, and arrives. */
static void rounds_with_a_budget(void) {
  for (int by_time = 0; by_time < 2; by_time++) {
    vxs_haptics_settings settings = settings_of(VXS_RENDERER_GOD_OBJECT);
    CHECK(settings.budget.max_tests == 0 && settings.budget.max_nanoseconds == 0);
    if (by_time) settings.budget.max_nanoseconds = 1;
    else settings.budget.max_tests = 1;
    vxs_haptics *haptics = over_block(settings);
    vxs_haptics_report report;
    vxs_haptics_output output;
    int partial = 0;
    OK(vxs_haptics_report_init(&report, sizeof report));
    rest(haptics, 0.05, 10);
    for (int i = 0; i < 300; i++) {
      const double way = fmin(1, (i + 1) / 10.0);
      output = step(haptics, device_at(0.05 * way, 0, 0.05 - 0.06 * way), DT);
      OK(vxs_haptics_simulate(haptics, &report));
      partial += has(report.status, VXS_HAPTICS_PARTIAL);
      CHECK(output.tool.position.z > HALF && report.least_separation > 0);
    }
    CHECK(partial > 0 && !has(output.status, VXS_HAPTICS_PARTIAL));
    NEAR(output.tool.position.x, 0.05, 1e-4);
    NEAR(output.tool.position.z, HALF, 1e-4);
    CHECK(output.wrench.force.z > 1);
    OK(vxs_haptics_release(haptics));
  }
}

/* The tangent planes of a cube that is pressed onto a block; other renderers have none. */
static void constraints_of_a_contact(void) {
  vxs_haptics *haptics = cube_over_block(VXS_RENDERER_GOD_OBJECT);
  vxs_haptics_constraint found[256];
  size_t count = 7;
  OK(vxs_haptics_get_constraints(haptics, found, 256, &count));
  CHECK(count == 0);
  move(haptics, 0.05, HALF - 0.003, 100);
  rest(haptics, HALF - 0.003, 100);
  OK(vxs_haptics_get_constraints(haptics, found, 256, &count));
  CHECK(count >= 3 && count <= 256);
  for (size_t i = 0; i < count; i++) {
    NEAR(found[i].normal.z, -1, 1e-6);
    NEAR(found[i].point.z, 0, 1e-4);
    CHECK(found[i].body == 0 && found[i].gap >= 0 && found[i].gap < 1e-4);
  }
  size_t all = 0;
  CHECK(vxs_haptics_get_constraints(haptics, found, 1, &all) == VXS_TRUNCATED && all == count);
  CHECK(vxs_haptics_get_constraints(haptics, NULL, 0, &all) == VXS_TRUNCATED && all == count);
  OK(vxs_haptics_release(haptics));
  haptics = cube_over_block(VXS_RENDERER_PENALTY);
  rest(haptics, HALF - 0.003, 300);
  OK(vxs_haptics_get_constraints(haptics, found, 256, &count));
  CHECK(count == 0);
  OK(vxs_haptics_release(haptics));
}

/* A cube in a gap that is too narrow by 0.1 mm: the god-object stays where it is, and says that it is inside. */
static void a_god_object_without_room(void) {
  vxs_haptics_settings settings = settings_of(VXS_RENDERER_GOD_OBJECT);
  vxs_shape *cube = box(HALF, HALF, HALF), *block = box(0.1, 0.1, 0.1);
  const vxs_body bodies[2] = {{block, at(0, 0, -0.1 - HALF + 5e-5)}, {block, at(0, 0, 0.1 + HALF - 5e-5)}};
  vxs_haptics *haptics = NULL;
  vxs_haptics_report report;
  OK(vxs_haptics_report_init(&report, sizeof report));
  OK(vxs_haptics_create(&settings, cube, bodies, 2, &haptics));
  for (int i = 0; i < 300; i++) {
    const vxs_haptics_output output = step(haptics, device_at(0, 0, 0.002 * sin(0.05 * i)), DT);
    OK(vxs_haptics_simulate(haptics, &report));
    if (i < 2) continue;
    CHECK(has(output.status, VXS_HAPTICS_PENETRATING) && has(report.status, VXS_HAPTICS_PENETRATING));
    NEAR(output.tool.position.z, 0, 1e-5);
    NEAR(report.least_separation, -5e-5, 1e-5);
  }
  OK(vxs_haptics_release(haptics));
  OK(vxs_shape_release(cube));
  OK(vxs_shape_release(block));
}

int main(void) {
  for (uint32_t renderer = 0; renderer < RENDERERS; renderer++) {
    /* The exchange between the halves is the same for all renderers. */
    if (renderer == VXS_RENDERER_PENALTY || !runs_slowly()) two_threads(renderer);
    /* These bounds are those of the penalty renderer. */
    if (renderer != VXS_RENDERER_PENALTY) continue;
    contact_and_free_space(renderer);
    faults(renderer);
    entry_while_inside(renderer);
    admittance(renderer);
    a_body_that_moves(renderer);
  }
  bodies_at_run_time(VXS_RENDERER_PENALTY);
  if (!runs_slowly()) {
    bodies_at_run_time(VXS_RENDERER_GOD_OBJECT);
    bodies_at_run_time(VXS_RENDERER_IMPULSE);
  }
  a_simulation_that_stalls();
  heights_of_the_callers_own();
  rounds_with_a_budget();
  constraints_of_a_contact();
  a_god_object_without_room();
  on_its_own_threads();
  puts("haptics: ok");
  return 0;
}
