#include "forms.h"

#include <BulletCollision/CollisionShapes/btUniformScalingShape.h>

namespace voxshell_bullet
{
Form form_of(const btVoxShellBaseShape& shape, bool must_sample)
{
	Form form;
	form.shape = shape.getQueryShape();
	form.has_field = shape.hasField();
	form.has_pointshell = shape.hasPointShell();
	if (must_sample && !form.has_pointshell && shape.getSampledShape())
	{
		form.shape = shape.getSampledShape();
		form.has_pointshell = true;
	}
	return form;
}

void forms_of(const btVoxShellBaseShape& first, const btVoxShellBaseShape& second, Form& first_form, Form& second_form)
{
	first_form = form_of(first, false);
	second_form = form_of(second, !first_form.has_pointshell);
	if (!second_form.has_pointshell)
		first_form = form_of(first, true);
}

const PairRow* find_row(const btCollisionShape*& shape, double& factor)
{
	factor = 1;
	const PairRow* row = find_pair(shape->getShapeType());
	while (row && row->treatment == Treatment::SCALED)
	{
		const btUniformScalingShape* scaled = static_cast<const btUniformScalingShape*>(shape);
		factor *= double(scaled->getUniformScalingFactor());
		shape = scaled->getChildShape();
		row = find_pair(shape->getShapeType());
	}
	return row;
}
}  // namespace voxshell_bullet
