#include "sample_cache.h"

#include <limits>

namespace voxshell_bullet
{
bool SampleCache::has_forms_of(const Side& first, const Side& second) const { return Source(first) == m_first && Source(second) == m_second; }

bool SampleCache::covers(const Wanted& wanted) const { return m_found && m_complete && wanted.distance + wanted.slope * wanted.now.moved_since(m_search_frame) <= m_distance; }

double SampleCache::last_change(const Wanted& wanted) const { return m_found ? wanted.slope * wanted.now.moved_since(m_step_frame) : std::numeric_limits<double>::infinity(); }

void SampleCache::begin_search(const Side& first, const Side& second, const Instant& now, double distance)
{
	m_first = Source(first);
	m_second = Source(second);
	m_search_frame = now.relative;
	m_distance = distance;
}

void SampleCache::end_step(const Instant& now, bool found)
{
	m_found = found;
	m_step_frame = now.relative;
}
}  // namespace voxshell_bullet
