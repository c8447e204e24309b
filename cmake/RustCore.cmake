# The core: cargo makes a static library, and CMake links it into a shared one of its own, which gives it a SONAME and
# keeps everything but vxs_* out of sight.

find_program(VOXSHELL_CARGO cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin" DOC "cargo, of the Rust toolchain")
if(NOT VOXSHELL_CARGO)
  message(FATAL_ERROR "Voxshell's core needs the Rust toolchain and cargo was not found; https://rustup.rs installs it")
endif()
set(VOXSHELL_CARGO_DIR "${CMAKE_CURRENT_BINARY_DIR}/cargo" CACHE PATH
  "Cargo's target directory; build directories of the same sources may share one and compile the core once")

# Cargo's name of the platform that the build is for, where it is not the one that builds.
set(default)
if(CMAKE_CROSSCOMPILING)
  string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" processor)
  string(REGEX REPLACE "^(amd64|x64)$" "x86_64" processor "${processor}")
  string(REGEX REPLACE "^arm64$" "aarch64" processor "${processor}")
  if(WIN32)
    if(MSVC)
      set(default "${processor}-pc-windows-msvc")
    else()
      set(default "${processor}-pc-windows-gnu")
    endif()
  elseif(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(default "${processor}-unknown-linux-gnu")
  endif()
endif()
set(VOXSHELL_RUST_TARGET "${default}" CACHE STRING "Cargo's target; empty for the platform that builds")
if(CMAKE_CROSSCOMPILING AND NOT VOXSHELL_RUST_TARGET)
  message(FATAL_ERROR "VOXSHELL_RUST_TARGET is empty; expected cargo's name of ${CMAKE_SYSTEM_NAME} on ${CMAKE_SYSTEM_PROCESSOR}, "
    "as `rustc --print target-list` has it")
endif()

include("${CMAKE_CURRENT_LIST_DIR}/Sanitize.cmake")

set(VOXSHELL_RUST_LIBRARY
  "${VOXSHELL_CARGO_DIR}/${VOXSHELL_RUST_TARGET}/release/${CMAKE_STATIC_LIBRARY_PREFIX}voxshell${CMAKE_STATIC_LIBRARY_SUFFIX}")
set(environment --unset=CARGO_BUILD_TARGET) # it would move the library to another directory
if(CMAKE_OSX_DEPLOYMENT_TARGET)
  list(APPEND environment "MACOSX_DEPLOYMENT_TARGET=${CMAKE_OSX_DEPLOYMENT_TARGET}")
endif()
# For the component voxshell_debug.
list(APPEND environment CARGO_PROFILE_RELEASE_DEBUG=line-tables-only)
set(rustflags)
set(target)
if(VOXSHELL_SANITIZE)
  list(APPEND environment RUSTC_BOOTSTRAP=1)
  list(JOIN VOXSHELL_SANITIZE_RUSTFLAGS ", " rustflags)
  set(rustflags ", ${rustflags}")
endif()
if(VOXSHELL_RUST_TARGET)
  set(target --target "${VOXSHELL_RUST_TARGET}")
endif()
if(CMAKE_CROSSCOMPILING AND NOT MSVC)
  string(TOUPPER "CARGO_TARGET_${VOXSHELL_RUST_TARGET}_LINKER" linker)
  string(REPLACE "-" "_" linker "${linker}")
  list(APPEND environment "${linker}=${CMAKE_C_COMPILER}")
endif()
# What is installed tells nothing of the machine that built it: neither debug lines nor panics name its directories. (An
# environment or a configuration with rustflags of its own takes the place of these.)
if(DEFINED ENV{CARGO_HOME})
  file(TO_CMAKE_PATH "$ENV{CARGO_HOME}" cargo_home)
else()
  file(TO_CMAKE_PATH "$ENV{HOME}/.cargo" cargo_home)
endif()
file(GLOB_RECURSE VOXSHELL_RUST_SOURCES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.rs" "${PROJECT_SOURCE_DIR}/src/*/Cargo.toml")
# The stamp, not the library, is what the build looks at: cargo leaves a library that is fresh as it is, with its old date.
add_custom_command(
  OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/cargo.stamp"
  BYPRODUCTS "${VOXSHELL_RUST_LIBRARY}"
  COMMAND "${CMAKE_COMMAND}" -E env ${environment}
          "${VOXSHELL_CARGO}" build --locked --release --package voxshell --lib
          --features allocation-counter
          --config "build.rustflags=['--remap-path-prefix=${cargo_home}=/cargo', '--remap-path-prefix=${PROJECT_SOURCE_DIR}=/voxshell'${rustflags}]" ${target}
          --manifest-path "${PROJECT_SOURCE_DIR}/Cargo.toml" --target-dir "${VOXSHELL_CARGO_DIR}"
  COMMAND "${CMAKE_COMMAND}" -E touch "${CMAKE_CURRENT_BINARY_DIR}/cargo.stamp"
  DEPENDS ${VOXSHELL_RUST_SOURCES} "${PROJECT_SOURCE_DIR}/Cargo.toml" "${PROJECT_SOURCE_DIR}/Cargo.lock"
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  COMMENT "Building Voxshell's core with cargo"
  USES_TERMINAL VERBATIM)
add_custom_target(voxshell_rust DEPENDS "${CMAKE_CURRENT_BINARY_DIR}/cargo.stamp")

# What Rust's standard library needs of the system.
if(WIN32)
  set(VOXSHELL_SYSTEM_LIBRARIES ws2_32 userenv ntdll bcrypt)
elseif(APPLE) # untested
  set(VOXSHELL_SYSTEM_LIBRARIES pthread m)
else()
  set(VOXSHELL_SYSTEM_LIBRARIES pthread dl m)
endif()
# On Windows the import library of the DLL has taken the name.
if(MSVC) # untested
  set(VOXSHELL_STATIC_NAME voxshell_static.lib)
else()
  set(VOXSHELL_STATIC_NAME "${CMAKE_STATIC_LIBRARY_PREFIX}voxshell${CMAKE_STATIC_LIBRARY_SUFFIX}")
endif()

# An interface to cargo's file, because an imported library cannot be installed.
add_library(voxshell_static INTERFACE)
add_library(voxshell::static ALIAS voxshell_static)
set_target_properties(voxshell_static PROPERTIES EXPORT_NAME static)
add_dependencies(voxshell_static voxshell_rust)
target_include_directories(voxshell_static INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>")
target_compile_definitions(voxshell_static INTERFACE VXS_STATIC)
target_link_libraries(voxshell_static INTERFACE
  "$<BUILD_INTERFACE:${VOXSHELL_RUST_LIBRARY}>"
  "$<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/${VOXSHELL_STATIC_NAME}>"
  ${VOXSHELL_SYSTEM_LIBRARIES})

add_library(voxshell SHARED "${CMAKE_CURRENT_LIST_DIR}/shared.c")
add_library(voxshell::voxshell ALIAS voxshell)
add_dependencies(voxshell voxshell_rust)
target_include_directories(voxshell INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>")
# Before 1.0 every minor version may break the ABI, so it is part of the SONAME.
set_target_properties(voxshell PROPERTIES
  VERSION "${PROJECT_VERSION}"
  SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}"
  LINK_DEPENDS "${VOXSHELL_RUST_LIBRARY};${CMAKE_CURRENT_LIST_DIR}/exports.map")
if(APPLE) # untested; the install name is @rpath/libvoxshell.<SOVERSION>.dylib
  target_link_options(voxshell PRIVATE "LINKER:-force_load,${VOXSHELL_RUST_LIBRARY}" "LINKER:-exported_symbol,_vxs_*")
elseif(WIN32) # tested with GCC only: tests/platforms/run windows
  # A DLL exports what its .def file names.
  include("${CMAKE_CURRENT_LIST_DIR}/Functions.cmake")
  voxshell_declared_functions("${PROJECT_SOURCE_DIR}/include/voxshell/voxshell.h" functions)
  list(JOIN functions "\n  " names)
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/voxshell.def" CONTENT "EXPORTS\n  ${names}\n")
  voxshell_header_files("${PROJECT_SOURCE_DIR}/include/voxshell/voxshell.h" headers)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
  target_sources(voxshell PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/voxshell.def")
  if(MSVC)
    target_link_options(voxshell PRIVATE "/WHOLEARCHIVE:${VOXSHELL_RUST_LIBRARY}")
    set_target_properties(voxshell PROPERTIES MSVC_RUNTIME_LIBRARY MultiThreadedDLL) # Rust's
  else()
    # Not the whole archive: it holds the import library of a system library more than once.
    list(TRANSFORM functions PREPEND "LINKER:-u," OUTPUT_VARIABLE wanted)
    target_link_options(voxshell PRIVATE ${wanted})
    target_link_libraries(voxshell PRIVATE "${VOXSHELL_RUST_LIBRARY}")
  endif()
else()
  target_link_options(voxshell PRIVATE
    "LINKER:--whole-archive,${VOXSHELL_RUST_LIBRARY},--no-whole-archive"
    "LINKER:--version-script,${CMAKE_CURRENT_LIST_DIR}/exports.map" "LINKER:--gc-sections" "LINKER:--no-undefined")
  # The unwinder, behind the panics that stop at the C ABI.
  target_link_libraries(voxshell PRIVATE gcc_s)
  # Debug information about nothing, which names the build directory.
  target_compile_options(voxshell PRIVATE -g0)
endif()
if(VOXSHELL_SANITIZE STREQUAL "thread")
  target_sources(voxshell PRIVATE "${CMAKE_CURRENT_LIST_DIR}/sanitize_thread.c")
  set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/sanitize_thread.c" PROPERTIES COMPILE_OPTIONS -fno-builtin)
  target_link_options(voxshell PRIVATE LINKER:--wrap=syscall)
  foreach(bits 8 32 64)
    foreach(name load store compare_exchange_val exchange fetch_add fetch_sub fetch_and fetch_or)
      target_link_options(voxshell PRIVATE LINKER:--wrap=__tsan_atomic${bits}_${name})
    endforeach()
  endforeach()
endif()
target_link_libraries(voxshell PRIVATE ${VOXSHELL_SYSTEM_LIBRARIES})
