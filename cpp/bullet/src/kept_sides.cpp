#include "kept_sides.h"

#include <algorithm>
#include <limits>

#include "sample_query.h"

namespace voxshell_bullet
{
namespace
{
/// Cosine of the least angle between the directions to the two sides of a wall, and of the largest one to the same side.
const double kOther = -0.9, kSame = 0.5;

/// A contact is turned back if it is then no deeper than this many times what it or the contact before was.
const double kDeeper = 2;

/// The body whose surface a contact is on: the one that does not bring its feature.
struct Holder
{
	const Side& side;
	Frame frame, back;
	bool has_faces;  // that can be asked for

	explicit Holder(const Side& s) : side(s), frame(s.pose), back(frame.inverse()), has_faces(s.voxshell && s.has_field && s.inflation == 0) {}
};

struct Holders
{
	Holder first, second;

	Holders(const Side& a, const Side& b) : first(a), second(b) {}
	const Holder& of(const Candidate& c) const { return c.feature & kOfSecond ? first : second; }
	/// Returns the other body's point and the direction out of the holder, in its frame.
	Vec place(const Candidate& c) const { return of(c).back(c.feature & kOfSecond ? c.point : c.point + c.normal * c.distance); }
	Vec outward(const Candidate& c) const { return of(c).back.rotate(c.feature & kOfSecond ? -c.normal : c.normal); }
};

/// Finds where a point in a shape comes out in a direction, up to a distance; false if it does not.
bool leaves(const vxs_shape* shape, const Vec& from, const Vec& direction, double reach, double& depth, Vec& outward)
{
	vxs_segment_hit crossing;
	size_t count = 0;
	const vxs_status status = vxs_shape_query_crossings(shape, from, from + direction * reach, &crossing, 1, &count);
	if ((status != VXS_OK && status != VXS_TRUNCATED) || count == 0 || dot(crossing.normal, direction) < kSame)
		return false;
	outward = crossing.normal;
	depth = crossing.fraction * reach * dot(outward, direction);
	return true;
}
}  // namespace

bool KeptSides::Kept::goes_on_at(const Kept& other) const
{
	return of_second == other.of_second && std::abs(dot(other.place - place, outward)) <= kDeeper * std::max(depth, other.depth);
}

void KeptSides::keep(const Side& first, const Side& second, std::vector<Candidate>& candidates) const
{
	const auto is_deep = [](const Candidate& c) { return c.distance < 0; };
	if (m_kept.empty() || std::none_of(candidates.begin(), candidates.end(), is_deep))
		return;
	const Holders holders(first, second);
	for (Candidate& c : candidates)
	{
		const Holder& holder = holders.of(c);
		if (!is_deep(c) || !holder.has_faces)
			continue;
		const uint32_t of_second = c.feature & kOfSecond;
		const Vec outward = holders.outward(c);
		const auto is_other = [&](const Kept& k) { return k.of_second == of_second && dot(k.outward, outward) <= kOther; };
		if (std::none_of(m_kept.begin(), m_kept.end(), is_other))
			continue;
		const Vec place = holders.place(c);
		const Kept* const before = turned_from({of_second, place, outward, -c.distance});
		double depth;
		Vec side;
		if (!before || !leaves(holder.side.shape, place, before->outward, kDeeper * std::max(before->depth, -c.distance), depth, side))
			continue;
		const Vec point = holder.frame(place), normal = holder.frame.rotate(side);
		c.distance = -depth;
		c.normal = of_second ? -normal : normal;
		c.point = of_second ? point : point + normal * depth;
	}
}

/// Returns the nearest contact of the last step whose face goes on at a contact, if it leads to the other side of a part.
const KeptSides::Kept* KeptSides::turned_from(const Kept& contact) const
{
	const Kept* other = nullptr;
	double to_other = std::numeric_limits<double>::infinity(), to_same = to_other;
	for (const Kept& kept : m_kept)
	{
		if (!kept.goes_on_at(contact))
			continue;
		const double cosine = dot(kept.outward, contact.outward), apart = length2(kept.place - contact.place);
		if (cosine >= kSame)
			to_same = std::min(to_same, apart);
		else if (cosine <= kOther && apart < to_other)
			other = &kept, to_other = apart;
	}
	return to_other < to_same ? other : nullptr;
}

void KeptSides::remember(const Side& first, const Side& second, double shallow, const std::vector<Candidate>& chosen)
{
	m_last.swap(m_kept);
	m_kept.clear();
	if (chosen.empty())
		return;
	const Holders holders(first, second);
	for (const Candidate& c : chosen)
	{
		if (!holders.of(c).has_faces)
			continue;
		const Kept now = {c.feature & kOfSecond, holders.place(c), holders.outward(c), std::max(0.0, -c.distance)};
		const auto is_like = [&](const Kept& last) { return dot(last.outward, now.outward) >= kSame && last.goes_on_at(now); };
		if (now.depth <= shallow || std::any_of(m_last.begin(), m_last.end(), is_like))
			m_kept.push_back(now);
	}
}
}  // namespace voxshell_bullet
