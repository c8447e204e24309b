#include <voxshell/host/pair_cache.h>

#include <algorithm>
#include <functional>

#include "vec.h"

namespace voxshell::host {

size_t PairCache::Hash::operator()(const Key& key) const {
    // The multiplier of Knuth's multiplicative hashing spreads addresses, whose low bits are equal.
    const std::hash<uint64_t> hash;
    return hash(key.low * 0x9E3779B97F4A7C15ull) ^ hash((key.high + 1) * 0xC2B2AE3D27D4EB4Full);
}

Contact PairCache::Answer::operator[](size_t i) const {
    Contact contact = pair->contacts()[i];
    if (swapped) {
        std::swap(contact.point_on_a, contact.point_on_b);
        contact.normal = -contact.normal;
    }
    return contact;
}

void PairCache::Answer::set_user(size_t i, double normal, double tangent_1, double tangent_2) const {
    double* const user = pair->contacts()[i].user;
    user[0] = normal, user[1] = tangent_1, user[2] = tangent_2;
}

PairCache::Answer PairCache::find(uint64_t id_first, const Body& first, uint64_t id_second, const Body& second,
                                  double dt, const PairSettings& settings) {
    Answer answer;
    if (id_first == id_second) {
        vxs_log(VXS_LOG_WARNING, "host: a pair needs two bodies with different ids");
        answer.status = VXS_INVALID_ARGUMENT;
        return answer;
    }
    answer.swapped = id_second < id_first;
    Entry* entry;
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        std::unique_ptr<Entry>& place = m_pairs[{std::min(id_first, id_second), std::max(id_first, id_second)}];
        if (!place)
            place.reset(new Entry);
        entry = place.get();
    }
    entry->last_step = m_step;
    answer.pair = &entry->query;
    answer.status = answer.swapped ? entry->query.find(second, first, dt, settings)
                                   : entry->query.find(first, second, dt, settings);
    return answer;
}

void PairCache::end_step(uint32_t keep_steps) {
    for (auto at = m_pairs.begin(); at != m_pairs.end();)
        at = m_step - at->second->last_step >= keep_steps ? m_pairs.erase(at) : std::next(at);
    ++m_step;
}

void PairCache::drop(uint64_t id) {
    for (auto at = m_pairs.begin(); at != m_pairs.end();)
        at = at->first.low == id || at->first.high == id ? m_pairs.erase(at) : std::next(at);
}

void PairCache::clear() { m_pairs.clear(); }

} // namespace voxshell::host
