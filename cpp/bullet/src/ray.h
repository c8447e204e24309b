// Rays of the stock world through a field.
#ifndef VOXSHELL_BULLET_RAY_H
#define VOXSHELL_BULLET_RAY_H

#include <voxshell/voxshell.h>

class btTriangleCallback;

namespace voxshell_bullet
{
/// Answers a ray query of Bullet from the field. Bullet asks a concave shape for the triangles along a ray, and tests
/// each. If `callback` belongs to such a ray query, this function instead reports the crossings of the surface of
/// `shape`'s field, in order, under the same flags, as part 0 and triangle -1.
///
/// @return false when `callback` belongs to another query (or the compiler keeps no type information to tell): nothing
///     was done
bool cast_ray_through_field(btTriangleCallback* callback, const vxs_shape* shape);
}  // namespace voxshell_bullet

#endif
