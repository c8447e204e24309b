// Query by query: the answers of Bullet's world for Voxshell shapes, compared with those for Bullet shapes of the same
// geometry.
#include <algorithm>

#include "scene.h"
#include "table.h"

namespace
{
const btVector3 kHalf(btScalar(0.3), btScalar(0.2), btScalar(0.25));
const double mm = 1e-3;
int many(int count) { return on_valgrind() ? count / 100 : count; }

/// One geometry as a Bullet shape and as a Voxshell shape, each in its own world at the same pose.
struct Twins
{
	Scene stock_scene, our_scene;
	btCollisionObject stock, ours;
	btTransform pose = btTransform(btQuaternion(btVector3(1, 2, 3).normalized(), btScalar(0.7)), btVector3(2, -1, 3));

	Twins(btCollisionShape* by_stock, btCollisionShape* by_us)
	{
		stock.setCollisionShape(by_stock);
		ours.setCollisionShape(by_us);
		stock.setWorldTransform(pose);
		ours.setWorldTransform(pose);
		stock_scene.world.addCollisionObject(&stock);
		our_scene.world.addCollisionObject(&ours);
	}
	~Twins()
	{
		stock_scene.world.removeCollisionObject(&stock);
		our_scene.world.removeCollisionObject(&ours);
	}
};

struct Ray
{
	btVector3 from, to;
	double length() const { return double((to - from).length()); }
	btVector3 along() const { return (to - from).normalized(); }
};

/// Returns a ray from 2 m before to 2 m beyond `target`, which is in the body's frame.
Ray ray_through(Random& random, const btTransform& pose, const btVector3& target)
{
	const btVector3 middle = pose(target), along = random.direction();
	return {middle - along * 2, middle + along * 2};
}

struct Hit
{
	bool hit = false;
	double fraction = 1;
	btVector3 normal = btVector3(0, 0, 0);
};

Hit closest(Scene& scene, const Ray& ray, unsigned flags = 0)
{
	btCollisionWorld::ClosestRayResultCallback callback(ray.from, ray.to);
	callback.m_flags = flags;
	scene.world.rayTest(ray.from, ray.to, callback);
	return {callback.hasHit(), double(callback.m_closestHitFraction), callback.m_hitNormalWorld};
}

/// Adds the distance of two hits, measured across the surface: along a grazing ray a small difference of the surface is
/// a large one.
void take_across(Differences& d, const Ray& ray, const Hit& stock, const Hit& ours)
{
	const double steep = std::fabs(double(ray.along().dot(stock.normal))) * ray.length();
	d.take(stock.fraction * steep, ours.fraction * steep);
}

double degrees(const btVector3& a, const btVector3& b) { return double(btAcos(btClamped(a.dot(b), btScalar(-1), btScalar(1)))) * 180 / 3.14159265; }

/// Returns the entry of a ray into a box, by its planes: fraction of the ray, and the outward normal. The ray must meet
/// the box.
Hit enter_box(const btTransform& pose, const Ray& ray)
{
	const btVector3 from = pose.inverse()(ray.from), along = pose.getBasis().transpose() * (ray.to - ray.from);
	Hit entry{true, -1, btVector3(0, 0, 0)};
	for (int axis = 0; axis < 3; ++axis)
	{
		const btScalar side = along[axis] > 0 ? btScalar(-1) : btScalar(1);
		const double fraction = (double(side * kHalf[axis]) - double(from[axis])) / double(along[axis]);
		if (fraction > entry.fraction)
		{
			entry.fraction = fraction;
			entry.normal = pose.getBasis().getColumn(axis) * side;
		}
	}
	return entry;
}

void rays_at_a_box(Table& table, btCollisionShape* stock_box, btCollisionShape* stock_mesh, btCollisionShape* by_us)
{
	Twins twins(stock_box, by_us), mesh(stock_mesh, by_us);
	Random random(1);
	Differences where, where_mesh, direction;
	for (int i = 0; i < many(2000); ++i)
	{
		const btVector3 target(btScalar(random(-0.28, 0.28)), btScalar(random(-0.18, 0.18)), btScalar(random(-0.23, 0.23)));
		const Ray ray = ray_through(random, twins.pose, target);
		const Hit truth = enter_box(twins.pose, ray), box = closest(twins.stock_scene, ray), triangles = closest(mesh.stock_scene, ray), ours = closest(twins.our_scene, ray);
		CHECK(box.hit && triangles.hit && ours.hit);
		const double steep = std::fabs(double(ray.along().dot(truth.normal))) * ray.length();
		where.take(box.fraction * steep, ours.fraction * steep);
		where_mesh.take(triangles.fraction * steep, ours.fraction * steep);
		CHECK_NEAR(ours.fraction * steep, truth.fraction * steep, 2.5 * mm);
		// Compares normals away from edges only: at an edge every normal between those of the two faces is right.
		const btVector3 at = twins.pose.inverse()(ray.from + (ray.to - ray.from) * btScalar(truth.fraction));
		const btVector3 inside = kHalf - at.absolute();
		const int face = inside.minAxis();
		if (inside[(face + 1) % 3] > btScalar(0.01) && inside[(face + 2) % 3] > btScalar(0.01))
			direction.take(0, degrees(triangles.normal, ours.normal));
	}
	table.add("`rayTest` closest, box: hit across the surface, mm", where, 12 * mm, mm, "`btBoxShape` is up to 10 mm off; ours is within 2.5 mm of the closed form");
	table.add("`rayTest` closest, box of triangles: hit across the surface, mm", where_mesh, 2.5 * mm, mm, "stock: exact; ours: field error at edges");
	table.add("`rayTest` closest, box of triangles: normal 10 mm from edges, degrees", direction, 1, 1, "stock: exact");
}

/// Returns all crossings of a ray, in order.
std::vector<double> crossings(Scene& scene, const Ray& ray, std::vector<double>* steepness = nullptr)
{
	btCollisionWorld::AllHitsRayResultCallback callback(ray.from, ray.to);
	scene.world.rayTest(ray.from, ray.to, callback);
	std::vector<std::pair<double, double>> found;
	for (int i = 0; i < callback.m_hitFractions.size(); ++i)
		found.push_back({double(callback.m_hitFractions[i]), std::fabs(double(callback.m_hitNormalWorld[i].dot(ray.along())))});
	std::sort(found.begin(), found.end());
	std::vector<double> fractions;
	for (const auto& f : found)
	{
		fractions.push_back(f.first);
		if (steepness)
			steepness->push_back(f.second);
	}
	return fractions;
}

void rays_at_a_knot(Table& table, btCollisionShape* by_stock, btCollisionShape* by_us)
{
	Twins twins(by_stock, by_us);
	Random random(2);
	Differences where, direction, count, all;
	for (int i = 0; i < many(2000); ++i)
	{
		const Ray ray = ray_through(random, twins.pose, random.direction() * btScalar(random(0.2, 0.5)));
		std::vector<double> steep;
		const std::vector<double> stock = crossings(twins.stock_scene, ray, &steep), ours = crossings(twins.our_scene, ray);
		// A nearly grazing ray may hit one surface and miss the other, which is a hair away.
		bool clear = true;
		for (size_t k = 0; k < stock.size(); ++k)
			clear = clear && steep[k] > 0.3 && (k == 0 || (stock[k] - stock[k - 1]) * ray.length() > 0.01);
		if (!clear || (stock.empty() && !ours.empty()))
			continue;
		count.take(double(stock.size()), double(ours.size()));
		if (stock.empty() || stock.size() != ours.size())
			continue;
		for (size_t k = 0; k < stock.size(); ++k)
			all.take(stock[k] * ray.length() * steep[k], ours[k] * ray.length() * steep[k]);
		const Hit by_mesh = closest(twins.stock_scene, ray), by_field = closest(twins.our_scene, ray);
		take_across(where, ray, by_mesh, by_field);
		direction.take(0, degrees(by_mesh.normal, by_field.normal));
	}
	CHECK(count.count > many(1000));
	table.add("`rayTest` closest, knot: hit across the surface, mm", where, 1 * mm, mm, "stock: BVH mesh, exact; ours: field error");
	table.add("`rayTest` closest, knot: normal, degrees", direction, 25, 1, "stock: of the facet, 15 degrees from the next; ours: smooth across facets");
	table.add("`rayTest` all, knot: hits across the surface, mm", all, 1 * mm, mm, "as above");
	table.add("`rayTest` all, knot: number of hits", count, 0, 1, "rays steeper than 17 degrees to the surface");
}

void sweeps_at_a_knot(Table& table, btCollisionShape* by_stock, btCollisionShape* by_us)
{
	btSphereShape sphere(btScalar(0.08));
	btBoxShape box(btVector3(btScalar(0.08), btScalar(0.05), btScalar(0.06)));
	btCapsuleShape capsule(btScalar(0.05), btScalar(0.1));
	const std::pair<const char*, btConvexShape*> movers[] = {{"sphere", &sphere}, {"box", &box}, {"capsule", &capsule}};
	for (const auto& mover : movers)
	{
		Twins twins(by_stock, by_us);
		Random random(3);
		Differences where;
		for (int i = 0; i < many(500); ++i)
		{
			const Ray path = ray_through(random, twins.pose, random.direction() * btScalar(random(0, 0.5)));
			const btTransform from(random.rotation(), path.from), to(from.getRotation(), path.to);
			btCollisionWorld::ClosestConvexResultCallback stock(path.from, path.to), ours(path.from, path.to);
			twins.stock_scene.world.convexSweepTest(mover.second, from, to, stock);
			twins.our_scene.world.convexSweepTest(mover.second, from, to, ours);
			CHECK(stock.hasHit() == ours.hasHit());
			if (stock.hasHit() && ours.hasHit())
				where.take(double(stock.m_closestHitFraction) * path.length(), double(ours.m_closestHitFraction) * path.length());
		}
		table.add(text("`convexSweepTest`, %s at knot: distance swept, mm", mover.first), where, 1 * mm, mm, "both sweep against the triangles of the mesh");
	}
}

/// Returns the smallest distance that contactTest reports.
double contact_test(Scene& scene, btCollisionObject& probe)
{
	struct Closest : btCollisionWorld::ContactResultCallback
	{
		double distance = 1e30;
		btScalar addSingleResult(btManifoldPoint& point, const btCollisionObjectWrapper*, int, int, const btCollisionObjectWrapper*, int, int) override
		{
			distance = std::min(distance, double(point.getDistance()));
			return 0;
		}
	} callback;
	scene.world.contactTest(&probe, callback);
	return callback.distance;
}

void contact_tests_at_a_knot(Table& table, btCollisionShape* by_stock, btCollisionShape* by_us)
{
	Twins twins(by_stock, by_us);
	btSphereShape sphere(btScalar(0.1));
	btCollisionObject probe;
	probe.setCollisionShape(&sphere);
	Random random(4);
	Differences distance, reach;
	for (int i = 0; i < many(4000); ++i)
	{
		probe.setWorldTransform(btTransform(btQuaternion::getIdentity(), twins.pose(random.direction() * btScalar(random(0, 0.8)))));
		const double stock = contact_test(twins.stock_scene, probe), ours = contact_test(twins.our_scene, probe);
		// A triangle mesh is a surface: a body inside it touches it from the inside, or not at all.
		if (stock < -0.01 || ours < -0.05)
			continue;
		// Of those that do not touch, each side reports some that the other does not: see the note.
		const double touch = -1.5 * mm;
		if (std::fabs(std::min(stock, ours) - touch) > 1.5 * mm)
			reach.take(stock < touch, ours < touch);
		if (stock < 0 && ours < 0)
			distance.take(stock, ours);
	}
	CHECK(distance.count > many(50));
	table.add("`contactTest`, sphere at knot, to 10 mm deep: depth, mm", distance, 3 * mm, mm, "ours: up to s²/2 (1/R + 1/ρ) less deep, s the spacing, R and ρ the radii of the two surfaces");
	table.add("`contactTest`, sphere at knot: it touches", reach, 0, 1, "also reported: stock, up to 2 % of the radius apart; ours, up to the margin");
}

/// Returns the resting height of a 1 kg box, dropped flat from 0.1 m: height of its centre over the ground, less its
/// half height.
double rest_height(btCollisionShape* mover, btCollisionShape* ground, const btVector3& ground_at)
{
	Scene scene;
	scene.add(ground, 0, ground_at);
	btRigidBody* body = scene.add(mover, 1, btVector3(0, kHalf.y() + btScalar(0.1), 0));
	scene.step(600);
	return double(body->getWorldTransform().getOrigin().y() - kHalf.y());
}

void resting_heights(Table& table, btCollisionShape* by_stock, btCollisionShape* by_us)
{
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	btBoxShape slab(btVector3(2, btScalar(0.5), 2));
	btTriangleMesh triangles;
	add_box(triangles, btVector3(2, btScalar(0.5), 2));
	btBvhTriangleMeshShape mesh(&triangles, true);
	struct Ground
	{
		const char* name;
		btCollisionShape* shape;
		btVector3 at;
		double bound;
		const char* note;
	};
	const Ground grounds[] = {
		{"plane", &plane, btVector3(0, 0, 0), 1 * mm, "true height 0"},
		{"box", &slab, btVector3(0, btScalar(-0.5), 0), 1 * mm, "true height 0"},
		{"triangle mesh", &mesh, btVector3(0, btScalar(-0.5), 0), 1 * mm, "true height 0"},
	};
	for (const Ground& ground : grounds)
	{
		Differences d;
		d.take(rest_height(by_stock, ground.shape, ground.at), rest_height(by_us, ground.shape, ground.at));
		CHECK_NEAR(d.ours, 0, 0.1 * mm);
		table.add(text("box at rest on %s: gap, mm", ground.name), d, ground.bound, mm, ground.note);
	}
}

void bounding_boxes(Table& table, btCollisionShape* by_stock, btCollisionShape* by_us)
{
	Random random(6);
	Differences same, turned;
	const auto side = [](const btCollisionShape* shape, const btTransform& pose, int axis) {
		btVector3 low, high;
		shape->getAabb(pose, low, high);
		return double(high[axis] - low[axis]) - 2 * double(shape->getMargin());
	};
	for (int axis = 0; axis < 3; ++axis)
		same.take(side(by_stock, btTransform::getIdentity(), axis), side(by_us, btTransform::getIdentity(), axis));
	for (int i = 0; i < many(1000); ++i)
	{
		const btTransform pose(random.rotation(), random.direction());
		for (int axis = 0; axis < 3; ++axis)
			turned.take(side(by_stock, pose, axis), side(by_us, pose, axis));
	}
	table.add("`getAabb`, knot: sides without the margin, mm", same, 0.01 * mm, mm, "exact");
	table.add("`getAabb`, knot, turned: sides without the margin, mm", turned, 0.2 * mm, mm, "both: the box of the turned box; stock turns its margin of 0.1 mm, too");
}
}  // namespace

int main()
{
	vxs_cook_options options;
	must(vxs_cook_options_init(&options, sizeof options));
	options.sample_count = 8000;

	btTriangleMesh box_mesh;
	add_box(box_mesh, kHalf);
	btBoxShape stock_box(kHalf);
	btBvhTriangleMeshShape stock_box_mesh(&box_mesh, true);
	btVoxShellShape our_box(box_mesh, &options);

	options.sample_count = 20000;
	options.resolution = 256;
	btTriangleMesh knot_mesh;
	add_primitive(knot_mesh, VXS_PRIMITIVE_TORUS_KNOT, {0.4, 0.12}, {2, 3, 160, 24});
	btBvhTriangleMeshShape stock_knot(&knot_mesh, true);
	stock_knot.setMargin(btScalar(1e-4));
	btVoxShellShape our_knot(knot_mesh, &options);
	our_knot.setMargin(btScalar(1e-4));
	vxs_shape_info info;
	must(vxs_shape_info_init(&info, sizeof info));
	for (const btVoxShellShape* shape : {&our_box, &our_knot})
	{
		must(vxs_shape_get_info(shape->getShape(), &info));
		std::printf("voxel %.2f mm, field error %.2f mm, %llu samples, spacing %.2f mm\n", info.voxel_size / mm, info.field_error_max / mm, (unsigned long long)info.sample_count, info.spacing / mm);
	}

	Table table("queries");
	rays_at_a_box(table, &stock_box, &stock_box_mesh, &our_box);
	rays_at_a_knot(table, &stock_knot, &our_knot);
	sweeps_at_a_knot(table, &stock_knot, &our_knot);
	contact_tests_at_a_knot(table, &stock_knot, &our_knot);
	bounding_boxes(table, &stock_knot, &our_knot);
	resting_heights(table, &stock_box, &our_box);
	table.finish();
	return finish();
}
