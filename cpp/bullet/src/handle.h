// Ownership of the C API's handles, and its errors as exceptions. Knows nothing of Bullet.
#ifndef VOXSHELL_BULLET_HANDLE_H
#define VOXSHELL_BULLET_HANDLE_H

#include <memory>
#include <stdexcept>
#include <string>

#include <voxshell/voxshell.h>

namespace voxshell_bullet
{
struct Release
{
	void operator()(vxs_shape* shape) const { vxs_shape_release(shape); }
	void operator()(vxs_field* field) const { vxs_field_release(field); }
	void operator()(vxs_pointshell* shell) const { vxs_pointshell_release(shell); }
	void operator()(vxs_workspace* workspace) const { vxs_workspace_destroy(workspace); }
};

using Shape = std::unique_ptr<vxs_shape, Release>;
using Field = std::unique_ptr<vxs_field, Release>;
using PointShell = std::unique_ptr<vxs_pointshell, Release>;
using Workspace = std::unique_ptr<vxs_workspace, Release>;

/// Throws the library's message about the last call of this thread, unless the call succeeded.
inline void check(vxs_status status)
{
	if (status != VXS_OK)
		throw std::runtime_error(std::string("voxshell: ") + vxs_last_error() + " (" + vxs_status_name(status) + ")");
}
}  // namespace voxshell_bullet

#endif
