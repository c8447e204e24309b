// Messages of the plugin, through the library's log hook.
#ifndef VOXSHELL_BULLET_LOG_H
#define VOXSHELL_BULLET_LOG_H

#include <string>

#include <voxshell/voxshell.h>

namespace voxshell_bullet
{
/// Logs a warning, once in the life of the program for each different text.
void warn_once(const std::string& text);
/// Logs the library's error message about its last call, which was for `what`. Once for each `what` and status.
void log_failure(const char* what, vxs_status status);
}  // namespace voxshell_bullet

#endif
