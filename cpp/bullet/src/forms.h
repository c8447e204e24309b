// The forms in which the two shapes of a pair are tested: which of a field and a pointshell each brings.
#ifndef VOXSHELL_BULLET_FORMS_H
#define VOXSHELL_BULLET_FORMS_H

#include <voxshell/bullet/btVoxShellShape.h>

#include "pair_table.h"

namespace voxshell_bullet
{
struct Form
{
	const vxs_shape* shape = nullptr;
	bool has_pointshell = false, has_field = false;
	double inflation = 0;  // distance of Bullet's own surface outside the form, m
};

inline bool can_meet(const Form& first, const Form& second)
{
	return (first.has_pointshell && second.has_field) || (second.has_pointshell && first.has_field);
}

/// Returns the form of one of our shapes, or, when it is a field only and must bring samples, the sampled form.
Form form_of(const btVoxShellBaseShape& shape, bool must_sample);

/// Finds the forms of two of our shapes: samples are made for one of them when neither has any.
void forms_of(const btVoxShellBaseShape& first, const btVoxShellBaseShape& second, Form& first_form, Form& second_form);

/// Returns the table row of one of Bullet's shapes. Replaces a shape that only scales another by the inner shape, and
/// multiplies the scales into `factor`. Returns null for a type that Bullet does not have.
const PairRow* find_row(const btCollisionShape*& shape, double& factor);
}  // namespace voxshell_bullet

#endif
