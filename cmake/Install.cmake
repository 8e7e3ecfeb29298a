# `cmake --install`: the library, its headers, the binary, and find_package(parley).

include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/parley)
install(TARGETS parley parley_c EXPORT parleyTargets FILE_SET HEADERS)
install(TARGETS parley_cli)
install(EXPORT parleyTargets NAMESPACE parley:: DESTINATION ${package})
configure_package_config_file(cmake/parleyConfig.cmake.in
  ${PROJECT_BINARY_DIR}/parleyConfig.cmake INSTALL_DESTINATION ${package})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/parleyConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/parleyConfig.cmake
  ${PROJECT_BINARY_DIR}/parleyConfigVersion.cmake DESTINATION ${package})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
