// The scenes of the conformance suite.
#ifndef VOXSHELL_CONFORMANCE_SCENES_H
#define VOXSHELL_CONFORMANCE_SCENES_H

#include <string>
#include <vector>

#include "bodies.h"
#include "report.h"

namespace conformance {

struct Context {
    Bodies& bodies;
    /// Shorter runs, without the host's own method.
    bool quick;
    /// Run the host's own method in place of Voxshell.
    bool own;
};

struct Scene {
    const char* name;
    /// Adds figures to `row`.
    void (*run)(const Context& context, Row& row);
    /// The host's own method has figures too.
    bool has_own;
};

/// Returns all scenes in the order of the rows.
const std::vector<Scene>& scenes();

} // namespace conformance

#endif
