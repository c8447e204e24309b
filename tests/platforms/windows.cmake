# CMake toolchain: Windows on x86-64, built with Debian's g++-mingw-w64-x86-64-posix and run under Wine. Of the two sorts
# of that compiler the one with POSIX threads has std::thread.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
find_program(VOXSHELL_WINE NAMES wine64 wine)
set(CMAKE_CROSSCOMPILING_EMULATOR "${VOXSHELL_WINE}")
# The compiler's own libraries are linked into each program, so that none lies beside it.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-static")
# Headers and libraries of the machine that builds are not taken.
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32 ${VOXSHELL_PLATFORM_PREFIX})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES VOXSHELL_PLATFORM_PREFIX)
