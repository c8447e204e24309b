// One collision shape for one model, by each of the methods that are compared.
#pragma once

#include <btBulletCollisionCommon.h>

#include <map>
#include <memory>
#include <vector>

#include "rust/cxx.h"

namespace demo {

struct Setup;  // shared with the Rust side: see bridge.rs
struct Model;
struct Hull;

/// Makes each model's shape once, keeps it, and registers what its method needs with the dispatcher.
class ShapeMaker {
public:
    ShapeMaker(const Setup& setup, btCollisionDispatcher& dispatcher);
    ~ShapeMaker();

    /// The shape of a model that moves.
    btCollisionShape* dynamic_shape(const Model& model);
    /// The shape of a model that never moves. With a stock method a container may then be a triangle BVH.
    btCollisionShape* static_shape(const Model& model);

private:
    btCollisionShape* keep(std::unique_ptr<btCollisionShape> shape);
    btCollisionShape* make(const Model& model);
    btStridingMeshInterface* triangles(const Model& model);

    const Setup& setup_;
    std::map<const Model*, btCollisionShape*> made_;
    std::map<const Model*, btCollisionShape*> made_static_;
    // Meshes before shapes: the shapes point into them and must go first.
    std::vector<std::unique_ptr<btTriangleMesh>> meshes_;
    std::vector<std::unique_ptr<btCollisionShape>> shapes_;
};

/// The points of btShapeHull's simplified hull of the vertices (x y z each).
Hull small_hull(rust::Slice<const double> vertices);

/// Hierarchical approximate convex decomposition (Mamou & Ghorbel 2009), as Bullet 2.82 shipped it and as the paper used.
rust::Vec<Hull> hacd_hulls(rust::Slice<const double> vertices, rust::Slice<const std::uint32_t> triangles);
bool hacd_available();

}  // namespace demo
