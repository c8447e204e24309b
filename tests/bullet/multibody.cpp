// Links and bases of btMultiBody with Voxshell shapes, as in Gazebo's bullet-featherstone and in PyBullet: a stack, an arm that
// holds a mug by its handle, fast links, and the contacts of all pairs against those of rigid bodies.
#include <algorithm>

#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyJointMotor.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>

#include "check.h"
#include "scene.h"
#include "side.h"

namespace
{
struct MultiScene
{
	btDefaultCollisionConfiguration configuration;
	btCollisionDispatcher dispatcher{&configuration};
	btDbvtBroadphase broadphase;
	btMultiBodyConstraintSolver solver;
	btMultiBodyDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
	std::vector<std::unique_ptr<btMultiBodyConstraint>> motors;
	std::vector<std::unique_ptr<btMultiBody>> bodies;
	std::vector<std::unique_ptr<btMultiBodyLinkCollider>> colliders;

	MultiScene()
	{
		btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher);
		world.setGravity(btVector3(0, -10, 0));
		// Bullet's solver of multibodies does not warm-start: with 100 iterations a stack of five creeps by 4.6 mm in 60 s.
		world.getSolverInfo().m_numIterations = 500;
	}
	~MultiScene()
	{
		for (auto& motor : motors)
			world.removeMultiBodyConstraint(motor.get());
		for (auto& collider : colliders)
			world.removeCollisionObject(collider.get());
		for (auto& body : bodies)
			world.removeMultiBody(body.get());
	}

	btMultiBody* add_body(int links, btScalar mass, const btVector3& inertia, bool fixed)
	{
		bodies.emplace_back(new btMultiBody(links, mass, inertia, fixed, false));
		btMultiBody* const body = bodies.back().get();
		body->setHasSelfCollision(false);
		body->setLinearDamping(0);
		body->setAngularDamping(0);
		return body;
	}

	/// Gives a link, or the base (-1), a shape. The body must have its pose.
	btMultiBodyLinkCollider* add_collider(btMultiBody* body, int link, btCollisionShape* shape, const btTransform& at, btScalar friction)
	{
		colliders.emplace_back(new btMultiBodyLinkCollider(body, link));
		btMultiBodyLinkCollider* const collider = colliders.back().get();
		collider->setCollisionShape(shape);
		collider->setWorldTransform(at);
		collider->setFriction(friction);
		collider->setActivationState(DISABLE_DEACTIVATION);
		if (link < 0)
			body->setBaseCollider(collider);
		else
			body->getLink(link).m_collider = collider;
		const bool fixed = link < 0 && body->hasFixedBase();
		if (fixed)
			collider->setCollisionFlags(collider->getCollisionFlags() | btCollisionObject::CF_STATIC_OBJECT);
		world.addCollisionObject(collider, fixed ? int(btBroadphaseProxy::StaticFilter) : int(btBroadphaseProxy::DefaultFilter),
								 fixed ? int(btBroadphaseProxy::AllFilter ^ btBroadphaseProxy::StaticFilter) : int(btBroadphaseProxy::AllFilter));
		return collider;
	}

	/// Adds a body without links. Mass 0 means fixed.
	btMultiBody* add(btCollisionShape* shape, btScalar mass, const btTransform& at, btScalar friction = btScalar(0.7))
	{
		btVector3 inertia(1, 1, 1);
		if (mass > 0)
			shape->calculateLocalInertia(mass, inertia);
		btMultiBody* const body = add_body(0, mass > 0 ? mass : btScalar(1), inertia, mass == 0);
		body->finalizeMultiDof();
		body->setBaseWorldTransform(at);
		world.addMultiBody(body);
		add_collider(body, -1, shape, at, friction);
		return body;
	}

	double deepest() const
	{
		double least = 1e30;
		for (int m = 0; m < dispatcher.getNumManifolds(); ++m)
		{
			const btPersistentManifold* manifold = dispatcher.getManifoldByIndexInternal(m);
			for (int i = 0; i < manifold->getNumContacts(); ++i)
				least = std::min(least, double(manifold->getContactPoint(i).getDistance()));
		}
		return least;
	}
};

btTransform at(btScalar x, btScalar y, btScalar z) { return btTransform(btQuaternion::getIdentity(), btVector3(x, y, z)); }

void five_concave_bodies_stay_on_each_other()
{
	const Handle block = primitive(VXS_PRIMITIVE_HOLE, {0.06, 0.025, 0.06, 0.03}, {24}, 3000, 80);
	btVoxShellShape shape(block.get());
	btStaticPlaneShape ground(btVector3(0, 1, 0), 0);
	MultiScene scene;
	scene.add(&ground, 0, btTransform::getIdentity());
	std::vector<btMultiBody*> stack;
	for (int i = 0; i < 5; ++i)
		stack.push_back(scene.add(&shape, 1, at(0, btScalar(0.025 + 0.05 * i), 0)));
	const int second = 200, seconds = on_valgrind() ? 1 : 60;
	std::vector<btVector3> start(5);
	double drift = 0, turned = 0, deepest = 0;
	for (int i = 0; i < second * seconds; ++i)
	{
		scene.world.stepSimulation(kStep, 0);
		deepest = std::min(deepest, scene.deepest());
		for (size_t k = 0; k < stack.size(); ++k)
		{
			const btTransform pose = stack[k]->getBaseWorldTransform();
			drift = std::max(drift, double((pose.getOrigin() - btVector3(0, btScalar(0.025 + 0.05 * double(k)), 0)).length()));
			turned = std::max(turned, double(pose.getRotation().getAngleShortestPath()));
		}
	}
	std::printf("stack of five multibodies in %d s: drift %.4f mm, turned %.5f rad, deepest %.4f mm\n", seconds, 1e3 * drift, turned, -1e3 * deepest);
	CHECK(drift < 1e-4);
	CHECK(turned < 1e-3);
	CHECK(deepest > -1e-4);
}

/// Cooks a mug: a bowl with a ring as its handle, beside it in the plane z = 0.
Handle mug()
{
	std::vector<vxs_vec3> vertices;
	std::vector<uint32_t> indices;
	const auto add = [&](const Handle& part, bool upright, double x) {
		size_t vertex_count = 0, index_count = 0;
		vxs_shape_get_triangles(part.get(), nullptr, 0, &vertex_count, nullptr, 0, &index_count);
		const uint32_t first = uint32_t(vertices.size()), at = uint32_t(indices.size());
		vertices.resize(first + vertex_count);
		indices.resize(at + index_count);
		must(vxs_shape_get_triangles(part.get(), vertices.data() + first, vertex_count, &vertex_count, indices.data() + at, index_count, &index_count));
		for (size_t i = first; i < vertices.size(); ++i)
			vertices[i] = upright ? vxs_vec3{vertices[i].x + x, -vertices[i].z, vertices[i].y} : vxs_vec3{vertices[i].x + x, vertices[i].y + 0.02, vertices[i].z};
		for (size_t i = at; i < indices.size(); ++i)
			indices[i] += first;
	};
	// The handle's ring is 50 mm wide with a tube of 12 mm; its far side enters the wall of the cup.
	add(primitive(VXS_PRIMITIVE_TORUS, {0.025, 0.006}, {48, 16}, 100, 16), true, 0);
	add(primitive(VXS_PRIMITIVE_BOWL, {0.045, 0.006}, {48}, 100, 16), false, 0.066);
	vxs_cook_options options;
	must(vxs_cook_options_init(&options, sizeof options));
	options.sample_count = 4000;
	options.resolution = 128;
	vxs_shape* shape = nullptr;
	must(vxs_shape_create_from_triangles(vertices.data(), vertices.size(), indices.data(), indices.size() / 3, &options, &shape));
	return Handle(shape);
}

const int kLinks = 7;
const btScalar kLength = btScalar(0.1);

/// An arm that hangs from a fixed base: seven revolute links and two fingers that close along z. One finger is held at the
/// handle's side, the other presses.
struct Arm
{
	btBoxShape bone{btVector3(btScalar(0.015), btScalar(0.04), btScalar(0.015))};
	btBoxShape finger{btVector3(btScalar(0.012), btScalar(0.02), btScalar(0.004))};
	btMultiBody* body;
	std::vector<btMultiBodyJointMotor*> joints;

	/// @param grip  force of the pressing finger, N
	Arm(MultiScene& scene, btScalar height, btScalar opening, btScalar grip)
	{
		body = scene.add_body(kLinks + 2, 1, btVector3(1, 1, 1), true);
		const btScalar half = kLength / 2;
		btVector3 inertia;
		bone.calculateLocalInertia(btScalar(0.5), inertia);
		for (int i = 0; i < kLinks; ++i)
			body->setupRevolute(i, btScalar(0.5), inertia, i - 1, btQuaternion::getIdentity(), i % 2 ? btVector3(1, 0, 0) : btVector3(0, 0, 1),
								btVector3(0, i == 0 ? 0 : -half, 0), btVector3(0, -half, 0), true);
		finger.calculateLocalInertia(btScalar(0.1), inertia);
		for (int side = 0; side < 2; ++side)
			body->setupPrismatic(kLinks + side, btScalar(0.1), inertia, kLinks - 1, btQuaternion::getIdentity(), btVector3(0, 0, side ? -1 : 1),
								 btVector3(0, -half, 0), btVector3(0, btScalar(-0.02), side ? opening : -opening), true);
		body->finalizeMultiDof();
		body->setBaseWorldTransform(at(0, height, 0));
		scene.world.addMultiBody(body);
		btAlignedObjectArray<btQuaternion> turns;
		btAlignedObjectArray<btVector3> places;
		body->forwardKinematics(turns, places);
		for (int i = 0; i < kLinks + 2; ++i)
			scene.add_collider(body, i, i < kLinks ? &bone : &finger, body->getLink(i).m_cachedWorldTransform, 1);
		for (int i = 0; i < kLinks + 2; ++i)
		{
			const btScalar force = i < kLinks ? 50 : (i == kLinks ? 200 : grip);
			btMultiBodyJointMotor* const motor = new btMultiBodyJointMotor(body, i, 0, force * kStep);
			scene.motors.emplace_back(motor);
			scene.world.addMultiBodyConstraint(motor);
			if (i < kLinks)
			{
				motor->setPositionTarget(0, btScalar(0.1));
				joints.push_back(motor);
			}
			else if (i == kLinks)
				motor->setPositionTarget(opening - btScalar(0.01), btScalar(0.2));  // the handle's radius and half a finger
			else
				motor->setVelocityTarget(btScalar(0.2), 1);  // closes until the force is reached
		}
	}
	btTransform gripper() const { return body->getLink(kLinks - 1).m_cachedWorldTransform; }
};

/// Moves the arm with the mug and returns how far the mug has slipped out of the gripper, m.
double carry(const Handle& mug, btScalar grip, double& turned, double& deepest)
{
	vxs_mass_properties mass;
	must(vxs_shape_get_mass_properties(mug.get(), &mass));
	btVoxShellShape shape(mug.get());
	MultiScene scene;
	const btScalar height = btScalar(1);
	Arm arm(scene, height, btScalar(0.011), grip);
	// The top of the ring is between the fingers: their middles are 20 mm below the last link's end.
	const btScalar ring = btScalar(0.025), top = height - kLinks * kLength - btScalar(0.02);
	btVector3 inertia;
	shape.calculateLocalInertia(btScalar(0.2), inertia);
	btMultiBody* const held = scene.add(&shape, btScalar(0.2), at(0, top - ring, 0), 1);
	// The fingers close before the mug has fallen.
	scene.world.setGravity(btVector3(0, 0, 0));
	for (int i = 0; i < 100; ++i)
		scene.world.stepSimulation(kStep, 0);
	scene.world.setGravity(btVector3(0, -10, 0));
	const btTransform before = arm.gripper().inverse() * held->getBaseWorldTransform();
	deepest = 0;
	const int steps = on_valgrind() ? 100 : 1200;  // 6 s
	for (int i = 0; i < steps; ++i)
	{
		// Each joint swings by 0.15 rad, at its own pace.
		for (int k = 0; k < kLinks; ++k)
			arm.joints[size_t(k)]->setPositionTarget(btScalar(0.15 * std::sin(0.005 * i * (1 + 0.3 * k))), btScalar(0.1));
		scene.world.stepSimulation(kStep, 0);
		deepest = std::min(deepest, scene.deepest());
	}
	const btTransform after = arm.gripper().inverse() * held->getBaseWorldTransform();
	turned = double((before.inverse() * after).getRotation().getAngleShortestPath());
	return double((after.getOrigin() - before.getOrigin()).length());
}

void an_arm_holds_a_mug_by_its_handle()
{
	const Handle shape = mug();
	double turned, deepest;
	const double slipped = carry(shape, 40, turned, deepest);
	std::printf("mug in the gripper after 6 s: slipped %.3f mm, turned %.4f rad, deepest %.3f mm\n", 1e3 * slipped, turned, -1e3 * deepest);
	CHECK(slipped < (on_valgrind() ? 3e-3 : 2e-3));  // it ends in the middle of a swing there
	CHECK(turned < 0.05);
	CHECK(deepest > -5e-4);
	if (on_valgrind())
		return;
	// A hand that does not close loses it.
	const double lost = carry(shape, 0, turned, deepest);
	std::printf("mug without a grip: %.2f m away\n", lost);
	CHECK(lost > 1);
}

struct Pair
{
	const char* name;
	std::shared_ptr<btCollisionShape> shape;
	btTransform pose;
};

/// Deepest contact of a pair and the number of its contacts, after one detection.
struct Found
{
	double distance;
	int count;
};

Found found_by_rigid_bodies(btCollisionShape* mover, const btTransform& pose, const Pair& other)
{
	Scene scene;
	scene.add(other.shape.get(), 0, other.pose);
	scene.add(mover, 1, pose);
	scene.world.performDiscreteCollisionDetection();
	return {scene.deepest(), scene.contacts()};
}

Found found_by_multibodies(btCollisionShape* mover, const btTransform& pose, const Pair& other)
{
	MultiScene scene;
	scene.add(other.shape.get(), 0, other.pose);
	scene.add(mover, 1, pose);
	scene.world.performDiscreteCollisionDetection();
	int count = 0;
	for (int m = 0; m < scene.dispatcher.getNumManifolds(); ++m)
		count += scene.dispatcher.getManifoldByIndexInternal(m)->getNumContacts();
	return {scene.deepest(), count};
}

void pairs_have_the_contacts_of_rigid_bodies()
{
	const Handle torus = primitive(VXS_PRIMITIVE_TORUS, {0.3, 0.1}), knot = primitive(VXS_PRIMITIVE_TORUS_KNOT, {0.3, 0.08});
	btVoxShellShape mover(torus.get());
	const auto below = [](double top) { return at(0, btScalar(-0.095 - top), 0); };
	std::vector<Pair> pairs;
	pairs.push_back({"plane", std::make_shared<btStaticPlaneShape>(btVector3(0, 1, 0), btScalar(0)), below(0)});
	pairs.push_back({"box", std::make_shared<btBoxShape>(btVector3(1, btScalar(0.2), 1)), below(0.2)});
	pairs.push_back({"sphere", std::make_shared<btSphereShape>(btScalar(0.3)), at(btScalar(0.3), btScalar(-0.36), 0)});
	pairs.push_back({"capsule", std::make_shared<btCapsuleShapeX>(btScalar(0.1), btScalar(1)), below(0.1)});
	pairs.push_back({"cylinder", std::make_shared<btCylinderShape>(btVector3(1, btScalar(0.1), 1)), below(0.1)});
	pairs.push_back({"cone", std::make_shared<btConeShapeX>(btScalar(0.2), btScalar(0.8)), at(0, btScalar(-0.19), 0)});
	auto hull = std::make_shared<btConvexHullShape>();
	for (int i = 0; i < 8; ++i)
		hull->addPoint(btVector3(i & 1 ? 1 : -1, btScalar(i & 2 ? 0.2 : -0.2), i & 4 ? 1 : -1));
	hull->setMargin(btScalar(0.001));
	pairs.push_back({"hull", hull, below(0.2)});
	pairs.push_back({"knot", std::make_shared<btVoxShellShape>(knot.get()), at(btScalar(0.05), btScalar(-0.22), btScalar(0.02))});
	auto compound = std::make_shared<btCompoundShape>();
	compound->addChildShape(at(btScalar(0.3), 0, 0), pairs[2].shape.get());
	compound->addChildShape(at(btScalar(-0.3), 0, 0), pairs[2].shape.get());
	pairs.push_back({"compound", compound, at(0, btScalar(-0.39), 0)});
	int touching = 0;
	for (const Pair& pair : pairs)
		for (int turn = 0; turn < 4; ++turn)
		{
			const btTransform pose(btQuaternion(btVector3(0, 1, btScalar(0.02 * turn)).normalized(), btScalar(0.7 * turn)), btVector3(0, 0, 0));
			const Found rigid = found_by_rigid_bodies(&mover, pose, pair), multi = found_by_multibodies(&mover, pose, pair);
			if (multi.count != rigid.count || multi.distance != rigid.distance)
				std::printf("%s, turn %d: %d contacts, %.9g m; rigid bodies %d, %.9g m\n", pair.name, turn, multi.count, multi.distance, rigid.count, rigid.distance);
			CHECK(multi.count == rigid.count);
			CHECK(multi.distance == rigid.distance);
			if (!(rigid.count > 0 && rigid.distance < 0))
				std::printf("%s, turn %d: apart, %d contacts\n", pair.name, turn, rigid.count);
			touching += rigid.count > 0 && rigid.distance < 0;
		}
	std::printf("%d of %zu pairs touch\n", touching, 4 * pairs.size());
	CHECK(touching == int(4 * pairs.size()));
}
/// A tree of links with joints of each kind, on a base that moves: the velocities that the plugin reads against differences
/// of the poses.
void velocities_of_links_are_those_of_their_poses()
{
	btBoxShape box(btVector3(btScalar(0.05), btScalar(0.05), btScalar(0.05)));
	const btVector3 inertia(btScalar(0.1), btScalar(0.2), btScalar(0.3)), offset(btScalar(0.1), btScalar(0.2), 0), arm(0, btScalar(-0.3), btScalar(0.1));
	const btQuaternion turn(btVector3(1, 2, 3).normalized(), btScalar(0.7));
	MultiScene scene;
	const int links = 5;
	btMultiBody* const body = scene.add_body(links, 2, inertia, false);
	body->setupRevolute(0, 1, inertia, -1, turn, btVector3(3, 1, 2).normalized(), offset, arm);
	body->setupSpherical(1, 1, inertia, 0, turn, offset, arm);
	body->setupPlanar(2, 1, inertia, 0, turn, btVector3(0, 1, 0), offset);
	body->setupPrismatic(3, 1, inertia, 1, turn, btVector3(1, 0, 1).normalized(), offset, arm, false);
	body->setupFixed(4, 1, inertia, 3, turn, offset, arm);
	body->finalizeMultiDof();
	body->setBaseWorldTransform(btTransform(turn, btVector3(1, 2, 3)));
	body->setBaseVel(btVector3(btScalar(0.5), -1, btScalar(0.3)));
	body->setBaseOmega(btVector3(1, btScalar(0.4), btScalar(-0.6)));
	const btScalar angle = btScalar(0.6), planar[3] = {btScalar(0.3), btScalar(0.1), btScalar(-0.2)}, along = btScalar(0.2);
	const btScalar ball[4] = {turn.x(), turn.y(), turn.z(), turn.w()};
	body->setJointPosMultiDof(0, &angle);
	body->setJointPosMultiDof(1, ball);
	body->setJointPosMultiDof(2, planar);
	body->setJointPosMultiDof(3, &along);
	const btScalar speeds[3] = {btScalar(1.5), btScalar(-0.7), btScalar(0.9)};
	for (int i = 0; i < links - 1; ++i)
		body->setJointVelMultiDof(i, speeds);
	btAlignedObjectArray<btQuaternion> turns;
	btAlignedObjectArray<btVector3> places;
	body->forwardKinematics(turns, places);
	for (int i = -1; i < links; ++i)
		scene.add_collider(body, i, &box, i < 0 ? body->getBaseWorldTransform() : body->getLink(i).m_cachedWorldTransform, 1);
	std::vector<voxshell_bullet::Motion> motions;
	for (const auto& collider : scene.colliders)
	{
		const btCollisionObjectWrapper wrap(nullptr, &box, collider.get(), collider->getWorldTransform(), -1, -1);
		motions.push_back(voxshell_bullet::side_of(&wrap, 0.01).motion);
	}
	const btScalar dt = btScalar(1e-3);
	std::vector<btTransform> poses[2];
	for (int side = 0; side < 2; ++side)
	{
		body->stepPositionsMultiDof(side ? -2 * dt : dt);
		body->forwardKinematics(turns, places);
		for (int i = -1; i < links; ++i)
			poses[side].push_back(i < 0 ? body->getBaseWorldTransform() : body->getLink(i).m_cachedWorldTransform);
	}
	double worst = 0;
	for (size_t i = 0; i < motions.size(); ++i)
	{
		const btTransform &after = poses[0][i], &before = poses[1][i];
		const btVector3 linear = (after.getOrigin() - before.getOrigin()) / (2 * dt);
		btQuaternion turned = after.getRotation() * before.getRotation().inverse();
		if (turned.w() < 0)
			turned = -turned;
		const btVector3 angular = btVector3(turned.x(), turned.y(), turned.z()) / dt;  // of a small angle
		const btVector3 read = voxshell_bullet::to_bt(motions[i].linear), spin = voxshell_bullet::to_bt(motions[i].angular);
		worst = std::max(worst, double(std::max((linear - read).length(), (angular - spin).length())));
		CHECK(read.length() > btScalar(0.1) && spin.length() > btScalar(0.1));
		CHECK(motions[i].inverse_mass == (i ? 1 : 0.5));
	}
	std::printf("velocities of links: largest error %.2e m/s or rad/s\n", worst);
	CHECK(worst < rounding(2e-3) + 1e-5);
}

/// Bodies that move 40 mm in a step, as a base and as a link on a long arm, meet a plane and a block.
void fast_links_do_not_sink_in()
{
	const Handle block = primitive(VXS_PRIMITIVE_HOLE, {0.06, 0.025, 0.06, 0.03}, {24}, 3000, 80), floor = primitive(VXS_PRIMITIVE_BOX, {1, 0.05, 1}, {}, 20000, 64);
	btVoxShellShape shape(block.get()), slab(floor.get());
	btStaticPlaneShape ground(btVector3(0, 1, 0), btScalar(0.05));
	btVector3 inertia;
	shape.calculateLocalInertia(1, inertia);
	double worst = 0;
	for (int below = 0; below < 2; ++below)
		for (int kind = 0; kind < 2; ++kind)
			for (int phase = 0; phase < 8; ++phase)
			{
				MultiScene scene;
				scene.add(below ? static_cast<btCollisionShape*>(&slab) : &ground, 0, btTransform::getIdentity());
				const btScalar height = btScalar(0.5 + 0.005 * phase);
				if (kind == 0)
				{
					btMultiBody* const body = scene.add(&shape, 1, btTransform(btQuaternion(btVector3(1, 0, 0), btScalar(0.4 * phase)), btVector3(0, height, 0)));
					body->setBaseVel(btVector3(0, -8, 0));
				}
				else
				{
					// A pendulum of 1 m about z, whose link falls on the ground.
					btMultiBody* const body = scene.add_body(1, 1, btVector3(1, 1, 1), true);
					body->setupRevolute(0, 1, inertia, -1, btQuaternion::getIdentity(), btVector3(0, 0, 1), btVector3(0, 0, 0), btVector3(1, 0, 0), true);
					body->finalizeMultiDof();
					body->setBaseWorldTransform(at(-1, btScalar(0.08), 0));
					body->setJointPos(0, height);
					body->setJointVel(0, -8);
					scene.world.addMultiBody(body);
					btAlignedObjectArray<btQuaternion> turns;
					btAlignedObjectArray<btVector3> places;
					body->forwardKinematics(turns, places);
					scene.add_collider(body, 0, &shape, body->getLink(0).m_cachedWorldTransform, btScalar(0.5));
				}
				double deepest = 1;
				for (int i = 0; i < 40; ++i)
				{
					scene.world.stepSimulation(kStep, 0);
					scene.world.performDiscreteCollisionDetection();
					deepest = std::min(deepest, scene.deepest());
				}
				CHECK(deepest < 1e-3);  // they meet
				worst = std::min(worst, deepest);
			}
	std::printf("bases and links at 8 m/s: deepest %.3f mm\n", -1e3 * worst);
	CHECK(worst > -5e-4);
}
}  // namespace

int main()
{
	velocities_of_links_are_those_of_their_poses();
	fast_links_do_not_sink_in();
	pairs_have_the_contacts_of_rigid_bodies();
	five_concave_bodies_stay_on_each_other();
	an_arm_holds_a_mug_by_its_handle();
	return finish();
}
