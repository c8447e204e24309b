# The demo is a Rust program with C++ scenes: its own build script runs CMake on the scenes and links them.
add_custom_target(voxshell_demo ALL
  COMMAND "${VOXSHELL_CARGO}" build --locked --release --package voxshell-bullet-demo
          --manifest-path "${CMAKE_CURRENT_SOURCE_DIR}/Cargo.toml" --target-dir "${VOXSHELL_CARGO_DIR}-demo"
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
  COMMENT "Building the Bullet demo with cargo"
  USES_TERMINAL VERBATIM)
# One after the other: each fills all cores. (The directories differ, or the demo would put its own build of the core, with
# more features, in the place of the library's.)
add_dependencies(voxshell_demo voxshell_rust)
