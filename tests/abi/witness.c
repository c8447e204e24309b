/* Input of abidiff in place of the library, whose language abidiff does not read: a C library that names every
 * struct, field, function and constant of voxshell.h. `tests/abi/check` writes witness_names.h from the header, so
 * that none is missing. The library is compiled and compared, never loaded. */
#include <stddef.h>

#include "voxshell/voxshell.h"

/* Pointers, so that a change affects the struct and not the variable. */
#define STRUCT(name) name *witness_##name;
/* Type and offset of each field: abidiff ignores structs that may grow (growable.abignore). */
#define FIELD(type, field)                                                  \
  __typeof__(((type *)0)->field) *witness_##type##__##field;                \
  char (*witness_##type##__##field##_place)[offsetof(type, field) + 1];
/* The type of the function as the header declares it: a wrapper would hide conversions of its arguments. */
#define FUNCTION(name) __typeof__(&name) witness_##name;
/* A value as part of a type. */
#define CONSTANT(name) char (*witness_##name)[name + 1];

#include "witness_names.h"
