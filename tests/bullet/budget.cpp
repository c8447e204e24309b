// A limit on the work of all pairs in a step: kept, shared worst first, and the price of it in depth. `-V` prints the curve of
// error against work.
#include <cstring>

#include "budget_share.h"
#include "check.h"
#include "scene.h"

namespace
{
/// Result of a pile.
struct Poured
{
	unsigned long long most = 0, sum = 0;  // tests in a step, and in all
	int coarse = 0, searches = 0, pairs = 0, lost = 0;
	double deepest = 0;  // over all steps, by complete queries of the cores, m
	std::vector<btVector3> places;
};

/// Pours knots, gears and bowls into a bowl; 0: without a budget.
Poured pour(unsigned long long maxTests, int count, int steps)
{
	const Handle bowl = primitive(VXS_PRIMITIVE_BOWL, {1.2, 0.06}, {}, 20000, 128);
	const Handle kinds[3] = {primitive(VXS_PRIMITIVE_TORUS_KNOT, {0.12, 0.03}, {}, 1000, 48), primitive(VXS_PRIMITIVE_GEAR, {0.14, 0.11, 0.06, 0.04}, {}, 1000, 48),
							 primitive(VXS_PRIMITIVE_BOWL, {0.14, 0.025}, {}, 1000, 48)};
	btVoxShellShape container(bowl.get());
	std::vector<std::unique_ptr<btVoxShellShape>> shapes;
	for (const Handle& kind : kinds)
		shapes.emplace_back(new btVoxShellShape(kind.get()));
	btVoxShellBudget budget(maxTests);
	btVoxShellSettings settings;
	settings.m_coverage = VXS_COVERAGE_SAMPLES;
	if (maxTests > 0)
		settings.m_budget = &budget;
	Poured result;
	{
		Scene scene(settings);
		scene.add(&container, 0, btVector3(0, 0, 0));
		std::vector<btRigidBody*> bodies;
		std::vector<size_t> kind;
		vxs_workspace* made = nullptr;
		vxs_query query;
		CHECK(vxs_workspace_create(&made) == VXS_OK && vxs_query_init(&query, sizeof query) == VXS_OK);
		for (int i = 0; i < steps; ++i)
		{
			if (i % 10 == 0 && int(bodies.size()) < count)
			{
				const int n = int(bodies.size());
				const btVector3 axis(btScalar(n % 3 - 1), btScalar(n % 5 - 2), 1);
				kind.push_back(size_t(n % 3));
				bodies.push_back(scene.add(shapes[size_t(n % 3)].get(), 1, btTransform(btQuaternion(axis.normalized(), btScalar(0.7 * n)), btVector3(btScalar(0.3 * std::cos(2.4 * n)), btScalar(0.2 + 0.02 * (n % 10)), btScalar(0.3 * std::sin(2.4 * n))))));
			}
			budget.beginStep();
			scene.step();
			const btVoxShellBudget::Report report = budget.getReport();
			result.most = std::max(result.most, report.m_tests);
			result.sum += report.m_tests;
			result.coarse += report.m_coarse;
			result.searches += report.m_searches;
			result.pairs = std::max(result.pairs, report.m_pairs);
			// How deep the bodies are in the bowl, whatever the budget saw.
			for (size_t b = 0; i % 20 == 0 && b < bodies.size(); ++b)
			{
				const btTransform& t = bodies[b]->getWorldTransform();
				const btQuaternion q = t.getRotation().normalized();
				const vxs_body body = {kinds[kind[b]].get(), {{double(t.getOrigin().x()), double(t.getOrigin().y()), double(t.getOrigin().z())}, double(q.x()), double(q.y()), double(q.z()), double(q.w())}};
				const vxs_body ground = {bowl.get(), {{0, 0, 0}, 0, 0, 0, 1}};
				vxs_contact deepest;
				size_t found = 0;
				query.max_contacts = 1;
				query.roles = VXS_ROLES_BOTH;
				query.coverage = VXS_COVERAGE_SAMPLES;
				const vxs_status status = vxs_query_contacts(&body, &ground, &query, made, &deepest, 1, &found);
				CHECK(status == VXS_OK);
				if (found > 0)
					result.deepest = std::max(result.deepest, -deepest.separation);
			}
		}
		vxs_workspace_destroy(made);
		for (const btRigidBody* body : bodies)
		{
			result.places.push_back(body->getWorldTransform().getOrigin());
			result.lost += result.places.back().length() > 1.2 || !(result.places.back().y() > -1.2);
		}
	}
	// The pairs leave the budget with the world.
	CHECK(budget.getReport().m_pairs == 0);
	return result;
}

/// The shares follow the need of the worst first, and no pair has less than the least.
void shares_go_to_the_worst_first()
{
	using voxshell_bullet::BudgetShare;
	btVoxShellBudget budget(10000);
	BudgetShare shallow(&budget), deep(&budget), apart(&budget);
	const double inf = std::numeric_limits<double>::infinity();
	const auto step = [&](unsigned long long max) {
		budget.setMaxTests(max);
		budget.beginStep();
		return std::vector<unsigned long long>{shallow.limit() ? shallow.limit()->max_tests : 0, deep.limit() ? deep.limit()->max_tests : 0, apart.limit() ? apart.limit()->max_tests : 0};
	};
	for (BudgetShare* share : {&shallow, &deep, &apart})
		share->spend(1000, true);
	shallow.set_worst(-1e-3), deep.set_worst(-2e-3), apart.set_worst(inf);
	// Enough for all: nobody is limited.
	CHECK((step(10000) == std::vector<unsigned long long>{0, 0, 0}));
	// Enough for one and a half: the deepest has all.
	CHECK((step(1500 + 700) == std::vector<unsigned long long>{700, 0, 64}));
	// The order follows the depth, and equal ones the order of creation.
	shallow.set_worst(-3e-3);
	CHECK((step(1500 + 700) == std::vector<unsigned long long>{0, 700, 64}));
	deep.set_worst(-3e-3);
	CHECK((step(1500 + 700) == std::vector<unsigned long long>{0, 700, 64}));
	// Nothing to share.
	CHECK((step(0) == std::vector<unsigned long long>{64, 64, 64}));
	// A search that was ended says nothing of what is needed, a complete one does.
	shallow.spend(64, false);
	deep.spend(40, true);
	CHECK((step(0) == std::vector<unsigned long long>{64, 0, 64}));
	CHECK((step(100000) == std::vector<unsigned long long>{0, 0, 0}));
	CHECK(budget.getReport().m_pairs == 3 && budget.getReport().m_searches == 0);
	step(0);
	shallow.spend(64, false);
	deep.spend(700, true);
	const btVoxShellBudget::Report report = budget.getReport();
	CHECK(report.m_tests == 764 && report.m_searches == 2 && report.m_coarse == 1);
}
}  // namespace

int main()
{
	shares_go_to_the_worst_first();
	const int count = on_valgrind() ? 3 : 24, steps = on_valgrind() ? 40 : 600;
	const Poured free = pour(0, count, steps), ample = pour(1000000000ull, count, steps);
	// A budget that is never reached changes nothing.
	CHECK(free.places.size() == ample.places.size());
	double apart = 0;
	for (size_t i = 0; i < free.places.size(); ++i)
		apart = std::max(apart, double((free.places[i] - ample.places[i]).length()));
	CHECK(ample.coarse == 0 && free.lost == 0 && free.most == 0);
	CHECK(apart == 0);
	const unsigned long long mean = ample.sum / (unsigned long long)steps;
	std::printf("%12s %12s %12s %10s %12s %6s\n", "most_allowed", "most_tests", "mean_tests", "coarse_%", "deepest_mm", "lost");
	for (unsigned long long part : {0ull, 1ull, 2ull, 4ull, 8ull, 16ull})
	{
		const unsigned long long allowed = part == 0 ? 1000000000ull : ample.most / part;
		const Poured poured = part == 0 ? ample : pour(allowed, count, steps);
		std::printf("%12llu %12llu %12llu %10.2f %12.3f %6d\n", allowed, poured.most, poured.sum / (unsigned long long)steps, 100.0 * poured.coarse / std::max(1, poured.searches), 1e3 * poured.deepest, poured.lost);
		// The limit; what every pair may do in any case, with the nodes that a search opens before it looks at the limit;
		// and what a search may grow unseen.
		const unsigned long long least = (btVoxShellBudget::kLeastTests + 256ull) * (unsigned long long)poured.pairs;
		CHECK(poured.most <= allowed + allowed / 2 + least);
		// A body whose searches are coarse while it comes near can pass the thin bowl.
		CHECK(poured.lost <= 1);
	}
	CHECK(mean > 0);
	return finish();
}
