/* The table of bad input: for every function of voxshell.h the rows of what it must refuse.
 *
 * A new function needs its rows, or bad_input_walk.c does not compile. To add them, in the file of its section:
 *
 *     ROWS(vxs_shape_create_ring) {
 *       double radius = 1;                  one variable for each argument, of its name, good to begin with;
 *       OUTPUT(vxs_shape *, shape);         an output that no row may touch, and `shape`, the pointer to it
 *     #define CALL vxs_shape_create_ring(radius, shape)
 *       LENGTH(radius);                     the rows that fit the kind of each argument (below), or
 *       ROW(VXS_TOO_LARGE, radius, 1e300, "bytes");
 *       POINTER(shape);
 *       PANIC();                            last: it poisons the handles that the call is given
 *     #undef CALL
 *     }
 *
 * A number needs a limit, which NUMBER, VECTOR, LENGTH and POSE check: nothing beyond VXS_MAX_COORDINATE or VXS_MAX_QUANTITY may
 * be taken. Where infinity stands for no limit, the rows say so one by one.
 *
 * Each row calls with one bad value, expects the status, a last error that starts with the function's name and contains a
 * text which names the argument, and all outputs as they were. The walk fails when an argument of a function is in no row
 * and not declared to take ANYTHING. */
#ifndef VOXSHELL_TESTS_ROWS_H
#define VOXSHELL_TESTS_ROWS_H

#include "../check.h"

/* --- The function whose rows are running ------------------------------------------------------------------------------- */

struct output {
  const void *memory;
  size_t size;
  unsigned char before[512];
};

static struct {
  const char *function;
  /* Names of the arguments that had a row, each with a space on both sides. */
  char seen[256];
  int rows;
  bool panicked;
  struct output outputs[8];
  int output_count;
} now;

static inline void *watch(void *memory, size_t size) {
  struct output *output = &now.outputs[now.output_count++];
  CHECK(now.output_count <= 8 && size <= sizeof output->before);
  memset(memory, 0x5a, size);
  memcpy(output->before, memory, size);
  output->memory = memory;
  output->size = size;
  return memory;
}

static inline bool seen(const char *argument) {
  char text[80];
  snprintf(text, sizeof text, " %s ", argument);
  return strstr(now.seen, text) != NULL;
}

/* Marks the argument as tested; it is the name at the start of the changed expression: `query` of `query->roles`. */
static inline void see(const char *changed) {
  char argument[64];
  size_t used = strlen(now.seen);
  snprintf(argument, sizeof argument, "%.*s", (int)strcspn(changed, "-.[ "), changed);
  CHECK(used + strlen(argument) + 3 < sizeof now.seen);
  if (!seen(argument)) snprintf(now.seen + used, sizeof now.seen - used, " %s ", argument);
}

static inline void expect(vxs_status expected, const char *text, vxs_status got, const char *call, const char *file,
                          int line) {
  size_t name = strlen(now.function);
  check_status(got, expected, text, call, file, line);
  const char *message = vxs_last_error();
  if (strncmp(message, now.function, name) != 0 || strncmp(message + name, ": ", 2) != 0) {
    fprintf(stderr, "%s:%d: \"%s\" does not begin with %s\n", file, line, message, now.function);
    exit(1);
  }
  for (int i = 0; i < now.output_count; i++) {
    const struct output *output = &now.outputs[i];
    if (memcmp(output->memory, output->before, output->size) != 0) {
      fprintf(stderr, "%s:%d: %s touched output %d\n", file, line, call, i);
      exit(1);
    }
  }
  now.rows++;
}

#define ROWS(function) static void rows_of_##function(void)

/* A pointer `name` to memory that no refused call may change. */
#define OUTPUT(type, name) \
  type name##_given;       \
  type *name = watch(&name##_given, sizeof name##_given)

/* --- One row ----------------------------------------------------------------------------------------------------------- */

/* Makes CALL with `changed` set to `value`, and restores the good value. `text` is part of the last error. */
#define ROW(status, changed, value, text)                               \
  do {                                                                  \
    unsigned char kept_[sizeof(changed)];                               \
    memcpy(kept_, &(changed), sizeof kept_);                            \
    changed = (value);                                                  \
    see(#changed);                                                      \
    expect((status), (text), CALL, #changed " = " #value, __FILE__, __LINE__); \
    memcpy(&(changed), kept_, sizeof kept_);                            \
  } while (0)

#define INVALID(changed, value, text) ROW(VXS_INVALID_ARGUMENT, changed, value, text)

/* --- The rows of each kind of argument --------------------------------------------------------------------------------- */

/* Every value is valid, or a wrong one cannot be detected. Give the reason beside it. */
#define ANYTHING(argument) ((void)(argument), see(#argument))

/* An input or output that may not be null, or misaligned. */
#define POINTER(pointer) INVALID(pointer, NULL, #pointer " is null; expected")

/* A number beyond the limits of the header, which are the same for all: VXS_MAX_COORDINATE, VXS_MAX_QUANTITY. */
#define LIMITED(number)                            \
  do {                                             \
    INVALID(number, 1.0001e18, #number " is 1");   \
    INVALID(number, 1e300, #number " is 1");       \
  } while (0)

/* A finite number. */
#define NUMBER(number)                                        \
  do {                                                        \
    INVALID(number, NAN, #number " is NaN; expected");        \
    INVALID(number, INFINITY, #number " is inf; expected");   \
    INVALID(number, -INFINITY, #number " is -inf; expected"); \
    INVALID(number, -1e300, #number " is -1");                \
    LIMITED(number);                                          \
  } while (0)

/* A positive number. */
#define LENGTH(length)                                                  \
  do {                                                                  \
    NUMBER(length);                                                     \
    INVALID(length, 0, #length " is 0; expected a positive, finite");   \
    INVALID(length, -1, #length " is -1; expected a positive, finite"); \
    INVALID(length, 1e-19, #length " is 1e-19; expected a positive, finite"); \
  } while (0)

/* A finite vector. */
#define VECTOR(vector)  \
  do {                  \
    NUMBER(vector.x);   \
    NUMBER(vector.y);   \
    NUMBER(vector.z);   \
  } while (0)

/* A vector of which only the direction matters; it must be finite. */
#define DIRECTION(vector)                                       \
  do {                                                          \
    INVALID(vector.x, NAN, #vector ".x is NaN; expected");      \
    INVALID(vector.y, INFINITY, #vector ".y is inf; expected"); \
  } while (0)

/* One of `count` constants that begin at 0. */
#define CHOICE(number, count)                                                \
  do {                                                                       \
    INVALID(number, (count), #number " is " #count "; expected");            \
    INVALID(number, UINT32_MAX, #number " is 4294967295; expected"); \
  } while (0)

/* A pose, by value. */
#define POSE_VALUE(pose)                                                                                     \
  do {                                                                                                       \
    VECTOR(pose.position);                                                                                   \
    INVALID(pose.qw, 1 + 1e-5, #pose ".qx..qw is (0, 0, 0, 1.00001), of norm 1.00001; expected a quaternion"); \
    INVALID(pose.qw, 0, #pose ".qx..qw is (0, 0, 0, 0), of norm 0; expected");                               \
    INVALID(pose.qx, NAN, #pose ".qx..qw is (NaN, 0, 0, 1)");                                                \
    INVALID(pose.qz, INFINITY, #pose ".qx..qw is (0, 0, inf, 1)");                                           \
  } while (0)

/* A pointer to a pose. */
#define POSE(pose)                                                                                            \
  do {                                                                                                        \
    POINTER(pose);                                                                                            \
    VECTOR(pose->position);                                                                                   \
    INVALID(pose->qw, 1 + 1e-5, #pose "->qx..qw is (0, 0, 0, 1.00001), of norm 1.00001; expected a quaternion"); \
    INVALID(pose->qw, 0, #pose "->qx..qw is (0, 0, 0, 0), of norm 0; expected");                              \
    INVALID(pose->qx, NAN, #pose "->qx..qw is (NaN, 0, 0, 1)");                                               \
    INVALID(pose->qz, INFINITY, #pose "->qx..qw is (0, 0, inf, 1)");                                          \
  } while (0)

/* A pointer to a struct with `struct_size`; whether it may be null is tested by the caller's row. */
#define SIZED(pointer)                                                                                                    \
  do {                                                                                                                    \
    INVALID(pointer->struct_size, 0, #pointer "->struct_size is 0; expected");                                            \
    INVALID(pointer->struct_size, sizeof *pointer - 1, #pointer "->struct_size is ");                                     \
    INVALID(pointer->struct_size, sizeof *pointer + 8, #pointer "->struct_size is ");                                     \
    INVALID(pointer->struct_size, UINT32_MAX, #pointer "->struct_size is 4294967295; expected");                          \
  } while (0)

/* `pointer` and `size` of an _init function. */
#define SIZE_OF(size, pointer)                               \
  do {                                                       \
    POINTER(pointer);                                        \
    INVALID(size, 0, "size is 0; expected");                 \
    INVALID(size, sizeof *pointer - 1, "size is ");          \
    INVALID(size, sizeof *pointer + 1, "size is ");          \
    INVALID(size, SIZE_MAX, "size is 18446744073709551615"); \
  } while (0)

/* An input array of `count` elements, which is not 0 now. */
#define ARRAY(array, count)                                                       \
  do {                                                                            \
    POINTER(array);                                                               \
    INVALID(count, SIZE_MAX, #count " is 18446744073709551615; expected at most"); \
  } while (0)

/* An output array with room for `capacity` elements, which is not 0 now. */
#define OUTPUT_ARRAY(array, capacity) ARRAY(array, capacity)

/* The name of a file. */
#define FILE_NAME(path)                            \
  do {                                             \
    POINTER(path);                                 \
    INVALID(path, "", "path is empty; expected");  \
  } while (0)

/* A handle of a kind that may be null. The bad values in `bad` are: already released, of another kind, not a handle,
 * poisoned. */
#define HANDLE_OR_NULL(handle, kind)                                                                                     \
  do {                                                                                                                   \
    LIVE_HANDLE(handle, kind);                                                                                           \
    if (bad.kind.poisoned != NULL) ROW(VXS_PANIC, handle, bad.kind.poisoned, #handle " is poisoned by a defect");         \
  } while (0)

/* A handle that may not be null either. */
#define HANDLE(handle, kind)        \
  do {                              \
    POINTER(handle);                \
    HANDLE_OR_NULL(handle, kind);   \
  } while (0)

/* A handle to be released: null and poisoned handles are valid. */
#define LIVE_HANDLE(handle, kind)                                                                                         \
  do {                                                                                                                    \
    ROW(VXS_INVALID_HANDLE, handle, bad.kind.released, #handle " was released before; expected a live");                   \
    ROW(VXS_INVALID_HANDLE, handle, bad.kind.other_kind, #handle " is a vxs_");                                            \
    ROW(VXS_INVALID_HANDLE, handle, (void *)bad.memory, #handle " is not a handle of this library");                               \
    ROW(VXS_INVALID_HANDLE, handle, (void *)((char *)bad.memory + 1), #handle " is not a handle of this library");         \
  } while (0)

/* --- A defect inside the library
 * --------------------------------------------------------------------------------------- */

#ifdef VOXSHELL_TEST_PANIC
/* Exists only in a library built for tests: the next call of this thread panics. */
void vxs_test_panic_in_next_call(void);

#define PANIC()                                                                          \
  do {                                                                                   \
    vxs_test_panic_in_next_call();                                                       \
    expect(VXS_PANIC, "a defect inside the library", CALL, "panic", __FILE__, __LINE__); \
    now.panicked = true;                                                                 \
  } while (0)
#else
#define PANIC() (now.panicked = true)
#endif

/* --- Bad handles ------------------------------------------------------------------------------------------------------- */

struct bad_handles {
  void *released, *other_kind, *poisoned;
};

static struct {
  struct bad_handles shape, field, pointshell, workspace, haptics, voxelmap, voxtree, hulls, batch, pair;
  /* Memory that a read through an invalid handle may touch. */
  double memory[8];
} bad;

static const vxs_vec3 TETRAHEDRON[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const uint32_t FACES[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

/* A shape with all forms. The caller releases it. */
static inline vxs_shape *tetrahedron(void) {
  vxs_shape *shape = NULL;
  vxs_cook_options options;
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 8;
  OK(vxs_shape_create_from_triangles(TETRAHEDRON, 4, FACES, 4, &options, &shape));
  return shape;
}

static inline vxs_field *field_of(const vxs_shape *shape) {
  vxs_field *field = NULL;
  OK(vxs_shape_get_field(shape, &field));
  return field;
}

static inline vxs_pointshell *pointshell_of(const vxs_shape *shape) {
  vxs_pointshell *pointshell = NULL;
  OK(vxs_shape_get_pointshell(shape, &pointshell));
  return pointshell;
}

/* Returns a map of the tetrahedron. */
static inline vxs_voxelmap *new_voxelmap(void) {
  vxs_voxelmap *voxelmap = NULL;
  vxs_voxelmap_options options;
  OK(vxs_voxelmap_options_init(&options, sizeof options));
  options.resolution = 8;
  OK(vxs_voxelmap_create_from_triangles(TETRAHEDRON, 4, FACES, 4, &options, &voxelmap));
  return voxelmap;
}

static inline vxs_workspace *new_workspace(void) {
  vxs_workspace *workspace = NULL;
  OK(vxs_workspace_create(&workspace));
  return workspace;
}

static inline vxs_voxtree *new_voxtree(void) {
  vxs_shape *shape = tetrahedron();
  vxs_voxtree_options options;
  vxs_voxtree *voxtree = NULL;
  OK(vxs_voxtree_options_init(&options, sizeof options, 0.2));
  OK(vxs_voxtree_create_from_shape(shape, &options, &voxtree));
  OK(vxs_shape_release(shape));
  return voxtree;
}

static inline vxs_hulls *new_hulls(void) {
  vxs_hulls *hulls = NULL;
  OK(vxs_hulls_create_from_triangles(TETRAHEDRON, 4, FACES, 4, NULL, &hulls));
  return hulls;
}

static inline vxs_batch *new_batch(void) {
  vxs_batch *batch = NULL;
  OK(vxs_batch_create(2, &batch));
  return batch;
}

/* Returns a pair of two tetrahedra. */
static inline vxs_pair *new_pair(void) {
  vxs_shape *shape = tetrahedron();
  vxs_pair *pair = NULL;
  OK(vxs_pair_create(shape, shape, NULL, &pair));
  OK(vxs_shape_release(shape));
  return pair;
}

/* Returns the tetrahedron as a tool over one at the origin. */
static inline vxs_haptics *new_haptics(void) {
  vxs_shape *shape = tetrahedron();
  vxs_body body = {shape, at(0, 0, 0)};
  vxs_haptics_settings settings;
  vxs_haptics *haptics = NULL;
  OK(vxs_haptics_settings_init(&settings, sizeof settings, VXS_RENDERER_PENALTY, shape, 1, NULL));
  OK(vxs_haptics_create(&settings, shape, &body, 1, &haptics));
  OK(vxs_shape_release(shape));
  return haptics;
}

static inline void make_bad_handles(void) {
  vxs_shape *shape = tetrahedron();
  bad.shape.other_kind = new_workspace();
  bad.field.other_kind = bad.pointshell.other_kind = bad.workspace.other_kind = bad.haptics.other_kind = shape;
  bad.voxelmap.other_kind = bad.voxtree.other_kind = bad.hulls.other_kind = bad.batch.other_kind = shape;
  bad.pair.other_kind = shape;
#ifdef VOXSHELL_TEST_PANIC
  vxs_contact contact;
  vxs_aabb bounds;
  double distance;
  size_t count;
  bool found;
  bad.shape.poisoned = tetrahedron();
  vxs_test_panic_in_next_call();
  CHECK(vxs_shape_get_bounds(bad.shape.poisoned, &bounds) == VXS_PANIC);
  bad.field.poisoned = field_of(shape);
  vxs_test_panic_in_next_call();
  CHECK(vxs_field_distance(bad.field.poisoned, vec3(0, 0, 0), &distance, NULL) == VXS_PANIC);
  bad.pointshell.poisoned = pointshell_of(shape);
  vxs_test_panic_in_next_call();
  CHECK(vxs_pointshell_get_samples(bad.pointshell.poisoned, NULL, NULL, 0, &count) == VXS_PANIC);
  bad.workspace.poisoned = new_workspace();
  vxs_test_panic_in_next_call();
  CHECK(vxs_query_distance(NULL, NULL, NULL, bad.workspace.poisoned, &contact, &found) == VXS_PANIC);
  bad.voxelmap.poisoned = new_voxelmap();
  vxs_test_panic_in_next_call();
  CHECK(vxs_voxelmap_get_info(bad.voxelmap.poisoned, NULL) == VXS_PANIC);
  bad.haptics.poisoned = new_haptics();
  vxs_test_panic_in_next_call();
  CHECK(vxs_haptics_simulate(bad.haptics.poisoned, NULL) == VXS_PANIC);
  bad.voxtree.poisoned = new_voxtree();
  vxs_test_panic_in_next_call();
  vxs_voxtree_info info;
  CHECK(vxs_voxtree_get_info(bad.voxtree.poisoned, &info) == VXS_PANIC);
  bad.hulls.poisoned = new_hulls();
  vxs_test_panic_in_next_call();
  CHECK(vxs_hulls_get_info(bad.hulls.poisoned, NULL) == VXS_PANIC);
  bad.pair.poisoned = new_pair();
  vxs_test_panic_in_next_call();
  CHECK(vxs_pair_reset(bad.pair.poisoned) == VXS_PANIC);
  bad.batch.poisoned = new_batch();
  vxs_test_panic_in_next_call();
  CHECK(vxs_query_contacts_batch(bad.batch.poisoned, NULL, 0, NULL, NULL, 0, &count) == VXS_PANIC);
#endif
  /* Released last, so that they are among the most recently released handles. */
  OK(vxs_field_release(bad.field.released = field_of(shape)));
  OK(vxs_pointshell_release(bad.pointshell.released = pointshell_of(shape)));
  OK(vxs_workspace_destroy(bad.workspace.released = new_workspace()));
  OK(vxs_voxelmap_release(bad.voxelmap.released = new_voxelmap()));
  OK(vxs_haptics_release(bad.haptics.released = new_haptics()));
  OK(vxs_voxtree_release(bad.voxtree.released = new_voxtree()));
  OK(vxs_hulls_release(bad.hulls.released = new_hulls()));
  OK(vxs_batch_destroy(bad.batch.released = new_batch()));
  OK(vxs_pair_release(bad.pair.released = new_pair()));
  OK(vxs_shape_release(bad.shape.released = tetrahedron()));
}

static inline void release_bad_handles(void) {
  OK(vxs_workspace_destroy(bad.shape.other_kind));
  OK(vxs_shape_release(bad.field.other_kind));
  OK(vxs_shape_release(bad.shape.poisoned));
  OK(vxs_field_release(bad.field.poisoned));
  OK(vxs_pointshell_release(bad.pointshell.poisoned));
  OK(vxs_workspace_destroy(bad.workspace.poisoned));
  OK(vxs_voxelmap_release(bad.voxelmap.poisoned));
  OK(vxs_haptics_release(bad.haptics.poisoned));
  OK(vxs_voxtree_release(bad.voxtree.poisoned));
  OK(vxs_hulls_release(bad.hulls.poisoned));
  OK(vxs_batch_destroy(bad.batch.poisoned));
  OK(vxs_pair_release(bad.pair.poisoned));
}

#endif
