// One pair query per pair of bodies.
#ifndef VOXSHELL_HOST_PAIR_CACHE_H
#define VOXSHELL_HOST_PAIR_CACHE_H

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <voxshell/host/pair_query.h>

namespace voxshell::host {

/// The pair queries of one simulation, found by two ids of the host, such as the addresses of its geometries. The ids
/// are distinct; an id that the host gives to another body must be dropped first (`drop`).
///
/// `find` may be called by several threads at once for different pairs. All other functions are called by one thread,
/// between steps. Hosts that simulate many states of one model give each state a cache of its own: then the states do
/// not depend on each other.
class PairCache {
public:
    /// Contacts of a pair, in the order of the caller: normals point from the first body of the call to the second.
    /// Valid until the next `find` of the same pair.
    struct Answer {
        vxs_status status = VXS_OK;
        PairQuery* pair = nullptr;
        /// The caller's first body is B of `pair->contacts()`, whose normals then point the other way.
        bool swapped = false;

        size_t size() const { return pair ? pair->contacts().size() : 0; }
        /// Returns contact `i` in the caller's order of bodies.
        Contact operator[](size_t i) const;
        /// Sets the host's values of contact `i`, for the next step.
        void set_user(size_t i, double normal, double tangent_1, double tangent_2) const;
    };

    /// Finds the contacts of two bodies: see PairQuery::find. The body with the lower id is always A of the query, so
    /// that the answer does not depend on the order of the call.
    /// @return its status is VXS_INVALID_ARGUMENT for two equal ids
    Answer find(uint64_t id_first, const Body& first, uint64_t id_second, const Body& second, double dt,
                const PairSettings& settings);

    /// Ends a step: forgets pairs that have not been queried for this number of steps.
    void end_step(uint32_t keep_steps = 60);
    /// Forgets all pairs of a body.
    void drop(uint64_t id);
    void clear();
    size_t size() const { return m_pairs.size(); }

private:
    struct Key {
        uint64_t low, high;
        bool operator==(const Key& other) const { return low == other.low && high == other.high; }
    };
    struct Hash {
        size_t operator()(const Key& key) const;
    };
    struct Entry {
        PairQuery query;
        uint64_t last_step = 0;
    };

    std::mutex m_mutex; // of the table, not of its entries
    std::unordered_map<Key, std::unique_ptr<Entry>, Hash> m_pairs;
    uint64_t m_step = 0;
};

} // namespace voxshell::host

#endif
