// OpenVDB for comparison: level sets from meshes by meshToVolume, and rays through them.
#include "peer.hpp"

#include <openvdb/openvdb.h>
#include <openvdb/tools/MeshToVolume.h>
#include <openvdb/tools/RayIntersector.h>

#include <memory>
#include <tbb/global_control.h>

namespace {

using openvdb::FloatGrid;
using openvdb::Vec3I;
using openvdb::Vec3s;
using Ray = openvdb::math::Ray<double>;

std::vector<Vec3s> points;
std::vector<Vec3I> triangles;
std::vector<Ray> rays;
FloatGrid::Ptr grid;

std::string mesh(std::istringstream& words)
{
    std::string vertex_file, triangle_file;
    words >> vertex_file >> triangle_file;
    points.clear();
    for (const auto& v : peer::read<peer::Vertex>(vertex_file)) points.emplace_back(v[0], v[1], v[2]);
    triangles.clear();
    for (const auto& t : peer::read<peer::Triangle>(triangle_file)) triangles.emplace_back(t[0], t[1], t[2]);
    return peer::member("triangles", triangles.size());
}

/// `volume THREADS VOXEL X Y Z`: three voxels to either side of the surface; node (0, 0, 0) at x, y, z metres.
std::string volume(std::istringstream& words)
{
    std::size_t threads;
    double voxel;
    openvdb::Vec3d origin;
    words >> threads >> voxel >> origin[0] >> origin[1] >> origin[2];
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    auto transform = openvdb::math::Transform::createLinearTransform(voxel);
    transform->postTranslate(origin);
    grid.reset();
    const double cpu = peer::cpu_seconds(), wall = peer::wall_seconds();
    std::vector<Vec3s> in_voxels;
    in_voxels.reserve(points.size());
    for (const Vec3s& p : points) in_voxels.emplace_back(transform->worldToIndex(p));
    const openvdb::tools::QuadAndTriangleDataAdapter<Vec3s, Vec3I> adapter(in_voxels, triangles);
    grid = openvdb::tools::meshToVolume<FloatGrid>(adapter, *transform, 3.0f, 3.0f);
    return peer::member("cpu", peer::cpu_seconds() - cpu) + ", " + peer::member("wall", peer::wall_seconds() - wall) +
           ", " + peer::member("bytes", grid->memUsage());
}

/// `values IN OUT`: distances in metres at nodes, three integers each.
std::string values(std::istringstream& words)
{
    std::string in, out;
    words >> in >> out;
    std::vector<float> found;
    const auto accessor = grid->getConstAccessor();
    for (const auto& n : peer::read<std::array<std::int32_t, 3>>(in))
        found.push_back(accessor.getValue({n[0], n[1], n[2]}));
    peer::write(out, found);
    return peer::member("nodes", found.size());
}

std::string segments(std::istringstream& words)
{
    std::string file;
    words >> file;
    rays.clear();
    for (const auto& [from, to] : peer::read<peer::Segment>(file)) {
        const openvdb::Vec3d a(from[0], from[1], from[2]), b(to[0], to[1], to[2]);
        rays.emplace_back(a, b - a, 0.0, 1.0);
    }
    return peer::member("segments", rays.size());
}

/// Casts all segments against the last volume.
std::string cast(std::istringstream&)
{
    const openvdb::tools::LevelSetRayIntersector<FloatGrid> intersector(*grid);
    std::size_t hits = 0;
    double time, sum = 0;
    const double cpu = peer::cpu_seconds();
    for (const Ray& ray : rays)
        if (intersector.intersectsWS(ray, time)) {
            ++hits;
            sum += time;
        }
    const double seconds = peer::cpu_seconds() - cpu;
    // The sum is returned so that the compiler cannot drop the computation of the times.
    return peer::member("cpu", seconds) + ", " + peer::member("hits", hits) + ", " + peer::member("sum", sum);
}

std::string version(std::istringstream&)
{
    return peer::member("version", std::string("\"OpenVDB ") + OPENVDB_LIBRARY_VERSION_STRING + '"');
}

} // namespace

int main()
{
    openvdb::initialize();
    return peer::serve({{"mesh", mesh},
                        {"volume", volume},
                        {"values", values},
                        {"segments", segments},
                        {"cast", cast},
                        {"version", version}});
}
