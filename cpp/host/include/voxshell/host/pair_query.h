// Contacts of two moving bodies, as a physics engine asks for them in each step.
#ifndef VOXSHELL_HOST_PAIR_QUERY_H
#define VOXSHELL_HOST_PAIR_QUERY_H

#include <limits>
#include <vector>

#include <voxshell/host/thinning.h>
#include <voxshell/query.h>

namespace voxshell::host {

/// A body of the host at the start of a step. World frame, SI units.
struct Body {
    const vxs_shape* shape = nullptr;
    /// Pose of the shape's frame.
    vxs_pose pose = {{0, 0, 0}, 0, 0, 0, 1};
    /// Point at which the body has its linear velocity.
    vxs_vec3 center_of_mass = {0, 0, 0};
    /// Velocities that the body has in the step if no contact stops it: those of the host plus gravity and other forces
    /// times dt. Zero for a body at rest.
    vxs_vec3 linear_velocity = {0, 0, 0};
    vxs_vec3 angular_velocity = {0, 0, 0};
    /// The part of the linear velocity that gravity and other forces add in the step: see vxs_query_step::gained_by_a.
    vxs_vec3 gained = {0, 0, 0};
};

/// Settings of the contacts of a pair.
struct PairSettings {
    /// Contacts up to this separation are reported, metres, 0 or more. 0: touching or penetrating contacts.
    double margin = 0;
    /// Factor for the distance that the bodies can approach within the step: contacts that will be within the margin at
    /// the step's end are reported before they touch. 0: none, for hosts that only take penetrating contacts.
    double look_ahead = 1;
    /// Upper limit of that distance, as a fraction of the smaller body's radius.
    double max_look_ahead = 1;
    /// Part of the approach that does not count for the look-ahead, metres. Slow approaches are then left to the step in
    /// which the bodies touch: contacts that come early brake bodies that slide with little play, such as a nut.
    double allowance = 0;
    /// Distance, metres, up to which a point must come to the other body on its straight way through the step, or else it
    /// gets no look-ahead. Negative: no such test. The gap takes the surface at a contact for an endless plane, which
    /// without the test holds up bodies that come past an edge or into a hole (ghost collisions).
    double path_distance = -1;
    /// Reduction to the host's number of contacts. A `turn_length` of 0 is replaced by half the radius of the smaller
    /// body.
    Thinning thinning;
    /// One of VXS_ROLES_ and of VXS_COVERAGE_. The defaults are the library's own, which miss no contact of two closed
    /// meshes. Where only one of two directions is possible, the query uses that one. Bodies that lie on each other
    /// with large faces take about 20 times as long with VXS_COVERAGE_EDGES as with VXS_COVERAGE_FACETS, which engines
    /// with a fixed rate may prefer.
    uint32_t roles = VXS_ROLES_AUTO;
    uint32_t coverage = VXS_COVERAGE_EDGES;
    /// Above this number of samples in contact the library keeps the most urgent ones of each part of the surface:
    /// vxs_query_step::dense_above. 0: never.
    uint64_t dense_above = 1024;
    /// Leaves out samples between others that a solver does not need: vxs_query_step::extremes_only. The deepest
    /// contact stays. False: all samples.
    bool extremes_only = true;
};

/// Returns whether two shapes can be tested against each other: one of them has a pointshell and the other a field.
/// Hosts leave other pairs to their own methods.
bool can_collide(const vxs_shape* a, const vxs_shape* b);

/// The query of one pair. It owns a workspace, which keeps the bounds that the last query proved, and the contacts of
/// the last answer. Used by one thread at a time.
class PairQuery {
public:
    PairQuery();
    ~PairQuery();
    PairQuery(const PairQuery&) = delete;
    PairQuery& operator=(const PairQuery&) = delete;

    /// Finds the contacts of a step, deepest first. The answer is in `contacts`; after an error it is empty.
    ///
    /// The same bodies, settings and last answer give the same bytes. With a thinning without hysteresis the last
    /// answer changes only `kept` and `user`, so that a host that resets or copies its state gets the same contacts.
    /// @param dt  the step, s; 0: no look-ahead
    /// @return VXS_OK, or what vxs_query_contacts returns
    vxs_status find(const Body& a, const Body& b, double dt, const PairSettings& settings);

    /// Returns the contacts of the last `find`. The host may change `user`, which the next `find` hands to the contact
    /// of the same feature, or, for edges with several contacts, to the nearest of them.
    std::vector<Contact>& contacts() { return m_contacts; }
    const std::vector<Contact>& contacts() const { return m_contacts; }

    /// Returns what the thinning of the last `find` left out.
    const ThinningLoss& loss() const { return m_loss; }
    /// Number of contacts that the library returned in the last `find`, before thinning.
    size_t found() const { return m_found; }
    /// Forgets the last answer, as for a body that was moved by hand.
    void forget();

private:
    void match();

    vxs_workspace* m_workspace = nullptr;
    Thinner m_thinner;
    std::vector<vxs_contact> m_raw;
    std::vector<Contact> m_contacts, m_last;
    std::vector<uint32_t> m_preferred;
    std::vector<size_t> m_order;
    std::vector<bool> m_taken;
    ThinningLoss m_loss;
    size_t m_found = 0;
};

/// Returns the distance by which two bodies can approach each other within a step, metres.
/// @param radius_a, radius_b  of balls around the centres of mass that hold the bodies; may be infinite
double reach(const Body& a, const Body& b, double radius_a, double radius_b, double dt);

/// Returns the radius of the ball around a point of the shape's frame that holds the shape; infinite for a half-space.
double radius_about(const vxs_shape* shape, const vxs_vec3& point);

} // namespace voxshell::host

#endif
