// The adapter, with all of its functions, compiles against the SDK that CMake has found.
#include VOXSHELL_ADAPTER
