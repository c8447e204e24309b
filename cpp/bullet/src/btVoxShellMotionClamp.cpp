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

using namespace voxshell_bullet;

namespace
{
/// By how much Bullet turns a body with this angular velocity in a step, radians: from a limit on it turns by less, though not by
/// the limit itself, since it shortens only one of the two parts of the quaternion (btTransformUtil::integrateTransform).
double turn_of(const btVector3& angular, btScalar step)
{
	const double rate = double(angular.length()), limit = double(ANGULAR_MOTION_THRESHOLD);
	const double turn = rate * double(step);
	return turn > limit ? 2 * std::atan2(turn / limit * std::sin(0.5 * limit), std::cos(0.5 * limit)) : turn;
}

/// A step is cut into at most this many screws.
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

/// A body and its way through the step.
struct Mover
{
	btCollisionObject* object = nullptr;
	btRigidBody* body = nullptr;
	btTransform end;                       // where Bullet has put it
	btVector3 way, axis;                   // of its centre of mass, m; that it turns about
	double length = 0, turn = 0;           // of its way, m and rad
	double extent = 0;                     // radius around the centre of mass, m
	double stop = 1;                       // part of the step after which it rests
	bool stops = false;                    // it is one that can be put back
	btVector3 low = btVector3(0, 0, 0), high = btVector3(0, 0, 0);  // box around it on its way
	std::vector<Leaf> leaves;

	/// Where it is after a part of the step: what Bullet did, undone from the end.
	btTransform at(double t) const
	{
		const btScalar back = btScalar(1 - std::min(t, stop));
		if (back <= 0)
			return end;
		const btQuaternion rotation = turn > 0 ? btQuaternion(axis, btScalar(-turn) * back) * end.getRotation() : end.getRotation();
		return btTransform(rotation, end.getOrigin() - way * back);
	}
};

/// Two bodies that may hit.
struct Pair
{
	size_t first, second;  // movers
	double allowed;        // depth, m
	double hit;            // part of the step; 1: not at all
};

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
	size_t fast = 0;  // the first so many movers are fast; the others are what lies on their way
	std::vector<Pair> pairs;
	Nearby nearby;
	MotionPair query;
	int stopped = 0;

	void gather(btCollisionWorld* world, btScalar step);
	void find_pairs(btCollisionWorld* world);
	void add_pair(size_t first, size_t second);
	double first_hit(const Pair& pair, double from);
	double first_hit(const Mover& first, const Mover& second, double allowed, double from, double to);
	void resolve();
};

/// The world's fast bodies.
void btVoxShellMotionClamp::State::gather(btCollisionWorld* world, btScalar step)
{
	movers.clear();
	const btCollisionObjectArray& objects = world->getCollisionObjectArray();
	for (int i = 0; i < objects.size(); ++i)
	{
		btRigidBody* body = btRigidBody::upcast(objects[i]);
		if (!body || body->isStaticObject() || !body->hasContactResponse() || (!body->isKinematicObject() && !body->isActive()))
			continue;
		Mover mover;
		mover.object = mover.body = body;
		mover.end = body->getWorldTransform();
		mover.way = body->getLinearVelocity() * step;
		mover.axis = body->getAngularVelocity();
		mover.length = double(mover.way.length());
		mover.turn = turn_of(mover.axis, step);
		if (!(mover.length + mover.turn > 0))
			continue;
		btVector3 center;
		btScalar radius;
		body->getCollisionShape()->getBoundingSphere(center, radius);
		mover.extent = double(center.length() + radius);
		mover.stops = !body->isKinematicObject() && body->getInvMass() > 0;
		btVector3 low, high;
		body->getCollisionShape()->getAabb(mover.at(0), mover.low, mover.high);
		body->getCollisionShape()->getAabb(mover.end, low, high);
		// In between a point is off its chord by the sagitta of the turn.
		const btScalar bulge = btScalar(mover.extent * (1 - std::cos(0.5 * mover.turn)));
		mover.low.setMin(low);
		mover.high.setMax(high);
		mover.low -= btVector3(bulge, bulge, bulge);
		mover.high += btVector3(bulge, bulge, bulge);
		find_leaves(body->getCollisionShape(), btTransform::getIdentity(), mover.leaves);
		movers.push_back(std::move(mover));
	}
	fast = movers.size();
}

void btVoxShellMotionClamp::State::add_pair(size_t first, size_t second)
{
	const Mover &a = movers[first], &b = movers[second];
	double allowed = std::numeric_limits<double>::infinity();
	for (const Leaf& i : a.leaves)
		for (const Leaf& j : b.leaves)
			allowed = std::min(allowed, MotionPair::allowed_depth(i.shape, j.shape));
	// What moves by less cannot leave a body that it was in contact with by the wrong side, and the solver sees to it.
	const double motion = a.length + a.turn * a.extent + b.length + b.turn * b.extent;
	if (motion * MotionPair::kAllowed > allowed && (a.stops || b.stops))
		pairs.push_back({first, second, allowed, 1});
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

/// The first hit on a part of the step in which each of the two either moves all the time or rests.
double btVoxShellMotionClamp::State::first_hit(const Mover& first, const Mover& second, double allowed, double from, double to)
{
	// Bullet moves the centre of mass straight while the body turns. A screw between two such poses takes it along an arc, off
	// the straight way by no more than an eighth of its length times the turn.
	const double part = to - from, most = 0.1 * allowed;
	const double off = 0.125 * part * part * std::max(first.length * first.turn, second.length * second.turn);
	const int pieces = std::min(kMostPieces, 1 + int(std::sqrt(off / most)));
	for (int i = 0; i < pieces; ++i)
	{
		const double start = from + part * i / pieces, end = i + 1 < pieces ? from + part * (i + 1) / pieces : to;
		const btTransform first_start = first.at(start), first_end = first.at(end), second_start = second.at(start), second_end = second.at(end);
		double earliest = 1;
		for (const Leaf& a : first.leaves)
			for (const Leaf& b : second.leaves)
				earliest = std::min(earliest, query.first_hit(a.shape, {first_start * a.local, first_end * a.local}, b.shape, {second_start * b.local, second_end * b.local}));
		if (earliest < 1)
			return start + (end - start) * earliest;
	}
	return 1;
}

double btVoxShellMotionClamp::State::first_hit(const Pair& pair, double from)
{
	const Mover &a = movers[pair.first], &b = movers[pair.second];
	double ends[3] = {std::min(a.stop, b.stop), std::max(a.stop, b.stop), 1};
	for (const double end : ends)
	{
		if (end <= from)
			continue;
		const double hit = first_hit(a, b, pair.allowed, from, end);
		if (hit < 1)
			return hit;
		from = end;
	}
	return 1;
}

/// The earliest hit ends the ways of both its bodies; then what they would have met later is another question. Each body is stopped
/// once at most.
void btVoxShellMotionClamp::State::resolve()
{
	stopped = 0;
	for (Pair& pair : pairs)
		pair.hit = first_hit(pair, 0);
	for (;;)
	{
		const Pair* next = nullptr;
		for (const Pair& pair : pairs)
			if (pair.hit < 1 && (!next || pair.hit < next->hit))
				next = &pair;
		if (!next)
			return;
		const double time = next->hit;
		const size_t both[2] = {next->first, next->second};
		for (const size_t i : both)
			if (movers[i].stops && movers[i].stop > time)
			{
				movers[i].stop = time;
				++stopped;
			}
		for (Pair& pair : pairs)
		{
			const bool concerned = pair.first == both[0] || pair.first == both[1] || pair.second == both[0] || pair.second == both[1];
			if (concerned && pair.hit >= time)
			{
				const Mover &a = movers[pair.first], &b = movers[pair.second];
				const bool rest = (a.stop <= time || a.length + a.turn == 0) && (b.stop <= time || b.length + b.turn == 0);
				// One that cannot be stopped goes on through the one that was.
				const bool done = &pair == next;
				pair.hit = rest || done ? 1 : first_hit(pair, time);
			}
		}
	}
}

btVoxShellMotionClamp::btVoxShellMotionClamp() : m_state(new State) {}
btVoxShellMotionClamp::~btVoxShellMotionClamp() = default;

void btVoxShellMotionClamp::updateAction(btCollisionWorld* world, btScalar timeStep)
{
	m_state->gather(world, timeStep);
	m_state->find_pairs(world);
	m_state->resolve();
	for (const Mover& mover : m_state->movers)
		if (mover.stop < 1)
			mover.body->setCenterOfMassTransform(mover.at(mover.stop));
}

void btVoxShellMotionClamp::debugDraw(btIDebugDraw*) {}

int btVoxShellMotionClamp::getNumStopped() const { return m_state->stopped; }
