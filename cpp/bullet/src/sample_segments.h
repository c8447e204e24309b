// Segments of the samples of a pair: those of a level of the sphere tree, or the regions of connected contacts.
#ifndef VOXSHELL_BULLET_SAMPLE_SEGMENTS_H
#define VOXSHELL_BULLET_SAMPLE_SEGMENTS_H

#include <utility>
#include <vector>

#include "sample_query.h"

namespace voxshell_bullet
{
class SampleSegments
{
public:
	/// Lists the segments of a level in the forms of both sides.
	void list_level(const Side& first, const Side& second, uint32_t level);

	/// Makes a query give the regions of the last search the same numbers again.
	void prefer_last_regions(vxs_query& query, vxs_query_segmentation& regions) const;

	/// Fills `segments` for the samples that a search has found.
	/// @param segmentation  one of VXS_SEGMENTATION_
	/// @param samples       with the search as its last query
	/// @param features      of the samples that it has found
	void find(unsigned segmentation, const SampleQuery& samples, const std::vector<uint32_t>& features, std::vector<uint32_t>& segments);

private:
	void append_level(const Side& side, uint32_t level);
	uint32_t segment_in_level(uint32_t feature) const;
	void remember_regions(const std::vector<uint32_t>& features, const std::vector<uint32_t>& segments);

	// First samples of the segments of a level: the first side's, then the second's; and the number of the first
	// side's.
	std::vector<uint32_t> m_level;
	size_t m_level_of_first = 0;

	// Regions of the last search by ascending feature.
	std::vector<std::pair<uint32_t, uint32_t>> m_regions;
	std::vector<uint32_t> m_features, m_feature_regions;
};
}  // namespace voxshell_bullet

#endif
