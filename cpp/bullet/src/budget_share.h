// The part of a btVoxShellBudget that one pair has.
#ifndef VOXSHELL_BULLET_BUDGET_SHARE_H
#define VOXSHELL_BULLET_BUDGET_SHARE_H

#include <cstdint>
#include <limits>

#include <voxshell/bullet/btVoxShellBudget.h>
#include <voxshell/voxshell.h>

namespace voxshell_bullet
{
/// Used by one thread at a time. Without a budget it limits nothing.
class BudgetShare
{
public:
	explicit BudgetShare(btVoxShellBudget* budget);
	~BudgetShare();
	BudgetShare(const BudgetShare&) = delete;
	BudgetShare& operator=(const BudgetShare&) = delete;

	/// Returns the limit of a search; null when the pair has enough for a search like its last one.
	const vxs_query_limit* limit();
	/// Takes account of a search.
	/// @param tests     made by it
	/// @param complete  the limit did not end it
	void spend(uint64_t tests, bool complete);
	/// Returns whether the limit did not end the last search.
	bool is_complete() const { return m_complete; }
	/// Tells the smallest distance that the bodies may have at the end of the step, m.
	void set_worst(double gap) { m_worst = gap; }

private:
	friend class ::btVoxShellBudget;

	/// Returns the tests that a search without a limit needs, as far as the last one tells.
	uint64_t need() const;

	btVoxShellBudget* m_budget;
	uint64_t m_number = 0;  // in the order of creation
	uint64_t m_given;       // in this step
	uint64_t m_free = 0;    // tests of the last search without a limit, or fewer
	uint64_t m_spent = 0;   // in this step
	bool m_complete = true, m_searched = false, m_limited = false;
	double m_worst = std::numeric_limits<double>::infinity();
	vxs_query_limit m_limit;
};
}  // namespace voxshell_bullet

#endif
