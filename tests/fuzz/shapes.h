/* Calls that query one shape, share it, and write and read its files. */
#ifndef VOXSHELL_TESTS_FUZZ_SHAPES_H
#define VOXSHELL_TESTS_FUZZ_SHAPES_H

#include "making.h"

static void call_vxs_shape_create_scaled(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  const double factor = one_in(s, 4) ? note_real(s, "factor", 2) : real(s, "factor", 0.5, 2);
  if (!(factor > 0) || !isfinite(factor)) s->bad = 1;
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "scaled");
  MADE_BY(s, vxs_shape_create_scaled(of.handle, factor, shape));
}
static void call_vxs_shape_retain(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "out");
  MADE_BY(s, vxs_shape_retain(of.handle, shape));
}

static void call_vxs_shape_release(struct stream *s) {
  struct shape_slot *slot = &s->shapes[note_number(s, "slot", below(s, SHAPES))];
  vxs_shape *handle = odd(s) ? bad_handle(s, "shape", SHAPE) : slot->handle;
  if (handle == NULL) s->bad = 0;
  begin_release(s);
  if (CALL(s, vxs_shape_release(handle)) && handle != NULL) {
    bury(s, handle);
    slot->handle = NULL;
  }
  end_release(s);
}
static void release_form(struct stream *s, struct form_slot *slots, enum kind kind) {
  struct form_slot *slot = &slots[note_number(s, "slot", below(s, FORMS))];
  void *handle = odd(s) ? bad_handle(s, "handle", kind) : slot->handle;
  if (handle == NULL) s->bad = 0;
  begin_release(s);
  if (CALL(s, kind == FIELD      ? vxs_field_release(handle)
              : kind == VOXELMAP ? vxs_voxelmap_release(handle)
                                 : vxs_pointshell_release(handle)) && handle != NULL) {
    bury(s, handle);
    slot->handle = NULL;
  }
  end_release(s);
}
static void call_vxs_field_release(struct stream *s) { release_form(s, s->fields, FIELD); }
static void call_vxs_pointshell_release(struct stream *s) { release_form(s, s->shells, POINTSHELL); }
static void call_vxs_voxelmap_release(struct stream *s) { release_form(s, s->maps, VOXELMAP); }

/* --- Properties of a shape
 * --------------------------------------------------------------------------------------------- */

static void call_vxs_shape_prepare_coverage(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  const uint32_t coverage = (uint32_t)note_number(s, "coverage", one_in(s, 20) ? 3 : below(s, 3));
  if (coverage > 2) s->bad = 1;
  CALL(s, vxs_shape_prepare_coverage(of.handle, coverage));
}
static void call_vxs_shape_prepare_extremes(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  CALL(s, vxs_shape_prepare_extremes(of.handle));
}
static void call_vxs_shape_prepare_triangles(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  CALL(s, vxs_shape_prepare_triangles(of.handle));
}
static void call_vxs_shape_get_bounds(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  vxs_aabb *bounds = OUTPUT(s, vxs_aabb, "bounds");
  if (!CALL(s, vxs_shape_get_bounds(of.handle, bounds))) return;
  const double *low = &bounds->min.x, *high = &bounds->max.x;
  for (int i = 0; i < 3; i++) {
    /* Infinite for a half-space. Also false for NaN. */
    if (!(low[i] <= high[i])) fail(s, "VXS_OK, but the box goes from %g to %g", low[i], high[i]);
    if (of.field_kind != VXS_FIELD_HALF_SPACE) check_finite(s, "a side", high[i] - low[i]);
  }
  digest_bytes(s, bounds, sizeof *bounds);
}
static void call_vxs_shape_get_mass_properties(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  vxs_mass_properties *mass = OUTPUT(s, vxs_mass_properties, "mass");
  if (!CALL(s, vxs_shape_get_mass_properties(of.handle, mass))) return;
  check_range(s, "volume", mass->volume, 0, DBL_MAX);
  check_vector(s, "center_of_mass", mass->center_of_mass);
  check_all_finite(s, "inertia", mass->inertia, 6);
  for (int i = 0; i < 3; i++) check_range(s, "a moment of inertia", mass->inertia[i], 0, DBL_MAX);
  digest_bytes(s, mass, offsetof(vxs_mass_properties, exact));
  digest_number(s, mass->exact);
}
static void call_vxs_shape_get_info(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  vxs_shape_info *info = OUTPUT(s, vxs_shape_info, "info");
  if (info != NULL) {
    MUST(s, vxs_shape_info_init(info, sizeof *info));
    if (odd(s)) info->struct_size = (uint32_t)struct_size(s, sizeof *info);
    remember_output(s);
  }
  if (!CALL(s, vxs_shape_get_info(of.handle, info))) return;
  check_info(s, info);
  digest_bytes(s, info, sizeof *info);
}

static size_t capacity_of(struct stream *s, const char *name, size_t most, size_t size) {
  const size_t some[] = {0, 1, most / 2, most, most, most};
  return count_of(s, name, some[below(s, COUNT_OF(some))], most, size);
}
/* Returns memory for `most` elements of `size` bytes; sometimes null if the capacity is 0. */
static void *list_output(struct stream *s, const char *name, size_t most, size_t size, size_t capacity) {
  s->may_truncate = 1;
  if (capacity == 0 && one_in(s, 2)) return NULL;
  const int bad = s->bad;
  void *list = output_array(s, name, most * size, 0);
  if (capacity == 0) s->bad = bad;
  return list;
}
/* Checks that the status fits the count; returns the number of written elements. */
static size_t written_count(struct stream *s, size_t capacity, size_t count) {
  if ((s->status == VXS_TRUNCATED) != (count > capacity)) {
    fail(s, "%s with a capacity of %zu and a count of %zu", vxs_status_name(s->status), capacity, count);
  }
  digest_number(s, count);
  return count < capacity ? count : capacity;
}
/* Checks that memory behind the written elements is unchanged. */
static void check_rest(struct stream *s, const void *list, size_t written, size_t most, size_t size) {
  if (list != NULL && written < most && !is_untouched((const char *)list + written * size, (most - written) * size)) {
    fail(s, "%s, but it wrote behind the %zu elements", vxs_status_name(s->status), written);
  }
}

static void call_vxs_shape_get_triangles(struct stream *s) {
  enum { MOST = 400 };
  const struct shape_slot of = pick_shape(s, "shape");
  const size_t vertex_capacity = capacity_of(s, "vertex_capacity", MOST, sizeof(vxs_vec3));
  vxs_vec3 *vertices = list_output(s, "vertices", MOST, sizeof *vertices, vertex_capacity);
  size_t *vertex_count = OUTPUT(s, size_t, "vertex_count");
  const size_t index_capacity = capacity_of(s, "index_capacity", MOST, sizeof(uint32_t));
  uint32_t *indices = list_output(s, "indices", MOST, sizeof *indices, index_capacity);
  size_t *index_count = OUTPUT(s, size_t, "index_count");
  if (!CALL(s, vxs_shape_get_triangles(of.handle, vertices, vertex_capacity, vertex_count, indices, index_capacity, index_count))) {
    return;
  }
  digest_number(s, *vertex_count);
  digest_number(s, *index_count);
  const int fits = *vertex_count <= vertex_capacity && *index_count <= index_capacity;
  if (fits != (s->status == VXS_OK) || *index_count % 3 != 0) fail(s, "its counts are %zu and %zu", *vertex_count, *index_count);
  check_rest(s, vertices, fits ? *vertex_count : 0, MOST, sizeof *vertices);
  check_rest(s, indices, fits ? *index_count : 0, MOST, sizeof *indices);
  if (!fits || vertices == NULL || indices == NULL) return;
  for (size_t i = 0; i < *vertex_count; i++) check_vector(s, "a vertex", vertices[i]);
  for (size_t i = 0; i < *index_count; i++) {
    if (indices[i] >= *vertex_count) fail(s, "it gave the index %u of %zu", (unsigned)indices[i], *vertex_count);
  }
  digest_bytes(s, vertices, *vertex_count * sizeof *vertices);
  digest_bytes(s, indices, *index_count * sizeof *indices);
}

static void call_vxs_shape_get_segments(struct stream *s) {
  enum { MOST = 200 };
  const struct shape_slot of = pick_shape(s, "shape");
  const uint32_t level = (uint32_t)note_number(s, "level", odd(s) ? edge_number(s) & UINT32_MAX : below(s, 5));
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(uint32_t));
  uint32_t *first = list_output(s, "first", MOST, sizeof *first, capacity);
  size_t *count = OUTPUT(s, size_t, "count");
  if (!CALL(s, vxs_shape_get_segments(of.handle, level, first, capacity, count))) return;
  const size_t written = written_count(s, capacity, *count);
  check_rest(s, first, written, MOST, sizeof *first);
  for (size_t i = 0; i < written; i++) {
    if (first[i] >= of.samples || (i > 0 && first[i] <= first[i - 1])) fail(s, "segment %zu begins at %u", i, (unsigned)first[i]);
  }
  digest_bytes(s, first, written * sizeof *first);
}

/* Returns the number of triangles of a shape; 0 for a handle that is not valid. */
static size_t triangles_of(const struct shape_slot *of) {
  size_t vertices = 0, indices = 0;
  const vxs_status status = vxs_shape_get_triangles(of->handle, NULL, 0, &vertices, NULL, 0, &indices);
  return status == VXS_TRUNCATED ? indices / 3 : 0;
}
static void call_vxs_shape_create_with_materials(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  const size_t most = s->bad ? 0 : triangles_of(&of);
  uint32_t *materials = input(s, (most + 1) * sizeof *materials);
  for (size_t i = 0; i < most; i++) materials[i] = odd(s) ? (uint32_t)edge_number(s) : (uint32_t)below(s, 3);
  const size_t count = count_of(s, "count", most, most, sizeof *materials);
  if (most == 0 || count != most) s->bad = 1;
  if (count > 0 && odd(s)) materials = NULL, s->bad = 1;
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "out");
  MADE_BY(s, vxs_shape_create_with_materials(of.handle, materials, count, shape));
}
static void call_vxs_shape_get_materials(struct stream *s) {
  enum { MOST = 200 };
  const struct shape_slot of = pick_shape(s, "shape");
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(uint32_t));
  uint32_t *materials = list_output(s, "materials", MOST, sizeof *materials, capacity);
  size_t *count = OUTPUT(s, size_t, "count");
  if (!CALL(s, vxs_shape_get_materials(of.handle, materials, capacity, count))) return;
  const size_t written = written_count(s, capacity, *count);
  check_rest(s, materials, written, MOST, sizeof *materials);
  digest_bytes(s, materials, written * sizeof *materials);
}

/* --- Segments through a shape ------------------------------------------------------------------------------------------------------------ */

static void check_hit(struct stream *s, const vxs_segment_hit *hit) {
  if (hit->hit) {
    check_range(s, "fraction", hit->fraction, 0, 1);
    check_vector(s, "point", hit->point);
    check_unit(s, "normal", hit->normal);
  } else if (!isnan(hit->fraction) || !isnan(hit->point.x) || !isnan(hit->normal.z)) {
    fail(s, "no hit, but it is not all NaN");
  }
  digest_bytes(s, hit, offsetof(vxs_segment_hit, hit));
  digest_number(s, hit->hit);
}
static vxs_vec3 end_value(struct stream *s, const char *name) {
  const vxs_vec3 end = vector(s, name, 1.2);
  require_finite(s, end);
  return end;
}
static void call_vxs_shape_query_segment(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  const vxs_vec3 from = end_value(s, "from"), to = one_in(s, 20) ? from : end_value(s, "to");
  vxs_segment_hit *hit = OUTPUT(s, vxs_segment_hit, "hit");
  if (CALL(s, vxs_shape_query_segment(of.handle, from, to, hit))) check_hit(s, hit);
}
static void call_vxs_shape_query_segments(struct stream *s) {
  const size_t most = 1 + below(s, 12);
  const struct shape_slot of = pick_shape(s, "shape");
  vxs_vec3 *from = input(s, most * sizeof *from), *to = input(s, most * sizeof *to);
  for (size_t i = 0; i < most; i++) from[i] = end_value(s, "from"), to[i] = end_value(s, "to");
  const int bad = s->bad;
  const size_t count = count_of(s, "count", most, most, sizeof *from);
  if (bad && count < most) s->bad = 0;
  if (count > 0 && odd(s)) from = NULL, s->bad = 1;
  if (count > 0 && odd(s)) to = NULL, s->bad = 1;
  vxs_segment_hit *hits = count == 0 ? NULL : output_array(s, "hits", most * sizeof *hits, 0);
  if (!CALL(s, vxs_shape_query_segments(of.handle, from, to, count, hits))) return;
  check_rest(s, hits, count, most, sizeof *hits);
  for (size_t i = 0; i < count; i++) check_hit(s, &hits[i]);
}
static void call_vxs_shape_query_crossings(struct stream *s) {
  enum { MOST = 8 };
  const struct shape_slot of = pick_shape(s, "shape");
  const vxs_vec3 from = end_value(s, "from"), to = end_value(s, "to");
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(vxs_segment_hit));
  vxs_segment_hit *crossings = list_output(s, "crossings", MOST, sizeof *crossings, capacity);
  size_t *count = OUTPUT(s, size_t, "count");
  if (!CALL(s, vxs_shape_query_crossings(of.handle, from, to, crossings, capacity, count))) return;
  const size_t written = written_count(s, capacity, *count);
  check_rest(s, crossings, written, MOST, sizeof *crossings);
  for (size_t i = 0; i < written; i++) {
    check_hit(s, &crossings[i]);
    if (!crossings[i].hit || (i > 0 && crossings[i].fraction < crossings[i - 1].fraction)) fail(s, "crossing %zu is out of order", i);
  }
}

static void call_vxs_shape_query_intervals(struct stream *s) {
  enum { MOST = 8 };
  const struct shape_slot of = pick_shape(s, "shape");
  const vxs_vec3 from = end_value(s, "from"), to = end_value(s, "to");
  vxs_segment_query q;
  MUST(s, vxs_segment_query_init(&q, sizeof q));
  if (one_in(s, 3)) q.level = note_real(s, "level", 0.2 * uniform(s));
  if (one_in(s, 3)) q.method = (uint32_t)note_number(s, "method", below(s, 2));
  vary_struct_size(s, &q.struct_size);
  vary32(s, "method", &q.method);
  vary(s, "level", &q.level);
  const vxs_segment_query *query = POINTER_TO(s, vxs_segment_query, "query", 1, q);
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(vxs_interval));
  vxs_interval *intervals = list_output(s, "intervals", MOST, sizeof *intervals, capacity);
  size_t *count = OUTPUT(s, size_t, "count");
  if (!CALL(s, vxs_shape_query_intervals(of.handle, from, to, query, intervals, capacity, count))) return;
  const size_t written = written_count(s, capacity, *count);
  check_rest(s, intervals, written, MOST, sizeof *intervals);
  for (size_t i = 0; i < written; i++) {
    check_range(s, "from", intervals[i].from, i > 0 ? intervals[i - 1].to : 0, 1);
    check_range(s, "to", intervals[i].to, intervals[i].from, 1);
  }
  digest_bytes(s, intervals, written * sizeof *intervals);
}

/* --- Files ---------------------------------------------------------------------------------------------------------------------------------- */

/* Returns a file name in the folder that only this stream uses. */
static char *path_to(struct stream *s, const char *name) {
  const size_t size = strlen(program.folder) + strlen(name) + 64;
  char *path = input(s, size);
  snprintf(path, size, "%s/%llu-%u-%s", program.folder, (unsigned long long)s->seed, s->number, name);
  return path;
}
/* A missing file is no failure: then there is nothing to read. The file is replaced, not overwritten, because it may
 * be mapped. */
static void write_file(struct stream *s, const char *path, const void *bytes, size_t size) {
  const char *fresh = path_to(s, "fresh");
  FILE *file = fopen(fresh, "wb");
  if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0 || rename(fresh, path) != 0) {
    fail(s, "the fuzzer cannot write %s", path);
  }
}
static const char *path_value(struct stream *s, char *path) {
  if (!odd(s)) return path;
  switch (below(s, 5)) {
    case 0: s->bad = 1, note_text(s, "path", "null"); return NULL;
    case 1: s->bad = 1, note_text(s, "path", "empty"); return "";
    case 2: s->bad = 1, note_text(s, "path", "a folder"); return program.folder;
    case 3: s->bad = 1, note_text(s, "path", "in no folder"); return path_to(s, "none/at.obj");
    default: note_text(s, "path", "not UTF-8"); return path_to(s, "\xff\xfe.obj");
  }
}
/* Damage: bits flipped, bytes replaced, the end cut off or doubled. */
static size_t damage(struct stream *s, unsigned char *bytes, size_t size) {
  for (uint64_t left = below(s, 4); left > 0 && size > 0; left--) {
    const size_t at = below(s, 3) > 0 ? below(s, size < 64 ? size : 64) : below(s, size);
    switch (below(s, 3)) {
      case 0: bytes[at] ^= (unsigned char)(1u << below(s, 8)); break;
      case 1: bytes[at] = (unsigned char)draw(s); break;
      default: size = one_in(s, 3) ? size : below(s, size) + 1; break;
    }
  }
  return size;
}

static void call_vxs_shape_create_from_file(struct stream *s) {
  static const char OBJ[] = "# box\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  static const char STL[] = "solid a\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet\n"
                            "endsolid a\n";
  static const char PLY[] = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
                            "element face 4\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
                            "3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";
  static const char *const TEXTS[] = {OBJ, STL, PLY, OBJ}, *const NAMES[] = {"mesh.obj", "mesh.stl", "mesh.ply", "mesh.xyz"};
  const uint64_t type = note_number(s, "type", one_in(s, 20) ? 3 : below(s, 3));
  char *path = path_to(s, NAMES[type]);
  unsigned char bytes[512];
  size_t size = strlen(TEXTS[type]);
  memcpy(bytes, TEXTS[type], size);
  if (one_in(s, 2)) size = damage(s, bytes, size);
  write_file(s, path, bytes, size);
  const char *name = path_value(s, path);
  const vxs_cook_options *options = cook_options(s);
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "shape");
  MADE_BY(s, vxs_shape_create_from_file(name, options, shape));
}

static void call_vxs_shape_save(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  const char *path = path_value(s, path_to(s, "asset"));
  CALL(s, vxs_shape_save(of.handle, path));
}
static void call_vxs_shape_save_as(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  const uint32_t store = choice(s, "store", 2);
  const char *path = path_value(s, path_to(s, "asset"));
  if (store > VXS_STORE_RAW) s->bad = 1;
  CALL(s, vxs_shape_save_as(of.handle, path, store));
}
/* Loads the file that a call of this sequence saved last, if any; sometimes damaged. */
static void call_vxs_shape_load(struct stream *s) {
  char *path = path_to(s, "asset");
  if (one_in(s, 3)) {
    FILE *file = fopen(path, "rb");
    if (file != NULL) {
      unsigned char *bytes = input(s, 1 << 18);
      const size_t size = damage(s, bytes, fread(bytes, 1, 1 << 18, file));
      fclose(file);
      path = path_to(s, "damaged");
      write_file(s, path, bytes, size);
    }
  }
  const char *name = path_value(s, path);
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "shape");
  MADE_BY(s, vxs_shape_load(name, shape));
}

static void call_vxs_shape_serialize(struct stream *s) {
  enum { MOST = 20000 };
  const struct shape_slot of = pick_shape(s, "shape");
  const size_t capacity = capacity_of(s, "capacity", MOST, 1);
  unsigned char *out = list_output(s, "out", MOST, 1, capacity);
  size_t *size = OUTPUT(s, size_t, "size");
  if (!CALL(s, vxs_shape_serialize(of.handle, out, capacity, size))) return;
  const size_t written = written_count(s, capacity, *size);
  check_rest(s, out, s->status == VXS_OK ? written : 0, MOST, 1);
  if (s->status == VXS_OK) digest_bytes(s, out, written);
}
static void call_vxs_shape_deserialize(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "of");
  size_t size = 0, got = 0;
  unsigned char *given = NULL, *bytes = NULL;
  if (!s->bad && vxs_shape_serialize(of.handle, NULL, 0, &size) == VXS_TRUNCATED) {
    bytes = input(s, size);
    MUST(s, vxs_shape_serialize(of.handle, bytes, size, &got));
    if (got != size) fail(s, "vxs_shape_serialize gave %zu bytes, then %zu", size, got);
    if (one_in(s, 2)) size = damage(s, bytes, size);
    /* At any address, and with no readable memory behind it. */
    const size_t shift = below(s, 8);
    given = (unsigned char *)input(s, size + shift) + shift;
    memcpy(given, bytes, size);
  }
  s->bad = 0;
  if (given == NULL || odd(s)) given = NULL, s->bad = 1;
  size = count_of(s, "size", size, size, 1);
  if (size == 0) s->bad = 1;
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "shape");
  MADE_BY(s, vxs_shape_deserialize(given, size, shape));
}

/* --- Forms ------------------------------------------------------------------------------------------------------------------------------------- */

static void call_vxs_shape_get_field(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  vxs_field **field = OUTPUT(s, vxs_field *, "field");
  if (!CALL(s, vxs_shape_get_field(of.handle, field))) return;
  struct form_slot *slot = &s->fields[below(s, FORMS)];
  drop_form(s, slot, FIELD);
  *slot = (struct form_slot){*field, 0};
}
static void call_vxs_shape_get_pointshell(struct stream *s) {
  const struct shape_slot of = pick_shape(s, "shape");
  vxs_pointshell **shell = OUTPUT(s, vxs_pointshell *, "pointshell");
  if (!CALL(s, vxs_shape_get_pointshell(of.handle, shell))) return;
  struct form_slot *slot = &s->shells[below(s, FORMS)];
  drop_form(s, slot, POINTSHELL);
  *slot = (struct form_slot){*shell, of.samples};
}
static void call_vxs_shape_create(struct stream *s) {
  struct form_slot field = pick_form(s, "field", FIELD), shell = {NULL, 0};
  if (!s->bad && one_in(s, 5)) field.handle = NULL, note_text(s, "field", "null");
  const int bad = s->bad && field.handle != NULL;
  s->bad = 0;
  shell = pick_form(s, "pointshell", POINTSHELL);
  if (!s->bad && one_in(s, 5)) shell.handle = NULL, note_text(s, "pointshell", "null");
  s->bad = bad || (s->bad && shell.handle != NULL) || (field.handle == NULL && shell.handle == NULL);
  vxs_shape **shape = OUTPUT(s, vxs_shape *, "shape");
  MADE_BY(s, vxs_shape_create(field.handle, shell.handle, shape));
}
static void call_vxs_field_distance(struct stream *s) {
  const struct form_slot field = pick_form(s, "field", FIELD);
  const vxs_vec3 point = vector(s, "point", 1.2);
  double *distance = OUTPUT(s, double, "distance");
  vxs_vec3 *gradient = OPTIONAL_OUTPUT(s, vxs_vec3, "gradient");
  require_finite(s, point);
  if (!CALL(s, vxs_field_distance(field.handle, point, distance, gradient))) return;
  check_finite(s, "distance", *distance);
  digest_bytes(s, distance, sizeof *distance);
  if (gradient != NULL) {
    check_vector(s, "gradient", *gradient);
    digest_bytes(s, gradient, sizeof *gradient);
  }
}
static void call_vxs_pointshell_get_samples(struct stream *s) {
  enum { MOST = 400 };
  const struct form_slot shell = pick_form(s, "pointshell", POINTSHELL);
  const size_t capacity = capacity_of(s, "capacity", MOST, sizeof(vxs_vec3));
  vxs_vec3 *points = list_output(s, "points", MOST, sizeof *points, capacity);
  vxs_vec3 *normals = one_in(s, 3) ? NULL : output_array(s, "normals", MOST * sizeof *normals, 1);
  size_t *count = OUTPUT(s, size_t, "count");
  if (!CALL(s, vxs_pointshell_get_samples(shell.handle, points, normals, capacity, count))) return;
  const size_t written = written_count(s, capacity, *count);
  if (*count != shell.samples) fail(s, "it has %zu samples; expected %llu", *count, (unsigned long long)shell.samples);
  check_rest(s, points, written, MOST, sizeof *points);
  check_rest(s, normals, written, MOST, sizeof *normals);
  for (size_t i = 0; i < written; i++) {
    check_vector(s, "a sample", points[i]);
    if (normals != NULL) check_unit(s, "a normal", normals[i]);
  }
  digest_bytes(s, points, written * sizeof *points);
  if (normals != NULL) digest_bytes(s, normals, written * sizeof *normals);
}

#endif
