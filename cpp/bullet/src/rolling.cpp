#include "rolling.h"

#include <algorithm>
#include <cmath>

namespace voxshell_bullet
{
namespace
{
/// Least turn in a step, rad.
const double kTurn = 0.01;
/// Largest angle between the directions of a contact and of its support, rad.
const double kMostAngle = 1;
/// Largest number of directions.
const size_t kMostSupports = 16;
/// Rounds in which the supports take away what the first body would sink into the second.
const int kHolds = 4;
/// Cosine of the angle from which on two supports are walls on both sides.
const double kOpposed = -0.5;
/// How much faster than by the forces of one step a body may come onto its supports.
const double kForces = 2;
/// Looks at the poses on the way.
const int kLooks = 4;
}  // namespace

void Rolling::drop(const Side& first, const Side& second, const Wanted& wanted, SampleQuery& samples, std::vector<Candidate>& candidates)
{
	const double dt = wanted.dt, flush = wanted.flush();
	const double turn = length(wanted.approach.spin) * dt;
	if (turn < kTurn || std::none_of(candidates.begin(), candidates.end(), [](const Candidate& c) { return c.round; }))
		return;
	find_supports(wanted, flush, candidates);
	// What rests on a round feature only sinks by what forces add in the step; in an impact the body turns about it.
	const double sinks = kForces * length(first.motion.linear_acceleration - second.motion.linear_acceleration) * dt;
	for (Support& s : m_supports)
		s.holds = candidates[s.index].round && s.distance <= wanted.margin && s.speed >= -sinks;
	if (std::none_of(m_supports.begin(), m_supports.end(), [](const Support& s) { return s.holds; }))
		return;
	// Between walls it does not roll.
	for (const Support& s : m_supports)
		for (const Support& other : m_supports)
			if (dot(s.normal, other.normal) < kOpposed)
				return;
	const double stride = kLongestStride * resolution_of(first, second);
	m_seem.clear();
	samples.features.clear();
	for (size_t i = 0; i < candidates.size(); ++i)
	{
		const Candidate& c = candidates[i];
		if (c.touch != Candidate::kSample || c.pinned || !(c.gap < std::min(c.distance, 0.0) - flush) || length(wanted.approach.at(c.point)) * dt > stride)
			continue;
		m_seem.push_back(i);
		samples.features.push_back(c.feature);
	}
	if (m_seem.empty())
		return;

	// Velocity that the supports give the first body.
	Vec held = {0, 0, 0};
	for (int i = 0; i < kHolds; ++i)
		for (const Support& s : m_supports)
			if (s.holds)
				held = held - s.normal * std::min(0.0, s.speed + std::max(0.0, s.distance) / dt + dot(s.normal, held));

	const Approach of_first(first.motion, dt), of_second(second.motion, dt);
	const double like = std::cos(std::min(std::acos(kSameWall) + turn, kMostAngle));
	m_support_of.assign(m_seem.size(), nullptr);
	// From the end of the step, where the gaps are, backwards.
	for (int look = kLooks; look > 0 && !m_seem.empty(); --look)
	{
		const double time = dt * look / kLooks;
		Side first_then = first, second_then = second;
		first_then.pose = of_first.moved(first.pose, time);
		first_then.pose.position = first_then.pose.position + held * time;
		second_then.pose = of_second.moved(second.pose, time);
		if (!samples.evaluate(first_then.pose, first_then, second_then))
			return;
		size_t kept = 0;
		for (size_t i = 0; i < m_seem.size(); ++i)
		{
			Candidate then;
			samples.read(i, first_then, second_then, then);
			const Support* support = m_support_of[i];
			if (look == kLooks)
				support = candidates[m_seem[i]].gap < then.distance - flush ? support_of(m_seem[i], then.normal, like) : nullptr;
			if (!support || then.distance < std::min(support->distance, 0.0) - flush)
				continue;
			samples.features[kept] = samples.features[i];
			m_seem[kept] = m_seem[i];
			m_support_of[kept++] = support;
		}
		m_seem.resize(kept);
		samples.features.resize(kept);
	}
	// Those that are left only seemed to, in ascending order.
	for (auto seem = m_seem.rbegin(); seem != m_seem.rend(); ++seem)
		candidates.erase(candidates.begin() + std::ptrdiff_t(*seem));
}

void Rolling::find_supports(const Wanted& wanted, double flush, const std::vector<Candidate>& candidates)
{
	m_supports.clear();
	for (size_t i = 0; i < candidates.size(); ++i)
	{
		const Candidate& c = candidates[i];
		// The samples around the deepest point of a round feature come and go.
		const double rank = c.distance - (c.round ? flush : 0);
		const Support found = {i, c.normal, c.distance, dot(c.normal, wanted.approach.at(c.point)), rank, false};
		const auto known = std::find_if(m_supports.begin(), m_supports.end(), [&](const Support& s) { return dot(s.normal, c.normal) >= kSameWall; });
		if (known == m_supports.end() && m_supports.size() < kMostSupports)
			m_supports.push_back(found);
		else if (known != m_supports.end() && found.rank < known->rank)
			*known = found;
	}
}

/// Returns the support that holds a contact in a direction; null if there is none, or if the contact is that.
/// @param like  cosine of the largest angle between the directions
const Rolling::Support* Rolling::support_of(size_t index, const Vec& normal, double like) const
{
	const auto found = std::find_if(m_supports.begin(), m_supports.end(), [&](const Support& s) { return s.holds && dot(s.normal, normal) >= like; });
	return found == m_supports.end() || found->index == index ? nullptr : &*found;
}
}  // namespace voxshell_bullet
