// The host "rapier": bodies of Rapier, with the dispatcher of the crate voxshell-rapier. The world is in Rust
// (rapier/conformance); this file hands the calls on. The program is built by cargo: see the script beside this file.
#include <map>

#include "../bodies.h"
#include "../world.h"

using namespace conformance;

// What rapier/conformance/src/main.rs defines. The layout of the structs is the same there.
extern "C" {

struct RapierModel;
struct RapierWorldState;

/// A mesh body, and its cooked shape as bytes of an asset file.
struct RapierMesh {
    const vxs_vec3* vertices;
    size_t vertex_count;
    const uint32_t* indices;
    size_t index_count;
    const uint8_t* asset;
    size_t asset_size;
};

struct RapierSettings {
    double dt, gravity, friction, margin;
    uint32_t iterations;
    uint32_t own_method; // 0 or 1
};

struct RapierBody {
    const RapierModel* model; // may be null
    uint32_t stock;           // as the enum Stock
    double mass;              // kg; 0: fixed
    vxs_vec3 size, inertia;   // m; principal moments, kg·m²
    BodyState state;
};

RapierModel* rapier_model_create(const RapierMesh* mesh);
RapierWorldState* rapier_world_create(const RapierSettings* settings);
void rapier_world_destroy(RapierWorldState* world);
uint32_t rapier_world_add(RapierWorldState* world, const RapierBody* body);
void rapier_world_step(RapierWorldState* world);
void rapier_world_get(const RapierWorldState* world, uint32_t body, BodyState* state);
void rapier_world_place(RapierWorldState* world, uint32_t body, const vxs_pose* pose);
double rapier_world_narrowphase_seconds(const RapierWorldState* world);
size_t rapier_world_contacts(const RapierWorldState* world);
/// Returns 1 for a hit, which it writes into `point` and `normal`.
uint32_t rapier_world_cast_ray(RapierWorldState* world, const vxs_vec3* from, const vxs_vec3* to, vxs_vec3* point,
                               vxs_vec3* normal);
}

namespace conformance {
namespace {

/// Returns the model in Rust. Each is made once, and kept to the end of the program.
const RapierModel* model_of(const Model& model) {
    static std::map<const vxs_shape*, RapierModel*> models;
    RapierModel*& made = models[model.shape];
    if (!made) {
        size_t size = 0;
        vxs_shape_serialize(model.shape, nullptr, 0, &size);
        std::vector<uint8_t> asset(size);
        must(vxs_shape_serialize(model.shape, asset.data(), size, &size));
        const RapierMesh mesh = {model.vertices.data(), model.vertices.size(), model.indices.data(),
                                 model.indices.size(),  asset.data(),          size};
        made = rapier_model_create(&mesh);
    }
    return made;
}

class RapierWorld : public World {
public:
    explicit RapierWorld(const WorldSettings& settings) {
        const RapierSettings rapier = {settings.dt,     settings.gravity,
                                       settings.friction, settings.margin,
                                       uint32_t(settings.iterations), settings.own_method};
        m_world = rapier_world_create(&rapier);
    }
    ~RapierWorld() override { rapier_world_destroy(m_world); }

    int add(const BodySpec& spec) override {
        const double ball = 0.4 * spec.size.x * spec.size.x;
        const vxs_vec3 inertia = spec.model ? spec.model->inertia : vxs_vec3{ball, ball, ball};
        const RapierBody body = {spec.model ? model_of(*spec.model) : nullptr,
                                 uint32_t(spec.stock),
                                 spec.mass,
                                 spec.size,
                                 {spec.mass * inertia.x, spec.mass * inertia.y, spec.mass * inertia.z},
                                 {spec.pose, spec.linear_velocity, spec.angular_velocity}};
        return int(rapier_world_add(m_world, &body));
    }

    void step() override { rapier_world_step(m_world); }

    BodyState state(int body) const override {
        BodyState state;
        rapier_world_get(m_world, uint32_t(body), &state);
        return state;
    }

    void place(int body, const vxs_pose& pose) override { rapier_world_place(m_world, uint32_t(body), &pose); }
    double narrowphase_seconds() const override { return rapier_world_narrowphase_seconds(m_world); }
    size_t contacts() const override { return rapier_world_contacts(m_world); }

    RayHit cast_ray(const vxs_vec3& from, const vxs_vec3& to) override {
        RayHit hit;
        hit.hit = rapier_world_cast_ray(m_world, &from, &to, &hit.point, &hit.normal) != 0;
        return hit;
    }

private:
    RapierWorldState* m_world;
};

} // namespace

std::unique_ptr<World> make_world(const WorldSettings& settings) {
    return std::unique_ptr<World>(new RapierWorld(settings));
}
const char* host_name() { return "rapier"; }
std::string host_version() { return "Rapier 0.36"; }
const char* own_method_name() { return "TriMesh"; }

} // namespace conformance
