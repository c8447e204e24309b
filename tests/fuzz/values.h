/* Values for each kind of argument: ordinary ones, and sometimes one from the edges of its type. */
#ifndef VOXSHELL_TESTS_FUZZ_VALUES_H
#define VOXSHELL_TESTS_FUZZ_VALUES_H

#include "stream.h"

static const double EDGE_REALS[] = {
    0.0,     -0.0,    5e-324,  1e-310,  1e-300, 1e-150, 1e-60, 1e-38, 1e-30, 1e-20, 1e-12, 1e-9, 1e-6, 1e-3,      0.25,
    0.5,     1.0,     1.0000001, 1.5,   2.0,    3.14159265358979323846, 10, 100, 1e3, 1e4, 1e6, 1e9,  1e12, 1e15,  9.9e17,
    1e18,    1.0000000000000002e18,     1e19,   1e30,   1e37,  3.3e38, 1e39, 1e77, 1e150, 1e154, 1e160, 1e300,     DBL_MAX,
    INFINITY, NAN};
static const uint64_t EDGE_NUMBERS[] = {
    0,     1,       2,       3,         4,          5,          6,          7,          8,          9,   15,  16,  17,
    31,    32,      33,      63,        64,         65,         127,        128,        255,        256, 257, 999, 1000,
    65535, 65536,   1u << 20, 1u << 24, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0x100000000, 1ull << 53,
    (1ull << 63) - 1, 1ull << 63,       UINT64_MAX - 1,         UINT64_MAX};
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static inline double edge_real(struct stream *s) {
  const double value = EDGE_REALS[below(s, COUNT_OF(EDGE_REALS))];
  return one_in(s, 3) ? -value : value;
}

/* Returns a value in [low, high), or an edge value. */
static inline double real(struct stream *s, const char *name, double low, double high) {
  return note_real(s, name, odd(s) ? edge_real(s) : low + (high - low) * (0.5 + 0.5 * uniform(s)));
}
/* Changes a field sometimes, and notes it only then: most fields keep the value of _init. */
static inline void vary(struct stream *s, const char *name, double *field) {
  if (odd(s)) *field = note_real(s, name, edge_real(s));
}
static inline uint64_t edge_number(struct stream *s) { return EDGE_NUMBERS[below(s, COUNT_OF(EDGE_NUMBERS))]; }
static inline void vary32(struct stream *s, const char *name, uint32_t *field) {
  if (odd(s)) *field = (uint32_t)note_number(s, name, (uint32_t)edge_number(s));
}
static inline void vary64(struct stream *s, const char *name, uint64_t *field) {
  if (odd(s)) *field = note_number(s, name, edge_number(s));
}
/* Returns one of `choices` constants that start at 0, or an unknown one. */
static inline uint32_t choice(struct stream *s, const char *name, uint32_t choices) {
  uint32_t value = (uint32_t)below(s, choices);
  if (odd(s)) value = one_in(s, 2) ? choices : (uint32_t)edge_number(s);
  return (uint32_t)note_number(s, name, value);
}
/* Returns the size of a struct for its _init: bad unless it is right. */
static inline size_t struct_size(struct stream *s, size_t right) {
  size_t size = right;
  if (odd(s)) {
    const size_t sizes[] = {0, 4, right - 8, right - 1, right + 1, right + 8, 2 * right, UINT32_MAX, SIZE_MAX};
    size = sizes[below(s, COUNT_OF(sizes))];
    s->bad = 1;
  }
  return note_number(s, "size", size);
}
static inline void vary_struct_size(struct stream *s, uint32_t *field) {
  if (odd(s)) *field = (uint32_t)struct_size(s, *field);
}

/* Returns the stated number of elements of an array with at most `most` elements of `size` bytes; or so large a
 * number that they would not fit into the address space, which is bad. */
static inline size_t count_of(struct stream *s, const char *name, size_t count, size_t most, size_t size) {
  if (odd(s)) {
    const size_t fits = (size_t)PTRDIFF_MAX / size;
    const size_t counts[] = {0, most > 0, most, most > 0 ? most - 1 : 0, fits + 1, SIZE_MAX / size, SIZE_MAX / size + 1, SIZE_MAX};
    count = counts[below(s, COUNT_OF(counts))];
    if (count > fits) s->bad = 1;
  }
  return note_number(s, name, count);
}

static inline vxs_vec3 vector(struct stream *s, const char *name, double scale) {
  const double x = real(s, name, -scale, scale), y = real(s, name, -scale, scale), z = real(s, name, -scale, scale);
  return (vxs_vec3){x, y, z};
}
static inline void vary_vector(struct stream *s, const char *name, vxs_vec3 *v) {
  vary(s, name, &v->x), vary(s, name, &v->y), vary(s, name, &v->z);
}
/* Largest accepted coordinate or other physical number. NaN is bad too. */
static const double LARGEST = 1e18;
static inline void require_finite(struct stream *s, vxs_vec3 v) {
  if (!(fabs(v.x) <= LARGEST && fabs(v.y) <= LARGEST && fabs(v.z) <= LARGEST)) s->bad = 1;
}

static inline vxs_pose pose_value(struct stream *s, const char *name, double reach) {
  static const double HALF = 0.70710678118654752440;
  const vxs_vec3 p = {reach * uniform(s), reach * uniform(s), reach * uniform(s)};
  vxs_pose pose = {p, 0, 0, 0, 1};
  if (one_in(s, 4)) pose.qx = HALF, pose.qw = -HALF;
  if (one_in(s, 2)) {
    double q[4], norm = 0;
    for (int i = 0; i < 4; i++) q[i] = uniform(s) + 1e-3, norm += q[i] * q[i];
    norm = sqrt(norm);
    if (norm > 1e-3) pose.qx = q[0] / norm, pose.qy = q[1] / norm, pose.qz = q[2] / norm, pose.qw = q[3] / norm;
  }
  if (odd(s)) {
    const double factors[] = {1 + 5e-7, 1 - 5e-7, 1 + 2e-6, 1 - 2e-6, 0, -1, 2, 1e-160, 1e160};
    const double f = note_real(s, "scaled quaternion", factors[below(s, COUNT_OF(factors))]);
    pose.qx *= f, pose.qy *= f, pose.qz *= f, pose.qw *= f;
  }
  vary_vector(s, "position", &pose.position);
  vary(s, "qx", &pose.qx), vary(s, "qy", &pose.qy), vary(s, "qz", &pose.qz), vary(s, "qw", &pose.qw);
  note_text(s, name, "a pose with");
  note_real(s, "x", pose.position.x), note_real(s, "y", pose.position.y), note_real(s, "z", pose.position.z);
  note_real(s, "qx", pose.qx), note_real(s, "qy", pose.qy), note_real(s, "qz", pose.qz), note_real(s, "qw", pose.qw);
  return pose;
}
/* Requires a valid pose; only the steps of haptics accept others. */
static inline void require_pose(struct stream *s, const vxs_pose *p) {
  const double norm = sqrt(p->qx * p->qx + p->qy * p->qy + p->qz * p->qz + p->qw * p->qw);
  if (!(fabs(norm - 1) < 1.1e-6)) s->bad = 1;
  require_finite(s, p->position);
}
/* A pointer to `value`, or null, which is bad unless it is optional. */
#define POINTER_TO(s, type, name, optional, value) ((const type *)pointer_to((s), (name), (optional), &(value), sizeof(type)))
static inline const void *pointer_to(struct stream *s, const char *name, int optional, const void *value, size_t size) {
  if (odd(s)) {
    note_text(s, name, "null");
    /* What was bad may have been in the value, which the call does not get. */
    s->bad = !optional;
    return NULL;
  }
  return memcpy(input(s, size), value, size);
}
static inline const vxs_pose *pose(struct stream *s, const char *name, double reach) {
  const vxs_pose value = pose_value(s, name, reach);
  require_pose(s, &value);
  return POINTER_TO(s, vxs_pose, name, 0, value);
}

/* Returns a motion between near or distant poses. */
static inline vxs_motion motion_value(struct stream *s, const char *name, double reach) {
  vxs_motion motion;
  motion.from = motion.to = pose_value(s, name, reach);
  if (one_in(s, 3)) motion.to = pose_value(s, "to", reach);
  else if (!one_in(s, 4)) {
    motion.to.position.x += note_real(s, "to x +", 0.7 * uniform(s));
    motion.to.position.y += note_real(s, "to y +", 0.7 * uniform(s));
    motion.to.position.z += note_real(s, "to z +", 0.2 * uniform(s));
  }
  require_pose(s, &motion.from);
  require_pose(s, &motion.to);
  return motion;
}

/* --- Handles ------------------------------------------------------------------------------------------------------------------ */

enum kind { SHAPE, FIELD, POINTSHELL, VOXELMAP, WORKSPACE, HAPTIC, VOXTREE, HULLS };

enum { SHARED = 24 };
/* Objects that all streams use at once. */
static struct {
  struct shape_slot shapes[SHARED];
  size_t shape_count;
  struct form_slot field, shell, map, tree, hulls;
  vxs_workspace *workspace;
  struct haptics_slot haptics;
} shared;

/* Keeps a handle that was just released. */
static inline void bury(struct stream *s, void *handle) {
  const struct dead dead = {handle, atomic_fetch_add(&program.releases, 1)};
  s->dead[s->dead_count++ % DEAD] = dead;
}

/* Releases may run in parallel, but not beside calls with released handles. */
static inline void begin_release(struct stream *s) {
  if (!s->locked) pthread_rwlock_rdlock(&program.releasing);
}
static inline void end_release(struct stream *s) {
  if (!s->locked) pthread_rwlock_unlock(&program.releasing);
}

/* Returns null, a non-handle, a handle of another kind, or a released one: bad. */
static inline void *bad_handle(struct stream *s, const char *name, enum kind kind) {
  static const uint64_t not_a_handle[16] = {1, 2, 3, 0x58786853, 5};
  void *const junk = (void *)(uintptr_t)not_a_handle;
  s->bad = 1;
  switch (below(s, 6)) {
    case 0:
      note_text(s, name, "null");
      return NULL;
    case 1:
      note_text(s, name, "not aligned");
      return (char *)junk + 1;
    case 2:
      note_text(s, name, "of another kind");
      return kind == SHAPE ? (void *)shared.workspace : (void *)shared.shapes[0].handle;
    case 3:
      if (s->dead_count == 0) break;
      if (!s->locked) pthread_rwlock_wrlock(&program.releasing);
      s->locked = 1;
      const size_t kept = s->dead_count < DEAD ? s->dead_count : DEAD;
      const struct dead *dead = &s->dead[below(s, kept)];
      /* (A message outside the digest distinguishes the two.) */
      if (atomic_load(&program.releases) - dead->releases > 900) break;
      note_text(s, name, "released");
      return dead->handle;
    default: break;
  }
  note_text(s, name, "not a handle");
  return junk;
}

/* Returns a shape of the stream or a shared one; every second one has a pointshell, because without it a pair gives
 * no answer. If the handle is bad, all other members are zero. */
static inline struct shape_slot pick_shape(struct stream *s, const char *name) {
  struct shape_slot picked = {NULL, 0, 0, 0};
  if (odd(s)) {
    picked.handle = bad_handle(s, name, SHAPE);
    return picked;
  }
  const int samples = one_in(s, 2);
  const size_t i = below(s, SHAPES + shared.shape_count), j = below(s, samples ? 4 : shared.shape_count);
  if (i < SHAPES && s->shapes[i].handle != NULL && (!samples || s->shapes[i].samples > 0)) {
    note_number(s, name, i);
    return s->shapes[i];
  }
  note_text(s, name, "shared");
  note_number(s, "number", j);
  return shared.shapes[j];
}

static inline struct form_slot pick_form(struct stream *s, const char *name, enum kind kind) {
  const struct form_slot *slots = kind == FIELD      ? s->fields
                                  : kind == VOXELMAP ? s->maps
                                  : kind == VOXTREE  ? s->trees
                                  : kind == HULLS    ? s->hulls
                                                     : s->shells;
  struct form_slot picked = {NULL, 0};
  if (odd(s)) {
    picked.handle = bad_handle(s, name, kind);
    return picked;
  }
  const size_t i = note_number(s, name, below(s, FORMS));
  if (slots[i].handle != NULL) return slots[i];
  return kind == FIELD      ? shared.field
         : kind == VOXELMAP ? shared.map
         : kind == VOXTREE  ? shared.tree
         : kind == HULLS    ? shared.hulls
                            : shared.shell;
}

/* Returns a workspace of the stream, or the shared one, for which the answer may be VXS_BUSY. */
static inline vxs_workspace *pick_workspace(struct stream *s, size_t *segments_of) {
  *segments_of = SIZE_MAX;
  if (odd(s)) return bad_handle(s, "workspace", WORKSPACE);
  const size_t i = below(s, WORKSPACES);
  if (one_in(s, 40) || s->workspaces[i] == NULL) {
    note_text(s, "workspace", "shared");
    s->loose = 1;
    return shared.workspace;
  }
  *segments_of = note_number(s, "workspace", i);
  return s->workspaces[i];
}

static inline struct haptics_slot *pick_haptics(struct stream *s) {
  struct haptics_slot *slot = &s->haptics[note_number(s, "haptics", below(s, HAPTICS))];
  if (one_in(s, 24) || slot->handle == NULL) {
    note_text(s, "haptics", "shared");
    slot = &shared.haptics;
  }
  s->loose = slot->loose;
  return slot;
}
/* Returns the handle of a slot, or a bad one. */
static inline vxs_haptics *handle_of(struct stream *s, const struct haptics_slot *slot) {
  return odd(s) ? bad_handle(s, "haptics", HAPTIC) : slot->handle;
}

/* --- Slots take what calls made -------------------------------------------------------------------------------------------------- */

static inline void check_info(struct stream *s, const vxs_shape_info *info) {
  const double values[] = {info->voxel_size, info->lipschitz, info->field_error_max, info->field_error_rms, info->spacing};
  check_all_finite(s, "a number of its info", values, COUNT_OF(values));
  for (size_t i = 0; i < COUNT_OF(values); i++) {
    if (values[i] < 0) fail(s, "a number of its info is negative: %g", values[i]);
  }
  if (info->field_kind > VXS_FIELD_LAST || info->sign_rule > VXS_SIGN_OFFSET || info->forms > 3) {
    fail(s, "its info has an unknown constant");
  }
  if ((info->sample_count > 0) != ((info->forms & VXS_FORM_POINTSHELL) != 0)) fail(s, "its info counts no samples");
}

static inline struct shape_slot slot_of(struct stream *s, vxs_shape *shape) {
  vxs_shape_info info;
  MUST(s, vxs_shape_info_init(&info, sizeof info));
  MUST(s, vxs_shape_get_info(shape, &info));
  check_info(s, &info);
  return (struct shape_slot){shape, info.sample_count, info.tree_nodes, info.field_kind};
}

static inline void drop_shape(struct stream *s, struct shape_slot *slot) {
  if (slot->handle == NULL) return;
  begin_release(s);
  MUST(s, vxs_shape_release(slot->handle));
  bury(s, slot->handle);
  end_release(s);
  slot->handle = NULL;
}
static inline void drop_form(struct stream *s, struct form_slot *slot, enum kind kind) {
  if (slot->handle == NULL) return;
  begin_release(s);
  if (kind == FIELD) MUST(s, vxs_field_release(slot->handle));
  else if (kind == VOXELMAP) MUST(s, vxs_voxelmap_release(slot->handle));
  else if (kind == VOXTREE) MUST(s, vxs_voxtree_release(slot->handle));
  else if (kind == HULLS) MUST(s, vxs_hulls_release(slot->handle));
  else MUST(s, vxs_pointshell_release(slot->handle));
  bury(s, slot->handle);
  end_release(s);
  slot->handle = NULL;
}
static inline void drop_workspace(struct stream *s, size_t i) {
  if (s->workspaces[i] == NULL) return;
  begin_release(s);
  MUST(s, vxs_workspace_destroy(s->workspaces[i]));
  bury(s, s->workspaces[i]);
  end_release(s);
  s->workspaces[i] = NULL;
}
static inline void drop_haptics(struct stream *s, struct haptics_slot *slot) {
  if (slot->handle == NULL) return;
  begin_release(s);
  vxs_status status = vxs_haptics_release(slot->handle);
  /* While the device of a run is inside a call with it. */
  while (status == VXS_BUSY && slot->loose) {
    usleep(100);
    status = vxs_haptics_release(slot->handle);
  }
  MUST(s, status);
  bury(s, slot->handle);
  end_release(s);
  slot->handle = NULL;
}

/* Puts a shape that a call made into a slot. */
static inline void adopt_shape(struct stream *s, vxs_shape *shape) {
  if (shape == NULL) fail(s, "VXS_OK, but the shape is null");
  struct shape_slot *slot = &s->shapes[below(s, SHAPES)];
  const struct shape_slot made = slot_of(s, shape);
  digest_number(s, made.samples);
  digest_number(s, made.nodes);
  digest_number(s, made.field_kind);
  drop_shape(s, slot);
  *slot = made;
}

#endif
