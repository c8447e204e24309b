// Once warm, a step with resting and rolling Voxshell pairs allocates nothing, in the plugin, in Bullet or in the core. A
// pair takes little memory.
#include "check.h"
#include "scene.h"

// (The sanitizers bring an allocator of their own.)
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <atomic>

#include "heap.h"
extern "C" {
void* __libc_malloc(size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void* __libc_calloc(size_t, size_t);
}
namespace
{
std::atomic<long> allocations{0};
}
extern "C" {
// Counts every allocation of the process, in any language.
void* malloc(size_t size)
{
	++allocations;
	return __libc_malloc(size);
}
void* realloc(void* old, size_t size)
{
	++allocations;
	return __libc_realloc(old, size);
}
void* calloc(size_t count, size_t size)
{
	++allocations;
	return __libc_calloc(count, size);
}
void* memalign(size_t alignment, size_t size)
{
	++allocations;
	return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, size_t alignment, size_t size)
{
	++allocations;
	*out = __libc_memalign(alignment, size);
	return *out ? 0 : 12;
}
}

namespace
{
void nothing_is_allocated(const btVoxShellSettings& settings, btScalar stiffness)
{
	const Handle made = primitive(VXS_PRIMITIVE_HOLE, {0.3, 0.2, 0.25, 0.1}, {}, 3000, 48);
	btVoxShellShape shape(made.get());
	shape.setStiffness(stiffness);
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	btConvexHullShape hull;
	for (int i = 0; i < 8; ++i)
		hull.addPoint(btVector3(i & 1 ? 1 : -1, i & 2 ? btScalar(0.1) : btScalar(-0.1), i & 4 ? 1 : -1));
	Scene scene(settings);
	scene.add(&plane, 0, btVector3(0, 0, 0));
	scene.add(&hull, 0, btVector3(0, btScalar(0.1), 0));
	scene.add(&shape, 1, btVector3(0, btScalar(0.5), 0));
	scene.add(&shape, 1, btVector3(btScalar(0.05), 1, 0));
	scene.add(&shape, 1, btVector3(3, btScalar(0.21), 0))->setLinearVelocity(btVector3(1, 0, 0));
	scene.step(300);
	const long before = allocations;
	scene.step(200);
	const long after = allocations;
	std::printf("allocations in 200 warm steps: %ld, with %d contacts\n", after - before, scene.contacts());
	CHECK(scene.contacts() > 10);
	CHECK(after == before);
}

void a_pair_takes_little_memory()
{
	const int kBodies = 300;
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.05, 0.03, 0.04}, {}, 100, 12);
	btVoxShellShape shape(made.get());
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	Scene scene;
	scene.add(&plane, 0, btVector3(0, 0, 0));
	for (int i = 0; i < kBodies; ++i)
		scene.add(&shape, 1, btVector3(btScalar(i), btScalar(0.03), 0));
	const double before = heap_in_use();
	if (before == 0)
	{
		std::printf("skipped: the memory of a pair needs glibc 2.33\n");
		return;
	}
	scene.step(100);
	const double each = (heap_in_use() - before) / kBodies;
	std::printf("memory of a pair: %.0f bytes\n", each);
	CHECK(scene.contacts() >= 4 * kBodies);
	CHECK(each < 48000);
}
}  // namespace

int main()
{
	if (on_valgrind())
		return 0;
	for (const unsigned segmentation : {VXS_SEGMENTATION_NONE, VXS_SEGMENTATION_LEVEL, VXS_SEGMENTATION_REGION})
	{
		btVoxShellSettings settings;
		settings.m_segmentation = segmentation;
		nothing_is_allocated(settings, 0);
	}
	btVoxShellSettings patches;
	patches.m_patchResolution = btScalar(0.03);
	nothing_is_allocated(patches, 20000);
	a_pair_takes_little_memory();
	return finish();
}
#else
int main()
{
	std::printf("skipped: needs glibc, and no sanitizer\n");
	return 0;
}
#endif
