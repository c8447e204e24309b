#include "contact_policy.h"

#include <algorithm>
#include <limits>

namespace voxshell_bullet
{
double reach(const Motion& first, const Motion& second, double dt)
{
	const Vec relative = first.linear - second.linear + (first.linear_acceleration - second.linear_acceleration) * dt;
	const double spin_first = length(first.angular + first.angular_acceleration * dt) * first.radius;
	const double spin_second = length(second.angular + second.angular_acceleration * dt) * second.radius;
	return (length(relative) + spin_first + spin_second) * dt;
}

void Candidate::predict(const Motion& first, const Motion& second, double dt)
{
	speed = dot(normal, first.velocity_at(point) - second.velocity_at(point));
	acceleration = dot(normal, first.acceleration_at(point) - second.acceleration_at(point));
	curvature = dot(normal, first.centripetal_at(point) - second.centripetal_at(point));
	gap = distance + std::min(0.0, speed + acceleration * dt) * dt;
}

namespace
{
/// More than this many are first thinned out to the best of each cell of a grid over them.
const size_t kThinAbove = 160;
const int kCells = 6;
/// A contact of the step before gives way only to one that spreads this much better (squared distances).
const double kHysteresis = 2.25;
/// How many contacts of a full set may be exchanged in one step.
const int kExchanges = 3;
/// A lowest contact outside the set gets in when it is lower than all inside by this fraction of the margin.
const double kNotable = 0.02;

int cell_of(double x, double low, double scale)
{
	const int i = int((x - low) * scale);
	return i < 0 ? 0 : (i >= kCells ? kCells - 1 : i);
}
}  // namespace

/// Leaves in the pool the most urgent candidate of each cell, those of the step before, and the outermost ones.
void ContactSelector::thin(const std::vector<Candidate>& candidates)
{
	Vec low = candidates[m_pool[0]].point, high = low;
	for (const uint32_t i : m_pool)
	{
		const Vec& p = candidates[i].point;
		low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
		high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
	}
	const double extent = std::max({high.x - low.x, high.y - low.y, high.z - low.z, 1e-12});
	const double scale = kCells / extent;

	static const Vec outward[7] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}, {1, 1, -1}, {1, -1, 1}, {-1, 1, 1}};
	uint32_t outermost[14];
	double record[14];
	for (int k = 0; k < 14; ++k)
	{
		outermost[k] = m_pool[0];
		record[k] = -std::numeric_limits<double>::infinity();
	}

	m_cells.assign(size_t(kCells) * kCells * kCells, UINT32_MAX);
	for (const uint32_t i : m_pool)
	{
		const Vec& p = candidates[i].point;
		uint32_t& best = m_cells[size_t((cell_of(p.z, low.z, scale) * kCells + cell_of(p.y, low.y, scale)) * kCells + cell_of(p.x, low.x, scale))];
		if (best == UINT32_MAX || candidates[i].gap < candidates[best].gap)
			best = i;
		for (int k = 0; k < 7; ++k)
		{
			const double along = dot(outward[k], p - low);
			if (along > record[2 * k])
				record[2 * k] = along, outermost[2 * k] = i;
			if (-along > record[2 * k + 1])
				record[2 * k + 1] = -along, outermost[2 * k + 1] = i;
		}
	}
	size_t kept = 0;
	for (const uint32_t i : m_pool)
		if (candidates[i].kept || candidates[i].pinned)
			m_pool[kept++] = i;
	m_pool.resize(kept);
	for (const uint32_t i : m_cells)
		if (i != UINT32_MAX && !candidates[i].kept && !candidates[i].pinned)
			m_pool.push_back(i);
	for (const uint32_t i : outermost)
		if (std::find(m_pool.begin(), m_pool.end(), i) == m_pool.end())
			m_pool.push_back(i);
}

double ContactSelector::spread(uint32_t i, uint32_t j) const
{
	const Candidate &a = (*m_candidates)[i], &b = (*m_candidates)[j];
	return length2(a.point - b.point) + m_turn * length2(a.normal - b.normal);
}

/// Merit of a candidate that lies `spread` away from its nearest neighbour in the set: a gap of one margin above the smallest
/// halves the distance that counts.
double ContactSelector::merit(uint32_t i, double spread) const
{
	const double weight = m_margin / (m_margin + ((*m_candidates)[i].gap - m_lowest));
	return spread * weight * weight;
}

void ContactSelector::choose(uint32_t index)
{
	m_chosen.push_back(index);
	for (size_t k = 0; k < m_pool.size(); ++k)
		m_spread[k] = std::min(m_spread[k], spread(m_pool[k], index));
}

/// Puts `index` in the place of the chosen one with the least merit, if that is below `limit`.
bool ContactSelector::exchange(uint32_t index, double limit)
{
	size_t worst = m_chosen.size();
	for (size_t i = 0; i < m_chosen.size(); ++i)
	{
		if (m_chosen[i] == m_anchor || (*m_candidates)[m_chosen[i]].pinned)
			continue;
		double nearest = std::numeric_limits<double>::infinity();
		for (size_t j = 0; j < m_chosen.size(); ++j)
			if (j != i)
				nearest = std::min(nearest, spread(m_chosen[i], m_chosen[j]));
		const double score = merit(m_chosen[i], nearest);
		if (score < limit)
			limit = score, worst = i;
	}
	if (worst == m_chosen.size())
		return false;
	m_chosen.erase(m_chosen.begin() + std::ptrdiff_t(worst));
	m_spread.assign(m_pool.size(), std::numeric_limits<double>::infinity());
	for (const uint32_t i : m_chosen)
		for (size_t k = 0; k < m_pool.size(); ++k)
			m_spread[k] = std::min(m_spread[k], spread(m_pool[k], i));
	choose(index);
	return true;
}

/// The four corners of the contact area, which carry all torque: farthest from the middle, farthest from that one, and farthest
/// to either side of the line through both.
void ContactSelector::choose_corners(size_t count)
{
	const auto at = [&](size_t k) -> const Vec& { return (*m_candidates)[m_pool[k]].point; };
	const auto best_by = [&](auto measure) {
		double best = 0;
		uint32_t index = UINT32_MAX;
		for (size_t k = 0; k < m_pool.size(); ++k)
		{
			const double score = merit(m_pool[k], measure(k));
			if (score > best)
				best = score, index = m_pool[k];
		}
		if (index != UINT32_MAX && m_chosen.size() < count && std::find(m_chosen.begin(), m_chosen.end(), index) == m_chosen.end())
			choose(index);
		return index;
	};

	Vec middle = {0, 0, 0};
	for (size_t k = 0; k < m_pool.size(); ++k)
		middle = middle + at(k);
	middle = middle * (1.0 / double(m_pool.size()));
	const uint32_t a = best_by([&](size_t k) { return length2(at(k) - middle); });
	if (a == UINT32_MAX)
		return;
	const Vec from = (*m_candidates)[a].point;
	const uint32_t b = best_by([&](size_t k) { return length2(at(k) - from); });
	if (b == UINT32_MAX)
		return;
	const Vec line = (*m_candidates)[b].point - from;
	const uint32_t c = best_by([&](size_t k) { return length2(cross(line, at(k) - from)); });
	if (c == UINT32_MAX)
		return;
	const Vec side = cross(line, (*m_candidates)[c].point - from);
	best_by([&](size_t k) {
		const Vec area = cross(line, at(k) - from);
		return dot(area, side) < 0 ? length2(area) : 0.0;
	});
}

const std::vector<uint32_t>& ContactSelector::select(const std::vector<Candidate>& candidates, size_t count, double margin, double size)
{
	m_candidates = &candidates;
	m_chosen.clear();
	m_pool.clear();
	if (candidates.empty() || count == 0)
		return m_chosen;

	uint32_t most_urgent = 0, deepest = 0;
	for (uint32_t i = 0; i < candidates.size(); ++i)
	{
		const Candidate& c = candidates[i];
		if (c.gap < candidates[most_urgent].gap)
			most_urgent = i;
		if (c.distance < candidates[deepest].distance)
			deepest = i;
		if (c.gap <= margin || c.pinned)
			m_pool.push_back(i);
	}
	if (m_pool.empty())
		return m_chosen;
	if (m_pool.size() > kThinAbove)
		thin(candidates);

	m_lowest = candidates[most_urgent].gap;
	m_margin = std::max(margin, 1e-9);
	m_turn = 0.25 * size * size;  // (half the size per radian)², applied to |Δn|²
	m_anchor = most_urgent;
	const double nearest = 1e-6 * size * size;
	m_spread.assign(m_pool.size(), std::numeric_limits<double>::infinity());

	// What was in the set stays.
	double lowest_gap = std::numeric_limits<double>::infinity(), lowest_distance = lowest_gap;
	for (size_t k = 0; k < m_pool.size() && m_chosen.size() < count; ++k)
	{
		const Candidate& c = candidates[m_pool[k]];
		if (!c.kept && !c.pinned)
			continue;
		choose(m_pool[k]);
		lowest_gap = std::min(lowest_gap, c.gap);
		lowest_distance = std::min(lowest_distance, c.distance);
	}
	const bool fresh = m_chosen.empty();

	// The lowest ones come in, unless one as low is there: on a flat contact the lowest is a matter of rounding.
	const auto insist = [&](uint32_t index) {
		if (std::find(m_chosen.begin(), m_chosen.end(), index) != m_chosen.end())
			return;
		if (m_chosen.size() < count)
			choose(index);
		else
			exchange(index, std::numeric_limits<double>::infinity());
	};
	if (candidates[most_urgent].gap < lowest_gap - kNotable * margin)
		insist(most_urgent);
	if (count > 1 && candidates[deepest].gap <= margin && candidates[deepest].distance < lowest_distance - kNotable * margin)
		insist(deepest);

	const auto farthest = [&] {
		double best = 0;
		size_t at = m_pool.size();
		for (size_t k = 0; k < m_pool.size(); ++k)
		{
			const double score = m_spread[k] > nearest ? merit(m_pool[k], m_spread[k]) : 0.0;
			if (score > best)
				best = score, at = k;
		}
		return at;
	};

	if (fresh)
	{
		// Where normals differ by more than positions do, they count first: a wedge needs both its faces.
		double extent = 0;
		for (const uint32_t i : m_pool)
			extent = std::max(extent, length2(candidates[i].point - candidates[m_pool[0]].point));
		for (size_t k = farthest(); k < m_pool.size() && m_chosen.size() < count && m_spread[k] > 4 * extent; k = farthest())
			choose(m_pool[k]);
		choose_corners(count);
	}
	while (m_chosen.size() < count)
	{
		const size_t k = farthest();
		if (k == m_pool.size())
			break;
		choose(m_pool[k]);
	}
	for (int i = 0; i < kExchanges; ++i)
	{
		const size_t k = farthest();
		if (k == m_pool.size() || !exchange(m_pool[k], merit(m_pool[k], m_spread[k]) / kHysteresis))
			break;
	}
	return m_chosen;
}

namespace
{
/// Speed at which a contact at distance d strikes, when its velocity at the end of the step would be `end_speed`.
double strike_speed(double end_speed, const Candidate& c, double dt)
{
	const double now = end_speed - 0.5 * c.acceleration * dt;
	return now < 0 ? std::sqrt(std::max(0.0, now * now - 2 * (c.acceleration + c.curvature) * c.distance)) : 0;
}
}  // namespace

/// Finds out which contacts of the step before have landed, and how fast.
void BouncePolicy::settle(const Motion& first, const Motion& second)
{
	m_now.clear();
	const Motion* const bodies[2] = {&first, &second};
	m_centers[0] = first.center;
	m_centers[1] = second.center;
	if (m_before.empty())
		return;

	Vec linear[2], angular[2];  // the velocities that the bodies would have without the landing impulses
	for (int b = 0; b < 2; ++b)
	{
		Vec force = {0, 0, 0}, torque = {0, 0, 0};
		for (const Impact& i : m_before)
		{
			const Vec push = i.contact.normal * (b == 0 ? i.impulse : -i.impulse);
			force = force + push;
			torque = torque + cross(i.arms[b], push);
		}
		const Vec* const rows = bodies[b]->inverse_inertia;
		linear[b] = bodies[b]->linear - force * bodies[b]->inverse_mass;
		angular[b] = bodies[b]->angular - Vec{dot(rows[0], torque), dot(rows[1], torque), dot(rows[2], torque)};
	}
	for (Impact& i : m_before)
	{
		if (i.impulse <= 0 || m_dt <= 0)
			continue;
		const double unstopped = dot(i.contact.normal, linear[0] + cross(angular[0], i.arms[0]) - linear[1] - cross(angular[1], i.arms[1]));
		i.strike = strike_speed(unstopped, i.contact, m_dt);
	}
}

const BouncePolicy::Impact* BouncePolicy::find(uint32_t feature) const
{
	for (const Impact& i : m_before)
		if (i.feature == feature)
			return &i;
	return nullptr;
}

bool BouncePolicy::waits(uint32_t feature) const
{
	const Impact* impact = find(feature);
	return impact && impact->strike >= m_threshold;
}

BouncePolicy::Treatment BouncePolicy::treat(const Candidate& c, double restitution)
{
	Treatment treatment;
	const auto remember = [&](bool launched) { m_now.push_back({c.feature, launched, c, {c.point - m_centers[0], c.point - m_centers[1]}}); };
	const auto launch = [&](double strike) {
		const double velocity = restitution * strike + 0.5 * c.acceleration * m_dt;
		if (velocity <= 0)
			return;
		treatment.kind = Treatment::LAUNCH;
		treatment.velocity = velocity;
		remember(true);
	};

	if (const Impact* impact = find(c.feature))
	{
		treatment.forget_impulse = true;
		if (impact->strike > 0)
		{
			if (impact->strike >= m_threshold)
				launch(impact->strike);
			return treatment;
		}
	}
	const double end_speed = c.speed + c.acceleration * m_dt;
	if (restitution <= 0 || end_speed >= 0 || m_dt <= 0)
		return treatment;
	const double strike = strike_speed(end_speed, c, m_dt);
	if (strike < m_threshold)
		return treatment;
	if (c.distance > 0)
	{
		if (c.gap <= 0)
			treatment.kind = Treatment::LANDING;
		remember(false);  // also if it would not quite arrive: others may push it to the surface
		return treatment;
	}
	treatment.forget_impulse = true;
	launch(strike);
	return treatment;
}
}  // namespace voxshell_bullet
