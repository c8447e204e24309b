// Shapes of ODE's built-in geometries.
#ifndef VOXSHELL_ODE_STOCK_GEOMS_H
#define VOXSHELL_ODE_STOCK_GEOMS_H

#include <map>
#include <memory>

#include <ode/ode.h>
#include <voxshell/host.h>

namespace voxshell::ode {

/// A geometry of ODE as the layer takes it.
struct Partner {
    const vxs_shape* shape = nullptr;
    vxs_pose pose = {{0, 0, 0}, 0, 0, 0, 1}; // of the shape's frame
};

/// Returns whether a class of ODE can have a shape here: all built-in ones but rays, transforms and spaces, which ODE
/// treats itself.
bool is_supported(int geom_class);

class StockGeoms {
public:
    ~StockGeoms();
    /// Finds the shape of a built-in geometry at its present size and pose; false when there is none.
    /// @param sheet_depth  see dVoxshellSettings
    bool find(dGeomID geom, double sheet_depth, Partner& partner);
    /// Makes a shape stand for a geometry; null: its own again.
    void set(dGeomID geom, const vxs_shape* shape);

private:
    struct Mesh {
        vxs_shape* shape = nullptr;
        int triangles = 0;
        vxs_vec3 corner = {0, 0, 0}; // the first one, to notice other data at the same address
        double depth = 0;
    };

    const vxs_shape* sheet_of(dGeomID geom, const vxs_pose& pose, double depth);

    host::StockShapes m_shapes;
    std::map<dGeomID, vxs_shape*> m_given;
    std::map<dTriMeshDataID, Mesh> m_meshes;
};

vxs_pose pose_of(dGeomID geom);
vxs_vec3 to_world(const vxs_pose& pose, const vxs_vec3& point);
vxs_vec3 to_body(const vxs_pose& pose, const vxs_vec3& point);
vxs_vec3 turn(const vxs_pose& pose, const vxs_vec3& v);

} // namespace voxshell::ode

#endif
