#include "look_ahead.h"

#include <algorithm>

namespace voxshell_bullet
{
namespace
{
/// Cosines of the angle by which the surface must turn: at most by the first, or else it is the far side of a part; at
/// least by the other, or else it is the same plane.
const double kTurned = -0.5;
const double kSame = 0.9998;
/// Change of a gap by turning, in margins, that is not worth a query.
const double kTurning = 0.001;
/// Samples that move sideways by less than this fraction of their displacement only come nearer.
const double kAside = 0.02;
/// Cosine of the least angle from a right one between a side and the face that carries what lies on it.
const double kSideways = 0.4;

/// Returns the gap at the end of the step from a plane, metres: without what forces add, which a third body may withstand.
double supported_gap(const Wanted& wanted, const Vec& point, double distance, const Vec& normal)
{
	const Approach& approach = wanted.approach;
	const double gained = std::min(0.0, dot(normal, approach.gained_by_first)) + std::min(0.0, -dot(normal, approach.gained_by_second));
	return distance + std::min(0.0, dot(normal, approach.at(point)) - gained) * wanted.dt;
}

/// Returns whether a sample at a distance is not deeper than it is now.
bool is_outside(double distance, const Candidate& now, double flush) { return distance >= std::min(now.distance, 0.0) - flush; }
}  // namespace

void LookAhead::replace_planes(const Side& first, const Side& second, const Wanted& wanted, bool exact, SampleQuery& samples, std::vector<Candidate>& candidates)
{
	const Step step = {first, second, wanted, resolution_of(first, second), wanted.flush(), exact};
	find_broken(step, samples, candidates);
	if (m_broken.empty() || !look_from(step, wanted.dt, samples, candidates))
		return;
	const double longest = keep_turned(step, samples, candidates);
	m_ends = m_broken;
	if (!check_path(step, longest, samples, candidates))
		return;
	for (const Ahead& ahead : m_ends)
	{
		if (!ahead.is_free)
			continue;
		Candidate& c = candidates[ahead.index];
		c.normal = ahead.normal;
		c.distance = ahead.distance;
		c.predict_gap(wanted.approach, wanted.dt);
	}
}

void LookAhead::follow_turning(const Side& first, const Side& second, const Wanted& wanted, SampleQuery& samples, std::vector<Candidate>& chosen)
{
	const double dt = wanted.dt, stride = kLongestStride * resolution_of(first, second);
	const Approach of_first(first.motion, dt), of_second(second.motion, dt);
	const double turn = (length(of_first.spin) + length(of_second.spin)) * dt;
	const auto path = [&](const Candidate& c) { return length(wanted.approach.at(c.point)) * dt; };
	m_broken.clear();
	samples.features.clear();
	for (size_t i = 0; i < chosen.size(); ++i)
	{
		const Candidate& c = chosen[i];
		if (c.touch != Candidate::kSample || c.pinned || path(c) > stride || turn * path(c) < kTurning * wanted.margin)
			continue;
		m_broken.push_back({i, c.distance, c.normal, true});
		samples.features.push_back(c.feature);
	}
	if (m_broken.empty())
		return;
	// Both bodies move: in the frame of one of them, the other does not go straight.
	Side first_then = first, second_then = second;
	first_then.pose = of_first.moved(first.pose, dt);
	second_then.pose = of_second.moved(second.pose, dt);
	if (!samples.evaluate(first_then.pose, first_then, second_then))
		return;
	for (size_t i = 0; i < m_broken.size(); ++i)
	{
		Candidate& c = chosen[m_broken[i].index];
		Candidate then;
		samples.read(i, first_then, second_then, then);
		const Turn of_face((c.feature & kOfSecond ? of_first : of_second).spin * dt);
		const double change = then.distance - (c.distance + dot(c.normal, wanted.approach.at(c.point)) * dt);
		// Little farther than the terms of second order reach: beyond, the sample has met another face.
		if (dot(then.normal, of_face(c.normal)) >= kSame && change < 0 && -change <= 2 * turn * path(c))
			c.turning = change;
	}
}

/// Fills `m_broken`, and the features of `samples`, with the samples that slide and would be deeper than they are now.
void LookAhead::find_broken(const Step& step, SampleQuery& samples, const std::vector<Candidate>& candidates)
{
	// Samples that only come nearer do not slide past an edge.
	const auto slides = [&](const Candidate& c) {
		const Vec way = step.wanted.approach.at(c.point) * step.wanted.dt;
		const double slid = length(way - c.normal * dot(way, c.normal));
		return slid > kAside * length(way) && length(way) <= kLongestStride * step.resolution;
	};
	m_broken.clear();
	samples.features.clear();
	for (size_t i = 0; i < candidates.size(); ++i)
	{
		const Candidate& c = candidates[i];
		if (c.touch == Candidate::kSample && !c.pinned && c.gap < std::min(c.distance, 0.0) - step.flush && slides(c))
		{
			m_broken.push_back({i, c.distance, c.normal, true});
			samples.features.push_back(c.feature);
		}
	}
}

/// Fills in the planes of `m_broken` at the poses after the motion has gone on for a time: their normals, and the
/// samples' present distances from them.
bool LookAhead::look_from(const Step& step, double time, SampleQuery& samples, const std::vector<Candidate>& candidates)
{
	const Approach& approach = step.wanted.approach;
	if (!samples.evaluate(approach.moved(step.first.pose, time), step.first, step.second))
		return false;
	const Turn back(-(approach.spin * time));
	for (size_t i = 0; i < m_broken.size(); ++i)
	{
		Ahead& ahead = m_broken[i];
		Candidate then;
		samples.read(i, step.first, step.second, then);
		// Surfaces stay and samples move: where the surface is the first body's, the normal has only seemed to turn.
		ahead.normal = then.feature & kOfSecond ? back(then.normal) : then.normal;
		ahead.distance = then.distance - std::min(0.0, dot(ahead.normal, approach.at(candidates[ahead.index].point))) * time;
	}
	return true;
}

/// Returns whether the surface rises from the present plane of a sample to the later one: in a concave place both stop it.
bool LookAhead::rises(const Step& step, const Ahead& ahead, const Candidate& now)
{
	const double then = ahead.distance + std::min(0.0, dot(ahead.normal, step.wanted.approach.at(now.point))) * step.wanted.dt;
	return now.gap - dot(ahead.normal, now.normal) * then > step.flush;
}

/// Keeps in `m_broken` the samples that are outside at the end of the motion and whose surface has turned there. At
/// most samples the surface is the same there. Returns the longest path of those that are kept, m.
double LookAhead::keep_turned(const Step& step, SampleQuery& samples, const std::vector<Candidate>& candidates)
{
	size_t kept = 0;
	double longest = 0;
	for (size_t i = 0; i < m_broken.size(); ++i)
	{
		const Ahead& ahead = m_broken[i];
		const Candidate& c = candidates[ahead.index];
		const double turned = dot(ahead.normal, c.normal);
		if (!(is_outside(ahead.distance, c, step.flush) && turned >= kTurned && turned <= kSame) || (step.exact && rises(step, ahead, c)))
			continue;
		// What lies on this body, slides, and comes below a side of it, is not stopped by that.
		if (std::fabs(turned) <= kSideways && is_outside(supported_gap(step.wanted, c.point, c.distance, c.normal), c, step.flush) && !is_outside(supported_gap(step.wanted, c.point, ahead.distance, ahead.normal), c, step.flush))
			continue;
		longest = std::max(longest, length(step.wanted.approach.at(c.point)) * step.wanted.dt);
		samples.features[kept] = samples.features[i];
		m_broken[kept++] = ahead;
	}
	samples.features.resize(kept);
	m_broken.resize(kept);
	return longest;
}

/// Sets `is_free` of `m_ends` by looks from poses along the motion, about one voxel apart; false when a query failed.
bool LookAhead::check_path(const Step& step, double longest, SampleQuery& samples, const std::vector<Candidate>& candidates)
{
	const int looks = m_broken.empty() ? 0 : std::max(2, int(std::ceil(longest / step.resolution)));
	for (int look = 1; look < looks; ++look)
	{
		if (!look_from(step, step.wanted.dt * look / looks, samples, candidates))
			return false;
		for (size_t i = 0; i < m_broken.size(); ++i)
			m_ends[i].is_free = m_ends[i].is_free && is_outside(m_broken[i].distance, candidates[m_broken[i].index], step.flush);
	}
	return true;
}
}  // namespace voxshell_bullet
