#include <voxshell/bullet/btVoxShellCollisionAlgorithm.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <new>

#include <BulletCollision/CollisionDispatch/btCollisionConfiguration.h>
#include <BulletCollision/CollisionDispatch/btCollisionDispatcher.h>
#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>
#include <BulletDynamics/Dynamics/btRigidBody.h>
#include <LinearMath/btPoolAllocator.h>
#include <voxshell/bullet/btVoxShellShape.h>

#include "concave_patch.h"
#include "contact_policy.h"
#include "forms.h"
#include "handle.h"
#include "log.h"
#include "manifold_set.h"
#include "motion_pair.h"
#include "vec.h"

using namespace voxshell_bullet;

namespace
{
/// One side of the pair in this step.
struct Side : Form
{
	const btCollisionShape* stock = nullptr;        // Bullet's own, or
	const btVoxShellBaseShape* voxshell = nullptr;  // ours
	vxs_pose pose;
	Motion motion;
	double extent = 0;  // radius of the shape around the body's centre of mass

	const SharpFeatures* features = nullptr;  // of Bullet's own shape

	Form& form() { return *this; }

	/// Half the diagonal of the box of one of ours, metres.
	double size() const { return double(voxshell->getLocalHalfExtents().length()); }
};

/// Distance of points along the sharp edges of Bullet's shapes, in sizes of the Voxshell shape.
const double kEdgeSpacing = 0.005;

/// Cosine of the angle up to which two directions of a field belong to the same wall: 15 degrees.
const double kSameWall = 0.966;

/// The body's motion as the solver will see it: velocities before the step, forces gathered for it.
Motion motion_of(const btCollisionObject* object)
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

/// Fills in all but the forms.
void place(Side& side, const btCollisionObjectWrapper* wrap)
{
	side.voxshell = btVoxShellBaseShape::upcast(wrap->getCollisionShape());
	side.stock = side.voxshell ? nullptr : wrap->getCollisionShape();
	side.pose = to_pose(wrap->getWorldTransform());
	side.motion = motion_of(wrap->getCollisionObject());
	side.extent = extent_of(wrap, side.voxshell);
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
	ConcavePatch patch;
	Workspace workspace;
	std::vector<vxs_contact> contacts;
	std::vector<SharpFeatures::Touch> touches;
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

	// Of the last step against a concave shape.
	Frame last_frame;  // from ours to theirs
	const vxs_shape* last_shape = nullptr;
	double last_depth = 0;

	double depth_limit = std::numeric_limits<double>::infinity();

	double displacement(const Side& ours, const Frame& to_theirs) const;
	bool find_forms(Side& first, Side& second, double distance);
	bool find_stock_form(Side& ours, Side& theirs, double distance);
	bool query(const Side& first, const Side& second, double distance, double dt);
	void query_features(const Side& ours, const Side& theirs, bool ours_is_first, double distance, double dt);
	void process(const btCollisionObjectWrapper* wrap0, const btCollisionObjectWrapper* wrap1, const btDispatcherInfo& info, btManifoldResult* result);
	void give(const Candidate& c, double dt, btManifoldPoint& point);
};

/// What both sides are tested as; false when they cannot be tested, or are known to be apart.
bool btVoxShellCollisionAlgorithm::State::find_forms(Side& first, Side& second, double distance)
{
	if (!first.voxshell || !second.voxshell)
		return first.voxshell ? find_stock_form(first, second, distance) : (second.voxshell && find_stock_form(second, first, distance));

	forms_of(*first.voxshell, *second.voxshell, first, second);
	if (!can_meet(first, second))
	{
		warn_once(first.has_field || second.has_field ? "two voxelmap shapes without triangles do not collide: neither brings samples"
													  : "two pointshell shapes do not collide: neither brings a field");
		return false;
	}
	return true;
}

/// How far any point of ours has moved at most since the last step, relative to theirs.
double btVoxShellCollisionAlgorithm::State::displacement(const Side& ours, const Frame& to_theirs) const
{
	const Vec center = to_vec(ours.voxshell->getLocalCenter());
	double turn = 0;
	for (int i = 0; i < 3; ++i)
		turn += length2(to_theirs.rows[i] - last_frame.rows[i]);
	return length(to_theirs(center) - last_frame(center)) + std::sqrt(turn) * ours.size();
}

bool btVoxShellCollisionAlgorithm::State::find_stock_form(Side& ours, Side& theirs, double distance)
{
	const btCollisionShape* shape = theirs.stock;
	double factor = 1;
	const PairRow* row = find_row(shape, factor);
	if (!row || row->treatment == Treatment::IGNORED || row->treatment == Treatment::STOCK)
	{
		warn_once(std::string("a Voxshell shape does not collide with ") + (row ? row->name : "a shape of unknown type"));
		return false;
	}

	const bool can_be_sampled = row->treatment == Treatment::FORM && row->kind->surface;
	ours.form() = form_of(*ours.voxshell, !can_be_sampled);
	if (row->treatment == Treatment::FORM)
	{
		const bool sampled = can_be_sampled && !ours.has_pointshell;
		if (!stock.update(shape, *row->kind, factor, sampled))
		{
			warn_once(std::string("a Voxshell shape does not collide with ") + row->name + " that has no volume");
			return false;
		}
		theirs.shape = stock.shape();
		theirs.has_pointshell = sampled;
		theirs.has_field = !sampled;
		theirs.inflation = stock.inflation();
		theirs.features = &stock.features();
	}
	else
	{
		const Frame to_theirs = Frame(theirs.pose).inverse() * Frame(ours.pose);
		const Vec center = to_theirs(to_vec(ours.voxshell->getLocalCenter()));
		const Vec half = to_theirs.turned_box(to_vec(ours.voxshell->getLocalHalfExtents())) + Vec{distance, distance, distance};
		const bool near = patch.update(static_cast<const btConcaveShape*>(shape), center - half, center + half, ours.size());
		depth_limit = patch.unchanged() && ours.shape == last_shape ? last_depth + displacement(ours, to_theirs) : std::numeric_limits<double>::infinity();
		last_frame = to_theirs;
		last_shape = ours.shape;
		last_depth = 0;
		if (!near)
			return false;
		theirs.shape = patch.shape();
		theirs.has_field = true;
		theirs.features = &patch.features();
	}
	if (!can_meet(ours, theirs))
	{
		warn_once(std::string("a voxelmap shape without triangles does not collide with ") + row->name + ": neither brings samples");
		return false;
	}
	return true;
}

/// Fills `candidates` with all contacts up to `distance`; false when the query failed.
bool btVoxShellCollisionAlgorithm::State::query(const Side& first, const Side& second, double distance, double dt)
{
	const bool shell_of_first = first.has_pointshell && second.has_field, shell_of_second = second.has_pointshell && first.has_field;
	vxs_query query;
	vxs_query_init(&query, sizeof query);
	query.roles = shell_of_first && shell_of_second ? (settings.m_bothRoles ? VXS_ROLES_BOTH : VXS_ROLES_AUTO)
													: (shell_of_first ? VXS_ROLES_SHELL_OF_A : VXS_ROLES_SHELL_OF_B);
	query.max_separation = distance + first.inflation + second.inflation;
	// What was nowhere deeper than this behind a sheet cannot be deeper by more than it has moved since.
	query.max_depth = depth_limit;
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
		{
			log_failure("contacts of a pair", status);
			return false;
		}
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
			last_depth = std::max(last_depth, -c.distance);
		}
		break;
	}
	if (second.features && first.has_field)
		query_features(first, second, true, distance, dt);
	if (first.features && second.has_field)
		query_features(second, first, false, distance, dt);
	return true;
}

/// Appends to `candidates` what the sharp features of `theirs` touch of `ours`.
void btVoxShellCollisionAlgorithm::State::query_features(const Side& ours, const Side& theirs, bool ours_is_first, double distance, double dt)
{
	if (theirs.features->empty())
		return;
	const Frame to_world(theirs.pose), ours_to_world(ours.pose), from_world = ours_to_world.inverse();
	SharpFeatures::Target target;
	target.field = ours.voxshell->getField();
	target.slope = ours.voxshell->getFieldSlope();
	target.to_field = from_world * to_world;
	target.limit = distance + theirs.inflation;
	target.spacing = kEdgeSpacing * ours.size();
	const Frame from_ours = target.to_field.inverse();
	const Vec center = from_ours(to_vec(ours.voxshell->getLocalCenter()));
	const Vec half = from_ours.turned_box(to_vec(ours.voxshell->getLocalHalfExtents())) + Vec{target.limit, target.limit, target.limit};
	target.low = center - half;
	target.high = center + half;
	touches.clear();
	theirs.features->touch(target, touches);

	for (const SharpFeatures::Touch& touch : touches)
	{
		const Vec point = to_world(touch.point);
		// Where the field has no direction, in the middle of a part, the way out is away from the body's centre.
		const Vec way = length2(touch.outward) > 0 ? ours_to_world.rotate(touch.outward) : point - ours.motion.center;
		const double norm = length(way);
		if (!(norm > 0))
			continue;
		const Vec outward = way * (1 / norm);
		const double around = touch.radius + theirs.inflation;
		Candidate c;
		c.feature = touch.feature;
		c.normal = ours_is_first ? -outward : outward;
		c.distance = touch.distance - around;
		c.point = point - outward * (ours_is_first ? around : touch.distance);
		candidates.push_back(c);

		// A field knows the nearest wall only. Where the point will be at the end of the step it may be another one, in a valley:
		// that one's plane, as seen from where the point is now.
		const Vec moved = (theirs.motion.velocity_at(point) - ours.motion.velocity_at(point)) * dt;
		Vec gradient;
		double there = 0;
		if (vxs_field_distance(target.field, from_world(point + moved), &there, &gradient) != VXS_OK || length2(gradient) < 0.0625)
			continue;
		const Vec ahead = ours_to_world.rotate(gradient) * (1 / length(gradient));
		if (dot(ahead, outward) > kSameWall)
			continue;
		// No wall of a valley is nearer than the nearest: this is the far side of something, behind which the point would be.
		if (there - dot(ahead, moved) < touch.distance - MotionPair::kAllowed * double(ours.voxshell->getResolution()))
			continue;
		c.feature |= SharpFeatures::kAhead;
		c.normal = ours_is_first ? -ahead : ahead;
		c.distance = there - dot(ahead, moved) - around;
		c.point = point - ahead * (ours_is_first ? around : c.distance + around);
		candidates.push_back(c);
	}
}

void btVoxShellCollisionAlgorithm::State::process(const btCollisionObjectWrapper* wrap0, const btCollisionObjectWrapper* wrap1, const btDispatcherInfo& info, btManifoldResult* result)
{
	Side first, second;
	bool done = false;
	if (workspace)
	{
		place(first, wrap0);
		place(second, wrap1);
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
		const double distance = margin + std::max(ahead, asked);
		done = find_forms(first, second, distance) && query(first, second, distance, dt) && !candidates.empty();
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

btScalar btVoxShellCollisionAlgorithm::calculateTimeOfImpact(btCollisionObject* body0, btCollisionObject* body1, const btDispatcherInfo&, btManifoldResult*)
{
	MotionPair pair;
	const MotionPair::Path first = {body0->getWorldTransform(), body0->getInterpolationWorldTransform()};
	const MotionPair::Path second = {body1->getWorldTransform(), body1->getInterpolationWorldTransform()};
	return btScalar(pair.first_hit(body0->getCollisionShape(), first, body1->getCollisionShape(), second).time);
}

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
		if (!btVoxShellBaseShape::upcast(shape0) && !btVoxShellBaseShape::upcast(shape1))
		{
			// Somebody else's shape of the same proxy type: what Bullet would have made.
			btCollisionConfiguration* stock = static_cast<btCollisionDispatcher*>(info.m_dispatcher1)->getCollisionConfiguration();
#if BT_BULLET_VERSION >= 286
			if (closest_points)
				return stock->getClosestPointsAlgorithmCreateFunc(shape0->getShapeType(), shape1->getShapeType())->CreateCollisionAlgorithm(info, body0, body1);
#endif
			return stock->getCollisionAlgorithmCreateFunc(shape0->getShapeType(), shape1->getShapeType())->CreateCollisionAlgorithm(info, body0, body1);
		}
		// A pool whose elements were made too small would not tell; what is not the pool's the dispatcher frees all the same.
		const btPoolAllocator* pool = static_cast<btCollisionDispatcher*>(info.m_dispatcher1)->getCollisionConfiguration()->getCollisionAlgorithmPool();
		const int size = int(sizeof(btVoxShellCollisionAlgorithm));
		void* memory = pool->getElementSize() < size ? btAlignedAlloc(size_t(size), 16) : info.m_dispatcher1->allocateCollisionAlgorithm(size);
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
	for (size_t i = 0; i < kPairRows; ++i)
		if (kPairTable[i].treatment != Treatment::STOCK)
		{
			enter(FAST_CONCAVE_MESH_PROXYTYPE, kPairTable[i].type);
			enter(kPairTable[i].type, FAST_CONCAVE_MESH_PROXYTYPE);
		}
}
