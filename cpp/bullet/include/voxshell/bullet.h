/* Everything an engine needs to put Voxshell bodies into a stock Bullet world. */
#ifndef VOXSHELL_BULLET_H
#define VOXSHELL_BULLET_H

#include <voxshell/bullet/btVoxShellBudget.h>
#include <voxshell/bullet/btVoxShellCollisionAlgorithm.h>
#include <voxshell/bullet/btVoxShellDispatcher.h>
#include <voxshell/bullet/btVoxShellHapticTool.h>
#include <voxshell/bullet/btVoxShellMotionClamp.h>
#include <voxshell/bullet/btVoxShellShape.h>

#endif
