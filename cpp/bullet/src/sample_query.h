// Contacts of samples of a pair, by the queries of the C API. The queries run in buffers that are kept from step to
// step: what they remember of the pair in its own, their answers in one for each thread.
#ifndef VOXSHELL_BULLET_SAMPLE_QUERY_H
#define VOXSHELL_BULLET_SAMPLE_QUERY_H

#include <vector>

#include "handle.h"
#include "side.h"

namespace voxshell_bullet
{
/// Bit of the feature number of a sample: the sample is the second body's.
const uint32_t kOfSecond = 0x80000000u;

class SampleQuery
{
public:
	SampleQuery();

	/// Returns false when there was no memory for the queries.
	bool is_ready() const { return m_workspace != nullptr; }

	/// Searches for the contacts of samples; false when the query failed.
	/// @param count  set to the number of contacts that were found
	bool search(const Side& first, const Side& second, const vxs_query& query, size_t& count);
	/// Returns whether the last search has found all contacts that it was asked for.
	bool is_complete() const;
	/// Returns whether its limit ended the last search.
	bool is_cut_short() const { return m_report.answer == VXS_ANSWER_COARSE || m_report.answer == VXS_ANSWER_PARTIAL; }
	/// Returns the number of spheres and samples that the last search tested.
	uint64_t tests() const { return m_report.node_tests + m_report.sample_tests; }
	/// Returns whether the contacts of the last search are those of the triangles.
	bool is_exact() const { return m_report.coverage != VXS_COVERAGE_SAMPLES; }
	/// Returns the workspace of the last search, for queries about its contacts.
	const vxs_workspace* workspace() const { return m_workspace.get(); }

	/// Features of the samples to evaluate.
	std::vector<uint32_t> features;
	/// Computes the contacts of `features`, in their order, while the first body is at another pose.
	bool evaluate(const vxs_pose& first_pose, const Side& first, const Side& second);
	/// Returns whether the last `evaluate` of any pair on this thread found a contact for the feature with this index.
	bool has_contact(size_t index) const;

	/// Fills in the contact with this index, of the last `search` or `evaluate` of any pair on this thread.
	void read(size_t index, const Side& first, const Side& second, Candidate& c) const;

private:
	Workspace m_workspace;
	vxs_query_report m_report;  // on the last search
	uint32_t m_coverage = VXS_COVERAGE_SAMPLES;  // of the last search
	size_t m_room = 256;  // contacts that an answer has had so far, and more
};
}  // namespace voxshell_bullet

#endif
