#include <voxshell/bullet/btVoxShellCollisionAlgorithm.h>

#include <algorithm>
#include <limits>

#include <BulletCollision/CollisionDispatch/btCollisionDispatcher.h>
#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>
#include <BulletCollision/CollisionShapes/btStaticPlaneShape.h>
#include <voxshell/bullet/btVoxShellShape.h>

#include "bounce_policy.h"
#include "budget_share.h"
#include "contact_policy.h"
#include "drift.h"
#include "fast_impact.h"
#include "kept_sides.h"
#include "manifold_set.h"
#include "motion_pair.h"
#include "pair_query.h"
#include "patch_contacts.h"
#include "segment_selector.h"
#include "side.h"
#include "triangle_finder.h"
#include "vec.h"

using namespace voxshell_bullet;

namespace
{
/// Contacts are chosen anew when the gap of any contact may have changed by this fraction of the margin.
const double kStill = 0.01;

/// Contacts that are no deeper than this fraction of the margin show the side from which the bodies met.
const double kShallow = 0.2;

/// The solver starts with this fraction of a point's impulses, unless told otherwise (btContactSolverInfo).
const double kWarmStarting = 0.85;

/// Fraction of a penetration that the solver corrects in a step, unless told otherwise (btContactSolverInfo).
const double kCorrected = 0.2;

/// Returns the impulse that the solver applied to the first body in the step before, N s.
Vec impulse_of(const btManifoldPoint& point)
{
	btVector3 impulse = point.m_normalWorldOnB * point.m_appliedImpulse + point.m_lateralFrictionDir1 * point.m_appliedImpulseLateral1;
	// The second direction is only set where there is one.
	if (point.m_appliedImpulseLateral2 != 0)
		impulse += point.m_lateralFrictionDir2 * point.m_appliedImpulseLateral2;
	return to_vec(impulse);
}

bool is_compliant(const btCollisionObjectWrapper* wrap)
{
	const btVoxShellBaseShape* shape = btVoxShellBaseShape::upcast(wrap->getCollisionShape());
	return shape && shape->getStiffness() > 0;
}

/// Returns the largest number of manifolds of a pair.
/// @param patches  there is one for each patch
int manifolds_of(const btVoxShellSettings& settings, bool patches)
{
	if (patches)
		return ManifoldSet::kMaxSegments;
	if (settings.m_segmentation == VXS_SEGMENTATION_LEVEL)
		return ManifoldSet::kMaxSegments;
	return btMax(1, btMin(settings.m_maxManifolds, int(ManifoldSet::kMaxManifolds)));
}

/// Lengths of the search of one step, m.
struct Range
{
	double size;      // of the smaller body
	double margin;    // of the shapes
	double asked;     // distance up to which the caller requests contacts
	double distance;  // up to which contacts are searched
	double worth;     // contacts whose gap is above this are not given to the solver
	bool is_fast;     // the bodies may come nearer in the step than contacts are searched ahead
};

/// Returns the distance up to which a caller requests contacts, m.
double asked_by(const btManifoldResult& result)
{
#if BT_BULLET_VERSION >= 286
	return double(result.m_closestPointDistanceThreshold);
#else
	(void)result;
	return 0;  // this Bullet version has no such request for distances
#endif
}

Range range_of(const Side& first, const Side& second, const btVoxShellSettings& settings, double dt, double asked)
{
	Range range;
	range.size = std::min(first.extent, second.extent);
	range.margin = std::max(first.margin(), second.margin());
	const double way = reach(first.motion, second.motion, dt);
	const double ahead = std::min(way * double(settings.m_lookahead), range.size * double(settings.m_maxLookaheadFraction));
	range.asked = asked;
	range.distance = range.margin + std::max(ahead, range.asked);
	// If a caller requests distances, far points count as well as near ones.
	range.worth = std::max(range.margin, range.asked);
	range.is_fast = way * std::min(1.0, double(settings.m_lookahead)) > range.size * double(settings.m_maxLookaheadFraction) + range.margin;
	return range;
}

Instant instant_of(const Side& smaller, const Side& other, double distance, double dt)
{
	Instant now(smaller.pose, smaller.motion, smaller.extent, other.pose, other.motion, distance, dt);
	if (other.is_plane())
		now.plane = to_vec(static_cast<const btStaticPlaneShape*>(other.stock)->getPlaneNormal());
	return now;
}

/// A pair in one step, with what was found.
struct Step
{
	Side first, second;
	Range range;
	double dt = 0;
	bool has_patches = false;  // else points
	bool is_searched = false;  // and not given to the solver yet
};

/// A choice of contacts works in these buffers, and leaves nothing in them that the next one reads.
struct Scratch
{
	ContactSelector selector;
	SegmentSelector segments;
	std::vector<Candidate> candidates;

	Scratch() { candidates.reserve(256); }
};

/// Returns the scratch of this thread. A world has thousands of pairs, and as many would take most of its memory.
Scratch& scratch()
{
	thread_local Scratch own;
	return own;
}
}  // namespace

struct btVoxShellCollisionAlgorithm::State
{
	btVoxShellSettings settings;
	ManifoldSet manifolds;
	PointMaker maker;
	BouncePolicy bounce;
	BudgetShare share;
	PairQuery pair;
	PatchContacts patches;
	bool has_patches;
	Drift drift;
	KeptSides sides;
	TriangleFinder triangles;
	Step now;
	std::vector<Candidate> chosen;
	std::vector<uint32_t> kept;

	State(btDispatcher* dispatcher, const btCollisionObjectWrapper* wrap0, const btCollisionObjectWrapper* wrap1, const btVoxShellSettings& s)
		: settings(s),
		  manifolds(dispatcher, wrap0->getCollisionObject(), wrap1->getCollisionObject(), manifolds_of(s, is_compliant(wrap0) || is_compliant(wrap1))),
		  maker(wrap0->getCollisionObject(), wrap1->getCollisionObject()),
		  bounce(double(s.m_restitutionVelocityThreshold)),
		  share(s.m_budget),
		  has_patches(is_compliant(wrap0) || is_compliant(wrap1)),
		  triangles(s.m_triangles)
	{
		chosen.reserve(size_t(ManifoldSet::kMaxManifolds * MANIFOLD_CACHE_SIZE));
		kept.reserve(size_t(ManifoldSet::kMaxManifolds * MANIFOLD_CACHE_SIZE));
	}

	/// Finds the contacts. Writes nothing but this, and calls nothing of the user's.
	/// @param asked  distance up to which the caller requests contacts, m
	void search(const btCollisionObjectWrapper* wrap0, const btCollisionObjectWrapper* wrap1, double dt, double asked);
	/// Gives the contacts of the last search to the solver, or to a caller that only wants a report.
	void give(btManifoldResult* result);

private:
	void begin_step(const Side& first, const Side& second, double dt);
	void update_chosen(const Side& first, const Side& second, const Range& range, double dt);
	bool stays_chosen(const Side& first, const Side& second, const Wanted& wanted, double asked) const;
	bool choose(const Side& first, const Side& second, const Wanted& wanted, double size);
	void keep_sides(const Side& first, const Side& second, std::vector<Candidate>& candidates) const;
	void list_kept();
	void select(const Wanted& wanted, double size);
	Face face_of_candidates(const Side& first, const Side& second, const Side& other) const;
	void forget_chosen();
	void add_fast_impact(const Side& first, const Side& second, double dt);
	double worst_gap(const Side& first, const Side& second, double searched, double dt) const;
	void give_patches(const Side& first, const Side& second, double dt, btManifoldResult* result);
	void give_points(const Side& first, const Side& second, double worth, double dt, btManifoldResult* result);
	void give(const Candidate& c, double dt, btManifoldPoint& point);
	void give_none();
};

void btVoxShellCollisionAlgorithm::State::search(const btCollisionObjectWrapper* wrap0, const btCollisionObjectWrapper* wrap1, double dt, double asked)
{
	now.is_searched = false;
	now.dt = dt;
	now.first = side_of(wrap0, dt);
	now.second = side_of(wrap1, dt);
	limit_radii(now.first, now.second);
	now.range = range_of(now.first, now.second, settings, dt, asked);
	begin_step(now.first, now.second, dt);
	const bool found = pair.find_forms(now.first, now.second, now.range.distance);
	// Without an answer, as for cells that are too many, contacts are points.
	now.has_patches = found && has_patches && !pair.has_sheet() && PatchContacts::can_find(now.first, now.second) && patches.find(now.first, now.second, settings, size_t(manifolds.max_manifolds()));
	if (found && !now.has_patches)
		update_chosen(now.first, now.second, now.range, dt);
	else
		forget_chosen();
	if (now.range.is_fast && !now.has_patches)
		add_fast_impact(now.first, now.second, dt);
	if (settings.m_budget && !now.has_patches)
		share.set_worst(worst_gap(now.first, now.second, now.range.distance, dt));
	now.is_searched = true;
}

void btVoxShellCollisionAlgorithm::State::give(btManifoldResult* result)
{
	now.is_searched = false;
	if (now.has_patches)
		give_patches(now.first, now.second, now.dt, result);
	else if (chosen.empty())
		give_none();
	else
		give_points(now.first, now.second, now.range.worth, now.dt, result);
}

void btVoxShellCollisionAlgorithm::State::begin_step(const Side& first, const Side& second, double dt)
{
	manifolds.begin();
	bounce.begin(first.motion, second.motion, dt, [this](uint32_t feature) {
		const btManifoldPoint* point = manifolds.find(feature);
		return point ? impulse_of(*point) : Vec{0, 0, 0};
	});
}

/// Re-evaluates the contacts in `chosen` while the pair hardly moves; otherwise searches and chooses anew.
void btVoxShellCollisionAlgorithm::State::update_chosen(const Side& first, const Side& second, const Range& range, double dt)
{
	const bool first_is_smaller = first.extent < second.extent;
	const Side &smaller = first_is_smaller ? first : second, &other = first_is_smaller ? second : first;
	const Instant now = instant_of(smaller, other, range.distance, dt);
	Wanted wanted = {range.distance, range.margin, std::max(first.slope(), second.slope()), dt, now, range.worth, now.approach};
	const double shallow = kShallow * range.margin;
	if (stays_chosen(first, second, wanted, range.asked) && pair.find_again(first, second, chosen))
	{
		// While nothing is deep, the sides of the last search stand.
		if (std::all_of(chosen.begin(), chosen.end(), [shallow](const Candidate& c) { return c.distance >= -shallow; }))
			return;
		keep_sides(first, second, chosen);
	}
	else
	{
		if (!first_is_smaller)
			wanted.approach = Approach(first.motion, second.motion, dt);
		if (choose(first, second, wanted, range.size))
			drift.remember(now, range.margin, range.asked, dt, face_of_candidates(first, second, other));
		else
			drift.forget();
	}
	sides.remember(first, second, shallow, chosen);
}

/// Returns whether a new search would choose the contacts that are chosen already.
bool btVoxShellCollisionAlgorithm::State::stays_chosen(const Side& first, const Side& second, const Wanted& wanted, double asked) const
{
	if (!pair.forms_are_known(first, second) || !(drift.since(wanted.now, wanted.slope, wanted.margin, asked, wanted.dt) <= kStill * wanted.margin))
		return false;
	// Points that come over the edge of a face were farther than the last search distance.
	return !drift.is_on_face() || pair.covers(wanted);
}

/// Fills `chosen` from all contacts that are wanted; false when they could not be found.
bool btVoxShellCollisionAlgorithm::State::choose(const Side& first, const Side& second, const Wanted& wanted, double size)
{
	list_kept();
	chosen.clear();
	std::vector<Candidate>& candidates = scratch().candidates;
	if (!pair.find(first, second, settings, wanted, kept, share, candidates))
		return false;
	keep_sides(first, second, candidates);
	for (Candidate& c : candidates)
	{
		c.predict_gap(wanted.approach, wanted.dt);
		c.kept = manifolds.find(c.feature) != nullptr;
		c.pinned = c.kept && bounce.waits(c.feature);
	}
	const bool exact = pair.is_exact();
	pair.look_ahead(first, second, wanted, exact, candidates);
	select(wanted, size);
	// The normals of fields change along a face where they are rounded.
	if (exact)
		pair.follow_turning(first, second, wanted, chosen);
	return true;
}

/// Keeps contacts on the side of a thin part on which the last step had them. A sheet tells its sides itself.
void btVoxShellCollisionAlgorithm::State::keep_sides(const Side& first, const Side& second, std::vector<Candidate>& candidates) const
{
	if (!pair.has_sheet())
		sides.keep(first, second, candidates);
}

/// Fills `kept` with the features of the chosen samples that the solver had in the step before.
void btVoxShellCollisionAlgorithm::State::list_kept()
{
	kept.clear();
	for (const Candidate& c : chosen)
		if (c.touch == Candidate::kSample && manifolds.find(c.feature))
			kept.push_back(c.feature);
	std::sort(kept.begin(), kept.end());
}

/// Fills `chosen` with the candidates that are given to the solver.
void btVoxShellCollisionAlgorithm::State::select(const Wanted& wanted, double size)
{
	const std::vector<Candidate>& candidates = scratch().candidates;
	if (settings.m_segmentation != VXS_SEGMENTATION_NONE)
	{
		const bool deepest = settings.m_segmentation == VXS_SEGMENTATION_LEVEL;
		scratch().segments.select(candidates, {deepest, size_t(manifolds_of(settings, false)), size_t(MANIFOLD_CACHE_SIZE), wanted.worth, size}, chosen);
		return;
	}
	for (const uint32_t index : scratch().selector.select(candidates, size_t(manifolds_of(settings, false) * MANIFOLD_CACHE_SIZE), wanted.worth, size, settings.m_closeFit))
		chosen.push_back(candidates[index]);
}

/// Returns the face on which all candidates lie, if there is one.
/// @param other  the larger of the two sides
Face btVoxShellCollisionAlgorithm::State::face_of_candidates(const Side& first, const Side& second, const Side& other) const
{
	const std::vector<Candidate>& candidates = scratch().candidates;
	const Side* holder = pair.face_holder(candidates, first, second);
	return {holder ? Frame(holder->pose).inverse().rotate(candidates[0].normal) : Vec{0, 0, 0}, holder == &other};
}

void btVoxShellCollisionAlgorithm::State::forget_chosen()
{
	chosen.clear();
	drift.forget();
	sides.forget();
}

/// Adds the contact that bodies have in the step farther ahead than contacts are searched, if there is one.
void btVoxShellCollisionAlgorithm::State::add_fast_impact(const Side& first, const Side& second, double dt)
{
	Candidate impact;
	if (!find_fast_impact(first, second, dt, impact))
		return;
	impact.predict_gap(Approach(first.motion, second.motion, dt), dt);
	if (chosen.size() >= size_t(manifolds_of(settings, false) * MANIFOLD_CACHE_SIZE))
		chosen.pop_back();
	chosen.push_back(impact);
	drift.forget();
}

/// Returns the smallest distance that the bodies may have at the end of the step, if nothing stops them: that of the worst of
/// the chosen contacts, or what the search proved.
double btVoxShellCollisionAlgorithm::State::worst_gap(const Side& first, const Side& second, double searched, double dt) const
{
	// A complete search that found nothing proves the distance that it searched; one that was ended proves nothing.
	if (chosen.empty())
		return (share.is_complete() ? searched : 0) - reach(first.motion, second.motion, dt);
	const Approach approach(first.motion, second.motion, dt);
	double least = std::numeric_limits<double>::infinity();
	for (Candidate c : chosen)
	{
		c.predict_gap(approach, dt);
		least = std::min(least, c.gap);
	}
	return least;
}

/// Gives the points of the patches to the solver, each as a spring with a damper, or to a caller that only wants a report.
void btVoxShellCollisionAlgorithm::State::give_patches(const Side& first, const Side& second, double dt, btManifoldResult* result)
{
	bounce.forget();
	triangles.begin(first, second);
	for (const PatchPoint& p : patches.points)
	{
		triangles.find(p.contact);
		triangles.identify(result, manifolds.body0());
		btManifoldPoint* const point = maker.make(result, to_bt(p.contact.normal), to_bt(p.contact.point), btScalar(p.contact.distance));
		if (!point)
			continue;
		triangles.combine(manifolds.body0(), manifolds.body1(), *point);
		point->m_combinedRestitution = 0;
#if BT_BULLET_VERSION >= 287
		point->m_contactPointFlags &= ~(BT_CONTACT_FLAG_FRICTION_ANCHOR | BT_CONTACT_FLAG_CONTACT_STIFFNESS_DAMPING);
#endif
#if BT_BULLET_VERSION >= 285
		// The solver finds the impulse dt (force - (dt stiffness + damping) v), where v is the separating velocity after the step:
		// an implicit step of the spring, stable for any stiffness.
		const double resistance = dt * p.stiffness + p.damping;
		if (resistance > 0)
		{
			point->m_contactCFM = btScalar(1 / resistance);
			point->m_contactERP = btScalar(p.force * dt / (resistance * -p.contact.distance));
			point->m_contactPointFlags |= BT_CONTACT_FLAG_HAS_CONTACT_CFM | BT_CONTACT_FLAG_HAS_CONTACT_ERP;
		}
#endif
		manifolds.put(p.contact.feature, p.contact.segment, *point, false);
	}
	manifolds.end();
}

/// Gives the contacts in `chosen` to the solver, or to a caller that only wants a report.
void btVoxShellCollisionAlgorithm::State::give_points(const Side& first, const Side& second, double worth, double dt, btManifoldResult* result)
{
	bounce.aim(chosen);
	triangles.begin(first, second);
	bool reporting = false;
	for (Candidate& c : chosen)
	{
		if (reporting && c.distance > worth)
			continue;
		triangles.find(c);
		triangles.identify(result, manifolds.body0());
		if (btManifoldPoint* point = maker.make(result, to_bt(c.normal), to_bt(c.point), btScalar(c.distance + c.turning)))
		{
			triangles.combine(manifolds.body0(), manifolds.body1(), *point);
			if (bounce.is_busy() || point->m_combinedRestitution > 0)
				c.predict(first.motion, second.motion, dt);
			give(c, dt, *point);
		}
		else
			reporting = true;
	}
	bounce.end();
	manifolds.end();
}

/// Sets up one point for the solver and stores it.
void btVoxShellCollisionAlgorithm::State::give(const Candidate& c, double dt, btManifoldPoint& point)
{
	const BouncePolicy::Treatment treatment = bounce.treat(c, double(point.m_combinedRestitution));
#if BT_BULLET_VERSION >= 287
	// A friction anchor would make Bullet keep the old point and its distance; points matched by feature persist
	// without an anchor.
	point.m_contactPointFlags &= ~BT_CONTACT_FLAG_FRICTION_ANCHOR;
#endif
	point.m_appliedImpulse = btScalar(treatment.impulse / kWarmStarting);
	point.m_appliedImpulseLateral1 = 0;
	point.m_combinedFriction *= btScalar(treatment.friction);
	point.m_combinedRestitution = 0;  // the solver's own restitution does not work with contacts at d > 0: see BouncePolicy
#if BT_BULLET_VERSION >= 285
	if (c.turning < 0 && c.distance + c.turning < 0)
	{
		// Bullet corrects a fraction of a penetration in each step; what the step itself adds is corrected at once.
		point.m_contactERP = btScalar((kCorrected * std::max(0.0, -c.distance) - std::max(c.turning, c.distance + c.turning)) / -(c.distance + c.turning));
		point.m_contactPointFlags |= BT_CONTACT_FLAG_HAS_CONTACT_ERP;
	}
	if (treatment.kind == BouncePolicy::Treatment::LAUNCH)
	{
		// The solver aims at the velocity (penetration * erp / dt): with a penetration of 10 µm this gives any
		// velocity.
		const double penetration = std::max(-c.distance, 1e-5);
		point.m_distance1 = btScalar(-penetration);
		point.m_contactERP = btScalar(treatment.velocity * dt / penetration);
		point.m_contactPointFlags |= BT_CONTACT_FLAG_HAS_CONTACT_ERP;
	}
#endif
	manifolds.put(c.feature, settings.m_segmentation == VXS_SEGMENTATION_NONE ? 0 : c.segment, point, treatment.forget_impulse);
}

void btVoxShellCollisionAlgorithm::State::give_none()
{
	manifolds.clear();
	bounce.forget();
}

btVoxShellCollisionAlgorithm::btVoxShellCollisionAlgorithm(const btCollisionAlgorithmConstructionInfo& info, const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1, const btVoxShellSettings& settings)
	: btActivatingCollisionAlgorithm(info, body0, body1), m_state(new State(info.m_dispatcher1, body0, body1, settings))
{
}

btVoxShellCollisionAlgorithm::~btVoxShellCollisionAlgorithm() { delete m_state; }

void btVoxShellCollisionAlgorithm::processCollision(const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1, const btDispatcherInfo& dispatchInfo, btManifoldResult* resultOut)
{
	const double asked = asked_by(*resultOut);
	if (!m_state->now.is_searched || asked != m_state->now.range.asked)
		search(body0, body1, dispatchInfo, asked);
	m_state->give(resultOut);
}

void btVoxShellCollisionAlgorithm::search(const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1, const btDispatcherInfo& dispatchInfo, double asked)
{
	// Manifolds and feature numbers use the order of construction.
	if (body0->getCollisionObject() != m_state->manifolds.body0())
		btSwap(body0, body1);
	m_state->search(body0, body1, double(dispatchInfo.m_timeStep), asked);
}

void btVoxShellCollisionAlgorithm::searchAhead(const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1, const btDispatcherInfo& dispatchInfo)
{
	try
	{
		search(body0, body1, dispatchInfo, 0);
	}
	catch (...)
	{
		// processCollision searches again, and throws on its caller's thread.
	}
}

void btVoxShellCollisionAlgorithm::forgetSearch() { m_state->now.is_searched = false; }

btScalar btVoxShellCollisionAlgorithm::calculateTimeOfImpact(btCollisionObject* body0, btCollisionObject* body1, const btDispatcherInfo&, btManifoldResult*)
{
	MotionPair pair;
	const MotionPair::Path first = {body0->getWorldTransform(), body0->getInterpolationWorldTransform()};
	const MotionPair::Path second = {body1->getWorldTransform(), body1->getInterpolationWorldTransform()};
	return btScalar(pair.first_hit(body0->getCollisionShape(), first, body1->getCollisionShape(), second).time);
}

void btVoxShellCollisionAlgorithm::getAllContactManifolds(btManifoldArray& manifolds) { m_state->manifolds.append_to(manifolds); }
