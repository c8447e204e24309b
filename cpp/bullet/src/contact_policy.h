// Which contacts of a pair are given to Bullet's solver. Knows no Bullet type and no manifold: numbers in, decisions out, so that
// it can be tested on its own.
//
// Names: d  distance of a contact, metres, negative when penetrating
//        n  its normal, unit, from the second body to the first
//        v  relative velocity along n as stored by the engine, m/s, negative when approaching
//        a  relative acceleration along n from forces such as gravity, m/s²
//        dt the step, s
//
// The engine is symplectic Euler: v' = v + a dt, then x' = x + v' dt. Read as leapfrog, a stored velocity belongs to the middle
// of the step before; the true velocity at the positions that a contact is found at is v + a dt / 2. Free flight then is exact
// in x, so impact and rebound speeds can be too.
#ifndef VOXSHELL_BULLET_CONTACT_POLICY_H
#define VOXSHELL_BULLET_CONTACT_POLICY_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "vec.h"

namespace voxshell_bullet
{
/// Motion of a body through a step; all zero for a body that does not move.
struct Motion
{
	Vec center = {0, 0, 0};   // of mass, world, m
	Vec linear = {0, 0, 0};   // m/s
	Vec angular = {0, 0, 0};  // rad/s
	Vec linear_acceleration = {0, 0, 0};
	Vec angular_acceleration = {0, 0, 0};
	double radius = 0;        // radius of a sphere around `center` that holds all of the body that matters, m
	double inverse_mass = 0;  // 1/kg; 0: cannot be pushed
	Vec inverse_inertia[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};  // rows, world, 1/(kg m²)

	Vec velocity_at(const Vec& p) const { return linear + cross(angular, p - center); }
	Vec acceleration_at(const Vec& p) const { return linear_acceleration + cross(angular_acceleration, p - center); }
	Vec centripetal_at(const Vec& p) const { return cross(angular, cross(angular, p - center)); }
};

/// Returns the distance that two bodies can approach within one step, metres.
double reach(const Motion& first, const Motion& second, double dt);

/// Motion of the first of two bodies relative to the second, at the end of the step, if no contact stops them.
struct Approach
{
	Vec center;    // of the first body, world, m
	Vec velocity;  // of the first body's centre relative to the second body there, m/s
	Vec spin;      // rad/s
	/// What forces add in the step to the velocities of both bodies, m/s. A body that lies on a third one does not get it.
	Vec gained_by_first = {0, 0, 0}, gained_by_second = {0, 0, 0};

	Approach() = default;
	Approach(const Motion& first, const Motion& second, double dt);
	/// The motion of a body in the world.
	Approach(const Motion& body, double dt) : Approach(body, Motion(), dt) {}
	Vec at(const Vec& p) const { return velocity + cross(spin, p - center); }
	/// Returns the least velocity of a point along a direction, m/s: without a force that takes one of the bodies away from the
	/// other, because a third one may withstand it.
	double least(const Vec& p, const Vec& along) const { return dot(along, at(p)) - std::max(0.0, dot(along, gained_by_first)) - std::max(0.0, -dot(along, gained_by_second)); }
	/// Returns where a point of the first body is after a time, and the pose of the body that has this one now.
	Vec end_of(const Vec& p, double time) const { return center + Turn(spin * time)(p - center) + velocity * time; }
	vxs_pose moved(const vxs_pose& pose, double time) const;
};

/// Cosine of the angle up to which two directions are those of one wall: 15 degrees.
const double kSameWall = 0.966;

/// A contact that could be given to the solver.
struct Candidate
{
	/// Values of `touch` of contacts that are no touch of a sharp feature of one of Bullet's shapes.
	static const uint32_t kSample = UINT32_MAX;
	static const uint32_t kMeshEdge = UINT32_MAX - 1;

	uint32_t feature = 0;
	uint32_t touch = kSample;  // number of the sharp feature's touch that the contact is made of
	uint32_t segment = 0;      // of the pair, for settings that give segments manifolds of their own
	Vec point = {0, 0, 0};    // on the second body, world, m
	Vec normal = {0, 0, 0};   // n
	double distance = 0;      // d
	double speed = 0;         // v
	double acceleration = 0;  // a
	double curvature = 0;     // change of a by the bodies' turning, for a point that moves with them, m/s²
	/// Change of the distance in the step that the velocity does not show, because a face turns while the contact slides along
	/// it, m; 0 or less.
	double turning = 0;
	/// Distance at the end of the step if nothing stopped the bodies (an approach counts, a retreat does not), or the least that
	/// it may be if a third body holds one of them.
	double gap = 0;
	/// The contact was given to the solver in the step before.
	bool kept = false;
	/// The contact must be given to the solver in this step.
	bool pinned = false;
	bool round = false;       // the point of a round feature, which stays where it is while the feature turns

	/// Fills in the gap only, which is enough for the selection.
	void predict_gap(const Approach& approach, double dt) { gap = distance + std::min(0.0, approach.least(point, normal)) * dt; }
	/// Fills in speed, acceleration, curvature and gap.
	void predict(const Motion& first, const Motion& second, double dt);
};

/// Picks a stable set of contacts.
///
/// The set always contains the contact that will be deepest and the one that is deepest, or one as deep. A new set gets
/// distinct normals first, then the corners of the contact area, then the contacts that lie farthest from those chosen
/// in position and normal; urgent contacts count more. From then on contacts stay in the set and are replaced only by a
/// clearly better one, so that a resting pair keeps its set. Allocates only while its buffers grow.
class ContactSelector
{
public:
	ContactSelector();

	/// @param candidates  all contacts, in any order
	/// @param count largest number of contacts to choose
	/// @param margin      candidates whose gap exceeds this are not worth a constraint, m
	/// @param size        a length of the bodies: turning a normal by 1 rad counts as much as half of it in position, m
	/// @param close_fit   contacts that touch count as much as those that the motion makes urgent
	/// @return            indices of `candidates`; valid until the next call
	const std::vector<uint32_t>& select(const std::vector<Candidate>& candidates, size_t count, double margin, double size, bool close_fit = false);

private:
	/// Positions and turned normals of contacts, relative to one of them, as structure of arrays: their squared
	/// distances measure how different two contacts are. Padded to whole blocks.
	class Places
	{
	public:
		static const size_t kBlock = 8;
		void reserve(size_t count);
		void clear();
		void add(const Vec& position, const Vec& turned);
		void copy(const Places& from, size_t index);
		void pad();
		size_t padded() const { return m_at[0].size(); }
		/// Lowers each of `spread` to the squared distance from one contact.
		void lower(const Places& from, size_t index, float* spread) const;

	private:
		std::vector<float> m_at[6];
	};

	void thin(const std::vector<Candidate>& candidates);
	double merit(size_t k, double spread) const { return spread * double(m_weight[k]); }
	void choose(size_t k);
	bool exchange(size_t k, double limit);
	void choose_corners(size_t count);
	size_t place_in_pool(uint32_t index);
	size_t farthest(float nearest) const;

	std::vector<uint32_t> m_pool;  // candidates that compete for the set
	std::vector<uint32_t> m_cells;
	Places m_places;              // of the pool
	std::vector<float> m_weight;  // of each in the pool: a gap of one margin above the smallest halves the effective distance
	std::vector<float> m_spread;  // squared distance of each in the pool to the nearest chosen one
	std::vector<uint32_t> m_chosen;  // indices into the pool
	std::vector<uint32_t> m_answer;
	Places m_chosen_places;
	std::vector<float> m_chosen_spread;

	// State of the current call.
	const std::vector<Candidate>* m_candidates = nullptr;
	size_t m_anchor = 0;  // index into the pool: the most urgent candidate, never exchanged
};
}  // namespace voxshell_bullet

#endif
