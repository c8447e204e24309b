// How Bullet's dispatcher makes the algorithm: for which pairs of types, and in which memory.
#include <voxshell/bullet/btVoxShellCollisionAlgorithm.h>

#include <mutex>
#include <new>
#include <vector>

#include <BulletCollision/CollisionDispatch/btCollisionConfiguration.h>
#include <BulletCollision/CollisionDispatch/btCollisionDispatcher.h>
#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>
#include <LinearMath/btPoolAllocator.h>
#include <voxshell/bullet/btVoxShellShape.h>

#include "compound_algorithm.h"
#include "pair_table.h"

using namespace voxshell_bullet;

// The dispatcher's pool has elements of 192 bytes in a default configuration and does not check (allocateCollisionAlgorithm
// ignores the size in release builds).
static_assert(sizeof(btVoxShellCollisionAlgorithm) <= 192, "the algorithm must fit into an element of Bullet's pool");

namespace
{
btCollisionConfiguration* configuration_of(const btCollisionAlgorithmConstructionInfo& info) { return static_cast<btCollisionDispatcher*>(info.m_dispatcher1)->getCollisionConfiguration(); }

/// A pool whose elements are too small gives no error; the dispatcher also frees memory that is not from the pool.
void* allocate(const btCollisionAlgorithmConstructionInfo& info, size_t size)
{
	if (size_t(configuration_of(info)->getCollisionAlgorithmPool()->getElementSize()) < size)
		return btAlignedAlloc(size, 16);
	return info.m_dispatcher1->allocateCollisionAlgorithm(int(size));
}

/// For compounds, with and without our shapes.
struct CompoundCreateFunc : public btCollisionAlgorithmCreateFunc
{
	btVoxShellSettings settings;

	btCollisionAlgorithm* CreateCollisionAlgorithm(btCollisionAlgorithmConstructionInfo& info, const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1) override
	{
		const btCollisionShape *shape0 = body0->getCollisionShape(), *shape1 = body1->getCollisionShape();
		if (!has_voxshell(shape0) && !has_voxshell(shape1))
			return configuration_of(info)->getCollisionAlgorithmCreateFunc(shape0->getShapeType(), shape1->getShapeType())->CreateCollisionAlgorithm(info, body0, body1);
		return new (allocate(info, sizeof(CompoundAlgorithm))) CompoundAlgorithm(info, body0, body1, !shape0->isCompound(), settings);
	}
};

struct CreateFunc : public btCollisionAlgorithmCreateFunc
{
	btVoxShellSettings settings;
	bool closest_points = false;  // which of the dispatcher's tables holds it
	CompoundCreateFunc compounds;

	btCollisionAlgorithm* CreateCollisionAlgorithm(btCollisionAlgorithmConstructionInfo& info, const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1) override
	{
		const btCollisionShape *shape0 = body0->getCollisionShape(), *shape1 = body1->getCollisionShape();
		if (!btVoxShellBaseShape::upcast(shape0) && !btVoxShellBaseShape::upcast(shape1))
		{
			// A shape of another library with the same proxy type: create Bullet's own algorithm.
			btCollisionConfiguration* stock = configuration_of(info);
#if BT_BULLET_VERSION >= 286
			if (closest_points)
				return stock->getClosestPointsAlgorithmCreateFunc(shape0->getShapeType(), shape1->getShapeType())->CreateCollisionAlgorithm(info, body0, body1);
#endif
			return stock->getCollisionAlgorithmCreateFunc(shape0->getShapeType(), shape1->getShapeType())->CreateCollisionAlgorithm(info, body0, body1);
		}
		void* memory = allocate(info, sizeof(btVoxShellCollisionAlgorithm));
		return new (memory) btVoxShellCollisionAlgorithm(info, body0, body1, settings);
	}
};

bool same(const btVoxShellSettings& a, const btVoxShellSettings& b)
{
	return a.m_maxManifolds == b.m_maxManifolds && a.m_roles == b.m_roles && a.m_coverage == b.m_coverage && a.m_triangles == b.m_triangles && a.m_segmentation == b.m_segmentation && a.m_segmentLevel == b.m_segmentLevel && a.m_restitutionVelocityThreshold == b.m_restitutionVelocityThreshold &&
		   a.m_lookahead == b.m_lookahead && a.m_maxLookaheadFraction == b.m_maxLookaheadFraction && a.m_patchExponent == b.m_patchExponent &&
		   a.m_patchResolution == b.m_patchResolution && a.m_patchDissipation == b.m_patchDissipation && a.m_budget == b.m_budget;
}

/// One per distinct settings and table, never destroyed: dispatchers keep pointers to them for as long as they live.
CreateFunc* create_func(const btVoxShellSettings& settings, bool closest_points)
{
	btVoxShellSettings wanted = settings;
	// Questions outside the step have all the work that they need.
	if (closest_points)
		wanted.m_budget = nullptr;
	static std::mutex* const mutex = new std::mutex;
	static std::vector<CreateFunc*>* const all = new std::vector<CreateFunc*>;
	const std::lock_guard<std::mutex> lock(*mutex);
	for (CreateFunc* f : *all)
		if (f->closest_points == closest_points && same(f->settings, wanted))
			return f;
	CreateFunc* f = new CreateFunc;
	f->settings = f->compounds.settings = wanted;
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
	// Compounds look ahead for the sake of our children in them.
	const auto enter_compound = [&](int type) {
		dispatcher->registerCollisionCreateFunc(COMPOUND_SHAPE_PROXYTYPE, type, &create_func(settings, false)->compounds);
		dispatcher->registerCollisionCreateFunc(type, COMPOUND_SHAPE_PROXYTYPE, &create_func(settings, false)->compounds);
	};
	for (size_t i = 0; i < kPairRows; ++i)
		if (kPairTable[i].treatment == Treatment::FORM || kPairTable[i].treatment == Treatment::SCALED || kPairTable[i].treatment == Treatment::PATCH)
			enter_compound(kPairTable[i].type);
	enter_compound(COMPOUND_SHAPE_PROXYTYPE);
}
