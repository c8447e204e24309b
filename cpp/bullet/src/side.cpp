#include "side.h"

#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>
#include <BulletDynamics/Dynamics/btRigidBody.h>

namespace voxshell_bullet
{
namespace
{
/// Square of an angular velocity times the step, rad²/s.
const double kFastTurning = 0.01;

/// Extent of a plane, m.
const double kInfiniteExtent = 1e12;

Motion motion_of(const btCollisionObject* object, double dt)
{
	Motion motion;
	motion.center = to_vec(object->getWorldTransform().getOrigin());
	const btRigidBody* body = btRigidBody::upcast(object);
	// A kinematic body usually has both flags.
	if (!body || (body->isStaticObject() && !body->isKinematicObject()))
		return motion;
	motion.linear = to_vec(body->getLinearVelocity());
	motion.angular = to_vec(body->getAngularVelocity());
	if (!body->isKinematicObject() && body->getInvMass() > 0)
	{
		motion.inverse_mass = double(body->getInvMass());
		for (int row = 0; row < 3; ++row)
			motion.inverse_inertia[row] = to_vec(body->getInvInertiaTensorWorld()[row]);
		motion.linear_acceleration = to_vec(body->getTotalForce() * body->getInvMass());
		motion.angular_acceleration = to_vec(body->getInvInertiaTensorWorld() * body->getTotalTorque());
#if BT_BULLET_VERSION >= 283
		// Gyroscopic acceleration that the solver adds to a body that is no ball and turns fast.
		if (body->getFlags() & BT_ENABLE_GYROSCOPIC_FORCE_IMPLICIT_BODY && length2(motion.angular) * dt > kFastTurning)
			motion.angular_acceleration = motion.angular_acceleration + to_vec(body->computeGyroscopicImpulseImplicit_Body(btScalar(dt))) * (1 / dt);
#endif
	}
	return motion;
}

/// Returns the radius around the body's centre of mass that holds the shape; huge for a plane.
double extent_of(const btCollisionObjectWrapper* wrap, const Side& side)
{
	btVector3 center;
	btScalar radius;
	if (side.voxshell)
	{
		center = side.voxshell->getLocalCenter();
		radius = side.voxshell->getLocalHalfExtents().length();
	}
	else if (side.is_plane())
		return kInfiniteExtent;
	else
		side.stock->getBoundingSphere(center, radius);
	return double((wrap->getWorldTransform()(center) - wrap->getCollisionObject()->getWorldTransform().getOrigin()).length() + radius);
}
}  // namespace

bool Side::is_plane() const { return stock && stock->getShapeType() == STATIC_PLANE_PROXYTYPE; }

Side side_of(const btCollisionObjectWrapper* wrap, double dt)
{
	Side side;
	side.voxshell = btVoxShellBaseShape::upcast(wrap->getCollisionShape());
	side.stock = side.voxshell ? nullptr : wrap->getCollisionShape();
	side.pose = to_pose(wrap->getWorldTransform());
	side.motion = motion_of(wrap->getCollisionObject(), dt);
	side.extent = extent_of(wrap, side);
	return side;
}

void limit_radii(Side& first, Side& second)
{
	const double apart = length(first.motion.center - second.motion.center);
	first.motion.radius = std::min(first.extent, apart + second.extent);
	second.motion.radius = std::min(second.extent, apart + first.extent);
}
}  // namespace voxshell_bullet
