#include <voxshell/bullet/btVoxShellMotionClamp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <BulletCollision/BroadphaseCollision/btBroadphaseInterface.h>
#include <BulletCollision/BroadphaseCollision/btOverlappingPairCache.h>
#include <BulletCollision/CollisionDispatch/btCollisionDispatcher.h>
#include <BulletCollision/CollisionDispatch/btCollisionWorld.h>
#include <BulletCollision/CollisionShapes/btCompoundShape.h>
#include <BulletDynamics/Dynamics/btRigidBody.h>
#include <LinearMath/btAabbUtil2.h>
#include <LinearMath/btTransformUtil.h>  // ANGULAR_MOTION_THRESHOLD

#include "motion_pair.h"
#include "vec.h"

using namespace voxshell_bullet;

namespace
{
/// Returns the angle by which Bullet turns a body with this angular velocity in a step, radians. Above a limit the body
/// turns by less, though not by the limit itself, since Bullet shortens only one of the two parts of the quaternion
/// (btTransformUtil::integrateTransform).
double turn_of(const btVector3& angular, btScalar step)
{
	const double rate = double(angular.length()), limit = double(ANGULAR_MOTION_THRESHOLD);
	const double turn = rate * double(step);
	return turn > limit ? 2 * std::atan2(turn / limit * std::sin(0.5 * limit), std::cos(0.5 * limit)) : turn;
}

/// A step is divided into at most this many screw motions.
const int kMostPieces = 64;

/// A shape without children, in the frame of its body.
struct Leaf
{
	const btCollisionShape* shape;
	btTransform local;
};

void find_leaves(const btCollisionShape* shape, const btTransform& local, std::vector<Leaf>& leaves)
{
	if (!shape->isCompound())
	{
		leaves.push_back({shape, local});
		return;
	}
	const btCompoundShape* compound = static_cast<const btCompoundShape*>(shape);
	for (int i = 0; i < compound->getNumChildShapes(); ++i)
		find_leaves(compound->getChildShape(i), local * compound->getChildTransform(i), leaves);
}

/// A body and its motion through the step.
struct Mover
{
	btCollisionObject* object = nullptr;
	btRigidBody* body = nullptr;
	btTransform end;                       // pose that Bullet gave it
	btVector3 way, axis;                   // displacement of its centre of mass, m; axis of its turn
	double length = 0, turn = 0;           // of its path, m and rad
	double extent = 0;                     // radius around the centre of mass, m
	double stop = 1;                       // fraction of the step after which its own motion is over
	bool stops = false;                    // the body can be put back, and pushed
	double push = 0;                       // distance that kinematic bodies near it could push it, m
	const Mover* carrier = nullptr;        // the kinematic body that pushes it along
	double carried = 1, released = 1;      // fractions of the step at which that starts and ends
	btTransform hold;                      // in the carrier's frame, while it is carried
	btVector3 push_point, push_normal;     // point where the carrier hit it, and normal from the carrier to it; carrier's frame
	btVector3 low = btVector3(0, 0, 0), high = btVector3(0, 0, 0);  // box around it on its path
	std::vector<Leaf> leaves;

	/// Returns the pose after a fraction of the step, computed backwards from the end pose of Bullet.
	btTransform at(double t) const
	{
		if (t > carried)
			return carrier->at(std::min(t, released)) * hold;
		const btScalar back = btScalar(1 - std::min(t, stop));
		if (back <= 0)
			return end;
		const btQuaternion rotation = turn > 0 ? btQuaternion(axis, btScalar(-turn) * back) * end.getRotation() : end.getRotation();
		return btTransform(rotation, end.getOrigin() - way * back);
	}
	bool has_way() const { return length + turn > 0; }
	/// Returns whether no contact can stop the body after fraction `t` of the step.
	bool is_driven(double t) const { return carrier ? t < released : !stops && has_way(); }
	bool moves(double t) const { return t < stop ? has_way() : is_driven(t); }
	double bend() const { return std::max(length * turn, carrier ? carrier->length * carrier->turn : 0.0); }
	double most_turn() const { return std::max(turn, carrier ? carrier->turn : 0.0); }
	void find_box();
};

/// Computes the box around the body on its path.
void Mover::find_box()
{
	btVector3 center, more_low, more_high;
	btScalar radius;
	const btCollisionShape* shape = object->getCollisionShape();
	shape->getBoundingSphere(center, radius);
	extent = double(center.length() + radius);
	shape->getAabb(at(0), low, high);
	shape->getAabb(end, more_low, more_high);
	// In between, a point is off its chord by the sagitta of the turn.
	const btScalar bulge = btScalar(extent * (1 - std::cos(0.5 * turn)));
	low.setMin(more_low);
	high.setMax(more_high);
	low -= btVector3(bulge, bulge, bulge);
	high += btVector3(bulge, bulge, bulge);
}

/// Two bodies that may hit.
struct Pair
{
	size_t first, second;  // movers
	double allowed;        // depth, m
	MotionPair::Hit hit;   // fraction of the step
};

/// Pose of a kinematic body when it was last seen: its owner may have moved it by several steps at once.
struct Seen
{
	int proxy;  // unique number
	btTransform pose;
};

/// Returns the depth at which two bodies hit, m; infinite when neither has a shape of ours.
double allowed_depth(const Mover& first, const Mover& second)
{
	double allowed = std::numeric_limits<double>::infinity();
	for (const Leaf& i : first.leaves)
		for (const Leaf& j : second.leaves)
			allowed = std::min(allowed, MotionPair::allowed_depth(i.shape, j.shape));
	return allowed;
}

struct Nearby : public btBroadphaseAabbCallback
{
	std::vector<btBroadphaseProxy*> proxies;
	bool process(const btBroadphaseProxy* proxy) override
	{
		proxies.push_back(const_cast<btBroadphaseProxy*>(proxy));
		return true;
	}
};

bool may_collide(btCollisionWorld* world, const btCollisionObject* first, const btCollisionObject* second)
{
	btBroadphaseProxy *a = const_cast<btBroadphaseProxy*>(first->getBroadphaseHandle()), *b = const_cast<btBroadphaseProxy*>(second->getBroadphaseHandle());
	if (!a || !b)
		return false;
#if BT_BULLET_VERSION >= 289
	if (btOverlapFilterCallback* filter = world->getPairCache()->getOverlapFilterCallback())
	{
		if (!filter->needBroadphaseCollision(a, b))
			return false;
	}
	else
#endif
		if (!(a->m_collisionFilterGroup & b->m_collisionFilterMask) || !(b->m_collisionFilterGroup & a->m_collisionFilterMask))
			return false;
	return world->getDispatcher()->needsCollision(first, second) && world->getDispatcher()->needsResponse(first, second);
}
}  // namespace

struct btVoxShellMotionClamp::State
{
	std::vector<Mover> movers;
	size_t fast = 0;  // number of fast or possibly pushed movers, which come first; the others are the bodies on their paths
	std::vector<Seen> seen, seen_before;
	std::vector<Pair> pairs;
	Nearby nearby;
	MotionPair query;
	int stopped = 0;

	void gather(btCollisionWorld* world, btScalar step);
	void find_kinematic_way(Mover& mover);
	void gather_pushed(btCollisionWorld* world, size_t pusher);
	void find_pairs(btCollisionWorld* world);
	void add_pair(size_t first, size_t second);
	MotionPair::Hit first_hit(const Pair& pair, double from);
	MotionPair::Hit first_hit(const Mover& first, const Mover& second, double allowed, double from, double to);
	bool meet(const Pair& pair);
	void resolve();
};

/// Collects the world's fast bodies, and those that kinematic ones may push.
void btVoxShellMotionClamp::State::gather(btCollisionWorld* world, btScalar step)
{
	movers.clear();
	seen_before.swap(seen);
	seen.clear();
	const btCollisionObjectArray& objects = world->getCollisionObjectArray();
	for (int i = 0; i < objects.size(); ++i)
	{
		btRigidBody* body = btRigidBody::upcast(objects[i]);
		// A kinematic body usually has both flags.
		if (!body || !body->hasContactResponse() || (!body->isKinematicObject() && (body->isStaticObject() || !body->isActive())))
			continue;
		Mover mover;
		mover.object = mover.body = body;
		mover.end = body->getWorldTransform();
		mover.way = body->getLinearVelocity() * step;
		mover.axis = body->getAngularVelocity();
		mover.turn = turn_of(mover.axis, step);
		if (body->isKinematicObject())
			find_kinematic_way(mover);
		mover.length = double(mover.way.length());
		if (!mover.has_way())
			continue;
		mover.stops = !body->isKinematicObject() && body->getInvMass() > 0;
		mover.find_box();
		find_leaves(body->getCollisionShape(), btTransform::getIdentity(), mover.leaves);
		movers.push_back(std::move(mover));
	}
	for (size_t i = 0, count = movers.size(); i < count; ++i)
		if (!movers[i].stops)
			gather_pushed(world, i);
	fast = movers.size();
}

/// Finds the path from the pose where it was last seen. Bullet has put the body at its pose before the step, or before
/// the first of several.
void btVoxShellMotionClamp::State::find_kinematic_way(Mover& mover)
{
	const btBroadphaseProxy* proxy = mover.object->getBroadphaseHandle();
	if (!proxy)
		return;
	seen.push_back({proxy->m_uniqueId, mover.end});
	const auto last = std::find_if(seen_before.begin(), seen_before.end(), [&](const Seen& s) { return s.proxy == proxy->m_uniqueId; });
	if (last == seen_before.end())
		return;
	// The short way round; Bullet's own calculateDiffAxisAngle may give the long one, and noise for one that stands still.
	const btQuaternion turned = mover.end.getRotation() * last->pose.getRotation().inverse();
	mover.axis = btVector3(turned.x(), turned.y(), turned.z()) * btScalar(turned.w() < 0 ? -1 : 1);
	mover.turn = 2 * std::atan2(double(mover.axis.length()), double(btFabs(turned.w())));
	if (mover.turn < 1e-6)
		mover.turn = 0;
	mover.way = mover.end.getOrigin() - last->pose.getOrigin();
}

/// Collects bodies in the path of a kinematic one, also resting and sleeping ones, each with a box around all positions
/// to which they may be pushed.
void btVoxShellMotionClamp::State::gather_pushed(btCollisionWorld* world, size_t pusher)
{
	nearby.proxies.clear();
	world->getBroadphase()->aabbTest(movers[pusher].low, movers[pusher].high, nearby);
	for (btBroadphaseProxy* proxy : nearby.proxies)
	{
		btRigidBody* body = btRigidBody::upcast(static_cast<btCollisionObject*>(proxy->m_clientObject));
		if (!body || body->isStaticOrKinematicObject() || body->getInvMass() == 0 || !may_collide(world, movers[pusher].object, body))
			continue;
		if (std::any_of(movers.begin(), movers.end(), [body](const Mover& m) { return m.object == body; }))
			continue;
		Mover mover;
		mover.object = mover.body = body;
		mover.end = body->getWorldTransform();
		mover.way = mover.axis = btVector3(0, 0, 0);
		mover.stops = true;
		mover.find_box();
		find_leaves(body->getCollisionShape(), btTransform::getIdentity(), mover.leaves);
		movers.push_back(std::move(mover));
	}
	const Mover& by = movers[pusher];
	const double push = by.length + by.turn * by.extent;
	for (Mover& mover : movers)
	{
		if (!mover.stops || !TestAabbAgainstAabb2(by.low, by.high, mover.low, mover.high) || !(push * MotionPair::kAllowed > allowed_depth(by, mover)))
			continue;
		mover.push = std::max(mover.push, push);
		const btScalar around = btScalar(2 * mover.extent);
		mover.low.setMin(by.low - btVector3(around, around, around));
		mover.high.setMax(by.high + btVector3(around, around, around));
	}
}

void btVoxShellMotionClamp::State::add_pair(size_t first, size_t second)
{
	const Mover &a = movers[first], &b = movers[second];
	const double allowed = allowed_depth(a, b);
	// A pair with less relative motion cannot pass through each other; the solver handles it.
	const double motion = a.length + a.turn * a.extent + a.push + b.length + b.turn * b.extent + b.push;
	if (motion * MotionPair::kAllowed > allowed && (a.stops || b.stops))
		pairs.push_back({first, second, allowed, MotionPair::Hit()});
}

void btVoxShellMotionClamp::State::find_pairs(btCollisionWorld* world)
{
	pairs.clear();
	for (size_t i = 0; i < fast; ++i)
	{
		for (size_t j = 0; j < i; ++j)
			if (TestAabbAgainstAabb2(movers[i].low, movers[i].high, movers[j].low, movers[j].high) && may_collide(world, movers[j].object, movers[i].object))
				add_pair(j, i);

		nearby.proxies.clear();
		world->getBroadphase()->aabbTest(movers[i].low, movers[i].high, nearby);
		for (btBroadphaseProxy* proxy : nearby.proxies)
		{
			btCollisionObject* object = static_cast<btCollisionObject*>(proxy->m_clientObject);
			const auto is_object = [object](const Mover& m) { return m.object == object; };
			if (std::any_of(movers.begin(), movers.begin() + std::ptrdiff_t(fast), is_object) || !may_collide(world, movers[i].object, object))
				continue;
			size_t other = size_t(std::find_if(movers.begin() + std::ptrdiff_t(fast), movers.end(), is_object) - movers.begin());
			if (other == movers.size())
			{
				Mover still;
				still.object = object;
				still.end = object->getWorldTransform();
				still.way = still.axis = btVector3(0, 0, 0);
				object->getCollisionShape()->getAabb(still.end, still.low, still.high);
				find_leaves(object->getCollisionShape(), btTransform::getIdentity(), still.leaves);
				movers.push_back(std::move(still));
			}
			if (TestAabbAgainstAabb2(movers[i].low, movers[i].high, movers[other].low, movers[other].high))
				add_pair(i, other);
		}
	}
}

/// Finds the first hit in a fraction of the step in which each of the two bodies either moves all the time, with one
/// motion, or rests.
MotionPair::Hit btVoxShellMotionClamp::State::first_hit(const Mover& first, const Mover& second, double allowed, double from, double to)
{
	MotionPair::Hit hit;
	if (!first.moves(from) && !second.moves(from))
		return hit;
	// Bullet moves the centre of mass straight while the body turns. A screw motion between two such poses takes it
	// along an arc, off the straight line by no more than an eighth of its length times the turn. A screw motion also
	// needs a turn of less than 180 degrees.
	const double part = to - from, most = 0.1 * allowed;
	const double off = 0.125 * part * part * std::max(first.bend(), second.bend());
	const double quarters = part * std::max(first.most_turn(), second.most_turn()) / double(SIMD_HALF_PI);
	const int pieces = std::min(kMostPieces, 1 + int(std::max(std::sqrt(off / most), quarters)));
	for (int i = 0; i < pieces; ++i)
	{
		const double start = from + part * i / pieces, end = i + 1 < pieces ? from + part * (i + 1) / pieces : to;
		const btTransform first_start = first.at(start), first_end = first.at(end), second_start = second.at(start), second_end = second.at(end);
		for (const Leaf& a : first.leaves)
			for (const Leaf& b : second.leaves)
			{
				const MotionPair::Hit found = query.first_hit(a.shape, {first_start * a.local, first_end * a.local}, b.shape, {second_start * b.local, second_end * b.local});
				if (found.time < hit.time)
					hit = found;
			}
		if (hit.time < 1)
		{
			hit.time = start + (end - start) * hit.time;
			return hit;
		}
	}
	return hit;
}

MotionPair::Hit btVoxShellMotionClamp::State::first_hit(const Pair& pair, double from)
{
	const Mover &a = movers[pair.first], &b = movers[pair.second];
	double ends[7] = {a.stop, a.carried, a.released, b.stop, b.carried, b.released, 1};
	std::sort(ends, ends + 7);
	for (const double end : ends)
	{
		if (end <= from)
			continue;
		const MotionPair::Hit hit = first_hit(a, b, pair.allowed, from, end);
		if (hit.time < 1)
			return hit;
		from = end;
	}
	return MotionPair::Hit();
}

/// Applies a hit to the two bodies: both stop, but a body that a kinematic body hits is pushed along with it, and with
/// the bodies that it pushes. Returns false when nothing changes: both were stopped before, or a body is caught between
/// a kinematic one and an immovable one.
bool btVoxShellMotionClamp::State::meet(const Pair& pair)
{
	Mover* both[2] = {&movers[pair.first], &movers[pair.second]};
	const double time = pair.hit.time;
	const bool driven[2] = {both[0]->is_driven(time), both[1]->is_driven(time)};
	for (int i = 0; i < 2; ++i)
	{
		const Mover& pusher = *both[i];
		Mover& pushed = *both[1 - i];
		if (!driven[i] || driven[1 - i] || !pushed.stops || pushed.carrier)
			continue;
		const Mover* root = pusher.carrier ? pusher.carrier : &pusher;
		const btTransform then = root->at(time);
		pushed.hold = then.inverse() * pushed.at(time);
		pushed.push_point = then.inverse() * to_bt(pair.hit.point);
		pushed.push_normal = then.getBasis().transpose() * to_bt(i == 0 ? pair.hit.normal : -pair.hit.normal);
		pushed.carrier = root;
		pushed.carried = time;
		pushed.released = 1;
		stopped += pushed.stop >= 1;
		pushed.stop = std::min(pushed.stop, time);
		return true;
	}
	bool changed = false;
	for (Mover* mover : both)
	{
		if (!mover->stops)
			continue;
		double& until = mover->carrier ? mover->released : mover->stop;
		if (until <= time)
			continue;
		stopped += !mover->carrier && mover->has_way();
		until = time;
		changed = true;
	}
	return changed;
}

/// Resolves the hits in order of time. The earliest hit ends the paths of both its bodies; then their later hits are
/// computed again. Each body is stopped once at most, and pushed once at most.
void btVoxShellMotionClamp::State::resolve()
{
	stopped = 0;
	for (Pair& pair : pairs)
		pair.hit = first_hit(pair, 0);
	for (;;)
	{
		Pair* next = nullptr;
		for (Pair& pair : pairs)
			if (pair.hit.time < 1 && (!next || pair.hit.time < next->hit.time))
				next = &pair;
		if (!next)
			return;
		const double time = next->hit.time;
		const bool changed = meet(*next);
		next->hit = MotionPair::Hit();
		for (Pair& pair : pairs)
		{
			const bool concerned = pair.first == next->first || pair.first == next->second || pair.second == next->first || pair.second == next->second;
			// A body that cannot be stopped goes on through the stopped one.
			if (changed && concerned && &pair != next)
				pair.hit = first_hit(pair, time);
		}
	}
}

namespace
{
/// Makes a pushed body leave its pusher at the speed of a collision with an infinite mass.
void push(btRigidBody& body, const Mover& mover)
{
	const btRigidBody& by = *mover.carrier->body;
	const btTransform pose = mover.carrier->at(mover.released);
	const btVector3 point = pose * mover.push_point, normal = pose.getBasis() * mover.push_normal;
	const btVector3 arm = point - body.getCenterOfMassPosition();
	const btScalar speed = normal.dot(by.getVelocityInLocalPoint(point - by.getCenterOfMassPosition()) - body.getVelocityInLocalPoint(arm));
	if (speed <= 0)
		return;
	const btScalar restitution = by.getRestitution() * body.getRestitution();
	const btVector3 turn = arm.cross(normal);
	const btScalar give = body.getInvMass() + turn.dot(body.getInvInertiaTensorWorld() * turn);
	body.activate();
	body.applyImpulse(normal * ((1 + restitution) * speed / give), arm);
	body.setInterpolationLinearVelocity(body.getLinearVelocity());
	body.setInterpolationAngularVelocity(body.getAngularVelocity());
}
}  // namespace

btVoxShellMotionClamp::btVoxShellMotionClamp() : m_state(new State) {}
btVoxShellMotionClamp::~btVoxShellMotionClamp() = default;

void btVoxShellMotionClamp::updateAction(btCollisionWorld* world, btScalar timeStep)
{
	m_state->gather(world, timeStep);
	m_state->find_pairs(world);
	m_state->resolve();
	for (const Mover& mover : m_state->movers)
	{
		if (!mover.stops || mover.stop >= 1)
			continue;
		mover.body->setCenterOfMassTransform(mover.at(1));
		if (mover.carrier)
			push(*mover.body, mover);
	}
}

void btVoxShellMotionClamp::debugDraw(btIDebugDraw*) {}

int btVoxShellMotionClamp::getNumStopped() const { return m_state->stopped; }
