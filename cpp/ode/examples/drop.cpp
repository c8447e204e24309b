// A gear falls on one of ODE's boxes and comes to rest on it, hit by a ray from above. Also a test: it ends with 1 if
// the gear is not where it should be.
#include <cmath>
#include <cstdio>

#include <voxshell/ode.h>

namespace {

const dReal kStep = dReal(1) / 240;

struct Scene {
    dWorldID world;
    dJointGroupID group;
};

void near(void* user, dGeomID a, dGeomID b) {
    const Scene& scene = *static_cast<Scene*>(user);
    dContact contacts[16];
    const int count = dCollide(a, b, 16, &contacts[0].geom, sizeof(dContact));
    for (int i = 0; i < count; ++i) {
        contacts[i].surface.mode = dContactApprox1;
        contacts[i].surface.mu = dReal(0.5);
        dVoxshellPrepareContact(&contacts[i], kStep); // contacts before touching
        dJointAttach(dJointCreateContact(scene.world, scene.group, &contacts[i]), dGeomGetBody(a), dGeomGetBody(b));
    }
}

} // namespace

int main() {
    dInitODE2(0);
    dVoxshellSettings settings;
    dVoxshellSettingsInit(&settings);
    settings.step = kStep;
    if (!dVoxshellInit(&settings))
        return 1;
    vxs_primitive primitive;
    vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_GEAR);
    const double size[] = {0.1, 0.08, 0.05, 0.03}; // radii at the tips and the roots, thickness, bore
    for (int i = 0; i < 4; ++i) primitive.size[i] = size[i];
    vxs_shape* gear = nullptr;
    if (vxs_shape_create_primitive(&primitive, nullptr, &gear)) {
        std::fprintf(stderr, "%s\n", vxs_last_error());
        return 1;
    }
    const Scene scene = {dWorldCreate(), dJointGroupCreate(0)};
    const dSpaceID space = dHashSpaceCreate(nullptr);
    dWorldSetGravity(scene.world, 0, dReal(-9.81), 0);
    dCreateBox(space, 1, dReal(0.2), 1); // its top is at y = 0.1
    const dBodyID body = dBodyCreate(scene.world);
    const dGeomID geom = dCreateVoxshell(space, gear);
    dGeomSetBody(geom, body);
    dMass mass;
    vxs_mass_properties solid;
    vxs_shape_get_mass_properties(gear, &solid);
    dMassSetParameters(&mass, 1, 0, 0, 0, dReal(solid.inertia[0]), dReal(solid.inertia[1]), dReal(solid.inertia[2]), 0,
                       0, 0);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, 0, dReal(0.25), 0);
    for (int i = 0; i < 720; ++i) {
        dSpaceCollide(space, const_cast<Scene*>(&scene), near);
        dWorldStep(scene.world, kStep);
        dJointGroupEmpty(scene.group);
        dVoxshellEndStep();
    }
    const double height = double(dBodyGetPosition(body)[1]);
    // A ray down beside the bore meets the gear's upper face.
    const dGeomID ray = dCreateRay(nullptr, 1);
    dGeomRaySet(ray, dReal(0.05), dReal(0.6), 0, 0, -1, 0);
    dContactGeom hit;
    const int hits = dCollide(ray, geom, 1, &hit, sizeof hit);
    std::printf("the gear rests at %.5f m; the ray meets it after %.5f m\n", height, hits ? double(hit.depth) : 0);
    const bool passed = std::fabs(height - 0.125) < 1e-4 && hits == 1 && std::fabs(double(hit.depth) - 0.45) < 1e-4;
    dGeomDestroy(ray);
    dJointGroupDestroy(scene.group);
    dSpaceDestroy(space);
    dWorldDestroy(scene.world);
    dVoxshellClose();
    dCloseODE();
    vxs_shape_release(gear);
    return passed ? 0 : 1;
}
