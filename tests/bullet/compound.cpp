// Voxshell shapes as children of a compound, several in one world, and both orders of bodies.
#include "check.h"
#include "scene.h"

namespace
{
/// A compound of two blocks, off its origin and rotated, rests like the single block of the same shape.
void children_of_a_compound_use_their_own_pose(bool compound_first)
{
	const Handle half = primitive(VXS_PRIMITIVE_BOX, {0.25, 0.2, 0.25}, {}, 1000, 32);
	btVoxShellShape block(half.get());
	btCompoundShape compound;
	compound.addChildShape(btTransform(btQuaternion::getIdentity(), btVector3(btScalar(-0.25), 0, 0)), &block);
	compound.addChildShape(btTransform(btQuaternion(btVector3(0, 1, 0), SIMD_HALF_PI), btVector3(btScalar(0.25), 0, 0)), &block);
	btBoxShape ground(btVector3(2, 1, 2));
	Scene scene;
	if (!compound_first)
		scene.add(&ground, 0, btVector3(0, -1, 0));
	btRigidBody* body = scene.add(&compound, 1, btVector3(0, btScalar(0.25), 0));
	if (compound_first)
		scene.add(&ground, 0, btVector3(0, -1, 0));
	scene.step(on_valgrind() ? 30 : 400);
	if (on_valgrind())
		return;
	CHECK_NEAR(body->getWorldTransform().getOrigin().y(), 0.2, 5e-4);
	CHECK_NEAR(body->getWorldTransform().getOrigin().x(), 0, 0.01);
	CHECK(body->getWorldTransform().getBasis()[1][1] > 0.9999);
	CHECK(kinetic_energy(*body) < 1e-6);
	CHECK(scene.contacts() >= 8);
	for (int m = 0; m < scene.dispatcher.getNumManifolds(); ++m)
	{
		const btPersistentManifold* manifold = scene.dispatcher.getManifoldByIndexInternal(m);
		for (int i = 0; i < manifold->getNumContacts(); ++i)
		{
			const btManifoldPoint& p = manifold->getContactPoint(i);
			// The index of the child is reported as by Bullet.
			const int index = manifold->getBody0() == body ? p.m_index0 : p.m_index1;
			CHECK(index == 0 || index == 1);
			CHECK(p.getLifeTime() > 50);
			const btVector3 on_body = manifold->getBody0() == body ? p.m_localPointA : p.m_localPointB;
			CHECK_NEAR(on_body.y(), -0.2, 2e-3);
			CHECK((index == 0) == (on_body.x() < 0) || btFabs(on_body.x()) < btScalar(1e-3));  // they meet in x = 0
		}
	}
}

/// A compound of Bullet shapes on a Voxshell shape.
void a_stock_compound_on_one_of_ours()
{
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {1, 0.25, 1}, {}, 8000, 64);
	btVoxShellShape ground(made.get());
	btBoxShape foot(btVector3(btScalar(0.1), btScalar(0.1), btScalar(0.1)));
	btCompoundShape table;
	for (int i = 0; i < 4; ++i)
		table.addChildShape(btTransform(btQuaternion::getIdentity(), btVector3(btScalar(i & 1 ? 0.4 : -0.4), 0, btScalar(i & 2 ? 0.4 : -0.4))), &foot);
	Scene scene;
	scene.add(&ground, 0, btVector3(0, btScalar(-0.25), 0));
	btRigidBody* body = scene.add(&table, 1, btVector3(0, btScalar(0.15), 0));
	scene.step(on_valgrind() ? 20 : 300);
	if (on_valgrind())
		return;
	CHECK_NEAR(body->getWorldTransform().getOrigin().y(), 0.1, 1e-3);
	CHECK(kinetic_energy(*body) < 1e-6);
}

/// A block slides and turns without friction past the edges of a larger one. As a child off its body's origin it moves
/// as on its own.
void a_child_slides_as_a_body_of_its_own_does()
{
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.2, 0.05, 0.2}, {}, 8000, 48);
	const Handle larger = primitive(VXS_PRIMITIVE_BOX, {0.4, 0.05, 0.4}, {}, 16000, 96);
	btVoxShellShape block(made.get()), floor(larger.get());
	btCompoundShape compound;
	compound.addChildShape(btTransform(btQuaternion(btVector3(0, 1, 0), SIMD_HALF_PI), btVector3(0, 0, 0)), &block);
	double speed[2], spin[2];
	for (const bool is_child : {false, true})
	{
		Scene scene;
		scene.add(&floor, 0, btVector3(0, btScalar(-0.05), 0));
		btRigidBody* body = scene.add(is_child ? static_cast<btCollisionShape*>(&compound) : &block, 1, btVector3(0, btScalar(0.05), btScalar(0.01)));
		body->setFriction(0);
		body->setLinearVelocity(btVector3(btScalar(0.1), 0, 0));
		body->setAngularVelocity(btVector3(0, btScalar(0.5), 0));
		scene.step(on_valgrind() ? 3 : 200);
		speed[is_child] = double(body->getLinearVelocity().x());
		spin[is_child] = double(body->getAngularVelocity().y());
		CHECK_NEAR(body->getWorldTransform().getOrigin().y(), 0.05, 1e-3);
	}
	std::printf("block that slides: %.4f m/s by itself, %.4f as a child; turns at %.3f and %.3f rad/s\n", speed[0], speed[1], spin[0], spin[1]);
	for (int k = 0; k < 2 && !on_valgrind(); ++k)
	{
		// With the contact planes of the start of the step, only a tenth of this speed would remain.
		CHECK_NEAR(speed[k], 0.1, 0.001);
		CHECK_NEAR(spin[k], 0.5, 0.005);
	}
}

/// A block that falls at 8 m/s, 40 mm in a step, gets its contacts before it touches, also as a child, as a child of a child, and on
/// compounds.
void a_fast_child_is_met_before_it_touches()
{
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.2, 0.05, 0.2}, {}, 4000, 48);
	const Handle larger = primitive(VXS_PRIMITIVE_BOX, {1, 0.2, 1}, {}, 8000, 48);
	btVoxShellShape block(made.get()), floor(larger.get());
	btBoxShape box(btVector3(1, btScalar(0.2), 1));
	btTriangleMesh triangles;
	add_box(triangles, btVector3(1, btScalar(0.2), 1));
	btBvhTriangleMeshShape mesh(&triangles, true);
	btCompoundShape child, grandchild, listed(false), compound_floor;
	child.addChildShape(btTransform(btQuaternion(btVector3(0, 1, 0), SIMD_HALF_PI), btVector3(0, 0, 0)), &block);
	grandchild.addChildShape(btTransform::getIdentity(), &child);
	listed.addChildShape(btTransform::getIdentity(), &block);
	compound_floor.addChildShape(btTransform::getIdentity(), &box);
	btCollisionShape* const fallers[] = {&block, &child, &grandchild, &listed};
	btCollisionShape* const floors[] = {&floor, &box, &mesh, &compound_floor};
	for (btCollisionShape* ground : floors)
		for (btCollisionShape* faller : fallers)
			for (int phase = 0; phase < (on_valgrind() ? 1 : 3); ++phase)
			{
				Scene scene;
				scene.add(ground, 0, btVector3(0, btScalar(-0.2), 0));
				// At different heights within a step above the ground.
				btRigidBody* body = scene.add(faller, 1, btVector3(0, btScalar(0.05 + 0.1 + 0.013 * phase), 0));
				body->setLinearVelocity(btVector3(0, -8, 0));
				double lowest = 1;
				for (int i = 0; i < 20; ++i)
				{
					scene.step();
					lowest = std::min(lowest, double(body->getWorldTransform().getOrigin().y()) - 0.05);
				}
				CHECK(lowest > -5e-4);
				CHECK(lowest < 0.01);
			}
}

/// contactTest uses the compound's own algorithm, which passes a result object that only reports.
void contact_tests_see_children()
{
	const Handle half = primitive(VXS_PRIMITIVE_BOX, {0.25, 0.25, 0.25}, {}, 1000, 32);
	btVoxShellShape block(half.get());
	btCompoundShape compound;
	compound.addChildShape(btTransform(btQuaternion::getIdentity(), btVector3(1, 0, 0)), &block);
	compound.addChildShape(btTransform(btQuaternion::getIdentity(), btVector3(-1, 0, 0)), &block);
	btBoxShape box(btVector3(btScalar(0.25), btScalar(0.25), btScalar(0.25)));
	btCollisionObject a, b;
	a.setCollisionShape(&compound);
	b.setCollisionShape(&box);
	b.getWorldTransform().setOrigin(btVector3(1, btScalar(0.499), 0));
	struct Count : btCollisionWorld::ContactResultCallback
	{
		int count = 0;
		double deepest = 1;
		btScalar addSingleResult(btManifoldPoint& p, const btCollisionObjectWrapper*, int, int, const btCollisionObjectWrapper*, int, int) override
		{
			++count;
			deepest = std::min(deepest, double(p.getDistance()));
			return 0;
		}
	} found;
	Scene scene;
	scene.world.contactPairTest(&a, &b, found);
	CHECK(found.count >= 4);
	CHECK_NEAR(found.deepest, -0.001, 2e-4);
	CHECK(scene.dispatcher.getNumManifolds() == 0);
}

/// A stack of three Voxshell bodies on a plane: shell and field of each against the next.
void a_stack_stands()
{
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.25, 0.25, 0.25}, {}, 1500, 48);
	btVoxShellShape block(made.get());
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	Scene scene;
	scene.add(&plane, 0, btVector3(0, 0, 0));
	btRigidBody* top = nullptr;
	for (int i = 0; i < 3; ++i)
		top = scene.add(&block, 1, btVector3(0, btScalar(0.26 + 0.51 * i), 0));
	double deepest = 1;
	const int steps = on_valgrind() ? 20 : 800;
	for (int i = 0; i < steps; ++i)
	{
		scene.step();
		deepest = std::min(deepest, scene.deepest());
	}
	if (on_valgrind())
		return;
	std::printf("stack: top at %.5f m, deepest ever %.3f mm, energy %.2e J\n", double(top->getWorldTransform().getOrigin().y()), -1e3 * deepest, kinetic_energy(*top));
	CHECK_NEAR(top->getWorldTransform().getOrigin().y(), 1.25, 2e-3);
	// Three bodies in a row that land at once are more than the solver's ten iterations resolve.
	CHECK(deepest > -1.5e-3);
	CHECK(kinetic_energy(*top) < 1e-6);
}
}  // namespace

int main()
{
	children_of_a_compound_use_their_own_pose(false);
	children_of_a_compound_use_their_own_pose(true);
	a_stock_compound_on_one_of_ours();
	a_fast_child_is_met_before_it_touches();
	contact_tests_see_children();
	a_child_slides_as_a_body_of_its_own_does();
	a_stack_stands();
	return finish();
}
