// One side of a pair in a step: a body's shape, pose and motion, and the form in which the shape is tested.
#ifndef VOXSHELL_BULLET_SIDE_H
#define VOXSHELL_BULLET_SIDE_H

#include "contact_policy.h"
#include "forms.h"
#include "sharp_features.h"

struct btCollisionObjectWrapper;

namespace voxshell_bullet
{
struct Side : Form
{
	const btCollisionShape* stock = nullptr;        // Bullet's own, or
	const btVoxShellBaseShape* voxshell = nullptr;  // ours
	vxs_pose pose;
	Motion motion;
	double extent = 0;  // radius of the shape around the body's centre of mass

	const SharpFeatures* features = nullptr;  // of Bullet's own shape

	Form& form() { return *this; }

	/// Returns half the diagonal of the box of one of our shapes, metres; 0 for Bullet's own.
	double size() const { return voxshell ? double(voxshell->getLocalHalfExtents().length()) : 0; }
	/// Returns the distance between neighbouring samples of one of our shapes, metres; 0 for Bullet's own.
	double sample_spacing() const { return voxshell ? voxshell->getSampleSpacing() : 0.0; }
	/// Returns the margin of one of our shapes, metres; 0 for Bullet's own.
	double margin() const { return voxshell ? double(voxshell->getMargin()) : 0.0; }
	/// Returns the Lipschitz constant of the shape's field: no two of its points differ by more than this per metre.
	/// The fields of Bullet's own shapes are exact distances.
	double slope() const { return voxshell && has_field ? std::max(1.0, voxshell->getFieldSlope()) : 1.0; }
	bool is_plane() const;
};

/// Makes a side without its form. The motion is the one that the solver will see: velocities before the step, and the
/// forces gathered for it.
Side side_of(const btCollisionObjectWrapper* wrap, double dt);

/// Returns the smallest size of a voxel of our shapes, m.
double resolution_of(const Side& first, const Side& second);
/// Samples that move by more than this number of our voxels in a step are left to the continuous queries.
const double kLongestStride = 8;

/// Sets the radii of both motions. Only points within reach of the other body can hit it, however large a body is.
void limit_radii(Side& first, Side& second);
}  // namespace voxshell_bullet

#endif
