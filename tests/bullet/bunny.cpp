// The bunny of the papers, 34,839 vertices, 1 m, with about 35,000 samples: at rest on a plane, on a box and on a
// second bunny. Penetration is measured between the true meshes, with the exact distance to their triangles.
#include <algorithm>
#include <ctime>

#include "check.h"
#include "scene.h"
#include "true_mesh.h"

namespace
{
struct Timed
{
	std::vector<double> microseconds;
	double mean() const
	{
		double sum = 0;
		for (const double t : microseconds)
			sum += t;
		return sum / double(microseconds.size());
	}
	double at(double fraction)
	{
		std::sort(microseconds.begin(), microseconds.end());
		return microseconds[size_t(fraction * double(microseconds.size() - 1))];
	}
};

/// A scene with a timed narrowphase.
struct TimedScene : Scene
{
	static Timed& timed()
	{
		static Timed all;
		return all;
	}
	static void near(btBroadphasePair& pair, btCollisionDispatcher& dispatcher, const btDispatcherInfo& info)
	{
		const double start = now();
		btCollisionDispatcher::defaultNearCallback(pair, dispatcher, info);
		timed().microseconds.push_back(now() - start);
	}
	/// Returns microseconds of processor time of this thread, so that other programs do not count.
	static double now()
	{
		timespec t;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		return 1e6 * double(t.tv_sec) + 1e-3 * double(t.tv_nsec);
	}
	TimedScene() { dispatcher.setNearCallback(near); }
};

void report(const char* name, double deepest, double energy, int contacts, const Calm& calm)
{
	Timed& t = TimedScene::timed();
	std::printf("%s: penetration %.3f mm, energy %.2e J, %d contacts, narrowphase mean %.1f median %.1f p99 %.1f max %.1f us, %.4f of the points kept, normals turn %.1e rad\n", name, 1e3 * deepest, energy, contacts, t.mean(),
				t.at(0.5), t.at(0.99), t.at(1), calm.kept(), calm.turned());
}

/// Drops the body on ground that is flat at y = 0 and ends at x, z = ± `half`.
void rests_on(const char* name, btCollisionShape* ground, const btVector3& ground_at, double half, btVoxShellShape& bunny, const TrueMesh& mesh)
{
	TimedScene scene;
	scene.add(ground, 0, ground_at);
	btRigidBody* body = scene.add(&bunny, 1, btVector3(0, btScalar(1.0), 0));
	double energy = 0, deepest = -1;
	Calm calm;
	for (int i = 0; i < 600; ++i)
	{
		if (i == 200)
			TimedScene::timed().microseconds.clear();
		scene.step();
		if (i < 200)
			continue;
		calm.look(scene);
		const btTransform& pose = body->getWorldTransform();
		for (const vxs_vec3& v : mesh.vertices)
		{
			const btVector3 p = pose(btVector3(btScalar(v.x), btScalar(v.y), btScalar(v.z)));
			// Depth to the nearest face; points beyond the rim are not inside.
			deepest = std::max(deepest, std::min({-double(p.y()), half - std::fabs(double(p.x())), half - std::fabs(double(p.z()))}));
		}
		if (i >= 500)
			energy = std::max(energy, kinetic_energy(*body));
	}
	report(name, deepest, energy, scene.contacts(), calm);
	CHECK(deepest < 0.001);
	CHECK(deepest > -0.001);
	CHECK(energy < 1e-6);
}

void rests_on_a_bunny(btVoxShellShape& bunny, const TrueMesh& mesh, double offset)
{
	TimedScene scene;
	scene.add(&bunny, 0, btVector3(0, 0, 0));
	btVector3 low, high;
	bunny.getAabb(btTransform::getIdentity(), low, high);
	btRigidBody* body = scene.add(&bunny, 1, btVector3(btScalar(offset), high.y() - low.y() + btScalar(0.1), 0));
	body->setLinearFactor(btVector3(0, 1, 0));
	double deepest = -1, energy = 0;
	Calm calm;
	for (int i = 0; i < 600; ++i)
	{
		if (i == 200)
			TimedScene::timed().microseconds.clear();
		scene.step();
		if (i < 200)
			continue;
		calm.look(scene);
		energy = kinetic_energy(*body);
		if (i % 20 == 0)
		{
			const btTransform still = btTransform::getIdentity(), &pose = body->getWorldTransform();
			deepest = std::max({deepest, mesh.depth_in(pose, mesh, still, low, high), mesh.depth_in(still, mesh, pose, low, high)});
		}
	}
	char name[64];
	std::snprintf(name, sizeof name, "bunny on bunny, %.2f m off", offset);
	report(name, deepest, energy, scene.contacts(), calm);
	CHECK(deepest < 0.001);
	CHECK(deepest > -0.01);
}
}  // namespace

int main()
{
	if (on_valgrind() || !have_mesh("bunny_34k_filled.obj"))
		return 0;
	btTriangleMesh triangles;
	load_obj("bunny_34k_filled.obj", 1, triangles);
	vxs_cook_options options;
	must(vxs_cook_options_init(&options, sizeof options));
	options.sample_count = 35000;
	options.resolution = 192;
	btTransform frame;
	btVoxShellShape bunny(triangles, &options, &frame);
	vxs_shape_info info;
	must(vxs_shape_info_init(&info, sizeof info));
	must(vxs_shape_get_info(bunny.getShape(), &info));
	std::printf("bunny: %llu samples, spacing %.2f mm, voxel %.2f mm, field error %.3f mm\n", (unsigned long long)info.sample_count, 1e3 * info.spacing, 1e3 * info.voxel_size,
				1e3 * info.field_error_max);
	const TrueMesh mesh(bunny.getShape());

	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	rests_on("bunny on plane", &plane, btVector3(0, 0, 0), 1e9, bunny, mesh);
	btBoxShape box(btVector3(btScalar(0.5), btScalar(0.5), btScalar(0.5)));
	rests_on("bunny on box", &box, btVector3(0, btScalar(-0.5), 0), 0.5, bunny, mesh);
	// A floor of 3,200 triangles, each 5 cm wide.
	btTriangleMesh tiles;
	for (int i = -20; i < 20; ++i)
		for (int k = -20; k < 20; ++k)
		{
			const auto at = [](int x, int z) { return btVector3(btScalar(0.05 * x), 0, btScalar(0.05 * z)); };
			tiles.addTriangle(at(i, k), at(i, k + 1), at(i + 1, k));
			tiles.addTriangle(at(i + 1, k), at(i, k + 1), at(i + 1, k + 1));
		}
	btBvhTriangleMeshShape floor(&tiles, true);
	rests_on("bunny on mesh", &floor, btVector3(0, 0, 0), 1, bunny, mesh);
	rests_on_a_bunny(bunny, mesh, 0.05);
	rests_on_a_bunny(bunny, mesh, 0.02);
	return finish();
}
