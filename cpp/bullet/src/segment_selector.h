// Chooses the contacts of a pair that are given to Bullet's solver when segments of the pair have manifolds of their
// own. Knows no Bullet type, like the policy that selects the points of a segment.
#ifndef VOXSHELL_BULLET_SEGMENT_SELECTOR_H
#define VOXSHELL_BULLET_SEGMENT_SELECTOR_H

#include <cstdint>
#include <vector>

#include "contact_policy.h"

namespace voxshell_bullet
{
/// Segment of the contacts of sharp features of Bullet's own shapes.
const uint32_t kSegmentOfFeatures = UINT32_MAX;

/// Picks contacts for each segment. Allocates only while its buffers grow.
class SegmentSelector
{
public:
	/// Rule of the selection.
	struct Rule
	{
		bool deepest;   // take only the deepest contact of each segment at the end of the step; otherwise `points` of each
		size_t groups;  // largest number of manifolds
		size_t points;  // largest number of points in a manifold
		double margin;  // candidates whose gap exceeds this are not worth a constraint, m
		double size;    // as in ContactSelector::select
	};

	/// Fills `chosen`, and its `segment` with the number of the manifold's group: that of the segment, unless there are
	/// more segments than manifolds. Then, of the deepest contacts, the most urgent stay; otherwise the last manifold
	/// holds the contacts of all remaining segments.
	void select(const std::vector<Candidate>& candidates, const Rule& rule, std::vector<Candidate>& chosen);

private:
	/// Candidates of one segment: a range of `m_order`.
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
