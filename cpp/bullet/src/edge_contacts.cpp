#include "edge_contacts.h"

#include <algorithm>

namespace voxshell_bullet
{
namespace
{
/// Bits of a feature number that tell the edge.
const uint32_t kNumber = 0x3fffffffu;
/// Distance between the names of the contacts of one edge: odd and large, so that they are hardly those of other edges.
const uint32_t kStride = 0x2545f491u;

uint32_t name_of(uint32_t edge, uint32_t ordinal) { return (edge & ~kNumber) | ((edge + ordinal * kStride) & kNumber); }
}  // namespace

void EdgeContacts::Frames::place(const Anchor& anchor, Candidate& c) const
{
	const Vec on_first = first(anchor.on_first), on_second = second(anchor.on_second);
	c.feature = anchor.name;
	c.touch = Candidate::kMeshEdge;
	c.segment = anchor.segment;
	c.normal = second.rotate(anchor.normal);
	c.distance = dot(c.normal, on_first - on_second) - inflation;
	c.point = on_second + c.normal * second_inflation;
}

void EdgeContacts::take(const Side& first, const Side& second, uint32_t segment, std::vector<Candidate>& candidates)
{
	const Frames frames(first, second);
	const Frame to_first = frames.first.inverse(), to_second = frames.second.inverse();
	m_last.swap(m_anchors);
	m_anchors.clear();
	for (const Candidate& c : candidates)
	{
		if (!(c.feature & kOfEdge))
			continue;
		const Vec on_second = c.point - c.normal * frames.second_inflation;
		const Vec on_first = on_second + c.normal * (c.distance + frames.inflation);
		m_anchors.push_back({0, c.feature, 0, segment, to_first(on_first), to_second(on_second), to_second.rotate(c.normal), false});
	}
	name_contacts();
	size_t i = 0;
	for (Candidate& c : candidates)
	{
		if (!(c.feature & kOfEdge))
			continue;
		c.feature = m_anchors[i++].name;
		c.touch = Candidate::kMeshEdge;
		c.segment = segment;
	}
	std::sort(m_anchors.begin(), m_anchors.end(), [](const Anchor& a, const Anchor& b) { return a.name < b.name; });
}

/// Names the contacts of each edge: first those that are nearest to contacts of the search before.
void EdgeContacts::name_contacts()
{
	const auto by_edge = [](const Anchor& a, const Anchor& b) { return a.edge != b.edge ? a.edge < b.edge : a.ordinal < b.ordinal; };
	std::sort(m_last.begin(), m_last.end(), by_edge);
	m_order.clear();
	for (size_t i = 0; i < m_anchors.size(); ++i)
		m_order.push_back(uint32_t(i));
	std::sort(m_order.begin(), m_order.end(), [&](uint32_t i, uint32_t j) { return m_anchors[i].edge != m_anchors[j].edge ? m_anchors[i].edge < m_anchors[j].edge : i < j; });
	for (size_t begin = 0, end; begin < m_order.size(); begin = end)
	{
		const uint32_t edge = m_anchors[m_order[begin]].edge;
		for (end = begin; end < m_order.size() && m_anchors[m_order[end]].edge == edge; ++end)
		{
		}
		const auto before = std::find_if(m_last.begin(), m_last.end(), [&](const Anchor& a) { return a.edge == edge; });
		auto after = before;
		while (after != m_last.end() && after->edge == edge)
			++after;
		uint32_t fresh = after != before ? (after - 1)->ordinal + 1 : 0;
		for (size_t i = begin; i < end; ++i)
		{
			Anchor& anchor = m_anchors[m_order[i]];
			// The other body's point tells the contacts of one edge apart as well as its own.
			auto nearest = after;
			double least = 0;
			for (auto last = before; last != after; ++last)
			{
				const double apart = length2(last->on_first - anchor.on_first) + length2(last->on_second - anchor.on_second);
				if (!last->taken && (nearest == after || apart < least))
					nearest = last, least = apart;
			}
			if (nearest != after)
				nearest->taken = true;
			anchor.ordinal = nearest != after ? nearest->ordinal : fresh++;
			anchor.name = name_of(edge, anchor.ordinal);
		}
	}
}

void EdgeContacts::recall(const Side& first, const Side& second, std::vector<Candidate>& candidates) const
{
	const Frames frames(first, second);
	for (const Anchor& anchor : m_anchors)
	{
		candidates.emplace_back();
		frames.place(anchor, candidates.back());
	}
}

bool EdgeContacts::update(const Side& first, const Side& second, std::vector<Candidate>& candidates) const
{
	const Frames frames(first, second);
	for (Candidate& c : candidates)
	{
		if (c.touch != Candidate::kMeshEdge)
			continue;
		const auto anchor = std::lower_bound(m_anchors.begin(), m_anchors.end(), c.feature, [](const Anchor& a, uint32_t name) { return a.name < name; });
		if (anchor == m_anchors.end() || anchor->name != c.feature)
			return false;
		frames.place(*anchor, c);
	}
	return true;
}
}  // namespace voxshell_bullet
