/* Continuous collision detection for Voxshell shapes in a stock world. */
#ifndef VOXSHELL_BULLET_MOTION_CLAMP_H
#define VOXSHELL_BULLET_MOTION_CLAMP_H

#include <memory>

#include <BulletDynamics/Dynamics/btActionInterface.h>

/// Stops bodies where they hit on their way through a step, so that nothing tunnels, however fast or thin it is.
///
/// Bullet's own continuous collision detection is for convex shapes. This is an action: the world runs it at the end of every step,
/// after it has moved the bodies. Bodies that moved by more than their pair's resolution are taken through the step again, as
/// Bullet moved them (straight and turning about the centre of mass), against all that lies on their way; the first to hit is put
/// back to where it hit, and those that it would have hit are looked at again. Velocities stay: in the next step the pair
/// has contacts, and the solver stops the body there or lets it bounce at its full speed. What is lost is the rest of
/// that body's step.
///
/// Needs one of the shapes of a pair to be a Voxshell shape, bare or in a compound; the other may be anything that collides with
/// it. Contacts that are no deeper than a tenth of the resolution stop nobody: resting, rolling and sliding are as without it.
///
/// Kinematic bodies are never stopped. What one hits on the way from where it was in the step before is pushed along in front of it
/// to the end of that way, and leaves at the speed of a collision with an infinite mass (without friction). A body caught
/// between it and something that does not give way is left where it was caught. A turn of more than 180 degrees is
/// taken the short way round, and a teleported kinematic body sweeps all that lies in between.
/// \code
/// btVoxShellMotionClamp clamp;
/// world.addAction(&clamp);    // removeAction before it goes
/// \endcode
/// Not for use by two worlds that step at the same time. Costs time only for bodies that are fast and near others.
class btVoxShellMotionClamp : public btActionInterface
{
public:
	btVoxShellMotionClamp();
	~btVoxShellMotionClamp() override;
	btVoxShellMotionClamp(const btVoxShellMotionClamp&) = delete;
	btVoxShellMotionClamp& operator=(const btVoxShellMotionClamp&) = delete;

	/// Called by the world.
	void updateAction(btCollisionWorld* world, btScalar timeStep) override;
	void debugDraw(btIDebugDraw* drawer) override;

	/// Bodies stopped or pushed in the last step.
	int getNumStopped() const;

private:
	struct State;
	std::unique_ptr<State> m_state;
};

#endif
