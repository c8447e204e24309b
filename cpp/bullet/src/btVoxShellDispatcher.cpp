#include <voxshell/bullet/btVoxShellDispatcher.h>

#include <algorithm>
#include <thread>
#include <vector>

#include <BulletCollision/BroadphaseCollision/btOverlappingPairCache.h>
#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>
#include <voxshell/bullet/btVoxShellShape.h>

#include "forms.h"
#include "worker_pool.h"

using namespace voxshell_bullet;

namespace
{
/// Fewer pairs than this are not worth waking the threads.
const size_t kFewPairs = 4;

/// Most threads; more do not help the pairs of one world.
const int kMostThreads = 256;

struct Pair
{
	btVoxShellCollisionAlgorithm* algorithm;
	const btCollisionObject *first, *second;
};

const btCollisionObject* object_of(const btBroadphaseProxy* proxy) { return static_cast<const btCollisionObject*>(proxy->m_clientObject); }

btCollisionObjectWrapper wrap(const btCollisionObject* object)
{
	return btCollisionObjectWrapper(nullptr, object->getCollisionShape(), object, object->getWorldTransform(), -1, -1);
}

/// Returns whether the search of a pair with this shape calls nothing of Bullet's that is not thread-safe.
bool is_searched(const btCollisionShape* shape)
{
	double factor;
	if (btVoxShellBaseShape::upcast(shape))
		return true;
	const PairRow* row = find_row(shape, factor);
	return row && row->treatment == Treatment::FORM;
}

int threads_of(int wanted)
{
	const int cores = int(std::thread::hardware_concurrency());
	return std::max(1, std::min(wanted > 0 ? wanted : cores, kMostThreads));
}
}  // namespace

struct btVoxShellDispatcher::State
{
	WorkerPool pool;
	std::vector<Pair> pairs;
	const btDispatcherInfo* info = nullptr;

	explicit State(int threads) : pool(threads_of(threads)) {}

	void search(size_t item) const
	{
		const Pair& pair = pairs[item];
		const btCollisionObjectWrapper first = wrap(pair.first), second = wrap(pair.second);
		pair.algorithm->searchAhead(&first, &second, *info);
	}
};

btVoxShellDispatcher::btVoxShellDispatcher(btCollisionConfiguration* configuration, int threads, const btVoxShellSettings& settings) : btCollisionDispatcher(configuration), m_state(new State(threads))
{
	btVoxShellCollisionAlgorithm::registerAlgorithm(this, settings);
}

btVoxShellDispatcher::~btVoxShellDispatcher() = default;

int btVoxShellDispatcher::getNumThreads() const { return m_state->pool.threads(); }

int btVoxShellDispatcher::getNumParallelPairs() const { return int(m_state->pairs.size()); }

void btVoxShellDispatcher::dispatchAllCollisionPairs(btOverlappingPairCache* pairCache, const btDispatcherInfo& dispatchInfo, btDispatcher* dispatcher)
{
	State& state = *m_state;
	state.pairs.clear();
	if (state.pool.threads() > 1 && dispatchInfo.m_dispatchFunc == btDispatcherInfo::DISPATCH_DISCRETE)
	{
		// A near callback of the user may not want an algorithm for a pair that has none yet.
		const bool creates = getNearCallback() == &btCollisionDispatcher::defaultNearCallback;
		btBroadphasePair* const all = pairCache->getOverlappingPairArrayPtr();
		for (int i = 0; i < pairCache->getNumOverlappingPairs(); ++i)
		{
			btBroadphasePair& pair = all[i];
			const btCollisionObject *first = object_of(pair.m_pProxy0), *second = object_of(pair.m_pProxy1);
			const btCollisionShape *own = first->getCollisionShape(), *other = second->getCollisionShape();
			if (!(btVoxShellBaseShape::upcast(own) || btVoxShellBaseShape::upcast(other)) || !is_searched(own) || !is_searched(other) || !needsCollision(first, second))
				continue;
			if (!pair.m_algorithm && creates)
			{
				const btCollisionObjectWrapper wrap0 = wrap(first), wrap1 = wrap(second);
#if BT_BULLET_VERSION >= 286
				pair.m_algorithm = findAlgorithm(&wrap0, &wrap1, nullptr, BT_CONTACT_POINT_ALGORITHMS);
#else
				pair.m_algorithm = findAlgorithm(&wrap0, &wrap1);
#endif
			}
			// Another library may have registered for these shapes.
			if (btVoxShellCollisionAlgorithm* ours = dynamic_cast<btVoxShellCollisionAlgorithm*>(pair.m_algorithm))
				state.pairs.push_back({ours, first, second});
		}
		state.info = &dispatchInfo;
		if (state.pairs.size() < kFewPairs)
			state.pairs.clear();
		else
			state.pool.run(state.pairs.size(), [](void* user, size_t item) { static_cast<const State*>(user)->search(item); }, &state);
	}
	btCollisionDispatcher::dispatchAllCollisionPairs(pairCache, dispatchInfo, dispatcher);
	// A near callback of the user may have left pairs out; a callback may have removed pairs, whose algorithms are gone.
	if (getNearCallback() != &btCollisionDispatcher::defaultNearCallback)
		for (int i = 0; i < pairCache->getNumOverlappingPairs(); ++i)
			if (btVoxShellCollisionAlgorithm* ours = dynamic_cast<btVoxShellCollisionAlgorithm*>(pairCache->getOverlappingPairArrayPtr()[i].m_algorithm))
				ours->forgetSearch();
}
