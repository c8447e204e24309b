#include "pair_forms.h"

#include <string>

#include "log.h"

namespace voxshell_bullet
{
bool PairForms::find(Side& first, Side& second, double distance)
{
	m_sheet_changed = false;
	if (!first.voxshell || !second.voxshell)
		return first.voxshell ? find_with_stock(first, second, distance) : (second.voxshell && find_with_stock(second, first, distance));

	forms_of(*first.voxshell, *second.voxshell, first, second);
	if (!can_meet(first, second))
	{
		warn_once(first.has_field || second.has_field ? "two voxelmap shapes without triangles do not collide: neither brings samples"
													  : "two pointshell shapes do not collide: neither brings a field");
		return false;
	}
	return true;
}

/// Fills in the forms of one of our shapes and of one of Bullet's.
bool PairForms::find_with_stock(Side& ours, Side& theirs, double distance)
{
	const btCollisionShape* shape = theirs.stock;
	double factor = 1;
	const PairRow* row = find_row(shape, factor);
	if (!row || row->treatment == Treatment::IGNORED || row->treatment == Treatment::STOCK)
	{
		warn_once(std::string("a Voxshell shape does not collide with ") + (row ? row->name : "a shape of unknown type"));
		return false;
	}

	const bool can_be_sampled = row->treatment == Treatment::FORM && row->kind->surface;
	ours.form() = form_of(*ours.voxshell, !can_be_sampled);
	const bool found = row->treatment == Treatment::FORM ? use_stock_shape(shape, *row, factor, can_be_sampled && !ours.has_pointshell, theirs)
														 : use_patch(shape, ours, distance, theirs);
	if (!found)
		return false;
	if (!can_meet(ours, theirs))
	{
		warn_once(std::string("a voxelmap shape without triangles does not collide with ") + row->name + ": neither brings samples");
		return false;
	}
	return true;
}

/// Fills in the form of one of Bullet's convex shapes, or of its plane.
bool PairForms::use_stock_shape(const btCollisionShape* shape, const PairRow& row, double factor, bool sampled, Side& theirs)
{
	if (!m_stock.update(shape, *row.kind, factor, sampled))
	{
		warn_once(std::string("a Voxshell shape does not collide with ") + row.name + " that has no volume");
		return false;
	}
	theirs.shape = m_stock.shape();
	theirs.has_pointshell = sampled;
	theirs.has_field = !sampled;
	theirs.inflation = m_stock.inflation();
	theirs.features = &m_stock.features();
	return true;
}

/// Fills in the sheet of the triangles of one of Bullet's concave shapes near our shape; false when there are none.
bool PairForms::use_patch(const btCollisionShape* shape, const Side& ours, double distance, Side& theirs)
{
	const Frame to_theirs = Frame(theirs.pose).inverse() * Frame(ours.pose);
	const Vec center = to_vec(ours.voxshell->getLocalCenter()), at = to_theirs(center);
	const Vec half = to_theirs.turned_box(to_vec(ours.voxshell->getLocalHalfExtents())) + Vec{distance, distance, distance};
	const bool near = m_patch.update(static_cast<const btConcaveShape*>(shape), at - half, at + half, ours.size());
	m_sheet_changed = !m_patch.unchanged();
	m_sheet_depth.begin(ours.shape, to_theirs, center, ours.size(), m_patch.unchanged());
	if (!near)
		return false;
	theirs.shape = m_patch.shape();
	theirs.has_field = true;
	theirs.features = &m_patch.features();
	return true;
}
}  // namespace voxshell_bullet
