// Rays of the stock world through a field.
#ifndef VOXSHELL_BULLET_RAY_H
#define VOXSHELL_BULLET_RAY_H

#include <voxshell/voxshell.h>

class btTriangleCallback;

namespace voxshell_bullet
{
/// Bullet asks a concave shape for the triangles along a ray, and tests each. If `callback` is such a question, answers it from
/// the field of `shape` instead: with the crossings of its surface, in order, under the same flags, as part 0 and triangle -1.
///
/// @return  false when it is another question (or the compiler keeps no type information to tell): nothing was done
bool cast_ray_through_field(btTriangleCallback* callback, const vxs_shape* shape);
}  // namespace voxshell_bullet

#endif
