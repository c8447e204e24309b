# One program for each of tests/c, tests/cpp, tests/host, tests/sim and tests/bullet, and one ctest entry per file.
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

# Settings of every test program.
function(voxshell_set_up_test_target target)
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests"
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  if(NOT MSVC)
    target_compile_options(${target} PRIVATE -Wall -Wextra $<$<NOT:$<BOOL:${VOXSHELL_SANITIZE}>>:-Werror>)
    # The core, Bullet and the plugin take the time of a test, not its own code: little optimisation, and debug
    # information for call stacks only. Debug builds keep theirs.
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1 -g1>)
  endif()
  # The tests consist of asserts, which stay on in every build type.
  target_compile_options(${target} PRIVATE -UNDEBUG)
  # As cmake/RustCore.cmake builds the core.
  target_compile_definitions(${target} PRIVATE VOXSHELL_ALLOCATION_COUNTER)
endfunction()

# Adds the ctest entry `name`, which runs the target with the arguments, and the same under valgrind. Each runs in a folder of
# its own: the same program may run twice at once, in both precisions or under valgrind, and write the same files.
function(voxshell_register_test name target)
  set(folder "${CMAKE_BINARY_DIR}/tests/in")
  file(MAKE_DIRECTORY "${folder}/${name}" "${folder}/valgrind.${name}")
  add_test(NAME ${name} COMMAND ${target} ${ARGN} WORKING_DIRECTORY "${folder}/${name}")
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
              --error-exitcode=97 "--suppressions=${CMAKE_CURRENT_SOURCE_DIR}/tests/valgrind.supp" $<TARGET_FILE:${target}> ${ARGN}
      WORKING_DIRECTORY "${folder}/valgrind.${name}")
    set_tests_properties(valgrind.${name} PROPERTIES TIMEOUT 1200 LABELS valgrind ENVIRONMENT VOXSHELL_VALGRIND=1)
  endif()
endfunction()

# Adds a program with one test; both are called `name`. Further arguments: the libraries.
function(voxshell_add_test name source)
  add_executable(${name} "${source}")
  target_link_libraries(${name} PRIVATE ${ARGN})
  voxshell_set_up_test_target(${name})
  voxshell_register_test(${name} ${name})
endfunction()

# Adds a program with the tests <group>.<file>, one for each of SOURCES, linked to LIBRARIES. The program runs the test
# that its argument names: `bullet_tests pile`. A generated file includes each source and gives its main function, which
# has no parameters, a name of its own; the rest of the source is static or in an anonymous namespace. (With -Dmain=… GCC
# would refuse the precompiled header.)
function(voxshell_add_test_program program group)
  cmake_parse_arguments(PARSE_ARGV 2 PROGRAM "" "" "SOURCES;LIBRARIES")
  set(VOXSHELL_TEST_PROGRAM ${program})
  set(VOXSHELL_TEST_DECLARATIONS)
  set(VOXSHELL_TEST_ROWS)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/test_programs/${program}")
  set(files)
  foreach(source IN LISTS PROGRAM_SOURCES)
    get_filename_component(name "${source}" NAME_WE)
    get_filename_component(extension "${source}" EXT)
    set(function "voxshell_test_${name}")
    file(CONFIGURE OUTPUT "${folder}/${name}${extension}" CONTENT "#define main ${function}\n#include \"${source}\"\n" @ONLY)
    list(APPEND files "${folder}/${name}${extension}")
    string(APPEND VOXSHELL_TEST_DECLARATIONS "int ${function}(void);\n")
    string(APPEND VOXSHELL_TEST_ROWS "    {\"${name}\", ${function}},\n")
    voxshell_register_test(${group}.${name} ${program} ${name})
  endforeach()
  # In the language of the tests; it needs no precompiled header.
  set(driver "${folder}/${program}${extension}")
  configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/test_program.c.in" "${driver}" @ONLY)
  set_source_files_properties("${driver}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  add_executable(${program} "${driver}" ${files})
  target_link_libraries(${program} PRIVATE ${PROGRAM_LIBRARIES})
  voxshell_set_up_test_target(${program})
endfunction()

if(WIN32) # programs look for DLLs beside themselves
  set_target_properties(voxshell PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
endif()

find_package(Threads REQUIRED)
file(GLOB C_TESTS CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/c/*.c")
voxshell_add_test_program(c_tests c SOURCES ${C_TESTS} LIBRARIES voxshell::voxshell Threads::Threads m)
include("${CMAKE_CURRENT_LIST_DIR}/Functions.cmake")
voxshell_layout_asserts("${CMAKE_CURRENT_SOURCE_DIR}/src/capi/layout.rs" "${CMAKE_CURRENT_BINARY_DIR}/test_programs/layout_asserts.h")
target_include_directories(c_tests PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/test_programs")
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
  # The same calls while the system refuses memory, threads and room on the disk. It needs the heap of glibc.
  include(CheckSymbolExists)
  check_symbol_exists(mallinfo2 malloc.h VOXSHELL_HAS_MALLINFO2)
  if(VOXSHELL_HAS_MALLINFO2 AND NOT VOXSHELL_SANITIZE)
    voxshell_add_test(fuzz.faults "${CMAKE_CURRENT_SOURCE_DIR}/tests/fuzz/faults.c" voxshell::voxshell Threads::Threads ${CMAKE_DL_LIBS} m)
  else()
    add_test(NAME fuzz.faults COMMAND "${CMAKE_COMMAND}" -E echo "skipped: needs glibc 2.33 and no sanitizer")
    set_tests_properties(fuzz.faults PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped")
  endif()
endif()
# The same test with the static library, of which package.find_package runs a part too. (ThreadSanitizer has its additions
# in the shared library.)
if(VOXSHELL_TEST_EVERYTHING AND NOT VOXSHELL_SANITIZE STREQUAL "thread")
  voxshell_add_test(c.contacts.static "${CMAKE_CURRENT_SOURCE_DIR}/tests/c/contacts.c" voxshell::static m)
endif()

file(GLOB CPP_TESTS CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp/*.cpp")
# Compiled without exceptions, so a program of its own.
set(no_exceptions "${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp/no_exceptions.cpp")
list(REMOVE_ITEM CPP_TESTS "${no_exceptions}")
voxshell_add_test_program(cpp_tests cpp SOURCES ${CPP_TESTS} LIBRARIES voxshell::voxshell Threads::Threads)
voxshell_add_test(cpp.no_exceptions "${no_exceptions}" voxshell::voxshell Threads::Threads)
if(NOT MSVC)
  target_compile_options(cpp.no_exceptions PRIVATE -fno-exceptions -fno-rtti)
endif()

# What the adapters to engines share.
include("${CMAKE_CURRENT_SOURCE_DIR}/cpp/host/host.cmake")
voxshell_add_host()
file(GLOB HOST_TESTS CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/host/*.cpp")
voxshell_add_test_program(host_tests host SOURCES ${HOST_TESTS} LIBRARIES voxshell::host Threads::Threads)

# Simulators of the SDKs of haptic devices: one object library voxshell_sim_SDK each.
set(VOXSHELL_SIMULATED_ADAPTERS chai3d haption forcedimension openhaptics)
set(VOXSHELL_SDK_OF_chai3d chai3d)
set(VOXSHELL_SDK_OF_haption virtuose)
set(VOXSHELL_SDK_OF_forcedimension dhd)
set(VOXSHELL_SDK_OF_openhaptics hdapi)
set(VOXSHELL_SDK_OF_haply inverse)
# Haply's SDK is a service: its simulator is a server on the loopback.
if(TARGET voxshell::haply)
  list(APPEND VOXSHELL_SIMULATED_ADAPTERS haply)
else()
  add_test(NAME sim.haply COMMAND "${CMAKE_COMMAND}" -E echo
    "skipped: voxshell::haply: Boost or nlohmann_json was not found (Debian: libboost-dev, nlohmann-json3-dev)")
  set_tests_properties(sim.haply PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped")
endif()

# Gives a target the adapter's headers and the simulator of its SDK.
function(voxshell_link_simulator target adapter)
  set(sdk ${VOXSHELL_SDK_OF_${adapter}})
  set(simulator voxshell_sim_${sdk})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/sim/${sdk}/*.cpp")
  if(sources AND NOT TARGET ${simulator})
    add_library(${simulator} OBJECT ${sources})
    target_include_directories(${simulator} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/tests/sim/${sdk}" "${CMAKE_CURRENT_SOURCE_DIR}/tests/sim")
    target_link_libraries(${simulator} PRIVATE voxshell::voxshell $<TARGET_NAME_IF_EXISTS:voxshell::${adapter}>)
    voxshell_set_up_test_target(${simulator})
  endif()
  if(sources)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${simulator}>)
  endif()
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/cpp/${adapter}/include"
    "${CMAKE_CURRENT_SOURCE_DIR}/tests/sim/${sdk}" "${CMAKE_CURRENT_SOURCE_DIR}/tests/sim")
  if(adapter STREQUAL "haply")
    target_link_libraries(${target} PRIVATE voxshell::haply)
  endif()
endfunction()

# The adapters, each over the simulator of its SDK.
list(TRANSFORM VOXSHELL_SIMULATED_ADAPTERS REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/tests/sim/\\1.cpp" OUTPUT_VARIABLE sources)
voxshell_add_test_program(sim_tests sim SOURCES ${sources} LIBRARIES voxshell::voxshell Threads::Threads)
foreach(adapter IN LISTS VOXSHELL_SIMULATED_ADAPTERS)
  voxshell_link_simulator(sim_tests ${adapter})
endforeach()
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

# Adds the program <prefix>_tests with the tests <prefix>.<file>, linked to a Bullet plugin. Further arguments: names of
# the tests to add; all if there are none.
function(voxshell_add_bullet_tests prefix plugin)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/bullet/*.cpp")
  set(selected)
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    if(NOT ARGN OR name IN_LIST ARGN)
      list(APPEND selected "${source}")
    endif()
  endforeach()
  # It replaces malloc, so it is a program of its own.
  set(allocations "${CMAKE_CURRENT_SOURCE_DIR}/tests/bullet/allocations.cpp")
  list(REMOVE_ITEM selected "${allocations}")
  voxshell_add_test_program(${prefix}_tests ${prefix} SOURCES ${selected} LIBRARIES ${plugin} Threads::Threads)
  voxshell_add_test(${prefix}.allocations "${allocations}" ${plugin} Threads::Threads)
  # This library only has the precompiled header. GCC refuses one whose definitions a program lacks, but not one that
  # lacks definitions of the program.
  set(empty "${CMAKE_CURRENT_BINARY_DIR}/test_programs/${prefix}_precompiled.cpp")
  file(CONFIGURE OUTPUT "${empty}" CONTENT "" @ONLY)
  add_library(${prefix}_precompiled OBJECT "${empty}")
  target_link_libraries(${prefix}_precompiled PRIVATE ${plugin} Threads::Threads)
  voxshell_set_up_test_target(${prefix}_precompiled)
  target_precompile_headers(${prefix}_precompiled PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/cpp/bullet/precompiled_world.h")
  foreach(target ${prefix}_tests ${prefix}.allocations)
    target_precompile_headers(${target} REUSE_FROM ${prefix}_precompiled)
    # The contact rules of the plugin are tested below its public headers.
    target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/cpp/bullet/src")
    target_compile_definitions(${target} PRIVATE "VOXSHELL_SOURCE_DIR=\"${CMAKE_CURRENT_SOURCE_DIR}\"")
  endforeach()
endfunction()
if(TARGET voxshell::bullet)
  voxshell_add_bullet_tests(bullet voxshell::bullet)
  # What reads .bullet files is among Bullet's extras.
  string(REPLACE "BulletDynamics" "BulletWorldImporter" IMPORTER "${BULLET_DYNAMICS_LIBRARY}")
  string(REPLACE "BulletDynamics" "BulletFileLoader" FILE_LOADER "${BULLET_DYNAMICS_LIBRARY}")
  if(EXISTS "${IMPORTER}" AND EXISTS "${FILE_LOADER}")
    target_link_libraries(bullet_tests PRIVATE "${IMPORTER}" "${FILE_LOADER}")
    target_compile_definitions(bullet_tests PRIVATE VOXSHELL_TEST_IMPORTER)
  endif()
  # Scenes of the ordinary world from a few seeds; `tests/campaign ctest` draws a thousand of each class.
  file(GLOB VOXSHELL_SCENES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/world/scenes/*.cpp")
  voxshell_add_test_program(scene_tests scene SOURCES ${VOXSHELL_SCENES} LIBRARIES voxshell::bullet Threads::Threads)
  target_include_directories(scene_tests PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/cpp/bullet/src")
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
    target_precompile_headers(voxshell_bullet64 PRIVATE "${VOXSHELL_BULLET_PRECOMPILED}")
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
foreach(adapter IN LISTS VOXSHELL_SIMULATED_ADAPTERS)
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/cpp/${adapter}/examples/touch.cpp")
  voxshell_add_test(example.${adapter} "${source}" voxshell::voxshell Threads::Threads)
  voxshell_link_simulator(example.${adapter} ${adapter})
  target_compile_definitions(example.${adapter} PRIVATE VOXSHELL_SIMULATED_DEVICE)
  target_include_directories(example.${adapter} PRIVATE ${VOXSHELL_EXAMPLES_DIRS})
  if(TARGET voxshell::${adapter})
    add_executable(device.${adapter} EXCLUDE_FROM_ALL "${source}")
    target_link_libraries(device.${adapter} PRIVATE voxshell::${adapter} Threads::Threads)
    target_include_directories(device.${adapter} PRIVATE ${VOXSHELL_EXAMPLES_DIRS})
    set_target_properties(device.${adapter} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests"
      CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  endif()
endforeach()
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

# The Python wheel, in an environment with maturin, NumPy and pytest; skipped where pip cannot install them. It compiles the
# core again, for four minutes.
if(VOXSHELL_TEST_SCRIPTS AND VOXSHELL_TEST_EVERYTHING AND NOT VOXSHELL_SANITIZE)
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
    target_precompile_headers(example.${name} REUSE_FROM bullet_precompiled)
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
