/* Continuous collision detection for Voxshell shapes in a stock world. */
#ifndef VOXSHELL_BULLET_MOTION_CLAMP_H
#define VOXSHELL_BULLET_MOTION_CLAMP_H

#include <memory>

#include <BulletDynamics/Dynamics/btActionInterface.h>

/// Stops bodies at their time of impact within a step, so that no body tunnels, however fast or thin it is.
///
/// Bullet's own continuous collision detection is for convex shapes. This class is an action: the world runs it at the
/// end of every step, after it has moved the bodies. The clamp repeats the step for each body that moved by more than
/// its pair's resolution, along the motion that Bullet gave it (straight, turning about the centre of mass), against
/// all bodies on its path. The first body to hit is put back to where it hit, and the clamp tests the bodies again that
/// it would have hit later. Velocities stay: in the next step the pair has contacts, and the solver stops the body
/// there or lets it bounce at its full speed. The rest of that body's step is lost.
///
/// One of the shapes of a pair must be a Voxshell shape, bare or in a compound; the other may be any shape that
/// collides with it. Contacts that are no deeper than a tenth of the resolution stop no body: resting, rolling and
/// sliding are the same as without the clamp.
///
/// Kinematic bodies are never stopped. A body that a kinematic one hits, on the path from its pose in the step before,
/// is pushed along in front of it to the end of that path, and leaves at the speed of a collision with an infinite mass
/// (without friction). A body caught between a kinematic body and an immovable one is left where it was caught. A turn
/// of more than 180 degrees is taken the short way round, and a teleported kinematic body sweeps all that lies in
/// between.
/// \code
/// btVoxShellMotionClamp clamp;
/// world.addAction(&clamp);    // removeAction before it goes
/// \endcode
/// Two worlds that step at the same time must not share one clamp. It costs time only for bodies that are fast and near
/// others.
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

	/// Returns the number of bodies stopped or pushed in the last step.
	int getNumStopped() const;

private:
	struct State;
	std::unique_ptr<State> m_state;
};

#endif
