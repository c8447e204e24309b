// Keeps contacts on the side of a thin part from which the bodies came.
#ifndef VOXSHELL_BULLET_KEPT_SIDES_H
#define VOXSHELL_BULLET_KEPT_SIDES_H

#include <vector>

#include "side.h"

namespace voxshell_bullet
{
/// The nearest face leads a point out of a body. Half a wall deep that is the far side of the wall: contacts there would lock the
/// bodies, or pull one through the other. The contacts of the last step tell the side from which they came.
class KeptSides
{
public:
	/// Turns back the contacts that lead to the far side of a part: they get the depth below the near side.
	void keep(const Side& first, const Side& second, std::vector<Candidate>& candidates) const;
	/// Remembers the sides of the contacts of a step: of those that are no deeper than `shallow`, m, and of those whose side is known
	/// from the last step. What is deep at first may have come from either side.
	void remember(const Side& first, const Side& second, double shallow, const std::vector<Candidate>& chosen);
	void forget() { m_kept.clear(); }

private:
	/// A contact in the frame of the body whose surface it is on.
	struct Kept
	{
		uint32_t of_second;  // the other body's
		Vec place;           // of the other body's point, m
		Vec outward;
		double depth;  // m

		/// Returns whether the contact's face goes on at that of another one, as far as both are deep.
		bool goes_on_at(const Kept& other) const;
	};
	const Kept* turned_from(const Kept& contact) const;

	std::vector<Kept> m_kept, m_last;
};
}  // namespace voxshell_bullet

#endif
