// The queries of a Bullet world find Voxshell shapes, and their options have the same meaning as for Bullet's own
// meshes: flags of rays, ghost objects, the character controller, debug drawing.
#include <algorithm>

#include <BulletCollision/CollisionDispatch/btGhostObject.h>
#include <BulletCollision/NarrowPhaseCollision/btRaycastCallback.h>
#include <BulletDynamics/Character/btKinematicCharacterController.h>

#include "../../cpp/bullet/examples/terrain.h"
#include "scene.h"
#include "table.h"

namespace
{
/// A ring in the xz plane, 1.04 m wide, with a tube 0.24 m thick: as a Bullet mesh and as each Voxshell class.
struct Ring
{
	btTriangleMesh mesh;
	std::unique_ptr<btBvhTriangleMeshShape> stock;
	std::unique_ptr<btVoxShellShape> both;
	std::unique_ptr<btVoxelmapShape> field;
	std::unique_ptr<btPointShellShape> shell;

	Ring()
	{
		add_primitive(mesh, VXS_PRIMITIVE_TORUS, {0.4, 0.12}, {96, 32});
		vxs_cook_options options;
		must(vxs_cook_options_init(&options, sizeof options));
		options.sample_count = 4000;
		stock.reset(new btBvhTriangleMeshShape(&mesh, true));
		both.reset(new btVoxShellShape(mesh, &options));
		field.reset(new btVoxelmapShape(mesh, &options));
		shell.reset(new btPointShellShape(mesh, &options));
	}
	std::vector<btVoxShellBaseShape*> ours() const { return {both.get(), field.get(), shell.get()}; }
};

/// Hits of one ray in order.
struct Crossing
{
	double fraction;
	btVector3 normal;
};

std::vector<Crossing> all_hits(btCollisionWorld& world, const btVector3& from, const btVector3& to, unsigned flags)
{
	btCollisionWorld::AllHitsRayResultCallback callback(from, to);
	callback.m_flags = flags;
	world.rayTest(from, to, callback);
	std::vector<Crossing> hits;
	for (int i = 0; i < callback.m_hitFractions.size(); ++i)
		hits.push_back({double(callback.m_hitFractions[i]), callback.m_hitNormalWorld[i]});
	std::sort(hits.begin(), hits.end(), [](const Crossing& a, const Crossing& b) { return a.fraction < b.fraction; });
	return hits;
}

/// Returns true if no hit nearly grazes and no two lie close together; only then field and mesh must agree.
bool clear_of_doubt(const std::vector<Crossing>& hits, const btVector3& from, const btVector3& to)
{
	const btVector3 along = (to - from).normalized();
	for (size_t i = 0; i < hits.size(); ++i)
		if (std::fabs(double(hits[i].normal.dot(along))) < 0.3 || (i > 0 && hits[i].fraction - hits[i - 1].fraction < 0.005))
			return false;
	return true;
}

/// From outside and from inside, with each combination of the flags for the side of a triangle.
void rays_mean_by_their_flags_what_they_mean_for_a_mesh(const Ring& ring)
{
	const unsigned flag_sets[] = {0, btTriangleRaycastCallback::kF_FilterBackfaces, btTriangleRaycastCallback::kF_KeepUnflippedNormal,
								  btTriangleRaycastCallback::kF_FilterBackfaces | btTriangleRaycastCallback::kF_KeepUnflippedNormal};
	const btTransform pose(btQuaternion(btVector3(3, 1, 2).normalized(), 1), btVector3(-1, 2, 1));
	for (btVoxShellBaseShape* shape : ring.ours())
	{
		Scene stock, ours;
		stock.add(ring.stock.get(), 0, pose);
		ours.add(shape, 0, pose);
		Random random(7);
		int compared = 0;
		for (int i = 0; i < (on_valgrind() ? 10 : 400); ++i)
		{
			// Every second ray starts near the middle of the tube, which is inside.
			const btVector3 target = pose(btVector3(btScalar(0.4), 0, 0) + random.direction() * btScalar(0.05));
			const btVector3 along = random.direction(), from = i % 2 ? target : target - along * 2, to = target + along * 2;
			if (!clear_of_doubt(all_hits(stock.world, from, to, 0), from, to))
				continue;
			++compared;
			for (const unsigned flags : flag_sets)
			{
				const std::vector<Crossing> expected = all_hits(stock.world, from, to, flags), found = all_hits(ours.world, from, to, flags);
				CHECK(found.size() == expected.size());
				for (size_t k = 0; k < std::min(found.size(), expected.size()); ++k)
				{
					CHECK(found[k].normal.dot(expected[k].normal) > 0.95);
					CHECK_NEAR(found[k].fraction, expected[k].fraction, 0.002);
				}
				btCollisionWorld::ClosestRayResultCallback first(from, to);
				first.m_flags = flags;
				ours.world.rayTest(from, to, first);
				CHECK(first.hasHit() == !expected.empty());
				if (first.hasHit() && !expected.empty())
					CHECK_NEAR(first.m_closestHitFraction, expected[0].fraction, 0.002);
			}
			if (failures() > 20)
				return;
		}
		CHECK(compared > (on_valgrind() ? 2 : 100));
	}
}

/// A ray that ends before the surface, or passes beside it, hits nothing.
void rays_that_fall_short_meet_nothing(const Ring& ring)
{
	for (btVoxShellBaseShape* shape : ring.ours())
	{
		Scene scene;
		scene.add(shape, 0, btVector3(0, 0, 0));
		btVector3 low, high;
		shape->getAabb(btTransform::getIdentity(), low, high);
		for (int axis = 0; axis < 3; ++axis)
		{
			btVector3 outside = high * 2, end = outside;
			end[axis] = -outside[axis];
			btCollisionWorld::ClosestRayResultCallback past(outside, end);
			scene.world.rayTest(outside, end, past);
			CHECK(!past.hasHit());
		}
		const btVector3 far(0, 5, 0), near(0, high.y() + btScalar(0.01), 0);
		btCollisionWorld::ClosestRayResultCallback shy(far, near);
		scene.world.rayTest(far, near, shy);
		CHECK(!shy.hasHit());
	}
}

/// Ghost objects have Voxshell shapes in their pairs, and their ray and sweep tests agree with the world's.
void ghost_objects_see_our_shapes(const Ring& ring)
{
	for (btVoxShellBaseShape* shape : ring.ours())
	{
		Scene scene;
		btGhostPairCallback callback;
		scene.broadphase.getOverlappingPairCache()->setInternalGhostPairCallback(&callback);
		btRigidBody* body = scene.add(shape, 0, btVector3(0, 0, 0));
		btSphereShape probe(btScalar(0.3));
		btGhostObject ghost;
		btPairCachingGhostObject caching;
		for (btGhostObject* each : {&ghost, static_cast<btGhostObject*>(&caching)})
		{
			each->setCollisionShape(&probe);
			each->setCollisionFlags(btCollisionObject::CF_NO_CONTACT_RESPONSE);
			each->setWorldTransform(btTransform(btQuaternion::getIdentity(), btVector3(btScalar(0.6), 0, 0)));
			scene.world.addCollisionObject(each, btBroadphaseProxy::SensorTrigger, btBroadphaseProxy::AllFilter & ~btBroadphaseProxy::SensorTrigger);
			CHECK(each->getNumOverlappingObjects() == 1 && each->getOverlappingObject(0) == body);
			const btVector3 from(btScalar(0.42), 2, btScalar(0.03)), to(btScalar(0.42), -2, btScalar(0.03));
			btCollisionWorld::ClosestRayResultCallback by_world(from, to), by_ghost(from, to);
			by_world.m_collisionFilterMask = by_ghost.m_collisionFilterMask = btBroadphaseProxy::StaticFilter;  // not the ghosts
			scene.world.rayTest(from, to, by_world);
			each->rayTest(from, to, by_ghost);
			CHECK(by_ghost.hasHit() && by_ghost.m_collisionObject == body);
			CHECK(by_ghost.m_closestHitFraction == by_world.m_closestHitFraction);
			btSphereShape mover(btScalar(0.05));
			const btTransform start(btQuaternion::getIdentity(), from), end(btQuaternion::getIdentity(), to);
			btCollisionWorld::ClosestConvexResultCallback sweep_world(from, to), sweep_ghost(from, to);
			sweep_world.m_collisionFilterMask = sweep_ghost.m_collisionFilterMask = btBroadphaseProxy::StaticFilter;
			scene.world.convexSweepTest(&mover, start, end, sweep_world);
			each->convexSweepTest(&mover, start, end, sweep_ghost);
			CHECK(sweep_ghost.hasHit() == sweep_world.hasHit());
			CHECK(sweep_ghost.m_closestHitFraction == sweep_world.m_closestHitFraction);
		}
		// The pairs of the caching ghost have contacts.
		scene.world.getDispatcher()->dispatchAllCollisionPairs(caching.getOverlappingPairCache(), scene.world.getDispatchInfo(), scene.world.getDispatcher());
		btManifoldArray manifolds;
		for (int i = 0; i < caching.getOverlappingPairCache()->getNumOverlappingPairs(); ++i)
			if (btCollisionAlgorithm* algorithm = caching.getOverlappingPairCache()->getOverlappingPairArray()[i].m_algorithm)
				algorithm->getAllContactManifolds(manifolds);
		int touching = 0;
		for (int i = 0; i < manifolds.size(); ++i)
			touching += manifolds[i]->getNumContacts();
		CHECK(touching > 0);
		scene.world.removeCollisionObject(&ghost);
		scene.world.removeCollisionObject(&caching);
	}
}

/// Returns the path of a character over hills on `ground`.
std::vector<btVector3> walk(btCollisionShape* ground)
{
	Scene scene;
	scene.add(ground, 0, btVector3(0, 0, 0));
	btCapsuleShape capsule(btScalar(0.3), btScalar(1.2));
	btPairCachingGhostObject ghost;
	btGhostPairCallback pairs;
	scene.broadphase.getOverlappingPairCache()->setInternalGhostPairCallback(&pairs);
	ghost.setCollisionShape(&capsule);
	ghost.setCollisionFlags(btCollisionObject::CF_CHARACTER_OBJECT);
	scene.world.addCollisionObject(&ghost, btBroadphaseProxy::CharacterFilter, btBroadphaseProxy::StaticFilter);
	btKinematicCharacterController character(&ghost, &capsule, btScalar(0.3), btVector3(0, 1, 0));
	ghost.setWorldTransform(btTransform(btQuaternion::getIdentity(), btVector3(-9, 2, 0)));
	scene.world.addAction(&character);
	std::vector<btVector3> path;
	for (int i = 0; i < 400; ++i)
	{
		character.setWalkDirection(i < 60 ? btVector3(0, 0, 0) : btVector3(btScalar(0.03), 0, btScalar(0.01)));
		if (i == 200)
			character.jump(btVector3(0, 5, 0));
		scene.world.stepSimulation(btScalar(1) / 60, 0);
		path.push_back(ghost.getWorldTransform().getOrigin());
	}
	scene.world.removeAction(&character);
	scene.world.removeCollisionObject(&ghost);
	return path;
}

void a_character_walks_and_jumps_as_on_a_mesh()
{
	if (on_valgrind())
		return;
	btTriangleMesh hills;
	build_terrain(hills);
	vxs_cook_options options;
	must(vxs_cook_options_init(&options, sizeof options));
	options.voxel_size = 0.1;
	btVoxelmapShape field(hills, &options);
	field.setMargin(0);  // Bullet's sweeps grow every triangle by the margin of its shape
	btBvhTriangleMeshShape mesh(&hills, true);
	const std::vector<btVector3> ours = walk(&field), stock = walk(&mesh);
	double apart = 0;
	for (size_t i = 0; i < ours.size(); ++i)
		apart = std::max(apart, double((ours[i] - stock[i]).length()));
	std::printf("character: %.1f mm from where it walks on a mesh, at most\n", 1e3 * apart);
	CHECK(apart < 0.04);
	CHECK(ours.back().x() > -2);
}

/// Returns the final position of a small sphere at 100 m/s, with Bullet's own continuous collision detection, above a
/// plate 60 mm thick.
btScalar shoot_at(btCollisionShape* plate)
{
	btSphereShape bullet(btScalar(0.02));
	Scene scene;
	scene.add(plate, 0, btVector3(0, 0, 0));
	btRigidBody* body = scene.add(&bullet, btScalar(0.1), btVector3(btScalar(0.13), 1, btScalar(0.21)));
	body->setCcdMotionThreshold(btScalar(0.02));
	body->setCcdSweptSphereRadius(btScalar(0.015));
	body->setLinearVelocity(btVector3(0, -100, 0));
	scene.step(60);
	CHECK(body->getCcdMotionThreshold() == btScalar(0.02) && body->getCcdSweptSphereRadius() == btScalar(0.015));
	return body->getWorldTransform().getOrigin().y();
}

void fast_stock_bodies_stop_at_our_plates()
{
	btTriangleMesh plate_mesh;
	add_box(plate_mesh, btVector3(1, btScalar(0.03), 1));
	vxs_cook_options options;
	must(vxs_cook_options_init(&options, sizeof options));
	options.sample_count = 2000;
	btVoxShellShape plate(plate_mesh, &options);
	btBvhTriangleMeshShape stock(&plate_mesh, true);
	CHECK(shoot_at(&stock) > 0);
	CHECK_NEAR(shoot_at(&plate), 0.05, 0.002);
}

/// Bullet lets a body fly to the largest representable coordinates. The program must not crash then.
void bodies_beyond_the_largest_coordinate_touch_nothing()
{
	btTriangleMesh plate_mesh;
	add_box(plate_mesh, btVector3(1, btScalar(0.1), 1));
	btVoxShellShape plate(plate_mesh);
	btSphereShape ball(btScalar(0.5));
	for (const btScalar far : {btScalar(1e17), btScalar(1e19), btScalar(1e20), btScalar(1e30)})
	{
		struct Counter : btCollisionWorld::ContactResultCallback
		{
			int count = 0;
			btScalar addSingleResult(btManifoldPoint&, const btCollisionObjectWrapper*, int, int, const btCollisionObjectWrapper*, int, int) override
			{
				++count;
				return 0;
			}
		} near, away;
		Scene scene;
		btCollisionObject here, there, at_it;
		here.setCollisionShape(&plate), there.setCollisionShape(&ball), at_it.setCollisionShape(&ball);
		there.setWorldTransform(btTransform(btQuaternion::getIdentity(), btVector3(0, far, 0)));
		at_it.setWorldTransform(btTransform(btQuaternion::getIdentity(), btVector3(0, btScalar(0.5), 0)));
		scene.world.contactPairTest(&here, &there, away);
		scene.world.contactPairTest(&here, &at_it, near);
		CHECK(away.count == 0 && near.count > 0);
	}
}

struct CountingDrawer : btIDebugDraw
{
	int mode = DBG_DrawWireframe, lines = 0, points = 0;
	btVector3 low = btVector3(1e9f, 1e9f, 1e9f), high = -low;
	void drawLine(const btVector3& from, const btVector3& to, const btVector3&) override
	{
		++lines;
		for (const btVector3& end : {from, to})
			low.setMin(end), high.setMax(end);
	}
	void drawContactPoint(const btVector3&, const btVector3&, btScalar, int, const btVector3&) override { ++points; }
	void reportErrorWarning(const char*) override {}
	void draw3dText(const btVector3&, const char*) override {}
	void setDebugMode(int m) override { mode = m; }
	int getDebugMode() const override { return mode; }
};

void debug_drawing_draws_the_mesh(const Ring& ring)
{
	const btTransform pose(btQuaternion(btVector3(1, 0, 1).normalized(), 1), btVector3(1, 2, 3));
	CountingDrawer expected;
	Scene stock;
	stock.world.setDebugDrawer(&expected);
	stock.add(ring.stock.get(), 0, pose);
	stock.world.debugDrawWorld();
	CHECK(expected.lines > 1000);
	for (btVoxShellBaseShape* shape : ring.ours())
	{
		CountingDrawer drawn;
		Scene ours;
		ours.world.setDebugDrawer(&drawn);
		ours.add(shape, 0, pose);
		ours.world.debugDrawWorld();
		CHECK(drawn.lines == expected.lines);
		CHECK_NEAR((drawn.low - expected.low).length(), 0, 1e-5);
		CHECK_NEAR((drawn.high - expected.high).length(), 0, 1e-5);
	}
	// Contact points are drawn like those of any pair.
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	CountingDrawer contacts;
	contacts.mode = btIDebugDraw::DBG_DrawContactPoints;
	Scene scene;
	scene.world.setDebugDrawer(&contacts);
	scene.add(&plane, 0, btVector3(0, 0, 0));
	scene.add(ring.both.get(), 1, btVector3(0, 1, 0));
	scene.step(200);
	scene.world.debugDrawWorld();
	CHECK(contacts.points == scene.contacts());
	CHECK(contacts.points > 0);
}
}  // namespace

int main()
{
	const Ring ring;
	rays_mean_by_their_flags_what_they_mean_for_a_mesh(ring);
	rays_that_fall_short_meet_nothing(ring);
	ghost_objects_see_our_shapes(ring);
	a_character_walks_and_jumps_as_on_a_mesh();
	fast_stock_bodies_stop_at_our_plates();
	bodies_beyond_the_largest_coordinate_touch_nothing();
	debug_drawing_draws_the_mesh(ring);
	return finish();
}
