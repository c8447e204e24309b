/* Sizes and offsets of all fields of the structs of the C API in a C compiler: CMake makes layout_asserts.h of the rows of
 * src/capi/layout.rs, which asserts the same for Rust. (64-bit targets.) */
#include "check.h"

#include <stddef.h>

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " changed its size")
#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field " moved")

SIZE(vxs_status, 4);
/* SIZE and AT of every struct and field. */
#if UINTPTR_MAX == UINT64_MAX
#include "layout_asserts.h"
#endif

/* The defaults of _init are those of the header. */
int main(void) {
  vxs_cook_options o;
  vxs_query q;
  vxs_query_limit limit;
  vxs_query_step step;
  vxs_query_segmentation segmentation;
  vxs_query_report r;
  vxs_motion_query m;
  vxs_mesh_motion_query mesh;
  vxs_penalty penalty;
  vxs_impulse impulse;
  vxs_haptics_report h;
  vxs_haptics_run_options run;
  vxs_haptics_run_report ran;
  vxs_shape_info info;
  OK(vxs_cook_options_init(&o, sizeof o));
  CHECK(o.struct_size == sizeof o && o.forms == (VXS_FORM_FIELD | VXS_FORM_POINTSHELL));
  CHECK(o.voxel_size == 0 && o.resolution == 0 && o.spacing == 0 && o.sample_count == 0);
  CHECK(o.sampling == VXS_SAMPLING_DEFAULT && o.tree == VXS_TREE_MINIMAL_BALLS && o.weld_tolerance == 0);
  CHECK(o.padding_voxels > 0 && o.branching >= 2 && o.memory_limit > 0 && o.sharp_angle > 0);
  CHECK(o.progress == NULL && o.progress_user == NULL && o.field_storage == VXS_STORAGE_AUTO && o.clustering == VXS_CLUSTERING_BALANCED);
  CHECK(o.target_error == 0 && o.offset == 0);
  OK(vxs_query_init(&q, sizeof q));
  CHECK(q.struct_size == sizeof q && q.roles == VXS_ROLES_AUTO && q.max_separation == 0 && isinf(q.max_distance) && isinf(q.max_depth));
  CHECK(q.max_contacts == 0 && q.preferred_count == 0 && q.preferred == NULL);
  CHECK(q.limit == NULL && q.step == NULL && q.segmentation == NULL && q.coverage == VXS_COVERAGE_EDGES);
  OK(vxs_query_limit_init(&limit, sizeof limit));
  CHECK(limit.struct_size == sizeof limit && limit.max_tests == 0 && limit.max_nanoseconds == 0 && limit.accuracy == 0);
  OK(vxs_query_step_init(&step, sizeof step));
  CHECK(step.struct_size == sizeof step && step.dense_above == 0 && step.extremes_only == 0 && step.max_gap > 1e308);
  CHECK(step.center.x == 0 && step.shift.y == 0 && step.turn.z == 0);
  OK(vxs_query_segmentation_init(&segmentation, sizeof segmentation));
  CHECK(segmentation.struct_size == sizeof segmentation && segmentation.kind == VXS_SEGMENTATION_REGION);
  CHECK(segmentation.level == 0 && segmentation.distance == 0 && segmentation.preferred_segments == NULL);
  CHECK(segmentation.angle > 0.785 && segmentation.angle < 0.786);
  OK(vxs_query_report_init(&r, sizeof r));
  CHECK(r.struct_size == sizeof r && r.answer == VXS_ANSWER_COMPLETE && r.node_tests == 0 && r.sample_tests == 0);
  OK(vxs_motion_query_init(&m, sizeof m));
  CHECK(m.struct_size == sizeof m && m.roles == VXS_ROLES_AUTO && m.path == VXS_PATH_SCREW && m.max_separation == 0);
  CHECK(m.until == 1 && m.tolerance == 0 && m.known_count == 0 && m.known == NULL && m.coverage == VXS_COVERAGE_EDGES);
  OK(vxs_mesh_motion_query_init(&mesh, sizeof mesh));
  CHECK(mesh.struct_size == sizeof mesh && mesh.path == VXS_RIGID_PATH_SCREW && mesh.max_separation == 0);
  CHECK(mesh.tolerance == 0 && mesh.time_tolerance == 0 && mesh.until == 1 && mesh.known == NULL && mesh.known_count == 0);
  OK(vxs_penalty_init(&penalty, sizeof penalty, 100, 2));
  CHECK(penalty.struct_size == sizeof penalty && penalty.average_from == UINT32_MAX && penalty.stiffness == 100);
  CHECK(penalty.damping == 2 && penalty.drag == 0 && penalty.offset == 0);
  CHECK(penalty.max_clusters == 0 && penalty.midpoints == 5 && penalty.cluster_radius == 0);
  OK(vxs_impulse_init(&impulse, sizeof impulse, 0.01));
  CHECK(impulse.struct_size == sizeof impulse && impulse.iterations == 64 && impulse.dt == 0.01);
  CHECK(impulse.restitution == 0 && impulse.max_speed == 0 && impulse.max_separation == 0);
  OK(vxs_haptics_report_init(&h, sizeof h));
  CHECK(h.struct_size == sizeof h && h.fresh == 0 && h.contacts == 0 && h.status == VXS_HAPTICS_NORMAL && isinf(h.least_separation));
  OK(vxs_haptics_run_options_init(&run, sizeof run));
  CHECK(run.struct_size == sizeof run && run.priority == 80 && run.period == 0.001 && run.lock_memory == 1 && run.coupling_thread == 0);
  OK(vxs_haptics_run_report_init(&ran, sizeof ran));
  CHECK(ran.struct_size == sizeof ran && ran.running == 0 && ran.steps == 0 && ran.scheduling == VXS_GOT_NOT_ASKED);
  OK(vxs_shape_info_init(&info, sizeof info));
  CHECK(info.struct_size == sizeof info && info.forms == 0 && info.pointshell_bytes == 0);
  for (uint32_t kind = VXS_PRIMITIVE_BOX; kind <= VXS_PRIMITIVE_NUT; kind++) {
    vxs_primitive p;
    vxs_cook_options coarse = o;
    vxs_shape *shape = NULL;
    vxs_mass_properties mass;
    coarse.resolution = runs_slowly() ? 8 : 24;
    OK(vxs_primitive_init(&p, sizeof p, kind));
    CHECK(p.struct_size == sizeof p && p.kind == kind && p.size[0] > 0);
    OK(vxs_shape_create_primitive(&p, &coarse, &shape));
    OK(vxs_shape_get_mass_properties(shape, &mass));
    CHECK(mass.exact && mass.volume > 0);
    OK(vxs_shape_release(shape));
    /* Every length is used and checked. */
    for (int i = 0; i < 6; i++) {
      vxs_primitive bad = p;
      if (p.size[i] == 0) continue;
      bad.size[i] = NAN;
      CHECK(vxs_shape_create_primitive(&bad, &coarse, &shape) == VXS_INVALID_ARGUMENT);
    }
  }
  puts("layout: ok");
  return 0;
}
