// Recordings of Bullet worlds: the calls that the plugin makes for a pair of bodies that fall onto each other.
// VOXSHELL_CLI names the program `voxshell`, which replays the file.
#include "check.h"
#include "scene.h"

namespace
{
/// A ring falls onto a box, which stands on a plane of Bullet's.
void fall(int steps)
{
	Handle ring_shape = primitive(VXS_PRIMITIVE_TORUS, {0.3, 0.1}, {16, 8}, 150, 12);
	Handle box_shape = primitive(VXS_PRIMITIVE_BOX, {0.5, 0.2, 0.5}, {}, 150, 12);
	btVoxShellShape ring(ring_shape.get()), box(box_shape.get());
	ring_shape.reset();
	box_shape.reset();
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	Scene scene;
	scene.add(&plane, 0, btVector3(0, 0, 0));
	scene.add(&box, 2, btVector3(0, btScalar(0.2), 0));
	scene.add(&ring, 1, btVector3(btScalar(0.1), btScalar(0.503), 0));
	int most = 0;
	for (int step = 0; step < steps; ++step)
	{
		scene.step();
		most = std::max(most, scene.contacts());
	}
	CHECK(most >= 6);
}
}  // namespace

int main()
{
	vxs_record_options options;
	must(vxs_record_options_init(&options, sizeof options));
	options.wait = 1;
	// The recording that tests/golden keeps is short.
	const char* kept = std::getenv("VOXSHELL_RECORDING");
	const char* file = kept != nullptr ? kept : "bullet_record.vxr";
	must(vxs_record_start(file, &options));
	fall(kept != nullptr || on_valgrind() ? 20 : 60);
	vxs_record_report report;
	must(vxs_record_report_init(&report, sizeof report));
	must(vxs_record_stop(&report));
	CHECK(report.lost == 0 && report.records > 100);
	std::printf("%llu records, %llu bytes\n", static_cast<unsigned long long>(report.records), static_cast<unsigned long long>(report.bytes));
	if (const char* program = std::getenv("VOXSHELL_CLI"))
		CHECK(std::system(("\"" + std::string(program) + "\" replay \"" + file + "\"").c_str()) == 0);
	return finish();
}
