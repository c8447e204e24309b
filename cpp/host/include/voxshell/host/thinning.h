// Reduction of a contact set to the number that a host takes.
#ifndef VOXSHELL_HOST_THINNING_H
#define VOXSHELL_HOST_THINNING_H

#include <cstddef>
#include <vector>

#include <voxshell/host/contact.h>

namespace voxshell::host {

/// Settings of a reduction.
struct Thinning {
    /// Largest number of contacts to keep; 0: all.
    size_t max_contacts = 0;
    /// Distance that counts as much as a turn of the normal by 1 rad, metres: half the size of the smaller body is a
    /// good value. It lets the two faces of a wedge count as far apart.
    double turn_length = 0;
    /// A contact stands for another one near it if it is shallower than that one by at most this, metres. 0 lets the
    /// deepest contact of each region stand for the region; larger values keep the corners of a contact area although a
    /// resting body tilts by rounding.
    double depth_tolerance = 0;
    /// Contacts of the step before (Contact::kept) are preferred: one of them is chosen if no other contact is farther
    /// from the chosen ones by more than this factor, 1 or more. 1: no preference.
    double hysteresis = 1;
};

/// The loss of a reduction: how deep and how wide the contacts are that it left out.
struct ThinningLoss {
    /// Number of contacts left out.
    size_t dropped = 0;
    /// Largest distance from a contact that was left out to the contact that stands for it, metres. The distance of two
    /// contacts is sqrt(|p - q|² + (turn_length |n - m|)²), for the points on B and the normals.
    double cover = 0;
    /// Largest amount by which a contact that was left out is deeper than the one that stands for it, metres; at most
    /// `depth_tolerance`.
    double depth = 0;
};

/// Chooses contacts of a set: first the deepest, then each time the one farthest from those chosen (Gonzalez 1985,
/// "Clustering to minimize the maximum intercluster distance"). Each contact belongs to the region of the nearest
/// chosen one. Where a region has a contact deeper than its chosen one by more than the tolerance, the nearest of those
/// that are deep enough takes its place.
///
/// The contact with the smallest separation is always kept, and so is the one with the smallest gap if `max_contacts`
/// is at least 2. Of equal contacts the first in `contacts` is kept, the others are dropped. `loss->cover` is at most
/// 4 hysteresis times the smallest cover of any choice of `max_contacts` - 1 contacts.
///
/// Takes max_contacts times contacts.size() distances. Allocates only while its buffers grow.
class Thinner {
public:
    /// @param contacts  reduced in place; the order of the kept ones stays
    /// @param loss      may be null
    void thin(std::vector<Contact>& contacts, const Thinning& settings, ThinningLoss* loss = nullptr);

private:
    void choose(const std::vector<Contact>& contacts, double turn_length, size_t index);
    size_t farthest(const std::vector<Contact>& contacts, double hysteresis) const;
    void settle(const std::vector<Contact>& contacts, const Thinning& settings);
    ThinningLoss measure(const std::vector<Contact>& contacts, double turn_length) const;

    std::vector<size_t> m_chosen;
    std::vector<double> m_distance; // squared, of each contact to the chosen one of its region
    std::vector<size_t> m_region;   // of each contact: index into m_chosen
    // Each region has the separation of its deepest contact, the contact chosen first, and the squared distance from
    // that one to the contact that replaces it.
    std::vector<double> m_deepest, m_nearest;
    std::vector<size_t> m_centers;
};

} // namespace voxshell::host

#endif
