#include "shapes.h"

#include "voxshell-bullet-demo/src/bridge.rs.h"

#ifdef DEMO_HAS_HACD

#include <HACD/hacdHACD.h>

bool demo::hacd_available() { return true; }

rust::Vec<demo::Hull> demo::hacd_hulls(rust::Slice<const double> vertices, rust::Slice<const std::uint32_t> triangles) {
    std::vector<HACD::Vec3<HACD::Real>> points;
    for (std::size_t i = 0; i + 2 < vertices.size(); i += 3)
        points.emplace_back(vertices[i], vertices[i + 1], vertices[i + 2]);
    std::vector<HACD::Vec3<long>> faces;
    for (std::size_t i = 0; i + 2 < triangles.size(); i += 3)
        faces.emplace_back(long(triangles[i]), long(triangles[i + 1]), long(triangles[i + 2]));

    // The settings of Bullet's own ConvexDecompositionDemo.
    HACD::HACD hacd;
    hacd.SetPoints(points.data());
    hacd.SetNPoints(points.size());
    hacd.SetTriangles(faces.data());
    hacd.SetNTriangles(faces.size());
    hacd.SetCompacityWeight(0.1);
    hacd.SetVolumeWeight(0);
    hacd.SetNClusters(2);
    hacd.SetNVerticesPerCH(100);
    hacd.SetConcavity(100);
    hacd.SetAddExtraDistPoints(false);
    hacd.SetAddNeighboursDistPoints(false);
    hacd.SetAddFacesPoints(false);
    hacd.Compute();

    rust::Vec<Hull> hulls;
    for (std::size_t c = 0; c < hacd.GetNClusters(); ++c) {
        std::vector<HACD::Vec3<HACD::Real>> corners(hacd.GetNPointsCH(c));
        std::vector<HACD::Vec3<long>> sides(hacd.GetNTrianglesCH(c));
        hacd.GetCH(c, corners.data(), sides.data());
        Hull hull;
        for (auto& p : corners)
            for (double coordinate : {p.X(), p.Y(), p.Z()}) hull.points.push_back(coordinate);
        hulls.push_back(std::move(hull));
    }
    return hulls;
}

#else

bool demo::hacd_available() { return false; }

rust::Vec<demo::Hull> demo::hacd_hulls(rust::Slice<const double>, rust::Slice<const std::uint32_t>) { return {}; }

#endif
