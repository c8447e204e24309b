// The host "mujoco": bodies of MuJoCo, whose collision is the plugin of cpp/mujoco. VOXSHELL_MUJOCO_PLUGIN is the path of the
// plugin library; hosts/mujoco sets it.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include <mujoco/mujoco.h>

#include "../world.h"

namespace conformance {
namespace {

mjtNum milliseconds() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Loads the plugin, once. Without it the models that name it do not compile.
void load_plugin() {
    static bool loaded = false;
    if (loaded)
        return;
    const char* path = std::getenv("VOXSHELL_MUJOCO_PLUGIN");
    if (!path) {
        std::fprintf(stderr, "conformance: VOXSHELL_MUJOCO_PLUGIN is not set\n");
        std::exit(1);
    }
    mj_loadPluginLibrary(path);
    mjcb_time = milliseconds;
    loaded = true;
}

std::string number(double x) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g ", x);
    return text;
}
std::string numbers(const vxs_vec3& v) { return number(v.x) + number(v.y) + number(v.z); }

class MujocoWorld : public World {
public:
    explicit MujocoWorld(const WorldSettings& settings) : m_settings(settings) { load_plugin(); }
    ~MujocoWorld() override {
        mj_deleteData(m_data);
        mj_deleteModel(m_model);
    }

    int add(const BodySpec& spec) override {
        m_specs.push_back(spec);
        return int(m_specs.size()) - 1;
    }

    void step() override {
        build();
        const mjTimerStat& timer = m_data->timer[mjTIMER_COL_NARROW];
        const mjtNum before = timer.duration;
        mj_step(m_model, m_data);
        // MuJoCo clears its timers now and then.
        m_seconds = 1e-3 * (timer.duration >= before ? timer.duration - before : timer.duration);
    }

    BodyState state(int index) const override {
        const BodySpec& spec = m_specs[size_t(index)];
        if (!m_data || spec.mass == 0)
            return {spec.pose, spec.linear_velocity, spec.angular_velocity};
        const mjtNum *const q = m_data->qpos + 7 * m_number[size_t(index)], *const v = m_data->qvel + 6 * m_number[size_t(index)];
        mjtNum spin[3];
        mju_rotVecQuat(spin, v + 3, q + 3); // MuJoCo has it in the frame of the body
        return {{{q[0], q[1], q[2]}, q[4], q[5], q[6], q[3]}, {v[0], v[1], v[2]}, {spin[0], spin[1], spin[2]}};
    }

    void place(int index, const vxs_pose& pose) override {
        BodySpec& spec = m_specs[size_t(index)];
        spec.pose = pose;
        spec.linear_velocity = spec.angular_velocity = {0, 0, 0};
        if (m_data && spec.mass > 0)
            put(index);
    }

    double narrowphase_seconds() const override { return m_seconds; }
    size_t contacts() const override { return m_data ? size_t(m_data->ncon) : 0; }

    RayHit cast_ray(const vxs_vec3& from, const vxs_vec3& to) override {
        // MuJoCo marches along a ray in a field by a few steps, and 3% of the rays of the suite graze the surface for
        // longer. Models have geoms for the eye beside those for collision, which it hits by their triangles.
        if (!m_for_rays) {
            if (!m_rays) {
                m_rays.reset(new MujocoWorld(m_settings));
                m_rays->m_for_rays = true;
                for (const BodySpec& spec : m_specs) m_rays->add(spec);
            }
            for (size_t i = 0; i < m_specs.size(); ++i) m_rays->place(int(i), state(int(i)).pose);
            return m_rays->cast_ray(from, to);
        }
        build();
        mj_kinematics(m_model, m_data);
        const mjtNum start[3] = {from.x, from.y, from.z};
        mjtNum along[3] = {to.x - from.x, to.y - from.y, to.z - from.z};
        const mjtNum length = mju_normalize3(along);
        mjtNum normal[3] = {0, 0, 0};
        int geom = -1;
        const mjtNum t = mj_ray(m_model, m_data, start, along, nullptr, 1, -1, &geom, normal);
        if (t < 0 || t > length)
            return {};
        return {true,
                {from.x + t * along[0], from.y + t * along[1], from.z + t * along[2]},
                {normal[0], normal[1], normal[2]}};
    }

private:
    /// Compiles the model when all bodies are known.
    void build() {
        if (m_data)
            return;
        const std::string xml = text();
        char error[1000] = "";
        mjSpec* spec = mj_parseXMLString(xml.c_str(), nullptr, error, sizeof error);
        m_model = spec ? mj_compile(spec, nullptr) : nullptr;
        if (!m_model) {
            std::fprintf(stderr, "conformance: MuJoCo does not take the model: %s\n", spec ? mjs_getError(spec) : error);
            std::exit(1);
        }
        mj_deleteSpec(spec);
        m_data = mj_makeData(m_model);
        for (size_t i = 0; i < m_specs.size(); ++i)
            if (m_specs[i].mass > 0)
                put(int(i));
    }

    void put(int index) {
        const BodySpec& spec = m_specs[size_t(index)];
        const vxs_pose& p = spec.pose;
        const vxs_vec3 &v = spec.linear_velocity, &w = spec.angular_velocity;
        mjtNum *const q = m_data->qpos + 7 * m_number[size_t(index)], *const u = m_data->qvel + 6 * m_number[size_t(index)];
        const mjtNum values[7] = {p.position.x, p.position.y, p.position.z, p.qw, p.qx, p.qy, p.qz};
        mju_copy(q, values, 7);
        const mjtNum linear[3] = {v.x, v.y, v.z}, spin[3] = {w.x, w.y, w.z}, back[4] = {p.qw, -p.qx, -p.qy, -p.qz};
        mju_copy3(u, linear);
        mju_rotVecQuat(u + 3, spin, back);
    }

    std::string text() {
        // The hardest contacts that MuJoCo has: a time constant of two steps. They still give by 0.1 to 1 mm under a load,
        // for which each geom has a margin, a quarter of the suite's: bodies rest up to the sum of two margins apart.
        std::string xml = "<mujoco><size memory=\"200M\"/><option cone=\"elliptic\" impratio=\"10\" sdf_initpoints=\"50\" "
                          "sdf_iterations=\"10\" timestep=\"" + number(m_settings.dt) + "\" iterations=\"" +
                          std::to_string(m_settings.iterations) + "\" gravity=\"0 " + number(-m_settings.gravity) +
                          " 0\"/><default><geom solref=\"" + number(2 * m_settings.dt) +
                          " 1\" solimp=\"0.95 0.99 0.0001\" margin=\"" + number(0.25 * m_settings.margin) +
                          "\" condim=\"" + (m_settings.friction > 0 ? "3" : "1") + "\" friction=\"" +
                          number(m_settings.friction) + "0 0\"/></default>";
        std::set<const Model*> models;
        std::string instances, meshes, bodies;
        int movers = 0;
        for (const BodySpec& spec : m_specs) {
            if (spec.model && models.insert(spec.model).second)
                add_mesh(*spec.model, instances, meshes);
            m_number.push_back(spec.mass > 0 ? movers++ : -1);
            add_body(spec, bodies);
        }
        if (has_plugin() && !models.empty())
            xml += "<extension><plugin plugin=\"voxshell.sdf\">" + instances + "</plugin></extension>";
        return xml + "<asset>" + meshes + "</asset><worldbody>" + bodies + "</worldbody></mujoco>";
    }

    static void add_mesh(const Model& model, std::string& instances, std::string& meshes) {
        // The coverage is that of the other hosts.
        instances += "<instance name=\"" + model.name + "\"><config key=\"coverage\" value=\"edges\"/></instance>";
        meshes += "<mesh name=\"" + model.name + "\" vertex=\"";
        for (const vxs_vec3& v : model.vertices) meshes += numbers(v);
        meshes += "\" face=\"";
        for (const uint32_t i : model.indices) meshes += std::to_string(i) + " ";
        meshes += "\"/>";
    }

    void add_body(const BodySpec& spec, std::string& bodies) const {
        const vxs_pose& p = spec.pose;
        bodies += "<body pos=\"" + numbers(p.position) + "\" quat=\"" + number(p.qw) + number(p.qx) + number(p.qy) +
                  number(p.qz) + "\">";
        if (spec.mass > 0) {
            const double ball = 0.4 * spec.size.x * spec.size.x;
            const vxs_vec3 i = spec.model ? spec.model->inertia : vxs_vec3{ball, ball, ball};
            bodies += "<freejoint/><inertial pos=\"0 0 0\" mass=\"" + number(spec.mass) + "\" diaginertia=\"" +
                      numbers({spec.mass * i.x, spec.mass * i.y, spec.mass * i.z}) + "\"/>";
        }
        if (spec.model)
            bodies += std::string("<geom type=\"") + (m_for_rays ? "mesh" : "sdf") + "\" mesh=\"" + spec.model->name + "\">" +
                      (has_plugin() ? "<plugin instance=\"" + spec.model->name + "\"/>" : "") + "</geom>";
        else if (spec.stock == Stock::Plane) // MuJoCo's planes face z
            bodies += "<geom type=\"plane\" size=\"5 5 1\" quat=\"0.70710678118654752 -0.70710678118654752 0 0\"/>";
        else
            bodies += std::string("<geom type=\"") + (spec.stock == Stock::Box ? "box" : "sphere") + "\" size=\"" +
                      numbers(spec.size) + "\"/>";
        bodies += "</body>";
    }

    bool has_plugin() const { return !m_settings.own_method && !m_for_rays; }

    WorldSettings m_settings;
    bool m_for_rays = false;
    std::unique_ptr<MujocoWorld> m_rays;
    mjModel* m_model = nullptr;
    mjData* m_data = nullptr;
    std::vector<BodySpec> m_specs;
    std::vector<int> m_number; // among the bodies that move; -1 for the others
    double m_seconds = 0;
};

} // namespace

std::unique_ptr<World> make_world(const WorldSettings& settings) {
    return std::unique_ptr<World>(new MujocoWorld(settings));
}
const char* host_name() { return "mujoco"; }
std::string host_version() { return std::string("MuJoCo ") + mj_versionString(); }
const char* own_method_name() { return "mesh SDF"; }

} // namespace conformance
