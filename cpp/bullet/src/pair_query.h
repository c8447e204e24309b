// What the two sides of a pair touch each other at: the contacts of samples and of sharp features, found, or looked at again. In
// the order and the directions of Bullet; which of them are given to its solver is not decided here.
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

	/// Half the diagonal of the box of one of ours, metres; 0 for Bullet's own.
	double size() const { return voxshell ? double(voxshell->getLocalHalfExtents().length()) : 0; }
};

/// What contacts are looked for.
struct Wanted
{
	double distance;  // up to this, m
	double margin;    // a length that matters, m
	double slope;     // no two points of the fields differ by more than this per metre
	double dt;        // s
	Instant now;
	double worth;       // contacts whose gap is above this are not given to the solver, m
	Approach approach;  // of the first against the second
};

/// The queries of one pair, with what they remember from step to step.
class PairQuery
{
public:
	PairQuery();

	/// What both sides are tested as; false when they cannot be tested, or are known to be apart.
	/// @param distance  up to which contacts are wanted, m
	bool find_forms(Side& first, Side& second, double distance);

	/// Fills `candidates` with all contacts up to a distance, and perhaps some farther ones; false when the query failed.
	///
	/// Looks a little farther than that, so that while the pair hardly moves those found are only looked at again.
	///
	/// Where a great many samples are near, as in a thread, it is not all: of each part the most urgent.
	/// @param kept  features of samples that are wanted in any case, ascending
	bool find(const Side& first, const Side& second, const btVoxShellSettings& settings, const Wanted& wanted, const std::vector<uint32_t>& kept, std::vector<Candidate>& candidates);

	/// Fills in where contacts of the last `find` are by now; false when that takes finding them again.
	bool find_again(const Side& first, const Side& second, std::vector<Candidate>& candidates);

	/// A plane stands for the surface around a contact. Where a sample slides past an edge, or an edge past a sample, the plane of where
	/// it is now stands in a way that is free. Contacts of samples that the step's motion would break get the plane of where that
	/// motion ends, if the sample is outside on the way there.
	/// @param candidates  of the last `find`, with their gaps
	void look_ahead(const Side& first, const Side& second, const Wanted& wanted, std::vector<Candidate>& candidates);

	/// Whether the samples found in the last `find` are all up to the wanted distance.
	bool covers(const Wanted& wanted) const;

	/// The side, a convex body, of which all candidates of the last `find` are on one face; null when there is none, or when not all
	/// contacts were found.
	const Side* face_holder(const std::vector<Candidate>& candidates, const Side& first, const Side& second) const;

	/// Whether both are tested as what they were tested as in the last `find`.
	bool forms_are_known(const Side& first, const Side& second) const;

private:
	/// What a form was made of.
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

	// Of the last search, and of the last step.
	Known m_known[2];
	std::vector<uint32_t> m_near, m_near_segments;  // features of samples
	std::vector<SharpFeatures::Touch> m_touches;
	double m_searched = 0;  // up to this distance, m
	bool m_found = false;
	Frame m_frame_then, m_frame_before;

	// Segments of a level: first samples of the first side's, then of the second's, and how many are the first's. Regions: those of
	// the last search by ascending feature.
	std::vector<uint32_t> m_segments;
	size_t m_segments_of_first = 0;
	std::vector<std::pair<uint32_t, uint32_t>> m_regions;
	std::vector<uint32_t> m_known_features, m_known_regions;

	// Of candidates that a motion would break: the plane of where it is later.
	struct Ahead
	{
		size_t index;
		double distance;  // now, m
		Vec normal;
		bool is_free;  // all the way there
	};
	std::vector<Ahead> m_broken, m_ends;

	// Of the last step against a concave shape.
	Frame m_last_frame;  // from ours to theirs
	const vxs_shape* m_last_shape = nullptr;
	double m_last_depth = 0;

	double m_depth_limit = std::numeric_limits<double>::infinity();
};
}  // namespace voxshell_bullet

#endif
