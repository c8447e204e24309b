// Far from the origin only the rounding of btScalar is lost, which is negligible in double precision: the core takes
// both poses in double and computes in the bodies' own frames.
#include <limits>

#include "check.h"
#include "scene.h"

namespace
{
/// Returns the resting height over the ground of a box of half height 0.2 m, `far` metres above and beside the origin.
double rests_at(btVoxShellShape& shape, double far)
{
	Scene scene;
	btStaticPlaneShape plane(btVector3(0, 1, 0), btScalar(far));
	scene.add(&plane, 0, btVector3(0, 0, 0));
	btRigidBody* body = scene.add(&shape, 1, btVector3(btScalar(far), btScalar(far + 0.25), btScalar(-far)));
	scene.step(on_valgrind() ? 60 : 400);
	CHECK(scene.contacts() >= 4);
	// Far away a float position cannot follow a small velocity, so the body jitters by its rounding.
	CHECK(kinetic_energy(*body) < 1e-6 || (far > 0 && sizeof(btScalar) == 4) || on_valgrind());
	return double(body->getWorldTransform().getOrigin().y()) - double(btScalar(far));
}
}  // namespace

int main()
{
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.3, 0.2, 0.25}, {}, 400, 32);
	btVoxShellShape shape(made.get());
	for (const double far : {0.0, 1000.0, 100000.0})
	{
		// A few roundings of the coordinate, plus the rounding of the samples.
		const double bound = 4 * far * double(std::numeric_limits<btScalar>::epsilon()) + 1e-6;
		const double height = rests_at(shape, far);
		std::printf("%zu-byte scalars, %6.0f m from the origin: %.3e m off its height, bound %.1e m\n", sizeof(btScalar), far, height - 0.2, bound);
		CHECK_NEAR(height, 0.2, bound);
	}
	return finish();
}
