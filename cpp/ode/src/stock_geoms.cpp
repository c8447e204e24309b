#include "stock_geoms.h"

#include <cmath>
#include <vector>

#include <voxshell/voxshell.h>

namespace voxshell::ode {
namespace {

vxs_vec3 cross(const vxs_vec3& a, const vxs_vec3& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

} // namespace

bool is_supported(int geom_class) {
    switch (geom_class) {
    case dSphereClass:
    case dBoxClass:
    case dCapsuleClass:
    case dCylinderClass:
    case dPlaneClass:
    case dConvexClass:
    case dTriMeshClass:
    case dHeightfieldClass:
        return true;
    default:
        return false;
    }
}

vxs_pose pose_of(dGeomID geom) {
    const dReal* const at = dGeomGetPosition(geom);
    dQuaternion q;
    dGeomGetQuaternion(geom, q);
    const double w = double(q[0]), x = double(q[1]), y = double(q[2]), z = double(q[3]);
    const double k = 1 / std::sqrt(w * w + x * x + y * y + z * z);
    return {{double(at[0]), double(at[1]), double(at[2])}, k * x, k * y, k * z, k * w};
}

vxs_vec3 turn(const vxs_pose& pose, const vxs_vec3& v) {
    const vxs_vec3 q = {pose.qx, pose.qy, pose.qz}, t = cross(q, v), u = cross(q, t);
    return {v.x + 2 * (pose.qw * t.x + u.x), v.y + 2 * (pose.qw * t.y + u.y), v.z + 2 * (pose.qw * t.z + u.z)};
}

vxs_vec3 to_world(const vxs_pose& pose, const vxs_vec3& point) {
    const vxs_vec3 p = turn(pose, point);
    return {p.x + pose.position.x, p.y + pose.position.y, p.z + pose.position.z};
}

vxs_vec3 to_body(const vxs_pose& pose, const vxs_vec3& point) {
    const vxs_pose back = {{0, 0, 0}, -pose.qx, -pose.qy, -pose.qz, pose.qw};
    return turn(back, {point.x - pose.position.x, point.y - pose.position.y, point.z - pose.position.z});
}

StockGeoms::~StockGeoms() {
    for (const auto& entry : m_given) vxs_shape_release(entry.second);
    for (const auto& entry : m_meshes) vxs_shape_release(entry.second.shape);
}

void StockGeoms::set(dGeomID geom, const vxs_shape* shape) {
    const auto found = m_given.find(geom);
    if (found != m_given.end()) {
        vxs_shape_release(found->second);
        m_given.erase(found);
    }
    vxs_shape* own = nullptr;
    if (shape && vxs_shape_retain(shape, &own) == VXS_OK)
        m_given[geom] = own;
}

bool StockGeoms::find(dGeomID geom, double sheet_depth, Partner& partner) {
    const int kind = dGeomGetClass(geom);
    if (kind == dPlaneClass) {
        dVector4 plane;
        dGeomPlaneGetParams(geom, plane);
        partner.shape = m_shapes.half_space({double(plane[0]), double(plane[1]), double(plane[2])}, double(plane[3]));
        return partner.shape;
    }
    partner.pose = pose_of(geom);
    const auto given = m_given.find(geom);
    if (given != m_given.end()) {
        partner.shape = given->second;
        return true;
    }
    dReal radius, length;
    dVector3 sides;
    switch (kind) {
    case dSphereClass:
        partner.shape = m_shapes.ball(double(dGeomSphereGetRadius(geom)));
        break;
    case dBoxClass:
        dGeomBoxGetLengths(geom, sides);
        partner.shape = m_shapes.box({0.5 * double(sides[0]), 0.5 * double(sides[1]), 0.5 * double(sides[2])});
        break;
    case dCapsuleClass:
        dGeomCapsuleGetParams(geom, &radius, &length);
        partner.shape = m_shapes.capsule(double(radius), 0.5 * double(length));
        break;
    case dCylinderClass:
        dGeomCylinderGetParams(geom, &radius, &length);
        partner.shape = m_shapes.cylinder(double(radius), 0.5 * double(length));
        break;
    case dTriMeshClass:
        partner.shape = sheet_of(geom, partner.pose, sheet_depth);
        break;
    default:
        break; // ODE has no function that reads the points of a convex hull or the heights of a field
    }
    return partner.shape;
}

/// Returns the triangles of a mesh as a sheet, in the geometry's frame.
const vxs_shape* StockGeoms::sheet_of(dGeomID geom, const vxs_pose& pose, double depth) {
    Mesh& mesh = m_meshes[dGeomTriMeshGetTriMeshDataID(geom)];
    const int count = dGeomTriMeshGetTriangleCount(geom);
    if (count <= 0)
        return nullptr;
    const auto corners_of = [&](int triangle, vxs_vec3 corners[3]) {
        dVector3 v[3];
        dGeomTriMeshGetTriangle(geom, triangle, &v[0], &v[1], &v[2]);
        for (int i = 0; i < 3; ++i) corners[i] = to_body(pose, {double(v[i][0]), double(v[i][1]), double(v[i][2])});
    };
    vxs_vec3 first[3];
    corners_of(0, first);
    const vxs_vec3& c = mesh.corner;
    const double moved = std::fabs(c.x - first[0].x) + std::fabs(c.y - first[0].y) + std::fabs(c.z - first[0].z);
    // ODE gives the corners in the world: they come back with the rounding of the pose.
    const double rounding = 1e-5 * (1 + std::fabs(c.x) + std::fabs(c.y) + std::fabs(c.z));
    if (mesh.shape && mesh.triangles == count && mesh.depth == depth && moved <= rounding)
        return mesh.shape;
    std::vector<vxs_vec3> vertices;
    std::vector<uint32_t> indices;
    for (int triangle = 0; triangle < count; ++triangle) {
        vxs_vec3 corners[3];
        corners_of(triangle, corners);
        for (const vxs_vec3& corner : corners) {
            indices.push_back(uint32_t(vertices.size()));
            vertices.push_back(corner);
        }
    }
    vxs_shape_release(mesh.shape);
    mesh = Mesh();
    if (vxs_shape_create_sheet(vertices.data(), vertices.size(), indices.data(), indices.size() / 3, depth,
                               &mesh.shape))
        return nullptr;
    mesh.triangles = count;
    mesh.corner = first[0];
    mesh.depth = depth;
    return mesh.shape;
}

} // namespace voxshell::ode
