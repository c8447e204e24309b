#include "bounce_policy.h"

#include <algorithm>

namespace voxshell_bullet
{
namespace
{
/// Largest number of sweeps over the contacts of a launch, and the fraction of the launch's speed below which they end.
const int kSweeps = 30;
const double kSettled = 1e-6;

/// Largest number of corrections of a launch's factor, and the relative error of it that is accepted.
const int kRounds = 6;
const double kAimed = 0.005;

/// Returns the speed at which a contact at distance d strikes, when its velocity at the end of the step would be
/// `end_speed`.
double strike_speed(double end_speed, const Candidate& c, double dt)
{
	const double now = end_speed - 0.5 * c.acceleration * dt;
	return now < 0 ? std::sqrt(std::max(0.0, now * now - 2 * (c.acceleration + c.curvature) * c.distance)) : 0;
}

Vec relative_velocity(const Motion bodies[2], const Vec& point) { return bodies[0].velocity_at(point) - bodies[1].velocity_at(point); }

Vec relative_acceleration(const Motion bodies[2], const Vec& point) { return bodies[0].acceleration_at(point) - bodies[1].acceleration_at(point); }

/// Applies an impulse at a point to a body's velocities.
void push(Motion& body, const Vec& arm, const Vec& impulse)
{
	const Vec torque = cross(arm, impulse);
	const Vec* const rows = body.inverse_inertia;
	body.linear = body.linear + impulse * body.inverse_mass;
	body.angular = body.angular + Vec{dot(rows[0], torque), dot(rows[1], torque), dot(rows[2], torque)};
}

/// Applies equal and opposite impulses to both.
void push(Motion bodies[2], const Vec& point, const Vec& impulse)
{
	push(bodies[0], point - bodies[0].center, impulse);
	push(bodies[1], point - bodies[1].center, -impulse);
}

/// Sets the velocities of both bodies to zero.
void stop(Motion bodies[2])
{
	for (int b = 0; b < 2; ++b)
		bodies[b].linear = bodies[b].angular = {0, 0, 0};
}

/// Returns the impulse that changes the velocity along a direction by 1 m/s, kg.
double mass_along(const Motion bodies[2], const Vec& point, const Vec& direction)
{
	double inverse = 0;
	for (int b = 0; b < 2; ++b)
	{
		const Vec turn = cross(point - bodies[b].center, direction);
		const Vec* const rows = bodies[b].inverse_inertia;
		inverse += bodies[b].inverse_mass + dot(turn, Vec{dot(rows[0], turn), dot(rows[1], turn), dot(rows[2], turn)});
	}
	return inverse > 0 ? 1 / inverse : 0;
}
}  // namespace

/// Finds the contacts of the step before that have landed, their speeds, and the energy that the landing has taken.
void BouncePolicy::settle()
{
	m_now.clear();
	double taken = 0, owed = m_taken;
	m_taken = 0;
	if (m_before.empty())
		return;

	Motion without[2] = {m_bodies[0], m_bodies[1]};  // the landing impulses
	for (const Impact& i : m_before)
	{
		if (i.launched)
			continue;
		push(without[0], i.arms[0], -i.impulse);
		push(without[1], i.arms[1], i.impulse);
	}
	for (Impact& i : m_before)
	{
		// With the velocities u = v + a dt before the impulses and u1 after them, and the effect of a up to the
		// surface: -P ((u + u1)/2 - a dt/2).
		const double work = 0.5 * dot(i.impulse, i.approach + i.velocity_in(m_bodies));
		(i.launched ? owed : taken) -= work;
		if (i.launched || dot(i.impulse, i.contact.normal) <= 0 || m_dt <= 0)
			continue;
		const double unstopped = dot(i.contact.normal, i.velocity_in(without));
		i.strike = strike_speed(std::max(unstopped, i.contact.speed + i.contact.acceleration * m_dt), i.contact, m_dt);
	}
	// A launch against contacts that landed in the same step can give more than was taken before; the excess comes from
	// the energy that these took.
	m_taken = taken + std::min(0.0, owed);
}

BouncePolicy::Impact* BouncePolicy::find(uint32_t feature)
{
	for (Impact& i : m_before)
		if (i.contact.feature == feature)
			return &i;
	return nullptr;
}

const BouncePolicy::Impact* BouncePolicy::find(uint32_t feature) const { return const_cast<BouncePolicy*>(this)->find(feature); }

bool BouncePolicy::waits(uint32_t feature) const
{
	const Impact* impact = find(feature);
	return impact && is_landed(*impact);
}

BouncePolicy::Impact* BouncePolicy::find_landed(uint32_t feature)
{
	Impact* const impact = find(feature);
	return impact && is_landed(*impact) ? impact : nullptr;
}

void BouncePolicy::add_row(const Candidate& c, Impact* launched)
{
	Row row;
	row.feature = c.feature;
	row.point = c.point;
	row.normal = c.normal;
	row.mass = mass_along(m_bodies, c.point, c.normal);
	row.limit = c.distance > 0 ? -c.distance / m_dt : 0;
	row.launched = launched;
	m_rows.push_back(row);
}

/// Fills in the impulses of the rows, and the resulting velocities of the bodies: those of this step's start, plus
/// `factor` times `pushed`, plus the effect of forces and of the contacts. Projected Gauss-Seidel.
void BouncePolicy::solve_rows(const Motion pushed[2], double factor, Motion bodies[2])
{
	for (int b = 0; b < 2; ++b)
	{
		bodies[b] = m_bodies[b];
		bodies[b].linear = bodies[b].linear + bodies[b].linear_acceleration * m_dt + pushed[b].linear * factor;
		bodies[b].angular = bodies[b].angular + bodies[b].angular_acceleration * m_dt + pushed[b].angular * factor;
	}
	double settled = 0;
	for (Row& row : m_rows)
	{
		row.least = row.impulse = row.launched ? factor * row.launched->restored() : 0;
		if (row.launched)
			settled = std::max(settled, kSettled * row.launched->strike);
	}
	for (int sweep = 0; sweep < kSweeps; ++sweep)
	{
		double change = 0;
		for (Row& row : m_rows)
		{
			const Vec velocity = relative_velocity(bodies, row.point);
			const double impulse = std::max(row.least, row.impulse + (row.limit - dot(velocity, row.normal)) * row.mass);
			const double by = impulse - row.impulse;
			if (by == 0)
				continue;
			change = std::max(change, std::abs(by) / row.mass);
			row.impulse = impulse;
			push(bodies, row.point, row.normal * by);
		}
		if (change <= settled)
			break;
	}
}

void BouncePolicy::aim(const std::vector<Candidate>& contacts)
{
	m_rows.clear();
	if (m_dt <= 0 || !(m_taken > 0) || !std::any_of(m_before.begin(), m_before.end(), [this](const Impact& i) { return is_landed(i); }))
		return;
	// Velocities that the impulses e p of the landed contacts produce.
	Motion pushed[2] = {m_bodies[0], m_bodies[1]};
	stop(pushed);
	for (const Candidate& c : contacts)
		if (Impact* const impact = find_landed(c.feature))
		{
			add_row(c, impact);
			push(pushed, c.point, c.normal * impact->restored());
		}
	double wanted = 0, unpushed = 0, response = 0;
	for (const Row& row : m_rows)
	{
		const double p = row.launched->restored();
		const double a = dot(row.normal, relative_acceleration(m_bodies, row.point));
		wanted += p * (row.launched->restitution * row.launched->strike + 0.5 * a * m_dt);
		unpushed += p * (dot(row.normal, relative_velocity(m_bodies, row.point)) + a * m_dt);
		response += p * dot(row.normal, relative_velocity(pushed, row.point));
	}
	if (!(response > 0 && wanted > unpushed))
		return m_rows.clear();

	// The factor gives no more energy than was taken.
	Motion bodies[2];
	double factor = 0, next = (wanted - unpushed) / response, too_much = 0;
	for (int round = 0; round < kRounds; ++round)
	{
		solve_rows(pushed, next, bodies);
		double reached = 0, given = 0;
		for (const Row& row : m_rows)
		{
			const Vec after = relative_velocity(bodies, row.point);
			reached += row.launched->restored() * dot(row.normal, after);
			given += 0.5 * row.impulse * dot(row.normal, after + relative_velocity(m_bodies, row.point));
		}
		if (given > m_taken)
		{
			too_much = next;
			next *= std::max(0.5, std::sqrt(m_taken / given));
		}
		else
		{
			factor = next;
			next *= reached > unpushed ? (wanted - unpushed) / (reached - unpushed) : 1;
		}
		if (too_much > 0 && !(next > factor && next < too_much))
			next = 0.5 * (factor + too_much);
		if (std::abs(next - factor) < kAimed * factor)
			break;
	}
	for (const Candidate& c : contacts)
		if (!find_landed(c.feature))
			add_row(c, nullptr);
	solve_rows(pushed, factor, bodies);
	for (const Row& row : m_rows)
		if (row.launched)
			row.launched->velocity = dot(row.normal, relative_velocity(bodies, row.point));
}

BouncePolicy::Treatment BouncePolicy::treat(const Candidate& c, double restitution)
{
	Treatment treatment;
	const auto remember = [&](bool launched) {
		m_now.push_back({c, launched, restitution, relative_velocity(m_bodies, c.point), {c.point - m_bodies[0].center, c.point - m_bodies[1].center}});
	};
	const auto launch = [&](double velocity) {
		if (velocity <= 0)
			return;
		treatment.kind = Treatment::LAUNCH;
		treatment.velocity = velocity;
		remember(true);
	};
	for (const Row& row : m_rows)
		if (row.feature == c.feature)
		{
			treatment.forget_impulse = true;
			treatment.impulse = row.impulse;
			treatment.friction = 0;
		}
	if (const Impact* impact = find(c.feature))
	{
		treatment.forget_impulse = true;
		if (impact->strike > 0)
		{
			launch(impact->velocity);
			return treatment;
		}
	}
	const double end_speed = c.speed + c.acceleration * m_dt;
	if (restitution <= 0 || end_speed >= 0 || m_dt <= 0)
		return treatment;
	const double strike = strike_speed(end_speed, c, m_dt);
	if (strike < m_threshold)
		return treatment;
	// In the middle of a bounce contacts are launched one at a time: the energy for the other launches is not known
	// yet.
	if (c.distance <= 0 && !is_busy())
	{
		treatment.forget_impulse = true;
		launch(restitution * strike + 0.5 * c.acceleration * m_dt);
		return treatment;
	}
	if (c.gap <= 0)
		treatment.kind = Treatment::LANDING;
	if (m_rows.empty())
		treatment.friction = 1 + restitution;
	remember(false);  // also if it would not quite arrive: other bodies may push it to the surface
	return treatment;
}
}  // namespace voxshell_bullet
