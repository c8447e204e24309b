// The host "ode": bodies of the Open Dynamics Engine, with the geometry class of cpp/ode.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <voxshell/ode.h>

#include "../world.h"

namespace conformance {
namespace {

/// Contacts of a pair.
const int kContacts = 16;

struct Mesh {
    std::vector<dReal> vertices;
    std::vector<dTriIndex> indices;
    dTriMeshDataID data = nullptr;
};

class OdeWorld : public World {
public:
    explicit OdeWorld(const WorldSettings& settings) : m_settings(settings) {
        dInitODE2(0);
        dVoxshellSettings voxshell;
        dVoxshellSettingsInit(&voxshell);
        voxshell.margin = dReal(settings.margin);
        voxshell.step = dReal(settings.dt);
        if (!dVoxshellInit(&voxshell))
            std::exit(1);
        m_world = dWorldCreate();
        m_space = dHashSpaceCreate(nullptr);
        m_group = dJointGroupCreate(0);
        dWorldSetGravity(m_world, 0, dReal(-settings.gravity), 0);
        dWorldSetCFM(m_world, 1e-9);
        dWorldSetERP(m_world, 0.2);
        dWorldSetQuickStepNumIterations(m_world, settings.iterations);
    }
    ~OdeWorld() override {
        dJointGroupDestroy(m_group);
        dSpaceDestroy(m_space);
        dWorldDestroy(m_world);
        for (Mesh& mesh : m_meshes) dGeomTriMeshDataDestroy(mesh.data);
        dVoxshellClose();
        dCloseODE();
    }

    int add(const BodySpec& spec) override {
        const dGeomID geom = make(spec);
        if (!geom)
            std::exit(1);
        dBodyID body = nullptr;
        if (spec.mass > 0) {
            body = dBodyCreate(m_world);
            const double ball = 0.4 * spec.size.x * spec.size.x;
            const vxs_vec3 inertia = spec.model ? spec.model->inertia : vxs_vec3{ball, ball, ball};
            dMass mass;
            dMassSetParameters(&mass, dReal(spec.mass), 0, 0, 0, dReal(spec.mass * inertia.x),
                               dReal(spec.mass * inertia.y), dReal(spec.mass * inertia.z), 0, 0, 0);
            dBodySetMass(body, &mass);
            dBodySetGyroscopicMode(body, 1);
            dGeomSetBody(geom, body);
        }
        m_bodies.push_back(body);
        m_geoms.push_back(geom);
        m_specs.push_back(spec);
        if (spec.stock != Stock::Plane)
            put(m_bodies.size() - 1, spec.pose);
        if (body) {
            dBodySetLinearVel(body, dReal(spec.linear_velocity.x), dReal(spec.linear_velocity.y),
                              dReal(spec.linear_velocity.z));
            dBodySetAngularVel(body, dReal(spec.angular_velocity.x), dReal(spec.angular_velocity.y),
                               dReal(spec.angular_velocity.z));
        }
        return int(m_bodies.size()) - 1;
    }

    void step() override {
        m_seconds = 0;
        m_contacts = 0;
        dSpaceCollide(m_space, this, near);
        dWorldStep(m_world, dReal(m_settings.dt));
        dJointGroupEmpty(m_group);
        dVoxshellEndStep();
    }

    BodyState state(int index) const override {
        const dBodyID body = m_bodies[size_t(index)];
        if (!body)
            return {m_specs[size_t(index)].pose, {0, 0, 0}, {0, 0, 0}};
        const dReal *const p = dBodyGetPosition(body), *const q = dBodyGetQuaternion(body);
        const dReal *const v = dBodyGetLinearVel(body), *const w = dBodyGetAngularVel(body);
        return {{{p[0], p[1], p[2]}, q[1], q[2], q[3], q[0]}, {v[0], v[1], v[2]}, {w[0], w[1], w[2]}};
    }

    void place(int body, const vxs_pose& pose) override {
        put(size_t(body), pose);
        dBodySetLinearVel(m_bodies[size_t(body)], 0, 0, 0);
        dBodySetAngularVel(m_bodies[size_t(body)], 0, 0, 0);
    }

    double narrowphase_seconds() const override { return m_seconds; }
    size_t contacts() const override { return m_contacts; }

    RayHit cast_ray(const vxs_vec3& from, const vxs_vec3& to) override {
        const double d[3] = {to.x - from.x, to.y - from.y, to.z - from.z};
        const double length = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        const dGeomID ray = dCreateRay(nullptr, dReal(length));
        dGeomRaySet(ray, dReal(from.x), dReal(from.y), dReal(from.z), dReal(d[0]), dReal(d[1]), dReal(d[2]));
        RayHit nearest;
        double least = 1e300;
        for (const dGeomID geom : m_geoms) {
            dContactGeom contact;
            if (dCollide(ray, geom, 1, &contact, sizeof contact) && double(contact.depth) < least) {
                least = double(contact.depth);
                nearest = {true,
                           {contact.pos[0], contact.pos[1], contact.pos[2]},
                           {contact.normal[0], contact.normal[1], contact.normal[2]}};
            }
        }
        dGeomDestroy(ray);
        return nearest;
    }

private:
    dGeomID make(const BodySpec& spec) {
        if (spec.model && m_settings.own_method)
            return make_mesh(*spec.model);
        if (spec.model)
            return dCreateVoxshell(m_space, spec.model->shape);
        if (spec.stock == Stock::Plane)
            return dCreatePlane(m_space, 0, 1, 0, 0);
        if (spec.stock == Stock::Box)
            return dCreateBox(m_space, dReal(2 * spec.size.x), dReal(2 * spec.size.y), dReal(2 * spec.size.z));
        return dCreateSphere(m_space, dReal(spec.size.x));
    }

    dGeomID make_mesh(const Model& model) {
        m_meshes.emplace_back();
        Mesh& mesh = m_meshes.back();
        for (const vxs_vec3& v : model.vertices) {
            const double at[3] = {v.x, v.y, v.z};
            for (const double x : at) mesh.vertices.push_back(dReal(x));
        }
        mesh.indices.assign(model.indices.begin(), model.indices.end());
        mesh.data = dGeomTriMeshDataCreate();
        const int stride = int(3 * sizeof(dReal));
        if (sizeof(dReal) == sizeof(double))
            dGeomTriMeshDataBuildDouble(mesh.data, mesh.vertices.data(), stride, int(model.vertices.size()),
                                        mesh.indices.data(), int(mesh.indices.size()), 3 * sizeof(dTriIndex));
        else
            dGeomTriMeshDataBuildSingle(mesh.data, mesh.vertices.data(), stride, int(model.vertices.size()),
                                        mesh.indices.data(), int(mesh.indices.size()), 3 * sizeof(dTriIndex));
        return dCreateTriMesh(m_space, mesh.data, nullptr, nullptr, nullptr);
    }

    void put(size_t body, const vxs_pose& pose) {
        const dQuaternion q = {dReal(pose.qw), dReal(pose.qx), dReal(pose.qy), dReal(pose.qz)};
        dGeomSetPosition(m_geoms[body], dReal(pose.position.x), dReal(pose.position.y), dReal(pose.position.z));
        dGeomSetQuaternion(m_geoms[body], q);
    }

    static void near(void* user, dGeomID a, dGeomID b) {
        OdeWorld& world = *static_cast<OdeWorld*>(user);
        if (!dGeomGetBody(a) && !dGeomGetBody(b))
            return;
        dContact contacts[kContacts];
        const auto start = std::chrono::steady_clock::now();
        const int count = dCollide(a, b, kContacts, &contacts[0].geom, sizeof(dContact));
        world.m_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        for (int i = 0; i < count; ++i) {
            dContact& contact = contacts[i];
            contact.surface.mode = dContactApprox1;
            contact.surface.mu = dReal(world.m_settings.friction);
            dVoxshellPrepareContact(&contact, dReal(world.m_settings.dt));
            world.m_contacts += double(contact.geom.depth) >= -world.m_settings.margin;
            dJointAttach(dJointCreateContact(world.m_world, world.m_group, &contact), dGeomGetBody(a), dGeomGetBody(b));
        }
    }

    WorldSettings m_settings;
    dWorldID m_world;
    dSpaceID m_space;
    dJointGroupID m_group;
    std::vector<dBodyID> m_bodies;
    std::vector<dGeomID> m_geoms;
    std::vector<BodySpec> m_specs;
    std::vector<Mesh> m_meshes;
    double m_seconds = 0;
    size_t m_contacts = 0;
};

} // namespace

std::unique_ptr<World> make_world(const WorldSettings& settings) {
    return std::unique_ptr<World>(new OdeWorld(settings));
}
const char* host_name() { return "ode"; }
// ODE has no function that tells its version; cpp/ode needs 0.16.
std::string host_version() {
    return std::string("ODE 0.16, ") + (sizeof(dReal) == sizeof(double) ? "double" : "single");
}
const char* own_method_name() { return "dTriMesh"; }

} // namespace conformance
