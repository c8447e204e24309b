// One host of the conformance suite: prints a JSON row for each scene. tests/conformance/README.md has the format.
#include <cstdio>
#include <cstring>
#include <string>

#include "scenes.h"

using namespace conformance;

namespace {

int usage(const char* problem) {
    std::fprintf(stderr,
                 "conformance: %s\nusage: conformance_%s [--quick] [--scene NAME] [--assets DIRECTORY]\n"
                 "  --quick   shorter runs, without the host's own method\n"
                 "  --scene   this scene alone\n"
                 "  --assets  where cooked bodies are kept from run to run\n",
                 problem, host_name());
    return 2;
}

/// Adds the figures of the host's own method to a row.
void add_own(const Scene& scene, Bodies& bodies, Row& row) {
    Row own;
    scene.run({bodies, false, true}, own);
    for (const auto& figure : own.figures) row.set("own_" + figure.first, figure.second);
}

} // namespace

int main(int count, char** arguments) {
    bool quick = false;
    std::string only, assets;
    for (int i = 1; i < count; ++i) {
        const std::string argument = arguments[i];
        if (argument == "--quick")
            quick = true;
        else if ((argument == "--scene" || argument == "--assets") && i + 1 < count)
            (argument == "--scene" ? only : assets) = arguments[++i];
        else
            return usage(("unknown argument " + argument).c_str());
    }
    Bodies bodies(assets);
    bool all_passed = true, any = false;
    for (const Scene& scene : scenes()) {
        if (!only.empty() && only != scene.name)
            continue;
        any = true;
        Row row;
        row.scene = scene.name;
        scene.run({bodies, quick, false}, row);
        judge(row);
        if (!quick && scene.has_own && own_method_name())
            add_own(scene, bodies, row);
        print_json(row);
        all_passed = all_passed && row.passed;
    }
    if (!any)
        return usage(("there is no scene " + only).c_str());
    return all_passed ? 0 : 1;
}
