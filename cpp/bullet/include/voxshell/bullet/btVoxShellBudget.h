/* A limit on the work of the narrowphase in a step, shared by all pairs. */
#ifndef VOXSHELL_BULLET_BUDGET_H
#define VOXSHELL_BULLET_BUDGET_H

#include <mutex>
#include <vector>

namespace voxshell_bullet
{
class BudgetShare;
}

/// Limits the work of all searches for contacts in a step: a time-critical narrowphase (Sagardia et al. 2014, section 5,
/// as future work). The pairs share a number of tests, of spheres and of samples. The pair that may be deepest at the end
/// of the step, as far as its last search proves, gets first what that search needed, and so on; a pair for which too little is left makes a coarser
/// search: the deepest contacts that the tests find. Tests are counted and not timed, so that a simulation stays the same
/// on every machine; a test takes 5 to 20 ns.
/// \code
/// btVoxShellBudget budget(20000);  // outlives the world
/// btVoxShellSettings settings;
/// settings.m_budget = &budget;
/// btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher, settings);
/// ...
/// budget.beginStep();
/// world.stepSimulation(dt, 0);
/// \endcode
/// The limit is kept but for two things: each pair may make kLeastTests tests, and a pair's first search, or one that grows
/// by more than a half from one step to the next, is limited only from the next step on. Contacts that are only evaluated again count nothing.
class btVoxShellBudget
{
public:
	/// Number of tests that each pair may make in any case.
	static const unsigned kLeastTests = 64;

	/// What happened since beginStep.
	struct Report
	{
		unsigned long long m_tests = 0;  ///< tests of all pairs
		int m_pairs = 0;                 ///< pairs that share the budget
		int m_searches = 0;              ///< pairs that searched for contacts
		int m_coarse = 0;                ///< pairs whose search was ended by the limit
	};

	/// @param maxTests  tests of all pairs in a step
	explicit btVoxShellBudget(unsigned long long maxTests);
	~btVoxShellBudget();
	btVoxShellBudget(const btVoxShellBudget&) = delete;
	btVoxShellBudget& operator=(const btVoxShellBudget&) = delete;

	void setMaxTests(unsigned long long maxTests) { m_maxTests = maxTests; }
	unsigned long long getMaxTests() const { return m_maxTests; }

	/// Divides the tests between the pairs. Call it before each step, while no pair is being processed; a tick callback of
	/// the world before a step is a good place.
	void beginStep();

	Report getReport() const;

private:
	friend class voxshell_bullet::BudgetShare;

	void enter(voxshell_bullet::BudgetShare* share);
	void leave(voxshell_bullet::BudgetShare* share);

	unsigned long long m_maxTests;
	unsigned long long m_entered = 0;  // pairs so far
	mutable std::mutex m_mutex;        // dispatchers may create pairs on several threads
	std::vector<voxshell_bullet::BudgetShare*> m_shares;
	std::vector<voxshell_bullet::BudgetShare*> m_order;  // worst first
};

#endif
