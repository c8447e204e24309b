// The host "c": no engine, the C API through cpp/host, and the solver beside this file.
#include <algorithm>
#include <chrono>
#include <cmath>

#include <voxshell/host.h>

#include "../bodies.h"
#include "../world.h"
#include "solver.h"

namespace conformance {
namespace {

using namespace voxshell::host;

struct Item {
    const vxs_shape* shape;
    double radius; // around the centre of mass, m; infinite for a plane
};

class CWorld : public World {
public:
    explicit CWorld(const WorldSettings& settings) : m_settings(settings) {
        m_solver.dt = settings.dt;
        m_solver.friction = settings.friction;
        m_solver.iterations = settings.iterations;
        m_pair.margin = settings.margin;
        m_pair.look_ahead = 1.5;
        // As the Bullet plugin: two gears that lie on each other take 0.6 ms, and 17 ms with VXS_COVERAGE_EDGES.
        m_pair.coverage = VXS_COVERAGE_FACETS;
        m_pair.roles = VXS_ROLES_BOTH;
        m_pair.dense_above = 256;
        m_pair.thinning.max_contacts = 16;
        m_pair.thinning.hysteresis = 1.5;
        m_pair.thinning.depth_tolerance = 0.02 * settings.margin;
    }

    int add(const BodySpec& spec) override {
        Item item;
        RigidBody body;
        body.pose = spec.pose;
        body.linear = spec.linear_velocity;
        body.angular = spec.angular_velocity;
        const double ball = 0.4 * spec.size.x * spec.size.x;
        const vxs_vec3 inertia = spec.model ? spec.model->inertia : vxs_vec3{ball, ball, ball};
        if (spec.mass > 0) {
            body.inverse_mass = 1 / spec.mass;
            body.inertia = {spec.mass * inertia.x, spec.mass * inertia.y, spec.mass * inertia.z};
        }
        if (spec.model)
            item.shape = spec.model->shape;
        else if (spec.stock == Stock::Plane)
            item.shape = m_stock.half_space({0, 1, 0}, 0);
        else
            item.shape = spec.stock == Stock::Box ? m_stock.box(spec.size) : m_stock.ball(spec.size.x);
        if (!item.shape)
            must(VXS_INVALID_ARGUMENT);
        must(vxs_shape_prepare_coverage(item.shape, m_pair.coverage));
        item.radius = radius_about(item.shape, {0, 0, 0});
        m_items.push_back(item);
        m_bodies.push_back(body);
        return int(m_bodies.size()) - 1;
    }

    void step() override {
        for (RigidBody& body : m_bodies)
            if (body.inverse_mass > 0)
                body.linear.y -= m_settings.gravity * m_settings.dt;
        m_constraints.clear();
        m_answers.clear();
        m_seconds = 0;
        m_contacts = 0;
        for (size_t a = 0; a < m_bodies.size(); ++a)
            for (size_t b = a + 1; b < m_bodies.size(); ++b)
                if (may_touch(a, b))
                    find(a, b);
        m_solver.solve(m_bodies, m_constraints);
        size_t next = 0;
        for (const PairCache::Answer& answer : m_answers)
            for (size_t i = 0; i < answer.size(); ++i, ++next)
                answer.set_user(i, m_constraints[next].impulse[0], m_constraints[next].impulse[1],
                                m_constraints[next].impulse[2]);
        m_pairs.end_step();
        for (RigidBody& body : m_bodies) body.integrate(m_settings.dt);
    }

    BodyState state(int body) const override {
        const RigidBody& b = m_bodies[size_t(body)];
        return {b.pose, b.linear, b.angular};
    }

    void place(int body, const vxs_pose& pose) override {
        RigidBody& b = m_bodies[size_t(body)];
        b.pose = pose;
        b.linear = b.angular = {0, 0, 0};
    }

    double narrowphase_seconds() const override { return m_seconds; }
    size_t contacts() const override { return m_contacts; }

    RayHit cast_ray(const vxs_vec3& from, const vxs_vec3& to) override {
        RayHit nearest;
        double least = 2;
        for (size_t i = 0; i < m_bodies.size(); ++i) {
            const vxs_pose& pose = m_bodies[i].pose;
            vxs_segment_hit hit;
            must(vxs_shape_query_segment(m_items[i].shape, inverse_transform(pose, from), inverse_transform(pose, to),
                                         &hit));
            if (!hit.hit || hit.fraction >= least)
                continue;
            least = hit.fraction;
            nearest = {true, transform(pose, hit.point), rotate(pose, hit.normal)};
        }
        return nearest;
    }

private:
    /// A broadphase of balls.
    bool may_touch(size_t a, size_t b) const {
        const RigidBody &first = m_bodies[a], &second = m_bodies[b];
        if (first.inverse_mass == 0 && second.inverse_mass == 0)
            return false;
        const vxs_vec3 &p = first.pose.position, &q = second.pose.position;
        const double apart = std::sqrt(std::pow(p.x - q.x, 2) + std::pow(p.y - q.y, 2) + std::pow(p.z - q.z, 2));
        const Body x = body(a), y = body(b);
        const double ahead = m_pair.look_ahead * reach(x, y, m_items[a].radius, m_items[b].radius, m_settings.dt);
        return apart <= m_items[a].radius + m_items[b].radius + m_settings.margin + ahead;
    }

    Body body(size_t i) const {
        const RigidBody& b = m_bodies[i];
        return {m_items[i].shape, b.pose, b.pose.position, b.linear, b.angular};
    }

    void find(size_t a, size_t b) {
        const auto start = std::chrono::steady_clock::now();
        const PairCache::Answer answer = m_pairs.find(a, body(a), b, body(b), m_settings.dt, m_pair);
        m_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        must(answer.status);
        for (size_t i = 0; i < answer.size(); ++i) {
            const Contact c = answer[i];
            ContactConstraint constraint = {};
            constraint.a = a, constraint.b = b;
            constraint.point = c.point_on_b;
            constraint.normal = c.normal;
            constraint.separation = c.separation;
            std::copy(c.user, c.user + 3, constraint.impulse);
            m_constraints.push_back(constraint);
            m_contacts += c.separation <= m_settings.margin;
        }
        m_answers.push_back(answer);
    }

    WorldSettings m_settings;
    Solver m_solver;
    PairSettings m_pair;
    StockShapes m_stock;
    std::vector<Item> m_items;
    std::vector<RigidBody> m_bodies;
    PairCache m_pairs;
    std::vector<PairCache::Answer> m_answers;
    std::vector<ContactConstraint> m_constraints;
    double m_seconds = 0;
    size_t m_contacts = 0;
};

} // namespace

std::unique_ptr<World> make_world(const WorldSettings& settings) {
    return std::unique_ptr<World>(new CWorld(settings));
}
const char* host_name() { return "c"; }
std::string host_version() { return std::string("voxshell ") + vxs_version_string(); }
const char* own_method_name() { return nullptr; }

} // namespace conformance
