/* A shared library needs a source of its own for CMake to make it; all the rest comes from the Rust static library. */
typedef int voxshell_shared_library;
