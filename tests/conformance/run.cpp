#include "run.h"

#include <algorithm>
#include <cmath>

namespace conformance {
namespace {

/// The host's own method may be too slow to wait for.
const double kPatience = 20; // s

double dot(const vxs_vec3& a, const vxs_vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

} // namespace

void report_times(Row& row, std::vector<double> seconds) {
    if (seconds.empty())
        return;
    double sum = 0;
    for (const double s : seconds) sum += s;
    std::sort(seconds.begin(), seconds.end());
    row.set("np_mean_us", 1e6 * sum / double(seconds.size()));
    row.set("np_p99_us", 1e6 * seconds[(seconds.size() - 1) * 99 / 100]);
}

Run::Run(const WorldSettings& settings) : m_settings(settings), m_world(make_world(settings)) {}

int Run::add(const BodySpec& spec) {
    m_specs.push_back(spec);
    m_truth.emplace_back(spec);
    return m_world->add(spec);
}

bool Run::is_ignored(int a, int b) const {
    return std::any_of(m_ignored.begin(), m_ignored.end(),
                       [&](const std::pair<int, int>& pair) { return pair == std::make_pair(a, b); });
}

bool Run::is_finite() const {
    for (size_t i = 0; i < m_specs.size(); ++i) {
        const BodyState s = m_world->state(int(i));
        const double sum = s.pose.position.x + s.pose.position.y + s.pose.position.z +
                           dot(s.linear_velocity, s.linear_velocity) + dot(s.angular_velocity, s.angular_velocity) +
                           s.pose.qw;
        if (!(std::fabs(sum) < 1e12))
            return false;
    }
    return true;
}

double Run::energy() const {
    double energy = 0;
    for (size_t i = 0; i < m_specs.size(); ++i) {
        const BodySpec& spec = m_specs[i];
        if (spec.mass == 0)
            continue;
        const BodyState s = m_world->state(int(i));
        const double r = 0.4 * spec.size.x * spec.size.x;
        const vxs_vec3 inertia = spec.model ? spec.model->inertia : vxs_vec3{r, r, r};
        const vxs_pose back = {{0, 0, 0}, -s.pose.qx, -s.pose.qy, -s.pose.qz, s.pose.qw};
        const vxs_vec3 w = rotate(back, s.angular_velocity);
        energy +=
            spec.mass * (0.5 * dot(s.linear_velocity, s.linear_velocity) + m_settings.gravity * s.pose.position.y +
                         0.5 * (inertia.x * w.x * w.x + inertia.y * w.y * w.y + inertia.z * w.z * w.z));
    }
    return energy;
}

vxs_vec3 Run::momentum() const {
    vxs_vec3 sum = {0, 0, 0};
    for (size_t i = 0; i < m_specs.size(); ++i) {
        const vxs_vec3 v = m_world->state(int(i)).linear_velocity;
        const double mass = m_specs[i].mass;
        sum = {sum.x + mass * v.x, sum.y + mass * v.y, sum.z + mass * v.z};
    }
    return sum;
}

void Run::simulate(double seconds) {
    const long steps = std::lround(seconds / m_settings.dt);
    if (m_times.empty())
        m_first_energy = energy();
    for (long i = 0; i < steps && !m_stopped; ++i) {
        m_world->step();
        m_times.push_back(m_world->narrowphase_seconds());
        contact_steps += m_world->contacts() > 0;
        measure();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - m_started;
        m_stopped = !is_finite() || (m_settings.own_method && taken.count() > kPatience);
    }
}

void Run::measure() {
    m_gain = std::max(m_gain, energy() - m_first_energy);
    if (m_times.size() % depth_every != 0 || !is_finite())
        return;
    for (int a = 0; a < int(m_specs.size()); ++a)
        for (int b = a + 1; b < int(m_specs.size()); ++b)
            if ((m_specs[size_t(a)].mass > 0 || m_specs[size_t(b)].mass > 0) && !is_ignored(a, b))
                max_depth = TrueBody::depth(m_truth[size_t(a)], pose(a), m_truth[size_t(b)], pose(b), max_depth);
}

double Run::drift(const std::vector<int>& bodies, double seconds) {
    std::vector<vxs_pose> from;
    for (const int body : bodies) from.push_back(pose(body));
    double most = 0;
    const int looks = 20;
    for (int look = 0; look < looks; ++look) {
        simulate(seconds / looks);
        for (size_t i = 0; i < bodies.size(); ++i)
            most = std::max(most, m_truth[size_t(bodies[i])].moved(from[i], pose(bodies[i])));
    }
    return is_finite() ? most : std::nan("");
}

void Run::report(Row& row) const {
    row.set("max_depth_mm", is_finite() ? 1e3 * max_depth : std::nan(""));
    row.set("energy_gain_j", is_finite() ? m_gain : std::nan(""));
    report_times(row, m_times);
    if (m_stopped)
        row.set("stopped_after_s", simulated());
}

} // namespace conformance
