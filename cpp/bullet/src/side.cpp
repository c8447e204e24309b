#include "side.h"

#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>
#include <BulletDynamics/Dynamics/btRigidBody.h>
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>

namespace voxshell_bullet
{
namespace
{
/// Square of an angular velocity times the step, rad²/s.
const double kFastTurning = 0.01;

/// Extent of a plane, m.
const double kInfiniteExtent = 1e12;

/// Adds the motion of a rigid body.
void add_motion_of(const btRigidBody& body, double dt, Motion& motion)
{
	motion.linear = to_vec(body.getLinearVelocity());
	motion.angular = to_vec(body.getAngularVelocity());
	if (body.isKinematicObject() || !(body.getInvMass() > 0))
		return;
	motion.inverse_mass = double(body.getInvMass());
	for (int row = 0; row < 3; ++row)
		motion.inverse_inertia[row] = to_vec(body.getInvInertiaTensorWorld()[row]);
	motion.linear_acceleration = to_vec(body.getTotalForce() * body.getInvMass());
	motion.angular_acceleration = to_vec(body.getInvInertiaTensorWorld() * body.getTotalTorque());
#if BT_BULLET_VERSION >= 283
	// Gyroscopic acceleration that the solver adds to a body that is no ball and turns fast.
	if (body.getFlags() & BT_ENABLE_GYROSCOPIC_FORCE_IMPLICIT_BODY && length2(motion.angular) * dt > kFastTurning)
		motion.angular_acceleration = motion.angular_acceleration + to_vec(body.computeGyroscopicImpulseImplicit_Body(btScalar(dt))) * (1 / dt);
#else
	(void)dt;
#endif
}

#if BT_BULLET_VERSION >= 285
/// Velocities of a link's centre of mass, or of the base's, in the frame of the link.
struct LinkVelocity
{
	btVector3 linear, angular;
};

/// Returns the velocity of a link, or of the base (-1). Bullet keeps none that is up to date before the solver has run.
LinkVelocity velocity_of(const btMultiBody& body, int number)
{
	if (number < 0)
		return {quatRotate(body.getWorldToBaseRot(), body.getBaseVel()), quatRotate(body.getWorldToBaseRot(), body.getBaseOmega())};
	const btMultibodyLink& link = body.getLink(number);
	const LinkVelocity parent = velocity_of(body, link.m_parent);
	LinkVelocity v;
	v.angular = quatRotate(link.m_cachedRotParentToThis, parent.angular);
	v.linear = quatRotate(link.m_cachedRotParentToThis, parent.linear) + v.angular.cross(link.m_cachedRVector);
	const btScalar* const joint = body.getJointVelMultiDof(number);
	for (int dof = 0; dof < link.m_dofCount; ++dof)
	{
		v.angular += joint[dof] * link.getAxisTop(dof);
		v.linear += joint[dof] * link.getAxisBottom(dof);
	}
	return v;
}

/// Adds the motion of a link or a base. What its joints do to it in the step is not known: it is pushed and accelerated as if
/// it were free.
void add_motion_of(const btMultiBodyLinkCollider& collider, Motion& motion)
{
	const btMultiBody& body = *collider.m_multiBody;
	const int link = collider.m_link;
	const btMatrix3x3& frame = collider.getWorldTransform().getBasis();
	const LinkVelocity velocity = velocity_of(body, link);
	motion.linear = to_vec(frame * velocity.linear);
	motion.angular = to_vec(frame * velocity.angular);
	const btScalar mass = link < 0 ? body.getBaseMass() : body.getLinkMass(link);
	if (collider.isKinematicObject() || (link < 0 && body.hasFixedBase()) || !(mass > 0))
		return;
	motion.inverse_mass = 1 / double(mass);
	const btVector3& inertia = link < 0 ? body.getBaseInertia() : body.getLinkInertia(link);
	btVector3 inverse;
	for (int axis = 0; axis < 3; ++axis)
		inverse[axis] = inertia[axis] > 0 ? 1 / inertia[axis] : 0;
	const btMatrix3x3 about_world = frame.scaled(inverse) * frame.transpose();
	for (int row = 0; row < 3; ++row)
		motion.inverse_inertia[row] = to_vec(about_world[row]);
	btVector3 torque = link < 0 ? body.getBaseTorque() : body.getLinkTorque(link);
	if (body.getUseGyroTerm())
		torque -= frame * velocity.angular.cross(inertia * velocity.angular);
	motion.linear_acceleration = to_vec((link < 0 ? body.getBaseForce() : body.getLinkForce(link)) / mass);
	motion.angular_acceleration = to_vec(about_world * torque);
}
#endif

Motion motion_of(const btCollisionObject* object, double dt)
{
	Motion motion;
	motion.center = to_vec(object->getWorldTransform().getOrigin());
	// A kinematic body usually has both flags.
	if (object->isStaticObject() && !object->isKinematicObject())
		return motion;
	if (const btRigidBody* const body = btRigidBody::upcast(object))
		add_motion_of(*body, dt, motion);
#if BT_BULLET_VERSION >= 285
	else if (const btMultiBodyLinkCollider* const collider = btMultiBodyLinkCollider::upcast(object))
		add_motion_of(*collider, motion);
#endif
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

double resolution_of(const Side& first, const Side& second)
{
	double resolution = std::numeric_limits<double>::infinity();
	for (const Side* side : {&first, &second})
		if (side->voxshell)
			resolution = std::min(resolution, double(side->voxshell->getResolution()));
	return resolution;
}

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
