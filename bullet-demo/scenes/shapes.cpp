#include "shapes.h"

#include <BulletCollision/CollisionShapes/btShapeHull.h>
#include <BulletCollision/Gimpact/btGImpactCollisionAlgorithm.h>
#include <BulletCollision/Gimpact/btGImpactShape.h>
#include <LinearMath/btConvexHullComputer.h>

#include <voxshell/bullet.h>

#include <stdexcept>
#include <string>

#include "voxshell-bullet-demo/src/bridge.rs.h"

namespace demo {
namespace {

std::vector<btVector3> points_of(const rust::Vec<double>& xyz) {
    std::vector<btVector3> points;
    for (std::size_t i = 0; i + 2 < xyz.size(); i += 3)
        points.emplace_back(btScalar(xyz[i]), btScalar(xyz[i + 1]), btScalar(xyz[i + 2]));
    return points;
}

std::unique_ptr<btConvexHullShape> hull_shape(const btVector3* points, int count, btScalar margin) {
    auto shape = std::make_unique<btConvexHullShape>(&points->x(), count, int(sizeof(btVector3)));
    shape->setMargin(margin);
    return shape;
}

/// Returns a hull of all vertices of the exact convex hull.
std::unique_ptr<btConvexHullShape> full_hull(const Model& model, btScalar margin) {
    const std::vector<btVector3> points = points_of(model.vertices);
    btConvexHullComputer computer;
    computer.compute(&points[0].x(), int(sizeof(btVector3)), int(points.size()), 0, 0);
    return hull_shape(&computer.vertices[0], computer.vertices.size(), margin);
}

/// Returns Bullet's own simplified hull: the support points in 42 directions.
std::unique_ptr<btConvexHullShape> small_hull(const Model& model, btScalar margin) {
    const auto full = full_hull(model, 0);  // no margin: btShapeHull would bake it into the vertices
    btShapeHull simplified(full.get());
    if (!simplified.buildHull(0)) throw std::runtime_error("btShapeHull could not build a hull of the mesh");
    return hull_shape(simplified.getVertexPointer(), simplified.numVertices(), margin);
}

/// Returns a compound of the precomputed convex parts.
std::unique_ptr<btCompoundShape> compound(const Model& model, btScalar margin,
                                          std::vector<std::unique_ptr<btCollisionShape>>& keep) {
    auto compound = std::make_unique<btCompoundShape>(true, int(model.hulls.size()));
    for (const Hull& hull : model.hulls) {
        const std::vector<btVector3> points = points_of(hull.points);
        keep.push_back(hull_shape(points.data(), int(points.size()), margin));
        compound->addChildShape(btTransform::getIdentity(), keep.back().get());
    }
    return compound;
}

bool is_voxshell(Method method) {
    return method == Method::Voxshell || method == Method::VoxshellCoarse || method == Method::VoxshellFine;
}

}  // namespace

btVoxShellSettings contact_settings(const Setup& setup) {
    btVoxShellSettings settings;
    if (setup.edges) settings.m_coverage = VXS_COVERAGE_EDGES;
    if (setup.scene == SceneKind::NutBolt || setup.scene == SceneKind::NutBolt100 || setup.scene == SceneKind::NutBolt1000 ||
        setup.scene == SceneKind::Screw) {
        // On a thread all motion is along the surface, and the whole surface is within a fraction of a millimetre. So
        // the look-ahead need not cover the sliding distance, and the samples of one body are fine enough.
        settings.m_lookahead = btScalar(0.1);
        settings.m_roles = VXS_ROLES_AUTO;
        // The facets of a thread's mesh are many and small: to test their edges takes longer than to test the samples.
        settings.m_coverage = VXS_COVERAGE_SAMPLES;
        settings.m_closeFit = true;
        // Much of the thread is within the margin; a few samples of each part are enough.
        settings.m_denseAbove = 256;
    }
    if (setup.segments == Segments::Level) settings.m_segmentation = VXS_SEGMENTATION_LEVEL;
    if (setup.segments == Segments::Region) settings.m_segmentation = VXS_SEGMENTATION_REGION;
    settings.m_segmentLevel = setup.segment_level;
    // With the clamp the look-ahead need not cover fast approaches.
    if (setup.clamped) settings.m_maxLookaheadFraction = btScalar(0.1);
    return settings;
}

ShapeMaker::ShapeMaker(const Setup& setup, btCollisionDispatcher& dispatcher) : setup_(setup) {
    if (setup.method == Method::Gimpact) btGImpactCollisionAlgorithm::registerAlgorithm(&dispatcher);
    if (is_voxshell(setup.method)) btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher, contact_settings(setup));
}

ShapeMaker::~ShapeMaker() = default;

btCollisionShape* ShapeMaker::dynamic_shape(const Model& model) {
    btCollisionShape*& shape = made_[&model];
    if (!shape) shape = make(model);
    return shape;
}

btCollisionShape* ShapeMaker::static_shape(const Model& model) {
    if (!model.container || is_voxshell(setup_.method) || setup_.method == Method::Gimpact) return dynamic_shape(model);
    // The usual shape in stock Bullet for a fixed body that holds others.
    btCollisionShape*& shape = made_static_[&model];
    if (!shape) {
        shape = keep(std::make_unique<btBvhTriangleMeshShape>(triangles(model), true));
        shape->setMargin(btScalar(setup_.margin));
    }
    return shape;
}

btCollisionShape* ShapeMaker::keep(std::unique_ptr<btCollisionShape> shape) {
    shapes_.push_back(std::move(shape));
    return shapes_.back().get();
}

btStridingMeshInterface* ShapeMaker::triangles(const Model& model) {
    auto mesh = std::make_unique<btTriangleMesh>();
    const std::vector<btVector3> points = points_of(model.vertices);
    mesh->preallocateVertices(int(points.size()));
    mesh->preallocateIndices(int(model.triangles.size()));
    for (const btVector3& p : points) mesh->findOrAddVertex(p, false);
    for (std::size_t i = 0; i + 2 < model.triangles.size(); i += 3)
        mesh->addTriangleIndices(int(model.triangles[i]), int(model.triangles[i + 1]), int(model.triangles[i + 2]));
    meshes_.push_back(std::move(mesh));
    return meshes_.back().get();
}

Hull small_hull(rust::Slice<const double> vertices) {
    Model model{};
    for (double coordinate : vertices) model.vertices.push_back(coordinate);
    const auto shape = small_hull(model, 0);
    Hull hull;
    for (int i = 0; i < shape->getNumPoints(); ++i)
        for (int axis = 0; axis < 3; ++axis) hull.points.push_back(double(shape->getUnscaledPoints()[i][axis]));
    return hull;
}

btCollisionShape* ShapeMaker::make(const Model& model) {
    const btScalar margin = btScalar(setup_.margin);
    switch (setup_.method) {
        case Method::Sphere: return keep(std::make_unique<btSphereShape>(btScalar(model.radius)));
        case Method::Hull: return keep(small_hull(model, margin));
        case Method::HullFull: return keep(full_hull(model, margin));
        case Method::Vhacd32:
        case Method::Hacd: return keep(compound(model, margin, shapes_));
        case Method::Gimpact: {
            auto shape = std::make_unique<btGImpactMeshShape>(triangles(model));
            shape->setMargin(margin);
            shape->updateBound();
            return keep(std::move(shape));
        }
        case Method::Voxshell:
        case Method::VoxshellCoarse:
        case Method::VoxshellFine: {
            // Loads a precooked asset. A btTriangleMesh instead would be cooked here.
            auto shape = std::make_unique<btVoxShellShape>(std::string(model.asset).c_str());
            shape->setMargin(margin);
            return keep(std::move(shape));
        }
        default: throw std::invalid_argument("this method makes no shapes");
    }
}

}  // namespace demo
