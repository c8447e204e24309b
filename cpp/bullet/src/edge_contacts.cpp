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

/// Contacts of two searches are at the same place if they differ by at most this fraction of the smaller body's size.
const double kSamePlace = 0.0005;
/// Distance of contacts that are anywhere on the bodies.
const double kAnywhere = 1e18;
/// Cosine of the largest angle between normals of one contact in two searches.
const double kSameDirection = 0.9;

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
	name_contacts(kSamePlace * std::min(first.size(), second.size()));
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

/// Returns the contact of the search before that is nearest on both bodies, and whose name is not given again yet.
/// @param farthest  distance
/// @param of_edge   whether it must be of the same edge
EdgeContacts::Anchor* EdgeContacts::nearest(const Anchor& anchor, double farthest, bool of_edge)
{
	Anchor* found = nullptr;
	double least = farthest * farthest;
	for (Anchor& last : m_last)
	{
		if (last.taken || (of_edge && last.edge != anchor.edge) || ((last.edge ^ anchor.edge) & ~kNumber) || (!of_edge && dot(last.normal, anchor.normal) < kSameDirection))
			continue;
		const double apart = length2(last.on_first - anchor.on_first) + length2(last.on_second - anchor.on_second);
		if (apart < least)
			found = &last, least = apart;
	}
	return found;
}

/// Names all contacts. A contact that keeps its name also keeps the edge and the ordinal that it was made of, so that no
/// two have the same.
void EdgeContacts::name_contacts(double same_place)
{
	const auto take = [](Anchor& anchor, Anchor* last) {
		if (!last)
			return;
		last->taken = true;
		anchor.edge = last->edge;
		anchor.ordinal = last->ordinal;
		anchor.name = last->name;
	};
	for (Anchor& anchor : m_anchors)
		take(anchor, nearest(anchor, same_place, false));
	for (Anchor& anchor : m_anchors)
		if (!anchor.name)
			take(anchor, nearest(anchor, kAnywhere, true));
	for (Anchor& anchor : m_anchors)
	{
		if (anchor.name)
			continue;
		const auto raise = [&](const std::vector<Anchor>& named) {
			for (const Anchor& other : named)
				if (other.name && other.edge == anchor.edge)
					anchor.ordinal = std::max(anchor.ordinal, other.ordinal + 1);
		};
		raise(m_last);
		raise(m_anchors);
		anchor.name = name_of(anchor.edge, anchor.ordinal);
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
