// Contacts between the two sides of a pair: the contacts of samples and of sharp features, searched anew or
// re-evaluated. They are in the order and the directions of Bullet. The choice of contacts for its solver is made
// elsewhere.
#ifndef VOXSHELL_BULLET_PAIR_QUERY_H
#define VOXSHELL_BULLET_PAIR_QUERY_H

#include <vector>

#include <voxshell/bullet/btVoxShellCollisionAlgorithm.h>

#include "budget_share.h"
#include "edge_contacts.h"
#include "feature_contacts.h"
#include "look_ahead.h"
#include "pair_forms.h"
#include "rolling.h"
#include "sample_cache.h"
#include "sample_query.h"
#include "sample_segments.h"
#include "side.h"
#include "wanted.h"

namespace voxshell_bullet
{
/// The queries of one pair, with the results that they remember from step to step.
class PairQuery
{
public:
	/// Finds the forms in which both sides are tested; false when they cannot be tested, or are known to be apart.
	/// @param distance  up to which contacts are wanted, m
	bool find_forms(Side& first, Side& second, double distance) { return m_samples.is_ready() && m_forms.find(first, second, distance); }

	/// Returns whether one side is a sheet of triangles.
	bool has_sheet() const { return m_forms.has_sheet(); }

	/// Fills `candidates` with all contacts up to a distance, and perhaps some farther ones; false when the query
	/// failed.
	///
	/// Searches a little farther than that, so that the contacts need only be re-evaluated while the pair hardly moves.
	///
	/// If a great many samples are near, as in a thread, `candidates` does not hold all contacts but the most urgent
	/// ones of each part.
	/// @param kept   features of samples that must be included in any case, ascending
	/// @param share  limits the search
	bool find(const Side& first, const Side& second, const btVoxShellSettings& settings, const Wanted& wanted, const std::vector<uint32_t>& kept, BudgetShare& share, std::vector<Candidate>& candidates);

	/// Updates the contacts of the last `find` to the present poses; false when this needs a new search.
	bool find_again(const Side& first, const Side& second, std::vector<Candidate>& candidates);

	/// Replaces the planes of contacts that the step's motion would break: see LookAhead.
	/// @param candidates  of the last `find`, with their gaps
	/// @param exact  the contacts are those of the triangles
	void look_ahead(const Side& first, const Side& second, const Wanted& wanted, bool exact, std::vector<Candidate>& candidates);

	/// Fills in `turning` of contacts that come nearer by turning: see LookAhead.
	/// @param chosen  of the last `find`
	void follow_turning(const Side& first, const Side& second, const Wanted& wanted, std::vector<Candidate>& chosen);

	/// Returns whether the contacts of the last `find` are exactly those of the triangles, and not of a field.
	bool is_exact() const { return m_samples.is_exact(); }

	/// Returns whether the last `find` found all samples up to the wanted distance.
	bool covers(const Wanted& wanted) const { return m_cache.covers(wanted); }

	/// Returns the side, a convex body, that has one face on which all candidates of the last `find` lie; null when
	/// there is none, or when not all contacts were found.
	const Side* face_holder(const std::vector<Candidate>& candidates, const Side& first, const Side& second) const;

	/// Returns whether both sides are tested in the same forms as in the last `find`.
	bool forms_are_known(const Side& first, const Side& second) const { return m_cache.has_forms_of(first, second) && !m_forms.sheet_changed(); }

private:
	bool search(const Side& first, const Side& second, const btVoxShellSettings& settings, const Wanted& wanted, const std::vector<uint32_t>& kept, BudgetShare& share, std::vector<Candidate>& candidates);
	bool search_samples(const Side& first, const Side& second, const btVoxShellSettings& settings, const Wanted& wanted, bool is_far, const std::vector<uint32_t>& kept, BudgetShare& share, std::vector<Candidate>& candidates);
	void take_samples(const Side& first, const Side& second, const btVoxShellSettings& settings, size_t count, std::vector<Candidate>& candidates);
	void drop_repeated_corners(double size, std::vector<Candidate>& candidates);
	bool stays_found(const Side& first, const Side& second, const Wanted& wanted) const;
	bool lacks_crossings(const std::vector<Candidate>& candidates) const;
	bool recall(const Side& first, const Side& second, std::vector<Candidate>& candidates);
	bool update_samples(const Side& first, const Side& second, std::vector<Candidate>& candidates);

	PairForms m_forms;
	SampleQuery m_samples;
	SampleSegments m_segments;
	SampleCache m_cache;
	EdgeContacts m_edges;
	FeatureContacts m_features;
	LookAhead m_look_ahead;
	Rolling m_rolling;
	std::vector<size_t> m_repeated;
	bool m_can_cross = false;  // edges may pass through the other mesh between the samples of the last search
	bool m_crosses = false;    // the last search needed the edges that pass through the other mesh
};
}  // namespace voxshell_bullet

#endif
