// Makes one table of JSON rows on standard input: scenes and figures down, hosts across, the figure of the host's own
// method in brackets. Ends with 1 if a row did not pass, and with 2 if a line is not a row.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

/// Parses a flat JSON object: strings without escapes but \" and \\, numbers, true, false and null.
class Parser {
public:
    explicit Parser(const std::string& text) : m_text(text) {}

    bool parse(Fields& fields) {
        if (!take('{'))
            return false;
        while (!take('}')) {
            std::string key, value;
            if (!string(key) || !take(':') || !(peek() == '"' ? string(value) : word(value)))
                return false;
            fields.emplace_back(key, value);
            take(',');
        }
        return peek() == 0;
    }

private:
    char peek() {
        while (m_at < m_text.size() && std::isspace(static_cast<unsigned char>(m_text[m_at]))) ++m_at;
        return m_at < m_text.size() ? m_text[m_at] : char(0);
    }
    bool take(char c) {
        if (peek() != c)
            return false;
        ++m_at;
        return true;
    }
    bool string(std::string& out) {
        if (!take('"'))
            return false;
        while (m_at < m_text.size() && m_text[m_at] != '"') {
            if (m_text[m_at] == '\\')
                ++m_at;
            if (m_at < m_text.size())
                out += m_text[m_at++];
        }
        return take('"');
    }
    bool word(std::string& out) {
        peek();
        while (m_at < m_text.size() && (std::isalnum(static_cast<unsigned char>(m_text[m_at])) ||
                                        std::string("+-.").find(m_text[m_at]) != std::string::npos))
            out += m_text[m_at++];
        return !out.empty();
    }

    const std::string& m_text;
    size_t m_at = 0;
};

template <class Item> void add_once(std::vector<Item>& list, const Item& item) {
    if (std::find(list.begin(), list.end(), item) == list.end())
        list.push_back(item);
}

/// Returns a number with three significant digits, without an exponent where it is short enough.
std::string shorten(const std::string& value) {
    char* end;
    const double number = std::strtod(value.c_str(), &end);
    if (end == value.c_str() || *end)
        return value == "null" ? "not finite" : value;
    char text[40];
    if (number != 0 && std::abs(number) < 5e-4)
        return "< 0.001";
    std::snprintf(text, sizeof text, std::abs(number) >= 100 ? "%.0f" : "%.3g", number);
    return text;
}

} // namespace

int main() {
    std::vector<std::string> hosts;
    std::vector<std::pair<std::string, std::string>> lines; // scene, figure
    std::map<std::pair<std::pair<std::string, std::string>, std::string>, std::string> cells;
    bool all_passed = true;
    std::string line;
    while (std::getline(std::cin, line)) {
        Fields fields;
        if (!Parser(line).parse(fields)) {
            std::fprintf(stderr, "not a row: %s\n", line.c_str());
            return 2;
        }
        std::string host, scene;
        for (const auto& f : fields) {
            if (f.first == "host")
                host = f.second;
            if (f.first == "scene")
                scene = f.second;
        }
        if (host.empty() || scene.empty()) {
            std::fprintf(stderr, "a row without a host or a scene\n");
            return 2;
        }
        add_once(hosts, host);
        for (const auto& f : fields) {
            if (f.first == "host" || f.first == "scene" || f.first == "version")
                continue;
            if (f.first == "passed")
                all_passed = all_passed && f.second == "true";
            const bool own = f.first.compare(0, 4, "own_") == 0;
            const std::pair<std::string, std::string> at = {scene, own ? f.first.substr(4) : f.first};
            add_once(lines, at);
            std::string& cell = cells[{at, host}];
            cell += own ? (cell.empty() ? "(" : " (") + shorten(f.second) + ")" : shorten(f.second);
        }
    }
    std::vector<std::string> scenes;
    for (const auto& at : lines) add_once(scenes, at.first);
    const auto place = [&](const auto& at) {
        return std::find(scenes.begin(), scenes.end(), at.first) - scenes.begin();
    };
    std::stable_sort(lines.begin(), lines.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
    std::printf("| scene | figure |");
    for (const std::string& host : hosts) std::printf(" %s |", host.c_str());
    std::printf("\n| --- | --- |");
    for (size_t i = 0; i < hosts.size(); ++i) std::printf(" --- |");
    std::printf("\n");
    for (const auto& at : lines) {
        std::printf("| %s | %s |", at.first.c_str(), at.second.c_str());
        for (const std::string& host : hosts) std::printf(" %s |", cells[{at, host}].c_str());
        std::printf("\n");
    }
    return all_passed ? 0 : 1;
}
