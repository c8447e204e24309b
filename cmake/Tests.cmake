# One executable and one ctest entry per file of tests/c, tests/cpp and tests/bullet.
option(VOXSHELL_TEST_EVERYTHING "Add the tests that tests/run leaves to tests/campaign" OFF)

# Scripts among the tests build and run with the tools of a Linux that the tests are for.
set(VOXSHELL_TEST_SCRIPTS OFF)
if(UNIX AND NOT APPLE AND NOT CMAKE_CROSSCOMPILING)
  set(VOXSHELL_TEST_SCRIPTS ON)
endif()

# What is short under valgrind and together reaches most of the C API and of the plugin.
set(VOXSHELL_VALGRIND_SHORT
  "^(c\\.(asset|bad_input|contacts|log|motions|response|sheets)|bullet\\.(contact_policy|registration|shapes))$")
# Too long even for the campaign's: they simulate for long or cook finely, and AddressSanitizer runs them.
set(VOXSHELL_VALGRIND_NEVER
  "^bullet64|^fuzz|^sdk|\\.(guide|readme|haptics_impedance|static)$|^example\\.(chai3d|haption|forcedimension|openhaptics|haply)$|^bullet\\.(bounce|concave|dense|motion_clamp|motion_clamp_kinematic|pile|rest|segmentation|stock_shapes|table_pairs|table_queries)$")
# What depends on the precision: the plugin's conversions, margins, shapes and files.
set(VOXSHELL_BULLET_DOUBLE_SHORT allocations bounds_and_files coherence compound contact_policy precision registration shapes)
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
    target_compile_options(${name} PRIVATE -Wall -Wextra $<$<NOT:$<BOOL:${VOXSHELL_SANITIZE}>>:-Werror>)
  endif()
  # Asserts are what the tests are made of: they stay, whatever the build type.
  target_compile_options(${name} PRIVATE -UNDEBUG)
  # As cmake/RustCore.cmake builds the core.
  target_compile_definitions(${name} PRIVATE VOXSHELL_ALLOCATION_COUNTER)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  # Some tests do far more with VOXSHELL_LONG, which the campaign sets.
  set_tests_properties(${name} PROPERTIES TIMEOUT $<IF:$<BOOL:${VOXSHELL_TEST_EVERYTHING}>,7200,1200>)
  if(VOXSHELL_SANITIZE)
    # They do as little as under valgrind.
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "VOXSHELL_VALGRIND=1;${VOXSHELL_SANITIZE_ENVIRONMENT}")
  endif()
  if(VOXSHELL_VALGRIND AND NOT name MATCHES "${VOXSHELL_VALGRIND_NEVER}"
     AND (VOXSHELL_TEST_EVERYTHING OR name MATCHES "${VOXSHELL_VALGRIND_SHORT}"))
    # Tests may look at VOXSHELL_VALGRIND to do less of what they repeat: everything is some 40 times slower.
    add_test(NAME valgrind.${name}
      COMMAND "${VALGRIND_EXECUTABLE}" --quiet --leak-check=full --errors-for-leak-kinds=definite
              --error-exitcode=97 "--suppressions=${CMAKE_CURRENT_SOURCE_DIR}/tests/valgrind.supp" $<TARGET_FILE:${name}>
      WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    set_tests_properties(valgrind.${name} PROPERTIES TIMEOUT 1200 LABELS valgrind ENVIRONMENT VOXSHELL_VALGRIND=1)
  endif()
endfunction()

if(WIN32) # programs look for DLLs beside themselves
  set_target_properties(voxshell PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
endif()

find_package(Threads REQUIRED)
file(GLOB C_TESTS CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/c/*.c")
foreach(source IN LISTS C_TESTS)
  get_filename_component(name "${source}" NAME_WE)
  voxshell_add_test(c.${name} "${source}" voxshell::voxshell Threads::Threads m)
endforeach()
# Instructions of fixed work, which do not depend on the machine's load.
include(CheckIncludeFile)
check_include_file(valgrind/callgrind.h VOXSHELL_HAS_CALLGRIND)
if(VOXSHELL_HAS_CALLGRIND AND VOXSHELL_TEST_SCRIPTS AND NOT VOXSHELL_SANITIZE)
  add_executable(work "${CMAKE_CURRENT_SOURCE_DIR}/tests/work/work.c")
  target_link_libraries(work PRIVATE voxshell::voxshell m)
  set_target_properties(work PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests" C_STANDARD 11)
  target_compile_options(work PRIVATE -Wall -Wextra -UNDEBUG)
  add_test(NAME work.instructions COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/tests/work/run" $<TARGET_FILE:work>)
else()
  add_test(NAME work.instructions COMMAND "${CMAKE_COMMAND}" -E echo "skipped: valgrind/callgrind.h was not found (Debian: valgrind)")
endif()
set_tests_properties(work.instructions PROPERTIES TIMEOUT 1200 SKIP_REGULAR_EXPRESSION "^skipped")
# Every function with any values, in sequences. (It runs itself, which valgrind and emulators do not follow: see the
# sanitizers.)
if(VOXSHELL_TEST_SCRIPTS)
  voxshell_add_test(fuzz.calls "${CMAKE_CURRENT_SOURCE_DIR}/tests/fuzz/calls.c" voxshell::voxshell Threads::Threads m)
  target_compile_definitions(fuzz.calls PRIVATE "VOXSHELL_FUZZ_SEEDS=\"${CMAKE_CURRENT_SOURCE_DIR}/tests/fuzz/seeds\"")
endif()
if(NOT VOXSHELL_SANITIZE STREQUAL "thread") # it has its additions in the shared library
  voxshell_add_test(c.contacts.static "${CMAKE_CURRENT_SOURCE_DIR}/tests/c/contacts.c" voxshell::static m)
endif()

file(GLOB CPP_TESTS CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp/*.cpp")
foreach(source IN LISTS CPP_TESTS)
  get_filename_component(name "${source}" NAME_WE)
  voxshell_add_test(cpp.${name} "${source}" voxshell::voxshell Threads::Threads)
endforeach()
if(NOT MSVC)
  target_compile_options(cpp.no_exceptions PRIVATE -fno-exceptions -fno-rtti)
endif()

# What the adapters to engines share.
include("${CMAKE_CURRENT_SOURCE_DIR}/cpp/host/host.cmake")
voxshell_add_host()
file(GLOB HOST_TESTS CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/host/*.cpp")
foreach(source IN LISTS HOST_TESTS)
  get_filename_component(name "${source}" NAME_WE)
  voxshell_add_test(host.${name} "${source}" voxshell::host Threads::Threads)
endforeach()

# The adapters for haptic devices, each over a simulator of the SDK that it calls.
function(voxshell_add_sim_test adapter sdk)
  file(GLOB simulator CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/sim/${sdk}/*.cpp")
  voxshell_add_test(sim.${adapter} "${CMAKE_CURRENT_SOURCE_DIR}/tests/sim/${adapter}.cpp" voxshell::voxshell)
  target_sources(sim.${adapter} PRIVATE ${simulator})
  target_include_directories(sim.${adapter} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/cpp/${adapter}/include"
    "${CMAKE_CURRENT_SOURCE_DIR}/tests/sim/${sdk}" "${CMAKE_CURRENT_SOURCE_DIR}/tests/sim")
endfunction()
voxshell_add_sim_test(chai3d chai3d)
voxshell_add_sim_test(haption virtuose)
voxshell_add_sim_test(forcedimension dhd)
voxshell_add_sim_test(openhaptics hdapi)
target_link_libraries(sim.chai3d PRIVATE Threads::Threads)
# Haply's SDK is a service: its simulator is a server on the loopback.
if(TARGET voxshell::haply)
  voxshell_add_sim_test(haply inverse)
  target_link_libraries(sim.haply PRIVATE voxshell::haply)
else()
  add_test(NAME sim.haply COMMAND "${CMAKE_COMMAND}" -E echo
    "skipped: voxshell::haply: Boost or nlohmann_json was not found (Debian: libboost-dev, nlohmann-json3-dev)")
  set_tests_properties(sim.haply PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped")
endif()
# Found by CMake as the vendors name and place them.
if(VOXSHELL_TEST_SCRIPTS AND NOT VOXSHELL_SANITIZE)
  add_test(NAME sim.find_sdks COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/tests/sim/find_sdks" "${CMAKE_BINARY_DIR}/tests"
    "${CMAKE_CXX_COMPILER}" $<TARGET_FILE:voxshell>)
  set_tests_properties(sim.find_sdks PROPERTIES TIMEOUT 600)
endif()
# CHAI3D's templates set -std=c++11: the compiler's first error says what is needed.
if(VOXSHELL_TEST_SCRIPTS)
  add_test(NAME sim.older_cxx COMMAND "${CMAKE_CXX_COMPILER}" -std=c++11 -fsyntax-only
    "-I${CMAKE_CURRENT_SOURCE_DIR}/include" "-I${CMAKE_CURRENT_SOURCE_DIR}/cpp/chai3d/include"
    "-I${CMAKE_CURRENT_SOURCE_DIR}/tests/sim/chai3d" "-DVOXSHELL_ADAPTER=<voxshell/chai3d.h>"
    "${CMAKE_CURRENT_SOURCE_DIR}/tests/sim/with_sdk.cpp")
  set_tests_properties(sim.older_cxx PROPERTIES PASS_REGULAR_EXPRESSION "adapters for haptic devices need C\\+\\+17")
endif()
# And against the SDKs themselves, where CMake finds them: they compile, link and refuse a device that is not there.
# CHAI3D is tested as its simulator is, with the simulated device.
foreach(adapter chai3d haption forcedimension openhaptics)
  string(TOUPPER "${adapter}" name)
  set(missing)
  if(NOT TARGET voxshell::${adapter})
    set(missing "its SDK was not found")
  elseif(NOT VOXSHELL_${name}_LIBRARY AND NOT (adapter STREQUAL "chai3d" AND TARGET chai3d))
    set(missing "the library of its SDK was not found, only its headers")
  endif()
  if(missing)
    add_test(NAME sdk.${adapter} COMMAND "${CMAKE_COMMAND}" -E echo
      "skipped: voxshell::${adapter}: ${missing}; cpp/devices.cmake says where it is looked for")
    set_tests_properties(sdk.${adapter} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped")
  elseif(adapter STREQUAL "chai3d")
    voxshell_add_test(sdk.chai3d "${CMAKE_CURRENT_SOURCE_DIR}/tests/sim/chai3d.cpp" voxshell::chai3d Threads::Threads)
  else()
    voxshell_add_test(sdk.${adapter} "${CMAKE_CURRENT_SOURCE_DIR}/tests/sim/with_sdk.cpp" voxshell::${adapter})
    target_compile_definitions(sdk.${adapter} PRIVATE "VOXSHELL_ADAPTER=<voxshell/${adapter}.h>")
  endif()
endforeach()

# prefix: of the tests' names; plugin: the Bullet plugin that they link; further arguments: the tests, all if none are
# given
function(voxshell_add_bullet_tests prefix plugin)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/bullet/*.cpp")
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    if(ARGN AND NOT name IN_LIST ARGN)
      continue()
    endif()
    voxshell_add_test(${prefix}.${name} "${source}" ${plugin} Threads::Threads)
    # What the plugin decides about contacts is tested on its own, below the public headers.
    target_include_directories(${prefix}.${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/cpp/bullet/src")
    target_compile_definitions(${prefix}.${name} PRIVATE "VOXSHELL_SOURCE_DIR=\"${CMAKE_CURRENT_SOURCE_DIR}\"")
  endforeach()
endfunction()
if(TARGET voxshell::bullet)
  voxshell_add_bullet_tests(bullet voxshell::bullet)
  # What reads .bullet files is among Bullet's extras.
  string(REPLACE "BulletDynamics" "BulletWorldImporter" IMPORTER "${BULLET_DYNAMICS_LIBRARY}")
  string(REPLACE "BulletDynamics" "BulletFileLoader" FILE_LOADER "${BULLET_DYNAMICS_LIBRARY}")
  if(EXISTS "${IMPORTER}" AND EXISTS "${FILE_LOADER}")
    target_link_libraries(bullet.bounds_and_files PRIVATE "${IMPORTER}" "${FILE_LOADER}")
    target_compile_definitions(bullet.bounds_and_files PRIVATE VOXSHELL_TEST_IMPORTER)
  endif()
  # A million steps of a world, which ctest does not run: `tests/campaign world`.
  add_executable(world EXCLUDE_FROM_ALL "${CMAKE_CURRENT_SOURCE_DIR}/tests/world/world.cpp")
  target_link_libraries(world PRIVATE voxshell::bullet)
  set_target_properties(world PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests"
    CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
endif()

# Some again in double precision, if the system has such a Bullet too (Debian's libbullet-dev does).
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND AND NOT CMAKE_CROSSCOMPILING) # it tells of this machine's
  pkg_check_modules(VOXSHELL_BULLET64 QUIET IMPORTED_TARGET bullet-float64)
endif()
if(VOXSHELL_BUILD_BULLET AND VOXSHELL_BULLET64_FOUND)
  option(VOXSHELL_TEST_BULLET_DOUBLE "Also run Bullet tests in double precision (bullet64.*)" ON)
  if(VOXSHELL_TEST_BULLET_DOUBLE)
    voxshell_add_bullet(voxshell_bullet64 LIBRARIES PkgConfig::VOXSHELL_BULLET64)
    if(VOXSHELL_TEST_EVERYTHING)
      voxshell_add_bullet_tests(bullet64 voxshell_bullet64)
    else()
      voxshell_add_bullet_tests(bullet64 voxshell_bullet64 ${VOXSHELL_BULLET_DOUBLE_SHORT})
    endif()
  endif()
endif()

# The examples for haptic devices: example.* with a simulated device, and device.*, which ctest does not run, with the
# SDK. cpp/examples/run builds and starts them.
set(VOXSHELL_EXAMPLES_DIRS "${CMAKE_CURRENT_SOURCE_DIR}/cpp/examples" "${CMAKE_CURRENT_SOURCE_DIR}/tests/sim")
function(voxshell_add_device_example adapter sdk)
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/cpp/${adapter}/examples/touch.cpp")
  file(GLOB simulator CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/sim/${sdk}/*.cpp")
  voxshell_add_test(example.${adapter} "${source}" voxshell::voxshell Threads::Threads)
  target_sources(example.${adapter} PRIVATE ${simulator})
  target_compile_definitions(example.${adapter} PRIVATE VOXSHELL_SIMULATED_DEVICE)
  target_include_directories(example.${adapter} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/cpp/${adapter}/include"
    "${CMAKE_CURRENT_SOURCE_DIR}/tests/sim/${sdk}" ${VOXSHELL_EXAMPLES_DIRS})
  if(TARGET voxshell::${adapter})
    add_executable(device.${adapter} EXCLUDE_FROM_ALL "${source}")
    target_link_libraries(device.${adapter} PRIVATE voxshell::${adapter} Threads::Threads)
    target_include_directories(device.${adapter} PRIVATE ${VOXSHELL_EXAMPLES_DIRS})
    set_target_properties(device.${adapter} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests"
      CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  endif()
endfunction()
voxshell_add_device_example(chai3d chai3d)
voxshell_add_device_example(haption virtuose)
voxshell_add_device_example(forcedimension dhd)
voxshell_add_device_example(openhaptics hdapi)
if(TARGET voxshell::haply)
  voxshell_add_device_example(haply inverse)
  target_link_libraries(example.haply PRIVATE voxshell::haply)
endif()
if(VOXSHELL_TEST_SCRIPTS AND NOT VOXSHELL_SANITIZE)
  add_test(NAME example.device_script COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/cpp/examples/run"
    --build "${CMAKE_BINARY_DIR}" forcedimension)
  set_tests_properties(example.device_script PROPERTIES TIMEOUT 600 RUN_SERIAL ON
    PASS_REGULAR_EXPRESSION "== forcedimension.*largest force [1-9].*the ball came down to 11")
endif()

# The MuJoCo plugin in the wheel of MuJoCo, which the script installs; skipped where pip cannot.
if(VOXSHELL_TEST_SCRIPTS AND NOT VOXSHELL_SANITIZE)
  add_test(NAME mujoco.plugin COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/tests/mujoco/run" "${CMAKE_BINARY_DIR}/mujoco"
    "${VOXSHELL_CARGO_DIR}" $<TARGET_FILE:voxshell>)
  set_tests_properties(mujoco.plugin PROPERTIES TIMEOUT 900 SKIP_REGULAR_EXPRESSION "^skipped" RESOURCE_LOCK mujoco)
endif()

# The Python wheel, in an environment with maturin, NumPy and pytest; skipped where pip cannot install them.
if(VOXSHELL_TEST_SCRIPTS AND NOT VOXSHELL_SANITIZE)
  add_test(NAME python.wheel COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/python/tests/run" "${CMAKE_BINARY_DIR}/python"
    "${VOXSHELL_CARGO_DIR}")
  set_tests_properties(python.wheel PROPERTIES TIMEOUT 1500 SKIP_REGULAR_EXPRESSION "^skipped" RUN_SERIAL ON
    ENVIRONMENT "VOXSHELL_MUJOCO_BUILD=${CMAKE_BINARY_DIR}/mujoco")
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
if(ABIDIFF_EXECUTABLE AND VOXSHELL_TEST_SCRIPTS)
  add_test(NAME abi.last_release COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/tests/abi/check")
  add_test(NAME abi.deliberate_changes_are_noticed COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/tests/abi/check" --deliberate)
else()
  message(STATUS "abidiff was not found: the ABI is not compared with the last release (Debian and Ubuntu: abigail-tools)")
endif()

if(UNIX AND NOT APPLE) # nm reads the files of other processors too
  add_test(NAME exports.only_vxs
    COMMAND "${CMAKE_COMMAND}" -DNM=${CMAKE_NM} -DLIBRARY=$<TARGET_FILE:voxshell>
            -DHEADER=${CMAKE_CURRENT_SOURCE_DIR}/include/voxshell/voxshell.h
            -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/CheckExports.cmake")
endif()

# The package, by every route that a user may take.
if(VOXSHELL_TEST_SCRIPTS AND VOXSHELL_INSTALL AND TARGET voxshell::bullet)
  set(routes install find_package)
  if(VOXSHELL_TEST_EVERYTHING)
    list(APPEND routes pkg_config add_subdirectory fetch_content)
    if(VOXSHELL_SHLIBDEPS)
      list(APPEND routes debian)
    endif()
  endif()
  foreach(route IN LISTS routes)
    add_test(NAME package.${route} COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/tests/package/run" ${route} "${CMAKE_BINARY_DIR}")
    set_tests_properties(package.${route} PROPERTIES TIMEOUT 600 LABELS package)
  endforeach()
endif()

# The same scenes in each physics engine, and in none.
include("${CMAKE_CURRENT_SOURCE_DIR}/tests/conformance/conformance.cmake")
