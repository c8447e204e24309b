// Rows of the conformance suite.
#ifndef VOXSHELL_CONFORMANCE_REPORT_H
#define VOXSHELL_CONFORMANCE_REPORT_H

#include <string>
#include <utility>
#include <vector>

namespace conformance {

/// One scene in one host. Keys of figures end in their unit.
struct Row {
    std::string scene;
    bool passed = false;
    std::vector<std::pair<std::string, double>> figures;

    void set(const std::string& key, double value) { figures.emplace_back(key, value); }
};

/// Sets `passed` by the table of bounds, and names each figure that is out of them on standard error.
void judge(Row& row);

/// Prints a row as one line of JSON.
void print_json(const Row& row);

} // namespace conformance

#endif
