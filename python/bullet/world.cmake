# The library of the Python module voxshell.bullet: the Bullet plugin and a world, over the Bullet in double precision that is
# installed. python/build puts it and Bullet's libraries into the wheel, side by side. The core is not in it: the extension module
# of the package, which lies beside it too, has the C API.
function(voxshell_add_python_bullet)
  set(here "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  set(libraries "")
  foreach(name BulletDynamics BulletCollision LinearMath)
    find_library(VOXSHELL_${name}_FLOAT64 NAMES ${name}-float64 NO_CACHE)
    if(NOT VOXSHELL_${name}_FLOAT64)
      message(FATAL_ERROR "VOXSHELL_BUILD_PYTHON_BULLET needs ${name} in double precision (Debian: libbullet-dev)")
    endif()
    list(APPEND libraries "${VOXSHELL_${name}_FLOAT64}")
  endforeach()
  find_path(VOXSHELL_BULLET64_INCLUDE btBulletDynamicsCommon.h PATH_SUFFIXES bullet)

  # An empty library with the name of the extension module, so that the loader looks for that one.
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/python_core.c" "int voxshell_python_core;\n")
  add_library(voxshell_python_core SHARED "${CMAKE_CURRENT_BINARY_DIR}/python_core.c")
  set_target_properties(voxshell_python_core PROPERTIES PREFIX "" OUTPUT_NAME _core.abi3)

  file(GLOB sources CONFIGURE_DEPENDS "${here}/../../cpp/bullet/src/*.cpp")
  add_library(voxshell_python_bullet MODULE "${here}/world.cpp" ${sources})
  set_target_properties(voxshell_python_bullet PROPERTIES OUTPUT_NAME voxshell_bullet
    CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
  target_compile_definitions(voxshell_python_bullet PRIVATE BT_USE_DOUBLE_PRECISION)
  target_include_directories(voxshell_python_bullet PRIVATE "${here}/../../include" "${here}/../../cpp/bullet/include")
  target_include_directories(voxshell_python_bullet SYSTEM PRIVATE "${VOXSHELL_BULLET64_INCLUDE}")
  target_compile_options(voxshell_python_bullet PRIVATE -Wall -Wextra)
  target_link_options(voxshell_python_bullet PRIVATE LINKER:--no-as-needed LINKER:--gc-sections)
  target_link_libraries(voxshell_python_bullet PRIVATE voxshell_python_core ${libraries})
  # What python/build copies beside it.
  file(GENERATE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/python-bullet-libraries" CONTENT "$<JOIN:${libraries},\n>\n")
endfunction()
