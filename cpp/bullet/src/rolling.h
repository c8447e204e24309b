// Drops contacts that a body which rolls only seems to break.
#ifndef VOXSHELL_BULLET_ROLLING_H
#define VOXSHELL_BULLET_ROLLING_H

#include <vector>

#include "sample_query.h"
#include "wanted.h"

namespace voxshell_bullet
{
/// A contact's gap at the end of the step is that of a point that goes straight on towards a plane. Under a round body that
/// rolls, the points ahead come down at first, and so does the body over the points of the floor; none of them arrives.
/// Where a body rests on the deepest points of its round features, a sample that these do not let come deeper than themselves is no
/// contact.
class Rolling
{
public:
	/// Removes these samples.
	/// @param candidates  with their gaps
	void drop(const Side& first, const Side& second, const Wanted& wanted, SampleQuery& samples, std::vector<Candidate>& candidates);

private:
	/// The deepest contact of a direction.
	struct Support
	{
		size_t index;
		Vec normal;
		double distance;  // m
		double speed;     // along the normal, negative when approaching, m/s
		double rank;      // the contact with the least is the support of its direction
		bool holds;       // the body rests on it, and may roll
	};

	void find_supports(const Wanted& wanted, double flush, const std::vector<Candidate>& candidates);
	const Support* support_of(size_t index, const Vec& normal, double like) const;

	std::vector<Support> m_supports;
	std::vector<size_t> m_seem;                // numbers of the candidates that only seem to come deeper
	std::vector<const Support*> m_support_of;  // of each of them
};
}  // namespace voxshell_bullet

#endif
