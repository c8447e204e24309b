// The contact that the layer gives to a host.
#ifndef VOXSHELL_HOST_CONTACT_H
#define VOXSHELL_HOST_CONTACT_H

#include <voxshell/query.h>

namespace voxshell::host {

/// One contact of bodies A and B. World frame, SI units.
struct Contact {
    vxs_vec3 point_on_a = {0, 0, 0};
    vxs_vec3 point_on_b = {0, 0, 0};
    /// Unit vector from A to B.
    vxs_vec3 normal = {0, 0, 0};
    /// Signed distance, metres, negative when penetrating.
    double separation = 0;
    /// Separation at the end of the step if nothing stops the bodies, metres. An approach counts, a retreat does not.
    double gap = 0;
    /// Stable number of the sample or edge, as in vxs_contact. A and B are the bodies with the lower and the higher id
    /// in a PairCache, whatever the order of a call. Several contacts of one edge share a number.
    uint32_t feature = 0;
    /// The contact was in the answer of the step before.
    bool kept = false;
    /// Values of the host, such as the impulses along the normal and two tangents. They are those that the host wrote
    /// into this contact's predecessor (PairQuery::contacts); 0 for a new contact.
    double user[3] = {0, 0, 0};
};

} // namespace voxshell::host

#endif
