# `cpack` in the build directory: an archive of what is installed, on Debian and its kin also two packages, and with
# `--config CPackSourceConfig.cmake` an archive of the sources.
set(VOXSHELL_PACKAGE_CONTACT "The Voxshell authors <voxshell@localhost>" CACHE STRING "Maintainer named by the packages")
set(CPACK_PACKAGE_NAME voxshell)
set(CPACK_PACKAGE_VENDOR "The Voxshell authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "collision of rigid bodies of any shape")
set(CPACK_PACKAGE_CONTACT "${VOXSHELL_PACKAGE_CONTACT}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE-MIT")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL voxshell_runtime voxshell_development)
set(CPACK_GENERATOR TGZ)

set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_IGNORE_FILES "/\\.git" "${PROJECT_SOURCE_DIR}/build/" "${PROJECT_SOURCE_DIR}/target/" "/bullet-demo/out/")

find_program(VOXSHELL_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(VOXSHELL_SHLIBDEPS)
if(VOXSHELL_SHLIBDEPS)
  list(APPEND CPACK_GENERATOR DEB)
  # Debian's way: the SONAME's version in the name, so that programs of two minor versions of Voxshell can live side by side.
  set(runtime "libvoxshell${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
  set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)

  set(about "Every object carries a signed distance field on a grid and a
pointshell: samples of its surface with normals, under a tree of spheres.
A pair of objects is answered by running the samples of one through the
field of the other.")

  set(CPACK_DEBIAN_VOXSHELL_RUNTIME_PACKAGE_NAME ${runtime})
  set(CPACK_DEBIAN_VOXSHELL_RUNTIME_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_VOXSHELL_RUNTIME_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_VOXSHELL_RUNTIME_DESCRIPTION "${about}")
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

  set(CPACK_DEBIAN_VOXSHELL_DEVELOPMENT_PACKAGE_NAME libvoxshell-dev)
  set(CPACK_DEBIAN_VOXSHELL_DEVELOPMENT_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_VOXSHELL_DEVELOPMENT_PACKAGE_DEPENDS "${runtime} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
  set(CPACK_DEBIAN_VOXSHELL_DEVELOPMENT_PACKAGE_SUGGESTS libbullet-dev)
  set(CPACK_DEBIAN_VOXSHELL_DEVELOPMENT_DESCRIPTION
    "${about}\n.\nHeaders, static library, and the plugin for Bullet as sources.")

  # The file that Debian wants of every package. Excluded from what is installed without naming a component, hence in the
  # Debian packages only.
  file(READ "${PROJECT_SOURCE_DIR}/LICENSE-MIT" mit)
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/copyright" @ONLY CONTENT "Voxshell may be used under the MIT licence, below, or \
under the Apache licence 2.0,\n/usr/share/common-licenses/Apache-2.0, as you like.\n\n${mit}")
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/copyright" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${runtime}"
    COMPONENT voxshell_runtime EXCLUDE_FROM_ALL)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/copyright" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/libvoxshell-dev"
    COMPONENT voxshell_development EXCLUDE_FROM_ALL)
endif()
include(CPack)
