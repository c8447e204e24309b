# The hosts of the conformance suite: one executable each, and its short form as the test conformance.<host>.
set(VOXSHELL_CONFORMANCE_DIR "${CMAKE_CURRENT_LIST_DIR}")
# Cooked bodies, shared by all hosts.
set(VOXSHELL_CONFORMANCE_ASSETS "${CMAKE_BINARY_DIR}/conformance-assets")
add_custom_target(conformance)
# The code that all hosts share, compiled once.
add_library(conformance_common OBJECT)
foreach(file main scenes run bodies report)
  target_sources(conformance_common PRIVATE "${VOXSHELL_CONFORMANCE_DIR}/${file}.cpp")
endforeach()
set_target_properties(conformance_common PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
target_link_libraries(conformance_common PRIVATE voxshell::host)
if(NOT MSVC)
  target_compile_options(conformance_common PRIVATE -Wall -Wextra)
endif()

# A host that is written in C++ over world.h.
#   SOURCES    its files
#   LIBRARIES  that it links beside voxshell::host
function(voxshell_add_conformance_host name)
  cmake_parse_arguments(PARSE_ARGV 1 HOST "" "" "SOURCES;LIBRARIES")
  set(target "conformance_${name}")
  add_executable(${target} ${HOST_SOURCES} $<TARGET_OBJECTS:conformance_common>)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests"
    CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  target_link_libraries(${target} PRIVATE voxshell::host ${HOST_LIBRARIES})
  if(NOT MSVC)
    target_compile_options(${target} PRIVATE -Wall -Wextra)
  endif()
  add_dependencies(conformance ${target})
  voxshell_add_conformance_test(${name} ${target})
endfunction()

# A host that is any program with the arguments and the output of README.md.
function(voxshell_add_conformance_test name)
  add_test(NAME conformance.${name} COMMAND ${ARGN} --quick --assets "${VOXSHELL_CONFORMANCE_ASSETS}")
  # Hosts wait for each other: the first one cooks the bodies, and the times are those of one process.
  # An emulator takes ten times as long.
  set_tests_properties(conformance.${name} PROPERTIES TIMEOUT $<IF:$<BOOL:${CMAKE_CROSSCOMPILING}>,3000,600>
    RESOURCE_LOCK conformance LABELS conformance SKIP_RETURN_CODE 77)
  if(VOXSHELL_SANITIZE)
    set_tests_properties(conformance.${name} PROPERTIES DISABLED ON) # too slow
  endif()
endfunction()

# A host whose engine was not found.
function(voxshell_skip_conformance_host name reason)
  add_test(NAME conformance.${name} COMMAND "${CMAKE_COMMAND}" -E echo "skipped: ${name}: ${reason}")
  set_tests_properties(conformance.${name} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped")
endfunction()

add_executable(conformance_table "${VOXSHELL_CONFORMANCE_DIR}/table.cpp")
set_target_properties(conformance_table PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests"
  CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
add_dependencies(conformance conformance_table)

set(hosts "${VOXSHELL_CONFORMANCE_DIR}/hosts")
voxshell_add_conformance_host(c SOURCES "${hosts}/c.cpp" "${hosts}/solver.cpp")
if(TARGET voxshell::bullet)
  voxshell_add_conformance_host(bullet SOURCES "${hosts}/bullet.cpp" "${hosts}/bullet_common.cpp" LIBRARIES voxshell::bullet)
  voxshell_add_conformance_host(bullet-multibody SOURCES "${hosts}/bullet_multibody.cpp" "${hosts}/bullet_common.cpp"
    LIBRARIES voxshell::bullet)
else()
  voxshell_skip_conformance_host(bullet "Bullet was not found (Debian: libbullet-dev)")
  voxshell_skip_conformance_host(bullet-multibody "Bullet was not found (Debian: libbullet-dev)")
endif()
include("${VOXSHELL_CONFORMANCE_DIR}/../../cpp/ode/ode.cmake")
voxshell_find_ode()
if(TARGET voxshell::ode)
  voxshell_add_conformance_host(ode SOURCES "${hosts}/ode.cpp" LIBRARIES voxshell::ode)
  voxshell_add_test(ode.pairs "${VOXSHELL_CONFORMANCE_DIR}/../ode/pairs.cpp" voxshell::ode)
  voxshell_add_test(example.ode "${VOXSHELL_CONFORMANCE_DIR}/../../cpp/ode/examples/drop.cpp" voxshell::ode)
else()
  voxshell_skip_conformance_host(ode "ODE was not found (Debian: libode-dev)")
endif()
# Hosts that bring a file of their own: mujoco.cmake and others, which call the functions above.
file(GLOB further CONFIGURE_DEPENDS "${hosts}/*.cmake")
foreach(file IN LISTS further)
  include("${file}")
endforeach()
