#include "manifold_set.h"

#include <BulletCollision/BroadphaseCollision/btDispatcher.h>

namespace voxshell_bullet
{
namespace
{
/// A distance that no point reaches, m: as a breaking threshold it makes Bullet keep every point until we remove it.
const btScalar kNever = btScalar(1e9);
}  // namespace

ManifoldSet::ManifoldSet(btDispatcher* dispatcher, const btCollisionObject* body0, const btCollisionObject* body1, int max_manifolds)
	: m_dispatcher(dispatcher), m_body0(body0), m_body1(body1), m_max(max_manifolds)
{
	const int usual = btMin(m_max, int(kMaxManifolds));
	m_held.reserve(usual);
	m_new.reserve(usual * MANIFOLD_CACHE_SIZE);
}

ManifoldSet::~ManifoldSet()
{
	for (int m = 0; m < m_held.size(); ++m)
		m_dispatcher->releaseManifold(m_held[m].manifold);
}

void ManifoldSet::Held::remember(int i, uint32_t feature, const btManifoldPoint& point)
{
	slots[i].feature = feature;
	slots[i].seen = true;
	slots[i].local_a = point.m_localPointA;
	slots[i].local_b = point.m_localPointB;
}

void ManifoldSet::begin()
{
	m_new.resize(0);
	m_filter = 0;
	for (int m = 0; m < m_held.size(); ++m)
	{
		btPersistentManifold* manifold = m_held[m].manifold;
		Slot* slots = m_held[m].slots;
		for (int i = 0; i < manifold->getNumContacts();)
		{
			const btManifoldPoint& point = manifold->getContactPoint(i);
			// Removals move the last point into the gap: search the slot from here on.
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
	for (int m = 0; m < m_held.size(); ++m)
		for (int i = 0; i < m_held[m].manifold->getNumContacts(); ++i)
			if (m_held[m].slots[i].feature == feature)
				return &m_held[m].manifold->getContactPoint(i);
	return nullptr;
}

void ManifoldSet::put(uint32_t feature, uint32_t group, const btManifoldPoint& point, bool forget_impulse)
{
	const btManifoldPoint* moved = nullptr;
	for (int m = 0; m < m_held.size() && !moved; ++m)
		for (int i = 0; i < m_held[m].manifold->getNumContacts(); ++i)
		{
			const Slot& slot = m_held[m].slots[i];
			if (slot.feature != feature || slot.seen)
				continue;
			btManifoldPoint& old = m_held[m].manifold->getContactPoint(i);
			if (forget_impulse)
			{
				old.m_appliedImpulse = point.m_appliedImpulse;
				old.m_appliedImpulseLateral1 = point.m_appliedImpulseLateral1;
				old.m_appliedImpulseLateral2 = point.m_appliedImpulseLateral2;
			}
			if (m_held[m].group == group)
			{
				m_held[m].manifold->replaceContactPoint(point, i);
				m_held[m].remember(i, feature, point);
				return;
			}
			moved = &old;
		}
	New added;
	added.feature = feature;
	added.group = group;
	added.placed = false;
	added.point = point;
	if (moved)
	{
		added.point.m_appliedImpulse = moved->m_appliedImpulse;
		added.point.m_appliedImpulseLateral1 = moved->m_appliedImpulseLateral1;
		added.point.m_appliedImpulseLateral2 = moved->m_appliedImpulseLateral2;
		added.point.m_lifeTime = moved->m_lifeTime;
	}
	m_new.push_back(added);
}

/// Returns the next point of a group that has no place yet; null when there is none.
ManifoldSet::New* ManifoldSet::next_of(uint32_t group)
{
	for (int n = 0; n < m_new.size(); ++n)
		if (m_new[n].group == group && !m_new[n].placed)
		{
			m_new[n].placed = true;
			return &m_new[n];
		}
	return nullptr;
}

/// Returns a manifold with room for a point of a group; null when there can be none.
ManifoldSet::Held* ManifoldSet::room_for(uint32_t group)
{
	Held* empty = nullptr;
	for (int m = 0; m < m_held.size(); ++m)
	{
		const int points = m_held[m].manifold->getNumContacts();
		if (m_held[m].group == group && points < MANIFOLD_CACHE_SIZE)
			return &m_held[m];
		if (points == 0 && !empty)
			empty = &m_held[m];
	}
	if (!empty && m_held.size() < m_max)
	{
		Held made;
		made.manifold = m_dispatcher->getNewManifold(m_body0, m_body1);
		if (!made.manifold)
			return nullptr;  // the pool is exhausted and may not grow
		made.manifold->setContactBreakingThreshold(kNever);
		m_held.push_back(made);
		empty = &m_held[m_held.size() - 1];
	}
	if (empty)
		empty->group = group;
	return empty;
}

void ManifoldSet::add_new()
{
	for (int n = 0; n < m_new.size(); ++n)
	{
		const New& added = m_new[n];
		Held* const held = added.placed ? nullptr : room_for(added.group);
		if (!held)
			continue;
		held->started = held->started || held->manifold->getNumContacts() == 0;
		held->remember(held->manifold->addManifoldPoint(added.point), added.feature, added.point);
	}
	for (int m = 0; m < m_held.size(); ++m)
	{
#if BT_BULLET_VERSION >= 287
		if (gContactStartedCallback && m_held[m].started)
			gContactStartedCallback(m_held[m].manifold);
#endif
		m_held[m].started = false;
	}
}

void ManifoldSet::end()
{
	for (int m = 0; m < m_held.size(); ++m)
	{
		btPersistentManifold* manifold = m_held[m].manifold;
		for (int i = manifold->getNumContacts() - 1; i >= 0; --i)
		{
			if (m_held[m].slots[i].seen)
				continue;
			if (const New* added = next_of(m_held[m].group))
			{
				btManifoldPoint& old = manifold->getContactPoint(i);
				manifold->clearUserCache(old);
				old = added->point;
				m_held[m].remember(i, added->feature, old);
			}
			else
			{
				m_held[m].slots[i] = m_held[m].slots[manifold->getNumContacts() - 1];
				manifold->removeContactPoint(i);
			}
		}
	}
	add_new();
	// The work of btPersistentManifold::refreshContactPoints besides moving points, which ours do not need.
	for (int m = 0; m < m_held.size(); ++m)
		for (int i = m_held[m].manifold->getNumContacts() - 1; i >= 0; --i)
		{
			btManifoldPoint& point = m_held[m].manifold->getContactPoint(i);
			point.m_lifeTime++;
			if (gContactProcessedCallback)
				gContactProcessedCallback(point, const_cast<btCollisionObject*>(m_body0), const_cast<btCollisionObject*>(m_body1));
		}
}

void ManifoldSet::clear()
{
	m_new.resize(0);
	for (int m = 0; m < m_held.size(); ++m)
		if (m_held[m].manifold->getNumContacts() > 0)
			m_held[m].manifold->clearManifold();
}

void ManifoldSet::append_to(btManifoldArray& manifolds) const
{
	for (int m = 0; m < m_held.size(); ++m)
		manifolds.push_back(m_held[m].manifold);
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
		m_scratch.getContactPoint(1).m_userPersistentData = 0;  // the copy now owns it
		m_scratch.setNumContacts(1);
	}
	btPersistentManifold* const before = result->getPersistentManifold();
	result->setPersistentManifold(&m_scratch);
	result->addContactPoint(normal, point, distance);
	result->setPersistentManifold(before);
	return m_scratch.getNumContacts() == 2 ? &m_scratch.getContactPoint(1) : nullptr;
}
}  // namespace voxshell_bullet
