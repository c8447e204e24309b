// Contacts between the two sides of a pair: the contacts of samples and of sharp features, searched anew or
// re-evaluated. They are in the order and the directions of Bullet. The choice of contacts for its solver is made
// elsewhere.
#ifndef VOXSHELL_BULLET_PAIR_QUERY_H
#define VOXSHELL_BULLET_PAIR_QUERY_H

#include <limits>
#include <utility>
#include <vector>

#include <voxshell/bullet/btVoxShellCollisionAlgorithm.h>

#include "concave_patch.h"
#include "contact_policy.h"
#include "drift.h"
#include "forms.h"

namespace voxshell_bullet
{
/// One side of the pair in this step.
struct Side : Form
{
	const btCollisionShape* stock = nullptr;        // Bullet's own, or
	const btVoxShellBaseShape* voxshell = nullptr;  // ours
	vxs_pose pose;
	Motion motion;
	double extent = 0;  // radius of the shape around the body's centre of mass

	const SharpFeatures* features = nullptr;  // of Bullet's own shape

	Form& form() { return *this; }

	/// Returns half the diagonal of the box of one of our shapes, metres; 0 for Bullet's own.
	double size() const { return voxshell ? double(voxshell->getLocalHalfExtents().length()) : 0; }
};

/// Parameters of a search for contacts.
struct Wanted
{
	double distance;  // up to this, m
	double margin;    // a length that matters, m
	double slope;     // no two points of the fields differ by more than this per metre
	double dt;        // s
	Instant now;
	double worth;       // contacts whose gap is above this are not given to the solver, m
	Approach approach;  // of the first body relative to the second
};

/// The queries of one pair, with the results that they remember from step to step.
class PairQuery
{
public:
	PairQuery();

	/// Finds the forms in which both sides are tested; false when they cannot be tested, or are known to be apart.
	/// @param distance  up to which contacts are wanted, m
	bool find_forms(Side& first, Side& second, double distance);

	/// Fills `candidates` with all contacts up to a distance, and perhaps some farther ones; false when the query
	/// failed.
	///
	/// Searches a little farther than that, so that the contacts need only be re-evaluated while the pair hardly moves.
	///
	/// If a great many samples are near, as in a thread, `candidates` does not hold all contacts but the most urgent
	/// ones of each part.
	/// @param kept  features of samples that must be included in any case, ascending
	bool find(const Side& first, const Side& second, const btVoxShellSettings& settings, const Wanted& wanted, const std::vector<uint32_t>& kept, std::vector<Candidate>& candidates);

	/// Updates the contacts of the last `find` to the present poses; false when this needs a new search.
	bool find_again(const Side& first, const Side& second, std::vector<Candidate>& candidates);

	/// Replaces the planes of contacts that the step's motion would break. A contact plane stands for the surface
	/// around a contact. Where a sample slides past an edge, or an edge past a sample, the present plane blocks motion
	/// that is free (a ghost collision). Contacts of such samples get the plane at the end of the motion, if the sample
	/// stays outside up to there.
	/// @param candidates  of the last `find`, with their gaps
	void look_ahead(const Side& first, const Side& second, const Wanted& wanted, std::vector<Candidate>& candidates);

	/// Returns whether the last `find` found all samples up to the wanted distance.
	bool covers(const Wanted& wanted) const;

	/// Returns the side, a convex body, that has one face on which all candidates of the last `find` lie; null when
	/// there is none, or when not all contacts were found.
	const Side* face_holder(const std::vector<Candidate>& candidates, const Side& first, const Side& second) const;

	/// Returns whether both sides are tested in the same forms as in the last `find`.
	bool forms_are_known(const Side& first, const Side& second) const;

private:
	/// Source of a form.
	struct Known
	{
		const vxs_shape* shape = nullptr;
		const SharpFeatures* features = nullptr;
		double inflation = 0, size = 0;
	};

	bool find_stock_form(Side& ours, Side& theirs, double distance);
	bool search(const Side& first, const Side& second, const btVoxShellSettings& settings, const Wanted& wanted, bool is_far, const std::vector<uint32_t>& kept, std::vector<Candidate>& candidates);
	void know_segments(const Side& first, const Side& second, uint32_t level);
	void find_segments(const btVoxShellSettings& settings, size_t count);
	bool look_at_samples(const Side& first, const Side& second, std::vector<Candidate>& candidates);
	bool look_at_numbers(const vxs_pose& first_pose, const Side& first, const Side& second);
	bool look_from(const Side& first, const Side& second, const Wanted& wanted, double time, const std::vector<Candidate>& candidates);
	void add_touches(const Side& ours, const Side& theirs, bool ours_is_first, double distance, bool search, double dt, std::vector<Candidate>& candidates);

	StockShape m_stock;
	ConcavePatch m_patch;
	Workspace m_workspace;
	std::vector<vxs_contact> m_contacts;
	std::vector<uint32_t> m_numbers;  // of features, for a query
	bool m_patch_changed = false;
	bool m_all = false;  // the last search gave all contacts

	// State of the last search, and of the last step.
	Known m_known[2];
	std::vector<uint32_t> m_near, m_near_segments;  // features of samples
	std::vector<SharpFeatures::Touch> m_touches;
	double m_searched = 0;  // up to this distance, m
	bool m_found = false;
	Frame m_frame_then, m_frame_before;

	// Segments of a level: the first samples of the first side's segments, then of the second's, and the number of the
	// first's. Regions: those of the last search by ascending feature.
	std::vector<uint32_t> m_segments;
	size_t m_segments_of_first = 0;
	std::vector<std::pair<uint32_t, uint32_t>> m_regions;
	std::vector<uint32_t> m_known_features, m_known_regions;

	// Candidates that a motion would break, with the plane at the later position.
	struct Ahead
	{
		size_t index;
		double distance;  // now, m
		Vec normal;
		bool is_free;  // separated during the whole motion
	};
	std::vector<Ahead> m_broken, m_ends;

	// State of the last step against a concave shape.
	Frame m_last_frame;  // from ours to theirs
	const vxs_shape* m_last_shape = nullptr;
	double m_last_depth = 0;

	double m_depth_limit = std::numeric_limits<double>::infinity();
};
}  // namespace voxshell_bullet

#endif
