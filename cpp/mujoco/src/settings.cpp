#include "settings.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace voxshell::mujoco {

const char* const kAttributes[] = {"geoms",    "resolution",   "voxel_size", "spacing",    "samples",
                                   "sampling", "max_contacts", "coverage",   "dense_above", "look_ahead",
                                   "allowance"};
const int kAttributeCount = sizeof kAttributes / sizeof *kAttributes;

namespace {

/// Reads the attributes one after the other and keeps the message of the first wrong one.
class Reader {
public:
    Reader(const MujocoLibrary& library, const mjModel* model, int instance)
        : m_library(library), m_model(model), m_instance(instance) {}

    /// Returns the value of an attribute; empty if the model does not set it.
    std::string text(const char* name) const {
        const char* value = m_library.get_plugin_config(m_model, m_instance, name);
        return value ? value : "";
    }

    /// Replaces `value` by a number of the model from `least` to `most`.
    void number(const char* name, double least, double most, bool is_integer, double& value) {
        const std::string given = text(name);
        if (given.empty()) return;
        char* end = nullptr;
        const double read = std::strtod(given.c_str(), &end);
        const bool is_number = end != given.c_str() && *end == 0 && std::isfinite(read);
        if (!is_number || read < least || read > most || (is_integer && read != std::floor(read))) {
            refuse(name, given,
                   (is_integer ? "an integer from " : "a number from ") + trimmed(least) + " to " + trimmed(most));
            return;
        }
        value = read;
    }

    template <class Integer> void integer(const char* name, double least, double most, Integer& value) {
        double read = static_cast<double>(value);
        number(name, least, most, true, read);
        value = static_cast<Integer>(read);
    }

    void refuse(const char* name, const std::string& given, const std::string& expected) {
        if (m_message.empty()) m_message = std::string(name) + " is \"" + given + "\"; expected " + expected;
    }

    const std::string& message() const { return m_message; }

private:
    static std::string trimmed(double number) {
        char text[32];
        std::snprintf(text, sizeof text, "%g", number);
        return text;
    }

    const MujocoLibrary& m_library;
    const mjModel* m_model;
    int m_instance;
    std::string m_message;
};

} // namespace

uint32_t sampling_of(const Settings& settings, size_t vertex_count) {
    if (settings.sampling != kAutoSampling) return settings.sampling;
    return vertex_count <= settings.samples ? VXS_SAMPLING_DEFAULT : VXS_SAMPLING_UNIFORM;
}

std::string read_settings(const MujocoLibrary& library, const mjModel* model, int instance, Settings& settings) {
    Reader reader(library, model, instance);
    Settings read;
    const std::string geoms = reader.text("geoms");
    read.all_geoms = geoms == "all";
    if (!geoms.empty() && geoms != "all" && geoms != "attached") reader.refuse("geoms", geoms, "all or attached");
    reader.integer("resolution", 8, 2048, read.resolution);
    reader.number("voxel_size", 0, 1e6, false, read.voxel_size);
    reader.number("spacing", 0, 1e6, false, read.spacing);
    reader.integer("max_contacts", 1, mjMAXCONPAIR, read.max_contacts);
    reader.integer("dense_above", 0, 1e9, read.dense_above);
    if (reader.text("look_ahead") != "auto") reader.number("look_ahead", 0, 100, false, read.look_ahead);
    reader.number("allowance", 0, 1e6, false, read.allowance);
    reader.integer("samples", 0, 1e8, read.samples);
    const std::string sampling = reader.text("sampling");
    if (sampling == "default")
        read.sampling = VXS_SAMPLING_DEFAULT;
    else if (sampling == "vertices")
        read.sampling = VXS_SAMPLING_VERTICES;
    else if (sampling == "uniform")
        read.sampling = VXS_SAMPLING_UNIFORM;
    else if (!sampling.empty() && sampling != "auto")
        reader.refuse("sampling", sampling, "auto, uniform, default or vertices");
    const std::string coverage = reader.text("coverage");
    if (coverage == "samples")
        read.coverage = VXS_COVERAGE_SAMPLES;
    else if (coverage == "edges")
        read.coverage = VXS_COVERAGE_EDGES;
    else if (!coverage.empty() && coverage != "facets")
        reader.refuse("coverage", coverage, "facets, edges or samples");
    if (reader.message().empty()) settings = read;
    return reader.message();
}

} // namespace voxshell::mujoco
