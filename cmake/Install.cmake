# `cmake --install`: the library, its headers, the binary, and find_package(parley). The components are packages
# of Debian (cmake/Package.cmake).

include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/parley)
install(TARGETS parley EXPORT parleyTargets COMPONENT development FILE_SET HEADERS COMPONENT development)
install(TARGETS parley_c EXPORT parleyTargets
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT development FILE_SET HEADERS COMPONENT development)
install(TARGETS parley_cli COMPONENT program)
install(EXPORT parleyTargets NAMESPACE parley:: DESTINATION ${package} COMPONENT development)
configure_package_config_file(cmake/parleyConfig.cmake.in
  ${PROJECT_BINARY_DIR}/parleyConfig.cmake INSTALL_DESTINATION ${package})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/parleyConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/parleyConfig.cmake
  ${PROJECT_BINARY_DIR}/parleyConfigVersion.cmake DESTINATION ${package} COMPONENT development)
if(PARLEY_PACKAGE)
  include(cmake/Package.cmake)
else()
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
