#include "report.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "world.h"

namespace conformance {
namespace {

/// A row passes if each figure named here is a number within its bounds, which are the same in all hosts.
struct Bound {
    const char* scene;
    const char* figure;
    double least, most;
};
const double kAny = -1e300;
const Bound kBounds[] = {
    // Lengths: bodies are 100 to 200 mm large, voxels 1.2 to 2 mm. An impact at 1.4 m/s moves 6 mm in a step.
    {"drop_plane", "max_depth_mm", kAny, 0.5},
    {"drop_plane", "drift_mm", kAny, 0.1},
    {"drop_plane", "energy_gain_j", kAny, 0.005},
    {"drop_box", "max_depth_mm", kAny, 0.5},
    {"drop_box", "drift_mm", kAny, 0.5},
    {"drop_box", "energy_gain_j", kAny, 0.005},
    {"pair", "max_depth_mm", kAny, 0.75}, // what fits between samples that are 4 mm apart
    {"pair", "momentum_error_percent", kAny, 0.01},
    {"pair", "energy_gain_j", kAny, 0.01},
    {"pair", "contact_steps", 1, 1e9},
    {"stack", "max_depth_mm", kAny, 0.5},
    {"stack", "drift_mm", kAny, 0.5},
    {"stack", "energy_gain_j", kAny, 0.01},
    {"cup", "max_depth_mm", kAny, 0.5},
    {"cup", "ball_off_axis_mm", kAny, 60},
    {"cup", "energy_gain_j", kAny, 0.005},
    {"chain", "max_depth_mm", kAny, 0.5},
    {"chain", "links_lost", kAny, 0},
    {"chain", "energy_gain_j", kAny, 0.005},
    // The axial play of the thread is 0.13 mm.
    {"nut_bolt", "turns", 1, 1e9},
    {"nut_bolt", "pitch_error_percent", kAny, 1},
    {"nut_bolt", "off_helix_mm", kAny, 0.13},
    {"ray_grid", "missed", kAny, 0},
    {"ray_grid", "false_hits", kAny, 0},
    {"ray_grid", "max_error_mm", kAny, 0.25}, // voxels are 1.5 mm
    {"speed", "missed_poses", kAny, 0},
    {"speed", "np_mean_us", kAny, 5000},
};

void print_string(const char* text) {
    std::putchar('"');
    for (; *text; ++text)
        if (*text == '"' || *text == '\\')
            std::printf("\\%c", *text);
        else
            std::putchar(*text);
    std::putchar('"');
}

} // namespace

void judge(Row& row) {
    row.passed = true;
    bool known = false;
    for (const Bound& bound : kBounds) {
        if (row.scene != bound.scene)
            continue;
        known = true;
        double value = std::nan("");
        for (const auto& figure : row.figures)
            if (figure.first == bound.figure)
                value = figure.second;
        if (value >= bound.least && value <= bound.most)
            continue;
        row.passed = false;
        std::fprintf(stderr, "%s: %s: %s is %g, out of its bounds: ", host_name(), bound.scene, bound.figure, value);
        if (bound.least == kAny)
            std::fprintf(stderr, "at most %g\n", bound.most);
        else
            std::fprintf(stderr, "at least %g\n", bound.least);
    }
    row.passed = row.passed && known;
}

void print_json(const Row& row) {
    std::printf("{\"host\": ");
    print_string(host_name());
    std::printf(", \"version\": ");
    print_string(host_version().c_str());
    std::printf(", \"scene\": ");
    print_string(row.scene.c_str());
    std::printf(", \"passed\": %s", row.passed ? "true" : "false");
    for (const auto& figure : row.figures) {
        std::printf(", ");
        print_string(figure.first.c_str());
        // JSON has no NaN and no infinity.
        if (std::isfinite(figure.second))
            std::printf(": %.6g", figure.second);
        else
            std::printf(": null");
    }
    std::printf("}\n");
    std::fflush(stdout);
}

} // namespace conformance
