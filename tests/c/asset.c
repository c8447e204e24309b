/* Saving and loading: the loaded shape equals the saved one, and a damaged file is refused for damage at any
 * position. */
#include "check.h"

#define FILE_NAME "asset_test.voxshell"
#define DAMAGED "asset_test_damaged.voxshell"

static unsigned char *bytes;
static size_t size;

static void read_file(void) {
  FILE *f = fopen(FILE_NAME, "rb");
  CHECK(f != NULL && fseek(f, 0, SEEK_END) == 0);
  size = (size_t)ftell(f);
  rewind(f);
  bytes = malloc(size);
  CHECK(bytes != NULL && fread(bytes, 1, size, f) == size);
  fclose(f);
}

static void write_damaged(const unsigned char *data, size_t length) {
  FILE *f = fopen(DAMAGED, "wb");
  CHECK(f != NULL && fwrite(data, 1, length, f) == length);
  CHECK(fclose(f) == 0);
}

static void refused(void) {
  vxs_shape *shape = NULL;
  REFUSED(VXS_INVALID_FILE, DAMAGED, vxs_shape_load(DAMAGED, &shape));
  CHECK(shape == NULL);
}

/* A field in bricks agrees with the dense grid near the surface, takes less memory, and survives a file. */
static void bricks(void) {
  vxs_primitive knot;
  vxs_cook_options options;
  vxs_shape *dense = NULL, *sparse = NULL, *loaded = NULL;
  vxs_workspace *workspace = NULL;
  vxs_contact a[64], b[64], c[64];
  vxs_query query;
  size_t count_a = 0, count_b = 0, count_c = 0;
  vxs_pose p = at(0, 0, 0), q = at(0.1, 0.2, 0.3);
  vxs_shape_info info, info_dense;

  OK(vxs_primitive_init(&knot, sizeof knot, VXS_PRIMITIVE_TORUS_KNOT));
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = runs_slowly() ? 72 : 160;
  options.sample_count = 2000;
  options.field_storage = VXS_STORAGE_DENSE;
  OK(vxs_shape_create_primitive(&knot, &options, &dense));
  options.field_storage = VXS_STORAGE_BRICKS;
  OK(vxs_shape_create_primitive(&knot, &options, &sparse));
  OK(vxs_shape_save(sparse, FILE_NAME));
  OK(vxs_shape_load(FILE_NAME, &loaded));
  OK(vxs_shape_info_init(&info_dense, sizeof info_dense));
  OK(vxs_shape_get_info(dense, &info_dense));
  OK(vxs_shape_info_init(&info, sizeof info));
  OK(vxs_shape_get_info(loaded, &info));
  CHECK(info_dense.field_kind == VXS_FIELD_DENSE && info.field_kind == VXS_FIELD_BRICKS);
  CHECK(memcmp(info.grid_dims, info_dense.grid_dims, sizeof info.grid_dims) == 0);
  CHECK(info.field_bytes > 0 && 2 * info.field_bytes < info_dense.field_bytes);
  CHECK(info.sign_rule == VXS_SIGN_CROSSINGS && info.field_error_max > 0 && info.lipschitz >= 0.99);

  OK(vxs_workspace_create(&workspace));
  OK(vxs_query_init(&query, sizeof query));
  query.max_contacts = 64;
  OK(vxs_query_contacts(BODY(dense, p), BODY(dense, q), &query, workspace, a, 64, &count_a));
  OK(vxs_query_contacts(BODY(sparse, p), BODY(sparse, q), &query, workspace, b, 64, &count_b));
  OK(vxs_query_contacts(BODY(loaded, p), BODY(loaded, q), &query, workspace, c, 64, &count_c));
  CHECK(count_b > 0 && count_b == count_c && memcmp(b, c, count_b * sizeof *b) == 0);
  /* The deepest contact is as deep as in the dense grid; well inside to a fraction of a voxel. */
  CHECK(count_a > 0 && fabs(a[0].separation - b[0].separation) < info.voxel_size);

  OK(vxs_workspace_destroy(workspace));
  OK(vxs_shape_release(loaded));
  OK(vxs_shape_release(sparse));
  OK(vxs_shape_release(dense));
}

/* A raw file and bytes in memory give the cooked shape. */
static void raw_and_in_memory(void) {
  vxs_primitive knot;
  vxs_cook_options options;
  vxs_shape *cooked = NULL, *loaded = NULL, *again = NULL;
  vxs_shape_info info, other;
  unsigned char *out;
  size_t needed = 0, written = 0;

  OK(vxs_primitive_init(&knot, sizeof knot, VXS_PRIMITIVE_TORUS_KNOT));
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 64;
  options.field_storage = VXS_STORAGE_BRICKS;
  OK(vxs_shape_create_primitive(&knot, &options, &cooked));
  OK(vxs_shape_info_init(&info, sizeof info));
  OK(vxs_shape_get_info(cooked, &info));

  OK(vxs_shape_save_as(cooked, FILE_NAME, VXS_STORE_RAW));
  OK(vxs_shape_load(FILE_NAME, &loaded));
  /* The shape keeps its contents when its file is replaced by a smaller one and when it is removed. */
  OK(vxs_shape_save_as(loaded, FILE_NAME, VXS_STORE_COMPRESSED));
  CHECK(remove(FILE_NAME) == 0);

  CHECK(vxs_shape_serialize(cooked, NULL, 0, &needed) == VXS_TRUNCATED && needed > 1000);
  CHECK((out = malloc(needed + 1)) != NULL);
  memset(out, 7, needed + 1);
  written = 0;
  CHECK(vxs_shape_serialize(cooked, out, needed - 1, &written) == VXS_TRUNCATED && written == needed && out[0] == 7);
  OK(vxs_shape_serialize(cooked, out, needed + 1, &written));
  CHECK(written == needed && out[needed] == 7 && memcmp(out, "VOXSHELL", 8) == 0);
  OK(vxs_shape_deserialize(out, needed, &again));
  /* The bytes are not needed any more; those of the loaded shape are the same. */
  bytes = malloc(needed);
  CHECK(bytes != NULL);
  OK(vxs_shape_serialize(loaded, bytes, needed, &written));
  CHECK(written == needed && memcmp(bytes, out, needed) == 0);
  memset(out, 0, needed);
  OK(vxs_shape_serialize(again, out, needed, &written));
  CHECK(memcmp(bytes, out, needed) == 0);
  OK(vxs_shape_info_init(&other, sizeof other));
  OK(vxs_shape_get_info(again, &other));
  CHECK(memcmp(&info, &other, sizeof info) == 0);
  out[needed / 2] ^= 1;
  vxs_shape_release(again);
  again = NULL;
  REFUSED(VXS_INVALID_FILE, "checksum", vxs_shape_deserialize(out, needed, &again));
  CHECK(again == NULL);
  free(out);
  free(bytes);
  OK(vxs_shape_release(loaded));
  OK(vxs_shape_release(cooked));
}

int main(void) {
  vxs_primitive knot;
  vxs_cook_options options;
  vxs_shape *saved = NULL, *loaded = NULL, *sphere = NULL;
  vxs_workspace *workspace = NULL;
  vxs_contact a[64], b[64];
  vxs_query query;
  size_t count_a = 0, count_b = 0;
  vxs_pose p = at(0, 0, 0), q = at(0.1, 0.2, 0.3);
  vxs_shape_info info_a, info_b;
  vxs_mass_properties mass_a, mass_b;

  bricks();
  raw_and_in_memory();
  OK(vxs_primitive_init(&knot, sizeof knot, VXS_PRIMITIVE_TORUS_KNOT));
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 32;
  OK(vxs_shape_create_primitive(&knot, &options, &saved));
  OK(vxs_shape_save(saved, FILE_NAME));
  OK(vxs_shape_save(saved, FILE_NAME)); /* replaces */
  OK(vxs_shape_load(FILE_NAME, &loaded));

  OK(vxs_shape_info_init(&info_a, sizeof info_a));
  OK(vxs_shape_info_init(&info_b, sizeof info_b));
  OK(vxs_shape_get_info(saved, &info_a));
  OK(vxs_shape_get_info(loaded, &info_b));
  CHECK(memcmp(&info_a, &info_b, sizeof info_a) == 0);
  OK(vxs_shape_get_mass_properties(saved, &mass_a));
  OK(vxs_shape_get_mass_properties(loaded, &mass_b));
  CHECK(mass_a.volume == mass_b.volume && mass_a.inertia[3] == mass_b.inertia[3] && mass_a.exact == mass_b.exact);

  /* The same input gives the same bytes. */
  OK(vxs_workspace_create(&workspace));
  OK(vxs_query_init(&query, sizeof query));
  query.max_contacts = 64;
  OK(vxs_query_contacts(BODY(saved, p), BODY(saved, q), &query, workspace, a, 64, &count_a));
  OK(vxs_query_contacts(BODY(loaded, p), BODY(loaded, q), &query, workspace, b, 64, &count_b));
  CHECK(count_a > 0 && count_a == count_b && memcmp(a, b, count_a * sizeof *a) == 0);

  read_file();
  for (size_t length = 0; length < size; length += length < 256 ? 1 : size / 37 + 1) {
    write_damaged(bytes, length);
    refused();
  }
  write_damaged(bytes, size - 1);
  refused();
  for (size_t where = 0; where < size; where += where < 256 ? 1 : size / 61 + 1) {
    bytes[where] ^= 0x10;
    write_damaged(bytes, size);
    refused();
    bytes[where] ^= 0x10;
  }
  write_damaged(bytes, size);
  OK(vxs_shape_release(loaded));
  OK(vxs_shape_load(DAMAGED, &loaded)); /* whole again */
  write_damaged((const unsigned char *)"o mesh\nv 0 0 0\n", 15);
  refused();

  REFUSED(VXS_IO, "no-such-directory", vxs_shape_save(saved, "no-such-directory/x.voxshell"));

  OK(vxs_shape_create_sphere(1, &sphere));
  REFUSED(VXS_UNSUPPORTED, "analytic", vxs_shape_save(sphere, FILE_NAME));
  CHECK(remove(DAMAGED) == 0 && remove(FILE_NAME) == 0);
  free(bytes);
  OK(vxs_shape_release(sphere));
  OK(vxs_shape_release(saved));
  OK(vxs_shape_release(loaded));
  OK(vxs_workspace_destroy(workspace));
  puts("asset: ok");
  return 0;
}
