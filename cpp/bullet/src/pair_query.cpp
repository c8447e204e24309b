#include "pair_query.h"

#include <algorithm>

#include "segment_selector.h"

namespace voxshell_bullet
{
namespace
{
/// Extra search distance beyond the margin, in margins. Used only if the cached result then stays valid for at least
/// kSlowSteps steps.
const double kSlack = 0.5;
const double kSlowSteps = 4;

/// If a pair can come nearer in the step by more than this, in distances of samples, it searches only for contacts that
/// will be near at the step's end: the others are few, and are remembered.
const double kFar = 0.2;

/// Contacts of edges are searched anew when a gap may have changed by more than this fraction of the margin.
const double kEdgesStay = 0.01;

/// Contacts whose places differ by less than this fraction of the smaller body, and whose normals by the root of it, are the
/// same.
const double kSame = 1e-6;

/// Normals that differ by less than this are those of one face, rad.
const double kFlat = 1e-5;

/// Returns the roles that the forms of both sides allow: the wanted ones if both directions are possible.
uint32_t roles_of(const Side& first, const Side& second, unsigned wanted)
{
	const bool shell_of_first = first.has_pointshell && second.has_field, shell_of_second = second.has_pointshell && first.has_field;
	return shell_of_first && shell_of_second ? wanted : (shell_of_first ? VXS_ROLES_SHELL_OF_A : VXS_ROLES_SHELL_OF_B);
}

/// Returns whether the bodies touch at one of the contacts.
bool touches(const std::vector<Candidate>& candidates)
{
	return std::any_of(candidates.begin(), candidates.end(), [](const Candidate& c) { return c.distance <= 0; });
}

/// Returns whether they touch at a sample: then the search asked for no edges that pass through the other mesh.
bool touches_by_sample(const std::vector<Candidate>& candidates)
{
	return std::any_of(candidates.begin(), candidates.end(), [](const Candidate& c) { return c.distance <= 0 && !(c.feature & kOfEdge); });
}
}  // namespace

bool PairQuery::find(const Side& first, const Side& second, const btVoxShellSettings& settings, const Wanted& wanted, const std::vector<uint32_t>& kept, BudgetShare& share, std::vector<Candidate>& candidates)
{
	bool is_near = stays_found(first, second, wanted);
	candidates.clear();
	bool found = is_near && recall(first, second, candidates);
	if (found && lacks_crossings(candidates))
	{
		is_near = false;
		candidates.clear();
	}
	if (!is_near)
		found = search(first, second, settings, wanted, kept, share, candidates);
	m_cache.end_step(wanted.now, found);
	if (!found)
		return false;
	if (is_near)
		m_features.find_again(first, second, wanted, candidates);
	else
		m_features.find(first, second, m_cache.distance(), wanted, candidates);
	return true;
}

/// Returns whether the contacts of the last search are still all those that are wanted.
bool PairQuery::stays_found(const Side& first, const Side& second, const Wanted& wanted) const
{
	// The side of a sheet on which a sample lies does not depend on the distance alone.
	if (!forms_are_known(first, second) || m_forms.has_sheet() || !m_cache.covers(wanted))
		return false;
	// Samples can be evaluated anywhere. Where edges are closest, and which of them cross, changes as the bodies move.
	return (m_edges.empty() && !m_crosses) || m_cache.change_since_search(wanted) <= kEdgesStay * wanted.margin;
}

/// Returns whether the samples that touched in the last search, which therefore did not ask for crossing edges, touch no more.
bool PairQuery::lacks_crossings(const std::vector<Candidate>& candidates) const { return m_can_cross && !m_crosses && !touches(candidates); }

bool PairQuery::find_again(const Side& first, const Side& second, std::vector<Candidate>& candidates)
{
	if (!update_samples(first, second, candidates))
		return false;
	// The depth limit of every sample was known before this step.
	m_forms.sheet_depth().add_limit();
	const bool all_are_samples = m_samples.features.size() == candidates.size();
	if (!all_are_samples && !(m_edges.update(first, second, candidates) && m_features.update(first, second, candidates)))
		return false;
	return !lacks_crossings(candidates);
}

void PairQuery::look_ahead(const Side& first, const Side& second, const Wanted& wanted, bool exact, std::vector<Candidate>& candidates)
{
	// The side of a sheet on which a sample lies depends on where it came from.
	if (m_forms.has_sheet())
		return;
	// What the budget left out may be what holds the body.
	if (!m_samples.is_cut_short())
		m_rolling.drop(first, second, wanted, m_samples, candidates);
	m_look_ahead.replace_planes(first, second, wanted, exact, m_samples, candidates);
}

void PairQuery::follow_turning(const Side& first, const Side& second, const Wanted& wanted, std::vector<Candidate>& chosen)
{
	if (!m_forms.has_sheet())
		m_look_ahead.follow_turning(first, second, wanted, m_samples, chosen);
}

const Side* PairQuery::face_holder(const std::vector<Candidate>& candidates, const Side& first, const Side& second) const
{
	if (candidates.empty() || !m_cache.is_complete() || m_forms.has_sheet())
		return nullptr;
	// The side that brings the field.
	const uint32_t of_second = candidates[0].feature & kOfSecond;
	const Side& holder = of_second ? first : second;
	if (holder.voxshell && !holder.voxshell->hasConvexField())
		return nullptr;
	const auto is_on_it = [&](const Candidate& c) {
		return c.touch == Candidate::kSample && (c.feature & kOfSecond) == of_second && length2(c.normal - candidates[0].normal) < kFlat * kFlat;
	};
	return std::all_of(candidates.begin(), candidates.end(), is_on_it) ? &holder : nullptr;
}

/// Searches for samples, and forgets the points of features that were found before.
bool PairQuery::search(const Side& first, const Side& second, const btVoxShellSettings& settings, const Wanted& wanted, const std::vector<uint32_t>& kept, BudgetShare& share, std::vector<Candidate>& candidates)
{
	const double slack = kSlack * wanted.margin;
	const bool is_slow = kSlowSteps * m_cache.last_change(wanted) < slack;
	if (settings.m_segmentation == VXS_SEGMENTATION_LEVEL && !forms_are_known(first, second))
		m_segments.list_level(first, second, settings.m_segmentLevel);
	m_cache.begin_search(first, second, wanted.now, wanted.distance + (is_slow ? slack : 0.0));
	m_features.clear();
	const double spacing = std::max(first.sample_spacing(), second.sample_spacing());
	const bool is_far = !is_slow && wanted.distance - wanted.worth > kFar * spacing;
	return search_samples(first, second, settings, wanted, is_far, kept, share, candidates);
}

/// Fills `candidates` with the contacts of samples up to the distance of the cache: with all of them, to be
/// re-evaluated later, or, if that distance is far, with those that count in this step. Dense contacts are thinned to
/// the most urgent.
bool PairQuery::search_samples(const Side& first, const Side& second, const btVoxShellSettings& settings, const Wanted& wanted, bool is_far, const std::vector<uint32_t>& kept, BudgetShare& share, std::vector<Candidate>& candidates)
{
	const double inflation = first.inflation + second.inflation;
	vxs_query query;
	vxs_query_init(&query, sizeof query);
	query.coverage = settings.m_coverage;
	query.roles = roles_of(first, second, settings.m_roles);
	query.max_separation = m_cache.distance() + inflation;
	query.max_depth = m_forms.sheet_depth().limit();
	vxs_query_segmentation regions;
	vxs_query_segmentation_init(&regions, sizeof regions);
	if (settings.m_segmentation == VXS_SEGMENTATION_REGION)
		m_segments.prefer_last_regions(query, regions);
	vxs_query_step step;
	vxs_query_step_init(&step, sizeof step);
	if (settings.m_segmentation == VXS_SEGMENTATION_NONE)
	{
		query.preferred = kept.data();
		query.preferred_count = uint32_t(kept.size());
		query.step = &step;
		step.dense_above = settings.m_denseAbove;
		// Who asks for all edges gets all: a spike between walls sinks in deeper by the corners of an outline alone.
		step.extremes_only = settings.m_coverage != VXS_COVERAGE_EDGES || !first.voxshell || !second.voxshell;
		if (is_far)
			step.max_gap = wanted.worth + inflation;
		step.center = wanted.approach.center;
		step.shift = wanted.approach.velocity * wanted.dt;
		step.turn = wanted.approach.spin * wanted.dt;
		step.gained_by_a = wanted.approach.gained_by_first * wanted.dt;
		step.gained_by_b = wanted.approach.gained_by_second * wanted.dt;
	}
	query.limit = share.limit();
	size_t count;
	if (!m_samples.search(first, second, query, count))
		return false;
	share.spend(m_samples.tests(), m_samples.is_complete());
	m_cache.set_complete(m_samples.is_complete() && !(step.max_gap < query.max_separation));
	take_samples(first, second, settings, count, candidates);
	drop_repeated_corners(std::min(first.extent, second.extent), candidates);
	m_can_cross = settings.m_coverage == VXS_COVERAGE_FACETS && !m_samples.is_exact() && first.voxshell && second.voxshell && !query.limit;
	m_crosses = m_can_cross && !touches_by_sample(candidates);
	m_edges.take(first, second, settings.m_segmentation == VXS_SEGMENTATION_NONE ? 0 : kSegmentOfFeatures, candidates);
	return true;
}

/// Fills `candidates` and the cache with the contacts of the last search.
void PairQuery::take_samples(const Side& first, const Side& second, const btVoxShellSettings& settings, size_t count, std::vector<Candidate>& candidates)
{
	candidates.resize(count);
	m_cache.features.clear();
	for (size_t i = 0; i < count; ++i)
	{
		m_samples.read(i, first, second, candidates[i]);
		m_cache.features.push_back(candidates[i].feature);
		m_forms.sheet_depth().add(-candidates[i].distance);
	}
	m_segments.find(settings.m_segmentation, m_samples, m_cache.features, m_cache.segments);
	size_t kept = 0;
	for (size_t i = 0; i < count; ++i)
	{
		candidates[i].segment = m_cache.segments[i];
		if (candidates[i].feature & kOfEdge)
			continue;
		m_cache.features[kept] = m_cache.features[i];
		m_cache.segments[kept++] = m_cache.segments[i];
	}
	m_cache.features.resize(kept);
	m_cache.segments.resize(kept);
}

/// Drops the contacts of corners that are inside the other body where the same corner's sample has the same contact: a sample
/// can be evaluated at other poses.
/// @param candidates  by ascending distance
void PairQuery::drop_repeated_corners(double size, std::vector<Candidate>& candidates)
{
	const double same = kSame * size;
	const auto repeats = [&](const Candidate& c, const Candidate& sample) {
		return !(sample.feature & kOfEdge) && !((c.feature ^ sample.feature) & kOfSecond) && length2(c.point - sample.point) <= same * same && length2(c.normal - sample.normal) <= kSame;
	};
	m_repeated.clear();
	for (size_t i = 0; i < candidates.size() && candidates[i].distance < 0; ++i)
	{
		if (!(candidates[i].feature & kOfEdge))
			continue;
		bool found = false;
		for (size_t j = i; !found && j-- > 0 && candidates[i].distance - candidates[j].distance <= same;)
			found = repeats(candidates[i], candidates[j]);
		for (size_t j = i + 1; !found && j < candidates.size() && candidates[j].distance - candidates[i].distance <= same; ++j)
			found = repeats(candidates[i], candidates[j]);
		if (found)
			m_repeated.push_back(i);
	}
	for (size_t k = m_repeated.size(); k-- > 0;)
		candidates.erase(candidates.begin() + std::ptrdiff_t(m_repeated[k]));
}

/// Fills `candidates` with the contacts of the samples in the cache and of the edges, at the present poses.
bool PairQuery::recall(const Side& first, const Side& second, std::vector<Candidate>& candidates)
{
	for (size_t i = 0; i < m_cache.features.size(); ++i)
	{
		candidates.emplace_back();
		candidates.back().feature = m_cache.features[i];
		candidates.back().segment = m_cache.segments[i];
	}
	const bool updated = update_samples(first, second, candidates);
	m_edges.recall(first, second, candidates);
	return updated;
}

/// Updates the candidates that are samples to the present poses.
bool PairQuery::update_samples(const Side& first, const Side& second, std::vector<Candidate>& candidates)
{
	m_samples.features.clear();
	for (const Candidate& c : candidates)
		if (c.touch == Candidate::kSample)
			m_samples.features.push_back(c.feature);
	if (!m_samples.evaluate(first.pose, first, second))
		return false;
	size_t next = 0;
	for (Candidate& c : candidates)
		if (c.touch == Candidate::kSample)
		{
			if (!m_samples.has_contact(next))
				return false;
			m_samples.read(next++, first, second, c);
		}
	return true;
}
}  // namespace voxshell_bullet
