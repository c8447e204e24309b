/* Voxshell for C++17: the C API of voxshell.h with destructors, exceptions and containers. Header-only. The functions have
 * the names, arguments and meaning of the C functions, whose headers describe them.
 * This header includes those of all topics; each of them can also be included alone.
 *
 *     auto bunny = voxshell::Shape::create_from_file("bunny.obj");
 *     auto floor = voxshell::Shape::create_half_space({0, 0, 1}, 0);
 *     voxshell::Workspace workspace;
 *     for (const voxshell::Contact& c : query_contacts(bunny, pose, floor, voxshell::identity(), {}, workspace))
 *       std::printf("%g m deep\n", -c.separation);
 *
 * Without exceptions (-fno-exceptions, or VOXSHELL_NO_EXCEPTIONS defined before the first of these headers is included)
 * the functions are the same. A function that fails calls the error handler, which by default prints the message and
 * aborts, as a failed assert does. If a handler set by `set_error_handler` returns, the function returns an empty result:
 * a shape that is false, no contacts, 0.
 */
#ifndef VOXSHELL_VOXSHELL_HPP
#define VOXSHELL_VOXSHELL_HPP

#include "base.hpp"
#include "cook.hpp"
#include "shape.hpp"
#include "query.hpp"
#include "motion.hpp"
#include "response.hpp"
#include "pair.hpp"
#include "voxelmap.hpp"
#include "voxtree.hpp"
#include "hulls.hpp"
#include "haptics.hpp"
#include "record.hpp"

#include "voxshell.h"

#endif
