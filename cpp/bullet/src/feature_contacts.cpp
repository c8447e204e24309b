#include "feature_contacts.h"

#include "motion_pair.h"
#include "segment_selector.h"

namespace voxshell_bullet
{
namespace
{
/// Distance of points along the sharp edges of Bullet's shapes, in sizes of the Voxshell shape.
const double kEdgeSpacing = 0.005;

/// Depth up to which a point of a circle does not arrive, as a fraction of the distance from the body's centre.
const double kRoll = 1e-3;

/// Those of the core for samples, the first as a fraction of a radius instead of an extent.
const double kGrazed = 1.0 / 2000, kGrazeAside = 0.4, kGrazePressed = 0.8, kGrazeCarries = 0.87, kGrazeFollowed = 8, kGrazeStride = 8;
const int kGrazeLooks = 64;

/// Length of a gradient that has no direction.
const double kGrazeGradient = 1e-9;
}  // namespace

struct FeatureContacts::Test
{
	const Side &ours, &theirs;
	SharpFeatures::Target target;
	Frame to_world, ours_to_world, world_to_ours;
	bool ours_is_first;

	Test(const Side& our_side, const Side& their_side, bool first, double distance)
		: ours(our_side), theirs(their_side), to_world(theirs.pose), ours_to_world(ours.pose), world_to_ours(ours_to_world.inverse()), ours_is_first(first)
	{
		target.field = ours.voxshell->getField();
		target.slope = ours.voxshell->getFieldSlope();
		target.to_field = world_to_ours * to_world;
		target.limit = distance + theirs.inflation;
		target.spacing = kEdgeSpacing * ours.size();
		const Frame from_ours = target.to_field.inverse();
		const Vec middle = from_ours(to_vec(ours.voxshell->getLocalCenter()));
		const Vec half = from_ours.turned_box(to_vec(ours.voxshell->getLocalHalfExtents())) + Vec{target.limit, target.limit, target.limit};
		target.low = middle - half;
		target.high = middle + half;
	}

	/// Returns the radius of the part of the shape around a feature's point, m.
	double radius_around(const SharpFeatures::Touch& touch) const { return touch.radius + theirs.inflation; }

	/// Returns the depth to which a point may graze our shape, m.
	double graze() const { return kGrazed * std::min(ours.extent, theirs.extent); }

	/// Fills in the contact of a feature's point; false where there is no outward direction.
	bool read(const SharpFeatures::Touch& touch, Candidate& c) const
	{
		const Vec point = to_world(touch.point);
		// Where the field has no direction, in the middle of a part, the outward direction is away from the body's
		// centre.
		const Vec way = length2(touch.outward) > 0 ? ours_to_world.rotate(touch.outward) : point - ours.motion.center;
		const double norm = length(way);
		if (!(norm > 0))
			return false;
		const Vec outward = way * (1 / norm);
		const double around = radius_around(touch);
		c.feature = touch.feature;
		c.normal = ours_is_first ? -outward : outward;
		c.distance = touch.distance - around;
		c.point = point - outward * (ours_is_first ? around : touch.distance);
		return true;
	}

	/// Changes the contact of a feature's point into that with the wall ahead; false when there is no other wall.
	///
	/// A field knows the nearest wall only. In a valley another wall may be nearest to the point at the end of the
	/// step: this uses that wall's plane, as seen from the present position of the point.
	bool read_ahead(const SharpFeatures::Touch& touch, double dt, Candidate& c) const
	{
		const Vec point = to_world(touch.point), outward = ours_is_first ? -c.normal : c.normal;
		const Vec moved = (theirs.motion.velocity_at(point) - ours.motion.velocity_at(point)) * dt;
		Vec gradient;
		double there = 0;
		if (vxs_field_distance(target.field, world_to_ours(point + moved), &there, &gradient) != VXS_OK || length2(gradient) < 0.0625)
			return false;
		const Vec ahead = ours_to_world.rotate(gradient) * (1 / length(gradient));
		if (dot(ahead, outward) > kSameWall)
			return false;
		// No wall of a valley is nearer than the nearest one: this is the far side of a part, behind which the point
		// would be.
		const double slack = std::min(MotionPair::kAllowed * double(ours.voxshell->getResolution()), graze());
		if (there - dot(ahead, moved) < touch.distance - slack)
			return false;
		const double around = radius_around(touch);
		c.feature |= SharpFeatures::kAhead;
		c.normal = ours_is_first ? -ahead : ahead;
		c.distance = there - dot(ahead, moved) - around;
		c.point = point - ahead * (ours_is_first ? around : c.distance + around);
		return true;
	}

	/// Returns whether a feature's point grazes our shape past an edge of it, and then below a face on which forces press: as the core
	/// does for samples, see src/contact/search/graze.rs.
	bool is_carried(const SharpFeatures::Touch& touch, const Candidate& c, const Wanted& wanted) const
	{
		const double depth = graze(), sign = ours_is_first ? -1 : 1;
		const Vec outward = ours_is_first ? -c.normal : c.normal, point = to_world(touch.point) - outward * radius_around(touch);
		const Vec gained = (wanted.approach.gained_by_first - wanted.approach.gained_by_second) * sign;
		const Vec along = (wanted.approach.at(c.point) * sign - gained) * wanted.dt;
		const double towards = -dot(along, outward), path = length(along);
		const double below = std::min((c.distance + 2 * depth) / towards, 1 + kGrazeFollowed * depth / path);
		if (c.distance < -depth || !(length2(gained) > 0) || dot(outward, gained) <= -kGrazeCarries * length(gained) || !(towards > 0) || below * towards < c.distance)
			return false;
		bool is_carried = false;
		double time = std::max(below, 1.0);
		for (int look = 0; look < kGrazeLooks; ++look)
		{
			double phi = 0;
			Vec gradient;
			if (vxs_field_distance(target.field, world_to_ours(point + along * time), &phi, &gradient) != VXS_OK || phi < -depth)
				return false;
			const Vec face = ours_to_world.rotate(gradient) * (1 / std::max(length(gradient), kGrazeGradient));
			if (phi <= depth && std::fabs(dot(face, outward)) <= kGrazeAside && dot(face, gained) <= -kGrazePressed * length(gained))
				is_carried = true;
			else if (phi < 0)
				return false;
			if (time <= below)
				return is_carried;
			time = std::max(below, time - std::max(phi, kGrazeStride * depth) / path);
		}
		return false;
	}

	/// Returns whether a point of a circle will be deeper at the end of the step than the present deepest point of the circle. The
	/// points of a circle that rolls come down by the first order of their motion, and never arrive.
	/// @param to_ours_then  from the world to the frame of our shape at the end of the step
	bool arrives(const SharpFeatures::Touch& touch, const SharpFeatures::Touch& deepest, const Frame& to_ours_then, const Wanted& wanted) const
	{
		const Vec under = to_world(deepest.point), outward = ours_to_world.rotate(deepest.outward);
		const double comes = dot(wanted.approach.at(under), outward) * wanted.dt * (ours_is_first ? -1 : 1);
		double there = 0;
		const Vec end = to_ours_then(Approach(theirs.motion, wanted.dt).end_of(to_world(touch.point), wanted.dt));
		return vxs_field_distance(target.field, end, &there, nullptr) != VXS_OK || there < deepest.distance + std::min(comes, 0.0) - kRoll * length(under - theirs.motion.center);
	}
};

/// Runs the test of each side that has features against the field of the other.
template <class F>
void FeatureContacts::for_each_test(const Side& first, const Side& second, double distance, const F& run)
{
	if (second.features && first.has_field && !second.features->empty())
		run(Test(first, second, true, distance));
	if (first.features && second.has_field && !first.features->empty())
		run(Test(second, first, false, distance));
}

void FeatureContacts::find(const Side& first, const Side& second, double distance, const Wanted& wanted, std::vector<Candidate>& candidates)
{
	for_each_test(first, second, distance, [&](const Test& test) {
		test.theirs.features->touch(test.target, m_touches);
		append(test, wanted, candidates);
	});
}

void FeatureContacts::find_again(const Side& first, const Side& second, const Wanted& wanted, std::vector<Candidate>& candidates)
{
	if (m_touches.empty())
		return;
	for_each_test(first, second, wanted.distance, [&](const Test& test) {
		if (test.theirs.features->has_circles())
		{
			// The deepest points of a circle go over it.
			m_touches.clear();
			test.theirs.features->touch(test.target, m_touches);
		}
		else
			for (SharpFeatures::Touch& touch : m_touches)
				SharpFeatures::measure(test.target, touch);
		append(test, wanted, candidates);
	});
}

/// Appends the contacts of all points within the limit of the test.
void FeatureContacts::append(const Test& test, const Wanted& wanted, std::vector<Candidate>& candidates) const
{
	Frame to_ours_then;
	if (test.theirs.features->has_circles())
		to_ours_then = Frame(Approach(test.ours.motion, wanted.dt).moved(test.ours.pose, wanted.dt)).inverse();
	for (size_t i = 0; i < m_touches.size(); ++i)
	{
		const SharpFeatures::Touch& touch = m_touches[i];
		Candidate c;
		if (touch.distance > test.target.limit + touch.radius || !test.read(touch, c))
			continue;
		if (touch.lowest != SharpFeatures::kNone && !test.arrives(touch, m_touches[touch.lowest], to_ours_then, wanted))
			continue;
		c.touch = uint32_t(i);
		c.round = touch.radius > 0 || (touch.feature & SharpFeatures::kDeepest) != 0;
		c.segment = kSegmentOfFeatures;
		if (test.is_carried(touch, c, wanted))
			continue;
		candidates.push_back(c);
		if (test.read_ahead(touch, wanted.dt, c))
			candidates.push_back(c);
	}
}

bool FeatureContacts::update(const Side& first, const Side& second, std::vector<Candidate>& candidates)
{
	const bool theirs_is_second = second.features != nullptr;
	const Test test(theirs_is_second ? first : second, theirs_is_second ? second : first, theirs_is_second, 0);
	for (Candidate& c : candidates)
	{
		if (c.touch == Candidate::kSample || c.touch == Candidate::kMeshEdge)
			continue;
		SharpFeatures::Touch& touch = m_touches[c.touch];
		SharpFeatures::measure(test.target, touch);
		// Look-ahead contacts depend on the motion as well.
		if (c.feature & SharpFeatures::kAhead || !test.read(touch, c))
			return false;
	}
	return true;
}
}  // namespace voxshell_bullet
