// Registration with Jolt, and the sides of a query.
#include <voxshell/jolt.h>

#include <memory>

#include <Jolt/RegisterTypes.h>

#include "convert.h"
#include "partners.h"
#include "registry.h"
#include "sides.h"

namespace voxshell::jolt {
namespace {

/// Not destroyed at the end of the program: Jolt's allocator may be gone by then.
struct State {
    Settings settings;
    JPH::EShapeSubType sub_type = JPH::EShapeSubType::User1;
    std::unique_ptr<Partners> partners;
};

State& state() {
    static State* const own = new State;
    return *own;
}

} // namespace

const Settings& registered_settings() { return state().settings; }
JPH::EShapeSubType registered_sub_type() { return state().sub_type; }

bool Register(const Settings& settings, JPH::EShapeSubType sub_type) {
    if (!JPH::VerifyJoltVersionID() || sub_type < JPH::EShapeSubType::User1 || sub_type > JPH::EShapeSubType::User8)
        return false;
    State& own = state();
    own.settings = settings;
    own.sub_type = sub_type;
    own.partners.reset(new Partners(settings));

    JPH::ShapeFunctions& functions = JPH::ShapeFunctions::sGet(sub_type);
    functions.mConstruct = []() -> JPH::Shape* { return new VoxshellShape; };
    functions.mColor = JPH::Color::sCyan;
    // Compound and decorated shapes register themselves for all types, the user defined ones too.
    const auto add = [sub_type](JPH::EShapeSubType other) {
        JPH::CollisionDispatch::sRegisterCollideShape(sub_type, other, collide);
        JPH::CollisionDispatch::sRegisterCollideShape(other, sub_type, JPH::CollisionDispatch::sReversedCollideShape);
        JPH::CollisionDispatch::sRegisterCastShape(sub_type, other, cast);
        JPH::CollisionDispatch::sRegisterCastShape(other, sub_type, JPH::CollisionDispatch::sReversedCastShape);
    };
    for (const JPH::EShapeSubType other : JPH::sConvexSubShapeTypes) add(other);
    add(JPH::EShapeSubType::Mesh);
    add(JPH::EShapeSubType::HeightField);
    JPH::CollisionDispatch::sRegisterCollideShape(sub_type, sub_type, collide);
    JPH::CollisionDispatch::sRegisterCastShape(sub_type, sub_type, cast);
    return true;
}

void Unregister() { state().partners.reset(); }

bool Prepare(const JPH::Shape* shape, JPH::Vec3Arg scale) {
    Partner partner;
    return state().partners && state().partners->find(shape, scale, partner);
}

bool Side::set(const JPH::Shape* wanted, JPH::Vec3Arg scale, JPH::Mat44Arg transform) {
    jolt = wanted;
    if (wanted->GetSubType() == registered_sub_type()) {
        voxshell = static_cast<const VoxshellShape*>(wanted);
        shape = triangles = voxshell->GetScaled(scale.GetX());
        pose = pose_of(transform, -scale.GetX() * voxshell->GetCenterOfMass());
        return shape;
    }
    Partner partner;
    if (!state().partners || !state().partners->find(wanted, scale, partner))
        return false;
    shape = partner.shape;
    triangles = partner.triangles ? partner.triangles : partner.shape;
    ids = partner.ids;
    normals = partner.normals;
    field = partner.field;
    pose = pose_of(transform, JPH::Vec3::sZero(), partner.turn);
    return true;
}

host::Body Side::body() const {
    host::Body body;
    body.shape = shape;
    body.pose = pose;
    body.center_of_mass = pose.position;
    return body;
}

bool Side::is_back_face(uint32_t triangle, const vxs_vec3& normal) const {
    // Contacts at an open edge are perpendicular to the triangle: they count.
    return ids && triangle < normals->size() && dot((*normals)[triangle], to_body(pose, normal)) > 0.1;
}

double Side::facing(uint32_t triangle, const vxs_vec3& point, const vxs_vec3& direction) const {
    if (voxshell)
        return triangle == VXS_TRIANGLE_NONE ? 1 : dot(voxshell->GetTriangleNormal(triangle), to_body(pose, direction));
    if (!field)
        return 1;
    if (normals && triangle < normals->size())
        return dot((*normals)[triangle], to_body(pose, direction));
    double distance;
    vxs_vec3 gradient;
    if (vxs_field_distance(field, to_body(pose, difference(point, pose.position)), &distance, &gradient))
        return 1;
    return dot(gradient, to_body(pose, direction));
}

JPH::SubShapeID Side::id(const JPH::SubShapeIDCreator& creator, uint32_t triangle, uint32_t ordinal) const {
    const uint32_t number = triangle == VXS_TRIANGLE_NONE ? 0 : triangle;
    if (voxshell)
        return voxshell->GetID(creator, number, ordinal).GetID();
    if (ids && number < ids->size())
        return creator.PushID((*ids)[number], jolt->GetSubShapeIDBitsRecursive()).GetID();
    return creator.GetID();
}

} // namespace voxshell::jolt
