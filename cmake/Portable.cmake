# The portable program: the same objects, linked with Debian's archives, so that it needs glibc 2.34 or later and
# nothing else. libpq is opened at run time as always.

set(archives "")
foreach(name ssl crypto microhttpd sodium zstd protobuf-lite sqlite3)
  find_library(archive_${name} NAMES lib${name}.a REQUIRED)
  list(APPEND archives ${archive_${name}})
endforeach()
file(GLOB portable_sources CONFIGURE_DEPENDS packaging/portable/*.cc)
add_executable(parley_portable ${portable_sources} $<TARGET_OBJECTS:parley_cli>)
add_dependencies(parley_portable parley)
set_target_properties(parley_portable PROPERTIES RUNTIME_OUTPUT_DIRECTORY portable OUTPUT_NAME parley
  LINK_DEPENDS $<TARGET_FILE:parley>)
target_compile_definitions(parley_portable PRIVATE FMT_SHARED TOML_HEADER_ONLY=0 TOML_SHARED_LIB=1)
target_link_options(parley_portable PRIVATE -static-libstdc++ -static-libgcc -Wl,--as-needed -Wl,--exclude-libs,ALL)
target_link_libraries(parley_portable PRIVATE $<TARGET_FILE:parley> ${archives})
