# The Bullet plugin: a static library, compiled with the project's own settings against the project's own Bullet. Included by
# Voxshell's build and by the installed package (`find_package(voxshell COMPONENTS bullet)`); voxshell::voxshell is there already.
# The plugin is every .cpp of src/.

# Adds the plugin as `target`, for the Bullet that is given by
#   LIBRARIES     targets or files of BulletDynamics, BulletCollision and LinearMath
#   INCLUDE_DIRS  and
#   DEFINITIONS   (BT_USE_DOUBLE_PRECISION), where these are not targets that bring them along
function(voxshell_add_bullet target)
  cmake_parse_arguments(PARSE_ARGV 1 BULLET "" "" "LIBRARIES;INCLUDE_DIRS;DEFINITIONS")
  set(here "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  file(GLOB sources CONFIGURE_DEPENDS "${here}/src/*.cpp")
  add_library(${target} STATIC ${sources})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PUBLIC cxx_std_17)
  target_include_directories(${target} PUBLIC "${here}/include")
  target_include_directories(${target} SYSTEM PUBLIC ${BULLET_INCLUDE_DIRS})
  target_compile_definitions(${target} PUBLIC ${BULLET_DEFINITIONS})
  target_link_libraries(${target} PUBLIC voxshell::voxshell ${BULLET_LIBRARIES})
endfunction()

# Adds voxshell::bullet for the Bullet in VOXSHELL_BULLET_LIBRARIES, _INCLUDE_DIRS and _DEFINITIONS, or else, in float, for the one
# that FindBullet finds. Without a Bullet there is no such target afterwards.
function(voxshell_find_bullet)
  if(TARGET voxshell::bullet)
    return()
  endif()
  if(VOXSHELL_BULLET_LIBRARIES)
    voxshell_add_bullet(voxshell_bullet LIBRARIES ${VOXSHELL_BULLET_LIBRARIES}
      INCLUDE_DIRS ${VOXSHELL_BULLET_INCLUDE_DIRS} DEFINITIONS ${VOXSHELL_BULLET_DEFINITIONS})
  else()
    # Module mode: the config file of Debian's package has relative paths that do not compile.
    find_package(Bullet MODULE QUIET)
    if(NOT BULLET_FOUND)
      return()
    endif()
    voxshell_add_bullet(voxshell_bullet LIBRARIES ${BULLET_LIBRARIES} INCLUDE_DIRS ${BULLET_INCLUDE_DIRS})
  endif()
  add_library(voxshell::bullet ALIAS voxshell_bullet)
endfunction()
