// Messages of the library's log, for tests that expect them.
#ifndef VOXSHELL_TEST_LOG_LINES_H
#define VOXSHELL_TEST_LOG_LINES_H

#include <string>
#include <vector>

#include "scene.h"

/// Collects the messages of the log hook during its lifetime.
struct Log
{
	std::vector<std::string> lines;
	Log() { must(vxs_set_log(add, VXS_LOG_WARNING, this)); }
	~Log() { vxs_set_log(nullptr, VXS_LOG_ERROR, nullptr); }
	static void add(uint32_t level, const char* message, void* user)
	{
		static_cast<Log*>(user)->lines.push_back((level == VXS_LOG_ERROR ? "error: " : "warning: ") + std::string(message));
	}
	int count(const std::string& part) const
	{
		int n = 0;
		for (const std::string& line : lines)
			n += line.find(part) != std::string::npos;
		return n;
	}
};

#endif
