// A Voxshell torus against each built-in class of ODE, 5 mm deep: the depth, the normal in both orders, and what is
// refused.
#include <algorithm>
#include <cmath>
#include <vector>

#include <voxshell/ode.h>

#include "../bullet/check.h"

namespace {

struct Found {
    int count = 0;
    double depth = -1;
    double up = 0; // of the deepest contact's normal
};

Found collide(dGeomID a, dGeomID b) {
    dContactGeom contacts[16];
    Found found;
    found.count = dCollide(a, b, 16, contacts, sizeof *contacts);
    for (int i = 0; i < found.count; ++i)
        if (double(contacts[i].depth) > found.depth)
            found.depth = double(contacts[i].depth), found.up = double(contacts[i].normal[1]);
    return found;
}

/// The torus lies 5 mm deep on a geometry whose top is at y = 0.
void check(const char* name, dGeomID torus, dGeomID other, double tolerance) {
    const Found forward = collide(torus, other), backward = collide(other, torus);
    std::printf("%s: %d contacts, %.3f mm deep\n", name, forward.count, 1e3 * forward.depth);
    CHECK(forward.count > 0 && backward.count == forward.count);
    CHECK_NEAR(forward.depth, 0.005, tolerance);
    CHECK(backward.depth == forward.depth);
    // Into the first geometry.
    CHECK(forward.up > 0.98 && backward.up < -0.98);
    dGeomDestroy(other);
}

} // namespace

int main() {
    CHECK(dVoxshellClass() == -1);
    dInitODE2(0);
    CHECK(dVoxshellInit(nullptr) == 1);
    vxs_primitive primitive;
    vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_TORUS);
    primitive.size[0] = 0.3, primitive.size[1] = 0.1;
    vxs_shape* shape = nullptr;
    if (vxs_shape_create_primitive(&primitive, nullptr, &shape))
        return 1;
    const dGeomID torus = dCreateVoxshell(nullptr, shape);
    CHECK(dGeomGetClass(torus) == dVoxshellClass() && dGeomVoxshellGetShape(torus) != nullptr);
    dGeomSetPosition(torus, 0, dReal(0.095), 0);

    check("plane", torus, dCreatePlane(nullptr, 0, 1, 0, 0), 2e-4);
    const dGeomID box = dCreateBox(nullptr, 2, dReal(0.4), 2);
    dGeomSetPosition(box, 0, dReal(-0.2), 0);
    check("box", torus, box, 2e-4);
    const dGeomID sphere = dCreateSphere(nullptr, dReal(0.2));
    dGeomSetPosition(sphere, dReal(0.3), dReal(-0.2), 0);
    check("sphere", torus, sphere, 3e-4);
    const dGeomID capsule = dCreateCapsule(nullptr, dReal(0.1), 2); // along z
    dGeomSetPosition(capsule, dReal(0.3), dReal(-0.1), 0);
    check("capsule", torus, capsule, 3e-4);
    const dGeomID cylinder = dCreateCylinder(nullptr, dReal(0.1), 2);
    dGeomSetPosition(cylinder, dReal(0.3), dReal(-0.1), 0);
    check("cylinder", torus, cylinder, 3e-4);

    const dReal vertices[] = {-1, 0, -1, -1, 0, 1, 1, 0, 1, 1, 0, -1};
    const dTriIndex indices[] = {0, 1, 2, 0, 2, 3};
    const dTriMeshDataID data = dGeomTriMeshDataCreate();
    const int stride = int(3 * sizeof(dReal));
    if (sizeof(dReal) == sizeof(double))
        dGeomTriMeshDataBuildDouble(data, vertices, stride, 4, indices, 6, 3 * sizeof(dTriIndex));
    else
        dGeomTriMeshDataBuildSingle(data, vertices, stride, 4, indices, 6, 3 * sizeof(dTriIndex));
    check("trimesh", torus, dCreateTriMesh(nullptr, data, nullptr, nullptr, nullptr), 2e-4);
    dGeomTriMeshDataDestroy(data);

    // A height field has no shape until it is given one.
    const float heights[4] = {0, 0, 0, 0};
    const dHeightfieldDataID field = dGeomHeightfieldDataCreate();
    dGeomHeightfieldDataBuildSingle(field, heights, 0, 2, 2, 2, 2, 1, 0, 1, 0);
    const dGeomID terrain = dCreateHeightfield(nullptr, field, 1);
    CHECK(collide(torus, terrain).count == 0);
    const vxs_vec3 ground[] = {{-1, 0, -1}, {-1, 0, 1}, {1, 0, 1}, {1, 0, -1}};
    const uint32_t corners[] = {0, 1, 2, 0, 2, 3};
    vxs_shape* sheet = nullptr;
    CHECK(vxs_shape_create_sheet(ground, 4, corners, 2, 0.05, &sheet) == VXS_OK);
    dVoxshellSetShape(terrain, sheet);
    vxs_shape_release(sheet);
    check("heightfield", torus, terrain, 2e-4);
    dGeomHeightfieldDataDestroy(field);

    const dGeomID other = dCreateVoxshell(nullptr, shape);
    dGeomSetPosition(other, 0, dReal(-0.1), 0);
    check("voxshell", torus, other, 3e-4);

    vxs_shape* half_space = nullptr;
    CHECK(vxs_shape_create_half_space({0, 1, 0}, 0, &half_space) == VXS_OK);
    CHECK(dCreateVoxshell(nullptr, half_space) == nullptr && dCreateVoxshell(nullptr, nullptr) == nullptr);
    vxs_shape_release(half_space);
    vxs_shape_release(shape);
    dGeomDestroy(torus);
    dVoxshellClose();
    dCloseODE();
    return finish();
}
