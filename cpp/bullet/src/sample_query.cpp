#include "sample_query.h"

#include <algorithm>
#include <limits>

#include "log.h"

namespace voxshell_bullet
{
namespace
{
/// Returns the answers of the last query on this thread. They are read before the next one: a world has thousands of pairs, whose
/// answers would otherwise take most of its memory.
std::vector<vxs_contact>& answers()
{
	thread_local std::vector<vxs_contact> own(256);
	return own;
}
}  // namespace

SampleQuery::SampleQuery()
{
	vxs_query_report_init(&m_report, sizeof m_report);
	m_report.answer = VXS_ANSWER_PARTIAL;
	vxs_workspace* made = nullptr;
	if (vxs_workspace_create(&made) == VXS_OK)
		m_workspace.reset(made);
}

bool SampleQuery::search(const Side& first, const Side& second, const vxs_query& query, size_t& count)
{
	const vxs_body a = {first.shape, first.pose}, b = {second.shape, second.pose};
	count = 0;
	m_coverage = query.coverage;
	std::vector<vxs_contact>& contacts = answers();
	vxs_status status;
	for (;;)
	{
		// As much room as this pair has needed so far, however much the thread has: a query that is made twice takes fewer tests,
		// and a budget must not depend on threads.
		if (contacts.size() < m_room)
			contacts.resize(m_room);
		status = vxs_query_contacts(&a, &b, &query, m_workspace.get(), contacts.data(), m_room, &count);
		if (status != VXS_TRUNCATED)
			break;
		m_room = count + count / 2;
	}
	if (status == VXS_OK)
		status = vxs_workspace_get_report(m_workspace.get(), &m_report);
	if (status != VXS_OK)
		log_failure("contacts of a pair", status);
	return status == VXS_OK;
}

bool SampleQuery::is_complete() const
{
	// The extreme samples are the same at every pose.
	return m_report.answer == VXS_ANSWER_COMPLETE || m_report.answer == VXS_ANSWER_EXTREMES;
}

bool SampleQuery::evaluate(const vxs_pose& first_pose, const Side& first, const Side& second)
{
	std::vector<vxs_contact>& contacts = answers();
	if (contacts.size() < features.size())
		contacts.resize(features.size());
	const vxs_body a = {first.shape, first_pose}, b = {second.shape, second.pose};
	return vxs_query_features(&a, &b, m_coverage, features.data(), features.size(), contacts.data()) == VXS_OK;
}

bool SampleQuery::has_contact(size_t index) const { return answers()[index].separation < std::numeric_limits<double>::infinity(); }

/// This is the only place where the C API's normal (A to B) becomes Bullet's (on B, towards A).
void SampleQuery::read(size_t index, const Side& first, const Side& second, Candidate& c) const
{
	const vxs_contact& contact = answers()[index];
	c.feature = contact.feature;
	c.turning = 0;
	c.normal = -contact.normal;
	c.distance = contact.separation - first.inflation - second.inflation;
	c.point = contact.point_on_b + c.normal * second.inflation;
}
}  // namespace voxshell_bullet
