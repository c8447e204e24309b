// Bound on the depth of samples behind the sheet of a concave shape.
#ifndef VOXSHELL_BULLET_SHEET_DEPTH_H
#define VOXSHELL_BULLET_SHEET_DEPTH_H

#include <algorithm>
#include <limits>

#include "vec.h"

namespace voxshell_bullet
{
/// A sample cannot be deeper than the deepest sample of the step before by more than it has moved since.
class SheetDepth
{
public:
	/// Starts a step: computes the limit from the step before.
	/// @param ours       form of the shape that brings the samples
	/// @param to_sheet   from the frame of the samples to the frame of the sheet
	/// @param center     of a ball around the samples, in their frame
	/// @param radius     of the ball, m
	/// @param unchanged  the sheet is the one of the step before
	void begin(const vxs_shape* ours, const Frame& to_sheet, const Vec& center, double radius, bool unchanged)
	{
		m_limit = unchanged && ours == m_shape ? m_deepest + displacement(m_frame, to_sheet, center, radius) : std::numeric_limits<double>::infinity();
		m_frame = to_sheet;
		m_shape = ours;
		m_deepest = 0;
	}

	/// Returns the largest possible depth of a sample in this step, m; infinite when it is not known, or when there is
	/// no sheet.
	double limit() const { return m_limit; }

	/// Adds the depth of a sample that this step's search has found, m.
	void add(double depth) { m_deepest = std::max(m_deepest, depth); }
	/// Takes the limit as the depth of the deepest sample, in a step without a search.
	void add_limit() { m_deepest = m_limit; }

private:
	Frame m_frame;  // of the last step, like all that follows
	const vxs_shape* m_shape = nullptr;
	double m_deepest = 0;
	double m_limit = std::numeric_limits<double>::infinity();
};
}  // namespace voxshell_bullet

#endif
