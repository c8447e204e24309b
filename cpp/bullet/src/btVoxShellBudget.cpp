#include <voxshell/bullet/btVoxShellBudget.h>

#include <algorithm>

#include "budget_share.h"

namespace voxshell_bullet
{
BudgetShare::BudgetShare(btVoxShellBudget* budget) : m_budget(budget), m_given(btVoxShellBudget::kLeastTests)
{
	vxs_query_limit_init(&m_limit, sizeof m_limit);
	if (m_budget)
		m_budget->enter(this);
}

BudgetShare::~BudgetShare()
{
	if (m_budget)
		m_budget->leave(this);
}

const vxs_query_limit* BudgetShare::limit()
{
	if (!m_budget)
		return nullptr;
	// A search with a limit gives up thinning and other savings, so one that is known to fit has none. So has the first
	// search of a pair, which is made when the bodies have just come near each other.
	m_limited = need() > m_given;
	m_limit.max_tests = m_given;
	return m_limited ? &m_limit : nullptr;
}

void BudgetShare::spend(uint64_t tests, bool complete)
{
	// With a limit, a complete search needs no fewer tests than without.
	if (!m_limited || (complete && tests < m_free))
		m_free = tests;
	m_spent += tests;
	m_complete = complete;
	m_searched = true;
}

uint64_t BudgetShare::need() const { return m_free + m_free / 2; }
}  // namespace voxshell_bullet

using voxshell_bullet::BudgetShare;

btVoxShellBudget::btVoxShellBudget(unsigned long long maxTests) : m_maxTests(maxTests) {}

btVoxShellBudget::~btVoxShellBudget()
{
	for (BudgetShare* share : m_shares)
		share->m_budget = nullptr;
}

void btVoxShellBudget::enter(BudgetShare* share)
{
	const std::lock_guard<std::mutex> lock(m_mutex);
	share->m_number = m_entered++;
	m_shares.push_back(share);
}

void btVoxShellBudget::leave(BudgetShare* share)
{
	const std::lock_guard<std::mutex> lock(m_mutex);
	m_shares.erase(std::find(m_shares.begin(), m_shares.end(), share));
}

void btVoxShellBudget::beginStep()
{
	const std::lock_guard<std::mutex> lock(m_mutex);
	m_order = m_shares;
	std::sort(m_order.begin(), m_order.end(), [](const BudgetShare* a, const BudgetShare* b) {
		return a->m_worst != b->m_worst ? a->m_worst < b->m_worst : a->m_number < b->m_number;
	});
	uint64_t left = m_maxTests;
	for (BudgetShare* share : m_order)
	{
		const uint64_t given = std::min(left, share->need());
		left -= given;
		share->m_given = std::max(given, uint64_t(kLeastTests));
		share->m_spent = 0;
		share->m_searched = share->m_limited = false;
	}
}

btVoxShellBudget::Report btVoxShellBudget::getReport() const
{
	const std::lock_guard<std::mutex> lock(m_mutex);
	Report report;
	report.m_pairs = int(m_shares.size());
	for (const BudgetShare* share : m_shares)
	{
		report.m_tests += share->m_spent;
		report.m_searches += share->m_searched;
		report.m_coarse += share->m_searched && share->m_limited && !share->m_complete;
	}
	return report;
}
