# The core: cargo makes a static library, and CMake links it into a shared one of its own, which gives it a SONAME and
# keeps everything but vxs_* out of sight.

find_program(CARGO_EXECUTABLE cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin" DOC "cargo, of the Rust toolchain")
if(NOT CARGO_EXECUTABLE)
  message(FATAL_ERROR "Voxshell's core needs the Rust toolchain and cargo was not found; https://rustup.rs installs it")
endif()

set(VOXSHELL_CARGO_DIR "${CMAKE_CURRENT_BINARY_DIR}/cargo")
set(VOXSHELL_RUST_LIBRARY
  "${VOXSHELL_CARGO_DIR}/release/${CMAKE_STATIC_LIBRARY_PREFIX}voxshell${CMAKE_STATIC_LIBRARY_SUFFIX}")

file(GLOB_RECURSE VOXSHELL_RUST_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/*.rs")
add_custom_command(
  OUTPUT "${VOXSHELL_RUST_LIBRARY}"
  # A target of the caller's configuration would move the library to another directory.
  COMMAND "${CMAKE_COMMAND}" -E env --unset=CARGO_BUILD_TARGET
          "${CARGO_EXECUTABLE}" build --locked --release --package voxshell --lib --no-default-features
          --features allocation-counter
          --manifest-path "${CMAKE_CURRENT_SOURCE_DIR}/Cargo.toml" --target-dir "${VOXSHELL_CARGO_DIR}"
  # Cargo leaves a file that is fresh as it is; its date must still move, or this would run in every build.
  COMMAND "${CMAKE_COMMAND}" -E touch "${VOXSHELL_RUST_LIBRARY}"
  DEPENDS ${VOXSHELL_RUST_SOURCES} "${CMAKE_CURRENT_SOURCE_DIR}/Cargo.toml" "${CMAKE_CURRENT_SOURCE_DIR}/Cargo.lock"
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
  COMMENT "Building Voxshell's core with cargo"
  USES_TERMINAL VERBATIM)
add_custom_target(voxshell_rust DEPENDS "${VOXSHELL_RUST_LIBRARY}")

# What Rust's standard library needs of the system.
if(WIN32)
  set(VOXSHELL_SYSTEM_LIBRARIES ws2_32 userenv ntdll bcrypt)
elseif(APPLE)
  set(VOXSHELL_SYSTEM_LIBRARIES pthread m)
else()
  set(VOXSHELL_SYSTEM_LIBRARIES pthread dl m)
endif()

add_library(voxshell_static STATIC IMPORTED GLOBAL)
# Asked for at configure time, before there is anything to find.
set_target_properties(voxshell_static PROPERTIES
  IMPORTED_LOCATION "${VOXSHELL_RUST_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_SOURCE_DIR}/include"
  INTERFACE_COMPILE_DEFINITIONS VXS_STATIC
  INTERFACE_LINK_LIBRARIES "${VOXSHELL_SYSTEM_LIBRARIES}")
add_dependencies(voxshell_static voxshell_rust)
add_library(voxshell::static ALIAS voxshell_static)

add_library(voxshell SHARED "${CMAKE_CURRENT_LIST_DIR}/shared.c")
add_library(voxshell::voxshell ALIAS voxshell)
add_dependencies(voxshell voxshell_rust)
target_include_directories(voxshell INTERFACE
  "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
# Before 1.0 every minor version may break the ABI, so it is part of the SONAME.
set_target_properties(voxshell PROPERTIES
  VERSION "${PROJECT_VERSION}"
  SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}"
  LINK_DEPENDS "${VOXSHELL_RUST_LIBRARY};${CMAKE_CURRENT_LIST_DIR}/exports.map")
if(APPLE) # untested
  target_link_options(voxshell PRIVATE "LINKER:-force_load,${VOXSHELL_RUST_LIBRARY}" "LINKER:-exported_symbol,_vxs_*")
elseif(MSVC) # untested
  target_link_options(voxshell PRIVATE "/WHOLEARCHIVE:${VOXSHELL_RUST_LIBRARY}")
  set_target_properties(voxshell PROPERTIES WINDOWS_EXPORT_ALL_SYMBOLS ON)
else()
  target_link_options(voxshell PRIVATE
    "LINKER:--whole-archive,${VOXSHELL_RUST_LIBRARY},--no-whole-archive"
    "LINKER:--version-script,${CMAKE_CURRENT_LIST_DIR}/exports.map" "LINKER:--gc-sections" "LINKER:--no-undefined")
endif()
target_link_libraries(voxshell PRIVATE ${VOXSHELL_SYSTEM_LIBRARIES})
if(NOT WIN32 AND NOT APPLE)
  # The unwinder, behind the panics that stop at the C ABI.
  target_link_libraries(voxshell PRIVATE gcc_s)
endif()
