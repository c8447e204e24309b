#include "contact_policy.h"

#include <algorithm>
#include <limits>

namespace voxshell_bullet
{
double reach(const Motion& first, const Motion& second, double dt)
{
	const Vec relative = first.linear - second.linear, by_first = first.linear_acceleration * dt, by_second = second.linear_acceleration * dt;
	// A third body may withstand what a force adds to the velocity of either.
	const double fastest = std::max({length(relative), length(relative + by_first), length(relative - by_second), length(relative + by_first - by_second)});
	const double spin_first = length(first.angular + first.angular_acceleration * dt) * first.radius;
	const double spin_second = length(second.angular + second.angular_acceleration * dt) * second.radius;
	return (fastest + spin_first + spin_second) * dt;
}

Approach::Approach(const Motion& first, const Motion& second, double dt)
	: center(first.center),
	  velocity(first.linear + first.linear_acceleration * dt - second.velocity_at(center) - second.acceleration_at(center) * dt),
	  spin(first.angular + first.angular_acceleration * dt - second.angular - second.angular_acceleration * dt),
	  gained_by_first(first.linear_acceleration * dt),
	  gained_by_second(second.linear_acceleration * dt)
{
}

vxs_pose Approach::moved(const vxs_pose& pose, double time) const
{
	const Turn turn(spin * time);
	const Vec q = {pose.qx, pose.qy, pose.qz}, v = q * turn.cosine + turn.axis * pose.qw + cross(turn.axis, q);
	return {end_of(pose.position, time), v.x, v.y, v.z, turn.cosine * pose.qw - dot(turn.axis, q)};
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
/// Contacts above this number are first thinned to the best one of each cell of a grid over them.
const size_t kThinAbove = 160;
const int kCells = 6;

/// Upper bound on the competing contacts when at most 32 are kept: the best of each cell, the outermost, those kept,
/// and two.
const size_t kMostCompeting = 288;
/// A contact of the step before is replaced only by one that spreads this much better (squared distances).
const double kHysteresis = 2.25;
/// Largest number of contacts of a full set that are exchanged in one step.
const int kExchanges = 3;
/// A lowest contact outside the set is included when it is lower than all contacts in the set by this fraction of the
/// margin.
const double kNotable = 0.02;

int cell_of(double x, double low, double scale)
{
	const int i = int((x - low) * scale);
	return i < 0 ? 0 : (i >= kCells ? kCells - 1 : i);
}
}  // namespace

/// Thins the pool to the most urgent candidate of each cell, those of the step before, and the outermost ones.
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

ContactSelector::ContactSelector()
{
	// Reserve now, and not when a body that has long been at rest turns to another side.
	m_places.reserve(kMostCompeting);
	m_weight.reserve(kMostCompeting);
	m_spread.reserve(kMostCompeting);
	m_cells.reserve(size_t(kCells) * kCells * kCells);
	m_chosen_places.reserve(kMostCompeting);
	m_chosen_spread.reserve(kMostCompeting);
}

void ContactSelector::Places::reserve(size_t count)
{
	for (std::vector<float>& row : m_at)
		row.reserve(count);
}

void ContactSelector::Places::clear()
{
	for (std::vector<float>& row : m_at)
		row.clear();
}

void ContactSelector::Places::add(const Vec& position, const Vec& turned)
{
	const double at[6] = {position.x, position.y, position.z, turned.x, turned.y, turned.z};
	for (int row = 0; row < 6; ++row)
		m_at[row].push_back(float(at[row]));
}

void ContactSelector::Places::copy(const Places& from, size_t index)
{
	for (int row = 0; row < 6; ++row)
		m_at[row].push_back(from.m_at[row][index]);
}

void ContactSelector::Places::pad()
{
	for (std::vector<float>& row : m_at)
		row.resize((row.size() + kBlock - 1) / kBlock * kBlock);
}

void ContactSelector::Places::lower(const Places& from, size_t index, float* spread) const
{
	float center[6];
	for (int row = 0; row < 6; ++row)
		center[row] = from.m_at[row][index];
	for (size_t block = 0; block < padded(); block += kBlock)
	{
		// A local array that no pointer aliases, so that the compiler can vectorise the loop.
		float distance[kBlock] = {};
		for (int row = 0; row < 6; ++row)
		{
			const float* const at = m_at[row].data() + block;
			for (size_t i = 0; i < kBlock; ++i)
				distance[i] += (at[i] - center[row]) * (at[i] - center[row]);
		}
		for (size_t i = 0; i < kBlock; ++i)
			distance[i] = distance[i] < spread[block + i] ? distance[i] : spread[block + i];
		std::copy(distance, distance + kBlock, spread + block);
	}
}

void ContactSelector::choose(size_t k)
{
	m_chosen.push_back(uint32_t(k));
	m_places.lower(m_places, k, m_spread.data());
}

/// Replaces the chosen contact with the least merit by `k`, if that merit is below `limit`.
bool ContactSelector::exchange(size_t k, double limit)
{
	m_chosen_places.clear();
	for (const uint32_t i : m_chosen)
		m_chosen_places.copy(m_places, i);
	m_chosen_places.pad();
	size_t worst = m_chosen.size();
	for (size_t i = 0; i < m_chosen.size(); ++i)
	{
		if (m_chosen[i] == m_anchor || (*m_candidates)[m_pool[m_chosen[i]]].pinned)
			continue;
		m_chosen_spread.assign(m_chosen_places.padded(), std::numeric_limits<float>::infinity());
		m_chosen_places.lower(m_chosen_places, i, m_chosen_spread.data());
		float nearest = std::numeric_limits<float>::infinity();
		for (size_t j = 0; j < m_chosen.size(); ++j)
			nearest = j != i && m_chosen_spread[j] < nearest ? m_chosen_spread[j] : nearest;
		const double score = merit(m_chosen[i], double(nearest));
		if (score < limit)
			limit = score, worst = i;
	}
	if (worst == m_chosen.size())
		return false;
	m_chosen.erase(m_chosen.begin() + std::ptrdiff_t(worst));
	m_spread.assign(m_places.padded(), std::numeric_limits<float>::infinity());
	for (const uint32_t i : m_chosen)
		m_places.lower(m_places, i, m_spread.data());
	choose(k);
	return true;
}

/// Chooses the four corners of the contact area, which carry all torque: the contact farthest from the middle, the one
/// farthest from that one, and the farthest to either side of the line through both.
void ContactSelector::choose_corners(size_t count)
{
	const auto at = [&](size_t k) -> const Vec& { return (*m_candidates)[m_pool[k]].point; };
	const size_t none = m_pool.size();
	const auto best_by = [&](auto measure) {
		double best = 0;
		size_t found = none;
		for (size_t k = 0; k < m_pool.size(); ++k)
		{
			const double score = merit(k, measure(k));
			if (score > best)
				best = score, found = k;
		}
		if (found != none && m_chosen.size() < count && std::find(m_chosen.begin(), m_chosen.end(), uint32_t(found)) == m_chosen.end())
			choose(found);
		return found;
	};

	Vec middle = {0, 0, 0};
	for (size_t k = 0; k < m_pool.size(); ++k)
		middle = middle + at(k);
	middle = middle * (1.0 / double(m_pool.size()));
	const size_t a = best_by([&](size_t k) { return length2(at(k) - middle); });
	if (a == none)
		return;
	const Vec from = at(a);
	const size_t b = best_by([&](size_t k) { return length2(at(k) - from); });
	if (b == none)
		return;
	const Vec line = at(b) - from;
	const size_t c = best_by([&](size_t k) { return length2(cross(line, at(k) - from)); });
	if (c == none)
		return;
	const Vec side = cross(line, at(c) - from);
	best_by([&](size_t k) {
		const Vec area = cross(line, at(k) - from);
		return dot(area, side) < 0 ? length2(area) : 0.0;
	});
}

/// Returns the index of a candidate in the pool, and adds it if it is not there.
size_t ContactSelector::place_in_pool(uint32_t index)
{
	const size_t k = size_t(std::find(m_pool.begin(), m_pool.end(), index) - m_pool.begin());
	if (k == m_pool.size())
		m_pool.push_back(index);
	return k;
}

/// Returns the candidate in the pool that would add most, of those farther than this from all chosen; the size of the
/// pool when there is none.
size_t ContactSelector::farthest(float nearest) const
{
	float best = 0;
	size_t at = m_pool.size();
	for (size_t k = 0; k < m_pool.size(); ++k)
	{
		const float score = m_spread[k] > nearest ? m_spread[k] * m_weight[k] : 0.0f;
		if (score > best)
			best = score, at = k;
	}
	return at;
}

const std::vector<uint32_t>& ContactSelector::select(const std::vector<Candidate>& candidates, size_t count, double margin, double size, bool close_fit)
{
	m_candidates = &candidates;
	m_answer.clear();
	m_chosen.clear();
	m_pool.clear();
	if (candidates.empty() || count == 0)
		return m_answer;
	m_pool.reserve(candidates.capacity());

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
		return m_answer;
	// A cell of a close fit has contacts of several sides.
	if (m_pool.size() > kThinAbove && !close_fit)
		thin(candidates);
	m_anchor = place_in_pool(most_urgent);
	const size_t lowest = place_in_pool(deepest);

	const Vec origin = candidates[m_pool[0]].point;
	const double turn = 0.5 * size;  // half the size per radian
	m_places.clear();
	m_weight.clear();
	for (const uint32_t i : m_pool)
	{
		m_places.add(candidates[i].point - origin, candidates[i].normal * turn);
		const Candidate& c = candidates[i];
		double late = c.gap - candidates[most_urgent].gap;
		// In a close fit what touches counts even if it would retreat: the contacts ahead throw the body back onto it.
		if (close_fit)
			late = std::min(late, std::max(c.distance, 0.0) - std::min(candidates[deepest].distance, 0.0));
		const double near = std::max(margin, 1e-9) / (std::max(margin, 1e-9) + late);
		m_weight.push_back(float(near * near));
	}
	m_places.pad();
	m_spread.assign(m_places.padded(), std::numeric_limits<float>::infinity());
	const float nearest = float(1e-6 * size * size);

	// Contacts of the present set stay.
	double lowest_gap = std::numeric_limits<double>::infinity(), lowest_distance = lowest_gap;
	for (size_t k = 0; k < m_pool.size() && m_chosen.size() < count; ++k)
	{
		const Candidate& c = candidates[m_pool[k]];
		if (!(c.kept && c.gap <= margin) && !c.pinned)
			continue;
		choose(k);
		lowest_gap = std::min(lowest_gap, c.gap);
		lowest_distance = std::min(lowest_distance, c.distance);
	}
	const bool fresh = m_chosen.empty();

	// The lowest contacts are included, unless one as low is in the set: on a flat contact rounding decides which is
	// the lowest.
	const auto insist = [&](size_t k) {
		if (std::find(m_chosen.begin(), m_chosen.end(), uint32_t(k)) != m_chosen.end())
			return;
		if (m_chosen.size() < count)
			choose(k);
		else
			exchange(k, std::numeric_limits<double>::infinity());
	};
	if (candidates[most_urgent].gap < lowest_gap - kNotable * margin)
		insist(m_anchor);
	if (count > 1 && candidates[deepest].gap <= margin && candidates[deepest].distance < lowest_distance - kNotable * margin)
		insist(lowest);

	if (fresh)
	{
		// Where normals differ by more than positions do, they count first: a wedge needs contacts on both its faces.
		double extent = 0;
		for (const uint32_t i : m_pool)
			extent = std::max(extent, length2(candidates[i].point - origin));
		for (size_t k = farthest(nearest); k < m_pool.size() && m_chosen.size() < count && m_spread[k] > float(4 * extent); k = farthest(nearest))
			choose(k);
		choose_corners(count);
	}
	while (m_chosen.size() < count)
	{
		const size_t k = farthest(nearest);
		if (k == m_pool.size())
			break;
		choose(k);
	}
	for (int i = 0; i < kExchanges; ++i)
	{
		const size_t k = farthest(nearest);
		if (k == m_pool.size() || !exchange(k, merit(k, double(m_spread[k])) / kHysteresis))
			break;
	}
	for (const uint32_t k : m_chosen)
		m_answer.push_back(m_pool[k]);
	return m_answer;
}
}  // namespace voxshell_bullet
