// A run of one scene: the world, what is true of it, and the figures.
#ifndef VOXSHELL_CONFORMANCE_RUN_H
#define VOXSHELL_CONFORMANCE_RUN_H

#include <chrono>
#include <memory>
#include <vector>

#include "bodies.h"
#include "report.h"
#include "world.h"

namespace conformance {

class Run {
public:
    explicit Run(const WorldSettings& settings);

    int add(const BodySpec& spec);
    /// Leaves a pair out of the measured depth.
    void ignore(int a, int b) { m_ignored.push_back({a, b}); }
    /// Steps and measures: depth and energy after each step, and the time of the narrowphase. A world whose state is no
    /// longer finite, and a run of the host's own method that takes longer than 20 s, stand still from then on.
    void simulate(double seconds);
    /// Largest distance that any point of the given bodies moves from their present poses during a simulation, m.
    double drift(const std::vector<int>& bodies, double seconds);

    World& world() { return *m_world; }
    const BodySpec& spec(int body) const { return m_specs[size_t(body)]; }
    vxs_pose pose(int body) const { return m_world->state(body).pose; }
    double energy() const;
    vxs_vec3 momentum() const;
    bool is_finite() const;
    size_t steps() const { return m_times.size(); }
    double simulated() const { return double(m_times.size()) * m_settings.dt; }
    bool has_stopped() const { return m_stopped; }

    /// Adds max_depth_mm, energy_gain_j and the narrowphase's np_mean_us and np_p99_us.
    void report(Row& row) const;

    double max_depth = 0;     // m
    size_t contact_steps = 0; // steps with contacts
    /// Depth is measured after every this many steps.
    size_t depth_every = 1;

private:
    bool is_ignored(int a, int b) const;
    void measure();

    WorldSettings m_settings;
    std::unique_ptr<World> m_world;
    std::vector<BodySpec> m_specs;
    std::vector<TrueBody> m_truth;
    std::vector<std::pair<int, int>> m_ignored;
    std::vector<double> m_times; // of the narrowphase, s
    double m_first_energy = 0, m_gain = 0;
    bool m_stopped = false;
    std::chrono::steady_clock::time_point m_started = std::chrono::steady_clock::now();
};

/// Adds the mean and the 99th percentile of times to a row, µs.
void report_times(Row& row, std::vector<double> seconds);

} // namespace conformance

#endif
