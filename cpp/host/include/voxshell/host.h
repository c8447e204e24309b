// What all adapters to physics engines share, over the public C API only. No engine type is named here.
//
//   pair_query.h    contacts of two moving bodies: roles, look-ahead, warm start, reduction to the host's number
//   pair_cache.h    one pair query per pair of bodies, found by the host's ids
//   thinning.h      reduction of a contact set: the deepest contact, then the widest spread, with a measured loss
//   asset_cache.h   cooked shapes of meshes, kept in a directory
//   stock_shapes.h  shapes of a host's own boxes, balls, capsules, cylinders, planes, hulls and triangle meshes
//
// Functions return a vxs_status, as the C API does; vxs_last_error() has the message of a failed call.
#ifndef VOXSHELL_HOST_H
#define VOXSHELL_HOST_H

#include <voxshell/host/asset_cache.h>
#include <voxshell/host/pair_cache.h>
#include <voxshell/host/pair_query.h>
#include <voxshell/host/stock_shapes.h>
#include <voxshell/host/thinning.h>

#endif
