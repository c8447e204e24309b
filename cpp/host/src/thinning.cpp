#include <voxshell/host/thinning.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "vec.h"

namespace voxshell::host {
namespace {

double distance2(const Contact& a, const Contact& b, double turn_length) {
    return length2(a.point_on_b - b.point_on_b) + turn_length * turn_length * length2(a.normal - b.normal);
}

/// Returns the index of the first contact with the smallest value of a member.
size_t least(const std::vector<Contact>& contacts, double Contact::*member) {
    size_t best = 0;
    for (size_t i = 1; i < contacts.size(); ++i)
        if (contacts[i].*member < contacts[best].*member)
            best = i;
    return best;
}

} // namespace

void Thinner::thin(std::vector<Contact>& contacts, const Thinning& settings, ThinningLoss* loss) {
    ThinningLoss measured;
    if (settings.max_contacts > 0 && contacts.size() > settings.max_contacts) {
        m_chosen.clear();
        m_distance.assign(contacts.size(), std::numeric_limits<double>::infinity());
        m_region.assign(contacts.size(), 0);
        const size_t deepest = least(contacts, &Contact::separation), urgent = least(contacts, &Contact::gap);
        const double hysteresis = std::max(1.0, settings.hysteresis);
        // The most urgent contact gets a place of its own and no region, so that no deeper contact relies on it.
        const bool reserve = settings.max_contacts > 1 && urgent != deepest;
        choose(contacts, settings.turn_length, deepest);
        while (m_chosen.size() + (reserve ? 1 : 0) < settings.max_contacts) {
            const size_t next = farthest(contacts, hysteresis);
            if (next == contacts.size())
                break;
            choose(contacts, settings.turn_length, next);
        }
        settle(contacts, settings);
        measured = measure(contacts, settings.turn_length);
        if (reserve && std::find(m_chosen.begin(), m_chosen.end(), urgent) == m_chosen.end())
            m_chosen.push_back(urgent);
        std::sort(m_chosen.begin(), m_chosen.end());
        for (size_t i = 0; i < m_chosen.size(); ++i) contacts[i] = contacts[m_chosen[i]];
        measured.dropped = contacts.size() - m_chosen.size();
        contacts.resize(m_chosen.size());
    }
    if (loss)
        *loss = measured;
}

/// Adds a contact to the chosen ones and gives it all contacts that are nearer to it than to another chosen one.
void Thinner::choose(const std::vector<Contact>& contacts, double turn_length, size_t index) {
    const size_t region = m_chosen.size();
    m_chosen.push_back(index);
    for (size_t i = 0; i < contacts.size(); ++i) {
        const double d = distance2(contacts[i], contacts[index], turn_length);
        if (d < m_distance[i])
            m_distance[i] = d, m_region[i] = region;
    }
}

/// Returns the contact farthest from the chosen ones; the number of contacts if all have the place of a chosen one.
size_t Thinner::farthest(const std::vector<Contact>& contacts, double hysteresis) const {
    const size_t none = contacts.size();
    size_t best = none, best_kept = none;
    for (size_t i = 0; i < contacts.size(); ++i) {
        if (!(m_distance[i] > 0))
            continue;
        if (best == none || m_distance[i] > m_distance[best])
            best = i;
        if (contacts[i].kept && (best_kept == none || m_distance[i] > m_distance[best_kept]))
            best_kept = i;
    }
    // The distances are squared.
    const bool stays = best_kept != none && m_distance[best_kept] * hysteresis * hysteresis >= m_distance[best];
    return stays ? best_kept : best;
}

/// Replaces the chosen contact of each region that has a contact deeper by more than the tolerance.
void Thinner::settle(const std::vector<Contact>& contacts, const Thinning& settings) {
    const double tolerance = std::max(0.0, settings.depth_tolerance);
    std::vector<double>& deepest = m_deepest;
    deepest.assign(m_chosen.size(), std::numeric_limits<double>::infinity());
    for (size_t i = 0; i < contacts.size(); ++i)
        deepest[m_region[i]] = std::min(deepest[m_region[i]], contacts[i].separation);
    m_centers = m_chosen;
    m_nearest.assign(m_chosen.size(), std::numeric_limits<double>::infinity());
    for (size_t i = 0; i < contacts.size(); ++i) {
        const size_t region = m_region[i];
        const bool suffices = contacts[m_centers[region]].separation <= deepest[region] + tolerance;
        if (!suffices && contacts[i].separation <= deepest[region] + tolerance && m_distance[i] < m_nearest[region])
            m_nearest[region] = m_distance[i], m_chosen[region] = i;
    }
}

ThinningLoss Thinner::measure(const std::vector<Contact>& contacts, double turn_length) const {
    ThinningLoss loss;
    double cover2 = 0;
    for (size_t i = 0; i < contacts.size(); ++i) {
        const Contact& stands = contacts[m_chosen[m_region[i]]];
        cover2 = std::max(cover2, distance2(contacts[i], stands, turn_length));
        loss.depth = std::max(loss.depth, stands.separation - contacts[i].separation);
    }
    loss.cover = std::sqrt(cover2);
    return loss;
}

} // namespace voxshell::host
