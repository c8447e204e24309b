// Bounces of a pair. Knows no Bullet type and no manifold, like contact_policy.h, whose names it shares.
#ifndef VOXSHELL_BULLET_BOUNCE_POLICY_H
#define VOXSHELL_BULLET_BOUNCE_POLICY_H

#include <cstdint>
#include <vector>

#include "contact_policy.h"

namespace voxshell_bullet
{
/// Makes bodies bounce although contacts are given to the solver before they touch.
///
/// Bullet's solver aims at e v - d/dt for a contact at distance d > 0, which removes the bounce. So an impact takes two
/// steps.
///
/// Landing: a contact that the bodies would pass within this step is given with restitution 0, and the solver brings
/// the body to the surface exactly.
///
/// Launch: in the next step the contacts that the solver held, now at d = 0, ask for a separating velocity. A single
/// one asks for e v_s + a dt/2, where v_s is the speed at which it would have struck, v_s² = (u - a dt/2)² - 2 (a + c)
/// d. Here u is the velocity that it would have had without the landing impulses, or its approach velocity, whichever
/// is less; c is the centripetal part, because a point of a turning body does not arrive as fast as it set out.
///
/// Several contacts that each left at e times their own speed could give back more energy than the impact had. So the
/// policy restores impulses, as in Poisson's hypothesis: the landing impulses, times one factor for all. This factor
/// brings them to the speeds above on average, but gives the bodies no more energy than the landing has taken from
/// them, friction included (Stronge 1990 bounds restitution by energy in this way). The policy computes how the other
/// contacts change the result, and asks the solver for the velocities that come out. It also starts the
/// solver with these impulses, which the solver would not find in its ten iterations. With frictionless contacts of
/// equal e <= 1 the first bound implies the second: the landing impulses p, which end with no velocity at the contacts,
/// take 1/2 p'Gp, and e p gives back e² of it.
///
/// The friction of the whole impact acts in the landing, which can only take energy: there the coefficient is 1 + e times as
/// large, for the impulse p and for the e p that follows. A launch has none. The solver starts without friction, and
/// would move away from the launch that it was given, by up to several percent of the energy.
///
/// A fast contact that is first seen at d <= 0 (the pair's boxes overlapped late) is launched at once, at e v_s, unless the pair is
/// in the middle of a bounce: then it lands first.
class BouncePolicy
{
public:
	/// Treatment of a contact.
	struct Treatment
	{
		enum Kind
		{
			PLAIN,    // no bounce: restitution 0
			LANDING,  // restitution 0, will be launched in the next step
			LAUNCH    // ask for `velocity`
		} kind = PLAIN;
		double velocity = 0;  // separating, m/s, positive
		/// The stored impulse belongs to an impact and must not warm-start this step. This impulse does instead, along
		/// the normal, N s.
		bool forget_impulse = false;
		double impulse = 0;
		/// Factor of the coefficient of friction.
		double friction = 1;
	};

	/// @param threshold  impacts slower than this do not bounce, m/s
	explicit BouncePolicy(double threshold) : m_threshold(threshold) {}

	/// Starts a step.
	/// @param impulse_of returns the impulse that the solver applied to the first body at a feature in the step before,
	///     N s: `Vec(uint32_t)`
	template <typename Recall>
	void begin(const Motion& first, const Motion& second, double dt, Recall impulse_of)
	{
		for (Impact& i : m_before)
			i.impulse = impulse_of(i.contact.feature);
		m_bodies[0] = first;
		m_bodies[1] = second;
		m_dt = dt;
		settle();
	}
	/// Returns whether contacts of the step before are in the middle of a bounce.
	bool is_busy() const { return !m_before.empty(); }
	/// Returns whether the contact has landed and waits for its launch: it must be among the contacts given to the
	/// solver.
	bool waits(uint32_t feature) const;
	/// Finds the velocities of the contacts that are launched. Call it before the contacts that go to the solver are
	/// treated.
	void aim(const std::vector<Candidate>& contacts);
	/// Decides the treatment of one contact. Call it once per contact that goes to the solver.
	/// @param contact with all predictions filled in, unless the restitution is 0 and the policy is not busy
	/// @param restitution  e of the pair
	Treatment treat(const Candidate& contact, double restitution);
	/// Ends a step.
	void end() { m_before.swap(m_now); }
	/// Ends a step without contacts.
	void forget() { m_before.clear(); }

private:
	/// A contact of the step before that was approaching, in its state of that step.
	struct Impact
	{
		Candidate contact;
		bool launched;
		double restitution;
		Vec approach;             // relative velocity, as stored, m/s
		Vec arms[2];              // from the bodies' centres to the point
		Vec impulse = {0, 0, 0};  // from the solver, N s
		double strike = 0;        // v_s; 0 if it did not land
		double velocity = 0;      // launch velocity, m/s

		Vec velocity_in(const Motion bodies[2]) const { return bodies[0].linear + cross(bodies[0].angular, arms[0]) - bodies[1].linear - cross(bodies[1].angular, arms[1]); }
		double restored() const { return restitution * dot(impulse, contact.normal); }
	};
	/// One contact in the computed launch.
	struct Row
	{
		uint32_t feature;
		Vec point, normal;
		double mass;   // ratio of impulse to velocity, kg
		double limit;  // required velocity along the normal, m/s
		double least, impulse;
		Impact* launched;
	};
	void settle();
	Impact* find(uint32_t feature);
	const Impact* find(uint32_t feature) const;
	bool is_landed(const Impact& impact) const { return impact.strike > 0 && impact.strike >= m_threshold; }
	Impact* find_landed(uint32_t feature);
	void add_row(const Candidate& contact, Impact* launched);
	void solve_rows(const Motion pushed[2], double factor, Motion bodies[2]);

	double m_threshold;
	double m_dt = 0;
	Motion m_bodies[2];   // of this step
	double m_taken = 0;   // energy that landings took from the bodies and launches have not given back yet, J
	std::vector<Impact> m_before, m_now;
	std::vector<Row> m_rows;
};
}  // namespace voxshell_bullet

#endif
