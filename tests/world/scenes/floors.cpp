// W1, floors: a body keeps its speed that slides or rolls over a floor of triangles: squares, needles, rows that meet in T-junctions,
// and tiles side by side, with any number of triangles. Over tiles only cooked bodies slide, and nothing rolls: Bullet's own shapes
// may be stopped at a corner where four tiles meet, and what rolls loses speed.
#include "scenes.h"

namespace
{
const double kHalf = 8, kThick = 0.3;

/// Change of a speed that does not count, m/s, and of a spin, rad/s.
const double kSlow = 3e-3, kSlowSpin = 1e-2;

/// Makes a slab with its top at y = 0 between x and z of `low` and `high`, whose two large faces are rows along x of the numbers
/// of squares.
Triangles slab(const std::array<double, 2>& low, const std::array<double, 2>& high, const std::vector<int>& rows)
{
	Triangles made;
	const int n = int(rows.size());
	const auto z = [&](int row) { return low[1] + (high[1] - low[1]) * row / n; };
	const auto quad = [&](const btVector3& a, const btVector3& b, const btVector3& c, const btVector3& d) {
		const int first = int(made.corners.size());
		for (const btVector3& p : {a, b, c, d})
			made.corners.push_back(p);
		made.quad(first, first + 1, first + 2, first + 3);
	};
	for (int row = 0; row < n; ++row)
	{
		const int count = rows[size_t(row)];
		const auto x = [&](int i) { return low[0] + (high[0] - low[0]) * i / count; };
		const double a = z(row), b = z(row + 1);
		for (int i = 0; i < count; ++i)
		{
			quad(at(x(i), 0, a), at(x(i), 0, b), at(x(i + 1), 0, b), at(x(i + 1), 0, a));
			quad(at(x(i), -kThick, a), at(x(i + 1), -kThick, a), at(x(i + 1), -kThick, b), at(x(i), -kThick, b));
		}
		quad(at(low[0], 0, a), at(low[0], -kThick, a), at(low[0], -kThick, b), at(low[0], 0, b));
		quad(at(high[0], 0, a), at(high[0], 0, b), at(high[0], -kThick, b), at(high[0], -kThick, a));
	}
	for (const bool is_far : {false, true})
	{
		const int count = is_far ? rows.back() : rows.front();
		const double side = is_far ? high[1] : low[1];
		for (int i = 0; i < count; ++i)
		{
			const double a = low[0] + (high[0] - low[0]) * i / count, b = low[0] + (high[0] - low[0]) * (i + 1) / count;
			if (is_far)
				quad(at(a, 0, side), at(a, -kThick, side), at(b, -kThick, side), at(b, 0, side));
			else
				quad(at(a, 0, side), at(b, 0, side), at(b, -kThick, side), at(a, -kThick, side));
		}
	}
	return made;
}

/// The shapes of a floor: one body each.
using Floor = std::vector<std::unique_ptr<btCollisionShape>>;

/// Makes a floor of 12 to about 10,000 triangles, or of tiles if these are allowed; returns what it is.
const char* any_floor(Random& random, bool may_be_tiles, Floor& shapes)
{
	const auto add = [&](const Triangles& triangles) {
		shapes.emplace_back(new btVoxShellShape(*mesh_of(triangles)));
	};
	const std::array<double, 2> low = {-kHalf, -kHalf}, high = {kHalf, kHalf};
	switch (random.whole(0, may_be_tiles ? 3 : 2))
	{
	case 0:
	{
		const int n = int(random.decade(1, 50));
		add(slab(low, high, std::vector<int>(size_t(n), n)));
		return "squares";
	}
	case 1:
		add(slab(low, high, std::vector<int>(size_t(random.whole(1, 3)), random.whole(100, 400))));
		return "needles";
	case 2:
	{
		std::vector<int> rows(size_t(random.whole(2, 12)));
		for (int& count : rows)
			count = random.whole(1, 40);
		add(slab(low, high, rows));
		return "rows with T-junctions";
	}
	default:
	{
		const int n = random.whole(2, 4);
		const auto line = [&](int i) { return kHalf * (2.0 * i / n - 1); };
		for (int i = 0; i < n; ++i)
			for (int k = 0; k < n; ++k)
				add(slab({line(i), line(k)}, {line(i + 1), line(k + 1)}, {1}));
		return "tiles";
	}
	}
}

/// A body on a floor.
struct Start
{
	btCollisionShape* shape;
	btTransform place;
	btVector3 velocity, spin;
	double friction, seconds;
};

/// What became of it.
struct End
{
	btVector3 velocity, spin, place;
};

/// Runs a body over a floor, or without one over Bullet's plane.
End run(const Start& start, const Floor* floor)
{
	Scene scene;
	btStaticPlaneShape plane(at(0, 1, 0), 0);
	const auto add = [&](btCollisionShape* shape) {
		scene.add(shape, 0, at(0, 0, 0))->setFriction(btScalar(start.friction));
	};
	if (floor == nullptr)
		add(&plane);
	else
		for (const auto& shape : *floor)
			add(shape.get());
	btRigidBody* const body = scene.add(start.shape, 10, start.place);
	body->setFriction(btScalar(start.friction));
	body->setLinearVelocity(start.velocity);
	body->setAngularVelocity(start.spin);
	End end;
	for (int i = 0; i < int(60 * start.seconds + 0.5); ++i)
		step(scene);
	end.velocity = body->getLinearVelocity();
	end.spin = body->getAngularVelocity();
	end.place = body->getWorldTransform().getOrigin();
	return end;
}

/// Complains unless a body on a floor keeps its velocity, spin and height. What Bullet's plane would do is printed beside: its own
/// cylinders gain speed on it.
void keeps_moving(Complaints& complaints, const Start& start, const Floor& floor, double part, const char* name)
{
	const End end = run(start, &floor);
	const double speed = double(start.velocity.length()), lost = double((end.velocity - start.velocity).length()), spun = double((end.spin - start.spin).length());
	if (std::getenv("VOXSHELL_SHOW"))
	{
		const End beside = run(start, nullptr);
		std::printf("%s, shape %d: of %.4g m/s lost %.2g, on a plane %.2g; of %.4g rad/s %.2g, %.2g; height %.2g m, %.2g\n", name, start.shape->getShapeType(), speed, lost, double((beside.velocity - start.velocity).length()),
					double(start.spin.length()), spun, double((beside.spin - start.spin).length()), double(end.place.y() - start.place.getOrigin().y()), double(beside.place.y() - start.place.getOrigin().y()));
	}
	complaints.at_most("change of velocity, m/s", lost, std::max(part * speed, kSlow));
	complaints.at_most("change of spin, rad/s", spun, std::max(part * std::max(double(start.spin.length()), speed), kSlowSpin));
	complaints.at_most("change of height, m", std::fabs(double(end.place.y() - start.place.getOrigin().y())), 1e-3);
}

btVector3 ahead_of(double heading) { return at(std::cos(heading), 0, -std::sin(heading)); }

/// A box, a crate, a cup or a cylinder slides without friction.
Complaints slide(Random& random)
{
	Complaints complaints;
	Floor floor;
	const int kind = random.whole(0, 4);
	const char* const name = any_floor(random, kind > 1, floor);
	const btVector3 half = at(random.between(0.1, 0.4), random.between(0.05, 0.2), random.between(0.1, 0.4));
	std::unique_ptr<btCollisionShape> stock;
	std::unique_ptr<Part> part;
	Start start = {};
	double low = 0;
	const double x = double(half.x()), y = double(half.y()), z = double(half.z());
	switch (kind)
	{
	case 0:
		stock.reset(new btBoxShape(half));
		low = y;
		break;
	case 1:
		stock.reset(new btCylinderShape(at(x, y, x)));
		low = y;
		break;
	case 2:
		part.reset(new Part(box(x, y, z)));
		low = y;
		break;
	case 3:
		part.reset(new Part(crate({x, z}, {x, z}, 2 * y, 0.15 * std::min(x, y))));
		break;
	default:
		part.reset(new Part(cup(x, x, 2 * y, 0.2 * std::min(x, y), 24)));
		break;
	}
	const double heading = random.between(0, 6.3), speed = random.decade(0.1, 5), seconds = 1.5;
	const btVector3 ahead = ahead_of(heading);
	const btTransform place(about(at(0, 1, 0), random.between(0, 6.3)), ahead * btScalar(-0.5 * speed * seconds) + at(random.between(-0.5, 0.5), low + 1e-4, random.between(-0.5, 0.5)));
	start = {part ? part->shape() : stock.get(), part ? part->placed(place) : place, ahead * btScalar(speed), at(0, 0, 0), 0, seconds};
	keeps_moving(complaints, start, floor, 1e-3, name);
	return complaints;
}

/// A cylinder or a ball rolls without sliding. Most keep all their speed; a cylinder may lose a little at an edge of the floor.
Complaints roll(Random& random)
{
	Complaints complaints;
	Floor floor;
	const char* const name = any_floor(random, false, floor);
	const double radius = random.between(0.05, 0.4), speed = random.decade(0.1, 5), seconds = 1.5;
	btCylinderShapeZ cylinder(at(radius, radius, radius * random.between(0.3, 2)));
	btSphereShape ball{btScalar(radius)};
	const double heading = random.between(0, 6.3);
	const btVector3 ahead = ahead_of(heading);
	const btQuaternion turn = about(at(0, 1, 0), heading) * about(at(0, 0, 1), random.between(0, 6.3));
	const btTransform place(turn, ahead * btScalar(-0.5 * speed * seconds) + at(random.between(-0.5, 0.5), radius + 1e-4, random.between(-0.5, 0.5)));
	btCollisionShape* const shape = random.coin() ? static_cast<btCollisionShape*>(&ball) : &cylinder;
	const Start start = {shape, place, ahead * btScalar(speed), at(0, 1, 0).cross(ahead) * btScalar(speed / radius), 0.5, seconds};
	keeps_moving(complaints, start, floor, 0.02, name);
	return complaints;
}
}  // namespace

int main()
{
	run_class("slide", 20, slide);
	run_class("roll", 10, roll);
	return finish();
}
