#include "manifold_set.h"

#include <BulletCollision/BroadphaseCollision/btDispatcher.h>

namespace voxshell_bullet
{
namespace
{
/// Nothing is ever this far, m: as a breaking threshold it makes Bullet keep every point until we remove it.
const btScalar kNever = btScalar(1e9);
}  // namespace

ManifoldSet::ManifoldSet(btDispatcher* dispatcher, const btCollisionObject* body0, const btCollisionObject* body1, int max_manifolds)
	: m_dispatcher(dispatcher), m_body0(body0), m_body1(body1), m_max(btMax(1, btMin(max_manifolds, int(kMaxManifolds))))
{
	m_new.reserve(capacity());
}

ManifoldSet::~ManifoldSet()
{
	for (int m = 0; m < m_count; ++m)
		m_dispatcher->releaseManifold(m_manifolds[m]);
}

void ManifoldSet::remember(Slot& slot, uint32_t feature, const btManifoldPoint& point)
{
	slot.feature = feature;
	slot.seen = true;
	slot.local_a = point.m_localPointA;
	slot.local_b = point.m_localPointB;
}

void ManifoldSet::begin()
{
	m_new.resize(0);
	m_filter = 0;
	for (int m = 0; m < m_count; ++m)
	{
		btPersistentManifold* manifold = m_manifolds[m];
		Slot* slots = m_slots[m];
		for (int i = 0; i < manifold->getNumContacts();)
		{
			const btManifoldPoint& point = manifold->getContactPoint(i);
			// Removals move the last point into the gap: look for the slot from here on.
			int at = i;
			while (at < MANIFOLD_CACHE_SIZE && !(slots[at].local_a == point.m_localPointA && slots[at].local_b == point.m_localPointB))
				++at;
			if (at == MANIFOLD_CACHE_SIZE)
			{
				manifold->removeContactPoint(i);
				continue;
			}
			btSwap(slots[i], slots[at]);
			slots[i].seen = false;
			m_filter |= uint64_t(1) << (slots[i].feature & 63);
			++i;
		}
	}
}

const btManifoldPoint* ManifoldSet::find(uint32_t feature) const
{
	if (!(m_filter >> (feature & 63) & 1))
		return nullptr;
	for (int m = 0; m < m_count; ++m)
		for (int i = 0; i < m_manifolds[m]->getNumContacts(); ++i)
			if (m_slots[m][i].feature == feature)
				return &m_manifolds[m]->getContactPoint(i);
	return nullptr;
}

void ManifoldSet::put(uint32_t feature, const btManifoldPoint& point, bool forget_impulse)
{
	for (int m = 0; m < m_count; ++m)
		for (int i = 0; i < m_manifolds[m]->getNumContacts(); ++i)
		{
			Slot& slot = m_slots[m][i];
			if (slot.feature != feature || slot.seen)
				continue;
			btManifoldPoint& old = m_manifolds[m]->getContactPoint(i);
			if (forget_impulse)
			{
				old.m_appliedImpulse = 0;
				old.m_appliedImpulseLateral1 = 0;
				old.m_appliedImpulseLateral2 = 0;
			}
			m_manifolds[m]->replaceContactPoint(point, i);
			remember(slot, feature, point);
			return;
		}
	New added;
	added.feature = feature;
	added.point = point;
	m_new.push_back(added);
}

void ManifoldSet::end()
{
	int next = 0;
	for (int m = 0; m < m_count; ++m)
	{
		btPersistentManifold* manifold = m_manifolds[m];
		for (int i = manifold->getNumContacts() - 1; i >= 0; --i)
		{
			if (m_slots[m][i].seen)
				continue;
			if (next < m_new.size())
			{
				btManifoldPoint& old = manifold->getContactPoint(i);
				manifold->clearUserCache(old);
				old = m_new[next].point;
				remember(m_slots[m][i], m_new[next].feature, old);
				++next;
			}
			else
			{
				m_slots[m][i] = m_slots[m][manifold->getNumContacts() - 1];
				manifold->removeContactPoint(i);
			}
		}
	}
	for (int m = 0; next < m_new.size() && m < m_max; ++m)
	{
		if (m == m_count)
		{
			btPersistentManifold* manifold = m_dispatcher->getNewManifold(m_body0, m_body1);
			if (!manifold)
				break;  // the pool is exhausted and may not grow
			manifold->setContactBreakingThreshold(kNever);
			m_manifolds[m_count++] = manifold;
		}
		btPersistentManifold* manifold = m_manifolds[m];
		const bool was_empty = manifold->getNumContacts() == 0;
		while (next < m_new.size() && manifold->getNumContacts() < MANIFOLD_CACHE_SIZE)
		{
			const int i = manifold->addManifoldPoint(m_new[next].point);
			remember(m_slots[m][i], m_new[next].feature, m_new[next].point);
			++next;
		}
#if BT_BULLET_VERSION >= 287
		if (gContactStartedCallback && was_empty && manifold->getNumContacts() > 0)
			gContactStartedCallback(manifold);
#else
		(void)was_empty;
#endif
	}
	// What btPersistentManifold::refreshContactPoints does besides moving points, which ours do not need.
	for (int m = 0; m < m_count; ++m)
		for (int i = m_manifolds[m]->getNumContacts() - 1; i >= 0; --i)
		{
			btManifoldPoint& point = m_manifolds[m]->getContactPoint(i);
			point.m_lifeTime++;
			if (gContactProcessedCallback)
				gContactProcessedCallback(point, const_cast<btCollisionObject*>(m_body0), const_cast<btCollisionObject*>(m_body1));
		}
}

void ManifoldSet::clear()
{
	m_new.resize(0);
	for (int m = 0; m < m_count; ++m)
		if (m_manifolds[m]->getNumContacts() > 0)
			m_manifolds[m]->clearManifold();
}

void ManifoldSet::append_to(btManifoldArray& manifolds) const
{
	for (int m = 0; m < m_count; ++m)
		manifolds.push_back(m_manifolds[m]);
}

PointMaker::PointMaker(const btCollisionObject* body0, const btCollisionObject* body1) : m_scratch(body0, body1, 0, kNever, kNever)
{
	const btScalar far = kNever * kNever;
	m_scratch.setNumContacts(1);
	m_scratch.getContactPoint(0) = btManifoldPoint(btVector3(far, 0, 0), btVector3(far, 0, 0), btVector3(1, 0, 0), 0);
}

btManifoldPoint* PointMaker::make(btManifoldResult* result, const btVector3& normal, const btVector3& point, btScalar distance)
{
	if (m_scratch.getNumContacts() == 2)
	{
		m_scratch.getContactPoint(1).m_userPersistentData = 0;  // it went with the copy
		m_scratch.setNumContacts(1);
	}
	btPersistentManifold* const before = result->getPersistentManifold();
	result->setPersistentManifold(&m_scratch);
	result->addContactPoint(normal, point, distance);
	result->setPersistentManifold(before);
	return m_scratch.getNumContacts() == 2 ? &m_scratch.getContactPoint(1) : nullptr;
}
}  // namespace voxshell_bullet
