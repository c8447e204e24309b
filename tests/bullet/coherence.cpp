// The cache of a pair does not change the result: re-evaluated contacts are bit-identical to those of a new search, and
// a set kept while nothing moves is discarded as soon as something moves.
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <random>

#include "check.h"
#include "drift.h"
#include "pair_query.h"
#include "scene.h"

using namespace voxshell_bullet;

namespace
{
using Random = std::mt19937;

double uniform(Random& random, double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); }

btVector3 vector(Random& random, double length)
{
	return btVector3(btScalar(uniform(random, -length, length)), btScalar(uniform(random, -length, length)), btScalar(uniform(random, -length, length)));
}

Side side_of(const btCollisionShape* shape, const btTransform& at, double extent)
{
	Side side;
	side.voxshell = btVoxShellBaseShape::upcast(shape);
	side.stock = side.voxshell ? nullptr : shape;
	side.pose = to_pose(at);
	side.motion.center = to_vec(at.getOrigin());
	side.extent = extent;
	return side;
}

/// Returns the candidates within a distance, by feature.
std::map<uint32_t, Candidate> within(const std::vector<Candidate>& candidates, double distance)
{
	std::map<uint32_t, Candidate> found;
	for (const Candidate& c : candidates)
		if (c.distance <= distance)
			CHECK(found.emplace(c.feature, c).second);
	return found;
}

bool same(const Vec& a, const Vec& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

/// Returns the smallest distance.
double least(const std::map<uint32_t, Candidate>& contacts)
{
	double found = std::numeric_limits<double>::infinity();
	for (const auto& [feature, c] : contacts)
		found = std::min(found, c.distance);
	return found;
}

/// Moves `moving` on `fixed`, slowly with occasional jumps, and compares each step with a query without a cache. Contacts of
/// samples are bit-identical. Where edges are closest changes a little until they are searched anew.
void contacts_are_those_of_a_new_search(const char* name, const btCollisionShape* fixed, double fixed_extent, const btVoxShellShape& moving, btVector3 at, unsigned coverage)
{
	Random random(7);
	btVoxShellSettings settings;
	settings.m_coverage = coverage;
	PairQuery coherent;
	btTransform pose(btQuaternion::getIdentity(), at);
	int found = 0, kept = 0;
	const int steps = on_valgrind() ? 60 : 600;
	const double extent = double(moving.getLocalHalfExtents().length()), margin = 0.001, dt = 1.0 / 200;
	std::vector<Candidate> before;
	for (int i = 0; i < steps; ++i)
	{
		const double way = i % 100 == 99 ? 0.02 : (i % 7 == 0 ? 3e-4 : 2e-5);
		pose.setOrigin(pose.getOrigin() + vector(random, way));
		pose.setRotation((btQuaternion(vector(random, 1).normalized(), btScalar(way)) * pose.getRotation()).normalized());
		if ((pose.getOrigin() - at).length() > btScalar(0.02))
			pose.setOrigin(at);

		PairQuery fresh;
		std::vector<Candidate> all[2];
		PairQuery* const queries[2] = {&coherent, &fresh};
		for (int q = 0; q < 2; ++q)
		{
			Side first = side_of(&moving, pose, extent), second = side_of(fixed, btTransform::getIdentity(), fixed_extent);
			const double distance = margin + 0.0004;
			CHECK(queries[q]->find_forms(first, second, distance));
			const bool again = q == 0 && i > 0 && coherent.find_again(first, second, before);
			Instant now(first.pose, first.motion, extent, second.pose, second.motion, distance, dt);
			if (fixed->getShapeType() == STATIC_PLANE_PROXYTYPE)
				now.plane = to_vec(static_cast<const btStaticPlaneShape*>(fixed)->getPlaneNormal());
			BudgetShare share(nullptr);
			CHECK(queries[q]->find(first, second, settings, {distance, margin, std::max(1.0, moving.getFieldSlope()), dt, now, margin, Approach(first.motion, second.motion, dt)}, {}, share, all[q]));
			if (!again || coverage == VXS_COVERAGE_EDGES)
				continue;
			// The contacts of the previous step are at their new positions.
			const auto there = within(all[0], distance);
			for (const auto& [feature, c] : within(before, margin))
			{
				const auto same_one = there.find(feature);
				CHECK(same_one != there.end() && c.distance == same_one->second.distance);
				++kept;
			}
		}
		before = all[0];
		// While nothing moves, only contacts within the margin count.
		const auto remembered = within(all[0], margin), expected = within(all[1], margin);
		found += int(expected.size());
		if (coverage == VXS_COVERAGE_EDGES)
		{
			CHECK(expected.empty() || std::abs(least(remembered) - least(expected)) <= 0.02 * margin);
			continue;
		}
		CHECK(remembered.size() == expected.size());
		for (const auto& [feature, c] : expected)
		{
			const auto there = remembered.find(feature);
			CHECK(there != remembered.end() && there->second.distance == c.distance && same(there->second.point, c.point) && same(there->second.normal, c.normal));
		}
	}
	std::printf("%-8s %d contacts in %d steps, %d of them looked at again\n", name, found, steps, kept);
	CHECK(found > steps);
}

/// No gap changes by more than the drift bound, for contacts whose normal is fixed.
void drift_bounds_the_change_of_every_gap()
{
	Random random(11);
	for (int i = 0; i < 2000; ++i)
	{
		const double reach = 0.01, dt = 1.0 / 200;
		Motion body[2], ground;
		vxs_pose pose[2];
		btTransform at(btQuaternion(vector(random, 1).normalized(), btScalar(uniform(random, 0, 3))), vector(random, 2));
		for (int k = 0; k < 2; ++k)
		{
			pose[k] = to_pose(at);
			body[k].center = to_vec(at.getOrigin());
			body[k].linear = to_vec(vector(random, 0.3));
			body[k].angular = to_vec(vector(random, 2));
			body[k].linear_acceleration = {0, -10, 0};
			// In every second case only the position changes.
			if (k == 1 && i % 2 == 0)
				body[1].linear = body[0].linear, body[1].angular = body[0].angular;
			at.setOrigin(at.getOrigin() + vector(random, 1e-3));
			at.setRotation((btQuaternion(vector(random, 1).normalized(), btScalar(1e-3)) * at.getRotation()).normalized());
		}
		const Face nowhere, floor = {{0, 1, 0}, true};
		Drift drift, on_face, on_plane;
		Instant then(pose[0], body[0], 0.5, to_pose(btTransform::getIdentity()), ground, reach, dt);
		CHECK(drift.since(then, 1, 0.001, 0, dt) > 1e30);
		drift.remember(then, 0.001, 0, dt, nowhere);
		CHECK(drift.since(then, 1, 0.001, 0, dt) == 0 && drift.since(then, 1, 0.002, 0, dt) > 1e30);
		Instant now(pose[1], body[1], 0.5, to_pose(btTransform::getIdentity()), ground, reach, dt);
		const double bound = drift.since(now, 1, 0.001, 0, dt);
		// The same for a body on a face, or above a known plane.
		on_face.remember(then, 0.001, 0, dt, floor);
		then.plane = floor.normal;
		on_plane.remember(then, 0.001, 0, dt, nowhere);
		const double bound_on_face = on_face.since(now, 1, 0.001, 0, dt);
		now.plane = floor.normal;
		const double bound_on_plane = on_plane.since(now, 1, 0.001, 0, dt);
		CHECK(bound_on_face < bound && bound_on_face == bound_on_plane);
		// The same if the face belongs to the smaller body.
		const auto below = [&](int k) { return Instant(to_pose(btTransform::getIdentity()), ground, 4, pose[k], body[k], reach, dt); };
		Drift under;
		under.remember(below(0), 0.001, 0, dt, {floor.normal, false});
		const double bound_below = under.since(below(1), 1, 0.001, 0, dt);
		double most = 0;
		for (int j = 0; j < 50; ++j)
		{
			// A point of the body above a plane through the world's origin.
			const Vec local = to_vec(vector(random, 0.28));
			double gap[2];
			for (int k = 0; k < 2; ++k)
			{
				Candidate c;
				c.point = Frame(pose[k])(local);
				c.normal = {0, 1, 0};
				c.distance = c.point.y;
				c.predict_gap(Approach(body[k], ground, dt), dt);
				const double quick = c.gap;
				c.predict(body[k], ground, dt);
				CHECK_NEAR(c.gap, quick, 1e-12);
				gap[k] = quick;
			}
			most = std::max(most, std::fabs(gap[1] - gap[0]));
		}
		CHECK(most <= bound_on_plane * (1 + 1e-9) && most <= bound_below * (1 + 1e-9));
	}
}

/// A body may slide along a plane by any distance; drift counts when it turns over or when the plane tilts.
void what_slides_along_a_plane_does_not_drift()
{
	const vxs_pose ground = to_pose(btTransform(btQuaternion(btVector3(0, 0, 1), btScalar(0.3)), btVector3(1, 2, 3)));
	const Vec normal = {0, 1, 0}, along = Frame(ground).rotate({3, 0, -2});
	Motion still;
	btTransform at(btQuaternion(btVector3(1, 2, 3).normalized(), btScalar(0.7)), btVector3(5, 6, 7));
	const auto instant = [&](const btTransform& where, const vxs_pose& plane) {
		Motion body;
		body.center = to_vec(where.getOrigin());
		Instant made(to_pose(where), body, 0.5, plane, still, 0.01, 0.005);
		made.plane = normal;
		return made;
	};
	Drift drift;
	drift.remember(instant(at, ground), 0.001, 0, 0.005, Face());
	btTransform there = at;
	there.setOrigin(at.getOrigin() + to_bt(along));
	CHECK(drift.since(instant(there, ground), 1, 0.001, 0, 0.005) < 1e-5);
	there.setRotation(btQuaternion(to_bt(Frame(ground).rotate(normal)), btScalar(1)) * at.getRotation());
	CHECK(drift.since(instant(there, ground), 1, 0.001, 0, 0.005) < 1e-5);
	there.setRotation(btQuaternion(to_bt(along).normalized(), btScalar(0.01)) * at.getRotation());
	CHECK(drift.since(instant(there, ground), 1, 0.001, 0, 0.005) > 0.004);
	there = at;
	there.setOrigin(at.getOrigin() + to_bt(Frame(ground).rotate(normal)) * btScalar(0.02));
	CHECK_NEAR(drift.since(instant(there, ground), 1, 0.001, 0, 0.005), 0.02, 1e-5);
	const vxs_pose tilted = to_pose(btTransform(btQuaternion(btVector3(0, 0, 1), btScalar(0.31)), btVector3(1, 2, 3)));
	CHECK(drift.since(instant(at, tilted), 1, 0.001, 0, 0.005) > 0.004);
}

/// Returns the side with the face that all contacts of a resting body are on.
const Side* holder_of(PairQuery& query, const btCollisionShape& fixed, const btVoxShellShape& moving, const btTransform& pose, Side& first, Side& second)
{
	std::vector<Candidate> found;
	first = side_of(&moving, pose, double(moving.getLocalHalfExtents().length())), second = side_of(&fixed, btTransform::getIdentity(), 0.5);
	const double margin = 0.001, dt = 1.0 / 200;
	for (int i = 0; i < 2; ++i)
	{
		CHECK(query.find_forms(first, second, margin));
		const Instant now(first.pose, first.motion, first.extent, second.pose, second.motion, margin, dt);
		BudgetShare share(nullptr);
		CHECK(query.find(first, second, btVoxShellSettings(), {margin, margin, std::max(1.0, moving.getFieldSlope()), dt, now, margin, Approach(first.motion, second.motion, dt)}, {}, share, found));
		CHECK(!found.empty());
	}
	return query.face_holder(found, first, second);
}

/// Faces are those of convex bodies. A face is reported only if all contacts are on it.
void faces_are_told_from_edges(const btVoxShellShape& shape)
{
	vxs_shape* made = nullptr;
	must(vxs_shape_create_box({0.05, 0.5, 0.05}, &made));
	const Handle post(made);
	const btBoxShape floor(btVector3(1, btScalar(0.5), 1));
	const btVoxelmapShape post_of_ours(post.get());
	// A twentieth of a millimetre deep, beside the hole.
	const btTransform flat(btQuaternion::getIdentity(), btVector3(btScalar(0.2), btScalar(0.69995), btScalar(0.15)));
	Side first, second;
	CHECK(holder_of(*std::make_unique<PairQuery>(), floor, shape, flat, first, second) == &second);
	CHECK(holder_of(*std::make_unique<PairQuery>(), post_of_ours, shape, flat, first, second) == &second);
	// The Voxshell body has a hole, so it is not convex.
	const btTransform on_ours(btQuaternion::getIdentity(), btVector3(btScalar(0.1), btScalar(0.3995), btScalar(0.1)));
	CHECK(holder_of(*std::make_unique<PairQuery>(), shape, shape, on_ours, first, second) == nullptr);
	// Across an edge of the post, some contacts are nearer to one face and some to the other.
	const btVector3 out(btScalar(std::sqrt(0.5)), btScalar(std::sqrt(0.5)), 0);
	const btTransform across(btQuaternion(btVector3(0, 0, 1), btScalar(-0.25 * 3.14159265358979)), btVector3(btScalar(0.05), btScalar(0.5), 0) + out * btScalar(0.16) + btVector3(0, 0, btScalar(0.18)));
	CHECK(holder_of(*std::make_unique<PairQuery>(), post_of_ours, shape, across, first, second) == nullptr);
}

/// For small displacements and any sliding direction, the deepest contact is about as deep as the deepest sample.
/// @param ground  its top is at height 0, `field` the same
void the_deepest_contact_is_never_left_out(const char* name, btVoxShellShape& shape, btCollisionShape& ground, const btVector3& center, const vxs_shape* field, bool slides)
{
	Random random(5);
	vxs_workspace* workspace = nullptr;
	must(vxs_workspace_create(&workspace));
	Scene scene;
	scene.add(&ground, 0, center);
	btRigidBody* body = scene.add(&shape, 1, btVector3(0, btScalar(0.1995), 0));
	btVector3 tilt(0, 0, 0), aside(0, 0, 0), way(0, 0, 0);
	int touching = 0;
	double worst = 0;
	for (int i = 0; i < (on_valgrind() ? 30 : 2000); ++i)
	{
		tilt += vector(random, i % 20 == 0 ? 1e-3 : 2e-5);
		if (tilt.length() > btScalar(0.004) || (slides && i % 100 == 0))
			tilt.setZero();
		// A sliding body has no tilt for some steps, and is slow or fast.
		if (slides && i % 50 == 0)
			way = vector(random, i % 100 == 0 ? 2e-5 : 3e-3) * btVector3(1, 0, 1);
		if (slides && i % 100 < 70)
			tilt.setZero();
		aside = (aside + way).length() < btScalar(0.35) ? aside + way : btVector3(0, 0, 0);
		const btTransform at(btQuaternion(tilt.x(), tilt.y(), tilt.z(), 1).normalized(), btVector3(0, btScalar(0.1995), 0) + aside);
		body->setWorldTransform(at);
		scene.world.performDiscreteCollisionDetection();
		vxs_contact closest;
		bool found = false;
		const vxs_body ours = {shape.getShape(), to_pose(at)}, theirs = {field, to_pose(btTransform(btQuaternion::getIdentity(), center))};
		must(vxs_query_distance(&ours, &theirs, nullptr, workspace, &closest, &found));
		CHECK(found && (slides || (closest.separation < 0 && scene.contacts() > 0)));
		if (closest.separation > 0)
			continue;
		CHECK(scene.contacts() > 0);
		worst = std::max(worst, scene.deepest() - closest.separation);
		touching += scene.contacts();
	}
	std::printf("%-9s %d contacts, the deepest within %.4f mm of the deepest sample\n", name, touching, 1e3 * worst);
	CHECK(touching > 0 && worst < 0.05 * double(shape.getMargin()));
	must(vxs_workspace_destroy(workspace));
}

/// A body at rest is pushed, its manifolds are cleared, or its ground is removed.
void a_resting_body_notices_what_is_done_to_it(btVoxShellShape& shape)
{
	btBoxShape box(btVector3(1, btScalar(0.5), 1));
	Scene scene;
	btRigidBody* ground = scene.add(&box, 0, btVector3(0, btScalar(-0.5), 0));
	btRigidBody* body = scene.add(&shape, 1, btVector3(0, btScalar(0.201), 0));
	scene.step(on_valgrind() ? 30 : 400);
	const int resting = scene.contacts();
	CHECK(resting >= 4);

	// Cleared contacts come back in the next step.
	for (int m = 0; m < scene.dispatcher.getNumManifolds(); ++m)
		scene.dispatcher.getManifoldByIndexInternal(m)->clearManifold();
	CHECK(scene.contacts() == 0);
	scene.step();
	CHECK(scene.contacts() == resting);
	if (on_valgrind())
		return;

	// Pressed against the ground at 3 m/s, the body does not penetrate.
	body->setLinearVelocity(btVector3(0, -3, 0));
	body->setAngularVelocity(btVector3(btScalar(0.5), 0, 0));
	scene.step();
	CHECK(body->getWorldTransform().getOrigin().y() > btScalar(0.199));
	scene.step(200);
	// Friction is read in every step.
	body->setFriction(2);
	scene.step();
	CHECK_NEAR(scene.dispatcher.getManifoldByIndexInternal(0)->getContactPoint(0).m_combinedFriction, 1.0, 1e-6);
	// A ground that sinks a little in every step carries the body along; without the ground the body falls.
	for (int i = 0; i < 40; ++i)
	{
		ground->setWorldTransform(btTransform(btQuaternion::getIdentity(), btVector3(0, btScalar(-0.5 - 2e-6 * i), 0)));
		scene.step();
	}
	CHECK_NEAR(body->getWorldTransform().getOrigin().y(), 0.2 - 8e-5, 3e-5);
	ground->setWorldTransform(btTransform(btQuaternion::getIdentity(), btVector3(0, -3, 0)));
	scene.world.updateSingleAabb(ground);
	scene.step();
	CHECK(scene.contacts() == 0);
}
}  // namespace

int main()
{
	const Handle block = primitive(VXS_PRIMITIVE_HOLE, {0.3, 0.2, 0.25, 0.1}, {}, 4000, 64);
	btVoxShellShape shape(block.get());
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	btBoxShape box(btVector3(btScalar(0.25), btScalar(0.2), btScalar(0.3)));
	const btVector3 on_block(btScalar(0.1), btScalar(0.4), btScalar(0.05));
	contacts_are_those_of_a_new_search("plane", &plane, 1e12, shape, btVector3(0, btScalar(0.2), 0), VXS_COVERAGE_SAMPLES);
	contacts_are_those_of_a_new_search("box", &box, 0.5, shape, btVector3(btScalar(0.1), btScalar(0.4), btScalar(0.1)), VXS_COVERAGE_SAMPLES);
	contacts_are_those_of_a_new_search("block", &shape, 0.5, shape, on_block, VXS_COVERAGE_SAMPLES);
	contacts_are_those_of_a_new_search("edges", &shape, 0.5, shape, on_block, VXS_COVERAGE_EDGES);
	drift_bounds_the_change_of_every_gap();
	what_slides_along_a_plane_does_not_drift();
	vxs_shape* made[3] = {};
	must(vxs_shape_create_half_space({0, 1, 0}, 0, &made[0]));
	must(vxs_shape_create_box({0.2, 0.5, 0.4}, &made[1]));
	must(vxs_shape_create_box({0.1, 0.5, 0.1}, &made[2]));
	const Handle half_space(made[0]), table(made[1]), post(made[2]);
	btBoxShape table_shape(btVector3(btScalar(0.2), btScalar(0.5), btScalar(0.4))), post_shape(btVector3(btScalar(0.1), btScalar(0.5), btScalar(0.1)));
	btVoxelmapShape post_of_ours(post.get());
	faces_are_told_from_edges(shape);
	const btVector3 nowhere(0, 0, 0), below(0, btScalar(-0.5), 0);
	the_deepest_contact_is_never_left_out("tilted", shape, plane, nowhere, half_space.get(), false);
	the_deepest_contact_is_never_left_out("sliding", shape, plane, nowhere, half_space.get(), true);
	the_deepest_contact_is_never_left_out("on table", shape, table_shape, below, table.get(), true);
	the_deepest_contact_is_never_left_out("on post", shape, post_shape, below, post.get(), true);
	the_deepest_contact_is_never_left_out("on ours", shape, post_of_ours, below, post.get(), true);
	a_resting_body_notices_what_is_done_to_it(shape);
	return finish();
}
