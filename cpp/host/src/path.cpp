#include "path.h"

#include <algorithm>

#include "vec.h"

namespace voxshell::host {
namespace {

// A point that slides along a surface at a distance c needs about its path over c steps.
constexpr int kMostSteps = 24;

/// Returns the distance of a point to a box, metres, 0 inside.
double distance_to_box(const vxs_aabb& box, const vxs_vec3& point) {
    const vxs_vec3 beyond = {std::max({box.min.x - point.x, point.x - box.max.x, 0.0}),
                             std::max({box.min.y - point.y, point.y - box.max.y, 0.0}),
                             std::max({box.min.z - point.z, point.z - box.max.z, 0.0})};
    return length(beyond);
}

} // namespace

PathTest::PathTest(const Body& a, const Body& b, const vxs_query_step& step, double distance)
    : m_step(step), m_distance(distance), m_a{&a}, m_b{&b} {}

PathTest::~PathTest() {
    vxs_field_release(m_a.field);
    vxs_field_release(m_b.field);
}

bool PathTest::prepare(Obstacle& obstacle) {
    if (!obstacle.is_ready) {
        obstacle.is_ready = true;
        if (vxs_shape_get_bounds(obstacle.body->shape, &obstacle.bounds) ||
            vxs_shape_get_field(obstacle.body->shape, &obstacle.field))
            obstacle.field = nullptr;
    }
    return obstacle.field;
}

bool PathTest::passes_by(const vxs_contact& contact) {
    const bool is_of_b = contact.feature & VXS_FEATURE_OF_B;
    Obstacle& obstacle = is_of_b ? m_a : m_b;
    if (!prepare(obstacle))
        return false;
    // The step moves points of A, seen from B. A third body may withstand the force on either.
    const vxs_vec3 start = is_of_b ? contact.point_on_b : contact.point_on_a;
    const vxs_vec3 moves = m_step.shift + cross(m_step.turn, start - m_step.center);
    const double sign = is_of_b ? -1 : 1;
    const vxs_vec3 &of_a = m_step.gained_by_a, &of_b = m_step.gained_by_b;
    for (const vxs_vec3& way : {moves, moves - of_a, moves + of_b, moves - of_a + of_b})
        if (!passes_along(obstacle, start, way * sign, contact.separation))
            return false;
    return true;
}

bool PathTest::passes_along(const Obstacle& obstacle, const vxs_vec3& start, const vxs_vec3& way, double separation) const {
    const vxs_pose& pose = obstacle.body->pose;
    const vxs_vec3 from = to_body(pose, start), along = turn_to_body(pose, way);
    const double path = length(along);
    // Sphere tracing: a ball around the point, of the radius of the distance, is free.
    double done = std::max(0.0, separation - m_distance);
    for (int i = 0; i < kMostSteps && done < path; ++i) {
        const vxs_vec3 point = from + along * (done / path);
        double distance = 0;
        if (vxs_field_distance(obstacle.field, point, &distance, nullptr))
            return false;
        // Outside of its grid, which holds the box, the field may tell too much by twice the distance to the grid.
        const double outside = distance_to_box(obstacle.bounds, point);
        distance = std::max(outside, distance - 2 * outside) - m_distance;
        if (!(distance > 0))
            return false;
        done += distance;
    }
    return done >= path;
}

} // namespace voxshell::host
