// The geometry class: its colliders, boxes and data.
#include <voxshell/ode.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include <voxshell/host.h>

#include "stock_geoms.h"

using namespace voxshell::host;
using voxshell::ode::Partner;

namespace {

/// Data of a geometry, in ODE's own memory.
struct Data {
    vxs_shape* shape;
    vxs_aabb bounds;
};

struct State {
    dVoxshellSettings settings;
    PairCache pairs;
    voxshell::ode::StockGeoms stock;
};

int g_class = -1;
std::unique_ptr<State> g_state;

Data& data_of(dGeomID geom) { return *static_cast<Data*>(dGeomGetClassData(geom)); }

/// Returns the motion of a geometry in the step, with the forces that ODE will apply, at a pose of its shape's frame.
Body body_of(dGeomID geom, const vxs_shape* shape, const vxs_pose& pose, double dt) {
    Body body;
    body.shape = shape;
    body.pose = pose;
    body.center_of_mass = pose.position;
    const dBodyID owner = dGeomGetBody(geom);
    if (!owner)
        return body;
    const dReal* const at = dBodyGetPosition(owner);
    body.center_of_mass = {double(at[0]), double(at[1]), double(at[2])};
    if (!dBodyIsEnabled(owner))
        return body;
    const dReal *const v = dBodyGetLinearVel(owner), *const w = dBodyGetAngularVel(owner),
                       *const f = dBodyGetForce(owner);
    dMass mass;
    dBodyGetMass(owner, &mass);
    dVector3 gravity = {0, 0, 0};
    if (dBodyGetGravityMode(owner))
        dWorldGetGravity(dBodyGetWorld(owner), gravity);
    const double k = dBodyIsKinematic(owner) ? 0 : dt;
    body.gained = {k * double(gravity[0] + f[0] / mass.mass), k * double(gravity[1] + f[1] / mass.mass),
                   k * double(gravity[2] + f[2] / mass.mass)};
    body.linear_velocity = {double(v[0]) + body.gained.x, double(v[1]) + body.gained.y, double(v[2]) + body.gained.z};
    body.angular_velocity = {double(w[0]), double(w[1]), double(w[2])};
    return body;
}

uint64_t id_of(dGeomID geom) { return uint64_t(reinterpret_cast<uintptr_t>(geom)); }

void put(dContactGeom& out, const Contact& contact, dGeomID first, dGeomID second) {
    const vxs_vec3 &a = contact.point_on_a, &b = contact.point_on_b;
    const double middle[3] = {0.5 * (a.x + b.x), 0.5 * (a.y + b.y), 0.5 * (a.z + b.z)};
    // From the first body to the second; ODE's normal points into the first.
    const double normal[3] = {-contact.normal.x, -contact.normal.y, -contact.normal.z};
    for (int i = 0; i < 3; ++i) {
        out.pos[i] = dReal(middle[i]);
        out.normal[i] = dReal(normal[i]);
    }
    out.depth = dReal(-contact.separation);
    out.g1 = first, out.g2 = second;
    out.side1 = out.side2 = -1;
}

PairSettings settings_of(int flags) {
    PairSettings settings;
    const dVoxshellSettings& all = g_state->settings;
    settings.margin = double(all.margin);
    settings.look_ahead = all.step > 0 ? 1.5 : 0;
    settings.coverage = all.coverage;
    settings.roles = all.coverage == VXS_COVERAGE_EDGES ? VXS_ROLES_AUTO : VXS_ROLES_BOTH;
    settings.dense_above = 256;
    settings.thinning.max_contacts = size_t(std::max(1, flags & 0xFFFF));
    settings.thinning.hysteresis = 1.5;
    settings.thinning.depth_tolerance = 0.02 * settings.margin;
    return settings;
}

/// The collider of two Voxshell geometries, and of one with a built-in one.
int collide(dGeomID first, dGeomID second, int flags, dContactGeom* contacts, int skip) {
    const double dt = double(g_state->settings.step);
    Partner partner;
    if (dGeomGetClass(second) == g_class) {
        partner.shape = data_of(second).shape;
        partner.pose = voxshell::ode::pose_of(second);
    } else if (!g_state->stock.find(second, double(g_state->settings.sheet_depth), partner)) {
        return 0;
    }
    const Body a = body_of(first, data_of(first).shape, voxshell::ode::pose_of(first), dt);
    const Body b = body_of(second, partner.shape, partner.pose, dt);
    const PairCache::Answer answer = g_state->pairs.find(id_of(first), a, id_of(second), b, dt, settings_of(flags));
    if (answer.status) {
        if (answer.status != VXS_UNSUPPORTED)
            dMessage(d_ERR_UNKNOWN, "voxshell: %s", vxs_last_error());
        return 0;
    }
    for (size_t i = 0; i < answer.size(); ++i)
        put(*reinterpret_cast<dContactGeom*>(reinterpret_cast<char*>(contacts) + i * size_t(skip)), answer[i], first,
            second);
    return int(answer.size());
}

/// The collider with a ray: the first point on the ray, whose depth is the distance along it, as ODE defines it.
int collide_ray(dGeomID first, dGeomID ray, int, dContactGeom* contact, int) {
    dVector3 start, direction;
    dGeomRayGet(ray, start, direction);
    const double length = double(dGeomRayGetLength(ray));
    const vxs_pose pose = voxshell::ode::pose_of(first);
    const vxs_vec3 from = {double(start[0]), double(start[1]), double(start[2])};
    const vxs_vec3 to = {from.x + length * double(direction[0]), from.y + length * double(direction[1]),
                         from.z + length * double(direction[2])};
    vxs_segment_hit hit;
    if (vxs_shape_query_segment(data_of(first).shape, voxshell::ode::to_body(pose, from),
                                voxshell::ode::to_body(pose, to), &hit) ||
        !hit.hit)
        return 0;
    const vxs_vec3 point = voxshell::ode::to_world(pose, hit.point), normal = voxshell::ode::turn(pose, hit.normal);
    const double p[3] = {point.x, point.y, point.z}, n[3] = {normal.x, normal.y, normal.z};
    for (int i = 0; i < 3; ++i) {
        contact->pos[i] = dReal(p[i]);
        // Into the first geometry: against the surface's own normal.
        contact->normal[i] = dReal(-n[i]);
    }
    contact->depth = dReal(hit.fraction * length);
    contact->g1 = first, contact->g2 = ray;
    contact->side1 = contact->side2 = -1;
    return 1;
}

dColliderFn* collider_for(int other) {
    if (other == dRayClass)
        return collide_ray;
    return other == g_class || voxshell::ode::is_supported(other) ? collide : nullptr;
}

void box_of(dGeomID geom, dReal box[6]) {
    const vxs_pose pose = voxshell::ode::pose_of(geom);
    const vxs_aabb& b = data_of(geom).bounds;
    // Room for contacts before touching: what the body moves in a step, and the margin.
    double room = double(g_state->settings.margin);
    const double dt = double(g_state->settings.step);
    if (dt > 0) {
        const Body body = body_of(geom, data_of(geom).shape, pose, dt);
        room += 1.5 * reach(body, Body(), radius_about(body.shape, {0, 0, 0}), 0, dt);
    }
    double low[3] = {1e300, 1e300, 1e300}, high[3] = {-1e300, -1e300, -1e300};
    for (int corner = 0; corner < 8; ++corner) {
        const vxs_vec3 p = voxshell::ode::to_world(
            pose, {corner & 1 ? b.max.x : b.min.x, corner & 2 ? b.max.y : b.min.y, corner & 4 ? b.max.z : b.min.z});
        const double at[3] = {p.x, p.y, p.z};
        for (int i = 0; i < 3; ++i) low[i] = std::min(low[i], at[i]), high[i] = std::max(high[i], at[i]);
    }
    for (int i = 0; i < 3; ++i) {
        box[2 * i] = dReal(low[i] - room);
        box[2 * i + 1] = dReal(high[i] + room);
    }
}

void destroy(dGeomID geom) {
    if (g_state)
        g_state->pairs.drop(id_of(geom));
    vxs_shape_release(data_of(geom).shape);
}

} // namespace

void dVoxshellSettingsInit(dVoxshellSettings* settings) {
    settings->margin = dReal(0.001);
    settings->step = 0;
    settings->coverage = VXS_COVERAGE_FACETS;
    settings->sheet_depth = dReal(0.05);
}

int dVoxshellInit(const dVoxshellSettings* settings) {
    // The library may be another one than the headers': its numbers would be read wrongly.
    const char* const precision = sizeof(dReal) == sizeof(double) ? "ODE_double_precision" : "ODE_single_precision";
    if (!dCheckConfiguration(precision)) {
        dMessage(d_ERR_UNKNOWN, "voxshell: this ODE is not built with %s, for which the host was compiled", precision);
        return 0;
    }
    g_state.reset(new State);
    dVoxshellSettingsInit(&g_state->settings);
    if (settings)
        g_state->settings = *settings;
    dGeomClass geom = {};
    geom.bytes = int(sizeof(Data));
    geom.collider = collider_for;
    geom.aabb = box_of;
    geom.dtor = destroy;
    g_class = dCreateGeomClass(&geom);
    return g_class >= 0;
}

void dVoxshellConfigure(const dVoxshellSettings* settings) {
    if (g_state && settings)
        g_state->settings = *settings;
}

dGeomID dCreateVoxshell(dSpaceID space, const vxs_shape* shape) {
    vxs_shape* own = nullptr;
    vxs_aabb bounds;
    if (g_class < 0 || vxs_shape_get_bounds(shape, &bounds) || !std::isfinite(bounds.min.x + bounds.max.x) ||
        vxs_shape_retain(shape, &own)) {
        dMessage(d_ERR_UNKNOWN, "voxshell: %s",
                 g_class < 0 ? "dVoxshellInit was not called" : "the shape is not one, or is infinite");
        return nullptr;
    }
    vxs_shape_prepare_coverage(own, g_state->settings.coverage);
    const dGeomID geom = dCreateGeom(g_class);
    data_of(geom).shape = own;
    data_of(geom).bounds = bounds;
    if (space)
        dSpaceAdd(space, geom);
    return geom;
}

int dVoxshellClass(void) { return g_class; }

const vxs_shape* dGeomVoxshellGetShape(dGeomID geom) {
    return geom && g_class >= 0 && dGeomGetClass(geom) == g_class ? data_of(geom).shape : nullptr;
}

void dVoxshellSetShape(dGeomID geom, const vxs_shape* shape) {
    if (g_state)
        g_state->stock.set(geom, shape);
}

void dVoxshellPrepareContact(dContact* contact, dReal step) {
    if (!(contact->geom.depth < 0) || !(step > 0))
        return;
    contact->surface.mode |= dContactMotionN;
    contact->surface.motionN = contact->geom.depth / step;
}

void dVoxshellEndStep(void) {
    if (g_state)
        g_state->pairs.end_step();
}

void dVoxshellClose(void) {
    g_state.reset();
    g_class = -1;
}
