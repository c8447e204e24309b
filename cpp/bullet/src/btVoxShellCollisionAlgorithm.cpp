#include <voxshell/bullet/btVoxShellCollisionAlgorithm.h>

#include <algorithm>
#include <mutex>
#include <new>

#include <BulletCollision/CollisionDispatch/btCollisionConfiguration.h>
#include <BulletCollision/CollisionDispatch/btCollisionDispatcher.h>
#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>
#include <BulletDynamics/Dynamics/btRigidBody.h>
#include <voxshell/bullet/btVoxShellShape.h>

#include "contact_policy.h"
#include "handle.h"
#include "manifold_set.h"
#include "stock_shapes.h"
#include "vec.h"

using namespace voxshell_bullet;

namespace
{
/// One of ours, or null. Others may use the same proxy type: the name's address tells.
const btVoxShellBaseShape* ours(const btCollisionShape* shape)
{
	if (shape->getShapeType() != FAST_CONCAVE_MESH_PROXYTYPE || shape->getName() != btVoxShellBaseShape::staticName())
		return nullptr;
	return static_cast<const btVoxShellBaseShape*>(shape);
}

/// One side of the pair in this step.
struct Side
{
	const btVoxShellBaseShape* voxshell = nullptr;  // null: one of Bullet's own
	const vxs_shape* shape = nullptr;
	bool sampled = false;  // of Bullet's own shapes: it is a pointshell here, because the other one is a field only
	double inflation = 0;  // of Bullet's own shapes: how far outside that form the surface lies
	vxs_pose pose;
	Motion motion;
	double extent = 0;  // radius of the shape around the body's centre of mass

	bool has_pointshell() const { return voxshell ? voxshell->hasPointShell() : sampled; }
	bool has_field() const { return voxshell ? voxshell->hasField() : !sampled; }
};

/// The body's motion as the solver will see it: velocities before the step, forces gathered for it.
Motion motion_of(const btCollisionObject* object)
{
	Motion motion;
	motion.center = to_vec(object->getWorldTransform().getOrigin());
	const btRigidBody* body = btRigidBody::upcast(object);
	if (!body || body->isStaticObject())
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
	}
	return motion;
}

/// Radius around the body's centre of mass that holds the shape; huge for a plane.
double extent_of(const btCollisionObjectWrapper* wrap, const btVoxShellBaseShape* voxshell)
{
	btVector3 center;
	btScalar radius;
	if (voxshell)
	{
		center = voxshell->getLocalCenter();
		radius = voxshell->getLocalHalfExtents().length();
	}
	else if (wrap->getCollisionShape()->getShapeType() == STATIC_PLANE_PROXYTYPE)
		return 1e12;
	else
		wrap->getCollisionShape()->getBoundingSphere(center, radius);
	return double((wrap->getWorldTransform()(center) - wrap->getCollisionObject()->getWorldTransform().getOrigin()).length() + radius);
}
}  // namespace

struct btVoxShellCollisionAlgorithm::State
{
	btVoxShellSettings settings;
	ManifoldSet manifolds;
	PointMaker maker;
	BouncePolicy bounce;
	ContactSelector selector;
	StockShape stock;
	Workspace workspace;
	std::vector<vxs_contact> contacts;
	std::vector<Candidate> candidates;

	State(btDispatcher* dispatcher, const btCollisionObject* body0, const btCollisionObject* body1, const btVoxShellSettings& s)
		: settings(s), manifolds(dispatcher, body0, body1, s.m_maxManifolds), maker(body0, body1), bounce(double(s.m_restitutionVelocityThreshold))
	{
		vxs_workspace* made = nullptr;
		if (vxs_workspace_create(&made) == VXS_OK)
			workspace.reset(made);
		contacts.resize(256);
		candidates.reserve(256);
	}

	bool describe(Side& side, const btCollisionObjectWrapper* wrap, const btCollisionObjectWrapper* other);
	bool query(const Side& first, const Side& second, double distance);
	void process(const btCollisionObjectWrapper* wrap0, const btCollisionObjectWrapper* wrap1, const btDispatcherInfo& info, btManifoldResult* result);
	void give(const Candidate& c, double dt, btManifoldPoint& point);
};

bool btVoxShellCollisionAlgorithm::State::describe(Side& side, const btCollisionObjectWrapper* wrap, const btCollisionObjectWrapper* other)
{
	side.voxshell = ours(wrap->getCollisionShape());
	if (side.voxshell)
		side.shape = side.voxshell->getQueryShape();
	else
	{
		const btVoxShellBaseShape* partner = ours(other->getCollisionShape());
		if (!partner)
			return false;
		side.sampled = !partner->hasPointShell();
		side.shape = stock.of(wrap->getCollisionShape(), side.sampled ? StockShape::POINTSHELL : StockShape::FIELD);
		side.inflation = stock.inflation();
	}
	side.pose = to_pose(wrap->getWorldTransform());
	side.motion = motion_of(wrap->getCollisionObject());
	side.extent = extent_of(wrap, side.voxshell);
	return side.shape != nullptr;
}

/// Fills `contacts` with all contacts up to `distance`, or says that this pair of forms cannot be tested.
bool btVoxShellCollisionAlgorithm::State::query(const Side& first, const Side& second, double distance)
{
	const bool shell_of_first = first.has_pointshell() && second.has_field(), shell_of_second = second.has_pointshell() && first.has_field();
	if (!shell_of_first && !shell_of_second)
		return false;

	vxs_query query;
	vxs_query_init(&query, sizeof query);
	query.roles = shell_of_first && shell_of_second ? (settings.m_bothRoles ? VXS_ROLES_BOTH : VXS_ROLES_AUTO)
													: (shell_of_first ? VXS_ROLES_SHELL_OF_A : VXS_ROLES_SHELL_OF_B);
	query.max_separation = distance + first.inflation + second.inflation;
	for (;;)
	{
		size_t count = 0;
		const vxs_status status = vxs_query_contacts(first.shape, &first.pose, second.shape, &second.pose, &query, workspace.get(), contacts.data(), contacts.size(), &count);
		if (status == VXS_TRUNCATED)
		{
			contacts.resize(count + count / 2);
			continue;
		}
		candidates.clear();
		if (status != VXS_OK)
			return false;
		for (size_t i = 0; i < count; ++i)
		{
			// The one place where the C API's normal (A to B) becomes Bullet's (on B, towards A).
			const vxs_contact& contact = contacts[i];
			Candidate c;
			c.feature = contact.feature;
			c.normal = -contact.normal;
			c.distance = contact.separation - first.inflation - second.inflation;
			c.point = contact.point_on_b + c.normal * second.inflation;
			candidates.push_back(c);
		}
		return true;
	}
}

void btVoxShellCollisionAlgorithm::State::process(const btCollisionObjectWrapper* wrap0, const btCollisionObjectWrapper* wrap1, const btDispatcherInfo& info, btManifoldResult* result)
{
	Side first, second;
	bool done = false;
	if (workspace && describe(first, wrap0, wrap1) && describe(second, wrap1, wrap0))
	{
		// Only what is within reach of the other body can hit it, however large a body is.
		const double apart = length(first.motion.center - second.motion.center);
		first.motion.radius = std::min(first.extent, apart + second.extent);
		second.motion.radius = std::min(second.extent, apart + first.extent);

		const double dt = double(info.m_timeStep);
		const double size = std::min(first.extent, second.extent);
		const double margin = std::max(first.voxshell ? double(first.voxshell->getMargin()) : 0.0, second.voxshell ? double(second.voxshell->getMargin()) : 0.0);
		const double ahead = std::min(reach(first.motion, second.motion, dt) * double(settings.m_lookahead), size * double(settings.m_maxLookaheadFraction));
#if BT_BULLET_VERSION >= 286
		const double asked = double(result->m_closestPointDistanceThreshold);
#else
		const double asked = 0;  // nobody can ask for distances yet
#endif
		done = query(first, second, std::max(margin + ahead, margin + asked)) && !candidates.empty();
		if (done)
		{
			manifolds.begin();
			bounce.begin(first.motion, second.motion, dt, [this](uint32_t feature) {
				const btManifoldPoint* point = manifolds.find(feature);
				return point ? double(point->m_appliedImpulse) : 0.0;
			});
			for (Candidate& c : candidates)
			{
				c.predict(first.motion, second.motion, dt);
				c.kept = manifolds.find(c.feature) != nullptr;
				c.pinned = c.kept && bounce.waits(c.feature);
			}
			// When somebody asks for distances, far points count as well as near ones.
			const double worth = std::max(margin, asked);
			bool reporting = false;
			for (const uint32_t index : selector.select(candidates, size_t(manifolds.capacity()), worth, size))
			{
				const Candidate& c = candidates[index];
				if (reporting && c.distance > worth)
					continue;
				if (btManifoldPoint* point = maker.make(result, to_bt(c.normal), to_bt(c.point), btScalar(c.distance)))
					give(c, dt, *point);
				else
					reporting = true;
			}
			bounce.end();
			manifolds.end();
		}
	}
	if (!done)
	{
		manifolds.clear();
		bounce.forget();
	}
}

/// Sets up one point for the solver and stores it.
void btVoxShellCollisionAlgorithm::State::give(const Candidate& c, double dt, btManifoldPoint& point)
{
	const BouncePolicy::Treatment treatment = bounce.treat(c, double(point.m_combinedRestitution));
#if BT_BULLET_VERSION >= 287
	// A friction anchor would make Bullet keep the old point and its distance; by feature, points need no anchor to persist.
	point.m_contactPointFlags &= ~BT_CONTACT_FLAG_FRICTION_ANCHOR;
#endif
	point.m_combinedRestitution = 0;  // the solver's own restitution is of no use with contacts at d > 0: see BouncePolicy
#if BT_BULLET_VERSION >= 285
	if (treatment.kind == BouncePolicy::Treatment::LAUNCH)
	{
		// The solver aims at the velocity (penetration * erp / dt): with a penetration of 10 µm that is any velocity we like.
		const double penetration = std::max(-c.distance, 1e-5);
		point.m_distance1 = btScalar(-penetration);
		point.m_contactERP = btScalar(treatment.velocity * dt / penetration);
		point.m_contactPointFlags |= BT_CONTACT_FLAG_HAS_CONTACT_ERP;
	}
#endif
	manifolds.put(c.feature, point, treatment.forget_impulse);
}

btVoxShellCollisionAlgorithm::btVoxShellCollisionAlgorithm(const btCollisionAlgorithmConstructionInfo& info, const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1, const btVoxShellSettings& settings)
	: btActivatingCollisionAlgorithm(info, body0, body1), m_state(new State(info.m_dispatcher1, body0->getCollisionObject(), body1->getCollisionObject(), settings))
{
}

btVoxShellCollisionAlgorithm::~btVoxShellCollisionAlgorithm() { delete m_state; }

void btVoxShellCollisionAlgorithm::processCollision(const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1, const btDispatcherInfo& dispatchInfo, btManifoldResult* resultOut)
{
	// Manifolds and feature numbers go by the order of construction.
	if (body0->getCollisionObject() != m_state->manifolds.body0())
		btSwap(body0, body1);
	m_state->process(body0, body1, dispatchInfo, resultOut);
}

btScalar btVoxShellCollisionAlgorithm::calculateTimeOfImpact(btCollisionObject*, btCollisionObject*, const btDispatcherInfo&, btManifoldResult*) { return btScalar(1); }

void btVoxShellCollisionAlgorithm::getAllContactManifolds(btManifoldArray& manifolds) { m_state->manifolds.append_to(manifolds); }

// The dispatcher's pool has elements of 192 bytes in a default configuration and does not check (allocateCollisionAlgorithm
// ignores the size in release builds).
static_assert(sizeof(btVoxShellCollisionAlgorithm) <= 192, "the algorithm must fit into an element of Bullet's pool");

namespace
{
struct CreateFunc : public btCollisionAlgorithmCreateFunc
{
	btVoxShellSettings settings;
	bool closest_points = false;  // which of the dispatcher's tables it stands in

	btCollisionAlgorithm* CreateCollisionAlgorithm(btCollisionAlgorithmConstructionInfo& info, const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1) override
	{
		const btCollisionShape *shape0 = body0->getCollisionShape(), *shape1 = body1->getCollisionShape();
		if (!ours(shape0) && !ours(shape1))
		{
			// Somebody else's shape of the same proxy type: what Bullet would have made.
			btCollisionConfiguration* stock = static_cast<btCollisionDispatcher*>(info.m_dispatcher1)->getCollisionConfiguration();
#if BT_BULLET_VERSION >= 286
			if (closest_points)
				return stock->getClosestPointsAlgorithmCreateFunc(shape0->getShapeType(), shape1->getShapeType())->CreateCollisionAlgorithm(info, body0, body1);
#endif
			return stock->getCollisionAlgorithmCreateFunc(shape0->getShapeType(), shape1->getShapeType())->CreateCollisionAlgorithm(info, body0, body1);
		}
		void* memory = info.m_dispatcher1->allocateCollisionAlgorithm(sizeof(btVoxShellCollisionAlgorithm));
		return new (memory) btVoxShellCollisionAlgorithm(info, body0, body1, settings);
	}
};

bool same(const btVoxShellSettings& a, const btVoxShellSettings& b)
{
	return a.m_maxManifolds == b.m_maxManifolds && a.m_bothRoles == b.m_bothRoles && a.m_restitutionVelocityThreshold == b.m_restitutionVelocityThreshold &&
		   a.m_lookahead == b.m_lookahead && a.m_maxLookaheadFraction == b.m_maxLookaheadFraction;
}

/// One per distinct settings and table, never destroyed: dispatchers keep pointers to them for as long as they live.
CreateFunc* create_func(const btVoxShellSettings& settings, bool closest_points)
{
	static std::mutex* const mutex = new std::mutex;
	static std::vector<CreateFunc*>* const all = new std::vector<CreateFunc*>;
	const std::lock_guard<std::mutex> lock(*mutex);
	for (CreateFunc* f : *all)
		if (f->closest_points == closest_points && same(f->settings, settings))
			return f;
	CreateFunc* f = new CreateFunc;
	f->settings = settings;
	f->closest_points = closest_points;
	all->push_back(f);
	return f;
}
}  // namespace

void btVoxShellCollisionAlgorithm::registerAlgorithm(btCollisionDispatcher* dispatcher, const btVoxShellSettings& settings)
{
	const auto enter = [&](int type0, int type1) {
		dispatcher->registerCollisionCreateFunc(type0, type1, create_func(settings, false));
#if BT_BULLET_VERSION >= 286
		dispatcher->registerClosestPointsCreateFunc(type0, type1, create_func(settings, true));
#endif
	};
	enter(FAST_CONCAVE_MESH_PROXYTYPE, FAST_CONCAVE_MESH_PROXYTYPE);
	for (const int type : stock_proxy_types())
	{
		enter(FAST_CONCAVE_MESH_PROXYTYPE, type);
		enter(type, FAST_CONCAVE_MESH_PROXYTYPE);
	}
}
