# VOXSHELL_SANITIZE: everything built with a sanitizer, for tests/campaign. The C and C++ code by GCC's, the core by rustc's of
# the same kind, and GCC's runtime serves both. Rust's standard library and Bullet come without.
set(VOXSHELL_SANITIZE "" CACHE STRING "Build with a sanitizer: address (and undefined behaviour), or thread. GCC on Linux")
set_property(CACHE VOXSHELL_SANITIZE PROPERTY STRINGS "" address thread)
if(NOT VOXSHELL_SANITIZE)
  return()
endif()
if(NOT VOXSHELL_SANITIZE MATCHES "^(address|thread)$" OR NOT CMAKE_C_COMPILER_ID STREQUAL "GNU" OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(FATAL_ERROR "VOXSHELL_SANITIZE is \"${VOXSHELL_SANITIZE}\"; expected address or thread, and GCC on Linux")
endif()

if(VOXSHELL_SANITIZE STREQUAL "address")
  set(flags -fsanitize=address,undefined -fno-sanitize-recover=undefined)
  set(VOXSHELL_SANITIZE_ENVIRONMENT UBSAN_OPTIONS=print_stacktrace=1)
else()
  set(flags -fsanitize=thread)
  set(VOXSHELL_SANITIZE_ENVIRONMENT
    "TSAN_OPTIONS=history_size=7 suppressions=${CMAKE_CURRENT_SOURCE_DIR}/tests/sanitize_thread.supp")
endif()
add_compile_options(${flags} -fno-omit-frame-pointer -g)
add_link_options(${flags})

# Sanitizers of a stable rustc. The ABI of what is instrumented and what is not is the same for these two.
set(VOXSHELL_SANITIZE_RUSTFLAGS
  "'-Zsanitizer=${VOXSHELL_SANITIZE}'" "'-Zexternal-clangrt'" "'-Cunsafe-allow-abi-mismatch=sanitizer'")
# As a target of its own, or proc macros would be instrumented as well, which rustc then cannot load.
execute_process(COMMAND "${VOXSHELL_CARGO}" -vV OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "host: ([^\n]+)" version "${version}")
set(VOXSHELL_RUST_TARGET "${CMAKE_MATCH_1}")
