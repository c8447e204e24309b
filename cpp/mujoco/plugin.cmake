# The MuJoCo plugin: a library that MuJoCo 4.0 loads with mj_loadPluginLibrary. It holds the core and what hosts share, and
# finds MuJoCo's functions in the process, so that only MuJoCo's headers are needed to build it.
#
#   MUJOCO_DIR  directory with include/mujoco/mujoco.h: a release of MuJoCo, or the folder mujoco of the Python wheel.
#               Without it the wheel of the Python interpreter that CMake finds is used.

# Sets `out` to the directory of Python's module mujoco; empty if there is none.
function(voxshell_find_mujoco_wheel out)
  set(${out} "" PARENT_SCOPE)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(Python3_Interpreter_FOUND)
    execute_process(COMMAND "${Python3_EXECUTABLE}" -c
      "import importlib.util as u; s = u.find_spec('mujoco'); print(s.submodule_search_locations[0] if s else '', end='')"
      OUTPUT_VARIABLE found ERROR_QUIET)
    set(${out} "${found}" PARENT_SCOPE)
  endif()
endfunction()

# Adds the target voxshell_mujoco.
function(voxshell_add_mujoco)
  set(here "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  set(MUJOCO_DIR "" CACHE PATH "Directory with include/mujoco/mujoco.h of MuJoCo 4.0")
  if(NOT MUJOCO_DIR)
    voxshell_find_mujoco_wheel(wheel)
  endif()
  find_path(MUJOCO_INCLUDE_DIR mujoco/mjplugin.h HINTS "${MUJOCO_DIR}" "${wheel}" PATH_SUFFIXES include
    DOC "Directory with mujoco/mjplugin.h")
  mark_as_advanced(MUJOCO_INCLUDE_DIR)
  if(NOT MUJOCO_INCLUDE_DIR)
    message(FATAL_ERROR "VOXSHELL_BUILD_MUJOCO needs the headers of MuJoCo 4.0: set MUJOCO_DIR, or pip install mujoco")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${here}/src/*.cpp" "${here}/../host/src/*.cpp")
  add_library(voxshell_mujoco MODULE ${sources})
  set_target_properties(voxshell_mujoco PROPERTIES
    CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS "${VOXSHELL_RUST_LIBRARY};${here}/exports.map")
  target_include_directories(voxshell_mujoco PRIVATE "${here}/../host/include")
  target_include_directories(voxshell_mujoco SYSTEM PRIVATE "${MUJOCO_INCLUDE_DIR}")
  # The static core: a plugin is one file, and does not care which libvoxshell the process has besides.
  target_link_libraries(voxshell_mujoco PRIVATE voxshell::static)
  if(NOT MSVC)
    target_compile_options(voxshell_mujoco PRIVATE -Wall -Wextra)
  endif()
  if(UNIX AND NOT APPLE)
    target_link_options(voxshell_mujoco PRIVATE "LINKER:--version-script,${here}/exports.map" LINKER:--gc-sections
      LINKER:--no-undefined)
    target_link_libraries(voxshell_mujoco PRIVATE gcc_s)
  endif()
  if(VOXSHELL_INSTALL)
    install(TARGETS voxshell_mujoco LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/mujoco_plugin")
  endif()
endfunction()

# Adds the target conformance_mujoco, the host of the conformance suite (tests/conformance/hosts/mujoco). It links MuJoCo's
# library, which lies in the wheel beside the headers and in a release in lib/.
function(voxshell_add_mujoco_host)
  set(suite "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../tests/conformance")
  get_filename_component(mujoco "${MUJOCO_INCLUDE_DIR}" DIRECTORY)
  file(GLOB libraries "${mujoco}/libmujoco.so*" "${mujoco}/lib/libmujoco.so*")
  if(NOT libraries)
    message(FATAL_ERROR "VOXSHELL_BUILD_MUJOCO_HOST needs MuJoCo's library, which is not in ${mujoco}")
  endif()
  list(GET libraries 0 library)
  include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../host/host.cmake")
  voxshell_add_host()
  add_executable(conformance_mujoco EXCLUDE_FROM_ALL "${suite}/hosts/mujoco.cpp")
  foreach(file main scenes run bodies report)
    target_sources(conformance_mujoco PRIVATE "${suite}/${file}.cpp")
  endforeach()
  set_target_properties(conformance_mujoco PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  target_include_directories(conformance_mujoco SYSTEM PRIVATE "${MUJOCO_INCLUDE_DIR}")
  target_link_libraries(conformance_mujoco PRIVATE voxshell::host "${library}")
  if(NOT MSVC)
    target_compile_options(conformance_mujoco PRIVATE -Wall -Wextra)
  endif()
endfunction()
