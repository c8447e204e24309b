#include "pair_query.h"

#include <algorithm>
#include <string>

#include "log.h"
#include "motion_pair.h"
#include "segment_selector.h"
#include "vec.h"

namespace voxshell_bullet
{
namespace
{
/// Distance of points along the sharp edges of Bullet's shapes, in sizes of the Voxshell shape.
const double kEdgeSpacing = 0.005;

/// Extra search distance beyond the margin, in margins. Used only if the cached result then stays valid for at least
/// kSlowSteps steps.
const double kSlack = 0.5;
const double kSlowSteps = 4;

/// If a pair can come nearer in the step by more than this, in distances of samples, it searches only for contacts that
/// will be near at the step's end: the others are few, and are remembered.
const double kFar = 0.2;

/// Bit of a feature: the sample is the second body's.
const uint32_t kOfSecond = 0x80000000u;

/// Above this number of contacts of samples, the contacts are thinned before each one is evaluated.
const uint64_t kCrowd = 1024;

/// Look-ahead: depths that differ by less than kFlush of the margin are the same. Samples that move by more than
/// kStride of our voxels in the step are left to the continuous queries. The surface must turn by at most the first
/// angle, given by its cosine, or else it is the far side of a part; and by at least the other, or it is the same
/// plane.
const double kFlush = 0.05;
const double kStride = 8;
const double kTurned = -0.5;
const double kSame = 0.9998;
/// Samples that move sideways by less than this fraction of their displacement only come nearer.
const double kAside = 0.02;

/// Normals that differ by less than this are those of one face, rad.
const double kFlat = 1e-5;

/// Cosine of the angle up to which two directions of a field belong to the same wall: 15 degrees.
const double kSameWall = 0.966;

/// Fills in the contact of a sample. This is the only place where the C API's normal (A to B) becomes Bullet's (on B,
/// towards A).
void take(const vxs_contact& contact, double first_inflation, double second_inflation, Candidate& c)
{
	c.feature = contact.feature;
	c.normal = -contact.normal;
	c.distance = contact.separation - first_inflation - second_inflation;
	c.point = contact.point_on_b + c.normal * second_inflation;
}

/// A rotation.
struct Turn
{
	Vec axis;  // times the sine of half the angle
	double cosine;

	/// Makes the rotation by a rotation vector, rad.
	explicit Turn(const Vec& by)
	{
		const double angle = length(by);
		axis = by * (angle > 1e-9 ? std::sin(0.5 * angle) / angle : 0.5);
		cosine = std::cos(0.5 * angle);
	}
	Vec operator()(const Vec& v) const
	{
		const Vec t = cross(axis, v) * 2;
		return v + t * cosine + cross(axis, t);
	}
};

/// Returns the pose after a time of a body that keeps its present motion relative to the other body.
vxs_pose moved(const vxs_pose& pose, const Approach& approach, double time)
{
	const Turn turn(approach.spin * time);
	const Vec q = {pose.qx, pose.qy, pose.qz}, v = q * turn.cosine + turn.axis * pose.qw + cross(turn.axis, q);
	return {approach.center + turn(pose.position - approach.center) + approach.velocity * time, v.x, v.y, v.z, turn.cosine * pose.qw - dot(turn.axis, q)};
}

/// One shape's sharp features in the field of the other.
struct Crossing
{
	SharpFeatures::Target target;
	Frame to_world, ours_to_world;
	Vec center;  // of our body
	double inflation;
	bool ours_is_first;

	Crossing(const Side& ours, const Side& theirs, bool first, double distance)
		: to_world(theirs.pose), ours_to_world(ours.pose), center(ours.motion.center), inflation(theirs.inflation), ours_is_first(first)
	{
		target.field = ours.voxshell->getField();
		target.slope = ours.voxshell->getFieldSlope();
		target.to_field = ours_to_world.inverse() * to_world;
		target.limit = distance + inflation;
		target.spacing = kEdgeSpacing * ours.size();
		const Frame from_ours = target.to_field.inverse();
		const Vec middle = from_ours(to_vec(ours.voxshell->getLocalCenter()));
		const Vec half = from_ours.turned_box(to_vec(ours.voxshell->getLocalHalfExtents())) + Vec{target.limit, target.limit, target.limit};
		target.low = middle - half;
		target.high = middle + half;
	}

	/// Fills in the contact of a feature's point; false where there is no outward direction.
	bool take(const SharpFeatures::Touch& touch, Candidate& c) const
	{
		const Vec point = to_world(touch.point);
		// Where the field has no direction, in the middle of a part, the outward direction is away from the body's
		// centre.
		const Vec way = length2(touch.outward) > 0 ? ours_to_world.rotate(touch.outward) : point - center;
		const double norm = length(way);
		if (!(norm > 0))
			return false;
		const Vec outward = way * (1 / norm);
		const double around = touch.radius + inflation;
		c.feature = touch.feature;
		c.normal = ours_is_first ? -outward : outward;
		c.distance = touch.distance - around;
		c.point = point - outward * (ours_is_first ? around : touch.distance);
		return true;
	}
};
}  // namespace

PairQuery::PairQuery()
{
	vxs_workspace* made = nullptr;
	if (vxs_workspace_create(&made) == VXS_OK)
		m_workspace.reset(made);
	m_contacts.resize(256);
}

bool PairQuery::find_forms(Side& first, Side& second, double distance)
{
	m_patch_changed = false;
	if (!m_workspace)
		return false;
	if (!first.voxshell || !second.voxshell)
		return first.voxshell ? find_stock_form(first, second, distance) : (second.voxshell && find_stock_form(second, first, distance));

	forms_of(*first.voxshell, *second.voxshell, first, second);
	if (!can_meet(first, second))
	{
		warn_once(first.has_field || second.has_field ? "two voxelmap shapes without triangles do not collide: neither brings samples"
													  : "two pointshell shapes do not collide: neither brings a field");
		return false;
	}
	return true;
}

bool PairQuery::find_stock_form(Side& ours, Side& theirs, double distance)
{
	const btCollisionShape* shape = theirs.stock;
	double factor = 1;
	const PairRow* row = find_row(shape, factor);
	if (!row || row->treatment == Treatment::IGNORED || row->treatment == Treatment::STOCK)
	{
		warn_once(std::string("a Voxshell shape does not collide with ") + (row ? row->name : "a shape of unknown type"));
		return false;
	}

	const bool can_be_sampled = row->treatment == Treatment::FORM && row->kind->surface;
	ours.form() = form_of(*ours.voxshell, !can_be_sampled);
	if (row->treatment == Treatment::FORM)
	{
		const bool sampled = can_be_sampled && !ours.has_pointshell;
		if (!m_stock.update(shape, *row->kind, factor, sampled))
		{
			warn_once(std::string("a Voxshell shape does not collide with ") + row->name + " that has no volume");
			return false;
		}
		theirs.shape = m_stock.shape();
		theirs.has_pointshell = sampled;
		theirs.has_field = !sampled;
		theirs.inflation = m_stock.inflation();
		theirs.features = &m_stock.features();
	}
	else
	{
		const Frame to_theirs = Frame(theirs.pose).inverse() * Frame(ours.pose);
		const Vec center = to_vec(ours.voxshell->getLocalCenter()), at = to_theirs(center);
		const Vec half = to_theirs.turned_box(to_vec(ours.voxshell->getLocalHalfExtents())) + Vec{distance, distance, distance};
		const bool near = m_patch.update(static_cast<const btConcaveShape*>(shape), at - half, at + half, ours.size());
		m_patch_changed = !m_patch.unchanged();
		m_depth_limit = m_patch.unchanged() && ours.shape == m_last_shape ? m_last_depth + displacement(m_last_frame, to_theirs, center, ours.size())
																		  : std::numeric_limits<double>::infinity();
		m_last_frame = to_theirs;
		m_last_shape = ours.shape;
		m_last_depth = 0;
		if (!near)
			return false;
		theirs.shape = m_patch.shape();
		theirs.has_field = true;
		theirs.features = &m_patch.features();
	}
	if (!can_meet(ours, theirs))
	{
		warn_once(std::string("a voxelmap shape without triangles does not collide with ") + row->name + ": neither brings samples");
		return false;
	}
	return true;
}

bool PairQuery::forms_are_known(const Side& first, const Side& second) const
{
	const auto is_known = [](const Side& side, const Known& known) {
		return side.shape == known.shape && side.features == known.features && side.inflation == known.inflation && side.size() == known.size;
	};
	return is_known(first, m_known[0]) && is_known(second, m_known[1]) && !m_patch_changed;
}

bool PairQuery::covers(const Wanted& wanted) const { return m_found && m_all && wanted.distance + wanted.slope * wanted.now.moved_since(m_frame_then) <= m_searched; }

const Side* PairQuery::face_holder(const std::vector<Candidate>& candidates, const Side& first, const Side& second) const
{
	if (candidates.empty() || !m_all || m_patch.shape() != nullptr)
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

bool PairQuery::find(const Side& first, const Side& second, const btVoxShellSettings& settings, const Wanted& wanted, const std::vector<uint32_t>& kept, std::vector<Candidate>& candidates)
{
	// The side of a sheet on which a sample lies does not depend on the distance alone.
	const bool is_near = forms_are_known(first, second) && m_patch.shape() == nullptr && covers(wanted);
	const double slack = kSlack * wanted.margin;
	candidates.clear();
	if (!is_near)
	{
		const bool is_slow = m_found && kSlowSteps * wanted.slope * wanted.now.moved_since(m_frame_before) < slack;
		if (settings.m_segmentation == VXS_SEGMENTATION_LEVEL && !forms_are_known(first, second))
			know_segments(first, second, settings.m_segmentLevel);
		m_known[0] = {first.shape, first.features, first.inflation, first.size()};
		m_known[1] = {second.shape, second.features, second.inflation, second.size()};
		m_frame_then = wanted.now.relative;
		m_searched = wanted.distance + (is_slow ? slack : 0.0);
		m_touches.clear();
		const double spacing = std::max(first.voxshell ? first.voxshell->getSampleSpacing() : 0.0, second.voxshell ? second.voxshell->getSampleSpacing() : 0.0);
		m_found = search(first, second, settings, wanted, !is_slow && wanted.distance - wanted.worth > kFar * spacing, kept, candidates);
	}
	else
	{
		for (size_t i = 0; i < m_near.size(); ++i)
		{
			candidates.emplace_back();
			candidates.back().feature = m_near[i];
			candidates.back().segment = m_near_segments[i];
		}
		m_found = look_at_samples(first, second, candidates);
	}
	m_frame_before = wanted.now.relative;
	if (!m_found)
		return false;
	if (second.features && first.has_field)
		add_touches(first, second, true, is_near ? wanted.distance : m_searched, !is_near, wanted.dt, candidates);
	if (first.features && second.has_field)
		add_touches(second, first, false, is_near ? wanted.distance : m_searched, !is_near, wanted.dt, candidates);
	return true;
}

/// Fills `candidates` with the contacts of samples up to `m_searched`: with all of them, to be re-evaluated later, or,
/// if that distance is far, with those that count in this step. Dense contacts are thinned to the most urgent.
bool PairQuery::search(const Side& first, const Side& second, const btVoxShellSettings& settings, const Wanted& wanted, bool is_far, const std::vector<uint32_t>& kept, std::vector<Candidate>& candidates)
{
	const bool shell_of_first = first.has_pointshell && second.has_field, shell_of_second = second.has_pointshell && first.has_field;
	vxs_query query;
	vxs_query_init(&query, sizeof query);
	query.roles = shell_of_first && shell_of_second ? settings.m_roles : (shell_of_first ? VXS_ROLES_SHELL_OF_A : VXS_ROLES_SHELL_OF_B);
	const double inflation = first.inflation + second.inflation;
	query.max_separation = m_searched + inflation;
	// A sample that was nowhere deeper than this behind a sheet cannot be deeper by more than it has moved since.
	query.max_depth = m_depth_limit;
	vxs_query_segmentation regions;
	vxs_query_segmentation_init(&regions, sizeof regions);
	if (settings.m_segmentation == VXS_SEGMENTATION_REGION)
	{
		regions.preferred_segments = m_known_regions.data();
		query.segmentation = &regions;
		query.preferred = m_known_features.data();
		query.preferred_count = uint32_t(m_known_features.size());
	}
	vxs_query_step step;
	vxs_query_step_init(&step, sizeof step);
	if (settings.m_segmentation == VXS_SEGMENTATION_NONE)
	{
		query.preferred = kept.data();
		query.preferred_count = uint32_t(kept.size());
		step.crowd = kCrowd;
		if (is_far)
			step.max_gap = wanted.worth + inflation;
		step.center = wanted.approach.center;
		step.shift = wanted.approach.velocity * wanted.dt;
		step.turn = wanted.approach.spin * wanted.dt;
		query.step = &step;
	}
	const vxs_body a = {first.shape, first.pose}, b = {second.shape, second.pose};
	size_t count = 0;
	vxs_status status;
	while ((status = vxs_query_contacts(&a, &b, &query, m_workspace.get(), m_contacts.data(), m_contacts.size(), &count)) == VXS_TRUNCATED)
		m_contacts.resize(count + count / 2);
	if (status != VXS_OK)
	{
		log_failure("contacts of a pair", status);
		return false;
	}
	vxs_query_report report;
	vxs_query_report_init(&report, sizeof report);
	m_all = vxs_workspace_get_report(m_workspace.get(), &report) == VXS_OK && report.answer == VXS_ANSWER_COMPLETE && !(step.max_gap < query.max_separation);
	candidates.resize(count);
	m_near.clear();
	for (size_t i = 0; i < count; ++i)
	{
		take(m_contacts[i], first.inflation, second.inflation, candidates[i]);
		m_near.push_back(candidates[i].feature);
		m_last_depth = std::max(m_last_depth, -candidates[i].distance);
	}
	find_segments(settings, count);
	for (size_t i = 0; i < count; ++i)
		candidates[i].segment = m_near_segments[i];
	return true;
}

/// Finds the segments of a level before the first search in new forms.
void PairQuery::know_segments(const Side& first, const Side& second, uint32_t level)
{
	m_segments.clear();
	const auto append = [&](const Side& side) {
		size_t count = 0;
		if (!side.has_pointshell || vxs_shape_get_segments(side.shape, level, nullptr, 0, &count) != VXS_TRUNCATED)
			return;
		const size_t before = m_segments.size();
		m_segments.resize(before + count);
		vxs_shape_get_segments(side.shape, level, m_segments.data() + before, count, &count);
	};
	append(first);
	m_segments_of_first = m_segments.size();
	append(second);
}

/// Fills `m_near_segments` for the samples that a search has found.
void PairQuery::find_segments(const btVoxShellSettings& settings, size_t count)
{
	m_near_segments.assign(count, 0);
	if (settings.m_segmentation == VXS_SEGMENTATION_LEVEL)
	{
		const auto middle = m_segments.begin() + std::ptrdiff_t(m_segments_of_first);
		for (size_t i = 0; i < count; ++i)
		{
			const uint32_t sample = m_near[i] & ~kOfSecond;
			const bool of_second = sample != m_near[i];
			const auto begin = of_second ? middle : m_segments.begin(), end = of_second ? m_segments.end() : middle;
			m_near_segments[i] = uint32_t(std::upper_bound(begin, end, sample) - m_segments.begin()) - 1;
		}
	}
	else if (settings.m_segmentation == VXS_SEGMENTATION_REGION)
	{
		size_t found = 0;
		if (vxs_workspace_get_segments(m_workspace.get(), m_near_segments.data(), count, &found) != VXS_OK)
			m_near_segments.assign(count, 0);
		m_regions.clear();
		for (size_t i = 0; i < count; ++i)
			m_regions.emplace_back(m_near[i], m_near_segments[i]);
		std::sort(m_regions.begin(), m_regions.end());
		m_known_features.clear();
		m_known_regions.clear();
		for (const auto& known : m_regions)
		{
			m_known_features.push_back(known.first);
			m_known_regions.push_back(known.second);
		}
	}
}

/// Updates the candidates that are samples to the present poses.
bool PairQuery::look_at_samples(const Side& first, const Side& second, std::vector<Candidate>& candidates)
{
	m_numbers.clear();
	for (const Candidate& c : candidates)
		if (c.touch == Candidate::kSample)
			m_numbers.push_back(c.feature);
	if (!look_at_numbers(first.pose, first, second))
		return false;
	const vxs_contact* next = m_contacts.data();
	for (Candidate& c : candidates)
		if (c.touch == Candidate::kSample)
		{
			if (!(next->separation < std::numeric_limits<double>::infinity()))
				return false;
			take(*next++, first.inflation, second.inflation, c);
		}
	return true;
}

void PairQuery::look_ahead(const Side& first, const Side& second, const Wanted& wanted, std::vector<Candidate>& candidates)
{
	// The side of a sheet on which a sample lies depends on where it came from.
	if (m_patch.shape() != nullptr)
		return;
	double resolution = std::numeric_limits<double>::infinity();
	for (const Side* side : {&first, &second})
		if (side->voxshell)
			resolution = std::min(resolution, double(side->voxshell->getResolution()));
	const double flush = kFlush * wanted.margin;
	// Samples that only come nearer do not slide past an edge.
	const auto slides = [&](const Candidate& c) {
		const Vec way = wanted.approach.at(c.point) * wanted.dt;
		const double slid = length(way - c.normal * dot(way, c.normal));
		return slid > kAside * length(way) && length(way) <= kStride * resolution;
	};
	m_broken.clear();
	m_numbers.clear();
	for (size_t i = 0; i < candidates.size(); ++i)
	{
		const Candidate& c = candidates[i];
		if (c.touch == Candidate::kSample && !c.pinned && c.gap < std::min(c.distance, 0.0) - flush && slides(c))
		{
			m_broken.push_back({i, c.distance, c.normal, true});
			m_numbers.push_back(c.feature);
		}
	}
	if (m_broken.empty() || !look_from(first, second, wanted, wanted.dt, candidates))
		return;
	const auto is_outside = [&](const Ahead& ahead) { return ahead.distance >= std::min(candidates[ahead.index].distance, 0.0) - flush; };
	// At most samples the surface is the same there.
	size_t kept = 0;
	double longest = 0;
	for (size_t i = 0; i < m_broken.size(); ++i)
	{
		const Ahead& ahead = m_broken[i];
		const Candidate& c = candidates[ahead.index];
		const double turned = dot(ahead.normal, c.normal);
		if (!(is_outside(ahead) && turned >= kTurned && turned <= kSame))
			continue;
		longest = std::max(longest, length(wanted.approach.at(c.point)) * wanted.dt);
		m_numbers[kept] = m_numbers[i];
		m_broken[kept++] = ahead;
	}
	m_numbers.resize(kept);
	m_broken.resize(kept);
	m_ends = m_broken;
	const int looks = kept == 0 ? 0 : std::max(2, int(std::ceil(longest / resolution)));
	for (int look = 1; look < looks; ++look)
	{
		if (!look_from(first, second, wanted, wanted.dt * look / looks, candidates))
			return;
		for (size_t i = 0; i < kept; ++i)
			m_ends[i].is_free = m_ends[i].is_free && is_outside(m_broken[i]);
	}
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

/// Fills in the planes of `m_broken` at the poses after the motion has gone on for a time: their normals, and the
/// samples' present distances from them.
bool PairQuery::look_from(const Side& first, const Side& second, const Wanted& wanted, double time, const std::vector<Candidate>& candidates)
{
	if (!look_at_numbers(moved(first.pose, wanted.approach, time), first, second))
		return false;
	const Turn back(-(wanted.approach.spin * time));
	for (size_t i = 0; i < m_broken.size(); ++i)
	{
		Ahead& ahead = m_broken[i];
		Candidate then;
		take(m_contacts[i], first.inflation, second.inflation, then);
		// Surfaces stay and samples move: where the surface is the first body's, the normal has only seemed to turn.
		ahead.normal = then.feature & kOfSecond ? back(then.normal) : then.normal;
		ahead.distance = then.distance - std::min(0.0, dot(ahead.normal, wanted.approach.at(candidates[ahead.index].point))) * time;
	}
	return true;
}

/// Fills `m_contacts` with the contacts of `m_numbers`, the first body being at another pose.
bool PairQuery::look_at_numbers(const vxs_pose& first_pose, const Side& first, const Side& second)
{
	if (m_contacts.size() < m_numbers.size())
		m_contacts.resize(m_numbers.size());
	const vxs_body a = {first.shape, first_pose}, b = {second.shape, second.pose};
	return vxs_query_features(&a, &b, m_numbers.data(), m_numbers.size(), m_contacts.data()) == VXS_OK;
}

/// Appends to `candidates` the contacts of the sharp features of `theirs` with `ours`.
/// @param search  search for them; if false, only update those that were found
void PairQuery::add_touches(const Side& ours, const Side& theirs, bool ours_is_first, double distance, bool search, double dt, std::vector<Candidate>& candidates)
{
	if (theirs.features->empty() || (!search && m_touches.empty()))
		return;
	const Crossing crossing(ours, theirs, ours_is_first, distance);
	if (search)
		theirs.features->touch(crossing.target, m_touches);
	else
		for (SharpFeatures::Touch& touch : m_touches)
			SharpFeatures::measure(crossing.target, touch);

	const Frame from_world = crossing.ours_to_world.inverse();
	for (size_t i = 0; i < m_touches.size(); ++i)
	{
		const SharpFeatures::Touch& touch = m_touches[i];
		Candidate c;
		if (touch.distance > crossing.target.limit + touch.radius || !crossing.take(touch, c))
			continue;
		c.touch = uint32_t(i);
		c.segment = kSegmentOfFeatures;
		candidates.push_back(c);

		// A field knows the nearest wall only. In a valley another wall may be nearest to the point at the end of the
		// step: use that wall's plane, as seen from the present position of the point.
		const Vec point = crossing.to_world(touch.point), outward = ours_is_first ? -c.normal : c.normal;
		const Vec moved = (theirs.motion.velocity_at(point) - ours.motion.velocity_at(point)) * dt;
		Vec gradient;
		double there = 0;
		if (vxs_field_distance(crossing.target.field, from_world(point + moved), &there, &gradient) != VXS_OK || length2(gradient) < 0.0625)
			continue;
		const Vec ahead = crossing.ours_to_world.rotate(gradient) * (1 / length(gradient));
		if (dot(ahead, outward) > kSameWall)
			continue;
		// No wall of a valley is nearer than the nearest one: this is the far side of a part, behind which the point
		// would be.
		if (there - dot(ahead, moved) < touch.distance - MotionPair::kAllowed * double(ours.voxshell->getResolution()))
			continue;
		const double around = touch.radius + theirs.inflation;
		c.feature |= SharpFeatures::kAhead;
		c.normal = ours_is_first ? -ahead : ahead;
		c.distance = there - dot(ahead, moved) - around;
		c.point = point - ahead * (ours_is_first ? around : c.distance + around);
		candidates.push_back(c);
	}
}

bool PairQuery::find_again(const Side& first, const Side& second, std::vector<Candidate>& candidates)
{
	if (!look_at_samples(first, second, candidates))
		return false;
	// The depth limit of every sample was known before this step.
	m_last_depth = m_depth_limit;
	if (m_numbers.size() == candidates.size())
		return true;
	const bool theirs_is_second = second.features != nullptr;
	const Crossing crossing(theirs_is_second ? first : second, theirs_is_second ? second : first, theirs_is_second, 0);
	for (Candidate& c : candidates)
	{
		if (c.touch == Candidate::kSample)
			continue;
		// Look-ahead contacts depend on the motion as well.
		SharpFeatures::Touch& touch = m_touches[c.touch];
		SharpFeatures::measure(crossing.target, touch);
		if (c.feature & SharpFeatures::kAhead || !crossing.take(touch, c))
			return false;
	}
	return true;
}
}  // namespace voxshell_bullet
