// contactTest and contactPairTest of a Voxshell ball against each of Bullet's shapes agree with closed form, in both
// orders, and with Bullet's own answer for a btSphereShape if Bullet has one.
#include <BulletCollision/CollisionShapes/btMinkowskiSumShape.h>

#include "check.h"
#include "scene.h"

namespace
{
const double kRadius = 0.25;

/// Closest reported contact.
struct Closest : btCollisionWorld::ContactResultCallback
{
	double distance = 1e30;
	btVector3 normal, on_a, on_b;  // as reported: normal on B, towards A
	const btCollisionObject* object_a = nullptr;
	int count = 0;
	btScalar addSingleResult(btManifoldPoint& point, const btCollisionObjectWrapper* a, int, int, const btCollisionObjectWrapper*, int, int) override
	{
		++count;
		if (double(point.getDistance()) < distance)
		{
			distance = double(point.getDistance());
			normal = point.m_normalWorldOnB;
			on_a = point.getPositionWorldOnA();
			on_b = point.getPositionWorldOnB();
			object_a = a->getCollisionObject();
		}
		return 0;
	}
};

struct Case
{
	const char* name;
	std::shared_ptr<btCollisionShape> shape;
	btVector3 away;     // unit vector from `surface` to the ball's centre, both in the shape's frame
	btVector3 surface;  // closest point of the shape's surface
	double blunt = 0;   // additional distance of the nearest sample on strongly curved surfaces, m
};

std::vector<Case> cases()
{
	std::vector<Case> all;
	const auto add = [&](const char* name, btCollisionShape* shape, const btVector3& away, const btVector3& surface) {
		all.push_back({name, std::shared_ptr<btCollisionShape>(shape), away.normalized(), surface});
	};
	const btScalar s2 = btSqrt(btScalar(0.5));
	add("plane", new btStaticPlaneShape(btVector3(0, 0, 1), btScalar(0.2)), btVector3(0, 0, 1), btVector3(btScalar(0.3), 0, btScalar(0.2)));
	add("box face", new btBoxShape(btVector3(1, 2, 3)), btVector3(1, 0, 0), btVector3(1, btScalar(0.5), 1));
	add("box side", new btBoxShape(btVector3(1, 2, 3)), btVector3(0, 0, -1), btVector3(1, 2, -3) * btScalar(0.5) + btVector3(0, 0, btScalar(-1.5)));
	btBoxShape* thick = new btBoxShape(btVector3(1, 2, 3));
	thick->setMargin(btScalar(0.2));
	thick->setLocalScaling(btVector3(2, 1, 1));
	// Bullet lets the size of a box grow when its margin is set after the size (the implicit dimensions stay), so Bullet's
	// own size is used.
	add("box, margin and scaling", thick, btVector3(1, 0, 0), btVector3(thick->getHalfExtentsWithMargin().x(), 1, 1));
	add("sphere", new btSphereShape(btScalar(0.7)), btVector3(1, 2, 2), btVector3(1, 2, 2).normalized() * btScalar(0.7));
	btSphereShape* scaled = new btSphereShape(btScalar(0.7));
	scaled->setLocalScaling(btVector3(2, 2, 2));
	add("sphere, scaled", scaled, btVector3(0, 1, 0), btVector3(0, btScalar(1.4), 0));
	add("capsule side", new btCapsuleShape(btScalar(0.3), 1), btVector3(1, 0, 0), btVector3(btScalar(0.3), btScalar(0.2), 0));
	add("capsule cap", new btCapsuleShape(btScalar(0.3), 1), btVector3(1, 1, 0), btVector3(s2 * btScalar(0.3), btScalar(0.5) + s2 * btScalar(0.3), 0));
	add("capsuleX side", new btCapsuleShapeX(btScalar(0.3), 1), btVector3(0, 1, 0), btVector3(btScalar(0.2), btScalar(0.3), 0));
	add("capsuleX end", new btCapsuleShapeX(btScalar(0.3), 1), btVector3(1, 0, 0), btVector3(btScalar(0.8), 0, 0));
	add("capsuleZ side", new btCapsuleShapeZ(btScalar(0.3), 1), btVector3(0, 1, 0), btVector3(0, btScalar(0.3), btScalar(-0.2)));
	add("capsuleZ end", new btCapsuleShapeZ(btScalar(0.3), 1), btVector3(0, 0, -1), btVector3(0, 0, btScalar(-0.8)));
	add("cylinder side", new btCylinderShape(btVector3(btScalar(0.6), 1, btScalar(0.6))), btVector3(0, 0, 1), btVector3(0, btScalar(0.3), btScalar(0.6)));
	add("cylinder end", new btCylinderShape(btVector3(btScalar(0.6), 1, btScalar(0.6))), btVector3(0, 1, 0), btVector3(btScalar(0.2), 1, 0));
	add("cylinderX side", new btCylinderShapeX(btVector3(1, btScalar(0.6), btScalar(0.6))), btVector3(0, 0, 1), btVector3(btScalar(0.3), 0, btScalar(0.6)));
	add("cylinderX end", new btCylinderShapeX(btVector3(1, btScalar(0.6), btScalar(0.6))), btVector3(1, 0, 0), btVector3(1, btScalar(0.2), 0));
	add("cylinderZ side", new btCylinderShapeZ(btVector3(btScalar(0.6), btScalar(0.6), 1)), btVector3(1, 0, 0), btVector3(btScalar(0.6), 0, btScalar(0.4)));
	add("cylinderZ end", new btCylinderShapeZ(btVector3(btScalar(0.6), btScalar(0.6), 1)), btVector3(0, 0, -1), btVector3(0, btScalar(0.2), -1));
	// A cone of radius 1 and height 1: its side has a slope of 45 degrees. Its margin is added outside.
	const auto cone = [&](const char* name, btConeShape* shape, const btVector3& up, const btVector3& side) {
		const btScalar margin = btScalar(0.02);
		shape->setMargin(margin);
		const btVector3 out = (up + side).normalized();
		add(name, shape, out, side * btScalar(0.5) + out * margin);
		shape = nullptr;
	};
	cone("cone side", new btConeShape(1, 1), btVector3(0, 1, 0), btVector3(1, 0, 0));
	cone("coneX side", new btConeShapeX(1, 1), btVector3(1, 0, 0), btVector3(0, 1, 0));
	cone("coneZ side", new btConeShapeZ(1, 1), btVector3(0, 0, 1), btVector3(0, 1, 0));
	btConeShape* base = new btConeShape(1, 1);
	base->setMargin(btScalar(0.02));
	add("cone base", base, btVector3(0, -1, 0), btVector3(btScalar(0.1), btScalar(-0.52), 0));
	btConvexHullShape* hull = new btConvexHullShape;
	for (int i = 0; i < 8; ++i)
		hull->addPoint(btVector3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1));
	hull->setMargin(btScalar(0.05));
	hull->setLocalScaling(btVector3(1, 2, 1));
	add("hull face", hull, btVector3(0, 1, 0), btVector3(btScalar(0.1), btScalar(2.05), 0));
	btConvexHullShape* hull2 = new btConvexHullShape;
	for (int i = 0; i < 8; ++i)
		hull2->addPoint(btVector3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1));
	hull2->setMargin(btScalar(0.05));
	add("hull edge", hull2, btVector3(1, 1, 0), btVector3(1, 1, 0) + btVector3(1, 1, 0).normalized() * btScalar(0.05));
	all.back().blunt = 4e-4;
	static btTriangleMesh box_mesh;
	add_box(box_mesh, btVector3(1, 1, 1));
	btConvexTriangleMeshShape* convex = new btConvexTriangleMeshShape(&box_mesh);
	convex->setMargin(btScalar(0.01));
	add("convex triangle mesh", convex, btVector3(0, 0, 1), btVector3(0, 0, btScalar(1.01)));
	// Balls of radius 0.3 and 0.6, 1.5 apart: between them a cone whose side has the normal (0.3/1.5 along the axis, rest
	// across).
	const btVector3 centers[2] = {btVector3(0, btScalar(-0.5), 0), btVector3(0, 1, 0)};
	const btScalar radii[2] = {btScalar(0.6), btScalar(0.3)};
	const btVector3 slope(btSqrt(btScalar(1 - 0.04)), btScalar(0.2), 0);
	add("multi-sphere side", new btMultiSphereShape(centers, radii, 2), slope, (centers[0] + centers[1]) * btScalar(0.5) + slope * btScalar(0.45));
	add("multi-sphere end", new btMultiSphereShape(centers, radii, 2), btVector3(1, 3, 0), centers[1] + btVector3(1, 3, 0).normalized() * btScalar(0.3));
	btMultiSphereShape* larger = new btMultiSphereShape(centers, radii, 2);
	larger->setLocalScaling(btVector3(2, 2, 2));
	add("multi-sphere, scaled", larger, slope, (centers[0] + centers[1]) + slope * btScalar(0.9));
	static btBoxShape unit(btVector3(1, btScalar(0.5), 1));
	add("uniform scaling of a box", new btUniformScalingShape(&unit, 2), btVector3(0, 1, 0), btVector3(btScalar(0.3), 1, btScalar(0.2)));
	static btConeShape tip(1, 1);
	tip.setMargin(btScalar(0.02));
	const btVector3 out = btVector3(1, 1, 0).normalized();
	add("uniform scaling of a cone", new btUniformScalingShape(&tip, btScalar(0.5)), out, btVector3(btScalar(0.25), 0, 0) + out * btScalar(0.01));
	static btUniformScalingShape once(&unit, btScalar(0.5));
	add("scaling of a scaling", new btUniformScalingShape(&once, 4), btVector3(1, 0, 0), btVector3(2, btScalar(0.1), 0));
	btBU_Simplex1to4* simplex = new btBU_Simplex1to4(btVector3(-1, 0, -1), btVector3(1, 0, -1), btVector3(0, 0, 1), btVector3(0, 1, 0));
	simplex->setMargin(btScalar(0.01));
	add("simplex", simplex, btVector3(0, -1, 0), btVector3(0, btScalar(-0.01), btScalar(-0.2)));
	static btSphereShape small(btScalar(0.2));
	static btBoxShape block(btVector3(1, 1, 1));
	block.setMargin(0);
	btMinkowskiSumShape* sum = new btMinkowskiSumShape(&block, &small);
	sum->setMargin(0);
	add("Minkowski sum", sum, btVector3(0, 0, 1), btVector3(btScalar(0.1), 0, btScalar(1.2)));
	return all;
}

/// Returns the depth of the facets: the surface of the ball's mesh lies between them and the radius, and the samples
/// are on them.
double facet_depth() { return 5e-4 * kRadius + 1e-4; }

void agrees(const Case& c, btVoxShellShape& ball)
{
	const btTransform pose(btQuaternion(btVector3(1, 2, 3).normalized(), btScalar(1.1)), btVector3(10, -5, 3));
	btCollisionObject partner, ours;
	partner.setCollisionShape(c.shape.get());
	partner.setWorldTransform(pose);
	ours.setCollisionShape(&ball);

	for (const double distance : {-0.01, -0.001, 0.0004})
	{
		ours.setWorldTransform(btTransform(btQuaternion(btVector3(2, 1, 1).normalized(), btScalar(0.4)), pose(c.surface + c.away * btScalar(kRadius + distance))));
		for (int order = 0; order < 2; ++order)
		{
			Scene scene;
			scene.world.addCollisionObject(&partner);
			scene.world.addCollisionObject(&ours);
			const btCollisionObject* first = order ? &ours : &partner;
			Closest pair, all;
			scene.world.contactPairTest(const_cast<btCollisionObject*>(first), order ? &partner : &ours, pair);
			scene.world.contactTest(const_cast<btCollisionObject*>(first), all);
			for (const Closest* found : {&pair, &all})
			{
				if (found->count == 0)
					std::printf("%s at %g:\n", c.name, distance);
				CHECK(found->count > 0);
				if (found->count == 0)
					continue;
				CHECK_NEAR(found->distance, distance, facet_depth() + c.blunt);
				// Towards A, on B.
				const btVector3 away = pose.getBasis() * c.away;
				const btVector3 towards_a = found->object_a == &ours ? away : -away;
				CHECK(found->normal.dot(towards_a) > 0.99);
				CHECK_NEAR((found->on_a - found->on_b).dot(found->normal), found->distance, rounding(1e-5));
				CHECK_NEAR((found->on_b - pose(c.surface)).length(), 0, 0.03);
			}
			if (failures() > 20)
				return;
			scene.world.removeCollisionObject(&partner);
			scene.world.removeCollisionObject(&ours);
		}
	}
	std::printf("%s: as closed form\n", c.name);
}

/// contactPairTest with a threshold reports distances up to it.
void distances_up_to_the_callers_threshold_are_reported(btVoxShellShape& ball)
{
	btBoxShape box(btVector3(1, 1, 1));
	btCollisionObject partner, ours;
	partner.setCollisionShape(&box);
	ours.setCollisionShape(&ball);
	ours.getWorldTransform().setIdentity();
	ours.getWorldTransform().setOrigin(btVector3(0, 0, btScalar(1 + kRadius + 0.1)));
	Scene scene;
	Closest none, found;
	scene.world.contactPairTest(&partner, &ours, none);
	CHECK(none.count == 0);
#if BT_BULLET_VERSION >= 286
	found.m_closestDistanceThreshold = btScalar(0.3);
	scene.world.contactPairTest(&partner, &ours, found);
	CHECK(found.count > 0);
	CHECK_NEAR(found.distance, 0.1, facet_depth());
#endif
}

/// A change of size is noticed while the pair exists.
void a_changed_size_is_noticed(btVoxShellShape& ball)
{
	btBoxShape box(btVector3(1, 1, 1));
	Scene scene;
	scene.add(&box, 0, btVector3(0, 0, 0));
	btRigidBody* body = scene.add(&ball, 1, btVector3(0, btScalar(1 + kRadius - 0.001), 0));
	const btTransform start = body->getWorldTransform();
	scene.step();
	CHECK_NEAR(scene.deepest(), -0.001, facet_depth());
	box.setLocalScaling(btVector3(1, btScalar(1.01), 1));
	body->setWorldTransform(start);
	scene.step();
	CHECK_NEAR(scene.deepest(), -0.011, facet_depth());
}
}  // namespace

int main()
{
	const Handle sphere = primitive(VXS_PRIMITIVE_SPHERE, {kRadius}, {5}, 20000, 96);
	btVoxShellShape ball(sphere.get());
	ball.setMargin(btScalar(0.002));
	for (const Case& c : cases())
	{
		agrees(c, ball);
		if (on_valgrind() && c.name == std::string("box side"))
			break;
	}
	distances_up_to_the_callers_threshold_are_reported(ball);
	a_changed_size_is_noticed(ball);
	return finish();
}
