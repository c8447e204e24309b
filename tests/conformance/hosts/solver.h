// The rigid bodies and the contact solver of the host "c": a small engine of the kind that the C API is used in.
//
// Semi-implicit Euler. Sequential impulses with warm starting (Catto 2006, "Fast and simple physics using sequential
// impulses"). Contacts before touching limit the approach to their separation. Penetrations are corrected by velocities
// of their own, which do not stay in the bodies (split impulses).
#ifndef VOXSHELL_CONFORMANCE_SOLVER_H
#define VOXSHELL_CONFORMANCE_SOLVER_H

#include <cstddef>
#include <vector>

#include <voxshell/base.h>

namespace conformance {

struct RigidBody {
    vxs_pose pose = {{0, 0, 0}, 0, 0, 0, 1}; // of the centre of mass
    vxs_vec3 linear = {0, 0, 0}, angular = {0, 0, 0};
    double inverse_mass = 0;                     // 1/kg; 0: fixed
    vxs_vec3 inertia = {0, 0, 0};                // principal moments, kg m²
    vxs_vec3 push = {0, 0, 0}, turn = {0, 0, 0}; // velocities that correct penetrations

    /// Multiplies by the inverse of the inertia tensor, world frame.
    vxs_vec3 inverse_inertia(const vxs_vec3& v) const;
    vxs_vec3 angular_momentum() const;
    /// Moves by one step. A free body keeps its angular momentum.
    void integrate(double dt);
};

struct ContactConstraint {
    size_t a, b;
    vxs_vec3 point, normal; // from a to b
    double separation;
    double impulse[3]; // along the normal and the two tangents, N s
    // Filled in by the solver.
    vxs_vec3 axis[3];
    double mass[3]; // effective, kg
    double push_impulse;
};

struct Solver {
    double dt = 1.0 / 240;
    double friction = 0.5;
    int iterations = 100;
    /// Fraction of a penetration that is corrected in a step.
    double correction = 0.2;

    /// Changes the velocities so that no contact is approached by more than its separation.
    void solve(std::vector<RigidBody>& bodies, std::vector<ContactConstraint>& contacts) const;
};

} // namespace conformance

#endif
