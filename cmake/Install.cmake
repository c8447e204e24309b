# What `cmake --install` and the packages hold, in the two parts that distributions make of a library: what programs need to run,
# and what it takes to compile them. Nothing in it names the place it was built in or installed to: it may be moved.
include(CMakePackageConfigHelpers)
set(VOXSHELL_CONFIG_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/voxshell")
set(VOXSHELL_PKGCONFIG_DIR "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
set(VOXSHELL_PLUGIN_DIR "${CMAKE_INSTALL_DATADIR}/voxshell/bullet")
set(VOXSHELL_DEVICES_DIR "${CMAKE_INSTALL_DATADIR}/voxshell/devices")
set(VOXSHELL_HOSTS_DIR "${CMAKE_INSTALL_DATADIR}/voxshell/hosts")

install(TARGETS voxshell voxshell_static EXPORT voxshellTargets
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT voxshell_runtime
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT voxshell_runtime NAMELINK_COMPONENT voxshell_development
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT voxshell_development
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

install(FILES "${VOXSHELL_RUST_LIBRARY}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" RENAME "${VOXSHELL_STATIC_NAME}"
  COMPONENT voxshell_development)
# The installed libraries are stripped, also in the packages: together they take a tenth of the built ones. (CMake's own
# --strip does not touch the static library, which cargo made.) The component voxshell_debug adds the debug information
# of the shared library in a file beside it; the library names that file and has its checksum, so debuggers find it.
if(CMAKE_STRIP AND CMAKE_OBJCOPY AND CMAKE_AR AND CMAKE_LINKER AND UNIX AND NOT APPLE)
  set(installed "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}")
  set(shared "${installed}/$<TARGET_FILE_NAME:voxshell>")
  set(write_debug_file "execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --only-keep-debug
    \"$<TARGET_FILE:voxshell>\" \"${shared}.debug\" COMMAND_ERROR_IS_FATAL ANY)")
  install(CODE "${write_debug_file}
    execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --strip-unneeded \"--add-gnu-debuglink=${shared}.debug\" \"${shared}\"
      COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE \"${shared}.debug\")" COMPONENT voxshell_runtime)
  install(CODE "file(MAKE_DIRECTORY \"${installed}\")
    message(STATUS \"Installing: ${shared}.debug\")
    ${write_debug_file}" COMPONENT voxshell_debug EXCLUDE_FROM_ALL)
  # One object without the unreachable parts of Rust's standard library and with no global names but vxs_*, so that
  # another Rust library in the program cannot clash with it. Linkers other than GNU's may refuse the options; then the
  # library is only stripped.
  set(static "${installed}/${VOXSHELL_STATIC_NAME}")
  install(CODE "set(object \"${installed}/voxshell.o\")
    execute_process(COMMAND \"${CMAKE_LINKER}\" -r -T \"${CMAKE_CURRENT_LIST_DIR}/static.ld\" --gc-sections
      --force-group-allocation --strip-debug -u vxs_version --whole-archive \"${static}\" -o \"\${object}\"
      RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --strip-unneeded --wildcard \"--keep-global-symbol=vxs_*\" \"\${object}\"
        COMMAND_ERROR_IS_FATAL ANY)
      file(REMOVE \"${static}\")
      execute_process(COMMAND \"${CMAKE_AR}\" rcs \"${static}\" \"\${object}\" COMMAND_ERROR_IS_FATAL ANY)
    else()
      execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-unneeded \"${static}\" COMMAND_ERROR_IS_FATAL ANY)
    endif()
    file(REMOVE \"\${object}\")" COMPONENT voxshell_development)
endif()
install(DIRECTORY include/voxshell DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT voxshell_development
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  COMPONENT voxshell_development)

# The plugin is installed as sources, because it must be compiled against the user's Bullet.
install(FILES cpp/bullet/plugin.cmake DESTINATION "${VOXSHELL_PLUGIN_DIR}" COMPONENT voxshell_development)
install(DIRECTORY cpp/bullet/include cpp/bullet/src DESTINATION "${VOXSHELL_PLUGIN_DIR}" COMPONENT voxshell_development
  FILES_MATCHING PATTERN "*.h" PATTERN "*.cpp")

# The adapters for haptic devices are headers, compiled against the user's SDK.
install(FILES cpp/devices.cmake DESTINATION "${VOXSHELL_DEVICES_DIR}" COMPONENT voxshell_development)
install(DIRECTORY cpp/chai3d cpp/haption cpp/forcedimension cpp/openhaptics cpp/haply DESTINATION "${VOXSHELL_DEVICES_DIR}"
  COMPONENT voxshell_development FILES_MATCHING PATTERN "*.h" PATTERN "*.md")

# What adapters to other engines share, and those to ODE and Jolt: sources, as the plugin.
install(DIRECTORY cpp/host cpp/ode cpp/jolt DESTINATION "${VOXSHELL_HOSTS_DIR}" COMPONENT voxshell_development
  FILES_MATCHING PATTERN "*.cmake" PATTERN "*.h" PATTERN "*.cpp" PATTERN examples EXCLUDE)

install(EXPORT voxshellTargets NAMESPACE voxshell:: DESTINATION "${VOXSHELL_CONFIG_DIR}" COMPONENT voxshell_development)
configure_package_config_file(cmake/voxshellConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/voxshellConfig.cmake"
  INSTALL_DESTINATION "${VOXSHELL_CONFIG_DIR}" PATH_VARS VOXSHELL_PLUGIN_DIR VOXSHELL_DEVICES_DIR VOXSHELL_HOSTS_DIR)
# As the SONAME has it: before 1.0 every minor version may break.
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/voxshellConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/voxshellConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/voxshellConfigVersion.cmake"
  DESTINATION "${VOXSHELL_CONFIG_DIR}" COMPONENT voxshell_development)

file(RELATIVE_PATH VOXSHELL_PC_PREFIX "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" VOXSHELL_PC_PREFIX "${VOXSHELL_PC_PREFIX}")
list(TRANSFORM VOXSHELL_SYSTEM_LIBRARIES PREPEND "-l" OUTPUT_VARIABLE VOXSHELL_PC_SYSTEM_LIBRARIES)
list(JOIN VOXSHELL_PC_SYSTEM_LIBRARIES " " VOXSHELL_PC_SYSTEM_LIBRARIES)
foreach(name voxshell voxshell-bullet)
  configure_file(cmake/${name}.pc.in "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc" DESTINATION "${VOXSHELL_PKGCONFIG_DIR}" COMPONENT voxshell_development)
endforeach()
