// Shapes and triangles of the tests of cpp/host.
#ifndef VOXSHELL_TEST_HOST_SHAPES_H
#define VOXSHELL_TEST_HOST_SHAPES_H

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <vector>

#include <voxshell/host.h>
#include <voxshell/voxshell.h>

#include "../bullet/check.h"

struct ReleaseShape {
    void operator()(vxs_shape* shape) const { vxs_shape_release(shape); }
};
using Handle = std::unique_ptr<vxs_shape, ReleaseShape>;

inline void must(vxs_status status) {
    if (status == VXS_OK)
        return;
    std::printf("%s: %s\n", vxs_status_name(status), vxs_last_error());
    std::exit(1);
}

/// Cooks a primitive with 2,000 samples and 64 voxels along its extent.
inline Handle primitive(uint32_t kind, std::initializer_list<double> size,
                        std::initializer_list<uint32_t> detail = {}) {
    vxs_primitive p;
    must(vxs_primitive_init(&p, sizeof p, kind));
    std::copy(size.begin(), size.end(), p.size);
    std::copy(detail.begin(), detail.end(), p.detail);
    vxs_cook_options options;
    must(vxs_cook_options_init(&options, sizeof options));
    options.sample_count = 2000;
    options.resolution = 64;
    vxs_shape* shape = nullptr;
    must(vxs_shape_create_primitive(&p, &options, &shape));
    return Handle(shape);
}

struct Triangles {
    std::vector<vxs_vec3> vertices;
    std::vector<uint32_t> indices;

    explicit Triangles(const vxs_shape* shape) {
        size_t vertex_count = 0, index_count = 0;
        vxs_shape_get_triangles(shape, nullptr, 0, &vertex_count, nullptr, 0, &index_count);
        vertices.resize(vertex_count);
        indices.resize(index_count);
        must(vxs_shape_get_triangles(shape, vertices.data(), vertex_count, &vertex_count, indices.data(), index_count,
                                     &index_count));
    }
    voxshell::host::Mesh mesh() const { return {vertices.data(), vertices.size(), indices.data(), indices.size() / 3}; }
};

inline voxshell::host::Body body(const vxs_shape* shape, double x, double y, double z) {
    voxshell::host::Body b;
    b.shape = shape;
    b.pose = {{x, y, z}, 0, 0, 0, 1};
    b.center_of_mass = {x, y, z};
    return b;
}

#endif
