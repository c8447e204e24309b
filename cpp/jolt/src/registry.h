// State of the adapter: the settings, and the functions that the parts register with Jolt.
#ifndef VOXSHELL_JOLT_REGISTRY_H
#define VOXSHELL_JOLT_REGISTRY_H

#include <voxshell/jolt.h>

#include <Jolt/Physics/Collision/CollisionDispatch.h>

namespace voxshell::jolt {

const Settings& registered_settings();
JPH::EShapeSubType registered_sub_type();

/// CollisionDispatch::CollideShape of a Voxshell shape and any other one that is neither compound nor decorated.
void collide(const JPH::Shape* shape_1, const JPH::Shape* shape_2, JPH::Vec3Arg scale_1, JPH::Vec3Arg scale_2,
             JPH::Mat44Arg transform_1, JPH::Mat44Arg transform_2, const JPH::SubShapeIDCreator& creator_1,
             const JPH::SubShapeIDCreator& creator_2, const JPH::CollideShapeSettings& settings,
             JPH::CollideShapeCollector& collector, const JPH::ShapeFilter& filter);

/// CollisionDispatch::CastShape of a Voxshell shape against any other one that is neither compound nor decorated.
void cast(const JPH::ShapeCast& cast, const JPH::ShapeCastSettings& settings, const JPH::Shape* shape,
          JPH::Vec3Arg scale, const JPH::ShapeFilter& filter, JPH::Mat44Arg transform_2,
          const JPH::SubShapeIDCreator& creator_1, const JPH::SubShapeIDCreator& creator_2,
          JPH::CastShapeCollector& collector);

} // namespace voxshell::jolt

#endif
