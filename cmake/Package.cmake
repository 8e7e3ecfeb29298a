# Packages of Debian by CPack: parley, libparley-c1, libparley-dev. Called by scripts/package, which sets
# SOURCE_DATE_EPOCH: every date in a package is the commit's, so that two builds give the same bytes.

if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  message(FATAL_ERROR "SOURCE_DATE_EPOCH is not set: scripts/package sets it to the commit's date")
endif()
find_program(PARLEY_PYTHON python3 HINTS /usr/bin REQUIRED)
string(TIMESTAMP day "%Y-%m-%d" UTC)
string(TIMESTAMP PARLEY_PACKAGE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
include(cmake/Portable.cmake)

# Made from the program itself: man pages, completion, bill of materials.
set(made ${PROJECT_BINARY_DIR}/made)
set(from ${PROJECT_SOURCE_DIR}/packaging)
configure_file(packaging/debian/changelog.in ${made}/changelog @ONLY)
add_custom_command(OUTPUT ${made}/stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${made}/man ${made}/completion
  COMMAND ${PARLEY_PYTHON} -B ${from}/man_pages.py $<TARGET_FILE:parley_cli> ${made}/man ${day}
  COMMAND ${PARLEY_PYTHON} -B ${from}/completion.py $<TARGET_FILE:parley_cli> ${made}/completion
  COMMAND ${PARLEY_PYTHON} -B ${from}/sbom.py $<TARGET_FILE:parley_cli> --name parley --version ${PROJECT_VERSION}
    --date $ENV{SOURCE_DATE_EPOCH} --inside libcli11-dev libeigen3-dev nlohmann-json3-dev > ${made}/parley.spdx.json
  COMMAND sh -c "cp changelog changelog.plain && gzip -9nf changelog.plain man/*.1 && mv changelog.plain.gz changelog.gz"
  COMMAND ${CMAKE_COMMAND} -E touch ${made}/stamp
  WORKING_DIRECTORY ${made} VERBATIM
  DEPENDS parley_cli ${made}/changelog ${from}/man_pages.py ${from}/completion.py ${from}/help_text.py ${from}/sbom.py
    ${PROJECT_SOURCE_DIR}/docs/reference/cli.md)
add_custom_target(parley_made ALL DEPENDS ${made}/stamp)

set(doc ${CMAKE_INSTALL_DATADIR}/doc)
install(DIRECTORY ${made}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${made}/completion/parley DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${made}/completion/_parley DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
install(DIRECTORY packaging/systemd/ DESTINATION /lib/systemd/system COMPONENT program)
install(DIRECTORY packaging/prometheus packaging/grafana DESTINATION ${CMAKE_INSTALL_DATADIR}/parley COMPONENT program)
install(DIRECTORY docs examples DESTINATION ${doc}/parley COMPONENT program)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md ${made}/parley.spdx.json DESTINATION ${doc}/parley COMPONENT program)
foreach(pair program:parley runtime:libparley-c1 development:libparley-dev)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 component)
  list(GET pair 1 name)
  install(FILES packaging/debian/copyright ${made}/changelog.gz DESTINATION ${doc}/${name} COMPONENT ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_FILE_NAME DEB-DEFAULT)
endforeach()

# What debhelper leaves out, too.
set(strip "strip --remove-section=.comment --remove-section=.note --enable-deterministic-archives")
foreach(each "program:--strip-unneeded:bin/parley"
    "runtime:--strip-unneeded:${CMAKE_INSTALL_LIBDIR}/libparley_c.so.${PROJECT_VERSION}"
    "development:--strip-debug:${CMAKE_INSTALL_LIBDIR}/libparley.a")
  string(REPLACE ":" ";" each ${each})
  list(POP_FRONT each component how file)
  install(CODE "execute_process(COMMAND sh -c \"${strip} ${how} \$ENV{DESTDIR}/usr/${file}\" COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT ${component})
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program runtime development)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_PACKAGE_VENDOR Parley)
set(CPACK_PACKAGE_CONTACT "The Parley maintainers <maintainers@parley.invalid>")
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
# Of the library scripts/package finds them: CPack would also call ldconfig, which is a trigger's work.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${made}/symbols;${from}/debian/library/shlibs;${from}/debian/library/triggers")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "adduser, debconf (>= 0.5) | debconf-2.0")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "libpq5, prometheus")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA
  "${from}/debian/config;${from}/debian/postinst;${from}/debian/prerm;${from}/debian/postrm;${from}/debian/templates")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
"decide on, run and check joint training on private data
Owners of private records forecast what a joint model would be worth, train
it with differential privacy so that no record leaves its owner, and prove
afterwards what was spent. This is the program: tools, and the daemons of
owners and learners with their units.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
"joint training on private data, C interface
Parley trains convex models on private records of several owners with
differential privacy. This is the shared library for programs in C and
other languages.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libparley-c1 (= ${PROJECT_VERSION}), libeigen3-dev, libfmt-dev, \
libmicrohttpd-dev, libprotobuf-dev, libsodium-dev, libsqlite3-dev, libssl-dev, libtomlplusplus-dev, libzstd-dev, \
nlohmann-json3-dev, pkg-config")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
"joint training on private data, for programs
Parley trains convex models on private records of several owners with
differential privacy. These are the headers of the C++ and C interfaces, the
static library, and find_package(parley) for CMake.")
include(CPack)
