#include "sample_segments.h"

#include <algorithm>

#include "edge_contacts.h"

namespace voxshell_bullet
{
void SampleSegments::list_level(const Side& first, const Side& second, uint32_t level)
{
	m_level.clear();
	append_level(first, level);
	m_level_of_first = m_level.size();
	append_level(second, level);
}

void SampleSegments::append_level(const Side& side, uint32_t level)
{
	size_t count = 0;
	if (!side.has_pointshell || vxs_shape_get_segments(side.shape, level, nullptr, 0, &count) != VXS_TRUNCATED)
		return;
	const size_t before = m_level.size();
	m_level.resize(before + count);
	vxs_shape_get_segments(side.shape, level, m_level.data() + before, count, &count);
}

void SampleSegments::prefer_last_regions(vxs_query& query, vxs_query_segmentation& regions) const
{
	regions.preferred_segments = m_feature_regions.data();
	query.segmentation = &regions;
	query.preferred = m_features.data();
	query.preferred_count = uint32_t(m_features.size());
}

void SampleSegments::find(unsigned segmentation, const SampleQuery& samples, const std::vector<uint32_t>& features, std::vector<uint32_t>& segments)
{
	const size_t count = features.size();
	segments.assign(count, 0);
	if (segmentation == VXS_SEGMENTATION_LEVEL)
	{
		for (size_t i = 0; i < count; ++i)
			segments[i] = segment_in_level(features[i]);
	}
	else if (segmentation == VXS_SEGMENTATION_REGION)
	{
		size_t found = 0;
		if (vxs_workspace_get_segments(samples.workspace(), segments.data(), count, &found) != VXS_OK)
			segments.assign(count, 0);
		remember_regions(features, segments);
	}
}

/// Returns the number of the segment that holds a sample, counted over both sides.
uint32_t SampleSegments::segment_in_level(uint32_t feature) const
{
	const auto middle = m_level.begin() + std::ptrdiff_t(m_level_of_first);
	const uint32_t sample = feature & ~kOfSecond;
	const bool of_second = sample != feature;
	const auto begin = of_second ? middle : m_level.begin(), end = of_second ? m_level.end() : middle;
	return uint32_t(std::upper_bound(begin, end, sample) - m_level.begin()) - 1;
}

void SampleSegments::remember_regions(const std::vector<uint32_t>& features, const std::vector<uint32_t>& segments)
{
	m_regions.clear();
	for (size_t i = 0; i < features.size(); ++i)
		if (!(features[i] & kOfEdge))
			m_regions.emplace_back(features[i], segments[i]);
	std::sort(m_regions.begin(), m_regions.end());
	m_features.clear();
	m_feature_regions.clear();
	for (const auto& region : m_regions)
	{
		m_features.push_back(region.first);
		m_feature_regions.push_back(region.second);
	}
}
}  // namespace voxshell_bullet
