// SHA-256 (FIPS 180-4), for the names of cached files.
#ifndef VOXSHELL_HOST_SHA256_H
#define VOXSHELL_HOST_SHA256_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace voxshell::host {

class Sha256 {
public:
    void add(const void* bytes, size_t size);
    /// Returns the hash of all bytes added, as 64 hexadecimal digits. Call it once.
    std::string finish();

private:
    void compress(const uint8_t* block);

    uint32_t m_state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint8_t m_block[64] = {};
    size_t m_used = 0;    // bytes in m_block
    uint64_t m_total = 0; // bytes added
};

} // namespace voxshell::host

#endif
