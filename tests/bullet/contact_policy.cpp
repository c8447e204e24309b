// The contact policy alone, without an engine: a ball is a point mass that is integrated as in Bullet.
#include "../../cpp/bullet/src/bounce_policy.h"

#include <algorithm>
#include <random>

#include "check.h"

using namespace voxshell_bullet;

namespace
{
const double kGravity = 10, kStep = 1.0 / 200;

struct Rebound
{
	double height;  // of the first apex after the first impact, m
	double deepest; // smallest distance to the plane, m
};

/// One contact, one step, between a body of 1 kg and the ground.
BouncePolicy::Treatment treat(BouncePolicy& bounce, const Candidate& c, double restitution, double impulse)
{
	Motion body, ground;
	body.inverse_mass = 1;
	body.linear = c.normal * c.speed;
	body.linear_acceleration = c.normal * c.acceleration;
	bounce.begin(body, ground, kStep, [&](uint32_t) { return c.normal * impulse; });
	bounce.aim({c});
	const BouncePolicy::Treatment treatment = bounce.treat(c, restitution);
	bounce.end();
	return treatment;
}

/// Drops a point from `gap` above a plane; an ideal solver stops it that knows distance, restitution 0 and launches.
Rebound drop(double gap, double restitution, double lookahead)
{
	BouncePolicy bounce(0.2);
	double x = gap, v = 0, impulse = 0, apex = 0, deepest = gap;
	bool rising = false;
	for (int step = 0; step < 4000; ++step)
	{
		double target = -1e30;
		bool launched = false;
		Candidate c;
		c.feature = 7;
		c.normal = {0, 0, 1};
		c.distance = x;
		c.speed = v;
		c.acceleration = -kGravity;
		c.gap = x + std::min(0.0, v - kGravity * kStep) * kStep;
		if (x <= lookahead)
		{
			const BouncePolicy::Treatment t = treat(bounce, c, restitution, impulse);
			launched = t.kind == BouncePolicy::Treatment::LAUNCH;
			target = launched ? t.velocity : (x > 0 ? -x / kStep : 0);
		}
		const double free = v - kGravity * kStep;
		const double next = std::max(free, target);
		impulse = x <= lookahead ? next - free : 0;
		rising = rising || launched;
		v = next;
		x += v * kStep;
		deepest = std::min(deepest, x);
		if (rising)
		{
			apex = std::max(apex, x);
			if (v < 0)
				break;
		}
	}
	return {apex, deepest};
}

void rebound_height_is_e_squared_h()
{
	for (const double e : {0.1, 0.3, 0.5, 0.7, 0.9, 1.0})
		for (double gap = 0.9; gap < 1.1; gap += 0.0137)
		{
			const Rebound r = drop(gap, e, 0.05);
			// The apex lies between two steps: at most g dt² / 8 above the highest one seen.
			CHECK_NEAR(r.height, e * e * gap, 0.01 * e * e * gap + kGravity * kStep * kStep / 8);
			CHECK(r.deepest > -1e-12);
		}
}

void a_contact_first_seen_inside_is_launched_at_once()
{
	BouncePolicy bounce(0.2);
	Candidate c;
	c.feature = 1;
	c.normal = {0, 0, 1};
	c.distance = -0.004;
	c.speed = -3;
	c.acceleration = -kGravity;
	c.gap = c.distance + (c.speed + c.acceleration * kStep) * kStep;
	const BouncePolicy::Treatment t = treat(bounce, c, 0.5, 0);
	CHECK(t.kind == BouncePolicy::Treatment::LAUNCH);
	CHECK_NEAR(t.velocity, 1.5, 0.05);
	// Another contact, in the next step: it lands, and is launched after that.
	c.feature = 2;
	CHECK(treat(bounce, c, 0.5, 0).kind == BouncePolicy::Treatment::LANDING);
	c.speed = 0;
	const BouncePolicy::Treatment other = treat(bounce, c, 0.5, 3.05);
	CHECK(other.kind == BouncePolicy::Treatment::LAUNCH);
	CHECK_NEAR(other.velocity, 1.5, 0.05);
	CHECK_NEAR(other.impulse, other.velocity + kGravity * kStep, 1e-9);
}

void slow_contacts_and_dead_ones_do_not_bounce()
{
	Candidate c;
	c.feature = 1;
	c.normal = {0, 0, 1};
	c.distance = 0.0001;
	c.speed = -0.1;
	c.acceleration = -kGravity;
	c.gap = c.distance + (c.speed + c.acceleration * kStep) * kStep;
	BouncePolicy bounce(0.2);
	for (const double e : {0.0, 0.9})
		CHECK(treat(bounce, c, e, 0).kind == BouncePolicy::Treatment::PLAIN);
	c.speed = -3;
	CHECK(treat(bounce, c, 0, 0).kind == BouncePolicy::Treatment::PLAIN);
	// A contact that passes by: the solver never held it, so it is not launched.
	c.gap = -0.01;
	CHECK(treat(bounce, c, 0.9, 0).kind == BouncePolicy::Treatment::LANDING);
	c.speed = 1;
	CHECK(treat(bounce, c, 0.9, 0).kind == BouncePolicy::Treatment::PLAIN);
}

/// Two contacts at the ends of a rod of 1 kg. The solver stopped them with impulses `left` and `right` in a step that
/// began with the rod falling at 3 m/s. `after` and `turning` are its velocities at the end of that step.
void launch_rod(double left, double right, double after, double turning, BouncePolicy::Treatment out[2])
{
	const double inertia = 1.0 / 12;  // of a rod of 1 m
	Motion rod, ground;
	rod.inverse_mass = 1;
	for (int i = 0; i < 3; ++i)
		rod.inverse_inertia[i] = {i == 0 ? 1 / inertia : 0, i == 1 ? 1 / inertia : 0, i == 2 ? 1 / inertia : 0};
	Candidate ends[2];
	for (int i = 0; i < 2; ++i)
	{
		ends[i].feature = uint32_t(i);
		ends[i].point = {i == 0 ? -0.5 : 0.5, 0, 0};
		ends[i].normal = {0, 1, 0};
		ends[i].distance = 1e-9;
	}
	BouncePolicy bounce(0.2);
	rod.linear = {0, -3, 0};
	bounce.begin(rod, ground, kStep, [](uint32_t) { return Vec{0, 0, 0}; });
	for (Candidate& c : ends)
	{
		c.predict(rod, ground, kStep);
		CHECK(bounce.treat(c, 0.5).kind == BouncePolicy::Treatment::LANDING);
	}
	bounce.end();
	rod.linear = {0, after, 0};
	rod.angular = {0, 0, turning};
	bounce.begin(rod, ground, kStep, [&](uint32_t feature) { return Vec{0, feature == 0 ? left : right, 0}; });
	std::vector<Candidate> given;
	for (int i = 0; i < 2; ++i)
	{
		const bool held = (i == 0 ? left : right) > 0;
		// An end that the solver did not hold was not in contact.
		ends[i].distance = held ? 0 : 1;
		ends[i].predict(rod, ground, kStep);
		CHECK(bounce.waits(uint32_t(i)) == held);
		given.push_back(ends[i]);
	}
	bounce.aim(given);
	for (int i = 0; i < 2; ++i)
		out[i] = bounce.treat(given[size_t(i)], 0.5);
	bounce.end();
}

void contacts_that_share_an_impact_leave_at_e_times_its_speed()
{
	BouncePolicy::Treatment t[2];
	launch_rod(1.5, 1.5, 0, 0, t);  // both ends stopped at once
	CHECK(t[0].kind == BouncePolicy::Treatment::LAUNCH && t[1].kind == BouncePolicy::Treatment::LAUNCH);
	CHECK_NEAR(t[0].velocity, 1.5, 1e-9);
	CHECK_NEAR(t[1].velocity, 1.5, 1e-9);
}

void a_contact_that_others_had_almost_stopped_is_launched_by_what_was_left()
{
	// Another force has turned the rod in the same step, so that its right end arrived at only 1 m/s: an impulse of 1/4 at
	// that end changes its velocity by 1/4 (1 + r² 12) = 1 m/s.
	BouncePolicy::Treatment t[2];
	launch_rod(0, 0.25, -1, 2, t);
	CHECK(t[0].kind != BouncePolicy::Treatment::LAUNCH);
	CHECK(t[1].kind == BouncePolicy::Treatment::LAUNCH);
	CHECK_NEAR(t[1].velocity, 0.5, 1e-9);
}

/// One end of a rod has bounced while the other one landed. The launch of the second end must not push the first one
/// into the ground, and its energy is limited by what the landing took.
void a_launch_gives_no_more_than_was_taken()
{
	const double inertia = 1.0 / 12;
	for (const double e : {0.5, 0.9, 1.0})
		for (const double speed : {-3.0, -1.0, 0.0, 1.0})
			for (const double lever : {0.2, 0.35, 0.5})
			{
				Motion rod, ground;
				rod.inverse_mass = 1;
				for (int i = 0; i < 3; ++i)
					rod.inverse_inertia[i] = {i == 0 ? 1 / inertia : 0, i == 1 ? 1 / inertia : 0, i == 2 ? 1 / inertia : 0};
				const auto energy = [&] { return 0.5 * (length2(rod.linear) + inertia * length2(rod.angular)); };
				Candidate ends[2];
				for (int i = 0; i < 2; ++i)
				{
					ends[i].feature = uint32_t(i);
					ends[i].point = {i == 0 ? -lever : 0.5, 0, 0};
					ends[i].normal = {0, 1, 0};
					ends[i].distance = 1e-9;
				}
				// The left end leaves at 1 m/s; the right one arrives at `speed` less than that.
				rod.angular = {0, 0, (speed - 2) / (0.5 + lever)};
				rod.linear = {0, 1 + rod.angular.z * lever, 0};
				const double before = energy();
				BouncePolicy bounce(0.2);
				bounce.begin(rod, ground, kStep, [](uint32_t) { return Vec{0, 0, 0}; });
				ends[1].predict(rod, ground, kStep);
				const bool lands = bounce.treat(ends[1], e).kind == BouncePolicy::Treatment::LANDING;
				bounce.end();
				CHECK(lands == (speed - 1 < 0));
				if (!lands)
					continue;
				const auto push = [&](const Candidate& at, double impulse) {
					rod.linear.y += impulse;
					rod.angular.z += at.point.x * impulse / inertia;
				};
				const double landing = (1 - speed) / (1 + 0.25 / inertia);
				push(ends[1], landing);
				bounce.begin(rod, ground, kStep, [&](uint32_t) { return Vec{0, landing, 0}; });
				bounce.aim({ends[0], ends[1]});
				for (Candidate& c : ends)
				{
					c.predict(rod, ground, kStep);
					const BouncePolicy::Treatment t = bounce.treat(c, e);
					CHECK((t.kind == BouncePolicy::Treatment::LAUNCH) == (c.feature == 1));
					push(c, t.impulse);
				}
				CHECK(energy() <= before + 1e-6);
				CHECK(rod.linear.y - rod.angular.z * lever > -1e-4);
				CHECK(rod.linear.y + rod.angular.z * 0.5 > 0);
			}
}

std::vector<Candidate> sheet(int n, double noise, unsigned seed)
{
	std::mt19937 random(seed);
	std::uniform_real_distribution<double> u(-1, 1);
	std::vector<Candidate> all;
	for (int i = 0; i < n * n; ++i)
	{
		Candidate c;
		c.feature = uint32_t(i);
		c.point = {double(i % n) / (n - 1), double(i / n) / (n - 1), 0};
		c.normal = {0, 0, 1};
		c.distance = noise * u(random);
		c.gap = c.distance;
		all.push_back(c);
	}
	return all;
}

void selection_spreads_to_the_corners_and_keeps_the_deepest()
{
	ContactSelector selector;
	for (const int n : {10, 12, 13, 40, 100})
	{
		std::vector<Candidate> all = sheet(n, 1e-5, unsigned(n));
		all[size_t(n * n / 2)].distance = all[size_t(n * n / 2)].gap = -1e-4;
		const std::vector<uint32_t>& chosen = selector.select(all, 8, 1e-3, 0.5);
		CHECK(chosen.size() == 8);
		CHECK(std::find(chosen.begin(), chosen.end(), uint32_t(n * n / 2)) != chosen.end());
		for (const uint32_t corner : {0u, uint32_t(n - 1), uint32_t(n * n - n), uint32_t(n * n - 1)})
		{
			double nearest = 1e30;
			for (const uint32_t i : chosen)
				nearest = std::min(nearest, length(all[i].point - all[corner].point));
			CHECK(nearest < 0.15);
		}
	}
}

void selection_does_not_flicker_under_noise()
{
	ContactSelector selector;
	std::vector<uint32_t> before;
	int changes = 0;
	for (unsigned step = 0; step < 100; ++step)
	{
		std::vector<Candidate> all = sheet(30, 2e-6, step);
		all[435].distance = all[435].gap = -5e-6;
		for (const uint32_t i : before)
			all[i].kept = true;
		std::vector<uint32_t> chosen = selector.select(all, 12, 1e-3, 0.5);
		std::sort(chosen.begin(), chosen.end());
		if (step > 3 && chosen != before)
			++changes;
		before = chosen;
	}
	CHECK(changes == 0);
}

void distinct_normals_are_kept_apart()
{
	// A wedge: many contacts on one face, two on the other, all close together.
	ContactSelector selector;
	std::vector<Candidate> all = sheet(10, 0, 1);
	for (Candidate& c : all)
		c.point = c.point * 0.01;
	for (int i = 0; i < 2; ++i)
	{
		Candidate c;
		c.feature = 1000u + unsigned(i);
		c.point = {0.005, 0.005 + 0.001 * i, 0};
		c.normal = {0, 1, 0};
		c.distance = c.gap = 0;
		all.push_back(c);
	}
	const std::vector<uint32_t>& chosen = selector.select(all, 4, 1e-3, 0.5);
	CHECK(std::any_of(chosen.begin(), chosen.end(), [](uint32_t i) { return i >= 100; }));
}

void a_close_fit_keeps_what_touches_on_the_far_side()
{
	// A nut that is thrown at one flank: contacts of that flank come nearer by 40 mm in the step, those of the other retreat.
	ContactSelector selector;
	std::vector<Candidate> all = sheet(10, 0, 1), behind = all;
	for (Candidate& c : all)
	{
		c.distance = 1e-4;
		c.gap = -0.04 + 0.02 * c.point.x;
	}
	for (Candidate& c : behind)
	{
		c.feature += 1000;
		c.distance = c.gap = 1e-4;
		c.normal = {0, 0, -1};
	}
	all.insert(all.end(), behind.begin(), behind.end());
	const auto on_the_far_side = [&](bool close_fit) {
		const std::vector<uint32_t>& chosen = selector.select(all, 16, 5e-4, 0.5, close_fit);
		CHECK(chosen.size() == 16);
		return std::count_if(chosen.begin(), chosen.end(), [](uint32_t i) { return i >= 100; });
	};
	CHECK(on_the_far_side(false) == 0);
	CHECK(on_the_far_side(true) >= 4);
}

void hopeless_contacts_are_left_out()
{
	ContactSelector selector;
	std::vector<Candidate> all = sheet(5, 0, 1);
	for (size_t i = 0; i < all.size(); ++i)
		all[i].distance = all[i].gap = i == 3 ? 0.0 : 0.01;
	CHECK(selector.select(all, 8, 1e-3, 0.5).size() == 1);
	CHECK(selector.select({}, 8, 1e-3, 0.5).empty());
}

void reach_counts_speed_spin_and_gravity()
{
	Motion a, b;
	a.linear = {0, 0, -2};
	a.linear_acceleration = {0, 0, -10};
	a.angular = {3, 0, 0};
	a.radius = 0.5;
	CHECK_NEAR(reach(a, b, 0.01), (2.1 + 1.5) * 0.01, 1e-12);
	// Both fall, and a third body may hold the second.
	b.linear_acceleration = a.linear_acceleration;
	CHECK_NEAR(reach(a, b, 0.01), (2.1 + 1.5) * 0.01, 1e-12);
	CHECK_NEAR(reach(a, b, 0), 0, 0);
}

void a_body_may_be_held_by_a_third_one()
{
	// Both fall: the upper one at 2 m/s, on one that lies on the ground. Which one is held is not known.
	Motion upper, lower;
	upper.linear = {0, -2, 0};
	upper.linear_acceleration = lower.linear_acceleration = {0, -10, 0};
	const double dt = 0.01;
	Candidate c;
	c.distance = 0.01, c.normal = {0, 1, 0};
	c.predict_gap(Approach(upper, lower, dt), dt);
	CHECK_NEAR(c.gap, 0.01 - 2.1 * dt, 1e-12);
	// Above it the ceiling, against which nothing presses it.
	c.normal = {0, -1, 0};
	c.predict_gap(Approach(upper, Motion(), dt), dt);
	CHECK_NEAR(c.gap, 0.01, 1e-12);
	upper.linear = {0, 2, 0};
	c.predict_gap(Approach(upper, Motion(), dt), dt);
	CHECK_NEAR(c.gap, 0.01 - 2 * dt, 1e-12);
}
}  // namespace

int main()
{
	rebound_height_is_e_squared_h();
	a_contact_first_seen_inside_is_launched_at_once();
	slow_contacts_and_dead_ones_do_not_bounce();
	contacts_that_share_an_impact_leave_at_e_times_its_speed();
	a_contact_that_others_had_almost_stopped_is_launched_by_what_was_left();
	a_launch_gives_no_more_than_was_taken();
	selection_spreads_to_the_corners_and_keeps_the_deepest();
	selection_does_not_flicker_under_noise();
	distinct_normals_are_kept_apart();
	a_close_fit_keeps_what_touches_on_the_far_side();
	hopeless_contacts_are_left_out();
	reach_counts_speed_spin_and_gravity();
	a_body_may_be_held_by_a_third_one();
	return finish();
}
