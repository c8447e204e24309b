// Contacts of the sharp features of one of Bullet's shapes with the field of ours.
#ifndef VOXSHELL_BULLET_FEATURE_CONTACTS_H
#define VOXSHELL_BULLET_FEATURE_CONTACTS_H

#include <vector>

#include "side.h"
#include "wanted.h"

namespace voxshell_bullet
{
/// Remembers the points of features that it has found. The `touch` of a candidate is the index of its point.
class FeatureContacts
{
public:
	/// Forgets all points.
	void clear() { m_touches.clear(); }
	/// Searches for points up to a distance, m, and appends their contacts to `candidates`.
	void find(const Side& first, const Side& second, double distance, const Wanted& wanted, std::vector<Candidate>& candidates);
	/// Appends the contacts of the points that were found before, up to the wanted distance.
	void find_again(const Side& first, const Side& second, const Wanted& wanted, std::vector<Candidate>& candidates);
	/// Updates the contacts of features in `candidates` to the present poses; false when this needs a new search.
	bool update(const Side& first, const Side& second, std::vector<Candidate>& candidates);

private:
	/// One shape's features in the field of the other.
	struct Test;

	template <class F>
	void for_each_test(const Side& first, const Side& second, double distance, const F& run);
	void append(const Test& test, const Wanted& wanted, std::vector<Candidate>& candidates) const;

	std::vector<SharpFeatures::Touch> m_touches;
};
}  // namespace voxshell_bullet

#endif
