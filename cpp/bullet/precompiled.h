// Headers that the plugin, its tests and the demo precompile in this project's own builds. It is not installed: a
// source includes all that it uses, and package.find_package compiles the plugin without this header.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <btBulletDynamicsCommon.h>
#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>

#include <voxshell/bullet.h>
#include <voxshell/voxshell.hpp>
