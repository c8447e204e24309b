# Adapters for the SDKs of haptic devices: headers, compiled by whoever uses them, against an SDK of their own. For each SDK that is
# found there is a target that brings along its headers and library; the adapters are installed in any case.
#
#   voxshell::chai3d, voxshell::haption, voxshell::forcedimension, voxshell::openhaptics
#
# Where an SDK is, if CMake does not find it: VOXSHELL_CHAI3D_INCLUDE_DIR (the directory with tools/CGenericTool.h),
# VOXSHELL_HAPTION_INCLUDE_DIR (VirtuoseAPI.h), VOXSHELL_FORCEDIMENSION_INCLUDE_DIR (dhdc.h), VOXSHELL_OPENHAPTICS_INCLUDE_DIR
# (HD/hd.h), and the same with _LIBRARY. Included by Voxshell's build and by the installed package.

# adapter: its name; header: of the SDK; libraries: names of the SDK's library
function(voxshell_find_device adapter header libraries)
  if(TARGET voxshell::${adapter})
    return()
  endif()
  set(here "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  string(TOUPPER "${adapter}" name)
  find_path(VOXSHELL_${name}_INCLUDE_DIR "${header}" ${ARGN} DOC "Where ${header} is, for voxshell::${adapter}")
  find_library(VOXSHELL_${name}_LIBRARY NAMES ${libraries} DOC "The SDK's library, for voxshell::${adapter}")
  mark_as_advanced(VOXSHELL_${name}_INCLUDE_DIR VOXSHELL_${name}_LIBRARY)
  if(NOT VOXSHELL_${name}_INCLUDE_DIR)
    return()
  endif()
  add_library(voxshell_${adapter} INTERFACE)
  target_compile_features(voxshell_${adapter} INTERFACE cxx_std_17)
  target_include_directories(voxshell_${adapter} INTERFACE "${here}/${adapter}/include")
  target_include_directories(voxshell_${adapter} SYSTEM INTERFACE "${VOXSHELL_${name}_INCLUDE_DIR}")
  target_link_libraries(voxshell_${adapter} INTERFACE voxshell::voxshell)
  if(VOXSHELL_${name}_LIBRARY)
    target_link_libraries(voxshell_${adapter} INTERFACE "${VOXSHELL_${name}_LIBRARY}")
  endif()
  add_library(voxshell::${adapter} ALIAS voxshell_${adapter})
endfunction()

function(voxshell_find_devices)
  voxshell_find_device(chai3d tools/CGenericTool.h chai3d PATH_SUFFIXES chai3d chai3d/src)
  voxshell_find_device(haption VirtuoseAPI.h "VirtuoseAPI;virtuose")
  voxshell_find_device(forcedimension dhdc.h dhd)
  voxshell_find_device(openhaptics HD/hd.h "HD;hd")
endfunction()
