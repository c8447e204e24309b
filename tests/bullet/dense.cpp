// With thousands of samples near the contact, only the most urgent of them are used. Bodies stand, slide and turn as if
// all were used.
#include "check.h"
#include "scene.h"

namespace
{
vxs_pose pose_of(const btRigidBody& body)
{
	const btTransform& at = body.getWorldTransform();
	const btVector3& p = at.getOrigin();
	btQuaternion q = at.getRotation();
	q.normalize();
	const double norm = std::sqrt(double(q.x()) * double(q.x()) + double(q.y()) * double(q.y()) + double(q.z()) * double(q.z()) + double(q.w()) * double(q.w()));
	return {{double(p.x()), double(p.y()), double(p.z())}, double(q.x()) / norm, double(q.y()) / norm, double(q.z()) / norm, double(q.w()) / norm};
}

struct Workspace
{
	vxs_workspace* get = nullptr;
	Workspace() { must(vxs_workspace_create(&get)); }
	~Workspace() { vxs_workspace_destroy(get); }
};

/// Returns the number of samples of either body within `distance` of the other one.
size_t near(const vxs_shape* a, const btRigidBody& at_a, const vxs_shape* b, const btRigidBody& at_b, double distance, const Workspace& workspace)
{
	const vxs_body body_a = {a, pose_of(at_a)}, body_b = {b, pose_of(at_b)};
	vxs_query query;
	must(vxs_query_init(&query, sizeof query));
	query.coverage = VXS_COVERAGE_SAMPLES;
	query.roles = VXS_ROLES_BOTH;
	query.max_separation = distance;
	size_t count = 0;
	vxs_query_contacts(&body_a, &body_b, &query, workspace.get, nullptr, 0, &count);
	return count;
}

/// Returns the depth of the deepest sample of either body in the other, m.
double depth(const vxs_shape* a, const btRigidBody& at_a, const vxs_shape* b, const btRigidBody& at_b, const Workspace& workspace)
{
	const vxs_body body_a = {a, pose_of(at_a)}, body_b = {b, pose_of(at_b)};
	vxs_query query;
	must(vxs_query_init(&query, sizeof query));
	query.coverage = VXS_COVERAGE_SAMPLES;
	query.roles = VXS_ROLES_BOTH;
	query.max_distance = 0.01;
	vxs_contact closest;
	bool found = false;
	must(vxs_query_distance(&body_a, &body_b, &query, workspace.get, &closest, &found));
	return found && closest.separation < 0 ? -closest.separation : 0;
}

/// A flat block lands on a larger one, and a block slides on it in several directions.
void blocks_stand_and_slide()
{
	const int directions = on_valgrind() ? 1 : 6;
	double speed = 0, spin = 0;
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.2, 0.05, 0.2}, {}, 16000, 48);
	const Handle larger = primitive(VXS_PRIMITIVE_BOX, {0.4, 0.05, 0.4}, {}, 32000, 96);
	btVoxShellShape block(made.get()), floor(larger.get());
	const Workspace workspace;
	for (int run = 0; run <= directions; ++run)
	{
		const bool slides = run > 0;
		const double angle = 1.0471975511966 * (run - 1);
		Scene scene;
		btRigidBody* ground = scene.add(&floor, 0, btVector3(0, btScalar(-0.05), 0));
		btRigidBody* body = scene.add(&block, 1, btVector3(0, btScalar(slides ? 0.05 : 0.07), btScalar(0.01)));
		if (slides)
		{
			body->setFriction(0);
			body->setLinearVelocity(btVector3(btScalar(0.1 * std::cos(angle)), 0, btScalar(0.1 * std::sin(angle))));
			body->setAngularVelocity(btVector3(0, btScalar(0.5), 0));
		}
		CHECK(slides || near(made.get(), *body, larger.get(), *ground, 0.03, workspace) > 2048);
		double deepest = 0;
		const int steps = on_valgrind() ? 5 : 200;
		for (int i = 0; i < steps; ++i)
		{
			scene.step();
			deepest = std::max(deepest, depth(made.get(), *body, larger.get(), *ground, workspace));
		}
		if (on_valgrind())
			continue;
		const btTransform& at = body->getWorldTransform();
		const double tilt = std::acos(std::min(1.0, double(at.getBasis()[1][1])));
		std::printf("block that %s: %.4f mm deep at most, %.4f mm off its height, tilted by %.1e rad, %.2e J, %d points\n", slides ? "slides" : "lands", 1e3 * deepest, 1e3 * (double(at.getOrigin().y()) - 0.05), tilt, kinetic_energy(*body), scene.contacts());
		CHECK(near(made.get(), *body, larger.get(), *ground, 1e-3, workspace) > 2048);
		CHECK(deepest < 5e-4);
		CHECK_NEAR(at.getOrigin().y(), 0.05, 1e-4);
		CHECK(tilt < 1e-3);
		if (slides)
		{
			// Bodies of flat faces are tested by their edges, which the rounding of the field does not reach.
			CHECK_NEAR(body->getLinearVelocity().length(), 0.1, 0.001);
			CHECK_NEAR(body->getAngularVelocity().y(), 0.5, 0.005);
			speed += double(body->getLinearVelocity().length()) / directions;
			spin += double(body->getAngularVelocity().y()) / directions;
		}
		else
		{
			CHECK(kinetic_energy(*body) < 1e-6);
		}
	}
	if (on_valgrind())
		return;
	std::printf("of 0.1 m/s and 0.5 rad/s there are %.4f and %.3f left after a second\n", speed, spin);
	CHECK_NEAR(speed, 0.1, 0.001);
	CHECK_NEAR(spin, 0.5, 0.005);
}

/// A fast-turning peg falls through a hole that is half a millimetre wider: its whole wall is near all the time.
void a_peg_falls_through_its_hole()
{
	const Handle hole = primitive(VXS_PRIMITIVE_HOLE, {0.1, 0.1, 0.1, 0.0505}, {96}, 16000, 96);
	const Handle peg = primitive(VXS_PRIMITIVE_PEG, {0.05, 0.1, 0.005}, {96}, 16000, 96);
	btVoxShellShape outer(hole.get()), inner(peg.get());
	const Workspace workspace;
	Scene scene;
	btRigidBody* sleeve = scene.add(&outer, 0, btVector3(0, 0, 0));
	btRigidBody* body = scene.add(&inner, 1, btVector3(0, 0, 0));
	body->setFriction(0);
	body->setAngularVelocity(btVector3(0, 20, 0));
	body->setLinearVelocity(btVector3(btScalar(0.2), 0, btScalar(0.1)));
	CHECK(near(hole.get(), *sleeve, peg.get(), *body, 1e-3, workspace) > 2048);
	double deepest = 0, aside = 0, tilt = 0;
	// After 0.1 s half of its length has left the hole.
	const int steps = on_valgrind() ? 3 : 20;
	for (int i = 0; i < steps; ++i)
	{
		scene.step();
		const btTransform& at = body->getWorldTransform();
		deepest = std::max(deepest, depth(hole.get(), *sleeve, peg.get(), *body, workspace));
		aside = std::max(aside, std::hypot(double(at.getOrigin().x()), double(at.getOrigin().z())));
		tilt = std::max(tilt, std::acos(std::min(1.0, double(at.getBasis()[1][1]))));
	}
	if (on_valgrind())
		return;
	const double fallen = -double(body->getWorldTransform().getOrigin().y());
	std::printf("peg: %.4f mm deep at most, %.4f mm aside, tilted by %.1e rad, fallen by %.2f mm\n", 1e3 * deepest, 1e3 * aside, tilt, 1e3 * fallen);
	CHECK(deepest < 2e-4);
	CHECK(aside < 8e-4 && aside > 1e-4);
	CHECK(tilt < 0.02);
	// Bullet integrates v += g dt before x += v dt.
	CHECK_NEAR(fallen, 10 * double(kStep) * double(kStep) * 20 * 21 / 2, 2e-3);
}
}  // namespace

int main()
{
	blocks_stand_and_slide();
	a_peg_falls_through_its_hole();
	return finish();
}
