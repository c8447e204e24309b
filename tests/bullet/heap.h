// Memory of the process, in glibc.
#ifndef VOXSHELL_TESTS_BULLET_HEAP_H
#define VOXSHELL_TESTS_BULLET_HEAP_H

#include <cstddef>
#include <cstdlib>

#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 33)
#define VOXSHELL_HAS_MALLINFO2
#endif
#endif

#ifdef VOXSHELL_HAS_MALLINFO2
#include <malloc.h>

/// Returns the memory of the heap's blocks in use, bytes.
inline double heap_in_use()
{
	const struct mallinfo2 heap = mallinfo2();
	return double(heap.uordblks + heap.hblkhd);
}
#else
/// An older C library counts in `int`, which overflows, and another one may count nothing: the answer is 0.
inline double heap_in_use() { return 0; }
#endif

#endif
