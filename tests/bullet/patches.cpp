// Contacts of shapes with a stiffness against closed forms: the depth at rest (Hertz, elastic foundation), tilting, friction
// and spinning; one manifold for each patch; the same answer for both orders of the bodies.
#include <algorithm>
#include <set>

#include "check.h"
#include "scene.h"

namespace
{
const double kPi = 3.14159265358979;
const double kGravity = 10;
const double kMass = 2;

/// Returns the field of a body without a mesh, with the samples of a mesh.
Handle without_facets(vxs_shape* body, const Handle& samples)
{
	const Handle own(body);
	vxs_field* field = nullptr;
	vxs_pointshell* shell = nullptr;
	vxs_shape* both = nullptr;
	must(vxs_shape_get_field(body, &field));
	must(vxs_shape_get_pointshell(samples.get(), &shell));
	must(vxs_shape_create(field, shell, &both));
	vxs_field_release(field);
	vxs_pointshell_release(shell);
	return Handle(both);
}

Handle ball(double radius)
{
	vxs_shape* body = nullptr;
	must(vxs_shape_create_sphere(radius, &body));
	return without_facets(body, primitive(VXS_PRIMITIVE_SPHERE, {radius}, {3}, 500, 16));
}

Handle block(double x, double y, double z)
{
	vxs_shape* body = nullptr;
	must(vxs_shape_create_box(vxs_vec3{x, y, z}, &body));
	return without_facets(body, primitive(VXS_PRIMITIVE_BOX, {x, y, z}, {}, 500, 16));
}

/// A cylinder along y.
Handle cylinder(double radius, double half)
{
	vxs_shape* body = nullptr;
	must(vxs_shape_create_cylinder(radius, half, 1, &body));
	return without_facets(body, primitive(VXS_PRIMITIVE_CYLINDER, {radius, half}, {32}, 500, 16));
}

btVoxShellSettings settings_of(double exponent, double resolution)
{
	btVoxShellSettings settings;
	settings.m_patchExponent = btScalar(exponent);
	settings.m_patchResolution = btScalar(resolution);
	settings.m_patchDissipation = btScalar(5);
	return settings;
}

/// A body of 2 kg on a plane.
struct OnPlane
{
	btStaticPlaneShape plane{btVector3(0, 1, 0), 0};
	Scene scene;
	btRigidBody* body;

	OnPlane(btVoxShellShape& shape, const btVoxShellSettings& settings, double height, bool plane_first = true) : scene(settings)
	{
		if (plane_first)
			scene.add(&plane, 0, btVector3(0, 0, 0));
		body = scene.add(&shape, btScalar(kMass), btVector3(btScalar(0.1), btScalar(height), btScalar(-0.2)));
		if (!plane_first)
			scene.add(&plane, 0, btVector3(0, 0, 0));
	}
	double height() const { return double(body->getWorldTransform().getOrigin().y()); }
};

/// Returns the stiffness of the law with exponent 1/2 that has the force of Hertz, for an effective modulus.
double hertz_stiffness(double modulus, double radius) { return modulus / (kPi * std::sqrt(radius)); }

const double kRadius = 0.5, kDepth = 0.005;

/// The modulus with which a ball of 2 kg rests at kDepth: m g = 4/3 E √R d^(3/2).
double hertz_modulus() { return kMass * kGravity / (4.0 / 3 * std::sqrt(kRadius) * std::pow(kDepth, 1.5)); }

void a_ball_rests_at_the_depth_of_hertz()
{
	const Handle made = ball(kRadius);
	btVoxShellShape shape(made.get());
	shape.setStiffness(btScalar(hertz_stiffness(hertz_modulus(), kRadius)));
	for (const bool plane_first : {true, false})
	{
		OnPlane on(shape, settings_of(0.5, kRadius / 200), kRadius - 0.004, plane_first);
		on.scene.step(on_valgrind() ? 1 : 150);
		const double depth = kRadius - on.height();
		// The force of Hertz at this depth.
		const double force = 4.0 / 3 * hertz_modulus() * std::sqrt(kRadius) * std::pow(depth, 1.5);
		std::printf("ball, plane %s: depth %.5f mm, force of Hertz %.4f N, weight %.4f N\n", plane_first ? "first" : "last", 1e3 * depth, force, kMass * kGravity);
		CHECK(on_valgrind() || std::fabs(force - kMass * kGravity) <= 0.01 * kMass * kGravity);
		CHECK(on.scene.dispatcher.getNumManifolds() == 1);
	}
}

const double kX = 0.4, kY = 0.2, kZ = 0.3;  // half extents of the block, m

void a_block_rests_and_tilts_as_on_an_elastic_foundation()
{
	const Handle made = block(kX, kY, kZ);
	btVoxShellShape shape(made.get());
	const double area = 4 * kX * kZ, depth = 0.001, stiffness = kMass * kGravity / (area * depth);
	// The plane is rigid. Pressure ends at the sides of a compliant block, so that its area is less by the depth.
	shape.setStiffness(btScalar(stiffness));
	OnPlane on(shape, settings_of(1, 0.004), kY - 0.0005);
	on.scene.step(on_valgrind() ? 1 : 150);
	const double lost = 1 - depth * (1 / kX + 1 / kZ) / 2;  // to first order: the mean depth of the frustum
	std::printf("block: depth %.5f mm, expected %.5f\n", 1e3 * (kY - on.height()), 1e3 * depth / lost);
	CHECK(on_valgrind() || std::fabs((kY - on.height()) * lost / depth - 1) <= 0.01);
	CHECK(on.body->getLinearVelocity().length() < btScalar(1e-4) || on_valgrind());

	// A torque about z tilts it by the torque over k ∫ x² dA, while all of the face stays in contact. The weight tilts it on.
	if (on_valgrind())
		return;
	const double tilt = 0.001, second_moment = area * kX * kX / 3, torque = (stiffness * second_moment - kMass * kGravity * kY) * tilt;
	for (int i = 0; i < 150; ++i)
	{
		on.body->applyTorque(btVector3(0, 0, btScalar(torque)));
		on.scene.step();
	}
	const double found = std::asin(double(on.body->getWorldTransform().getBasis()[1][0]));
	std::printf("block: tilts by %.6f rad, expected %.6f\n", found, tilt);
	CHECK_NEAR(found, tilt, 0.015 * tilt);
}

/// Returns the angular deceleration about y, rad/s², of a body that spins in its patch.
double spin_down(OnPlane& on, int steps)
{
	on.scene.step(100);
	const btScalar spin = 8;
	on.body->setLinearVelocity(btVector3(0, on.body->getLinearVelocity().y(), 0));
	on.body->setAngularVelocity(btVector3(0, spin, 0));
	on.scene.step(steps);
	return double(spin - on.body->getAngularVelocity().y()) / (steps * double(kStep));
}

void spinning_has_the_friction_of_the_patch()
{
	if (on_valgrind())
		return;
	const double friction = 0.25;  // the product of both
	{
		// Uniform pressure on a disk: 2/3 μ N R.
		const double radius = 0.3, depth = 0.001;
		const Handle made = cylinder(radius, 0.2);
		btVoxShellShape shape(made.get());
		shape.setStiffness(btScalar(kMass * kGravity / (kPi * radius * radius * depth)));
		OnPlane on(shape, settings_of(1, 0.01), 0.2 - depth);
		const double found = spin_down(on, 20), expected = 2.0 / 3 * friction * kMass * kGravity * radius * double(on.body->getInvInertiaTensorWorld()[1][1]);
		std::printf("disk: spins down by %.5f rad/s², expected %.5f\n", found, expected);
		CHECK_NEAR(found, expected, 0.015 * expected);
	}
	{
		// The pressure of Hertz, on the area of this law, twice that of Hertz: 3 π / 16 μ N a.
		const Handle made = ball(kRadius);
		btVoxShellShape shape(made.get());
		shape.setStiffness(btScalar(hertz_stiffness(hertz_modulus(), kRadius)));
		OnPlane on(shape, settings_of(0.5, kRadius / 200), kRadius - kDepth);
		const double radius = std::sqrt(2 * kRadius * kDepth);
		const double found = spin_down(on, 20), expected = 3 * kPi / 16 * friction * kMass * kGravity * radius * double(on.body->getInvInertiaTensorWorld()[1][1]);
		std::printf("ball: spins down by %.5f rad/s², expected %.5f\n", found, expected);
		CHECK_NEAR(found, expected, 0.02 * expected);
	}
	{
		// And a block that slides is slowed by μ g.
		const Handle made = block(kX, 0.05, kZ);
		btVoxShellShape shape(made.get());
		shape.setStiffness(btScalar(kMass * kGravity / (4 * kX * kZ * 0.001)));
		OnPlane on(shape, settings_of(1, 0.01), 0.05 - 0.001);
		on.scene.step(100);
		on.body->setLinearVelocity(btVector3(3, 0, 0));
		on.scene.step(40);
		CHECK_NEAR(3 - double(on.body->getLinearVelocity().x()), friction * kGravity * 40 / 200, 0.01 * friction * kGravity * 40 / 200);
	}
}

/// Velocities and angular velocities that a step gives two bodies which are pressed into each other.
struct Push
{
	btVector3 linear[2], angular[2];
};

Push push(btVoxShellShape& a, btVoxShellShape& b, bool a_first)
{
	Scene scene(settings_of(1, 0));
	scene.world.setGravity(btVector3(0, 0, 0));
	// The solver takes the points one after the other, and its order differs: let it converge.
	scene.world.getSolverInfo().m_numIterations = 200;
	const btTransform at_a(btQuaternion(btVector3(1, 2, 3).normalized(), btScalar(0.7)), btVector3(btScalar(0.1), btScalar(-0.3), btScalar(0.2)));
	const btTransform at_b(btQuaternion(btVector3(-1, 1, 2).normalized(), btScalar(1.9)), btVector3(btScalar(0.35), btScalar(0.32), btScalar(0.3)));
	btRigidBody *first = nullptr, *second = nullptr;
	if (a_first)
		first = scene.add(&a, 1, at_a);
	second = scene.add(&b, 1, at_b);
	if (!a_first)
		first = scene.add(&a, 1, at_a);
	// And it applies friction in a direction that depends on the order.
	first->setFriction(0);
	scene.step();
	CHECK(scene.contacts() > 0);
	return {{first->getLinearVelocity(), second->getLinearVelocity()}, {first->getAngularVelocity(), second->getAngularVelocity()}};
}

void the_order_of_the_bodies_changes_nothing()
{
	const Handle made_a = primitive(VXS_PRIMITIVE_BLOB, {0.8}, {2}, 1000, 48), made_b = primitive(VXS_PRIMITIVE_TORUS, {0.35, 0.15}, {32, 16}, 1000, 48);
	btVoxShellShape a(made_a.get()), b(made_b.get());
	a.setStiffness(btScalar(2e4));
	b.setStiffness(btScalar(5e4));
	const Push one = push(a, b, true), other = push(a, b, false);
	for (int i = 0; i < 2; ++i)
	{
		const double size = double(one.linear[i].length()), turned = double(one.angular[i].length());
		std::printf("body %d: %.6f m/s and %.6f rad/s; in the other order %.2e and %.2e of that off\n", i, size, turned, double((one.linear[i] - other.linear[i]).length()) / size,
					double((one.angular[i] - other.angular[i]).length()) / turned);
		CHECK(size > 1e-3 && turned > 1e-4);
		CHECK(double((one.linear[i] - other.linear[i]).length()) <= 1e-3 * size);
		CHECK(double((one.angular[i] - other.angular[i]).length()) <= 1e-3 * turned);
	}
	// Momentum is conserved.
	CHECK(double((one.linear[0] + one.linear[1]).length()) <= 1e-4 * double(one.linear[0].length()));
}

/// A table on four feet has four patches, each with a manifold of its own, and its points share the weight.
void each_patch_has_a_manifold()
{
	btTriangleMesh mesh;
	add_box(mesh, btVector3(btScalar(0.5), btScalar(0.06), btScalar(0.5)), btTransform(btQuaternion::getIdentity(), btVector3(0, btScalar(0.1), 0)));
	for (const int x : {-1, 1})
		for (const int z : {-1, 1})
			add_box(mesh, btVector3(btScalar(0.1), btScalar(0.1), btScalar(0.1)), btTransform(btQuaternion::getIdentity(), btVector3(btScalar(0.35 * x), 0, btScalar(0.35 * z))));
	vxs_cook_options options;
	must(vxs_cook_options_init(&options, sizeof options));
	options.resolution = 64;
	options.sample_count = 1000;
	btVoxShellShape shape(mesh, &options);
	shape.setStiffness(btScalar(kMass * kGravity / (4 * 0.04 * 0.004)));
	OnPlane on(shape, settings_of(1, 0.01), 0.1 - 0.003);
	std::vector<std::set<int>> ages(4);
	on.scene.step(on_valgrind() ? 2 : 150);
	CHECK(on.scene.dispatcher.getNumManifolds() == 4);
	double impulse = 0;
	for (int m = 0; m < on.scene.dispatcher.getNumManifolds(); ++m)
	{
		const btPersistentManifold* manifold = on.scene.dispatcher.getManifoldByIndexInternal(m);
		CHECK(manifold->getNumContacts() > 0 && manifold->getNumContacts() <= 4);
		const btVector3 first = manifold->getContactPoint(0).getPositionWorldOnB();
		for (int i = 0; i < manifold->getNumContacts(); ++i)
		{
			const btManifoldPoint& point = manifold->getContactPoint(i);
			impulse += double(point.m_appliedImpulse);
			// All points of a manifold are under one foot, and have been there from step to step.
			CHECK(double((point.getPositionWorldOnB() - first).length()) < 0.3);
			CHECK(on_valgrind() || point.getLifeTime() > 50);
		}
	}
	CHECK(on_valgrind() || std::fabs(impulse / (kMass * kGravity * double(kStep)) - 1) < 0.01);
}

void without_a_stiffness_contacts_are_points()
{
	const Handle made = block(kX, kY, kZ);
	btVoxShellShape shape(made.get());
	shape.setStiffness(-1);
	CHECK(shape.getStiffness() == 0);
	OnPlane on(shape, btVoxShellSettings(), kY);
	on.scene.step(on_valgrind() ? 2 : 50);
	CHECK(on.scene.contacts() > 0);
	CHECK(on_valgrind() || std::fabs(on.height() - kY) < 1e-4);
	for (int m = 0; m < on.scene.dispatcher.getNumManifolds(); ++m)
		for (int i = 0; i < on.scene.dispatcher.getManifoldByIndexInternal(m)->getNumContacts(); ++i)
			CHECK(!(on.scene.dispatcher.getManifoldByIndexInternal(m)->getContactPoint(i).m_contactPointFlags & BT_CONTACT_FLAG_HAS_CONTACT_CFM));
}

/// A ball that falls on its patch never has more energy than at the start, whatever the stiffness.
void no_energy_is_gained()
{
	if (on_valgrind())
		return;
	const Handle made = ball(kRadius);
	for (const double stiffness : {1e4, 1e6, 1e8})
	{
		btVoxShellShape shape(made.get());
		shape.setStiffness(btScalar(stiffness));
		OnPlane on(shape, settings_of(1, kRadius / 50), kRadius + 0.05);
		on.body->setAngularVelocity(btVector3(3, 1, 2));
		const auto energy = [&] { return kinetic_energy(*on.body) + kMass * kGravity * (on.height() - kRadius); };
		const double start = energy();
		double most = 0;
		for (int i = 0; i < 120; ++i)
		{
			on.scene.step();
			most = std::max(most, energy());
		}
		CHECK(most <= start * 1.002 + kMass * kGravity * kGravity * double(kStep * kStep));
		CHECK(on.height() > 0.5 * kRadius);
	}
}
}  // namespace

int main()
{
	a_ball_rests_at_the_depth_of_hertz();
	a_block_rests_and_tilts_as_on_an_elastic_foundation();
	spinning_has_the_friction_of_the_patch();
	the_order_of_the_bodies_changes_nothing();
	each_patch_has_a_manifold();
	without_a_stiffness_contacts_are_points();
	no_energy_is_gained();
	return finish();
}
