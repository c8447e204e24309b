// The forms of the two bodies of a pair, kept from step to step and made again when one of Bullet's shapes changes.
#ifndef VOXSHELL_BULLET_PAIR_FORMS_H
#define VOXSHELL_BULLET_PAIR_FORMS_H

#include "concave_patch.h"
#include "sheet_depth.h"
#include "side.h"
#include "stock_shapes.h"

namespace voxshell_bullet
{
class PairForms
{
public:
	/// Fills in the forms in which both sides are tested; false when they cannot be tested, or are known to be apart.
	/// @param distance  up to which contacts are wanted, m
	bool find(Side& first, Side& second, double distance);

	/// Returns whether one side is a sheet of triangles.
	bool has_sheet() const { return m_patch.shape() != nullptr; }
	/// Returns whether the triangles of the sheet have changed in this step.
	bool sheet_changed() const { return m_sheet_changed; }
	SheetDepth& sheet_depth() { return m_sheet_depth; }

private:
	bool find_with_stock(Side& ours, Side& theirs, double distance);
	bool use_stock_shape(const btCollisionShape* shape, const PairRow& row, double factor, bool sampled, Side& theirs);
	bool use_patch(const btCollisionShape* shape, const Side& ours, double distance, Side& theirs);

	StockShape m_stock;
	ConcavePatch m_patch;
	bool m_sheet_changed = false;
	SheetDepth m_sheet_depth;
};
}  // namespace voxshell_bullet

#endif
