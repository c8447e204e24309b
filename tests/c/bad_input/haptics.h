/* Rows of: haptics. haptics.c tests that invalid states and times are no failures. */

ROWS(vxs_haptics_settings_init) {
  vxs_shape *shape = tetrahedron(), *plane = NULL, *tool = shape;
  vxs_haptics_limits limits_given = {8, 0.5, {1000, 10}, {20, 0.1}}, *limits = &limits_given;
  size_t size = sizeof(vxs_haptics_settings);
  uint32_t renderer = VXS_RENDERER_GOD_OBJECT;
  double mass = 1;
  vxs_haptics_settings settings_given;
  vxs_haptics_settings *settings = &settings_given;
  OK(vxs_shape_create_half_space(vec3(0, 0, 1), 0, &plane));
#define CALL vxs_haptics_settings_init(settings, size, renderer, tool, mass, limits)
  OK(CALL);
  SIZE_OF(size, settings);
  CHOICE(renderer, 5);
  HANDLE(tool, shape);
  ROW(VXS_UNSUPPORTED, tool, plane, "tool has no mass properties");
  NUMBER(mass);
  INVALID(mass, 0, "mass is 0; expected a positive, finite mass");
  INVALID(mass, 1e-31, "mass is 1e-31; expected a positive, finite mass");
  INVALID(limits->force, 0, "limits->force is 0; expected");
  INVALID(limits->torque, NAN, "limits->torque is NaN; expected");
  INVALID(limits->stiffness[1], -1, "limits->stiffness[1] is -1; expected");
  INVALID(limits->damping[0], NAN, "limits->damping[0] is NaN; expected");
  INVALID(limits->force, 1e-31, "limits->force is 1e-31; expected");
  INVALID(limits, (vxs_haptics_limits *)((char *)bad.memory + 1), "limits is 0x");
  PANIC();
#undef CALL
  OK(vxs_shape_release(plane));
  OK(vxs_shape_release(shape));
}

ROWS(vxs_haptics_report_init) {
  size_t size = sizeof(vxs_haptics_report);
  OUTPUT(vxs_haptics_report, report);
#define CALL vxs_haptics_report_init(report, size)
  SIZE_OF(size, report);
  PANIC();
#undef CALL
}

static double flat(size_t body, const vxs_vec3 *point, void *user) {
  (void)body, (void)point, (void)user;
  return 0;
}

ROWS(vxs_haptics_create) {
  vxs_shape *shape = tetrahedron(), *kept = shape, *plane = NULL, *tool = shape;
  vxs_haptics_settings settings_given, *settings = &settings_given;
  vxs_body bodies_given[2] = {{shape, at(0, 0, 0)}, {shape, at(0, 0, 1)}}, *bodies = bodies_given;
  size_t body_count = 2;
  OUTPUT(vxs_haptics *, haptics);
  OK(vxs_shape_create_half_space(vec3(0, 0, 1), 0, &plane));
  OK(vxs_haptics_settings_init(settings, sizeof *settings, VXS_RENDERER_PENALTY, shape, 1, NULL));
#define CALL vxs_haptics_create(settings, tool, bodies, body_count, haptics)
  POINTER(settings);
  SIZED(settings);
  CHOICE(settings->renderer, 5);
  NUMBER(settings->mass);
  INVALID(settings->mass, 0, "settings->mass is 0; expected");
  INVALID(settings->mass, 1e-31, "settings->mass is 1e-31; expected");
  INVALID(settings->reflected_mass, 0, "settings->reflected_mass is 0; expected");
  LIMITED(settings->reflected_mass);
  INVALID(settings->center_of_mass.y, NAN, "settings->center_of_mass is (");
  INVALID(settings->center_of_mass.y, 1e300, "settings->center_of_mass is (");
  INVALID(settings->inertia[2], -1, "settings->inertia is [");
  INVALID(settings->inertia[4], NAN, "settings->inertia is [");
  INVALID(settings->inertia[0], 1e300, "settings->inertia is [");
  INVALID(settings->limits.force, 0, "settings->limits.force is 0; expected");
  INVALID(settings->limits.torque, NAN, "settings->limits.torque is NaN; expected");
  INVALID(settings->limits.stiffness[0], 1, "settings->coupling.stiffness[0] is ");
  INVALID(settings->coupling.stiffness[1], INFINITY, "settings->coupling.stiffness[1] is inf; expected");
  LIMITED(settings->coupling.stiffness[1]);
  INVALID(settings->coupling.damping[0], -1, "settings->coupling.damping[0] is -1; expected");
  LIMITED(settings->coupling.damping[0]);
  INVALID(settings->coupling.reach[1], 0, "settings->coupling.reach[1] is 0; expected");
  LIMITED(settings->coupling.reach[1]);
  INVALID(settings->coupling.point.x, NAN, "settings->coupling.point is (");
  INVALID(settings->coupling.point.z, 1e300, "settings->coupling.point is (");
  CHOICE(settings->coupling.saturation, 3);
  CHOICE(settings->metric, 2);
  CHOICE(settings->detection, 4);
  NUMBER(settings->hulls_tolerance);
  INVALID(settings->hulls_tolerance, -1, "settings->hulls_tolerance is -1; expected");
  INVALID(settings->contact.stiffness, 0, "settings->contact.stiffness is 0; expected");
  LIMITED(settings->contact.stiffness);
  INVALID(settings->contact.damping, -1, "settings->contact.damping is -1; expected");
  LIMITED(settings->contact.damping);
  NUMBER(settings->contact.offset);
  INVALID(settings->contact.average_from, 0, "settings->contact.average_from is 0; expected");
  INVALID(settings->contact.layers, 17, "settings->contact.layers is 17; expected 0 to 16");
  INVALID(settings->contact.max_clusters, 1025, "settings->contact.max_clusters is 1025; expected 0 to 1024");
  INVALID(settings->contact.tolerance, NAN, "settings->contact.tolerance is NaN; expected");
  LIMITED(settings->contact.tolerance);
  INVALID(settings->contact.restitution, 1.5, "settings->contact.restitution is 1.5; expected 0 to 1");
  INVALID(settings->speed[1], 0, "settings->speed[1] is 0; expected");
  LIMITED(settings->speed[1]);
  INVALID(settings->timing.longest_step, 0, "settings->timing.longest_step is 0; expected");
  LIMITED(settings->timing.longest_step);
  INVALID(settings->timing.stale_after, -1, "settings->timing.stale_after is -1; expected");
  LIMITED(settings->timing.stale_after);
  INVALID(settings->timing.fade, NAN, "settings->timing.fade is NaN; expected");
  LIMITED(settings->timing.fade);
  INVALID(settings->timing.ramp, INFINITY, "settings->timing.ramp is inf; expected");
  LIMITED(settings->timing.ramp);
  INVALID(settings->handle.mass, 0, "settings->handle.mass is 0; expected");
  LIMITED(settings->handle.mass);
  INVALID(settings->handle.inertia, NAN, "settings->handle.inertia is NaN; expected");
  LIMITED(settings->handle.inertia);
  INVALID(settings->handle.damping[1], -1, "settings->handle.damping[1] is -1; expected");
  LIMITED(settings->handle.damping[1]);
  INVALID(settings->surface.friction, -0.1, "settings->surface.friction is -0.1; expected");
  LIMITED(settings->surface.friction);
  INVALID(settings->surface.shading, INFINITY, "settings->surface.shading is inf; expected");
  LIMITED(settings->surface.shading);
  INVALID(settings->surface.texture.height, 1e-4, "settings->surface.texture.wavelength is 0; expected");
  LIMITED(settings->surface.texture.height);
  INVALID(settings->surface.texture.wavelength, NAN, "settings->surface.texture.wavelength is NaN; expected");
  LIMITED(settings->surface.texture.wavelength);
  settings->surface.height = flat, settings->surface.height_reach = 1e-4;
  INVALID(settings->spare_bodies, 65537, "settings->spare_bodies is 65537; expected 0 to 65536");
  INVALID(settings->surface.height_reach, 0, "settings->surface.height_reach is 0; expected");
  INVALID(settings->surface.height_reach, INFINITY, "settings->surface.height_reach is inf; expected");
  LIMITED(settings->surface.height_reach);
  HANDLE(tool, shape);
  /* Neither brings a pointshell. */
  bodies[0].shape = bodies[1].shape = plane;
  ROW(VXS_UNSUPPORTED, tool, plane, "pointshell");
  bodies[0].shape = bodies[1].shape = shape;
  ARRAY(bodies, body_count);
  HANDLE(bodies[1].shape, shape);
  VECTOR(bodies[1].pose.position);
  INVALID(bodies[0].pose.qw, 0, "bodies[0].pose.qx..qw is (0, 0, 0, 0), of norm 0; expected");
  POINTER(haptics);
  PANIC();
#undef CALL
  OK(vxs_shape_release(plane));
  OK(vxs_shape_release(kept));
}

ROWS(vxs_haptics_release) {
  vxs_haptics *haptics = NULL;
#define CALL vxs_haptics_release(haptics)
  OK(CALL);
  haptics = new_haptics();
  LIVE_HANDLE(haptics, haptics);
  PANIC();
  OK(CALL);
#undef CALL
}

ROWS(vxs_haptics_step) {
  vxs_haptics *haptics = new_haptics(), *kept = haptics;
  vxs_device_state state_given = {at(0, 0, 2), {{0, 0, 0}, {0, 0, 0}}, 1, 0}, *state = &state_given;
  double dt = 0.001;
  OUTPUT(vxs_haptics_output, output);
#define CALL vxs_haptics_step(haptics, state, dt, output)
  HANDLE(haptics, haptics);
  POINTER(state);
  INVALID(state->reserved, 7, "state->reserved is 7; expected 0");
  ANYTHING(dt); /* a flag of the output says what was wrong with it */
  POINTER(output);
  PANIC();
#undef CALL
  OK(vxs_haptics_release(kept));
}

ROWS(vxs_haptics_step_admittance) {
  vxs_haptics *haptics = new_haptics(), *kept = haptics;
  vxs_wrench hand_given = {{0, 0, -1}, {0, 0, 0}}, *hand = &hand_given;
  bool engaged = true;
  double dt = 0.001;
  OUTPUT(vxs_haptics_motion, motion);
#define CALL vxs_haptics_step_admittance(haptics, hand, engaged, dt, motion)
  HANDLE(haptics, haptics);
  POINTER(hand);
  ANYTHING(engaged); /* a bool has no third value */
  ANYTHING(dt);      /* a flag of the motion says what was wrong with it */
  POINTER(motion);
  PANIC();
#undef CALL
  OK(vxs_haptics_release(kept));
}

ROWS(vxs_haptics_reset) {
  vxs_haptics *haptics = new_haptics(), *kept = haptics;
  vxs_pose pose_given = at(0, 0, 2), *pose = NULL;
#define CALL vxs_haptics_reset(haptics, pose)
  OK(CALL);
  HANDLE(haptics, haptics);
  pose = &pose_given;
  VECTOR(pose->position);
  INVALID(pose->qx, NAN, "pose->qx..qw is (NaN, 0, 0, 1)");
  PANIC();
#undef CALL
  OK(vxs_haptics_release(kept));
}

ROWS(vxs_haptics_set_scale) {
  vxs_haptics *haptics = new_haptics(), *kept = haptics;
  double scale = 5;
#define CALL vxs_haptics_set_scale(haptics, scale)
  OK(CALL);
  HANDLE(haptics, haptics);
  NUMBER(scale);
  INVALID(scale, 0, "scale is 0; expected a positive, finite");
  INVALID(scale, -1, "scale is -1; expected a positive, finite");
  INVALID(scale, 1e-31, "scale is 1e-31; expected a positive, finite");
  PANIC();
#undef CALL
  OK(vxs_haptics_release(kept));
}

ROWS(vxs_haptics_get_faults) {
  vxs_haptics *haptics = new_haptics(), *kept = haptics;
  OUTPUT(vxs_haptics_faults, faults);
#define CALL vxs_haptics_get_faults(haptics, faults)
  HANDLE(haptics, haptics);
  POINTER(faults);
  PANIC();
#undef CALL
  OK(vxs_haptics_release(kept));
}

ROWS(vxs_haptics_simulate) {
  vxs_haptics *haptics = new_haptics(), *kept = haptics;
  vxs_haptics_report report_given, *report = &report_given;
#define CALL vxs_haptics_simulate(haptics, report)
  OK(vxs_haptics_report_init(report, sizeof *report));
  HANDLE(haptics, haptics);
  SIZED(report);
  PANIC();
#undef CALL
  OK(vxs_haptics_release(kept));
}

ROWS(vxs_haptics_set_body_pose) {
  vxs_haptics *haptics = new_haptics(), *kept = haptics;
  size_t index = 0;
  vxs_pose pose_given = at(0, 0, 2), *pose = &pose_given;
  vxs_twist twist_given = {{0, 0, 0}, {0, 0, 0}}, *twist = &twist_given;
#define CALL vxs_haptics_set_body_pose(haptics, index, pose, twist)
  OK(CALL);
  HANDLE(haptics, haptics);
  INVALID(index, 1, "index is 1; expected less than 1");
  INVALID(index, SIZE_MAX, "index is 18446744073709551615; expected");
  POSE(pose);
  VECTOR(twist->linear);
  VECTOR(twist->angular);
  PANIC();
#undef CALL
  OK(vxs_haptics_release(kept));
}

ROWS(vxs_haptics_get_constraints) {
  vxs_haptics *haptics = new_haptics(), *kept = haptics;
  vxs_haptics_constraint constraints_given[2], *constraints = watch(constraints_given, sizeof constraints_given);
  size_t capacity = 2;
  OUTPUT(size_t, count);
#define CALL vxs_haptics_get_constraints(haptics, constraints, capacity, count)
  HANDLE(haptics, haptics);
  OUTPUT_ARRAY(constraints, capacity);
  POINTER(count);
  PANIC();
#undef CALL
  OK(vxs_haptics_release(kept));
}

ROWS(vxs_haptics_run_options_init) {
  size_t size = sizeof(vxs_haptics_run_options);
  OUTPUT(vxs_haptics_run_options, options);
#define CALL vxs_haptics_run_options_init(options, size)
  SIZE_OF(size, options);
  PANIC();
#undef CALL
}

ROWS(vxs_haptics_run_report_init) {
  size_t size = sizeof(vxs_haptics_run_report);
  OUTPUT(vxs_haptics_run_report, report);
#define CALL vxs_haptics_run_report_init(report, size)
  SIZE_OF(size, report);
  PANIC();
#undef CALL
}

static bool no_device(const vxs_wrench *wrench, uint32_t status, vxs_device_state *state, void *user) {
  return wrench->force.x > status + state->pose.qw && user != NULL;
}

ROWS(vxs_haptics_run) {
  vxs_haptics *haptics = new_haptics(), *kept = haptics;
  vxs_haptics_run_options options_given, *options = &options_given;
  vxs_haptics_device_fn device = no_device;
  void *user = NULL;
  OK(vxs_haptics_run_options_init(options, sizeof *options));
#define CALL vxs_haptics_run(haptics, options, device, user)
  HANDLE(haptics, haptics);
  SIZED(options);
  INVALID(options->priority, 100, "options->priority is 100; expected 0 to 99");
  NUMBER(options->period);
  INVALID(options->period, 0, "options->period is 0; expected");
  INVALID(options->period, 1e-7, "options->period is 0.0000001; expected");
  INVALID(options->period, 10, "options->period is 10; expected");
  INVALID(options->period, 0.5, "options->period is 0.5; expected at most");
  POINTER(device);
  ANYTHING(user); /* handed back as it is */
  PANIC();
#undef CALL
  OK(vxs_haptics_release(kept));
}

ROWS(vxs_haptics_get_run_report) {
  vxs_haptics *haptics = new_haptics(), *kept = haptics;
  vxs_haptics_run_report report_given, *report = &report_given;
  OK(vxs_haptics_run_report_init(report, sizeof *report));
#define CALL vxs_haptics_get_run_report(haptics, report)
  HANDLE(haptics, haptics);
  POINTER(report);
  SIZED(report);
  PANIC();
#undef CALL
  OK(vxs_haptics_release(kept));
}

ROWS(vxs_haptics_stop) {
  vxs_haptics *haptics = new_haptics(), *kept = haptics;
  vxs_haptics_run_report report_given, *report = &report_given;
  OK(vxs_haptics_run_report_init(report, sizeof *report));
#define CALL vxs_haptics_stop(haptics, report)
  OK(CALL);
  HANDLE(haptics, haptics);
  SIZED(report);
  PANIC();
#undef CALL
  OK(vxs_haptics_release(kept));
}
