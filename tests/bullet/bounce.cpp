// A ball of 0.5 m radius dropped from a gap of 1 m rebounds to e² h at a true 200 Hz, in unpatched Bullet.
#include "check.h"
#include "scene.h"

namespace
{
struct Result
{
	double rebound;  // apex of the gap after the first impact, m
	double deepest;  // m, negative when it sank in
	int landing_step;
};

Result drop(btCollisionShape* ball, btCollisionShape* ground, const btVector3& ground_at, double gap, double e, bool ball_first)
{
	Scene scene;
	btRigidBody *floor = nullptr, *body = nullptr;
	// The broadphase orders a pair by insertion: both orders of the bodies are tried.
	if (!ball_first)
		floor = scene.add(ground, 0, ground_at, 1);
	body = scene.add(ball, 1, btVector3(0, btScalar(0.5 + gap), 0), btScalar(e));
	if (ball_first)
		floor = scene.add(ground, 0, ground_at, 1);
	(void)floor;

	Result result = {0, gap, 0};
	bool rising = false;
	for (int step = 0; step < 600; ++step)
	{
		scene.step();
		const double height = double(body->getWorldTransform().getOrigin().y()) - 0.5;
		const double speed = double(body->getLinearVelocity().y());
		result.deepest = std::min(result.deepest, height);
		if (!rising && speed > 0.05)
			rising = true, result.landing_step = step;
		if (rising)
		{
			result.rebound = std::max(result.rebound, height);
			if (speed < -0.1)
				break;
		}
	}
	return result;
}
}  // namespace

int main()
{
	const Handle sphere = primitive(VXS_PRIMITIVE_SPHERE, {0.5}, {5}, 0, 96);
	vxs_shape_info info;
	must(vxs_shape_info_init(&info, sizeof info));
	must(vxs_shape_get_info(sphere.get(), &info));
	std::printf("ball: %llu samples, spacing %.4f m\n", (unsigned long long)info.sample_count, info.spacing);
	btVoxShellShape ball(sphere.get());
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	btBoxShape box(btVector3(2, 1, 2));

	for (const double gap : {1.0, 0.5})
		for (const double e : {0.1, 0.5, 0.9})
			for (int which = 0; which < 4; ++which)
			{
				const bool on_box = which & 1, ball_first = which & 2;
				const Result r = drop(&ball, on_box ? static_cast<btCollisionShape*>(&box) : &plane, btVector3(0, on_box ? -1 : 0, 0), gap, e, ball_first);
				const double ideal = e * e * gap;
				std::printf("gap %.1f e %.1f on %s%s: rebound %.4f m, ideal %.4f (%+.2f %%), deepest %.3f mm\n", gap, e, on_box ? "box" : "plane",
							ball_first ? ", ball first" : "", r.rebound, ideal, 100 * (r.rebound / ideal - 1), -1e3 * r.deepest);
				CHECK_NEAR(r.rebound, ideal, 0.03 * ideal);
				CHECK(r.deepest > -0.0005);
				if (on_valgrind())
					return finish();
			}
	return finish();
}
