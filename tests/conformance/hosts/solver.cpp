#include "solver.h"

#include <algorithm>
#include <cmath>

#include "../bodies.h"

namespace conformance {
namespace {

vxs_vec3 operator+(const vxs_vec3& a, const vxs_vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
vxs_vec3 operator-(const vxs_vec3& a, const vxs_vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
vxs_vec3 operator*(const vxs_vec3& a, double s) { return {a.x * s, a.y * s, a.z * s}; }
double dot(const vxs_vec3& a, const vxs_vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
vxs_vec3 cross(const vxs_vec3& a, const vxs_vec3& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

vxs_pose inverse_turn(const vxs_pose& pose) { return {{0, 0, 0}, -pose.qx, -pose.qy, -pose.qz, pose.qw}; }

/// Velocity of b relative to a along an axis.
double relative(const vxs_vec3& va, const vxs_vec3& wa, const vxs_vec3& ra, const vxs_vec3& vb, const vxs_vec3& wb,
                const vxs_vec3& rb, const vxs_vec3& axis) {
    return dot(axis, vb + cross(wb, rb) - va - cross(wa, ra));
}

void set_axes(ContactConstraint& c) {
    c.axis[0] = c.normal;
    // The tangents change continuously with the normal but for its flips between x and the rest.
    const vxs_vec3 other = std::fabs(c.normal.x) < 0.8 ? vxs_vec3{1, 0, 0} : vxs_vec3{0, 1, 0};
    const vxs_vec3 tangent = cross(c.normal, other);
    c.axis[1] = tangent * (1 / std::sqrt(dot(tangent, tangent)));
    c.axis[2] = cross(c.normal, c.axis[1]);
}

} // namespace

vxs_vec3 RigidBody::inverse_inertia(const vxs_vec3& v) const {
    if (inverse_mass == 0)
        return {0, 0, 0};
    const vxs_vec3 local = rotate(inverse_turn(pose), v);
    return rotate(pose, {local.x / inertia.x, local.y / inertia.y, local.z / inertia.z});
}

vxs_vec3 RigidBody::angular_momentum() const {
    const vxs_vec3 local = rotate(inverse_turn(pose), angular);
    return rotate(pose, {local.x * inertia.x, local.y * inertia.y, local.z * inertia.z});
}

void RigidBody::integrate(double dt) {
    if (inverse_mass == 0)
        return;
    const vxs_vec3 momentum = angular_momentum();
    pose.position = pose.position + (linear + push) * dt;
    const vxs_pose by = pose_of({0, 0, 0}, (angular + turn) * dt);
    const vxs_vec3 p = {by.qx, by.qy, by.qz}, q = {pose.qx, pose.qy, pose.qz};
    const vxs_vec3 v = q * by.qw + p * pose.qw + cross(p, q);
    const double w = by.qw * pose.qw - dot(p, q), norm = 1 / std::sqrt(w * w + dot(v, v));
    pose.qx = v.x * norm, pose.qy = v.y * norm, pose.qz = v.z * norm, pose.qw = w * norm;
    angular = inverse_inertia(momentum);
    push = turn = {0, 0, 0};
}

void Solver::solve(std::vector<RigidBody>& bodies, std::vector<ContactConstraint>& contacts) const {
    const auto apply = [&](const ContactConstraint& c, const vxs_vec3& impulse) {
        RigidBody &a = bodies[c.a], &b = bodies[c.b];
        a.linear = a.linear - impulse * a.inverse_mass;
        a.angular = a.angular - a.inverse_inertia(cross(c.point - a.pose.position, impulse));
        b.linear = b.linear + impulse * b.inverse_mass;
        b.angular = b.angular + b.inverse_inertia(cross(c.point - b.pose.position, impulse));
    };
    for (ContactConstraint& c : contacts) {
        set_axes(c);
        const RigidBody &a = bodies[c.a], &b = bodies[c.b];
        for (int i = 0; i < 3; ++i) {
            const vxs_vec3 ta = cross(c.point - a.pose.position, c.axis[i]),
                           tb = cross(c.point - b.pose.position, c.axis[i]);
            c.mass[i] =
                1 / (a.inverse_mass + b.inverse_mass + dot(ta, a.inverse_inertia(ta)) + dot(tb, b.inverse_inertia(tb)));
        }
        c.push_impulse = 0;
        // Of a contact that no longer touches nothing is left.
        if (c.separation > 0)
            c.impulse[1] = c.impulse[2] = 0;
        apply(c, c.axis[0] * c.impulse[0] + c.axis[1] * c.impulse[1] + c.axis[2] * c.impulse[2]);
    }
    for (int iteration = 0; iteration < iterations; ++iteration) {
        for (ContactConstraint& c : contacts) {
            const RigidBody &a = bodies[c.a], &b = bodies[c.b];
            const vxs_vec3 ra = c.point - a.pose.position, rb = c.point - b.pose.position;
            for (const int i : {1, 2, 0}) {
                const double v = relative(a.linear, a.angular, ra, b.linear, b.angular, rb, c.axis[i]);
                const double wanted = i == 0 ? -std::max(0.0, c.separation) / dt : 0;
                const double limit = friction * c.impulse[0], before = c.impulse[i];
                const double sum = before + (wanted - v) * c.mass[i];
                c.impulse[i] = i == 0 ? std::max(0.0, sum) : std::max(-limit, std::min(limit, sum));
                apply(c, c.axis[i] * (c.impulse[i] - before));
            }
        }
    }
    for (int iteration = 0; iteration < iterations; ++iteration) {
        for (ContactConstraint& c : contacts) {
            if (c.separation >= 0)
                continue;
            RigidBody &a = bodies[c.a], &b = bodies[c.b];
            const vxs_vec3 ra = c.point - a.pose.position, rb = c.point - b.pose.position;
            const double v = relative(a.push, a.turn, ra, b.push, b.turn, rb, c.normal);
            const double before = c.push_impulse;
            c.push_impulse = std::max(0.0, before + (-correction * c.separation / dt - v) * c.mass[0]);
            const vxs_vec3 impulse = c.normal * (c.push_impulse - before);
            a.push = a.push - impulse * a.inverse_mass;
            a.turn = a.turn - a.inverse_inertia(cross(ra, impulse));
            b.push = b.push + impulse * b.inverse_mass;
            b.turn = b.turn + b.inverse_inertia(cross(rb, impulse));
        }
    }
}

} // namespace conformance
