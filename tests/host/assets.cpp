// The asset cache and the stock shapes.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "shapes.h"

using namespace voxshell::host;
using Origin = AssetCache::Origin;
namespace files = std::filesystem;

namespace {

/// A new directory, removed at the end.
struct Directory {
    files::path path;
    Directory() {
        const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
        path = files::temp_directory_path() / ("voxshell-assets-" + std::to_string(now));
    }
    ~Directory() {
        std::error_code ignored;
        files::remove_all(path, ignored);
    }
};

Origin get(const AssetCache& cache, const Mesh& mesh, const vxs_cook_options* options, Handle& out) {
    vxs_shape* shape = nullptr;
    Origin origin;
    must(cache.get(mesh, options, &shape, &origin));
    out.reset(shape);
    return origin;
}

std::vector<char> bytes_of(const vxs_shape* shape) {
    size_t size = 0;
    vxs_shape_serialize(shape, nullptr, 0, &size);
    std::vector<char> bytes(size);
    must(vxs_shape_serialize(shape, bytes.data(), size, &size));
    return bytes;
}

size_t count_files(const files::path& directory) {
    size_t count = 0;
    for (const auto& entry : files::directory_iterator(directory)) count += entry.is_regular_file();
    return count;
}

/// Copies a file over another one. (GCC's library for Windows refuses copy_options::overwrite_existing.)
void replace(const files::path& file, const files::path& by) {
    files::remove(file);
    files::copy_file(by, file);
}

vxs_cook_options coarse() {
    vxs_cook_options options;
    must(vxs_cook_options_init(&options, sizeof options));
    options.resolution = 24;
    options.sample_count = 500;
    return options;
}

void shapes_are_cooked_once() {
    const Directory directory;
    const AssetCache cache((directory.path / "not" / "yet").string());
    const Triangles torus(primitive(VXS_PRIMITIVE_TORUS, {0.3, 0.1}).get());
    const vxs_cook_options options = coarse();
    Handle first, second;
    CHECK(get(cache, torus.mesh(), &options, first) == Origin::Cooked);
    CHECK(get(cache, torus.mesh(), &options, second) == Origin::Loaded);
    CHECK(bytes_of(first.get()) == bytes_of(second.get()));
    CHECK(count_files(cache.directory()) == 1 && files::exists(cache.path_of(torus.mesh(), &options)));
    // Another mesh, other options and the defaults have files of their own.
    vxs_cook_options finer = options;
    finer.resolution = 25;
    Triangles moved = torus;
    moved.vertices[7].x = std::nextafter(moved.vertices[7].x, 1);
    Triangles turned = torus;
    std::swap(turned.indices[0], turned.indices[1]);
    std::swap(turned.indices[1], turned.indices[2]); // the same triangle from another corner
    CHECK(get(cache, torus.mesh(), &finer, second) == Origin::Cooked);
    CHECK(get(cache, moved.mesh(), &options, second) == Origin::Cooked);
    CHECK(get(cache, turned.mesh(), &options, second) == Origin::Cooked);
    CHECK(cache.path_of(torus.mesh(), nullptr) != cache.path_of(torus.mesh(), &options));
    CHECK(count_files(cache.directory()) == 4);
}

/// Returns the triangles with three vertices of their own each, as a file of triangles (STL) has them.
Triangles unshared(const Triangles& given) {
    Triangles result = given;
    result.vertices.clear();
    for (size_t i = 0; i < given.indices.size(); ++i) {
        result.vertices.push_back(given.vertices[given.indices[i]]);
        result.indices[i] = uint32_t(i);
    }
    return result;
}

void meshes_with_repeated_vertices_are_cooked_once() {
    const Directory directory;
    const AssetCache cache(directory.path.string());
    const Triangles torus(primitive(VXS_PRIMITIVE_TORUS, {0.3, 0.1}).get());
    Triangles soup = unshared(torus);
    soup.indices.insert(soup.indices.end(), {0, 1, 1}); // two corners coincide
    soup.vertices.push_back({0.4, -0.0, 0.0});          // unused, and a zero of the other sign
    vxs_cook_options options = coarse();
    for (const double tolerance : {0.0, 1e-6}) {
        options.weld_tolerance = tolerance;
        // The corners of each vertex differ by less than the tolerance.
        for (size_t i = 0; i < soup.indices.size() - 3; ++i) soup.vertices[i].x += 0.3 * tolerance * double(i % 3);
        Handle first, second;
        CHECK(get(cache, soup.mesh(), &options, first) == Origin::Cooked);
        CHECK(Triangles(first.get()).vertices.size() < torus.vertices.size() + 2);
        CHECK(get(cache, soup.mesh(), &options, second) == Origin::Loaded);
        CHECK(bytes_of(first.get()) == bytes_of(second.get()));
    }
    // A file of other triangles under the name of this mesh is still found out.
    Handle shape;
    Triangles moved = soup;
    moved.vertices[7].y += 3e-6;
    CHECK(get(cache, moved.mesh(), &options, shape) == Origin::Cooked);
    replace(cache.path_of(soup.mesh(), &options), cache.path_of(moved.mesh(), &options));
    CHECK(get(cache, soup.mesh(), &options, shape) == Origin::Cooked);
    CHECK(get(cache, soup.mesh(), &options, shape) == Origin::Loaded);
}

void damaged_files_are_cooked_again() {
    const Directory directory;
    const AssetCache cache(directory.path.string());
    const Triangles torus(primitive(VXS_PRIMITIVE_TORUS, {0.3, 0.1}).get());
    const Triangles knot(primitive(VXS_PRIMITIVE_TORUS_KNOT, {0.2, 0.06}).get());
    const vxs_cook_options options = coarse();
    Handle shape;
    get(cache, torus.mesh(), &options, shape);
    const std::vector<char> whole = bytes_of(shape.get());
    const std::string path = cache.path_of(torus.mesh(), &options);
    const auto write = [&](const std::vector<char>& bytes) {
        std::ofstream(path, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
    };
    for (const size_t size : {size_t(0), size_t(1), size_t(40), whole.size() / 2, whole.size() - 1}) {
        write(std::vector<char>(whole.begin(), whole.begin() + std::ptrdiff_t(size)));
        CHECK(files::file_size(path) == size);
        CHECK(get(cache, torus.mesh(), &options, shape) == Origin::Cooked);
        CHECK(bytes_of(shape.get()) == whole);
        CHECK(get(cache, torus.mesh(), &options, shape) == Origin::Loaded);
    }
    for (const size_t at : {whole.size() / 3, whole.size() / 2, whole.size() - 9}) {
        std::vector<char> flipped = whole;
        flipped[at] = char(flipped[at] ^ 4);
        write(flipped);
        CHECK(get(cache, torus.mesh(), &options, shape) == Origin::Cooked);
        CHECK(bytes_of(shape.get()) == whole);
    }
    // A sound file of another mesh under this name.
    get(cache, knot.mesh(), &options, shape);
    replace(path, cache.path_of(knot.mesh(), &options));
    CHECK(get(cache, torus.mesh(), &options, shape) == Origin::Cooked);
    CHECK(bytes_of(shape.get()) == whole);
}

void without_a_directory_shapes_are_still_made() {
    const Triangles torus(primitive(VXS_PRIMITIVE_TORUS, {0.3, 0.1}).get());
    const vxs_cook_options options = coarse();
    Handle shape;
    CHECK(get(AssetCache(""), torus.mesh(), &options, shape) == Origin::Cooked);
    CHECK(AssetCache("").path_of(torus.mesh(), &options).empty());
    const Directory directory;
    std::ofstream(directory.path) << "a file";
    CHECK(get(AssetCache(directory.path.string()), torus.mesh(), &options, shape) == Origin::NotSaved);
    CHECK(get(AssetCache((directory.path / "below").string()), torus.mesh(), &options, shape) == Origin::NotSaved);
}

void many_threads_share_a_directory() {
    const Directory directory;
    const AssetCache cache(directory.path.string());
    const Triangles torus(primitive(VXS_PRIMITIVE_TORUS, {0.3, 0.1}).get());
    const vxs_cook_options options = coarse();
    std::vector<std::vector<char>> bytes(4);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < bytes.size(); ++t)
        threads.emplace_back([&, t] {
            Handle shape;
            get(cache, torus.mesh(), &options, shape);
            bytes[t] = bytes_of(shape.get());
        });
    for (std::thread& thread : threads) thread.join();
    for (const auto& b : bytes) CHECK(b == bytes[0]);
    CHECK(count_files(directory.path) == 1);
}

void bad_meshes_are_refused() {
    const Directory directory;
    const AssetCache cache(directory.path.string());
    const Triangles torus(primitive(VXS_PRIMITIVE_TORUS, {0.3, 0.1}).get());
    vxs_shape* shape = nullptr;
    CHECK(cache.get(Mesh(), nullptr, &shape) != VXS_OK && !shape);
    Triangles wrong = torus;
    wrong.indices[5] = 1u << 30;
    CHECK(cache.get(wrong.mesh(), nullptr, &shape) == VXS_INVALID_MESH && !shape);
    wrong = torus;
    wrong.vertices[5].y = std::nan("");
    CHECK(cache.get(wrong.mesh(), nullptr, &shape) == VXS_INVALID_MESH && !shape);
    CHECK(cache.get(torus.mesh(), nullptr, nullptr) == VXS_INVALID_ARGUMENT);
    CHECK(!files::exists(directory.path) || count_files(directory.path) == 0);
}

/// Returns the depth of a stock shape in the half-space below the given height, m.
double depth_in_ground(const vxs_shape* shape, const vxs_vec3& axis, double angle) {
    Body a = body(shape, 0, 0, 0);
    const double s = std::sin(0.5 * angle);
    a.pose = {{0, 0, 0}, axis.x * s, axis.y * s, axis.z * s, std::cos(0.5 * angle)};
    StockShapes grounds;
    const Body b = body(grounds.half_space({0, 0, 1}, 0), 0, 0, 0);
    PairQuery pair;
    must(pair.find(a, b, 0, PairSettings()));
    CHECK(!pair.contacts().empty());
    return pair.contacts().empty() ? 0 : -pair.contacts()[0].separation;
}

void stock_shapes_have_their_sizes() {
    StockShapes stock;
    CHECK(stock.box({1, 2, 3}) && stock.box({1, 2, 3}) == stock.box({1, 2, 3}) &&
          stock.box({1, 2, 4}) != stock.box({1, 2, 3}));
    for (int i = 0; i < 40; ++i) {
        const double angle = 0.0785 * i, c = std::fabs(std::cos(angle)), s = std::fabs(std::sin(angle));
        const vxs_vec3 x = {1, 0, 0};
        CHECK_NEAR(depth_in_ground(stock.box({0.1, 0.2, 0.3}), x, angle), 0.2 * s + 0.3 * c, 1e-5);
        // A plate that is thinner than a voxel of its grid.
        CHECK_NEAR(depth_in_ground(stock.box({1, 0.002, 1}), x, angle), 0.002 * s + c, 1e-5);
        // The gap between samples: 0.2% of the radius, as the header says.
        CHECK_NEAR(depth_in_ground(stock.ball(0.2), x, angle), 0.2, 4e-4);
        CHECK_NEAR(depth_in_ground(stock.capsule(0.1, 0.3), x, angle), 0.1 + 0.3 * c, 2e-4);
        CHECK_NEAR(depth_in_ground(stock.cylinder(0.1, 0.3), x, angle), 0.1 * s + 0.3 * c, 2e-4);
    }
    CHECK(!stock.ball(-1) && !stock.ball(std::nan("")) && !stock.box({1, 0, 1}) && !stock.capsule(1, -1) &&
          !stock.half_space({0, 0, 0}, 0));
    CHECK(std::string(vxs_last_error()).find("normal") != std::string::npos);
}

} // namespace

int main() {
    shapes_are_cooked_once();
    meshes_with_repeated_vertices_are_cooked_once();
    damaged_files_are_cooked_again();
    without_a_directory_shapes_are_still_made();
    many_threads_share_a_directory();
    bad_meshes_are_refused();
    stock_shapes_have_their_sizes();
    return finish();
}
