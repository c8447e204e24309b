#include "ray.h"

#include <vector>

#include <BulletCollision/NarrowPhaseCollision/btRaycastCallback.h>

#include "log.h"
#include "vec.h"

namespace voxshell_bullet
{
#if defined(__GXX_RTTI) || defined(_CPPRTTI)
namespace
{
/// Handles one crossing of the surface as btTriangleRaycastCallback handles a triangle.
void report(btTriangleRaycastCallback& ray, const vxs_segment_hit& crossing)
{
	if (!(btScalar(crossing.fraction) < ray.m_hitFraction))
		return;
	const btVector3 normal = to_bt(crossing.normal);
	const bool from_behind = normal.dot(ray.m_to - ray.m_from) >= 0;
	if (from_behind && (ray.m_flags & btTriangleRaycastCallback::kF_FilterBackfaces))
		return;
	const bool flip = from_behind && !(ray.m_flags & btTriangleRaycastCallback::kF_KeepUnflippedNormal);
	ray.m_hitFraction = ray.reportHit(flip ? -normal : normal, btScalar(crossing.fraction), 0, -1);
}
}  // namespace

bool cast_ray_through_field(btTriangleCallback* callback, const vxs_shape* shape)
{
	btTriangleRaycastCallback* const ray = dynamic_cast<btTriangleRaycastCallback*>(callback);
	if (!ray)
		return false;
	const Vec from = to_vec(ray->m_from), to = to_vec(ray->m_to);

	// Most rays want the first crossing only, and cut the ray there.
	vxs_segment_hit first;
	vxs_status status = vxs_shape_query_segment(shape, from, to, &first);
	if (status == VXS_OK && !first.hit)
		return true;
	if (status == VXS_OK && first.fraction > 0)
	{
		report(*ray, first);
		if (ray->m_hitFraction <= btScalar(first.fraction))
			return true;
	}
	std::vector<vxs_segment_hit> crossings(16);
	size_t count = 0;
	while ((status = vxs_shape_query_crossings(shape, from, to, crossings.data(), crossings.size(), &count)) == VXS_TRUNCATED)
		crossings.resize(count);
	if (status != VXS_OK)
	{
		log_failure("a ray through a Voxshell shape", status);
		return true;
	}
	const double reported = first.fraction * (1 + 1e-6);
	for (size_t i = 0; i < count; ++i)
		if (first.fraction == 0 || crossings[i].fraction > reported)
			report(*ray, crossings[i]);
	return true;
}
#else
bool cast_ray_through_field(btTriangleCallback*, const vxs_shape*) { return false; }
#endif
}  // namespace voxshell_bullet
