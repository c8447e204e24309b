// Embree for comparison: rays against the triangles, one at a time.
#include "peer.hpp"

#include <embree3/rtcore.h>

#include <cmath>
#include <cstring>

namespace {

RTCDevice device;
RTCScene scene;
std::vector<RTCRayHit> rays;

std::string mesh(std::istringstream& words)
{
    std::string vertex_file, triangle_file;
    words >> vertex_file >> triangle_file;
    const auto vertices = peer::read<peer::Vertex>(vertex_file);
    const auto triangles = peer::read<peer::Triangle>(triangle_file);
    const RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    std::memcpy(rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, sizeof(peer::Vertex),
                                        vertices.size()),
                vertices.data(), vertices.size() * sizeof(peer::Vertex));
    std::memcpy(rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, sizeof(peer::Triangle),
                                        triangles.size()),
                triangles.data(), triangles.size() * sizeof(peer::Triangle));
    rtcCommitGeometry(geometry);
    scene = rtcNewScene(device);
    rtcSetSceneBuildQuality(scene, RTC_BUILD_QUALITY_HIGH);
    rtcAttachGeometry(scene, geometry);
    rtcReleaseGeometry(geometry);
    rtcCommitScene(scene);
    if (rtcGetDeviceError(device) != RTC_ERROR_NONE) throw std::runtime_error("the scene was not built");
    return peer::member("triangles", triangles.size());
}

std::string segments(std::istringstream& words)
{
    std::string file;
    words >> file;
    rays.clear();
    for (const auto& [from, to] : peer::read<peer::Segment>(file)) {
        RTCRayHit ray = {};
        ray.ray.org_x = from[0];
        ray.ray.org_y = from[1];
        ray.ray.org_z = from[2];
        ray.ray.dir_x = to[0] - from[0];
        ray.ray.dir_y = to[1] - from[1];
        ray.ray.dir_z = to[2] - from[2];
        ray.ray.tfar = 1.0f;
        ray.ray.mask = ~0u;
        ray.hit.geomID = RTC_INVALID_GEOMETRY_ID;
        rays.push_back(ray);
    }
    return peer::member("segments", rays.size());
}

std::string cast(std::istringstream&)
{
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    std::size_t hits = 0;
    const double cpu = peer::cpu_seconds();
    for (const RTCRayHit& segment : rays) {
        // rtcIntersect1 writes to the ray.
        alignas(16) RTCRayHit ray = segment;
        rtcIntersect1(scene, &context, &ray);
        hits += ray.hit.geomID != RTC_INVALID_GEOMETRY_ID;
    }
    return peer::member("cpu", peer::cpu_seconds() - cpu) + ", " + peer::member("hits", hits);
}

std::string version(std::istringstream&)
{
    return peer::member("version", std::string("\"embree ") + RTC_VERSION_STRING + '"');
}

} // namespace

int main()
{
    device = rtcNewDevice("threads=1");
    if (!device) return EXIT_FAILURE;
    return peer::serve({{"mesh", mesh}, {"segments", segments}, {"cast", cast}, {"version", version}});
}
