/* Rows of: bodies and settings of haptics at run time. */

ROWS(vxs_haptics_get_load) {
  vxs_haptics *haptics = new_haptics(), *kept = haptics;
  size_t index = 0;
  OUTPUT(vxs_haptics_load, load);
#define CALL vxs_haptics_get_load(haptics, index, load)
  HANDLE(haptics, haptics);
  INVALID(index, 1, "index is 1; expected less than 1");
  INVALID(index, SIZE_MAX, "index is 18446744073709551615; expected");
  POINTER(load);
  PANIC();
#undef CALL
  OK(vxs_haptics_release(kept));
}

ROWS(vxs_haptics_set_body) {
  vxs_shape *shape = tetrahedron();
  vxs_haptics *haptics = new_haptics(), *kept = haptics;
  size_t index = 0;
  vxs_body body_given = {shape, at(0, 0, -1)}, *body = NULL;
#define CALL vxs_haptics_set_body(haptics, index, body)
  OK(CALL);
  body = &body_given;
  OK(CALL);
  HANDLE(haptics, haptics);
  INVALID(index, 1, "index is 1; expected less than 1");
  INVALID(index, SIZE_MAX, "index is 18446744073709551615; expected");
  INVALID(body, (vxs_body *)((char *)bad.memory + 1), "body is 0x");
  HANDLE(body->shape, shape);
  VECTOR(body->pose.position);
  INVALID(body->pose.qw, 0, "body->pose.qx..qw is (0, 0, 0, 0), of norm 0; expected");
  PANIC();
#undef CALL
  OK(vxs_haptics_release(kept));
  OK(vxs_shape_release(shape));
}

ROWS(vxs_haptics_set_body_feel) {
  vxs_haptics *haptics = new_haptics(), *kept = haptics;
  size_t index = 0;
  vxs_haptics_feel feel_given = {0.5, 0.3}, *feel = &feel_given;
#define CALL vxs_haptics_set_body_feel(haptics, index, feel)
  OK(CALL);
  HANDLE(haptics, haptics);
  INVALID(index, 1, "index is 1; expected less than 1");
  INVALID(index, SIZE_MAX, "index is 18446744073709551615; expected");
  POINTER(feel);
  NUMBER(feel->stiffness);
  INVALID(feel->stiffness, 0, "feel->stiffness is 0; expected a positive");
  NUMBER(feel->friction);
  INVALID(feel->friction, -0.1, "feel->friction is -0.1; expected");
  PANIC();
#undef CALL
  OK(vxs_haptics_release(kept));
}

ROWS(vxs_haptics_set_body_motion) {
  vxs_haptics *haptics = new_haptics(), *kept = haptics;
  size_t index = 0;
  vxs_haptics_body_motion motion_given = {at(0, 0, 2), {{0, 0, 0}, {0, 0, 0}}, 1, {1, 1, 1, 0, 0, 0}, 0.01};
  vxs_haptics_body_motion *motion = &motion_given;
#define CALL vxs_haptics_set_body_motion(haptics, index, motion)
  OK(CALL);
  HANDLE(haptics, haptics);
  INVALID(index, 1, "index is 1; expected less than 1");
  INVALID(index, SIZE_MAX, "index is 18446744073709551615; expected");
  POINTER(motion);
  VECTOR(motion->pose.position);
  INVALID(motion->pose.qw, 0, "motion->pose.qx..qw is (0, 0, 0, 0), of norm 0; expected");
  VECTOR(motion->twist.linear);
  VECTOR(motion->twist.angular);
  NUMBER(motion->inverse_mass);
  INVALID(motion->inverse_mass, -1, "motion->inverse_mass is -1; expected");
  INVALID(motion->inverse_inertia[1], -1, "motion->inverse_inertia is [");
  INVALID(motion->inverse_inertia[3], NAN, "motion->inverse_inertia is [");
  INVALID(motion->inverse_inertia[0], 1e300, "motion->inverse_inertia is [");
  NUMBER(motion->period);
  INVALID(motion->period, 0, "motion->period is 0; expected a positive");
  PANIC();
#undef CALL
  OK(vxs_haptics_release(kept));
}

ROWS(vxs_haptics_set_settings) {
  vxs_shape *shape = tetrahedron();
  vxs_haptics *haptics = new_haptics(), *kept = haptics;
  vxs_haptics_settings settings_given, *settings = &settings_given;
  OK(vxs_haptics_settings_init(settings, sizeof *settings, VXS_RENDERER_PENALTY, shape, 1, NULL));
#define CALL vxs_haptics_set_settings(haptics, settings)
  OK(CALL);
  HANDLE(haptics, haptics);
  POINTER(settings);
  SIZED(settings);
  CHOICE(settings->renderer, 5);
  INVALID(settings->reflected_mass, 0, "settings->reflected_mass is 0; expected");
  INVALID(settings->limits.force, 0, "settings->limits.force is 0; expected");
  INVALID(settings->coupling.reach[1], 0, "settings->coupling.reach[1] is 0; expected");
  INVALID(settings->contact.stiffness, 0, "settings->contact.stiffness is 0; expected");
  INVALID(settings->timing.ramp, INFINITY, "settings->timing.ramp is inf; expected");
  INVALID(settings->surface.friction, -0.1, "settings->surface.friction is -0.1; expected");
  PANIC();
#undef CALL
  OK(vxs_haptics_release(kept));
  OK(vxs_shape_release(shape));
}

ROWS(vxs_haptics_get_rates) {
  vxs_haptics *haptics = new_haptics(), *kept = haptics;
  OUTPUT(vxs_haptics_rates, rates);
#define CALL vxs_haptics_get_rates(haptics, rates)
  HANDLE(haptics, haptics);
  POINTER(rates);
  PANIC();
#undef CALL
  OK(vxs_haptics_release(kept));
}
