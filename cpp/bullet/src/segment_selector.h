// Which contacts of a pair are given to Bullet's solver when segments of it have manifolds of their own. Knows no Bullet type, like
// the policy that it takes the points of a segment from.
#ifndef VOXSHELL_BULLET_SEGMENT_SELECTOR_H
#define VOXSHELL_BULLET_SEGMENT_SELECTOR_H

#include <cstdint>
#include <vector>

#include "contact_policy.h"

namespace voxshell_bullet
{
/// The segment of what sharp features of Bullet's own shapes touch.
const uint32_t kSegmentOfFeatures = UINT32_MAX;

/// Picks contacts for each segment. Allocates only while its buffers grow.
class SegmentSelector
{
public:
	/// What the manifolds are for.
	struct Rule
	{
		bool deepest;   // of each segment the deepest contact alone, at the end of the step; otherwise `points` of each
		size_t groups;  // manifolds that there can be
		size_t points;  // that one can have
		double margin;  // candidates whose gap exceeds this are not worth a constraint, m
		double size;    // as in ContactSelector::select
	};

	/// Fills `chosen`, and in it `segment` with the number of the manifold's group: that of the segment, but where there are more of
	/// them than manifolds. Then, of the deepest contacts those that are most urgent stay; otherwise the last manifold is for the
	/// contacts of all segments that remain.
	void select(const std::vector<Candidate>& candidates, const Rule& rule, std::vector<Candidate>& chosen);

private:
	/// Candidates of one segment: a part of `m_order`.
	struct Run
	{
		size_t begin, end;
		bool kept;
		double gap;  // the smallest
	};

	void sort_into_runs(const std::vector<Candidate>& candidates, double margin);
	void choose_deepest(const std::vector<Candidate>& candidates, const Run& run, double margin, std::vector<Candidate>& chosen);
	void choose_spread(const Rule& rule, uint32_t group, std::vector<Candidate>& chosen);
	void gather(const std::vector<Candidate>& candidates, const Run& run);

	ContactSelector m_selector;
	std::vector<uint32_t> m_order;
	std::vector<Run> m_runs;
	std::vector<Candidate> m_gathered;
};
}  // namespace voxshell_bullet

#endif
