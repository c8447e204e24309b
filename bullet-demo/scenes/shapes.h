// Makes the collision shape of a model for each of the compared methods.
#pragma once

#include <btBulletCollisionCommon.h>

#include <map>
#include <memory>
#include <vector>

#include "rust/cxx.h"

#include <voxshell/bullet.h>

namespace demo {

struct Setup;  // shared with the Rust side: see bridge.rs
struct Model;
struct Hull;

/// Returns the settings of Voxshell pairs in the scene.
btVoxShellSettings contact_settings(const Setup& setup);

/// Makes the shape of each model once, keeps it, and registers with the dispatcher the algorithm that the method needs.
class ShapeMaker {
public:
    ShapeMaker(const Setup& setup, btCollisionDispatcher& dispatcher);
    ~ShapeMaker();

    /// Returns the shape of a moving body of the model.
    btCollisionShape* dynamic_shape(const Model& model);
    /// Returns the shape of a fixed body of the model. With a stock method a container may then be a triangle BVH.
    btCollisionShape* static_shape(const Model& model);

private:
    btCollisionShape* keep(std::unique_ptr<btCollisionShape> shape);
    btCollisionShape* make(const Model& model);
    btStridingMeshInterface* triangles(const Model& model);

    const Setup& setup_;
    std::map<const Model*, btCollisionShape*> made_;
    std::map<const Model*, btCollisionShape*> made_static_;
    // Meshes are declared before shapes: shapes point into them and must be destroyed first.
    std::vector<std::unique_ptr<btTriangleMesh>> meshes_;
    std::vector<std::unique_ptr<btCollisionShape>> shapes_;
};

/// Returns the points of btShapeHull's simplified hull of the vertices (x y z each).
Hull small_hull(rust::Slice<const double> vertices);

/// Returns the hierarchical approximate convex decomposition (Mamou & Ghorbel 2009), in the version that Bullet 2.82
/// shipped and the paper used.
rust::Vec<Hull> hacd_hulls(rust::Slice<const double> vertices, rust::Slice<const std::uint32_t> triangles);
bool hacd_available();

}  // namespace demo
