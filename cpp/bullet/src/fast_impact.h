// The first contact of bodies that move so far in a step that the search for contacts ahead does not see it.
#ifndef VOXSHELL_BULLET_FAST_IMPACT_H
#define VOXSHELL_BULLET_FAST_IMPACT_H

#include "side.h"

namespace voxshell_bullet
{
/// Number of the feature of such a contact: no pair has another one that is as large.
const uint32_t kFastImpact = 0x7fffffffu;

/// Finds the place where two bodies hit each other first in a step of free motion; false if they do not. A sample or an edge that
/// is not near yet is no contact ahead of time: on its way it meets other faces. The contact stops the smaller body as a whole, at
/// the place of the hit, and the contacts of the next step turn it.
bool find_fast_impact(const Side& first, const Side& second, double dt, Candidate& contact);
}  // namespace voxshell_bullet

#endif
