// Headers of programs with a Bullet world, the tests and the demo's scenes, that this project's own builds precompile.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <btBulletDynamicsCommon.h>

#include <voxshell/bullet.h>
