// The treatment of each of Bullet's shape types against a Voxshell shape.
#ifndef VOXSHELL_BULLET_PAIR_TABLE_H
#define VOXSHELL_BULLET_PAIR_TABLE_H

#include <cstddef>

#include "stock_shapes.h"

namespace voxshell_bullet
{
enum class Treatment
{
	FORM,     // as an exact field (or sampled, for partners that are a field only) with its sharp features
	SCALED,   // as the convex shape inside it, scaled
	PATCH,    // its triangles near the Voxshell shape, as a two-sided sheet with sharp features
	STOCK,    // left to Bullet: not entered into the dispatcher's tables
	IGNORED,  // no contacts, and one warning
};

/// Treatment of shapes of one of Bullet's types against a Voxshell shape, in both orders.
struct PairRow
{
	int type;          // BroadphaseNativeTypes
	const char* name;  // for messages
	Treatment treatment;
	const Kind* kind;  // of FORM
};

/// All of Bullet's types, each once.
extern const PairRow kPairTable[];
extern const size_t kPairRows;

/// Returns the row of a type; null for a type that Bullet does not have.
const PairRow* find_pair(int type);
}  // namespace voxshell_bullet

#endif
