# One executable and one ctest entry per file of tests/c, tests/cpp and tests/bullet.
if(VOXSHELL_VALGRIND)
  find_program(VALGRIND_EXECUTABLE valgrind REQUIRED)
endif()

function(voxshell_add_test name source)
  add_executable(${name} "${source}")
  target_link_libraries(${name} PRIVATE ${ARGN})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests"
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  if(NOT MSVC)
    target_compile_options(${name} PRIVATE -Wall -Wextra -Werror)
  endif()
  # Asserts are what the tests are made of: they stay, whatever the build type.
  target_compile_options(${name} PRIVATE -UNDEBUG)
  # As cmake/RustCore.cmake builds the core.
  target_compile_definitions(${name} PRIVATE VOXSHELL_ALLOCATION_COUNTER)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)
  if(VOXSHELL_VALGRIND)
    # Tests may look at VOXSHELL_VALGRIND to do less of what they repeat: everything is some 40 times slower.
    add_test(NAME valgrind.${name}
      COMMAND "${VALGRIND_EXECUTABLE}" --quiet --leak-check=full --errors-for-leak-kinds=definite
              --error-exitcode=97 "--suppressions=${CMAKE_CURRENT_SOURCE_DIR}/tests/valgrind.supp" $<TARGET_FILE:${name}>
      WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    set_tests_properties(valgrind.${name} PROPERTIES TIMEOUT 1200 LABELS valgrind ENVIRONMENT VOXSHELL_VALGRIND=1)
  endif()
endfunction()

find_package(Threads REQUIRED)
file(GLOB C_TESTS CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/c/*.c")
foreach(source IN LISTS C_TESTS)
  get_filename_component(name "${source}" NAME_WE)
  voxshell_add_test(c.${name} "${source}" voxshell::voxshell Threads::Threads m)
endforeach()
voxshell_add_test(c.contacts.static "${CMAKE_CURRENT_SOURCE_DIR}/tests/c/contacts.c" voxshell::static m)

file(GLOB CPP_TESTS CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp/*.cpp")
foreach(source IN LISTS CPP_TESTS)
  get_filename_component(name "${source}" NAME_WE)
  voxshell_add_test(cpp.${name} "${source}" voxshell::voxshell Threads::Threads)
endforeach()

if(TARGET voxshell::bullet)
  file(GLOB BULLET_TESTS CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/bullet/*.cpp")
  foreach(source IN LISTS BULLET_TESTS)
    get_filename_component(name "${source}" NAME_WE)
    voxshell_add_test(bullet.${name} "${source}" voxshell::bullet)
    # What the plugin decides about contacts is tested on its own, below the public headers.
    target_include_directories(bullet.${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/cpp/bullet/src")
    target_compile_definitions(bullet.${name} PRIVATE "VOXSHELL_SOURCE_DIR=\"${CMAKE_CURRENT_SOURCE_DIR}\"")
  endforeach()
endif()

# The programs that users read first.
if(TARGET voxshell::bullet)
  file(GLOB EXAMPLES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/cpp/bullet/examples/*.cpp")
  foreach(source IN LISTS EXAMPLES)
    get_filename_component(name "${source}" NAME_WE)
    voxshell_add_test(example.${name} "${source}" voxshell::bullet)
  endforeach()
endif()

# abidiff (Debian: abigail-tools) reads ELF only. tests/run installs it.
find_program(ABIDIFF_EXECUTABLE abidiff)
if(ABIDIFF_EXECUTABLE)
  add_test(NAME abi.last_release COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/tests/abi/check")
  add_test(NAME abi.deliberate_changes_are_noticed COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/tests/abi/check" --deliberate)
else()
  message(STATUS "abidiff was not found: the ABI is not compared with the last release (Debian and Ubuntu: abigail-tools)")
endif()

if(UNIX AND NOT APPLE)
  add_test(NAME exports.only_vxs
    COMMAND "${CMAKE_COMMAND}" -DNM=${CMAKE_NM} -DLIBRARY=$<TARGET_FILE:voxshell>
            -DHEADER=${CMAKE_CURRENT_SOURCE_DIR}/include/voxshell/voxshell.h
            -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/CheckExports.cmake")
endif()
