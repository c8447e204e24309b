// Parameters of a search for contacts.
#ifndef VOXSHELL_BULLET_WANTED_H
#define VOXSHELL_BULLET_WANTED_H

#include "drift.h"

namespace voxshell_bullet
{
struct Wanted
{
	double distance;  // up to this, m
	double margin;    // a length that matters, m
	double slope;     // no two points of the fields differ by more than this per metre
	double dt;        // s
	Instant now;
	double worth;       // contacts whose gap is above this are not given to the solver, m
	Approach approach;  // of the first body relative to the second

	/// Depths that differ by less than this are the same, m.
	double flush() const { return 0.05 * margin; }
};
}  // namespace voxshell_bullet

#endif
