// Headers of the plugin that this project's own builds precompile. It is not installed: a source includes all that it
// uses, and package.find_package compiles the plugin without this header. It is short because every compilation reads
// the precompiled file: all of Bullet and of the plugin's headers (120 MB) take longer to read than they save.
#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>
#include <BulletCollision/CollisionDispatch/btManifoldResult.h>

#include <voxshell/voxshell.h>
