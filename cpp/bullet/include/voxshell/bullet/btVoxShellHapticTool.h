/* A tool in a hand that feels and pushes the bodies of a stock Bullet world. */
#ifndef VOXSHELL_BULLET_HAPTIC_TOOL_H
#define VOXSHELL_BULLET_HAPTIC_TOOL_H

#include <memory>

#include <BulletDynamics/Dynamics/btActionInterface.h>
#include <LinearMath/btTransform.h>
#include <voxshell/voxshell.h>

class btRigidBody;
class btVoxShellBaseShape;

/// Couples a haptic device with the rigid bodies of a world, in both directions: the hand feels the bodies, and the
/// tool pushes the dynamic ones. Three loops work on it, each at its own rate, on threads of their own or in turn on
/// one:
///
///   step          the loop that serves the device, at 1 kHz: wait-free, without allocation
///   simulate      finds contacts, as often as it can
///   beforeTick    the world's thread, before each of its steps: applies the tool's impulses to the bodies
///   updateAction  the world's thread, after each of its steps: takes over the transforms of the bodies
///
/// \code
/// btVoxShellHapticTool tool(shape, btVoxShellHapticTool::settings(shape, 0.1, VXS_RENDERER_GOD_OBJECT, &device));
/// tool.addBody(box);
/// world.addAction(&tool);
/// const auto before_tick = [](btDynamicsWorld* w, btScalar dt) {
///     static_cast<btVoxShellHapticTool*>(w->getWorldUserInfo())->beforeTick(dt);
/// };
/// world.setInternalTickCallback(before_tick, &tool, true);
/// \endcode
///
/// Momentum is conserved: a body gets the time integral of the tool's force on it, which is the opposite of what the
/// tool feels. Between two steps of the world the tool meets the body at a pose that moves on with the body's
/// velocity and yields to the tool as the free body would, so that the world's lower rate adds no energy; see
/// vxs_haptics_set_body_motion. Where the world's contacts or joints hold a body against the tool's impulse, it
/// yields by as much less.
///
/// A body is a Voxshell shape, a plane or one of Bullet's convex shapes; neither compounds nor Bullet's meshes. The
/// tool needs a pointshell, or the bodies need one. Units are SI, the frame is the world's. Errors are thrown as
/// std::runtime_error with the library's message.
class btVoxShellHapticTool : public btActionInterface
{
public:
	/// Returns settings for a tool of a mass (kg) and a device; null: a device without limits. See
	/// vxs_haptics_settings_init. Every field can be changed before the tool is made.
	static vxs_haptics_settings settings(const btVoxShellBaseShape& shape, double mass, unsigned renderer, const vxs_haptics_limits* device = nullptr);

	/// Makes a tool without bodies. `capacity` is the largest number of bodies at a time. The shape must live as long.
	btVoxShellHapticTool(const btVoxShellBaseShape& shape, const vxs_haptics_settings& settings, int capacity = 64);
	~btVoxShellHapticTool() override;
	btVoxShellHapticTool(const btVoxShellHapticTool&) = delete;
	btVoxShellHapticTool& operator=(const btVoxShellHapticTool&) = delete;

	/// Lets the tool touch a body, from the next round of `simulate` on. The body's contacts fade in. On the world's
	/// thread.
	void addBody(btRigidBody* body);
	/// Ends that. Call it before the body is deleted. On the world's thread.
	void removeBody(btRigidBody* body);
	/// Sets how a body feels: a factor on its stiffness, and for VXS_RENDERER_GOD_OBJECT its friction. On the world's
	/// thread.
	void setFeel(btRigidBody* body, double stiffness, double friction);
	/// Says that a body was put somewhere else, so that the tool does not meet it on the way. On the world's thread.
	void teleported(btRigidBody* body);

	/// Makes a step: returns the wrench for the hand and more. On the device's thread; see vxs_haptics_step. While a
	/// body is picked, the wrench is about the hand's origin, and `tool` is the pose of that body.
	vxs_haptics_output step(const vxs_device_state& hand, double dt);
	/// Makes a round of the search for contacts. On one thread at a time; see vxs_haptics_simulate.
	void simulate();
	/// Applies the impulses of the tool since the last call. Before each step of the world, on its thread. If the
	/// world makes several steps at once, the impulses are divided among them evenly. After a pause of more than a
	/// quarter of a second, impulses from the pause are dropped.
	void beforeTick(btScalar timeStep);
	/// Called by the world.
	void updateAction(btCollisionWorld* world, btScalar timeStep) override;
	void debugDraw(btIDebugDraw*) override {}

	/// Takes a body into the hand: the tool gets its shape and mass, and the body follows the tool. It stays in the
	/// world as a kinematic body without contact response; the other bodies feel it through the tool. It does not
	/// jump: the hand holds it as it was. The wrench on the hand starts from zero. While no other thread is in `step`
	/// or `simulate`. The body must have a Voxshell shape and must have been added.
	void pick(btRigidBody* body);
	/// Lets the picked body go, with the velocity of the tool. The tool has its own shape again. As `pick`.
	void drop();
	btRigidBody* getPicked() const;

	/// Returns the pose of the tool, which is the pose to draw. On any thread.
	btTransform getToolTransform() const;
	/// Returns the pose at which the hand holds the tool: a ghost to draw beside it. On any thread.
	btTransform getHandTransform() const;
	/// Returns the load of the tool on a body in the last step, about its centre of mass; see vxs_haptics_get_load. On
	/// the world's thread.
	vxs_haptics_load getLoad(const btRigidBody* body) const;
	/// Returns the rates of the loops. On any thread.
	vxs_haptics_rates getRates() const;
	/// Returns the library's handle of the tool, or of the picked body.
	vxs_haptics* getHandle() const;

private:
	struct State;
	std::unique_ptr<State> m_state;
};

#endif
