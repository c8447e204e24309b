// Replaces the planes of contacts that the step's motion would break.
#ifndef VOXSHELL_BULLET_LOOK_AHEAD_H
#define VOXSHELL_BULLET_LOOK_AHEAD_H

#include <vector>

#include "sample_query.h"
#include "wanted.h"

namespace voxshell_bullet
{
/// A contact plane stands for the surface around a contact. Where a sample slides past an edge, or an edge past a
/// sample, the present plane blocks motion that is free (a ghost collision). Contacts of such samples get the plane at
/// the end of the motion, if the sample stays outside up to there.
class LookAhead
{
public:
	/// @param candidates  with their gaps
	/// Replaces the planes of samples that slide over an edge.
	/// @param exact  the contacts are exact: then planes stay where the surface rises ahead
	void replace_planes(const Side& first, const Side& second, const Wanted& wanted, bool exact, SampleQuery& samples, std::vector<Candidate>& candidates);

	/// Fills in `turning` of samples that come nearer because a face turns while they slide along it: the gap that the
	/// velocity predicts is right to first order only.
	/// @param chosen  contacts that are given to the solver
	void follow_turning(const Side& first, const Side& second, const Wanted& wanted, SampleQuery& samples, std::vector<Candidate>& chosen);

private:
	/// A candidate that the motion would break, with the plane at a later position.
	struct Ahead
	{
		size_t index;
		double distance;  // now, m
		Vec normal;
		bool is_free;  // separated during the whole motion
	};

	/// Parameters of one call.
	struct Step
	{
		const Side &first, &second;
		const Wanted& wanted;
		double resolution;  // of our fields, m
		double flush;       // depths that differ by less than this are the same, m
		bool exact;         // the contacts are those of the triangles
	};

	void find_broken(const Step& step, SampleQuery& samples, const std::vector<Candidate>& candidates);
	bool look_from(const Step& step, double time, SampleQuery& samples, const std::vector<Candidate>& candidates);
	static bool rises(const Step& step, const Ahead& ahead, const Candidate& now);
	double keep_turned(const Step& step, SampleQuery& samples, const std::vector<Candidate>& candidates);
	bool check_path(const Step& step, double longest, SampleQuery& samples, const std::vector<Candidate>& candidates);

	std::vector<Ahead> m_broken;  // at the position of the last look
	std::vector<Ahead> m_ends;    // at the end of the motion
};
}  // namespace voxshell_bullet

#endif
