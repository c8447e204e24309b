#include "log.h"

#include <mutex>
#include <set>

namespace voxshell_bullet
{
namespace
{
/// Returns true the first time for each text. Pairs that cannot collide are reported in every step, and must not fill
/// the log.
bool is_new(const std::string& text)
{
	static std::mutex mutex;
	static std::set<std::string> said;
	const std::lock_guard<std::mutex> lock(mutex);
	return said.insert(text).second;
}
}  // namespace

void warn_once(const std::string& text)
{
	if (is_new(text))
		vxs_log(VXS_LOG_WARNING, text.c_str());
}

void log_failure(const char* what, vxs_status status)
{
	const std::string key = std::string(what) + ": " + vxs_status_name(status);
	if (is_new(key))
		vxs_log(VXS_LOG_ERROR, (key + ": " + vxs_last_error()).c_str());
}
}  // namespace voxshell_bullet
