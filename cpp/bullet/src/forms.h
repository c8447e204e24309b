// What the two shapes of a pair are tested as: which of a field and a pointshell each brings.
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
	double inflation = 0;  // how far outside the form the surface of Bullet's own shape lies, m
};

inline bool can_meet(const Form& first, const Form& second)
{
	return (first.has_pointshell && second.has_field) || (second.has_pointshell && first.has_field);
}

/// The form that one of ours has, or, when it is a field only and must bring samples, those it can be given.
Form form_of(const btVoxShellBaseShape& shape, bool must_sample);

/// The forms of two of ours: samples are made for one of them when neither has any.
void forms_of(const btVoxShellBaseShape& first, const btVoxShellBaseShape& second, Form& first_form, Form& second_form);

/// The row of one of Bullet's shapes. Goes through what only scales another, with the product in `factor`: `shape` is the one
/// inside then. Null for a type that Bullet does not have.
const PairRow* find_row(const btCollisionShape*& shape, double& factor);
}  // namespace voxshell_bullet

#endif
