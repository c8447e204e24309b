/* Calls of haptics: steps, rounds of the simulation, and runs on threads of the library. */
#ifndef VOXSHELL_TESTS_FUZZ_HAPTICS_H
#define VOXSHELL_TESTS_FUZZ_HAPTICS_H

#include "responses.h"

/* --- Making one ------------------------------------------------------------------------------------------------------------------ */

static double limit_value(struct stream *s, const char *name, double ordinary) {
  double value = one_in(s, 4) ? INFINITY : ordinary * (1 + 0.5 * uniform(s));
  if (odd(s)) value = note_real(s, name, edge_real(s));
  if (!(value >= 0)) s->bad = 1;
  return value;
}
static vxs_haptics_limits limits_value(struct stream *s) {
  vxs_haptics_limits l;
  l.force = limit_value(s, "limits.force", 8), l.torque = limit_value(s, "limits.torque", 0.5);
  l.stiffness[0] = limit_value(s, "limits.stiffness", 2000), l.stiffness[1] = limit_value(s, "limits.stiffness", 20);
  l.damping[0] = limit_value(s, "limits.damping", 40), l.damping[1] = limit_value(s, "limits.damping", 0.2);
  return l;
}

static void call_vxs_haptics_settings_init(struct stream *s) {
  vxs_haptics_settings *settings = OUTPUT(s, vxs_haptics_settings, "settings");
  const size_t size = struct_size(s, sizeof *settings);
  const uint32_t renderer = choice(s, "renderer", 5);
  const struct shape_slot tool = pick_shape(s, "tool");
  const double mass = real(s, "mass", 0.05, 1);
  const vxs_haptics_limits l = limits_value(s);
  const vxs_haptics_limits *limits = one_in(s, 3) ? NULL : memcpy(input(s, sizeof l), &l, sizeof l);
  if (limits == NULL) s->bad = 0;
  if (renderer > VXS_RENDERER_IMPULSE || !(mass > 0) || isinf(mass) || settings == NULL) s->bad = 1;
  if (!CALL(s, vxs_haptics_settings_init(settings, size, renderer, tool.handle, mass, limits))) return;
  if (settings->struct_size != size || settings->renderer != renderer) fail(s, "it filled in something else");
  digest_bytes(s, settings, offsetof(vxs_haptics_settings, surface));
}

/* Height function; with careless calls into the library if `user` says so. */
static double height(size_t body, const vxs_vec3 *point, void *user) {
  const int *kind = user;
  if (body > 3) return 0;
  switch (*kind) {
    case 0: return 1e-4 * sin(200 * point->x);
    case 1: return NAN;
    case 2: return 1e300 * point->y;
    default: return INFINITY;
  }
}

static const vxs_haptics_settings *settings_value(struct stream *s, vxs_haptics_settings *v) {
  static int height_kinds[4] = {0, 1, 2, 3};
  const uint32_t renderer = (uint32_t)note_number(s, "renderer", below(s, 5));
  vxs_haptics_limits l = {8, 0.5, {2000, 20}, {40, 0.2}};
  MUST(s, vxs_haptics_settings_init(v, sizeof *v, renderer, shared.shapes[0].handle, 0.2, one_in(s, 2) ? &l : NULL));
  if (one_in(s, 3)) v->coupling.saturation = (uint32_t)note_number(s, "coupling.saturation", below(s, 3));
  if (one_in(s, 3)) v->passivity = 0;
  if (one_in(s, 3)) v->surface.friction = note_real(s, "surface.friction", fabs(uniform(s)));
  if (one_in(s, 4)) v->surface.shading = note_real(s, "surface.shading", 0.1 * fabs(uniform(s)));
  if (one_in(s, 4)) v->surface.texture.height = 1e-4, v->surface.texture.wavelength = 1e-2;
  if (one_in(s, 4)) {
    v->surface.height = height;
    v->surface.height_user = &height_kinds[note_number(s, "surface.height", below(s, 4))];
    v->surface.height_reach = 1e-3;
  }
  if (one_in(s, 3)) v->budget.max_tests = note_number(s, "budget.max_tests", below(s, 500));
  if (one_in(s, 10)) v->budget.max_nanoseconds = note_number(s, "budget.max_nanoseconds", 1 + below(s, 100000));
  double *const reals[] = {&v->mass, &v->reflected_mass, &v->center_of_mass.x, &v->inertia[0], &v->inertia[1], &v->inertia[2], &v->inertia[4],
                           &v->limits.force, &v->limits.torque, &v->limits.stiffness[0], &v->limits.damping[1],
                           &v->coupling.stiffness[0], &v->coupling.stiffness[1], &v->coupling.damping[0],
                           &v->coupling.reach[0], &v->coupling.reach[1], &v->coupling.point.y, &v->contact.stiffness, &v->contact.damping,
                           &v->contact.offset, &v->contact.tolerance, &v->contact.restitution, &v->speed[0], &v->speed[1],
                           &v->timing.longest_step, &v->timing.stale_after, &v->timing.fade, &v->timing.ramp, &v->handle.mass,
                           &v->handle.inertia, &v->handle.damping[0], &v->surface.friction, &v->surface.shading,
                           &v->surface.texture.height, &v->surface.texture.wavelength, &v->surface.height_reach};
  static const char *const NAMES[] = {"mass", "reflected_mass", "center_of_mass", "inertia[0]", "inertia[1]", "inertia[2]", "inertia[4]",
                                      "limits.force", "limits.torque", "limits.stiffness[0]", "limits.damping[1]",
                                      "coupling.stiffness[0]", "coupling.stiffness[1]", "coupling.damping[0]",
                                      "coupling.reach[0]", "coupling.reach[1]", "coupling.point", "contact.stiffness", "contact.damping",
                                      "contact.offset", "contact.tolerance", "contact.restitution", "speed[0]", "speed[1]",
                                      "timing.longest_step", "timing.stale_after", "timing.fade", "timing.ramp", "handle.mass",
                                      "handle.inertia", "handle.damping[0]", "surface.friction", "surface.shading",
                                      "surface.texture.height", "surface.texture.wavelength", "surface.height_reach"};
  _Static_assert(COUNT_OF(reals) == COUNT_OF(NAMES), "a name each");
  /* A few at a time: one refused field hides the effects of the others. */
  if (odd(s) || one_in(s, 3)) {
    for (uint64_t left = below(s, 3); left > 0; left--) {
      const size_t i = below(s, COUNT_OF(reals));
      *reals[i] = note_real(s, NAMES[i], one_in(s, 2) ? edge_real(s) : *reals[i] * pow(10, 3 * uniform(s)));
    }
  }
  vary_struct_size(s, &v->struct_size);
  vary32(s, "renderer", &v->renderer);
  vary32(s, "coupling.saturation", &v->coupling.saturation);
  vary32(s, "contact.average_from", &v->contact.average_from);
  vary32(s, "contact.layers", &v->contact.layers);
  if (one_in(s, 3)) v->contact.max_clusters = (uint32_t)note_number(s, "contact.max_clusters", below(s, 20));
  vary32(s, "contact.max_clusters", &v->contact.max_clusters);
  if (one_in(s, 3)) v->metric = VXS_METRIC_STIFFNESS;
  vary32(s, "metric", &v->metric);
  if (one_in(s, 6)) v->detection = VXS_DETECTION_TRIANGLES;
  if (v->renderer == VXS_RENDERER_PENALTY && one_in(s, 6)) v->detection = VXS_DETECTION_HULLS;
  vary32(s, "detection", &v->detection);
  vary(s, "hulls_tolerance", &v->hulls_tolerance);
  return POINTER_TO(s, vxs_haptics_settings, "settings", 0, *v);
}

static void call_vxs_haptics_create(struct stream *s) {
  enum { MOST = 3 };
  vxs_haptics_settings v;
  const vxs_haptics_settings *settings = settings_value(s, &v);
  const struct shape_slot tool = pick_shape(s, "tool");
  const size_t most = below(s, MOST + 1);
  vxs_body *bodies = input(s, most * sizeof *bodies);
  int bad_body = 0;
  for (size_t i = 0; i < most; i++) {
    const int bad = s->bad;
    s->bad = 0;
    bodies[i].shape = pick_shape(s, "bodies[].shape").handle;
    bodies[i].pose = pose_value(s, "bodies[].pose", 0.8);
    require_pose(s, &bodies[i].pose);
    bad_body = bad_body || s->bad;
    s->bad = bad;
  }
  const size_t count = count_of(s, "body_count", most, most, sizeof *bodies);
  if (bad_body && count == most) s->bad = 1;
  if (count > 0 && odd(s)) bodies = NULL, s->bad = 1;
  vxs_haptics **haptics = OUTPUT(s, vxs_haptics *, "haptics");
  if (!CALL(s, vxs_haptics_create(settings, tool.handle, bodies, count, haptics))) return;
  struct haptics_slot *slot = &s->haptics[below(s, HAPTICS)];
  drop_haptics(s, slot);
  *slot = (struct haptics_slot){*haptics, v.limits.force, v.limits.torque, {{0, 0, 1}, 0, 0, 0, 1}, count,
                                v.budget.max_nanoseconds != 0, {(int)below(s, DEVICES), *haptics}};
}

static void call_vxs_haptics_release(struct stream *s) {
  struct haptics_slot *slot = &s->haptics[note_number(s, "slot", below(s, HAPTICS))];
  vxs_haptics *handle = handle_of(s, slot);
  if (handle == NULL) s->bad = 0;
  s->loose = slot->loose; /* the device of a run may be in a call with it */
  begin_release(s);
  if (CALL(s, vxs_haptics_release(handle)) && handle != NULL) {
    bury(s, handle);
    slot->handle = NULL;
  }
  end_release(s);
}

/* --- Steps and rounds -------------------------------------------------------------------------------------------------------------- */

static double step_value(struct stream *s) { return one_in(s, 4) ? real(s, "dt", 1e-4, 5e-3) : note_real(s, "dt", 1e-3); }

static double norm(vxs_vec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

static void check_wrench(struct stream *s, const vxs_wrench *w, const struct haptics_slot *slot) {
  check_all_finite(s, "wrench", &w->force.x, 6);
  if (norm(w->force) > slot->force * (1 + 1e-9)) fail(s, "the force is %g; the limit is %g", norm(w->force), slot->force);
  if (norm(w->torque) > slot->torque * (1 + 1e-9)) fail(s, "the torque is %g; the limit is %g", norm(w->torque), slot->torque);
}

static void call_vxs_haptics_step(struct stream *s) {
  struct haptics_slot *slot = pick_haptics(s);
  vxs_haptics *handle = handle_of(s, slot);
  vxs_device_state state = {slot->hand, {{0, 0, 0}, {0, 0, 0}}, 1, 0};
  /* The hand moves on from its position, mostly towards the bodies. */
  const double speed = one_in(s, 3) ? 3e-3 : 3e-4;
  state.pose.position.x += speed * (uniform(s) - 0.1 * state.pose.position.x);
  state.pose.position.y += speed * (uniform(s) - 0.1 * state.pose.position.y);
  state.pose.position.z += speed * (uniform(s) - 0.5 * state.pose.position.z);
  if (one_in(s, 30)) state.pose = pose_value(s, "state", 0.7);
  else if (slot != &shared.haptics) slot->hand = state.pose;
  if (one_in(s, 20)) state.engaged = 0;
  vary_vector(s, "state.pose.position", &state.pose.position);
  vary(s, "state.pose.qx", &state.pose.qx);
  vary_vector(s, "state.twist.linear", &state.twist.linear);
  vary_vector(s, "state.twist.angular", &state.twist.angular);
  vary32(s, "engaged", &state.engaged);
  vary32(s, "reserved", &state.reserved);
  const vxs_device_state *given = POINTER_TO(s, vxs_device_state, "state", 0, state);
  const double dt = step_value(s);
  vxs_haptics_output *output = OUTPUT(s, vxs_haptics_output, "output");
  if (!CALL(s, vxs_haptics_step(handle, given, dt, output))) return;
  check_wrench(s, &output->wrench, slot);
  check_pose(s, "tool", &output->tool);
  if (isnan(output->age)) fail(s, "its age is not a number");
  digest_bytes(s, output, sizeof *output);
}

static void call_vxs_haptics_step_admittance(struct stream *s) {
  struct haptics_slot *slot = pick_haptics(s);
  vxs_haptics *handle = handle_of(s, slot);
  vxs_wrench hand = {{2 * uniform(s), 2 * uniform(s), 2 * uniform(s)}, {0.1 * uniform(s), 0.1 * uniform(s), 0}};
  vary_vector(s, "hand.force", &hand.force);
  vary_vector(s, "hand.torque", &hand.torque);
  const vxs_wrench *given = POINTER_TO(s, vxs_wrench, "hand", 0, hand);
  const bool engaged = !one_in(s, 10);
  const double dt = step_value(s);
  vxs_haptics_motion *out = OUTPUT(s, vxs_haptics_motion, "motion");
  if (!CALL(s, vxs_haptics_step_admittance(handle, given, engaged, dt, out))) return;
  check_pose(s, "pose", &out->pose);
  check_pose(s, "tool", &out->tool);
  check_all_finite(s, "twist", &out->twist.linear.x, 6);
  if (isnan(out->age)) fail(s, "its age is not a number");
  digest_bytes(s, out, sizeof *out);
}

static void call_vxs_haptics_reset(struct stream *s) {
  struct haptics_slot *slot = pick_haptics(s);
  vxs_haptics *handle = handle_of(s, slot);
  const int bad = s->bad;
  const vxs_pose *to = one_in(s, 3) ? NULL : pose(s, "pose", 0.7);
  if (to == NULL) s->bad = bad;
  CALL(s, vxs_haptics_reset(handle, to));
}

static void call_vxs_haptics_set_scale(struct stream *s) {
  vxs_haptics *handle = handle_of(s, pick_haptics(s));
  const double scale = real(s, "scale", 0.1, 30);
  if (!(scale >= 1e-30 && scale <= VXS_MAX_QUANTITY)) s->bad = 1;
  CALL(s, vxs_haptics_set_scale(handle, scale));
}

static void call_vxs_haptics_get_faults(struct stream *s) {
  vxs_haptics *handle = handle_of(s, pick_haptics(s));
  vxs_haptics_faults *faults = OUTPUT(s, vxs_haptics_faults, "faults");
  if (!CALL(s, vxs_haptics_get_faults(handle, faults))) return;
  check_all_finite(s, "jump", faults->jump, 2);
  check_finite(s, "jump_time", faults->jump_time);
  if ((faults->jump_time > 0) != (faults->teleport > 0) && !s->loose) fail(s, "its counts are wrong");
}

/* A report that is null, prepared, or of the wrong size. */
#define REPORT_VALUE(s, report, init, optional)                                                  \
  do {                                                                                           \
    if ((report) != NULL) {                                                                      \
      MUST(s, init((report), sizeof *(report)));                                                 \
      if (odd(s)) (report)->struct_size = (uint32_t)struct_size(s, sizeof *(report));            \
      remember_output(s);                                                                        \
    } else if (!(optional)) {                                                                    \
      (s)->bad = 1;                                                                              \
    }                                                                                            \
  } while (0)

static void call_vxs_haptics_simulate(struct stream *s) {
  struct haptics_slot *slot = pick_haptics(s);
  vxs_haptics *handle = handle_of(s, slot);
  vxs_haptics_report *report = one_in(s, 2) ? NULL : OPTIONAL_OUTPUT(s, vxs_haptics_report, "report");
  REPORT_VALUE(s, report, vxs_haptics_report_init, 1);
  if (!CALL(s, vxs_haptics_simulate(handle, report)) || report == NULL) return;
  check_finite(s, "clock", report->clock);
  if (isnan(report->least_separation)) fail(s, "least_separation is not a number");
  check_all_finite(s, "wrench", &report->wrench.force.x, 6);
  digest_bytes(s, report, sizeof *report);
}

static void call_vxs_haptics_get_constraints(struct stream *s) {
  enum { MOST = 60 };
  struct haptics_slot *slot = pick_haptics(s);
  vxs_haptics *handle = handle_of(s, slot);
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(vxs_haptics_constraint));
  vxs_haptics_constraint *constraints = list_output(s, "constraints", MOST, sizeof *constraints, capacity);
  size_t *count = OUTPUT(s, size_t, "count");
  if (!CALL(s, vxs_haptics_get_constraints(handle, constraints, capacity, count))) return;
  const size_t written = written_count(s, capacity, *count);
  check_rest(s, constraints, written, MOST, sizeof *constraints);
  for (size_t i = 0; i < written; i++) {
    check_vector(s, "a point", constraints[i].point);
    check_vector(s, "a normal", constraints[i].normal);
    check_range(s, "a gap", constraints[i].gap, 0, DBL_MAX);
    if (constraints[i].body >= slot->bodies) fail(s, "a constraint of no body");
  }
  digest_bytes(s, constraints, written * sizeof *constraints);
}

static void call_vxs_haptics_set_body_pose(struct stream *s) {
  struct haptics_slot *slot = pick_haptics(s);
  vxs_haptics *handle = handle_of(s, slot);
  const size_t index = note_number(s, "index", odd(s) ? edge_number(s) : below(s, slot->bodies + 1));
  if (index >= slot->bodies) s->bad = 1;
  const vxs_pose *to = pose(s, "pose", 0.7);
  vxs_twist t = twist_value(s, 0.2);
  const vxs_twist *twist = one_in(s, 2) ? NULL : memcpy(input(s, sizeof t), &t, sizeof t);
  if (twist != NULL) require_finite(s, t.linear), require_finite(s, t.angular);
  CALL(s, vxs_haptics_set_body_pose(handle, index, to, twist));
}

static size_t index_value(struct stream *s, const struct haptics_slot *slot) {
  const size_t index = note_number(s, "index", odd(s) ? edge_number(s) : below(s, slot->bodies + 1));
  if (index >= slot->bodies) s->bad = 1;
  return index;
}

static void call_vxs_haptics_get_load(struct stream *s) {
  struct haptics_slot *slot = pick_haptics(s);
  const vxs_haptics *handle = handle_of(s, slot);
  const size_t index = index_value(s, slot);
  vxs_haptics_load *load = OUTPUT(s, vxs_haptics_load, "load");
  if (!CALL(s, vxs_haptics_get_load(handle, index, load))) return;
  check_all_finite(s, "wrench", &load->wrench.force.x, 6);
  check_all_finite(s, "impulse", &load->impulse.force.x, 6);
}

static void call_vxs_haptics_set_body(struct stream *s) {
  struct haptics_slot *slot = pick_haptics(s);
  vxs_haptics *handle = handle_of(s, slot);
  const size_t index = index_value(s, slot);
  const int bad = s->bad;
  vxs_body b = {pick_shape(s, "body.shape").handle, pose_value(s, "body.pose", 0.8)};
  require_pose(s, &b.pose);
  const vxs_body *body = one_in(s, 3) ? NULL : memcpy(input(s, sizeof b), &b, sizeof b);
  if (body == NULL) s->bad = bad;
  CALL(s, vxs_haptics_set_body(handle, index, body));
}

static void call_vxs_haptics_set_body_feel(struct stream *s) {
  struct haptics_slot *slot = pick_haptics(s);
  vxs_haptics *handle = handle_of(s, slot);
  const size_t index = index_value(s, slot);
  vxs_haptics_feel f = {real(s, "stiffness", 0.1, 2), real(s, "friction", 0, 1)};
  if (!(f.stiffness >= 1e-30 && f.stiffness <= VXS_MAX_QUANTITY)) s->bad = 1;
  if (!(f.friction >= 0 && f.friction <= VXS_MAX_QUANTITY)) s->bad = 1;
  const vxs_haptics_feel *feel = POINTER_TO(s, vxs_haptics_feel, "feel", 0, f);
  CALL(s, vxs_haptics_set_body_feel(handle, index, feel));
}

static void call_vxs_haptics_set_body_motion(struct stream *s) {
  struct haptics_slot *slot = pick_haptics(s);
  vxs_haptics *handle = handle_of(s, slot);
  const size_t index = index_value(s, slot);
  const double light = fabs(uniform(s));
  vxs_haptics_body_motion m = {pose_value(s, "motion.pose", 0.7), twist_value(s, 0.2), light, {light, light, light, 0, 0, 0}, 0.005};
  require_pose(s, &m.pose);
  require_finite(s, m.twist.linear), require_finite(s, m.twist.angular);
  vary(s, "inverse_mass", &m.inverse_mass);
  if (!(m.inverse_mass >= 0 && m.inverse_mass <= VXS_MAX_QUANTITY)) s->bad = 1;
  vary(s, "inverse_inertia[0]", &m.inverse_inertia[0]);
  /* Rounding of zero is forgiven. */
  if (m.inverse_inertia[0] < 0 && m.inverse_inertia[0] > -1e-8) m.inverse_inertia[0] = 0;
  if (!(m.inverse_inertia[0] >= 0 && m.inverse_inertia[0] <= VXS_MAX_QUANTITY)) s->bad = 1;
  vary(s, "period", &m.period);
  if (!(m.period >= 1e-30 && m.period <= VXS_MAX_QUANTITY)) s->bad = 1;
  const vxs_haptics_body_motion *motion = POINTER_TO(s, vxs_haptics_body_motion, "motion", 0, m);
  CALL(s, vxs_haptics_set_body_motion(handle, index, motion));
}

static void call_vxs_haptics_set_settings(struct stream *s) {
  vxs_haptics_settings v;
  const vxs_haptics_settings *settings = settings_value(s, &v);
  struct haptics_slot *slot = pick_haptics(s);
  vxs_haptics *handle = handle_of(s, slot);
  if (!CALL(s, vxs_haptics_set_settings(handle, settings))) return;
  /* The step after the next round has the new limits, the one before it the old ones. */
  if (v.limits.force > slot->force) slot->force = v.limits.force;
  if (v.limits.torque > slot->torque) slot->torque = v.limits.torque;
}

static void call_vxs_haptics_get_rates(struct stream *s) {
  const vxs_haptics *handle = handle_of(s, pick_haptics(s));
  vxs_haptics_rates *rates = OUTPUT(s, vxs_haptics_rates, "rates");
  if (!CALL(s, vxs_haptics_get_rates(handle, rates))) return;
  check_finite(s, "clock", rates->clock);
  check_range(s, "servo", rates->servo, 0, DBL_MAX);
  check_range(s, "simulation", rates->simulation, 0, DBL_MAX);
}

/* --- Runs ------------------------------------------------------------------------------------------------------------------------------ */

static bool on_device(const vxs_wrench *wrench, uint32_t status, vxs_device_state *state, void *user) {
  const struct device *device = user;
  (void)status;
  if (!isfinite(norm(wrench->force)) || !isfinite(norm(wrench->torque))) {
    fprintf(stderr, "FAILED vxs_haptics_run: it gave a wrench that is not finite\n");
    _exit(1);
  }
  if (device->kind == STOPS_FROM_INSIDE) {
    const vxs_status stopped = vxs_haptics_stop(device->haptics, NULL), released = vxs_haptics_release(device->haptics);
    /* Not a valid handle while another thread is releasing it. */
    if ((stopped != VXS_BUSY && stopped != VXS_INVALID_HANDLE) || (released != VXS_BUSY && released != VXS_INVALID_HANDLE)) {
      fprintf(stderr, "FAILED vxs_haptics_run: its device was given %s by vxs_haptics_stop and %s by vxs_haptics_release\n",
              vxs_status_name(stopped), vxs_status_name(released));
      _exit(1);
    }
  }
  state->pose = (vxs_pose){{0, 0, 0.5}, 0, 0, 0, device->kind == SENDS_NAN ? NAN : 1};
  state->engaged = 1;
  return device->kind != ENDS_THE_RUN;
}

static void call_vxs_haptics_run(struct stream *s) {
  struct haptics_slot *slot = pick_haptics(s);
  vxs_haptics *handle = handle_of(s, slot);
  vxs_haptics_run_options o;
  MUST(s, vxs_haptics_run_options_init(&o, sizeof o));
  /* Neither real-time priority nor locked memory, because others use the machine too. */
  o.priority = 0, o.lock_memory = 0;
  if (one_in(s, 3)) o.period = note_real(s, "period", 1e-4 + 1e-3 * fabs(uniform(s)));
  vary_struct_size(s, &o.struct_size);
  if (odd(s)) o.priority = 100 + (uint32_t)below(s, 1000), s->bad = 1;
  vary(s, "period", &o.period);
  /* Shorter periods are accepted too, but threads that never sleep take all processor time. */
  if (o.period > 0 && o.period < 2e-5) o.period = 2e-5;
  if (one_in(s, 3)) o.coupling_thread = 1;
  note_number(s, "device", slot->device.kind);
  s->loose = 1;
  const vxs_haptics_device_fn call = odd(s) ? (s->bad = 1, NULL) : on_device;
  const vxs_haptics_run_options *options = memcpy(input(s, sizeof o), &o, sizeof o);
  if (CALL(s, vxs_haptics_run(handle, options, call, &slot->device)) && slot != &shared.haptics) slot->loose = 1;
}
static void check_run_report(struct stream *s, const vxs_haptics_run_report *report) {
  if (report == NULL) return;
  check_range(s, "latest", report->latest, 0, DBL_MAX);
  check_range(s, "longest", report->longest, 0, DBL_MAX);
  if (report->running > 1 || report->scheduling > VXS_GOT_UNSUPPORTED || report->late > report->steps) fail(s, "its counts are wrong");
}
static void call_vxs_haptics_get_run_report(struct stream *s) {
  struct haptics_slot *slot = pick_haptics(s);
  vxs_haptics *handle = handle_of(s, slot);
  vxs_haptics_run_report *report = OUTPUT(s, vxs_haptics_run_report, "report");
  REPORT_VALUE(s, report, vxs_haptics_run_report_init, 0);
  if (CALL(s, vxs_haptics_get_run_report(handle, report))) check_run_report(s, report);
}
static void call_vxs_haptics_stop(struct stream *s) {
  struct haptics_slot *slot = pick_haptics(s);
  vxs_haptics *handle = handle_of(s, slot);
  vxs_haptics_run_report *report = one_in(s, 2) ? NULL : OPTIONAL_OUTPUT(s, vxs_haptics_run_report, "report");
  REPORT_VALUE(s, report, vxs_haptics_run_report_init, 1);
  if (CALL(s, vxs_haptics_stop(handle, report))) check_run_report(s, report);
}

#endif
