// The samples that the last search of a pair has found, and the conditions under which no other samples are needed.
#ifndef VOXSHELL_BULLET_SAMPLE_CACHE_H
#define VOXSHELL_BULLET_SAMPLE_CACHE_H

#include <vector>

#include "side.h"
#include "wanted.h"

namespace voxshell_bullet
{
class SampleCache
{
public:
	/// Samples that the last search has found: their features and segments.
	std::vector<uint32_t> features, segments;

	/// Returns whether both sides are in the forms of the last search.
	bool has_forms_of(const Side& first, const Side& second) const;
	/// Returns whether the last search has found all samples up to the wanted distance.
	bool covers(const Wanted& wanted) const;
	/// Returns the largest change of a gap since the last search, m.
	double change_since_search(const Wanted& wanted) const { return wanted.slope * wanted.now.moved_since(m_search_frame); }
	/// Returns the largest change of a gap since the last step, m; infinite when the queries of that step failed.
	double last_change(const Wanted& wanted) const;
	/// Returns whether the last search has found all contacts up to its distance.
	bool is_complete() const { return m_complete; }
	void set_complete(bool complete) { m_complete = complete; }
	/// Returns the distance of the last search, m.
	double distance() const { return m_distance; }

	/// Remembers the forms, the poses and the distance of a search.
	void begin_search(const Side& first, const Side& second, const Instant& now, double distance);
	/// Ends a step in which samples were searched, or evaluated again.
	/// @param found  the queries did not fail
	void end_step(const Instant& now, bool found);

private:
	/// Source of a form.
	struct Source
	{
		const vxs_shape* shape = nullptr;
		const SharpFeatures* features = nullptr;
		double inflation = 0, size = 0;

		Source() = default;
		explicit Source(const Side& side) : shape(side.shape), features(side.features), inflation(side.inflation), size(side.size()) {}
		bool operator==(const Source& other) const { return shape == other.shape && features == other.features && inflation == other.inflation && size == other.size; }
	};

	Source m_first, m_second;
	double m_distance = 0;
	bool m_complete = false;
	bool m_found = false;  // in the last step
	Frame m_search_frame;  // from the smaller body to the other, at the last search
	Frame m_step_frame;    // in the last step
};
}  // namespace voxshell_bullet

#endif
