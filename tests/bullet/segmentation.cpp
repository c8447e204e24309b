// Manifolds for segments: one for each segment of a level with its deepest point, one for each contact region. Also the
// choice of the body that brings its samples.
#include <algorithm>
#include <set>

#include "../../cpp/bullet/src/manifold_set.h"
#include "check.h"
#include "scene.h"

namespace
{
struct Manifold
{
	std::vector<btVector3> points;  // on the second body, world frame
	double least = 1e30;
};

/// Returns the manifolds that have points.
std::vector<Manifold> manifolds_of(const Scene& scene)
{
	std::vector<Manifold> all;
	for (int m = 0; m < scene.dispatcher.getNumManifolds(); ++m)
	{
		const btPersistentManifold* manifold = scene.dispatcher.getManifoldByIndexInternal(m);
		if (manifold->getNumContacts() == 0)
			continue;
		all.emplace_back();
		for (int i = 0; i < manifold->getNumContacts(); ++i)
		{
			all.back().points.push_back(manifold->getContactPoint(i).getPositionWorldOnB());
			all.back().least = std::min(all.back().least, double(manifold->getContactPoint(i).getDistance()));
		}
	}
	return all;
}

btVoxShellSettings by_level(unsigned level)
{
	btVoxShellSettings settings;
	settings.m_segmentation = VXS_SEGMENTATION_LEVEL;
	settings.m_segmentLevel = level;
	return settings;
}

btVoxShellSettings by_region(int manifolds = 8)
{
	btVoxShellSettings settings;
	settings.m_segmentation = VXS_SEGMENTATION_REGION;
	settings.m_maxManifolds = manifolds;
	return settings;
}

/// Makes a stool: a round seat on round legs, 0.1 m across, on a circle of 0.35 m; their feet are at y = 0.
Handle stool(int legs)
{
	btTriangleMesh mesh;
	const auto add_prism = [&](double x, double z, double radius, double low, double high) {
		const int sides = 24;
		const auto at = [&](int i, double y) {
			const double turn = SIMD_2_PI * i / sides;
			return btVector3(btScalar(x + radius * std::cos(turn)), btScalar(y), btScalar(z + radius * std::sin(turn)));
		};
		const btVector3 bottom = btVector3(btScalar(x), btScalar(low), btScalar(z)), top = btVector3(btScalar(x), btScalar(high), btScalar(z));
		for (int i = 0; i < sides; ++i)
		{
			mesh.addTriangle(bottom, at(i, low), at(i + 1, low));
			mesh.addTriangle(top, at(i + 1, high), at(i, high));
			mesh.addTriangle(at(i, low), at(i, high), at(i + 1, high));
			mesh.addTriangle(at(i, low), at(i + 1, high), at(i + 1, low));
		}
	};
	for (int i = 0; i < legs; ++i)
		add_prism(0.35 * std::cos(SIMD_2_PI * i / legs), 0.35 * std::sin(SIMD_2_PI * i / legs), 0.05, 0, 0.35);
	add_prism(0, 0, 0.45, 0.3, 0.4);
	std::vector<vxs_vec3> vertices;
	std::vector<uint32_t> indices;
	for (const btVector3& v : vertices_of(mesh))
		vertices.push_back({double(v.x()), double(v.y()), double(v.z())});
	for (size_t i = 0; i < vertices.size(); ++i)
		indices.push_back(uint32_t(i));
	vxs_cook_options options;
	must(vxs_cook_options_init(&options, sizeof options));
	options.sample_count = 3000;
	options.resolution = 64;
	vxs_shape* shape = nullptr;
	must(vxs_shape_create_from_triangles(vertices.data(), vertices.size(), indices.data(), indices.size() / 3, &options, &shape));
	return Handle(shape);
}

/// Returns for each segment of the shape at `pose` that touches a plane at y = 0, up to `limit`, its number and its
/// distance.
std::map<uint32_t, double> deepest_of_segments(const vxs_shape* shape, const btTransform& pose, uint32_t level, double limit)
{
	size_t count = 0, segments = 0;
	vxs_pointshell* samples = nullptr;
	must(vxs_shape_get_pointshell(shape, &samples));
	vxs_pointshell_get_samples(samples, nullptr, nullptr, 0, &count);
	std::vector<vxs_vec3> points(count), normals(count);
	must(vxs_pointshell_get_samples(samples, points.data(), normals.data(), count, &count));
	vxs_pointshell_release(samples);
	std::vector<uint32_t> first(count);
	must(vxs_shape_get_segments(shape, level, first.data(), count, &segments));
	std::map<uint32_t, double> deepest;
	for (size_t i = 0; i < count; ++i)
	{
		const double y = double((pose * btVector3(btScalar(points[i].x), btScalar(points[i].y), btScalar(points[i].z))).y());
		if (y > limit)
			continue;
		const uint32_t segment = uint32_t(std::upper_bound(first.begin(), first.begin() + std::ptrdiff_t(segments), uint32_t(i)) - first.begin()) - 1;
		const auto at = deepest.emplace(segment, y).first;
		at->second = std::min(at->second, y);
	}
	return deepest;
}

/// One step of a weightless body 3 mm deep in the plane: each segment has a manifold with its deepest point.
void a_manifold_for_each_segment_of_a_level()
{
	const Handle ring = primitive(VXS_PRIMITIVE_TORUS, {0.4, 0.1}, {48, 24}, 3000, 64);
	btVoxShellShape shape(ring.get());
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	for (const unsigned level : {0u, 1u, 2u, 3u, 40u})
	{
		Scene scene(by_level(level));
		scene.world.setGravity(btVector3(0, 0, 0));
		scene.add(&plane, 0, btVector3(0, 0, 0));
		// The body leans a little: some segments touch, and some do not.
		btTransform pose(btQuaternion(btVector3(1, 0, 0), btScalar(0.01)), btVector3(0, 0, 0));
		const std::map<uint32_t, double> all = deepest_of_segments(ring.get(), pose, 0, 1e9);
		pose.getOrigin().setY(btScalar(-all.begin()->second - 0.003));
		scene.add(&shape, 1, pose);
		scene.step();
		const std::map<uint32_t, double> expected = deepest_of_segments(ring.get(), pose, level, double(shape.getMargin()));
		std::vector<double> found, wanted;
		for (const Manifold& m : manifolds_of(scene))
		{
			CHECK(m.points.size() == 1);
			found.push_back(m.least);
		}
		for (const auto& segment : expected)
			wanted.push_back(segment.second);
		std::sort(found.begin(), found.end());
		std::sort(wanted.begin(), wanted.end());
		wanted.resize(std::min(wanted.size(), size_t(256)));
		std::printf("level %u: %zu manifolds\n", level, found.size());
		CHECK(found.size() == wanted.size());
		CHECK(level == 0 ? found.size() == 1 : found.size() > 1);
		for (size_t i = 0; i < std::min(found.size(), wanted.size()); ++i)
			CHECK_NEAR(found[i], wanted[i], 1e-6);
	}
}

/// In a pair of two Voxshell shapes that both bring samples, each has segments, as in the C API for the same pair.
void both_of_a_pair_have_segments()
{
	const Handle made = primitive(VXS_PRIMITIVE_TORUS, {0.4, 0.1}, {48, 24}, 3000, 64);
	btVoxShellShape shape(made.get());
	vxs_workspace* workspace = nullptr;
	must(vxs_workspace_create(&workspace));
	size_t of_both = 0;
	for (const double height : {0.19, 0.195, 0.199})
		for (const unsigned level : {1u, 2u, 3u})
		{
			// Edges are a segment of their own.
			btVoxShellSettings settings = by_level(level);
			settings.m_coverage = VXS_COVERAGE_SAMPLES;
			Scene scene(settings);
			scene.world.setGravity(btVector3(0, 0, 0));
			const btTransform at(btQuaternion(btVector3(1, 0, 0), btScalar(0.01)), btVector3(btScalar(0.1), btScalar(height), 0));
			scene.add(&shape, 0, btVector3(0, 0, 0));
			scene.add(&shape, 1, at);
			scene.step();

			vxs_query query;
			must(vxs_query_init(&query, sizeof query));
			query.coverage = VXS_COVERAGE_SAMPLES;
			query.roles = VXS_ROLES_BOTH;
			vxs_query_segmentation segmentation;
			must(vxs_query_segmentation_init(&segmentation, sizeof segmentation));
			segmentation.kind = VXS_SEGMENTATION_LEVEL;
			segmentation.level = level;
			query.segmentation = &segmentation;
			query.max_separation = double(shape.getMargin());
			const btQuaternion turn = at.getRotation();
			const vxs_body first = {made.get(), {{0, 0, 0}, 0, 0, 0, 1}};
			const vxs_body second = {made.get(), {{double(at.getOrigin().x()), double(at.getOrigin().y()), 0}, double(turn.x()), double(turn.y()), double(turn.z()), double(turn.w())}};
			std::vector<vxs_contact> contacts(4096);
			size_t count = 0;
			must(vxs_query_contacts(&first, &second, &query, workspace, contacts.data(), contacts.size(), &count));
			std::vector<double> found, wanted;
			bool of_first = false, of_second = false;
			for (size_t i = 0; i < count; ++i)
			{
				wanted.push_back(contacts[i].separation);
				(contacts[i].feature >> 31 ? of_second : of_first) = true;
			}
			of_both += of_first && of_second;
			for (const Manifold& m : manifolds_of(scene))
			{
				CHECK(m.points.size() == 1);
				found.push_back(m.least);
			}
			std::sort(found.begin(), found.end());
			std::sort(wanted.begin(), wanted.end());
			CHECK(found.size() == wanted.size() && !found.empty());
			for (size_t i = 0; i < std::min(found.size(), wanted.size()); ++i)
				CHECK_NEAR(found[i], wanted[i], 1e-5);
		}
	CHECK(of_both >= 6);
	vxs_workspace_destroy(workspace);
}

/// Returns the leg of a manifold's point, or -1.
int leg_at(const btVector3& point, const btTransform& pose, int legs)
{
	const btVector3 p = pose.inverse() * point;
	for (int i = 0; i < legs; ++i)
	{
		const double x = 0.35 * std::cos(SIMD_2_PI * i / legs), z = 0.35 * std::sin(SIMD_2_PI * i / legs);
		if (std::hypot(double(p.x()) - x, double(p.z()) - z) < 0.08)
			return i;
	}
	return -1;
}

/// A stool at rest has a manifold at each leg, in every orientation and on every ground, and keeps them.
void a_manifold_for_each_place_that_touches()
{
	for (const int legs : {3, 5})
	{
		const Handle made = stool(legs);
		btVoxShellShape shape(made.get());
		btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
		const Handle slab = primitive(VXS_PRIMITIVE_BOX, {1, 0.1, 1}, {}, 100, 32);
		btVoxelmapShape field(slab.get());
		btCollisionShape* const floors[] = {&plane, &field};
		for (btCollisionShape* floor : floors)
		{
			Scene scene(by_region());
			scene.add(floor, 0, btVector3(0, floor == &plane ? 0 : btScalar(-0.1), 0));
			btRigidBody* body = scene.add(&shape, 1, btTransform(btQuaternion(btVector3(0, 1, 0), btScalar(0.3)), btVector3(0, btScalar(0.02), 0)));
			scene.step(300);
			std::set<int> at;
			int points = 0;
			for (const Manifold& m : manifolds_of(scene))
			{
				std::set<int> of_manifold;
				for (const btVector3& p : m.points)
					of_manifold.insert(leg_at(p, body->getWorldTransform(), legs));
				CHECK(of_manifold.size() == 1);
				at.insert(*of_manifold.begin());
				points += int(m.points.size());
			}
			std::printf("%d legs: %zu manifolds, %d points, energy %.1e J\n", legs, at.size(), points, kinetic_energy(*body));
			CHECK(int(at.size()) == legs && *at.begin() == 0);
			CHECK(int(manifolds_of(scene).size()) == legs);
			CHECK(points == 4 * legs);
			CHECK(kinetic_energy(*body) < 1e-6);
			CHECK_NEAR(body->getWorldTransform().getOrigin().y(), 0, 1e-3);
			Calm calm;
			for (int i = 0; i < 100; ++i)
			{
				scene.step();
				calm.look(scene);
			}
			CHECK(calm.kept() > 0.995 && calm.turned() < 1e-4);
		}
	}
}

/// A stool is tilted to and fro in the floor, so that the deepest leg changes and some legs separate: a leg keeps its
/// manifold.
void a_leg_keeps_its_manifold()
{
	const Handle made = stool(3);
	btVoxShellShape shape(made.get());
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	Scene scene(by_region());
	scene.world.setGravity(btVector3(0, 0, 0));
	scene.add(&plane, 0, btVector3(0, 0, 0));
	btRigidBody* body = scene.add(&shape, 1, btVector3(0, btScalar(-0.004), 0));
	std::map<const btPersistentManifold*, int> before;
	int kept = 0;
	std::set<int> deepest;
	for (int i = 0; i < 200; ++i)
	{
		const btScalar turn = btScalar(0.1) * btScalar(i);
		body->setWorldTransform(btTransform(btQuaternion(btVector3(std::cos(turn), 0, std::sin(turn)), btScalar(0.008)), btVector3(0, btScalar(-0.002), 0)));
		body->setInterpolationWorldTransform(body->getWorldTransform());
		body->setLinearVelocity(btVector3(0, 0, 0));
		body->setAngularVelocity(btVector3(0, 0, 0));
		const btTransform pose = body->getWorldTransform();
		scene.step();
		std::map<const btPersistentManifold*, int> now;
		double least = 0;
		int lowest = -1;
		for (int m = 0; m < scene.dispatcher.getNumManifolds(); ++m)
		{
			const btPersistentManifold* manifold = scene.dispatcher.getManifoldByIndexInternal(m);
			if (manifold->getNumContacts() == 0)
				continue;
			const int leg = leg_at(manifold->getContactPoint(0).getPositionWorldOnB(), pose, 3);
			for (int k = 1; k < manifold->getNumContacts(); ++k)
				CHECK(leg_at(manifold->getContactPoint(k).getPositionWorldOnB(), pose, 3) == leg);
			now[manifold] = leg;
			if (double(manifold->getContactPoint(0).getDistance()) < least)
				least = double(manifold->getContactPoint(0).getDistance()), lowest = leg;
		}
		deepest.insert(lowest);
		for (const auto& held : now)
			for (const auto& then : before)
				if (then.second == held.second)
				{
					CHECK(then.first == held.first);
					++kept;
				}
		before.swap(now);
	}
	std::printf("tilted: %d times a leg was seen again in its manifold\n", kept);
	CHECK(kept > 300 && deepest.size() == 3);
}

/// The contacts of the corners of Bullet's own box are one segment, with as many points as a manifold has.
void corners_of_a_box_are_a_segment()
{
	const Handle slab = primitive(VXS_PRIMITIVE_BOX, {1, 0.1, 1}, {}, 500, 32);
	btVoxShellShape ground(slab.get());
	btBoxShape box(btVector3(btScalar(0.3), btScalar(0.1), btScalar(0.2)));
	Scene scene(by_level(0));
	scene.add(&ground, 0, btVector3(0, btScalar(-0.1), 0));
	btRigidBody* body = scene.add(&box, 1, btTransform(btQuaternion(btVector3(0, 1, 0), btScalar(0.3)), btVector3(0, btScalar(0.12), 0)));
	scene.step(300);
	size_t corners = 0;
	for (const Manifold& m : manifolds_of(scene))
		corners = std::max(corners, m.points.size());
	CHECK(corners == 4 && manifolds_of(scene).size() <= 2);
	CHECK(kinetic_energy(*body) < 1e-6);
	CHECK_NEAR(body->getWorldTransform().getOrigin().y(), 0.1, 1e-3);
}

/// A point that changes its region takes its impulse along.
void a_point_takes_its_impulse_to_another_group()
{
	btDefaultCollisionConfiguration configuration;
	btCollisionDispatcher dispatcher(&configuration);
	btSphereShape ball(1);
	btCollisionObject first, second;
	first.setCollisionShape(&ball);
	second.setCollisionShape(&ball);
	{
		voxshell_bullet::ManifoldSet set(&dispatcher, &first, &second, 3);
		const auto point = [](btScalar x) { return btManifoldPoint(btVector3(x, 0, 0), btVector3(x, 0, 0), btVector3(0, 1, 0), 0); };
		set.begin();
		set.put(7, 1, point(1), false);
		set.put(8, 2, point(2), false);
		set.put(9, 2, point(3), false);
		set.end();
		CHECK(dispatcher.getNumManifolds() == 2);
		for (int m = 0; m < 2; ++m)
			for (int i = 0; i < dispatcher.getManifoldByIndexInternal(m)->getNumContacts(); ++i)
				dispatcher.getManifoldByIndexInternal(m)->getContactPoint(i).m_appliedImpulse = btScalar(5);
		for (const bool forget : {false, true})
		{
			set.begin();
			set.put(7, forget ? 1 : 2, point(1), forget);
			set.put(8, 2, point(2), false);
			set.end();
			CHECK_NEAR(set.find(7)->m_appliedImpulse, forget ? 0 : 5, 0);
			CHECK(set.find(7)->getLifeTime() == (forget ? 3 : 2) && set.find(9) == nullptr);
		}
	}
	CHECK(dispatcher.getNumManifolds() == 0);
}

/// With fewer manifolds than legs the last manifold takes all remaining contacts, so that every leg is supported.
void the_last_manifold_is_for_what_remains()
{
	const Handle made = stool(5);
	btVoxShellShape shape(made.get());
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	Scene scene(by_region(2));
	scene.add(&plane, 0, btVector3(0, 0, 0));
	btRigidBody* body = scene.add(&shape, 1, btVector3(0, btScalar(0.02), 0));
	scene.step(300);
	const std::vector<Manifold> manifolds = manifolds_of(scene);
	CHECK(manifolds.size() == 2 && scene.contacts() == 8);
	std::set<int> at;
	for (const Manifold& m : manifolds)
		for (const btVector3& p : m.points)
			at.insert(leg_at(p, body->getWorldTransform(), 5));
	CHECK(at.size() >= 4 && kinetic_energy(*body) < 1e-6);
	CHECK_NEAR(body->getWorldTransform().getBasis()[1].y(), 1, 1e-4);
}

/// With segments bodies come to rest and bounce as without.
void segments_hold_and_bounce()
{
	const Handle ball = primitive(VXS_PRIMITIVE_SPHERE, {0.5}, {4}, 2000, 48);
	const Handle block = primitive(VXS_PRIMITIVE_BOX, {0.3, 0.2, 0.25}, {}, 2000, 48);
	btVoxShellShape round(ball.get()), square(block.get());
	btBoxShape floor(btVector3(3, 1, 3));
	for (const btVoxShellSettings& settings : {by_level(1), by_level(3), by_region(4)})
	{
		Scene scene(settings);
		scene.add(&floor, 0, btVector3(0, -1, 0), 1);
		btRigidBody* bouncer = scene.add(&round, 1, btVector3(-1, btScalar(1.5), 0), btScalar(0.5));
		btRigidBody* sitter = scene.add(&square, 1, btTransform(btQuaternion(btVector3(1, 0, 1).normalized(), btScalar(0.4)), btVector3(1, 1, 0)));
		double rebound = 0, deepest = 0;
		bool rising = false;
		for (int i = 0; i < 600; ++i)
		{
			scene.step();
			rising = rising || bouncer->getLinearVelocity().y() > 1;
			if (rising && i < 220)
				rebound = std::max(rebound, double(bouncer->getWorldTransform().getOrigin().y()) - 0.5);
			deepest = std::min(deepest, scene.deepest());
		}
		std::printf("segmentation %u, level %u: rebound %.4f m, deepest %.3f mm, energy %.1e J\n", settings.m_segmentation, settings.m_segmentLevel, rebound, -1e3 * deepest,
					kinetic_energy(*sitter));
		CHECK_NEAR(rebound, 0.25, 0.01);
		CHECK(deepest > -0.003);  // of a face only four points are known, and it turns
		CHECK(kinetic_energy(*sitter) < 1e-5);
		CHECK_NEAR(sitter->getWorldTransform().getOrigin().y(), 0.2, 2e-3);
	}
}

/// A thorn stands between the samples of a coarse plate: only the thorn's own samples find it.
void the_side_that_brings_samples_is_the_one_asked_for()
{
	const Handle plate = primitive(VXS_PRIMITIVE_BOX, {1, 0.1, 1}, {}, 60, 48);
	const Handle fine = primitive(VXS_PRIMITIVE_SPHERE, {0.05}, {4}, 2000, 32);
	btVoxShellShape wide(plate.get()), small(fine.get());
	const double radius = 0.05, depth = 0.01;
	for (const bool plate_first : {true, false})
		for (const unsigned roles : {VXS_ROLES_BOTH, VXS_ROLES_AUTO, VXS_ROLES_SHELL_OF_A, VXS_ROLES_SHELL_OF_B})
		{
			btVoxShellSettings settings;
			settings.m_roles = roles;
			// The edges of the thorn would be found with any roles.
			settings.m_coverage = VXS_COVERAGE_SAMPLES;
			int found = 0, asked = 0;
			for (int k = 0; k < 25; ++k)
			{
				const btVector3 at(btScalar(-0.4 + 0.2 * (k % 5)), btScalar(0.1 + radius - depth), btScalar(-0.4 + 0.2 * (k / 5)));
				Scene scene(settings);
				scene.world.setGravity(btVector3(0, 0, 0));
				if (plate_first)
					scene.add(&wide, 0, btVector3(0, 0, 0));
				scene.add(&small, 1, at);
				if (!plate_first)
					scene.add(&wide, 0, btVector3(0, 0, 0));
				scene.step();
				++asked;
				if (scene.contacts() == 0)
					continue;
				++found;
				if (roles != (plate_first ? VXS_ROLES_SHELL_OF_A : VXS_ROLES_SHELL_OF_B))
					CHECK_NEAR(scene.deepest(), -depth, 1e-3);
			}
			const bool by_plate = roles == (plate_first ? VXS_ROLES_SHELL_OF_A : VXS_ROLES_SHELL_OF_B);
			std::printf("roles %u, plate %s: %d of %d found\n", roles, plate_first ? "first" : "second", found, asked);
			CHECK(by_plate ? found < asked / 2 : found == asked);
		}
}
}  // namespace

int main()
{
	a_manifold_for_each_segment_of_a_level();
	both_of_a_pair_have_segments();
	a_manifold_for_each_place_that_touches();
	a_leg_keeps_its_manifold();
	corners_of_a_box_are_a_segment();
	a_point_takes_its_impulse_to_another_group();
	the_last_manifold_is_for_what_remains();
	segments_hold_and_bounce();
	the_side_that_brings_samples_is_the_one_asked_for();
	return finish();
}
