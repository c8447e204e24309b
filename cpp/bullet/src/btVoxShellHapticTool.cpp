#include <voxshell/bullet/btVoxShellHapticTool.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <vector>

#include <BulletDynamics/Dynamics/btRigidBody.h>
#include <voxshell/bullet/btVoxShellShape.h>
#include <voxshell/device.hpp>

#include "forms.h"
#include "handle.h"
#include "stock_shapes.h"
#include "vec.h"

using namespace voxshell_bullet;
using voxshell::device::Published;
using voxshell::device::Quaternion;

namespace
{
struct ReleaseHaptics
{
	void operator()(vxs_haptics* haptics) const { vxs_haptics_release(haptics); }
};
using Haptics = std::unique_ptr<vxs_haptics, ReleaseHaptics>;

/// Impulses that are older than this are dropped, seconds.
const double kLongestPause = 0.25;
/// The longest time for which a body goes on by itself until the next step of the world, seconds.
const double kLongestPeriod = 0.1;

Quaternion rotation_of(const vxs_pose& p) { return {p.qx, p.qy, p.qz, p.qw}; }

vxs_pose pose_of(const Quaternion& q, const Vec& position) { return {position, q.x, q.y, q.z, q.w}; }

/// First `b`, then `a`.
vxs_pose operator*(const vxs_pose& a, const vxs_pose& b)
{
	const Quaternion q = rotation_of(a);
	return pose_of((q * rotation_of(b)).cleaned(), a.position + q.rotate(b.position));
}

vxs_pose inverse(const vxs_pose& p)
{
	const Quaternion q = rotation_of(p).conjugate();
	return pose_of(q, q.rotate(-p.position));
}

vxs_wrench difference(const vxs_wrench& a, const vxs_wrench& b) { return {a.force - b.force, a.torque - b.torque}; }

double work(const vxs_wrench& impulse, const Vec& linear, const Vec& angular) { return dot(impulse.force, linear) + dot(impulse.torque, angular); }

const vxs_pose kIdentity = {{0, 0, 0}, 0, 0, 0, 1};

/// The world's thread leaves this for the next round, which hands it on.
struct Order
{
	bool has_jumped = false, has_moved = false, has_feel = false;
	vxs_haptics_body_motion motion = {};
	vxs_haptics_feel feel = {1, 0};
};

/// A place for a body.
struct Place
{
	enum Use
	{
		FREE,
		LIVE,
		LEAVING
	};
	Use use = FREE;
	btRigidBody* body = nullptr;
	/// The form of one of Bullet's own shapes, which must live until a round has taken it over.
	StockShape stock;
	const vxs_shape* shape = nullptr;
	bool is_new = false;
	Order order;

	/// Impulse of the tool that the body has got.
	vxs_wrench taken = {};
	/// Impulse of the last step of the world, and the velocities before it.
	vxs_wrench applied = {};
	Vec linear = {}, angular = {};
	/// The part of the impulse to which the body yielded, 0 to 1: less than 1 where contacts or joints hold it.
	double yielded = 1;

	bool is_dynamic() const { return body && body->getInvMass() > 0 && !body->isStaticOrKinematicObject(); }
};
}  // namespace

struct btVoxShellHapticTool::State
{
	const btVoxShellBaseShape& shape;
	vxs_haptics_settings settings;
	Haptics own, of_picked;
	std::vector<Place> places;
	/// Guards what the world's thread leaves for the next round.
	std::mutex mutex;
	std::vector<Order> handed;

	/// Time of the steps up to which impulses were applied, and at the last step of the world.
	double applied_until = 0, published = 0, period = 0;

	btRigidBody* picked = nullptr;
	int picked_flags = 0, picked_activation = 0;
	/// Pose of the picked body in the hand.
	vxs_pose grip = kIdentity;
	Published<vxs_pose> tool{kIdentity}, hand{kIdentity};
	Published<vxs_twist> velocity{vxs_twist{}};
	/// Pose of the tool at the last step, for its velocity.
	vxs_pose last = kIdentity;
	bool has_stepped = false;

	State(const btVoxShellBaseShape& tool_shape, const vxs_haptics_settings& given, int capacity) : shape(tool_shape), settings(given)
	{
		if (capacity < 1 || capacity > 65536)
			throw std::runtime_error("voxshell: capacity is " + std::to_string(capacity) + "; expected 1 to 65536");
		settings.spare_bodies = uint32_t(capacity);
		places.resize(size_t(capacity));
		handed.resize(size_t(capacity));
		own = make(settings, shape);
	}

	static Haptics make(const vxs_haptics_settings& settings, const btVoxShellBaseShape& shape)
	{
		vxs_haptics* made = nullptr;
		check(vxs_haptics_create(&settings, shape.getQueryShape(), nullptr, 0, &made));
		return Haptics(made);
	}

	vxs_haptics* haptics() const { return of_picked ? of_picked.get() : own.get(); }

	Place* find(const btRigidBody* body)
	{
		for (Place& place : places)
			if (place.use == Place::LIVE && place.body == body)
				return &place;
		return nullptr;
	}
	Place& must_find(const btRigidBody* body)
	{
		Place* place = find(body);
		if (!place)
			throw std::runtime_error("voxshell: the body was not added to the haptic tool; expected btVoxShellHapticTool::addBody before this");
		return *place;
	}
	size_t index(const Place& place) const { return size_t(&place - places.data()); }

	double clock() const
	{
		vxs_haptics_rates rates;
		check(vxs_haptics_get_rates(haptics(), &rates));
		return rates.clock;
	}
	vxs_wrench impulse(const Place& place) const
	{
		vxs_haptics_load load;
		check(vxs_haptics_get_load(haptics(), index(place), &load));
		return load.impulse;
	}

	/// Sets the motion of a body from its state in the world.
	void look(Place& place) const
	{
		const btRigidBody& body = *place.body;
		vxs_haptics_body_motion& m = place.order.motion;
		m.pose = to_pose(body.getWorldTransform());
		m.twist = {to_vec(body.getLinearVelocity()), to_vec(body.getAngularVelocity())};
		m.period = std::max(period, 1e-4);
		m.inverse_mass = 0;
		std::fill(m.inverse_inertia, m.inverse_inertia + 6, 0.0);
		if (place.is_dynamic())
		{
			const btMatrix3x3& i = body.getInvInertiaTensorWorld();
			m.inverse_mass = double(body.getInvMass()) * place.yielded;
			const int entries[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
			for (int k = 0; k < 6; ++k)
				m.inverse_inertia[k] = 0.5 * place.yielded * double(i[entries[k][0]][entries[k][1]] + i[entries[k][1]][entries[k][0]]);
		}
		place.order.has_moved = true;
	}

	/// Hands over to the tool what was learnt of a body: it is known anew, for a `vxs_haptics` that was just made.
	void begin(Place& place)
	{
		place.is_new = true;
		place.order.has_feel = place.order.has_feel || place.order.feel.stiffness != 1 || place.order.feel.friction != settings.surface.friction;
		place.taken = impulse(place);
		place.applied = {};
		place.yielded = 1;
		look(place);
	}
};

vxs_haptics_settings btVoxShellHapticTool::settings(const btVoxShellBaseShape& shape, double mass, unsigned renderer, const vxs_haptics_limits* device)
{
	vxs_haptics_settings settings;
	check(vxs_haptics_settings_init(&settings, sizeof settings, renderer, shape.getQueryShape(), mass, device));
	return settings;
}

btVoxShellHapticTool::btVoxShellHapticTool(const btVoxShellBaseShape& shape, const vxs_haptics_settings& settings, int capacity)
	: m_state(new State(shape, settings, capacity))
{
}

btVoxShellHapticTool::~btVoxShellHapticTool() = default;

void btVoxShellHapticTool::addBody(btRigidBody* body)
{
	State& s = *m_state;
	const std::lock_guard<std::mutex> lock(s.mutex);
	if (s.find(body))
		return;
	const auto place = std::find_if(s.places.begin(), s.places.end(), [](const Place& p) { return p.use == Place::FREE; });
	if (place == s.places.end())
		throw std::runtime_error("voxshell: all " + std::to_string(s.places.size()) + " places of the haptic tool are taken; expected a larger capacity");
	const btCollisionShape* shape = body->getCollisionShape();
	const vxs_shape* form = nullptr;
	if (const btVoxShellBaseShape* ours = btVoxShellBaseShape::upcast(shape))
	{
		form = ours->getQueryShape();
	}
	else
	{
		double factor = 1;
		const PairRow* row = find_row(shape, factor);
		if (row && row->kind && place->stock.update(shape, *row->kind, factor, false))
			form = place->stock.shape();
		if (!form)
			throw std::runtime_error(std::string("voxshell: a haptic tool does not touch a ") + shape->getName() + "; expected a Voxshell shape, a plane or a convex shape");
	}
	place->use = Place::LIVE;
	place->body = body;
	place->shape = form;
	place->order.feel = {1, s.settings.surface.friction};
	s.begin(*place);
}

void btVoxShellHapticTool::removeBody(btRigidBody* body)
{
	State& s = *m_state;
	const std::lock_guard<std::mutex> lock(s.mutex);
	if (s.picked == body)
		throw std::runtime_error("voxshell: the body is in the hand; expected btVoxShellHapticTool::drop before this");
	if (Place* place = s.find(body))
	{
		place->use = Place::LEAVING;
		place->body = nullptr;
		place->is_new = false;
		place->order = Order();
	}
}

void btVoxShellHapticTool::setFeel(btRigidBody* body, double stiffness, double friction)
{
	const std::lock_guard<std::mutex> lock(m_state->mutex);
	Place& place = m_state->must_find(body);
	place.order.feel = {stiffness, friction};
	place.order.has_feel = true;
}

void btVoxShellHapticTool::teleported(btRigidBody* body)
{
	const std::lock_guard<std::mutex> lock(m_state->mutex);
	Place& place = m_state->must_find(body);
	place.order.has_jumped = true;
	m_state->look(place);
}

vxs_haptics_output btVoxShellHapticTool::step(const vxs_device_state& hand, double dt)
{
	State& s = *m_state;
	vxs_device_state state = hand;
	Vec arm = {0, 0, 0};
	if (s.picked)
	{
		state.pose = hand.pose * s.grip;
		arm = state.pose.position - hand.pose.position;
		state.twist.linear = hand.twist.linear + cross(hand.twist.angular, arm);
	}
	vxs_haptics_output output = {};
	check(vxs_haptics_step(s.haptics(), &state, dt, &output));
	output.wrench.torque = output.wrench.torque + cross(arm, output.wrench.force);
	if (s.has_stepped && dt > 0)
	{
		const Vec linear = (output.tool.position - s.last.position) * (1 / dt);
		s.velocity.write({linear, voxshell::device::angular_velocity(rotation_of(s.last), rotation_of(output.tool), dt)});
	}
	s.last = output.tool;
	s.has_stepped = true;
	s.tool.write(output.tool);
	s.hand.write(state.pose);
	return output;
}

void btVoxShellHapticTool::simulate()
{
	State& s = *m_state;
	vxs_haptics* haptics = s.haptics();
	{
		const std::lock_guard<std::mutex> lock(s.mutex);
		for (size_t i = 0; i < s.places.size(); ++i)
		{
			Place& place = s.places[i];
			// Bodies come and go under the lock, so that a shape may go right after its body.
			if (place.use == Place::LEAVING)
			{
				check(vxs_haptics_set_body(haptics, i, nullptr));
				place.use = Place::FREE;
			}
			else if (place.is_new)
			{
				const vxs_body body = {place.shape, place.order.motion.pose};
				check(vxs_haptics_set_body(haptics, i, &body));
				place.is_new = false;
			}
			s.handed[i] = place.order;
			place.order.has_jumped = place.order.has_moved = place.order.has_feel = false;
		}
	}
	for (size_t i = 0; i < s.handed.size(); ++i)
	{
		const Order& order = s.handed[i];
		if (order.has_feel)
			check(vxs_haptics_set_body_feel(haptics, i, &order.feel));
		if (order.has_jumped)
			check(vxs_haptics_set_body_pose(haptics, i, &order.motion.pose, nullptr));
		if (order.has_moved)
			check(vxs_haptics_set_body_motion(haptics, i, &order.motion));
	}
	check(vxs_haptics_simulate(haptics, nullptr));
}

void btVoxShellHapticTool::beforeTick(btScalar timeStep)
{
	State& s = *m_state;
	const std::lock_guard<std::mutex> lock(s.mutex);
	const double now = s.clock(), owed = now - s.applied_until;
	const bool paused = owed > kLongestPause;
	// Several steps of the world at once share the impulses of the time that they stand for.
	const double share = owed > 0 ? std::min(1.0, double(timeStep) / owed) : 1;
	s.applied_until = paused ? now : s.applied_until + share * owed;
	for (Place& place : s.places)
	{
		if (place.use != Place::LIVE)
			continue;
		const vxs_wrench whole = s.impulse(place);
		vxs_wrench part = difference(whole, place.taken);
		part = {part.force * share, part.torque * share};
		place.applied = {};
		if (paused || !place.is_dynamic())
		{
			place.taken = whole;
			continue;
		}
		place.taken = {place.taken.force + part.force, place.taken.torque + part.torque};
		if (length2(part.force) == 0 && length2(part.torque) == 0)
			continue;
		place.applied = part;
		place.linear = to_vec(place.body->getLinearVelocity());
		place.angular = to_vec(place.body->getAngularVelocity());
		place.body->activate();
		place.body->applyCentralImpulse(to_bt(part.force));
		place.body->applyTorqueImpulse(to_bt(part.torque));
	}
}

void btVoxShellHapticTool::updateAction(btCollisionWorld*, btScalar timeStep)
{
	State& s = *m_state;
	const std::lock_guard<std::mutex> lock(s.mutex);
	// Steps that the world makes at once are one for the tool.
	const double now = s.clock(), passed = now - s.published;
	if (passed > 0.5 * double(timeStep) || s.period == 0)
	{
		s.period = std::min(std::max(passed, double(timeStep)), kLongestPeriod);
		s.published = now;
	}
	for (Place& place : s.places)
	{
		if (place.use != Place::LIVE)
			continue;
		if (place.is_dynamic())
		{
			// Jᵀ Δv of a free body would be Jᵀ M⁻¹ J.
			const btRigidBody& body = *place.body;
			const Vec turned = to_vec(body.getInvInertiaTensorWorld() * to_bt(place.applied.torque));
			const double free = work(place.applied, place.applied.force * double(body.getInvMass()), turned);
			const Vec linear = to_vec(body.getLinearVelocity()) - place.linear, angular = to_vec(body.getAngularVelocity()) - place.angular;
			place.yielded = free > 0 ? std::min(1.0, std::max(0.0, work(place.applied, linear, angular) / free)) : 1;
		}
		s.look(place);
	}
	if (s.picked)
	{
		const vxs_twist velocity = s.velocity.read();
		s.picked->setWorldTransform(to_transform(s.tool.read()));
		// The world asks a motion state where a kinematic body is.
		if (btMotionState* state = s.picked->getMotionState())
			state->setWorldTransform(s.picked->getWorldTransform());
		s.picked->setInterpolationWorldTransform(s.picked->getWorldTransform());
		s.picked->setLinearVelocity(to_bt(velocity.linear));
		s.picked->setAngularVelocity(to_bt(velocity.angular));
	}
}

void btVoxShellHapticTool::pick(btRigidBody* body)
{
	State& s = *m_state;
	const std::lock_guard<std::mutex> lock(s.mutex);
	if (s.picked)
		throw std::runtime_error("voxshell: a body is in the hand already; expected btVoxShellHapticTool::drop before this");
	Place& place = s.must_find(body);
	const btVoxShellBaseShape* shape = btVoxShellBaseShape::upcast(body->getCollisionShape());
	if (!shape || !place.is_dynamic())
		throw std::runtime_error("voxshell: only a dynamic body of a Voxshell shape can be picked");
	vxs_haptics_settings settings = btVoxShellHapticTool::settings(*shape, 1 / double(body->getInvMass()), s.settings.renderer, &s.settings.limits);
	settings.timing = s.settings.timing;
	settings.surface = s.settings.surface;
	settings.passivity = s.settings.passivity;
	settings.spare_bodies = s.settings.spare_bodies;
	Haptics made = State::make(settings, *shape);
	// From here on nothing throws that would leave half of it done.
	s.grip = inverse(s.hand.read()) * to_pose(body->getWorldTransform());
	place = Place();
	s.of_picked = std::move(made);
	s.picked = body;
	s.picked_flags = body->getCollisionFlags();
	s.picked_activation = body->getActivationState();
	body->setCollisionFlags(s.picked_flags | btCollisionObject::CF_KINEMATIC_OBJECT | btCollisionObject::CF_NO_CONTACT_RESPONSE);
	body->setActivationState(DISABLE_DEACTIVATION);
	s.tool.write(to_pose(body->getWorldTransform()));
	s.velocity.write(vxs_twist{});
	s.has_stepped = false;
	s.applied_until = s.published = 0;
	for (Place& other : s.places)
	{
		if (other.use == Place::LEAVING)
			other = Place();
		if (other.use == Place::LIVE)
			s.begin(other);
	}
}

void btVoxShellHapticTool::drop()
{
	State& s = *m_state;
	btRigidBody* body = s.picked;
	if (!body)
		return;
	{
		const std::lock_guard<std::mutex> lock(s.mutex);
		const vxs_twist velocity = s.velocity.read();
		body->setCollisionFlags(s.picked_flags);
		body->forceActivationState(s.picked_activation);
		body->activate();
		body->setWorldTransform(to_transform(s.tool.read()));
		body->setLinearVelocity(to_bt(velocity.linear));
		body->setAngularVelocity(to_bt(velocity.angular));
		s.picked = nullptr;
		s.grip = kIdentity;
		s.of_picked.reset();
		s.has_stepped = false;
		check(vxs_haptics_reset(s.own.get(), nullptr));
		// Its bodies are those of the time of picking.
		for (size_t i = 0; i < s.places.size(); ++i)
			check(vxs_haptics_set_body(s.own.get(), i, nullptr));
		s.applied_until = s.published = s.clock();
		for (Place& other : s.places)
		{
			if (other.use == Place::LEAVING)
				other = Place();
			if (other.use == Place::LIVE)
				s.begin(other);
		}
	}
	addBody(body);
}

btRigidBody* btVoxShellHapticTool::getPicked() const { return m_state->picked; }
btTransform btVoxShellHapticTool::getToolTransform() const { return to_transform(m_state->tool.read()); }
btTransform btVoxShellHapticTool::getHandTransform() const { return to_transform(m_state->hand.read()); }

vxs_haptics_load btVoxShellHapticTool::getLoad(const btRigidBody* body) const
{
	const std::lock_guard<std::mutex> lock(m_state->mutex);
	vxs_haptics_load load;
	check(vxs_haptics_get_load(m_state->haptics(), m_state->index(m_state->must_find(body)), &load));
	return load;
}

vxs_haptics_rates btVoxShellHapticTool::getRates() const
{
	vxs_haptics_rates rates;
	check(vxs_haptics_get_rates(m_state->haptics(), &rates));
	return rates;
}

vxs_haptics* btVoxShellHapticTool::getHandle() const { return m_state->haptics(); }
