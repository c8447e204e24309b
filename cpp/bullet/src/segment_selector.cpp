#include "segment_selector.h"

#include <limits>

namespace voxshell_bullet
{
namespace
{
/// A contact of the step before is replaced by one of its segment that is lower by this fraction of the margin.
const double kNotable = 0.02;
}  // namespace

void SegmentSelector::sort_into_runs(const std::vector<Candidate>& candidates, double margin)
{
	m_order.clear();
	for (uint32_t i = 0; i < candidates.size(); ++i)
		if (candidates[i].gap <= margin || candidates[i].pinned)
			m_order.push_back(i);
	std::sort(m_order.begin(), m_order.end(), [&](uint32_t i, uint32_t j) {
		const Candidate &a = candidates[i], &b = candidates[j];
		return a.segment != b.segment ? a.segment < b.segment : a.feature < b.feature;
	});
	m_runs.clear();
	for (size_t i = 0; i < m_order.size(); ++i)
	{
		const Candidate& c = candidates[m_order[i]];
		if (i == 0 || c.segment != candidates[m_order[i - 1]].segment)
			m_runs.push_back({i, i, false, std::numeric_limits<double>::infinity()});
		Run& run = m_runs.back();
		run.end = i + 1;
		run.kept = run.kept || c.kept || c.pinned;
		run.gap = std::min(run.gap, c.gap);
	}
}

/// Chooses all contacts of a segment that wait for their launch, and the lowest, unless one of the step before is as
/// low.
void SegmentSelector::choose_deepest(const std::vector<Candidate>& candidates, const Run& run, double margin, std::vector<Candidate>& chosen)
{
	const Candidate *lowest = nullptr, *kept = nullptr;
	double pinned = std::numeric_limits<double>::infinity();
	for (size_t i = run.begin; i < run.end; ++i)
	{
		const Candidate& c = candidates[m_order[i]];
		if (!lowest || c.gap < lowest->gap)
			lowest = &c;
		if (c.kept && (!kept || c.gap < kept->gap))
			kept = &c;
		if (c.pinned)
		{
			chosen.push_back(c);
			pinned = std::min(pinned, c.gap);
		}
	}
	if (lowest->gap >= pinned - kNotable * margin)
		return;
	chosen.push_back(kept && kept->gap <= lowest->gap + kNotable * margin ? *kept : *lowest);
}

void SegmentSelector::gather(const std::vector<Candidate>& candidates, const Run& run)
{
	for (size_t i = run.begin; i < run.end; ++i)
		m_gathered.push_back(candidates[m_order[i]]);
}

/// Chooses as many of the gathered contacts as a manifold can hold.
void SegmentSelector::choose_spread(const Rule& rule, uint32_t group, std::vector<Candidate>& chosen)
{
	for (const uint32_t index : m_selector.select(m_gathered, rule.points, rule.margin, rule.size))
	{
		chosen.push_back(m_gathered[index]);
		chosen.back().segment = group;
	}
	m_gathered.clear();
}

void SegmentSelector::select(const std::vector<Candidate>& candidates, const Rule& rule, std::vector<Candidate>& chosen)
{
	chosen.clear();
	sort_into_runs(candidates, rule.margin);
	// Among the segments that have no manifold yet the most urgent come first, so that a resting pair keeps its
	// manifolds.
	if (m_runs.size() > rule.groups)
		std::sort(m_runs.begin(), m_runs.end(), [&](const Run& a, const Run& b) {
			if (a.kept != b.kept && !rule.deepest)
				return a.kept;
			return a.gap != b.gap ? a.gap < b.gap : a.begin < b.begin;
		});
	const auto segment_of = [&](const Run& run) { return candidates[m_order[run.begin]].segment; };
	for (size_t k = 0; k < m_runs.size() && k < rule.groups; ++k)
	{
		const Run& run = m_runs[k];
		if (rule.deepest && segment_of(run) != kSegmentOfFeatures)
		{
			choose_deepest(candidates, run, rule.margin, chosen);
			continue;
		}
		gather(candidates, run);
		if (!rule.deepest && k + 1 == rule.groups)
			for (size_t rest = k + 1; rest < m_runs.size(); ++rest)
				gather(candidates, m_runs[rest]);
		choose_spread(rule, segment_of(run), chosen);
	}
}
}  // namespace voxshell_bullet
