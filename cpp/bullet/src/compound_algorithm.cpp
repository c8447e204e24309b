#include "compound_algorithm.h"

#include <algorithm>

#include <BulletCollision/BroadphaseCollision/btDbvt.h>
#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>
#include <BulletCollision/CollisionDispatch/btManifoldResult.h>
#include <BulletCollision/CollisionShapes/btCompoundShape.h>
#include <LinearMath/btAabbUtil2.h>
#include <voxshell/bullet/btVoxShellShape.h>

#include "contact_policy.h"
#include "side.h"

namespace voxshell_bullet
{
namespace
{
struct Box
{
	btVector3 low, high;

	Box(const btCollisionShape* shape, const btTransform& at) { shape->getAabb(at, low, high); }

	void grow(double by)
	{
		const btVector3 margin = btVector3(1, 1, 1) * btScalar(by);
		low -= margin;
		high += margin;
	}
};

struct Collector : btDbvt::ICollide
{
	btAlignedObjectArray<int>& found;

	explicit Collector(btAlignedObjectArray<int>& list) : found(list) {}
	void Process(const btDbvtNode* leaf) override { found.push_back(leaf->dataAsInt); }
};

const btCompoundShape* compound_of(const btCollisionObjectWrapper* wrap) { return static_cast<const btCompoundShape*>(wrap->getCollisionShape()); }
}  // namespace

bool has_voxshell(const btCollisionShape* shape)
{
	if (!shape->isCompound())
		return btVoxShellBaseShape::upcast(shape) != nullptr;
	const btCompoundShape* compound = static_cast<const btCompoundShape*>(shape);
	for (int i = 0; i < compound->getNumChildShapes(); ++i)
		if (has_voxshell(compound->getChildShape(i)))
			return true;
	return false;
}

CompoundAlgorithm::CompoundAlgorithm(const btCollisionAlgorithmConstructionInfo& info, const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1, bool is_swapped, const btVoxShellSettings& settings)
	: btCompoundCollisionAlgorithm(info, body0, body1, is_swapped), m_lookahead(double(settings.m_lookahead)), m_fraction(double(settings.m_maxLookaheadFraction))
{
}

/// Returns the distance by which the bodies can come nearer within the step, with the safety of the settings, m.
double CompoundAlgorithm::ahead(const btCollisionObjectWrapper* compound, const btCollisionObjectWrapper* other, double dt) const
{
	Side first = side_of(compound, dt), second = side_of(other, dt);
	limit_radii(first, second);
	return std::min(reach(first.motion, second.motion, dt) * m_lookahead, std::min(first.extent, second.extent) * m_fraction);
}

void CompoundAlgorithm::processCollision(const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1, const btDispatcherInfo& info, btManifoldResult* result)
{
#if BT_BULLET_VERSION >= 286
	if (result->m_closestPointDistanceThreshold > 0)
	{
		btCompoundCollisionAlgorithm::processCollision(body0, body1, info, result);
		return;
	}
#endif
	const btCollisionObjectWrapper *compound = m_isSwapped ? body1 : body0, *other = m_isSwapped ? body0 : body1;
	const btCompoundShape* shape = compound_of(compound);
	if (shape->getUpdateRevision() != m_compoundShapeRevision)
	{
		removeChildAlgorithms();
		preallocateChildAlgorithms(body0, body1);
		m_compoundShapeRevision = shape->getUpdateRevision();
	}
	const double reach = ahead(compound, other, double(info.m_timeStep));
	const bool other_is_ours = has_voxshell(other->getCollisionShape());
	const Box strict(other->getCollisionShape(), other->getWorldTransform());
	Box wide = strict;
	wide.grow(reach);

	m_near.resize(0);
	if (const btDbvt* tree = shape->getDynamicAabbTree())
	{
		Box local(other->getCollisionShape(), compound->getWorldTransform().inverse() * other->getWorldTransform());
		// The tree's boxes are in the compound's frame, in which the shapes' own boxes may be smaller than in the world's.
		local.grow(reach);
		Collector collector(m_near);
		tree->collideTV(tree->m_root, btDbvtVolume::FromMM(local.low, local.high), collector);
		m_near.quickSort([](int a, int b) { return a < b; });
	}
	else
		for (int i = 0; i < m_childCollisionAlgorithms.size(); ++i)
			m_near.push_back(i);

	int next = 0;
	for (int i = 0; i < m_childCollisionAlgorithms.size(); ++i)
	{
		const bool in_tree = next < m_near.size() && m_near[next] == i;
		next += in_tree;
		if (!in_tree && !m_childCollisionAlgorithms[i])
			continue;
		const btTransform at = compound->getWorldTransform() * shape->getChildTransform(i);
		const Box own(shape->getChildShape(i), at);
		const Box& limit = other_is_ours || has_voxshell(shape->getChildShape(i)) ? wide : strict;
		if (in_tree && TestAabbAgainstAabb2(own.low, own.high, limit.low, limit.high))
			process_child(i, at, compound, other, info, result);
		else
			drop(i);
	}
}

void CompoundAlgorithm::process_child(int index, const btTransform& at, const btCollisionObjectWrapper* compound, const btCollisionObjectWrapper* other, const btDispatcherInfo& info, btManifoldResult* result)
{
	const btCollisionShape* child = compound_of(compound)->getChildShape(index);
#if BT_BULLET_VERSION >= 283
	if (gCompoundChildShapePairCallback && !gCompoundChildShapePairCallback(other->getCollisionShape(), child))
		return;
#endif
	const btCollisionObjectWrapper wrap(compound, child, compound->getCollisionObject(), at, -1, index);
	btCollisionAlgorithm*& algorithm = m_childCollisionAlgorithms[index];
	if (algorithm)
		refresh(index, result);
	else
	{
#if BT_BULLET_VERSION >= 286
		algorithm = m_dispatcher->findAlgorithm(&wrap, other, m_sharedManifold, BT_CONTACT_POINT_ALGORITHMS);
#else
		algorithm = m_dispatcher->findAlgorithm(&wrap, other, m_sharedManifold);
#endif
	}
	const bool is_first = result->getBody0Internal() == compound->getCollisionObject();
	const btCollisionObjectWrapper* const before = is_first ? result->getBody0Wrap() : result->getBody1Wrap();
	if (is_first)
	{
		result->setBody0Wrap(&wrap);
		result->setShapeIdentifiersA(-1, index);
	}
	else
	{
		result->setBody1Wrap(&wrap);
		result->setShapeIdentifiersB(-1, index);
	}
	algorithm->processCollision(&wrap, other, info, result);
	if (is_first)
		result->setBody0Wrap(before);
	else
		result->setBody1Wrap(before);
}

/// Moves the points of one of Bullet's own algorithms with the bodies, as btCompoundCollisionAlgorithm does.
void CompoundAlgorithm::refresh(int index, btManifoldResult* result)
{
	m_refreshed.resize(0);
	m_childCollisionAlgorithms[index]->getAllContactManifolds(m_refreshed);
	for (int m = 0; m < m_refreshed.size(); ++m)
		if (m_refreshed[m]->getNumContacts())
		{
			result->setPersistentManifold(m_refreshed[m]);
			result->refreshContactPoints();
			result->setPersistentManifold(nullptr);
		}
}

/// Ends the contacts of a child that is not near.
void CompoundAlgorithm::drop(int index)
{
	btCollisionAlgorithm*& algorithm = m_childCollisionAlgorithms[index];
	if (!algorithm)
		return;
	algorithm->~btCollisionAlgorithm();
	m_dispatcher->freeCollisionAlgorithm(algorithm);
	algorithm = nullptr;
}
}  // namespace voxshell_bullet
