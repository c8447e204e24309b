// Simple checks: a failing check prints itself and the test continues; `finish` returns the exit code.
#ifndef VOXSHELL_TEST_CHECK_H
#define VOXSHELL_TEST_CHECK_H

#include <cmath>
#include <cstdio>

inline int& failures()
{
	static int count = 0;
	return count;
}

#define CHECK(condition)                                                          \
	do                                                                            \
	{                                                                             \
		if (!(condition))                                                         \
		{                                                                         \
			std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);   \
			++failures();                                                         \
		}                                                                         \
	} while (0)

#define CHECK_NEAR(value, expected, tolerance)                                                                             \
	do                                                                                                                     \
	{                                                                                                                      \
		const double v_ = double(value), e_ = double(expected), t_ = double(tolerance);                                    \
		if (!(std::fabs(v_ - e_) <= t_))                                                                                   \
		{                                                                                                                  \
			std::printf("%s:%d: failed: %s = %.9g, expected %.9g within %.3g\n", __FILE__, __LINE__, #value, v_, e_, t_); \
			++failures();                                                                                                  \
		}                                                                                                                  \
	} while (0)

inline int finish()
{
	if (failures())
		std::printf("%d checks failed\n", failures());
	return failures() ? 1 : 0;
}

#endif
