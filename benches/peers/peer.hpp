// Code shared by the peers in this folder. `voxshell-lab bench` compiles each of them at run time if its library is
// installed, starts it, and sends commands: one command with its arguments per line, answered by one JSON object. So
// the runs of both sides can alternate, and each side keeps its own memory.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace peer {

/// Returns the processor time of this process, all threads together, seconds.
inline double cpu_seconds()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

inline double wall_seconds()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// Reads a file of values of one type, in this machine's byte order.
template <class T>
std::vector<T> read(const std::string& path)
{
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) throw std::runtime_error("cannot read " + path);
    std::vector<T> values(std::size_t(file.tellg()) / sizeof(T));
    file.seekg(0);
    file.read(reinterpret_cast<char*>(values.data()), std::streamsize(values.size() * sizeof(T)));
    return values;
}

template <class T>
void write(const std::string& path, const std::vector<T>& values)
{
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), std::streamsize(values.size() * sizeof(T)));
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

using Vertex = std::array<float, 3>;
using Triangle = std::array<std::uint32_t, 3>;
/// Start and end, metres.
using Segment = std::array<Vertex, 2>;

/// Takes the rest of a command's line and returns the members of a JSON object.
using Command = std::function<std::string(std::istringstream&)>;

/// Answers commands until the input ends.
inline int serve(const std::map<std::string, Command>& commands)
{
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        try {
            std::string answer = commands.at(name)(words);
            if (words.fail()) throw std::runtime_error("not understood: " + line);
            std::cout << '{' << answer << '}' << std::endl;
        } catch (const std::exception& error) {
            std::cerr << name << ": " << error.what() << std::endl;
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}

/// Returns `"name": value`.
template <class T>
std::string member(const char* name, T value)
{
    std::ostringstream out;
    out.precision(9);
    out << '"' << name << "\": " << value;
    return out.str();
}

} // namespace peer
