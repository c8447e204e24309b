// Whether a point of one body, moved straight through a step, meets the other body.
#ifndef VOXSHELL_HOST_PATH_H
#define VOXSHELL_HOST_PATH_H

#include <voxshell/host/pair_query.h>
#include <voxshell/query.h>
#include <voxshell/shape.h>

namespace voxshell::host {

/// The test of the contacts of one pair in one step. It holds the fields of both bodies, from the first use on.
class PathTest {
public:
    /// @param distance  a point meets the other body where it comes this close, metres
    PathTest(const Body& a, const Body& b, const vxs_query_step& step, double distance);
    ~PathTest();
    PathTest(const PathTest&) = delete;
    PathTest& operator=(const PathTest&) = delete;

    /// Returns whether the point of the contact passes the other body by. False as well if that cannot be told: the other
    /// body has no field, or the point stays close to it for long.
    bool passes_by(const vxs_contact& contact);

private:
    /// A body into whose field points move.
    struct Obstacle {
        const Body* body;
        vxs_field* field = nullptr;
        vxs_aabb bounds = {};
        bool is_ready = false;
    };

    bool prepare(Obstacle& obstacle);
    bool passes_along(const Obstacle& obstacle, const vxs_vec3& start, const vxs_vec3& way, double separation) const;

    const vxs_query_step& m_step;
    double m_distance;
    Obstacle m_a, m_b;
};

} // namespace voxshell::host

#endif
