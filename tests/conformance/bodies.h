// The models of the suite, and their true depth in each other.
#ifndef VOXSHELL_CONFORMANCE_BODIES_H
#define VOXSHELL_CONFORMANCE_BODIES_H

#include <map>
#include <string>

#include <voxshell/host.h>

#include "world.h"

namespace conformance {

/// Cooks the models when they are first needed. The files are kept in a directory from run to run.
class Bodies {
public:
    explicit Bodies(const std::string& directory) : m_assets(directory) {}
    ~Bodies();
    Bodies(const Bodies&) = delete;
    Bodies& operator=(const Bodies&) = delete;

    /// @param name  one of knot, gear, bowl, block (with a hole), link, bolt, nut
    const Model& get(const std::string& name);

private:
    voxshell::host::AssetCache m_assets;
    std::map<std::string, Model> m_models;
};

/// The exact surface of a body, for measuring. Its distance is that to the triangles, found by their closest point, and
/// not that of a cooked field.
class TrueBody {
public:
    explicit TrueBody(const BodySpec& spec);
    ~TrueBody();
    TrueBody(TrueBody&& other) noexcept;
    TrueBody(const TrueBody&) = delete;
    TrueBody& operator=(const TrueBody&) = delete;

    /// Returns the depth of the deepest of all vertices and edge middles of either body in the other, m, negative if
    /// they are apart; or `at_least`, if that is more.
    static double depth(const TrueBody& a, const vxs_pose& pose_a, const TrueBody& b, const vxs_pose& pose_b,
                        double at_least);

    /// Returns how far a point of the body's frame is from its surface, m.
    double distance(const vxs_vec3& point) const;

    /// Returns the largest distance that a point of the body moves between two poses, m.
    double moved(const vxs_pose& from, const vxs_pose& to) const;

private:
    double depth_of_points(const vxs_pose& pose, const TrueBody& other, const vxs_pose& other_pose,
                           double at_least) const;

    std::vector<vxs_vec3> m_points;
    double m_ball = 0; // radius around the only point, for a ball
    vxs_field* m_exact = nullptr;
    vxs_field* m_quick = nullptr; // a cooked field that tells which points cannot be deep; may be null
    double m_quick_error = 0;     // m
    vxs_aabb m_box = {};
};

vxs_vec3 transform(const vxs_pose& pose, const vxs_vec3& point);
vxs_vec3 inverse_transform(const vxs_pose& pose, const vxs_vec3& point);
vxs_vec3 rotate(const vxs_pose& pose, const vxs_vec3& v);
/// Returns the pose turned by a rotation vector, rad, and then moved.
vxs_pose pose_of(const vxs_vec3& position, const vxs_vec3& turn = {0, 0, 0});

/// Ends the program with the library's message after an error.
void must(vxs_status status);

} // namespace conformance

#endif
