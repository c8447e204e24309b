# Adapters for the SDKs of haptic devices: headers, compiled by whoever uses them, against an SDK of their own. For each
# SDK that is found there is a target that brings along its headers and libraries; the adapters are installed in any
# case.
#
#   voxshell::chai3d, voxshell::haption, voxshell::forcedimension, voxshell::openhaptics, voxshell::haply
#
# Haply's SDK is a service that the adapter talks to: voxshell::haply needs Boost 1.70 (Beast) and nlohmann_json 3
# (Debian: libboost-dev, nlohmann-json3-dev), found by their own packages (Boost_DIR, nlohmann_json_DIR).
#
# CHAI3D is found by its own find_package(chai3d), which needs chai3d_DIR (its build directory). Where an SDK is, if
# CMake does not find it: VOXSHELL_CHAI3D_INCLUDE_DIR (the directory with tools/CGenericTool.h),
# VOXSHELL_HAPTION_INCLUDE_DIR (VirtuoseAPI.h), VOXSHELL_FORCEDIMENSION_INCLUDE_DIR (dhdc.h and drdc.h),
# VOXSHELL_OPENHAPTICS_INCLUDE_DIR (HD/hd.h), and the same with _LIBRARY. Included by Voxshell's build and by the
# installed package.

# Makes voxshell::ADAPTER, which compiles as C++17.
function(voxshell_add_device adapter)
  add_library(voxshell_${adapter} INTERFACE)
  target_compile_features(voxshell_${adapter} INTERFACE cxx_std_17)
  # CHAI3D's templates put -std=c++11 into CMAKE_CXX_FLAGS, and CMake adds no flag for what is the compiler's default.
  if(CMAKE_CXX_FLAGS MATCHES "-std=(c|gnu)\\+\\+(98|03|0x|11|1y|14)")
    target_compile_options(voxshell_${adapter} INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-std=${CMAKE_MATCH_1}++17>)
  endif()
  target_include_directories(voxshell_${adapter} INTERFACE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${adapter}/include")
  target_link_libraries(voxshell_${adapter} INTERFACE voxshell::voxshell)
  add_library(voxshell::${adapter} ALIAS voxshell_${adapter})
endfunction()

# Links libraries that the SDK's own library needs: those that are found, and the rest by name if REQUIRED.
function(voxshell_link_needed adapter)
  cmake_parse_arguments(needed "" "" "REQUIRED;OPTIONAL" ${ARGN})
  foreach(library IN LISTS needed_REQUIRED needed_OPTIONAL)
    find_library(VOXSHELL_LIBRARY_${library} NAMES ${library} DOC "${library}, for the SDKs of haptic devices")
    mark_as_advanced(VOXSHELL_LIBRARY_${library})
    if(VOXSHELL_LIBRARY_${library})
      target_link_libraries(voxshell_${adapter} INTERFACE "${VOXSHELL_LIBRARY_${library}}")
    elseif(library IN_LIST needed_REQUIRED)
      target_link_libraries(voxshell_${adapter} INTERFACE "${library}")
    endif()
  endforeach()
endfunction()

# Finds an SDK and makes its target, if there is none yet. header: of the SDK; LIBRARIES: names of its library;
# SUFFIXES: of directories with the header; ROOTS: directories to look in; LIBRARY_SUFFIXES: of directories with the
# library, in or beside the headers' directory or in the roots.
function(voxshell_find_device adapter header)
  cmake_parse_arguments(sdk "" "" "LIBRARIES;SUFFIXES;ROOTS;LIBRARY_SUFFIXES" ${ARGN})
  string(TOUPPER "${adapter}" name)
  find_path(VOXSHELL_${name}_INCLUDE_DIR "${header}" HINTS ${sdk_ROOTS} PATH_SUFFIXES include ${sdk_SUFFIXES}
    DOC "Where ${header} is, for voxshell::${adapter}")
  set(beside)
  if(VOXSHELL_${name}_INCLUDE_DIR)
    get_filename_component(beside "${VOXSHELL_${name}_INCLUDE_DIR}/.." ABSOLUTE)
    list(APPEND beside "${VOXSHELL_${name}_INCLUDE_DIR}")
  endif()
  find_library(VOXSHELL_${name}_LIBRARY NAMES ${sdk_LIBRARIES} HINTS ${beside} ${sdk_ROOTS}
    PATH_SUFFIXES lib lib64 ${sdk_LIBRARY_SUFFIXES} DOC "The SDK's library, for voxshell::${adapter}")
  mark_as_advanced(VOXSHELL_${name}_INCLUDE_DIR VOXSHELL_${name}_LIBRARY)
  if(NOT VOXSHELL_${name}_INCLUDE_DIR)
    return()
  endif()
  voxshell_add_device(${adapter})
  target_include_directories(voxshell_${adapter} SYSTEM INTERFACE "${VOXSHELL_${name}_INCLUDE_DIR}")
  if(VOXSHELL_${name}_LIBRARY)
    target_link_libraries(voxshell_${adapter} INTERFACE "${VOXSHELL_${name}_LIBRARY}")
  endif()
endfunction()

# CHAI3D 3.3: its own package knows its Eigen, GLEW, DHD and the system's libraries. Without the package,
# VOXSHELL_CHAI3D_INCLUDE_DIR leads to its sources, and these to the rest.
function(voxshell_find_chai3d)
  if(NOT TARGET chai3d AND NOT VOXSHELL_CHAI3D_INCLUDE_DIR)
    find_package(chai3d 3.3 QUIET CONFIG)
  endif()
  if(CHAI3D_INCLUDE_DIRS)
    set(imported FALSE)
    if(TARGET chai3d)
      get_target_property(imported chai3d IMPORTED)
    endif()
    if(imported)
      # Other directories link it too, by its name.
      set_target_properties(chai3d PROPERTIES IMPORTED_GLOBAL TRUE)
    endif()
    voxshell_add_device(chai3d)
    target_include_directories(voxshell_chai3d SYSTEM INTERFACE ${CHAI3D_INCLUDE_DIRS})
    target_link_directories(voxshell_chai3d INTERFACE ${CHAI3D_LIBRARY_DIRS})
    target_compile_definitions(voxshell_chai3d INTERFACE ${CHAI3D_DEFINITIONS})
    target_link_libraries(voxshell_chai3d INTERFACE ${CHAI3D_LIBRARIES})
  else()
    voxshell_find_device(chai3d tools/CGenericTool.h LIBRARIES chai3d SUFFIXES chai3d chai3d/src)
    if(NOT TARGET voxshell::chai3d)
      return()
    endif()
    get_filename_component(externals "${VOXSHELL_CHAI3D_INCLUDE_DIR}/../externals" ABSOLUTE)
    foreach(directory IN ITEMS Eigen glew/include)
      if(EXISTS "${externals}/${directory}")
        target_include_directories(voxshell_chai3d SYSTEM INTERFACE "${externals}/${directory}")
      endif()
    endforeach()
    set(dhd "${externals}/DHD/lib/lin-${CMAKE_SYSTEM_PROCESSOR}" "${externals}/DHD/lib/mac-${CMAKE_SYSTEM_PROCESSOR}")
    find_library(VOXSHELL_CHAI3D_DRD_LIBRARY NAMES drd HINTS ${dhd}
      DOC "drd, of Force Dimension, in CHAI3D's externals")
    mark_as_advanced(VOXSHELL_CHAI3D_DRD_LIBRARY)
    if(VOXSHELL_CHAI3D_DRD_LIBRARY)
      target_link_libraries(voxshell_chai3d INTERFACE "${VOXSHELL_CHAI3D_DRD_LIBRARY}")
    endif()
    if(WIN32) # untested
      target_link_libraries(voxshell_chai3d INTERFACE opengl32 glu32 winmm)
    elseif(APPLE) # untested
      foreach(framework IN ITEMS OpenGL CoreFoundation IOKit CoreAudio AudioToolbox CoreMIDI Cocoa)
        target_link_libraries(voxshell_chai3d INTERFACE "-framework ${framework}")
      endforeach()
    else()
      voxshell_link_needed(chai3d OPTIONAL GLEW REQUIRED GL GLU usb-1.0 asound)
      target_link_libraries(voxshell_chai3d INTERFACE rt pthread dl)
    endif()
  endif()
  # CHAI3D's headers know the system by these names, which its templates define.
  if(WIN32) # untested
    target_compile_definitions(voxshell_chai3d INTERFACE $<IF:$<EQUAL:${CMAKE_SIZEOF_VOID_P},8>,WIN64,WIN32>)
  elseif(APPLE) # untested
    target_compile_definitions(voxshell_chai3d INTERFACE MACOSX)
  else()
    target_compile_definitions(voxshell_chai3d INTERFACE LINUX)
  endif()
endfunction()

# Finds a package for its target, unless the project has this target already.
function(voxshell_find_headers package version target)
  if(NOT TARGET ${target})
    find_package(${package} ${version} QUIET CONFIG)
    if(TARGET ${target})
      # Other directories link it too, by its name.
      set_target_properties(${target} PROPERTIES IMPORTED_GLOBAL TRUE)
    endif()
  endif()
endfunction()

# A WebSocket and JSON, both of headers only.
function(voxshell_find_haply)
  voxshell_find_headers(Boost 1.70 Boost::headers)
  voxshell_find_headers(nlohmann_json 3 nlohmann_json::nlohmann_json)
  if(NOT TARGET Boost::headers OR NOT TARGET nlohmann_json::nlohmann_json)
    return()
  endif()
  voxshell_add_device(haply)
  target_link_libraries(voxshell_haply INTERFACE Boost::headers nlohmann_json::nlohmann_json)
  if(WIN32) # untested
    target_link_libraries(voxshell_haply INTERFACE ws2_32)
  else()
    target_link_libraries(voxshell_haply INTERFACE pthread)
  endif()
endfunction()

function(voxshell_find_devices)
  set(system "${CMAKE_SYSTEM_PROCESSOR}")
  if(NOT TARGET voxshell::chai3d)
    voxshell_find_chai3d()
  endif()

  if(NOT TARGET voxshell::haply)
    voxshell_find_haply()
  endif()

  if(NOT TARGET voxshell::haption)
    # On Windows the import library is virtuoseDLL.
    voxshell_find_device(haption VirtuoseAPI.h LIBRARIES VirtuoseAPI virtuose virtuoseAPI virtuoseDLL
      LIBRARY_SUFFIXES linux/lib/x64 linux-x86_64 linux bin win64 Win64 x64)
    if(TARGET voxshell::haption)
      if(WIN32) # untested
        target_link_libraries(voxshell_haption INTERFACE ws2_32)
      else()
        # Version 4.04 needs tirpc; earlier ones have their own.
        voxshell_link_needed(haption OPTIONAL tirpc)
        target_link_libraries(voxshell_haption INTERFACE pthread)
      endif()
    endif()
  endif()

  if(NOT TARGET voxshell::forcedimension)
    # drd contains dhd. On Windows they are named for their size.
    voxshell_find_device(forcedimension drdc.h LIBRARIES drd drdms64 drdms
      LIBRARY_SUFFIXES lib/release/lin-${system}-gcc lib/lin-${system} lib/mac-${system} lib/release/mac-${system}-clang
                       lib/win-x64)
    if(TARGET voxshell::forcedimension)
      if(WIN32) # untested
        target_compile_definitions(voxshell_forcedimension INTERFACE
          $<IF:$<EQUAL:${CMAKE_SIZEOF_VOID_P},8>,WIN64,WIN32>)
        get_filename_component(directory "${VOXSHELL_FORCEDIMENSION_LIBRARY}" DIRECTORY)
        find_library(VOXSHELL_FORCEDIMENSION_DHD_LIBRARY NAMES dhdms64 dhdms HINTS "${directory}"
          DOC "dhd, for voxshell::forcedimension")
        mark_as_advanced(VOXSHELL_FORCEDIMENSION_DHD_LIBRARY)
        if(VOXSHELL_FORCEDIMENSION_DHD_LIBRARY)
          target_link_libraries(voxshell_forcedimension INTERFACE "${VOXSHELL_FORCEDIMENSION_DHD_LIBRARY}")
        endif()
      elseif(APPLE) # untested
        target_link_libraries(voxshell_forcedimension INTERFACE "-framework IOKit" "-framework CoreFoundation")
      else()
        voxshell_link_needed(forcedimension REQUIRED usb-1.0)
        target_link_libraries(voxshell_forcedimension INTERFACE rt pthread dl)
      endif()
    endif()
  endif()

  if(NOT TARGET voxshell::openhaptics)
    voxshell_find_device(openhaptics HD/hd.h LIBRARIES HD hd ROOTS "$ENV{OH_SDK_BASE}" "$ENV{3DTOUCH_BASE}"
      LIBRARY_SUFFIXES lib/x64/Release lib/x64/ReleaseAcademicEdition)
  endif()
endfunction()
